#!/usr/bin/env python3
"""Compare the second reader with the command line, on healthy stores and on damaged copies of them.

    differential.py HOLOTYPE [--stores N] [--cases N] [--seed N] [--physical] [--keep DIR]

HOLOTYPE is the built command line. Both must come to the same end for each file: the same documents and the same
last commit, or a refusal with the same exit code. Each difference is printed, and its file kept under DIR.
Exit: 0 when there was none, else 1.
"""

import argparse
import collections
import json
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

import test_reader
from coding import Bad, Cursor, crc32c, to_json, u32, u64
from layout import Refused, lsn_text
from recovery import Recovery

SLOTS = (0, 4096)


# --- stores ---------------------------------------------------------------------------------------------------


def run(*command, text=None):
    return subprocess.run([str(part) for part in command], input=text, capture_output=True, text=True, check=False)


def value(rng, depth=0):
    kind = rng.randrange(10 if depth < 3 else 7)
    simple = [None, True, rng.randrange(-(1 << 40), 1 << 40), rng.random() * 10 ** rng.randrange(-9, 9), -0.0]
    if kind < 5:
        return simple[kind]
    if kind == 5:
        return "".join(rng.choice("ab\u00e9\u20ac\U0001f600 \n\"$") for _ in range(rng.randrange(60)))
    if kind == 6:
        wrapped = [{"$numberLong": str(rng.randrange(-(1 << 63), -(1 << 60)))}, {"$numberDouble": "NaN"}]
        wrapped.append({"$binary": {"base64": "AAEC", "subType": "00"}})
        return rng.choice(wrapped)
    if kind == 7:
        return [value(rng, depth + 1) for _ in range(rng.randrange(5))]
    return fields(rng, depth + 1)


def fields(rng, depth=0):
    return {f"f{rng.randrange(40)}": value(rng, depth) for _ in range(rng.randrange(6))}


def key(rng):
    kind = rng.randrange(4)
    if kind < 2:
        return rng.randrange(-20, 60)
    return "k" * rng.randrange(5) + str(rng.randrange(30)) if kind == 2 else {
        "$binary": {"base64": rng.choice(["AA==", "AQI=", ""]), "subType": "00"}}  # fmt: skip


def rows(rng, count, size):
    out = []
    for _ in range(count):
        doc = fields(rng)
        if size:
            doc["fill"] = "".join(rng.choice("abcdef") for _ in range(16)) * (rng.randrange(size) // 16)
        out.append(json.dumps({"key": key(rng), "doc": doc}))
    return "\n".join(out) + "\n"


def make_store(holotype, path, rng):
    """A life of a few openings, each an import, a put or a delete."""
    for _ in range(rng.randrange(1, 9)):
        name = f"c{rng.randrange(3)}"
        action = rng.randrange(6)
        if action < 3 or not path.exists():
            size = rng.choice([0, 0, 200, 4000, 4000, 700_000])
            text = rows(rng, rng.randrange(1, 6 if size > 100_000 else 40), size)
            batch = rng.choice([[], ["--batch", "1"], ["--batch", "7"]])
            done = run(holotype, "import", path, "-", "--collection", name, "--with-keys", *batch, text=text)
        elif action == 3:
            done = run(holotype, "put", path, name, rng.randrange(40), json.dumps(fields(rng)))
        else:
            done = run(holotype, "delete", path, name, rng.randrange(40))
        if done.returncode not in (0, 1):
            raise SystemExit(f"{done.args}: {done.stderr}")


# --- damage ---------------------------------------------------------------------------------------------------


def used(data):
    """The sectors that hold anything: damage elsewhere shows little."""
    return [at for at in range(0, len(data), 512) if any(data[at : at + 512])]


def weaken(data, rng):
    """Take the slots' claims away, as if the last close had not been: what is damaged then may be a torn tail."""
    incarnation = rng.choice([None, None, 0])
    for at in SLOTS:
        raw = data[at : at + 508]
        raw[364:376] = bytes(12)
        if incarnation is not None:
            raw[360:364] = bytes(4)
        data[at : at + 512] = raw + u32(crc32c(raw))
    return data


def flip(data, rng):
    at = rng.choice(used(data)) + rng.randrange(512)
    if at < len(data):
        data[at] ^= 1 << rng.randrange(8)
    return data


def truncate(data, rng):
    return data[: rng.choice([rng.randrange(len(data)), rng.choice(used(data)), rng.randrange(len(data)) & ~511])]


def zero(data, rng):
    at, count = rng.choice(used(data)), rng.choice([1, 1, 1, 2, 8])
    return data[:at] + bytes(512 * count) + data[at + 512 * count :]


def swap(data, rng):
    a, b = rng.choice(used(data)), rng.choice(used(data))
    data[a : a + 512], data[b : b + 512] = data[b : b + 512], data[a : a + 512]
    return data


def zero_tail(data, rng):
    """Lose everything from one frame on, but for a few sectors, as a crash may."""
    frames = frame_places(data)
    if not frames:
        return zero(data, rng)
    start = rng.choice(frames)[0] & ~511
    for at in range(start, len(data), 512):
        if rng.random() < 0.8:
            data[at : at + 512] = bytes(512)
    return data


def extend(data, rng):
    return data + rng.choice([bytes(rng.randrange(1, 2000)), rng.randbytes(rng.randrange(1, 2000)), bytes(1 << 20)])


def frame_places(data):
    try:
        recovery = Recovery(bytes(data)).run()
    except (Refused, struct.error):
        return []
    return [(recovery.image.start(f.segment.index) + f.at, f, records) for f, _, records in recovery.log]


def reseal(data, rng):
    """Change a byte of a frame and make every checksum above it right again: what then fails is the meaning."""
    frames = frame_places(data)
    if not frames:
        return flip(data, rng)
    start, frame, records = rng.choice(frames[-6:] if rng.random() < 0.5 else frames)
    bodies = [r for r in records if r and len(r.body) < 5000]
    lengths = record_lengths(data, start, frame)
    if lengths is None:
        return flip(data, rng)
    if bodies and rng.random() < 0.8:
        which = rng.randrange(len(lengths))
        low, high = lengths[which]
        span = min(high - low, rng.choice([8, 24, 64]))
        data[low + 4 + rng.randrange(max(1, span - 4))] ^= 1 << rng.randrange(8)
    else:
        data[start + rng.randrange(8, 32)] ^= 1 << rng.randrange(8)
    seal(data, start, frame, lengths)
    return data


def record_lengths(data, start, frame):
    at, end, found = start + 32, start + 32 + frame.body, []
    while at < end:
        cursor = Cursor(data, at + 6, end)
        try:
            cursor.take(cursor.varint())
        except Bad:
            return None
        found.append((at, cursor.at))
        at = cursor.at
    return found


def seal(data, start, frame, places):
    lineage = bytes(data[48:64])
    sequence, number = u64(frame.segment.sequence), struct.unpack_from("<Q", data, start + 8)[0]
    crcs = b""
    for low, high in places:
        seed = (lineage, u32(number >> 32), sequence, u32(frame.at + low - start))
        data[low : low + 4] = u32(crc32c(*seed, data[low + 4 : high]))
        crcs += bytes(data[low : low + 4])
    seed = (lineage, sequence, u32(frame.at))
    data[start + 4 : start + 8] = u32(crc32c(*seed, data[start + 8 : start + 32], crcs))
    data[start : start + 4] = u32(crc32c(*seed, data[start + 4 : start + 32]))


def reseal_slot(data, rng):
    at = rng.choice(SLOTS)
    field = rng.choice([8, 12, 16, 24, 32, 40, 44, 352, 360, 368, 376])  # the fields of F-3.1, but no checkpoint
    data[at + field + rng.randrange(4)] ^= 1 << rng.randrange(8)
    data[at + 508 : at + 512] = u32(crc32c(data[at : at + 508]))
    return data


def reseal_header(data, rng):
    size = struct.unpack_from("<I", data, 44)[0]
    index = rng.randrange(max(1, (len(data) - 16384) // size))
    at = 16384 + index * size
    data[at + rng.randrange(8, 44)] ^= 1 << rng.randrange(8)
    data[at + 60 : at + 64] = u32(crc32c(u32(index), data[at : at + 60]))
    return data


PHYSICAL = [flip, flip, truncate, zero, zero, swap, zero_tail, extend]
CRAFTED = [reseal, reseal, reseal, reseal_slot, reseal_header]


def damaged(data, rng, damages):
    """A damaged copy, and the story of what was done to it."""
    data, story = bytearray(data), []
    if rng.random() < 0.6:
        data = weaken(data, rng)
        story.append("weaken")
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        damage = rng.choice(damages)
        if len(data) < 16384 and damage is not flip:
            break
        data = damage(data, rng)
        story.append(damage.__name__)
    return bytes(data), " ".join(story)


# --- the two readers ------------------------------------------------------------------------------------------


def same(text):
    return json.dumps(json.loads(text), sort_keys=True)


def by_reader(data):
    try:
        recovery = Recovery(data).run()
        out = [(name, same(json.dumps({"key": to_json(k), "doc": to_json(d)})))
               for name, k, d in recovery.store.rows()]  # fmt: skip
        names = sorted(c.name for c in recovery.store.collections.values())
        return 0, (recovery.end.lsn, names, out), ""
    except Refused as refused:
        return refused.exit, None, str(refused)


def by_holotype(holotype, path):
    stats = run(holotype, "stats", "--json", path)
    if stats.returncode:
        return stats.returncode, None, stats.stderr.strip()
    answer = json.loads(stats.stdout)
    out = []
    for collection in sorted(answer["collections"], key=lambda c: c["name"].encode()):
        done = run(holotype, "export", "--with-keys", "--collection", collection["name"], path)
        if done.returncode:
            return done.returncode, None, done.stderr.strip()
        out += [(collection["name"], same(line)) for line in done.stdout.split("\n") if line]
    verified = run(holotype, "verify", path)
    if verified.returncode:
        return verified.returncode, None, "verify: " + (verified.stdout + verified.stderr).strip()
    return 0, (answer["lsn"], sorted(c["name"] for c in answer["collections"]), out), ""


def compare(holotype, path, tally):
    data = path.read_bytes()
    ours = by_reader(data)
    if ours[2].startswith("not supported"):
        tally["not compared: names a checkpoint"] += 1
        return None
    theirs = by_holotype(holotype, path)
    tally["both read" if ours[0] == theirs[0] == 0 else f"exit {ours[0]} and {theirs[0]}"] += 1
    if path.read_bytes() != data:
        return "the command line changed the file"
    if ours[:2] == theirs[:2]:
        return None
    return f"reader: {shown(ours)}\n    holotype: {shown(theirs)}"


def shown(answer):
    code, found, message = answer
    if code:
        return f"exit {code}, {message}"
    return f"read up to {lsn_text(found[0])}, {len(found[2])} documents, collections {found[1]}"


class Built(Recovery):
    """Keeps each file that the tests of the reader build by hand, right or wrong."""

    files, test = {}, None

    def __init__(self, data):
        Built.files.setdefault(data, Built.test)
        super().__init__(data)


class Running(unittest.TestResult):
    def startTest(self, test):
        super().startTest(test)
        Built.test = test.id()


def built_by_tests():
    """Each file that the tests build, by the name of the test."""
    test_reader.Recovery = Built
    unittest.defaultTestLoader.loadTestsFromModule(test_reader).run(Running())
    return [(test, data) for data, test in Built.files.items()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("holotype", type=pathlib.Path)
    parser.add_argument("--stores", type=int, default=20)
    parser.add_argument("--cases", type=int, default=25, help="damaged copies of each store")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--physical", action="store_true", help="no damage under a checksum that is right")
    parser.add_argument("--keep", type=pathlib.Path, help="where to keep files that are read differently")
    arguments = parser.parse_args()
    tally, differences = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as directory:
        copy = pathlib.Path(directory, "copy.holotype")
        for story, data in cases(arguments, pathlib.Path(directory)):
            copy.write_bytes(data)
            if difference := compare(arguments.holotype, copy, tally):
                differences += 1
                print(f"{story}:\n    {difference}", flush=True)
                if arguments.keep:
                    arguments.keep.mkdir(parents=True, exist_ok=True)
                    shutil.copy(copy, arguments.keep / f"{story.split(' (')[0].replace(' ', '-')}.holotype")
    print(f"{sum(tally.values())} files, {differences} differences; {dict(tally)}")
    return 1 if differences else 0


def cases(arguments, directory):
    """Every file to compare, with where it comes from."""
    for number, (test, data) in enumerate(built_by_tests()):
        yield f"{test} file {number} (by hand)", data
    for number in range(arguments.stores):
        rng = random.Random(f"{arguments.seed}/{number}")
        path = directory / f"{number}.holotype"
        make_store(arguments.holotype, path, rng)
        data = path.read_bytes()
        path.unlink()
        yield f"seed {arguments.seed} store {number} case 0 (healthy)", data
        for case in range(1, arguments.cases + 1):
            made, story = damaged(data, rng, PHYSICAL if arguments.physical else PHYSICAL + CRAFTED)
            yield f"seed {arguments.seed} store {number} case {case} ({story})", made


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Compare the second reader with the engine, on healthy stores and on damaged copies of them.

    differential.py RELEASE [--aged DIR] [--stores N] [--cases N] [--seed N] [--physical] [--keep DIR]
    differential.py RELEASE --lives N [--cases N] [--seed N] [--keep DIR]

RELEASE is the directory of the built programs: `holotype`, which makes stores, and `examples/read_files`, which reads the files of a whole run in one
process. DIR holds what `crash-tests/examples/aged_stores.rs` made: stores with checkpoints, cleaned and reused segments. With --lives that program makes
a store from each of N seeds, and fields are changed in copies of it under right checksums (`sealed.py`). Both must come to
the same end for each file: the same documents and the same last commit, or a refusal with the same exit code. No healthy store, a power cut
included, may be called corrupt. Each difference is printed, and its file kept under the DIR of --keep.
Exit: 0 when there was none, else 1; with --lives also where a field was never changed, or two stores were one.
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

import cbor2
import test_checkpoint
import test_reader
from coding import Cursor, Refused, crc32c
from layout import NONE
from recovery import Recovery
from sealed import SLOTS, Sealed, copies_of, never_hit, table, weaken
from store_builder import u32, u64


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
    return [at for at in range(0, len(data), 512) if any(data[at : at + 512])] or [0]


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
    return [(recovery.image.start(f.segment.index) + f.at, f, records) for f, records in recovery.log]


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
    at, found = start + 32, []
    end = min(len(data), at + struct.unpack_from("<I", data, start + 20)[0])
    while at < end:
        cursor = Cursor(data, at + 6, end)
        try:
            cursor.take(cursor.varint())
        except Refused:
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
    size = max(512, struct.unpack_from("<I", data, 44)[0])
    index = rng.randrange(max(1, (len(data) - 16384) // size))
    at = 16384 + index * size
    if len(data) < at + 64:
        return data
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


def started(recovery):
    named, used = recovery.slot.checkpoints, recovery.checkpoint
    if not used:
        return "from no checkpoint"
    return "from the newest checkpoint" if used.reference == named[0] else "from the one before"


def by_reader(data, tally):
    try:
        recovery = Recovery(data).run()
        tally[started(recovery)] += 1
        found = {collection.name: [] for collection in recovery.store.collections.values()}
        for name, key, document in recovery.store.rows():
            found[name].append([cbor2.dumps(item, canonical=True).hex() for item in (key, document)])
        return 0, (recovery.end.lsn, sorted(found.items(), key=lambda item: item[0].encode())), ""
    except Refused as refused:
        return 4 if refused.kind == "corrupt" else 3, None, str(refused)


def by_engine(engine, path):
    engine.stdin.write(f"{path}\n")
    engine.stdin.flush()
    answer = json.loads(engine.stdout.readline())
    if answer["end"]:
        return answer["end"], None, answer["why"]
    return 0, (int(answer["lsn"]), [tuple(collection) for collection in answer["collections"]]), ""


def compare(engine, path, tally, healthy):
    data = path.read_bytes()
    ours = by_reader(data, tally)
    theirs = by_engine(engine, path)
    tally["both read" if ours[0] == theirs[0] == 0 else f"exit {ours[0]} and {theirs[0]}"] += 1
    if path.read_bytes() != data:
        return "the engine changed the file"
    if ours[:2] == theirs[:2] and not (healthy and ours[0] == 4):
        return None
    return f"reader: {shown(ours)}\n    engine: {shown(theirs)}"


def shown(answer):
    code, found, message = answer
    if code:
        return f"exit {code}, {message}"
    documents = sum(len(entries) for _, entries in found[1])
    return f"read up to ({found[0] >> 32}, {found[0] & NONE}), {documents} documents, collections {[name for name, _ in found[1]]}"


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
    for module in (test_reader, test_checkpoint):
        module.Recovery = Built
        unittest.defaultTestLoader.loadTestsFromModule(module).run(Running())
    return [(test, data) for data, test in Built.files.items()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("release", type=pathlib.Path)
    parser.add_argument("--aged", type=pathlib.Path, help="a directory of files to compare as well")
    parser.add_argument("--stores", type=int, default=20)
    parser.add_argument("--cases", type=int, default=25, help="damaged copies of each store")
    parser.add_argument("--seed", type=int, default=1)
    forged = "no file or damage that only a forger makes: right checksums over wrong content"
    parser.add_argument("--physical", action="store_true", help=forged)
    parser.add_argument("--lives", type=int, help="stores of short lives, in whose copies fields are changed under right checksums")
    parser.add_argument("--keep", type=pathlib.Path, help="where to keep files that are read differently")
    arguments = parser.parse_args()
    tally, files, differences = collections.Counter(), 0, 0
    program, pipe = arguments.release / "examples/read_files", subprocess.PIPE
    memory = "/dev/shm" if pathlib.Path("/dev/shm").is_dir() else None  # a disk would sync each file that is opened
    with tempfile.TemporaryDirectory(dir=memory) as directory, subprocess.Popen([program], stdin=pipe, stdout=pipe, text=True) as engine:
        copy = pathlib.Path(directory, "copy.holotype")
        for story, data in cases(arguments, pathlib.Path(directory)):
            copy.write_bytes(data)
            files += 1
            if difference := compare(engine, copy, tally, "(healthy)" in story):
                differences += 1
                print(f"{story}:\n    {difference}", flush=True)
                if arguments.keep:
                    arguments.keep.mkdir(parents=True, exist_ok=True)
                    shutil.copy(copy, arguments.keep / f"{story.split(' (')[0].replace(' ', '-')}.holotype")
    print(f"{files} files, {differences} differences; {dict(sorted(tally.items()))}")
    if arguments.lives:
        print(f"of {arguments.lives} lives {len(Sealed.stores)} stores; changed, by field:\n{table()}")
        for missing in never_hit():
            print(f"never changed: {missing}")
        return 1 if differences or never_hit() or len(Sealed.stores) < arguments.lives else 0
    return 1 if differences else 0


def short_lives(arguments, directory, batch=250):
    """A store of each seed, as many as are asked for, and its copies. A store that came to no slot has none, and does not count."""
    seed = arguments.seed * 1_000_000
    while len(Sealed.stores) < arguments.lives:
        run(arguments.release / "examples/aged_stores", directory, seed, batch, "--short").check_returncode()
        for number in range(seed, seed + batch):
            path = directory / f"{number}.holotype"
            data = path.read_bytes()
            path.unlink()
            if len(Sealed.stores) < arguments.lives:
                yield from copies_of(f"life {number}", data, random.Random(number), arguments.cases)
        seed += batch


def cases(arguments, directory):
    """Every file to compare, with where it comes from."""
    if arguments.lives:
        yield from short_lives(arguments, directory)
        return
    for number, (test, data) in enumerate([] if arguments.physical else built_by_tests()):
        yield f"{test} file {number} (by hand)", data
    aged = arguments.aged.glob("*.holo*") if arguments.aged else []
    for path in sorted(aged):
        rng, data = random.Random(f"{arguments.seed}/{path.name}"), path.read_bytes()
        yield from copies(path.stem, data, rng, arguments)
    for number in range(arguments.stores):
        rng = random.Random(f"{arguments.seed}/{number}")
        path = directory / f"{number}.holotype"
        make_store(arguments.release / "holotype", path, rng)
        data = path.read_bytes()
        path.unlink()
        yield from copies(f"seed {arguments.seed} store {number}", data, rng, arguments)


def copies(name, data, rng, arguments):
    yield f"{name} case 0 (healthy)", data
    for case in range(1, arguments.cases + 1):
        made, story = damaged(data, rng, PHYSICAL if arguments.physical else PHYSICAL + CRAFTED)
        yield f"{name} case {case} ({story})", made


if __name__ == "__main__":
    sys.exit(main())

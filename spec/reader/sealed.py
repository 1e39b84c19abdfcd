"""Copies of a store in which fields are changed under right checksums: every field, in every kind of record, index record and header.

What a copy is like is chosen by the kind of thing first, then by the field, and by the place last: so rare kinds are met as often as
common ones. `Sealed.hits` counts what was changed, and `never_hit` names what never was.
"""

import collections
import json
import pathlib
import struct

from coding import Refused, crc32c
from indexed import ENTRY, MAP, NAMES, OVER, PARTS, ROWS, Indexed
from layout import CATALOG, CHUNK, CHUNKED, DELETE, EXPIRES, EXTENDED, FREED, NONE, OPENED, PUT, RELOCATED, REPLACES, TIME
from layout import up
from recovery import Recovery
from store_builder import cbor, u32, u64, varint
from taken import COMMON, OWN, Framed, Taken, other

SLOTS = (0, 4096)
TABLES = json.loads((pathlib.Path(__file__).parents[1] / "tables.json").read_text())


def fields(clause):
    """The fields of a table of the specification by a short name, but for checksums of the whole: (name, offset, length)."""
    for row in TABLES[clause]["fields"]:
        name = row["field"].split(";")[0].split(",")[0]
        name = name if name.startswith("replay") else name.split(":")[0]
        is_checksum = name.startswith(("CRC(", "header CRC", "body CRC"))
        if "length" in row and not is_checksum and row["length"] != 48:  # checkpoint references have a table of their own
            yield name, row["offset"], row["length"]


SLOT, HEADER, FRAME = ([*fields(clause)] for clause in ("F-3.1", "F-4.1", "F-5.1"))
ROW = {name: [field for field, _, _ in fields(clause)] for name, clause in zip(ROWS, ("F-8.6", "F-8.14", "F-8.15"))}
REFERENCE = [(f"{which}: {name}", start + at, size)
             for which, start in (("newest", 384), ("before", 432)) for name, at, size in fields("F-3.2")]  # fmt: skip
EXPECTED = {
    "slot": [name for name, _, _ in SLOT],
    "checkpoint reference": [name for name, _, _ in REFERENCE],
    "log header": [name for name, _, _ in HEADER],
    "index header": [name for name, _, _ in HEADER],
    "frame header": [name for name, _, _ in FRAME],
    **{f"record: {kind}": COMMON + own for kind, own in OWN.items()},
    **{name: PARTS for name in NAMES.values()},
    "root": MAP,
    **{f"row of {name}": names for name, names in ROW.items()},
    "directory entry": ENTRY,
    "entry of a patch": OVER,
}


class Sealed:
    """Copies of one store, with fields changed in slots, headers, frames, records or pages."""

    hits, stores = collections.Counter(), set()

    def __init__(self, data):
        self.data = bytes(data)
        recovery = Recovery(self.data).run()
        self.stores.add(hash(self.data))
        self.image, self.size, self.sector = recovery.image, recovery.image.size, recovery.image.sector
        self.end, self.lineage, self.recovery = recovery.end, recovery.image.lineage, recovery
        self.headers = {"log header": [], "index header": []}
        for at in range(16384, len(data) - 63, self.size):
            if data[at : at + 4] in (b"HLOG", b"HCPK"):
                self.headers["log header" if data[at : at + 4] == b"HLOG" else "index header"].append(at)
        self.like = [self.end.lsn, self.end.lsn + 1, self.end.segment.sequence, self.size, self.sector, len(data), self.end.at,
                     self.end.segment.sequence * self.size + self.end.at]  # fmt: skip
        ahead = self.end.segment.header.next, self.end.segment.header.after
        self.indexed = recovery.checkpoint and Indexed(recovery.checkpoint, ahead, self.like)

    def frames(self):
        """Each accepted frame, taken apart; and one behind them, of kinds that this version does not write."""
        for frame, _ in self.recovery.log:
            start, stretches = self.image.start(frame.segment.index) + frame.at, frame.segment.stretches
            base = [first for begin, first in stretches if begin <= frame.at][-1] & NONE
            yield Framed(self.data, start, frame.segment, frame.at, base)

    def appended(self, rng):
        """A commit behind the last one, of records that may be of any kind."""
        segment, at = self.end.segment, up(self.end.at, self.sector)
        if self.end.lsn < 1 << 32 or not segment.stretches or at + 32 > self.image.length(segment.index):
            return None
        frame = Framed(bytes(32), 0, segment, at, segment.stretches[-1][1] & NONE)
        frame.start, frame.lsn, frame.lag, frame.part = self.image.start(segment.index) + at, self.end.lsn + 1, NONE, 1 << 15
        frame.dirty = True
        for _ in range(rng.choice([1, 1, 2, 3])):
            frame.records.append(self.any_record(rng, (frame.lsn & NONE) - frame.base))
        frame.count = len(frame.records)
        return frame

    def any_record(self, rng, commit):
        kind = rng.choice([PUT, PUT, DELETE, RELOCATED, CHUNK, CATALOG, FREED, OPENED, TIME, 0, 9, 12, 13, 16, 127, 128, 255])
        flags = rng.choice([0, REPLACES, EXPIRES, EXTENDED, 7, CHUNKED, 15]) if kind in (PUT, DELETE, RELOCATED) else 0
        flags &= 7 if kind == DELETE else 15
        rest = varint(rng.choice([0, 1, 2, 3])) + varint(commit)
        rest += u64(rng.choice(self.like)) if kind == RELOCATED else b""
        if flags & REPLACES:
            value = rng.choice(self.like) << 2 | rng.choice([0, 0, 1, 2])
            rest += varint(value) + (varint(1) + varint(0) + varint(1) if value & 2 else b"")
        rest += u64(rng.getrandbits(41)) if flags & EXPIRES else b""
        rest += varint(3) + b"ext" if flags & EXTENDED else b""
        rest += cbor(rng.choice([1, 2, "key-1", b"\x07"])) if kind in (PUT, DELETE, RELOCATED, CHUNK) else b""
        lists = varint(rng.randrange(40)) + varint(2) + u64(self.sector) + u64(rng.choice(self.like))
        if flags & CHUNKED:
            return Taken(kind, flags, rest + lists)
        bodies = {PUT: cbor({"a": 1}), RELOCATED: cbor({"b": 2}), CHUNK: varint(0) + b"chunk", FREED: u64(0) + u32(0),
                  CATALOG: cbor(self.any_change(rng)),
                  OPENED: u64(self.end.lsn) + u64(self.like[-1]), TIME: u64(1 << 40), DELETE: b""}  # fmt: skip
        return Taken(kind, flags, rest + bodies.get(kind, b"rest"))

    def any_change(self, rng):
        op, number = rng.choice(["create", "create", "rename", "index", "unindex", "reindex"]), rng.choice([1, 2, 7, 90])
        made = {"op": op, "id": number}
        made |= {"name": "made"} if op in ("create", "rename", "reindex") else {}
        return made | ({"new": 91, "index": {"name": "made", "on": ["$.n"]}} if op == "index" else {})

    def copy(self, rng):
        """Another store, and what was changed in it."""
        data, story, frames = bytearray(self.data), [], list(self.frames())
        if rng.random() < 0.6:
            weaken(data, rng)
            story.append("weaken")
        if rng.random() < 0.4 and (made := self.appended(rng)):
            frames.append(made)
            story.append("append")
        for _ in range(rng.choice([1, 2, 2, 2, 2, 3])):
            records = sorted({name for frame in frames for name in frame.kinds()})
            often = ["record"] * 5 * bool(records) + ["checkpoint"] * 3 * bool(self.indexed)
            kind = rng.choice(["slot", "reference", "header", "frame", *often])
            if kind == "record":
                story.append(self.record(frames, rng.choice(records), rng))
            elif kind == "frame":
                story.append(self.frame(frames, rng))
            elif kind == "header":
                story.append(self.header(data, rng))
            elif kind == "checkpoint":
                story.append(self.checkpoint(data, rng))
            else:
                named = ("slot", SLOT) if kind == "slot" else ("checkpoint reference", REFERENCE)
                story.append(self.fixed(data, rng.choice(SLOTS), *named, rng))
        for frame in frames:
            if frame.dirty:
                raw = frame.bytes(self.lineage)
                room = len(data) - frame.start
                data[frame.start : frame.start + min(room, len(raw))] = raw[:room]
        for at in SLOTS:
            data[at + 508 : at + 512] = u32(crc32c(data[at : at + 508]))
        self.hits.update(story)
        return bytes(data), ", ".join(" ".join(part) if isinstance(part, tuple) else part for part in story)

    def fixed(self, data, start, kind, table, rng):
        name, at, size = rng.choice(table)
        at += start
        if size > 8:
            data[at + rng.randrange(size)] ^= 1 << rng.randrange(8)
        else:
            number = other(int.from_bytes(data[at : at + size], "little"), size, rng, self.like)
            data[at : at + size] = number.to_bytes(size, "little")
        return kind, name

    def header(self, data, rng):
        kind = rng.choice([kind for kind, places in self.headers.items() if places])
        at = rng.choice(self.headers[kind])
        hit = self.fixed(data, at, kind, HEADER, rng)
        data[at + 60 : at + 64] = u32(crc32c(u32((at - 16384) // self.size), data[at : at + 60]))
        return hit

    def frame(self, frames, rng):
        if not frames:
            return "no frame"
        frame = rng.choice(frames[-4:] if rng.random() < 0.6 else frames)
        name, at, size = rng.choice(FRAME)
        raw = frame.bytes(self.lineage)[at : at + size]
        frame.said[at] = other(int.from_bytes(raw, "little"), size, rng, self.like).to_bytes(size, "little")
        frame.dirty = True
        return "frame header", name

    def record(self, frames, kind, rng):
        frame = rng.choice([frame for frame in frames if kind in frame.kinds()][-rng.choice([1, 4, 1000]) :])
        record = rng.choice([record for record in frame.records if record.name() == kind])
        name, where = rng.choice(record.choices()), frame.records.index(record)
        if name == "record added":
            frame.records.insert(where, self.any_record(rng, (frame.lsn & NONE) - frame.base))
        elif name == "record removed":
            frame.records.pop(where)
        elif name == "record doubled":
            frame.records.insert(where, record)
        else:
            record.change(name, rng, self.like)
        frame.count = len(frame.records)
        frame.dirty = True
        return f"record: {kind}", name

    def checkpoint(self, data, rng):
        """The one that recovery starts from, written anew with one thing changed."""
        fields = collections.defaultdict(list)
        for kind, field in self.indexed.choices():
            fields[kind].append(field)
        kind = rng.choice([*fields])
        field = rng.choice(fields[kind])
        self.indexed.copy(data, rng, kind, field)
        return kind, ROW[kind.removeprefix("row of ")][field] if isinstance(field, int) else field


def weaken(data, rng):
    """Take the slots' claims away, as if the last close had not been: what is damaged then may be a torn tail."""
    incarnation = rng.choice([None, None, 0])
    for at in SLOTS:
        data[at + 364 : at + 376] = bytes(12)
        if incarnation is not None:
            data[at + 360 : at + 364] = bytes(4)
        data[at + 508 : at + 512] = u32(crc32c(data[at : at + 508]))
    return data


def copies_of(name, data, rng, cases):
    """The store, and copies of it; of a creation that was cut off there is nothing to copy."""
    try:
        sealed = Sealed(data)
    except Refused as refused:
        if refused.clause != "R-5.1":
            raise
        yield f"{name} (a creation that was cut off)", data
        return
    yield f"{name} case 0 (healthy)", data
    for case in range(1, cases + 1):
        made, story = sealed.copy(rng)
        yield f"{name} case {case} ({story})", made


def table():
    """How often each field was changed, by what it is of."""
    lines = []
    for kind, names in EXPECTED.items():
        counts = [(name, Sealed.hits[kind, name]) for name in dict.fromkeys(names)]
        total = sum(count for _, count in counts)
        lines.append(f"{kind} ({total}): " + ", ".join(f"{name} {count}" for name, count in counts))
    return "\n".join(lines)


def never_hit():
    return [f"{kind}: {name}" for kind, names in EXPECTED.items() for name in names if not Sealed.hits[kind, name]]

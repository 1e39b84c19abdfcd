#!/usr/bin/env python3
"""A second reader of Holotype files, written from the pages of `spec/` alone.

It opens a file, recovers its log and shows what is in it; it never writes. It is meant to be read beside the
text: every rule names its clause, and the order is that of the text. Speed is no aim.

    holotype_reader.py dump FILE      every document, one JSON line each
    holotype_reader.py inspect FILE   slots, segments, frames and records

Exit: 0 done, 2 usage, 3 no store that this reader can open, 4 corrupt.
"""

import base64
import json
import math
import struct
import sys
from dataclasses import dataclass, field

SEGMENTS = 16384  # F-2.1: where segment 0 begins
SLOT_AT = (0, 4096)
NONE = 0xFFFFFFFF  # F-4.1: no physical index; F-5.4: a lag that states nothing
OPENING, WATERMARK, SYSTEM = 1, 2, 4  # F-5.1, frame flags
UNKNOWN = 0xFFF8  # the other ones: bit 3, encrypted, has no meaning in version 1.0
PUT, DELETE, RELOCATED, CHUNK, CATALOG, FREED, OPENED, TIME = range(1, 9)  # F-6.3
REPLACES, EXPIRES, EXTENDED, CHUNKED = 1, 2, 4, 8  # F-6.4
I64 = 1 << 63


class Refused(Exception):
    """The file cannot be read: why, by which clause, and at which offset of the file."""

    def __init__(self, kind, clause, offset, what):
        super().__init__(f"{kind}: {what} ({clause}, at offset {offset})")
        self.kind, self.clause, self.offset = kind, clause, offset
        self.exit = 4 if kind == "corrupt" else 3


def corrupt(clause, offset, what):
    return Refused("corrupt", clause, offset, what)


def newer(clause, offset, what):
    return Refused("newer format", clause, offset, what)


# --- F-1: checksums, varints ----------------------------------------------------------------------------------


def _crc_table():
    table = []
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)  # 0x1EDC6F41, reflected
        table.append(n)
    return table


CRC_TABLE = _crc_table()


def crc32c(*parts):  # F-1.3
    crc = 0xFFFFFFFF
    for part in parts:
        for byte in part:
            crc = CRC_TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def u32(n):
    return n.to_bytes(4, "little")


def u64(n):
    return n.to_bytes(8, "little")


class Bad(Exception):
    """Bytes are not what a clause says; whoever knows the offset in the file says what follows from that."""

    def __init__(self, clause, what):
        super().__init__(what)
        self.clause = clause


class Cursor:
    """Bytes that are read from front to back, and never beyond their end."""

    def __init__(self, data, at=0, end=None):
        self.data, self.at, self.end = data, at, len(data) if end is None else end

    def take(self, n, clause="F-6.1"):
        if n > self.end - self.at:
            raise Bad(clause, "a field runs beyond its end")
        self.at += n
        return self.data[self.at - n : self.at]

    def fixed(self, n):  # F-1.1
        return int.from_bytes(self.take(n), "little")

    def rest(self):
        return self.take(self.end - self.at)

    def varint(self):  # F-1.2
        n = shift = 0
        while True:
            byte = self.take(1, "F-1.2")[0]
            n |= (byte & 127) << shift
            if byte < 128:
                break
            shift += 7
            if shift > 63:
                raise Bad("F-1.2", "a varint of more than 64 bits")
        if n >> 64 or (byte == 0 and shift):
            raise Bad("F-1.2", "a varint of more than 64 bits, or not in its shortest form")
        return n


def lsn_text(lsn):  # F-1.5
    return f"({lsn >> 32}, {lsn & NONE})"


# --- E-1 to E-4: deterministic CBOR ---------------------------------------------------------------------------


def cbor_head(cursor):
    first = cursor.take(1, "E-1.2")[0]
    major, low = first >> 5, first & 31
    if major == 7:
        return major, low
    if low < 24:
        return major, low
    if low > 27:
        raise Bad("E-2.3", "an indefinite or a reserved head")
    width = 1 << (low - 24)
    n = int.from_bytes(cursor.take(width, "E-1.3"), "big")
    if n < (24, 1 << 8, 1 << 16, 1 << 32)[low - 24]:
        raise Bad("E-2.2", "a head that is not the shortest")
    return major, n


def cbor_float(cursor, low):
    width, code, narrower = {25: (2, ">e", None), 26: (4, ">f", ">e"), 27: (8, ">d", ">f")}[low]
    data = cursor.take(width, "E-1.3")
    (value,) = struct.unpack(code, data)
    if math.isnan(value):
        if data != b"\x7e\x00":
            raise Bad("E-2.7", "another NaN than f97e00")
    elif narrower and fits(value, narrower):
        raise Bad("E-2.6", "a float that has a shorter form")
    return value


def fits(value, code):
    try:
        return struct.unpack(code, struct.pack(code, value))[0] == value
    except OverflowError:
        return False


def cbor_value(cursor, level=0):
    """One item, as int, float, str, bytes, bool, None, list or dict; `level` is that of what it stands in."""
    major, n = cbor_head(cursor)
    if major == 7:
        if n in (20, 21, 22):
            return (False, True, None)[n - 20]
        if n in (25, 26, 27):
            return cbor_float(cursor, n)
        raise Bad("E-2.1", "an item outside of the subset")
    if major == 6:
        raise Bad("E-2.1", "a tag")
    if major < 2:
        if n >= I64:
            raise Bad("E-2.4", "an int beyond 64 bits")
        return n if major == 0 else -1 - n
    if major == 2:
        return bytes(cursor.take(n, "E-1.3"))
    if major == 3:
        return cbor_text(cursor, n)
    if level == 128:
        raise Bad("V-4.3", "more than 128 levels")
    if major == 4:
        return [cbor_value(cursor, level + 1) for _ in range(bounded(cursor, n))]
    return cbor_object(cursor, n, level + 1)


def bounded(cursor, n):
    if n > cursor.end - cursor.at:
        raise Bad("E-1.3", "more items than bytes are left")
    return n


def cbor_text(cursor, n):
    try:
        return str(cursor.take(n, "E-1.3"), "utf-8")
    except UnicodeDecodeError:
        raise Bad("E-2.5", "a text that is not UTF-8") from None


def cbor_object(cursor, n, level):
    value, before = {}, b""
    for _ in range(bounded(cursor, n)):
        start = cursor.at
        major, length = cbor_head(cursor)
        if major != 3:
            raise Bad("E-3.1", "a name that is not a text")
        name = cbor_text(cursor, length)
        coded = cursor.data[start : cursor.at]
        if before >= coded:
            raise Bad("E-3.2", "names out of order, or one twice")
        before = coded
        value[name] = cbor_value(cursor, level)
    return value


def cbor_whole(data, kind, clause):
    cursor = Cursor(data)
    value = cbor_value(cursor)
    if cursor.at != cursor.end:
        raise Bad("E-1.4", "bytes behind the item")
    if not isinstance(value, kind):
        raise Bad(clause, "an item of another type than belongs here")
    return value


def cbor_key(cursor):
    value = cbor_value(cursor)
    if isinstance(value, bool) or not isinstance(value, (int, str, bytes)):
        raise Bad("E-4.1", "a key that is no int, text or byte string")
    if not isinstance(value, int) and len(value.encode() if isinstance(value, str) else value) > 1024:
        raise Bad("V-4.1", "a key of more than 1,024 bytes")
    return value


def key_order(key):  # V-3.8
    return (0, key) if isinstance(key, int) else (1, key.encode()) if isinstance(key, str) else (2, key)


# --- E-6: JSON, relaxed ---------------------------------------------------------------------------------------


def to_json(value):
    """The value as Python's json module writes it in relaxed mode."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int):
        return value if abs(value) < 1 << 53 else {"$numberLong": str(value)}  # E-6.3, E-6.5
    if isinstance(value, float):
        if math.isfinite(value):
            return value  # E-6.4: repr() always has a fraction or an exponent
        return {"$numberDouble": "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"}
    if isinstance(value, bytes):  # E-6.7
        return {"$binary": {"base64": base64.b64encode(value).decode(), "subType": "00"}}
    if isinstance(value, list):
        return [to_json(item) for item in value]
    plain = {name: to_json(item) for name, item in value.items()}
    alone = next(iter(value)) if len(value) == 1 else None
    if alone in ("$numberInt", "$numberLong", "$numberDouble", "$binary") or "$literal" in value:
        return {"$literal": plain}  # E-6.9
    return plain


# --- F-3: superblock ------------------------------------------------------------------------------------------


@dataclass
class Slot:
    index: int
    major: int
    checksum: int
    incompatible: int
    sector: int
    segment_bytes: int
    lineage: bytes
    generation: int
    incarnation: int
    clean: bool
    durable: int
    file_len: int
    checkpoints: tuple


def read_slot(data, index):
    """The slot if it is valid (F-3.3), else None."""
    raw = data[SLOT_AT[index] : SLOT_AT[index] + 512]
    if len(raw) < 512 or raw[:8] != b"HOLOTYPE" or crc32c(raw[:508]) != int.from_bytes(raw[508:], "little"):
        return None
    generation, incarnation, flags, durable, file_len = struct.unpack_from("<QIIQQ", raw, 352)
    if generation % 2 != index:
        return None
    major, _minor, checksum = struct.unpack_from("<HHB", raw, 8)
    (incompatible,) = struct.unpack_from("<Q", raw, 16)
    sector, segment_bytes = struct.unpack_from("<II", raw, 40)
    named = tuple(struct.unpack_from("<Q", raw, at)[0] for at in (384, 432))
    return Slot(index, major, checksum, incompatible, sector, segment_bytes, raw[48:64], generation, incarnation,
                bool(flags & 1), durable, file_len, named)  # fmt: skip


def newest_slot(data):
    slots = [slot for slot in (read_slot(data, 0), read_slot(data, 1)) if slot]
    if not slots:
        raise no_slot(data)
    for slot in slots:  # each valid slot, the newest or not
        at = SLOT_AT[slot.index]
        if slot.major != 1 or slot.checksum != 1 or slot.incompatible:  # F-3.4
            raise newer("F-3.4", at, f"format {slot.major}, checksum {slot.checksum}, features {slot.incompatible:#x}")
        if not geometry_ok(slot.sector, slot.segment_bytes):
            raise corrupt("F-2.1", at + 40, "a geometry out of bounds")
    return max(slots, key=lambda slot: slot.generation)  # F-3.3


def geometry_ok(sector, segment_bytes):  # F-1.6, F-2.1
    power = sector & (sector - 1) == 0 and segment_bytes & (segment_bytes - 1) == 0
    return power and 64 <= sector <= 4096 and max(512, 8 * sector) <= segment_bytes <= 64 << 20


def no_slot(data):
    # The text measures an unfinished creation by "the geometry asked for"; a reader asks for none: the default.
    created, sector = 65536, 512
    outside = data[SEGMENTS + sector :] + data[512 if len(data) == created else 0 : SEGMENTS]
    if len(data) <= created and not any(outside):
        return Refused("incomplete", "R-5.1", 0, "the creation of this store did not finish")
    if any(data[at : at + 8] == b"HOLOTYPE" for at in SLOT_AT):
        return corrupt("R-5.1", 0, "neither superblock slot is valid")
    return Refused("not a store", "R-5.1", 0, "no superblock")


# --- F-4 to F-6: segments, frames, records --------------------------------------------------------------------


@dataclass
class Segment:
    """A segment in its place: physical index, and the sequence that it should have."""

    index: int
    sequence: int
    header: "Header | None"


@dataclass
class Header:
    sequence: int
    first: int
    durable: int
    prev_end: int
    next: int
    after: int


@dataclass
class Frame:
    segment: Segment
    at: int
    lsn: int
    lag: int
    body: int
    part: int
    last: bool
    flags: int
    count: int

    @property
    def end(self):  # F-5.2
        return up(self.at + 32 + self.body, 8)

    @property
    def states(self):
        """The LSN that the durable lag states (F-5.4), or 0."""
        if self.lag == NONE or self.lag > self.lsn & NONE:
            return 0
        return self.lsn - self.lag


@dataclass
class Record:
    at: int  # offset in the file
    address: int
    lsn: int
    kind: int
    flags: int
    collection: int = 0
    own: int = 0
    moved_from: int = 0
    key: object = None
    body: bytes = b""


def up(n, unit):
    return -(-n // unit) * unit


def place(at, sector):  # F-5.2
    at = up(at, 8)
    return at if at % sector + 32 <= sector else up(at, sector)


class Image:
    """The bytes of a file behind a valid slot."""

    def __init__(self, data, slot):
        self.data, self.slot = data, slot
        self.sector, self.size, self.lineage = slot.sector, slot.segment_bytes, slot.lineage

    def start(self, index):  # F-2.1
        return SEGMENTS + index * self.size

    def length(self, index):
        """How much of the segment the file holds (R-1.3)."""
        return max(0, min(self.size, len(self.data) - self.start(index)))

    def indexes(self):
        return range(max(0, -(-(len(self.data) - SEGMENTS) // self.size)))

    def segment(self, index, sequence):
        header = self.header(index)
        return Segment(index, sequence, header if header and header.sequence == sequence else None)

    def header(self, index):  # F-4.4, whatever the sequence
        if self.length(index) < 64:
            return None
        raw = self.data[self.start(index) : self.start(index) + 64]
        magic, kind, _codec, _flags, *fields = struct.unpack_from("<IBBHQQQIII", raw)
        if magic != 0x474F4C48 or kind != 1 or raw[44:60] != self.lineage:
            return None
        if crc32c(u32(index), raw[:60]) != int.from_bytes(raw[60:], "little"):
            return None
        return Header(*fields)

    def frame_header(self, segment, at):
        """The frame header at this offset if it is valid, else None (F-5.7); flags are the caller's to judge."""
        if at + 32 > self.length(segment.index) or at % self.sector + 32 > self.sector:
            return None
        raw = self.slice(segment, at, 32)
        crc, _body_crc, lsn, lag, body, part, flags, count = struct.unpack("<IIQIIHHI", raw)
        if lsn & NONE == 0 or at + 32 + body > self.size:
            return None
        if crc32c(self.lineage, u64(segment.sequence), u32(at), raw[4:]) != crc:
            return None
        return Frame(segment, at, lsn, lag, body, part & 0x7FFF, part >> 15 == 1, flags, count)

    def slice(self, segment, at, n):
        start = self.start(segment.index) + at
        return self.data[start : start + n]

    def records(self, frame):
        """Where the records of the frame stand, as (offset, length), or None if the frame is not valid (F-5.7)."""
        if frame.at + 32 + frame.body > self.length(frame.segment.index):  # some of it is absent
            return None
        body = self.slice(frame.segment, frame.at + 32, frame.body)
        cursor, found, crcs = Cursor(body), [], b""
        try:
            while cursor.at < cursor.end:
                start = cursor.at
                crcs += cursor.take(4)
                cursor.take(2)
                cursor.take(cursor.varint())
                found.append((start, cursor.at - start))
        except Bad:
            return None
        if len(found) != frame.count:
            return None
        seed = (self.lineage, u64(frame.segment.sequence), u32(frame.at))
        raw = self.slice(frame.segment, frame.at, 32)
        if crc32c(*seed, raw[8:], crcs) != int.from_bytes(raw[4:8], "little"):
            return None
        for start, length in found:
            offset = u32(frame.at + 32 + start)
            seed = (self.lineage, u32(frame.lsn >> 32), u64(frame.segment.sequence), offset)
            if crc32c(*seed, body[start + 4 : start + length]) != int.from_bytes(body[start : start + 4], "little"):
                return None
        return [(frame.at + 32 + start, length) for start, length in found]

    def record(self, frame, at, length, base):
        """The record at this offset of the frame's segment; None if it may be skipped (F-6)."""
        offset = self.start(frame.segment.index) + at
        record = Record(offset, frame.segment.sequence * self.size + at, frame.lsn, 0, 0)
        try:
            return parse_record(Cursor(self.slice(frame.segment, at, length), 4), record, base)
        except Bad as bad:
            raise corrupt(bad.clause, offset, f"the record of commit {lsn_text(frame.lsn)}: {bad}") from None


def parse_record(cursor, record, base):
    record.kind, record.flags = cursor.take(2)
    if record.kind >= 128:  # F-6.3
        return None
    if record.kind == 0:
        raise Bad("F-6.3", "kind 0")
    if record.kind > TIME:
        raise newer("F-6.3", record.at, f"a record of kind {record.kind}")
    if record.flags & 0xF0:
        raise newer("F-6.4", record.at, f"record flags {record.flags:#04x}")
    if record.flags & CHUNKED and record.kind not in (PUT, RELOCATED):
        raise Bad("F-6.4", "a chunk list in a record that is no put")
    cursor.varint()  # the length, which `records` followed
    record.collection = cursor.varint()
    if record.collection > NONE:
        raise Bad("F-7.2", "a collection id of more than 32 bits")
    if base + cursor.varint() != record.lsn & NONE:
        raise Bad("F-6.1", "the commit field is not that of the frame")
    if record.kind == RELOCATED:
        record.own, record.moved_from = cursor.fixed(8), cursor.varint()
    if record.flags & REPLACES:
        cursor.varint()
    if record.flags & EXPIRES:
        cursor.fixed(8)
    if record.flags & EXTENDED:
        cursor.take(cursor.varint())
    if record.kind in (PUT, DELETE, RELOCATED, CHUNK):
        record.key = cbor_key(cursor)
    record.body = bytes(cursor.rest())
    fixed = {DELETE: 0, FREED: 12, OPENED: 16, TIME: 8}.get(record.kind)
    if fixed is not None and len(record.body) != fixed:
        raise Bad("F-6.3", f"a body of {len(record.body)} bytes in a record of kind {record.kind}")
    return record


# --- recovery -------------------------------------------------------------------------------------


@dataclass
class End:
    """How far the log is accepted (R-1.1): L, the segment q, X, and the base of the stretch (F-6.2)."""

    lsn: int
    segment: Segment
    at: int
    base: int
    stretch: int = 0  # the incarnation that the base is for


class Recovery:
    def __init__(self, data):
        self.slot = newest_slot(data)
        self.image = Image(data, self.slot)
        self.store = Store()
        self.log = []  # what was accepted: (frame, base, records)
        self.end = None

    def run(self):
        slot, image = self.slot, self.image
        if len(image.data) < max(slot.file_len, SEGMENTS):  # F-2.3
            raise corrupt("R-4.1", len(image.data), f"the file ends before its {slot.file_len} bytes")
        if slot.checkpoints[0]:
            raise Refused("not supported", "F-8", SLOT_AT[slot.index] + 384, "checkpoint not supported")
        segment = image.segment(0, 0)
        segment.header = segment.header or Header(0, 0, 0, 0, 1, 2)  # F-4.5: what it was, if it is damaged
        self.end = End(0, segment, image.sector, segment.header.first & NONE)
        while commit := self.next_commit():
            self.accept(commit)
        self.dead_end()
        return self

    # what continues the log

    def next_commit(self):
        """The frames of the commit that follows, with the base of each, or None."""
        found = []
        for frame in self.candidates(self.end, self.follows):
            records = self.image.records(frame)
            if records is None or frame.lsn >> 32 > self.end.lsn >> 32 and not self.names_end(frame, records):
                continue
            found.append((frame, records))
        for frame, records in sorted(found, key=lambda pair: -(pair[0].lsn >> 32)):
            if commit := self.parts(frame, records):  # a missing part leaves the others
                return commit
        return None

    def follows(self, frame):  # what the opening record names is looked at behind this
        if frame.part:
            return False
        if frame.lsn >> 32 == self.end.lsn >> 32:
            return frame.lsn == self.end.lsn + 1 and self.end.lsn > 0  # incarnation 0 has no commits
        opens = bool(frame.flags & OPENING) and frame.last and frame.lsn & NONE == 1
        return opens and frame.lsn >> 32 > self.end.lsn >> 32

    def names_end(self, frame, records):
        end = self.end
        return self.opening_record(frame, records) == (end.lsn, end.segment.sequence * self.image.size + end.at)

    def opening_record(self, frame, records):
        """L and X of a valid opening frame (F-6.5), or None; what else is wrong with it shows in `accept`."""
        if not records:
            return None
        cursor = Cursor(self.image.slice(frame.segment, *records[0]), 4)
        try:
            kind, _ = cursor.take(2)
            for _ in ("length", "collection", "commit"):
                cursor.varint()
            return (cursor.fixed(8), cursor.fixed(8)) if kind == OPENED else None
        except Bad:
            return None

    def candidates(self, end, wanted):
        """The frames in the places of R-2.1 whose headers are right and wanted."""
        image, segment = self.image, end.segment
        places = [(segment, place(end.at, image.sector))]
        if up(end.at, image.sector) != places[0][1]:
            places.append((segment, up(end.at, image.sector)))
        for successor in self.successors(segment):
            if successor.header.prev_end == end.at:
                places.append((successor, image.sector))
        for segment, at in places:
            frame = image.frame_header(segment, at)
            if not frame or not wanted(frame):
                continue
            if segment is not end.segment and segment.header.first != frame.lsn:
                continue
            if frame.flags & UNKNOWN:  # F-5.7
                raise newer("F-5.7", image.start(segment.index) + at, f"frame flags {frame.flags:#06x}")
            yield frame

    def successors(self, segment):
        if segment.header.next != NONE:
            indexes = [segment.header.next]
        else:
            indexes = self.image.indexes()
        found = (self.image.segment(index, segment.sequence + 1) for index in indexes)
        return [successor for successor in found if successor.header]

    def parts(self, frame, records):
        commit, end = [], self.end
        while True:
            end = self.behind(end, frame)
            commit.append((frame, records, end))
            if frame.last:
                return commit
            part = len(commit)
            following = self.candidates(end, lambda f: f.lsn == frame.lsn and f.part == part)
            pairs = ((f, self.image.records(f)) for f in following)
            frame, records = next(((f, r) for f, r in pairs if r is not None), (None, None))
            if frame is None:
                return None

    def behind(self, end, frame):
        base, stretch = end.base, end.stretch  # F-6.2
        if frame.lsn >> 32 != stretch:
            base, stretch = frame.lsn & NONE, frame.lsn >> 32
        if frame.segment is not end.segment:
            base = frame.segment.header.first & NONE
        return End(frame.lsn, frame.segment, frame.end, base, stretch)

    def accept(self, commit):
        first = commit[0][0]
        at = self.image.start(first.segment.index) + first.at
        if any(frame.flags != first.flags for frame, _, _ in commit):
            raise corrupt("F-5.8", at, "the parts of a commit have different flags")
        records = []
        for frame, places, end in commit:
            parsed = [self.image.record(frame, *where, end.base) for where in places]
            self.log.append((frame, end.base, parsed))
            records += [record for record in parsed if record]
        opens = bool(first.flags & OPENING)
        if any((record.kind == OPENED) != opens for record in records) or opens and len(records) > 1:
            raise corrupt("F-6.5", at, "an opening record elsewhere, or not alone")
        if first.flags & WATERMARK and (records or not first.flags & SYSTEM):
            raise corrupt("F-5.5", at, "a watermark frame with records")
        self.store.replay(records)
        self.end = commit[-1][2]

    # where nothing follows

    def dead_end(self):
        claim, by, at = max(self.claims())
        if claim > self.end.lsn:
            broken = self.image.start(self.end.segment.index) + self.end.at
            what = f"the log ends at {lsn_text(self.end.lsn)}, and {by} at offset {at} claims {lsn_text(claim)}"
            raise corrupt("R-4.1", broken, what)

    def claims(self):
        yield self.slot.durable, "the slot", SLOT_AT[self.slot.index]
        yield from self.claims_in(self.end.segment, self.end.at)
        for chain in self.chains():
            for segment in chain:
                if segment.header and segment.header.first >> 32 >= self.slot.incarnation:
                    yield segment.header.durable, "the segment header", self.image.start(segment.index)
                yield from self.claims_in(segment, self.image.sector)

    def chains(self):
        segment = self.end.segment
        if segment.header.next != NONE:
            yield self.chain(segment)
            return
        for successor in self.successors(segment):
            yield [successor, *self.chain(successor)]

    def chain(self, segment):
        """The segments behind this one, whose header is valid."""
        found = []
        while True:
            named = (segment.header.next, segment.header.after)
            for steps, index in enumerate(named, 1):
                if index == NONE or self.image.length(index) == 0:
                    return found
                successor = self.image.segment(index, segment.sequence + steps)
                found.append(successor)
                if successor.header:
                    break
            else:
                return found
            segment = successor

    def claims_in(self, segment, start):
        for at in range(up(start, 8), self.image.length(segment.index), 8):
            frame = self.image.frame_header(segment, at)
            if not frame or frame.lsn >> 32 < self.slot.incarnation or frame.flags & UNKNOWN:
                continue
            if segment.header and frame.lsn < segment.header.first:
                continue
            offset = self.image.start(segment.index) + at
            yield frame.states, "the frame", offset
            records = self.image.records(frame) if frame.flags & OPENING else None
            if records and (opening := self.opening_record(frame, records)):
                yield opening[0], "the opening frame", offset


# --- F-7, F-6.7, S-1: what the commits make -------------------------------------------------------------------


@dataclass
class Version:
    record: Record
    chunks: dict  # those of its commit, by address


@dataclass
class Collection:
    name: str
    documents: dict = field(default_factory=dict)  # by the sort key of V-3.8


class Store:
    """The state after the commits replayed so far."""

    def __init__(self):
        self.collections = {}  # by id
        self.largest = 0  # the largest collection id given out (F-7.2)

    def replay(self, records):
        chunks = {record.address: record for record in records if record.kind == CHUNK}
        for record in records:
            try:
                self.change(record, chunks)
            except Bad as bad:
                at = f"the record of commit {lsn_text(record.lsn)}"
                raise corrupt(bad.clause, record.at, f"{at}: {bad}") from None

    def change(self, record, chunks):
        if record.kind == CATALOG:
            self.catalog(record)
        elif record.kind == CHUNK:
            Cursor(record.body).varint()
        collection = self.collections.get(record.collection)
        if collection is None or record.kind not in (PUT, DELETE, RELOCATED):
            return  # F-7.4: the record is dead, or changes no document
        key, documents = key_order(record.key), collection.documents
        if record.kind == DELETE:
            documents.pop(key, None)
        elif record.kind == PUT or self.moves(documents.get(key), record):
            documents[key] = Version(record, chunks)

    def moves(self, version, record):  # F-6.8: only the version that it moved from gives way to it
        return version is not None and (version.record.lsn, version.record.address) == (record.own, record.moved_from)

    def catalog(self, record):
        entry = cbor_whole(record.body, dict, "F-7.1")
        op = entry.get("op")
        wanted = {"create": "id name", "drop": "id", "clear": "id new", "rename": "id name"}
        if not isinstance(op, str):
            raise Bad("F-7.1", "a catalog record without an op")
        if op not in wanted:
            raise newer("F-7.1", record.at, f"a catalog record that says {op!r}")
        self.required(entry, ("op", "required", "id", "name", "new"), record)
        number, name = self.id_of(entry, "id"), None
        if "name" in wanted[op]:
            name = self.free_name(entry)
        if op == "create":
            self.collections[self.fresh(number)] = Collection(name)
        elif number not in self.collections:
            raise Bad("F-7.1", f"{op} of the collection {number}, which there is not")
        elif op == "drop":
            del self.collections[number]
        elif op == "clear":
            new = self.fresh(self.id_of(entry, "new"))
            self.collections[new] = Collection(self.collections.pop(number).name)
        else:
            self.collections[number].name = name

    def required(self, entry, known, record):  # F-7.3
        names = entry.get("required", [])
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise Bad("F-7.3", "what is required is no array of texts")
        if unknown := [name for name in names if name not in known]:
            raise newer("F-7.3", record.at, f"a catalog record that requires {unknown[0]!r}")

    def id_of(self, entry, name):  # F-7.2
        number = entry.get(name)
        if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= NONE:
            raise Bad("F-7.2", f"a catalog record whose {name} is no collection id")
        return number

    def fresh(self, number):
        if number <= self.largest:
            raise Bad("F-7.2", f"the collection id {number} is given twice")
        self.largest = number
        return number

    def free_name(self, entry):
        name = entry.get("name")
        if not isinstance(name, str) or not 1 <= len(name.encode()) <= 255:
            raise Bad("F-7.2", "a name that is not 1 to 255 bytes of text")
        if any(collection.name == name for collection in self.collections.values()):
            raise Bad("F-7.1", f"a second collection of the name {name!r}")
        return name

    def rows(self):
        """Every live document as (collection name, key, document), in the order of the names and keys."""
        for collection in sorted(self.collections.values(), key=lambda c: c.name.encode()):  # S-3.9
            for _, version in sorted(collection.documents.items(), key=lambda item: item[0]):
                yield collection.name, version.record.key, document(version)


def chunked(record, chunks):  # F-6.7
    cursor = Cursor(record.body)
    length, count = cursor.varint(), cursor.varint()
    if length > 64 << 20:
        raise Bad("V-4.2", "a document of more than 64 MiB")
    if cursor.end - cursor.at != 8 * count:
        raise Bad("F-6.7", "a chunk list that does not fill its record")
    parts = []
    for number in range(count):
        chunk = chunks.get(cursor.fixed(8))
        if chunk is None or (chunk.collection, chunk.key) != (record.collection, record.key):
            raise Bad("F-6.7", f"chunk {number} is not where the list says")
        body = Cursor(chunk.body)
        if body.varint() != number:
            raise Bad("F-6.7", f"chunk {number} has another number")
        parts.append(body.rest())
    if sum(map(len, parts)) != length:
        raise Bad("F-6.7", "the chunks are not as long as the list says")
    return b"".join(parts)


def document(version):
    try:
        record = version.record
        body = chunked(record, version.chunks) if record.flags & CHUNKED else record.body
        if len(body) > 64 << 20:
            raise Bad("V-4.2", "a document of more than 64 MiB")
        return cbor_whole(body, dict, "E-3.4")
    except Bad as bad:
        raise corrupt(bad.clause, version.record.at, f"the document: {bad}") from None


# --- commands -------------------------------------------------------------------------------------------------


def dump(data, out):
    store = Recovery(data).run().store
    rows = list(store.rows())  # all of it is checked before any of it is written
    for name, key, value in rows:
        row = {"collection": name, "key": to_json(key), "doc": to_json(value)}
        out.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")


def inspect(data, out):
    """Show everything that the log holds, and then say how it ends: in order, or why not."""
    for index in (0, 1):
        out.write(f"slot {'AB'[index]}: {read_slot(data, index) or 'not valid'}\n")
    recovery = Recovery(data)
    try:
        recovery.run()
    finally:
        show_log(recovery, out)


def show_log(recovery, out):
    image, shown = recovery.image, None
    for frame, base, records in recovery.log:
        if frame.segment is not shown:
            shown = frame.segment
            out.write(f"segment {shown.sequence} at {image.start(shown.index)}: {shown.header}\n")
        last = ", last" if frame.last else ""
        out.write(f"  frame at {image.start(shown.index) + frame.at}: commit {lsn_text(frame.lsn)}, ")
        out.write(f"part {frame.part}{last}, flags {frame.flags}, states {lsn_text(frame.states)}, base {base}\n")
        for record in records:
            out.write(f"    {show_record(record)}\n")
    if recovery.end:
        end = recovery.end
        out.write(f"accepted up to {lsn_text(end.lsn)}, segment {end.segment.sequence}, offset {end.at}\n")


def show_record(record):
    if record is None:
        return "a record that is skipped"
    kinds = "put delete relocated chunk catalog freed opening time".split()
    text = f"{record.at}: {kinds[record.kind - 1]}, flags {record.flags:#x}, collection {record.collection}"
    if record.key is not None:
        text += f", key {json.dumps(to_json(record.key), ensure_ascii=False)}"
    return f"{text}, body of {len(record.body)} bytes"


def main(arguments):
    commands = {"dump": dump, "inspect": inspect}
    if len(arguments) != 2 or arguments[0] not in commands:
        sys.stderr.write(__doc__)
        return 2
    try:
        with open(arguments[1], "rb") as file:
            data = file.read()
    except OSError as error:
        sys.stderr.write(f"{arguments[1]}: {error.strerror}\n")
        return 3
    try:
        commands[arguments[0]](data, sys.stdout)
    except Refused as refused:
        sys.stderr.write(f"{arguments[1]}: {refused}\n")
        return refused.exit
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

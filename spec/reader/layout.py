"""Where things stand in a file and when they are valid: slots, segments, frames, records (F-2 to F-6)."""

import struct
from dataclasses import dataclass

from coding import Bad, Cursor, cbor_key, crc32c, u32, u64

SEGMENTS = 16384  # F-2.1: where segment 0 begins
SLOT_AT = (0, 4096)
NONE = 0xFFFFFFFF  # F-4.1: no physical index; F-5.4: a lag that states nothing
OPENING, WATERMARK, SYSTEM = 1, 2, 4  # F-5.1, frame flags
UNKNOWN = 0xFFF8  # the other ones: bit 3, encrypted, has no meaning in version 1.0
PUT, DELETE, RELOCATED, CHUNK, CATALOG, FREED, OPENED, TIME = range(1, 9)  # F-6.3
REPLACES, EXPIRES, EXTENDED, CHUNKED = 1, 2, 4, 8  # F-6.4


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


def lsn_text(lsn):  # F-1.5
    return f"({lsn >> 32}, {lsn & NONE})"


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
            said = f"format {slot.major}, checksum {slot.checksum}, features {slot.incompatible:#x}"
            raise newer("F-3.4", at, said)
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


def known(kind, flags, at):
    """Whether this reader knows records like that (F-6.3, F-6.4): if not, it may skip them or must refuse them."""
    if kind >= 128:
        return False
    if kind > TIME:
        raise newer("F-6.3", at, f"a record of kind {kind}")
    if flags & 0xF0:
        raise newer("F-6.4", at, f"record flags {flags:#04x}")
    return True


def step_over_optional(cursor, flags):
    """The fields of F-6.1 that a flag announces; this reader has no use for them."""
    if flags & REPLACES:
        cursor.varint()
    if flags & EXPIRES:
        cursor.fixed(8)
    if flags & EXTENDED:
        cursor.take(cursor.varint())


def parse_record(cursor, record, base):
    record.kind, record.flags = cursor.take(2)
    if not known(record.kind, record.flags, record.at):
        return None
    if record.kind == 0:
        raise Bad("F-6.3", "kind 0")
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
    step_over_optional(cursor, record.flags)
    if record.kind in (PUT, DELETE, RELOCATED, CHUNK):
        record.key = cbor_key(cursor)
    record.body = bytes(cursor.rest())
    fixed = {DELETE: 0, FREED: 12, OPENED: 16, TIME: 8}.get(record.kind)
    if fixed is not None and len(record.body) != fixed:
        raise Bad("F-6.3", f"a body of {len(record.body)} bytes in a record of kind {record.kind}")
    return record

"""Where things stand in a file and when they are valid: slots, segments, frames, records (F-2 to F-6)."""
import contextlib
import struct
from collections import namedtuple
from coding import Cursor, Refused, about, crc32c, need, valid_key

SLOT_AT, SEGMENTS, AGE = (0, 4096), 16384, ("newer format", "older format")  # F-2.1, C-2.6
NONE = 0xFFFFFFFF  # F-4.1: no physical index; F-5.4: a lag that states nothing
OPENING, WATERMARK, SYSTEM, UNKNOWN = 1, 2, 4, 0xFFF8  # F-5.1; bit 3, encrypted, means nothing in version 3.0
PUT, DELETE, RELOCATED, CHUNK, CATALOG, FREED, OPENED, TIME = range(1, 9)  # F-6.3
REPLACES, EXPIRES, EXTENDED, CHUNKED = 1, 2, 4, 8  # F-6.4
Slot = namedtuple("Slot", "major checksum incompatible sector size lineage generation incarnation durable "
                          "file_len named at checkpoints")  # F-3.1
Reference = namedtuple("Reference", "lsn root at crc index sequence end length last")  # F-3.2
Header = namedtuple("Header", "sequence first durable prev_end next after")  # F-4.1
Frame = namedtuple("Frame", "segment at end lsn states part last flags count records")  # F-5.1

class Record(namedtuple("Record", "at address lsn kind flags collection replaced key body")):
    def value(self):  # F-6.6, as is `replaced`, which is 0 for none
        return self.address << 2 | (2 if self.flags & CHUNKED else 0) | (self.kind == RELOCATED)

class Segment:  # in its place, with the sequence that it should have; stretches: (offset, first LSN), F-6.2
    def __init__(self, index, sequence, stretches=(), header=None, freed=0):
        self.index, self.sequence, self.stretches = index, sequence, list(stretches)
        self.header, self.freed = header, freed

def up(n, unit):
    return -(-n // unit) * unit
def place(at, sector):  # F-5.2
    return up(at, 8) if up(at, 8) % sector + 32 <= sector else up(at, sector)
def sealed_end(raw, *seed):  # whether the last four bytes are the checksum of all before
    return crc32c(*seed, raw[:-4]) == int.from_bytes(raw[-4:], "little")

def valid_slots(data):  # F-3.3
    for index, at in enumerate(SLOT_AT):
        raw = data[at : at + 512]
        if len(raw) == 512 and raw[:8] == b"HOLOTYPE" and sealed_end(raw):
            fields = struct.unpack_from("<8xH2xB3xQ16xII16s288xQI4xQQ", raw)
            named = [Reference(*struct.unpack_from("<QIIIIQIIQ", raw, offset)) for offset in (384, 432)]
            slot = Slot(*fields, named, at, [reference for reference in named if reference.lsn])
            if slot.generation % 2 == index:
                yield slot
def newest_slot(data):
    slots = list(valid_slots(data))
    for slot in slots:  # each valid one, the newest or not
        need("F-3.4", slot[:3] == (3, 1, 0), kind=AGE[slot.major < 3], at=slot.at)
    for slot in slots:
        need("F-2.1", *(n.bit_count() == 1 for n in (slot.sector, slot.size)), at=slot.at + 40)  # F-1.6
        need("F-2.1", 64 <= slot.sector <= slot.size // 8 <= 8 << 20, slot.sector <= 4096, at=slot.at + 40)
        need("F-3.2", *(reference_ok(reference, slot) for reference in slot.named), at=slot.at + 384)
    need("F-3.3", len({slot[3:6] for slot in slots}) < 2, at=SLOT_AT[1] + 40)  # by creation
    return max(slots, key=lambda slot: slot.generation) if slots else no_slot(data)
def reference_ok(ref, slot):
    if not ref.lsn:
        return not any(ref)
    inside = has_room(ref.at, ref.length, slot.sector, slot.size) and slot.sector <= ref.end <= slot.size
    return inside and ref.end % 8 == 0 and (ref.sequence + 1) * slot.size <= 1 << 55
def has_room(at, length, sector, size):  # F-8.11: for an index record
    return at % 8 == 0 and sector <= at <= size - length and 9 <= length <= min(16384, size - sector)
def no_slot(data):  # with the sector and the creation length of the default geometry
    for head in (data[at : at + 12] for at in SLOT_AT):
        newer = len(head) == 12 and head[:8] == b"HOLOTYPE" and int.from_bytes(head[8:10], "little") > 3
        need("R-5.1", not newer, kind="newer format", at=0)
    outside = data[SEGMENTS + 512 :] + data[512 if len(data) == 65536 else 0 : SEGMENTS]
    slot, header = data[:8], data[SEGMENTS : SEGMENTS + 4]
    begun = slot in (b"HOLOTYPE", bytes(len(slot))) and header in (b"HLOG", bytes(len(header)))
    if len(data) <= 65536 and not any(outside) and begun:
        raise Refused("R-5.1", "incomplete", 0)
    known = any(data[at:] and b"HOLOTYPE".startswith(data[at : at + 8]) for at in SLOT_AT)
    raise Refused("R-5.1", "corrupt" if known else "not a store", 0)

class Image:  # the bytes of a file behind a valid slot
    def __init__(self, data, slot):
        self.data, self.sector, self.size, self.lineage = data, slot.sector, slot.size, slot.lineage
        self.count = max(0, up(len(data) - SEGMENTS, self.size) // self.size)  # of segments
    def start(self, index):  # F-2.1
        return SEGMENTS + index * self.size
    def length(self, index):  # how much of the segment the file holds
        return max(0, min(self.size, len(self.data) - self.start(index)))
    def cursor(self, index, at, end, clause="F-6.1"):
        start, end = self.start(index), min(end, self.length(index))
        return Cursor(self.data, start + at, start + end, clause)

    def segment(self, index, sequence):  # F-4.4: without a header, where that is not valid
        raw = self.data[self.start(index) : self.start(index) + 64]
        if len(raw) == 64 and sealed_end(raw, struct.pack("<I", index)):
            magic, kind, *fields, lineage = struct.unpack_from("<IB3xQQQIII16s", raw)
            if (magic, kind, lineage, fields[0]) == (0x474F4C48, 1, self.lineage, sequence):
                return Segment(index, sequence, [(self.sector, fields[1])], Header(*fields))
        return Segment(index, sequence)

    def frame(self, segment, at):  # F-5.7: if its header is valid; `records` are None when the rest is not
        start, limit = self.start(segment.index), self.length(segment.index)
        if at + 32 > limit or at % self.sector + 32 > self.sector:
            return None
        raw = self.data[start + at : start + at + 32]
        crc, body_crc, lsn, lag, body, part, flags, count = struct.unpack("<IIQIIHHI", raw)
        seed, end = self.lineage + struct.pack("<QI", segment.sequence, at), at + 32 + body
        if lsn & NONE == 0 or end > self.size or crc != crc32c(seed, raw[4:]):
            return None
        states = 0 if lag == NONE or lag > lsn & NONE else lsn - lag  # F-5.4
        records, crcs, behind = [], b"", at + 32
        with contextlib.suppress(Refused):
            while behind < end:
                records.append(behind)
                crcs += self.data[start + behind : start + behind + 4]
                behind = self.sealed(segment, behind, end, lsn >> 32)[2].end - start
        records = records if behind == end <= limit and body_crc == crc32c(seed, raw[8:], crcs) else None
        part, last = part & 0x7FFF, part >> 15 == 1
        return Frame(segment, at, up(end, 8), lsn, states, part, last, flags, count, records)
    def sealed(self, segment, at, end, incarnation, any_form=True):  # F-6.1: kind, flags, and the rest
        cursor = self.cursor(segment.index, at, end)
        start, crc, (kind, flags), length = cursor.at, cursor.take(4), cursor.take(2), cursor.varint(any_form)
        need("F-6.1", length <= cursor.end - cursor.at)
        cursor.end = cursor.at + length
        seed = self.lineage + struct.pack("<IQI", incarnation, segment.sequence, at)
        need("F-6.1", int.from_bytes(crc, "little") == crc32c(seed, self.data[start + 4 : cursor.end]))
        return kind, flags, cursor
    def replaced(self, cursor):  # F-6.6: the value of a version; no reader needs the chunks that die with it
        value = cursor.varint()
        need("F-6.6", 0 < value >> 2 < 1 << 55)
        last = -1
        for _ in range(cursor.varint() if value & 2 else 0):
            sequence, count = cursor.varint(), cursor.varint()
            need("F-6.6", sequence > last, count)
            last = sequence
        return value
    def record(self, segment, at, lsn=None):  # of the commit `lsn`; None where its kind may be skipped
        with about(offset := self.start(segment.index) + at):
            stretches = [first for begin, first in segment.stretches if begin <= at]  # F-6.2
            need("F-8.4", stretches)
            incarnation, base = stretches[-1] >> 32, stretches[-1] & NONE
            kind, flags, cursor = self.sealed(segment, at, self.size, incarnation, any_form=False)
            if kind >= 128:
                need("F-6.1", cursor.varint() <= NONE, (lsn or 0) & NONE == base + cursor.varint())
                return None
            need("F-6.3", kind <= TIME, kind="newer format")
            need("F-6.3", kind)
            need("F-6.4", not flags & 0xF0, kind="newer format")
            need("F-6.4", not flags & CHUNKED or kind in (PUT, RELOCATED))
            collection, count = cursor.varint(), base + cursor.varint()
            need("F-6.1", collection <= NONE, count <= NONE, lsn in (None, incarnation << 32 | count))
            _own = cursor.take(8) if kind == RELOCATED else b""
            replaced = self.replaced(cursor) if flags & REPLACES else 0
            need("F-6.8", kind != RELOCATED or flags & REPLACES)
            _expiry = cursor.take(8) if flags & EXPIRES else 0
            _extension = cursor.take(cursor.varint()) if flags & EXTENDED else b""
            key = valid_key(cursor.cbor()) if kind in (PUT, DELETE, RELOCATED, CHUNK) else None
            body = bytes(cursor.take())
            need("F-6.3", len(body) == {DELETE: 0, FREED: 12, OPENED: 16, TIME: 8}.get(kind, len(body)))
        lsn, address = incarnation << 32 | count, segment.sequence * self.size + at
        return Record(offset, address, lsn, kind, flags, collection, replaced, key, body)

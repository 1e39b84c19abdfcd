"""Stores made by hand, byte by byte, for the tests of the second reader.

Nothing here keeps a writer's rules by itself: a test places what it wants to be read, right or wrong.
"""

import struct

from coding import crc32c, u32, u64
from layout import CATALOG, CHUNK, DELETE, NONE, OPENED, OPENING, PUT, SYSTEM, place, up

LINEAGE = bytes(range(16))


def varint(n):  # F-1.2
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out) + bytes([n])


def lsn(incarnation, count):
    return incarnation << 32 | count


# --- CBOR, E-2 ------------------------------------------------------------------------------------------------


def head(major, n):
    if n < 24:
        return bytes([major << 5 | n])
    width = 1 if n < 1 << 8 else 2 if n < 1 << 16 else 4 if n < 1 << 32 else 8
    return bytes([major << 5 | 23 + width.bit_length()]) + n.to_bytes(width, "big")


def cbor(value):
    if value is None or isinstance(value, bool):
        return b"\xf6" if value is None else b"\xf5" if value else b"\xf4"
    if isinstance(value, int):
        return head(0, value) if value >= 0 else head(1, -1 - value)
    if isinstance(value, float):
        return cbor_float(value)
    if isinstance(value, bytes):
        return head(2, len(value)) + value
    if isinstance(value, str):
        return head(3, len(value.encode())) + value.encode()
    if isinstance(value, list):
        return head(4, len(value)) + b"".join(map(cbor, value))
    fields = sorted((cbor(name), cbor(item)) for name, item in value.items())
    return head(5, len(value)) + b"".join(name + item for name, item in fields)


def cbor_float(value):
    if value != value:
        return b"\xf9\x7e\x00"
    for lead, code in ((0xF9, ">e"), (0xFA, ">f")):
        try:
            data = struct.pack(code, value)
        except OverflowError:
            continue
        if struct.unpack(code, data)[0] == value:
            return bytes([lead]) + data
    return b"\xfb" + struct.pack(">d", value)


# --- records, F-6: (kind, flags, collection, what follows the commit field) -----------------------------------


def put(collection, key, document, flags=0):
    return PUT, flags, collection, cbor(key) + (document if isinstance(document, bytes) else cbor(document))


def delete(collection, key):
    return DELETE, 0, collection, cbor(key)


def chunk(collection, key, number, data):
    return CHUNK, 0, collection, cbor(key) + varint(number) + data


def catalog(**entry):
    return CATALOG, 0, 0, cbor(entry)


def opening(at_lsn, address):
    return OPENED, 0, 0, u64(at_lsn) + u64(address)


class Builder:
    """A file under construction. `at` is X in the current segment, `last` the LSN placed last."""

    def __init__(self, sector=512, segment_bytes=65536, segments=1, successors=(1, 2)):
        self.sector, self.size = sector, segment_bytes
        self.data = bytearray(16384 + segments * segment_bytes)
        self.index = self.sequence = self.base = 0
        self.at, self.last, self.prev_end = sector, 0, 0
        self.next, self.after = successors
        self.places = []  # (offset in the file, length) of each frame
        self.slot(0)
        self.slot(1)
        self.header()

    def slot(self, generation, durable=0, incarnation=0, **other):
        fields = {"major": 1, "checksum": 1, "incompatible": 0, "file_len": len(self.data), "index": generation % 2}
        fields |= {"sector": self.sector, "segment_bytes": self.size, "checkpoint": 0} | other
        raw = bytearray(512)
        struct.pack_into("<8sHHB", raw, 0, b"HOLOTYPE", fields["major"], 0, fields["checksum"])
        struct.pack_into("<Q", raw, 16, fields["incompatible"])
        struct.pack_into("<II16s16s", raw, 40, fields["sector"], fields["segment_bytes"], LINEAGE, LINEAGE)
        struct.pack_into("<QIIQQQ", raw, 352, generation, incarnation, 0, durable, fields["file_len"],
                         fields["checkpoint"])  # fmt: skip
        raw[508:] = u32(crc32c(raw[:508]))
        at = 4096 * fields["index"]
        self.data[at : at + 512] = raw

    def header(self, first=0, durable=0):
        raw = struct.pack("<IBBHQQQIII16s", 0x474F4C48, 1, 0, 0, self.sequence, first, durable, self.prev_end,
                          self.next, self.after, LINEAGE)  # fmt: skip
        at = 16384 + self.index * self.size
        self.data[at : at + 64] = raw + u32(crc32c(u32(self.index), raw))

    def segment(self, first, durable=0, index=None, after=None, prev_end=None):
        """Open the successor; the next frame is the first placed in it."""
        self.index = self.next if index is None else index
        self.next, self.after = self.after, min(NONE, self.after + 1) if after is None else after
        self.sequence += 1
        self.prev_end, self.at, self.base = self.at if prev_end is None else prev_end, self.sector, first & NONE
        missing = 16384 + (self.index + 1) * self.size - len(self.data)
        self.data += bytes(max(0, missing))
        self.header(first, durable)

    def address(self, at=None):
        return self.sequence * self.size + (self.at if at is None else at)

    def record(self, offset, number, record, commit):
        kind, flags, collection, rest = record
        rest = varint(collection) + varint(commit) + rest
        later = bytes([kind, flags]) + varint(len(rest)) + rest
        seed = (LINEAGE, u32(number >> 32), u64(self.sequence), u32(offset))
        return u32(crc32c(*seed, later)) + later

    def frame(self, number, records, part=0, last=True, flags=0, lag=NONE, handed_over=True, base=None):
        """Place one frame behind X, at a sector boundary after a hand-over. Answers the records' addresses."""
        at = up(self.at, self.sector) if handed_over else place(self.at, self.sector)
        base = self.base if base is None else base
        body, crcs, addresses = b"", b"", []
        for record in records:
            offset = at + 32 + len(body)
            addresses.append(self.address(offset))
            coded = self.record(offset, number, record, (number & NONE) - base)
            crcs += coded[:4]
            body += coded
        tail = struct.pack("<QIIHHI", number, lag, len(body), part | last << 15, flags, len(records))
        seed = (LINEAGE, u64(self.sequence), u32(at))
        tail = u32(crc32c(*seed, tail, crcs)) + tail
        raw = u32(crc32c(*seed, tail)) + tail + body
        start = 16384 + self.index * self.size + at
        self.data[start : start + len(raw)] = raw
        self.places.append((start, len(raw)))
        self.at, self.last = up(at + len(raw), 8), number
        return addresses

    def commit(self, *records, **other):
        return self.frame(self.last + 1, records, **other)

    def open(self, incarnation, named=None, at=None):
        """Place an opening frame, which names L and X unless told otherwise."""
        named = self.last if named is None else named
        record = opening(named, self.address() if at is None else at)
        self.base = 1
        self.frame(lsn(incarnation, 1), [record], flags=OPENING | SYSTEM)

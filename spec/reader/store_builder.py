"""Stores made by hand, byte by byte, for the tests of the second reader.

Nothing here keeps a writer's rules by itself: a test places what it wants to be read, right or wrong.
"""

import struct

from coding import Cursor, Refused, crc32c
from layout import CATALOG, CHUNK, CHUNKED, DELETE, NONE, OPENED, OPENING, PUT, REPLACES, SYSTEM, place, up

LINEAGE = bytes(range(16))


def u32(n):
    return n.to_bytes(4, "little")


def u64(n):
    return n.to_bytes(8, "little")


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


def named(value, sequences=()):
    """A version, and the segments in which chunks die with it (F-6.6)."""
    pairs = [varint(one) + varint(list(sequences).count(one)) for one in sorted({*sequences})]
    return (varint(value) + (varint(len(pairs)) + b"".join(pairs) if value & 2 else b"")) if value else b""


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
        self.newest = {}  # by collection and key: the value of the version, and where its chunks stand
        self.table = []  # one row a segment: sequence, index, first LSN, end (of the current one later), stretches, freed
        self.slot(0)
        self.slot(1)
        self.header()

    def slot(self, generation, durable=0, incarnation=0, **other):
        fields = {"major": 3, "checksum": 1, "incompatible": 0, "file_len": len(self.data), "index": generation % 2}
        fields |= {"sector": self.sector, "segment_bytes": self.size, "checkpoints": []} | other
        raw = bytearray(512)
        struct.pack_into("<8sHHB", raw, 0, b"HOLOTYPE", fields["major"], 0, fields["checksum"])
        struct.pack_into("<Q", raw, 16, fields["incompatible"])
        struct.pack_into("<II16s16s", raw, 40, fields["sector"], fields["segment_bytes"], LINEAGE, LINEAGE)
        struct.pack_into("<QIIQQ", raw, 352, generation, incarnation, 0, durable, fields["file_len"])
        named = b"".join(fields["checkpoints"])
        raw[384 : 384 + len(named)] = named
        raw[508:] = u32(crc32c(raw[:508]))
        at = 4096 * fields["index"]
        self.data[at : at + 512] = raw

    def header(self, first=0, durable=0):
        raw = struct.pack("<IBBHQQQIII16s", 0x474F4C48, 1, 0, 0, self.sequence, first, durable, self.prev_end,
                          self.next, self.after, LINEAGE)  # fmt: skip
        at = 16384 + self.index * self.size
        self.data[at : at + 64] = raw + u32(crc32c(u32(self.index), raw))
        for row in self.table[-1:]:
            row[3] = max(self.prev_end, self.sector)
        stretches = [[self.sector, first]] if first else []
        self.table.append([self.sequence, self.index, first, self.sector, stretches, 0])

    def segment(self, first, durable=0, index=None, after=None, prev_end=None):
        """Open the successor; the next frame is the first placed in it."""
        self.index = self.next if index is None else index
        self.next, self.after = self.after, min(NONE, self.after + 1) if after is None else after
        self.sequence += 1
        self.prev_end, self.at, self.base = self.at if prev_end is None else prev_end, self.sector, first & NONE
        self.reach(self.index)
        self.header(first, durable)

    def reach(self, index):
        self.data += bytes(max(0, 16384 + (index + 1) * self.size - len(self.data)))

    def address(self, at=None):
        return self.sequence * self.size + (self.at if at is None else at)

    def named(self, kind, flags, collection, rest, replaced=b""):
        """A put or a delete with the version that it replaces, unless it says itself (F-6.6)."""
        if kind not in (PUT, DELETE) or flags & REPLACES or collection > NONE:
            return kind, flags, collection, rest
        try:
            cursor = Cursor(rest)
            cursor.cbor()
        except Refused:
            return kind, flags, collection, rest
        key = collection, rest[: cursor.at]
        known, chunks = self.newest.get(key, (0, []))
        replaced = replaced or named(known, [at // self.size for at in chunks])
        self.version(key, kind, flags, rest[cursor.at :])
        return kind, flags | (REPLACES if replaced else 0), collection, replaced + rest

    def version(self, key, kind, flags, body):
        self.newest.pop(key, None)
        if kind == PUT:
            listed = [int.from_bytes(body[at : at + 8], "little") for at in range(len(body) % 8, len(body), 8)]
            self.newest[key] = self.here << 2 | (flags & CHUNKED) >> 2, listed if flags & CHUNKED else []

    def record(self, offset, number, record, commit):
        self.here = self.address(offset)
        kind, flags, collection, rest = self.named(*record)
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
        begins, row = up(self.at, self.sector), self.table[-1]
        row[2] = row[2] or lsn(incarnation, 1)
        if begins > self.sector or not row[4]:
            row[4].append([begins, lsn(incarnation, 1)])
        self.frame(lsn(incarnation, 1), [record], flags=OPENING | SYSTEM)


# --- checkpoints, F-8 -----------------------------------------------------------------------------------------

LEAF, PAGE, ROOT = 16, 17, 18


def zigzag(n):
    return varint(2 * n if n >= 0 else -2 * n - 1)


def leaf(*entries):
    """The entries of a leaf: (key, value) each, in the shortest form of F-8.4."""
    out, past, before = [], None, 0
    for key, value in entries:
        if isinstance(key, int):
            head = varint(2 * (key - past)) if isinstance(past, int) else varint(1) + zigzag(key)
        else:
            coded, same = (key.encode(), 3) if isinstance(key, str) else (key, 5)
            kept = past.encode() if isinstance(past, str) else past
            shared = 0
            while type(past) is type(key) and shared < min(len(kept), len(coded)) and kept[shared] == coded[shared]:
                shared += 1
            head = varint(8 * shared + same) + varint(len(coded) - shared) + coded[shared:]
        difference = (value - before + (1 << 63)) % (1 << 64) - (1 << 63)
        out.append(head + zigzag(difference))
        past, before = key, value
    return out


def entry(key, reference, count, age=0):
    """A directory entry (F-8.13)."""
    return cbor(key) + reference + varint(count) + varint(age)


def to_place(index, at, length, crc=bytes(4)):
    """A reference (F-8.12)."""
    return varint(index) + varint(at) + varint(length) + crc


class Records:
    """A checkpoint under construction, of the last commit of a builder, in one segment."""

    def __init__(self, builder, index):
        builder.reach(index)
        self.builder, self.index, self.at = builder, index, builder.sector
        self.lsn, self.log = builder.last, [builder.index, builder.sequence, builder.at]
        self.table = [[row[0], row[1], row[3], row[2], row[5], 0, 0] for row in builder.table]
        self.table[-1][2] = max(builder.at, builder.sector)
        self.stretches = [[row[0], *begin] for row in builder.table for begin in row[4] if begin[0] > builder.sector]
        self.live = []

    def record(self, kind, body, tree=0, flags=0, age=0, length=None, commit=0):
        """Write an index record; the answer is a reference to it. The last arguments are for what is wrong."""
        rest = varint(tree) + varint(commit) + body
        later = bytes([kind, flags]) + (varint(len(rest)) if length is None else length) + rest
        crc = u32(crc32c(LINEAGE, u32(self.index), u64(self.lsn - age), u32(self.at), later))
        start = 16384 + self.index * self.builder.size + self.at
        self.builder.data[start : start + 4 + len(later)] = crc + later
        self.last = self.index, self.at, 4 + len(later), crc
        self.at = up(self.at + 4 + len(later), 8)
        return to_place(*self.last)

    def leaf(self, *entries, tree=1, count=None, first=None, age=0, page_age=0, **other):
        """A leaf of (key, value) pairs, or of bytes; the answer is its directory entry, for a page of that age."""
        coded = entries if isinstance(entries[0], bytes) else leaf(*entries)
        first = entries[0][0] if first is None else first
        reference = self.record(LEAF, b"".join(coded), tree, age=page_age + age, **other)
        return entry(first, reference, len(entries) if count is None else count, age)

    def page(self, first, count, *entries, tree=1, age=0, **other):
        """A directory page; the answer is its entry in the root."""
        return entry(first, self.record(PAGE, b"".join(entries), tree, age=age, **other), count, age)

    def tree(self, *entries, tree=1):
        """A tree of one leaf."""
        return self.page(entries[0][0], len(entries), self.leaf(*entries, tree=tree), tree=tree) if entries else b""

    def finish(self, collections, reference=(), cuts=(), parts=None, **root):
        """The root, cut at these places; the answer is the checkpoint reference. A key whose value is None is left out."""
        last = max((collection.get("id", 0) for collection in collections), default=0)
        reserved = [None if index == NONE else index for index in (self.builder.next, self.builder.after)]
        said = {"lsn": self.lsn, "last": last, "log": self.log, "reserved": reserved, "segments": u32(self.index)}
        said |= {"catalog": list(collections), "indexes": [], "table": packed("<QIIQQII", self.table)}
        said |= {"stretches": packed("<QIQ", self.stretches), "live": packed("<QII", self.live)} | root
        data = cbor({name: value for name, value in said.items() if value is not None}) if parts is None else b""
        ends = [0, *cuts, len(data)]
        cut = [data[begin:end] for begin, end in zip(ends, ends[1:])]
        before = b""
        for number, part in enumerate(cut) if parts is None else parts:
            before = self.record(ROOT, varint(number) + before + part)
        fields = dict(zip("lsn root at crc index sequence end length last".split(),
                          (self.lsn, *self.last[:2], int.from_bytes(self.last[3], "little"), *self.log, self.last[2], self.lsn)))  # fmt: skip
        return struct.pack("<QIIIIQIIQ", *(fields | dict(reference)).values())


def packed(form, rows):
    return b"".join(struct.pack(form, *row) for row in rows)


def checkpoint(builder, index, *entries, collection=1, name="things", following=1000):
    """A checkpoint of one collection, whose documents fit into one leaf."""
    records = Records(builder, index)
    tree = records.tree(*entries, tree=collection)
    return records.finish([{"id": collection, "name": name, "next": following, "count": len(entries), "tree": tree}])

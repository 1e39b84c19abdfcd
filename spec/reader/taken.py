"""Frames and records taken apart into their fields, to be put together again with other ones under right checksums."""

import struct

from coding import Cursor, crc32c
from layout import CATALOG, CHUNK, CHUNKED, DELETE, EXPIRES, EXTENDED, FREED, NONE, OPENED, PUT, RELOCATED, REPLACES, TIME
from store_builder import cbor, u32, u64, varint

RECORDS = {PUT: "put", DELETE: "delete", RELOCATED: "relocated put", CHUNK: "chunk", CATALOG: "catalog", FREED: "segment freed",
           OPENED: "opening", TIME: "commit time"}  # fmt: skip
FIXED = {FREED: [("sequence", 8), ("physical index", 4)], OPENED: [("L", 8), ("E", 8)], TIME: [("time", 8)]}
COMMON = ["kind", "flags", "length", "collection", "commit", "record added", "record removed", "record doubled"]
ENDED = ["pairs of ended", "sequence of ended", "count of ended"]
OPTIONAL = ["replaced", *ENDED, "expiry", "extension length", "extension"]
LIST = ["document length", "chunk count", "chunk address"]
DEFINITION = {  # of an index: what its fields may come to be
    "name": ["a", "b", "x" * 255, "x" * 256, "", "$x", 7],
    "on": [["$.n"], ["-$.n"], ["$.t", "-$.call"], ["fold($.t)"], ["$.n"] * 2, [], ["$"], ["n"], ["$..n"], "$.n", [7]],
    "by": [["fold"], ["fold", None], [], ["length"], ["fold"] * 2, ["other"], "fold", [None]],
    "unique": [True, False, 1, None],
    "sparse": [True, False, 0, "x"],
    "where": ["@.n", "@.n > 1", "@.call > 9 && !@.t", "@.n ==", "key() == 1", "match(@.t, 'a')", "@.n == arg('x')", "", 7],
    "required": [[], ["on"], ["other"], [1], "on", None],
    "unknown key": [1, [None], {}],
}
OWN = {
    "put": ["key", "document", *LIST, *OPTIONAL],
    "delete": ["key", "replaced", *ENDED],
    "relocated put": ["own LSN", "key", "document", *LIST, *OPTIONAL],
    "chunk": ["key", "number", "bytes"],
    "catalog": ["op", "id", "name", "new", *(f"index: {key}" for key in DEFINITION), "required", "unknown key", "bytes"],
    "segment freed": ["sequence", "physical index"],
    "opening": ["L", "E"],
    "commit time": ["time"],
    "skipped": ["rest"],
    "reserved": ["rest"],
}


def other(number, size, rng, like=()):
    """Another value for a field of so many bytes."""
    most = (1 << 8 * size) - 1
    made = rng.choice([number ^ 1 << rng.randrange(8 * size), number ^ 1 << rng.randrange(8), number + 1, number - 1,
                       number + 8, 0, most, rng.randrange(1 << rng.randrange(1, 8 * size + 1)),
                       rng.choice([*like, 1])])  # fmt: skip
    return made & most if made & most != number else number ^ 1


class Framed:
    """A frame, taken apart, so that it can be put together again with other fields."""

    def __init__(self, data, start, segment, at, base):
        self.start, self.segment, self.at, self.base, self.dirty, self.said = start, segment, at, base, False, {}
        _, _, self.lsn, self.lag, length, self.part, self.flags, self.count = struct.unpack_from("<IIQIIHHI", data, start)
        self.records, cursor = [], Cursor(data, start + 32, start + 32 + length)
        while cursor.at < cursor.end:
            cursor.take(4)
            kind, flags = cursor.take(2)
            self.records.append(Taken(kind, flags, bytes(cursor.take(cursor.varint()))))

    def kinds(self):
        return {record.name() for record in self.records}

    def bytes(self, lineage):
        seed, body, crcs = lineage + u64(self.segment.sequence), b"", b""
        for record in self.records:
            later, offset = record.bytes(), self.at + 32 + len(body)
            life, place = u32(self.lsn >> 32), u64(self.segment.sequence) + u32(offset & NONE)
            sealed = u32(crc32c(lineage, life, place, later)) + later
            body, crcs = body + sealed, crcs + sealed[:4]
        tail = struct.pack("<QIIHHI", self.lsn, self.lag, len(body), self.part, self.flags, self.count)
        for offset, raw in self.said.items():
            tail = tail[: offset - 8] + raw + tail[offset - 8 + len(raw) :]
        tail = u32(crc32c(seed, u32(self.at), tail, crcs)) + tail
        return u32(crc32c(seed, u32(self.at), tail)) + tail + body


class Taken:
    """A record as its fields: [name, value, form], where a form is "varint", a number of bytes, or "bytes"."""

    def __init__(self, kind, flags, rest):
        self.kind, self.flags, self.length, self.map, self.fields = kind, flags, None, None, []
        cursor = Cursor(rest)
        self.varint("collection", cursor)
        self.varint("commit", cursor)
        if kind not in RECORDS:
            self.fields.append(["rest", cursor.take(), "bytes"])
            return
        if kind == RELOCATED:
            self.fixed("own LSN", 8, cursor)
        if flags & REPLACES:
            self.varint("replaced", cursor)
            for _ in range(self.pairs(cursor) if self.fields[-1][1] & 2 else 0):
                self.varint("sequence of ended", cursor)
                self.varint("count of ended", cursor)
        if flags & EXPIRES:
            self.fixed("expiry", 8, cursor)
        if flags & EXTENDED:
            self.varint("extension length", cursor)
            self.fields.append(["extension", cursor.take(self.fields[-1][1]), "bytes"])
        if kind in (PUT, DELETE, RELOCATED, CHUNK):
            key = cbor(cursor.cbor())
            self.fields.append(["key", key, "bytes"])
        self.body(cursor)

    def varint(self, name, cursor):
        self.fields.append([name, cursor.varint(), "varint"])

    def pairs(self, cursor):
        self.varint("pairs of ended", cursor)
        return self.fields[-1][1]

    def fixed(self, name, size, cursor):
        self.fields.append([name, int.from_bytes(cursor.take(size), "little"), size])

    def body(self, cursor):
        if self.flags & CHUNKED:
            self.varint("document length", cursor)
            self.varint("chunk count", cursor)
            while cursor.at < cursor.end:
                self.fixed("chunk address", 8, cursor)
        elif self.kind in (PUT, RELOCATED):
            self.fields.append(["document", cursor.take(), "bytes"])
        elif self.kind == CHUNK:
            self.varint("number", cursor)
            self.fields.append(["bytes", cursor.take(), "bytes"])
        elif self.kind == CATALOG:
            self.map = cursor.cbor()
            self.fields.append(["bytes", cbor(self.map), "bytes"])
        for name, size in FIXED.get(self.kind, []):
            self.fixed(name, size, cursor)

    def name(self):
        return RECORDS.get(self.kind, "skipped" if self.kind > 127 else "reserved")

    def bytes(self):
        rest = b"".join(varint(value) if form == "varint" else value if form == "bytes" else value.to_bytes(form, "little")
                        for _, value, form in self.fields)  # fmt: skip
        length = varint(len(rest)) if self.length is None else self.length
        return bytes([self.kind, self.flags]) + length + rest

    def choices(self):
        own = {name for name, _, _ in self.fields} | {*(OWN["catalog"] if self.map is not None else ())}
        return COMMON + [name for name in OWN[self.name()] if name in own]

    def change(self, name, rng, like):
        if name == "kind":
            self.kind = rng.choice([*range(14), 127, 128, 255])
        elif name == "flags":
            self.flags ^= 1 << rng.randrange(8)
        elif name == "length":
            exact = len(self.bytes()) - 3
            longer = varint(exact)[:-1] + bytes([varint(exact)[-1] | 128, 0])
            self.length = rng.choice([varint(max(0, exact + rng.choice([-1, 1, 8, 100]))), longer])
        elif name in OWN["catalog"][:-1]:
            self.change_map(name, rng)
        else:
            chosen = rng.choice([field for field in self.fields if field[0] == name])
            if chosen[2] == "bytes":
                chosen[1] = other_bytes(name, chosen[1], rng)
            else:
                chosen[1] = other(chosen[1], 5 if chosen[2] == "varint" else chosen[2], rng, like)

    def change_map(self, name, rng):
        made = dict(self.map)
        if name in made and rng.random() < 0.2:
            del made[name]
        elif name in ("id", "new"):
            after = made["id"] + 1 if type(made.get("id")) is int else 9
            made[name] = rng.choice([0, 1, 2, made.get(name, 3), after, NONE, NONE + 1, -1, "1", 99])
        elif name == "op":
            made[name] = rng.choice(["create", "drop", "clear", "rename", "index", "unindex", "reindex", "other", "", 1])
        elif name.startswith("index: "):
            definition = made.get("index")
            made["index"] = {"name": "made", "on": ["$.n"]} | (definition if type(definition) is dict else {})
            field = name.removeprefix("index: ")
            made["index"]["z" if field == "unknown key" else field] = rng.choice(DEFINITION[field])
            if field != "required" and rng.random() < 0.8:
                named = [key for key in ("by", "where") if key in made["index"]]
                made["index"] |= {"required": named} if named else {}
        elif name == "name":
            made[name] = rng.choice(["a", "b", "c", "x" * 255, "x" * 256, "", "$x", 7, b"a"])
        elif name == "required":
            made[name] = rng.choice([[], ["op"], ["required"], ["other"], [1], "op", None, ["op", 7], {}])
        else:
            made["z"] = rng.choice([1, "text", [1, {"a": None}], {}])
        self.map = made
        next(field for field in self.fields if field[0] == "bytes")[1] = cbor(made)


def other_bytes(name, raw, rng):
    if name == "key" and rng.random() < 0.7:
        ints, others = [0, 1, -1, 29], ["k" * 1024, "k" * 1025, 1.5, None, [1], (1 << 63) - 1]
        return cbor(rng.choice([*ints, "key-1", "key-99", "", b"", b"\x07\x07", *others]))
    if name == "document" and rng.random() < 0.4:
        return cbor(rng.choice([{}, {"a": 1}, {"b": 1, "a": [2.5]}, [1], 7, {"n": None}, {"call": 1 << 62}]))
    made = bytearray(raw or b"\0")
    at = rng.randrange(len(made))
    how = rng.randrange(5)
    if how == 0:
        return bytes(made[:at])
    if how == 1:
        return bytes(made) + rng.randbytes(rng.randrange(1, 9))
    made[at] = rng.choice([made[at] ^ 1 << rng.randrange(8), 0, 255])
    return bytes(made)

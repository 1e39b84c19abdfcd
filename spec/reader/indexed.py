"""A checkpoint taken apart, to be written anew behind the end of its file with one field changed, under right checksums and references."""

import collections
import struct

from checkpoint import KEYS, LEAF, PAGE, PATCH, ROOT, entry_key
from coding import Cursor, crc32c, valid_key
from layout import NONE, up
from store_builder import cbor, entry, packed, to_place, u32, u64, varint
from taken import other

NAMES = {LEAF: "index record: leaf", PAGE: "index record: directory", ROOT: "index record: root", PATCH: "index record: patch"}
PARTS = ["kind", "flags", "length", "collection", "commit", "body"]
ENTRY = ["key", "physical index", "offset", "length", "CRC", "count", "age"]
OVER = ["own count", "physical index", "offset", "length", "CRC", "age"]  # what an entry says of a patch
MAP = KEYS.split()
ROWS = {"table": "<QIIQQII", "stretches": "<QIQ", "live": "<QII"}


def changed(item, rng, like):
    """Another value of an item of CBOR, or the same with another one somewhere in it."""
    if isinstance(item, (dict, list)) and item and rng.random() < 0.8:
        made = item.copy()
        at = rng.choice([*made]) if isinstance(item, dict) else rng.randrange(len(made))
        if rng.random() < 0.15:
            del made[at]
        elif isinstance(item, list) and rng.random() < 0.2:
            made.insert(at, made[at])
        else:
            made[at] = changed(made[at], rng, like)
        return made
    match item:
        case bool() | None:
            return rng.choice([True, False, None, 0, 1, NONE])
        case int():
            return other(item, 8, rng, like) if rng.random() < 0.9 else None
        case bytes():
            return other_bytes(item, rng)
        case str():
            return rng.choice([item + "x", "", "a", "$.n", "-$.n", b"a", 7])
    return rng.choice([[], {}, None, 7, [7], {"id": 1}])


def other_bytes(raw, rng):
    made = bytearray(raw or b"\0")
    at = rng.randrange(len(made))
    how = rng.randrange(6)
    if how == 0:
        return bytes(made[:at])
    if how == 1:
        return bytes(made) + rng.randbytes(rng.randrange(1, 9))
    made[at] = rng.choice([made[at] ^ 1 << rng.randrange(8), made[at] ^ 1, rng.randrange(256), 0, 255])
    return bytes(made)


class Indexed:
    """A checkpoint that can be read whole. `counts` says how many there are of each kind of thing that can be changed."""

    def __init__(self, checkpoint, ahead, like):
        self.image, self.reference, self.root, self.like = checkpoint.image, checkpoint.reference, checkpoint.root, like
        self.first = max(self.image.count, *(1 + index for index in ahead if index != NONE), 0)
        self.trees = [self.tree(checkpoint, each, key_of) for name, key_of in (("catalog", valid_key), ("indexes", entry_key))
                      for each in self.root[name]]  # fmt: skip
        self.write(bytearray(), None, (None, None, 0))

    def tree(self, checkpoint, each, key_of):
        pages, owner = [], each["id"]
        for top in checkpoint.directory(Cursor(each["tree"]), key_of, self.reference.lsn, False):
            found = checkpoint.directory(checkpoint.record(top.place, PAGE, owner, top.lsn, "F-8.13"), key_of, top.lsn)
            leaves = [checkpoint.record(below.place, LEAF, owner, below.lsn, "F-8.13").take() for below in found]
            over = [each.patch and checkpoint.record(each.patch.place, PATCH, owner, each.patch.lsn, "F-8.16").take() for each in found]
            pages.append((top, [*zip(found, map(bytes, leaves), over)]))
        return pages

    def choices(self):
        """What can be changed, each a kind and a field."""
        fields = {name: PARTS for name in NAMES.values()} | {"directory entry": ENTRY, "entry of a patch": OVER}
        fields |= {f"row of {name}": range(form.count("Q") + form.count("I")) for name, form in ROWS.items()}
        return [("root", name) for name in MAP] + [(kind, field) for kind in self.counts for field in fields[kind]]

    def copy(self, data, rng, kind, field):
        """Writes the checkpoint behind the end of `data`, and has the slots that name it lead there."""
        self.write(data, rng, (kind, field, rng.randrange(self.counts.get(kind, 1))))
        made = struct.pack("<QIIIIQIIQ", *self.reference._replace(**self.leads_to))
        before = struct.pack("<QIIIIQIIQ", *self.reference)
        for at in (slot + reference for slot in (0, 4096) for reference in (384, 432)):
            if data[at : at + 48] == before:
                data[at : at + 48] = made

    def write(self, data, rng, target):
        self.data, self.rng, self.target, self.counts = data, rng, target, collections.Counter()
        self.index, self.at = self.first, self.image.sector
        root, trees = dict(self.root), iter(self.trees)
        for name in ("catalog", "indexes"):
            root[name] = [each | {"tree": self.written(each["id"], next(trees))} for each in root[name]]
        for name, form in ROWS.items():
            root[name] = packed(form, [self.row(name, form, row) for row in struct.iter_unpack(form, root[name])])
        root["segments"] = packed("<I", [(index,) for index in range(self.first, self.index + 1)])
        if target[0] == "root":
            root[target[1]] = changed(root[target[1]], rng, self.like)
        raw, before, number = cbor(root), b"", 0
        room = min(16384, self.image.size - self.image.sector) - 40
        for at in range(0, len(raw), room):
            place = self.record(ROOT, 0, self.reference.lsn, varint(number) + before + raw[at : at + room])
            before, number = to_place(*place), number + 1
        self.leads_to = dict(zip(("root", "at", "length", "crc"), (*place[:3], int.from_bytes(place[3], "little"))))

    def hit(self, kind):
        """The field to change in this thing of the kind; None where it is to be right."""
        self.counts[kind] += 1
        return self.target[1] if self.target[0] == kind and self.target[2] == self.counts[kind] - 1 else None

    def other(self, number, size):
        return other(number, size, self.rng, self.like)

    def row(self, name, form, row):
        at, made = self.hit(f"row of {name}"), list(row)
        if at is not None:
            made[at] = self.other(made[at], 8 if form[1 + at] == "Q" else 4)
        return made

    def written(self, owner, pages):
        tops = []
        for top, found in pages:
            entries = [self.below(owner, *each) for each in found]
            tops.append(self.entry(top, self.record(PAGE, owner, top.lsn, b"".join(entries))))
        return b"".join(tops)

    def below(self, owner, said, leaf, patch):
        if patch is None:
            return self.entry(said, self.record(LEAF, owner, said.lsn, leaf))
        leads = self.entry(said._replace(count=0), self.record(LEAF, owner, said.lsn, leaf))
        place = self.record(PATCH, owner, said.patch.lsn, bytes(patch))
        made = dict(zip(OVER, (said.patch.own, *place, said.lsn + said.age - said.patch.lsn)))
        match field := self.hit("entry of a patch"):
            case "CRC":
                made[field] = u32(self.other(int.from_bytes(place[3], "little"), 4))
            case str():
                made[field] = self.other(made[field], 8 if field == "age" else 4)
        own, index, at, length, crc, age = made.values()
        return leads + varint(said.count) + varint(own) + to_place(index, at, length, crc) + varint(age)

    def entry(self, said, place):
        made = dict(zip(ENTRY, (said.key, *place, said.count, said.age)))
        match field := self.hit("directory entry"):
            case "key":
                made[field] = self.rng.choice([changed(said.key, self.rng, self.like), 0, 1, "a", b""])
            case "CRC":
                made[field] = u32(self.other(int.from_bytes(place[3], "little"), 4))
            case str():
                made[field] = self.other(made[field], 8 if field == "age" else 4)
        key, index, at, length, crc, count, age = made.values()
        return entry(key, to_place(index, at, length, crc), count, age)

    def record(self, kind, owner, lsn, body):
        commit = flags = 0
        match field := self.hit(NAMES[kind]):
            case "kind":
                kind = self.rng.choice([16, 17, 18, 19, 0, 1, 15, 20, 255])
            case "flags":
                flags = 1 << self.rng.randrange(8)
            case "collection":
                owner = self.other(owner, 4)
            case "commit":
                commit = self.other(0, 8)
            case "body":
                body = other_bytes(body, self.rng)[: len(body) + 8]
        rest = varint(owner) + varint(commit) + body
        length = varint(len(rest))
        if field == "length":
            length = self.rng.choice([varint(max(0, len(rest) + self.rng.choice([-1, 1, 8]))), length[:-1] + bytes([length[-1] | 128, 0])])
        later = bytes([kind, flags]) + length + rest
        if self.at + 4 + len(later) > self.image.size:
            self.index, self.at = self.index + 1, self.image.sector
        crc = u32(crc32c(self.image.lineage, u32(self.index), u64(lsn), u32(self.at), later))
        start = self.image.start(self.index) + self.at
        if self.rng:
            self.data += bytes(max(0, self.image.start(self.index + 1) - len(self.data)))
            self.data[start : start + 4 + len(later)] = crc + later
        place = self.index, self.at, 4 + len(later), crc
        self.at = up(self.at + 4 + len(later), 8)
        return place

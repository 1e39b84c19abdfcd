"""A checkpoint (F-8). Where one is corrupt, recovery goes on without it (R-5.2)."""
import struct
from collections import namedtuple
from coding import I64, U64, Cursor, about, crc32c, key_order, known_map, need, valid_key, valid_name
from indexes import Definition, entry_from, tuple_limit
from layout import NONE, Segment, has_room

LEAF, PAGE, ROOT, PATCH = 16, 17, 18, 19  # F-8.11
KEYS = "lsn last log reserved segments catalog indexes table stretches live"  # F-7.3
Place = namedtuple("Place", "index at length crc")  # F-8.12
# F-8.13: and the LSN that follows from the age
Entry = namedtuple("Entry", "key place count age lsn patch", defaults=[None])
Patch = namedtuple("Patch", "own place lsn")  # F-8.13

def number(value, least=0, most=U64):  # F-8.5
    need("F-8.5", type(value) is int and least <= value <= most)
    return value
def numbers(value, length):
    need("F-8.7", type(value) is list and len(value) == length)
    return [number(part) for part in value]
def rows(clause, value, form):  # of fixed width, one behind the other
    need(clause, type(value) is bytes and len(value) % struct.calcsize(form) == 0)
    return list(struct.iter_unpack(form, value))
def items(clause, value, parse):
    need(clause, type(value) is list)
    return [parse(item) for item in value]

class Checkpoint:
    def __init__(self, image, reference):  # all that its root says
        self.image, self.reference, self.held = image, reference, set()  # F-8.9
        cursor = Cursor(b"".join(reversed([*self.parts()])), clause="F-8.7", most=U64)
        self.root = root = known_map(cursor.cbor(), KEYS)
        need("F-8.7", cursor.at == cursor.end, number(root.get("lsn")) == reference.lsn == reference.last)
        need("F-8.7", numbers(root.get("log"), 3) == [*reference[4:7]])
        self.last, reserved = number(root.get("last"), 0, NONE), root.get("reserved")
        need("F-8.7", type(reserved) is list and len(reserved) == 2)
        self.reserved = [NONE if index is None else number(index, 0, NONE) for index in reserved]
        listed = [index for index, in rows("F-8.9", root.get("segments"), "<I")]
        self.listed = {*listed}
        need("F-8.9", len(self.listed) == len(listed), *map(image.length, listed))
        self.held |= self.listed
        self.segments = self.table()
        self.catalog = items("F-8.5", root.get("catalog"), self.collection)
        ids, names, *_ = zip(*self.catalog) if self.catalog else ((), ())
        need("F-8.5", [*ids] == sorted({*ids}), len({*names}) == len(names), max(ids, default=0) <= self.last)
        self.defined = items("F-8.10", root.get("indexes"), self.index)
        of_index = [number for number, *_ in self.defined]
        need("F-8.10", of_index == sorted({*of_index}), {*of_index}.isdisjoint(ids))
        need("F-8.10", max(of_index, default=0) <= self.last, *(of in ids for _, of, *_ in self.defined))
        for of in ids:
            beside = [definition.name for _, owner, definition, *_ in self.defined if owner == of]
            need("F-8.10", len({*beside}) == len(beside) <= 64)
    def whole(self):  # and what its directory pages and leaves say
        self.collections = [(*kept, self.documents(*kept, tree)) for *kept, tree in self.catalog]
        self.indexes = [(*kept, self.entries(*kept, *rest)) for *kept, rest in self.defined]
        return self

    def record(self, place, kind, tree, lsn, clause):  # F-8.12: its body
        image, start = self.image, self.image.start(place.index) + place.at
        self.possible(place)
        with about(start):
            raw = image.data[start : start + place.length]
            seed = struct.pack("<IQI", place.index, lsn, place.at)
            need("F-8.12", int.from_bytes(raw[:4], "little") == place.crc)
            need("F-8.12", place.crc == crc32c(image.lineage, seed, raw[4:]))
            cursor = Cursor(raw, 6, clause="F-8.12")
            need("F-8.12", cursor.varint() == cursor.end - cursor.at, raw[4] == kind, raw[5] == 0)
            need("F-8.12", cursor.varint() == tree)
            _commit, cursor.clause = cursor.varint(), clause  # F-8.11
        return cursor
    def possible(self, place):
        need("F-8.12", has_room(place.at, place.length, self.image.sector, self.image.size))
        need("F-8.12", place.at + place.length <= self.image.length(place.index))
    def parts(self):  # F-8.7: the last one first
        following = Place(self.reference.root, self.reference.at, self.reference.length, self.reference.crc)
        before = None
        while following:
            self.held.add(following.index)
            cursor = self.record(following, ROOT, 0, self.reference.lsn, "F-8.7")
            part = cursor.varint()
            need("F-8.7", before is None or part == before - 1)
            before, following = part, place_of(cursor) if part else None
            yield cursor.take()
    def directory(self, cursor, key_of, lsn, of_leaves=True):  # F-8.13: in a record of this LSN
        found = []
        while cursor.at < cursor.end:
            key, place, count, age = key_of(cursor.cbor()), place_of(cursor), cursor.varint(), cursor.varint()
            found.append(Entry(key, place, count, age, lsn - age))
            self.possible(place)
            need("F-8.12", place.index in self.listed)
            need("F-8.13", age < lsn)
            if count == 0 and of_leaves:
                found[-1] = self.over(cursor, found[-1], lsn)
        keys = [key_order(entry.key) for entry in found]
        need("F-8.13", keys == sorted({*keys}))
        return found
    def over(self, cursor, leaf, lsn):  # F-8.13: what an entry says of a patch
        count, own, place, age = cursor.varint(), cursor.varint(), place_of(cursor), cursor.varint()
        self.possible(place)
        need("F-8.12", {place.index} <= self.listed)
        need("F-8.13", lsn > age)
        return leaf._replace(count=count, patch=Patch(own, place, lsn - age))
    def tree(self, clause, entry, key_of=valid_key):  # as the root has it
        need(clause, type(entry.get("tree")) is bytes)
        found = self.directory(Cursor(entry["tree"], clause="F-8.13"), key_of, self.reference.lsn, False)
        need(clause, number(entry.get("count")) == sum(top.count for top in found))
        return found
    def leaves(self, tree, owner, key_of=valid_key):  # key and value
        past = ()
        for top in tree:
            page = self.directory(self.record(top.place, PAGE, owner, top.lsn, "F-8.13"), key_of, top.lsn)
            need("F-8.13", page and page[0].key == top.key, top.count == sum(entry.count for entry in page))
            for entry in page:
                found = listed(self.record(entry.place, LEAF, owner, entry.lsn, "F-8.13"), key_of)
                if entry.patch:
                    found = self.patched(found, entry, owner, key_of)
                need("F-8.13", found and found[0][0] == entry.key, len(found) == entry.count)
                for key, _ in found:
                    need("F-8.13", past < key_order(key))
                    past = key_order(key)
                yield from found

    def patched(self, leaf, entry, owner, key_of):  # F-8.16
        need("F-8.16", leaf and leaf[0][0] == entry.key, len(leaf) == entry.patch.own)
        cursor = self.record(entry.patch.place, PATCH, owner, entry.patch.lsn, "F-8.16")
        removes, puts = cursor.varint(), cursor.varint()
        need("F-8.16", removes <= cursor.end - cursor.at)
        removed = [key_order(key_of(cursor.cbor())) for _ in range(removes)]
        put = listed(cursor, key_of)
        orders = [key_order(key) for key, _ in put]
        need("F-8.16", len(put) == puts, removed == sorted({*removed}), orders == sorted({*orders}))
        kept = {key_order(key): (key, value) for key, value in leaf}
        need("F-8.16", {*removed} <= {*kept}, {*removed}.isdisjoint(orders))
        kept = {key: item for key, item in kept.items() if key not in removed} | dict(zip(orders, put))
        return [kept[key] for key in sorted(kept)]

    def collection(self, entry):  # F-8.5
        known_map(entry, "id name next count tree")
        owner, following = number(entry.get("id"), 1, NONE), number(entry.get("next"), 1, I64 + 1)
        return owner, valid_name(entry), following, self.tree("F-8.5", entry)
    def documents(self, owner, _name, following, tree):
        entries = list(self.leaves(tree, owner))
        log_end = self.reference.sequence * self.image.size + self.reference.end
        need("F-8.4", *(0 < value >> 2 < log_end for _, value in entries))
        need("F-8.5", *(type(key) is not int or key < following for key, _ in entries))
        return entries
    def index(self, entry):  # F-8.10
        known_map(entry, "id of index count tree anew")
        owner, of = number(entry.get("id"), 1, NONE), number(entry.get("of"), 1, NONE)
        definition, tree = Definition(entry.get("index")), self.tree("F-8.10", entry, entry_key)
        need("F-8.10", entry.get("anew", True) is True, "anew" not in entry or not tree)
        return owner, of, definition, (tree, "anew" in entry)
    def entries(self, owner, _of, definition, tree, anew):  # None where they are to be made anew
        found = list(self.leaves(tree, owner, entry_key))
        need("F-8.10", *(value == 4 for _, value in found))
        limit = tuple_limit(self.image.sector, self.image.size)
        with about(None, "F-8.10"):
            for key, _ in found:
                entry_from(definition, limit, key)
        return None if anew else {key for key, _ in found}
    def table(self):  # F-8.6: the log segments in place, by sequence
        image, reference, found = self.image, self.reference, {}
        forms = ("table", "<QIIQQII"), ("stretches", "<QIQ"), ("live", "<QII")  # F-8.14, F-8.15
        table, stretches, live = (rows("F-8.6", self.root.get(name), form) for name, form in forms)
        for sequence, index, end, first, freed, _count, _bytes in table:
            begins = [(at, lsn) for of, at, lsn in stretches if of == sequence]
            need("F-8.6", image.sector <= end <= image.size, *(image.sector < at <= end for at, _ in begins))
            need("F-8.6", freed <= reference.lsn, freed or image.length(index), index not in self.held)
            found[sequence] = Segment(index, sequence, [(image.sector, first), *begins], freed=freed)
        keys = [[row[:1] for row in table], [row[:2] for row in stretches], [row[:2] for row in live]]
        need("F-8.6", *(order == sorted({*order}) for order in keys))
        need("F-8.6", *(row[0] in found for row in stretches + live))
        need("F-8.6", len({segment.index for segment in found.values()}) == len(found))
        need("F-8.7", found and (*table[-1][:2], table[-1][4]) == (reference.sequence, reference.index, 0))
        return found

def place_of(cursor):  # F-8.12
    index, at, length = cursor.varint(), cursor.varint(), cursor.varint()
    return Place(index, at, length, int.from_bytes(cursor.take(4), "little"))
def listed(cursor, key_of):  # F-8.4: entries to the end
    found = []
    while cursor.at < cursor.end:
        found.append(primary_entry(cursor, found[-1] if found else None, key_of))
    return found
def entry_key(key):  # F-8.10
    need("F-8.10", type(key) is bytes)
    return key
def primary_entry(cursor, before, key_of):  # F-8.4: key and value
    t, (past, value) = cursor.varint(), before or (None, 0)
    if t % 2 == 0:
        need("F-8.4", t, type(past) is int)
        key = past + t // 2
    elif t == 1:
        key = cursor.zigzag()
    else:
        sort, shared = {3: str, 5: bytes}.get(t % 8), t // 8
        kept = key_order(past)[1][:shared] if shared and type(past) is sort else b""
        need("F-8.4", sort, shared == len(kept))
        data = kept + cursor.take(cursor.varint())
        key = data.decode(errors="replace") if sort is str else data
        need("E-2.5", sort is bytes or key.encode() == data)
    need("F-8.4", type(key) is not int or -I64 - 1 <= key <= I64)
    return key_of(key), (value + cursor.zigzag()) % (U64 + 1)

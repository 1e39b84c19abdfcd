"""A checkpoint (F-8). Where one is corrupt, recovery goes on without it (R-5.2)."""
import struct
from coding import I64, U64, Cursor, about, cbor_whole, crc32c, key_order, known_map, need, valid_key
from coding import valid_name
from indexes import Definition, entry_from, tuple_limit
from layout import NONE, Segment

ROOT, CATALOG, TABLE, PRIMARY, LIST, INDEXES = range(1, 7)  # F-8.1

def number(value, least=0, most=U64):  # F-8.5
    need("F-8.5", type(value) is int and least <= value <= most)
    return value
def arrays(value, length, clause="F-8.6"):  # lists of numbers, all of one length
    need(clause, type(value) is list and all(type(part) is list and len(part) == length for part in value))
    return [tuple(map(number, part)) for part in value]

class Checkpoint:
    def __init__(self, image, reference):  # the root, and the list of segments
        self.image, self.reference = image, reference
        self.used = set()  # the segments of pages that were read
        _, level, count, cursor = self.page((None, reference.root, reference.at), ROOT)
        self.root = root = known_map(cursor.cbor(), "lsn segments catalog indexes table last log reserved")
        need("F-8.7", level == 0, count == 1, cursor.at == cursor.end, reference.lsn == reference.last)
        need("F-8.7", root.get("lsn") == reference.lsn, root.get("log") == [*reference[4:7]])
        self.last, reserved = number(root.get("last"), 0, NONE), root.get("reserved")
        need("F-8.7", isinstance(reserved, list) and len(reserved) == 2)
        self.reserved = [NONE if index is None else number(index, 0, NONE) for index in reserved]
        self.listed = set()
        for index in self.leaves(root.get("segments"), LIST, lambda cursor, _: cursor.varint()):
            need("F-8.9", index not in self.listed, image.length(index))
            self.listed.add(index)
        need("F-8.9", self.used <= self.listed)  # of the root and of the list itself
    def whole(self):  # all of the rest
        self.segments = self.table()
        self.collections = list(self.leaves(self.root.get("catalog"), CATALOG, self.collection))
        ids, names, *_ = zip(*self.collections) if self.collections else ((), ())
        need("F-8.5", [*ids] == sorted({*ids}), len({*names}) == len(names), max(ids, default=0) <= self.last)
        self.indexes = list(self.leaves(self.root.get("indexes"), INDEXES, self.index))
        numbers = [number for number, *_ in self.indexes]
        need("F-8.10", numbers == sorted({*numbers}), {*numbers}.isdisjoint(ids))
        need("F-8.10", max(numbers, default=0) <= self.last, *(of in ids for _, of, *_ in self.indexes))
        for of in ids:
            beside = [definition.name for _, owner, definition, _ in self.indexes if owner == of]
            need("F-8.10", len({*beside}) == len(beside) <= 64)
        need("F-8.2", self.used <= self.listed)
        return self

    def page(self, pointer, kind, tree=0, level=None, low=b"", high=b""):  # it is what its parent says
        image, (numbered, index, offset) = self.image, pointer
        self.used.add(index)
        need("F-8.2", offset % 8 == 0, image.sector <= offset <= image.length(index) - 32)
        cursor = image.cursor(index, offset, image.size, "F-8.1")
        crc, length, said, *identity, count, a, b = struct.unpack_from("<4I2B2x3I", image.data, cursor.at)
        need("F-8.1", 32 <= length <= min(16384, image.size - image.sector))
        raw, place = cursor.take(length), struct.pack("<QI", self.reference.lsn, said)
        need("F-8.1", count, crc == crc32c(image.lineage, place, raw[4:]))
        reached, cursor = identity[2], Cursor(raw, 32, clause="F-8.1", most=U64)
        need("F-8.3", identity == [tree, kind, reached if level is None else level], numbered in (None, said))
        need("F-8.3", reached <= 32, cursor.take(a) == low, cursor.take(b) == high)
        need("F-8.7", kind != ROOT or crc == self.reference.crc)
        return said, reached, count, cursor
    def leaves(self, top, kind, parse, tree=0, key_of=valid_key):  # entries; `parse` gets the one before
        highest = {}  # page numbers by level
        rest = [] if top is None else [(*arrays([top], 3, "F-8.2"), None, b"", b"")]  # next one last
        while rest:
            pointer, level, low, high = rest.pop()
            said, level, count, cursor = self.page(pointer, kind, tree, level, low, high)
            need("F-8.3", highest.get(level, -1) < said)
            highest[level], entries = said, []
            if level:
                rest += reversed(children(cursor, count, kind, level - 1, low, high))
            for _ in range(0 if level else count):
                entries.append(parse(cursor, entries[-1] if entries else None))
            need("F-8.1", cursor.at == cursor.end)
            if kind == PRIMARY and not level:
                keys = [key_order(key) for key, _ in entries]
                need("F-8.4", keys == sorted({*keys}))
                need("F-8.4", bound(low, key_of) <= keys[0], not high or keys[-1] < bound(high, key_of))
            yield from entries

    def collection(self, cursor, _before):  # F-8.5
        entry = known_map(cursor.cbor(), "id name next count tree")
        owner, following = number(entry.get("id"), 1, NONE), number(entry.get("next"), 1, I64 + 1)
        name, entries = valid_name(entry), list(self.leaves(entry.get("tree"), PRIMARY, primary_entry, owner))
        log_end = self.reference.sequence * self.image.size + self.reference.end
        need("F-8.5", len(entries) == entry.get("count"))
        need("F-8.4", *(0 < value >> 2 < log_end for _, value in entries))
        need("F-8.5", *(type(key) is not int or key < following for key, _ in entries))
        return owner, name, following, entries
    def index(self, cursor, _before):  # F-8.10; its entries are None where they are to be made anew
        entry = known_map(cursor.cbor(), "id of index count tree anew")
        number_of, of = number(entry.get("id"), 1, NONE), number(entry.get("of"), 1, NONE)
        definition, limit = Definition(entry.get("index")), tuple_limit(self.image.sector, self.image.size)
        found = list(self.leaves(entry.get("tree"), PRIMARY, index_entry, number_of, entry_key))
        need("F-8.10", number(entry.get("count")) == len(found), entry.get("anew", True) is True)
        need("F-8.10", "anew" not in entry or not found, *(value == 4 for _, value in found))
        with about(None, "F-8.10"):
            for key, _ in found:
                entry_from(definition, limit, key)
        return number_of, of, definition, None if "anew" in entry else {key for key, _ in found}
    def table(self):  # F-8.6: the log segments in place, by sequence
        found, lives, before, image, reference = {}, {}, [-1], self.image, self.reference
        for row in self.leaves(self.root.get("table"), TABLE, lambda cursor, _: cursor.cbor()):
            need("F-8.6", isinstance(row, list) and len(row) == 9)
            sequence, index, first, end, freed, *_ = said = [number(n) for n in row[:4] + row[5:8]]
            stretches, live = arrays(row[4], 2), arrays(row[8], 2)
            if said != before:
                need("F-8.6", before[0] < sequence, freed <= reference.lsn, freed or image.length(index))
                need("F-8.6", stretches[:1] == [(image.sector, first)], image.sector <= end <= image.size)
                found[sequence], before = Segment(index, sequence, freed=freed), said
            found[sequence].stretches += stretches
            lives[sequence] = lives.get(sequence, []) + [collection for collection, _ in live]
        need("F-8.6", *(live == sorted(set(live)) for live in lives.values()))
        for offsets in ([at for at, _ in segment.stretches] for segment in found.values()):
            need("F-8.6", offsets == sorted(set(offsets)), offsets[-1] <= image.size)
        places = [segment.index for segment in found.values()]
        need("F-8.6", len(set(places)) == len(places), self.listed.isdisjoint(places))
        need("F-8.7", found and (before[0], places[-1]) == (reference.sequence, reference.index))
        return found

def children(cursor, count, kind, level, low, high):  # F-8.3
    entries = [(cursor.take(cursor.varint()), [cursor.varint() for _ in range(3)]) for _ in range(count)]
    first, *fences = [fence for fence, _ in entries]
    need("F-8.3", not first, *(bool(fence) == (kind == PRIMARY) for fence in fences))
    return [(entry[1], level, *bounds) for entry, *bounds in zip(entries, [low, *fences], [*fences, high])]
def bound(fence, key_of):  # F-8.1
    return key_order(key_of(cbor_whole(fence, object, "E-4.1"))) if fence else ()
def entry_key(key):  # F-8.10
    need("F-8.10", type(key) is bytes)
    return key
def index_entry(cursor, before):
    return primary_entry(cursor, before, entry_key)
def primary_entry(cursor, before, key_of=valid_key):  # F-8.4: key and value
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

"""What of the log counts, what is cut, what is damaged (`recovery.md`), and what its commits make."""
import contextlib
import struct
from collections import namedtuple
from checkpoint import Checkpoint
from coding import Cursor, Refused, about, cbor_whole, key_order, known_map, need, valid_name
from indexes import Definition, entries, tuple_limit
from layout import CATALOG, CHUNK, CHUNKED, DELETE, FREED, NONE, OPENED, OPENING, PUT, RELOCATED, SEGMENTS
from layout import UNKNOWN, Header, Image, Reference, Segment, newest_slot, place, up
Begin = namedtuple("Begin", "reference reserved segments last collections indexes")  # as of a checkpoint
End = namedtuple("End", "lsn segment at")  # L, the segment q, and X
OPS = ("create", "drop", "clear", "rename")
INDEX_OPS = ("index", "unindex", "reindex")  # F-7.1

class Recovery:
    def __init__(self, data):
        self.slot = newest_slot(data)
        self.image = Image(data, self.slot)
        self.held, self.log = set(), []  # the places of checkpoints; each accepted (frame, records)

    def run(self):
        size = len(self.image.data)
        need("R-4.1", size >= self.slot.file_len, size > SEGMENTS, at=size)
        self.checkpoint = self.readable_checkpoint()
        self.start()
        while commit := self.next_commit():
            self.accept(commit)
        claim, at = max(self.claims())
        if claim > self.end.lsn:
            what = f": what stands at {at} claims ({claim >> 32}, {claim & NONE})"
            raise Refused("R-4.1", "corrupt", self.image.start(self.end.segment.index) + self.end.at, what)
        self.reservations()
        return self

    def readable_checkpoint(self):  # without one, R-4.1 shows whether the log is still whole
        found, failures = None, []
        for reference in self.slot.checkpoints:
            try:
                with about(self.image.start(reference.root) + reference.at):
                    checkpoint = Checkpoint(self.image, reference)
                    self.held.update(checkpoint.held)
                    found = found or checkpoint.whole()
            except Refused as refused:
                failures.append(refused)
                if refused.kind != "corrupt" or len(failures) == 2:
                    raise
        return found
    def start(self):  # F-4.5
        empty = Reference(0, 0, 0, 0, 0, 0, self.image.sector, 0, 0)
        begin = self.checkpoint or Begin(empty, (1, 2), {0: Segment(0, 0, [(0, 0)])}, 0, (), ())
        lsn, segment = begin.reference.lsn, begin.segments[begin.reference.sequence]
        header = self.image.segment(segment.index, segment.sequence).header
        segment.header = header or Header(segment.sequence, segment.stretches[0][1], 0, 0, *begin.reserved)
        self.store, self.end = Store(self.image, begin), End(lsn, segment, up(begin.reference.end, 8))

    def next_commit(self):  # the frames of the commit that follows, or None
        here = self.end.lsn, self.end.segment.sequence * self.image.size + self.end.at
        life = self.end.lsn >> 32
        frames = [frame for frame in self.candidates(self.end) if frame.records is not None]
        opening = [frame for frame in frames if frame.flags & OPENING and frame.lsn >> 32 > life]
        if found := [frame for frame in opening if self.named(frame) == here]:
            found = max(found, key=lambda frame: frame.lsn >> 32)
            need("F-5.7", not found.flags & UNKNOWN, kind="newer format", at=self.offset(found))
            return [found]
        if commit := self.parts(self.end.lsn + 1):
            need("R-2.2", life, at=self.offset(commit[0]))
        return commit
    def offset(self, frame):  # in the file
        return self.image.start(frame.segment.index) + frame.at
    def named(self, frame):  # F-6.5: L and E as a valid frame with the opening flag names them
        lenient = [Refused] if frame.flags & UNKNOWN else []
        with about(self.offset(frame)), contextlib.suppress(*lenient):
            need("R-2.7", frame.count == len(frame.records))
            need("F-6.5", frame.lsn >> 32, frame.lsn & NONE == 1, frame.count == 1)
            need("F-6.5", frame.part == 0, frame.last)
            alone = Segment(frame.segment.index, frame.segment.sequence, [(frame.at, frame.lsn)])
            record = self.image.record(alone, frame.records[0], frame.lsn)
            need("F-6.5", record and record.kind == OPENED)
            return struct.unpack("<QQ", record.body)
    def candidates(self, end):  # the frames with a valid header where the log may go on
        image, q = self.image, end.segment
        places = [(q, at) for at in sorted({place(end.at, image.sector), up(end.at, image.sector)})]
        places += [(s, image.sector) for s in self.successors(q) if s.header.prev_end == end.at]
        found = [frame for segment, at in places if (frame := image.frame(segment, at))]
        return [frame for frame in found if frame.segment is q or frame.segment.header.first == frame.lsn]
    def successors(self, segment):
        named = segment.header.next
        indexes = range(self.image.count) if named == NONE else [named]
        found = (self.image.segment(index, segment.sequence + 1) for index in indexes)
        return [successor for successor in found if successor.header]
    def parts(self, lsn):  # all frames of the commit `lsn`, or None
        commit, end = [], self.end
        while not commit or not commit[-1].last:
            wanted = lsn, len(commit)
            found = (frame for frame in self.candidates(end) if (frame.lsn, frame.part) == wanted)
            commit.append(next(filter(self.goes_on, found), None))
            if commit[-1] is None:
                return None
            end = End(lsn, commit[-1].segment, commit[-1].end)
        return commit
    def goes_on(self, frame):  # F-5.7: of the LSN and part that are wanted
        with about(self.offset(frame)):
            if frame.flags & OPENING:
                need("F-6.5", frame.records is None or frame.flags & UNKNOWN)
                return False
            need("F-5.7", not frame.flags & UNKNOWN, kind="newer format")
        return frame.records is not None
    def accept(self, commit):
        for frame in commit:
            self.log.append((frame, []))
            with about(self.offset(frame)):
                self.store.goes_on_in(frame.segment)
                need("R-2.7", frame.count == len(frame.records))
            if frame.flags & OPENING:  # F-6.2
                frame.segment.stretches.append((frame.at, frame.lsn))
            for at in frame.records:
                record = self.image.record(frame.segment, at, frame.lsn)
                self.log[-1][1].append(record)
                if record:
                    with about(record.at):
                        self.store.replay(record)
        self.end = End(frame.lsn, frame.segment, frame.end)

    def claims(self):  # each LSN that is said to be durable, and where in the file that is said
        image, q, least = self.image, self.end.segment, self.slot.incarnation << 32
        yield self.slot.durable, self.slot.at
        heads = [q, *(self.successors(q) if q.header.next == NONE else ())]
        for segment in (segment for head in heads for segment in self.chain(head)):
            start, first = image.start(segment.index), segment.header.first if segment.header else 0
            if segment is not q and segment.header and first >= least:
                yield segment.header.durable, start
            for at in range(self.end.at if segment is q else image.sector, image.length(segment.index), 8):
                frame = image.frame(segment, at)
                if frame and not frame.flags & UNKNOWN and frame.lsn >= max(first, least):
                    yield frame.states, start + at
                    within = (frame.end - 1) // image.sector == at // image.sector
                    if frame.flags & OPENING and frame.records and within:
                        with contextlib.suppress(Refused):
                            yield self.named(frame)[0], start + at
    def chain(self, segment):
        yield segment
        while segment:
            named, sequence, segment = (segment.header.next, segment.header.after), segment.sequence, None
            for sequence, index in enumerate(named, sequence + 1):
                if segment or index == NONE or self.image.length(index) == 0:
                    break
                found = self.image.segment(index, sequence)
                yield found
                segment = found if found.header else None
    def reservations(self):
        named, q = [reference.lsn for reference in self.slot.checkpoints], self.end.segment
        floor = min(named) if len(named) == 2 else 0
        self.store.segments = {n: s for n, s in self.store.segments.items() if not 0 < s.freed <= floor}
        in_place = {segment.index for segment in self.store.segments.values()}
        ahead = [index for index in (q.header.next, q.header.after) if index != NONE]
        with about(self.image.start(q.index)):
            need("R-8.2", *(self.image.length(index) for index in in_place))
            need("R-8.1", in_place.isdisjoint({*ahead} | self.held), len({*ahead}) == len(ahead))
            need("R-8.1", self.held.isdisjoint(ahead), max(ahead, default=0) <= 4 * self.image.count + 64)

class Collection:
    def __init__(self, name, following=1, entries=()):
        self.name, self.following = name, following  # `next` of F-8.5
        self.documents = {key_order(key): (key, value) for key, value in entries}  # key and value (F-6.6)

class Index:
    def __init__(self, of, definition, held=None):  # held: what the checkpoint has, until a document changes
        self.of, self.definition, self.held, self.entries = of, definition, held, set()
        self.name = definition.name

class Store:  # where each document stands, not what it says
    def __init__(self, image, begin):
        self.image, self.start = image, begin.reference.lsn
        self.segments, self.largest = begin.segments, begin.last  # by sequence; largest id of F-7.2
        self.collections = {number: Collection(*collection) for number, *collection in begin.collections}
        self.indexes = {number: Index(*index) for number, *index in begin.indexes}

    def goes_on_in(self, segment):
        for other in list(self.segments.values()):
            if other is not segment and (other.index == segment.index or other.sequence == segment.sequence):
                need("R-9.1", 0 < other.freed <= self.start)
                del self.segments[other.sequence]
        self.segments[segment.sequence] = segment
    def replay(self, record):
        collection = self.collections.get(record.collection)
        if record.kind == CATALOG:
            self.catalog(record.body)
        elif record.kind == FREED:
            sequence, index = struct.unpack("<QI", record.body)
            segment = self.segments.get(sequence)
            need("R-9.4", segment and segment.index == index and sequence < max(self.segments))
            segment.freed = record.lsn
        elif record.kind == CHUNK or record.flags & CHUNKED:  # whether anything reads it or not
            Cursor(record.body).varint() if record.kind == CHUNK else self.listed(record)
        if collection is None or record.kind not in (PUT, DELETE, RELOCATED):
            return  # F-7.4: the record is dead, or changes no document
        key, documents = key_order(record.key), collection.documents
        for index in self.indexes_of(record.collection) if record.kind != RELOCATED else ():
            index.held = None  # I-8.1: the log has no entries
        need("R-9.2", record.replaced == documents.get(key, (None, 0))[1])
        if record.kind == DELETE:
            documents.pop(key, None)
        else:
            documents[key] = record.key, record.value()
        if record.kind == PUT and type(record.key) is int:
            collection.following = max(collection.following, record.key + 1)
    def catalog(self, body):  # F-7.1, F-7.2
        entry = cbor_whole(body, dict, "F-7.1")
        op = known_map(entry, "op id name new index").get("op")
        need("F-7.1", isinstance(op, str))
        need("F-7.1", op in (*OPS, *INDEX_OPS), kind="newer format")
        ids = [entry.get(name) for name in ("id", "new")[: 2 if op in ("clear", "index") else 1]]
        need("F-7.2", *(type(number) is int and 1 <= number <= NONE for number in ids))
        name = valid_name(entry) if op in ("create", "rename", "reindex") else None
        if op in INDEX_OPS:
            return self.catalog_of_indexes(op, ids, name, entry.get("index"))
        need("F-7.1", name not in {collection.name for collection in self.collections.values()})
        need("F-7.1", op == "create" or ids[0] in self.collections)
        before = self.collections.pop(ids[0]) if op != "create" else Collection(name)
        if op == "rename":
            before.name, self.collections[ids[0]] = name, before
        elif op != "drop":
            need("F-7.2", ids[-1] > self.largest)  # of a collection
            self.largest, self.collections[ids[-1]] = ids[-1], Collection(before.name, before.following)
        held = sorted(number for number, index in self.indexes.items() if index.of == ids[0])
        for number in held if op in ("drop", "clear") else ():
            index = self.indexes.pop(number)
            if op == "clear":
                self.largest += 1
                need("F-7.2", self.largest <= NONE)
                index.of, index.held, self.indexes[self.largest] = ids[-1], None, index
    def catalog_of_indexes(self, op, ids, name, definition):
        definition = Definition(definition) if op == "index" else None
        name = definition.name if definition else name
        index = self.indexes.get(ids[0])
        need("F-7.1", ids[0] in self.collections if op == "index" else index)
        beside = self.indexes_of(ids[0] if op == "index" else index.of)
        need("F-7.1", name not in [other.name for other in beside])
        if op == "unindex":
            del self.indexes[ids[0]]
        elif op == "reindex":
            index.name = name
        else:
            need("F-7.2", ids[-1] > self.largest)  # of an index
            self.largest, self.indexes[ids[-1]] = ids[-1], Index(ids[0], definition)
    def indexes_of(self, collection):
        return [index for index in self.indexes.values() if index.of == collection]
    def rows(self):  # every live document, in the order of S-3.9
        limit = tuple_limit(self.image.sector, self.image.size)
        for number, collection in sorted(self.collections.items(), key=lambda item: item[1].name.encode()):
            indexes = self.indexes_of(number)
            for _, (key, value) in sorted(collection.documents.items()):
                put = self.at(value >> 2)
                with about(put.at):
                    need("F-8.4", put.kind in (PUT, RELOCATED), put.collection == number, put.key == key)
                    need("F-8.4", put.value() == value)
                    body = self.chunked(put) if put.flags & CHUNKED else put.body
                    need("V-4.2", len(body) <= 64 << 20)
                    document = cbor_whole(body, dict, "E-3.4")
                for index in indexes:  # I-2.3
                    index.entries |= entries(index.definition, limit, key, document)
                yield collection.name, key, document
            need("I-2.3", *(index.held in (None, index.entries) for index in indexes))
    def at(self, address):  # F-2.2, F-8.4
        segment = self.segments.get(address // self.image.size)
        record = segment and self.image.record(segment, address % self.image.size)
        need("F-8.4", record)
        return record
    def listed(self, record):  # F-6.7: the length of the document, and where its chunks stand
        cursor = Cursor(record.body)
        length, count = cursor.varint(), cursor.varint()
        need("F-6.7", cursor.end - cursor.at == 8 * count)
        return length, struct.iter_unpack("<Q", cursor.take())
    def chunked(self, record):
        (length, addresses), whole = self.listed(record), b""
        need("V-4.2", length <= 64 << 20)
        for number, (address,) in enumerate(addresses):
            with about(record.at, "F-6.7"):
                chunk = self.at(address)
            need("F-6.7", (chunk.kind, chunk.collection, chunk.key) == (CHUNK, record.collection, record.key))
            need("F-6.7", chunk.lsn == record.lsn or record.kind == RELOCATED and chunk.lsn < record.lsn)
            body = Cursor(chunk.body)
            need("F-6.7", body.varint() == number)
            whole += body.take()
        need("F-6.7", len(whole) == length)
        return whole

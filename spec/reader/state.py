"""What the commits make: the catalog (F-7) and the documents (F-6.7, S-1)."""

from dataclasses import dataclass, field

from coding import Bad, Cursor, cbor_whole, key_order
from layout import CATALOG, CHUNK, CHUNKED, DELETE, NONE, PUT, RELOCATED, Record, corrupt, lsn_text, newer


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
        moved = (record.own, record.moved_from)
        return version is not None and (version.record.lsn, version.record.address) == moved

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

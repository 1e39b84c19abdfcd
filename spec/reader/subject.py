"""The second reader as a subject of `holotype conform`: the protocol is in `spec/vectors/README.md`."""

import json
import pathlib
import sys

from coding import Refused, cbor_whole, need, valid_key
from indexes import Definition, entries, entry_from
from recovery import Recovery
from values import at_pointer, compare, document, encoded, key_of_order_key, order_key
from values import read_entry, read_json, to_json, write_json

REFUSALS = {"not a store": "not_holotype", "newer format": "newer", "older format": "older"}


def open_file(request):
    return opened(pathlib.Path(request["file"]).read_bytes())


def opened(data):
    try:
        recovery = Recovery(data).run()
        documents = {collection.name: [] for collection in recovery.store.collections.values()}
        for name, key, value in recovery.store.rows():
            documents[name].append([encoded(key).hex(), encoded(value).hex()])
    except Refused as refused:
        kind = REFUSALS.get(refused.kind, refused.kind)
        return {kind: reasons(refused) if kind in ("corrupt", "newer", "older") else True}
    collections = sorted(recovery.store.collections.values(), key=lambda collection: collection.name.encode())
    indexes = {c.name: indexes_of(recovery.store, c) for c in collections}
    found = [
        {"name": c.name, "next": str(c.following), "documents": documents[c.name], "indexes": indexes[c.name]}
        for c in collections
    ]
    return {"state": {"lsn": f"{recovery.end.lsn:016x}", "collections": found}}


def indexes_of(store, collection):
    """In the order of names (I-4.6)."""
    (number,) = [number for number, other in store.collections.items() if other is collection]
    found = sorted(store.indexes_of(number), key=lambda index: index.name.encode())
    return [
        {"name": index.name, **stated(index.definition), "entries": hexed(index.entries)} for index in found
    ]


def stated(definition):
    on = [under(text, by) for text, by in zip(definition.on, definition.by)]
    found = {"on": on, "unique": definition.unique, "sparse": definition.sparse}
    return found if definition.where is None else found | {"where": definition.where}


def under(text, function):  # I-1.5
    sign = "-" if text.startswith("-") else ""
    return f"{sign}{function}({text.removeprefix('-')})" if function else text


def hexed(entries):
    return [entry.hex() for entry in sorted(entries)]


def reasons(refused):
    """Clause and place. Where E-1.2 stands for the clauses on the form of an item, no clause is claimed."""
    found = {} if refused.clause == "E-1.2" else {"clause": refused.clause}
    return found if refused.at is None else found | {"at": refused.at}


def value_of(text):
    return cbor_whole(bytes.fromhex(text), object, "E-1.2")


def document_of(text):
    data = bytes.fromhex(text)
    need("V-4.2", len(data) <= 64 << 20)
    return cbor_whole(data, dict, "E-3.4")


def json_of(request):
    return bytes.fromhex(request["text_hex"]) if "text_hex" in request else request["text"].encode()


def key_of(request):
    return to_json(valid_key(value_of(request["bytes"])), canonical=True)


def compared(request):
    a, b = value_of(request["a"]), value_of(request["b"])
    order = compare(a, b)
    word = "less" if order < 0 else "greater" if order else "same"
    return {"order": word, "equal": encoded(a) == encoded(b)}


def got(request):
    found = at_pointer(document_of(request["bytes"]), request["pointer"])
    return {"bytes": encoded(found[0]).hex()} if found else {"none": True}


def definition_of(request, name="bytes"):
    return Definition(cbor_whole(bytes.fromhex(request[name]), dict, "F-8.10"))


def index_entries(request):
    definition = definition_of(request, "definition")
    key, document = valid_key(value_of(request["key"])), document_of(request["bytes"])
    return {"entries": hexed(entries(definition, request["limit"], key, document))}


def decode_index_entry(request):
    definition = definition_of(request, "definition")
    row, key = entry_from(definition, request["limit"], bytes.fromhex(request["bytes"]))
    return {"value": to_json({"key": key} if row is None else {"key": key, "tuple": row}, canonical=True)}


def decode_definition(request):
    definition = definition_of(request)
    return {"value": {"name": definition.name, **stated(definition)}}


OPERATIONS = {
    "open": open_file,
    "open_write": lambda _: {"unsupported": True},
    "decode_document": lambda request: {"value": to_json(document_of(request["bytes"]), canonical=True)},
    "decode_key": lambda request: {"value": key_of(request)},
    "read_json": lambda request: {"bytes": encoded(document(read_json(json_of(request)))).hex()},
    "read_entry": lambda request: {"entry": [encoded(part).hex() for part in read_entry(json_of(request))]},
    "write_json": lambda request: {"text": write_json(document_of(request["bytes"]), request["mode"])},
    "order_key": lambda request: {"bytes": order_key(value_of(request["bytes"])).hex()},
    "key_of_order_key": lambda request: {"bytes": encoded(key_of_order_key(request["bytes"])).hex()},
    "compare": compared,
    "get": got,
    "decode_definition": decode_definition,
    "index_entries": index_entries,
    "decode_index_entry": decode_index_entry,
}


def answer(request):
    if request["op"] not in OPERATIONS:
        return {"unsupported": True}
    try:
        return OPERATIONS[request["op"]](request)
    except Refused as refused:
        return {"rejected": reasons(refused)}
    except (KeyError, TypeError, ValueError, OSError) as error:
        return {"error": f"{type(error).__name__}: {error}"}


def main():
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps({"id": request["id"], **answer(request)}), flush=True)


if __name__ == "__main__":
    main()

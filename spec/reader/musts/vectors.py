"""The vectors (`spec/vectors/README.md`), and whether an answer to one is right."""

import json
import pathlib

HERE = pathlib.Path(__file__).parents[2] / "vectors" / "3.0"


class Case:
    def __init__(self, group, case, states):
        self.name = f"{group} {case['id']}"
        self.clauses, self.expect, self.states = case["clauses"], case["expect"], states
        self.request = {"id": case["id"], **case["request"]}
        self.opens = self.request["op"] == "open"
        if self.opens:
            self.request["file"] = file_of(self.request["file"])
        self.cost = len(self.request.get("file", b""))

    def is_right(self, answer):
        return any(self.matches(*outcome.items(), answer) for outcome in self.expect)

    def matches(self, outcome, answer):
        kind, expected = outcome
        if kind == "order":
            return expected == {name: answer.get(name) for name in expected}
        if kind not in answer:
            return False
        found = answer[kind]
        if kind == "state":
            return same_state(self.states[expected], found)
        if kind in ("corrupt", "newer", "older"):
            allowed = expected.get("clauses") or [found.get("clause")]
            return found.get("clause", allowed[0]) in allowed and said("at", expected, found)
        if kind == "value":
            return meant(expected) == meant(found)
        if kind == "text":
            return meant(expected, self.request["mode"] == "relaxed") == meant(tokens(found))
        return kind == "rejected" or expected == found


def said(field, expected, found):
    return field not in expected or field not in found or expected[field] == found[field]


def same_state(expected, found):
    def documents(state):
        return [(each["name"], each["documents"]) for each in state["collections"]]

    if not said("lsn", expected, found) or documents(expected) != documents(found):
        return False
    pairs = list(zip(expected["collections"], found["collections"]))
    return all(said(field, *pair) for field in ("next", "indexes") for pair in pairs)


def tokens(text):
    """The JSON text, each number as what it is in the text."""
    return json.loads(text, parse_int=lambda n: ("int", n), parse_float=lambda n: ("float", repr(float(n))))


def meant(node, relaxed=False):
    """What canonical JSON means, or how relaxed JSON must write the same (E-6)."""
    if isinstance(node, list):
        return [meant(item, relaxed) for item in node]
    if not isinstance(node, dict):
        return node
    ((name, inner),) = node.items() if len(node) == 1 else ((None, None),)
    if name in ("$numberInt", "$numberLong"):
        return ("int", inner) if relaxed and abs(int(inner)) < 1 << 53 else (name, inner)
    if name == "$numberDouble":
        is_plain = relaxed and "N" not in inner and "I" not in inner
        return ("float" if is_plain else name, repr(float(inner)))
    if name == "$literal":
        return (name, {each: meant(item, relaxed) for each, item in inner.items()})
    return {each: meant(item, relaxed) for each, item in node.items()}


def file_of(described):
    data = bytearray((HERE / described["base"]).read_bytes() if "base" in described else b"")
    length = described.get("length", len(data))
    data = data[:length] + bytes(max(0, length - len(data)))
    for offset, text in described.get("patch", []):
        patch = bytes.fromhex(text)
        data[offset : offset + len(patch)] = patch
    return bytes(data)


def cases():
    """Every case that a reader is asked: it opens no file for writing, and answers no calls (Q, U)."""
    found = []
    for path in sorted(HERE.glob("*.json")):
        if path.stem in ("filters", "queries", "updates"):
            continue
        manifest = json.loads(path.read_text())
        for case in manifest.get("cases", []):
            if case["request"]["op"] != "open_write":
                found.append(Case(path.stem, case, manifest.get("states", {})))
    return found

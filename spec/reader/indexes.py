"""Indexes: their definitions (I-1, F-8.10), what entries a document gives (I-2), and entries from bytes (I-7)."""

import math
import re
import struct

from coding import I64, Refused, known_map, need, valid_key, valid_name
from filters import parsed
from functions import FUNCTIONS, given
from values import field, key_of_order_key, number_key, order_key

ANY = None  # what stands for a wildcard among names and indexes of items
FIRST = "[A-Za-z_\x80-\U0010ffff]"  # of a name behind a dot (RFC 9535, 2.5.1)
NAME = f"{FIRST}(?:{FIRST}|[0-9])*"
QUOTED = r"(?:[^'\\\x00-\x1f]|\\(?:[btnfr'\\]|u00[01][0-9a-f]))*"
SEGMENT = re.compile(rf"\.({NAME})|\['({QUOTED})'\]|\[(0|-?[1-9][0-9]*)\]|\[\*\]")
ESCAPES = {"\b": r"\b", "\t": r"\t", "\n": r"\n", "\f": r"\f", "\r": r"\r", "'": r"\'", "\\": r"\\"}
LETTERS = {text: letter for letter, text in ESCAPES.items()}


def tuple_limit(sector, size):  # I-2.6, F-8.10, F-8.1
    form = (min(16384, size - sector) - 66) // 3
    longest = max(min(form - head, most) for head, most in ((1, 23), (2, 255), (3, 65535)))  # of a head so long
    return min(1024, longest // 3)


# --- definitions: I-1 ---------------------------------------------------------------------------------


class Definition:
    def __init__(self, entry):  # F-8.10
        known_map(entry, "name on by unique sparse where")
        self.name, self.on = valid_name(entry), entry.get("on")
        need("F-8.10", isinstance(self.on, list) and all(isinstance(text, str) for text in self.on))
        need("F-8.10", *(entry.get(flag, True) is True for flag in ("unique", "sparse")))
        self.unique, self.sparse = "unique" in entry, "sparse" in entry
        need("I-1.1", 1 <= len(self.on) <= 16)
        self.descending = [text.startswith("-") for text in self.on]
        self.paths = [path_of(text.removeprefix("-")) for text in self.on]
        self.by = functions_of(entry, len(self.on))
        pairs = list(zip(self.paths, self.by))
        need("I-1.2", all(self.paths), *(pairs.count(pair) == 1 for pair in pairs))
        fans = [fan_out(path) for path in self.paths if ANY in path]
        need("I-1.3", *(fan == fans[0] for fan in fans))
        self.fan = fans[0] if fans else []
        self.where, self.admits = filter_of(entry)


def filter_of(entry):  # I-1.6, F-8.10
    if "where" not in entry:
        return None, lambda document: True
    where = entry["where"]
    need("F-8.10", isinstance(where, str), "where" in entry.get("required", []))
    return where, parsed(where)


def functions_of(entry, count):  # I-1.5, F-8.10
    if "by" not in entry:
        return [None] * count
    by = entry["by"]
    need("F-8.10", isinstance(by, list))
    need("F-8.10", len(by) == count, any(by), "by" in entry.get("required", []))
    need("F-8.10", *(name is None or isinstance(name, str) and name in FUNCTIONS for name in by))
    return by


def path_of(text):  # I-1.2
    need("F-8.10", text.startswith("$"))
    steps, at = [], 1
    while at < len(text):
        found = SEGMENT.match(text, at)
        need("F-8.10", found)
        plain, quoted, index = found.groups()
        if index is not None:
            need("F-8.10", abs(int(index)) < 1 << 53)  # RFC 9535, 2.1
        steps.append(int(index) if index else plain if quoted is None else unquoted(quoted))
        at = found.end()
    need("F-8.10", "$" + "".join(map(segment, steps)) == text)
    return steps


def unquoted(text):
    return re.sub(r"\\(u....|.)", lambda found: LETTERS.get(found[0]) or chr(int(found[1][1:], 16)), text)


def segment(step):  # in normal form
    if not isinstance(step, str):
        return "[*]" if step is ANY else f"[{step}]"
    if re.fullmatch(NAME, step):
        return f".{step}"
    return "['" + "".join(ESCAPES.get(c) or (f"\\u{ord(c):04x}" if c < " " else c) for c in step) + "']"


def fan_out(path):  # I-1.3
    return path[: len(path) - path[::-1].index(ANY)]


# --- entries of a document: I-2, I-7.1 ----------------------------------------------------------------


def selected(node, steps):
    nodes = [node]
    for step in steps:
        nodes = [child for node in nodes for child in children(node, step)]
    return nodes


def children(node, step):
    if step is ANY:
        return list(node.values()) if isinstance(node, dict) else node if isinstance(node, list) else []
    if isinstance(step, str):
        return [node[step]] if isinstance(node, dict) and step in node else []
    return [node[step]] if isinstance(node, list) and -len(node) <= step < len(node) else []


def tuples(definition, document):
    """A component is a list: of a value, or of nothing."""  # I-2.1
    fan, paths = definition.fan, list(zip(definition.paths, definition.by))
    found = []
    for top in selected(document, fan) if fan else []:
        rests = [given(by, selected(top, path[len(fan) :])) if ANY in path else None for path, by in paths]
        found += [rests] if any(rests) else []
    alone = [given(by, selected(document, path)) if ANY not in path else [] for path, by in paths]
    return [[one if rest is None else rest for one, rest in zip(alone, rests)] for rests in found] or [alone]


def entries(definition, limit, key, document):
    if not definition.admits(document):  # I-2.8
        return set()
    rows = [row for row in tuples(definition, document) if any(row) or not definition.sparse]  # I-2.2
    return {entry_bytes(definition, limit, row, key) for row in rows}


def entry_bytes(definition, limit, row, key):
    parts = [order_key(part[0]) if part else b"\0" for part in row]
    data = b"".join(inverted(part) if down else part for part, down in zip(parts, definition.descending))
    marks = bytes(mark for part in row for value in part for mark in marks_of(value))
    return data[:limit] + order_key(key) + (marks.rstrip(b"\0") if len(data) <= limit else b"")


def inverted(data):
    return bytes(255 - byte for byte in data)


def marks_of(value):  # I-2.4
    match value:
        case bool() | None | str() | bytes():
            return []
        case int() | float():
            return [mark_of(value)]
        case list():
            return [mark for item in value for mark in marks_of(item)]
    return [mark for *_, name in sorted(map(field, value.items())) for mark in marks_of(value[name])]


def mark_of(number):
    if isinstance(number, int) or not number.is_integer() or not -I64 - 1 <= number <= I64:
        return 0
    return 2 if math.copysign(1, number) < 0 and number == 0 else 1


# --- entries from bytes: I-7.2 ------------------------------------------------------------------------


class Ends(Exception):
    """The bytes are those of a beginning."""


class Reader:
    def __init__(self, data, marks=None):
        self.data, self.at, self.marks = data, 0, marks

    def take(self, n):
        if n > len(self.data) - self.at:
            self.at = len(self.data)
            raise Ends
        self.at += n
        return self.data[self.at - n : self.at]

    def ends_here(self):
        if self.at == len(self.data):
            raise Ends
        return self.data[self.at] == 0

    def components(self, definition):
        found, turned = [], False
        for path, by, down in zip(definition.paths, definition.by, definition.descending):
            if down != turned:
                self.data, turned = inverted(self.data), down
            is_nothing = self.ends_here() and self.take(1)
            found.append([] if is_nothing else [self.value(1 + len(path))])
            need("I-7.2", *(type(value) is FUNCTIONS[by][0] for value in found[-1] if by))
        return found

    def value(self, level):
        (sort,) = self.take(1)
        need("I-7.2", 1 <= sort <= 8, sort < 7 or level <= 128)
        match sort:
            case 1 | 2 | 3:
                return {1: None, 2: False, 3: True}[sort]
            case 4:
                return self.number()
            case 5 | 6:
                return self.text() if sort == 5 else self.string()
            case 7:
                return list(self.items(level))
        fields = [(self.name(), self.value(level + 1)) for _ in iter(self.ends_here, True)]
        self.take(1)
        names = [field(item) for item in fields]
        need("I-7.2", names == sorted(names), len(dict(fields)) == len(fields))
        return dict(fields)

    def items(self, level):
        while not self.ends_here():
            yield self.value(level + 1)
        self.take(1)

    def string(self):
        found = b""
        while byte := self.take(1):
            behind = self.take(1) if byte == b"\0" else b""
            if behind == b"\0":
                return found
            need("I-7.2", behind in (b"", b"\xff"))
            found += byte

    def text(self):
        return decoded(self.string())

    def name(self):
        (head,) = self.take(1)
        need("I-7.2", head >> 5 == 3, head & 31 < 28)
        info = head & 31
        length = info if info < 24 else int.from_bytes(self.take(1 << info - 24), "big")
        need("I-7.2", info < 24 or length >= {24: 24, 25: 1 << 8, 26: 1 << 16, 27: 1 << 32}[info])
        return decoded(self.take(length))

    def number(self):
        raw = self.take(8)
        (bits,) = struct.unpack(">Q", raw)
        turned = bits ^ (1 << 63 if bits >> 63 else (1 << 64) - 1)
        (floor,) = struct.unpack(">d", struct.pack(">Q", turned))
        need("I-7.2", floor == floor or bits == 0)
        behind = self.take(2) if abs(floor) >= 1 << 53 else b""
        mark = 0 if self.marks is None else next(self.marks, 0)
        number = marked(floor, int.from_bytes(behind, "big"), mark)
        need("I-7.2", number_key(number) == raw + behind)
        return number


def decoded(data):
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Refused("I-7.2") from None


def marked(floor, difference, mark):
    """The number of this order key that has this mark."""  # I-2.4
    number = int(floor) + difference if floor.is_integer() else None
    is_int = number is not None and -I64 - 1 <= number <= I64
    need("I-7.2", mark <= 2, mark != 1 or is_int, mark != 2 or floor == 0)
    return number if is_int and mark == 0 else -0.0 if mark == 2 else floor


def entry_from(definition, limit, data):
    """The components of the tuple, or None where it is long; and the key of the document."""
    reader = Reader(data[:limit])
    try:
        reader.components(definition)
        is_long = False
    except Ends:
        need("I-7.2", len(data) >= limit)
        is_long = True
    end = limit if is_long else reader.at
    behind = Reader(data[end:])
    try:
        need("I-7.2", data[end:][:1] in (b"\4", b"\5", b"\6"))
        behind.value(1)
    except Ends:
        raise Refused("I-7.2") from None
    key = valid_key(key_of_order_key(behind.data[: behind.at].hex()))
    marks = behind.data[behind.at :]
    need("I-7.2", not is_long or not marks, marks[-1:] != b"\0")
    if is_long:
        return None, key
    left = iter(marks)
    row = Reader(data[:end], left).components(definition)
    need("I-7.2", next(left, None) is None, any(row) or not definition.sparse)
    return row, key

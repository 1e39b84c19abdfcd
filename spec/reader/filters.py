"""Filters of indexes (I-1.6): the logical expressions of RFC 9535, with what Q-1 to Q-5 say of them.

`parsed(text)` is a function of a document: whether the filter admits it. Each part of the text becomes a function of a pair,
the root and the current node. A term is its kind, which says where it may stand, and such a function.
"""

import json
import math
import re

from coding import I64, Refused, need
from functions import FUNCTIONS
from values import compare

NOTHING = object()
FIRST = "[A-Za-z_\x80-\ud7ff\ue000-\U0010ffff]"
NAME = re.compile(f"{FIRST}(?:{FIRST}|[0-9])*")
BLANKS = re.compile("[ \t\n\r]*")
WORD = re.compile("[a-z][a-z_0-9]*")
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
INDEX = re.compile("0|-?[1-9][0-9]*")
HEX = re.compile("(?:[0-9A-Fa-f]{2})*")
TEXT = re.compile(r"'((?:[^'\\\x00-\x1f]|\\[bfnrt/\\']|\\u[0-9A-Fa-f]{4})*)'"
                  r'|"((?:[^"\\\x00-\x1f]|\\[bfnrt/\\"]|\\u[0-9A-Fa-f]{4})*)"')
ESCAPE = re.compile(r'\\.|"')
LITERAL, SINGULAR, NODES, VALUE, TEST = range(5)
VALUES = (LITERAL, SINGULAR, VALUE)  # what can stand beside a comparison
CONSTANTS = {"true": True, "false": False, "null": None}
TYPES = {bool: "bool", int: "int", float: "float", str: "text", bytes: "bytes", list: "array", dict: "object"}


def parsed(text):
    parser = Parser(text)
    test = parser.either()
    parser.blanks()
    need("F-8.10", parser.at == len(text))
    return lambda document: test((document, document))


# --- values: Q-3 and Q-5 ------------------------------------------------------------------------------


def equal(a, b):
    return (a is b) if NOTHING in (a, b) else compare(a, b) == 0


def less(a, b):
    kinds = ((int, float), str, bytes)
    alike = any(isinstance(a, kind) and isinstance(b, kind) for kind in kinds)
    return alike and bool not in (type(a), type(b)) and compare(a, b) < 0


COMPARISONS = {
    "==": equal,
    "!=": lambda a, b: not equal(a, b),
    "<=": lambda a, b: less(a, b) or equal(a, b),
    ">=": lambda a, b: less(b, a) or equal(a, b),
    "<": less,
    ">": lambda a, b: less(b, a),
}


def of_texts(test):
    kinds = (str, bytes)
    return lambda a, b: any(isinstance(a, kind) and isinstance(b, kind) for kind in kinds) and test(a, b)


def towards_zero(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def number(of_ints, of_floats):
    def result(a, b):
        if not {type(a), type(b)} <= {int, float}:
            return NOTHING
        try:
            if isinstance(a, int) and isinstance(b, int):
                found = of_ints(a, b)
                return found if -I64 - 1 <= found <= I64 else NOTHING
            found = of_floats(float(a), float(b))
            return found if math.isfinite(found) else NOTHING
        except (ArithmeticError, ValueError):
            return NOTHING

    return result


def in_list(value, *others):
    return value is not NOTHING and any(equal(value, other) for other in others)


def between(value, low, high):
    return COMPARISONS["<="](low, value) and COMPARISONS["<="](value, high)


def type_of(value):
    return NOTHING if value is NOTHING else "null" if value is None else TYPES[type(value)]


def of_value(name):
    def given(value):
        found = FUNCTIONS[name][1](value)
        return NOTHING if found is None else found

    return given


CALLS = {  # by name: how many arguments, the kind of the result, and the function
    **{name: (1, 1, VALUE, of_value(name)) for name in FUNCTIONS},
    "type": (1, 1, VALUE, type_of),
    "add": (2, 2, VALUE, number(lambda a, b: a + b, lambda a, b: a + b)),
    "sub": (2, 2, VALUE, number(lambda a, b: a - b, lambda a, b: a - b)),
    "mul": (2, 2, VALUE, number(lambda a, b: a * b, lambda a, b: a * b)),
    "div": (2, 2, VALUE, number(towards_zero, lambda a, b: a / b)),
    "mod": (2, 2, VALUE, number(lambda a, b: a - b * towards_zero(a, b), math.fmod)),
    "in": (2, 4096, TEST, in_list),
    "between": (3, 3, TEST, between),
    "starts_with": (2, 2, TEST, of_texts(lambda a, b: a.startswith(b))),
    "ends_with": (2, 2, TEST, of_texts(lambda a, b: a.endswith(b))),
    "contains": (2, 2, TEST, of_texts(lambda a, b: b in a)),
}
OF_NODES = {
    "count": len,
    "value": lambda nodes: nodes[0] if len(nodes) == 1 else NOTHING,
}


# --- nodes --------------------------------------------------------------------------------------------


def children(node):
    return list(node.values()) if isinstance(node, dict) else node if isinstance(node, list) else []


def and_descendants(node):
    return [node] + [below for child in children(node) for below in and_descendants(child)]


def of_name(name):
    return lambda root, node: [node[name]] if isinstance(node, dict) and name in node else []


def of_index(index):
    return lambda root, node: [node[index]] if isinstance(node, list) and -len(node) <= index < len(node) else []


def of_slice(start, end, step):
    return lambda root, node: node[start:end:step] if isinstance(node, list) and step != 0 else []


def of_filter(test):
    return lambda root, node: [child for child in children(node) if test((root, child))]


def every(root, node):
    return children(node)


def selected(from_root, segments):
    def nodes(scope):
        found = [scope[0] if from_root else scope[1]]
        for descends, selectors in segments:
            found = [below for node in found for below in and_descendants(node)] if descends else found
            found = [child for node in found for select in selectors for child in select(scope[0], node)]
        return found

    return nodes


# --- the grammar --------------------------------------------------------------------------------------


class Parser:
    def __init__(self, text):
        self.text, self.at, self.depth = text, 0, 0

    def blanks(self):
        self.at = BLANKS.match(self.text, self.at).end()

    def eat(self, word):
        found = self.text.startswith(word, self.at)
        self.at += len(word) if found else 0
        return found

    def due(self, word):
        need("F-8.10", self.eat(word))

    def eat_behind_blanks(self, word):
        before = self.at
        self.blanks()
        found = self.eat(word)
        self.at = self.at if found else before
        return found

    def take(self, pattern):
        found = pattern.match(self.text, self.at)
        need("F-8.10", found)
        self.at = found.end()
        return found

    def nested(self, inner):
        self.depth += 1
        need("F-8.10", self.depth <= 64)
        found = inner()
        self.depth -= 1
        return found

    def either(self):
        self.blanks()
        parts = [self.both()]
        while self.eat_behind_blanks("||"):
            self.blanks()
            parts.append(self.both())
        return lambda scope: any(part(scope) for part in parts)

    def both(self):
        parts = [self.basic()]
        while self.eat_behind_blanks("&&"):
            self.blanks()
            parts.append(self.basic())
        return lambda scope: all(part(scope) for part in parts)

    def basic(self):
        if self.eat("!"):
            self.blanks()
            inner = self.parenthesised() if self.text.startswith("(", self.at) else self.test(*self.term())
            return lambda scope: not inner(scope)
        if self.text.startswith("(", self.at):
            return self.parenthesised()
        kind, left = self.term()
        word = next((word for word in COMPARISONS if self.eat_behind_blanks(word)), None)
        if word is None:
            return self.test(kind, left)
        self.blanks()
        other, right = self.term()
        need("F-8.10", kind in VALUES, other in VALUES)
        return lambda scope: COMPARISONS[word](left(scope), right(scope))

    def parenthesised(self):
        return self.nested(self.within_parentheses)

    def within_parentheses(self):
        self.due("(")
        inner = self.either()
        self.blanks()
        self.due(")")
        return inner

    def test(self, kind, part):
        need("F-8.10", kind in (SINGULAR, NODES, TEST))
        if kind == SINGULAR:
            return lambda scope: part(scope) is not NOTHING
        return lambda scope: bool(part(scope))

    def term(self):
        sign = self.text[self.at : self.at + 1]
        if sign and sign in "@$":
            singular, nodes = self.query()
            return (SINGULAR, lambda scope: (nodes(scope) or [NOTHING])[0]) if singular else (NODES, nodes)
        if sign and sign in "'\"":
            return literal(self.string())
        if sign and sign in "-0123456789":
            return literal(self.number())
        word = self.take(WORD)[0]
        if not self.text.startswith("(", self.at):
            need("F-8.10", word in CONSTANTS)
            return literal(CONSTANTS[word])
        return self.nested(lambda: self.call(word))

    def call(self, name):
        # I-1.6: neither `arg` nor `key`, `match` nor `search` is among them.
        need("F-8.10", name in CALLS or name in OF_NODES or name == "bytes")
        self.due("(")
        self.blanks()
        if name == "bytes":
            digits = self.string()
            self.blanks()
            self.due(")")
            need("F-8.10", HEX.fullmatch(digits))
            return literal(bytes.fromhex(digits))
        if name in OF_NODES:
            need("F-8.10", self.text[self.at : self.at + 1] in ("@", "$"))
            _, nodes = self.query()
            self.blanks()
            self.due(")")
            return VALUE, lambda scope: OF_NODES[name](nodes(scope))
        least, most, kind, function = CALLS[name]
        args = [] if self.text.startswith(")", self.at) else [self.argument()]
        while self.eat_behind_blanks(","):
            self.blanks()
            args.append(self.argument())
        self.blanks()
        self.due(")")
        need("F-8.10", least <= len(args) <= most)
        return kind, lambda scope: function(*(arg(scope) for arg in args))

    def argument(self):
        kind, part = self.term()
        need("F-8.10", kind in VALUES)
        return part

    def number(self):
        found = self.take(NUMBER)
        if found[1] is None and found[2] is None and found[0] != "-0":
            need("F-8.10", -I64 - 1 <= int(found[0]) <= I64)
            return int(found[0])
        need("F-8.10", math.isfinite(float(found[0])))
        return float(found[0])

    def string(self):
        found = self.take(TEXT)
        # JSON has no single quotes around a text, and no escape of one.
        turned = {"\\'": "'", '"': '\\"'}
        inner = found[2] or ESCAPE.sub(lambda escape: turned.get(escape[0], escape[0]), found[1] or "")
        text = json.loads(f'"{inner}"')
        try:
            text.encode()
        except UnicodeEncodeError:
            raise Refused("F-8.10") from None
        return text

    def query(self):
        """Whether it selects one node at most, and its nodes."""
        from_root = self.text[self.at] == "$"
        self.at += 1
        segments, singular = [], True
        while True:
            before = self.at
            self.blanks()
            descends = self.eat("..")
            bracketed = self.text.startswith("[", self.at)
            if bracketed:
                found = self.nested(self.bracketed)
            elif descends or self.eat("."):
                found = [self.nested(lambda: (False, every)) if self.eat("*") else (True, of_name(self.take(NAME)[0]))]
            else:
                self.at = before
                return singular, selected(from_root, segments)
            singular = singular and not descends and len(found) == 1 and found[0][0]
            segments.append((descends, [select for _, select in found]))

    def bracketed(self):
        self.due("[")
        found = []
        while True:
            self.blanks()
            found.append(self.selector())
            self.blanks()
            if self.eat("]"):
                return found
            self.due(",")

    def selector(self):
        """Whether it selects one node at most, and what it selects."""
        sign = self.text[self.at : self.at + 1]
        if sign and sign in "'\"":
            return True, of_name(self.string())
        if self.eat("*"):
            return False, every
        if self.eat("?"):
            return False, of_filter(self.either())
        start = self.index()
        if not self.eat_behind_blanks(":"):
            need("F-8.10", start is not None)
            return True, of_index(start)
        self.blanks()
        end, step = self.index(), None
        if self.eat_behind_blanks(":"):
            self.blanks()
            step = self.index()
        return False, of_slice(start, end, step)

    def index(self):
        found = INDEX.match(self.text, self.at)
        if not found:
            return None
        self.at = found.end()
        need("F-8.10", abs(int(found[0])) < 1 << 53)  # RFC 9535, 2.1
        return int(found[0])


def literal(value):
    return LITERAL, lambda scope: value

"""A reader of CBOR that forgives one thing: what mutants read by, since the right one leaves E-2 to a comparison with what it would write."""

import cbor2

END = 0xFF


def cbor(cursor, forgiven):
    """The item at the cursor, as if it was written right in this one thing."""
    try:
        behind = bytes(16) if forgiven == "zeros" else b""
        end, item = walk(cursor.data[: cursor.end] + behind, cursor.at, forgiven)
    except (IndexError, ValueError, RecursionError, cbor2.CBORDecodeError):
        end, item = cursor.end, cursor.data[cursor.at : cursor.end]
    inner = type(cursor)(item, clause=cursor.clause, most=cursor.most)
    inner.strict = True
    value = inner.cbor()
    cursor.at = min(end, cursor.end) if inner.at == inner.end else cursor.at + inner.at
    return value


def head(major, argument):
    first, *rest = cbor2.dumps(argument)
    return bytes([first | major << 5, *rest])


def walk(data, at, forgiven):
    """Where an item ends, and its bytes with what is forgiven put right."""
    major, info = data[at] >> 5, data[at] & 31
    width = {24: 1, 25: 2, 26: 4, 27: 8}.get(info, 0)
    body = at + 1 + width
    argument = int.from_bytes(data[at + 1 : body], "big") if width else info
    if major == 7:
        return body, simple(data[at:body], forgiven)
    if major == 6:
        end, item = walk(data, body, forgiven)
        return end, item if forgiven == "tags" else data[at:body] + item
    if info == 31 and forgiven == "indefinite":
        return unended(data, body, major)
    start = head(major, argument) if forgiven == "heads" and info < 28 else data[at:body]
    if major < 2:
        return body, start
    if major < 4:
        end = body + argument
        text = data[body:end]
        return end, start + (replaced(text) if major == 3 and forgiven == "utf-8" else text)
    parts = []
    for _ in range(argument * (major - 3)):
        body, part = walk(data, body, forgiven)
        parts.append(part)
    if major == 5 and forgiven in ("order", "twice"):
        fields = list(zip(parts[::2], parts[1::2]))
        fields = sorted(fields) if forgiven == "order" else dict(fields).items()
        start, parts = head(5, len(fields)), [part for field in fields for part in field]
    return body, start + b"".join(parts)


def simple(raw, forgiven):
    if len(raw) < 3:
        is_known = raw in (b"\xf4", b"\xf5", b"\xf6")
        return b"\xf6" if forgiven == "simple" and not is_known else raw
    number = cbor2.loads(raw)
    shortest = cbor2.dumps(number, canonical=True)
    if number != number:
        return shortest if forgiven == "nan" else raw
    return shortest if forgiven == "floats" else raw


def unended(data, at, major):
    parts = []
    while data[at] != END:
        at, part = walk(data, at, "indefinite")
        parts.append(part)
    if major > 3:
        return at + 1, head(major, len(parts) // (major - 3)) + b"".join(parts)
    chunks = [cbor2.loads(part) for part in parts]
    return at + 1, cbor2.dumps(("" if major == 3 else b"").join(chunks))


def replaced(text):
    """As many bytes, and all of them a text."""
    try:
        text.decode()
    except UnicodeDecodeError:
        return bytes(byte if byte < 128 else ord("?") for byte in text)
    return text

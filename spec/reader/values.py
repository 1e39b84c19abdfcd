"""Values apart from a file: their order (V-3), order keys (E-5), JSON (E-6) and pointers (V-6).

To read documents takes none of this: it is for showing what was read, for indexes (`indexes.py`), and for what else
the conformance protocol asks (`subject.py`).
"""

import base64
import binascii
import json
import math
import re
import struct

import cbor2
from coding import I64, Refused, in_subset, need, valid_key


def encoded(value):  # E-1.2
    return cbor2.dumps(value, canonical=True)


def document(value):
    """The value, if it is one that a store may hold as a document."""
    need("V-1.8", isinstance(value, dict))
    in_subset(value, I64)
    need("V-4.2", len(encoded(value)) <= 64 << 20)
    return value


# --- order: V-3 ---------------------------------------------------------------------------------------


def rank(value):  # V-3.1
    kinds = (type(None), bool, (int, float), str, bytes, list, dict)
    return next(place for place, kind in enumerate(kinds) if isinstance(value, kind))


def compare(a, b):
    """Below 0 when a comes before b, above 0 when it comes after, 0 when both stand at the same place."""
    if rank(a) != rank(b):
        return rank(a) - rank(b)
    if isinstance(a, (int, float)):  # V-3.2, V-3.3: Python compares ints and floats by their exact values
        a, b = (a == a, a if a == a else 0), (b == b, b if b == b else 0)
    elif isinstance(a, str):
        a, b = a.encode(), b.encode()
    elif isinstance(a, list):  # V-3.5
        return first_difference(zip(a, b)) or len(a) - len(b)
    elif isinstance(a, dict):  # V-3.6
        pairs = list(zip(sorted(map(field, a.items())), sorted(map(field, b.items()))))
        for (a_len, a_name, a_key), (b_len, b_name, b_key) in pairs:
            if (a_len, a_name) != (b_len, b_name):
                return -1 if (a_len, a_name) < (b_len, b_name) else 1
            if difference := compare(a[a_key], b[b_key]):
                return difference
        return len(a) - len(b)
    elif a is None:
        return 0
    return (a > b) - (a < b)


def first_difference(pairs):
    return next(filter(None, (compare(a, b) for a, b in pairs)), 0)


def field(item):
    """What a field is sorted by, and its name."""
    name = item[0].encode()
    return len(name), name, item[0]


# --- order keys: E-5 ----------------------------------------------------------------------------------


def order_key(value):
    match value:
        case None | bool():
            return bytes([1 if value is None else 2 + value])
        case int() | float():
            return b"\x04" + number_key(value)
        case str() | bytes():
            data = value.encode() if isinstance(value, str) else value
            return bytes([5 + isinstance(value, bytes)]) + data.replace(b"\0", b"\0\xff") + b"\0\0"
        case list():
            return b"\x07" + b"".join(map(order_key, value)) + b"\0"
    fields = [name for _, _, name in sorted(map(field, value.items()))]
    return b"\x08" + b"".join(encoded(name) + order_key(value[name]) for name in fields) + b"\0"


def number_key(number):  # E-5.3
    if number != number:
        return bytes(8)
    floor = float(number)
    if floor > number:  # the int was rounded up
        floor = math.nextafter(floor, -math.inf)
    (bits,) = struct.unpack(">Q", struct.pack(">d", floor or 0.0))
    bits = bits ^ (1 << 63) if floor >= 0 else bits ^ ((1 << 64) - 1)
    if abs(floor) < 1 << 53:
        return struct.pack(">Q", bits)
    return struct.pack(">QH", bits, number - int(floor) if isinstance(number, int) else 0)


def key_of_order_key(text):  # E-5.6
    data = bytes.fromhex(text)
    need("E-5.6", data[:1] in (b"\4", b"\5", b"\6"))
    if data[0] == 4:
        key = int_of_order_key(data[1:])
    else:
        payload = data[1:-2].replace(b"\0\xff", b"\0")
        try:
            key = payload.decode() if data[0] == 5 else payload
        except UnicodeDecodeError:
            raise Refused("E-5.6") from None
    need("E-5.6", order_key(key) == data)
    return valid_key(key)


def int_of_order_key(data):
    need("E-5.6", len(data) in (8, 10))
    (bits,) = struct.unpack_from(">Q", data)
    turned = bits ^ (1 << 63 if bits >> 63 else (1 << 64) - 1)
    (floor,) = struct.unpack(">d", struct.pack(">Q", turned))
    need("E-5.6", bits, floor.is_integer() if math.isfinite(floor) else False)
    key = int(floor) + int.from_bytes(data[8:], "big")
    need("E-5.6", -I64 - 1 <= key <= I64)
    return key


# --- JSON: E-6 ----------------------------------------------------------------------------------------


def to_json(value, canonical=False):  # E-6
    """The value as Python's json module writes it."""
    match value:
        case bool() | None | str():
            return value
        case int() if canonical or abs(value) >= 1 << 53:
            return {"$numberInt" if canonical and -1 << 31 <= value < 1 << 31 else "$numberLong": str(value)}
        case float() if canonical or not math.isfinite(value):
            names = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
            return {"$numberDouble": names.get(repr(value), repr(value))}
        case int() | float():
            return value
        case bytes():
            return {"$binary": {"base64": base64.b64encode(value).decode(), "subType": "00"}}
        case list():
            return [to_json(item, canonical) for item in value]
    plain = {name: to_json(item, canonical) for name, item in value.items()}
    return {"$literal": plain} if wrapper_shaped(value) else plain


def wrapper_shaped(names):  # E-6.8
    wrappers = {"$numberInt", "$numberLong", "$numberDouble", "$binary"}
    return "$literal" in names or len(names) == 1 and not wrappers.isdisjoint(names)


class Fields(list):
    """The fields of a JSON object, of which it is not known yet whether it is a wrapper."""


def read_json(data, as_it_is=False):
    """The value that a JSON text stands for; `data` is bytes. An object `as_it_is` is no wrapper."""
    try:
        text = data.decode()
        numbers = {"parse_int": json_int, "parse_float": json_float, "parse_constant": no}
        found = json.loads(text, object_pairs_hook=Fields, **numbers)
        return from_fields(found) if as_it_is and isinstance(found, Fields) else from_json(found)
    except RecursionError:
        raise Refused("V-4.3") from None
    except ValueError:
        raise Refused("E-6.1") from None


def no(_constant):
    raise Refused("E-6.1")


def json_int(digits):  # E-6.3
    if digits == "-0":
        return -0.0
    need("E-6.3", len(digits) <= 20)
    need("E-6.3", -I64 - 1 <= int(digits) <= I64)
    return int(digits)


def json_float(digits):  # E-6.4
    need("E-6.4", math.isfinite(float(digits)))
    return float(digits)


def from_json(value):
    if isinstance(value, str):
        need("E-6.11", not any("\ud800" <= letter <= "\udfff" for letter in value))
    if isinstance(value, Fields):
        names = dict(value)
        is_wrapper = wrapper_shaped(names) and len(names) == len(value)
        return from_wrapper(names) if is_wrapper else from_fields(value)
    return [from_json(item) for item in value] if isinstance(value, list) else value


def from_fields(fields):
    need("E-6.2", len(dict(fields)) == len(fields))
    return {from_json(name): from_json(item) for name, item in fields}


def from_wrapper(names):
    """What a wrapper stands for; what only has the shape of one is refused."""  # E-6.8
    need("E-6.8", len(names) == 1)
    ((name, inner),) = names.items()
    if name == "$literal":  # E-6.9
        need("E-6.8", isinstance(inner, Fields))
        return from_fields(inner)
    if name == "$binary":
        return from_binary(inner)
    need("E-6.8", isinstance(inner, str))
    if name == "$numberDouble":  # E-6.6
        if inner in ("NaN", "Infinity", "-Infinity"):
            return float(inner)
        need("E-6.8", re.fullmatch(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?", inner))
        return json_float(inner)
    need("E-6.8", re.fullmatch("0|-?[1-9][0-9]{0,18}", inner))  # E-6.5
    bound = 31 if name == "$numberInt" else 63
    need("E-6.8", -1 << bound <= int(inner) < 1 << bound)
    return int(inner)


def from_binary(inner):  # E-6.7
    said = dict(inner) if isinstance(inner, Fields) else {}
    need("E-6.8", len(inner) == 2, said.keys() == {"base64", "subType"}, said.get("subType") == "00")
    need("E-6.8", isinstance(said["base64"], str))
    try:
        data = base64.b64decode(said["base64"].encode(), validate=True)
    except (binascii.Error, UnicodeEncodeError):
        raise Refused("E-6.8") from None
    need("E-6.8", base64.b64encode(data).decode() == said["base64"])
    return data


def read_entry(data):
    """Key and document."""  # E-6.12
    entry = read_json(data, as_it_is=True)
    need("E-6.12", isinstance(entry, dict))
    need("E-6.12", entry.keys() == {"key", "doc"})
    return valid_key(entry["key"]), document(entry["doc"])


def write_json(value, mode):
    return json.dumps(to_json(value, mode == "canonical"), ensure_ascii=False)


# --- pointers: V-6 ------------------------------------------------------------------------------------


def tokens_of(pointer):  # V-6.2
    need("V-6.2", pointer[:1] in ("", "/"), re.search("~(?![01])", pointer) is None)
    return [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:]]


def at_pointer(value, pointer):
    """The value that a pointer leads to, in a list; an empty list where it leads nowhere."""  # V-6.3
    for token in tokens_of(pointer):
        if isinstance(value, dict) and token in value:
            value = value[token]
        elif isinstance(value, list) and re.fullmatch("0|[1-9][0-9]{0,18}", token):
            if int(token) >= len(value):
                return []
            value = value[int(token)]
        else:
            return []
    return [value]

"""Bytes and their coding: checksums and varints (F-1), CBOR (E-1 to E-4) and JSON (E-6)."""

import base64
import math
import struct

I64 = 1 << 63


def _crc_table():
    table = []
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)  # 0x1EDC6F41, reflected
        table.append(n)
    return table


CRC_TABLE = _crc_table()


def crc32c(*parts):  # F-1.3
    crc = 0xFFFFFFFF
    for part in parts:
        for byte in part:
            crc = CRC_TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def u32(n):
    return n.to_bytes(4, "little")


def u64(n):
    return n.to_bytes(8, "little")


class Bad(Exception):
    """Bytes are not what a clause says; whoever knows the offset in the file says what follows from that."""

    def __init__(self, clause, what):
        super().__init__(what)
        self.clause = clause


class Cursor:
    """Bytes that are read from front to back, and never beyond their end."""

    def __init__(self, data, at=0, end=None):
        self.data, self.at, self.end = data, at, len(data) if end is None else end

    def take(self, n, clause="F-6.1"):
        if n > self.end - self.at:
            raise Bad(clause, "a field runs beyond its end")
        self.at += n
        return self.data[self.at - n : self.at]

    def fixed(self, n):  # F-1.1
        return int.from_bytes(self.take(n), "little")

    def rest(self):
        return self.take(self.end - self.at)

    def varint(self):  # F-1.2
        n = shift = 0
        while True:
            byte = self.take(1, "F-1.2")[0]
            n |= (byte & 127) << shift
            if byte < 128:
                break
            shift += 7
            if shift > 63:
                raise Bad("F-1.2", "a varint of more than 64 bits")
        if n >> 64 or (byte == 0 and shift):
            raise Bad("F-1.2", "a varint of more than 64 bits, or not in its shortest form")
        return n


def cbor_head(cursor):
    first = cursor.take(1, "E-1.2")[0]
    major, low = first >> 5, first & 31
    if major == 7:
        return major, low
    if low < 24:
        return major, low
    if low > 27:
        raise Bad("E-2.3", "an indefinite or a reserved head")
    width = 1 << (low - 24)
    n = int.from_bytes(cursor.take(width, "E-1.3"), "big")
    if n < (24, 1 << 8, 1 << 16, 1 << 32)[low - 24]:
        raise Bad("E-2.2", "a head that is not the shortest")
    return major, n


def cbor_float(cursor, low):
    width, code, narrower = {25: (2, ">e", None), 26: (4, ">f", ">e"), 27: (8, ">d", ">f")}[low]
    data = cursor.take(width, "E-1.3")
    (value,) = struct.unpack(code, data)
    if math.isnan(value):
        if data != b"\x7e\x00":
            raise Bad("E-2.7", "another NaN than f97e00")
    elif narrower and fits(value, narrower):
        raise Bad("E-2.6", "a float that has a shorter form")
    return value


def fits(value, code):
    try:
        return struct.unpack(code, struct.pack(code, value))[0] == value
    except OverflowError:
        return False


def cbor_value(cursor, level=0):
    """One item, as int, float, str, bytes, bool, None, list or dict; `level` is that of what it stands in."""
    major, n = cbor_head(cursor)
    if major == 7:
        if n in (20, 21, 22):
            return (False, True, None)[n - 20]
        if n in (25, 26, 27):
            return cbor_float(cursor, n)
        raise Bad("E-2.1", "an item outside of the subset")
    if major == 6:
        raise Bad("E-2.1", "a tag")
    if major < 2:
        if n >= I64:
            raise Bad("E-2.4", "an int beyond 64 bits")
        return n if major == 0 else -1 - n
    if major == 2:
        return bytes(cursor.take(n, "E-1.3"))
    if major == 3:
        return cbor_text(cursor, n)
    if level == 128:
        raise Bad("V-4.3", "more than 128 levels")
    if major == 4:
        return [cbor_value(cursor, level + 1) for _ in range(bounded(cursor, n))]
    return cbor_object(cursor, n, level + 1)


def bounded(cursor, n):
    if n > cursor.end - cursor.at:
        raise Bad("E-1.3", "more items than bytes are left")
    return n


def cbor_text(cursor, n):
    try:
        return str(cursor.take(n, "E-1.3"), "utf-8")
    except UnicodeDecodeError:
        raise Bad("E-2.5", "a text that is not UTF-8") from None


def cbor_object(cursor, n, level):
    value, before = {}, b""
    for _ in range(bounded(cursor, n)):
        start = cursor.at
        major, length = cbor_head(cursor)
        if major != 3:
            raise Bad("E-3.1", "a name that is not a text")
        name = cbor_text(cursor, length)
        coded = cursor.data[start : cursor.at]
        if before >= coded:
            raise Bad("E-3.2", "names out of order, or one twice")
        before = coded
        value[name] = cbor_value(cursor, level)
    return value


def cbor_whole(data, kind, clause):
    cursor = Cursor(data)
    value = cbor_value(cursor)
    if cursor.at != cursor.end:
        raise Bad("E-1.4", "bytes behind the item")
    if not isinstance(value, kind):
        raise Bad(clause, "an item of another type than belongs here")
    return value


def cbor_key(cursor):
    value = cbor_value(cursor)
    if isinstance(value, bool) or not isinstance(value, (int, str, bytes)):
        raise Bad("E-4.1", "a key that is no int, text or byte string")
    if not isinstance(value, int) and len(value.encode() if isinstance(value, str) else value) > 1024:
        raise Bad("V-4.1", "a key of more than 1,024 bytes")
    return value


def key_order(key):  # V-3.8
    return (0, key) if isinstance(key, int) else (1, key.encode()) if isinstance(key, str) else (2, key)


def to_json(value):
    """The value as Python's json module writes it in relaxed mode."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int):
        return value if abs(value) < 1 << 53 else {"$numberLong": str(value)}  # E-6.3, E-6.5
    if isinstance(value, float):
        if math.isfinite(value):
            return value  # E-6.4: repr() always has a fraction or an exponent
        return {"$numberDouble": "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"}
    if isinstance(value, bytes):  # E-6.7
        return {"$binary": {"base64": base64.b64encode(value).decode(), "subType": "00"}}
    if isinstance(value, list):
        return [to_json(item) for item in value]
    plain = {name: to_json(item) for name, item in value.items()}
    alone = next(iter(value)) if len(value) == 1 else None
    if alone in ("$numberInt", "$numberLong", "$numberDouble", "$binary") or "$literal" in value:
        return {"$literal": plain}  # E-6.9
    return plain

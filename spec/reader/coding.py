"""Bytes and their coding: checksums and varints (F-1), CBOR (E-1 to E-4), keys, maps (F-7); and refusals."""
import contextlib
import cbor2
import google_crc32c

I64, U64 = (1 << 63) - 1, (1 << 64) - 1

class Refused(Exception):  # by which clause, and at which offset in the file, once that is known
    def __init__(self, clause, kind="corrupt", at=None, what=""):
        super().__init__(clause, kind)
        self.clause, self.kind, self.at, self.what = clause, kind, at, what
    def __str__(self):
        return f"{self.kind} ({self.clause}) at offset {self.at}{self.what}"

def need(clause, *conditions, kind="corrupt", at=None):
    if not all(conditions):
        raise Refused(clause, kind, at)
@contextlib.contextmanager
def about(at, clause=None):  # what is refused within is at this place, unless at a closer one
    try:
        yield
    except Refused as refused:
        refused.at = at if refused.at is None else refused.at
        refused.clause = clause or refused.clause
        raise

def crc32c(*parts):  # F-1.3
    return google_crc32c.value(b"".join(parts))

class Cursor:  # reads from front to back, and never beyond its end
    def __init__(self, data, at=0, end=None, clause="F-6.1", most=I64):
        self.data, self.at, self.end = data, at, len(data) if end is None else end
        self.clause, self.most = clause, most  # broken beyond the end; the largest int (E-2.4, F-8.5)

    def take(self, n=None):  # all that is left, unless told otherwise
        n = self.end - self.at if n is None else n
        need(self.clause, n <= self.end - self.at)
        self.at += n
        return self.data[self.at - n : self.at]
    def varint(self, any_form=False):  # F-1.2, F-5.7
        n, shift, byte = 0, 0, 128
        while byte > 127 and shift < 70:
            byte = self.take(1)[0]
            n |= (byte & 127) << shift
            shift += 7
        shift = 7 if any_form else shift
        need("F-1.2", byte < 128, n <= U64, byte or shift == 7)
        return n
    def zigzag(self):  # F-8.4
        n = self.varint()
        return -(n + 1) // 2 if n % 2 else n // 2
    def cbor(self):  # E-1.2: one item, which has to be the encoding of what cbor2 reads there
        try:  # without the tags 28 and 29, by which few bytes stand for many
            value = cbor2.loads(self.data[self.at : self.end], semantic_decoders={28: Refused, 29: Refused})
        except cbor2.CBORDecodeError:
            raise Refused("E-1.2") from None
        in_subset(value, self.most)
        item = cbor2.dumps(value, canonical=True)
        need("E-1.2", self.data[self.at : self.end].startswith(item))
        self.at += len(item)
        return value

def in_subset(value, most, level=1):
    need("E-2.1", value is None or type(value) in (bool, int, float, str, bytes, list, dict))
    need("E-2.4", type(value) is not int or -I64 - 1 <= value <= most)
    if isinstance(value, (list, dict)):
        need("V-4.3", level <= 128)
        need("E-3.1", isinstance(value, list) or all(type(name) is str for name in value))
        for item in value if isinstance(value, list) else value.values():
            in_subset(item, most, level + 1)
def cbor_whole(data, kind, clause):
    cursor = Cursor(data)
    value = cursor.cbor()
    need("E-1.4", cursor.at == cursor.end)
    need(clause, isinstance(value, kind))
    return value
def valid_key(key):
    need("E-4.1", type(key) in (int, str, bytes))
    need("V-4.1", type(key) is int or len(key_order(key)[1]) <= 1024)
    return key
def key_order(key):  # V-3.8
    return (0, key) if isinstance(key, int) else (1, key.encode()) if isinstance(key, str) else (2, key)

def valid_name(entry):  # F-7.2
    need("F-7.2", isinstance(entry.get("name"), str) and 1 <= len(entry["name"].encode()) <= 255)
    return entry["name"]
def known_map(entry, known):  # F-7.3
    need("F-7.1", isinstance(entry, dict))
    names = entry.get("required", [])
    need("F-7.3", isinstance(names, list) and all(isinstance(name, str) for name in names))
    need("F-7.3", {*names} <= {"required", *known.split()}, kind="newer format")
    return entry

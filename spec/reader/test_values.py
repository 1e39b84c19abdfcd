"""What of a value is not about files: order, order keys, JSON and pointers; and the answers of the subject."""

import itertools
import json
import math
import unittest

import subject
import values
from coding import Refused
from values import compare, key_of_order_key, order_key, read_json

BIG = 1 << 53
# By V-3, from the first place to the last; what stands at one place is in one row.
PLACES = [
    [None],
    [False],
    [True],
    [math.nan],
    [-math.inf],
    [-1e300],
    [-(1 << 63)],
    [-BIG - 1],
    [-BIG, -float(BIG)],
    [-1, -1.0],
    [-5e-324],
    [0, 0.0, -0.0],
    [0.5],
    [BIG, float(BIG)],
    [BIG + 1],
    [(1 << 63) - 1],
    [math.inf],
    [""],
    ["\0"],
    ["a"],
    ["a\0"],
    ["ab"],
    ["é"],
    [b""],
    [b"\0"],
    [b"\0\xff"],
    [b"\xff"],
    [[]],
    [[None]],
    [[None, 1]],
    [[1], [1.0]],
    [{}],
    [{"b": 1}],
    [{"b": 1, "aa": 0}],
    [{"b": 2}],
    [{"aa": 0}],
]


class Order(unittest.TestCase):
    def test_each_pair_stands_as_the_text_says(self):
        for (place, row), (other, column) in itertools.product(enumerate(PLACES), repeat=2):
            for a, b in itertools.product(row, column):
                found = compare(a, b)
                self.assertEqual((found > 0) - (found < 0), (place > other) - (place < other), (a, b))

    def test_order_keys_are_in_the_order_of_their_values(self):
        keys = [[order_key(value) for value in row] for row in PLACES]
        for row in keys:
            self.assertEqual(len(set(row)), 1)
        first = [row[0] for row in keys]
        self.assertEqual(first, sorted(set(first)))
        for a, b in itertools.permutations(first, 2):
            self.assertFalse(a.startswith(b))

    def test_a_key_is_read_back_from_its_order_key(self):
        for key in (0, -1, BIG + 1, -(1 << 63), (1 << 63) - 1, "", "a\0b", "é", b"", b"\0\xff\0"):
            self.assertEqual(key_of_order_key(order_key(key).hex()), key)

    def test_what_is_no_order_key_of_a_key_is_refused(self):
        whole = order_key("a").hex()
        wrong = ["", "04", "05", "01", order_key(1.5).hex(), order_key(math.nan).hex(), order_key(math.inf).hex()]
        wrong += [order_key([]).hex(), whole[:-2], whole + "00", "05ff0000", "0561000000", "060000ff", "04" + "00" * 10]
        for text in wrong:
            with self.subTest(text=text), self.assertRaises(Refused):
                key_of_order_key(text)


class Json(unittest.TestCase):
    def test_both_modes_are_read_back(self):
        value = {"a": [1, 1 << 40, -(1 << 63), 1.5, -0.0, math.inf, "é\n", b"\1\2", None, True]}
        value["b"] = {"$numberInt": "5"}
        value["c"] = {"$literal": {"$binary": 1}, "d": {}}
        for mode in ("relaxed", "canonical"):
            text = values.write_json(value, mode)
            self.assertEqual(values.encoded(read_json(text.encode())), values.encoded(value), text)

    def test_each_breach_is_refused_by_its_clause(self):
        wrong = {
            "E-6.1": ["{", "[1,]", "NaN", "01", "1 2", "\ufeff1", "'a'", '"\x01"'],
            "E-6.2": ['{"a":1,"\\u0061":2}', '{"$literal":{"a":1,"a":2}}'],
            "E-6.3": ["9223372036854775808", "-9223372036854775809", "1" * 5000],
            "E-6.4": ["1e400", "-1e400"],
            "E-6.11": ['"\\ud800"', '{"\\udc00":1}'],
            "E-6.8": ['{"$numberInt":5}', '{"$numberInt":"05"}', '{"$numberInt":"2147483648"}', '{"$numberLong":"-0"}',
                      '{"$numberLong":"9223372036854775808"}', '{"$numberDouble":"inf"}', '{"$binary":"AQI="}',
                      '{"$binary":{"base64":"AQI","subType":"00"}}', '{"$binary":{"base64":"AQJ=","subType":"00"}}',
                      '{"$binary":{"base64":"AQI=","subType":"01"}}', '{"$literal":1}',
                      '{"$literal":{},"a":1}'],
            "V-4.3": ["[" * 100_000],
        }  # fmt: skip
        for clause, texts in wrong.items():
            for text in texts:
                with self.subTest(text=text[:40]), self.assertRaises(Refused) as caught:
                    read_json(text.encode())
                self.assertEqual(caught.exception.clause, clause, text[:40])

    def test_an_entry_has_a_key_and_a_document_and_no_more(self):
        self.assertEqual(values.read_entry(b'{"doc":{},"key":{"$numberLong":"7"}}'), (7, {}))
        for text in ('{"key":1}', '{"key":1,"doc":{},"x":1}', '{"key":1.0,"doc":{}}', '{"key":1,"doc":[]}', "1"):
            with self.subTest(text=text), self.assertRaises(Refused):
                values.read_entry(text.encode())


class Pointers(unittest.TestCase):
    def test_a_pointer_leads_through_objects_and_arrays(self):
        value = {"a": [{"b": 1}, 2], "": 3, "0": 4, "~1": {"/": 5}}
        found = {"/a/0/b": [1], "/a/1": [2], "": [value], "/": [3], "/0": [4], "/~01/~1": [5]}
        nowhere = ["/a/2", "/a/01", "/a/-1", "/a/-", "/x", "/0/0", "//"]
        for pointer, expected in {**found, **dict.fromkeys(nowhere, [])}.items():
            self.assertEqual(values.at_pointer(value, pointer), expected, pointer)

    def test_what_is_no_pointer_is_refused(self):
        for pointer in ("a", "a/b", "/~", "/~2", "/a~/b"):
            with self.subTest(pointer=pointer), self.assertRaises(Refused):
                values.at_pointer({}, pointer)


class Answers(unittest.TestCase):
    def test_a_request_is_answered_or_refused_and_never_ends_the_subject(self):
        answers = [
            ({"op": "decode_document", "bytes": "a16161f97e00"}, {"value": {"a": {"$numberDouble": "NaN"}}}),
            ({"op": "decode_document", "bytes": "a10101"}, {"rejected": {"clause": "E-3.1"}}),
            ({"op": "decode_document", "bytes": "a1616118"}, {"rejected": {}}),
            ({"op": "decode_key", "bytes": "6161"}, {"value": "a"}),
            ({"op": "compare", "a": "01", "b": "f93c00"}, {"order": "same", "equal": False}),
            ({"op": "get", "bytes": "a1616101", "pointer": "/a/0"}, {"none": True}),
            ({"op": "open_write", "file": "x"}, {"unsupported": True}),
            ({"op": "dance"}, {"unsupported": True}),
        ]
        for request, answer in answers:
            self.assertEqual(subject.answer(request), answer)
        for request in ({"op": "get"}, {"op": "open", "file": "/no/such/file"}, {"op": "decode_key", "bytes": "x"}):
            self.assertIn("error", subject.answer(request))

    def test_an_answer_is_json(self):
        self.assertEqual(json.loads(json.dumps(subject.answer({"op": "order_key", "bytes": "f6"}))), {"bytes": "01"})


if __name__ == "__main__":
    unittest.main()

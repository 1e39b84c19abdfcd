"""What the second reader makes of stores that are built by hand from the text."""

import ast
import contextlib
import io
import json
import pathlib
import tempfile
import unittest

import coding
import holotype_reader as reader
import values
from coding import Refused
from layout import NONE, OPENING, SYSTEM, WATERMARK, place
from recovery import Recovery
from store_builder import Builder, catalog, cbor, chunk, delete, lsn, opening, put, u64, varint

READER = ("coding", "layout", "checkpoint", "recovery", "holotype_reader")
CREATE = catalog(op="create", id=1, name="things")


def read(builder):
    """The documents of a store as {collection: {key: document}}."""
    found = {}
    recovery = Recovery(bytes(builder.data)).run()
    for collection in recovery.store.collections.values():
        found[collection.name] = {}
    for name, key, document in recovery.store.rows():
        found[name][key] = document
    return found


def with_things(**geometry):
    """A store that is open in incarnation 1, and has one collection by its commit (1, 2)."""
    builder = Builder(**geometry)
    builder.open(1)
    builder.commit(CREATE)
    return builder


class Refusals(unittest.TestCase):
    def refused(self, builder, kind, clause):
        data = builder if isinstance(builder, bytes) else bytes(builder.data)
        with self.assertRaises(Refused) as caught:
            recovery = Recovery(data).run()
            list(recovery.store.rows())
        self.assertEqual((caught.exception.kind, caught.exception.clause), (kind, clause))
        return caught.exception


class Checksum(unittest.TestCase):
    def test_the_crc_is_castagnolis(self):
        self.assertEqual(coding.crc32c(b"123456789"), 0xE3069283)
        self.assertEqual(coding.crc32c(b"1234", b"56789"), 0xE3069283)


class Varints(unittest.TestCase):
    def test_the_largest_varint_is_read_whole(self):
        for n in (0, 127, 128, 300, (1 << 64) - 1):
            self.assertEqual(coding.Cursor(varint(n)).varint(), n)

    def test_a_varint_is_refused_when_long_or_beyond_64_bits(self):
        for wrong in (b"\x80\x00", b"\xff" * 9 + b"\x02", b"\x80" * 10 + b"\x01", b"\x80"):
            with self.assertRaises(Refused):
                coding.Cursor(wrong).varint()


class Cbor(unittest.TestCase):
    def test_every_type_is_read_back(self):
        value = {"": None, "a": [True, False, -1, 23, 24, 1 << 62, -(1 << 63)], "b": b"\x00"}
        value["é"] = {"x": [0.1, 1.5, -0.0, 65504.0, 1e300]}
        read_back = coding.cbor_whole(cbor(value), dict, "E-3.4")
        texts = [json.dumps(values.to_json(v), sort_keys=True) for v in (value, read_back)]
        self.assertEqual(*texts)

    def test_each_breach_of_the_form_is_refused_by_its_clause(self):
        wrong = {
            "E-2.1": ["f7", "f820", "d81c00", "c074323031332d30332d32315432303a30343a30305a"],
            "E-1.2  ": ["9a00ffffff00", "4401", "", "9bffffffffffffffff", "7bffffffffffffffff"],
            "E-1.2": ["1817", "5817" + "00" * 23, "190010", "9fff", "5fff", "1c", "ff", "61ff", "c001"],
            "E-1.2 ": ["fa3fc00000", "fb3ff8000000000000", "f97e01", "fa7fc00000", "a2616201616101", "a2616101616101"],
            "E-2.4": ["1b8000000000000000", "3b8000000000000000", "c249010000000000000000"],
            "E-3.1": ["a10101"],
            "E-1.4": ["0101"],
            "V-4.3": ["81" * 129 + "01"],
        }
        for clause, items in wrong.items():
            for item in items:
                with self.subTest(item=item), self.assertRaises(Refused) as caught:
                    coding.cbor_whole(bytes.fromhex(item), object, "")
                self.assertEqual(caught.exception.clause, clause.strip(), item)

    def test_keys_are_ordered_ints_texts_bytes(self):
        keys = [b"", "b", 2, "", -3, b"a"]
        self.assertEqual(sorted(keys, key=coding.key_order), [-3, 2, "", "b", b"", b"a"])


class Json(unittest.TestCase):
    def test_what_json_cannot_say_is_wrapped(self):
        self.assertEqual(values.to_json(1 << 53), {"$numberLong": "9007199254740992"})
        self.assertEqual(values.to_json((1 << 53) - 1), (1 << 53) - 1)
        self.assertEqual(values.to_json(float("-inf")), {"$numberDouble": "-Infinity"})
        self.assertEqual(values.to_json(b"\x01\x02"), {"$binary": {"base64": "AQI=", "subType": "00"}})
        self.assertEqual(values.to_json({"$numberInt": "5"}), {"$literal": {"$numberInt": "5"}})
        self.assertEqual(values.to_json({"a": 1, "$literal": 2}), {"$literal": {"a": 1, "$literal": 2}})
        self.assertEqual(values.to_json({"a": 1, "$binary": 2}), {"a": 1, "$binary": 2})


class Superblock(Refusals):
    def test_an_empty_store_holds_nothing(self):
        self.assertEqual(read(Builder()), {})

    def test_one_valid_slot_is_enough(self):
        for at in (0, 4096):
            builder = with_things()
            builder.data[at + 100] ^= 1
            self.assertEqual(read(builder), {"things": {}})

    def test_the_higher_generation_is_the_newest(self):
        builder = Builder()
        builder.slot(2, durable=lsn(1, 10))
        self.refused(builder, "corrupt", "R-4.1")
        builder.slot(3)
        self.assertEqual(read(builder), {})

    def test_a_slot_in_the_place_of_the_other_is_not_valid(self):
        builder = Builder()
        builder.slot(7, durable=lsn(1, 10), index=0)
        self.assertEqual(read(builder), {})

    def test_a_newer_format_is_refused(self):
        for other in ({"major": 4}, {"checksum": 2}, {"incompatible": 1}):
            builder = Builder()
            builder.slot(2, **other)
            self.refused(builder, "newer format", "F-3.4")
        for major in (1, 2):
            builder = Builder()
            builder.slot(2, major=major)
            self.refused(builder, "older format", "F-3.4")

    def test_a_geometry_out_of_bounds_is_corrupt(self):
        for sector, size in ((32, 65536), (8192, 65536), (512, 2048), (512, 65537), (64, 1 << 27), (0, 0)):
            builder = Builder()
            builder.slot(2, sector=sector, segment_bytes=size)
            self.refused(builder, "corrupt", "F-2.1")

    def test_without_a_slot_the_file_is_corrupt_foreign_or_unfinished(self):
        builder = with_things()
        builder.data[100] ^= 1
        builder.data[4196] ^= 1
        self.refused(builder, "corrupt", "R-5.1")
        self.refused(b"a text of another kind" * 9, "not a store", "R-5.1")
        self.refused(b"", "incomplete", "R-5.1")
        self.refused(bytes(65536), "incomplete", "R-5.1")
        self.refused(b"HOLOTYPE" + bytes(65528), "incomplete", "R-5.1")
        self.refused(b"HOLOTYPE" + bytes(65536), "corrupt", "R-5.1")
        self.refused(b"HOLO", "corrupt", "R-5.1")
        self.refused(bytes(16384) + b"HLOG" + bytes(508), "incomplete", "R-5.1")
        for other in (b"\0O" + bytes(65534), bytes(16384) + b"HCPK" + bytes(508)):
            self.refused(other, "not a store", "R-5.1")


class Commits(Refusals):
    def test_commits_are_replayed_in_order(self):
        builder = with_things()
        builder.commit(put(1, 1, {"a": 1}), put(1, "k", {"b": 2.5}))
        builder.commit(put(1, 1, {"a": 2}), handed_over=False)
        builder.commit(delete(1, "k"), delete(1, "never"), handed_over=False)
        self.assertEqual(read(builder), {"things": {1: {"a": 2}}})

    def test_the_log_goes_on_in_the_successor(self):
        builder = with_things(segment_bytes=4096)
        for number in range(2, 6):
            builder.segment(first=lsn(1, number + 1))
            builder.commit(put(1, number, {}))
        self.assertEqual(read(builder), {"things": {n: {} for n in range(2, 6)}})

    def test_a_successor_counts_only_with_the_end_and_the_lsn_that_it_names(self):
        for wrong in ({"prev_end": 8}, {"first": lsn(1, 4)}):
            builder = with_things(segment_bytes=4096)
            builder.segment(**({"first": lsn(1, 3)} | wrong))
            builder.commit(put(1, 1, {}), base=2)
            self.assertEqual(read(builder), {"things": {}})

    def test_a_successor_is_looked_for_everywhere_when_none_is_named(self):
        builder = with_things(segment_bytes=4096, segments=4, successors=(NONE, NONE))
        builder.segment(first=lsn(1, 3), index=3)
        builder.commit(put(1, 1, {}))
        self.assertEqual(read(builder), {"things": {1: {}}})

    def test_a_commit_may_have_parts_in_several_segments(self):
        builder = with_things(segment_bytes=4096)
        builder.commit(put(1, 1, {}), last=False)
        builder.frame(lsn(1, 3), [put(1, 2, {})], part=1, last=False, handed_over=False)
        builder.segment(first=lsn(1, 3))
        builder.frame(lsn(1, 3), [put(1, 3, {})], part=2, handed_over=False)
        self.assertEqual(read(builder), {"things": {1: {}, 2: {}, 3: {}}})

    def test_a_commit_without_its_last_part_never_was(self):
        builder = with_things()
        builder.commit(put(1, 1, {}), last=False)
        builder.frame(lsn(1, 3), [put(1, 2, {})], part=1, last=False, handed_over=False)
        self.assertEqual(read(builder), {"things": {}})

    def test_parts_out_of_order_never_were(self):
        builder = with_things()
        builder.commit(put(1, 1, {}), last=False)
        builder.frame(lsn(1, 3), [put(1, 2, {})], part=2, handed_over=False)
        self.assertEqual(read(builder), {"things": {}})

    def test_watermarks_and_unknown_kinds_change_nothing(self):
        builder = with_things()
        builder.commit(flags=SYSTEM | WATERMARK, lag=1)
        builder.commit((200, 0xFF, 1, b"anything"), (8, 0, 0, u64(5)))
        self.assertEqual(read(builder), {"things": {}})

    def test_expiry_extension_and_replaced_version_are_stepped_over(self):
        builder = with_things()
        (at,) = builder.commit(put(1, 1, {}))
        kind, _, collection, rest = put(1, 1, {})
        builder.commit((kind, 7, collection, varint(4 * at) + u64(5) + varint(3) + b"xyz" + rest))
        kind, _, collection, rest = chunk(1, 1, 0, b"part")
        builder.commit((kind, 1, collection, varint(702) + varint(1) + varint(9) + varint(3) + rest))
        self.assertEqual(read(builder), {"things": {1: {}}})

    def test_a_relocated_put_replaces_only_the_version_that_it_moved(self):
        for still in (True, False):
            builder = with_things()
            (address,) = builder.commit(put(1, 1, {"v": 1}))
            if not still:
                builder.commit(put(1, 1, {"v": 3}))
            _, _, _, rest = put(1, 1, {"v": 2})
            builder.commit((3, 1, 1, u64(lsn(1, 3)) + varint(4 * address) + rest), flags=SYSTEM)
            if still:
                self.assertEqual(read(builder), {"things": {1: {"v": 2}}})
            else:
                self.refused(builder, "corrupt", "R-9.2")

    def test_a_frame_at_a_header_that_would_cross_a_sector_moves_to_the_next(self):
        self.assertEqual([place(at, 64) for at in (0, 1, 32, 33, 40, 64)], [0, 8, 32, 64, 64, 64])


class Contents(Refusals):
    """R-2.7: what the checksums vouch for and the text forbids."""

    def commits(self, *records, **other):
        builder = with_things()
        builder.commit(*records, **other)
        return builder

    def test_corrupt_contents_are_reported_with_their_clause(self):
        key = cbor(1)
        wrong = [
            ("F-6.3", (0, 0, 1, b"")),
            ("F-6.1", put(1 << 32, 1, {})),
            ("F-6.3", (2, 0, 1, key + b"x")),
            ("F-6.3", (8, 0, 0, b"1234567")),
            ("F-6.4", (2, 8, 1, key)),
            ("F-6.6", (2, 1, 1, varint(1 << 57) + key)),
            ("F-6.6", (2, 1, 1, varint(3) + varint(0) + key)),
            ("F-6.6", (2, 1, 9, varint(6) + varint(1) + varint(5) + varint(0) + key)),
            ("F-6.6", (2, 1, 9, varint(6) + varint(2) + varint(5) + varint(1) + varint(5) + varint(1) + key)),
            ("F-6.8", (3, 0, 9, u64(0) + key + cbor({}))),
            ("R-9.2", (2, 1, 1, varint(400) + key)),
            ("F-6.1", (1, 2, 1, b"1234567")),
            ("E-4.1", (1, 0, 1, cbor(1.5) + cbor({}))),
            ("V-4.1", put(1, "k" * 1025, {})),
            ("E-3.4", put(1, 1, cbor([]))),
            ("E-1.4", put(1, 1, cbor({}) + b"\x00")),
            ("F-7.1", catalog(id=1)),
            ("F-7.1", catalog(op="drop", id=2)),
            ("F-7.2", catalog(op="drop")),
            ("F-7.2", catalog(op="create", id=1, name="again")),
            ("F-7.2", catalog(op="create", id=2, name="")),
            ("F-7.2", catalog(op="create", id=2, name="x" * 256)),
            ("F-7.2", catalog(op="create", id=1 << 32, name="x")),
            ("F-7.1", catalog(op="create", id=2, name="things")),
            ("F-7.3", catalog(op="drop", id=1, required=5)),
        ]
        for clause, record in wrong:
            with self.subTest(record=record):
                self.refused(self.commits(record), "corrupt", clause)

    def test_a_newer_format_is_told_from_damage(self):
        for clause, record in [
            ("F-6.3", (9, 0, 0, b"")),
            ("F-6.3", (127, 0, 0, b"")),
            ("F-6.4", put(1, 1, {}, flags=16)),
            ("F-6.4", put(1, 1, {}, flags=64)),
            ("F-7.1", catalog(op="merge")),
            ("F-7.3", catalog(op="drop", id=1, required=["soon"], soon=True)),
        ]:
            with self.subTest(record=record):
                self.refused(self.commits(record), "newer format", clause)
        self.refused(self.commits(flags=16), "newer format", "F-5.7")
        self.assertEqual(read(self.commits(catalog(op="drop", id=1, required=["id"], new=1))), {})

    def test_the_commit_field_must_be_that_of_the_frame(self):
        self.refused(self.commits(put(1, 1, {}), base=2), "corrupt", "F-6.1")

    def test_nothing_follows_from_an_opening_record_elsewhere_or_from_flags_that_differ(self):
        self.assertEqual(read(self.commits(opening(0, 0), put(1, 1, {}))), {"things": {1: {}}})
        builder = self.commits(last=False)
        builder.frame(lsn(1, 3), [put(1, 1, {})], part=1, flags=SYSTEM)
        self.assertEqual(read(builder), {"things": {1: {}}})


class Collections(Refusals):
    def test_a_dropped_collection_is_gone_and_its_name_free(self):
        builder = with_things()
        builder.commit(put(1, 1, {}), catalog(op="drop", id=1), catalog(op="create", id=2, name="things"))
        self.assertEqual(read(builder), {"things": {}})

    def test_a_cleared_collection_goes_on_under_its_new_id(self):
        builder = with_things()
        builder.commit(put(1, 1, {}), catalog(op="clear", id=1, new=2), put(1, 2, {}), put(2, 3, {}))
        self.assertEqual(read(builder), {"things": {3: {}}})

    def test_a_renamed_collection_keeps_its_documents(self):
        builder = with_things()
        builder.commit(put(1, 1, {}), catalog(op="rename", id=1, name="other"))
        self.assertEqual(read(builder), {"other": {1: {}}})

    def test_a_record_before_its_collection_is_dead(self):
        builder = Builder()
        builder.open(1)
        builder.commit(put(1, 1, {}), put(0, 1, {}), CREATE, put(1, 2, {}))
        self.assertEqual(read(builder), {"things": {2: {}}})


class Chunks(Refusals):
    def chunked(self, spoil=None):
        builder = with_things()
        document = cbor({"text": "x" * 100})
        pieces = [chunk(1, 7, 0, document[:60]), chunk(1, 7, 1, document[60:])]
        if spoil == "key":
            pieces[1] = chunk(1, 8, 1, document[60:])
        if spoil == "number":
            pieces[1] = chunk(1, 7, 2, document[60:])
        addresses = builder.commit(*pieces, last=False)
        if spoil == "address":
            addresses[1] += 8
        length = len(document) + (spoil == "length")
        body = varint(length) + varint(2) + b"".join(map(u64, addresses))
        builder.frame(lsn(1, 3), [put(1, 7, body, flags=8)], part=1)
        return builder

    def test_a_document_in_chunks_is_put_together(self):
        self.assertEqual(read(self.chunked()), {"things": {7: {"text": "x" * 100}}})

    def test_a_chunk_list_that_is_wrong_is_corrupt(self):
        for spoil in ("key", "number", "address", "length"):
            with self.subTest(spoil=spoil):
                self.refused(self.chunked(spoil), "corrupt", "F-6.7")


class Openings(Refusals):
    def test_an_opening_frame_continues_the_log(self):
        builder = with_things()
        builder.open(4)
        builder.commit(put(1, 1, {}))
        self.assertEqual(read(builder), {"things": {1: {}}})

    def test_no_commit_comes_before_the_first_opening_frame(self):
        builder = Builder()
        builder.commit(CREATE)
        self.refused(builder, "corrupt", "R-2.2")
        builder.data[builder.places[-1][0]] ^= 1
        self.assertEqual(read(builder), {})

    def test_an_opening_record_of_another_commit_than_its_frame_is_corrupt(self):
        builder = with_things()
        record = opening(builder.last, builder.address())
        builder.frame(lsn(2, 1), [record], flags=OPENING | SYSTEM, base=0)
        self.refused(builder, "corrupt", "F-6.1")

    def test_a_frame_with_the_opening_flag_is_no_part_of_another_commit(self):
        builder = with_things()
        builder.commit(put(1, 1, {}), flags=OPENING)
        self.refused(builder, "corrupt", "F-6.5")
        builder = with_things()
        builder.commit(put(1, 1, {}), last=False)
        builder.frame(lsn(1, 3), [put(1, 2, {})], part=1, flags=OPENING)
        self.refused(builder, "corrupt", "F-6.5")
        builder.data[builder.places[-1][0] + 4] ^= 1
        self.assertEqual(Recovery(bytes(builder.data)).run().end.lsn, lsn(1, 2))

    def test_an_opening_frame_of_two_records_is_corrupt(self):
        builder = with_things()
        record = opening(builder.last, builder.address())
        builder.frame(lsn(2, 1), [record, record], flags=OPENING | SYSTEM, base=1)
        self.refused(builder, "corrupt", "F-6.5")

    def test_an_opening_frame_without_an_opening_record_is_corrupt(self):
        for records in ([], [delete(1, 1)]):
            builder = with_things()
            builder.frame(lsn(2, 1), records, flags=OPENING | SYSTEM, base=1)
            self.refused(builder, "corrupt", "F-6.5")

    def test_a_flag_that_is_not_known_refuses_the_opening_frame_that_continues_the_log_alone(self):
        for names, code in ((0, "newer format"), (1, None)):
            builder = with_things()
            record = opening(builder.last + names, builder.address())
            builder.frame(lsn(2, 1), [record], flags=OPENING | SYSTEM | 16, base=1)
            if code:
                self.refused(builder, code, "F-5.7")
                builder.data[builder.places[-1][0] + 4] ^= 1
            self.assertEqual(Recovery(bytes(builder.data)).run().end.lsn, lsn(1, 2))

    def test_an_opening_frame_of_a_newer_format_is_refused(self):
        for record in ((15, 0, 0, b""), (7, 128, 0, u64(lsn(1, 2)) + u64(1096))):
            builder = with_things()
            builder.frame(lsn(2, 1), [record], flags=OPENING | SYSTEM, base=1)
            self.refused(builder, "newer format", "F-6.3" if record[0] == 15 else "F-6.4")
            builder.data[builder.places[-2][0]] ^= 1
            self.assertEqual(Recovery(bytes(builder.data)).run().end.lsn, lsn(1, 1))

    def test_an_opening_record_that_cannot_be_read_is_corrupt(self):
        for rest in (b"123", u64(lsn(1, 2)) + u64(1096) + b"x"):
            builder = with_things()
            builder.frame(lsn(2, 1), [(7, 0, 0, rest)], flags=OPENING | SYSTEM, base=1)
            self.refused(builder, "corrupt", "F-6.3")

    def test_an_opening_frame_is_the_only_part_of_the_first_commit_of_its_incarnation(self):
        for number, other in ((lsn(2, 2), {}), (lsn(2, 1), {"part": 1}), (lsn(2, 1), {"last": False})):
            builder = with_things()
            record = opening(builder.last, builder.address())
            builder.frame(number, [record], flags=OPENING | SYSTEM, base=1, **other)
            self.refused(builder, "corrupt", "F-6.5")

    def test_an_opening_frame_may_be_the_first_of_the_successor(self):
        builder = with_things(segment_bytes=4096)
        named = builder.address()
        builder.segment(first=lsn(2, 1))
        builder.open(2, at=named)
        builder.commit(put(1, 1, {}))
        self.assertEqual(read(builder), {"things": {1: {}}})

    def test_an_opening_frame_that_names_another_place_continues_nothing(self):
        builder = with_things()
        builder.open(2, at=8)
        self.assertEqual(read(builder), {"things": {}})

    def test_an_opening_frame_that_names_another_commit_shows_that_one_is_lost(self):
        builder = with_things()
        builder.open(2, named=lsn(1, 3))
        self.refused(builder, "corrupt", "R-4.1")

    def test_the_highest_incarnation_wins_over_the_commit_that_was_cut(self):
        builder = with_things(sector=64, segment_bytes=4096)
        x, last = builder.at, builder.last
        builder.commit(put(1, "cut", {}), handed_over=False)
        builder.at, builder.last = x, last
        builder.open(2)
        self.assertLess(place(x, 64), builder.places[-1][0] - 16384)
        builder.commit(put(1, "kept", {}))
        self.assertEqual(read(builder), {"things": {"kept": {}}})

    def test_an_opening_frame_is_found_behind_a_commit_of_which_a_part_is_missing(self):
        builder = with_things(sector=64, segment_bytes=4096)
        x, last = builder.at, builder.last
        builder.commit(put(1, "cut", {}), last=False, handed_over=False)
        builder.at, builder.last = x, last
        builder.open(2)
        self.assertEqual(read(builder), {"things": {}})


class DeadEnd(Refusals):
    """R-4.1, each decision, and what counts as a claim."""

    def torn(self, lag=NONE, **other):
        """A lost commit (1, 3), and behind it a whole one (1, 4) that states something by its lag."""
        builder = with_things(**other)
        builder.commit(put(1, 1, {}))
        at, length = builder.places[-1]
        builder.commit(put(1, 2, {}), lag=lag)
        builder.data[at : at + length] = bytes(length)
        return builder

    def test_a_file_shorter_than_its_slot_says_is_corrupt(self):
        builder = with_things()
        self.refused(bytes(builder.data[:-1]), "corrupt", "R-4.1")

    def test_a_tail_that_nobody_claims_is_dropped(self):
        self.assertEqual(read(self.torn()), {"things": {}})
        self.assertEqual(read(self.torn(lag=2)), {"things": {}})

    def test_a_tail_that_a_frame_claims_is_corrupt(self):
        error = self.refused(self.torn(lag=1), "corrupt", "R-4.1")
        self.assertIn("claims (1, 3)", str(error))

    def test_a_frame_claims_even_when_its_body_is_damaged(self):
        builder = self.torn(lag=1)
        at, length = builder.places[-1]
        builder.data[at + length - 1] ^= 1
        self.refused(builder, "corrupt", "R-4.1")
        builder.data[at + 5] ^= 1
        self.assertEqual(read(builder), {"things": {}})

    def test_a_torn_tail_of_each_kind_is_dropped(self):
        for spoil in ("header", "body", "sector"):
            builder = with_things()
            builder.commit(put(1, 1, {"fill": "x" * 2000}))
            at, length = builder.places[-1]
            if spoil == "sector":
                builder.data[at + 512 : at + 1024] = bytes(512)
            else:
                builder.data[at + (9 if spoil == "header" else length - 1)] ^= 1
            self.assertEqual(read(builder), {"things": {}})

    def test_the_slot_claims_what_it_says_is_durable(self):
        for durable, lost in ((1, False), (2, True)):
            builder = self.torn()
            builder.slot(2, durable=lsn(1, durable + 1))
            if lost:
                self.refused(builder, "corrupt", "R-4.1")
            else:
                self.assertEqual(read(builder), {"things": {}})

    def test_the_claims_of_an_older_incarnation_than_the_slots_do_not_count(self):
        builder = self.torn(lag=1)
        builder.slot(2, durable=lsn(1, 2), incarnation=2)
        self.assertEqual(read(builder), {"things": {}})

    def test_an_opening_frame_claims_what_it_names(self):
        builder = with_things()
        builder.commit(put(1, 1, {}))
        at, length = builder.places[-1]
        builder.open(2)
        builder.data[at : at + length] = bytes(length)
        self.refused(builder, "corrupt", "R-4.1")
        builder.data[builder.places[-1][0] + 40] ^= 1
        self.assertEqual(read(builder), {"things": {}})

    def test_a_frame_with_an_unknown_flag_claims_nothing(self):
        builder = with_things()
        builder.at += 1024
        builder.frame(lsn(1, 4), [], lag=1, flags=SYSTEM | 64)
        self.assertEqual(read(builder), {"things": {}})


class Chain(Refusals):
    """R-3.3 to R-3.5."""

    def lost(self, segments, header_durable=0, lag=NONE):
        """Commit (1, 3) is lost; segments follow with one commit each, the last of which claims something."""
        builder = with_things(segment_bytes=4096)
        builder.commit(put(1, 1, {}))
        at, length = builder.places[-1]
        for number in range(segments):
            final = number == segments - 1
            builder.segment(first=builder.last + 1, durable=header_durable if final else 0)
            builder.commit(put(1, 5, {}), lag=lag if final else NONE)
        builder.data[at : at + length] = bytes(length)
        return builder

    def spoil(self, builder, *indexes):
        for index in indexes:
            builder.data[16384 + index * 4096 + 9] ^= 1
        return builder

    def test_a_segment_header_claims(self):
        self.refused(self.lost(2, header_durable=lsn(1, 3)), "corrupt", "R-4.1")
        self.assertEqual(read(self.lost(2, header_durable=lsn(1, 2))), {"things": {}})

    def test_a_damaged_header_in_the_chain_is_passed(self):
        self.refused(self.spoil(self.lost(2, lag=1), 1), "corrupt", "R-4.1")

    def test_a_segment_of_a_damaged_header_is_searched_for_frames(self):
        self.refused(self.spoil(self.lost(1, lag=1), 1), "corrupt", "R-4.1")

    def test_the_chain_ends_at_the_second_damaged_header_in_a_row(self):
        self.refused(self.spoil(self.lost(2, lag=1), 1, 2), "corrupt", "R-4.1")
        self.assertEqual(read(self.spoil(self.lost(3, lag=1), 1, 2)), {"things": {}})

    def test_two_damaged_headers_with_a_whole_one_between_are_passed(self):
        self.refused(self.spoil(self.lost(4, lag=1), 1, 3), "corrupt", "R-4.1")

    def test_without_a_named_successor_every_header_is_looked_at(self):
        for durable, lost in ((lsn(1, 3), True), (lsn(1, 2), False)):
            builder = with_things(segment_bytes=4096, segments=4, successors=(NONE, NONE))
            builder.segment(first=lsn(1, 4), durable=durable, index=3)
            if lost:
                self.refused(builder, "corrupt", "R-4.1")
            else:
                self.assertEqual(read(builder), {"things": {}})

    def test_a_damaged_header_where_the_log_goes_on_is_corrupt_once_claimed(self):
        builder = with_things(segment_bytes=4096)
        for number in (2, 3):
            builder.segment(first=lsn(1, number + 1), durable=lsn(1, number))
            builder.commit(put(1, number, {}))
        self.refused(self.spoil(builder, 1), "corrupt", "R-4.1")

    def test_the_header_of_segment_0_is_known_though_damaged(self):
        builder = with_things(segment_bytes=4096)
        builder.segment(first=lsn(1, 3))
        builder.commit(put(1, 1, {}))
        self.assertEqual(read(self.spoil(builder, 0)), {"things": {1: {}}})

    def test_the_claim_behind_damaged_headers_of_segments_0_and_1_is_found(self):
        builder = with_things(segment_bytes=4096)
        for number in (3, 4):
            builder.segment(first=lsn(1, number), durable=lsn(1, number - 1))
            builder.commit(put(1, number, {}))
        self.refused(self.spoil(builder, 0, 1), "corrupt", "R-4.1")

    def test_a_frame_may_not_reach_beyond_the_file(self):
        builder = with_things()
        builder.slot(2, file_len=0)
        at, length = builder.places[-1]
        self.assertEqual(Recovery(bytes(builder.data[: at + length])).run().end.lsn, lsn(1, 2))
        self.assertEqual(Recovery(bytes(builder.data[: at + length - 1])).run().end.lsn, lsn(1, 1))


class Size(unittest.TestCase):
    def test_the_reader_has_at_most_766_lines_of_any_kind(self):
        """Blank lines and comments included; without tests, indexes, the subject and what only these need."""
        here = pathlib.Path(reader.__file__).parent
        pages = [(here / f"{page}.py").read_text().splitlines() for page in READER]
        self.assertLessEqual(sum(map(len, pages)), 766)
        self.assertLessEqual(max(len(line) for page in pages for line in page), 110)

    def test_no_page_of_the_reader_needs_another_file_of_this_folder(self):
        here = pathlib.Path(reader.__file__).parent
        for page in READER:
            for node in ast.walk(ast.parse((here / f"{page}.py").read_text())):
                names = [node.module] if isinstance(node, ast.ImportFrom) else []
                names += [name.name for name in node.names] if isinstance(node, ast.Import) else []
                for name in names:
                    self.assertTrue(name in (*READER, "indexes") or not (here / f"{name}.py").exists(), f"{page} needs {name}")


class Output(unittest.TestCase):
    def test_dump_writes_rows_in_the_order_of_names_and_keys(self):
        builder = Builder()
        builder.open(1)
        builder.commit(catalog(op="create", id=1, name="b"), catalog(op="create", id=2, name="a"))
        builder.commit(put(1, 1, {"x": 1}), put(2, "k", {}), put(2, b"\x00", {}), put(2, -1, {"f": 1.0}))
        out = io.StringIO()
        reader.dump(bytes(builder.data), out)
        rows = [
            '{"collection":"a","key":-1,"doc":{"f":1.0}}',
            '{"collection":"a","key":"k","doc":{}}',
            '{"collection":"a","key":{"$binary":{"base64":"AA==","subType":"00"}},"doc":{}}',
            '{"collection":"b","key":1,"doc":{"x":1}}',
        ]
        self.assertEqual(out.getvalue().splitlines(), rows)

    def test_what_was_accepted_before_a_damage_is_at_hand(self):
        builder = with_things()
        builder.slot(2, durable=lsn(1, 6))
        recovery = Recovery(bytes(builder.data))
        with self.assertRaises(Refused):
            recovery.run()
        self.assertEqual((recovery.end.lsn, len(recovery.log)), (lsn(1, 2), 2))

    def test_a_refusal_says_the_clause_and_the_offset(self):
        builder = with_things()
        builder.slot(2, durable=lsn(1, 6))
        with tempfile.NamedTemporaryFile() as file:
            file.write(builder.data)
            file.flush()
            with contextlib.redirect_stderr(io.StringIO()) as said:
                self.assertEqual(reader.main([file.name]), 4)
        self.assertIn("R-4.1", said.getvalue())
        self.assertIn("at offset 17480", said.getvalue())


if __name__ == "__main__":
    unittest.main()

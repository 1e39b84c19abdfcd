"""What the second reader makes of checkpoints, and of segments that were cleaned and given out again."""

import random
import struct
import unittest

from checkpoint import Checkpoint
from coding import Refused, crc32c
from indexed import Indexed
from layout import SYSTEM, Image, newest_slot
from recovery import Recovery
from store_builder import LEAF, PAGE, ROOT, Records, catalog, cbor, checkpoint, chunk, delete, entry, leaf, lsn, named, put
from store_builder import to_place, u32, u64, varint
from test_reader import Refusals, read, with_things


def relocated(collection, key, document, own, replaced, flags=0):
    _, _, _, rest = put(collection, key, document)
    return 3, flags | 1, collection, u64(own) + replaced + rest


def freed(sequence, index):
    return 6, 0, 0, u64(sequence) + u32(index)


def value(address, chunked=False, moved=False):
    return 4 * address + 2 * chunked + moved


def with_checkpoint(**geometry):
    """A store with the documents 1 and 2, and a checkpoint of them in segment 6."""
    builder = with_things(segment_bytes=4096, segments=8, **geometry)
    addresses = builder.commit(put(1, 1, {"v": 1}), put(1, 2, {"v": 2}))
    builder.reference = checkpoint(builder, 6, *((n, value(a)) for n, a in zip((1, 2), addresses)))
    builder.addresses = addresses
    builder.slot(2, durable=builder.last, checkpoints=[builder.reference])
    return builder


BOTH = {"things": {1: {"v": 1}, 2: {"v": 2}}}


class Starts(Refusals):
    def spoil(self, builder, index=6):
        builder.data[16384 + index * 4096 + 512 + 9] ^= 1
        return builder

    def lose_the_log(self, builder):
        """Break the first frame, so that nothing can be replayed from the creation of the store."""
        builder.data[builder.places[0][0]] ^= 1
        return builder

    def test_recovery_starts_from_the_checkpoint(self):
        builder = self.lose_the_log(with_checkpoint())
        self.assertEqual(read(builder), BOTH)
        builder.commit(put(1, 1, {"v": 3}), delete(1, 2), put(1, 9, {}))
        builder.commit(catalog(op="create", id=2, name="more"), put(2, 1, {}))
        self.assertEqual(read(builder), {"things": {1: {"v": 3}, 9: {}}, "more": {1: {}}})

    def test_a_checkpoint_that_was_written_anew_is_read_unless_what_was_changed_counts(self):
        for field, reads in (("commit", True), ("collection", False)):
            builder = self.lose_the_log(with_checkpoint())
            indexed = Indexed(Recovery(bytes(builder.data)).run().checkpoint, [], [1])
            indexed.copy(builder.data, random.Random(1), "index record: leaf", field)
            for at in (0, 4096):
                builder.data[at + 508 : at + 512] = u32(crc32c(builder.data[at : at + 508]))
            self.spoil(builder)
            self.assertEqual(read(builder), BOTH) if reads else self.refused(builder, "corrupt", "R-4.1")

    def test_an_id_that_a_checkpoint_gave_is_not_given_again(self):
        builder = with_checkpoint()
        builder.commit(catalog(op="create", id=1, name="more"))
        self.refused(builder, "corrupt", "F-7.2")

    def test_a_checkpoint_that_cannot_be_read_is_replaced_by_the_one_before(self):
        builder = self.lose_the_log(with_checkpoint())
        (address,) = builder.commit(put(1, 3, {"v": 3}))
        entries = [(1, value(builder.addresses[0])), (3, value(address))]
        newest = checkpoint(builder, 4, *entries)
        builder.slot(3, durable=builder.last, checkpoints=[newest, builder.reference])
        self.assertEqual(read(builder), {"things": {1: {"v": 1}, 3: {"v": 3}}})
        self.assertEqual(read(self.spoil(builder, 4)), {"things": {1: {"v": 1}, 2: {"v": 2}, 3: {"v": 3}}})
        self.refused(self.spoil(builder, 6), "corrupt", "F-8.12")

    def test_an_only_checkpoint_that_cannot_be_read_is_replaced_by_the_whole_log(self):
        self.assertEqual(read(self.spoil(with_checkpoint())), BOTH)
        self.refused(self.lose_the_log(self.spoil(with_checkpoint())), "corrupt", "R-4.1")

    def test_what_a_reservation_says_stands_in_for_a_damaged_header(self):
        builder = with_checkpoint()
        builder.segment(first=builder.last + 1)
        builder.commit(put(1, 3, {}))
        builder.data[16384 + 9] ^= 1
        self.assertEqual(read(self.lose_the_log(builder)), {"things": BOTH["things"] | {3: {}}})

    def test_a_reservation_of_what_is_in_use_or_far_away_is_corrupt(self):
        for successors in ((6, 7), (0, 2), (2, 2), (2, 1 << 20)):
            builder = with_checkpoint()
            builder.next, builder.after = successors
            builder.sequence, builder.prev_end = 0, 0
            builder.header()
            self.refused(builder, "corrupt", "R-8.1")

    def test_the_log_goes_on_in_a_later_incarnation_of_its_segment(self):
        builder = with_things(segment_bytes=4096, segments=8)
        (before,) = builder.commit(put(1, 1, {"v": 1}))
        builder.open(5)
        (after,) = builder.commit(put(1, 2, {"v": 2}))
        reference = checkpoint(builder, 6, (1, value(before)), (2, value(after)))
        builder.slot(2, durable=builder.last, checkpoints=[reference], incarnation=5)
        builder.commit(put(1, 3, {}))
        self.assertEqual(read(builder), {"things": BOTH["things"] | {3: {}}})

    def test_a_reference_out_of_bounds_is_corrupt_whichever_slot_has_it(self):
        fits = lsn(1, 3), 3, 512, 0, 0, 0, 512, 9, lsn(1, 3)
        for change in ({0: 0}, {2: 8}, {2: 516}, {2: 4096}, {7: 8}, {7: 3585}, {6: 508}, {6: 516}, {6: 4104}, {5: 1 << 43}):
            builder = with_things(segment_bytes=4096)
            named = struct.pack("<QIIIIQIIQ", *(change.get(n, said) for n, said in enumerate(fits)))
            builder.slot(1, checkpoints=[named])
            builder.slot(2)
            self.refused(builder, "corrupt", "F-3.2")

    def test_an_entry_that_leads_to_something_else_is_a_corrupt_document(self):
        builder = with_checkpoint()
        one, two = builder.addresses
        for wrong in ((1, value(two)), (2, value(one)), (1, value(one + 8))):
            builder.slot(4, durable=builder.last, checkpoints=[checkpoint(builder, 5, wrong)])
            self.assertIn(self.refused_document(builder), ("F-8.4", "F-6.1"))

    def test_an_entry_that_leads_beyond_the_end_of_the_log_damages_its_checkpoint(self):
        builder = with_checkpoint()
        beyond = checkpoint(builder, 5, (1, value(builder.addresses[0] + (9 << 12))))
        builder.slot(4, durable=builder.last, checkpoints=[beyond])
        self.assertEqual(read(builder), BOTH)
        self.refused(self.lose_the_log(builder), "corrupt", "R-4.1")

    def refused_document(self, builder):
        recovery = Recovery(bytes(builder.data)).run()
        with self.assertRaises(Refused) as caught:
            list(recovery.store.rows())
        return caught.exception.clause

    def test_a_map_that_requires_something_unknown_refuses_the_file(self):
        builder = with_things(segment_bytes=4096, segments=8)
        for root, collection in (({"required": ["x"]}, {}), ({}, {"required": ["x"]})):
            named = {"id": 1, "name": "things", "next": 1, "count": 0, "tree": b"", "other": [1.5]} | collection
            reference = Records(builder, 3).finish([named], other=True, **root)
            builder.slot(2, durable=builder.last, checkpoints=[reference])
            self.refused(builder, "newer format", "F-7.3")


class Trees(Refusals):
    """F-8, one flaw at a time."""

    def setUp(self):
        self.builder = with_things(segment_bytes=4096, segments=8)
        self.records = Records(self.builder, 3)
        self.things = {"id": 1, "name": "things", "next": 100, "count": 0, "tree": b""}

    def fresh(self):
        self.setUp()
        return self.records

    def checkpoint(self, *collections, **other):
        reference = self.records.finish(collections or [self.things], **other)
        self.builder.slot(2, durable=self.builder.last, checkpoints=[reference])
        data = bytes(self.builder.data)
        slot = newest_slot(data)
        return Checkpoint(Image(data, slot), slot.checkpoints[0])

    def opened(self, *collections, **other):
        return self.checkpoint(*collections, **other).whole()

    def entries(self, *collections):
        return self.opened(*collections).collections[0][3]

    def tree(self, tree, count):
        return self.things | {"tree": tree, "count": count}

    def damaged(self, clause, *collections, **other):
        """The root is: so the checkpoint holds no place."""
        with self.assertRaises(Refused) as caught:
            self.checkpoint(*collections, **other)
        self.assertEqual(caught.exception.clause, clause)

    def damaged_below(self, clause, *collections, **other):
        """The root is not, but a directory page or a leaf is."""
        checkpoint = self.checkpoint(*collections, **other)
        with self.assertRaises(Refused) as caught:
            checkpoint.whole()
        self.assertEqual(caught.exception.clause, clause)
        self.assertEqual(checkpoint.held, {3})

    def test_keys_of_every_sort_are_read_back(self):
        keys = [-(1 << 63), -5, 0, 1, 99, "", "user:10", "user:9", "é", b"", b"\x00", b"\x00\x01"]
        entries = [(key, 4 + (n * 0x9E37_79B9_7F4A) % 4000) for n, key in enumerate(keys)]
        self.assertEqual(self.entries(self.tree(self.records.tree(*entries), len(keys))), entries)

    def test_trees_of_several_pages_and_leaves_are_read_in_order(self):
        records = self.records
        leaves = [records.leaf(*entries) for entries in ([(1, 4), (9, 8)], [(10, 4)], [(20, 4), ("a", 4)], [("k", 4), (b"", 4)])]
        tree = records.page(1, 3, *leaves[:2]) + records.page(20, 4, *leaves[2:])
        self.assertEqual([key for key, _ in self.entries(self.tree(tree, 7))], [1, 9, 10, 20, "a", "k", b""])

    def test_an_age_counts_from_the_record_that_has_the_entry(self):
        records = self.records
        pages = []
        for key, page, ages in ((1, 2, (1, 0)), (5, 1, (0, 2)), (9, 0, (1, 0))):
            leaves = [records.leaf((key + n, 4), age=age, page_age=page) for n, age in enumerate(ages)]
            pages.append(records.page(key, 2, *leaves, age=page))
        self.assertEqual([key for key, _ in self.entries(self.tree(b"".join(pages), 6))], [1, 2, 5, 6, 9, 10])
        records = self.fresh()
        from_the_root = records.leaf((1, 4), age=2)
        self.damaged_below("F-8.12", self.tree(records.page(1, 1, from_the_root, age=1), 1))

    def test_an_age_is_below_the_lsn_of_the_record_that_has_the_entry(self):
        for age, clause in ((lsn(1, 2) - 3, "F-8.12"), (lsn(1, 2) - 2, "F-8.13"), (lsn(1, 2) - 1, "F-8.13")):
            records = self.fresh()
            below = entry(1, records.record(LEAF, b"".join(leaf((1, 4))), 1), 1, age)
            self.damaged_below(clause, self.tree(records.page(1, 1, below, age=2), 1))

    def test_a_record_is_known_by_its_reference_alone(self):
        records = self.records
        tree = records.page(1, 1, records.leaf((1, 4), commit=77), commit=1 << 40)
        self.assertEqual(self.entries(self.tree(tree, 1)), [(1, 4)])

    def test_each_flaw_of_a_directory_is_damage(self):
        def two(first=(1, 4), second=(10, 4), key=10, counts=(1, 1), top=1, said=2, of=1, **page):
            records = self.fresh()
            one, other = (records.leaf(pair, first=at, count=count)
                          for pair, at, count in ((first, None, counts[0]), (second, key, counts[1])))  # fmt: skip
            return self.tree(records.page(top, said, one, other, tree=of, **page), 2)

        self.assertEqual(self.entries(two()), [(1, 4), (10, 4)])
        self.damaged_below("F-8.13", two(key=9))
        self.damaged_below("F-8.13", two(key="a"))
        self.damaged_below("F-8.13", two(top=0))
        self.damaged_below("F-8.13", two(second=(1, 4), key=1))
        self.damaged_below("F-8.13", two(counts=(2, 1)))
        self.damaged_below("F-8.13", two(counts=(2, 0)))
        self.damaged("F-8.5", two(said=3))
        self.damaged_below("F-8.12", two(of=2))
        self.damaged_below("F-8.12", two(flags=1))
        self.damaged_below("F-8.12", two(length=varint(2)))
        self.damaged_below("F-1.2", two(length=b"\x80\x00"))

    def test_keys_grow_from_leaf_to_leaf_and_from_page_to_page(self):
        for second in (8, 9, 10):
            records = self.fresh()
            leaves = [records.leaf((1, 4), (9, 4)), records.leaf((second, 4), (12, 4))]
            for tree in (records.page(1, 4, *leaves), records.page(1, 2, leaves[0]) + records.page(second, 2, leaves[1])):
                things = self.tree(tree, 4)
                self.opened(things) if second == 10 else self.damaged_below("F-8.13", things)
        records = self.fresh()
        self.damaged("F-8.13", self.tree(records.tree((2, 4)) + records.tree((1, 4)), 2))
        self.damaged("F-8.13", self.tree(records.tree((2, 4)) * 2, 2))

    def test_a_tree_that_leads_elsewhere_is_damage(self):
        def other(index=3, at=512, length=9, age=0, key=1, behind=b""):
            return self.tree(entry(key, to_place(index, at, length), 1, age) + behind, 1)

        self.damaged_below("F-8.12", other())
        for clause, change in [
            ("F-8.12", {"index": 4}),
            ("F-8.12", {"index": 300}),
            ("F-8.12", {"at": 504}),
            ("F-8.12", {"at": 516}),
            ("F-8.12", {"at": 4096}),
            ("F-8.12", {"length": 8}),
            ("F-8.12", {"length": 3585}),
            ("F-8.13", {"age": lsn(1, 2)}),
            ("F-8.13", {"behind": b"\x01"}),
            ("E-4.1", {"key": 1.5}),
            ("E-2.4", {"key": 1 << 63}),
        ]:
            self.fresh()
            self.damaged(clause, other(**change))
        self.fresh()
        self.damaged_below("F-8.12", other(age=lsn(1, 2) - 1))
        self.fresh()
        self.damaged("F-8.5", self.tree([], 0))

    def test_a_page_or_a_leaf_without_entries_is_damage(self):
        records = self.records
        empty = entry(1, records.record(LEAF, b"", 1), 0)
        self.damaged_below("F-8.13", self.tree(records.page(1, 1, records.leaf((1, 4)), empty), 1))
        records = self.fresh()
        self.damaged_below("F-8.13", self.tree(records.page(1, 0), 0))

    def test_a_record_of_another_kind_is_damage(self):
        records = self.records
        page = records.record(PAGE, b"".join(leaf((1, 4))), 1)
        self.damaged_below("F-8.12", self.tree(records.page(1, 1, entry(1, page, 1)), 1))
        records = self.fresh()
        self.damaged_below("F-8.12", self.tree(records.leaf((1, 4)), 1))

    def test_each_flaw_of_a_leaf_is_damage(self):
        def one(*entries, first=4, count=None):
            records, count = self.fresh(), len(entries) if count is None else count
            return self.tree(records.page(first, count, records.leaf(*entries, first=first, count=count)), count)

        four = b"\x08"
        good, text = varint(1) + four + four, varint(3) + varint(1) + b"a" + four
        self.assertEqual(self.entries(one(good)), [(4, 4)])
        self.damaged_below("F-8.4", one(varint(2) + four))
        self.damaged_below("F-8.4", one(good, varint(0) + four))
        self.damaged_below("F-8.4", one(good, varint(7) + four))
        self.damaged_below("F-8.13", one(good, good))
        self.damaged_below("F-8.4", one(text, varint(21) + varint(0) + four, first="a"))
        self.damaged_below("F-8.4", one(text, varint(19) + varint(1) + b"b" + four, first="a"))
        self.damaged_below("F-8.4", one(text, varint(2) + four, first="a"))
        self.damaged_below("E-2.5", one(varint(3) + varint(1) + b"\xff" + four))
        self.damaged_below("V-4.1", one(varint(5) + varint(1025) + bytes(1025) + four))
        self.damaged_below("F-8.4", one(varint(1) + four + varint(0)))
        self.damaged_below("F-8.5", one(varint(1) + varint(200) + four, first=100))
        self.damaged_below("F-8.4", one(varint(1) + varint((1 << 64) - 2) + four, varint(2) + four, first=(1 << 63) - 1))
        self.damaged_below("F-8.4", one(good + b"\x00"))
        self.damaged_below("F-8.13", one(good + varint(2), count=2))
        self.damaged_below("F-8.13", one(good, count=2))
        self.damaged_below("F-8.13", one(good, varint(2) + four, count=1))

    def test_each_flaw_of_the_catalog_is_damage(self):
        for clause, *entries in [
            ("F-8.5", self.things | {"count": 1}),
            ("F-8.5", self.things | {"next": 0}),
            ("F-8.5", self.things | {"next": (1 << 63) + 1}),
            ("F-8.5", self.things | {"id": 0}),
            ("F-7.2", self.things | {"name": ""}),
            ("F-8.5", self.things | {"tree": 5}),
            ("F-8.13", self.things | {"tree": b"\x01"}),
            ("F-8.5", self.things, self.things),
            ("F-8.5", self.things, self.things | {"id": 2}),
            ("F-8.5", self.things | {"id": 2, "name": "b"}, self.things),
        ]:
            self.fresh()
            self.damaged(clause, *entries)
        self.fresh()
        exhausted = self.things | {"next": 1 << 63}
        self.assertEqual(len(self.opened(exhausted).collections), 1)
        self.fresh()
        self.damaged("F-8.5", last=0)

    def test_each_flaw_of_the_table_is_damage(self):
        begin = lsn(1, 1)
        for clause, change in [
            (None, lambda it: it.stretches.append([0, 513, begin])),
            (None, lambda it: it.stretches.append([0, it.table[0][2], begin])),
            (None, lambda it: it.live.extend([[0, 1, 5], [0, 2, 5]])),
            ("F-8.6", lambda it: it.stretches.append([0, 512, begin])),
            ("F-8.6", lambda it: it.stretches.append([0, it.table[0][2] + 1, begin])),
            ("F-8.6", lambda it: it.stretches.extend([[0, 520, begin], [0, 514, begin]])),
            ("F-8.6", lambda it: it.stretches.extend([[0, 520, begin]] * 2)),
            ("F-8.6", lambda it: it.stretches.append([1, 520, begin])),
            ("F-8.6", lambda it: it.live.append([1, 1, 5])),
            ("F-8.6", lambda it: it.live.extend([[0, 2, 5], [0, 1, 5]])),
            ("F-8.6", lambda it: it.live.extend([[0, 2, 5], [0, 2, 5]])),
            ("F-8.6", lambda it: it.table[0].__setitem__(2, 8)),
            ("F-8.6", lambda it: it.table[0].__setitem__(2, 4097)),
            ("F-8.6", lambda it: it.table[0].__setitem__(4, lsn(1, 9))),
            ("F-8.6", lambda it: it.table.insert(0, [1, 2, 512, begin, 0, 0, 0])),
            ("F-8.6", lambda it: it.table.append(it.table[0])),
            ("F-8.7", lambda it: it.table[0].__setitem__(0, 1)),
            ("F-8.7", lambda it: it.table[0].__setitem__(1, 1)),
            ("F-8.7", lambda it: it.table.clear()),
        ]:
            change(self.fresh())
            self.damaged(clause) if clause else self.opened()
        for name in ("table", "stretches", "live"):
            for value in (bytes(39), [], None):
                self.fresh()
                self.damaged("F-8.6", **{name: value})
        places = [("F-8.6", 0, 0), ("F-8.6", 3, 0), ("F-8.6", 3, 1), ("F-8.6", 300, 0), (None, 300, 1)]
        for clause, index, gone in places:
            self.builder = with_things(segment_bytes=4096, segments=8)
            self.builder.segment(first=self.builder.last + 1)
            self.builder.commit()
            self.records = Records(self.builder, 3)
            self.records.table[0][1], self.records.table[0][4] = index if index else 1, gone
            self.damaged(clause) if clause else self.opened()

    def test_the_stretches_of_a_segment_are_its_first_and_those_that_the_table_has(self):
        self.records.stretches.append([0, 513, lsn(2, 1)])
        self.assertEqual(self.opened().segments[0].stretches, [(512, lsn(1, 1)), (513, lsn(2, 1))])

    def test_each_flaw_of_the_root_is_damage(self):
        for clause, other in [
            ("F-8.7", {"lsn": 5}),
            ("F-8.7", {"log": [0, 0, 512]}),
            ("F-8.7", {"log": [0, 0]}),
            ("F-8.7", {"reserved": 5}),
            ("F-8.7", {"reserved": [1]}),
            ("F-8.5", {"last": 1 << 32}),
            ("F-8.5", {"catalog": None}),
            ("F-8.10", {"indexes": None}),
            ("F-8.9", {"segments": None}),
            ("F-8.9", {"segments": u32(3) * 2}),
            ("F-8.9", {"segments": u32(3) + u32(300)}),
            ("F-8.9", {"segments": u32(3)[:3]}),
            ("F-8.12", {"reference": {"crc": 1}}),
            ("F-8.12", {"reference": {"lsn": lsn(1, 9)}}),
            ("F-8.12", {"reference": {"length": 9}}),
            ("F-8.12", {"reference": {"root": 300}}),
            ("F-8.7", {"reference": {"last": lsn(1, 9)}}),
            ("F-8.7", {"reference": {"end": 4096}}),
            ("E-1.2", {"parts": [(0, b"")]}),
            ("F-7.1", {"parts": [(0, b"\x01")]}),
        ]:
            with self.subTest(other=other):
                self.fresh()
                self.damaged(clause, **other)

    def test_a_root_of_several_parts_is_read_in_their_order(self):
        self.assertEqual(len(self.opened(cuts=(1, 1, 40)).collections), 1)
        whole = cbor({"other": 7})
        for parts in ([(1, whole)], [(0, whole[:1]), (2, whole[1:])], [(0, whole[:1]), (1, b""), (1, whole[1:])]):
            self.fresh()
            self.damaged("F-8.12" if parts[0][0] else "F-8.7", parts=parts)

    def test_a_checkpoint_holds_the_places_of_all_its_records(self):
        self.assertEqual(self.opened(segments=b"").held, {3})
        self.fresh()
        self.assertEqual(self.opened(segments=u32(5)).held, {3, 5})
        records = self.fresh()
        self.damaged("F-8.12", self.tree(records.tree((1, 4)), 1), segments=u32(5))


class Cleaning(Refusals):
    def cleaned(self, free=True):
        """Document 1 was moved out of segment 0, which was freed, into segment 1, where the log goes on to."""
        builder = with_things(segment_bytes=4096, segments=8)
        (address,) = builder.commit(put(1, 1, {"v": 1}))
        own = builder.last
        builder.segment(first=own + 1)
        records = [relocated(1, 1, {"v": 1}, own, named(value(address)))] + [freed(0, 0)] * free
        self.moved = builder.commit(*records, flags=SYSTEM)[0]
        return builder

    def test_a_relocated_put_moves_the_version_that_stands_where_it_says(self):
        for key, at in ((1, value(600)), (7, value(600)), (1, value(self.cleaned() and self.moved))):
            builder = self.cleaned()
            builder.commit(relocated(1, key, {"v": 9}, lsn(1, 3), named(at)), flags=SYSTEM)
            self.refused(builder, "corrupt", "R-9.2")
        builder = self.cleaned()
        builder.commit(relocated(1, 1, {"v": 1}, lsn(1, 3), named(value(self.moved, moved=True))), flags=SYSTEM)
        self.assertEqual(read(builder), {"things": {1: {"v": 1}}})

    def test_only_a_segment_in_place_is_freed(self):
        for record in (freed(5, 5), freed(0, 1)):
            builder = self.cleaned()
            builder.commit(record, flags=SYSTEM)
            self.refused(builder, "corrupt", "R-9.4")

    def reused(self, free=True):
        builder = self.cleaned(free)
        builder.table[0][5] = builder.last if free else 0
        reference = checkpoint(builder, 5, (1, value(self.moved, moved=True)))
        builder.slot(2, durable=builder.last, checkpoints=[reference, reference])
        builder.next = 0
        builder.data[16384 + 4096 + 36 : 16384 + 4096 + 40] = u32(0)
        row = builder.table[-1]
        builder.table.pop()
        builder.index, builder.sequence, builder.prev_end = 1, 1, builder.table[0][3]
        builder.header(row[2])
        builder.segment(first=builder.last + 1, index=0)
        builder.commit(put(1, 2, {"v": 2}))
        return builder

    def test_the_log_goes_on_in_the_place_of_a_freed_segment(self):
        self.assertEqual(read(self.reused()), BOTH)

    def test_the_log_cannot_go_on_in_the_place_of_a_segment_that_is_in_use(self):
        self.refused(self.reused(free=False), "corrupt", "R-9.1")

    def chunked(self, first, second):
        """A document of two chunks, of which cleaning moves the second."""
        builder = with_things(segment_bytes=4096, segments=8)
        document = cbor({"text": "x" * 100})
        addresses = builder.commit(chunk(1, 7, 0, document[:60]), chunk(1, 7, 1, document[60:]), last=False)
        body = varint(len(document)) + varint(2) + b"".join(map(u64, addresses))
        (at,) = builder.frame(lsn(1, 3), [put(1, 7, body, flags=8)], part=1)
        builder.commit(chunk(1, 7, first, document[60:]), put(1, 8, {}))
        (moved,) = builder.commit(chunk(1, 7, second, document[60:]), last=False, flags=SYSTEM)
        body = varint(len(document)) + varint(2) + u64(addresses[0]) + u64(moved)
        builder.frame(lsn(1, 5), [relocated(1, 7, body, lsn(1, 3), named(value(at, True), [0]), flags=8)], part=1, flags=SYSTEM)
        return builder

    def test_a_moved_chunk_is_read_with_those_that_stayed(self):
        self.assertEqual(read(self.chunked(1, 1))["things"][7], {"text": "x" * 100})
        self.refused(self.chunked(1, 0), "corrupt", "F-6.7")


if __name__ == "__main__":
    unittest.main()

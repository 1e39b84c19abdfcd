"""What the second reader makes of checkpoints, and of segments that were cleaned and given out again."""

import struct
import unittest

from checkpoint import Checkpoint
from coding import Refused
from layout import SYSTEM, Image, newest_slot
from recovery import Recovery
from store_builder import NAMES, PRIMARY, Pages, catalog, cbor, checkpoint, chunk, delete, leaf, lsn, put, u32, u64
from store_builder import named, varint
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
        builder.data[16384 + index * 4096 + 512 + 40] ^= 1
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
        self.refused(self.spoil(builder, 6), "corrupt", "F-8.1")

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
        for reference in ((0, 1), (lsn(1, 3), 3, 8), (lsn(1, 3), 3, 4096), (lsn(1, 3), 3, 512, 0, 0, 0, 4)):
            builder = with_things(segment_bytes=4096)
            named = struct.pack("<QIIIIQIIQ", *reference, *[0] * (9 - len(reference)))
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
        for root, entry in (({"required": ["x"]}, {}), ({}, {"required": ["x"]})):
            pages = Pages(builder, 3)
            named = {"id": 1, "name": "things", "next": 1, "count": 0, "other": [1.5]} | entry
            builder.slot(2, durable=builder.last, checkpoints=[pages.finish([named], **root)])
            self.refused(builder, "newer format", "F-7.3")


class Trees(Refusals):
    """F-8.1 to F-8.9, one flaw at a time."""

    def setUp(self):
        self.builder = with_things(segment_bytes=4096, segments=8)
        self.pages = Pages(self.builder, 3)
        self.things = {"id": 1, "name": "things", "next": 100, "count": 0}

    def opened(self, *collections, **other):
        reference = self.pages.finish(collections or [self.things], **other)
        self.builder.slot(2, durable=self.builder.last, checkpoints=[reference])
        data = bytes(self.builder.data)
        slot = newest_slot(data)
        return Checkpoint(Image(data, slot), slot.checkpoints[0]).whole()

    def tree(self, top, count):
        return self.things | {"tree": top, "count": count}

    def damaged(self, clause, *collections, **other):
        with self.assertRaises(Refused) as caught:
            self.opened(*collections, **other)
        self.assertEqual(caught.exception.clause, clause)

    def fresh(self):
        self.setUp()
        return self.pages

    def test_keys_of_every_sort_are_read_back(self):
        keys = [-(1 << 63), -5, 0, 1, 99, "", "user:10", "user:9", "é", b"", b"\x00", b"\x00\x01"]
        entries = [(key, 4 + (n * 0x9E37_79B9_7F4A) % 4000) for n, key in enumerate(keys)]
        top = self.pages.page(PRIMARY, leaf(*entries), tree=1)
        (collection,) = self.opened(self.tree(top, len(keys))).collections
        self.assertEqual(collection[3], entries)

    def test_trees_of_several_levels_are_read_in_order(self):
        pages, fences = self.pages, [b"", cbor(10), cbor(20), cbor("k"), b""]
        leaves = [((1, 4), (9, 8)), ((10, 4),), ((20, 4), ("a", 4)), (("k", 4), (b"", 4))]
        at = [pages.page(PRIMARY, leaf(*entries), tree=1, low=fences[n], high=fences[n + 1])
              for n, entries in enumerate(leaves)]  # fmt: skip
        low = pages.branch([(b"", at[0]), (fences[1], at[1])], high=fences[2])
        high = pages.branch([(b"", at[2]), (fences[3], at[3])], low=fences[2])
        top = pages.branch([(b"", low), (fences[2], high)], level=2)
        (collection,) = self.opened(self.tree(top, 7)).collections
        self.assertEqual([key for key, _ in collection[3]], [1, 9, 10, 20, "a", "k", b""])

    def test_each_flaw_of_a_branch_is_damage(self):
        def two(lower, upper, fence=cbor(10), **branch):
            pages = self.fresh()
            first = pages.page(PRIMARY, leaf((1, 4)), **({"tree": 1, "high": cbor(10)} | lower))
            second = pages.page(PRIMARY, leaf((10, 4)), **({"tree": 1, "low": cbor(10)} | upper))
            return self.tree(pages.branch([(b"", first), (fence, second)], **branch), 2)

        self.assertEqual(len(self.opened(two({}, {})).collections), 1)
        self.damaged("F-8.3", two({"high": b""}, {}))
        self.damaged("F-8.3", two({}, {"low": cbor(9)}))
        self.damaged("F-8.3", two({}, {"tree": 2}))
        self.damaged("F-8.3", two({}, {"level": 1}))
        self.damaged("F-8.3", two({"number": 5}, {"number": 5}))
        self.damaged("F-8.3", two({"number": 2}, {"number": 1}))
        self.damaged("F-8.3", two({}, {"low": b""}, fence=b""))
        self.damaged("F-8.3", two({}, {}, high=cbor(50)))
        self.damaged("F-8.3", two({}, {}, level=33))
        self.damaged("F-8.3", two({}, {}, kind=NAMES))
        self.damaged("F-8.1", two({}, {}, count=1))
        self.damaged("F-8.4", two({"high": cbor(1)}, {"low": cbor(1)}, fence=cbor(1)))

    def test_each_flaw_of_a_leaf_is_damage(self):
        def one(*entries, count=None, **other):
            top = self.fresh().page(PRIMARY, entries, **({"tree": 1, "count": count} | other))
            return self.tree(top, len(entries))

        four = b"\x08"
        good = varint(1) + four + four
        self.assertEqual(self.opened(one(good)).collections[0][3], [(4, 4)])
        self.damaged("F-8.4", one(varint(2) + four))
        self.damaged("F-8.4", one(good, varint(0) + four))
        self.damaged("F-8.4", one(good, varint(7) + four))
        self.damaged("F-8.4", one(good, good))
        self.damaged("F-8.4", one(varint(3) + varint(1) + b"a" + four, varint(21) + varint(0) + four))
        self.damaged("F-8.4", one(varint(3) + varint(1) + b"a" + four, varint(19) + varint(1) + b"b" + four))
        self.damaged("F-8.4", one(varint(3) + varint(1) + b"a" + four, varint(2) + four))
        self.damaged("E-2.5", one(varint(3) + varint(1) + b"\xff" + four))
        self.damaged("V-4.1", one(varint(5) + varint(1025) + bytes(1025) + four))
        self.damaged("F-8.4", one(varint(1) + four + varint(0)))
        self.damaged("F-8.5", one(varint(1) + varint(200) + four))
        self.damaged("F-8.4", one(varint(1) + varint((1 << 64) - 2) + four, varint(2) + four))
        self.damaged("F-8.1", one(good, count=0))
        self.damaged("F-8.1", one(good + b"\x00"))
        self.damaged("F-8.1", one(good, count=2))
        self.damaged("F-8.1", one(good, length=31))
        self.damaged("F-8.1", one(good, length=4000))
        self.damaged("F-8.3", one(good, high=cbor(50)))

    def test_each_flaw_of_the_catalog_is_damage(self):
        for clause, *entries in [
            ("F-8.5", self.things | {"count": 1}),
            ("F-8.5", self.things | {"next": 0}),
            ("F-8.5", self.things | {"next": (1 << 63) + 1}),
            ("F-8.5", self.things | {"id": 0}),
            ("F-7.2", self.things | {"name": ""}),
            ("F-8.2", self.things | {"tree": 5}),
            ("F-8.2", self.things | {"tree": [0, 3, 513]}),
            ("F-8.2", self.things | {"tree": [0, 300, 512]}),
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

        def more(row):
            self.pages.table.insert(0, row)

        for clause, change in [
            ("F-8.6", lambda table: table[0].pop()),
            ("F-8.5", lambda table: table[0].__setitem__(1, "x")),
            ("F-8.6", lambda table: table[0][4].insert(0, [520, begin])),
            ("F-8.6", lambda table: table[0][4].append([512, begin])),
            ("F-8.6", lambda table: table[0][4].append([8192, begin])),
            ("F-8.6", lambda table: table[0].__setitem__(3, 8)),
            ("F-8.6", lambda table: table[0].__setitem__(5, lsn(1, 9))),
            ("F-8.6", lambda table: more([1, 2, begin, 512, [[512, begin]], 0, 0, 0, []])),
            ("F-8.6", lambda table: (more(table[0][:]), table[0].__setitem__(5, 1))),
            ("F-8.7", lambda table: table[0].__setitem__(0, 1)),
            ("F-8.7", lambda table: table[0].__setitem__(1, 1)),
        ]:
            self.fresh()
            change(self.pages.table)
            self.damaged(clause)
        places = [("F-8.6", 0, 0), ("F-8.6", 3, 0), ("F-8.6", 3, 1), ("F-8.6", 300, 0), (None, 300, 1)]
        for clause, index, gone in places:
            self.builder = with_things(segment_bytes=4096, segments=8)
            self.builder.segment(first=self.builder.last + 1)
            self.builder.commit()
            self.pages = Pages(self.builder, 3)
            self.pages.table[0][1], self.pages.table[0][5] = index if index else 1, gone
            if clause:
                self.damaged(clause)
            else:
                self.opened()

    def test_a_long_segment_has_several_entries(self):
        (row,) = self.pages.table
        self.pages.table.append(row[:4] + [[[1024, lsn(2, 1)]]] + row[5:8] + [[[1, 5]]])
        segment = self.opened().segments[0]
        self.assertEqual(segment.stretches, [(512, lsn(1, 1)), (1024, lsn(2, 1))])

    def test_each_flaw_of_the_root_and_the_list_is_damage(self):
        for clause, other in [
            ("F-8.7", {"lsn": 5}),
            ("F-8.7", {"log": [0, 0, 512]}),
            ("F-8.7", {"reserved": 5}),
            ("F-8.5", {"last": 1 << 32}),
            ("F-8.9", {"listed": [3, 3]}),
            ("F-8.9", {"listed": [3, 300]}),
            ("F-8.9", {"listed": [4]}),
            ("F-8.3", {"segments": [0, 3, 512]}),
            ("F-8.7", {"reference": {"crc": 1}}),
            ("F-8.1", {"reference": {"lsn": lsn(1, 9)}}),
            ("F-8.7", {"reference": {"last": lsn(1, 9)}}),
            ("F-8.7", {"reference": {"end": 4096}}),
            ("F-8.7", {"table": None}),
        ]:
            with self.subTest(other=other):
                self.fresh()
                self.damaged(clause, **other)
        self.fresh()
        self.assertEqual(self.opened(listed=[3, 5]).listed, {3, 5})


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

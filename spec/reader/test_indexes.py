"""What the second reader makes of the entries that a checkpoint has, beside those that its documents give."""

from indexes import Definition, entries, tuple_limit
from recovery import Recovery
from store_builder import Records, catalog, put
from test_reader import Refusals, read, with_things

BY_V = {"name": "by v", "on": ["$.v"]}
LIMIT = tuple_limit(512, 4096)


def made(*documents):
    """The entries of these, under the keys from 1 on."""
    definition = Definition(BY_V)
    return sorted(entry for key, each in enumerate(documents, 1) for entry in entries(definition, LIMIT, key, each))


def with_index(found, **other):
    """A store of two documents and a checkpoint, in which an index of the id 2 has these entries."""
    builder = with_things(segment_bytes=4096, segments=8)
    addresses = builder.commit(put(1, 1, {"v": 1}), put(1, 2, {"v": 2.0}))
    builder.commit(catalog(op="index", id=1, new=2, index=BY_V))
    records = Records(builder, 6)
    tree = records.tree(*((n, 4 * address) for n, address in enumerate(addresses, 1)))
    index = {"id": 2, "of": 1, "index": BY_V, "count": len(found), "tree": b""} | other
    index |= {"tree": records.tree(*((entry, 4) for entry in found), tree=2)}
    collection = {"id": 1, "name": "things", "next": 3, "count": 2, "tree": tree}
    builder.reference = records.finish([collection], indexes=[index], last=2)
    builder.slot(2, durable=builder.last, checkpoints=[builder.reference])
    builder.data[builder.places[0][0]] ^= 1
    return builder


BOTH = {"things": {1: {"v": 1}, 2: {"v": 2.0}}}


class Entries(Refusals):
    def test_the_entries_of_a_checkpoint_are_those_of_its_documents(self):
        builder = with_index(made({"v": 1}, {"v": 2.0}))
        self.assertEqual(read(builder), BOTH)
        ((_, index),) = Recovery(bytes(builder.data)).run().store.indexes.items()
        self.assertEqual(sorted(index.held), made({"v": 1}, {"v": 2.0}))

    def test_entries_that_no_document_gives_and_missing_ones_are_told(self):
        for found in (made({"v": 1}), made({"v": 1}, {"v": 3}), made({"v": 1}, {"v": 2}), []):
            self.refused(with_index(found), "corrupt", "I-2.3")

    def test_an_index_that_is_to_be_made_anew_is_compared_with_nothing(self):
        self.assertEqual(read(with_index([], anew=True)), BOTH)

    def test_what_changed_since_the_checkpoint_is_compared_with_nothing(self):
        builder = with_index(made({"v": 1}))
        builder.commit(put(1, 2, {"v": 4}))
        self.assertEqual(read(builder), {"things": {1: {"v": 1}, 2: {"v": 4}}})

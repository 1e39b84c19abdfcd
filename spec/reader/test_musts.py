"""The check of the vectors by wrong readers can fail, in each way that it has."""

import pathlib
import sys
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).parent / "musts"))

import mutant
import table
import trial
import vectors

CASES = [case for case in vectors.cases() if case.name.startswith("keys ")]
BUGS = table.seeded_bugs()
LONG_KEYS = {
    "name": "a key has 1,025 bytes",
    "file": "coding",
    "old": "len(key_order(key)[1]) <= 1024)",
    "new": "len(key_order(key)[1]) <= 1025)",
}


class Musts(unittest.TestCase):
    def faults_with(self, name, stand_in):
        with mock.patch.object(table, name, stand_in):
            return table.read()[1]

    def test_the_table_fits_the_specification(self):
        self.assertEqual(table.read()[1], [])

    def test_a_sentence_without_a_rule_is_a_fault(self):
        sentences = table.sentences
        more = lambda page: [*sentences(page), ("V-1.3", "A reader MUST sing.")]
        self.assertTrue(any("A reader MUST sing." in fault for fault in self.faults_with("sentences", more)))

    def test_a_rule_of_what_the_text_no_longer_says_is_a_fault(self):
        sentences = table.sentences
        fewer = lambda page: [each for each in sentences(page) if each[0] != "V-1.3"]
        self.assertTrue(any("V-1.3" in fault for fault in self.faults_with("sentences", fewer)))

    def test_a_seeded_bug_or_test_that_is_not_there_is_a_fault(self):
        self.assertTrue(table.is_there("SyncSkipped", table.seeded_bugs()))
        self.assertTrue(table.is_there("spec/reader/test_musts.py::faults_with", set()))
        self.assertFalse(table.is_there("SyncSkippedTwice", table.seeded_bugs()))
        self.assertFalse(table.is_there("spec/reader/test_musts.py::test_of_nothing", set()))

    def test_a_rule_of_a_writer_with_a_test_alone_is_a_fault(self):
        bugs, a_test = {"SyncSkipped"}, "spec/reader/test_musts.py::faults_with"
        of_writers, of_readers = "A writer MUST sing.", "A reader MUST NOT sing, whatever a writer does."
        shown = lambda sentence=of_readers, **rule: table.is_shown(rule, sentence, bugs)
        self.assertTrue(shown(writer=["SyncSkipped", a_test]) and shown(writer=[a_test], reason="it is mute"))
        self.assertFalse(shown(writer=[a_test]) or shown(writer=[a_test], mutant=[LONG_KEYS]))
        self.assertTrue(shown(mutant=[LONG_KEYS]) and not shown())
        self.assertFalse(shown(of_writers, mutant=[LONG_KEYS]))
        without = self.faults_with("seeded_bugs", lambda: BUGS - {"PlaceIgnored"})
        self.assertTrue(any("I-6.5" in fault and "no seeded bug" in fault for fault in without))

    def test_a_wrong_reader_turns_a_vector_red(self):
        red, fault = trial.tried(CASES, "V-4.1", LONG_KEYS)
        self.assertIsNotNone(red)
        self.assertIsNone(fault)

    def test_a_wrong_reader_that_no_vector_tells_is_a_fault(self):
        short = [case for case in CASES if len(case.request.get("bytes", "")) < 2000]
        self.assertIn("no vector tells", trial.tried(short, "V-4.1", LONG_KEYS)[1])

    def test_a_reason_that_is_none_is_a_fault(self):
        self.assertIn("no reason", trial.tried(CASES, "V-4.1", {**LONG_KEYS, "alive": "why not"})[1])

    def test_a_text_that_is_not_there_is_a_fault(self):
        self.assertIn("0 times", trial.tried(CASES, "V-4.1", {**LONG_KEYS, "old": "no such text"})[1])
        self.assertIn("broken", trial.tried(CASES, "V-4.1", {**LONG_KEYS, "new": "no_such_name"})[1])

    def test_a_reader_that_does_not_end_is_told(self):
        with mock.patch.object(mutant, "SECONDS", 0.05):
            mutant.limit()
            change = {**LONG_KEYS, "old": "    need(\"E-4.1\"", "new": "    while True: pass\n    need(\"E-4.1\""}
            self.assertIn("no answer in time", trial.tried(CASES, "V-4.1", change)[0])


if __name__ == "__main__":
    unittest.main()

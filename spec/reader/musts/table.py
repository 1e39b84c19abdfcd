"""The rules of the specification, from its own text, and the table that says what shows each of them to be kept.

A file of the table has the rules of one page:

    [[rule]]                # in the order of the page
    clause = "F-1.2"
    says = "its shortest form"      # words that one sentence of the clause has
    writer = ["SlotWrittenInPlace", "engine/tests/a.rs::a_test"]    # seeded bugs and tests that find the breach
    reason = "..."          # why it has no mutant, or, where it binds a writer, no seeded bug

    [[rule.mutant]]         # a reader that leaves the rule out, weakens it or swaps it for another
    name = "an overlong varint is taken"
    file = "coding"
    old = 'n <= U64, byte or shift == 7'
    new = 'n <= U64'
    alive = "..."           # why no vector can tell it; not there where one does

In place of the last three, `forgives` names what a lenient reader of CBOR forgives (`lenient.py`).
"""

import pathlib
import re
import tomllib

ROOT = pathlib.Path(__file__).parents[3]
PAGES = ["values", "encoding", "format", "recovery", "index"]
LENIENT = """if not hasattr(self, "strict"):
            import lenient
            return lenient.cbor(self, "{}")
        """
OF_WRITERS = re.compile(r"\b[Ww]riter MUST\b")
HEADING = re.compile(r"### ([A-Z]-\d+\.\d+) ")


def sentences(page):
    """Clause and sentence, for each sentence of a page."""
    clause, paragraph, fenced = None, [], False
    for line in [*(ROOT / "spec" / f"{page}.md").read_text().splitlines(), ""]:
        fenced ^= line.startswith("```")
        heading = HEADING.match(line)
        if line and line[0] not in "#|`" and not fenced:
            paragraph.append(line)
            continue
        text, paragraph = " ".join(paragraph), []
        yield from ((clause, part) for part in re.split(r"(?<=\.)\s+(?=[^a-z])", text) if clause and part)
        clause = heading[1] if heading else None if line.startswith("## ") else clause


def seeded_bugs():
    text = (ROOT / "engine" / "src" / "seeded.rs").read_text()
    return set(re.findall(r"^    ([A-Z]\w+),$", text, re.MULTILINE))


def is_there(finder, bugs):
    path, _, test = finder.partition("::")
    if not test:
        return finder in bugs
    file = ROOT / path
    return file.is_file() and re.search(rf"\b(fn|def) {test}\b", file.read_text()) is not None


def is_shown(rule, sentence, bugs):
    """Whether a breach would be seen, or it is said why not. A writer's rule needs a seeded bug: a test may pass whatever the writer does."""
    binds_writers = "writer" in rule or OF_WRITERS.search(sentence)
    is_seen = any(finder in bugs for finder in rule.get("writer", [])) if binds_writers else rule.get("mutant")
    return bool(is_seen or rule.get("reason"))


def read():
    """The rules of the table, and what is wrong with it."""
    rules, faults, bugs = [], [], seeded_bugs()
    for page in PAGES:
        spec = list(sentences(page))
        named = {}
        for rule in tomllib.loads((ROOT / "spec/reader/musts" / f"{page}.toml").read_text())["rule"]:
            rules.append(rule)
            for change in rule.get("mutant", []):
                if "forgives" in change:
                    old = "try:  # without the tags"
                    change |= {"file": "coding", "old": old, "new": LENIENT.format(change["forgives"]) + old}
            about = f"{rule['clause']} {rule['says']!r}"
            found = [each for each in spec if each[0] == rule["clause"] and rule["says"] in each[1]]
            if len(found) != 1:
                faults.append(f"{about} is in {len(found)} sentences of {page}.md, and not in one")
            for each in found:
                if named.setdefault(each, about) != about:
                    faults.append(f"{about} and {named[each]} are one sentence")
            if not all(is_shown(rule, sentence, bugs) for _, sentence in found):
                faults.append(f"{about} has no mutant or, of a writer, no seeded bug, and no reason")
            for finder in rule.get("writer", []):
                if not is_there(finder, bugs):
                    faults.append(f"{about}: there is no {finder}")
        for clause, sentence in spec:
            if "MUST" in sentence and (clause, sentence) not in named:
                faults.append(f"{clause} has no rule in musts/{page}.toml: {sentence}")
    return rules, faults

"""Prints each sentence of the specification that has MUST, SHOULD or MAY, and each that is cited, with what cites it; fails where a
citation quotes what the text does not say. Where sentences and citations are is said by `.duvet/config.toml`.

It is the snapshot that duvet 0.4.3 writes, which `.ci/trace --duvet` makes sure of. Here a quotation must be right to the letter;
headings begin with `#`, have no marks within, and no two of a page have one name.
"""

import re
import sys
import tomllib
from itertools import groupby
from pathlib import Path

LEVELS = {
    "MUST": r"\b(MUST|SHALL)( NOT)?\b|\bREQUIRED\b",
    "SHOULD": r"\bSHOULD( NOT)?\b|\b(NOT )?RECOMMENDED\b",
    "MAY": r"\b(MAY|OPTIONAL)\b",
}
KINDS = ("implementation", "test", "exception")
# What ends a sentence, other than the full stop of a clause's name.
STOP = re.compile(r"\.(?=\s|$)")


class Section:
    """A heading and the lines below it. Known of each letter of a line: the levels and the kinds of citations that it is under."""

    def __init__(self, title):
        self.title = title
        self.id = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
        self.lines = []
        self.marks = []

    def add(self, line):
        self.lines.append(line)
        self.marks.append([set() for _ in line])

    def requirements(self):
        """Each sentence with a word of `LEVELS`, with its level."""
        for text in "\n".join(self.lines).split("\n\n"):
            for level, words in LEVELS.items():
                for word in re.finditer(words, text):
                    # A word in quotation marks is spoken of, not used.
                    if text[word.end() : word.end() + 1] != '"':
                        start = max((stop.end() for stop in STOP.finditer(text, 0, word.start())), default=0)
                        stop = STOP.search(text, word.end())
                        yield level, text[start : stop.end() if stop else None]

    def mark(self, quote, mark):
        """Marks what is quoted, whatever spaces and line breaks are in it; False where the section does not have it."""
        places = [(number, at) for number, line in enumerate(self.lines) for at in range(len(line) + 1)]
        text, kept = squeezed("".join(line + "\n" for line in self.lines))
        wanted, _ = squeezed(quote)
        found = text.find(wanted)
        if found < 0 or not wanted:
            return False
        for number, at in places[kept[found] : kept[found + len(wanted) - 1] + 1]:
            if at < len(self.lines[number]):
                self.marks[number][at].add(mark)
        return True

    def report(self):
        for line, marks in zip(self.lines, self.marks):
            indent = len(line) - len(line.lstrip())
            statuses = [status(marks[max(at, indent)]) for at in range(len(line))]
            for known, places in groupby(range(len(line)), statuses.__getitem__):
                places = list(places)
                text = line[places[0] : places[-1] + 1].rstrip()
                if known and text:
                    yield f"    TEXT[{known}]: {text}"


def status(marks):
    """The highest level and all kinds."""
    return ",".join([f"!{level}" for level in LEVELS if level in marks][:1] + [kind for kind in KINDS if kind in marks])


def squeezed(text):
    """`text` with one space between words and none beside punctuation, and the place of each of its letters in the former."""
    kept, space = [], None
    for place, letter in enumerate(text):
        if letter.isspace():
            space = place
            continue
        if space is not None and kept and text[kept[-1]].isalnum() and letter.isalnum():
            kept.append(space)
        kept.append(place)
        space = None
    return "".join(" " if text[place].isspace() else text[place] for place in kept), kept


def sections(page):
    found, fenced = [], False
    for line in Path(page).read_text().splitlines():
        fenced ^= line.lstrip().startswith("```")
        heading = re.match(r"#+ +(.*?) *$", line)
        if heading and not fenced:
            found.append(Section(heading.group(1)))
        elif found:
            if re.match(r" *([*+-]|\d+[.)]) ", line):
                # No sentence goes on from one item of a list into the next.
                found[-1].add("")
            found[-1].add(line)
    return found


def citations(file, kind):
    """Each citation in a source: where it is, what it cites, its kind, the quotation."""
    # What comes before the quotation, each with the line of its number.
    target, given, quote = None, kind, []
    for number, line in enumerate([*file.read_text().splitlines(), ""], 1):
        word, rest = line.strip()[:3], line.strip()[3:].strip()
        if target and (word not in ("//=", "//#") or (quote and word == "//=")):
            yield f"{file}:{number}", target, given, " ".join(quote)
            target, given, quote = None, kind, []
        if word == "//#" and target:
            quote.append(rest)
        elif word == "//=" and not target and "=" not in rest:
            target = rest
        elif word == "//=" and target and rest.removeprefix("type=") in KINDS:
            given = rest.removeprefix("type=")
        elif word in ("//=", "//#"):
            sys.exit(f"{file}:{number}: neither a clause, nor its kind, nor a quotation behind these")


def all_citations(config):
    for source in config["source"]:
        for file in sorted(Path().glob(source["pattern"])):
            yield from citations(file, source.get("type", "implementation"))
    for requirement in config["requirement"]:
        for file in sorted(Path().glob(requirement["pattern"])):
            for exception in tomllib.loads(file.read_text())["exception"]:
                yield file, exception["target"], "exception", exception["quote"]


def main():
    config = tomllib.loads(Path(".duvet/config.toml").read_text())
    cited = list(all_citations(config))
    binding = {page["source"] for page in config["specification"]}
    pages = {page: sections(page) for page in sorted(binding | {target.partition("#")[0] for _, target, _, _ in cited})}
    named = {f"{page}#{section.id}": section for page in pages for section in pages[page]}
    if len(named) != sum(map(len, pages.values())):
        sys.exit("two headings of a page have one name")
    for section in (section for page in binding for section in pages[page]):
        for level, sentence in section.requirements():
            assert section.mark(sentence, level), sentence
    wrong = [
        f"{where}: {target} does not say: {quote}"
        for where, target, kind, quote in cited
        if target not in named or not named[target].mark(quote, kind)
    ]
    if wrong:
        sys.exit("\n".join(wrong))
    reports = []
    for page in pages:
        parts = [[f"  SECTION: [{section.title}](#{section.id})", *section.report()] for section in pages[page]]
        parts = ["".join(f"{line}\n" for line in part) for part in parts if len(part) > 1]
        if parts:
            reports.append(f"SPECIFICATION: [{pages[page][0].title}]({page})\n" + "\n".join(parts))
    sys.stdout.write("\n".join(reports))


main()

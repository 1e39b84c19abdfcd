"""Rust source as the ratchets read it: without comments, literals and what is built for tests alone."""

import re

# What a token of the source can be that hides others. A quote after a name or `'` that ends no literal is a lifetime.
HIDING = re.compile(
    r"""//[^\n]*|/\*|b?r(?P<hashes>\#*)"|b?"(?:[^"\\]|\\.)*"|b?'(?:[^'\\\n]|\\(?:[^u]|u\{[^}]*\}|x..))'""",
    re.DOTALL,
)


def cleaned(text):
    """`text` with comments removed and literals emptied; every line keeps its number."""
    kept, at = [], 0
    while match := HIDING.search(text, at):
        start, token = match.start(), match.group()
        kept.append(text[at:start])
        if token == "/*":
            end = end_of_block_comment(text, start)
        elif match.group("hashes") is not None and token.lstrip("b").startswith("r"):
            closing = '"' + match.group("hashes")
            end = text.index(closing, match.end()) + len(closing)
        else:
            end = match.end()
        kept.append('""' if '"' in token else "")
        kept.append("\n" * text.count("\n", start, end))
        at = end
    return "".join(kept) + text[at:]


def end_of_block_comment(text, start):
    depth, at = 0, start
    while True:
        token = re.compile(r"/\*|\*/").search(text, at)
        depth += 1 if token.group() == "/*" else -1
        at = token.end()
        if depth == 0:
            return at


def holds(condition, true):
    """Whether a `cfg` condition holds when the bare names in `true` do, and every `name = ""` does."""
    tokens = re.findall(r"\w+|[(),=]|\"\"", condition)

    def parse():
        name = tokens.pop(0)
        if tokens and tokens[0] == "=":
            del tokens[:2]
            return True
        if not tokens or tokens[0] != "(":
            return name in true
        tokens.pop(0)
        parts = []
        while tokens[0] != ")":
            parts.append(parse())
            if tokens[0] == ",":
                tokens.pop(0)
        tokens.pop(0)
        return {"all": all(parts), "any": any(parts), "not": not parts[0]}[name]

    return parse()


PLATFORM = {"unix"}


def without_tests(text, features=True):
    """`text`, cleaned, without the items that only a test or an explored schedule builds; without `features` also those that only
    a feature builds."""
    kept, at = [], 0
    for match in re.finditer(r"#\[cfg\(", text):
        if match.start() < at:
            continue
        condition_end = closing(text, match.end() - 1)
        condition = text[match.end() : condition_end]
        if not features:
            condition = re.sub(r'\bfeature = ""', "unset", condition)
        if holds(condition, PLATFORM):
            continue
        end = end_of_item(text, text.index("]", condition_end) + 1)
        kept.append(text[at : match.start()])
        kept.append("\n" * text.count("\n", match.start(), end))
        at = end
    return "".join(kept) + text[at:]


def closing(text, opening):
    """Where the bracket at `opening` is closed."""
    depth = 0
    for at in range(opening, len(text)):
        if text[at] in "([{":
            depth += 1
        elif text[at] in ")]}":
            depth -= 1
            if depth == 0:
                return at
    raise ValueError("a bracket is never closed")


def end_of_item(text, at):
    """The end of the item, statement or field after an attribute that ends at `at`."""
    is_field = re.match(r"(?:\s|#\[[^\]]*\])*(?:pub(?:\([\w ]*\))? )?\w+\s*:", text[at:])
    while True:
        character = text[at]
        if character in "([":
            at = closing(text, at)
        elif character == "{":
            return closing(text, at) + 1
        elif character == ";" or (is_field and character == ","):
            return at + 1
        elif character == "}":
            return at
        at += 1

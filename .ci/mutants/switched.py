"""All mutants in one program: each body of a function becomes a choice between what stands there and what its mutants have there.

A build for each mutant takes most of the time of mutation testing. Here there is one for all, and the environment variable
MUTANT says which of them runs. What cannot be had so is left to cargo-mutants: what the compiler evaluates, and functions whose
type their body decides.
"""

import json
import re
import subprocess

# Which mutant runs; and, where REACHED names a file, each function with mutants goes into it once it is called.
RUNTIME = """
use std::io::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Debug)]
struct Setting {
    mutant: u32,
    reached: Option<std::fs::File>,
}

static SETTING: OnceLock<Setting> = OnceLock::new();
static SEEN: [AtomicBool; COUNT] = [const { AtomicBool::new(false) }; COUNT];

pub(crate) fn active(function: usize) -> u32 {
    let setting = SETTING.get_or_init(|| Setting {
        mutant: std::env::var("MUTANT").map_or(0, |text| text.parse().unwrap()),
        reached: std::env::var("REACHED").ok().map(|path| {
            std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap()
        }),
    });
    if let Some(mut file) = setting.reached.as_ref()
        && !SEEN[function].swap(true, Ordering::Relaxed)
    {
        file.write_all(format!("{function}\\n").as_bytes()).unwrap();
    }
    setting.mutant
}
"""


# What a mutant may well do.
ALLOWED = "warnings, arithmetic_overflow, unconditional_panic, overflowing_literals"


def listed_in(tool, tree, *arguments):
    """The mutants of cargo-mutants, each once: a module that two configurations declare is listed twice."""
    command = [str(tool), "mutants", "--no-config", "--dir", str(tree), "--list", "--json", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"cargo-mutants fails:\n{done.stderr}")
    return list({each["name"]: each for each in json.loads(done.stdout or "[]")}.values())


class Text:
    """A source file whose places are lines and columns that count from 1."""

    def __init__(self, text):
        self.text = text
        self.starts = [0]
        for line in text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def at(self, place):
        return self.starts[place["line"] - 1] + place["column"] - 1

    def span(self, span):
        return self.at(span["start"]), self.at(span["end"])


class Function:
    def __init__(self, text, span):
        self.start, self.end = text.span(span)
        # A signature has no braces.
        self.open = text.text.index("{", self.start)
        signature = text.text[self.start : self.open]
        # Words that come before `fn` may or may not be in the span.
        line = text.text.rfind("\n", 0, self.start) + 1
        before = text.text[line : self.start] + signature
        self.const = re.search(r"\bconst\s+(unsafe\s+)?fn\b", before) is not None
        self.opaque = re.search(r"->\s*.*\bimpl\b", signature, re.S) is not None
        self.name = re.search(r"\bfn\s+(\w+)", before)[1]
        self.line = line
        self.mutants = []


class Switched:
    """The rooms of a tree with their mutants switched in."""

    def __init__(self, tree, package, listed):
        self.tree = tree
        self.source = tree / package.source
        self.listed = listed
        self.numbers = {each["name"]: number for number, each in enumerate(listed, 1)}
        self.sources = {each["file"]: Text((tree / each["file"]).read_text()) for each in listed}
        self.left_out = set()  # to be tried one by one
        self.unviable = set()
        self.constant = set()  # names of functions that the compiler evaluates somewhere
        self.functions = []
        self.of = {}  # mutant -> index of its function
        self.places = {}  # file -> [(first line, last line, mutant)]

    def functions_of(self, file):
        text = self.sources[file]
        found = {}
        for each in self.listed:
            if each["file"] != file or each["function"] is None:
                continue
            key = json.dumps(each["function"]["span"])
            if key not in found:
                found[key] = Function(text, each["function"]["span"])
            found[key].mutants.append(each)
        ordered = sorted(found.values(), key=lambda function: function.start)
        # Of functions inside functions, the inner ones are left out.
        outer, end = [], -1
        for function in ordered:
            if function.start >= end:
                outer.append(function)
                end = function.end
        return outer

    def write(self):
        """Writes the tree anew, without what has turned out not to be viable."""
        self.functions, self.of, self.places = [], {}, {}
        for file in self.sources:
            self.write_file(file)
        lib = self.source / "lib.rs"
        text = lib.read_text()
        if not text.startswith("#![allow"):
            # On the line that is there, so that the lines keep their numbers.
            lib.write_text(f"#![allow({ALLOWED})] {text}\nmod switch;\n")
        (self.source / "switch.rs").write_text(RUNTIME.replace("COUNT", str(max(1, len(self.functions)))))
        switched = set(self.of)
        self.left_out = {each["name"] for each in self.listed} - switched - self.unviable

    def write_file(self, file):
        text = self.sources[file]
        out, done, places = [], 0, []

        def add(piece):
            out.append(piece)

        def line():
            return sum(piece.count("\n") for piece in out) + 1

        for function in self.functions_of(file):
            if function.opaque or (function.const and function.name in self.constant):
                continue
            bodies = []
            for each in function.mutants:
                start, end = text.span(each["span"])
                if each["name"] in self.unviable or not (function.open < start and end < function.end):
                    continue
                body = text.text[function.open : start] + each["replacement"] + " " + text.text[end : function.end]
                bodies.append((each["name"], body))
            if not bodies:
                continue
            head = text.text[done : function.open]
            if function.const:
                cut = function.line - done
                head = head[:cut] + re.sub(r"\bconst\s+((?:unsafe\s+)?fn\b)", r"\1", head[cut:], count=1)
            index = len(self.functions)
            self.functions.append(function)
            add(head)
            numbers = "|".join(str(self.numbers[name]) for name, _ in bodies)
            add(f"{{ match crate::switch::active({index}) {{ chosen if !matches!(chosen, {numbers}) => ")
            add(text.text[function.open : function.end])
            for name, body in bodies:
                add("\n")
                first = line()
                add(f"{self.numbers[name]} => {body}\n")
                places.append((first, line() - 1, name))
                self.of[name] = index
            add("\n_ => unreachable!() } }")
            done = function.end
        add(text.text[done:])
        self.places[file] = places
        (self.tree / file).write_text("".join(out))

    def weed(self, command, environment):
        """Takes out what does not compile, phase by phase of the compiler, until the rest does."""
        for _ in range(40):
            self.write()
            done = subprocess.run(command, cwd=self.tree, env=environment, capture_output=True, text=True)
            if done.returncode == 0:
                return
            before = (len(self.unviable), len(self.constant))
            unknown = []
            for row in done.stdout.splitlines():
                message = json.loads(row).get("message") if row.startswith("{") else None
                if isinstance(message, dict) and message.get("level") == "error" and message.get("spans"):
                    if not self.blame(message):
                        unknown.append(message["rendered"])
            if (len(self.unviable), len(self.constant)) == before:
                raise SystemExit("what is switched in does not compile:\n" + "\n".join(unknown[:5]) + done.stderr[-2000:])
        raise SystemExit("what is switched in still does not compile")

    def blame(self, message):
        constant = re.match(r"cannot call non-const .*?`(?:.*::)?(\w+)(?:<.*>)?` in (?:const|static)", message["message"])
        if constant:
            self.constant.add(constant[1])
            return True
        spans = sorted(message["spans"], key=lambda span: not span["is_primary"])
        for span in spans:
            for first, last, name in self.places.get(span["file_name"], []):
                if first <= span["line_start"] <= last:
                    self.unviable.add(name)
                    return True
        return False

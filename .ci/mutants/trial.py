"""Which tests reach which mutants, and what they make of them."""

import json
import os
import resource
import subprocess
import tempfile
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# A test that takes longer is left out.
SLOWEST = 40
# What is run at a time: a mutant mostly falls to the first handful.
STAGES = (0.3, 2, 10, 10000)


PROFILE = "--profile=mutation-switched"
# Their own tests; and what tries a whole store. Where these need the feature `seeded`, or take minutes, they are left out.
ENGINE = [PROFILE, "--package=holotype", "--features=holotype/testing", "--lib", "--tests"]
AROUND = [
    PROFILE, "--package=holotype-conform", "--package=holotype-crash-tests", "--features=holotype/testing", "--test=frozen",
    *[f"--test={name}" for name in ("crash", "deferred", "fallback", "faults", "fork", "full", "history", "lives", "media", "readers")],
]  # fmt: skip


class Package:
    """What is changed, and the arguments of cargo for what tries it first, and then."""

    def __init__(self, source, build, far):
        self.source = source
        self.build = build
        self.far = far


def confine():
    # A mutant may allocate for ever, and has less claim to the machine than anybody else.
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(program, tests, seconds, **environment):
    """Whether these tests pass: True, False, or None where they do not end."""
    env = dict(
        os.environ,
        # The test programs, and only they, may be asked to stop at their first failure, which stable Rust has not got yet.
        RUSTC_BOOTSTRAP="1",
        PROPTEST_DISABLE_FAILURE_PERSISTENCE="true",
        PROPTEST_MAX_SHRINK_ITERS="0",
        PROPTEST_RNG_SEED="1",
        CARGO_MANIFEST_DIR=str(program["folder"]),
        **environment,
    )
    command = [program["path"], "-Zunstable-options", "--fail-fast", "--test-threads=1", "--exact", *tests]
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(
            command, cwd=program["folder"], env=env, stdout=said, stderr=said, preexec_fn=confine, start_new_session=True
        )
        try:
            return child.wait(timeout=seconds) == 0
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, 9)
            child.wait()
            return None


def built(tree, arguments, env):
    """The test programs of a build."""
    command = ["cargo", "test", "--no-run", "--message-format=json", *arguments]
    done = subprocess.run(command, cwd=tree, env=env, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"the tests do not compile:\n{done.stderr}")
    found = []
    for row in done.stdout.splitlines():
        message = json.loads(row) if row.startswith("{") else {}
        if message.get("reason") == "compiler-artifact" and message.get("executable") and message["profile"]["test"]:
            folder = Path(message["manifest_path"]).parent
            found.append({"path": message["executable"], "folder": folder, "name": f"{folder.name}/{message['target']['name']}"})
    return found


def names(program):
    said = subprocess.run([program["path"], "--list", "--format", "terse"], check=True, capture_output=True, text=True, cwd=program["folder"])
    return [line.removesuffix(": test") for line in said.stdout.splitlines() if line.endswith(": test")]


class Tests:
    """Every test, with how long it takes and the functions that it calls."""

    def __init__(self, workers):
        self.workers = workers
        self.programs = []
        self.seconds = {}
        self.reaching = defaultdict(set)  # function -> {(program, test)}
        self.left_out = []

    def record(self, added, skip=()):
        first = len(self.programs)
        self.programs += added
        every = [
            (number, test)
            for number, program in enumerate(self.programs[first:], first)
            for test in names(program)
            if not any(word in test for word in skip)
        ]
        with ThreadPoolExecutor(self.workers) as pool:
            list(pool.map(self.record_one, every))

    def record_one(self, key):
        number, test = key
        with tempfile.TemporaryDirectory() as folder:
            reached = Path(folder) / "reached"
            start = time.monotonic()
            passed = run(self.programs[number], [test], SLOWEST, MUTANT="0", REACHED=str(reached))
            if passed is None:
                self.left_out.append(key)
                return
            if not passed:
                raise SystemExit(f"{self.programs[number]['name']} {test} fails without any mutant")
            self.seconds[key] = time.monotonic() - start
            for index in set(reached.read_text().split()) if reached.exists() else ():
                self.reaching[int(index)].add(key)

    def try_one(self, function, mutant, programs=None):
        """What becomes of a mutant: the tests that reach it, from the quickest on, until one fails."""
        left = sorted((key for key in self.reaching[function] if programs is None or key[0] in programs), key=self.seconds.get)
        if not left:
            return "unreached"
        for limit in STAGES:
            stage = defaultdict(list)
            spent = 0.0
            while left and (spent < limit or not stage):
                key = left.pop(0)
                spent += self.seconds[key]
                stage[key[0]].append(key[1])
            for number, tests in stage.items():
                expected = sum(self.seconds[number, test] for test in tests)
                verdict = run(self.programs[number], tests, 6 + 8 * expected, MUTANT=str(mutant))
                if verdict is None:
                    return "timeout"
                if not verdict:
                    return "caught"
            if not left:
                break
        return "survived"

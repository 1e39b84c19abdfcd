"""A sample of mutants that the default gate alone judges: what the tests beside the engine would see does not count.

All of the sample are in one program, the command, as switched.py does it. The gate stops at its first red check. A mutant with which it
panics or never ends is found, too. What a gate of a quarter of the time finds is not given to the whole one, which tries the same cases
and more. A function that the gate without a mutant never calls has no mutant that it could find.
"""

import json
import os
import random
import re
import shutil
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from pathlib import Path

from switched import Switched, listed_in
from trial import Package, confine

# Built for checks alone.
CHECKS = [f"--exclude=engine/src/core/{file}.rs" for file in ("fingerprint", "maintenance/plan/profile")]
FORK = re.compile(r"\bfork\b")
ROOMS = ("core", "log", "space", "txn", "pipeline")
FOUND_PERCENT = 95
SEEDED = re.compile(r"replace match guard seeded::is_on\(Bug::\w+\) with false")
# More are drawn than judged: some do not compile, and some cannot be switched.
SPARE = 1.5
# The seed of the gate in `.ci/run`.
GATE_SEED = 20260101
WORKERS = 2
# What takes some seconds finds most.
QUICKEST = ["--check", "costs"]
# What is found is mostly found early.
SHORT = ["--seconds", "9"]
# What that lets live counts as not found until the whole gate has judged it, so that a run that is cut short tells no higher score.
LIVED_SO_FAR = ("survived", "a quarter of the time")


def drawn(tool, tree, excluded, seed):
    """Every mutant of these rooms, in the order in which the seed draws them."""
    excluded = [*excluded, *CHECKS]
    listed = listed_in(tool, tree, *excluded, *[f"--file=engine/src/{room}/**/*.rs" for room in ROOMS])
    listed += listed_in(tool, tree, *excluded, *[f"--file=engine/src/{room}.rs" for room in ROOMS])
    listed = sorted({each["name"]: each for each in listed}.values(), key=lambda each: each["name"])
    random.Random(seed).shuffle(listed)
    # What only a seeded bug asks for cannot be seen where none is built in.
    return [each for each in listed if not (SEEDED.search(each["name"]) or FORK.search(each["name"]))]


def by_place(each):
    """Mutants that have one name are told apart by their order in the file, whatever the seed."""
    start = each["span"]["start"]
    return each["file"], start["line"], start["column"], each["name"]


def build(tree, target):
    env = dict(os.environ, CARGO_TARGET_DIR=str(target), CARGO_INCREMENTAL="0")
    command = ["cargo", "build", "--release", "--locked", "--package=holotype-cli", "--bin=holotype"]
    done = subprocess.run(command, cwd=tree, env=env, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"the command does not compile:\n{done.stderr[-4000:]}")
    # Its own, since the next build of the command would take its place.
    return Path(shutil.copy(target / "release" / "holotype", tree.with_name("gate-holotype")))


def weed(switched, target):
    """Takes out what does not compile."""
    env = dict(os.environ, CARGO_TARGET_DIR=str(target), CARGO_INCREMENTAL="0")
    switched.weed(["cargo", "check", "--release", "--message-format=json", "--package=holotype", "--features=holotype/testing"], env)


def try_gate(program, number, longest, *arguments, **variables):
    """What the gate makes of a mutant, and by which check: `caught`, `timeout` or `survived`."""
    env = dict(os.environ, MUTANT=str(number), RUST_BACKTRACE="0", **variables)
    command = [str(program), "gate", "--seed", str(GATE_SEED), "--fail-fast", "--json", *arguments]
    child = subprocess.Popen(
        command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, preexec_fn=confine, start_new_session=True
    )
    try:
        said, _ = child.communicate(timeout=longest)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, 9)
        child.wait()
        return "timeout", "-"
    if child.returncode == 0:
        return "survived", "-"
    try:
        return "caught", next(check["name"] for check in json.loads(said)["checks"] if not check["held"])
    except (ValueError, StopIteration):
        return "caught", "it ended by itself"


def left(sample, verdicts, is_whole):
    """Those that the short gate has yet to judge, or the whole one."""
    return [name for name in sample if name not in verdicts or is_whole and tuple(verdicts[name]) == LIVED_SO_FAR]


def score(verdicts, wanted):
    """A line on what was judged so far, and what is not as it must be."""
    judged = len(verdicts)
    found = sum(verdict != "survived" for verdict, _ in verdicts.values())
    line = f"{found} of {judged} found by the gate, {judged} of the {wanted} of the sample judged"
    if judged == 0:
        return line, ["no mutant was judged"]
    line += f": {100 * found / judged:.1f} of 100"
    return line, [f"fewer than {FOUND_PERCENT} of 100 are found"] if 100 * found < FOUND_PERCENT * judged else []


def shown_to_fail():
    """What must turn it red does."""
    for found, missed, is_red in ((95, 5, False), (94, 6, True), (0, 0, True)):
        verdicts = {str(n): ("caught" if n < found else "survived", "-") for n in range(found + missed)}
        if bool(score(verdicts, 100)[1]) != is_red:
            raise SystemExit(f"{found} found and {missed} missed is judged otherwise")
    cut_short = {"found": ("caught", "lives"), "lived": LIVED_SO_FAR}
    if not score(cut_short, 3)[1] or left(["found", "lived", "new"], cut_short, True) != ["lived", "new"]:
        raise SystemExit("what lived through the short gate alone is forgotten")


def run(tool, tree, work, arguments, excluded, choose_equivalent, commit):
    """Judges the sample, or as much of it as `--minutes` allows; a run that is begun again goes on where the last one ended."""
    wanted = arguments.sample
    listed = drawn(tool, tree, excluded, arguments.seed)
    equivalent = choose_equivalent(sorted(listed, key=by_place))
    order = [each for each in listed if each["name"] not in equivalent]
    order = order[: int(wanted * SPARE) + 10]
    switched = Switched(tree, Package("engine/src", [], None), order)
    # What the command depends on is mostly built there already.
    target = work.parent
    weed(switched, target)
    sample = [each["name"] for each in order if each["name"] in switched.of][:wanted]
    print(f"{len(listed)} mutants in {', '.join(ROOMS)}; {len(order)} drawn, {len(sample)} of them can be switched", flush=True)
    program = build(tree, target)
    file = work / f"gate-{commit}-{arguments.seed}.json"
    verdicts = json.loads(file.read_text()) if file.exists() else {}
    start = time.monotonic()
    if try_gate(program, 0, 3600, *QUICKEST)[0] != "survived":
        raise SystemExit("the quickest check is red without any mutant")
    quickest_longest = 30 + 8 * (time.monotonic() - start)
    start = time.monotonic()
    reached = work / "gate-reached"
    reached.unlink(missing_ok=True)
    if try_gate(program, 0, 3600, REACHED=str(reached))[0] != "survived":
        raise SystemExit("the gate is red without any mutant")
    called = {int(line) for line in reached.read_text().split()}
    longest = 60 + 4 * (time.monotonic() - start)
    end = start + 60 * arguments.minutes if arguments.minutes else None

    # A gate of several checks has two at work at once.
    one_gate = Lock()

    def is_late():
        return end is not None and time.monotonic() > end

    def judge(name, is_whole):
        if is_late():
            return
        if switched.of[name] not in called:
            said = "survived", "it is never called"
        else:
            number = switched.numbers[name]
            said = ("survived", "-") if is_whole else try_gate(program, number, quickest_longest, *QUICKEST)
            if said[0] == "survived":
                with one_gate:
                    if is_late():
                        return
                    said = try_gate(program, number, longest, *([] if is_whole else SHORT))
            if said[0] == "survived" and not is_whole:
                said = LIVED_SO_FAR
        verdicts[name] = said
        print(f"  {': '.join(said)}: {name}", flush=True)
        file.write_text(json.dumps(verdicts, indent=1))

    for is_whole in (False, True):
        with ThreadPoolExecutor(WORKERS) as pool:
            list(pool.map(lambda name: judge(name, is_whole), left(sample, verdicts, is_whole)))
    verdicts = {name: verdicts[name] for name in sample if name in verdicts}
    line, faults = score(verdicts, wanted)
    for name, (verdict, _) in sorted(verdicts.items()):
        if verdict == "survived":
            print(f"SURVIVED: {name}")
    print(f"seed {arguments.seed}, commit {commit}: {line}")
    if len(verdicts) < wanted and not arguments.minutes:
        faults.append("the sample is larger than what can be switched of it")
    return faults

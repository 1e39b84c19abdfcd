"""Mutants that cannot be switched, one build after the other, by cargo-mutants itself.

In the copy the engine's integration tests are modules of its unit tests: one program to build for a mutant, not fifteen.
"""

import json
import os
import re
import shutil
import subprocess

# Rooms that use none of those that are changed, and tests of more than a second each.
SLOW = [
    "document::",
    "storage::",
    "faces::salvage::",
    "faces::backup::",
    "faces::block_edges::",
    "a_store_that_is_maintained_at_any_time_holds_what_was_put_there",
    "a_file_that_is_updated_for_ever_stays_small",
    "a_full_file_takes_deletes_and_then_documents_again",
    "readers_go_on_seeing_their_state_while_commits_are_placed_and_taken_back",
]
# Many times what a build takes.
BUILD_SECONDS = 120
ENGINE = ["--package=holotype", "--features=holotype/testing", "--profile=mutation"]
SUMMARIES = {"CaughtMutant": "caught", "MissedMutant": "survived", "Unviable": "unviable", "Timeout": "timeout"}


def plant_faces(tree):
    engine = tree / "engine"
    text = ""
    for file in sorted([*engine.glob("tests/*.rs"), *engine.glob("tests/*/main.rs")]):
        name = file.parent.name if file.name == "main.rs" else file.stem
        text += f'#[path = "../{file.relative_to(engine)}"]\nmod {name};\n'
    (engine / "src" / "faces.rs").write_text(text)
    lib = engine / "src" / "lib.rs"
    # cargo-mutants tries a module twice that two configurations declare.
    once = re.sub(r'#\[cfg\(not\(any\(test, feature = "testing"\)\)\)\]\n(#\[expect\([^]]*\)\]\n)?mod \w+;\n', "", lib.read_text())
    lib.write_text(once + "\n#[cfg(test)]\nextern crate self as holotype;\n#[cfg(test)]\nmod faces;\n")
    manifest = engine / "Cargo.toml"
    changed = manifest.read_text().replace("[package]\n", "[package]\nautotests = false\n", 1)
    manifest.write_text(changed + "\n[lib]\ndoctest = false\n")


def environment(target):
    host = subprocess.run(["rustc", "-vV"], check=True, capture_output=True, text=True).stdout
    host = re.search(r"^host: (\S+)", host, re.M)[1].upper().replace("-", "_")
    return dict(
        os.environ,
        CARGO_TARGET_DIR=str(target),
        CARGO_INCREMENTAL="1",
        # As in trial.py.
        **{f"CARGO_TARGET_{host}_RUNNER": "env RUSTC_BOOTSTRAP=1"},
        PROPTEST_DISABLE_FAILURE_PERSISTENCE="true",
        PROPTEST_MAX_SHRINK_ITERS="0",
        PROPTEST_RNG_SEED="1",
    )


def verdicts(tool, tree, names, target, arguments):
    out = target.with_name(target.name + "-out")
    shutil.rmtree(out, ignore_errors=True)
    skipped = [word for each in SLOW for word in ("--skip", each)]
    command = [
        str(tool), "mutants", "--no-config", "--dir", str(tree), "--in-place", "--output", str(out), "--cap-lints=true",
        "--colors=never", "--no-times", "--timeout-multiplier=6", "--minimum-test-timeout=30",
        # What the compiler evaluates may never end either.
        f"--build-timeout={BUILD_SECONDS}", *arguments,
        # Fields of structs are not picked by their names.
        *["--file=" + file for file in sorted({name.split(":")[0] for name in names})],
        *["--re=^" + re.escape(name) + "$" for name in sorted(names)],
        "--", "--", *skipped, "-Zunstable-options", "--fail-fast",
    ]  # fmt: skip
    done = subprocess.run(command, env=environment(target))
    if done.returncode not in (0, 2, 3):
        raise SystemExit(f"cargo-mutants fails with {done.returncode}")
    said = {}
    for outcome in json.loads((out / "mutants.out" / "outcomes.json").read_text())["outcomes"]:
        if outcome["scenario"] != "Baseline":
            said[outcome["scenario"]["Mutant"]["name"]] = SUMMARIES[outcome["summary"]]
    return {name: verdict for name, verdict in said.items() if name in names}

"""Counts lines: `coverage.py LIMIT UNREACHABLE LCOV [--missed] [--json FILE]`. See fuzz/coverage, which calls it."""

import json
import re
import sys
from pathlib import Path

SOURCE = Path("engine/src")
ROOMS = ["format", "log", "recovery"]

# The first line of an item that is left out whole, to the brace that closes it in the same column.
LEFT_OUT = re.compile(r"^( *)(impl .*\bDebug for\b|(pub(\([a-z]+\))? )?fn fork\b|const fn bytes_from_end\b)")


def left_out(lines):
    """The numbers of the lines that are not counted."""
    numbers, indent = set(), None
    for number, line in enumerate(lines, 1):
        begins = LEFT_OUT.match(line)
        if indent is None and begins:
            indent = begins.group(1)
        if indent is not None:
            numbers.add(number)
            if line.startswith(indent + "}"):
                indent = None
    return numbers


def unreachable(path):
    """File and text of each line of the list; each must still be there."""
    listed = {}
    for line in Path(path).read_text().splitlines():
        if line and not line.startswith("#"):
            file, text = line.split("|", 1)
            listed.setdefault(file.strip(), []).append(text.strip())
    return listed


def reached(path):
    """For each file of the rooms, how often each line with code was reached."""
    hits, file = {}, None
    for line in open(path):
        if line.startswith("SF:"):
            at = line.find(f"/{SOURCE}/")
            name = line[at + len(f"/{SOURCE}/"):].strip() if at >= 0 else ""
            file = name if name.split("/")[0] in ROOMS else None
        elif file and line.startswith("DA:"):
            number, count = line[3:].split(",")[:2]
            lines = hits.setdefault(file, {})
            lines[int(number)] = lines.get(int(number), 0) + int(count)
    return hits


def main(limit, listed_path, lcov, *options):
    listed, hits = unreachable(listed_path), reached(lcov)
    rooms = {room: [0, 0, 0] for room in ROOMS}
    stale, files = [], []
    for file, lines in sorted(hits.items()):
        source = (SOURCE / file).read_text().splitlines()
        skipped = left_out(source)
        texts = listed.pop(file, [])
        excused = {number for number, line in enumerate(source, 1) if line.strip() in texts and not lines.get(number)}
        stale += [f"{file}: {text}" for text in texts if text not in {source[number - 1].strip() for number in excused}]
        counted = {number for number in lines if number not in skipped and number not in excused}
        missed = sorted(number for number in counted if lines[number] == 0)
        room = rooms[file.split("/")[0]]
        room[0] += len(counted) - len(missed)
        room[1] += len(counted)
        room[2] += len(excused & set(lines))
        files.append({"name": file, "lines": len(counted), "reached": len(counted) - len(missed)})
        if missed:
            print(f"{100 - 100 * len(missed) / len(counted):6.1f} %  {len(missed):4} missed of {len(counted):4}  {file}")
            if "--missed" in options:
                for number in missed:
                    print(f"          {number:4} {source[number - 1]}")
    print()
    is_low = False
    for name, (hit, counted, excused) in rooms.items():
        share = 100 * hit / max(counted, 1)
        is_low |= share < float(limit)
        print(f"{share:6.1f} %  {hit:5} of {counted:5} lines  {name}  ({excused} more cannot be reached)")
    stale += [f"{file}: no line of it is counted" for file in listed]
    if "--json" in options:
        summary = [{"name": name, "lines": counted, "reached": hit, "excused": excused}
                   for name, (hit, counted, excused) in rooms.items()]
        written = json.dumps({"limit": float(limit), "rooms": summary, "files": files})
        Path(options[options.index("--json") + 1]).write_text(written + "\n")
    for text in stale:
        print(f"fuzz/unreachable.txt lists what is reached, or not there: {text}", file=sys.stderr)
    if is_low:
        print(f"below {limit} %", file=sys.stderr)
    sys.exit(1 if is_low or stale else 0)


main(*sys.argv[1:])

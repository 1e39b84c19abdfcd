#!/usr/bin/env python3
"""A second reader of Holotype files, written from the pages of `spec/` alone.

It opens a file, recovers its log and shows what is in it; it never writes. It is meant to be read beside the
text: every rule names its clause. Speed is no aim. `layout.py` follows `format.md`, `recovery.py` follows
`recovery.md`, `coding.py` follows `encoding.md`, and `state.py` says what the commits make.

    holotype_reader.py dump FILE      every document, one JSON line each
    holotype_reader.py inspect FILE   slots, segments, frames and records

Exit: 0 done, 2 usage, 3 no store that this reader can open, 4 corrupt.
"""

import json
import sys

from coding import to_json
from layout import Refused, lsn_text, read_slot
from recovery import Recovery


def dump(data, out):
    store = Recovery(data).run().store
    rows = list(store.rows())  # all of it is checked before any of it is written
    for name, key, value in rows:
        row = {"collection": name, "key": to_json(key), "doc": to_json(value)}
        out.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")


def inspect(data, out):
    """Show everything that the log holds, and then say how it ends: in order, or why not."""
    for index in (0, 1):
        out.write(f"slot {'AB'[index]}: {read_slot(data, index) or 'not valid'}\n")
    recovery = Recovery(data)
    try:
        recovery.run()
    finally:
        show_log(recovery, out)


def show_log(recovery, out):
    image, shown = recovery.image, None
    for frame, base, records in recovery.log:
        if frame.segment is not shown:
            shown = frame.segment
            out.write(f"segment {shown.sequence} at {image.start(shown.index)}: {shown.header}\n")
        last = ", last" if frame.last else ""
        out.write(f"  frame at {image.start(shown.index) + frame.at}: commit {lsn_text(frame.lsn)}, ")
        out.write(f"part {frame.part}{last}, flags {frame.flags}, states {lsn_text(frame.states)}, base {base}\n")
        for record in records:
            out.write(f"    {show_record(record)}\n")
    if recovery.end:
        end = recovery.end
        out.write(f"accepted up to {lsn_text(end.lsn)}, segment {end.segment.sequence}, offset {end.at}\n")


def show_record(record):
    if record is None:
        return "a record that is skipped"
    kinds = "put delete relocated chunk catalog freed opening time".split()
    text = f"{record.at}: {kinds[record.kind - 1]}, flags {record.flags:#x}, collection {record.collection}"
    if record.key is not None:
        text += f", key {json.dumps(to_json(record.key), ensure_ascii=False)}"
    return f"{text}, body of {len(record.body)} bytes"


def main(arguments):
    commands = {"dump": dump, "inspect": inspect}
    if len(arguments) != 2 or arguments[0] not in commands:
        sys.stderr.write(__doc__)
        return 2
    try:
        with open(arguments[1], "rb") as file:
            data = file.read()
    except OSError as error:
        sys.stderr.write(f"{arguments[1]}: {error.strerror}\n")
        return 3
    try:
        commands[arguments[0]](data, sys.stdout)
    except Refused as refused:
        sys.stderr.write(f"{arguments[1]}: {refused}\n")
        return refused.exit
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

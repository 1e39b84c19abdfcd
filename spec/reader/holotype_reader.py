#!/usr/bin/env python3
"""A second reader of Holotype files, from `spec/` alone: `holotype_reader.py FILE`, a JSON line a document.

`coding.py` is for encoding.md, `layout.py` and `checkpoint.py` for format.md, `recovery.py` for recovery.md.
Exit: 0 done, 2 usage, 3 no store that this reader can open, 4 corrupt.
"""
import base64
import json
import sys
from coding import Refused
from recovery import Recovery

def wrapped(data):  # E-6.7; NaN and large ints are left as Python writes them
    return {"$binary": {"base64": base64.b64encode(data).decode(), "subType": "00"}}
def dump(data, out):
    for name, key, value in list(Recovery(data).run().store.rows()):  # all is checked before any is written
        row = {"collection": name, "key": key, "doc": value}
        out.write(json.dumps(row, default=wrapped, ensure_ascii=False, separators=(",", ":")) + "\n")

def main(arguments):
    if len(arguments) != 1:
        sys.stderr.write(__doc__)
        return 2
    try:
        with open(arguments[0], "rb") as file:
            dump(file.read(), sys.stdout)
    except (OSError, Refused) as error:
        sys.stderr.write(f"{arguments[0]}: {error}\n")
        return 4 if isinstance(error, Refused) and error.kind == "corrupt" else 3
    return 0

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

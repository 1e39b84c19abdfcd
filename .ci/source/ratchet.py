"""Numbers that may only fall: each is held to a ceiling in a file."""

import sys


def hold(file, counted, update):
    """Compares `counted`, a number under each name, with the ceilings in `file`; `update` lowers those, and never raises one."""
    lines = file.read_text().splitlines()
    ceilings = {key: int(value) for key, value in (line.split() for line in lines if line and line[0] != "#")}
    if set(ceilings) != set(counted):
        sys.exit(f"{file}: should have {', '.join(counted)}")
    risen = [key for key in counted if counted[key] > ceilings[key]]
    for key, value in counted.items():
        print(f"{key}: {value} (ceiling {ceilings[key]})")
    if risen:
        sys.exit(f"rose: {', '.join(risen)}; a ceiling in {file.name} only falls")
    if counted == ceilings:
        return
    if not update:
        print(f"fell: --update keeps {file.name} there")
        return
    comments = [line for line in lines if line.startswith("#")]
    file.write_text("\n".join(comments + [f"{key} {value}" for key, value in counted.items()]) + "\n")

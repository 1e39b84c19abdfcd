"""Functions that a path of an index can be under (I-1.5), as Q-5 has them."""

import re
from datetime import date
from pathlib import Path

LINES = (Path(__file__).parent.parent / "folding.txt").read_text().splitlines()
FOLDS = {int(line[:5].split()[0], 16): int(line.split()[1], 16) for line in LINES if line[:1] != "#"}
UPPER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))", re.A)


def time(text):
    found = TIME.fullmatch(text) if isinstance(text, str) else None
    if not found:
        return None
    year, month, day, hour, minute, second = map(int, found.groups()[:6])
    fraction, sign, hours, minutes = found.groups()[6:]
    try:
        # Every 400 years have as many days, and the library knows no year 0.
        days = date(year or 400, month, day).toordinal() - (0 if year else 146097) - date(1970, 1, 1).toordinal()
    except ValueError:
        return None
    if hour > 23 or minute > 59 or second > 60 or sign and (int(hours) > 23 or int(minutes) > 59):
        return None
    offset = (int(hours) * 60 + int(minutes)) * (-1 if sign == "-" else 1) if sign else 0
    moment = (days * 24 + hour) * 60 + minute - offset
    if second == 60:
        return (moment + 1) * 60000 if (moment + 1) % 1440 == 0 else None
    return (moment * 60 + second) * 1000 + int((fraction or "").ljust(3, "0")[:3])


FUNCTIONS = {  # with the type of what each gives
    "fold": (str, lambda value: value.translate(FOLDS) if isinstance(value, str) else None),
    "lower": (str, lambda value: value.translate(UPPER) if isinstance(value, str) else None),
    "time": (int, time),
    "length": (int, lambda value: len(value) if isinstance(value, str | bytes | list | dict) else None),
}


def given(function, nodes):
    if function is None:
        return nodes
    results = [FUNCTIONS[function][1](value) for value in nodes]
    return [result for result in results if result is not None]

"""Whether the vectors decide every MUST that binds a reader: a reader that breaks one turns a vector red.

    run musts               all mutants; ends with 1 where one is alive, or the table does not fit the specification
    run musts CLAUSE...     those of these clauses, each with what it turns red
"""

import sys

import mutant
import table
from trial import first_wrong, tried
from vectors import cases


def main(wanted):
    mutant.limit()
    rules, faults = table.read()
    asked = cases()
    if red := first_wrong(mutant.Reader(), asked):
        faults.append(f"the reader itself is wrong: {red}")
    mutants = [(rule["clause"], change) for rule in rules for change in rule.get("mutant", [])]
    # A check that cannot fail is none: a reader with nothing wrong has to come out alive.
    clause, change = mutants[0]
    if tried(asked, clause, {**change, "new": change["old"]})[0]:
        faults.append("a mutant that changes nothing turns a vector red")
    mutants = [each for each in mutants if not wanted or each[0] in wanted]
    dead = 0
    for clause, change in mutants:
        red, fault = tried(asked, clause, change)
        dead += red is not None
        faults += [fault] if fault else []
        if wanted:
            print(f"{clause:7} {change['name']}: {red or 'ALIVE'}")
    print(f"{len(asked)} cases, {len(rules)} rules, {len(mutants)} mutants: {dead} turn a vector red")
    for fault in faults:
        print(f"  {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

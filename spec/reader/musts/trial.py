"""What vector a wrong reader turns red, and whether that is what its row of the table says."""

import mutant

# What uses these modules is every case, and not those of files or of values alone.
READS_ALL = ("coding", "functions", "filters", "indexes", "subject")


def first_wrong(reader, cases):
    for case in cases:
        if how := reader.wrong(case):
            return f"{case.name}: {how}"
    return None


def in_order(cases, clause, changed):
    """The cases that a change of a module can show in: first those that name the clause, and short files before long ones."""
    concerned = [case for case in cases if changed in READS_ALL or case.opens == (changed != "values")]
    return sorted(concerned, key=lambda case: (clause not in case.clauses, case.cost))


def tried(cases, clause, change):
    """What the mutant turns red, and what is wrong with its row."""
    about = f"{clause}, {change['name']}"
    try:
        reader = mutant.Reader(change["file"], change["old"], change["new"])
        red = first_wrong(reader, in_order(cases, clause, change["file"]))
    except (ValueError, *mutant.SLIPS) as error:
        return None, f"{about}: the mutant is broken: {error}"
    if red and "alive" in change:
        return red, f"{about}: it turns {red} red and needs no reason any more"
    if not red and "alive" not in change:
        return red, f"{about}: no vector tells this reader from a right one"
    return red, None

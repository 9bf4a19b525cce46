"""Cases of one rule, of which the ordinary run takes a part and the slow run takes the others."""

import pytest


def later(case):
    """Mark a case, with a name and marks of its own or without, as slow."""
    if isinstance(case, type(pytest.param())):
        return pytest.param(*case.values, marks=[*case.marks, pytest.mark.slow], id=case.id)
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=pytest.mark.slow)


def every_third(cases, first=0):
    """Leave every third case as it is, from the case ``first`` on, and mark the others as slow."""
    return [case if n % 3 == first else later(case) for n, case in enumerate(cases)]


def at_once(keep, cases):
    """Leave the cases as they are for which ``keep`` is true, and mark the others as slow."""
    return [case if keep(case) else later(case) for case in cases]


def one_of_each(kind, cases):
    """Leave the first case of each kind as it is, and mark the others as slow."""
    first, cases = {}, list(cases)
    for case in cases:
        first.setdefault(kind(case), case)
    return at_once(lambda case: first[kind(case)] is case, cases)

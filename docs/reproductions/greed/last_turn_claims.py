"""The claims of sections 4 and 5 of *A Guide to Optimal Play in Greed*, about last turns."""

from collections.abc import Callable, Iterator

import numpy as np
from exactdice.core import BoolArray
from exactdice.games import Greed

from ..claim import At, Claim
from .last_turns import LastTurns, last_turns

MAX_SCORE, MAX_SIDES = 100, 10
RANGE = f"every game with M <= {MAX_SCORE}, s <= {MAX_SIDES}, every state"
#: Games whose every last turn is compared with the table.
COMPARED = [(m, s) for m in (1, 2, 10, 25) for s in range(1, MAX_SIDES + 1)]


def last_turn_claims() -> Iterator[Claim]:
    """List the claims."""
    tables = [LastTurns(MAX_SCORE, sides) for sides in range(1, MAX_SIDES + 1)]
    yield At("section 4, equation (1)").statement(
        printed="rating of n dice as a sum over the pmf",
        exact="the same as by the recursion over single dice",
        holds=all(tables[s - 1].compare(Greed(m, s, max_dice=m)) for m, s in COMPARED),
        note=f"M = 1, 2, 10, 25, s <= {MAX_SIDES}, every state and n <= M",
    )
    yield At("section 5, forfeit").statement(
        printed="who is ahead in the last turn wins by rolling 0 dice",
        exact="rating 1",
        holds=all(table.forfeit_wins() for table in tables),
        note=RANGE,
    )
    yield At("section 5, certain victory").statement(
        printed="some n wins for sure if its sums all lie in (o, M]",
        exact="rating 1 there",
        holds=all(table.certain_victory_wins() for table in tables),
        note=RANGE,
    )
    yield At("section 5, Conjecture 1").statement(
        printed="above mean p + E[T] > (o + M) / 2 the rating falls as n grows",
        exact="true: it never rises",
        holds=all(table.conjecture_1_holds() for table in tables),
        note=RANGE,
    )
    yield At("section 5, Conjecture 2").statement(
        printed="the rating is unimodal in n",
        holds=all(table.is_unimodal() for table in tables),
        note=RANGE,
    )
    yield At("section 5, the algorithm").statement(
        printed="searching from n > (M + o - 2p) / (s + 1) finds an optimum",
        exact="true, if the search goes down",
        holds=all(table.is_optimal(table.found_downwards()).all() for table in tables),
        note=RANGE,
    )
    yield from _readings(tables)
    yield from _figure_3()


def _readings(tables: list[LastTurns]) -> Iterator[Claim]:
    """Check the open questions and side remarks of section 5."""
    (limit, sides), level = _first(
        tables, lambda table: np.any(table.rises_above_the_middle(strictly=False), axis=1)
    )
    table = last_turns(limit, sides)
    n = int(np.flatnonzero(table.rises_above_the_middle(strictly=False)[level])[0])
    yield At("section 5, Conjecture 1, read strictly").mistake(
        printed="the rating is monotonically decreasing",
        exact=f"not strictly: at 0 : {table.gap[level]} with M = {limit}, s = {sides} both {n} and "
        f"{n + 1} dice rate {table.rating(level, n)}",
        holds=False,
        note="the smallest M with p <= o where equal ratings other than 0 follow each other",
    )
    (limit, sides), lost = _first(tables, lambda table: ~table.is_optimal(table.found_upwards()))
    table = last_turns(limit, sides)
    found, best = int(table.found_upwards()[lost]), int(table.ratings[lost].argmax())
    yield At("section 5, the algorithm").mistake(
        printed="calculate the rating until it starts to decrease, if upwards",
        exact=f"at 0 : {table.gap[lost]} with M = {limit}, s = {sides} it stops at {found} of "
        f"rating {table.rating(lost, found)}; {best} have {table.rating(lost, best)}",
        holds=False,
        note="the text leaves the direction open; by Conjecture 1 the search has to go down",
    )
    states = last_turns(10, 3)
    within = (states.dice >= states.gap[:, None]) & (states.dice <= states.room[:, None])
    inside = np.where(within, states.ratings, -1).max(axis=1)
    lost_states = np.flatnonzero((states.gap >= 0) & (inside < states.ratings.max(axis=1)))
    best = int(states.ratings[states.row(10, 7)].argmax())
    yield At("section 5").mistake(
        printed="one would evaluate every n from s_o - s_p up to M - s_p",
        exact=f"at 0 : 7 with M = 10, s = 3 the best are {best} dice, fewer than 7: s_o - s_p "
        "points take (s_o - s_p) / s dice",
        holds=not len(lost_states),
        note=f"the range has no optimum in {len(lost_states)} of {(states.gap >= 0).sum()} pairs "
        "of M - p and o - p with p <= o",
    )


def _first(
    tables: list[LastTurns], found: Callable[[LastTurns], BoolArray]
) -> tuple[tuple[int, int], int]:
    """Find the smallest game, by limit and then by sides, with a state for which ``found`` holds.

    Only states with p = 0 <= o count.

    Returns:
        (M, s), and the row of the state in the table of that game.
    """
    sizes = []
    for table in tables[1:]:  # with one side there is no chance
        rooms = table.room[found(table) & (table.gap >= 0) & (table.room > 0)]
        sizes += [(int(rooms.min()), table.sides)] if len(rooms) else []
    limit, sides = min(sizes)
    own = last_turns(limit, sides)
    rows = np.flatnonzero(found(own) & (own.gap >= 0) & (own.room == limit))
    return (limit, sides), int(rows[0])


def _figure_3() -> Iterator[Claim]:
    table = last_turns(10, 3)
    states = [(p, o) for o in range(10, -1, -1) for p in range(11)]
    rows = np.array([table.row(10 - p, o - p) for p, o in states])
    fewest = table.ratings.argmax(axis=1)[rows].reshape(11, 11)
    yield Claim(
        place="figure 3",
        printed="(a picture of the labels n*)",
        exact=", ".join("".join(map(str, row)) for row in fewest.tolist()),
        verdict="garbled",
        recorded="garbled",
        note="the transcriptions have none of the pictures; here the fewest optimal dice for p = 0 "
        "to 10, o = 10 down to 0, with M = 10, s = 3",
    )
    labels = table.figure_3()
    wrong = ~table.is_optimal(labels)[rows]
    row, best = table.row(5, 2), int(table.ratings[table.row(5, 2)].argmax())
    yield At("figure 3").mistake(
        printed="the label is n*, found from n_0 = (M + s_o - 2 s_p) / (s + 1)",
        exact=f"{wrong.sum()} of {len(rows)} labels are not optimal if n_0 itself is the last n "
        f"tried, as in the picture: {labels[row]} at (5, 7) rates "
        f"{table.rating(row, int(labels[row]))}, {best} rate {table.rating(row, best)}",
        holds=not wrong.any(),
        note="M = 10, s = 3; the algorithm starts from the first n above n_0 and is right",
    )
    yield At("sections 5 and 7, figures 3 and 4").mistake(
        printed="the figures are of M = 20, s = 3",
        exact="the axes of the pictures end at 10: M = 10, as section 1.1 announces of all "
        "examples",
        holds=False,
    )

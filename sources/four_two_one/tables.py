"""Sections 5.2 to 6 of *Fate stochastic management and policy benchmark in 421*: its policies.

Which policy is better than which, by how much, and what their ties between goals and between
decisions matter.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import pairwise

import numpy as np

from ...baselines.induction import maximize, tie
from ...baselines.solver import evaluate, solve
from ...baselines.task import Task
from ...games import FourTwoOne, IntArray
from ...games.ranking import Combination
from ..claim import Claim, agreement, number
from .policies import equally_good, goal_values

#: The utility of each table, u_0r, and u_0 / u_0r by policy for first and next players. Cells that
#: the transcription lost are "(lost)"; serendipity is for first players only.
TABLES = {
    "Table 1": (
        "goal:123", "0.22811",
        {"goal:0,0": "1 0.57858", "goal:0,1": "1", "goal:1,0": "1 0.57858", "goal:1,1": "1",
         "optimal": "1 0.57858"},
    ),
    "Table 2": (
        "goals:123,224,345", "0.32805",
        {"goal:0,0": "0.73037 0.43734", "goal:0,1": "0.73037", "goal:1,0": "0.97777 0.47746",
         "goal:1,1": "0.98657", "optimal": "1 0.49152"},
    ),
    "Table 3": (
        "transfer", "3.7467",
        {"goal:0,0": "0.90834 0.68812", "goal:0,1": "0.90834", "goal:1,0": "0.87962 0.68991",
         "goal:1,1": "0.99634", "optimal": "1 0.77663"},
    ),
    "Table 4": (
        "sum", "14",
        {"goal:0,0": "(lost) 0.92599", "goal:0,1": "(lost)", "goal:1,0": "0.75 0.85875",
         "goal:1,1": "0.99900", "optimal": "1 0.97321"},
    ),
}  # fmt: skip


def policy_claims() -> Iterator[Claim]:
    """Check everything."""
    for part in (_goals, _order, _interpretation, _fuzziness, _conclusions):
        yield from part()


@cache
def ratio(utility: str, policy: str, first: bool) -> Fraction:
    """Give u_0 / u_0r: a policy's value over the first player's optimum."""
    task = Task(FourTwoOne(utility=utility, duration=None if first else 3))
    best = solve(Task(FourTwoOne(utility=utility)), exact=True).value
    return Fraction(evaluate(policy, task, exact=True).value) / Fraction(best)


def _equal_goals(game: FourTwoOne) -> dict[str, Fraction]:
    """Give the exact value of each strategy whose goal (51) rates highest before the first cast."""
    plans, expected = goal_values(game, serendipity=False)
    goals = np.ones((1, plans.shape[1]), dtype=bool)
    (best,) = maximize(expected[:1], goals, tie(game))[1]
    return {
        "".join(map(str, game.combinations[goal])): _exactly(plans[:, goal], game)
        for goal in np.flatnonzero(best).tolist()
    }


def _exactly(actions: IntArray, game: FourTwoOne) -> Fraction:
    return Fraction(evaluate(actions, Task(game, exact=True), exact=True).value)


def _goals() -> Iterator[Claim]:
    """Check what section 5.2 says of goals that rate alike."""
    utility = TABLES["Table 2"][0]
    optimum = Fraction(solve(Task(FourTwoOne(utility=utility)), exact=True).value)
    for player, duration in (("first", None), ("next", 3)):
        equal = _equal_goals(FourTwoOne(utility=utility, duration=duration))
        shares = {goal: value / optimum for goal, value in equal.items()}
        yield Claim(
            "section 5.2",
            "of many optimal goals in (51) or (52) we need not discriminate between them",
            f"Table 2, goal:0,0, {player} player: "
            + ", ".join(f"{goal} gives {float(share):.5f}" for goal, share in shares.items()),
            agreement(len(set(equal.values())) == 1), "wrong",
            "equal in (51), which counts the goal alone; the tables take the first in order",
        )  # fmt: skip
    casual = FourTwoOne(utility=utility)
    goals, dilemmas = len(_equal_goals(casual)), _has_dilemmas(casual)
    yield Claim(
        "section 5.2", "dilemma implies duplicity, but the converse is false",
        f"the first player of Table 2 has {goals} equal goals, and "
        f"{'some' if dilemmas else 'no'} dilemma", agreement(goals > 1 and not dilemmas), "agrees",
        "a dilemma is a goal that may not be completed yet",
    )  # fmt: skip
    flat = FourTwoOne(utility=_flat)
    every = set(goal_values(flat, serendipity=True)[1][0].round(12).tolist())
    yield Claim(
        "section 5.1", "for a constant utility any goal is optimal", "true: each is worth 1",
        agreement(every == {1.0}), "agrees", "the 56 one-goal strategies, first player",
    )  # fmt: skip


def _flat(_faces: Combination, _casts: int) -> int:
    return 1


def _has_dilemmas(game: FourTwoOne) -> bool:
    """Say whether a player who holds and casts a whole combination may be barred from taking it."""
    turn = game.legs[0].turn
    for state, seen in enumerate(turn.observations.tolist()):
        cast = tuple(face for face in seen[game.dice - 1 : -1] if face)
        everything = next(action for action, taken in game.options(cast) if taken == cast)
        if not turn.legal[state, everything]:
            return True
    return False


def in_dictionary_order(game: FourTwoOne, serendipity: bool) -> IntArray:
    """Play by horizon 1, equally good next states in the order of a dictionary: shape (state,)."""
    good, turn = equally_good(game, serendipity), game.legs[0].turn
    choices = np.empty(turn.num_states, dtype=np.int64)
    for state, seen in enumerate(turn.observations.tolist()):
        held = tuple(face for face in seen[: game.dice - 1] if face)
        cast = tuple(face for face in seen[game.dice - 1 : -1] if face)
        following = {action: tuple(sorted(held + taken)) for action, taken in game.options(cast)}
        choices[state] = min(np.flatnonzero(good[state]).tolist(), key=following.__getitem__)
    return choices


def _order() -> Iterator[Claim]:
    """Check which order between equally good next states the tables follow."""
    place = "section 5.2, Table 3, goal:1,0, first player, equally good states"
    game, printed = FourTwoOne(utility="transfer"), "0.87962"
    optimum = Fraction(solve(Task(game), exact=True).value)
    shorter = ratio("transfer", "goal:1,0", first=True)
    yield number(
        f"{place} shorter first", printed, shorter, "agrees by truncation",
        note="of as many dice the lexicographically smaller: all legible numbers of Tables 1 to 4 "
        "follow this order",
    )  # fmt: skip
    yield number(
        f"{place} in the lexicographic order of the text", printed,
        _exactly(in_dictionary_order(game, serendipity=False), game) / optimum, "wrong",
        "where 12 comes before 2, as in a dictionary",
    )  # fmt: skip


def _interpretation() -> Iterator[Claim]:
    """Check what section 5.4 reads out of the tables."""
    value = {
        (table, policy): ratio(utility, policy, first=True)
        for table, (utility, _, rows) in TABLES.items()
        for policy in rows
    }
    gains = {
        table: (
            value[table, "goal:0,1"] - value[table, "goal:0,0"],
            value[table, "goal:1,1"] - value[table, "goal:1,0"],
            value[table, "goal:1,0"] - value[table, "goal:0,0"],
            value[table, "goal:1,1"] - value[table, "goal:0,1"],
        )
        for table in TABLES
    }
    yield Claim(
        "section 5.4", "serendipity never hurts, and helps more with the greater horizon",
        "with h = 0 it adds " + ", ".join(f"{float(gain[0]):.5f}" for gain in gains.values())
        + ", with h = 1 " + ", ".join(f"{float(gain[1]):.5f}" for gain in gains.values()),
        agreement(all(0 <= short <= long for short, long, _, _ in gains.values())), "agrees",
        "Tables 1 to 4",
    )  # fmt: skip
    yield Claim(
        "section 5.4", "horizon and revision help with serendipity",
        "they add " + ", ".join(f"{float(gain[3]):.5f}" for gain in gains.values()),
        agreement(all(gain[3] >= 0 for gain in gains.values())), "agrees", "Tables 1 to 4",
    )  # fmt: skip
    signs = [(gain[2] > 0) - (gain[2] < 0) for gain in gains.values()]
    yield Claim(
        "section 5.4", "without serendipity they help peaked utilities and hurt fuzzy ones",
        "they add " + ", ".join(f"{float(gain[2]):.5f}" for gain in gains.values()),
        agreement(signs == [0, 1, -1, -1]), "agrees",
        "first players; nothing in Table 1, where all is optimal",
    )  # fmt: skip
    following = [
        ratio(utility, "goal:1,0", first=False) - ratio(utility, "goal:0,0", first=False)
        for utility, _, _ in TABLES.values()
    ]
    yield Claim(
        "section 5.4", "the same, which defines fuzziness, for next players",
        "they add " + ", ".join(map(str, following)) + ": the transfer function is fuzzy for "
        "first players but not for next ones", agreement(
            [(gain > 0) - (gain < 0) for gain in following] == signs
        ), "wrong", "0.68812 and 0.68991 in Table 3 say so too",
    )  # fmt: skip


def _fuzziness() -> Iterator[Claim]:
    """Check the paper's two readings of "fuzzier", which are two different claims."""
    handicaps = {
        table: ratio(utility, "optimal", first=False) for table, (utility, _, _) in TABLES.items()
    }
    shown = ", ".join(f"{float(handicap):.5f}" for handicap in handicaps.values())
    printed = "next players are handicapped, but less with a fuzzier utility"
    yield Claim(
        "section 5.4, increasingly fuzzy utilities", printed,
        f"handicapped, but with three goals more than with one: {shown}",
        agreement(all(one < other for one, other in pairwise(handicaps.values()))), "wrong",
        "optimal next players in Tables 1 to 4, which section 5.4 calls increasingly fuzzy",
    )  # fmt: skip
    fuzzy = {
        table for table, (utility, _, _) in TABLES.items()
        if ratio(utility, "goal:1,0", first=True) < ratio(utility, "goal:0,0", first=True)
    }  # fmt: skip
    peaked = handicaps.keys() - fuzzy
    yield Claim(
        "section 5.4, fuzzy or not by its definition", printed,
        f"true: fuzzy are {' and '.join(sorted(fuzzy))}; with them next players get at least "
        f"{float(min(handicaps[table] for table in fuzzy)):.5f} of the first ones' optimum, with "
        f"the others at most {float(max(handicaps[table] for table in peaked)):.5f}",
        agreement(max(handicaps[table] for table in peaked)
                  < min(handicaps[table] for table in fuzzy) and max(handicaps.values()) < 1),
        "agrees",
        "fuzzy if and only if horizon and revision without serendipity hurt, here first players",
    )  # fmt: skip


def _conclusions() -> Iterator[Claim]:
    """Check what section 6 reads out of the tables."""
    help_0, help_1 = (
        [ratio(utility, f"goal:{h},1", True) - ratio(utility, f"goal:{h},0", True)
         for utility, _, _ in TABLES.values()]
        for h in (0, 1)
    )  # fmt: skip
    yield Claim(
        "section 6", "the short-sighted manager (h = 0) gets hardly any help from serendipity",
        f"at most {float(max(help_0)):.5f} of the optimum, with h = 1 up to "
        f"{float(max(help_1)):.5f}", agreement(10 * max(help_0) < max(help_1)), "agrees",
        "first players in Tables 1 to 4; hardly any: less than a tenth of it",
    )  # fmt: skip
    losses = [
        ratio(utility, "goal:0,0", True) - ratio(utility, "goal:1,0", True)
        for utility in ("transfer", "sum")
    ]
    yield Claim(
        "section 6", "with a fuzzy utility and no serendipity, revision dramatically reduces it",
        f"by {float(losses[0]):.5f} and {float(losses[1]):.5f} of the optimum",
        agreement(min(losses) > 0), "agrees", "first players in Tables 3 and 4",
    )  # fmt: skip

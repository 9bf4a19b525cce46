"""Sections 5.2 to 6 of *Fate stochastic management and policy benchmark in 421*: its policies.

The claims compare the values of policies, and test whether ties between goals or actions matter.
"""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cache
from itertools import compress, pairwise
from operator import not_

import numpy as np
from exactdice.baselines.problem.task import Task
from exactdice.baselines.solving.solver import evaluate, solve
from exactdice.core import IntArray
from exactdice.core.arithmetic import FLOATS
from exactdice.games import FourTwoOne
from exactdice.games.four_two_one.game import Combination
from exactdice.games.four_two_one.policies import equally_good, goal_values

from ..claim import At, Claim

#: The utility of each table. ``tables.csv`` has u_0r, and u_0 / u_0r by policy for first and next
#: players; "(lost)" marks what the transcription has lost. Next players have no serendipity.
UTILITIES = {
    "Table 1": "goal:123",
    "Table 2": "goals:123,224,345",
    "Table 3": "transfer",
    "Table 4": "sum",
}


def policy_claims() -> Iterator[Claim]:
    """List the claims."""
    for part in (_goals, _order, _interpretation, _fuzziness, _conclusions):
        yield from part()


@cache
def ratio(utility: str, policy: str, first: bool) -> Fraction:
    """Return u_0 / u_0r, the value of a policy divided by the first player's optimum."""
    task = Task(FourTwoOne(utility=utility, duration=None if first else 3))
    return Fraction(evaluate(policy, task, exact=True).value) / best_value(utility)


@cache
def best_value(utility: str) -> Fraction:
    """Return u_0r: the first player's optimum."""
    return Fraction(solve(Task(FourTwoOne(utility=utility)), exact=True).value)


def _gains(policy: str, other: str, first: bool = True) -> list[Fraction]:
    """Return by how much the ratio of one policy exceeds that of another, in each of the tables."""
    return [ratio(name, policy, first) - ratio(name, other, first) for name in UTILITIES.values()]


def _decimals(numbers: Iterable[Fraction]) -> str:
    return ", ".join(f"{float(number):.5f}" for number in numbers)


def _signs(numbers: Iterable[Fraction]) -> list[int]:
    return [(number > 0) - (number < 0) for number in numbers]


def _equal_goals(game: FourTwoOne) -> dict[str, Fraction]:
    """Return the exact value of each strategy whose goal is best by (51) before the first cast."""
    plans, expected = goal_values(game, serendipity=False)
    goals = np.ones((1, plans.shape[1]), dtype=bool)
    (best,) = FLOATS.best(expected[:1], goals, FLOATS.tie(game))[1]
    return {
        "".join(map(str, game.combinations[goal])): _exactly(plans[:, goal], game)
        for goal in np.flatnonzero(best).tolist()
    }


def _exactly(actions: IntArray, game: FourTwoOne) -> Fraction:
    return Fraction(evaluate(actions, Task(game), exact=True).value)


def _goals() -> Iterator[Claim]:
    """Check the claims of section 5.2 about goals of equal rating."""
    utility = UTILITIES["Table 2"]
    optimum = best_value(utility)
    for player, duration in (("first", None), ("next", 3)):
        equal = _equal_goals(FourTwoOne(utility=utility, duration=duration))
        shares = {goal: value / optimum for goal, value in equal.items()}
        yield At("section 5.2").mistake(
            printed="of many optimal goals in (51) or (52) we need not discriminate between them",
            exact=f"Table 2, goal:0,0, {player} player: "
            + ", ".join(f"{goal} gives {float(share):.5f}" for goal, share in shares.items()),
            holds=len(set(equal.values())) == 1,
            note="equal in (51), which counts the goal alone; the tables take the first in order",
        )
    casual = FourTwoOne(utility=utility)
    goals, dilemmas = len(_equal_goals(casual)), _has_dilemmas(casual)
    yield At("section 5.2").statement(
        printed="dilemma implies duplicity, but the converse is false",
        exact=f"the first player of Table 2 has {goals} equal goals, and "
        f"{'some' if dilemmas else 'no'} dilemma",
        holds=goals > 1 and not dilemmas,
        note="a dilemma is a goal that may not be completed yet",
    )
    flat = FourTwoOne(utility=_flat)
    every = set(goal_values(flat, serendipity=True)[1][0].round(12).tolist())
    yield At("section 5.1").statement(
        printed="for a constant utility any goal is optimal",
        exact="true: each is worth 1",
        holds=every == {1.0},
        note="the 56 one-goal strategies, first player",
    )


def _flat(_faces: Combination, _casts: int) -> int:
    return 1


def _has_dilemmas(game: FourTwoOne) -> bool:
    """Return whether the rules ever forbid to accumulate a complete combination."""
    turn = game.legs[0].turn
    for state, seen in enumerate(turn.observations.tolist()):
        cast = tuple(face for face in seen[game.dice - 1 : -1] if face)
        everything = next(action for action, taken in game.options(cast) if taken == cast)
        if not turn.legal[state, everything]:
            return True
    return False


def in_dictionary_order(game: FourTwoOne, serendipity: bool) -> IntArray:
    """Play with horizon 1; of equally good next states take the first as in a dictionary.

    Returns:
        Actions, shape (state,).
    """
    good, turn = equally_good(game, serendipity), game.legs[0].turn
    choices = np.empty(turn.num_states, dtype=np.int64)
    for state, seen in enumerate(turn.observations.tolist()):
        held = tuple(face for face in seen[: game.dice - 1] if face)
        cast = tuple(face for face in seen[game.dice - 1 : -1] if face)
        following = {action: tuple(sorted(held + taken)) for action, taken in game.options(cast)}
        choices[state] = min(np.flatnonzero(good[state]).tolist(), key=following.__getitem__)
    return choices


def _order() -> Iterator[Claim]:
    """Check in which order the tables take equally good next states."""
    place = "section 5.2, Table 3, goal:1,0, first player, equally good states"
    game, printed = FourTwoOne(utility="transfer"), "0.87962"
    yield At(f"{place} shorter first").number(
        printed=printed,
        exact=ratio("transfer", "goal:1,0", first=True),
        recorded="agrees by truncation",
        note="of as many dice the lexicographically smaller: all legible numbers of Tables 1 to 4 "
        "follow this order",
    )
    yield At(f"{place} in the lexicographic order of the text").number(
        printed=printed,
        exact=_exactly(in_dictionary_order(game, serendipity=False), game) / best_value("transfer"),
        recorded="wrong",
        note="where 12 comes before 2, as in a dictionary",
    )


def _interpretation() -> Iterator[Claim]:
    """Check the conclusions of section 5.4 from the tables."""
    short, long = _gains("goal:0,1", "goal:0,0"), _gains("goal:1,1", "goal:1,0")
    yield At("section 5.4").statement(
        printed="serendipity never hurts, and helps more with the greater horizon",
        exact=f"with h = 0 it adds {_decimals(short)}, with h = 1 {_decimals(long)}",
        holds=all(0 <= less <= more for less, more in zip(short, long, strict=True)),
        note="Tables 1 to 4",
    )
    helped = _gains("goal:1,1", "goal:0,1")
    yield At("section 5.4").statement(
        printed="horizon and revision help with serendipity",
        exact=f"they add {_decimals(helped)}",
        holds=min(helped) >= 0,
        note="Tables 1 to 4",
    )
    first, following = (_gains("goal:1,0", "goal:0,0", player) for player in (True, False))
    yield At("section 5.4").statement(
        printed="without serendipity they help peaked utilities and hurt fuzzy ones",
        exact=f"they add {_decimals(first)}",
        holds=_signs(first) == [0, 1, -1, -1],
        note="first players; nothing in Table 1, where all is optimal",
    )
    yield At("section 5.4").mistake(
        printed="the same, which defines fuzziness, for next players",
        exact=f"they add {', '.join(map(str, following))}: the transfer function is fuzzy for "
        "first players but not for next ones",
        holds=_signs(following) == _signs(first),
        note="0.68812 and 0.68991 in Table 3 say so too",
    )


def _fuzziness() -> Iterator[Claim]:
    """Check the paper's two readings of "fuzzier", which are two different claims."""
    handicaps = [ratio(utility, "optimal", first=False) for utility in UTILITIES.values()]
    printed = "next players are handicapped, but less with a fuzzier utility"
    yield At("section 5.4, increasingly fuzzy utilities").mistake(
        printed=printed,
        exact=f"handicapped, but with three goals more than with one: {_decimals(handicaps)}",
        holds=all(one < other for one, other in pairwise(handicaps)),
        note="optimal next players in Tables 1 to 4, which section 5.4 calls increasingly fuzzy",
    )
    hurt = [gain < 0 for gain in _gains("goal:1,0", "goal:0,0")]
    fuzzy, peaked = list(compress(handicaps, hurt)), list(compress(handicaps, map(not_, hurt)))
    yield At("section 5.4, fuzzy or not by its definition").statement(
        printed=printed,
        exact=f"true: fuzzy are {' and '.join(compress(UTILITIES, hurt))}; with them next players "
        f"get at least {float(min(fuzzy)):.5f} of the first ones' optimum, with the others at most "
        f"{float(max(peaked)):.5f}",
        holds=max(peaked) < min(fuzzy) and max(handicaps) < 1,
        note="fuzzy if and only if horizon and revision without serendipity hurt, here first "
        "players",
    )


def _conclusions() -> Iterator[Claim]:
    """Check the conclusions of section 6 from the tables."""
    short, long = max(_gains("goal:0,1", "goal:0,0")), max(_gains("goal:1,1", "goal:1,0"))
    yield At("section 6").statement(
        printed="the short-sighted manager (h = 0) gets hardly any help from serendipity",
        exact=f"at most {float(short):.5f} of the optimum, with h = 1 up to {float(long):.5f}",
        holds=10 * short < long,
        note="first players in Tables 1 to 4; hardly any: less than a tenth of it",
    )
    losses = _gains("goal:0,0", "goal:1,0")[2:]
    yield At("section 6").statement(
        printed="with a fuzzy utility and no serendipity, revision dramatically reduces it",
        exact="by {:.5f} and {:.5f} of the optimum".format(*map(float, losses)),
        holds=min(losses) > 0,
        note="first players in Tables 3 and 4",
    )

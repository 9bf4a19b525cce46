"""The notes *V(initial)* on two-player Shut the Box, line by line.

The notes print recursions and no numbers. The recursions are computed here as the notes write them,
and their results are compared with the exact solution of the game.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np
from exactdice.baselines import prepare
from exactdice.baselines.policies.kinds import Policy
from exactdice.baselines.problem.equilibrium import equilibrium
from exactdice.baselines.problem.task import Task
from exactdice.baselines.solving.solver import evaluate, solve
from exactdice.core import Array
from exactdice.core.positions import states_of
from exactdice.core.sampling import draw
from exactdice.games import ShutTheBox

from ..claim import At, Claim

TITLE = "Shut the Box: the notes V(initial) on the two-player game as a pair of decision problems"
SIZES = (6, 8, 9, 10)  # tiles
GAMES_PLAYED = 20_000

Tiles = frozenset[int]


class NotesRecursion:
    """V_1 and V_2 as the notes write them.

    Args:
        tiles: number of tiles.
        early_stop: with the cases that the notes "can add to avoid" rolls after the game is
            decided: V_2 = 1 once the open sum is below the target, and no rolls by the first
            player after the box is shut.
    """

    def __init__(self, tiles: int, early_stop: bool = False) -> None:
        self.everything = frozenset(range(1, tiles + 1))
        self._early_stop = early_stop
        self.after_2 = cache(self._after_2)
        self.after_1 = cache(self._after_1)
        self._subsets = cache(_subsets_with_sum)

    def value_2(self, tiles: Tiles, roll: int, target: int) -> Fraction:
        """V_2(S, r, t), the second player's expected wins."""
        subsets = self._subsets(tiles, roll)
        if not subsets:
            return Fraction(1 + (sum(tiles) < target) - (sum(tiles) > target), 2)
        return max(self.after_2(tiles - subset, target) for subset in subsets)

    def _after_2(self, tiles: Tiles, target: int) -> Fraction:
        if self._early_stop and sum(tiles) < target:
            return Fraction(1)
        return sum(
            (p * self.value_2(tiles, roll, target) for roll, p in _rolls(sum(tiles)).items()),
            Fraction(0),
        )

    def value_1(self, tiles: Tiles, roll: int, shut_wins: bool) -> Fraction:
        """V_1(S, r), the first player's expected wins.

        If ``shut_wins``, an empty box is worth 1, as in the recursion; otherwise the second player
        still has its turn, as in the first line of the notes.
        """
        if not tiles and shut_wins:
            return Fraction(1)
        subsets = self._subsets(tiles, roll)
        if not subsets:
            return 1 - self.after_2(self.everything, sum(tiles))
        return max(self.after_1(tiles - subset, shut_wins) for subset in subsets)

    def _after_1(self, tiles: Tiles, shut_wins: bool) -> Fraction:
        if self._early_stop and not tiles:
            return self.value_1(tiles, 0, shut_wins)
        return sum(
            (p * self.value_1(tiles, roll, shut_wins) for roll, p in _rolls(sum(tiles)).items()),
            Fraction(0),
        )


def _subsets_with_sum(tiles: Tiles, total: int) -> list[Tiles]:
    sizes = range(1, len(tiles) + 1)
    subsets = (subset for size in sizes for subset in combinations(sorted(tiles), size))
    return [frozenset(subset) for subset in subsets if sum(subset) == total]


@cache
def _rolls(open_sum: int) -> dict[int, Fraction]:
    """P(roll r'): one die while the open sum is at most 6, else two."""
    if open_sum <= 6:
        return {roll: Fraction(1, 6) for roll in range(1, 7)}
    return {roll: Fraction(6 - abs(roll - 7), 36) for roll in range(2, 13)}


@cache
def _notes(tiles: int, early_stop: bool) -> NotesRecursion:
    """Return the recursion; all checks share its cached values."""
    return NotesRecursion(tiles, early_stop)


def claims() -> list[Claim]:
    """List the claims."""
    return [*_recursions(), *_laws(), *_initial_values(), *_simulations()]


def _recursions() -> Iterator[Claim]:
    game = ShutTheBox()
    exact = equilibrium(game, exact=True)
    plain, early = _notes(9, early_stop=False), _notes(9, early_stop=True)
    second, first = states_of(game, 1), states_of(game, 0)
    states = f"{len(second):,} states of nine tiles"
    ours = exact.values[1].at(1, second).tolist()
    theirs = [plain.value_2(*state) for state in _notation(game, second, seat=1)]
    yield At("V_2(S, r, t)").statement(
        printed="0, 1/2 or 1 if no S' has the sum r; else the best S'",
        exact="the exact solution of the game in every state",
        holds=ours == theirs,
        note=states,
    )
    avoided = [early.value_2(*state) for state in _notation(game, second, seat=1)]
    yield At("V_2, cases below").statement(
        printed="1 if sum(S - S') < t avoids rolling on, and changes nothing",
        exact="the same values",
        holds=theirs == avoided,
        note=states,
    )
    ours = exact.values[0].at(0, first).tolist()
    states = f"{len(first):,} states of nine tiles"
    theirs = [plain.value_1(*state[:2], True) for state in _notation(game, first, seat=0)]
    yield At("V_1(S, r)").statement(
        printed="1 - V_2 with the target sum(S) if no S' has the sum r; else the best S'",
        exact="the exact solution of the game in every state",
        holds=ours == theirs,
        note=states,
    )
    yield At("V_1, cases below").statement(
        printed="add cases to avoid rolls after box shut; they change nothing",
        exact="the same values, under either rule for a shut box",
        holds=all(
            early.value_1(*state[:2], shut_wins) == plain.value_1(*state[:2], shut_wins)
            for state in _notation(game, first, seat=0)
            for shut_wins in (True, False)
        ),
        note=states,
    )


def _laws() -> Iterator[Claim]:
    game = ShutTheBox()
    two = _law(game, 45)
    yield At("V_1 and V_2, sum over r' = 2..12").statement(
        printed="the law of two dice if sum(S - S') > 6",
        exact=f"rolls {min(two)} to {max(two)}",
        holds=two == _rolls(45),
    )
    one = _law(game, 6)
    yield At("V_1 and V_2, sum over r' = 1..6").statement(
        printed="the law of one die if sum(S - S') <= 6",
        exact=f"rolls {min(one)} to {max(one)}",
        holds=one == _rolls(6),
    )


def _initial_values() -> Iterator[Claim]:
    answers: dict[tuple[int, bool], Fraction] = {}
    for tiles in SIZES:
        notes = _notes(tiles, early_stop=True)
        for shut_wins in (True, False):
            value = notes.after_1(notes.everything, shut_wins)
            answers[tiles, shut_wins] = value
            task = Task(ShutTheBox(tiles, shut_wins=shut_wins))
            yield At(
                "V_1, 1.0 if S is empty" if shut_wins else "first line, 1 - P2's reward"
            ).statement(
                printed=f"compute V(initial), here for {tiles} tiles",
                exact=value,
                holds=value == solve(task, exact=True).value,
                note="the first player is "
                + ("favoured" if value > Fraction(1, 2) else "the underdog"),
            )
    yield At("first line and V_1").statement(
        printed="one rule for a first player who shuts the box",
        exact=f"two: worth {float(answers[9, True]):.6f} or {float(answers[9, False]):.6f} to it",
        holds=all(answers[tiles, True] == answers[tiles, False] for tiles in SIZES),
        recorded="wrong",
        note="which of them holds decides who is favoured with nine tiles",
    )


def _simulations() -> Iterator[Claim]:
    for name in ("optimal", "random"):
        task = Task(ShutTheBox(), 0, "optimal")
        evaluation = evaluate(name, task)
        exact, mean = float(evaluation.value), _simulate(task, evaluation.policy)
        deviation = (exact * (1 - exact) / GAMES_PLAYED) ** 0.5  # a half for a tie makes it less
        errors = abs(mean - exact) / deviation
        yield At("last line").statement(
            printed=f"simulate using pi ({name}) to estimate V_pi(initial)",
            exact=f"V_pi = {exact:.9f}; {GAMES_PLAYED:,} games give {mean:.4f}",
            holds=errors < 4,
            note=f"{errors:.1f} standard errors of {deviation:.4f}",
        )


def _simulate(task: Task, policy: Policy) -> float:
    """Estimate the first player's mean payoff against the task's opponent from sample games."""
    rng = np.random.default_rng(0)
    policies = {0: policy, **prepare(task).policies}
    starts, law = task.game.initial_law()
    states = rng.choice(starts, GAMES_PLAYED, p=law.astype(float))
    seats = np.zeros(GAMES_PLAYED, dtype=np.int64)
    total = 0.0
    while len(states):
        actions = np.empty(len(states), dtype=np.int64)
        for seat, chosen in policies.items():
            actions[seats == seat] = chosen.sample(states[seats == seat], rng)
        rolled = draw(task.game, states, actions, rng)
        move = task.game.advance(seats, states, actions, rolled)
        total += float(move.payoffs[:, 0].sum())
        playing = ~move.over[:, 0]
        seats, states = move.seats[playing], move.states[playing]
    return total / GAMES_PLAYED


def _notation(game: ShutTheBox, states: Array, seat: int) -> Iterator[tuple[Tiles, int, int]]:
    """Write states as the notes do: (S, r, t)."""
    for *tiles, roll, target in game.observe(states, seat).tolist():
        yield frozenset(i + 1 for i, is_open in enumerate(tiles) if is_open), roll, target


def _law(game: ShutTheBox, open_sum: int) -> dict[int, Fraction]:
    row = 0 if game.num_dice(open_sum) == game.dice else 1
    return {roll: p for roll, p in enumerate(game.exact_laws()[row].tolist()) if p}

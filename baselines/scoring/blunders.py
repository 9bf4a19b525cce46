"""Blunders and mistakes: decisions that lower the expected payoff, with their costs."""

from dataclasses import dataclass, fields
from typing import Any, NamedTuple, TypeGuard

import numpy as np
from numpy.typing import NDArray

from ...core import FLOATS, Array, BoolArray, Game, IntArray, Stage, Values, present
from ...core.checks import at_most
from ...core.table import frame
from ...core.tour import KEPT, Costliest, Decisions
from ..law.law_game import LawGame
from ..operators.induction import settled, visit_action_values
from ..operators.players import with_illegal
from ..policies.kinds import Policy
from ..solving.evaluation import Solution

#: Below this occupancy, a sentence says "once in ... games" instead of a share of the games.
RARE = 5e-5


@dataclass(frozen=True)
class Blunder:
    """A decision that lowers the expected payoff.

    Attributes:
        observation: the agent's observation.
        action: the action that the agent took.
        best_action: the smallest optimal action.
        value: expected payoff after ``action`` if play is optimal from then on; 0 if the agent
            circles there for ever.
        best_value: expected payoff after ``best_action`` if play is optimal from then on.
        occupancy: probability that a game visits this observation and the agent takes ``action``;
            with cycles, the expected number of times.
        cost: expected payoff lost per game, ``occupancy * (best_value - value)``.
        words: the decision, its value and its cost in a sentence.
        position: the position in words.
        move: what the agent does, such as "rolls 2 dice".
        best_move: what optimal play does.
    """

    observation: tuple[int, ...]
    action: int
    best_action: int
    value: float
    best_value: float
    occupancy: float
    cost: float
    words: str
    position: str
    move: str
    best_move: str


class Blunders(list[Blunder]):
    """Blunders, costliest first: a list, which is also a table."""

    def to_frame(self) -> Any:
        """Return a ``pandas.DataFrame`` with a row for each blunder, a column for each attribute.

        Raises:
            InputError: if pandas is not installed.
        """
        names = [field.name for field in fields(Blunder)]
        return frame({name: [getattr(blunder, name) for blunder in self] for name in names})


class Mistakes(NamedTuple):
    """Every decision of an agent whose value is below the best by more than rounding.

    A policy that circles for ever where nothing is paid takes actions of the best value there, and
    gives away that value: its decision where it comes to circle is a mistake, which costs it all.
    """

    rate: float  # expected number of mistakes in a game
    # Whether an action is a mistake, as packed bits, uint8, shape (state, byte).
    bits: NDArray[np.uint8]
    costliest: Decisions  # the costliest mistakes, sorted by state and then action
    circling: BoolArray  # the states where the agent circles and gives something away, (state,)

    def at(self, states: IntArray, num_actions: int) -> BoolArray:
        """Return whether actions are mistakes in some states, shape (state, action)."""
        return np.unpackbits(self.bits[states], axis=1, count=num_actions).astype(bool)


def mistakes(
    agent: Policy, solution: Solution, visits: Values, count: int | None = KEPT
) -> Mistakes:
    """Find the mistakes of an agent, and keep ``count`` of the costliest; None keeps all."""
    task, game, arithmetic = solution.task, solution.task.game, solution.arithmetic
    rate, kept = 0.0, Costliest(count)
    circling = settled(solution.problem.law, agent)
    bits = np.zeros((game.num_states, -(-game.num_actions // 8)), dtype=np.uint8)

    def visit(stage: Stage, expected: Array) -> None:
        nonlocal rate
        best = arithmetic.unscaled(solution.found.again(stage, expected), stage.scale)
        values = with_illegal(game, stage, expected, arithmetic)
        values = arithmetic.unscaled(values, stage.scale[:, None])
        values[circling[stage.states]] = arithmetic.number(0)
        met = visits.at(stage.seat, stage.states)
        weights = agent.spread(stage.states, met, arithmetic)
        equal = np.asarray(solution.tie(stage.states))[..., None]
        wrong = (weights > 0) & (best[:, None] - values > equal)
        circling[stage.states] &= wrong.any(axis=1)
        bits[stage.states] = np.packbits(wrong, axis=1)
        rows, taken = np.nonzero(wrong)
        states = stage.states[rows]
        law = agent.probabilities(states)[np.arange(len(states)), taken]
        value, top, often = map(FLOATS.numbers, (values[wrong], best[rows], weights[wrong]))
        found = Decisions(states, taken, value, top, law, often)
        rate += float(found.occupancy.sum())
        kept.add(found)

    visit_action_values(solution.problem.law, visit, solution.found, task.seat, arithmetic)
    return Mistakes(rate, bits, kept.sorted(), circling)


def is_timeless(game: Game) -> TypeGuard[LawGame]:
    """Return whether states are alike to the agent: observations do not tell the time."""
    return isinstance(game, LawGame) and game.num_states > game.rows


def costliest(
    decisions: Decisions, solution: Solution, count: int | None, circling: BoolArray | None = None
) -> Blunders:
    """List the costliest decisions as blunders, costliest first.

    In an environment with a law, whose observations do not tell the time, the mistakes of a
    state within its limit of moves are one blunder: it has the values of the costliest one.
    """
    game, costs = solution.task.game, decisions.costs
    order = np.lexsort((decisions.actions, decisions.states, -costs))
    numbers = np.column_stack([decisions.values, decisions.best, decisions.occupancy, costs])
    if timeless := is_timeless(game):
        codes = decisions.states[order] % game.rows * game.num_actions + decisions.actions[order]
        _, firsts, groups = np.unique(codes, return_index=True, return_inverse=True)
        totals = np.zeros((len(firsts), 2))
        np.add.at(totals, groups, numbers[order, 2:])
        order = order[firsts]
        numbers[order, 2:] = totals
        order = order[np.argsort(-totals[:, 1], kind="stable")]
    order = order[: at_most(count)]
    states = decisions.states[order]
    seen = game.observe(states, solution.task.seat)[:, : 1 if timeless else None]
    actions = np.column_stack([decisions.actions[order], solution.policy.likeliest(states)])
    for_ever = np.zeros(len(states), bool) if circling is None else circling[states]
    columns = zip(seen, actions.tolist(), numbers[order].tolist(), for_ever.tolist(), strict=True)
    return Blunders(_blunder(game, *row) for row in columns)


def _once(chance: float) -> str:
    """Return a small probability in words: "once in 56,000 games"."""
    every = 1 / chance
    return f"once in {round(every, 2 - len(str(int(every)))):,.0f} games"


def _blunder(
    game: Game, seen: IntArray, actions: list[int], numbers: list[float], circles: bool
) -> Blunder:
    """Make a blunder of its action and the best one, and of values, occupancy and cost."""
    (action, best_action), (value, best_value, occupancy, cost) = actions, numbers
    words = present(game)
    position = words.describe(seen)
    does, best = (words.describe_move(seen, chosen) for chosen in actions)
    met = f"in {occupancy:.2%} of games" if occupancy >= RARE else _once(occupancy)
    if game.has_cycles or occupancy > 1:
        met = f"{occupancy:.4f} times a game"
    does += " and so on, in a circle for ever," * circles
    sentence = (
        f"{position}: {does} for an expected payoff of {value:.4f}, "
        f"optimal play {best} for {best_value:.4f}; met {met}, costs {cost:.6f} a game"
    )
    what = action, best_action, value, best_value, occupancy, cost
    return Blunder(tuple(seen.tolist()), *what, sentence, position, does, best)

"""Blunders and mistakes: decisions that lower the expected payoff, with their costs."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ...core import FLOATS, FloatArray, Game, IntArray, Stage, Values
from ...core.checks import at_most
from ...core.presentation import present
from ...core.table import frame
from ...core.tour import Decisions
from ..policies.kinds import Policy
from ..solving.evaluation import Solution
from ..solving.induction import visit_action_values
from ..solving.players import with_illegal

#: Below this occupancy, a sentence says "once in ... games" instead of a share of the games.
RARE = 5e-5


@dataclass(frozen=True)
class Blunder:
    """A decision that lowers the expected payoff.

    Attributes:
        observation: the agent's observation.
        action: the action that the agent took.
        best_action: the smallest optimal action.
        value: expected payoff after ``action`` if play is optimal from then on.
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


class Mistakes(Decisions):
    """Pairs of a state and a costly action of the agent, in the order of the states."""

    __slots__ = ()

    def at(self, states: IntArray) -> tuple[IntArray, IntArray]:
        """List the mistakes in some states: indices into ``states``, and actions, (mistake,)."""
        first = np.searchsorted(self.states, states)
        counts = np.searchsorted(self.states, states, side="right") - first
        places = np.repeat(np.arange(len(states)), counts)
        nth = np.arange(len(places)) - np.repeat(np.cumsum(counts) - counts, counts)
        return places, self.actions[first[places] + nth]

    def costliest(self, solution: Solution, count: int | None) -> Blunders:
        """List the costliest mistakes as blunders, costliest first."""
        game, seat = solution.task.game, solution.task.seat
        costs = self.costs
        order = np.lexsort((self.actions, self.states, -costs))[: at_most(count)]
        rows = zip(
            map(tuple, game.observe(self.states[order], seat).tolist()),
            self.actions[order].tolist(),
            solution.policy.likeliest(self.states[order]).tolist(),
            self.values[order].tolist(),
            self.best[order].tolist(),
            self.occupancy[order].tolist(),
            costs[order].tolist(),
            strict=True,
        )
        return Blunders(
            Blunder(*entry) for entry in ((*row, *_in_words(game, *row)) for row in rows)
        )


def mistakes(agent: Policy, solution: Solution, visits: Values) -> Mistakes:
    """Find every decision of an agent whose value is below the best by more than rounding.

    Args:
        agent: the agent's policy.
        solution: the optimum of its task.
        visits: occupancy of each position.
    """
    task, game = solution.task, solution.task.game
    equal = FLOATS.tie(game)
    found: list[tuple[IntArray | FloatArray, ...]] = []

    def visit(stage: Stage, expected: FloatArray) -> None:
        states = stage.states
        if stage.seat == task.seat:
            best = solution.found.again(stage, expected)
            values = with_illegal(game, stage, expected, FLOATS)
            met = visits.at(stage.seat, states)
            weights = agent.spread(states, met, FLOATS)
            wrong = np.nonzero((weights > 0) & (best[:, None] - values > equal))
            law = agent.probabilities(states[wrong[0]])[np.arange(len(wrong[0])), wrong[1]]
            numbers = values[wrong], best[wrong[0]], law, weights[wrong]
            found.append((states[wrong[0]], wrong[1], *numbers))

    visit_action_values(game, visit, solution.found, task.seat, FLOATS)
    columns = [np.concatenate(column) for column in zip(*found, strict=True)]
    in_order = np.argsort(columns[0], kind="stable")
    return Mistakes(*(column[in_order] for column in columns))


def _once(chance: float) -> str:
    """Return a small probability in words: "once in 56,000 games"."""
    every = 1 / chance
    return f"once in {round(every, 2 - len(str(int(every)))):,.0f} games"


def _in_words(
    game: Game,
    observation: tuple[int, ...],
    action: int,
    best_action: int,
    value: float,
    best_value: float,
    occupancy: float,
    cost: float,
) -> tuple[str, str, str, str]:
    """Return the words for a blunder: a sentence, the position, the move and the best move."""
    seen = np.array(observation)
    words = present(game)
    position = words.describe(seen)
    does, best = (words.describe_move(seen, chosen) for chosen in (action, best_action))
    met = f"in {occupancy:.2%} of games" if occupancy >= RARE else _once(occupancy)
    if game.has_cycles:
        met = f"{occupancy:.4f} times a game"
    sentence = (
        f"{position}: {does} for an expected payoff of {value:.4f}, "
        f"optimal play {best} for {best_value:.4f}; met {met}, costs {cost:.6f} a game"
    )
    return sentence, position, does, best

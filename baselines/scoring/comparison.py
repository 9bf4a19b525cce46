"""Agents side by side: their scores, where two of them differ, and who wins head to head.

The regret of an agent is the sum over positions of what its moves cost there (see ``score``), so
the regret of one agent minus that of another is a sum over positions, too,

    regret(A) - regret(B) = sum over states s of  cost of A in s  -  cost of B in s.

A cost is how often the agent comes to the position, times the loss by its move if play is optimal
from then on. Where two agents play alike, they differ only in how often they come there.
"""

from collections.abc import Iterator, Mapping, Sequence, Sized
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ...core import Array, InParts, InputError, IntArray, SizeError, Table, present
from ...core.checks import at_most
from ...core.positions import by_name, pieces, require_few_states
from ...core.progress import tell
from ..policies.door import Reading, label
from ..problem.problem import convert, prepare
from ..problem.task import Task
from ..solving.occupancy import outcomes
from ..solving.solver import evaluate, read_player, solve
from .figure import FIGURES
from .score import Score, in_json, score
from .summary import lost, pays_wins, quoted, result

#: Largest difference by rounding between a mean payoff and the mean of its law.
WITHIN = 1e-9


class Difference(NamedTuple):
    """A position in which two agents play differently."""

    observation: tuple[int, ...]  # what the agents observe
    position: str  # the position in words
    # What each agent does, in words; of agents that draw their moves, the action of which one has
    # the most more than the other.
    moves: tuple[str, str]
    best_move: str  # what optimal play does
    # Expected payoff a game that each agent loses by its moves in the position.
    costs: tuple[float, float]

    @property
    def gain(self) -> float:
        """Expected payoff a game by which the second agent loses less here than the first."""
        return self.costs[0] - self.costs[1]


class Meeting(NamedTuple):
    """Games of the first agent against the second."""

    seat: int  # seat of the first agent
    payoff: float  # expected payoff of the first agent
    # Probability of each payoff of the first agent, highest first; None if payoffs are no wins, or
    # if both players may win.
    outcomes: Mapping[float, float] | None


@dataclass(frozen=True)
class Comparison(InParts):
    """Two agents in one task.

    Attributes:
        first: score of the first agent.
        second: score of the second agent.
        players: both policies as they were given, which play the other seat, too.
        reading: how these policies see the game.
    """

    first: Score
    second: Score
    players: tuple[Any, Any] = field(repr=False)
    reading: Reading = field(repr=False)

    @property
    def gain(self) -> float:
        """Expected payoff by which the second agent beats the first, against the same opponents."""
        return self.second.value - self.first.value

    @cached_property
    def shares(self) -> tuple[float, ...]:
        """Shares of each agent's decisions in which the other plays differently."""
        states, _ = self._changes
        both = self.first, self.second
        return tuple(float(each.occupancy[states].sum()) / each.moves for each in both)

    @cached_property
    def gain_alike(self) -> float:
        """The part of ``gain`` from positions where both play alike, but come unequally often."""
        costs, (states, _) = self.first.costs - self.second.costs, self._changes
        return self.gain - float(costs[states].sum())

    def differences(self, count: int | None = 10) -> list[Difference]:
        """List the positions in which the agents play differently, by the size of their gains.

        Args:
            count: how many at most; None lists all. Their gains and ``gain_alike`` sum to ``gain``.

        Raises:
            SizeError: if the game has too many states for arrays.
        """
        (states, actions), task = self._changes, self.first.task
        costs = np.column_stack([self.first.costs[states], self.second.costs[states]])
        order = np.argsort(-np.abs(costs[:, 0] - costs[:, 1]), kind="stable")[: at_most(count)]
        best = solve(task).policy.likeliest(states[order])
        found, words = [], present(task.game)
        for seen, moves, cost in zip(
            task.game.observe(states[order], task.seat),
            np.column_stack([actions[order], best]).tolist(),
            costs[order].tolist(),
            strict=True,
        ):
            first, second, wanted = (words.describe_move(seen, move) for move in moves)
            where, position = tuple(seen.tolist()), words.describe(seen)
            found.append(Difference(where, position, (first, second), wanted, tuple(cost)))
        return found

    @cached_property
    def meetings(self) -> tuple[Meeting, ...]:
        """Games of the two against each other: the first agent in seat 0, then in seat 1.

        "optimal" is the equilibrium here. Empty unless the game has two players.

        Raises:
            ValueError: if a policy cannot play both seats.
        """
        if self.first.task.game.num_players != 2:
            return ()
        tell(1, 3, "games head to head")
        return self._meeting(0), self._meeting(1)

    def _meeting(self, seat: int) -> Meeting:
        """Let the agents play, with the first in a seat."""
        game = self.first.task.game
        own, other = (
            convert(policy, game, place, self.reading)
            for policy, place in zip(self.players, (seat, 1 - seat), strict=True)
        )
        payoff = float(evaluate(own, Task(game, seat, {1 - seat: other})).value_before_play)
        leader, follower = (own, other) if seat == 0 else (other, own)
        law = outcomes(leader, prepare(Task(game, 0, {1: follower}))).law  # seat 0 always moves
        if law is None or not (pays_wins(game) and game.zero_sum):
            return Meeting(seat, payoff, None)
        paid = {float(won) if seat == 0 else 1 - float(won): float(law[won]) for won in law}
        if abs(sum(won * chance for won, chance in paid.items()) - payoff) > WITHIN:
            return Meeting(seat, payoff, None)  # the payoffs of both add up to another total
        return Meeting(seat, payoff, {won: paid[won] for won in sorted(paid, reverse=True)})

    def parts(self) -> Iterator[str | Table]:
        """Give the sentences and the tables of a comparison."""
        task, first, second = self.first.task, self.first.policy, self.second.policy
        if first == second:
            first, second = f"{first} 1", f"{second} 2"
        names = quoted(first), quoted(second)
        yield task.words
        told = [(f.label, f.text(self.first), f.text(self.second)) for f in FIGURES if f.label]
        yield Table(["", *names], [row for row in told if any(row[1:])])
        better = names if self.gain < 0 else names[::-1]
        apart = lost(abs(self.gain), task.game)
        rounding = self.first.error_bound + self.second.error_bound
        yield (
            f"{better[0]} is better: {better[1]} loses {apart} more."
            if abs(self.gain) > rounding
            else f"Both are equal{' up to rounding' if self.gain else ''}."
        )
        try:
            yield from self._differences(names)
        except SizeError as error:
            yield f"No differences: {error}."
        try:
            yield from self._met(*names)
        except InputError as error:
            yield f"No games head to head: {error}."

    def _differences(self, names: tuple[str, str]) -> Iterator[str | Table]:
        differences, shown = self.differences(), present(self.first.task.game)
        shares = (
            f"{100 * share:.3g} % of the decisions of {name}"
            for share, name in zip(self.shares, names, strict=True)
        )
        yield f"They play differently in {' and in '.join(shares)}."
        agents = self.first.agent, self.second.agent
        drawn = ["" if agent.is_deterministic else "more often " for agent in agents]
        rows = [
            (
                each.position,
                *(
                    often + shown.to_you(move)
                    for often, move in zip(drawn, each.moves, strict=True)
                ),
                shown.to_you(each.best_move),
                f"{each.gain:+.6f}",
            )
            for each in differences
        ]
        header = ("position", *names, "best", f"{names[1]} gains")
        if differences:
            yield Table(header, rows, "where they differ most, and gains a game", texts=4)

    def _met(self, name: str, other: str) -> Iterator[Table]:
        """Make a table of the games of the first agent against the second."""
        meetings, game = self.meetings, self.first.task.game
        if not meetings:
            return
        laws = [each.outcomes for each in meetings if each.outcomes is not None]
        laws = laws if len(laws) == len(meetings) else [{} for _ in meetings]
        paid = sorted({payoff for law in laws for payoff in law}, reverse=True)
        rows = (
            (
                f"{name} in seat {each.seat}",
                *(f"{law.get(payoff, 0.0):.2%}" for payoff in paid),
                f"{each.payoff:.6f}",
            )
            for each, law in zip(meetings, laws, strict=True)
        )
        header = ("", *(result(payoff, game) for payoff in paid), "expected payoff")
        yield Table(header, list(rows), f"head to head: {name} against {other}")

    def as_dict(self) -> dict[str, Any]:
        """Return all of it in JSON's types, ten differences; None if the game is too large."""
        game = self.first.task.game
        found: dict[str, Any] = {
            "task": self.first.task.words,
            "first": self.first.as_dict(),
            "second": self.second.as_dict(),
            "gain": self.gain,
            **dict.fromkeys(("gain_alike", "shares", "differences", "meetings")),
        }
        with suppress(SizeError):
            found["gain_alike"], found["shares"] = self.gain_alike, self.shares
            found["differences"] = [
                one._asdict() | {"gain": one.gain, "observation": by_name(game, one.observation)}
                for one in self.differences()
            ]
        with suppress(InputError):
            found["meetings"] = [
                {**one._asdict(), "outcomes": in_json(one.outcomes)} for one in self.meetings
            ]
        return found

    @cached_property
    def _changes(self) -> tuple[IntArray, IntArray]:
        """Find the states, (state,), that either agent meets and in which they play differently.

        Beside them is the action of which each agent has the most more than the other, (state, 2).
        """
        scores = self.first, self.second
        require_few_states(self.first.task.game)
        met = np.flatnonzero(self.first.occupancy + self.second.occupancy)
        found: list[tuple[IntArray, IntArray]] = []
        for piece in pieces(len(met)):
            states = met[piece]
            own, other = (scored.agent.probabilities(states) for scored in scores)
            changed = np.flatnonzero((own != other).any(axis=1))
            more = (other - own)[changed]
            actions = np.column_stack([more.argmin(axis=1), more.argmax(axis=1)])
            found.append((states[changed], actions))
        states, actions = (np.concatenate(column) for column in zip(*found, strict=True))
        return states, actions


def compare(first: Any, second: Any, env: Any, *, deterministic: bool = True) -> Comparison:
    """Compare two agents exactly: their scores, where they differ, and who wins head to head.

    Args:
        first: whatever ``as_policy`` takes, or a ``Score`` of the same task.
        second: likewise.
        env: an environment of this project, its id, or a ``Task``.
        deterministic: for models, whether they take their likeliest action or draw from their law.

    Raises:
        ValueError: if a policy does not fit the game, or a score is of another task.
    """
    problem, scores = prepare(env), []
    for name, one in (("first", first), ("second", second)):
        found = one if isinstance(one, Score) else score(one, problem, deterministic=deterministic)
        if found.task != problem.task:
            raise InputError(
                f"{name} must be of {problem.task.words}, got a score of {found.task.words}"
            )
        if not found.masked:
            raise InputError(f"{name} must be held to the legal actions, got {found.title}")
        scores.append(found)
    players = tuple(one.agent if isinstance(one, Score) else one for one in (first, second))
    reading = Reading(deterministic=deterministic, sight=problem.sight)
    return Comparison(scores[0], scores[1], (players[0], players[1]), reading)


@dataclass(frozen=True)
class PayoffMatrix:
    """Expected payoff of each policy against each other, averaged over all seats.

    Attributes:
        names: names of the policies.
        payoffs: entry (i, j) is the expected payoff of policy i in one seat if policy j plays all
            others, averaged over the seats; shape (policy, policy), fractions if exact.
    """

    names: tuple[str, ...]
    payoffs: Array

    @property
    def means(self) -> dict[str, float | Fraction]:
        """Mean payoff of each policy against all the others, best first."""
        others = ~np.eye(len(self.names), dtype=bool)
        rows = zip(self.names, self.payoffs, others, strict=True)
        means = {name: sum(row[other].tolist()) / int(other.sum()) for name, row, other in rows}
        return dict(sorted(means.items(), key=lambda entry: -entry[1]))

    @property
    def ranking(self) -> list[str]:
        """Names by mean payoff against all the others, best first."""
        return list(self.means)


def payoff_matrix(
    policies: Mapping[str, Any] | Sequence[Any], env: Any, exact: bool = False
) -> PayoffMatrix:
    """Let every policy play every other, and itself, in every seat.

    Args:
        policies: two at least, each whatever ``as_policy`` takes, by name or in a list. A policy
            must be able to play every seat of the game; "optimal" is the equilibrium.
        env: an environment of this project, its id, or a ``Task``, for its game.
        exact: compute with fractions.

    Raises:
        ValueError: if the game has one player, or there are fewer than two policies.
    """
    problem = prepare(env, exact)
    game = problem.game
    seats = range(game.num_players)
    if len(seats) < 2:
        raise InputError(f"game must have two players at least, got {game!r}")
    if not isinstance(policies, Mapping | list | tuple) or len(policies) < 2:
        size = f" of {len(policies)}" if isinstance(policies, Sized) else ""
        raise InputError(
            "policies must be a mapping from two names at least to policies, or a list of two at "
            f"least, got {type(policies).__name__}{size}"
        )
    named = policies if isinstance(policies, Mapping) else _named(policies)
    players = [
        [read_player(policy, problem, seat, Reading()) for seat in seats]
        for policy in named.values()
    ]
    payoffs = problem.arithmetic.zeros(len(players), len(players))
    for column, others in enumerate(players):
        for seat in seats:
            task = Task(game, seat, {other: others[other] for other in seats if other != seat})
            for row, own in enumerate(players):
                payoffs[row, column] += evaluate(own[seat], task, exact).value_before_play
    return PayoffMatrix(tuple(named), payoffs / len(seats))


def _named(policies: Sequence[Any]) -> dict[str, Any]:
    """Name each policy of a list; policies of one name are numbered."""
    names = [label(policy) for policy in policies]
    found: dict[str, Any] = {}
    for place, (name, policy) in enumerate(zip(names, policies, strict=True)):
        number = names[: place + 1].count(name)
        found[name if names.count(name) == 1 else f"{name} {number}"] = policy
    return found

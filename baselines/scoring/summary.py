"""A score in words: how good the policy is, where it loses most, and its parts as tables.

The part of a game in which a policy loses most is found by a simple rule. A part is an interval of
one or two quantities of a position, such as "last turns with own score at least 91". The rule takes
the part whose share of the regret exceeds its share of decisions most: the weighted relative
accuracy of subgroup discovery (Lavrac, Flach and Zupan 1999). The excess is 0 for the whole game,
and for a part whose decisions lose as much as all others. It is a sum over positions, so the best
interval of a quantity is found in one pass over its values. The second quantity is searched inside
the first interval.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from math import isnan
from typing import NamedTuple

import numpy as np

from ...core import FloatArray, Game, IntArray, SizeError, Table, present
from ...core.words import printable
from ..law.law_game import LawGame
from .score import Score

#: The largest number of intervals that describe a part.
INTERVALS = 2
#: The smallest excess that one more interval must add, so that it is worth its words.
WORTH = 0.05
#: Normalised scores closer to 0 than this number count as random play.
LIKE_RANDOM = 1e-9
#: The component of games whose states are numbered in any order.
NUMBERED = "state"
#: Names of payoffs in games that are won, tied or lost.
_RESULTS = {1.0: "win", 0.5: "tie", 0.0: "loss"}


class WorstPart(NamedTuple):
    """A part of a game in words, with its shares of the regret and of the agent's decisions."""

    words: str
    regret: float
    decisions: float


class _Axis(NamedTuple):
    """A quantity of positions."""

    label: str  # what it is; empty if its names need no label
    places: IntArray  # the quantity of each position, from 0 on, shape (position,)
    names: Sequence[str] | None = None  # name of each value; None for numbers

    def worst(self, inside: IntArray, excess: FloatArray) -> tuple[float, int, int]:
        """Find the interval with the largest sum of some positions' excess: sum, first, last value.

        The excess is their shares of the regret minus their shares of the decisions.
        """
        places = self.places[inside]
        sums = np.bincount(places, excess)
        has_order = all(name.isdecimal() for name in self.names or ())
        if self.label == NUMBERED or not has_order:
            place = int(sums.argmax())  # there are no intervals without an order
            return float(sums[place]), place, place
        before = np.concatenate([[0.0], np.cumsum(sums)])  # of the values below each
        least = np.minimum.accumulate(before[:-1])
        high = int((before[1:] - least).argmax())
        low = int(before[: high + 1].argmin())
        met = places[(places >= low) & (places <= high)]  # without values that are never met
        if not len(met):  # all shares agree, so that no interval is worse than another
            return 0.0, int(places.min()), int(places.max())
        return float(before[high + 1] - before[low]), int(met.min()), int(met.max())

    def words(self, low: int, high: int, inside: IntArray) -> str:
        """Describe an interval among some positions."""
        first, last = (str(n) if self.names is None else self.names[n] for n in (low, high))
        if not self.label:
            return f"{first[:1].lower()}{first[1:]}"
        if self.label.endswith("?"):
            return f"{self.label[:-1]}: {'yes' if low else 'no'}"
        if low == high:
            return f"{self.label} {first}"
        places = self.places[inside]
        if high >= places.max():
            return f"{self.label} at least {first}"
        return f"{self.label} {'at most' if low <= places.min() else f'{first} to'} {last}"


def worst_part(score: Score) -> WorstPart | None:
    """Find the part of the game whose share of the regret exceeds its share of decisions most.

    The score is of a policy that loses something, in a game with arrays of its states. None if the
    regret is spread over the game as the decisions are.
    """
    states = np.flatnonzero(score.occupancy)
    lost, met = score.costs[states], score.occupancy[states]
    lost, met = lost / lost.sum(), met / met.sum()
    axes = _axes(score.task.game, score.task.game.observe(states, score.task.seat))
    inside, reached = np.arange(len(states)), 0.0
    names: list[str] = []
    limits: list[str] = []
    for _ in range(min(INTERVALS, len(axes))):
        each = [axis.worst(inside, (lost - met)[inside]) for axis in axes]
        best = max(range(len(axes)), key=lambda number: each[number][0])
        axis, (excess, low, high) = axes[best], each[best]
        if excess < reached + WORTH:
            break
        (limits if axis.label else names).append(axis.words(low, high, inside))
        places = axis.places[inside]
        inside = inside[(low <= places) & (places <= high)]
        axes = [other for other in axes if other.label != axis.label]
        reached = excess
    if not names and not limits:
        return None
    words = " with ".join(filter(None, ("".join(names) or "those", " and ".join(limits))))
    return WorstPart(words, float(lost[inside].sum()), float(met[inside].sum()))


def _axes(game: Game, observations: IntArray) -> list[_Axis]:
    """List the quantities of positions: those of the game's map, or what the agent observes."""
    layout = present(game).layout(observations)
    if layout is None:
        axes = list(map(_Axis, game.observation_names, observations.T))
        if isinstance(game, LawGame) and axes[0].label == NUMBERED:
            told = game.view.states if game.view else ()
            axes[0] = axes[0]._replace(names=[f'"{name}"' for name in told] or None)
            return axes[:1]  # as blunders are added up over the time
        return axes
    axes = [_Axis("", layout.panel, layout.panels)] if layout.panel is not None else []
    across = _Axis(layout.x_label, layout.column, layout.columns)
    return [*axes, across, _Axis(layout.y_label, layout.row, layout.rows)]


def pays_wins(game: Game) -> bool:
    """Return whether payoffs are wins: 1 for a win, 0 for a loss, between them for a tie."""
    return game.num_players > 1 and game.payoff_range == (0.0, 1.0)


def quoted(policy: str) -> str:
    """Return a policy's name for use in a sentence, in which ``set`` alone would read as a verb."""
    return f'"{printable(policy)}"'


def summary(score: Score) -> tuple[str, ...]:
    """Return sentences on how good a policy is and, where it is known, on where it loses most."""
    with suppress(SizeError):  # of a game too large for the list of decisions
        if not score.blunders(1):
            return ("It is optimal: no decision costs anything.",)
        return tuple(filter(None, (_quality(score), _to_mend(score))))
    return (_quality(score),)


def lost(cost: float, game: Game) -> str:
    """Return a loss in words: wins in a thousand games, or payoff in one game if not wins."""
    if pays_wins(game):
        return f"{_short(1000 * cost)} wins in a thousand games"
    return f"a payoff of {_short(cost)} a game"


def _quality(score: Score) -> str:
    gives = lost(float(score.regret), score.task.game)
    normalized = float(score.normalized)
    if isnan(normalized):
        return f"It loses {gives}."
    if abs(normalized) < LIKE_RANDOM:
        return f"It plays as well as uniformly random play: it loses {gives}."
    if normalized < 0:
        return f"It plays worse than uniformly random play: it loses {gives}."
    digits = max(1, int(score.nines) - 1)  # so that only the optimum has 100 %
    way = _percent(normalized, digits)
    return f"It goes {way} of the way from random play to the optimum: it loses {gives}."


def _to_mend(score: Score) -> str:
    """Return a sentence on where most of the regret lies: in a part of the game or a position."""
    if score.regrets:
        largest = (
            (division, *max(parts.items(), key=lambda part: part[1]), sum(parts.values()))
            for division, parts in score.regrets.items()
        )
        each = (
            f"by {name}, in {part} ({_percent(cost / whole)})"
            for name, part, cost, whole in largest
        )
        return f"Most of that is lost, {'; '.join(each)}."
    part = worst_part(score)
    if part is None:
        return "That is spread over the game: no part has much more of it than of the decisions."
    lost_there, met = _percent(part.regret), _percent(part.decisions)
    return f"{lost_there} of that is lost in {met} of its decisions: {part.words}."


def _percent(share: float, digits: int = 0) -> str:
    return f"{100 * share:.{digits}f} %"


def _short(number: float) -> str:
    """Return a number as text with at least two digits, and no exponent unless it is tiny."""
    return f"{number:.0f}" if number >= 10 else f"{number:.2g}"


def result(payoff: float, game: Game) -> str:
    """Return a payoff in words: "win", "tie" or "loss" if payoffs are wins, else the number."""
    if pays_wins(game):
        return _RESULTS.get(payoff, f"{payoff:.4g} of a win")
    return f"{payoff:g}"


def costliest(score: Score, count: int) -> Table:
    """Return a table of the costliest decisions; ``SizeError`` if the game is too large for it."""
    blunders, shown = score.blunders(count), present(score.task.game)
    often = score.task.game.has_cycles or any(each.occupancy > 1 for each in blunders)
    rows = (
        (
            blunder.position,
            shown.to_you(blunder.move),
            shown.to_you(blunder.best_move),
            f"{blunder.cost:.6f}",
            f"{blunder.occupancy:.4f}" if often else f"{blunder.occupancy:.2%}",
        )
        for blunder in blunders
    )
    header = ("position", "played", "best", "cost a game", "times a game" if often else "of games")
    return Table(header, list(rows), "The costliest decisions", texts=3)


def tables(score: Score) -> Iterator[Table]:
    """Yield the tables of a score in parts: the regret by part, and counts beside optimal play.

    There is no table if the game defines no parts, or is too large for them.
    """
    with suppress(SizeError):
        for division, parts in score.regrets.items():
            whole = sum(parts.values()) or 1.0
            divided = ((name, f"{cost:.4f}", f"{cost / whole:.1%}") for name, cost in parts.items())
            header: tuple[str, ...] = (division, "lost a game", "of the regret")
            yield Table(header, list(divided), f"Regret by {division}")
        for counted, numbers in score.counts.items():
            header = (counted, quoted(score.policy), "optimal play", "difference")
            rows = (
                (name, *(f"{number:.4f}" for number in (own, best)), f"{own - best:+.4f}")
                for name, (own, best) in numbers.items()
            )
            yield Table(header, list(rows), f"{counted.capitalize()} beside optimal play")

"""Passes that follow a player from turn to turn: tours, and the course of optimal play.

A tour is one forward pass, turn by turn, that stores four numbers for each context.

The numbers are sums over all games that reach the context: the probability m, the expected points
so far f, the expected square of the points so far s, and the probability of no mistake so far. A
move distributes all four over its outcomes by the same probabilities. If it scores p points, the
first three become

    m        f + p m        s + 2 p f + p^2 m.

At the end of the game f is the mean of the total, and s - f^2 is its variance.

Of optimal play alone there are the probability that it begins a turn in each context, in one pass
forward, and its chance of the upper bonus, in one pass backward.
"""

from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from typing_extensions import override

from ...core import FLOATS, Array, FloatArray, IntArray
from ...core.contract import CLOSE
from ...core.progress import tell
from ...core.tour import Choices, Choose, Costliest, Decisions, Grid, Tour
from .card import BOXES, ENOUGH, FIFTY, TOGETHER, UPPER_BONUS, YAHTZEE, Taken, has_box, points
from .dice import DICE, FACES, KEEPS, ROLLS, dice
from .game import IN_TURN, MORE, Yahtzee
from .passes import rolled
from .presentation import title_of
from .turn import Actions, Later, Turns, mean_of_rolls
from .values import YahtzeeValues

#: Largest number of contexts from which taking a box leads to one given context: one for each box,
#: points of the box, and whether 50 were held before.
_INTO = len(BOXES) * (DICE * FACES + 1) * 2
#: Number of sums that a tour carries: m, f, s, and the probability of no mistake.
CARRIED = 4


class Tally:
    """Adds up the figures of a tour, move by move."""

    def __init__(self, game: Yahtzee) -> None:
        self._game = game
        #: Regret, shape (turn, rolls left, box taken); the last column is for keeping dice.
        self._regrets = np.zeros((len(game.chosen), MORE + 1, len(BOXES) + 1))
        self._points = np.zeros(len(BOXES))
        self._upper = self._further = self._fifty = self._moves = self._mistakes = 0.0
        self._costliest = Costliest()

    def add(self, turn: int, left: int, decisions: Decisions, wrong: IntArray) -> None:
        """Add the decisions of a turn, from 0, with some rolls left; ``wrong`` are suboptimal."""
        self._moves += float(decisions.occupancy.sum())
        mistakes = decisions.take(wrong)
        self._mistakes += float(mistakes.occupancy.sum())
        into = np.where(mistakes.actions < KEEPS, len(BOXES), mistakes.actions - KEEPS)
        self._regrets[turn, left] += np.bincount(into, mistakes.costs, len(BOXES) + 1)
        self._costliest.add(mistakes)

    def score(self, moves: "_Moves", holds_fifty: IntArray, chances: FloatArray) -> None:
        """Add the points of the boxes that moves take, which games contain with some chances.

        ``holds_fifty``, (context,), is 1 where a further Yahtzee earns the bonus, else 0.
        """
        own, taken = moves.takes, moves.taken
        boxes, five = moves.actions[own] - KEEPS, points().five[moves.rolls[own]] >= 0
        further = self._game.bonus * (five & (holds_fifty[moves.columns[own]] > 0))
        scored = taken.points - taken.upper_bonus - further
        self._points += np.bincount(boxes, chances * scored, len(BOXES))
        self._upper += float((chances * taken.upper_bonus).sum())
        self._further += float((chances * further).sum())
        self._fifty += float(chances[(boxes == YAHTZEE) & (scored == FIFTY)].sum())

    def tour(self, ended: FloatArray, decision: int) -> Tour:
        """Return the figures of the tour, once all turns have been added.

        The four numbers at the end of the game are those of the module's docstring, shape (4,), and
        the probability of a decision has so many roundings.
        """
        total, mean, square, flawless = ended.tolist()
        if not abs(total - 1) <= CLOSE:
            raise ArithmeticError(f"probabilities of all games must add up to 1, got {total!r}")
        by_round, by_left = self._regrets.sum(axis=(1, 2)), self._regrets.sum(axis=(0, 2))
        *by_box, keeping = self._regrets.sum(axis=(0, 1)).tolist()
        boxes = {title_of(box): by_box[box] for box in self._game.chosen}
        points = {title_of(box): float(self._points[box]) for box in self._game.chosen}
        bonuses = {"Upper bonus": self._upper, "Further Yahtzees": self._further}
        chances = {"Upper bonus": self._upper / UPPER_BONUS, "Yahtzee": self._fifty}
        regrets = {
            "turn": {str(1 + turn): cost for turn, cost in enumerate(by_round.tolist())},
            "roll": {str(1 + made): cost for made, cost in enumerate(by_left[::-1].tolist())},
            "box": {"Dice kept": keeping, **boxes},
        }
        return Tour(
            mean,
            max(0.0, square - mean * mean),
            self._moves,
            self._mistakes,
            min(1.0, flawless),
            self._costliest.sorted(),
            regrets,
            {"points": {**points, **bonuses}, "chance": chances},
            self._roundings(decision),
        )

    def _roundings(self, decision: int) -> int:
        """Bound the number of roundings in the sum of probabilities times points."""
        known = self._game.contexts
        roll = DICE * (FACES + 2)
        turn = (MORE + 1) * (roll + decision + ROLLS + 4) + _INTO * IN_TURN
        last = (len(known) - known.levels[-2]) * IN_TURN * len(BOXES)
        return len(self._game.chosen) * turn + last


def tour(game: Yahtzee, choose: Choose | None, best: YahtzeeValues, decision: int) -> Tour:
    """Return the exact figures of a player, from one pass over all games (see ``Sweeps.tour``)."""
    tally, known = Tally(game), game.contexts
    carried = np.zeros((CARRIED, len(known) + 1))  # the last column is the end of the game
    carried[[0, 3], 0] = 1.0
    for number, (first, last) in enumerate(pairwise(known.levels)):
        met = first + np.flatnonzero(carried[0, first:last])
        for begin in range(0, len(met), TOGETHER):
            columns = met[begin : begin + TOGETHER]
            _Turn(game, number, columns, best, choose).play(carried, tally)
            tell(int(columns[-1]) + 1, len(known), "beginnings of turns")
    return tally.tour(carried[:, -1], decision)


class _Moves(NamedTuple):
    """Decisions with one number of rolls left, arrays of shape (choice,)."""

    rolls: IntArray  # index of the roll
    columns: IntArray  # position of the context among the contexts of the ``_Turn``
    actions: IntArray  # the actions
    # Expected points after the action if play is optimal from then on. An illegal action ends the
    # game, for 0 points.
    values: FloatArray
    keeps: IntArray  # indices of the choices that keep dice
    takes: IntArray  # indices of the choices that take a box
    illegal: IntArray  # indices of the illegal choices
    # Next contexts and points of the choices in ``takes``, arrays of shape (box taken,).
    taken: Taken


class _Turn:
    """One turn, counted from 0, of a ``tour`` in some contexts side by side."""

    def __init__(
        self,
        game: Yahtzee,
        number: int,
        columns: IntArray,
        best: YahtzeeValues,
        choose: Choose | None,
    ) -> None:
        self._game, self._number, self._columns, self._choose = game, number, columns, choose
        self._later, self._tie = best.later, FLOATS.tie(game)
        self._holds = game.contexts.holds_fifty[columns]
        self._best = best.turn(columns).numbers  # (rolls left, dice, context)
        allowed = game.contexts.allowed(columns, np.arange(ROLLS)[:, None])
        #: Whether a box may be taken, bool, shape (dice, box, context).
        self._boxes = has_box(allowed[:, None], np.arange(len(BOXES))[:, None])

    @cached_property
    def _best_choices(self) -> Actions:
        return Turns(self._game.contexts, self._columns, self._later).best_choices(self._tie)

    def play(self, carried: FloatArray, tally: Tally) -> None:
        """Add the turn's numbers to ``carried``, (4, context + 1), and its moves to the tally."""
        met = self._game.laws[DICE][:, None, None] * carried[:, self._columns]
        for left in range(MORE, -1, -1):
            grid = self._grid(left)
            reached = met[:, 0] > 0
            if self._choose is None:
                choices = Choices.certain(reached, self._best_choices[left][reached])
            else:
                choices = self._choose(grid, reached)
            moves = self._moves(left, choices)
            flow = met[moves.rolls, :, moves.columns].T * choices.chances
            best = self._best[left, moves.rolls, moves.columns]
            wrong = np.flatnonzero(best - moves.values > self._tie)
            flow[3, wrong] = 0.0
            states = grid.states.ravel()[choices.places]
            every = Decisions(states, choices.actions, moves.values, best, choices.chances, flow[0])
            tally.add(self._number, left, every, wrong)
            tally.score(moves, self._holds, flow[0, moves.takes])
            carried[:, -1] += flow[:, moves.illegal].sum(axis=1)
            _lead_on(carried, moves.taken, flow[:, moves.takes])
            if left:
                met = self._roll(moves, flow[:, moves.keeps])

    def _grid(self, left: int) -> Grid:
        """Return the grid of the states with ``left`` rolls left, and their actions."""
        states = self._game.states_in(self._columns, left).reshape(-1, ROLLS).T
        actions = np.tile(np.arange(KEEPS, KEEPS + len(BOXES)), (ROLLS, 1))
        if not left:
            return Grid(states, actions, self._boxes)
        parts = dice().proper
        legal = np.broadcast_to((parts >= 0)[:, :, None], (*parts.shape, len(self._columns)))
        every = np.concatenate([parts, actions], axis=1)
        return Grid(states, every, np.concatenate([legal, self._boxes], axis=1))

    def _moves(self, left: int, choices: Choices) -> _Moves:
        """Return the decisions with their results and their values under optimal play."""
        rolls, columns = np.divmod(choices.places, len(self._columns))
        actions, worth = choices.actions, np.zeros(len(rolls))
        keeping = actions < KEEPS
        whole = dice().parts[rolls, np.minimum(actions, KEEPS - 1)] & (left > 0)
        legal = np.where(
            keeping, whole, self._boxes[rolls, np.maximum(actions - KEEPS, 0), columns]
        )
        keeps, takes = np.flatnonzero(legal & keeping), np.flatnonzero(legal & ~keeping)
        contexts = self._columns[columns[takes]]
        taken = self._game.contexts.take(contexts, rolls[takes], actions[takes] - KEEPS)
        worth[takes] = self._later.worth(contexts, taken)
        if left:
            means = mean_of_rolls(self._best[left - 1])
            worth[keeps] = means[actions[keeps], columns[keeps]]
        illegal = np.flatnonzero(~legal)
        return _Moves(rolls, columns, actions, worth, keeps, takes, illegal, taken)

    def _roll(self, moves: _Moves, flow: FloatArray) -> FloatArray:
        """Return the four numbers after the roll, (dice, 4, context), from (4, choice)."""
        width = len(self._columns)
        into = moves.actions[moves.keeps] * width + moves.columns[moves.keeps]
        parts = [np.bincount(into, part, KEEPS * width).reshape(KEEPS, width) for part in flow]
        return rolled(np.concatenate(parts, axis=1), FLOATS).reshape(ROLLS, CARRIED, width)


def _lead_on(carried: FloatArray, taken: Taken, flow: FloatArray) -> None:
    """Add the numbers of the boxes taken, (4, box taken), to the contexts of the next turn."""
    if not len(taken.contexts):
        return
    paid, met, so_far = taken.points, flow[0], flow[1]
    squares = flow[2] + paid * (2 * so_far + paid * met)
    first = int(taken.contexts.min())
    for own, part in zip(carried, (met, so_far + paid * met, squares, flow[3]), strict=True):
        counted = np.bincount(taken.contexts - first, part)
        own[first : first + len(counted)] += counted


def met_by_best_play(game: Yahtzee, values: Array) -> FloatArray:
    """Compute the probability that optimal play begins a turn in each context, (context + 1,).

    Optimal values before the first roll are of that shape, too, in points. The last entry is the
    end of the game, with value 0 and probability 1.
    """
    met = np.zeros(len(values))
    met[0] = 1.0
    for columns in game.contexts.batches():
        own = columns[met[columns] > 0]
        if len(own):
            chosen = Turns(game.contexts, own, Later(values)).best_choices(FLOATS.tie(game))
            taken = _taken(game, met[own], chosen)
            boxes, rolls, places = np.nonzero(taken)
            after = game.contexts.take(own[places], rolls, boxes).contexts
            np.add.at(met, after, taken[boxes, rolls, places])
            tell(int(own[-1]) + 1, len(game.contexts), "beginnings of turns, forward")
    return met


def _taken(game: Yahtzee, entering: FloatArray, chosen: Actions) -> FloatArray:
    """Return the probability mass that takes each box in a turn, shape (box, dice, context)."""
    columns, law = np.arange(len(entering)), FLOATS.laws(game)[DICE]
    met, taken = law[:, None] * entering, np.zeros((len(BOXES), len(law), len(entering)))
    for left in range(MORE, -1, -1):
        kept = chosen[left] < KEEPS
        rolls, places = np.nonzero(~kept)
        taken[chosen[left][~kept] - KEEPS, rolls, places] += met[~kept]
        if left:
            numbers = chosen[left].astype(np.int64) * len(columns) + columns
            mass = np.bincount(numbers[kept], met[kept], KEEPS * len(columns))
            met = rolled(mass.reshape(KEEPS, -1), FLOATS)
    return taken


class _LaterBonus(Later):
    """Chances of the upper bonus to come: a box adds 1 if it earns the bonus."""

    @override
    def worth(self, columns: IntArray, taken: Taken) -> FloatArray:
        earns = (taken.upper_bonus > 0) & (taken.points > 0)  # of the shape of all points
        return self.values.take(taken.contexts) + earns


def bonus_of_best_play(game: Yahtzee, values: Array, met: FloatArray) -> FloatArray:
    """Compute the probability that optimal play ends with 63 upper points, shape (context,).

    It is NaN for contexts that optimal play never reaches. The values are the argument, and ``met``
    the result, of ``met_by_best_play``.
    """
    known, chances = game.contexts, np.full(len(values), np.nan)
    chances[-1] = 0.0
    for columns in reversed(known.batches()):
        own = columns[met[columns] > 0]
        if len(own):
            chosen = Turns(known, own, Later(values)).best_choices(FLOATS.tie(game))
            _, chances[own] = Turns(known, own, _LaterBonus(chances)).followed(chosen)
            tell(len(known) - int(own[0]), len(known), "beginnings of turns, backward")
    chances[:-1] += known.upper == ENOUGH
    return chances[:-1]


def losses_of_boxes(game: Yahtzee, values: Array, columns: IntArray) -> FloatArray:
    """Compute the points that a player loses with a box and the turn that fills it, (context, box).

    They are the value of the context, as for ``met_by_best_play``, minus that of the same card with
    the box filled for 0 points; NaN where the box is not open.
    """
    known, lost = game.contexts, np.full((len(columns), len(BOXES)), np.nan)
    for box in game.chosen:
        own = np.flatnonzero(known.still_open[columns] >> box & 1)
        at = columns[own]
        without = known.still_open[at] & ~(1 << box)
        after = known.find(without, known.holds_fifty[at], known.upper[at])
        lost[own, box] = values[at] - values[np.where(without > 0, after, len(known))]
    return lost

"""Exact results about a small game by sums over all its moves: the reference of the solver.

A *law* gives the probability of each legal action of a player in a state. If every player has a
law, the value V of each position to a player, and the expected visits N of each position while the
game goes on for that player, solve linear equations. With p the probability of a way from position
s, chance and laws together, r what the way pays and s' where it leads,

    V(s) = sum over ways from s of p (r + V(s'))        N(s') = start(s') + sum of p N(s) to s',

where V(s') is 0, and nothing leads to s', if the game is over for the player. ``solved`` eliminates
one unknown after the other, in fractions. The optimum is found by policy iteration: the player
begins with the first legal action of each state, and takes a better one as long as there is one.

Laws, moves and the order of positions are the game's own, checked move by move as they are listed;
neither the sweeps nor the fixed points of the solver are used.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from ..core import EXACT, Game
from ..core.moves import list_moves

ZERO = Fraction(0)

#: A player to move, and a state.
Position: TypeAlias = tuple[int, int]
#: Values of the legal actions, by position.
ActionValues: TypeAlias = dict[Position, dict[int, Fraction]]
#: Returns the probability of each legal action of a player in a state.
Law: TypeAlias = Callable[[int], Mapping[int, Fraction]]


class Way(NamedTuple):
    """One outcome of a move."""

    chance: Fraction
    after: Position
    payoffs: tuple[Fraction, ...]  # by player
    over: tuple[bool, ...]  # by player


class Listing:
    """All moves of a small game, in fractions."""

    def __init__(self, game: Game) -> None:
        self.game = game
        #: The ways of each action, by position; positions are in the order of the stages.
        self.moves: dict[Position, dict[int, list[Way]]] = {}
        for seat, states in game.stages():
            self.moves.update({(seat, state): {} for state in states.tolist()})
            rows, actions, ways = list_moves(game, seat, states, EXACT)
            after = zip(ways.effect.seats.tolist(), ways.effect.states.tolist(), strict=True)
            payoffs, over = ways.effect.payoffs.tolist(), ways.effect.over.tolist()
            each = zip(ways.moves, ways.chances, after, payoffs, over, strict=True)
            for move, chance, position, paid, ended in each:
                way = Way(Fraction(chance), position, tuple(map(Fraction, paid)), tuple(ended))
                legal = self.moves[seat, int(states[rows[move]])]
                legal.setdefault(int(actions[move]), []).append(way)
        starts, chances = game.initial_law()
        self.start: dict[Position, Fraction] = {
            (0, int(state)): Fraction(chance) for state, chance in zip(starts, chances, strict=True)
        }

    def pays_early(self, player: int) -> bool:
        """Say whether a move pays a player for whom the game goes on."""
        every = (way for moves in self.moves.values() for ways in moves.values() for way in ways)
        return any(way.payoffs[player] and not way.over[player] for way in every)

    def values(self, player: int, laws: Mapping[int, Law]) -> ActionValues:
        """Return action values of a player, who follows its law, or plays optimally without one."""
        chosen = {position: next(iter(ways)) for position, ways in self.moves.items()}

        def choice(state: int) -> Mapping[int, Fraction]:
            return {chosen[player, state]: Fraction(1)}

        while True:
            found = self._position_values(player, {player: choice, **laws})
            every = {
                position: {
                    action: sum((way.chance * _worth(way, player, found) for way in ways), ZERO)
                    for action, ways in moves.items()
                }
                for position, moves in self.moves.items()
            }
            better = {
                position: max(each, key=lambda action: each[action])
                for position, each in every.items()
                if position[0] not in laws and max(each.values()) > found[position]
            }
            if not better:
                return every
            chosen.update(better)

    def _position_values(self, player: int, laws: Mapping[int, Law]) -> dict[Position, Fraction]:
        """Return the value of each position if every player has a law."""
        equations = {position: Equation(ZERO) for position in reversed(self.moves)}
        for position, equation in equations.items():
            for chance, way in self._ways(position, laws):
                equation.constant += chance * way.payoffs[player]
                if not way.over[player]:
                    equation.terms[way.after] += chance
        return solved(equations)

    def visits(
        self, player: int, laws: Mapping[int, Law], start: Mapping[Position, Fraction]
    ) -> tuple[dict[Position, Fraction], dict[Fraction, Fraction]]:
        """Return expected visits while the game goes on for a player, and the law of its payoffs.

        Positions of players without a law count visits but make no moves.
        """
        equations = {position: Equation(start.get(position, ZERO)) for position in self.moves}
        ends: list[tuple[Position, Fraction, Fraction]] = []
        for position in self.moves:
            for chance, way in self._ways(position, laws):
                if way.over[player]:
                    ends.append((position, chance, way.payoffs[player]))
                else:
                    equations[way.after].terms[position] += chance
        met = solved(equations)
        paid: dict[Fraction, Fraction] = defaultdict(Fraction)
        for position, chance, payoff in ends:
            paid[payoff] += met[position] * chance
        return met, paid

    def moments(
        self, player: int, laws: Mapping[int, Law], met: Mapping[Position, Fraction]
    ) -> tuple[Fraction, Fraction]:
        """Return mean and variance of a player's total if every player has a law.

        With X = r + Y, the payoff of a move and of what follows, X^2 - Y^2 = r^2 + 2 r Y: the mean
        square is a sum over the moves of a game, by expected visits of positions (see ``visits``).
        """
        values = self._position_values(player, laws)
        mean = square = ZERO
        for position, times in met.items():
            for chance, way in self._ways(position, laws):
                paid, worth = way.payoffs[player], _worth(way, player, values)
                mean += times * chance * paid
                square += times * chance * paid * (2 * worth - paid)
        return mean, square - mean * mean

    def _ways(self, position: Position, laws: Mapping[int, Law]) -> Iterator[tuple[Fraction, Way]]:
        """Yield the ways from a position with their probabilities; none without a law."""
        seat, state = position
        for action, chance in laws[seat](state).items() if seat in laws else ():
            for way in self.moves[position][action]:
                yield chance * way.chance, way


def _worth(way: Way, player: int, values: Mapping[Position, Fraction]) -> Fraction:
    return way.payoffs[player] + (ZERO if way.over[player] else values[way.after])


@dataclass
class Equation:
    """A linear equation: an unknown is a constant plus multiples of other unknowns."""

    constant: Fraction
    terms: dict[Position, Fraction] = field(default_factory=lambda: defaultdict(Fraction))


def solved(equations: dict[Position, Equation]) -> dict[Position, Fraction]:
    """Solve linear equations by substituting each unknown in all others."""
    users: dict[Position, set[Position]] = defaultdict(set)
    for position, equation in equations.items():
        for other in equation.terms:
            users[other].add(position)
    for position, equation in equations.items():
        rest = 1 - equation.terms.pop(position, ZERO)
        equation.constant /= rest
        for other in equation.terms:
            equation.terms[other] /= rest
        for user in users.pop(position, set()) - {position}:
            factor = equations[user].terms.pop(position)
            equations[user].constant += factor * equation.constant
            for other, further in equation.terms.items():
                equations[user].terms[other] += factor * further
                users[other].add(user)
    return {position: equation.constant for position, equation in equations.items()}

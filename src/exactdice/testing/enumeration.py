"""A list of all moves of a game, and exact results by sums over that list.

The method is plain recursion over dictionaries of fractions or, in games with cycles, elimination
of one position after the other. It uses the laws, the moves and the order of the positions, all
checked move by move, but neither the sweeps nor the fixed points of the solver.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, TypeAlias

import numpy as np

from ..core import Game, GameError, IntArray, Move
from ..core.checks import require_shapes
from ..core.contract import require_moves, require_rows
from ..core.game import ListedGame
from ..core.presentation import present
from .rules import CLOSE, largest_payoff, require_words, words_of

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
    """All moves of a small game, in fractions.

    Raises:
        GameError: naming the first move that breaks a rule.
    """

    def __init__(self, game: Game) -> None:
        self.game = game
        #: Outcomes of each action, by position; positions are in the order of the stages.
        self.moves: dict[Position, dict[int, list[Way]]] = {}
        for seat, states in game.stages():
            mask = game.mask(states)
            for state, legal in zip(states.tolist(), mask, strict=True):
                self.moves[seat, state] = {a: [] for a in np.flatnonzero(legal).tolist()}
            pairs, actions = np.nonzero(mask)
            self._list(seat, states[pairs], actions)
        starts, chances = game.initial_law()
        #: Initial law, by position.
        self.start: dict[Position, Fraction] = {
            (0, int(state)): Fraction(chance) for state, chance in zip(starts, chances, strict=True)
        }

    def _list(self, seat: int, states: IntArray, actions: IntArray) -> None:
        """Add legal moves of a player to the list, outcome by outcome."""
        rows, exact = self.game.law(states, actions), self.game.exact_laws()
        require_rows(self.game, seat, states, actions, rows)
        seen, words = self.game.observe(states, seat), present(self.game)
        for row, action in zip(seen, actions.tolist(), strict=True):
            require_words("describe_move", words.describe_move(row, action), row, action)
        for outcome in range(exact.shape[1]):
            drawn = exact[rows, outcome] > 0
            batch = (
                np.full(int(drawn.sum()), seat),
                states[drawn],
                actions[drawn],
                np.full(int(drawn.sum()), outcome),
            )
            if not len(batch[0]):
                continue
            move = self.game.exact_advance(*batch)
            require_moves(self.game, *batch[:3], move)
            self._compare(batch, move)
            chances, observed = exact[rows[drawn], outcome], seen[drawn]
            columns = zip(*(column.tolist() for column in (*batch[1:3], chances)), strict=True)
            for index, (state, action, chance) in enumerate(columns):
                row = observed[index]
                require_words("tell", words.tell(row, action, outcome), row, action, outcome)
                way = Way(
                    Fraction(chance),
                    (int(move.seats[index]), int(move.states[index])),
                    tuple(map(Fraction, move.payoffs[index].tolist())),
                    tuple(move.over[index].tolist()),
                )
                self.moves[seat, state][action].append(way)

    def _compare(self, batch: tuple[IntArray, ...], exact: Move) -> None:
        """Check that floats agree with fractions, and single moves with batches."""
        moves = self.game.advance(*batch)
        require_shapes(self.game, len(batch[0]), moves)
        size = largest_payoff(self.game)
        for index in range(len(batch[0])):
            alone = self.game.advance(*(column[index : index + 1] for column in batch))
            require_shapes(self.game, 1, alone)
            words = words_of(*(int(column[index]) for column in batch[:3]))
            for move, entry, name in ((moves, index, "exact_advance"), (alone, 0, "one move")):
                here = move.over[entry], exact.over[index]
                led = not here[1].all()
                same = (here[0] == here[1]).all()
                same &= not led or move.seats[entry] == exact.seats[index]
                same &= not led or move.states[entry] == exact.states[index]
                payoffs = exact.payoffs[index].astype(float)
                same &= (np.abs(move.payoffs[entry] - payoffs) <= CLOSE * size).all()
                if not same:
                    raise GameError(
                        f"advance must say the same as of {name}, got others of {words}"
                    )

    # ---------------------------------------------------------------- totals

    def require_totals(self) -> None:
        """Check that the payoffs to each player add up to a total in ``exact_range``.

        Raises:
            GameError: naming the position from which they do not.
        """
        if self.game.has_cycles and isinstance(self.game, ListedGame):  # whose games may be long
            return
        low, high = self.game.exact_range
        for player in range(self.game.num_players):
            for best, end, sign in ((min, low, 1), (max, high, -1)):
                for position, total in self._farthest(player, best).items():
                    if (total - end) * sign < 0:
                        raise GameError(
                            f"payoff_range must hold the payoffs from any position on, got {total} "
                            f"for player {player} from state {position[1]} of player {position[0]}"
                        )

    def _farthest(
        self, player: int, best: Callable[[Iterable[Fraction]], Fraction]
    ) -> dict[Position, Fraction]:
        """Return the smallest or largest total from each position on, until it stays the same."""
        found: dict[Position, Fraction] = {}
        while True:
            before = dict(found)
            for position in reversed(self.moves):
                each = [way for ways in self.moves[position].values() for way in ways]
                totals = [
                    way.payoffs[player] + (Fraction(0) if way.over[player] else found[way.after])
                    for way in each
                    if way.over[player] or way.after in found
                ]
                if totals:
                    found[position] = best(totals)
            if found == before:
                return found

    # ---------------------------------------------------------------- values

    def values(self, player: int, laws: Mapping[int, Law]) -> ActionValues:
        """Return action values of a player, who follows its law, or plays optimally without one."""
        if self.game.has_cycles:
            return self._values_with_cycles(player, laws)
        found: dict[Position, Fraction] = {}
        every: ActionValues = {}
        for position in reversed(self.moves):
            every[position] = self._each(position, player, found)
            found[position] = self._value(position, laws, every[position])
        return every

    def _values_with_cycles(self, player: int, laws: Mapping[int, Law]) -> ActionValues:
        """Return action values by policy iteration from the first legal actions."""
        chosen = {position: next(iter(ways)) for position, ways in self.moves.items()}

        def choice(state: int) -> Mapping[int, Fraction]:
            return {chosen[player, state]: Fraction(1)}

        while True:
            found = self._follow_to_the_end(player, {player: choice, **laws})
            every = {position: self._each(position, player, found) for position in self.moves}
            better = {
                position: max(each, key=lambda action: each[action])
                for position, each in every.items()
                if position[0] not in laws and max(each.values()) > found[position]
            }
            if not better:
                return every
            chosen.update(better)

    def _follow_to_the_end(self, player: int, laws: Mapping[int, Law]) -> dict[Position, Fraction]:
        """Return the value of each position if every player has a law."""
        equations: dict[Position, Equation] = {}
        for position in reversed(self.moves):
            seat, state = position
            equation = equations[position] = Equation(Fraction(0), defaultdict(Fraction))
            for mass, way in self._follow(position, laws[seat](state), Fraction(1)):
                equation.constant += mass * way.payoffs[player]
                if not way.over[player]:
                    equation.terms[way.after] += mass
        return solved(equations)

    def _each(
        self, position: Position, player: int, values: Mapping[Position, Fraction]
    ) -> dict[int, Fraction]:
        """Return action values, given the values of later positions."""
        return {
            action: sum(
                (
                    way.chance
                    * (way.payoffs[player] + (0 if way.over[player] else values[way.after]))
                    for way in ways
                ),
                Fraction(0),
            )
            for action, ways in self.moves[position].items()
        }

    def _value(
        self, position: Position, laws: Mapping[int, Law], each: Mapping[int, Fraction]
    ) -> Fraction:
        seat, state = position
        if seat not in laws:
            return max(each.values())
        law = laws[seat](state)
        return sum((chance * each[action] for action, chance in law.items()), Fraction(0))

    def pays_early(self, player: int) -> bool:
        """Say whether a move pays a player for whom the game goes on."""
        every = (way for moves in self.moves.values() for ways in moves.values() for way in ways)
        return any(way.payoffs[player] and not way.over[player] for way in every)

    def moments(
        self, player: int, laws: Mapping[int, Law], met: Mapping[Position, Fraction]
    ) -> tuple[Fraction, Fraction]:
        """Return mean and variance of a player's total if every player has a law.

        With X = r + Y, the payoff of a move and of what follows, X^2 - Y^2 = r^2 + 2 r Y: the mean
        square is a sum over the moves of a game, by expected visits of positions (see ``masses``).
        """
        values = self._follow_to_the_end(player, laws)
        mean = square = Fraction(0)
        for position, visits in met.items():
            for chance, way in self._follow(position, laws[position[0]](position[1]), visits):
                paid = way.payoffs[player]
                later = Fraction(0) if way.over[player] else values[way.after]
                mean += chance * paid
                square += chance * paid * (paid + 2 * later)
        return mean, square - mean * mean

    def masses(
        self, player: int, laws: Mapping[int, Law], start: Mapping[Position, Fraction]
    ) -> tuple[dict[Position, Fraction], dict[Fraction, Fraction]]:
        """Return expected visits of each position while the game goes on for a player.

        Returns:
            Expected visits by position, and the law of the player's payoffs; positions of players
            without a law count visits but make no moves.
        """
        equations = {
            position: Equation(start.get(position, Fraction(0)), defaultdict(Fraction))
            for position in self.moves
        }
        ends: list[tuple[Position, Fraction, Fraction]] = []
        for position in self.moves:
            seat, state = position
            if seat in laws:
                for chance, way in self._follow(position, laws[seat](state), Fraction(1)):
                    if way.over[player]:
                        ends.append((position, chance, way.payoffs[player]))
                    else:
                        equations[way.after].terms[position] += chance
        met = solved(equations)
        paid: dict[Fraction, Fraction] = defaultdict(Fraction)
        for position, chance, payoff in ends:
            paid[payoff] += met[position] * chance
        return met, paid

    def _follow(
        self, position: Position, law: Mapping[int, Fraction], mass: Fraction
    ) -> Iterator[tuple[Fraction, Way]]:
        for action, chance in law.items():
            for way in self.moves[position][action]:
                yield mass * chance * way.chance, way


@dataclass
class Equation:
    """A linear equation: an unknown is a constant plus multiples of other unknowns."""

    constant: Fraction
    terms: dict[Position, Fraction]


def solved(equations: dict[Position, Equation]) -> dict[Position, Fraction]:
    """Solve linear equations by substituting each unknown in all others."""
    users: dict[Position, set[Position]] = defaultdict(set)
    for position, equation in equations.items():
        for other in equation.terms:
            users[other].add(position)
    for position, equation in equations.items():
        rest = 1 - equation.terms.pop(position, Fraction(0))
        equation.constant /= rest
        equation.terms = defaultdict(
            Fraction, {other: factor / rest for other, factor in equation.terms.items()}
        )
        for user in users.pop(position, set()) - {position}:
            factor = equations[user].terms.pop(position)
            equations[user].constant += factor * equation.constant
            for other, further in equation.terms.items():
                equations[user].terms[other] += factor * further
                users[other].add(user)
    return {position: equation.constant for position, equation in equations.items()}

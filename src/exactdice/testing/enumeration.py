"""Every move of a game in a list, and what follows from it by sums over that list.

Plain recursion over dictionaries of fractions. Of the game it asks the laws, where moves lead, and
the order of the stages, which is checked move by move; ``backward`` and ``forward`` play no part.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import NamedTuple, TypeAlias

import numpy as np

from ..games import Game, GameError, IntArray, Move
from ..games.checks import order_of, require_later
from .rules import CLOSE, words_of

#: A player to move, and a state.
Position: TypeAlias = tuple[int, int]
#: Values of the legal actions, by position.
ActionValues: TypeAlias = dict[Position, dict[int, Fraction]]
#: Gives the probability of each action that a player may take in a state.
Law: TypeAlias = Callable[[int], Mapping[int, Fraction]]


class Way(NamedTuple):
    """One outcome of a move."""

    chance: Fraction
    after: Position
    payoffs: tuple[Fraction, ...]  # by player
    over: tuple[bool, ...]  # by player


class Listing:
    """All moves of a small game, in fractions.

    Attributes:
        game: the game.
        moves: ways of each action, by position; positions first to last, as the stages are.
        start: probability of each position in which the game begins.

    Raises:
        GameError: naming the first move that breaks a rule.
    """

    def __init__(self, game: Game) -> None:
        self.game = game
        self._order = order_of(game)
        self.moves: dict[Position, dict[int, list[Way]]] = {}
        for seat, states in game.stages():
            mask = game.mask(states)
            for state, legal in zip(states.tolist(), mask, strict=True):
                self.moves[seat, state] = {a: [] for a in np.flatnonzero(legal).tolist()}
            pairs, actions = np.nonzero(mask)
            self._list(seat, states[pairs], actions)
        starts, chances = game.initial_law()
        self.start: dict[Position, Fraction] = {
            (0, int(state)): Fraction(chance) for state, chance in zip(starts, chances, strict=True)
        }

    def _list(self, seat: int, states: IntArray, actions: IntArray) -> None:
        """Add some legal moves of a player, outcome by outcome."""
        rows, exact = self.game.law(states, actions), self.game.exact_laws()
        if rows.dtype.kind != "i" or not ((rows >= 0) & (rows < len(exact))).all():
            raise GameError(f"law must give rows below {len(exact)}, got {rows}")
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
            require_later(self._order, *batch[:3], move)
            self._compare(batch, move)
            chances = exact[rows[drawn], outcome]
            columns = zip(*(column.tolist() for column in (*batch[1:3], chances)), strict=True)
            for index, (state, action, chance) in enumerate(columns):
                way = Way(
                    Fraction(chance),
                    (int(move.seats[index]), int(move.states[index])),
                    tuple(map(Fraction, move.payoffs[index].tolist())),
                    tuple(move.over[index].tolist()),
                )
                self._check(way, words_of(seat, state, action))
                self.moves[seat, state][action].append(way)

    def _check(self, way: Way, words: str) -> None:
        """Check the payoffs of an outcome."""
        low, high = self.game.exact_range
        for payoff, over in zip(way.payoffs, way.over, strict=True):
            if over and not low <= payoff <= high:
                raise GameError(
                    f"payoffs must be in payoff_range, {float(low)!r} to {float(high)!r}, got "
                    f"{float(payoff)!r} by {words}"
                )
            if not over and payoff:
                raise GameError(
                    f"payoffs must be zero until it is over for the player, got {float(payoff)!r} "
                    f"by {words}"
                )
        if not self.game.zero_sum:
            return
        if any(way.over) and not (all(way.over) and sum(way.payoffs) == low + high):
            raise GameError(
                f"payoffs of a zero-sum game must add up to {float(low + high)!r} at once, got "
                f"{tuple(map(float, way.payoffs))} by {words}"
            )

    def _compare(self, batch: tuple[IntArray, ...], exact: Move) -> None:
        """Check that floats say the same, and each move by itself the same as many at once."""
        moves = self.game.advance(*batch)
        size = max(map(abs, self.game.payoff_range))
        for index in range(len(batch[0])):
            alone = self.game.advance(*(column[index : index + 1] for column in batch))
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

    # ---------------------------------------------------------------- sums

    def values(self, player: int, laws: Mapping[int, Law]) -> ActionValues:
        """Give what each action is worth to a player, who does what is best if it has no law."""
        found: dict[Position, Fraction] = {}
        every: ActionValues = {}
        for position in reversed(self.moves):
            each = every[position] = {
                action: sum(
                    (
                        way.chance * (way.payoffs[player] if way.over[player] else found[way.after])
                        for way in ways
                    ),
                    Fraction(0),
                )
                for action, ways in self.moves[position].items()
            }
            seat, state = position
            found[position] = max(each.values()) if seat not in laws else Fraction(0)
            if seat in laws:
                found[position] = sum(
                    (chance * each[action] for action, chance in laws[seat](state).items()),
                    Fraction(0),
                )
        return every

    def masses(
        self, player: int, laws: Mapping[int, Law], start: Mapping[Position, Fraction]
    ) -> tuple[dict[Position, Fraction], dict[Fraction, Fraction]]:
        """Give how likely each position is met while the game goes on for a player.

        Returns:
            Probabilities by position, and of the player's payoffs; positions of players without a
            law are met and not left.
        """
        met: dict[Position, Fraction] = defaultdict(Fraction, start)
        paid: dict[Fraction, Fraction] = defaultdict(Fraction)
        for position in self.moves:
            seat, state = position
            if met[position] and seat in laws:
                for mass, way in self._follow(position, laws[seat](state), met[position]):
                    if way.over[player]:
                        paid[way.payoffs[player]] += mass
                    else:
                        met[way.after] += mass
        return met, paid

    def _follow(
        self, position: Position, law: Mapping[int, Fraction], mass: Fraction
    ) -> Iterator[tuple[Fraction, Way]]:
        for action, chance in law.items():
            for way in self.moves[position][action]:
                yield mass * chance * way.chance, way

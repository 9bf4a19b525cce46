"""The agent's transition law as a dictionary, for textbook planners."""

from collections import defaultdict
from typing import TypeAlias

import numpy as np

from ...core import FLOATS, GameError, InputError, IntArray
from ...core.moves import batches, list_moves
from ...core.positions import states_of
from ..engine.engine import Engine

Transitions: TypeAlias = dict[int, dict[int, list[tuple[float, int, float, bool]]]]

LIMIT = 20_000  # (state, action) pairs


def tabulate_transitions(engine: Engine) -> Transitions:
    """Return the law of the agent's next state for each move, after the opponents' replies.

    Returns:
        ``P[state][action] = [(probability, next state, reward, terminated), ...]``. The states
        are the game's and one further state, the end. A move that ends the game leads to the end;
        the end leads to itself and pays nothing, so that a planner may ignore ``terminated``.
        States in which the agent is never to move lead to the end too; no move leads to them.

    Raises:
        ValueError: if the game has more than ``LIMIT`` pairs of state and action.
    """
    game = engine.game
    pairs = game.num_states * game.num_actions
    if pairs > LIMIT:
        raise InputError(
            f"P needs at most {LIMIT} pairs of state and action, got {pairs}: use sparse_P, "
            "exactdice.solve, which needs no table, or a smaller game"
        )
    table = _Table(engine)
    transitions: Transitions = {
        state: {action: [(1.0, game.num_states, 0.0, True)] for action in range(game.num_actions)}
        for state in range(game.num_states + 1)
    }
    for state in states_of(game, engine.task.seat).tolist():
        for action in range(game.num_actions):
            transitions[state][action] = _move(engine, table, state, action)
    return transitions


#: Law until the agent moves again: (its next state, or -1 if the game is over; paid) -> chance.
_Law: TypeAlias = dict[tuple[int, float], float]


def _move(
    engine: Engine, table: "_Table", state: int, action: int
) -> list[tuple[float, int, float, bool]]:
    """Return the entries of one move; an illegal move leads to the end at the worst payoff."""
    law = table.after(engine.task.seat, state, action)
    if not law:
        law = {(-1, engine.game.payoff_range[0]): 1.0}
    following, payoffs = (np.array(column) for column in zip(*law, strict=True))
    over = following < 0
    after = np.where(over, state, following)
    before, actions = np.full(len(law), state), np.full(len(law), action)
    rewards = engine.rewards(before, actions, payoffs, after, over)
    after[over] = engine.game.num_states
    rows = zip(law.values(), after.tolist(), rewards.tolist(), over.tolist(), strict=True)
    return list(rows)


class _Table:
    """The legal moves of a game, and the laws of the other players' replies."""

    def __init__(self, engine: Engine) -> None:
        self._game, self._agent = engine.game, engine.task.seat
        self._ways: dict[tuple[int, int, int], list[tuple[float, int, int, bool, float]]]
        self._ways = defaultdict(list)
        self._chances: dict[tuple[int, int], list[float]] = {}  # of the others' actions
        self._replies: dict[tuple[int, int], _Law] = {}
        self._pays_early = False  # whether a move pays the agent before the end
        for seat in range(self._game.num_players):
            states = states_of(self._game, seat)
            for batch in batches(self._game, states):
                self._list(seat, states[batch])
            if seat != self._agent:
                chances = engine.policies[seat].probabilities(states).tolist()
                self._chances.update(
                    zip(((seat, s) for s in states.tolist()), chances, strict=True)
                )
        if self._game.has_cycles:
            self._replies = self._replies_in_cycles()

    def _list(self, seat: int, states: IntArray) -> None:
        """List the legal moves of one player."""
        rows, actions, ways = list_moves(self._game, seat, states, FLOATS)
        effect = ways.effect
        columns = (
            states[rows][ways.moves],
            actions[ways.moves],
            ways.chances,
            effect.seats,
            effect.states,
            effect.over[:, self._agent],
            effect.payoffs[:, self._agent],
        )
        over, payoffs = columns[-2:]
        self._pays_early |= bool(payoffs[~over].any())
        for state, action, *way in zip(*(column.tolist() for column in columns), strict=True):
            self._ways[seat, state, action].append(tuple(way))

    def after(self, seat: int, state: int, action: int) -> _Law:
        """Return the law, after one move of any player, of the agent's next state or the end.

        Returns:
            The law; empty if the move is illegal.
        """
        law: _Law = defaultdict(float)
        for chance, mover, following, over, payoff in self._ways.get((seat, state, action), []):
            if over:
                law[-1, payoff] += chance
            elif mover == self._agent:
                law[following, payoff] += chance
            else:
                for (end, later), part in self._reply(mover, following).items():
                    law[end, payoff + later] += chance * part
        return law

    def _reply(self, seat: int, state: int) -> _Law:
        """Return the law from a position of another player on; it is computed once."""
        replies, position = self._replies, (seat, state)
        if position not in replies:
            replies[position] = {}  # only a circle of moves reads this empty law
            replies[position] = self._answer(*position)
        if not replies[position]:
            raise GameError(f"{self._game!r} must end, but leads from state {state} back to it")
        return replies[position]

    def _answer(self, seat: int, state: int) -> _Law:
        law: _Law = defaultdict(float)
        for action, chance in enumerate(self._chances[seat, state]):
            if chance:
                for end, part in self.after(seat, state, action).items():
                    law[end] += chance * part
        return law

    def _replies_in_cycles(self) -> dict[tuple[int, int], _Law]:
        """Return the law from each position of the other players, in a game with cycles.

        Gaussian elimination: at first the laws hold positions of other players, number k as the
        key (-2 - k, 0.0), or with what is paid before instead of 0. Then each position in turn is
        replaced by its own law in all laws. A law that leads back to its own position, for which
        nothing is paid, is divided by the probability that it does not.
        """
        positions = list(self._chances)
        self._replies = {position: {(-2 - k, 0.0): 1.0} for k, position in enumerate(positions)}
        laws = [self._answer(*position) for position in positions]
        for k, law in enumerate(laws):
            stays = law.pop((-2 - k, 0.0), 0.0)
            for end in law:
                law[end] /= 1 - stays
            for other in laws:
                keys = [(-2 - k, 0.0)]
                if self._pays_early:
                    keys = [key for key in other if key[0] == -2 - k]
                for key in keys:
                    if chance := other.pop(key, 0.0):
                        for (after, later), part in law.items():
                            other[after, key[1] + later] += chance * part
        return dict(zip(positions, laws, strict=True))

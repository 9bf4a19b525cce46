"""The agent's transition law as a dictionary, the form that textbook planners read."""

from collections import defaultdict
from typing import TypeAlias

import numpy as np

from ...core import GameError, InputError
from ...core.listing import transitions
from ...core.positions import states_of
from ..engine.engine import Engine

Transitions: TypeAlias = dict[int, dict[int, list[tuple[float, int, float, bool]]]]

LIMIT = 20_000  # (state, action) pairs


def tabulate_transitions(engine: Engine) -> Transitions:
    """List where each of the agent's moves leads once the opponents have replied.

    Returns:
        ``P[state][action] = [(probability, next state, reward, terminated), ...]``. The states
        are those of the game and one more, the end: games that are over lead to it, and it leads
        to itself and pays nothing, so that a planner may ignore ``terminated``. States in which
        the agent is never to move, and which are never next states, lead to the end too.

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
    mask = game.mask(np.arange(game.num_states))
    replies = _replies_in_cycles(engine) if game.has_cycles else {}
    transitions: Transitions = {
        state: {action: [(1.0, game.num_states, 0.0, True)] for action in range(game.num_actions)}
        for state in range(game.num_states + 1)
    }
    for state in states_of(game, engine.task.seat).tolist():
        for action, legal in enumerate(mask[state].tolist()):
            transitions[state][action] = _move(engine, state, action, legal, replies)
    return transitions


#: Law until the agent moves again: (its next state, or -1 if the game is over; payoff) -> chance.
_Law: TypeAlias = dict[tuple[int, float], float]


def _move(
    engine: Engine, state: int, action: int, legal: bool, replies: dict[tuple[int, int], _Law]
) -> list[tuple[float, int, float, bool]]:
    law = {(-1, engine.game.payoff_range[0]): 1.0}
    if legal:
        law = _after(engine, engine.task.seat, state, action, replies)
    following, payoffs = (np.array(column) for column in zip(*law, strict=True))
    over = following < 0
    after = np.where(over, state, following)
    before, actions = np.full(len(law), state), np.full(len(law), action)
    rewards = engine.rewards(before, actions, payoffs, after, over)
    after[over] = engine.game.num_states
    rows = zip(law.values(), after.tolist(), rewards.tolist(), over.tolist(), strict=True)
    return list(rows)


def _after(
    engine: Engine, seat: int, state: int, action: int, replies: dict[tuple[int, int], _Law]
) -> _Law:
    """Follow one move of any player until the agent is to move or the game is over."""
    law: _Law = defaultdict(float)
    probabilities, move = transitions(engine.game, seat, state, action)
    for index, probability in enumerate(probabilities.tolist()):
        payoff = float(move.payoffs[index, engine.task.seat])
        mover, following = int(move.seats[index]), int(move.states[index])
        if move.over[index, engine.task.seat]:
            law[-1, payoff] += probability
        elif mover == engine.task.seat:
            law[following, 0.0] += probability
        else:
            for end, chance in _reply(engine, mover, following, replies).items():
                law[end] += probability * chance
    return law


def _reply(engine: Engine, seat: int, state: int, replies: dict[tuple[int, int], _Law]) -> _Law:
    """Give the law from a position of another player on, and keep it in ``replies``."""
    if (seat, state) not in replies:
        replies[seat, state] = {}  # only a circle of moves reads this empty law
        replies[seat, state] = _answer(engine, seat, state, replies)
    if not replies[seat, state]:
        raise GameError(f"{engine.game!r} must end, but leads from state {state} back to it")
    return replies[seat, state]


def _answer(engine: Engine, seat: int, state: int, replies: dict[tuple[int, int], _Law]) -> _Law:
    law: _Law = defaultdict(float)
    chances = engine.policies[seat].probabilities(np.array([state]))[0]
    for action in np.flatnonzero(chances).tolist():
        for end, chance in _after(engine, seat, state, action, replies).items():
            law[end] += float(chances[action]) * chance
    return law


def _replies_in_cycles(engine: Engine) -> dict[tuple[int, int], _Law]:
    """Give the law from each position of the other players, if their moves may lead back.

    Gaussian elimination: at first the laws hold positions of other players, number k as the key
    (-2 - k, 0.0). Then each position in turn is replaced by its own law in all laws. A law that
    leads back to its own position is divided by the probability that it does not.
    """
    others = [seat for seat in range(engine.game.num_players) if seat != engine.task.seat]
    positions = [
        (seat, state) for seat in others for state in states_of(engine.game, seat).tolist()
    ]
    itself = {position: {(-2 - k, 0.0): 1.0} for k, position in enumerate(positions)}
    laws = [_answer(engine, *position, itself) for position in positions]
    for k, law in enumerate(laws):
        stays = law.pop((-2 - k, 0.0), 0.0)
        for end in law:
            law[end] /= 1 - stays
        for other in laws:
            if chance := other.pop((-2 - k, 0.0), 0.0):
                for end, part in law.items():
                    other[end] += chance * part
    return dict(zip(positions, laws, strict=True))

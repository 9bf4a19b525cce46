"""Q-learning with minimax targets, by self-play on one table."""

from fractions import Fraction

import numpy as np
import pytest
from exactdice.agents.learners.q_learning import MinimaxQLearning
from exactdice.agents.learners.vec_env import GameVecEnv
from exactdice.baselines import Task, score_self_play
from exactdice.core.moves import transitions
from exactdice.core.positions import states_of
from exactdice.games import FourTwoOne, FourTwoOneMatch, Greed, ShutTheBox
from small_games import Rounds

import exactdice

GAMES = [
    Greed(6, 3),
    ShutTheBox(4, 2, 3),
    FourTwoOne(3, 2, 2, utility="set"),
    FourTwoOneMatch(2, faces=2, charge_casts=1, discharge_casts=2),
    Rounds(2, 4, Fraction(-1)),
]


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_the_target_of_a_move_is_the_payoff_or_the_value_with_the_sign_of_the_next_player(game):
    model = MinimaxQLearning("QTable", GameVecEnv(Task(game), 1))
    rng = np.random.default_rng(0)
    table = rng.random((game.num_states, game.num_actions))
    model.policy.values[:] = model.policy.values.new_tensor(table)
    best = np.where(game.mask(np.arange(game.num_states)), table, -np.inf).max(axis=1)
    kinds = set()
    for seat in (0, 1):
        for state in rng.choice(states_of(game, seat), 60).tolist():
            action = rng.choice(np.flatnonzero(game.mask(np.array([state]))[0]))
            row = (np.array([number]) for number in (seat, state, action))
            (target,), (later,), (reached,) = model._play(*row, rng)
            chances, move = transitions(game, seat, state, action)
            wanted = set()
            for i in np.flatnonzero(chances):
                paid = move.payoffs[i, seat]  # before the end 0 in most games
                if move.over[i, seat]:
                    wanted.add((-1, state, paid))
                elif move.seats[i] == seat:
                    wanted.add((seat, move.states[i], paid + best[move.states[i]]))
                else:
                    other = sum(game.payoff_range) - best[move.states[i]]
                    wanted.add((1 - seat, move.states[i], paid + other))
            assert (later, reached, target) in wanted
            kinds.add(None if later < 0 else later == seat)
    assert len(kinds) >= 2  # the end of the game, and one player's or both players' next move


@pytest.mark.parametrize("game", [Greed(5, 3), ShutTheBox(4, 2, 3)], ids=repr)
def test_the_table_converges_to_the_equilibrium(game):
    model = MinimaxQLearning("QTable", GameVecEnv(Task(game), 64), seed=1, initial_value=0.5)
    before = score_self_play(model, Task(game))
    model.learn(150_000)
    after = score_self_play(model, Task(game))
    assert after.exploitability < 0.02 < 0.1 < before.exploitability
    assert model.num_timesteps == model.policy.visits.sum()
    for seat in (0, 1):
        truth, states = exactdice.solve(Task(game, seat)).table, states_of(game, seat)
        often = model.policy.visits.numpy()[states] > 1000
        assert often.any()
        found = model.policy.values.numpy()[states]
        assert np.abs(found - truth[states])[often].max() < 0.1

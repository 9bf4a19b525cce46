"""Sweeps of games of turns and of Greed against plain enumeration, and what states stand for."""

import numpy as np
import pytest
from exactdice.baselines import equilibrium
from exactdice.baselines.law.cut import CutGame
from exactdice.core import Game, Move
from exactdice.core.sweeps import Sweeps, sweeps_of
from exactdice.games import EXACT, FLOATS, GAMES, FourTwoOne, Greed, LowestScore, ShutTheBox
from small_games import SMALL, Bare
from sweeping import action_values, backward, forward, starts

SWEPT = [GAMES[name](**size) for name, sizes in SMALL.items() for size in sizes]
SWEPT = [game for game in SWEPT if not game.has_cycles]
SWEPT += [ShutTheBox(4, 2, 2, "sum<=2", objective="shut"), FourTwoOne(2, 4, 3, "sum")]
SWEPT += [Greed(7, 3, tie=tie) for tie in ("half", "lost", "stopper", "chaser")]
SWEPT += [Greed(5, 4, 5), Greed(4, 1), Greed(4, 3, 0)]
SWEPT += [CutGame(Greed(5, 3), 0, 2), CutGame(Greed(4, 2, tie="lost"), 1, 3)]
#: Exact numbers of Yahtzee take seconds; ``test_yahtzee`` has some.
BOTH = [(game, kind) for kind in (FLOATS, EXACT) for game in SWEPT]
BOTH = [(game, kind) for game, kind in BOTH if kind is FLOATS or game.name != "Yahtzee"]


def require_near(found, wanted, kind):
    if kind is EXACT:
        assert (found == wanted).all()
    else:
        np.testing.assert_allclose(found, wanted, atol=1e-12)


@pytest.mark.parametrize(("game", "kind"), BOTH, ids=repr)
def test_backward_agrees_with_enumeration_in_every_state_and_action(game, kind):
    """For any values of later positions, whatever scale they are computed with."""
    rng = np.random.default_rng(0)
    values = rng.integers(1, 100, (game.num_players, game.num_states))
    values = values.astype(object) if kind is EXACT else values / 10
    for seat in range(game.num_players):
        both = (action_values(law, values, seat, kind) for law in (sweeps_of(game), Sweeps(game)))
        legal = game.mask(np.arange(game.num_states))
        require_near(*(found[:, legal] for found in both), kind)


@pytest.mark.parametrize(("game", "kind"), [p for p in BOTH if p[0].num_players > 1], ids=repr)
def test_several_players_are_swept_side_by_side_as_each_alone(game, kind):
    """To the last bit, with the same actions taken."""
    seats = list(reversed(range(game.num_players)))

    def first_legal(stage, expected):
        chosen = game.mask(stage.states).argmax(axis=1)
        return expected[..., np.arange(len(chosen)), chosen]

    sweeps = sweeps_of(game)
    together = {seat: sweeps.values(seat, first_legal, kind) for seat in seats}
    sweeps.backward_together(first_legal, together, kind)
    for seat, found in together.items():
        assert (found.array == backward(sweeps, first_legal, seat, kind).array).all()
        assert found.array.any()


@pytest.mark.parametrize(("game", "kind"), BOTH, ids=repr)
def test_forward_agrees_with_enumeration(game, kind):
    begun = kind.zeros(game.num_players, game.num_states)
    for player, states in game.stages():
        begun[player, states] = kind.number(1)  # a pass forward visits positions of some mass
    begun = starts(begun)
    for seat in range(game.num_players):
        masses = []
        for sweeps in (sweeps_of(game), Sweeps(game)):
            rng = np.random.default_rng(1)
            legal = game.mask(np.arange(game.num_states))
            weights = rng.integers(0, 10, (game.num_players, *legal.shape)) * legal

            def weigh(stage, _, weights=weights):
                return weights[stage.positions].astype(kind.dtype)

            masses.append(forward(sweeps, weigh, begun, seat, kind).array)
        require_near(*masses, kind)


def test_zero_sum_games_are_known():
    known = [LowestScore(2, 3, 2, 2, "share"), ShutTheBox(4, 2, 3), FourTwoOne(3, 2, 2, "set")]
    assert all(game.zero_sum for game in known)
    both_win_a_tie, three = LowestScore(2, 3, 2, 2), LowestScore(2, 3, 2, 3, "share")
    others = [both_win_a_tie, three, ShutTheBox(4, 2, 3, objective="sum"), FourTwoOne()]
    assert not any(game.zero_sum for game in others)


class Leaver(Bare):
    """Player 0 is paid for its move and leaves; player 1 goes on alone, from where chance says.

    Player 0 gets a fourth for action 0 and a half for action 1, which player 1 would rather not
    see: it gets 3/4 or 1/4 by the coin after action 0, and half as much after action 1.
    """

    num_players, num_states, num_actions = 2, 5, 2
    observation_sizes, observation_names = (5,), ("place",)
    payoff_range, zero_sum = (0.0, 1.0), False

    def advance(self, seats, states, actions, outcomes):
        first = states == 0
        own = np.array([0, 6, 2, 3, 1])[states] / 8 - actions / 16
        paid = np.where(first[:, None], np.stack([(1 + actions) / 4, 0 * own], axis=1), 0.0)
        paid[~first, 1] = own[~first]
        after = np.where(first, 1 + 2 * actions + outcomes, 0)
        over = np.stack([np.ones_like(first), ~first], axis=1)
        return Move(np.ones_like(seats), after, paid, over)

    exact_advance = Game.exact_advance

    def stages(self):
        return [(0, np.array([0])), (1, np.arange(1, 5))]


@pytest.mark.parametrize("exact", [False, True])
def test_who_is_left_plays_on_though_the_game_of_the_mover_is_over(exact):
    found = equilibrium(Leaver(), exact)
    values = [found.values[seat].at(0, np.array([0]))[0] for seat in (0, 1)]
    assert values == [1 / 2, 1 / 4]
    assert found.values[1].at(1, np.arange(1, 5)).tolist() == [3 / 4, 1 / 4, 3 / 8, 1 / 8]

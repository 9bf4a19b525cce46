"""Sweeps of games of turns and of Greed against plain enumeration, and what states stand for."""

import numpy as np
import pytest
from exactdice.core.sweeps import Sweeps, sweeps_of
from exactdice.games import EXACT, FLOATS, GAMES, FourTwoOne, Greed, LowestScore, ShutTheBox
from small_games import SMALL
from sweeping import action_values, backward, forward, starts

SWEPT = [GAMES[name](**size) for name, sizes in SMALL.items() for size in sizes]
SWEPT = [game for game in SWEPT if not game.has_cycles]
SWEPT += [ShutTheBox(4, 2, 2, "sum<=2", objective="shut"), FourTwoOne(2, 4, 3, "sum")]
SWEPT += [Greed(7, 3, tie=tie) for tie in ("half", "lost", "stopper", "chaser")]
SWEPT += [Greed(5, 4, 5), Greed(4, 1), Greed(4, 3, 0)]
#: Exact numbers of Yahtzee take seconds; ``test_yahtzee`` has some.
BOTH = [
    (game, kind) for game in SWEPT for kind in (FLOATS, EXACT)[: 1 if game.name == "Yahtzee" else 2]
]


@pytest.mark.parametrize(("game", "kind"), BOTH, ids=repr)
def test_backward_agrees_with_enumeration_in_every_state_and_action(game, kind):
    """For any values of later positions, whatever scale they are computed with."""
    rng = np.random.default_rng(0)
    values = rng.integers(1, 100, (game.num_players, game.num_states))
    values = values.astype(object) if kind is EXACT else values / 10
    for seat in range(game.num_players):
        quick, plain = (
            action_values(sweeps, values, seat, kind) for sweeps in (sweeps_of(game), Sweeps(game))
        )
        legal = game.mask(np.arange(game.num_states))
        if kind is EXACT:
            assert (quick[:, legal] == plain[:, legal]).all()
        else:
            np.testing.assert_allclose(quick[:, legal], plain[:, legal], atol=1e-12)


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
        if kind is EXACT:
            assert (masses[0] == masses[1]).all()
        else:
            np.testing.assert_allclose(*masses, atol=1e-12)


def test_zero_sum_games_are_known():
    known = [LowestScore(2, 3, 2, 2, "share"), ShutTheBox(4, 2, 3), FourTwoOne(3, 2, 2, "set")]
    assert all(game.zero_sum for game in known)
    both_win_a_tie, three = LowestScore(2, 3, 2, 2), LowestScore(2, 3, 2, 3, "share")
    others = [both_win_a_tie, three, ShutTheBox(4, 2, 3, objective="sum"), FourTwoOne()]
    assert not any(game.zero_sum for game in others)

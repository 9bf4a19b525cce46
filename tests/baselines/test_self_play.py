"""Exploitability of policies and of mixtures of policies, against enumerations."""

import time
from functools import cache
from math import log10

import numpy as np
import pytest
from exactdice.baselines import Task, score_mixture, score_self_play
from exactdice.baselines.scoring.mixture import _distinct
from exactdice.core import SizeError
from exactdice.core.listing import transitions
from exactdice.core.positions import states_of
from exactdice.games import (
    FourTwoOne,
    FourTwoOneMatch,
    Greed,
    LowestScore,
    LowestScoreMatch,
    ShutTheBox,
)

import exactdice

GAMES = [
    Greed(6, 3),
    Greed(4, 2),
    ShutTheBox(4, 2, 3),
    FourTwoOne(3, 2, 2, utility="set"),
    FourTwoOneMatch(2, faces=2, charge_casts=1, discharge_casts=2),
    FourTwoOneMatch(1, faces=2, charge_casts=2, discharge_casts=1, tie="replay"),
]


def tables(game, count, seed=0):
    """Draw deterministic policies that agree in about half of the states."""
    rng = np.random.default_rng(seed)
    mask = game.mask(np.arange(game.num_states))
    common = (rng.random(mask.shape) * mask).argmax(axis=1)
    own = (rng.random((count, *mask.shape)) * mask).argmax(axis=2)
    return list(np.where(rng.random((count, game.num_states)) < 0.5, common, own))


@cache
def ways(game, payee, player, state, action):
    """List the outcomes of a move: chance, payoff, and the next position, None at the end."""
    chances, move = transitions(game, player, state, action)
    return [
        (
            float(chances[i]),
            float(move.payoffs[i, payee]),
            None if move.over[i, payee] else (int(move.seats[i]), int(move.states[i])),
        )
        for i in np.flatnonzero(chances)
    ]


class Enumeration:
    """The best responder's value move by move, with its beliefs as a part of the position.

    A belief is the probability of each member times that of its moves so far. Values are not
    divided by it, and any law of actions would do: no formula is shared with the package.
    """

    def __init__(self, game, seat, members):
        self.game, self.seat, self.members, self.known = game, seat, members, {}

    def after(self, player, state, action, belief):
        return sum(
            chance * (paid * sum(belief) if later is None else self.value(*later, belief))
            for chance, paid, later in ways(self.game, 1 - self.seat, player, state, action)
        )

    def value(self, *position):
        return self.known.setdefault(position, 0.0)

    def update(self, player, state, belief):
        actions = np.flatnonzero(self.game.mask(np.array([state]))[0]).tolist()
        if player != self.seat:
            return max(self.after(player, state, action, belief) for action in actions)
        moves = [member[state] for member in self.members]
        parts = {
            action: tuple(np.where(np.equal(moves, action), belief, 0.0).tolist())
            for action in actions
        }
        return sum(self.after(player, state, a, part) for a, part in parts.items() if any(part))

    def solve(self, shares):
        starts, chances = self.game.initial_law()
        begin = [(0, int(state), tuple(shares)) for state in starts]
        before = None
        while before is None or any(
            abs(worth - before.get(position, 9.0)) > 1e-13 for position, worth in self.known.items()
        ):
            before = {position: self.value(*position) for position in begin} | self.known
            for position in reversed(list(self.known)):
                self.known[position] = self.update(*position)
        return sum(c * self.known[p] for c, p in zip(chances, begin, strict=True))


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_a_mixture_is_scored_as_an_enumeration_with_beliefs_does(game):
    members, weights = tables(game, 3), [1, 2, 5]
    found = score_mixture(members, Task(game), weights)
    total = sum(game.payoff_range)
    wanted = [
        total - Enumeration(game, seat, members).solve([weight / 8 for weight in weights])
        for seat in (0, 1)
    ]
    assert found.guaranteed == pytest.approx(wanted, abs=1e-11)
    alone = [score_self_play(member, Task(game)) for member in members]
    bound = sum(w * one.exploitability for w, one in zip(weights, alone, strict=True)) / 8
    assert found.exploitability < bound + 1e-12


def test_a_mixture_is_harder_to_exploit_than_the_laws_of_its_states_say():
    """The opponent learns from moves: the mixture by state differs from that by game."""
    game = Greed(6, 3)
    members = tables(game, 3)
    by_state = np.eye(game.num_actions)[members].mean(axis=0)
    mixed = score_mixture(members, Task(game)).exploitability
    assert abs(mixed - exactdice.exploitability(by_state, Task(game))) > 1e-3


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_a_mixture_of_one_policy_is_that_policy(game):
    (member,) = tables(game, 1)
    alone = score_self_play(member, Task(game))
    for members in ([member], [member, member.copy()]):
        mixed = score_mixture(members, Task(game))
        assert mixed.in_seats == pytest.approx(alone.in_seats, abs=1e-13)
    assert alone.exploitability == pytest.approx(exactdice.exploitability(member, Task(game)))


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_the_scale_of_exploitability_goes_from_random_play_to_the_equilibrium(game):
    task = Task(game, 1, "random")  # the opponent does not matter
    least, most = (score_self_play(name, task) for name in ("random", "equilibrium"))
    assert (least.normalized, most.normalized) == pytest.approx((0, 1), abs=1e-12)
    assert (least.nines, most.nines) == (pytest.approx(0), 9)
    assert least.random == pytest.approx(least.exploitability)
    assert sum(most.guaranteed) == pytest.approx(sum(game.payoff_range))
    some = score_self_play(tables(game, 1)[0], task)
    assert some.nines == pytest.approx(-log10(some.exploitability / least.exploitability))
    worst = [exactdice.best_response(tables(game, 1)[0], Task(game, seat)) for seat in (0, 1)]
    assert some.guaranteed == pytest.approx(
        [sum(game.payoff_range) - reply.value_before_play for reply in worst]
    )


def test_where_every_move_is_forced_random_play_is_an_equilibrium():
    found = score_self_play("random", Task(Greed(1, 1, max_dice=0)))
    assert (found.exploitability, found.normalized, found.nines) == (0, 1, 9)


def test_mixtures_refuse_laws_and_too_many_members():
    game = Greed(4, 2)
    with pytest.raises(ValueError, match="members must be deterministic policies, got random"):
        score_mixture(["optimal", "random"], Task(game))
    with pytest.raises(ValueError, match="members must be from 1 to 8 policies, got 9"):
        score_mixture(["optimal"] * 9, Task(game))
    for weights in ([1, 0], [1e308, 1e308], [1e308, 1e-320], [-1, -1], [np.inf, 1], [1]):
        with pytest.raises(
            ValueError, match="weights must be 2 positive numbers with a finite sum"
        ):
            score_mixture(["optimal", "if_else"], Task(game), weights)


def test_a_mixture_whose_sets_take_too_long_is_refused_before_anything_is_computed(monkeypatch):
    monkeypatch.setattr("exactdice.baselines.scoring.mixture.convert", None)
    with pytest.raises(SizeError, match="members must be fewer, got 8 in FourTwoOneMatch.*: 510 "):
        score_mixture(["optimal"] * 8, Task(FourTwoOneMatch()))


def test_members_of_many_states_are_compared_in_no_time():
    """One million states: a comparison by ``np.unique`` took twice ten seconds."""
    game = LowestScoreMatch()
    member = game.mask(np.arange(game.num_states)).argmax(axis=1)
    policies = [exactdice.as_policy(member.copy(), Task(game)) for _ in range(2)]
    begun = time.process_time()
    actions, shares = _distinct(game, 0, policies, np.array([0.25, 0.75]))
    assert time.process_time() - begun < 2
    assert shares.tolist() == [1.0]
    assert np.array_equal(actions[0, states_of(game, 0)], member[states_of(game, 0)])


@pytest.mark.parametrize("ask", [score_self_play, lambda *args: score_mixture([args[0]], args[1])])
@pytest.mark.parametrize("game", [FourTwoOne(), LowestScore(2, 3, 3, 3)])
def test_exploitability_is_of_two_players(ask, game):
    with pytest.raises(ValueError, match="game must be zero-sum with two players"):
        ask("random", Task(game))

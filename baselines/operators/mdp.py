"""Decision processes whose moves lead back, by policy iteration on their listed moves.

Such a process (``law.explicit``) has one player. Moves may pay in cycles, and without a limit of
moves or a discount a policy may never end. Its value is the expected sum of all that it is paid.
A policy that circles for ever in states where nothing is paid has the sum so far; a policy that
circles where moves pay has no value, and where it is charged on average minus infinity (the
convention of stochastic shortest paths, Bertsekas and Tsitsiklis 1991).

*A policy* makes a Markov chain. States from which the chain cannot end lead to recurrent classes
that it never leaves: they are found in its graph, not in rounded numbers. In all other states, with
P the chances among them and r what a move pays, the values solve (I - P) v = r and the expected
visits solve the transposed system; both are sparse. The diagonal of I - P is the chance to leave a
state, a sum in which nothing cancels.

*The optimum.* Policy iteration begins with a policy that from every state ends, or circles where
nothing is paid, and changes an action only for a strictly better one. Then no policy on the way
circles where moves pay, unless it is paid on average as it does: with the values v of the last
policy, v(s) < r(s) + sum of P(s, s') v(s') in a changed state and equality in others, so that in a
recurrent class the stationary mean of what is paid is positive. The optimum is infinite then, and
refused. At the end v >= T v, with T the Bellman operator, so that whatever a policy does, it is
paid in n moves v(s) - E v(s_n) at most. That is at most v(s) if it ends, or circles where nothing
is paid, where v >= 0. What is left are policies that circle where moves pay 0 on average: they keep
to actions whose value is v. If they can do so in states with v < 0, the process is refused.

*Floats* may take rounding for an improvement. An action is better if its value is larger by more
than the rounding of both. A policy that circles where moves pay is refused if the mean is positive
for certain: if r(s) + sum of P(s, s') h(s') - h(s) > 0 in the whole class for some numbers h. Else
its class keeps the actions that it had. Whatever policy is left, its bounds are proved.

*Error bound*: see ``enclosure``.
"""

from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from math import inf, isqrt
from typing import Any

import numpy as np

from ...core import (
    FLOATS,
    Arithmetic,
    Array,
    BoolArray,
    FloatArray,
    Game,
    InputError,
    IntArray,
    Stage,
    Values,
)
from ...core.arithmetic import largest
from ...core.block_moves import in_a_row, sums
from ...core.blocks import PayoffLaw
from ...core.contract import require_range, require_worst
from ...core.types import Start
from ..law.explicit import ExplicitGame
from ..law.graphs import strong_components
from ..policies.kinds import Policy
from .chain import Chain, chances_of, means_of, payments_of, refuse_for_ever
from .enclosure import bounds_of, raised, sizes_of
from .iteration import digest_of, policy_iteration
from .players import Players, one_hot
from .rounding import UNIT
from .systems import FEW, scipy_sparse

#: Rounds of modified policy iteration, at most, and sweeps by which each follows its choices.
GUESSES, FOLLOWED = 30, 10
#: Sweeps in the order of a game without cycles, at most.
FEW_SWEEPS = 5
ENDLESS = "the value of a policy must be finite, and this one circles and is paid without end"


def swept(players: Players) -> tuple[Values, float | FloatArray]:
    """Find the values of a process to its player, who is free or has a policy; and their bounds.

    A bound is that of the error of the value and of all action values of a state, shape (state,); 0
    for fractions.
    """
    game = players.game
    assert isinstance(game, ExplicitGame)
    require_range(game)  # before units are chosen
    if players.free:
        found, choices, bounds = _optimum(game, players.arithmetic)
        players.choices[0][:] = choices
    else:
        found, bounds = _evaluated(game, players)
    return Values(found[None]).frozen(), bounds


def _optimum(
    game: ExplicitGame, arithmetic: Arithmetic
) -> tuple[Array, IntArray, float | FloatArray]:
    """Find the values of optimal play, an optimal action in each state, and the error bounds."""
    rounds, every, listing = arithmetic.rounds, np.arange(game.rows), game.listing
    choices, guessed = _first_choices(game, arithmetic)

    def follow() -> Chain:
        return Chain(game, one_hot(choices, game.num_actions), arithmetic)

    chain = follow()
    if chain.circles.any():
        choices, guessed = game.way_out, None
        chain = follow()
    before, expected = choices, arithmetic.zeros(0)

    def improve(values: Array) -> Array:
        nonlocal before, choices, expected
        worth = _worth(game, values, arithmetic)
        expected = means_of(game, worth, arithmetic)
        now = expected[every, choices][:, None]
        better = np.where(expected > now, expected, -inf)
        cells = np.flatnonzero(better > -inf)
        if rounds and len(cells):  # an improvement by rounding alone is none
            ways = in_a_row(listing.firsts, cells)
            sizes = game.way_chances[ways] * np.abs(worth(ways))
            firsts = sums(listing.counts.ravel()[cells])[:-1]
            slack = (2 * listing.counts.max() + 8) * UNIT * np.add.reduceat(sizes, firsts)
            sure = expected.ravel()[cells] > now[cells // game.num_actions, 0] + slack
            better.ravel()[cells[~sure]] = -inf
        best = largest(better)
        before, improves = choices, best > -inf
        choices = np.where(improves, better.argmax(axis=1), choices)
        return np.where(improves, best, values)

    def solve(_: Array | None, near: Array | None) -> Array:
        nonlocal chain, choices
        chain = follow()
        while chain.circles.any():
            if (sure := chain.gains() if rounds else chain.circles).any():
                said = "the optimum must be finite, and play can be paid without end"
                refuse_for_ever(game, sure, said)
            choices = np.where(chain.circles, before, choices)
            chain = follow()
        return chain.values(near)

    first = chain.values(guessed)
    if (stuck := game.idles & (first < 0)).any():  # it is worth 0 to circle there
        choices = np.where(stuck, game.way_out, choices)
        first = solve(None, first)
    known = {digest_of(choices)}
    values, _ = policy_iteration(improve, solve, lambda: choices, first, known)
    choices = before  # the last ones are as these or, by rounding, as once before
    if not rounds:
        _refuse_swings(game, expected == values[:, None], values)
        return values, choices, 0.0
    weights, sizes = one_hot(choices, game.num_actions), sizes_of(game, values)
    stays, circling = chain.stays, chain.circling
    above, tight = raised(game, values, stays, None, sizes, circling, 1)
    below, _ = raised(game, -values, stays, weights, sizes, circling, -1)
    bounds = bounds_of(game, sizes, np.maximum(above, below))
    _refuse_swings(game, tight, values + bounds)
    return values, choices, bounds


def _first_choices(
    game: ExplicitGame, arithmetic: Arithmetic
) -> tuple[IntArray, FloatArray | None]:
    """Choose actions to begin with, (state,), and numbers that may be near their values."""
    if not arithmetic.rounds:
        with suppress(InputError):  # floats are not precise enough
            return _optimum(game, FLOATS)[1], None
    elif game.rows > FEW:
        return _guess(game)
    return game.way_out, None


def _guess(game: ExplicitGame) -> tuple[IntArray, FloatArray]:
    """Choose actions, (state,), that are about optimal; give about their values, (state,), too.

    They are found by modified policy iteration (Puterman and Shin 1978), which follows each choice
    of actions for some sweeps. Errors that all states share leave choices as they are.
    """
    listing, every = game.listing, np.arange(game.rows)
    gamma, targets = float(listing.gamma), listing.targets
    if (ends := targets < 0).any():
        targets = np.where(ends, game.rows, targets)
    shape = listing.counts.size, game.rows + 1
    moves = scipy_sparse().csr_array((game.way_chances, targets, listing.firsts), shape=shape)
    paid = means_of(game, lambda ways: game.way_payments[ways], FLOATS)
    if gamma == 1 and game.components.max() + 1 == game.rows:
        return _guess_in_order(moves, paid, np.argsort(game.components))
    values, choices = np.zeros(game.rows + 1), np.full(game.rows, -1)
    for _ in range(GUESSES):
        expected, before = paid + gamma * (moves @ values).reshape(paid.shape), choices
        choices, values[:-1] = expected.argmax(axis=1), largest(expected)
        if (choices == before).all():
            break
        chosen, gained = moves[every * game.num_actions + choices], paid[every, choices]
        for _ in range(FOLLOWED):
            values[:-1] = gained + gamma * (chosen @ values)
    return choices, values[:-1]


def _guess_in_order(moves: Any, paid: FloatArray, order: IntArray) -> tuple[IntArray, FloatArray]:
    """Guess, as ``_guess`` does, where moves lead to earlier states of an ``order``, (state,).

    Backward induction goes through many stretches of the order side by side, and each begins with
    the values that the last sweep gave to the others: those far away change choices rarely.
    """
    (count, actions), length = paid.shape, isqrt(len(order))
    values, choices = np.zeros(count + 1), np.full(count, -1)
    groups = [order[place::length] for place in range(length)]
    every, steps, last = np.concatenate(groups), [], 0
    paid, moves = paid[every], moves[(every[:, None] * actions + np.arange(actions)).ravel()]
    for states in groups:
        first, last = last, last + len(states)
        steps.append((states, paid[first:last], moves[first * actions : last * actions]))
    for _ in range(FEW_SWEEPS):
        before = choices.copy()
        for states, own, ahead in steps:
            expected = own + (ahead @ values).reshape(own.shape)
            choices[states], values[states] = expected.argmax(axis=1), largest(expected)
        if (choices == before).all():
            break
    return choices, values[:-1]


def _refuse_swings(game: ExplicitGame, tight: BoolArray, values: Array) -> None:
    """Refuse a process that can go on where it is paid and charged as much, and is worth less.

    Tight actions, (state, action), have the value of their state; the values, shape (state,), are
    those of optimal play, or upper bounds.
    """
    if not game.unbounded:
        return
    listing, circles = game.listing, game.listing.circles(tight)
    used = circles.ravel()[listing.cells]
    sources = listing.sources[used]
    parts = strong_components(sources, listing.targets[used], game.rows)
    pays = parts[sources[game.way_payments[used] != 0]]
    swings = circles.any(axis=1) & np.isin(parts, pays)
    if swings[values < 0].any():
        said = "a game must be worth ending, and play may rather go on, paid and charged as much,"
        refuse_for_ever(game, swings, said)


def _evaluated(game: ExplicitGame, players: Players) -> tuple[Array, float | FloatArray]:
    """Find the values of a policy, and the error bounds."""
    arithmetic, every = players.arithmetic, np.arange(game.rows)
    stage = Stage(0, every, arithmetic.numbers(np.ones(game.rows, dtype=np.int64)))
    weights = players.chances(stage, arithmetic)
    chain = Chain(game, weights, arithmetic)
    if chain.lost.any():
        require_worst(game)
    chain.require_ends(game.initial_law()[0], game, ENDLESS)
    values = chain.values()
    if not arithmetic.rounds:
        return values, 0.0
    stays, circling, finite = chain.stays, chain.circling, np.where(chain.circling, 0.0, values)
    del chain  # whose moves may take as much memory as the law
    sizes = sizes_of(game, finite, weights)
    above, below = (
        raised(game, sign * finite, stays, weights, sizes, circling, sign)[0] for sign in (1, -1)
    )
    return values, bounds_of(game, sizes, np.maximum(above, below))


def action_values(game: Game, values: Values, arithmetic: Arithmetic) -> Array:
    """Compute the value of every action, shape (state, action), from the values of states."""
    assert isinstance(game, ExplicitGame)
    return means_of(game, _worth(game, values[0], arithmetic), arithmetic)


def variance(
    game: Game, policy: Policy, values: Values, met: Values, arithmetic: Arithmetic
) -> float | Fraction:
    """Compute the variance of what a policy is paid, by the law of total variance.

    It is that of the first states' values, and with the expected visits ``met`` of each state the
    sum of the mean squares by which a move changes what is paid so far and the value together. The
    policy keeps to the legal actions.
    """
    assert isinstance(game, ExplicitGame)
    states, chances = game.initial_law()
    often, worth, legal = met[0], values[0], game.listing.legal
    away = np.where(often != 0, worth, arithmetic.number(0))  # it may circle elsewhere
    weights = policy.spread(np.arange(game.rows), often, arithmetic)
    listing, gamma = game.listing, arithmetic.number(game.listing.gamma)
    paid, ahead = payments_of(game, arithmetic), np.append(away, arithmetic.zeros(1))

    def squared(ways: slice) -> Array:
        gained, targets = paid[ways] - away[listing.sources[ways]], listing.targets[ways]
        square: Array = (gained + ahead[targets]) ** 2
        if gamma == 1:
            return square
        return np.where(targets < 0, square, gamma * square + (1 - gamma) * gained**2)

    expected = means_of(game, squared, arithmetic)
    beyond = (arithmetic.payoff_range(game)[0] - away) ** 2  # of illegal actions
    squares = np.where(weights != 0, np.where(legal, expected, beyond[:, None]), 0)
    begins = arithmetic.numbers(chances)
    first = away[states] - arithmetic.mean(begins, away[states])
    found: float | Fraction = arithmetic.total(weights * squares)
    found += arithmetic.mean(begins, first * first)
    return found


def _worth(
    game: ExplicitGame, values: Array, arithmetic: Arithmetic
) -> Callable[[slice | IntArray], Array]:
    """Give a function from ways to what they pay and lead to, by the values of states, (state,)."""
    listing, paid = game.listing, payments_of(game, arithmetic)
    ahead = np.append(values, arithmetic.zeros(1))
    if listing.gamma < 1:
        ahead = arithmetic.number(listing.gamma) * ahead
    return lambda ways: paid[ways] + ahead[listing.targets[ways]]


def settled(game: Game, policy: Policy) -> BoolArray:
    """Find where a policy stays for ever and nothing is paid, shape (state,)."""
    assert isinstance(game, ExplicitGame)
    weights = policy.spread(np.arange(game.rows), np.ones(game.rows), FLOATS)
    return Chain(game, weights, FLOATS).settled


def visits(
    game: Game,
    weights: Array,  # probability of each action, shape (state, action)
    kept: Array,  # that with which the game goes on: illegal actions, say, end it
    start: Start,  # mass before the first move
    arithmetic: Arithmetic,
    law: PayoffLaw | None,  # payoffs are added to it
) -> Values:
    """Compute the expected visits of each state (see ``cycles.visits`` and ``Chain.visits``)."""
    assert isinstance(game, ExplicitGame)
    chain = Chain(game, weights, arithmetic, kept)
    begun = arithmetic.zeros(game.rows)
    begun[start.states] = start.chances
    chain.require_ends(np.flatnonzero(begun), game, ENDLESS)
    met = chain.visits(begun)
    if law is not None:
        ends = game.listing.targets < 0
        flow = (met[:, None] * kept).ravel()[game.listing.cells] * chances_of(game, arithmetic)
        gamma = arithmetic.number(game.listing.gamma)
        flow, some = np.where(ends, flow, (1 - gamma) * flow), ends | (gamma < 1)
        law.add(payments_of(game, arithmetic)[some], flow[some])
        settled = met[chain.settled].sum()
        law.add(arithmetic.zeros(1), arithmetic.zeros(1) + settled)
    return Values(met[None]).frozen()

"""Policies of graded strength, between random and optimal play.

A policy *of graded strength* is between random play, 0, and optimal play, 1. In every state of its
seat the policy "strength:<share>" draws an action from the softmax of the exact action values,

    pi(a | s) = exp(b Q(s, a)) / sum over legal actions c of exp(b Q(s, c)),

where Q is of the equilibrium and b is the inverse temperature. The share p is the normalised score
of the policy against equilibrium players,

    p = (V(pi) - V(random)) / (V(equilibrium) - V(random)).

It is 0 at b = 0 and tends to 1 as b grows, and it is continuous. So a root search finds a b for
every p between 0 and 1, to within ``TOLERANCE``; if the search takes long, b is kept on disk
(``core.kept``). A share means the same in every game, whatever the unit of payoffs.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from ...core import FLOATS, Array, BoolArray, FloatArray, Game, InputError, Stage, sweeps_of
from ...core.kept import kept
from ...core.positions import legal_in
from ...core.sizes import check_array
from ..cache import cached
from ..operators.induction import sweep_back, visit_action_values
from ..operators.players import Players
from ..policies.kinds import Policy, StochasticPolicy, UniformPolicy
from ..policies.names import STRENGTH
from .equilibrium import equilibrium

#: Largest distance of a policy's normalised score from its share.
TOLERANCE = 1e-9
#: The folder of the code that computes inverse temperatures.
_CODE = Path(__file__).parents[1]
#: The root search takes about ten steps; it ends after this many at the latest.
MOST_STEPS = 100
#: The search begins with inverse temperatures from 0 to 1 and doubles the end up to this one.
LARGEST = 2.0**60


@cached
def strength_policy(game: Game, share: float, seat: int) -> StochasticPolicy:
    """Find the policy whose normalised score against equilibrium players is a share in (0, 1)."""
    legal, gaps = _gaps(game, seat)
    best = dict(enumerate(equilibrium(game).policies))

    def softmax(inverse: float, span: float) -> StochasticPolicy:
        table = np.zeros(legal.shape)
        table[legal] = _exponential(-inverse * (gaps / span))
        table /= table.sum(axis=1, keepdims=True)
        return StochasticPolicy(table, name=f"{STRENGTH}{share:g}")

    def value(policy: Policy) -> float:
        values = sweep_back(Players(sweeps_of(game), seat, {**best, seat: policy})).values
        states, chances = game.initial_law()
        return float(FLOATS.mean(np.asarray(chances, dtype=np.float64), values.at(0, states)))

    def search() -> FloatArray:  # inverse temperature of the share, V(equilibrium) - V(random)
        worst = value(UniformPolicy(game))
        span = value(best[seat]) - worst  # the unit of gaps, so that one bracket fits any game
        if span <= FLOATS.tie(game):
            raise InputError(
                f"strength must be 0 or 1 in seat {seat} of {game!r}, where random play is as good "
                f"as optimal play, got {share:g}"
            )
        inverse = _root(lambda inverse: (value(softmax(inverse, span)) - worst) / span - share)
        return np.array([inverse, span])

    what, code = f"strength {share!r} in seat {seat}", sorted(_CODE.glob("*/*.py"))
    return softmax(*kept(game, what, search, lambda numbers: numbers.shape == (2,), code))


def _gaps(game: Game, seat: int) -> tuple[BoolArray, FloatArray]:
    """Return the legal actions in the seat's states, and how much worse each is than the best.

    The mask, bool, shape (state, action), has the first action alone in states of other players;
    the expected payoff that each action of the mask loses is float64, in the mask's order.
    """
    check_array("a table of probabilities", game, game.num_states, game.num_actions)
    legal = np.zeros((game.num_states, game.num_actions), dtype=bool)
    legal[:, 0] = True
    table = np.zeros(legal.shape)
    values = equilibrium(game).values[seat]

    def visit(stage: Stage, expected: Array) -> None:
        mask = legal_in(game, stage)
        best, optimal = FLOATS.best(expected, mask, FLOATS.tie(game, stage.states))
        legal[stage.states] = mask
        table[stage.states] = np.where(optimal, 0.0, best[:, None] - expected)

    visit_action_values(sweeps_of(game), visit, values, seat, FLOATS)
    return legal, table[legal]


def _exponential(numbers: FloatArray) -> FloatArray:
    """Compute exp of numbers of at most 0, the same to the last bit on every processor.

    It is the Taylor polynomial at a 1,024th of the number, squared ten times: its relative error is
    below 1e-12. Below -700 it gives 0.
    """
    small = np.maximum(numbers, -700.0) / 1024
    total = np.ones_like(small)
    for order in range(14, 0, -1):
        total *= small / order
        total += 1
    for _ in range(10):
        total *= total
    total[numbers < -700] = 0.0
    return total


def _root(miss: Callable[[float], float]) -> float:
    """Find a root of a continuous function, negative at 0, by the Illinois method."""
    low, high = 0.0, 1.0
    below, above = miss(low), miss(high)
    while above < 0 and high < LARGEST:
        low, below, high = high, above, 2 * high
        above = miss(high)
    found, off = high, above
    for _ in range(MOST_STEPS):
        if abs(off) <= TOLERANCE:
            return found
        found = high - above * (high - low) / (above - below)
        last, off = off, miss(found)
        if off < 0:
            low, below = found, off
            above = above / 2 if last < 0 else above
        else:
            high, above = found, off
            below = below / 2 if last >= 0 else below
    raise ArithmeticError(f"a root must be found within {MOST_STEPS} steps, and was not")

"""The environments in JAX, with the interface of gymnax.

``reset`` and ``step`` are pure functions of a key, a state, an action and params, for ``jax.jit``,
``jax.vmap`` and ``jax.lax.scan``. A step makes the agent's move, follows the nodes of chance until
the agent is to move again or the game is over, and then begins the next game.

gymnax 1.0 requires Gymnasium below 1.4, so this module does not require gymnax: the wrappers and
clients of gymnax call the methods of an environment and never check its class. Where gymnax is
installed, the spaces are instances of gymnax's classes, which its wrappers do check.
"""

import importlib
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple, get_args

import jax
import jax.numpy as jnp
import numpy as np

from ...baselines import Task, make_task
from ...core import one_of
from ..api.registration import find_game
from ..encoding import Encoding, EncodingName
from ..engine.engine import RewardMode
from ..engine.process import FIRST_PLACE, GOES_ON, ILLEGAL
from .params import HALF, ExactLaw, Params, exact_law, params_of

#: Number of the first draw of a game that begins: no move has as many draws before it.
LATER = 2**30


class State(NamedTuple):
    """The state of one environment."""

    place: jax.Array  # number of the agent's place in its turn, int32
    context: jax.Array  # number of the agent's knowledge of earlier turns, int32
    paid: jax.Array  # payoff of the game since the agent's first move, float32
    time: jax.Array  # number of the agent's moves in this game, int32


@dataclass(frozen=True)
class Environment:
    """An agent in one seat of a dice game against fixed opponents, in JAX.

    Two environments are equal if their compiled programs are. So JAX compiles nothing anew for
    another opponent if the tables have the same shapes.
    """

    name: str  # of the game
    num_actions: int
    sizes: tuple[int, ...]  # number of values of each component of an observation
    encoding: EncodingName  # the form of observations (see ``Encoding``)
    reward: RewardMode  # see ``Engine``
    legacy: bool  # whether ``step`` returns the five values of gymnax 0.x
    task: Task = field(compare=False, repr=False)  # for exact computation
    default_params: Params = field(compare=False, repr=False)  # the tables of the task

    def _reset(self, key: jax.Array, params: Params | None = None) -> tuple[jax.Array, State]:
        """Start a game; return the observation and the state."""
        return self.reset_env(key, self.default_params if params is None else params)

    def _step(
        self, key: jax.Array, state: State, action: jax.Array, params: Params | None = None
    ) -> tuple[Any, ...]:
        """Make a move, and start the next game if this game is over.

        Returns:
            Observation, state, reward, whether the game has ended, False (games are never cut
            off), and a dictionary of infos; with ``legacy`` without the fifth. The infos are
            "action_mask", the legal actions of the new state; "outcome", the payoff of the game
            once it is over, else 0; "illegal_action"; "discount", 0 once the game is over, else 1;
            "terminated"; "truncated"; and "final_observation", the observation before a reset.
        """
        params = self.default_params if params is None else params
        seen, after, reward, over, info = self.step_env(key, state, action, params)
        begun = begin(key, params, over, after)
        info |= {"action_mask": self.legal(begun, params), "terminated": over}
        never = jnp.zeros_like(over)
        info |= {"truncated": never, "final_observation": seen}
        ends = (over,) if self.legacy else (over, never)
        return self.get_obs(begun, params), begun, reward, *ends, info

    reset = jax.jit(_reset, static_argnames="self")
    step = jax.jit(_step, static_argnames="self")

    def reset_env(self, key: jax.Array, params: Params) -> tuple[jax.Array, State]:
        """Start a game without compilation; return the observation and the state."""
        zero = jnp.zeros((), dtype=jnp.int32)
        nowhere = State(zero, zero, jnp.zeros((), dtype=params.payoffs.dtype), zero)
        state = begin(key, params, jnp.ones((), dtype=bool), nowhere)
        return self.get_obs(state, params), state

    def step_env(
        self, key: jax.Array, state: State, action: jax.Array, params: Params
    ) -> tuple[jax.Array, State, jax.Array, jax.Array, dict[str, jax.Array]]:
        """Make a move without a reset.

        Returns:
            Observation, state, reward, whether the game has ended, and infos. At the end of a game
            the state remains the state of the agent's last move.
        """
        after, event, paid = move(key, params, state, action)
        over, total = event != GOES_ON, state.paid + paid
        after = after._replace(paid=total, time=state.time + 1)
        info = {
            "outcome": jnp.where(over, total, 0),
            "illegal_action": event == ILLEGAL,
            "discount": jnp.where(over, 0.0, 1.0),
        }
        reward = self._reward(params, state, action, after, over, paid)
        return self.get_obs(after, params), after, reward, over, info

    def _reward(
        self,
        params: Params,
        state: State,
        action: jax.Array,
        after: State,
        over: jax.Array,
        paid: jax.Array,
    ) -> jax.Array:
        """Return the reward of a move in the environment's reward mode."""
        if params.rows is None or params.rewards is None:
            return paid
        row = params.rows[state_number(params, state)]
        if self.reward == "regret":
            return params.rewards[row, action]
        later = params.rewards[params.rows[state_number(params, after)]]
        return paid + jnp.where(over, 0, later) - params.rewards[row]

    def legal(self, state: State, params: Params) -> jax.Array:
        """Return whether each action is legal, bool, shape (action,)."""
        return params.legal[state.place]

    def get_obs(
        self, state: State, params: Params | None = None, key: jax.Array | None = None
    ) -> jax.Array:
        """Return the encoded observation of a state, shape (feature,)."""
        params = self.default_params if params is None else params
        return params.sights.encoded(state.place, state.context)

    def exact_law(self) -> ExactLaw:
        """Return the law of the task, the first argument of ``exact_score``."""
        return exact_law(self.task, self.encoding)

    def action_space(self, params: Params | None = None) -> Any:
        """Return the space of actions, gymnax's where it is installed."""
        space = _spaces().Discrete(self.num_actions)
        space.dtype = jnp.int32  # gymnax's own asks for 64 bits, of which JAX warns
        return space

    def observation_space(self, params: Params | None = None) -> Any:
        """Return the space of observations, a box, gymnax's where it is installed."""
        space = Encoding(self.sizes, self.encoding).space
        high = np.array(self.sizes) - 1 if self.encoding == "integer" else 1
        dtype = jnp.int32 if self.encoding == "integer" else space.dtype
        return _spaces().Box(0, high, space.shape, dtype)


def make(
    game: str,
    seat: int = 0,
    reward: RewardMode = "outcome",
    encoding: EncodingName = "one_hot_float",
    legacy: bool = False,
    **keywords: Any,
) -> tuple[Environment, Params]:
    """Make an environment in JAX and its params, as ``gymnax.make`` does.

    Args:
        game: name of a game, or the path of a user's own game, "FILE.py:NAME".
        seat: the agent's seat.
        reward: "outcome", "regret" or "shaped" (see ``Engine``).
        encoding: the form of observations (see ``Encoding``).
        legacy: whether ``step`` returns the five values of gymnax 0.x, for programs written for it.
        keywords: the game's own keywords, and ``opponent`` or ``opponents``.
    """
    one_of("reward", reward, get_args(RewardMode))
    task = make_task(find_game(game).name, seat, **keywords)
    sizes = tuple(map(int, task.game.observation_sizes))
    Encoding(sizes, encoding)  # raises InputError
    params = params_of(task, reward, encoding)
    rules = task.game.name, task.game.num_actions, sizes
    return Environment(*rules, encoding, reward, legacy, task, params), params


def state_number(params: Params, state: State) -> jax.Array:
    """Return the number of a state in the game."""
    return params.bases[state.context] + params.strides[state.context] * state.place


def draw(key: jax.Array, number: Any, params: Params, row: jax.Array) -> jax.Array:
    """Draw where a move or a node leads (see ``params``): an entry of ``leads_to``.

    The number tells the draws of a key apart. A key that is folded with it is two words of random
    bits, if it is of the default kind; other kinds, of more words or whose folds have less chance
    in them, make two words by a draw. ``row`` is one of ``moves`` or ``nodes``.
    """
    folded = jax.random.fold_in(key, number)
    if str(jax.random.key_impl(key)) == "threefry2x32":
        words = folded if folded.dtype == jnp.uint32 else jax.random.key_data(folded)
    else:
        words = jax.random.bits(folded, (2,), jnp.uint32)
    size = row[0].astype(jnp.uint32)
    high = words[0] // HALF * size + words[0] % HALF * size // HALF  # no product is above a word
    own = (high // HALF).astype(jnp.int32)
    threshold, alias = params.slots[row[1] + own]
    outcome = jnp.where(words[1] < threshold, own, alias.astype(jnp.int32))
    return params.leads_to[row[2] + outcome]


def move(
    key: jax.Array, params: Params, state: State, action: jax.Array
) -> tuple[State, jax.Array, jax.Array]:
    """Make a move; return the state after it, the event and the payoff."""
    entry = draw(key, 0, params, params.moves[state.place, action])
    exists = (action >= 0) & (action < params.legal.shape[1])
    goes_on = exists & (entry >= FIRST_PLACE)
    event = params.events[jnp.maximum(~entry, 0), state.context]
    event = jnp.where(goes_on, GOES_ON, jnp.where(exists, event, ILLEGAL))
    moved = state._replace(place=jnp.where(goes_on, entry, state.place))
    return follow(key, 1, params, event, moved)


def begin(key: jax.Array, params: Params, over: jax.Array, state: State) -> State:
    """Return the first state of a new game where ``over`` is true, else the given state."""
    start = jnp.where(over, params.start, GOES_ON)
    begun, _, _ = follow(key, LATER, params, start, state)
    return begun._replace(paid=jnp.where(over, 0, begun.paid), time=jnp.where(over, 0, begun.time))


def follow(
    key: jax.Array, first: int, params: Params, event: jax.Array, state: State
) -> tuple[State, jax.Array, jax.Array]:
    """Draw at nodes until the event is no node; return the state, this event and the payoff.

    The draws of the key have the numbers from ``first`` on.
    """

    def go_on(carry: tuple[Any, ...]) -> tuple[Any, ...]:
        number, event, place, context, paid = carry
        node = event - params.first_node
        if params.node_gains is not None:
            paid += params.node_gains[node]
        row = params.nodes[node]
        entry = draw(key, number, params, row)
        arrives = entry >= FIRST_PLACE
        event = jnp.where(arrives, GOES_ON, ~entry)
        place = jnp.where(arrives, entry, place)
        context = jnp.where(arrives, row[3], context)
        return number + 1, event, place, context, paid

    paid = jnp.zeros((), dtype=params.payoffs.dtype)
    carry = jnp.int32(first), event, state.place, state.context, paid
    _, event, place, context, paid = jax.lax.while_loop(
        lambda carry: carry[1] >= params.first_node, go_on, carry
    )
    return state._replace(place=place, context=context), event, paid + params.payoffs[event]


@dataclass
class Discrete:
    """The integers 0, ..., n - 1."""

    n: int
    shape: tuple[int, ...] = ()
    dtype: Any = jnp.int32

    def sample(self, key: jax.Array) -> jax.Array:
        """Draw a number uniformly."""
        return jax.random.randint(key, self.shape, 0, self.n, self.dtype)

    def contains(self, x: jax.Array) -> jax.Array:
        """Return whether the space contains a number."""
        return (x >= 0) & (x < self.n)


@dataclass(frozen=True)
class Box:
    """Arrays whose entries are from ``low`` to ``high``."""

    low: Any
    high: Any
    shape: tuple[int, ...]
    dtype: Any = jnp.float32

    def sample(self, key: jax.Array) -> jax.Array:
        """Draw an array uniformly."""
        numbers = jax.random.uniform(key, self.shape, minval=self.low, maxval=self.high)
        return numbers.astype(self.dtype)

    def contains(self, x: jax.Array) -> jax.Array:
        """Return whether the space contains an array."""
        return jnp.all((x >= self.low) & (x <= self.high))


def _spaces() -> Any:
    """Return a module with the two kinds of spaces: gymnax's, or this one."""
    with suppress(ModuleNotFoundError):
        return importlib.import_module("gymnax.environments.spaces")
    return sys.modules[__name__]

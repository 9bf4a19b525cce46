"""Small worlds that take the place of a program's environment, and the values that they have.

Each world isolates one link of a learner: a reward at once, one a move later, an action that
matters, an end that is followed by a rich beginning. It has the observation and action spaces of
the program's own environment, so that its networks fit; its states are distinct vectors, images or
numbers in that space. A textbook waits until the agent has learned such a world; here the critic is
compared with the exact values of the present policy.

The wrappers of the program stay as they are. Other collections of such worlds, first that of Andy
Jones (*Debugging RL, Without the Agonizing Pain*, 2021), are separate environments.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import gymnasium as gym
import numpy as np
from torch import nn

from ...baselines import Task, evaluate
from ...core import FloatArray, InputError, IntArray
from ...envs import from_P
from .rows import Heard, Story
from .tap import Numbers

#: The next state of a move that ends the game in its own state.
STAYS = -1
#: Probability, next state, reward and whether the game ends.
Outcome: TypeAlias = tuple[float, int, float, bool]


@dataclass(frozen=True)
class Probe:
    """A small world."""

    name: str
    words: str  # what it isolates
    #: For each state the outcomes of the first action and of all others, once if they are the same.
    law: Sequence[Sequence[Sequence[Outcome]]]
    first: tuple[int, ...] = (0,)  # the states in which games begin, with the same probability
    by_lane: bool = False  # whether the games of a lane begin in the state of its number
    cut: int = 0  # number of moves after which a game is cut; 0 cuts none
    illegal: bool = False  # whether the first action is illegal, where the program sees masks

    def outcomes(self, state: int, action: int) -> Sequence[Outcome]:
        """Return the outcomes of an action."""
        options = self.law[state]
        return options[min(action, len(options) - 1)]

    def task(self, actions: int, gamma: float) -> Task:
        """Return the world as a decision problem with a number of actions."""
        law = {
            state: {
                action: [
                    (chance, state if then == STAYS else then, reward, ended)
                    for chance, then, reward, ended in self.outcomes(state, action)
                ]
                for action in range(actions)
            }
            for state in range(len(self.law))
        }
        start = np.zeros(len(law))
        start[list(self.first)] = 1 / len(self.first)
        return from_P(law, start, gamma=gamma)

    def values(self, policy: FloatArray, gamma: float) -> FloatArray:
        """Return the exact values of a policy, (state,), from its laws, (state, action)."""
        task = self.task(policy.shape[1], gamma)
        return evaluate(policy, task).found.at(0, np.arange(len(self.law)))


def _pays(reward: float, then: int | None = None) -> list[Outcome]:
    return [(1.0, STAYS if then is None else then, reward, then is None)]


_WINS, _LOSES = _pays(1.0), _pays(-1.0)
_FIRST, _OTHERS = (_WINS, _LOSES), (_LOSES, _WINS)  # the actions that win

#: All worlds, in the order in which they are tried.
PROBES = (
    Probe("constant", "a reward of 1 at once", [(_WINS,)]),
    Probe(
        "observation",
        "a reward of 1 or -1, which the observation tells",
        [(_WINS,), (_LOSES,)],
        (0, 1),
    ),
    Probe("later", "a reward of 1 a move later", [(_pays(0.0, 1),), (_WINS,)]),
    Probe("action", "a reward of 1 for the first action, of -1 for others", [_FIRST]),
    Probe(
        "both",
        "a reward of 1 for the first action after one observation, for others after the other",
        [_FIRST, _OTHERS],
        (0, 1),
    ),
    Probe(
        "credit",
        "a first action that decides on the reward two moves later",
        [(_pays(0.0, 1), _pays(0.0, 2)), (_pays(0.0, 3),), (_pays(0.0, 4),), (_WINS,), (_LOSES,)],
    ),
    Probe(
        "chance",
        "a reward of 2 in one of four games, else 0",
        [([(0.25, STAYS, 2.0, True), (0.75, STAYS, 0.0, True)],)],
    ),
    Probe(
        "beginning",
        "an end that pays -1, after which the next game begins with a reward of 1",
        [(_pays(1.0, 1),), (_LOSES,)],
    ),
    Probe(
        "cut",
        "a reward of 0.1 in every move of a game without end, cut after ten moves",
        [(_pays(0.1, 0),)],
        cut=10,
    ),
    Probe(
        "lanes",
        "rewards from -1 to 1, of each lane of a vector its own",
        [(_pays(reward),) for reward in (1.0, -1.0, 0.5, -0.5)],
        (0, 1, 2, 3),
        by_lane=True,
    ),
    Probe(
        "masks",
        "a reward of -1 for the first action, which is illegal, of 1 for others a move later",
        [(_LOSES, _pays(0.0, 1)), _OTHERS],
        illegal=True,
    ),
)


class World:
    """Answers in place of environments, by the law of a probe."""

    def __init__(self, probe: Probe, seed: int = 0) -> None:
        self.probe, self._seed = probe, seed
        self.shown: Numbers | None = None  # the observations of all states, (state, ...)
        self._games: dict[int, _Game] = {}

    def answer(self, env: Any, word: str, *args: Any, **options: Any) -> Any:
        """Answer a call of ``reset`` or ``step``."""
        if id(env) not in self._games:
            lane = len(self._games)
            self._games[id(env)] = _Game(env, self.probe, lane, self._seed + lane)
        if self.shown is None:
            self.shown = _shown(env.observation_space, len(self.probe.law))
        game = self._games[id(env)]
        if word == "masks":
            return game.mask.astype(bool)
        state, *told = game.reset() if word == "reset" else game.step(args[0])
        info = {"action_mask": game.mask.copy()} if hasattr(env, "action_masks") else {}
        return self.shown[state].copy(), *told, info


class _Game:
    """One environment of a world."""

    def __init__(self, env: Any, probe: Probe, lane: int, seed: int) -> None:
        if not isinstance(env.action_space, gym.spaces.Discrete):
            raise InputError(
                f"probes need an action space of the type Discrete, got {env.action_space}"
            )
        self._env = env  # which is kept alive
        self._probe, self._lane = probe, lane
        self._draws = np.random.default_rng(seed)
        self._state, self._moves = 0, 0
        self.mask = np.ones(int(env.action_space.n), dtype=np.int8)  # of legal actions
        self.mask[0] = not probe.illegal

    def reset(self) -> tuple[int]:
        """Begin a game."""
        first = self._probe.first
        at = self._lane % len(first) if self._probe.by_lane else self._draws.integers(len(first))
        self._state, self._moves = first[at], 0
        return (self._state,)

    def step(self, action: Any) -> tuple[int, float, bool, bool]:
        """Make a move; the observation of an end is that of the state before it."""
        options = self._probe.outcomes(self._state, int(np.asarray(action).reshape(-1)[0]))
        drawn = self._draws.choice(len(options), p=[each[0] for each in options])
        _, then, reward, ended = options[drawn]
        self._state = self._state if then == STAYS else then
        self._moves += 1
        cut = bool(self._probe.cut and self._moves >= self._probe.cut)
        return self._state, reward, ended, cut and not ended


def _shown(space: Any, count: int) -> Numbers:
    """Return distinct observations of a space, (state, ...)."""
    rows: Iterable[Any]
    if isinstance(space, gym.spaces.Discrete):
        every = range(int(space.start), int(space.start + space.n))
        rows = every[:: max(1, len(every) // count)]
    elif isinstance(space, gym.spaces.MultiDiscrete | gym.spaces.MultiBinary):
        space.seed(0)
        rows = [space.sample() for _ in range(64)]
    elif isinstance(space, gym.spaces.Box):
        low, high = space.low.astype(np.float64), space.high.astype(np.float64)
        if space.dtype != np.uint8:
            low, high = np.maximum(low, -1.0), np.minimum(high, 1.0)
        pattern = np.random.default_rng(0).integers(2, size=(64, *space.shape))
        rows = np.where(pattern == 1, high, low).astype(space.dtype)
    else:
        raise InputError(
            "probes need an observation space of the type Box, Discrete, MultiDiscrete or "
            f"MultiBinary, got {type(space).__name__}"
        )
    found = {each.tobytes(): each for each in map(np.asarray, rows)}
    if len(found) < count:
        raise InputError(f"a probe needs {count} observations, got a space of {len(found)}")
    return np.stack([*found.values()][:count])


class Reading(NamedTuple):
    """What the critic of a program says of a state of a probe, beside the exact value."""

    probe: str
    state: int
    said: float
    exact: float  # of the present policy
    verdict: str  # "holds", "not yet" or "wrong"


#: A critic's value holds if it is this near to the exact one, and may be wrong if it is as far.
NEAR, FAR = 0.1, 0.25


def readings(
    world: World,  # the probe that the program has met
    story: Story,  # what its networks have said
    network: nn.Module | None,  # the critic, or the network of action values
    gamma: float | None,  # the discount of the program, if it is known
) -> Iterator[Reading]:
    """Compare what a network says of the states of a probe with the values of the present policy.

    Values that still move toward the exact ones are "not yet": the limit of the last three quarters
    of the run, as of a geometric series (Aitken), must be far from the exact value, too, and the
    value must have moved by most of the way to this limit. Means of parts of the run scatter about
    their curve: a value is "wrong" if with Student's t it is so far off by chance in one of 10,000
    runs.
    """
    if world.shown is None or network is None:
        return
    keys, parts = story.raw(world.shown), np.array_split(np.arange(len(story.trace.rows)), PARTS)

    def best(said: Heard) -> Numbers | None:
        outputs = said.outputs.get(network)
        return None if outputs is None else outputs.max(axis=1, keepdims=True)

    def law(said: Heard) -> Numbers | None:
        outputs = said.outputs.get(network)
        if said.logits is not None:
            return np.exp(said.logits)
        if outputs is None or outputs.shape[1] == 1:
            return None
        return np.eye(story.actions)[outputs.argmax(axis=1)]

    said = np.array([_means(story, part, keys, best, 1)[:, 0] for part in parts])  # (part, state)
    laws = _means(story, parts[-1], keys, law, story.actions)
    laws = np.where(np.isnan(laws), 1 / story.actions, laws)
    if gamma is None and world.probe.name == "later" and said[-1, 1]:
        gamma = float(np.clip(said[-1, 0] / said[-1, 1], 0.0, 1.0))
    exact = world.probe.values(laws, 1.0 if gamma is None else gamma)
    for state, curve in enumerate(said.T):
        if np.isfinite(curve[-5:]).all():
            told = _verdict(curve[np.isfinite(curve)], exact[state])
            yield Reading(world.probe.name, state, float(curve[-1]), float(exact[state]), told)


#: Number of parts of a run whose means are compared, and the chance that their noise accuses.
PARTS, ALARM = 8, 1e-4


def _verdict(curve: FloatArray, exact: float) -> str:
    from scipy.special import stdtrit  # which takes a quarter of a second

    if abs(curve[-1] - exact) <= NEAR:
        return "holds"
    first, second, third = curve[-5], curve[-3], curve[-1]
    before, after = second - first, third - second
    slows = abs(after) < 0.7 * abs(before) or max(abs(before), abs(after)) < 0.02
    limit = third + (after**2 / (before - after) if abs(before - after) > 1e-9 else 0.0)
    settled = slows and abs(third - curve[0]) > 3 * abs(limit - third)
    # Second differences of independent errors have six times their variance.
    noise = float(np.sqrt((np.diff(curve, 2) ** 2).mean() / 6))
    sure = FAR + float(stdtrit(len(curve) - 2, 1 - ALARM)) * noise
    far = min(abs(third - exact), abs(limit - exact)) > sure
    return "wrong" if settled and far else "not yet"


def _means(
    story: Story,
    part: IntArray,  # numbers of rows
    keys: list[bytes],  # of the states
    of: Callable[[Heard], Numbers | None],
    count: int,
) -> FloatArray:
    """Return the means of numbers in each state over a part of the rows, (state, number)."""
    found: dict[bytes, list[Numbers]] = {key: [] for key in keys}
    lanes = len(story.trace.rows[0].used)
    for row in part.tolist():
        numbers = of(story.heard[row]) if row in story.heard else None
        if numbers is not None:
            seen = story.seen[row * lanes : (row + 1) * lanes]
            for key, own in zip(seen, numbers, strict=True):
                if key in found:
                    found[key].append(own)
    none = np.full((1, count), np.nan)
    return np.array([np.mean(own or none, axis=0, dtype=np.float64) for own in found.values()])

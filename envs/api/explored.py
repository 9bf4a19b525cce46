"""Environments that can be copied: their law is found by making every move once.

From copies of each state all actions are tried. Two states are one if their contents are: all
attributes of the environment and its wrappers, but for generators of random numbers and for
*counters*, which grow by 1 with every move. Where the answers of an environment depend on a
counter, it belongs to the state; but for two ways in which most environments count: the limit of
moves, and a reward at the end that is linear in the number of moves.
"""

import copy
import pickle
import random
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from io import BytesIO
from itertools import islice, pairwise
from typing import Any, TypeAlias

import gymnasium as gym
import numpy as np
from typing_extensions import override

from ...baselines import LawGame, Task
from ...baselines.law.explicit import View
from ...baselines.law.simple import search
from ...core import InputError
from ...core.checks import is_whole, require_count
from ...core.errors import answering
from .frames import minigrid
from .given import made, title_of
from .search import CLOSE, ConflictError, Rows, Simulator, State, Way
from .wrappers import HARMLESS, LIMIT, layers_of, place_of

#: What a user says of a state.
Key: TypeAlias = Callable[[Any], Hashable]
#: Lists the outcomes of a move: the chance of each, and a function that prepares a copy for it.
Chance: TypeAlias = Callable[[Any, int], Iterable[tuple[float, Callable[[Any], Any]]]]
#: Generators, and objects that are no part of a state.
RANDOM = (np.random.Generator, np.random.RandomState, random.Random)
APART = (*RANDOM, gym.Space, gym.envs.registration.EnvSpec)
#: States after which a search ends in which hardly a state was met twice, and moves from the
#: beginning after which it does if there is no limit.
MANY, TWICE, DEEP = 5000, 0.01, 1000
#: Games, and moves of them, that are compared with the law in the end.
GAMES, MOVES = 20, 2000
#: Numbers of moves after which the first state is tried; the n-th one after an n-th of them.
MORE = 24
#: Bytes of a copy that is no bytes, about.
COPY = 20_000
#: Largest power of 2 as a limit of moves that is looked for.
LONGEST = 20


def explore(
    env: Any,
    seeds: Iterable[int] = (0,),
    key: Key | None = None,
    chance: Chance | None = None,
    horizon: int | None = None,
) -> Task:
    """Find the law of an environment whose state can be copied; every function here takes it.

    ::

        task = exactdice.explore(gym.make("MiniGrid-DoorKey-5x5-v0"))
        print(exactdice.solve(task).value, exactdice.score(model, task))

    Args:
        env: an environment of Gymnasium with actions 0 to n - 1, with its wrappers. It is copied
            and stays as it is.
        seeds: of the beginnings, which are equally likely.
        key: what makes a state, hashable, from ``env.unwrapped``; by default its whole content.
            Observations, rewards and ends must follow from it.
        chance: lists the outcomes of a move by ``chance(env.unwrapped, action)``: the probability
            of each, and a function that prepares a copy of ``env.unwrapped`` so that it does not
            draw; by default no move may draw random numbers.
        horizon: number of moves after which a game is over; by default the limit that the
            environment has.

    Returns:
        The task. It knows what the environment shows in each state, so that policies get
        observations as in play.

    Raises:
        InputError: naming state and action, if a move draws random numbers, or if what the
            environment answers does not follow from its state; or if it cannot be copied, or has
            another action space.
        SizeError: if there are too many states.
    """
    given = [*seeds]
    if not given or not all(map(is_whole, given)):
        raise InputError(f"seeds must be whole numbers, at least one, got {seeds!r}")
    if horizon is not None:
        require_count("horizon", horizon)
    explorer = _Explorer(env, given, key, chance, horizon, counted=False)
    try:
        return explorer.task()
    except ConflictError:
        if explorer.hidden and explorer.key is None:
            with suppress(ConflictError):
                return _Explorer(env, given, key, chance, horizon, counted=True).task()
        raise


def _of_grid(env: Any) -> Hashable:
    """Return what makes a state of MiniGrid."""

    def told(thing: Any) -> Any:
        return thing and (*thing.encode(), told(getattr(thing, "contains", None)))

    place = (*map(int, env.agent_pos), int(env.agent_dir))
    return place, told(env.carrying), env.mission, tuple(map(told, env.grid.grid))


class _Explorer(Simulator):
    """The states of an environment, of which copies are kept as bytes if it can be pickled.

    A key that is a float is that of a state after the end of a game, in which each move that is
    left pays so much.
    """

    size = COPY

    def __init__(
        self,
        env: Any,
        seeds: Sequence[int],
        key: Key | None,
        chance: Chance | None,
        horizon: int | None,
        counted: bool,  # whether counters are a part of states
    ) -> None:
        super().__init__()
        space = getattr(env, "action_space", None)
        if not isinstance(env, gym.Env) or not isinstance(space, gym.spaces.Discrete):
            raise InputError(
                "env must be an environment of Gymnasium with a Discrete action space, got "
                f"{space or type(env).__name__}"
            )
        self.seeds, self.chance = seeds, chance
        grid = any(base.__module__.startswith("minigrid.") for base in type(env.unwrapped).__mro__)
        self.key = key or (_of_grid if grid else None)
        self.choices, self.least = range(int(space.n)), int(space.start)
        with answering(f"env must be one that can be copied, got {env}"):
            layers = layers_of(copy.deepcopy(env))
        limits = [each._max_episode_steps for each in layers if place_of(type(each)) == LIMIT]
        self.limit = min([*limits, horizon or np.inf])
        layers = [each for each in layers if place_of(type(each)) not in {*HARMLESS, LIMIT}]
        for outer, inner in pairwise(layers):
            outer.env = inner
        self.env = layers[0]
        self.kept: Any = copy.deepcopy
        self.unpack: Any = copy.deepcopy
        with suppress(Exception):  # of a class without a module, which ``copy`` can copy
            pickle.loads(packed := pickle.dumps(self.env))  # noqa: S301  its own
            self.kept, self.unpack, self.size = pickle.dumps, pickle.loads, len(packed)
        self.hidden: list[tuple[int, str]] = []  # counters, by layer and name
        if not counted:
            self._hide()
        # The number of moves before the last one; any number if there is no limit.
        self.last = int(self.limit if self.limit < np.inf else MOVES) - 1

    @override
    def begin(self) -> Iterator[tuple[Fraction, State]]:
        for seed in self.seeds:
            env = copy.deepcopy(self.env)
            with answering("env must answer reset"):
                seen, info = env.reset(seed=seed)
            yield Fraction(1, len(self.seeds)), self._met(env, seen, info)

    def _met(self, env: Any, seen: Any, info: Any) -> State:
        mask = info.get("action_mask") if isinstance(info, dict) else None
        return State(self._key(env), (seen, mask), env)

    def _key(self, env: Any) -> Hashable:
        """Return what makes a state; of its content, bytes that are the same for the same."""
        if self.key is not None:
            with answering("key must give what is hashable, such as a tuple"):
                hash(found := self.key(env.unwrapped))
            return (found,)
        own, file = _contents(env), BytesIO()
        pickler = pickle.Pickler(file, pickle.HIGHEST_PROTOCOL)
        pickler.fast = True  # objects that are met twice are packed twice
        with answering("key must be given, as the content of the environment cannot be compared"):
            pickler.dump([(name, each) for name, each in own.items() if name not in self.hidden])
        return file.getvalue()

    # ---------------------------------------------------------------- counters

    def _hide(self) -> None:
        """Find the counters, which are 0 at the beginning and grow by 1 with every move.

        If there are some, find the number of moves after which the environment cuts a game.
        """
        found = []
        for _, met in islice(self.begin(), 3):
            over = False
            for moves in range(MOVES // 100 + 1):
                contents = _contents(met.copy).items()
                found.append({n for n, each in contents if type(each) is int and each == moves})
                if over:
                    break
                _, _, ended, cut, _ = self._step(met.copy, self.rng.choice(self.choices))
                over = ended or cut
        self.hidden = sorted(set.intersection(*found))

        def cuts(moves: int) -> bool:
            _, met = next(self.begin())
            self._count(met.copy, moves)
            return bool(self._step(met.copy, 0)[3])

        powers = (2**power for power in range(LONGEST) if self.hidden)
        if (most := next(filter(cuts, powers), None)) is not None:
            self.limit = min(self.limit, 1 + bisect_left(range(most), True, key=cuts))

    def _count(self, env: Any, moves: int) -> None:
        for depth, name in self.hidden:
            setattr(layers_of(env)[depth], name, moves)

    # ------------------------------------------------------------------- moves

    @override
    def moves(self, state: State) -> Rows:
        """Make every move of a state; refuse an environment whose states seem to have no end."""
        count, depth = len(self.known), state.depth
        new = count > MANY and self.again < TWICE * (self.again + count)
        if new or (self.limit == np.inf and depth > DEEP):
            raise ConflictError(
                f"env must have states that are met again, and {count:,} different ones were found "
                f"without an end, up to {depth:,} moves from the beginning: its states may be "
                "continuous, key must leave something out, or horizon must be given"
            )
        if isinstance(state.key, float):
            way = Way(1, state.key, State(state.key, state.shown, None))
            return {action: [way] for action in self.choices}
        rows, (_, mask) = Rows(), state.shown
        for action in self.choices if mask is None else np.flatnonzero(mask).tolist():
            outcomes: Any = [(1, None)]
            if self.chance is not None:
                outcomes = self.chance(self.unpack(state.copy).unwrapped, action + self.least)
            rows[action] = [
                self._way(state, action, prepare)._replace(chance=chance)
                for chance, prepare in outcomes
            ]
        return rows

    def _way(self, state: State, action: int, prepare: Any) -> Way:
        """Make a move after its own number of moves, and after others.

        What an end pays may be linear in their number: it pays as the last possible move would.
        """
        last = self.last
        places = [state.depth, last if state.number % 2 else self.rng.randint(0, last)]
        places += self.rng.choices(range(last + 1), k=MORE // (1 + state.number))
        ways = [self._answer(state, action, prepare, moves) for moves in places]
        each, way = 0.0, ways[0]
        if way.after is None and self.hidden and last:
            ends = [0, last // 2, last]
            ways += [self._answer(state, action, prepare, moves) for moves in ends]
            places += ends
            each, way = (ways[-3].reward - ways[-1].reward) / last, ways[-1]
        paid = [found.reward for found in ways]
        line = [way.reward + (last - moves) * each for moves in places]
        alike = np.isclose(line, paid, rtol=0, atol=CLOSE)
        alike &= [found.key == way.key for found in ways]
        if not alike.all():
            wrong = int(np.argmin(alike))
            raise ConflictError(
                f"env must answer by its state, and after {places[wrong]} moves action {action} in "
                f"state {state} leads to another state, or pays {paid[wrong]}, not {line[wrong]}"
            )
        if abs(each) < CLOSE:
            return way
        if self.limit == np.inf:
            raise InputError(
                "horizon must be given, as the reward of an end depends on the number of moves "
                f"before it: {paid[-3]} after 0 moves, and {paid[-1]} after {last}"
            )
        first = next(iter(self.known.values()))
        return way._replace(after=State(each, first.shown, None))

    def _answer(self, state: State, action: int, prepare: Any, moves: int) -> Way:
        """Make a move in a copy, whose counters show a number of moves.

        A function may prepare the copy for an outcome of chance.
        """
        env = self.unpack(state.copy)
        self._count(env, moves)
        generator = env.unwrapped._np_random
        if prepare is not None:
            prepare(env.unwrapped)
        before = _drawn(env)
        answer = self._step(env, action)
        if _drawn(env) != before:
            raise InputError(
                f"env must not draw random numbers in a move, and it does for action {action} in "
                f"state {state}: give chance, which lists the outcomes"
            )
        env.unwrapped._np_random = generator
        return self._read(env, answer, moves)

    def _step(self, env: Any, action: int) -> tuple[Any, ...]:
        with answering("env must answer step"):
            seen, reward, ended, cut, info = env.step(action + self.least)
        if not np.isfinite(reward):
            raise InputError(f"env must pay finite numbers, got {reward} for action {action}")
        return seen, float(reward), ended, cut, info

    def _read(self, env: Any, answer: tuple[Any, ...], moves: int) -> Way:
        """Return what a move after some others has paid, and the state after it."""
        seen, reward, ended, cut, info = answer
        if cut and not ended and self.hidden:  # by the limit, which is no part of states
            if moves + 1 < self.limit:
                raise ConflictError(
                    f"env must end games by its state, and cuts one after {moves + 1} moves"
                )
            cut = False
        return Way(1, reward, None if ended or cut else self._met(env, seen, info))

    @override
    def compare(self, state: State, met: State) -> None:
        for name, first, again in zip(("observation", "mask"), state.shown, met.shown, strict=True):
            if not _same(first, again):
                raise ConflictError(
                    f"env must show what follows from its state, and the {name} in state {state} "
                    f"is {again} and {first}"
                )

    @override
    def play(self, met: State, action: int) -> Way:
        return self._read(met.copy, self._step(met.copy, action), met.depth)

    @override
    def paid(self, way: Way, moves: int) -> Way:
        if isinstance(way.key, float):
            return Way(way.chance, way.reward + way.key * (self.last - moves), None)
        return way

    def task(self) -> Task:
        """Find all states, check them, and return the task of the law."""
        found = search(self, self.size)
        self.replay(GAMES, MOVES // GAMES)
        initial = np.zeros(len(found.states))
        initial[: len(found.start)] = found.start
        bare, space, shown = self.env.unwrapped, self.env.observation_space, None
        if isinstance(space, gym.spaces.Box | gym.spaces.Discrete):
            shown = np.stack([np.asarray(state.shown[0]) for state in found.states])
        names = tuple(getattr(getattr(bare, "actions", None), "__members__", ()))
        told: Any = ()
        if self.key is _of_grid:
            told = minigrid(bare, [state.key for state in found.states], names)
        limit = None if self.limit == np.inf else int(self.limit)
        terms = 1.0, limit, title_of(bare), View(space, shown, names, *told)
        return Task(LawGame(*found.law(self.choices), initial, *terms))


def _plain(given: Any) -> Any:
    """Return numbers, and positions of any type as tuples, in Python's types."""
    if isinstance(given, np.generic | np.ndarray) and given.size <= 3:
        given = given.tolist()
    if isinstance(given, list | tuple) and len(given) <= 3:
        return tuple(map(_plain, given))
    return given


def _contents(env: Any) -> dict[tuple[int, str], Any]:
    """Return the attributes of an environment and its wrappers, by number of the layer and name.

    Generators are among them only if they are parts of an attribute.
    """
    return {
        (depth, name): _plain(each)
        for depth, layer in enumerate(layers_of(env))
        for name, each in vars(layer).items()
        if name not in ("env", "_np_random", "_np_random_seed") and not isinstance(each, APART)
    }


def _drawn(env: Any) -> Any:
    """Return how far all generators are from which an environment may draw."""
    every = [each for layer in layers_of(env) for each in vars(layer).values()]
    own = pickle.dumps([each for each in every if isinstance(each, RANDOM)])
    return own, random.getstate(), np.random.get_state(legacy=False)["state"]["pos"]  # noqa: NPY002


def _same(one: Any, other: Any) -> bool:
    """Say whether two observations are the same."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(np.array_equal(one, other))


def explored_law(env_id: str) -> tuple[type[LawGame], dict[str, Any], Callable[..., Any]]:
    """Return class, defaults and law of the games ``explore:ID``.

    The arguments are ``seeds``, the number of levels, and ``horizon``, 0 for the environment's own
    limit.
    """

    def law(seeds: int, horizon: int) -> tuple[Any, ...]:
        game = explore(made(env_id), range(seeds), horizon=horizon or None).game
        return tuple(game.keywords.values())

    return LawGame, {"seeds": 1, "horizon": 0}, law

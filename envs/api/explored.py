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
from typing import Any, TypeAlias

import gymnasium as gym
import numpy as np
from typing_extensions import override

from ...baselines import LawGame, Task
from ...baselines.law.explicit import View
from ...baselines.law.simple import search
from ...core import InputError
from ...core.checks import is_whole, require_count
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
APART = (gym.Space, gym.envs.registration.EnvSpec)
#: States after which a search ends in which hardly a state was met twice, and moves from the
#: beginning after which it does if there is no limit.
MANY, TWICE, DEEP = 5000, 0.01, 1000
#: Games, and moves of them, that are compared with the law in the end.
GAMES, MOVES = 20, 2000
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
    said = ""
    for counted in (False, True):
        explorer = _Explorer(env, given, key, chance, horizon, counted)
        try:
            return explorer.task()
        except ConflictError as error:
            said = said or str(error)
        if not explorer.hidden or explorer.key is not None:
            break
    raise InputError(said)


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
        self.env, self.seeds, self.chance = env, seeds, chance
        grid = any(base.__module__.startswith("minigrid.") for base in type(env.unwrapped).__mro__)
        self.key = key or (_of_grid if grid else None)
        self.choices, self.least = range(int(space.n)), int(space.start)
        limits = [e._max_episode_steps for e in layers_of(env) if place_of(type(e)) == LIMIT]
        self.limit = min([*limits, horizon or np.inf])
        self.kept: Any = copy.deepcopy
        self.unpack: Any = copy.deepcopy
        try:
            self.bare = _without_records(copy.deepcopy(env))
        except Exception as error:
            raise InputError(
                f"env must be one that can be copied, got {env}: {type(error).__name__}: {error}"
            ) from None
        with suppress(Exception):  # of a class without a module, which ``copy`` can copy
            pickle.loads(packed := pickle.dumps(self.bare))  # noqa: S301  its own
            self.kept, self.unpack, self.size = pickle.dumps, pickle.loads, len(packed)
        self.hidden = [] if counted else self._counters()  # by layer and name
        if self.hidden:
            self.limit = min(self.limit, self._own_limit())

    @override
    def begin(self) -> Iterator[tuple[Fraction, State]]:
        for seed in self.seeds:
            env = copy.deepcopy(self.bare)
            yield Fraction(1, len(self.seeds)), self._met(env, *_asked(env.reset, seed=seed))

    def _met(self, env: Any, seen: Any, info: Any) -> State:
        mask = info.get("action_mask") if isinstance(info, dict) else None
        return State(self._key(env), (seen, mask), env)

    def _key(self, env: Any) -> Hashable:
        """Return what makes a state."""
        if self.key is None:
            # Generators that no attribute of a layer holds are a part of the state.
            own = {n: each for n, each in _contents(env).items() if not isinstance(each, RANDOM)}
            return _packed([item for item in own.items() if item[0] not in self.hidden])
        found = self.key(env.unwrapped)
        try:
            hash(found)
        except TypeError:
            raise InputError(f"key must be hashable, such as a tuple, got {found!r}") from None
        return (found,)

    # ---------------------------------------------------------------- counters

    def _counters(self) -> list[tuple[int, str]]:
        """Find the attributes that are 0 at the beginning and grow by 1 with every move."""
        found = []
        for seed in self.seeds[:3]:
            env, ends = copy.deepcopy(self.bare), [False]
            _asked(env.reset, seed=seed)
            for moves in range(MOVES // 100 + 1):
                contents = _contents(env).items()
                found.append({n for n, each in contents if type(each) is int and each == moves})
                if any(ends):
                    break
                _, _, *ends, _ = _asked(env.step, self.rng.choice(self.choices) + self.least)
        return sorted(set.intersection(*found))

    def _set(self, env: Any, moves: int) -> None:
        for depth, name in self.hidden:
            setattr(layers_of(env)[depth], name, moves)

    def _own_limit(self) -> float:
        """Find the number of moves after which the environment cuts a game."""

        def cuts(moves: int) -> bool:
            _, met = next(self.begin())
            self._set(met.copy, moves)
            return bool(_asked(met.copy.step, self.least)[3])

        most = next((2**power for power in range(LONGEST) if cuts(2**power)), None)
        return 1 + bisect_left(range(most), True, key=cuts) if most else np.inf

    @property
    def _last(self) -> int:
        """Number of moves before the last one; any number if there is no limit."""
        return int(self.limit if self.limit < np.inf else MOVES) - 1

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
        rows: Rows = {}
        _, mask = state.shown
        for action in self.choices:
            outcomes: Any = [(1, None)]
            if mask is not None and not mask[action]:
                outcomes = []
            elif self.chance is not None:
                outcomes = self.chance(self.unpack(state.copy).unwrapped, action + self.least)
            rows[action] = [
                self._way(state, action, prepare)._replace(chance=chance)
                for chance, prepare in outcomes
            ]
        return rows

    def _way(self, state: State, action: int, prepare: Any) -> Way:
        """Make a move after its own number of moves and after others, with other random numbers.

        What an end pays may be linear in their number: it pays as the last possible move would.
        """
        last = self._last
        places = [state.depth, last if state.number % 2 else self.rng.randint(0, last)]
        ways = [self._answer(state, action, prepare, moves) for moves in places]
        each, way = 0.0, ways[0]
        if way.after is None and self.hidden and last:
            places += [0, last // 2, last]
            ways += [self._answer(state, action, prepare, moves) for moves in places[2:]]
            each, way = (ways[2].reward - ways[-1].reward) / last, ways[-1]
        paid = [found.reward for found in ways]
        line = [way.reward + (last - moves) * each for moves in places]
        alike = all(found.key == way.key for found in ways)
        if not (alike and np.allclose(line, paid, rtol=0, atol=CLOSE)):
            raise ConflictError(
                f"env must answer by its state, and action {action} in state {state} leads to "
                f"different states, or pays {paid}, after {places} moves"
            )
        if abs(each) < CLOSE:
            return way
        if self.limit == np.inf:
            raise InputError(
                "horizon must be given, as the reward of an end depends on the number of moves "
                f"before it: {paid} after {places} moves"
            )
        first = next(iter(self.known.values()))
        return way._replace(after=State(each, first.shown, None))

    def _answer(
        self,
        state: State,
        action: int,
        prepare: Any,  # for an outcome of chance; None without
        moves: int,  # that counters show
    ) -> Way:
        """Make a move in a copy."""
        env, name = self.unpack(state.copy), f"action {action} in state {state}"
        bare, generator = env.unwrapped, getattr(env.unwrapped, "_np_random", None)
        self._set(env, moves)
        bare._np_random = generator and np.random.default_rng(moves)
        if prepare is not None:
            prepare(bare)
        before = _drawn(env)
        answer = _asked(env.step, action + self.least)
        if _drawn(env) != before:
            raise InputError(
                f"env must not draw random numbers in a move, and it does for {name}: give "
                "chance, which lists the outcomes"
            )
        bare._np_random = generator
        if not np.isfinite(answer[1]):
            raise InputError(f"env must pay finite numbers, got {answer[1]} for {name}")
        return self._read(env, answer, moves + 1, name)

    def _read(self, env: Any, answer: tuple[Any, ...], moves: int, name: str) -> Way:
        """Return what the last one of some moves has paid, and the state after it."""
        seen, reward, ended, cut, info = answer
        if cut and not ended and self.hidden:  # by the limit, which is no part of states
            if moves < self.limit:
                raise ConflictError(
                    f"env must end games by its state, and cuts one after {moves} moves for {name}"
                )
            cut = False
        return Way(1, float(reward), None if ended or cut else self._met(env, seen, info))

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
        answer = _asked(met.copy.step, action + self.least)
        return self._read(met.copy, answer, met.depth + 1, f"action {action} in a game")

    @override
    def paid(self, way: Way, moves: int) -> Way:
        if isinstance(way.key, float):
            return Way(way.chance, way.reward + way.key * (self._last - moves), None)
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


def _without_records(env: Any) -> Any:
    """Take away the wrappers that change nothing, or set a limit, which the search follows."""
    if not isinstance(env, gym.Wrapper):
        return env
    inner = _without_records(env.env)
    if place_of(type(env)) in {*HARMLESS, LIMIT}:
        return inner
    env.env = inner
    return env


def _plain(given: Any) -> Any:
    """Return numbers, and positions of any type as tuples, in Python's types."""
    if isinstance(given, np.generic | np.ndarray) and given.size <= 3:
        given = given.tolist()
    if isinstance(given, list | tuple) and len(given) <= 3:
        return tuple(each.item() if isinstance(each, np.generic) else each for each in given)
    return given


def _contents(env: Any) -> dict[tuple[int, str], Any]:
    """Return the attributes of an environment and its wrappers, by number of the layer and name."""
    return {
        (depth, name): _plain(each)
        for depth, layer in enumerate(layers_of(env))
        for name, each in vars(layer).items()
        if name not in ("env", "_np_random_seed") and not isinstance(each, APART)
    }


def _packed(contents: Any) -> bytes:
    """Return contents as bytes, which are the same for the same contents."""
    file = BytesIO()
    pickler = pickle.Pickler(file, pickle.HIGHEST_PROTOCOL)
    pickler.fast = True  # objects that are met twice are packed twice
    try:
        pickler.dump(contents)
    except Exception as error:  # of a cycle, or of an object that cannot be pickled
        raise InputError(
            "key must be given, as the content of the environment cannot be compared: "
            f"{type(error).__name__}: {error}"
        ) from None
    return file.getvalue()


def _drawn(env: Any) -> Any:
    """Return how far all generators are from which an environment may draw."""
    every = [each for layer in layers_of(env) for each in vars(layer).values()]
    own = pickle.dumps([each for each in every if isinstance(each, RANDOM)])
    return own, random.getstate(), np.random.get_state(legacy=False)["state"]["pos"]  # noqa: NPY002


def _asked(method: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Call a method of the environment; whatever its code raises becomes an ``InputError``."""
    try:
        return method(*args, **options)
    except Exception as error:
        raise InputError(
            f"env must answer {method.__name__}, and it raised {type(error).__name__}: {error}"
        ) from error


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

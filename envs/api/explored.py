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
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from io import BytesIO
from typing import Any, NamedTuple, TypeAlias

import gymnasium as gym
import numpy as np

from ...baselines import LawGame, Task
from ...baselines.law.explicit import View, same_again
from ...core import InputError
from ...core.checks import is_whole, require_count
from ...core.progress import tell
from ...core.sizes import check_memory
from .given import made, title_of

#: What a user says of a state.
Key: TypeAlias = Callable[[Any], Hashable]
#: Lists the outcomes of a move: the chance of each, and a function that prepares a copy for it.
Chance: TypeAlias = Callable[[Any, int], Iterable[tuple[float, Callable[[Any], Any]]]]
#: Generators, and objects that are no part of a state.
RANDOM = (np.random.Generator, np.random.RandomState, random.Random)
APART = (gym.Space, gym.envs.registration.EnvSpec)
#: Wrappers that only keep a record.
RECORDS = ("RecordEpisodeStatistics", "RecordVideo", "Monitor", "HumanRendering", "TimeLimit")
#: States after which a search ends in which hardly a state was met twice, and moves from the
#: beginning after which it does if there is no limit.
MANY, TWICE, DEEP = 5000, 0.01, 1000
#: Games, and moves of them, that are compared with the law in the end.
GAMES, MOVES = 20, 2000
#: Bytes of a copy that is no bytes, about.
COPY = 20_000
#: Largest limit of moves that is looked for, and how near rewards must be to a line.
LONGEST, CLOSE = 2**20, 1e-9


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
    search = _Search(env, key, chance, horizon)
    search.hidden = search.counters(given)
    try:
        return search.task(given)
    except _ConflictError as error:
        said = str(error)
    try:  # with counters as a part of states
        if search.hidden and search.key is None:
            return _Search(env, key, chance, horizon).task(given)
    except _ConflictError:
        pass
    raise InputError(said)


class _ConflictError(Exception):
    """Two answers of an environment do not follow from one state."""


class _Answer(NamedTuple):
    """The result of a move."""

    key: Hashable
    seen: Any
    reward: float
    over: bool
    moves: int  # made so far in the game, if the environment counts them
    env: Any  # after the move
    mask: Any  # of legal actions; None if all are


class _Way(NamedTuple):
    """An outcome of a move: its chance, what follows and what is paid."""

    chance: float
    after: Hashable  # None if the game is over
    reward: float
    each: float  # what is paid further for each move that is left


def _of_grid(env: Any) -> Hashable:
    """Return what makes a state of MiniGrid."""

    def told(thing: Any) -> Any:
        return thing and (*thing.encode(), told(getattr(thing, "contains", None)))

    place = (*map(int, env.agent_pos), int(env.agent_dir))
    return place, told(env.carrying), env.mission, tuple(map(told, env.grid.grid))


#: What makes a state in environments of a package, by its name.
KEYS: dict[str, Key] = {"minigrid": _of_grid}


@dataclass
class _Search:
    """The states that were found so far, by number, and the moves from them."""

    env: Any
    key: Key | None
    chance: Chance | None
    horizon: int | None
    hidden: list[tuple[int, str]] = field(default_factory=list)  # counters, by layer and name
    numbers: dict[Hashable, int] = field(default_factory=dict)
    seen: list[Any] = field(default_factory=list)
    masks: list[Any] = field(default_factory=list)
    copies: list[Any] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)  # fewest moves to each state
    ways: list[list[list[_Way]]] = field(default_factory=list)  # by state and action

    def __post_init__(self) -> None:
        bases = type(getattr(self.env, "unwrapped", self.env)).__mro__
        known = (KEYS.get(base.__module__.partition(".")[0]) for base in bases)
        self.key = self.key or next((key for key in known if key), None)
        space = getattr(self.env, "action_space", None)
        if not isinstance(self.env, gym.Env) or not isinstance(space, gym.spaces.Discrete):
            raise InputError(
                "env must be an environment of Gymnasium with a Discrete action space, got "
                f"{space or type(self.env).__name__}"
            )
        self.actions, self.least = int(space.n), int(space.start)
        limits = [each._max_episode_steps for each in _layers(self.env) if _is(each, "TimeLimit")]
        self.limit = min([*limits, *([self.horizon] if self.horizon else [])], default=None)
        self.pickles = False
        try:
            self.bare = _without_records(copy.deepcopy(self.env))
            with suppress(Exception):  # of a class without a module, which ``copy`` can copy
                pickle.loads(pickle.dumps(self.bare))  # noqa: S301  its own
                self.pickles = True
        except Exception as error:
            raise InputError(
                f"env must be one that can be copied, got {self.env}: {type(error).__name__}: "
                f"{error}"
            ) from None

    # ------------------------------------------------------------------ copies

    def _packed(self, env: Any) -> Any:
        """Keep an environment as it is: as bytes, which take less time and memory, or as a copy."""
        return pickle.dumps(env, pickle.HIGHEST_PROTOCOL) if self.pickles else copy.deepcopy(env)

    def _copied(self, kept: Any) -> Any:
        return pickle.loads(kept) if self.pickles else copy.deepcopy(kept)  # noqa: S301  its own

    def _key(self, env: Any) -> Hashable:
        """Return what makes a state."""
        if self.key is not None:
            found = self.key(env.unwrapped)
            try:
                hash(found)
            except TypeError:
                raise InputError(f"key must be hashable, such as a tuple, got {found!r}") from None
            return found
        layers = []
        for depth, layer in enumerate(_layers(env)):
            own = {
                name: each
                for name, each in vars(layer).items()
                if name not in ("env", "_np_random_seed") and (depth, name) not in self.hidden
            }
            # Generators that no attribute of a layer holds are a part of the state.
            layers.append(
                {n: _plain(each) for n, each in own.items() if not isinstance(each, RANDOM)}
            )
        return _content(layers)

    def counters(self, seeds: Sequence[int]) -> list[tuple[int, str]]:
        """Find the attributes that are 0 at the beginning and grow by 1 with every move."""
        rng, found = np.random.default_rng(0), None
        for seed in seeds[:3]:
            env = copy.deepcopy(self.bare)
            _asked(env.reset, seed=seed)
            before = _whole_numbers(env)
            begun = {name for name, value in before.items() if value == 0}
            found = begun if found is None else found & begun
            for _ in range(MOVES // 100):
                action = int(rng.integers(self.actions)) + self.least
                _, _, ended, cut, _ = _asked(env.step, action)
                after = _whole_numbers(env)
                grown = {name for name in after if after[name] == before.get(name, after[name]) + 1}
                found &= grown
                before = after
                if ended or cut:
                    break
        return sorted(found or ())

    def _count(self, env: Any) -> int:
        """Return the number of moves that a game has had, by its counters."""
        for depth, name in self.hidden[:1]:
            return int(vars(_layers(env)[depth])[name])
        return 0

    def _set(self, env: Any, moves: int) -> None:
        for depth, name in self.hidden:
            setattr(_layers(env)[depth], name, moves)

    def _answer(
        self,
        kept: Any,
        action: int,
        prepare: Any = None,  # for an outcome of chance
        moves: int | None = None,  # that counters show; by default their own number
        seed: int | None = None,  # of other random numbers
    ) -> _Answer:
        """Make a move in a copy."""
        env = self._copied(kept)
        generator = getattr(env.unwrapped, "_np_random", None)
        if moves is not None:
            self._set(env, moves)
        if seed is not None and generator is not None:
            env.unwrapped._np_random = np.random.default_rng(seed)
        if prepare is not None:
            prepare(env.unwrapped)
        before = _drawn(env)
        seen, reward, ended, cut, info = _asked(env.step, action + self.least)
        if _drawn(env) != before:
            raise InputError(
                f"env must not draw random numbers in a move, and it does for action {action} in "
                f"state {len(self.ways)}: give chance, which lists the outcomes"
            )
        env.unwrapped._np_random = generator
        if not np.isfinite(reward):
            raise InputError(
                f"env must pay finite numbers, got {reward} for action {action} in state "
                f"{len(self.ways)}"
            )
        made = self._count(env)
        if cut and not ended and self.hidden and not (self.limit and made >= self.limit):
            raise _ConflictError(
                f"env must end games by its state, and cuts one after {made} moves for action "
                f"{action} in state {len(self.ways)}"
            )
        over = bool(ended) or (bool(cut) and not self.hidden)
        return _Answer(self._key(env), seen, float(reward), over, made, env, _mask(info))

    # ------------------------------------------------------------------ search

    def task(self, seeds: Sequence[int]) -> Task:
        """Find all states, and check them."""
        begun = []
        for seed in seeds:
            env = copy.deepcopy(self.bare)
            seen, info = _asked(env.reset, seed=seed)
            begun.append(_Answer(self._key(env), seen, 0.0, False, 0, env, _mask(info)))
        if self.hidden and (most := self._own_limit(self._packed(begun[0].env))):
            self.limit = min(self.limit or most, most)
        for each in begun:
            self._meet(each, 0)
        rng, met = np.random.default_rng(0), 0
        for number, kept in enumerate(self.copies):  # which grow as the search goes on
            if number % 64 == 0:
                check_memory("states", len(self.copies), len(kept) if self.pickles else COPY)
                tell(number, len(self.copies), "states")
            rows = self._moves(kept)
            answers = [each for ways in rows for way, each in ways if way.after is not None]
            for answer in answers:
                self._meet(answer, self.depths[number] + 1)
            own = [[way for way, _ in ways] for ways in rows]
            # The last number of moves, or any other, and other random numbers change nothing.
            late = (self.limit or MOVES) - 1
            moves = late if number % 2 else int(rng.integers(late + 1))
            self._compare(own, self._moves(kept, moves, number))
            self.ways.append(own)
            self.copies[number] = None
            met += len(answers)
            self._require_end(met)
        self._replay(seeds)
        return self._listed([self.numbers[each.key] for each in begun])

    def _require_end(self, met: int) -> None:
        """Refuse an environment whose states seem to have no end."""
        count, depth = len(self.copies), self.depths[-1]
        new = count > MANY and met - count < TWICE * met
        if new or (self.limit is None and depth > DEEP):
            raise _ConflictError(
                f"env must have states that are met again, and {count:,} different ones were found "
                f"without an end, up to {depth:,} moves from the beginning: its states may be "
                "continuous, key must leave something out, or horizon must be given"
            )

    def _meet(self, answer: _Answer, depth: int) -> None:
        """Number a state that is new; compare one that is not."""
        number = self.numbers.setdefault(answer.key, len(self.copies))
        if number == len(self.copies):
            self.copies.append(self._packed(answer.env))
            self.depths.append(depth)
            self.seen.append(answer.seen)
            self.masks.append(answer.mask)
        elif not _same(self.seen[number], answer.seen):
            raise _ConflictError(
                f"env must show what follows from its state, and state {number} shows "
                f"{answer.seen} and {self.seen[number]}"
            )
        elif not _same(self.masks[number], answer.mask):
            raise _ConflictError(
                f"env must allow what follows from its state, and state {number} has the masks "
                f"{answer.mask} and {self.masks[number]}"
            )

    def _compare(self, own: list[list[_Way]], rows: list[list[tuple[_Way, _Answer]]]) -> None:
        for action, (first, second) in enumerate(zip(own, rows, strict=True)):
            again = [way for way, _ in second]
            if first != again:
                paid = [[way.reward for way in ways] for ways in (first, again)]
                raise _ConflictError(
                    f"env must answer by its state, and action {action} in state {len(self.ways)} "
                    f"leads to different states, or pays {paid[0]} and {paid[1]}"
                )

    def _moves(
        self, kept: Any, moves: int | None = None, seed: int | None = None
    ) -> list[list[tuple[_Way, _Answer]]]:
        """Make every move from a state, the next one of ``ways`` (see ``_answer``)."""
        rows, mask = [], self.masks[len(self.ways)]
        for action in range(self.actions):
            ways = []
            for chance, prepare in self._outcomes(kept, action, mask):
                answer = self._answer(kept, action, prepare, moves, seed)
                reward, each = answer.reward, 0.0
                if answer.over and reward and self.hidden:
                    reward, each = self._line(kept, action, prepare, answer)
                late = self.limit is not None and self.depths[len(self.ways)] + 1 >= self.limit
                done = answer.over or (late and answer.key not in self.numbers)
                ways.append((_Way(chance, None if done else answer.key, reward, each), answer))
            rows.append(ways)
        return rows

    def _outcomes(self, kept: Any, action: int, mask: Any) -> Iterable[tuple[float, Any]]:
        if mask is not None and not mask[action]:
            return []
        if self.chance is None:
            return [(1.0, None)]
        return self.chance(self._copied(kept).unwrapped, action + self.least)

    def _line(self, kept: Any, action: int, prepare: Any, answer: _Answer) -> tuple[float, float]:
        """Return what an end pays after the last move of the limit, and for each move left."""
        last = (self.limit or 3) - 1
        places = (0, last // 2, last)
        paid = [self._answer(kept, action, prepare, moves).reward for moves in places]
        each = (paid[0] - paid[2]) / last if last else 0.0
        line = [paid[2] + (last - moves) * each for moves in places]
        if not np.allclose(line, paid, rtol=0, atol=CLOSE):
            raise _ConflictError(
                f"env must pay by its state, and action {action} in state {len(self.ways)} pays "
                f"{paid} after {places} moves"
            )
        if abs(each) < CLOSE:
            return answer.reward, 0.0
        if self.limit is None:
            raise InputError(
                "horizon must be given, as the reward of an end depends on the number of moves "
                f"before it: {paid} after {places} moves"
            )
        return paid[2], each

    def _own_limit(self, kept: Any) -> int:
        """Find the number of moves after which the environment cuts a game; 0 if there is none."""

        def cuts(moves: int) -> bool:
            env = self._copied(kept)
            self._set(env, moves)
            return bool(_asked(env.step, self.least)[3])

        low, high = -1, 1
        while high < LONGEST and not cuts(high):
            low, high = high, 2 * high
        if high >= LONGEST:
            return 0
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if cuts(middle) else (middle, high)
        return high + 1

    # ------------------------------------------------------------------- law

    def _replay(self, seeds: Sequence[int]) -> None:
        """Compare some games of the environment itself with the law."""
        rng = np.random.default_rng(0)
        if self.chance is not None:
            return
        for game in range(GAMES):
            env = copy.deepcopy(self.bare)
            _asked(env.reset, seed=seeds[game % len(seeds)])
            state = self.numbers.get(self._key(env), -1)
            if state < 0:
                raise _ConflictError(
                    "env must begin by its seed, and begins elsewhere with the same one"
                )
            for moves in range(min(self.limit or MOVES, MOVES // GAMES)):
                legal = [action for action, ways in enumerate(self.ways[state]) if ways]
                action = int(rng.choice(legal))
                seen, reward, ended, cut, _ = _asked(env.step, action + self.least)
                (way,) = self.ways[state][action]
                left = 0 if self.limit is None else self.limit - 1 - moves
                right = abs(way.reward + way.each * left - float(reward)) <= CLOSE
                over = ended or (cut and not self.hidden)
                right &= ended or not (cut and self.hidden) or left == 0
                after = None if way.after is None else self.numbers[way.after]
                if over or after is None:
                    right &= over == (after is None) or (cut and after is None)
                else:
                    right &= self.numbers.get(self._key(env)) == after
                    right &= _same(self.seen[after], seen)
                if not right:
                    raise _ConflictError(
                        f"env must play by the law that was found, and action {action} in state "
                        f"{state} has paid {reward} after {moves} moves"
                    )
                if ended or cut or after is None:
                    break
                state = after

    def _listed(self, first: list[int]) -> Task:
        """Return the task of the law."""
        count = len(self.numbers)
        lines = sorted({way.each for way in self._every() if way.each})
        over = {each: count + number for number, each in enumerate(lines)}

        def after(way: _Way) -> int:
            if way.each:
                return over[way.each]
            return -1 if way.after is None else self.numbers[way.after]

        counts = np.array([[len(ways) for ways in rows] for rows in self.ways])
        ways = list(self._every())
        successors = np.array([after(way) for way in ways])
        chances = np.array([way.chance for way in ways])
        rewards = np.array([way.reward for way in ways])
        # A game that has ended with a reward for each move that is left goes on in a state of its
        # own, in which all actions are one.
        for each in lines:
            counts = np.append(counts, np.ones((1, self.actions), dtype=int), axis=0)
            successors = np.append(successors, np.full(self.actions, over[each]))
            chances = np.append(chances, np.ones(self.actions))
            rewards = np.append(rewards, np.full(self.actions, each))
        initial = np.bincount(first, minlength=len(counts)) / len(first)
        shown = None
        if isinstance(self.env.observation_space, gym.spaces.Box | gym.spaces.Discrete):
            shown = np.stack(
                [np.asarray(each) for each in [*self.seen, *self.seen[:1] * len(lines)]]
            )
        names = getattr(self.env.unwrapped, "actions", ())
        names = tuple(each.name for each in names) if hasattr(names, "__members__") else ()
        law = counts, successors, chances, rewards, initial
        title = title_of(self.env.unwrapped)
        view = View(self.env.observation_space, shown, names)
        return Task(LawGame(*law, 1.0, self.limit, title, view))

    def _every(self) -> Iterator[_Way]:
        return (way for rows in self.ways for ways in rows for way in ways)


def _layers(env: Any) -> list[Any]:
    """Return an environment and its wrappers, outermost first."""
    found = [env]
    while isinstance(found[-1], gym.Wrapper):
        found.append(found[-1].env)
    return found


def _is(layer: Any, *names: str) -> bool:
    return isinstance(layer, gym.Wrapper) and type(layer).__name__ in names


def _without_records(env: Any) -> Any:
    """Take away the wrappers that keep a record, or a limit, which the search follows itself."""
    while _is(env, *RECORDS):
        env = env.env
    for layer in _layers(env)[:-1]:
        while _is(layer.env, *RECORDS):
            layer.env = layer.env.env
    return env


def _plain(given: Any) -> Any:
    """Return positions of any type as tuples of numbers."""
    if isinstance(given, np.generic | np.ndarray) and given.size <= 3:
        given = given.tolist()
    if isinstance(given, list | tuple) and len(given) <= 3:
        return tuple(each.item() if isinstance(each, np.generic) else each for each in given)
    return given


def _whole_numbers(env: Any) -> dict[tuple[int, str], int]:
    return {
        (depth, name): int(value)
        for depth, layer in enumerate(_layers(env))
        for name, value in vars(layer).items()
        if is_whole(value) and not isinstance(value, bool)
    }


class _Content(pickle.Pickler):
    """Packs content, without what is no part of a state; the same content gives the same bytes."""

    def __init__(self, file: BytesIO) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self.fast = True  # objects that are met twice are packed twice

    def reducer_override(self, given: Any) -> Any:
        """Leave spaces out, which have generators."""
        return (tuple, ()) if isinstance(given, APART) else NotImplemented


def _content(given: Any) -> bytes:
    file = BytesIO()
    try:
        _Content(file).dump(given)
    except (RecursionError, ValueError):
        raise InputError(
            "key must be given: the content of the environment refers to itself"
        ) from None
    return file.getvalue()


def _drawn(env: Any) -> Any:
    """Return how far all generators are from which an environment may draw."""
    own = [each for layer in _layers(env) for each in vars(layer).values()]
    states = [each.bit_generator.state for each in own if isinstance(each, np.random.Generator)]
    others = [
        each.get_state(legacy=False) for each in own if isinstance(each, np.random.RandomState)
    ]
    python = [each.getstate() for each in own if isinstance(each, random.Random)]
    places = [each["state"]["pos"] for each in [*others, np.random.get_state(legacy=False)]]  # noqa: NPY002  others draw there
    return states, places, [*python, random.getstate()]


def _asked(method: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Call a method of the environment; whatever its code raises becomes an ``InputError``."""
    try:
        return method(*args, **options)
    except Exception as error:
        raise InputError(
            f"env must answer {method.__name__}, and it raised {type(error).__name__}: {error}"
        ) from error


def _mask(info: Any) -> Any:
    """Return the legal actions after a move, if the environment tells them."""
    return info.get("action_mask") if isinstance(info, dict) else None


def _same(one: Any, other: Any) -> bool:
    """Say whether two observations are the same."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(np.array_equal(one, other))


@cache
def explored_law(env_id: str) -> type[LawGame]:
    """Make a class of games of an environment that is explored, for the command line.

    Its arguments are ``seeds``, the number of levels, and ``horizon``, 0 for the environment's own
    limit.
    """

    class Explored(LawGame):
        name = re.sub(r"\W", "_", f"explored {env_id}")

        def __init__(self, seeds: int = 1, horizon: int = 0) -> None:
            found = explore(made(env_id), range(seeds), horizon=horizon or None).game
            assert isinstance(found, LawGame)
            law = found.counts, found.successors, found.chances, found.rewards, found.initial
            super().__init__(*law, 1.0, found.horizon, found.title, found.view)
            self.seeds, self.horizon = seeds, found.horizon or 0

        def __reduce__(self) -> tuple[Any, ...]:
            return same_again, ((_explored_again, (env_id, self.keywords)), self._digest)

    Explored.__qualname__ = f"explore:{env_id}"
    return Explored


def _explored_again(env_id: str, keywords: dict[str, Any]) -> LawGame:
    return explored_law(env_id)(**keywords)

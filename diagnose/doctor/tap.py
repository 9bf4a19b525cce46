"""What environments answer to a running program, seen without a change of the program.

The classes of Gymnasium and stable-baselines3 get other ``reset`` and ``step`` methods, which call
the original ones. Of calls within calls, as wrappers and vectors make them, the outermost one is
what the program sees. In place of the innermost environment a probe may answer (see ``probes``),
so that all wrappers of the program stay as they are.
"""

import functools
import inspect
import os
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any, NamedTuple, TypeAlias

import gymnasium as gym
import numpy as np
import numpy.typing as npt

from ...core import BoolArray, FloatArray

#: Any array of numbers.
Numbers: TypeAlias = npt.NDArray[Any]
#: Most rows that are kept of one environment or vector.
ROWS = 100_000
#: The methods by which programs ask environments: the word of ``Tap.call`` for each.
METHODS = {"reset": "reset", "step": "step", "step_async": "asked", "step_wait": "step"}
METHODS |= {"action_masks": "masks"}
#: Words of calls that are no part of a trace.
APART = ("made", "masks")
#: Vectors of other packages, by module.
VECTORS = {
    "stable_baselines3.common.vec_env.base_vec_env": "VecEnv",
    "tianshou.env.venvs": "BaseVectorEnv",
}


#: No argument.
NONE: Any = object()


class Enough(BaseException):
    """The program has made as many moves as a probe needs."""


class Depth(threading.local):
    """The number of calls of environments within one another, of each thread its own."""

    now = 0


class Row(NamedTuple):
    """One move in each lane, arrays of shape (lane, ...)."""

    seen: Numbers  # the observation before the move
    actions: Numbers
    rewards: FloatArray
    terminated: BoolArray
    truncated: BoolArray
    after: Numbers  # the observation after the move, of the same game
    shown: Numbers  # the observation that the program was given next
    used: BoolArray  # False where the environment was reset in place of a move
    masks: BoolArray | None  # of legal actions after the move, (lane, action); None if unknown


@dataclass
class Trace:
    """The moves of one environment, of one lane, or of a vector, in the order of time."""

    env: Any
    rows: list[Row] = field(default_factory=list)
    moves: int = 0  # of all lanes, those that are not kept included
    late: bool = False  # whether moves were made that are not among the rows
    apart: bool = False  # whether some lanes were stepped without the others
    seeded: tuple[int | None, int] = None, 0  # the last seed, and number of games in a row with it
    _seen: Numbers | None = None
    _over: BoolArray | None = None  # whether the game of a lane has ended with the last row
    _actions: Any = None

    def __post_init__(self) -> None:
        self._single = isinstance(self.env, gym.Env)
        # A vector may reset an ended game in the next step, which ignores the action.
        mode = getattr(self.env, "metadata", {}).get("autoreset_mode")
        next_step = mode == gym.vector.AutoresetMode.NEXT_STEP
        self._resets_next = isinstance(self.env, gym.vector.VectorEnv) and next_step

    @property
    def full(self) -> bool:
        """Whether no more rows are kept."""
        return bool(self.rows) and len(self.rows) * len(self.rows[0].used) >= ROWS

    def reset(self, result: Any, lanes: Any = None) -> None:
        """Note the beginning of games, of some lanes or of all."""
        shown = _array(result[0] if isinstance(result, tuple) else result)
        if lanes is not None and self._seen is not None and shown is not None:
            if not self.apart:
                self._seen = self._seen.copy()
                self._seen[np.atleast_1d(lanes)] = shown
            return
        self._seen, self._over = None, None
        if shown is not None:
            self._seen = shown[None] if self._single else shown

    def asked(self, actions: Any) -> None:
        """Note the actions of a vector of stable-baselines3, which answers in a second call."""
        self._actions = actions

    def step(self, actions: Any, result: Any) -> bool:
        """Note a move; return whether a row was added."""
        row = self._row(self._actions if actions is None else actions, result)
        if row is None:
            self.moves += np.size(result[1]) * self.apart
            return False
        self.moves += int(np.count_nonzero(row.used))
        self._seen, self._over = row.shown, row.terminated | row.truncated
        if self.full:
            self.late = True
            return False
        self.rows.append(row)
        return True

    def _row(self, actions: Any, result: Any) -> Row | None:
        shown, seen = _array(result[0]), self._seen
        if shown is None:
            return None
        if self._single:
            shown = shown[None]
        lanes, infos = len(shown), result[-1]
        ended = _copy(result[2]).astype(bool).reshape(-1)
        if len(result) == 5:
            cut = _copy(result[3]).astype(bool).reshape(-1)
            after = _final(shown, infos) if isinstance(infos, dict) else shown
        else:  # of stable-baselines3, or of an environment as Gym had them
            of_lanes = [infos] if isinstance(infos, dict) else infos
            cut = np.array([bool(each.get("TimeLimit.truncated")) for each in of_lanes])
            after = shown.copy()
            for lane, each in enumerate(of_lanes):
                if "terminal_observation" in each:
                    after[lane] = _array(each["terminal_observation"])
        ended &= ~cut
        rewards = _copy(result[1]).astype(np.float64).reshape(-1)
        self._seen = shown
        self.late |= seen is None
        self.apart |= seen is not None and seen.shape != shown.shape
        if seen is None or self.apart or len(rewards) != lanes:
            return None
        resets = self._over is not None and self._resets_next
        used = ~self._over if resets else np.ones(lanes, dtype=bool)  # type: ignore[operator]
        taken = _copy(actions).reshape(lanes, -1)
        masks = infos.get("action_mask") if isinstance(infos, dict) else None
        masks = _array(result[0], masks=True) if masks is None else masks
        masks = None if masks is None else np.array(masks, dtype=bool).reshape(lanes, -1)
        return Row(seen, taken, rewards, ended, cut, after, shown, used, masks)


def _copy(given: Any) -> Numbers:
    """Return a copy of numbers, which may be a tensor."""
    return np.array(np.asarray(given))


def _array(given: Any, *, masks: bool = False) -> Numbers | None:
    """Return a copy of observations; of a dictionary, of its largest entry that is no mask, or is.

    MiniGrid's have a direction and a text beside the image. The vectors of Tianshou give an array
    of dictionaries.
    """
    if isinstance(given, np.ndarray) and given.dtype == object and isinstance(given[0], dict):
        given = {key: np.stack([each[key] for each in given]) for key in given[0]}
    if isinstance(given, dict):
        entries = [entry for key, entry in given.items() if ("mask" in key) == masks]
        given = max(entries, key=np.size, default=None)
    elif masks:
        given = None
    if given is None or isinstance(given, tuple | list):
        return None
    return _copy(given)


def _final(shown: Numbers, infos: dict[str, Any]) -> Numbers:
    """Return the observations after moves, from ``infos`` where games have ended."""
    final = infos.get("final_obs")
    if final is None:
        return shown
    after = shown.copy()
    for lane, each in enumerate(final):
        if each is not None and infos["_final_obs"][lane]:
            after[lane] = _array(each)
    return after


class Imports(MetaPathFinder):
    """Sees the classes of ``VECTORS`` as soon as their modules are imported.

    Args:
        found: called with each class.
    """

    def __init__(self, found: Callable[[Any], None]) -> None:
        self._found = found

    def begin(self) -> None:
        """Find the modules that are there, and wait for the others."""
        for module in VECTORS.keys() & sys.modules.keys():
            self._found(getattr(sys.modules[module], VECTORS[module]))
        sys.meta_path.insert(0, self)

    def end(self) -> None:
        """Wait no longer."""
        sys.meta_path.remove(self)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return the specification of a module of ``VECTORS`` that shows its class when it runs."""
        if name not in VECTORS:
            return None
        spec = PathFinder.find_spec(name, path, target)
        loader: Any = spec and spec.loader
        if loader:
            run = loader.exec_module

            def exec_module(module: Any) -> None:
                run(module)
                self._found(getattr(module, VECTORS[name]))

            loader.exec_module = exec_module
        return spec


class Tap:
    """Sees every reset and step from ``begin`` to ``end``.

    Args:
        noted: called with a trace when a row was added to it.
        stop: number of moves after which ``Enough`` is raised; None never raises it.
        world: answers ``reset`` and ``step`` in place of innermost environments.
    """

    def __init__(
        self, noted: Callable[[Trace], None], stop: int | None = None, world: Any = None
    ) -> None:
        self.traces: dict[int, Trace] = {}
        self.spent = 0.0  # seconds
        self.failed: list[str] = []  # errors of this package, which the program must not see
        self._noted, self._stop, self._world = noted, stop, world
        self._imports = Imports(self._take)
        self._depth = Depth()
        self._process = os.getpid()  # that of the program, not of its workers
        self._kept: list[tuple[Any, str, Any]] = []

    def begin(self) -> None:
        """Replace the methods of all environments, and of those that will be defined."""
        for base in (gym.Env, gym.vector.VectorEnv):
            self._take(base)
        self._imports.begin()
        self._kept.append((gym.Wrapper, "__init__", gym.Wrapper.__init__))
        gym.Wrapper.__init__ = self._method(gym.Wrapper.__init__, "made")  # type: ignore[method-assign]

    def end(self) -> None:
        """Put the methods back."""
        self._imports.end()
        for owner, name, original in reversed(self._kept):
            if original is None:
                delattr(owner, name)
            else:
                setattr(owner, name, original)
        self._kept.clear()

    @property
    def trace(self) -> Trace | None:
        """The trace with most moves: that of the training environment."""
        return max(self.traces.values(), key=lambda trace: trace.moves, default=None)

    def _take(self, base: Any) -> None:
        """See a class, those below it, and those that are defined below it later."""
        self._replace_all(base)

        def defined(cls: Any, **options: Any) -> None:
            super(base, cls).__init_subclass__(**options)
            self._replace(cls)

        self._kept.append((base, "__init_subclass__", base.__dict__.get("__init_subclass__")))
        base.__init_subclass__ = classmethod(defined)  # type: ignore[arg-type]

    def _replace_all(self, base: Any) -> None:
        self._replace(base)
        for cls in base.__subclasses__():
            self._replace_all(cls)

    def _replace(self, cls: Any) -> None:
        for name, word in METHODS.items():
            original = cls.__dict__.get(name)
            if original is None or hasattr(original, "_of_doctor"):
                continue
            self._kept.append((cls, name, original))
            setattr(cls, name, self._method(original, word))

    def _method(self, original: Any, word: str) -> Any:
        depth, world = self._depth, self._world

        def method(env: Any, /, *args: Any, **options: Any) -> Any:
            if world is None and depth.now:  # within another call
                return original(env, *args, **options)
            return self._call(word, original, env, args, options)

        def step(env: Any, action: Any = NONE, /, **options: Any) -> Any:
            if depth.now and not options and action is not NONE:  # as each wrapper calls the next
                return original(env, action)
            return method(env, *(() if action is NONE else (action,)), **options)

        # A call that unpacks no arguments takes a fifth of the time.
        code = getattr(original, "__code__", None)
        one = code and code.co_argcount == 2 and not code.co_flags & inspect.CO_VARARGS
        found: Any = functools.wraps(original)(step if one and world is None else method)
        found._of_doctor = True
        return found

    def _call(self, word: str, original: Any, env: Any, args: Any, options: Any) -> Any:
        local, depth = self._depth, self._depth.now
        local.now = depth + 1
        try:
            if self._world is not None and word != "made" and _is_innermost(env):
                result = self._world.answer(env, word, *args, **options)
            else:
                result = original(env, *args, **options)
        finally:
            local.now = depth
        if depth == 0 and word not in APART and os.getpid() == self._process:
            began = time.perf_counter()
            try:
                self._note(word, env, args, options, result)
            except Exception as error:  # the program goes on
                self.failed.append(f"{type(error).__name__}: {error}")
            self.spent += time.perf_counter() - began
            if self._stop is not None and sum(t.moves for t in self.traces.values()) >= self._stop:
                raise Enough
        return result

    def _note(self, word: str, env: Any, given: Any, options: Any, result: Any) -> None:
        if id(env) not in self.traces:
            self.traces[id(env)] = Trace(env)  # which keeps the environment alive
        trace, args = self.traces[id(env)], given or tuple(options.values())
        if word == "reset":
            if isinstance(seed := options.get("seed"), int):
                before, games = trace.seeded
                trace.seeded = seed, games * (seed == before) + 1
            whole = isinstance(env, gym.Env | gym.vector.VectorEnv) or hasattr(env, "step_wait")
            trace.reset(result, None if whole or not args else args[0])  # of Tianshou's
        elif word == "asked":
            trace.asked(args[0])
        elif isinstance(result, tuple | list) and trace.step(args[0] if args else None, result):
            self._noted(trace)


def _is_innermost(env: Any) -> bool:
    return isinstance(env, gym.Env) and not isinstance(env, gym.Wrapper)

"""The rows of a trace: what the program's networks said of them, and where a batch has them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
import torch as th

from ...core import BoolArray, FloatArray, IntArray
from .calls import Calls, Numbers, numbers_of
from .program import frames
from .tap import Trace


def keys_of(rows: Numbers) -> list[bytes]:
    """Return a key for each row, by which equal rows are found."""
    flat = np.asarray(rows, dtype=np.float32).reshape(len(rows), -1)
    return [row.tobytes() for row in flat + 0.0]  # without negative zeros


@dataclass
class Said:
    """What networks have said before a row, arrays of shape (lane, ...)."""

    keys: list[bytes]  # of the observations
    outputs: dict[int, Numbers]  # by the number of a module, of one number or one an action
    logits: Numbers | None = None  # of the law from which actions were drawn, (lane, action)
    entered: list[bytes] = field(default_factory=list)  # keys of what networks were given
    after: list[bytes] = field(default_factory=list)  # keys of the observations after the moves


class Move(NamedTuple):
    """What came of a move."""

    after: bytes  # key of the observation after the move
    reward: float
    terminated: bool
    truncated: bool
    used: bool  # False if the environment was reset in place of the move


@dataclass
class Story:
    """What networks have said of the rows of a trace, and all different moves in it.

    Observations have the key of what the program is shown; networks may be given others, such as
    rows of zeros and a one for numbers of states.
    """

    trace: Trace
    said: list[Said] = field(default_factory=list)
    #: The different moves, by key of the observation and action.
    moves: dict[bytes, dict[int, dict[Move, None]]] = field(default_factory=dict)
    masks: dict[bytes, BoolArray] = field(default_factory=dict)  # of legal actions, (action,)
    illegal: bool = False  # whether the program has taken an illegal action
    changed: bool = False  # whether networks are given other numbers than the program is shown
    unasked: bool = False  # whether a move was made without a call of a network
    several: bool = False  # whether later observations of a batch are those of several moves
    _last: tuple[Numbers | None, list[bytes]] = (None, [])  # observations shown last, and keys
    _known: set[bytes] = field(default_factory=set)  # keys of observations
    _shown: dict[bytes, bytes] = field(default_factory=dict)  # by the key of what was entered

    def __post_init__(self) -> None:
        def space(name: str) -> Any:
            env = self.trace.env
            found = getattr(env, f"single_{name}", None) or getattr(env, name, None)
            return found[0] if isinstance(found, list) else found  # of each lane of Tianshou's

        seen, self.counts = space("observation_space"), tuple[int, ...]()
        self.actions = int(getattr(space("action_space"), "n", 0))
        if isinstance(seen, gym.spaces.Discrete | gym.spaces.MultiDiscrete):
            self.counts = tuple(np.ravel(getattr(seen, "nvec", getattr(seen, "n", ()))).tolist())

    def made(self, key: bytes, action: int) -> Iterable[Move]:
        """Return the different moves that were made by an action at an observation."""
        return self.moves.get(key, {}).get(action, ())

    def hear(self, calls: Calls | None) -> None:
        """Note what was said before the newest row; None if it was not listened to."""
        row = self.trace.rows[-1]
        keys = self._last[1] if row.seen is self._last[0] else self.raw(row.seen)
        shown = self.raw(row.shown)
        after = shown if row.after is row.shown else self.raw(row.after)
        self._last = row.shown, shown
        for each, own in ((row.seen, keys), (row.after, after), (row.shown, shown)):
            self._known.update(own)
            if self.counts:  # a program may enter the numbers, in place of rows of zeros and ones
                self._shown.update(zip(keys_of(each), own, strict=True))
        said = Said(keys, {}, after=after)
        self.said.append(said)
        if calls is None:
            self.unasked = True
        else:
            self._listen(calls, said)
        masks = () if row.masks is None else row.masks
        for key, mask in zip(shown[: len(masks)], masks, strict=True):
            self.masks[key] = mask
        answers = row.rewards, row.terminated, row.truncated, row.used
        columns = (each.tolist() for each in answers)
        for key, action, *answer in zip(
            keys, row.actions[:, 0].astype(int).tolist(), after, *columns, strict=True
        ):
            self.illegal |= key in self.masks and not self.masks[key][action]
            self.moves.setdefault(key, {}).setdefault(action, {})[Move(*answer)] = None

    def _listen(self, calls: Calls, said: Said) -> None:
        """Note what networks were given and what they have said."""
        keys, lanes = said.keys, len(said.keys)
        entered = calls.entered(lanes)
        self.unasked |= entered is None
        said.entered = keys if entered is None else keys_of(numbers_of(entered))
        for key, own in zip(said.entered, keys, strict=False):
            if key not in self._known and key not in self._shown:  # nor of another row, asked since
                self._shown[key], self.changed = own, True
        for module, output, *_ in calls.seen:
            if output.numel() in (lanes, lanes * self.actions):
                said.outputs[id(module)] = numbers_of(output).reshape(lanes, -1)
        drawn = [draw for draw in calls.draws if draw.logits.numel() == lanes * self.actions]
        if drawn:
            said.logits = numbers_of(drawn[-1].logits).reshape(lanes, self.actions)

    def raw(self, seen: Numbers) -> list[bytes]:
        """Return the keys of observations as the program sees them."""
        if not self.counts:
            return keys_of(seen)
        numbers = seen.reshape(len(seen), -1).astype(int)
        ones = [np.eye(n, dtype=np.float32)[numbers[:, at]] for at, n in enumerate(self.counts)]
        return keys_of(np.concatenate(ones, axis=1))

    def keys(self, entered: th.Tensor) -> list[bytes]:
        """Return the keys of the observations that were entered into a network."""
        return [self._shown.get(key, key) for key in keys_of(numbers_of(entered))]


@dataclass(frozen=True)
class Section:
    """Consecutive rows of a trace: those of one rollout, or all so far."""

    story: Story
    begin: int
    end: int

    @cached_property
    def keys(self) -> list[bytes]:
        """Keys of the observations, time by time, lane by lane."""
        return [key for said in self.story.said[self.begin : self.end] for key in said.keys]

    @cached_property
    def places(self) -> dict[bytes, list[int]]:
        """Numbers of the rows that have a key."""
        found: dict[bytes, list[int]] = {}
        for place, key in enumerate(self.keys):
            found.setdefault(key, []).append(place)
        return found

    @property
    def lanes(self) -> int:
        """Number of lanes."""
        return len(self.story.trace.rows[self.begin].used)

    @property
    def after(self) -> list[bytes]:
        """Keys of the observations that the program was shown after the last row."""
        return self.story.raw(self.story.trace.rows[self.end - 1].shown)

    def stacked(self, name: str) -> Numbers:
        """Return a field of the rows, (time, lane, ...)."""
        rows = self.story.trace.rows[self.begin : self.end]
        return np.stack([getattr(row, name) for row in rows])

    def outputs(self, module: int) -> FloatArray | None:
        """Return what a module has said of each row, (time, lane); None if it was not asked."""
        said = [each.outputs.get(module) for each in self.story.said[self.begin : self.end]]
        if any(each is None or each.shape[1] != 1 for each in said):
            return None
        return np.stack([each[:, 0] for each in said if each is not None]).astype(np.float64)

    @cached_property
    def logits(self) -> FloatArray | None:
        """The laws from which actions were drawn, (time, lane, action), as logarithms."""
        said = [each.logits for each in self.story.said[self.begin : self.end]]
        if any(each is None for each in said):
            return None
        return np.stack([each for each in said if each is not None]).astype(np.float64)

    def first(self, keys: list[bytes]) -> IntArray:
        """Return the number of a row with each key, -1 if there is none."""
        return np.array([self.places.get(key, (-1,))[0] for key in keys])

    def asked(self, entered: th.Tensor) -> IntArray:
        """Return the number of a row before which networks were given each row, -1 of none.

        Where they were given others, it is that of a row with the observation: a program may change
        its observations in another way from one row to the next.
        """
        given = [key for said in self.story.said[self.begin : self.end] for key in said.entered]
        first = dict(zip(reversed(given), reversed(range(len(given))), strict=True))
        found = np.array([first.get(key, -1) for key in keys_of(numbers_of(entered))])
        return np.where(found < 0, self.first(self.story.keys(entered)), found)

    def find(self, keys: list[bytes]) -> IntArray:
        """Return the number of the row of each key: -1 of none, -2 if several rows have it."""
        own = [self.places.get(key, ()) for key in keys]
        return np.array([-1 if not at else at[0] if len(at) == 1 else -2 for at in own])

    def place(self, keys: list[bytes]) -> IntArray:
        """Return the number of the row of each row of a batch, as ``find``.

        Where several rows have a key, an order of rows that the program has among its variables
        decides, if most rows of the batch agree with it.
        """
        found, count = self.find(keys), len(keys)
        if (found != -2).all():
            return found
        for order in self._orders(count):
            agree = np.array([self.keys[at] == key for at, key in zip(order, keys, strict=True)])
            if agree.mean() > 0.9:
                return np.where(agree, order, found)
        return found

    def _orders(self, count: int) -> Iterator[IntArray]:
        whole = len(self.keys)
        by_lane = np.arange(whole).reshape(-1, self.lanes).T.ravel()
        own = [np.arange(whole)] if count == whole else []
        for frame in frames():
            for given in tuple(frame.f_locals.values()):
                if isinstance(given, th.Tensor | np.ndarray) and given.shape == (count,):
                    array = np.asarray(
                        given.detach().cpu() if isinstance(given, th.Tensor) else given
                    )
                    if array.dtype.kind in "iu" and array.min() >= 0 and array.max() < whole:
                        own.append(array.astype(np.int64))
        for order in own:
            yield order
            yield by_lane[order]

"""The rows of a trace: what the program's networks said of them, and where a batch has them."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from math import exp, lgamma
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
import torch as th

from ...core import BoolArray, FloatArray, IntArray
from .calls import Call, Calls, Draw, Fed, numbers_of
from .program import frames
from .tap import Numbers, Trace

#: Rows that are read together, and the largest error of a sum of probabilities.
TOGETHER, NEAR = 1000, 1e-5
#: The chance that a wrong order of rows is taken.
CHANCE = 1e-9


def keys_of(rows: Numbers) -> list[bytes]:
    """Return a key for each row, by which equal rows are found."""
    flat = np.asarray(rows, dtype=np.float32).reshape(len(rows), -1)
    return [row.tobytes() for row in flat + 0.0]  # without negative zeros


def _logs(output: Numbers) -> Numbers | None:
    """Return the logarithms of probabilities, (lane, action); None of other numbers."""
    law = output.shape[1] > 1 and (output >= 0).all() and (abs(output.sum(axis=1) - 1) < NEAR).all()
    with np.errstate(divide="ignore"):
        return np.log(output) if law else None


class Heard(NamedTuple):
    """The inputs and the outputs of networks before a row."""

    entered: list[bytes] | None  # keys of what they were given, by lane; None if not called
    outputs: dict[th.nn.Module, Numbers]  # of one number or one an action, (lane, number)
    logits: Numbers | None  # of the law from which actions were drawn, (lane, action)


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
    heard: dict[int, Heard] = field(default_factory=dict)  # by row, where they were listened to
    changed: bool = False  # whether networks are given other numbers than the program is shown
    unasked: bool = False  # whether a move was made without a call of a network
    stale: tuple[int, int] = 0, 0  # numbers of earlier observations acted on, and of all
    several: bool = False  # whether later observations of a batch are those of several moves
    masks: dict[bytes, BoolArray] = field(default_factory=dict)  # of legal actions, (action,)
    _illegal: bool = False
    _seen: list[bytes] = field(default_factory=list)
    _after: list[bytes] = field(default_factory=list)
    _moves: dict[bytes, dict[int, dict[Move, None]]] = field(default_factory=dict)
    _read, _made = 0, 0  # numbers of rows that are among the keys, and among the moves
    _last: tuple[Numbers | None, list[bytes]] = (None, [])  # observations shown last, and keys
    _known: dict[bytes, bytes] = field(default_factory=dict)  # keys of observations, each once
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

    @property
    def seen(self) -> list[bytes]:
        """Keys of the observations before all moves, row by row, lane by lane."""
        self._keep_rows()
        return self._seen

    @property
    def after(self) -> list[bytes]:
        """Keys of the observations after all moves, of the same game, as ``seen``."""
        self._keep_rows()
        return self._after

    @property
    def moves(self) -> dict[bytes, dict[int, dict[Move, None]]]:
        """The different moves, by key of the observation and action."""
        self._keep_moves()
        return self._moves

    @property
    def illegal(self) -> bool:
        """Whether the program has taken an illegal action."""
        if any(row.masks is not None for row in self.trace.rows):
            self._keep_moves()
        return self._illegal

    def made(self, key: bytes, action: int) -> Iterable[Move]:
        """Return the different moves that were made by an action at an observation."""
        return self.moves.get(key, {}).get(action, ())

    def listen(self, calls: Calls) -> None:
        """Note what networks were given and have said before the newest row."""
        row = self.trace.rows[-1]
        lanes, size = len(row.used), len(row.used) * self.actions
        outputs = {
            call.module: numbers_of(call.output).reshape(lanes, -1)
            for call in calls.seen(Call)
            if call.output.numel() in (lanes, size)
        }
        drawn = [draw.logits for draw in calls.seen(Draw) if draw.logits.numel() == size]
        logits = numbers_of(drawn[-1]).reshape(lanes, -1) if drawn else None
        if logits is None:
            laws = map(_logs, outputs.values())
            logits = next((each for each in laws if each is not None), None)
        entered, shown = calls.entered(lanes), (self.raw(row.seen), keys_of(row.seen))
        keys = None if entered is None else keys_of(numbers_of(entered))
        if keys is not None and keys not in shown:  # a critic may be asked once more after a move
            own = (numbers_of(each.rows) for each in calls.seen(Fed) if len(each.rows) == lanes)
            keys = next((key for key in map(keys_of, own) if key in shown), keys)
        self.heard[len(self.trace.rows) - 1] = Heard(keys, outputs, logits)

    def _keep_rows(self) -> None:
        """Read the rows since the last time: many rows at once take a tenth of the time."""
        rows = self.trace.rows
        while self._read < len(rows):
            part = rows[self._read : self._read + TOGETHER]
            together = self._entries(np.concatenate([row.shown for row in part]))
            for number, row in enumerate(part):
                lanes = len(row.used)
                shown = self._keep(together[number * lanes : (number + 1) * lanes])
                before, seen = self._last
                if row.seen is not before:
                    seen = self._keep(self._entries(row.seen))
                after = shown if row.after is row.shown else self._keep(self._entries(row.after))
                self._last = row.shown, shown
                self._seen += seen
                self._after += after
                self._compare(self.heard.get(self._read), seen)
                self.masks.update(zip(shown, () if row.masks is None else row.masks, strict=False))
                self._read += 1

    def _entries(self, seen: Numbers) -> list[tuple[bytes, bytes]]:
        """Return the keys of observations, and of the numbers that a program may enter for them."""
        keys = self.raw(seen)
        return [*zip(keys, keys_of(seen) if self.counts else keys, strict=True)]

    def _keep(self, entries: list[tuple[bytes, bytes]]) -> list[bytes]:
        """Keep the keys of observations, which are returned."""
        own = [self._known.setdefault(key, key) for key, _ in entries]
        self._shown.update((number, key) for (_, number), key in zip(entries, own, strict=True))
        return own

    def _compare(self, heard: Heard | None, seen: list[bytes]) -> None:
        """Compare what networks were given with the observations that were shown."""
        entered = None if heard is None else heard.entered
        self.unasked |= entered is None
        for key, own in zip(entered or (), seen, strict=False):
            given = self._shown.get(key, key)
            old, known = self.stale
            self.stale = old + (given in self._known and given != own), known + 1
            if key not in self._known and key not in self._shown:  # nor of another row, asked since
                self._shown[key], self.changed = own, True

    def _keep_moves(self) -> None:
        """Read the moves since the last time."""
        seen, after = self.seen, self.after
        for row in self.trace.rows[self._made :]:
            own = slice(self._made * len(row.used), (self._made + 1) * len(row.used))
            columns = row.actions[:, 0].astype(int), row.rewards, row.terminated, row.truncated
            answers = (each.tolist() for each in (*columns, row.used))
            for key, then, action, *answer in zip(seen[own], after[own], *answers, strict=True):
                self._illegal |= key in self.masks and not self.masks[key][action]
                moves = self._moves.setdefault(key, {}).setdefault(action, {})
                moves[Move(then, *answer)] = None
            self._made += 1

    def raw(self, seen: Numbers) -> list[bytes]:
        """Return the keys of observations as the program sees them."""
        if not self.counts:
            return keys_of(seen)
        numbers = seen.reshape(len(seen), -1).astype(int)
        ones = [np.eye(n, dtype=np.float32)[numbers[:, at]] for at, n in enumerate(self.counts)]
        return keys_of(np.concatenate(ones, axis=1))

    def keys(self, entered: th.Tensor) -> list[bytes]:
        """Return the keys of the observations that were entered into a network."""
        self._keep_rows()  # so that numbers that were entered are known
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
        return self.story.seen[self.begin * self.lanes : self.end * self.lanes]

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

    @property
    def heard(self) -> list[Heard | None]:
        """The inputs and the outputs of networks before each row; None if nobody listened."""
        return [self.story.heard.get(row) for row in range(self.begin, self.end)]

    def outputs(self, module: th.nn.Module) -> FloatArray | None:
        """Return what a module has said of each row, (time, lane); None if it was not asked."""
        said = [each.outputs.get(module) for each in self.heard if each]
        own = [each[:, 0] for each in said if each is not None and each.shape[1] == 1]
        whole = len(own) == self.end - self.begin
        return np.stack(own).astype(np.float64) if whole else None

    @cached_property
    def logits(self) -> FloatArray | None:
        """The laws from which actions were drawn, (time, lane, action), as logarithms."""
        said = [each.logits for each in self.heard if each and each.logits is not None]
        return np.stack(said).astype(np.float64) if len(said) == self.end - self.begin else None

    def first(self, keys: list[bytes]) -> IntArray:
        """Return the number of a row with each key, -1 if there is none."""
        return np.array([self.places.get(key, (-1,))[0] for key in keys])

    def asked(self, entered: th.Tensor) -> IntArray:
        """Return the number of a row before which networks were given each row, -1 of none.

        Where they were given others, it is that of a row with the observation: a program may change
        its observations in another way from one row to the next.
        """
        first: dict[bytes, int] = {}
        for time, heard in enumerate(self.heard):
            own = slice(time * self.lanes, (time + 1) * self.lanes)
            given = (heard and heard.entered) or self.keys[own]
            for place, key in enumerate(given, own.start):
                first.setdefault(key, place)
        found = np.array([first.get(key, -1) for key in keys_of(numbers_of(entered))])
        return np.where(found < 0, self.first(self.story.keys(entered)), found)

    def find(self, keys: list[bytes]) -> IntArray:
        """Return the number of the row of each key: -1 of none, -2 if several rows have it."""
        several = [len(self.places.get(key, ())) > 1 for key in keys]
        return np.where(several, -2, self.first(keys))

    def place(self, keys: list[bytes]) -> IntArray:
        """Return the number of the row of each row of a batch, as ``find``.

        Where several rows have a key, an order of rows that the program has among its variables
        decides, if most rows of the batch agree with it, and would not do so by chance.
        """
        found, count = self.find(keys), len(keys)
        if (found != -2).all() or self._chance(keys) > CHANCE:
            return found
        for order in self._orders(count):
            agree = np.array([self.keys[at] == key for at, key in zip(order, keys, strict=True)])
            if agree.mean() > 0.9:
                return np.where(agree, order, found)
        return found

    def _chance(self, keys: list[bytes]) -> float:
        """Return the chance that rows that are drawn one after the other have these keys."""

        def ways(rows: int, drawn: int) -> float:  # logarithm of their number
            return lgamma(rows + 1) - lgamma(max(rows - drawn, 0) + 1)

        own = (ways(len(self.places.get(key, ())), n) for key, n in Counter(keys).items())
        return exp(sum(own) - ways(len(self.keys), len(keys)))

    def _orders(self, count: int) -> Iterator[IntArray]:
        """Yield orders of rows, time by time and lane by lane, that the program may have."""
        whole = np.arange(len(self.keys))
        by_lane = whole.reshape(-1, self.lanes).T.ravel()
        orders = [whole] if count == len(whole) else []
        for given in (each for frame in frames() for each in tuple(frame.f_locals.values())):
            if isinstance(given, th.Tensor | np.ndarray) and given.shape == (count,):
                own = numbers_of(given) if isinstance(given, th.Tensor) else given
                if own.dtype.kind in "iu" and own.min() >= 0 and own.max() < len(whole):
                    orders.append(own.astype(np.int64))
        for order in orders:
            yield order
            yield by_lane[order]

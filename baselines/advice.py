"""Advice on a position: the value, the cost and the grade of every legal move.

A loss is a share of a win, or of twice the standard deviation of the payoff in games that pay
points: a fair game for a win has the standard deviation 1/2. The names are those of chess and
backgammon programs. ``THRESHOLDS`` were chosen from the exact distribution of losses of all moves
that are not best, at the decisions that optimal play meets, as often as it meets them:

    game            good   inaccuracy   mistake   blunder
    Greed           0.10         0.30      0.13      0.48
    LowestScore     0.05         0.15      0.28      0.52
    ShutTheBox      0.04         0.07      0.14      0.76
    421 in a set    0.02         0.08      0.31      0.60
    421             0.02         0.06      0.24      0.69

So at least half of what one can do wrong is a blunder; the finer grades are for moves between which
a good player hesitates.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..core import BoolArray, Game, InParts, InputError, IntArray, Table, present
from ..core.positions import by_name, states_of
from ..core.words import either, listed
from .cache import cached
from .law.law_game import LawGame
from .policies.door import Reading, label
from .policies.kinds import PolicyLike
from .policies.observations import state_of
from .problem.problem import prepare
from .problem.task import Task
from .scoring.score import score
from .solving.evaluation import Solution
from .solving.solver import read_agent, solve

BEST, GOOD = "best", "good"
#: The smallest loss of each grade, as a share.
THRESHOLDS = {"inaccuracy": 0.01, "mistake": 0.05, "blunder": 0.15}
#: Most states of a game in which components that were left out are searched for.
MOST_TRIED = 2**22
TIE = 1e-9  # smaller shares are taken as rounding errors


@dataclass(frozen=True)
class Choice:
    """A legal move."""

    action: int  # its number
    words: str  # the move in words
    parts: tuple[int, ...]  # numbers of the pieces on the table that the move takes


@dataclass(frozen=True)
class Advice:
    """The value of a legal move."""

    choice: Choice  # the move
    value: float  # expected payoff if play is optimal afterwards
    cost: float  # the value of the best move minus this value; 0 if the move is optimal
    share: float  # the cost as a share of a win, or of the spread of the payoffs (``spread_of``)

    @property
    def grade(self) -> str:
        """The grade of the move by what it gives away."""
        if not self.cost:
            return BEST
        reached = [name for name, least in THRESHOLDS.items() if self.share >= least]
        return reached[-1] if reached else GOOD


def is_decision(advice: Sequence[Advice]) -> bool:
    """Say whether the choice matters: there are moves that give something away."""
    return any(one.cost for one in advice)


def made_of(advice: Sequence[Advice], action: int) -> Advice:
    """Return the advice on a move."""
    return next(one for one in advice if one.choice.action == action)


def seen_at(game: Game, seat: int, state: int) -> IntArray:
    """Return the observation of a seat in a state, shape (component,)."""
    return game.observe(np.array([state]), seat)[0]


def choices_at(game: Game, seat: int, state: int) -> list[Choice]:
    """Return the legal moves of a seat in a state."""
    seen, shown = seen_at(game, seat, state), present(game)
    return [
        Choice(action, shown.to_you(shown.describe_move(seen, action)), shown.parts(seen, action))
        for action in np.flatnonzero(game.mask(np.array([state]))[0]).tolist()
    ]


def advice_at(task: Task, state: int) -> list[Advice]:
    """Return the value of every legal move in a state, in the order of ``choices_at``."""
    values = solve(task).action_values(seen_at(task.game, task.seat, state))
    costs, spread = values.max() - values, spread_of(task)
    costs = np.where(costs < TIE * spread, 0.0, costs)
    shares = costs / spread
    return [
        Advice(choice, *(float(figure[choice.action]) for figure in (values, costs, shares)))
        for choice in choices_at(task.game, task.seat, state)
    ]


@cached
def spread_of(task: Task) -> float:
    """Return what a loss is measured by: 1 in games for a win, else twice the deviation.

    Where optimal play always gets the same, that is its size; and in a law of others, whose
    deviation may be many times its value, the smaller of both.
    """
    if task.game.payoff_range == (0.0, 1.0):
        return 1.0
    if known := present(task.game).deviation:
        return 2 * known
    best = score("optimal", task)
    spread, size = 2 * best.deviation, abs(best.value)
    if isinstance(task.game, LawGame) and spread and size:
        return min(spread, size)
    return spread or size or 1.0


@dataclass(frozen=True)
class Answer(InParts):
    """The advice on a position, and the law of a policy there."""

    task: Task  # game, seat and opponents
    observation: tuple[int, ...]  # the position, one integer for each component
    moves: tuple[Advice, ...]  # the legal moves, best first
    policy: str | None = None  # name of the policy that was asked for, None if there is none
    # Its probability of each of these moves; None without a policy.
    law: tuple[float, ...] | None = None

    @property
    def value(self) -> float:
        """Expected payoff if play is optimal from here on."""
        return self.moves[0].value

    @property
    def cost(self) -> float | None:
        """Expected loss by the policy's move; None without a policy."""
        if self.law is None:
            return None
        costs = (move.cost for move in self.moves)
        return sum(chance * cost for chance, cost in zip(self.law, costs, strict=True))

    def as_dict(self) -> dict[str, Any]:
        """Return the answer as numbers, texts and lists, as JSON has them."""
        moves = [
            {"action": each.choice.action, "words": each.choice.words, "value": each.value}
            | {"cost": each.cost, "grade": each.grade}
            | ({} if self.law is None else {"probability": self.law[place]})
            for place, each in enumerate(self.moves)
        ]
        return {
            "task": self.task.words,
            "observation": by_name(self.task.game, self.observation),
            "words": self._position,
            "value": self.value,
            "moves": moves,
            **({} if self.policy is None else {"policy": self.policy, "cost": self.cost}),
        }

    @property
    def _position(self) -> str:
        return present(self.task.game).describe(np.array(self.observation))

    def parts(self) -> Iterator[str | Table]:
        """Give the best move, what the policy gives away, and the table of all moves."""
        header = ["move", "value", "cost", "grade"]
        rows: list[list[Any]] = [
            [each.choice.words, f"{each.value:.6f}", f"{each.cost:.6f}", each.grade]
            for each in self.moves
        ]
        if self.law is not None:
            header.append(str(self.policy))
            rows = [[*row, f"{part:.1%}"] for row, part in zip(rows, self.law, strict=True)]
        yield f"{self._position}: {self.moves[0].choice.words}, worth {self.value:.6f}"
        if self.policy is not None:
            yield f"{self.policy} gives away {self.cost:.6f} here"
        yield Table(header, rows)


def ask(
    solution: Solution, *components: Any, policy: PolicyLike | None = None, **named: Any
) -> Answer:
    """Say what to do in a position: every legal move with its value, cost and grade.

    Args:
        solution: of the task.
        components: the observation, integers in its order; those left out are as at the beginning
            of a game, or 0, or what they must be. Or, where the numbers are no position, a roll of
            dice alone.
        policy: a policy in any form that ``as_policy`` takes, to say what it does there; models
            take their likeliest action, as they are scored.
        named: components by name: ``own_score=41``, ``dice="3 3 4 5 6"`` in any order, ``open="1 3
            4"`` (see ``read_position``).
    """
    problem = solution.problem
    task = problem.task
    readings: list[tuple[Sequence[Any], Mapping[str, Any]]] = [(components, named)]
    for group in present(task.game).groups:
        own, word = list(group.places(task.game).values()), group.keyword
        dice = task.game.observation_sizes[own[0]] - 1 if group.counts else len(own)
        if group.is_roll and dice == len(components) and word not in named:
            rolled = {word: " ".join(map(str, components)), **named}
            readings.insert(0 if group.counts else 1, ((), rolled))
    errors: list[InputError] = []
    for reading in readings:
        try:
            state = state_meant(task, *read_position(task.game, *reading))
            break
        except InputError as error:
            errors.append(error)
    else:
        raise errors[0]
    seen = task.game.observe(state, task.seat)[0]
    moves = sorted(advice_at(task, int(state[0])), key=lambda each: each.cost)
    if policy is None:
        return Answer(task, tuple(seen.tolist()), tuple(moves))
    chances = read_agent(policy, problem, Reading()).probabilities(state)[0]
    law = tuple(float(chances[each.choice.action]) for each in moves)
    shown = Path(policy) if isinstance(policy, str) and Path(policy).exists() else policy
    return Answer(task, tuple(seen.tolist()), tuple(moves), label(shown), law)


Solution.ask = ask


def state_meant(task: Task, seen: IntArray, given: BoolArray) -> IntArray:
    """Find the state that a person means, whatever the order of its dice, shape (1,).

    Components that were left out are those with which all games begin, if there is such a state;
    ``seen`` is 0 there. Of some dice all are given, if one was. An ``InputError`` says that there
    is no such state, or names a component that may be several numbers, none of them 0.
    """
    game, seat = task.game, task.seat
    begun = game.observe(prepare(task).start.states, seat)
    same = (begun == begun[0]).all(axis=0)
    kinds = [group for group in present(game).groups if not group.counts]
    dice = [list(kind.places(game).values()) for kind in kinds]
    for step in (0, 1, -1) if (given | same).all() else ():  # as given, or sorted up or down
        whole = np.where(given, seen, begun[0])
        for places in dice if step else ():
            whole[places] = np.sort(whole[places])[::step]
        with suppress(InputError):
            return state_of(game, seat, whole)
    try:
        return state_of(game, seat, seen)
    except InputError:
        if game.num_states > MOST_TRIED:
            raise
        own = states_of(game, seat)
        known, wanted = game.observe(own, seat), seen.copy()
        for places in dice:
            known[:, places], wanted[places] = np.sort(known[:, places]), np.sort(wanted[places])
        rows = np.flatnonzero(((known == wanted) | ~given).all(axis=1))
        if not len(rows):
            raise
        usual = (known[rows] == begun[0])[:, same & ~given].all(axis=1)
        rows = rows[usual] if usual.any() else rows
        for place in np.flatnonzero(~given).tolist():
            values = np.unique(known[rows, place])
            if len(values) > 1 and values[0]:
                name, each = _word(game.observation_names[place]), map(str, values.tolist())
                raise InputError(f"{name} must be given, one of {', '.join(each)}") from None
            rows = rows[known[rows, place] == values[0]]
        return own[rows]


def read_position(
    game: Game, components: Sequence[Any], named: Mapping[str, Any]
) -> tuple[IntArray, BoolArray]:
    """Read an observation as people write it, and which components were given, (component,).

    It is 0 where nothing was given. The components are numbers in its order, or a roll of dice
    alone. Others go by the name of a component or its beginning, with _ for a space and without its
    question mark; and by groups of components (``Presentation.groups``), such as ``dice="3 3 4 5
    6"``, ``open="1 3 4"`` or ``open="all"``. An ``InputError`` names the component that is out of
    range, given twice or unknown.
    """
    groups = {group.keyword: group for group in present(game).groups if group.places(game)}
    sizes = game.observation_sizes
    places = {_word(name): place for place, name in enumerate(game.observation_names)}
    components = [each for each in components if each != "to"]  # 80 to 72
    if len(components) > len(sizes):
        raise InputError(
            f"a position of {game.name} must have at most {len(sizes)} components "
            f"({', '.join(places)}), got {len(components)}"
        )
    given: dict[str, Any] = dict(zip(places, components, strict=False))
    later = [*places.items()][len(given) :]  # for which a number out of range may be meant
    for name, value in named.items():
        word = _word(name)
        begin = [known for known in (*groups, *places) if known.startswith(word)]
        if word not in places and word not in groups and len(begin) == 1:
            word = begin[0]
        if word in given:
            raise InputError(f"{word} must be given once, got {given[word]} and {value}")
        if word not in places and word not in groups:
            each = listed([*groups, *places])
            raise InputError(f"a component of {game.name} must be one of {each}, got {name}")
        given[word] = value
    seen, known = np.zeros(len(sizes), dtype=np.int64), np.zeros(len(sizes), dtype=bool)
    for word, value in given.items():
        if word in groups:
            own = groups[word].places(game)
            if both := [name for name in given if places.get(name) in own.values()]:
                raise InputError(f"{word} must be given without {both[0]}, got both")
            known[list(own.values())] = True
            _write(seen, own, groups[word].counts, str(value), word, sizes[min(own.values())])
        else:
            known[places[word]] = True
            text, number = str(value), int(value) if str(value).isdecimal() else max(sizes)
            fits = [f"{each}={text}" for each, place in later if number < sizes[place]]
            seen[places[word]] = _number(
                text, sizes[places[word]], word, fits if word not in named else ()
            )
    return seen, known


def _word(name: str) -> str:
    """Return the name of a component as a keyword."""
    return name.replace(" ", "_").replace("'", "").rstrip("?")


def _number(text: str, size: int, word: str, others: Sequence[str] = ()) -> int:
    if not text.isdecimal() or int(text) >= size:
        by_name = f"; by name: {either(others)}" if others else ""
        raise InputError(f"{word} must be from 0 to {size - 1}, got {text}{by_name}")
    return int(text)


def _write(
    seen: IntArray, places: Mapping[str, int], counts: bool, text: str, word: str, size: int
) -> None:
    """Write faces or marks, with spaces or commas between them, into an observation."""
    each = text.replace(",", " ").split()
    if len(each) == 1 and text.isdecimal() and text not in places:
        each = list(text)  # 33456
    if not counts:
        if len(each) > len(places):
            raise InputError(f"{word} must be at most {len(places)} numbers, got {text}")
        for place, face in zip(places.values(), each, strict=False):
            seen[place] = _number(face, size, word)
        return
    for mark in places if each == ["all"] else each:
        if mark not in places or seen[places[mark]] + 1 >= size:
            raise InputError(f"{word} must be of {listed(places)}, got {text}")
        seen[places[mark]] += 1

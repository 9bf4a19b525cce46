"""Puzzles: "find the best move" in positions where a player errs, or that perfect players meet.

A puzzle is a position in which a policy, or a person, often errs. Positions are drawn in proportion
to the payoff that the decision costs the policy per game (the loss times the occupancy,
``Score.blunders``). Games whose policies would fill too large a table have puzzles from some games
between perfect players instead, all decisions alike. The level of a puzzle follows from the exact
values of its moves. Let n be the number of legal moves and g the loss of the best move that is not
optimal (``Advice.share``):

    easy      n <= 8 and g >= 0.15    every other move is a blunder
    hard      g < 0.05                another move is not even a mistake
    medium    all other positions
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..baselines import PolicyLike, Task, is_policy_name, score
from ..baselines.advice import THRESHOLDS, Advice, advice_at, is_decision, made_of
from ..baselines.policies.names import STRENGTH, registered_policies
from ..core import Game, InputError, present
from ..core.words import YOU, listed
from ..envs.drawing.scene import Scene, names_of, scene_at
from .coach import unit_of
from .levels import PERFECT, levels_of, player, policy_of
from .session import Session
from .statistics import KeptGame, path_of_games, read_games

LEVELS = ("easy", "medium", "hard")
FEW = 8  # largest number of moves in an easy position
MOST_MISTAKES = 500  # puzzles are drawn from this number of a policy's costliest decisions
ANY = "any"
DAY = "day"  # stands for the puzzle of the day, of any level
GAMES = 30  # number of games between perfect players
OWN = "own"  # stands for puzzles from the costliest moves of the user's own games


@dataclass(frozen=True)
class Mistake:
    """A position in which a player errs."""

    task: Task  # the player's decision process
    observation: tuple[int, ...]  # the player's observation
    cost: float  # payoff that the mistake costs the player, per game or over all recorded games
    words: str  # a sentence that names the player and the mistake


@dataclass(frozen=True)
class Puzzle:
    """A position whose best move, or one of several equally good moves, is to be found."""

    task: Task  # the decision process of the player to move
    state: int  # the state
    advice: list[Advice]  # the value of each legal move
    words: str  # a sentence that names the erring player and the mistake, shown after the answer

    @property
    def scene(self) -> Scene:
        """The table, whose players have names as in a game against policies."""
        game, seat = self.task.game, self.task.seat
        return scene_at(game, seat, self.state, names_of(self.task, YOU))


def level_of(advice: Iterable[Advice]) -> str:
    """Return the level of a position, given the values of its moves (see the module docstring)."""
    moves = list(advice)
    second = min(one.share for one in moves if one.cost)
    if second < THRESHOLDS["mistake"]:
        return "hard"
    return "easy" if second >= THRESHOLDS["blunder"] and len(moves) <= FEW else "medium"


def sources(game: Game) -> list[str]:
    """List the players whose mistakes make a game's puzzles, the default first.

    These are rules of thumb, levels and random play, or perfect players where those are too large.
    """
    rules = [name for name in registered_policies(game.name) if "<" not in name]
    levels = [level.name for level in levels_of(game) if level != PERFECT]
    return [*rules, *levels, "random"] if levels else [*rules, PERFECT.name]


def decisions_met(game: Game, seed: int) -> list[Mistake]:
    """List the decisions in some games between perfect players, each at the same cost."""
    tasks, found = _tasks(game), []
    for number in range(GAMES):
        session = Session(tasks[number % len(tasks)], seed * GAMES + number)
        while session.choices:
            advice, seen = session.advice(), tuple(session.observation.tolist())
            if is_decision(advice):
                found.append(
                    Mistake(session.task, seen, 1.0, "Perfect players meet this position.")
                )
            session.move(min(advice, key=lambda one: one.cost).choice.action)
    return found


def _tasks(game: Game) -> list[Task]:
    seats = 1 if game.has_cycles else game.num_players  # with cycles, seats take turns to begin
    return [Task(game, seat) for seat in range(seats)]


def mistakes_of(policy: PolicyLike, game: Game, name: str) -> list[Mistake]:
    """List the costliest decisions of a policy, by its name for people, against perfect players."""
    return [
        Mistake(task, one.observation, one.cost, f'"{name}" {one.move} here.')
        for task in _tasks(game)
        for one in score(policy, task).blunders(MOST_MISTAKES)
    ]


def own_mistakes(game: Game, kept: Iterable[KeptGame]) -> list[Mistake]:
    """List the costliest moves in a person's recorded games of these rules."""
    title = present(game).words
    return [
        Mistake(Task(game, one.seat), seen, cost, "You have met this position.")
        for one in kept
        if one.title == title
        for seen, cost in one.worst
    ]


def puzzles(mistakes: Sequence[Mistake], level: str, seed: int) -> Iterator[Puzzle]:
    """Yield puzzles of a level, or of ``ANY``, in random order, each question once.

    Two questions are the same if their moves and the values of these moves are the same.
    """
    if level not in (*LEVELS, ANY):
        raise InputError(f"level must be one of {', '.join(LEVELS)}, {ANY}, got {level[:50]!r}")
    costs = np.array([one.cost for one in mistakes])
    rng, asked = np.random.default_rng(seed), set()
    order = (rng.exponential(size=len(mistakes)) / costs).argsort()  # in proportion to the costs
    for one in (mistakes[place] for place in order):
        state = int(one.task.game.encode(np.array([one.observation]))[0])
        advice = advice_at(one.task, state)
        question = tuple((move.choice.action, round(move.value, 9)) for move in advice)
        if question in asked or not is_decision(advice) or level not in (level_of(advice), ANY):
            continue
        asked.add(question)
        yield Puzzle(one.task, state, advice, one.words)


class Practice:
    """A series of puzzles with a score."""

    def __init__(self, game: Game, drawn: Iterator[Puzzle]) -> None:
        self.game, self._left = game, drawn
        self.puzzle = next(self._left, None)  # None after the last one
        self.tried: int | None = None  # the first answer to the puzzle
        self._costs: list[float] = []

    def answer(self, action: int) -> None:
        """Answer the puzzle; only the first answer counts."""
        legal = [] if self.puzzle is None else [one.choice.action for one in self.puzzle.advice]
        if self.puzzle is None or action not in legal:
            must = f"one of {', '.join(map(str, legal))}" if legal else "left"
            raise InputError(f"action must be {must}, got {action}")
        if self.tried is None:
            self.tried = action
            self._costs.append(made_of(self.puzzle.advice, action).cost)

    def go_on(self) -> None:
        """Go on to the next puzzle."""
        self.puzzle, self.tried = next(self._left, None), None

    @property
    def answered(self) -> int:
        """The number of puzzles that were answered."""
        return len(self._costs)

    @property
    def score(self) -> str:
        """The score so far in a sentence; empty before the first answer."""
        if not self._costs:
            return ""
        unit, solved = unit_of(self.game), self._costs.count(0.0)
        lost = unit.shown(unit.rounded(sum(self._costs) / self.answered))
        return f"{solved} of {self.answered} solved; {lost} given away per puzzle."


def practice_of(game: Game, of: str, level: str, seed: int) -> Practice:
    """Return puzzles of a policy (by default the first of ``sources``), or the user's own."""
    name = policy_of(of or sources(game)[0])
    if name == OWN:
        found = own_mistakes(game, read_games(path_of_games())[0])
    elif name == PERFECT.name and name in sources(game):
        found = decisions_met(game, seed)
    else:
        known = listed([*sources(game), OWN])
        is_level = name.startswith(STRENGTH)
        if not is_policy_name(game, name) or (is_level and len(levels_of(game)) == 1):
            raise InputError(f"of must be one of {known}, got {name[:50]!r}")
        found = mistakes_of(name, game, player(game, name).title)
    return Practice(game, puzzles(found, level, seed))

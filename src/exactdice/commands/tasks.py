"""``exactdice solve``, ``export``, ``prove``, ``ask`` and ``describe``: games without an agent."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from ..agents.runs.options import GameName, Keywords, task_from_options
from ..baselines import ask, describe, prove, solve, write_law
from ..baselines.law.petsc import LawFiles, read_values
from ..baselines.scoring.description import PROPERTIES
from ..board.ladders import LadderWords, find_ladder
from ..core import InputError, Table, write_file
from ..core.progress import shown_progress
from ..core.words import listed
from ..games import DEFAULT_GAME
from .printing import InJson, print_json


@dataclass(frozen=True)
class SolveConfig(InJson):
    """Solve a game exactly and print its optimum."""

    game: tyro.conf.Positional[GameName] = DEFAULT_GAME
    """Game to solve, in upper or lower case."""

    env: Keywords = field(default_factory=dict)
    """Keyword arguments of the environment: --env max_score 50 sides 6 opponent random seat 1."""

    exact: bool = False
    """Print the value as a fraction, computed with integers."""


def run_solve(options: SolveConfig) -> None:
    """Print the optimal value, and the optimal moves of the likeliest first position."""
    task = task_from_options(options.game, options.env)
    with shown_progress():
        solution = solve(task, exact=options.exact)
    print_json(solution.as_dict()) if options.json else print(solution)


@dataclass(frozen=True)
class ExportConfig:
    """Write the law of a game of one player into a folder, for solvers such as madupite.

    P.bin and g.bin are matrices in PETSc's binary form; ``exactdice prove`` reads them, too.
    """

    game: tyro.conf.Positional[GameName]
    """Game, or an environment of Gymnasium that has P: gym:FrozenLake-v1."""

    folder: tyro.conf.Positional[Path]
    """Folder to write to."""

    env: Keywords = field(default_factory=dict)
    """Keyword arguments of the environment: --env gamma 0.99 horizon 0."""


def run_export(options: ExportConfig) -> None:
    """Write the law, and print the states."""
    task = task_from_options(options.game, options.env)
    write_law(task, options.folder)
    print(f"{options.folder}: {task.game.num_states:,} states, {task.game.num_actions} actions")


@dataclass(frozen=True)
class ProveConfig:
    """Bound the optimal values of a law in files, whoever has computed them, piece by piece."""

    folder: tyro.conf.Positional[Path]
    """Folder with P.bin and g.bin, from ``exactdice export`` or madupite."""

    gamma: float
    """Discount, below 1."""

    values: Path | None = None
    """File with the values of another solver: a text, one to a line, or a vector of PETSc. Default:
    0, from which the law is solved."""

    error: float = 1e-6
    """Bound of the error at which to stop."""

    sweeps: int = 1000
    """Sweeps over all pieces at most."""

    out: Path | None = None
    """File to write, which ends in .npz: arrays values and actions, and the bound error."""


def run_prove(options: ProveConfig) -> None:
    """Print what is proved, and write it."""
    states = LawFiles(options.folder).states
    values = None if options.values is None else read_values(options.values, states)
    with shown_progress():
        found = prove(options.folder, options.gamma, values, options.error, options.sweeps)
    if options.out is not None:
        arrays: Any = {"values": found.values, "actions": found.actions}
        write_file(options.out, lambda file: np.savez(file, error=found.error, **arrays))
    print(found)


@dataclass(frozen=True)
class AskConfig(InJson):
    """Say what to do in a position: every legal move with its value, its cost and its grade."""

    game: tyro.conf.Positional[GameName]
    """Game, in upper or lower case."""

    position: tyro.conf.Positional[tuple[str, ...]] = ()
    """The position: numbers in the order of the observation, or by name: Greed 41 49, or Greed
    own_score=41 other_score=49; dice in any order, FourTwoOne 6 4 2. Components that are left out
    are as at the beginning of a game, or 0, or what they must be."""

    env: Keywords = field(default_factory=dict)
    """Keyword arguments of the environment: --env max_score 50 sides 6 opponent random seat 1."""

    policy: str | None = None
    """Policy whose move is asked for, too: a name such as random, a run folder, a certificate or a
    saved model."""


def run_ask(options: AskConfig) -> None:
    """Print the answer."""
    task = task_from_options(options.game, options.env)
    numbers = [word for word in options.position if "=" not in word]
    named = [word.partition("=")[::2] for word in options.position if "=" in word]
    names = [name for name, _ in named]
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise InputError(f"{twice[0]} must be given once, got it {names.count(twice[0])} times")
    with shown_progress():
        found = ask(solve(task), *numbers, policy=options.policy, **dict(named))
    print_json(found.as_dict()) if options.json else print(found)


@dataclass(frozen=True)
class DescribeConfig(InJson):
    """Print exact properties of games: states, moves, noise of outcomes, action gaps.

    The table has a column for each game, or for each rung of a ladder. The page "What makes a game
    hard" of the documentation has the definition of each property.
    """

    games: tyro.conf.Positional[tuple[GameName, ...]] = ()
    """Games to describe. Default: Greed."""

    env: Keywords = field(default_factory=dict)
    """Keyword arguments of all games: --env max_score 50 sides 6 opponent random seat 1."""

    ladder: LadderWords | None = None
    """Ladder whose rungs are described, in place of games: a name, or a game, a keyword and its
    values: --ladder Greed sides 2 4 6."""

    csv: bool = False
    """Print comma-separated values with all digits, a line for each game. Default: a table in
    Markdown."""

    def __post_init__(self) -> None:
        if self.csv and self.json:
            raise InputError("csv must be left out: json prints the same figures")
        if self.ladder is not None:
            find_ladder(self.ladder)  # which refuses what is none
            for option in ("games", "env"):
                if getattr(self, option):
                    raise InputError(f"{option} must be left out: a ladder has its own")
        twice = [game for game in dict.fromkeys(self.games) if self.games.count(game) > 1]
        if twice:
            raise InputError(f"games must be given once each, got {listed(twice)} again")

    def tasks(self) -> list[tuple[str, str, dict[str, int | str]]]:
        """List the heading, the game and the keywords of each task."""
        if self.ladder is None:
            return [(game, game, self.env) for game in self.games or (DEFAULT_GAME,)]
        ladder = find_ladder(self.ladder)
        return [
            (f"{ladder.knob} {rung.label}", ladder.game, dict(rung.keywords))
            for rung in ladder.rungs
        ]


def run_describe(options: DescribeConfig) -> None:
    """Describe every task, and print the table."""
    tasks = options.tasks()
    built = [task_from_options(game, env) for _, game, env in tasks]  # before any is computed
    with shown_progress():
        found = [describe(task) for task in built]
    headings = [heading for heading, _, _ in tasks]
    if options.csv or options.json:
        header = ["name", "task", *(figure.name for figure in PROPERTIES)]
        rows = [
            [heading, each.task.words, *(getattr(each, name) for name in header[2:])]
            for heading, each in zip(headings, found, strict=True)
        ]
        named = [dict(zip(header, row, strict=True)) for row in rows]
        print_json(named) if options.json else print(Table(header, rows).csv(), end="")
        return
    for heading, each in zip(headings, found, strict=True):
        print(f"{heading}: {each.task.words}")
    texts = [[figure.label, *map(figure.text, found)] for figure in PROPERTIES]
    print(f"\n{Table(['', *headings], texts).markdown(aligned=True)}")

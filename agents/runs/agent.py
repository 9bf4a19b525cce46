"""Agents on the command line: the words that name one, and its score as the terminal shows it.

A word names a run, a certificate, a saved model or a policy.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro
from rich.console import Console
from rich.text import Text

from ...baselines import Score, Task, is_policy_name, policy_names, score
from ...baselines.policies.door import is_path
from ...baselines.scoring.certificate import is_certificate, task_of
from ...baselines.scoring.figure import FIGURES
from ...baselines.scoring.summary import costliest, pays_wins, quoted, result, summary, tables
from ...core import InputError, SizeError, Table
from ...core.progress import tell
from ...core.words import meant, printable
from ...envs import find_game
from ...games import DEFAULT_GAME
from .folders import load_model
from .options import GameWord, Keywords, task_from_options


def task_of_agents(words: Iterable[str], game: str | None, env: Mapping[str, Any]) -> Task:
    """Build the task of agents by their words: that of a certificate, changed by the options."""
    name = None if game is None else find_game(game).name  # which registers it
    files = [Path(word) for word in words if is_certificate(Path(word))]
    for own in map(task_of, files[:1]):
        if name in (None, own.game.name):
            known = {**own.game.keywords, "seat": own.seat, **own.opponent_keywords}
            name, env = own.game.name, {**known, **env}
    return task_from_options(name or DEFAULT_GAME, env)


def policy_from_word(word: str, task: Task) -> str | Path:
    """Give the policy of a word of the command line that is no run folder: a name or a file."""
    if is_policy_name(task.game, word):
        return word
    if is_path(word, task.game):
        return Path(word)
    known = policy_names(task.game)
    raise InputError(
        f"policy must be a run folder, a certificate, a saved model or one of {', '.join(known)}, "
        f"got {word!r}{meant(word, known)}"
    )


@dataclass(frozen=True)
class AgentOptions:
    """The options by which a command names an agent."""

    policy: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="POLICY")]
    """Run folder, certificate, model saved by stable-baselines3, table that numpy.save wrote
    (.npy), or name of a policy such as random."""

    game: GameWord = None
    """Game of a policy that is not a run, in upper or lower case. Default: that of a certificate,
    else Greed."""

    env: Keywords = field(default_factory=dict)
    """Keyword arguments of the environment for a policy that is not a run: --env max_score 50."""

    model: Literal["final", "best"] | None = None
    """Which model of a run. Default: final."""

    stochastic: bool = False
    """Score a model as it draws actions at random from its law, not with its likeliest action."""

    @property
    def is_run(self) -> bool:
        """Whether the policy is a run folder."""
        return Path(self.policy).is_dir()

    def score(self, name: str | None = None) -> Score:
        """Score the policy exactly, by its own name or another one."""
        reading: dict[str, Any] = {"deterministic": not self.stochastic, "name": name}
        if self.is_run:
            import torch

            torch.set_num_threads(1)  # more threads slow small networks down
            loaded = load_model(Path(self.policy), self.model or "final")
            self.refuse("a policy that is no run folder", game=self.game, env=self.env)
            return score(*loaded, **reading)
        task = task_of_agents([self.policy], self.game, self.env)
        policy = policy_from_word(self.policy, task)
        self.refuse("a run folder", model=self.model)
        if isinstance(policy, str):
            self.refuse("a model", stochastic=self.stochastic)
        return score(policy, task, **reading)

    @staticmethod
    def refuse(what: str, **options: Any) -> None:
        """Refuse options that were given although they are for ``what`` only."""
        for option, given in options.items():
            if given:
                raise InputError(f"{option} must be left out: only {what} has it")


def compute(score: Score) -> None:
    """Compute all that ``report`` tells; a score computes a figure when it is first asked."""
    for number, figure in enumerate(FIGURES):
        tell(number, len(FIGURES), figure.label or figure.name)
        with suppress(SizeError):  # of a game too large for the figure
            getattr(score, figure.name)


def show(parts: Iterable[str | Table], console: Console) -> None:
    """Print sentences and tables."""
    for part in parts:
        if isinstance(part, Table):
            part.show(console)
        else:
            console.print(Text(part), soft_wrap=True)


def report(score: Score) -> Iterator[str | Table]:
    """Put a score and the costliest decisions into sentences and tables."""
    yield printable(score.title)
    columns = [figure for figure in FIGURES if figure.label and not figure.sentence]
    rows = [(figure.label, figure.text(score)) for figure in columns]
    yield Table(["", quoted(score.policy)], rows)
    yield from summary(score)
    if score.outcomes is not None:
        game, law = score.task.game, sorted(score.outcomes.items(), reverse=True)
        each = (f"{result(payoff, game)} ({chance:.2%})" for payoff, chance in law)
        what = "results" if pays_wins(game) else "payoffs"
        yield f"{what} and their probabilities: {', '.join(each)}"
    told = [figure for figure in FIGURES if figure.sentence and figure.text(score)]
    for _, alike in groupby(told, lambda figure: figure.format):  # of one format: on one line
        yield "; ".join(one.sentence.format(one.text(score)) for one in alike)
    yield from tables(score)
    try:
        costly = costliest(score, 10)
    except SizeError as error:
        yield f"no decisions: {error}"
        return
    if costly.rows:
        yield replace(costly, title="costliest decisions")

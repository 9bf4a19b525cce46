"""``exactdice score``, ``report``, ``compare`` and ``verify``: agents, scored exactly."""

import sys
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console

from ..agents.runs import agent
from ..agents.runs.agent import AgentOptions
from ..agents.runs.options import GameWord, Keywords
from ..baselines import CertificateError, Comparison, Score, compare, verify
from ..baselines.scoring.certificate import UnreadableError
from ..baselines.scoring.summary import summary
from ..core import InputError, SizeError
from ..core.positions import by_name
from ..core.progress import shown_progress
from ..core.words import printable
from ..envs import find_game
from .printing import InJson, print_json

_Agent = tyro.conf.arg(metavar="AGENT")


@dataclass(frozen=True)
class ScoreConfig(AgentOptions, InJson):
    """Score a trained run, or a policy by name, exactly."""

    ceiling: bool = False
    """Also train a network like the run's on the optimal policy and score it: the best that the
    network could learn. Takes a quarter of a minute."""


def run_score(options: ScoreConfig) -> None:
    """Print the score of a run's model, or of a policy by its name or from a file."""
    if not options.is_run:
        options.refuse("a run folder", ceiling=options.ceiling)
    with shown_progress():
        score = options.score()
        agent.compute(score)
        found = _as_json(score) if options.json else {}
    if not options.json:
        agent.show(agent.report(score), Console())
    if options.ceiling:
        from ..agents.learners.ceiling import ceiling
        from ..agents.runs.folders import load_model

        model, env = load_model(Path(options.policy), options.model or "final")
        top = ceiling(model, env.task)
        found["ceiling"] = {"regret": top.regret, "normalized": top.normalized}
        figures = f"regret {top.regret:.6f}, normalised score {top.normalized:.6f}"
        if not options.json:
            print(f"the ceiling, the same network fitted to the optimal policy: {figures}")
    if options.json:
        print_json(found)


def _as_json(score: Score) -> dict[str, Any]:
    """Give the score, its summary and its costliest decisions, None if the game is too large."""
    game, blunders = score.task.game, None
    with suppress(SizeError):
        found = score.blunders()
        blunders = [asdict(o) | {"observation": by_name(game, o.observation)} for o in found]
    told = {"task": score.task.words, **score.as_dict(), "summary": summary(score)}
    return {**told, "blunders": blunders}


@dataclass(frozen=True)
class ReportConfig(AgentOptions):
    """Write a self-contained web page about an agent: score, mistakes, learning curve."""

    page: Path = Path("report.html")
    """File to write, which ends in .html."""


def run_report(options: ReportConfig) -> None:
    """Write the page of an agent, and print the score."""
    from ..look.report import write_report

    with shown_progress():
        score = write_report(options, options.page)
    print(
        f"{score.policy}: normalised score {score.normalized:.6f}, regret {score.regret:.6f}\n"
        f"written in {options.page}; open it in a browser"
    )


@dataclass(frozen=True)
class CompareConfig(InJson):
    """Compare two agents exactly: scores, where they differ and at what cost, head to head."""

    first: tyro.conf.Positional[Annotated[str, _Agent]]
    """Run folder, certificate, model saved by stable-baselines3, table (.npy), or name of a
    policy."""

    second: tyro.conf.Positional[Annotated[str, _Agent]]
    """The same of the other agent."""

    game: GameWord = None
    """Game of two agents that are no runs, in upper or lower case. Default: that of a certificate,
    else Greed."""

    env: Keywords = field(default_factory=dict)
    """Keyword arguments of the environment of two agents that are no runs: --env max_score 50."""

    stochastic: bool = False
    """Compare models as they draw actions at random from their laws, not with the likeliest
    actions."""


def run_compare(options: CompareConfig) -> None:
    """Print the comparison."""
    with shown_progress():
        found = _named(_compare(options), (options.first, options.second))
        parts, content = list(found.parts()), found.as_dict() if options.json else {}
    if options.json:
        print_json(content)
        return
    agent.show(parts, Console())


def _compare(options: CompareConfig) -> Comparison:
    words = options.first, options.second
    runs = {
        word: AgentOptions(word, stochastic=options.stochastic).score(Path(word).name)
        for word in words
        if Path(word).is_dir()
    }
    if runs:
        AgentOptions.refuse("a comparison without runs", game=options.game, env=options.env)
    task = next((run.task for run in runs.values()), None)
    task = task or agent.task_of_agents(words, options.game, options.env)
    first, second = (runs.get(word) or agent.policy_from_word(word, task) for word in words)
    return compare(first, second, task, deterministic=not options.stochastic)


def _named(found: Comparison, words: tuple[str, str]) -> Comparison:
    """Name both agents; files of one name are named by the folders that differ."""
    one, other = (Path(word).resolve().parts for word in words)
    if found.first.policy != found.second.policy or one == other:
        return found
    depth = next(d for d in range(1, len(one) + 1) if one[-d:] != other[-d:])
    first = replace(found.first, policy=one[-depth])
    return replace(found, first=first, second=replace(found.second, policy=other[-depth]))


#: Attributes of a score that are printed as JSON.
KEPT = ("policy", "value", "optimum", "random", "regret", "normalized", "nines", "error_bound")


@dataclass(frozen=True)
class VerifyConfig(InJson):
    """Check policy certificates: recompute value, optimum and regret from the policy in each.

    The exit code is 0 if all certificates hold, 1 if one does not, 2 if a file is missing or no
    whole certificate.
    """

    words: tyro.conf.Positional[
        Annotated[
            tuple[str, ...], tyro.conf.arg(metavar="CERTIFICATE ... [FILE.py:CLASS | gym:ID]")
        ]
    ]
    """Certificates; run folders, each of which has one; or folders of benchmarks and archives of
    them, certificates.zip. The place of a game that is not of this package follows: a
    certificate holds only the name of its game."""

    def __post_init__(self) -> None:
        if not self.certificates:
            raise InputError("certificates must be one file at least, got none")

    @property
    def game(self) -> str | None:
        """The place of the game, the last word, if it reads like one and is no file."""
        last = self.words[-1] if self.words else ""
        where, _, name = last.rpartition(":")
        reads_like_one = where == "gym" or (where and name.isidentifier())
        return last if reads_like_one and not Path(last).exists() else None

    @property
    def certificates(self) -> list[Path]:
        """The certificates, folders and archives."""
        return [Path(word) for word in self.words if word != self.game]


def _files(places: Iterable[Path]) -> Iterator[tuple[Path, Path]]:
    """List the certificates at some places, each with its name for people."""
    for place in places:
        folder = place.is_dir()
        archive = place / "certificates.zip" if folder else place
        if archive.suffix == ".zip" and zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as found:
                yield from ((archive / name, archive / name) for name in found.namelist())
        else:
            yield place, place / "certificate.npz" if folder else place


def run_verify(options: VerifyConfig) -> int:
    """Check every certificate, even after one that does not hold or cannot be read."""
    code, found = 0, []
    rules = None if options.game is None else find_game(options.game)  # which registers it
    for path, file in _files(options.certificates):
        wrong = ""
        try:
            with shown_progress():
                score = verify(file)
            if rules is not None and type(score.task.game) is not rules:
                raise CertificateError(
                    f"{printable(str(path))} must be of {rules.__name__}, got one of "
                    f"{printable(score.task.game.name)}"
                )
        except CertificateError as error:
            code = max(code, 2 if isinstance(error, UnreadableError) else 1)
            wrong = str(error)
        except OSError as error:
            code = 2
            wrong = f"{printable(str(file))} must be a certificate that can be read: "
            wrong += error.strerror or ""
        if wrong:
            print(f"error: {wrong}", file=sys.stderr)
            found.append({"file": str(path), "holds": False, "error": wrong})
        elif options.json:
            figures = {name: getattr(score, name) for name in KEPT}
            found.append({"file": str(path), "holds": True, "task": score.task.words, **figures})
        else:
            print(
                f"{printable(str(path))}: holds, value {score.value:.9f}, "
                f"optimum {score.optimum:.9f}, regret {score.regret:.9f}, "
                f"normalised score {score.normalized:.6f}: "
                f"{printable(score.policy)} in {printable(score.task.words)}"
            )
    if options.json:
        print_json(found)
    return code

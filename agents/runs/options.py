"""Options that several commands share: a game with its keywords, an algorithm, a policy."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import tyro

from ...baselines import Score, Task, is_policy_name, make_task, policy_names, score
from ...baselines.policies.door import is_path
from ...baselines.scoring.certificate import task_of
from ...core import GAMES, InputError
from ...core.words import meant
from ...envs import GameEnv, find_game
from ...games import DEFAULT_GAME
from ..algorithms import ALGORITHMS
from ..tracks import TRACKS

_GAMES = tyro.conf.arg(metavar="{" + ",".join([*GAMES, "FILE.py:CLASS", "MODULE:CLASS"]) + "}")
#: A name in ``GAMES``, which the command line lists, or the place of a game's class.
GameName = Annotated[str, _GAMES]
#: The same as a word of the command line that may be left out.
GameWord = tyro.conf.Positional[Annotated[str | None, _GAMES]]
#: A name in ``ALGORITHMS``, which the command line lists.
AlgorithmName = Annotated[str, tyro.conf.arg(metavar="{" + ",".join(ALGORITHMS) + "}")]
#: A name in ``TRACKS``, which the command line lists.
TrackName = Annotated[str, tyro.conf.arg(metavar="{" + ",".join(TRACKS) + "}")]
#: The algorithms in words, for the help of the command line.
ALGORITHMS_IN_WORDS = ", ".join(
    f"{name} ({known.title}, {'with' if known.masked else 'without'} masks)"
    for name, known in ALGORITHMS.items()
)

#: Words of the command line that stand for values of other types than text and integer.
LITERALS = {"true": True, "false": False, "none": None}


def whole_or_text(word: str) -> int | str:
    """Read a word of the command line as an integer, if it is one."""
    try:
        return int(word)
    except ValueError:
        return word


def _pairs(option: str, value: Callable[[str], Any], words: list[str]) -> dict[str, Any]:
    """Make a mapping from words that alternate between names and values."""
    names = words[::2]
    if len(words) % 2:
        raise InputError(f"{option} must be pairs of a name and a value, got {' '.join(words)}")
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise InputError(f"{option} must give each name once, got {', '.join(twice)} again")
    return dict(zip(names, map(value, words[1::2]), strict=True))


def _pairs_of(option: str, value: Callable[[str], Any]) -> Any:
    """Return the specification by which tyro reads an option with ``_pairs``."""
    return tyro.constructors.PrimitiveConstructorSpec(
        nargs="*",
        metavar="[NAME VALUE ...]",
        instance_from_str=partial(_pairs, option, value),
        is_instance=lambda given: isinstance(given, dict),
        str_from_instance=lambda given: [str(word) for pair in given.items() for word in pair],
    )


#: Options that are pairs of words: keyword arguments of an environment, hyperparameters in YAML.
Keywords = Annotated[dict[str, int | str], _pairs_of("env", whole_or_text)]
Changes = Annotated[dict[str, str], _pairs_of("hyperparams", str)]


def task_from_options(game: str, env: dict[str, int | str]) -> Task:
    """Build a task from a game's name or place, and keywords with values of the command line.

    Raises:
        ValueError: if the game or a keyword is unknown, or a value out of range.
    """
    return make_task(find_game(game).name, **_read_values(env))


def environment_from_options(game: str, env: dict[str, int | str]) -> GameEnv:
    """Build an environment, with its encoding and its reward among the keywords.

    Raises:
        ValueError: as ``task_from_options`` does, or if the encoding or the reward is unknown.
    """
    name, keywords = find_game(game).name, _read_values(env)
    shown = {key: keywords.pop(key) for key in ("encoding", "reward") if key in keywords}
    make_task(name, **keywords)  # which refuses what is no keyword of the game
    return GameEnv(name, **shown, **keywords)


def task_of_agents(words: Iterable[str], game: str | None, env: dict[str, int | str]) -> Task:
    """Build the task of agents by their words: that of a certificate, changed by the options.

    Raises:
        InputError: as for ``task_from_options``, or if a certificate is damaged.
    """
    name = None if game is None else find_game(game).name  # which registers it
    files = [Path(word) for word in words if Path(word).suffix == ".npz" and Path(word).is_file()]
    for own in map(task_of, files[:1]):
        if name in (None, own.game.name):
            known = {**own.game.keywords, "seat": own.seat, **own.opponent_keywords}
            name, env = own.game.name, {**known, **env}
    return task_from_options(name or DEFAULT_GAME, env)


def _read_values(env: dict[str, int | str]) -> dict[str, Any]:
    """Give words of the command line the types that they stand for."""
    return {
        name: LITERALS.get(value.lower(), value) if isinstance(value, str) else value
        for name, value in env.items()
    }


def policy_from_word(word: str, task: Task) -> str | Path:
    """Give the policy of a word of the command line that is no run folder: a name or a file.

    Raises:
        InputError: if it is neither.
    """
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
class PolicyOptions:
    """The options by which a command names a policy.

    Attributes:
        policy: a run folder, a certificate, a saved model, or the name of a policy.
        game: the game of a policy that is not a run; None for the default game.
        env: keyword arguments of that game.
        model: the model of a run, "final" or "best"; None for the final model.
        stochastic: whether a model draws its actions from its probabilities.
    """

    policy: str
    game: str | None = None
    env: Mapping[str, int | str] = field(default_factory=dict)
    model: str | None = None
    stochastic: bool = False

    @property
    def is_run(self) -> bool:
        """Whether the policy is a run folder."""
        return Path(self.policy).is_dir()

    def score(self, name: str | None = None) -> Score:
        """Score the policy exactly.

        Args:
            name: name of the policy in the score; by default its own name.

        Raises:
            InputError: if there is no such policy, or an option has no effect on it.
        """
        return self._score_run(name) if self.is_run else self._score_policy(name)

    def _score_run(self, name: str | None) -> Score:
        self.refuse("a policy by name", game=self.game, env=self.env)
        import torch

        from .folders import load_model

        torch.set_num_threads(1)  # more threads slow small networks down
        model, env = load_model(Path(self.policy), self.model or "final")
        return score(model, env, deterministic=not self.stochastic, name=name)

    def _score_policy(self, name: str | None) -> Score:
        task = task_of_agents([self.policy], self.game, dict(self.env))
        policy = policy_from_word(self.policy, task)
        self.refuse("a run folder", model=self.model)
        if isinstance(policy, str):
            self.refuse("a model", stochastic=self.stochastic)
        return score(policy, task, deterministic=not self.stochastic, name=name)

    @staticmethod
    def refuse(what: str, **options: Any) -> None:
        """Refuse options that were given although they are for ``what`` only.

        Raises:
            InputError: naming the option.
        """
        for option, given in options.items():
            if given:
                raise InputError(f"{option} must be left out: only {what} has it")

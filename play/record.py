"""Records of games: options, seed and moves, from which the same game is played again."""

import inspect
import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict, field, fields, replace
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlencode

from pydantic import Field

from ..agents.runs.folders import read_config
from ..agents.runs.options import checked, task_from_options
from ..baselines import Task, is_policy_name
from ..baselines.scoring.certificate import is_certificate, task_of
from ..core import InputError, WriteError, write_file
from ..core.words import YOU, printable, typed
from ..envs import find_game, full_place
from ..games import DEFAULT_GAME
from .levels import PERSON, check_player, policy_of
from .session import Session

KIND = "exactdice play"  # marks the files of saved games
SEEDS = 2**32  # number of seeds
Seed = Annotated[int, Field(ge=0, lt=SEEDS)]


@checked
class GameRecord:
    """The options, seed and moves of a game."""

    game: str = DEFAULT_GAME  # name or place of the game
    # Keyword arguments of its environment, as parsed from the command line.
    env: Mapping[str, Any] = field(default_factory=dict)
    # Policy or level of the other players, several with commas; "person" if they are persons at the
    # same screen; None for the game's default.
    against: str | None = None
    seed: Seed = 0  # seed of all random draws
    coach: bool = False  # whether the coach comments on moves
    actions: Annotated[tuple[int, ...], Field(strict=False)] = ()  # moves so far; a list in JSON

    def __post_init__(self) -> None:
        """Make the path of a game's file absolute."""
        find_game(self.game)
        object.__setattr__(self, "game", full_place(self.game))
        if self.against is not None:
            object.__setattr__(self, "against", policy_of(self.against))

    @property
    def together(self) -> bool:
        """Whether all players are persons."""
        return self.against == PERSON.name

    @cached_property
    def task(self) -> Task:
        """The decision process of the person."""
        keyword = (game := find_game(self.game)).opponent_keyword
        if self.against is None or self.together:
            return task_from_options(self.game, dict(self.env))
        if keyword in self.env:
            raise InputError(f"against must be left out, as env gives {keyword}")
        check_player(game, self.against, "against")
        return task_from_options(self.game, {**self.env, keyword: self.against})

    def session(self, called: str = YOU) -> Session:
        """Start a session and play the recorded moves."""
        task = self.task
        try:
            return Session(task, self.seed, self.actions, together=self.together, called=called)
        except InputError as error:
            raise InputError(f"a saved game must have legal moves: {error}") from None

    @property
    def command(self) -> str:
        """The command that starts the same game."""
        words = ["exactdice", "play", self.game]
        if self.env:
            words += ["--env", *(str(word) for pair in self.env.items() for word in pair)]
        if self.against is not None:
            words += ["--against", self.against]
        words += ["--seed", str(self.seed), *(["--coach"] if self.coach else [])]
        return printable(typed(words))

    @property
    def text(self) -> str:
        """The text of the game's file, which ``read_record`` reads."""
        return json.dumps({"kind": KIND, **asdict(self._anywhere())}) + "\n"

    @property
    def link(self) -> str:
        """The game, its options, seed and moves, as the part of an address behind the #."""
        env = dict(self.env)
        against = self.against or env.pop(find_game(self.game).opponent_keyword, None)
        moves = ".".join(map(str, self.actions))
        known = {"game": find_game(self.game).name, "against": against, **env}
        known |= {"seed": self.seed, "moves": moves or None}
        return urlencode({name: value for name, value in known.items() if value is not None})

    @property
    def practise(self) -> str:
        """The puzzles of the person's own games, as the part of an address behind the #."""
        kind = find_game(self.game)
        sizes = inspect.signature(kind).parameters
        env = {name: value for name, value in self.env.items() if name in sizes}
        return urlencode({"game": kind.name, "of": "own", "level": "any", **env})

    def after(self, session: Session) -> "GameRecord":
        """Return a record of the moves of a session, with the options of this record."""
        return replace(self, seed=session.seed, actions=tuple(session.actions))

    def write(self, path: Path, advice: str = "") -> None:
        """Save the game (see ``write_file``); an error ends with the advice."""
        try:
            write_file(path, self.text.encode())
        except WriteError as error:
            raise WriteError(f"{error}{advice}") from None

    def _anywhere(self) -> "GameRecord":
        """Return a copy with absolute paths of policies, to be read from any folder."""
        if self.against is None:
            return self
        game: Any = find_game(self.game)
        several = game.opponent_keyword == "opponents"
        places = (
            word if is_policy_name(game, word) or not Path(word).exists() else Path(word).resolve()
            for word in (self.against.split(",") if several else [self.against])
        )
        return replace(self, against=",".join(map(str, places)))


def new_seed() -> int:
    """Draw a seed of at most six digits, which is quick to type."""
    return secrets.randbelow(10**6)


def read_record(path: Path) -> GameRecord:
    """Read a saved game."""
    text = path.read_bytes()
    try:
        content = json.loads(text)
        if not isinstance(content, dict) or content.pop("kind", None) != KIND:
            raise InputError("something else")
        if missing := [one.name for one in fields(GameRecord) if one.name not in content]:
            raise InputError(f"no {missing[0]}")
        return GameRecord(**content)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        said = printable(" ".join(str(error).split()), 200)
        raise InputError(
            f"{printable(str(path))} must be a game that exactdice play saved, got: {said}"
        ) from None


def options_of(place: Path) -> tuple[str, Mapping[str, Any]] | None:
    """Return the game and the keywords of a training run or a certificate; None of others."""
    if is_certificate(place):
        game = task_of(place).game
        return game.name, game.keywords
    if not (place / "config.json").is_file():
        return None
    config = read_config(place)
    sizes = inspect.signature(find_game(config.game)).parameters
    given = config.hyperparameters.env_kwargs.items()
    return config.game, {name: value for name, value in given if name in sizes}


def free_path(record: GameRecord) -> Path:
    """Return an unused file name in the current folder."""
    name = f"exactdice-{find_game(record.game).name}"
    paths = (Path(f"{name}{'' if number == 1 else f'-{number}'}.json") for number in count(1))
    return next(path for path in paths if not path.exists())

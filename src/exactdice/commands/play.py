"""``exactdice play``: play a game in the terminal or in the browser."""

import os
from dataclasses import dataclass, field
from pathlib import Path

from ..agents.runs.options import GameWord, Keywords
from ..core import InputError
from ..exit_codes import INTERRUPTED
from ..games import DEFAULT_GAME
from ..play.record import GameRecord, new_seed, options_of_run, read_record


@dataclass(frozen=True)
class PlayConfig:
    """Play a game against any policy, in the terminal or in the browser."""

    game: GameWord = None
    """Game to play. Default: the game of the run given by --against, else Greed."""

    env: Keywords = field(default_factory=dict)
    """Keyword arguments of the environment, such as --env max_score 50 seat 1 (moving second)."""

    against: str | None = None
    """Policy of the other players: a name such as random, a run folder, a certificate or a saved
    model; one for each opponent if separated by commas. Default: the default of the game."""

    seed: int | None = None
    """Seed of all dice: the same moves with the same seed give the same game. Default: a random
    seed, which is printed."""

    coach: bool = False
    """Print after each move its value, the best move and the difference; at the end, split the
    result into skill and luck."""

    save: Path | None = None
    """File to save in; it must not exist, and is removed when the game is over. Default:
    exactdice-<game>.json in the current folder."""

    resume: Path | None = None
    """Saved game to resume; it keeps its own options."""

    web: bool = False
    """Play in the browser, served to this machine alone."""

    port: int = 8421
    """Port for the browser."""

    def __post_init__(self) -> None:
        """Check that the options go together."""
        if self.resume is not None:
            for name in ("game", "env", "against", "seed"):
                if getattr(self, name) not in (None, {}):
                    raise InputError(f"{name} must be left out, as a saved game has its own")
        if self.save is not None and os.path.lexists(self.save):
            raise InputError(f"save must be a file that does not exist, got {self.save}")
        if self.save is not None and not self.save.parent.is_dir():
            raise InputError(f"save must be in a folder that exists, got {self.save}")
        if self.web and self.save is not None:
            raise InputError("save must be left out, as the browser keeps its games")
        if not 0 < self.port < 2**16:
            raise InputError(f"port must be from 1 to {2**16 - 1}, got {self.port}")


def run(options: PlayConfig) -> int:
    """Play a new or a saved game."""
    record = _record(options)
    if options.web:
        from ..play.web import serve

        serve(record, options.port)
        return 0
    from ..play.terminal import play

    return 0 if play(record, options.save or options.resume) else INTERRUPTED


def _record(options: PlayConfig) -> GameRecord:
    """Return the saved game to resume, or a new game; a run as opponent brings its own game."""
    if options.resume is not None:
        return read_record(options.resume, coach=options.coach)
    seed = new_seed() if options.seed is None else options.seed
    game, env = options.game, options.env
    if game is None and options.against and Path(options.against, "config.json").is_file():
        game, sizes = options_of_run(Path(options.against))
        env = sizes | env
    game = DEFAULT_GAME if game is None else game
    return GameRecord(game, env, options.against, seed, options.coach)

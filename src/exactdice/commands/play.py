"""``exactdice play``: play a game in the terminal or in the browser."""

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Literal

import tyro

from ..agents.runs.options import GameWord, Keywords
from ..core import InputError
from ..games import DEFAULT_GAME
from ..play.record import GameRecord, new_seed, options_of, read_record


@dataclass(frozen=True)
class PlayConfig:
    """Play a game against any policy, in the terminal or in the browser."""

    game: GameWord = None
    """Game to play. Default: that of the run or certificate given by --against, else Greed."""

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
    """Play in the browser; the page is served to this machine alone, unless --host says more."""

    puzzles: Annotated[
        Literal["easy", "medium", "hard", "any", "day"] | None, tyro.conf.arg(metavar="LEVEL")
    ] = None
    """Find the best move in positions that a player gets wrong, the player of --against or the
    game's usual one; own stands for your own games. LEVEL: easy, medium, hard, any, or day for
    the puzzle of the day."""

    statistics: bool = False
    """Show the statistics of your games."""

    watch: str | None = None
    """Watch this policy play in your seat: a name, a run folder, a certificate or a saved model."""

    port: int = 8421
    """Port for the browser."""

    host: str = "127.0.0.1"
    """Address to serve to. 0.0.0.0 lets a phone in the same network open the page: by a link with a
    secret, and a QR code."""

    def __post_init__(self) -> None:
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
        if self.watch is not None and (self.puzzles or self.resume):
            raise InputError("watch must be left out where puzzles are asked or a game is resumed")
        if not 0 < self.port < 2**16:
            raise InputError(f"port must be from 1 to {2**16 - 1}, got {self.port}")


def run_play(options: PlayConfig) -> None:
    """Play a new or a saved game."""
    from ..play.terminal import play, practise, tell_statistics, watch

    if options.statistics and not options.web:
        tell_statistics()
        return
    record = _record(options)
    if options.web:
        from ..play.web import serve

        page = "/statistics" if options.statistics else "/"
        page = f"/puzzles#level={options.puzzles}" if options.puzzles else page
        serve(record, options.port, page, options.watch, options.host)
    elif options.puzzles:
        practise(record, options.puzzles)
    elif options.watch is not None:
        watch(record, options.watch)
    else:
        play(record, options.save or options.resume)


def _record(options: PlayConfig) -> GameRecord:
    """Return the saved game to resume, or a new game; a run or certificate brings its own game."""
    if options.resume is not None:
        saved = read_record(options.resume)
        return replace(saved, coach=saved.coach or options.coach)
    seed = new_seed() if options.seed is None else options.seed
    game, env = options.game, options.env
    for word in filter(None, (options.watch, options.against)):
        if game is None and (known := options_of(Path(word))):
            game, env = known[0], {**known[1], **env}
    game = DEFAULT_GAME if game is None else game
    return GameRecord(game, env, options.against, seed, options.coach)

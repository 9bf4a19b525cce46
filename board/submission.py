"""``submit`` makes an entry of the public board from a benchmark's runs or from certificates."""

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from ..agents.algorithms import ALGORITHMS
from ..baselines.scoring.certificate import content_of
from ..core import InputError, make_folder, one_of, write_file
from .admission import Verified, verify_all
from .entry import CARD, Card, cell_of, make_card, read_entry
from .leaderboard import board_of
from .results import Run, certificate_of, read_runs
from .tracks import OPEN


def submit(place: Path, said: Mapping[str, Any], folder: Path | None, processes: int) -> Verified:
    """Make an entry in a new folder, and verify it as the board will.

    The place is a benchmark's folder, or a folder of certificates such as Greed-0.npz. The author
    has said fields of the card; track, moves and seconds are left to runs, which know them.
    """
    if not place.is_dir():
        raise InputError(f"place must be a folder, got {place}")
    runs = read_runs(place)
    if runs:
        values, certificates = _from_runs(place, runs, said)
    else:
        values, certificates = _from_certificates(place, said)
    made_by = {"exactdice": version("exactdice"), "hardware": "not said"}
    card = make_card({**made_by, **said, **values})
    if folder is None:  # named after the track and the title
        signs = "".join(sign if sign.isascii() and sign.isalnum() else " " for sign in card.title)
        folder = Path("benchmarks/entries", "-".join([card.track, *signs.lower().split()])[:80])
    return _make(folder, card, certificates, processes)


def _make(
    folder: Path, card: Card, certificates: Mapping[tuple[str, int], Path], processes: int
) -> Verified:
    """Build an entry in a temporary folder beside its place, verify it, and move it there."""
    if folder.exists():
        raise InputError(f"folder must not exist, got {folder}")
    make_folder(folder.parent)
    with tempfile.TemporaryDirectory(prefix=".", dir=folder.parent) as beside:
        made = Path(beside, folder.name)
        made.mkdir()
        write_file(made / CARD, (card.model_dump_json(indent=2) + "\n").encode())
        for (game, seed), path in certificates.items():
            try:
                content = content_of(path)
            except OSError as error:
                reason = error.strerror
                raise InputError(f"{path} must be a file that can be read, got: {reason}") from None
            write_file(made / f"{game}-{seed}.npz", content)
        try:
            entry = read_entry(made)
        except InputError as error:
            raise InputError(f"{folder}: {error}") from None
        (found,) = verify_all([entry], processes).values()
        if isinstance(found, str):
            raise InputError(f"certificates must hold: {found}")
        shutil.move(made, folder)
    return replace(found, folder=folder)


def _from_certificates(
    place: Path, said: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[tuple[str, int], Path]]:
    """Return the card's values and the certificates of a folder without runs."""
    for name in ("algorithm", "track", "moves", "seconds"):
        if name not in said:
            raise InputError(f"{name} must be given for certificates, got none in {place}")
    track = OPEN[one_of("track", said["track"], tuple(OPEN))]
    cells = {}
    for path in sorted(place.glob("*.npz")):
        cell = cell_of(path.name)
        if cell is None:
            raise InputError(f"certificates must be named such as Greed-0.npz, got {path}")
        cells[cell] = path
    if not cells:
        raise InputError(
            f"place must hold a benchmark's runs, or certificates such as Greed-0.npz, got {place}"
        )
    return {"version": track.version}, cells


def _from_runs(
    place: Path, runs: Sequence[Run], said: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[tuple[str, int], Path]]:
    """Return the card's values, from a benchmark's runs, and their certificates."""
    for name in ("track", "moves", "seconds"):
        if name in said:
            raise InputError(f"{name} must be left to the runs, got {said[name]}")
    names = sorted({run.algorithm for run in runs})
    if "algorithm" not in said and len(names) > 1:
        raise InputError(f"algorithm must be one of {', '.join(names)}, got none")
    algorithm = one_of("algorithm", said.get("algorithm", names[0]), names)
    own = [run for run in runs if run.algorithm == algorithm]
    board = board_of(own, place)
    track = None if board.track is None else OPEN.get(board.track.name)
    for run in own:
        if track is None or run not in board.runs:
            raise InputError(
                f"runs must be of one track ({', '.join(OPEN)}) and its games, with their default "
                f"keywords, got {run.game} of {run.track or 'no track'} in {run.name}"
            )
    values = {
        "algorithm": ALGORITHMS[algorithm].title,
        "track": own[0].track,
        "version": own[0].version,
        "moves": max(run.steps for run in own),
        "seconds": float(np.mean([run.seconds for run in own])),
    }
    return values, {(run.game, run.seed): certificate_of(place, run.name) for run in own}

"""``submit`` makes an entry of the public board from a benchmark's runs or from certificates."""

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...baselines.scoring.certificate_file import content_of
from ...core import InputError, make_folder, one_of, write_file
from ..algorithms import ALGORITHMS
from ..board.results import Run, certificate_of, read_runs
from ..tracks import OPEN
from .admission import Verified, verify_all
from .card import NAME, Card, make_card, write_card
from .layout import CERTIFICATE, EntryError, check_cells, read_entry


@dataclass(frozen=True)
class Claims:
    """The claims of the author; None for what is read from run folders."""

    title: str
    link: str
    algorithm: str | None = None
    track: str | None = None
    moves: int | None = None
    seconds: float | None = None
    hardware: str = "not said"


def submit(place: Path, claims: Claims, folder: Path | None, processes: int) -> Verified:
    """Make an entry, and verify it as the board will.

    Args:
        place: a benchmark's folder, or a folder of certificates such as Greed-0.npz.
        claims: the author's statements for the card.
        folder: the folder of the entry, which must not exist; by default one in ``entries``.
        processes: number of certificates that are verified at the same time.

    Raises:
        InputError: naming the file or value that is missing, not of the track, or invalid.
    """
    if not place.is_dir():
        raise InputError(f"place must be a folder, got {place}")
    said = {name: value for name, value in vars(claims).items() if value is not None}
    runs = read_runs(place)
    if runs:
        values, certificates = _from_runs(place, runs, claims)
    else:
        values, certificates = _from_certificates(place, claims)
    card = make_card({**said, **values})
    check_cells(certificates, OPEN[card.track])
    return _make(folder or Path("entries", _name_of(card)), card, certificates, processes)


def _name_of(card: Card) -> str:
    """Return the folder's name for a card, made of the track and the title."""
    signs = "".join(sign if sign.isascii() and sign.isalnum() else " " for sign in card.title)
    return "-".join([card.track, *signs.lower().split()])[:80]


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
        write_card(made / NAME, card)
        for (game, seed), path in certificates.items():
            write_file(made / f"{game}-{seed}.npz", content_of(path))
        try:
            entry = read_entry(made)
        except EntryError as error:
            raise InputError(f"entry {folder.name} {error}") from None
        (found,) = verify_all([entry], processes)
        if isinstance(found, str):
            raise InputError(f"certificates must hold: {found}")
        shutil.move(made, folder)
    return replace(found, entry=replace(entry, folder=folder))


def _from_certificates(
    place: Path, claims: Claims
) -> tuple[dict[str, Any], dict[tuple[str, int], Path]]:
    """Return the card's values and the certificates of a folder without runs.

    The author must state every value that the certificates do not contain.
    """
    for name in ("algorithm", "track", "moves", "seconds"):
        if getattr(claims, name) is None:
            raise InputError(f"{name} must be given for certificates, got none in {place}")
    one_of("track", claims.track, tuple(OPEN))
    cells = {}
    for path in sorted(place.glob("*.npz")):
        match = CERTIFICATE.fullmatch(path.name)
        if match is None:
            raise InputError(f"certificates must be named such as Greed-0.npz, got {path}")
        cells[match[1], int(match[2])] = path
    if not cells:
        raise InputError(
            f"place must hold run folders, or certificates such as Greed-0.npz, got {place}"
        )
    return {"version": OPEN[claims.track or ""].version}, cells


def _from_runs(
    place: Path, runs: Sequence[Run], claims: Claims
) -> tuple[dict[str, Any], dict[tuple[str, int], Path]]:
    """Return the card's values, from a benchmark's runs, and their certificates."""
    for name in ("track", "moves", "seconds"):
        if getattr(claims, name) is not None:
            raise InputError(f"{name} must be left to the runs, got {getattr(claims, name)}")
    names = sorted({run.algorithm for run in runs})
    if claims.algorithm is None and len(names) > 1:
        raise InputError(f"algorithm must be one of {', '.join(names)}, got none")
    algorithm = one_of("algorithm", claims.algorithm or names[0], names)
    own = [run for run in runs if run.algorithm == algorithm]
    track = next((run.track for run in own if run.track is not None), None)
    cells: dict[tuple[str, int], Path] = {}
    for run in own:
        _check_run(run, track)
        if run.version != own[0].version:
            raise InputError(f"runs must be of one version of {track}, got another in {run.name}")
        known = cells.setdefault((run.game, run.seed), certificate_of(place, run.name))
        if known != certificate_of(place, run.name):
            raise InputError(f"runs must be of different seeds, got {known} and {run.name}")
    values = {
        "algorithm": ALGORITHMS[algorithm].title,
        "track": track,
        "version": own[0].version,
        "moves": max(run.steps for run in own),
        "seconds": float(np.mean([run.seconds for run in own])),
    }
    return values, cells


def _check_run(run: Run, track: str | None) -> None:
    """Raise an error unless a run is one of a track.

    Raises:
        InputError: naming the run.
    """
    games = OPEN[track].games if track is not None and track in OPEN else ()
    wanted = {
        "have the reward outcome": (run.reward == "outcome", f"the reward {run.reward}"),
        f"be of one track ({', '.join(OPEN)})": (track in OPEN and run.track == track, run.track),
        f"be of the games {', '.join(games)}, with their default keywords": (
            run.game in games,
            run.game,
        ),
    }
    for must, (holds, got) in wanted.items():
        if not holds:
            raise InputError(f"runs must {must}, got {got or 'none'} in {run.name}")

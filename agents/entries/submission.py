"""``submit`` makes an entry of the public board from a benchmark's runs or from certificates."""

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ...baselines import make_task
from ...core import InputError, make_folder, one_of, write_file
from ..algorithms import ALGORITHMS
from ..tracks import OPEN
from .admission import Verified, verify_all
from .card import NAME, Card, make_card, write_card
from .layout import CERTIFICATE, EntryError, check_cells, read_entry

if TYPE_CHECKING:
    from ..runs.config import TrainConfig


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
    if any(place.glob("*/config.json")):
        values, certificates = _from_runs(place, claims)
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
            write_file(made / f"{game}-{seed}.npz", path.read_bytes())
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


def _from_runs(place: Path, claims: Claims) -> tuple[dict[str, Any], dict[tuple[str, int], Path]]:
    """Return the card's values, read from a benchmark's runs, and the runs' certificates."""
    from ..runs import folders  # needs stable-baselines3

    for name in ("track", "moves", "seconds"):
        if getattr(claims, name) is not None:
            raise InputError(f"{name} must be left to the runs, got {getattr(claims, name)}")
    paths = sorted(path.parent for path in place.glob("*/config.json"))
    configs = {path: folders.read_config(path) for path in paths}
    names = sorted({config.algorithm for config in configs.values()})
    if claims.algorithm is None and len(names) > 1:
        raise InputError(f"algorithm must be one of {', '.join(names)}, got none")
    algorithm = claims.algorithm or names[0]
    if algorithm not in names:
        raise InputError(f"algorithm must be one of {', '.join(names)}, got {algorithm}")
    own = {path: config for path, config in configs.items() if config.algorithm == algorithm}
    track = next((config.track for config in own.values() if config.track is not None), None)
    for path, config in own.items():
        _check_run(path, config, track)
    scores = [folders.read_score(path) for path in own]
    values = {
        "algorithm": ALGORITHMS[algorithm].title,
        "track": track,
        "version": scores[0].get("track_version"),
        "moves": max(score["steps"] for score in scores),
        "seconds": float(np.mean([score["seconds"] for score in scores])),
    }
    for path, score in zip(own, scores, strict=True):
        if score.get("track_version") != values["version"]:
            raise InputError(f"runs must be of one version of {track}, got another in {path}")
    cells: dict[tuple[str, int], Path] = {}
    for path, config in own.items():
        cell = config.game_name, config.seed
        if cell in cells:
            raise InputError(
                f"runs must be of different seeds, got {cells[cell].parent} and {path}"
            )
        cells[cell] = path / "certificate.npz"
    return values, cells


def _check_run(path: Path, config: "TrainConfig", track: str | None) -> None:
    """Raise an error unless a run is a finished run of a track.

    Raises:
        InputError: naming the run.
    """
    from ..board.tables import task_of

    def refuse(must: str, got: str) -> NoReturn:
        raise InputError(f"runs must {must}, got {got} in {path}")

    if config.reward != "outcome":
        refuse("have the reward outcome", f"the reward {config.reward}")
    if track is None or track not in OPEN or config.track != track:
        refuse(f"be of one track ({', '.join(OPEN)})", f"{config.track or 'none'}")
    games = OPEN[track].games
    if config.game_name not in games:
        refuse(f"be of the games {', '.join(games)}", config.game_name)
    if task_of(config) != make_task(config.game_name):
        refuse(f"be of {config.game_name} with its default keywords", "others")
    if not all((path / name).is_file() for name in ("score.json", "certificate.npz")):
        refuse("be finished (call exactdice benchmark again)", "no score")

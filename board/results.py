"""The results of a benchmark: three files that hold all that boards, pages and entries need.

    results.csv       a row for each finished run, with all digits (``Run``)
    curves.csv        the exact scores of each run during its training
    certificates.zip  the certificate of each run, as <run>.npz

A folder may have run folders, too: they hold the models, and runs that are not in the files yet.
``read_runs`` reads both, and ``write_runs`` writes the files of all runs.
"""

import csv
import io
import json
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter

from ..agents.algorithms import ALGORITHMS, agent_name
from ..agents.runs import folders
from ..agents.runs.config import TrainConfig
from ..agents.runs.folders import RESULTS
from ..agents.runs.hyperparameters import trials, tuned
from ..agents.runs.options import task_from_options
from ..baselines import Task, make_task
from ..baselines.scoring.certificate import content_of
from ..core import GAMES, InputError, Table, write_file
from ..envs import find_game
from .strata import area
from .tracks import TRACKS

CURVES, CERTIFICATES = "curves.csv", "certificates.zip"


@dataclass(frozen=True)
class Run:
    """A finished training run: a row of ``results.csv``."""

    name: str  # its own, which its folder has, and its certificate in the archive
    game: str  # with the keywords if they differ from those of its track
    place: str  # name of the game, or the place of a class of your own
    keywords: str  # of its task, as JSON
    algorithm: str  # its name in ``ALGORITHMS``
    reward: str  # the reward mode of its training
    track: str | None
    version: int | None  # of the track
    seed: int  # of its training
    value: float  # see ``Score``, as for the next five
    optimum: float
    random: float
    regret: float
    normalized: float
    flawless: float | None
    steps: int  # number of moves
    seconds: float  # of the run, its exact scores included
    trials: int | None  # of the search for its hyperparameters (see ``trials_of``)
    hyperparameters: str  # those that are not null and the encoding, as JSON
    exploitability: float | None = None  # on a track of self-play, as the next five
    normalized_exploitability: float | None = None  # see ``SelfPlayScore.normalized``
    guaranteed_0: float | None = None  # values of the seats against a best response
    guaranteed_1: float | None = None
    equilibrium_0: float | None = None  # values of the seats in equilibrium
    equilibrium_1: float | None = None
    moves: tuple[int, ...] = ()  # before each exact score of its training, in ``curves.csv``
    scores: tuple[float, ...] = ()  # these scores, normalised

    @property
    def agent(self) -> str:
        """The name of its algorithm, with the reward unless it is the outcome."""
        return agent_name(self.algorithm, self.reward)

    @property
    def score(self) -> float:
        """The score by which runs are ranked: 1 for the optimum, 0 for random play."""
        found = self.normalized_exploitability
        return self.normalized if found is None else found

    @property
    def colour(self) -> int:
        """Colour of its algorithm in all charts, as an index into those of ``look.charts``."""
        return list(ALGORITHMS).index(self.algorithm)

    @property
    def curve(self) -> tuple[Sequence[int], Sequence[float]]:
        """The moves and the scores of its curve; on a track those at the marks."""
        if self.track is None:
            return self.moves, self.scores
        track = TRACKS[self.track]
        return track.marks, track.at_marks(self.moves, np.array(self.scores))

    @property
    def area(self) -> float:
        """The mean height of its curve over the logarithm of the moves (see ``statistics``)."""
        moves, scores = self.curve
        return area(moves, np.array(scores))

    def moves_to(self, least: float) -> int | None:
        """Return the moves until its score is ``least``; None if it never is."""
        return next(
            (moves for moves, score in zip(*self.curve, strict=True) if score >= least), None
        )

    @cached_property
    def env(self) -> dict[str, Any]:
        """The keywords of its task."""
        return json.loads(self.keywords)

    @property
    def task(self) -> Task:
        """The task on which its agent is scored."""
        return task_from_options(self.place, self.env)

    @property
    def order(self) -> tuple[Any, ...]:
        """Place among runs of one game: by keywords, algorithm, reward, seed and name."""
        sizes = [
            (name, value if isinstance(value, int) else 0, str(value))
            for name, value in sorted(self.env.items())
        ]
        return sizes, list(ALGORITHMS).index(self.algorithm), self.agent, self.seed, self.name


def read_runs(folder: Path) -> list[Run]:
    """Read the finished runs of a benchmark, by game, size, algorithm and seed."""
    runs = {run.name: run for run in read_results(folder)}
    runs |= {path.parent.name: _read_folder(path.parent) for path in folder.glob("*/score.json")}
    places = {run.place: find_game(run.place).name for run in runs.values()}
    games = [*GAMES, *sorted({*places.values()} - {*GAMES})]
    return sorted(runs.values(), key=lambda run: (games.index(places[run.place]), run.order))


def read_results(folder: Path) -> list[Run]:
    """Read ``results.csv`` and the curves of its runs; no runs if there are no files."""
    if not (folder / RESULTS).is_file():
        return []
    curves: dict[str, list[tuple[str, str]]] = {}
    with folders.reading(folder / CURVES, "have the curves of a benchmark"):
        for line in lines_of(folder / CURVES):
            curves.setdefault(line["run"], []).append((line["moves"], line["score"]))
    row, runs = TypeAdapter(Run), []
    with folders.reading(folder / RESULTS, f"have runs with curves in {CURVES}"):
        for line in lines_of(folder / RESULTS):
            moves, scores = zip(*curves[line["name"]], strict=True)
            known = {name: text or None for name, text in line.items()}
            runs.append(row.validate_python({**known, "moves": moves, "scores": scores}))
    return runs


def lines_of(path: Path) -> list[dict[str, str]]:
    """Read the rows of a CSV file, by the names of its columns."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _read_folder(folder: Path) -> Run:
    config, found = folders.read_config(folder), folders.read_score(folder)
    log = folders.exact_part(folders.read_log(folder))
    numbers: dict[str, Any] = {name: found[name] for name in folders.NUMBERS}
    track = TRACKS.get(config.track or "")
    with folders.reading(folder / "score.json", "be the score of a run on its track"):
        numbers["flawless"] = found.get("flawless") if track is None else float(found["flawless"])
        if track is not None and track.self_play:
            own = found["self_play"]
            names = ("exploitability", "normalized_exploitability")
            numbers |= {name: float(own[name]) for name in names}
            for seat in (0, 1):
                numbers[f"guaranteed_{seat}"] = float(own["guaranteed"][seat])
                numbers[f"equilibrium_{seat}"] = float(own["equilibrium"][seat])
        scores = log["normalized_exploitability" if track and track.self_play else "normalized"]
    return Run(
        name=folder.name,
        **facts(config),
        version=found.get("track_version"),
        **numbers,
        trials=trials_of(config),
        moves=tuple(map(int, log["timesteps"].tolist())),
        scores=tuple(scores.tolist()),
    )


@lru_cache(maxsize=256)  # the runs of a board have few tasks, and to explore one takes seconds
def _is_usual(place: str, keywords: str, track: str | None, self_play: bool) -> bool:
    """Say whether keywords, in JSON, are those of a track, or else of the game, by default."""
    name = find_game(place).name
    own = TRACKS[track].keywords.get(name, {}) if track else {}
    task, usual = task_from_options(place, json.loads(keywords)), make_task(name, **own)
    return bool(task.game == usual.game if self_play else task == usual)


def facts(config: TrainConfig) -> dict[str, Any]:
    """Return what determines the result of a run, as fields of ``Run``."""
    options, name = vars(config.hyperparameters), config.game_name
    env = options["env_kwargs"].items()
    keywords = {key: value for key, value in env if key not in ("reward", "encoding")}
    same = _is_usual(config.game, json.dumps(keywords), config.track, config.self_play)
    words = [name, *(f"{key} {value}" for key, value in keywords.items() if not same)]
    given = {key: value for key, value in options.items() if value is not None}
    given |= {"encoding": given.pop("env_kwargs").get("encoding", "integer")}
    return {
        "game": ", ".join(words),
        "place": config.game,
        "keywords": json.dumps(keywords),
        "algorithm": config.algorithm,
        "reward": str(config.reward),
        "track": config.track,
        "seed": config.seed,
        "hyperparameters": json.dumps(given, default=str, separators=(",", ":")),
    }


def trials_of(config: TrainConfig) -> int | None:
    """Return the number of trials of the search for a run's hyperparameters.

    0 stands for hyperparameters of the package that were set by hand, None for all others.
    """
    size = {name: value for name, value in config.env.items() if name != "encoding"}
    try:
        shipped = replace(config, conf=None, hyperparams={}, num_envs=None, env=size)
        same = shipped.hyperparameters == config.hyperparameters
    except (InputError, AttributeError):  # their rollouts are longer than the track; or unknown
        same = False  # without the libraries of training, as for pictures, which show no trials
    if not same:
        return None
    return trials(tuned(config.algorithm, config.reward or "outcome", config.track))


def write_runs(runs: Sequence[Run], folder: Path) -> list[Path]:
    """Write the results, the curves and the certificates of runs into their folder."""
    names = [field.name for field in fields(Run) if field.name not in ("moves", "scores")]
    rows = [[getattr(run, name) for name in names] for run in runs]
    points = [
        [run.name, *point] for run in runs for point in zip(run.moves, run.scores, strict=True)
    ]
    tables = {CURVES: Table(["run", "moves", "score"], points), RESULTS: Table(names, rows)}
    for name, table in tables.items():  # a run in the results has its curve, whoever reads them now
        write_file(folder / name, table.csv().encode())
    _write_certificates(folder, [run.name for run in runs])
    return [folder / name for name in (*tables, CERTIFICATES)]


def certificate_of(folder: Path, name: str) -> Path:
    """Return the place of the certificate of a run: in its run folder, or in the archive."""
    alone = folder / name / "certificate.npz"
    return alone if alone.is_file() else folder / CERTIFICATES / f"{name}.npz"


def _write_certificates(folder: Path, names: Iterable[str]) -> None:
    """Write the archive of the certificates of runs, unless it is there."""
    place, known = folder / CERTIFICATES, dict[str, int]()
    if place.is_file():
        with folders.reading(place, "be an archive of certificates"), zipfile.ZipFile(place) as old:
            known = {member.filename: member.CRC for member in old.infolist()}
    places = {f"{name}.npz": folder / name / "certificate.npz" for name in names}
    found = {name: path for name, path in places.items() if path.is_file()}
    kept = known.keys() & places.keys()
    same = (known.get(name) == zlib.crc32(_unpacked(path)) for name, path in found.items())
    if len(kept) == len(known) and all(same):
        return

    def write(file: io.BytesIO) -> None:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_LZMA) as new:
            for name in sorted(kept | found.keys()):
                with folders.reading(place, "be an archive of certificates"):
                    content = _unpacked(found[name]) if name in found else content_of(place / name)
                # Members have no date, so that equal archives have equal bytes.
                new.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_LZMA)

    write_file(place, write)


def _unpacked(path: Path) -> bytes:
    """Return a certificate without compression, so that the archive's can do better."""
    file = io.BytesIO()
    with zipfile.ZipFile(path) as packed, zipfile.ZipFile(file, "w") as stored:
        for name in packed.namelist():
            stored.writestr(zipfile.ZipInfo(name), packed.read(name))
    return file.getvalue()

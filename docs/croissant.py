"""Write ``benchmarks/croissant.json``, the Croissant description of the published runs.

It has the checksum of every file of runs; ``python docs/tracks.py`` writes it with the pages. It is
valid for ``mlcroissant validate --jsonld benchmarks/croissant.json``.
"""

import hashlib
import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

from exactdice.board.tracks import TRACKS

FOLDER = Path(__file__).parent.parent / "benchmarks"
FORMATS = {".csv": "text/csv", ".zip": "application/zip"}
INTEGERS = {"seed", "steps", "trials", "version", "moves"}
TEXTS = {
    "name",
    "game",
    "place",
    "keywords",
    "algorithm",
    "reward",
    "track",
    "hyperparameters",
    "run",
}
#: The terms of the format that stand in its vocabulary, "cr", under their own names.
TERMS = (
    "citeAs column equivalentProperty extract field fileObject fileProperty fileSet format "
    "includes isLiveDataset jsonPath key md5 parentField path recordSet references regex repeated "
    "replace samplingRate separator source subField transform"
)
#: The context of the format, as its specification has it.
CONTEXT = {
    **{term: f"cr:{term}" for term in TERMS.split()},
    "@language": "en",
    "@vocab": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
}


def main() -> None:
    """Write the file."""
    text = json.dumps(description(), indent=1, ensure_ascii=False) + "\n"
    (FOLDER / "croissant.json").write_text(text, encoding="utf-8")


def description() -> dict[str, Any]:
    """Describe the files of runs, and the columns of their tables."""
    paths = [
        path
        for folder in (*TRACKS, "leaderboard")
        for path in sorted((FOLDER / folder).iterdir())
        if path.suffix in FORMATS
    ]
    return {
        "@context": dict(sorted(CONTEXT.items())),
        "@type": "sc:Dataset",
        "name": "exactdice-runs",
        "description": "Training runs of reinforcement-learning algorithms in dice games whose "
        "optimum is known exactly: a row for each run, its exact scores during training, and its "
        "final policy as a certificate that anyone can verify by computation. Tracks: "
        + ", ".join(track.title for track in TRACKS.values())
        + ". There is no public address yet: the url is a placeholder.",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "license": "https://spdx.org/licenses/MIT.html",
        "url": "https://example.org/exactdice",
        "creator": {"@type": "sc:Organization", "name": "the exactdice developers"},
        "datePublished": "2026-11-26",
        "version": version("exactdice"),
        "citeAs": "@software{exactdice, title={exactdice}, version={" + version("exactdice") + "}}",
        "distribution": list(map(_file, paths)),
        "recordSet": [_records(path) for path in paths if path.suffix == ".csv"],
    }


def _id(path: Path) -> str:
    return path.relative_to(FOLDER).as_posix()


def _file(path: Path) -> dict[str, Any]:
    content = path.read_bytes()
    return {
        "@type": "cr:FileObject",
        "@id": _id(path),
        "name": _id(path),
        "contentUrl": _id(path),
        "contentSize": f"{len(content)} B",
        "encodingFormat": FORMATS[path.suffix],
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def _records(path: Path) -> dict[str, Any]:
    name = _id(path).removesuffix(".csv")
    with path.open(encoding="utf-8") as file:
        columns = file.readline().strip().split(",")
    return {"@type": "cr:RecordSet", "@id": name, "name": name, "field": [
        {
            "@type": "cr:Field",
            "@id": f"{name}/{column}",
            "name": f"{name}/{column}",
            "dataType": _kind(column),
            "source": {"fileObject": {"@id": _id(path)}, "extract": {"column": column}},
        }
        for column in columns
    ]}  # fmt: skip


def _kind(column: str) -> str:
    if column in TEXTS:
        return "sc:Text"
    return "sc:Integer" if column in INTEGERS else "sc:Float"


if __name__ == "__main__":
    main()

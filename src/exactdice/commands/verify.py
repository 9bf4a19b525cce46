"""``exactdice verify``: check policy certificates."""

import sys
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from ..baselines import CertificateError, verify
from ..baselines.scoring.certificate import UnreadableError
from ..core import InputError
from ..core.progress import shown_progress
from ..core.words import printable
from ..envs import find_game
from .printing import InJson, print_json

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

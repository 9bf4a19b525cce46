"""Values that are kept on disk: the same to the last bit, and never those of a wrong file."""

from pathlib import Path

import numpy as np
import pytest
from exactdice.core import kept
from exactdice.core.folders import user_folder
from exactdice.core.sweeps import sweeps_of
from exactdice.games import GAMES
from exactdice.games.yahtzee.values import YahtzeeValues
from platformdirs import PlatformDirs

GAME = GAMES["Yahtzee"](boxes="ones,full_house,yahtzee")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Keep the numbers of every sweep, however short, in a new folder."""
    monkeypatch.setenv(kept.VARIABLE, str(tmp_path / "kept"))
    monkeypatch.setattr(kept, "LONG", 0.0)
    return tmp_path / "kept"


@pytest.fixture
def sweeps_made(monkeypatch):
    """Note the folds that are swept."""
    made, filled = [], YahtzeeValues.filled

    def noted(self):
        made.append(self._decide)
        return filled(self)

    monkeypatch.setattr(YahtzeeValues, "filled", noted)
    return made


def folded(fold, around=None, game=GAME):
    return sweeps_of(game).folded(fold, around)


@pytest.mark.parametrize("fold", ["best", "mean"])
def test_values_are_computed_once_and_are_the_same_to_the_last_bit(folder, sweeps_made, fold):
    computed = folded(fold)
    again = folded(fold)
    assert sweeps_made == [fold]
    assert (again.array == computed.array).all()
    assert not again.numbers.flags.writeable
    squares = folded(fold, computed)
    assert (folded(fold, again).numbers == squares.numbers).all()
    assert len(list(folder.iterdir())) == 2  # and no temporary file


def test_other_code_has_other_files(folder, sweeps_made, tmp_path, monkeypatch):
    folded("best")
    mended = tmp_path / "games" / "game.py"
    mended.parent.mkdir()
    mended.write_text("A rule is mended.")
    with monkeypatch.context() as patch:
        patch.setattr(kept.inspect, "getfile", lambda kind: str(mended))
        kept._code.cache_clear()
        folded("best")
        patch.setattr(kept.inspect, "getfile", lambda kind: str(tmp_path / "deleted.py"))
        kept._code.cache_clear()
        folded("mean")
    kept._code.cache_clear()
    assert sweeps_made == ["best", "best", "mean"]
    assert len(list(folder.iterdir())) == 2  # the code of the last is in no file


def times(content, factor):
    """Make a file whose checksum is right and whose numbers are wrong."""
    title, digest, rest = content.split(b"\n", 2)
    numbers = np.frombuffer(rest, "<f8") * factor
    digest = kept._digest(title.decode(), numbers.tobytes())
    return b"\n".join([title, digest, numbers.tobytes()])


DAMAGES = [
    lambda content: b"",
    lambda content: content[:-8],
    lambda content: content[:-1],
    lambda content: content + b"\0" * 8,
    lambda content: content[:-20] + b"\1" + content[-19:],
    lambda content: content.replace(b"best", b"mean", 1),
    lambda content: content.replace(b"values 1", b"values 0", 1),
    lambda content: b"\x80\x04]" + content,
    lambda content: times(content, 1.01),
    lambda content: times(content, np.nan),
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_passed_over_and_written_anew(folder, sweeps_made, damage):
    right = folded("best").numbers
    (file,) = folder.iterdir()
    content = file.read_bytes()
    file.write_bytes(damage(content))
    assert (folded("best").numbers == right).all()
    assert sweeps_made == ["best", "best"]
    assert file.read_bytes() == content


def test_a_folder_that_cannot_be_used_is_no_error(tmp_path, monkeypatch, sweeps_made):
    monkeypatch.setattr(kept, "LONG", 0.0)
    (tmp_path / "file").write_text("no folder")
    for place in (tmp_path / "file", tmp_path / "file" / "below", "none"):
        monkeypatch.setenv(kept.VARIABLE, str(place))
        assert folded("best") is not None
    assert len(sweeps_made) == 3
    assert (tmp_path / "file").read_text() == "no folder"


def test_short_sweeps_are_not_kept(folder, monkeypatch):
    small = GAMES["Yahtzee"](boxes="ones")
    monkeypatch.setattr(kept, "LONG", 2.0)
    folded("best", game=small)
    assert not folder.exists()
    assert folded("best", game=GAMES["Greed"](max_score=5)) is None


def test_a_variable_names_another_folder_and_without_a_home_there_is_none(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(PlatformDirs, "user_cache_path", Path("there/exactdice"))
        for value, place in (("", Path("there/exactdice")), ("mine", Path("mine")), ("none", None)):
            patch.setenv(kept.VARIABLE, value)
            assert user_folder("cache", kept.VARIABLE) == place
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    monkeypatch.delenv(kept.VARIABLE)
    assert user_folder("cache", kept.VARIABLE) is None

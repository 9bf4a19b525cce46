"""No file is lost on a full disk: each is written beside its place, or it is as it was."""

import errno
import os
import re
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from checkout import FILES, ROOT
from exactdice.agents.runs.agent import AgentOptions
from exactdice.board import submission
from exactdice.board.entry import make_card
from exactdice.board.results import write_runs
from exactdice.core import WriteError, append, make_folder, write_file
from exactdice.look import plotting
from exactdice.look.charts import Bars, Plot
from exactdice.look.drawing import draw
from exactdice.look.report import write_report
from exactdice.play.record import GameRecord
from full_disk import no_file_above
from small_entries import CARD

import exactdice

SCORE = exactdice.score("random", exactdice.Task(exactdice.games.Greed(max_score=3)))
SMALL = AgentOptions("random", "Greed", {"max_score": 3})
PLOT = Plot.of(Bars(title="", x_label="", labels=["one"], values=np.ones(1)), "A bar.")
#: What writes each kind of file.
WRITERS = {
    "mine.npz": SCORE.save,
    **dict.fromkeys(("mine.png", "mine.svg"), partial(draw, PLOT)),
    "mine.html": partial(write_report, SMALL),
    "mine.md": lambda path: plotting.write_gallery(path.with_suffix(""), []),
    "mine.json": GameRecord("Greed", seed=1).write,
    "curves.csv": lambda path: write_runs([], path.parent),
}


@pytest.fixture
def _quick(monkeypatch):
    """Leave out what a page and the gallery show: they are written as they are."""
    monkeypatch.setattr("exactdice.look.report._steps", lambda *_: [])
    monkeypatch.setattr(plotting, "_wanted", lambda _: [])


@pytest.mark.usefixtures("_quick")
@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_leaves_the_file_that_was_there(tmp_path, name):
    path = tmp_path / name
    WRITERS[name](path)
    before = {each: each.is_dir() or each.read_bytes() for each in tmp_path.iterdir()}
    assert len(before[path]) > 8
    said = f"^{re.escape(str(path))} cannot be written: file too large$"
    with no_file_above(8), pytest.raises(OSError, match=said):
        WRITERS[name](path)
    assert {each: each.is_dir() or each.read_bytes() for each in tmp_path.iterdir()} == before


@pytest.mark.parametrize("room", [8, 600])  # for a part of the card; for it, but no certificate
def test_a_full_disk_leaves_nothing_of_an_entry(tmp_path, room):
    SCORE.save(certificate := tmp_path / "Greed-0.npz")
    assert certificate.stat().st_size > 600
    card, files = make_card({**CARD, "track": "exactdice-10k"}), {("Greed", 0): certificate}
    with no_file_above(room), pytest.raises(WriteError, match="cannot be written: file too large"):
        submission._make(tmp_path / "entry", card, files, 1)
    assert list(tmp_path.iterdir()) == [certificate]


@pytest.mark.parametrize(("of", "call"), [(os, "fsync"), (Path, "replace")])
def test_what_is_written_in_part_is_removed(tmp_path, monkeypatch, of, call):
    write_file(path := tmp_path / "file", b"old")
    full = OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr(of, call, Mock(side_effect=full))
    with pytest.raises(WriteError, match="file cannot be written: no space left on device$"):
        write_file(path, b"new")
    assert (path.read_bytes(), [*tmp_path.iterdir()]) == (b"old", [path])


def test_a_file_is_written_where_a_link_leads_and_under_the_longest_name(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "file")
    for name in ("link", "link", "n" * 255):
        write_file(tmp_path / name, b"new")
    assert (tmp_path / "file").read_bytes() == (tmp_path / "link").read_bytes() == b"new"
    assert (tmp_path / "link").is_symlink()
    assert len(list(tmp_path.iterdir())) == 3


def test_what_is_in_the_way_is_said(tmp_path, monkeypatch):
    write_file(path := tmp_path / "file", b"old")
    for place in (tmp_path, Path(os.devnull)):
        with pytest.raises(WriteError, match="cannot be written: it is a folder, a device or wri"):
            write_file(place, b"new")
    with pytest.raises(WriteError, match=r"file\\n/x cannot be written: no such file or directory"):
        write_file(tmp_path / "file\n" / "x", b"new")
    with pytest.raises(exactdice.InputError, match="folder must be a place to write to, got .*/x"):
        make_folder(path / "x")
    monkeypatch.setattr(os, "access", lambda *_: False)  # the superuser may write everywhere
    with pytest.raises(WriteError, match="it is a folder, a device or write-protected"):
        write_file(path, b"new")
    assert (path.read_bytes(), [*tmp_path.iterdir()]) == (b"old", [path])


def test_a_line_that_has_no_room_leaves_the_lines_before(tmp_path):
    path = tmp_path / "below" / "lines"
    append(path, b"one\n")
    for room in (4, 6):  # for none and for two of its letters
        with no_file_above(room), pytest.raises(WriteError, match="lines cannot be written: "):
            append(path, b"two\n")
    assert path.read_bytes() == b"one\ntw"
    append(path, b"three\n")
    assert path.read_bytes() == b"one\ntw\nthree\n"


def test_one_module_writes_all_files():
    ways = r"write_(text|bytes)\(|savez\w*\(path|savefig\(path|copyfile|mkstemp|open\(\"[wax]"
    found = [path for path in FILES if re.search(ways, path.read_text(encoding="utf-8"))]
    assert found == [ROOT / "core" / "folders.py"]

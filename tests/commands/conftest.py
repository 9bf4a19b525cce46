"""Fixtures of the tests of the command line: a small run, certificates, and other files."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from exactdice.baselines import Task
from exactdice.games import FourTwoOne, Greed
from typed_words import QUICK

import exactdice
from exactdice.cli import main


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """Train one small run for the tests that only read it."""
    folder = tmp_path_factory.mktemp("runs") / "mine"
    with pytest.raises(SystemExit) as end:
        main(["train", *QUICK, "--run-folder", str(folder)])
    assert end.value.code == 0
    return folder


@pytest.fixture
def mine(trained, tmp_path):
    return Path(shutil.copytree(trained, tmp_path / "mine"))


@pytest.fixture
def certified(tmp_path):
    """Save two certificates of games that are no defaults, and give the score of one."""
    exactdice.score("random", Task(FourTwoOne(3, 3, 2))).save(tmp_path / "other.npz")
    found = exactdice.score("if_else", Task(Greed(7, 3), 1, "random"), name="my own")
    found.save(tmp_path / "mine.npz")
    return found


@pytest.fixture
def foreign(tmp_path):
    """Write files that are no certificates, no models, no records and no runs."""
    (tmp_path / "README.md").write_text("# exactdice")
    (tmp_path / "bytes.zip").write_bytes(bytes(range(256)))
    np.savez("arrays.npz", a=np.arange(3))
    return ("README.md", "bytes.zip", "arrays.npz")

"""Fixtures of the tests of the command line: a small run, and files of other kinds."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from typed_words import QUICK

from exactdice.cli import main


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Train one small run for the tests that only read it."""
    folder = tmp_path_factory.mktemp("runs") / "mine"
    with pytest.raises(SystemExit) as end:
        main(["train", *QUICK, "--run-folder", str(folder)])
    assert end.value.code == 0
    return folder


@pytest.fixture
def mine(trained, tmp_path):
    """Copy the small run into the empty folder."""
    return Path(shutil.copytree(trained, tmp_path / "mine"))


@pytest.fixture
def foreign(tmp_path):
    """Write files that are no certificates, no models, no records and no runs."""
    (tmp_path / "README.md").write_text("# exactdice")
    (tmp_path / "bytes.zip").write_bytes(bytes(range(256)))
    np.savez("arrays.npz", a=np.arange(3))
    return ("README.md", "bytes.zip", "arrays.npz")

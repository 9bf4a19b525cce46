"""The track of the tests of entries; searches and training without waiting."""

import pytest
from exactdice.board import admission
from exactdice.board.tracks import OPEN, TRACKS
from small_entries import TINY, small_task
from sqlalchemy import event
from sqlalchemy.engine import Engine


@event.listens_for(Engine, "connect")
def _do_not_wait_for_the_disk(connection, _record):
    """A search writes after every report; no test pulls the plug."""
    connection.execute("PRAGMA synchronous = OFF")


@pytest.fixture(autouse=True)
def _one_thread(one_thread):
    """Train on one thread."""


@pytest.fixture(scope="module")
def _small_games():
    with pytest.MonkeyPatch.context() as patch:
        for tracks in (OPEN, TRACKS):
            patch.setitem(tracks, "tiny", TINY)
        for place in ("admission", "results", "strata"):
            patch.setattr(f"exactdice.board.{place}.make_task", small_task)
        yield


@pytest.fixture
def tiny_track(_small_games, monkeypatch):
    """Add a track of two small games; verify without processes, which take a second each."""

    def check_all(certificates, _number):
        return {path: admission.answer_of(path, game) for path, game in certificates.items()}

    monkeypatch.setattr(admission, "check_all", check_all)

"""The track of the tests of entries."""

import pytest
from exactdice.agents.entries import admission
from exactdice.agents.tracks import OPEN, TRACKS
from small_entries import TINY, small_task


@pytest.fixture(scope="module")
def _small_games():
    with pytest.MonkeyPatch.context() as patch:
        for tracks in (OPEN, TRACKS):
            patch.setitem(tracks, "tiny", TINY)
        for place in ("entries.admission", "board.results", "board.tables"):
            patch.setattr(f"exactdice.agents.{place}.make_task", small_task)
        yield


@pytest.fixture
def tiny_track(_small_games, monkeypatch):
    """Add a track of two small games; verify without processes, which take a second each."""

    def check_all(certificates, _number):
        return {path: admission.answer_of(path, game) for path, game in certificates.items()}

    monkeypatch.setattr(admission, "check_all", check_all)

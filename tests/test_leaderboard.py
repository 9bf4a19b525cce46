"""The runs behind the leaderboard, as anybody can check them."""

import json
from pathlib import Path

import pytest
from exactdice.agents import leaderboard
from exactdice.baselines import verify

FOLDER = Path(__file__).parent.parent / "benchmarks" / "leaderboard"


@pytest.mark.parametrize("game", sorted({path.name.split("-")[0] for path in FOLDER.glob("*-*")}))
def test_every_certificate_holds_and_is_of_its_run(game):
    for folder in sorted(FOLDER.glob(f"{game}-*")):
        found = verify(folder / "certificate.npz")
        saved = json.loads((folder / "score.json").read_text())
        assert found.value == pytest.approx(saved["value"], abs=1e-9)
        assert found.normalized == pytest.approx(saved["normalized"], abs=1e-9)
        assert found.flawless == pytest.approx(saved["flawless"], abs=1e-9)


def test_the_runs_are_read():
    cells = leaderboard.read_cells(FOLDER)
    assert len(cells) == len(list(FOLDER.glob("*-*")))
    for cell, (steps, scores) in cells.items():
        assert scores[-1] == cell.normalized
        assert steps[-1] == cell.steps

"""Entries are made from the runs of a benchmark, or from certificates of any program."""

import json
import os
import shutil
from pathlib import Path

import pytest
from checkout import ROOT
from exactdice.agents.runs.config import TrainConfig
from exactdice.agents.runs.train import train
from exactdice.board.admission import admit
from exactdice.board.entry import read_entry
from exactdice.board.results import read_runs, write_runs
from exactdice.board.submission import submit
from exactdice.core import InputError
from small_entries import SIZES, TINY, make_entry

import exactdice

pytestmark = pytest.mark.usefixtures("tiny_track")


@pytest.fixture(scope="module")
def finished(tmp_path_factory, _small_games):
    """Train the tiny track: two games, two seeds, Q-learning."""
    place = tmp_path_factory.mktemp("finished") / "runs"
    options = {"track": "tiny", "algorithm": "qlearning", "num_envs": 16}
    for game in TINY.games:
        for seed in range(2):
            folder = place / f"{game}-{seed}"
            train(TrainConfig(game, SIZES[game], seed=seed, run_folder=folder, **options))
    return place


def test_the_runs_of_a_benchmark_are_submitted(finished, prints, refusal):
    words = ["submit", finished, "--title", "Our tables", "--link", "https://example.org"]
    said = prints(*words)
    folder = Path("benchmarks/entries", "tiny-our-tables")
    assert said.startswith(f"{folder}: 4 certificates hold, nines ")
    card = read_entry(folder).card
    scores = [json.loads(path.read_text()) for path in finished.glob("*/score.json")]
    assert card.moves == max(score["steps"] for score in scores) == 3840
    assert card.seconds == pytest.approx(sum(score["seconds"] for score in scores) / 4)
    assert (card.algorithm, card.track, card.version) == ("Q-learning", "tiny", 1)
    assert card.hardware == "not said"
    assert admit(Path("benchmarks/entries"), 1).refused == {}
    shutil.copytree(finished, "packed")
    write_runs(read_runs(Path("packed")), Path("packed"))
    for run in Path("packed").glob("*/"):
        shutil.rmtree(run)
    again = submit(Path("packed"), SAID, Path("again"), 1)
    for path in Path("again").glob("*.npz"):
        assert exactdice.verify(path).value == exactdice.verify(folder / path.name).value
    assert again.card.seconds == card.seconds
    Path("packed/certificates.zip").unlink()
    with pytest.raises(InputError, match=r"zip/.*-0\.npz must be a file that can be read, got: No"):
        submit(Path("packed"), SAID, Path("third"), 1)
    assert "folder must not exist, got benchmarks/entries/tiny-our-tables" in refusal(*words)


#: The runs that are changed; options of their configurations, or a function; and what is said.
RUNS = [
    ("Greed-1", lambda run: (run / "score.json").unlink(), "of the others, missing: Greed-1$"),
    ("*-1", shutil.rmtree, "every game must have 2 to 20 seeds, got 1"),
    ("*-1", {"track": "exactdice-10k"}, "hold runs of one track, got exactdice-10k, tiny in"),
    ("*", {"track": None}, "runs must be of one track .*, got Greed of no track in Greed-0$"),
    ("Greed-1", {"env": {"max_score": 6}}, "got Greed, max_score 6, .* of tiny in Greed-1$"),
    ("Greed-1", {"seed": 0}, "must have different seeds, got seed 0 in Greed-0 and Greed-1"),
    ("Greed-1", {"algorithm": "ppo"}, "algorithm must be one of ppo, qlearning, got none"),
    ("Greed-1", lambda run: os.truncate(run / "certificate.npz", 0), "hold: Greed-1.npz must be a"),
]


@pytest.mark.parametrize(("runs", "change", "message"), RUNS)
def test_runs_that_are_no_whole_track_are_refused(finished, tmp_path, runs, change, message):
    place = shutil.copytree(finished, tmp_path / "runs")
    for run in list(place.glob(runs)):
        if callable(change):
            change(run)
        else:
            path = run / "config.json"
            path.write_text(json.dumps(json.loads(path.read_text()) | change))
    if change == {"algorithm": "ppo"}:
        shutil.copy(ROOT / "agents/hyperparams/ppo.yml", place / runs / "hyperparameters.yml")
    with pytest.raises(InputError, match=message):
        submit(place, SAID, tmp_path / "entries/one", 1)
    assert list(tmp_path.glob("entries/*")) == []


SAID = {"title": "A title", "link": "https://example.org"}
FOREIGN = {"algorithm": "DQN (CleanRL)", "track": "tiny", "moves": 3840, "seconds": 1.0}


def test_the_certificates_of_a_foreign_program_are_submitted(tmp_path):
    place = make_entry(tmp_path / "certificates")
    (place / "card.json").unlink()
    found = submit(place, {**SAID, **FOREIGN}, tmp_path / "entries/loop", 1)
    assert found.folder == tmp_path / "entries/loop"
    assert found.card.algorithm == "DQN (CleanRL)"
    assert len(found.figures) == 4
    for (game, seed), figures in found.figures.items():
        assert figures.value == exactdice.verify(place / f"{game}-{seed}.npz").value
    assert [held.name for held in admit(tmp_path / "entries", 1).verified] == ["loop"]


def test_a_foreign_program_says_what_its_certificates_do_not_and_names_them_by_cells(tmp_path):
    for field in FOREIGN:
        claims = {name: value for name, value in {**SAID, **FOREIGN}.items() if name != field}
        with pytest.raises(InputError, match=f"{field} must be given for certificates, got none"):
            submit(tmp_path, claims, tmp_path / "entry", 1)
    asked = tmp_path, {**SAID, **FOREIGN}, tmp_path / "entry", 1
    with pytest.raises(InputError, match="place must hold a benchmark's runs, or certificates su"):
        submit(*asked)
    (tmp_path / "final.npz").touch()
    with pytest.raises(InputError, match=r"must be named such as Greed-0.npz, got .*final\.npz"):
        submit(*asked)

"""Training runs: what they leave, how they resume, and how they fail."""

import json
import os
import pickle
import re
import shutil
import zipfile
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
import torch
from exactdice.agents.algorithms import ALGORITHMS, Algorithm
from exactdice.agents.runs import callback, folders, train
from exactdice.agents.runs.callback import ExactEvalCallback, interval_of
from exactdice.agents.runs.config import RunError, TrainConfig
from exactdice.agents.runs.models import make_env
from exactdice.agents.runs.run import Run
from exactdice.games import GAMES, InputError
from full_disk import no_file_above
from rich.console import Console
from thinning import at_once, later

import exactdice

QUIET = Console(quiet=True)
#: Algorithms that keep what others keep.
ALIKE = "ppo-unmasked", "a2c", "a2c-masked", "trpo", "ndqn", "qrdqn"
slow = partial(pytest.param, marks=pytest.mark.slow)
#: Each algorithm, and the other rewards with some that learn from rollouts, replay and tables.
RUNS = [(algorithm, "outcome") for algorithm in ALGORITHMS]
RUNS = at_once(lambda run: run[0] in ("ppo", "dqn", "qlearning"), RUNS)
RUNS += map(later, [("ppo", "regret"), ("dqn", "shaped"), ("qlearning", "regret")])


@pytest.mark.parametrize(("algorithm", "reward"), RUNS)
def test_a_run_leaves_its_configuration_and_results(trained, small_config, algorithm, reward):
    score, folder = trained(algorithm=algorithm, reward=reward)
    names = {"config.json", "evaluations.npz", "best_model.zip", "final_model.zip"}
    names |= {"hyperparameters.yml", "certificate.npz", "checkpoint.pt", "score.json"}
    assert {path.name for path in folder.iterdir()} == names
    saved = json.loads((folder / "score.json").read_text())
    assert saved["value"] == score.value
    assert saved["steps"] >= 3000
    log = np.load(folder / "evaluations.npz")
    assert log["results"].shape == log["ep_lengths"].shape == (len(log["timesteps"]), 1)
    assert log["results"][-1, 0] == score.value
    assert log["regret"][-1] == pytest.approx(score.regret)
    assert (log["ep_lengths"] >= 1).all()
    model, env = folders.load_model(folder)
    assert exactdice.score(model, env).value == score.value
    best, env = folders.load_model(folder, "best")
    assert exactdice.score(best, env).value == log["results"].max()
    assert saved["best_normalized"] == log["normalized"].max()
    config = small_config(algorithm=algorithm, reward=reward, run_folder=folder)
    assert folders.read_config(folder).to_json() == config.to_json()
    assert folders.read_config(folder).hyperparameters == config.hyperparameters


@pytest.mark.parametrize("game", at_once({"Greed", "FourTwoOne"}.__contains__, GAMES))
@pytest.mark.parametrize("algorithm", ["ppo", *map(slow, ("dqn", "qlearning"))])
def test_all_algorithms_train_on_every_game(small, small_env, capsys, algorithm, game):
    score = train.train(small(algorithm=algorithm, game=game, env=small_env(game), steps=500))
    assert 0 <= score.regret <= score.optimum - score.task.game.payoff_range[0]
    shown = capsys.readouterr().out
    for word in ("value", "optimum", "normalised score", "costliest", f"runs/{game}-{algorithm}-1"):
        assert word in shown


def test_payoffs_are_scaled_to_a_span_of_1_for_dqn(small):
    for algorithm, span in (("dqn", 9), ("ppo", 1)):
        env = make_env(small(game="FourTwoOne", env={}, algorithm=algorithm))
        env.seed(0)
        env.reset()
        payoffs = set()
        for _ in range(50):
            _, paid, over, infos = env.step(env.action_masks().argmax(axis=1))
            episodes = [infos[lane]["episode"]["r"] for lane in np.flatnonzero(over)]
            assert paid[over] * span == pytest.approx(episodes)
            payoffs.update(episodes)
        assert {1, 2} <= payoffs


@pytest.mark.parametrize("algorithm", [*sorted({*ALGORITHMS} - {*ALIKE}), *map(slow, ALIKE)])
def test_an_interrupted_run_resumes_and_ends_alike(trained, interrupted, capsys, algorithm):
    """To the last bit of every weight, every score in the log and every game still running."""
    _, folder = whole = trained(algorithm=algorithm, reward="outcome")
    parts = interrupted(algorithm=algorithm)
    assert "python train.py --resume parts" in capsys.readouterr().out
    assert not (parts / "final_model.zip").exists()
    assert_ends_alike(parts, whole)
    logs = [np.load(run / "evaluations.npz") for run in (folder, parts)]
    for key in set(logs[0].files) - {"seconds"}:
        assert np.array_equal(logs[0][key], logs[1][key])


def test_an_algorithm_of_whole_games_is_a_record_alone(small, interrupted, monkeypatch):
    """Whose class is neither on-policy nor off-policy, and ends when no callback tells it to."""
    record = Algorithm("ARS", "sb3_contrib:ARS", "games", masked=False)
    monkeypatch.setitem(ALGORITHMS, "ars", record)
    whole = Path("whole")
    score = train.train(small(algorithm="ars", run_folder=whole))
    parts = interrupted(algorithm="ars")
    assert not (parts / "score.json").exists()
    assert_ends_alike(parts, (score, whole))


@pytest.mark.slow  # plays 10,000 moves; tests/agents/runs/test_track_runs.py has small tracks
def test_an_algorithm_of_whole_games_keeps_to_a_track(small, monkeypatch):
    record = Algorithm("ARS", "sb3_contrib:ARS", "games", masked=False)
    monkeypatch.setitem(ALGORITHMS, "ars", record)
    small()  # in an empty folder
    track = TrainConfig("FourTwoOne", algorithm="ars", track="exactdice-10k", num_envs=4)
    train.train(replace(track, run_folder=Path("track")))
    found = folders.read_score(Path("track"))
    assert 0 < found["steps"] <= 10_000
    assert len(found["normalized_at_marks"]) == 7


def assert_ends_alike(parts, whole):
    """Go on with a run, which must end with the score and the weights of another one."""
    score, folder = whole
    assert resume(parts).value == score.value
    states = [folders.load_model(run)[0].policy.state_dict() for run in (parts, folder)]
    torch.testing.assert_close(*states, rtol=0, atol=0)


def resume(folder):
    return train.train(TrainConfig(resume=folder))


def test_a_run_whose_folder_is_removed_before_it_is_locked_ends(small, monkeypatch):
    """The lock would make the folder anew, without the options of the run."""
    create = Run.create

    def removed(config):
        run = create(config)
        shutil.rmtree(run.folder)
        return run

    monkeypatch.setattr(train.Run, "create", removed)
    with pytest.raises(RunError, match=r"run_folder must be kept, got run, which was removed"):
        train.train(small(run_folder=Path("run")))


def test_a_run_stops_at_a_normalized_score_and_can_be_scored_again(small):
    score = train.train(small(stop_at=0.0, run_folder=Path("run"), steps=100_000))
    assert score.normalized >= 0
    assert json.loads(Path("run/score.json").read_text())["steps"] < 100_000


@pytest.mark.slow
def test_games_of_many_states_are_scored_less_often():
    for game, given, interval in (
        ("Greed", None, 25_000),
        ("LowestScoreMatch", None, 1_000_000 // 33),  # 1,002,976 states
        ("FourTwoOneMatch", None, 1_000_000 // 7),
        ("Yahtzee", None, 25_000),  # of sample games
        ("Yahtzee", 300, 300),
    ):
        config = TrainConfig(steps=1_000_000, eval_interval=given)
        assert interval_of(config, exactdice.Task(GAMES[game]())) == interval


@pytest.fixture
def finished(trained, tmp_path, monkeypatch):
    """Copy a finished run into an empty folder."""
    monkeypatch.chdir(tmp_path)
    return Path(shutil.copytree(trained(algorithm="ppo", reward="outcome")[1], "run"))


USES = {"checkpoint.pt": resume, "best_model.zip": lambda run: folders.load_model(run, "best")}


def test_damaged_files_are_named_and_nothing_is_lost(finished):
    (finished / "score.json").unlink()
    for name, use in USES.items():
        path = finished / name
        with zipfile.ZipFile(path) as file:
            largest = max(file.infolist(), key=lambda entry: entry.file_size)
        whole = path.read_bytes()
        flip = bytearray(whole)  # of one bit, with which PyTorch itself would train on
        flip[largest.header_offset + largest.file_size // 2] ^= 1
        for damaged, why in ((b"", ""), (b"no archive", ""), (whole[:1000], ""), (flip, "CRC")):
            path.write_bytes(damaged)
            before = {path: path.read_bytes() for path in finished.iterdir()}
            with pytest.raises(RunError, match=f"run/{name} must .*{why}"):
                use(finished)
            assert {path: path.read_bytes() for path in finished.iterdir()} == before


def test_missing_and_foreign_files_are_named_and_a_finished_run_is_not_resumed(finished, build):
    with pytest.raises(RunError, match="resume must be an unfinished run, got run, which has a sc"):
        resume(finished)
    (finished / "score.json").unlink()
    build(env={"max_score": 12, "sides": 3}).save(finished / "final_model.zip")
    with pytest.raises(RunError, match="must hold the weights of this run"):
        folders.load_model(finished)
    for name, use in (USES | {"config.json": folders.read_config}).items():
        (finished / name).unlink()
        with pytest.raises(RunError, match=f"run folder must hold a {name}, got"):
            use(finished)
    with pytest.raises(RunError, match="must hold a config.json"):
        folders.read_config(Path("nowhere"))


def test_loading_runs_no_code_from_the_files(finished):
    class Bomb:
        def __reduce__(self):
            return (os.mkdir, ("exploded",))

    (finished / "score.json").unlink()
    torch.save({"parameters": Bomb()}, finished / "checkpoint.pt")
    with zipfile.ZipFile(finished / "final_model.zip", "w") as file:
        file.writestr("data", json.dumps({":serialized:": pickle.dumps(Bomb()).hex()}))
        file.writestr("policy.pth", pickle.dumps(Bomb()))
    for use in (folders.load_model, resume):
        with pytest.raises(RunError):
            use(finished)
    assert not Path("exploded").exists()


def test_checkpoints_after_the_first_wait_for_their_share_of_the_time(small, monkeypatch):
    monkeypatch.setattr(callback, "SAVING", 0.0)
    monkeypatch.setattr(callback.time, "monotonic", count().__next__)  # seconds
    saved, save = set(), Run.save
    noted = lambda run, *_: saved.add(run.model.num_timesteps) or save(run)  # noqa: E731
    monkeypatch.setattr(Run, "save", noted)
    train.train(small(run_folder=Path("seldom")))
    assert saved == {0}


@pytest.mark.parametrize("algorithm", ["ppo", later("dqn")])
def test_a_disk_that_fills_up_loses_nothing(small, trained, monkeypatch, algorithm):
    """The run names the file and how to go on, and ends as if there had been room all the time."""
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(callback, "SAVING", 10**9)  # save with every score
    whole, full = trained(algorithm=algorithm, reward="outcome"), Path("full")
    evaluate = ExactEvalCallback.evaluate
    saved = {}

    def fill(self):
        if self.num_timesteps >= 2000 and not saved:
            saved.update((path, path.read_bytes()) for path in full.iterdir())
            resource.setrlimit(resource.RLIMIT_FSIZE, (2000, unlimited))
        return evaluate(self)

    unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    with monkeypatch.context() as patch, no_file_above(unlimited):
        patch.setattr(ExactEvalCallback, "evaluate", fill)
        with pytest.raises(RunError) as refusal:
            train.train(small(algorithm=algorithm, run_folder=full), QUIET)
    said = "cannot be written: file too large; make room and go on with --resume full"
    assert re.fullmatch(f"full/(best_model.zip|checkpoint.pt) {said}", str(refusal.value))
    there = {path: path.read_bytes() for path in full.iterdir()}
    assert there.keys() == saved.keys() - {full / ".lock"}  # which is held while it trains
    assert there[full / "checkpoint.pt"] == saved[full / "checkpoint.pt"]
    assert_ends_alike(full, whole)


def test_a_disk_that_is_full_from_the_start_is_said(small):
    with no_file_above(10), pytest.raises(RunError, match="hyperparameters.yml cannot be written"):
        train.train(small())
    assert not list(Path("runs").iterdir())
    with no_file_above(2000), pytest.raises(RunError, match="train again, as nothing was saved"):
        train.train(small(), QUIET)


def test_what_killed_writes_left_goes_when_training_goes_on(finished):
    for name in (".checkpoint.pt.here.123.4", ".best_model.zip.5"):
        (finished / name).write_bytes(b"half")
    (finished / ".notes.5").write_bytes(b"mine")
    with folders.alone(finished):
        assert {path.name for path in finished.glob(".*")} == {".notes.5", ".lock"}


def test_damaged_scores_are_refused_or_read_as_they_were(finished):
    path = finished / "evaluations.npz"
    whole, log = path.read_bytes(), folders.read_log(finished)
    refusals = []
    for place in range(0, len(whole), 25):
        for content in (whole[:place], whole[:place] + b"\xff" + whole[place + 1 :]):
            path.write_bytes(content)
            try:
                again = folders.read_log(finished)
            except RunError as error:
                refusals.append(str(error))
            else:
                assert all(np.array_equal(again[name], log[name]) for name in log)
    assert len(refusals) > len(whole) / 25
    begins = "run/evaluations.npz must hold the scores of a run, got"
    assert all(refusal.startswith(begins) for refusal in refusals)


@pytest.mark.parametrize("algorithm", ["ppo", "dqn"])
def test_weights_that_run_away_are_said_to(small, algorithm):
    """Networks raise somewhere, and not as a mistake of the user's, once their sums overflow."""
    config = small(algorithm=algorithm)
    config.hyperparameters.learning_rate = 1e30  # more than a user may ask for
    with pytest.raises(RunError, match="hyperparameters must keep the weights below 1e\\+06, whic"):
        train.train(config)
    with pytest.raises(ValueError, match="to satisfy the constraint"):  # torch checks laws again
        torch.distributions.Categorical(torch.tensor([torch.nan]))


def test_an_error_of_ours_is_not_called_a_users_mistake(small, monkeypatch):
    monkeypatch.setattr(ExactEvalCallback, "evaluate", Mock(side_effect=ValueError("a bug")))
    with pytest.raises(ValueError, match="a bug") as error:
        train.train(small())
    assert not isinstance(error.value, InputError)


def test_a_run_that_cannot_start_leaves_no_folder_and_an_existing_one_alone(small):
    mine, thesis = there = [Path("mine"), Path("mine/thesis.txt")]
    mine.mkdir()
    thesis.touch()
    nowhere = "run_folder must be a place to write to, got mine/thesis.txt/run: Not a directory$"
    for options, message in (
        ({"run_folder": mine}, "run_folder must not exist, got mine"),
        ({"run_folder": thesis / "run"}, nowhere),
        ({"env": {"max_score": 0}}, "max_score must be at least 1, got 0"),
        ({"env": {"colour": "red"}}, "Greed takes the keywords seat, opponent"),
        ({"device": "abacus"}, "device must be one that PyTorch can use, got 'abacus'"),
    ):
        with pytest.raises((RunError, ValueError), match=message):
            train.train(small(**options))
        assert sorted(Path().rglob("*")) == there


def test_a_run_is_trained_by_one_process_at_a_time_and_a_kill_frees_it(trained, interrupted):
    whole, parts = trained(algorithm="ppo", reward="outcome"), interrupted()
    assert not (whole[1] / ".lock").exists()
    before = {path.name: path.read_bytes() for path in parts.iterdir()}
    said = "one that no other process trains in, got parts"
    with folders.alone(parts), pytest.raises(RunError, match=said):
        resume(parts)
    assert {path.name: path.read_bytes() for path in parts.iterdir()} == before
    (parts / ".lock").touch()  # as a process leaves it that is killed
    assert_ends_alike(parts, whole)


BOARD = ("Greed", "LowestScore", "ShutTheBox", "FourTwoOne")
FULL = [(game, algorithm, "outcome") for game in BOARD for algorithm in ("ppo", "dqn")]


@pytest.mark.slow
@pytest.mark.parametrize(("game", "algorithm", "reward"), [*FULL, ("Greed", "ppo", "regret")])
def test_the_main_job_comes_near_the_optimum_at_full_length(tmp_path, game, algorithm, reward):
    options = {"algorithm": algorithm, "reward": reward, "run_folder": tmp_path / "run"}
    score = train.train(TrainConfig(game, **options))
    assert score.normalized >= (0.98 if (algorithm, reward) == ("ppo", "outcome") else 0.99)
    costs = sum(blunder.cost for blunder in score.blunders(None))
    assert costs == pytest.approx(score.regret, abs=1e-10)

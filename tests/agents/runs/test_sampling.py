"""Runs of games with too many states for arrays: sample scores, and an exact one at the end."""

import json
from pathlib import Path

import pytest
from exactdice.agents.learners.adapter import ModelPolicy
from exactdice.agents.runs import callback, folders
from exactdice.agents.runs.callback import RunCallback, sample_score
from exactdice.agents.runs.config import RunError, TrainConfig
from exactdice.agents.runs.run import Run
from exactdice.agents.runs.train import train
from exactdice.board.results import read_runs
from exactdice.look.runs import learning, log_of

import exactdice

OPTIONS = {"game": "Yahtzee", "env": {"boxes": "ones,yahtzee"}}


@pytest.fixture
def large(monkeypatch):
    """Have games of more than 1,000 states scored by tours."""
    exactdice.baselines.cache.clear_cache()
    monkeypatch.setattr("exactdice.core.positions.MOST", 1000)
    monkeypatch.setattr("exactdice.envs.engine.engine.ADVANTAGES", 0)
    monkeypatch.setattr(callback, "GAMES", 50)
    yield
    exactdice.baselines.cache.clear_cache()


def test_the_margin_of_a_sample_score_holds_the_exact_score(build):
    model = build(**OPTIONS)
    env = model.get_env()
    exact = exactdice.score(model, env)
    policy = ModelPolicy(model, env.task.game)
    inside = 0
    for seed in range(10):
        found = sample_score(policy, env.task, (seed,))
        inside += abs(found.value - exact.value) <= found.margin
        assert found.value + found.regret == pytest.approx(exact.optimum)
        assert found.moves == pytest.approx(exact.moves, rel=0.05)
        assert 0 < found.margin < 0.05 * exact.deviation * 1.96
    assert inside >= 7  # 95 % of 10: 6 or fewer have a chance of 0.1 %
    assert sample_score(policy, env.task, (3,)) == sample_score(policy, env.task, (3,))


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("algorithm", ["ppo", pytest.param("dqn", marks=pytest.mark.slow)])
def test_a_run_samples_and_ends_with_an_exact_score_and_a_certificate(small, algorithm, capsys):
    result = train(small(**OPTIONS, algorithm=algorithm))
    folder = Path("runs", f"Yahtzee-{algorithm}-1")
    log = folders.read_log(folder)
    assert log["margin"][-1] == 0
    assert (log["margin"][:-1] > 0).all()
    assert len(log["margin"]) > 2
    assert log["results"][-1] == result.value
    assert result.policy.endswith("in fixed point")
    verified = exactdice.verify(folder / "certificate.npz")
    saved = json.loads((folder / "score.json").read_text())
    assert verified.value == result.value == saved["value"]
    ones = verified.counts["points"]["Ones"][0]
    assert saved["counts"]["points"]["Ones"][0] == pytest.approx(ones)
    assert "sample games" in capsys.readouterr().out
    assert saved["best_normalized"] == result.normalized
    assert folders.exact_part(log)["normalized"].tolist() == [result.normalized]
    (run,) = read_runs(Path("runs"))
    assert run.scores == (result.normalized,)
    drawn = learning([log_of(folder)])
    (line,) = drawn.panels[0].series
    assert line.y[-1] == line.low[-1] == line.high[-1] == pytest.approx(1 - result.normalized)
    wide = 2 * log["margin"][0] / (result.optimum - result.random)
    assert line.high[0] - line.low[0] == pytest.approx(wide)
    assert "Bands are 95 % intervals" in drawn.caption


@pytest.mark.usefixtures("large")
def test_a_network_that_no_certificate_holds_is_refused_before_training(small):
    hyperparams = {"policy_kwargs": "dict(activation_fn=nn.ELU, net_arch=[8])"}
    with pytest.raises((RunError, ValueError), match="must have layers of ReLU or of Tanh"):
        train(small(**OPTIONS, hyperparams=hyperparams))


@pytest.mark.usefixtures("large")
def test_a_resumed_run_goes_on_with_its_margins(interrupted):
    folder = interrupted(**OPTIONS)
    before = folders.read_log(folder)["margin"]
    assert len(before) == 2
    assert train(TrainConfig(resume=folder)) is not None
    after = folders.read_log(folder)["margin"]
    assert len(after) > 3
    assert list(after[:2]) == list(before)
    assert after[-1] == 0


def test_a_resumed_run_has_the_points_of_its_unfinished_games(small):
    run = Run.create(small(**OPTIONS, run_folder=Path("run")))
    run.model.learn(1000, callback=[RunCallback(run, lambda *_: None)])
    run.save()
    engine, resumed = run.model.get_env().engine, Run.resume(Path("run")).model.get_env().engine
    assert engine.lanes.totals.any()
    assert resumed.lanes.states().tolist() == engine.lanes.states().tolist()
    assert resumed.lanes.totals.tolist() == engine.lanes.totals.tolist()

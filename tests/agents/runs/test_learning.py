"""The main job at full length: how near the agents come to the optimum."""

import pytest
from exactdice.agents.runs.config import TrainConfig
from exactdice.agents.runs.train import train


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "least"),
    [
        ({}, 0.98),
        ({"reward": "regret"}, 0.99),
        ({"algorithm": "dqn"}, 0.99),
        ({"game": "LowestScore"}, 0.98),
        ({"game": "LowestScore", "algorithm": "dqn"}, 0.99),
        ({"game": "ShutTheBox"}, 0.98),
        ({"game": "ShutTheBox", "algorithm": "dqn"}, 0.99),
        ({"game": "FourTwoOne"}, 0.98),
        ({"game": "FourTwoOne", "algorithm": "dqn"}, 0.99),
    ],
    ids=str,
)
def test_the_main_job_comes_near_the_optimum(tmp_path, options, least):
    config = TrainConfig(**options, run_folder=tmp_path / "run")
    score = train(config)
    assert score.normalized >= least
    costs = sum(blunder.cost for blunder in score.blunders(None))
    assert costs == pytest.approx(score.regret, abs=1e-10)

"""Learning curves of groups of runs, with intervals over their seeds."""

import csv
import sys
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from exactdice.agents import ExactEvalCallback
from exactdice.board.curves import curves
from scipy.stats import trim_mean
from stable_baselines3 import A2C

import exactdice
from exactdice.cli import main

X = np.array([0.0, 100.0, 200.0])
RNG = np.random.default_rng(0)
GOOD = X, np.sort(RNG.uniform(0.5, 1, (8, 3)))
BAD = X, np.sort(RNG.uniform(0, 0.8, (8, 3)))


def test_curves_have_the_interquartile_mean_of_arrays_and_intervals_around_it():
    lines, profiles, better = curves({"good": GOOD, "bad": BAD}, "score").panels
    good, bad = lines.series
    assert good.y == pytest.approx(trim_mean(GOOD[1], 0.25))
    assert (bad.low < bad.y).all()
    assert (bad.y < bad.high).all()
    every = GOOD[1][:, -1][:, None] > BAD[1][:, -1]
    assert better.values == pytest.approx([every.mean()])
    assert better.low < better.values < better.high <= 1
    shares = [np.interp(0.7, each.x, each.y) for each in profiles.series]
    assert shares[0] > shares[1]
    (mean,) = curves({"good": GOOD}, "nines", statistic="mean").panels[0].series
    assert mean.y == pytest.approx(-np.log10(1 - GOOD[1].mean(axis=0)))
    regret = curves({"good": GOOD, "bad": BAD}, "regret").panels[2]
    assert regret.values == pytest.approx(1 - better.values)  # less is better


def test_runs_come_from_folders_of_the_callback_and_from_files(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    env = gym.make("exactdice/ShutTheBox-v0", tiles=3, dice=1)
    for seed in (1, 2):
        exact = ExactEvalCallback(env, interval=20, folder=f"runs/a2c/{seed}", masked=False)
        A2C("MlpPolicy", env, seed=seed, device="cpu").learn(60, callback=exact)
        rows = [{"moves": 10 * at, "score": seed / 4 + at / 40} for at in range(1, 8)]
        with Path(f"runs/own-{seed}.csv").open("w", encoding="utf-8", newline="") as file:
            lines = csv.DictWriter(file, rows[0])
            lines.writeheader()
            lines.writerows(rows)
    own = ["runs/own-1.csv", "runs/own-2.csv"]
    first, other = (
        curves({"own": own, "A2C": "runs/a2c"}, "score", statistic="mean").panels[0].series
    )
    assert first.y[0] == pytest.approx((0.25 + 0.5) / 2 + 1 / 40)
    assert other.x.tolist() == exact.log["timesteps"]
    command = ["plot", "curves", "own=runs/own-1.csv", "own=runs/own-2.csv", "runs/a2c"]
    with pytest.raises(SystemExit) as end:
        main([*command, "--measure", "score", "--picture", "curves.pdf"])
    assert end.value.code == 0
    assert (tmp_path / "curves.pdf").read_bytes().startswith(b"%PDF")
    assert "Score of" not in capsys.readouterr().err
    figure = exactdice.plot("curves", {"A2C": "runs/a2c"}, over="seconds")
    assert len(figure.axes) == 2


def test_scores_at_different_places_are_the_last_before_each(tmp_path):
    (tmp_path / "a.csv").write_text(
        "run,steps,score\n1,0,0\n1,100,0.5\n1,200,0.9\n2,50,0.1\n2,150,0.2\n", "utf-8"
    )
    (line,) = curves({"a": tmp_path}, "score", statistic="mean").panels[0].series
    assert (line.x[0], line.x[-1]) == (50, 150)
    assert {*line.y.round(9)} == {0.05, 0.3, 0.35}  # halves of 0 and .1, .5 and .1, .5 and .2


@pytest.mark.parametrize(
    ("groups", "options", "message"),
    [
        ({}, {}, "runs must be given, as folders or files .csv, .* got none"),
        ({"a": "nowhere"}, {}, "runs must be folders with evaluations.npz, or files .csv, got now"),
        ({"a": (X, np.zeros(3))}, {}, r"scores \(seed, mark\), got shapes \(3,\) and \(3,\)"),
        ({"a": GOOD}, {"measure": "wins"}, "measure must be one of"),
    ],
)
def test_what_cannot_be_drawn_is_refused_by_name(groups, options, message):
    with pytest.raises(ValueError, match=message):
        exactdice.plot("curves", groups, **options)


def test_only_curves_have_their_options(monkeypatch):
    with pytest.raises(ValueError, match="measure must be left out: learning has no such option"):
        exactdice.plot("learning", "run", measure="score")
    monkeypatch.setattr(sys, "argv", [])
    with pytest.raises(SystemExit):
        main(["plot", "learning", "run", "--measure", "score"])

"""The program of the figures of docs/debugging.md: it trains as the examples do."""

import importlib
import re
import sys
from pathlib import Path

import pytest

import exactdice

ROOT = Path(__file__).parent.parent
ROUNDS = 2
SMALL = "exactdice/FourTwoOne-v0"


@pytest.fixture
def figures(monkeypatch):
    """Import the program, which puts the folder of the examples on the path."""
    monkeypatch.setattr(sys, "path", [str(ROOT / "benchmarks"), *sys.path])
    for name in ("debugging", "dqn", "ppo"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield importlib.import_module("debugging")
    for name in ("debugging", "dqn", "ppo"):
        sys.modules.pop(name, None)


def test_its_ppo_is_that_of_the_example(figures):
    args = figures.ppo.Args(env_id=SMALL, total_timesteps=ROUNDS * 512, num_envs=64, audits=1)
    games, agent = figures.train_ppo(args, "SameStep", args.total_timesteps)
    assert exactdice.exact_evaluation(agent.actor, games.envs) == figures.ppo.main(args)


def test_its_dqn_is_that_of_the_example(figures):
    args = figures.dqn.Args(
        env_id=SMALL, total_timesteps=ROUNDS * 1024, learning_starts=0, audits=1
    )
    games, network, visits = figures.train_dqn(args)
    assert exactdice.exact_evaluation(network, games.envs) == figures.dqn.main(args)
    assert visits.sum() == args.total_timesteps


def test_the_page_has_the_pictures_that_it_draws():
    page = (ROOT / "docs/debugging.md").read_text(encoding="utf-8")
    program = (ROOT / "benchmarks/debugging.py").read_text(encoding="utf-8")
    shown = set(re.findall(r"\]\((\w+\.png)\)", page))
    assert shown == set(re.findall(r'"docs" / "(\w+\.png)"', program))
    assert all((ROOT / "docs" / name).is_file() for name in shown)

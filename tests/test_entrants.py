"""Programs of benchmarks/: foreign ones on a track, and the figures of learners."""

import importlib
import json
import re
import sys

import pytest
from checkout import ROOT

import exactdice

CLIENTS = ROOT / "benchmarks/clients"
#: A program in the manner of CleanRL: a module that makes its environments and trains at once.
SCRIPT = """
import sys
from types import SimpleNamespace
import gymnasium as gym, numpy as np, torch

given = dict(zip(sys.argv[1::2], sys.argv[2::2]))
args = SimpleNamespace(num_envs=3, seed=int(given["--seed"]), moves=int(given["--total-timesteps"]))
envs = gym.vector.SyncVectorEnv([lambda: gym.make(given["--env-id"]) for _ in range(args.num_envs)])
torch.manual_seed(args.seed)
seen, _ = envs.reset(seed=args.seed)
q_network = torch.nn.Linear(seen.shape[1], envs.single_action_space.n)
resets = 0
for step in range(args.moves // args.num_envs + EXTRA):
    seen, rewards, ended, truncated, infos = envs.step(np.zeros(args.num_envs, int))
    resets += ended.sum()
    assert "final_info" not in infos and (not ended.any() or "final_obs" in infos)
envs.close()
assert resets > args.moves // 10
"""


@pytest.fixture
def cells(monkeypatch, tmp_path):
    """Call the programs of benchmarks/clients: what is to be done in a folder."""
    monkeypatch.syspath_prepend(CLIENTS)
    words = ["--folder", str(tmp_path), "--games", "FourTwoOne", "--seeds", "4"]

    def call(masked=False):
        entry = importlib.import_module("entry")
        return list(entry.cells(entry.parser("").parse_args(words), "mine", masked=masked))

    yield call
    for name in ("entry", "cleanrl_track"):
        sys.modules.pop(name, None)


def run(found, folder, *words, extra=0):
    (path := folder / "mine.py").write_text(SCRIPT.replace("EXTRA", str(extra)))
    importlib.import_module("cleanrl_track").run(path, found, list(words))


def test_a_script_is_counted_and_scored_at_the_marks(cells, tmp_path):
    (found,) = cells()
    run(found, tmp_path, "--more", "options")
    assert found.moves == 9999  # the last whole step of three games
    assert found.scored == [99, 198, 498, 999, 1998, 4998, 9999]
    said = json.loads((tmp_path / "FourTwoOne-4.json").read_text())
    score = exactdice.verify(tmp_path / "FourTwoOne-4.npz")
    assert said["normalized"] == [score.normalized] * 7  # the script learns nothing
    assert said["as_it_plays"][0] < said["normalized"][0]
    assert cells() == []  # finished


def test_a_script_with_too_many_moves_gets_no_certificate(cells, tmp_path):
    (found,) = cells()
    with pytest.raises(AssertionError, match="mine makes more moves than exactdice-10k"):
        run(found, tmp_path, extra=1)
    assert not list(tmp_path.glob("*.npz"))


def test_an_agent_with_masks_has_one_score(cells, tmp_path):
    (found,) = cells(masked=True)
    found.play(10_000, "random")
    found.finish("random", {})
    said = json.loads((tmp_path / "FourTwoOne-4.json").read_text())
    assert said["as_it_plays"] == said["normalized"]


PROGRAMS = "debugging", "dqn", "ppo"


@pytest.fixture
def figures(monkeypatch):
    """Import the program, which puts the folder of the examples on the path."""
    monkeypatch.setattr(sys, "path", [str(ROOT / "benchmarks"), *sys.path])
    for name in PROGRAMS:
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield importlib.import_module("debugging")
    for name in PROGRAMS:
        sys.modules.pop(name, None)


def test_its_ppo_and_its_dqn_are_those_of_the_examples(figures):
    small = {"env_id": "exactdice/FourTwoOne-v0", "audits": 1}
    args = figures.ppo.Args(total_timesteps=1024, num_envs=64, **small)
    games, agent = figures.train_ppo(args, "SameStep", args.total_timesteps)
    assert exactdice.exact_evaluation(agent.actor, games.envs) == figures.ppo.main(args)
    args = figures.dqn.Args(total_timesteps=2048, learning_starts=0, **small)
    games, network, visits = figures.train_dqn(args)
    assert exactdice.exact_evaluation(network, games.envs) == figures.dqn.main(args)
    assert visits.sum() == args.total_timesteps


def test_pages_have_the_pictures_that_it_draws():
    names = "audit", "training-notes"
    pages = [(ROOT / f"docs/{name}.md").read_text(encoding="utf-8") for name in names]
    program = (ROOT / "benchmarks/debugging.py").read_text(encoding="utf-8")
    drawn = set(re.findall(r'"docs" / "(\w+\.png)"', program))
    assert drawn <= set(re.findall(r"\]\((\w+\.png)\)", "".join(pages)))
    assert all((ROOT / "docs" / name).is_file() for name in drawn)

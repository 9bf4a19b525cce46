"""Foreign programs on a track: moves are counted, marks scored, and certificates hold."""

import json
import sys
from pathlib import Path

import pytest

import exactdice

CLIENTS = Path(__file__).parent.parent / "benchmarks" / "clients"
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
def entering(monkeypatch):
    """Import the programs of benchmarks/clients by their names."""
    monkeypatch.syspath_prepend(CLIENTS)
    before = set(sys.modules)
    import cleanrl_track
    import entry

    yield entry, cleanrl_track
    for name in set(sys.modules) - before:
        if name in ("entry", "cleanrl_track"):
            del sys.modules[name]


def cell(entry, folder, masked=False):
    options = entry.parser("").parse_args(
        ["--folder", str(folder), "--games", "FourTwoOne", "--seeds", "4"]
    )
    return list(entry.cells(options, "mine", masked=masked))


def script(folder, extra=0):
    path = folder / "mine.py"
    path.write_text(SCRIPT.replace("EXTRA", str(extra)))
    return path


def test_a_script_is_counted_and_scored_at_the_marks(entering, tmp_path):
    entry, cleanrl_track = entering
    (found,) = cell(entry, tmp_path)
    cleanrl_track.run(script(tmp_path), found, ["--more", "options"])
    assert found.moves == 9999  # the last whole step of three games
    assert found.scored == [99, 198, 498, 999, 1998, 4998, 9999]
    said = json.loads((tmp_path / "FourTwoOne-4.json").read_text())
    score = exactdice.verify(tmp_path / "FourTwoOne-4.npz")
    assert said["normalized"] == [score.normalized] * 7  # the script learns nothing
    assert said["as_it_plays"][0] < said["normalized"][0]
    assert cell(entry, tmp_path) == []  # finished


def test_a_script_with_too_many_moves_gets_no_certificate(entering, tmp_path):
    entry, cleanrl_track = entering
    (found,) = cell(entry, tmp_path)
    with pytest.raises(AssertionError, match="mine makes more moves than exactdice-10k"):
        cleanrl_track.run(script(tmp_path, extra=1), found, [])
    assert not list(tmp_path.glob("*.npz"))


def test_an_agent_with_masks_has_one_score(entering, tmp_path):
    entry, _ = entering
    (found,) = cell(entry, tmp_path, masked=True)
    found.play(10_000, "random")
    found.finish("random", {})
    said = json.loads((tmp_path / "FourTwoOne-4.json").read_text())
    assert said["as_it_plays"] == said["normalized"]

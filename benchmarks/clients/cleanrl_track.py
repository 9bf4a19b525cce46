"""Enter a script of CleanRL for a track: the file runs as its authors wrote it.

Get https://github.com/vwxyzjn/cleanrl (run with fe8d8a0), and pip install tensorboard tyro. Options
that are not of this program go to the script. ``ppo.py``, ``dqn.py`` and ``pqn.py`` work.

python benchmarks/clients/cleanrl_track.py cleanrl/cleanrl/dqn.py --track exactdice-10k \
    --folder runs/cleanrl --gamma 1 --learning-starts 200 --train-frequency 2

The scripts have no masks. They were written for Gymnasium 0.29, whose vector environments reset an
ended game in the step that ends it; Gymnasium 1.x does so if asked, which ``Counted`` does.
"""

import contextlib
import runpy
import sys
import tempfile
from pathlib import Path
from typing import Any

import gymnasium as gym
import torch
from entry import Cell, cells, parser


def network_of(script: dict[str, Any]) -> torch.nn.Module:
    """Return the network of a running script that has an output for each action."""
    network = script["q_network"] if "q_network" in script else script["agent"].actor
    assert isinstance(network, torch.nn.Module)
    return network


def run(script: Path, cell: Cell, options: list[str]) -> None:
    """Run a script on one cell."""

    class Counted(gym.vector.SyncVectorEnv):
        """Resets an ended game in the same step, and counts the moves."""

        def __init__(self, env_fns: Any) -> None:
            super().__init__(env_fns, autoreset_mode=gym.vector.AutoresetMode.SAME_STEP)

        def step(self, actions: Any) -> Any:
            cell.play(self.num_envs, network_of(vars(sys.modules["__main__"])))
            *step, infos = super().step(actions)
            infos.pop("final_info", None)  # a list in Gymnasium 0.29, but now a dictionary
            return *step, infos

    own = ["--env-id", cell.env_id, "--seed", str(cell.seed)]
    moves = ["--total-timesteps", str(cell.track.moves), "--no-cuda"]
    kept = sys.argv, gym.vector.SyncVectorEnv
    sys.argv, gym.vector.SyncVectorEnv = [str(script), *own, *moves, *options], Counted
    try:
        with (
            tempfile.TemporaryDirectory() as place,
            contextlib.chdir(place),  # the script writes TensorBoard's files there
            contextlib.redirect_stdout(None),
        ):
            ended = runpy.run_path(str(script), run_name="__main__")
    finally:
        sys.argv, gym.vector.SyncVectorEnv = kept
    cell.finish(
        network_of(ended), {name: str(value) for name, value in vars(ended["args"]).items()}
    )


def main() -> None:
    """Run a script on every cell of the track."""
    known = parser("Enter a script of CleanRL for a track.")
    known.add_argument("script", type=Path)
    options, rest = known.parse_known_args()
    script: Path = options.script.resolve()
    sys.path.insert(0, str(script.parents[1]))  # for cleanrl_utils
    for cell in cells(options, f"cleanrl_{script.stem}", masked=False):
        run(script, cell, rest)


if __name__ == "__main__":
    main()

"""PPO of rl_zoo3: training, sample games, a picture of the training, a video, and the exact score.

rl_zoo3 2.9.2 installs beside the versions of constraints.txt but for pandas, of which it wants one
below 3; requests is missing from its requirements, and the video needs two packages more:
pip install 'rl_zoo3[plots]==2.9.2' requests pygame-ce moviepy

python benchmarks/clients/rl_zoo3_ppo.py FourTwoOne 100000
"""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import exactdice

TRAIN = """-m rl_zoo3.train --algo ppo --env exactdice/{game}-v0 --gym-packages exactdice
    -conf agents/hyperparams/ppo.yml -n {moves} -params n_envs:64 n_steps:128 --eval-freq 25000
    -f runs/zoo --device cpu --seed 0"""
ENJOY = """-m rl_zoo3.enjoy --algo ppo --env exactdice/{game}-v0 --gym-packages exactdice
    -f runs/zoo --no-render -n 2000 --device cpu"""
PLOT = """-c 'import pylab, rl_zoo3.plots as p; p.plot_train(); pylab.savefig("runs/zoo/ppo.png")'
    -a ppo -e {game}-v0 -f runs/zoo"""
FILM = """-c 'import exactdice, runpy; runpy.run_module("rl_zoo3.record_video", None, "__main__")'
    --algo ppo --env exactdice/{game}-v0 -f runs/zoo -n 200"""


def main(game: str, moves: int) -> None:
    """Call each program, and score the model that it has saved, as it plays and held to masks."""
    for command in (TRAIN, ENJOY, PLOT, FILM):
        words = shlex.split(command.format(game=game, moves=moves))
        print("$", shlex.join(["python", *words]), flush=True)
        subprocess.run([sys.executable, *words], check=True, env=os.environ | {"MPLBACKEND": "Agg"})
    name = f"exactdice-{game}-v0"
    saved = max(Path("runs/zoo/ppo").glob(f"{name}_*/{name}.zip"), key=os.path.getmtime)
    for masked in (False, True):
        score = exactdice.score(saved, f"exactdice/{game}-v0", masked=masked)
        print(f"masked {masked}: value {score.value:.6f}, normalised {score.normalized:.6f}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))

"""Where the seconds of `python train.py` go: `python benchmarks/training.py` draws a picture.

The main job runs in this process, with its own options after the command, such as `--steps 500000`.
Methods of stable-baselines3 and of this package are timed by processor seconds, each without those
inside it.
"""

import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from time import process_time
from typing import Any

begun = process_time()

import numpy as np  # noqa: E402  # after the clock
from exactdice.agents.learners.vec_env import GameVecEnv  # noqa: E402
from exactdice.agents.runs.callback import RunCallback  # noqa: E402
from exactdice.look.charts import Bars, Plot  # noqa: E402
from exactdice.look.drawing import draw  # noqa: E402
from sb3_contrib import MaskablePPO  # noqa: E402
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer  # noqa: E402
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy  # noqa: E402
from torch import Tensor  # noqa: E402
from torch.optim import Adam  # noqa: E402

from exactdice.cli import main as command  # noqa: E402

#: What is timed: its name in the picture, the class and the method.
PARTS: list[tuple[str, type, str]] = [
    ("rollouts: stable-baselines3's loop", MaskablePPO, "collect_rollouts"),
    ("rollouts: the policy chooses moves", MaskableActorCriticPolicy, "forward"),
    ("rollouts: the environments", GameVecEnv, "step_wait"),
    ("rollouts: masks", GameVecEnv, "env_method"),
    ("rollouts: the buffer, advantages", MaskableRolloutBuffer, "add"),
    ("rollouts: the buffer, advantages", MaskableRolloutBuffer, "compute_returns_and_advantage"),
    ("gradient steps: the loss and the rest", MaskablePPO, "train"),
    ("gradient steps: the policy's laws and values", MaskableActorCriticPolicy, "evaluate_actions"),
    ("gradient steps: backward", Tensor, "backward"),
    ("gradient steps: Adam", Adam, "step"),
    ("exact scores", RunCallback, "evaluate"),
]
PICTURE = Path(__file__).parents[1] / "docs/training-seconds.png"


def timed(
    name: str, function: Callable[..., Any], spent: dict[str, float], open_: list[float]
) -> Any:
    """Add the seconds of a function, without those of others inside it, to those of its name."""

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        open_.append(0.0)
        started = process_time()
        try:
            return function(*args, **kwargs)
        finally:
            seconds = process_time() - started
            spent[name] += seconds - open_.pop()
            if open_:
                open_[-1] += seconds

    return run


def main() -> None:
    """Train, print the seconds of each part, and draw them."""
    spent: dict[str, float] = defaultdict(float)
    open_: list[float] = []
    for name, owner, method in PARTS:
        setattr(owner, method, timed(name, getattr(owner, method), spent, open_))
    with tempfile.TemporaryDirectory() as folder:
        try:
            command(["train", "--run-folder", f"{folder}/run", *sys.argv[1:]])
        except SystemExit as end:
            if end.code:
                raise
    whole = process_time() - begun
    names = list(dict.fromkeys(name for name, *_ in PARTS))
    values = [spent[name] for name in names]
    names, values = [*names, "imports, saving, the last report"], [*values, whole - sum(values)]
    for name, seconds in zip(names, values, strict=True):
        print(f"{seconds:7.1f} s  {seconds / whole:4.0%}  {name}")
    title = f"The main job: {whole:.0f} processor seconds"
    bars = Bars(title=title, x_label="processor seconds", labels=names, values=np.array(values))
    draw(Plot.of(bars, ""), PICTURE)


if __name__ == "__main__":
    main()

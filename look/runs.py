"""Charts of training runs: learning curves, critics, and what was diagnosed.

Only critics and diagnoses need stable-baselines3 and PyTorch, which read the models of runs.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..agents.algorithms import ALGORITHMS, agent_name
from ..agents.runs.config import RunError
from ..agents.runs.folders import MARGIN, load_model, read_config, read_log
from ..baselines import Score, evaluate, score, solve
from ..baselines.scoring.summary import quoted
from ..core import FloatArray, IntArray
from .agents import decision
from .charts import Lines, Panel, Plot, Points, Series

FLOOR = 1e-4  # smaller gaps (1 - normalised score) are drawn at this height
#: The game, the agent and the columns of scores of a run.
Log = tuple[str, str, Mapping[str, FloatArray]]
LONG = 3  # ratio of the longest run to the shortest from which the axis is logarithmic
POINTS = 4000  # largest number of states in a plot
#: Lines of the chart of a run, by title and quantity: names in the legend by column.
PANELS = {
    ("Errors of the critic", "reward"): {
        "critic_bias": "bias",
        "critic_rmse": "root mean square error",
    },
    ("Overestimation of the greedy action", "reward"): {
        "overestimation_mean": "mean, against its own policy",
        "overestimation_mean_optimal": "mean, against optimal play",
        "overestimation_largest": "largest, against its own policy",
    },
    ("Bias of advantage estimates", "reward, root mean square"): {
        "gae_bias": "whole",
        "gae_bias_between_actions": "between actions",
    },
    ("Entropy", "1: uniform, 0: certain"): {
        "entropy": "by occupancy",
        "entropy_by_regret": "where the choice matters",
    },
    ("Optimal play that it misses", "share of its occupancy"): {
        "unvisited": "never visited in training",
        "unmet": "met in few games by the policy",
    },
}
#: Values of lambda in the chart of advantage estimates.
LAMBDAS = np.linspace(0, 1, 21)


def learning(runs: Sequence[Log]) -> Plot:
    """Draw the exact gap to the optimum of runs over their steps."""
    agents = [agent for _, agent, _ in runs]
    colours = colours_of(set(agents))
    alone = len(set(agents)) == len(agents)  # otherwise, the runs of an agent have several colours
    lengths = [float(log["timesteps"][-1]) for *_, log in runs]
    is_long = max(lengths) > LONG * min(lengths)  # a logarithmic axis has no place for 0
    series = []
    for place, (game, agent, log) in enumerate(runs):
        shown = {name: of[is_long and not log["timesteps"][0] :] for name, of in log.items()}
        colour = colours[agent] if alone else place
        x = shown["timesteps"] / 1e6
        series.append(Series(colour=colour, name=f"{game}: {agent}", x=x, **_gaps(shown)))
    exact = not any(MARGIN in log for *_, log in runs)
    panel = Lines(
        title="Exact distance to the optimum" if exact else "Distance to the optimum",
        x_label="agent's moves, million",
        y_label="1 - normalised score (random play: 1)",
        series=series,
        log_y=True,
        log_x=is_long,
    )
    ends = {line.name: float(line.y[-1]) for line in series}
    near, far = min(ends, key=ends.__getitem__), max(ends, key=ends.__getitem__)
    told = f"{quoted(near)} ends at {ends[near]:.4f}."
    if near != far:
        told = (
            f"{quoted(near)} ends nearest to the optimum ({ends[near]:.4f}), {quoted(far)} "
            f"farthest from it ({ends[far]:.4f})."
        )
    sampled = " Bands are 95 % intervals of scores from sample games; points without one are exact."
    return Plot.of(
        panel,
        f"{told} {'Exact gap' if exact else 'Gap'} to the optimum during training, over "
        f"the agent's moves, a run for each line; gaps below {FLOOR:g} are drawn at {FLOOR:g}."
        f"{'' if exact else sampled}",
    )


def log_of(folder: Path) -> Log:
    """Read the log of a run folder."""
    config = read_config(folder)
    agent = agent_name(config.algorithm, str(config.reward))
    return config.game_name, agent, read_log(folder)


def _gaps(log: Mapping[str, FloatArray]) -> dict[str, Any]:
    """Give the gaps to the optimum of a log, as the arguments of a line."""
    gaps = 1 - log["normalized"]
    if MARGIN not in log:
        return {"y": np.maximum(gaps, FLOOR)}
    span = np.divide(log["regret"], gaps, out=np.ones_like(gaps), where=gaps > 0)
    wide = log[MARGIN] / span
    ends = {"y": gaps, "low": gaps - wide, "high": gaps + wide}
    return {name: np.maximum(end, FLOOR) for name, end in ends.items()}


def colours_of(agents: set[str]) -> dict[str, int]:
    """Give each agent a colour for all pages and pictures, that of its algorithm or a later one."""
    own = [known.title for known in ALGORITHMS.values()]
    return {agent: place for place, agent in enumerate([*own, *sorted(agents.difference(own))])}


def critic(folder: Path, which: str = "final") -> Plot:
    """Draw the critic's estimates of state values, against the exact values."""
    from ..agents.learners.adapter import ModelPolicy  # needs stable-baselines3

    config = read_config(folder)
    model, env = load_model(folder, which)
    gamma = float(getattr(model, "gamma", 1.0))  # Q-learning has no discount
    reward = str(config.reward)
    if config.self_play or not (gamma == 1 or (gamma == 0 and reward == "regret")):
        raise RunError(
            "critic needs a run without self-play with gamma 1, or gamma 0 and the reward regret, "
            f"got {folder}, of gamma {gamma:g} and the reward {reward}"
        )
    learned = score(
        model, env, deterministic=ALGORITHMS[config.algorithm].learns_from != "rollouts"
    )
    task = learned.task
    states = np.argsort(-learned.occupancy, kind="stable")[:POINTS]
    states = states[learned.occupancy[states] > 0]
    masks = task.game.mask(states)
    seen = task.game.observe(states, task.seat)
    believed = ModelPolicy(model, task.game).critic(seen, masks) / env.reward_scale
    exact, name = _worth(learned, states, reward, gamma)
    panel = Points(
        title=f"What the critic of {quoted(folder.name)} believes",
        x_label=f"exactly: {name}",
        y_label="what the critic says",
        x=exact,
        y=believed,
        weights=learned.occupancy[states],
        words=lambda point: (
            f"{decision(learned, int(states[point]))}\nexactly {exact[point]:.4f}, the critic "
            f"says {believed[point]:.4f}"
        ),
    )
    off = float(np.average(np.abs(believed - exact), weights=learned.occupancy[states]))
    return Plot.of(
        panel,
        f"The critic is wrong by {off:.4f} on average over the states that the agent meets. Its "
        f"estimate of each of the {len(states)} likeliest states, against the exact value under "
        "the agent's policy. Larger points are met more often; a perfect critic is on the line.",
    )


def _worth(learned: Score, states: IntArray, reward: str, gamma: float) -> tuple[FloatArray, str]:
    """Return the exact expected rewards from states, and their name."""
    task = learned.task
    if gamma == 0:
        return -learned.costs[states] / learned.occupancy[states], "regret of the move, negative"
    worth = evaluate(learned.agent, task).found.at(task.seat, states)
    if reward == "outcome":
        return worth, "expected payoff of its policy"
    return worth - solve(task).found.at(task.seat, states), "payoff less the optimal one"


def diagnosis(folder: Path) -> Plot:
    """Draw exact figures of the critic, advantages and exploration over the steps."""
    from ..diagnose.training.model import Diary  # needs PyTorch

    diary = Diary.read(folder)
    panels: list[Panel] = []
    absent: dict[str, str] = {}  # reason by title
    for (title, unit), lines in PANELS.items():
        series = []
        for column, name in lines.items():
            numbers = diary.column(column)
            known = np.isfinite(numbers)
            if known.any():
                steps = diary.column("timesteps")[known] / 1e6
                series.append(Series(name=name, x=steps, y=numbers[known]))
        if not series:
            absent[title] = diary.missing.get(next(iter(lines)), "it had no turn")
        else:
            panels.append(
                Lines(
                    title=title,
                    x_label="agent's moves, million",
                    y_label=unit,
                    series=series,
                    level=0.0,
                    points=True,
                )
            )
    if not panels:
        raise RunError(
            f"run folder must hold figures, got {folder}: none fitted into the budget; "
            "train for longer, or call exactdice diagnose"
        )
    return Plot(
        title=f"{folder.name}: the numbers that it learns from",
        caption="Exact figures of the model in training, over all states, weighted by how often "
        "its policy meets them."
        + "".join(f" No {title.lower()}: {reason}." for title, reason in absent.items()),
        panels=panels,
    )


def gae_by_lambda(folder: Path) -> Plot:
    """Draw the exact bias and noise of advantage estimates against lambda."""
    from ..diagnose.training.model import Diagnosed, require_fixed_opponents  # need PyTorch

    require_fixed_opponents(folder)
    model, _ = load_model(folder)
    diagnosed = Diagnosed(model)
    reason = diagnosed.without_gae()
    if reason is not None:
        raise RunError(f"gae needs a run that estimates advantages, got {folder}: {reason}")
    player, values, moves = diagnosed.player(), diagnosed.values(), diagnosed.moves()
    gamma = diagnosed.model.gamma
    found = [moves.gae(player, values, gamma, float(one)) for one in LAMBDAS]
    drawn = {
        "Bias between actions": np.array([one.rms_bias_between_actions for one in found]),
        "Standard deviation": np.array([one.rms_std for one in found]),
    }
    panels = [
        Lines(
            title=title,
            x_label=f"lambda; the run has {diagnosed.model.gae_lambda:g}",
            y_label="reward, root mean square",
            series=[Series(name=title, x=LAMBDAS, y=numbers, colour=colour)],
            level=0.0,
            points=True,
        )
        for colour, (title, numbers) in enumerate(drawn.items())
    ]
    return Plot(
        title=f"Advantage estimates of {folder.name}, by lambda",
        caption="Exact bias and noise of generalised advantage estimates with the final critic, "
        "over all moves of the final policy. The bias is the part that differs between the actions "
        "of a state; the rest changes no gradient. Larger batches lessen the noise and leave the "
        "bias.",
        panels=panels,
    )


def figures(folder: Path) -> list[list[str]]:
    """Return the last figures of a run as rows of a table: name, number, meaning."""
    from ..diagnose.training.model import COLUMNS, Diary  # need PyTorch

    diary, rows = Diary.read(folder), []
    for name in diary.known:
        if name != "timesteps":
            numbers = diary.column(name)
            last = int(np.flatnonzero(np.isfinite(numbers))[-1])
            steps = f"{diary.rows[last]['timesteps']:,.0f}"
            rows.append([name, f"{numbers[last]:.6f}", steps, COLUMNS[name]])
    return rows

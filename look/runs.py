"""Charts of training runs: learning curves, critics, and the leaderboard with its intervals.

Only a critic needs stable-baselines3 and PyTorch, which read the models of runs.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from ..agents.algorithms import ALGORITHMS
from ..agents.board.leaderboard import Cell, Curve, Summary, agent_name, read_cells, summarise
from ..agents.runs.config import RunError
from ..agents.runs.folders import MARGIN, load_model, read_config, read_log
from ..baselines import Score, evaluate, score, solve
from ..baselines.scoring.summary import quoted
from ..core import FloatArray, IntArray
from .agents import decision
from .charts import Bars, Lines, Plot, Points, Series

FLOOR = 1e-4  # smaller gaps (1 - normalised score) are drawn at this height
POINTS = 4000  # largest number of states in a plot


def learning(folders: Sequence[Path]) -> Plot:
    """Draw the gap to the optimum of runs over their moves; sample scores have a 95 % interval.

    Raises:
        RunError: if a folder has no scores.
    """
    configs = [read_config(folder) for folder in folders]
    agents = [agent_name(config) for config in configs]
    names = names_in_order(set(agents))
    alone = len(set(agents)) == len(agents)  # otherwise, the runs of an agent have several colours
    logs = [read_log(folder) for folder in folders]
    series = [
        Series(
            colour=names.index(agents[place]) if alone else place,
            name=f"{config.game_name}: {agents[place]}",
            x=log["timesteps"] / 1e6,
            **_gaps(log),
        )
        for place, (log, config) in enumerate(zip(logs, configs, strict=True))
    ]
    exact = not any(MARGIN in log for log in logs)
    panel = Lines(
        title="Exact distance to the optimum" if exact else "Distance to the optimum",
        x_label="agent's moves, million",
        y_label="1 - normalised score (random play: 1)",
        series=series,
        log_y=True,
    )
    sampled = " Bands are 95 % intervals of scores from sample games; points without one are exact."
    return Plot.of(
        panel,
        f"{_ends(series)} {'Exact gap' if exact else 'Gap'} to the optimum during training, over "
        f"the agent's moves; gaps below {FLOOR:g} are drawn at {FLOOR:g}."
        f"{'' if exact else sampled}",
    )


def _ends(series: Sequence[Series]) -> str:
    """Say which run ends nearest to the optimum, and which one farthest from it."""
    ends = {line.name: float(line.y[-1]) for line in series}
    near, far = min(ends, key=ends.__getitem__), max(ends, key=ends.__getitem__)
    if near == far:
        return f"{quoted(near)} ends at {ends[near]:.4f}."
    return (
        f"{quoted(near)} ends nearest to the optimum ({ends[near]:.4f}), {quoted(far)} farthest "
        f"from it ({ends[far]:.4f})."
    )


def _gaps(log: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """Give the gaps to the optimum of a log, as the arguments of a line."""
    gaps = 1 - log["normalized"]
    if MARGIN not in log:
        return {"y": np.maximum(gaps, FLOOR)}
    span = np.divide(log["regret"], gaps, out=np.ones_like(gaps), where=gaps > 0)
    wide = log[MARGIN] / span
    ends = {"y": gaps, "low": gaps - wide, "high": gaps + wide}
    return {name: np.maximum(end, FLOOR) for name, end in ends.items()}


def leaderboard(folder: Path) -> Plot:
    """Draw the mean score of every agent in every game, with a confidence interval.

    Raises:
        RunError: if the folder has no finished runs.
    """
    rows = summarise(list(read_cells(folder)))
    if not rows:
        raise RunError(f"folder must hold finished runs, got {folder}")
    middle, high, low = np.maximum(1 - np.array([row.mean for row in rows]), FLOOR / 10).T
    known = not np.isnan(low).any()  # with two seeds or more
    names = names_in_order({row.agent for row in rows})
    panel = Bars(
        title="Exact distance to the optimum, by game and agent",
        x_label="1 - normalised score",
        labels=[f"{row.game}: {row.agent}" for row in rows],
        values=middle,
        low=low if known else None,
        high=high if known else None,
        log=True,
        colours=[names.index(row.agent) for row in rows],
        words=[f"{row.seeds} seeds, mean normalised score {row.mean.middle:.6f}" for row in rows],
    )
    return Plot.of(
        panel,
        f"{_nearest(rows)}Mean gap to the optimum of the leaderboard's agents over seeds, one "
        "colour for each agent, with a 95 % bootstrap interval over the seeds. Further left is "
        "better, and random play is at 1; gaps below "
        f"{FLOOR / 10:g} are drawn at {FLOOR / 10:g}.",
    )


def names_in_order(agents: set[str]) -> list[str]:
    """List agents in an order by which each has one colour on all pages and pictures."""
    titles = [known.title for known in ALGORITHMS.values()]  # of the outcome as the reward
    return titles + sorted(agents - set(titles))


def _nearest(rows: Sequence[Summary]) -> str:
    """Say which agent is nearest to the optimum in most games."""
    games = dict.fromkeys(row.game for row in rows if row.game != "all")
    best = [
        max((row for row in rows if row.game == game), key=lambda row: row.mean.middle).agent
        for game in games
    ]
    most = max(dict.fromkeys(best), key=best.count)
    return f"{quoted(most)} is nearest to the optimum in {best.count(most)} of {len(games)} games. "


def curves(cells: Mapping[Cell, Curve]) -> Plot:
    """Draw the learning curves of finished runs by game and agent: mean and range of the seeds.

    Runs with a single exact score, as in Yahtzee, have no curve.
    """
    games: dict[str, dict[str, list[Curve]]] = {}
    for cell, curve in cells.items():
        if len(curve[0]) > 1:
            games.setdefault(cell.game, {}).setdefault(agent_name(cell), []).append(curve)
    names = names_in_order({agent_name(cell) for cell in cells})
    panels = [
        Lines(
            title=game,
            x_label="agent's moves, million",
            y_label="1 - normalised score",
            series=[_over_seeds(agent, runs, names.index(agent)) for agent, runs in agents.items()],
            log_y=True,
        )
        for game, agents in games.items()
    ]
    return Plot(
        title="Learning curves",
        caption="Exact gap to the optimum, over the agent's moves: the mean of all seeds as a "
        "line, the range from the best to the worst seed as a band.",
        panels=panels,
    )


def _over_seeds(agent: str, runs: Sequence[Curve], colour: int) -> Series:
    shortest = min(len(steps) for steps, _ in runs)
    scores = np.array([scores[:shortest] for _, scores in runs])
    missing = np.maximum(1 - scores, FLOOR / 10)
    return Series(
        name=agent,
        x=runs[0][0][:shortest] / 1e6,
        y=missing.mean(axis=0),
        low=missing.min(axis=0),
        high=missing.max(axis=0),
        colour=colour,
    )


def critic(folder: Path, which: str = "final") -> Plot:
    """Draw the critic's estimates of state values, against the exact values.

    Raises:
        RunError: if the exact values of the run's rewards are not known.
    """
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
            f"{decision(learned, int(states[point]))}<br>exactly {exact[point]:.4f}, the critic "
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

"""Figures of learners: `python benchmarks/debugging.py autoreset`, `lambda` or `dqn`.

Each trains the learners of `examples/` on Greed and prints its figures as rows of a table: 18, 28
and 4 trainings, of half a minute (ppo) or two minutes (dqn) of processor time each. `lambda` also
draws docs/gae.png, and `autoreset` docs/autoreset.png. Its figures stand in docs/audit.md, the
others in docs/training-notes.md.
"""

import sys
from collections.abc import Callable, Iterable
from copy import deepcopy
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from exactdice.baselines import task_and_sight
from exactdice.baselines.scoring.blunders import Blunder
from exactdice.diagnose import CriticFigures, critic, overestimation
from exactdice.diagnose.advantages import AgentMoves
from exactdice.diagnose.view import AgentView
from exactdice.look.charts import Lines, Plot, Series
from exactdice.look.drawing import draw

import exactdice

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "examples"))
import dqn  # noqa: E402 - after its folder is on the path
import ppo  # noqa: E402 - likewise

MOVES = 1_000_000
FEWER = 760_000  # without the rows that are no moves, 24 % of a million
LAMBDAS = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 0.95, 1.0)
#: Edges between the groups of exact values in the story of the autoreset.
EDGES = np.linspace(0, 1, 11)
#: Edges of groups of mistakes: what the move costs where it is made, and games that meet it.
GAPS = (0, 0.002, 0.005, 0.01, 0.02, 1)
MET = (0, 1e-4, 1e-3, 1e-2, 1)


def make_envs(args: Any, autoreset: str) -> Any:
    """Make the environments of the examples."""
    kind: dict[str, Any] = {"encoding": "one_hot_float", "autoreset_mode": autoreset}
    return gym.make_vec(args.env_id, args.num_envs, **kind)


def train_ppo(args: ppo.Args, autoreset: str, moves: int) -> tuple[ppo.Games, ppo.Agent]:
    """Train as examples/ppo.py does, without its audits, and stop after some moves."""
    torch.manual_seed(args.seed)
    games = ppo.Games(make_envs(args, autoreset), args.seed)
    agent = ppo.Agent(games.observations.shape[1], games.masks.shape[1])
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    a_round = args.num_envs * args.num_steps
    rounds = args.total_timesteps // a_round
    for number in range(moves // a_round):
        steps, last_values = ppo.collect(games, agent, args.num_steps)
        steps["advantages"] = ppo.advantages_of(steps, last_values, args)
        steps["returns"] = steps["advantages"] + steps["values"]
        ppo.update(agent, optimizer, steps, args, left=1 - number / rounds)
    return games, agent


def by_value(found: CriticFigures) -> np.ndarray:
    """Return mean exact values and the critic's, shape (2, group of exact values)."""
    group = np.clip(np.digitize(found.exact, EDGES) - 1, 0, len(EDGES) - 2)
    weight = np.bincount(group, found.occupancy, len(EDGES) - 1)
    given = np.bincount(group, found.occupancy * found.given, len(EDGES) - 1)
    exact = np.bincount(group, found.occupancy * found.exact, len(EDGES) - 1)
    with np.errstate(invalid="ignore"):
        means: np.ndarray = np.stack([exact / weight, given / weight])
    return means


def autoreset() -> None:
    """Train with and without the rows that Gymnasium's next-step autoreset adds.

    A third run has as many moves as the second has without these rows.
    """
    print(
        "| lambda | autoreset | moves | seed | score | critic: bias | rmse | explained variance |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for gae_lambda in (0.3, 0.95):
        lines = []
        for mode, moves in (("SameStep", MOVES), ("NextStep", MOVES), ("SameStep", FEWER)):
            for seed in (1, 2, 3):
                args = ppo.Args(seed=seed, total_timesteps=moves, gae_lambda=gae_lambda)
                games, agent = train_ppo(args, mode, moves)
                score = exactdice.exact_evaluation(agent.actor, games.envs)["normalized"]
                found = critic(games.envs, agent.actor, agent.values)
                figures = score, found.bias, found.rmse, found.explained_variance
                words = " | ".join(f"{figure:.4f}" for figure in figures)
                print(f"| {gae_lambda} | {mode} | {moves:,} | {seed} | {words} |", flush=True)
            exact, given = by_value(found)
            lines.append(Series(name=mode, x=exact, y=given))
            print("  exact values", exact.round(3), "critic", given.round(3))
            for worst in found.worst(4):
                print("   ", worst.words)
        if gae_lambda == 0.3:
            draw_values(lines[:2])


def draw_values(lines: list[Series]) -> None:
    """Draw the critics' values against the exact ones."""
    ideal = Series(name="exact", x=np.array([0.0, 1.0]), y=np.array([0.0, 1.0]), colour=6)
    panel = Lines(
        title="What the critic says of positions",
        x_label="exact value of the position",
        y_label="value that the critic gives, mean",
        series=[*lines, ideal],
        points=True,
    )
    caption = (
        "Positions in ten groups of exact values, weighted by occupancy; PPO, a million moves."
    )
    plot = Plot(title="A critic under each autoreset", caption=caption, panels=[panel])
    draw(plot, ROOT / "docs" / "autoreset.png")


def by_lambda() -> None:
    """Bias and noise of GAE half-way through a training, beside scores of short trainings."""
    games, agent = train_ppo(ppo.Args(total_timesteps=2 * MOVES), "SameStep", MOVES)
    moves = AgentMoves(games.envs)
    print("| lambda | bias | between actions | standard deviation | together | seeds 1 to 3 |")
    print("| --- | --- | --- | --- | --- | --- |")
    rows = []
    for gae_lambda in LAMBDAS:
        found = moves.gae(agent.actor, agent.values, 1.0, gae_lambda)
        between, noise = found.rms_bias_between_actions, found.rms_std
        scores = []
        for seed in (1, 2, 3):
            args = ppo.Args(seed=seed, total_timesteps=MOVES, gae_lambda=gae_lambda)
            trained, short = train_ppo(args, "SameStep", MOVES)
            scores.append(exactdice.exact_evaluation(short.actor, trained.envs)["normalized"])
        rows.append([between, noise, *scores])
        both = np.hypot(between, noise / np.sqrt(args.num_envs * args.num_steps))
        words = " | ".join(f"{each:.4f}" for each in (found.rms_bias, between, noise, both))
        print(
            f"| {gae_lambda} | {words} | {', '.join(f'{one:.4f}' for one in scores)} |", flush=True
        )
    draw_lambdas(np.array(rows))


def draw_lambdas(rows: np.ndarray) -> None:
    """Draw bias, noise and scores against lambda; rows of shape (lambda, figure)."""
    unit = "reward, root mean square"
    scores = rows[:, 2:]
    drawn = [
        ("Bias between actions", unit, rows[:, 0], {}),
        ("Standard deviation", unit, rows[:, 1], {}),
        (
            "Score after a million moves",
            "normalised score",
            scores.mean(axis=1),
            {"low": scores.min(axis=1), "high": scores.max(axis=1)},
        ),
    ]
    panels = [
        Lines(
            title=title,
            x_label="lambda",
            y_label=label,
            series=[Series(name="", x=np.array(LAMBDAS), y=y, colour=colour, **band)],
            points=True,
        )
        for colour, (title, label, y, band) in enumerate(drawn)
    ]
    caption = "Exact bias and noise of the advantage estimates of one policy and critic, half-way."
    plot = Plot(title="Which lambda? PPO on Greed", caption=caption, panels=panels)
    draw(plot, ROOT / "docs" / "gae.png")


def train_dqn(args: dqn.Args) -> tuple[dqn.Games, torch.nn.Module, np.ndarray]:
    """Train as examples/dqn.py does, without its audits; also count visits, (state, action)."""
    torch.manual_seed(args.seed)
    games = dqn.Games(make_envs(args, args.autoreset), args.seed)
    view = AgentView(games.envs)
    visits = np.zeros((view.task.game.num_states, view.task.game.num_actions), dtype=np.int64)
    network = dqn.make_network(games.observations.shape[1], games.masks.shape[1])
    networks = dqn.Networks(network, target=deepcopy(network))
    optimizer = torch.optim.Adam(network.parameters(), lr=args.learning_rate)
    buffer, a_round = dqn.Buffer(args.buffer_size), args.num_envs * args.num_steps
    rounds = args.total_timesteps // a_round
    for number in range(rounds):
        step = number * a_round
        for batch in dqn.collect(games, network, dqn.epsilon_at(step, args), args.num_steps):
            buffer.add(batch)
            states = view.states_at(batch["observations"].numpy(), "observations", (args.num_envs,))
            np.add.at(visits, (states, batch["actions"].numpy()), 1)
        if step >= args.learning_starts:
            optimizer.param_groups[0]["lr"] = args.learning_rate * (1 - number / rounds)
            due = step % args.target_interval < a_round
            dqn.update(networks, optimizer, buffer, args, due)
    return games, network, visits


def shares(name: str, of: Iterable[float], costs: np.ndarray, edges: tuple[float, ...]) -> None:
    """Print the share of the regret in each group."""
    whole, _ = np.histogram([*of], edges, weights=costs)
    words = ", ".join(
        f"{low:g} to {high:g}: {part:.1%}"
        for low, high, part in zip(edges[:-1], edges[1:], whole / costs.sum(), strict=True)
    )
    print(f"  regret by {name}: {words}")


def print_mistakes(blunders: list[Blunder], met: Callable[[Blunder], float]) -> np.ndarray:
    """Print where a regret comes from; return the costs."""
    costs = np.array([each.cost for each in blunders])
    shares("cost of the move", (each.best_value - each.value for each in blunders), costs, GAPS)
    shares("games that meet it", (met(each) for each in blunders), costs, MET)
    top = np.cumsum(costs)[[0, 4, 9, 49]] / costs.sum()
    print(f"  {len(costs)} decisions; the first 1, 5, 10, 50 of them: {top.round(3)}")
    for each in blunders[:3]:
        print("   ", each.words)
    return costs


def overestimated() -> None:
    """Say what DQN overestimates, and from which decisions its regret comes."""
    env = gym.make("exactdice/Greed-v0")
    for seed in range(5):
        file = ROOT / f"benchmarks/leaderboard/certificates.zip/Greed-dqn-outcome-{seed}.npz"
        score = exactdice.score(file, env)
        print(f"leaderboard, seed {seed}: {score.normalized:.4f}, regret {score.regret:.5f}")
        print_mistakes(score.blunders(None), lambda each: each.occupancy)
    for seed in (1, 2):
        for double in (False, True):
            explain(dqn.Args(seed=seed, double=double))


def explain(args: dqn.Args) -> None:
    """Train a DQN, and print its overestimation, in all and at its mistakes."""
    games, network, visits = train_dqn(args)
    score = exactdice.score(network, games.envs)
    found = overestimation(games.envs, network)
    own, best = found.against_own_policy, found.against_optimum
    kind = "double DQN" if args.double else "DQN"
    print(f"{kind}, seed {args.seed}: {score.normalized:.4f}, regret {score.regret:.5f}")
    for name, figures in (("own policy", own), ("optimal play", best)):
        spread = np.sqrt(np.average(figures.errors**2, weights=figures.occupancy))
        print(f"  against {name}: mean {figures.mean:.5f}, rms {spread:.5f}, {figures.largest:.5f}")
    for worst in own.worst(5):
        print("   ", worst.words)
    blunders = score.blunders(None)
    costs = print_mistakes(blunders, lambda each: each.occupancy)
    task, sight = task_and_sight(games.envs)
    seen = np.array([each.observation for each in blunders])
    assert sight is not None
    with torch.no_grad():
        given = network(torch.as_tensor(np.asarray(sight.show(seen)))).numpy()
    rows, states = np.arange(len(seen)), task.game.encode(seen)
    chosen = np.array([each.action for each in blunders])
    optimal = np.array([each.best_action for each in blunders])
    above = given[rows, chosen] - [each.value for each in blunders]
    below = given[rows, optimal] - [each.best_value for each in blunders]
    for name, errors in (("action taken", above), ("best action", below)):
        print(f"  error at mistakes, {name}: {np.average(errors, weights=costs):.5f}")
    print(f"  cost at mistakes: {np.average(above - below, weights=costs):.5f} closer than it says")
    gaps = np.array([each.best_value - each.value for each in blunders])
    means = np.array([each.best_value for each in blunders])
    counts = visits[states, chosen], visits[states, optimal]
    with np.errstate(divide="ignore"):
        noise = np.sqrt(means * (1 - means) * (1 / counts[0] + 1 / counts[1]))
    shares("cost of the move in standard errors", gaps / noise, costs, (0, 1, 2, 4, 1e9))
    for name, actions in (("action taken", chosen), ("best action", optimal)):
        shares(f"visits of the {name}", visits[states, actions], costs, (0, 100, 1000, 10000, 1e9))


if __name__ == "__main__":
    torch.set_num_threads(1)
    {"autoreset": autoreset, "lambda": by_lambda, "dqn": overestimated}[sys.argv[1]]()

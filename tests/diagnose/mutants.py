"""One-line mistakes in the learners of examples/, and the names that the audits give.

``python tests/diagnose/mutants.py`` prints them as the table of docs/mutants.md.
"""

import contextlib
import functools
import io
import sys
import types
from pathlib import Path
from typing import NamedTuple

import gymnasium as gym

EXAMPLES = Path(__file__).parents[2] / "examples"
GREED = {"env_id": "exactdice/Greed-v0", "max_score": 12}
SETTINGS = {
    "ppo": {"num_envs": 64, "num_steps": 16, "batch_size": 256, "learning_rate": 0.01},
    "dqn": {
        "num_envs": 64,
        "num_steps": 16,
        "batch_size": 256,
        "buffer_size": 4096,
        "learning_starts": 1024,
        "target_interval": 2048,
        "exploration_fraction": 0.6,
    },
}
ROUNDS = {"ppo": 2, "dqn": 4}


class Mutant(NamedTuple):
    """A one-line mistake.

    Attributes:
        learner: "ppo" or "dqn".
        planted: in words.
        right: text of the learner.
        wrong: what it is replaced by.
        check: the check that finds it.
        name: that the audit gives; None if it finds the mistake and does not know it.
        game: keywords of the environment.
        also: other names that it may give, of consequences of the mistake.
        settings: options of the learner, such as gamma.
    """

    learner: str
    planted: str
    right: str
    wrong: str
    check: str
    name: str | None
    game: dict = GREED
    also: tuple = ()
    settings: dict = {}  # noqa: RUF012  never changed


def run(learner, right="", wrong="", game=GREED, rounds=None, **settings):
    """Train a learner with a text of it replaced; return the reports of its audits."""
    source = (EXAMPLES / f"{learner}.py").read_text()
    assert source.count(right) == 1 or not right, (right, source.count(right))
    module = types.ModuleType(f"mutant_{learner}")
    sys.modules[module.__name__] = module  # dataclasses look there
    exec(compile(source.replace(right, wrong) if right else source, learner, "exec"), vars(module))
    env_id, keywords = game["env_id"], {key: game[key] for key in game if key != "env_id"}
    module.gym = types.SimpleNamespace(make_vec=functools.partial(gym.make_vec, **keywords))
    module.exactdice = types.SimpleNamespace(exact_evaluation=lambda *_: {})  # for speed
    reports, audit = [], module.audit

    def kept(*arguments, **options):
        reports.append(audit(*arguments, **options))
        return reports[-1]

    module.audit = kept
    settings = SETTINGS[learner] | settings
    rounds = rounds or ROUNDS[learner]
    moves = rounds * settings["num_envs"] * settings["num_steps"]
    args = module.Args(env_id, total_timesteps=moves, audits=rounds, **settings)
    with contextlib.redirect_stdout(io.StringIO()):
        module.main(args)
    return reports


MASKED = "self.actor(observations).masked_fill(~masks, -torch.inf)"
SAME = 'autoreset: str = "SameStep"'
ROW = "rows.append(row)"
KEPT = "steps.append(move)"
REWARDS = "torch.tensor(rewards / self.scale, dtype=torch.float32)"
SURROGATE = "-torch.min(ratio * advantages, clipped * advantages).mean()"
LOSS = "actor + args.vf_coef * critic - ent_coef * entropy"


#: Makes a mistake in examples/ppo.py, or in examples/dqn.py.
ppo, dqn = functools.partial(Mutant, "ppo"), functools.partial(Mutant, "dqn")


AFTER = 'move |= {"next_observations": games.observations, "next_masks": games.masks}'
OLD = "old, games.old = getattr(games, 'old', {0}), {0}; {0} = old; "
ROLLED = "row['{0}'] = row['{0}'].roll(1, 0); " + ROW
MUTANTS = [
    # Mistakes of records, PPO.
    ppo(
        "next-step autoreset",
        SAME,
        SAME.replace("Same", "Next"),
        "transitions",
        "autoreset",
    ),
    ppo(
        "the observation after the move",
        ROW,
        "row['observations'] = games.observations; " + ROW,
        "transitions",
        "stale-observation",
        also=("shifted-values",),
    ),
    ppo(
        "observations of the next lane",
        ROW,
        ROLLED.format("observations"),
        "transitions",
        "lanes-mixed",
    ),
    ppo(
        "actions of the next lane",
        ROW,
        ROLLED.format("actions"),
        "actions",
        "lanes-mixed",
    ),
    ppo(
        "time and lane of actions swapped in the update",
        "    for _ in range(args.epochs):",
        "    rollout['actions'] = steps['actions'].T.flatten()\n    for _ in range(args.epochs):",
        "actions",
        None,
    ),
    ppo(
        "actions of the step before",
        ROW,
        OLD.format("row['actions']") + ROW,
        "actions",
        "shifted-actions",
    ),
    ppo(
        "rewards of the step before",
        ROW,
        OLD.format("row['rewards']") + ROW,
        "rewards",
        "shifted-rewards",
    ),
    ppo(
        "ends of the step before",
        ROW,
        OLD.format("row['terminated']") + ROW,
        "transitions",
        "shifted-ends",
    ),
    ppo(
        "ends of the next lane",
        ROW,
        ROLLED.format("terminated"),
        "transitions",
        "lanes-mixed",
    ),
    ppo(
        "no ends",
        ROW,
        "row['terminated'] &= False; " + ROW,
        "transitions",
        "terminated-missing",
    ),
    ppo(
        "the last partial game counted as ended",
        "    for row in reversed(range(len(advantages))):",
        "    steps['terminated'][-1] = True\n    for row in reversed(range(len(advantages))):",
        "transitions",
        "last-game-ended",
    ),
    ppo(
        "rewards clipped to their signs",
        REWARDS,
        "torch.tensor(rewards, dtype=torch.float32).sign()",
        "rewards",
        "rewards-clipped",
        {"env_id": "exactdice/FourTwoOne-v0"},
    ),
    ppo(
        "rewards of the wrong sign",
        REWARDS,
        REWARDS.replace("rewards /", "-rewards /"),
        "rewards",
        "reward-scaled",
    ),
    ppo(
        "no mask",
        MASKED,
        "self.actor(observations)",
        "actions",
        "illegal-action",
        also=("log-probs-unmasked",),
    ),
    ppo(
        "log-probabilities over all actions",
        'law.log_prob(row["actions"])',
        "Categorical(logits=agent.actor(games.observations)).log_prob(row['actions'])",
        "log_probs",
        "log-probs-unmasked",
    ),
    ppo(
        "probabilities for log-probabilities",
        'law.log_prob(row["actions"])',
        'law.log_prob(row["actions"]).exp()',
        "log_probs",
        "log-probs-without-log",
    ),
    ppo(
        "log-probability of the likeliest action",
        'law.log_prob(row["actions"])',
        "law.logits.max(1).values",
        "log_probs",
        "log-probs-of-likeliest",
    ),
    ppo(
        "the likeliest action instead of a draw",
        "law.sample()",
        "law.logits.argmax(1)",
        "policy",
        "greedy-actions",
    ),
    ppo(
        "values after the move",
        ROW,
        "row['values'] = agent.values(games.observations); " + ROW,
        "values",
        "shifted-values",
    ),
    # Advantages and returns.
    ppo(
        "no ends in GAE",
        '~steps["terminated"][row]',
        'torch.ones_like(steps["values"][row])',
        "advantages",
        "gae-ignores-ends",
    ),
    ppo(
        "ends a row late in GAE",
        '~steps["terminated"][row]',
        '~steps["terminated"][min(row + 1, len(advantages) - 1)]',
        "advantages",
        "gae-ends-late",
    ),
    ppo(
        "ends a row early in GAE",
        '~steps["terminated"][row]',
        '~steps["terminated"][row - 1]',
        "advantages",
        "gae-ends-late",
    ),
    ppo(
        "no value after the last row",
        "next_values = last_values",
        "next_values = 0 * last_values",
        "advantages",
        "gae-last-value-missing",
    ),
    ppo(
        "lambda left out",
        "goes_on * args.gae_lambda * ahead",
        "goes_on * ahead",
        "advantages",
        "lambda-wrong",
    ),
    ppo("another gamma", "goes_on = args.gamma *", "goes_on = 0.99 *", "advantages", "gamma-wrong"),
    ppo(
        "gamma left out",
        "goes_on = args.gamma *",
        "goes_on = 1.0 *",
        "advantages",
        "gamma-wrong",
        settings={"gamma": 0.9},
    ),
    ppo(
        "returns of normalised advantages",
        "    return advantages\n",
        "    return (advantages - advantages.mean()) / advantages.std()\n",
        "returns",
        "advantages-normalised",
    ),
    ppo(
        "returns without values",
        'steps["advantages"] + steps["values"]',
        'steps["advantages"]',
        "returns",
        "returns-without-values",
    ),
    # The update of PPO.
    ppo(
        "entropy with the wrong sign",
        LOSS,
        LOSS.replace("- ent", "+ ent"),
        "gradient",
        "entropy-sign",
    ),
    ppo("actor's loss with the wrong sign", SURROGATE, SURROGATE[1:], "gradient", "policy-sign"),
    ppo(
        "ratio inverted",
        '(law.log_prob(batch["actions"]) - batch["log_probs"]).exp()',
        '(batch["log_probs"] - law.log_prob(batch["actions"])).exp()',
        "gradient",
        "ratio-inverted",
    ),
    ppo(
        "ratio without exp",
        '(law.log_prob(batch["actions"]) - batch["log_probs"]).exp()',
        'law.log_prob(batch["actions"]) - batch["log_probs"]',
        "gradient",
        "ratio-without-exp",
    ),
    ppo(
        "clipping without a minimum",
        SURROGATE,
        "-(clipped * advantages).mean()",
        "gradient",
        "clip-without-minimum",
    ),
    ppo("no clipping", SURROGATE, "-(ratio * advantages).mean()", "gradient", "clip-missing"),
    ppo(
        "maximum for minimum",
        SURROGATE,
        SURROGATE.replace("min", "max"),
        "gradient",
        "maximum-for-minimum",
    ),
    ppo(
        "advantages not detached",
        "    clipped = ratio.clamp(1 - clip, 1 + clip)",
        "    advantages = batch['returns'] - agent.values(batch['observations'])\n"
        "    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)\n"
        "    clipped = ratio.clamp(1 - clip, 1 + clip)",
        "gradient",
        "advantages-not-detached",
    ),
    ppo(
        "advantages not normalised",
        "    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)\n",
        "",
        "gradient",
        "advantages-not-normalised",
    ),
    ppo(
        "no mask in the update",
        'agent.law(batch["observations"], batch["masks"])',
        'agent.law(batch["observations"], batch["masks"] | True)',
        "gradient",
        "mask-missing-in-update",
    ),
    ppo(
        "values of shape (move, 1)",
        'mse_loss(agent.values(batch["observations"]), batch["returns"])',
        "mse_loss(*torch.broadcast_tensors("
        "agent.values(batch['observations'])[:, None], batch['returns']))",
        "gradient",
        "values-broadcast",
    ),
    ppo(
        "another weight of the critic's loss",
        "args.vf_coef * critic",
        "critic",
        "gradient",
        "vf-coef-wrong",
    ),
    ppo("gradients never set to zero", "            optimizer.zero_grad()\n", "", "gradient", None),
    ppo(
        "learning rate zero",
        "= args.learning_rate * left",
        "= 0.0 * left",
        "parameters",
        "learning-rate-zero",
    ),
    ppo(
        "an optimizer of the actor alone",
        "Adam(agent.parameters(),",
        "Adam(agent.actor.parameters(),",
        "parameters",
        "parameters-left-out",
    ),
    # Mistakes of records, DQN.
    dqn(
        "next-step autoreset",
        SAME,
        SAME.replace("Same", "Next"),
        "transitions",
        "autoreset",
    ),
    dqn(
        "the observation after the move",
        KEPT,
        "move['observations'] = games.observations; " + KEPT,
        "transitions",
        "stale-observation",
    ),
    dqn(
        "the observation before the move as the next one",
        AFTER,
        AFTER.replace("games.observations", "move['observations']"),
        "transitions",
        "stale-next-observation",
    ),
    dqn(
        "actions of the step before",
        KEPT,
        OLD.format("move['actions']") + KEPT,
        "transitions",
        "shifted-actions",
    ),
    dqn(
        "rewards of the step before",
        KEPT,
        OLD.format("move['rewards']") + KEPT,
        "rewards",
        "shifted-rewards",
    ),
    dqn(
        "ends of the step before",
        KEPT,
        OLD.format("move['terminated']") + KEPT,
        "transitions",
        "shifted-ends",
    ),
    dqn(
        "no ends",
        KEPT,
        "move['terminated'] &= False; " + KEPT,
        "transitions",
        "terminated-missing",
    ),
    dqn(
        "epsilon that never falls",
        "torch.rand(len(best)) < epsilon",
        "torch.rand(len(best)) < 1.0",
        "policy",
        "epsilon-wrong",
    ),
    dqn(
        "no exploration",
        "torch.rand(len(best)) < epsilon",
        "torch.rand(len(best)) < 0.0",
        "policy",
        "epsilon-wrong",
    ),
    dqn(
        "a buffer that writes to the same places",
        "(self.count + torch.arange",
        "(0 * self.count + torch.arange",
        "observations",
        None,
    ),
    # Targets.
    dqn(
        "no ends in targets",
        'torch.where(batch["terminated"], 0.0, later)',
        "later + 0.0",
        "targets",
        "target-ignores-ends",
    ),
    dqn(
        "maximum over all actions",
        'best = best_legal(chosen_by, batch["next_masks"])',
        "best = chosen_by.argmax(1)",
        "targets",
        "max-over-illegal",
    ),
    dqn(
        "mask of the state before",
        AFTER,
        "old, games.old = getattr(games, 'old', games.masks), games.masks; "
        + AFTER.replace("games.masks}", "old}"),
        "targets",
        "stale-mask",
        also=("max-over-illegal",),
    ),
    dqn(
        "values of the online network",
        "values = networks.target",
        "values = networks.online",
        "targets",
        "target-from-online-network",
    ),
    dqn(
        "double DQN that is not declared",
        "if args.double else",
        "if True else",
        "targets",
        "double-dqn",
    ),
    dqn("another gamma", "args.gamma * later", "0.9 * later", "targets", "gamma-wrong"),
    # The update of DQN.
    dqn(
        "the value of the best action",
        'online(batch["observations"]).gather(1, batch["actions"][:, None]).squeeze(1)',
        'online(batch["observations"]).max(1).values',
        "gradient",
        "value-of-best-action",
    ),
    dqn(
        "values of shape (move, 1)",
        "smooth_l1_loss(values, targets)",
        "smooth_l1_loss(*torch.broadcast_tensors(values[:, None], targets))",
        "gradient",
        "values-broadcast",
    ),
    dqn(
        "the loss with the wrong sign",
        "return nn.functional.smooth",
        "return -nn.functional.smooth",
        "gradient",
        "loss-sign",
    ),
    dqn("gradients never set to zero", "        optimizer.zero_grad()\n", "", "gradient", None),
    dqn(
        "learning rate zero",
        "args.learning_rate * (1 - number / rounds)",
        "0.0",
        "parameters",
        "learning-rate-zero",
    ),
    dqn(
        "a target network that is never updated",
        "    if due:",
        "    if False:",
        "target network",
        "target-never-updated",
    ),
    dqn(
        "a target network that is always updated",
        "    if due:",
        "    if True:",
        "target network",
        "target-always-updated",
    ),
]


#: Games of healthy runs: seats, opponents and rewards of all kinds.
GAMES = [
    GREED,
    {
        "env_id": "exactdice/Greed-v0",
        "max_score": 9,
        "sides": 3,
        "seat": 1,
        "opponent": "if_else",
        "reward": "shaped",
    },
    {"env_id": "exactdice/LowestScore-v0", "dice": 2, "faces": 4, "players": 3, "seat": 1},
    {"env_id": "exactdice/ShutTheBox-v0", "tiles": 5},
    {"env_id": "exactdice/FourTwoOne-v0", "faces": 3, "reward": "regret"},
    {"env_id": "exactdice/FourTwoOneMatch-v0", "tokens": 2, "faces": 2},
]


def table():
    """Write the mutants as a table."""
    rows = ["| learner | planted | found by the check of | name |", "| --- | --- | --- | --- |"]
    for mutant in MUTANTS:
        name = f"`{mutant.name}`" if mutant.name else "noticed, no name"
        rows.append(f"| {mutant.learner} | {mutant.planted} | {mutant.check} | {name} |")
    return "\n".join(rows)


if __name__ == "__main__":
    sys.stdout.write(f"{table()}\n")

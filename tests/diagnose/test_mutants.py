"""Mistakes planted in the example learners are named, and right ones are not complained of.

The mistakes are edits of a line or two; docs/mutants.md has the name of each.
"""

import contextlib
import io
import re
import sys
import types
from pathlib import Path

import gymnasium as gym
import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/mutants.md"
pytestmark = pytest.mark.usefixtures("one_thread")
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


def run(learner, right="", wrong="", game=GREED, rounds=None, **settings):
    """Train with a text of a learner replaced; return the moves before each audit, its report."""
    source = (ROOT / f"examples/{learner}.py").read_text()
    assert source.count(right) == 1 or not right, (right, source.count(right))
    module = types.ModuleType(f"mutant_{learner}")
    sys.modules[module.__name__] = module  # dataclasses look there
    exec(compile(source.replace(right, wrong) if right else source, learner, "exec"), vars(module))
    env_id, keywords = game["env_id"], {key: game[key] for key in game if key != "env_id"}
    made = []

    def make_vec(*arguments, **options):
        made.append(0)
        env = gym.make_vec(*arguments, **options, **keywords)
        step = env.step

        def counted(actions):
            made[0] += len(actions)
            return step(actions)

        env.step = counted
        return env

    module.gym = types.SimpleNamespace(make_vec=make_vec)
    module.exactdice = types.SimpleNamespace(exact_evaluation=lambda *_: {})  # for speed
    reports, audit = [], module.audit

    def kept(*arguments, **options):
        reports.append((made[0], audit(*arguments, **options)))
        return reports[-1][1]

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
LOG_PROB = 'law.log_prob(row["actions"])'
RATIO = '(law.log_prob(batch["actions"]) - batch["log_probs"]).exp()'
ENDS = '~steps["terminated"][row]'
NORMALISED = "    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)\n"
LOSS = "actor + args.vf_coef * critic - ent_coef * entropy"
AFTER = 'move |= {"next_observations": games.observations, "next_masks": games.masks}'
OLD = "old, games.old = getattr(games, 'old', {0}), {0}; {0} = old; "
ROLLED = "row['{0}'] = row['{0}'].roll(1, 0); " + ROW
#: Edits of examples/ppo.py by what they plant: a text, and what it is replaced by.
PPO = {
    "next-step autoreset": (SAME, SAME.replace("Same", "Next")),
    "the observation after the move": (ROW, "row['observations'] = games.observations; " + ROW),
    "observations of the next lane": (ROW, ROLLED.format("observations")),
    "actions of the next lane": (ROW, ROLLED.format("actions")),
    "time and lane of actions swapped in the update": (
        "    for _ in range(args.epochs):",
        "    rollout['actions'] = steps['actions'].T.flatten()\n    for _ in range(args.epochs):",
    ),
    "actions of the step before": (ROW, OLD.format("row['actions']") + ROW),
    "rewards of the step before": (ROW, OLD.format("row['rewards']") + ROW),
    "ends of the step before": (ROW, OLD.format("row['terminated']") + ROW),
    "ends of the next lane": (ROW, ROLLED.format("terminated")),
    "no ends": (ROW, "row['terminated'] &= False; " + ROW),
    "the last partial game counted as ended": (
        "    for row in reversed(range(len(advantages))):",
        "    steps['terminated'][-1] = True\n    for row in reversed(range(len(advantages))):",
    ),
    "rewards clipped to their signs": (REWARDS, REWARDS + ".sign()"),
    "rewards of the wrong sign": (REWARDS, REWARDS.replace("rewards /", "-rewards /")),
    "no mask": (MASKED, "self.actor(observations)"),
    "log-probabilities over all actions": (
        LOG_PROB,
        "Categorical(logits=agent.actor(games.observations)).log_prob(row['actions'])",
    ),
    "probabilities for log-probabilities": (LOG_PROB, LOG_PROB + ".exp()"),
    "log-probability of the likeliest action": (LOG_PROB, "law.logits.max(1).values"),
    "the likeliest action instead of a draw": ("law.sample()", "law.logits.argmax(1)"),
    "values after the move": (ROW, "row['values'] = agent.values(games.observations); " + ROW),
    "no ends in GAE": (ENDS, 'torch.ones_like(steps["values"][row])'),
    "ends a row late in GAE": (ENDS, ENDS.replace("row", "min(row + 1, len(advantages) - 1)")),
    "ends a row early in GAE": (ENDS, ENDS.replace("row", "row - 1")),
    "no value after the last row": ("next_values = last_values", "next_values = 0 * last_values"),
    "lambda left out": ("goes_on * args.gae_lambda * ahead", "goes_on * ahead"),
    "another gamma": ("goes_on = args.gamma *", "goes_on = 0.99 *"),
    "gamma left out": ("goes_on = args.gamma *", "goes_on = 1.0 *"),
    "returns of normalised advantages": (
        "    return advantages\n",
        "    return (advantages - advantages.mean()) / advantages.std()\n",
    ),
    "returns without values": ('steps["advantages"] + steps["values"]', 'steps["advantages"]'),
    "entropy with the wrong sign": (LOSS, LOSS.replace("- ent", "+ ent")),
    "actor's loss with the wrong sign": (SURROGATE, SURROGATE[1:]),
    "ratio inverted": (RATIO, f"(1 / {RATIO})"),
    "ratio without exp": (RATIO, RATIO.replace(".exp()", "")),
    "clipping without a minimum": (SURROGATE, "-(clipped * advantages).mean()"),
    "no clipping": (SURROGATE, "-(ratio * advantages).mean()"),
    "maximum for minimum": (SURROGATE, SURROGATE.replace("min", "max")),
    "advantages not detached": (
        "    clipped = ratio.clamp(1 - clip, 1 + clip)",
        "    advantages = batch['returns'] - agent.values(batch['observations'])\n"
        + NORMALISED
        + "    clipped = ratio.clamp(1 - clip, 1 + clip)",
    ),
    "advantages not normalised": (NORMALISED, ""),
    "no mask in the update": (
        'agent.law(batch["observations"], batch["masks"])',
        'agent.law(batch["observations"], batch["masks"] | True)',
    ),
    "values of shape (move, 1)": (
        'mse_loss(agent.values(batch["observations"]), batch["returns"])',
        "mse_loss(*torch.broadcast_tensors("
        "agent.values(batch['observations'])[:, None], batch['returns']))",
    ),
    "another weight of the critic's loss": ("args.vf_coef * critic", "critic"),
    "gradients never set to zero": ("            optimizer.zero_grad()\n", ""),
    "learning rate zero": ("= args.learning_rate * left", "= 0.0 * left"),
    "an optimizer of the actor alone": (
        "Adam(agent.parameters(),",
        "Adam(agent.actor.parameters(),",
    ),
}
#: Edits of examples/dqn.py.
DQN = {
    "next-step autoreset": (SAME, SAME.replace("Same", "Next")),
    "the observation after the move": (KEPT, "move['observations'] = games.observations; " + KEPT),
    "the observation before the move as the next one": (
        AFTER,
        AFTER.replace("games.observations", "move['observations']"),
    ),
    "actions of the step before": (KEPT, OLD.format("move['actions']") + KEPT),
    "rewards of the step before": (KEPT, OLD.format("move['rewards']") + KEPT),
    "ends of the step before": (KEPT, OLD.format("move['terminated']") + KEPT),
    "no ends": (KEPT, "move['terminated'] &= False; " + KEPT),
    "epsilon that never falls": ("torch.rand(len(best)) < epsilon", "torch.rand(len(best)) < 1.0"),
    "no exploration": ("torch.rand(len(best)) < epsilon", "torch.rand(len(best)) < 0.0"),
    "a buffer that writes to the same places": (
        "(self.count + torch.arange",
        "(0 * self.count + torch.arange",
    ),
    "no ends in targets": ('torch.where(batch["terminated"], 0.0, later)', "later + 0.0"),
    "maximum over all actions": (
        'best = best_legal(chosen_by, batch["next_masks"])',
        "best = chosen_by.argmax(1)",
    ),
    "mask of the state before": (
        AFTER,
        "old, games.old = getattr(games, 'old', games.masks), games.masks; "
        + AFTER.replace("games.masks}", "old}"),
    ),
    "values of the online network": ("values = networks.target", "values = networks.online"),
    "double DQN that is not declared": ("if args.double else", "if True else"),
    "another gamma": ("args.gamma * later", "0.9 * later"),
    "the value of the best action": (
        'online(batch["observations"]).gather(1, batch["actions"][:, None]).squeeze(1)',
        'online(batch["observations"]).max(1).values',
    ),
    "values of shape (move, 1)": (
        "smooth_l1_loss(values, targets)",
        "smooth_l1_loss(*torch.broadcast_tensors(values[:, None], targets))",
    ),
    "the loss with the wrong sign": ("return nn.functional.smooth", "return -nn.functional.smooth"),
    "gradients never set to zero": ("        optimizer.zero_grad()\n", ""),
    "learning rate zero": ("args.learning_rate * (1 - number / rounds)", "0.0"),
    "a target network that is never updated": ("    if due:", "    if False:"),
    "a target network that is always updated": ("    if due:", "    if True:"),
}
CLIPPED = "ratio.clamp(1 - clip, 1 + clip)"
DELTA = 'steps["rewards"][row] + goes_on * next_values - steps["values"][row]'
CRITIC = 'nn.functional.mse_loss(agent.values(batch["observations"]), batch["returns"])'
NORM = "            nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)\n"
STEP = "            optimizer.step()\n"
EPOCHS = "    for _ in range(args.epochs):"
SUM = "goes_on * args.gae_lambda * ahead"
FOUND = "    return advantages\n"
COLLECT = "law = agent.law(games.observations, games.masks)"
NEW = "agent.law(batch['observations'], batch['masks']).log_prob(batch['actions'])"
#: Further edits, which were planted when the audits were written, and to which nothing was fitted.
LATER = {
    "the value of the last row after it": (
        "    return steps, agent.values(games.observations)",
        "    return steps, steps['values'][-1]",
    ),
    "a sum of advantages over ends": (SUM, SUM.replace("goes_on", "args.gamma")),
    "no ends in the differences": (DELTA, DELTA.replace("goes_on", "args.gamma")),
    "no values before the move": (DELTA, DELTA.replace(' - steps["values"][row]', "")),
    "no rewards in GAE": (DELTA, DELTA.replace('steps["rewards"][row] + ', "")),
    "advantages of the next lane": (FOUND, FOUND.replace("advantages", "advantages.roll(1, 1)")),
    "advantages clipped": (FOUND, FOUND.replace("advantages", "advantages.clamp(-1, 1)")),
    "returns of the next row": (
        'steps["advantages"] + steps["values"]',
        '(steps["advantages"] + steps["values"]).roll(-1, 0)',
    ),
    "values scaled": (
        'row["values"] = agent.values(games.observations)',
        'row["values"] = 2 * agent.values(games.observations) + 0.1',
    ),
    "logits divided by a temperature": (
        COLLECT,
        COLLECT.replace("agent.law", "Categorical(logits=agent.law") + ".logits / 2)",
    ),
    "log-probabilities of another lane": (ROW, ROLLED.format("log_probs")),
    "wider clipping": (CLIPPED, "ratio.clamp(1 - 2 * clip, 1 + 2 * clip)"),
    "clipping above alone": (CLIPPED, "ratio.clamp(max=1 + clip)"),
    "advantages divided by their deviation alone": (
        NORMALISED,
        NORMALISED.replace("(advantages - advantages.mean())", "advantages"),
    ),
    "a critic without a gradient": (CRITIC, CRITIC.replace("]), b", "]).detach(), b")),
    "Huber errors of the critic": (CRITIC, CRITIC.replace("mse", "smooth_l1")),
    "a penalty of the drift": (LOSS, LOSS + f" + 0.5 * (batch['log_probs'] - {NEW}).mean()"),
    "time and lane of log-probabilities swapped": (
        EPOCHS,
        "    rollout['log_probs'] = steps['log_probs'].T.flatten()\n" + EPOCHS,
    ),
    "log-probabilities in another order": (
        EPOCHS,
        "    rollout['log_probs'] = rollout['log_probs'].flip(0)\n" + EPOCHS,
    ),
    "log-probabilities computed anew": (
        "            actor, critic, entropy",
        f"            batch['log_probs'] = {NEW}.detach()\n            actor, critic, entropy",
    ),
    "returns of the row before in the update": (
        EPOCHS,
        "    rollout['returns'] = rollout['returns'].roll(1)\n" + EPOCHS,
    ),
    "no clipping of gradients": (NORM, ""),
    "gradients clipped after the step": (NORM + STEP, STEP + NORM),
    "a learning rate that does not fall": (
        '    optimizer.param_groups[0]["lr"] = rate',
        "    pass",
    ),
    "a penalty of each move": (REWARDS, REWARDS + " - 0.01"),
}
TARGET = 'return batch["rewards"] + args.gamma * later'
HUBER = "nn.functional.smooth_l1_loss(values, targets)"
TAKEN = "later = values.gather(1, best[:, None]).squeeze(1)"
LATER_DQN = {
    "this observation for the next in targets": (
        'networks.target(batch["next_observations"])',
        'networks.target(batch["observations"])',
    ),
    "no rewards in targets": (TARGET, TARGET.replace('batch["rewards"] + ', "")),
    "gamma added": (
        TARGET,
        TARGET.replace(
            "args.gamma * later", "torch.where(batch['terminated'], 0.0, args.gamma + later)"
        ),
    ),
    "the mean over actions": (
        TAKEN,
        "later = (values * batch['next_masks']).sum(1) / batch['next_masks'].sum(1)",
    ),
    "ends of the next row in targets": (
        'torch.where(batch["terminated"], 0.0, later)',
        'torch.where(batch["terminated"].roll(-1), 0.0, later)',
    ),
    "errors clipped in the square": (HUBER, "((values - targets).clamp(-0.1, 0.1) ** 2).mean()"),
    "squared errors": (HUBER, "nn.functional.mse_loss(values, targets)"),
    "values of other actions towards 0": (
        HUBER,
        HUBER + " + 0.5 * (online(batch['observations']) ** 2).sum(1).mean()"
        " - 0.5 * (values**2).mean()",
    ),
    "targets of the next row": (
        "loss_of(online, batch, targets)",
        "loss_of(online, batch, targets.roll(-1))",
    ),
    "no clipping of gradients": (
        "        nn.utils.clip_grad_norm_(online.parameters(), args.max_grad_norm)\n",
        "",
    ),
    "another network that acts": (
        "best_legal(online(games.observations), games.masks)",
        "best_legal(-online(games.observations), games.masks)",
    ),
}
#: Games and options of mutants that show under these alone.
SHOWN_BY = {
    "no clipping of gradients": {"max_grad_norm": 0.05},
    "gradients clipped after the step": {"max_grad_norm": 0.05},
    "rewards clipped to their signs": {"game": {"env_id": "exactdice/FourTwoOne-v0"}},
    "gamma left out": {"gamma": 0.9},
}
#: Names of consequences, which an audit may give beside the name of a mistake.
CONSEQUENCES = {
    "the observation after the move": "shifted-values",
    "no mask": "log-probs-unmasked",
    "mask of the state before": "max-over-illegal",
}
#: Games of healthy runs: seats, opponents and rewards of all kinds.
GAMES = [
    GREED,
    GREED | {"max_score": 9, "sides": 3, "seat": 1, "opponent": "if_else", "reward": "shaped"},
    {"env_id": "exactdice/LowestScore-v0", "dice": 2, "faces": 4, "players": 3, "seat": 1},
    {"env_id": "exactdice/ShutTheBox-v0", "tiles": 5},
    {"env_id": "exactdice/FourTwoOne-v0", "faces": 3, "reward": "regret"},
    {"env_id": "exactdice/FourTwoOneMatch-v0", "tokens": 2, "faces": 2},
]
#: The table of the page: learner, planted, check, name or None, and the moves before the finding.
TABLE = re.findall(
    r"^\| (ppo|dqn) \| (.*) \| (.*) \| (.*) \| ([0-9,]+) \| .* \|$", PAGE.read_text(), re.M
)
ROWS = [
    (*words, name.strip("`") if "`" in name else None, int(moves.replace(",", "")))
    for *words, name, moves in TABLE
]
EDITS = {"ppo": PPO | LATER, "dqn": DQN | LATER_DQN}
#: Those planted later, and those whose name another one has, are run with the slow tests.
AT_ONCE = [row for row in reversed(ROWS) if row[1] not in LATER | LATER_DQN]
FIRST = {(row[0], row[3] or row[1]): row for row in AT_ONCE}
MARKED = [
    pytest.param(*row, marks=() if row in FIRST.values() else pytest.mark.slow) for row in ROWS
]


@pytest.mark.parametrize(("learner", "planted", "check", "name", "moves"), MARKED)
def test_a_planted_mistake_is_named(learner, planted, check, name, moves):
    rounds = min(ROUNDS[learner], moves // 1024)  # until it is found
    reports = run(learner, *EDITS[learner][planted], rounds=rounds, **SHOWN_BY.get(planted, {}))
    found = [
        (finding.check, finding.mistake, made)
        for made, each in reports
        for finding in each.findings
    ]
    assert (check, name, moves) in found, "\n".join(str(each) for _, each in reports)
    assert moves == min(made for *same, made in found if same == [check, name])
    assert {mistake for _, mistake, _ in found} <= {None, name, CONSEQUENCES.get(planted)}


def test_the_page_has_every_mutant_and_says_how_many_are_named():
    planted = [(learner, words) for learner, edits in EDITS.items() for words in edits]
    assert sorted(row[:2] for row in ROWS) == sorted(planted)
    named = sum(name is not None for *_, name, _ in ROWS)
    assert f"notice all {len(ROWS)} mistakes and name {named} of them" in PAGE.read_text()
    assert named > 0.9 * len(ROWS)


#: Runs of a minute are slow: 36 with 702 audits.
LONGER = [
    pytest.param(
        game, seed, {"ppo": 8, "dqn": 12}, id=f"{game['env_id']}-{seed}", marks=pytest.mark.slow
    )
    for game in GAMES
    for seed in (1, 2, 3)
]


@pytest.mark.parametrize("learner", ["ppo", "dqn"])
@pytest.mark.parametrize(
    ("game", "seed", "rounds"),
    [(GAMES[1], 3, {"ppo": 4, "dqn": 4}), (GAMES[2], 3, {"ppo": 4, "dqn": 4}), *LONGER],
)
def test_no_audit_of_a_right_learner_finds_anything(learner, game, seed, rounds):
    settings = {"double": True} if learner == "dqn" and seed == 3 else {}
    rounds = rounds[learner]
    reports = run(learner, game=game, rounds=rounds, seed=seed, **settings)
    assert len(reports) == 2 * rounds - (learner == "dqn")
    assert all(report.ok and not report.unchecked for _, report in reports)


def test_the_page_has_every_name_and_no_name_has_two_cures():
    sources = "".join(path.read_text() for path in (ROOT / "diagnose/audits").glob("*.py"))
    names = set(re.findall(r'"([a-z0-9]+(?:-[a-z0-9]+)+)(?:: |")', sources))
    assert names - set(re.findall(r"`([a-z0-9-]+)`", PAGE.read_text())) == set()
    assert len(names) > 100

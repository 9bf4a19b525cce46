"""Mistakes planted in the example learners are named, and right ones are not complained of.

The mistakes are edits of a line or two; mutants.csv has the name of each.
"""

import contextlib
import csv
import io
import re
import sys
import types
from functools import partial
from itertools import product

import gymnasium as gym
import pytest
from checkout import ROOT
from thinning import later

PAGE = ROOT / "docs/mutants.md"
pytestmark = pytest.mark.usefixtures("one_thread")
GREED = {"env_id": "exactdice/Greed-v0", "max_score": 12}
FEW = {"num_envs": 64, "num_steps": 16, "batch_size": 256}
REPLAY = {"buffer_size": 4096, "learning_starts": 1024, "target_interval": 2048}
SETTINGS = {
    "ppo": FEW | {"learning_rate": 0.01},
    "dqn": FEW | REPLAY | {"exploration_fraction": 0.6},
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
    module.gym = types.SimpleNamespace(make_vec=partial(gym.make_vec, **keywords))
    step, made = module.Games.step, [0]

    def counted(games, actions):
        made[0] += len(actions)
        return step(games, actions)

    module.Games.step = counted
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
UNMASKED = "Categorical(logits=agent.actor(games.observations))"
SAME = 'autoreset: str = "SameStep"'
ROW = "rows.append(row)"
KEPT = "steps.append(move)"
REWARDS = "torch.tensor(rewards / self.scale, dtype=torch.float32)"
SURROGATE = "-torch.min(ratio * advantages, clipped * advantages).mean()"
LOG_PROB = 'law.log_prob(row["actions"])'
RATIO = '(law.log_prob(batch["actions"]) - batch["log_probs"]).exp()'
ENDS = '~steps["terminated"][row]'
LAST = "next_values = last_values"
RETURNS = 'steps["advantages"] + steps["values"]'
FOUND = "    return advantages\n"
NORMALISED = "    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)\n"
VALUES = 'agent.values(batch["observations"])'
CRITIC = f'nn.functional.mse_loss({VALUES}, batch["returns"])'
LOSS = "actor + args.vf_coef * critic - ent_coef * entropy"
AFTER = 'move |= {"next_observations": games.observations, "next_masks": games.masks}'
TAKEN = 'gather(1, batch["actions"][:, None]).squeeze(1)'
HUBER = "nn.functional.smooth_l1_loss(values, targets)"
OLD = "old, games.old = getattr(games, 'old', {0}), {0}; {0} = old; "
ROLLED = "row['{0}'] = row['{0}'].roll(1, 0); " + ROW
#: A comment behind the rollout of an update, in the place of which it is edited.
ALIKE = "  # lanes-mixed: all alike"
SWAPPED = "; rollout['{0}'] = steps['{0}'].T.flatten()"
MOVED = "; rollout['{0}'] = rollout['{0}'].{1}"


def within(line, old, new):
    return line, line.replace(old, new)


#: Edits of examples/ppo.py by what they plant: a text, and what it is replaced by.
PPO = {
    "next-step autoreset": within(SAME, "Same", "Next"),
    "the observation after the move": (ROW, "row['observations'] = games.observations; " + ROW),
    "observations of the next lane": (ROW, ROLLED.format("observations")),
    "actions of the next lane": (ROW, ROLLED.format("actions")),
    "time and lane of actions swapped in the update": (ALIKE, SWAPPED.format("actions")),
    "actions of the step before": (ROW, OLD.format("row['actions']") + ROW),
    "rewards of the step before": (ROW, OLD.format("row['rewards']") + ROW),
    "ends of the step before": (ROW, OLD.format("row['terminated']") + ROW),
    "ends of the next lane": (ROW, ROLLED.format("terminated")),
    "no ends": (ROW, "row['terminated'] &= False; " + ROW),
    "the last partial game counted as ended": (LAST, LAST + "; steps['terminated'][-1] = True"),
    "rewards clipped to their signs": (REWARDS, REWARDS + ".sign()"),
    "rewards of the wrong sign": within(REWARDS, "rewards /", "-rewards /"),
    "no mask": (MASKED, "self.actor(observations)"),
    "log-probabilities over all actions": within(LOG_PROB, "law", UNMASKED),
    "probabilities for log-probabilities": (LOG_PROB, LOG_PROB + ".exp()"),
    "log-probability of the likeliest action": (LOG_PROB, "law.logits.max(1).values"),
    "the likeliest action instead of a draw": ("law.sample()", "law.logits.argmax(1)"),
    "values after the move": (ROW, "row['values'] = agent.values(games.observations); " + ROW),
    "no ends in GAE": (ENDS, 'torch.ones_like(steps["values"][row])'),
    "ends a row early in GAE": within(ENDS, "row", "min(row + 1, len(advantages) - 1)"),
    "ends a row late in GAE": within(ENDS, "row", "row - 1"),
    "no value after the last row": (LAST, "next_values = 0 * last_values"),
    "lambda left out": ("goes_on * args.gae_lambda * ahead", "goes_on * ahead"),
    "another gamma": ("goes_on = args.gamma *", "goes_on = 0.99 *"),
    "gamma left out": ("goes_on = args.gamma *", "goes_on = 1.0 *"),
    "returns of normalised advantages": (FOUND, NORMALISED + FOUND),
    "returns without values": (RETURNS, 'steps["advantages"]'),
    "entropy with the wrong sign": within(LOSS, "- ent", "+ ent"),
    "actor's loss with the wrong sign": (SURROGATE, SURROGATE[1:]),
    "ratio inverted": (RATIO, f"(1 / {RATIO})"),
    "ratio without exp": within(RATIO, ".exp()", ""),
    "clipping without a minimum": (SURROGATE, "-(clipped * advantages).mean()"),
    "no clipping": (SURROGATE, "-(ratio * advantages).mean()"),
    "maximum for minimum": within(SURROGATE, "min", "max"),
    "advantages not detached": ('batch["advantages"]', f'batch["returns"] - {VALUES}'),
    "advantages not normalised": (NORMALISED, ""),
    "no mask in the update": ('batch["masks"]', 'batch["masks"] | True'),
    "values of shape (move, 1)": (CRITIC, f"(({VALUES}[:, None] - batch['returns']) ** 2).mean()"),
    "another weight of the critic's loss": ("args.vf_coef * critic", "critic"),
    "gradients never set to zero": ("            optimizer.zero_grad()\n", ""),
    "learning rate zero": ("= args.learning_rate * left", "= 0.0 * left"),
    "an optimizer of the actor alone": ("agent.parameters(), lr", "agent.actor.parameters(), lr"),
}
#: Edits of examples/dqn.py.
DQN = {
    "next-step autoreset": within(SAME, "Same", "Next"),
    "the observation after the move": (KEPT, "move['observations'] = games.observations; " + KEPT),
    "the observation before the move as the next one": within(
        AFTER, "games.observations", "move['observations']"
    ),
    "actions of the step before": (KEPT, OLD.format("move['actions']") + KEPT),
    "rewards of the step before": (KEPT, OLD.format("move['rewards']") + KEPT),
    "ends of the step before": (KEPT, OLD.format("move['terminated']") + KEPT),
    "no ends": (KEPT, "move['terminated'] &= False; " + KEPT),
    "epsilon that never falls": ("torch.rand(len(best)) < epsilon", "torch.rand(len(best)) < 1.0"),
    "no exploration": ("torch.rand(len(best)) < epsilon", "torch.rand(len(best)) < 0.0"),
    "a buffer that writes to the same places": ("(self.count + torch", "(0 * self.count + torch"),
    "no ends in targets": ('torch.where(batch["terminated"], 0.0, later)', "later + 0.0"),
    "maximum over all actions": ('batch["next_masks"]', 'batch["next_masks"] | True'),
    "mask of the state before": (
        AFTER,
        "old, games.old = getattr(games, 'old', games.masks), games.masks; "
        + AFTER.replace("games.masks}", "old}"),
    ),
    "values of the online network": ("values = networks.target", "values = networks.online"),
    "double DQN that is not declared": ("if args.double else", "if True else"),
    "another gamma": ("args.gamma * later", "0.9 * later"),
    "the value of the best action": (TAKEN, "max(1).values"),
    "values of shape (move, 1)": within(
        HUBER, "values, targets", "*torch.broadcast_tensors(values[:, None], targets)"
    ),
    "the loss with the wrong sign": (HUBER, f"-{HUBER}"),
    "gradients never set to zero": ("        optimizer.zero_grad()\n", ""),
    "learning rate zero": ("args.learning_rate * (1 - number / rounds)", "0.0"),
    "a target network that is never updated": ("    if due:", "    if False:"),
    "a target network that is always updated": ("    if due:", "    if True:"),
}
CLIPPED = "ratio.clamp(1 - clip, 1 + clip)"
DELTA = 'steps["rewards"][row] + goes_on * next_values - steps["values"][row]'
NORM = "            nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)\n"
STEP = "            optimizer.step()\n"
BOTH = "actor, critic, entropy = losses"
LAW = "law = agent.law(games.observations, games.masks)"
NEW = "agent.law(batch['observations'], batch['masks']).log_prob(batch['actions'])"
AFTER_LAST = "return steps, agent.values(games.observations)"
#: Further edits, which were planted when the audits were written, and to which nothing was fitted.
LATER = {
    "the value of the last row after it": (AFTER_LAST, "return steps, steps['values'][-1]"),
    "a sum of advantages over ends": within("goes_on * args.gae_lambda", "goes_on", "args.gamma"),
    "no ends in the differences": within(DELTA, "goes_on", "args.gamma"),
    "no values before the move": within(DELTA, ' - steps["values"][row]', ""),
    "no rewards in GAE": within(DELTA, 'steps["rewards"][row] + ', ""),
    "advantages of the next lane": within(FOUND, "advantages", "advantages.roll(1, 1)"),
    "advantages clipped": within(FOUND, "advantages", "advantages.clamp(-1, 1)"),
    "returns of the next row": (RETURNS, f"({RETURNS}).roll(-1, 0)"),
    "values scaled": ('row["values"] = agent', 'row["values"] = 0.1 + 2 * agent'),
    "logits divided by a temperature": (LAW, LAW + "; law = Categorical(logits=law.logits / 2)"),
    "log-probabilities of another lane": (ROW, ROLLED.format("log_probs")),
    "wider clipping": (CLIPPED, "ratio.clamp(1 - 2 * clip, 1 + 2 * clip)"),
    "clipping above alone": (CLIPPED, "ratio.clamp(max=1 + clip)"),
    "advantages divided by their deviation alone": (" - advantages.mean()", ""),
    "a critic without a gradient": (CRITIC, CRITIC.replace("]), b", "]).detach(), b")),
    "Huber errors of the critic": within(CRITIC, "mse", "smooth_l1"),
    "a penalty of the drift": (LOSS, LOSS + f" + 0.5 * (batch['log_probs'] - {NEW}).mean()"),
    "time and lane of log-probabilities swapped": (ALIKE, SWAPPED.format("log_probs")),
    "log-probabilities in another order": (ALIKE, MOVED.format("log_probs", "flip(0)")),
    "log-probabilities computed anew": (BOTH, f"batch['log_probs'] = {NEW}.detach(); {BOTH}"),
    "returns of the row before in the update": (ALIKE, MOVED.format("returns", "roll(1)")),
    "no clipping of gradients": (NORM, ""),
    "gradients clipped after the step": (NORM + STEP, STEP + NORM),
    "a learning rate that does not fall": ('optimizer.param_groups[0]["lr"] = rate', "pass"),
    "a penalty of each move": (REWARDS, REWARDS + " - 0.01"),
    "the last value for all next values": ('        next_values = steps["values"][row]\n', ""),
    "advantages without their signs": within(FOUND, "advantages", "advantages.abs()"),
    "masks of after the move": (ROW, "row['masks'] = games.masks; " + ROW),
}
LATER_DQN = {
    "this observation for the next in targets": ('target(batch["next_', 'target(batch["'),
    "no rewards in targets": ('batch["rewards"] + args', "args"),
    "gamma added": ("args.gamma * later", "(args.gamma + later) * ~batch['terminated']"),
    "the mean over actions": (
        "later = values.gather(1, best[:, None]).squeeze(1)",
        "later = (values * batch['next_masks']).sum(1) / batch['next_masks'].sum(1)",
    ),
    "ends of the next row in targets": ('["terminated"], 0.0', '["terminated"].roll(-1), 0.0'),
    "errors clipped in the square": (HUBER, "((values - targets).clamp(-0.1, 0.1) ** 2).mean()"),
    "squared errors": (HUBER, "nn.functional.mse_loss(values, targets)"),
    "values of other actions towards 0": (
        HUBER,
        HUBER + " + 0.5 * (online(batch['observations']) ** 2).sum(1).mean()"
        " - 0.5 * (values**2).mean()",
    ),
    "targets of the next row": ("batch, targets)", "batch, targets.roll(-1))"),
    "no clipping of gradients": ("args.max_grad_norm)\n", "torch.inf)\n"),
    "another network that acts": ("best_legal(online(games", "best_legal(-online(games"),
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
TABLE = (ROOT / "tests/diagnose/mutants.csv").read_text(encoding="utf-8")
#: Learner, planted, check, name or None, and the moves before the finding.
ROWS = [
    (*words, name or None, int(moves))
    for *words, name, moves in list(csv.reader(TABLE.splitlines()))[1:]
]
EDITS = {"ppo": PPO | LATER, "dqn": DQN | LATER_DQN}
#: One of each check is run at once, all others, and those planted later, with the slow
#: tests: ``test_updates.py`` and ``test_right_programs.py`` name them in numbers of their own.
AT_ONCE = [row for row in reversed(ROWS) if row[1] not in LATER | LATER_DQN]
FIRST = {row[2]: row for row in AT_ONCE}
MARKED = [
    pytest.param(*row, marks=() if row in FIRST.values() else pytest.mark.slow) for row in ROWS
]


@pytest.mark.parametrize(("learner", "planted", "check", "name", "moves"), MARKED)
def test_a_planted_mistake_is_named(learner, planted, check, name, moves):
    rounds = min(ROUNDS[learner], moves // 1024)  # until it is found
    reports = run(learner, *EDITS[learner][planted], rounds=rounds, **SHOWN_BY.get(planted, {}))
    found = [(one.check, one.mistake, made) for made, each in reports for one in each.findings]
    assert (check, name, moves) in found, "\n".join(str(each) for _, each in reports)
    assert moves == min(made for *same, made in found if same == [check, name])
    assert {mistake for _, mistake, _ in found} <= {None, name, CONSEQUENCES.get(planted)}


def test_every_mutant_has_its_row_and_the_page_says_how_many_are_named():
    planted = [(learner, words) for learner, edits in EDITS.items() for words in edits]
    assert sorted(row[:2] for row in ROWS) == sorted(planted)
    named = sum(name is not None for *_, name, _ in ROWS)
    page = " ".join(PAGE.read_text().split())
    assert f"notice all {len(ROWS)} mistakes and name {named} of them" in page
    later = [name for _, planted, _, name, _ in ROWS if planted in LATER | LATER_DQN]
    counts = f"of the {len(later)} that were planted when .* {sum(map(bool, later))} have a name"
    assert re.search(counts, page)
    assert named > 0.9 * len(ROWS)


#: Runs of a minute are slow: 36 with 702 audits.
LONGER = [
    pytest.param(game, seed, {"ppo": 8, "dqn": 12}, marks=pytest.mark.slow)
    for game, seed in product(GAMES, (1, 2, 3))
]


@pytest.mark.parametrize("learner", ["ppo", "dqn"])
@pytest.mark.parametrize(
    ("game", "seed", "rounds"),
    [(GAMES[1], 3, {"ppo": 2, "dqn": 2}), later((GAMES[2], 3, {"ppo": 2, "dqn": 2})), *LONGER],
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

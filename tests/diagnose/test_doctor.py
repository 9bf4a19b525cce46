"""The doctor examines scripts as they stand: right ones hold, and planted mistakes are named."""

# ruff: noqa: E501  a planted mistake stands in one line

import contextlib
import importlib
import io
import json
import runpy
import subprocess
import sys
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import gymnasium as gym
import numpy as np
import pytest
import torch
from checkout import ROOT
from exactdice.core import InputError
from exactdice.diagnose import Rollout, gradient
from exactdice.diagnose.doctor import doctor, losses, runs, tap
from exactdice.diagnose.doctor.habits import Habits
from exactdice.diagnose.doctor.probes import PROBES, World
from exactdice.diagnose.doctor.program import Declared
from exactdice.diagnose.doctor.scores import UPDATES, Learned, _State
from exactdice.diagnose.doctor.tap import METHODS
from thinning import at_once, every_third
from torch.distributions import Categorical

import exactdice

FOLDER = ROOT / "tests/diagnose"
pytestmark = pytest.mark.usefixtures("one_thread")


def examined(tmp_path, monkeypatch, learner, *edits, declare=None, **options):
    """Run a learner of the tests under the doctor, with some of its text replaced."""
    source = (FOLDER / f"small_{learner}.py").read_text(encoding="utf-8")
    for right, wrong in edits:
        assert source.count(right) == 1, (right, source.count(right))
        source = source.replace(right, wrong)
    script = tmp_path / f"{learner}.py"
    script.write_text(source, encoding="utf-8")
    words = [f"--{name}={value}" for name, value in options.items()]
    monkeypatch.setattr(sys, "argv", [str(script), *words])
    printed = io.StringIO()
    with doctor(1.0, declare) as found, contextlib.redirect_stdout(printed):
        runpy.run_path(str(script), run_name="__main__")
    return found, printed.getvalue()


def names(found):
    return {each.mistake or each.check for each in found.symptoms}


def test_a_right_ppo_holds_and_its_constants_are_found(tmp_path, monkeypatch):
    found, _ = examined(tmp_path, monkeypatch, "ppo")
    assert found.ok, str(found)
    checks = {"gradient", "returns", "log_probs", "actions", "law", "moves", "observations"}
    assert checks <= found.held.keys()
    assert found.held["returns"] == found.moves == 1024
    expected = {"policy_coef": 1.0, "ent_coef": 0.01, "vf_coef": 0.5}
    expected |= {"gamma": 0.97, "gae_lambda": 0.9, "clip": 0.2, "max_grad_norm": 0.5}
    assert found.facts == pytest.approx(expected, rel=1e-3)


def test_a_right_dqn_holds_and_its_discount_is_found(tmp_path, monkeypatch):
    found, _ = examined(tmp_path, monkeypatch, "dqn")
    assert found.ok, str(found)
    assert {"gradient", "targets", "transitions", "observations"} <= found.held.keys()
    assert found.facts["gamma"] == 0.97


def test_moves_beyond_those_that_are_kept_accuse_nobody(tmp_path, monkeypatch):
    monkeypatch.setattr(tap, "ROWS", 150)
    found, _ = examined(tmp_path, monkeypatch, "dqn")
    assert found.ok, str(found)
    assert found.moves == 600


@pytest.mark.parametrize("learner", ["ppo", "dqn"])
def test_a_program_is_the_same_with_the_doctor(tmp_path, monkeypatch, learner):
    _, printed = examined(tmp_path, monkeypatch, learner, seed=3, moves=512)
    with contextlib.redirect_stdout(io.StringIO()) as alone:
        runpy.run_path(str(FOLDER / f"small_{learner}.py"), run_name="__main__")
    assert printed == alone.getvalue()


def test_what_is_declared_is_checked(tmp_path, monkeypatch):
    absolute = (
        "(agent.critic(b_obs).squeeze(1) - b_returns) ** 2)",
        "(agent.critic(b_obs).squeeze(1) - b_returns).abs())",
    )
    found, _ = examined(tmp_path, monkeypatch, "ppo", absolute, moves=256)
    assert "returns" not in found.held
    declare = {"returns": "b_returns", "advantages": "b_advantages", "gamma": "GAMMA * 0.9"}
    found, _ = examined(tmp_path, monkeypatch, "ppo", absolute, declare=declare, moves=256)
    assert found.held["returns"] == found.moves
    assert found.ok, str(found)
    assert any("the program says 0.873 (gamma-wrong)" in note for note in found.notes)
    found, _ = examined(tmp_path, monkeypatch, "ppo", declare={"returns": "nothing"}, moves=256)
    assert found.unchecked["returns"] == "no part of the program has nothing as declared"
    told = ", ".join(map(found._part, found.unchecked))
    assert found.verdict.endswith(f" held; unchecked: {told}.")
    with (
        pytest.raises(InputError, match="declare must name gamma, .*, got rewards"),
        doctor(declare={"rewards": "r"}),
    ):
        pass


PPO = {
    "next-step autoreset": ("AutoresetMode.SAME_STEP", "AutoresetMode.NEXT_STEP", "autoreset"),
    "the same seed": ("envs.reset(seed=args.seed)", "envs.reset(seed=[args.seed] * LANES)", "lanes-alike"),
    "actions of another lane": ("flatten(0, 1) for each in (obs, actions", "flatten(0, 1) for each in (obs, actions.roll(1, 1)", "lanes-mixed"),
    "no ends": ("goes_on = 1 - ends[t]", "goes_on = 1", "gae-ignores-ends"),
    "ends a row late": ("goes_on = 1 - ends[t]", "goes_on = 1 - ends[t - 1]", "gae-ends-late"),
    "no last value": ("following = agent.critic(torch.tensor(seen)).squeeze(1)", "following = 0", "gae-last-value-missing"),
    "returns without values": ("returns = advantages + values", "returns = advantages", "returns-without-values"),
    "entropy sign": ("- 0.01 * law", "+ 0.01 * law", "entropy-sign"),
    "value sign": ("+ 0.5 * value_loss", "- 0.5 * value_loss", "value-sign"),
    "policy sign": ("policy_loss = -torch.min", "policy_loss = torch.min", "policy-sign"),
    "maximum for minimum": ("-torch.min(", "-torch.max(", "maximum-for-minimum"),
    "clipped alone": ("-torch.min(ratio * b_advantages, clipped * b_advantages)", "-(clipped * b_advantages)", "clip-without-minimum"),
    "ratio inverted": ("(law.log_prob(b_actions) - b_logs)", "(b_logs - law.log_prob(b_actions))", "ratio-inverted"),
    "values broadcast": ("agent.critic(b_obs).squeeze(1) - b_returns", "agent.critic(b_obs) - b_returns", "values-broadcast"),
    "gradients not cleared": ("            optimizer.zero_grad()\n", "", "gradients-not-cleared"),
    "learning rate zero": ("lr=3e-3", "lr=0.0", "learning-rate-zero"),
    "the actor alone": ("Adam(agent.parameters()", "Adam(agent.actor.parameters()", "parameters-left-out"),
    "dropout": ("nn.Tanh(), nn.Linear(32, outputs)", "nn.Tanh(), nn.Dropout(0.5), nn.Linear(32, outputs)", "dropout-or-batch-norm"),
    "probabilities for their logarithms": ("log_probs[t] = law.log_prob(actions[t])", "log_probs[t] = law.log_prob(actions[t]).exp()", "log-probs-without-log"),
    "observations after the move": ("        rewards[t], ends[t] =", "        obs[t] = torch.tensor(seen)\n        rewards[t], ends[t] =", None),
    "time and lane swapped": ("each.flatten(0, 1) for each in (obs, actions, log_probs, advantages, returns)]", "each.flatten(0, 1) for each in (obs, actions, log_probs, advantages)] + [returns.T.flatten()]", None),
}  # fmt: skip


#: Mistakes that show once a second rollout begins.
IN_TWO = {"the same seed", "the actor alone"}


@pytest.mark.parametrize("planted", every_third(PPO))
def test_mistakes_of_a_ppo_are_named(tmp_path, monkeypatch, planted):
    right, wrong, name = PPO[planted]
    moves = 512 if planted in IN_TWO else 256
    found, _ = examined(tmp_path, monkeypatch, "ppo", (right, wrong), moves=moves)
    if name:
        assert name in names(found), str(found)
    assert not found.ok


BACKWARD = "            loss.backward()\n"
APART = (
    BACKWARD,
    "            (policy_loss - 0.01 * law.entropy().mean()).backward()\n            (0.5 * value_loss).backward()\n",
)
RATIO = "            ratio = (law.log_prob(b_actions) - b_logs).exp()\n"
#: Laws without an object of PyTorch's.
LAW = ("law = Categorical(logits=agent.actor(b_obs))", "law = agent.actor(b_obs).softmax(1)")
ENTROPY = ("0.01 * law.entropy().mean()", "0.01 * -(law * law.log()).sum(1).mean()")
#: Right PPOs of other kinds, as edits.
PPO_KINDS = {
    "losses apart": [APART],
    "one network with two results": [
        ("\n\nagent = Agent()", "\n    def forward(self, rows):\n        return self.actor(rows), self.critic(rows)[:, 0]\n\n\nagent = Agent()"),
        ("agent.actor(obs[t])", "agent(obs[t])[0]"),
        ("agent.critic(obs[t]).squeeze(1)", "agent(obs[t])[1]"),
        ("agent.critic(torch.tensor(seen)).squeeze(1)", "agent(torch.tensor(seen))[1]"),
        ("law = Categorical(logits=agent.actor(b_obs))", "logits, b_values = agent(b_obs)\n            law = Categorical(logits=logits)"),
        ("agent.critic(b_obs).squeeze(1)", "b_values"),
    ],
    "rewards are scaled": [("torch.tensor(reward), ", "torch.tensor(reward) / 3, ")],
    "probabilities that are gathered": [LAW, (RATIO, "            old = b_logs\n            ratio = law.gather(1, b_actions[:, None]).squeeze(1) / old.exp()\n"), ENTROPY],
    "logarithms of gathered probabilities": [LAW, (RATIO, "            ratio = (law.gather(1, b_actions[:, None]).squeeze(1).log() - b_logs).exp()\n"), ENTROPY],
    "a quotient of probabilities": [(RATIO, "            ratio = law.log_prob(b_actions).exp() / b_logs.exp()\n")],
    "returns without lambda": [("    returns = advantages + values\n", "    returns, later = torch.zeros(ROWS, LANES), agent.critic(torch.tensor(seen)).squeeze(1).detach()\n    for t in reversed(range(ROWS)):\n        returns[t] = later = rewards[t] + GAMMA * (1 - ends[t]) * later\n")],
}  # fmt: skip


@pytest.mark.parametrize("kind", every_third(PPO_KINDS))
def test_right_ppos_of_other_kinds_hold(tmp_path, monkeypatch, kind):
    found, _ = examined(tmp_path, monkeypatch, "ppo", *PPO_KINDS[kind], moves=512)
    assert found.ok, str(found)
    checks = {"gradient", "returns", "advantages", "log_probs", "law", "rows"}
    assert checks <= found.held.keys() - found.unchecked.keys()
    assert found.held["returns"] == found.moves
    expected = {"policy_coef": 1.0, "vf_coef": 0.5, "gamma": 0.97, "gae_lambda": 0.9}
    assert {name: found.facts[name] for name in expected} == pytest.approx(expected, rel=1e-3)


def test_a_critic_that_is_asked_after_the_move_accuses_nobody(tmp_path, monkeypatch):
    asked = "            values[t] = agent.critic(obs[t]).squeeze(1)\n"
    later = "        values[t] = agent.critic(obs[t]).squeeze(1).detach()\n"
    moved = ("        rewards[t], ends[t] =", later + "        rewards[t], ends[t] =")
    found, _ = examined(tmp_path, monkeypatch, "ppo", (asked, ""), moved, moves=512)
    assert found.ok, str(found)


def test_gae_is_named_beside_rewards_of_ones_own(tmp_path, monkeypatch):
    right, wrong, name = PPO["no ends"]
    scaled = PPO_KINDS["rewards are scaled"][0]
    found, _ = examined(tmp_path, monkeypatch, "ppo", scaled, (right, wrong), moves=256)
    assert name in names(found), str(found)


ERROR = "nn.functional.mse_loss(value, target)"


@pytest.mark.parametrize("error", [ERROR, "(target - value) ** 2", "-(-(value - target)).square()"])
def test_an_online_actor_critic_is_examined(tmp_path, error):
    script = tmp_path / "online.py"
    script.write_text(ONLINE.replace(ERROR, error), encoding="utf-8")
    with doctor(1.0) as found:
        runpy.run_path(str(script))
    if error.startswith("-"):
        assert names(found) == {"value-sign"}, str(found)
        return
    assert found.ok, str(found)
    assert found.held["returns"] == found.held["actions"] > 20
    assert not found.unchecked.keys() & {"doctor", "returns"}


#: Observations are numbers without an axis, and the critic learns before the actor.
ONLINE = """
import gymnasium as gym, torch
from torch import nn
env = gym.make("FrozenLake-v1")
actor = nn.Sequential(nn.Embedding(16, 8), nn.ReLU(), nn.Linear(8, 4))
critic = nn.Sequential(nn.Embedding(16, 8), nn.ReLU(), nn.Linear(8, 1))
steps = [torch.optim.Adam(each.parameters(), lr=0.01) for each in (actor, critic)]
seen, _ = env.reset(seed=1)
for _ in range(40):
    law = torch.distributions.Categorical(logits=actor(torch.tensor(seen)))
    action = law.sample()
    after, reward, ended, cut, _ = env.step(action.item())
    value = critic(torch.tensor(seen)).squeeze(-1)
    with torch.no_grad():
        target = reward + 0.9 * (not ended) * critic(torch.tensor(after)).squeeze(-1)
    losses = nn.functional.mse_loss(value, target), -law.log_prob(action) * (target - value).detach()
    for step, loss in zip(steps[::-1], losses):
        step.zero_grad()
        loss.backward()
        step.step()
    seen = env.reset()[0] if ended or cut else after
"""


#: The critic learns by its own advantages, which are sums of errors of several moves.
ADVANTAGES = """
import gymnasium as gym, torch
from torch import nn
same = {"autoreset_mode": gym.vector.AutoresetMode.SAME_STEP}
envs = gym.make_vec("CartPole-v1", 4, vectorization_mode="sync", vector_kwargs=same)
actor, critic = (nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, n)) for n in (2, 1))
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=0.01)
seen, _ = envs.reset(seed=1)
for _ in range(4):
    values, logs, rewards, goes_on = [], [], [], []
    for _ in range(24):
        law = torch.distributions.Categorical(logits=actor(torch.tensor(seen)))
        values.append(critic(torch.tensor(seen)).squeeze(1))
        action = law.sample()
        logs.append(law.log_prob(action))
        seen, reward, ended, cut, _ = envs.step(action.numpy())
        rewards.append(torch.tensor(reward))
        goes_on.append(torch.tensor(1.0 - (ended | cut)))
    later, advantage, advantages = critic(torch.tensor(seen)).squeeze(1).detach(), 0.0, []
    for t in reversed(range(24)):
        error = rewards[t] + 0.9 * goes_on[t] * later - values[t]
        advantage = error + 0.9 * 0.8 * goes_on[t] * advantage
        advantages.insert(0, advantage)
        later = values[t]
    gains = torch.stack(advantages).float()
    loss = gains.pow(2).mean() - (gains.detach() * torch.stack(logs)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


#: Few moves an update, with rewards of the program's own.
FEW = """
import gymnasium as gym, numpy as np, torch
from torch import nn
gamma, env = 0.98, gym.make("CartPole-v1")
torch.manual_seed(1)
actor, critic = (nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, n)) for n in (2, 1))
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=0.001)
seen, _ = env.reset(seed=1)
for _ in range(8):
    rows = []
    for _ in range(10):
        action = torch.distributions.Categorical(logits=actor(torch.tensor(seen))).sample().item()
        after, reward, ended, cut, _ = env.step(action)
        rows.append((seen, action, reward / 100, after, ended))
        seen = env.reset()[0] if ended or cut else after
        if ended or cut:
            break
    seen_before, actions, rewards, later, ends = (np.array(each) for each in zip(*rows))
    goes_on = torch.tensor(1.0 - ends).float()
    values = critic(torch.tensor(seen_before)).squeeze(1)
    with torch.no_grad():
        before = critic(torch.tensor(seen_before)).squeeze(1)
        targets = torch.tensor(rewards).float() + gamma * goes_on * critic(torch.tensor(later)).squeeze(1)
    law = torch.distributions.Categorical(logits=actor(torch.tensor(seen_before)))
    gains = law.log_prob(torch.tensor(actions)) * (targets - before)
    optimizer.zero_grad()
    (nn.functional.smooth_l1_loss(values, targets) - gains.mean()).backward()
    optimizer.step()
"""


#: Log-probabilities of a ``Categorical``, and of probabilities times ones and zeros.
DRAWN = (
    "Categorical(logits=actor(torch.tensor(seen_before)))",
    "law.log_prob(torch.tensor(actions))",
)
TIMES_ONES = (
    "Categorical(actor(torch.tensor(seen_before)).softmax(1))",
    "(law.probs * nn.functional.one_hot(torch.tensor(actions), 2)).sum(1).log()",
)


@pytest.mark.parametrize(
    "logs", [pytest.param(DRAWN, marks=pytest.mark.slow), TIMES_ONES], ids=["drawn", "times ones"]
)
def test_few_numbers_do_not_tell_rewards_of_ones_own_from_another_scale(tmp_path, logs):
    script, text = tmp_path / "few.py", FEW
    for old, new in zip(DRAWN, logs, strict=True):
        assert old in text
        text = text.replace(old, new)
    script.write_text(text, encoding="utf-8")
    with doctor(1.0) as found:
        runpy.run_path(str(script))
    assert found.ok, str(found)
    assert found.held["returns"] > 30
    assert "doctor" not in found.unchecked


@pytest.mark.parametrize("seconds", [0.3, pytest.param(losses.SECONDS, marks=pytest.mark.slow)])
def test_a_critic_that_learns_by_its_advantages_is_not_accused(tmp_path, monkeypatch, seconds):
    monkeypatch.setattr(losses, "SECONDS", seconds)  # of searches that find nothing
    script = tmp_path / "advantages.py"
    script.write_text(ADVANTAGES, encoding="utf-8")
    with doctor(1.0) as found:
        runpy.run_path(str(script))
    assert found.ok, str(found)
    assert found.gradients == 4
    assert "gradient" in found.unchecked or "gradient" in found.held
    assert "doctor" not in found.unchecked


#: An environment that answers as those of Gym did, four things to a step, and one loss of a game.
OLD = """
import gymnasium as gym, numpy as np, torch
from torch import nn
class Walk(gym.Env):
    observation_space, action_space = gym.spaces.Box(-1, 1, (3,)), gym.spaces.Discrete(2)
    rng = np.random.default_rng(0)
    def seen(self):
        return np.array([self.place, *self.rng.random(2)], np.float32)
    def reset(self):
        self.place = 0.0
        return self.seen()
    def step(self, action):
        self.place += 0.1 if action else -0.1
        return self.seen(), float(self.place > 0.4), abs(self.place) > 0.45, {}
torch.manual_seed(1)
env = Walk()
actor, critic = (nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, n)) for n in (2, 1))
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=1e-3)
for _ in range(10):
    seen, over, states, logs, rewards, returns = env.reset(), False, [], [], [], []
    while not over:
        law = torch.distributions.Categorical(logits=actor(torch.tensor(seen)))
        action = law.sample()
        states.append(torch.tensor(seen))
        logs.append(law.log_prob(action))
        seen, reward, over, _ = env.step(action.item())
        rewards.append(reward)
    ahead = 0.0
    for reward in reversed(rewards):
        ahead = reward + 0.9 * ahead
        returns.insert(0, ahead)
    returns, values = torch.tensor(returns), critic(torch.stack(states)).squeeze(1)
    loss = (values - returns).pow(2).mean() - (torch.stack(logs) * (returns - values.detach())).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_an_environment_as_gym_had_them_and_one_loss_of_a_game_are_examined(tmp_path):
    script = tmp_path / "old.py"
    script.write_text(OLD, encoding="utf-8")
    with doctor(1.0) as found:
        runpy.run_path(str(script))
    assert found.ok, str(found)
    assert found.held["returns"] == found.held["actions"] == found.moves
    assert found.facts["gamma"] == 0.9
    script.write_text(OLD.replace("() - (torch", "() + (torch"), encoding="utf-8")
    with doctor(1.0) as found:
        runpy.run_path(str(script))
    assert names(found) == {"policy-sign"}


#: An environment that answers for several, in a form of its own.
OWN_VECTOR = """
import gymnasium as gym, torch
class Both(gym.Env):
    def __init__(self):
        self.envs = [gym.make("CartPole-v1") for _ in range(2)]
    def reset(self):
        return [env.reset(seed=1)[0] for env in self.envs]
    def step(self, actions):
        return zip(*(env.step(action) for env, action in zip(self.envs, actions)))
env, critic = Both(), torch.nn.Linear(4, 1)
env.reset()
seen, rewards, *_ = env.step([0, 1])
(critic(torch.tensor(seen[0])) - rewards[0]).pow(2).sum().backward()
"""


def test_a_vector_of_the_programs_own_is_no_failure_of_the_doctor(tmp_path):
    script = tmp_path / "own.py"
    script.write_text(OWN_VECTOR, encoding="utf-8")
    with doctor(1.0) as found:
        runpy.run_path(str(script))
    assert "answer in a form that is not known" in found.unchecked.pop("observations")
    assert not found.unchecked


#: A vector of stable-baselines3 that gives tensors, rewards (lane, 1), and a network with a state.
TENSORS = """
import torch
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecEnvWrapper
from torch import nn
class Tensors(VecEnvWrapper):
    def reset(self):
        return torch.from_numpy(self.venv.reset()).float()
    def step_async(self, actions):
        self.venv.step_async(actions.squeeze(1).numpy())
    def step_wait(self):
        seen, rewards, over, infos = self.venv.step_wait()
        return torch.from_numpy(seen), torch.from_numpy(rewards).unsqueeze(1), over, infos
class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor, self.critic = nn.Linear(4, 2), nn.Linear(4, 1)
    def forward(self, seen, state):
        return self.actor(seen), self.critic(seen), state
if __name__ == "__main__":
    torch.manual_seed(1)
    envs = Tensors(make_vec_env("CartPole-v1", 2, seed=1, vec_env_cls=DummyVecEnv))
    network, state = Network(), torch.zeros(2, 1)
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    shown = envs.reset()
    for _ in range(20):
        seen, actions, rewards, goes_on = [], [], [], []
        for _ in range(8):
            with torch.no_grad():
                logits, _, state = network(shown, state)
            action = torch.distributions.Categorical(logits=logits).sample()
            seen.append(shown)
            shown, reward, over, _ = envs.step(action[:, None])
            actions.append(action)
            rewards.append(reward[:, 0])
            goes_on.append(1 - torch.tensor(over).float())
        with torch.no_grad():
            ahead, returns = network(shown, state)[1][:, 0], []
        for t in reversed(range(8)):
            ahead = rewards[t] + 0.9 * goes_on[t] * ahead
            returns.insert(0, ahead)
        logits, values, _ = network(torch.cat(seen), state)
        gains = torch.cat(returns) - values[:, 0]
        logs = torch.distributions.Categorical(logits=logits).log_prob(torch.cat(actions))
        optimizer.zero_grad()
        (gains.pow(2).mean() - (gains.detach() * logs).mean()).backward()
        optimizer.step()
"""


def test_a_vector_of_tensors_and_a_network_with_a_state_are_examined(tmp_path):
    script = tmp_path / "tensors.py"
    script.write_text(TENSORS, encoding="utf-8")
    with doctor(1.0) as found:
        runpy.run_path(str(script), run_name="__main__")
    assert found.ok, str(found)
    assert found.held.get("returns") == found.moves == 320, str(found)
    assert found.facts["gamma"] == 0.9
    assert "doctor" not in found.unchecked


def test_vectors_are_seen_as_soon_as_their_module_is_imported(tmp_path, monkeypatch):
    """No environment of this process may ever call them: their environments may be in others."""
    source = "class Vector:\n    def step(self, actions):\n        return actions\n"
    (tmp_path / "late_vectors.py").write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(tap, "VECTORS", {"late_vectors": "Vector"})
    with doctor():
        late = importlib.import_module("late_vectors")
        assert hasattr(late.Vector.step, "_of_doctor")
        defined = type("Defined", (late.Vector,), {"reset": lambda self: 0})
        assert hasattr(defined.reset, "_of_doctor")
    assert not hasattr(late.Vector.step, "_of_doctor")
    assert not any(isinstance(each, tap.Imports) for each in sys.meta_path)


@pytest.mark.slow
def test_a_vector_in_other_processes_is_seen_though_no_environment_is_in_this_one(tmp_path):
    script = tmp_path / "tensors.py"
    script.write_text(TENSORS.replace("=DummyVecEnv", "=SubprocVecEnv"), encoding="utf-8")
    found = json.loads(command("--json", script).stdout)
    assert found["moves"] == 320
    assert found["held"]["observations"] > 0


#: A critic (row, 1) of next observations stands in the loss, too.
SQUARE = """
import gymnasium as gym, torch
from torch import nn
env = gym.make("CartPole-v1")
critic = nn.Linear(4, 1)
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-5)
seen, _ = env.reset(seed=1)
env.action_space.seed(1)
rows = []
for _ in range(40):
    after, reward, ended, cut, _ = env.step(env.action_space.sample())
    rows.append((torch.tensor(seen), torch.tensor(after)))
    seen = env.reset()[0] if ended or cut else after
    if len(rows) >= 32:
        now, later = (torch.stack(each[-32:]) for each in zip(*rows))
        following = critic(later)
        values = critic(now)
        loss = nn.functional.mse_loss(torch.ones(32) + 0.99 * following, values)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.filterwarnings("ignore:Using a (target|input) size")
def test_a_square_of_errors_is_that_of_the_batch(tmp_path):
    script = tmp_path / "square.py"
    script.write_text(SQUARE, encoding="utf-8")
    with doctor(1.0) as found:
        runpy.run_path(str(script))
    assert names(found) == {"values-broadcast"}, str(found)


LOSSES_APART = {
    "values broadcast": (*PPO["values broadcast"][:2], "values-broadcast"),
    "policy sign": (*PPO["policy sign"][:2], "policy-sign"),
    "no ends": (*PPO["no ends"][:2], "gae-ignores-ends"),
    "advantages of other rows": ("            ratio =", "            b_advantages = flat[3][: len(rows)]\n            ratio =", "advantages-of-other-rows"),
    "the value of the first row": ("torch.tensor(seen)).squeeze(1)", "obs[0]).squeeze(1)", "values-of-the-first-row-for-last-values"),
    "gradients lost": ("            nn.utils.clip", "            optimizer.zero_grad()\n            nn.utils.clip", "gradients-lost"),
    "half of the rows": ("permutation(ROWS * LANES)", "permutation(ROWS * LANES // 2)", "rows-left-out"),
}  # fmt: skip


@pytest.mark.parametrize("planted", every_third(LOSSES_APART))
def test_mistakes_are_named_where_losses_are_apart(tmp_path, monkeypatch, planted):
    right, wrong, name = LOSSES_APART[planted]
    edits = [APART, (right, wrong), ("in range(2):\n        order", "in range(4):\n        order")]
    found, _ = examined(tmp_path, monkeypatch, "ppo", *edits, moves=256)
    assert name in names(found) or any(name in note for note in found.notes), str(found)


SHOWN = "    return torch.tensor(np.eye(inputs)[state] if numbered else state).float()"


def test_a_right_reinforce_holds(tmp_path, monkeypatch):
    found, _ = examined(tmp_path, monkeypatch, "reinforce")
    assert found.ok, str(found)
    checks = {"gradient", "returns", "advantages", "law"}
    assert checks <= found.held.keys() - found.unchecked.keys(), str(found)
    assert found.facts["gamma"] == 0.97
    assert found.facts["policy_coef"] == pytest.approx(1)
    assert not any("same-seed" in note for note in found.notes)


def test_numbers_are_known_to_networks_from_the_first_update_on(tmp_path, monkeypatch):
    """Observations are whole numbers, which the doctor keeps as zeros and ones."""
    env = "exactdice:exactdice/LowestScore-v0"
    found, _ = examined(tmp_path, monkeypatch, "reinforce", env=env, moves=50)
    assert found.ok, str(found)
    assert found.held["actions"] == found.moves
    assert "observations" not in found.unchecked


def test_rows_of_zeros_and_a_one_are_scored_and_changing_ones_are_not(tmp_path, monkeypatch):
    trunk = [
        ("policy(observations[-1][None])", "policy[2](policy[:2](observations[-1][None]))"),
        ("baseline =", "policy.saved = [policy(torch.zeros(1, inputs))]\nbaseline ="),
    ]
    found, _ = examined(tmp_path, monkeypatch, "reinforce", *trunk, env="FrozenLake-v1", moves=100)
    assert found.ok, str(found)
    assert found.scores
    # The head alone would be scored as a network of states: it has as many inputs.
    apart = (
        "policy(observations[-1][None])",
        "policy[2](policy[0](observations[-1][None]).tanh())",
    )
    hidden = (
        "policy = nn.Sequential(nn.Linear(inputs, 32), nn.Tanh(), nn.Linear(32, outputs))",
        "policy = nn.Sequential(nn.Linear(inputs, 16), nn.Tanh(), nn.Linear(16, outputs))",
    )
    found, _ = examined(
        tmp_path, monkeypatch, "reinforce", apart, hidden, env="FrozenLake-v1", moves=100
    )
    assert found.ok, str(found)
    assert not found.scores
    assert "between its networks" in found.unchecked["scores"]
    own = "    global mean, count\n    count += 1\n    mean = mean + (np.eye(inputs)[state] - mean) / count\n    return torch.tensor(np.eye(inputs)[state] - mean).float()"
    found, _ = examined(
        tmp_path, monkeypatch, "reinforce", (SHOWN, own), env="FrozenLake-v1", moves=100
    )
    assert found.ok, str(found)
    assert found.held["law"]
    assert "other numbers" in found.unchecked["scores"]  # of which a network says something else


#: A REINFORCE without a baseline, whose weights are whitened.
ALONE = [
    ("returns - values.detach()", "(returns - returns.mean()) / (returns.std() + 1e-8)"),
    ("baseline_optimizer.zero_grad()\n    value_loss.backward()\n    baseline_optimizer.step()", "pass"),
]  # fmt: skip


def test_weights_of_a_reinforce_without_a_critic_are_checked(tmp_path, monkeypatch):
    found, _ = examined(tmp_path, monkeypatch, "reinforce", *ALONE, moves=150)
    assert found.ok, str(found)
    assert found.held["advantages"] > 100
    assert found.facts["gamma"] == 0.97
    append = ("returns.insert(0, ahead)", "returns.append(ahead)")
    found, _ = examined(tmp_path, monkeypatch, "reinforce", *ALONE, append, moves=100)
    assert names(found) == {"rewards-of-the-past"}  # the same numbers, where each reward is 1


REINFORCE = {
    "sign of the actor's loss": ("-log * a", "log * a", "policy-sign"),
    "likeliest actions": ("law.sample()", "law.probs.argmax(dim=1)", "greedy-actions"),
    "the same seed": ("env.reset(seed=moves)", "env.reset(seed=7)", "same-seed-in-each-game"),
    "an observation that is never renewed": ("        state, reward, ended", "        _, reward, ended", "stale-observation"),
    "returns in the other order": ("returns.insert(0, ahead)", "returns.append(ahead)", None),
    "a softmax over the batch": ("Categorical(logits=policy(observations[-1][None]))", "Categorical(policy(observations[-1][None]).softmax(dim=0))", "get no gradient"),
}  # fmt: skip


ORDER = "returns in the other order"  # the sums are searched for in each game


@pytest.mark.parametrize("planted", at_once(lambda planted: planted != ORDER, REINFORCE))
def test_mistakes_of_a_reinforce_are_noticed(tmp_path, monkeypatch, planted):
    right, wrong, name = REINFORCE[planted]
    moves = 200 if planted == "a softmax over the batch" else 100
    found, _ = examined(tmp_path, monkeypatch, "reinforce", (right, wrong), moves=moves)
    told = names(found) | {*found.notes} | found.unchecked.keys()
    assert any((name or "returns") in each for each in told), str(found)


DQN = {
    "a softmax over the batch": ("online = nn.Sequential(nn.Linear(inputs, 32), nn.ReLU(), nn.Linear(32, outputs))", "online = nn.Sequential(nn.Linear(inputs, 32), nn.ReLU(), nn.Linear(32, outputs), nn.Softmax(dim=0))", "rows-mixed"),
    "gradients lost": ("        loss.backward()\n", "        loss.backward()\n        optimizer.zero_grad()\n", "gradients-lost"),
    "no ends": (" * ~torch.tensor(ends)", "", "target-ignores-ends"),
    "the mean over actions": ("max(dim=1).values", "mean(dim=1)", "the-mean-in-place-of-the-maximum"),
    "gamma twice": ("GAMMA * best", "GAMMA * GAMMA * best", "gamma-wrong"),
    "rewards left out": ("torch.tensor(rewards) + GAMMA", "0 * torch.tensor(rewards) + GAMMA", "rewards-left-out"),
    "the next game's observation": ("buffer.append((seen, action, reward, after, ended))\n    seen = after", "kept, seen = seen, after", None),
    "an observation that is written over": ("buffer.append((seen, action, reward, after, ended))", "buffer.append((after, action, reward, after, ended))", None),
    "the sign of the loss": ("mse_loss(values, wanted.float())", "mse_loss(values, wanted.float()).neg()", "loss-sign"),
    "values of the best action": ("gather(1, torch.tensor(acts)[:, None]).squeeze(1)", "max(dim=1).values", "value-of-best-action"),
    "values that are broadcast": ("gather(1, torch.tensor(acts)[:, None]).squeeze(1)", "gather(1, torch.tensor(acts)[:, None])", "values-broadcast"),
    "actions of another row": ("torch.tensor(acts)[:, None]", "torch.tensor(acts).roll(1)[:, None]", None),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:Using a target size")
@pytest.mark.parametrize("planted", every_third(DQN))
def test_mistakes_of_a_dqn_are_noticed(tmp_path, monkeypatch, planted):
    right, wrong, name = DQN[planted]
    edits = [(right, wrong)]
    if planted == "the next game's observation":
        line = "        seen, _ = env.reset()\n"
        edits.append(
            (
                line,
                line
                + "        after = seen\n    buffer.append((kept, action, reward, after, ended))\n",
            )
        )
        edits[1] = (line, line + "    buffer.append((kept, action, reward, seen, False))\n")
    found, _ = examined(tmp_path, monkeypatch, "dqn", *edits, moves=180)
    if name:
        assert name in names(found), str(found)
    assert not found.ok, str(found)


STORED = "buffer.append((seen, action, reward, after, ended))"
NEXT = "            best = target(later).max(dim=1).values\n"
WANTED = f"        with torch.no_grad():\n{NEXT}            wanted = torch.tensor(rewards) + GAMMA * best * ~torch.tensor(ends)\n"
LATE = WANTED.replace("        with torch.no_grad():\n", "").replace("            ", "        ")
#: Right DQNs of other kinds, as edits.
KINDS = {
    "an end pays -1": (STORED, STORED.replace("reward", "-1.0 if ended else reward")),
    "rewards are scaled": (STORED, STORED.replace("reward", "reward / 3")),
    "values where games go on": (NEXT, "            best, on = torch.zeros(32), ~torch.tensor(ends)\n            best[on] = target(later[on]).max(dim=1).values\n"),
    "values one by one": (NEXT, "            best = torch.stack([target(each[None]).max() for each in later])\n"),
    "a batch as large as a layer": (NEXT, NEXT + "            [target(each) for each in later]\n"),
    "networks asked of moves after them": ("    seen = after\n", "    online(torch.tensor(seen[None]))\n    seen = after\n"),
    "the next observation of an end is zeros": (STORED, STORED.replace("after", "0 * after if ended else after")),
    "targets detached late": (WANTED, LATE.replace(" * ~", ".detach() * ~")),
    "a target network with its graph": (WANTED, LATE),
    "gradients that another loss leaves": ("        optimizer.step()\n", "        optimizer.step()\n        online(obs).mean().backward()\n"),
    "weights of rows": ("mse_loss(values, wanted.float())", "mse_loss(values, wanted.float(), reduction='none') @ torch.linspace(0, 1, 32)"),
    "values of other actions": (NEXT, "            best = torch.where(torch.rand(32) < 0.3, target(later).min(dim=1).values, target(later).max(dim=1).values)\n"),
    "a second critic that is asked for the batch": (NEXT, "            target(obs)\n            best = target(later).max(dim=1).values\n"),
    "values of a second network in some rows": (NEXT, "            best = target(later).max(dim=1).values\n            best[:5] = online(later).max(dim=1).values[:5]\n"),
    "observations divided": ("obs, later = torch.tensor(obs), torch.tensor(later)", "obs, later = torch.tensor(obs) / 2, torch.tensor(later) / 2"),
}  # fmt: skip


#: Of these, which have targets that no formula gives, which is searched for each time.
UNKNOWN = {"values of other actions", "values of a second network in some rows"}


@pytest.mark.parametrize("kind", every_third(KINDS, 2))
def test_right_programs_of_other_kinds_hold(tmp_path, monkeypatch, kind):
    edits, other = [KINDS[kind]], kind in UNKNOWN
    if kind == "observations divided":
        edits.append(("torch.tensor(seen[None])", "torch.tensor(seen[None]) / 2"))
    moves = 110 if other else 180
    found, _ = examined(tmp_path, monkeypatch, "dqn", *edits, moves=moves)
    assert found.ok, str(found)
    assert "gradient" in found.held
    assert ("other values" in found.unchecked.get("targets", "")) == other
    assert other or "targets" in found.held
    assert ("transitions" in found.held) == (kind != "observations divided")
    assert ("other numbers" in found.unchecked.get("transitions", "")) == (
        kind == "observations divided"
    )


OWN_LATER = (WANTED, LATE.replace("target(later)", "online(later)"))


GATHERED = "online(obs).gather(1, torch.tensor(acts)[:, None]).squeeze(1)"
ONES = "(online(obs) * torch.eye(outputs)[acts]).sum(dim=1)"
SQUARES = "loss = nn.functional.mse_loss(values, wanted.float())"
GOALS = "table = online(obs)\n        goals = table.clone()\n        goals[np.arange(32), acts] = wanted.float()\n        loss = nn.functional.mse_loss(goals, table)"
#: Losses of the values of all actions, with the weight of one move.
ALL_ACTIONS = {"ones and zeros": (GATHERED, ONES, 1.0), "goals": (SQUARES, GOALS, 0.5)}


@pytest.mark.parametrize("kind", ALL_ACTIONS)
def test_values_of_all_actions_are_checked_at_those_taken(tmp_path, monkeypatch, kind):
    right, other, weight = ALL_ACTIONS[kind]
    edits, endless = [(right, other)], (" * ~torch.tensor(ends)", "")
    found, _ = examined(tmp_path, monkeypatch, "dqn", *edits, moves=180)
    assert found.ok, str(found)
    assert {"gradient", "targets", "transitions"} <= found.held.keys() - found.unchecked.keys()
    assert found.facts["weight"] == pytest.approx(weight, rel=1e-3)
    found, _ = examined(tmp_path, monkeypatch, "dqn", *edits, endless, moves=180)
    assert names(found) == {"target-ignores-ends"}, str(found)


def test_goals_with_the_gradient_of_the_next_values_are_named(tmp_path, monkeypatch):
    found, _ = examined(tmp_path, monkeypatch, "dqn", (SQUARES, GOALS), OWN_LATER, moves=180)
    assert names(found) == {"targets-not-detached"}, str(found)
    assert {"targets", "transitions"} <= found.held.keys()


def test_targets_of_the_network_itself_are_checked_though_they_have_a_gradient(
    tmp_path, monkeypatch
):
    endless = OWN_LATER[1].replace(" * ~torch.tensor(ends)", "")
    found, _ = examined(tmp_path, monkeypatch, "dqn", (WANTED, endless), moves=180)
    assert "target-ignores-ends" in names(found), str(found)


class Kept(NamedTuple):
    reward: float


class Learner:
    gamma = 0.875
    last = Kept(0.625)


@dataclass
class Args:
    discount: float = 1.0


def test_numbers_of_a_program_are_those_of_its_classes_and_not_of_others():
    learner, args, library = Learner, Args(0.75), Rollout  # the last one has a discount, too
    assert isinstance(library.gamma, float)
    declared = Declared()
    declared.look()
    assert {*declared.numbers("gamma")} == {learner.gamma, args.discount}


def test_a_target_network_waits_until_it_was_updated_often():
    habits, network = Habits(), torch.nn.Linear(2, 2)
    assert not habits.waits
    for updates in range(6):
        habits.target(network)
        assert habits.waits == (updates < 4)
        habits.target(network)  # which changes nothing
        torch.nn.init.normal_(network.weight)


def test_a_critic_of_normalised_sums_holds(tmp_path, monkeypatch):
    right = "    returns = advantages + values\n"
    sums = "    returns, ahead = torch.zeros(ROWS, LANES), torch.zeros(LANES)\n    for t in reversed(range(ROWS)):\n        returns[t] = ahead = rewards[t] + GAMMA * (1 - ends[t]) * ahead\n    returns = (returns - returns.mean()) / returns.std()\n    advantages = returns - values\n"
    found, _ = examined(tmp_path, monkeypatch, "ppo", (right, sums), moves=512)
    assert found.ok, str(found)
    assert any("returns-scaled" in note for note in found.notes)
    wrong = sums.replace("GAMMA * (1 - ends[t]) * ahead", "GAMMA * ahead")
    found, _ = examined(tmp_path, monkeypatch, "ppo", (right, wrong), moves=256)
    assert "gae-ignores-ends" in names(found), str(found)


GREED = "exactdice:exactdice/Greed-OneHot-v0"


@pytest.mark.parametrize(
    ("env", "first"), [("CartPole-v1", 100), pytest.param(GREED, 32, marks=pytest.mark.slow)]
)  # short games
def test_targets_over_several_moves_are_left_unchecked(tmp_path, monkeypatch, env, first):
    store = "    steps = [*steps, (seen, action, reward)][-3:]\n    buffer.append((*steps[0][:2], sum(GAMMA**k * each[2] for k, each in enumerate(steps)), after, ended))"
    edits = [
        (f"    {STORED}", store),
        ("buffer = []\n", "buffer, steps = [], []\n"),
        ("        seen, _ = env.reset()\n", "        seen, _ = env.reset()\n        steps = []\n"),
        ("GAMMA * best", "GAMMA**3 * best"),
        ("step >= 100", f"step >= {first}"),
    ]
    found, _ = examined(tmp_path, monkeypatch, "dqn", *edits, env=env)
    assert found.ok, str(found)
    assert "several moves" in found.unchecked["targets"]
    assert "gamma" not in found.facts


def test_masks_within_observations_are_read(tmp_path, monkeypatch):
    masked = "from exactdice.envs import MaskInObservation\nclass Bare(gym.Wrapper):\n    def step(self, action):\n        return *super().step(action)[:4], {}\nenv = Bare(MaskInObservation(gym.make(args.env), 'tianshou'))"
    apart = "; seen, mask = both['obs'], both['mask']"
    edits = [
        ("env = gym.make(args.env)", masked),
        ("observation_space.shape", "observation_space['obs'].shape"),
        ("seen, _ = env.reset(seed=args.seed)", f"both, _ = env.reset(seed=args.seed){apart}"),
        ("        seen, _ = env.reset()", f"        both, _ = env.reset(){apart}"),
        ("random.randrange(outputs)", "int(random.choice(np.flatnonzero(mask)))"),
        ("[None])).argmax()", "[None]))[0].masked_fill(~torch.tensor(mask), -9.0).argmax()"),
        ("after, reward,", "both, reward,"),
        ("    buffer.append", "    after, mask = both['obs'], both['mask']\n    buffer.append"),
    ]
    found, _ = examined(tmp_path, monkeypatch, "dqn", *edits, env=GREED)
    assert names(found) == {"max-over-illegal"}, str(found)


LEARNERS = {"PPO": {"n_steps": 64}, "A2C": {}, "DQN": {"learning_starts": 50}}
WORLDS = ["exactdice:exactdice/Greed-v0", "CartPole-v1", "Taxi-v4"]
#: Each learner in one world at once, and in the others in the slow run.
PAIRED = at_once([*zip(LEARNERS, WORLDS, strict=True)].__contains__, product(LEARNERS, WORLDS))


@pytest.mark.parametrize(("name", "env"), PAIRED)
def test_learners_of_stable_baselines3_hold(name, env):
    import stable_baselines3
    from stable_baselines3.common.env_util import make_vec_env

    with doctor(budget=1.0) as found:
        model = getattr(stable_baselines3, name)(
            "MlpPolicy",
            make_vec_env(env, 2, seed=0),
            seed=0,
            device="cpu",
            gamma=0.98,
            **LEARNERS[name],
        )
        model.learn(256)
    assert found.ok, str(found)
    assert found.facts["gamma"] == 0.98
    assert "gradient" in found.held
    assert {"targets" if name == "DQN" else "returns"} <= found.held.keys()
    if env == "Taxi-v4":
        assert found.scores[-1]["optimum"] == pytest.approx(7.93)
        assert found.scores[-1]["value"] == pytest.approx(
            exactdice.score(model, gym.make(env)).value
        )


@pytest.mark.parametrize("env", ["FrozenLake-v1", "Taxi-v4"])
def test_rows_of_one_state_are_not_told_apart_by_an_order_that_fits_by_chance(env):
    """A2C draws the five rows of a game in an order of its own; often all are of one state."""
    from stable_baselines3 import A2C

    with doctor(budget=1.0) as found:
        A2C("MlpPolicy", gym.make(env), seed=1, device="cpu").learn(300)
    assert found.ok, str(found)
    assert found.held["observations"] > 200


@pytest.mark.slow
@pytest.mark.parametrize("lanes", [1, 2, 4])
@pytest.mark.parametrize("env", ["FrozenLake-v1", "CliffWalking-v1", "exactdice:exactdice/LowestScore-v0"])  # fmt: skip
@pytest.mark.parametrize(("name", "options"), [("A2C", {}), ("A2C", {"n_steps": 20}), ("PPO", {"n_steps": 32, "batch_size": 16}), ("DQN", {"learning_starts": 50})])  # fmt: skip
def test_learners_hold_where_states_come_back(name, options, env, lanes):
    import stable_baselines3
    from stable_baselines3.common.env_util import make_vec_env

    with doctor(budget=1.0) as found:
        envs = make_vec_env(env, lanes, seed=1)
        model = getattr(stable_baselines3, name)("MlpPolicy", envs, seed=1, device="cpu", **options)
        model.learn(300 * lanes)
    assert found.ok, str(found)
    assert found.held["observations"] > 100


def test_everything_is_put_back():
    classes = [gym.Env, gym.Wrapper, gym.vector.VectorEnv, gym.vector.SyncVectorEnv]
    kept = [(each, name, each.__dict__.get(name)) for each in classes for name in METHODS]
    kept.append((gym.Env, "__init_subclass__", gym.Env.__dict__.get("__init_subclass__")))
    functions = torch.autograd.backward, Categorical.log_prob
    with doctor():
        assert torch.autograd.backward is not functions[0]
    assert all(owner.__dict__.get(name) is method for owner, name, method in kept)
    assert (torch.autograd.backward, Categorical.log_prob) == functions


@pytest.mark.parametrize(
    ("env", "probe"),
    every_third(product(["CartPole-v1", "Taxi-v4"], PROBES)),
    ids=lambda one: getattr(one, "name", one),
)
def test_probes_answer_by_their_law(probe, env):
    world, shape = World(probe), gym.make(env)
    space = shape.observation_space
    seen, _ = world.answer(shape.unwrapped, "reset")
    rng, totals = np.random.default_rng(0), []
    total = 0.0
    for _ in range(4000):
        assert space.contains(seen)
        action = int(rng.integers(shape.action_space.n))
        seen, reward, ended, cut, _ = world.answer(shape.unwrapped, "step", action)
        total += reward
        if ended or cut:
            totals.append(total)
            seen, _ = world.answer(shape.unwrapped, "reset")
            total = 0.0
    if probe.cut or probe.by_lane:
        return
    uniform = np.full((len(probe.law), int(shape.action_space.n)), 1 / shape.action_space.n)
    exact = np.mean(probe.values(uniform, 1.0)[list(probe.first)])
    assert abs(np.mean(totals) - exact) <= 4 * np.std(totals) / len(totals) ** 0.5 + 1e-9


@pytest.mark.parametrize(("sign", "way"), [(1, "along"), (-1, "against")])
def test_the_direction_of_updates_is_told(sign, way):
    env = gym.make("exactdice:exactdice/Greed-v0", max_score=5, encoding="one_hot_float")
    torch.manual_seed(0)
    actor, learned = (
        torch.nn.Linear(env.observation_space.shape[0], int(env.action_space.n)),
        Learned(),
    )
    for _ in range(UPDATES + 1):
        learned._early.append(_State.of(actor))
        exact = gradient(env, actor).policy
        with torch.no_grad():
            for name, parameter in actor.named_parameters():
                parameter += sign * exact[name]
    assert learned._direction(env)[0].startswith(
        f"the first updates go {way} the exact policy gradient: cosine {sign:.3f}"
    )


def test_the_command_passes_words_on_and_its_exit_code_is_the_verdict(run, tmp_path):
    script = tmp_path / "wrong.py"
    source = (FOLDER / "small_ppo.py").read_text(encoding="utf-8")
    script.write_text(source.replace("optimizer.zero_grad()", "pass"), encoding="utf-8")
    code, said, _ = run("doctor", "--json", "--page", "page.html", script, "--moves", "256")
    assert code == 1
    found = json.loads(said)
    assert not found["ok"]
    assert found["moves"] == 256
    (symptom,) = (each for each in found["symptoms"] if each["mistake"] == "gradients-not-cleared")
    assert "wrong.py:7" in symptom["where"]  # near the backward pass
    assert "gradients-not-cleared" in (tmp_path / "page.html").read_text(encoding="utf-8")


def command(*words):
    words = [sys.executable, "-m", "exactdice", "doctor", *map(str, words)]
    return subprocess.run(words, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_command_prints_after_the_script_and_ends_with_0_if_all_holds():
    done = command("--json", FOLDER / "small_ppo.py", "--moves", "256", "--seed", "7")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.partition("\n")[2])  # after the number that the script prints
    assert found["ok"]
    assert found["moves"] == 256
    done = command(FOLDER / "small_ppo.py", "--moves", "256")
    assert f"\n\ndoctor: {found['verdict']}\n" in done.stdout


def test_mistakes_of_the_user_are_one_line(refusal, tmp_path):
    for words, said in (
        ((tmp_path / "none.py",), "must be a file"),
        ((), "script must be given"),
        (("--budget", "2", "x.py"), "budget must be"),
    ):
        assert said in refusal("doctor", *words)


def test_a_script_that_ends_with_an_exit_code_is_told_and_keeps_it(run, tmp_path):
    script = tmp_path / "fails.py"
    script.write_text("import gymnasium\nraise SystemExit(5)\n", encoding="utf-8")
    code, said, _ = run("doctor", script)
    assert "SystemExit: 5" in said
    assert code == 5


@pytest.mark.slow
def test_a_script_that_fails_keeps_its_traceback(tmp_path):
    script = tmp_path / "fails.py"
    script.write_text("raise KeyError('lost')\n", encoding="utf-8")
    done = command(script)
    assert done.returncode == 1
    assert "KeyError: 'lost'" in done.stderr
    assert "exactdice" not in done.stderr


@pytest.mark.slow
def test_a_probe_shows_resets_that_are_recorded_as_moves(tmp_path):
    """Of a right program all values hold; where resets count as moves, those of the end do not."""
    source = (FOLDER / "small_ppo.py").read_text(encoding="utf-8")
    script = tmp_path / "ppo.py"
    options = {"probe": "beginning", "moves": 6000, "gamma": 0.97}
    for mode, verdict in (("SAME_STEP", "holds"), ("NEXT_STEP", "wrong")):
        script.write_text(source.replace("SAME_STEP", mode), encoding="utf-8")
        found, _ = runs._run(script, ["--moves", "20000"], options)
        assert [each["verdict"] for each in found.readings] == ["holds", verdict], found
        assert found.ok == (verdict == "holds")


def test_the_checks_are_listed(prints):
    assert "gradients are cleared" in prints("doctor", "--list")

"""Every kind of policy at every public door, beside asking one observation at a time by hand.

It takes a minute: ``pytest -m slow tests/test_doors.py``.
"""

import gymnasium as gym
import numpy as np
import pytest
import torch
from exactdice.agents.learners.dqn import MaskedDQN, MaskedDQNPolicy
from exactdice.agents.learners.q_learning import QLearning, QTable
from exactdice.agents.learners.vec_env import GameVecEnv
from exactdice.agents.runs.config import TrainConfig
from exactdice.agents.runs.train import train
from exactdice.baselines import Policy, Task, certificate
from exactdice.games import Greed
from sb3_contrib import ARS, QRDQN, TRPO, MaskablePPO
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

import exactdice

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("own_games"),
    pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning"),
]


class Small(Greed):
    name = "SmallGreed"


GAME = Small(6, 3)
STATES = np.arange(GAME.num_states)
MASK = GAME.mask(STATES)
SEEN = GAME.observe(STATES, 0)
ACTIONS = np.where(SEEN[:, 0] > SEEN[:, 1], 0, MASK[:, 2] + MASK[:, 1] * 1)
LAW = MASK * (1.0 + SEEN[:, :1] + np.arange(GAME.num_actions))
LAW /= LAW.sum(axis=1, keepdims=True)


def register():
    exactdice.register(Small, policies={"mine": lambda game: ACTIONS, "law": lambda game: LAW})


def make(**keywords):
    register()
    sizes = {"max_score": 6, "sides": 3, "encoding": "one_hot_float"}
    return gym.make("exactdice/SmallGreed-v0", **{**sizes, **keywords})


def network():
    torch.manual_seed(0)
    size = make().observation_space.shape[0]
    layers = torch.nn.Linear(size, 16), torch.nn.Tanh(), torch.nn.Dropout(0.5)
    return torch.nn.Sequential(*layers, torch.nn.Linear(16, GAME.num_actions))


def trained_run(folder):
    options = {"max_score": 6, "sides": 3}
    config = {"batch_size": "64", "n_steps": "64"}
    train(TrainConfig(game="Greed", env=options, num_envs=2, steps=256, hyperparams=config,
                      run_folder=folder))  # fmt: skip
    return folder


def model(kind, policy="MlpPolicy"):
    return kind(policy, make(), seed=1, device="cpu")


def normalised():
    vector = VecNormalize(VecNormalize(DummyVecEnv([make])))
    return PPO("MlpPolicy", vector, n_steps=64, seed=1, device="cpu").learn(128)


class OwnClass(Policy):
    shape = (GAME.num_states, GAME.num_actions)

    def probabilities(self, states):
        return LAW[states]


def certified(tmp_path):
    path = tmp_path / "certificate.npz"
    path.write_bytes(certificate(exactdice.score(LAW, Task(GAME, 0, "optimal"))))
    return path


def saved(tmp_path):
    model(PPO).save(tmp_path / "model.zip")
    return tmp_path / "model.zip"


def q_learned():
    return QLearning(QTable, GameVecEnv(Task(GAME), 4), seed=1).learn(200)


KINDS = {
    "name": lambda _: "random",
    "registered actions": lambda _: "mine",
    "registered laws": lambda _: "law",
    "actions": lambda _: ACTIONS,
    "list": lambda _: ACTIONS.tolist(),
    "mapping": lambda _: dict(enumerate(ACTIONS.tolist())),
    "law": lambda _: LAW,
    "float32 law": lambda _: LAW.astype(np.float32),
    "tensor": lambda _: torch.as_tensor(LAW).requires_grad_(),
    "callable of actions": lambda _: lambda seen, legal: ACTIONS[GAME.encode(seen)],
    "callable of laws": lambda _: lambda seen, legal: LAW[GAME.encode(seen)],
    "callable of tensors": lambda _: lambda seen, legal: torch.as_tensor(LAW[GAME.encode(seen)]),
    "own class": lambda _: OwnClass(),
    "module": lambda _: network(),
    "scripted": lambda _: torch.jit.script(network()),
    "traced": lambda _: torch.jit.trace(network().eval(), torch.zeros(1, make().observation_space.shape[0])),  # noqa: E501
    "compiled": lambda _: torch.compile(network(), backend="eager"),
    "from_network": lambda _: exactdice.from_network(numpy_network, make()),
    "from_network, softmax": lambda _: exactdice.from_network(numpy_network, make(), False),
    **{kind.__name__: lambda _, kind=kind: model(kind)
       for kind in (PPO, MaskablePPO, A2C, TRPO, DQN, QRDQN, ARS)},
    "MaskedDQN": lambda _: MaskedDQN(MaskedDQNPolicy, GameVecEnv(Task(GAME), 2, encoding="one_hot_float"), seed=1),  # noqa: E501
    "Q-learning": lambda _: q_learned(),
    "unshared": lambda _: PPO("MlpPolicy", make(), seed=1, device="cpu", policy_kwargs={"share_features_extractor": False}),  # noqa: E501
    "normalised": lambda _: normalised(),
    "saved": saved,
    "certificate": certified,
}  # fmt: skip


def numpy_network(seen):
    weights = np.sin(np.outer(np.arange(1, seen.shape[1] + 1), np.arange(1, GAME.num_actions + 1)))
    return np.asarray(seen, np.float64) @ weights


def by_hand(kind, policy):
    """Ask what the policy would do in each state, one after the other: a law of each."""
    if kind in ("name",):
        return MASK / MASK.sum(axis=1, keepdims=True)
    if kind in ("registered laws", "law", "float32 law", "tensor", "own class", "certificate"):
        return LAW
    if kind in ("registered actions", "actions", "list", "mapping"):
        return np.eye(GAME.num_actions)[ACTIONS]
    if kind == "saved":
        policy = model(PPO)
    return np.stack([law_of_one(kind, policy, state) for state in STATES])


def law_of_one(kind, policy, state):
    legal, seen = MASK[[state]], SEEN[[state]]
    if kind.startswith(("callable", "from_network")):
        answer = np.asarray(policy(seen, legal))
        return answer[0] if answer.ndim == 2 else np.eye(GAME.num_actions)[answer[0]]
    shown = make().unwrapped.sight.show(seen)
    if isinstance(policy, torch.nn.Module) and not hasattr(policy, "predict"):
        with torch.no_grad():
            preferences = policy.eval()(torch.as_tensor(shown))[0].numpy()
    else:
        preferences = preferences_of(kind, policy, shown, seen)
    return np.eye(GAME.num_actions)[np.where(legal[0], preferences, -np.inf).argmax()]


def preferences_of(kind, policy, shown, seen):
    if kind == "normalised":
        shown = policy.env.normalize_obs(policy.env.venv.normalize_obs(shown))
    network = getattr(policy, "policy", policy)
    if kind == "Q-learning":
        return network.of(GAME.encode(seen))[0]
    with torch.no_grad():
        given = network.obs_to_tensor(shown)[0]
        if hasattr(network, "quantile_net"):
            return network.quantile_net(given).mean(dim=1)[0].numpy()
        if hasattr(network, "q_net"):
            return network.q_net(given)[0].numpy()
        if hasattr(network, "get_distribution"):
            return network.get_distribution(given).distribution.logits[0].numpy()
        return network.action_net(given.flatten(1).float())[0].numpy()  # ARS


DOORS = {
    "score": lambda policy, env: exactdice.score(policy, env).value,
    "evaluate": lambda policy, env: exactdice.evaluate(policy, env).value,
    "exact_evaluation": lambda policy, env: exactdice.exact_evaluation(policy, env)["value"],
    "expected_payoffs": lambda policy, env: exactdice.expected_payoffs([policy, "random"], env),
    "best_response": lambda policy, env: exactdice.best_response(policy, env).value,
    "occupancy": lambda policy, env: exactdice.occupancy(policy, env),
    "outcome_distribution": lambda policy, env: [
        *exactdice.outcome_distribution(policy, env).values()
    ],
    "opponent of a task": lambda policy, env: (
        exactdice.solve(Task(GAME, 1, exactdice.as_policy(policy, env))).value
    ),
}
#: Doors at which the policy plays every seat, as one of a single seat cannot.
BOTH = {
    "exploitability": lambda policy, env: exactdice.exploitability(policy, env),
    "payoff_matrix": lambda policy, env: (
        exactdice.payoff_matrix({"a": policy, "b": "random"}, env).payoffs
    ),
}
#: A door without an environment that shows networks what they are given.
BLIND = {"gym.make": lambda policy, env: exactdice.solve(make(opponent=policy, seat=1)).value}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_at_every_door_is_what_it_says_one_at_a_time(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    register()
    policy, env = KINDS[kind](tmp_path), make()
    table = by_hand(kind, policy)
    doors = dict(DOORS)
    if kind != "certificate":
        doors |= BOTH
    if kind not in ("module", "scripted", "traced", "compiled", "list", "mapping"):
        doors |= BLIND  # where a list or a mapping is of several opponents
    for door, ask in doors.items():
        assert np.asarray(ask(policy, env), float) == pytest.approx(
            np.asarray(ask(table, env), float), abs=1e-6
        ), door


def test_a_run_folder_at_every_door(tmp_path):
    env = gym.make("exactdice/Greed-v0", max_score=6, sides=3)
    folder = trained_run(tmp_path / "run")
    table = exactdice.as_policy(folder, env).probabilities(STATES)
    for door, ask in {**DOORS, **BOTH}.items():
        if door != "opponent of a task":
            assert np.asarray(ask(folder, env), float) == pytest.approx(
                np.asarray(ask(table, env), float), abs=1e-9
            ), door

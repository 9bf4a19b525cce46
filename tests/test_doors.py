"""Every public door takes every kind of policy, and each is worth there what its table is worth.

What the table of each kind is, ``tests/agents`` shows.
"""

import gymnasium as gym
import numpy as np
import pytest
import torch
from exactdice.baselines import Policy, Task
from exactdice.games import Greed, InputError
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize
from thinning import every_third

import exactdice

pytestmark = pytest.mark.usefixtures("own_games")


class Small(Greed):
    name = "SmallGreed"


GAME = Small(6, 3)
STATES = np.arange(GAME.num_states)
MASK, SEEN = GAME.mask(STATES), GAME.observe(STATES, 0)
ACTIONS = np.where(SEEN[:, 0] > SEEN[:, 1], 0, MASK[:, 2] + MASK[:, 1] * 1)
LAW = MASK * (1.0 + SEEN[:, :1] + np.arange(GAME.num_actions))
LAW /= LAW.sum(axis=1, keepdims=True)
POLICIES = {"mine": lambda game: ACTIONS, "law": lambda game: LAW}


def make(**keywords):
    exactdice.register(Small, policies=POLICIES)
    sizes = {"max_score": 6, "sides": 3, "encoding": "one_hot_float"}
    return gym.make("exactdice/SmallGreed-v0", **sizes | keywords)


class OwnClass(Policy):
    shape = GAME.num_states, GAME.num_actions

    def probabilities(self, states):
        return LAW[states]


def module(_):
    torch.manual_seed(0)
    return torch.nn.Linear(make().observation_space.shape[0], GAME.num_actions)


def normalised(_):
    vector = VecNormalize(DummyVecEnv([make]))
    return PPO("MlpPolicy", vector, n_steps=64, seed=1, device="cpu").learn(128)


def certified(folder):
    exactdice.score(LAW, Task(GAME, 0, "optimal")).save(path := folder / "certificate.npz")
    return path


def saved(folder):
    PPO("MlpPolicy", make(), seed=1, device="cpu").save(path := folder / "model.zip")
    return path


def preferences(seen):
    weights = np.sin(np.outer(np.arange(seen.shape[1]), np.arange(1, GAME.num_actions + 1)))
    return np.asarray(seen, np.float64) @ weights


KINDS = {
    "name": lambda _: "random",
    "registered actions": lambda _: "mine",
    "registered laws": lambda _: "law",
    "actions": lambda _: ACTIONS,
    "mapping": lambda _: dict(enumerate(ACTIONS.tolist())),
    "law": lambda _: LAW,
    "callable of actions": lambda _: lambda seen, legal: ACTIONS[GAME.encode(seen)],
    "callable of laws": lambda _: lambda seen, legal: LAW[GAME.encode(seen)],
    "own class": lambda _: OwnClass(),
    "from_network": lambda _: exactdice.from_network(preferences, make(), False),
    "module": module,
    "normalised": normalised,
    "saved": saved,
    "certificate": certified,
}


def solved(env):
    return exactdice.solve(env).value


DOORS = {
    "score": lambda policy, env: exactdice.score(policy, env).value,
    "evaluate": lambda policy, env: exactdice.evaluate(policy, env).value,
    "exact_evaluation": lambda policy, env: exactdice.exact_evaluation(policy, env)["value"],
    "expected_payoffs": lambda policy, env: exactdice.expected_payoffs([policy, "random"], env),
    "best_response": lambda policy, env: exactdice.best_response(policy, env).value,
    "occupancy": exactdice.occupancy,
    "outcome_distribution": lambda *both: [*exactdice.outcome_distribution(*both).values()],
    "opponent of a task": lambda *both: solved(Task(GAME, 1, exactdice.as_policy(*both))),
    "compare": lambda policy, env: exactdice.compare(policy, "random", env).gain,
    "exploitability": exactdice.exploitability,
    "payoff_matrix": lambda policy, env: exactdice.payoff_matrix([policy, "random"], env).payoffs,
    "gym.make": lambda policy, env: solved(make(opponent=policy, seat=1)),
}
#: A certificate is of one seat; gym.make shows a module nothing, and a mapping is of opponents.
CLOSED = {("certificate", "exploitability"), ("certificate", "payoff_matrix")}
CLOSED |= {(kind, "gym.make") for kind in ("module", "mapping")}


@pytest.mark.parametrize("kind", every_third(KINDS))
def test_every_kind_is_worth_what_its_table_is_worth_at_every_door(kind, tmp_path):
    policy, env = KINDS[kind](tmp_path), make()
    table = exactdice.as_policy(policy, env).probabilities(STATES)
    for door, ask in DOORS.items():
        if (kind, door) not in CLOSED:
            given = np.asarray(ask(policy, env), float)
            assert given == pytest.approx(worth_of(table, door), abs=1e-6), door


#: Kinds of one table need its worth once.
KNOWN = {}


def worth_of(table, door):
    """Ask a door for a table."""
    key = table.tobytes(), door
    if key not in KNOWN:
        KNOWN[key] = np.asarray(DOORS[door](table, make()), float)
    return KNOWN[key]


BAD = [
    (lambda game: np.full(game.num_states, -1), "legal actions, got -1 in state 0"),
    (lambda game: np.full(game.num_states, game.num_actions - 1), "legal actions, got 4"),
    (lambda game: np.zeros(3, int), r"integers of shape \(98,\), got int64 of shape \(3,\)"),
    (lambda game: np.zeros(game.num_states, bool), "got bool of shape"),
    (lambda game: LAW + 1, "leave illegal actions alone|sum to 1"),
    (lambda game: None, r"be numbers, got nothing \(None\)"),
    (lambda game: [[0], [0, 1]], "in rows of one length, got a list"),
    (lambda game: "zero", "be numbers, got <U4"),
]


@pytest.mark.parametrize(("give", "message"), BAD)
def test_what_a_name_gives_is_checked_at_every_door(give, message, monkeypatch):
    monkeypatch.setitem(POLICIES, "bad", give)
    env, said = make(), f"bad, as it is registered for .*: policy .*{message}"
    for ask in DOORS.values():
        with pytest.raises(InputError, match=said):
            ask("bad", env)


def test_unmasked_a_name_may_say_what_is_illegal(monkeypatch):
    table = np.full(GAME.num_states, GAME.num_actions - 1)
    monkeypatch.setitem(POLICIES, "all", lambda game: table)
    found = exactdice.score("all", make(), masked=False).value
    assert found == exactdice.score(table, Task(GAME), masked=False).value

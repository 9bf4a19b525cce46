"""Learners with masks: what they take, what they learn from, and the targets of DQN."""

import numpy as np
import pytest
import torch
from exactdice.agents.learners.dqn import MaskedDQN, MaskedDQNPolicy, MaskedQRDQN, MaskedQRDQNPolicy
from exactdice.agents.learners.masked_a2c import MaskedA2C
from exactdice.agents.learners.vec_env import GameVecEnv
from exactdice.baselines import Task, make_task
from exactdice.games import Greed, ShutTheBox
from sb3_contrib import QRDQN
from stable_baselines3 import A2C, DQN
from stable_baselines3.dqn import dqn
from stable_baselines3.dqn.policies import QNetwork

import exactdice

DQN_OPTIONS = {
    "seed": 3, "learning_starts": 300, "buffer_size": 3000, "batch_size": 64, "device": "cpu",
    "train_freq": 4, "gradient_steps": 2, "target_update_interval": 160, "gamma": 1.0,
    "exploration_fraction": 0.8, "policy_kwargs": {"net_arch": [32]},
}  # fmt: skip
#: Few quantiles, as an update compares each with each.
QRDQN_OPTIONS = {**DQN_OPTIONS, "policy_kwargs": {"net_arch": [32], "n_quantiles": 10}}
KINDS = [
    (DQN, MaskedDQN, MaskedDQNPolicy, DQN_OPTIONS),
    (QRDQN, MaskedQRDQN, MaskedQRDQNPolicy, QRDQN_OPTIONS),
]


@pytest.mark.parametrize(("plain", "masked", "policy", "options"), KINDS)
def test_masked_dqn_is_dqn_to_the_last_float_when_all_actions_are_legal(
    plain, masked, policy, options
):
    """Through warm-up, exploration, greedy play, target updates and a hundred updates."""
    models = []
    for kind, network in ((plain, "MlpPolicy"), (masked, policy)):
        env = GameVecEnv(Task(Greed(10, 3, max_dice=5)), 8)
        models.append(kind(network, env, **options).learn(2400))
    plain, masked = (model.policy.state_dict() for model in models)
    assert models[0]._n_updates > 100
    assert plain.keys() == masked.keys()
    assert all(torch.equal(plain[key], masked[key]) for key in plain)
    for name in ("observations", "actions", "rewards"):
        replays = [getattr(model.replay_buffer, name) for model in models]
        assert np.array_equal(*replays)


@pytest.mark.parametrize(("kind", "policy", "options"), [each[1:] for each in KINDS])
def test_masked_dqn_never_takes_an_illegal_action_nor_learns_from_one(kind, policy, options):
    env = GameVecEnv(Task(Greed(10, 3), 0, "random"), 8)
    model = kind(policy, env, **options).learn(1500)
    buffer = model.replay_buffer
    game = env.task.game
    observations = buffer.observations.reshape(-1, 3)
    legal = game.mask(game.encode(observations))
    assert legal[np.arange(len(legal)), buffer.actions.ravel()].all()
    assert not legal.all()
    target = model.q_net_target if kind is MaskedDQN else model.quantile_net_target
    values = target(torch.as_tensor(observations)).detach().numpy()
    values = values.mean(axis=1) if values.ndim == 3 else values
    assert np.isneginf(values[~legal]).all()
    assert np.isfinite(values[legal]).all()
    actions, _ = model.predict(observations, deterministic=True)
    assert legal[np.arange(len(legal)), actions].all()
    assert all(torch.isfinite(weight).all() for weight in model.policy.parameters())


def test_exploration_is_uniform_over_legal_actions():
    model = MaskedDQN(MaskedDQNPolicy, GameVecEnv(Task(Greed(10, 3)), 8), **DQN_OPTIONS)
    for own in (0, 7, 10):
        drawn = model._explore(np.tile([own, 3, 0], (6000, 1)))
        count = 2 * (10 - own) // 4 + 2
        seen = np.bincount(drawn, minlength=count) / len(drawn)
        assert len(seen) == count
        assert np.abs(seen - 1 / count).max() < 6 * np.sqrt(1 / count / len(drawn))
    assert model._explore(np.array([0, 0, 0])).shape == ()


@pytest.mark.parametrize("n_steps", [1, 3])
def test_targets_add_up_rewards_to_the_end_or_to_the_best_legal_action(n_steps, monkeypatch):
    """By hand: gamma is 1, a game's end ends the sum, and illegal actions have no value."""
    task = make_task("ShutTheBox", tiles=8)  # few actions are legal, and games end early
    given = {"n_steps": n_steps, "buffer_size": 200, "target_update_interval": 10**6}
    given["learning_starts"] = 10**6  # it plays at random, and no update changes the networks
    model = MaskedDQN("MlpPolicy", GameVecEnv(task, 1), **DQN_OPTIONS | given)
    model.learn(100)
    buffer = model.replay_buffer
    first = np.arange(buffer.pos)
    # The last moves of the buffer have no later ones: their sums end with the last move.
    monkeypatch.setattr(buffer, "sample", lambda *_, **__: buffer._get_samples(first))
    seen = []
    loss = dqn.F.smooth_l1_loss

    def watched(current, target):
        seen.append(target)
        return loss(current, target)

    monkeypatch.setattr(dqn.F, "smooth_l1_loss", watched)
    expected = [_target(model, start, n_steps) for start in first]
    model.train(gradient_steps=1, batch_size=len(first))
    ended = buffer._get_samples(first).dones.sum()
    assert 5 < ended < len(first) - 5  # sums of both kinds
    np.testing.assert_allclose(seen[0].numpy()[:, 0], expected, atol=1e-6)


def _target(model, start, n_steps):
    """Sum the rewards of the moves from one on, and add the value of the state after them."""
    buffer, game = model.replay_buffer, model.get_env().task.game
    total = 0.0
    last = min(start + n_steps, buffer.pos)
    for move in range(start, last):
        total += buffer.rewards[move, 0]
        if buffer.dones[move, 0]:
            return total
    after = buffer.next_observations[last - 1, 0]
    net = model.q_net_target
    with torch.no_grad():
        values = QNetwork.forward(net, torch.as_tensor(after[None]))[0]  # without masks
    state = game.encode(net.encoding.decode(after[None]))
    return total + max(
        float(value) for value, legal in zip(values, game.mask(state)[0], strict=True) if legal
    )


@pytest.mark.parametrize("options", [{}, {"use_rms_prop": False, "normalize_advantage": True}])
def test_where_all_actions_are_legal_it_learns_as_the_original(options):
    """Sums of batches may differ in their last bit, and updates amplify them."""
    weights = []
    for model in (A2C, MaskedA2C):
        env = GameVecEnv(Task(Greed(10, 3, max_dice=5)), 8)
        trained = model("MlpPolicy", env, n_steps=4, ent_coef=0.01, seed=0, device="cpu", **options)
        trained.learn(320)
        weights.append([weight.detach().clone() for weight in trained.policy.parameters()])
    for own, other in zip(*weights, strict=True):
        torch.testing.assert_close(own, other, rtol=1e-3, atol=1e-4)


def test_it_never_takes_an_illegal_action():
    env = GameVecEnv(Task(ShutTheBox(6)), 8)
    model = MaskedA2C("MlpPolicy", env, seed=0, device="cpu")
    model.learn(800)
    assert model.batch_size == 40
    assert not any("illegal_action" in info for info in model.ep_info_buffer)
    assert exactdice.score(model, env).masked

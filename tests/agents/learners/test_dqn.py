"""The targets of DQN whose returns add up several moves."""

import numpy as np
import pytest
import torch as th
from exactdice.agents.learners.dqn import MaskedDQN
from exactdice.agents.learners.vec_env import GameVecEnv
from exactdice.baselines import make_task
from stable_baselines3.dqn import dqn
from stable_baselines3.dqn.policies import QNetwork


@pytest.mark.parametrize("n_steps", [1, 3])
def test_targets_add_up_rewards_to_the_end_or_to_the_best_legal_action(n_steps, monkeypatch):
    """By hand: gamma is 1, a game's end ends the sum, and illegal actions have no value."""
    task = make_task("ShutTheBox", tiles=8)  # few actions are legal, and games end early
    model = MaskedDQN(
        "MlpPolicy",
        GameVecEnv(task, 1),
        n_steps=n_steps,
        gamma=1.0,
        learning_starts=10**6,  # it plays at random, and no update changes the networks
        buffer_size=200,
        target_update_interval=10**6,
        seed=0,
        device="cpu",
    )
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
    with th.no_grad():
        values = QNetwork.forward(net, th.as_tensor(after[None]))[0]  # without masks
    state = game.encode(net.encoding.decode(after[None]))
    return total + max(
        float(value) for value, legal in zip(values, game.mask(state)[0], strict=True) if legal
    )

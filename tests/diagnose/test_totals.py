"""Diagnosis of games whose moves pay before the end: critics have figures, audits are refused."""

from fractions import Fraction

import gymnasium as gym
import numpy as np
import pytest
from exactdice.baselines import evaluate, solve
from exactdice.diagnose import Rollout, audit, critic, gae
from exactdice.games import InputError
from small_games import Rounds

import exactdice


@pytest.fixture
def make(own_games):  # noqa: ARG001  it forgets the game afterwards
    exactdice.register(Rounds)
    return lambda **keywords: gym.make(
        "exactdice/Rounds-v0",
        players=2,
        turns=5,
        others=Fraction(-1, 2),
        opponent="random",
        **keywords,
    )


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("reward", ["outcome", "regret", "shaped"])
def test_exact_values_are_a_critic_without_errors(make, reward, seat):
    env = make(reward=reward, seat=seat)
    values = evaluate("random", env).values[seat]
    if reward != "outcome":
        values = values - solve(env).values[seat]
    assert critic(env, "random", values).rmse == pytest.approx(0, abs=1e-12)


def test_the_law_of_moves_is_refused(make):
    env = make()
    with pytest.raises(InputError, match="must pay at its end alone to have the law of its moves"):
        gae(env, "random", np.zeros(env.unwrapped.task.game.num_states))


def test_an_audit_is_refused(make):
    env = make()
    seen, info = env.reset(seed=0)
    _, reward, over, *_ = env.step(int(info["action_mask"].argmax()))
    rows = (np.array(entry)[None, None] for entry in (seen, 0, reward, over))
    record = Rollout(
        **dict(zip(("observations", "actions", "rewards", "terminated"), rows, strict=True))
    )
    with pytest.raises(InputError, match="must pay at its end alone to have the law of its moves"):
        audit(env, record)

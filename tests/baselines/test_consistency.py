"""What is no function of one observation is refused, whatever kind of policy it is."""

import numpy as np
import pytest
from exactdice.baselines import Policy, Task
from exactdice.baselines.policies import called
from exactdice.core.positions import states_of
from exactdice.games import Greed, InputError, ShutTheBox

import exactdice

GAME = Greed(10, 3)
TASK = Task(GAME)


def certain(actions):
    return np.eye(GAME.num_actions)[actions]


class Chance:
    """Draws anew every time."""

    def __init__(self):
        self.rng = np.random.default_rng(0)

    def __call__(self, observations, masks):
        return (self.rng.random(masks.shape) * masks).argmax(axis=1)


class ChanceHere(Chance):
    """Draws in a single state."""

    def __call__(self, observations, masks):
        here = (observations == [3, 4, 0]).all(axis=1)
        return np.where(here, self.rng.integers(0, 2, len(masks)), 0)


def of_the_batch(observations, _masks):
    return (observations[:, 0] > observations[:, 0].mean()).astype(int)


def of_the_size(_observations, masks):
    return np.full(len(masks), int(len(masks) > 1))


def of_one_size(size):
    """Give another action in batches of one size, as none of a halving may have."""
    return lambda _observations, masks: np.full(len(masks), int(len(masks) == size))


def of_the_kind(_observations, masks):
    """Give actions to many, laws to one."""
    return np.zeros(len(masks), int) if len(masks) > 1 else certain(np.ones(1, int))


BAD = [Chance, ChanceHere, lambda: of_the_batch, lambda: of_the_size, lambda: of_the_kind]
BAD += [lambda size=size: of_one_size(size) for size in (1, 2, 7)]


@pytest.mark.parametrize("bad", BAD)
def test_what_is_no_function_of_the_observation_is_refused(bad):
    message = r"answer alike to an observation every time, and \w+( \w+)? says .* at \[.*\] in a "
    message += r"batch of \d+ and .* in one of \d+: what depends on chance"
    with pytest.raises(InputError, match=message):
        exactdice.score(bad(), TASK)
    with pytest.raises(InputError, match=message):
        Task(GAME, 1, bad())


def test_what_cannot_be_asked_about_one_observation_is_refused():
    def several(_observations, masks):
        if len(masks) == 1:
            raise RuntimeError("two at least")
        return np.zeros(len(masks), int)

    with pytest.raises(InputError, match="of 1 several says: RuntimeError: two at least"):
        exactdice.score(several, TASK)
    with pytest.raises(InputError, match=r"of shape \(121,\), got int64 of shape \(242,\)"):
        exactdice.score(lambda *_: np.zeros(242, int), TASK)


def test_rounding_of_float32_is_no_change_of_mind():
    """A near tie falls to either action as the batch goes; a network's preferences hardly move."""

    def preferences(seen):
        scores = np.zeros((len(seen), 7))
        scores[:, :2] = 1
        scores[:, 1] += 1e-7 * (-1) ** len(seen)
        return scores

    actions = exactdice.score(exactdice.from_network(preferences, TASK), TASK).agent.actions
    assert set(actions.tolist()) == {1}
    law = exactdice.from_network(preferences, TASK, deterministic=False)
    assert exactdice.score(law, TASK).value > 0
    with pytest.raises(InputError, match="a function says action 1 at"):
        exactdice.score(lambda seen, legal: preferences(seen).argmax(axis=1), TASK)


def test_a_policy_that_is_asked_again_cannot_change_its_mind_later(monkeypatch):
    """Its laws are not kept, but a number for each, so that every state is compared."""
    monkeypatch.setattr(called, "LAWS", 0)

    class Later:
        changed = False

        def __call__(self, observations, masks):
            law = masks / masks.sum(axis=1, keepdims=True)
            here = (observations == [3, 4, 0]).all(axis=1) & self.changed
            law[here] = certain(np.zeros(here.sum(), int))
            return law

    later = Later()
    policy = exactdice.as_policy(later, TASK)
    assert exactdice.evaluate(policy, TASK).value < exactdice.solve(TASK).value
    opponent = Task(GAME, 1, policy)
    later.changed = True
    for ask in (
        lambda: exactdice.score(policy, TASK),
        lambda: exactdice.occupancy(policy, TASK),
        lambda: exactdice.solve(opponent),
    ):
        with pytest.raises(InputError, match=r"Later (gives another law|says .*) at \[3, 4, 0\]"):
            ask()


def test_a_policy_of_ones_own_class_is_held_to_the_rules():
    class Own(Policy):
        shape = (GAME.num_states, GAME.num_actions)

        def __init__(self, ask):
            self.ask = ask

        def probabilities(self, states):
            return self.ask(states)

    rng = np.random.default_rng(0)
    zero = Own(lambda states: certain(np.zeros(len(states), int)))
    assert exactdice.score(zero, TASK).value == 0
    for ask, message in (
        (lambda states: certain(rng.integers(0, 2, len(states))), "Own says"),
        (lambda states: 2 * certain(np.zeros(len(states), int)), "sum to 1, got 2"),
        (lambda states: certain(np.full(len(states), 6)), "leave illegal actions alone"),
    ):
        with pytest.raises(InputError, match=message):
            exactdice.score(Own(ask), TASK)
        with pytest.raises(InputError, match=message):
            Task(GAME, 1, Own(ask))


def test_a_sample_of_a_large_game_is_asked_about_again():
    task, asked = Task(ShutTheBox(9, 2, 4), 0, "random"), []

    def first(_, masks):
        asked.append(len(masks))
        return masks.argmax(axis=1)

    exactdice.as_policy(first, task)
    own = len(states_of(task.game, 0))
    assert own > called.SAMPLE
    assert sum(asked) < 1.2 * own + called.SAMPLE
    assert asked.count(1) > called.ALONE

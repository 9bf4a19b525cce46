"""Mistakes in recorded numbers are named by the edit of the formula that reproduces them.

The numbers are computed here a second time, step by step, as programs with the mistake do it.
"""

import dataclasses

import numpy as np
import pytest
import torch
from exactdice.diagnose import Rollout, Targets, audit
from recording import BASIC, play, transitions

GAMMA, LAMBDA = 0.9, 0.8


@pytest.fixture(scope="module")
def recorded():
    """Return an environment, arrays of right steps of which some are cut, and random values."""
    env, arrays = play("Greed", steps=40, lanes=8, max_score=12)
    rng = np.random.default_rng(5)
    shape = arrays["rewards"].shape
    arrays["values"], arrays["final"] = rng.normal(size=(2, *shape))
    arrays["last"] = rng.normal(size=shape[1])
    return env, arrays


def gae(arrays, cut, change=lambda row, entry: entry, gamma=GAMMA, decay=LAMBDA, backward=True):
    """Estimate advantages lane by lane; ``change`` edits the arguments of each entry."""
    time, lanes = arrays["rewards"].shape
    found = np.zeros((time, lanes))
    for lane in range(lanes):
        ahead = 0.0
        for row in range(time)[:: -1 if backward else 1]:
            last = row == time - 1
            entry = {
                "r": arrays["rewards"][row, lane],
                "v": arrays["values"][row, lane],
                "next": arrays["last"][lane] if last else arrays["values"][row + 1, lane],
                "ends": bool(arrays["terminated"][row, lane]),
                "stops": bool(arrays["terminated"][row, lane] or cut[row, lane]),
            }
            if cut[row, lane]:
                entry["next"] = arrays["final"][row, lane]
            entry = change((row, lane), entry)
            delta = entry["r"] + gamma * (1 - entry["ends"]) * entry["next"] - entry["v"]
            ahead = delta + gamma * decay * (1 - entry["stops"]) * ahead
            found[row, lane] = ahead
    return found


def never(**fields):
    return lambda place, entry: entry | fields


def cut_as_end(_, entry):
    return entry | {"ends": entry["stops"]}


def last_row_goes_on(place, entry):
    return entry | ({"ends": False, "stops": False} if place[0] == 39 else {})


def value_of_this_row(place, entry):
    return entry | ({"next": entry["v"]} if place[0] < 39 else {})


PLANTED = {
    "values-of-this-row-for-the-next": {"change": value_of_this_row},
    "gae-ignores-ends": {"change": never(ends=False, stops=False)},
    "ends-in-sum-left-out": {"change": never(stops=False)},
    "ends-in-delta-left-out": {"change": never(ends=False)},
    "rewards-left-out": {"change": never(r=0.0)},
    "baseline-left-out": {"change": lambda _, entry: entry | {"v": 0.0}},
    "terminated-of-the-last-row-left-out": {"change": last_row_goes_on},
    "truncation-as-end": {"change": cut_as_end, "cut": True},
    "gamma-wrong": {"gamma": 0.97},
    "lambda-wrong": {"decay": 0.95},
    "sum-runs-forward": {"backward": False},
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_mistake_in_advantages_is_named(recorded, name):
    env, arrays = recorded
    mistake = dict(PLANTED[name])
    cut = np.zeros(arrays["rewards"].shape, dtype=bool)
    extra = {}
    if mistake.pop("cut", False):
        goes_on = ~arrays["terminated"].astype(bool)
        cut = goes_on & (np.arange(cut.size).reshape(cut.shape) % 7 == 0)
        extra = {"truncated": cut, "final_values": arrays["final"]}
    record = Rollout(
        *(arrays[key] for key in BASIC),
        values=arrays["values"],
        last_values=arrays["last"],
        gamma=GAMMA,
        gae_lambda=LAMBDA,
        **extra,
    )
    right = gae(arrays, cut)
    held = audit(env, dataclasses.replace(record, advantages=right, returns=right + record.values))
    assert {"advantages", "returns"} <= held.held.keys()
    wrong = dataclasses.replace(record, advantages=gae(arrays, cut, **mistake))
    (found,) = (each for each in audit(env, wrong).findings if each.check == "advantages")
    assert found.mistake == name


def test_ends_of_the_row_before_are_named_though_the_last_row_has_its_own(recorded):
    """As in loops that keep the flags of the row before, and those after the last row apart."""
    env, arrays = recorded
    late = np.roll(arrays["terminated"], 1, axis=0)
    late[0], late[-1] = False, arrays["terminated"][-1]
    cut = np.zeros(late.shape, dtype=bool)
    record = Rollout(
        *(arrays[key] for key in BASIC),
        values=arrays["values"],
        last_values=arrays["last"],
        advantages=gae(arrays | {"terminated": late}, cut),
        gamma=GAMMA,
        gae_lambda=LAMBDA,
    )
    (found,) = audit(env, record).findings
    assert (found.check, found.mistake) == ("advantages", "gae-ends-late")


FORMS = {
    "advantages-normalised": lambda found: (found - found.mean()) / found.std(),
    "advantages-divided-by-their-deviation": lambda found: found / found.std(ddof=1),
    "advantages-less-their-mean": lambda found: found - found.mean(),
    "advantages-clipped": lambda found: found.clip(-1, 1),
    "lanes-mixed": lambda found: np.roll(found, 1, axis=1),
    "advantages-of-the-row-before": lambda found: np.roll(found, 1, axis=0),
    "advantages-negated": np.negative,
    "advantages-scaled": lambda found: 0.5 * found + 0.2,
}


@pytest.mark.parametrize("name", FORMS)
def test_what_was_done_to_right_advantages_is_named(recorded, name):
    env, arrays = recorded
    found = gae(arrays, np.zeros(arrays["rewards"].shape, dtype=bool))
    record = Rollout(
        *(arrays[key] for key in BASIC),
        values=arrays["values"],
        last_values=arrays["last"],
        advantages=FORMS[name](found),
        gamma=GAMMA,
        gae_lambda=LAMBDA,
    )
    (finding,) = audit(env, record).findings
    assert (finding.check, finding.mistake) == ("advantages", name)
    rng = np.random.default_rng(0)
    for given, name in (
        (rng.permutation(found), "advantages-in-another-order"),
        (rng.normal(size=found.shape), None),
    ):
        (finding,) = audit(env, dataclasses.replace(record, advantages=given)).findings
        assert finding.mistake == name


def test_values_after_the_last_row_are_those_of_its_next_observations(recorded):
    env, arrays = recorded

    def critic(seen):
        return seen @ np.array([0.1, -0.05, 0.3])

    values, last = critic(arrays["observations"]), arrays["after"][-1]
    record = Rollout(*(arrays[key] for key in BASIC), values=values, last_observations=last)
    for given, name in (
        (critic(last), None),
        (values[-1], "values-of-the-last-row-for-last-values"),
        (np.zeros(8), "last-values-left-out"),
    ):
        report = audit(env, dataclasses.replace(record, last_values=given), critic=critic)
        assert [found.mistake for found in report.findings] == [name] * (name is not None)


@pytest.fixture(scope="module")
def batch():
    """Return an environment, transitions, their arrays and the values of two networks."""
    env, arrays = play("Greed", steps=40, lanes=8, max_score=12)
    moves, game = transitions(arrays), env.unwrapped.task.game
    tables = np.random.default_rng(3).normal(size=(2, game.num_states, game.num_actions))
    networks = [lambda seen, table=table: table[game.encode(seen.astype(int))] for table in tables]
    seen = {
        when: (game.mask(game.encode(each)), *(network(each) for network in networks))
        for when, each in (("now", moves.observations), ("next", moves.next_observations))
    }
    return env, moves, networks, seen


def target(moves, seen, when="next", by=1, chosen=1, mask=None, ends=None, reward=1.0, gamma=0.9):
    legal = seen[when][0] if mask is None else mask
    best = np.where(legal, seen[when][chosen], -np.inf).argmax(axis=1)
    later = seen[when][by][np.arange(len(best)), best]
    ended = moves.terminated.astype(bool) if ends is None else ends
    return reward * moves.rewards + gamma * np.where(ended, 0, later)


TARGETS = {
    "target-ignores-ends": {"ends": False},
    "rewards-left-out": {"reward": 0.0},
    "rewards-negated": {"reward": -1.0},
    "observations-for-next-observations": {"when": "now"},
    "target-from-online-network": {"by": 2, "chosen": 2},
    "double-dqn": {"chosen": 2},
    "gamma-wrong": {"gamma": 0.95},
}


def test_a_mistake_in_targets_is_named(batch):
    env, moves, (network, online), seen = batch
    right = Targets(moves, target(moves, seen), network, online, 0.9)
    assert audit(env, right).held["targets"]
    wrong = {name: target(moves, seen, **mistake) for name, mistake in TARGETS.items()}
    ended, later = moves.terminated.astype(bool), target(moves, seen) - moves.rewards
    wrong["terminated-of-the-row-before"] = target(moves, seen, ends=np.roll(ended, 1))
    wrong["gamma-added"] = moves.rewards + np.where(ended, 0, 0.9 + later / 0.9)
    wrong["stale-mask"] = target(moves, seen, mask=seen["now"][0])
    wrong["signs-of-rewards-for-rewards+target-ignores-ends"] = np.sign(moves.rewards) + (
        target(moves, seen, ends=False) - moves.rewards
    )
    for name, targets in wrong.items():
        found = audit(env, dataclasses.replace(right, targets=targets)).findings
        assert [(each.check, each.mistake) for each in found] == [("targets", name)]
    double = dataclasses.replace(right, double=True)
    (found,) = audit(env, double).findings
    assert found.mistake == "double-dqn-missing"


@pytest.mark.parametrize("kind", [np.float16, torch.bfloat16])
def test_right_numbers_of_half_precision_hold(recorded, kind):
    env, arrays = recorded

    def half(array):
        return torch.tensor(array).to(kind) if kind is torch.bfloat16 else array.astype(kind)

    found = gae(arrays, np.zeros(arrays["rewards"].shape, dtype=bool))
    numbers = {"values": arrays["values"], "last_values": arrays["last"], "advantages": found}
    numbers = {name: half(array) for name, array in numbers.items()}
    record = Rollout(*(arrays[key] for key in BASIC), **numbers, gamma=GAMMA, gae_lambda=LAMBDA)
    assert audit(env, record).ok
    wrong = dataclasses.replace(record, gamma=1.0)
    assert [found.mistake for found in audit(env, wrong).findings] == ["gamma-wrong"]

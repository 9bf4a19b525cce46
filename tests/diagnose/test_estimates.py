"""Mistakes in recorded numbers are named by the edit of the formula that reproduces them.

The numbers are computed here a second time, step by step, as programs with the mistake do it.
"""

import dataclasses

import numpy as np
import pytest
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


def gae(arrays, cut, change=lambda row, entry: entry, backward=True):
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
            delta = entry["r"] + GAMMA * (1 - entry["ends"]) * entry["next"] - entry["v"]
            ahead = delta + GAMMA * LAMBDA * (1 - entry["stops"]) * ahead
            found[row, lane] = ahead
    return found


def record_of(arrays, **numbers):
    known = {"values": arrays["values"], "last_values": arrays["last"]}
    known |= {"gamma": GAMMA, "gae_lambda": LAMBDA}
    return Rollout(*(arrays[key] for key in BASIC), **known | numbers)


def never(**fields):
    return {"change": lambda place, entry: entry | fields}


def unless_last(**fields):
    """Take another entry's number in all rows but the last one."""

    def change(place, entry):
        others = {name: entry[other] for name, other in fields.items()}
        return entry | (others if place[0] < 39 else {})

    return {"change": change}


def last_row_goes_on(place, entry):
    return entry | ({"ends": False, "stops": False} if place[0] == 39 else {})


def late_ends(arrays):
    """As in loops that keep the flags of the row before, and those after the last row apart."""
    late = np.roll(arrays["terminated"], 1, axis=0)
    late[0], late[-1] = False, arrays["terminated"][-1]
    return gae(arrays | {"terminated": late}, np.zeros_like(late))


#: Mistakes in the estimate of advantages, and what is done to right ones.
PLANTED = {
    "values-of-this-row-for-the-next": unless_last(next="v"),
    "ends-in-sum-left-out": never(stops=False),
    "ends-in-delta-left-out": never(ends=False),
    "rewards-left-out": never(r=0.0),
    "baseline-left-out": never(v=0.0),
    "terminated-of-the-last-row-left-out": {"change": last_row_goes_on},
    "truncation-as-end": {"change": lambda _, entry: entry | {"ends": entry["stops"]}},
    "sum-runs-forward": {"backward": False},
    "gae-ends-late": late_ends,
    "advantages-divided-by-their-deviation": lambda found: found / found.std(ddof=1),
    "advantages-less-their-mean": lambda found: found - found.mean(),
    "advantages-clipped": lambda found: found.clip(-1, 1),
    "advantages-of-the-row-before": lambda found: np.roll(found, 1, axis=0),
    "advantages-negated": np.negative,
    "advantages-scaled": lambda found: 0.5 * found + 0.2,
    "advantages-in-another-order": np.random.default_rng(0).permutation,
    None: lambda found: np.random.default_rng(1).normal(size=found.shape),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_mistake_in_advantages_is_named(recorded, name):
    env, arrays = recorded
    cut = np.zeros(arrays["rewards"].shape, dtype=bool)
    extra = {}
    if name == "truncation-as-end":
        goes_on = ~arrays["terminated"].astype(bool)
        cut = goes_on & (np.arange(cut.size).reshape(cut.shape) % 7 == 0)
        extra = {"truncated": cut, "final_values": arrays["final"]}
    right, mistake = gae(arrays, cut), PLANTED[name]
    returns = right + arrays["values"]
    held = audit(env, record_of(arrays, advantages=right, returns=returns, **extra))
    assert {"advantages", "returns"} <= held.held.keys()
    if mistake is late_ends:
        wrong = late_ends(arrays)
    else:
        wrong = mistake(right) if callable(mistake) else gae(arrays, cut, **mistake)
    findings = audit(env, record_of(arrays, advantages=wrong, **extra)).findings
    assert [each.mistake for each in findings if each.check == "advantages"] == [name]


def test_values_after_the_last_row_are_those_of_its_next_observations(recorded):
    env, arrays = recorded

    def critic(seen):
        return seen @ np.array([0.1, -0.05, 0.3])

    values, last = critic(arrays["observations"]), arrays["after"][-1]
    record = record_of(arrays, values=values, last_observations=last)
    for given, name in (
        (critic(last), None),
        (values[-1], "values-of-the-last-row-for-last-values"),
        (np.zeros(8), "last-values-left-out"),
    ):
        report = audit(env, dataclasses.replace(record, last_values=given), critic=critic)
        assert [found.mistake for found in report.findings] == [name] * (name is not None)


def target(moves, later, ends, reward=1.0):
    return reward * moves.rewards + 0.9 * np.where(ends, 0, later)


def test_a_mistake_in_targets_is_named():
    env, arrays = play("Greed", steps=40, lanes=8, max_score=12)
    moves, game = transitions(arrays), env.unwrapped.task.game
    tables = np.random.default_rng(3).normal(size=(2, game.num_states, game.num_actions))
    network, online = (lambda seen, table=t: table[game.encode(seen.astype(int))] for t in tables)
    legal = game.mask(game.encode(moves.next_observations))
    later = np.where(legal, network(moves.next_observations), -np.inf).max(axis=1)
    ended = moves.terminated.astype(bool)
    right = Targets(moves, target(moves, later, ended), network, online, 0.9)
    assert audit(env, right).held["targets"]
    paid = np.sign(moves.rewards) - moves.rewards
    for name, targets in (
        ("rewards-negated", target(moves, later, ended, -1.0)),
        ("terminated-of-the-row-before", target(moves, later, np.roll(ended, 1))),
        (
            "signs-of-rewards-for-rewards+target-ignores-ends",
            target(moves, later, ended & False) + paid,
        ),
    ):
        found = audit(env, dataclasses.replace(right, targets=targets)).findings
        assert [(each.check, each.mistake) for each in found] == [("targets", name)]
    (found,) = audit(env, dataclasses.replace(right, double=True)).findings
    assert found.mistake == "double-dqn-missing"

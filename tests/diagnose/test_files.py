"""Records in files: read by the names of fields, audited from the command line, or refused."""

import zipfile
from pathlib import Path

import numpy as np
import pytest
from exactdice.core import InputError
from exactdice.diagnose.audits import read_record
from exactdice.games import Greed
from recording import BASIC, play, transitions

SMALL = ["--env", "max_score", "12", "sides", "3"]


@pytest.fixture(scope="module")
def arrays():
    return play("Greed", max_score=12, sides=3)[1]


def basic(arrays):
    return {name: arrays[name] for name in BASIC}


def flat(arrays):
    return {key: each for key, each in vars(transitions(arrays)).items() if np.ndim(each)}


def test_a_right_rollout_holds_and_what_needs_a_policy_is_unchecked(run, arrays):
    zeros = np.zeros(arrays["rewards"].shape)
    np.savez("rollout.npz", values=zeros, log_probs=zeros, **basic(arrays))
    code, said, complaint = run("audit", "rollout.npz", *SMALL)
    assert (code, complaint) == (0, "")
    assert "audit: all that was checked holds" in said
    assert "holds      transitions: " in said
    for check, what in ("values", "critic"), ("policy", "policy"), ("log_probs", "policy"):
        assert f"unchecked  {check}: a file holds no {what}" in said


def test_the_reward_is_a_keyword_and_a_mistake_is_the_exit_code(run):
    keywords = {"max_score": 12, "sides": 3, "reward": "regret", "seat": 1}
    np.savez("transitions.npz", **flat(play("Greed", **keywords)[1]))
    words = [str(word) for pair in keywords.items() for word in pair]
    assert run("audit", "transitions.npz", "--env", *words)[0] == 0
    code, said, _ = run("audit", "transitions.npz", *SMALL, "seat", "1")
    assert code == 1
    assert "[reward-mode]" in said


def test_targets_are_checked_with_the_values_of_networks(run, arrays):
    named, game = flat(arrays), Greed(max_score=12, sides=3)
    after = game.mask(game.encode(named["next_observations"]))
    rows, network = len(after), np.random.default_rng(0).normal(size=after.shape)
    checked = f"holds      targets: {rows} checked"
    for allowed, wanted, said in (after, 0, checked), (True, 1, "[max-over-illegal]"):
        best = np.where(allowed, network, -np.inf).max(axis=1)
        targets = named["rewards"] + 0.9 * np.where(named["terminated"], 0, best)
        np.savez("t.npz", **named, targets=targets, network=network, gamma=[0.9])
        code, told, _ = run("audit", "t.npz", *SMALL)
        assert (code, said in told) == (wanted, True)


#: Arrays beside right ones or in their place, with which there is no record; None takes one away.
WRONG = [
    (
        {"rewards": None},
        "must hold the arrays observations, actions, rewards, terminated and may hold values, "
        "last_values, log_probs, advantages, returns, gamma, gae_lambda, truncated, final_observat"
        "ions, final_values, last_observations, used, estimator, half, as Rollout has them, got no "
        "rewards",
    ),
    ({"value": 1}, "got the unknown value"),
    ({"a\n\x1b[2J": 1}, "unknown a\\n\\x1b[2J"),
    (
        {"next_observations": 0, "values": 0},
        "must hold the arrays observations, actions, rewards, next_observations, terminated and "
        "may hold truncated, n_steps, gamma, drawn, as Transitions has them, got the unknown value",
    ),
    (
        {"next_observations": 0, "targets": 0},
        "targets, network and may hold truncated, n_steps, gamma, drawn, online, double, next_va"
        "lues, as Targets has them, got no network",
    ),
    (
        {"rewards": np.array([None])},
        "must be a whole .npz file of arrays of numbers, got rewards: Object arrays cannot",
    ),
    ({"gamma": [0.9, 1.0]}, "must be one number, got 2"),
    ({"gamma": "one"}, "gamma must be numbers"),
    ({"actions": np.full((60, 8), "a")}, "actions must"),
    (
        {"observations": np.zeros(1440)},
        "observations must be of shape (time, lane, ...), got (1440",
    ),
]


@pytest.mark.parametrize(("changes", "message"), WRONG)
def test_a_wrong_array_is_refused_by_name(refusal, arrays, changes, message):
    given = {name: each for name, each in (basic(arrays) | changes).items() if each is not None}
    np.savez("record.npz", **given)
    assert message in refusal("audit", "record.npz", *SMALL)


def test_what_is_no_whole_npz_or_too_large_is_refused(refusal, arrays, tmp_path, monkeypatch):
    np.savez_compressed("record.npz", **basic(arrays))
    path = Path("record.npz")
    whole, damaged = path.read_bytes(), bytes(255 - byte for byte in path.read_bytes())
    half = len(whole) // 2
    for content in (whole[:1000], whole[:half] + damaged[half:], b"", b"\x93NUMPY and more"):
        path.write_bytes(content)
        complaint = refusal("audit", "record.npz", *SMALL)
        assert complaint.startswith("record.npz must be ")
        assert ".npz file" in complaint
    for path in ("none.npz", tmp_path):
        assert f"{path} must be a file that can be read: " in refusal("audit", path)
    with zipfile.ZipFile("other.zip", "w") as archive:
        archive.writestr("readme.txt", "no array")
    assert "got no observations" in refusal("audit", "other.zip")
    np.savez("r.npz", **basic(arrays))
    monkeypatch.setenv("EXACTDICE_LIMIT", "1e-6")
    with pytest.raises(InputError, match=r"bytes of the file must be at most 8,000, got 2\d,\d+"):
        read_record("r.npz")

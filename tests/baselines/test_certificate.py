"""Policy certificates."""

import subprocess
import sys

import numpy as np
import pytest
from exactdice.baselines import CertificateError, Task, certificate, verify
from exactdice.baselines.certificate import _digest
from exactdice.games import FourTwoOne, Greed, LowestScore, ShutTheBox

import exactdice

TASKS = [
    Task(Greed(10, 3), 1, "if_else"),
    Task(LowestScore(2, 3, 3, 3), 1, ["notebook", "random"]),
    Task(ShutTheBox(4, 2, 3), 1),
    Task(FourTwoOne(2, 3, 2, utility=lambda faces, casts: sum(faces) / casts)),
    Task(FourTwoOne(3, 3, 2, utility="set", tie="lost"), 1),
]


@pytest.mark.parametrize("policy", ["optimal", "random"])
@pytest.mark.parametrize("task", TASKS, ids=repr)
def test_a_certificate_is_verified_by_computing_everything_anew(tmp_path, task, policy):
    score = exactdice.score(policy, task)
    path = tmp_path / "certificate.npz"
    path.write_bytes(certificate(score))
    found = verify(path)
    assert found.task.game == task.game
    assert found.task.seat == task.seat
    assert list(found.task.labels.values()) == list(task.labels.values())
    assert (found.optimum, found.policy) == (score.optimum, policy)
    assert found.value == pytest.approx(score.value, abs=1e-12)  # of a table, not of a name
    assert found.deterministic == score.deterministic


@pytest.fixture
def whole(tmp_path):
    path = tmp_path / "certificate.npz"
    path.write_bytes(certificate(exactdice.score("if_else", Task(Greed(10, 3)))))
    return path


def rewrite(path, change, honest_hash=True):
    """Change policy or claims, with a hash that fits."""
    with np.load(path) as file:
        parts = {"policy": file["policy"], "claims": str(file["claims"])}
    change(parts)
    digest = _digest(parts["policy"], parts["claims"]) if honest_hash else "0" * 64
    np.savez_compressed(
        path, policy=parts["policy"], claims=np.array(parts["claims"]), sha256=np.array(digest)
    )


def better(parts):
    parts["claims"] = parts["claims"].replace('"value": 0.', '"value": 0.9')


def other_move(parts):
    parts["policy"][0] += 1


def illegal_move(parts):
    parts["policy"][5] = 200


def nan(parts):
    parts["policy"] = np.full((len(parts["policy"]), 9), np.nan)


def short(parts):
    parts["policy"] = parts["policy"][:-1]


def cube(parts):
    parts["policy"] = parts["policy"].reshape(-1, 1, 1)


def other_game(parts):
    parts["claims"] = parts["claims"].replace('"Greed"', '"Chess"')


def other_size(parts):
    parts["claims"] = parts["claims"].replace('"max_score": 10', '"max_score": 0')


def no_json(parts):
    parts["claims"] = "{"


def no_format(parts):
    parts["claims"] = parts["claims"].replace("certificate 1", "certificate 7")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (better, "claims value = 0.9.*, computed is 0.4"),
        (other_move, "claims value = .*, computed is"),
        (illegal_move, "must hold a policy of Greed.*legal actions, got 200"),
        (nan, "must hold a policy of Greed.*"),
        (short, "must hold a policy for 242 states, got 241"),
        (cube, "must hold actions or probabilities"),
        (other_game, "must name a game and its keywords"),
        (other_size, "max_score must be at least 1, got 0"),
        (no_json, "must be a whole policy certificate"),
        (no_format, "must be of the format"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_does_not_hold_is_named(whole, change, message):
    rewrite(whole, change)
    with pytest.raises(CertificateError, match=message):
        verify(whole)


def test_a_tampered_table_does_not_fit_its_hash(whole):
    rewrite(whole, other_move, honest_hash=False)
    with pytest.raises(CertificateError, match="must have the hash 0000"):
        verify(whole)


def test_another_file_is_refused_without_advice_to_unpickle_it(tmp_path):
    (tmp_path / "README.md").write_text("# exactdice")
    with pytest.raises(CertificateError, match=r"it is cut off, or no \.npz file at all"):
        verify(tmp_path / "README.md")


def test_every_truncated_certificate_is_refused(whole):
    content = whole.read_bytes()
    for length in (0, 1, 100, len(content) // 2, len(content) - 1):
        whole.write_bytes(content[:length])
        with pytest.raises(CertificateError, match="whole policy certificate"):
            verify(whole)


def test_pickled_objects_are_not_opened(whole):
    np.savez(whole, policy=np.array([print], dtype=object), claims="{}", sha256="")
    with pytest.raises(CertificateError, match="allow_pickle=False"):
        verify(whole)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(CertificateError, match=r"none\.npz"):
        verify(tmp_path / "none.npz")


def test_only_what_others_can_check_is_certified():
    game = Greed(10, 3)
    unmasked = exactdice.score("random", Task(game), masked=False)
    with pytest.raises(ValueError, match="held to the legal actions"):
        certificate(unmasked)
    unnamed = Task(game, 0, lambda observations, masks: masks.argmax(axis=1))
    with pytest.raises(ValueError, match="opponents must be known by name"):
        certificate(exactdice.score("random", unnamed))


def test_verifying_needs_no_torch(whole):
    code = f"""
import sys, exactdice
exactdice.verify({str(whole)!r})
assert not {{"torch", "stable_baselines3", "pickle5"}} & set(sys.modules), "torch was imported"
"""
    subprocess.run([sys.executable, "-c", code], check=True)

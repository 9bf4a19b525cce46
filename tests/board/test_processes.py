"""Certificates of strangers are verified in processes of their own."""

import pytest
import spawned
from exactdice.baselines import certificate, make_task
from exactdice.board import admission

import exactdice


@pytest.fixture
def paths(tmp_path):
    """Write two certificates that hold, and a third that does not."""
    files = [tmp_path / f"FourTwoOne-{seed}.npz" for seed in range(3)]
    for path, policy in zip(files, ("random", "optimal"), strict=False):
        path.write_bytes(certificate(exactdice.score(policy, make_task("FourTwoOne"))))
    files[-1].write_bytes(b"")
    return files


def test_every_certificate_is_answered(paths):
    found = admission.check_all(dict.fromkeys(paths, "FourTwoOne"), 2)
    assert found.pop(paths[-1]).startswith("FourTwoOne-2.npz must be a whole policy certificate")
    assert {path: each.value for path, each in found.items()} == {
        path: exactdice.verify(path).value for path in paths[:2]
    }


def test_a_process_that_ends_or_takes_too_long_refuses_its_certificate(paths, monkeypatch):
    job = {paths[0]: "FourTwoOne"}
    monkeypatch.setattr(admission, "answer_of", spawned.ends)
    assert list(admission.check_all(job, 1).values()) == [
        "FourTwoOne-0.npz must be verified, but the process that tried ended, perhaps for lack of "
        "memory"
    ]
    monkeypatch.setattr(admission, "answer_of", spawned.sleeps)
    monkeypatch.setattr(admission, "SECONDS", 0.1)
    assert list(admission.check_all(job, 1).values()) == [
        "FourTwoOne-0.npz must be verified in 0 seconds, got no result"
    ]

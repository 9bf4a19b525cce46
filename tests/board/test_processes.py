"""Certificates of strangers are verified in processes of their own."""

import pytest
import spawned
from exactdice.baselines import certificate, make_task
from exactdice.board import admission

import exactdice


@pytest.fixture
def paths(tmp_path):
    """Write a certificate that holds, and another that does not."""
    files = [tmp_path / f"FourTwoOne-{seed}.npz" for seed in range(2)]
    files[0].write_bytes(certificate(exactdice.score("optimal", make_task("FourTwoOne"))))
    files[-1].write_bytes(b"")
    return files


def test_every_certificate_is_answered(paths):
    found = admission.check_all(dict.fromkeys(paths, "FourTwoOne"), 2)
    assert found.pop(paths[-1]).startswith("FourTwoOne-1.npz must be a whole policy certificate")
    assert found[paths[0]].value == exactdice.verify(paths[0]).value


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

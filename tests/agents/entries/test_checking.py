"""Certificates of strangers are verified in processes of their own."""

import pytest
import spawned
from exactdice.agents.entries import checking
from exactdice.agents.entries.checking import Job, keywords_of
from exactdice.baselines import certificate, make_task

import exactdice


@pytest.fixture
def paths(tmp_path):
    """Write two certificates that hold, and a third that does not."""
    files = [tmp_path / f"FourTwoOne-{seed}.npz" for seed in range(3)]
    for path, policy in zip(files, ("random", "optimal"), strict=False):
        path.write_bytes(certificate(exactdice.score(policy, make_task("FourTwoOne"))))
    files[-1].write_bytes(b"")
    return files


def test_jobs_are_answered_in_their_order(paths):
    keywords = keywords_of(make_task("FourTwoOne"))
    bad, *good = checking.check_all([Job(path, "FourTwoOne", keywords) for path in paths[::-1]], 2)
    assert bad.startswith("FourTwoOne-2.npz must be a whole policy certificate")
    assert [found.value for found in good] == [
        exactdice.verify(path).value for path in paths[1::-1]
    ]


def test_a_process_that_ends_or_takes_too_long_refuses_its_certificate(paths, monkeypatch):
    job = Job(paths[0], "FourTwoOne", {})
    monkeypatch.setattr(checking, "answer_of", spawned.ends)
    assert checking.check_all([job], 1) == [
        "FourTwoOne-0.npz must be verified, but the process that tried ended, perhaps for lack of "
        "memory"
    ]
    monkeypatch.setattr(checking, "answer_of", spawned.sleeps)
    monkeypatch.setattr(checking, "SECONDS", 0.1)
    assert checking.check_all([job], 1) == [
        "FourTwoOne-0.npz must be verified in 0 seconds, got no result"
    ]

"""Planted mistakes of the example learners are named, and right ones are not complained of."""

import re

import pytest
from exactdice.diagnose.report import CURES
from mutants import CONSEQUENCES, DQN, GAMES, PAGE, PPO, SHOWN_BY, rows, run

ROWS = rows()
EDITS = {"ppo": PPO, "dqn": DQN}
pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.mark.parametrize(("learner", "planted", "check", "name"), ROWS)
def test_a_planted_mistake_is_named(learner, planted, check, name):
    reports = run(learner, *EDITS[learner][planted], **SHOWN_BY.get(planted, {}))
    found = {(finding.check, finding.mistake) for each in reports for finding in each.findings}
    assert (check, name) in found, "\n".join(map(str, reports))
    assert {mistake for _, mistake in found} <= {None, name, CONSEQUENCES.get(planted)}


def test_the_page_has_every_mutant_and_says_how_many_are_named():
    planted = [(learner, words) for learner, edits in EDITS.items() for words in edits]
    assert [row[:2] for row in ROWS] == planted
    named = sum(name is not None for *_, name in ROWS)
    assert f"notice all {len(ROWS)} mistakes and name {named} of them" in PAGE.read_text()
    assert named > 0.9 * len(ROWS)


def is_sound(learner, game, seed, rounds):
    """Train; say whether all audits hold, and how many there were."""
    settings = {"double": True} if learner == "dqn" and seed == 3 else {}
    reports = run(learner, game=game, rounds=rounds, seed=seed, **settings)
    return all(report.ok and not report.unchecked for report in reports), len(reports)


@pytest.mark.parametrize("learner", ["ppo", "dqn"])
@pytest.mark.parametrize("game", [GAMES[1], GAMES[2]])
def test_no_audit_of_a_right_learner_finds_anything(learner, game):
    assert is_sound(learner, game, seed=3, rounds=4) == (True, {"ppo": 8, "dqn": 7}[learner])


@pytest.mark.slow  # for a minute: 36 runs with 702 audits
@pytest.mark.parametrize("learner", ["ppo", "dqn"])
@pytest.mark.parametrize("game", GAMES, ids=lambda game: game["env_id"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_audit_of_a_longer_run_finds_anything(learner, game, seed):
    rounds = {"ppo": 8, "dqn": 12}[learner]
    assert is_sound(learner, game, seed, rounds) == (True, {"ppo": 16, "dqn": 23}[learner])


def test_the_page_has_every_name():
    assert CURES.keys() <= set(re.findall(r"`([a-z-]+)`", PAGE.read_text()))
    assert {name for *_, name in ROWS if name} <= CURES.keys()

"""Planted mistakes of the example learners are named, and right ones are not complained of."""

import re
from pathlib import Path

import pytest
from mutants import GAMES, MUTANTS, run, table

PAGE = Path(__file__).parents[2] / "docs/mutants.md"

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda each: f"{each.learner}: {each.planted}")
def test_a_planted_mistake_is_named(mutant):
    reports = run(mutant.learner, mutant.right, mutant.wrong, mutant.game, **mutant.settings)
    found = {(finding.check, finding.mistake) for each in reports for finding in each.findings}
    assert (mutant.check, mutant.name) in found, "\n".join(map(str, reports))
    assert {mistake for _, mistake in found} <= {None, mutant.name, *mutant.also}


def test_most_mistakes_are_named():
    assert len(MUTANTS) >= 28
    assert len({(mutant.learner, mutant.planted) for mutant in MUTANTS}) == len(MUTANTS)
    named = [mutant.name for mutant in MUTANTS if mutant.name]
    assert len(named) * 24 >= 22 * len(MUTANTS)
    assert len(set(named)) >= 24


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


def test_the_page_has_this_table():
    page = PAGE.read_text()
    assert table() in page
    named = sum(mutant.name is not None for mutant in MUTANTS)
    assert f"notice all {len(MUTANTS)} mistakes and name {named} of them" in page


def test_the_page_has_every_name():
    """Names are words joined by hyphens in the modules of the audits."""
    names = set()
    for path in (PAGE.parents[1] / "diagnose/audits").glob("*.py"):
        names |= set(re.findall(r'"([a-z]+(?:-[a-z]+)+)"', path.read_text()))
    assert len(names) > 50
    page = PAGE.read_text()
    assert [name for name in sorted(names) if f"`{name}`" not in page] == []

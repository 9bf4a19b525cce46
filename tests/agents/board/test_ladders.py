"""Ladders: every rung is a task of its game, and differs from the others in the knob only."""

import pytest
from exactdice.agents.board.ladders import LADDERS, Ladder
from exactdice.baselines import make_task
from exactdice.games import GAMES


@pytest.mark.parametrize("ladder", LADDERS.values(), ids=tuple(LADDERS))
def test_rungs_differ_in_the_knob_only(ladder: Ladder) -> None:
    assert len({rung.game for rung in ladder.rungs}) == 1
    assert all(set(rung.keywords) == {ladder.knob} for rung in ladder.rungs)
    labels = [rung.label for rung in ladder.rungs]
    assert len(set(labels)) == len(labels)
    assert [float(label) for label in labels] == sorted(map(float, labels))


def test_every_ladder_is_under_its_name_which_is_a_name_of_a_folder() -> None:
    for name, ladder in LADDERS.items():
        assert name == ladder.name
        assert name.replace("-", "").isalnum()


def test_every_rung_is_a_task() -> None:
    for ladder in LADDERS.values():
        for rung in ladder.rungs:
            if ladder.knob == "opponent":
                continue
            task = make_task(rung.game, **rung.keywords)
            assert isinstance(task.game, GAMES[rung.game])
            assert getattr(task.game, ladder.knob) == rung.keywords[ladder.knob]

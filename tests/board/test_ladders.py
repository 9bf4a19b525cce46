"""Ladders: every rung is a task of its game, and differs from the others in the knob only."""

from pathlib import Path

import pytest
from exactdice.baselines import make_task
from exactdice.board.ladders import LADDERS, find_ladder
from exactdice.games import GAMES, InputError


def test_the_rungs_of_a_ladder_are_in_order():
    for name, ladder in LADDERS.items():
        labels = [float(rung.label) for rung in ladder.rungs]
        assert labels == sorted(set(labels))
        assert name.replace("-", "").isalnum()  # a name of a folder


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow) if ladder.knob == "opponent" else name
        for name, ladder in LADDERS.items()
    ],
)
def test_every_rung_is_a_task(name):
    ladder = LADDERS[name]
    for rung in ladder.rungs[:2]:
        task = make_task(ladder.game, **rung.keywords)
        assert isinstance(task.game, GAMES[ladder.game])
        value = rung.keywords[ladder.knob]
        assert value in (getattr(task.game, ladder.knob, None), *task.opponents)


def test_a_ladder_of_your_own_is_a_game_a_keyword_and_values():
    own = find_ladder(["greed", "max_dice", "12", "3", "6"])
    assert (own.name, own.title, own.knob) == ("greed-max_dice", "Greed, max_dice", "max_dice")
    assert [(rung.label, rung.keywords) for rung in own.rungs] == [
        (value, {"max_dice": int(value)}) for value in ("3", "6", "12")
    ]
    against = find_ladder(["Greed", "opponent", "strength:0.3", "strength:0.1"])
    assert [rung.keywords["opponent"] for rung in against.rungs] == ["strength:0.1", "strength:0.3"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["greed-scores"], "ladder must be one of 'greed-score'.*did you mean greed-score?"),
        ([], "ladder must be a name, or a game, a keyword and two values at least that differ by"),
        (["Greed", "sides", "3"], "differ by a number, got Greed sides 3"),
        (["Greed", "sides", "3", "3"], "differ by a number, got Greed sides 3 3"),
        (["Greed", "opponent", "random", "optimal"], "differ by a number, got Greed opponent rand"),
        (["Greed", "sides", "3", "3x"], "differ by a number, got Greed sides 3 3x"),
        (["Greed", "sides", "3", "nan"], "differ by a number, got Greed sides 3 nan"),
        (["Snake", "sides", "3", "4"], "game must be one of Greed"),
        (["Greed", "tiles", "6", "7"], "Greed takes the keywords .* unexpected .* 'tiles'"),
        (["ShutTheBox", "tiles", "9", "99"], "tiles must be at most 12, got 99"),
    ],
)
def test_what_is_no_ladder_is_refused(words, message):
    with pytest.raises(InputError, match=message):
        find_ladder(words)


def test_the_page_lists_every_ladder_and_its_rungs():
    page = (Path(__file__).parents[2] / "docs" / "ladders.md").read_text()
    rows = page.partition("| ladder |")[2].partition("\n\n")[0].splitlines()[2:]
    assert rows == [
        f"| {ladder.name} | {ladder.knob} | "
        f"{'strength ' if ladder.knob == 'opponent' else ''}"
        f"{', '.join(rung.label for rung in ladder.rungs)} |"
        for ladder in LADDERS.values()
    ]

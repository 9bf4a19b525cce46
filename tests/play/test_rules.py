"""The rules that a person reads are those of the game that is played, keyword by keyword."""

import inspect
import re

import pytest
from exactdice.games import GAMES, Greed, Presentation, presents
from exactdice.play.text import rules
from hypothesis import given, settings
from hypothesis import strategies as st
from small_games import SMALL, Walk
from thinning import at_once

DICE = {"dice": [1, 2, 3], "faces": [3, 4], "zero_face": [1, 2, 3]}
#: By game and keyword: values that a player can tell apart.
MATTERS = {
    "Greed": {
        "max_score": [10, 11],
        "sides": [1, 2, 6],
        "max_dice": [None, 0, 1, 2, 9],
        "tie": ["half", "lost", "stopper", "chaser"],
    },
    "LowestScore": {**DICE, "players": [1, 2, 3], "objective": ["win", "share", "score"]},
    "LowestScoreMatch": {
        **DICE,
        "players": [2, 3],
        "wins": [1, 2, 3],
        "starter": ["winner", "next", "same"],
        "tie": ["first", "last"],
    },
    "ShutTheBox": {
        "tiles": [1, 2, 4],
        "dice": [1, 2, 3],
        "sides": [2, 6],
        "one_die": ["sum<=6", "sum<=3", "never"],
        "shut_wins": [True, False],
        "objective": ["win", "sum", "shut"],
    },
    "FourTwoOne": {
        "dice": [1, 2, 3],
        "faces": [4, 6],
        "casts": [1, 2, 3],
        "utility": ["transfer", "sum", "goal:421", "goals:421,111", "set"],
        "duration": [None, 1, 2, 3],
        "tie": ["half", "lost"],
    },
    "Yahtzee": {
        "joker": ["forced", "free"],
        "bonus": [0, 50, 100],
        "boxes": ["all", "ones,chance", "full_house,yahtzee", "yahtzee"],
    },
    "FourTwoOneMatch": {
        "tokens": [1, 2, 3],
        "starter": ["loser", "winner", "alternate", "same"],
        "tie": ["last", "replay"],
        "charge_casts": [1, 2, 3],
        "discharge_casts": [1, 2, 3],
        "short_pot": ["truncate", "spill"],
        "four_two_one": [1, 5, 10],
        "faces": [2, 3, 4],
    },
}
#: What these values go with.
BASE = {
    "LowestScore": {"dice": 2, "faces": 3, "players": 2},
    "LowestScoreMatch": {"dice": 1, "faces": 3, "wins": 2},
    "ShutTheBox": {"tiles": 3},
    "FourTwoOne": {"utility": "sum"},
    "FourTwoOneMatch": {"tokens": 2, "faces": 4},
}
TIES = {"FourTwoOne": {"utility": "set"}}  # which alone has them
WRONG = re.compile(
    r"\b1 times|\b(1|one) dice\b|\b1 tokens|\b1 faces|None|[{}<=]|\b(\w+) \2\b|  |\.\."
)


def told(name, **keywords):
    return rules(GAMES[name](**{**BASE.get(name, {}), **keywords}))


#: Those whose making takes longest have slow tests.
LONG = {"Yahtzee", "FourTwoOneMatch"}


@pytest.mark.parametrize("name", at_once(lambda name: name not in LONG, SMALL))
def test_rules_change_with_every_keyword(name):
    assert set(inspect.signature(GAMES[name]).parameters) == set(MATTERS[name])
    for keyword, values in MATTERS[name].items():
        others = TIES.get(name, {}) if keyword == "tie" else {}
        texts = [told(name, **others, **{keyword: value}) for value in values]
        assert len(set(texts)) == len(values), keyword


@pytest.mark.parametrize("name", at_once(lambda name: name not in LONG, MATTERS))
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_rules_are_sentences(name, data):
    keywords = {}
    for keyword, values in MATTERS[name].items():
        if data.draw(st.booleans(), label=keyword):
            keywords[keyword] = data.draw(st.sampled_from(values), label=keyword)
    try:
        text = told(name, **keywords)
    except ValueError:  # values that do not go together
        return
    assert not WRONG.search(text), text
    for sentence in re.split(r"(?<=\.) ", text):
        assert re.fullmatch(r"[A-Z0-9].+\.", sentence)


def test_rules_that_are_told_otherwise_than_by_a_word():
    text = told("FourTwoOneMatch", four_two_one=5, charge_casts=1, tie="replay", faces=6)
    assert "421 is worth 5 tokens" in text
    assert "That is once while the pot has tokens, up to three times afterwards." in text
    assert "Of equal combinations nobody takes tokens, and the same player begins again." in text
    text = told("FourTwoOne", dice=2, faces=2, casts=2, utility=lambda faces, casts: casts)
    assert text.endswith("depends on the faces and on how often you have cast.")


def test_a_game_of_ones_own_tells_its_rules():
    class HouseRules(Greed):
        pass

    @presents(HouseRules)
    class HouseRulesPresentation(Presentation[HouseRules]):
        def describe_rules(self):
            return ["roll what you like.", "the higher score wins."]

    assert rules(HouseRules()) == "Roll what you like. The higher score wins."
    nowhere = type("Nowhere", (Walk,), {"__module__": "nowhere"})
    assert rules(nowhere()) == "Walk."
    assert rules(Walk()).startswith("Games small enough to be listed move by move.")

"""What is said of positions, moves, blunders and tasks holds no Python."""

import re

import numpy as np
import pytest
from exactdice.core.positions import has_few_states, states_of
from exactdice.core.words import dice_words, either, listed, ordinal, plural, spelled, up_to
from exactdice.games import GAMES, FourTwoOne, Greed, Presentation, ShutTheBox, present
from small_games import SMALL
from thinning import later

SIZES = [(name, size) for name, sizes in SMALL.items() for size in [{}, *sizes]]
#: Tuples, lists, quotes, keywords and names of types, as ``repr`` writes them.
PYTHON = re.compile(r"""\([^()]*,|[\[\]{}'"]|\w=|<\w|array|None|True|False""")


@pytest.mark.parametrize("most", [100, later(200)])
@pytest.mark.parametrize(("name", "size"), SIZES)
def test_no_sentence_is_python_and_each_move_has_its_own(name, size, most):
    game = GAMES[name](**size)
    shown, rng = present(game), np.random.default_rng(0)
    for seat in range(game.num_players):
        if has_few_states(game):
            own = states_of(game, seat)
            states = own if len(own) < most else rng.choice(own, most, replace=False)
        else:  # the only player may move in all
            states = rng.integers(0, game.num_states, most)
        columns = states, game.observe(states, seat), game.mask(states)
        for state, seen, legal in zip(*columns, strict=True):
            actions = np.flatnonzero(legal).tolist()
            moves = [shown.describe_move(seen, action) for action in actions]
            assert len(set(moves)) == len(actions)
            rows = game.law(np.full(len(actions), state), np.array(actions))
            told = [
                shown.tell(seen, action, int(outcome))
                for action, row in zip(actions, rows, strict=True)
                for outcome in np.flatnonzero(game.laws[row])[[0, -1]]
            ]
            for sentence in (shown.describe(seen), *moves, *told):
                assert sentence.isprintable()
                assert not PYTHON.search(sentence)
    every = range(game.num_actions)  # illegal ones, too, as environments may be given them
    assert all(shown.describe_move(seen, action).isprintable() for action in every)
    actions = [shown.describe_action(action) for action in every]
    assert len(set(actions)) == len(actions)
    assert not any(PYTHON.search(words) for words in actions)


def test_numbers_and_lists_are_spelled_as_in_a_text():
    assert [spelled(count) for count in (0, 1, 6, 7)] == ["no", "one", "six", "7"]
    numbered = ["first", "sixth", "7th", "11th", "12th", "13th", "21st", "22nd", "23rd", "111th"]
    assert [ordinal(place) for place in (1, 6, 7, 11, 12, 13, 21, 22, 23, 111)] == numbered
    assert [plural(count, "cast") for count in (0, 1, 2)] == ["casts", "cast", "casts"]
    assert [plural(count, "die", "dice") for count in (1, 2)] == ["die", "dice"]
    assert [listed("abc"[:end]) for end in (1, 2, 3)] == ["a", "a and b", "a, b and c"]
    assert [either("abc"[:end]) for end in (1, 2, 3)] == ["a", "a or b", "a, b or c"]
    times = ["once", "up to twice", "up to three times", "up to 7 times"]
    assert [up_to(count) for count in (1, 2, 3, 7)] == times
    assert [dice_words(1, 6), dice_words(2, 1)] == ["one die with 6 faces", "two dice with 1 face"]


def test_what_somebody_does_becomes_what_you_do():
    box, turn = present(ShutTheBox()), present(FourTwoOne(utility="sum"))
    assert box.to_you("closes 1 2: a sum of 3 is left open") == "close 1 2: a sum of 3 is left open"
    assert box.to_you(box.describe_action(0)) == "close nothing and end the turn"
    assert turn.to_you(turn.describe_action(1)) == "put aside the lowest die"
    assert present(Greed()).to_you("rolls: 4") == "roll: 4"
    assert Presentation(Greed()).to_you("takes action 0") == "take action 0"


@pytest.mark.parametrize("name", GAMES)
def test_a_game_says_the_verbs_of_its_moves(name):
    shown = present(GAMES[name](**SMALL[name][0]))
    for action in range(shown.game.num_actions):
        words = shown.describe_action(action)
        first = words.split(" ")[0]
        assert shown.to_you(words).split(" ")[0] == dict(shown.verbs)[first]

"""The lowest-score game: its ends and its words; ``test_random_sizes`` has its rules by hand."""

import numpy as np
import pytest
from exactdice.games import LowestScore, present

GAME = LowestScore()
NONE = GAME.max_score + 1


def state(game, *observation):
    found = game.encode(np.array([observation]))[0]
    assert found >= 0
    return int(found)


def advance(game, seat, observation, action):
    arrays = (np.array([number]) for number in (seat, state(game, *observation), action, 0))
    return game.advance(*arrays)


def test_a_die_is_worth_its_face_but_one_is_worth_zero():
    assert GAME.worth == [1, 2, 0, 4, 5, 6]
    assert GAME.by_worth((1, 3, 3, 4, 5)) == (3, 3, 1, 4, 5)
    assert LowestScore(2, 4, 4).worth == [1, 2, 3, 0]


def test_who_is_beaten_has_lost_at_once():
    worse = advance(GAME, 1, (8, 2, 0, 0, 0, 0, 9, 2), 0)  # 10 against 9
    assert worse.over[0].tolist() == [False, True, False, False]
    better = advance(GAME, 1, (6, 2, 0, 0, 0, 0, 9, 2), 0)  # 8 against 9
    assert better.over[0].tolist() == [True, False, False, False]
    tied = advance(GAME, 1, (7, 2, 0, 0, 0, 0, 9, 2), 0)
    assert not tied.over.any()
    assert not worse.payoffs.any()


def test_scores_are_paid_at_the_end_of_each_turn():
    game = LowestScore(objective="score")
    move = advance(game, 1, (7, 2, 0, 0, 0, 0, 4, 2), 0)
    assert move.over[0].tolist() == [False, True, False, False]
    assert move.payoffs[0].tolist() == [0, -9, 0, 0]


SHARE, SCORE = {"objective": "share"}, {"objective": "score"}


@pytest.mark.parametrize(
    ("keywords", "known", "words"),
    [
        ({}, [NONE, 3], ", nothing to beat yet, three players to come"),
        ({}, [7, 1], ", 7 to equal or beat, one player to come"),
        ({}, [0, 0], ", 0 to equal or beat, nobody to come"),
        ({"players": 1}, [NONE, 0], ""),
        ({"players": 8}, [30, 7], ", 30 to equal or beat, 7 players to come"),
        (SHARE, [7, 2, 1], ", 7 to equal or beat, which two players have, one player to come"),
        (SHARE, [7, 1, 2], ", 7 to equal or beat, which one player has, two players to come"),
        (SHARE, [NONE, 0, 3], ", nothing to beat yet, three players to come"),
        (SCORE, [NONE, 3], ", no total yet, three players to come"),
        (SCORE, [9, 2], ", 9 the lowest total so far, two players to come"),
    ],
)
def test_a_position_reads_as_a_sentence(keywords, known, words):
    shown = present(LowestScore(**keywords))
    told = shown.describe(np.array([3, 1, 2, 0, 0, 0, *known]))
    assert told == f"3 so far, rolled 1 2{words}"
    told = shown.describe(np.array([4, 3, 1, 6, 0, 0, *known]))
    assert told == f"4 so far, rolled 3 1 6 (a 3 counts 0){words}"


def test_moves_read_as_sentences():
    seen = np.array([4, 3, 1, 6, 0, 0, NONE, 3])
    actions = [present(GAME).describe_action(action) for action in range(3)]
    assert actions == [
        "keeps the lowest die", "keeps the two lowest dice", "keeps the three lowest dice"
    ]  # fmt: skip
    moves = [present(GAME).describe_move(seen, action) for action in range(4)]
    assert moves == ["keeps 3", "keeps 3 1", "keeps 3 1 6", "keeps the four lowest dice"]
    told = [present(GAME).tell(seen, action, 0) for action in range(3)]
    assert told == ["keeps 3", "keeps 3 1", "keeps 3 1 6: 11 in all"]


@pytest.mark.parametrize(
    ("faces", "zero", "words"), [(8, 8, "an 8"), (11, 11, "an 11"), (8, 1, "a 1")]
)
def test_faces_have_the_right_article(faces, zero, words):
    told = present(LowestScore(1, faces, zero)).describe_rules()
    assert f"A die counts its face, but {words} counts 0." in told

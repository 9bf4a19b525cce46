"""The board as text, and what people may type to choose a move."""

import pytest
from exactdice.baselines.advice import Choice
from exactdice.envs.drawing.scene import Event, Scene
from exactdice.games import Die, Gauge, Note, Row, Tile, Tokens
from exactdice.play.record import GameRecord
from exactdice.play.text import IN_ASCII, board, labels, told, understand
from small_games import SMALL


def choice(action, words, *parts):
    return Choice(action, words, parts)


def written(rows):
    return Scene("", rows, "", 0).signs


def test_pieces_words_letters_and_numbers_are_understood():
    tiles = tuple(Tile(number, True, number - 1) for number in range(1, 13))
    on = written((Row("tiles", tiles), Row("rolled", (Die(6), Die(6)))))
    sets = [choice(5, "closes 12", 11), choice(7, "closes 1 11", 0, 10), choice(9, "x", 0, 1, 8)]
    cases = {"12": 0, "a": 0, "B": 1, "11 1": 1, "1,11": 1, "1 + 11": 1, "Closes  12": 0, "129": 2}
    for reply, number in cases.items():
        assert understand(reply, sets, on) is sets[number]
    aside = [choice(0, "none of them"), choice(1, "the first 4", 0), choice(3, "both", 0, 1)]
    faces = written((Row("cast", (Die(4, 0), Die(4, 1))),))
    for reply, number in {"0": 0, "none": 0, "4": 1, "44": 2, "4 4": 2, "c": 2}.items():
        assert understand(reply, aside, faces) is aside[number]
    rolls = [choice(0, "stops"), choice(3, "rolls 3 dice")]
    for reply, number in {"3": 1, " stops ": 0, "0": 0}.items():
        assert understand(reply, rolls, {}) is rolls[number]
    with pytest.raises(ValueError, match=r"There is no move 1: type a number of the list, 0 to 3"):
        understand("1", rolls, {})
    twins = [choice(1, "the first 4", 0), choice(2, "the other 4", 1)]
    with pytest.raises(ValueError, match=r"That can be a or b or the first 4 or the other 4"):
        understand("4", twins, faces)


def test_a_piece_with_a_name_is_meant_by_it_or_by_its_beginning():
    names = ("Fours", "Four of a kind", "Full house", "Yahtzee")
    tiles = [Tile(i, True, 5 + i, name) for i, name in enumerate(names)]
    on = written((Row("dice", (Die(1, 0), Die(1, 1), Die(2, 2))), Row("boxes", tuple(tiles))))
    moves = [choice(0, "keep nothing"), choice(1, "keep 1", 0), choice(2, "keep 1 1", 0, 1)]
    moves += [choice(3 + i, f"take {name}", 5 + i) for i, name in enumerate(names)]
    cases = {"0": 0, "11": 2, "1 1": 2, "01": 1, "fours": 3, "Four  of": 4, "ful": 5, "YAHTZEE": 6}
    cases |= {"keep 0": 0, "keep 1 1": 2, "score full house": 5, "take ful": 5}
    for reply, number in cases.items():
        assert understand(reply, moves, on) is moves[number]
    with pytest.raises(ValueError, match=r"That can be d or e or take fours or take four of a kin"):
        understand("four", moves, on)
    told_what = "type the numbers or the name on the pieces, such as 1 1 or Yahtzee, 0 for none, or"
    for nonsense in ("sixes", "11 12", ", ,", "reroll 1 1"):
        with pytest.raises(ValueError, match=told_what):
            understand(nonsense, moves, on)
    boxes = [one for one in moves if one.words.startswith("take")]
    with pytest.raises(ValueError, match="type the names on the pieces, such as Yahtzee, or a"):
        understand("8", boxes, on)


@pytest.mark.parametrize("name", sorted(SMALL))
def test_moves_are_understood_in_words_in_every_game(name):
    session = GameRecord(name, SMALL[name][0], None, 4).session()
    choices, on = session.choices, session.scene.signs
    for one in choices:
        for words in (one.words, one.words.upper(), f"I {one.words}, please"):
            assert understand(words, choices, on) == one
    verb = choices[-1].words.split()[0]
    for unclear in (verb if len(choices) > 1 and choices[-1].words != verb else "?", f"{verb} 99"):
        with pytest.raises(ValueError, match="There is no move"):
            understand(unclear, choices, on)


def test_a_verb_and_the_numbers_are_enough():
    choices = GameRecord("Greed").session().choices
    for words in ("roll 24 dice", "I roll 24", "roll 24, please", "24 dice"):
        assert understand(words, choices, {}).action == 24
    assert understand("roll 1 dice", choices, {}).action == 1
    for unclear in ("roll", "keep 24 dice", "roll 24 or 25", "roll -24", "-24 dice"):
        with pytest.raises(ValueError, match="There is no move"):
            understand(unclear, choices, {})


def test_letters_are_never_commands():
    names = labels([choice(number, str(number), number) for number in range(600)])
    assert len(set(names)) == 600
    assert not {"h", "q", "u", "?", "quit", "undo", "help", "hint"} & set(names)


def test_every_piece_is_drawn_in_unicode_and_in_ascii():
    rows = (
        Row("tiles", (Tile(1, True, 0), Tile(12, False, 1))),
        Row("boxes", (Tile(0, True, 2, "Full house"), Tile(1, False, 3, "Ones"))),
        Row("nothing", ()),
        Row("dice", (Die(3, 0, special=True), Die(10))),
        *(Row("score", (Gauge(points, 100),)) for points in (50, 120)),
        *(Row("pot", (Tokens(*counts),)) for counts in ((2, 3), (50, 1000))),
        Row("note", (Note("seven"),)),
    )
    lines = board(rows)
    text = "\n".join(lines)
    shown = ["[1]", " 3 ", " 10 ", "50 of 100", "120 of 100", "50 of 1000", "seven"]
    shown += ["[Full house] ·Ones·", "█" * 15 + "░" * 15, "●●·"]
    assert [words for words in shown if words not in text] == []
    assert "nothing" not in text
    assert text.translate(IN_ASCII).isascii()
    assert set(map(len, text.translate(IN_ASCII).splitlines())) == set(map(len, lines))
    many = board((Row("rolled", tuple(Die(6) for _ in range(40))),))
    assert max(map(len, many)) <= 80
    assert "\n".join(many).count(" 6 ") == 40


def test_dice_that_never_lie_on_the_board_are_told_with_the_move():
    bare, with_dice = (Scene("", rows, "you", 0) for rows in ((), (Row("rolled", (Die(1),)),)))
    rolls = Event("opponent", "3 to 4", (Die(5), Die(6)), (), "rolls 2 dice")
    assert told(rolls, bare, own=False) == "opponent: rolls 2 dice (rolled 5 6)"
    assert told(rolls, with_dice, own=False) == "opponent, rolled 5 6: rolls 2 dice"
    own = Event("you", "3 to 4", (Die(5), Die(6)), (), "roll 2 dice")
    assert told(own, with_dice, own=True) == "You roll 2 dice"
    still = Event("opponent", "3 to 4", (), (), "stops")
    assert told(still, bare, own=False) == "opponent, 3 to 4: stops"

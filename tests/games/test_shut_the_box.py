"""Shut the Box in words; ``test_random_sizes`` has its rules by hand."""

import numpy as np
from exactdice.games import ShutTheBox, present

GAME = ShutTheBox()


def test_positions_and_moves_read_as_sentences_and_sets_are_those_that_two_dice_can_show():
    assert GAME.sets[:5] == [(), (1,), (2,), (1, 2), (3,)]
    assert (len(GAME.sets), max(map(sum, GAME.sets))) == (64, 12)
    shown, (small, both, none) = present(GAME), map(GAME.sets.index, ((1, 8), (4, 5), ()))
    first = np.array([1, 1, 0, 1, 0, 0, 0, 1, 1, 9, 46])
    stuck = np.array([1, 1, 0, 0, 0, 0, 0, 0, 1, 8, 20])
    last = np.array([0, 0, 0, 1, 1, 0, 0, 0, 0, 9, 46])
    assert (GAME.encode(np.stack([first, stuck, last])) >= 0).all()
    assert shown.describe(first) == "open 1 2 4 8 9, rolled 9"
    assert shown.describe_move(first, small) == shown.tell(first, small, 0) == "closes 1 8"
    assert shown.describe(stuck) == "open 1 2 9, rolled 8, the other left 20 open"
    ends = "closes nothing and ends the turn"
    assert shown.describe_move(stuck, none) == ends
    assert shown.tell(stuck, none, 0) == f"{ends}: a sum of 12 is left open"
    assert shown.tell(last, both, 0) == "closes 4 5: the box is shut"

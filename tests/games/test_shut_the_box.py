"""Shut the Box in words; ``test_random_sizes`` has its rules by hand."""

import numpy as np
from exactdice.games import ShutTheBox, present

GAME = ShutTheBox()


def state(game, tiles, roll, target=None):
    flags = [int(tile in tiles) for tile in range(1, game.tiles + 1)]
    goal = game.max_score + 1 if target is None else target
    found = game.encode(np.array([[*flags, roll, goal]]))[0]
    assert found >= 0
    return int(found)


def test_sets_are_those_that_two_dice_can_show():
    assert len(GAME.sets) == 64
    assert GAME.sets[:5] == [(), (1,), (2,), (1, 2), (3,)]
    assert max(map(sum, GAME.sets)) == 12


def test_positions_and_moves_read_as_sentences():
    first = GAME.observe(np.array([state(GAME, (1, 2, 4, 8, 9), 9)]), 0)[0]
    assert present(GAME).describe(first) == "open 1 2 4 8 9, rolled 9"
    assert present(GAME).describe_move(first, GAME.sets.index((1, 8))) == "closes 1 8"
    assert present(GAME).tell(first, GAME.sets.index((1, 8)), 0) == "closes 1 8"
    stuck = GAME.observe(np.array([state(GAME, (1, 2, 9), 8, 20)]), 1)[0]
    assert present(GAME).describe(stuck) == "open 1 2 9, rolled 8, the other left 20 open"
    assert present(GAME).describe_move(stuck, 0) == "closes nothing and ends the turn"
    assert present(GAME).tell(stuck, 0, 0) == (
        "closes nothing and ends the turn: a sum of 12 is left open"
    )
    last = GAME.observe(np.array([state(GAME, (4, 5), 9)]), 0)[0]
    assert present(GAME).tell(last, GAME.sets.index((4, 5)), 0) == "closes 4 5: the box is shut"

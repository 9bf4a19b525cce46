"""The rules of Shut the Box."""

import numpy as np
import pytest
from exactdice.core.moves import transitions
from exactdice.games import ShutTheBox, present

GAME = ShutTheBox()
NONE = GAME.max_score + 1


def state(game, tiles, roll, target=None):
    flags = [int(tile in tiles) for tile in range(1, game.tiles + 1)]
    goal = game.max_score + 1 if target is None else target
    found = game.encode(np.array([[*flags, roll, goal]]))[0]
    assert found >= 0
    return int(found)


def closable(game, tiles, roll, target=None):
    legal = game.mask(np.array([state(game, tiles, roll, target)]))[0]
    return {game.sets[action] for action in np.flatnonzero(legal)}


def after(game, seat, tiles, roll, closed, target=None):
    return transitions(game, seat, state(game, tiles, roll, target), game.sets.index(closed))


def test_sets_are_those_that_two_dice_can_show():
    assert len(GAME.sets) == 64
    assert GAME.sets[:5] == [(), (1,), (2,), (1, 2), (3,)]
    assert max(map(sum, GAME.sets)) == 12


def test_tiles_that_add_up_to_the_roll_may_be_closed_and_have_to_be():
    everything = range(1, 10)
    assert closable(GAME, everything, 5) == {(1, 4), (2, 3), (5,)}
    assert closable(GAME, (1, 2, 9), 12) == {(1, 2, 9)}
    assert closable(GAME, (1, 2, 9), 8) == {()}


def test_one_die_is_rolled_while_the_open_sum_is_at_most_6():
    chances, move = after(GAME, 0, (1, 2, 4, 5), 6, (1, 5))
    assert chances == pytest.approx(np.full(6, 1 / 6))
    assert GAME.observe(move.states, 0)[:, -2].tolist() == [1, 2, 3, 4, 5, 6]
    chances, move = after(GAME, 0, (1, 2, 6), 2, (2,))
    assert len(chances) == 11
    always = ShutTheBox(one_die="never")
    assert len(after(always, 0, (1, 2, 4, 5), 6, (1, 5))[0]) == 11


def test_a_turn_ends_when_nothing_can_be_closed():
    chances, move = after(GAME, 0, (1, 2, 9), 8, ())
    assert len(chances) == 11
    assert (move.seats == 1).all()
    rows = GAME.observe(move.states, 1)
    assert rows[:, :9].all()
    assert (rows[:, -1] == 12).all()
    assert not move.over.any()


@pytest.mark.parametrize(("target", "payoffs"), [(13, [0, 1]), (12, [0.5, 0.5]), (11, [1, 0])])
def test_the_second_player_wins_below_the_target_and_ties_at_it(target, payoffs):
    _, move = after(GAME, 1, (1, 2, 9), 8, (), target)
    assert move.over.all()
    assert move.payoffs[0].tolist() == payoffs


def test_a_shut_box_wins_or_leaves_the_second_player_a_draw():
    _, move = after(GAME, 0, (1, 2), 3, (1, 2))
    assert move.over.all()
    assert move.payoffs[0].tolist() == [1, 0]
    generous = ShutTheBox(shut_wins=False)
    _, move = after(generous, 0, (1, 2), 3, (1, 2))
    assert not move.over.any()
    assert (generous.observe(move.states, 1)[:, -1] == 0).all()
    _, move = after(generous, 1, (1, 2), 3, (1, 2), target=0)
    assert move.payoffs[0].tolist() == [0.5, 0.5]


@pytest.mark.parametrize(("objective", "left", "shut"), [("sum", -12, 0), ("shut", 0, 1)])
def test_a_player_alone(objective, left, shut):
    game = ShutTheBox(objective=objective)
    assert game.num_players == 1
    assert after(game, 0, (1, 2, 9), 8, ())[1].payoffs.tolist() == [[left]]
    assert after(game, 0, (1, 2), 3, (1, 2))[1].payoffs.tolist() == [[shut]]


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

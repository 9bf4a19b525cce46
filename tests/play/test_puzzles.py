"""Puzzles: drawn in proportion to what they cost, each of its level, with a score that is right."""

from itertools import islice

import numpy as np
import pytest
from exactdice.baselines import Task, solve
from exactdice.baselines.advice import Advice, Choice
from exactdice.games import FourTwoOneMatch, Greed, InputError, LowestScore
from exactdice.play.puzzles import (
    ANY,
    LEVELS,
    Mistake,
    Practice,
    erring,
    level_of,
    mistakes_of,
    practice_of,
    puzzles,
)

GAME = Greed(30)


@pytest.fixture(scope="module")
def found():
    return mistakes_of("if_else", GAME, "Rules of thumb")


def moves(*shares):
    return [Advice(Choice(n, "", ()), 0.0, share, share) for n, share in enumerate(shares)]


@pytest.mark.parametrize(
    ("shares", "level"),
    [
        ((0.0, 0.15), "easy"),
        ((0.15, 0.0, 0.0, *[0.9] * 5), "easy"),  # moves as good as the best are no alternatives
        ((0.0, *[0.9] * 8), "medium"),  # nine moves
        ((0.0, 0.149), "medium"),
        ((0.0, 0.05, 0.9), "medium"),
        ((0.0, 0.049), "hard"),
        ((0.0, 0.001, *[0.9] * 20), "hard"),
    ],
)
def test_levels_are_read_off_the_second_best_move_and_the_number_of_moves(shares, level):
    assert level_of(moves(*shares)) == level


def test_every_puzzle_is_a_mistake_of_its_level_and_is_asked_once(found):
    drawn = {level: list(puzzles(found, level, 1)) for level in (*LEVELS, ANY)}
    assert sum(len(drawn[level]) for level in LEVELS) == len(drawn[ANY]) > 10
    known = {(one.task.seat, one.observation) for one in found}
    for level, some in drawn.items():
        for one in some:
            seen = GAME.observe(np.array([one.state]), one.task.seat)[0]
            assert (one.task.seat, tuple(seen.tolist())) in known
            values = solve(one.task).action_values(seen)
            assert [move.value for move in one.advice] == values[np.isfinite(values)].tolist()
            assert level in (level_of(one.advice), ANY)
        questions = {tuple((m.choice.action, m.value) for m in one.advice) for one in some}
        assert len(questions) == len(some)


def test_decisions_are_drawn_in_proportion_to_what_they_cost(found):
    task = found[0].task
    some = [
        Mistake(task, one.observation, cost, "") for one, cost in zip(found, (3, 1), strict=False)
    ]
    first = [next(puzzles(some, ANY, seed)).advice for seed in range(600)]
    state = next(puzzles(some[:1], ANY, 0)).advice
    assert first.count(state) / 600 == pytest.approx(3 / 4, abs=0.07)


def test_the_same_seed_draws_the_same_puzzles(found):
    same = [[one.state for one in islice(puzzles(found, ANY, seed), 5)] for seed in (1, 1, 2)]
    assert same[0] == same[1] != same[2]


def test_the_first_answer_counts_and_the_score_is_exact(found):
    practice = Practice(GAME, puzzles(found, "easy", 3))
    costs = []
    for number in range(4):
        assert practice.puzzle is not None
        ranked = sorted(practice.puzzle.advice, key=lambda one: one.cost)
        practice.answer(ranked[number % 2].choice.action)
        practice.answer(ranked[0].choice.action)
        assert practice.tried == ranked[number % 2].choice.action
        costs.append(ranked[number % 2].cost)
        practice.go_on()
    assert practice.score == f"2 of 4 solved; {25 * sum(costs):.1f} % given away per puzzle."
    with pytest.raises(InputError, match=r"action must be one of .*, got 99"):
        practice.answer(99)
    after = Practice(GAME, iter(()))
    assert after.puzzle is None
    with pytest.raises(InputError, match="action must be left, got 0"):
        after.answer(0)


def test_the_player_who_errs_is_a_rule_of_thumb_or_a_beginner_and_beginners_err_in_turn():
    assert [erring(game) for game in (Greed, LowestScore, FourTwoOneMatch)] == [
        *("if_else", "only3s", "transfer")
    ]
    assert practice_of(GAME, "", "easy", 1).puzzle.words.startswith('"Rules of thumb" ')
    assert {one.task for one in mistakes_of("random", GAME, "")} == {Task(GAME, 0), Task(GAME, 1)}

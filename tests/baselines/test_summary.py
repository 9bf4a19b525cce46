"""A score in sentences: how good, and where the regret lies."""

from pathlib import Path

import numpy as np
import pytest
from exactdice.baselines import make_task
from exactdice.baselines.scoring.summary import lost, pays_wins, result, summary, worst_part
from exactdice.games import FourTwoOne, Greed, LowestScore, ShutTheBox

import exactdice

GREED = make_task("Greed", max_score=30)


def erring(task, condition):
    """Score a policy that is optimal but where ``condition`` holds of the observations."""
    game = task.game
    best = exactdice.solve(task).policy.actions
    seen = game.observe(np.arange(game.num_states), 0)
    worst = np.where(condition(seen), 0, best)
    return exactdice.score(np.where(game.mask(np.arange(game.num_states))[:, 0], worst, best), task)


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (lambda seen: seen[:, 2] == 1, "last turns"),
        (lambda seen: seen[:, 0] >= 20, "own score 20 to 25"),  # from 26 on, stopping is best
        (lambda seen: (seen[:, 1] >= 6) & (seen[:, 1] <= 8), "other's score 6 to 8"),
    ],
)
def test_the_part_where_a_policy_errs_is_found(condition, words):
    part = worst_part(erring(GREED, condition))
    assert words in part.words
    assert part.regret > 0.75
    assert part.decisions < part.regret - 0.4


def test_a_game_without_a_map_is_divided_by_what_the_agent_observes(own_games):
    root = Path(__file__).parent.parent.parent
    own_games(f"{root / 'examples' / 'pig.py'}:Pig")
    scored = exactdice.score("hold:4", make_task("Pig", target=10, sides=4))
    assert any(name in worst_part(scored).words for name in scored.task.game.observation_names)


def test_a_summary_says_how_good_and_what_to_mend():
    good, mend = summary(exactdice.score("if_else", make_task("Greed")))
    assert good == (
        "It goes 74.1 % of the way from random play to the optimum: "
        "it loses 86 wins in a thousand games."
    )
    assert mend.startswith("44 % of that is lost in 29 % of its decisions: those with own score")
    first = summary(exactdice.score("random", GREED))[0]
    assert first.startswith("It plays as well as uniformly random play: it loses ")
    assert summary(exactdice.score("optimal", GREED)) == (
        "It is optimal: no decision costs anything.",
    )


def test_only_the_optimum_is_the_whole_way():
    (good, _) = summary(exactdice.score("notebook", make_task("LowestScore")))
    assert "100" not in good
    assert "99.9" in good


def test_wins_are_of_games_that_one_wins_from_others():
    assert pays_wins(Greed())
    assert pays_wins(ShutTheBox(tiles=3))
    assert not pays_wins(FourTwoOne(utility="goal:421"))
    assert not pays_wins(LowestScore(objective="score", players=2))
    assert [result(payoff, Greed()) for payoff in (1, 0.5, 0)] == ["win", "tie", "loss"]
    assert result(1.0, FourTwoOne()) == "1"
    assert lost(0.0008, Greed()) == "0.8 wins in a thousand games"
    assert lost(2.06, FourTwoOne()) == "a payoff of 2.1 a game"

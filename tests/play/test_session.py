"""A person's game: undo, replay, advice, and an account that adds up."""

import numpy as np
import pytest
from exactdice.baselines import make_task, solve
from exactdice.baselines.advice import is_decision
from exactdice.core import Die, Gauge, Note, Row, Tile, Tokens
from exactdice.games import InputError
from exactdice.play.coach import hints, unit_of
from exactdice.play.session import Session
from small_games import SMALL

GAMES = [pytest.param(name, sizes[0]) for name, sizes in sorted(SMALL.items())]


def random_game(task, seed, together=False):
    session, rng = Session(task, seed, together=together), np.random.default_rng(seed)
    while session.choices:
        assert session.now.seat in session.persons
        session.move(int(rng.choice([choice.action for choice in session.choices])))
    return session


@pytest.mark.parametrize(("name", "sizes"), GAMES)
def test_the_account_adds_up_and_luck_has_no_mean(name, sizes):
    task = make_task(name, 0, **sizes)
    lucks = []
    for seed in range(120):
        session = random_game(task, seed)
        account = session.account
        assert account.payoff == session.payoff
        assert account.given_away >= 0
        total = account.expected - account.given_away + account.luck
        assert total == pytest.approx(account.payoff, abs=1e-12)
        lucks.append(account.luck)
    assert abs(np.mean(lucks)) < 5 * np.std(lucks) / 120**0.5 + 1e-9


@pytest.mark.parametrize(("name", "sizes"), GAMES)
def test_a_move_taken_back_and_made_again_has_the_same_dice(name, sizes):
    session = random_game(make_task(name, 0, **sizes), 3)
    actions, whole = list(session.actions), shown(session)
    for _ in actions:
        session.undo()
    assert session.payoff is None
    for action in actions:
        session.move(action)
    assert shown(session) == shown(Session(session.task, 3, actions)) == whole


def shown(session):
    return session.scene.words, session.story, session.payoff, list(session.actions)


@pytest.mark.parametrize(("name", "sizes"), GAMES)
def test_the_best_advice_is_the_optimum_and_hints_lead_to_it(name, sizes):
    session = Session(make_task(name, 0, **sizes), 5)
    while session.choices:
        advice = session.advice()
        assert [one.choice for one in advice] == session.choices
        best = min(advice, key=lambda one: one.cost)
        assert best.cost == 0
        assert best.choice.action in solve(session.task).optimal_actions(session.observation)
        *_, last = said = hints(session, advice, unit_of(session.task.game))
        assert all(words.endswith((".", "?")) for words in said)
        assert best.choice.words in last or not is_decision(advice)
        session.move(best.choice.action)
        assert session.advice(before=1) == advice
        assert session.account.given_away == 0


def test_what_is_not_legal_is_refused_by_name():
    session = Session(make_task("LowestScore", 0, opponents="random"), 1)
    with pytest.raises(ValueError, match="undo must follow a move, got none"):
        session.undo()
    with pytest.raises(ValueError, match="action must be one of 0, 1, 2, 3, 4, got 5"):
        session.move(5)
    for action in (True, 0.0, "0", None, np.float64(1)):
        with pytest.raises(InputError, match="action must be an integer, got"):
            session.move(action)
    session.move(4)
    with pytest.raises(ValueError, match="action must be left, as the game is over, got 0"):
        session.move(0)
    with pytest.raises(ValueError, match="seed must be at least 0, got -1"):
        Session(session.task, -1)
    with pytest.raises(InputError, match="must have several players, got 1"):
        Session(make_task("FourTwoOne", 0), 0, together=True)


def final_pieces(session):
    """Return the pieces of the last scene by the label of their row."""
    return {row.label: row.pieces for row in session.scene.rows if not row.rolled}


def test_a_game_of_greed_ends_with_the_score_of_the_last_move():
    for seed in range(20):
        session = random_game(make_task("Greed", seed % 2, max_score=20), seed)
        scores = {who: pieces[0].points for who, pieces in final_pieces(session).items()}
        assert scores.keys() == {"you", "opponent"}
        wins = scores["opponent"] > 20 or scores["you"] > scores["opponent"]
        if scores["you"] != scores["opponent"]:
            assert session.payoff == (wins and scores["you"] <= 20)
        assert f"our {scores['you']}" in session.reason or scores["opponent"] > 20


def test_a_match_of_421_ends_with_the_tokens_of_the_last_round():
    for seed in range(20):
        seat = seed % 2
        session = random_game(make_task("FourTwoOneMatch", seat, tokens=3), seed)
        pieces = final_pieces(session)
        held = [
            row.pieces[0].count for row in session.scene.rows if isinstance(row.pieces[0], Tokens)
        ]
        assert held == ([0, 3, 0] if session.payoff == seat else [0, 0, 3])
        assert {len(dice) for label, dice in pieces.items() if len(dice) > 1} == {3}
        assert session.reason.endswith((" tokens.", " token.", " from you.", " from opponent."))


BOX = ("ShutTheBox", {"tiles": 2, "dice": 1, "sides": 3})
MATCH = ("FourTwoOneMatch", {"tokens": 1, "faces": 2})
LOWEST = ("LowestScoreMatch", {"dice": 1, "faces": 2, "zero_face": 1, "wins": 1})
STOPPER = ("Greed", {"max_score": 4, "sides": 2, "tie": "stopper", "opponent": "random"})


@pytest.mark.parametrize(
    ("game", "reason"),
    [
        (BOX, "You left 1 open, opponent 1: a tie."),
        (BOX, "You left 0 open, opponent 2: the lower sum wins."),
        (MATCH, "Your 2 1 1 equals opponent's 2 1 1, which was cast first: you take 1 token."),
        (MATCH, "Opponent's 2 1 1 beats your 2 2 1: you take 1 token."),
        (LOWEST, "Your 2 equals opponent's 2, and the last to be rolled counts: you win"),
        (STOPPER, "Your 4 equals opponent's 4: equal scores are won by the player who stopped."),
    ],
)
def test_ends_are_explained(game, reason):
    name, sizes = game
    task = make_task(name, 1, **sizes)
    assert any(random_game(task, seed).reason.startswith(reason) for seed in range(60))


@pytest.mark.parametrize("players", [2, 3])
def test_a_match_of_the_lowest_score_ends_with_the_round_that_decides_it(players):
    for seed in range(10):
        task = make_task("LowestScoreMatch", 1, dice=2, players=players, wins=2)
        session = random_game(task, seed)
        pieces = {who: row[0] for who, row in final_pieces(session).items()}
        won = {who: piece.count for who, piece in pieces.items() if isinstance(piece, Tokens)}
        assert (won["you"] == 2) == (session.payoff == 1)
        assert sorted(won.values())[-1] == 2 > sorted(won.values())[-2]
        assert "wins the round." in session.reason or "you win the round." in session.reason


SHUT = {"tiles": 1, "dice": 1, "sides": 2, "one_die": "never", "objective": "shut"}
SHUT_BOX = Row("tiles", (Tile(1, False, 0),), 0)
ASIDE = Row("put aside", tuple(map(Die, (4, 3, 2))), 0)
BUST = Row("you", (Gauge(6, 5, "bust"),), 0)
LEFT = Row("sum left open", (Note("3"),), 1)
TOTAL = Row("total", (Note("13"),), 3)


@pytest.mark.parametrize(
    ("name", "seat", "sizes", "seed", "row", "reason"),
    [
        ("ShutTheBox", 0, SHUT, 2, SHUT_BOX, "You shut the box."),
        ("ShutTheBox", 1, {"tiles": 4, "sides": 3}, 3, LEFT, "You left 3 open, opponent 5: the l"),
        ("FourTwoOne", 0, {"casts": 1}, 1, ASIDE, "4 3 2 pays 2."),
        ("Greed", 0, {"max_score": 5}, 1, BUST, "Your 6 is above 5: you are bust."),
        ("LowestScore", 3, {}, 1, TOTAL, "Your 13 does not beat 7, the lowest total so far."),
    ],
)
def test_the_last_move_is_drawn_and_told(name, seat, sizes, seed, row, reason):
    session = random_game(make_task(name, seat, **sizes), seed)
    assert row in session.scene.rows
    assert session.reason.startswith(reason)


def test_a_turn_of_the_person_is_told_in_the_second_person():
    session = Session(make_task("Greed", opponent="random"), 3, [20, 0])
    pieces = [piece for row in session.film[1].rows for piece in row.pieces]
    assert [one.words for one in pieces if isinstance(one, Note)] == ["you have stopped"]


TOGETHER = [
    pytest.param(name, sizes, id=name)
    for name, (sizes, *_) in sorted(SMALL.items())
    if make_task(name, 0, **sizes).game.num_players > 1
]


@pytest.mark.parametrize(("name", "sizes"), TOGETHER)
def test_the_account_of_each_of_several_persons_adds_up(name, sizes):
    task = make_task(name, 0, **sizes)
    movers = set()
    for seed in range(10):
        session = random_game(task, seed, together=True)
        for seat in session.persons:
            account = session.account_of(seat)
            assert account.payoff == session.now.paid[seat]
            assert account.given_away >= 0
            assert len(session.course_of(seat)) == 2 + 2 * sum(
                moment.seat == seat for moment in session.moments[:-1]
            )
        movers |= {moment.seat for moment in session.moments[:-1]}
    assert movers == set(session.persons)
    assert shown(session.again(session.seed, session.actions)) == shown(session)


def test_the_result_of_several_persons_names_who_wins():
    task = make_task("Greed", max_score=6)
    said = {random_game(task, seed, together=True).ended for seed in range(40)}
    assert said == {"player 1 wins", "player 2 wins", "player 1 and player 2 share the win"}

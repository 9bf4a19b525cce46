"""A person's game: undo, replay, advice, and an account that adds up."""

from functools import partial

import numpy as np
import pytest
from exactdice.baselines import make_task, solve
from exactdice.baselines.advice import Choice, is_decision
from exactdice.core import Die, Gauge, Note, Tile, Tokens
from exactdice.games import InputError
from exactdice.play.coach import hints, in_common, unit_of
from exactdice.play.session import Session
from small_games import SMALL
from thinning import later

GAMES = [pytest.param(name, sizes[0]) for name, sizes in sorted(SMALL.items())]


def random_game(task, seed, together=False):
    session, rng = Session(task, seed, together=together), np.random.default_rng(seed)
    while session.choices:
        assert session.now.seat in session.persons
        session.move(int(rng.choice([choice.action for choice in session.choices])))
    return session


@pytest.mark.parametrize("games", [40, later(120)])
@pytest.mark.parametrize(("name", "sizes"), GAMES)
def test_the_account_adds_up_and_luck_has_no_mean(name, sizes, games):
    task = make_task(name, 0, **sizes)
    lucks = []
    for seed in range(games):
        session = random_game(task, seed)
        account = session.account
        assert account.payoff == session.payoff
        assert account.given_away >= 0
        total = account.expected - account.given_away + account.luck
        assert total == pytest.approx(account.payoff, abs=1e-12)
        lucks.append(account.luck)
    assert abs(np.mean(lucks)) < 5 * np.std(lucks) / games**0.5 + 1e-9


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


KEEPS = [("keep nothing", ()), ("keep 5", (1,)), ("keep 5 5", (1, 2)), ("keep 3 5 5", (0, 1, 2))]
BOXES = [("take Ones for 0 points", (3,)), ("take Chance for 13 points", (4,))]
ROLLS = [("stop", ()), *((f"roll {dice} dice", ()) for dice in range(2, 6))]


@pytest.mark.parametrize(
    ("moves", "better", "reason"),
    [
        ([*KEEPS, *BOXES], {2, 3}, "roll again and keep 5 5"),
        ([*KEEPS, *BOXES], {0, 1, 2, 3}, "roll again"),
        ([*KEEPS, *BOXES], {0, 3, 4}, ""),
        (KEEPS, {0, 1, 2}, "do not keep 3"),
        (KEEPS, {1}, "keep 5"),
        ([*KEEPS, ("keep 3", (0,))], {0, 1, 4}, "keep at most 1 piece"),
        (BOXES, {1}, "take Chance"),
        (ROLLS, {2, 3, 4}, "roll at least 3 dice"),
        (ROLLS, {1, 2}, "roll at most 3 dice"),
        (ROLLS, {0}, "stop"),
    ],
)
def test_a_hint_says_what_the_better_moves_have_in_common(moves, better, reason):
    choices = [Choice(number, *move) for number, move in enumerate(moves)]
    apart = [[one for one in choices if (one.action in better) == good] for good in (True, False)]
    signs = {0: 3, 1: 5, 2: 5, 3: "Ones", 4: "Chance"}
    assert in_common(*apart, signs, {"keep": "roll again"}) == reason


def test_what_is_not_legal_is_refused_by_name():
    session = Session(make_task("LowestScore", 0, opponents="random"), 1)
    alone = make_task("FourTwoOne", 0)
    for message, call, *arguments in (
        ("undo must follow a move, got none", session.undo),
        ("action must be one of 0, 1, 2, 3, 4, got 5", session.move, 5),
        *(("action must be an integer", session.move, one) for one in (True, 0.0, "0", None)),
        ("seed must be at least 0, got -1", Session, session.task, -1),
        ("must have several players, got 1", partial(Session, together=True), alone, 0),
    ):
        with pytest.raises(InputError, match=message):
            call(*arguments)
    session.move(4)
    with pytest.raises(InputError, match="action must be left, as the game is over, got 0"):
        session.move(0)


BOX = ("ShutTheBox", {"tiles": 2, "dice": 1, "sides": 3})
MATCH = ("FourTwoOneMatch", {"tokens": 1, "faces": 2})
LOWEST = ("LowestScoreMatch", {"dice": 1, "faces": 2, "zero_face": 1, "wins": 1})
STOPPER = ("Greed", {"max_score": 4, "sides": 2, "tie": "stopper", "opponent": "random"})


def test_ends_are_explained():
    for (name, sizes), reason in (
        (BOX, "You left 1 open, opponent 1: a tie."),
        (BOX, "You left 0 open, opponent 2: the lower sum wins."),
        (MATCH, "Your 2 1 1 equals opponent's 2 1 1, which was cast first: you take 1 token."),
        (MATCH, "Opponent's 2 1 1 beats your 2 2 1: you take 1 token."),
        (LOWEST, "Your 2 equals opponent's 2, and the last to be rolled counts: you win"),
        (STOPPER, "Your 4 equals opponent's 4: equal scores are won by the player who stopped."),
    ):
        task = make_task(name, 1, **sizes)
        assert any(random_game(task, seed).reason.startswith(reason) for seed in range(60)), reason


SHUT = ("ShutTheBox", {"tiles": 1, "dice": 1, "sides": 2, "one_die": "never", "objective": "shut"})
TILES = ("ShutTheBox", {"tiles": 4, "sides": 3})
GREED = ("Greed", {"max_score": 20})
TOKENS = ("FourTwoOneMatch", {"tokens": 3})
WINS = ("LowestScoreMatch", {"dice": 2, "players": 3, "wins": 2})


def test_the_last_move_is_drawn_and_told():
    for (name, sizes), seat, seed, row, reason in (
        (SHUT, 0, 2, ("tiles", Tile(1, False, 0)), "You shut the box."),
        (TILES, 0, 0, ("sum left open", Note("0")), "Opponent left 0 open, you 5: the lower sum"),
        (TILES, 1, 3, ("sum left open", Note("3")), "You left 3 open, opponent 5: the lower sum"),
        (GREED, 0, 0, ("you", Gauge(22, 20, "bust")), "Your 22 is above 20: you are bust."),
        (GREED, 0, 4, ("opponent", Gauge(21, 20, "bust")), "Opponent's 21 is above 20: opponent"),
        (GREED, 0, 5, ("opponent", Gauge(18, 20, "bust")), "Your 19 beats opponent's 18."),
        (GREED, 1, 1, ("you", Gauge(13, 20, "bust")), "Opponent's 20 beats your 13."),
        (("FourTwoOne", {"casts": 1}), 0, 1, ("put aside", *map(Die, (4, 3, 2))), "4 3 2 pays 2."),
        (TOKENS, 0, 1, ("you", Tokens(3, 3)), "Opponent's 3 1 1 beats your 5 5 3: you take 2 t"),
        (TOKENS, 1, 1, ("pot", Tokens(0, 3)), "Opponent's 6 6 1 beats your 6 5 2: you take 1 t"),
        (TOKENS, 0, 1, ("you", *map(Die, (5, 5, 3))), "Opponent's 3 1 1 beats your 5 5 3: you"),
        (("LowestScore", {}), 3, 1, ("total", Note("13")), "Your 13 does not beat 7, the lowest"),
        (WINS, 1, 1, ("player 3", Tokens(2, 2)), "Player 1's 6 does not beat player 3's 4: play"),
        (WINS, 1, 1, ("you", Tokens(1, 2)), "Player 1's 6 does not beat player 3's 4: player 3 w"),
    ):
        session = random_game(make_task(name, seat, **sizes), seed)
        assert row in [(one.label, *one.pieces) for one in session.scene.rows]
        assert session.reason.startswith(reason)


def test_a_turn_of_the_person_is_told_in_the_second_person():
    session = Session(make_task("Greed", opponent="random"), 3, [20, 0])
    pieces = [piece for row in session.film[1].rows for piece in row.pieces]
    assert [one.words for one in pieces if isinstance(one, Note)] == ["you have stopped"]


@pytest.mark.parametrize(("name", "sizes"), GAMES)
def test_the_account_of_each_of_several_persons_adds_up(name, sizes):
    task = make_task(name, 0, **sizes)
    movers = set()
    for seed in range(10):
        session = random_game(task, seed, together=task.game.num_players > 1)
        for seat in session.persons:
            account = session.account_of(seat)
            assert account.payoff == session.now.paid[seat]
            assert account.given_away >= 0
            made = [moment for moment in session.moments[:-1] if moment.seat == seat]
            assert len(session.course_of(seat)) == 2 + 2 * len(made)
        movers |= {moment.seat for moment in session.moments[:-1]}
    assert movers == set(session.persons)
    assert shown(session.again(session.seed, session.actions)) == shown(session)


def test_the_result_of_several_persons_names_who_wins():
    task = make_task("Greed", max_score=6)
    said = {random_game(task, seed, together=True).ended for seed in range(40)}
    assert said == {"player 1 wins", "player 2 wins", "player 1 and player 2 share the win"}


def card_of(session):
    pieces = [piece for row in session.scene.rows for piece in row.pieces]
    return {one.name: one.points for one in pieces if isinstance(one, Tile)}


def dice_of(session):
    pieces = [piece for row in session.scene.rows for piece in row.pieces]
    return [one for one in pieces if isinstance(one, Die)]


def test_a_card_has_the_points_of_its_boxes_and_dice_that_are_kept_stay_where_they_lie():
    task = make_task("Yahtzee", boxes="ones,sixes,yahtzee,chance")
    for seed in range(4):
        session, rng, filled = Session(task, seed), np.random.default_rng(seed), {}
        while session.choices:
            dice, card = dice_of(session), card_of(session)
            assert {name: card[name] for name in filled} == filled
            choice = session.choices[rng.integers(len(session.choices))]
            before = session.now.paid[0]
            session.move(choice.action)
            if choice.words.startswith("keep"):
                wanted = sorted(
                    map(int, choice.words.removeprefix("keep ").replace("nothing", "").split())
                )
                stay = [(place, die.face) for place, die in enumerate(dice_of(session)) if die.kept]
                assert sorted(face for _, face in stay) == wanted
                assert all(dice[place].face == face for place, face in stay)
                assert sorted(die.part for die in dice_of(session)) == [*range(5)]
            else:
                name = choice.words.removeprefix("take ").partition(" for ")[0]
                filled[name] = card[name]
                assert session.now.paid[0] - before == card[name]
                assert not any(die.kept for die in dice_of(session)) or session.now.over
        assert len(filled) == 4

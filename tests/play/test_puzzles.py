"""Puzzles of their level with a score that is right; statistics, of which no game is lost."""

import json
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from exactdice.baselines import Task, solve
from exactdice.baselines.advice import Advice, Choice
from exactdice.core import SizeError, WriteError
from exactdice.games import FourTwoOneMatch, Greed, InputError, LowestScore, ShutTheBox, Yahtzee
from exactdice.play import levels, puzzles, statistics
from exactdice.play.puzzles import ANY, LEVELS, Practice, mistakes_of
from exactdice.play.record import GameRecord
from exactdice.play.statistics import figures, keep, kept_game, read_games

GAME = Greed(30)


@pytest.fixture(scope="module")
def found():
    return mistakes_of("if_else", GAME, "Rules of thumb")


def test_levels_are_read_off_the_second_best_move_and_the_number_of_moves():
    for shares, level in (
        ((0.0, 0.15), "easy"),
        ((0.15, 0.0, 0.0, *[0.9] * 5), "easy"),  # moves as good as the best are no alternatives
        ((0.0, *[0.9] * 8), "medium"),  # nine moves
        ((0.0, 0.149), "medium"),
        ((0.0, 0.05, 0.9), "medium"),
        ((0.0, 0.049), "hard"),
        ((0.0, 0.001, *[0.9] * 20), "hard"),
    ):
        moves = [Advice(Choice(n, "", ()), 0.0, one, one) for n, one in enumerate(shares)]
        assert puzzles.level_of(moves) == level


def test_every_puzzle_is_a_mistake_of_its_level_and_is_asked_once(found):
    found = found[::3]
    drawn = {level: list(puzzles.puzzles(found, level, 1)) for level in (*LEVELS, ANY)}
    assert sum(len(drawn[level]) for level in LEVELS) == len(drawn[ANY]) > 10
    known = {(one.task.seat, one.observation) for one in found}
    for level, some in drawn.items():
        for one in some:
            seen = GAME.observe(np.array([one.state]), one.task.seat)[0]
            assert (one.task.seat, tuple(seen.tolist())) in known
            values = solve(one.task).action_values(seen)
            assert [move.value for move in one.advice] == values[np.isfinite(values)].tolist()
            assert level in (puzzles.level_of(one.advice), ANY)
        questions = {tuple((m.choice.action, m.value) for m in one.advice) for one in some}
        assert len(questions) == len(some)


def test_decisions_are_drawn_by_seed_and_in_proportion_to_what_they_cost(found):
    drawn = [islice(puzzles.puzzles(found, ANY, seed), 5) for seed in (1, 1, 2)]
    same = [[one.state for one in some] for some in drawn]
    assert same[0] == same[1] != same[2]
    some = [replace(found[place], cost=cost) for place, cost in enumerate((3, 1))]
    first = [next(puzzles.puzzles(some, ANY, seed)).advice for seed in range(600)]
    state = next(puzzles.puzzles(some[:1], ANY, 0)).advice
    assert first.count(state) / 600 == pytest.approx(3 / 4, abs=0.07)


def test_the_first_answer_counts_and_the_score_is_exact(found):
    practice = Practice(GAME, puzzles.puzzles(found, "easy", 3))
    costs = []
    for number in range(4):
        best, *_ = ranked = sorted(practice.puzzle.advice, key=lambda one: one.cost)
        answer = ranked[number % 2]
        practice.answer(answer.choice.action)
        practice.answer(best.choice.action)
        assert practice.tried == answer.choice.action
        costs.append(answer.cost)
        practice.go_on()
    assert practice.score == f"2 of 4 solved; {25 * sum(costs):.1f} % given away per puzzle."
    with pytest.raises(InputError, match=r"action must be one of .*, got 99"):
        practice.answer(99)
    after = Practice(GAME, iter(()))
    assert after.puzzle is None
    with pytest.raises(InputError, match="action must be left, got 0"):
        after.answer(0)


def test_the_player_who_errs_is_a_rule_of_thumb_or_a_beginner_and_beginners_err_in_turn():
    games = Greed(), LowestScore(), FourTwoOneMatch(), ShutTheBox(), Yahtzee()
    names = [puzzles.sources(game) for game in games]
    assert [first for first, *_ in names] == [
        *("if_else", "only3s", "transfer", "strength:0.25", "optimal")
    ]
    assert len(names[-1]) == 1  # a level would need 723 GB
    assert puzzles.practice_of(GAME, "", "easy", 1).puzzle.words.startswith('"Rules of thumb" ')
    assert {one.task for one in mistakes_of("random", GAME, "")} == {Task(GAME, 0), Task(GAME, 1)}


def test_games_without_levels_have_puzzles_from_games_of_perfect_players(monkeypatch):
    game = Yahtzee(boxes="sixes")
    with monkeypatch.context() as patch:
        patch.setattr(levels, "check_array", check_array_of_nothing)
        asked = puzzles.practice_of(game, "", ANY, 1).puzzle
        again = puzzles.practice_of(game, "", ANY, 1).puzzle
        with pytest.raises(InputError, match="of must be one of optimal and own, got 'strength:"):
            puzzles.practice_of(game, "beginner", ANY, 1)
    assert asked.words == "Perfect players meet this position."
    assert asked.state == again.state
    met = puzzles.decisions_met(GAME, 3)
    assert {one.task.seat for one in met} == {0, 1}
    assert {one.cost for one in met} == {1.0}


def check_array_of_nothing(*_):
    raise SizeError("too large")


RECORD = GameRecord("Greed", {"max_score": 20}, "if_else", 3)


def play(record, place=-1):
    session = record.session()
    while session.choices:
        session.move(session.choices[place].action)
    return session


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv(statistics.VARIABLE, str(tmp_path / "mine"))
    return statistics.path_of_games()


def test_games_are_kept_and_read_as_they_were_and_their_costliest_moves_are_puzzles(path):
    session = play(RECORD, 0)
    game, other = kept_game(session, RECORD), kept_game(play(RECORD, 1), RECORD)
    keep(game, path)
    keep(other, path)
    assert read_games(path) == ([game, other], [])
    assert len(path.read_text().splitlines()) == 2
    assert game.lost == pytest.approx(session.account.given_away)
    assert (game.luck, game.payoff) == (session.account.luck, session.account.payoff)
    assert (game.title, game.rivals) == ("Greed, max_score 20", "Rules of thumb")
    assert game.decisions <= len(session.actions)
    own = puzzles.own_mistakes(session.task.game, [game])
    assert [(one.observation, one.cost) for one in own] == list(game.worst)
    assert puzzles.own_mistakes(GameRecord("Greed").task.game, [game]) == []


def test_figures_are_means_over_all_decisions_and_games():
    games = [kept_game(play(RECORD, place), RECORD) for place in (-1, 1)]
    found = figures(games)
    decisions = sum(one.decisions for one in games)
    assert (found["games"], found["decisions"]) == (2, decisions)
    assert found["lost"] == f"{100 * sum(one.lost for one in games) / decisions:.1f} %"
    shares = [one.lost / one.average for one in games]
    kept = float(found["accuracy"].removesuffix(" %")) / 100
    assert 1 - max(shares) - 0.01 <= kept <= 1 - min(shares)
    assert found["luck"] == f"{50 * (games[0].luck + games[1].luck):+.1f} %"
    ended = {0.0: "lost", 0.5: "tied", 1.0: "won"}
    assert [figures([one])["payoff"] for one in games] == [ended[one.payoff] for one in games]
    assert figures([games[0].model_copy(update={"points": True})])["payoff"].endswith(" points")
    other = kept_game(play(GameRecord("Greed", {"max_score": 9}, None, 1)), GameRecord("Greed"))
    grouped = statistics.by_title([*games, other])
    assert [len(own) for own in grouped.values()] == [1, 2]  # that of the last game first


@pytest.mark.parametrize(
    "line",
    [
        *(b"x", b"[]", b"{}", b"\xff", b'{"kind": "exactdice game"}', b"[" * 100_000),
        *({"lost": "1"}, {"lost": float("nan")}, {"seat": 0.5}, {"when": "today"}, {"worst": [1]}),
    ],
)
def test_a_damaged_line_is_named_and_passed_over(path, line):
    game = kept_game(play(RECORD), RECORD)
    keep(game, path)
    if isinstance(line, dict):  # a field that cannot be
        line = json.dumps({**json.loads(path.read_text()), **line}).encode()
    with path.open("ab") as file:
        file.write(line)  # torn: without an end
    keep(game, path)
    said = f"Line 2 of {path} is damaged and was passed over."
    assert read_games(path) == ([game, game], [said])
    assert line in path.read_bytes()


def test_nothing_is_kept_where_it_is_switched_off_or_cannot_be(tmp_path, monkeypatch):
    game = kept_game(play(RECORD), RECORD)
    monkeypatch.setenv(statistics.VARIABLE, "none")
    assert statistics.path_of_games() is None
    keep(game, None)
    assert read_games(None) == ([], [])
    (tmp_path / "file").touch()
    with pytest.raises(WriteError, match="not in your statistics: .* cannot be written: "):
        keep(game, tmp_path / "file" / "games.jsonl")
    assert (tmp_path / "file").read_bytes() == b""
    with pytest.raises(InputError, match="must be a file that can be read"):
        read_games(tmp_path)

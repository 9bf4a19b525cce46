"""Statistics: every game is kept, none is lost by a damaged line, and the figures are right."""

import json

import pytest
from exactdice.core import WriteError
from exactdice.games import InputError
from exactdice.play.puzzles import own_mistakes
from exactdice.play.record import GameRecord
from exactdice.play.statistics import (
    VARIABLE,
    by_title,
    figures,
    keep,
    kept_game,
    path_of_games,
    read_games,
)

RECORD = GameRecord("Greed", {"max_score": 20}, "if_else", 3)


def play(record, place=-1):
    session = record.session()
    while session.choices:
        session.move(session.choices[place].action)
    return session


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path / "mine"))
    return path_of_games()


def test_games_are_kept_and_read_as_they_were(path):
    session = play(RECORD)
    kept = [kept_game(session, RECORD), kept_game(play(RECORD, 1), RECORD)]
    for one in kept:
        keep(one, path)
    assert read_games(path) == (kept, [])
    assert len(path.read_text().splitlines()) == 2
    account = session.account
    assert kept[0].lost == pytest.approx(account.given_away)
    assert (kept[0].luck, kept[0].payoff) == (account.luck, account.payoff)
    assert kept[0].title == "Greed, max_score 20"
    assert kept[0].rivals == "Rules of thumb"
    assert kept[0].decisions <= len(session.actions)


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
    grouped = by_title([*games, other])
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
    monkeypatch.setenv(VARIABLE, "none")
    assert path_of_games() is None
    keep(game, None)
    assert read_games(None) == ([], [])
    (tmp_path / "file").touch()
    with pytest.raises(WriteError, match="not in your statistics: .* cannot be written: "):
        keep(game, tmp_path / "file" / "games.jsonl")
    assert (tmp_path / "file").read_bytes() == b""
    with pytest.raises(InputError, match="must be a file that can be read"):
        read_games(tmp_path)


def test_puzzles_of_ones_own_games_are_their_costliest_moves():
    session = play(RECORD, 0)
    game = kept_game(session, RECORD)
    found = own_mistakes(session.task.game, [game])
    assert [(one.observation, one.cost) for one in found] == list(game.worst)
    assert own_mistakes(GameRecord("Greed").task.game, [game]) == []

"""The server of the page: all that it answers, and that nonsense is refused politely."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import parse_qsl

import numpy as np
import pytest
from checkout import ROOT
from exactdice.baselines import make_task
from exactdice.core.progress import tell
from exactdice.envs import find_game
from exactdice.games import GAMES
from exactdice.play import open_games
from exactdice.play.record import GameRecord, read_record
from exactdice.play.web import make_app, serve
from hypothesis import given, settings
from hypothesis import strategies as st
from small_games import SMALL
from thinning import at_once, later

TWENTY_ONE = f"{ROOT / 'examples/twenty_one.py'}:TwentyOne"
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
GREED = GameRecord("Greed", {"max_score": 10, "sides": 3}, None, 1)


def client(record=GREED):
    return make_app(record).test_client()


@pytest.fixture
def web():
    return client()


def begin(web, **wish):
    answer = web.post("/api/games", json=wish)
    assert answer.status_code == 200, answer.json
    return answer.json


def small(name):
    return {"game": name, "env": SMALL[name][0], "seed": 3}


def wish_of(game, made=None):
    """Give the request that the link of a game makes, with all moves or the first ones."""
    said = dict(parse_qsl(game["link"]))
    wish = {key: said.pop(key) for key in ("game", "against") if key in said}
    wish |= {key: int(said.pop(key)) for key in ("seat", "seed") if key in said}
    moves = [int(action) for action in said.pop("moves", "").split(".") if action]
    return {**wish, "moves": moves[:made], "env": said}


def move(web, game, action):
    wish = {"action": action, "made": game["made"]}
    answer = web.post(f"/api/games/{game['id']}/moves", json=wish)
    return {**answer.json, "id": game["id"]}


@pytest.mark.parametrize("name", sorted(SMALL))
def test_every_game_is_played_to_an_end_whose_account_adds_up(web, name, tmp_path, monkeypatch):
    game = begin(web, **small(name))
    here, costs, verdicts = f"/api/games/{game['id']}", 0, []
    while game["choices"]:
        assert not game["ended"]
        parts = {str(part) for choice in game["choices"] for part in choice["parts"]}
        assert parts <= set(game["pieces"])
        now = web.get(f"{here}/advice/0").json
        assert [one["action"] for one in now["moves"]] == [one["action"] for one in game["choices"]]
        game = move(web, game, game["choices"][-1]["action"])
        then = web.get(f"{here}/advice/1").json
        verdicts.append({"words": then["verdict"], "grade": then["grade"]})
        assert then["moves"] == now["moves"]
        assert bool(then["verdict"]) == (len(then["moves"]) > 1)
        made = next(one for one in then["moves"] if one["action"] == then["made"])
        assert made["best"] == (made["cost"] == "") == (made["bar"] == 0)
        lost = re.search(r"gives away ([\d.]+) (%|points)\.", then["verdict"])
        costs += round(100 * float(lost[1])) if lost else 0
    assert game["ended"]
    assert web.get(f"{here}/verdicts").json == {"verdicts": verdicts}
    review = web.get(f"{here}/review/0").json
    numbers = (round(100 * float(part["number"])) for part in review["parts"])
    expected, given_away, luck, payoff = numbers
    assert given_away == -costs
    assert expected + given_away + luck == payoff
    assert web.get(f"{here}/advice/0").status_code == 404
    (tmp_path / "file").touch()
    monkeypatch.setenv("EXACTDICE_DATA", str(tmp_path / "file"))
    answer = web.post(f"{here}/keep", json={})
    assert answer.status_code == 507
    assert answer.json["error"].startswith("This game is not in your statistics: ")


def play_some(web, game, moves=3):
    while game["choices"] and game["made"] < moves:
        game = move(web, game, game["choices"][-1]["action"])
    return game


def test_a_position_of_the_past_is_shown_with_its_values_and_played_on_from(web):
    games = [play_some(web, begin(web, **small("ShutTheBox")), n) for n in range(3)]
    here = f"/api/games/{games[2]['id']}"
    for made, game in enumerate(games):
        past = web.get(f"{here}/past/{made}").json
        advice = past.pop("advice")
        assert past == {key: game[key] for key in past}
        again = begin(web, **wish_of(games[2], made))
        assert again["film"] == past["film"]
        assert again["id"] not in [one["id"] for one in games]
        assert (advice is None) == (made == 2)
    assert web.get(f"{here}/past/1").json["advice"] == web.get(f"{here}/advice/1").json


def test_the_review_says_how_exact_the_moves_were_and_which_were_the_costliest(web):
    game = begin(web, game="Greed", env={"max_score": 100}, seed=4)
    for action in (5, 1, 24):
        game = move(web, game, action)
    here = f"/api/games/{game['id']}"
    review = web.get(f"{here}/review/0").json
    costs = []
    for number, one in enumerate(review["steps"]):
        moves = web.get(f"{here}/past/{number}").json["advice"]["moves"]
        costs.append(next(float(m["exact"][1]) for m in moves if m["words"] == one["words"]))
    _, *course, _ = review["course"]
    assert np.subtract(course[::2], course[1::2]) == pytest.approx(costs, abs=1e-4)
    assert review["worst"] == sorted(range(len(costs)), key=lambda n: -costs[n])[:3]
    assert (review["low"], review["high"]) == ("0.0 %", "100.0 %")
    assert re.fullmatch(r"\d+ %", review["accuracy"])
    best = begin(web, **small("Greed"))
    while best["choices"]:
        moves = web.get(f"/api/games/{best['id']}/advice/0").json["moves"]
        best = move(web, best, next(one["action"] for one in moves if one["best"]))
    review = web.get(f"/api/games/{best['id']}/review/0").json
    assert (review["accuracy"], review["worst"]) == ("100 %", [])


@pytest.mark.parametrize("name", sorted(SMALL))
def test_a_link_and_a_file_bring_every_game_to_where_it_was(web, name, tmp_path):
    game = play_some(web, begin(web, **small(name)))
    elsewhere = begin(client(GameRecord("Yahtzee")), **wish_of(game))
    assert game["counts"]
    assert {**elsewhere, "id": 0} == {**game, "id": 0, "coach": False, "counts": False}
    restored = begin(client(), **wish_of(game), counts=True)  # a page knows its lost game
    assert {**restored, "id": 0} == {**game, "id": 0, "coach": False}
    answer = web.get(f"/api/games/{game['id']}/file")
    assert answer.headers["Content-Disposition"] == f'attachment; filename="exactdice-{name}.json"'
    path = tmp_path / "game.json"
    path.write_bytes(answer.data)
    assert read_record(path).session().actions == wish_of(game)["moves"]


def test_the_film_shows_each_move_of_the_others_and_ends_with_the_board(web):
    game = begin(web, game="LowestScore", against="random", seat=2, seed=1)
    assert len(game["film"]) == game["news"] + 1 == len(game["log"]) + 1
    assert {event["who"] for event in game["log"]} == {"player 1", "player 2"}
    for scene in game["film"]:
        assert {name: svg[:4] for name, svg in scene.items()} == {"wide": "<svg", "narrow": "<svg"}
    marked = re.findall(r'<rect[^>]*data-part="(\d+)"', game["film"][-1]["wide"])
    assert sorted(marked) == sorted(game["pieces"])  # no dice of the moves told below the board


def test_two_games_do_not_know_of_each_other_and_the_oldest_goes_first(web, monkeypatch):
    monkeypatch.setattr(open_games, "KEPT", 2)
    one, two = begin(web, **small("Greed")), begin(web, **small("Greed"))
    move(web, one, 1)
    assert web.get(f"/api/games/{two['id']}").json["made"] == 0
    begin(web, **small("Greed"))
    for now, reason in ((web, "only the last"), (client(), "the server has been started again")):
        gone = now.get(f"/api/games/{one['id']}")
        assert gone.status_code == 410
        assert reason in gone.json["error"]


def test_every_tab_begins_with_a_seed_of_its_own_and_holds_the_board_of_its_game():
    web, seeds = client(GameRecord("LowestScore")), set()
    for _ in range(3):
        page = web.get("/").text
        seed = int(re.search(r'data-seed="(\d+)"', page)[1])
        board = re.search(r'<div class="wide">(.*?)</div>', page, re.DOTALL)[1]
        assert board == begin(web, seed=seed)["film"][0]["wide"]
        seeds.add(seed)
    assert len(seeds) == 3
    web = client(GameRecord("Greed", {"seat": 1}, None, 7))  # as --seed 7 asks
    page = web.get("/").text
    assert 'data-seed="7"' in page
    assert "<div class=" not in re.search(r'<div id="board".*', page)[0]  # policies may take long


def test_the_game_of_the_command_line_comes_first_with_its_moves_and_policies():
    env = {"max_score": 10, "sides": 3, "opponent": "if_else"}
    web = client(GameRecord("Greed", env, None, 1, True, (2, 1)))
    game = begin(web)
    assert (game["coach"], game["made"], game["seed"]) == (True, 2, 1)
    offered = web.get("/api/setup").json
    greed = next(one for one in offered["games"] if one["name"] == offered["first"])
    assert greed["against"] == "if_else"
    titles = [one["title"] for one in greed["opponents"]]
    assert titles[:4] == ["Beginner", "Club", "Strong", "Perfect"]
    assert titles[-2:] == ["Random", "Another person"]
    assert {one["name"]: one["given"] for one in greed["keywords"]}["max_score"] == 10
    assert {one["name"] for one in offered["games"]} == set(GAMES)


@pytest.mark.parametrize("name", at_once("Greed".__eq__, GAMES))
def test_every_option_of_a_keyword_makes_a_game(web, name):
    (game,) = (one for one in web.get("/api/setup").json["games"] if one["name"] == name)
    few = {"tokens": 2, "faces": 3} if name == "FourTwoOneMatch" else {}
    assert game["keywords"]
    for one in game["keywords"]:
        assert one["about"].endswith("."), one
        values = [value for value, _ in one["options"]]
        assert not values or one["default"] in values
        for value in values:
            make_task(name, **few, **{one["name"]: value})


def test_a_game_of_ones_own_is_played_too(own_games):
    own_games(TWENTY_ONE)
    web = client(GameRecord(TWENTY_ONE, {}, None, 5))
    game = begin(web)
    assert game["choices"]
    again = begin(web, game=find_game(TWENTY_ONE).name, seed=5)
    assert again["film"] == game["film"]
    assert "twenty_one.py" in again["command"]


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ({"game": "Chess"}, "game must be one of Greed"),
        ({"game": TWENTY_ONE}, "game must be one of Greed"),
        ({"seat": 1}, "game must be one of Greed"),
        ({"game": "Greed", "against": "/etc/passwd"}, "against must be the name of a policy"),
        ({"game": "Greed", "env": {"opponent": "x.zip"}}, "env must be without seat and opponent"),
        ({"game": "Greed", "env": {"max_score": [1]}}, "env max_score must be a number, a word"),
        *(({"game": "Greed", "env": {"max_score": n}}, "must be lower") for n in (10**7, "9" * 25)),
        ({"game": "Greed", "env": {"pips": 2}}, "unexpected keyword argument 'pips'"),
        ({"game": "Greed", "seat": 2}, "seat must be from 0 to 1, got 2"),
        ({"game": "Greed", "seat": True}, "seat must be a whole number"),
        ({"game": "Greed", "seed": -1}, "seed must be"),
        ({"game": "Greed", "seed": 2**40}, "seed must be below 4294967296, got"),
        ({"game": "Greed", "seed": "x"}, "seed must be a whole number, got 'x'"),
        ({"game": ["Greed"]}, "game must be a text, got"),
        ({"game": "Greed", "moves": "12"}, "moves must be a list"),
        ({"game": "Greed", "moves": [1, "2"]}, "moves must be a whole number, got '2'"),
        ({"game": "Greed", "moves": [99]}, "a saved game must have legal moves"),
        ({"colour": 1}, "options of a game must be among game, against, watch, seat, seed, env,"),
        ({"of": []}, "of must be a text"),
        ({"of": "/etc/passwd"}, "of must be one of "),
        ({"level": "x"}, "level must be one of easy, medium, hard, any, got 'x'"),
        ({"of": "own", "game": "Chess"}, "game must be one of"),
        ({"of": "own", "env": [1]}, "env must be a mapping from names"),
        ({"of": "own", "env": {"max_score": 1.5}}, "env max_score must be a number, a word"),
    ],
)
def test_what_cannot_be_played_is_refused_in_a_line(wish, said):
    kind = "puzzles" if {"of", "level"} & wish.keys() else "games"
    answer = client().post(f"/api/{kind}", json=wish)
    assert answer.status_code == 400
    assert said in answer.json["error"]
    assert "\n" not in answer.json["error"]


def test_requests_that_are_none_of_ours_are_refused_with_a_message(web):
    game = begin(web)
    here, asked = f"/api/games/{game['id']}", "/api/games"
    kind = {"content_type": "application/json"}
    answers = {
        web.get("/api/nowhere"): 404,
        web.get(asked): 405,
        web.get("/api/games/x"): 410,
        web.post("/api/games/x/moves", json={"action": 1, "made": 0}): 410,
        web.post(asked, data="{}"): 415,
        web.post(asked, data="{", **kind): 400,
        web.post(asked, data=b"\xff", **kind): 400,
        web.post(asked, data="[]", **kind): 400,
        web.post(asked, data="[" * 9000, **kind): 400,
        web.post(asked, data=" " * 100_000, **kind): 413,
        web.post(f"{here}/moves", json={"action": 99, "made": 0}): 400,
        web.post(f"{here}/moves", json={"action": True, "made": 0}): 400,
        web.post(f"{here}/moves", json={"action": 1}): 400,
        web.post(f"{here}/moves", json={"action": 1, "made": 7}): 409,
        web.post(f"{here}/undo", json={}): 400,
        web.post(f"{here}/undo"): 415,
        web.get(f"{here}/advice/{10**30}"): 404,
        web.get(f"{here}/advice/-1"): 404,
        web.get(f"{here}/past/1"): 404,
        web.get("/api/games/x/review/0"): 410,
        web.get("/api/games/x/file"): 410,
    }
    for answer, code in answers.items():
        assert answer.status_code == code, answer.json
        assert answer.json["error"]
    assert web.get(here).json["made"] == 0
    for nowhere in ("/nowhere", "/page/web.py", "/page/..%2fweb.py"):  # a person's typing
        answer = web.get(nowhere)
        assert answer.status_code == 404
        assert '<a href="/">Play</a>' in answer.text


NONSENSE = given(
    wish=JSON_VALUES, name=st.sampled_from(sorted(SMALL)), value=JSON_VALUES, data=st.data()
)


@settings(max_examples=5)
@NONSENSE
def test_no_nonsense_is_an_error_of_ours(wish, name, value, data):
    require_an_answer_to(wish, name, value, data)


@pytest.mark.slow
@settings(max_examples=40)
@NONSENSE
def test_no_more_nonsense_is_an_error_of_ours(wish, name, value, data):
    require_an_answer_to(wish, name, value, data)


def require_an_answer_to(wish, name, value, data):
    web = client()
    keyword = data.draw(st.sampled_from(list(make_task(name).game.keywords)))
    key = data.draw(st.sampled_from(["game", "against", "seat", "seed", "env", "watch", "x"]))
    wishes = [wish, {"game": name, "env": {**SMALL[name][0], keyword: value}}]
    wishes.append({**small(name), key: value})
    for asked in wishes:
        body = json.dumps(asked)
        answer = web.post("/api/games", data=body, content_type="application/json")
        assert answer.status_code in (200, 400)
    game = begin(web)
    for path in ("moves", "undo"):
        answer = web.post(f"/api/games/{game['id']}/{path}", json={"action": value, "made": wish})
        assert answer.status_code in (200, 400, 409)


def test_answers_are_for_our_own_name_alone_and_have_their_types(web):
    for host in ("evil.example", "evil.example:8421", "127.0.0.1.evil.example:80", "[::1]:80"):
        assert web.get("/api/setup", headers={"Host": host}).status_code == 403
    assert web.get("/api/setup", headers={"Origin": "http://evil.example"}).status_code == 403
    for host in ("127.0.0.1:8421", "localhost:8421", "localhost"):
        answer = web.get("/api/setup", headers={"Host": host})
        assert answer.status_code == 200
    assert "Access-Control-Allow-Origin" not in answer.headers
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'self'")
    kinds = {"": "text/html", "page/play.js": "text/javascript", "page/play.css": "text/css"}
    for name, kind in kinds.items():
        with web.get(f"/{name}") as answer:
            assert answer.mimetype == kind  # on every system


def test_other_devices_need_the_token_of_the_link():
    away = {"Host": "192.168.1.7:8421"}
    assert client().get("/", headers=away).status_code == 403  # a server for this machine alone
    web = make_app(GREED, None, "secret").test_client()
    for place in ("/", "/puzzles", "/page/play.js", "/api/setup", "/join/other/", "/join/other/x"):
        for name in ("localhost", "127.0.0.1:8421", "192.168.1.7:8421", "evil.example"):
            answer = web.get(place, headers={"Host": name})
            assert (answer.status_code, "Set-Cookie" in answer.headers) == (403, False), place
    assert web.post("/api/games", json={}, headers=away).status_code == 403
    assert "Open this page by the whole link" in web.get("/", headers=away).text  # and no JSON
    web.set_cookie("exactdice", "other", domain="192.168.1.7")
    assert web.get("/", headers=away).status_code == 403
    for page, after in (("", "/"), ("puzzles", "/puzzles"), ("evil.example", "/")):
        answer = web.get(f"/join/secret/{page}", headers=away)
        assert (answer.status_code, answer.headers["Location"]) == (302, after)
    assert "HttpOnly; Path=/; SameSite=Strict" in answer.headers["Set-Cookie"]
    assert web.get("/", headers=away).status_code == 200
    assert web.post("/api/games", json={}, headers=away).status_code == 200
    origin = {"Origin": "http://evil.example"}
    assert web.get("/", headers={**away, **origin}).status_code == 403
    web.set_cookie("exactdice", "secret", domain="evil.example")  # only numbers cannot lead here
    assert web.get("/", headers={"Host": "evil.example"}).status_code == 403


def test_a_port_that_is_taken_is_named():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ValueError, match=f"port must be one that is free, got {port}"):
            serve(GREED, port)
    for host, words in (("here", "an IPv4 address"), ("203.0.113.9", "an address of this machine")):
        with pytest.raises(ValueError, match=f"host must be {words}.*, got {host}"):
            serve(GREED, port, host=host)


@pytest.mark.posix
@pytest.mark.parametrize("host", [later("127.0.0.1"), "0.0.0.0"])
def test_the_command_serves_this_machine_or_who_has_the_link_until_ctrl_c(host):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [Path(sys.executable).with_name("exactdice"), "play", "Greed", "--web", "--seed", "1"]
    pipes = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    quiet = {**os.environ, "BROWSER": "true", "PYTHONIOENCODING": "utf-8"}
    command += ["--port", str(port), "--host", host]
    process = subprocess.Popen(command, text=True, env=quiet, encoding="utf-8", **pipes)
    link = re.search(rf"http://[\d.]+:{port}/\S*", process.stdout.readline())[0]
    assert ("/join/" in link) == (host == "0.0.0.0")
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    with opener.open(link, timeout=10) as page:
        assert b"exactdice" in page.read()
    if host == "0.0.0.0":
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=10)
    process.send_signal(signal.SIGINT)
    with process:  # communicate() would lose what readline() has read ahead
        out, err = process.stdout.read(), process.stderr.read()
    assert (process.returncode, err) == (0, "")
    assert ("\N{FULL BLOCK}" in out and "Whoever has the link" in out) == (host == "0.0.0.0")


def test_without_flask_the_extra_is_named(refusal, monkeypatch):
    monkeypatch.setitem(sys.modules, "flask", None)
    monkeypatch.delitem(sys.modules, "exactdice.play.web")
    assert "pip install 'exactdice[web]'" in refusal("play", "Greed", "--web")


def test_games_whose_default_sizes_are_above_the_limits_are_left_out(monkeypatch):
    monkeypatch.setenv("EXACTDICE_LIMIT", "0.0005")
    known = client(GameRecord("ShutTheBox", {"tiles": 4})).get("/api/setup").json
    assert {game["name"] for game in known["games"]} < set(GAMES)
    assert known["first"] == "ShutTheBox" in [game["name"] for game in known["games"]]


def test_the_page_is_told_how_far_a_long_computation_is(monkeypatch):
    web, asked = client(), []

    def slow(*_):
        tell(1, 3, "turns")
        asked.append(web.get("/api/progress").json)
        return {}

    monkeypatch.setattr("exactdice.play.web.advice_view", slow)
    name = begin(web)["id"]
    assert web.get(f"/api/games/{name}/advice/0").status_code == 200
    assert asked == [{"percent": 33}]
    assert web.get("/api/progress").json == {"percent": None}


def test_puzzles_are_of_the_game_of_the_command_line_and_go_on_once_answered(web):
    one = web.post("/api/puzzles", json={"level": "any", "seed": 1}).json
    here = f"/api/puzzles/{one['id']}"
    assert one["advice"] is None
    assert web.post(f"{here}/next", json={"answered": 0}).json["choices"] == one["choices"]
    assert web.post(f"{here}/answer", json={"action": 99}).status_code == 400
    told = web.post(f"{here}/answer", json={"action": one["choices"][0]["action"]}).json
    assert told["answered"] == 1
    assert told["advice"]["verdict"]
    then = web.post(f"{here}/next", json={"answered": 1}).json
    assert then["advice"] is None
    assert web.post(f"{here}/next", json={"answered": 1}).json == then  # a second click
    assert web.post("/api/puzzles/x/next", json={"answered": 0}).status_code == 410
    assert web.get("/api/statistics").json["damaged"] == []


def test_only_the_command_line_names_the_file_of_an_agent_and_only_agents_step(web, tmp_path):
    for wish in ({"game": "Greed", "watch": str(tmp_path)}, {"watch": 1}):
        assert web.post("/api/games", json=wish).status_code == 400
    game = begin(web, game="Greed", env={"max_score": 10})
    here = f"/api/games/{game['id']}"
    assert web.post(f"{here}/moves", json={"made": 0}).status_code == 400
    assert web.get(f"{here}/review/1").status_code == 404
    watched = begin(web, game="Greed", env={"max_score": 10}, watch="random", seed=2)
    here = f"/api/games/{watched['id']}"
    moves = web.get(f"{here}/advice/0").json["moves"]
    assert sum(one["law"] for one in moves) == pytest.approx(1)
    assert web.post(f"{here}/moves", json={"made": 0}).json["made"] == 1
    assert web.post(f"{here}/moves", json={"made": 0}).status_code == 409
    assert watched["command"].endswith(" --watch random")

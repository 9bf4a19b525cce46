"""The server of the page: what it says of a game, and what it refuses."""

import json
import socket
import subprocess
import sys

import pytest
from exactdice.games import GAMES, InputError
from exactdice.play.record import Record
from exactdice.play.web import LARGEST_REQUEST, MOST_GAMES, Tables, make_app, serve

PORT = 8421
HOST = f"127.0.0.1:{PORT}"


@pytest.fixture(scope="module")
def client():
    app = make_app(Record("Greed", {"max_score": 10, "sides": 3}, None, 1), PORT)
    return app.test_client()


def get(client, path, **headers):
    return client.get(path, headers={"Host": HOST, **headers})


def post(client, path, content, **headers):
    return client.post(path, json=content, headers={"Host": HOST, **headers})


def begin(client, **content):
    reply = post(client, "/game", content)
    assert reply.status_code == 200, reply.json
    return reply.json


@pytest.mark.parametrize("name", sorted(GAMES))
def test_a_game_is_played_to_its_end_by_the_choices_that_are_offered(client, name):
    said = (
        begin(client, game=name, against="random", seed=3)
        if name != "FourTwoOne"
        else begin(client, game=name, options="utility set", seed=3)
    )
    place, moves = f"/game/{said['id']}", 0
    while not said["over"]:
        assert said["choices"]
        assert {part for one in said["choices"] for part in one["parts"]} <= set(
            map(int, said["labels"])
        )
        made = {"action": said["choices"][0]["action"], "moves": moves}
        reply = post(client, f"{place}/move", made)
        assert reply.status_code == 200, reply.json
        said, moves = reply.json, moves + 1
        assert said["moves"] == moves
        assert said["board"].startswith("<svg")
    assert said["choices"] == []
    assert said["ending"].endswith(".")
    assert get(client, place).json == said
    assert post(client, f"{place}/move", {"action": 0, "moves": moves}).status_code == 400
    assert post(client, f"{place}/move", made).status_code == 409
    assert get(client, f"{place}/advice").status_code == 400


def test_the_coach_judges_each_move_and_the_account_adds_up(client):
    said = begin(client, coach=True, seed=5)
    while not said["over"]:
        advice = get(client, f"/game/{said['id']}/advice").json
        offered = {one["action"] for one in said["choices"]}
        assert {one["action"] for one in advice["moves"]} == offered
        assert advice["moves"][0]["cost"] == "the best"
        action = advice["moves"][-1]["action"]
        made = {"action": action, "moves": said["moves"]}
        said = post(client, f"/game/{said['id']}/move", made).json
        assert [one["action"] for one in said["worth"]["moves"] if one["made"]] == [action]
        assert "worth " in said["worth"]["said"]
    *terms, payoff = (bar["number"] for bar in said["account"]["bars"])
    assert sum(terms) == pytest.approx(payoff, abs=1e-12)


def test_the_coach_comes_and_goes(client):
    said = begin(client, seed=5)
    made = {"action": said["choices"][1]["action"], "moves": 0}
    move = post(client, f"/game/{said['id']}/move", made).json
    assert "worth" not in move
    assert "worth" in post(client, f"/game/{said['id']}/coach", {"coach": True}).json
    assert "worth" not in post(client, f"/game/{said['id']}/coach", {"coach": False}).json


def test_two_games_are_two_and_a_move_taken_back_has_the_same_dice(client):
    one, other = (begin(client, seed=9, game="ShutTheBox") for _ in range(2))
    assert one["id"] != other["id"]
    action = {"action": one["choices"][0]["action"], "moves": 0}
    moved = post(client, f"/game/{one['id']}/move", action).json
    assert get(client, f"/game/{other['id']}").json["moves"] == 0
    back = post(client, f"/game/{one['id']}/undo", {}).json
    assert (back["moves"], back["board"]) == (0, one["board"])
    assert post(client, f"/game/{one['id']}/move", action).json == moved


def test_a_seed_and_a_command_begin_the_same_game(client):
    said = begin(client, game="LowestScore", seat=1, against="only3s", seed=8, options="players 3")
    assert said["command"] == (
        "exactdice play LowestScore --env players 3 seat 1 --against only3s --seed 8"
    )
    assert said["faced"] == "LowestScore, players 3, seat 1, against only3s in seats 0 and 2"


def test_a_page_that_asks_for_nothing_gets_the_game_of_the_command_line(client):
    assert "max_score 10" in begin(client)["faced"]
    offered = get(client, "/games").json["games"]
    assert [one["game"] for one in offered] == ["Greed", *(g for g in GAMES if g != "Greed")]
    for one in offered:
        if one["policies"]:
            assert {"optimal", "random"} <= set(one["policies"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"game": "Chess"}, "game must be one of Greed, "),
        ({"game": "/etc/passwd:Game"}, "game must be one of Greed, "),
        ({"game": 7}, "game must be of type str, got 7"),
        ({"seat": 5}, "seat must be from 0 to 1, got 5"),
        ({"seed": -1}, "seed must be at least 0, got -1"),
        ({"seed": 10**400}, "seed must be from 0 to"),
        ({"seed": 1.5}, "seed must be of type int"),
        ({"coach": "yes"}, "coach must be of type bool"),
        ({"options": "max_score"}, "options must be names and values in turn"),
        ({"options": "max_score many"}, "max_score must be an integer"),
        ({"options": "colour red"}, "Greed takes the keywords"),
        ({"options": "max_score 999999999"}, "max_score"),
        ({"against": "/etc/passwd"}, "against must be a policy of Greed"),
        ({"against": "notebook"}, "against must be a policy of Greed"),
        ({"opponent": "random"}, "request must have of game, options"),
        ([1, 2], "request must be an object of JSON"),
    ],
)
def test_nonsense_is_refused_by_name(client, content, message):
    reply = post(client, "/game", content)
    assert 400 <= reply.status_code < 500
    assert reply.json["error"].startswith(message) or message in reply.json["error"]


@pytest.mark.parametrize("step", ["move", "undo", "coach"])
@pytest.mark.parametrize(
    "body", ["", "null", "{", "[]", '"x"', "[" * 9000, "\x00", '{"action": "0"}']
)
def test_what_is_no_request_is_refused(client, step, body):
    said = begin(client)
    reply = client.post(
        f"/game/{said['id']}/{step}",
        data=body,
        headers={"Host": HOST, "Content-Type": "application/json"},
    )
    assert 400 <= reply.status_code < 500
    assert reply.json["error"]
    assert get(client, f"/game/{said['id']}").json["moves"] == 0


@pytest.mark.parametrize("action", [-1, 99, 10**30, True, None, 0.0, "0", [0], {}])
def test_a_move_that_is_none_is_refused(client, action):
    said = begin(client)
    reply = post(client, f"/game/{said['id']}/move", {"action": action, "moves": 0})
    assert reply.status_code == 400
    assert reply.json["error"].startswith("action must be")


def test_strangers_and_their_pages_are_refused(client):
    said = begin(client)
    place = f"/game/{said['id']}"
    assert get(client, place, Host="evil.example").status_code == 403
    assert post(client, f"{place}/undo", {}, Origin="http://evil.example").status_code == 403
    assert post(client, "/game", {}, Origin=f"http://{HOST}").status_code == 200
    form = client.post("/game", data={"game": "Greed"}, headers={"Host": HOST})
    assert form.status_code == 415
    large = post(client, "/game", {"options": "x" * LARGEST_REQUEST})
    assert large.status_code == 413
    assert get(client, "/game/none").status_code == 404
    assert get(client, "/../pyproject.toml").status_code == 404
    assert client.delete("/game", headers={"Host": HOST}).status_code == 405
    assert all("error" in reply.json for reply in (form, large, get(client, "/game/none")))


def test_the_page_is_of_this_server_alone(client):
    for name in ("", "page.js", "page.css", "icon.svg"):
        with get(client, f"/{name}") as page:
            assert page.headers["Content-Security-Policy"].startswith("default-src 'self'")
            text = page.text.replace("http://www.w3.org/2000/svg", "")
        assert text
        assert "http:" not in text
        assert "https:" not in text


def test_the_oldest_games_are_forgotten():
    tables = Tables(Record("Greed", {"max_score": 2, "sides": 2}, None, 1))
    names = [tables.begin({})["id"] for _ in range(MOST_GAMES + 1)]
    assert names[0] not in tables._tables
    assert len(tables._tables) == MOST_GAMES


def test_a_port_that_is_taken_is_named():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"port must be a free one, got {port}: choose it by"):
            serve(Record("Greed", {"max_score": 5}, None, 1), port, browse=False)


@pytest.mark.posix
def test_the_command_serves_until_ctrl_c():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["play", "Greed", "--web", "--port", str(port), "--env", "max_score", "5"]
    code = "import sys, webbrowser; webbrowser.open = print; import exactdice.cli; "
    code += "exactdice.cli.main(sys.argv[1:])"
    server = subprocess.Popen(
        [sys.executable, "-c", code, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout.readline() == f"Play at http://127.0.0.1:{port}/, until Ctrl-C.\n"
        with socket.create_connection(("127.0.0.1", port), timeout=10) as line:
            line.sendall(f"GET /games HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
            reply = b"".join(iter(lambda: line.recv(65536), b""))
        assert json.loads(reply.split(b"\r\n\r\n", 1)[1])["games"]
    finally:
        server.send_signal(2)
        _, said = server.communicate(timeout=20)
    assert (server.returncode, said) == (0, "")

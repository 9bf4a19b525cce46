"""Games in the terminal and through a pipe: whole, saved, judged, and told in plain text."""

import errno
import io
import json
import re
import shlex
import signal
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from checkout import ROOT
from exactdice.agents.runs.config import TrainConfig
from exactdice.agents.runs.train import train
from exactdice.play.coach import steps, unit_of
from exactdice.play.record import GameRecord, read_record
from exactdice.play.session import Session
from exactdice.play.terminal import play
from exactdice.play.text import Screen, labels, rules, understand
from small_games import SMALL
from thinning import at_once, every_third

COMMAND = [str(Path(sys.executable).with_name("exactdice")), "play"]
NUMBER = r"-?\d+\.\d{1,2}"
SIGN = "(?:%|points)"  # after a number
GIVEN = (
    rf": gives away (less than {NUMBER}|{NUMBER}) {SIGN}\. "
    rf"Best: [^()]+ \(({NUMBER}) {SIGN} instead of ({NUMBER}) {SIGN}\)"
)
ACCOUNT = (
    rf"({NUMBER}) {SIGN} expected at the start - ({NUMBER}) {SIGN} given away ([+-]) "
    rf"({NUMBER}) {SIGN} ((?:bad )?luck) = ({NUMBER}) {SIGN}"
)
LARGE = "FourTwoOneMatch", "LowestScoreMatch", "Yahtzee"
PIG = f"{ROOT / 'examples/pig.py'}:Pig"
DEFAULTS = at_once(lambda name: name not in LARGE, [*sorted(SMALL), PIG])


@pytest.fixture
def run(run, monkeypatch):
    """Call ``exactdice play`` in an empty folder with an input: (exit code, output, errors)."""

    def call(replies, *arguments):
        monkeypatch.setattr("sys.stdin", io.StringIO(replies))
        return run("play", *arguments)

    return call


def words(size):
    return [str(word) for pair in size.items() for word in pair]


def replies_of(record):
    """Give the replies of a game of legal moves, by numbers or letters of the list or by pieces."""
    rng = np.random.default_rng(record.seed)
    session, replies = Session(record.task, record.seed), []
    while session.choices:
        choices, on = session.choices, session.scene.signs
        number = int(rng.integers(len(choices)))
        pieces = " ".join(str(on[part]) for part in choices[number].parts)
        by_pieces = pieces and rng.random() < 0.5
        replies.append(pieces if by_pieces else labels(choices)[number])
        session.move(understand(replies[-1], choices, on).action)
    return replies, session


def lines_of(*replies):
    return "".join(f"{reply}\n" for reply in replies)


@pytest.mark.parametrize("name", every_third(sorted(SMALL), 0))
def test_a_game_is_played_to_its_end_and_its_account_adds_up_as_printed(prints, name):
    for seed, size in enumerate(SMALL[name] * 2):
        replies, session = replies_of(GameRecord(name, size, seed=seed))
        options = [name, "--env", *words(size), "--seed", seed, "--coach"]
        said = prints(lines_of(*replies, "n"), *options)
        assert said.isascii() or set(re.findall(r"[^\x00-\x7f]", said)) <= set("┌┐└┘─│╔╗╚╝═║█░●·")
        assert "\x1b" not in said
        text = " ".join(said.split())
        judged = re.findall(r"coach: (Best|Good|Inaccuracy|Mistake|Blunder|All moves)", text)
        assert len(judged) == sum(bool(one.verdict) for one in steps(session))
        given = []
        for lost, best, value in re.findall(GIVEN, text):
            given.append(Decimal(0 if lost.startswith("less") else lost))
            assert Decimal(best) - Decimal(value) == given[-1]
        expected, lost, sign, luck, kind, payoff = re.search(ACCOUNT, text).groups()
        assert kind == {"+": "luck", "-": "bad luck"}[sign]
        total = Decimal(expected) - Decimal(lost) + Decimal(f"{sign}{luck}")
        unit = unit_of(session.task.game)
        assert total == Decimal(payoff) == unit.rounded(session.payoff)
        assert Decimal(lost) == sum(given)
        exact = pytest.approx(unit.factor * session.account.expected, abs=float(unit.digits))
        assert float(expected) == exact
        assert not list(Path().iterdir())  # nothing to save


def test_a_reply_that_is_no_move_shows_the_dice_again(prints):
    said = prints(lines_of("9", "q"), "LowestScore", "--seed", 3)
    first, again = said.split("There is no move 9")
    assert first.count("rolled  ") == again.count("rolled  ") == 1


def test_the_puzzle_of_the_day_is_the_same_all_day(prints):
    asked = {
        prints(lines_of("q"), "Greed", "--env", "max_score", 30, "--puzzles", "day", "--seed", n)
        for n in range(2)
    }
    assert len(asked) == 1


@pytest.mark.usefixtures("own_games")
@pytest.mark.parametrize("name", DEFAULTS)
def test_a_game_of_default_size_fits_into_80_columns(prints, name):
    env = {"target": 20} if name == PIG else {}
    replies, _ = replies_of(GameRecord(name, env, seed=3))
    said = prints(lines_of(*replies, "n"), name, "--seed", 3, "--env", *words(env))
    boards = [line for line in said.splitlines() if "exactdice play" not in line]
    assert max(map(len, boards)) <= 80
    assert said.count("your move") == len(replies)


def test_a_pipe_that_knows_ascii_only_gets_ascii(tmp_path):
    command, replies = [*COMMAND, "ShutTheBox", "--seed", "1"], "½ 日本\n7\n".encode() + b"\xff\n"
    ascii_only = {"PYTHONIOENCODING": "ascii", "PATH": ""}
    options = {"capture_output": True, "cwd": tmp_path, "env": ascii_only}
    result = subprocess.run(command, input=replies, **options)
    assert (result.returncode, result.stderr) == (0, b"")
    assert result.stdout.isascii()
    assert b"| 2 |" in result.stdout


@pytest.mark.parametrize("name", every_third(sorted(SMALL), 1))
def test_who_asks_for_help_or_quits_and_comes_back_plays_the_same_game(run, prints, name):
    size = SMALL[name][0]
    games = (replies_of(GameRecord(name, size, seed=seed)) for seed in range(99))
    replies, session = next(game for game in games if len(game[0]) > 1)
    options = [name, "--env", *words(size), "--seed", session.seed, "--coach"]
    told = " ".join(prints(lines_of("?", "h"), *options).split())
    for words_of_help in (rules(session.task.game), unit_of(session.task.game).meaning, "the best"):
        assert words_of_help in told
    whole = run(lines_of(*replies), *options)[1]
    for leave in ("q\n", ""):  # the end of the input leaves too
        said = prints(lines_of(replies[0]) + leave, *options)
        back = shlex.split(said.strip().splitlines()[-1])
        assert back[:3] == ["exactdice", "play", "--resume"]
        assert read_record(Path(back[3])).actions == tuple(session.actions[:1])
        said = prints(lines_of(*replies[1:]), *back[2:])
        assert said.split("\n\n")[-1] == whole.split("\n\n")[-1]


def test_a_move_taken_back_is_forgotten(run, prints):
    options = ["Greed", "--seed", 1, "--coach"]
    straight = run(lines_of("20", "3", "0"), *options)[1]
    said = prints(lines_of("u", "29", "u", "20", "4", "undo", "3", "0"), *options)
    assert "no move to take back" in said
    assert said.split("\n\n")[-1] == straight.split("\n\n")[-1]


def test_after_the_end_there_are_other_games_and_the_same(prints):
    """The last seed, after which the first one comes."""
    last = 2**32 - 1
    replies = lines_of("29", "0", "x", "s", "29", "0", "y", "29", "0", "u")
    said = prints(replies, "Greed", "--seed", last)
    assert "Type y, s, u or n." in said
    assert re.findall(r"A new game, seed (\d+)", said) == [str(last), "0"]
    assert said.count(f"The seed was {last}: exactdice play Greed --seed {last}\n") == 2
    assert "The seed was 0: exactdice play Greed --seed 0\n" in said
    record = read_record(Path("exactdice-Greed.json"))
    assert (record.seed, record.actions) == (0, (29,))


def test_a_seed_is_drawn_and_printed(run):
    first, second = (run("", "Greed")[1] for _ in range(2))
    assert first != second
    assert run("", "Greed", "--seed", re.match(r"Greed, seed (\d+)\n", first)[1])[1] == first


def test_ctrl_c_saves(tmp_path):
    command = [*COMMAND, "Greed", "--seed", "1"]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(command, cwd=tmp_path, text=True, **pipes) as running:
        running.stdin.write("20\n")
        running.stdin.flush()
        while not (line := running.stdout.readline()).startswith("You roll"):
            assert line
        running.send_signal(signal.SIGINT)
        said, complaint = running.communicate()
    assert (running.returncode, complaint) == (130, "")
    assert "exactdice play --resume exactdice-Greed.json" in said
    assert read_record(tmp_path / "exactdice-Greed.json").actions == (20,)


def test_nothing_that_was_saved_is_lost(run, refusal):
    run(lines_of("20"), "Greed", "--seed", 1)
    run(lines_of("21"), "Greed", "--seed", 1)
    saved = {path.name: path.read_bytes() for path in Path().iterdir()}
    assert sorted(saved) == ["exactdice-Greed-2.json", "exactdice-Greed.json"]
    said = refusal("", "Greed", "--save", "exactdice-Greed.json")
    assert said == "save must be a file that does not exist, got exactdice-Greed.json"
    assert {path.name: path.read_bytes() for path in Path().iterdir()} == saved
    run(lines_of("1"), "--resume", "exactdice-Greed.json")
    assert read_record(Path("exactdice-Greed.json")).actions == (20, 1)
    run(lines_of("u"), "--resume", "exactdice-Greed.json", "--save", "mine.json")
    assert read_record(Path("mine.json")).actions == (20,)


def test_saving_needs_nothing_but_the_record_and_keeps_places_from_anywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("gone").mkdir()  # what was in it is not needed
    GameRecord("LowestScore", against="random,gone,notebook").write(Path("mine.json"))
    saved = json.loads(Path("mine.json").read_text())
    assert saved["against"] == f"random,{(tmp_path / 'gone').resolve()},notebook"
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["mine.json"]


def test_a_file_that_cannot_be_written_is_refused_before_the_first_move(refusal):
    Path("file").touch()
    for where, message in (
        ("/proc/mine.json", "/proc/mine.json cannot "),
        ("n" * 300, f"{'n' * 200}... cannot "),
        ("file/mine.json", "save must be "),
        ("none/mine.json", "save must be in a folder that exists, got none/mine.json"),
    ):
        said = refusal(lines_of("20", "q"), "Greed", "--seed", 1, "--save", where)
        assert said.startswith(message)
        assert [path.name for path in Path().iterdir()] == ["file"]


@pytest.mark.parametrize(
    ("replies", "stays"), [(["0", "n"], False), (["q"], False), (["20", "q"], True)]
)
def test_a_game_is_saved_from_its_start_to_its_end(tmp_path, monkeypatch, replies, stays):
    monkeypatch.chdir(tmp_path)
    kept, left = [], iter(replies)

    def ask(*_):
        kept.append(read_record(Path("mine.json")).actions)
        return next(left)

    monkeypatch.setattr(Screen, "ask", ask)
    play(GameRecord("Greed", {"seat": 1}, "random", 1), Path("mine.json"))
    assert kept[0] == ()
    assert Path("mine.json").exists() is stays


def test_who_resumes_what_cannot_be_written_keeps_it_and_is_told(refusal, monkeypatch):
    GameRecord("Greed", seed=1, actions=(20,)).write(Path("mine.json"))
    before = Path("mine.json").read_bytes()
    error = OSError(errno.EROFS, "Read-only file system")
    monkeypatch.setattr(Path, "replace", Mock(side_effect=error))
    said = refusal(lines_of("0"), "--resume", "mine.json")
    assert "mine.json cannot be written: read-only file system; name another by" in said
    assert [(path.name, path.read_bytes()) for path in Path().iterdir()] == [("mine.json", before)]


def test_who_cannot_save_goes_on_playing(run, prints, monkeypatch):
    error = OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr(GameRecord, "write", Mock(side_effect=error))
    said = prints(lines_of("20", "q", "0"), "Greed", "--seed", 1)
    assert "Not saved: No space left on device." in said
    assert "You lose." in said
    code, said, complaint = run(lines_of("20", "q"), "Greed", "--seed", 1)
    assert (code, complaint) == (2, "error: no space left on device\n")


@pytest.mark.parametrize(
    "change",
    [
        *(b"", b"[" * 100_000, b"\xff\xfe", b"[]", b'{"kind": "other"}'),
        *({"kind": None}, {"game": "Chess"}, {"against": "nobody"}, {"seed": -1}, {"coach": "yes"}),
        *({"env": {"max_score": wrong}} for wrong in ([1], -1)),
        *({"actions": wrong} for wrong in ([99], [True])),
        *({"more": 1}, {"without": "actions"}),
    ],
)
def test_a_file_that_is_no_saved_game_is_one_line(refusal, change):
    path = Path("mine.json")
    GameRecord("Greed", seed=1, actions=(20,)).write(path)
    if isinstance(change, dict):
        content = json.loads(path.read_text()) | change
        content.pop(content.pop("without", None), None)
        change = json.dumps(content).encode()
    path.write_bytes(change)
    refusal("", "--resume", path)
    assert path.read_bytes() == change


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["Chess"], "game must be one of Greed"),
        (["Greed", "--against", "nobody"], "against must be beginner, club, strong, perfect, ran"),
        (["Greed", "--against", "Klub"], "got 'Klub'; did you mean club?"),
        (["Greed", "--against", "best_response"], "which only the agent"),
        (["Greed", "--against", "random", "--env", "opponent", "random"], "against must be left"),
        (["FourTwoOne", "--against", "random"], "opponent must be left out, as there is one pl"),
        (["LowestScore", "--against", "random,random"], "must be one or 3, got 2"),
        (["Greed", "--seed", str(2**32)], "seed must be below 4294967296, got 4294967296"),
        (["--resume", "x.json", "--seed", "1"], "seed must be left out, as a saved game has its"),
        (["Greed", "--resume", "x.json"], "game must be left out, as a saved game has its own"),
        (["--resume", "x.json"], "x.json: no such file or directory"),
        (["--against", "."], "policy must be a run folder, a certificate (.npz), a model saved "),
        (["--port", "0", "--web"], "port must be from 1 to 65535, got 0"),
        (["--web", "--save", "x.json"], "save must be left out"),
        (["Greed", "--watch", "nobody"], "or a saved model, got 'nobody'"),
        (["Greed", "--watch", "club", "--puzzles", "easy"], "must be left out"),
    ],
)
def test_a_mistake_is_one_line(refusal, arguments, message):
    assert message in refusal("1\n", *arguments)
    assert not list(Path().iterdir())


@pytest.mark.slow
def test_a_trained_run_is_an_opponent_from_anywhere(run, prints, refusal, tmp_path, monkeypatch):
    env, quick = {"max_score": 10, "sides": 3}, {"steps": 1000, "num_envs": 128}
    train(TrainConfig(env=env, eval_interval=1000, run_folder=Path("mine"), **quick))
    size = ["--env", *words(env)]
    for policy in ("mine", "mine/certificate.npz", "mine/final_model.zip"):
        said = prints(lines_of("1"), "Greed", *size, "--against", policy, "--seed", 1)
        assert said.splitlines()[-2] == "Saved. To come back:"
    saved = sorted(tmp_path.glob("exactdice-Greed*.json"))
    assert len(saved) == 3
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    for path in saved:
        assert "gives away" in prints(lines_of("h"), "--resume", path)
    said = run("", "--against", "../mine", "--env", "seat", "1")[1]
    assert "You are player 2" in said
    assert " of 10\n" in said  # the run's own size
    assert refusal("", "Greed", "--against", "../mine")
    said = run("", "LowestScore", "--env", "seat", 1, "--against", "only3s,random,notebook")[1]
    assert "You are player 2 of 4, against Only zeros, Random and OptimalBot." in said
    assert "player 1, rolled" in said


def test_wrong_input_is_asked_again_and_loses_nothing(prints):
    wrong = ["", "  ", "foo", "1 1 1", "9" * 5000, "[bold]", "\x1b[2J", "½", "²", "1.5", "-3", "zz"]
    options = ("ShutTheBox", "--seed", 1)
    straight, said = (prints(lines_of(*more, "7", "q"), *options) for more in ([], wrong))
    assert said.count("There is no move") == len(wrong) - 2
    assert "\x1b" not in said
    assert "[bold]" in said
    assert straight.split("\n\n")[-2] == said.split("\n\n")[-2]


def test_the_session_of_the_page_is_what_its_command_prints(run):
    """In its numbers, so that words may change."""
    page = (ROOT / "docs" / "play.md").read_text(encoding="utf-8")
    shown = re.findall(r"^```text\n\$ (.*?)\n(.*?)^```$", page, re.M | re.S)
    assert shown
    for command, printed in shown:
        typed, _, line = command.partition(" | ")
        begin, *replies = shlex.split(typed)[1:]
        assert begin == r"%s\n"
        said = run(lines_of(*replies), *shlex.split(line)[2:])[1]
        assert re.findall(r"[\d.]*\d", said) == re.findall(r"[\d.]*\d", printed)


def test_puzzles_are_asked_judged_and_counted(prints):
    options = ["Greed", "--env", "max_score", 20, "--puzzles", "easy", "--seed", 3]
    said = prints(lines_of("what", 0, 0, "q"), *options)
    assert said.count('"Rules of thumb" ') == 2
    assert "There is no move what" in said
    assert "Puzzle 3, easy:" in said
    assert re.search(r"^\d of 2 solved; [\d.]+ % given away per puzzle\.$", said, re.M)


def test_statistics_are_printed_and_miss_no_game_in_silence(prints, tmp_path, monkeypatch):
    monkeypatch.setenv("EXACTDICE_DATA", str(tmp_path / "data"))
    assert "No game yet" in prints("", "--statistics")
    for seed in (1, 2):
        prints("2\n2\n2\n2\nn\n", "Greed", "--env", "max_score", 6, "--seed", seed)
    said = prints("", "--statistics")
    assert said.startswith("Greed, max_score 6\n")
    assert re.search(r"^ all games +[12] ", said, re.M)
    assert str(tmp_path / "data" / "games.jsonl") in said.replace("\n    ", "")
    Path("file").touch()
    monkeypatch.setenv("EXACTDICE_DATA", "file")
    said = prints(lines_of("20", "0"), "Greed", "--seed", 1)
    told = "This game is not in your statistics: file/games.jsonl cannot be written: file exists."
    assert told in " ".join(said.split())


def test_two_persons_play_in_the_terminal(prints):
    arguments = ("Greed", "--env", "max_score", 6, "--against", "person", "--seed", 3, "--coach")
    said = prints(lines_of(1, 1, 0, 0, "n"), *arguments)
    assert "player 1, your move: 1" in said
    assert "player 2, your move: 1" in said
    assert re.search(r"^(Player [12] wins|Player 1 and player 2 share the win)\.$", said, re.M)
    assert said.count("expected at the start") == 2


def test_an_agent_is_watched_in_the_terminal(prints):
    said = prints("\n" * 30, "Greed", "--env", "max_score", 20, "--watch", "club")
    assert re.search(r"^ +[\d.]+% of the time +\d+  .* the best$", said, re.M)
    assert re.search(r"^Club (wins|loses|gets 0\.5)\.$", said, re.M)

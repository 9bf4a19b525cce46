"""The command line, as a user meets it: right input, wrong input, no traceback."""

import json
import signal
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
from exactdice.agents.config import TrainConfig
from exactdice.baselines import Task, certificate
from exactdice.baselines.reproduce import SOURCES, Claim
from exactdice.games import Greed

import exactdice
from exactdice.cli import main

ROOT = Path(__file__).parent.parent
COMMAND = [str(Path(sys.executable).with_name("exactdice"))]
SMALL = ["--env", "max_score", "10", "sides", "3"]
QUICK = [*SMALL, "--steps", "2000", "--num-envs", "256", "--eval-interval", "1000"]


def run(*arguments, cwd=None, command=COMMAND):
    return subprocess.run([*command, *arguments], capture_output=True, text=True, cwd=cwd)


def test_help_documents_every_option_of_the_main_job():
    result = run("--help", command=[sys.executable, str(ROOT / "train.py")])
    assert result.returncode == 0
    text = " ".join(result.stdout.replace("│", " ").split())
    for option in fields(TrainConfig):
        assert f"--{option.name.replace('_', '-')}" in text
    assert "Train an agent and score it exactly against the optimum" in text


def test_the_main_job_trains_scores_and_saves(tmp_path):
    result = run(*QUICK, "--run-folder", "mine", cwd=tmp_path,
                 command=[sys.executable, str(ROOT / "train.py")])  # fmt: skip
    assert result.returncode == 0, result.stderr
    for word in ("optimum", "random", "regret", "normalised score", "costliest", "saved in mine"):
        assert word in result.stdout
    saved = json.loads((tmp_path / "mine/score.json").read_text())
    assert f"{saved['value']:.6f}" in result.stdout
    again = run(*QUICK, "--run-folder", "mine", cwd=tmp_path,
                command=[sys.executable, str(ROOT / "train.py")])  # fmt: skip
    assert again.returncode == 2
    assert "run_folder must not exist, got mine" in again.stderr
    scored = run("score", "mine", "--model", "best", "--stochastic", cwd=tmp_path)
    assert scored.returncode == 0, scored.stderr
    assert "MaskablePPO (stochastic, masked) in seat 0, against: optimal" in scored.stdout


def test_ctrl_c_saves_and_says_how_to_resume(tmp_path):
    job = [sys.executable, str(ROOT / "train.py")]
    slow = [*SMALL, "--steps", "30000", "--num-envs", "64", "--eval-interval", "500"]
    running = subprocess.Popen(
        [*job, *slow, "--run-folder", "mine"], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    while "steps: regret" not in running.stdout.readline():
        assert running.poll() is None
    running.send_signal(signal.SIGINT)
    said = running.communicate()[0]
    assert running.returncode == 130
    assert "python train.py --resume mine" in said
    resumed = run("--resume", "mine", cwd=tmp_path, command=job)
    assert resumed.returncode == 0, resumed.stderr
    whole = run(*slow, "--run-folder", "whole", cwd=tmp_path, command=job)
    assert whole.returncode == 0
    ends = [json.loads((tmp_path / name / "score.json").read_text()) for name in ("mine", "whole")]
    for end in ends:
        del end["seconds"]
    assert ends[0] == ends[1]


def test_plot_draws_runs(tmp_path):
    run("train", *QUICK, "--run-folder", "mine", cwd=tmp_path)
    result = run("plot", "mine", "--picture", "curves.svg", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "Greed: PPO" in (tmp_path / "curves.svg").read_text()
    (tmp_path / "mine/evaluations.npz").write_bytes(b"PK nothing")
    assert "must hold the scores of a run" in run("plot", "mine", cwd=tmp_path).stderr
    (tmp_path / "mine/evaluations.npz").unlink()
    assert "must hold an evaluations.npz" in run("plot", "mine", cwd=tmp_path).stderr


def test_solve_prints_the_exact_fraction():
    result = run("solve", *SMALL, "--exact")
    assert "14352595/28697814" in result.stdout
    assert "at 0 : 0: 1 die" in result.stdout
    several = run("solve", "--env", "max_score", "4", "sides", "2", "seat", "1")
    assert several.returncode == 0


def test_score_prints_policies_by_name():
    result = run("score", "if_else", *SMALL, "opponent", "random", "seat", "1")
    assert "if_else (deterministic, masked) in seat 1, against: random" in result.stdout
    assert "no decision costs anything" in run("score", "optimal", *SMALL).stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["score", "notebook", "--game", "LowestScore"],
            "notebook (deterministic, masked) in",
        ),
        (["score", "ratchet:421", "--game", "FourTwoOne"], "ratchet:421 (deterministic, masked)"),
        (["solve", "--game", "ShutTheBox", "--env", "shut_wins", "false"], "value 0.49804994214"),
        (
            ["solve", "--game", "LowestScore", "--env", "opponents", "only3s,random,notebook"],
            "opponents={1: 'only3s', 2: 'random', 3: 'notebook'}",
        ),
        (
            ["solve", "--game", "FourTwoOne", "--env", "utility", "set", "seat", "1", "--exact"],
            "116396797115/313456656384",
        ),
    ],
)
def test_every_game_has_its_policies_and_keywords(arguments, words):
    result = run(*arguments)
    assert result.returncode == 0, result.stderr
    assert words in " ".join(result.stdout.split())


def test_a_reader_who_stops_reading_is_no_error():
    shown = f"{COMMAND[0]} reproduce greed | head -1"
    result = subprocess.run(shown, shell=True, capture_output=True, text=True)
    assert result.stdout == "# The sources, recomputed\n"
    assert result.stderr == ""


def test_a_certificate_is_verified_and_a_broken_one_named(tmp_path):
    trained = run("train", *QUICK, "--algorithm", "qlearning", "--run-folder", "mine", cwd=tmp_path)
    assert trained.returncode == 0, trained.stderr
    whole = run("verify", "mine/certificate.npz", cwd=tmp_path)
    assert whole.returncode == 0, whole.stderr
    value = json.loads((tmp_path / "mine/score.json").read_text())["value"]
    assert "holds. 'QLearning' in Task(Greed(max_score=10" in whole.stdout
    assert f"value {value:.9f}" in whole.stdout
    (tmp_path / "cut.npz").write_bytes((tmp_path / "mine/certificate.npz").read_bytes()[:-9])
    both = run("verify", "cut.npz", "mine/certificate.npz", cwd=tmp_path)
    assert both.returncode == 1
    assert "error: cut.npz must be a whole policy certificate" in both.stderr
    assert "Traceback" not in both.stderr
    assert "mine/certificate.npz: holds" in both.stdout
    three = run("verify", "none.npz", "cut.npz", "mine/certificate.npz", cwd=tmp_path)
    assert three.returncode == 2
    assert three.stderr.splitlines()[0].endswith("No such file or directory: 'none.npz'")
    assert len(three.stderr.splitlines()) == 2
    assert three.stdout == whole.stdout


def test_no_name_in_a_certificate_forges_a_line(tmp_path):
    name = "x\x1b[1A\nhonest.npz: holds"
    content = certificate(exactdice.score("random", Task(Greed(5, 3)), name=name))
    paths = ["a.npz", "b\nb.npz: holds.\x1b[2K\r", "c\udcff.npz"]
    for path in paths:
        (tmp_path / path).write_bytes(content)
    shown = run("verify", *paths, cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    for path in paths:
        (tmp_path / path).write_bytes(content[:-9])
    refused = run("verify", *paths, cwd=tmp_path)
    assert refused.returncode == 1
    for lines in (shown.stdout.splitlines(), refused.stderr.splitlines()):
        assert len(lines) == len(paths)
        assert all(line.isprintable() for line in lines)


@pytest.mark.parametrize(
    ("game", "keyword", "value"),
    [
        ("Greed", "sides", "1" + "0" * 20),
        ("FourTwoOne", "casts", "1000000"),
    ],
)
def test_sizes_that_do_not_fit_are_one_line(game, keyword, value):
    result = run("solve", "--game", game, "--env", keyword, value)
    assert result.returncode == 2
    assert result.stderr.startswith(f"error: {keyword} must be at most ")
    assert result.stderr.endswith("(EXACTDICE_LIMIT=none lifts them)\n")
    assert len(result.stderr.splitlines()) == 1


def test_a_run_is_scored_in_depth(tmp_path):
    run("train", *QUICK, "--run-folder", "mine", cwd=tmp_path)
    result = run("score", "mine", "--ceiling", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    for words in (
        "payoffs and their probabilities: 0 (",
        "of its decisions are optimal; it plays",
        "who plays to beat it takes",
        "of games, costs 0.",
        "the ceiling, the same network fitted to the optimal policy: regret 0.0",
    ):
        assert words in result.stdout


@pytest.mark.parametrize(("arguments", "shown"), [(["greed"], 1), (["--all"], len(SOURCES))])
def test_reproduce_ends_well(arguments, shown, monkeypatch, capsys):
    """The claims themselves are computed in ``tests/baselines``."""
    claim = Claim("page 1", "2 + 2 = 4", "4", "agrees", "agrees")
    for source, (title, _) in SOURCES.items():
        monkeypatch.setitem(SOURCES, source, (title, lambda: [claim]))
    with pytest.raises(SystemExit) as ended:
        main(["reproduce", *arguments])
    assert ended.value.code == 0
    assert capsys.readouterr().out.count("1 claims: 1 agrees; 0 not as recorded.") == shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "--env", "max_score", "0"], "error: max_score must be at least 1, got 0"),
        (["train", "--env", "sides", "0"], "error: sides must be at least 1, got 0"),
        (["train", "--env", "max_dice", "-1"], "error: max_dice must be at least 0, got -1"),
        (["train", "--env", "max_score", "ten"], "max_score must be an integer, got 'ten'"),
        (
            ["train", "--env", "opponent", "bob"],
            "'optimal', 'equilibrium', 'random', 'if_",
        ),
        (["train", "--env", "seat", "5"], "error: seat must be from 0 to 1, got 5"),
        (["train", "--env", "colour", "red"], "takes the keywords seat, opponent, max_score"),
        (["train", "--steps", "0"], "steps must be at least 1, got 0"),
        (["train", "--device", "abacus"], "device must be one that PyTorch can use, got 'abacus'"),
        (["train", "--resume", "nowhere"], "error: run folder must hold a config.json, got nowh"),
        (["train", "--resume", "x", "--seed", "1"], "resume must be the only option"),
        (["train", "--steps", "many"], "invalid literal for int() with base 10: 'many'"),
        (
            ["train", "--game", "Chess"],
            "game must be one of Greed, Lowest",
        ),
        (
            ["solve", "--game", "Chess"],
            "error: game must be one of Greed, Lowest",
        ),
        (["train", "--env", "max_score"], "Failed to parse key-value pairs"),
        (
            ["score", "nobody"],
            "error: policy must be a run folder or one of optimal, equil",
        ),
        (["score", "."], "error: run folder must hold a config.json, got ."),
        (["reproduce", "chess"], "error: source must be one of greed"),
        (
            ["reproduce"],
            "source must be one of greed, lowest-score, shut-the-box, 421, or",
        ),
        (["score", "ratchet:999", "--game", "FourTwoOne"], "goal must be 3 digits from 1 to 6"),
        (["score", "goal:2,0", "--game", "FourTwoOne"], "goal must be followed by h,s, both 0 or"),
        (["solve", "--game", "FourTwoOne", "--env", "opponent", "random"], "must be left out, as"),
        (["solve", "--game", "LowestScore", "--env", "opponents", "random,random"], "one or 3"),
        (["plot"], "runs must be one run folder at least, got none"),
        (["plot", "."], "error: run folder must hold a config.json, got ."),
        (["verify"], "certificates must be one file at least, got none"),
        (["score", "random", "--ceiling"], "ceiling needs a run folder"),
        (["train", "--conf", "none.yml"], "conf must be a YAML file, got none.yml"),
        (["train", "--hyperparams", "momentum", "1"], "hyperparameters must fit MaskablePPO"),
        (["train", "--env", "encoding", "two_hot"], "encoding must be one of 'integer'"),
        (["train", "--self-play", "--game", "LowestScore"], "self_play needs a zero-sum game"),
        (["benchmark", "--seeds", "0"], "seeds must be at least 1, got 0"),
        (["benchmark", "--games", "Chess"], "game must be one of Greed"),
        (["fly"], "fly"),
    ],
)
def test_a_mistake_gets_a_message_and_no_traceback(tmp_path, arguments, message):
    result = run(*arguments, cwd=tmp_path)
    assert result.returncode == 2
    said = " ".join((result.stdout + result.stderr).replace("│", " ").split())
    assert message in said
    assert "Traceback" not in said
    assert not list(tmp_path.iterdir())

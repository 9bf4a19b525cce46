"""The command line, as a user meets it: right input, wrong input, no traceback.

Most tests call ``main`` in this process, as each new process costs seconds; what is about
processes (signals, pipes, libraries that are not there) starts some.
"""

import io
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import fields
from importlib.metadata import version
from pathlib import Path
from unittest.mock import Mock

import gymnasium as gym
import numpy as np
import pytest
from exactdice.agents.learners import ceiling
from exactdice.agents.runs.config import TrainConfig
from exactdice.baselines import Comparison, Task, certificate
from exactdice.baselines.scoring.certificate_file import digest_of
from exactdice.games import FourTwoOne, Greed
from exactdice.look.plotting import NAMES
from stable_baselines3 import PPO

import exactdice
from exactdice.cli import main
from exactdice.commands import COMMANDS

ROOT = Path(__file__).parent.parent
COMMAND = [str(Path(sys.executable).with_name("exactdice"))]
JOB = [sys.executable, str(ROOT / "train.py")]
SMALL = ["--env", "max_score", "10", "sides", "3"]
QUICK = [*SMALL, "--steps", "2000", "--num-envs", "256", "--eval-interval", "1000"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Train one small run for the tests that only read it."""
    folder = tmp_path_factory.mktemp("runs") / "mine"
    with pytest.raises(SystemExit) as end:
        main(["train", *QUICK, "--run-folder", str(folder)])
    assert end.value.code == 0
    return folder


@pytest.fixture
def mine(trained, tmp_path):
    """Copy the small run into the empty folder."""
    return Path(shutil.copytree(trained, tmp_path / "mine"))


def test_help_documents_every_option_of_the_main_job():
    result = subprocess.run([*JOB, "--help"], capture_output=True, text=True)
    assert result.returncode == 0
    text = " ".join(result.stdout.replace("│", " ").split())
    for option in fields(TrainConfig)[1:]:  # the first is the game, a word
        assert f"--{option.name.replace('_', '-')}" in text
    assert "Train an agent and score it exactly against the optimum" in text


def test_the_main_job_trains_scores_and_saves(run):
    code, said, complaint = run("train", *QUICK, "--run-folder", "mine")
    assert (code, complaint) == (0, "")
    for word in ("optimum", "random", "regret", "normalised score", "costliest", "saved in mine"):
        assert word in said
    saved = json.loads(Path("mine/score.json").read_text())
    assert f"{saved['value']:.6f}" in said
    code, _, complaint = run("train", *QUICK, "--run-folder", "mine")
    assert code == 2
    assert "run_folder must not exist, got mine" in complaint


@pytest.mark.posix
def test_ctrl_c_saves_and_says_how_to_resume(run):
    slow = [*SMALL, "--steps", "6000", "--num-envs", "64", "--eval-interval", "500"]
    command = [*JOB, *slow, "--run-folder", "mine"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        while "steps: regret" not in running.stdout.readline():
            assert running.poll() is None
        running.send_signal(signal.SIGINT)
        said = running.communicate()[0]
    assert running.returncode == 130
    assert "python train.py --resume mine" in said
    assert run("train", "--resume", "mine")[0] == 0
    assert run("train", *slow, "--run-folder", "whole")[0] == 0
    ends = [json.loads(Path(name, "score.json").read_text()) for name in ("mine", "whole")]
    for end in ends:
        del end["seconds"]
    assert ends[0] == ends[1]


def test_certificates_and_saved_models_are_scored(run, mine):
    value = json.loads((mine / "score.json").read_text())["value"]
    PPO("MlpPolicy", gym.make("exactdice/Greed-v0", max_score=10, sides=3)).save("foreign.zip")
    for path in ("mine/certificate.npz", "mine/final_model.zip"):
        code, said, complaint = run("score", path, *SMALL)
        assert (code, complaint) == (0, "")
        assert f"{value:.6f}" in said
    for options, kind in ([], "deterministic"), (["--stochastic"], "stochastic"):
        assert f"foreign.zip ({kind}, masked)" in run("score", "foreign.zip", *SMALL, *options)[1]
    code, _, complaint = run("score", "mine/certificate.npz", "--env", "max_score", "100")
    assert code == 2
    assert "must be of Greed, sides 3, got one of Greed, max_score 10, sides 3" in complaint
    assert run("score", "random", "--stochastic")[0] == 2


@pytest.fixture
def certified(tmp_path, monkeypatch):
    """Save two certificates of games that are no defaults, and give the score of one."""
    monkeypatch.chdir(tmp_path)
    exactdice.score("random", Task(FourTwoOne(3, 3, 2))).save("other.npz")
    found = exactdice.score("if_else", Task(Greed(7, 3), 1, "random"), name="my own")
    found.save("mine.npz")
    return found


def test_a_certificate_brings_its_game(run, certified, monkeypatch):
    words, value = certified.task.words, f"{certified.value:.6f}"
    for options in ([], ["greed", "--env", "seat", 1, "max_score", 7]):
        code, said, complaint = run("score", "mine.npz", *options)
        assert (code, complaint) == (0, "")
        assert words in said
        assert value in said
    assert run("score", "mine.npz", "--env", "opponent", "if_else")[0] == 0
    for agents in (("mine.npz", "if_else"), ("optimal", "mine.npz")):
        code, said, complaint = run("compare", *agents)
        assert (code, complaint) == (0, "")
        assert said.startswith(f"{words}\n")
        assert value in said
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert run("play", "--watch", "mine.npz", "--env", "seat", 1)[0] == 0


@pytest.mark.usefixtures("certified")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("score mine.npz LowestScore", "mine.npz must be of LowestScore, got one of Greed, max_sc"),
        ("score mine.npz --env max_score 8", "mine.npz must be of Greed, max_score 8, sides 3, go"),
        ("compare mine.npz other.npz", "other.npz must be of Greed, max_score 7, sides 3, got one"),
        ("compare mine.npz none.npz", "or a folder that exists, got none.npz: it is missing"),
        ("score runs/none", "policy must be a file or a folder that exists, got runs/none: it is"),
        ("play --against model.zip", "or a folder that exists, got model.zip: it is missing"),
    ],
)
def test_a_file_that_is_missing_or_of_another_game_is_named(run, words, message):
    code, said, complaint = run(*words.split())
    assert (code, said) == (2, "")
    assert message in complaint


def test_plot_draws_runs(run, mine):
    code, _, complaint = run("plot", "mine", "--picture", "curves.svg")
    assert (code, complaint) == (0, "")
    assert "Greed: PPO" in Path("curves.svg").read_text()
    for name in ("curves.PNG", "curves.pdf", "curves.jpg", "curves.webp"):
        assert run("plot", "mine", "--picture", name)[0] == 0
        assert Path(name).stat().st_size > 1000
    code, _, complaint = run("plot", "mine", "--picture", "x.pgf")
    assert (code, complaint) == (
        2,
        "error: picture must end in one of png, svg, pdf, jpg, webp, got x.pgf\n",
    )
    (mine / "evaluations.npz").unlink()
    assert "must hold an evaluations.npz" in run("plot", "mine")[2]


@pytest.mark.parametrize("share", [0, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
def test_plot_refuses_scores_that_are_cut_short(run, mine, share):
    path = mine / "evaluations.npz"
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    code, _, complaint = run("plot", "mine")
    assert code == 2
    assert complaint.startswith("error: mine/evaluations.npz must hold the scores of a run, got")
    assert len(complaint.splitlines()) == 1


def test_describe_prints_a_table_or_lines(run):
    code, said, _ = run("describe", "Greed", *SMALL)
    assert code == 0
    assert said.startswith("Greed: Greed, max_score 10")
    assert "| optimum                    | 0.5001" in said
    code, said, _ = run("describe", "Greed", *SMALL, "--csv")
    header, row = said.splitlines()
    assert code == 0
    assert header.startswith("name,task,states,decisions")
    assert row.startswith('Greed,"Greed, max_score 10')
    code, said, _ = run("describe", "--ladder", "Greed", "max_score", "20", "10")
    assert code == 0
    assert said.startswith(
        "max_score 10: Greed, max_score 10, seat 0, against optimal\n"
        "max_score 20: Greed, max_score 20, seat 0, against optimal\n"
    )


def test_solve_prints_the_exact_fraction(run):
    code, said, _ = run("solve", *SMALL, "--exact")
    assert code == 0
    assert "14352595/28697814" in said
    assert "Greed, max_score 10, sides 3, seat 0, against optimal: optimal value 14352595/" in said
    assert "likeliest first position: 0 points to 0; optimal play rolls 1 die\n" in said
    assert run("solve", "--env", "max_score", "4", "sides", "2", "seat", "1")[0] == 0


def test_score_prints_policies_by_name(run):
    said = run("score", "if_else", *SMALL, "opponent", "random", "seat", "1")[1]
    assert (
        "if_else (deterministic, masked) in Greed, max_score 10, sides 3, seat 1, against random"
        in said
    )
    assert "no decision costs anything" in run("score", "optimal", *SMALL)[1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["score", "notebook", "LowestScore"],
            "(deterministic, masked) in LowestScore, seat 0, against notebook in seats 1, 2 and 3 ",
        ),
        (["score", "ratchet:421", "FourTwoOne"], "ratchet:421 (deterministic, masked)"),
        (["solve", "ShutTheBox", "--env", "shut_wins", "false"], "value 0.49804994214"),
        (
            ["solve", "LowestScore", "--env", "opponents", "only3s,random,notebook"],
            "seat 0, against only3s in seat 1, random in seat 2 and notebook in seat 3: optimal",
        ),
        (
            ["solve", "FourTwoOne", "--env", "utility", "set", "seat", "1", "--exact"],
            "116396797115/313456656384",
        ),
    ],
)
def test_every_game_has_its_policies_and_keywords(run, arguments, words):
    code, said, complaint = run(*arguments)
    assert (code, complaint) == (0, "")
    assert words in " ".join(said.split())


@pytest.mark.parametrize(
    "words",
    [
        ["GREED", *SMALL],
        [*SMALL, "--", "greed"],
    ],
    ids=" ".join,
)
def test_a_game_is_a_word_in_any_case(run, words):
    wanted = run("solve", *SMALL)
    assert wanted[0] == 0
    assert run("solve", *words) == wanted


def test_a_game_follows_an_agent(run):
    sizes = ["--env", "casts", "2"]
    said = run("score", "random", "FourTwoOne", *sizes)
    assert said[0] == 0
    assert "random (stochastic, masked) in FourTwoOne, casts 2" in said[1]
    assert run("score", "random", "fourtwoone", *sizes) == said
    code, _, complaint = run("plot", "outcomes", "random", "fourtwoone", *sizes)
    assert (code, complaint) == (0, "")


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_says_no_none_and_keeps_sentences_whole(run, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "100")
    code, said, complaint = run(command, "--help")
    assert (code, complaint) == (0, "")
    for word in ("None", "(default: False)", "(default: )"):
        assert word not in said
    if command == "train":
        whole = "tuned for so many moves; no steps, eval-interval, stop-at or other reward may be "
        assert whole in " ".join(said.replace("│", " ").split())
        lines = [line.strip("│ ") for line in said.splitlines()]
        assert not any(line.endswith(("agent is scored,", "other reward")) for line in lines)


def test_a_terminal_shows_the_progress_and_the_output_is_the_same(run, monkeypatch):
    for words in (
        ["score", "random", "FourTwoOneMatch", "--env", "tokens", "3"],
        ["solve", *SMALL],
        ["describe", "Greed", *SMALL],
    ):
        plain = run(*words)
        assert (plain[0], plain[2]) == (0, "")
        with monkeypatch.context() as patch:
            patch.setenv("FORCE_COLOR", "1")
            patch.setenv("NO_COLOR", "1")
            code, said, shown = run(*words)
        assert code == 0
        assert re.sub(r"\x1b\[[0-9;]*m", "", said) == plain[1]
        assert re.search("computing|values|visits|decisions|exploitability", shown)


def test_two_agents_are_compared(run):
    code, said, complaint = run("compare", "if_else", "terminal", "greed")
    assert (code, complaint) == (0, "")
    assert said.startswith("Greed, seat 0, against optimal\n")
    for words in (
        "regret 0.086016 0.055362",
        '"terminal" is better: "if_else" loses 31 wins in a thousand games more.',
        'in 80.6 % of the decisions of "if_else" and in 73.9 % of the decisions of "terminal".',
        "0 points to 0 roll 16 dice roll 26 dice roll 24 dice -0.018924",
        'head to head: "if_else" against "terminal"',
        '"if_else" in seat 0 50.60% 7.77% 41.63% 0.544855',
    ):
        assert words in " ".join(said.split())
    tables = [line for line in said.splitlines() if line.startswith(" ")]
    assert max(map(len, tables)) <= 80
    assert "Both are equal." in run("compare", "random", "random", *SMALL)[1]
    rules = ["--env", "players", "2", "dice", "2"]
    tied = run("compare", "random", "only3s", "LowestScore", *rules)[1]  # both win if they tie
    assert "0.00%" not in tied[tied.index("head to head") :]


def test_files_of_one_name_are_named_by_their_folders(run):
    runs = [ROOT / f"benchmarks/leaderboard/Greed-{name}-outcome-0" for name in ("ppo", "dqn")]
    said = run("compare", *(str(folder / "certificate.npz") for folder in runs))[1]
    assert '"Greed-ppo-outcome-0" is better: "Greed-dqn-outcome-0" loses 0.31 wins in a' in said
    assert "certificate.npz" not in said


def test_neither_of_two_agents_is_better_by_rounding(run, monkeypatch):
    monkeypatch.setattr(Comparison, "gain", 1e-16)
    said = run("compare", "random", "if_else", *SMALL)[1]
    assert "Both are equal up to rounding." in said
    assert "is better" not in said


@pytest.mark.usefixtures("mine")
def test_a_run_is_compared_in_its_own_game(run):
    code, said, complaint = run("compare", "mine", "if_else")
    assert (code, complaint) == (0, "")
    assert said.startswith("Greed, max_score 10, sides 3, seat 0, against optimal\n")
    assert '"mine"' in said
    assert "head to head" in said
    assert run("compare", "if_else", "mine", "Greed")[2] == (
        "error: game must be left out: only a comparison without runs has it\n"
    )
    assert "policy must be a run folder" in run("compare", "mine", "nobody")[2]


def test_agents_of_a_game_for_one_are_compared_without_games(run, monkeypatch):
    assert "head to head" not in run("compare", "random", "goal:1,1", "FourTwoOne")[1]
    monkeypatch.setattr("exactdice.core.positions.MOST", 1000)
    boxes = ["--env", "boxes", "ones,yahtzee"]
    said = run("compare", "random", "optimal", "Yahtzee", *boxes)[1]
    assert '"optimal" is better: "random" loses a payoff of 5.1 a game more.' in said
    assert "No differences: " in said


@pytest.mark.parametrize("width", [40, 60, 80, 132])
def test_the_table_of_mistakes_fits_the_terminal(run, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    said = run("score", "if_else")[1]
    table = said[said.index("costliest decisions") :]
    assert all(len(line.rstrip()) <= width for line in table.splitlines())
    words = " ".join(table.split())
    if width > 60:
        assert "cost a of position played best game games" in words
        assert "0 points to 0 roll 16 dice roll 24 dice 0.015284 100.00%" in words
    if width < 60:
        assert "position: 0 points to 0 played: roll 16 dice best: roll 24 dice" in words
        assert "cost a game: 0.015284 of games: 100.00%" in words


@pytest.mark.parametrize(
    "words",
    [
        ["score", "if_else", *SMALL],
        ["score", "random", "Yahtzee", "--env", "boxes", "ones,chance"],
        ["compare", "if_else", "terminal", *SMALL],
        ["diagnose", "mine"],
        ["describe", "Greed", *SMALL],
    ],
    ids=" ".join,
)
@pytest.mark.usefixtures("mine")
def test_no_table_cuts_a_number(run, monkeypatch, words):
    """Whatever the width of the terminal, the same numbers are printed."""

    def numbers(width):
        monkeypatch.setenv("COLUMNS", str(width))
        code, said, complaint = run(*words)
        assert (code, complaint) == (0, "")
        return Counter(re.findall(r"[-+]?\d[\d,]*\.\d+%?", said))

    wide = numbers(1000)
    assert wide
    for width in (80, 60, 40):
        assert numbers(width) == wide


def test_plot_without_words_lists_the_charts(run):
    code, said, complaint = run("plot")
    assert (code, complaint) == (0, "")
    for name in NAMES:
        assert f"\n  {name} " in said
    assert "  greed-policy         the best number of dice in every state\n" in said


@pytest.mark.posix
def test_the_shell_completes_commands_options_and_values(tmp_path):
    script = tmp_path / "exactdice"
    with pytest.raises(SystemExit) as end:
        main(["--tyro-write-completion", "bash", str(script)])
    assert end.value.code == 0
    asked = {
        "exactdice so": "solve",
        "exactdice score random --ceil": "--ceiling",
        "exactdice train --reward reg": "regret",
    }
    lines = [f"source {shlex.quote(str(script))}"]
    for words in asked:
        lines += [
            f"COMP_WORDS=({words})",
            "COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 ))",
            "_tyro_exactdice",
            'echo "${COMPREPLY[*]}"',
        ]
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", "\n".join(lines)], capture_output=True, text=True, env=environment
    )
    assert done.stdout.split() == list(asked.values()), done.stderr


@pytest.mark.posix
@pytest.mark.parametrize(
    "words",
    [
        ["solve", *SMALL],  # prints
        ["score", "if_else", *SMALL],  # prints by rich
        ["play", "--statistics"],  # by a console of its own
        ["score", "--help"],  # ends in the parser
        ["--version"],
    ],
    ids=" ".join,
)
def test_a_reader_who_stops_reading_is_no_error(words):
    command = [*COMMAND, *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        running.stdout.close()
        assert running.stderr.read() == b""
    assert running.returncode == 141


@pytest.mark.usefixtures("mine")
def test_a_certificate_is_verified_and_a_broken_one_named(run):
    code, said, complaint = run("verify", "mine/certificate.npz")
    assert (code, complaint) == (0, "")
    value = json.loads(Path("mine/score.json").read_text())["value"]
    assert ": MaskablePPO in Greed, max_score 10, sides 3, seat 0, against optimal\n" in said
    assert f"mine/certificate.npz: holds, value {value:.9f}, " in said
    Path("cut.npz").write_bytes(Path("mine/certificate.npz").read_bytes()[:-9])
    code, said, complaint = run("verify", "cut.npz", "mine/certificate.npz")
    assert code == 2
    assert "error: cut.npz must be a whole policy certificate" in complaint
    assert "mine/certificate.npz: holds" in said
    code, again, complaint = run("verify", "none.npz", "cut.npz", "mine/certificate.npz")
    assert code == 2
    wanted = "none.npz must be a certificate that can be read: No such file or directory"
    assert complaint.splitlines()[0] == f"error: {wanted}"
    assert len(complaint.splitlines()) == 2
    assert again == said
    assert run("verify", "mine")[0] == 0
    code, _, complaint = run("verify", "mine", "exactdice.games:ShutTheBox")
    assert (code, complaint) == (1, "error: mine must be of ShutTheBox, got one of Greed\n")


@pytest.fixture
def foreign(tmp_path):
    """Write files that are no certificates, no models, no records and no runs."""
    (tmp_path / "README.md").write_text("# exactdice")
    (tmp_path / "bytes.zip").write_bytes(bytes(range(256)))
    np.savez("arrays.npz", a=np.arange(3))
    return ("README.md", "bytes.zip", "arrays.npz")


@pytest.mark.parametrize(
    "words",
    [
        *(["verify"], ["score"], ["compare", "if_else"], ["report"], ["audit"], ["diagnose"]),
        *(["board"], ["plot"], ["plot", "mistakes"], ["train", "--conf"], ["train", "--resume"]),
        *(["train", "--env", "opponent"], ["play", "--resume"], ["play", "--against"]),
        *(["play", "--watch"], ["submit", "--title", "a", "--link", "https://a.b"]),
    ],
    ids=" ".join,
)
def test_a_file_of_the_wrong_kind_is_a_mistake_in_what_was_typed(run, foreign, words):
    for name in foreign:
        code, _, complaint = run(*words, name)
        assert code == 2
        assert complaint.startswith("error: ")
        assert len(complaint.splitlines()) == 1


def test_a_claim_or_a_hash_that_does_not_hold_is_a_finding(run):
    content = certificate(exactdice.score("random", Task(Greed(5, 3))))
    with np.load(io.BytesIO(content)) as file:
        parts = {name: file[name] for name in file.files}
    claims = str(parts["claims"]).replace('"value": 0.', '"value": 0.9')
    np.savez("hash.npz", **{**parts, "claims": claims})
    np.savez(
        "claim.npz", **parts | {"claims": claims, "sha256": digest_of(parts["policy"], claims)}
    )
    for name, words in (("hash.npz", "must have the hash"), ("claim.npz", "claims value = 0.9")):
        code, _, complaint = run("verify", name)
        assert code == 1
        assert words in complaint


def test_no_name_in_a_certificate_forges_a_line(run):
    name = "x\x1b[1A\nhonest.npz: holds, value 1"
    content = certificate(exactdice.score("random", Task(Greed(5, 3)), name=name))
    paths = ["a.npz", "b\nb.npz: holds.\x1b[2K\r", "c\udcff.npz"]
    for path in paths:
        Path(path).write_bytes(content)
    code, shown, complaint = run("verify", *paths)
    assert (code, complaint) == (0, "")
    Path("d\x1b[2K\nd.npz").write_bytes(content)
    sizes = ["--env", "max_score", "5", "sides", "3"]
    for words in (["score", "d\x1b[2K\nd.npz"], ["compare", "random", "d\x1b[2K\nd.npz"]):
        code, said, complaint = run(*words, *sizes)
        assert (code, complaint) == (0, "")
        assert all(line.isprintable() for line in said.splitlines())
        assert "\nd.npz" not in said
    for path in paths:
        Path(path).write_bytes(content[:-9])
    code, _, refused = run("verify", *paths)
    assert code == 2
    for lines in (shown.splitlines(), refused.splitlines()):
        assert len(lines) == len(paths)
        assert all(line.isprintable() for line in lines)


@pytest.mark.parametrize(
    ("game", "keyword", "value"),
    [("Greed", "sides", "1" + "0" * 20), ("FourTwoOne", "casts", "1000000")],
)
def test_sizes_that_do_not_fit_are_one_line(run, game, keyword, value):
    code, _, complaint = run("solve", game, "--env", keyword, value)
    assert code == 2
    assert complaint.startswith(f"error: {keyword} must be at most ")
    assert complaint.endswith("(EXACTDICE_LIMIT=none lifts them)\n")
    assert len(complaint.splitlines()) == 1


@pytest.mark.usefixtures("mine")
def test_a_run_is_scored_in_depth(run, monkeypatch):
    monkeypatch.setattr(ceiling, "UPDATES", 20)
    code, said, complaint = run("score", "mine", "--ceiling")
    assert (code, complaint) == (0, "")
    for words in (
        "% of the way from random play to the optimum: it loses ",
        "results and their probabilities: win (",
        "of its decisions are optimal; it plays",
        "exploitability in this seat: ",
        "costliest decisions",
        "the ceiling, the same network fitted to the optimal policy: regret 0.",
    ):
        assert words in said
    said = run("score", "mine", "--model", "best", "--stochastic")[1]
    assert (
        "MaskablePPO (stochastic, masked) in Greed, max_score 10, sides 3, seat 0, against optimal"
        in said
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mine", "FourTwoOne"], "game must be left out: only a policy by name has it"),
        (["mine", "Greed"], "game must be left out"),
        (["mine", "--env", "max_score", "5"], "env must be left out"),
        (["random", "--model", "best"], "model must be left out: only a run folder has it"),
        (["random", "--stochastic"], "stochastic must be left out"),
        (["random", "--ceiling"], "ceiling must be left out"),
    ],
)
@pytest.mark.usefixtures("mine")
def test_score_refuses_options_that_would_change_nothing(run, arguments, message):
    code, said, complaint = run("score", *arguments)
    assert (code, said) == (2, "")
    assert complaint.startswith(f"error: {message}")


@pytest.mark.parametrize(
    "change",
    [
        {"algorithm": "sarsa"},
        {"reward": "fun"},
        {"game": ["Greed"]},
        {"env": 5},
        {"steps": "many"},
        {"seed": 1.5},
        {"seed": None},
        {"self_play": "no"},
        {"device": 3},
        {"stop_at": "x"},
        {"colour": 1},
        {"conf": "x"},
    ],
)
def test_a_configuration_that_is_not_one_is_refused(run, mine, change):
    path = mine / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    for arguments in (["score", "mine"], ["train", "--resume", "mine"], ["plot", "mine"]):
        code, _, complaint = run(*arguments)
        assert code == 2
        assert complaint.startswith("error: mine/config.json must be the configuration of a run")
        assert next(iter(change)) in complaint
        assert len(complaint.splitlines()) == 1


def test_a_configuration_of_brackets_is_refused(run, mine):
    for name in ("config.json", "hyperparameters.yml"):
        path = mine / name
        whole = path.read_bytes()
        path.write_text("[" * 20_000)
        code, _, complaint = run("score", "mine")
        assert code == 2
        assert complaint.startswith("error: mine/config.json must be the configuration of a run")
        path.write_bytes(whole)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "--env", "max_score", "0"], "error: max_score must be at least 1, got 0"),
        (["train", "--env", "sides", "0"], "error: sides must be at least 1, got 0"),
        (["train", "--env", "max_dice", "-1"], "error: max_dice must be at least 0, got -1"),
        (["train", "--env", "max_score", "ten"], "max_score must be an integer, got 'ten'"),
        (
            ["train", "--env", "opponent", "bob"],
            "'optimal', 'best_response', 'equilibrium', 'random', 'strength:<share>', 'if_",
        ),
        (["train", "--env", "seat", "5"], "error: seat must be from 0 to 1, got 5"),
        (["train", "--env", "colour", "red"], "takes the keywords seat, opponent, max_score"),
        (["train", "--steps", "0"], "steps must be at least 1, got 0"),
        (["train", "--device", "abacus"], "device must be one that PyTorch can use, got 'abacus'"),
        (["train", "--resume", "nowhere"], "error: run folder must hold a config.json, got nowh"),
        (["train", "--resume", "x", "--seed", "1"], "resume must be the only option"),
        (["train", "--steps", "many"], "invalid literal for int() with base 10: 'many'"),
        (["train", "--steps", "9", "--steps", "8"], "error: --steps must be given once, got it 2"),
        (["train", "--env", "seat", "1", "--env", "sides", "3"], "error: --env must be given once"),
        (["train", "--env", "max_score", "5", "max_score", "6"], "each name once, got max_score"),
        (["solve", "--env", "seat", "0", "seat", "1"], "error: env must give each name once, got"),
        (["train", "--hyperparams", "gamma", "1", "gamma", "0"], "hyperparams must give each name"),
        (["train", "--device", "meta"], "device must be one that PyTorch can use, got 'meta'"),
        (["train", "--algorithm", "qlearning", "--device", "cpu:0"], "device must be cpu for a ta"),
        (["train", "--stop-at", "nan"], "error: stop_at must be a number, got nan"),
        (["solve", "--env", "game", "Greed"], "error: Greed takes the keywords seat, opponent, m"),
        (["train", "Chess"], "game must be one of Greed, Lowest"),
        (["describe", "--ladder", "snake"], "error: ladder must be one of 'greed-score', 'gr"),
        (["describe", "Greed", "--ladder", "greed-sides"], "error: games must be left out: a lad"),
        (["describe", "Gredd"], "did you mean Greed?"),
        (["describe", "Greed", "Greed"], "error: games must be given once each, got Greed again"),
        (["describe", "Greed", "--env", "max_score", "0"], "max_score must be at least 1, got 0"),
        (
            ["score", "strength:2"],
            "error: strength must be a number from 0 (random) to 1 (optimal)",
        ),
        (["train", "--env", "max_score"], "env must be pairs of a name and a value"),
        (
            ["score", "nobody"],
            "error: policy must be a run folder, a certificate, a saved model or o",
        ),
        (["score", "."], "error: run folder must hold a config.json, got ."),
        (["score", "ratchet:999", "FourTwoOne"], "goal must be 3 digits from 1 to 6"),
        (["score", "goal:2,0", "FourTwoOne"], "goal must be followed by h,s, both 0 or"),
        (["solve", "FourTwoOne", "--env", "opponent", "random"], "must be left out, as"),
        (["solve", "LowestScore", "--env", "opponents", "random,random"], "one or 3"),
        (["plot", "--picture", "x.png"], "picture must be left out: the list of charts has no"),
        (["plot", "greed-polcy"], "got 'greed-polcy'; did you mean greed-policy?"),
        (["plot", "mistakes", "random", "Gred"], "got 'Gred'; did you mean Greed?"),
        (["solve", "shutthebx"], "got 'shutthebx'; did you mean ShutTheBox?"),
        (["solve", "--env", "max_scor", "5"], "'max_scor'; did you mean max_score?"),
        (["score", "ifelse"], "got 'ifelse'; did you mean if_else?"),
        (["slove"], "error: command must be one of 'train', "),
        (["slove"], "got 'slove'; did you mean solve?"),
        (["train", "--algorithm", "pp"], "got 'pp'; did you mean ppo?"),
        (["solve", "--game", "Greed"], "Unrecognized options: --game"),
        (["train", "--conf", "."], "conf must be a YAML file, got .: Is a directory"),
        (["plot", "."], "error: run folder must hold a config.json, got ."),
        (["verify"], "certificates must be one file at least, got none"),
        (["score", "random", "--ceiling"], "ceiling must be left out"),
        (["train", "--conf", "none.yml"], "conf must be a YAML file, got none.yml"),
        (["train", "--hyperparams", "momentum", "1"], "hyperparameters of ppo must be among"),
        (["train", "--env", "encoding", "two_hot"], "encoding must be one of 'integer'"),
        (["train", "--self-play", "LowestScore"], "self_play needs a zero-sum game"),
        (["benchmark", "--seeds", "0"], "seeds must be at least 1, got 0"),
        (["tune", "--trials", "0"], "trials must be at least 1, got 0"),
        (["tune", "--track", "exactdice-2k"], "track must be one of 'exactdice-10k'"),
        (["benchmark", "--games", "Chess"], "game must be one of Greed"),
        (["fly"], "fly"),
    ],
)
def test_a_mistake_gets_a_message_and_no_traceback(run, tmp_path, arguments, message):
    code, said, complaint = run(*arguments)
    assert code == 2
    text = " ".join((said + complaint).replace("│", " ").split())
    assert message in text
    if "error:" in complaint:  # one of ours: the others are boxes of tyro
        assert len(complaint.splitlines()) == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("value", ["[" * 20_000, "2001-99-99", "!!timestamp x", "{1: }}"])
def test_texts_that_are_no_yaml_are_refused(run, tmp_path, value):
    code, _, complaint = run("train", "--hyperparams", "n_steps", value)
    assert code == 2
    assert complaint.startswith("error: n_steps must be a value in YAML, got '")
    assert len(complaint) < 600
    Path("deep.yml").write_text(value)
    code, _, complaint = run("train", "--conf", "deep.yml")
    assert code == 2
    assert complaint.startswith("error: conf must be a YAML file, got deep.yml: ")
    assert [path.name for path in tmp_path.iterdir()] == ["deep.yml"]


WITHOUT = """
import contextlib, io, json, sys

class Refusing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in sys.argv[1].split(","):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Refusing())
from exactdice.cli import main

ends = []
for words in json.loads(sys.argv[2]):
    said, complaint = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(complaint):
        try:
            main(words)
        except SystemExit as end:
            ends.append([end.code, said.getvalue(), complaint.getvalue()])
print(json.dumps(ends))
"""
HEAVY = "torch,stable_baselines3,sb3_contrib,matplotlib,yaml,scipy,pandas,ray,optuna"


def run_without(libraries, commands, cwd):
    """Run commands in a process in which some libraries cannot be imported."""
    command = [sys.executable, "-c", WITHOUT, libraries, json.dumps(commands)]
    result = subprocess.run(command, capture_output=True, text=True, cwd=cwd)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.mark.usefixtures("mine")
def test_commands_without_training_need_the_light_extra_alone(tmp_path):
    works = [
        (["solve", *SMALL], "optimal value 0.5001"),
        (["score", "if_else", *SMALL], "if_else (deterministic, masked) in Greed, max_score 10"),
        (["compare", "if_else", "random", "Greed", *SMALL], '"if_else" is better: "random" loses '),
        (["verify", "mine/certificate.npz"], "mine/certificate.npz: holds"),
        (["--help"], "Train an agent and score it exactly"),
        (["train", "--help"], "--eval-interval"),
        (["benchmark", "--help"], "--backend"),
        (["tune", "--help"], "--trials"),
        (["play", "--coach", "--against", "if_else", *SMALL], "The same game again"),
    ]
    fails = [
        ["train"],
        ["train", "--resume", "mine"],
        ["score", "mine"],
        ["plot", "mine"],
        ["benchmark"],
        ["tune"],
        ["play", "--against", "mine"],
        ["audit", "mine/certificate.npz"],
    ]
    commands = [*(words for words, _ in works), *fails]
    ends = run_without(HEAVY, commands, tmp_path)
    for (code, said, complaint), (_, words) in zip(ends, works, strict=False):
        assert (code, complaint) == (0, "")
        assert words in said
    for (code, said, complaint), (command, *_) in zip(ends[len(works) :], fails, strict=True):
        extra = "look" if command == "plot" else "agents"
        need = f"error: {command} needs more libraries: pip install 'exactdice[{extra}]'\n"
        assert (code, said, complaint) == (2, "", need)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_charts_of_games_need_the_extra_of_pictures_alone(tmp_path):
    commands = [["plot", "greed-policy", *SMALL], ["report", "random", *SMALL]]
    training = HEAVY.replace("matplotlib,", "")
    for command, (code, said, complaint) in zip(
        commands, run_without(training, commands, tmp_path), strict=True
    ):
        assert (code, complaint) == (0, ""), command
        assert said
    ends = run_without(f"{HEAVY},plotly", commands, tmp_path)
    for (command, *_), (code, said, complaint) in zip(commands, ends, strict=True):
        need = f"error: {command} needs more libraries: pip install 'exactdice[look]'\n"
        assert (code, said, complaint) == (2, "", need)


def test_the_board_of_entries_needs_no_training_libraries(tmp_path):
    (tmp_path / "entries" / "empty").mkdir(parents=True)
    training = "torch,stable_baselines3,sb3_contrib,scipy,pandas,ray,filelock"
    (end,) = run_without(training, [["board", "entries", "--summary", "found.md"]], tmp_path)
    code, said, complaint = end
    assert (code, complaint) == (1, "")
    assert said.startswith("refused: empty: must have a card.json, got none\n")
    assert (tmp_path / "found.md").read_text().startswith("## Entries: 0 hold, 1 refused\n")


def test_without_tyro_the_command_line_says_what_to_install(tmp_path):
    """When it is run; importing it is no error."""
    ends = run_without(f"{HEAVY},tyro,rich", [[], ["train"], ["solve"]], tmp_path)
    need = "error: the command line needs more libraries: pip install 'exactdice[cli]'\n"
    assert ends == [[2, "", need]] * 3


BUILDS_NO_GAME = """
import sys, exactdice.cli, exactdice.commands, exactdice.agents.runs.config
import exactdice.sources.four_two_one.match_policies, exactdice.sources.lowest_score.policies
import exactdice.look.gallery, exactdice.play.web, exactdice.play.terminal, exactdice.pettingzoo
exactdice.cli.main(sys.argv[1:])
"""


def test_no_game_is_built_for_imports_and_help():
    """A limit at which nobody can build a game stops neither."""
    command = [sys.executable, "-c", BUILDS_NO_GAME, "solve", "--help"]
    environment = {**os.environ, "EXACTDICE_LIMIT": "lots"}
    result = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert (result.returncode, result.stderr) == (0, "")
    assert "Solve a game exactly" in result.stdout


@pytest.mark.parametrize("limit", ["lots", "", "0", "nan"])
@pytest.mark.parametrize(
    "words",
    [
        *(["train"], ["score", "random"], ["verify", "none"], ["solve"]),
        ["audit", "none.npz"],
        *(
            ["benchmark"],
            ["plot", "greed-policy"],
            ["report", "random"],
            ["play"],
            ["play", "--web"],
        ),
    ],
    ids=" ".join,
)
def test_every_command_names_a_limit_that_is_none(run, monkeypatch, words, limit):
    monkeypatch.setenv("EXACTDICE_LIMIT", limit)
    code, said, complaint = run(*words)
    assert (code, said) == (2, "")
    assert complaint == (
        f"error: EXACTDICE_LIMIT must be a number above 0 or none, got {limit!r}\n"
    )
    assert not list(Path().iterdir())


@pytest.mark.posix
@pytest.mark.parametrize("closed", ["<&-", ">&- 2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("words", [["solve", *SMALL], ["play", "Greed", *SMALL]], ids=" ".join)
def test_a_process_without_standard_streams_ends_well(tmp_path, words, closed):
    command = f"{shlex.join([*COMMAND, *words])} {closed}"
    result = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["plot", "gallery", "--folder", "."], "folder must have a name, .* got ."),
        (["plot", "gallery", "--folder", ""], "folder must have a name, .* got ."),
        (["plot", "gallery", "--folder", ".."], "folder must have a name, .* got .."),
        (["play", ""], "game must be one of Greed, .*"),
    ],
)
def test_places_and_games_without_a_name_are_refused(run, words, message):
    code, said, complaint = run(*words)
    assert (code, said) == (2, "")
    assert re.fullmatch(f"error: {message}\n", complaint)
    assert not list(Path().iterdir())


def test_the_version_is_printed(run):
    assert exactdice.__version__ == version("exactdice")
    assert run("--version") == (0, f"exactdice {exactdice.__version__}\n", "")
    module = [sys.executable, "-m", "exactdice", "--version"]
    assert subprocess.check_output(module, text=True) == run("--version")[1]


@pytest.mark.parametrize("error", [MemoryError("240 GiB"), TypeError("cost() got a keyword")])
def test_an_error_of_the_program_is_no_finding(run, monkeypatch, error):
    monkeypatch.setattr("exactdice.commands.audit.audit_file", Mock(side_effect=error))
    code, said, complaint = run("audit", "mine.npz", "Greed")
    assert (code, said) == (70, "")
    assert complaint.startswith("Traceback")
    assert complaint.endswith(f"{type(error).__name__}: {error}\n")

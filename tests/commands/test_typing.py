"""The command line as users meet it: words, help, misspelt options, streams and exit codes."""

import re
import shlex
import subprocess
import sys
from dataclasses import fields
from importlib.metadata import version
from pathlib import Path
from unittest.mock import Mock

import pytest
from exactdice.agents.runs.config import TrainConfig
from exactdice.look.plotting import NAMES
from typed_words import COMMAND, SMALL

import exactdice
from exactdice.commands import COMMANDS


def test_a_game_is_a_word_in_any_case(prints):
    wanted = prints("solve", *SMALL)
    for words in (["GREED", *SMALL], [*SMALL, "--", "greed"]):
        assert prints("solve", *words) == wanted


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_says_no_none_and_keeps_sentences_whole(prints, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "100")
    said = prints(command, "--help")
    for word in ("None", "(default: False)", "(default: )"):
        assert word not in said
    if command == "train":
        for option in fields(TrainConfig)[1:]:  # the first is the game, a word
            assert f"--{option.name.replace('_', '-')}" in said
        whole = "tuned for so many moves; no steps, eval-interval, stop-at or other reward may be "
        assert whole in " ".join(said.replace("│", " ").split())
        lines = [line.strip("│ ") for line in said.splitlines()]
        assert not any(line.endswith(("agent is scored,", "other reward")) for line in lines)


def test_a_terminal_shows_the_progress_and_the_output_is_the_same(run, monkeypatch):
    for words in (
        ["score", "random", "FourTwoOneMatch", "--env", "tokens", "2"],
        ["solve", *SMALL],
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


def test_plot_without_words_lists_the_charts(prints):
    said = prints("plot")
    for name in NAMES:
        assert f"\n  {name} " in said
    assert "  greed-policy         the best number of dice in every state\n" in said


def test_the_completion_of_the_shell_knows_commands_options_and_values(run):
    assert run("--tyro-write-completion", "bash", "script")[0] == 0
    script = Path("script").read_text()
    for word in ("solve", "--ceiling", "regret"):
        assert word in script


@pytest.mark.posix
@pytest.mark.parametrize(
    "words",
    [
        ["solve", *SMALL],
        ["play", "--statistics"],  # by a console of its own
        ["score", "--help"],  # ends in the parser
    ],
    ids=" ".join,
)
def test_a_reader_who_stops_reading_is_no_error(words):
    command = [*COMMAND, *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        running.stdout.close()
        assert running.stderr.read() == b""
    assert running.returncode == 141


def test_sizes_that_do_not_fit_are_one_line(refusal):
    said = refusal("solve", "FourTwoOne", "--env", "casts", "1000000")
    assert said.startswith("casts must be lower, got ")
    assert said.endswith("(EXACTDICE_LIMIT=none lifts it)")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "--env", "max_score", "0"], "error: max_score must be at least 1, got 0"),
        (["train", "--env", "max_score", "ten"], "max_score must be an integer, got 'ten'"),
        (["train", "--steps", "0"], "steps must be at least 1, got 0"),
        (["train", "--steps", "9", "--steps", "8"], "error: --steps must be given once, got it 2"),
        (["train", "--env", "max_score", "5", "max_score", "6"], "each name once, got max_score"),
        (["train", "--hyperparams", "gamma", "1", "gamma", "0"], "hyperparams must give each name"),
        (["train", "--algorithm", "qlearning", "--device", "cpu:0"], "device must be cpu for a ta"),
        (["solve", "--env", "game", "Greed"], "error: Greed takes the keywords seat, opponent, m"),
        (["describe", "--ladder", "snake"], "error: ladder must be one of 'greed-score', 'gr"),
        (["describe", "Greed", "--ladder", "greed-sides"], "error: games must be left out: a lad"),
        (["describe", "Greed", "Greed"], "error: games must be given once each, got Greed again"),
        (["train", "--env", "max_score"], "env must be pairs of a name and a value"),
        (["score", "nobody"], "error: policy must be a run folder, a certificate, a saved mode"),
        (["score", "."], "error: run folder must hold a config.json, got ."),
        (["plot", "--picture", "x.png"], "picture must be left out: the list of charts has no"),
        (["plot", "greed-polcy"], "got 'greed-polcy'; did you mean greed-policy?"),
        (["solve", "shutthebx"], "got 'shutthebx'; did you mean ShutTheBox?"),
        (["solve", "--env", "max_scor", "5"], "'max_scor'; did you mean max_score?"),
        (["score", "ifelse"], "got 'ifelse'; did you mean if_else?"),
        (["slove"], "got 'slove'; did you mean solve?"),
        (["solve", "--game", "Greed"], "Unrecognized options: --game"),
        (["train", "--conf", "."], "conf must be a YAML file, got .: Is a directory"),
        (["verify"], "certificates must be one file at least, got none"),
        (["tune", "--trials", "0"], "trials must be at least 1, got 0"),
        *((["plot", "gallery", "--folder", name], "folder must have a name") for name in (".", "")),
        (["play", ""], "error: game must be one of Greed, "),
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


@pytest.mark.parametrize(
    ("words", "limit"),
    [
        *(("solve", limit) for limit in ("lots", "", "0", "nan")),
        *(("train", "lots"), ("score random", "lots"), ("verify none", "lots")),
        *(("audit none.npz", "lots"), ("benchmark", "lots"), ("plot greed-policy", "lots")),
        *(("report random", "lots"), ("play", "lots"), ("play --web", "lots")),
    ],
)
def test_every_command_names_a_limit_that_is_none(refusal, monkeypatch, words, limit):
    monkeypatch.setenv("EXACTDICE_LIMIT", limit)
    wanted = f"EXACTDICE_LIMIT must be a number above 0 or none, got {limit!r}"
    assert refusal(*words.split()) == wanted
    assert not list(Path().iterdir())


@pytest.mark.posix
@pytest.mark.parametrize(
    ("words", "closed"), [(["solve", *SMALL], ">&- 2>&-"), (["play", "Greed", *SMALL], "<&-")]
)
def test_a_process_without_standard_streams_ends_well(tmp_path, words, closed):
    command = f"{shlex.join([*COMMAND, *words])} {closed}"
    result = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")


def test_the_version_is_printed(run):
    assert exactdice.__version__ == version("exactdice")
    assert run("--version") == (0, f"exactdice {exactdice.__version__}\n", "")
    module = [sys.executable, "-m", "exactdice", "--version"]
    assert subprocess.check_output(module, text=True) == run("--version")[1]


@pytest.mark.parametrize("error", [MemoryError("240 GiB"), TypeError("cost() got a keyword")])
def test_an_error_of_the_program_is_no_finding(run, monkeypatch, error):
    monkeypatch.setattr("exactdice.commands.training.audit_file", Mock(side_effect=error))
    code, said, complaint = run("audit", "mine.npz", "Greed")
    assert (code, said) == (70, "")
    assert complaint.startswith("Traceback")
    assert complaint.endswith(f"{type(error).__name__}: {error}\n")

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
from thinning import later
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
@pytest.mark.parametrize(  # the second has a console of its own, the third ends in the parser
    "words",
    [["solve", *SMALL], later(["play", "--statistics"]), later(["score", "--help"])],
    ids=" ".join,
)
def test_a_reader_who_stops_reading_is_no_error(words):
    command = [*COMMAND, *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        running.stdout.close()
        assert running.stderr.read() == b""
    assert running.returncode == 141


MISTAKES = [
    ("train --env max_score 0", "error: max_score must be at least 1, got 0"),
    ("train --env max_score ten", "max_score must be an integer, got 'ten'"),
    ("train --steps 0", "steps must be at least 1, got 0"),
    ("train --steps 1.5", "error: steps must be a whole number, got 1.5"),
    ("train --steps many", "got 'many'"),
    ("train --steps 9 --steps 8", "error: --steps must be given once, got it 2"),
    ("train --env max_score 5 max_score 6", "each name once, got max_score"),
    ("train --hyperparams gamma 1 gamma 0", "hyperparams must give each name"),
    ("train --algorithm qlearning --device cpu:0", "device must be cpu for a ta"),
    ("train --env max_score", "env must be pairs of a name and a value"),
    ("doctor --declare returns x.py", "--declare NAME EXPRESSION, got returns"),
    ("train --conf .", "conf must be a YAML file, got .: Is a directory"),
    ("benchmark --steps 1.5", "error: steps must be a whole number, got 1.5"),
    ("benchmark --steps many", "got 'many'"),
    ("submit mine --title a --link https://a.b --moves 1.5", "got 1.5"),
    ("solve --env game Greed", "error: Greed takes the keywords seat, opponent, m"),
    ("solve FourTwoOne --env casts 1000000", "(EXACTDICE_LIMIT=none lifts it)"),
    ("describe --ladder snake", "error: ladder must be one of 'greed-score', 'gr"),
    ("describe Greed --ladder greed-sides", "error: games must be left out: a lad"),
    ("describe Greed Greed", "error: games must be given once each, got Greed again"),
    ("describe --csv --json", "error: csv must be left out"),
    ("score nobody", "error: policy must be a run folder, a certificate, a saved mode"),
    ("score .", "error: run folder must hold a config.json, got ."),
    ("score mine FourTwoOne", "error: game must be left out: only a policy that is no run folder"),
    ("score . Greed", "error: run folder must hold a config.json, got ."),
    ("score mine --env max_score 5", "error: env must be left out"),
    ("score random --model best", "error: model must be left out: only a run folder has it"),
    ("score random --stochastic", "error: stochastic must be left out"),
    ("score random --ceiling", "error: ceiling must be left out"),
    ("score mine.npz LowestScore", "mine.npz must be of LowestScore, got one of Greed, max_sc"),
    ("score mine.npz --env max_score 8", "mine.npz must be of Greed, max_score 8, sides 3, go"),
    ("score mine.npz --env max_score 100", "mine.npz must be of Greed, sides 3, got one of Gr"),
    ("score runs/none", "policy must be a file or a folder that exists, got runs/none: it is"),
    ("compare if_else mine Greed", "game must be left out: only a comparison without runs has it"),
    ("compare mine nobody", "policy must be a run folder"),
    ("compare mine.npz other.npz", "other.npz must be of Greed, max_score 7, sides 3, got one"),
    ("compare mine.npz none.npz", "or a folder that exists, got none.npz: it is missing"),
    ("play --against model.zip", "or a folder that exists, got model.zip: it is missing"),
    ("play ''", "error: game must be one of Greed, "),
    ("plot --picture x.png", "picture must be left out: the list of charts has no"),
    ("plot mine --picture x.pgf", "picture must end in one of png, svg, pdf, jpg, webp, got x.pgf"),
    ("plot gallery --folder .", "folder must have a name"),
    ("plot gallery --folder ''", "folder must have a name"),
    ("plot greed-polcy", "got 'greed-polcy'; did you mean greed-policy?"),
    ("solve shutthebx", "got 'shutthebx'; did you mean ShutTheBox?"),
    ("solve --env max_scor 5", "'max_scor'; did you mean max_score?"),
    ("score ifelse", "got 'ifelse'; did you mean if_else?"),
    ("slove", "got 'slove'; did you mean solve?"),
    ("solve --game Greed", "Unrecognized options: --game"),
    ("verify", "certificates must be one file at least, got none"),
    ("tune --trials 0", "trials must be at least 1, got 0"),
]


@pytest.mark.usefixtures("mine", "certified")
@pytest.mark.parametrize(("words", "message"), MISTAKES)
def test_a_mistake_gets_a_message_and_no_traceback(run, tmp_path, words, message):
    before = sorted(tmp_path.rglob("*"))
    code, said, complaint = run(*shlex.split(words))
    assert code == 2
    assert message in " ".join((said + complaint).replace("│", " ").split())
    if "error:" in complaint:  # one of ours: the others are boxes of tyro
        assert len(complaint.splitlines()) == 1
    assert sorted(tmp_path.rglob("*")) == before


COMPUTE = ["train", "score random", "verify none", "audit none.npz", "benchmark", "play --web"]
COMPUTE += ["plot greed-policy", "report random", "play"]
LIMITS = [("solve", "lots"), ("solve", ""), ("solve", "0"), ("solve", "nan")]


@pytest.mark.parametrize(("words", "limit"), [*LIMITS, *((words, "lots") for words in COMPUTE)])
def test_every_command_names_a_limit_that_is_none(refusal, monkeypatch, words, limit):
    monkeypatch.setenv("EXACTDICE_LIMIT", limit)
    wanted = f"EXACTDICE_LIMIT must be a number above 0 or none, got {limit!r}"
    assert refusal(*words.split()) == wanted
    assert not list(Path().iterdir())


@pytest.mark.posix
@pytest.mark.parametrize(
    ("words", "closed"),
    [(["solve", *SMALL], ">&- 2>&-"), later((["play", "Greed", *SMALL], "<&-"))],
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

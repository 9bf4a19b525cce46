"""Commands where libraries of an extra are missing."""

import json
import subprocess
import sys

import pytest
from spawned import printed_by
from typed_words import SMALL

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


@pytest.mark.slow
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
        *(["train"], ["train", "--resume", "mine"], ["score", "mine"], ["plot", "mine"]),
        *(["benchmark"], ["tune"], ["play", "--against", "mine"], ["board", "."]),
        *(["audit", "mine/certificate.npz"], ["report", "random"], ["plot", "greed-policy"]),
    ]
    commands = [*(words for words, _ in works), *fails]
    ends = run_without(f"{HEAVY},pebble", commands, tmp_path)
    for (code, said, complaint), (_, words) in zip(ends, works, strict=False):
        assert (code, complaint) == (0, "")
        assert words in said
    for (code, said, complaint), (command, *_) in zip(ends[len(works) :], fails, strict=True):
        extra = {"plot": "look", "report": "look", "board": "entries"}.get(command, "agents")
        need = f"error: {command} needs more libraries: pip install 'exactdice[{extra}]'\n"
        assert (code, said, complaint) == (2, "", need)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_without_tyro_the_command_line_says_what_to_install(tmp_path):
    """When it is run; importing it is no error."""
    ends = run_without(f"{HEAVY},tyro,rich", [[], ["train"], ["solve"]], tmp_path)
    need = "error: the command line needs more libraries: pip install 'exactdice[cli]'\n"
    assert ends == [[2, "", need]] * 3


IMPORTS = """
import exactdice.cli, exactdice.commands, exactdice.agents.runs.config
import exactdice.games.four_two_one.match_policies, exactdice.games.lowest_score.policies
import exactdice.look.plotting, exactdice.play.web, exactdice.play.terminal, exactdice.pettingzoo
exactdice.cli.main(["solve", "--help"])
"""


def test_no_game_is_built_for_imports_and_help(monkeypatch):
    """A limit at which nobody can build a game stops neither."""
    monkeypatch.setenv("EXACTDICE_LIMIT", "lots")
    assert "Solve a game exactly" in printed_by(IMPORTS)

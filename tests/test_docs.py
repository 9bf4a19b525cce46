"""The code in the README and the documentation, run as it stands."""

import io
import re
import shlex
import shutil
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name

import pytest
from checkout import ROOT

from exactdice.cli import _parse, main
from exactdice.registry import GAMES

PAGES = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").rglob("*.md"))]
PAGES = ["README.md", "CONTRIBUTING.md", *PAGES]
#: Python that is only compiled, by its first line, and why.
NOT_IMPORTED = {
    "# in the loop of CleanRL's ppo.py": "lines of a program; tests/diagnose/test_snippets.py",
    "from quantecon.markov import DiscreteDP, backward_induction": "another project's planner",
    "from mdptoolbox.mdp import ValueIteration": "another project's planner",
    "from bettermdptools.algorithms.planner import Planner": "another project's planner",
}
#: How commands begin that are not run, and why. The options of ours are parsed still.
NOT_RUN = [
    "exactdice audit mine.npz",  # the file is another block's; tests/diagnose/test_files.py
    "exactdice play --web",  # serves until Ctrl-C; tests/play/test_web.py does it
    "exactdice plot curves",  # needs runs; tests/board/test_curves.py
    "exactdice plot track",  # needs the runs of a benchmark; tests/board/test_leaderboard.py
    "exactdice plot ladder",  # needs the runs of a benchmark; tests/board/test_pictures.py
    "exactdice submit",  # needs the runs of a benchmark; tests/board/test_entries.py
    "exactdice board",  # takes minutes with entries; tests/board/test_entries.py
    "exactdice diagnose runs/match-ppo",  # needs that run; tests/diagnose/test_callback.py
    "python benchmarks/ladders.py",  # reads 130 runs; tests/board/test_pictures.py has its tables
    "git clone",  # needs a network
    "make",  # makes .venv, or runs this suite
    "python -m docs.reproductions",  # computes for minutes; tests/reproductions
    ".venv/bin/python -m",  # installs, or runs this suite
    "pip install",  # needs a network
    "ray",  # starts servers on several machines
    # trains for long; tests/agents and test_examples.py have small runs
    *("exactdice benchmark", "exactdice tune"),
    *("exactdice train Yahtzee", "exactdice train Yahtzee --reward regret"),
    *(f"exactdice train {game} --track" for game in ("Greed", "LowestScoreMatch")),
    "python examples/cleanrl_style_dqn.py --env-id",
    "python examples/ppo.py --total-timesteps",
    *("python benchmarks/debugging.py", "python examples/ppo_jax.py"),
    # computes for long; slow tests do it, or others with smaller games
    *("exactdice solve FourTwoOneMatch --exact", "exactdice solve Yahtzee"),
    *("exactdice ask Yahtzee", "exactdice score random gym:MiniGrid-DoorKey-5x5-v0"),
    "exactdice solve gym:MiniGrid-DoorKey-5x5-v0 --explore",  # a slow test below
    *("exactdice score optimal Yahtzee", "exactdice score runs/Yahtzee-ppo-1 Yahtzee"),
    *("python benchmarks/tours.py", "python benchmarks/medians.py", "python benchmarks/worlds.py"),
    *(f"exactdice plot yahtzee-{chart}" for chart in ("boxes", "bonus", "points")),
    *("exactdice describe --ladder greed-sides", "python benchmarks/jax_stepping.py"),
    "exactdice describe Greed LowestScore ShutTheBox",
    # another project's program, in an installation of its own, and the shell's words around it
    *(f"python benchmarks/clients/{name}_track.py" for name in ("cleanrl", "tianshou")),
    *(f"python cleanrl/cleanrl/{name}.py" for name in ("dqn", "ppo")),
    "python benchmarks/clients/cleanrl_score.py",
    *(f"python benchmarks/clients/{name}_ppo.py" for name in ("rl_zoo3", "purejaxrl")),
    *("python benchmarks/clients/tune_entrant.py", "python -m rl_zoo3.train"),
    *("exactdice doctor ppo.py", "exactdice doctor --probes ppo.py", "exactdice doctor --declare"),
    *("mkdir certificates", "for game in", "for seed in", "done", "source"),
]
TRAINING = ("exactdice train", "python train.py")  # cut short
#: Commands that are run with a smaller game, by how they begin.
SMALLER = {
    "exactdice solve examples/pig.py:Pig": ("target", "10"),
    "exactdice train examples/pig.py:Pig": ("target", "10"),
    "exactdice solve FourTwoOneMatch": ("tokens", "2"),
    "exactdice plot policy if_else Greed": ("max_score", "20"),
    "exactdice ask FourTwoOneMatch": ("tokens", "2"),
    "exactdice compare if_else terminal Greed": (
        "max_score",
        "20",
    ),  # tests/commands/test_scores.py
    "exactdice score hold:20 examples/pig.py:Pig": ("target", "20"),
    "exactdice play Greed --puzzles": ("max_score", "20"),
}


def read(page):
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(*languages):
    """List the fenced blocks of all pages: page, language, code."""
    for page in PAGES:
        for language, code in re.findall(r"^```([^\n]*)\n(.*?)^```$", read(page), re.M | re.S):
            if not languages or language in languages:
                yield page, language, code


def commands(code):
    """Give the commands of a block as words, without comments and variables set for one of them."""
    for line in code.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        while words and re.match(r"[A-Z_]+=", words[0]):
            del words[0]
        if words:
            yield words


def matching(words, table):
    text = shlex.join(words)
    return [begin for begin in table if text == begin or text.startswith(begin + " ")]


def arguments(words):
    """Give what a command says to the package's command line."""
    if words[:2] == ["python", "train.py"]:
        return ["train", *words[2:]]
    assert words[0] == "exactdice", words
    return words[1:]


@cache
def parse(*words):
    return _parse(list(words))


def cut_short(words):
    """Give what a command says, with a single step of training, or of a smaller game."""
    given = arguments(words)
    smaller = [SMALLER[begin] for begin in matching(words, SMALLER)]
    if matching(words, TRAINING):
        steps = given.index("--steps") if "--steps" in given else len(given)
        given[steps : steps + 2] = ["--steps", "1"]
        if not {"--env", "--resume", *GAMES} & set(given) and ":" not in str(given):
            smaller = [("max_score", "20")]
    for name, size in smaller:
        if name in given:
            given[given.index(name) + 1] = size
        else:
            given += ["--env", name, size]
    if "--total-timesteps" in given:
        given[given.index("--total-timesteps") + 1] = "1200"
    return given


def promised(code):
    """List the decimals and fractions that comments say are printed."""
    return re.findall(r"# (\d+\.\d{3,}|\d+/\d+$)", code, re.M)


def outside():
    """List what is in the folders of the checkout and at home, where no block may write."""
    places = [ROOT, *(ROOT / name for name in ("docs", "examples", "docs/notebooks")), Path.home()]
    return {path for place in places for path in place.iterdir() if path.name[0] not in "._"}


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """Work in a folder that has of the checkout what the pages name, and see that it is alone."""
    before = outside()
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(ROOT / "examples")
    monkeypatch.setattr("sys.stdin", io.StringIO())  # nobody is there to play
    shutil.copytree(ROOT / "examples", "examples", ignore=shutil.ignore_patterns("__pycache__"))
    folder = Path("benchmarks/leaderboard")
    folder.mkdir(parents=True)
    shutil.copy(ROOT / folder / "certificates.zip", folder)
    shutil.copy(ROOT / "agents/hyperparams/ppo.yml", "mine.yml")
    yield
    assert outside() == before  # no block leaves a file in the checkout or at home


#: What the longest blocks do: other tests do it in less time.
TRAINS = "DiagnoseCallback(every", "single, n_steps=256", "DummyVecEnv([lambda"
TRAINS += "print(audit(envs, step))", "n_steps=512, seed=0", "print(found.verdict)"
TRAINS += ("check_game(Pig",)
PYTHON = [
    pytest.param(code, id=f"{page} {n}", marks=[pytest.mark.slow] * any(w in code for w in TRAINS))
    for n, (page, _, code) in enumerate(blocks("python"))
]


@pytest.mark.usefixtures("own_games", "checkout")
@pytest.mark.parametrize("code", PYTHON)
def test_a_block_of_python_runs_and_prints_what_it_says(code, capsys):
    program = compile(code, "documentation", "exec")
    if "exactdice.jax" in code:
        pytest.importorskip("jax")
    if "from_spiel" in code:
        pytest.importorskip("open_spiel.python.policy", exc_type=ImportError)
    if code.splitlines()[0] not in NOT_IMPORTED:
        exec(program, {})
        printed = capsys.readouterr().out
        assert [number for number in promised(code) if number not in printed] == []


#: Pages of long runs, and of programs in processes of their own, as tests/diagnose/test_doctor.py
#: has small ones.
LONG_PAGES = ("docs/training.md", "docs/play.md", "docs/doctor.md")


@pytest.mark.usefixtures("own_games", "checkout")
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.slow] * (page in LONG_PAGES))
        for page in dict.fromkeys(page for page, *_ in blocks("sh"))
    ],
)
def test_the_commands_of_a_page_run_one_after_the_other(page, capsys):
    for _, _, code in (found for found in blocks("sh") if found[0] == page):
        for words in commands(code):
            if not matching(words, NOT_RUN):
                with pytest.raises(SystemExit) as end:
                    main(cut_short(words))
                assert end.value.code == 0, (words, capsys.readouterr().err)
            elif words[0] == "exactdice":
                parse(*arguments(words))
        if not any(matching(words, NOT_RUN) for words in commands(code)):
            printed = capsys.readouterr().out
            assert [number for number in promised(code) if number not in printed] == []


@pytest.mark.slow
@pytest.mark.usefixtures("own_games", "checkout")
def test_the_level_of_the_page_on_their_worlds_is_solved():
    """For five seconds; ``tests/envs/test_explored.py`` has smaller levels."""
    with pytest.raises(SystemExit) as end:
        main(["solve", "gym:MiniGrid-DoorKey-5x5-v0", "--explore"])
    assert end.value.code == 0


@pytest.mark.usefixtures("own_games", "checkout")
def test_the_commands_within_sentences_have_options_that_there_are():
    """Those without a place for one's own words, which are in capitals."""
    texts = [re.sub(r"^```.*?^```$", "", read(page), flags=re.M | re.S) for page in PAGES]
    found = {*re.findall(r"`((?:exactdice|python train\.py) [^`]*)`", "".join(texts))}
    assert len(found) > 10
    for words in map(shlex.split, sorted(found)):
        if not any(re.fullmatch(r"[A-Z]+|\.\.\.|--help", word) for word in words):
            parse(*arguments(words))


def test_the_pages_have_60_000_words_at_most():
    assert sum(len(read(path).split()) for path in (ROOT / "docs").glob("*.md")) <= 60_000


def test_every_exception_is_one_still_and_every_block_says_its_language():
    languages = {language for _, language, _ in blocks()}
    assert languages <= {"python", "sh", "text", "bibtex"}
    for page, _, code in blocks("text", "bibtex"):  # no command hides there
        assert not re.search(r"^(exactdice|python|make|pip) ", code, re.M), page
    first = {code.splitlines()[0] for _, _, code in blocks("python")}
    assert set(NOT_IMPORTED) <= first
    typed = [words for _, _, code in blocks("sh") for words in commands(code)]
    assert {begin for words in typed for begin in matching(words, NOT_RUN)} == set(NOT_RUN)


def test_every_name_of_the_package_that_a_page_has_is_there_and_times_stand_on_one_page():
    measured = re.compile(r"\b0\.\d+ s\b|\b\d+ ms\b")
    assert {page for page in PAGES if measured.search(read(page))} <= {"docs/speed.md"}
    for page in [*PAGES, *(ROOT / "docs/notebooks").glob("*.ipynb")]:
        for name in set(re.findall(r"(?<![\w./-])exactdice(?:\.[A-Za-z_]\w*)+", read(page))):
            if find_spec("jax") or not name.startswith("exactdice.jax"):
                assert resolve_name(name) is not None, page


def test_every_figure_of_the_story_of_the_sources_is_one_that_reproduce_prints():
    story, index = read("docs/what-the-sources-got-wrong.md"), read("docs/reproduction.md")
    printed = "".join(map(read, (ROOT / "docs/reproduction").glob("*.md")))
    figures = set(re.findall(r"(?<![\w./])(?:\d+/\d+|\d+\.\d+)(?![\w/])", story))
    figures -= {"2.3", "1.0", "98.7"}  # sections, and the caption of a picture, which it prints too
    assert len(figures) > 50
    assert figures - set(re.findall(r"\d+/\d+|\d+\.\d+", printed)) == set()
    rows = re.findall(r"^\| [^|]+ \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", story, re.M)
    counts = re.findall(r"\| (\d+) claims: (.*); 0 not as recorded", index)
    assert len(rows) == len(counts) == 5
    for row, (claims, verdicts) in zip(rows, counts, strict=True):
        of = {name: int(count) for count, name in re.findall(r"(\d+) ([a-z ]+)", verdicts)}
        agree = sum(count for name, count in of.items() if name.startswith("agrees"))
        assert [*map(int, row)] == [int(claims), agree, of.get("garbled", 0), of["wrong"]]


QUICK = {"greed", "lowest-score", "shut-the-box", "421"}
LONG = pytest.param({"lowest-score-match", "421-match", "yahtzee"}, marks=pytest.mark.slow)


@pytest.mark.parametrize("games", [QUICK, LONG])
def test_the_boards_are_those_that_their_program_draws(monkeypatch, games):
    monkeypatch.syspath_prepend(ROOT / "docs")
    import boards

    assert games < {path.stem for path in (ROOT / "docs/boards").iterdir()} == set(boards.BOARDS)
    for name in games:
        assert read(f"docs/boards/{name}.svg") == boards.draw(name), name


@pytest.mark.slow
def test_the_table_of_all_games_is_the_one_that_its_command_prints(capsys):
    page = read("docs/which-game.md")
    (command,) = re.findall(r"^exactdice (describe .*)$", page, re.M)
    with pytest.raises(SystemExit) as end:
        main(command.split())
    assert end.value.code == 0
    printed = re.search(r"^\|.*\|$", capsys.readouterr().out, re.M | re.S)[0]
    assert printed in page

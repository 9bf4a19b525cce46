"""Charts of benchmarks: curves, the leaderboard, and ladders over properties of their rungs."""

import csv
import runpy
import shutil
from types import SimpleNamespace

import numpy as np
import pytest
from checkout import ROOT
from exactdice.agents.runs.config import RunError, TrainConfig
from exactdice.agents.runs.folders import read_score
from exactdice.agents.runs.train import train
from exactdice.baselines import describe, make_task
from exactdice.baselines.scoring.description import PROPERTIES
from exactdice.board import pictures
from exactdice.board.ladders import LADDERS, find_ladder
from exactdice.board.pictures import highest, ladder, read_ladder
from exactdice.board.results import read_results, write_runs
from exactdice.envs import find_game
from exactdice.games import GAMES, InputError
from exactdice.look.plotting import picture
from finished_runs import run as finished

#: Ladders that were run, whose figures docs/ladders.md has.
LADDERS_RUN = ROOT / "benchmarks/ladders"


def climb(folder, game="Greed", steps=200, seed=0, **env):
    small = {"algorithm": "qlearning", "num_envs": 16, "steps": steps, "seed": seed}
    train(TrainConfig(game, env, run_folder=folder, **small))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two rungs of a ladder, of which the second one comes first, with two seeds."""
    folder = tmp_path_factory.mktemp("ladder")
    for size, seed in ((20, 0), (10, 0), (10, 1)):
        climb(folder / f"Greed-{size}-{seed}", steps=2000, seed=seed, max_score=size)
    return folder


def test_scores_stand_on_their_rungs_in_a_panel_for_each_property_that_differs(folder):
    found, scores = read_ladder(folder)
    assert found == LADDERS["greed-score"]
    assert {rung: len(own) for rung, own in scores["Q-learning"].items()} == {0: 2, 1: 1}
    assert scores["Q-learning"][1] == [read_score(folder / "Greed-20-0")["normalized"]]
    plot = ladder(folder)
    games = [describe(make_task("Greed", max_score=size)) for size in (10, 20)]
    gaps = [1 - np.mean(scores["Q-learning"][rung]) for rung in (0, 1)]
    assert [panel.x_label.partition(" ")[0] for panel in plot.panels] == [
        "max_score", "reachable", "agent's", "outcome",
    ]  # fmt: skip
    properties = [(np.log10(each.reachable_states), each.moves, each.noise) for each in games]
    expected = [[10, 20], *zip(*properties, strict=True)]
    for panel, places in zip(plot.panels, expected, strict=True):
        (line,) = panel.series
        order = np.argsort(places)
        assert line.x == pytest.approx(np.array(places)[order])
        assert line.y == pytest.approx(np.array(gaps)[order])
        assert (line.low <= line.y).all()
        assert (line.y <= line.high).all()
    assert "Highest max_score with a mean score of 0.99: Q-learning none." in plot.caption
    assert picture(["ladder", str(folder)]).caption == plot.caption
    assert highest({0: [0.995], 1: [0.98], 2: [0.98, 1.0], 3: [0.5]}) == 2
    assert highest({0: [0.98]}) is None


def test_runs_must_be_finished_and_of_one_ladder(folder, tmp_path):
    with pytest.raises(RunError, match="folder must hold finished runs, got"):
        read_ladder(tmp_path)
    shutil.copytree(folder / "Greed-10-0", tmp_path / "one")
    climb(tmp_path / "other", max_score=10, sides=3)
    with pytest.raises(RunError, match="folder must hold runs of one game that differ in a keyw"):
        read_ladder(tmp_path)


@pytest.mark.slow
@pytest.mark.usefixtures("own_games")
def test_runs_that_differ_in_another_keyword_are_a_ladder_of_their_own(tmp_path):
    for size in (12, 3):
        climb(tmp_path / str(size), f"{ROOT / 'examples/pig.py'}:Pig", target=size)
    found, scores = read_ladder(tmp_path)
    assert (found.title, found.knob) == ("Pig, target", "target")
    rungs = {rung.label: rung.keywords for rung in found.rungs}
    assert list(rungs.items()) == [("3", {"target": 3}), ("12", {"target": 12})]
    assert scores["Q-learning"][1] == [read_score(tmp_path / "12")["normalized"]]
    assert ladder(tmp_path).panels[0].series[0].x.tolist() == [3, 12]
    shutil.rmtree(tmp_path / "3")
    with pytest.raises(RunError, match="folder must hold runs of one game that differ in a keyw"):
        read_ladder(tmp_path)


@pytest.fixture(scope="module")
def program():
    return SimpleNamespace(**runpy.run_path(str(ROOT / "benchmarks/ladders.py")))


@pytest.mark.slow
@pytest.mark.usefixtures("own_games")
def test_the_page_has_the_tables_of_all_ladders_and_short_runs_are_five(program, monkeypatch):
    monkeypatch.chdir(ROOT)  # the runs of Pig name its file from here
    folders = sorted(path for path in LADDERS_RUN.iterdir() if path.is_dir())
    climbs = [program.read(folder)["PPO"] for folder in folders]
    page = (ROOT / "docs/ladders.md").read_text(encoding="utf-8")
    assert program.results(climbs).markdown() in page
    whole = program.correlations(climbs)
    assert program.brief(whole).markdown() in page
    assert whole.csv() == (LADDERS_RUN / "correlations.csv").read_text(encoding="utf-8")
    assert {climb.ladder.name for climb in climbs} == {*LADDERS, "pig-target"}
    for climb in climbs:
        assert f"(ladders/{climb.ladder.name}.png)" in page
        assert sorted(climb.scores) == list(range(len(climb.ladder.rungs)))
    for folder in folders:
        seconds = {}
        for run in read_results(folder):
            seconds.setdefault(run.game, []).append(run.seconds)
        assert all(len(own) == (5 if min(own[:2]) < 60 else 2) for own in seconds.values())


def test_holm_and_permutations_by_hand_and_points_are_joined_where_a_property_is_monotone(program):
    assert program.holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    three = program.chance([[1, 2, 3]], [[0.1, 0.2, 0.3]])  # two of six orders are as extreme
    assert three == pytest.approx(1 / 3, abs=0.01)
    assert program.chance([[1, 1, 1]], [[0.1, 0.2, 0.3]]) == 1
    scores = {rung: [0.5] for rung in range(3)}
    for places, joined in (([1, 2, 3], True), ([3, 2, 1], True), ([1, 3, 2], False)):
        climb = program.Climb(LADDERS["greed-sides"], scores, {"moves": places})
        assert program.line(climb, "moves").joined == joined


SMALL_RUNGS = [
    pytest.param(path.parent, line, id=f"{path.parent.name} {line['name']}")
    for path in sorted(LADDERS_RUN.glob("*/properties.csv"))
    for line in csv.DictReader(path.read_text().splitlines())
    if int(line["states"]) <= 1_000
]


@pytest.mark.usefixtures("own_games")
@pytest.mark.parametrize(("folder", "line"), SMALL_RUNGS)
def test_the_properties_of_small_rungs_are_those_of_the_games(folder, line, monkeypatch):
    monkeypatch.chdir(ROOT)
    ladder, _ = read_ladder(folder)
    label = line["name"].removeprefix(f"{ladder.knob} ")
    (rung,) = (rung for rung in ladder.rungs if rung.label == label)
    found = describe(make_task(find_game(ladder.game).name, **rung.keywords))
    for figure in PROPERTIES:
        value = getattr(found, figure.name)
        assert value == (pytest.approx(float(line[figure.name])) if line[figure.name] else None)


def test_the_curves_of_a_benchmark_are_of_greed_or_its_first_game(tmp_path):
    curve = {"moves": (100, 200), "scores": (0.5, 0.75)}
    names = "Greed", "ShutTheBox", "FourTwoOne"  # in the order of all lists
    of_greed, box, match = (finished(name, 0, 0.75, **curve) for name in names)
    write_runs([match, box], tmp_path)
    (line,) = pictures.learning([tmp_path]).panels[0].series
    assert (line.name, line.y.tolist()) == ("ShutTheBox: PPO", [0.5, 0.25])
    write_runs([match, box, of_greed], tmp_path)
    assert pictures.learning([tmp_path]).panels[0].series[0].name == "Greed: PPO"
    write_runs([], tmp_path)
    with pytest.raises(RunError, match="folder must have finished runs, got none in"):
        pictures.learning([tmp_path])


def test_the_leaderboard_has_an_interval_around_every_mean():
    (panel,) = pictures.leaderboard(ROOT / "benchmarks" / "leaderboard").panels
    assert len(panel.labels) > 15
    assert np.all(panel.low <= panel.values)
    assert np.all(panel.values <= panel.high)
    agents = [label.partition(": ")[2] for label in panel.labels]
    pairs = set(zip(agents, panel.colours, strict=True))
    assert len(set(agents)) == len(set(panel.colours)) == len(pairs)


@pytest.mark.parametrize(
    "ladder",
    [
        pytest.param(ladder, id=name, marks=[pytest.mark.slow] * (ladder.knob == "opponent"))
        for name, ladder in LADDERS.items()
    ],
)
def test_every_rung_is_a_task(ladder):
    for rung in ladder.rungs[:2]:
        task = make_task(ladder.game, **rung.keywords)
        assert isinstance(task.game, GAMES[ladder.game])
        value = rung.keywords[ladder.knob]
        assert value in (getattr(task.game, ladder.knob, None), *task.opponents)


def test_a_ladder_of_your_own_is_a_game_a_keyword_and_values():
    own = find_ladder(["greed", "max_dice", "12", "3", "6"])
    assert (own.name, own.title, own.knob) == ("greed-max_dice", "Greed, max_dice", "max_dice")
    assert [(rung.label, rung.keywords) for rung in own.rungs] == [
        (value, {"max_dice": int(value)}) for value in ("3", "6", "12")
    ]
    against = find_ladder(["Greed", "opponent", "strength:0.3", "strength:0.1"])
    assert [rung.keywords["opponent"] for rung in against.rungs] == ["strength:0.1", "strength:0.3"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["greed-scores"], "ladder must be one of 'greed-score'.*did you mean greed-score?"),
        ([], "ladder must be a name, or a game, a keyword and two values at least that differ by"),
        (["Greed", "sides", "3"], "differ by a number, got Greed sides 3"),
        (["Greed", "sides", "3", "3"], "differ by a number, got Greed sides 3 3"),
        (["Greed", "opponent", "random", "optimal"], "differ by a number, got Greed opponent rand"),
        (["Greed", "sides", "3", "3x"], "differ by a number, got Greed sides 3 3x"),
        (["Greed", "sides", "3", "nan"], "differ by a number, got Greed sides 3 nan"),
        (["Snake", "sides", "3", "4"], "game must be one of Greed"),
        (["Greed", "tiles", "6", "7"], "Greed takes the keywords .* unexpected .* 'tiles'"),
        (["ShutTheBox", "tiles", "9", "99"], "tiles must be at most 12, got 99"),
    ],
)
def test_what_is_no_ladder_is_refused(words, message):
    with pytest.raises(InputError, match=message):
        find_ladder(words)


def test_the_rungs_of_a_ladder_are_in_order_and_on_the_page():
    rows = []
    for name, known in LADDERS.items():
        labels = [rung.label for rung in known.rungs]
        assert labels == sorted(set(labels), key=float)
        assert name.replace("-", "").isalnum()  # a name of a folder
        strength = "strength " if known.knob == "opponent" else ""
        rows.append(f"| {name} | {known.knob} | {strength}{', '.join(labels)} |")
    page = (ROOT / "docs/ladders.md").read_text()
    assert page.partition("| ladder |")[2].partition("\n\n")[0].splitlines()[2:] == rows

"""Charts of runs, and the page about one, opened in a browser."""

import base64
import gzip
import html
import io
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from checkout import ROOT
from exactdice.agents.runs.agent import AgentOptions, report, show
from exactdice.agents.runs.config import RunError, TrainConfig
from exactdice.agents.runs.folders import load_model, read_score
from exactdice.agents.runs.train import train
from exactdice.baselines import best_response, evaluate, make_task, score
from exactdice.baselines.scoring.figure import FIGURES
from exactdice.core.progress import watched
from exactdice.look import page as pages
from exactdice.look import plotting
from exactdice.look import report as reports
from exactdice.look import runs as charts
from exactdice.look.charts import Example
from exactdice.look.games import greed
from exactdice.look.plotting import GAME_CHARTS
from rich.console import Console


@pytest.fixture(scope="module")
def runs(trained):
    return {reward: trained(reward=reward)[1] for reward in ("outcome", "regret")}


@pytest.fixture
def undrawn(monkeypatch):
    """Have a page name its pictures, and count their panels, in place of drawing them."""
    counted = {}

    def section(plot, name):
        counted[name] = len(plot.panels)
        return [pages.paragraph(plot.caption)]

    monkeypatch.setattr(pages, "section", section)
    return counted


def test_a_critic_stands_beside_the_value_of_its_policy(runs):
    (panel,) = charts.critic(runs["outcome"]).panels
    stochastic = score(*load_model(runs["outcome"]), deterministic=False)
    start = int(np.argmax(panel.weights))
    assert panel.weights[start] == pytest.approx(1)  # every game begins there
    assert panel.x[start] == pytest.approx(stochastic.value)
    assert np.all((panel.y > -0.5) & (panel.y < 1.5))
    assert "the critic says" in panel.words(start)
    (panel,) = charts.critic(runs["regret"]).panels  # of the rewards of single moves
    stochastic = score(*load_model(runs["regret"]), deterministic=False)
    assert (panel.x * panel.weights).sum() == pytest.approx(-stochastic.regret, rel=1e-6)


@pytest.mark.parametrize("algorithm", ["dqn", "qlearning"])
def test_action_values_are_a_critic_in_payoffs_of_the_game(algorithm, tmp_path):
    """DQN learns from scaled payoffs, here of -12 to 0, which its critic must not show."""
    game = {"dice": 2, "objective": "score", "players": 1}
    steps = 1500 if algorithm == "dqn" else 3000
    options = {"steps": steps, "num_envs": 16, "eval_interval": 1500, "algorithm": algorithm}
    if algorithm == "dqn":
        options["hyperparams"] = {"buffer_size": "2000", "learning_starts": "200"}
    train(TrainConfig("LowestScore", game, run_folder=tmp_path / "run", **options))
    (panel,) = charts.critic(tmp_path / "run").panels
    assert panel.x.min() == -12
    assert panel.y.min() < -3  # scaled payoffs are not below -1
    if algorithm == "qlearning":  # whose table is nearly right by then
        assert np.average(np.abs(panel.y - panel.x), weights=panel.weights) < 0.3


@pytest.mark.usefixtures("undrawn")
def test_a_critic_of_discounted_rewards_is_refused_and_the_page_says_why(runs, tmp_path):
    folder = Path(shutil.copytree(runs["outcome"], tmp_path / "run"))
    path = folder / "hyperparameters.yml"
    path.write_text(re.sub(r"gamma: [\d.]+", "gamma: 0.9", path.read_text()))
    with pytest.raises(RunError, match="critic needs a run without self-play with gamma 1"):
        charts.critic(folder)
    *_, last = reports._of_run(AgentOptions(str(folder)))
    assert last.content.startswith("No picture critic: critic needs")


def test_the_curve_of_a_run_ends_at_its_score_and_plot_draws_it_by_name(prints, runs):
    (line,) = charts.learning([charts.log_of(runs["outcome"])]).panels[0].series
    assert line.y[-1] == pytest.approx(1 - read_score(runs["outcome"])["normalized"])
    assert line.name == "Greed: PPO"
    said = prints("plot", "greed-policy", "--env", "max_score", "10", "sides", "3")
    assert said.endswith("drawn in greed-policy.png\n")
    assert Path("greed-policy.png").stat().st_size > 1000
    for words, shown in (
        (["mistakes", runs["outcome"]], "errs"),
        (["learning", runs["outcome"], runs["regret"]], "PPO, regret reward"),
    ):
        prints("plot", *words, "--picture", "a.svg")
        assert shown in Path("a.svg").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["plot", "greed-policy", "--env", "tiles", "3"], "Greed takes the keywords seat, "),
        (["plot", ".", "--env", "max_score", "10"], "env must be left out: only a pict"),
        (["plot", "421-laws", "--folder", "x"], "folder must be left out: a single picture has"),
        (["plot", "gallery", "--picture", "x.png"], "picture must be left out: the gallery has"),
        (["plot", "gallery", "nowhere"], "gallery must be followed by folders of runs, got 'now"),
        (["report", "nobody"], "policy must be a run folder, a certificate, a saved model or o"),
        (["report", "."], "run folder must hold a config.json, got ."),
        (["report", "random", "--page", "x.pdf"], "page must end in .html, got x.pdf"),
        (["report", "random", "--model", "best"], "model must be left out: only a run"),
        (["plot", "gallery", "--only", "laws"], "only must be one of 'greed-policy', "),
        (["plot", "421-laws", "--only", "a"], "only must be left out: a single picture has no"),
    ],
)
def test_a_mistake_gets_one_line(refusal, arguments, message):
    assert refusal(*arguments).startswith(message)
    assert not list(Path().iterdir())


#: How many panels of each picture the page of an agent has.
PAGES = {
    "Greed": {"policy": 6, "greed-policy": 2, "greed-value": 2, "mistakes": 2},
    "ShutTheBox": {"policy": 6, "shut-the-box-chance": 1, "shut-the-box-sets": 1},
    "FourTwoOne": {"policy": 9, "421-laws": 1},
    "FourTwoOneMatch": {"policy": 9, "421-match": 1},
    "LowestScore": {"policy": 9, "lowest-score-keep": 2, "lowest-score-first": 2},
}


def point_at(page, name, x, y):
    """Point at a place of a picture, in parts of its width and height; give what it says."""
    drawn = page.locator(f"#{name} svg")
    drawn.scroll_into_view_if_needed()
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    place = drawn.bounding_box()
    page.mouse.move(place["x"] + x * place["width"], place["y"] + y * place["height"])
    return page.locator("#note").text_content()


@pytest.mark.slow
def test_the_page_of_a_run_opens_in_a_browser(prints, runs, browser):
    assert "normalised score" in prints("report", runs["outcome"])
    page, wrong = browser.new_page(), []  # what went wrong or was asked for from elsewhere
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: wrong.append(request.url))
    page.goto(Path("report.html").resolve().as_uri())
    page.wait_for_selector("#note", state="attached")
    assert wrong.pop(0).startswith("file:")
    ids = page.locator("figure:has(svg)").evaluate_all("all => all.map(x => x.id)")
    names = {name.rpartition("-")[0] for name in ids}
    assert names == {*PAGES["Greed"], "outcomes", "learning", "critic"}
    decisions = page.locator("table").nth(1)
    assert decisions.locator("tr").count() > 5
    heads = decisions.locator("th").all_text_contents()
    assert heads == ["position", "played", "best", "cost a game", "of games"]
    assert page.locator("nav a").first.text_content() == "Score"
    for link in page.locator("nav a").all():
        assert page.locator(f"h2{link.get_attribute('href')}").count() == 1
    assert Path("report.html").stat().st_size < 1_000_000
    (packed,) = re.findall('id="spots">([^<]+)<', Path("report.html").read_text())
    said = json.loads(gzip.decompress(base64.b64decode(packed)))
    for name in ("mistakes-0", "greed-value-1"):
        one = said[name]
        for row, column in ((0, 0), (-1, 0), (2, 3)):
            shown = point_at(page, name, one["x"][column], one["y"][row])
            assert shown == one["words"][row][column]
    assert "own score 0, other's score 0" in said["mistakes-0"]["words"][0][0]
    for name in ("learning-0", "critic-0"):
        one = said[name]
        assert point_at(page, name, one["x"][-1], one["y"][-1]) == one["words"][-1]
    for x, words in ((0.5, said["outcomes-0"]["words"][2][0]), (0.01, "")):  # beside the axes
        assert point_at(page, "outcomes-0", x, said["outcomes-0"]["y"][2]) == words
    page.set_viewport_size({"width": 390, "height": 844})  # of a phone
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert not wrong


def test_the_command_of_a_report_names_no_folder_of_this_machine(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    agent = AgentOptions(str(tmp_path / "runs" / "mine.json"))
    own = replace(agent, game=f"{tmp_path}/mine.py:Mine")
    for folder, named in ((".", "runs/mine.json"), ("elsewhere", "mine.json")):
        monkeypatch.chdir(tmp_path / folder)
        assert reports._command(agent) == f"exactdice report {named}"
        assert str(tmp_path) not in reports._command(own)


@pytest.mark.parametrize(
    ("policy", "game", "keywords"),
    [
        ("random", "ShutTheBox", {"tiles": 4}),
        ("ratchet:421", "FourTwoOne", {"casts": 2}),
        ("transfer", "FourTwoOneMatch", {"tokens": 2, "faces": 3}),
        ("only3s", "LowestScore", {"dice": 3}),
        ("optimal", "Greed", {"max_score": 10, "sides": 3}),
        ("if_else", "Greed", {"max_score": 10, "sides": 3, "opponent": "random", "seat": 1}),
    ],
)
def test_the_page_of_a_policy_has_the_maps_of_its_game(run, undrawn, policy, game, keywords):
    words = [str(word) for pair in keywords.items() for word in pair]
    assert run("report", policy, game, "--env", *words)[0] == 0
    panels = {"outcomes": 1, "mistakes": 1, **PAGES[game]}
    if policy == "optimal":
        del panels["mistakes"]
    assert undrawn == panels
    text = html.unescape(Path("report.html").read_text(encoding="utf-8"))
    first, last = re.findall("<p>(.*?)</p>", text, re.S)[:: text.count("<p>") - 1]
    assert first.startswith(f'"{policy}" (')
    assert re.search("It is optimal|of that is lost|spread over", first)
    assert f"exactdice report {policy} {game}" in last
    assert "No picture" not in text
    task = make_task(game, **keywords)
    if game in ("FourTwoOne", "LowestScore"):  # for one; for four
        assert "A best-response opponent" not in text
    else:
        earned = best_response(policy, task).value_before_play
        lost = score(policy, task).exploitability_in_seat
        assert f"opponent in seat {1 - task.seat} earns {earned:.6f} a game" in text
        assert f"difference, {lost:.6f}, is the exploitability" in text


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("policy", ["random", "optimal", "strength:0.5"])
def test_the_page_of_a_game_with_too_many_states_for_arrays(run, monkeypatch, policy):
    monkeypatch.setattr("exactdice.core.positions.MOST_STATES", 1000)
    assert run("report", policy, "Yahtzee", "--env", "boxes", "ones,yahtzee")[0] == 0
    text = Path("report.html").read_text()
    assert "<td>optimum</td><td>6.040765</td>" in text
    assert ("No decisions: decisions must be fewer" in text) == (policy == "random")
    assert ("No decision costs anything" in text) == (policy == "optimal")


@pytest.mark.usefixtures("undrawn")
def test_every_figure_of_a_score_is_in_json_in_the_terminal_and_on_the_page(tmp_path):
    told, agent = [], AgentOptions("random", "Greed", {"max_score": 3})
    with watched(lambda done, total, name: told.append((done, total, name))):
        scored = reports.write_report(agent, tmp_path / "page.html")
    assert {"the score", "mistakes", "policy", "greed-value"} <= {name for *_, name in told}
    assert all(0 <= done < total for done, total, _ in told)  # for who waits for the page
    console = Console(file=io.StringIO(), width=100)
    show(report(scored), console)
    words, page = console.file.getvalue(), (tmp_path / "page.html").read_text(encoding="utf-8")
    for figure in FIGURES:
        assert figure.name in scored.as_dict()
        if figure.label:
            text = figure.text(scored)
            told = figure.sentence.format(text)
            assert (told if told else figure.label) in words
            assert text in words
            assert f"<td>{figure.label}</td><td>{text}</td><td>{figure.meaning}</td>" in page


def test_gains_of_the_best_response_are_what_the_equilibrium_misses():
    """The random player may bust at once, so that the other one never moves."""
    game = {"max_score": 5, "sides": 6}
    scored = score("random", make_task("Greed", **game))
    text = pages.to_html("", list(reports._best_response(scored)))
    task = make_task("Greed", **game, seat=1, opponent="random")
    best, earned = (evaluate(name, task).value_before_play for name in ("optimal", "equilibrium"))
    assert best > earned + 1e-3
    assert f"equilibrium policy earns {earned:.6f} against" in text
    rows = re.findall(r"<tr><td>([\d.]+)</td><td>[^<]*, the equilibrium", text)
    assert sum(map(float, rows)) == pytest.approx(best - earned, abs=4e-6)


def test_cells_without_words_say_their_number_and_very_many_are_told_in_part():
    shown = greed.value(make_task("Greed", max_score=20, sides=6)).panels[0]
    x, y, words = shown.spots
    assert len(words) == len(y)
    value = f"win probability {shown.values[y[0], x[0]]:.6g}"
    assert words[0][0] == f"own score {x[0]}, other's score {y[0]}: {value}"
    x, y, words = replace(shown, values=np.ones((300, 400)), faded=None).spots
    assert (x.tolist(), y.tolist()) == ([*range(0, 400, 4)], [*range(0, 300, 4)])
    assert words[-1][-1] == "own score 396, other's score 296: win probability 1"


@pytest.mark.slow
def test_the_gallery_shows_each_picture_with_its_command(prints, runs, monkeypatch):
    monkeypatch.setattr(plotting, "GAME_CHARTS", {"421-laws": GAME_CHARTS["421-laws"]})
    monkeypatch.setattr(plotting, "EXAMPLES", {"errs": Example("mistakes", "if_else", "Greed")})
    said = prints("plot", "gallery", runs["outcome"], "--folder", "docs/gallery")
    assert said == "4 pictures drawn in docs/gallery\n"
    text = Path("docs/gallery.md").read_text()
    drawn = sorted(path.name for path in Path("docs/gallery").iterdir())
    assert drawn == sorted(re.findall(r"\]\(gallery/(.*?)\)", text))
    assert "`exactdice plot mistakes if_else Greed --picture errs.png`" in text
    assert prints("plot", "gallery", "--only", "421-laws") == "1 picture drawn in gallery\n"
    assert {*Path().rglob("*")} - {*Path("docs").rglob("*")} == {
        Path("docs"), Path("gallery"), Path("gallery/421-laws.png"),
    }  # fmt: skip


def test_the_gallery_in_the_documentation_is_whole():
    text = (ROOT / "docs" / "gallery.md").read_text()
    shown = re.findall(r"\]\((gallery/.*?)\)", text)
    assert {f"gallery/{name}.png" for name in GAME_CHARTS} <= set(shown)
    assert len(shown) >= len(GAME_CHARTS) + 5
    for name in shown:
        assert (ROOT / "docs" / name).stat().st_size < 150_000

"""Charts are of the exact numbers, and say so in words."""

import itertools
import json
from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest
from exactdice.baselines import LawGame, Task, make_task, prepare, score, solve
from exactdice.baselines.solving.solver import tour_of
from exactdice.games import GAMES, InputError, present
from exactdice.look import agents, charts, plotting
from exactdice.look.charts import Bars, Chart, Lines, Map, Plot, Series, named
from exactdice.look.drawing import MAPS, draw, to_drawing, to_figure
from exactdice.look.games import greed
from exactdice.look.page import section
from exactdice.look.plotting import AGENT_CHARTS, GAME_CHARTS, picture
from matplotlib.colors import to_rgb
from small_runs import SMALL_GAMES
from thinning import at_once, every_third

SMALL = {**SMALL_GAMES, "Yahtzee": {"boxes": "ones,chance"}}  # so that one of two is left
UPPER = {"boxes": "ones,twos,threes,fours,fives,sixes"}
GREED = make_task("Greed", **SMALL["Greed"])


@pytest.mark.parametrize("name", every_third(GAME_CHARTS))
def test_every_chart_of_a_game_is_drawn_and_its_cells_say_something(name, tmp_path):
    env = UPPER if name == "yahtzee-bonus" else SMALL.get(GAME_CHARTS[name].place, {})
    shown = picture([name], env=env)
    assert shown.caption.endswith(".")
    for panel in shown.panels:
        said = np.array(panel.spots.words).ravel()
        assert len(said) > 3
        assert min(map(len, said)) > 5
    path = tmp_path / "picture.svg"
    draw(shown, path)
    assert shown.caption in path.read_text().replace("&gt;", ">")


def test_the_same_picture_is_the_same_file_and_large_maps_are_pixels_in_an_svg(tmp_path):
    files = [tmp_path / name for name in ("one.svg", "two.svg")]
    for file in files:
        draw(picture(["greed-value"], env={"max_score": 35}), file)
    one, other = (file.read_text() for file in files)
    assert one == other
    assert one.count("<image") >= 2
    assert one.count("<path") < 500


def test_greeds_maps_are_the_solution():
    solution = solve(GREED)
    normal, last = greed.best_dice(GREED).panels
    state = GREED.game.encode(np.array([5, 3, 0]))
    assert normal.values[3, 5] == solution.policy.actions[state]
    assert np.isnan(normal.values[0, 5])  # nobody is at 5 : 0 without a last turn
    assert np.isfinite(last.values[0, 5])
    for own, other in ((9, 0), (0, 9)):
        assert last.hatched[other, own] == (len(solution.optimal_actions([own, other, 1])) > 1)
    worth, _ = greed.value(GREED).panels
    assert worth.values[3, 5] == pytest.approx(solution.values[0][state])
    task = make_task("Greed", max_score=30, sides=6)  # where optimal players do not meet all states
    normal, _ = greed.best_dice(task).panels
    first = int(solve(task).policy.actions[0])
    assert normal.faded[1:first, 0].all()  # less than the first roll shows
    assert not normal.faded[[0, first], 0].any()


def test_maps_against_a_policy_are_of_the_best_response_and_say_so():
    task = make_task("Greed", **SMALL["Greed"], opponent="random")
    worth = greed.value(task)
    assert "under optimal play against random from there on" in worth.caption
    start = worth.panels[0].values[0, 0]
    assert start == pytest.approx(solve(task).value)
    assert start > solve(GREED).value + 0.1
    assert worth.panels[0].faded_label == "never reached under optimal play against random"


def test_laws_of_results_are_of_the_game_that_is_asked_for():
    shown = picture(["421-laws"], env={"dice": 2, "faces": 3, "casts": 1, "utility": "sum"})
    (panel,) = shown.panels
    assert panel.rows == ["one face, like 11", "two faces, like 21"]
    assert "two in 22 % and one in 11 % of rounds" in shown.caption
    one_cast = np.array([[4, 4, 1], [1, 6, 2]]) / 9  # nothing can be put aside before
    np.testing.assert_allclose(panel.values, one_cast)


def test_the_beginning_is_worth_what_each_game_says():
    (panel,) = picture(["greed-beginning"], env={"max_score": 12}).panels
    series = {line.name: line for line in panel.series}
    assert series["s = 3"].x[9] == 10
    assert series["s = 3"].y[9] == pytest.approx(14352595 / 28697814, abs=1e-12)
    assert series["s = 12"].y[6] == pytest.approx(5 / 12, abs=1e-12)
    (panel,) = picture(["greed-beginning"], env={"max_score": 6, "max_dice": 1}).panels
    for line, sides in zip(panel.series, (2, 3, 6, 12, 20), strict=True):  # every rule is kept
        exact = solve(make_task("Greed", max_score=6, sides=sides, max_dice=1)).value
        assert line.y[-1] == pytest.approx(exact, abs=1e-12)


def test_a_score_is_worth_what_the_second_player_can_expect():
    (line,) = picture(["shut-the-box-chance"]).panels[0].series
    assert list(line.x[:2]) == [1, 2]  # a shut box wins at once, so that 0 is never to beat
    assert np.all(np.diff(line.y) > -1e-12)
    assert line.y[-1] == pytest.approx(1, abs=1e-2)
    (with_draws,) = picture(["shut-the-box-chance"], env={"shut_wins": "false"}).panels[0].series
    assert with_draws.x[0] == 0


@pytest.mark.parametrize(
    ("name", "seat", "counted", "known"),
    [("lowest-score-keep", 2, -2, []), ("lowest-score-first", 0, 0, [(-2, 13), (-1, 2)])],
)
def test_what_a_player_keeps_of_any_number_of_dice_is_the_solution(name, seat, counted, known):
    env = {"dice": 4, "faces": 3, "zero_face": 2, "players": 3}
    solution = solve(Task(GAMES["LowestScore"](**env), seat, "optimal"))
    panels = picture([name], env=env).panels
    assert [len(panel.rows[0].split()) for panel in panels] == [2, 3, 4]
    assert [len(panel.rows) for panel in panels] == [6, 10, 15]
    for panel in panels:
        worths = [[0 if face == "2" else int(face) for face in row.split()] for row in panel.rows]
        assert worths == sorted(worths)
        numbers = list(map(int, panel.columns or range(panel.values.shape[1])))
        if name == "lowest-score-first":  # one die costs 0, 1 or 3, and never 2
            kept_before = itertools.product((0, 1, 3), repeat=4 - len(worths[0]))
            assert numbers == sorted(set(map(sum, kept_before)))
        for (row, column), kept in np.ndenumerate(panel.values):
            seen = np.zeros(7, dtype=int)  # kept so far, four dice, best so far, players after
            roll = [int(face) for face in panel.rows[row].split()]
            seen[1 : 1 + len(roll)] = roll
            for place, number in [*known, (counted, numbers[column])]:
                seen[place] = number
            best = solution.optimal_actions(seen)
            assert kept == min(best) + 1
            assert panel.hatched[row, column] == (len(best) > 1)
            assert panel.faded[row, column] == (len(best) == len(roll))


def test_the_match_says_what_it_is_worth():
    shown = picture(["421-match"], env={"tokens": 2, "charge_casts": 1})
    assert shown.caption.endswith("At the start of the match it is 0.507683.")
    (panel,) = shown.panels
    assert np.isfinite(panel.values).sum() == 4
    assert panel.values[0, 0] == pytest.approx(0.507683, abs=1e-6)


@pytest.mark.parametrize("name", SMALL)
def test_maps_of_mistakes_hold_the_whole_regret(name):
    game = GAMES[name](**SMALL[name])
    scored = score("random", Task(game, game.num_players - 1))
    shown = agents.mistakes(scored)
    total = sum(np.nansum(panel.values) for panel in shown.panels)
    assert total == pytest.approx(scored.regret, abs=1e-10)
    assert scored.costs.sum() == pytest.approx(scored.regret, abs=1e-10)
    panel = shown.panels[0]
    worst = np.unravel_index(np.nanargmax(panel.values), panel.values.shape)
    words = panel.words[worst[0]] if isinstance(panel, Bars) else panel.words(*map(int, worst))
    assert "best" in words  # bars are of a game without a layout


def test_outcomes_stand_beside_those_of_optimal_play_and_words_name_what_costs_most():
    scored = score("random", GREED)
    (panel,) = agents.outcomes(scored).panels
    for chances, value in ((panel.values, scored.value), (panel.others, scored.optimum)):
        assert chances.sum() == pytest.approx(1)
        assert chances @ [1, 0.5, 0] == pytest.approx(value)
    words = agents.decision(scored, 0)
    start = [blunder for blunder in scored.blunders(None) if blunder.observation == (0, 0, 0)]
    costliest = present(GREED.game).describe_action(max(start, key=lambda b: b.cost).action)
    assert f": {costliest} with probability " in words
    assert words.endswith("best rolls 1 die")


def map_of(values, **options):
    return Map(title="", x_label="", y_label="", value_label="", values=values, **options)


def test_a_map_shows_the_part_that_is_met_without_a_cell_far_away():
    values = np.full((101, 101), np.nan)
    values[22:100, 16:101] = 1.0
    values[0, 0] = 1.0
    assert map_of(values).window == (slice(22, 100), slice(16, 101))
    faded = np.ones(values.shape, dtype=bool)
    faded[60:63, 98:] = False  # a few cells, with some others around them
    assert map_of(values, faded=faded).window == (slice(58, 64), slice(95, 101))
    assert map_of(values[:12, :12]).window == (slice(0, 12), slice(0, 12))
    assert map_of(np.full((20, 20), np.nan)).window == (slice(0, 20), slice(0, 20))


def test_marks_are_apart_and_inside_of_the_frame_and_a_legend_has_the_colours_of_the_picture():
    values = np.linspace(0, 1, 10_000).reshape(100, 100)
    near = [(0, 0), (0, 1), (1, 0), (99, 99), (98, 99)]
    marks = {cell: str(place) for place, cell in enumerate(near)}
    whole = slice(0, 100), slice(0, 100)
    drawn = map_of(values, marks=marks, faded=values < 0.5, faded_label="rare", crop=whole)
    figure = to_figure(Plot.of(drawn, ""))
    figure.draw_without_rendering()
    (axes, *_), (legend,) = figure.axes, figure.legends
    frame = axes.get_window_extent()
    boxes = [text.get_window_extent() for text in axes.texts]
    assert len(boxes) == len(axes.lines) == len(near)
    assert all(frame.x0 <= box.x0 and box.x1 <= frame.x1 for box in boxes)
    assert all(frame.y0 <= box.y0 and box.y1 <= frame.y1 for box in boxes)
    assert not any(one.overlaps(two) for one, two in itertools.combinations(boxes, 2))
    veiled = charts.VEIL * np.array(to_rgb(charts.GREY))
    veiled += (1 - charts.VEIL) * MAPS["sequential"](values[values < 0.5])[:, :3].mean(axis=0)
    assert legend.get_patches()[0].get_facecolor()[:3] == pytest.approx(veiled)


def test_a_mark_that_would_hide_its_cell_stands_beside_it():
    for count, hides in ((101, True), (5, False)):
        middle = count // 2
        drawn = map_of(np.ones((count, count)), marks={(middle, middle): "1"})
        figure = to_figure(Plot.of(drawn, ""))
        figure.draw_without_rendering()
        (mark,) = figure.axes[0].texts
        box = mark.get_window_extent()
        assert box.contains(*figure.axes[0].transData.transform((middle, middle))) != hides


@pytest.mark.slow
def test_mistakes_name_the_worst_cells_and_the_regret_that_is_not_drawn(tmp_path):
    scored = score("if_else", make_task("Greed"))
    shown = agents.mistakes(scored)
    parts = [panel.values[panel.window] for panel in shown.panels]
    inside = sum(part.sum() for part in parts)
    assert inside < 0.7 * scored.regret  # the beginning lies far from all else
    faint = sum(part[part < scored.regret / 1000].sum() for part in parts)
    _, *worst, rest = shown.notes
    beyond, faint = (100 * part / scored.regret for part in (scored.regret - inside, faint))
    assert rest == (
        f"Of the regret {beyond:.1f} % lie outside of the maps and {faint:.1f} % lie in cells "
        "below a thousandth of it."
    )
    assert worst[0] == (
        "1. 17.8 %, beyond the edge of the map: 0 points to 0: rolls 16 dice, best rolls 24 dice"
    )
    costliest = scored.blunders(5)  # each cell of Greed's maps is one state
    for place, (line, blunder) in enumerate(zip(worst, costliest, strict=True), start=1):
        share = 100 * blunder.cost / scored.regret
        assert line.startswith(f"{place}. {share:.1f} %")
        assert f": {blunder.position}: {blunder.move}, best {blunder.best_move}" in line
        own, other, last = blunder.observation
        assert shown.panels[last].marks[other, own] == str(place)
    for panel in shown.panels:  # a cell outside does not set the scale
        assert panel.limits == pytest.approx((scored.regret / 1000, max(map(np.max, parts))))
        assert (panel.seen == (panel.values >= panel.limits[0])).all()
    draw(shown, tmp_path / "mistakes.svg")
    for line in shown.notes:
        assert line[:60] in (tmp_path / "mistakes.svg").read_text()  # long lines are wrapped
    elements = list(section(shown, "mistakes"))
    assert [each.content for each in elements if each.content in shown.notes] == list(shown.notes)
    marks = to_figure(Plot.of(shown.panels[1], "")).axes[0].texts
    assert [(mark.get_text(), *mark.get_position()) for mark in marks] == [
        ("2", 100, 100), ("3", 99, 99), ("5", 98, 98),
    ]  # fmt: skip


def test_colours_of_losses_go_from_pale_to_dark():
    light = MAPS["losses"](np.linspace(0, 1, 20))[:, :3].sum(axis=1)
    assert (np.diff(light) < 0).all()
    assert light[0] < 2.8  # of 3, which is white


def test_optimal_play_errs_nowhere_and_so_does_a_regret_of_rounding():
    scored = score("optimal", GREED)
    shown = agents.mistakes(scored)
    assert all(np.nanmax(panel.values) == 0 for panel in shown.panels)
    assert to_figure(shown).axes
    scored = replace(scored, value=scored.optimum - 1e-16)
    assert scored.regret > 0
    assert not agents.mistakes(scored).notes


CAPTIONS = {
    "421-laws": "How often a goal is reached: of different faces, three in 23 %, two in 15 %",
    "lowest-score-first": "In 80 % of the first rolls it is best to keep one die only.",
    "policy-greed": '"if_else" takes a best action in 31.7 % of its moves.',
    "greed-policy": "At 0 to 0, which the maps leave out, optimal play rolls 24 dice",
    "greed-value": "The last steps decide: as long as both players have at most 80 points",
}
#: Of Greed one is solved in its default size at once.
SOME = at_once(lambda case: case[0] not in ("greed-value", "greed-policy"), CAPTIONS.items())


@pytest.mark.parametrize(("name", "begin"), SOME)
def test_captions_begin_with_what_one_takes_away(name, begin):
    assert picture([name]).caption.startswith(begin)


@pytest.mark.parametrize(
    ("words", "env", "message"),
    [
        (["greed-policy", "x"], {}, "greed-policy must stand alone, got x"),
        (["lowest-score-keep"], {"dice": 1}, "dice must be at least 2 here"),
        (["lowest-score-first"], {"dice": 1}, "dice must be at least 2 here"),
        (["lowest-score-keep"], {"players": 1}, "players must be at least 2 here"),
        (["lowest-score-keep"], {"objective": "score"}, "objective must be win or share"),
        (["shut-the-box-sets"], {"objective": "sum"}, "objective must be win"),
        (["yahtzee-points", "random", "Greed"], {}, "game must be Yahtzee for yahtzee-points, got"),
        (["yahtzee-bonus"], {"boxes": "ones,chance"}, "have all of ones to sixes for th"),
        (["outcomes-lowest-score", "Greed"], {}, "outcomes-lowest-score must stand alone, got Gr"),
        (["421-laws"], {"faces": 10, "utility": "sum"}, "faces must be at most 9"),
        (["421-laws"], {"dice": 5, "utility": "sum"}, "results at most 130 here"),
        (["mistakes"], {}, "mistakes must be followed by a run folder or a policy, got nothing"),
        (["mistakes", "nobody"], {}, "policy must be a run folder, a certificate"),
        (["learning"], {}, "learning must be followed by run folders, got none"),
        (["critic", "nowhere"], {}, "critic must be followed by a folder, got nowhere"),
        (["leaderboard", "."], {}, "folder must hold finished runs, got ."),
        (["greed"], {}, "what must be run folders, gallery or one of greed-policy, greed-value"),
    ],
)
def test_what_cannot_be_drawn_is_refused(words, env, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=message):
        picture(words, env=env)


def test_the_last_open_box_is_worth_its_points_in_the_last_round():
    worth, taken = picture(["yahtzee-boxes"], env={"boxes": "ones,chance"}).panels
    for row, name in enumerate(("chance", "ones")):  # the first at the bottom
        only = solve(Task(GAMES["Yahtzee"](boxes=name))).value
        assert worth.values[row, 1] == pytest.approx(only)
        alone = picture(["yahtzee-boxes"], env={"boxes": name})
        assert alone.panels[0].values == pytest.approx(only)
    assert taken.values.sum(axis=0) == pytest.approx([200, 100])


def first_legal(_, masks):
    return masks.argmax(axis=1)


def test_the_points_of_an_agent_differ_from_the_best_plays_by_its_regret():
    scored = score(first_legal, Task(GAMES["Yahtzee"](boxes="ones,yahtzee")))
    shown = AGENT_CHARTS["yahtzee-points"].draw(scored)
    points, turns = shown.panels
    assert points.labels == ["Ones", "Yahtzee", "Upper bonus", "Further Yahtzees"]
    assert points.values.sum() == pytest.approx(-scored.regret)
    assert turns.values.sum() == pytest.approx(scored.regret)
    assert shown.caption.startswith("All differences add up to the regret of")


@pytest.mark.slow
def test_the_points_of_an_agent_say_what_the_upper_bonus_costs_it():
    task = Task(GAMES["Yahtzee"](**UPPER))
    scored = score(first_legal, task)
    shown = AGENT_CHARTS["yahtzee-points"].draw(scored)
    own, best = (tour_of(each, prepare(task)).counts for each in (scored.agent, solve(task).policy))
    lost = best["points"]["Upper bonus"] - own["points"]["Upper bonus"]
    assert shown.panels[0].values[-2] == pytest.approx(-lost)
    assert lost == pytest.approx(35 * 0.3691, abs=0.01)
    assert f"optimal play in {best['chance']['Upper bonus']:.2%}. This diff" in shown.caption
    assert f"is worth -{lost:.4f} points a game" in shown.caption


def test_more_names_than_fit_are_told_by_what_they_begin_with():
    rolls = [f"{one} {two} {three}" for one in (3, 1, 2) for two in (4, 5) for three in range(9)]
    assert named(rolls) == dict(enumerate(rolls))
    assert named(rolls, 6) == {
        9 * number + 4: f"{begin} ..."
        for number, begin in enumerate(("3 4", "3 5", "1 4", "1 5", "2 4", "2 5"))
    }
    unequal = ["1 4", "2 4", *(f"3 {number}" for number in range(10))]
    assert named(unequal, 4) == {0: "1 ...", 7: "3 ..."}  # "2 ..." has no room beside "1 ..."


def test_panels_side_by_side_share_one_colour_scale_and_lines_have_their_legend_below():
    for top, bars in ((1.0, 1), (2.0, 2)):
        maps = [map_of(np.eye(3), limits=(0.0, other)) for other in (1.0, top)]
        figure = to_figure(Plot(title="two maps", caption="", panels=maps))
        assert len(figure.axes) == 2 + bars
    lines = picture(["greed-beginning"], env={"max_score": 6})
    figure = to_figure(lines)
    (legend,) = figure.legends
    names = [text.get_text() for text in legend.get_texts()]
    assert names == [line.name for line in lines.panels[0].series]
    assert not any(axes.get_legend() for axes in figure.axes)


def test_spots_are_finite_and_lie_where_the_picture_has_them():
    cells = to_drawing(map_of(np.arange(6.0).reshape(2, 3)))
    (left, top, right, bottom), x, y = (cells.spots[name] for name in ("box", "x", "y"))
    assert x == pytest.approx(left + (right - left) * np.array([1, 3, 5]) / 6, abs=1e-4)
    assert y == pytest.approx(top + (bottom - top) * np.array([3, 1]) / 4, abs=1e-4)  # row 0 below
    line = Series(name="one", x=np.array([1.0, 2.0]), y=np.array([0.5, np.nan]))
    for series, words in (([], []), ([line], ["one\nx 1: 0.5", "one\nx 2: nan"])):
        lines = to_drawing(Lines(title="", x_label="x", y_label="", series=series, log_y=True))
        assert lines.spots["words"] == words
        assert json.loads(json.dumps(lines.spots, allow_nan=False)) == lines.spots
    bars = Bars(title="", x_label="", labels=["a", "b"], values=np.array([np.nan, 2.0]))
    assert to_drawing(bars).spots["words"] == [["a: nan"], ["b: 2"]]


@pytest.mark.usefixtures("own_games")
def test_a_chart_of_a_class_that_the_registry_lacks_is_drawn_by_its_place(monkeypatch):
    place = "gym:CliffWalking-v1"
    chart = Chart(lambda task: Plot.of(map_of(np.eye(2)), repr(task.game)), LawGame, place)
    charts = plotting._in_order({"cliff": chart, **GAME_CHARTS})
    monkeypatch.setattr(plotting, "GAME_CHARTS", charts)
    monkeypatch.setattr(plotting, "NAMES", (*plotting.NAMES, "cliff"))
    names = list(charts)
    assert all(names.index(own) < names.index("cliff") for own in GAME_CHARTS if "yahtzee" in own)
    assert "CliffWalking" in picture(["cliff"]).caption
    assert "FrozenLake" in plotting.make_plot("cliff", env=gym.make("FrozenLake-v1")).caption
    with pytest.raises(InputError, match="game must be gym:CliffWalking-v1 for cliff, got Greed"):
        plotting.make_plot("cliff", env=make_task("Greed"))

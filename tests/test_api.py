"""The package as a user in Python meets it: names, ids, and how results are shown and kept."""

import os
import subprocess
import sys
from fractions import Fraction
from types import ModuleType

import gymnasium as gym
import pytest
from exactdice.baselines.scoring.blunders import Blunders
from exactdice.core import InputError
from exactdice.core.positions import states_of
from exactdice.games import Greed

import exactdice

ENV = "exactdice/Greed-v0"
SMALL = exactdice.Task(Greed(10, 3))


def test_dir_lists_the_names_for_users_alone(monkeypatch):
    names = dir(exactdice)
    assert {*exactdice.__all__} | {*exactdice.MODULES} == {*names} | {*exactdice.LIBRARIES}
    assert not any(isinstance(getattr(exactdice, name), ModuleType) for name in exactdice.__all__)
    assert not [name for name in names if name.startswith("_")]
    for name in names:
        assert getattr(exactdice, name) is not None
    find_spec = "importlib.util.find_spec"
    monkeypatch.setattr(find_spec, lambda name: None)  # of libraries of extras
    assert not {"jax", "pettingzoo"} & {*dir(exactdice)}
    assert {"agents", "testing"} < {*dir(exactdice)}


def test_an_id_stands_for_its_environment_and_another_text_is_refused():
    for function in (
        exactdice.as_task,
        lambda env: exactdice.solve(env).value,
        lambda env: exactdice.expected_payoffs(["if_else", "random"], env),
        lambda env: exactdice.exact_evaluation("random", env),
    ):
        assert function(ENV) == function(f"exactdice:{ENV}") == function(gym.make(ENV))
    for env, message in (
        ("exactdice/Gred-v0", "got 'exactdice/Gred-v0'; did you mean exactdice/Greed-v0\\?"),
        ("greed", "env must be .*, got 'greed'; did you mean exactdice/Greed-v0\\?"),
        ("CartPole-v1", "env must be an exactdice environment or have P, got .*CartPole"),
        ("Zzz", "env must be the id of an environment, got 'Zzz'$"),
        ("Taxi-v3", "Please use `Taxi-v4` instead; did you mean Taxi-v4"),
        ("frozenlake", "got 'frozenlake'; did you mean FrozenLake-v1"),
    ):
        with pytest.raises(TypeError, match=message):
            exactdice.score("random", env)


def test_a_score_is_a_line_and_a_table():
    score = exactdice.score("if_else", SMALL, name="<mine>")
    figures = f"regret {score.regret:.6f}, normalised score {score.normalized:.6f}, "
    assert str(score).startswith("<mine> (deterministic, masked) in Greed, max_score 10, sides 3, ")
    assert figures in str(score)
    page = score._repr_html_()
    assert page.startswith("<table><caption>&lt;mine&gt; (deterministic, masked) in Greed")
    assert "<th>regret</th>" in page
    assert f"<td>{score.regret:.6f}</td>" in page


def test_solutions_comparisons_and_answers_are_words_and_tables():
    solution = exactdice.solve(SMALL)
    said = str(solution)
    assert said.startswith(f"{SMALL.words}: optimal value {solution.value}, right within ")
    assert said.endswith("\nlikeliest first position: 0 points to 0; best: roll 1 die")
    exact = exactdice.solve(SMALL, exact=True)
    assert str(exact).startswith(f"{SMALL.words}: optimal value {exact.value}\n")
    found = exactdice.compare("random", "random", SMALL)
    words, page = str(found), found._repr_html_()
    assert words.startswith(f'{SMALL.words}\n\n|                    | "random 1" | "random 2" |\n')
    assert "\n\nBoth are equal.\nThey play differently in 0 % of the decisions of" in words
    assert page.startswith(f"<p>{SMALL.words}</p><table><thead>")
    assert "<p>Both are equal.</p>" in page
    assert "<caption>head to head: &quot;random 1&quot; against &quot;random 2&quot;" in page
    answer = solution.ask(4, 5)
    title, table = str(answer).split("\n\n")
    assert f"<p>{title}</p><table>" in answer._repr_html_()
    assert len(table.splitlines()) == 2 + len(answer.moves)
    for shown in (words, said, str(answer)):
        assert not any(word in shown for word in ("Greed(", "array", "None", "Task"))


def test_a_saved_score_is_one_that_holds(tmp_path):
    score = exactdice.score("if_else", SMALL)
    score.save(tmp_path / "mine.npz")
    assert exactdice.verify(tmp_path / "mine.npz").as_dict() == score.as_dict()
    assert exactdice.score(tmp_path / "mine.npz", SMALL).value == score.value
    with pytest.raises(InputError, match=r"path must end in .npz, got .*mine.json"):
        score.save(tmp_path / "mine.json")
    with pytest.raises(InputError, match="held to the legal actions"):
        exactdice.score("random", SMALL, masked=False).save(tmp_path / "free.npz")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.npz"]


@pytest.mark.parametrize(("exact", "seat"), [(False, 0), (True, 1)])
def test_a_solution_lists_the_states_of_its_seat(exact, seat):
    solution = exactdice.solve(exactdice.Task(SMALL.game, seat), exact=exact)
    states = solution.states()
    assert states.names == SMALL.game.observation_names
    assert (states.states == states_of(SMALL.game, seat)).all()
    head, _, *rows, rest = str(states).splitlines()
    assert head.split(" | ")[-1].strip(" |") == "optimal action"
    assert [row.split("|")[-2].strip() for row in rows] == [str(one) for one in states.actions[:10]]
    assert rest == f"... of {len(states):,} states"
    kind = Fraction if exact else float
    for row in range(0, len(states), 7):
        seen = states.observations[row]
        assert isinstance(states.values[row], kind)
        assert states.values[row] == pytest.approx(solution.action_values(seen).max())
        assert states.actions[row] == solution.optimal_actions(seen)[0]


def test_results_become_frames(monkeypatch):
    blunders = exactdice.score("if_else", SMALL).blunders(3)
    assert isinstance(blunders, Blunders)
    table = blunders.to_frame()
    assert table["cost"].tolist() == [blunder.cost for blunder in blunders]
    assert table["move"][0].startswith(("rolls", "stops"))
    for blunder in blunders:
        for words in (blunder.position, blunder.move, blunder.best_move):
            assert words in blunder.words
    solution = exactdice.solve(SMALL)
    table = solution.to_frame()
    assert list(table) == [*SMALL.game.observation_names, "state", "value", "action"]
    assert (table["value"] == solution.states().values).all()
    monkeypatch.setitem(sys.modules, "pandas", None)
    for result in (blunders, solution):
        with pytest.raises(InputError, match="to_frame needs more libraries .pandas.: pip install"):
            result.to_frame()


def test_a_payoff_matrix_takes_a_list_as_expected_payoffs_does():
    found = exactdice.payoff_matrix(["random", "if_else", "random"], SMALL)
    assert found.names == ("random 1", "if_else", "random 2")
    named = exactdice.payoff_matrix({"a": "random", "b": "if_else", "c": "random"}, SMALL)
    assert (found.payoffs == named.payoffs).all()
    few = {"list of 1": ["random"], "list of 0": [], "str of 6": "random", "dict of 1": {"a": 0}}
    for shown, policies in few.items():
        with pytest.raises(InputError, match=f"or a list of two at least, got {shown}"):
            exactdice.payoff_matrix(policies, SMALL)


def test_a_chart_without_matplotlib_says_what_to_install(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("exactdice.look.drawing")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(InputError, match="plot needs more libraries .matplotlib.figure.: pip"):
        exactdice.plot("greed-policy")


def test_an_extra_that_is_missing_is_no_attribute(monkeypatch):
    """Whoever asks with a default gets it, and an eager import of all names goes on."""
    monkeypatch.setattr(exactdice, "_lazily", _missing)
    assert getattr(exactdice, "jax", None) is None
    with pytest.raises(AttributeError, match="needs jax"):
        exactdice.__getattr__("jax")
    with pytest.raises(ImportError, match="needs jax"):
        exactdice.__getattr__("solve")


def _missing(name):
    raise ImportError(f"{name} needs jax")


@pytest.mark.slow  # test_dir_lists_the_names asks for each
def test_all_names_can_be_imported_at_once():
    environment = os.environ | {"EAGER_IMPORT": "1"}
    words = [sys.executable, "-c", "import exactdice; assert 'solve' in vars(exactdice)"]
    subprocess.run(words, check=True, env=environment)

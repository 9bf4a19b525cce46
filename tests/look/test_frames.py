"""The chart of a policy on its environment's own picture, and names of actions and states."""

import os
import pickle
import subprocess
import sys

import gymnasium as gym
import numpy as np
import pytest
from exactdice.look import drawing, plotting
from exactdice.look.agents import mistakes

import exactdice


@pytest.fixture(scope="module")
def lake():
    env = gym.make("FrozenLake-v1")
    actions = exactdice.solve(env.unwrapped).policy.likeliest(np.arange(16))
    actions[2], actions[3] = 0, 2  # a mistake, and an action where its games never lead
    return exactdice.score(actions, env)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is a screen")
def test_a_picture_is_drawn_in_silence_without_a_screen():
    scored = "exactdice.score('random', 'FrozenLake-v1')"
    code = f"import exactdice; exactdice.plot('policy', {scored})"
    hidden = {"DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "SDL_VIDEODRIVER"}
    kept = {name: value for name, value in os.environ.items() if name not in hidden}
    done = subprocess.run(
        [sys.executable, "-c", code], env=kept, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_lake_has_an_arrow_for_each_state_and_the_optimum_beside_it(lake, tmp_path):
    plot = plotting.make_plot("policy", lake)
    own, best = plot.panels
    assert (own.picture == best.picture).all()
    assert len(own.texts) == 11  # but for four holes and the goal
    assert "".join(best.texts) == "←↑↑↑←←↑↓←→↓"
    wrong = own.texts.index("←", 1)
    assert own.places[wrong].tolist() == [0.625, 0.125]
    assert np.flatnonzero(own.costly).tolist() == [wrong]
    assert own.words[wrong] == "state 2: left"
    assert own.faded[3]
    assert not best.costly.any()
    assert plot.notes[1].endswith("state 2: left, best up")
    drawing.draw(plot, tmp_path / "lake.png")
    assert drawing.to_drawing(own).spots["words"][wrong] == own.words[wrong]


def test_mistakes_in_the_lake_are_added_up_over_the_moves(lake):
    (bars,) = mistakes(lake).panels
    worst = lake.blunders()[0]
    assert bars.labels[0] == worst.position == "state 2"
    assert bars.values[0] == pytest.approx(worst.cost)
    assert bars.values.sum() == pytest.approx(lake.regret)


def test_a_taxi_is_drawn_by_passenger_and_destination_and_its_states_have_names():
    env = gym.make("Taxi-v4")
    scored = exactdice.score("optimal", env)
    plot = plotting.make_plot("policy", scored)
    assert len(plot.panels) == 6
    own, best = plot.panels[:2]
    assert own.texts == best.texts
    assert {"P", "D"} & {*own.texts}
    state = env.unwrapped.encode(3, 1, 4, 2)
    answer = exactdice.solve(env).ask(state)
    assert str(answer).startswith("row 3, column 1, passenger in the taxi, to yellow, moves 0: ")
    assert {move.choice.words for move in answer.moves} >= {"pick up", "drop off", "north"}


@pytest.mark.slow  # lists all of its states; the taxi has facets, too
def test_minigrid_is_drawn_by_what_the_agent_carries():
    pytest.importorskip("minigrid")
    task = exactdice.explore(gym.make("MiniGrid-DoorKey-5x5-v0"))
    plot = plotting.make_plot("policy", exactdice.score("optimal", task))
    titles = " ".join(plot.panels[0].title for _ in plot.panels)
    assert "yellow door" in titles
    assert any("facing" in words and "forward" in words for words in plot.panels[2].words)
    copy = pickle.loads(pickle.dumps(task))
    assert copy.game == task.game
    assert copy.game.view.frame is None


def test_a_law_takes_names_of_actions_and_states():
    law = {0: {0: [(1.0, 1, 0.0, True)], 1: [(1.0, 1, 1.0, True)]}, 1: {}}
    law[1] = {0: [(1.0, 1, 0.0, True)], 1: [(1.0, 1, 0.0, True)]}
    task = exactdice.from_P(law, 0, actions=["wait", "sell"], states=["full", "empty"])
    assert str(exactdice.solve(task).ask(0)).startswith("full: sell, worth 1.0")
    (blunder,) = exactdice.score([0, 0], task).blunders()
    assert (blunder.position, blunder.move, blunder.best_move) == ("full", "wait", "sell")
    for wrong in ({"actions": ["one"]}, {"states": "ab"}, {"states": [0, 1]}):
        with pytest.raises(ValueError, match="must be 2 names, a list of texts, got"):
            exactdice.from_P(law, 0, **wrong)

"""Compare exact figures of OpenSpiel's games with those that OpenSpiel computes, and the seconds.

``python benchmarks/spiel.py [GAME ...]`` prints the table of docs/their-worlds.md.
"""

import sys
import time
from collections.abc import Callable
from typing import Any

import pyspiel
from open_spiel.python import policy
from open_spiel.python.algorithms import expected_game_score, exploitability

import exactdice

GAMES = (
    "tic_tac_toe",
    "nim(pile_sizes=1;3;4)",
    "connect_four(rows=3,columns=3,x_in_row=3)",
    "connect_four(rows=4,columns=4)",
    "breakthrough(rows=4,columns=3)",
    "catch",
    "deep_sea",
    "cliff_walking(horizon=9)",
    "pig(winscore=5,horizon=8)",
)
#: OpenSpiel follows histories, which are too many in games with more states.
MOST = 5000


def timed(function: Callable[[], Any]) -> tuple[str, str]:
    """Return a figure and its seconds as texts."""
    start = time.perf_counter()
    try:
        found = f"{function():.9f}"
    except pyspiel.SpielError:  # which lacks texts for what a player knows
        return "", ""
    return found, f"{time.perf_counter() - start:.1f}"


def row(name: str) -> list[str]:
    """Compute the cells of a game."""
    game, start = pyspiel.load_game(name), time.perf_counter()
    known = game.get_type().information == pyspiel.GameType.Information.PERFECT_INFORMATION
    task, two = exactdice.from_spiel(game, perfect_information=not known), game.num_players() == 2
    listed = time.perf_counter() - start
    uniform, small = policy.UniformRandomPolicy(game), task.game.num_states < MOST

    def random() -> float:
        env = exactdice.Task(task.game, 0, "random") if two else task
        return float(exactdice.score("random", env).value)

    def openspiels() -> float:
        players = [uniform] * game.num_players()
        state = game.new_initial_state()
        return expected_game_score.policy_value(state, players, probability_threshold=0)[0]

    optimum, solved = timed(lambda: exactdice.solve(task).value)
    value, scored = timed(random)
    lost, best = timed(lambda: exactdice.exploitability("random", task)) if two else ("", "0")
    other, walked = timed(openspiels) if small else ("", "")
    theirs, took = "", ""
    if two and small:
        theirs, took = timed(lambda: exploitability.exploitability(game, uniform))
    assert other in ("", value), (name, other, value)
    assert theirs in ("", lost), (name, theirs, lost)
    ours = f"{sum(map(float, (solved, scored, best))):.1f}"
    cells = name, f"{task.game.rows:,}", optimum, value, lost, f"{listed:.1f}", ours, walked, took
    return [*cells]


if __name__ == "__main__":
    head = "game", "states", "optimum", "random", "exploitability of random", "list, s"
    head = *head, "all three, s", "OpenSpiel's random, s", "exploitability, s"
    print("|", " | ".join(head), "|")
    print("| --- |" + " ---: |" * (len(head) - 1))
    for each in sys.argv[1:] or GAMES:
        print("|", " | ".join(row(each)), "|", flush=True)

"""The chart of a policy shows its actions, the best ones, and what the difference costs."""

from collections import Counter, defaultdict
from itertools import combinations
from math import log

import numpy as np
import pytest
from exactdice.baselines import Task, make_task, score, solve
from exactdice.games import GAMES, InputError
from exactdice.look import policy
from exactdice.look.drawing import draw
from small_games import Walk
from small_runs import SMALL_GAMES


def last_legal(_, masks):
    return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)


def choices_by_hand(scored):
    """List observation, occupancy, the likeliest action and the best one of all choices met."""
    game, states = scored.task.game, np.flatnonzero(scored.occupancy)
    states = states[game.mask(states).sum(axis=1) > 1]
    seen = map(tuple, game.observe(states, scored.task.seat).tolist())
    does = scored.agent.probabilities(states).argmax(axis=1)
    best = np.where(scored.costs[states] > 0, solve(scored.task).policy.likeliest(states), does)
    numbers = (column.tolist() for column in (scored.occupancy[states], does, best))
    return list(zip(seen, *numbers, strict=True))


def facets_by_hand(choices, axes):
    """Group choices by all components but two; the facets that are met most come first."""
    facets = defaultdict(list)
    for choice in choices:
        facets[tuple(np.delete(choice[0], axes))].append(choice)
    return sorted(facets.values(), key=lambda own: -sum(met for _, met, _, _ in own))


def told_by_hand(choices, axes):
    """Compute the information about actions in the three facets that are met most."""
    whole, told = sum(met for _, met, _, _ in choices), 0.0
    for facet in facets_by_hand(choices, axes)[:3]:
        law = Counter()
        for _, met, does, good in facet:
            law[does, good] += met / whole
        told -= sum(chance * log(chance / sum(law.values())) for chance in law.values())
    return told


@pytest.mark.parametrize(
    ("name", "agent"), [("Greed", "random"), *((name, last_legal) for name in SMALL_GAMES)]
)
def test_every_cell_is_a_state_and_the_axes_tell_most(name, agent):
    scored = score(agent, Task(GAMES[name](**SMALL_GAMES[name])))
    game, choices = scored.task.game, choices_by_hand(scored)
    shown = policy.policy(scored)
    names = list(game.observation_names)
    across, up = shown.panels[0].x_label, shown.panels[0].y_label
    axes = names.index(across), names.index(up)
    columns = zip(*(seen for seen, *_ in choices), strict=True)
    varying = [place for place, own in enumerate(columns) if len({*own}) > 1]
    most = max(told_by_hand(choices, pair) for pair in combinations(varying, 2))
    assert told_by_hand(choices, axes) == pytest.approx(most, abs=1e-9)
    facets = facets_by_hand(choices, axes)
    assert len(shown.panels) == 3 * min(3, len(facets))
    whole = sum(met for _, met, _, _ in choices)
    rows = [shown.panels[place : place + 3] for place in range(0, len(shown.panels), 3)]
    for facet, (does, best, lost) in zip(facets, rows, strict=False):
        share = 100 * sum(met for _, met, _, _ in facet) / whole
        assert f"{share:.3g} % of its choices" in does.title
        assert np.isfinite(does.values).sum() == np.isfinite(best.values).sum() == len(facet)
        costs = 0.0
        by_place = {(seen[axes[1]], seen[axes[0]]): (d, g, seen) for seen, _, d, g in facet}
        if {*map(tuple, np.argwhere(np.isfinite(does.values)).tolist())} != {*by_place}:
            continue  # another facet is met as often, and its choices are others
        for (row, column), (chosen, good, seen) in by_place.items():
            state = int(game.encode(np.array(seen)))
            costs += scored.costs[state]
            for panel, action in ((does, chosen), (best, good)):
                words = policy.present(game).describe_action(action)
                assert panel.names[int(panel.values[row, column])] == words.removeprefix("takes ")
            assert lost.values[row, column] == scored.costs[state]
            small = scored.costs[state] < scored.costs.sum() / 1000
            assert lost.hatched[row, column] == (chosen != good and small)
        assert lost.values.sum() == pytest.approx(costs)
        assert lost.window == does.window


def test_a_game_of_ones_own_needs_no_presentation(tmp_path):
    scored = score("random", Task(Walk()))
    shown = policy.policy(scored)
    does, best, lost = shown.panels
    assert (does.x_label, does.y_label) == ("cell", "")
    assert {*does.names} <= {"action 0", "action 1"}
    for row, column in np.argwhere(np.isfinite(best.values)).tolist():
        assert best.names[int(best.values[row, column])] in best.spots.words[0][column]
        assert (": cell " in lost.words(row, column)) == (lost.values[row, column] > 0)
    draw(shown, tmp_path / "walk.png")


def test_small_maps_of_many_actions_say_each_action_and_what_is_alike_in_all_maps():
    shown = policy.policy(score("random", make_task("ShutTheBox", tiles=5)))
    assert shown.notes[0] == "In all maps: tile 1 open: yes, tile 3 open: yes."
    for panel in shown.panels:
        if panel.title != "where they differ":
            cells = {tuple(cell) for cell in np.argwhere(np.isfinite(panel.values)).tolist()}
            assert {*panel.marks} == cells
            for cell, mark in panel.marks.items():
                assert panel.names[int(panel.values[cell])] == f"closes {mark}"


def test_an_agent_without_a_choice_is_refused():
    task = make_task("ShutTheBox", tiles=1, dice=1, sides=2)
    with pytest.raises(InputError, match='game must give "random" a choice, got'):
        policy.policy(score("random", task))


def test_large_numbers_share_an_axis_by_name():
    class Far(Walk):
        observation_sizes = (400_000,)

        def observe(self, states, seat):
            return states[:, None] * 100_000

        def encode(self, observations):
            return np.asarray(observations)[..., 0] // 100_000

    does, _, _ = policy.policy(score("random", Task(Far()))).panels
    assert does.columns is not None
    assert does.values.shape == (1, len(does.columns))
    assert int(does.columns[-1]) % 100_000 == 0

"""The search spaces: each of their choices is a set of hyperparameters, within reason."""

import pytest
from exactdice.agents.algorithms import ALGORITHMS
from exactdice.agents.runs.hyperparameters import read_hyperparameters
from exactdice.agents.spaces import Choice, Powers, Span, hyperparameters_of
from exactdice.agents.tracks import TRACKS


@pytest.mark.parametrize("track", ["exactdice-10k", "exactdice-100k", "exactdice-1m"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_both_ends_of_every_space_are_hyperparameters_with_many_updates(algorithm, track):
    moves = TRACKS[track].moves
    space = ALGORITHMS[algorithm].space(moves)
    for end in (0, -1):
        chosen = {
            name: 2 ** entry.exponents[end]
            if isinstance(entry, Powers)
            else entry.options[end]
            if isinstance(entry, Choice)
            else (entry.low, entry.high)[end]
            if isinstance(entry, Span) and not entry.whole
            else int((entry.low, entry.high)[end])
            if isinstance(entry, Span)
            else entry
            for name, entry in space.items()
        }
        checked = read_hyperparameters(algorithm, hyperparameters_of(chosen, moves))
        assert moves // checked.rollout >= 19
        assert 0.9 * moves < moves // checked.rollout * checked.rollout <= moves


@pytest.mark.parametrize("track", ["exactdice-10k", "exactdice-100k", "exactdice-1m"])
def test_no_trial_of_ppo_makes_more_than_130_000_gradient_steps_in_a_game(track):
    moves = TRACKS[track].moves
    space = ALGORITHMS["ppo"].space(moves)
    smallest_batch = 2 ** space["batch_size"].exponents[0]
    assert space["n_epochs"].high * moves / smallest_batch <= 130_000


def test_gradient_steps_of_a_run_are_as_chosen():
    space = {"n_envs": 16, "updates": 2500.0}
    assert hyperparameters_of(space, 10_000)["gradient_steps"] == 4
    few = hyperparameters_of({**space, "updates": 312.0}, 10_000)
    assert (few["train_freq"], few["gradient_steps"]) == (2, 1)

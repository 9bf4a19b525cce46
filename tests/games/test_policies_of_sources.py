"""The sources' policies in games of every size."""

from contextlib import suppress

import pytest
from exactdice.baselines import make_task, reference_names
from small_games import SMALL

import exactdice
from exactdice import registry

SIZES = [(name, keywords) for name in registry.POLICIES for keywords in SMALL[name]]


@pytest.mark.parametrize(("name", "keywords"), SIZES)
def test_a_size_without_the_policy_of_a_source_says_so(name, keywords):
    """Boards leave such a policy out and quote the sentence."""
    task = make_task(name, **keywords)
    for policy in reference_names(task.game):
        with suppress(exactdice.InputError):
            exactdice.score(policy, task)
            if task.game.num_players > 1:
                exactdice.payoff_matrix([policy, "random"], task)

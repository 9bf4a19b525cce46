"""The sources' policies, which are imported when they are first asked for."""

import subprocess
import sys
from contextlib import suppress
from importlib import import_module

import pytest
from exactdice.baselines import make_task, reference_names
from exactdice.sources import POLICIES
from small_games import SMALL

import exactdice

SIZES = [(name, keywords) for name in POLICIES for keywords in SMALL[name]]
PLACES = [policy.make.args[0] for own in POLICIES.values() for policy in own.values()]


@pytest.mark.parametrize("place", PLACES)
def test_every_policy_is_where_it_is_said_to_be(place):
    module, _, name = place.partition(":")
    assert callable(getattr(import_module(f"exactdice.sources.{module}"), name))


def test_none_is_imported_before_it_is_asked_for():
    code = (
        "import sys, exactdice; print([name for name in sys.modules if name.endswith('policies')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['exactdice.baselines.policies']"


@pytest.mark.parametrize(("name", "keywords"), SIZES)
def test_a_size_without_the_policy_of_a_source_says_so(name, keywords):
    """Boards leave such a policy out and quote the sentence."""
    task = make_task(name, **keywords)
    for policy in reference_names(task.game):
        with suppress(exactdice.InputError):
            exactdice.score(policy, task)
            if task.game.num_players > 1:
                exactdice.payoff_matrix([policy, "random"], task)

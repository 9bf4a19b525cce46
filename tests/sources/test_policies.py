"""The sources' policies, which are imported when they are first asked for."""

import subprocess
import sys
from importlib import import_module

import pytest
from exactdice.sources import POLICIES

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

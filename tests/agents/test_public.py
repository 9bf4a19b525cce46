"""The classes that users import from ``exactdice.agents``."""

import pytest
from exactdice.agents import PUBLIC

from exactdice import agents


@pytest.mark.parametrize("name", list(PUBLIC))
def test_public_classes_come_from_one_place(name):
    found = getattr(agents, name)
    assert (found.__module__, found.__qualname__) == (f"exactdice.agents{PUBLIC[name]}", name)


def test_other_names_are_not_there():
    with pytest.raises(AttributeError, match="'exactdice.agents' has no attribute 'SARSA'"):
        agents.SARSA  # noqa: B018

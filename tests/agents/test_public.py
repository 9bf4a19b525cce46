"""The classes that users import from ``exactdice.agents``."""

import pytest

from exactdice import agents


@pytest.mark.parametrize("name", agents.__all__)
def test_public_classes_are_imported_at_their_first_use(name):
    found = getattr(agents, name)
    assert found.__module__.startswith("exactdice.agents.")
    assert found.__qualname__ == name


def test_other_names_are_not_there():
    with pytest.raises(AttributeError, match="No exactdice.agents attribute SARSA"):
        agents.SARSA  # noqa: B018

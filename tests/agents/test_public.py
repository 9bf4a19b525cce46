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


def test_without_their_libraries_the_classes_are_not_listed_and_say_what_to_install(monkeypatch):
    monkeypatch.setattr(agents, "find_spec", lambda _name: None)
    assert not {*agents.__all__} & {*dir(agents)}
    error = ModuleNotFoundError("no", name="torch")
    monkeypatch.setattr(agents, "_load", lambda _name: (_ for _ in ()).throw(error))
    monkeypatch.delitem(vars(agents), "QTable", raising=False)
    with pytest.raises(ModuleNotFoundError, match=r"QTable needs .* \(torch\): .*\[agents\]"):
        agents.QTable  # noqa: B018

"""The code in the documentation, run as it stands."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [
    "docs/planners.md",
    "docs/scoring.md",
    "docs/clients.md",
    "docs/pettingzoo.md",
    "CONTRIBUTING.md",
]


def blocks():
    for page in PAGES:
        found = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S)
        assert found
        for number, code in enumerate(found):
            yield pytest.param(code, id=f"{page} {number + 1}")


@pytest.mark.usefixtures("own_games")
@pytest.mark.parametrize("code", list(blocks()))
def test_a_block_runs(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(ROOT / "examples")
    exec(compile(code, "documentation", "exec"), {})

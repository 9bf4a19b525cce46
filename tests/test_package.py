"""The built wheel, rather than the checkout, and what importing it costs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("agents", "baselines", "envs", "games", "look", "play", "sources")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Build a wheel from a copy of the sources and install it into an empty folder."""
    copy, target = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("site")
    for name in (*FOLDERS, "src"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("*.egg-info"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    python("-m", "build", "--wheel", "--no-isolation", "--outdir", copy / "dist", copy)
    (wheel,) = (copy / "dist").iterdir()
    python("-m", "pip", "install", "--no-deps", "--no-index", "--quiet", "--target", target, wheel)
    return target


def python(*arguments, path=None, cwd=None):
    env = {**os.environ, "PYTHONPATH": str(path or "")}
    command = [sys.executable, *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, env=env, cwd=cwd)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def modules():
    """List every module in the folders by its name in the package."""
    files = [file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py")]
    files += (ROOT / "src/exactdice").rglob("*.py")
    for file in files:
        parts = file.relative_to(ROOT).with_suffix("").parts
        parts = parts[2:] if parts[0] == "src" else parts
        yield ".".join(["exactdice", *(part for part in parts if part != "__init__")])


def test_every_module_in_the_folders_is_in_the_wheel(installed, tmp_path):
    code = (
        "import importlib, sys\n"
        "for name in sys.argv[1:]: print(importlib.import_module(name).__file__)"
    )
    found = python("-c", code, *modules(), path=installed, cwd=tmp_path).split()
    assert len(found) == len(set(found)) >= 20
    assert all(Path(file).is_relative_to(installed) for file in found)


def test_the_wheel_brings_its_data_and_no_other_top_level_package(installed):
    assert (installed / "exactdice/py.typed").is_file()
    assert (installed / "exactdice/envs/reference.json").is_file()
    assert (installed / "exactdice/sources/four_two_one/charts.csv").is_file()
    names = {path.name for path in installed.iterdir() if not path.name.endswith(".dist-info")}
    assert names == {"exactdice", "bin"}


def test_the_wheel_plays_and_solves(installed, tmp_path):
    code = (
        "import gymnasium as gym; import exactdice\n"
        "env = gym.make('exactdice/Greed-v0', max_score=10, sides=3)\n"
        "print(exactdice.solve(env, exact=True).value, exactdice.__file__)"
    )
    value, file = python("-c", code, path=installed, cwd=tmp_path).split()
    assert value == "14352595/28697814"
    assert Path(file).is_relative_to(installed)


def test_importing_the_package_does_not_import_the_heavy_libraries():
    heavy = [
        "torch",
        "stable_baselines3",
        "sb3_contrib",
        "matplotlib",
        "pettingzoo",
        "rich",
        "tyro",
    ]
    code = f"import sys, exactdice; print([name for name in {heavy} if name in sys.modules])"
    assert python("-c", code).strip() == "[]"


def test_the_light_extra_brings_what_the_command_line_needs(installed):
    (metadata,) = installed.glob("exactdice-*.dist-info/METADATA")
    needs = [line for line in metadata.read_text().splitlines() if line.startswith("Requires-Dist")]
    light = {line.split()[1].split(">")[0] for line in needs if 'extra == "cli"' in line}
    assert light == {"rich", "tyro"}
    assert any("exactdice[cli" in line and 'extra == "agents"' in line for line in needs)


def test_the_readme_code_runs():
    """The first Python block of the README, as printed."""
    text = (ROOT / "README.md").read_text()
    code = text.split("```python\n")[1].split("```")[0]
    assert len(code.strip().splitlines()) == 8
    assert "0.5138417330406" in python("-c", code)

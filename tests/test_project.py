"""What surrounds the code: citation, workflows, templates."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from functools import cache

import pytest
import yaml
from checkout import FILES, ROOT, parsed
from exactdice.games import Game

import exactdice

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def read(path):
    """Read YAML, whose word `on` is a truth value to the parser."""
    return yaml.safe_load(path.read_text())


def test_the_citation_is_of_this_version_and_complete():
    cited = read(ROOT / "CITATION.cff")
    assert cited["cff-version"] == "1.2.0"
    assert {"message", "title", "authors", "version"} <= cited.keys()  # what the format requires
    assert cited["version"] == exactdice.__version__
    assert cited["license"] == PROJECT["license"]
    for authors in (cited["authors"], PROJECT["authors"]):
        assert [author["name"] for author in authors] == ["The exactdice developers"]
    assert f"version = {{{exactdice.__version__}}}" in (ROOT / "README.md").read_text()
    assert str(cited["title"]) in " ".join((ROOT / "README.md").read_text().split())


#: Texts that people read before they have the package.
PLACES = ["*.md", "*.toml", "*.cff", "*.yml", ".github/**/*.yml", "docs/**/*.md", "docs/*.py"]
PLACES += ["docs/notebooks/*.ipynb", "examples/*.py"]
TEXTS = [path for place in PLACES for path in sorted(ROOT.glob(place))]


def test_no_text_names_an_address_or_a_package_that_nobody_has_published():
    unknown = r"github\.com/exactdice|exactdice\.github\.io|pip install '?exactdice"
    found = [path for path in TEXTS if re.search(unknown, path.read_text("utf-8"))]
    addresses = unknown.rpartition("|")[0]
    found += [path for path in FILES if re.search(addresses, path.read_text("utf-8"))]
    assert found == []
    assert (len(TEXTS) > 50, len(FILES) > 200) == (True, True)
    assert "urls" not in PROJECT


def test_messages_add_an_extra_to_the_package_that_is_installed():
    lines = [(path, line) for path in FILES for line in path.read_text("utf-8").splitlines()]
    hints = [(path, re.search(r"'([\w.]*)\[(\w+|{extra})\]'", line)) for path, line in lines]
    hints = [(path, *hint.groups()) for path, hint in hints if hint]
    assert len(hints) >= 7
    extras = {*PROJECT["optional-dependencies"], "{extra}"}
    assert [each for each in hints if each[1] != "exactdice" or each[2] not in extras] == []


def test_one_page_alone_installs_from_the_checkout():
    pages = [path for path in TEXTS if path.suffix in {".md", ".ipynb", ".py"}]
    found = {path.name for path in pages if "pip install '.[" in path.read_text("utf-8")}
    assert found == {"overview.md"}
    text = (ROOT / "docs/overview.md").read_text("utf-8")
    told = set(re.findall(r"pip install '\.\[(\w+)\]'", text))
    assert told == PROJECT["optional-dependencies"].keys()


def test_the_workflows_are_four_and_pin_what_they_use():
    assert [path.stem for path in WORKFLOWS] == ["board", "release", "site", "test"]
    for path in WORKFLOWS:
        workflow = read(path)
        assert {"name", True, "permissions", "jobs"} <= workflow.keys()  # True is `on`
        for job in workflow["jobs"].values():
            for step in job["steps"]:
                assert ("uses" in step) != ("run" in step), step
                if "uses" in step:
                    assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", step["uses"])


def test_the_workflow_that_reads_files_of_strangers_can_only_read():
    """Nobody's branch runs with a token that writes, and none is there to be stolen."""
    path = ROOT / ".github/workflows/board.yml"
    text, workflow = path.read_text(), read(path)
    assert workflow[True] == {"pull_request": {"paths": ["benchmarks/entries/**"]}}
    assert workflow["permissions"] == {"contents": "read"}
    (job,) = workflow["jobs"].values()
    assert "permissions" not in job
    assert "secrets." not in text
    checkouts = [step["with"] for step in job["steps"] if "checkout" in step.get("uses", "")]
    assert [place["path"] for place in checkouts] == ["base", "proposed"]
    assert not any(place["persist-credentials"] for place in checkouts)
    commands = [step["run"] for step in job["steps"] if "run" in step]
    assert not any("github.event" in command or "${{" in command for command in commands)
    (installed,) = [command for command in commands if "pip install" in command]
    assert ("base[entries]" in installed, "proposed" in installed) == (True, False)


def test_every_python_that_the_package_claims_is_tested():
    matrix = read(ROOT / ".github/workflows/test.yml")["jobs"]["test"]["strategy"]["matrix"]
    classified = r"Programming Language :: Python :: (3\..*)"
    claimed = [found[1] for name in PROJECT["classifiers"] if (found := re.match(classified, name))]
    assert matrix["python"] == claimed
    assert PROJECT["requires-python"] == f">={claimed[0]}"
    assert len(matrix["os"]) == 3


@cache
def imports(path):
    """List what a file of the package imports from others: folders and file, and names."""
    folders = path.relative_to(ROOT).parts[:-1]
    folders = folders[2:] if folders[:1] == ("src",) else folders
    found = []
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.ImportFrom) and node.level and node.module:
            above = folders[: len(folders) + 1 - node.level]
            found.append(((*above, *node.module.split(".")), [name.name for name in node.names]))
    return found


def test_what_a_room_offers_is_taken_from_the_room():
    """Its ``__init__`` says what; other rooms import further names from their files."""
    for room in ("core", "baselines", "envs"):
        front = ROOT / room / "__init__.py"
        own = [(place, names) for place, names in imports(front) if place[0] == room]
        offered = {(*place, name) for place, names in own for name in names}
        assert len(offered) > 10
        for path in FILES:
            if path.relative_to(ROOT).parts[0] != room:
                taken = {(*place, name) for place, names in imports(path) for name in names}
                taken.discard(("baselines", "law", "simple", "SimpleGame"))  # as games need it
                assert not taken & offered, path


def test_a_game_has_few_members():
    annotated = {name for kind in Game.__mro__ for name in getattr(kind, "__annotations__", {})}
    members = {name for name in {*dir(Game), *annotated} if not name.startswith("_")}
    assert len(members) <= 25


@pytest.mark.skipif(sys.platform == "win32", reason="make is a program of Unix")
def test_make_refuses_an_old_python_at_once_and_replaces_an_environment_of_another_one(tmp_path):
    shutil.copy(ROOT / "Makefile", tmp_path)
    old, new = tmp_path / "old", tmp_path / "new"
    pretends = (
        f'exec {sys.executable} -c "import sys; sys.version_info = (3, 10); exec(sys.argv[1])"'
    )
    makes = f"case $1 in -m) mkdir -p .venv/bin; ln -s {new} .venv/bin/python; exit;; esac"
    old.write_text(f'#!/bin/sh\n[ "$1" = -c ] && {pretends} "$2"\n', "utf-8")
    new.write_text(f'#!/bin/sh\n{makes}\nexec {sys.executable} "$@"\n', "utf-8")
    bare = tmp_path / "bare"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n', "utf-8")
    for script in (old, new, bare):
        script.chmod(0o755)

    def make(python):
        command = ["make", "--silent", ".venv/modules", f"PYTHON={python}"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    refused = make(old)
    assert refused.returncode
    assert "error: Python must be 3.11 or later, got 3.10: make setup PYTHON=" in refused.stderr
    (tmp_path / ".venv/bin").mkdir(parents=True)
    (tmp_path / ".venv/bin/python").symlink_to(old)
    (tmp_path / ".venv/installed").touch()
    assert make(new).returncode == 0
    assert (tmp_path / ".venv/bin/python").readlink() == new
    assert not (tmp_path / ".venv/installed").exists()
    (tmp_path / ".venv/installed").touch()
    assert make(new).returncode == 0  # which keeps it
    assert (tmp_path / ".venv/installed").exists()
    (tmp_path / ".venv/bin/python").unlink()
    (tmp_path / ".venv/bin/python").symlink_to(bare)  # left by a try without python3-venv
    assert make(new).returncode == 0
    assert (tmp_path / ".venv/bin/python").readlink() == new


def test_the_main_job_says_what_to_do_outside_of_its_environment(tmp_path):
    command = [sys.executable, "-S", str(ROOT / "train.py")]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.stderr.startswith("error: exactdice is missing: make setup, then source ")
    assert (found.returncode, found.stderr.count("\n")) == (1, 1)


def test_nobody_is_told_to_install_pygame_beside_pygame_ce():
    """Both write one folder, and the one that is installed last decides."""
    told = re.compile(r"(pip install|needs?\b)[^\n;.|]*\bpygame\b(?!-ce)|; pygame and")
    for path in [*ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/clients/*.py")]:
        assert not told.search(path.read_text(encoding="utf-8")), path

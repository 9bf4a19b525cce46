"""The built packages, rather than the checkout, and what importing and installing them costs."""

import ast
import os
import re
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import distribution, distributions
from importlib.util import find_spec
from pathlib import Path

import pytest
from checkout import FILES, ROOMS, ROOT, parsed
from packaging.requirements import Requirement
from spawned import printed_by
from thinning import later

from exactdice import registry


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Build an sdist from a copy of the sources, and a wheel from it alone; install the wheel."""
    copy = tmp_path_factory.mktemp("copy")
    for name in ROOMS:
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("*.egg-info"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    python("-m", "build", "--no-isolation", "--outdir", copy / "dist", copy)
    target = tmp_path_factory.mktemp("site")
    (wheel,) = copy.glob("dist/*.whl")
    with zipfile.ZipFile(wheel) as archive:  # as pip does, but for the command in bin
        archive.extractall(target)
    return target


def python(*arguments, path=None, cwd=None):
    env = {**os.environ, "PYTHONPATH": str(path or "")}
    command = [sys.executable, *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, env=env, cwd=cwd)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def link(project, folder):
    """Put links to an installed project and to all that it needs into a folder."""
    found = distribution(project)
    for name in {file.parts[0] for file in found.files or ()} - {"..", "__pycache__"}:
        if not (folder / name).exists():
            (folder / name).symlink_to(found.locate_file(name))
    for need in map(Requirement, found.requires or ()):
        if need.marker is None or need.marker.evaluate({"extra": ""}):
            link(need.name, folder)


@pytest.fixture(scope="module")
def without_extras(installed, tmp_path_factory):
    """Run Python where there are only the wheel and what it requires, or some more projects."""

    def run(code, *more):
        folder = tmp_path_factory.mktemp("light")
        for project in ("gymnasium", "lazy-loader", "numpy", "platformdirs", *more):
            link(project, folder)
        code = f"import sys; sys.path += [{str(installed)!r}, {str(folder)!r}]\n{code}"
        command = [sys.executable, "-I", "-S", "-c", code]  # neither PYTHONPATH nor site-packages
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
        assert done.stderr == ""
        return done.stdout

    return run


def modules():
    """List every module in the folders by its name in the package, those of jax where it is."""
    for file in FILES:
        parts = file.relative_to(ROOT).with_suffix("").parts
        parts = parts[2:] if parts[0] == "src" else parts
        if "jax" not in parts or find_spec("jax"):
            yield ".".join(["exactdice", *(part for part in parts if part != "__init__")])


def test_every_module_in_the_folders_is_in_the_wheel(installed):
    for name in modules():
        place = installed.joinpath(*name.split("."))
        assert place.with_suffix(".py").is_file() or (place / "__init__.py").is_file(), name


def absolute_imports(path):
    """List the top-level names that a file imports without dots."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            yield from (entry.name.partition(".")[0] for entry in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module.partition(".")[0]


def test_no_module_imports_a_folder_of_the_checkout():
    """Only the tests see the folders as packages; what is installed has no such names."""
    for path in FILES:
        assert not {*absolute_imports(path)} & {*ROOMS}, path
    assert {*absolute_imports(Path(__file__))} > {"ast", "checkout"}


@pytest.mark.slow  # for what torch and ray take to import; the two tests above name what is missing
def test_every_module_of_the_wheel_can_be_imported(installed, tmp_path):
    code = "import importlib as i, sys\nfor n in sys.argv[1:]: print(i.import_module(n).__file__)"
    found = python("-c", code, *modules(), path=installed, cwd=tmp_path).split()
    assert len(found) == len(set(found)) >= 20
    assert all(Path(file).is_relative_to(installed) for file in found)


def test_the_wheel_brings_its_data_and_no_other_top_level_package(installed):
    assert (installed / "exactdice/py.typed").is_file()
    assert (installed / "exactdice/envs/reference.json").is_file()
    for folder in ("play/page", "look/templates", "agents/hyperparams"):
        files = {file.name for file in (ROOT / folder).iterdir()} - {"__pycache__"}
        kept = {file.name for file in (installed / "exactdice" / folder).iterdir()}
        assert files == kept - {"__pycache__"}
        assert len(files) > 3
    names = {path.name for path in installed.iterdir() if not path.name.endswith(".dist-info")}
    assert names == {"exactdice"}
    (wheel,) = distributions(path=[str(installed)])
    (command,) = wheel.entry_points.select(group="console_scripts")
    assert (command.name, command.value) == ("exactdice", "exactdice.cli:main")


def test_without_extras_environments_are_made_solved_and_scored(without_extras):
    said = without_extras(
        "import gymnasium as gym, exactdice\n"
        "env = gym.make('exactdice/Greed-v0', max_score=10, sides=3)\n"
        "env.action_space.sample(mask=env.reset(seed=0)[1]['action_mask'])\n"
        "gym.make_vec('exactdice/ShutTheBox-v0', num_envs=2).reset(seed=0)\n"
        "assert 0 < exactdice.score('if_else', env).normalized < 1\n"
        "assert not {'rich', 'scipy', 'torch', 'tyro'} & sys.modules.keys()\n"
        "print(exactdice.solve(env).value)"
    )
    assert float(said) == pytest.approx(14352595 / 28697814)


@pytest.mark.slow
def test_networks_of_torch_need_no_stable_baselines3(without_extras):
    said = without_extras(
        "import gymnasium as gym, torch, exactdice\n"
        "from exactdice.diagnose import critic, entropy, gae, gradient, overestimation\n"
        "env = gym.make('exactdice/Greed-v0', max_score=4, sides=2, encoding='one_hot_float')\n"
        "size, actions = env.observation_space.shape[0], env.action_space.n\n"
        "net, worth = torch.nn.Linear(size, actions), torch.nn.Linear(size, 1)\n"
        "value = exactdice.score(net, env).value\n"
        "agent = exactdice.from_network(lambda seen: net(torch.as_tensor(seen)), env)\n"
        "assert exactdice.score(agent, env).value == value\n"
        "assert exactdice.exact_evaluation(net, env)['value'] == value\n"
        "assert exactdice.score(net, env, observations=lambda seen: seen).value == value\n"
        "exactdice.occupancy(net, env), exactdice.exploitability(net, env)\n"
        "exactdice.compare(net, 'random', env).gain, exactdice.best_response(net, env)\n"
        "layers = torch.nn.Linear(size, 8), torch.nn.Tanh(), torch.nn.Linear(8, actions)\n"
        "small = exactdice.in_fixed_point(torch.nn.Sequential(*layers), env)\n"
        "exactdice.score(small, env)\n"
        "critic(env, net, worth), entropy(env, net), gae(env, net, worth, 1.0, 0.9)\n"
        "gradient(env, net, worth), overestimation(env, net)\n"
        "path = __import__('pathlib').Path('net.zip'); path.touch()\n"
        "try: exactdice.score(path, env)\n"
        "except exactdice.InputError as error: print(error)",
        *("scipy", "torch"),
    )
    missing = r"net\.zip needs more libraries \((sb3_contrib|stable_baselines3)\): pip install"
    assert re.match(missing, said)


def libraries(installed, extra):
    """List the projects that an extra of the wheel brings."""
    (wheel,) = distributions(path=[str(installed)])
    for need in map(Requirement, wheel.requires):
        if need.marker is not None and need.marker.evaluate({"extra": extra}):
            if need.name != "exactdice":
                yield need.name
            for other in need.extras:
                yield from libraries(installed, other)


EXTRAS = [
    ("cli", "solve --env max_score 10 sides 3", 0, "0.5001285115"),
    later(("look", "report random --env max_score 3", 0, "normalised score")),
    later(
        ("entries", "board . --output out", 1, "refused: FourTwoOne: must have a card.json, got")
    ),
]


@pytest.mark.parametrize(("extra", "words", "code", "said"), EXTRAS)
def test_an_extra_brings_what_its_commands_need(
    installed, without_extras, tmp_path, extra, words, code, said
):
    (tmp_path / "FourTwoOne").mkdir()  # which is no entry
    program = (
        f"import os; os.chdir({str(tmp_path)!r}); from exactdice.cli import main\n"
        f"try: main({words.split()})\n"
        f"except SystemExit as end: assert end.code == {code}"
    )
    assert said in without_extras(program, *libraries(installed, extra))
    assert {*libraries(installed, "cli")} <= {*libraries(installed, "agents")}


HEAVY = ["torch", "stable_baselines3", "sb3_contrib", "matplotlib", "pettingzoo", "rich", "tyro"]


@pytest.mark.parametrize(
    ("code", "printed"),
    [
        (f"import sys; from exactdice.diagnose import *; print({{*{HEAVY}}} & {{*sys.modules}})",
         "set()"),
        ("import sys, exactdice; print(*sorted(n for n in sys.modules if n.startswith('exactd')))",
         "exactdice exactdice.ids exactdice.registry"),  # what Gymnasium needs
        ("from exactdice.core import GAMES; print(GAMES['Greed'](3, 2).keywords['sides'])", "2"),
        ("from exactdice.baselines import policy_names as p, make_game as m; "
         "print(p(m('Greed'))[-1], p(m('LowestScoreMatch'))[-1])", "terminal round"),
    ],
)  # fmt: skip
def test_a_module_that_is_imported_alone_knows_games_and_policies_and_loads_little(code, printed):
    assert printed_by(code) == printed


def test_what_the_registry_lists_is_there_and_every_table_of_policies_is_in_it():
    for places in (registry.CONVERTERS, registry.INSPECTORS, registry.SOLVERS, registry.POLICIES):
        assert all(registry.Places(places).values())
    assert all(rules.name == name for name, rules in registry.Places(registry.GAMES).items())
    assert registry.POLICIES.keys() < registry.GAMES.keys()
    files = (ROOT / "games").glob("*/*policies.py")
    known = {f"exactdice.games.{path.parent.name}.{path.stem}" for path in files}
    assert {place.partition(":")[0] for place in registry.POLICIES.values()} == known


def test_a_place_may_be_set_while_it_is_imported_and_its_errors_are_no_missing_name(monkeypatch):
    table = registry.Places({"a": "math:pi", "b": "math:e"})
    monkeypatch.setattr("pkgutil.resolve_name", lambda place: table.update(a=len) or place)
    assert [table["a"], table["a"]] == ["math:pi", len]
    monkeypatch.setattr("pkgutil.resolve_name", lambda _place: {}["key of an import"])
    with pytest.raises(KeyError, match="key of an import"):
        table.get("b")


def test_the_readme_code_prints_what_stands_below_it(capsys):
    text = (ROOT / "README.md").read_text()
    blocks = r"```python\n([^`]*)```\n\nprints\n\n```text\n([^`]*)```"
    code, shown = re.search(blocks, text).groups()
    assert len(code.strip().splitlines()) == 8
    exec(code, {})
    assert capsys.readouterr().out.split() == shown.split()

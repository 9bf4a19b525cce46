"""Settings of all tests."""

import gc
import os
import re
import shutil
import signal
import sys

import gymnasium as gym
import minigrid  # noqa: F401  registers its environments once, before registries are kept
import pytest
from exactdice.baselines import cache
from exactdice.baselines.policies import names
from exactdice.envs import find_game
from exactdice.envs.drawing import painting
from exactdice.games import GAMES
from hypothesis import settings

from exactdice.cli import main

# No deadlines, as the machines are shared; the same examples in every run, as a failure has to be
# found again.
settings.register_profile("exactdice", deadline=None, derandomize=True)
settings.load_profile("exactdice")


# A shell has what it starts in the background ignore Ctrl-C, and that is handed down to every
# process that a test starts and interrupts.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True, scope="session")
def _folders_of_the_user(tmp_path_factory):
    """Leave the user's own folders alone."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("CACHE", "DATA"):
            patch.setenv(f"EXACTDICE_{name}", str(tmp_path_factory.mktemp(name.lower())))
        yield


@pytest.fixture(autouse=True, scope="session")
def _files_need_not_be_on_the_disk():
    """No test pulls the plug."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _file: None)
        yield


@pytest.fixture(autouse=True, scope="session")
def _windows_are_hidden_and_hasty():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SDL_VIDEODRIVER", "dummy")
        patch.setattr(painting, "FRAMES", 1000)
        yield


def pytest_collection_modifyitems(items):
    """Skip on Windows what its signals cannot do."""
    if sys.platform == "win32":
        for item in items:
            if item.get_closest_marker("posix"):
                item.add_marker(pytest.mark.skip(reason="needs the signals of POSIX systems"))


def pytest_collection_finish():
    """Spare the collector what all tests share, which it would search again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.fixture
def own_games():
    """Load a game from its place; forget afterwards what a test has registered."""
    known = [(registry, dict(registry)) for registry in (GAMES, gym.registry, names.POLICIES)]
    modules = set(sys.modules)
    yield find_game
    for name in GAMES.keys() - known[0][1].keys():
        if GAMES[name].__module__ not in modules:  # else other tests have its games, too
            sys.modules.pop(GAMES[name].__module__, None)
    if any(registry != before for registry, before in known):  # else what is solved stays
        cache.clear_cache()
    for registry, before in known:
        registry.clear()
        registry.update(before)


@pytest.fixture
def one_thread():
    """Have PyTorch compute on one thread, and on as many as before afterwards."""
    import torch  # by tests alone that need it

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def run(capsys, monkeypatch, tmp_path, one_thread):  # noqa: ARG001
    """Call the command line in an empty folder: (exit code, standard output, standard error)."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        with pytest.raises(SystemExit) as end:
            main([str(word) for word in arguments])
        return end.value.code, *capsys.readouterr()

    return call


@pytest.fixture
def prints(run):
    """Call a command that ends well, and give what it prints."""

    def call(*arguments):
        code, said, complaint = run(*arguments)
        assert (code, complaint) == (0, "")
        return said

    return call


@pytest.fixture
def refusal(run):
    """Call a command that refuses what was typed, and give its one line about it."""

    def call(*arguments):
        code, said, complaint = run(*arguments)
        assert (code, said) == (2, "")
        assert re.fullmatch("error: [^\n]*\n", complaint), complaint
        return complaint.removeprefix("error: ").rstrip()

    return call


@pytest.fixture(scope="session")
def browser():
    """Open the system's Chromium, which asks for nothing from elsewhere."""
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("there is no chromium here")
    from playwright.sync_api import sync_playwright

    options = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=options)
        yield opened
        opened.close()

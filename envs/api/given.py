"""Environments of others whose law is known: their ``P`` makes a game that is solved exactly."""

import inspect
import re
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import gymnasium as gym

from ...baselines import LawGame, Task
from ...baselines.law.explicit import View
from ...baselines.law.law_game import read_law
from ...baselines.law.numbers import plain
from ...core import FloatArray, InputError
from ..planners import check_listable
from .env import GameEnv
from .frames import toy_text
from .vector import GameVectorEnv

#: Arguments of environments that do not change their law.
HIDDEN = ("render_mode",)
#: Packages that register environments when they are imported, by how their ids begin.
PACKAGES = {"MiniGrid-": "minigrid", "BabyAI-": "minigrid"}
#: Longest text of keywords in the name of an environment.
LONGEST = 60


def from_P(  # noqa: N802  # the name that toy text gives the law
    law: Any,
    initial: Any = None,
    gamma: float = 1.0,
    horizon: int | None = None,
    *,
    rewards: Any = None,
    legal: Any = None,
    title: str | None = None,
    actions: Sequence[str] = (),
    states: Sequence[str] = (),
) -> Task:
    """Make the task of an agent whose transition law is given; every function here takes it.

    Args:
        law: ``P[state][action] = [(probability, next state, reward, terminated), ...]``; an
            environment that has such a ``P``, whose limit of steps is left out; or a matrix (state,
            next state) for each action, dense or sparse, where a state is over that only leads to
            itself and pays nothing. An action without outcomes is illegal.
        initial: the first state, or probability of each state at the beginning, shape (state,); by
            default that of the environment.
        gamma: discount, read as the chance that the game goes on after a move.
        horizon: number of moves after which the game is over; None for no limit.
        rewards: with matrices, what is paid: shape (state,), (state, action) or (action, state,
            next state).
        legal: which actions are legal, shape (state, action); by default all that have an outcome.
        title: name for people.
        actions: names of the actions, for people; by default those of toy text, or numbers.
        states: names of the states.

    Returns:
        The task. Its observations are (state,), and with a horizon (state, moves made so far);
        functions are shown the state alone, an integer, or what a game of this package shows.

    Raises:
        InputError: if the law has another form, or if names are not one for each action or state.
        GameError: naming state and action, if probabilities do not sum to one or a state is out of
            range; or the states from which the game cannot end, if there are no limit and no
            discount.
    """
    view = None
    if isinstance(law, gym.Env):
        bare: Any = law.unwrapped
        title = title or title_of(bare)
        if isinstance(bare, GameEnv):
            law, begins, view = _listed(bare)
        else:
            begins, view, given = law_begins(bare), toy_text(bare), law
            if (law := getattr(bare, "P", None)) is None or (initial is None and begins is None):
                raise InputError(f"env must have P and initial_state_distrib, got {given}")
        initial = begins if initial is None else initial
    if initial is None:
        raise InputError("initial must be given: the first state, or a probability of each state")
    known = read_law(law, initial, rewards, legal)
    if (kept := plain(gamma)) is None:
        raise InputError(f"gamma must be a number from 0 to 1, got {gamma!r}")
    if not isinstance(title, str | None):
        raise InputError(f"title must be a text, got {title!r}")
    if actions or states:
        old, (count, width) = view or View(), known[0].shape
        given_names = _names("actions", actions, width), _names("states", states, count)
        acts, names = given_names[0] or old.actions, given_names[1] or old.states
        view = View(old.space, old.shown, acts, names, old.frame)
    return Task(LawGame(*known, float(kept), horizon, title or "a law", view))


def _listed(env: GameEnv) -> tuple[Any, FloatArray, View]:
    """Return the law of a game of this package, its first states, and what its agent sees."""
    check_listable(env.task.game)
    found, task = env.sparse_P, env.task
    last = len(found.states) - 1  # the end, which comes behind it, is left out
    law = {
        state: {
            action: [
                (chance, min(then, last), paid, over)
                for chance, then, paid, over in outcomes
                if found.legal[state, action]
            ]
            for action, outcomes in moves.items()
        }
        for state, moves in found.as_dict().items()
        if state <= last
    }
    shown = env.sight.show(task.game.observe(found.states, task.seat))
    return law, found.initial[:-1], View(env.observation_space, shown)


def _names(name: str, given: Any, count: int) -> tuple[str, ...]:
    """Return names of actions or states, one for each, or none."""
    texts = isinstance(given, Sequence) and all(isinstance(each, str) for each in given)
    if given and not (texts and len(given) == count and not isinstance(given, str)):
        raise InputError(f"{name} must be {count} names, a list of texts, got {given!r}")
    return tuple(given)


def has_law(bare: Any) -> bool:
    """Say whether an environment has its law as toy text does."""
    own = isinstance(bare, GameEnv | GameVectorEnv)  # which have a game
    return not own and hasattr(bare, "P") and law_begins(bare) is not None


def law_begins(bare: Any) -> Any:
    """Return the law of the first state of an environment; None if it has none."""
    return getattr(bare, "initial_state_distrib", getattr(bare, "isd", None))


def title_of(bare: Any) -> str:
    """Name an environment: its id, and its keywords."""
    if bare.spec is None:
        return type(bare).__name__
    given = bare.spec.kwargs.items()
    words = "".join(f", {name} {value}" for name, value in given if name not in HIDDEN)
    return f"{bare.spec.id}{words if len(words) < LONGEST else ''}"


def known_law(env_id: str) -> tuple[type[LawGame], dict[str, Any], Callable[..., Any]]:
    """Return class, defaults and law of the games ``gym:ID``.

    The arguments are those of the environment that have a default, ``gamma`` and, by default the
    limit that Gymnasium sets, ``horizon``; 0 stands for no limit.
    """
    env = made(env_id)
    if not has_law(env.unwrapped) or env.spec is None:
        raise InputError(
            f"game must be an environment with P, which {env_id} has not{_explore_hint(env_id)}"
        )
    spec = env.spec
    taken = inspect.signature(type(env.unwrapped)).parameters.values()
    own = {each.name: spec.kwargs.get(each.name, each.default) for each in taken}
    defaults = {name: value for name, value in own.items() if name not in HIDDEN}
    defaults |= {"gamma": 1.0, "horizon": spec.max_episode_steps or 0}

    def law(gamma: float, horizon: int, **keywords: Any) -> tuple[Any, ...]:
        bare: Any = made(env_id, **keywords).unwrapped
        known = *read_law(bare.P, law_begins(bare)), gamma, horizon or None
        return *known, title_of(bare), toy_text(bare)

    return LawGame, defaults, law


def made(env_id: str, **keywords: Any) -> gym.Env[Any, Any]:
    """Make an environment; whatever its code raises becomes an ``InputError``."""
    package = next((name for begin, name in PACKAGES.items() if env_id.startswith(begin)), None)
    try:
        if package is not None:
            import_module(package)
        return gym.make(env_id, **keywords)
    except Exception as error:
        said = error if isinstance(error, gym.error.Error) else f"{type(error).__name__}: {error}"
        raise InputError(f"gym:{env_id} must be an environment that can be made: {said}") from None


def _explore_hint(env_id: str) -> str:
    """Say how the law of an environment without P is found."""
    return (
        f"; exactdice.explore(env) lists an environment that can be copied, as does gym:{env_id} "
        "--explore on the command line"
    )


def hint(name: str, door: str = "") -> str:
    """End a message about an unknown id with Gymnasium's own words and the newest version's id.

    It is empty if Gymnasium has no environment of this name; upper and lower case are alike. Of
    packages whose environments have no law it says how one is found.
    """
    bare = name.rpartition(":")[2]
    if any(map(bare.startswith, PACKAGES)):
        return _explore_hint(bare)
    version = re.compile(r"-v\d+$")
    stem = version.sub("", name).lower()
    known = [spec for each, spec in gym.registry.items() if version.sub("", each).lower() == stem]
    if not known:
        return ""
    newest, said = max(known, key=lambda spec: spec.version or 0).id, ""
    try:
        gym.spec(name)
    except (gym.error.DeprecatedEnv, gym.error.VersionNotFound) as error:
        said = f": {str(error).rstrip('.')}"
    except gym.error.Error:  # of a name without a version, or in another case
        pass
    return f"{said}; did you mean {door}{newest}?"

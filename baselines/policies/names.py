"""Policies by name: optimal and random play, graded strength, and the policies of each game.

A policy *of graded strength* is between random play, 0, and optimal play, 1. In every state of its
seat the policy "strength:<share>" draws an action from the softmax of the exact action values,

    pi(a | s) = exp(b Q(s, a)) / sum over legal actions c of exp(b Q(s, c)),

where Q is of the equilibrium and b is the inverse temperature. The share p is the normalised score
of the policy against equilibrium players,

    p = (V(pi) - V(random)) / (V(equilibrium) - V(random)).

It is 0 at b = 0 and tends to 1 as b grows, and it is continuous. So a root search finds a b for
every p between 0 and 1, to within ``TOLERANCE``; if the search takes long, b is kept on disk
(``solving/kept.py``). A share means the same in every game, whatever the unit of payoffs.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ... import registry
from ...core import FLOATS, Array, BoolArray, FloatArray, Game, InputError, Stage
from ...core.positions import legal_in
from ...core.sizes import check_array
from ...core.words import meant
from ...registry import Places
from ..cache import cached, clear_cache
from ..solving import kept
from ..solving.induction import equilibrium, sweep_back, visit_action_values
from ..solving.players import Players
from .kinds import Policy, StochasticPolicy, UniformPolicy
from .tables import PolicyCheck, table_policy

#: Names that stand for the best response to all other players, if the agent plays them.
BEST = ("optimal", "best_response")
#: Names that stand for the equilibrium policy, if another player plays them.
EQUILIBRIUM = ("optimal", "equilibrium")
#: Beginning of the names of graded strength; the share follows it.
STRENGTH = "strength:"
#: Names of the policies that every game has.
COMMON = (*BEST, "equilibrium", "random", f"{STRENGTH}<share>")
#: Largest distance of a policy's normalised score from its share.
TOLERANCE = 1e-9
#: The folder of the code that computes inverse temperatures.
_CODE = Path(__file__).parents[1]
#: The root search takes about ten steps; it ends after this many at the latest.
MOST_STEPS = 100
#: The search begins with inverse temperatures from 0 to 1 and doubles the end up to this one.
LARGEST = 2.0**60
#: A function from the game to actions, shape (state,), or to probabilities, shape (state, action).
#: Entries of states in which the policy's seat is never to move are ignored. If the name has an
#: argument, such as "hold:<points>", the function also gets the text after the colon.
Maker: TypeAlias = Callable[..., npt.ArrayLike]


@dataclass(frozen=True)
class NamedPolicy:
    """A registered policy.

    Attributes:
        make: the function that makes it.
        references: the names that the leaderboard scores, such as ("hold:20",); () for none. None
            stands for the policy's own name, or for no name if it has an argument.
        title: name of the player for people; empty for the policy's own name.
        about: a sentence for people on how the player plays; empty for none.
    """

    make: Maker
    references: tuple[str, ...] | None = None
    title: str = ""
    about: str = ""


#: The registered policies, by game and name.
POLICIES = Places[Mapping[str, NamedPolicy]](registry.POLICIES)


def register_policies(game_name: str, policies: Mapping[str, Maker | NamedPolicy]) -> None:
    """Register policies of a game by name.

    Args:
        game_name: ``Game.name`` of the game.
        policies: functions that make a policy, or ``NamedPolicy``, by name. A name such as
            "hold:<points>" has an argument.

    Raises:
        ValueError: if ``policies`` is no mapping, if every game has a policy of a given name, or if
            a function is not callable.
    """
    if not isinstance(policies, Mapping):
        raise InputError(
            "policies must be a mapping from names to functions of the game, got "
            f"{type(policies).__name__}"
        )
    found = {
        name: given if isinstance(given, NamedPolicy) else NamedPolicy(given)
        for name, given in policies.items()
    }
    common = {name.partition(":")[0] for name in COMMON}
    for name, policy in found.items():
        if not isinstance(name, str) or not name or name.partition(":")[0] in common:
            known = ", ".join(COMMON)
            raise InputError(
                f"policies must have names other than {known}, which every game has, got {name!r}"
            )
        if not callable(policy.make):
            raise InputError(
                f"policies must be functions of the game, got {policy.make!r} as {name}"
            )
    registered_policies(game_name)  # imports those of the sources
    with registry.CHANGING:
        POLICIES[game_name] = {**registered_policies(game_name), **found}
    clear_cache()  # its keys hold policies by their names


def known_name(name: str, game: Game, seat: int, masked: bool) -> str:
    """Return a name after checking that a policy of this seat has it; nothing is solved."""
    if name == "best_response":
        raise InputError(
            "opponent or policy must be one by itself, got 'best_response', which only the agent "
            "of an environment can play: its opponents are known"
        )
    if name.startswith(STRENGTH):
        read_share(name)
    elif name not in COMMON:
        resolve(name, game, seat, masked=masked)
    return name


def resolve(
    known: str | Policy, game: Game, seat: int, exact: bool = False, masked: bool = True
) -> Policy:
    """Return the ``Policy`` that a name stands for; "optimal" is the equilibrium.

    Args:
        known: a name or a ``Policy``, which is returned unchanged.
        game: the game that is played.
        seat: the seat that the policy plays.
        exact: whether an equilibrium is computed without rounding.
        masked: whether a registered policy must keep to the legal actions.

    Raises:
        ValueError: if no policy has this name, or the registered policy does not fit the seat.
    """
    if not isinstance(known, str):
        return known
    if known in EQUILIBRIUM:
        return equilibrium(game, exact).policies[seat]
    if known == "random":
        return UniformPolicy(game)
    if known.startswith(STRENGTH):
        share = read_share(known)
        if share == 1:
            return equilibrium(game, exact).policies[seat]
        return strength_policy(game, share, seat) if share else UniformPolicy(game)
    named = source_policy(game, known, seat, masked)
    if named is not None:
        return named
    names = ", ".join(repr(name) for name in policy_names(game))
    raise InputError(
        f"opponent or policy must be {names}, a table, a callable, a model, or the path of a run "
        f"folder, a certificate or a saved model, got {known!r}{meant(known, policy_names(game))}"
    )


@cached
def source_policy(game: Game, name: str, seat: int, masked: bool = True) -> Policy | None:
    """Return the policy registered for a game under a name; None if there is none.

    Args:
        game: the game that is played.
        name: name of the policy, with its argument if it takes one.
        seat: the seat that the policy plays.
        masked: whether the policy must keep to the legal actions.

    Raises:
        ValueError: if the argument is wrong, or the function returns no policy for the seat.
    """
    kind, colon, argument = name.partition(":")
    for pattern, policy in registered_policies(game.name).items():
        if pattern.partition(":")[:2] == (kind, colon):
            given = policy.make(game, argument) if colon else policy.make(game)
            try:
                return table_policy(given, PolicyCheck(game, seat, masked), name)
            except InputError as error:
                raise InputError(f"{name}, as it is registered for {game.name}: {error}") from None
    return None


def is_policy_name(game: type[Game] | Game, name: str) -> bool:
    """Return whether a policy of the game has this name, with any argument."""
    kinds = {known.partition(":")[:2] for known in policy_names(game)}
    return name.partition(":")[:2] in kinds


def policy_names(game: type[Game] | Game) -> list[str]:
    """List the names of a game's policies, registered policies included."""
    return [*COMMON, *registered_policies(game.name)]


def registered_policies(game_name: str) -> Mapping[str, NamedPolicy]:
    """Return the policies registered for a game, by name; ``game_name`` is its ``Game.name``."""
    return MappingProxyType(POLICIES.get(game_name, {}))


def reference_names(game: Game) -> list[str]:
    """List the names of the game's registered policies that the leaderboard scores."""
    found: list[str] = []
    for name, policy in registered_policies(game.name).items():
        own = () if ":" in name else (name,)
        found += own if policy.references is None else policy.references
    return found


def read_share(name: str) -> float:
    """Read the share of a policy's name.

    Raises:
        InputError: if the text after the colon is no number from 0 to 1.
    """
    text = name.removeprefix(STRENGTH)
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise InputError(
            f"strength must be a number from 0 (random) to 1 (optimal), got {text!r} in {name!r}"
        )
    return share


@cached
def strength_policy(game: Game, share: float, seat: int) -> StochasticPolicy:
    """Find the policy whose normalised score against equilibrium players is a given share.

    Args:
        game: the rules.
        share: above 0 (random play) and below 1 (the equilibrium).
        seat: the seat that the policy plays.

    Raises:
        InputError: if random play is as good as optimal play, or the game has no equilibrium that
            can be computed, or its table of laws would take too much memory.
    """
    legal, gaps = _gaps(game, seat)

    def softmax(inverse: float, span: float) -> StochasticPolicy:
        table = np.zeros(legal.shape)
        table[legal] = _exponential(-inverse * (gaps / span))
        table /= table.sum(axis=1, keepdims=True)
        return StochasticPolicy(table, f"{STRENGTH}{share:g}")

    def search() -> FloatArray:
        return _search(game, share, seat, softmax)

    what, code = f"strength {share!r} in seat {seat}", sorted(_CODE.glob("*/*.py"))
    return softmax(*kept.numbers(game, what, 2, code, search))


def _search(
    game: Game, share: float, seat: int, softmax: Callable[[float, float], Policy]
) -> FloatArray:
    """Compute the inverse temperature of a share, and the span V(equilibrium) - V(random).

    Raises:
        InputError: if random play is as good as equilibrium play.
    """
    best = dict(enumerate(equilibrium(game).policies))

    def value(policy: Policy) -> float:
        values = sweep_back(Players(game, seat, {**best, seat: policy})).values
        states, chances = game.initial_law()
        return float(FLOATS.mean(np.asarray(chances, dtype=np.float64), values.at(0, states)))

    worst = value(UniformPolicy(game))
    span = value(best[seat]) - worst  # the unit of gaps, so that the first bracket fits any game
    if span <= FLOATS.tie(game):
        raise InputError(
            f"strength must be 0 or 1 in seat {seat} of {game!r}, where random play is as good as "
            f"optimal play, got {share:g}"
        )
    inverse = _root(lambda inverse: (value(softmax(inverse, span)) - worst) / span - share)
    return np.array([inverse, span])


def _gaps(game: Game, seat: int) -> tuple[BoolArray, FloatArray]:
    """Return the legal actions in the seat's states, and how much worse each is than the best.

    Returns:
        A mask, bool, shape (state, action), with the first action alone in states of other players;
        and the expected payoff that each action of the mask loses, float64, in the mask's order.
    """
    check_array("a table of probabilities", game, game.num_states, game.num_actions)
    legal = np.zeros((game.num_states, game.num_actions), dtype=bool)
    legal[:, 0] = True
    table = np.zeros(legal.shape)
    values = equilibrium(game).values[seat]

    def visit(stage: Stage, expected: Array) -> None:
        mask = legal_in(game, stage)
        best, optimal = FLOATS.best(expected, mask, FLOATS.tie(game, stage.states))
        legal[stage.states] = mask
        table[stage.states] = np.where(optimal, 0.0, best[:, None] - expected)

    visit_action_values(game, visit, values, seat, FLOATS)
    return legal, table[legal]


def _exponential(numbers: FloatArray) -> FloatArray:
    """Compute exp of numbers of at most 0, the same to the last bit on every processor.

    It is the Taylor polynomial at a 1,024th of the number, squared ten times: its relative error is
    below 1e-12. Below -700 it gives 0.
    """
    small = np.maximum(numbers, -700.0) / 1024
    total = np.ones_like(small)
    for order in range(14, 0, -1):
        total *= small / order
        total += 1
    for _ in range(10):
        total *= total
    total[numbers < -700] = 0.0
    return total


def _root(miss: Callable[[float], float]) -> float:
    """Find a root of a function on the numbers from 0, by the Illinois method.

    Args:
        miss: a continuous function, negative at 0.
    """
    low, high = 0.0, 1.0
    below, above = miss(low), miss(high)
    while above < 0 and high < LARGEST:
        low, below, high = high, above, 2 * high
        above = miss(high)
    found, off = high, above
    for _ in range(MOST_STEPS):
        if abs(off) <= TOLERANCE:
            return found
        found = high - above * (high - low) / (above - below)
        last, off = off, miss(found)
        if off < 0:
            low, below = found, off
            above = above / 2 if last < 0 else above
        else:
            high, above = found, off
            below = below / 2 if last >= 0 else below
    raise ArithmeticError(f"a root must be found within {MOST_STEPS} steps, and was not")

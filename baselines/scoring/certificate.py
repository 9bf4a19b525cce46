"""Policy certificates: a policy and what it scores, in one file that anybody can check.

``certificate_file`` says what a file holds. ``verify`` trusts no claim: it computes all of them
anew from the policy. It is safe with a file of unknown origin: it accepts as opponents only
policies known by name, never tables or other files, and prints messages of one line.

In games with too many states for tables the policy is a network in fixed point, whose actions are
the same on every machine.
"""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...core import GAMES, BoolArray, Game, InputError, IntArray
from ...core.positions import states_of
from ...core.presentation import present
from ..policies.door import Reading, converted, label
from ..policies.kinds import PolicyFunction
from ..policies.names import is_policy_name
from ..policies.networks import FixedPointNetwork, NetworkPolicy
from ..task import Task, make_game, task_and_sight
from .certificate_file import CLAIMS, CertificateError, naming, read
from .score import Score, score

#: Share of the largest payoff by which claims may be off: normalising again changes last digits.
TOLERANCE = 1e-9


def in_fixed_point(model: Any, env: Any) -> NetworkPolicy:
    """Round a network to fixed point, as certificates of games with too many states hold it.

    Its actions are the same on every machine. It may be scored in place of the model, from which it
    differs where two preferences are nearly equal.

    Args:
        model: a model of stable-baselines3 or a torch module with layers of ReLU or of Tanh, or
            the path of a saved model or run.
        env: an environment of this project, its id, or a ``Task``.

    Raises:
        ValueError: if the model has other layers, or a first layer that is no sum over the
            components of an observation.
    """
    task, sight = task_and_sight(env)
    known = Path(model) if isinstance(model, str) else model
    network, _ = converted(known, task.game, Reading(sight=sight))
    if not isinstance(network, NetworkPolicy):
        raise InputError(f"policy must be a network, got {label(model)}")
    return network.in_fixed_point(task.game)


def verify(path: Path | str) -> Score:
    """Compute anew all claims of a certificate.

    Returns:
        The score of its policy.

    Raises:
        CertificateError: if the file is no certificate, damaged, makes a false claim, or has
            opponents that are not known by name, such as a table.
        OSError: if there is no such file or it cannot be read.
    """
    task, player, claims = _opened(path := Path(path))
    with naming(path):
        try:
            result = score(player, task, name=claims["policy"])
        except InputError as error:
            raise InputError(f"must hold a policy of {task.game!r}: {error}") from None
        _compare(claims, result)
    return result


def read_policy(path: Path, game: Game) -> PolicyFunction:
    """Read the policy of a certificate, for the certificate's seat.

    Raises:
        CertificateError: if the file is no certificate, damaged, or of another game.
    """
    task, player, _ = _opened(path)
    if task.game == game:
        return player
    wanted, got = present(game).words, present(task.game).words
    with naming(path):
        raise InputError(f"must be of {wanted}, got one of {got}")


def task_of(path: Path) -> Task:
    """Read the task of a certificate.

    Raises:
        CertificateError: if the file is no certificate, or damaged.
    """
    return _opened(path)[0]


def _opened(path: Path) -> tuple[Task, PolicyFunction, dict[str, Any]]:
    """Read the task of a certificate, its policy as a function, and its claims."""
    policy, claims = read(path)
    with naming(path):
        task = _task(claims)
        return task, _player(path, policy, claims, task), claims


def _player(
    path: Path, policy: npt.NDArray[Any], claims: dict[str, Any], task: Task
) -> PolicyFunction:
    """Make a function of a policy's rows, one for each state of the seat, or of a network."""
    if "network" in claims:
        layers = claims["network"]
        return FixedPointNetwork(
            task.game, layers["units"], layers["activation"], policy, claims["policy"]
        )
    states = states_of(task.game, task.seat)
    if len(policy) != len(states):
        raise InputError(f"must hold a policy for {len(states)} states, got {len(policy)}")

    def play(observations: IntArray, _masks: BoolArray) -> Any:
        wanted = task.game.encode(observations)
        rows = np.minimum(np.searchsorted(states, wanted), len(states) - 1)
        if (states[rows] != wanted).any():
            raise CertificateError(f"{path} must be of the seat that is played, got {task.seat}")
        return policy[rows]

    return play


def _compare(claims: dict[str, Any], result: Score) -> None:
    """Compare claims with computed figures, within a tolerance for payoffs of that size."""
    size = max(abs(payoff) for payoff in result.task.game.payoff_range)
    span = result.optimum - result.random
    for name in CLAIMS:
        claimed, computed = claims[name], getattr(result, name)
        unit = size if name != "normalized" else size / span if span > 0 else 1.0
        if not abs(claimed - computed) <= TOLERANCE * unit:
            raise InputError(f"claims {name} = {claimed}, computed is {computed}")


def _task(claims: dict[str, Any]) -> Task:
    """Build the task that the claims name; its opponents are known by name."""
    keyword = GAMES[claims["game"]].opponent_keyword
    keywords = {**claims["keywords"]}
    seat, opponents = keywords.pop("seat", 0), keywords.pop(keyword, [])
    try:
        game = make_game(claims["game"], ("seat", keyword), **keywords)
        if game.num_players == 1 and keyword in claims["keywords"]:
            raise InputError(f"{keyword} must be left out, as there is one player")
        for opponent in opponents if isinstance(opponents, list) else [opponents]:
            if not isinstance(opponent, str) or not is_policy_name(game, opponent):
                inline = isinstance(opponent, list | int | float)
                got = "an inline table" if inline else repr(opponent)
                raise InputError(f"opponents must be known by name, got {got}")
        return Task(game, seat, opponents)
    except InputError as error:
        raise InputError(f"must name a game and its keywords: {error}") from None

"""Verification: the claims of a policy certificate are computed anew from its policy."""

from pathlib import Path

from ...core import InputError
from ..solving.solver import optimum
from .certificate import CLAIMS, naming, opened
from .score import Score, score, value_of_random

#: Error bounds by which claims may be off: of both numbers, and as normalising again changes last
#: digits of probabilities.
ROUNDINGS = 4


def verify(path: Path | str) -> Score:
    """Compute anew all claims of a certificate.

    Returns:
        The score of its policy.

    Raises:
        CertificateError: if the file is no certificate, damaged, makes a false claim, or has
            opponents that are not known by name, such as a table.
        OSError: if there is no such file or it cannot be read.
    """
    task, player, claims = opened(path := Path(path))
    with naming(path):
        try:
            result = score(player, task, name=claims["policy"])
        except InputError as error:
            raise InputError(f"must hold a policy of {task.game!r}: {error}") from None
        # Claims and computed figures are right within their error bounds.
        own, best = result.error_bound, optimum(result.problem).value_error
        blind, span = value_of_random(result.problem)[1], result.optimum - result.random
        bounds = {"value": own, "optimum": best, "random": blind, "regret": own + best}
        share = (own + best + 2 * blind) * (1 + abs(result.normalized))
        bounds["normalized"] = share / span if span > 0 else 0.0
        for name in CLAIMS:
            claimed, computed = claims[name], getattr(result, name)
            if not abs(claimed - computed) <= ROUNDINGS * bounds[name]:
                raise InputError(f"claims {name} = {claimed}, computed is {computed}")
    return result

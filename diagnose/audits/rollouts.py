"""Checks of the numbers of a rollout: log-probabilities, values, advantages and returns."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from ...baselines import as_policy
from ...baselines.policies.door import packages_of
from ...baselines.policies.tables import as_numbers
from ...core import BoolArray, FloatArray, InputError
from ..arrays import leading_shape, numbers
from ..records import Rollout
from ..report import Finding, Report, told
from .estimates import Recorded, advantage_mistakes, agree, return_mistakes
from .steps import Steps


def check_log_probs(report: Report, rollout: Rollout, steps: Steps, policy: Any, env: Any) -> None:
    """Check that recorded log-probabilities are the policy's, under the mask."""
    if rollout.log_probs is None or policy is None:
        report.unchecked["log_probs"] = "log_probs and policy are needed"
        return
    shape = steps.states.shape
    given = numbers(rollout.log_probs, "log_probs", shape, finite=False)
    which = steps.used & ~steps.verdicts["observations"].wrong & ~steps.verdicts["actions"].wrong

    def logs(masked: bool) -> FloatArray:
        law = as_policy(policy, env, deterministic=False, masked=masked)
        states, where = np.unique(steps.states[which], return_inverse=True)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(law.probabilities(states)[where]), dtype=np.float64)

    rows = np.arange(int(which.sum())), steps.actions[which]

    def known(ours: FloatArray, given: FloatArray) -> Iterator[tuple[str, str]]:
        yield from _log_prob_mistakes(ours, given)
        if agree(logs(masked=True).max(axis=1), given).all():
            yield "log-probs-of-likeliest", "they are those of the action that was taken"
        if agree(logs(masked=False)[rows], given).all():
            yield "log-probs-unmasked", "take the softmax over the legal actions alone"
        ratios = np.exp(ours - given)
        fit = abs(ratios.mean() - 1) <= 4 * ratios.std() / np.sqrt(ratios.size)
        if fit and not steps.wrong.any():  # else they may be right, and the observations wrong
            yield "log-probs-stale", "they fit the draws, but not this policy: it has been updated"

    # Logarithms near 0 come from logits that are larger, and are rounded as these are.
    right = partial(agree, size=1.0)
    _compare(report, "log_probs", logs(masked=True)[rows], given[which], known, right)


def _log_prob_mistakes(ours: FloatArray, given: FloatArray) -> Iterator[tuple[str, str]]:
    if agree(np.exp(ours), given).all():
        yield "log-probs-without-log", "take the logarithm of the probabilities"
    if agree(-ours, given).all():
        yield "log-probs-sign", "the logarithm of a probability is not above 0"


def check_critic(report: Report, rollout: Rollout, critic: Any) -> None:
    """Check that recorded values are the critic's."""
    if rollout.values is None or critic is None:
        report.unchecked["values"] = "values and critic are needed"
        return
    shape = leading_shape(rollout.actions, "actions", 2)[:2]
    given = numbers(rollout.values, "values", shape)
    observations = rollout.observations
    entries = observations if isinstance(observations, Mapping) else {"": observations}
    flat: Any = {
        key: array.reshape(-1, *array.shape[2:])
        for key, array in ((key, np.asarray(entry)) for key, entry in entries.items())
    }
    flat = flat if isinstance(observations, Mapping) else flat[""]
    if "torch" in packages_of(critic) and hasattr(critic, "parameters"):
        from ..networks import Network  # needs torch

        critic = Network(critic, "critic", None)
    if not callable(critic):
        raise InputError(
            f"critic must be a function of observations, got a {type(critic).__name__}"
        )
    ours = as_numbers(critic(flat), "critic").astype(np.float64)
    if ours.size != given.size:
        raise InputError(f"critic must give {given.size} values, got shape {ours.shape}")
    _compare(report, "values", ours.reshape(shape), given, _critic_mistakes)


def _critic_mistakes(ours: FloatArray, given: FloatArray) -> Iterator[tuple[str, str]]:
    if len(ours) > 1 and (agree(ours[1:], given[:-1]).all() or agree(ours[:-1], given[1:]).all()):
        yield "shifted-values", "a value belongs to the observation before the move of its row"
    ours, given = ours.ravel(), given.ravel()
    if ours.std() > 0 and given.std() > 0 and np.corrcoef(ours, given)[0, 1] > 0.9:
        yield (
            "values-stale",
            "they are near the critic's values, and not the same: the critic has been updated "
            "since, or values were computed under another normalisation",
        )


def check_estimates(report: Report, rollout: Rollout, shape: tuple[int, ...]) -> None:
    """Check advantages and returns against the recursion."""
    for check in ("advantages", "returns"):
        if getattr(rollout, check) is None:
            continue
        if rollout.values is None or rollout.last_values is None:
            report.unchecked[check] = "values and last_values are needed, zeros without a critic"
            continue
        recorded = Recorded.of(rollout, shape)
        given = numbers(getattr(rollout, check), check, shape)
        ours, mistakes = recorded.advantages(), advantage_mistakes
        if check == "returns":
            ours, mistakes = ours + recorded.values, return_mistakes

        def known(
            _: FloatArray, given: FloatArray, mistakes: Any = mistakes, r: Any = recorded
        ) -> Any:
            return mistakes(r, given)

        _compare(report, check, ours, given, known, recorded.agree)


def _compare(
    report: Report,
    check: str,
    ours: FloatArray,
    given: FloatArray,
    mistakes: Callable[[FloatArray, FloatArray], Iterator[tuple[str, str]]],
    agree: Callable[[FloatArray, FloatArray], BoolArray] = agree,
) -> None:
    """Compare numbers with what they must be, and name the mistake that reproduces them."""
    right: BoolArray = agree(ours, given)
    if right.all():
        report.held[check] = given.size
        return
    mistake, cure = next(mistakes(ours, given), (None, ""))
    place: Any = np.argwhere(~right)[0]
    at = tuple(place.tolist())
    entry = ", ".join(map(str, at))
    words = told(f"entry {entry} is {given[at]:.6g} and must be {ours[at]:.6g}", cure)
    report.findings.append(Finding(check, mistake, int((~right).sum()), given.size, words))

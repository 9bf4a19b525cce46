"""Known mistakes of recorded steps: a mistake is named if undoing it makes all steps right.

The ``changes`` of a ``Mistake`` are the arrays of ``Steps`` as a right program would have recorded
them. A vector of L environments writes L rows of a replay buffer for each step, so an array that is
late by one step is L rows late there. L is the distance at which most observations are the next
ones of earlier rows; where observations themselves are late, all L up to ``FARTHEST`` are tried.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, get_args

import numpy as np

from ...baselines import LawGame, Task, policy_names, prepare
from ...core import FloatArray, InputError
from ...core.positions import states_of
from ...envs import RewardMode
from ..report import Mistake, reproducing
from .chance import deviations, threshold
from .formula import CUT_AS_END, other_lanes
from .steps import Payment, Steps

#: Largest number of environments of a replay buffer.
FARTHEST = 1024
#: Numbers of sampled steps that rule a moved array out, first a few, then more.
FEW, SAMPLE = 8, 128
#: An array that is shifted makes more than this part of the steps wrong.
LEAST = 0.01
#: Chance of a coincidence that is no evidence for a mistake.
CHANCE = 1e-3
#: Rewards that must be paid before all lanes are tried.
ENOUGH = 8
#: Largest change of the logarithm of a factor of rewards from one to the next, of nine in ten.
SLOW = 0.1
#: Arrays of ``Steps``.
ARRAYS = "states", "actions", "rewards", "terminated", "later", "used", "truncated", "counts"
#: Mistakes of observations that are a step early or late.
STALE = (
    "stale-observation: the observation was overwritten by the next one before it was recorded: "
    "copy it{by}"
)
STALE_NEXT = (
    "stale-next-observation: the next observation is the one before the move: read it after the "
    "step{by}"
)
#: What is made of rewards so that an algorithm for other games may keep its learning rate.
CLIPPED: dict[str, Callable[[FloatArray], FloatArray]] = {
    "the signs of the rewards": np.sign,
    "the rewards clipped to the range from -1 to 1": lambda rewards: np.clip(rewards, -1, 1),
}


def explained(steps: Steps) -> tuple[dict[str, Mistake], Steps]:
    """Name the mistakes that explain all wrong steps, by the checks that have failed; undo them.

    Illegal actions may accompany another mistake. Steps that none explains stay as they are.
    """
    failed = [check for check, verdict in steps.verdicts.items() if verdict.wrong.any()]
    illegal = {}
    if "actions" in failed:
        cure = "hold the policy to the mask of legal actions"
        illegal["actions"] = Mistake(f"illegal-action: {cure}")
    legal = replace(steps, used=steps.used & ~steps.verdicts["actions"].wrong)
    if failed == ["actions"]:
        return illegal, legal
    if failed and _aliased(steps):
        cure = "all rows of a game show its last observation: copy each one before it is recorded"
        return dict.fromkeys(failed, Mistake(f"aliased-observations: {cure}")), steps
    if failed and (found := _named(steps)):
        return dict.fromkeys(failed, found), replace(steps, **found.changes)
    if illegal and (found := _named(legal)):
        return dict.fromkeys(failed, found) | illegal, replace(legal, **found.changes)
    return {}, steps


def _aliased(steps: Steps) -> bool:
    """Say whether observations change with games alone, though some games have several moves."""
    states, going = steps.states, ~steps.terminated
    for far in range(1, 2 if steps.follow else _farthest(steps) + 1):  # rows of a lane apart
        before, after = states[:-far][going[:-far]], states[far:][going[:-far]]
        told = 2 * len(before) > going.sum() and len(np.unique(before)) > ENOUGH
        if told and (before == after).all():
            return True
    return False


def _named(steps: Steps) -> Mistake | None:
    """Return the mistake that explains all wrong steps; None if none does."""

    def checked(steps: Steps) -> int:
        return sum(int(verdict.checked.sum()) for verdict in steps.verdicts.values())

    least = checked(steps) // 3
    right = reproducing(
        steps, _mistakes(steps), lambda found: checked(found) >= least and not found.wrong.any()
    )
    return next(right, None)


def _mistakes(steps: Steps) -> Iterator[Mistake]:
    """Yield the known mistakes that steps may have, the likeliest one first."""
    lanes = _environments(steps)
    yield from _autoreset(steps, lanes)
    yield from _wrong_ends(steps)
    if steps.wrong.mean() >= LEAST and not steps.verdicts["observations"].wrong.any():
        yield from filter(partial(_may_explain, steps), _moved(steps, lanes))
    yield from _other_tasks(steps)
    yield from _mixed_seats(steps)


def _environments(steps: Steps) -> int:
    """Return the number of rows from one row to the next of the same environment."""
    if steps.follow:
        return 1
    after, states = steps.after, steps.states
    distances = range(1, _farthest(steps) + 1)
    follow = [float(np.mean(after[:-far] == states[far:])) for far in distances]
    return 1 + int(np.argmax(follow)) if follow else 1


def _farthest(steps: Steps) -> int:
    return min(FARTHEST, len(steps.states) // 3)


def _autoreset(steps: Steps, lanes: int) -> Iterator[Mistake]:
    """Leave out the rows in which environments were reset: those after the ends of games."""
    first = (steps.problem.initial[np.maximum(steps.after, 0)] > 0) & (steps.after >= 0)
    resets = ~steps.terminated & (steps.rewards == 0) & (first | ~steps.knows_after)
    # The games of the first rows may have ended before the record.
    wrong = steps.wrong
    after_end = np.concatenate([wrong[:lanes], steps.terminated[:-lanes]])
    if (after_end & ~resets).any() or (wrong & ~after_end).any():
        return
    where = "" if lanes == 1 else f"in each of the {lanes} environments, "
    row = f"{where}the row after the end of a game is no move: leave it out"
    if steps.follow:
        row = (
            "after the end of a game the environment ignores one action and resets: say by used= "
            "that this row is no move"
        )
    cure = f"{row}, or make the environments with AutoresetMode.SAME_STEP"
    yield Mistake(f"autoreset: {cure}", {"used": steps.used & ~after_end})


def _wrong_ends(steps: Steps) -> Iterator[Mistake]:
    """Mark the ends of games that were not recorded, or not those of the last row."""
    ended = steps.terminated
    yield from _lost_ends(steps)
    if steps.follow and len(ended) > 1 and ended[-1].all():
        ends = np.append(ended[:-1], np.zeros_like(ended[:1]), axis=0)
        # Where the next observation is known, it tells which games have ended.
        ends[-1] = replace(steps, terminated=ends).verdicts["transitions"].wrong[-1]
        cure = "the games go on after the last row: only the rollout has ended there"
        yield Mistake(f"last-game-ended: {cure}", {"terminated": ends})
    cut = steps.verdicts["transitions"].wrong & ended
    if not steps.follow or cut[:-1].any():
        # The observation after the last row may be the first one of another game.
        final = None if steps.final is None else np.where(cut, -1, steps.final)
        changes = {"terminated": ended & ~cut, "truncated": cut, "final": final}
        yield Mistake(CUT_AS_END, changes)


def _lost_ends(steps: Steps) -> Iterator[Mistake]:
    """Take wrong steps for ends of games, or for cuts, that were not recorded.

    A name needs evidence that chance does not give: steps that all may end the game are no such
    evidence where most may, unless fewer games have ended than must have; and steps that all lead
    to first positions are none where most positions are.
    """
    checked, wrong = steps.verdicts["transitions"]
    lost = wrong & ~steps.terminated
    if not lost.any():
        return
    may, initial = steps.end_chances > 0, steps.problem.initial > 0
    first = initial[np.maximum(steps.after, 0)] & (steps.after >= 0)
    count, led = int(lost.sum()), not (lost & ~first).any()
    ends, expected = steps.terminated[checked].sum(), steps.end_chances[checked].sum()
    # Chernoff's bound of the probability of no more ends than were recorded.
    bound = ends - expected + ends * np.log(max(expected, 1e-300) / max(ends, 1))
    few = ends < expected and bound < np.log(CHANCE)
    missing = (
        "terminated-missing",
        "record whether a move has ended the game: here the position after its end, or the first "
        "one of the next game, is taken for the next position of this one",
    )
    if few or may[checked].mean() ** count < CHANCE or (led and not steps.terminated.any()):
        yield Mistake(": ".join(missing), {"terminated": steps.terminated | lost})
    if not led or initial.mean() ** count > CHANCE:
        return
    if not (lost & ~steps.truncated).any():
        cure = "record the last observations of games that were cut, not the first ones of the next"
        told = f"first-observations-for-final-observations: {cure}"
        yield Mistake(told, {"used": steps.used & ~lost})
    cut = lost & ~may if few else lost  # of other games it is not known whether they were cut
    told = f"{int(cut.sum()):,} rows lead to first positions: games were cut"
    if steps.follow:
        final = None if steps.final is None else np.where(cut, -1, steps.final)
        changes = {"truncated": steps.truncated | cut, "final": final}
        cure = f"{told}: give truncated= and final_observations="
    else:
        changes = {"used": steps.used & ~cut}
        cure = f"{told}: give truncated=, and as next observations the last ones of these games"
    name, first_cure = (missing[0] + "+", missing[1] + "; ") if few else ("", "")
    changes |= {"terminated": steps.terminated | (lost & ~cut)}
    yield Mistake(f"{name}cuts-unrecorded: {first_cure}{cure}", changes)


def _moved(steps: Steps, lanes: int) -> Iterator[Mistake]:
    """Move arrays by some rows, or to other lanes."""
    if steps.follow:
        yield _moved_rows(STALE, steps, "states", steps.states, 1)
    yield from _late(steps, "actions", lanes)
    yield from _late(steps, "terminated", lanes)
    if steps.follow:
        yield from _mixed_lanes(steps, 0, "states", "actions", "rewards", "terminated")
        for name in ("states", "actions", "terminated"):
            yield from _mixed_lanes(steps, FARTHEST, name)
    elif (steps.states == steps.after)[~steps.terminated].mean() > 0.9:
        for far in range(1, _farthest(steps) + 1):
            yield _moved_rows(STALE, steps, "states", steps.after, far)
            yield _moved_rows(STALE_NEXT, steps, "later", steps.states, -far)


def _moved_rows(text: str, steps: Steps, array: str, given: Any, far: int) -> Mistake:
    """Take an array from rows that are ``far`` rows earlier, or later if ``far`` is negative."""
    used = steps.used.copy()
    used[slice(far) if far > 0 else slice(far, None)] = False
    by = "" if abs(far) == 1 else f" ({abs(far)} rows: one step of {abs(far)} environments)"
    told = text.format(neighbour="next" if far > 0 else "last", by=by)
    return Mistake(told, {array: np.roll(given, far, axis=0), "used": used})


def _late(steps: Steps, name: str, lanes: int) -> Iterator[Mistake]:
    """Take an array from the step before or after."""
    words = name.replace("terminated", "ends")
    cure = f"{words} were recorded with the {{neighbour}} observation{{by}}: record both together"
    for far in (lanes, -lanes):
        yield _moved_rows(f"shifted-{words}: {cure}", steps, name, getattr(steps, name), far)


def _mixed_lanes(steps: Steps, most: int, *names: str) -> Iterator[Mistake]:
    """Swap time and lane of arrays of a rollout, or take them from lanes up to ``most`` away."""
    shown = ", ".join(names).replace("states", "observations")
    arrays = (other_lanes(getattr(steps, name), most) for name in names)
    for found in zip(*arrays, strict=True):
        changes = dict(zip(names, (array for _, array in found), strict=True))
        yield Mistake(f"lanes-mixed: {shown} {found[0][0]}", changes)


def _may_explain(steps: Steps, mistake: Mistake) -> bool:
    """Say whether a mistake makes a sample of steps right: the first ones, or rows of a buffer."""
    # Rows at the borders are left out; that alone must not explain the wrong ones.
    left = steps.wrong & mistake.changes.get("used", steps.used)
    if 2 * left.sum() < steps.wrong.sum():
        return False
    found, rows = replace(steps, **mistake.changes), len(steps.states)
    arrays = {name: array for name in ARRAYS if (array := getattr(found, name)) is not None}
    for count in (FEW, SAMPLE):  # most moves of arrays fail soon
        first = np.s_[: count + 1, : max(1, count // rows)]
        sampled = first if steps.follow else np.random.default_rng(0).integers(rows, size=count)
        part = replace(
            found, final=None, **{name: array[sampled] for name, array in arrays.items()}
        )
        if part.wrong.any() or not part.used.any():
            return False
    return True


def _other_tasks(steps: Steps) -> Iterator[Mistake]:
    """Try other seats and opponents known by name, and take the likeliest that fit."""
    game = steps.task.game
    own = states_of(game, steps.task.seat)  # in another seat observations must mean the same
    seats = [seat for seat in range(game.num_players) if np.array_equal(states_of(game, seat), own)]
    opponents: list[tuple[str, ...]] = [()]
    if game.num_players > 1:
        # No opponent makes moves that a random one never makes.
        seats = [
            each
            for each in seats
            if _possible(replace(steps, problem=prepare(Task(game, each, "random"))))
        ]
        names = [name for name in policy_names(game) if ":" not in name]
        opponents = [(name,) for name in names if name != "best_response"]
    tasks = (Task(game, seat, *opponent) for seat in seats for opponent in opponents)
    problems = (prepare(task) for task in tasks if task != steps.task)
    others = (
        Mistake(f"wrong-task: the steps fit {problem.task.words}", {"problem": problem})
        for problem in problems
    )
    fitting = list(reproducing(steps, others, _follows))
    if fitting:
        yield max(fitting, key=lambda found: replace(steps, **found.changes).likelihood)


def _possible(steps: Steps) -> bool:
    """Return whether all steps are possible in their task, if it can be audited."""
    try:
        return not steps.wrong.any()
    except InputError:  # such as a task without tables
        return False


def _follows(steps: Steps) -> bool:
    """Return whether steps, outcomes and the rewards of some mode agree with the law."""
    if not _possible(steps):
        return False
    if not any(Payment(steps, mode).is_right for mode in get_args(RewardMode)):
        return False
    found = list(deviations(steps, None, None))
    return max(deviation.evidence for deviation in found) < threshold(len(found))


def _mixed_seats(steps: Steps) -> Iterator[Mistake]:
    """Take the rows of a rollout for moves of both players, who move in turn.

    A row must lead to the row after the next, if the other player may move as it likes between
    them, or its game ends by then; and what the other player is paid, the player of the row is not.
    """
    game, ended = steps.task.game, steps.terminated
    if not steps.follow or game.num_players != 2 or not game.zero_sum:
        return
    next_ended, paid = np.roll(ended, -1, axis=0), np.roll(steps.rewards, -1, axis=0)
    by_other = next_ended & ~ended
    used = steps.used.copy()
    used[-2:] = False
    mixed: dict[str, Any] = {
        "problem": prepare(Task(game, steps.task.seat, "random")),
        "later": np.roll(steps.states, -2, axis=0),
        "terminated": ended | by_other,
        "rewards": np.where(by_other, sum(game.payoff_range) - paid, steps.rewards),
    }
    if _possible(replace(steps, used=used, **mixed)):
        cure = "rows are moves of both players in turn: record those of the agent alone"
        yield Mistake(f"seats-mixed: {cure}", mixed | {"used": used})


def reward_mistakes(payment: Payment) -> Iterator[Mistake]:
    """Yield the known mistakes that reproduce the recorded rewards of possible steps."""
    steps = payment.steps
    lanes = _environments(steps)
    enough = (steps.rewards != 0).sum() >= ENOUGH
    cut = payment.fit[1] & steps.terminated & (steps.rewards == 0)
    as_end = {"terminated": steps.terminated & ~cut, "truncated": steps.truncated | cut}
    negated = "reward-scaled: they have the opposite sign: the agent learns to lose"
    unpaid = "end-rewards-left-out: moves that end games are paid 0: record their rewards, too"
    may_cut = isinstance(steps.task.game, LawGame) or steps.truncated.any()  # others end by rules
    moved = [
        Mistake(CUT_AS_END, as_end) if may_cut else Mistake(unpaid, {"used": steps.used & ~cut}),
        *_late(steps, "rewards", lanes),
        *(_mixed_lanes(steps, FARTHEST, "rewards") if enough and steps.follow else ()),
        Mistake(negated, {"rewards": -steps.rewards}),
        *_added(payment),
    ]

    def is_right(found: Steps) -> bool:
        return not found.wrong.any() and replace(payment, steps=found).is_right

    yield from reproducing(steps, moved, is_right)
    modes = [mode for mode in get_args(RewardMode) if mode != payment.mode]
    clipped = "so different results are worth the same"
    declared = f"and env has {payment.mode!r}"
    others = [
        *(
            Mistake(f"rewards-clipped: they are {words}, {clipped}", {"clipped": made})
            for words, made in CLIPPED.items()
        ),
        *(
            Mistake(f"reward-mode: they are rewards of reward={mode!r}, {declared}", {"mode": mode})
            for mode in modes
        ),
    ]
    yield from reproducing(payment, others, lambda found: found.is_right)
    yield from _normalised(payment)


def _added(payment: Payment) -> Iterator[Mistake]:
    """Take away what all rewards have in common, such as a penalty of each move."""
    steps = payment.steps
    on = payment.checked & ~steps.terminated
    if payment.mode != "outcome" or not on.any():
        return
    law = steps.law[0]
    for paid in np.unique(law.paid[: len(law.states)])[:FEW]:  # of most moves
        added = float(np.median(steps.rewards[on]) - paid)
        rewards = steps.rewards - added
        factor = replace(payment, steps=replace(steps, rewards=rewards)).fit[0]
        scaled = f"{factor:.6g} * paid {'-' if added < 0 else '+'} {abs(added):.6g}"
        told = f"they are {scaled} for what the game has paid, which is no mistake if it is meant"
        yield Mistake(
            f"rewards-affine: {told}: say so by rewards=lambda paid: {scaled}", {"rewards": rewards}
        )


def _normalised(payment: Payment) -> Iterator[Mistake]:
    """Say that rewards are those of the game times a factor that moves little by little."""
    steps = payment.steps
    ended = payment.checked & steps.terminated
    rewards, payoffs = steps.rewards[ended], steps.law[0].payoffs
    unpaid = payment.checked & (steps.rewards == 0)
    paid = payment.checked & (steps.rewards != 0)
    if payment.mode != "outcome" or (unpaid & payment.fit[1]).any() or (paid & ~ended).any():
        return
    rewards = rewards[rewards != 0]
    factors: list[float] = []
    for reward in rewards.tolist():
        known = reward / payoffs[payoffs * reward > 0]
        if len(known) not in (1, 2):  # with more payoffs any factor moves little by little
            return
        last = factors[-1] if factors else 1.0
        factors.append(float(known[np.abs(np.log(known / last)).argmin()]))
    moved = np.abs(np.diff(np.log(factors)))
    if len(moved) >= ENOUGH and 0 < np.quantile(moved, 0.9) < SLOW:
        told = f"a factor that moves from {min(factors):.4g} to {max(factors):.4g}"
        cure = "record the rewards of the game, before they are normalised"
        yield Mistake(f"rewards-normalised: they are those of the game times {told}: {cure}")

"""Compare draws and rewards of environments with the transition laws for planners."""

from collections import defaultdict
from typing import get_args

import numpy as np

from ..baselines import Task, prepare, score, solve
from ..baselines.operators.rounding import largest_payoff
from ..core import Game, GameError, InputError
from ..core.checks import action_of
from ..core.contract import CLOSE
from ..core.positions import states_of
from ..envs import Engine, RewardMode
from ..envs.planners import Transitions, tabulate_transitions
from .rules import opponents_of

#: Number of draws of each move, and of the initial state.
LANES, STARTS = 4_000, 20_000
#: Largest distance of a frequency, in standard errors and what Bernstein's inequality adds for
#: small chances; less than one in ten million is farther off.
SIGMAS = 6.0
#: In games with cycles, iteration ends when values change, or mass is left, by at most this.
SETTLED = 1e-16
LONGEST = 100_000  # largest number of iterations


def check_environments(game: Game, seat: int) -> None:
    """Check the environments of one seat, if the seat ever moves."""
    for opponent in opponents_of(game):
        task = Task(game, seat, opponent)
        if not _moves(task):
            continue
        laws = {}
        for reward in get_args(RewardMode):
            engine = Engine(task, LANES, reward)
            laws[reward] = tabulate_transitions(engine)
            _check_sums(laws[reward], seat)
            if opponent == "random":
                _check_steps(engine, laws[reward])
        _check_planning(task, laws["outcome"])
        _check_rewards(task, laws)
        _check_starts(task)


def _moves(task: Task) -> bool:
    """Return whether the seat ever gets to move."""
    try:
        return bool(prepare(task).initial.any())
    except InputError:
        return False


def _check_sums(law: Transitions, seat: int) -> None:
    for state, actions in law.items():
        for action, ways in actions.items():
            total = sum(chance for chance, *_ in ways)
            if abs(total - 1) > CLOSE:
                raise GameError(
                    f"P must sum to 1, got {total!r} for {action_of(seat, state, action)}"
                )


def _check_steps(engine: Engine, listed: Transitions) -> None:
    """Check that the draws of each move follow its law."""
    game, seat = engine.game, engine.task.seat
    rng = np.random.default_rng(11)
    everyone = np.arange(LANES)
    for state in states_of(game, seat).tolist():
        for action, ways in listed[state].items():
            law: dict[tuple[int, float, bool], float] = defaultdict(float)
            for chance, after, paid, over in ways:
                law[after, round(paid, 12), over] += chance
            engine.lanes.go_to(np.full(LANES, state))
            outcome = engine.step(everyone, np.full(LANES, action), rng)
            paid_now, over_now = np.round(outcome.rewards, 12), outcome.over
            after_all = np.where(over_now, game.num_states, engine.lanes.states())
            drawn = {
                (after, paid, over): (after_all == after) & (paid_now == paid) & (over_now == over)
                for after, paid, over in law
            }
            words = f"{action_of(seat, state, action)} with reward {engine.reward!r}"
            strange = ~np.any(list(drawn.values()), axis=0)
            if strange.any():
                columns = (column[strange].tolist() for column in (after_all, paid_now, over_now))
                got = min(zip(*columns, strict=True))
                raise GameError(f"step must obey P, got {got} by {words}")
            for key, chance in law.items():
                times = int(np.count_nonzero(drawn[key]))
                _require_often(f"step must obey P, {key} by {words}", times, chance, LANES)


def _require_often(what: str, times: int, chance: float, draws: int) -> None:
    error = SIGMAS * np.sqrt(max(chance * (1 - chance), 0.0) / draws) + SIGMAS**2 / (3 * draws)
    if abs(times / draws - chance) > error:
        raise GameError(f"{what}, whose chance is {chance:g}, got it {times} times in {draws}")


def _check_starts(task: Task) -> None:
    engine = Engine(task, STARTS)
    engine.lanes.start(np.arange(STARTS), np.random.default_rng(0))
    seen = np.bincount(engine.lanes.states(), minlength=task.game.num_states)
    for state, chance in enumerate(np.asarray(prepare(task).initial, dtype=float)):
        words = f"state {state} of player {task.seat}"
        _require_often(
            f"reset must obey the initial law, {words}", int(seen[state]), chance, STARTS
        )


def _check_planning(task: Task, listed: Transitions) -> None:
    """Check that textbook value iteration on P finds the optimum.

    Like many planners, the iteration ignores ``terminated``.
    """
    values = np.zeros(len(listed))
    most = LONGEST if task.game.has_cycles else len(task.game.stages())
    for _ in range(most + 1):
        before = values.copy()
        for state, actions in listed.items():
            values[state] = max(
                sum(chance * (paid + before[after]) for chance, after, paid, _ in ways)
                for ways in actions.values()
            )
        if np.abs(values - before).max() <= (SETTLED if task.game.has_cycles else 0):
            break
    else:
        raise GameError(f"P must end after {most} moves, got more in {task!r}")
    optimum = solve(task)
    found, wanted = float(np.sum(prepare(task).initial * values[:-1])), float(optimum.value)
    if abs(found - wanted) > CLOSE * largest_payoff(task.game.payoff_range) + optimum.error_bound:
        raise GameError(f"planners must find {wanted!r} in P, got {found!r} in {task!r}")


def _check_rewards(task: Task, laws: dict[RewardMode, Transitions]) -> None:
    """Check the expected return of uniform play in each reward mode: value, or minus the regret."""
    uniform, optimum = score("random", task), solve(task)
    close = (
        CLOSE * largest_payoff(task.game.payoff_range) + uniform.error_bound + optimum.error_bound
    )
    for reward, listed in laws.items():
        wanted = uniform.value - (0.0 if reward == "outcome" else float(optimum.value))
        found = _uniform_return(task, listed)
        if abs(found - wanted) > close:
            raise GameError(
                f"reward {reward!r} must give uniform play {wanted!r}, got {found!r} in {task!r}"
            )


def _uniform_return(task: Task, listed: Transitions) -> float:
    """Return the expected return of uniform play, by forward iteration until no mass is left."""
    mask = task.game.mask(np.arange(task.game.num_states))
    mass = np.append(prepare(task).initial, 0.0)  # no mass at the end
    total = 0.0
    while mass.sum() > SETTLED:
        following = np.zeros_like(mass)
        for state in np.flatnonzero(mass).tolist():
            for action in np.flatnonzero(mask[state]).tolist():
                for chance, after, paid, over in listed[state][action]:
                    weight = mass[state] / mask[state].sum() * chance
                    total += weight * paid
                    following[after] += 0.0 if over else weight
        mass = following
    return float(total)

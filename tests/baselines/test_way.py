"""The way of a policy, from ``score`` to its values: short, and through one door."""

import sys
from pathlib import Path

import numpy as np
import pytest
from exactdice.baselines import Evaluation, Policy, Task
from exactdice.games import Greed

import exactdice

TASK = Task(Greed(10, 3), 0, "random")
ACTIONS = np.zeros(TASK.game.num_states, dtype=np.int64)
SCORER = Path(exactdice.score.__code__.co_filename).stem
LONGEST = 10  # there and back to where its numbers are read among them


def holds(thing, policy):
    """Say whether a policy, as it was given or as a ``Policy``, is in a thing."""
    if isinstance(thing, dict):
        return any(holds(entry, policy) for entry in thing.values())
    return thing is policy or isinstance(thing, Policy | Evaluation)


def way_of(policy):
    """List the modules that have a policy in hand, one after another, until its values are known.

    A module has it when it is called with it, and again when it is given it back.
    """
    path, done = [], False

    def trace(frame, event, result):
        nonlocal done
        code = frame.f_code
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        if event == "call":
            handed, to = [frame.f_locals.get(name) for name in names], frame
        else:
            handed, to = [result], frame.f_back
        if done or event not in ("call", "return") or "exactdice" not in to.f_code.co_filename:
            return
        module = Path(to.f_code.co_filename).stem
        if any(holds(thing, policy) for thing in handed) and path[-1:] != [module]:
            path.append(module)
        done = event == "return" and isinstance(result, Evaluation) and module == SCORER

    sys.setprofile(trace)
    try:
        exactdice.score(policy, TASK)
    finally:
        sys.setprofile(None)
    return path


@pytest.mark.parametrize(
    "policy",
    [
        "random",
        "if_else",
        "equilibrium",
        "best_response",
        ACTIONS,
        np.eye(TASK.game.num_actions)[ACTIONS],
        lambda observations, masks: masks.argmax(axis=1),
        lambda observations, masks: masks / masks.sum(axis=1, keepdims=True),
    ],
    ids=["random", "source", "equilibrium", "best response", "actions", "table", "function", "law"],
)
def test_a_policy_changes_its_module_at_most_ten_times(policy):
    exactdice.score(policy, TASK)  # what is remembered of the task is none of the policy's way
    path = way_of(policy)
    assert path[0] == SCORER
    assert len(path) - 1 <= LONGEST, path

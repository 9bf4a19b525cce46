"""The policies for 421 of its source, and their probabilities (Albarede 2024).

All policies give actions, shape (state,), and raise an ``InputError`` for a wrong argument. They
are made of *one-goal strategies*: each makes one combination, the goal, as likely as possible.
Of equally good next states a strategy takes the shorter combination, then the lexicographically
smaller one (section 5.2; this is the order of the actions). A next player who completes the goal
too early therefore casts the die with the highest face again.
"""

from collections import Counter
from fractions import Fraction
from functools import partial

import numpy as np

from ...core import EXACT, FLOATS, Array, BoolArray, InputError, IntArray, NamedPolicy
from ...core.solved_turn import in_every_context, solve_turn
from ...core.turn import Piece
from .game import FourTwoOne


def towards_goal(game: FourTwoOne, goal: str, keep_parts: bool) -> IntArray:
    """Play the ratchet, which keeps the parts of a goal, or the Bernoulli strategy.

    The ratchet always puts aside as many dice as contribute to the goal (41); a next player who
    would complete it too early casts the highest of these dice again. The other strategy puts
    nothing aside until one cast shows the whole goal (section 4.1); a next player may not finish
    early, and so puts nothing aside until the last cast.
    """
    wanted, choices = Counter(game.parse(goal)), []  # an action for every state of each turn
    for turn in (leg.turn for leg in game.legs):
        choices.append(np.empty(turn.num_states, dtype=np.int64))
        for state, seen in enumerate(turn.observations.tolist()):
            held = [face for face in seen[: game.dice - 1] if face]
            cast = tuple(face for face in seen[game.dice - 1 : -1] if face)
            legal = turn.legal[state]
            options = {taken: action for action, taken in game.options(cast) if legal[action]}
            useful = (wanted - Counter(held)) & Counter(cast)  # the minimum of equation 41
            taken = tuple(sorted(useful.elements()))
            if not keep_parts and len(held) + len(taken) < game.dice:
                taken = ()
            if taken not in options:  # the last cast, or too early to be complete
                taken = cast if cast in options else taken[:-1] if keep_parts else ()
            choices[-1][state] = options[taken]
    return in_every_context(game, choices)


def identify_goal(game: FourTwoOne, horizon_and_serendipity: str) -> IntArray:
    """Play by goal identification (section 5).

    The *evaluation function* of an afterstate is the largest expected utility among the one-goal
    strategies, counting only the goal itself (51) or, with serendipity, any result (52). With
    horizon 0 the goal is found once, before the first cast, and its one-goal strategy is never
    revised; with horizon 1 every decision leads to an afterstate of largest evaluation (53).

    The argument is "h,s", both 0 or 1; serendipity is for first players, and sets have no utility.
    """
    if horizon_and_serendipity not in ("0,0", "0,1", "1,0", "1,1"):
        raise InputError(
            f"goal must be followed by h,s, both 0 or 1, got {horizon_and_serendipity!r}"
        )
    horizon, serendipity = (int(digit) for digit in horizon_and_serendipity.split(","))
    if game.utilities is None:
        raise InputError("goal needs a utility, which a set has not")
    if serendipity and game.duration is not None:
        raise InputError(
            "goal with serendipity needs a first player (equation 52), "
            f"got duration = {game.duration}"
        )
    if horizon == 0:
        plans, expected = goal_values(game, bool(serendipity))
        goals = np.ones((1, plans.shape[1]), dtype=bool)
        goal = int(FLOATS.best(expected[:1], goals, FLOATS.tie(game))[1].argmax())
        return plans[:, goal]
    return equally_good(game, bool(serendipity)).argmax(axis=1)


def goal_values(game: FourTwoOne, serendipity: bool) -> tuple[IntArray, Array]:
    """Return the strategy, (state, goal), and expected utility, (afterstate, goal), of each goal.

    The utility is that of the goal alone (51) or, with serendipity, of any result (52).
    """
    turn, paid = game.legs[0].turn, game.legs[0].paid(FLOATS)[:, 0, 0]  # (result,)
    is_goal = _is_goal(game)
    plans = solve_turn(turn, is_goal, FLOATS).choices  # the one-goal strategies (section 4)
    ends = paid[:, None] * (np.ones_like(is_goal) if serendipity else is_goal)
    expected = solve_turn(turn, ends, FLOATS, plans)
    return plans, expected.afterstates


def equally_good(game: FourTwoOne, serendipity: bool) -> BoolArray:
    """Return which actions lead to a best afterstate by (53), shape (state, action)."""
    turn, paid = game.legs[0].turn, game.legs[0].paid(FLOATS)[:, 0, 0]
    _, expected = goal_values(game, serendipity)
    faces = np.arange(1, game.faces + 1)
    held = turn.observations[turn.rolled[:, 0], : game.dice - 1]
    counts = (held[..., None] == faces).sum(axis=1)  # (afterstate, face)
    wanted = (np.array(game.combinations)[..., None] == faces).sum(axis=1)  # (goal, face)
    within_reach = (counts[:, None] <= wanted).all(axis=-1)  # (afterstate, goal)
    evaluation = np.where(within_reach, expected, -np.inf).max(axis=1)
    after, result = (np.where(which, turn.leads_to, 0) for which in (~turn.ends, turn.ends))
    reached = np.where(turn.ends, paid[result], evaluation[after])
    return FLOATS.best(reached, turn.legal, FLOATS.tie(game))[1]


def _is_goal(game: FourTwoOne) -> IntArray:
    """Return which result equals which goal, shape (result, goal)."""
    goals = np.eye(len(game.combinations), dtype=np.int64)
    return np.tile(goals, (game.legs[0].turn.num_results // len(goals), 1))


def result_law(faces: int, casts: int, goal: str, first: bool = True) -> dict[str, list[Fraction]]:
    """Return the result probabilities p_1, p_2 (44) of the one-goal strategy for a goal.

    The goal d* has as many faces as there are dice; a next player casts exactly J_1 = ``casts``
    times. For next players all optimal strategies agree on the goal's entry, and on the others only
    if the goal is a brelan. Each result, as digits, has the probabilities that it comes after 1, 2,
    ..., ``casts`` casts.
    """
    game = FourTwoOne(len(goal), faces, casts, f"goal:{goal}", duration=None if first else casts)
    turn, column = game.legs[0].turn, game.combinations.index(game.parse(goal))
    plan = solve_turn(turn, _is_goal(game)).choices[:, column]
    mass = np.full((turn.num_states, 1), Fraction(0), dtype=object)
    states, law = game.initial_law()
    mass[states, 0] = law

    def follow(piece: Piece, met: Array) -> Array:
        weights = np.zeros((len(met), game.num_actions, 1), dtype=object)
        weights[np.arange(len(met)), plan[piece.states]] = met
        return weights

    _, ended = turn.forward(follow, mass, EXACT)
    by_casts = ended.reshape(-1, len(game.combinations)).T.tolist()
    early = [Fraction(0)] * (casts - len(by_casts[0]))
    names = ["".join(map(str, combination)) for combination in game.combinations]
    return {name: early + row for name, row in zip(names, by_casts, strict=True)}


#: The policies of the paper by name.
POLICIES = {
    "ratchet:<goal>": NamedPolicy(partial(towards_goal, keep_parts=True), ("ratchet:421",)),
    "bernoulli:<goal>": NamedPolicy(partial(towards_goal, keep_parts=False), ("bernoulli:421",)),
    "goal:<h>,<s>": NamedPolicy(identify_goal, ("goal:0,0", "goal:0,1", "goal:1,0", "goal:1,1")),
}

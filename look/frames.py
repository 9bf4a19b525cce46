"""The chart of a policy on its environment's own picture: arrows, beside those of the optimum."""

from textwrap import fill
from typing import Any

import numpy as np

from ..baselines import LawGame, Policy, Score, occupancy, solve
from ..baselines.law.explicit import Frame
from ..baselines.scoring.summary import quoted
from ..core import Array, BoolArray, FloatArray, InputError, IntArray, present
from .charts import Marks, Plot

LAYERS = 3  # pictures of an agent
NAMED = 5  # costliest decisions
WIDTH = 36  # letters of a line of a title
LEAST = 1e-3  # part of the regret below which a decision is not marked
ARROWS = "\N{RIGHTWARDS ARROW}\N{DOWNWARDS ARROW}\N{LEFTWARDS ARROW}\N{UPWARDS ARROW}"


def on_frame(scored: Score, frame: Frame) -> Plot:
    """Draw an agent's action in each state of an environment, and beside it the best one.

    Within a limit of moves, each is the action that is taken most often over all moves.
    """
    task, said = scored.task, quoted(scored.policy)
    game: Any = task.game
    assert isinstance(game, LawGame)
    reached = _folded(occupancy("random", task), game.rows) > 0
    reached &= np.isfinite(frame.places).all(axis=1) & (game.listing.legal.sum(axis=1) > 1)
    own, met = _likeliest(scored.agent, scored.occupancy, game.rows)
    best, met_by_best = _likeliest(solve(task).policy, occupancy("optimal", task), game.rows)
    often = np.bincount(frame.layers, np.where(reached, met, 0))
    shares = often / (often.sum() or 1)
    drawn = [each for each in np.argsort(-shares, kind="stable")[:LAYERS].tolist() if shares[each]]
    costs = _folded(scored.costs, game.rows)
    costly = (costs > LEAST * costs.sum()) & (own != best)  # if equal, only some moves cost
    panels = []
    for layer in drawn:
        inside = reached & (frame.layers == layer)
        panels.append(_marks(game, frame, said, inside, own, met, costly))
        panels.append(_marks(game, frame, "best", inside, best, met_by_best, np.zeros_like(costly)))
    rest = "" if len(drawn) == 1 else f" {100 * shares[drawn].sum():.0f} % of its moves are drawn."
    return Plot(
        title=f"What {said} does: {present(game).title}",
        caption=f"{said} takes a best action in {100 * scored.optimal_share:.1f} % of its moves. "
        f"Its {'' if scored.deterministic else 'likeliest '}action in each state, and the best "
        f"one, on the picture that the environment draws; faded where its games never lead.{rest}",
        panels=panels,
        columns=2,
        notes=[*_worst(scored), *_key(game, {text for panel in panels for text in panel.texts})],
    )


def _marks(
    game: LawGame,
    frame: Frame,
    name: str,  # of the agent
    inside: BoolArray,  # the states of the picture, (state,)
    actions: IntArray,  # (state,), -1 for none
    met: FloatArray,  # how often, (state,)
    costly: BoolArray,  # (state,)
) -> Marks:
    """Mark the actions in the states of a picture, which is that of a beginning if there is one."""
    own = np.flatnonzero(inside & (actions >= 0))
    first = own[np.isin(own, game.listing.first)]
    shown = first[0] if len(first) else own[np.argmax(met[own])]
    letters, words = [*_letters(game).values()], present(game)
    arrows = frame.arrows[own, actions[own]]
    where = frame.names[frame.layers[shown]]
    pairs = zip(own.tolist(), actions[own].tolist(), arrows.tolist(), strict=True)
    said = [
        (
            letters[action] if arrow < 0 else ARROWS[arrow],
            f"{words.describe(np.array([state]))}: {words.describe_action(action)}",
        )
        for state, action, arrow in pairs
    ]
    return Marks(
        title=fill(f"{name}: {where}" if where else name, WIDTH),
        picture=frame.draw(int(shown)),
        places=frame.places[own],
        texts=[text for text, _ in said],
        costly=costly[own],
        faded=met[own] == 0,
        words=[each for _, each in said],
    )


def _worst(scored: Score) -> list[str]:
    """Name the costliest decisions."""
    lines = [
        f"{place}. {100 * one.cost / scored.regret:.1f} %: {one.position}: {one.move}, best "
        f"{one.best_move}"
        for place, one in enumerate(scored.blunders(NAMED), start=1)
        if one.cost > LEAST * scored.regret
    ]
    return ["The costliest decisions, with their shares of the regret:", *lines] if lines else []


def _key(game: LawGame, used: set[str]) -> list[str]:
    """Say what the letters stand for that are used."""
    told = [f"{each} {name}" for name, each in _letters(game).items() if each in used]
    return [f"Letters: {', '.join(told)}"] if told else []


def _folded(numbers: Array, rows: int) -> FloatArray:
    """Add up numbers of states over the moves so far, shape (row,)."""
    return np.asarray(numbers, dtype=np.float64).reshape(-1, rows).sum(axis=0)


def _likeliest(policy: Policy, often: FloatArray, rows: int) -> tuple[IntArray, FloatArray]:
    """Return the action taken most often, -1 where a table has none, and how often it is met.

    Both have shape (row,).
    """
    votes, met = np.zeros((rows, policy.shape[1])), np.flatnonzero(often)
    np.add.at(votes, (met % rows, policy.likeliest(met)), often[met])
    actions, never = votes.argmax(axis=1), np.flatnonzero(votes.sum(axis=1) == 0)
    try:
        actions[never] = policy.likeliest(never)
    except InputError:
        actions[never] = -1
    return actions, _folded(often, rows)


def _letters(game: LawGame) -> dict[str, str]:
    """Return the shortest beginnings that tell the names of actions apart, by name."""
    names = game.view.actions if game.view else ()
    begins = {name: [name[: 1 + n] for n in range(len(name))] for name in names}
    return {
        name: next(
            each.upper()
            for each in own
            if each == name or sum(o.startswith(each) for o in names) == 1
        )
        for name, own in begins.items()
    }

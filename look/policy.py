"""The chart of a policy of any game: its actions beside the optimum, over the observation.

Two components of the observation are the axes. The others, together, are a *facet*: a row of maps,
in which each cell is one state. The axes are the pair of components that tells most about the
choices in the facets that are drawn: sum over these facets f of p(f) H(A | f), where p is the share
of the agent's choices, and H the entropy of A, the agent's action and the best one.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from ..baselines import LawGame, Score, solve
from ..baselines.scoring.summary import quoted
from ..core import Array, BoolArray, Game, InputError, IntArray, present
from ..core.positions import legal_moves
from .agents import LEAST, loss_map, loss_maps
from .charts import FEW, Map, Plot, agent_chart
from .frames import on_frame

FACETS = 3  # drawn
JUDGED = 50_000  # states, the most frequent ones, by which the axes are chosen
CELLS = 60  # of a map with words in them, as colours alone do not tell many actions
SHORT = 8  # letters of such words
NUMBERS = 500  # up to this number, an axis has a place for every whole number


class _Choices:
    """The states in which an agent has a choice, those that it meets most first."""

    def __init__(self, scored: Score) -> None:
        game, states = scored.task.game, np.flatnonzero(scored.occupancy)
        legal = np.bincount(legal_moves(game, states)[0], minlength=len(states))
        states = states[legal > 1]
        if not len(states):
            raise InputError(f"game must give {quoted(scored.policy)} a choice, got {game!r}")
        self.states = states[np.argsort(-scored.occupancy[states], kind="stable")]
        self.seen = game.observe(self.states, scored.task.seat)  # (state, component)
        self.met = scored.occupancy[self.states] / scored.occupancy[states].sum()  # shares
        best, own = (
            each.likeliest(self.states) for each in (solve(scored.task).policy, scored.agent)
        )
        best = np.where(scored.costs[self.states] > 0, best, own)  # if any of its actions costs
        self.actions = np.stack([own, best])  # the agent's likeliest and the best, (2, state)


@agent_chart("policy")
def policy(scored: Score) -> Plot:
    """Draw an agent's actions by the telling parts of its observation, beside the optimum."""
    choices, game = _Choices(scored), scored.task.game
    if isinstance(game, LawGame) and game.view and game.view.frame:
        return on_frame(scored, game.view.frame)
    varying = np.flatnonzero(np.ptp(choices.seen, axis=0)).tolist()
    axes = _telling(choices, varying)
    others = [component for component in varying if component not in axes]
    facets = _facets(choices.seen, axes)
    shares = np.bincount(facets, choices.met)
    drawn = np.argsort(-shares, kind="stable")[:FACETS].tolist()
    grid = _Grid(scored, choices, axes, np.isin(facets, drawn))
    firsts = choices.seen[[np.argmax(facets == facet) for facet in drawn]]
    alike = [component for component in others if not np.ptp(firsts[:, component])]
    rows, losses = [], []
    for facet, seen in zip(drawn, firsts, strict=True):
        parts = _parts(game, sorted({*others} - {*alike}), seen)
        title = ", ".join([*parts, f"{100 * shares[facet]:.3g} % of its choices"])
        acts, lost = grid.maps(facets == facet, title)
        rows.append(acts)
        losses.append(lost)
    finished, notes = loss_maps(scored, losses)
    if alike:
        notes.insert(0, f"In all maps: {', '.join(_parts(game, alike, firsts[0]))}.")
    said, often = quoted(scored.policy), "" if scored.deterministic else " most often"
    return Plot(
        title=f"What {said} does{often}: {present(game).title}",
        caption=f"{said} takes a best action in {100 * scored.optimal_share:.1f} % of its moves. "
        f"{'Its action' if scored.deterministic else 'Its likeliest action'}, the best one, and "
        "the cost of the difference, over the two components of its observation that tell most. "
        f"All other components agree in a row of maps; {100 * shares[drawn].sum():.0f} % of the "
        "choices are drawn. Grey: never met, or no choice.",
        panels=[panel for row, last in zip(rows, finished, strict=True) for panel in (*row, last)],
        columns=3,
        notes=notes,
    )


def _telling(choices: _Choices, varying: Sequence[int]) -> tuple[int, ...]:
    """Choose the components that are axes: two, or one if no more than one varies."""
    seen, met = choices.seen[:JUDGED], choices.met[:JUDGED]
    actions = np.unique(choices.actions[:, :JUDGED], axis=1, return_inverse=True)[1].ravel()

    def bits(axes: tuple[int, ...]) -> float:
        facets = _facets(seen, axes)
        shares = np.bincount(facets, met)
        inside = np.isin(facets, np.argsort(-shares, kind="stable")[:FACETS])
        kinds = len(actions) * facets[inside] + actions[inside]
        kinds, each = np.unique(kinds, return_inverse=True)
        chances = np.bincount(each, met[inside])
        return float((chances * np.log(shares[kinds // len(actions)] / chances)).sum())

    return max(combinations(varying, min(2, len(varying))), key=bits)


def _facets(seen: IntArray, axes: Sequence[int]) -> IntArray:
    """Number the combinations of all components but the axes, by hashes: shape (state,)."""
    hashes: IntArray = np.random.default_rng(0).integers(2**62, size=(seen.shape[1],))
    weights = np.where(np.isin(np.arange(len(hashes)), axes), 0, hashes)
    return np.unique((seen * weights).sum(axis=1), return_inverse=True)[1]


def _parts(game: Game, components: Sequence[int], seen: IntArray) -> list[str]:
    """Say what some components of an observation are."""
    names = [(game.observation_names[component], int(seen[component])) for component in components]
    return [
        f"{name[:-1]}: {'yes' if number else 'no'}" if name.endswith("?") else f"{name} {number}"
        for name, number in names
    ]


class _Grid:
    """The cells of the drawn choices on maps over at most two components of the observation."""

    def __init__(
        self, scored: Score, choices: _Choices, axes: Sequence[int], drawn: BoolArray
    ) -> None:
        game = scored.task.game
        self.scored, self.choices = scored, choices
        labels, self.places = ["", ""], np.zeros((2, len(drawn)), dtype=np.int64)
        names: list[list[str] | None] = [None, None]
        for axis, component in zip((1, 0), axes, strict=False):  # the first is that of the columns
            labels[axis] = game.observation_names[component]
            self.places[axis] = numbers = choices.seen[:, component]
            if numbers[drawn].max() > NUMBERS:
                known = np.unique(numbers[drawn])
                self.places[axis] = np.searchsorted(known, numbers)
                names[axis] = list(map(str, known.tolist()))
        self.shape = tuple((self.places[:, drawn].max(axis=1) + 1).tolist())
        self.axes: dict[str, Any] = {"y_label": labels[0], "x_label": labels[1]}
        self.axes |= {"rows": names[0], "columns": names[1]}
        self.shown = np.unique(choices.actions[:, drawn])
        describe = present(game).describe_action
        self.names = [describe(action).removeprefix("takes ") for action in self.shown.tolist()]
        verbs = {name.partition(" ")[0] for name in self.names}  # the same one is left out
        self.words = [name.partition(" ")[2] if len(verbs) == 1 else name for name in self.names]

    def lay(self, inside: BoolArray, numbers: Array, empty: float) -> Array:
        """Lay numbers of states out, shape (row, column)."""
        laid_out = np.full(self.shape, empty, dtype=numbers.dtype)
        laid_out[tuple(self.places[:, inside])] = numbers[inside]
        return laid_out

    def maps(self, inside: BoolArray, title: str) -> tuple[list[Map], tuple[Map, IntArray]]:
        """Make the maps of a facet: what the agent does and what is best; and that of the costs."""
        ranks = np.searchsorted(self.shown, self.choices.actions).astype(np.float64)
        names = f"{title}\n{quoted(self.scored.policy)}", "best"
        every = self.places[:, inside]  # none of them is left out, as their share is in the title
        crop = tuple(slice(int(some.min()), int(some.max()) + 1) for some in every)
        axes = {**self.axes, "crop": crop}
        style: dict[str, Any] = {**axes, "whole": True, "names": self.names, "value_label": ""}
        style |= {"limits": (0, len(self.names) - 1), "missing_label": "never met, or no choice"}
        laid_out = [self.lay(inside, rank, np.nan) for rank in ranks]
        marked = len(self.names) > FEW and max(map(len, self.words)) <= SHORT
        marked &= bool(np.prod(np.ptp(every, axis=1) + 1) <= CELLS)
        places = list(zip(*every.tolist(), strict=True)) if marked else []
        acts = [
            Map(
                title=name,
                values=values,
                marks={place: self.words[int(values[place])] for place in places},
                **style,
            )
            for name, values in zip(names, laid_out, strict=True)
        ]
        small = self.scored.costs[self.choices.states] < LEAST * self.scored.costs.sum()
        differ = np.ptp(self.choices.actions, axis=0) > 0
        lost = loss_map(
            self.scored,
            self.choices.states[inside],
            every,
            self.shape,
            title="where they differ",
            hatched=self.lay(inside, differ & small, False),
            hatched_label="they differ, at less than a thousandth",
            **axes,
        )
        return acts, lost

"""Charts of 421: the laws of results, and the match."""

from collections import Counter
from collections.abc import Iterable

import numpy as np

from ...baselines import Task, equilibrium
from ...core import FloatArray, InputError
from ...core.words import listed, plural, spelled
from ...games import FourTwoOne, FourTwoOneMatch
from ...games.four_two_one.policies import result_law
from ..charts import EXAMPLES, Example, Map, Plot, game_chart, game_of

EXAMPLES["mistakes-421"] = Example("mistakes", "random", FourTwoOne.name)

DIGITS = 9  # largest number of faces; a goal has one digit for each die
GOALS = 130  # largest number of results; the chart computes a law for each


@game_chart("421-laws", FourTwoOne, reported=True)
def laws(task: Task) -> Plot:
    """Draw how many dice show the faces of the goal in the end, for each kind of goal.

    Goals are of one kind if a permutation of the faces turns one into the other. The same
    permutation turns the results of one into those of the other, so one goal speaks for its kind.
    """
    game = game_of(task, FourTwoOne)
    if game.faces > DIGITS or len(game.combinations) > GOALS:
        raise InputError(
            f"faces must be at most {DIGITS}, and results at most {GOALS} here, got {game!r}"
        )
    kinds: dict[tuple[int, ...], str] = {}  # how often each face appears -> the first goal
    for combination in game.combinations:
        often = tuple(sorted(Counter(combination).values(), reverse=True))
        kinds.setdefault(often, "".join(map(str, combination)))
    chances = np.zeros((len(kinds), game.dice + 1))  # by the number of dice that agree
    for row, goal in zip(chances, kinds.values(), strict=True):
        for end, law in result_law(game.faces, game.casts, goal).items():
            row[(Counter(end) & Counter(goal)).total()] += float(sum(law))
    names = [
        f"{spelled(len(often))} {plural(len(often), 'face')}, like {goal[::-1]}"
        for often, goal in kinds.items()
    ]
    dice = [f"{number} of {game.dice}" for number in range(game.dice + 1)]
    casts = f"{spelled(game.casts)} {plural(game.casts, 'cast')}"
    panel = Map(
        title="421: how close one comes to a goal",
        x_label=f"dice that agree with the goal after {casts}",
        y_label="goal",
        values=chances,
        value_label="probability",
        columns=dice,
        rows=names,
        texts=np.char.add(np.round(100 * chances, 1).astype(str), " %"),
    )
    return Plot.of(
        panel,
        f"{_reached(kinds.values(), chances[:, -1])} The player goes first, aims at one goal, and "
        f"maximises the probability of reaching it within {casts}.",
    )


def _reached(goals: Iterable[str], chances: FloatArray) -> str:
    """Say how likely goals are, by the number of their different faces."""
    kinds = np.array([len(set(goal)) for goal in goals])
    told = []
    for kind in sorted(set(kinds.tolist()), reverse=True):
        low, high = (f"{100 * end(chances[kinds == kind]):.0f}" for end in (np.min, np.max))
        chance = low if low == high else f"{low} to {high}"
        told.append(f"{spelled(kind)} in {chance} %")
    return f"How often a goal is reached: of different faces, {listed(told)} of rounds."


@game_chart("421-match", FourTwoOneMatch, reported=True)
def match(task: Task) -> Plot:
    """Draw the win probability of the player who begins a round, in every state of the tokens."""
    game = game_of(task, FourTwoOneMatch)
    values = game.before_rounds(equilibrium(game).values[0], 0)
    size = game.tokens
    chances = np.full((size, size), np.nan)  # (other's tokens, own tokens)
    texts = np.full((size, size), "", dtype="U8")
    pot, own, other = game.token_states.T
    chances[other, own] = values
    texts[other, own] = [f"{value:.3f}".removeprefix("0") for value in values]
    empty = np.zeros((size, size), dtype=bool)
    empty[other, own] = pot == 0
    panel = Map(
        title="421: win probability of the player who begins a round",
        x_label="tokens of the player who begins the round",
        y_label="tokens of the other player",
        values=chances,
        value_label="win probability, both playing optimally",
        texts=texts,
        missing_label="more tokens than there are",
        hatched=empty,
        hatched_label="the pot is empty",
        words=lambda row, column: (
            f"{size - row - column} in the pot, own {column}, other's {row}: "
            f"{chances[row, column]:.6f}"
        ),
        colours="diverging",
        limits=(0.0, 1.0),
    )
    return Plot.of(
        panel,
        "Win probability of the player who begins a round, by the tokens of both players; the "
        f"other tokens are in the pot. At the start of the match it is {values[0]:.6f}.",
    )

"""Ladders: a game at growing sizes, or against stronger opponents, one keyword at a time.

All rungs of a ladder are trained with the same budget, so that scores show how far an algorithm
gets. Every rung is solved in seconds on one core, and a network scored in at most two minutes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple


class Rung(NamedTuple):
    """One task of a ladder.

    Attributes:
        label: value of the knob, as text.
        game: name of the game.
        keywords: keywords of the environment: the knob and its value.
    """

    label: str
    game: str
    keywords: Mapping[str, Any]


@dataclass(frozen=True)
class Ladder:
    """Tasks that differ in one keyword.

    Attributes:
        name: on the command line and in the names of folders.
        title: for people.
        knob: the keyword that differs.
        rungs: the tasks, the easiest first as far as that is known before.
    """

    name: str
    title: str
    knob: str
    rungs: tuple[Rung, ...]


def _ladder(name: str, title: str, game: str, knob: str, values: Sequence[int | str]) -> Ladder:
    """Make a ladder from the values of its knob."""
    rungs = [Rung(_label(value), game, MappingProxyType({knob: value})) for value in values]
    return Ladder(name, title, knob, tuple(rungs))


def _label(value: int | str) -> str:
    """Write a value: a number, the strength of an opponent, or how many names are listed."""
    number = str(value).rpartition(":")[2]
    return number if number[0].isdigit() else str(len(number.split(",")))


#: Boxes of Yahtzee, from one to six.
BOXES = (
    "chance",
    "yahtzee,chance",
    "full_house,yahtzee,chance",
    "sixes,full_house,yahtzee,chance",
    "sixes,full_house,large_straight,yahtzee,chance",
    "fives,sixes,full_house,large_straight,yahtzee,chance",
)
#: Opponents from random (0) to optimal (1).
STRENGTHS = ("strength:0", "strength:0.25", "strength:0.5", "strength:0.75", "strength:1")

_ALL = (
    _ladder(
        "greed-score",
        "Greed to a higher score",
        "Greed",
        "max_score",
        (10, 20, 50, 100, 200, 300, 500, 1000),
    ),
    _ladder(
        "greed-sides",
        "Greed, dice of more sides",
        "Greed",
        "sides",
        (2, 3, 4, 6, 8, 12, 20),
    ),
    _ladder(
        "greed-opponent",
        "Greed, a stronger opponent",
        "Greed",
        "opponent",
        STRENGTHS,
    ),
    _ladder(
        "shut-the-box-tiles",
        "Shut the Box, more tiles",
        "ShutTheBox",
        "tiles",
        range(6, 13),
    ),
    _ladder(
        "shut-the-box-opponent",
        "Shut the Box, a stronger opponent",
        "ShutTheBox",
        "opponent",
        STRENGTHS,
    ),
    _ladder(
        "lowest-score-players",
        "Lowest-score game, more players",
        "LowestScore",
        "players",
        range(2, 9),
    ),
    _ladder(
        "lowest-score-match-wins",
        "Lowest-score match, more wins",
        "LowestScoreMatch",
        "wins",
        range(1, 8),
    ),
    _ladder(
        "421-match-tokens",
        "Match of 421, more tokens",
        "FourTwoOneMatch",
        "tokens",
        (1, 3, 5, 7, 11, 15, 21),
    ),
    _ladder(
        "yahtzee-boxes",
        "Yahtzee, more boxes",
        "Yahtzee",
        "boxes",
        BOXES,
    ),
)

#: The ladders by name.
LADDERS: Mapping[str, Ladder] = MappingProxyType({ladder.name: ladder for ladder in _ALL})

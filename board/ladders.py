"""Ladders: a game at growing sizes, or against stronger opponents, one keyword at a time.

All rungs of a ladder are trained with the same budget, so that scores show how far an algorithm
gets. Every rung of the ladders below is solved in seconds on one core, and a network scored in at
most two minutes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

import tyro

from ..agents.runs.options import task_from_options
from ..agents.runs.pairs import number_or_text
from ..core import InputError, one_of
from ..core.words import typed
from ..envs import find_game


class Rung(NamedTuple):
    """One task of a ladder."""

    label: str  # value of the knob
    keywords: Mapping[str, Any]  # of the environment: the knob and its value


@dataclass(frozen=True)
class Ladder:
    """Tasks that differ in one keyword."""

    name: str  # on the command line and in the names of folders
    title: str  # for people
    game: str  # name of a game, or the place of a class of your own
    knob: str  # the keyword that differs
    values: Sequence[float | str]  # of the knob, the easiest first as far as that is known before

    @property
    def rungs(self) -> list[Rung]:
        """The tasks, in the order of the values."""
        return [Rung(_label(value), {self.knob: value}) for value in self.values]


def _label(value: float | str) -> str:
    """Write a value: a number, the strength of an opponent, or how many names are listed."""
    number = str(value).rpartition(":")[2]
    return number if number[0].isdigit() else str(len(number.split(",")))


def _make(name: str, title: str, words: Sequence[str]) -> Ladder:
    """Make a ladder from the words of the command line: a game, a keyword and its values."""
    place, knob, *values = words
    return Ladder(name, title, place, knob, [number_or_text(value) for value in values])


_BOXES = (
    "chance yahtzee,chance full_house,yahtzee,chance sixes,full_house,yahtzee,chance "
    "sixes,full_house,large_straight,yahtzee,chance "
    "fives,sixes,full_house,large_straight,yahtzee,chance"
)
_STRENGTHS = "strength:0 strength:0.25 strength:0.5 strength:0.75 strength:1"  # random to optimal
_ALL = {
    "greed-score": ("Greed to a higher score", "Greed max_score 10 20 50 100 200 300 500 1000"),
    "greed-sides": ("Greed, dice of more sides", "Greed sides 2 3 4 6 8 12 20"),
    "greed-opponent": ("Greed, a stronger opponent", f"Greed opponent {_STRENGTHS}"),
    "shut-the-box-tiles": ("Shut the Box, more tiles", "ShutTheBox tiles 6 7 8 9 10 11 12"),
    "shut-the-box-opponent": (
        "Shut the Box, a stronger opponent",
        f"ShutTheBox opponent {_STRENGTHS}",
    ),
    "lowest-score-players": (
        "Lowest-score game, more players",
        "LowestScore players 2 3 4 5 6 7 8",
    ),
    "lowest-score-match-wins": (
        "Lowest-score match, more wins",
        "LowestScoreMatch wins 1 2 3 4 5 6 7",
    ),
    "421-match-tokens": ("Match of 421, more tokens", "FourTwoOneMatch tokens 1 3 5 7 11 15 21"),
    "yahtzee-boxes": ("Yahtzee, more boxes", f"Yahtzee boxes {_BOXES}"),
}
#: The ladders by name.
LADDERS: Mapping[str, Ladder] = MappingProxyType(
    {name: _make(name, title, words.split()) for name, (title, words) in _ALL.items()}
)

#: Words of the command line that stand for a ladder.
LadderWords = Annotated[
    tuple[str, ...], tyro.conf.arg(metavar="{" + ",".join([*LADDERS, "GAME KEYWORD VALUES"]) + "}")
]


def find_ladder(words: Sequence[str]) -> Ladder:
    """Find a ladder of ``LADDERS`` by its name, or make one of your own.

    Its words are a game, a keyword of its environment and two values at least, as in ``Greed
    max_dice 3 6 12``. Values are numbers, or opponents of different strengths.
    """
    if len(words) == 1:
        return LADDERS[one_of("ladder", words[0], tuple(LADDERS))]
    place, knob, values = "".join(words[:1]), "".join(words[1:2]), words[2:]
    numbers = {number: value for value in values if (number := _number(value)) is not None}
    if len(numbers) < max(2, len(values)):
        raise InputError(
            "ladder must be a name, or a game, a keyword and two values at least that differ by a "
            f"number, got {typed(words)}"
        )
    name = find_game(place).name
    ladder = _make(
        f"{name}-{knob}".lower(),
        f"{name}, {knob}",
        [place, knob, *(numbers[number] for number in sorted(numbers))],
    )
    for rung in ladder.rungs:
        task_from_options(place, rung.keywords)  # refuses unknown keywords and values
    return ladder


def _number(value: str) -> float | None:
    """Read the number by which a value is ordered, the strength of an opponent; None if none is."""
    try:
        number = float(value.rpartition(":")[2])
    except ValueError:
        return None
    return number if 0 <= number < inf else None

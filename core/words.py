"""Numbers, lists and commands in words, for the sentences of games about positions and moves."""

import reprlib
import sys
from collections.abc import Iterable, Sequence
from typing import Any

#: The name of the person who plays, of whom sentences say "you roll" and "your 5".
YOU = "you"
NUMBERS = ["no", "one", "two", "three", "four", "five", "six"]
ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth"]


def spelled(count: int) -> str:
    """Spell a number of things, from 0 to 6 as a word: "no", "three", but "7"."""
    return NUMBERS[count] if count < len(NUMBERS) else str(count)


def ordinal(place: int) -> str:
    """Spell a place, counted from 1: "third", "11th", "22nd"."""
    if place <= len(ORDINALS):
        return ORDINALS[place - 1]
    ending = {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place}{'th' if place % 100 in (11, 12, 13) else ending}"


def printable(text: str, longest: int = 600) -> str:
    """Escape characters that could move a terminal's cursor or forge a line; cut long text."""
    shown = "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text[:longest])
    return shown if len(text) <= longest else f"{shown}..."


def plural(count: int, one: str, many: str = "") -> str:
    """Return the singular for 1, else the plural, which is the singular with an s by default."""
    return one if count == 1 else many or f"{one}s"


def listed(things: Iterable[str], word: str = "and") -> str:
    """List things: "1", "1 and 2", "1, 2 and 3"."""
    *first, last = things
    return f"{', '.join(first)} {word} {last}" if first else last


def either(things: Iterable[str]) -> str:
    """List alternatives: "1", "1 or 2", "1, 2 or 3"."""
    return listed(things, "or")


def dice_words(count: int, sides: int) -> str:
    """Write a number of dice with their faces: "two dice with 6 faces"."""
    faces = f"{sides} {plural(sides, 'face')}"
    return f"{spelled(count)} {plural(count, 'die', 'dice')} with {faces}"


def times(count: int) -> str:
    """Write a number of times: "once", "twice", "three times"."""
    return {1: "once", 2: "twice"}.get(count, f"{spelled(count)} times")


def up_to(count: int) -> str:
    """Write a largest number of times: "once", "up to twice"."""
    return times(count) if count == 1 else f"up to {times(count)}"


def said_of(who: str, yours: str, theirs: str) -> str:
    """Return the verb of a sentence about a player: "take" after "you", "takes" after a name."""
    return yours if who == YOU else theirs


def whose(who: str) -> str:
    """Write a player's name before the player's thing: "your", "opponent's"."""
    return "your" if who == YOU else f"{who}'s"


def sentence(words: str) -> str:
    """Begin a sentence with a capital letter and end it with a full stop."""
    return f"{words[:1].upper()}{words[1:]}."


def meant(word: Any, known: Iterable[str]) -> str:
    """End a message with the known word nearest to an unknown one: "; did you mean Greed?".

    Upper and lower case are alike. The end is empty if no known word is near.
    """
    from difflib import get_close_matches

    names = {name.lower(): name for name in known}
    near = get_close_matches(word.lower(), names, 1) if isinstance(word, str) else []
    return f"; did you mean {names[near[0]]}?" if near else ""


def typed(words: Sequence[str]) -> str:
    """Join the words of a command with the quotes that the shell of this system needs."""
    import shlex
    import subprocess

    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)


def shown(value: Any) -> str:
    """Write a user's value for a message: in one line, and shortened where it is long or deep."""
    short = reprlib.Repr()
    short.maxstring = short.maxother = 80
    return short.repr(value)


def first_line(error: Exception) -> str:
    """Return the first line of a library's error, or the name of its class if it has no text."""
    return (str(error).splitlines() or [type(error).__name__])[0]


def one_line(error: Exception) -> str:
    """Return all lines of a library's error as one line, or the name of its class."""
    return " ".join(str(error).split()) or type(error).__name__

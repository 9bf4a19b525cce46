"""The rounds and tournaments that the notebook *Dice Game* prints."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Literal

import numpy as np

from ...baselines.solver import expected_payoffs
from ...baselines.task import Task
from ...games import IntArray, LowestScore
from ..claim import Claim, Verdict, agreement, number
from . import policies as exactly

#: Turns printed in cells 3, 4, 6 and 18, in order of play: rolls, all dice finalized after each,
#: and running scores; "" where none is printed.
TURNS: dict[str, list[tuple[str, str, str]]] = {
    "cell 3, demonstration": [
        ("2 5 5 4 2", "2 2", ""), ("4 2 2", "2 2 2", ""), ("1 4", "2 2 2 1 4", "11"),
    ],
    "cell 4, RandomBot 1": [("5 5 5 3 2", "3 2 5 5 5", "17")],
    "cell 4, RandomBot 2": [("6 1 5 3 1", "3 1 1 5 6", "13")],
    "cell 4, RandomBot 3": [("4 6 2 2 6", "2 2 4 6 6", "20")],
    "cell 6, Only3sBot 1": [
        ("4 4 2 1 1", "1", "1"), ("1 1 5 5", "1 1", "2"), ("5 4 3", "1 1 3", "2"),
        ("6 5", "1 1 3 5", "7"), ("1", "1 1 3 5 1", "8"),
    ],
    "cell 6, Only3sBot 2": [
        ("6 3 1 1 3", "3 3", "0"), ("4 1 1", "3 3 1", "1"), ("5 1", "3 3 1 1", "2"),
    ],
    "cell 18, OptimalBot 1": [
        ("6 4 4 1 1", "1", "1"), ("1 5 4 3", "1 3", "1"), ("5 4 3", "1 3 3", "1"),
        ("3 4", "1 3 3 3", "1"), ("6", "1 3 3 3 6", "7"),
    ],
    "cell 18, OptimalBot 2": [
        ("1 1 5 2 6", "1", "1"), ("1 5 6 1", "1 1", "2"), ("4 5 4", "1 1 4", "(cut)"),
    ],
}  # fmt: skip
#: Dice left after each roll of the demonstration, cell 3.
DICE_LEFT = (3, 2, 0)
#: What is announced after finished turns, cells 4, 6 and 18, and at the end of the round of cell 4.
ANNOUNCED = {
    "cell 4": (
        "RandomBot 1 is now winning with a score of 17",
        "RandomBot 2 is now winning with a score of 13",
        "RandomBot 3 lost with a score of 20",
        "RandomBot 2 won with a score of 13",
    ),
    "cell 6": ("Only3sBot 1 is now winning with a score of 8",),
    "cell 18": ("OptimalBot 1 is now winning with a score of 7",),
}
#: Line-ups in the order of play, rounds, and rounds won by each player, cells 7 and 20.
TOURNAMENTS = {
    "cell 7": (["random"] * 3 + ["only3s"] * 3, 1_000, [80, 84, 75, 332, 316, 313]),
    "cell 20": (["only3s", "notebook"] * 3, 10_000, [1830, 2299, 1767, 2383, 1909, 2512]),
}


def play_claims(game: LowestScore) -> list[Claim]:
    """Check everything."""
    parts = (_turns, _announcements, _tournaments)
    return [claim for part in parts for claim in part(game)]


def table_for(
    game: LowestScore, players: int, objective: Literal["win", "share"] = "win"
) -> LowestScore:
    """Give the same dice to another number of players."""
    return LowestScore(game.dice, game.faces, game.zero_face, players, objective)


def total_worth(game: LowestScore, dice: tuple[int, ...]) -> int:
    """Add up the worth of some dice, in points."""
    return sum(game.worth[face - 1] for face in dice)


def only3s_keeps(game: LowestScore, score: int, roll: tuple[int, ...]) -> int:
    """Look up the number of dice that Only3sBot keeps as the first player."""
    padding = [0] * (game.dice - len(roll))
    first = [game.max_score + 1, game.players - 1]
    observation: IntArray = np.array([[score, *game.by_worth(roll), *padding, *first]])
    return int(exactly.only3s(game)[game.encode(observation)[0]]) + 1


def words(roll: tuple[int, ...]) -> str:
    """Write dice as the notebook does."""
    return " ".join(map(str, roll))


def _read(printed: str) -> tuple[int, ...]:
    return tuple(map(int, printed.split()))


def _turns(game: LowestScore) -> Iterator[Claim]:
    for place, moves in TURNS.items():
        kept: tuple[int, ...] = ()
        for roll_words, finalized, running in moves:
            roll, score = _read(roll_words), total_worth(game, kept)
            number_kept = len(_read(finalized)) - len(kept)
            move = f"{place} rolls {roll_words} at {score}"
            choice = _choice(game, place, score, roll)
            if choice is not None:
                exact = Fraction(choice)
                yield number(f"{move}, keeps", str(number_kept), exact, "agrees")
            kept += game.by_worth(roll)[:number_kept]
            yield Claim(
                f"{move}, finalized", finalized, words(kept),
                agreement(words(kept) == finalized), "agrees",
            )  # fmt: skip
            if running:
                recorded: Verdict = "garbled" if running == "(cut)" else "agrees"
                exact = Fraction(total_worth(game, kept))
                yield number(f"{move}, running score", running, exact, recorded)
    finalized_dice = [_read(finalized) for _, finalized, _ in TURNS["cell 3, demonstration"]]
    for number_left, dice in zip(DICE_LEFT, finalized_dice, strict=True):
        place = f"cell 3, demonstration, dice left beside {words(dice)}"
        left = Fraction(game.dice - len(dice))
        yield number(place, str(number_left), left, "agrees")


def _choice(game: LowestScore, place: str, score: int, roll: tuple[int, ...]) -> int | None:
    """Give what a bot keeps; ``None`` where it is free to keep anything."""
    if "Only3s" in place:
        return only3s_keeps(game, score, roll)
    if "Optimal" in place:  # the first of three players, or the second
        first = place.endswith("1")
        to_tie = None if first else _final_score(game, "cell 18, OptimalBot 1")
        return exactly.notebook_choice(game, to_tie, score, roll, 2 if first else 1)
    return None


def _final_score(game: LowestScore, place: str) -> int:
    return total_worth(game, _read(TURNS[place][-1][1]))


def _announcements(game: LowestScore) -> Iterator[Claim]:
    for cell, lines in ANNOUNCED.items():
        turns = [place for place in TURNS if place.startswith(f"{cell},")]
        scores = {
            place.removeprefix(f"{cell}, "): _final_score(game, place)
            for place in turns
            if len(_read(TURNS[place][-1][1])) == game.dice
        }
        for printed, exact in zip(lines, _announce(scores), strict=False):
            yield Claim(f"{cell}, announced", printed, exact, agreement(printed == exact), "agrees")


def _announce(scores: dict[str, int]) -> Iterator[str]:
    """Say how a round goes in which nobody ties."""
    winner = ""
    for player, score in scores.items():
        wins = not winner or score < scores[winner]
        winner = player if wins else winner
        yield f"{player} {'is now winning' if wins else 'lost'} with a score of {score}"
    yield f"{winner} won with a score of {scores[winner]}"


def _tournaments(game: LowestScore) -> Iterator[Claim]:
    improvements = {"cell 7": "an obvious improvement: Only3sBot beats RandomBot",
                    "cell 20": "so it does: OptimalBot beats Only3sBot"}  # fmt: skip
    for place, (line_up, rounds, won) in TOURNAMENTS.items():
        table = table_for(game, len(line_up))
        chances = [float(chance) for chance in expected_payoffs(line_up, Task(table))]
        for seat, (policy, chance, wins) in enumerate(zip(line_up, chances, won, strict=True)):
            error = (chance * (1 - chance) / rounds) ** 0.5
            distance = (wins / rounds - chance) / error
            yield Claim(
                f"{place}, {policy} in seat {seat} of {len(line_up)}",
                f"{wins} of {rounds} simulated rounds", f"wins {chance:.9f} of all rounds",
                agreement(abs(distance) < 4), "agrees", f"{distance:+.1f} standard errors",
            )  # fmt: skip
        last = line_up[-1]
        better = [chance for policy, chance in zip(line_up, chances, strict=True) if policy == last]
        worse = [chance for policy, chance in zip(line_up, chances, strict=True) if policy != last]
        yield Claim(
            f"{place}, the tournament", improvements[place],
            f"wherever they sit: at least {min(better):.4f} against at most {max(worse):.4f}",
            agreement(min(better) > max(worse)), "agrees",
        )  # fmt: skip

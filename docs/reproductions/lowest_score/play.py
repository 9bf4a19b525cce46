"""Claims about the rounds and tournaments that the notebook *Dice Game* prints."""

from collections.abc import Iterator
from itertools import compress, groupby
from operator import not_
from typing import Literal

import numpy as np
from exactdice.baselines.problem.task import Task
from exactdice.baselines.solving.solver import expected_payoffs
from exactdice.core import IntArray
from exactdice.games import LowestScore
from exactdice.games.lowest_score import policies as exactly

from ..claim import At, Claim, printed_table

#: Turns printed in cells 3, 4, 6 and 18, in order of play, and their moves: the roll, all dice
#: finalized after it, and, if printed, the running score and the dice left.
TURNS = {
    turn: list(moves)
    for turn, moves in groupby(
        printed_table("lowest_score", "turns"), lambda row: (row["cell"], row["player"])
    )
}
#: The announcements after finished turns, cells 4, 6 and 18, and at the end of the round of cell 4.
ANNOUNCED = {
    "4": (
        "RandomBot 1 is now winning with a score of 17",
        "RandomBot 2 is now winning with a score of 13",
        "RandomBot 3 lost with a score of 20",
        "RandomBot 2 won with a score of 13",
    ),
    "6": ("Only3sBot 1 is now winning with a score of 8",),
    "18": ("OptimalBot 1 is now winning with a score of 7",),
}


def play_claims(game: LowestScore) -> list[Claim]:
    """List the claims."""
    parts = (_turns, _announcements, _tournaments)
    return [claim for part in parts for claim in part(game)]


def table_for(
    game: LowestScore, players: int, objective: Literal["win", "share"] = "win"
) -> LowestScore:
    """Return the same game for another number of players."""
    return LowestScore(game.dice, game.faces, game.zero_face, players, objective)


def total_worth(game: LowestScore, dice: tuple[int, ...]) -> int:
    """Return the worth of dice in points."""
    return sum(game.worth[face - 1] for face in dice)


def only3s_keeps(game: LowestScore, score: int, roll: tuple[int, ...]) -> int:
    """Return the number of dice that Only3sBot keeps as the first player."""
    padding = [0] * (game.dice - len(roll))
    first = [game.max_score + 1, game.players - 1]
    observation: IntArray = np.array([[score, *game.by_worth(roll), *padding, *first]])
    return int(exactly.only3s(game)[game.encode(observation)[0]]) + 1


def words(roll: tuple[int, ...]) -> str:
    """Write dice as the notebook does."""
    return " ".join(map(str, roll))


def read(printed: str) -> tuple[int, ...]:
    """Read dice as the notebook writes them."""
    return tuple(map(int, printed.split()))


def _turns(game: LowestScore) -> Iterator[Claim]:
    for (cell, player), moves in TURNS.items():
        kept: tuple[int, ...] = ()
        for row in moves:
            roll, score = read(row["roll"]), total_worth(game, kept)
            number_kept = len(read(row["finalized"])) - len(kept)
            move = f"cell {cell}, {player} rolls {row['roll']} at {score}"
            choice = _choice(game, player, score, roll)
            if choice is not None:
                yield At(f"{move}, keeps").number(printed=number_kept, exact=choice)
            kept += game.by_worth(roll)[:number_kept]
            yield At(f"{move}, finalized").statement(
                printed=row["finalized"], exact=words(kept), holds=words(kept) == row["finalized"]
            )
            if row["score"]:
                place, exact = f"{move}, running score", total_worth(game, kept)
                yield At(place).number(printed=row["score"], exact=exact)
    for row in TURNS["3", "demonstration"]:
        place = f"cell 3, demonstration, dice left beside {row['finalized']}"
        exact = game.dice - len(read(row["finalized"]))
        yield At(place).number(printed=row["left"], exact=exact)


def _choice(game: LowestScore, player: str, score: int, roll: tuple[int, ...]) -> int | None:
    """Return the number of dice that a bot keeps; None for a bot whose choice is random."""
    if player.startswith("Only3s"):
        return only3s_keeps(game, score, roll)
    if player.startswith("Optimal"):  # the first of three players, or the second
        first = player.endswith("1")
        to_tie = None if first else _final_score(game, TURNS["18", "OptimalBot 1"])
        return exactly.notebook_choice(game, to_tie, score, roll, 2 if first else 1)
    return None


def _final_score(game: LowestScore, moves: list[dict[str, str]]) -> int:
    return total_worth(game, read(moves[-1]["finalized"]))


def _announcements(game: LowestScore) -> Iterator[Claim]:
    for cell, lines in ANNOUNCED.items():
        scores = {
            player: _final_score(game, moves)
            for (played_in, player), moves in TURNS.items()
            if played_in == cell and len(read(moves[-1]["finalized"])) == game.dice
        }
        place = f"cell {cell}, announced"
        for printed, exact in zip(lines, _announce(scores), strict=False):
            yield At(place).statement(printed=printed, exact=exact, holds=printed == exact)


def _announce(scores: dict[str, int]) -> Iterator[str]:
    """Describe the course of a round without ties."""
    winner = ""
    for player, score in scores.items():
        wins = not winner or score < scores[winner]
        winner = player if wins else winner
        yield f"{player} {'is now winning' if wins else 'lost'} with a score of {score}"
    yield f"{winner} won with a score of {scores[winner]}"


def _tournaments(game: LowestScore) -> Iterator[Claim]:
    said = {
        "7": "an obvious improvement: Only3sBot beats RandomBot",
        "20": "so it does: OptimalBot beats Only3sBot",
    }
    tables = groupby(printed_table("lowest_score", "tournaments"), lambda row: row["cell"])
    for cell, rows in tables:
        seats = list(rows)  # in the order of play
        players = [row["player"] for row in seats]
        table = table_for(game, len(seats))
        chances = [float(chance) for chance in expected_payoffs(players, Task(table))]
        for seat, (row, chance) in enumerate(zip(seats, chances, strict=True)):
            wins, rounds = int(row["won"]), int(row["rounds"])
            error = (chance * (1 - chance) / rounds) ** 0.5
            distance = (wins / rounds - chance) / error
            yield At(f"cell {cell}, {row['player']} in seat {seat} of {len(seats)}").statement(
                printed=f"{wins} of {rounds} simulated rounds",
                exact=f"wins {chance:.9f} of all rounds",
                holds=abs(distance) < 4,
                note=f"{distance:+.1f} standard errors",
            )
        is_last = [player == players[-1] for player in players]
        least = min(compress(chances, is_last))
        most = max(compress(chances, map(not_, is_last)))
        yield At(f"cell {cell}, the tournament").statement(
            printed=said[cell],
            exact=f"wherever they sit: at least {least:.4f} against at most {most:.4f}",
            holds=least > most,
        )

"""Claims of the notebook *Dice Game* about the dice that OptimalBot keeps.

Statements are checked in every state and for every score to tie.
"""

from collections.abc import Iterator, Sequence

from exactdice.games import LowestScore
from exactdice.games.lowest_score import policies as exactly

from ..claim import At, Claim
from .play import total_worth, words

#: A decision: score to tie, score so far, roll.
Decision = tuple[int | None, int, tuple[int, ...]]


def choice_claims(game: LowestScore) -> list[Claim]:
    """List the claims."""
    parts = (_first_rolls, _keeping_2s, _keeping_1s)
    return [claim for part in parts for claim in part(game)]


def _first_rolls(game: LowestScore) -> Iterator[Claim]:
    """Find first rolls of which OptimalBot keeps more than the 3s or, without a 3, than one die."""
    first = [
        (state, roll)
        for state, (total, roll) in enumerate(rolls_of(game))
        if total == 0 and len(roll) == game.dice
    ]
    more = {
        after: [
            (to_tie, 0, roll)
            for to_tie in to_ties
            for state, roll in first
            if kept[state, to_tie] > max(1, roll.count(game.zero_face))
        ]
        for to_ties, after in ((range(game.max_score + 1), 10), ((2,), 0))
        for kept in [exactly.notebook_choices(game, after)]
    }
    shown = exactly.notebook_choice(game, 8, 0, (3, 1, 3, 2, 4), 10)
    yield At("before cell 16, of its roll").statement(
        printed="with lots of players after you, you only pick the 3's",
        exact=f"true: {shown} of 3 1 3 2 4",
        holds=shown == 2,
        note="8 to tie, 10 after",
    )
    yield At("before cell 16, read as a general claim").mistake(
        printed="with lots of players after you, you only pick the 3's",
        exact=f"with 10 after more are kept of {len({roll for *_, roll in more[10]})} first rolls "
        f"of {len(first)}",
        holds=not more[10],
        note=_shown(more[10]),
    )
    at_once = [roll for _, roll in first if total_worth(game, roll) <= 2]
    yield At("before cell 17").statement(
        printed="as the last player with a really low score to tie, also",
        exact=f"true of the {len(first) - len(at_once)} first rolls that do not tie a 2 at once",
        holds=all(roll in at_once for *_, roll in more[0]),
        note=_shown(more[0]),
    )


def _keeping_2s(game: LowestScore) -> Iterator[Claim]:
    ending = _taken(game, (3, 2), 4, rolls_on=False)
    yield At("after cell 21").statement(
        printed="with 4 players after, a 2 can be worth taking if it ends the turn",
        exact=f"true in {len(ending)} cases",
        holds=bool(ending),
        note=_shown(ending),
    )
    rolling_on = [
        decision for after in range(1, 8) for decision in _taken(game, (3, 2), after, rolls_on=True)
    ]
    yield At("after cell 21").statement(
        printed="but absolutely not if you're going to keep rolling",
        exact="never with 1 to 7 players after"
        if not rolling_on
        else f"in {len(rolling_on)} cases",
        holds=not rolling_on,
        note=_shown(rolling_on),
    )


def _keeping_1s(game: LowestScore) -> Iterator[Claim]:
    """Check the second line of the summary, and the search of cell 24, which finds nothing."""
    search, summary = At("before cell 24"), At("summary")
    printed = "it can make sense to keep a 1 voluntarily and to reroll"
    yield _keeping(game, search, printed, lowest=(3, 1))
    yield _keeping(game, search, "even two 1s, and to reroll", lowest=(1, 1))
    printed = "even multiple 1s voluntarily, still rolling afterwards"
    yield _keeping(game, summary, printed, lowest=(3, 1, 1))


def _keeping(game: LowestScore, where: At, printed: str, lowest: tuple[int, ...]) -> Claim:
    found = _taken(game, lowest, 1, rolls_on=True)
    return where.statement(
        printed=printed,
        exact=f"true in {len(found)} cases of {words(lowest)} with 1 player after",
        holds=bool(found),
        note=_shown(found),
    )


def _taken(
    game: LowestScore, lowest: tuple[int, ...], players_after: int, rolls_on: bool
) -> list[Decision]:
    """List the decisions in which OptimalBot keeps exactly the given lowest dice of a roll."""
    kept = exactly.notebook_choices(game, players_after)
    return [
        (to_tie, total, roll)
        for state, (total, roll) in enumerate(rolls_of(game))
        if roll[: len(lowest)] == lowest and (len(roll) > len(lowest)) == rolls_on
        for to_tie in [None, *range(total, game.max_score + 1)]
        if kept[state, game.max_score if to_tie is None else to_tie] == len(lowest)
    ]


def rolls_of(game: LowestScore) -> list[tuple[int, tuple[int, ...]]]:
    """List every score so far with every roll, in order of worth."""
    rows = game.legs[0].turn.observations.tolist()
    return [(total, tuple(filter(None, faces))) for total, *faces in rows]


def _shown(decisions: Sequence[Decision]) -> str:
    """Write the first decision of a list as the notebook writes it."""
    if not decisions:
        return "every state and score to tie"
    to_tie, total, roll = decisions[0]
    return f"{to_tie} >= {total} + {words(roll)}"

"""Checks for authors of games: ``exactdice.testing.check_game(MyGame(size=3))``."""

from ..core import Game, InputError
from ..envs.planners.transitions import LIMIT
from .answers import check_answers
from .batches import check_batches
from .enumeration import Listing
from .environments import check_environments
from .rules import check_rules

__all__ = ["check_game"]


def check_game(game: Game) -> None:
    """Check that a game keeps the rules of ``Game``, and that all exact answers about it agree.

    The rules first: attributes, laws, stages, observations, masks, every single move; a sample of
    them is asked about in batches of several sizes, and drawn 10,000 times each. Then, for each
    seat, what is solved, evaluated and scored is compared with sums over every move in fractions
    that share no code with the solver; at last what environments draw is compared with the laws, by
    4,000 draws of every move and with a fixed seed. For small sizes it takes seconds.

    Raises:
        GameError: naming the rule that is broken, and the move that breaks it.
        InputError: if the game is too large to list.
    """
    pairs = check_rules(game)
    if pairs > LIMIT:
        raise InputError(
            f"game must have at most {LIMIT} pairs of state and action to be checked, got {pairs}: "
            "take smaller sizes"
        )
    listing = Listing(game)
    check_batches(game)
    for seat in range(game.num_players):
        check_answers(listing, seat)
        check_environments(game, seat)

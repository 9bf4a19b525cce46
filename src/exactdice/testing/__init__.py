"""Checks for authors of games: ``exactdice.testing.check_game(MyGame(size=3))``."""

from ..core import EXACT, Game, InputError
from ..core.contract import require_attributes
from ..core.moves import require_totals
from ..core.positions import has_few_states
from ..core.sizes import show
from ..envs.planners import LIMIT
from .answers import Enumeration, check_answers
from .environments import check_environments
from .rules import check_batches, check_rules

__all__ = ["check_game"]


def check_game(game: Game) -> None:
    """Check that a game obeys the rules of ``Game``, and that all exact results about it agree.

    1. Attributes, laws, stages, observations, masks and every move obey the rules. Every move has
       the same effect alone, in batches of several sizes and in fractions.
       No payoffs add up to a total outside ``payoff_range``.
    2. For each seat, ``solve``, ``evaluate`` and ``score`` agree with sums over all moves, in
       fractions, which use neither the sweeps nor the fixed points of the solver.
    3. Environments draw by the laws: 4,000 draws of every move, with a fixed seed.

    A game of small size takes seconds.

    Raises:
        GameError: naming the rule that is broken, and the move that breaks it.
        InputError: if the game is too large to list.
    """
    require_attributes(game)
    few = has_few_states(game)
    if not few or check_rules(game) > LIMIT:
        size = game.num_states * game.num_actions if few else f"{show(game.num_states)} states"
        raise InputError(
            f"game must have at most {LIMIT} pairs of state and action to be checked, got {size}: "
            "take smaller sizes"
        )
    check_batches(game)
    listing = Enumeration(game)
    for seat in range(game.num_players):
        require_totals(game, seat, EXACT)
    for seat in range(game.num_players):
        check_answers(listing, seat)
        check_environments(game, seat)

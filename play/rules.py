"""The rules of a game as one paragraph, for a person who is about to play."""

from ..core import Game
from ..core.presentation import present


def rules(game: Game) -> str:
    """Join the sentences of ``describe_rules``, each with a capital letter."""
    return " ".join(
        sentence[:1].upper() + sentence[1:] for sentence in present(game).describe_rules()
    )

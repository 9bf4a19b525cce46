"""The rules as one paragraph, for a person who sits down to play."""

from ..core import Game


def rules(game: Game) -> str:
    """Join the rules that a game tells, each sentence with a capital letter."""
    return " ".join(sentence[:1].upper() + sentence[1:] for sentence in game.describe_rules())

"""A picture of the match of 421: the chance to win of who begins a round, in every token state.

Draw it with ``python examples/match_picture.py picture.png``; keywords of the match may follow, as
in ``tokens=5 starter=winner``. The ending of the file's name says its format. Two lines say what
it is worth to begin, and whether higher results are better.
"""

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from exactdice.games import FourTwoOneMatch
from exactdice.sources.four_two_one.match import OptimalMatch, order_words
from matplotlib.figure import Figure


def draw(picture: str, match: OptimalMatch) -> None:
    """Draw the values of all token states into a file."""
    tokens = match.game.tokens
    chances = np.full((tokens, tokens), np.nan)  # by the other's and own tokens
    pot, own, other = match.game.token_states.T
    chances[other, own] = match.values
    figure = Figure(figsize=(7.5, 6.4), layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(chances, origin="lower", cmap="RdYlGn", vmin=0, vmax=1)
    for left, mine, theirs in zip(pot, own, other, strict=True):
        text = f"{chances[theirs, mine]:.3f}".removeprefix("0")
        weight = "normal" if left else "bold"
        axes.text(mine, theirs, text, ha="center", va="center", fontsize=8, weight=weight)
    axes.set(
        xlabel="tokens of who begins the round",
        ylabel="tokens of the other player",
        xticks=range(tokens),
        yticks=range(tokens),
    )
    axes.set_title("Chance to win of who begins, by tokens; bold: the pot is empty")
    figure.colorbar(image, label="chance to win, both playing optimally")
    figure.savefig(picture, dpi=120)


def main(words: Sequence[str]) -> None:
    """Read the command line."""
    picture, *rules = words
    pairs = (rule.split("=") for rule in rules)
    keywords: dict[str, Any] = {
        name: int(value) if value.isdigit() else value for name, value in pairs
    }
    match = OptimalMatch(FourTwoOneMatch(**keywords))
    draw(picture, match)
    print(f"who begins wins {match.value:.6f}")
    print(order_words(match))


if __name__ == "__main__":
    main(sys.argv[1:])

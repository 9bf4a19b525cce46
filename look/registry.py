"""The registry of charts: a chart is a function that makes a ``Plot``, registered under a name.

The modules in ``look/games`` register the charts of one game each; ``agents`` those of any game.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from ..baselines import Score, Task
from ..core import Game
from .charts import Plot

Keywords: TypeAlias = Mapping[str, int | str]
DrawGame: TypeAlias = Callable[[Task], Plot]
DrawAgent: TypeAlias = Callable[[Score], Plot]


@dataclass(frozen=True)
class GameChart:
    """A chart of a game.

    Attributes:
        game: its name.
        draw: makes the plot.
        reported: whether ``exactdice report`` shows the chart on the page of an agent.
    """

    game: str
    draw: DrawGame
    reported: bool = False


@dataclass(frozen=True)
class AgentChart:
    """A chart of an agent.

    Attributes:
        draw: makes the plot.
        game: class of the agent's game; None for any game.
    """

    draw: DrawAgent
    game: type[Game] | None = None

    def suits(self, game: Game) -> bool:
        """Return whether the chart is for agents of a game."""
        return self.game is None or isinstance(game, self.game)


class Example(NamedTuple):
    """A chart of a policy, for the gallery."""

    chart: str
    policy: str
    game: str


GAME_CHARTS: dict[str, GameChart] = {}
AGENT_CHARTS: dict[str, AgentChart] = {}
EXAMPLES: dict[str, Example] = {}


def game_chart(
    name: str, game: type[Game], *, reported: bool = False
) -> Callable[[DrawGame], DrawGame]:
    """Register a function as a chart of a game; the arguments are those of ``GameChart``."""

    def register(draw: DrawGame) -> DrawGame:
        GAME_CHARTS[name] = GameChart(game.name, draw, reported)
        return draw

    return register


def agent_chart(name: str, game: type[Game] | None = None) -> Callable[[DrawAgent], DrawAgent]:
    """Register a function as a chart of an agent, of one game or of any."""

    def register(draw: DrawAgent) -> DrawAgent:
        AGENT_CHARTS[name] = AgentChart(draw, game)
        return draw

    return register


def example(name: str, chart: str, policy: str, game: type[Game]) -> None:
    """Register a chart of a policy as a picture of the gallery.

    Args:
        name: name of the picture, which is its file without the ending.
        chart: name of a chart of agents.
        policy: name of the policy.
        game: class of its game.
    """
    EXAMPLES[name] = Example(chart, policy, game.name)

"""The registry of charts: a chart is a function that makes a ``Picture``, registered by its name.

The modules in ``look/games`` register the charts of one game each; ``agents`` those of any game.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from ..baselines import Score, Task
from ..core import Game
from .charts import Picture

Keywords: TypeAlias = Mapping[str, int | str]
DrawGame: TypeAlias = Callable[[Task], Picture]
DrawAgent: TypeAlias = Callable[[Score], Picture]


@dataclass(frozen=True)
class GameChart:
    """A chart of a game.

    Attributes:
        game: its name.
        draw: makes the picture.
        env: keywords of the game unless others are given.
        fixed: whether the game is the source's own, so that no keywords can be given.
        reported: whether the page of an agent shows the chart, too.
    """

    game: str
    draw: DrawGame
    env: Keywords = field(default_factory=dict)
    fixed: bool = False
    reported: bool = False


@dataclass(frozen=True)
class AgentChart:
    """A chart of an agent.

    Attributes:
        draw: makes the picture.
        game: class of the agent's game; None for any game.
    """

    draw: DrawAgent
    game: type[Game] | None = None

    def suits(self, game: Game) -> bool:
        """Say whether agents of a game have this chart."""
        return self.game is None or isinstance(game, self.game)


class Example(NamedTuple):
    """A policy whose chart the gallery shows."""

    chart: str
    policy: str
    game: str


GAME_CHARTS: dict[str, GameChart] = {}
AGENT_CHARTS: dict[str, AgentChart] = {}
EXAMPLES: dict[str, Example] = {}


def game_chart(
    name: str,
    game: type[Game],
    env: Keywords | None = None,
    *,
    fixed: bool = False,
    reported: bool = False,
) -> Callable[[DrawGame], DrawGame]:
    """Register a function as a chart of a game; the arguments are those of ``GameChart``."""

    def register(draw: DrawGame) -> DrawGame:
        GAME_CHARTS[name] = GameChart(game.name, draw, env or {}, fixed, reported)
        return draw

    return register


def agent_chart(name: str, game: type[Game] | None = None) -> Callable[[DrawAgent], DrawAgent]:
    """Register a function as a chart of an agent, of one game or of any."""

    def register(draw: DrawAgent) -> DrawAgent:
        AGENT_CHARTS[name] = AgentChart(draw, game)
        return draw

    return register


def example(name: str, chart: str, policy: str, game: type[Game]) -> None:
    """Have the gallery show the chart of a policy.

    Args:
        name: of the picture's file, without its ending.
        chart: name of a chart of agents.
        policy: name of the policy.
        game: class of its game.
    """
    EXAMPLES[name] = Example(chart, policy, game.name)

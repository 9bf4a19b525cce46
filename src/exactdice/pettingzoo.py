"""The games as environments of PettingZoo: ``exactdice.pettingzoo.env("Greed", max_score=20)``.

Each seat is an agent, and no policy is fixed. Positions, masks and chance come from the rules of
the game, so that the mean payoffs of policies that play here converge to the result of
``exactdice.expected_payoffs``.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from json import dumps
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt

from .baselines import Sight, Task, make_game
from .baselines.policies.observations import in_dictionary
from .core import GAMES, InputError, present
from .core.errors import needing
from .core.plain import plain_rules
from .core.playing import Played, begin
from .envs import Encoding, EncodingName, Features, find_game
from .envs.api.env import check_action
from .envs.drawing import FRAMES, MODES
from .envs.drawing.painting import Renderer

with needing("exactdice.pettingzoo", "'exactdice[pettingzoo]'"):
    import pettingzoo
    from pettingzoo.utils.wrappers import BaseWrapper, OrderEnforcingWrapper

__all__ = ["env", "raw_env"]

#: Wrappers of PettingZoo that leave the game alone.
HARMLESS = (
    "AssertOutOfBoundsWrapper",
    "CaptureStdoutWrapper",
    "OrderEnforcingWrapper",
    "RecordVideo",
)


class GameAEC(pettingzoo.AECEnv):  # type: ignore[misc]  # PettingZoo has no types for mypy
    """A dice game for all its players, by the agent-environment cycle of PettingZoo.

    Agents are "player_0", "player_1" and so on; player_0 moves first. An observation is a
    dictionary: "observation", in the form ``encoding``, and "action_mask", int8 of shape (action,),
    with 1 for legal actions. An agent that is not to move has the observation of its last move, or
    zeros before its first move, and a mask of zeros.

    Rewards are what moves pay. In most games an agent gets one reward, its payoff, as soon as the
    payoff is settled; ``infos`` holds the sum of all rewards then, as "outcome". All agents
    terminate together, when all payoffs are settled: a player who is beaten in a round of four
    waits for the end of the round. An illegal action ends the game with
    ``infos[agent]["illegal_action"] = True``: the agent that takes it gets the worst payoff of the
    game, and every other agent whose payoff is not settled gets the best payoff.

    Args:
        game: name or place (see ``find_game``) of a game for two players or more.
        encoding: the form of observations, "integer" or another one (see ``Encoding``).
        render_mode: None, "ansi" (a text), "rgb_array" (pixels) or "human" (a window).
        keywords: the game's own, such as ``max_score``.

    Attributes:
        game: the rules.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012  the base class declares it for instances
        "render_modes": list(MODES),
        "render_fps": FRAMES,
        "is_parallelizable": False,
    }

    def __init__(
        self,
        game: str,
        encoding: EncodingName = "integer",
        render_mode: str | None = None,
        **keywords: Any,
    ) -> None:
        super().__init__()
        name = find_game(game).name
        self.game = make_game(name, ("encoding", "render_mode"), **keywords)
        if self.game.num_players < 2:
            for_two = [
                f"{key}={dumps(value)}" for key, value in present(self.game).made_for_two.items()
            ]
            advice = f": {', '.join(for_two)} makes it one" if for_two else ""
            raise InputError(f"game must be one of two players or more, got {self.game!r}{advice}")
        self.encoding = Encoding(self.game.observation_sizes, encoding)
        self.render_mode = render_mode
        self.metadata = {**self.metadata, "name": f"{name}_v0"}
        self.possible_agents = [f"player_{seat}" for seat in range(self.game.num_players)]
        self.agents: list[str] = []
        self._renderer = (
            None if render_mode is None else Renderer(self.game, render_mode, self.possible_agents)
        )
        self.observation_spaces = {agent: self._space() for agent in self.possible_agents}
        self.action_spaces = {
            agent: gym.spaces.Discrete(self.game.num_actions) for agent in self.possible_agents
        }
        self._rules = plain_rules(self.game)
        self._rng: np.random.Generator | None = None

    def _space(self) -> gym.spaces.Dict:
        """Make the observation space of an agent; spaces are seeded, so agents cannot share one."""
        mask = gym.spaces.Box(0, 1, (self.game.num_actions,), np.int8)
        shown = Encoding(self.game.observation_sizes, self.encoding.name).space
        return gym.spaces.Dict({"observation": shown, "action_mask": mask})

    def observation_space(self, agent: str) -> gym.spaces.Dict:
        """Give the observation space of an agent."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gym.spaces.Discrete:
        """Give the action space of an agent."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a new game; without a seed the random generator continues."""
        if seed is not None or self._rng is None:
            self._rng, _ = gym.utils.seeding.np_random(seed)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._settled, self._totals = [False] * len(self.agents), [0.0] * len(self.agents)
        nothing = np.zeros(len(self.game.observation_sizes), dtype=np.int64)
        self._seen = {agent: self.encoding.encode(nothing[None])[0] for agent in self.agents}
        self._go_to(0, int(begin(self.game, 1, self._rng)[0]))
        self._watch([])

    def observe(self, agent: str) -> dict[str, Features]:
        """Give the observation and the mask of an agent, in fresh memory."""
        to_move = agent == self.agent_selection and not self.terminations.get(agent, True)
        mask = self._mask.copy() if to_move else np.zeros_like(self._mask)
        return {"observation": self._seen[agent].copy(), "action_mask": mask}

    def step(self, action: Any) -> None:
        """Make a move of the agent to move; after the end of the game the action must be None."""
        if not self.agents:
            raise RuntimeError("the game is over: call reset before step")
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        chosen = check_action(action, self.game.num_actions)
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        played = []
        if self._mask[chosen]:
            played.append(self._play(chosen))
        else:
            self._forfeit(agent)
        self._accumulate_rewards()
        self._watch(played)

    def render(self) -> str | npt.NDArray[np.uint8] | None:
        """Show the game and its last move in the form ``render_mode`` (see ``GameEnv``)."""
        return None if self._renderer is None else self._renderer.render()

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._renderer is not None:
            self._renderer.close()

    def _go_to(self, seat: int, state: int) -> None:
        self._seat, self._state = seat, state
        self.agent_selection = self.possible_agents[seat]
        seen = self._rules.observe(state, seat)
        if self.encoding.name != "integer":
            seen = self.encoding.encode(seen[None])[0]
        self._seen[self.agent_selection] = seen
        self._mask = self._rules.mask(state)

    def _play(self, action: int) -> Played:
        assert self._rng is not None
        played = self._seat, self._state, action
        move = self._rules.advance(*played, self._rng.random())
        self._settle(move.over, move.payoffs)
        if not all(self._settled):
            self._go_to(move.seat, move.state)
        return Played(*played, move.outcome)

    def _forfeit(self, agent: str) -> None:
        """End the game after an illegal action of an agent."""
        worst, best = map(float, self.game.payoff_range)
        payoffs = [best] * len(self.possible_agents)
        payoffs[self._seat] = worst
        self.infos[agent]["illegal_action"] = True
        self._settle([True] * len(payoffs), payoffs)

    def _settle(self, over: Sequence[bool], payoffs: Sequence[float]) -> None:
        """Pay the players for whom the game is not over; end it when it is over for all."""
        for seat, agent in enumerate(self.possible_agents):
            if not self._settled[seat]:
                self._totals[seat] += payoffs[seat]
                self.rewards[agent] = payoffs[seat]
                if over[seat]:
                    self._settled[seat] = True
                    self.infos[agent]["outcome"] = self._totals[seat]
        if all(self._settled):
            self.terminations = dict.fromkeys(self.agents, True)
            self.agent_selection = self.agents[0]

    def _watch(self, played: list[Played]) -> None:
        """Pass the last move, and the result in words if the game is over, to the renderer."""
        if self._renderer is not None:
            ended = ""
            if all(self._settled):
                paid = (f"{agent} {info['outcome']:g}" for agent, info in self.infos.items())
                ended = ", ".join(paid)
            self._renderer.watch(played, self._seat, self._state, ended)


#: PettingZoo's own name for an environment without wrappers.
raw_env = GameAEC


def env(
    game: str, encoding: EncodingName = "integer", render_mode: str | None = None, **keywords: Any
) -> Any:
    """Make a ``GameAEC`` in the wrapper of PettingZoo that reports calls in the wrong order."""
    return OrderEnforcingWrapper(GameAEC(game, encoding, render_mode, **keywords))


def inspect_env(env: Any) -> tuple[Task, Sight]:
    """Return the task of an environment of PettingZoo, and the observations of its agents.

    The environment has no opponents. So its task is the task of the game's default environment of
    Gymnasium: seat 0 against the default opponents.
    """
    while isinstance(env, BaseWrapper):
        if type(env).__name__ not in HARMLESS:
            raise InputError(
                "env must be scored as it is played, and the wrapper "
                f"{type(env).__name__} may change it: pass env.unwrapped to score the game itself"
            )
        env = env.env
    if not isinstance(env, GameAEC):
        raise TypeError(f"env must be an exactdice environment, got {env}")
    shown = env.encoding.sight
    sight = replace(shown, read=partial(in_dictionary, "observation", env.game, shown))
    return Task(env.game, 0, env.game.default_opponent), sight


def register_games() -> None:
    """Register all games of ``GAMES`` for ``pettingzoo.make("aec", "exactdice/...")``."""
    for name in GAMES:
        if f"exactdice/{name}-v0" not in pettingzoo.aec_registry:
            pettingzoo.register(
                "aec", f"exactdice/{name}-v0", "exactdice.pettingzoo:env", kwargs={"game": name}
            )


register_games()

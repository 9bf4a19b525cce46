"""Self-play: training against the agent's own present or past policies.

Against its *present self* the agent meets its current policy. The policy changes between rollouts
only, and so does its opponent. Against its *past selves* (fictitious play: Brown 1951; Heinrich,
Lanctot and Silver, "Fictitious Self-Play in Extensive-Form Games", 2015) each game is played
against one policy, drawn when the game begins with equal probabilities from a pool of the present
policy and of earlier ones, so that the agent learns a reply to the average of its past.

The pool stores the policy before each rollout whose number is k, 2k, 3k, ... When it stores too
many, it drops every second policy and k is doubled. So the policies are spread evenly over the
whole training, and the pool is never less than half full.

Before every rollout the agent changes its seat, so that one network learns both seats. Moves of
both seats count as moves of the agent. An agent whose exploitability is zero plays an equilibrium.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.on_policy_algorithm import OnPolicyAlgorithm

from ...baselines import Policy, Reading, Task
from ...baselines.solving.players import one_hot
from ...core import Array, Game, InputError, IntArray
from ...envs.engine.lanes import LanePolicy
from .adapter import ModelPolicy, copied
from .vec_env import GameVecEnv


class SelfPlayOpponent(Policy):
    """A network as opponent, evaluated in the states that a rollout reaches.

    A rollout reaches few states, and the network changes after it. A table of the policy in all
    states would take longer to compute than the rollout.
    """

    def __init__(self, network: ModelPolicy, game: Game, seat: int) -> None:
        self._network, self._game, self._seat = network, game, seat
        self.shape = game.num_states, game.num_actions

    def probabilities(self, states: IntArray) -> Array:
        """Compute the probability of each action, shape (state, action)."""
        law: Array = self._network(self._game.observe(states, self._seat), self._game.mask(states))
        if law.ndim == 1:  # actions, as each of these states has only one legal action
            return one_hot(law, self._game.num_actions).astype(np.float64)
        return law


class Pool(LanePolicy):
    """A pool of opponents: each game is played against one of them, drawn at its beginning.

    Args:
        members: the policies.
        num_lanes: number of games that are played at once.
        count: called with the number of moves after each batch of moves by the pool.
    """

    def __init__(
        self, members: Sequence[Policy], num_lanes: int, count: Callable[[int], None]
    ) -> None:
        self._members, self._count = members, count
        self._drawn = np.zeros(num_lanes, dtype=np.int64)
        self.shape = members[0].shape

    def probabilities(self, states: IntArray) -> Array:
        """Compute the mean probability of each action, shape (state, action)."""
        laws = [member.probabilities(states) for member in self._members]
        mean: Array = np.mean(laws, axis=0)
        return mean

    def begin(self, lanes: IntArray, rng: np.random.Generator) -> None:
        """Draw the policy of each given game; nothing is drawn if the pool has one policy."""
        if len(self._members) > 1:
            self._drawn[lanes] = rng.integers(len(self._members), size=len(lanes))

    def sample_in(self, lanes: IntArray, states: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw an action in each game from the policy of this game."""
        self._count(len(lanes))
        drawn = self._drawn[lanes]
        actions = np.empty(len(lanes), dtype=np.int64)
        for number in np.unique(drawn).tolist():
            mine = drawn == number
            actions[mine] = self._members[number].sample(states[mine], rng)
        return actions


class SelfPlay(BaseCallback):
    """A callback by which an on-policy model plays against itself, in alternating seats.

    The opponent, the seat and the pool depend only on the weights and on the number of rollouts.
    ``state`` returns both, so that a resumed run continues as the uninterrupted run would have.

    Args:
        game: the rules.
        past_selves: largest number of earlier policies in the pool; 0 for the present self only.

    Raises:
        ValueError: if the game is not zero-sum for two players.
    """

    def __init__(self, game: Game, past_selves: int = 0) -> None:
        super().__init__()
        check_two_players(game)
        self._game, self._size = game, past_selves
        self._rollouts, self._interval = 0, 1
        self._past: list[Any] = []  # networks, oldest first

    def _on_rollout_start(self) -> None:
        env = self.model.get_env()
        assert isinstance(env, GameVecEnv)
        assert isinstance(self.model, OnPolicyAlgorithm)
        seat = self._rollouts % 2
        opponents = [
            SelfPlayOpponent(network, self._game, 1 - seat)
            for network in self.members(self.model, deterministic=False)
        ]
        pool = Pool(opponents, env.num_envs, self._count)
        self.model._last_obs = env.face(Task(self._game, seat, {1 - seat: pool}))
        self.model._last_episode_starts = np.ones(env.num_envs, dtype=bool)
        self._rollouts += 1
        if self._size and self._rollouts % self._interval == 0:
            self._keep(self.model.policy)

    def _count(self, moves: int) -> None:
        self.model.num_timesteps += moves

    def _keep(self, policy: Any) -> None:
        """Add a network to the pool; drop every second network if the pool is too large."""
        self._past.append(copied(policy))
        if len(self._past) > self._size:
            self._past = self._past[1::2]  # of numbers k, 2k, 3k, ... those divisible by 2k
            self._interval *= 2

    def members(self, model: BaseAlgorithm, deterministic: bool = True) -> list[ModelPolicy]:
        """Return the policies of the pool, the present policy last.

        Args:
            model: the model in training.
            deterministic: whether the policies take their likeliest action; if not, they draw from
                their law.
        """
        present = ModelPolicy(model, self._game, Reading(deterministic=deterministic))
        return [*(present.with_policy(policy) for policy in self._past), present]

    def state(self) -> dict[str, Any]:
        """Return the data for resuming the run: counters, and the weights of the pool."""
        past = [policy.state_dict() for policy in self._past]
        return {"rollouts": self._rollouts, "interval": self._interval, "past": past}

    def restore(self, model: BaseAlgorithm, state: dict[str, Any]) -> None:
        """Restore a state that ``state`` returned; ``model`` must have the same options."""
        self._rollouts, self._interval = state["rollouts"], state["interval"]
        self._past = [copied(model.policy) for _ in state["past"]]
        for policy, weights in zip(self._past, state["past"], strict=True):
            policy.load_state_dict(weights)

    def _on_step(self) -> bool:
        return True


def self_plays(callbacks: Sequence[BaseCallback]) -> list[SelfPlay]:
    """List the ``SelfPlay`` callbacks among callbacks, at most one."""
    return [each for each in callbacks if isinstance(each, SelfPlay)]


def check_two_players(game: Game) -> None:
    """Check that a game can be learned by self-play.

    Raises:
        InputError: if the game is not zero-sum for two players.
    """
    if game.num_players != 2 or not game.zero_sum:
        raise InputError(f"self_play needs a zero-sum game for two players, got {game!r}")

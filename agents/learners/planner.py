"""A planner that learns its model: it counts what came of its moves, and plans on the counts.

Let an action a have been taken n(a) times in a state s, with T(a) the sum of the rewards and of the
values of the states that followed. With N moves from s in all,

    mean  = (m p + sum over a of T(a)) / (m + N),
    Q(a)  = (m mean + T(a)) / (m + n(a)) + b / sqrt(n(a)),    and mean + b if n(a) is 0,

and the value of s is the largest Q(a) of its legal actions, p + b if s was never seen: p counts for
m moves in each state, and the mean of the state for m moves of each action. No value is above the
largest payoff, and the discount factor is 1. The agent plays by a plan whose bonus b draws it to
actions that it knows little of (Strehl and Littman, "An analysis of model-based Interval Estimation
for Markov Decision Processes", Journal of Computer and System Sciences 74 (2008), Section 2.2). Its
policy is the plan with b = 0. It learns the law of the game from its own moves alone.
"""

from typing import Any, ClassVar

import numpy as np
import torch as th
from stable_baselines3.common.policies import BasePolicy

from ...core import FloatArray, Game, InputError, IntArray
from .q_learning import QLearning, Table
from .vec_env import GameVecEnv

#: Sweeps of a plan at most. In a game without cycles no value changes after its longest game.
SWEEPS = 200
#: A plan is complete if no value changes by more.
TOLERANCE = 1e-9


class ModelTable(Table):
    """The counts of the moves, and the values of both plans.

    ``pairs`` has a number s * num_actions + a for each action a that was taken in a state s, in
    increasing order, and ``nexts`` the same number * num_states + s' for each state s' that
    followed. Beside ``pairs`` stand ``taken``, ``rewards``, ``legal`` (the number of legal actions
    of the state), and in each plan the ``values`` and the value ``untaken`` of the state's actions
    that were not taken, shapes (plan, pair); beside ``nexts`` stand ``times``.

    Args:
        observation_space: the observation space of the environment.
        action_space: the action space of the environment.
        game: the rules, which give the states and the legal actions.
        default: p, the value of an action before its first move.
        prior: m, the number of moves that p counts for.
        bonuses: b, of the policy and of the plan that is played by in training.
        highest: the largest value.
    """

    ARRAYS = ("pairs", "taken", "rewards", "legal", "values", "untaken", "nexts", "times")

    def __init__(
        self,
        observation_space: Any,
        action_space: Any,
        game: Game,
        default: float = 0.0,
        prior: float = 1.0,
        bonuses: tuple[float, float] = (0.0, 0.0),
        highest: float = np.inf,
    ) -> None:
        super().__init__(observation_space, action_space, game)
        self.default, self.prior, self.bonuses, self.highest = default, prior, bonuses, highest
        self.pairs = self.taken = self.legal = self.nexts = self.times = np.zeros(0, np.int64)
        self.rewards = np.zeros(0)
        self.values = self.untaken = np.zeros((2, 0))

    def _save_to_state_dict(
        self, destination: dict[str, Any], prefix: str, keep_vars: bool
    ) -> None:
        for name in self.ARRAYS:
            destination[prefix + name] = th.as_tensor(getattr(self, name))

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        for name in self.ARRAYS:
            setattr(self, name, state_dict[prefix + name].numpy())

    def unseen(self, plan: int) -> float:
        """Return the value of an action that was never taken in a plan."""
        return min(self.default + self.bonuses[plan], self.highest)

    def rows(self, states: IntArray, plan: int = 0) -> FloatArray:
        """Return the value of each action in a plan, shape (state, action)."""
        found = np.full((len(states), self.game.num_actions), self.unseen(plan))
        seen, places = _find(self.pairs // self.game.num_actions, states)
        found[seen] = self.untaken[plan, places[seen], None]
        seen = np.flatnonzero(seen)
        numbers = states[seen, None] * self.game.num_actions + np.arange(self.game.num_actions)
        taken, places = _find(self.pairs, numbers)
        row, action = np.nonzero(taken)
        found[seen[row], action] = self.values[plan, places[row, action]]
        return found

    def learn(
        self, states: IntArray, actions: IntArray, rewards: FloatArray, reached: IntArray
    ) -> None:
        """Count moves, and plan.

        Args:
            states: state before each move, shape (move,).
            actions: shape (move,).
            rewards: shape (move,).
            reached: state after each move, -1 if the game was over.
        """
        moves = states * self.game.num_actions + actions
        new = np.setdiff1d(moves, self.pairs)
        places = np.searchsorted(self.pairs, new)
        legal = self.game.mask(new // self.game.num_actions).sum(axis=1)
        self.pairs = np.insert(self.pairs, places, new)
        self.taken = np.insert(self.taken, places, 0)
        self.rewards = np.insert(self.rewards, places, 0.0)
        self.legal = np.insert(self.legal, places, legal)
        first = [[self.unseen(plan)] for plan in range(len(self.bonuses))]
        self.values = np.insert(self.values, places, first, axis=1)
        self.untaken = np.insert(self.untaken, places, first, axis=1)
        where = np.searchsorted(self.pairs, moves)
        np.add.at(self.taken, where, 1)
        np.add.at(self.rewards, where, rewards)
        goes_on = reached >= 0
        steps, times = np.unique(
            moves[goes_on] * self.game.num_states + reached[goes_on], return_counts=True
        )
        new = np.setdiff1d(steps, self.nexts)
        places = np.searchsorted(self.nexts, new)
        self.nexts = np.insert(self.nexts, places, new)
        self.times = np.insert(self.times, places, 0)
        self.times[np.searchsorted(self.nexts, steps)] += times
        for plan in range(len(self.bonuses)):
            self._plan(plan)

    def _plan(self, plan: int) -> None:
        """Iterate the values of a plan until they change no more."""
        before, after = np.divmod(self.nexts, self.game.num_states)
        place = np.searchsorted(self.pairs, before)
        states, first, numbers = np.unique(
            self.pairs // self.game.num_actions, return_index=True, return_counts=True
        )
        known, row = _find(states, after)
        row[~known] = len(states)  # the last entry of ``best``: a state that was never seen
        unseen = self.unseen(plan)
        partly = numbers < self.legal[first]
        weight = self.prior + np.add.reduceat(self.taken, first)
        bonus = self.bonuses[plan]
        values = self.values[plan]
        best = np.append(np.maximum.reduceat(values, first), unseen)
        for _ in range(SWEEPS):
            total = self.rewards + np.bincount(place, self.times * best[row], len(values))
            mean = (self.prior * self.default + np.add.reduceat(total, first)) / weight
            shared = np.repeat(mean, numbers)
            planned = (self.prior * shared + total) / (self.prior + self.taken)
            values[:] = np.minimum(planned + bonus / np.sqrt(self.taken), self.highest)
            untaken = np.minimum(mean + bonus, self.highest)
            found = np.maximum.reduceat(values, first)
            found[partly] = np.maximum(found, untaken)[partly]
            change = np.abs(found - best[:-1]).max()
            best[:-1] = found
            if change <= TOLERANCE:
                break
        self.untaken[plan] = np.repeat(untaken, numbers)


def _find(ordered: IntArray, wanted: IntArray) -> tuple[Any, IntArray]:
    """Return which numbers are in an ordered array, and the place of each that is."""
    places = np.searchsorted(ordered, wanted)
    inside = places < len(ordered)
    places[~inside] = 0
    return inside & (ordered[places] == wanted) if len(ordered) else inside, places


class Planner(QLearning):
    """Plays by a plan on its counts, and plans again after every ``n_steps`` moves of each game.

    Args:
        policy: ``ModelTable``, or its name.
        env: the games.
        initial_value: value of an action that was never taken: 0 for the smallest payoff of the
            game, 1 for the largest.
        prior: number of moves that this value counts for.
        bonus: of an action that was taken once, in spans of the payoffs.
        n_steps: moves of each game between two plans.
        seed: seed of all randomness.
        device: ignored; the counts are on the processor.
    """

    policy_aliases: ClassVar[dict[str, type[BasePolicy]]] = {"ModelTable": ModelTable}
    policy: ModelTable  # type: ignore[assignment]

    def __init__(
        self,
        policy: type[ModelTable] | str,
        env: GameVecEnv | None,
        initial_value: float = 0.5,
        prior: float = 1.0,
        bonus: float = 0.1,
        n_steps: int = 16,
        seed: int | None = None,
        device: str = "cpu",
        _init_setup_model: bool = True,
    ) -> None:
        if prior <= 0:
            raise InputError(f"prior must be above 0, got {prior}")
        self.prior, self.bonus = prior, bonus
        super().__init__(
            policy,  # type: ignore[arg-type]
            env,
            initial_value=initial_value,
            n_steps=n_steps,
            seed=seed,
            _init_setup_model=_init_setup_model,
        )

    def _setup_model(self) -> None:
        self.set_random_seed(self.seed)
        env = self.get_env()
        if env is not None:  # without one, a loaded model has these arguments
            game = env.get_attr("task")[0].game
            scale = env.get_attr("reward_scale")[0]
            low, high = (scale * payoff for payoff in game.payoff_range)
            self.policy_kwargs = {
                "game": game,
                "default": low + self.initial_value * (high - low),
                "prior": self.prior,
                "bonuses": (0.0, self.bonus * (high - low)),
                "highest": high,
            }
        self.policy = ModelTable(self.observation_space, self.action_space, **self.policy_kwargs)
        self._moves: list[tuple[Any, ...]] = []

    def _step(self) -> None:
        """Make one move in every game; plan if so many were made."""
        env = self.env
        assert isinstance(env, GameVecEnv)
        states = env.engine.lanes.states()
        values = np.where(self.policy.game.mask(states), self.policy.rows(states, 1), -np.inf)
        noise = TOLERANCE * self.action_space.np_random.random(values.shape)  # equal values
        actions = (values + noise).argmax(axis=1)
        self._last_obs, rewards, over, _ = env.step(actions)  # type: ignore[assignment]
        reached = np.where(over, -1, env.engine.lanes.states())
        self._moves.append((states, actions, rewards, reached))
        if len(self._moves) == self.n_steps:
            self.policy.learn(*map(np.concatenate, zip(*self._moves, strict=True)))
            self._moves.clear()

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
from ...core.positions import places_in
from .q_learning import QLearning, ValueTable
from .vec_env import GameVecEnv

LARGEST_MOVE = 2**62  # the largest number of a move
#: Sweeps of a plan at most. In a game without cycles no value changes after its longest game.
SWEEPS = 200
#: A plan is complete if no value changes by more.
TOLERANCE = 1e-9


class ModelTable(ValueTable):
    """The counts of the moves, and the values of both plans.

    A move is a number, (s * num_actions + a) * (num_states + 1) + s' + 1, with s' = -1 for the end
    of the game. ``moves`` has each move that was made once, in increasing order; beside it stand
    ``times`` and the sums ``rewards``.
    """

    def __init__(
        self,
        observation_space: Any,
        action_space: Any,
        game: Game,
        default: float,  # p, the value of a state before it is seen
        prior: float,  # m, the number of moves that p counts for
        bonuses: tuple[float, float],  # b, of the policy and of the plan of training
        highest: float,  # the largest value
    ) -> None:
        super().__init__(observation_space, action_space, game)
        self.default, self.prior, self.bonuses, self.highest = default, prior, bonuses, highest
        if game.num_states**2 * game.num_actions > LARGEST_MOVE:
            raise InputError(
                f"the planner needs a smaller game, whose moves it can number, got {game}"
            )
        self.moves: IntArray = np.zeros(0, np.int64)
        self.times: Any = np.zeros(0)
        self.rewards: Any = np.zeros(0)
        self._plan()

    def _save_to_state_dict(
        self, destination: dict[str, Any], prefix: str, keep_vars: bool
    ) -> None:
        destination[prefix + "shape"] = th.tensor([self.game.num_states, self.game.num_actions])
        for name in ("moves", "times", "rewards"):
            destination[prefix + name] = th.as_tensor(getattr(self, name))

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        shape, own = state_dict[prefix + "shape"].tolist(), self.game
        if shape != [own.num_states, own.num_actions]:
            raise InputError(f"the model must be of {own!r}, got one of shape {shape}")
        for name in ("moves", "times", "rewards"):
            setattr(self, name, state_dict[prefix + name].numpy())
        self._plan()

    def rows(self, states: IntArray, plan: int = 0) -> FloatArray:
        """Return the value of each action in a plan, shape (state, action)."""
        actions = np.arange(self.game.num_actions)
        row = places_in(self._states, states)
        found = np.repeat(self._untaken[plan][row], len(actions)).reshape(-1, len(actions))
        seen = row >= 0
        place = places_in(self._pairs, states[seen, None] * len(actions) + actions)
        found[seen] = np.where(place >= 0, self._values[plan][place], found[seen])
        return found

    def learn(
        self, states: IntArray, actions: IntArray, rewards: FloatArray, reached: IntArray
    ) -> None:
        """Count moves, arrays (move,), and plan; the state reached is -1 if the game was over."""
        pairs = states * self.game.num_actions + actions
        made = np.append(self.moves, pairs * (self.game.num_states + 1) + reached + 1)
        self.moves, which = np.unique(made, return_inverse=True)
        self.times = np.bincount(which, np.append(self.times, np.ones(len(pairs))))
        self.rewards = np.bincount(which, np.append(self.rewards, rewards))
        self._plan()

    def _plan(self) -> None:
        """Iterate the values of both plans until they change no more."""
        before, after = np.divmod(self.moves, self.game.num_states + 1)
        pairs, place = np.unique(before, return_inverse=True)
        taken, rewards = (np.bincount(place, sums) for sums in (self.times, self.rewards))
        states, row = np.unique(pairs // self.game.num_actions, return_inverse=True)
        weight = self.prior + np.bincount(row, taken)
        partly = np.bincount(row) < self.game.mask(states).sum(axis=1)
        # The values of states end with 0 for the end of a game, and that of a state never seen.
        later = np.where(after, places_in(states, after - 1), len(states))
        self._states, self._pairs = states, pairs
        self._values, self._untaken = [], []
        for bonus in self.bonuses:
            unseen = min(self.default + bonus, self.highest)
            best = np.append(np.full(len(states), unseen), [0.0, unseen])
            for _ in range(SWEEPS):
                total = rewards + np.bincount(place, self.times * best[later], len(pairs))
                mean = (self.prior * self.default + np.bincount(row, total)) / weight
                values = (self.prior * mean[row] + total) / (self.prior + taken)
                values = np.minimum(values + bonus / np.sqrt(taken), self.highest)
                untaken = np.minimum(mean + bonus, self.highest)
                found = np.where(partly, untaken, -np.inf)
                np.maximum.at(found, row, values)
                change = np.abs(found - best[:-2]).max(initial=0.0)
                best[:-2] = found
                if change <= TOLERANCE:
                    break
            self._values.append(np.append(values, unseen))
            self._untaken.append(np.append(untaken, unseen))


class Planner(QLearning):
    """Plays by a plan on its counts, and plans again after every ``n_steps`` moves of each game."""

    policy_aliases: ClassVar[dict[str, type[BasePolicy]]] = {"ModelTable": ModelTable}
    policy: ModelTable  # type: ignore[assignment]

    def __init__(
        self,
        policy: type[ModelTable] | str,
        env: GameVecEnv | None,
        initial_value: float = 0.5,  # of an action never taken: 0 is the lowest payoff, 1 the best
        prior: float = 1.0,  # number of moves that this value counts for
        bonus: float = 0.1,  # of an action that was taken once, in spans of the payoffs
        n_steps: int = 16,
        seed: int | None = None,
        device: str = "cpu",  # ignored; the counts are on the processor
        _init_setup_model: bool = True,
    ) -> None:
        if prior <= 0:
            raise InputError(f"prior must be above 0, got {prior}")
        self.prior, self.bonus = prior, bonus
        super().__init__(
            policy,  # type: ignore[arg-type]
            env,
            initial_value=initial_value,
            exploration_initial_eps=0.0,
            exploration_final_eps=0.0,
            n_steps=n_steps,
            seed=seed,
            _init_setup_model=_init_setup_model,
        )

    def _setup_model(self) -> None:
        super()._setup_model()
        self._moves: list[tuple[Any, ...]] = []

    def _arguments(self, games: GameVecEnv) -> dict[str, Any]:
        low, high = (games.reward_scale * payoff for payoff in games.task.game.payoff_range)
        return {
            "game": games.task.game,
            "default": low + self.initial_value * (high - low),
            "prior": self.prior,
            "bonuses": (0.0, self.bonus * (high - low)),
            "highest": high,
        }

    def _choose(self, states: IntArray) -> IntArray:
        """Choose an action by the plan of training."""
        values = np.where(self.policy.game.mask(states), self.policy.rows(states, 1), -np.inf)
        noise = TOLERANCE * self.action_space.np_random.random(values.shape)  # equal values
        return (values + noise).argmax(axis=1)

    def _take_in(self, *moves: Any) -> None:
        """Keep moves; plan if so many were made."""
        self._moves.append(moves)
        if len(self._moves) == self.n_steps:
            self.policy.learn(*map(np.concatenate, zip(*self._moves, strict=True)))
            self._moves.clear()

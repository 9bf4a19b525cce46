"""What may be given for a policy."""

import re
from collections import defaultdict

import gymnasium as gym
import numpy as np
import pytest
from exactdice.baselines import Task, prepare
from exactdice.baselines.policies.kinds import Policy, StochasticPolicy, UniformPolicy
from exactdice.baselines.policies.names import register_policies
from exactdice.core.positions import states_of
from exactdice.games import FourTwoOne, Greed
from exactdice.games.greed.policies import if_else

import exactdice

GAME = Greed(10, 3)
TASK = Task(GAME)
STATES = np.arange(GAME.num_states)
MASK = GAME.mask(STATES)


def planned(env, rounds=12):
    """Value iteration as in textbooks, on ``P`` alone: of ties it takes the last action."""
    law, actions = env.unwrapped.P, env.action_space.n
    values = np.zeros(len(law))
    for _ in range(rounds):
        table = np.array([[sum(p * (reward + values[later] * (not over)) for p, later, reward, over
                               in law[state][action]) for action in range(actions)]
                          for state in range(len(law))])  # fmt: skip
        values = table.max(axis=1)
    return actions - 1 - table[:, ::-1].argmax(axis=1)


def test_the_table_of_a_planner_is_taken_though_it_ties_at_the_worst_payoff():
    env = gym.make("exactdice/ShutTheBox-v0", tiles=4, sides=3, seat=1)
    game, plan = env.unwrapped.task.game, planned(env)
    own = states_of(game, 1)
    assert not game.mask(own)[np.arange(len(own)), plan[own]].all()
    optimum = exactdice.solve(env).value
    for policy in (plan, np.eye(game.num_actions)[plan], dict(enumerate(plan.tolist())), [*plan]):
        for masked in (True, False):
            found = exactdice.score(policy, env, masked=masked).value
            assert found == pytest.approx(optimum, abs=1e-12)
    solution = exactdice.solve(env)
    worth = own[solution.values[1, own] > 0]
    state = worth[~game.mask(worth)[:, -1]][0]
    plan[state] = game.num_actions - 1
    for policy in (plan, np.eye(game.num_actions)[plan]):
        with pytest.raises(ValueError, match=rf"in state {state}.* \(masked=False lets it"):
            exactdice.score(policy, env)


def test_a_planner_may_say_anything_where_others_move():
    game = FourTwoOne(3, 3, 2, utility="set")
    for seat in (0, 1):
        task = Task(game, seat)
        actions = exactdice.solve(task).policy.actions.copy()
        others = np.setdiff1d(np.arange(game.num_states), states_of(game, seat))
        actions[others] = -7
        assert exactdice.score(actions, task).regret == pytest.approx(0, abs=1e-12)
    with pytest.raises(ValueError, match=r"an action for every .*, got none for \[1, 1, 0\]"):
        exactdice.score({0: 1}, TASK)


def env_of(**keywords):
    return gym.make("exactdice/Greed-v0", max_score=10, sides=3, **keywords)


def shown(env):
    """List what the agent of an environment sees in each state, as the keys of a mapping."""
    return [tuple(seen) for seen in env.unwrapped.sight.show(GAME.observe(STATES, 0))]


@pytest.mark.parametrize("encoding", ["integer", "one_hot_float", "scaled"])
def test_a_mapping_from_observations_or_states_is_a_policy(encoding):
    """As the tutorials of Gymnasium have it: ``policy[tuple(observation)]``."""
    env = env_of(encoding=encoding)
    actions, rows = if_else(GAME), np.eye(GAME.num_actions)[if_else(GAME)]
    wanted = exactdice.score(actions, env).value
    assert wanted > 0
    rolls = np.flatnonzero(actions)
    default = defaultdict(int, {shown(env)[state]: actions[state] for state in rolls})
    for policy in (
        dict(zip(shown(env), actions, strict=True)),
        dict(zip(shown(env), rows.tolist(), strict=True)),
        dict(zip(STATES, rows, strict=True)),
        dict(enumerate(actions.tolist())),
        default,
    ):
        assert exactdice.score(policy, env).value == wanted
    assert len(default) == len(rolls)  # the user's mapping is left as it was


def test_a_mapping_needs_the_observations_that_it_meets_and_no_others():
    env = env_of()
    best, met = exactdice.solve(env).policy.actions, exactdice.occupancy("optimal", env)
    learned = {shown(env)[state]: best[state] for state in np.flatnonzero(met)}
    assert len(learned) < len(STATES)
    scored = exactdice.score(learned, env)
    assert scored.value == exactdice.solve(env).value
    assert scored.deviation == exactdice.score("optimal", env).deviation
    np.testing.assert_array_equal(exactdice.occupancy(learned, env), met)
    law = exactdice.outcome_distribution("optimal", env)
    assert exactdice.outcome_distribution(learned, env) == law
    for whole in (
        lambda: scored.exploitability_in_seat,
        lambda: exactdice.evaluate(learned, env),
        lambda: exactdice.solve(env_of(opponent=exactdice.as_policy(learned, env))),
    ):
        with pytest.raises(ValueError, match=r"for every state that is needed, got none for \["):
            whole()
    lost = next(key for key in learned if key[0])
    del learned[lost]
    with pytest.raises(ValueError, match=rf"got none for \[{lost[0]}, {lost[1]}, {lost[2]}\] "):
        exactdice.score(learned, env)


VALUES = np.random.default_rng(0).normal(size=(242, 7))
PREFERENCES = {
    "function": lambda seen, legal: VALUES[GAME.encode(seen)],
    "positive": lambda seen, legal: np.exp(VALUES[GAME.encode(seen)]),
    "table": VALUES,
    "list": VALUES.tolist(),
    "numbers": dict(enumerate(VALUES)),
    "observations": dict(zip(shown(env_of()), VALUES, strict=True)),
    "default": defaultdict(lambda: np.zeros(7), zip(shown(env_of()), VALUES, strict=True)),
    "wide": lambda seen: VALUES[GAME.encode(seen)],
}


@pytest.mark.parametrize("policy", PREFERENCES.values(), ids=PREFERENCES)
def test_action_values_are_no_policy_and_the_message_has_code_that_makes_one(policy):
    env, actions = env_of(), np.where(MASK, VALUES, -np.inf).argmax(axis=1)
    with pytest.raises(ValueError, match=r"logits or action values") as caught:
        exactdice.score(policy, env)
    code = re.split("action values,? (?:give )?", str(caught.value))[-1]
    names = {"policy": policy, "env": env, "np": np, "exactdice": exactdice}
    cured = exactdice.score(eval(code, names), env)
    assert cured.value == exactdice.score(actions, env).value


def test_a_function_of_other_arguments_is_refused_with_both_forms_or_code_that_works():
    message = r"must take \(observations, legal\), got one that takes \(.*\): .*from_network"
    for policy in (lambda seen, legal, more: 0, lambda: 0):
        with pytest.raises(ValueError, match=message):
            exactdice.score(policy, TASK)
    with pytest.raises(ValueError, match=r"take \(observations\), got one that takes \(a, b\)"):
        exactdice.from_network(lambda a, b: a, TASK)

    def policy(observation):
        own, other, _last = observation
        return int(own <= other)

    alone = exactdice.score(policy, TASK, masked=False)
    batched = exactdice.score(lambda seen, _: (seen[:, 0] <= seen[:, 1]) * 1, TASK, masked=False)
    assert alone.value == batched.value
    with pytest.raises(ValueError, match=r"gets one, and a function raised IndexError.*from_netw"):
        exactdice.score(lambda seen: seen[:, 0], TASK)


def broken(entry, scale=1.0):
    """Give uniform play, but for action 1 in state 4."""
    table = scale * MASK / MASK.sum(axis=1, keepdims=True)
    table[4, 1] = entry
    return table


BAD = [
    ("greedy", "'optimal', 'best_response', 'equilibrium', 'random', 'strength:<share>', .* a c"),
    (np.ones((3, 3)), r"table of shape \(242, 7\) .* got float64 of shape \(3, 3\)"),
    (lambda seen, legal: 0, r"got int64 of shape \(\): a function gets many observations at"),
    (np.zeros(5, dtype=int), r"or integers of shape \(242,\), got int64 of shape \(5,\)"),
    (np.full(242, 6), r"legal actions, got 6 in state 11, \(.*\) \(masked=False lets it"),
    (np.full(242, -1), "legal actions, got -1 in state 0"),
    (broken(np.nan), r"finite, got nan in state 4, \(.*\), action 1"),
    (broken(-0.5), "not be negative, got -0.5 in state 4"),
    (broken(0.1, 0.5), "sum to 1, got 0.5 in state 0"),
    (UniformPolicy(Greed(9, 3)), r"for 242 states and 7 actions .* got one for 200 and 6"),
    (np.full((242, 7), 1 / 7), "illegal actions alone, got 0.142857 in state 11"),
    (lambda observations, masks: np.ones(2), r"got float64 of shape \(2,\)"),
]


@pytest.mark.parametrize(("policy", "message"), BAD)
def test_bad_policies_are_explained(policy, message):
    with pytest.raises(ValueError, match=message):
        exactdice.evaluate(policy, TASK)
    with pytest.raises(ValueError, match=message):
        Task(GAME, 0, policy)


@pytest.mark.parametrize("entry", [True, np.True_])
def test_truths_are_no_actions_and_no_seats(entry):
    for policy in ({0: entry, **dict.fromkeys(range(1, 242), 0)}, [entry, *[0] * 241]):
        with pytest.raises(ValueError, match="True or False"):
            exactdice.score(policy, TASK)
    for seat in (2, -1, True, np.True_):
        with pytest.raises(ValueError, match=f"seat must be from 0 to 1, got {seat!r}"):
            Task(GAME, seat)


def test_a_seat_has_to_get_to_move():
    game = Greed(1, 6, max_dice=2)
    two_dice = np.full(game.num_states, 2)  # always bust
    with pytest.raises(ValueError, match="seat must be one that gets to move, got 1"):
        _ = prepare(Task(game, 1, two_dice)).initial
    with pytest.raises(ValueError, match="seat must be one that gets to move, got 1"):
        gym.make("exactdice/Greed-v0", **game.keywords, seat=1, opponent=two_dice).reset(seed=0)


def test_samples_survive_the_largest_uniform_number():
    class Top:
        def random(self, size):
            return np.full(size, np.nextafter(1, 0))

    policy = StochasticPolicy(np.tile([0.1, 0.2, 0.7, 0.0], (9, 1)))
    assert policy.sample(np.arange(9), Top()).tolist() == [2] * 9


def test_the_names_that_every_game_has_are_not_for_registering():
    for name in ("optimal", "best_response", "equilibrium", "random", "random:<seed>"):
        with pytest.raises(ValueError, match=f"names other than optimal, .* got '{name}'"):
            register_policies("Greed", {name: if_else})


def test_an_own_policy_stays_what_it_was_when_it_was_checked():
    class Fickle(Policy):
        """Follows if_else while it is new, and stops at once later on."""

        shape = MASK.shape
        is_new = True

        def probabilities(self, states):
            return np.eye(GAME.num_actions)[if_else(GAME)[states] * self.is_new]

    fickle = Fickle()
    agent = exactdice.as_policy(fickle, TASK)
    fickle.is_new = False
    assert exactdice.evaluate(agent, TASK).value == exactdice.evaluate("if_else", TASK).value
    assert exactdice.evaluate(fickle, TASK).value == 0

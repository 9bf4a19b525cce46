"""Tours: scores of policies in games with too many states for arrays, against ordinary scores."""

import io

import gymnasium as gym
import numpy as np
import pytest
import torch as th
from exactdice.agents.runs.agent import report
from exactdice.baselines.scoring.blunders import _once
from exactdice.baselines.scoring.summary import tables
from exactdice.core import SizeError
from exactdice.core.sweeps import sweeps_of
from exactdice.core.tour import KEPT, Costliest, Decisions
from exactdice.games import Yahtzee
from rich.console import Console
from sb3_contrib import QRDQN, MaskablePPO
from stable_baselines3 import A2C, DQN, PPO

import exactdice

BOXES = "ones,yahtzee"
SMALL = {"net_arch": [16, 16]}
FEW = {**SMALL, "n_quantiles": 3}
FIGURES = ("value", "deviation", "moves", "optimal_share", "flawless", "optimum", "random")


def environment(**keywords):
    return gym.make("exactdice/Yahtzee-v0", **{"boxes": BOXES, **keywords})


@pytest.fixture
def large(monkeypatch):
    """Have games of more than 1,000 states scored by tours."""

    def begin():
        exactdice.baselines.cache.clear_cache()
        monkeypatch.setattr("exactdice.core.positions.MOST", 1000)

    yield begin
    exactdice.baselines.cache.clear_cache()


def loud(model):
    """Make the preferences of a network differ by much more than rounding."""
    with th.no_grad():
        for parameter in model.policy.parameters():
            parameter.mul_(3)
    return model


def compare(policy, large, env=None, **options):
    env = env or environment()
    expected = exactdice.score(policy, env, **options)
    blunders, costs = expected.blunders(20), expected.costs
    assert not expected.regrets
    figures = [getattr(expected, name) for name in FIGURES]
    large()
    toured = exactdice.score(policy, env, **options)
    assert [getattr(toured, name) for name in FIGURES] == pytest.approx(figures, abs=1e-10)
    for found, known in zip(toured.blunders(20), blunders, strict=True):
        assert found.words == known.words
        assert found.cost == pytest.approx(known.cost, abs=1e-12)
    game = toured.task.game
    contexts, left, _ = game.locate(np.arange(game.num_states))
    turns = np.searchsorted(game.contexts.levels, contexts, side="right") - 1
    for division, parts in (("turn", turns), ("roll", 2 - left)):
        lost = np.bincount(parts, costs)
        assert list(toured.regrets[division].values()) == pytest.approx(lost, abs=1e-10)
    assert sum(toured.regrets["box"].values()) == pytest.approx(toured.regret, abs=1e-10)
    points = [agent for agent, _ in toured.counts["points"].values()]
    assert sum(points) == pytest.approx(toured.value, abs=1e-10)
    assert toured.error_bound < 1e-8
    return toured


@pytest.mark.parametrize("encoding", ["integer", "thermometer", "scaled"])
def test_networks_have_the_figures_of_ordinary_scores_in_all_encodings(encoding, large):
    env = environment(encoding=encoding)
    model = loud(MaskablePPO("MlpPolicy", env, policy_kwargs=SMALL, seed=3, device="cpu"))
    compare(model, large, env)


@pytest.mark.parametrize(
    "model",
    [
        lambda env: PPO("MlpPolicy", env, policy_kwargs={"net_arch": [8]}, seed=1),
        lambda env: A2C("MlpPolicy", env, policy_kwargs={"net_arch": []}, seed=2),  # one layer
        lambda env: DQN("MlpPolicy", env, policy_kwargs=SMALL, buffer_size=10, seed=3),
        lambda env: QRDQN("MlpPolicy", env, policy_kwargs=FEW, buffer_size=10, seed=4),
    ],
)
def test_each_kind_of_model(model, large):
    compare(loud(model(environment())), large)


def test_illegal_actions_end_the_game(large):
    def tell(observations, _):
        return np.where(observations[:, 15] > 0, 0, 210)  # ones, also when they are filled

    toured = compare(tell, large, masked=False)
    assert 0 < toured.value < 5


def test_modules_of_torch(large):
    th.manual_seed(0)
    env = environment(encoding="one_hot_float")
    features, actions = env.observation_space.shape[0], env.action_space.n
    layers = [th.nn.Linear(features, 12), th.nn.GELU(), th.nn.LayerNorm(12)]
    compare(th.nn.Sequential(*layers, th.nn.Linear(12, actions)), large, env)


def test_a_network_whose_features_mix_components_is_called_as_a_whole(large):
    def mix(observations):
        mixed = np.roll(observations, 1, axis=-1) * observations
        return np.minimum(mixed, np.array(Yahtzee.observation_sizes) - 1)

    model = loud(MaskablePPO("MlpPolicy", environment(), policy_kwargs=SMALL, seed=6))
    compare(model, large, observations=mix)


def test_tables_of_chances_of_a_function(large):
    rng = np.random.default_rng(1)
    weights = rng.random(223)

    def tell(observations, masks):
        law = masks * (weights + observations[:, -1:] % 3)
        return law / law.sum(axis=1, keepdims=True)

    compare(tell, large)


def test_the_best_play_has_no_mistakes(large):
    toured = compare("optimal", large)
    assert toured.optimal_share == toured.flawless == 1
    for parts in toured.counts.values():
        assert [agent for agent, _ in parts.values()] == [best for _, best in parts.values()]


def test_chance_in_a_function_is_refused(large):
    rng = np.random.default_rng(0)
    large()
    for begin in (0, 3000):  # from the first call on, and later
        calls = []

        def tell(observations, masks, calls=calls, begin=begin):
            calls.append(len(observations))
            noise = rng.random(masks.shape) * (sum(calls) > begin)
            return (masks * (1 + noise)).argmax(axis=1)

        with pytest.raises(ValueError, match="answer alike to an observation every time"):
            exactdice.score(tell, environment())


def test_a_network_that_changes_is_refused(large):
    env = environment()
    model = loud(MaskablePPO("MlpPolicy", env, policy_kwargs=SMALL, seed=8))
    large()
    agent = exactdice.as_policy(model, env)
    tour = sweeps_of(Yahtzee(boxes=BOXES)).tour
    values = exactdice.solve(env).found
    first = tour(agent.choices, values, 0)
    assert first.mean == exactdice.score(model, env).value

    class Moody(th.nn.Linear):
        def forward(self, units):
            self.weight.data.normal_()
            return super().forward(units)

    agent.function.policy.action_net = Moody(16, 223)
    with pytest.raises(ValueError, match="answer alike|action"):
        tour(agent.choices, values, 0)


def test_numbers_that_are_none_are_refused(large):
    model = loud(MaskablePPO("MlpPolicy", environment(), policy_kwargs=SMALL, seed=9))
    large()
    with th.no_grad():
        model.policy.action_net.bias[3] = th.nan
    with pytest.raises(ValueError, match="numbers"):
        exactdice.score(model, environment())


def test_arrays_over_all_states_are_refused(large):
    large()
    toured = exactdice.score(lambda observations, masks: masks.argmax(axis=1), environment())
    for name in ("occupancy", "costs", "costliest_actions"):
        with pytest.raises(SizeError, match="must have at most 1,000 states"):
            getattr(toured, name)
    with pytest.raises(ValueError, match=f"count must be at most {KEPT} in .*, got None"):
        toured.blunders(None)
    with pytest.raises(ValueError, match="count must be an integer, got '3'"):
        toured.blunders("3")
    console = Console(file=io.StringIO(), width=100)
    blind = exactdice.score("random", environment())
    with pytest.raises(SizeError, match="decisions must be fewer than those of random play"):
        blind.blunders()
    assert list(tables(blind)) == []
    report(blind, console)
    assert "no decisions: decisions must be fewer" in console.file.getvalue()


def test_the_costliest_decisions_are_kept():
    rng = np.random.default_rng(2)
    kept, every = Costliest(), Costliest(None)
    for _ in range(40):
        states, actions = rng.integers(0, 10**6, (2, 500))
        numbers = rng.integers(0, 10, (4, 500)) / 10  # of which many are equal
        for costliest in (kept, every):
            costliest.add(Decisions(states, actions, *numbers))
    found, all_of_them = kept.sorted(), every.sorted()
    assert (all_of_them.costs > 0).all()
    assert len(all_of_them.costs) > 8 * KEPT
    order = np.lexsort((all_of_them.actions, all_of_them.states, -all_of_them.costs))
    expected = all_of_them.take(np.sort(order[:KEPT]))
    assert all(map(np.array_equal, found, expected))
    assert len(Costliest().sorted().states) == 0


def test_what_is_rarely_met_is_said_to_be_met_once_in_so_many_games():
    assert _once(1.8e-5) == "once in 56,000 games"
    assert _once(4.95e-5) == "once in 20,000 games"

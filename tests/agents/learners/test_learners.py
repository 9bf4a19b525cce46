"""Learners of this project: tables, plans, DQN and A2C with masks, and self-play."""

import math
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from exactdice.agents.learners import q_learning
from exactdice.agents.learners.adapter import ModelPolicy
from exactdice.agents.learners.ceiling import ceiling
from exactdice.agents.learners.dqn import MaskedDQN, MaskedQRDQN
from exactdice.agents.learners.masked_a2c import MaskedA2C
from exactdice.agents.learners.planner import ModelTable, Planner
from exactdice.agents.learners.q_learning import MinimaxQLearning, QLearning, QTable
from exactdice.agents.learners.self_play import SelfPlay
from exactdice.agents.learners.vec_env import GameVecEnv
from exactdice.agents.runs.config import TrainConfig
from exactdice.agents.runs.folders import SELF_PLAY, load_model, read_log, read_score
from exactdice.agents.runs.train import train
from exactdice.baselines import Reading, Task, prepare, score_self_play
from exactdice.core import playing
from exactdice.core.moves import transitions
from exactdice.core.positions import states_of
from exactdice.games import FourTwoOne, FourTwoOneMatch, Greed, LowestScore, ShutTheBox
from gymnasium import spaces
from sb3_contrib import QRDQN
from small_games import Rounds
from stable_baselines3 import A2C, DQN

import exactdice


def learned(game, lanes, steps, **options):
    return QLearning(QTable, GameVecEnv(Task(game), lanes), seed=0, **options).learn(steps)


@pytest.mark.parametrize(
    "game",
    [pytest.param(Greed(8, 3), marks=pytest.mark.slow), FourTwoOne(2, 4, 2, utility="sum")],
    ids=repr,
)
def test_the_optimum_of_small_games_is_found(game):
    env = GameVecEnv(Task(game), 64)
    planner = Planner("ModelTable", env, prior=0.5, bonus=0.3, seed=0).learn(200_000)
    learner = learned(game, 256, 200_000)
    for model, share, within in ((learner, 0.998, 0.05), (planner, 0.99, 0.1)):
        assert exactdice.score(model, env).normalized > share
        start = int(np.argmax(prepare(env.task).initial))
        best = np.max(model.policy.of(np.array([start])))
        assert best == pytest.approx(exactdice.solve(env).values[0, start], abs=within)


def test_values_are_means_of_what_came_of_an_action():
    """With omega 1 and one update at a time the value is the mean of its targets."""
    model = learned(Greed(8, 3), 1, 0, omega=1.0)
    for target in (1.0, 0.0, 0.0, 1.0, 1.0):
        model._learn(np.array([5]), np.array([2]), np.array([target]))
    assert model.policy.values[5, 2] == pytest.approx(0.6)
    assert model.policy.visits[5, 2] == model.policy.visits.sum() == 5
    # Equal moves of one step count as often as they came.
    model = learned(Greed(8, 3), 1, 0, initial_value=1.0)
    model.policy.visits[5, 2] = 100
    model._learn(np.array([5, 5, 5]), np.array([2, 2, 2]), np.array([0.0, 0.0, 0.0]))
    assert model.policy.values[5, 2] == pytest.approx((1 - 103**-0.77) ** 3)


def test_only_legal_actions_are_taken_and_learnt_from():
    game = Greed(10, 3)
    model = learned(game, 8, 2000)
    assert model.policy.visits.numpy()[~game.mask(np.arange(game.num_states))].sum() == 0
    assert model.policy.visits.sum() == model.num_timesteps >= 2000


@pytest.mark.parametrize("initial", [0.0, 0.4])
def test_a_saved_table_has_the_rows_of_the_visited_states_alone(initial, tmp_path):
    path, game = tmp_path / "model.zip", ShutTheBox(8)
    model = learned(game, 8, 800, initial_value=initial)
    model.save(path)
    assert path.stat().st_size < model.policy.values.nbytes / 10
    trained = learned(game, 8, 800, initial_value=0.9)
    trained.set_parameters(str(path))
    for policy in (QLearning.load(path).policy, trained.policy):
        assert torch.equal(policy.values, model.policy.values)
        assert torch.equal(policy.visits, model.policy.visits)


@pytest.mark.parametrize("exponent", [0, 0.001, 0.25, 1 / 3, 0.5, 0.77, 1 - 1e-16, 1])
def test_powers_by_square_roots_are_those_of_the_library_up_to_three_units(exponent):
    bases = np.concatenate([np.arange(1, 3000), 3 ** np.arange(33), 2 ** np.arange(53)])
    expected = np.array([math.pow(base, exponent) for base in bases.tolist()])
    found = q_learning.power(bases, exponent)
    assert (np.abs(found - expected) <= 3 * np.spacing(expected)).all()


def test_whole_powers_are_products():
    bases, exponents = np.array([0.0, 1.0, 0.5, 0.999, 0.3]), np.array([1, 1024, 10, 1000, 0])
    expected = [0, 1, 2**-10, math.pow(0.999, 1000), 1]
    np.testing.assert_allclose(q_learning.whole_power(bases, exponents), expected, rtol=1e-13)


@pytest.mark.parametrize(
    "game",
    [
        Greed(6, 3),
        ShutTheBox(4, 2, 3),
        FourTwoOne(3, 2, 2, utility="set"),
        FourTwoOneMatch(2, faces=2, charge_casts=1, discharge_casts=2),
        Rounds(2, 4, Fraction(-1)),
    ],
    ids=repr,
)
def test_the_target_of_a_move_is_the_payoff_or_the_value_with_the_sign_of_the_next_player(game):
    model = MinimaxQLearning("QTable", GameVecEnv(Task(game), 1))
    rng = np.random.default_rng(0)
    table = rng.random((game.num_states, game.num_actions))
    model.policy.values[:] = model.policy.values.new_tensor(table)
    best = np.where(game.mask(np.arange(game.num_states)), table, -np.inf).max(axis=1)
    kinds = set()
    for seat in (0, 1):
        for state in rng.choice(states_of(game, seat), 60).tolist():
            action = rng.choice(np.flatnonzero(game.mask(np.array([state]))[0]))
            row = (np.array([number]) for number in (seat, state, action))
            (target,), (later,), (reached,) = model._play(*row, rng)
            chances, move = transitions(game, seat, state, action)
            wanted = set()
            for i in np.flatnonzero(chances):
                paid = move.payoffs[i, seat]  # before the end 0 in most games
                if move.over[i, seat]:
                    wanted.add((-1, state, paid))
                elif move.seats[i] == seat:
                    wanted.add((seat, move.states[i], paid + best[move.states[i]]))
                else:
                    other = sum(game.payoff_range) - best[move.states[i]]
                    wanted.add((1 - seat, move.states[i], paid + other))
            assert (later, reached, target) in wanted
            kinds.add(None if later < 0 else later == seat)
    assert len(kinds) >= 2  # the end of the game, and one player's or both players' next move


def test_the_table_converges_to_the_equilibrium():
    game, task = Greed(5, 3), Task(Greed(5, 3))
    model = MinimaxQLearning("QTable", GameVecEnv(task, 64), seed=1, initial_value=0.5)
    before = score_self_play(model, task)
    model.learn(100_000)
    after = score_self_play(model, task)
    assert after.exploitability < 0.02 < 0.1 < before.exploitability
    assert model.num_timesteps == model.policy.visits.sum()
    for seat in (0, 1):
        truth, states = exactdice.solve(Task(game, seat)).table, states_of(game, seat)
        often = model.policy.visits.numpy()[states] > 1000
        assert often.any()
        found = model.policy.values.numpy()[states]
        assert np.abs(found - truth[states])[often].max() < 0.1


def table(game, **options):
    seen = spaces.MultiDiscrete(game.observation_sizes)
    return ModelTable(seen, spaces.Discrete(game.num_actions), game, **options)


@pytest.mark.parametrize("bonus", [0.0, 0.3])
def test_the_plan_solves_the_equations_of_what_was_seen(bonus):
    game, rng = Greed(6, 3), np.random.default_rng(1)
    every = np.arange(game.num_states)
    mask = game.mask(every)
    model = table(game, default=0.4, prior=2.0, bonuses=(0.0, bonus), highest=1.0)
    paid, times = np.zeros(mask.shape), np.zeros((*mask.shape, game.num_states + 1))
    for _ in range(5):  # random moves, cycles among them
        states = rng.integers(12, size=40)
        actions = np.array([rng.choice(np.flatnonzero(mask[state])) for state in states])
        rewards, reached = rng.integers(2, size=40) * 1.0, rng.integers(-1, 14, size=40)
        rewards[reached >= 0] = 0.0
        model.learn(states, actions, rewards, reached)
        np.add.at(paid, (states, actions), rewards)
        np.add.at(times, (states, actions, reached), 1)  # -1 is the end
    taken = times.sum(axis=2)
    for plan, added in enumerate((0.0, bonus)):
        rows = model.rows(every, plan)
        best = np.append(np.where(mask, rows, -np.inf).max(axis=1), 0.0)
        total = paid + times @ best
        mean = ((2.0 * 0.4 + total.sum(axis=1)) / (2.0 + taken.sum(axis=1)))[:, None]
        values = (2.0 * mean + total) / (2.0 + taken) + added / np.sqrt(np.maximum(taken, 1))
        np.testing.assert_allclose(rows, np.minimum(values, 1.0), atol=1e-6)
    assert sorted(model.times) == sorted(times[times > 0])


def loaded(kind, policy):
    """Load the table of a game into that of a larger one."""
    small, large = (kind(policy, GameVecEnv(Task(Greed(size, 3)), 1)).policy for size in (8, 9))
    large.load_state_dict(small.state_dict())


def test_games_and_numbers_that_cannot_be_are_refused():
    large = SimpleNamespace(num_states=2**30, num_actions=8, observation_sizes=(2,))
    plan = {"default": 0.0, "prior": 1.0, "bonuses": (0.0, 0.0), "highest": 1.0}
    three, alone = LowestScore(2, 3, 3, 3), GameVecEnv(Task(FourTwoOne()), 2)
    for make, message in (
        (lambda: loaded(QLearning, "QTable"), "table must be of shape"),
        (lambda: loaded(Planner, "ModelTable"), "must be of Greed"),
        (lambda: SelfPlay(three), "self_play needs a zero-sum game for two players"),
        (lambda: MinimaxQLearning("QTable", alone), "self_play needs a zero-sum game for two pl"),
        (lambda: table(large, **plan), "the planner needs a smaller game"),
        (lambda: Planner("ModelTable", None, prior=0), "prior must be above 0, got 0"),
        (lambda: learned(Greed(8, 3), 1, 0, omega=1.5), "omega must be from 0 to 1, got 1.5"),
    ):
        with pytest.raises(exactdice.InputError, match=message):
            make()


DQN_OPTIONS = {
    "seed": 3, "learning_starts": 300, "buffer_size": 3000, "batch_size": 64, "device": "cpu",
    "train_freq": 4, "gradient_steps": 2, "target_update_interval": 160, "gamma": 1.0,
    "exploration_fraction": 0.8, "policy_kwargs": {"net_arch": [32]},
}  # fmt: skip
#: Few quantiles, as an update compares each with each.
QRDQN_OPTIONS = {**DQN_OPTIONS, "policy_kwargs": {"net_arch": [32], "n_quantiles": 10}}
KINDS = [(DQN, MaskedDQN, DQN_OPTIONS), (QRDQN, MaskedQRDQN, QRDQN_OPTIONS)]


@pytest.mark.parametrize("steps", [1200, pytest.param(2400, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("plain", "masked", "options"), KINDS)
def test_masked_dqn_is_dqn_to_the_last_float_when_all_actions_are_legal(
    plain, masked, options, steps
):
    """Through warm-up, exploration, greedy play, target updates and dozens of updates."""
    models = []
    for kind in (plain, masked):
        env = GameVecEnv(Task(Greed(10, 3, max_dice=5)), 8)
        models.append(kind("MlpPolicy", env, **options).learn(steps))
    assert models[0]._n_updates > steps // 24
    weights = [model.policy.state_dict() for model in models]
    torch.testing.assert_close(*weights, rtol=0, atol=0)
    for name in ("observations", "actions", "rewards"):
        replays = [getattr(model.replay_buffer, name) for model in models]
        assert np.array_equal(*replays)


@pytest.mark.parametrize(("kind", "options"), [each[1:] for each in KINDS])
def test_masked_dqn_never_takes_an_illegal_action_nor_learns_from_one(kind, options):
    env = GameVecEnv(Task(Greed(10, 3), 0, "random"), 8)
    model = kind("MlpPolicy", env, **options).learn(1500)
    buffer, game = model.replay_buffer, env.task.game
    observations = buffer.observations.reshape(-1, 3)
    legal = game.mask(game.encode(observations))
    assert legal[np.arange(len(legal)), buffer.actions.ravel()].all()
    assert not legal.all()
    target = model.q_net_target if kind is MaskedDQN else model.quantile_net_target
    values = target(torch.as_tensor(observations)).detach().numpy()
    values = values.mean(axis=1) if values.ndim == 3 else values
    assert np.isneginf(values[~legal]).all()
    assert np.isfinite(values[legal]).all()
    actions, _ = model.predict(observations, deterministic=True)
    assert legal[np.arange(len(legal)), actions].all()
    assert all(torch.isfinite(weight).all() for weight in model.policy.parameters())


def test_exploration_is_uniform_over_legal_actions():
    model = MaskedDQN("MlpPolicy", GameVecEnv(Task(Greed(10, 3)), 8), **DQN_OPTIONS)
    for own, count in ((0, 7), (7, 3), (10, 2)):
        seen = np.bincount(model._explore(np.tile([own, 3, 0], (6000, 1)))) / 6000
        assert len(seen) == count
        assert np.abs(seen - 1 / count).max() < 6 * np.sqrt(1 / count / 6000)
    assert model._explore(np.array([0, 0, 0])).shape == ()


@pytest.mark.parametrize("options", [{}, {"use_rms_prop": False, "normalize_advantage": True}])
def test_where_all_actions_are_legal_it_learns_as_the_original(options):
    """Sums of batches may differ in their last bit, and updates amplify them."""
    weights = []
    for model in (A2C, MaskedA2C):
        env = GameVecEnv(Task(Greed(10, 3, max_dice=5)), 8)
        trained = model("MlpPolicy", env, n_steps=4, ent_coef=0.01, seed=0, device="cpu", **options)
        weights.append(list(trained.learn(320).policy.parameters()))
    torch.testing.assert_close(*weights, rtol=1e-3, atol=1e-4)


def test_it_never_takes_an_illegal_action():
    env = GameVecEnv(Task(ShutTheBox(6)), 8)
    model = MaskedA2C("MlpPolicy", env, seed=0, device="cpu").learn(800)
    assert model.batch_size == 40
    assert not any("illegal_action" in info for info in model.ep_info_buffer)
    assert exactdice.score(model, env).masked


@pytest.mark.slow
def test_self_play_lowers_the_exploitability_of_both_seats(build, small):
    options = {"self_play": True, "num_envs": 256, "hyperparams": {"batch_size": "1024"}}
    untrained = build(**options)
    task = untrained.get_env().task
    assert exactdice.exploitability(ModelPolicy(untrained, task.game), task) > 0.2
    train(small(**options, steps=200_000))
    model, env = load_model(Path("runs/Greed-ppo-1"))
    assert exactdice.exploitability(ModelPolicy(model, env.task.game), env.task) < 0.05


def test_the_opponent_is_the_agent_as_it_is_now_and_the_seat_changes(build):
    model = build(env={"utility": "set", "faces": 3}, game="FourTwoOne")
    env, seats = model.get_env(), []

    class Watch(SelfPlay):
        def _on_rollout_start(self):
            super()._on_rollout_start()
            task = env.task
            seats.append(task.seat)
            now = ModelPolicy(model, task.game, Reading(deterministic=False))
            states = states_of(task.game, 1 - task.seat)
            law = now(task.game.observe(states, 1 - task.seat), task.game.mask(states))
            known = prepare(task).policies[1 - task.seat].probabilities(states)
            np.testing.assert_allclose(known, law, atol=1e-6)
            assert env.observation_space.contains(model._last_obs[0])

    model.learn(16 * 8 * 7, callback=[Watch(env.task.game)])
    assert seats == [0, 1, 0, 1]


@pytest.mark.parametrize("algorithm", [pytest.param("ppo", marks=pytest.mark.slow), "qlearning"])
def test_a_self_play_run_resumes_to_the_last_bit(small, interrupted, algorithm):
    options = {"self_play": True, "algorithm": algorithm}
    whole, parts = Path("whole"), interrupted(**options)
    right = train(small(**options, run_folder=whole))
    assert train(TrainConfig(resume=parts)).value == right.value
    logs = read_log(whole), read_log(parts)
    for name in SELF_PLAY:
        assert logs[0][name].tolist() == logs[1][name].tolist()
    assert read_score(whole)["steps"] == read_score(parts)["steps"]


def test_moves_of_both_seats_count(build, monkeypatch):
    played = []
    make = playing.make

    def counting(game, seats, *others):
        played.extend(seats.tolist())
        return make(game, seats, *others)

    for module in ("core.playing", "envs.engine.lanes"):
        monkeypatch.setattr(f"exactdice.{module}.make", counting)
    model = build()
    model.learn(3000, callback=[SelfPlay(model.get_env().task.game)])
    assert model.num_timesteps == len(played)
    assert 0.4 < np.mean(played) < 0.6


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["ppo", "dqn"])
def test_a_network_told_the_optimum_reaches_it_in_a_small_game(build, algorithm):
    model = build(algorithm=algorithm)
    assert ceiling(model, model.get_env().task).normalized > 0.999


@pytest.mark.parametrize("algorithm", ["ppo", "dqn"])
def test_a_model_that_has_learned_has_the_ceiling_of_a_new_one(build, monkeypatch, algorithm):
    """The last outputs of PPO have gradients, so that they have no deep copy."""
    monkeypatch.setattr("exactdice.agents.learners.ceiling.UPDATES", 2)
    model = build(algorithm=algorithm)
    task = model.get_env().task
    untrained = ceiling(model, task)
    assert untrained.normalized < 0.99
    model.learn(1000)
    weights = [weight.clone() for weight in model.policy.parameters()]
    assert ceiling(model, task).value == untrained.value
    assert all(map(torch.equal, weights, model.policy.parameters()))


def test_tables_and_models_of_another_game_have_no_ceiling(build):
    table = build(algorithm="qlearning")
    with pytest.raises(ValueError, match="model must have a network, got QLearning"):
        ceiling(table, table.get_env().task)
    with pytest.raises(ValueError, match="model must be trained for observations"):
        ceiling(build(), Task(FourTwoOne()))

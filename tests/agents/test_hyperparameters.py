"""Hyperparameters: files in the shape of rl_zoo3, and what is made of them."""

from importlib.resources import files

import pytest
import torch
import yaml
from exactdice.agents.config import TrainConfig
from exactdice.agents.models import make_callbacks, make_env, make_model
from exactdice.games import GAMES
from stable_baselines3 import DQN, PPO

FILES = sorted(path.name for path in files("exactdice.agents").joinpath("hyperparams").iterdir())


@pytest.mark.parametrize("game", list(GAMES))
@pytest.mark.parametrize(
    ("algorithm", "reward"),
    [
        ("ppo", "outcome"),
        ("ppo", "regret"),
        ("ppo", "shaped"),
        ("dqn", "outcome"),
        ("qlearning", "outcome"),
    ],
)
def test_every_game_has_hyperparameters_that_build_a_model(game, algorithm, reward):
    config = TrainConfig(game=game, algorithm=algorithm, reward=reward)
    model = make_model(config, make_env(config))
    assert config.total_steps >= 1_000_000
    assert all(hasattr(callback, "on_step") for callback in make_callbacks(config))
    if algorithm == "ppo":
        assert model.gamma == config.hyperparameters["gamma"]
        assert model.lr_schedule(1.0) == pytest.approx(
            float(config.hyperparameters["learning_rate"].removeprefix("lin_"))
        )
        assert model.lr_schedule(0.0) == 0.0
        assert model.env.engine.reward == reward


@pytest.mark.parametrize("name", [name for name in FILES if not name.startswith("q")])
def test_the_files_hold_what_rl_zoo3_reads(name):
    """Its keys, its shorthands, and for the rest arguments of the plain algorithms."""
    content = yaml.safe_load(files("exactdice.agents").joinpath("hyperparams", name).read_text())
    kind = PPO if name.startswith("ppo") else DQN
    zoo = {"n_envs", "n_timesteps", "policy", "env_kwargs", "callback"}
    assert content.keys() == {"default", *(f"exactdice/{game}-v0" for game in GAMES)}
    for entry in content.values():
        known = kind.__init__.__annotations__.keys()
        assert entry.keys() - zoo <= known
        assert {"policy", "n_timesteps"} <= entry.keys()
        if isinstance(entry.get("learning_rate"), str):
            shorthand, number = entry["learning_rate"].split("_")
            assert (shorthand, float(number) > 0) == ("lin", True)
        # rl_zoo3 runs this text as code, with nn in sight
        options = eval(entry["policy_kwargs"], {"nn": torch.nn})
        assert set(options) <= {"net_arch", "activation_fn"}


def test_texts_of_networks_are_read_without_running_them():
    config = TrainConfig(
        hyperparams={"policy_kwargs": "dict(activation_fn=nn.Tanh, net_arch=[8, 4])"}, num_envs=8
    )
    model = make_model(config, make_env(config))
    assert model.policy.activation_fn is torch.nn.Tanh
    assert model.policy.net_arch == [8, 4]


@pytest.mark.parametrize(
    "text",
    [
        "dict(net_arch=__import__('os').getcwd())",
        "dict(activation_fn=os.system)",
        "dict(activation_fn=nn.functional)",
        "dict(activation_fn=nn.Nothing)",
        "list(net_arch=[1])",
        "dict(",
        "3",
    ],
)
def test_other_texts_are_refused(text):
    config = TrainConfig(hyperparams={"policy_kwargs": text}, num_envs=8)
    with pytest.raises(ValueError, match="policy_kwargs must be a mapping or such as"):
        make_model(config, make_env(config))


def test_a_file_of_ones_own_and_changes_on_top(tmp_path):
    path = tmp_path / "mine.yml"
    path.write_text(
        "exactdice/Greed-v0: {n_envs: 4, n_timesteps: 2000.0, n_steps: 16, batch_size: 32,"
        " learning_rate: 0.01, env_kwargs: {max_score: 20, encoding: thermometer}}"
    )
    config = TrainConfig(conf=path, hyperparams={"n_steps": "8"}, env={"max_score": 10})
    env = make_env(config)
    model = make_model(config, env)
    assert (config.total_steps, env.num_envs, model.n_steps) == (2000, 4, 8)
    assert model.learning_rate == 0.01
    assert env.task.game.max_score == 10
    assert env.engine.encoding.name == "thermometer"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("exactdice/Chess-v0: {n_envs: 1}", "must hold a mapping for exactdice/Greed-v0"),
        ("[1, 2]", "must hold a mapping"),
        ("default: {n_envs: ]", "conf must be a YAML file"),
        ("default: {n_envs: 0, n_timesteps: 10}", "n_envs must be at least 1, got 0"),
        ("default: {n_envs: 1}", "n_timesteps must be at least 1, got None"),
        ("default: {n_envs: 1, n_timesteps: 9, env_kwargs: 3}", "env_kwargs must be a mapping"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(tmp_path, content, message):
    path = tmp_path / "conf.yml"
    path.write_text(content)
    with pytest.raises(ValueError, match=message):
        TrainConfig(conf=path)


@pytest.mark.parametrize(
    ("algorithm", "change", "message"),
    [
        ("ppo", {"momentum": "1"}, "hyperparameters must fit MaskablePPO: .*momentum"),
        ("ppo", {"learning_rate": "exp_3"}, "learning_rate must be a number or such as lin_0.003"),
        ("ppo", {"learning_rate": "fast"}, "learning_rate must be a number or such as lin_0.003"),
        (
            "ppo",
            {"learning_rate": ".nan"},
            "learning_rate must be a number or such as lin_0.003, got nan",
        ),
        (
            "ppo",
            {"clip_range": "lin_inf"},
            "clip_range must be a number or such as lin_0.003, got 'lin_inf'",
        ),
        ("ppo", {"ent_coef": "much"}, "ent_coef must be a number, got 'much'"),
        ("ppo", {"vf_coef": ".nan"}, "vf_coef must be a number, got nan"),
        ("ppo", {"n_epochs": "2.5"}, "n_epochs must be a whole number, got 2.5"),
        ("ppo", {"n_epochs": "true"}, "n_epochs must be a whole number, got True"),
        ("ppo", {"n_epochs": "0"}, "n_epochs must be at least 1, got 0"),
        ("ppo", {"gamma": "1.5"}, "gamma must be from 0 to 1, got 1.5"),
        ("ppo", {"n_epochs": "[1,"}, r"n_epochs must be a value in YAML, got '\[1,'"),
        (
            "dqn",
            {"exploration_fraction": "abc"},
            "exploration_fraction must be a number, got 'abc'",
        ),
        ("dqn", {"train_freq": "0"}, "train_freq must be at least 1, got 0"),
        ("qlearning", {"exploration_fraction": "0"}, "exploration_fraction must be above 0, got 0"),
        ("qlearning", {"n_steps": "0"}, "n_steps must be at least 1, got 0"),
        ("qlearning", {"omega": "-1"}, "omega must be from 0 to 1, got -1"),
    ],
)
def test_what_is_wrong_with_a_hyperparameter_is_said(algorithm, change, message):
    with pytest.raises(ValueError, match=message):
        _build(TrainConfig(algorithm=algorithm, hyperparams=change, num_envs=8))


def _build(config):
    return make_model(config, make_env(config))


def test_null_is_no_callback():
    assert make_callbacks(TrainConfig(hyperparams={"callback": "null"})) == []


def test_an_unknown_callback_is_named():
    config = TrainConfig(hyperparams={"callback": "os.system"})
    with pytest.raises(
        ValueError, match="callback must be one of .*FallingEntropy, got 'os.system'"
    ):
        make_callbacks(config)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ValueError, match="conf must be a YAML file, got .*none.yml"):
        TrainConfig(conf=tmp_path / "none.yml")


def test_entropy_falls_to_zero():
    config = TrainConfig(
        env={"max_score": 8},
        num_envs=8,
        steps=640,
        hyperparams={"ent_coef": "0.5", "batch_size": "64"},
    )
    model = make_model(config, make_env(config))
    (falling,) = make_callbacks(config)
    seen = []
    falling._on_rollout_end, inner = (
        lambda: (inner(), seen.append(model.ent_coef)),
        falling._on_rollout_end,
    )
    model.learn(config.total_steps, callback=[falling])
    assert seen == pytest.approx([0.5 * (1 - n / 10) for n in range(1, 11)])

"""Hyperparameters, their files and search spaces, the tracks, and the classes that users import."""

import inspect
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import get_type_hints

import numpy as np
import pytest
import torch
import yaml
from exactdice.agents.algorithms import ALGORITHMS
from exactdice.agents.learners.dqn import KeepsToLegal
from exactdice.agents.learners.q_learning import QLearning
from exactdice.agents.runs import hyperparameters as hp
from exactdice.agents.runs.config import TrainConfig
from exactdice.agents.runs.hyperparameters import Hyperparameters, fields_of, read_hyperparameters
from exactdice.agents.runs.models import make_callbacks, make_env, make_model
from exactdice.baselines import make_game
from exactdice.board.tracks import TRACKS, Track
from exactdice.envs import find_game
from exactdice.games import GAMES, InputError
from exactdice.look.charts import COLOURS
from optuna.trial import FixedTrial
from sb3_contrib import MaskablePPO
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm
from stable_baselines3.common.on_policy_algorithm import OnPolicyAlgorithm

import exactdice
from exactdice import agents

FOLDER = Path(str(files("exactdice.agents"))) / "hyperparams"
REGRET = FOLDER / "ppo-regret.yml"
TABLES = ("qlearning.yml", "planner.yml")
ZOO = [path for path in FOLDER.rglob("*.yml") if not path.name.endswith((*TABLES, "default.yml"))]


@pytest.mark.usefixtures("own_games")
def test_the_tracks_are_of_games_that_exist_and_their_marks_end_with_all_moves():
    for name, track in TRACKS.items():
        assert track.title == f"{name}, v2"
        made = {
            game: make_game(find_game(place).name, **track.keywords.get(game, {}))
            for game in track.games
            if not (place := track.place(game)).startswith("explore:")  # which takes seconds
        }
        if track.self_play:
            assert all(game.num_players == 2 and game.zero_sum for game in made.values())
        else:
            assert track.places or not track.keywords
        assert track.seeds == 5
        parts = np.array([1, 2, 5, 10, 20, 50, 100])
        assert track.marks == tuple(track.moves * parts // 100)
    paths = list(FOLDER.glob("*/*"))  # of hyperparameters
    assert {path.parent.name for path in paths} <= TRACKS.keys()
    assert {path.stem for path in paths} <= ALGORITHMS.keys()


def test_a_score_is_due_at_the_last_update_before_each_mark_which_takes_it():
    """By hand: the largest number of whole rollouts at or below each mark, each once."""
    tiny = Track("tiny", 1, 1000, ("FourTwoOne",))
    for rollout in (1, 7, 300, 1000):
        assert tiny.whole(rollout) == 1000 // rollout * rollout
        due = [moves for moves in range(0, 1000, rollout) if tiny.is_due(moves, rollout)]
        wanted = {mark // rollout * rollout for mark in tiny.marks} - {1000}
        assert due == sorted(wanted)
    scores = np.array([0.0, 0.1, 0.2, 0.3])
    assert tiny.at_marks([0, 20, 99, 990], scores) == [0.0, 0.1, 0.1, 0.2, 0.2, 0.2, 0.3]
    with pytest.raises(InputError, match=r"moves must begin before 10, got \[20\]"):
        tiny.at_marks([20, 99], scores[:2])


@pytest.mark.usefixtures("own_games")
@pytest.mark.parametrize("name", TRACKS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_file_of_a_track_fits_its_games(name, algorithm):
    track = TRACKS[name]
    if track.self_play and not ALGORITHMS[algorithm].plays_itself:
        pytest.skip("it does not learn by self-play")
    for game in track.games:
        place, own = track.place(game), (FOLDER / name / f"{algorithm}.yml").exists()
        if track.places and (place.startswith("explore:") or not own):
            continue
        options = {"env": dict(track.keywords.get(game, {})), "self_play": track.self_play}
        config = TrainConfig(place, track=name, algorithm=algorithm, **options)
        steps = config.total_steps
        assert steps <= track.moves < steps + config.hyperparameters.rollout


def at_end(end, **fixed):
    """Make a trial that draws the first or the last value of each range, but for some names."""
    number = lambda name, low, high, *, log=False: fixed.get(name, (low, high)[end])  # noqa: E731
    option = lambda name, options: options[end]  # noqa: E731
    return SimpleNamespace(suggest_float=number, suggest_int=number, suggest_categorical=option)


@pytest.mark.parametrize("track", ["exactdice-10k", "exactdice-100k", "exactdice-1m"])
@pytest.mark.parametrize("algorithm", [name for name, each in ALGORITHMS.items() if each.space])
def test_both_ends_of_every_space_are_hyperparameters_with_many_updates(algorithm, track):
    moves = TRACKS[track].moves
    for end in (0, -1):
        chosen = ALGORITHMS[algorithm].space(at_end(end), moves)
        checked = read_hyperparameters(algorithm, {**chosen, "n_timesteps": moves})
        assert moves // checked.rollout >= 19
        assert 0.9 * moves < moves // checked.rollout * checked.rollout <= moves
        if algorithm == "ppo":  # a trial takes minutes
            chosen = ALGORITHMS["ppo"].space(at_end(0, n_epochs=16), moves)
            assert chosen["n_epochs"] * moves / chosen["batch_size"] <= 130_000


def test_draws_that_are_no_hyperparameters_determine_some():
    draws = {"encoding": "thermometer", "width": 7, "activation": "Tanh", "n_envs": 4}
    draws |= {"updates": 2504.0, "batch_size": 5, "warmup": 0.0251, "copies": 100.0}
    draws |= {"learning_rate": 0.0012345, "exploration_fraction": 0.5}
    draws |= {"exploration_final_eps": 0.05, "quantiles": 4, "n_steps": 3, "decay": 0.01234}
    many = ALGORITHMS["qrdqn"].space(FixedTrial(draws), 10_000)
    assert many["policy_kwargs"] == (
        "dict(activation_fn=nn.Tanh, net_arch=[128, 128], optimizer_class=th.optim.AdamW, "
        "optimizer_kwargs=dict(weight_decay=0.0123), n_quantiles=16)"
    )
    assert many["env_kwargs"] == {"encoding": "thermometer"}
    assert many["learning_rate"] == "lin_0.00123"
    assert (many["n_envs"], many["batch_size"], many["buffer_size"]) == (16, 32, 10_000)
    assert (many["learning_starts"], many["target_update_interval"]) == (251, 100)
    assert (many["train_freq"], many["gradient_steps"]) == (1, 4)
    few = ALGORITHMS["ndqn"].space(FixedTrial({**draws, "updates": 504.0}), 10_000)
    assert (few["train_freq"], few["gradient_steps"], few["n_steps"]) == (1, 1, 3)
    fewer = ALGORITHMS["dqn"].space(at_end(0, updates=312.0, n_envs=4), 10_000)
    assert (fewer["train_freq"], fewer["gradient_steps"]) == (2, 1)


def test_public_classes_are_imported_at_their_first_use_or_say_what_to_install(monkeypatch):
    for name in agents.__all__:
        assert getattr(agents, name).__module__.startswith("exactdice.agents.")
        assert getattr(agents, name).__qualname__ == name
    with pytest.raises(AttributeError, match="No exactdice.agents attribute SARSA"):
        agents.SARSA  # noqa: B018
    monkeypatch.setattr(agents, "find_spec", lambda _name: None)
    assert not {*agents.__all__} & {*dir(agents)}
    error = ModuleNotFoundError("no", name="torch")
    monkeypatch.setattr(agents, "_load", lambda _name: (_ for _ in ()).throw(error))
    monkeypatch.delitem(vars(agents), "QTable", raising=False)
    with pytest.raises(ModuleNotFoundError, match=r"QTable needs .* \(torch\): .*\[agents\]"):
        agents.QTable  # noqa: B018


@pytest.mark.parametrize("game", list(GAMES))
@pytest.mark.parametrize(
    ("algorithm", "reward"),
    [*((name, "outcome") for name in ALGORITHMS), ("ppo", "regret"), ("ppo", "shaped")],
)
def test_every_game_has_hyperparameters_that_build_a_model(small_env, game, algorithm, reward):
    config = TrainConfig(game=game, env=small_env(game), algorithm=algorithm, reward=reward)
    model = make_model(config, make_env(config))
    assert config.total_steps >= 1_000_000
    assert all(hasattr(callback, "on_step") for callback in make_callbacks(config))
    if algorithm == "ppo":
        assert model.gamma == config.hyperparameters.gamma
        rate = float(config.hyperparameters.learning_rate.removeprefix("lin_"))
        assert model.lr_schedule(1.0) == pytest.approx(rate)
        assert model.lr_schedule(0.0) == 0.0
        assert model.env.engine.reward == reward


def test_hyperparameters_are_documented_and_of_some_algorithm_whose_colour_is_its_own():
    lines = inspect.getsource(Hyperparameters).splitlines()
    for name in Hyperparameters.__annotations__:
        (place,) = (n for n, line in enumerate(lines) if line.startswith(f"    {name}: "))
        assert lines[place + 1].startswith('    """')
    of_any = {name for algorithm in ALGORITHMS for name in fields_of(algorithm).model_fields}
    assert of_any == set(Hyperparameters.__annotations__)
    assert len(ALGORITHMS) <= len(COLOURS)


@pytest.mark.parametrize("algorithm", list(ALGORITHMS))
def test_a_record_says_how_its_model_learns(algorithm):
    record = ALGORITHMS[algorithm]
    model = record.load()
    kinds = {"rollouts": OnPolicyAlgorithm, "replay": OffPolicyAlgorithm, "games": BaseAlgorithm}
    assert issubclass(model, kinds.get(record.learns_from, QLearning))
    tables = {"qlearning": "QTable", "planner": "ModelTable"}
    assert next(iter(model.policy_aliases)) == tables.get(algorithm, "MlpPolicy")
    assert record.masked == issubclass(model, (MaskablePPO, KeepsToLegal, QLearning))
    assert (record.learns_from == "replay") == issubclass(model, OffPolicyAlgorithm)


@pytest.mark.parametrize("path", sorted(ZOO), ids=lambda path: str(path.relative_to(FOLDER)))
def test_the_files_hold_what_rl_zoo3_reads(path):
    """Its keys, its shorthands, and for the rest arguments of the plain algorithms."""
    content = yaml.safe_load(path.read_text())
    algorithm = path.stem.removesuffix("-regret")
    known = inspect.signature(ALGORITHMS[algorithm].load()).parameters.keys()
    zoo = {"n_envs", "n_timesteps", "policy", "env_kwargs", "callback"}
    assert "default" in content  # which is what games without an entry take
    content.pop("trials", 0)  # which is no environment, and which rl_zoo3 never reads
    assert content.keys() - {"default"} <= {f"exactdice/{game}-v0" for game in GAMES}
    for entry in content.values():
        assert entry.keys() - zoo <= known
        assert {"policy", "n_timesteps"} <= entry.keys()
        if isinstance(entry.get("learning_rate"), str):
            shorthand, number = entry["learning_rate"].split("_")
            assert (shorthand, float(number) > 0) == ("lin", True)
        # rl_zoo3 runs this text as code, with nn in sight
        options = eval(entry["policy_kwargs"], {"nn": torch.nn})
        assert set(options) <= {"net_arch", "activation_fn", "n_quantiles"}


def test_the_text_of_a_network_that_rl_zoo3_runs_is_read(build, tmp_path):
    text = (
        "dict(activation_fn=nn.Tanh, net_arch=[8, 4], optimizer_class=th.optim.AdamW, "
        "optimizer_kwargs=dict(weight_decay=3))"
    )
    model = build(game="FourTwoOne", env={}, hyperparams={"policy_kwargs": text})
    known = eval(text, {"nn": torch.nn, "th": torch})
    assert model.policy.activation_fn is known["activation_fn"]
    assert model.policy.net_arch == known["net_arch"]
    assert type(model.policy.optimizer) is known["optimizer_class"]
    assert [group["weight_decay"] for group in model.policy.optimizer.param_groups] == [3]
    model.save(tmp_path / "model.zip")  # with the class of its optimizer
    assert exactdice.score(tmp_path / "model.zip", "exactdice/FourTwoOne-v0").value > 0


def test_a_file_of_ones_own_and_changes_on_top(tmp_path):
    path = tmp_path / "mine.yml"
    path.write_text(
        "exactdice/Greed-v0: {n_envs: 4, n_timesteps: 2000.0, n_steps: 16, batch_size: 32,"
        " learning_rate: 0.01, env_kwargs: {max_score: 20, encoding: thermometer}}"
    )
    config = TrainConfig(conf=path, hyperparams={"n_steps": "8"}, env={"max_score": 10})
    model = make_model(config, env := make_env(config))
    assert (config.total_steps, env.num_envs, model.n_steps) == (2000, 4, 8)
    assert model.learning_rate == 0.01
    assert env.task.game.max_score == 10
    assert env.engine.encoding.name == "thermometer"


def test_what_is_wrong_with_a_file_is_said(tmp_path):
    path = tmp_path / "conf.yml"
    for content, message in (
        (None, "conf must be a YAML file, got .*conf.yml: No such file"),
        ("exactdice/Chess-v0: {n_envs: 1}", "must hold a mapping for exactdice/Greed-v0"),
        ("[1, 2]", "must hold a mapping"),
        ("default: {n_envs: ]", "conf must be a YAML file"),
        ("default: {n_envs: 0, n_timesteps: 10}", "n_envs must be at least 1, got 0"),
        ("default: {n_envs: 1}", "n_timesteps must be given, got none"),
        ("default: {n_envs: 1, n_timesteps: 9, env_kwargs: 3}", "env_kwargs must be a mapping"),
    ):
        if content:
            path.write_text(content)
        with pytest.raises(InputError, match=message):
            TrainConfig(conf=path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("dqn optimize_memory_usage true", "must be among .*, got 'optimize_memory_usage'"),
        ("ppo policy CnnPolicy", "policy must be MlpPolicy, got 'CnnPolicy'"),
        ("ppo clip_range_vf lin_0", "clip_range_vf must be above 0, got 'lin_0'"),
        ("ppo learning_rate 1e30", "learning_rate must be at most 1, got '1e30'"),
        ("ppo normalize_advantage 1", "normalize_advantage must be true or false, got 1"),
        ("ppo batch_size 1", "batch_size must leave no batch of a single move"),
        ("ppo callback os.system", "callback must be exactdice.agents.FallingEntropy, got"),
        ("dqn callback x", "hyperparameters of dqn must be among .*, got 'callback'"),
        ("dqn exploration_fraction 0", "exploration_fraction must be above 0, got 0"),
        ("dqn n_steps 2000000", "n_steps must be at most buffer_size 1000000, got 2000000"),
        ("ppo learning_rate fast", "learning_rate must be a number or such as lin_0.003"),
        ("ppo clip_range lin_inf", "clip_range must be a number or .* lin_0.003, got 'lin_inf'"),
        ("ppo n_epochs 2.5", "n_epochs must be a whole number, got 2.5"),
        ("ppo n_epochs [1,", r"n_epochs must be a value in YAML, got '\[1,'"),
        ("ppo policy_kwargs dict(net_arch=f())", "policy_kwargs must be a mapping or such as"),
        ("ppo policy_kwargs dict(activation_fn=os.system)", "policy_kwargs must be a mapping or"),
        ("ppo policy_kwargs dict(", "policy_kwargs must be a mapping or such as"),
        ("ppo policy_kwargs dict(net_arch=" + "(" * 5000 + ")", "must be a mapping or such as"),
        ("ppo policy_kwargs 3", "policy_kwargs must be a mapping or such as .*, got 3"),
        ("ppo policy_kwargs {net_arch: [-1]}", "net_arch must be at least 1, got -1"),
        ("ppo policy_kwargs {net_arch: 64}", "net_arch must be a list, got 64"),
        ("ppo policy_kwargs {net_arch: {vf: [x]}}", "net_arch vf must be a whole number, got 'x'"),
        ("ppo policy_kwargs {net_arch: {pi: 8}}", "net_arch pi must be a list, got 8"),
        ("ppo policy_kwargs {net_arch: {qf: [8]}}", "net_arch qf must be pi or vf, got 'qf'"),
        ("ppo policy_kwargs {1: 2}", "policy_kwargs must be among net_arch, .*, got 1"),
        ("ppo policy_kwargs {dim: 3}", "policy_kwargs must be among net_arch, .*, got 'dim'"),
        ("ppo policy_kwargs {optimizer_class: SGD}", "optimizer_class must be AdamW, got 'SGD'"),
        ("ppo policy_kwargs {optimizer_kwargs: {weight_decay: -1}}", "at least 0, got -1"),
        ("ppo policy_kwargs {optimizer_kwargs: {weight_decay: 1}}", "needs optimizer_class="),
        ("ppo policy_kwargs {optimizer_kwargs: {lr: 1}}", "lr must be weight_decay, got 'lr'"),
        ("ppo policy_kwargs dict(activation_fn=nn.Module)", "must be CELU, .*, got 'nn.Module'"),
        ("ppo policy_kwargs dict(n_quantiles=5)", "must fit MaskablePPO: .* 'n_quantiles'"),
    ],
)
def test_what_is_wrong_with_a_hyperparameter_is_said(build, change, message):
    algorithm, name, value = change.split(" ", 2)
    with pytest.raises(InputError, match=message):
        build(algorithm=algorithm, hyperparams={name: value})


@pytest.mark.parametrize("value", [".nan", "-1e300", "1e300", "[1]", "{a: 1}", "'a\nb'", "''"])
def test_no_hyperparameter_takes_just_anything(value):
    """Refused in one line that names it, whatever it is; texts and callbacks are their own case."""
    free = {"callback", "env_kwargs"}
    finite = {"-1e300": [hp.Number], "1e300": [hp.Number, hp.Weight, hp.Positive, hp.Clip]}
    types = get_type_hints(Hyperparameters, include_extras=True)
    known = {name: one for one in ALGORITHMS for name in fields_of(one).model_fields}
    for name in (name for name in known.keys() - free if types[name] not in finite.get(value, [])):
        with pytest.raises(InputError) as refusal:
            TrainConfig(algorithm=known[name], hyperparams={name: value})
        assert str(refusal.value).startswith(f"{name} must be ")
        assert "\n" not in str(refusal.value)


def test_numbers_are_read_as_people_write_them():
    """YAML takes 1e-3 for a text, and 3.0 for no whole number; in Python they are numbers."""
    changes = {"ent_coef": "1e-3", "n_epochs": "3.0", "gamma": 1, "batch_size": "1_000"}
    known = TrainConfig(hyperparams=changes).hyperparameters
    assert [getattr(known, name) for name in changes] == [0.001, 3, 1.0, 1000]
    assert isinstance(known.gamma, float)
    assert isinstance(known.n_epochs, int)


TRACK = {"track": "exactdice-10k"}
WIDE = {"n_steps": "16", "batch_size": "64"}
SELF = {"self_play": True}
SHAPED = {"algorithm": "qlearning", "reward": "shaped"}  # whose targets are of outcomes


@pytest.mark.parametrize("options", [{"reward": "regret"}, {"conf": REGRET}, {"conf": str(REGRET)}])
def test_the_reward_is_named_by_an_option_or_a_file(options):
    """And the hyperparameters are those for it: a gamma of 0 is for the regret alone."""
    config = TrainConfig(**options)
    assert config.reward == config.to_json()["reward"] == "regret"
    assert config.hyperparameters.env_kwargs == {"reward": "regret"}
    assert config.hyperparameters.gamma == 0
    assert make_env(config).engine.reward == "regret"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"conf": REGRET, "reward": "outcome"}, "must be regret, as in the file of --conf, got ou"),
        ({"env": {"reward": "shaped"}}, "reward must be given by --reward, got it in env"),
        ({"reward": ""}, "reward must be outcome, regret or shaped, got ''"),
        ({"reward": "regrets"}, "got 'regrets'; did you mean regret?"),
        ({"hyperparams": {"n_timesteps": "8"}}, "n_timesteps must be given by --steps, got it in"),
        ({"hyperparams": {"n_envs": "3"}}, "n_envs must be given by --num-envs, got it in hyperp"),
        ({"hyperparams": {"env_kwargs": "{seat: 0}"}}, "env_kwargs must be given by --env, got it"),
        ({"wandb": ""}, "wandb must be a text that is not empty, got ''"),
        ({"seed": 2**32}, r"seed must be below 4294967296, got 4294967296"),
        ({"algorithm": "sarsa"}, "algorithm must be one of 'ppo', .*, got 'sarsa'"),
        ({"steps": 1.5}, "steps must be a whole number, got 1.5"),
        ({"self_play": "no"}, "self_play must be true or false, got 'no'"),
        ({"stop_at": "x"}, "stop_at must be a number, got 'x'"),
        ({"stop_at": 1.5}, "stop_at must be at most 1, got 1.5"),
        ({**SELF, "algorithm": "dqn"}, "needs the algorithm ppo, qlearning or a2c-masked, got dqn"),
        ({**SELF, **SHAPED}, "reward must be outcome in self_play of qlearning"),
        ({"resume": Path("x"), "steps": 5}, "resume must be the only option.*got steps"),
        ({"track": "exactdice-7k"}, "track must be one of 'exactdice-10k', 'exactdice-100k'"),
        ({**TRACK, "steps": 500}, "steps must be left to the track exactdice-10k, got 500"),
        ({**TRACK, "eval_interval": 500}, "eval_interval must be left to the track .*, got 500"),
        ({**TRACK, "stop_at": 0.9}, r"stop_at must be left to the track exactdice-10k, got 0\.9"),
        ({**TRACK, "reward": "regret"}, "reward must be outcome on the track exactdice-10k, as"),
        ({**TRACK, **SELF}, "self_play must be off on the track exactdice-10k, got Tru"),
        ({"track": "exactdice-selfplay-1m"}, "self_play must be given on the track .*, got False"),
        ({**TRACK, "num_envs": 1000, "hyperparams": WIDE}, "at most 10,000 on the .*, got 16,000"),
    ],
)
def test_wrong_options_are_named(options, message):
    with pytest.raises(InputError, match=message):
        TrainConfig(**options)


def test_entropy_falls_to_zero():
    assert make_callbacks(TrainConfig(hyperparams={"callback": "null"})) == []
    changes = {"ent_coef": "0.5", "batch_size": "64"}
    config = TrainConfig(env={"max_score": 8}, num_envs=8, steps=640, hyperparams=changes)
    model, seen = make_model(config, make_env(config)), []

    class Watch(BaseCallback):
        def _on_step(self):
            return True

        def _on_rollout_end(self):
            seen.append(self.model.ent_coef)

    model.learn(config.total_steps, callback=[*make_callbacks(config), Watch()])
    assert seen == pytest.approx([0.5 * (1 - n / 10) for n in range(1, 11)])

"""The tracks, their files and search spaces, and the classes that users import."""

from pathlib import Path

import numpy as np
import pytest
from exactdice.agents.algorithms import ALGORITHMS
from exactdice.agents.runs.config import TrainConfig
from exactdice.agents.runs.hyperparameters import read_hyperparameters
from exactdice.agents.tracks import TRACKS, Track
from exactdice.baselines import make_game
from exactdice.core import InputError
from optuna.trial import FixedTrial

from exactdice import agents

TINY = Track("tiny", 1, 1000, ("FourTwoOne",))


def test_the_tracks_are_of_games_that_exist_and_their_marks_end_with_all_moves():
    for name, track in TRACKS.items():
        assert track.title == f"{name}, v2"
        made = {game: make_game(game, **track.keywords.get(game, {})) for game in track.games}
        if track.self_play:
            assert all(game.num_players == 2 and game.zero_sum for game in made.values())
        else:
            assert not track.keywords
        assert track.seeds == 5
        assert track.marks[-1] == track.moves
        assert track.marks == tuple(
            track.moves * part // 100 for part in (1, 2, 5, 10, 20, 50, 100)
        )


@pytest.mark.parametrize("rollout", [1, 7, 300, 1000])
def test_a_score_is_due_at_the_last_update_before_each_mark(rollout):
    """By hand: the largest number of whole rollouts at or below each mark, each once."""
    assert TINY.whole(rollout) == 1000 // rollout * rollout
    due = [moves for moves in range(0, 1000, rollout) if TINY.is_due(moves, rollout)]
    wanted = {mark // rollout * rollout for mark in TINY.marks} - {1000}
    assert due == sorted(wanted)


def test_a_mark_takes_the_last_score_before_it_if_there_is_one():
    scores = np.array([0.0, 0.1, 0.2, 0.3])
    assert TINY.at_marks([0, 20, 99, 990], scores) == [0.0, 0.1, 0.1, 0.2, 0.2, 0.2, 0.3]
    with pytest.raises(InputError, match=r"moves must begin before 10, got \[20\]"):
        TINY.at_marks([20, 99], np.array([0.0, 0.1]))


@pytest.mark.parametrize("name", TRACKS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_file_of_a_track_fits_its_games(name, algorithm):
    track = TRACKS[name]
    if track.self_play and not ALGORITHMS[algorithm].plays_itself:
        pytest.skip("it does not learn by self-play")
    for game in track.games:
        env = dict(track.keywords.get(game, {}))
        config = TrainConfig(
            game=game, env=env, track=name, algorithm=algorithm, self_play=track.self_play
        )
        assert config.total_steps <= TRACKS[name].moves
        assert config.total_steps + config.hyperparameters.rollout > TRACKS[name].moves


def test_every_folder_of_hyperparameters_is_of_a_track():
    folder = Path(__file__).parents[2] / "agents/hyperparams"
    paths = list(folder.glob("*/*"))
    assert {path.parent.name for path in paths} <= TRACKS.keys()
    assert {path.stem for path in paths} <= ALGORITHMS.keys()


class AtEnd:
    """A trial that draws the first or the last value of each range, but for some names."""

    def __init__(self, end, **fixed):
        self._end, self._fixed = end, fixed

    def suggest_float(self, name, low, high, *, log=False):
        return self._fixed.get(name, (low, high)[self._end])

    suggest_int = suggest_float

    def suggest_categorical(self, name, options):
        return options[self._end]


@pytest.mark.parametrize("track", ["exactdice-10k", "exactdice-100k", "exactdice-1m"])
@pytest.mark.parametrize("algorithm", [name for name, each in ALGORITHMS.items() if each.space])
def test_both_ends_of_every_space_are_hyperparameters_with_many_updates(algorithm, track):
    moves = TRACKS[track].moves
    for end in (0, -1):
        chosen = ALGORITHMS[algorithm].space(AtEnd(end), moves)
        checked = read_hyperparameters(algorithm, {**chosen, "n_timesteps": moves})
        assert moves // checked.rollout >= 19
        assert 0.9 * moves < moves // checked.rollout * checked.rollout <= moves
        if algorithm == "ppo":  # a trial takes minutes
            chosen = ALGORITHMS["ppo"].space(AtEnd(0, n_epochs=16), moves)
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
    fewer = ALGORITHMS["dqn"].space(AtEnd(0, updates=312.0, n_envs=4), 10_000)
    assert (fewer["train_freq"], fewer["gradient_steps"]) == (2, 1)


@pytest.mark.parametrize("name", agents.__all__)
def test_public_classes_are_imported_at_their_first_use(name):
    found = getattr(agents, name)
    assert found.__module__.startswith("exactdice.agents.")
    assert found.__qualname__ == name


def test_without_their_libraries_the_classes_are_not_listed_and_say_what_to_install(monkeypatch):
    with pytest.raises(AttributeError, match="No exactdice.agents attribute SARSA"):
        agents.SARSA  # noqa: B018
    monkeypatch.setattr(agents, "find_spec", lambda _name: None)
    assert not {*agents.__all__} & {*dir(agents)}
    error = ModuleNotFoundError("no", name="torch")
    monkeypatch.setattr(agents, "_load", lambda _name: (_ for _ in ()).throw(error))
    monkeypatch.delitem(vars(agents), "QTable", raising=False)
    with pytest.raises(ModuleNotFoundError, match=r"QTable needs .* \(torch\): .*\[agents\]"):
        agents.QTable  # noqa: B018

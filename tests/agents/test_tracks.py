"""The tracks: budgets of moves, marks, and the files of hyperparameters."""

from pathlib import Path

import numpy as np
import pytest
from exactdice.agents.algorithms import ALGORITHMS
from exactdice.agents.runs.config import TrainConfig
from exactdice.agents.tracks import TRACKS, Track
from exactdice.baselines import make_game
from exactdice.core import InputError

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


@pytest.mark.parametrize(("rollout", "whole"), [(1, 1000), (256, 768), (999, 999), (1000, 1000)])
def test_whole_rollouts_stay_within_the_track(rollout, whole):
    assert TINY.whole(rollout) == whole


@pytest.mark.parametrize("rollout", [1, 7, 64, 300, 1000])
def test_a_score_is_due_at_the_last_update_before_each_mark(rollout):
    """By hand: the largest number of whole rollouts at or below each mark, each once."""
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

"""The search for hyperparameters: what it draws, stops, repeats and writes."""

import csv
import io
import math
from functools import cache, partial
from unittest.mock import Mock

import pytest
import yaml
from checkout import ROOT
from exactdice.agents.algorithms import ALGORITHMS
from exactdice.agents.runs.config import RunError, TrainConfig
from exactdice.agents.runs.train import train
from exactdice.board import trial
from exactdice.board import tune as tuner
from exactdice.board.grid import TuneConfig
from exactdice.board.tracks import TRACKS, Track
from exactdice.board.tune import FINAL_SEEDS, RUNGS, draw_importances, importances, open_study, tune
from exactdice.core import InputError, WriteError
from exactdice.games import Greed
from full_disk import no_file_above
from optuna.pruners import NopPruner
from optuna.trial import TrialState
from rich.console import Console
from sb3_contrib import MaskablePPO
from thinning import later

GAMES = ("FourTwoOne", "Greed", "LowestScore")
ONE = ("FourTwoOne",)
QUIET = Console(quiet=True)
CHOSEN = {"n_envs": 2, "n_timesteps": 640, "omega": 0.77, "initial_value": -3}


@pytest.fixture(autouse=True, scope="module")
def tiny():
    """Put a track of 640 moves beside the others, and draw no pictures."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(TRACKS, "tiny", Track("tiny", 1, 640, GAMES))
        patch.setattr(tuner, "RANDOM_TRIALS", 3)
        patch.setattr(tuner, "draw_importances", lambda _study, _folder: [])
        yield


#: Options of a search of 5 trials with one job.
options = partial(TuneConfig, track="tiny", algorithm="qlearning", trials=5, jobs=1)


@pytest.fixture
def search(tmp_path):
    return partial(options, folder=tmp_path / "search")


def by_formula(calls, diverging=()):
    """Make a function that replaces training, notes its calls and scores by omega and seed."""

    def run_trial(config, hyperparameters, seed, report):
        calls.append((hyperparameters, seed))
        if (hyperparameters["omega"], seed) in diverging:
            raise trial.DivergedError
        score = 1 - hyperparameters["omega"] / 2 - (seed - 1000) * 0.001
        for number, _game in enumerate(config.chosen_games):
            for percent in (50, 100):
                report(100 * number + percent, trial.bounded_nines(score))
        return dict.fromkeys(config.chosen_games, score)

    return run_trial


@pytest.fixture
def formula(monkeypatch):
    """Replace training by a formula of the hyperparameters; return the list of its calls."""
    calls = []
    monkeypatch.setattr(tuner, "run_trial", by_formula(calls))
    return calls


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    """Search among 13 trials by the formula, once for all tests that only read what it finds."""

    @cache
    def run(games=None):
        folder = tmp_path_factory.mktemp("it") / "s"
        calls, config = [], options(folder=folder, trials=13, games=games)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tuner, "run_trial", by_formula(calls))
            tune(config, QUIET)
        return config, calls

    return run


@pytest.fixture
def known(tmp_path):
    (tmp_path / "known.yml").write_text(yaml.safe_dump({"default": CHOSEN}))
    return tmp_path / "known.yml"


def drawn(config):
    return [(each.params, each.state, each.value) for each in tuner.over(open_study(config))]


def found(config):
    return yaml.safe_load((config.place / "qlearning.yml").read_text())


def rows(config):
    """Read the table of the trials, best first."""
    with (config.place / "trials.csv").open() as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("algorithm", [later("ppo"), "qlearning"])
def test_a_trial_of_self_play_has_exploitability_as_its_score(search, monkeypatch, algorithm):
    env = {"max_score": 10, "sides": 3}
    tiny = Track("tiny", 1, 2000, ("Greed",), keywords={"Greed": env}, self_play=True)
    monkeypatch.setitem(TRACKS, "tiny", tiny)
    points, scored, updates = {}, [], []

    def watched(policy, task, ask=trial.score_self_play):
        assert task.game == Greed(**env)
        scored.append(ask(policy, task))
        return scored[-1]

    def counted(model, learn=MaskablePPO.train):
        updates.append(model.num_timesteps)
        learn(model)

    monkeypatch.setattr(MaskablePPO, "train", counted)
    monkeypatch.setattr(trial, "score_self_play", watched)
    more = {"n_steps": 8, "batch_size": 64, "policy": "MlpPolicy"} if algorithm == "ppo" else {}
    config, sizes = search(algorithm=algorithm), {"n_envs": 8, **more}
    found = trial.run_trial(config, sizes, 3, points.__setitem__)
    assert found == {"Greed": scored[-1].normalized}
    assert points == {50: points[50], 100: trial.bounded_nines(found["Greed"])}
    assert all(moves <= 2000 for moves in updates)
    assert len(updates) > 10 or algorithm == "qlearning"


@pytest.mark.usefixtures("formula")
def test_the_same_search_draws_the_same_trials(search, searched, tmp_path):
    tune(search(trials=4), QUIET)
    known = drawn(searched()[0])
    assert drawn(search()) == known[:4]
    other = search(trials=1, seed=1, folder=tmp_path / "other")
    tune(other, QUIET)
    assert drawn(other)[0] != known[0]


@pytest.mark.slow
@pytest.mark.usefixtures("formula")
def test_searches_of_two_machines_may_share_a_storage(search, tmp_path):
    shared = partial(search, trials=2, storage=f"sqlite:///{tmp_path / 'shared.db'}")
    first, second = (shared(folder=tmp_path / machine / "mine") for machine in "ab")
    tune(first, QUIET)
    tune(second, QUIET)
    assert drawn(first) == drawn(second)
    assert rows(first) == rows(second)
    assert not (first.place / "search.db").exists()


def test_a_search_that_was_stopped_goes_on_and_a_finished_one_trains_nothing(
    search, formula, monkeypatch
):
    def stopped(*arguments, real=tuner.run_trial):
        if len(formula) == 2:
            raise KeyboardInterrupt
        return real(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(tuner, "run_trial", stopped)
        with pytest.raises(KeyboardInterrupt):
            tune(search(trials=4), QUIET)
    before = drawn(search())
    assert len(before) == 2
    for trials, number in ((4, 4), (3, 4), (5, 5)):
        done = len(formula)
        tune(search(trials=trials), QUIET)
        found = drawn(search())
        assert found[: len(before)] == before
        assert len(found) == number
        assert (len(formula) == done) == (number == len(before))
        before = found


def test_a_search_begins_with_known_hyperparameters_as_they_are(search, formula, known):
    config = search(trials=3, begin_with=known)
    for _ in range(2):  # the second call does not begin anew
        tune(config, QUIET)
        assert len(drawn(config)) == 3
        assert next(each for each, seed in formula if seed == 1000) == CHOSEN
    assert {row["trial"]: row["initial_value"] for row in rows(config)}["0"] == "-3"


def test_a_search_must_begin_with_hyperparameters_of_its_algorithm(search, tmp_path):
    file = tmp_path / "known.yml"
    for text, reason in (
        (None, "be a YAML file, got .*known.yml: No such file or directory"),
        ("3", "hold a mapping for exactdice/FourTwoOne-v0"),
        ("default: {n_envs: 2, ent_coef: 1}", "have .*qlearning for .*tiny.*'ent_coef'"),
        ("default: {omega: 0.77}", "have .*qlearning.*n_envs must be given, got none"),
    ):
        if text is not None:
            file.write_text(text)
        with pytest.raises(InputError, match=f"begin_with must {reason}"):
            tune(search(begin_with=file), QUIET)


@pytest.mark.slow
def test_workers_share_the_trials_and_the_finals(search):
    config = search(track="exactdice-10k", games=ONE, trials=7, jobs=2)
    tune(config, QUIET)
    trials = drawn(config)
    assert len(trials) in (7, 8)  # two workers may begin the last one at once
    assert len({tuple(params.values()) for params, _, _ in trials}) == len(trials)
    notes = open_study(config).user_attrs
    assert sum(name.startswith("final of ") for name in notes) == len(FINAL_SEEDS) * 2
    assert (config.place / "qlearning.yml").exists()


def test_the_worse_half_is_stopped_at_a_rung_but_not_after_all_games(searched):
    trials = open_study(searched()[0]).trials
    stopped = [each for each in trials if each.state == TrialState.PRUNED]
    assert stopped
    for each in stopped:
        assert each.last_step in RUNGS
        before = [other.intermediate_values for other in trials[: each.number + 1]]
        reached = [values[each.last_step] for values in before if each.last_step in values]
        assert sum(value > each.value for value in reached) >= len(reached) // 2
    for each in open_study(searched(ONE)[0]).trials:
        assert (each.last_step < 100) == (each.state == TrialState.PRUNED)


def test_the_best_of_the_finals_is_written_and_read_back_by_a_training_run(searched):
    config, calls = searched()
    assert {seed for _, seed in calls[-9:]} == set(FINAL_SEEDS)
    assert found(config)["trials"] == 13
    path = config.place / "qlearning.yml"
    read = TrainConfig(game="Greed", algorithm="qlearning", track="tiny", conf=path)
    assert read.hyperparameters.omega == found(config)["default"]["omega"] == best_of_finals(calls)
    assert read.total_steps <= 640


def best_of_finals(calls):
    return min(hyperparameters["omega"] for hyperparameters, _ in calls[-9:])


def test_one_perfect_run_does_not_make_the_headline_and_every_one_names_the_board(
    search, monkeypatch
):
    def perfect_once(config, _hyperparameters, seed, report):
        games = config.chosen_games
        report(100 * len(games), 3.0)
        return {game: 1.0 if (game, seed) == (games[0], 1001) else 0.999 for game in games}

    monkeypatch.setattr(tuner, "run_trial", perfect_once)
    tune(search(trials=1), QUIET)
    text = (search().place / "qlearning.yml").read_text()
    assert "best of the trials, 3.06 nines\n" in text  # (3 + 3 + -log10(2/3000)) / 3
    assert "\n# with seeds 1001, 1002, 1003, which have chosen it.\n" in text
    files = ROOT.glob("agents/hyperparams/*/*.yml")
    for said in (text, *(path.read_text() for path in files)):
        assert "\n# The figure to cite is the board's, of " in said


@pytest.mark.slow
def test_a_finalist_that_diverges_with_a_seed_does_not_win(search, searched, monkeypatch):
    best = best_of_finals(searched()[1])
    monkeypatch.setattr(tuner, "run_trial", by_formula([], [(best, FINAL_SEEDS[1])]))
    config, console = search(trials=13), Console(record=True, width=200, file=io.StringIO())
    tune(config, console)
    assert f"seed {FINAL_SEEDS[1]}: its weights diverged" in console.export_text()
    assert found(config)["default"]["omega"] > best
    assert sum(row["final nines"] != "" for row in rows(config)) == 2


def test_finalists_that_all_diverge_leave_the_tables(search, known, monkeypatch):
    only = [(CHOSEN["omega"], FINAL_SEEDS[0])]
    monkeypatch.setattr(tuner, "run_trial", by_formula([], only))
    with pytest.raises(RunError, match="must train with all of the seeds 1001, 1002, 1003, but"):
        tune(search(trials=1, begin_with=known), QUIET)
    assert (search().place / "trials.csv").exists()
    assert not (search().place / "qlearning.yml").exists()


def test_the_tables_have_a_row_for_each_trial_the_best_first_and_one_game_its_entry(searched):
    config, _ = searched(ONE)
    assert list(found(config)) == ["trials", "exactdice/FourTwoOne-v0"]
    table = rows(config)
    assert sorted(int(row["trial"]) for row in table) == list(range(13))
    done = [float(row["nines"]) for row in table if row["FourTwoOne"]]
    assert len(done) > 1
    assert done == sorted(done, reverse=True)
    assert not any(row["FourTwoOne"] for row in table[len(done) :])
    assert "| trial | nines |" in (config.place / "trials.md").read_text()


@pytest.mark.usefixtures("formula")
def test_a_picture_that_cannot_be_drawn_leaves_the_results(search, capsys, monkeypatch):
    fail = Mock(side_effect=RuntimeError("all trials are alike"))
    monkeypatch.setattr(tuner, "draw_importances", fail)
    written = tune(search(trials=1))
    assert [path.name for path in written] == ["trials.csv", "trials.md", "qlearning.yml"]
    assert "Left out: pictures: all trials are alike." in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.usefixtures("formula")
def test_the_picture_names_what_mattered_among_the_trials_that_were_drawn(
    search, known, monkeypatch
):
    monkeypatch.setattr(tuner, "SuccessiveHalvingPruner", lambda **_: NopPruner())
    monkeypatch.setattr(tuner, "RANDOM_TRIALS", 16)
    tune(search(trials=16, begin_with=known), QUIET)
    study = open_study(search())
    bars = importances(study).panels[0]
    assert bars.labels[0] == "omega"  # the formula depends on nothing else
    assert math.isclose(sum(bars.values), 1)
    assert all(path.stat().st_size > 1000 for path in draw_importances(study, search().place))


@pytest.mark.slow
def test_a_trial_gives_the_exact_score_of_a_run_with_its_file(search, tmp_path):
    chosen, points = {**CHOSEN, "initial_value": 0.5, "exploration_fraction": 0.5}, {}
    scores = trial.run_trial(search(games=GAMES[::2]), chosen, 1000, points.__setitem__)
    path = tmp_path / "conf.yml"
    path.write_text(yaml.safe_dump({"default": chosen}))
    for game, score in scores.items():
        run = {"game": game, "algorithm": "qlearning", "track": "tiny", "seed": 1000}
        config = TrainConfig(**run, conf=path, run_folder=tmp_path / game)
        assert train(config, QUIET).normalized == score
    assert list(scores) == ["FourTwoOne", "LowestScore"]  # the smaller first
    nines = [trial.bounded_nines(score) for score in scores.values()]
    assert list(points) == [50, 100, 200]
    assert list(points.values())[1:] == [nines[0], sum(nines) / 2]


def test_weights_that_diverge_end_a_trial_with_the_worst_score(search, monkeypatch):
    points = {}
    monkeypatch.setattr(trial, "_train", Mock(side_effect=trial.DivergedError))
    with pytest.raises(trial.DivergedError):
        trial.run_trial(search(), CHOSEN, 0, points.__setitem__)
    assert points == {100: trial.WORST}


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ({"track": "exactdice-2k"}, "track must be one of 'exactdice-10k', "),
        ({"algorithm": "rainbow"}, "algorithm must be one of 'ppo', "),
        ({"jobs": 0}, "jobs must be at least 1, got 0"),
        ({"games": ()}, "games must be one at least, got none"),
        ({"games": ("ShutTheBox",)}, "games must be one of 'FourTwoOne', 'Greed', 'LowestScore'"),
        ({"track": "exactdice-selfplay-1m", "algorithm": "dqn"}, "self_play needs the algorithm"),
    ],
)
def test_options_out_of_range_are_refused(search, others, message):
    with pytest.raises(InputError, match=message):
        search(**others)


def test_the_folder_of_another_search_or_of_none_is_refused(search, searched):
    with pytest.raises(InputError, match="has algorithm qlearning instead of ppo: choose another"):
        tune(search(algorithm="ppo", folder=searched()[0].place), QUIET)
    search().place.mkdir()
    (search().place / "search.db").write_text("no database\nat all\n" * 100)
    with pytest.raises(InputError, match="storage must be a database of a search, got sqlite:"):
        tune(search(), QUIET)


@pytest.mark.slow
@pytest.mark.usefixtures("formula")
def test_a_full_disk_leaves_the_trials_that_were_there(search):
    tune(search(trials=2), QUIET)
    size = (search().place / "search.db").stat().st_size
    before = drawn(search())
    with no_file_above(size), pytest.raises(WriteError, match="^the trials cannot be kept: .*disk"):
        tune(search(trials=200), QUIET)
    left = drawn(search())
    assert left[:2] == before
    tune(search(trials=len(left) + 1), QUIET)
    assert len(drawn(search())) == len(left) + 1


@pytest.mark.usefixtures("formula")
@pytest.mark.slow  # ``test_workers.py`` has lost jobs
def test_a_trial_whose_worker_was_killed_is_tried_again(search, monkeypatch):
    monkeypatch.setattr(tuner, "ALIVE", 1)
    monkeypatch.setattr(tuner, "LOST", 2)
    config = search(trials=3)
    config.place.mkdir()
    with pytest.warns(UserWarning, match="Heartbeat of storage is supposed to be used with"):
        lost = open_study(config).ask()
    ALGORITHMS["qlearning"].space(lost, 640)
    open_study(config)._storage.record_heartbeat(lost._trial_id)  # its last sign of life
    tune(config, QUIET)
    assert open_study(config).trials[0].state == TrialState.FAIL
    assert lost.params in [params for params, _, _ in drawn(config)]

"""Right programs of common kinds have no finding, and the mistakes beside them have a name."""

from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest
import torch
from exactdice.agents.learners.vec_env import GameVecEnv
from exactdice.baselines import Task
from exactdice.core import InputError
from exactdice.diagnose import EpsilonGreedy, Targets, Transitions, audit
from exactdice.envs import GameEnv
from exactdice.games import LowestScore
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import NormalizeReward, TimeLimit
from random_games import RandomGame
from recording import BASIC, TASKS, at_random, cut_rollout, play, play_cut, rollout, transitions
from stable_baselines3.common.vec_env import VecNormalize
from thinning import every_third

GAMMA, LAMBDA = 0.9, 0.8
SMALL = {"max_score": 12, "sides": 3}


def greed():
    return gym.make("exactdice/Greed-v0", **SMALL)


def critic(seen):
    return seen @ np.array([0.1, -0.05, 0.3])


def advantages_of(
    rewards, values, following, ended, over, gamma=GAMMA, gae_lambda=LAMBDA, forward=False
):
    """Estimate advantages row by row; ``following`` are the values after each move."""
    found, ahead = np.zeros_like(values), 0.0
    for row in range(len(values))[:: 1 if forward else -1]:
        delta = rewards[row] + gamma * following[row] * ~ended[row] - values[row]
        ahead = found[row] = delta + gamma * gae_lambda * ahead * ~over[row]
    return found


def values_after(values, last):
    """Give the values after each move, if no game is cut: those of the next row."""
    return np.append(values[1:], last[None], axis=0)


def estimated(arrays, terminated, added=False):
    values, final, last = (critic(arrays[name]) for name in ("observations", "after", "last"))
    rewards = arrays["rewards"] + added * GAMMA * final * arrays["truncated"]
    over = arrays["terminated"] | arrays["truncated"]
    following = np.where(over, final, values_after(values, last))
    advantages = advantages_of(arrays["rewards"], values, following, terminated, over)
    numbers = {"values": values, "last_values": last, "advantages": advantages}
    numbers |= {"returns": advantages + values, "gamma": GAMMA, "gae_lambda": LAMBDA}
    return cut_rollout(arrays | {"rewards": rewards}, **numbers, final_values=final)


@pytest.mark.parametrize("added", [False, True])
def test_cut_games_are_right_if_their_last_observations_have_a_value(added):
    env, arrays = greed(), play_cut(lambda: TimeLimit(greed().unwrapped, 2), masked=True)
    assert arrays["truncated"].sum() > 20
    record = estimated(arrays, arrays["terminated"], added)
    report = audit(env, record, "random", critic)
    assert report.ok, report
    assert {"final_values", "last_values", "outcomes", "returns"} <= report.held.keys()
    cut = arrays["truncated"]
    unread = {
        "final_observations": np.where(cut[..., None], record.final_observations, np.nan),
        "final_values": np.where(cut, record.final_values, np.nan),
    }
    assert audit(env, replace(record, **unread), "random").ok
    wrong = estimated(arrays, arrays["terminated"] | cut)
    found = {(each.check, each.mistake) for each in audit(env, wrong, "random", critic).findings}
    assert found == {("advantages", "truncation-as-end"), ("returns", "truncation-as-end")}
    moves = transitions(arrays)
    assert audit(env, moves, "random").ok
    as_end = replace(moves, terminated=moves.terminated | moves.truncated, truncated=None)
    assert {each.mistake for each in audit(env, as_end).findings} == {"truncation-as-end"}


@pytest.mark.parametrize("task", TASKS, ids=lambda task: type(task.game).__name__)
@pytest.mark.parametrize("following", ["final", "first"])
def test_ends_that_were_not_recorded_are_named_whatever_the_next_observations_are(task, following):
    """They are those after the end of a game, as Gymnasium gives them, or of the next game."""
    make = lambda: GameEnv(task)  # noqa: E731
    arrays = play_cut(make, 60, masked=True)
    moves = transitions(arrays)
    assert audit(make(), moves).ok
    never = replace(moves, terminated=np.zeros_like(moves.terminated), truncated=None)
    if following == "first":
        after = np.concatenate([arrays["observations"][1:], arrays["last"][None]])
        never = replace(never, next_observations=after.reshape(moves.next_observations.shape))
    (found,) = audit(make(), never).findings
    assert (found.check, found.mistake) == ("transitions", "terminated-missing")
    only_lost = moves.terminated & (moves.rewards == moves.rewards.max())
    (found,) = audit(make(), replace(never, terminated=only_lost)).findings
    assert found.mistake == "terminated-missing"


@pytest.mark.parametrize("record", ["rollout", "transitions"])
def test_cuts_that_were_not_recorded_are_told_from_ends(record):
    make = lambda: gym.make("FrozenLake-v1", max_episode_steps=6)  # noqa: E731
    arrays = play_cut(make, 64)
    after = np.append(arrays["observations"][1:], arrays["last"][None], axis=0)
    known = {name: arrays[name] for name in BASIC} | {"after": after}
    for ended, name in (
        (arrays["terminated"], "cuts-unrecorded"),
        (arrays["terminated"] & False, "terminated-missing+cuts-unrecorded"),
        (arrays["terminated"] & (arrays["observations"] > 7), "terminated-missing+cuts-unrecorded"),
    ):
        given = known | {"terminated": ended}
        report = audit(make(), rollout(given) if record == "rollout" else transitions(given))
        (found,) = report.findings
        assert (found.check, found.mistake) == ("transitions", name)
        assert "rows lead to first positions: games were cut: give truncated=" in found.words
        assert not any("other keywords" in note for note in report.notes)


def test_rows_in_which_environments_were_reset_are_no_moves():
    """The default of Gymnasium 1.x: the row after the end of a game ignores its action."""
    env, arrays = play("Greed", steps=60, lanes=8, mode=AutoresetMode.NEXT_STEP, **SMALL)
    ended = arrays["terminated"]
    used = ~np.concatenate([np.zeros_like(ended[:1]), ended[:-1]])
    assert (~used).sum() > 20
    values, last = critic(arrays["observations"]), critic(arrays["after"][-1])
    following = values_after(values, last)
    advantages = advantages_of(arrays["rewards"], values, following, ended, ended)
    numbers = {"values": values, "last_values": last, "returns": advantages + values}
    numbers |= {"advantages": np.where(used, advantages, 7.0), "gamma": GAMMA}
    record = rollout(arrays, **numbers, gae_lambda=LAMBDA, used=used)
    report = audit(env, record, "random", critic)
    assert report.ok, report
    found = audit(env, replace(record, used=None), "random").findings
    assert "autoreset" in {each.mistake for each in found}


def several(arrays, most):
    """Return the transitions of ``most`` moves each, as a buffer of n-step returns makes them."""
    steps, lanes = arrays["rewards"].shape
    rows = []
    for row, lane in np.ndindex(steps - most + 1, lanes):
        total = 0.0
        for end in range(row, row + most):
            total += GAMMA ** (end - row) * arrays["rewards"][end, lane]
            if arrays["terminated"][end, lane]:
                break
        first = (arrays[name][row, lane] for name in ("observations", "actions"))
        last = (arrays[name][end, lane] for name in ("after", "terminated"))
        rows.append((*first, total, *last, end - row + 1))
    *columns, counts = map(np.array, zip(*rows, strict=True))
    return Transitions(*columns, n_steps=counts, gamma=GAMMA)


def network(seen):
    return np.sin(np.asarray(seen, dtype=float).sum(axis=-1)[:, None] * np.arange(1.0, 9.0))


def test_returns_of_several_moves_and_rows_drawn_by_priority_are_right():
    env, arrays = play("Greed", steps=100, lanes=4, **SMALL)
    moves = several(arrays, most=3)
    game = env.unwrapped.task.game
    report = audit(env, moves, "random")
    assert report.ok, report
    legal = game.mask(game.encode(moves.next_observations.astype(int)))
    later = np.where(legal, network(moves.next_observations), -np.inf).max(axis=1)
    later = np.where(moves.terminated, 0.0, later)
    right = moves.rewards + GAMMA**moves.n_steps * later
    record = Targets(moves, right, network, gamma=GAMMA)
    assert audit(env, record).ok
    undiscounted = replace(moves, gamma=1.0)
    assert audit(env, replace(record, transitions=undiscounted)).ok
    penalised = replace(moves, rewards=moves.rewards - 0.01 * moves.n_steps)
    assert audit(env, penalised, rewards=lambda paid: paid - 0.01).ok
    missing = np.where(np.arange(len(right)) == 5, np.nan, right)
    (found,) = audit(env, replace(record, targets=missing)).findings
    assert (found.check, found.count) == ("finite", 1)
    once = replace(record, targets=moves.rewards + GAMMA * later)
    assert [each.mistake for each in audit(env, once).findings] == ["n-steps-discounted-once"]
    five = replace(record, targets=moves.rewards + GAMMA**5 * later)
    (found,) = audit(env, five).findings
    assert found.mistake == "n-steps-wrong"
    assert "as after 5 steps (or gamma-wrong" in found.words
    drawn = np.random.default_rng(0).choice(400, size=4000, p=np.arange(400) / 79800)
    columns = (each[drawn] for each in vars(transitions(arrays)).values() if np.ndim(each))
    prior = Transitions(*columns, drawn=True)
    report = audit(env, prior, EpsilonGreedy(network, 0.1))
    assert report.ok
    assert "drawn" in report.unchecked["chance"]
    wrong = replace(moves, rewards=moves.rewards[::-1])
    assert {each.check for each in audit(env, wrong).findings} == {"rewards"}


def test_changed_observations_are_read():
    env, arrays = play("Greed", **SMALL)
    shown = arrays["observations"].reshape(-1, 3)
    mean, spread = shown.mean(axis=0), shown.std(axis=0) + 1e-8

    def change(seen):
        return ((seen - mean) / spread).astype(np.float32)

    record = rollout(arrays | {"observations": change(arrays["observations"])})
    assert audit(env, record, "random", observations=change).ok
    assert not audit(env, record).ok
    with pytest.raises(InputError, match="env must show different states differently"):
        audit(env, record, observations=lambda seen: 0.0 * seen)
    env, arrays = play("Greed", encoding="one_hot_float", **SMALL)
    games = VecNormalize(GameVecEnv(env.unwrapped.task, 4, encoding="one_hot_float"))
    games.obs_rms.update(arrays["observations"].reshape(-1, 28))
    record = rollout(arrays | {"observations": games.normalize_obs(arrays["observations"])})
    assert audit(env, record, observations=games).ok


def test_changed_rewards_are_read_if_they_are_declared_and_told_if_not():
    env, arrays = play("Greed", steps=100, **SMALL)
    paid = arrays["rewards"]

    scaled = lambda paid: 3.0 * paid - 0.25  # noqa: E731
    record = rollout(arrays | {"rewards": scaled(paid)})
    assert audit(env, record, rewards=scaled).ok
    (found,) = audit(env, record).findings
    assert (found.check, found.mistake) == ("rewards", "rewards-affine")
    assert "rewards=lambda paid: 3 * paid - 0.25" in found.words
    report = audit(env, rollout(arrays | {"rewards": 2.5 * paid}))
    assert (report.ok, report.notes) == (True, ["rewards are those of the game times 2.5"])
    record = rollout(arrays | {"rewards": scaled(paid) + 0.1})
    assert [found.check for found in audit(env, record, rewards=scaled).findings] == ["rewards"]
    arrays = play_cut(lambda: NormalizeReward(greed(), gamma=0.99), 400, 1, masked=True)
    (found,) = audit(env, rollout(arrays)).findings
    assert (found.check, found.mistake) == ("rewards", "rewards-normalised")


@pytest.mark.parametrize("task", TASKS, ids=lambda task: type(task.game).__name__)
def test_rewards_of_ends_that_are_lost_are_no_cuts_where_nothing_cuts(task):
    env, arrays = play(task, steps=60)
    lost = arrays["rewards"] * (np.random.default_rng(0).random((60, 8)) < 0.5)
    for given in {"rewards": 0 * lost}, {"rewards": lost}:
        for record in rollout(arrays | given), transitions(arrays | given):
            found = audit(env, record).findings
            assert {each.mistake for each in found} <= {"end-rewards-left-out"}
            assert found or not isinstance(task.game, LowestScore)


def test_lanes_and_games_of_one_seed_are_found_by_what_they_have_in_common():
    def two_dice(_, masks, __):
        return np.where(masks[:, 2], 2, 0)

    env, arrays = play("Greed", steps=60, lanes=4, choose=two_dice, max_score=30)
    assert audit(env, rollout(arrays)).ok
    pair = {name: np.repeat(array[:, :1], 2, axis=1) for name, array in arrays.items()}
    first, second = np.flatnonzero(arrays["terminated"][:, 0])[:2] + 1
    one = {name: array[first:second, :1] for name, array in arrays.items()}
    again = {name: np.concatenate([array] * 12) for name, array in one.items()}
    for given, words in (pair, ""), (again, "games of a lane repeat one another"):
        findings = audit(env, rollout(given)).findings
        (found,) = (each for each in findings if each.check == "coincidences")
        assert found.mistake == "same-seeds"
        assert words in found.words


def soft(values, legal, temperature=0.3):
    """Value states as soft Q-learning does."""
    logits = np.where(legal, values / temperature, -np.inf)
    return temperature * np.logaddexp.reduce(logits, axis=1)


def test_next_states_are_valued_as_declared():
    """By SARSA, expected SARSA, soft Q-learning and clipped double Q-learning."""
    env, arrays = play("Greed", steps=40, lanes=8, max_score=12)
    moves, game = transitions(arrays), env.unwrapped.task.game
    tables = np.random.default_rng(3).normal(size=(2, game.num_states, game.num_actions))
    network, other = (lambda seen, table=t: table[game.encode(seen.astype(int))] for t in tables)
    legal = game.mask(game.encode(moves.next_observations))
    values, second = network(moves.next_observations), other(moves.next_observations)
    law = legal / np.maximum(legal.sum(axis=1, keepdims=True), 1)
    taken, rows = legal.argmax(axis=1), np.arange(len(legal))
    best = np.where(legal, values, -np.inf).argmax(axis=1)
    ended = moves.terminated.astype(bool)
    for valued in (
        lambda q, mask: q[rows, taken],
        lambda q, mask: (law * q).sum(axis=1),
        soft,
        lambda q, mask: np.minimum(q[rows, best], second[rows, best]),
    ):
        later = valued(values, legal)
        targets = moves.rewards + GAMMA * np.where(ended, 0.0, later)
        record = Targets(moves, targets, network, gamma=GAMMA)
        assert not audit(env, record).ok
        report = audit(env, replace(record, next_values=valued))
        assert (report.ok, report.notes) == (True, [])
        report = audit(env, replace(record, next_values=later))
        assert (report.ok, report.notes) == (True, ["next_values were taken as they are"])
        late = replace(
            record, next_values=valued, targets=targets + GAMMA * np.where(ended, later, 0)
        )
        (found,) = audit(env, late).findings
        assert found.mistake == "target-ignores-ends"
    greedy = moves.rewards + GAMMA * np.where(ended, 0.0, values[rows, best])
    (found,) = audit(env, replace(record, next_values=soft, targets=greedy)).findings
    assert found.mistake == "the-maximum-in-place-of-the-declared-values"


def test_advantages_of_n_steps_are_declared_and_those_of_v_trace_left_unchecked(recorded):
    env, arrays = recorded
    values, rewards, ended = arrays["values"], arrays["rewards"], arrays["terminated"]
    following = values_after(values, arrays["last"])

    def of_steps(count):
        found = np.zeros_like(values)
        for row, lane in np.ndindex(values.shape):
            for end in range(row, min(row + count, len(values))):
                found[row, lane] += GAMMA ** (end - row) * rewards[end, lane]
                if ended[end, lane]:
                    break
            later = following[end, lane] * ~ended[end, lane]
            found[row, lane] += GAMMA ** (end - row + 1) * later - values[row, lane]
        return found

    three = record_of(arrays, advantages=of_steps(3), returns=of_steps(3) + values)
    report = audit(env, replace(three, estimator=3))
    assert report.ok
    assert {"advantages", "returns"} <= report.held.keys()
    for declared in three, replace(three, estimator=5):
        found = audit(env, declared).findings
        assert {each.mistake for each in found} == {"n-steps-wrong"}
        assert "estimator=3" in found[0].words
    report = audit(env, replace(three, advantages=values, returns=values, estimator=None))
    assert report.ok
    assert {"advantages", "returns"} <= report.unchecked.keys()
    with pytest.raises(InputError, match="estimator must be at least 1, got -1"):
        audit(env, replace(three, estimator=-1))


DRAWN = [
    ("FrozenLake-v1", {"max_episode_steps": 8}, "same ranks"),
    ("CliffWalking-v1", {"is_slippery": True, "max_episode_steps": 40}, "same ranks"),
    ("Taxi-v4", {"max_episode_steps": 15}, "first positions of games repeat"),
    ("exactdice/ShutTheBox-v0", {"tiles": 5}, "first positions of games repeat"),
]


@pytest.mark.parametrize("right", [2, pytest.param(10, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("name", "keywords", "words"), every_third(DRAWN))
def test_lanes_of_one_seed_are_found_though_a_policy_draws_their_actions(
    name, keywords, words, right
):
    """All of them, and two of eight; of seeds that differ none is accused."""
    make = lambda: gym.make(name, **keywords)  # noqa: E731
    for seeds in (
        [5] * 8,
        [1, 2, 3, 4, 5, 5, 6, 7],
        *(list(range(k, k + 8)) for k in range(right)),
    ):
        arrays = play_cut(make, 120, masked=name.startswith("exact"), seeds=seeds)
        findings = audit(make(), cut_rollout(arrays)).findings
        alike = len(set(seeds)) < 8
        assert [each.mistake for each in findings] == ["same-seeds"] * alike, seeds
        assert not alike or words in findings[0].words or "same ranks" in findings[0].words


def test_another_law_is_not_called_random_or_another_epsilon():
    def choose(seen, masks, rng):
        """Take the best action of another network than the one that is given."""
        best = np.where(masks, network(seen + 1), -np.inf).argmax(axis=1)
        return np.where(rng.random(len(seen)) < 0.1, at_random(seen, masks, rng), best)

    env, arrays = play("Greed", steps=200, choose=choose, **SMALL)
    found = audit(env, rollout(arrays), EpsilonGreedy(network, 0.1)).findings
    assert [each.mistake for each in found if each.check == "policy"] == [None]


KINDS = np.float64, np.float32, np.float16, torch.float32, torch.bfloat16


def healthy(seed):
    """Play a random small game with random shapes, dtypes and factors: task, record and critic."""
    rng = np.random.default_rng(seed)
    game = RandomGame(seed, int(rng.integers(1, 3)), bool(rng.integers(2)))
    own = [(seat, "random")[: game.num_players] for seat in range(game.num_players)]
    task = [Task(game, *own[rng.integers(len(own))]), *TASKS][int(rng.integers(8)) % 5]
    time, lanes = rng.integers(2, 80), int(rng.integers(1, 33))
    choose = lambda seen, masks, _: at_random(seen, masks, rng)  # noqa: E731
    _, arrays = play(task, time, lanes, seed=seed, choose=choose)
    seen = arrays["after"][-1]
    states = task.game.encode(arrays["observations"].reshape(-1, *seen.shape[1:]))
    counts = task.game.mask(states).sum(axis=1).reshape(time, lanes)
    weights, kind = rng.normal(size=seen.shape[1:]), KINDS[rng.integers(len(KINDS))]
    gamma, gae_lambda = rng.choice([1.0, 0.99, 0.9]), rng.choice([0.0, 0.5, 0.95, 1.0])

    def critic(seen):
        return np.tanh(np.asarray(seen, dtype=float) @ weights)

    def of_kind(array):
        return torch.tensor(array).to(kind) if isinstance(kind, torch.dtype) else array.astype(kind)

    values, last = critic(arrays["observations"]), critic(seen)
    following, ends = values_after(values, last), [arrays["terminated"]] * 2
    advantages = advantages_of(arrays["rewards"], values, following, *ends, gamma, gae_lambda)
    if rng.integers(2):
        flat = transitions(arrays)
        return task, replace(flat, rewards=of_kind(flat.rewards)), critic
    numbers = {"values": values, "last_values": last, "log_probs": -np.log(counts)}
    numbers |= {"advantages": advantages, "returns": advantages + values}
    numbers = {name: of_kind(array) for name, array in numbers.items()}
    record = rollout(arrays, **numbers, gamma=gamma, gae_lambda=gae_lambda, last_observations=seen)
    return task, replace(record, rewards=of_kind(arrays["rewards"])), critic


@pytest.mark.parametrize(
    "seeds", [range(10), pytest.param(range(10, 1030), marks=pytest.mark.slow)], ids=len
)
def test_no_healthy_record_is_accused(seeds):
    for seed in seeds:
        task, record, critic = healthy(seed)
        report = audit(task, record, "random", critic)
        assert report.ok, (seed, task.words, str(report))


@pytest.fixture(scope="module")
def recorded():
    """Return an environment, arrays of right moves of which some are cut, and random values."""
    env, arrays = play("Greed", steps=40, lanes=8, max_score=12)
    values = np.random.default_rng(5).normal(size=(41, 8))
    return env, arrays | {"values": values[:-1], "last": values[-1]}


def record_of(arrays, **numbers):
    known = {"values": arrays["values"], "last_values": arrays["last"]}
    return rollout(arrays, **known | {"gamma": GAMMA, "gae_lambda": LAMBDA} | numbers)


def unless_last(numbers, others):
    """Take other numbers in all rows but the last one."""
    return np.append(others[:-1], numbers[-1:], axis=0)


def late(ended):
    """As in loops that keep the flags of the row before, and those after the last row apart."""
    return unless_last(ended, np.append(np.zeros_like(ended[:1]), ended[:-1], axis=0))


#: Mistakes in the estimate of advantages: what ``advantages_of`` takes instead of right arguments.
ARGUMENTS = {
    "values-of-this-row-for-the-next": lambda values, following, **_: {
        "following": unless_last(following, values)
    },
    "ends-in-sum-left-out": lambda over, **_: {"over": over & False},
    "ends-in-delta-left-out": lambda ended, **_: {"ended": ended & False},
    "rewards-left-out": lambda rewards, **_: {"rewards": 0 * rewards},
    "baseline-left-out": lambda values, **_: {"values": 0 * values},
    "terminated-of-the-last-row-left-out": lambda ended, **_: dict.fromkeys(
        ("ended", "over"), unless_last(ended & False, ended)
    ),
    "truncation-as-end": lambda over, **_: {"ended": over},
    "sum-runs-forward": lambda **_: {"forward": True},
    "gae-ends-late": lambda ended, **_: dict.fromkeys(("ended", "over"), late(ended)),
    "gae-ends-early": lambda ended, **_: dict.fromkeys(("ended", "over"), np.roll(ended, -1, 0)),
    "values-subtracted-only-where-games-go-on": lambda rewards, values, ended, **_: {
        "rewards": rewards + values * ended
    },
    "last-row-left-out": lambda rewards, values, following, **_: {  # its difference is 0
        "rewards": unless_last(values, rewards),
        "following": unless_last(0 * following, following),
    },
}
#: Mistakes in what is made of the estimates.
RESULTS = {
    "advantages-divided-by-their-deviation": lambda found: found / found.std(ddof=1),
    "advantages-less-their-mean": lambda found: found - found.mean(),
    "advantages-left-out": lambda found: 0 * found,
    "advantages-of-the-last-row-left-out": lambda found: unless_last(0 * found, found),
    "advantages-clipped": lambda found: found.clip(-1, 1),
    "advantages-of-the-row-before": lambda found: np.roll(found, 1, axis=0),
    "advantages-negated": np.negative,
    "advantages-scaled": lambda found: 0.5 * found + 0.2,
    "advantages-in-another-order": np.random.default_rng(0).permutation,
    "lanes-mixed": lambda found: np.roll(found, 4, axis=1),  # the farthest that are tried
    None: lambda found: np.random.default_rng(1).normal(size=found.shape),
}


@pytest.mark.parametrize("name", every_third([*ARGUMENTS, *RESULTS]))
def test_a_mistake_in_advantages_is_named(recorded, name):
    env, arrays = recorded
    ended, following = arrays["terminated"], values_after(arrays["values"], arrays["last"])
    cut, extra = np.zeros_like(ended), {}
    if name == "truncation-as-end":
        cut = ~ended & (np.arange(cut.size).reshape(cut.shape) % 7 == 0)
        final = np.random.default_rng(6).normal(size=cut.shape)
        following = np.where(cut, final, following)
        extra = {"truncated": cut, "final_values": final}
    given = {"rewards": arrays["rewards"], "values": arrays["values"], "following": following}
    given |= {"ended": ended, "over": ended | cut}
    right = advantages_of(**given)
    returns = right + arrays["values"]
    held = audit(env, record_of(arrays, advantages=right, returns=returns, **extra))
    assert {"advantages", "returns"} <= held.held.keys()
    if name in ARGUMENTS:
        wrong = advantages_of(**given | ARGUMENTS[name](**given))
    else:
        wrong = RESULTS[name](right)
    findings = audit(env, record_of(arrays, advantages=wrong, **extra)).findings
    assert [each.mistake for each in findings if each.check == "advantages"] == [name]
    assert name != "lanes-mixed" or "4 away" in findings[0].words


def test_returns_that_are_the_values_are_named_and_nothing_is_cut_where_nothing_cuts(recorded):
    env, arrays = recorded
    for returns, name in (
        (arrays["values"], "advantages-left-out"),
        (0 * arrays["values"], "returns-without-values+advantages-left-out"),
    ):
        (found,) = audit(env, record_of(arrays, returns=returns)).findings
        assert found.mistake == name


def test_the_last_observations_of_games_are_told_from_first_ones_and_aliases():
    make = lambda: gym.make("FrozenLake-v1", max_episode_steps=6)  # noqa: E731
    arrays = play_cut(make, 100)
    first = np.append(arrays["observations"][1:], arrays["last"][None], axis=0)
    after = np.where(arrays["truncated"], first, arrays["after"])
    for record in cut_rollout(arrays | {"after": after}), transitions(arrays | {"after": after}):
        (found,) = audit(make(), record).findings
        assert found.mistake == "first-observations-for-final-observations"
    env, arrays = play("Greed", steps=40, lanes=8, max_score=12)
    alias, ended = arrays["observations"].copy(), arrays["terminated"]
    for row in range(39)[::-1]:
        alias[row] = np.where(ended[row, :, None], alias[row], alias[row + 1])
    for record in (
        rollout(arrays | {"observations": alias}),
        transitions(arrays | {"observations": alias, "after": alias}),
    ):
        mistakes = {found.mistake for found in audit(env, record).findings}
        assert mistakes == {"aliased-observations"}


def test_values_after_the_last_row_are_those_of_its_next_observations(recorded):
    env, arrays = recorded
    values, last = critic(arrays["observations"]), arrays["after"][-1]
    record = record_of(arrays, values=values, last_observations=last)
    for given, name in (
        (critic(last), None),
        (values[-1], "values-of-the-last-row-for-last-values"),
        (np.zeros(8), "last-values-left-out"),
    ):
        report = audit(env, replace(record, last_values=given), critic=critic)
        assert [found.mistake for found in report.findings] == [name] * (name is not None)


def test_a_mistake_in_targets_is_named():
    env, arrays = play("Greed", steps=40, lanes=8, max_score=12)
    moves, game = transitions(arrays), env.unwrapped.task.game
    tables = np.random.default_rng(3).normal(size=(2, game.num_states, game.num_actions))
    network, online = (lambda seen, table=t: table[game.encode(seen.astype(int))] for t in tables)
    legal = game.mask(game.encode(moves.next_observations))
    later = np.where(legal, network(moves.next_observations), -np.inf).max(axis=1)
    ended = moves.terminated.astype(bool)
    next_ones = GAMMA * later * ~ended
    right = Targets(moves, moves.rewards + next_ones, network, online, GAMMA)
    assert audit(env, right).held["targets"]
    two = "signs-of-rewards-for-rewards+target-ignores-ends"
    for name, targets in (
        ("rewards-negated", next_ones - moves.rewards),
        ("terminated-of-the-row-before", moves.rewards + GAMMA * later * ~np.roll(ended, 1)),
        (two, np.sign(moves.rewards) + GAMMA * later),
    ):
        found = audit(env, replace(right, targets=targets)).findings
        assert [(each.check, each.mistake) for each in found] == [("targets", name)]
    (found,) = audit(env, replace(right, double=True)).findings
    assert found.mistake == "double-dqn-missing"

"""Games with too many states for arrays: tours against ordinary scores, networks in fixed point."""

import io
import json
from fractions import Fraction
from itertools import pairwise
from operator import mul

import gymnasium as gym
import numpy as np
import pytest
import torch as th
from exactdice.agents.runs.agent import report, show
from exactdice.baselines.policies.networks import FixedPointNetwork
from exactdice.baselines.scoring.blunders import _once
from exactdice.baselines.scoring.certificate import digest_of
from exactdice.baselines.scoring.summary import tables
from exactdice.core import SizeError
from exactdice.core.tour import KEPT
from exactdice.games import Yahtzee
from rich.console import Console
from sb3_contrib import QRDQN, MaskablePPO
from stable_baselines3 import A2C, DQN, PPO
from thinning import one_of_each

import exactdice

BOXES = "ones,yahtzee"
SMALL = {"net_arch": [16, 16]}
FIGURES = ("value", "deviation", "moves", "optimal_share", "flawless", "optimum", "random")


def environment(**keywords):
    return gym.make("exactdice/Yahtzee-v0", **{"boxes": BOXES, **keywords})


@pytest.fixture
def large(monkeypatch):
    """Have games of more than 1,000 states scored by tours."""

    def begin():
        exactdice.baselines.cache.clear_cache()
        monkeypatch.setattr("exactdice.core.positions.MOST_STATES", 1000)

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


MODELS = [
    *[("integer", MaskablePPO, SMALL), ("thermometer", MaskablePPO, SMALL)],
    *[("scaled", MaskablePPO, SMALL), ("integer", PPO, {"net_arch": [8]})],
    ("integer", A2C, {"net_arch": []}),  # one layer
    *[("integer", DQN, SMALL), ("integer", QRDQN, {**SMALL, "n_quantiles": 3})],
]


@pytest.mark.parametrize(("encoding", "kind", "layers"), one_of_each(lambda case: case[1], MODELS))
def test_networks_have_the_figures_of_ordinary_scores(encoding, kind, layers, large):
    env, options = environment(encoding=encoding), {"policy_kwargs": layers, "seed": 3}
    if kind in (DQN, QRDQN):
        options["buffer_size"] = 10
    compare(loud(kind("MlpPolicy", env, device="cpu", **options)), large, env)


def test_a_network_whose_features_mix_components_is_called_as_a_whole(large):
    def mix(observations):
        mixed = np.roll(observations, 1, axis=-1) * observations
        return np.minimum(mixed, np.array(Yahtzee.observation_sizes) - 1)

    model = loud(MaskablePPO("MlpPolicy", environment(), policy_kwargs=SMALL, seed=6))
    compare(model, large, observations=mix)


@pytest.mark.parametrize("masked", [True, False])
def test_functions_have_the_figures_of_ordinary_scores(masked, large):
    weights = np.random.default_rng(1).random(223)

    def law(observations, masks):
        chances = masks * (weights + observations[:, -1:] % 3)
        return chances / chances.sum(axis=1, keepdims=True)

    def ones(observations, _):
        return np.where(observations[:, 15] > 0, 0, 210)  # when they are filled, the game ends

    toured = compare(law if masked else ones, large, masked=masked)
    assert masked or 0 < toured.value < 5


def test_the_best_play_has_no_mistakes(large):
    toured = compare("optimal", large)
    assert toured.optimal_share == toured.flawless == 1
    for parts in toured.counts.values():
        assert [agent for agent, _ in parts.values()] == [best for _, best in parts.values()]


@pytest.fixture
def toured(large):
    large()


@pytest.mark.usefixtures("toured")
def test_chance_in_a_function_and_numbers_that_are_none_are_refused():
    rng = np.random.default_rng(0)
    for begin in (0, 3000):  # from the first call on, and later
        calls = []

        def tell(observations, masks, calls=calls, begin=begin):
            calls.append(len(observations))
            noise = rng.random(masks.shape) * (sum(calls) > begin)
            return (masks * (1 + noise)).argmax(axis=1)

        with pytest.raises(ValueError, match="answer alike to an observation every time"):
            exactdice.score(tell, environment())
    model = loud(MaskablePPO("MlpPolicy", environment(), policy_kwargs=SMALL, seed=9))
    with th.no_grad():
        model.policy.action_net.bias[3] = th.nan
    with pytest.raises(ValueError, match="numbers"):
        exactdice.score(model, environment())


@pytest.mark.usefixtures("toured")
def test_arrays_over_all_states_are_refused():
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
    show(report(blind), console)
    assert "no decisions: decisions must be fewer" in console.file.getvalue()


def test_what_is_rarely_met_is_said_to_be_met_once_in_so_many_games():
    assert [*map(_once, (1.8e-5, 4.95e-5))] == ["once in 56,000 games", "once in 20,000 games"]


def test_regret_by_box_is_the_cost_of_the_moves_that_take_the_box(large):
    def first_box(_, masks):
        return 210 + masks[:, 210:].argmax(axis=1)

    env = environment()
    scored = exactdice.score(first_box, env)
    game, costs = scored.task.game, scored.costs
    lost = np.bincount(first_box(None, game.mask(np.arange(game.num_states))) - 210, costs, 13)
    large()
    found = exactdice.score(first_box, env).regrets["box"]
    assert lost[0] > 1 < lost[11]
    wanted = {"Dice kept": 0, "Ones": lost[0], "Yahtzee": lost[11]}
    assert found == pytest.approx(wanted, abs=1e-10)


GAME = Yahtzee(boxes=BOXES)
SIZES = sum(Yahtzee.observation_sizes)


def network(activation="relu", units=(5, 4), seed=0, scale=2**13):
    rng = np.random.default_rng(seed)
    widths = [SIZES, *units, GAME.num_actions]
    count = sum((before + 1) * own for before, own in pairwise(widths))
    return FixedPointNetwork(GAME, units, activation, rng.integers(-scale, scale, count))


def by_hand(net, observation):
    """Compute the preferences of one observation in fractions of Python."""
    numbers = map(int, net.numbers)

    def take(count, *lengths):  # multiples of 2^-14
        return [take(*lengths) if lengths else Fraction(next(numbers), 2**14) for _ in range(count)]

    def unit(total):  # to the nearest multiple of 2^-12, halves up
        if net.activation == "tanh":
            step = max(-8, min(8, total)) * 2**10 + Fraction(1, 2)
            step = step.numerator // step.denominator
            return Fraction(round(float(np.tanh(step / 2**10)) * 2**12), 2**12)
        large = max(total, Fraction(0)) * 2**12 + Fraction(1, 2)
        return Fraction(min(2**24 - 1, large.numerator // large.denominator), 2**12)

    rows, bias = take(SIZES, net.units[0]), take(net.units[0])
    firsts = np.cumsum([0, *Yahtzee.observation_sizes[:-1]])
    met = [rows[place] for place in firsts + observation]
    units = [unit(sum(column)) for column in zip(bias, *met, strict=True)]
    for width in (*net.units[1:], GAME.num_actions):
        weights, biases = take(width, len(units)), take(width)
        sums = [sum(map(mul, row, units), b) for row, b in zip(weights, biases, strict=True)]
        units = [unit(x) for x in sums] if width != GAME.num_actions else sums
    assert next(numbers, None) is None
    return units


@pytest.mark.parametrize(("activation", "units"), [("relu", (5, 4)), ("tanh", (6,))])
def test_preferences_are_those_of_fractions(activation, units):
    net = network(activation, units, seed=1)
    states = np.arange(7, GAME.num_states, GAME.num_states // 12)
    seen = GAME.observe(states, 0)
    found = net.prefer(seen, GAME.num_actions)
    for row, observation in zip(found, seen.tolist(), strict=True):
        assert [Fraction(x) / 2**26 for x in row] == by_hand(net, observation)


@pytest.mark.usefixtures("toured")
@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_grids_have_the_actions_of_single_states(activation):
    net = network(activation, seed=2)
    whole = exactdice.score(net, environment())
    alone = exactdice.score(lambda seen, masks: net(seen, masks), environment())
    assert whole.value == alone.value
    assert whole.flawless == alone.flawless


@pytest.mark.usefixtures("toured")
@pytest.mark.parametrize("encoding", ["integer", "scaled"])
def test_a_model_and_its_fixed_point_nearly_agree(encoding):
    env = environment(encoding=encoding)
    model = MaskablePPO("MlpPolicy", env, policy_kwargs=SMALL, seed=3, device="cpu")
    with th.no_grad():
        model.policy.action_net.weight.mul_(30)
    both = (exactdice.score(each, env) for each in (exactdice.in_fixed_point(model, env), model))
    rounded, given = (found.value for found in both)
    assert rounded == pytest.approx(given, abs=0.05)


@pytest.mark.usefixtures("toured")
def test_a_certificate_holds_the_network(tmp_path):
    env = environment()
    model = DQN("MlpPolicy", env, policy_kwargs={"net_arch": [8]}, buffer_size=9, seed=1)
    found = exactdice.score(exactdice.in_fixed_point(model, env), env, name="mine")
    found.save(path := tmp_path / "certificate.npz")
    assert path.stat().st_size < 20_000
    verified = exactdice.verify(path)
    assert verified.as_dict() == found.as_dict()
    assert exactdice.score(path, env).value == found.value
    with pytest.raises(ValueError, match="must be of a network in fixed point, got DQN: score"):
        exactdice.score(model, env).save(tmp_path / "other.npz")


FORGED = [
    ({"units": [8, 8]}, "network must have .* numbers, got"),
    *(({"units": wrong}, "name the units of 1 to 16 layers") for wrong in ([], [10**9], [True])),
    ({"activation": "exp"}, "activation must be one of 'relu', 'tanh', got 'exp'"),
    ({"activation": 3}, "must name units and activation of its network"),
    ({"more": 1}, "must name units and activation of its network"),
]


@pytest.mark.usefixtures("toured")
@pytest.mark.parametrize(("change", "message"), FORGED)
def test_forged_networks_are_refused(change, message, tmp_path):
    exactdice.score(network(units=(3,)), environment()).save(path := tmp_path / "certificate.npz")
    with np.load(path) as file:
        policy, claims = file["policy"], json.loads(str(file["claims"]))
    claims["network"] |= change
    text = json.dumps(claims)
    np.savez_compressed(path, policy=policy, claims=text, sha256=digest_of(policy, text))
    with pytest.raises(exactdice.CertificateError, match=message):
        exactdice.verify(path)


def rounded(*layers, bias=0.0):
    """Convert a network whose first layer has a number as its bias."""
    th.nn.init.constant_(layers[0].bias, bias)
    env = environment(encoding="one_hot_float")
    return exactdice.in_fixed_point(th.nn.Sequential(*layers), env)


FEW = network(units=(3,)).numbers.copy()
FEW[0] = 2**31
FIRST, LAST = th.nn.Linear(SIZES, 4), th.nn.Linear(4, 223)
RELU, OTHER = th.nn.ReLU(), "must have layers of ReLU or of Tanh|be a perceptron"
REFUSED = [
    (lambda: network(scale=2**30), "weights must be so small that sums are exact"),
    (lambda: FixedPointNetwork(GAME, (3,), "relu", FEW), "weights must be below 131,072 in size"),
    (lambda: FixedPointNetwork(GAME, (3,), "relu", FEW / 2), "network must have integers in a row"),
    (lambda: FixedPointNetwork(GAME, (3,), "relu", FEW[None]), "must have integers in a row"),
    (lambda: rounded(FIRST, RELU, LAST, bias=th.nan), "weights that are numbers, got NaN or inf"),
    (lambda: rounded(FIRST, RELU, LAST, bias=th.inf), "weights that are numbers, got NaN or inf"),
    (lambda: rounded(FIRST, th.nn.GELU(), LAST), OTHER),
    (lambda: rounded(FIRST, RELU, th.nn.LayerNorm(4), LAST), OTHER),
    (lambda: rounded(th.nn.Linear(SIZES, 223)), OTHER),
    (lambda: exactdice.in_fixed_point(np.sum, environment()), "policy must be a network, got sum"),
]


@pytest.mark.parametrize(("make", "message"), REFUSED)
def test_what_has_no_fixed_point_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()

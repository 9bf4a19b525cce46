"""Networks in fixed point, and the certificates that hold them."""

import json
from fractions import Fraction
from itertools import pairwise

import gymnasium as gym
import numpy as np
import pytest
import torch as th
from exactdice.baselines.policies.networks import FixedPointNetwork
from exactdice.baselines.scoring.certificate import digest_of
from exactdice.games import Yahtzee
from sb3_contrib import MaskablePPO
from stable_baselines3 import DQN

import exactdice

BOXES = "ones,yahtzee"
GAME = Yahtzee(boxes=BOXES)
SIZES = sum(Yahtzee.observation_sizes)


def environment(**keywords):
    return gym.make("exactdice/Yahtzee-v0", boxes=BOXES, **keywords)


@pytest.fixture
def large(monkeypatch):
    """Have games of more than 1,000 states scored by tours."""
    exactdice.baselines.cache.clear_cache()
    monkeypatch.setattr("exactdice.core.positions.MOST", 1000)
    yield
    exactdice.baselines.cache.clear_cache()


def network(activation="relu", units=(5, 4), seed=0, scale=2**13):
    rng = np.random.default_rng(seed)
    widths = [SIZES, *units, GAME.num_actions]
    count = sum((before + 1) * own for before, own in pairwise(widths))
    return FixedPointNetwork(GAME, units, activation, rng.integers(-scale, scale, count))


def by_hand(net, observation):
    """Compute the preferences of one observation in fractions of Python."""
    numbers = [int(number) for number in net.numbers]

    def take(count):
        taken, numbers[:] = numbers[:count], numbers[count:]
        return taken

    def unit(total):  # to the nearest multiple of 2^-12, halves up
        if net.activation == "tanh":
            step = max(-8, min(8, total)) * 2**10 + Fraction(1, 2)
            step = step.numerator // step.denominator
            return Fraction(round(float(np.tanh(step / 2**10)) * 2**12), 2**12)
        large = max(total, Fraction(0)) * 2**12 + Fraction(1, 2)
        return Fraction(min(2**24 - 1, large.numerator // large.denominator), 2**12)

    hidden, *later = net.units
    rows = [take(hidden) for _ in range(SIZES)]
    bias, first, inputs = take(hidden), 0, [Fraction(0)] * hidden
    for size, value in zip(Yahtzee.observation_sizes, observation, strict=True):
        inputs = [x + Fraction(w, 2**14) for x, w in zip(inputs, rows[first + value], strict=True)]
        first += size
    units = [unit(x + Fraction(b, 2**14)) for x, b in zip(inputs, bias, strict=True)]
    for width in (*later, GAME.num_actions):
        weights, biases = [take(len(units)) for _ in range(width)], take(width)
        sums = [
            sum(Fraction(w, 2**14) * u for w, u in zip(row, units, strict=True))
            + Fraction(b, 2**14)
            for row, b in zip(weights, biases, strict=True)
        ]
        units = [unit(x) for x in sums] if width != GAME.num_actions else sums
    assert not numbers
    return units


@pytest.mark.parametrize(("activation", "units"), [("relu", (5, 4)), ("tanh", (6,))])
def test_preferences_are_those_of_fractions(activation, units):
    net = network(activation, units, seed=1)
    states = np.arange(7, GAME.num_states, GAME.num_states // 12)
    seen = GAME.observe(states, 0)
    found = net.prefer(seen, GAME.num_actions)
    for row, observation in zip(found, seen.tolist(), strict=True):
        assert [Fraction(x) / 2**26 for x in row] == by_hand(net, observation)


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_grids_have_the_actions_of_single_states(activation):
    net = network(activation, seed=2)
    whole = exactdice.score(net, environment())
    alone = exactdice.score(lambda seen, masks: net(seen, masks), environment())
    assert whole.value == alone.value
    assert whole.flawless == alone.flawless


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("encoding", ["integer", "scaled"])
def test_a_model_and_its_fixed_point_nearly_agree(encoding):
    env = environment(encoding=encoding)
    policy = {"net_arch": [16, 16]}
    model = MaskablePPO("MlpPolicy", env, policy_kwargs=policy, seed=3, device="cpu")
    with th.no_grad():
        model.policy.action_net.weight.mul_(30)
    rounded = exactdice.in_fixed_point(model, env)
    assert exactdice.score(rounded, env).value == pytest.approx(
        exactdice.score(model, env).value, abs=0.05
    )


@pytest.mark.usefixtures("large")
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


@pytest.fixture
def written(large, tmp_path):  # noqa: ARG001
    """Write a certificate: its path, its policy and its claims."""
    exactdice.score(network(units=(3,)), environment()).save(path := tmp_path / "certificate.npz")
    with np.load(path) as file:
        return path, file["policy"], json.loads(str(file["claims"]))


def require_refusal(path, policy, claims, message):
    text = json.dumps(claims)
    np.savez_compressed(path, policy=policy, claims=text, sha256=digest_of(policy, text))
    with pytest.raises(exactdice.CertificateError, match=message):
        exactdice.verify(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"units": [8, 8]}, "network must have .* numbers, got"),
        ({"units": []}, "must name the units of 1 to 16 layers"),
        ({"units": [10**9]}, "must name the units of 1 to 16 layers"),
        ({"units": [True]}, "must name the units of 1 to 16 layers"),
        ({"activation": "exp"}, "activation must be one of 'relu', 'tanh', got 'exp'"),
        ({"activation": 3}, "must name units and activation of its network"),
        ({"more": 1}, "must name units and activation of its network"),
    ],
)
def test_forged_networks_are_refused(change, message, written):
    path, policy, claims = written
    claims["network"] |= change
    require_refusal(path, policy, claims, message)


def test_weights_whose_sums_are_not_exact_are_refused():
    with pytest.raises(ValueError, match="weights must be so small that sums are exact"):
        network(scale=2**30)
    few = network(units=(3,)).numbers.copy()
    few[0] = 2**31
    with pytest.raises(ValueError, match="weights must be below 131,072 in size"):
        FixedPointNetwork(GAME, (3,), "relu", few)
    for wrong in (few / 2, few[None]):
        with pytest.raises(ValueError, match="network must have integers in a row"):
            FixedPointNetwork(GAME, (3,), "relu", wrong)


@pytest.mark.parametrize("wrong", [float("nan"), float("inf")])
def test_a_model_whose_training_went_astray_is_refused(wrong):
    env = environment()
    model = DQN("MlpPolicy", env, policy_kwargs={"net_arch": [8]}, buffer_size=9, seed=1)
    with th.no_grad():
        model.q_net.q_net[0].weight[0, 0] = wrong
    with pytest.raises(ValueError, match="must have weights that are numbers, got NaN or inf"):
        exactdice.in_fixed_point(model, env)


@pytest.mark.parametrize(
    "layers",
    [
        [th.nn.Linear(SIZES, 4), th.nn.GELU(), th.nn.Linear(4, 223)],
        [th.nn.Linear(SIZES, 4), th.nn.ReLU(), th.nn.LayerNorm(4), th.nn.Linear(4, 223)],
        [th.nn.Linear(SIZES, 223)],
    ],
)
def test_other_networks_are_refused(layers):
    with pytest.raises(ValueError, match="must have layers of ReLU or of Tanh|be a perceptron"):
        exactdice.in_fixed_point(th.nn.Sequential(*layers), environment(encoding="one_hot_float"))
    with pytest.raises(ValueError, match="policy must be a network, got a function"):
        exactdice.in_fixed_point(lambda _, masks: masks.argmax(axis=1), environment())

"""Gradient steps: right ones hold, and mistakes that the example learners do not show are named."""

import copy
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from exactdice.core import InputError
from exactdice.diagnose import EpsilonGreedy, PolicyUpdate, Rollout, Targets, ValueUpdate, audit
from exactdice.diagnose.audits import losses
from exactdice.diagnose.view import AgentView
from exactdice.games import Greed
from recording import at_random, play, rollout, transitions
from thinning import at_once, later
from torch import nn

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def batch():
    """Moves of Greed, with numbers that a rollout might give."""
    env, arrays = play("Greed", steps=20, lanes=10, max_score=12, sides=3)
    seen = arrays["observations"].reshape(-1, 3)
    rng = np.random.default_rng(0)
    numbers = {
        "observations": seen,
        "actions": arrays["actions"].ravel(),
        "log_probs": rng.uniform(-3, -0.5, len(seen)),
        "advantages": rng.normal(size=len(seen)),
        "returns": rng.normal(size=len(seen)),
    }
    return env, numbers


def whole(numbers, **others):
    kept = {name: array.reshape(20, 10, *array.shape[1:]) for name, array in numbers.items()}
    nothing = np.zeros((20, 10))
    return Rollout(**kept, rewards=nothing, terminated=nothing, **others)


def part_of(numbers, rows):
    return {name: array[rows] for name, array in numbers.items()}


def ppo(numbers, loss, **declared):
    """Take a step down a loss of (batch of tensors, new log-probabilities, entropy, values)."""
    torch.manual_seed(0)
    game = Greed(12, 3)
    agent = nn.ModuleDict({"actor": nn.Linear(3, game.num_actions), "critic": nn.Linear(3, 1)})
    before = copy.deepcopy(agent)
    seen = torch.tensor(numbers["observations"], dtype=torch.float32)
    masks = torch.tensor(game.mask(game.encode(numbers["observations"])))
    law = agent["actor"](seen).masked_fill(~masks, -torch.inf).log_softmax(1)
    tensors = {key: torch.tensor(given, dtype=torch.float32) for key, given in numbers.items()}
    new = law.gather(1, torch.tensor(numbers["actions"])[:, None]).squeeze(1)
    entropy = -(law.exp() * law.masked_fill(~masks, 0)).sum(1).mean()
    loss(tensors, new, entropy, agent["critic"](seen).squeeze(1)).backward()
    torch.optim.SGD(agent.parameters(), lr=0.1).step()
    return PolicyUpdate(
        **numbers, before=before, after=agent, **dict(before.items()), ent_coef=0.1, **declared
    )


def right(given, new, entropy, values, **parts):
    """PPO's loss, with parts exchanged."""
    ratio = (new - parts.get("old", given["log_probs"])).exp()
    advantages = parts.get("advantages", given["advantages"])
    mean = parts.get("mean", advantages.mean())
    spread = parts.get("spread", advantages.std(correction=parts.get("one", 1)))
    advantages = (advantages - mean) / spread
    clipped = ratio.clamp(parts.get("low", 0.8), parts.get("high", 1.2))
    policy = torch.min(ratio * advantages, clipped * advantages).mean()
    squares = parts.get("squares", (values - given["returns"]) ** 2).mean()
    loss = parts.get("vf_coef", 0.5) * squares - policy - parts.get("ent_coef", 0.1) * entropy
    loss = loss + parts.get("more", 0.0)
    return parts.get("factor", 1.0) * loss


class Single(torch.autograd.Function):
    """A layer of single precision alone."""

    @staticmethod
    def forward(_, given):
        if given.dtype != torch.float32:
            raise RuntimeError("not implemented for 'BFloat16'")
        return 1.0 * given

    @staticmethod
    def backward(_, gradient):
        return gradient


def test_a_module_without_half_precision_is_audited(batch):
    env, numbers = batch
    step = ppo(numbers, partial(right, ent_coef=-0.1))
    step = replace(step, critic=lambda seen, net=step.critic: Single.apply(net(seen)))
    (found,) = audit(env, step).findings
    assert found.mistake == "entropy-sign"


class Once(torch.autograd.Function):
    """Values with a gradient, which has none."""

    @staticmethod
    def forward(_, given):
        return 1.0 * given

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(_, gradient):
        return gradient


@pytest.mark.parametrize(
    ("derived", "name"),
    [
        ("twice", "entropy-sign+other-loss"),
        *map(later, [("once", "entropy-sign+other-loss"), ("once", None), ("twice", None)]),
    ],
)
def test_two_mistakes_are_named_and_a_search_seldom_goes_back_through_the_module(
    batch, derived, name, monkeypatch
):
    env, numbers = batch
    ways, of = [], losses.Left.of
    monkeypatch.setattr(losses.Left, "of", lambda *given: ways.append(1) or of(*given))

    def huber(given, new, entropy, values):
        errors = HUBER(values, given["returns"], reduction="none")
        return right(given, new, entropy, values, squares=errors, ent_coef=-0.1)

    def other(given, new, entropy, values):
        return right(given, new, entropy, values, more=(values**3).mean() + (new**2).mean())

    step = ppo(numbers, huber if name else other)
    if derived == "once":
        step = replace(step, critic=lambda seen, net=step.critic: Once.apply(net(seen)))
    report = audit(env, step)
    assert [found.mistake for found in report.findings] == [name]
    assert (len(ways) < 60) == (derived == "twice")
    assert bool(report.notes) == (derived == "once")


PARTS = {
    "value-sign": lambda *_: {"vf_coef": -0.5},
    "ent-coef-wrong": lambda *_: {"ent_coef": 0.5},
    "ratio-always-one": lambda given, new, _: {"old": new.detach()},
    "advantages-recomputed": lambda given, _, v: {"advantages": (given["returns"] - v).detach()},
    "returns-for-advantages": lambda given, *_: {"advantages": given["returns"]},
    "log-probs-of-the-next-row": lambda given, *_: {"old": given["log_probs"].roll(-1)},
    "advantages-of-the-row-before": lambda given, *_: {"advantages": given["advantages"].roll(1)},
    "returns-negated": lambda given, _, values: {"squares": (values + given["returns"]) ** 2},
    "advantages-shifted": lambda given, *_: {"mean": given["advantages"].mean() + 0.5},
    "kl-coef-wrong": lambda given, new, _: {"more": 0.3 * (given["log_probs"] - new).mean()},
    "entropy-sign+value-sign": lambda *_: {"vf_coef": -0.5, "ent_coef": -0.1},
    "ent-coef-wrong+vf-coef-wrong": lambda *_: {"vf_coef": 0.9, "ent_coef": 0.7},
    None: lambda given, new, values: {"more": (values**3).mean()},
}


@pytest.mark.parametrize("sign", [1, later(-1)])
def test_log_probabilities_in_the_place_of_the_entropy_are_named(batch, sign):
    env, numbers = batch

    def loss(given, new, _, values):
        return right(given, new, -sign * new.mean(), values)

    (found,) = audit(env, ppo(numbers, loss)).findings
    assert found.mistake == "entropy-sign+" * (sign < 0) + "log-probs-for-the-entropy"


#: One of each part of the loss; two mistakes at once are found above, too.
AT_ONCE = {"ratio-always-one", "kl-coef-wrong", None}


@pytest.mark.parametrize("mistake", at_once(AT_ONCE.__contains__, PARTS))
def test_a_mistake_of_the_loss_is_named(batch, mistake):
    env, numbers = batch

    def loss(given, new, entropy, values):
        return right(given, new, entropy, values, **PARTS[mistake](given, new, values))

    (found,) = audit(env, ppo(numbers, loss)).findings
    assert (found.check, found.mistake) == ("gradient", mistake)
    assert mistake != "kl-coef-wrong" or "the loss has kl_coef = 0.3." in found.words.lower()
    if mistake is None:
        assert found.words.endswith("What they have in common: the parameters of critic.")


#: Clips of a critic's values around the old ones, by the name of the mistake.
CLIPS = {
    None: lambda v, old: old + (v - old).clamp(-0.2, 0.2),
    # A clip around the present values does nothing: two names have the same numbers.
    "values-clipped-around-the-present-ones": lambda v, old: v,
    "values-clipped-without-a-gradient": lambda v, old: old + (v - old).detach().clamp(-0.2, 0.2),
    "values-not-clipped": lambda v, old: v,
}


def two_steps(numbers, norms, **declared):
    """Take a step by an optimizer of the actor and one of the critic, clipped apart."""
    torch.manual_seed(0)
    game = Greed(12, 3)
    agent = nn.ModuleDict({"actor": nn.Linear(3, game.num_actions), "critic": nn.Linear(3, 1)})
    rates = {"actor": 0.01, "critic": 0.05}
    optimizers = [torch.optim.Adam(agent[key].parameters(), lr=rates[key]) for key in rates]
    before, *kept = copy.deepcopy((agent, *optimizers))
    update = ppo(numbers, right)  # the same weights, and the gradients of the loss
    for own, other in zip(agent.parameters(), update.after.parameters(), strict=True):
        own.grad = other.grad.clone()
    for key, norm in zip(rates, norms or (), strict=False):
        nn.utils.clip_grad_norm_(agent[key].parameters(), norm)
    for optimizer in optimizers:
        optimizer.step()
    after = copy.deepcopy(agent)
    for own, other in zip(after.parameters(), agent.parameters(), strict=True):
        own.grad = other.grad.clone()
    given = {key: value for key, value in declared.items() if value is not None}
    given |= {"optimizer": kept} if declared.get("optimizer") == "both" else {}
    given |= {"optimizer": kept[0]} if declared.get("optimizer") == "one" else {}
    return replace(update, before=before, after=after, **dict(before.items()), **given)


@pytest.mark.parametrize("kept", ["both", later(None)])
def test_actor_and_critic_may_have_optimizers_and_norms_of_their_own(batch, kept):
    env, numbers = batch
    unchecked = {"rows", "learning rate"}
    report = audit(env, two_steps(numbers, None, optimizer="both"))
    assert (report.ok, {*report.unchecked} & unchecked) == (True, {"rows"})
    apart = partial(two_steps, numbers, (0.2, 0.3), optimizer=kept)
    report = audit(env, apart(max_grad_norm=(0.2, 0.3)))
    assert report.ok
    assert report.held["gradient norm"] == 2
    (found,) = audit(env, apart(max_grad_norm=[0.2, 0.2])).findings
    assert (found.check, found.count) == ("gradient norm", 1)
    (found,) = audit(env, apart()).findings
    assert found.mistake.endswith("vf-coef-wrong")
    assert "both norms as max_grad_norm" in found.words
    with pytest.raises(InputError, match="max_grad_norm must have 2 norms, got 3"):
        audit(env, apart(max_grad_norm=[1, 1, 1]))


def test_what_another_optimizer_moves_is_noted_and_a_wrong_rate_is_found(batch):
    env, numbers = batch
    report = audit(env, two_steps(numbers, None, optimizer="one"))
    assert report.ok
    (note,) = (note for note in report.notes if "moved" in note)
    assert note.startswith("critic.weight and critic.bias moved, and the optimizer has not")
    update = two_steps(numbers, None, optimizer="both", learning_rate=0.02)
    (found,) = audit(env, update).findings
    assert (found.check, found.mistake) == ("learning rate", "learning-rate-wrong")


def clipped(ratio, lead):
    return torch.min(ratio * lead, ratio.clamp(0.8, 1.2) * lead)


OBJECTIVES = {
    "dual clip": lambda r, a: torch.where(a < 0, torch.max(clipped(r, a), 3 * a), clipped(r, a)),
    "penalty": lambda r, a: r * a - 0.3 * (r - 1 - r.log()),
    "clip and penalty": lambda r, a: clipped(r, a) + 0.3 * r.log(),
}


@pytest.mark.parametrize("kind", at_once("clip and penalty".__eq__, OBJECTIVES))
def test_other_objectives_are_declared_by_a_function(batch, kind):
    env, numbers = batch

    def loss(given, new, entropy, values):
        lead = (given["advantages"] - given["advantages"].mean()) / given["advantages"].std()
        ratio = (new - given["log_probs"]).exp()
        squares = (values - given["returns"]).cosh().log().mean()
        return squares - OBJECTIVES[kind](ratio, lead).mean() - 0.1 * entropy

    step = ppo(numbers, loss, vf_coef=1.0, value_loss=lambda errors: errors.cosh().log())
    assert not audit(env, step).ok
    right_one = replace(step, objective=OBJECTIVES[kind])
    assert audit(env, right_one).ok
    (found,) = audit(env, replace(right_one, ent_coef=-0.1)).findings
    assert found.mistake == "entropy-sign"
    (found,) = audit(env, replace(right_one, objective=lambda r, a: r * a**3)).findings
    assert found.mistake is None


def test_a_step_of_quantiles_is_refused_and_a_function_is_a_loss_of_action_values(batch):
    env, numbers = batch
    step = dqn(numbers, "huber", lambda v, t: (v - t).cosh().log().mean())
    assert not audit(env, step).ok
    assert audit(env, replace(step, loss=lambda errors: errors.cosh().log())).ok
    net = nn.Linear(3, 5 * Greed(12, 3).num_actions)
    quantiles = nn.Sequential(net, nn.Unflatten(1, (5, -1)))
    quantiles(torch.ones(1, 3)).sum().backward()
    step = replace(step, before=copy.deepcopy(quantiles), after=quantiles)
    with pytest.raises(InputError, match="one value for each action, got 5: .* as of QR-DQN"):
        audit(env, step)


def test_half_the_squares_are_declared_and_told_beside_what_has_the_same_numbers(batch):
    """Errors below 1 are half the squares to Huber's loss, too, and so is half the weight."""
    env, numbers = batch
    near = numbers | {"returns": 0.1 * numbers["returns"] - 0.5}
    assert np.abs(near["returns"]).max() < 1

    def loss(given, new, entropy, values):
        values = 0.1 * values
        squares = (values - given["returns"]) ** 2 / 2
        assert (values - given["returns"]).abs().max() < 1
        return right(given, new, entropy, values, squares=squares)

    step = ppo(near, loss)
    step = replace(step, critic=lambda seen: 0.1 * step.before["critic"](seen))
    (found,) = audit(env, step).findings
    assert found.mistake == "other-loss"
    assert "vf-coef-wrong" in found.words
    assert 'value_loss="half", or "huber" if no error is above 1' in found.words
    for declared in {"value_loss": "half"}, {"vf_coef": 0.25}:
        assert audit(env, replace(step, **declared)).ok


@pytest.mark.parametrize("name", at_once({None, "values-not-clipped"}.__contains__, CLIPS))
def test_the_loss_of_a_critic_may_be_clipped_and_a_wrong_clip_is_named(batch, name):
    env, numbers = batch
    old = np.random.default_rng(2).normal(-0.5, 0.3, size=len(numbers["returns"]))

    def loss(given, new, entropy, values):
        """Take the larger one of two squares, as CleanRL does."""
        clipped = CLIPS[name](values, torch.tensor(old, dtype=torch.float32))
        squares = [(each - given["returns"]) ** 2 for each in (values, clipped)]
        return right(given, new, entropy, values, squares=torch.max(*squares), vf_coef=50.0)

    findings = audit(env, ppo(numbers, loss, old_values=old, vf_coef=50.0)).findings
    assert [found.check for found in findings] == ["gradient"] * (name is not None)
    assert all(name in f"{found.mistake} {found.words}" for found in findings)


def test_a_batch_has_the_rows_of_its_rollout(batch):
    env, numbers = batch
    rows = np.random.default_rng(1).permutation(200)
    drawn, source = part_of(numbers, rows), {"rollout": whole(numbers), "rows": rows}
    report = audit(env, ppo(drawn, right, **source))
    assert not report.findings
    assert "rows" not in report.unchecked
    for name, given, mistake in (
        ("log_probs", numbers["log_probs"], "log-probs-in-another-order"),
        ("advantages", np.roll(drawn["advantages"], 1), "advantages-of-the-row-before"),
        ("returns", numbers["returns"].reshape(20, 10).T.ravel()[rows], "lanes-mixed"),
    ):
        (found,) = audit(env, ppo(drawn | {name: given}, right, **source)).findings
        assert (found.check, found.mistake) == (name, mistake)


def epoch(numbers, parts, **others):
    """Take a right step with each of some rows of the rollout."""
    rollout = whole(numbers, **others)
    return [ppo(part_of(numbers, rows), right, rollout=rollout, rows=rows) for rows in parts]


@pytest.mark.parametrize(
    ("ends", "mistake"),
    [([100, 200], None), ([100, 180], "rows-left-out"), ([100, 200, 220], "rows-repeated")],
)
def test_an_epoch_uses_each_move_once(batch, ends, mistake):
    env, numbers = batch
    steps = epoch(numbers, np.split(np.arange(ends[-1]) % 200, ends[:-1]))
    report = audit(env, steps)
    assert [found.mistake for found in report.findings] == [mistake] * (mistake is not None)
    report = audit(env, [replace(steps[0], advantages=-steps[0].advantages), *steps[1:]])
    assert [found.check for found in report.findings].count("gradient") == 1
    assert report.held["actions"] == ends[-1]


def test_an_epoch_without_the_rows_of_resets_is_right_and_its_findings_are_told_once(batch):
    env, numbers = batch
    used = np.arange(200).reshape(20, 10) % 7 != 3
    steps = epoch(numbers, np.array_split(np.flatnonzero(used), 3), used=used)
    assert audit(env, steps).ok
    every = [replace(step, rollout=whole(numbers)) for step in steps]
    assert [found.mistake for found in audit(env, every).findings] == ["rows-left-out"]
    loss = partial(right, ent_coef=-0.1)
    (found,) = audit(env, [ppo(numbers, right), *(ppo(numbers, loss) for _ in range(2))]).findings
    assert found.mistake == "entropy-sign"
    assert found.words.startswith("in 2 of 3 updates. update 1: it is off that of the loss")


def test_advantages_may_be_normalised_over_the_rollout(batch):
    env, numbers = batch
    mean, spread = numbers["advantages"].mean(), numbers["advantages"].std()
    rows = np.arange(60)

    def loss(given, *others):
        advantages = (given["advantages"] - mean) / spread
        return right(given, *others, advantages=advantages, mean=0.0, spread=1.0)

    source = {"rollout": whole(numbers), "rows": rows}
    step = ppo(part_of(numbers, rows), loss, **source, normalised="rollout")
    assert audit(env, step).ok
    assert not audit(env, replace(step, normalised=True)).ok


def test_numbers_that_are_not_finite_are_found(batch):
    env, numbers = batch
    step = ppo(numbers, partial(right, factor=np.nan))
    assert {found.check for found in audit(env, step).findings} == {"finite"}
    step = ppo(numbers | {"returns": np.where(np.arange(200) == 7, np.nan, 0.0)}, right)
    words = [found.words for found in audit(env, step).findings]
    assert "returns has nan in row 7." in words


def test_a_right_step_holds_up_to_a_factor_of_its_gradient(batch):
    env, numbers = batch
    report = audit(env, ppo(numbers, right))
    assert report.ok
    assert report.held == {"observations": 200, "actions": 200, "gradient": 36, "parameters": 4}
    assert not report.notes
    report = audit(env, ppo(numbers, partial(right, factor=200.0)))
    told = "gradients are those of the loss times 200, the number of moves: of a sum"
    assert report.notes == [told]
    report = audit(env, ppo(numbers, partial(right, factor=0.25)))
    assert report.notes == ["gradients are those of the loss times 0.25"]
    assert audit(env, ppo(numbers, partial(right, one=0))).ok
    first, second = ppo(numbers, right), ppo(numbers, partial(right, factor=3.0))
    there = {key: each.grad.clone() for key, each in first.after.named_parameters()}
    for key, parameter in second.after.named_parameters():
        parameter.grad += there[key]
    assert audit(env, replace(second, accumulated=there)).ok  # of those that were there before


def test_records_that_are_no_step_are_refused(batch):
    env, numbers = batch
    step = ppo(numbers, right)
    for message, record in (
        (r"after must have the gradients of loss.backward\(\)", replace(step, after=step.before)),
        ("before must be a torch module, got a int$", replace(step, before=3)),
        ("actor and critic must be those of the module before", replace(step, **step.after)),
        (r"actor must .* of shape \(200, \d+\)", replace(step, actor=step.before["critic"])),
        (r"returns must be of shape \(200,\), got \(199,\)", replace(step, returns=np.zeros(199))),
        ('normalised must be True, False or "rollout" beside', replace(step, normalised="rollout")),
        ("normalised must be True", replace(step, normalised="batch")),
        ("a list of records must be one or more of PolicyUpdate", []),
        ("each update must have an own copy of", [step, replace(step, learning_rate=0.1)]),
    ):
        with pytest.raises(InputError, match=message):
            audit(env, record)


KINDS = {"huber": nn.functional.smooth_l1_loss, "mse": nn.functional.mse_loss}


def linear(seed):
    torch.manual_seed(seed)
    return nn.Linear(3, Greed(12, 3).num_actions)


def dqn(numbers, loss, used, network=None, part=None, **declared):
    """Take a step of a linear network; the target network takes over a part of it, if any."""
    network, target = network or linear(0), linear(1)
    before, old = copy.deepcopy(network), copy.deepcopy(target)
    seen = torch.tensor(numbers["observations"], dtype=torch.float32)
    values = network(seen).gather(1, torch.tensor(numbers["actions"])[:, None]).squeeze(1)
    targets = torch.tensor(numbers["returns"], dtype=torch.float32)
    used(values, targets).backward()
    torch.optim.SGD(network.parameters(), lr=0.1).step()
    if part is not None:
        for mine, theirs in zip(target.parameters(), network.parameters(), strict=True):
            mine.data += part * (theirs.data - mine.data)
        declared |= {"target_before": old, "target_after": target}
    moves = (numbers[name] for name in ("observations", "actions", "returns"))
    return ValueUpdate(*moves, before, network, loss, **declared)


WEIGHTS = np.linspace(0.2, 1.0, 200)
HUBER, MSE = KINDS["huber"], KINDS["mse"]
#: The declared loss, the one that is used, what else is declared, and the mistake.
STEPS = [
    ("huber", HUBER, {}, None),
    ("mse", MSE, {}, None),
    ("huber", MSE, {}, "other-loss"),
    ("mse", HUBER, {}, "other-loss"),
    ("mse", lambda v, t: 0.5 * ((v - t) ** 2).sum(), {}, None),
    ("mse", lambda v, t: ((v - t).clamp(-1, 1) ** 2).mean(), {}, "errors-clipped-in-the-square"),
    ("mse", lambda v, t: ((v - t.roll(1)) ** 2).mean(), {}, "targets-of-the-row-before"),
    ("mse", lambda v, t: (torch.tensor(WEIGHTS) * (v - t) ** 2).mean(), {"weights": WEIGHTS}, None),
    ("mse", MSE, {"weights": WEIGHTS}, "weights-left-out"),
    ("huber", HUBER, {"part": 0.005, "copied": True, "tau": 0.005}, None),
    ("huber", HUBER, {"part": 0.0, "copied": True, "tau": 0.005}, "target-never-updated"),
    ("huber", HUBER, {"part": 0.1, "copied": True, "tau": 0.005}, "tau-wrong"),
]


@pytest.mark.parametrize(("loss", "used", "declared", "mistake"), STEPS)
def test_a_mistake_of_a_step_of_action_values_is_named(batch, loss, used, declared, mistake):
    env, numbers = batch
    report = audit(env, dqn(numbers, loss, used, **declared))
    assert [found.mistake for found in report.findings] == [mistake] * (mistake is not None)
    assert {"learning rate", "rows"} <= report.unchecked.keys()
    assert ("target network" in report.unchecked) != ("part" in declared)


def test_targets_have_no_gradient_and_belong_to_their_moves(batch):
    env, _ = batch
    game, rows = Greed(12, 3), np.arange(0, 200, 2)
    moves = transitions(play("Greed", steps=20, lanes=10, max_score=12, sides=3)[1])
    masks = torch.tensor(game.mask(game.encode(moves.next_observations)))
    goes_on = torch.tensor(~moves.terminated)

    def step(detached, targets=lambda found: found):
        network = linear(0)
        later = network(torch.tensor(moves.next_observations, dtype=torch.float32))
        later = later.masked_fill(~masks, -torch.inf).max(1).values
        found = torch.tensor(moves.rewards, dtype=torch.float32) + 0.9 * goes_on * later
        used, returns = found.detach() if detached else found, found.detach().numpy()
        source = Targets(moves, targets(returns), copy.deepcopy(network), gamma=0.9)
        drawn = {"observations": moves.observations, "actions": moves.actions, "returns": returns}
        loss = lambda values, _: MSE(values, used[rows])  # noqa: E731
        return dqn(part_of(drawn, rows), "mse", loss, network, source=source, rows=rows)

    assert audit(env, step(True)).ok
    assert [each.mistake for each in audit(env, step(False)).findings] == ["targets-not-detached"]
    (found,) = audit(env, step(True, lambda found: np.roll(found, 2))).findings
    assert (found.check, found.mistake) == ("targets", "targets-of-the-next-row")


def network(observations):
    """Prefer more dice with fewer points."""
    points = np.asarray(observations, dtype=float)[:, :1]
    return -((np.arange(8) + points / 3 - 4.2) ** 2)


def test_draws_that_another_law_explains_are_named():
    def choose(seen, masks, rng):
        best = np.where(masks, network(seen), -np.inf).argmax(1)
        return np.where(rng.random(len(seen)) < 0.5, at_random(seen, masks, rng), best)

    env, arrays = play("Greed", max_score=12, sides=3)
    masks = Greed(12, 3).mask(np.arange(Greed(12, 3).num_states))
    law = np.where(masks, np.array([0.2, 0.5, 0.3, *5 * [0]]) + 1e-3, 0)
    law /= np.maximum(law.sum(1, keepdims=True), 1e-9)
    findings = audit(env, rollout(arrays), law).findings
    assert {"policy": "random-actions"}.items() <= {f.check: f.mistake for f in findings}.items()
    env, arrays = play("Greed", max_score=12, sides=3, choose=choose)
    epsilon = np.full(arrays["actions"].shape, 0.5)
    assert audit(env, rollout(arrays), EpsilonGreedy(network, epsilon)).ok
    epsilon[7, 2] = -0.1
    (found,) = audit(env, rollout(arrays), EpsilonGreedy(network, epsilon)).findings
    assert (found.check, found.count) == ("epsilon", 1)
    assert "epsilon is -0.1 in row 7, 2" in found.words


def test_a_part_of_the_loss_that_is_too_small_to_be_checked_is_said(batch):
    """The entropy with the wrong sign does not show beside a critic whose errors are huge."""
    env, numbers = batch
    far = numbers | {"returns": numbers["returns"] + 1e4}
    for ent_coef in (0.1, -0.1):
        report = audit(env, ppo(far, partial(right, ent_coef=ent_coef)))
        assert report.ok
        words = "the gradient of the entropy is too small beside the others to be checked"
        assert words in report.notes


@pytest.mark.slow
def test_the_border_of_a_clip_is_told_though_it_is_no_usual_one(batch):
    env, numbers = batch
    loss = partial(right, low=0.73, high=1.27, vf_coef=1e-3)
    (found,) = audit(env, ppo(numbers, loss, vf_coef=1e-3)).findings
    assert found.mistake == "clip-wrong"
    border = float(found.words.split("1 - and + ")[1].split(":")[0])
    assert border == pytest.approx(0.27, abs=0.01)  # it lies between two ratios


class Nets(nn.Module):
    """An actor and a critic, with hidden layers that round under autocast."""

    def __init__(self, width, actions):
        super().__init__()
        torch.manual_seed(0)
        self.actor, self.critic = (
            nn.Sequential(nn.Linear(width, 64), nn.Tanh(), nn.Linear(64, out))
            for out in (actions, 1)
        )


@pytest.mark.parametrize("kind", [torch.bfloat16, later(torch.float16)])
@pytest.mark.parametrize("single", [False, True])
def test_networks_under_autocast_are_right_though_their_parameters_are_of_single_precision(
    kind, single
):
    env, arrays = play("Greed", steps=40, lanes=8, max_score=12, encoding="one_hot_float")
    game = env.unwrapped.task.game
    seen = torch.tensor(arrays["observations"]).flatten(0, 1)
    masks = torch.tensor(game.mask(AgentView(env).states_at(seen, "seen", (320,))))
    actions = torch.tensor(arrays["actions"].ravel())
    nets = Nets(seen.shape[1], game.num_actions)
    half = partial(torch.autocast, "cpu", kind)

    def law():
        logits = nets.actor(seen)
        logits = logits.float() if single else logits
        logits = logits.masked_fill(~masks, -torch.inf)
        return (logits - logits.logsumexp(1, keepdim=True)) if single else logits.log_softmax(1)

    def of_actions():
        return law().gather(1, actions[:, None]).squeeze(1)

    with torch.no_grad(), half():
        old, values = of_actions(), nets.critic(seen)[:, 0]
    numbers = {"log_probs": old, "values": values}
    numbers = {name: each.float().reshape(40, 8) for name, each in numbers.items()}
    record = rollout(arrays, **numbers)
    report = audit(env, record, nets.actor, nets.critic)
    if single and kind == torch.bfloat16:
        (found,) = report.findings
        assert (found.check, found.mistake) == ("log_probs", None)
        assert "say half=True" in found.words
        report = audit(env, replace(record, half=True), nets.actor, nets.critic)
    assert report.ok, report
    far = replace(record, half=True, values=numbers["values"] + 0.1)
    assert [each.check for each in audit(env, far, nets.actor, nets.critic).findings] == ["values"]
    lead, returns = torch.randn(2, 320, generator=torch.Generator().manual_seed(1))
    for _ in range(3):
        before = copy.deepcopy(nets)
        nets.zero_grad()
        with half():
            ratio = (of_actions() - old).exp()
            near = torch.min(ratio * lead, ratio.clamp(0.8, 1.2) * lead).mean()
            (((nets.critic(seen)[:, 0] - returns) ** 2).mean() / 2 - near).backward()
        with torch.no_grad():
            for parameter in nets.parameters():
                parameter -= 0.5 * parameter.grad
        after = copy.deepcopy(nets)
        for own, other in zip(after.parameters(), nets.parameters(), strict=True):
            own.grad = other.grad.clone()
        step = PolicyUpdate(
            *(seen, actions, old, lead, returns, before, after, before.actor, before.critic),
            normalised=False,
        )
        report = audit(env, step)
        assert report.ok, report

"""The environments in JAX: the law of ``P``, the rewards and ends of the other environments."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from exactdice.baselines import make_task, prepare
from exactdice.core import AliasLaws, InputError
from exactdice.core.positions import states_of
from exactdice.envs import Encoding, EncodingName, Engine
from exactdice.envs.engine.tables import process_of
from exactdice.envs.planners import tabulate_transitions
from small_games import SMALL
from spawned import printed_by
from tabled import require_tables

import exactdice

jax = pytest.importorskip("jax")
jax.config.update("jax_disable_most_optimizations", True)  # programs of tests run once
jnp = jax.numpy
xj = exactdice.jax
draw = pytest.importorskip("exactdice.envs.jax.environment").draw

#: Games, with a seat, a policy of the others, and a reward: several contexts, moves that pay early,
#: cycles.
CASES = [
    ("Greed", SMALL["Greed"][0], 1, "random", "outcome"),
    ("LowestScore", SMALL["LowestScore"][0], 2, "random", "shaped"),
    ("ShutTheBox", SMALL["ShutTheBox"][0], 1, "equilibrium", "outcome"),
    ("FourTwoOne", SMALL["FourTwoOne"][0], 0, None, "outcome"),
    ("FourTwoOneMatch", SMALL["FourTwoOneMatch"][1], 1, "equilibrium", "regret"),
    ("Rounds", {"players": 2, "others": Fraction(1, 2)}, 1, "random", "shaped"),
]
WORD = 2.0**32


@pytest.fixture(autouse=True)
def rounds(own_games):
    """Register a game whose moves pay before the end, and a game of moves with cycles."""
    own_games("small_games:Rounds")
    own_games(f"{Path(__file__).parents[2] / 'examples/pig.py'}:Pig")


def made(name, sizes, seat, policy, **options):
    """Make an environment; a policy is that of the other players."""
    if policy is not None:
        sizes = {**sizes, make_task(name, 0, **sizes).game.opponent_keyword: policy}
    return xj.make(name, seat, **options, **sizes)


def states_in(process, states):
    """Give some states of the game as states of the environment."""
    places, contexts = map(jnp.asarray, process.groups.locate(states))
    zeros = jnp.zeros(len(states), dtype=jnp.int32)
    return xj.State(places.astype(int), contexts.astype(int), zeros * 1.0, zeros)


@pytest.mark.parametrize(("name", "sizes", "seat", "policy"), [case[:4] for case in CASES[:-1]])
def test_the_tables_have_the_law_of_every_move(name, sizes, seat, policy):
    """Within 1e-9, for any outcome of any move, whatever the others reply."""
    env, params = made(name, sizes, seat, policy)
    moves, nodes = (np.asarray(t).reshape(-1, t.shape[-1]).T for t in (params.moves, params.nodes))
    thresholds, aliases = np.asarray(params.slots).T
    firsts, laws = np.unique(np.append(moves[1], nodes[1]), return_inverse=True)
    sizes = np.zeros(len(firsts), dtype=np.int64)
    sizes[laws] = np.append(moves[0], nodes[0])
    tables = {
        "laws": AliasLaws(sizes * 1.0, firsts, thresholds / WORD, aliases.astype(np.int64)),
        "move_laws": laws[: moves.shape[1]],
        "node_laws": laws[moves.shape[1] :],
        "move_firsts": moves[2],
        "node_firsts": nodes[2],
        "node_contexts": nodes[3],
        "leads_to": np.asarray(params.leads_to),
        "events": np.asarray(params.events).ravel(),
        "legal": np.int8(params.legal),
    }
    require_tables(env.task, replace(process_of(prepare(env.task)), **tables), within=1e-9)
    sizes = np.unique(sizes)  # a slot has WORD // size words, or 1 more
    assert ((sizes * (WORD // sizes) / WORD - 1) > -sizes / WORD).all()


@pytest.mark.parametrize("kind", [{"impl": "threefry2x32"}, {"impl": "rbg"}, None])
def test_keys_of_every_kind_draw_from_the_law(kind):
    """Typed keys and those of two plain words, 20,000 rolls of a die with four sides."""
    env, params = xj.make("Greed", max_score=9, sides=4, opponent="terminal", reward="regret")
    make = jax.random.PRNGKey if kind is None else partial(jax.random.key, **kind)
    keys = jax.random.split(make(5), 20_000)
    _, start = env.reset(keys[0], params)
    entries = jax.vmap(draw, (0, None, None, None))(keys, 0, params, params.moves[start.place, 1])
    counts = np.unique(entries, return_counts=True)[1]
    np.testing.assert_allclose(counts / 20_000, np.full(4, 0.25), atol=5 * 0.433 / 141)


def counted(env, params, repeats):
    """Make every move often, and count its ends: {(state, action, next, reward): count}."""
    game, process = env.task.game, process_of(prepare(env.task))
    own = states_of(game, env.task.seat)
    states = np.repeat(own, game.num_actions * repeats)
    actions = np.tile(np.repeat(np.arange(game.num_actions), repeats), len(own))
    keys = jax.random.split(jax.random.key(0), len(states))
    make_moves = jax.jit(jax.vmap(env.step_env, (0, 0, 0, None)))
    _, after, rewards, over, info = make_moves(keys, states_in(process, states), actions, params)
    ended, rewards = np.asarray(over), np.asarray(rewards, dtype=float).round(5)
    later = process.groups.states(np.asarray(after.place), np.asarray(after.context))
    legal = game.mask(states)[np.arange(len(states)), actions]
    np.testing.assert_array_equal(info["illegal_action"], ~legal)
    np.testing.assert_array_equal(later[ended], states[ended])  # where the last move was
    later = np.where(ended, game.num_states, later)
    columns = (column.tolist() for column in (states, actions, later, rewards))
    return Counter(zip(*columns, strict=True))


@pytest.mark.parametrize(
    ("name", "sizes", "seat", "policy", "reward"),
    [pytest.param(*case, marks=pytest.mark.slow if case in CASES[:4] else []) for case in CASES],
)
def test_moves_end_as_in_P_and_pay_its_rewards(name, sizes, seat, policy, reward):  # noqa: N802
    """By a chi-square test, at 5 deviations."""
    env, params = made(name, sizes, seat, policy, reward=reward)
    transitions = tabulate_transitions(Engine(env.task, 1, env.reward))
    found, moves, wanted = counted(env, params, 100), 100, Counter()
    for state in states_of(env.task.game, env.task.seat).tolist():
        for action, ways in transitions[state].items():
            for chance, later, paid, _ in ways:
                wanted[state, action, later, round(float(np.float32(paid)), 5)] += chance
    assert found.keys() <= wanted.keys()
    expected = np.array([*wanted.values()]) * moves
    seen = np.array([found[end] for end in wanted])
    often = expected > 5
    square = ((seen - expected)[often] ** 2 / expected[often]).sum()
    assert not (expected == moves)[seen != moves].any()
    freedom = often.sum() - len({end[:2] for end in wanted})
    assert abs(square - freedom) < 5 * np.sqrt(2 * freedom) + 5


def test_games_end_as_in_the_core_and_begin_again():
    """In 40 random legal moves of each of 2,000 lanes."""
    env, params = xj.make("ShutTheBox", 1, tiles=6, encoding="integer")
    game, process = env.task.game, process_of(prepare(env.task))

    def step(state, key):
        keys = jax.random.split(key, 2001)
        legal = jax.vmap(env.legal, (0, None))(state, params)
        noise = jax.random.uniform(keys[-1], legal.shape)
        actions = jnp.argmax(jnp.where(legal, noise, -1), axis=1)
        seen, *told = jax.vmap(env.step, (0, 0, 0, None))(keys[:-1], state, actions, params)
        return told[0], (seen, *told)

    first, rest = jax.random.split(jax.random.key(1))
    begun = jax.vmap(env.reset, (0, None))(jax.random.split(first, 2000), params)[1]
    played = jax.lax.scan(step, begun, jax.random.split(rest, 40))[1]
    seen, states, rewards, over, truncated, info = played
    numbers = process.groups.states(np.asarray(states.place), np.asarray(states.context))
    np.testing.assert_array_equal(seen, game.observe(numbers.ravel(), 1).reshape(seen.shape))
    masks = game.mask(numbers.ravel()).reshape(info["action_mask"].shape)
    np.testing.assert_array_equal(info["action_mask"], masks)
    over = np.asarray(over)
    assert not truncated.any()
    assert (states.time[over] == 0).all()
    np.testing.assert_array_equal(info["terminated"], over)
    np.testing.assert_array_equal(info["outcome"], np.where(over, rewards, 0))
    last = np.asarray(info["final_observation"])
    np.testing.assert_array_equal(last[~over], np.asarray(seen)[~over])
    np.testing.assert_array_equal(last[1:][over[1:]], np.asarray(seen)[:-1][over[1:]])
    begun = np.bincount(numbers[over], minlength=game.num_states)
    assert not begun[prepare(env.task).initial == 0].any()
    np.testing.assert_allclose(begun / over.sum(), prepare(env.task).initial, atol=5 * 0.5 / 70)
    outcomes = exactdice.score("random", env.task).outcomes
    paid, count = np.unique(np.asarray(rewards)[over], return_counts=True)
    assert paid.tolist() == [*outcomes]
    np.testing.assert_allclose(count / over.sum(), [*outcomes.values()], atol=5 * 0.5 / 70)


@pytest.mark.parametrize("encoding", get_args(EncodingName))
def test_every_encoding_is_that_of_the_other_environments(encoding):
    env, params = xj.make("LowestScore", 3, dice=3, encoding=encoding)
    own = states_of(env.task.game, 3)
    states = states_in(process_of(prepare(env.task)), own)
    seen = jax.vmap(env.get_obs, (0, None))(states, params)
    coded = Encoding(env.task.game.observation_sizes, encoding)
    np.testing.assert_array_equal(seen, coded.encode(env.task.game.observe(own, 3)))
    space = env.observation_space(params)
    assert (seen.shape[1:], seen.dtype) == (space.shape, space.dtype)
    assert space.contains(seen)
    assert space.sample(jax.random.key(0)).shape == space.shape
    actions = env.action_space(params)
    assert actions.n == env.num_actions
    assert actions.contains(actions.sample(jax.random.key(0)))


@pytest.mark.parametrize("encoding", ["one_hot", "thermometer"])
def test_the_first_product_of_integers_is_that_of_their_bits(encoding):
    """Its gradient is, too; whole numbers are added up without rounding."""
    game = make_task("LowestScore", 3, dice=3).game
    states = states_of(game, 3)
    seen = jax.numpy.asarray(game.observe(states, 3))
    bits = Encoding(game.observation_sizes, encoding).encode(np.asarray(seen)).astype(np.float32)
    rng = np.random.default_rng(0)
    kernel = rng.integers(-9, 10, (bits.shape[1], 5)).astype(np.float32)
    pulled = rng.integers(-9, 10, (len(bits), 5)).astype(np.float32)
    product = partial(xj.first_product, seen, sizes=game.observation_sizes, encoding=encoding)
    found, back = jax.vjp(product, kernel)
    np.testing.assert_array_equal(found, bits @ kernel)
    np.testing.assert_array_equal(back(pulled)[0], bits.T @ pulled)
    with pytest.raises(InputError, match="encoding must be"):
        xj.first_product(seen, kernel, game.observation_sizes, "scaled")


SCORED = [
    *CASES[3:],
    ("Greed", {"max_score": 30}, 0, "random"),
    ("Pig", {"target": 12}, 1, "random"),
]
SCORED.append(("LowestScore", {"dice": 3, "players": 3}, 2, None))


@pytest.mark.parametrize(("name", "sizes", "seat", "policy"), [case[:4] for case in SCORED])
@pytest.mark.parametrize(("bits", "deterministic"), [(32, True), (64, False)])
def test_scores_in_jax_are_the_numbers_of_the_core(name, sizes, seat, policy, bits, deterministic):
    """To the last bit, inside ``jit``, ``scan`` and ``vmap``; with 32 bits the nearest float."""
    with jax.enable_x64(bits == 64):
        env, _ = made(name, sizes, seat, policy)
        law = env.exact_law()
        seen = law.sights.encoded(law.places[0], law.contexts[0])
        shape = 2, len(seen), law.legal.shape[-1]
        # Networks whose logits are the same in any order of summation.
        weights = jnp.round(64 * jax.random.normal(jax.random.key(1), shape)) / 64
        coded = Encoding(env.sizes, env.encoding)
        act = lambda weights, seen: seen.astype(weights.dtype) @ weights  # noqa: E731
        one = lambda weights: xj.exact_score(law, partial(act, weights), deterministic)  # noqa: E731
        step = lambda carry, _: (carry, jax.vmap(one)(weights))  # noqa: E731
        found = jax.jit(lambda: jax.lax.scan(step, 0, length=2)[1])()
        dtype = np.float32 if bits == 32 else np.float64
        for index, own in enumerate(weights):
            act_in = lambda seen, own=own: coded.encode(seen) @ np.asarray(own)  # noqa: E731
            network = exactdice.from_network(act_in, env.task, deterministic)
            core = exactdice.score(network, env.task)
            for figure in ("value", "regret", "normalized"):
                ours = np.asarray(getattr(found, figure))[:, index]
                assert (ours == dtype(getattr(core, figure))).all()


def test_opponents_of_one_game_are_scored_by_one_program_and_compile_nothing_anew():
    """Their tables have different lengths, but for those of one kind."""
    game = make_task("Greed", 0, max_score=5, sides=3).game
    none = np.zeros(game.num_states, dtype=int)
    one = game.mask(np.arange(game.num_states))[:, 1] * 1
    every = [xj.make("Greed", max_score=5, sides=3, opponent=o) for o in (none, one, "random")]
    envs, params = zip(*every, strict=True)
    assert set(envs) == {envs[0]}
    assert len(jax.tree.leaves(xj.stack(*params))[0]) == 3
    laws = xj.stack(*(env.exact_law() for env in envs))
    exact = [exactdice.score("random", env.task).value for env in envs]
    assert len(set(exact)) == 3
    zeros = lambda seen: jnp.zeros((len(seen), envs[0].num_actions))  # noqa: E731
    uniform = jax.jit(jax.vmap(lambda law: xj.exact_score(law, zeros, deterministic=False)))
    np.testing.assert_allclose(uniform(laws).value, exact, atol=1e-6)
    before = envs[0].step._cache_size()
    for number, (env, tables) in enumerate([every[0], every[1], every[0]]):
        key = jax.random.key(number)
        env.step(key, env.reset(key, tables)[1], jnp.int32(0), tables)
    assert envs[0].step._cache_size() == before + 1


def test_a_step_of_gymnax_0_has_five_values_and_an_action_outside_the_space_is_illegal():
    env, params = xj.make("Greed", max_score=5, sides=3, legacy=True)
    key = jax.random.key(0)
    for action in (-1, 0, env.num_actions):
        _, state = env.reset(key)
        seen, state, reward, over, info = env.step(key, state, action)
        assert seen.shape == env.observation_space(params).shape
        assert (bool(over), float(reward)) == (bool(info["terminated"]), float(info["outcome"]))
        assert bool(info["illegal_action"]) == (action != 0)
        assert action == 0 or (over, reward) == (True, 0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: xj.stack(*(xj.make("Greed", max_score=n)[1] for n in (5, 6))), "must be of envi"),
        (lambda: xj.make("Gred"), "game must be one of Greed, .* did you mean"),
        (lambda: xj.make("Greed", reward="points"), "reward must be one of 'outcome', 'regret'"),
        (lambda: xj.make("Greed", encoding="bits"), "encoding must be one of 'integer', 'one_hot'"),
        (lambda: xj.make("Yahtzee", boxes="ones,chance"), "game must fit into tables, .* Yahtzee"),
    ],
)
def test_what_jax_cannot_do_is_refused(call, message):
    with pytest.raises(exactdice.InputError, match=message):
        call()


@pytest.mark.parametrize("deterministic", [True, False])
def test_a_network_of_nothing_gets_no_score(deterministic):
    law = xj.make("FourTwoOne", dice=1, faces=2, casts=1, utility="sum")[0].exact_law()
    nothing = lambda seen: jnp.full((len(seen), 2), jnp.nan)  # noqa: E731
    assert np.isnan(xj.exact_score(law, nothing, deterministic).normalized)
    with pytest.raises(exactdice.InputError, match="apply_fn must give logits of shape .*, got"):
        xj.exact_score(law, lambda seen: seen[:, :1], deterministic)


@pytest.mark.parametrize("missing", ["None", "jax"])
def test_jax_is_imported_when_it_is_asked_for(missing):
    """Without it the error names the extra."""
    code = (
        "import sys, exactdice\nassert 'jax' not in sys.modules\n"
        f"sys.modules[{missing!r}] = None\n"
        "try: exactdice.jax.make('Greed', max_score=5)\n"
        "except AttributeError as error: print(error)"
    )
    wanted = "exactdice.jax needs more libraries (jax): pip install 'exactdice[jax]'"
    assert printed_by(code) == ("" if missing == "None" else wanted)

"""Laws in PETSc's files, and bounds of their optimum that hold for whatever values they are given.

The law is solved a second time in fractions, by the solver of whole laws.
"""

import struct
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse
from exactdice.baselines.law import petsc
from exactdice.core import InputError

import exactdice


def draw(seed, states=7, actions=3):
    """Draw a law whose probabilities are whole 64ths, so that floats and fractions are one law."""
    rng = np.random.default_rng(seed)
    parts = rng.multinomial(64, rng.dirichlet(np.full(states, 0.4)), (actions, states))
    return [each / 64 for each in parts], rng.integers(-16, 17, (states, actions)) / 8


def written(folder, law, rewards, sizes=(3, 4)):
    """Write a law in pieces of so many states."""
    matrices = [scipy.sparse.csr_array(each) for each in law]
    rows = scipy.sparse.vstack(matrices).tocsr()
    count, actions = rewards.shape
    order = (np.arange(actions)[None] * count + np.arange(count)[:, None]).ravel()
    bounds = [0, *np.cumsum(sizes)]
    exactdice.write_law(
        [
            (rows[order[first * actions : last * actions]], rewards[first:last])
            for first, last in pairwise(bounds)
        ],
        folder,
    )


def exactly(law, rewards, gamma):
    task = exactdice.from_P(law, 0, rewards=rewards, gamma=gamma)
    return exactdice.solve(task, exact=True).values[0]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("gamma", [0.0, 0.5, 0.99])
def test_bounds_hold_from_any_values(seed, gamma, tmp_path):
    """From 0, from noise, from values above and below all, and from the optimum itself."""
    law, rewards = draw(seed)
    written(tmp_path, law, rewards)
    true = exactly(law, rewards, Fraction(str(gamma)))
    rng = np.random.default_rng(seed)
    for given in (None, rng.normal(size=7) * 100, np.full(7, 1e4), np.full(7, -1e4), true):
        values = None if given is None else given.astype(float)
        for sweeps in (1, 2, 5, 1000):
            found = exactdice.prove(tmp_path, gamma, values, 1e-9, sweeps)
            # Fractions stand for the decimal of gamma, which the float misses by a rounding.
            missed = max(
                abs(Fraction(float(v)) - t) for v, t in zip(found.values, true, strict=True)
            )
            assert missed <= found.error + 1e-11
            assert found.sweeps <= sweeps
        assert found.error <= 1e-9
    assert exactdice.prove(tmp_path, gamma, true.astype(float)).sweeps == 1


@pytest.mark.parametrize("seed", range(4))
def test_the_actions_are_worth_what_the_bound_says(seed, tmp_path):
    law, rewards = draw(seed)
    written(tmp_path, law, rewards)
    task = exactdice.from_P(law, 0, rewards=rewards, gamma=0.9)
    found = exactdice.prove(tmp_path, 0.9, np.random.default_rng(seed).normal(size=7), sweeps=2)
    worth = exactdice.evaluate(found.actions, task).values[0]
    assert (worth >= found.values - found.error - 1e-12).all()


def test_files_are_those_of_the_manual(tmp_path):
    """Big-endian: the mark, the sizes, the entries of each row, their columns, their values."""
    law = [np.array([[0.25, 0.75], [0.0, 1.0]]), np.eye(2)]
    written(tmp_path, law, np.array([[1.0, 0.0], [2.0, -3.0]]), (2,))
    head = struct.pack(">4i", 1211216, 4, 2, 5)
    body = struct.pack(">4i", 2, 1, 1, 1) + struct.pack(">5i", 0, 1, 0, 1, 1)
    assert (tmp_path / "P.bin").read_bytes() == head + body + struct.pack(
        ">5d", 0.25, 0.75, 1, 1, 1
    )
    paid = struct.pack(">4i2i3i3d", 1211216, 2, 2, 3, 1, 2, 0, 0, 1, 1.0, 2.0, -3.0)
    assert (tmp_path / "g.bin").read_bytes() == paid


def test_ways_to_one_state_are_one_entry(tmp_path):
    """Processes of PETSc lose all but one entry of a place: slippery lakes have two to a hole."""
    exactdice.write_law(
        exactdice.from_P(
            {0: {0: [(0.5, 0, 1, False), (0.25, 0, 3, True), (0.25, 0, 5, True)]}}, 0, 0.5
        ),
        tmp_path,
    )
    ((own, chances, paid),) = petsc.LawFiles(tmp_path).pieces()
    assert (own, chances.nnz) == (slice(0, 2), 3)
    assert chances.toarray().tolist() == [[0.5, 0.5], [0, 1]]
    assert paid.tolist() == [[2.5], [0]]


def test_a_game_with_ends_and_illegal_actions_keeps_its_optimum(tmp_path):
    """The end is the last state; illegal actions are as the first legal one."""
    law = {
        0: {0: [(1, 1, -1, False)], 1: [(0.5, 0, 1, True), (0.5, 2, 0, False)]},
        1: {0: [], 1: [(1, 0, 2, True)]},
        2: {0: [(1, 2, 1, False)], 1: []},
    }
    task = exactdice.from_P(law, 0, gamma=0.75)
    exactdice.write_law(task, tmp_path)
    found = exactdice.prove(tmp_path, 0.75, error=1e-12)
    assert found.values == pytest.approx([*exactdice.solve(task).values[0], 0], abs=1e-11)
    assert found.values == pytest.approx([2, 2, 4, 0], abs=1e-11)
    task.game.mask(np.arange(3))[np.arange(3), found.actions[:3]]


def test_values_come_as_texts_or_vectors(tmp_path):
    values = np.array([0.5, -2.0, 3.25])
    (tmp_path / "text").write_text("0.5\n-2\n3.25\n")
    (tmp_path / "vector").write_bytes(struct.pack(">2i3d", 1211214, 3, *values))
    for name in ("text", "vector"):
        assert (petsc.read_values(tmp_path / name, 3) == values).all()
        with pytest.raises(InputError, match=f"{name} must have 4 finite values"):
            petsc.read_values(tmp_path / name, 4)
    (tmp_path / "text").write_text("0.5\nnan\n3.25\n")
    with pytest.raises(InputError, match="finite"):
        petsc.read_values(tmp_path / "text", 3)


def test_what_is_no_law_is_refused(tmp_path):
    law, rewards = draw(0)
    for name, change in {
        "sums": lambda law, rewards: law[1].__setitem__(4, law[1][4] * (1 + 1e-8)),
        "signs": lambda law, rewards: law[1].__setitem__((4, slice(2)), (-0.5, 1.5)),
        "rewards": lambda law, rewards: rewards.__setitem__((4, 1), np.inf),
    }.items():
        wrong, paid = [each.copy() for each in law], rewards.copy()
        if name == "signs":
            wrong[1][4] = 0
        change(wrong, paid)
        written(tmp_path / name, wrong, paid)
        with pytest.raises(InputError, match="for action 1 in state 4"):
            exactdice.prove(tmp_path / name, 0.5)
    written(tmp_path / "right", law, rewards)
    with pytest.raises(InputError, match="without a law, got"):
        written(tmp_path / "right", law, rewards)
    for gamma in (1, 1.5, -0.1, float("nan")):
        with pytest.raises(InputError, match="gamma must be from 0 to 1"):
            exactdice.prove(tmp_path / "right", gamma)
    with pytest.raises(InputError, match="values must be 7 finite numbers"):
        exactdice.prove(tmp_path / "right", 0.5, np.zeros(6))
    place = tmp_path / "right" / "P.bin"
    whole = place.read_bytes()
    for content in (whole[:-1], b"\0" * len(whole), whole[:10], b""):
        place.write_bytes(content)
        with pytest.raises(InputError, match="must be a whole matrix of PETSc"):
            exactdice.prove(tmp_path / "right", 0.5)
    for at, number, said in ((16, -1, "rows of 0 or more"), (16 + 4 * 21, 7, "columns below 7")):
        place.write_bytes(whole[:at] + struct.pack(">i", number) + whole[at + 4 :])
        with pytest.raises(InputError, match=said):
            exactdice.prove(tmp_path / "right", 0.5)
    place.write_bytes(whole)
    with pytest.raises(InputError, match="sweeps must be"):
        exactdice.prove(tmp_path / "right", 0.5, sweeps=0)
    place.write_bytes((tmp_path / "right" / "g.bin").read_bytes())
    with pytest.raises(InputError, match=r"P.bin must be of shape \(21, 7\)"):
        exactdice.prove(tmp_path / "right", 0.5)
    with pytest.raises(InputError, match="law must be listed, of one player"):
        exactdice.write_law(exactdice.Task(exactdice.baselines.make_game("Greed")), tmp_path / "no")


def test_sums_above_one_are_in_the_bound(tmp_path):
    """Probabilities may miss 1 in 10^9 parts: the discount is as much larger."""
    over = 1 + 9e-10
    written(tmp_path, [np.array([[over]])], np.ones((1, 1)), (1,))
    found = exactdice.prove(tmp_path, 0.999, error=1e-9, sweeps=100_000)
    true = 1 / (1 - Fraction(0.999) * Fraction(over))
    assert abs(Fraction(float(found.values[0])) - true) <= Fraction(found.error)


@pytest.mark.usefixtures("own_games")
def test_the_commands_export_and_prove(tmp_path, run):
    lake = tmp_path / "lake"
    words = ("export", "gym:FrozenLake-v1", str(lake), "--env", "horizon", "0", "gamma")
    assert "gamma must be a number from 0 to 1, got 'abc'" in run(*words, "abc")[2]
    assert run(*words, ".9")[1] == f"{lake}: 16 states, 4 actions\n"
    value = exactdice.solve(
        exactdice.Task(exactdice.envs.find_game("gym:FrozenLake-v1")(gamma=0.9, horizon=0))
    ).value
    out = tmp_path / "found.npz"
    code, said, _ = run("prove", str(lake), "--gamma", ".9", "--error", "1e-9", "--out", str(out))
    assert code == 0
    assert "the optimal value of each of 17 states is known within" in said
    with np.load(out) as found:
        assert abs(found["values"][0] - value) <= found["error"] + 1e-12
        np.savetxt(tmp_path / "values.txt", found["values"])
    words = ("prove", str(lake), "--gamma", ".9", "--values", str(tmp_path / "values.txt"))
    assert "after 1 sweep\n" in run(*words)[1]
    assert "P.bin: no such file or directory" in run("prove", str(tmp_path), "--gamma", ".9")[2]

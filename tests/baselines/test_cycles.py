"""Games with cycles: fixed points against elimination by hand, and what is refused."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from exactdice.baselines import SimpleGame, Task, evaluate, prepare, score, solve
from exactdice.baselines.operators import cycles
from exactdice.baselines.operators.players import Players
from exactdice.baselines.problem.equilibrium import equilibrium
from exactdice.core.sweeps import sweeps_of
from exactdice.envs import sparse_law
from exactdice.games import GameError, InputError, SizeError
from random_games import RandomGame
from tabled import require_same_law

from exactdice.testing import check_game


@pytest.mark.slow
def test_blocks_that_lead_to_the_last_and_not_to_one_another_are_swept_as_the_listing():
    """See ``tests/test_testing.py`` for other games with cycles."""

    class Apart(RandomGame):
        def ways_on(self, state):
            size, last = self.levels * self.width, self.num_states // (self.levels * self.width) - 1
            ways = super().ways_on(state)
            return ways[(ways // size == state // size) | (ways // size == last)]

    check_game(Apart(26))


@pytest.mark.parametrize("seed", [0, 22, 26])
def test_others_who_move_in_circles_are_part_of_the_sparse_law(seed):
    for seat, opponent in product((0, 1), ("random", "optimal")):
        require_same_law(Task(RandomGame(seed), seat, opponent))


class Backwards(RandomGame):
    def block(self, seat, states):
        blocks, cut = super().block(seat, states)
        return 2 - blocks, cut


class Uncut(RandomGame):
    """Names a cut that some cycles do not pass."""

    def block(self, seat, states):
        blocks, cut = super().block(seat, states)
        return blocks, cut & (states % self.width == 0)


@pytest.mark.parametrize("rules", [Backwards, Uncut])
@pytest.mark.parametrize("ask", [solve, lambda task: evaluate("random", task)])
def test_moves_that_lead_back_are_named(rules, ask):
    with pytest.raises(
        GameError,
        match=r"a move must lead to a later block, in its own to a later stage or to the cut, or "
        r"end the game, got action \d of player \d in state \d+, which leads to player \d in state",
    ):
        ask(Task(rules(), 0, "random"))


def test_games_that_need_not_end_are_refused():
    class Endless(RandomGame):
        """Has a state whose only action leads back to it, for ever."""

        def __init__(self, seed=0):
            super().__init__(seed)
            self._legal[0, 1:] = False
            self._over[0, 0], self._to[0, 0], self._seats[0, 0] = False, 0, 0

    task, theirs = (Task(Endless(), seat, "random") for seat in (0, 1))
    asks = [lambda: solve(task), lambda: solve(task, exact=True)]
    for ask in (*asks, lambda: sparse_law(prepare(theirs))):
        with pytest.raises(GameError, match="must end .* come back for ever to state 0 of player"):
            ask()


def test_three_free_players_and_moves_without_room_are_refused(monkeypatch):
    with pytest.raises(InputError, match="an equilibrium must be of a game without cycles"):
        equilibrium(RandomGame(players=3))
    monkeypatch.setenv("EXACTDICE_LIMIT", "1e-7")
    with pytest.raises(SizeError, match=r"^listed outcomes of moves must be at most 16, got \d+:"):
        solve(Task(RandomGame(30), 0, "optimal"))


def test_blunders_say_how_often_they_are_met():
    """A state may be met more than once in a game."""
    (worst,) = score("random", Task(RandomGame(1), 0, "random")).blunders(1)
    assert f"met {worst.occupancy:.4f} times a game" in worst.words


class Whirl(SimpleGame):
    """A game in which both players choose their best at once, and so go in circles for ever."""

    owners = np.array([1, 0, 1, 0])
    to = np.array([[-1, 3], [-1, 3], [3, -1], [0, 2]])  # by state and action, -1 for the end
    paid = np.array([[612, 937], [823, 912], [389, 614], [513, 811]])  # thousandths to player 0

    def start(self):
        return [(1, 1)]

    def player(self, state):
        return self.owners[state]

    def actions(self, state):
        return [0, 1]

    def outcomes(self, state, action):
        paid = Fraction(int(self.paid[state, action]), 1000) * (-1) ** int(self.owners[state])
        if self.to[state, action] < 0:
            return [(1, paid, None)]
        return [(Fraction(1, 100), paid, None), (Fraction(99, 100), 0, int(self.to[state, action]))]


def value_of(actions):
    """Compute the value of every state of ``Whirl`` to player 0 under one action a state."""
    each = np.arange(4), np.array(actions)
    to, paid = Whirl.to[each], Whirl.paid[each] / 1000
    chances = np.zeros((4, 4))
    chances[to >= 0, to[to >= 0]] = 0.99
    return np.linalg.solve(np.eye(4) - chances, np.where(to >= 0, 0.01, 1) * paid)


@pytest.mark.parametrize("exact", [False, True])
def test_players_who_improve_at_once_in_circles_improve_in_turn(exact, monkeypatch):
    """The value is that of all pairs of plans, one by one."""
    in_turn = []
    respond = Players.respond
    monkeypatch.setattr(Players, "respond", lambda *asked: in_turn.append(1) or respond(*asked))
    game = Whirl()
    values = equilibrium(game, exact).values[0]
    assert in_turn
    places = [(int(Whirl.owners[s]), np.array([game.states.index(s)])) for s in range(4)]
    found = [float(values.at(*place)[0]) for place in places]
    plans = list(product((0, 1), repeat=2))
    worst = [[value_of([a, b, c, d]) for a, c in plans] for b, d in plans]  # by theirs, by ours
    wanted = np.max(np.min(worst, axis=1), axis=0)  # plans need no chance, and no memory
    np.testing.assert_allclose(found, wanted, atol=1e-12)


@pytest.mark.parametrize("players", [1, 2])
def test_what_a_fixed_point_misses_counts_for_every_decision_of_a_stay(players, monkeypatch):
    """As if each block were solved up to a residual of 1e-9."""
    law, solve_block = sweeps_of(RandomGame(3, players)), cycles.solve_block
    assert cycles.fixed_point(Players(law, 0, {}))[1] < 1e-12
    monkeypatch.setattr(cycles, "solve_block", lambda *given: solve_block(*given) + 1e-9)
    stays = cycles.longest_stays(law, 0)
    assert stays.max() > 2
    bound = cycles.fixed_point(Players(law, 0, {}))[1]
    assert stays.max() * 1e-9 <= bound <= stays.sum() * 1.001e-9

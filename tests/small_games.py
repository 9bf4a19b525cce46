"""Games small enough to be listed move by move."""

from fractions import Fraction

import numpy as np
from exactdice.games import Game, Leg, Move, Turn, TurnGame

#: Sizes small enough to list P, by game.
SMALL = {
    "Greed": [{"max_score": 4, "sides": 3}, {"max_score": 3, "sides": 2, "tie": "lost"}],
    "LowestScore": [
        {"dice": 2, "faces": 2, "zero_face": 2, "players": 3},
        {"dice": 2, "faces": 2, "zero_face": 1, "players": 3, "objective": "share"},
        {"dice": 3, "faces": 2, "zero_face": 1, "players": 2, "objective": "score"},
    ],
    "LowestScoreMatch": [
        {"dice": 2, "faces": 2, "zero_face": 1, "wins": 2},
        {"dice": 1, "faces": 2, "zero_face": 1, "players": 3, "wins": 2, "tie": "first"},
    ],
    "ShutTheBox": [
        {"tiles": 3, "dice": 2, "sides": 2, "one_die": "sum<=2"},
        {"tiles": 3, "dice": 1, "sides": 3, "shut_wins": False},
        {"tiles": 4, "dice": 2, "sides": 3, "one_die": "never", "objective": "sum"},
    ],
    "FourTwoOne": [
        {"dice": 2, "faces": 3, "casts": 3, "utility": "goal:12"},
        {"dice": 2, "faces": 3, "casts": 3, "utility": "sum", "duration": 2},
        {"dice": 3, "faces": 2, "casts": 2, "utility": "set"},
        {"dice": 3, "faces": 2, "casts": 2, "utility": "set", "tie": "lost"},
    ],
    "Yahtzee": [{"boxes": "full_house", "joker": "free"}],
    "FourTwoOneMatch": [
        {"tokens": 2, "faces": 2, "charge_casts": 1, "discharge_casts": 2},
        {"tokens": 2, "faces": 2, "charge_casts": 1, "discharge_casts": 1, "tie": "replay"},
    ],
}
#: Each game with each of its sizes.
SIZED = [(name, sizes) for name, every in SMALL.items() for sizes in every]


class Bare(Game):
    """A game of places that are seen as one number, where every action is legal.

    It begins in place 0, and every move tosses a coin.
    """

    laws = np.array([[0.5, 0.5]])

    def initial_law(self):
        return np.array([0]), np.array([Fraction(1)], dtype=object)

    def exact_laws(self):
        return np.array([[Fraction(1, 2), Fraction(1, 2)]], dtype=object)

    def law(self, states, actions):
        return np.zeros(len(states), dtype=np.int64)

    def observe(self, states, seat):
        return states[:, None]

    def encode(self, observations):
        return np.asarray(observations)[..., 0]

    def mask(self, states):
        return np.ones((len(states), self.num_actions), dtype=bool)

    def advance(self, seats, states, actions, outcomes):
        move = self.exact_advance(seats, states, actions, outcomes)
        return move._replace(payoffs=move.payoffs.astype(float))


class Walk(Bare):
    """Two players take turns on a strip of cells and roll a coin; at its end somebody wins."""

    name = "Walk"
    num_players, num_states, num_actions = 2, 4, 2
    observation_sizes, observation_names = (4,), ("cell",)
    payoff_range, zero_sum = (0.0, 1.0), True
    order = (0, 1, 2, 3)

    def __init__(self, step=1):
        self.step = step  # 0 stays where it is

    def advance(self, seats, states, actions, outcomes):
        after = states + np.where(actions == 1, self.step, 1) * (1 + outcomes)
        over = np.repeat((after >= 4)[:, None], 2, axis=1)
        payoffs = np.where(over, np.eye(2)[seats], 0.0)
        return Move(1 - seats, np.where(after >= 4, 0, after), payoffs, over)

    def stages(self):
        return [(seat, np.array([cell])) for cell in self.order for seat in (0, 1)]


class Owed(Bare):
    """Two moves that pay 1 together: the second pays what the first, which is drawn, did not."""

    name = "Owed"
    num_players, num_states, num_actions = 1, 3, 3
    observation_sizes, observation_names = (3,), ("place",)
    payoff_range, zero_sum = (0.0, 1.0), False
    laws = np.array([[1 / 3, 2 / 3]])

    def exact_laws(self):
        return np.array([[Fraction(1, 3), Fraction(2, 3)]])

    def exact_advance(self, seats, states, actions, outcomes):
        first = np.array([Fraction(1, 3), Fraction(1, 14)])
        paid = np.where(states == 0, first[outcomes], 1 - first[states - 1])
        return Move(seats, 1 + outcomes, paid[:, None], (states > 0)[:, None])

    def stages(self):
        return [(0, np.array([0])), (0, np.array([1, 2]))]


class Rounds(TurnGame):
    """Players take turns at a die with three faces, which they may roll once more, and score it.

    A turn pays the player its face, doubled if the face before was even, and the other players what
    ``others`` times that is. Nothing but the last face is remembered.
    """

    name = "Rounds"

    def __init__(self, players=1, turns=3, others=Fraction(0)):
        self.players, self.turns, self.others = players, turns, others
        legs = [self._leg(number) for number in range(turns)]
        observed = [("rolled again", 2), ("face", 3), ("turn", turns), ("even", 2)]
        super().__init__(legs, players, observed)

    def _leg(self, number):
        first = np.arange(6) < 3
        turn = Turn(
            rolls=np.array([[1, 2, 1]], dtype=object),
            layers=np.array([0, 1]),
            law=np.array([0, 0]),
            legal=np.stack([np.ones(6, dtype=bool), first], axis=1),
            ends=np.stack([np.ones(6, dtype=bool), np.zeros(6, dtype=bool)], axis=1),
            leads_to=np.stack([np.arange(6) % 3, first * 1], axis=1),
            observations=np.stack([np.arange(6) // 3, np.arange(6) % 3], axis=1),
            num_results=3,
        )
        faces = np.arange(1, 4)[:, None]
        scored = faces * np.array([1, 2])
        share = np.where(np.arange(self.players) == number % self.players, 1, self.others)
        last = np.full((3, 2, self.players), number == self.turns - 1)
        following = np.broadcast_to(2 * (number + 1) + (faces % 2 == 0), (3, 2)).copy()
        return Leg(
            seat=number % self.players,
            turn=turn,
            contexts=np.array([[number, 0], [number, 1]]),
            following=following,
            payoffs=np.multiply.outer(scored, share.astype(object)) + Fraction(0),
            settled=last,
        )


class Coins(Bare):
    """Five coins in a row: each head pays its number, to be had or left for double or nothing.

    In coin k of 0 to 4 the player takes (action 0): k + 1 for a head, or dares (action 1): three
    times as much for a head, minus one for a tail. Daring is worth 3 (k + 1) / 2 - 1/2, taking
    (k + 1) / 2: the optimum is 45 / 2 - 5 / 2 = 20, its variance the sum of ((3 k + 4) / 2)^2.
    """

    name = "Coins"
    num_players, num_states, num_actions = 1, 5, 2
    observation_sizes, observation_names = (5,), ("coin",)
    payoff_range, zero_sum = (-5.0, 45.0), False

    def advance(self, seats, states, actions, outcomes):
        heads = outcomes * (states + 1) * np.where(actions == 1, 3, 1)
        paid = heads - actions * (1 - outcomes)
        return Move(seats, np.minimum(states + 1, 4), paid[:, None], (states == 4)[:, None])

    exact_advance = Game.exact_advance

    def stages(self):
        return [(0, np.array([coin])) for coin in range(5)]

"""A thousand random configurations of the six games, against rules that share no code with them.

In fractions: the optimum, the value of uniform play, and that of a random law for every state, each
against opponents who play uniformly or optimally. Flat tables are compared with ``P`` as well.

    pytest -m slow tests/games/test_random_sizes.py
"""

import importlib.util
import sys
from contextlib import suppress
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from pathlib import Path

import by_hand
import by_hand_match
import by_hand_turns
import numpy as np
import pytest
from exactdice.baselines import Task, evaluate, solve
from exactdice.baselines.cache import clear_cache
from exactdice.games import (
    FourTwoOne,
    FourTwoOneMatch,
    Greed,
    InputError,
    LowestScore,
    LowestScoreMatch,
    ShutTheBox,
)
from tabled import require_tables

BATCHES, EACH = 25, 40
SMALL_ENOUGH = 2000  # pairs of state and action of games whose flat tables are compared, too
SIXTY_FOUR = 64  # random laws are of so many parts, which floats hold exactly


class Contest:
    """A random game, and the same by hand.

    Attributes:
        game: of the package.
        names: of policies that all other players play.
    """

    names = ("random", "optimal")

    def some_law(self, rng):
        """Draw a law for every state, shape (state, action)."""
        mask = self.game.mask(np.arange(self.game.num_states))
        law = np.array([rng.multinomial(SIXTY_FOUR, row / row.sum()) for row in mask])
        self.law = law / SIXTY_FOUR

    def drawn(self, observation, options):
        """Give the drawn law where something is observed, {option: chance}.

        Args:
            observation: what the package's game shows.
            options: what may be done there, {by hand: action}.
        """
        row = self.law[int(self.game.encode(np.array([observation]))[0])]
        return {taken: Fraction(row[action]) for taken, action in options.items()}

    def by_hand(self, policies):
        """Give the value to player 0, each of whom plays a policy by hand; None plays best."""
        raise NotImplementedError


class OfGreed(Contest):
    def __init__(self, rng):
        limit, sides = int(rng.integers(1, 7)), int(rng.integers(1, 5))
        dice = None if rng.random() < 0.5 else int(rng.integers(0, 4))
        tie = str(rng.choice(["half", "lost", "stopper", "chaser"]))
        self.game = Greed(limit, sides, dice, tie)
        allowed = by_hand.section_7(limit, sides) if dice is None else lambda own: dice
        half = Fraction(1, 2)
        paid = {"half": (half, half), "lost": (0, 0), "stopper": (0, 1), "chaser": (1, 0)}[tie]
        self.rules = limit, sides, allowed, tuple(map(Fraction, paid))
        self.uniform = lambda seen: dict.fromkeys(
            range(allowed(seen[0]) + 1), Fraction(1, allowed(seen[0]) + 1)
        )
        self.random = lambda seen: self.drawn(
            seen, {dice: dice for dice in range(allowed(seen[0]) + 1)}
        )

    def by_hand(self, policies):
        limit, sides, allowed, tie = self.rules
        return by_hand.ByHand(limit, sides, allowed, tuple(policies), tie).rating(0, 0, 0, 0)


class OfLowestScore(Contest):
    uniform = staticmethod(by_hand_turns.uniform)

    def __init__(self, rng):
        dice, faces = int(rng.integers(1, 4)), int(rng.integers(2, 4))
        zero, players = int(rng.integers(1, faces + 1)), int(rng.integers(1, 4))
        objective = str(rng.choice(["win", "share", "score"]))
        if dice == 3 or objective != "win":
            players = min(players, 2 if dice == 3 else 3)
        self.rules = dice, faces, zero, players, objective
        self.game = LowestScore(*self.rules)

    def random(self, seen, options):
        game, (totals, kept, roll) = self.game, seen
        padded = [*roll, *[0] * (game.dice - len(roll))]
        best = min(totals, default=game.max_score + 1)
        if game.objective == "score":  # which is nobody's business
            best = game.max_score + 1
        tied = [totals.count(best)] if game.objective == "share" else []
        seen = [kept, *padded, best, *tied, game.players - 1 - len(totals)]
        return self.drawn(seen, {n: n - 1 for n in options})

    def by_hand(self, policies):
        return by_hand_turns.LowestScoreByHand(*self.rules, policies).turn(())[0]


class MatchOfKnownRounds(by_hand_turns.LowestScoreMatchByHand):
    """Policies may ask for the tally: those that have a method ``in_round``."""

    def policy(self, seat, won, begins):
        policy = self.policies[seat]
        return policy.in_round(seat, won, begins) if hasattr(policy, "in_round") else policy


class OfLowestScoreMatch(Contest):
    uniform = staticmethod(by_hand_turns.uniform)

    def __init__(self, rng):
        dice, faces = int(rng.integers(1, 3)), int(rng.integers(2, 4))
        zero, players = int(rng.integers(1, faces + 1)), int(rng.integers(2, 4))
        wins = int(rng.integers(1, 3))
        starter = str(rng.choice(["winner", "next", "same"]))
        tie = str(rng.choice(["first", "last"]))
        if dice == 2 and players == 3:
            faces, zero = 2, min(zero, 2)
        self.rules = dice, faces, zero, players, wins, starter, tie
        self.game = LowestScoreMatch(*self.rules)
        self.random = self

    def in_round(self, seat, won, begins):
        game = self.game

        def policy(seen, options):
            totals, kept, roll = seen
            best, holder = game.nothing, 0
            if totals:
                best = min(totals)
                places = [place for place, total in enumerate(totals) if total == best]
                place = places[0 if game.tie == "first" else -1]
                holder = (begins + place - seat) % game.players
            padded = [*roll, *[0] * (game.dice - len(roll))]
            wins = [won[(seat + i) % game.players] for i in range(game.players)]
            after = game.players - 1 - len(totals)
            shown = [kept, *padded, *wins, best, holder, after, seat]
            return self.drawn(shown, {n: n - 1 for n in options})

        return policy

    def by_hand(self, policies):
        return MatchOfKnownRounds(*self.rules, policies).value((0,) * self.game.players, 0)[0]


class OfShutTheBox(Contest):
    uniform = staticmethod(by_hand_turns.uniform)

    def __init__(self, rng):
        tiles, dice, sides = (int(rng.integers(*ends)) for ends in ((1, 6), (1, 3), (2, 5)))
        one_die, shut_wins = int(rng.integers(-1, 8)), bool(rng.integers(2))
        objective = str(rng.choice(["win", "sum", "shut"], p=[0.6, 0.2, 0.2]))
        self.rules = tiles, dice, sides, one_die, shut_wins, objective
        rule = "never" if one_die < 0 else f"sum<={one_die}"
        self.game = ShutTheBox(tiles, dice, sides, rule, shut_wins, objective)
        self.actions = {chosen: action for action, chosen in enumerate(self.game.sets)}

    def random(self, seen, options):
        tiles, roll, target = seen
        flags = [int(tile in tiles) for tile in range(1, self.game.tiles + 1)]
        target = self.game.max_score + 1 if target is None else target
        return self.drawn([*flags, roll, target], {s: self.actions[s] for s in options})

    def by_hand(self, policies):
        hand = by_hand_turns.ShutTheBoxByHand(*self.rules, policies)
        return hand.turn(hand.everything, None)[0]


class OfFourTwoOne(Contest):
    uniform = staticmethod(by_hand_turns.uniform)

    def __init__(self, rng):
        utility = str(rng.choice(["set", "sum", "transfer", "goal", "goals", "table"]))
        three = utility in ("set", "transfer")
        dice = 3 if three else int(rng.integers(1, 4))
        faces = int(rng.integers(4 if utility == "transfer" else 2, 5 if three else 4))
        casts = int(rng.integers(1, 3 if utility == "set" else 4))
        free = utility == "set" or rng.random() < 0.5
        duration = None if free else int(rng.integers(1, casts + 1))
        tie = str(rng.choice(["half", "lost"]))
        results = list(combinations_with_replacement(range(1, faces + 1), dice))
        named, paid = self.utility_of(utility, results, casts, rng)
        self.game = FourTwoOne(dice, faces, casts, named, duration, tie)
        tied = None
        if utility == "set":
            tied = Fraction(1, 2) if tie == "half" else Fraction(0)
        self.rules = {
            "dice": dice, "faces": faces, "casts": casts, "utility": paid, "duration": duration,
            "higher": lambda one, other: by_hand_match.height(one) > by_hand_match.height(other),
            "tie": tied,
        }  # fmt: skip

    @staticmethod
    def utility_of(kind, results, casts, rng):
        """Give a utility for the package, and as a function by hand."""
        goals = [results[i] for i in rng.permutation(len(results))[:2]]
        digits = ["".join(map(str, goal)) for goal in goals]
        table = {
            result: [Fraction(int(n), 3) for n in rng.integers(-5, 6, casts)] for result in results
        }
        return {
            "set": ("set", None),
            "sum": ("sum", lambda result, _: sum(result)),
            "transfer": ("transfer", lambda result, _: by_hand_match.worth(result)),
            "goal": (f"goal:{digits[0]}", lambda result, _: result == goals[0]),
            "goals": (f"goals:{','.join(digits)}", lambda result, _: result in goals),
            "table": (list(table.values()), lambda result, made: table[result][made - 1]),
        }[kind]

    def random(self, seen, options):
        held, cast, made, duration, target = seen
        game = self.game
        shown = [*held, *[0] * (game.dice - 1 - len(held)), *cast, *[0] * len(held), made]
        if game.num_players == 2:
            ranks = len(game.ranks)
            rank = game.ranks[game.combinations.index(target)] if target else ranks
            shown += [duration or 0, rank]
        actions = {taken: action for action, taken in game.options(cast)}
        return self.drawn(shown, {taken: actions[taken] for taken in options})

    def by_hand(self, policies):
        return by_hand_turns.FourTwoOneByHand(policies=policies, **self.rules).start()[0]


@cache
def match_rules(sides):
    """Load the match by hand for dice of another number of sides."""
    source = Path(by_hand_match.__file__).read_text().replace("SIDES = 6 ", f"SIDES = {sides} ")
    spec = importlib.util.spec_from_loader(f"by_hand_match_{sides}", loader=None)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    exec(compile(source, by_hand_match.__file__, "exec"), vars(module))
    return module


class OfFourTwoOneMatch(Contest):
    def __init__(self, rng):
        faces = int(rng.integers(2, 4))
        keywords = {
            "tokens": int(rng.integers(1, 4 if faces == 2 else 3)),
            "starter": str(rng.choice(["loser", "winner", "alternate", "same"])),
            "tie": str(rng.choice(["last", "replay"])),
            "charge_casts": int(rng.integers(1, 3)),
            "discharge_casts": int(rng.integers(1, 3)),
            "short_pot": str(rng.choice(["truncate", "spill"])),
            "four_two_one": int(rng.integers(1, 4)),
        }
        self.hand = match_rules(faces)
        self.rules = self.hand.Rules(**keywords)
        self.game = FourTwoOneMatch(faces=faces, **keywords)
        self.uniform = self.hand.by_policy(self.rules, by_hand_turns.uniform)
        self.random = self.hand.by_policy(self.rules, self.choose)

    def choose(self, seen, options):
        *tokens, imposed, target, held, cast, made = seen
        game = self.game.phases[0].round
        rank = game.ranks[game.combinations.index(target)] if target else len(game.ranks)
        shown = [*tokens, *held, *[0] * (2 - len(held)), *cast, *[0] * len(held), made]
        actions = {taken: action for action, taken in game.options(cast)}
        return self.drawn([*shown, imposed, rank], {taken: actions[taken] for taken in options})

    def by_hand(self, policies):
        return self.hand.Match(self.rules, tuple(policies)).value()


KINDS = [OfGreed, OfLowestScore, OfLowestScoreMatch, OfShutTheBox, OfFourTwoOne, OfFourTwoOneMatch]
CHANCES = [0.25, 0.2, 0.1, 0.2, 0.2, 0.05]


def values(contest, name):
    """Give the values to player 0 of the best, of uniform and of drawn play: package, by hand."""
    game = contest.game
    task = Task(game, 0, name if game.num_players > 1 else [])
    others = [contest.uniform if name == "random" else None] * (game.num_players - 1)
    yield "best", solve(task, exact=True).value, contest.by_hand([None, *others])
    uniform = evaluate("random", task, exact=True).value
    drawn = evaluate(contest.law, task, exact=True).value
    if name == "random" or not others:  # else the opponents' best replies would be by hand
        yield "uniform", uniform, contest.by_hand([contest.uniform, *others])
        yield "drawn", drawn, contest.by_hand([contest.random, *others])


def compare_tables(contest, rng):
    """Compare the flat tables of a random seat that gets to move, against random opponents."""
    game = contest.game
    name = str(rng.choice(contest.names)) if game.num_players > 1 else []
    task = Task(game, int(rng.integers(game.num_players)), name)
    moves = False
    with suppress(InputError):  # of a seat that never gets to move
        moves = bool(task.initial.any())
    if moves:
        require_tables(task)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(BATCHES))
def test_random_configurations_are_those_by_hand(seed):
    rng = np.random.default_rng(seed)
    for kind in rng.choice(len(KINDS), EACH, p=CHANCES):
        contest = KINDS[kind](rng)
        contest.some_law(rng)
        for name in contest.names:
            for what, found, wanted in values(contest, name):
                assert found == wanted, (contest.game, name, what)
        if contest.game.num_states * contest.game.num_actions <= SMALL_ENOUGH:
            compare_tables(contest, rng)
    clear_cache()

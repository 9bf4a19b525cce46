"""The package's figures of any small law, against a computation that shares no code with it.

``compare`` lists what differs. ``python tests/law_by_hand.py COUNT [FIRST SEED] [MODE ...]``
compares many laws and prints each discrepancy with its mode and seed.
"""

import random
import sys
import time
from collections import Counter
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
from exactdice.baselines.law.simple import SimpleGame
from exactdice.games import InputError
from law_figures import Chain, figures, flat, optimum, pure, worths
from random_laws import MODES, ONE, ZERO, draw_law

import exactdice

#: Floats are rounded by this part, which is allowed beside the error bound.
TINY = Fraction(1, 10**15)


class Check:
    """Collects what is wrong in the package's figures of a law."""

    def __init__(self, law):
        self.law, self.found = law, []
        self.size = max(abs(r) for row in law.ways for cell in row for *_, r, _ in cell)
        self.is_small = min(c for row in law.ways for cell in row for c, *_ in cell) < 1e-9
        self.early = any(r and not over for row in law.ways for cell in row for *_, r, over in cell)
        self.early &= law.horizon != 1

    def mean(self, values):
        """Mean of some values over the first states."""
        return sum(c * values[s] for s, c in enumerate(self.law.start) if c)

    def that(self, holds, said):
        if not holds:
            self.found.append(said)

    def near(self, what, got, want, most=0):
        """Check a number, which may be off by ``most``; a fraction may not."""
        most = 0 if isinstance(got, Fraction) else most
        if not np.isfinite(float(got)):
            return self.that(False, f"{what}: {got}, should be {float(want):.17g}")
        off = Fraction(got) - Fraction(want)
        exactly = f" = {want}" if isinstance(got, Fraction) else ""
        return self.that(
            abs(off) <= most,
            f"{what}: {got}, should be {float(want):.17g}{exactly}, off by {float(off):.2g}, "
            f"allowed {float(most):.2g}",
        )

    def attempt(self, what, call, *args, must=(), may=(), exact=False, **keywords):
        """Call the package; None if it refuses the law, as it must or may for some reasons."""
        try:
            got = call(*args, **keywords)
        except InputError as error:
            fine = must or may or (self.is_small and not exact and "exact=True" in str(error))
            return self.that(fine, f"{what}: is refused: {error}")
        except Exception as error:  # which is what this looks for
            return self.that(False, f"{what}: {type(error).__name__}: {error}")
        self.that(not must, f"{what}: must be refused ({', '.join(must)})")
        return None if must else got


def draw_policies(law, moves, draw):
    """Draw policies: name, form for the package, fractions of shape (state, action)."""
    rows, count = len(law.ways), len(moves)
    own = [[a for a, cell in enumerate(row) if cell] for row in moves]
    uniform = [[Fraction(a in some, len(some)) for a in range(len(row))]
               for some, row in zip(own, moves, strict=True)]  # fmt: skip
    found = [("random", "random", uniform)]
    for number in range(3):
        some = [draw.choice(a) for a in own[: draw.choice([rows, count])]]
        weights = list(map(pure, [*some * count][:count], moves))
        found.append((f"pure {number}", np.array(some), weights))
    for number in range(2):
        some = [eighths(draw, a, len(row)) for a, row in zip(own, moves, strict=True)]
        some = some[: draw.choice([rows, count])]
        found.append((f"mixed {number}", np.array(some, dtype=float), [*some * count][:count]))
    return found


def eighths(draw, actions, count):
    """Draw a law of some actions whose floats are exact, with zeros among its probabilities."""
    chosen = Counter(draw.choice(actions) for _ in range(8))
    return [Fraction(chosen[action], 8) for action in range(count)]


def compare(law, seed=0, more=()):
    """List in words where the package's figures of a law differ from those by hand.

    Those are of policies that a seed draws, and of more, fractions of shape (state, action).
    """
    if law.movers:
        return compare_two(law, seed)
    given, law = law, ended(law)
    check, moves, best = Check(law), flat(law), optimum(law)
    task = check.attempt("from_P", exactdice.from_P, *in_floats(given), may=best.must + best.may)
    if task is None:
        return check.found
    policies, solved = draw_policies(law, moves, random.Random(seed)), False
    policies += [(f"given {n}", np.array(rows, float), rows) for n, rows in enumerate(more)]
    for exact, said in ((False, "solve"), (True, "solve exact")):
        limits = {"must": best.must, "may": best.may, "exact": exact}
        solution = check.attempt(said, exactdice.solve, task, exact, **limits)
        if solution is not None:
            check_solution(check, said, solution, moves, best, exact)
            actions = solution.policy.likeliest(np.arange(len(moves))).tolist()
            weights = list(map(pure, actions, moves))
            policies.append((f"optimal of {said}", solution.policy, weights))
            solved |= not exact
    uniform = policies[0][2]
    may = ["random play has no value"] * (figures(law, moves, uniform, filled(best)) is None)
    for name, policy, weights in policies:
        check_evaluation(check, name, policy, task, moves, weights, best)
        if solved:
            check_score(check, name, policy, task, moves, weights, best, may + best.may, uniform)
    if solved and any(not cell for row in law.ways for cell in row):
        check_unmasked(check, task, best, random.Random(seed), uniform)
    return check.found


def in_floats(law):
    """Give a law as arguments of ``from_P``."""
    listed = {s: {a: [(float(c), to, float(r), over) for c, to, r, over in cell]
                  for a, cell in enumerate(row)} for s, row in enumerate(law.ways)}  # fmt: skip
    return listed, [float(c) for c in law.start], float(law.gamma), law.horizon


def ended(law):
    """Have games be over where they would only go on, and pay nothing, as ``from_P`` does."""
    if law.horizon or law.gamma < 1:
        return law
    rows, lasts = list(enumerate(law.ways)), set()
    for s, row in rows:
        if any(not cell or any(r or over for *_, r, over in cell) for cell in row):
            lasts.add(s)
    for _ in rows:
        lasts |= {s for s, row in rows if any(to in lasts for cell in row for _, to, *_ in cell)}
    return law._replace(ways=[
        [[(c, to, r, over or s not in lasts or to not in lasts) for c, to, r, over in cell]
         for cell in row] for s, row in enumerate(law.ways)
    ])  # fmt: skip


def filled(best):
    """Give an optimum that has a number everywhere, for figures that do not depend on it."""
    return SimpleNamespace(values=[v or ZERO for v in best.values])


def loose(hand):
    """Give the relative error that a figure without a bound may have."""
    return Fraction(1e-9) + Fraction(1e-14) * hand.moves


def check_solution(check, said, solution, moves, best, exact):
    """Check values, action values, ties and the policy of a solution."""
    bound = Fraction(0 if exact else solution.error_bound)
    check.near(f"{said}: value", solution.value, check.mean(best.values), bound)
    actions = solution.policy.likeliest(np.arange(len(moves))).tolist()
    worth = Chain(moves, list(map(pure, actions, moves))).values()
    table = check.attempt(f"{said}.table", getattr, solution, "table", exact=exact)
    optimal = check.attempt(f"{said}.optimal", getattr, solution, "optimal", exact=exact)
    for s, value in enumerate(best.values):
        if value is None:
            continue
        check.near(f"{said}: values[{s}]", solution.values[0][s], value, bound)
        lost = worth[s] is None or (exact and worth[s] != value)
        check.that(not lost, f"{said}: its policy is worth {worth[s]} in {s}, should be {value}")
        if table is not None and optimal is not None:
            check_actions(check, f"{said}: [{s}", moves[s], best.table[s], value, bound,
                          table[s], optimal[s])  # fmt: skip


def check_actions(check, said, cells, wanted, value, bound, table, optimal):
    """Check the values of a state's actions, and which are optimal."""
    for a, q in enumerate(wanted):
        name = f"{said}, {a}]"
        if not cells[a]:
            check.that(table[a] == -np.inf and not optimal[a], f"{name} is illegal: {table[a]}")
        elif q is not None:
            check.near(f"{name} of table", table[a], q, bound)
            check.that(q < value or optimal[a], f"{name} is optimal, and it is said not to be")
            surely = max(table) - table[a] > 2 * bound if bound else q < value
            check.that(not (surely and optimal[a]),
                       f"{name} is said to be optimal, and loses {float(value - q):.3g}, "
                       f"with bound {float(bound):.2g}")  # fmt: skip


def check_evaluation(check, name, given, task, moves, weights, best):
    """Check evaluate, occupancy and the law of payoffs in floats and exactly."""
    hand = figures(check.law, moves, weights, filled(best))
    must = [] if hand else ["the policy has no value"]
    for exact in (False, True):
        said, own = f"{name}{' exact' * exact}: ", {"exact": exact}
        asked, one = (given, task, exact), f"{said}evaluate"
        got = check.attempt(one, exactdice.evaluate, *asked, must=must, **own)
        if got is None:
            continue
        bound = Fraction(0 if exact else got.error_bound)
        check.near(f"{said}evaluate.value", got.value, hand.value, bound)
        table = check.attempt(f"{said}evaluate.table", getattr, got, "table", **own)
        for s, row in enumerate(moves):
            if hand.values[s] is not None:
                check.near(f"{said}evaluate.values[{s}]", got.values[0][s], hand.values[s], bound)
            for a, q in enumerate(worths(row, hand.values)):
                if q is not None and table is not None:
                    check.near(f"{said}evaluate.table[{s}, {a}]", table[s][a], q, bound)
        variance = check.attempt(f"{said}variance", getattr, got, "variance", **own)
        if variance is not None:
            most = loose(hand) * hand.size**2 + 2 * bound * hand.size + bound**2
            check.near(f"{said}variance", variance, hand.variance, most)
        visits = check.attempt(f"{said}occupancy", exactdice.occupancy, *asked, **own)
        for s, often in enumerate(hand.visits if visits is not None else []):
            check.near(f"{said}occupancy[{s}]", visits[s], often, loose(hand) * (1 + often))
        may, one = ["moves pay early"] * check.early, f"{said}outcome_distribution"
        ends = check.attempt(one, exactdice.outcome_distribution, *asked, may=may, **own)
        check_law(check, one, ends, hand)


def check_law(check, said, got, hand):
    """Check the law of totals, of floats or of fractions, if there is one."""
    if got is None or hand.law is None:
        return check.that(got is None, f"{said}: {got}, but moves pay early")
    exact = all(isinstance(total, Fraction) for total in got)
    want = {(t if exact else float(t)): chance for t, chance in hand.law.items()}
    most = 0 if exact else loose(hand)
    off = [t for t in {*want, *got} if abs(Fraction(got.get(t, 0)) - want.get(t, 0)) > most]
    shown = {t: float(chance) for t, chance in want.items()}
    return check.that(not off, f"{said}: {dict(got)}, should be {shown}")


def check_score(check, name, given, task, moves, weights, best, may, uniform, masked=True):
    """Check all figures of a score."""
    law, said = check.law, f"{name}: score"
    hand = figures(law, moves, weights, best)
    must = [] if hand else ["the policy has no value"]
    got = check.attempt(said, exactdice.score, given, task, masked=masked, must=must, may=may)
    if got is None:
        return
    top, rel = check.mean(best.values), loose(hand)
    check.near(f"by hand {name}: regret", hand.regret, top - hand.value)
    other = Fraction(exactdice.solve(task).error_bound)
    bound = other + Fraction(got.error_bound)
    size = max([hand.size, *(abs(v) for v in best.values if v)])
    check.near(f"{said}.value", got.value, hand.value, bound)
    check.near(f"{said}.optimum", got.optimum, top, other)
    check.near(f"{said}.regret", got.regret, hand.regret, bound + size * TINY)
    if name.startswith("optimal"):
        check.near(f"{said}: lost", float(hand.regret), 0, 4 * bound * (1 + hand.moves))
    if plain := figures(law, moves, uniform, best):
        check_normalized(check, said, got, hand, top, plain, bound)
    check_costs(check, said, got, hand, bound, rel, size)
    surely = figures(law, moves, weights, best, 4 * bound)
    shares = [1 - each.mistakes / each.moves for each in (hand, surely)]
    numbers = {"moves": (hand.moves, hand.moves), "optimal_share": shares,
               "flawless": (hand.flawless, surely.flawless)}  # fmt: skip
    for figure, (low, high) in numbers.items():
        number = check.attempt(f"{said}.{figure}", getattr, got, figure)
        if number is not None:
            want = min(max(Fraction(number), low), high) if np.isfinite(number) else low
            check.near(f"{said}.{figure}", number, want, rel * (1 + want))
    check_spread(check, said, got, hand, rel * hand.size + 2 * bound)


def check_spread(check, said, got, hand, most):
    """Check the deviation and the law of totals of a score."""
    deviation = check.attempt(f"{said}.deviation", getattr, got, "deviation")
    if deviation is not None:
        fine = abs(Fraction(deviation) ** 2 - hand.variance) <= most**2 + 4 * most * deviation
        check.that(fine, f"{said}.deviation: {deviation}, should be {float(hand.variance) ** 0.5}")
    ends = check.attempt(f"{said}.outcomes", getattr, got, "outcomes")
    if ends is not None or not check.early:
        check_law(check, f"{said}.outcomes", ends, hand)


def check_costs(check, said, got, hand, bound, rel, size):
    """Check occupancy and costs by state, the sum of costs and that of blunders."""
    most = 8 * (bound + rel * size) * (1 + hand.moves)
    costs = check.attempt(f"{said}.costs", getattr, got, "costs")
    if costs is not None:
        check.near(f"{said}: sum of costs", costs.sum(), hand.regret, most)
        for s, cost in enumerate(hand.costs):
            off = (8 * bound + rel * size) * hand.visits[s] + rel * cost + TINY * size
            check.near(f"{said}.costs[{s}]", costs[s], cost, off)
    blunders = check.attempt(f"{said}.blunders", got.blunders, None)
    if blunders is not None:
        total = sum(blunder.cost for blunder in blunders)
        check.near(f"{said}: sum of blunders", total, hand.regret, most)
    visits = check.attempt(f"{said}.occupancy", getattr, got, "occupancy")
    for s, often in enumerate(hand.visits if visits is not None else []):
        check.near(f"{said}.occupancy[{s}]", visits[s], often, rel * (1 + often))


def check_normalized(check, said, got, hand, top, plain, bound):
    """Check the random value, and the normalised one unless floats cannot tell the span."""
    check.near(f"{said}.random", got.random, plain.value, 2 * bound + loose(plain) * plain.size)
    span, slack = top - plain.value, 4 * bound + (abs(top) + abs(plain.value)) * TINY
    if span == 0 and hand.regret:
        check.that(np.isnan(got.normalized), f"{said}.normalized: {got.normalized}, has no unit")
    elif span == 0 or span > 100 * slack:
        want = (hand.value - plain.value) / span if span else ONE
        most = 10 * slack * (1 + abs(want)) / span + Fraction(1, 10**12) if span else 0
        check.near(f"{said}.normalized", got.normalized, want, most)


def check_unmasked(check, task, best, draw, uniform):
    """Check a policy that may act illegally; it is refused unless the worst payoff is the worst."""
    worst, law = Fraction(task.game.payoff_range[0]), check.law
    moves = flat(law, worst)
    weights = [eighths(draw, range(len(row)), len(row)) for row in moves]
    table = np.array(weights, dtype=float)
    known = [v for v in best.least if v is not None]
    doubt = best.may + ["random play has no value"] * (figures(law, moves, uniform, best) is None)
    near = check.size / 10**9
    doubt += ["the worst payoff is not below all values"] * (worst >= min(known) - near)
    doubt += ["some policy has no value"] * (len(known) < len(best.least))
    doubt += ["no payoff is the worst"] * task.game.unbounded
    if worst > best.lowest + near:
        check.attempt("unmasked: score", exactdice.score, table, task, masked=False, must=doubt)
    else:
        check_score(check, "unmasked", table, task, moves, weights, best, doubt, uniform, False)


def game_of(law):
    """Make a ``SimpleGame`` of a law."""

    class Game(SimpleGame):
        gamma, horizon = law.gamma, law.horizon

        def start(self):
            return [(c, f"s{s}") for s, c in enumerate(law.start) if c]

        def actions(self, state):
            return [a for a, cell in enumerate(law.ways[int(state[1:])]) if cell]

        def outcomes(self, state, action):
            for c, to, r, over in law.ways[int(state[1:])][action]:
                yield c, r, None if over else f"s{to}"

        def player(self, state):
            return law.movers[int(state[1:])]

    return Game()


def compare_two(law, seed):
    """Compare minimax values, best responses and exploitability of two players."""
    check = Check(law)
    signed = [[[(c, to, -r if mover else r, over) for c, to, r, over in cell] for cell in row]
              for row, mover in zip(law.ways, law.movers, strict=True)]  # fmt: skip
    zero = law._replace(ways=signed)  # with what player 0 is paid
    best, moves = optimum(zero), flat(zero)
    game = check.attempt("SimpleGame", game_of, law)
    if game is None or game.num_players == 1:
        return check.found
    places = [int(name[1:]) + made * len(law.ways)
              for made in range(law.horizon or 1) for name in game.states]  # fmt: skip
    for exact in (False, True):
        said, task = f"solve{' exact' * exact}", exactdice.Task(game)
        got = check.attempt(said, exactdice.solve, task, exact, exact=exact)
        if got is None:
            continue
        bound = Fraction(got.error_bound)
        check.near(f"{said}: value", got.value, check.mean(best.values), bound)
        for number, s in enumerate(places):
            mover = law.movers[s % len(law.ways)]
            check.near(f"{said}: value of {s}", got.values[mover][number], best.values[s], bound)
            if mover == 0:
                cells, wanted = ([of[s][a] for a in game.choices] for of in (moves, best.table))
                check_actions(check, f"{said}: [{s}", cells, wanted, best.values[s], bound,
                              got.table[number], got.optimal[number])  # fmt: skip
    for number in range(2):
        draw = random.Random(f"{seed} {number}")
        rows = [eighths(draw, [a for a, cell in enumerate(row) if cell], len(row)) for row in moves]
        check_responses(check, f"mixed {number}", zero, game, places, rows)
    return check.found


def check_responses(check, name, zero, game, places, rows):
    """Check the best responses to a policy in both seats, and its exploitability."""
    table = np.array([[float(rows[s][a]) for a in game.choices] for s in places])
    count, length = len(zero.ways), zero.horizon or len(zero.ways) / (1 - zero.gamma or 1)
    most = check.size * length / 10**9
    ends = []
    for seat in (0, 1):
        own = {s: row for s, row in enumerate(rows) if zero.movers[s % count] == seat}
        ends.append(check.mean(optimum(zero, own).values))
    for exact in (False, True):
        said, given = f"{name}{' exact' * exact}", (table, exactdice.Task(game), exact)
        what = f"{said}: exploitability"
        got = check.attempt(what, exactdice.exploitability, *given, exact=exact)
        if got is not None:
            check.near(what, got, (ends[1] - ends[0]) / 2, most)
        for seat in (0, 1):
            what, task = f"{said}: best response to seat {seat}", exactdice.Task(game, seat)
            got = check.attempt(what, exactdice.best_response, table, task, exact, exact=exact)
            if got is None:
                continue
            never = ["the seat never moves"]
            bound = 0 if exact else check.attempt(what, getattr, got, "error_bound", may=never)
            bound = most if bound is None else bound
            check.near(what, got.value_before_play, ends[seat] * (1 if seat else -1), bound)


def sweep(count, first=0, modes=MODES):
    """Compare laws of all modes; print progress and each discrepancy with its seed."""
    began, tried, wrong = time.monotonic(), Counter(), Counter()
    for number in range(count):
        mode, seed = modes[number % len(modes)], first + number // len(modes)
        found = compare(draw_law(mode, seed), seed)
        tried[mode] += 1
        wrong[mode] += bool(found)
        for said in found:
            print(f"{mode} {seed}: {said}", flush=True)  # noqa: T201  # a program's output
        if (number + 1) % 600 == 0 or number + 1 == count:
            told = ", ".join(f"{mode} {wrong[mode]}/{tried[mode]}" for mode in modes)
            took = time.monotonic() - began
            print(f"# {number + 1} laws in {took:.0f} s, wrong: {told}", flush=True)  # noqa: T201


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    chosen = [word for word in sys.argv[1:] if word in MODES]
    sweep(*(numbers or [600]), **({"modes": chosen} if chosen else {}))

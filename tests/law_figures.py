"""The figures of a small law by linear algebra in fractions, which shares no code with the package.

Every stationary policy is tried; the recurrent classes of its chain are found by graph search, its
values and visits by Gaussian elimination.
"""

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import product
from types import SimpleNamespace

from random_laws import ONE, ZERO


def flat(law, worst=None):
    """Write out limit and discount: ``[state][action]`` lists (chance, state or None, reward).

    An illegal action has no outcome, or ends with ``worst``.
    """
    count, on, moves = len(law.ways), law.gamma, []
    for made, row in product(range(law.horizon or 1), law.ways):
        last, shift = law.horizon == made + 1, (made + 1) * count if law.horizon else 0
        moves.append([])
        for cell in row:
            out = [] if cell or worst is None else [(ONE, None, worst)]
            for chance, to, paid, over in cell:
                parts = [(chance, None)] if over or last else []
                parts = parts or [(chance * on, to + shift), (chance * (1 - on), None)]
                out += [(part, after, paid) for part, after in parts if part]
            moves[-1].append(out)
    return moves


def fixed(states, onto, right):
    """Solve x(s) = right(s) + sum over t of onto(s)(t) x(t) among some states."""
    rows = {s: {t: -c for t, c in onto[s].items() if t in states} for s in states}
    found = {s: right[s] for s in states}
    for s in states:
        rows[s][s] = 1 + rows[s].get(s, ZERO)
    for s in states:
        pivot, own = rows[s][s], rows[s]
        for t in states:
            if t != s and (factor := rows[t].get(s)):
                factor /= pivot
                found[t] -= factor * found[s]
                for u, c in own.items():
                    rows[t][u] = rows[t].get(u, ZERO) - factor * c
    return {s: found[s] / rows[s][s] for s in states}


class Chain:
    """The chain of a policy, ``weights[state][action]``.

    ``settled`` are the states of recurrent classes where nothing is paid, ``circles`` those of
    recurrent classes where moves pay, with the class; ``endless`` those that may get there.
    """

    def __init__(self, moves, weights):
        self.all = range(len(moves))
        self.ways = [[(w * c, to, paid) for w, cell in zip(some, row, strict=True) if w
                      for c, to, paid in cell]
                     for some, row in zip(weights, moves, strict=True)]  # fmt: skip
        self.onto = [Counter() for _ in moves]
        for s in self.all:
            for c, to, _ in self.ways[s]:
                if to is not None:
                    self.onto[s][to] += c
        self.paid = [sum((c * r for c, _, r in ways), ZERO) for ways in self.ways]
        self.reach = [self.ahead([s]) for s in self.all]
        ends = {s for s in self.all if any(to is None for _, to, _ in self.ways[s])}
        self.settled, self.circles = set(), {}
        for s in self.all:
            own = self.reach[s]
            if any(s not in self.reach[t] for t in own) or own & ends:
                continue
            if any(r for t in own for _, _, r in self.ways[t]):
                self.circles[s] = own
            else:
                self.settled.add(s)
        self.endless = {s for s in self.all if self.reach[s] & set(self.circles)}

    def ahead(self, first):
        met, open_ = set(first), list(first)
        while open_:
            new = [t for t in self.onto[open_.pop()] if t not in met]
            met.update(new)
            open_ += new
        return met

    def mean(self, own):
        """Mean payment of a move in a recurrent class: by visits between those of one state."""
        first, *rest = sorted(own)
        rest = set(rest)
        back = {t: {s: c for s in rest if (c := self.onto[s].get(t))} for t in rest}
        often = fixed(rest, back, {t: self.onto[first].get(t, ZERO) for t in rest})
        often[first] = ONE
        return sum(often[s] * self.paid[s] for s in own) / sum(often.values())

    def values(self):
        """Value of each state, None where it has none."""
        some = [s for s in self.all if s not in self.endless and s not in self.settled]
        found = fixed(set(some), self.onto, self.paid) | dict.fromkeys(self.settled, ZERO)
        return [found.get(s) for s in self.all]


def pure(action, row):
    """Give the law of a state's actions that takes one of them."""
    return [int(action == other) for other in range(len(row))]


def optimum(law, fixed_rows=None):
    """Find the optimum in each state, the table of actions, and reasons to refuse the law.

    ``least`` is the smallest value of a policy in each state, ``lowest`` that of all states met.

    Of two players it is the minimax value to player 0; ``fixed_rows`` is the policy of states whose
    player is not free.
    """
    moves, fixed_rows = flat(law), fixed_rows or {}
    movers = [law.movers[s % len(law.ways)] if law.movers else 0 for s in range(len(moves))]
    values, least, rich, void = [None] * len(moves), [None] * len(moves), set(), []
    if law.horizon:
        for s in reversed(range(len(moves))):
            worth = [q for q in worths(moves[s], values) if q is not None]
            values[s] = (min if movers[s] else max)(worth)
            if s in fixed_rows:
                known = zip(fixed_rows[s], worths(moves[s], values), strict=True)
                values[s] = sum(w * q for w, q in known if w)
            least[s] = min(q for q in worths(moves[s], least) if q is not None)
    else:
        own = [[a for a, cell in enumerate(row) if cell] for row in moves]
        free = [s for s in range(len(moves)) if s not in fixed_rows]
        groups = defaultdict(list)  # by the choices of player 0
        for choices in product(*[own[s] for s in free]):
            some = dict(zip(free, choices, strict=True))
            chain = Chain(moves, [fixed_rows[s] if s in fixed_rows else pure(some[s], moves[s])
                                  for s in range(len(moves))])  # fmt: skip
            means = {s: chain.mean(own) for s, own in chain.circles.items()}
            rich |= {s for s, mean in means.items() if mean > 0}
            void.append({s for s, mean in means.items() if mean == 0})
            groups[tuple(a for s, a in some.items() if not movers[s])].append(chain.values())
        for s in range(len(moves)):
            each = [[v[s] for v in group if v[s] is not None] for group in groups.values()]
            values[s] = max((min(group) for group in each if group), default=None)
            least[s] = min((v for group in each for v in group), default=None)
    every = Chain(moves, [[1] * len(row) for row in moves])  # for what may be reached
    met = every.ahead([s for s, c in enumerate(law.start) if c])
    lost = {s for s, v in enumerate(values) if v is None}
    negative = {s for s, v in enumerate(values) if v is not None and v < 0}
    must = ["paid without end"] * bool(met & rich) + ["no policy has a value"] * bool(met & lost)
    may = ["out of reach"] * bool(rich or lost)
    may += ["circles that sum to 0"] * any(states & negative for states in void)
    values = [None if every.reach[s] & rich else v for s, v in enumerate(values)]
    table = [worths(row, values) for row in moves]
    lowest = min((least[s] for s in met - lost), default=None)
    found = {"values": values, "table": table, "least": least, "lowest": lowest}
    return SimpleNamespace(**found, must=must, may=may)


def worths(row, values):
    """Give the expected value of each action of a state; None for illegal and unknown ones."""
    return [
        sum(c * (r + (0 if to is None else values[to])) for c, to, r in cell)
        if cell and all(to is None or values[to] is not None for _, to, _ in cell)
        else None
        for cell in row
    ]


def figures(law, moves, weights, best, threshold=ZERO):
    """Compute all figures of a policy, ``weights[state][action]``; None if it has no value.

    Actions that lose no more than the threshold are no mistakes.
    """
    chain, start = Chain(moves, weights), {s: c for s, c in enumerate(law.start) if c}
    if chain.endless & set(start):
        return None
    met, values = chain.ahead(start), chain.values()
    on, settled = met - chain.settled, met & chain.settled
    again = {s: sum((c * r * (r + 2 * (0 if to is None else values[to]))
                     for c, to, r in chain.ways[s]), ZERO) for s in on}  # fmt: skip
    squares = fixed(on, chain.onto, again)
    back = [Counter() for _ in moves]
    for s in on:
        for t, c in chain.onto[s].items():
            back[t][s] += c
    first = {s: start.get(s, ZERO) for s in met}
    visits = fixed(on, back, first)
    visits |= {s: first[s] + sum(c * visits[t] for t, c in back[s].items()) for s in settled}
    visits = [visits.get(s, ZERO) for s in chain.all]
    value = sum(c * values[s] for s, c in start.items())
    lost = losses(moves, weights, best)
    for s in settled:  # where circling is the mistake
        lost[s] = [best.values[s]] * len(moves[s])
    costs = [often * sum(w * cost for w, cost in zip(ws, own, strict=True))
             for often, ws, own in zip(visits, weights, lost, strict=True)]  # fmt: skip
    wrong = [often * sum(w for w, cost in zip(ws, own, strict=True) if cost > threshold)
             for often, ws, own in zip(visits, weights, lost, strict=True)]  # fmt: skip
    clean = flawless(chain, moves, weights, lost, on, threshold)
    return SimpleNamespace(
        value=value, values=values, visits=visits, moves=sum(visits), mistakes=sum(wrong),
        variance=sum(c * squares[s] for s, c in start.items() if s in on) - value**2,
        costs=costs, regret=sum(costs), law=totals(chain, start, visits, met),
        flawless=sum(c * clean[s] for s, c in start.items()),
        size=max([abs(values[s]) for s in met] + [abs(r) for s in met for *_, r in chain.ways[s]]),
    )  # fmt: skip


def losses(moves, weights, best):
    """Compute what each action that a policy may take loses, shape (state, action)."""
    lost = []
    for row, own, value in zip(moves, weights, best.values, strict=True):
        known = zip(own, worths(row, best.values), strict=True)
        lost.append([value - q if w and None not in (q, value) else ZERO for w, q in known])
    return lost


def flawless(chain, moves, weights, lost, on, threshold):
    """Compute the probability of no mistake from each state, those of ``on`` being transient."""
    settled = {s: Fraction(lost[s][0] <= threshold) for s in chain.settled}
    kept, right = [Counter() for _ in moves], dict.fromkeys(on, ZERO)
    for s in on:
        for w, cost, cell in zip(weights[s], lost[s], moves[s], strict=True):
            for c, to, _ in cell if w and cost <= threshold else []:
                if to in on:
                    kept[s][to] += w * c
                else:
                    right[s] += w * c * settled.get(to, 1)
    return fixed(on, kept, right) | settled


def totals(chain, start, visits, met):
    """Give the law of totals; None if more than one move may pay in a game."""
    quiet = {s for s in met if not any(r for t in chain.reach[s] for *_, r in chain.ways[t])}
    law = Counter({ZERO: sum(start.get(s, ZERO) for s in quiet)})
    for s in met - quiet:
        for c, to, r in chain.ways[s]:
            if to is None or to in quiet:
                law[r] += visits[s] * c
            elif r:
                return None
    return {total: chance for total, chance in sorted(law.items()) if chance}

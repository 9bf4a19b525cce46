"""The match of 421 by dictionaries, from the paper's rules alone (section 2.3 and appendix A).

Shares no code with the package. A state is (pot, mover's tokens, other's tokens); the beginner of a
round is the mover. A *law* says how often a turn ends somewhere, {(casts, result): mass}, where all
masses sum to CAST ** (most casts): every cast counts as three dice. A *player* is a function that
gives its two laws in a state: how it begins, and how it replies, {(casts, result to beat): law}.
None plays best for itself, and the first of equally good moves: fewer dice first, then smaller
faces. Numbers are fractions, or floats, whose sums depend on the machine in the last bits.
"""

from fractions import Fraction
from functools import cache, lru_cache, partial
from itertools import combinations, combinations_with_replacement, permutations
from math import lcm

SIDES = 6  # of a die
FACES = range(1, SIDES + 1)
CAST = SIDES**3
ORDER = "421 111 611 666 511 555 411 444 311 333 211 222 654 543 432 321"  # (54)
HIGHEST = [ORDER[start : start + 3] for start in range(0, len(ORDER), 4)]
RESULTS = list(combinations_with_replacement(FACES, 3))


def digits(result):
    return "".join(map(str, reversed(result)))


def height(result):
    """Place by (54): the higher, the better."""
    name = digits(result)
    return (1, -HIGHEST.index(name)) if name in HIGHEST else (0, int(name))


def worth(result, four_two_one=10):
    """Tokens that the higher combination moves (Table 5)."""
    name = digits(result)
    if name in ("421", "111"):
        return {"421": four_two_one, "111": 7}[name]
    if name not in HIGHEST:
        return 1
    return 2 if HIGHEST.index(name) >= HIGHEST.index("654") else int(name[0])


HEIGHT = {result: height(result) for result in RESULTS}


def moves(held, cast):
    """What may be taken of a cast, {faces: accumulated afterwards}, in the order of ties."""
    parts = (taken for size in range(len(cast) + 1) for taken in combinations(cast, size))
    return {taken: tuple(sorted(held + taken)) for taken in parts}


def casts_of(held):
    """List (cast, weight out of CAST, moves) with faces accumulated."""
    rolls, each = combinations_with_replacement(FACES, 3 - len(held)), SIDES ** len(held)
    return [(roll, len({*permutations(roll)}) * each, moves(held, roll)) for roll in rolls]


HELD = [held for size in range(3) for held in combinations_with_replacement(FACES, size)]
TREE = {held: casts_of(held) for held in HELD}


def best(payoffs):
    """Find the best turn for {casts after which it may end: {result: payoff}}.

    Gives {(casts made, held, cast): {taken: 1}}. At the last cast only results have a value.
    """
    last = max(payoffs)
    plan, later = {}, {}
    for made in range(last, 0, -1):
        scale = CAST ** (last - made)
        ends = {result: scale * payoff for result, payoff in payoffs.get(made, {}).items()}
        values, later = later | ends, {}
        for held in TREE if made > 1 else [()]:
            later[held] = 0
            for cast, weight, options in TREE[held]:
                legal = {taken: values[to] for taken, to in options.items() if to in values}
                first = max(legal, key=legal.get)
                plan[made, held, cast] = {first: 1}
                later[held] += weight * legal[first]
    return plan


def law(stops, decide):
    """Give the law of a turn that may end after some casts, decided by (made, held, cast)."""
    last = max(stops)
    ended, reached = {}, {(): 1}
    for made in range(1, last + 1):
        before, reached = reached, {}
        for held, mass in before.items():
            for cast, weight, options in TREE[held]:
                for taken, chance in decide((made, held, cast)).items():
                    to = options[taken]
                    into, key = (ended, (made, to)) if len(to) == 3 else (reached, to)
                    into[key] = into.get(key, 0) + mass * weight * chance
    return {key: mass * CAST ** (last - key[0]) for key, mass in ended.items()}


def replies(follower, casts):
    """Best replies to every result, for the payoff follower[result to beat][own result]."""
    return {
        (made, target): law({made}, best({made: follower[target]}).__getitem__)
        for made in range(1, casts + 1)
        for target in RESULTS
    }


def beginning(beginner, following, casts):
    """Give the best beginning for the payoff beginner[own result][reply], foreseeing replies."""
    payoffs = {made: {} for made in range(1, casts + 1)}
    for (made, target), reply in following.items():
        paid = sum(mass * beginner[target][result] for (_, result), mass in reply.items())
        payoffs[made][target] = paid * CAST ** (casts - made)
    return law(payoffs, best(payoffs).__getitem__)


def both(beginner, follower, casts):
    following = replies(follower, casts)
    return beginning(beginner, following, casts), following


def opposite(payoffs):
    return {one: {two: -paid for two, paid in row.items()} for one, row in payoffs.items()}


def table(paid):
    """Tabulate a function of the beginner's and the follower's result."""
    return {one: {two: paid(one, two) for two in RESULTS} for one in RESULTS}


def linear(matrix, columns):
    """Solve (1 - matrix) x = columns by elimination; all rows are lists."""
    size, rows = len(matrix), []
    for i, (row, right) in enumerate(zip(matrix, columns, strict=True)):
        rows.append([int(i == j) - number for j, number in enumerate(row)] + list(right))
    for i in range(size):
        pivot = max(range(i, size), key=lambda k: abs(rows[k][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [number / rows[i][i] for number in rows[i]]
        for k in range(size):
            if k != i and rows[k][i]:
                factor = rows[k][i]
                rows[k] = [a - factor * b for a, b in zip(rows[k], rows[i], strict=True)]
    return [row[size:] for row in rows]


class Rules:
    """Keywords as the environment's."""

    def __init__(self, tokens=11, starter="loser", tie="last", charge_casts=3, discharge_casts=3,
                 short_pot="truncate", four_two_one=10):  # fmt: skip
        self.tokens, self.starter, self.tie = tokens, starter, tie
        self.casts_in = {"charge": charge_casts, "discharge": discharge_casts}
        self.short_pot = short_pot
        self.worth = {result: worth(result, four_two_one) for result in RESULTS}
        self.start = (tokens, 0, 0)
        self.every_after = cache(lambda state: table(partial(self.after, state)))

    def casts(self, state):
        return self.casts_in["charge" if state[0] else "discharge"]

    def blocks(self):
        """States of the discharge, and then of the charge by growing pot."""
        for pot in range(self.tokens + 1):
            held = self.tokens - pot
            yield [(pot, n, held - n) for n in range(held + 1) if pot or 0 < n < held]

    def replayed(self, one, two):
        return one == two and self.tie == "replay"

    def wins(self, one, two):
        """Tell whether the beginner's result beats the follower's, who loses equal ones."""
        return HEIGHT[one] >= HEIGHT[two]

    def moved(self, state, one, two):
        """Tokens that the loser gets: (from the pot, from the winner)."""
        pot, mover, other = state
        wins = self.wins(one, two)
        due, held = (self.worth[one], mover) if wins else (self.worth[two], other)
        given = min(due, pot)
        owed = due - given if pot == 0 or self.short_pot == "spill" else 0
        return given, min(owed, held)

    def after(self, state, one, two):
        """Give (whether the beginner begins again, state), or who has won, 1 for the beginner."""
        if self.replayed(one, two):
            return True, state
        wins = self.wins(one, two)
        given, taken = self.moved(state, one, two)
        change = -taken if wins else given + taken
        pot, mover = state[0] - given, state[1] + change
        other = self.tokens - pot - mover
        if pot == 0 and (mover if wins else other) == 0:
            return int(wins)
        again = {"loser": not wins, "winner": wins, "alternate": False, "same": True}[self.starter]
        return (True, (pot, mover, other)) if again else (False, (pot, other, mover))


class Match:
    """A match between two players, either of whom may be None: the best against the other.

    Attributes:
        values: {(player who begins, state): its probability of winning}.
        lengths: {(player who begins, state): expected rounds still (of charge, of discharge)}.
    """

    def __init__(self, rules, players=(None, None), exact=True):
        self.rules, self.exact = rules, exact
        self.alike = players[0] is players[1]
        self.players = [player and lru_cache(64)(player) for player in players]
        self.values, self.lengths = {}, {}
        for block in rules.blocks():
            if block:
                self._solve([(who, state) for who in range(2 - self.alike) for state in block])

    def value(self, who=0, state=None):
        """Give the probability of winning of the player who begins."""
        return self.values[self._known(who), state or self.rules.start]

    def length(self, who=0, state=None):
        return self.lengths[self._known(who), state or self.rules.start]

    def _known(self, who):
        return 0 if self.alike else who

    def _solve(self, block):
        """Improve the free players' turns until the values satisfy the optimality equation."""
        half = Fraction(1, 2) if self.exact else 0.5
        self.values |= dict.fromkeys(block, half)
        for _ in range(50):
            laws = {key: self._transitions(*key) for key in block}
            found = self._evaluate(block, laws)
            change = max(abs(found[key] - self.values[key]) for key in block)
            self.values |= found
            cyclic = any(self._inner(key, to, block) for key in block for to in laws[key])
            if not cyclic or change <= (0 if self.exact else 1e-14):
                self.lengths |= self._rounds(block, laws)
                return
        raise ArithmeticError("policy iteration did not converge")

    def worth_of(self, who, after):
        """Probability that a player wins who began the round that led somewhere."""
        if isinstance(after, int):
            return after
        again, state = after
        return self.value(who, state) if again else 1 - self.value(1 - who, state)

    def payoffs(self, who, state):
        """Give the beginner's winning probability after each pair of results, as integers."""
        cached = cache(lambda after: self.worth_of(who, after))
        after = self.rules.every_after(state)
        values = table(lambda one, two: cached(after[one][two]))
        if not self.exact:
            return values
        scale = lcm(*(Fraction(v).denominator for row in values.values() for v in row.values()))
        return {one: {two: int(v * scale) for two, v in row.items()} for one, row in values.items()}

    def laws(self, who, state):
        """How `who` begins and how the other replies."""
        beginner, follower = self.players[who], self.players[1 - who]
        casts = self.rules.casts(state)
        if beginner and follower:
            return beginner(state)[0], follower(state)[1]
        payoffs = self.payoffs(who, state)
        following = follower(state)[1] if follower else replies(opposite(payoffs), casts)
        begins = beginner(state)[0] if beginner else beginning(payoffs, following, casts)
        return begins, following

    def _transitions(self, who, state):
        begins, following = self.laws(who, state)
        casts = self.rules.casts(state)
        after = self.rules.every_after(state)
        masses = {}
        for (made, one), mass in begins.items():
            weight = mass * CAST ** (casts - made)
            for (_, two), reply in following[made, one].items():
                to = after[one][two]
                masses[to] = masses.get(to, 0) + weight * reply
        whole = CAST ** (2 * casts)
        assert sum(masses.values()) == whole  # masses are integers or fractions
        number = Fraction if self.exact else float
        return {to: number(mass) / whole for to, mass in masses.items()}

    def _inner(self, key, to, block):
        return not isinstance(to, int) and self._next(key[0], to) in block

    def _next(self, who, to):
        again, state = to
        return self._known(who if again else 1 - who), state

    def _system(self, block, laws, sign, gain):
        """Solve x = gain + sum of chances times x, or -x (sign -1) where the other begins."""
        place = {key: number for number, key in enumerate(block)}
        zero = Fraction(0) if self.exact else 0.0
        matrix = [[zero] * len(block) for _ in block]
        columns = []
        for key in block:
            column = zero
            for to, chance in laws[key].items():
                if self._inner(key, to, block):
                    turn = 1 if to[0] else sign
                    matrix[place[key]][place[self._next(key[0], to)]] += turn * chance
                column += chance * gain(key, to, self._inner(key, to, block))
            columns.append([column])
        solved = linear(matrix, columns)
        return {key: solved[place[key]][0] for key in block}

    def _evaluate(self, block, laws):
        def gain(key, to, inner):
            return int(not to[0]) if inner else self.worth_of(key[0], to)

        return self._system(block, laws, -1, gain)

    def _rounds(self, block, laws):
        def counted(phase):
            def gain(key, to, inner):
                here = int((key[1][0] == 0) == phase)
                ends = inner or isinstance(to, int)
                return here + (0 if ends else self.lengths[self._next(key[0], to)][phase])

            return self._system(block, laws, 1, gain)

        charge, discharge = counted(0), counted(1)
        return {key: (charge[key], discharge[key]) for key in block}


@cache
def optimal(match):
    """Play as a solved match between two None says; what it does in a state is found once."""
    return cache(lambda state: match.laws(0, state))


def at_random(rules):
    """Take each legal move of a turn with the same chance."""

    @cache
    def turn(*stops):
        def decide(node):
            made, held, cast = node
            allowed = {True: made in stops, False: made < max(stops)}  # of a whole result, or not
            legal = [taken for taken, to in moves(held, cast).items() if allowed[len(to) == 3]]
            return dict.fromkeys(legal, Fraction(1, len(legal)))

        return law(stops, decide)

    def player(state):
        every = range(1, rules.casts(state) + 1)
        return turn(*every), {(made, target): turn(made) for made in every for target in RESULTS}

    return player


def one_round(rules, aim):
    """Play every round as if it were alone, by the payoff of its two results.

    "transfer": what one's own result is worth, whatever the other's. The others are zero-sum, and
    the beginner foresees the follower's best reply: "net", what the higher result is worth, to the
    winner, minus that to the loser; "capped", the same, of tokens that really move; "set", 1 to
    the winner. A round that is replayed pays the middle.
    """

    def paid(state, one, two):
        if rules.replayed(one, two):
            return 0
        wins = rules.wins(one, two)
        if aim == "capped":
            due = sum(rules.moved(state, one, two))
        else:
            due = 1 if aim == "set" else rules.worth[one if wins else two]
        return due if wins else -due

    @cache
    def alone(casts, state):
        if aim == "transfer":
            own, replying = (lambda one, two: rules.worth[one]), (lambda one, two: rules.worth[two])
            return both(table(own), table(replying), casts)
        payoffs = table(lambda one, two: paid(state, one, two))
        return both(payoffs, opposite(payoffs), casts)

    return lambda state: alone(rules.casts(state), state if aim == "capped" else None)


def in_phase(phase, player, otherwise):
    """Play one way in the charge or the discharge, another way in the other."""
    return lambda state: (player if (state[0] > 0) == (phase == "charge") else otherwise)(state)

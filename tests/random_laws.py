"""Random small laws in fractions, of one player and of two, in modes that are hard for floats."""

import random
from fractions import Fraction
from typing import NamedTuple

ZERO, ONE = Fraction(0), Fraction(1)


class Law(NamedTuple):
    """A law in fractions; ``ways[state][action]`` lists (chance, next state, reward, over)."""

    ways: list
    start: list
    gamma: Fraction = ONE
    horizon: int | None = None
    movers: list | None = None


PAYS = [Fraction(n, d) for n, d in ((0, 1), (1, 1), (-1, 1), (1, 3), (1, 10), (-7, 10), (5, 2))]
MIXED = [Fraction(n) for n in (0, 10**6, -(10**6), 1)] + [Fraction(n, 10**6) for n in (1, -1, 3)]
SMALL = [Fraction(1e-14), Fraction(3e-11), Fraction(1, 2**46), Fraction(1, 10**7), Fraction(1, 900)]
MODES = ("plain", "small", "mixed", "ties", "endless", "limits", "illegal", "equal", "cycles")
MODES += ("chains", "starts", "two")


def stands_for(chances):
    """Give the law that floats stand for: small fractions and short decimals, or what they are."""
    floats = [float(chance) for chance in chances]
    near = [read(each) for each in floats]
    if None in near:
        near = [Fraction(each) for each in floats]
    return [each / sum(near) for each in near]


def read(number):
    """Give the small fraction or the short decimal that a float stands for, if it does."""
    near = Fraction(number).limit_denominator(10**6)
    if float(near) == number:
        return near
    return Fraction(f"{number:.15g}") if float(f"{number:.15g}") == number else None


def read_payment(paid):
    """Give the fraction that the float next to a payment stands for."""
    near = read(float(paid))
    return Fraction(float(paid)) if near is None else near


def draw_chances(draw, count, small):
    """Draw a law of some outcomes, with probability ``small`` of a small chance."""
    while True:
        parts = [Fraction(draw.randint(1, 4)) for _ in range(count)]
        if count > 1 and draw.random() < small:
            parts[0] = draw.choice(SMALL) * sum(parts[1:])
        law = stands_for([part / sum(parts) for part in parts])
        if stands_for(law) == law:
            return law


#: What may be paid, and where a move may lead, by shape.
SHAPES = ("acyclic", "at_end", "charged", "ends", "blocks", "free", "potential")


def draw_moves(draw, shape, size, pays, over, small):
    """Draw all moves; ``size`` holds the numbers of states, of actions and of outcomes at most."""
    states, actions, most = size
    block = draw.randint(0, states - 1)
    height = [draw.choice(pays) for _ in range(states)]

    def way(state, first):
        ends, paid = draw.random() < over or (shape == "ends" and first), draw.choice(pays)
        to = draw.randrange(states)
        if shape == "acyclic":
            ends = ends or state == states - 1
            to = state if ends else draw.randint(state + 1, states - 1)
        if shape == "at_end" and not ends:
            paid = ZERO
        if shape == "charged":
            paid = -abs(paid)
        if shape == "blocks":  # nothing is paid but for the way from the first block to the second
            to = draw.randint(block + 1 if state > block else 0, states - 1)
            paid = paid if ends or (state <= block < to) else ZERO
        if shape == "potential" and not ends:
            paid = height[to] - height[state]
        return to, paid, ends

    def cell(state):
        chances = draw_chances(draw, draw.randint(1, most), small)
        return [(chance, *way(state, not k)) for k, chance in enumerate(chances)]

    return [[cell(state) for _ in range(actions)] for state in range(states)]


def draw_law(mode, seed):
    """Draw the law of a mode and a seed."""
    draw = random.Random(f"{mode} {seed}")
    actions = draw.randint(1, 4)
    states = draw.randint(1 + (mode == "two"), {1: 6, 2: 6, 3: 5, 4: 4}[actions])
    shapes = {"endless": ("blocks", "at_end", "potential"), "cycles": SHAPES[2:]}
    shapes |= {"two": ("acyclic", "free", "ends", "at_end"), "mixed": SHAPES[:6]}
    shape = draw.choice(shapes.get(mode, SHAPES))
    own = {"mixed": draw.sample(MIXED, draw.randint(2, 4)), "equal": [draw.choice(PAYS)]}
    if draw.random() < 0.4:
        own["cycles"] = [ONE, -ONE, ZERO]
    pays = own.get(mode) or draw.sample(PAYS, draw.randint(1, 4))
    over = {"endless": 0.0, "cycles": 0.2}.get(mode, draw.choice([0.1, 0.3, 0.6]))
    most = {"chains": 1, "limits": draw.randint(1, 3)}.get(mode, draw.randint(1, 4))
    small = {"small": 0.6, "mixed": 0.1}.get(mode, 0.0)
    ways = draw_moves(draw, shape, (states, actions, most), pays, over, small)
    if mode == "ties" or draw.random() < 0.1:
        duplicate(draw, ways)
    if mode == "illegal" or (mode == "two" and draw.random() < 0.5):
        for row in ways:
            for action in draw.sample(range(actions), draw.randint(0, actions - 1)):
                row[action] = []
    if mode == "mixed" and draw.random() < 0.5 and states > 1:
        only_apart(draw, ways, seed % 2)
    ways = [[[(c, to, read_payment(paid), over) for c, to, paid, over in cell] for cell in row]
            for row in ways]  # fmt: skip
    first = draw.sample(range(states), draw.randint(1, states)) if mode == "starts" else [0]
    parts = [Fraction(draw.randint(1, 5) if state in first else 0) for state in range(states)]
    start = [part / sum(parts) for part in parts]
    return Law(ways, start, *draw_limits(draw, mode, shape, start))


def draw_limits(draw, mode, shape, start):
    """Draw the discount, the limit of moves and, with two players, who moves in each state."""
    if mode == "two":
        movers = [0 if chance else draw.randint(0, 1) for chance in start]
        if shape == "acyclic" or draw.random() < 0.5:
            return ONE, None if shape == "acyclic" else draw.randint(1, 4), movers
        return Fraction(draw.choice(["1/2", "0.9"])), None, movers
    gamma = Fraction(draw.choice(["0", "1/2", "2/3", "0.9", "0.97"]))
    discounts = draw.random() < (0.5 if mode == "endless" else 0.15)
    return gamma if discounts else ONE, draw.randint(1, 6) if mode == "limits" else None, None


def duplicate(draw, ways):
    """Make the last action of some states a copy of the first, its outcomes in another form."""
    for row in ways:
        if draw.random() < 0.7:
            copy = list(row[0])
            if draw.random() < 0.5 and all(c.denominator < 10**5 for c, *_ in copy):
                chance, *rest = copy.pop()
                copy += [(chance / 3, *rest), (2 * chance / 3, *rest)]
            draw.shuffle(copy)
            row[-1] = copy


def only_apart(draw, ways, unreachable):
    """Have large payments in the last state alone, which may be out of reach."""
    last = len(ways) - 1
    for state, row in enumerate(ways):
        for cell in row:
            for k, (chance, to, paid, over) in enumerate(cell):
                paid = draw.choice(MIXED[1:3]) if state == last and paid else paid
                paid = paid / 10**6 if state < last and abs(paid) > 1 else paid
                to = draw.randrange(last) if unreachable and state < last == to else to
                cell[k] = (chance, to, paid, over)

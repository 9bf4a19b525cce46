"""Sweeps with given numbers, for tests that compare the sweeps of two classes."""

import numpy as np
from exactdice.core.types import Start
from exactdice.games import FLOATS


def backward(sweeps, decide, seat, kind=FLOATS):
    """Sweep a game without cycles backward: what was decided, the value of each position."""
    values = sweeps.values(seat, decide, kind)
    (block,) = sweeps.blocks(seat, kind)
    block.backward(decide, block.gains(values), kind.zeros(0), values)
    return values.frozen()


def forward(sweeps, decide, begun, seat, kind=FLOATS):
    """Sweep a game without cycles forward, from mass that no move has brought: all mass."""
    mass = sweeps.mass(decide, begun, kind)
    (block,) = sweeps.blocks(seat, kind)
    block.forward(decide, mass, kind.zeros(0))
    return mass.frozen()


def action_values(sweeps, values, seat, kind=FLOATS):
    """Collect the action values (player, state, action) for given values of later positions."""
    game = sweeps.game
    found = kind.zeros(game.num_players, game.num_states, game.num_actions)

    def look(stage, expected):
        found[stage.positions] = kind.unscaled(expected, stage.scale[:, None])
        return values[stage.positions] * stage.scale

    backward(sweeps, look, seat, kind)
    return found


def starts(mass):
    """Let the mass of all positions, (player to move, state), be where no move has brought it."""
    return [Start(seat, np.flatnonzero(row), row[row != 0]) for seat, row in enumerate(mass)]

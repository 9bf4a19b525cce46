"""Boards as pictures: scenes of a game, their layout, and painters."""

MODES = ("ansi", "human", "rgb_array")
FRAMES = 2  # a second

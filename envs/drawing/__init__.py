"""Boards as pictures: scenes of a game, their layout, and painters."""

"""Policies: the door by which they come in, their kinds, and their names."""

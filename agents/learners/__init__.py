"""Algorithms and environments for training, self-play, and networks as policies."""

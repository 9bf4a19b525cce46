"""Sweeps over all positions with a policy for each seat: backward, forward, and fixed points."""

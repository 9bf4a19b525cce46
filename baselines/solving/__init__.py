"""Solving: sweeps for players who choose or follow policies, and bounds of their rounding."""

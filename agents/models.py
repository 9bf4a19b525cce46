"""The path by which hyperparameter files, and rl_zoo3 that reads them too, name a callback."""

from .runs.models import FallingEntropy

__all__ = ["FallingEntropy"]

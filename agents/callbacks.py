"""The path by which users import the callback for training scripts of their own."""

from .runs.callback import ExactEvalCallback

__all__ = ["ExactEvalCallback"]

"""The name that ``PolicyOptions`` had before."""

from .options import PolicyOptions as Asked

__all__ = ["Asked"]

"""Transition laws for planners: ``P``, and sparse matrices."""

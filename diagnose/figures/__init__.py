"""Exact figures of critics, advantages, exploration and gradients."""

"""Agents side by side: benchmarks on tracks and ladders, the public board, and the tuner."""

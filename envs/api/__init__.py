"""Environments of Gymnasium and PettingZoo, their registration, encodings and wrappers."""

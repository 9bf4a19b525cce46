"""Scoring: regret, costly decisions, tournaments, certificates."""

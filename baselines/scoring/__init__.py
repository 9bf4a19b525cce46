"""Scoring: what a policy gives away, in which decisions, and certificates of it."""

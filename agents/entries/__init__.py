"""Entries of the public board: their cards and certificates, the checks, and the tables."""

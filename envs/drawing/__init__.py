"""Boards as pictures: what lies on the table, its layout, and how it is painted."""

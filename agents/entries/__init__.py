"""Entries of the public board: cards, certificates, their checks, the pages made of them."""

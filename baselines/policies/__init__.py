"""Policies: the conversion of a user's policy (``door``), the kinds of policies, their names."""

"""The sources of the games, recomputed: their numbers and statements, each with a verdict.

``python -m docs.reproductions`` prints them; a folder holds the claims of one source. The policies
that the sources describe belong to the package: ``games/<game>/policies.py``.
"""

"""The policies that the sources of the games describe, and some of ours, a folder for each game.

Each folder has a table of its policies by name, ``POLICIES``; ``exactdice.registry`` lists these
tables. The numbers and statements of the sources are in ``reproductions/``, at the top of the
repository.
"""

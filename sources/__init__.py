"""The policies that the sources of the games describe, a folder for each source.

Each folder has a table of its policies by name, ``POLICIES``; ``exactdice.registry`` lists these
tables. The numbers and statements of the sources are in ``reproductions/``, at the top of the
repository.
"""

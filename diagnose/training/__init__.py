"""A diagnosis of runs: a callback, its columns, and the files of a run folder."""

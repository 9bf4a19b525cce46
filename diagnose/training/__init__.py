"""Diagnosis of training runs: a callback, its columns, and the files of a run folder."""

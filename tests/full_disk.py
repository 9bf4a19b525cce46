"""A disk that is full, as far as this process can tell."""

from contextlib import contextmanager

import pytest


@contextmanager
def no_file_above(size):
    """Have the system refuse larger files, as a full disk does."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

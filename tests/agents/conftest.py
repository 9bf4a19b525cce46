"""Small training runs."""

import pytest
from small_runs import build, interrupted, small, small_config, small_env, trained  # noqa: F401


@pytest.fixture(autouse=True)
def _one_thread(one_thread):
    """Train on one thread."""

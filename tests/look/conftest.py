"""Small training runs to draw."""

from small_runs import small_config, trained  # noqa: F401

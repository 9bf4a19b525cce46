"""Settings of all tests."""

from hypothesis import settings

# No deadlines, as the machines are shared; the same examples in every run, as a failure has to be
# found again.
settings.register_profile("exactdice", deadline=None, derandomize=True)
settings.load_profile("exactdice")

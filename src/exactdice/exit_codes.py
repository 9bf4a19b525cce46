"""Exit codes besides 0 for success, 1 for a finding, such as a false claim, and 2 for a mistake."""

INTERRUPTED = 130  # Ctrl-C ended the command
BROKEN_PIPE = 141  # the reader of the output left

"""Exit codes besides 0 (success), 1 (a finding, such as a false claim) and 2 (a user's mistake)."""

FAILED = 70  # an error of this package or of a library, with a traceback; EX_SOFTWARE of sysexits.h
INTERRUPTED = 130  # Ctrl-C ended the command
BROKEN_PIPE = 141  # the reader of the output closed it

"""Words that the tests of the command line type."""

import sys
from pathlib import Path

COMMAND = [str(Path(sys.executable).with_name("exactdice"))]
SMALL = ["--env", "max_score", "10", "sides", "3"]
QUICK = [*SMALL, "--steps", "2000", "--num-envs", "256", "--eval-interval", "1000"]

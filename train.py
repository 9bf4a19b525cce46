"""Train an agent and score it exactly: `python train.py --help` lists the options."""

import sys

try:
    from exactdice.cli import main
except ModuleNotFoundError as error:
    sys.exit(f"error: {error.name} is missing: make setup, then source .venv/bin/activate")

if __name__ == "__main__":
    main(["train", *sys.argv[1:]])

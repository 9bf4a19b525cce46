"""Train an agent and score it exactly: `python train.py --help` lists the options."""

import sys

from exactdice.cli import main

if __name__ == "__main__":
    main(["train", *sys.argv[1:]])

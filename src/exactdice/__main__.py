"""The command line as ``python -m exactdice``."""

from .cli import main

if __name__ == "__main__":
    main()

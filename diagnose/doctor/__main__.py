"""The process of a script that the doctor examines (see ``runs``)."""

from .runs import main

if __name__ == "__main__":
    main()

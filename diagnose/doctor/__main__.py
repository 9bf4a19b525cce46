"""The process of a script that the doctor examines (see ``runs``)."""

from .runs import main

main()

"""What users do wrong, as classes of its own; whatever else is raised is a bug of this project."""


class InputError(ValueError):
    """An argument that is not what is needed: says its name, what was expected and what came."""


class KeywordError(InputError, TypeError):
    """A keyword that is not one of the game's: a TypeError too, as of any Python function.

    It says so in Python's own words, ``unexpected keyword argument 'frameskip'``: TorchRL tries
    that one on every environment, and goes on without it if it reads them.
    """


class SizeError(InputError):
    """Sizes of a game that ask for more than the limits allow, with what they would take."""


class GameError(InputError):
    """Rules of a game that are not those of a finite game of chance: its author's mistake."""

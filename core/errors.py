"""Errors for mistakes of users; any other exception is a bug of this project."""

from collections.abc import Iterator
from contextlib import contextmanager


class InputError(ValueError):
    """A wrong argument: the message has its name, the requirement and the value."""


class KeywordError(InputError, TypeError):
    """A keyword that the game does not have; a TypeError too, as for any Python function.

    The message has Python's own words, ``unexpected keyword argument 'frameskip'``: TorchRL passes
    that keyword to every environment, and leaves it out if it finds these words in the error.
    """


class SizeError(InputError):
    """Sizes that need more memory or time than the limits; the message has the estimate."""


class GameError(InputError):
    """A mistake of a game's author: its rules are not those of a finite game of chance."""


class WriteError(OSError):
    """A file cannot be written, as on a full disk; its old version is whole."""


@contextmanager
def needing(what: str, install: str, kind: type[Exception] | None = None) -> Iterator[None]:
    """Say what pip is to install, if a library is missing that the block imports.

    The error is of a ``kind``, by default a ``ModuleNotFoundError``.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        words = f"{what} needs more libraries ({error.name}): pip install {install}"
        if kind is None:
            raise ModuleNotFoundError(words, name=error.name) from error
        raise kind(words) from None


@contextmanager
def answering(wanted: str) -> Iterator[None]:
    """Make an ``InputError`` of whatever other people's code raises in the block.

    The message is what is ``wanted``, and then that of the error in one line.
    """
    try:
        yield
    except InputError:  # which is made for people
        raise
    except Exception as error:
        said = " ".join(str(error).split())[:200]
        raise InputError(f"{wanted}: {type(error).__name__}: {said}") from error

"""The identity of a game: its class and the content of its arguments, which never change.

The cache of results (``baselines.cache``) has games as keys. So two games may be equal only if they
have the same rules, and a game may not change while results about it are cached.

* Arguments are compared by content: numbers and texts by type and value, arrays by shape, dtype
  and bytes, containers entry by entry, functions and classes as objects. Arguments of other types
  must have ``__eq__`` and ``__hash__`` of their own, or the game is refused.
* A game is *sealed* when its construction ends: its attributes can be neither set nor deleted, and
  its arrays are read-only. The arrays and containers among its arguments are copied first, so that
  the caller's stay writable. A list of a game that is nonetheless changed in place raises an error
  when the game is next hashed.
"""

import inspect
from abc import ABCMeta
from collections.abc import Callable, Hashable
from enum import Enum
from fractions import Fraction
from functools import wraps
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from .errors import GameError

_PLAIN = (type(None), bool, int, str, bytes, Fraction)
_CHANGEABLE = (list, dict, set)


_Arguments = ParamSpec("_Arguments")
_Found = TypeVar("_Found")


def once_a_game(
    find: Callable[_Arguments, _Found],
) -> Callable[_Arguments, _Found]:
    """Decorate a function of a game and hashable arguments: the game keeps the results."""

    @wraps(find)
    def ask(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Found:
        known: dict[Any, _Found] = vars(args[0]).setdefault("_known", {})
        question = find, args[1:], tuple(kwargs.items())
        if question not in known:
            known[question] = find(*args, **kwargs)
        return known[question]

    return ask


class Identity(NamedTuple):
    """The content of a game's arguments, by which games of a class are compared.

    Attributes:
        contents: the content of each argument, by name.
        hashed: the hash of the class and the contents.
        changeable: the names of the arguments that can be changed in place.
    """

    contents: dict[str, Hashable]
    hashed: int
    changeable: tuple[str, ...]


class Sealed(ABCMeta):
    """Metaclass of games; it seals a game when its construction is complete."""

    if not TYPE_CHECKING:  # a call takes the arguments of ``__init__``, as type checkers know

        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            """Make a game and seal it."""
            args, kwargs = own(args), own(kwargs)
            game = super().__call__(*args, **kwargs)
            identity = identify(game)
            _freeze((*args, *kwargs.values(), *game.keywords.values()))
            for value in (*vars(game).values(), *_shared(cls)):
                if isinstance(value, np.ndarray):
                    value.setflags(write=False)
            vars(game)["_identity"] = identity
            return game

    @property
    def __signature__(cls) -> inspect.Signature:
        """The arguments of ``__init__`` without ``self``."""
        if cls.__init__ is object.__init__:  # type: ignore[misc]  # as below
            return inspect.Signature()
        whole = inspect.signature(cls.__init__)  # type: ignore[misc]  # of the class, not of a game
        return whole.replace(parameters=[*whole.parameters.values()][1:])


def identify(game: Any) -> Identity:
    """Compute the identity of a game.

    Raises:
        GameError: if an argument is not kept as an attribute of its name, or cannot be compared.
    """
    if type(game).__hash__ is None:
        raise GameError(f"{type(game).__name__} must keep the __eq__ and __hash__ of Game")
    try:
        arguments = game.keywords
    except AttributeError as error:
        raise GameError(
            f"each argument must be kept as an attribute of its name: {error}"
        ) from None
    contents = {name: content(name, value) for name, value in arguments.items()}
    changeable = tuple(name for name, value in arguments.items() if _can_change(value))
    return Identity(contents, hash((type(game), *contents.items())), changeable)


def require_unchanged(game: Any) -> Identity:
    """Return the identity of a game after comparing its changeable arguments with it.

    Raises:
        GameError: if an argument was changed in place after the game was made.
    """
    identity: Identity = game._identity
    for name in identity.changeable:
        if content(name, game.keywords[name]) != identity.contents[name]:
            raise GameError(
                f"{name} must stay as it was when the game was made: make another game instead"
            )
    return identity


def content(name: str, value: Any) -> Hashable:
    """Return the content of an argument: two arguments are alike if their contents are equal.

    Args:
        name: the name of the argument.
        value: the argument, or a part of it.

    Raises:
        GameError: if the argument cannot be compared.
    """
    kind = type(value)
    if kind in _PLAIN:
        return kind, value
    if kind in (float, complex):
        return kind, repr(value)  # as NaN differs from itself
    if isinstance(value, np.generic) or (kind is np.ndarray and not value.dtype.hasobject):
        return kind, value.shape, value.dtype, value.tobytes()
    if kind is np.ndarray and value.dtype == object:
        return kind, value.shape, tuple(content(name, entry) for entry in value.flat)
    if kind is dict:
        return kind, tuple((content(name, key), content(name, value[key])) for key in value)
    if kind in (list, set, frozenset) or isinstance(value, tuple):
        entries = [content(name, entry) for entry in value]
        return kind, tuple(entries) if isinstance(value, list | tuple) else frozenset(entries)
    if _compares(value):
        return kind, value
    raise GameError(
        f"{name} must be made of numbers, texts, arrays, containers, functions or what has an "
        f"__eq__ and a __hash__ of its own, got a {kind.__name__}"
    )


def own(value: Any) -> Any:
    """Copy arrays, and containers with the arrays in them."""
    kind = type(value)
    if kind is np.ndarray:
        copied = value.copy()
        if value.dtype == object:
            for index in np.ndindex(value.shape):
                copied[index] = own(value[index])
        return copied
    if kind in (list, tuple):
        return kind(own(entry) for entry in value)
    if isinstance(value, tuple) and hasattr(kind, "_make"):  # a named tuple
        return kind._make(own(entry) for entry in value)
    if kind is dict:
        return {key: own(entry) for key, entry in value.items()}
    return value.copy() if kind is set else value


def _compares(value: Any) -> bool:
    """Say whether an object can be compared and hashed by content."""
    if isinstance(value, (FunctionType, BuiltinFunctionType, type, Enum)):  # equal if identical
        return True
    kind: Any = type(value)
    if kind.__eq__ is object.__eq__ or kind.__hash__ is object.__hash__:
        return False
    try:
        hash(value)
        return (value == value) is True
    except Exception:  # the object's own methods may raise anything
        return False


def _can_change(value: Any) -> bool:
    if isinstance(value, _CHANGEABLE):
        return True
    if isinstance(value, np.ndarray):
        return value.dtype == object and any(map(_can_change, value.flat))
    return isinstance(value, tuple) and any(map(_can_change, value))


def _freeze(value: Any) -> None:
    """Make the arrays in an argument read-only."""
    if isinstance(value, np.ndarray):
        value.setflags(write=False)
    if isinstance(value, np.ndarray) and value.dtype == object:
        value = value.ravel().tolist()
    if isinstance(value, list | tuple | dict):
        for entry in value.values() if isinstance(value, dict) else value:
            _freeze(entry)


def _shared(rules: type) -> list[Any]:
    """List the arrays that are attributes of a game's class or of its base classes."""
    return [
        value
        for kind in rules.__mro__
        for value in vars(kind).values()
        if isinstance(value, np.ndarray)
    ]

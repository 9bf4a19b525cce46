"""Reading of requests, and the progress of the computation that a response waits for."""

from collections.abc import Iterator
from contextlib import contextmanager

from flask import abort, request
from werkzeug.exceptions import HTTPException

from ..core import InputError
from ..core.progress import watched
from .views import JSON


class Progress:
    """How far the computation is that answers wait for.

    Attributes:
        percent: the part that is done; None while nothing long is computed.
    """

    def __init__(self) -> None:
        self.percent: int | None = None

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Note how far long computations in the ``with`` block are."""

        def report(done: int, total: int, *_: object) -> None:
            self.percent = 100 * done // total

        try:
            with watched(report):
                yield
        finally:
            self.percent = None


def body() -> JSON:
    """Return the JSON object in a request."""
    try:
        content = request.get_json()
    except RecursionError:  # nested too deeply
        abort(400, "The request must be JSON that is less deep.")
    if not isinstance(content, dict):
        abort(400, "The request must be a JSON object.")
    return content


def whole(content: JSON, key: str) -> int:
    """Return a whole number of a request.

    Raises:
        InputError: if it is missing, or something else.
    """
    value = content.get(key)
    if type(value) is not int:
        raise InputError(f"{key} must be a whole number, got {str(value)[:50]!r}")
    return value


def refusal(error: HTTPException) -> tuple[JSON, int]:
    """Answer a request that is refused."""
    return {"error": error.description or error.name}, error.code or 500

"""Tables of pandas, which is optional: the rest of the package does not need it."""

from collections.abc import Mapping
from typing import Any

from .errors import InputError, needing


def frame(columns: Mapping[str, Any]) -> Any:
    """Make a ``pandas.DataFrame`` of columns of equal length.

    Raises:
        InputError: if pandas is not installed.
    """
    with needing("to_frame", "pandas", InputError):
        from pandas import DataFrame
    return DataFrame(dict(columns))

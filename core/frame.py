"""Tables of pandas, which is optional: the rest of the package does not need it."""

from collections.abc import Mapping
from typing import Any

from .errors import InputError


def frame(columns: Mapping[str, Any]) -> Any:
    """Make a ``pandas.DataFrame`` of columns of equal length.

    Raises:
        InputError: if pandas is not installed.
    """
    try:
        from pandas import DataFrame
    except ModuleNotFoundError:
        raise InputError("to_frame needs pandas: pip install pandas") from None
    return DataFrame(dict(columns))

"""Every input rule, once. Each check returns the cleaned value or raises a bivaluate error."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from bivaluate._errors import MatrixError, ParameterError, suggest

if TYPE_CHECKING:
    from numpy.typing import NDArray

Choice = TypeVar("Choice", bound=str)


def check_choice(name: str, value: Choice, allowed: Iterable[str]) -> Choice:
    """Return `value` if it is one of `allowed`."""
    allowed = list(allowed)
    if value not in allowed:
        listed = ", ".join(repr(a) for a in allowed)
        raise ParameterError(f"{name} is {value!r}; allowed: {listed}.{suggest(str(value), allowed)}")
    return value


def check_int(name: str, value: Any, minimum: int | None = None, maximum: int | None = None) -> int:
    """Return `value` as an int within [minimum, maximum]."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise ParameterError(f"{name} is {value!r}; a whole number is needed.")
    if minimum is not None and value < minimum:
        raise ParameterError(f"{name} is {value}; it must be at least {minimum}.")
    if maximum is not None and value > maximum:
        raise ParameterError(f"{name} is {value}; it must be at most {maximum}.")
    return int(value)


def check_real(name: str, value: Any, minimum: float | None = None, maximum: float | None = None) -> float:
    """Return `value` as a finite float within [minimum, maximum]."""
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float, np.integer, np.floating))
        or not math.isfinite(value)
    ):
        raise ParameterError(f"{name} is {value!r}; a finite number is needed.")
    if minimum is not None and value < minimum:
        raise ParameterError(f"{name} is {value}; it must be at least {minimum}.")
    if maximum is not None and value > maximum:
        raise ParameterError(f"{name} is {value}; it must be at most {maximum}.")
    return float(value)


def place_of_cell(row: int, col: int) -> str:
    """Return how a message names a cell of a matrix without labels."""
    return f"row {row}, column {col} (counted from 0)"


def check_values(
    X: Any, missing: str = "raise", name: str = "X", place: Callable[[int, int], str] = place_of_cell
) -> NDArray[np.float64]:
    """Return `X` as a 2-D, non-empty float64 array of finite cells.

    A float64 array is returned as it is, never copied. With ``missing="omit"`` NaN cells may stay;
    infinite cells never may. `place` says where a cell is, for messages.
    """
    values = to_float64(X, name)
    if values.ndim != 2:
        raise MatrixError(
            f"{name} has {values.ndim} dimension(s), shape {values.shape}; a 2-D matrix (rows x columns) is needed."
        )
    if values.size == 0:
        raise MatrixError(f"{name} is empty: its shape is {values.shape}.")
    if math.isfinite(_finite_probe(values)):
        return values
    finite = np.isfinite(values)
    if finite.all():
        return values
    infinite = np.isinf(values)
    if infinite.any():
        i, j = np.argwhere(infinite)[0]
        raise MatrixError(
            f"{name} has {int(infinite.sum())} infinite cell(s), the first at {place(i, j)}. "
            "Infinite values have no place in any measure: remove or replace them."
        )
    if missing != "omit":
        i, j = np.argwhere(~finite)[0]
        raise MatrixError(
            f"{name} has {int((~finite).sum())} missing cell(s) (NaN), the first at {place(i, j)}. "
            "Impute them, or pass missing='omit' to average over the observed cells."
        )
    return values


def to_float64(X: Any, name: str) -> NDArray[np.float64]:
    """Return `X` as a float64 array, without a copy where it is one already."""
    if type(X).__module__.startswith("scipy.sparse"):
        raise MatrixError(f"{name} is a sparse matrix; pass {name}.toarray() if it fits in memory.")
    try:
        array = np.asarray(X)
    except ValueError:
        raise MatrixError(f"{name} is ragged: its rows have different lengths.") from None
    if array.dtype == np.float64:
        return array
    if array.dtype.kind in "fiub":
        return array.astype(np.float64)
    if array.dtype.kind in "OUS":
        try:
            return array.astype(np.float64)
        except (TypeError, ValueError):
            raise MatrixError(_first_non_numeric(array, name)) from None
    raise MatrixError(f"{name} has dtype {array.dtype}; real numbers are needed.")


def _first_non_numeric(array: NDArray[Any], name: str) -> str:
    for index in np.ndindex(array.shape):
        try:
            float(array[index])
        except (TypeError, ValueError):
            where = place_of_cell(*index) if len(index) == 2 else f"position {index}"
            return f"{name} has a cell that is not a number at {where}: {array[index]!r}."
    return f"{name} holds values that cannot be turned into numbers (dtype {array.dtype})."


def _finite_probe(values: NDArray[np.float64]) -> float:
    """Return a number that is finite only if every cell is, without a temporary of the size of X."""
    with np.errstate(over="ignore", invalid="ignore"):
        return float(values.sum())

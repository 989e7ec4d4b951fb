"""Every input rule, once. Each check returns the cleaned value or raises a bivaluate error."""

import importlib
import math
import os
import re
import reprlib
import sys
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bivaluate._errors import BivaluateError, MatrixError, ParameterError, suggest
from bivaluate._text import Advice, Option, first_few, plural
from bivaluate._types import Floats

Choice = TypeVar("Choice", bound=str)
Place = Callable[[int, int], str]  # of a cell, as a message names it
LEAST_MEMORY = 16_000_000  # bytes


def check_choice(name: str, value: Choice, allowed: Iterable[str]) -> Choice:
    """Return `value` if it is one of `allowed`."""
    allowed = list(allowed)
    if value not in allowed:
        listed = ", ".join(repr(a) for a in allowed)
        raise ParameterError(Advice(Option(name), f" is {value!r}; allowed: {listed}.{suggest(str(value), allowed)}"))
    return value


def check_held(holder: str, what: str, asked: str, known: Iterable[str]) -> None:
    """Raise unless a file or object holds what is asked for by name."""
    known = list(known)
    if asked not in known:
        raise ParameterError(f"{holder} has no {what} {asked!r}; it has {first_few(known)}.{suggest(asked, known)}")


def check_instance(name: str, value: Any) -> None:
    """Refuse a class, or the name of an algorithm, where an estimator is needed."""
    if isinstance(value, str):
        example = "pass an estimator, for instance LargeAverageSubmatrices()"
        raise ParameterError(Advice(Option(name), f" is {value!r}; {example}."))
    if isinstance(value, type):
        made = value.__name__
        raise ParameterError(Advice(Option(name), f" is the class {made}; pass an instance: {made}()."))


def check_int(name: str, value: Any, minimum: int | None = None, maximum: int | None = None) -> int:
    """Return `value` as an int within [minimum, maximum]."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise ParameterError(Advice(Option(name), f" is {value!r}; a whole number is needed."))
    _check_range(name, value, minimum, maximum)
    return int(value)


def check_seed(value: Any, maximum: int | None = None) -> int:
    """Return a seed; a random generator gives one."""
    if isinstance(value, np.random.Generator):
        return int(value.integers(2**31 - 1))
    if isinstance(value, np.random.RandomState):
        return int(value.randint(2**31 - 1))
    return check_int("random_state", value, 0, maximum)


def check_real(name: str, value: Any, minimum: float | None = None, maximum: float | None = None) -> float:
    """Return `value` as a finite float within [minimum, maximum]."""
    is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value):
        raise ParameterError(Advice(Option(name), f" is {value!r}; a finite number is needed."))
    _check_range(name, value, minimum, maximum)
    return float(value)


def _check_range(name: str, value: Any, minimum: float | None, maximum: float | None) -> None:
    if minimum is not None and value < minimum:
        raise ParameterError(Advice(Option(name), f" is {value}; it must be at least {minimum}."))
    if maximum is not None and value > maximum:
        raise ParameterError(Advice(Option(name), f" is {value}; it must be at most {maximum}."))


def check_memory(value: Any) -> int | None:
    """Return an amount of memory in bytes: a number, or one with K, M, G or T behind it.

    >>> check_memory("2G"), check_memory("500 MB"), check_memory(None)
    (2000000000, 500000000, None)
    """
    if value is None:
        return None
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?\s*", str(value), re.IGNORECASE)
    if found is None:
        raise ParameterError(f"memory is {value!r}; a number of bytes is needed, such as 2G or 500M.")
    factor = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}[found[2].upper()]
    amount = int(float(found[1]) * factor)
    if amount < LEAST_MEMORY:
        raise ParameterError(f"memory is {value}; at least {LEAST_MEMORY // 1_000_000}M is needed.")
    return amount


def place_of_cell(row: int, col: int) -> str:
    """Return how a message names a cell of a matrix without labels."""
    return f"row {row}, column {col} (counted from 0)"


def check_values(X: Any, missing: str = "", name: str = "X", place: Place = place_of_cell) -> Floats:
    """Return `X` as a 2-D, non-empty float64 array of finite cells."""
    values = to_float64(X, name, place)
    if values.size == 0:
        raise MatrixError(f"{name} is empty: its shape is {values.shape}.")
    with np.errstate(over="ignore", invalid="ignore"):  # a sum needs no temporary of the size of X
        if math.isfinite(float(values.sum())):
            return values
    infinite, absent = np.argwhere(np.isinf(values)), np.argwhere(np.isnan(values))
    if len(infinite):
        found = f"{name} has {plural(len(infinite), 'infinite value')}, the first at {place(*infinite[0])}"
        raise MatrixError(f"{found}. Infinite values cannot be used: remove or replace them.")
    if len(absent) and missing != "omit":
        found = f"{name} has {plural(len(absent), 'missing value')} (NaN), the first at {place(*absent[0])}"
        how = Advice(", or pass ", Option("missing", "omit"), " to average over the observed values")
        raise MatrixError(Advice(f"{found}. Impute them", how if missing == "raise" else "", "."))
    return values


def to_float64(X: Any, name: str, place: Place = place_of_cell) -> Floats:
    """Return `X` as a 2-D float64 array, without a copy where it is one already; masked cells become NaN."""
    if isinstance(X, (str, os.PathLike)):
        raise MatrixError(f"{name} is a path; read it first: bivaluate.read_matrix({os.fspath(X)!r}).")
    module = type(X).__module__
    if module == "bivaluate.solution" or hasattr(X, "fit"):
        raise MatrixError(
            f"{name} is a {type(X).__name__}, not a matrix. Were the two swapped? The matrix comes first."
        )
    if module.startswith("scipy.sparse"):
        raise MatrixError(f"{name} is sparse; a dense matrix is needed: pass {name}.toarray() if it fits in memory.")
    try:
        if module.startswith("torch"):
            X = X.detach().cpu()
        if module.startswith("cupy"):
            X = X.get()  # of a graphics card: a copy
        array = np.asarray(X)
    except ValueError:
        raise MatrixError(f"{name} is ragged: its rows have different lengths. Biclusters come second.") from None
    except (TypeError, NotImplementedError) as error:
        raise MatrixError(f"{name} is a {type(X).__name__}, which NumPy cannot copy: {error}") from error
    if array.dtype.kind not in "fiubOUS":
        raise MatrixError(f"{name} has dtype {array.dtype}; real numbers are needed.")
    try:
        values = array.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        raise MatrixError(_first_non_numeric(array, name)) from None
    except OverflowError:
        raise MatrixError(f"{name} holds an integer beyond 1.8e308, too large for a floating-point number.") from None
    if array.dtype.kind in "US" or (array.dtype.kind == "O" and any(isinstance(cell, str) for cell in array.flat)):
        raise MatrixError(f"{name} holds numbers written as text; turn them into numbers first: {name}.astype(float).")
    if values.ndim != 2:
        found = f"{name} has {plural(values.ndim, 'dimension')}, shape {values.shape}"
        raise MatrixError(f"{found}; a 2-D matrix (rows x columns) is needed.")
    if array.dtype.kind == "O" or (array.dtype.kind in "iu" and array.dtype.itemsize == 8):
        _check_whole(array, values, name, place)
    return np.where(X.mask, np.nan, values) if isinstance(X, np.ma.MaskedArray) else values


def _check_whole(array: NDArray[Any], values: Floats, name: str, place: Place) -> None:
    """Refuse integers that floating-point numbers cannot tell from their neighbours."""
    if max(values.max(initial=0.0), -values.min(initial=0.0)) <= 2**53:
        return
    for row, col in np.argwhere(np.abs(values) > 2**53).tolist():
        cell = as_python(array[row, col])
        if isinstance(cell, int) and cell != float(values[row, col]):
            found = f"{name} holds {cell} at {place(row, col)}: integers beyond 2**53 lose their last digits"
            raise MatrixError(f"{found}. Subtract an offset, or pass {name}.astype(float) if they do not matter.")


def as_python(value: Any) -> Any:
    """Return a scalar of NumPy as Python's own, to be shown."""
    return value.item() if isinstance(value, np.generic) else value


def in_short(value: Any) -> str:
    """Return what a value of a wrong type is, without the cells it may hold.

    >>> in_short(np.zeros((4, 3))), in_short(5), in_short(list(range(1000)))
    ('ndarray of shape (4, 3)', '5', '[0, 1, 2, 3, 4, 5, ...]')
    """
    try:
        return f"{type(value).__name__} of shape {value.shape}"
    except (AttributeError, BivaluateError):  # a solution may not know its shape
        return reprlib.repr(value)


def _first_non_numeric(array: NDArray[Any], name: str) -> str:
    for index in np.ndindex(array.shape):
        try:
            float(array[index])
        except (TypeError, ValueError):
            where = place_of_cell(*index) if len(index) == 2 else f"position {index}"
            return f"{name} has a value that is not a number at {where}: {as_python(array[index])!r}."
    return f"{name} holds values that cannot be turned into numbers (dtype {array.dtype})."


def import_own(what: str, word: str) -> Any:
    """Return what ``module:name`` stands for: of something installed or, after that, of a module in this folder."""
    module, _, name = word.partition(":")
    top = module.partition(".")[0]
    here = [os.getcwd()] if os.path.isfile(f"{top}.py") or os.path.isdir(top) else []
    sys.path.extend(here)
    try:
        return getattr(importlib.import_module(module), name)
    except Exception as error:
        said = f"the {what} {word!r} cannot be imported ({type(error).__name__}: {error})"
        raise ParameterError(f"{said}; write module:name of a file here, or of something installed.") from error
    finally:
        for place in here:
            sys.path.remove(place)

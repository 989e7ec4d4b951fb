"""The algorithms of a plan: registry keys, or ``package.module:Class`` for an estimator of your own."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bivaluate._errors import ParameterError
from bivaluate.solution import Biclustering

COUNTS = ("n_biclusters", "n_clusters")


def check_algorithm(key: str, parameters: Mapping[str, Any]) -> None:
    """Raise if there is no such algorithm or parameter; near names are suggested."""
    try:
        make(key, 2, 0, parameters)
    except TypeError as error:
        raise ParameterError(f"algorithm {key!r} does not take these parameters: {error}.") from None


def is_nested(key: str) -> bool:
    """Whether the first k biclusters of a run for K are the run for k.

    A class of your own says so with a class attribute ``nested = True``.
    """
    if ":" in key:
        return bool(getattr(_own_class(key), "nested", False))
    from bivaluate.algorithms.registry import get_algorithm

    return get_algorithm(key).nested


def find_biclusters(
    key: str, X: NDArray[np.float64], k: int, random_state: int, parameters: Mapping[str, Any]
) -> Biclustering:
    """Fit the algorithm and return its solution."""
    estimator = make(key, k, random_state, parameters)
    estimator.fit(X)
    return solution_of(estimator)


def solution_of(estimator: Any) -> Biclustering:
    """Return the solution of a fitted estimator: ``solution_``, or ``rows_`` and ``columns_``."""
    solution = getattr(estimator, "solution_", None)
    return solution if isinstance(solution, Biclustering) else Biclustering.from_estimator(estimator)


def make(key: str, k: int, random_state: int, parameters: Mapping[str, Any]) -> Any:
    """Return the unfitted estimator of a cell."""
    if ":" not in key:
        from bivaluate.algorithms.registry import get_algorithm, make_estimator

        # One thread inside each cell: the sweep itself is parallel.
        single = {"n_jobs": 1} if "n_jobs" in get_algorithm(key).estimator().get_params() else {}
        return make_estimator(key, k, random_state, **{**single, **parameters})
    cls = _own_class(key)
    accepted = inspect.signature(cls).parameters
    arguments = dict(parameters)
    arguments[next(name for name in COUNTS if name in accepted)] = k
    if "random_state" in accepted:
        arguments.setdefault("random_state", random_state)
    return cls(**arguments)


def _own_class(key: str) -> Any:
    module_name, _, class_name = key.partition(":")
    try:
        cls = getattr(importlib.import_module(module_name), class_name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ParameterError(
            f"algorithm {key!r} cannot be imported ({error}); write package.module:Class of something installed."
        ) from None
    accepted = inspect.signature(cls).parameters
    if not any(name in accepted for name in COUNTS) or not hasattr(cls, "fit"):
        raise ParameterError(f"algorithm {key!r} is no estimator with fit(X) and a parameter {' or '.join(COUNTS)}.")
    return cls

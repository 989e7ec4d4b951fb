"""Measures of a user's own: any function of a matrix and a solution, or of the values of one bicluster."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from numbers import Real
from typing import Any

from bivaluate._check import check_choice, import_own, in_short
from bivaluate._errors import ParameterError
from bivaluate.measures.measure import REAL, Metric, measure, records_of


class Records(dict[str, Metric]):
    """Records by key, of which a user's own are looked up like the others, and never listed."""

    own: dict[str, Metric] = {}  # noqa: RUF012

    def __missing__(self, key: str) -> Metric:
        return self.own[key]

    def __contains__(self, key: object) -> bool:
        return super().__contains__(key) or key in self.own

    def get(self, key: str, default: Any = None) -> Any:
        """Return a record, or the default."""
        return self.own.get(key, super().get(key, default))


def own_measure(given: str | Callable[..., Any]) -> Metric:
    """Return the record of a user's own measure, and remember it.

    A function of one argument is called with the values of each bicluster, one of two with the matrix and the solution.
    High values are better unless the function has an attribute ``direction``: "low", or "none".
    """
    function = import_own("measure", given) if isinstance(given, str) else given
    name = getattr(function, "__name__", type(function).__name__)
    if records_of(function):
        return records_of(function)[0]
    key = given if isinstance(given, str) else name
    try:
        arguments = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        arguments = []
    wanted = [p for p in arguments if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(wanted) not in (1, 2):
        raise ParameterError(f"the measure {key} is not a function of (values), or of (X, solution).")

    def checked(*values: Any) -> float:
        try:
            value = function(*values)
        except Exception as error:
            raise ParameterError(f"the measure {key} failed: {type(error).__name__}: {error}") from error
        if isinstance(value, bool) or not isinstance(value, Real):
            raise ParameterError(f"the measure {key} returned {in_short(value)}; one number is needed.")
        return float(value)

    of_solution = len(wanted) == 2
    public = measure(
        key, name, name, (inspect.getdoc(function) or name).partition("\n")[0], of_matrix=of_solution, range=REAL,
        level="solution" if of_solution else "bicluster",
        direction=check_choice(f"direction of {name}", getattr(function, "direction", "high"), ("low", "high", "none")),
    )(checked)  # fmt: skip
    Records.own[key] = records_of(public)[0]
    return Records.own[key]


def stand_in(key: str, direction: str) -> None:
    """Remember a measure of solutions that a run computed; its module is imported when it is computed again."""

    def computed(X: Any, solution: Any) -> Any:
        return own_measure(key).function(X, solution)

    name = key.partition(":")[2]
    how: dict[str, Any] = {"of_matrix": True, "range": REAL, "level": "solution", "direction": direction}
    Records.own.setdefault(key, records_of(measure(key, name, name, name, **how)(computed))[0])

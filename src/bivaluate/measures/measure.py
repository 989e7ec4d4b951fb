"""The record every measure has, and the decorator that makes it; the registry collects them."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

from bivaluate._types import Floats

if TYPE_CHECKING:
    from bivaluate.measures.workspace import Workspace

    Compute = Callable[[Workspace], Floats | float]

Function = TypeVar("Function", bound=Callable[..., Any])

SHIFT, SCALE = "shift", "scale"
ROW_SHIFT, ROW_SCALE = "row_shift", "row_scale"
COL_SHIFT, COL_SCALE = "col_shift", "col_scale"
ADDITIVE = (SHIFT, ROW_SHIFT, COL_SHIFT)
ROW_AFFINE = (SHIFT, SCALE, ROW_SHIFT)
MEMBERSHIPS_ALONE = (SHIFT, SCALE, ROW_SHIFT, ROW_SCALE, COL_SHIFT, COL_SCALE)

INFINITY = float("inf")
POSITIVE, UNIT, REAL = (0.0, INFINITY), (0.0, 1.0), (-INFINITY, INFINITY)


@dataclass(frozen=True, eq=False)
class Metric:
    """What is known about one measure."""

    key: str
    symbol: str
    name: str
    summary: str
    function: Callable[..., Any]
    compute: Compute
    level: str = "bicluster"
    direction: str = "low"
    range: tuple[float, float] = POSITIVE
    invariances: frozenset[str] = frozenset()
    reference: str = ""
    formula: str = ""
    default: bool = False
    main_rank: int | None = None
    percent: bool = False
    nothing: float = -INFINITY
    needs_mergers: bool = False
    order_dependent: bool = False
    of_ve: bool = False

    @functools.cached_property
    def of_memberships(self) -> bool:
        """Whether the value depends only on who is a member, not on the cells."""
        return self.invariances >= set(MEMBERSHIPS_ALONE)

    @property
    def ranks_solutions(self) -> bool:
        """Whether solutions can be ranked by it: a measure of the whole solution with a direction."""
        return self.level == "solution" and self.direction != "none"


def measure(
    key: str,
    symbol: str,
    name: str,
    summary: str,
    *,
    compute: Compute | None = None,
    of_matrix: bool = False,
    invariances: Iterable[str] = (),
    **fields: Any,
) -> Callable[[Function], Function]:
    """Return a decorator that gives a function the record of a measure; one function may carry several."""

    def decorate(function: Function) -> Function:
        of_solution = fields.get("level") == "solution"
        given = compute or (lambda w: function(w.cover) if of_solution else w.per_block(function))
        public = function
        if of_matrix:
            given = lambda w: float("nan") if w.has_missing else function(w.X, w.solution)  # noqa: E731
            public = _checking(function)
        record = Metric(key, symbol, name, summary, public, given, invariances=frozenset(invariances), **fields)
        if not records_of(public):
            public.__doc__ = _documented(function, record)
        # decorators are applied from the innermost outwards: the record written first comes first
        vars(public)["records"] = (record, *records_of(public))
        return public

    return decorate


# What parameters of the same name mean in all measures.
_PARAMETERS = {
    "A": "array-like of shape (r, c)\n    Values of the bicluster, rows × columns.",
    "options": "object\n    As in :func:`bivaluate.evaluate`; of chance-corrected measures as in :func:`bivaluate.chance_table`.",
    "X": "array-like, DataFrame or Matrix of shape (n, m)\n    Data matrix.",
    "solution": "Biclustering\n    The biclusters.",
    "rows": "array-like of int\n    Rows of the bicluster, counted from 0.",
    "cols": "array-like of int\n    Columns of the bicluster, counted from 0.",
    "normalise": "bool\n    Divide by the number of cells.",
    "missing": "str\n    As in :func:`bivaluate.evaluate`.",
}


def _documented(function: Any, record: Metric) -> str:
    """Return the docstring of a measure with the sections that it leaves to its record and to common parameters."""
    head, *parts = re.split(r"\n\n(?=\w[\w ]*\n-{4,}\n)", inspect.cleandoc(function.__doc__ or ""))
    sections = {part.partition("\n")[0]: part.partition("\n")[2].partition("\n")[2] for part in parts}
    code = function.__code__  # `inspect.signature` of all measures would take as long as everything else here
    names = [name for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + 1] if name in _PARAMETERS]
    returned = "ndarray of shape (K,)" if function.__annotations__.get("return") == "Floats" else "float"
    made = {
        "Parameters": "\n".join(f"{'**' * (name == 'options')}{name} : {_PARAMETERS[name]}" for name in names),
        "Returns": f"{returned}\n    {record.name[:1].upper()}{record.name[1:]}.",
        "Raises": "MatrixError, SolutionError, ParameterError\n    If the data, the biclusters or the options are not usable.",
        "Warns": "",
        "See Also": "bivaluate.evaluate",
        "Notes": "",
        "References": record.reference,
        "Examples": "",
    } | sections
    return "\n\n".join([head, *(f"{title}\n{'-' * len(title)}\n{body}" for title, body in made.items() if body)])


def _checking(function: Function) -> Function:
    """Return a function of a matrix and its solution that checks both; a workspace has done so already."""

    @functools.wraps(function)
    def checked(X: Any, solution: Any) -> Any:
        from bivaluate.matrix import Matrix
        from bivaluate.solution import check_solution

        matrix = Matrix.of(X)
        return function(matrix.values, check_solution(solution, matrix=matrix))

    return cast("Function", checked)


def records_of(function: Any) -> tuple[Metric, ...]:
    """Return the records a function carries, in the order they are written."""
    records: tuple[Metric, ...] = getattr(function, "records", ())
    return records

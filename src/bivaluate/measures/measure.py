"""The record every measure has, and the decorator that makes it; the registry collects them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bivaluate.measures.workspace import Workspace

    Compute = Callable[[Workspace], NDArray[np.float64] | float]

Function = TypeVar("Function", bound=Callable[..., Any])

SHIFT, SCALE = "shift", "scale"
ROW_SHIFT, ROW_SCALE = "row_shift", "row_scale"
COL_SHIFT, COL_SCALE = "col_shift", "col_scale"
ADDITIVE = (SHIFT, ROW_SHIFT, COL_SHIFT)
ROW_AFFINE = (SHIFT, SCALE, ROW_SHIFT)
MEMBERSHIPS_ALONE = (SHIFT, SCALE, ROW_SHIFT, ROW_SCALE, COL_SHIFT, COL_SCALE)

INFINITY = float("inf")
POSITIVE, UNIT, REAL = (0.0, INFINITY), (0.0, 1.0), (-INFINITY, INFINITY)


@dataclass(frozen=True)
class Metric:
    """What is known about one measure.

    Parameters
    ----------
    key : str
        Name in tables and on the command line.
    symbol : str
        How papers write it.
    name : str
        Its name in words.
    summary : str
        One plain sentence.
    function : callable
        The public function.
    compute : callable
        How :func:`bivaluate.evaluate` gets the value from a workspace.
    level : {"bicluster", "solution"}
        Whether there is one value for each bicluster or one for the solution.
    direction : {"low", "high", "none"}
        Which values are better.
    range : tuple of float
        Smallest and largest value possible.
    invariances : frozenset of str
        Changes of X that leave the value alone.
    reference : str
        Where it was published.
    formula : str
        The definition in LaTeX, without dollar signs; empty where the docstring alone gives it.
    default : bool
        Whether it is computed when no measures are named.
    main_rank : int or None
        Its place in the summary tables, from 1; None if it is not shown there.
    percent : bool
        Whether it is shown as a percentage.
    nothing : float
        Value at or below which a solution holds nothing, so that it cannot win; minus infinity for most.
    needs_mergers : bool
        Whether all pairs of biclusters have to be merged for it: the expensive part of an evaluation.
    order_dependent : bool
        Whether the order of rows and columns in the matrix changes the value.
    of_ve : bool
        Whether it is made of virtual errors, so that with ``ve_axis="columns"`` it is that of the transposed problem.
    """

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

    @property
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
    """Return a decorator that gives a function the record of a measure; one function may carry several.

    Parameters
    ----------
    key, symbol, name, summary : str
        As in :class:`Metric`.
    compute : callable, optional
        How the value comes from a workspace. By default the function is called with the values of each bicluster or,
        for a measure of the solution, with its :class:`~bivaluate.measures.cover.Cover`.
    of_matrix : bool
        Whether the function takes the matrix and the solution instead; undefined then where cells are missing. It is
        given an array of checked values and a solution of that shape, whatever the caller has.
    invariances : iterable of str
        Changes of X that leave the value alone.
    **fields
        The other fields of :class:`Metric`.

    Returns
    -------
    callable
        The decorator; the function has its records in ``function.records`` and, but for the checks of `of_matrix`,
        stays as it is.

    Examples
    --------
    >>> @measure("mean", "mean", "mean value", "Mean of the cells.", direction="none")
    ... def mean_value(A):
    ...     return A.mean()
    >>> mean_value.records[0].key
    'mean'
    """

    def decorate(function: Function) -> Function:
        of_solution = fields.get("level") == "solution"
        given = compute or (lambda w: function(w.cover) if of_solution else w.per_block(function))
        public = function
        if of_matrix:
            given = lambda w: float("nan") if w.has_missing else function(w.X, w.solution)  # noqa: E731
            public = _checking(function)
        record = Metric(key, symbol, name, summary, public, given, invariances=frozenset(invariances), **fields)
        # decorators are applied from the innermost outwards: the record written first comes first
        vars(public)["records"] = (record, *records_of(public))
        return public

    return decorate


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

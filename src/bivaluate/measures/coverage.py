"""How much of the matrix a solution explains, and how much of it more than once."""

from __future__ import annotations

from typing import Any

from bivaluate.measures.cover import Cover
from bivaluate.measures.measure import MEMBERSHIPS_ALONE, ROW_SHIFT, SCALE, SHIFT, Metric
from bivaluate.measures.normalised import TIWARI, ratio_of_sums
from bivaluate.measures.workspace import Workspace
from bivaluate.solution import Biclustering


def coverage_ratio(solution: Biclustering) -> float:
    """Share of the cells that lie in at least one bicluster (CR in Tiwari et al.).

    CR = |∪_k I_k × J_k| / (nm). High is better; in [0, 1]. Overlap earns no credit.

    Examples
    --------
    >>> S = Biclustering([([0, 1, 2], [0, 1, 2, 3]), ([3, 4], [2, 3, 4, 5]), ([1, 2, 3], [0, 1])], (5, 6))
    >>> round(coverage_ratio(S), 6)
    0.733333
    """
    return Cover(solution).cells / (solution.shape[0] * solution.shape[1])


def normalised_virtual_error_coverage(
    X: Any,
    solution: Biclustering,
    *,
    exponent: float = 0.5,
    epsilon: float = 1e-12,
    degenerate: str = "nan",
    missing: str = "raise",
    single: str = "nan",
) -> float:
    """Coverage-adjusted normalised virtual error (NVE_cov in Tiwari et al.).

    NVE_cov = NVE / (CR + epsilon)^exponent, with the union coverage CR; the paper's exponent is 1/2.
    Low is better; ≥ 0. Undefined where NVE is.

    References
    ----------
    Tiwari P, Navin Kumar I, Bezdek JC, Rathore P (2026). arXiv:2608.29045.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1, 2, 4, 3, 0, 5], [2, 3, 5, 4.5, 1, 2], [2, 5, 8, 7, 3, 1], [6, 1, 2, 4, 1, 3], [3, 7, 1, 6, 4, 5]])
    >>> S = Biclustering([([0, 1, 2], [0, 1, 2, 3]), ([3, 4], [2, 3, 4, 5]), ([1, 2, 3], [0, 1])], X.shape)
    >>> round(normalised_virtual_error_coverage(X, S), 6)
    1.09102
    """
    return _nve_cov(
        Workspace.of(
            X, solution, exponent=exponent, epsilon=epsilon, degenerate=degenerate, missing=missing, single=single
        )
    )


def _nve_cov(workspace: Workspace) -> float:
    nve = ratio_of_sums(workspace, workspace.ve, workspace.nearest_ve)
    return nve / float((_coverage(workspace) + workspace.options.epsilon) ** workspace.options.exponent)


def _coverage(workspace: Workspace) -> float:
    return workspace.cover.cells / (workspace.shape[0] * workspace.shape[1])


def row_coverage(solution: Biclustering) -> float:
    """Share of the rows that lie in at least one bicluster. High is better; in [0, 1]."""
    return Cover(solution).rows / solution.shape[0]


def col_coverage(solution: Biclustering) -> float:
    """Share of the columns that lie in at least one bicluster. High is better; in [0, 1]."""
    return Cover(solution).cols / solution.shape[1]


def multiplicity(solution: Biclustering) -> float:
    """How often a covered cell is covered on average: Σ|B_k| / |∪B_k|. Low is better; ≥ 1; NaN without biclusters."""
    return _multiplicity(Cover(solution))


def overlap_fraction(solution: Biclustering) -> float:
    """Share of the covered cells that lie in two or more biclusters. Low is better; in [0, 1]; NaN without biclusters."""
    return _overlap(Cover(solution))


def mean_jaccard(solution: Biclustering) -> float:
    """Mean cell Jaccard index of all pairs of biclusters (MBR, mean bicluster redundancy, in Nicholls and Wallace 2021).

    Low is better; in [0, 1]; NaN for fewer than two.
    """
    return mean_jaccard_of(Cover(solution))


def _multiplicity(cover: Cover) -> float:
    return cover.cells_counted / cover.cells if cover.cells else float("nan")


def _overlap(cover: Cover) -> float:
    return cover.cells_shared / cover.cells if cover.cells else float("nan")


def mean_jaccard_of(cover: Cover) -> float:
    """Return :func:`mean_jaccard` from counts that are there already."""
    n = len(cover.solution)
    return float((cover.jaccard.sum() - n) / (n * (n - 1))) if n > 1 else float("nan")


def _metric(
    key: str, symbol: str, name: str, direction: str, top: float, summary: str, function: Any, compute: Any
) -> Metric:
    return Metric(
        key=key,
        symbol=symbol,
        name=name,
        level="solution",
        direction=direction,
        range=(1.0 if key == "multiplicity" else 0.0, top),
        summary=summary,
        function=function,
        compute=compute,
        invariances=MEMBERSHIPS_ALONE,
        reference=TIWARI if key == "coverage" else "",
        default=True,
    )


METRICS = (
    Metric(
        key="nve_cov",
        symbol="NVE_cov",
        name="coverage-adjusted normalised virtual error",
        level="solution",
        direction="low",
        range=(0.0, float("inf")),
        summary="NVE divided by the square root of the coverage: clean but negligible solutions pay for it.",
        function=normalised_virtual_error_coverage,
        compute=_nve_cov,
        invariances=frozenset({SHIFT, SCALE, ROW_SHIFT}),
        reference=TIWARI,
        default=True,
    ),
    _metric(
        "coverage",
        "CR",
        "coverage ratio",
        "high",
        1.0,
        "Share of the cells that lie in at least one bicluster.",
        coverage_ratio,
        _coverage,
    ),
    _metric(
        "row_coverage",
        "CR_rows",
        "row coverage",
        "high",
        1.0,
        "Share of the rows that lie in at least one bicluster.",
        row_coverage,
        lambda w: w.cover.rows / w.shape[0],
    ),
    _metric(
        "col_coverage",
        "CR_cols",
        "column coverage",
        "high",
        1.0,
        "Share of the columns that lie in at least one bicluster.",
        col_coverage,
        lambda w: w.cover.cols / w.shape[1],
    ),
    _metric(
        "multiplicity",
        "multiplicity",
        "multiplicity",
        "low",
        float("inf"),
        "How often a covered cell is covered on average.",
        multiplicity,
        lambda w: _multiplicity(w.cover),
    ),
    _metric(
        "overlap",
        "overlap",
        "overlap fraction",
        "low",
        1.0,
        "Share of the covered cells that lie in two or more biclusters.",
        overlap_fraction,
        lambda w: _overlap(w.cover),
    ),
    _metric(
        "jaccard",
        "Jaccard",
        "mean pairwise Jaccard",
        "low",
        1.0,
        "Mean cell Jaccard index of all pairs of biclusters.",
        mean_jaccard,
        lambda w: mean_jaccard_of(w.cover),
    ),
)

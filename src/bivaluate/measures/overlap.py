"""How much biclusters repeat each other, and a coverage adjustment that charges for it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bivaluate.measures.cover import Cover
from bivaluate.measures.coverage import mean_jaccard, mean_jaccard_of
from bivaluate.measures.measure import MEMBERSHIPS_ALONE, ROW_SHIFT, SCALE, SHIFT, Metric
from bivaluate.measures.normalised import ratio_of_sums
from bivaluate.measures.workspace import Workspace
from bivaluate.solution import Biclustering

_NICHOLLS = "Nicholls & Wallace 2021, Comparison of sparse biclustering algorithms, doi:10.1093/bib/bbab140"


def redundancy(solution: Biclustering) -> float:
    """Share of the biclusters' cells that are repeats: 1 − |∪B_k|/Σ|B_k|. Low is better; in [0, 1); NaN without biclusters.

    >>> S = Biclustering([([0, 1, 2], [0, 1, 2, 3]), ([3, 4], [2, 3, 4, 5]), ([1, 2, 3], [0, 1])], (5, 6))
    >>> round(redundancy(S), 6)
    0.153846
    """
    return _redundancy(Cover(solution))


def mean_largest_redundancy(solution: Biclustering) -> float:
    """Variant of MBR: mean over biclusters of the largest cell Jaccard index with another one.

    Low is better; in [0, 1]; NaN for fewer than two.

    >>> S = Biclustering([([0, 1, 2], [0, 1, 2, 3]), ([3, 4], [2, 3, 4, 5]), ([1, 2, 3], [0, 1])], (5, 6))
    >>> round(mean_largest_redundancy(S), 6)
    0.190476
    """
    return _mean_of_largest(Cover(solution).jaccard)


def diversity(solution: Biclustering) -> float:
    """1 − mean bicluster redundancy (the mean cell Jaccard index of all pairs). High is better; in [0, 1]; NaN for fewer than two.

    >>> S = Biclustering([([0, 1, 2], [0, 1, 2, 3]), ([3, 4], [2, 3, 4, 5]), ([1, 2, 3], [0, 1])], (5, 6))
    >>> round(diversity(S), 6)
    0.904762
    """
    return 1 - mean_jaccard(solution)


def overlap_coefficient(solution: Biclustering) -> float:
    """Mean over pairs of |B_k ∩ B_l|/min(|B_k|, |B_l|). Low is better; in [0, 1]; NaN for fewer than two.

    >>> S = Biclustering([([0, 1, 2], [0, 1, 2, 3]), ([3, 4], [2, 3, 4, 5]), ([1, 2, 3], [0, 1])], (5, 6))
    >>> round(overlap_coefficient(S), 6)
    0.222222
    """
    return _mean_overlap(Cover(solution))


def normalised_virtual_error_overlap(
    X: Any,
    solution: Biclustering,
    *,
    exponent: float = 0.5,
    epsilon: float = 1e-12,
    degenerate: str = "nan",
    missing: str = "raise",
    single: str = "nan",
) -> float:
    """Coverage-adjusted NVE with a charge for overlap: NVE/(CR·(1 − redundancy) + epsilon)^exponent.

    CR·(1 − redundancy) = |∪B_k|²/(nm·Σ|B_k|): coverage that was paid for twice counts half. Equal to NVE_cov for
    disjoint biclusters, higher for overlapping ones. Low is better; ≥ 0; undefined where NVE is.

    >>> X = np.array([[1, 2, 4, 3, 0, 5], [2, 3, 5, 4.5, 1, 2], [2, 5, 8, 7, 3, 1], [6, 1, 2, 4, 1, 3], [3, 7, 1, 6, 4, 5]])
    >>> S = Biclustering([([0, 1, 2], [0, 1, 2, 3]), ([3, 4], [2, 3, 4, 5]), ([1, 2, 3], [0, 1])], X.shape)
    >>> round(normalised_virtual_error_overlap(X, S), 6)
    1.186063
    """
    return _nve_overlap(
        Workspace.of(
            X, solution, exponent=exponent, epsilon=epsilon, degenerate=degenerate, missing=missing, single=single
        )
    )


def _redundancy(cover: Cover) -> float:
    return 1 - cover.cells / cover.cells_counted if cover.cells_counted else float("nan")


def _mean_of_largest(pairs: NDArray[np.float64]) -> float:
    if len(pairs) < 2:
        return float("nan")
    others = pairs.copy()
    np.fill_diagonal(others, 0.0)
    return float(others.max(axis=1).mean())


def _mean_overlap(cover: Cover) -> float:
    n = len(cover.solution)
    if n < 2:
        return float("nan")
    shared = cover.intersections
    sizes = np.diagonal(shared)
    share = shared / np.minimum(sizes[:, None], sizes[None, :])
    return float((share.sum() - n) / (n * (n - 1)))


def _nve_overlap(workspace: Workspace) -> float:
    cover, options = workspace.cover, workspace.options
    nve = ratio_of_sums(workspace, workspace.ve, workspace.nearest_ve)
    paid = cover.cells**2 / (cover.cells_counted * workspace.shape[0] * workspace.shape[1]) if cover.cells else 0.0
    return nve / float((paid + options.epsilon) ** options.exponent)


def _metric(key: str, symbol: str, name: str, direction: str, summary: str, function: Any, compute: Any) -> Metric:
    return Metric(
        key=key,
        symbol=symbol,
        name=name,
        level="solution",
        direction=direction,
        range=(0.0, 1.0),
        summary=summary,
        function=function,
        compute=compute,
        invariances=MEMBERSHIPS_ALONE,
        reference=_NICHOLLS if key in ("mbr_max", "diversity") else "",
    )


METRICS = (
    _metric(
        "redundancy",
        "redundancy",
        "redundancy",
        "low",
        "Share of the biclusters' cells that another bicluster covers already.",
        redundancy,
        lambda w: _redundancy(w.cover),
    ),
    _metric(
        "mbr_max",
        "MBR_max",
        "mean largest redundancy",
        "low",
        "Mean over biclusters of the largest cell Jaccard index with another one.",
        mean_largest_redundancy,
        lambda w: _mean_of_largest(w.cover.jaccard),
    ),
    _metric(
        "diversity",
        "diversity",
        "diversity",
        "high",
        "1 minus the mean cell Jaccard index of all pairs of biclusters.",
        diversity,
        lambda w: 1 - mean_jaccard_of(w.cover),
    ),
    _metric(
        "overlap_coefficient",
        "overlap coefficient",
        "overlap coefficient",
        "low",
        "Mean over pairs of the shared cells as a share of the smaller bicluster.",
        overlap_coefficient,
        lambda w: _mean_overlap(w.cover),
    ),
    Metric(
        key="nve_overlap",
        symbol="NVE_ovl",
        name="coverage- and overlap-adjusted normalised virtual error",
        level="solution",
        direction="low",
        range=(0.0, float("inf")),
        summary="NVE_cov with coverage that was paid for twice counted half: repeated cells cost.",
        function=normalised_virtual_error_overlap,
        compute=_nve_overlap,
        invariances=frozenset({SHIFT, SCALE, ROW_SHIFT}),
        reference="regularisation proposed for bivaluate, see docs/coverage-regularisation.md",
    ),
)

"""How much of the matrix a solution covers, how often biclusters repeat each other, and how large they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bivaluate._types import Floats, Ints
from bivaluate.measures.cover import Cover
from bivaluate.measures.measure import INFINITY, MEMBERSHIPS_ALONE, ROW_AFFINE, UNIT, measure
from bivaluate.measures.normalised import TIWARI, ratio_of_sums
from bivaluate.measures.workspace import Workspace
from bivaluate.solution import Biclustering

_NICHOLLS = "Nicholls & Wallace 2021, Comparison of sparse biclustering algorithms, doi:10.1093/bib/bbab140"
_SHARE: dict[str, Any] = {"level": "solution", "invariances": MEMBERSHIPS_ALONE, "range": UNIT}
_COUNT: dict[str, Any] = {"level": "solution", "invariances": MEMBERSHIPS_ALONE, "direction": "none", "default": True}


@measure("nve_cov", "NVE_cov", "coverage-adjusted normalised virtual error",
    "NVE divided by the square root of the coverage: clean but negligible solutions are penalised.",
    formula=r"\mathrm{NVE}_{\mathrm{cov}}=\frac{\mathrm{NVE}}{(\mathrm{CR}+\varepsilon)^{1/2}}", level="solution",
    main_rank=2, compute=lambda w: _charged(w, w.cover.share), invariances=ROW_AFFINE, reference=TIWARI,
    needs_mergers=True, default=True, of_ve=True)  # fmt: skip
def normalised_virtual_error_coverage(X: Any, solution: Biclustering, **options: Any) -> float:
    """Coverage-adjusted normalised virtual error (NVE_cov in Tiwari et al.).

    NVE_cov = NVE / (CR + epsilon)^exponent, with the union coverage CR. Low is better; ≥ 0. Undefined where NVE is.

    See Also
    --------
    bivaluate.normalised_virtual_error, normalised_virtual_error_overlap

    Examples
    --------
    >>> round(normalised_virtual_error_coverage(X, S), 6)
    1.09102
    """
    workspace = Workspace.of(X, solution, **options)
    return _charged(workspace.along_axis, workspace.cover.share)


@measure("nve_overlap", "NVE_ovl", "coverage- and overlap-adjusted normalised virtual error",
    "NVE_cov with a value that is covered twice counted half: overlap costs.", level="solution",
    compute=lambda w: _charged(w, w.cover.share_paid_once), invariances=ROW_AFFINE, needs_mergers=True, of_ve=True,
    reference="regularisation proposed for bivaluate, see docs/coverage-regularisation.md")  # fmt: skip
def normalised_virtual_error_overlap(X: Any, solution: Biclustering, **options: Any) -> float:
    """Coverage-adjusted NVE with a charge for overlap: NVE/(CR·(1 − redundancy) + epsilon)^exponent.

    CR·(1 − redundancy) = |∪B_k|²/(nm·Σ|B_k|): a cell that is covered twice counts half. Equal to NVE_cov for
    disjoint biclusters, higher for overlapping ones. Low is better; ≥ 0; undefined where NVE is.

    Examples
    --------
    >>> round(normalised_virtual_error_overlap(X, S), 6)
    1.186063
    """
    workspace = Workspace.of(X, solution, **options)
    return _charged(workspace.along_axis, workspace.cover.share_paid_once)


def _charged(workspace: Workspace, share: float) -> float:
    options = workspace.options
    return float(ratio_of_sums(workspace, "ve") / (share + options.epsilon) ** options.exponent)


@measure("coverage", "CR", "coverage ratio", "Share of the values that lie in at least one bicluster.",
    formula=r"\mathrm{CR}=\frac{\left|\bigcup_k I_k\times J_k\right|}{nm}", direction="high", main_rank=7, percent=True,
    reference=TIWARI, default=True, **_SHARE)  # fmt: skip
def coverage_ratio(solution: Biclustering | Cover) -> float:
    """Share of the cells that lie in at least one bicluster (CR in Tiwari et al.).

    CR = |∪_k I_k × J_k| / (nm). High is better; in [0, 1]. Overlap earns no credit.

    See Also
    --------
    row_coverage, col_coverage

    Examples
    --------
    >>> round(coverage_ratio(S), 6)
    0.733333
    """
    return Cover.of(solution).share


@measure("row_coverage", "CR_rows", "row coverage", "Share of the rows that lie in at least one bicluster.",
    direction="high", percent=True, default=True, **_SHARE)  # fmt: skip
def row_coverage(solution: Biclustering | Cover) -> float:
    """Share of the rows that lie in at least one bicluster.

    High is better; in [0, 1].

    Examples
    --------
    >>> round(row_coverage(S), 6)
    1.0
    """
    cover = Cover.of(solution)
    return cover.rows / cover.solution.shape[0]


@measure("col_coverage", "CR_cols", "column coverage", "Share of the columns that lie in at least one bicluster.",
    direction="high", percent=True, default=True, **_SHARE)  # fmt: skip
def col_coverage(solution: Biclustering | Cover) -> float:
    """Share of the columns that lie in at least one bicluster.

    High is better; in [0, 1].

    Examples
    --------
    >>> round(col_coverage(S), 6)
    1.0
    """
    cover = Cover.of(solution)
    return cover.cols / cover.solution.shape[1]


@measure("multiplicity", "multiplicity", "multiplicity", "How many times a covered value is covered, on average.",
    default=True, **{**_SHARE, "range": (1.0, INFINITY)})  # fmt: skip
def multiplicity(solution: Biclustering | Cover) -> float:
    """How often a covered cell is covered on average: Σ|B_k| / |∪B_k|.

    Low is better; ≥ 1; NaN without biclusters.

    Examples
    --------
    >>> round(multiplicity(S), 6)
    1.181818
    """
    cover = Cover.of(solution)
    return cover.cells_counted / cover.cells if cover.cells else float("nan")


@measure("overlap", "overlap", "overlap fraction", "Share of the covered values that lie in two or more biclusters.",
    default=True, **_SHARE)  # fmt: skip
def overlap_fraction(solution: Biclustering | Cover) -> float:
    """Share of the covered cells that lie in two or more biclusters.

    Low is better; in [0, 1]; NaN without biclusters.

    Examples
    --------
    >>> round(overlap_fraction(S), 6)
    0.181818
    """
    cover = Cover.of(solution)
    return cover.cells_shared / cover.cells if cover.cells else float("nan")


@measure("jaccard", "Jaccard", "mean pairwise Jaccard", "Mean cell Jaccard index of all pairs of biclusters.",
    default=True, **_SHARE)  # fmt: skip
def mean_jaccard(solution: Biclustering | Cover) -> float:
    """Mean cell Jaccard index of all pairs of biclusters (mean bicluster redundancy, MBR, in Nicholls and Wallace).

    Low is better; in [0, 1]; NaN for fewer than two.

    Examples
    --------
    >>> round(mean_jaccard(S), 6)
    0.095238
    """
    cover = Cover.of(solution)
    return _mean_of_pairs(cover, cover.jaccard)


@measure("redundancy", "redundancy", "redundancy",
    "Share of the biclusters' values that another bicluster covers already.", **_SHARE)  # fmt: skip
def redundancy(solution: Biclustering | Cover) -> float:
    """Share of the biclusters' cells that are repeats: 1 − |∪B_k|/Σ|B_k|.

    Low is better; in [0, 1); NaN without biclusters.

    Examples
    --------
    >>> round(redundancy(S), 6)
    0.153846
    """
    cover = Cover.of(solution)
    return 1 - cover.cells / cover.cells_counted if cover.cells_counted else float("nan")


@measure("mbr_max", "MBR_max", "mean largest redundancy",
    "Mean over biclusters of the largest cell Jaccard index with another one.", reference=_NICHOLLS,
    **_SHARE)  # fmt: skip
def mean_largest_redundancy(solution: Biclustering | Cover) -> float:
    """Mean over biclusters of the largest cell Jaccard index with another one: a variant of MBR.

    Low is better; in [0, 1]; NaN for fewer than two.

    Examples
    --------
    >>> round(mean_largest_redundancy(S), 6)
    0.190476
    """
    cover = Cover.of(solution)
    # the largest but one: the largest is that with itself
    largest = [np.partition(cover.jaccard(part), -2, axis=1)[:, -2] for part in cover.parts() if len(cover.sizes) > 1]
    return float(np.concatenate(largest).mean()) if largest else float("nan")


@measure("diversity", "diversity", "diversity", "1 minus the mean cell Jaccard index of all pairs of biclusters.",
    direction="high", reference=_NICHOLLS, **_SHARE)  # fmt: skip
def diversity(solution: Biclustering | Cover) -> float:
    """1 − mean bicluster redundancy, the mean cell Jaccard index of all pairs.

    High is better; in [0, 1]; NaN for fewer than two.

    Examples
    --------
    >>> round(diversity(S), 6)
    0.904762
    """
    return 1 - mean_jaccard(solution)


@measure("overlap_coefficient", "overlap coefficient", "overlap coefficient",
    "Mean over pairs of the shared values as a share of the smaller bicluster.", **_SHARE)  # fmt: skip
def overlap_coefficient(solution: Biclustering | Cover) -> float:
    """Mean over pairs of |B_k ∩ B_l|/min(|B_k|, |B_l|).

    Low is better; in [0, 1]; NaN for fewer than two.

    Examples
    --------
    >>> round(overlap_coefficient(S), 6)
    0.222222
    """
    cover = Cover.of(solution)
    sizes = cover.sizes
    return _mean_of_pairs(cover, lambda part: cover.shared_cells(part) / np.minimum.outer(sizes[part], sizes))


def _mean_of_pairs(cover: Cover, values: Callable[[slice], Floats]) -> float:
    """Mean over pairs of what is 1 for a bicluster with itself."""
    n = len(cover.solution)
    return float((sum(values(part).sum() for part in cover.parts()) - n) / (n * (n - 1))) if n > 1 else float("nan")


@measure("n_biclusters", "n_biclusters", "number of biclusters", "How many biclusters were scored.",
    compute=lambda w: len(w.solution), **_COUNT)  # fmt: skip
@measure("n_undefined", "n_undefined", "undefined biclusters",
    "How many biclusters have no defined coherence (one row or one column) and are left out of the scores.",
    compute=lambda w: int((~w.defined).sum()), **_COUNT)  # fmt: skip
@measure("rows_mean", "rows_mean", "mean number of rows", "Mean number of rows of the biclusters.",
    compute=lambda w: _reduced(_mean, w.r), **_COUNT)  # fmt: skip
@measure("rows_min", "rows_min", "smallest number of rows", "Smallest number of rows of the biclusters.",
    compute=lambda w: _reduced(np.minimum.reduce, w.r), **_COUNT)  # fmt: skip
@measure("rows_max", "rows_max", "largest number of rows", "Largest number of rows of the biclusters.",
    compute=lambda w: _reduced(np.maximum.reduce, w.r), **_COUNT)  # fmt: skip
@measure("cols_mean", "cols_mean", "mean number of columns", "Mean number of columns of the biclusters.",
    compute=lambda w: _reduced(_mean, w.c), **_COUNT)  # fmt: skip
@measure("cols_min", "cols_min", "smallest number of columns", "Smallest number of columns of the biclusters.",
    compute=lambda w: _reduced(np.minimum.reduce, w.c), **_COUNT)  # fmt: skip
@measure("cols_max", "cols_max", "largest number of columns", "Largest number of columns of the biclusters.",
    compute=lambda w: _reduced(np.maximum.reduce, w.c), **_COUNT)  # fmt: skip
def bicluster_shapes(solution: Biclustering) -> Ints:
    """Rows and columns of each bicluster: the context every score needs.

    Returns
    -------
    ndarray of shape (K, 2)
        Number of rows and columns.

    Examples
    --------
    >>> bicluster_shapes(Biclustering([([0, 1, 2], [0, 1]), ([3], [2, 3])], (5, 6))).tolist()
    [[3, 2], [1, 2]]
    """
    return np.array([b.shape for b in solution], dtype=np.int64).reshape(len(solution), 2)


def _reduced(reduce: Callable[[Any], Any], sizes: Ints) -> float:
    return reduce(sizes).item() if len(sizes) else float("nan")


def _mean(sizes: Ints) -> Any:
    return np.add.reduce(sizes) / len(sizes)

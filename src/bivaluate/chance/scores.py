"""Chance-corrected virtual error: what VE says once the size of the block and the search for it are allowed for."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bivaluate._check import check_choice, check_values
from bivaluate._errors import NullModelWarning
from bivaluate._types import Flags, Floats, Ints
from bivaluate.chance.assumptions import broken_assumptions, column_means_of, prepared
from bivaluate.chance.moments import by_shapes, null_mean, null_sd, search_reference
from bivaluate.matrix import Matrix
from bivaluate.measures._blocks import block_values_missing, is_constant_row, observed_part
from bivaluate.measures._engine.missing import observed_errors
from bivaluate.measures.cover import Cover
from bivaluate.measures.measure import COL_SHIFT, REAL, ROW_AFFINE, UNIT, measure
from bivaluate.measures.workspace import Options, Workspace, lowest_of, once
from bivaluate.solution import Biclustering, check_solution

_CHUNK_CELLS = 1 << 24
# Up to so many shapes are looked up one by one: to find the distinct ones takes longer.
_FEW_SHAPES = 64
_REFERENCE = (
    "derived for bivaluate, see docs/chance.md; virtual error: Divina et al. 2012, doi:10.1016/j.compbiomed.2011.11.015"
)
_PLAIN: dict[str, Any] = {"invariances": ROW_AFFINE, "reference": _REFERENCE, "of_ve": True}
_CENTRED: dict[str, Any] = {"invariances": (*ROW_AFFINE, COL_SHIFT), "reference": _REFERENCE, "of_ve": True}


@dataclass(frozen=True)
class BlockScores:
    """Chance-corrected scores of blocks, one value each; no merger is needed for them."""

    rows: Ints
    cols: Ints
    usable: Flags
    expected: Floats
    reference: Floats
    ve: Floats
    ratio: Floats
    adjusted: Floats

    @property
    def z(self) -> Floats:
        """(E0 − VE) / sd0."""
        return (self.expected - self.ve) / null_sd(self.rows, self.cols)

    @property
    def evidence(self) -> Floats:
        """e_k = max(0, 1 − aVE_k): coherence beyond what a search through noise finds."""
        return np.maximum(0.0, 1.0 - self.adjusted)


@dataclass(frozen=True)
class ChanceScores(BlockScores):
    """Chance-corrected scores of the biclusters of a solution, and how well each stands apart from the others."""

    separation: Floats

    @property
    def weight(self) -> Floats:
        """e_k · sep_k."""
        return self.evidence * self.separation


def score_blocks(ve: Floats, rows: Ints, cols: Ints, shape: tuple[int, int]) -> BlockScores:
    """Score blocks found in a matrix of this shape; `rows` without the constant ones."""
    usable, expected = (rows >= 2) & (cols >= 2), _expected(rows, cols)
    reference = search_reference(rows, cols, shape, expected)
    ratio = np.where(usable, ve, np.nan) / expected
    adjusted = np.where(usable, 1 - reference / expected + ratio, 1.0)
    return BlockScores(rows, cols, usable, expected, reference, ve, ratio, adjusted)


def score_block(A: Floats, shape: tuple[int, int]) -> BlockScores:
    """Score one block found in a matrix of this shape, by its observed cells."""
    A = observed_part(A)
    rows = np.array([int((~is_constant_row(A)).sum())])
    return score_blocks(np.array([block_values_missing(A)[0]]), rows, np.array([A.shape[1]]), shape)


@once
def block_scores(workspace: Workspace) -> BlockScores:
    """Return the chance-corrected scores of the biclusters of a workspace, without mergers."""
    return score_blocks(workspace.ve, workspace.r - workspace.constant_rows, workspace.observed[1], workspace.shape)


@once
def chance_scores(workspace: Workspace) -> ChanceScores:
    """Return the chance-corrected scores of a workspace with those that need the mergers."""
    blocks = block_scores(workspace)
    return ChanceScores(**vars(blocks), separation=_separation(workspace, blocks))


def _merged_ratios(workspace: Workspace) -> Iterator[tuple[Ints, Ints, Floats]]:
    """Yield VE over E0 of the mergers of some biclusters with some others."""
    for i, j, ve, constant in workspace.ve_parts():
        rows, cols = workspace.cover.merged_shapes(i, j)
        yield i, j, ve / _expected(rows if constant is None else rows - constant, cols)


@once
def centred_scores(workspace: Workspace) -> BlockScores:
    """Return the chance-corrected scores of the biclusters on column-centred data."""
    means = workspace.matrix.once(column_means_of)
    n = len(workspace.solution)
    ve, rows = np.zeros(n), np.zeros(n, dtype=np.int64)
    large = [k for k, b in enumerate(workspace.solution) if not workspace.matrix.may_hold(len(b.rows), len(b.cols))]
    if large:
        found = observed_errors(workspace.matrix, workspace.solution.select(large), alone=True, offsets=means)
        ve[large], rows[large] = np.diagonal(found.ve), workspace.r[large] - np.diagonal(found.constant)
    for k in set(range(n)).difference(large):
        bicluster = workspace.solution[k]
        A = workspace.block(bicluster.rows, bicluster.cols) - means[bicluster.cols]
        ve[k] = block_values_missing(A)[0]
        rows[k] = int((~is_constant_row(A)).sum())
    return score_blocks(ve, rows, workspace.observed[1], workspace.shape)


def _expected(rows: Ints, cols: Ints) -> Floats:
    """E0 of shapes, each distinct one looked up once."""
    if rows.size <= _FEW_SHAPES:
        return by_shapes(null_mean, rows, cols)
    base = int(cols.max(initial=0)) + 1
    codes = np.maximum(rows, 0) * np.int64(base) + cols
    most = int(codes.max(initial=0)) + 1
    if most < codes.size:  # the same without sorting
        there = np.zeros(most, dtype=np.bool_)
        there[codes] = True
        means, distinct = np.zeros(most), np.flatnonzero(there)
        means[distinct] = null_mean(distinct // base, distinct % base)
        return np.asarray(means[codes])
    distinct, where = np.unique(codes, return_inverse=True)
    return np.asarray(null_mean(distinct // base, distinct % base)[where].reshape(rows.shape))


def _separation(workspace: Workspace, blocks: BlockScores) -> Floats:
    """Return sep_k; NaN where a bicluster and its nearest merger are both 0 up to rounding."""
    usable = blocks.usable
    if usable.sum() < 2:
        return np.where(usable, 1.0, 0.0)
    partner, ratio = lowest_of(_merged_ratios(workspace), usable)
    own = workspace.floored_errors[0] / blocks.expected
    merged = np.where(workspace.floored(workspace.merged_ve_with(partner), partner, 0) == 0.0, 0.0, ratio)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(usable, np.maximum(0.0, 1 - own / merged), 0.0)


def largest_weight_sum(cover: Cover, weights: Floats) -> float:
    """Sum over the cells of the matrix of the largest weight among the biclusters that cover the cell."""
    solution = cover.solution
    n, m = solution.shape
    heaviest_first = [int(k) for k in np.argsort(-weights, kind="stable") if weights[k] > 0]
    if not cover.cells_shared:
        return float(sum(weights[k] * solution[k].size for k in heaviest_first))
    total = 0.0
    step = max(1, _CHUNK_CELLS // m)
    for start in range(0, n if heaviest_first else 0, step):
        covered = np.zeros((min(step, n - start), m), dtype=np.bool_)
        for k in heaviest_first:
            first, last = np.searchsorted(solution[k].rows, (start, start + step))
            cells = (solution[k].rows[first:last, None] - start, solution[k].cols)
            total += weights[k] * ((last - first) * len(solution[k].cols) - np.count_nonzero(covered[cells]))
            covered[cells] = True
    return float(total)


@measure("r_ve", "VE/E0", "virtual error relative to noise",
    "VE divided by its mean in noise of the same shape; for blocks that were not searched for.",
    formula=r"R(B)=\frac{\mathrm{VE}(B)}{E_0(r,c)}", compute=lambda w: block_scores(w).ratio, **_PLAIN)  # fmt: skip
def virtual_error_ratio(A: Any) -> float:
    """VE over its mean in noise of the same shape: R = VE/E0(r, c).

    Low is better; ≥ 0; 1 on average for noise that was not searched. NaN for one row or one column.

    See Also
    --------
    adjusted_virtual_error

    Examples
    --------
    >>> round(virtual_error_ratio([[1, 2, 4, 3], [2, 3, 5, 4.5], [2, 5, 8, 7]]), 6)
    0.138172
    """
    values = check_values(A, name="A")
    return float(score_block(values, values.shape).ratio[0])


@measure("z", "z", "virtual error, standardised",
    "Standard deviations by which VE lies below its mean in noise of the same shape.", direction="high", range=REAL,
    formula=r"z(B)=\frac{E_0(r,c)-\mathrm{VE}(B)}{\mathrm{sd}_0(r,c)}", compute=lambda w: block_scores(w).z,
    **_PLAIN)  # fmt: skip
@measure("z_centred", "z (centred)", "virtual error on centred columns, standardised",
    "z after the column means of the whole matrix are taken out; advised for real data.", direction="high", range=REAL,
    compute=lambda w: centred_scores(w).z, **_CENTRED)  # fmt: skip
def virtual_error_z(A: Any) -> float:
    """Standard deviations by which VE lies below its mean in noise: z = (E0 − VE)/sd0.

    High is better; grows with the size of the block; about N(0, 1) for noise that was not searched. NaN for one
    row or one column.

    See Also
    --------
    adjusted_virtual_error

    Examples
    --------
    >>> round(virtual_error_z([[1, 2, 4, 3], [2, 3, 5, 4.5], [2, 5, 8, 7]]), 2)
    3.25
    """
    values = check_values(A, name="A")
    return float(score_block(values, values.shape).z[0])


@measure("ave", "aVE", "chance-corrected virtual error",
    "VE corrected for size and search: 1 is what searching noise gives, below 0.90 is evidence.",
    formula=r"\mathrm{aVE}(B)=1-\frac{V^*(r,c;n,m)-\mathrm{VE}(B)}{E_0(r,c)}",
    compute=lambda w: block_scores(w).adjusted, **_PLAIN)  # fmt: skip
@measure("ave_centred", "aVE (centred)", "chance-corrected virtual error on centred columns",
    "aVE after the column means of the whole matrix are taken out; advised for real data.",
    compute=lambda w: centred_scores(w).adjusted, **_CENTRED)  # fmt: skip
def adjusted_virtual_error(A: Any, shape: tuple[int, int], *, search: str = "exhaustive") -> float:
    """Chance-corrected virtual error of one bicluster: aVE = 1 − (V* − VE)/E0.

    E0(r, c) is the mean VE of noise of that shape, V*(r, c; n, m) the VE that searching an n × m matrix of
    noise for the best such block would reach. Low is better. 1 is what a search through pure noise gives, below
    0.90 is evidence; a VE of 0 gives 1 − V*/E0, so thin blocks cannot look good by being thin. Range [0, ∞).
    1 for one row or one column; constant rows are not counted. Not changed by shifting or scaling the block,
    nor by shifting rows; strong column effects of the matrix make it too favourable: centre columns first.

    Parameters
    ----------
    A : array-like of shape (r, c)
        Values of the bicluster.
    shape : tuple of int
        Shape of the matrix it was found in.
    search : {"exhaustive", "none"}
        ``"none"`` for a block that was not chosen by looking at the data: VE/E0 instead.

    Raises
    ------
    MatrixError
        If `A` is not a matrix of finite numbers.
    ParameterError
        If the block does not fit into a matrix of this shape, or there is no such `search`.

    See Also
    --------
    chance_table

    Examples
    --------
    >>> B1 = [[1, 2, 4, 3], [2, 3, 5, 4.5], [2, 5, 8, 7]]
    >>> round(adjusted_virtual_error(B1, (5, 6)), 6)
    0.764362
    """
    check_choice("search", search, ("exhaustive", "none"))
    scores = score_block(check_values(A, name="A"), shape)
    return float((scores.adjusted if search == "exhaustive" else scores.ratio)[0])


def chance_table(
    X: Any,
    solution: Biclustering,
    *,
    centre: str = "none",
    normalise: str = "none",
    missing: str = "raise",
    n_jobs: int | None = None,
) -> ChanceScores:
    """Chance-corrected scores of every bicluster, with everything that went into them.

    Parameters
    ----------
    X : array-like, DataFrame or Matrix of shape (n, m)
        Data matrix.
    solution : Biclustering
        The biclusters.
    centre : {"none", "columns"}
        ``"columns"`` subtracts column means over all rows first: advised for real data.
    normalise : {"none", "rank"}
        ``"rank"`` replaces each row by normal scores of its ranks first: for heavy skew or heavy tails.
    missing : {"raise", "omit"}
        As in :func:`bivaluate.evaluate`.
    n_jobs : int, optional
        Threads for large inputs.

    Returns
    -------
    ChanceScores
        One value per bicluster in each attribute.

    Raises
    ------
    MatrixError, SolutionError, ParameterError
        If the data, the biclusters or the options are not usable.

    Warns
    -----
    NullModelWarning
        Where the data, as prepared, break the assumptions of the null.

    See Also
    --------
    adjusted_virtual_error

    Examples
    --------
    >>> chance_table(X, S).adjusted.round(6)
    array([0.764362, 1.46054 , 3.192357])
    """
    return chance_scores(_prepared(X, solution, centre, normalise, missing, n_jobs))


def _prepared(
    X: Any,
    solution: Biclustering,
    centre: str = "none",
    normalise: str = "none",
    missing: str = "raise",
    n_jobs: int | None = None,
) -> Workspace:
    """Return the workspace of the data as the chance correction is to see them; warn where they break the null."""
    options = Options(missing=missing, n_jobs=n_jobs)
    matrix = prepared(Matrix.of(X, missing), centre, normalise)
    solution = check_solution(solution, matrix=matrix)
    for finding in broken_assumptions(matrix, solution).values():
        warnings.warn(finding, NullModelWarning, stacklevel=3)
    return Workspace(matrix, solution, options)


@measure("avg_ave", "avg aVE", "average chance-corrected virtual error",
    "Mean aVE, biclusters of one row or column counted as 1; read it beside the coverage.", level="solution",
    formula=r"\mathrm{avg\ aVE}=\frac{1}{K}\sum_k\mathrm{aVE}(B_k)", main_rank=8,
    compute=lambda w: _mean(block_scores(w).adjusted), **_PLAIN)  # fmt: skip
@measure("avg_ave_centred", "avg aVE (centred)", "average chance-corrected virtual error on centred columns",
    "avg aVE after the column means of the whole matrix are taken out.", level="solution",
    compute=lambda w: _mean(centred_scores(w).adjusted), **_CENTRED)  # fmt: skip
def average_adjusted_virtual_error(X: Any, solution: Biclustering, **options: Any) -> float:
    """Mean aVE of the biclusters, those of one row or one column counted as 1.

    Low is better; NaN without biclusters. Read it beside the coverage.

    See Also
    --------
    chance_table

    Examples
    --------
    >>> round(average_adjusted_virtual_error(X, S), 4)
    1.8058
    """
    return _mean(block_scores(_prepared(X, solution, **options)).adjusted)


@measure("avg_z", "avg z", "average standardised virtual error",
    "Mean z of the biclusters; biased towards large coherent blocks.", level="solution", direction="high", range=REAL,
    compute=lambda w: _nanmean(block_scores(w).z), **_PLAIN)  # fmt: skip
@measure("avg_z_centred", "avg z (centred)", "average standardised virtual error on centred columns",
    "avg z after the column means of the whole matrix are taken out.", level="solution", direction="high", range=REAL,
    compute=lambda w: _nanmean(centred_scores(w).z), **_CENTRED)  # fmt: skip
def average_virtual_error_z(X: Any, solution: Biclustering, **options: Any) -> float:
    """Mean z of the biclusters with two rows and two columns or more.

    High is better; NaN if there are none.

    See Also
    --------
    chance_table

    Examples
    --------
    >>> round(average_virtual_error_z(X, S), 4)
    0.8706
    """
    return _nanmean(block_scores(_prepared(X, solution, **options)).z)


@measure("anve", "aNVE", "chance-corrected normalised virtual error",
    "1 unless biclusters are coherent beyond search noise and apart from each other; not for choosing K.",
    formula=r"\mathrm{aNVE}=1-\frac{1}{K}\sum_k e_k\,\mathrm{sep}_k", level="solution", range=UNIT,
    compute=lambda w: 1 - _mean(chance_scores(w).weight), needs_mergers=True, **_PLAIN)  # fmt: skip
def adjusted_normalised_virtual_error(X: Any, solution: Biclustering, **options: Any) -> float:
    """Chance-corrected companion of NVE: aNVE = 1 − mean_k e_k·sep_k.

    e_k = max(0, 1 − aVE_k); sep_k = max(0, 1 − R(B_k)/min_{l≠k} R(B_kl)), 1 for a single bicluster.
    Low is better; in [0, 1]; 1 if nothing is coherent beyond search noise and apart from the rest. NaN without
    biclusters, and where a bicluster and its nearest merger have no error up to rounding (0/0). Not for choosing K: it
    prefers fewer blocks.

    See Also
    --------
    chance_table

    Examples
    --------
    >>> round(adjusted_normalised_virtual_error(X, S), 4)
    0.9368
    """
    return 1 - _mean(chance_scores(_prepared(X, solution, **options)).weight)


@measure("cc", "CC", "coherent coverage",
    "Share of the values covered, weighted by coherence beyond search noise and by separation.",
    formula=r"\mathrm{CC}=\frac{1}{nm}\sum_{i,j}\max_{k:\,(i,j)\in B_k}e_k\,\mathrm{sep}_k", level="solution",
    direction="high", range=UNIT, main_rank=9, compute=lambda w: _covered(w), needs_mergers=True, default=True,
    **_PLAIN)  # fmt: skip
def coherent_coverage(X: Any, solution: Biclustering, **options: Any) -> float:
    """Coherent coverage: CC = 1/(nm) · Σ over cells of the largest e_k·sep_k among the biclusters covering it.

    The share of the matrix covered, each cell weighted by how far its best bicluster is coherent beyond search
    noise (e_k) and apart from the others (sep_k), as in :func:`adjusted_normalised_virtual_error`. High is
    better; in [0, 1]; 0 without biclusters, for clones and for search noise; NaN where a separation is 0/0.

    See Also
    --------
    chance_table

    Examples
    --------
    >>> round(coherent_coverage(X, S), 4)
    0.0758
    """
    return _covered(_prepared(X, solution, **options))


def _covered(workspace: Workspace) -> float:
    weight = chance_scores(workspace).weight
    if np.isnan(weight).any():
        return float("nan")
    return largest_weight_sum(workspace.cover, weight) / (workspace.shape[0] * workspace.shape[1])


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _nanmean(values: Floats) -> float:
    return _mean(values[~np.isnan(values)])

"""Chance-corrected virtual error: what is left of VE once the size of the block and the search for it are allowed for."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from bivaluate._check import check_values
from bivaluate._errors import NullModelWarning
from bivaluate.chance.assumptions import column_means, null_model_findings, prepare_matrix
from bivaluate.chance.scores import ChanceScores, Floats, chance_scores, check_search, largest_weight_sum, score_blocks
from bivaluate.matrix import Matrix
from bivaluate.measures._blocks import block_values_missing, is_constant_row, virtual_error_value
from bivaluate.measures.measure import COL_SHIFT, ROW_SHIFT, SCALE, SHIFT, Metric
from bivaluate.measures.workspace import Workspace
from bivaluate.solution import Biclustering

__all__ = [
    "METRICS",
    "adjusted_normalised_virtual_error",
    "adjusted_virtual_error",
    "average_adjusted_virtual_error",
    "average_virtual_error_z",
    "chance_table",
    "coherent_coverage",
    "virtual_error_ratio",
    "virtual_error_z",
]


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

    Warns (:class:`bivaluate.NullModelWarning`) where the data, as prepared, break the assumptions of the null.

    Parameters
    ----------
    X
        Data matrix.
    solution
        The biclusters.
    centre
        ``"columns"`` subtracts column means over all rows first: advised for real data.
    normalise
        ``"rank"`` replaces each row by normal scores of its ranks first: for heavy skew or heavy tails.
    missing
        ``"raise"`` or ``"omit"``, as in :func:`bivaluate.evaluate`.
    n_jobs
        Threads for large inputs.

    Examples
    --------
    >>> X = np.array([[1, 2, 4, 3, 0, 5], [2, 3, 5, 4.5, 1, 2], [2, 5, 8, 7, 3, 1], [6, 1, 2, 4, 1, 3], [3, 7, 1, 6, 4, 5]])
    >>> S = Biclustering([([0, 1, 2], [0, 1, 2, 3]), ([3, 4], [2, 3, 4, 5]), ([1, 2, 3], [0, 1])], X.shape)
    >>> chance_table(X, S).adjusted.round(6)
    array([0.764362, 1.46054 , 3.192357])
    """
    values = prepare_matrix(Matrix.of(X, missing).values, centre, normalise, missing)
    for finding in null_model_findings(values):
        warnings.warn(finding, NullModelWarning, stacklevel=2)
    return chance_scores(Workspace.of(values, solution, missing=missing, n_jobs=n_jobs))


def adjusted_virtual_error(A: Any, shape: tuple[int, int], *, search: str = "exhaustive") -> float:
    """Chance-corrected virtual error of one bicluster: aVE = 1 − (V* − VE)/E0.

    E0(r, c) is the mean VE of noise of that shape, V*(r, c; n, m) the VE that searching an n × m matrix of
    noise for the best such block would reach. Low is better. 1 is what a search through pure noise gives, below
    0.90 is evidence; a VE of 0 gives 1 − V*/E0, so thin blocks cannot look good by being thin. Range [0, ∞).
    1 for one row or one column; constant rows are not counted. Not changed by shifting or scaling the block,
    nor by shifting rows; strong column effects of the matrix make it too favourable: centre columns first.

    Parameters
    ----------
    A
        Values of the bicluster.
    shape
        Shape of the matrix it was found in.
    search
        ``"none"`` for a block that was not chosen by looking at the data: VE/E0 instead.

    Examples
    --------
    >>> B1 = [[1, 2, 4, 3], [2, 3, 5, 4.5], [2, 5, 8, 7]]
    >>> round(adjusted_virtual_error(B1, (5, 6)), 6)
    0.764362
    """
    check_search(search)
    block = _one_block(A, shape)
    return float(block["adjusted" if search == "exhaustive" else "ratio"][0])


def virtual_error_ratio(A: Any) -> float:
    """VE over its mean in noise of the same shape: R = VE/E0(r, c).

    Low is better; ≥ 0; 1 on average for noise nobody searched. NaN for one row or one column. For blocks
    that were found by a search use :func:`adjusted_virtual_error`.

    Examples
    --------
    >>> round(virtual_error_ratio([[1, 2, 4, 3], [2, 3, 5, 4.5], [2, 5, 8, 7]]), 6)
    0.138172
    """
    return float(_one_block(A, None)["ratio"][0])


def virtual_error_z(A: Any) -> float:
    """Standard deviations by which VE lies below its mean in noise: z = (E0 − VE)/sd0.

    High is better; grows with the size of the block; about N(0, 1) for noise nobody searched. NaN for one
    row or one column.

    Examples
    --------
    >>> round(virtual_error_z([[1, 2, 4, 3], [2, 3, 5, 4.5], [2, 5, 8, 7]]), 2)
    3.25
    """
    return float(_one_block(A, None)["z"][0])


def _one_block(A: Any, shape: tuple[int, int] | None) -> dict[str, Any]:
    values = check_values(A, name="A")
    rows = np.array([int((~is_constant_row(values)).sum())])
    cols = np.array([values.shape[1]])
    ve = np.array([virtual_error_value(values)])
    return score_blocks(ve, rows, cols, values.shape if shape is None else shape)


def average_adjusted_virtual_error(
    X: Any, solution: Biclustering, *, centre: str = "none", normalise: str = "none", missing: str = "raise"
) -> float:
    """Mean aVE of the biclusters, those of one row or one column counted as 1. Low is better; NaN without biclusters.

    See :func:`chance_table` for the parameters and the warnings; read it beside the coverage.
    """
    return _mean(chance_table(X, solution, centre=centre, normalise=normalise, missing=missing).adjusted)


def average_virtual_error_z(
    X: Any, solution: Biclustering, *, centre: str = "none", normalise: str = "none", missing: str = "raise"
) -> float:
    """Mean z of the biclusters with two rows and two columns or more. High is better; NaN if there are none.

    See :func:`chance_table` for the parameters and the warnings.
    """
    return _nanmean(chance_table(X, solution, centre=centre, normalise=normalise, missing=missing).z)


def adjusted_normalised_virtual_error(
    X: Any, solution: Biclustering, *, centre: str = "none", normalise: str = "none", missing: str = "raise"
) -> float:
    """Chance-corrected companion of NVE: aNVE = 1 − mean_k e_k·sep_k.

    e_k = max(0, 1 − aVE_k); sep_k = max(0, 1 − R(B_k)/min_{l≠k} R(B_kl)), 1 for a single bicluster.
    Low is better; in [0, 1]; 1 if nothing is coherent beyond search noise and apart from the rest. NaN without
    biclusters. Not for choosing K: it prefers fewer blocks. See :func:`chance_table` for the parameters.
    """
    return 1 - _mean(chance_table(X, solution, centre=centre, normalise=normalise, missing=missing).weight)


def coherent_coverage(
    X: Any, solution: Biclustering, *, centre: str = "none", normalise: str = "none", missing: str = "raise"
) -> float:
    """Coherent coverage: CC = 1/(nm) · Σ over cells of the largest e_k·sep_k among the biclusters covering it.

    The share of the matrix covered, each cell weighted by how far its best bicluster is coherent beyond search
    noise (e_k) and apart from the others (sep_k), as in :func:`adjusted_normalised_virtual_error`. High is
    better; in [0, 1]; 0 without biclusters, for clones and for search noise.

    Examples
    --------
    >>> X = np.array([[1, 2, 4, 3, 0, 5], [2, 3, 5, 4.5, 1, 2], [2, 5, 8, 7, 3, 1], [6, 1, 2, 4, 1, 3], [3, 7, 1, 6, 4, 5]])
    >>> S = Biclustering([([0, 1, 2], [0, 1, 2, 3]), ([3, 4], [2, 3, 4, 5]), ([1, 2, 3], [0, 1])], X.shape)
    >>> round(coherent_coverage(X, S), 4)
    0.0758
    """
    values = chance_table(X, solution, centre=centre, normalise=normalise, missing=missing)
    return _covered(solution.with_shape(np.shape(Matrix.of(X, missing).values)), values.weight)


def _covered(solution: Biclustering, weight: Floats) -> float:
    return largest_weight_sum(solution, weight) / (solution.shape[0] * solution.shape[1])


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _nanmean(values: Floats) -> float:
    return _mean(values[~np.isnan(values)])


def _centred(workspace: Workspace) -> dict[str, Any]:
    """Scores of the blocks on column-centred data, without mergers."""
    means = column_means(workspace.X)
    n = len(workspace.solution)
    ve, rows = np.zeros(n), np.zeros(n, dtype=np.int64)
    for k, bicluster in enumerate(workspace.solution):
        A = bicluster.of(workspace.X) - means[bicluster.cols]
        ve[k] = block_values_missing(A)[0] if np.isnan(A).any() else virtual_error_value(A)
        rows[k] = int((~is_constant_row(A)).sum())
    return score_blocks(ve, rows, workspace.observed[1], workspace.shape)


_ROW_INVARIANCES = frozenset({SHIFT, SCALE, ROW_SHIFT})
_CENTRED_INVARIANCES = _ROW_INVARIANCES | {COL_SHIFT}
_REFERENCE = (
    "derived for bivaluate, see docs/chance.md; virtual error: Divina et al. 2012, doi:10.1016/j.compbiomed.2011.11.015"
)
_INFINITY = float("inf")


def _metric(
    key: str, symbol: str, name: str, level: str, direction: str, range_: tuple[float, float], summary: str,
    function: Any, compute: Any, default: bool = False,
) -> Metric:  # fmt: skip
    return Metric(
        key=key,
        symbol=symbol,
        name=name,
        level=level,
        direction=direction,
        range=range_,
        summary=summary,
        function=function,
        compute=compute,
        invariances=_CENTRED_INVARIANCES if key.endswith("_centred") else _ROW_INVARIANCES,
        reference=_REFERENCE,
        default=default,
    )


METRICS = (
    _metric(
        "r_ve", "VE/E0", "virtual error relative to noise", "bicluster", "low", (0.0, _INFINITY),
        "VE divided by its mean in noise of the same shape; for blocks that were not searched for.",
        virtual_error_ratio, lambda w: chance_scores(w).ratio,
    ),
    _metric(
        "z", "z", "virtual error, standardised", "bicluster", "high", (-_INFINITY, _INFINITY),
        "Standard deviations by which VE lies below its mean in noise of the same shape.",
        virtual_error_z, lambda w: chance_scores(w).z,
    ),
    _metric(
        "ave", "aVE", "chance-corrected virtual error", "bicluster", "low", (0.0, _INFINITY),
        "VE corrected for size and search: 1 is what searching noise gives, below 0.90 is evidence.",
        adjusted_virtual_error, lambda w: chance_scores(w).adjusted,
    ),
    _metric(
        "z_centred", "z (centred)", "virtual error on centred columns, standardised", "bicluster", "high",
        (-_INFINITY, _INFINITY), "z after the column means of the whole matrix are taken out; advised for real data.",
        virtual_error_z, lambda w: w.once(_centred)["z"],
    ),
    _metric(
        "ave_centred", "aVE (centred)", "chance-corrected virtual error on centred columns", "bicluster", "low",
        (0.0, _INFINITY), "aVE after the column means of the whole matrix are taken out; advised for real data.",
        adjusted_virtual_error, lambda w: w.once(_centred)["adjusted"],
    ),
    _metric(
        "avg_ave", "avg aVE", "average chance-corrected virtual error", "solution", "low", (0.0, _INFINITY),
        "Mean aVE, biclusters of one row or column counted as 1; read it beside the coverage.",
        average_adjusted_virtual_error, lambda w: _mean(chance_scores(w).adjusted),
    ),
    _metric(
        "avg_z", "avg z", "average standardised virtual error", "solution", "high", (-_INFINITY, _INFINITY),
        "Mean z of the biclusters; praises large coherent blocks.",
        average_virtual_error_z, lambda w: _nanmean(chance_scores(w).z),
    ),
    _metric(
        "avg_ave_centred", "avg aVE (centred)", "average chance-corrected virtual error on centred columns",
        "solution", "low", (0.0, _INFINITY), "avg aVE after the column means of the whole matrix are taken out.",
        average_adjusted_virtual_error, lambda w: _mean(w.once(_centred)["adjusted"]),
    ),
    _metric(
        "avg_z_centred", "avg z (centred)", "average standardised virtual error on centred columns",
        "solution", "high", (-_INFINITY, _INFINITY), "avg z after the column means of the whole matrix are taken out.",
        average_virtual_error_z, lambda w: _nanmean(w.once(_centred)["z"]),
    ),
    _metric(
        "anve", "aNVE", "chance-corrected normalised virtual error", "solution", "low", (0.0, 1.0),
        "1 unless biclusters are coherent beyond search noise and apart from each other; not for choosing K.",
        adjusted_normalised_virtual_error, lambda w: 1 - _mean(chance_scores(w).weight),
    ),
    _metric(
        "cc", "CC", "coherent coverage", "solution", "high", (0.0, 1.0),
        "Share of the cells covered, weighted by coherence beyond search noise and by separation.",
        coherent_coverage, lambda w: _covered(w.solution, chance_scores(w).weight), default=True,
    ),
)  # fmt: skip

"""Evidence: how far each bicluster is beyond what noise gives, its pattern, and its verdict.

One family of data is one file: `normal`, `weights`. `selection` names, accepts and compares blocks of either.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from bivaluate._parallel import one_thread
from bivaluate._types import Floats
from bivaluate.chance.evidence.normal import FEW_CELLS
from bivaluate.chance.evidence.selection import ALIKE as ALIKE
from bivaluate.chance.evidence.selection import DUPLICATE as DUPLICATE
from bivaluate.chance.evidence.selection import LOGARITHMS as LOGARITHMS
from bivaluate.chance.evidence.selection import NOT_SUPPORTED as NOT_SUPPORTED
from bivaluate.chance.evidence.selection import REDUNDANT as REDUNDANT
from bivaluate.chance.evidence.selection import SUPPORTED as SUPPORTED
from bivaluate.chance.evidence.selection import TOO_SMALL as TOO_SMALL
from bivaluate.chance.evidence.selection import Evidence as Evidence
from bivaluate.chance.evidence.selection import judged_alone, model_of, select, undefined
from bivaluate.chance.evidence.selection import union_of as union_of
from bivaluate.matrix import Matrix
from bivaluate.measures.cover import Cover
from bivaluate.measures.measure import COL_SHIFT, REAL, ROW_SHIFT, SCALE, SHIFT, UNIT, measure
from bivaluate.measures.workspace import Workspace, once
from bivaluate.solution import Bicluster, Biclustering, check_solution

# The small array that was judged last, and its family.
LATEST: list[tuple[Matrix, Any]] = []
_INVARIANCES = frozenset({SHIFT, SCALE, ROW_SHIFT, COL_SHIFT})
_REFERENCE = "derived for bivaluate, see docs/choosing.md; after Rissanen 1978, doi:10.1016/0005-1098(78)90005-5"


def evidence_table(X: Any, solution: Biclustering, *, missing: str = "raise", n_jobs: int | None = None) -> Evidence:
    """Return the evidence of every bicluster, its pattern and its verdict.

    A matrix is margins of rows and columns, and blocks. The evidence of a block is a bound on −log p of what its cells
    tell beyond the margins, less the cost of naming its members and the choice among tests:

        gain = −log p − [log C(n, r) + log n + log C(m, c) + log m + log(number of tests)],

    so that, by the union bound, noise rarely holds a block with a positive gain. Once blocks are accepted, members may
    be named within the parts that these have made, for log 2 more, if that is less.

    *Weights*, if no cell is negative and a fifth of them are 0 (counts, zeros and ones): Y = X for zeros and ones, else
    log2(1 + X/u), u = 1 for whole numbers, otherwise the median positive value. Expected are h(a_i·b_j) with the
    margins of Y, h(t) = t/(1 + t) or log2(1 + t), and weights count 1/φ each, φ Pearson's dispersion (1 for zeros and
    ones). A block with more weight than expected has the likelihood ratio L of the matrix collapsed to its rows and
    the others, its columns and the others, and −log p = L − ½(1 + log 2L).

    *Normal* otherwise, for the same logarithms where no value is negative and their skewness is over 2 (up to 32
    million cells): cells less effects of rows and columns, over scales of rows and columns; extremes are drawn in
    to normal scores, and the variance lost by that counts as noise. Forms of f degrees of freedom explain a share x of
    the squares: a level (f = 1), levels of columns (c), of rows (r) or both (r + c − 1), one shape times a factor for
    each row ((√r + √c)²), and this with a level for each row. −log p = N/2·KL(f/N ‖ x), by the noise of the matrix, of
    the block (never less), and of its rows and its columns: 20 tests. What means of whole rows and columns took from
    the block is restored, to twice its squares at most. Where neighbouring columns are correlated, they are a series:
    columns of a block are whitened, and shapes are not tried. Elsewhere a block that levels of rows and columns leave
    a share v < 0.1 of the usual variance is *quiet*, −log p = N/2·(v − 1 − log v) − log 20, unless values repeat in it
    (zeros and imputed cells do).

    A solution is judged by forward selection: the bicluster of largest gain is accepted and its pattern subtracted; the
    next one is judged on what remains, and takes its place in the queue again if that costs it the lead; the selection
    stops at a gain of 0 or less. As a shape may hide blocks within it, the selection is also made without shapes where
    one was accepted and other biclusters have evidence alone; the larger total counts. Accepted ones are *supported*. A
    bicluster is *redundant* if it and a supported one share at least 90 % of their cells, if one block explains it and
    a supported one as well as the two do (the evidence of their union is at least that of the pair), or if it has
    evidence alone but none given the supported ones that share cells with it. Blocks that tile a matrix explain each
    other: a × b of them, given the means of rows and columns, have (a − 1)(b − 1) free levels. One whose rows and
    columns the supported ones have split off follows from them and is redundant; where all others are, the partition is
    supported as a whole. A bicluster is *too small* if no block of its size could be supported.

    Parameters
    ----------
    X : array-like, DataFrame or Matrix of shape (n, m)
        Data matrix.
    solution : Biclustering
        The biclusters.
    missing : {"raise", "omit"}, default="raise"
        With ``"omit"`` every sum is over observed cells, which are counted; gaps are never filled.
    n_jobs : int or None, default=None
        Threads for large inputs.

    Returns
    -------
    Evidence
        Evidence, patterns, verdicts and reasons per bicluster, and the totals.

    Raises
    ------
    MatrixError, SolutionError, ParameterError
        If X, the solution or an option cannot be used.

    See Also
    --------
    bivaluate.evaluate, bivaluate.propose_pruning

    Notes
    -----
    Undefined (NaN, with a reason) for blocks without observed cells, and where the means of rows and columns explain
    every cell of the matrix. The level of a block that fills a matrix from side to side is part of these means; its
    profile can still be seen.
    Where columns are a series, evidence depends on their order; shuffle them if it means nothing. Weights whose rows
    and columns have even totals are judged by their logarithms in the normal family; among other weights only raised
    blocks are seen.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 20))
    >>> X[:15, :6] += 3
    >>> S = Biclustering([(range(15), range(6)), (range(30, 45), range(10, 16))], X.shape)
    >>> result = evidence_table(X, S)
    >>> result.patterns, result.verdicts
    (('shifted mean', 'none'), ('supported', 'not_supported'))
    """
    matrix = Matrix.of(X, missing)
    cover = Cover(check_solution(solution, matrix=matrix))
    return _evidence(matrix, cover, n_jobs)


def _evidence(matrix: Matrix, cover: Cover, n_jobs: int | None) -> Evidence:
    with one_thread():  # threads of linear algebra would wait for each other on so small blocks
        model = _model(matrix, cover.solution)
        return undefined(cover) if model is None else select(model, cover, None if n_jobs == -1 else n_jobs)


def _model(matrix: Matrix, solution: Biclustering) -> Any:
    model = matrix.once(_model_of)
    return None if model is None else model.given(solution)


def _model_of(matrix: Matrix) -> Any:
    """Return the family of a matrix; a small array whose cells are those of the last one is not looked at again."""
    if not matrix.in_memory or matrix.values.size > FEW_CELLS:
        return model_of(matrix)
    for known, model in LATEST:
        same = known.shape == matrix.shape and known.nouns == matrix.nouns
        if same and (known.values.view(np.int64) == matrix.values.view(np.int64)).all():
            return model
    own = Matrix(matrix.values.copy(), nouns=matrix.nouns)  # whoever has the other may write to it
    model = model_of(own)
    LATEST[:] = [(own, model)]
    return model


@once
def evidence_scores(workspace: Workspace) -> Evidence:
    """Return the evidence of a workspace."""
    return _evidence(workspace.matrix, workspace.cover, workspace.options.n_jobs)


@measure("evidence", "evidence", "evidence",
    "Evidence for the bicluster given those accepted before it; positive means that it is supported.", direction="high",
    range=REAL, compute=lambda w: evidence_scores(w).gain, invariances=_INVARIANCES, reference=_REFERENCE, default=True)  # fmt: skip
def bicluster_evidence(X: Any, solution: Biclustering, *, missing: str = "raise") -> Floats:
    """Return the evidence of each bicluster, in nats, given those accepted before it; positive means supported.

    High is better; NaN where undefined. See :func:`evidence_table` for the formula and the reasons. Shifts and scales
    leave the evidence of measurements as it is; counts and zeros are judged as they are.

    See Also
    --------
    evidence_table

    Examples
    --------
    >>> (bicluster_evidence(X, S) > 0).tolist()
    [False, False, False]
    """
    return evidence_table(X, solution, missing=missing).gain


@measure("total_evidence", "evidence", "total evidence", "Evidence of all supported biclusters together.",
    level="solution", formula=r"E=\sum_{k:\,g_k>0}g_k", direction="high", range=(0.0, math.inf), main_rank=1, nothing=0.0,
    compute=lambda w: evidence_scores(w).total, invariances=_INVARIANCES, reference=_REFERENCE, default=True)  # fmt: skip
def total_evidence(X: Any, solution: Biclustering, *, missing: str = "raise") -> float:
    """Total evidence of a solution, in nats: the sum over its supported biclusters.

    High is better; 0 where no bicluster is supported. A bicluster that is not supported changes nothing. See
    :func:`evidence_table` for the formula.

    See Also
    --------
    evidence_table

    Examples
    --------
    >>> total_evidence(X, S)
    0.0
    """
    return evidence_table(X, solution, missing=missing).total


@measure("raw_evidence", "raw evidence", "raw evidence",
    "Evidence before members are named and choices are charged; orders solutions without a supported bicluster.",
    level="solution", direction="high", range=(0.0, math.inf), compute=lambda w: evidence_scores(w).total_raw,
    invariances=_INVARIANCES, reference=_REFERENCE, default=True)  # fmt: skip
def raw_evidence(X: Any, solution: Biclustering, *, missing: str = "raise") -> float:
    """Raw evidence of a solution, in nats: what its biclusters gain before their members are named.

    Σ max(0, gain + names + choices), each given those accepted before it. High is better. It favours large and many
    biclusters; use it only to order solutions none of whose biclusters is supported.

    See Also
    --------
    evidence_table

    Examples
    --------
    >>> raw_evidence(X, S) >= total_evidence(X, S)
    True
    """
    return evidence_table(X, solution, missing=missing).total_raw


@measure("n_supported", "K supported", "supported biclusters",
    "Number of supported biclusters; redundant ones are not counted.", level="solution", direction="none",
    range=(0.0, math.inf), compute=lambda w: evidence_scores(w).n_supported, invariances=_INVARIANCES,
    reference=_REFERENCE, default=True)  # fmt: skip
def supported_biclusters(X: Any, solution: Biclustering, *, missing: str = "raise") -> int:
    """Return the number of supported biclusters; see :func:`evidence_table`.

    See Also
    --------
    evidence_table

    Examples
    --------
    >>> supported_biclusters(X, S)
    0
    """
    return evidence_table(X, solution, missing=missing).n_supported


@measure("supported_coverage", "supported coverage", "supported coverage",
    "Share of the values of the matrix in supported biclusters.", level="solution", direction="high", range=UNIT,
    percent=True, compute=lambda w: evidence_scores(w).coverage, invariances=_INVARIANCES, reference=_REFERENCE,
    default=True)  # fmt: skip
def supported_coverage(X: Any, solution: Biclustering, *, missing: str = "raise") -> float:
    """Return the share of the cells of the matrix in supported biclusters; see :func:`evidence_table`. In [0, 1].

    See Also
    --------
    evidence_table

    Examples
    --------
    >>> supported_coverage(X, S)
    0.0
    """
    return evidence_table(X, solution, missing=missing).coverage


def evidence_alone(matrix: Matrix, solution: Biclustering, biclusters: Sequence[Bicluster]) -> Floats:
    """Return the evidence of biclusters, of a solution or others, each as if it were the only one.

    >>> X = np.random.default_rng(0).normal(size=(60, 20))
    >>> X[:15, :6] += 3
    >>> S = Biclustering([(range(15), range(6))], X.shape)
    >>> evidence_alone(Matrix.of(X), S, [S[0]]) == evidence_table(X, S).alone
    array([ True])
    """
    model = _model(matrix, solution)
    return np.array([math.nan if model is None else judged_alone(model, bicluster)[0] for bicluster in biclusters])

"""Evidence: how far each bicluster is beyond what noise gives, its pattern, and its verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bivaluate._check import check_choice
from bivaluate._parallel import count_cores, share_out
from bivaluate.chance._judging import Background, Judged, background_of, judge, take_out
from bivaluate.chance._patterns import N_FORMS, NONE, Outside
from bivaluate.chance.assumptions import row_step, rows_alike
from bivaluate.chance.moments import log_choose
from bivaluate.matrix import Matrix
from bivaluate.measures._mergers import compiled_pays
from bivaluate.measures.cover import Cover
from bivaluate.measures.measure import COL_SHIFT, REAL, ROW_SHIFT, SCALE, SHIFT, UNIT, measure
from bivaluate.measures.workspace import Workspace
from bivaluate.solution import Bicluster, Biclustering, check_solution

Floats = NDArray[np.float64]

_INVARIANCES = frozenset({SHIFT, SCALE, ROW_SHIFT, COL_SHIFT})
_REFERENCE = "derived for bivaluate, see docs/choosing.md; after Rissanen 1978, doi:10.1016/0005-1098(78)90005-5"

# From this many cells of blocks on, a second thread pays for itself.
_MANY_CELLS = 200_000


SUPPORTED, REDUNDANT, NOT_SUPPORTED, TOO_SMALL = VERDICTS = ("supported", "redundant", "not_supported", "too_small")
# Two biclusters that share this part of their cells (Jaccard index) are duplicates.
DUPLICATE = 0.9
# One bicluster may explain two that share this part of the smaller one's rows or columns.
_ALIKE = 0.5


@dataclass(frozen=True)
class Evidence:
    """The evidence for each bicluster and for the solution, in nats; made by :func:`evidence_table`.

    Attributes
    ----------
    gain
        Evidence of each bicluster given those accepted before it; NaN where undefined.
    alone
        Evidence of each bicluster as if it were the only one.
    raw
        Evidence before members are named and choices are charged, at least 0.
    patterns
        Pattern of each bicluster with evidence of its own: shifted mean, row levels, column profile, additive, scaled
        profile, same order; else none.
    verdicts
        ``"supported"``, ``"redundant"``, ``"not_supported"`` or ``"too_small"``, for each bicluster.
    redundant_with
        Positions of the biclusters that each redundant one is redundant with.
    reasons
        Why a bicluster is too small to judge, or its evidence undefined; else empty.
    order
        Positions of the supported biclusters, in the order they were accepted.
    total
        Σ of the gains of the supported biclusters.
    total_raw
        Σ of `raw`.
    coverage
        Share of the cells of the matrix in supported biclusters.
    family
        Law of the cells: ``"normal"``, ``"ranks"`` (normal scores of each row) or ``"values"`` (a few distinct values).
    series
        Correlation of neighbouring columns, where they are a series; else 0.
    """

    gain: Floats
    alone: Floats
    raw: Floats
    patterns: tuple[str, ...]
    verdicts: tuple[str, ...]
    redundant_with: tuple[tuple[int, ...], ...]
    reasons: tuple[str, ...]
    order: tuple[int, ...]
    total: float
    total_raw: float
    coverage: float
    family: str
    series: float

    @property
    def supported(self) -> NDArray[np.bool_]:
        """Which biclusters are supported."""
        return np.array([verdict == SUPPORTED for verdict in self.verdicts], dtype=np.bool_)

    @property
    def n_supported(self) -> int:
        """Number of supported biclusters."""
        return len(self.order)


def evidence_table(
    X: Any, solution: Biclustering, *, normalise: str = "auto", missing: str = "raise", n_jobs: int | None = None
) -> Evidence:
    """Return the evidence of every bicluster, its pattern and its verdict.

    The background is R = X − row means − column means + grand mean. A block of r × c cells is tried as raised (or
    lowered) throughout, as additive (row levels, column levels or both), as row-affine (every row a positive multiple,
    at most three times the median one, of one shape, at its own level) and as order-preserving (one order of the
    columns shared by the rows, and not by other rows). Of the N = r·c cells a form takes f degrees of freedom, and the
    share of the sum of squares it explains is Beta(f/2, (N − f)/2) in normal noise; the same is asked with the noise
    outside the block, at the variance its rows and columns have there, added to what the form leaves. With p the
    smallest probability among these eleven tests, each for as much as most rows and most columns have a part in (beyond
    nine times the median row, or column, nothing counts),

        gain = −log p − [log C(n, r) + log C(m, c) + log n + log m + log 11],

    so that, by the union bound, noise rarely holds a block with a positive gain, and one of g or more with a
    probability of about e^(−g) of that. The residual variance is taken to be at least that of rounding,
    (32·eps·max|x|)², and of the spacing δ of the values, δ²/12. Levels that the row and column means of the whole
    matrix have taken out of the block are restored. Rows and columns that are constant over the whole matrix say
    nothing and are left out. Where neighbouring columns are correlated by ρ in a typical row, beyond a stated limit
    and once what rows in the same biclusters share is taken out, the columns are a series: N counts (1 − ρ)/(1 + ρ)
    per cell, and a twelfth test compares the levels of the rows with those of other rows, which need no independent
    columns.

    Where one value fills a quarter of the matrix and at most 32 fill nearly all of it (counts, zeros and ones), no
    block is believed to be more improbable than its values are: −log p is at most Σ N·KL(found ‖ expected) over the
    levels that the form has, or Σ −log f(x) over the cells where it has more than levels. Expected is what all other
    cells hold, or what the rows hold elsewhere times what the columns hold elsewhere over what the rest holds,
    whichever tells less. One more test asks for a level by these values alone: the likelihood ratio of the block and of
    those cells as two samples, by Chernoff's bound for χ².

    A solution is judged by forward selection: the bicluster of largest gain is accepted and its pattern subtracted; the
    next one is judged on what remains, and takes its place in the queue again if that costs it the lead; the selection
    stops at a gain of 0 or less. Accepted biclusters are *supported*. A bicluster is *redundant* if it shares at least
    90 % of its cells with a supported one, if one block explains it and a supported one as well as the two do (the
    evidence of their union is at least that of the pair), or if it has evidence alone but none given the supported
    ones that share cells with it. It is *too small* if no block of its size could be supported.

    Parameters
    ----------
    X : array-like, DataFrame or Matrix of shape (n, m)
        Data matrix.
    solution : Biclustering
        The biclusters.
    normalise : {"auto", "none", "rank"}, default="auto"
        ``"rank"`` replaces each row by normal scores of its ranks, ``"none"`` takes the values as they are;
        ``"auto"`` chooses ranks for heavy tails, heavy skew, and data in which one value fills a quarter of the cells.
    missing : {"raise", "omit"}, default="raise"
        With ``"omit"`` all means and fits are over observed cells; the order-preserving kind is not tried in blocks
        with missing cells.
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
    bivaluate.evaluate : The evidence beside all other scores.
    bivaluate.propose_pruning : Drops what is not supported.

    Notes
    -----
    Undefined (NaN, with a reason) for blocks without observed cells, and for blocks that deviate from the row and
    column means by no more than ties and rounding allow. A raised block that fills a matrix from side to side is part
    of the row or column means and cannot be seen. Where columns are a series, evidence depends on their order; shuffle
    them if it means nothing.

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
    return _evidence(matrix, cover, normalise, None if n_jobs == -1 else n_jobs)


@measure("evidence", "evidence", "evidence",
    "Evidence for the bicluster given those accepted before it; positive means that it is supported.", direction="high",
    range=REAL, compute=lambda w: evidence_scores(w).gain, invariances=_INVARIANCES, reference=_REFERENCE, default=True)  # fmt: skip
def bicluster_evidence(X: Any, solution: Biclustering, *, normalise: str = "auto", missing: str = "raise") -> Floats:
    """Return the evidence of each bicluster, in nats, given those accepted before it; positive means supported.

    High is better; NaN where undefined. See :func:`evidence_table` for the formula and the reasons.

    Parameters
    ----------
    X : array-like, DataFrame or Matrix of shape (n, m)
        Data matrix.
    solution : Biclustering
        The biclusters.
    normalise : {"auto", "none", "rank"}, default="auto"
        As in :func:`evidence_table`.
    missing : {"raise", "omit"}, default="raise"
        Whether missing cells (NaN) are refused or left out.

    Returns
    -------
    ndarray of shape (K,)
        In nats.

    Raises
    ------
    MatrixError, ParameterError, SolutionError
        As :func:`evidence_table` does.

    See Also
    --------
    evidence_table : With patterns, verdicts and reasons.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(60, 20))
    >>> X[:15, :6] += 3
    >>> S = Biclustering([(range(15), range(6)), (range(30, 45), range(10, 16))], X.shape)
    >>> (bicluster_evidence(X, S) > 0).tolist()
    [True, False]
    """
    return evidence_table(X, solution, normalise=normalise, missing=missing).gain


@measure("total_evidence", "evidence", "total evidence", "Evidence of all supported biclusters together.",
    level="solution", formula=r"E=\sum_{k:\,g_k>0}g_k", direction="high", range=(0.0, math.inf), main_rank=1, nothing=0.0,
    compute=lambda w: evidence_scores(w).total, invariances=_INVARIANCES, reference=_REFERENCE, default=True)  # fmt: skip
def total_evidence(X: Any, solution: Biclustering, *, normalise: str = "auto", missing: str = "raise") -> float:
    """Total evidence of a solution, in nats: the sum over its supported biclusters.

    High is better; 0 where no bicluster is supported. A bicluster that is not supported changes nothing. See
    :func:`evidence_table` for the formula.

    Parameters
    ----------
    X : array-like, DataFrame or Matrix of shape (n, m)
        Data matrix.
    solution : Biclustering
        The biclusters.
    normalise : {"auto", "none", "rank"}, default="auto"
        As in :func:`evidence_table`.
    missing : {"raise", "omit"}, default="raise"
        Whether missing cells (NaN) are refused or left out.

    Returns
    -------
    float
        In nats.

    Raises
    ------
    MatrixError, ParameterError, SolutionError
        As :func:`evidence_table` does.

    See Also
    --------
    evidence_table : With patterns, verdicts and reasons.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(60, 20))
    >>> X[:15, :6] += 3
    >>> S = Biclustering([(range(15), range(6)), (range(30, 45), range(10, 16))], X.shape)
    >>> bool(total_evidence(X, S) == bicluster_evidence(X, S)[0])
    True
    """
    return evidence_table(X, solution, normalise=normalise, missing=missing).total


@measure("raw_evidence", "raw evidence", "raw evidence",
    "Evidence before members are named and choices are charged; orders solutions without a supported bicluster.",
    level="solution", direction="high", range=(0.0, math.inf), compute=lambda w: evidence_scores(w).total_raw,
    invariances=_INVARIANCES, reference=_REFERENCE, default=True)  # fmt: skip
def raw_evidence(X: Any, solution: Biclustering, *, normalise: str = "auto", missing: str = "raise") -> float:
    """Raw evidence of a solution, in nats: what its biclusters gain before their members are named.

    Σ max(0, gain + names + choices), each given those accepted before it. High is better. It favours large and many
    biclusters; use it only to order solutions none of whose biclusters is supported.

    Parameters
    ----------
    X : array-like, DataFrame or Matrix of shape (n, m)
        Data matrix.
    solution : Biclustering
        The biclusters.
    normalise : {"auto", "none", "rank"}, default="auto"
        As in :func:`evidence_table`.
    missing : {"raise", "omit"}, default="raise"
        Whether missing cells (NaN) are refused or left out.

    Returns
    -------
    float
        In nats.

    Raises
    ------
    MatrixError, ParameterError, SolutionError
        As :func:`evidence_table` does.

    See Also
    --------
    evidence_table : With patterns, verdicts and reasons.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(60, 20))
    >>> X[:15, :6] += 3
    >>> S = Biclustering([(range(15), range(6)), (range(30, 45), range(10, 16))], X.shape)
    >>> raw_evidence(X, S) > total_evidence(X, S)
    True
    """
    return evidence_table(X, solution, normalise=normalise, missing=missing).total_raw


@measure("n_supported", "K supported", "supported biclusters",
    "Number of supported biclusters; redundant ones are not counted.", level="solution", direction="none",
    range=(0.0, math.inf), compute=lambda w: evidence_scores(w).n_supported, invariances=_INVARIANCES,
    reference=_REFERENCE, default=True)  # fmt: skip
def supported_biclusters(X: Any, solution: Biclustering, *, normalise: str = "auto", missing: str = "raise") -> int:
    """Return the number of supported biclusters; see :func:`evidence_table`.

    Parameters
    ----------
    X : array-like, DataFrame or Matrix of shape (n, m)
        Data matrix.
    solution : Biclustering
        The biclusters.
    normalise : {"auto", "none", "rank"}, default="auto"
        As in :func:`evidence_table`.
    missing : {"raise", "omit"}, default="raise"
        Whether missing cells (NaN) are refused or left out.

    Returns
    -------
    int
        Redundant ones are not counted.

    Raises
    ------
    MatrixError, ParameterError, SolutionError
        As :func:`evidence_table` does.

    See Also
    --------
    evidence_table : With patterns, verdicts and reasons.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(60, 20))
    >>> X[:15, :6] += 3
    >>> S = Biclustering([(range(15), range(6)), (range(30, 45), range(10, 16))], X.shape)
    >>> supported_biclusters(X, S)
    1
    """
    return evidence_table(X, solution, normalise=normalise, missing=missing).n_supported


@measure("supported_coverage", "supported coverage", "supported coverage",
    "Share of the cells of the matrix in supported biclusters.", level="solution", direction="high", range=UNIT,
    percent=True, compute=lambda w: evidence_scores(w).coverage, invariances=_INVARIANCES, reference=_REFERENCE,
    default=True)  # fmt: skip
def supported_coverage(X: Any, solution: Biclustering, *, normalise: str = "auto", missing: str = "raise") -> float:
    """Return the share of the cells of the matrix in supported biclusters; see :func:`evidence_table`. In [0, 1].

    Parameters
    ----------
    X : array-like, DataFrame or Matrix of shape (n, m)
        Data matrix.
    solution : Biclustering
        The biclusters.
    normalise : {"auto", "none", "rank"}, default="auto"
        As in :func:`evidence_table`.
    missing : {"raise", "omit"}, default="raise"
        Whether missing cells (NaN) are refused or left out.

    Returns
    -------
    float
        A share of all cells.

    Raises
    ------
    MatrixError, ParameterError, SolutionError
        As :func:`evidence_table` does.

    See Also
    --------
    evidence_table : With patterns, verdicts and reasons.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(60, 20))
    >>> X[:15, :6] += 3
    >>> S = Biclustering([(range(15), range(6)), (range(30, 45), range(10, 16))], X.shape)
    >>> supported_coverage(X, S)
    0.075
    """
    return evidence_table(X, solution, normalise=normalise, missing=missing).coverage


def _evidence(matrix: Matrix, cover: Cover, normalise: str, n_jobs: int | None) -> Evidence:
    solution = cover.solution
    check_choice("normalise", normalise, ("auto", "none", "rank"))
    K = len(solution)
    accepted: dict[int, Judged] = {}
    background = _background(matrix, solution, normalise)
    choices = _cost_of_choices(matrix.shape, background)
    costs = [_cost_of_members(matrix.shape, b) + choices for b in solution]

    def judged_now(k: int, outside: Outside | None = None) -> Judged:
        before = [judged for other, judged in accepted.items() if cover.intersections[k, other]]
        return judge(background, solution[k], costs[k], before, outside)

    many = sum(b.size for b in solution) >= _MANY_CELLS
    judged = _for_each(judged_now, range(K), 1 if not many else n_jobs)
    alone, patterns = _with_too_small(judged, costs), [_pattern(one) for one in judged]
    repeats = _Repeats(matrix, cover, alone, patterns)
    redundant: dict[int, tuple[int, ...]] = {}
    stale: set[int] = set()
    waiting = {k for k in range(K) if judged[k].pattern is not None}
    order: list[int] = []
    while waiting:
        k = max(waiting, key=lambda position: (judged[position].gain, -position))
        if judged[k].gain > 0 and k not in stale:
            waiting.remove(k)
            if repeated := repeats.among(k, order, judged[k].gain):
                redundant[k] = repeated
                continue
            order.append(k)
            accepted[k] = judged[k]
            if waiting:
                take_out(background, judged[k])
            stale |= waiting  # the mean of the matrix has changed, and with it every block
            continue
        again = {k} & stale if judged[k].gain > 0 else stale & waiting
        if not again:
            break
        for other in again:
            judged[other] = judged_now(other, judged[other].outside)
        stale -= again
        waiting = {other for other in waiting if judged[other].pattern is not None}
    gain = _with_too_small(judged, costs)
    raw = np.maximum(np.nan_to_num(gain + np.array(costs)), 0.0)
    redundant |= {
        k: tuple(other for other in sorted(order) if cover.intersections[k, other])
        for k in np.flatnonzero(alone > 0).tolist()
        if k not in order and k not in redundant and cover.intersections[k, order].any()
    }
    return Evidence(
        gain=gain,
        alone=alone,
        raw=raw,
        patterns=tuple(pattern if alone[k] > 0 or k in order else NONE for k, pattern in enumerate(patterns)),
        verdicts=tuple(
            SUPPORTED if k in order else REDUNDANT if k in redundant else TOO_SMALL if one.too_small else NOT_SUPPORTED
            for k, one in enumerate(judged)
        ),
        redundant_with=tuple(redundant.get(k, ()) for k in range(K)),
        reasons=tuple(one.reason for one in judged),
        order=tuple(order),
        total=math.fsum(gain[order]),
        total_raw=math.fsum(raw),
        coverage=cover.share if len(order) == K else Cover(solution.select(order)).share,
        family="values" if background.tallies is not None else "ranks" if background.ranks else "normal",
        series=(1 - background.independent) / (1 + background.independent),
    )


def _with_too_small(judged: Sequence[Judged], costs: Sequence[float]) -> Floats:
    """Return the gains; of what is too small to judge nothing counts but the names of its members."""
    return np.array([-cost if one.too_small else one.gain for one, cost in zip(judged, costs, strict=True)])


class _Repeats(NamedTuple):
    """Which accepted biclusters a bicluster is redundant with."""

    matrix: Matrix
    cover: Cover
    alone: Floats
    patterns: Sequence[str]

    def among(self, k: int, accepted: Sequence[int], gain: float) -> tuple[int, ...]:
        """Return the accepted biclusters that share nearly all cells with k, or that one block explains with it.

        That block must have the pattern of one of the two: a richer one would explain unlike biclusters, too.
        """
        at = np.array(accepted, dtype=np.int64)
        same = at[self.cover.jaccard[k, at] >= DUPLICATE]
        if len(same):
            return (int(same[0]),)
        rows, cols = self.cover.shared_rows, self.cover.shared_cols
        share = [shared[k, at] / np.minimum(shared[k, k], shared[at, at]) for shared in (rows, cols)]
        alike = at[np.maximum(*share) >= _ALIKE] if len(at) else at
        unions = [union_of(self.cover.solution[k], self.cover.solution[other]) for other in alike.tolist()]
        together = _judged_alone(self.matrix, self.cover.solution, unions) if unions else []
        return tuple(
            other
            for other, union in zip(alike.tolist(), together, strict=True)
            if union.gain >= self.alone[other] + gain and _pattern(union) in (self.patterns[k], self.patterns[other])
        )


def union_of(one: Bicluster, other: Bicluster) -> Bicluster:
    return Bicluster(np.union1d(one.rows, other.rows), np.union1d(one.cols, other.cols))


def _background(matrix: Matrix, solution: Biclustering, normalise: str) -> Background:
    groups = partial(rows_alike, solution, row_step(matrix.shape))
    return background_of(matrix, normalise, groups, compiled_pays(solution))


def _cost_of_members(shape: tuple[int, int], bicluster: Bicluster) -> float:
    return log_choose(shape[0], len(bicluster.rows)) + log_choose(shape[1], len(bicluster.cols))


def _cost_of_choices(shape: tuple[int, int], background: Background) -> float:
    return (
        math.log(shape[0])
        + math.log(shape[1])
        + math.log(N_FORMS + (background.independent < 1) + (background.tallies is not None))
    )


def evidence_alone(matrix: Matrix, solution: Biclustering, biclusters: Sequence[Bicluster]) -> Floats:
    """Return the evidence of biclusters, of a solution or others, each as if it were the only one.

    The solution tells rows that go together from a series, as in :func:`evidence_table`; of its own biclusters this is
    what that table calls `alone`.

    >>> X = np.random.default_rng(0).normal(size=(60, 20))
    >>> X[:15, :6] += 3
    >>> S = Biclustering([(range(15), range(6))], X.shape)
    >>> evidence_alone(Matrix.of(X), S, [S[0]]) == evidence_table(X, S).alone
    array([ True])
    """
    return np.array([judged.gain for judged in _judged_alone(matrix, solution, biclusters)])


def _judged_alone(matrix: Matrix, solution: Biclustering, biclusters: Sequence[Bicluster]) -> list[Judged]:
    background = _background(matrix, solution, "auto")
    choices = _cost_of_choices(matrix.shape, background)
    return [judge(background, b, _cost_of_members(matrix.shape, b) + choices, [], None) for b in biclusters]


def _pattern(judged: Judged) -> str:
    return judged.pattern.kind if judged.pattern is not None else NONE


def _for_each(function: Callable[[int], Judged], positions: range, n_jobs: int | None) -> list[Judged]:
    if n_jobs == 1 or len(positions) < 2:
        return [function(k) for k in positions]
    judged: dict[int, Judged] = {}
    share_out([partial(_judge_into, judged, function, k) for k in positions], count_cores(n_jobs))
    return [judged[k] for k in positions]


def _judge_into(judged: dict[int, Judged], function: Callable[[int], Judged], k: int) -> None:
    judged[k] = function(k)


def evidence_scores(workspace: Workspace) -> Evidence:
    """Return the evidence of a workspace, computed once."""
    return workspace.once(_of_workspace)


def _of_workspace(workspace: Workspace) -> Evidence:
    n_jobs = None if workspace.options.n_jobs == -1 else workspace.options.n_jobs
    return _evidence(workspace.matrix, workspace.cover, "auto", n_jobs)

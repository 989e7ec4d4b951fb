"""Evidence: how many nats each bicluster saves in describing the matrix, its kind of pattern, and whether it pays."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

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


@dataclass(frozen=True)
class Evidence:
    """What each bicluster, and the solution, saves in describing the matrix; made by :func:`evidence_table`.

    Attributes
    ----------
    gain
        Nats saved by each bicluster given those that came before it in the selection; NaN where undefined.
    alone
        Nats saved by each bicluster as if it were the only one.
    kinds
        Pattern of each bicluster that pays: raised (or lowered), additive, row-affine, order-preserving; else none.
    pays
        Whether the gain is positive.
    reasons
        Why the gain of a bicluster is undefined; empty where it is defined.
    order
        Positions of the biclusters that pay, in the order they were accepted.
    total
        Σ of the gains that pay, less the cost of naming the members of every bicluster that does not.
    explained
        Share of the cells of the matrix in biclusters that pay.
    ranks
        Whether rows were replaced by normal scores.
    independent
        What a cell counts as a share of an independent one: below 1 where neighbouring columns are correlated.
    """

    gain: Floats
    alone: Floats
    kinds: tuple[str, ...]
    pays: NDArray[np.bool_]
    reasons: tuple[str, ...]
    order: tuple[int, ...]
    total: float
    explained: float
    ranks: bool
    independent: float

    @property
    def n_paying(self) -> int:
        """Number of biclusters that pay."""
        return len(self.order)


def evidence_table(
    X: Any, solution: Biclustering, *, normalise: str = "auto", missing: str = "raise", n_jobs: int | None = None
) -> Evidence:
    """Return the evidence of every bicluster: nats saved, kind of pattern, and whether it pays.

    The background is R = X − row means − column means + grand mean. A block of r × c cells is tried as raised (or
    lowered) throughout, as additive (row levels, column levels or both), as row-affine (every row a positive multiple,
    at most three times the median one, of one shape, at its own level) and as order-preserving (one order of the
    columns shared by the rows, and not by other rows). Of the N = r·c cells a form takes f degrees of freedom, and the
    share of the sum of squares it explains is Beta(f/2, (N − f)/2) in normal noise; the same is asked with the noise
    outside the block, at the variance its rows and columns have there, added to what the form leaves. With p the
    smallest probability among these eleven tests, each for as much as most rows and most columns have a part in (beyond
    nine times the median row, or column, nothing counts),

        gain = −log p − [log C(n, r) + log C(m, c) + log n + log m + log 11],

    so that, by the union bound, noise rarely holds a block that pays, and a gain of g or more with a probability of
    about e^(−g) of that. The residual variance is taken to be at least that of rounding, (32·eps·max|x|)², and of the
    spacing δ of the values, δ²/12. Levels that the row and column means of the whole matrix have taken out of the block
    are restored. Rows and columns that are constant over the whole matrix say nothing and are left out. Where
    neighbouring columns are correlated by ρ in a typical row, beyond a stated limit and once what rows in the same
    biclusters share is taken out, the columns are a series: N counts (1 − ρ)/(1 + ρ) per cell, and a twelfth test
    compares the levels of the rows with those of other rows, which need no independent columns.

    Where one value fills a quarter of the matrix and at most 32 fill nearly all of it (counts, zeros and ones), no
    block is believed to be more improbable than its values are: −log p is at most Σ N·KL(found ‖ expected) over the
    levels that the form has, or Σ −log f(x) over the cells where it has more than levels. Expected is what all other
    cells hold, or what the rows hold elsewhere times what the columns hold elsewhere over what the rest holds,
    whichever tells less. One more test asks for a level by these values alone: the likelihood ratio of the block and of
    those cells as two samples, by Chernoff's bound for χ².

    A solution is judged by forward selection: the bicluster of largest gain is accepted and its pattern subtracted; the
    next one is judged on what is left, and takes its place in the queue again if that costs it the lead; the selection
    stops at a gain of 0 or less. Accepted biclusters *pay*.

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
        Nats, kinds and reasons per bicluster, and the total.

    Raises
    ------
    MatrixError, SolutionError, ParameterError
        If X, the solution or an option cannot be used.

    See Also
    --------
    bivaluate.evaluate : The evidence beside all other scores.
    bivaluate.propose_pruning : Drops what has none.

    Notes
    -----
    Undefined (NaN, with a reason) for fewer than two rows or two columns, for fewer than 12 observed cells, and for
    blocks that deviate from the row and column means by no more than ties and rounding allow. A raised block that fills
    a matrix from side to side is part of the row or column means and cannot be seen. Where columns are a series,
    evidence depends on their order; shuffle them if it means nothing. A matrix sorted so that biclusters on
    neighbouring columns hold three quarters of its rows looks like a series to a solution that holds few of them.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 20))
    >>> X[:15, :6] += 3
    >>> S = Biclustering([(range(15), range(6)), (range(30, 45), range(10, 16))], X.shape)
    >>> result = evidence_table(X, S)
    >>> result.kinds, result.pays.tolist()
    (('raised', 'none'), [True, False])
    """
    matrix = Matrix.of(X, missing)
    cover = Cover(check_solution(solution).with_shape(matrix.shape))
    return _evidence(matrix, cover, normalise, None if n_jobs == -1 else n_jobs)


@measure("evidence", "evidence", "evidence",
    "Nats the bicluster saves in describing the matrix; positive means it pays.", direction="high", range=REAL,
    compute=lambda w: evidence_scores(w).gain, invariances=_INVARIANCES, reference=_REFERENCE, default=True)  # fmt: skip
def bicluster_evidence(X: Any, solution: Biclustering, *, normalise: str = "auto", missing: str = "raise") -> Floats:
    """Return the nats each bicluster saves, given those accepted before it; positive means that it pays.

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
        Nats saved by each bicluster.

    Raises
    ------
    MatrixError, ParameterError, SolutionError
        As :func:`evidence_table` does.

    See Also
    --------
    evidence_table : With the kind of pattern and what is left out.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(60, 20))
    >>> X[:15, :6] += 3
    >>> S = Biclustering([(range(15), range(6)), (range(30, 45), range(10, 16))], X.shape)
    >>> (bicluster_evidence(X, S) > 0).tolist()
    [True, False]
    """
    return evidence_table(X, solution, normalise=normalise, missing=missing).gain


@measure("total_evidence", "evidence", "total evidence",
    "Nats all biclusters save together, less the cost of those that save nothing.", level="solution",
    formula=r"E=\sum_{k:\,g_k>0}g_k-\sum_{k:\,g_k\leq 0}\log\binom{n}{|I_k|}\binom{m}{|J_k|}",
    direction="high", range=REAL, main_rank=1, nothing=0.0, compute=lambda w: evidence_scores(w).total, invariances=_INVARIANCES,
    reference=_REFERENCE, default=True)  # fmt: skip
def total_evidence(X: Any, solution: Biclustering, *, normalise: str = "auto", missing: str = "raise") -> float:
    """Total evidence of a solution, in nats: what its biclusters save, less the cost of those that save nothing.

    High is better; 0 for a solution without biclusters; negative where only noise was described. The evidence of
    single biclusters adds up to it only where all of them pay: one that does not counts as what its members cost to
    name, log C(n, r) + log C(m, c), rather than with its own evidence. See :func:`evidence_table` for the formula.

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
    bicluster_evidence : Of each bicluster.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 20))
    >>> X[:15, :6] += 3
    >>> good, noise = ([(range(15), range(6))], [(range(30, 45), range(10, 16))])
    >>> total_evidence(X, Biclustering(good, X.shape)) > 0 > total_evidence(X, Biclustering(noise, X.shape))
    True
    """
    return evidence_table(X, solution, normalise=normalise, missing=missing).total


@measure("n_paying", "K paying", "biclusters that pay",
    "Number of biclusters that save nats, each judged after those before it.", level="solution", direction="none",
    range=(0.0, math.inf), compute=lambda w: evidence_scores(w).n_paying, invariances=_INVARIANCES,
    reference=_REFERENCE, default=True)  # fmt: skip
def paying_biclusters(X: Any, solution: Biclustering, *, normalise: str = "auto", missing: str = "raise") -> int:
    """Return the number of biclusters that pay; see :func:`evidence_table`.

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
        How many of them save something.

    Raises
    ------
    MatrixError, ParameterError, SolutionError
        As :func:`evidence_table` does.

    See Also
    --------
    bicluster_evidence : What each bicluster saves.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(60, 20))
    >>> paying_biclusters(X, Biclustering([(range(15), range(6))], X.shape))
    0
    """
    return evidence_table(X, solution, normalise=normalise, missing=missing).n_paying


@measure("explained", "explained", "explained share", "Share of the cells of the matrix in biclusters that pay.",
    level="solution", direction="high", range=UNIT, percent=True,
    compute=lambda w: evidence_scores(w).explained,
    invariances=_INVARIANCES, reference=_REFERENCE, default=True)  # fmt: skip
def explained_share(X: Any, solution: Biclustering, *, normalise: str = "auto", missing: str = "raise") -> float:
    """Return the share of the cells of the matrix in biclusters that pay; see :func:`evidence_table`. In [0, 1].

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
    total_evidence : What they save, in nats.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(60, 20))
    >>> explained_share(X, Biclustering([(range(15), range(6))], X.shape))
    0.0
    """
    return evidence_table(X, solution, normalise=normalise, missing=missing).explained


def _evidence(matrix: Matrix, cover: Cover, normalise: str, n_jobs: int | None) -> Evidence:
    solution = cover.solution
    check_choice("normalise", normalise, ("auto", "none", "rank"))
    K = len(solution)
    accepted: dict[int, Judged] = {}
    background = _background(matrix, solution, normalise)
    members = [_cost_of_members(matrix.shape, b) for b in solution]
    choices = _cost_of_choices(matrix.shape, background)

    def judged_now(k: int, outside: Outside | None = None) -> Judged:
        before = [judged for other, judged in accepted.items() if cover.intersections[k, other]]
        return judge(background, solution[k], members[k] + choices, before, outside)

    many = sum(b.size for b in solution) >= _MANY_CELLS
    judged = _for_each(judged_now, range(K), 1 if not many else n_jobs)
    alone = np.array([one.gain for one in judged])
    stale: set[int] = set()
    waiting = {k for k in range(K) if judged[k].pattern is not None}
    order: list[int] = []
    while waiting:
        k = max(waiting, key=lambda position: (judged[position].gain, -position))
        if judged[k].gain > 0 and k not in stale:
            waiting.remove(k)
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
    pays = np.zeros(K, dtype=np.bool_)
    pays[order] = True
    gain = np.array([one.gain for one in judged])
    unpaid = math.fsum(cost for k, cost in enumerate(members) if not pays[k])
    return Evidence(
        gain=gain,
        alone=alone,
        kinds=tuple(_kind(one) if pays[k] else NONE for k, one in enumerate(judged)),
        pays=pays,
        reasons=tuple(one.reason for one in judged),
        order=tuple(order),
        total=math.fsum(gain[order]) - unpaid,
        explained=cover.share if len(order) == K else Cover(solution.select(order)).share,
        ranks=background.ranks,
        independent=background.independent,
    )


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
    """Return the nats that biclusters, of a solution or others, would each save as if it were the only one.

    The solution tells rows that go together from a series, as in :func:`evidence_table`; of its own biclusters this is
    what that table calls `alone`.

    >>> X = np.random.default_rng(0).normal(size=(60, 20))
    >>> X[:15, :6] += 3
    >>> S = Biclustering([(range(15), range(6))], X.shape)
    >>> evidence_alone(Matrix.of(X), S, [S[0]]) == evidence_table(X, S).alone
    array([ True])
    """
    background = _background(matrix, solution, "auto")
    choices = _cost_of_choices(matrix.shape, background)
    costs = [_cost_of_members(matrix.shape, bicluster) + choices for bicluster in biclusters]
    judged = (judge(background, b, cost, [], None).gain for b, cost in zip(biclusters, costs, strict=True))
    return np.fromiter(judged, dtype=np.float64, count=len(costs))


def _kind(judged: Judged) -> str:
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

"""Advice on redundancy: which biclusters to drop, which to merge, and why, in a sentence each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bivaluate._check import check_real
from bivaluate.chance.assumptions import prepare_matrix
from bivaluate.chance.scores import adjusted_error, score_blocks
from bivaluate.chance.search import EVIDENCE_CUT, refit_cut
from bivaluate.matrix import Matrix
from bivaluate.measures._blocks import constant_row_counts
from bivaluate.measures._mergers import merger_matrices
from bivaluate.measures.cover import Cover, cell_jaccard
from bivaluate.measures.registry import get_metric
from bivaluate.measures.workspace import Workspace
from bivaluate.solution import Bicluster, Biclustering, check_solution

Floats = NDArray[np.float64]

DUPLICATE_JACCARD = 0.9
SHOWN = ("n_biclusters", "coverage", "redundancy", "avg_ve", "nve", "nve_cov", "avg_ave_centred", "cc")


@dataclass(frozen=True)
class Proposal:
    """One change: `kind` is ``"drop"`` or ``"merge"``, `biclusters` the names concerned, `reason` a sentence."""

    kind: str
    biclusters: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class Pruning:
    """What :func:`propose_pruning` returns.

    Attributes
    ----------
    proposals
        The changes, in the order in which they were made.
    solution
        The solution after all of them.
    names
        What its biclusters are made of: ``"B1"``, ``"B2+B5"``, …
    before, after
        Scores of the two solutions by registry key.
    cut
        aVE at or above which a bicluster counts as search noise.
    """

    proposals: tuple[Proposal, ...]
    solution: Biclustering
    names: tuple[str, ...]
    before: dict[str, float]
    after: dict[str, float]
    cut: float


def propose_pruning(
    X: Any,
    solution: Biclustering,
    *,
    keep_weak: bool = False,
    cut: float = EVIDENCE_CUT,
    centre: str = "columns",
    normalise: str = "none",
    ordered_columns: bool = False,
    null_runs: int = 5,
    random_state: int | None = 0,
) -> Pruning:
    """Propose drops and mergers, and say why.

    Three questions, in this order. Duplicates: two biclusters that share 90 % of their cells (Jaccard); the less
    coherent one goes. Mergers: two biclusters whose union of rows and columns has a chance-corrected error aVE no
    higher than either of them, and below `cut`; the best such pair is merged, and the question asked again. Noise: biclusters
    whose aVE reaches `cut`, so that a search through noise of this size finds as much. Nothing is changed in the
    solution given; blocks with one row or one column have an aVE of 1.

    Parameters
    ----------
    X
        Data matrix without missing cells.
    solution
        The biclusters.
    keep_weak
        Do not drop biclusters for being no better than search noise.
    cut
        aVE at or above which a bicluster counts as noise.
    centre, normalise
        How the data are prepared for aVE; see :func:`bivaluate.chance_table`.
    ordered_columns
        Columns are ordered (time, dose): refit the cut on phase-randomised surrogates, which takes seconds.
    null_runs, random_state
        Number of surrogates and seed for that.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 20))
    >>> X[:20, :10] = rng.normal(size=10) * 3 + 0.3 * rng.normal(size=(20, 10))
    >>> S = Biclustering([(range(10), range(10)), (range(8, 20), range(10)), (range(30, 40), range(5, 12))], X.shape)
    >>> advice = propose_pruning(X, S)
    >>> [(p.kind, p.biclusters) for p in advice.proposals]
    [('merge', ('B1', 'B2')), ('drop', ('B3',))]
    >>> advice.names
    ('B1+B2',)
    """
    check_real("cut", cut, 0.0)
    values = prepare_matrix(Matrix.of(X).values, centre, normalise)
    solution = check_solution(solution).with_shape(values.shape)
    if ordered_columns:
        shapes = [b.shape for b in solution]
        cut = min(
            cut, refit_cut(values, shapes, null="phase", runs=null_runs, centre="none", random_state=random_state)
        )
    pool = _Pool(values, solution)
    proposals = [*_duplicates(pool), *_mergers(pool, cut)]
    if not keep_weak:
        proposals += _noise(pool, cut)
    pruned = Biclustering([(b.rows, b.cols) for b in pool.biclusters], solution.shape, info=solution.info)
    pruned.info["made_of"] = list(pool.names)
    pruned.info["pruning"] = [proposal.reason for proposal in proposals]
    before, after = (_scores(X, side) for side in (solution, pruned))
    return Pruning(tuple(proposals), pruned, tuple(pool.names), before, after, cut)


class _Pool:
    """Biclusters still in play, with their names and chance-corrected errors."""

    def __init__(self, values: Floats, solution: Biclustering) -> None:
        self.values = values
        self.biclusters: list[Bicluster] = list(solution)
        self.names = [f"B{k + 1}" for k in range(len(solution))]
        self.error = [self.judge(b) for b in solution]

    def judge(self, bicluster: Bicluster) -> float:
        """Return aVE."""
        return adjusted_error(bicluster.of(self.values), (self.values.shape[0], self.values.shape[1]))

    def judge_pairs(self) -> Floats:
        """Return aVE of all mergers, K x K."""
        shape = (self.values.shape[0], self.values.shape[1])
        solution = Biclustering([(b.rows, b.cols) for b in self.biclusters], shape)
        rows, cols = Cover(solution).merged_shapes
        rows = rows - constant_row_counts(self.values, solution)
        ve = merger_matrices(self.values, solution)[0]
        together = np.zeros(ve.shape)
        upper = np.triu_indices(len(ve))
        together[upper] = score_blocks(ve[upper], rows[upper], cols[upper], shape).adjusted
        return together + np.triu(together, 1).T

    def remove(self, k: int) -> None:
        """Take one out."""
        del self.biclusters[k], self.names[k], self.error[k]


def _duplicates(pool: _Pool) -> list[Proposal]:
    proposals = []
    k = 0
    while k < len(pool.biclusters):
        like = [cell_jaccard(pool.biclusters[k], other) for other in pool.biclusters]
        like[k] = 0.0
        twin = int(np.argmax(like))
        if like[twin] < DUPLICATE_JACCARD:
            k += 1
            continue
        worse, better = (k, twin) if (pool.error[k], k) > (pool.error[twin], twin) else (twin, k)
        how = "is the same as" if like[twin] == 1 else f"shares {like[twin]:.0%} of its cells with"
        proposals.append(
            Proposal(
                "drop",
                (pool.names[worse],),
                f"Drop {pool.names[worse]}: it {how} {pool.names[better]}, which is "
                f"{'as' if pool.error[better] == pool.error[worse] else 'more'} coherent "
                f"(aVE {pool.error[better]:.3f} against {pool.error[worse]:.3f}).",
            )
        )
        pool.remove(worse)
        k = 0 if worse < k else k
    return proposals


def _mergers(pool: _Pool, cut: float) -> list[Proposal]:
    proposals: list[Proposal] = []
    together = pool.judge_pairs()
    while len(pool.names) > 1:
        best = np.minimum.outer(pool.error, pool.error)
        costless = np.triu((together <= best) & (together < cut), 1)
        if not costless.any():
            break
        a, b = np.unravel_index(np.where(costless, together, np.inf).argmin(), together.shape)
        one, other, union = pool.names[a], pool.names[b], _union(pool.biclusters[a], pool.biclusters[b])
        inside = {other: pool.biclusters[b] != union, one: pool.biclusters[a] != union}
        if all(inside.values()):
            proposals.append(
                Proposal(
                    "merge",
                    (one, other),
                    f"Merge {one} and {other} into {union.shape[0]} x {union.shape[1]}: together they are as coherent as "
                    f"either alone (aVE {together[a, b]:.3f}; apart {pool.error[a]:.3f} and {pool.error[b]:.3f}).",
                )
            )
            name = f"{one}+{other}"
        else:
            small, name = (one, other) if inside[one] else (other, one)
            proposals.append(
                Proposal(
                    "drop",
                    (small,),
                    f"Drop {small}: it lies within {name}, which is at least as coherent "
                    f"(aVE {together[a, b]:.3f} against {max(pool.error[a], pool.error[b]):.3f}).",
                )
            )
        pool.biclusters[a], pool.names[a], pool.error[a] = union, name, float(together[a, b])
        pool.remove(int(b))
        together = np.delete(np.delete(together, b, axis=0), b, axis=1)
        together[a, :] = together[:, a] = [pool.judge(_union(union, other)) for other in pool.biclusters]
    return proposals


def _noise(pool: _Pool, cut: float) -> list[Proposal]:
    proposals = []
    for k in reversed(range(len(pool.names))):
        if pool.error[k] < cut:
            continue
        rows, cols = pool.biclusters[k].shape
        if min(rows, cols) < 2:
            why = f"it has {rows} row(s) and {cols} column(s), so there is nothing to be coherent with"
        else:
            why = (
                f"searching noise of this size finds {rows} x {cols} blocks as coherent (aVE {pool.error[k]:.3f}, "
                f"evidence starts below {cut:.2f})"
            )
        proposals.append(Proposal("drop", (pool.names[k],), f"Drop {pool.names[k]}: {why}."))
        pool.remove(k)
    return proposals[::-1]


def _union(a: Bicluster, b: Bicluster) -> Bicluster:
    return Bicluster(np.union1d(a.rows, b.rows), np.union1d(a.cols, b.cols))


def _scores(X: Any, solution: Biclustering, keys: Sequence[str] = SHOWN) -> dict[str, float]:
    workspace = Workspace.of(X, solution)
    return {key: float(get_metric(key).compute(workspace)) for key in keys}

"""How close a solution comes to a known truth: external measures, and :func:`bivaluate.compare`, which calls them all.

Every measure takes a Comparison of two solutions that both have biclusters, and high is always better; `compare`
settles the case of solutions without biclusters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from bivaluate._errors import ParameterError, SolutionError, suggest
from bivaluate._parallel import one_thread
from bivaluate._types import Flags, Floats, Ints
from bivaluate.measures._cell_sets import CellSets, PairSums, cover_counts
from bivaluate.measures.cover import jaccard_index, member_classes
from bivaluate.measures.measure import INFINITY, MEMBERSHIPS_ALONE, UNIT, Metric
from bivaluate.solution import Biclustering, check_solution

Measured = TypeVar("Measured", bound=Callable[["Comparison"], float])

_BELOW_ONE = (-INFINITY, 1.0)
_PATRIKAINEN = "Patrikainen & Meilă 2006, Comparing subspace clusterings, doi:10.1109/TKDE.2006.106"
_HANCZAR = "Hanczar & Nadif 2013, Precision-recall space to correct external indices for biclustering, ICML"


def compare(
    truth: Any,
    found: Any,
    *,
    metrics: str | Iterable[str] = "all",
    shape: Sequence[int] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, float | None]:
    """Compare what was found with the truth by external measures; high is better.

    Parameters
    ----------
    truth, found : Biclustering, estimator, search, result or list of pairs
        Two solutions of one matrix, in any form that :func:`bivaluate.evaluate` takes; pairs hold positions or masks.
    metrics : str or iterable of str, default="all"
        Keys of the measures to compute. Those that count pairs of cells, ``csi``, ``gri``, ``agri`` and ``mocice``,
        take long where many biclusters overlap.
    shape : tuple of int, optional
        Shape of the matrix, if neither solution knows it. Without it ``csi``, ``gri``, ``agri``, ``cari``,
        ``corrected_precision`` and ``corrected_recall`` are None: they count cells outside all biclusters too.
    progress : callable, optional
        Called with (done, total) as pairs of cells are counted, if there are many.

    Returns
    -------
    dict of str to float or None
        Values by key. Two solutions without biclusters give 1.0, one without and one with give 0.0.
        ``corrected_precision`` is NaN if the truth covers every cell, ``corrected_recall`` if what was found does:
        chance gives 1 then, and nothing is left to correct.

    Raises
    ------
    SolutionError
        If the two solutions are not of one matrix.
    ParameterError
        If there is no such measure.

    See Also
    --------
    bivaluate.evaluate

    References
    ----------
    Horta D, Campello RJGB (2015). Comparing hard and overlapping clusterings. JMLR 16:2949–2997.

    Examples
    --------
    >>> truth = Biclustering([([0, 1, 2], [0, 1, 2, 3]), ([3, 4], [3, 4, 5])], (5, 6))
    >>> found = Biclustering([([0, 1], [0, 1, 2, 3]), ([2, 3, 4], [3, 4, 5]), ([0, 4], [5])], (5, 6))
    >>> scores = compare(truth, found)
    >>> round(scores["ce"], 6), round(scores["agri"], 6)
    (0.636364, 0.407537)
    >>> compare(truth, found, metrics="consensus")
    {'consensus': 0.4444444444444444}
    """
    comparison = Comparison(check_solution(truth, "truth"), check_solution(found, "found"), shape, progress)
    scores: dict[str, float | None] = {}
    keys = chosen_measures(metrics)
    with one_thread():
        if comparison.settled is None and "mocice" in keys:
            _ = comparison.sets  # others need less, and take it from there
        for key in keys:
            measure = EXTERNAL[key]
            if measure.needs_shape and not comparison.has_shape:
                scores[key] = None
            elif comparison.settled is not None:
                scores[key] = comparison.settled
            else:
                scores[key] = measure.function(comparison)
    return scores


def chosen_measures(metrics: str | Iterable[str]) -> list[str]:
    """Return the keys asked for, of measures that exist."""
    keys = list(EXTERNAL) if metrics in ("all", ["all"]) else [metrics] if isinstance(metrics, str) else list(metrics)
    for key in keys:
        if key not in EXTERNAL:
            raise ParameterError(f"there is no external measure {key!r}.{suggest(key, EXTERNAL)}")
    return keys


class Comparison:
    """Two solutions of one matrix and what the measures share: each is computed once, when first asked for."""

    def __init__(
        self,
        truth: Biclustering,
        found: Biclustering,
        shape: Sequence[int] | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self.truth, self.found, self.has_shape = _same_matrix(truth, found, shape)
        self._progress = progress

    @property
    def settled(self) -> float | None:
        """1.0 if neither solution has biclusters, 0.0 if one of them has none, else None."""
        if len(self.truth) and len(self.found):
            return None
        return 1.0 if len(self.truth) == len(self.found) else 0.0

    @property
    def n_cells(self) -> int:
        """Size of the matrix."""
        return self.truth.shape[0] * self.truth.shape[1]

    @cached_property
    def shared_rows(self) -> Floats:
        """Common rows of each found (down) and each true (across) bicluster."""
        return _overlaps(self.found.row_masks, self.truth.row_masks)

    @cached_property
    def shared_cols(self) -> Floats:
        """Common columns."""
        return _overlaps(self.found.col_masks, self.truth.col_masks)

    @property
    def shared_cells(self) -> Floats:
        """Common cells."""
        return self.shared_rows * self.shared_cols

    def sizes(self, what: str) -> tuple[Floats, Floats]:
        """Sizes of the found biclusters as a column and of the true ones as a line, in rows, cols or cells."""
        both = [np.array([b.shape for b in s], dtype=np.float64).reshape(-1, 2) for s in (self.found, self.truth)]
        found, truth = ({"rows": s[:, 0], "cols": s[:, 1], "cells": s.prod(axis=1)}[what] for s in both)
        return found[:, None], truth[None, :]

    def jaccard(self, what: str) -> Floats:
        """Jaccard index of each found and each true bicluster, by rows, cols or cells."""
        shared: Floats = getattr(self, f"shared_{what}")
        found, truth = self.sizes(what)
        return np.asarray(jaccard_index(shared, found, truth))

    @cached_property
    def cover(self) -> tuple[Floats, Floats, Floats]:
        """How often found covers cells, how often truth does, and how many cells each pair of these has."""
        return self.sets.cover if "sets" in vars(self) else cover_counts(self.found, self.truth)

    @cached_property
    def sets(self) -> CellSets:
        """Cells by the set of biclusters they lie in."""
        return CellSets.of(self.found, self.truth)

    @cached_property
    def pairs(self) -> PairSums:
        """What the measures need to know of all pairs of cells."""
        return self.sets.pair_sums(self.jaccard("cells"), self._progress)


def _same_matrix(
    truth: Biclustering, found: Biclustering, shape: Sequence[int] | None
) -> tuple[Biclustering, Biclustering, bool]:
    known = shape if shape is not None else truth.shape if truth.has_shape else found.shape if found.has_shape else None
    if known is None:
        biclusters = [tuple(b) for b in (*truth, *found)]
        n_rows, n_cols = (max((int(b[axis][-1]) for b in biclusters), default=0) + 1 for axis in (0, 1))
        known = n_rows, n_cols
        return truth.with_shape(known), found.with_shape(known), False
    if truth.has_shape and found.has_shape and truth.shape != found.shape:
        differ = f"truth is for a matrix of shape {truth.shape} and found for one of shape {found.shape}"
        raise SolutionError(f"{differ}: only solutions of one matrix can be compared.")
    return truth.with_shape(known), found.with_shape(known), True


@dataclass(frozen=True, eq=False)
class ExternalMeasure(Metric):
    """What is known about one measure of two solutions; high is better for all of them."""

    level: str = "comparison"
    direction: str = "high"
    range: tuple[float, float] = UNIT
    invariances: frozenset[str] = frozenset(MEMBERSHIPS_ALONE)
    needs_shape: bool = False


EXTERNAL: dict[str, ExternalMeasure] = {}


def external(key: str, name: str, summary: str, reference: str, **fields: Any) -> Callable[[Measured], Measured]:
    """Return a decorator that adds a function to `EXTERNAL` with its record."""

    def decorate(function: Measured) -> Measured:
        of: Any = function
        EXTERNAL[key] = ExternalMeasure(key, name, name, summary, of, of, reference=reference, **fields)
        return function

    return decorate


def _overlaps(first: Flags, second: Flags) -> Floats:
    """Return how many members each mask of `first` shares with each of `second`."""
    return np.asarray(first.astype(np.float32) @ second.astype(np.float32).T, dtype=np.float64)


@external("prelic_relevance", "Prelić relevance",
    "How well each found bicluster matches some true one; rows and columns matched apart.",
    "Prelić et al. 2006, doi:10.1093/bioinformatics/btl060")  # fmt: skip
def prelic_relevance(comparison: Comparison) -> float:
    """Prelić relevance: √(S_rows·S_cols), S = mean over found biclusters of the best Jaccard index with a true one.

    Rows and columns are matched independently of each other. In [0, 1]; duplicates are not penalised. Prelić et
    al. 2006, doi:10.1093/bioinformatics/btl060.
    """
    rows, cols = (comparison.jaccard(side).max(axis=1).mean() for side in ("rows", "cols"))
    return float(np.sqrt(rows * cols))


@external("prelic_recovery", "Prelić recovery", "How well each true bicluster is matched by some found one.",
    "Prelić et al. 2006, doi:10.1093/bioinformatics/btl060")  # fmt: skip
def prelic_recovery(comparison: Comparison) -> float:
    """Prelić recovery: :func:`prelic_relevance` with the two solutions exchanged. In [0, 1]."""
    rows, cols = (comparison.jaccard(side).max(axis=0).mean() for side in ("rows", "cols"))
    return float(np.sqrt(rows * cols))


@external("liu_wang", "Liu–Wang match score", "Like Prelić's relevance, rows and columns matched together.",
    "Liu & Wang 2007, doi:10.1093/bioinformatics/btl560")  # fmt: skip
def liu_wang(comparison: Comparison) -> float:
    """Liu and Wang's match score: mean over found of the best (|I∩I'| + |J∩J'|)/(|I∪I'| + |J∪J'|).

    In [0, 1]; above 0 even without a common cell. Liu & Wang 2007, doi:10.1093/bioinformatics/btl560.
    """
    rows, cols = comparison.shared_rows, comparison.shared_cols
    size = sum(a + b for a, b in (comparison.sizes("rows"), comparison.sizes("cols")))
    return float(((rows + cols) / (size - rows - cols)).max(axis=1).mean())


@external("consensus", "consensus score", "Best one-to-one matching of cell Jaccard indices; extra biclusters cost.",
    "Hochreiter et al. 2010, FABIA, doi:10.1093/bioinformatics/btq227")  # fmt: skip
def consensus(comparison: Comparison) -> float:
    """Consensus score of FABIA: best one-to-one matching of cell Jaccard indices, over the larger number of biclusters.

    In [0, 1]; the same as scikit-learn's consensus_score. Hochreiter et al. 2010, doi:10.1093/bioinformatics/btq227.
    """
    jaccard = comparison.jaccard("cells")
    return _matching(jaccard) / max(len(comparison.found), len(comparison.truth))


@external("ce", "CE similarity",
    "Share of the covered values in the best one-to-one matching (1 minus the clustering error).",
    _PATRIKAINEN)  # fmt: skip
def clustering_error(comparison: Comparison) -> float:
    """CE as a similarity (1 − clustering error): cells of the best one-to-one matching over Σ max(N_found, N_truth).

    N counts how often a cell is covered. In [0, 1]. Patrikainen & Meilă 2006, doi:10.1109/TKDE.2006.106.
    """
    found, truth, cells = comparison.cover
    most = float(np.maximum(found, truth) @ cells)
    return _matching(comparison.shared_cells) / most


@external("rnia", "RNIA similarity",
    "Share of the covered values both solutions cover equally often; who covers them does not matter.",
    _PATRIKAINEN)  # fmt: skip
def rnia(comparison: Comparison) -> float:
    """Relative non-intersecting area as a similarity: Σ min(N_found, N_truth)/Σ max(N_found, N_truth) over cells.

    In [0, 1]; the multiset version. Patrikainen & Meilă 2006, doi:10.1109/TKDE.2006.106.
    """
    found, truth, cells = comparison.cover
    return float(np.minimum(found, truth) @ cells) / float(np.maximum(found, truth) @ cells)


@external("e4sc", "E4SC",
    "Harmonic mean of how well true biclusters are found and found ones are true, by F1 on cells.",
    "Günnemann et al. 2011, doi:10.1145/2063576.2063774")  # fmt: skip
def e4sc(comparison: Comparison) -> float:
    """E4SC: harmonic mean of the mean best F1 of true biclusters and that of found ones, on cells.

    In [0, 1]; 0 if there is no common cell. Günnemann et al. 2011, doi:10.1145/2063576.2063774.
    """
    f1 = 2 * comparison.shared_cells / sum(comparison.sizes("cells"))
    precision, recall = float(f1.max(axis=1).mean()), float(f1.max(axis=0).mean())
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


@external("csi", "Campello soft index", "Agreement over pairs of values on how many biclusters they share.",
    "Campello 2010, Generalized external indexes, Pattern Recognition Letters 31:966-975",
    needs_shape=True)  # fmt: skip
def campello_soft_index(comparison: Comparison) -> float:
    """Campello's soft index on cells; a cell in no bicluster is a cluster of its own.

    agree = Σ over pairs of cells of min(α, α') + (N − 1)·Σ over cells of min(β, β'), α the number of common
    biclusters, β the number of memberships less one; disagree the same with absolute differences;
    CSI = agree/(agree + disagree). In [0, 1]. Campello 2010, Pattern
    Recognition Letters 31:966–975.
    """
    pairs = comparison.pairs
    agree = pairs.least_common
    # |α − α'| = α + α' − 2·min(α, α')
    disagree = sum(_total(counted) for counted in pairs.common) - 2 * agree
    found_cover, truth_cover, cells = comparison.cover
    found_extra, truth_extra = np.maximum(found_cover - 1, 0), np.maximum(truth_cover - 1, 0)
    agree += (comparison.n_cells - 1) * float(np.minimum(found_extra, truth_extra) @ cells)
    disagree += (comparison.n_cells - 1) * float(np.abs(found_extra - truth_extra) @ cells)
    return agree / (agree + disagree) if agree + disagree else 1.0


def generalised_rand_index(comparison: Comparison) -> tuple[float, float]:
    """13GRI and its chance-adjusted form 13AGRI on cells; a cell in no bicluster is a cluster of its own.

    For each pair of cells J = number of common biclusters and S = m_i·m_j − J, m the numbers of memberships;
    GRI = (Σ min(J, J') + Σ min(S, S'))/max(Σ(J + S), Σ(J' + S')), AGRI = (GRI − E)/(1 − E) with E the mean of GRI
    over all ways of pairing up the values. GRI in [0, 1]; AGRI ≤ 1 and 0 by chance. Horta & Campello 2015,
    Comparing hard and overlapping clusterings, JMLR 16:2949–2997.
    """
    pairs = comparison.pairs
    most = max(_total(j) + _total(s) for j, s in zip(pairs.common, pairs.apart, strict=True))
    if most == 0:
        return 1.0, 1.0
    gri = (pairs.least_common + pairs.least_apart) / most
    expected = (_mean_minimum(*pairs.common) + _mean_minimum(*pairs.apart)) / most
    if expected == 1:
        return gri, 1.0 if gri == 1 else float("nan")
    return gri, (gri - expected) / (1 - expected)


@external("agri", "13AGRI", "Chance-adjusted agreement over pairs of values: 0 is what chance gives.",
    "Horta & Campello 2015, JMLR 16:2949-2997", range=_BELOW_ONE, needs_shape=True)  # fmt: skip
def adjusted_generalised_rand_index(comparison: Comparison) -> float:
    """13AGRI of :func:`generalised_rand_index`: ≤ 1, and 0 by chance."""
    return generalised_rand_index(comparison)[1]


@external("corrected_precision", "corrected precision",
    "Share of the found values that are true, corrected for the size of the truth.", _HANCZAR, range=_BELOW_ONE,
    needs_shape=True)  # fmt: skip
def corrected_precision(comparison: Comparison) -> float:
    """Share of the found cells that are true, corrected for size: (precision − |T|/N)/(1 − |T|/N), on cell unions.

    ≤ 1, and 0 on average for cells drawn at random; NaN if the truth covers every cell. Hanczar & Nadif 2013.
    """
    both, found, truth = _unions(comparison)
    return _corrected(both / found, truth / comparison.n_cells)


@external("corrected_recall", "corrected recall",
    "Share of the true cells that were found, corrected for the size of what was found.", _HANCZAR, range=_BELOW_ONE,
    needs_shape=True)  # fmt: skip
def corrected_recall(comparison: Comparison) -> float:
    """Share of the true cells that were found, corrected for size: (recall − |F|/N)/(1 − |F|/N), on cell unions.

    ≤ 1, and 0 on average for cells drawn at random; NaN if the found solution covers every cell. Hanczar & Nadif
    2013.
    """
    both, found, truth = _unions(comparison)
    return _corrected(both / truth, found / comparison.n_cells)


def _corrected(value: float, by_chance: float) -> float:
    return (value - by_chance) / (1 - by_chance) if by_chance < 1 else float("nan")


def _unions(comparison: Comparison) -> tuple[float, float, float]:
    found, truth, cells = comparison.cover
    return tuple(float(cells[mask].sum()) for mask in ((found > 0) & (truth > 0), found > 0, truth > 0))  # type: ignore[return-value]


@external("jaccard_relevance", "cell Jaccard relevance", "How well each found bicluster matches some true one, on values.",
    "Eren et al. 2013, doi:10.1093/bib/bbs032")  # fmt: skip
def cell_jaccard_relevance(comparison: Comparison) -> float:
    """Mean over found biclusters of the best cell Jaccard index with a true one.

    In [0, 1]; duplicates are not penalised. Eren et al. 2013, doi:10.1093/bib/bbs032.
    """
    return float(comparison.jaccard("cells").max(axis=1).mean())


@external("jaccard_recovery", "cell Jaccard recovery", "How well each true bicluster is matched by some found one, on values.",
    "Eren et al. 2013, doi:10.1093/bib/bbs032")  # fmt: skip
def cell_jaccard_recovery(comparison: Comparison) -> float:
    """Mean over true biclusters of the best cell Jaccard index with a found one. In [0, 1].

    Eren et al. 2013, doi:10.1093/bib/bbs032.
    """
    return float(comparison.jaccard("cells").max(axis=0).mean())


@external("gri", "13GRI", "Generalised Rand index on values, before its correction for chance.",
    "Horta & Campello 2015, JMLR 16:2949-2997", needs_shape=True)  # fmt: skip
def rand_index(comparison: Comparison) -> float:
    """13GRI, the generalised Rand index on cells before its correction for chance. In [0, 1].

    Horta & Campello 2015, Comparing hard and overlapping clusterings, JMLR 16:2949–2997.
    """
    return generalised_rand_index(comparison)[0]


@external("cari", "CARI", "Adjusted Rand index of the two partitions of the values; 0 by chance.",
    "Robert, Vasseur & Brault 2021, doi:10.1007/s00357-020-09379-w", needs_shape=True, range=(-1.0, 1.0))  # fmt: skip
def coclustering_adjusted_rand_index(comparison: Comparison) -> float:
    """CARI: the adjusted Rand index of the two partitions of the cells into crossings of row and column classes.

    Rows that lie in the same biclusters form a class, and so do columns; rows and columns in none form one of their
    own. The contingency table of cells is the Kronecker product of those of rows and of columns, and is never built.
    ≤ 1, and 0 by chance; 1 where neither solution divides the matrix. Robert, Vasseur & Brault 2021,
    doi:10.1007/s00357-020-09379-w.
    """
    both = comparison.found, comparison.truth
    sides = ([solution.row_masks for solution in both], [solution.col_masks for solution in both])
    tables = [_contingency(*map(member_classes, masks)) for masks in sides]
    return adjusted_rand_index(tables, comparison.n_cells)


def adjusted_rand_index(tables: list[Any], n_cells: int) -> float:
    """Return CARI from the contingency tables of rows and of columns, found down and truth across."""
    both, found, truth = (
        _pairs_in([table if axis is None else table.sum(axis=axis) for table in tables], n_cells)
        for axis in (None, 1, 0)
    )
    every = n_cells * (n_cells - 1) / 2
    expected = found * truth / every if every else 0.0
    most = (found + truth) / 2
    return float((both - expected) / (most - expected)) if most != expected else 1.0


@external("mocice", "MOCICE-BCubed F1", "BCubed F1 on values that also checks which biclusters they share.",
    "Rosales-Méndez & Ramírez-Cruz 2015, arXiv:1512.00228")  # fmt: skip
def mocice_bcubed(comparison: Comparison) -> float:
    """MOCICE-BCubed F1: harmonic mean of precision and recall on cells, which also checks which biclusters they share.

    For two cells o, o' with C common found and L common true biclusters: Φ = mean over the common found of the best
    cell Jaccard index with a common true one; precision = min(C, L)·Φ/C, recall = min(C, L)·Φ/L (0 where L, or C, is
    0). Precision is averaged over the o' that share a found bicluster with o (o itself included), then over the cells
    that are in one; recall likewise with true ones. In [0, 1]. Rosales-Méndez & Ramírez-Cruz 2015, arXiv:1512.00228.
    """
    precision, recall = comparison.pairs.bcubed
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _contingency(one: Ints, other: Ints) -> Any:
    """Return how many rows, or columns, each two classes share, as a sparse table: there may be many classes."""
    from scipy.sparse import coo_array

    return coo_array((np.ones(len(one)), (one, other))).tocsr()


def _pairs_in(tables: list[Any], n_cells: int) -> float:
    """Return the number of pairs of cells in one cell of the Kronecker product of two tables of counts."""
    squares = float((tables[0] ** 2).sum()) * float((tables[1] ** 2).sum())
    return (squares - n_cells) / 2


def _matching(weights: Floats) -> float:
    from scipy.optimize import linear_sum_assignment

    return float(weights[linear_sum_assignment(weights, maximize=True)].sum())


def _total(counted: Floats) -> float:
    """Return the sum of values of which counts by value are given."""
    return float(np.arange(len(counted)) @ counted)


def _mean_minimum(a: Floats, b: Floats) -> float:
    """Sum over pairs of min(a, b), averaged over all ways of pairing two lists of values, given as counts by value."""
    at_least_a, at_least_b = (np.cumsum(counted[::-1])[::-1][1:] for counted in (a, b))
    common = min(len(at_least_a), len(at_least_b))
    return float(at_least_a[:common] @ at_least_b[:common] / a.sum())

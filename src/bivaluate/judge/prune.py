"""Advice on redundancy: which biclusters to drop, which to merge, and why, in a sentence each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bivaluate._check import check_choice, check_real
from bivaluate._errors import MatrixError
from bivaluate._text import listing, percent, plural
from bivaluate.chance.assumptions import SMOOTHNESS, TAILS, broken_assumptions, prepared
from bivaluate.chance.evidence import Evidence, evidence_table
from bivaluate.chance.scores import adjusted_error
from bivaluate.judge.findings import adding_nothing, smooth_cut
from bivaluate.judge.limits import EVIDENCE_CUT, is_duplicate, is_noise
from bivaluate.judge.redundancy import (
    Merging,
    RedundantGroup,
    costs_nothing,
    groups_among,
    groups_of,
    is_coherent,
    relations,
    union_of,
)
from bivaluate.matrix import Matrix
from bivaluate.measures._blocks import block_values_missing
from bivaluate.measures._mergers import errors_of_one
from bivaluate.measures.cover import Cover, cell_jaccard, jaccard_index
from bivaluate.measures.registry import get_metric, symbol
from bivaluate.measures.workspace import Workspace
from bivaluate.solution import Bicluster, Biclustering, check_solution

Masks = NDArray[np.bool_]

SHOWN = (
    "n_biclusters",
    "n_paying",
    "total_evidence",
    "coverage",
    "redundancy",
    "avg_ve",
    "nve",
    "nve_cov",
    "avg_ave_centred",
    "cc",
)


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
    groups
        The redundant groups of the solution given, by name: those that the findings of :func:`bivaluate.evaluate` and
        the report name, by the same rule.
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
    cautions
        What to distrust, a sentence each: assumptions the data break, and scores the changes make worse.
    """

    groups: tuple[tuple[str, ...], ...]
    proposals: tuple[Proposal, ...]
    solution: Biclustering
    names: tuple[str, ...]
    before: dict[str, float]
    after: dict[str, float]
    cut: float
    cautions: tuple[str, ...] = ()

    def __repr__(self) -> str:
        proposed = plural(len(self.proposals), "proposal")
        return f"Pruning({proposed}: {plural(int(self.before['n_biclusters']), 'bicluster')} to {len(self.solution)})"


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
    missing: str = "raise",
    progress: Callable[[int, int], None] | None = None,
) -> Pruning:
    """Propose drops and mergers, and say why.

    Two questions, in this order. Repeats: biclusters that :func:`bivaluate.judge.redundancy.redundant_groups` calls
    redundant, which are duplicates (the less coherent one goes) or one pattern in pieces (they are merged if the
    union of rows and columns costs nothing either, and saves no less than a part that pays); asked again after every
    change. Noise: biclusters that
    save nothing under any kind of pattern (see :func:`bivaluate.evidence_table`) and whose chance-corrected error aVE
    reaches `cut`, so that a search through noise of this size finds as much; one that pays is never dropped. Nothing
    is changed in the solution given; blocks with one row or one column have an aVE of 1.

    Parameters
    ----------
    X : array-like, DataFrame or Matrix
        Data matrix.
    solution : Biclustering
        The biclusters.
    keep_weak : bool
        Do not drop biclusters for being no better than search noise.
    cut : float
        The aVE at or above which a bicluster counts as noise.
    centre, normalise : str
        How the data are prepared for aVE; see :func:`bivaluate.chance_table`.
    ordered_columns : bool
        Columns are ordered (time, dose): refit the cut on phase-randomised surrogates, which takes seconds.
    null_runs : int
        Number of surrogates for that.
    random_state : int, optional
        Seed of the surrogates.
    missing : {"raise", "omit"}, default="raise"
        Whether missing cells (NaN) are refused or left out, as in :func:`bivaluate.evaluate`. Surrogates need all.
    progress : callable, optional
        Called with (changes, biclusters at the start) as changes are proposed.

    Returns
    -------
    Pruning
        The proposals, the solution after all of them, and scores before and after.

    Raises
    ------
    MatrixError, SolutionError, ParameterError
        If the data, the biclusters or an option cannot be used.

    See Also
    --------
    evaluate : Score a solution.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 20))
    >>> X[:20, :10] = rng.normal(size=10) * 3 + 0.3 * rng.normal(size=(20, 10))
    >>> S = Biclustering([(range(10), range(10)), (range(8, 20), range(10)), (range(30, 40), range(5, 12))], X.shape)
    >>> advice = propose_pruning(X, S)
    >>> advice
    Pruning(2 proposals: 3 biclusters to 1)
    >>> [(p.kind, p.biclusters) for p in advice.proposals]
    [('merge', ('B1', 'B2')), ('drop', ('B3',))]
    >>> advice.names
    ('B1+B2',)
    """
    check_real("cut", cut, 0.0)
    check_choice("missing", missing, ("raise", "omit"))
    matrix = Matrix.of(X, missing).settled()
    if ordered_columns and matrix.has_missing:
        raise MatrixError(
            "Ordered columns are compared with surrogates, which need every cell: impute the missing ones."
        )
    seen = prepared(matrix, centre, normalise)
    solution = check_solution(solution).with_shape(matrix.shape)
    if ordered_columns:
        cut = min(cut, smooth_cut(seen.values, solution, null_runs, random_state))
    pool = _Pool(matrix, solution, missing)
    given = pool.workspace
    broken = broken_assumptions(seen, solution, matrix)
    groups = _named_groups(pool)
    proposals = _repeats(pool, merge=TAILS not in broken, progress=progress)
    left = _named_groups(pool)
    pool.settle()
    if not keep_weak:
        proposals += _noise(pool, seen, cut)
    pruned = Biclustering(
        pool.biclusters,
        solution.shape,
        info={**solution.info, "made_of": list(pool.names), "pruning": [p.reason for p in proposals]},
    )
    final = pool.score(pruned) if proposals else given
    before, after = (_scores(side) for side in (given, final))
    settled = SMOOTHNESS if ordered_columns else None
    cautions = [text for about, text in broken.items() if about != settled]
    if TAILS in broken:
        cautions.append("With values this skewed, mergers look free when they are not: none is proposed.")
    elif left:
        which = "; ".join(listing(group) for group in left)
        cautions.append(
            f"Redundant, but not merged, because the union would be less coherent, save less, or be no better than noise: "
            f"{which}."
        )
    kept = adding_nothing(final, pool.names, groups_of(final)) if len(pruned) else []
    cautions += [f"{sentence} It is kept." for sentence in kept]
    cautions += made_worse(before, after) if proposals else []
    return Pruning(groups, tuple(proposals), pruned, tuple(pool.names), before, after, cut, tuple(cautions))


def made_worse(before: dict[str, float], after: dict[str, float]) -> list[str]:
    """Say so where every score that has a direction, and changes, gets worse."""
    changed = [key for key in before if get_metric(key).direction != "none" and after[key] != before[key]]
    signs = {key: 1 if get_metric(key).direction == "high" else -1 for key in changed}
    worse = [key for key in changed if signs[key] * (after[key] - before[key]) < 0]
    return ["These changes make every score worse: keep the solution as it is."] if worse and worse == changed else []


class _Pool:
    """Biclusters still in play, with their names and who is redundant with whom.

    One that is gone keeps its place until `settle`, so that nothing else has to move.
    """

    def __init__(self, matrix: Matrix, solution: Biclustering, missing: str) -> None:
        self.matrix, self.missing = matrix, missing
        self.biclusters: list[Bicluster] = list(solution)
        self.names = [f"B{k + 1}" for k in range(len(solution))]
        self.alive = np.ones(len(solution), dtype=np.bool_)
        self.workspace = self.score(solution)
        self._known: _Known | None = None
        self._groups: list[RedundantGroup] | None = None
        self._changed = False

    def score(self, solution: Biclustering) -> Workspace:
        """Return a solution of the matrix with all that can be computed of it."""
        return Workspace.of(self.matrix, solution, missing=self.missing)

    def evidence(self, solution: Biclustering) -> Evidence:
        """Return what each bicluster of a solution of the matrix saves."""
        return evidence_table(self.matrix, solution, missing=self.missing)

    def settle(self) -> Workspace:
        """Forget what is gone, and return the biclusters as they stand with all that can be computed of them."""
        if self._changed:
            left = np.flatnonzero(self.alive).tolist()
            self.biclusters, self.names = [self.biclusters[k] for k in left], [self.names[k] for k in left]
            self.alive = np.ones(len(left), dtype=np.bool_)
            self.workspace = self.score(Biclustering(self.biclusters, self.matrix.shape))
            self._known, self._groups, self._changed = None, None, False
        return self.workspace

    @property
    def known(self) -> _Known:
        """Return what is known of every two."""
        if self._known is None:
            self._known = _Known.of(self.settle(), self.matrix)
        return self._known

    def redundant(self) -> list[RedundantGroup]:
        """Return the redundant groups of the biclusters as they stand."""
        if self._groups is None:
            known = self.known
            self._groups = groups_among(known.related, known.duplicates) if len(self.biclusters) > 1 else []
        return self._groups

    def error(self, bicluster: Bicluster) -> float:
        """Return VE."""
        return block_values_missing(self.matrix.block(bicluster.rows, bicluster.cols))[0]

    def adjusted(self, *biclusters: Bicluster) -> list[float]:
        """Return aVE of each."""
        return [adjusted_error(self.matrix.block(b.rows, b.cols), self.matrix.shape) for b in biclusters]

    def replace(self, gone: int, place: int, bicluster: Bicluster, name: str) -> None:
        """Put one bicluster in place of two."""
        changed = bicluster is not self.biclusters[place]
        self.biclusters[place], self.names[place] = bicluster, name
        self.alive[gone] = False
        self._groups, self._changed = None, True
        if changed and not self.matrix.in_memory:
            self._known = None  # all are computed again: a pass over the rows gives one as well as all
        elif self._known is not None:
            self._known.forget(gone)
            if changed:
                self._known.change(place, bicluster, self.alive)


@dataclass
class _Known:
    """What is known of biclusters one by one, and of every two of them."""

    merging: Merging
    row_masks: Masks
    col_masks: Masks
    shapes: NDArray[np.int64]
    ve: NDArray[np.float64]
    shared: NDArray[np.int64]
    related: Masks
    duplicates: Masks

    @classmethod
    def of(cls, workspace: Workspace, matrix: Matrix) -> _Known:
        """Return all that is known of a solution."""
        solution, merged = workspace.solution, workspace.merged_ve
        merging = Merging(matrix, solution, list(solution))
        shapes = np.array([b.shape for b in solution]).reshape(-1, 2)
        ve, shared = np.diagonal(merged).copy(), Cover(solution).intersections
        everyone = np.arange(len(solution))
        related, duplicates = relations(merged, ve, shapes, shared, merging, everyone)
        masks = solution.row_masks, solution.col_masks
        return cls(merging, *masks, shapes, ve, shared, related, duplicates)

    def forget(self, gone: int) -> None:
        """Nobody is redundant with one that is gone."""
        for matrix in (self.related, self.duplicates):
            matrix[gone, :] = matrix[:, gone] = False

    def change(self, place: int, bicluster: Bicluster, alive: Masks) -> None:
        """Compute again what a changed bicluster changes."""
        for masks, members in ((self.row_masks, bicluster.rows), (self.col_masks, bicluster.cols)):
            masks[place] = False
            masks[place, members] = True
        self.merging.biclusters[place] = bicluster
        self.shapes[place] = bicluster.shape
        others = np.flatnonzero(alive)
        merged = np.full(len(alive), np.nan)
        merged[others] = errors_of_one(self.merging.matrix, self.row_masks, self.col_masks, place, others)
        self.ve[place] = merged[place]
        shared = (self.row_masks & self.row_masks[place]).sum(axis=1)
        shared *= (self.col_masks & self.col_masks[place]).sum(axis=1)
        self.shared[place] = self.shared[:, place] = shared
        line = np.array([place])
        lines = relations(merged[np.newaxis], self.ve, self.shapes, shared[np.newaxis], self.merging, line)
        for matrix, found in zip((self.related, self.duplicates), lines, strict=True):
            matrix[place] = matrix[:, place] = found[0] & alive


def _repeats(pool: _Pool, merge: bool, progress: Callable[[int, int], None] | None) -> list[Proposal]:
    """Drop duplicates and merge what repeats one pattern, group by group, until nothing is redundant."""
    proposals: list[Proposal] = []
    refused: set[frozenset[str]] = set()
    given = len(pool.names)
    while pool.alive.sum() > 1:
        for pair in _pairs(pool):
            if _key(pool, pair) in refused:
                continue
            proposal = _join(pool, *pair, merge=merge)
            if proposal is not None:
                proposals.append(proposal)
                if progress is not None:
                    progress(len(proposals), given)
                break
            refused.add(_key(pool, pair))
        else:
            return proposals
    return proposals


def _named_groups(pool: _Pool) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(pool.names[k] for k in group.members) for group in pool.redundant())


def _key(pool: _Pool, pair: tuple[int, int]) -> frozenset[str]:
    return frozenset(pool.names[k] for k in pair)


def _pairs(pool: _Pool) -> Iterator[tuple[int, int]]:
    """Yield the pairs of the redundant groups, group by group, those that share most cells first."""
    for group in pool.redundant():
        one, other = np.array(group.members)[np.array(np.triu_indices(len(group.members), 1))]
        sizes = pool.known.shapes.prod(axis=1)
        likeness = jaccard_index(pool.known.shared[one, other], sizes[one], sizes[other])
        for at in np.argsort(-likeness, kind="stable").tolist():
            yield int(one[at]), int(other[at])


def _join(pool: _Pool, a: int, b: int, *, merge: bool) -> Proposal | None:
    """Make one bicluster of two redundant ones; None if they may not merge, or their union is worse than they are."""
    one, other = pool.biclusters[a], pool.biclusters[b]
    likeness = cell_jaccard(one, other)
    if is_duplicate(likeness):
        adjusted = pool.adjusted(one, other)
        worse, better = (a, b) if adjusted[0] > adjusted[1] else (b, a)
        gone, kept = pool.names[worse], pool.names[better]
        how = "is the same as" if likeness == 1 else f"shares {percent(likeness)} of its cells with"
        reason = (
            f"Drop {gone}: it {how} {kept}, which is {'just as' if adjusted[0] == adjusted[1] else 'more'} coherent "
            f"({symbol('ave')} {min(adjusted):.3f} against {max(adjusted):.3f})."
        )
        pool.replace(worse, better, pool.biclusters[better], kept)
        return Proposal("drop", (gone,), reason)
    if not merge:
        return None
    errors = (pool.error(one), pool.error(other))
    union = union_of(one, other)
    together = pool.error(union)
    if pool.known.merging.costs([(a, b)], np.array([together]))[0]:
        return None
    if union in (one, other):
        inner, outer = (a, b) if union == other else (b, a)
        gone, kept = pool.names[inner], pool.names[outer]
        values = pool.adjusted(one, other) if union == one else pool.adjusted(other, one)
        reason = (
            f"Drop {gone}: it lies within {kept}, which is at least as coherent for its size "
            f"({symbol('ave')} {values[0]:.3f} against {values[1]:.3f})."
        )
        pool.replace(inner, outer, union, kept)
        return Proposal("drop", (gone,), reason)
    if not (costs_nothing(together, sum(errors) / 2) and is_coherent(np.array(together), *union.shape)):
        return None
    names = (pool.names[a], pool.names[b])
    reason = (
        f"Merge {names[0]} and {names[1]} into {union.shape[0]} x {union.shape[1]}: together they are as coherent as "
        f"either alone ({symbol('ve')} {together:.3f}; apart {errors[0]:.3f} and {errors[1]:.3f})."
    )
    pool.replace(b, a, union, "+".join(names))
    return Proposal("merge", names, reason)


def _noise(pool: _Pool, seen: Matrix, cut: float) -> list[Proposal]:
    """Drop biclusters that save nothing under any kind of pattern and are no more coherent than what noise gives."""
    evidence = pool.evidence(pool.settle().solution)
    adjusted = [adjusted_error(seen.block(b.rows, b.cols), pool.matrix.shape) for b in pool.biclusters]
    proposals = []
    for k in np.flatnonzero(is_noise(evidence, adjusted, cut))[::-1].tolist():
        rows, cols = pool.biclusters[k].shape
        if min(rows, cols) < 2:
            why = f"it has {plural(rows, 'row')} and {plural(cols, 'column')}, so coherence is not defined"
        else:
            saves = evidence.reasons[k] or f"evidence {evidence.alone[k]:.3g} nats on its own"
            why = (
                f"searching noise of this size finds {rows} x {cols} blocks as coherent ({symbol('ave')} {adjusted[k]:.3f}; "
                f"below {cut:.2f} would count as evidence), and it shows no other pattern ({saves})"
            )
        proposals.append(Proposal("drop", (pool.names[k],), f"Drop {pool.names[k]}: {why}."))
        del pool.biclusters[k], pool.names[k]
    return proposals[::-1]


def _scores(workspace: Workspace) -> dict[str, float]:
    return {key: float(get_metric(key).compute(workspace)) for key in SHOWN}

"""Advice on what to leave out: biclusters that are redundant or not supported, and why, in a sentence each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from bivaluate._check import check_choice
from bivaluate._text import listing, plural
from bivaluate.chance.evidence import NOT_SUPPORTED, REDUNDANT, TOO_SMALL, evidence_scores, union_of
from bivaluate.judge.redundancy import BETWEEN, as_a_whole, evidence_rows, redundant_groups
from bivaluate.judge.verdict import WORDS, to_merge, why
from bivaluate.matrix import Matrix
from bivaluate.measures.workspace import Workspace
from bivaluate.registry import get_metric
from bivaluate.solution import Bicluster, Biclustering, check_solution

_COUNTED = ("n_biclusters", "n_supported", "total_evidence", "supported_coverage", "coverage", "redundancy")
Rows = list[dict[str, Any]]
SHOWN = (*_COUNTED, "avg_ve", "nve", "nve_cov")


@dataclass(frozen=True)
class Proposal:
    """One change: `action` is ``"drop"`` or ``"merge"``, `biclusters` the names concerned, `reason` a sentence."""

    action: str
    biclusters: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class Pruning:
    """What :func:`propose_pruning` returns."""

    groups: tuple[tuple[str, ...], ...]
    proposals: tuple[Proposal, ...]
    solution: Biclustering
    names: tuple[str, ...]
    before: dict[str, float]
    after: dict[str, float]
    too_small: tuple[str, ...] = ()

    def __repr__(self) -> str:
        proposed = plural(len(self.proposals), "proposal")
        return f"Pruning({proposed}: {plural(int(self.before['n_biclusters']), 'bicluster')} to {len(self.solution)})"


def propose_pruning(
    X: Any,
    solution: Biclustering,
    *,
    keep_weak: bool = False,
    missing: str = "raise",
    progress: Callable[[int, int], None] | None = None,
) -> Pruning:
    """Propose which biclusters to merge or leave out, and say why.

    The verdicts of :func:`bivaluate.evaluate` decide: two biclusters that one explains as well as two are merged, what
    is redundant or not supported is left out, and this is repeated until every bicluster is supported or too small to
    judge. What is too small is never left out; a partition that is supported as a whole is kept. The solution given is
    not changed.

    Parameters
    ----------
    X : array-like, DataFrame or Matrix
        Data matrix.
    solution : Biclustering
        The biclusters.
    keep_weak : bool
        Keep biclusters that are not supported.
    missing : {"raise", "omit"}, default="raise"
        Whether missing cells (NaN) are refused or left out, as in :func:`bivaluate.evaluate`.
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
    evaluate

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 20))
    >>> X[:20, :10] += rng.normal(size=10) * 3
    >>> S = Biclustering([(range(10), range(10)), (range(8, 20), range(10)), (range(30, 40), range(5, 12))], X.shape)
    >>> advice = propose_pruning(X, S)
    >>> advice
    Pruning(2 proposals: 3 biclusters to 1)
    >>> [(p.action, p.biclusters) for p in advice.proposals]
    [('merge', ('B1', 'B2')), ('drop', ('B3',))]
    >>> advice.names
    ('B1+B2',)
    """
    check_choice("missing", missing, ("raise", "omit"))
    matrix = Matrix.of(X, missing).settled()
    solution = check_solution(solution, matrix=matrix)
    work = given = Workspace.of(matrix, solution, missing=missing)
    pool = dict(zip(solution.names, solution, strict=True))
    rows = _rows(pool, work)
    groups = [tuple(str(rows[k]["bicluster"]) for k in group.members) for group in redundant_groups(rows)]
    proposals: list[Proposal] = []
    unwanted = {REDUNDANT} if keep_weak else {REDUNDANT, NOT_SUPPORTED}
    first = {str(row["bicluster"]): row for row in rows if row["verdict"] in unwanted}
    while changes := [] if as_a_whole(rows) else _changes(pool, rows, unwanted, first):
        proposals += changes
        if progress is not None:
            progress(len(proposals), len(solution))
        work = Workspace.of(matrix, Biclustering(list(pool.values()), matrix.shape), missing=missing)
        rows = _rows(pool, work)
    more = {"made_of": list(pool), "pruning": [p.reason for p in proposals]}
    pruned = Biclustering(list(pool.values()), solution.shape, info={**solution.info, **more})
    small = tuple(str(row["bicluster"]) for row in rows if row["verdict"] == TOO_SMALL)
    return Pruning(tuple(groups), tuple(proposals), pruned, tuple(pool), _scores(given), _scores(work), small)


def _rows(pool: dict[str, Bicluster], work: Workspace) -> Rows:
    rows = evidence_rows(evidence_scores(work), work.cover, list(pool))
    return [{"bicluster": name, **row} for name, row in zip(pool, rows, strict=True)]


def _changes(pool: dict[str, Bicluster], rows: Rows, unwanted: set[str], first: dict[str, Any]) -> list[Proposal]:
    """Make one round of changes in the pool: mergers where there are any, otherwise drops.

    What is unwanted in the solution given (`first`) has the reason and the evidence that it has there.
    """
    found, touched, order = [], set[str](), list(pool)
    for row in filter(to_merge, rows):
        pair = sorted((row["bicluster"], row["redundant_with"].split(BETWEEN)[0]), key=order.index)
        if not touched & {*pair}:
            touched |= {*pair}
            found.append(_merge(pool, *pair))
    for row in [] if found else rows:
        if row["verdict"] in unwanted:
            name = str(row["bicluster"])
            del pool[name]
            known, then = first.get(name, row), "" if name in first else "after that "
            reason = f"Drop {name}: {then}it is {WORDS[known['verdict']]} ({why(known)})."
            found.append(Proposal("drop", (name,), reason))
    return found


def _merge(pool: dict[str, Bicluster], one: str, other: str) -> Proposal:
    """Put the union of two biclusters in place of the first."""
    name = f"{one}+{other}"
    union = replace(union_of(pool[one], pool[other]), name=name if pool[one].name or pool[other].name else "")
    kept = {name if key == one else key: union if key == one else block for key, block in pool.items() if key != other}
    pool.clear()
    pool.update(kept)
    size = " × ".join(map(str, union.shape))
    reason = f"Merge {listing([one, other])} into {size}: one bicluster explains both as well as two."
    return Proposal("merge", (one, other), reason)


def _scores(workspace: Workspace) -> dict[str, float]:
    return {key: float(get_metric(key).compute(workspace)) for key in SHOWN}

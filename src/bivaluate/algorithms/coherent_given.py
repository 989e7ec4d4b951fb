"""What the coherent submatrix search says about given biclusters: their evidence, and what climbing makes of them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from bivaluate._check import check_choice, check_int, check_real, check_values
from bivaluate._errors import SearchWarning, SolutionError
from bivaluate._parallel import Workers, one_thread
from bivaluate.algorithms._coherent_background import MOST_PATTERNS, Background, background_beside, take_out
from bivaluate.algorithms._coherent_field import fit, kind_of
from bivaluate.algorithms._coherent_prepare import Admitted, admit
from bivaluate.algorithms._coherent_refine import Scored, refine
from bivaluate.algorithms._coherent_search import FEWEST_COLS, Search, as_masks, usual_starts
from bivaluate.algorithms._estimator import Pair, Values
from bivaluate.matrix import Matrix
from bivaluate.solution import Biclustering

# A given bicluster counts as changed into a found one from this share of its cells on.
SUCCESSOR = 0.1


@dataclass(frozen=True)
class BlockEvidence:
    """Evidence S of a bicluster in nats and its kind; S is NaN, with a reason, where it is not defined."""

    evidence: float
    kind: str
    reason: str = ""


@dataclass(frozen=True)
class Refined:
    """What climbing made of given biclusters: the new ones, their evidence and kinds, and a sentence on each change."""

    solution: Biclustering
    evidence: Values
    kinds: list[str]
    changes: list[str]


def evidence_of(X: Any, solution: Biclustering, *, missing: str = "raise") -> list[BlockEvidence]:
    """Return the evidence of given biclusters, each judged by itself.

    Parameters
    ----------
    X : array-like or Matrix of shape (n_rows, n_cols)
        The data.
    solution : Biclustering
        The biclusters.
    missing : {"raise", "omit"}, default="raise"
        What to do about NaN: an error, or leave these cells out.

    Returns
    -------
    list of BlockEvidence
        One per bicluster. e^-S bounds the probability that noise holds such a block, whoever chose it and how.

    Raises
    ------
    MatrixError
        If `X` has infinite cells, or missing ones with ``missing="raise"``.
    SolutionError
        If the biclusters do not fit the matrix.

    See Also
    --------
    climb_from : Biclusters with more evidence nearby.
    bivaluate.evidence_table : The evidence of the report, a measure of its own.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 20))
    >>> X[:20, :8] = rng.normal(size=(20, 1)) + 2 * rng.normal(size=8) + 0.3 * rng.normal(size=(20, 8))
    >>> both = Biclustering([(range(20), range(8)), (range(30, 50), range(8))], X.shape)
    >>> planted, noise = evidence_of(X, both)
    >>> planted.evidence > 100, planted.kind, noise.evidence < 0
    (True, 'additive', True)
    """
    _, admitted, blocks = _given(X, solution, missing, min_rows=3)
    if admitted.Z is None or admitted.unbent is None:
        return [BlockEvidence(np.nan, "", admitted.reason) for _ in solution]
    n = len(admitted.Z)
    with one_thread(), Workers(1, 0) as workers:
        search = Search(usual_starts(n), 5.0, 3, n // 2, workers)
        large = [block for block in blocks if _scorable(block)]
        background = background_beside(admitted.Z, admitted.unbent, search, large)
    out = []
    for block in blocks:
        if not _scorable(block):
            out.append(BlockEvidence(np.nan, "", "At least two rows and two columns that vary are needed."))
            continue
        model = fit(background.field, *block)
        out.append(BlockEvidence(model.score, kind_of(model)))
    return out


def climb_from(
    X: Any,
    solution: Biclustering,
    *,
    min_evidence: float = 5.0,
    min_rows: int = 4,
    missing: str = "raise",
    n_jobs: int | None = None,
) -> Refined:
    """Polish given biclusters: climb from each, drop what does not pay, merge those that are one.

    Parameters
    ----------
    X : array-like or Matrix of shape (n_rows, n_cols)
        The data.
    solution : Biclustering
        The biclusters to start from, from whatever source.
    min_evidence : float, default=5.0
        Evidence S, in nats, a bicluster must exceed to stay.
    min_rows : int, default=4
        Fewest rows of a bicluster, at least 3.
    missing : {"raise", "omit"}, default="raise"
        What to do about NaN: an error, or leave these cells out.
    n_jobs : int or None, default=None
        Threads; the answer never depends on it.

    Returns
    -------
    Refined
        The new solution, best first, and a sentence on how every given bicluster changed.

    Raises
    ------
    MatrixError
        If `X` has infinite cells, or missing ones with ``missing="raise"``.
    SolutionError
        If the biclusters do not fit the matrix.

    Warns
    -----
    SearchWarning
        If the search cannot work on this matrix; then the solution is returned as it is.

    See Also
    --------
    evidence_of : The evidence of biclusters as they are.
    CoherentSubmatrices : Finds biclusters without being given any.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 20))
    >>> X[:20, :8] = rng.normal(size=(20, 1)) + 2 * rng.normal(size=8) + 0.3 * rng.normal(size=(20, 8))
    >>> rough = Biclustering([(range(4, 24), range(6)), (range(40, 60), range(10, 15))], X.shape)
    >>> refined = climb_from(X, rough)
    >>> refined.solution[0].shape
    (20, 8)
    >>> refined.changes[0]
    'B1 (20 x 6) is now B1 (20 x 8).'
    """
    check_real("min_evidence", min_evidence, minimum=0)
    check_int("min_rows", min_rows, minimum=3)
    values, admitted, blocks = _given(X, solution, missing, min_rows)
    if admitted.Z is None or admitted.unbent is None:
        warnings.warn(admitted.reason.replace("Nothing is found", "Nothing is changed"), SearchWarning, stacklevel=2)
        return Refined(solution, np.full(len(solution), np.nan), [""] * len(solution), [])
    Z = admitted.Z
    large = [block for block in blocks if _scorable(block)]
    starts = usual_starts(len(Z))
    with one_thread(), Workers(n_jobs, Z.size * len(large) * 100) as workers:
        search = Search(starts, float(min_evidence), min_rows, len(Z) // 2, workers)
        background, peeled = _climbed(search, Z, admitted.unbent, large)
        kept = refine(search, background.field, peeled)
    models = [fit(background.field, *pair) for _, pair in kept]
    pairs = [(admitted.rows[rows], admitted.cols[cols]) for _, (rows, cols) in kept]
    refined = Biclustering(pairs, values.shape, info={**solution.info, "refined": True})
    return Refined(
        refined,
        np.array([score for score, _ in kept], dtype=np.float64),
        [kind_of(model) for model in models],
        _changes(solution, refined, min_evidence),
    )


def _climbed(search: Search, Z: Values, unbent: Values, blocks: list[Pair]) -> tuple[Background, list[Scored]]:
    """Return the background, without patterns common to half of all rows, and what climbs from the blocks reach."""
    for patterns in range(MOST_PATTERNS + 1):
        background = background_beside(Z, unbent, search, blocks)
        found = search.climb(background.field, *as_masks(blocks, Z.shape))
        peeled: list[Scored] = []
        for score, pair in search.peel_candidates(background.copy(), found, max(len(blocks), 1)):
            if len(pair[0]) == search.most_rows and patterns < MOST_PATTERNS:
                Z, unbent = take_out(background, pair)
                break
            peeled.append((score, pair))
        else:
            break
    return background, peeled


def _given(X: Any, solution: Biclustering, missing: str, min_rows: int) -> tuple[Values, Admitted, list[Pair]]:
    """Return the checked values, what can be searched of them, and the biclusters in terms of that part."""
    check_choice("missing", missing, ("raise", "omit"))
    matrix = X if isinstance(X, Matrix) else None
    values = check_values(matrix.values if matrix is not None else X, missing=missing)
    if solution.shape is not None and tuple(solution.shape) != values.shape:
        raise SolutionError(
            f"the biclusters belong to a matrix of {solution.shape[0]} x {solution.shape[1]}, but X is "
            f"{values.shape[0]} x {values.shape[1]}: pass the matrix they were found in."
        )
    solution = solution.with_shape(values.shape)
    with one_thread():
        admitted = admit(values, min_rows)
    row_of = _positions(admitted.rows, values.shape[0])
    col_of = _positions(admitted.cols, values.shape[1])
    blocks = [(row_of[b.rows], col_of[b.cols]) for b in solution]
    return values, admitted, [(rows[rows >= 0], cols[cols >= 0]) for rows, cols in blocks]


def _positions(kept: Any, size: int) -> Any:
    """Return the place of every index among the kept ones, -1 for the others."""
    place = np.full(size, -1, dtype=np.int64)
    place[kept] = np.arange(len(kept))
    return place


def _scorable(block: Pair) -> bool:
    """Return whether a block is large enough to have a pattern."""
    return len(block[0]) >= 2 and len(block[1]) >= FEWEST_COLS


def _changes(before: Biclustering, after: Biclustering, min_evidence: float) -> list[str]:
    """Return a sentence on what became of every bicluster."""
    sentences = []
    heirs: list[int | None] = []
    for old in before:
        shared = [len(np.intersect1d(old.rows, new.rows)) * len(np.intersect1d(old.cols, new.cols)) for new in after]
        best = int(np.argmax(shared)) if shared else -1
        heirs.append(best if shared and shared[best] >= SUCCESSOR * old.size else None)
    for k, (old, heir) in enumerate(zip(before, heirs, strict=True)):
        name = f"B{k + 1} ({old.shape[0]} x {old.shape[1]})"
        if heir is None:
            sentences.append(f"{name} is dropped: nothing near it has evidence above {min_evidence:g} nats.")
            continue
        new = after[heir]
        shape = f"B{heir + 1} ({new.shape[0]} x {new.shape[1]})"
        others = [f"B{j + 1}" for j, other in enumerate(heirs) if other == heir and j != k]
        if old == new:
            sentences.append(f"{name} stays as it is, now B{heir + 1}.")
        elif others:
            sentences.append(f"{name} and {', '.join(others)} are now one, {shape}.")
        else:
            sentences.append(f"{name} is now {shape}.")
    return sentences

"""Refine biclusters: rows and columns join and leave one at a time, each only if the evidence of the solution grows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bivaluate._text import first_few
from bivaluate.chance.evidence import Evidence, evidence_table
from bivaluate.matrix import Matrix
from bivaluate.solution import Biclustering, check_solution
from bivaluate.sweep.portfolio import CENTRED, LOG, make_view, traits_of

Values = NDArray[np.float64]
Members = NDArray[np.int64]
Pair = tuple[Members, Members]
REFUSALS = 3  # rows or columns tried of each kind
CHANGED = 0.25  # the largest share of the rows, or columns, of a bicluster that changes
MOST_TRIALS, CELLS_OF_TRIALS = 400, 200_000_000
ROUNDS = 4  # of telling two blocks apart
FEWEST = 2  # rows or columns of a bicluster
LEAST_NOISE, FITTED = 0.1, 0.5  # variance; by how much a fitted level explains noise better, on average


@dataclass(frozen=True)
class Change:
    """A row or column that joined or left a bicluster, and by how much the evidence of the solution grew."""

    bicluster: int
    axis: int
    member: int
    joined: bool
    gain: float


@dataclass(frozen=True)
class Refined:
    """The refined solution, its evidence, and every change that was made; made by :func:`refine`.

    Parameters
    ----------
    solution, evidence, changes : Biclustering, Evidence, sequence of Change
        The biclusters after all changes, their evidence, and what joined or left which bicluster.

    See Also
    --------
    refine

    Examples
    --------
    >>> refined = refine(X, S, trials=0)
    """

    solution: Biclustering
    evidence: Evidence
    changes: Sequence[Change]

    def sentences(self, matrix: Matrix) -> list[str]:
        """Say for each bicluster which members joined and left, and what that gained.

        Parameters
        ----------
        matrix : Matrix
            The data, for the labels.

        Returns
        -------
        list of str
            A sentence per bicluster.

        Examples
        --------
        >>> refine(X, S, trials=0).sentences(Matrix.of(X))[0]
        'B1 stays as it is.'
        """
        said = []
        labels = (matrix.row_label, matrix.col_label)
        for k, name in enumerate(self.solution.names):
            mine = [change for change in self.changes if change.bicluster == k]
            parts = []
            for joined, verb in ((True, "gains"), (False, "loses")):
                for axis, nouns in enumerate(matrix.nouns):
                    who = [labels[axis](c.member) for c in mine if c.joined == joined and c.axis == axis]
                    if who:
                        noun = nouns.removesuffix("s") if len(who) == 1 else nouns
                        parts.append(f"{verb} {len(who):,} {noun} ({first_few(who, 4)})")
            gain = math.fsum(change.gain for change in mine)
            said.append(f"{name} {', '.join(parts)}: evidence +{gain:.3g}." if mine else f"{name} stays as it is.")
        return said


def refine(X: Any, solution: Biclustering, *, missing: str = "raise", trials: int | None = None) -> Refined:
    """Refine biclusters: let rows and columns join and leave one at a time where the evidence of the solution grows.

    Rows and columns are tried in the order in which they fit the pattern of the bicluster; whether a change is kept is
    decided by :func:`bivaluate.evidence_table` alone. Biclusters are neither added, dropped nor merged.

    Parameters
    ----------
    X, solution : array-like, DataFrame or Matrix, Biclustering
        The data, and the biclusters to start from.
    missing, trials : {"raise", "omit"}, int or None
        Whether missing cells are refused or left out; how many changes are tried (400, fewer in large matrices).

    Returns
    -------
    Refined
        The new solution, its evidence, and every change with its gain.

    Raises
    ------
    MatrixError, SolutionError
        If the data or the biclusters cannot be used.

    See Also
    --------
    bivaluate.find

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(80, 20))
    >>> X[:20, :8] += 3
    >>> refine(X, Biclustering([(range(2, 20), range(7))], X.shape)).solution[0].shape
    (20, 8)
    """
    return refine_some(Matrix.of(X, missing).settled(), solution, range(len(solution)), missing, trials)


def refine_some(
    matrix: Matrix, solution: Biclustering, which: Iterable[int], missing: str, trials: int | None
) -> Refined:
    """Refine some biclusters, the others staying as they are."""
    blocks = [(b.rows, b.cols) for b in check_solution(solution, matrix=matrix)]
    n, m = matrix.shape
    trials = min(MOST_TRIALS, max(CELLS_OF_TRIALS // (n * m), 10)) if trials is None else trials

    def judged() -> Evidence:
        return evidence_table(matrix, Biclustering(blocks, matrix.shape), missing=missing)

    now = judged()
    changes: list[Change] = []
    Z = _standardised(matrix) if trials > 0 and n * m <= CELLS_OF_TRIALS // 10 else np.zeros((0, 0))
    for k in sorted(which, key=lambda k: -np.nan_to_num(now.gain[k])):
        start, supported, refused = blocks[k], bool(now.gain[k] > 0), set[tuple[int, int]]()
        while Z.size and trials > 0:
            tried = [c for c in _candidates(Z, start, blocks[k], supported) if c[:2] not in refused]
            best: tuple[Change, Pair, Evidence] | None = None
            for axis, member, joined in tried:
                trials -= 1
                kept, blocks[k] = blocks[k], _changed(blocks[k], axis, member)
                then = judged()
                gain = float(then.gain[k] - now.gain[k])
                if not (gain > 0 and then.total >= now.total):
                    refused.add((axis, member))
                elif best is None or gain > best[0].gain:
                    best = Change(k, axis, member, joined, gain), blocks[k], then
                blocks[k] = kept
            if best is None:
                break
            change, blocks[k], now = best
            changes.append(change)
    info = {**solution.info, "refined": True} if changes else solution.info
    return Refined(Biclustering(blocks, matrix.shape, names=solution.names, info=info), now, changes)


def split(matrix: Matrix, solution: Biclustering, missing: str) -> Biclustering:
    """Return the biclusters, one that holds two blocks corner to corner as those two where that has more evidence."""
    n, m = matrix.shape
    Z = _standardised(matrix) if len(solution) and n * m <= CELLS_OF_TRIALS // 10 else np.zeros((0, 0))
    total = evidence_table(matrix, solution, missing=missing).total
    for k in reversed(range(len(solution) if Z.size else 0)):
        blocks = [(b.rows, b.cols) for b in solution]
        then = Biclustering([*blocks[:k], *_corners(Z, *blocks[k]), *blocks[k + 1 :]], matrix.shape, info=solution.info)
        found = evidence_table(matrix, then, missing=missing)
        if found.total > total and len(found.order) == len(then) > len(solution):
            solution, total = then, found.total
    return solution


def _corners(Z: Values, rows: Members, cols: Members) -> list[Pair]:
    """Return the two parts of a block that spectral co-clustering tells apart, if both have enough rows and columns.

    Every row and column is then put where its squares are larger.
    """
    squares = Z[np.ix_(rows, cols)] ** 2
    scale = [np.sqrt(np.maximum(squares.sum(axis=axis), 1e-12)) for axis in (1, 0)]
    left, _, right = np.linalg.svd(squares / np.outer(*scale), full_matrices=False)
    above, beside = left[:, :2][:, -1] > 0, right[:2][-1] > 0  # a single row or column has one vector, and no two parts
    for _ in range(ROUNDS):
        parts = [(rows[above], cols[beside]), (rows[~above], cols[~beside])]
        if min(len(lines) for part in parts for lines in part) < FEWEST:
            return []
        above = squares[:, beside].mean(axis=1) > squares[:, ~beside].mean(axis=1)
        if above.any() and not above.all():
            beside = squares[above].mean(axis=0) > squares[~above].mean(axis=0)
    return parts


def _standardised(matrix: Matrix) -> Values:
    """Return what row and column means leave, each row in units of its own spread, 0 where cells are missing."""
    dense = make_view(matrix, f"{LOG} {CENTRED}" if traits_of(matrix).view == LOG else CENTRED).values
    spread = dense.std(axis=1, keepdims=True)
    return np.asarray(dense / np.where(spread > 0, spread, 1.0))


def _changed(block: Pair, axis: int, member: int) -> Pair:
    """Return a block with one row or column more, or less if it is one of its own."""
    own = np.setxor1d(block[axis], [member])
    return (own, block[1]) if axis == 0 else (block[0], own)


def _candidates(Z: Values, start: Pair, block: Pair, supported: bool) -> Iterator[tuple[int, int, bool]]:
    """Yield the rows and columns most likely to join and to leave a block; more than a quarter would be another one.

    The pattern has to explain a joining one better than noise does, and noise one that leaves a supported bicluster.
    """
    for axis in (0, 1):
        lines, rest = block[axis], block[1 - axis]
        changed = len(np.setxor1d(start[axis], lines))
        fits = _fit(Z if axis == 0 else Z.T, lines, rest)
        inside = np.isin(np.arange(len(fits)), lines)
        for joined in (True, False):
            able = ~inside & (fits > 0) if joined else inside & ((fits <= FITTED) | (not supported))
            if not able.any() or (not joined and len(lines) <= FEWEST):
                continue
            order = np.argsort(np.where(able, -fits if joined else fits, np.inf), kind="stable")
            for member in order[: int(able.sum())][:REFUSALS].tolist():
                if changed < max(CHANGED * len(start[axis]), 2) or (member in start[axis]) == joined:
                    yield axis, member, joined


def _fit(Z: Values, lines: Members, rest: Members) -> Values:
    """Return for every row by how much the pattern of a block explains its cells better than noise of variance 1 does.

    The pattern is a profile over the columns `rest`, that of the other rows, plus a level of the row, shrunk.
    """
    cells = Z[:, rest]
    r, c = len(lines), len(rest)
    profile = np.repeat(cells[lines].mean(axis=0)[np.newaxis], len(cells), axis=0)
    if r > 1:
        profile[lines] = (r * profile[lines] - cells[lines]) / (r - 1)
    off = cells - profile
    level = off.mean(axis=1)
    noise = float(((off[lines] - level[lines, np.newaxis]) ** 2).sum() / max((r - 1) * (c - 1), 1))
    noise = min(max(noise, LEAST_NOISE), 1.0)
    spread = max(float((level[lines] ** 2).mean()) - noise / c, 0.0)
    off = off - (spread / (spread + noise / c) * level)[:, np.newaxis]
    return np.asarray(0.5 * ((cells**2).sum(axis=1) - (off**2).sum(axis=1) / noise) - 0.5 * c * math.log(noise))

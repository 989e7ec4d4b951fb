"""Bimax (Prelić et al. 2006): the inclusion-maximal blocks of ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from bivaluate.algorithms._bits import Largest, Words, bits_of, count_lines, members
from bivaluate.algorithms._estimator import BiclusteringEstimator, Count, Pair
from bivaluate.algorithms.algorithm import KW_ONLY, algorithm
from bivaluate.algorithms.bibit import pairs_of_rows, shared_patterns
from bivaluate.measures.cover import packed_masks

# Words read before Python gets a chance to stop the search.
BUDGET = 500_000_000
# Rows every pair of which is looked at for a first idea of how large the largest are.
FULLEST = 500


@algorithm(
    "bimax",
    "Bimax",
    "Bimax",
    "Lists the blocks of nothing but ones to which no row and no column can be added; exact.",
    seeks=("ones",),
    reference="Prelić et al. 2006, A systematic comparison and evaluation of biclustering methods for gene expression data, "
    "Bioinformatics 22(9):1122-1129, doi:10.1093/bioinformatics/btl060",
    nested=True,
    sparse=True,
    binary=True,
)
class Bimax(BiclusteringEstimator):
    """The largest inclusion-maximal biclusters of ones (Bimax).

    A bicluster (G, C) is inclusion-maximal if every cell of it is 1 and no row or column can be added. The answer is
    exact, unless a warning says otherwise: those with at least `min_rows` rows and `min_columns` columns, the ones with
    the most cells first. The search has no random part.

    Parameters
    ----------
    n_biclusters : int, default=10
        The largest number of biclusters to return, those with the most cells; fewer are returned if there are no more.
    min_rows, min_columns : int, default=2
        Fewest rows and columns of a bicluster.
    binarise : {"rows", "nonzero", "none"} or float, default="rows"
        How other data become zeros and ones. "rows": each row is split in two where the sums of squares within both
        groups are smallest, and the upper group are ones; "nonzero": every cell but 0; a number: every cell above it;
        "none": refuse. A matrix of zeros and ones is always taken as it is.
    max_steps : int, default=5000000
        Sets of columns looked at before the search gives up on seeing everything.

    Attributes
    ----------
    solution_ : Biclustering
        The biclusters, the largest first.

    Warns
    -----
    SearchWarning
        If there is more to see than `max_steps` allow: the answer is then the largest biclusters met, not exact.

    See Also
    --------
    BiBit

    Notes
    -----
    The set of biclusters is that of the paper's divide and conquer; here they are walked depth first, column by
    column, each once, and branches that cannot hold one of the largest are cut. There may be exponentially many:
    larger `min_rows` and `min_columns` and a smaller `n_biclusters` shorten the search. Among biclusters of the same
    size the one met first is first.

    Examples
    --------
    >>> X = np.zeros((6, 8))
    >>> X[1:5, 2:7] = 1
    >>> X[0, 2:4] = 1
    >>> [b.shape for b in Bimax().fit(X).solution_]
    [(4, 5), (5, 2)]
    """

    n_biclusters: int = 10
    _: KW_ONLY
    min_rows: Count = 2
    min_columns: Count = 2
    binarise: Any = "rows"
    max_steps: Count = 5_000_000

    def _find(self, X: Any) -> Iterator[Pair]:
        min_rows, min_columns, max_steps = self.min_rows, self.min_columns, self.max_steps
        rows, columns = bits_of(X, self.binarise)
        n, m = X.shape
        kept_rows, kept_columns = _large_enough(rows, columns, min_rows, min_columns)
        if not len(kept_rows) or not len(kept_columns):
            return
        largest = Largest(self.most, _sure_floor(rows[kept_rows], columns, min_rows, min_columns, self.most))
        # The shorter side is walked, the longer one lies in words.
        if len(kept_columns) <= len(kept_rows):
            blocks, complete = walk(columns, n, kept_rows, kept_columns, (min_rows, min_columns), largest, max_steps)
        else:
            blocks, complete = walk(rows, m, kept_columns, kept_rows, (min_columns, min_rows), largest, max_steps)
            blocks = [(long, short) for short, long in blocks]
        if not complete:
            said = f"Bimax stopped after {max_steps} steps: X holds too many blocks of ones to see all."
            got = "Those returned are the largest met, and at least as large as BiBit's."
            how = "Raise min_rows, min_columns or max_steps, or binarise with fewer ones."
            self._warn(f"{said} {got} {how}")
            pairs = pairs_of_rows(rows, columns, max(2, min_rows), min_columns, self.most)
            blocks = _merged(blocks, pairs)[: self.most]
        yield from blocks


def _merged(*solutions: Iterable[Pair]) -> list[Pair]:
    """Return all biclusters once, the largest first."""
    once = {(rows.tobytes(), cols.tobytes()): (rows, cols) for solution in solutions for rows, cols in solution}
    return sorted(once.values(), key=lambda block: -len(block[0]) * len(block[1]))


def _sure_floor(rows: Words, columns: Words, min_rows: int, min_columns: int, wanted: int) -> int:
    """Return a number of cells that the biclusters wanted are sure to exceed.

    What two rows share makes an inclusion-maximal bicluster (see BiBit); pairs of the fullest rows give large ones.
    """
    fullness = count_lines(rows, np.full(rows.shape[1], ~np.uint64(0)))
    fullest = rows[np.argsort(-fullness, kind="stable")[:FULLEST]]
    return max(0, shared_patterns(fullest, columns, max(2, min_rows), min_columns, wanted).floor - 1)


def _large_enough(rows: Words, columns: Words, min_rows: int, min_columns: int) -> tuple[Any, Any]:
    """Return the rows and columns that have enough ones among each other."""
    n, m = len(rows), len(columns)
    kept_rows, kept_columns = np.ones(n, dtype=bool), np.ones(m, dtype=bool)
    while True:
        before = int(kept_rows.sum() + kept_columns.sum())
        kept_columns &= count_lines(columns, _as_set(kept_rows)) >= min_rows
        kept_rows &= count_lines(rows, _as_set(kept_columns)) >= min_columns
        if int(kept_rows.sum() + kept_columns.sum()) == before:
            return np.flatnonzero(kept_rows), np.flatnonzero(kept_columns)


def _as_set(kept: Any) -> Words:
    return packed_masks(kept[np.newaxis]).ravel()


def walk(
    lines: Words, n_items: int, items: Any, chosen: Any, least: tuple[int, int], largest: Largest, max_steps: int
) -> tuple[list[Pair], bool]:
    """Return (items, lines) of the `largest` maximal blocks, and whether all were seen within `max_steps`.

    `items` are the bits of a line that take part.
    """
    from bivaluate.algorithms._kernels_bits import walk_maximal

    everything = np.zeros(n_items, dtype=bool)
    everything[items] = True
    start = _as_set(everything)
    support = count_lines(lines[chosen], start)
    # Lines that hold few items first: then few sets are closed for nothing.
    order = np.argsort(support, kind="stable")
    chosen, support = chosen[order], support[order]
    lines = np.ascontiguousarray(lines[chosen])
    n, m = len(items), len(chosen)
    deepest = int(np.bincount(np.concatenate(members(lines, n_items)), minlength=1).max()) + 2
    extents = np.empty((deepest, lines.shape[1]), dtype=np.uint64)
    intents = np.empty((deepest, m), dtype=np.uint8)
    counts = np.empty((deepest, m), dtype=np.int32)
    nodes = np.zeros((deepest, 3), dtype=np.int64)
    extents[0], intents[0], counts[0] = start, support == n, support
    nodes[0] = n, intents[0].sum(), 0
    if n >= least[0] and nodes[0, 1] >= least[1]:
        largest.add(np.array([n * nodes[0, 1]]), extents[:1].copy(), intents[:1].copy())
    found_items = np.empty((largest.buffer, lines.shape[1]), dtype=np.uint64)
    found_lines = np.empty((largest.buffer, m), dtype=np.uint8)
    areas = np.empty(largest.buffer, dtype=np.int64)
    at_once = max(1, BUDGET // lines.size)
    depth, found = 0, np.zeros(2, dtype=np.int64)
    while depth >= 0 and max_steps > 0:
        budget = min(at_once, max_steps)
        stack, results = (extents, intents, counts, nodes), (found_items, found_lines, areas)
        depth = walk_maximal(lines, least, largest.floor, budget, stack, depth, results, found)
        new = int(found[0])
        max_steps -= budget - int(found[1])
        largest.add(areas[:new].copy(), found_items[:new].copy(), found_lines[:new].copy())
    blocks = members(largest.parts[0], n_items) if largest.parts else []
    pairs = [(block, np.sort(chosen[largest.parts[1][k] != 0])) for k, block in enumerate(blocks)]
    return pairs, depth < 0

"""QUBIC (Li et al. 2009): blocks whose rows are up or down in the same columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from bivaluate._errors import ParameterError
from bivaluate.algorithms._bits import Words
from bivaluate.algorithms._estimator import BiclusteringEstimator, Count, Pair, Share, Values
from bivaluate.algorithms.algorithm import KW_ONLY, algorithm
from bivaluate.measures.cover import packed_masks, shared_cells

Symbols = NDArray[np.int8]

# Pairs of rows kept in memory at a time.
PAIRS_AT_ONCE = 1 << 23


@algorithm(
    "qubic",
    "QUBIC",
    "QUBIC",
    "Marks the values in which a row is unusually high or low, and grows blocks with the same marks.",
    seeks=("raised", "additive", "multiplicative"),
    reference="Li, Ma, Tang, Paterson & Xu 2009, QUBIC: a qualitative biclustering algorithm for analyses of gene expression "
    "data, Nucleic Acids Res. 37(15):e101, doi:10.1093/nar/gkp491",
    nested=True,
)
class Qubic(BiclusteringEstimator):
    """Biclusters whose rows are up or down in the same columns (QUBIC).

    In each row, cells further from the median than the nearer of the quantiles q and 1 − q become symbols: 1 … r for
    high cells and −1 … −r for low ones, by rank; all others are 0. The weight of a pair of rows is the number of
    columns in which both have the same symbol. Seeds are taken by decreasing weight; from each, the row that keeps the
    most common columns J is added to the rows I while min(|I|, |J|) does not fall. Then columns are added in which a
    share c of the rows agrees, rows that do not agree in a share c of the columns are taken out, and all that do are
    added, as they are or with opposite signs.

    Parameters
    ----------
    n_biclusters : int, default=10
        The largest number of biclusters to return, those with the most cells; fewer are returned if there are no more.
        The first k of K are those found by a run for k.
    quantile : float, default=0.06
        Share of a row's cells that counts as low, or high (q in the paper).
    n_ranks : int, default=1
        Number of symbols for high cells, and for low ones (r in the paper).
    consistency : float, default=0.95
        Smallest share of rows that must have the column's symbol (c in the paper), above 0.5.
    min_columns : int or None, default=None
        Fewest columns of a bicluster (k in the paper). None: a twentieth of the columns, at least 2.
    max_overlap : float, default=1.0
        A bicluster is left out if at least this share of its cells lies in a better one (f in the paper); 1 leaves
        out only those that lie in another one altogether.
    n_candidates : int, default=200
        Biclusters searched for, from which the largest are returned.

    See Also
    --------
    XMotifs, BiBit

    Notes
    -----
    Written from the paper. A pair of rows is a seed if one of the two lies in no bicluster yet, or if no bicluster
    with the one shares a row with a bicluster with the other. In every column at least the share c of the rows of a
    bicluster has the same symbol, or the opposite one if the row was added with opposite signs. Among equals the
    lower index comes first.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(60, 20))
    >>> X[:12, :5] += 6
    >>> Qubic(1).fit(X).solution_[0].shape
    (12, 5)
    """

    n_biclusters: int = 10
    _: KW_ONLY
    quantile: Annotated[float, 0.0, 0.5] = 0.06
    n_ranks: Annotated[int, 1, 100] = 1
    consistency: Share = 0.95
    min_columns: Count | None = None
    max_overlap: Share = 1.0
    n_candidates: Count = 200

    def _find(self, X: Values) -> Iterator[Pair]:
        from bivaluate.algorithms._kernels_qubic import expand, grow_core, next_seed

        n, m = X.shape
        n_ranks, n_candidates, share = self.n_ranks, self.n_candidates, float(self.consistency)
        if share <= 0.5:
            raise ParameterError(f"consistency is {share}; it must be more than 0.5: each column has one symbol.")
        min_columns = self.min_columns or max(2, m // 20)
        symbols = symbols_of(X, self.quantile, n_ranks)
        levels = [level for rank in range(1, n_ranks + 1) for level in (rank, -rank)]
        rows = np.concatenate([packed_masks(symbols == level) for level in levels], axis=1)
        holders, touched = (np.zeros((-(-n_candidates // 64), n), dtype=np.uint64) for _ in range(2))
        order, inside, agreed = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.uint8), np.empty(m, dtype=np.int8)
        blocks: list[Pair] = []
        for pairs in heaviest_pairs(rows, min_columns, m):
            at = next_seed(pairs, 0, holders, touched)
            while at < len(pairs) and len(blocks) < n_candidates:
                size = grow_core(rows, pairs[at] // n, pairs[at] % n, min_columns, order)
                expand(symbols, np.sort(order[:size]), n_ranks, share, inside, agreed)
                blocks.append((np.flatnonzero(inside), np.flatnonzero(agreed)))
                _remember(blocks[-1][0], len(blocks) - 1, holders, touched)
                at = next_seed(pairs, at + 1, holders, touched)
            if len(blocks) == n_candidates:
                break
        yield from _largest_apart(blocks, self.max_overlap, self.most)


def symbols_of(X: Values, quantile: float, n_ranks: int) -> Symbols:
    """Return the qualitative form of `X`: rank of high cells, minus rank of low cells, 0 for the others."""
    low, middle, high = np.quantile(X, [quantile, 0.5, 1.0 - quantile], axis=1)[:, :, np.newaxis]
    distance = np.minimum(middle - low, high - middle)
    symbols = np.zeros(X.shape, dtype=np.int8)
    for sign in (1, -1):
        # The comparison is as written in the paper for both sides, so that a cell on the limit has no symbol.
        chosen = middle + distance < X if sign > 0 else middle - distance > X
        if n_ranks == 1:
            symbols[chosen] = sign
            continue
        away = np.where(chosen, sign * (X - middle), np.inf)
        place = away.argsort(axis=1, kind="stable").argsort(axis=1, kind="stable")
        count = chosen.sum(axis=1, keepdims=True)
        rank = place * n_ranks // np.maximum(count, 1) + 1
        symbols[chosen] = (sign * rank)[chosen]
    return symbols


def heaviest_pairs(rows: Words, min_columns: int, m: int) -> Iterator[NDArray[np.int64]]:
    """Yield pairs of rows i · n + j by decreasing weight, down to `min_columns`."""
    from bivaluate.algorithms._kernels_qubic import gather_pairs, weigh_pairs

    tally = np.zeros(m + 1, dtype=np.int64)
    weigh_pairs(rows, tally)
    high = m
    while high >= min_columns:
        low, total = high, int(tally[high])
        while low > min_columns and total + tally[low - 1] <= PAIRS_AT_ONCE:
            low -= 1
            total += int(tally[low])
        state = np.array([0, 1])
        pairs = np.empty(min(total, PAIRS_AT_ONCE), dtype=np.int64)
        weights = np.empty(len(pairs), dtype=np.int32)
        while total > 0:
            found = gather_pairs(rows, low, high, state, pairs, weights)
            total -= found
            yield pairs[np.argsort(-weights[:found], kind="stable")]
        high = low - 1


def _remember(rows: NDArray[np.int64], block: int, holders: Words, touched: Words) -> None:
    """Note which rows the block has, and which rows lie in a block that it shares a row with."""
    word, bit = block // 64, np.uint64(1) << np.uint64(block % 64)
    holders[word, rows] |= bit
    touching = np.bitwise_or.reduce(holders[:, rows], axis=1, keepdims=True)
    touched[:, rows] |= touching
    touched[word, (holders & touching).any(axis=0)] |= bit


def _largest_apart(blocks: list[Pair], overlap: float, wanted: int) -> Iterator[Pair]:
    """Yield the largest blocks, without those that lie too much in one yielded before."""
    kept: list[Pair] = []
    for rows, cols in sorted(blocks, key=lambda block: -len(block[0]) * len(block[1])):
        if len(kept) == wanted:
            return
        shared = (shared_cells((rows, cols), other) for other in kept)
        if all(cells < overlap * len(rows) * len(cols) or cells == 0 for cells in shared):
            kept.append((rows, cols))
            yield rows, cols

"""QUBIC (Li et al. 2009): blocks whose rows are up or down in the same columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from bivaluate._errors import ParameterError
from bivaluate.algorithms._bits import Words, packed
from bivaluate.algorithms._estimator import BiclusteringEstimator, Count, Pair, Share, Values
from bivaluate.algorithms.algorithm import KW_ONLY, algorithm

Symbols = NDArray[np.int8]

# Pairs of rows kept in memory at a time.
PAIRS_AT_ONCE = 1 << 23
# Pairs looked at together for the next seed.
SEEDS_AT_ONCE = 1 << 7
# Shares of rows and columns are compared with this much grace.
ROUNDING = 1e-9


@algorithm(
    "qubic",
    "QUBIC",
    "QUBIC",
    "Marks the cells in which a row is unusually high or low, and grows blocks with the same marks.",
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
        from bivaluate.algorithms._kernels_qubic import grow_core

        n, m = X.shape
        n_ranks, n_candidates, share = self.n_ranks, self.n_candidates, float(self.consistency)
        if share <= 0.5:
            raise ParameterError(
                f"consistency is {share}; it must be more than 0.5, so that each column has one symbol."
            )
        min_columns = self.min_columns or max(2, m // 20)
        symbols = symbols_of(X, self.quantile, n_ranks)
        levels = [level for rank in range(1, n_ranks + 1) for level in (rank, -rank)]
        rows = np.concatenate([packed(symbols == level) for level in levels], axis=1)
        holders, touched = (np.zeros((n, -(-n_candidates // 64)), dtype=np.uint64) for _ in range(2))
        order, blocks = np.empty(n, dtype=np.int64), list[Pair]()
        for pairs in heaviest_pairs(rows, min_columns, m):
            at = _next_seed(pairs, 0, holders, touched)
            while at < len(pairs) and len(blocks) < n_candidates:
                size = grow_core(rows, pairs[at] // n, pairs[at] % n, min_columns, order)
                blocks.append(expand(symbols, np.sort(order[:size]), share))
                _remember(blocks[-1][0], len(blocks) - 1, holders, touched)
                at = _next_seed(pairs, at + 1, holders, touched)
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


def _next_seed(pairs: NDArray[np.int64], start: int, holders: Words, touched: Words) -> int:
    """Return the place of the next pair that may be a seed, or the number of pairs.

    `holders` says which blocks hold a row, `touched` which blocks share a row with one of these. A pair may be a seed
    if one of its rows lies in no block, or if no block of the one touches a block of the other.
    """
    for first in range(start, len(pairs), SEEDS_AT_ONCE):
        one, two = np.divmod(pairs[first : first + SEEDS_AT_ONCE], len(holders))
        fits = ~(touched[one] & holders[two]).any(axis=1)
        if fits.any():
            return first + int(fits.argmax())
    return len(pairs)


def _remember(rows: NDArray[np.int64], block: int, holders: Words, touched: Words) -> None:
    """Note which rows the block has, and which rows lie in a block that it shares a row with."""
    word, bit = block // 64, np.uint64(1) << np.uint64(block % 64)
    holders[rows, word] |= bit
    touching = np.bitwise_or.reduce(holders[rows], axis=0)
    touched[rows] |= touching
    touched[(holders & touching).any(axis=1), word] |= bit


def agreed_symbols(part: Symbols, share: float) -> tuple[Symbols, NDArray[np.int64]]:
    """Return the symbol a share of the rows has in each column, 0 for none, and how many have it."""
    most = int(np.abs(part).max(initial=0))
    symbols = np.arange(-most, most + 1)
    counts = np.array([(part == symbol).sum(axis=0) * (symbol != 0) for symbol in symbols])
    hits = counts.max(axis=0)
    return symbols[counts.argmax(axis=0)] * (hits >= max(1.0, share * len(part) - ROUNDING)), hits


def expand(symbols: Symbols, core: NDArray[np.int64], share: float) -> Pair:
    """Return the rows and columns of the core widened to a share of agreement.

    Columns in which a share of the rows agrees come in, rows that do not agree in a share of these go, until all do;
    if fewer than two would stay, the core's own columns are taken. Then rows come in that agree in a share of the
    columns, those that agree most first, while a share of the rows agrees in every column; then rows that mirror them.
    """
    rows, before = core, -1
    while before != len(rows):
        before = len(rows)
        agreed, hits = agreed_symbols(symbols[rows], share)
        same = ((symbols[rows] == agreed) & (agreed != 0)).sum(axis=1)
        rows = rows[same >= share * np.count_nonzero(agreed) - ROUNDING]
        if len(rows) < 2:
            rows = core
            agreed, hits = agreed_symbols(symbols[rows], 1.0)
            break
    cols = np.flatnonzero(agreed)
    part, agreed, hits = symbols[:, cols], agreed[cols], hits[cols]
    inside = np.zeros(len(symbols), dtype=bool)
    inside[rows] = True
    for sign in (1, -1):
        same = (part == sign * agreed).sum(axis=1)
        near = np.flatnonzero(~inside & (same >= max(1.0, share * len(cols) - ROUNDING)))
        for i in near[np.argsort(-same[near], kind="stable")]:
            more = hits + (part[i] == sign * agreed)
            if (more >= share * (np.count_nonzero(inside) + 1) - ROUNDING).all():
                inside[i], hits = True, more
    return np.flatnonzero(inside), cols


def _largest_apart(blocks: list[Pair], overlap: float, wanted: int) -> Iterator[Pair]:
    """Yield the largest blocks, without those that lie too much in one yielded before."""
    kept: list[Pair] = []
    for rows, cols in sorted(blocks, key=lambda block: -len(block[0]) * len(block[1])):
        if len(kept) == wanted:
            return
        shared = (len(np.intersect1d(rows, r)) * len(np.intersect1d(cols, c)) for r, c in kept)
        if all(cells < overlap * len(rows) * len(cols) or cells == 0 for cells in shared):
            kept.append((rows, cols))
            yield rows, cols

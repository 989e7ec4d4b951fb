"""The algorithm of Cheng and Church (2000): blocks with a low mean squared residue, one after another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np

from bivaluate.algorithms._estimator import Amount, BiclusteringEstimator, Count, Pair, Values
from bivaluate.algorithms.algorithm import KW_ONLY, algorithm

# Residues nearer to each other than this share of the squared range of the matrix are tied.
TIE = 1e-11


@algorithm(
    "cca",
    "Cheng and Church",
    "CCA",
    "Deletes and adds rows and columns until the mean squared residue is below a threshold, then masks.",
    seeks=("additive",),
    nested=True,
    reference="Cheng & Church 2000, Biclustering of expression data, Proc. ISMB 8:93-103",
)
class ChengChurch(BiclusteringEstimator):
    """Biclusters with a mean squared residue below a threshold (Cheng and Church's algorithm).

    Each bicluster starts as the whole matrix. Rows (and columns, in wide matrices) with a large residue are
    deleted many at a time, then single rows or columns, until the mean squared residue H is at most `max_residue`;
    then columns and rows that fit are added. What was found is masked with uniform noise before the next search.

    Parameters
    ----------
    n_biclusters : int, default=10
        Number of biclusters to find (n in the paper). The first k of K are those found by a run for k.
    max_residue : float or None, default=None
        Largest mean squared residue accepted (δ in the paper). None: ((max − min)² / 12) · 0.005 of the matrix.
    deletion_factor : float, default=1.2
        A row or column goes in multiple node deletion if its residue exceeds this many times H (α in the paper).
    min_columns : int, default=100
        Columns are deleted many at a time only if the matrix has at least this many.
    inverted_rows : bool, default=True
        Also add rows that fit when mirrored (x to −x).

    Attributes
    ----------
    max_residue_ : float
        The δ used.

    See Also
    --------
    LargeAverageSubmatrices, Plaid

    Notes
    -----
    Tie rule. Residues that differ by at most 1e-11 · (max − min)² count as equal. Among equal residues a row goes
    before a column and the lower index before the higher; a residue equal to a threshold does not exceed it.
    Without ties the biclusters are those of the public implementation of Padilha and Campello for the same seed.
    A constant matrix is one bicluster, whatever `n_biclusters`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 10, (40, 12))
    >>> X[:15, :6] = rng.uniform(0, 4, (15, 1)) + rng.uniform(0, 4, 6)
    >>> model = ChengChurch(1, max_residue=0.01, random_state=0).fit(X)
    >>> model.solution_[0].shape
    (15, 6)
    """

    n_biclusters: int = 10
    _: KW_ONLY
    max_residue: Amount | None = None
    deletion_factor: Annotated[float, 1.0, None] = 1.2
    min_columns: Count = 100
    inverted_rows: bool = True

    def _find(self, X: Values) -> Iterator[Pair]:
        low, high = float(X.min()), float(X.max())
        delta = (high - low) ** 2 / 12 * 0.005 if self.max_residue is None else float(self.max_residue)
        self.max_residue_ = delta
        rng = self._random()
        # Residues do not change when a constant is subtracted; rounding does.
        middle = low + (high - low) / 2
        work = np.ascontiguousarray(X - middle)
        tie = TIE * (high - low) ** 2
        n_wanted = self.n_biclusters if low < high else 1
        for k in range(n_wanted):
            columns_too = X.shape[1] >= self.min_columns
            rows, cols = find_bicluster(work, delta, self.deletion_factor, columns_too, self.inverted_rows, tie)
            yield rows, cols
            if k + 1 < n_wanted:
                work[np.ix_(rows, cols)] = rng.uniform(low, high, (len(rows), len(cols))) - middle


def find_bicluster(X: Values, delta: float, factor: float, columns_too: bool, inverted: bool, tie: float) -> Pair:
    """Return one bicluster of the matrix as it is now."""
    from bivaluate.algorithms._kernels_cca import delete_single

    block, rows, cols = delete_many(X, delta, factor, columns_too, tie)
    row_left, col_left = delete_single(block, delta, tie)
    return add_nodes(X, rows[row_left > 0], cols[col_left > 0], inverted, tie)


def row_residues(B: Values) -> Values:
    """Return the mean squared residue of each row of a block."""
    from bivaluate.algorithms._kernels_cca import residues_of

    return np.asarray(residues_of(np.ascontiguousarray(B)))


def delete_many(X: Values, delta: float, factor: float, columns_too: bool, tie: float) -> tuple[Values, Any, Any]:
    """Multiple node deletion (Algorithm 2): return the block that is left, its rows and its columns."""
    block, rows, cols = X, np.arange(X.shape[0]), np.arange(X.shape[1])
    size = -1
    while block.size != size:
        size = block.size
        residues = row_residues(block)
        mean = residues.sum() / len(residues)
        if delta + tie >= mean:
            break
        kept = residues <= factor * mean + tie
        block, rows = block[kept], rows[kept]
        if columns_too:
            residues = row_residues(block.T)
            kept = residues <= factor * residues.mean() + tie
            block, cols = block[:, kept], cols[kept]
    return np.ascontiguousarray(block), rows, cols


def add_nodes(X: Values, rows: Any, cols: Any, inverted: bool, tie: float) -> Pair:
    """Node addition (Algorithm 3): return the rows and columns after adding all that fit, until none does."""
    size = 0
    while size != len(rows) + len(cols):
        size = len(rows) + len(cols)
        wide = X[rows]
        level = wide[:, cols] @ np.full(len(cols), 1.0 / len(cols))
        residues = _variances((wide - level[:, np.newaxis]).T)
        cols = np.flatnonzero(_joined(residues <= residues[cols].sum() / len(cols) + tie, cols))
        block = wide[:, cols]
        H = row_residues(block).sum() / len(rows)
        g = np.full(len(rows), 1.0 / len(rows)) @ block
        g -= g.sum() / len(g)
        tall = X[:, cols]
        product = tall @ g
        if inverted:  # a mirrored row has the opposite product with g
            product = np.abs(product)
        fit = _variances(tall) + (g @ g - 2.0 * product) / len(cols)
        rows = np.flatnonzero(_joined(fit <= H + tie, rows))
    return rows, cols


def _variances(B: Values) -> Values:
    """Return the variance of each row of cells that are roughly centred."""
    m = B.shape[1]
    return np.asarray(np.einsum("ij,ij->i", B, B) / m - (B @ np.full(m, 1.0 / m)) ** 2)


def _joined(mask: Any, members: Any) -> Any:
    mask[members] = True
    return mask

"""The algorithm of Cheng and Church (2000): blocks with a low mean squared residue, one after another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

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
        from bivaluate.algorithms._kernels_cca import add_nodes, delete_nodes

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
            in_rows, in_cols = delete_nodes(work, delta, float(self.deletion_factor), columns_too, tie)
            add_nodes(work, in_rows, in_cols, bool(self.inverted_rows), tie)
            rows, cols = np.flatnonzero(in_rows), np.flatnonzero(in_cols)
            yield rows, cols
            if k + 1 < n_wanted:
                work[rows[:, np.newaxis], cols] = rng.uniform(low, high, (len(rows), len(cols))) - middle

"""Biclusters from sparse singular value decomposition (Lee, Shen, Huang & Marron 2010)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import issparse
from scipy.sparse.linalg import LinearOperator, eigsh

from bivaluate.algorithms._estimator import Amount, BiclusteringEstimator, Count, Pair, Values
from bivaluate.algorithms.algorithm import KW_ONLY, algorithm

CONVERGED = 1e-4
# Up to this many rows or columns the first singular vectors come from the matrix of products, exactly.
FEW = 500
# Entries and variances this far below the largest entry of a vector of length about 1 are 0.
TINY = 1e-30


@algorithm(
    "ssvd",
    "Sparse singular value decomposition",
    "SSVD",
    "Takes layers u·v with mostly zero u and v out of the matrix; what is not zero in them forms a bicluster.",
    seeks=("raised", "multiplicative"),
    finds_k=True,
    sparse=True,
    reference="Lee, Shen, Huang & Marron 2010, Biclustering via sparse singular value decomposition, "
    "Biometrics 66(4):1087-1095, doi:10.1111/j.1541-0420.2010.01392.x",
)
class SparseSVD(BiclusteringEstimator):
    """Layers s·u·vᵀ with sparse u and v, one after another (sparse singular value decomposition, SSVD).

    Each layer starts from the first singular vectors of what the layers before it leave over. Then v given u and u
    given v are estimated in turn by penalised regression with adaptive lasso weights |·|^−γ; the penalty is the one
    with the lowest Bayesian information criterion. The rows where u and the columns where v is not 0 are the bicluster.

    Parameters
    ----------
    n_biclusters : int or "auto", default=10
        Largest number of layers (K); ``"auto"`` to go on until one is empty. The first k of K are those of a run for k.
    row_weight, col_weight : float, default=2.0
        Exponents of the adaptive weights of rows and columns (γ₁ and γ₂ in the paper); 0 for the plain lasso.
    centred : bool, default=True
        Subtract the median of the matrix first; otherwise the first layer may be the level of the whole matrix.
    max_iter : int, default=100
        Rounds at most for each layer.

    Attributes
    ----------
    singular_values_ : ndarray of float
        s of each layer.
    left_, right_ : ndarray of float, of shape (K, n_rows) and (K, n_cols)
        u and v of each layer, of length 1.

    See Also
    --------
    FABIA, Plaid

    Notes
    -----
    With z = Xᵀu, v_j = sign(z_j)(|z_j| − λ|z_j|^−γ₂)₊. For i entries that are not 0 the best λ is the next largest
    |z_j|^(γ₂ + 1), and BIC(i) = ‖z − v‖²/σ̂² + i·log(nm) with σ̂² = (‖X‖² − ‖z‖²)/(nm − m); sorted, all of them take
    one pass. A layer has converged when u and v each move by at most 1e-4; after `max_iter` rounds it is taken as it
    is. Layers are never subtracted from the cells, so that a sparse matrix stays sparse.

    Examples
    --------
    >>> X = np.random.default_rng(2).normal(size=(60, 20))
    >>> X[:12, :5] += 4
    >>> model = SparseSVD(1).fit(X)
    >>> model.solution_[0].shape
    (12, 5)
    """

    n_biclusters: int | str = 10
    _: KW_ONLY
    row_weight: Amount = 2.0
    col_weight: Amount = 2.0
    centred: bool = True
    max_iter: Count = 100

    def _find(self, X: Any) -> Iterator[Pair]:
        left = LeftOver(X)
        if self.centred:
            n, m = X.shape
            left.subtract(_median(X) * np.sqrt(n * m), np.full(n, n**-0.5), np.full(m, m**-0.5))
        smallest = 1e-20 * left.squares
        first = len(left.scales)
        for _ in range(min(self.most, *X.shape)):
            if left.squares <= smallest:
                break
            u, v = sparse_layer(left, self.row_weight, self.col_weight, self.max_iter)
            rows, cols = np.flatnonzero(u), np.flatnonzero(v)
            if len(rows) == 0:
                break
            left.subtract(float(u @ left.times(v)), u, v)
            yield rows, cols
        self.singular_values_ = np.array(left.scales[first:])
        self.left_ = np.array(left.lefts[first:]).reshape(-1, X.shape[0])
        self.right_ = np.array(left.rights[first:]).reshape(-1, X.shape[1])


class LeftOver:
    """What layers leave of a matrix, without changing it: X − Σ s·u·vᵀ as an operator."""

    def __init__(self, X: Any) -> None:
        self.X = X
        self.shape = X.shape
        values = X.data if issparse(X) else X
        self.squares = float(np.vdot(values, values))
        self.scales: list[float] = []
        self.lefts: list[Values] = []
        self.rights: list[Values] = []
        self._products: Values | None = None  # of the shorter side with itself
        if min(X.shape) <= FEW:
            products = X.T @ X if X.shape[0] >= X.shape[1] else X @ X.T
            self._products = products.toarray() if issparse(products) else products

    def subtract(self, scale: float, u: Values, v: Values) -> None:
        """Take the layer s·u·vᵀ away; `u` and `v` have length 1."""
        along = float(u @ self.times(v))
        self.squares = max(self.squares - 2 * scale * along + scale**2, 0.0)
        if self._products is not None:
            # (A - s u v')' (A - s u v')  or  (A - s u v') (A - s u v')'
            tall = self.shape[0] >= self.shape[1]
            side, across = (v, self.times(u, turned=True)) if tall else (u, self.times(v))
            cross = scale * np.outer(across, side)
            self._products += scale**2 * np.outer(side, side) - cross - cross.T
        self.scales.append(scale)
        self.lefts.append(u)
        self.rights.append(v)

    def times(self, vector: Values, turned: bool = False) -> Values:
        """Return the product with a vector over the columns, or of the transposed matrix with one over the rows."""
        X, own, other = (self.X.T, self.rights, self.lefts) if turned else (self.X, self.lefts, self.rights)
        product = np.asarray(X @ vector)
        for s, mine, theirs in zip(self.scales, own, other, strict=True):
            product -= (s * (theirs @ vector)) * mine
        return product

    def leading(self) -> Values:
        """Return the first left singular vector."""
        n, m = self.shape
        tall = n >= m
        if self._products is None:
            gram = LinearOperator(
                (min(n, m),) * 2, lambda x: self.times(self.times(x.ravel(), not tall), tall), dtype=np.float64
            )
            side = eigsh(gram, k=1, v0=np.ones(min(n, m)), tol=1e-10)[1][:, 0]
        else:
            side = eigh(self._products, subset_by_index=[min(n, m) - 1] * 2)[1][:, 0]
        u = self.times(side) if tall else side
        return u / (np.linalg.norm(u) or 1.0)


def _median(X: Any) -> float:
    """Return the median of all cells, zeros that are not stored included."""
    if not issparse(X):
        return float(np.median(X))
    n_zeros = X.shape[0] * X.shape[1] - X.nnz
    return 0.0 if n_zeros > X.nnz else float(np.median(np.append(X.data, np.zeros(n_zeros))))


def sparse_layer(left: LeftOver, row_weight: float, col_weight: float, max_iter: int) -> tuple[Values, Values]:
    """Return u and v of the next layer, of length 1; both are 0 if there is none."""
    n, m = left.shape
    u, v = left.leading(), np.zeros(m)
    for _ in range(max_iter):
        new_v = penalised(left.times(u, turned=True), col_weight, left.squares, n, m)
        if not new_v.any():
            return np.zeros(n), np.zeros(m)
        new_u = penalised(left.times(new_v), row_weight, left.squares, m, n)
        if not new_u.any():
            return np.zeros(n), np.zeros(m)
        moved = max(np.linalg.norm(new_u - u), np.linalg.norm(new_v - v))
        u, v = new_u, new_v
        if moved <= CONVERGED:
            break
    return u, v


def penalised(z: Values, weight: float, squares: float, other: int, own: int) -> Values:
    """Return the adaptive lasso estimate from the least squares one, `z`, with the lowest BIC, of length 1 or 0."""
    largest = float(np.abs(z).max())
    if largest == 0:
        return np.zeros(own)
    size = np.abs(z) / largest
    order = np.argsort(-size, kind="stable")
    cuts = np.append(size[order], 0.0)  # the i-th is the largest entry left out when i are kept
    variance = abs(squares / largest**2 - float(size @ size)) / max(other * own - own, 1)
    # ‖z − v‖² is the sum of (λ |z_j|^−γ)² over the entries kept and of z_j² over the others.
    inverse = np.zeros(own)
    np.power(size[order], -2.0 * weight, out=inverse, where=cuts[:-1] > TINY)
    penalties = np.where(cuts > TINY, cuts, 0.0) ** (weight + 1)
    kept = penalties**2 * np.insert(np.cumsum(inverse), 0, 0.0)
    others = np.append(np.cumsum(cuts[:-1][::-1] ** 2)[::-1], 0.0)
    bic = (kept + others) / max(variance, TINY) + np.arange(own + 1) * np.log(other * own)
    best = int(np.argmin(bic))
    shrunk = np.zeros(own)
    chosen = size > max(cuts[best], TINY)
    shrunk[chosen] = size[chosen] - penalties[best] * size[chosen] ** -weight
    length = np.linalg.norm(shrunk)
    return np.asarray(np.sign(z) * shrunk / length) if length > 0 else shrunk

"""The plaid model (Lazzeroni & Owen 2002) fitted by binary least squares (Turner, Bailey & Krzanowski 2005)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bivaluate.algorithms._estimator import BiclusteringEstimator, Count, Natural, Pair, Share, Values
from bivaluate.algorithms.algorithm import KW_ONLY, algorithm

Mask = NDArray[np.bool_]
# Rounds of k-means at most; two groups of rows seldom need more than a few.
MAX_ROUNDS = 30
# The groups a layer starts from are sought in at most this many rows.
MOST_ROWS = 200


class Layer(NamedTuple):
    """Members of a layer (ρ, κ) and its effects: μ, α for every member row, β for every member column."""

    rows: NDArray[np.int64]
    cols: NDArray[np.int64]
    mean: float
    row_effects: Values
    col_effects: Values

    @property
    def sum_of_squares(self) -> float:
        """The sum of squares of its values: Σ (μ + α_i + β_j)², the importance of the layer."""
        r, c = len(self.rows), len(self.cols)
        return float(r * c * self.mean**2 + c * (self.row_effects**2).sum() + r * (self.col_effects**2).sum())


@algorithm(
    "plaid",
    "Plaid model",
    "Plaid",
    "Fits a sum of layers, each with effects of its rows and columns; stops when a layer could be due to chance.",
    seeks=("raised", "constant rows", "constant columns", "additive"),
    finds_k=True,
    reference="Lazzeroni & Owen 2002, Plaid models for gene expression data, Stat. Sinica 12(1):61-86; "
    "Turner, Bailey & Krzanowski 2005, Improved biclustering of microarray data demonstrated through systematic "
    "performance tests, Comput. Stat. Data Anal. 48(2):235-254, doi:10.1016/j.csda.2004.02.003",
)
class Plaid(BiclusteringEstimator):
    """Layers of a plaid model, fitted one after another by binary least squares.

    The model is Y_ij = (μ₀ + α_i0 + β_j0) + Σ_k (μ_k + α_ik + β_jk) ρ_ik κ_jk: a background and K layers, each with an
    average, effects of its rows and of its columns, in its own rows (ρ_ik = 1) and columns (κ_jk = 1). A layer is
    fitted to what the layers before it leave over; rows and columns stay in it if it explains enough of them.

    Parameters
    ----------
    n_biclusters : int or "auto", default=10
        Largest number of layers (K); ``"auto"`` for as many as pass the test. The first k of K are those of a run for
        k.
    background : bool, default=True
        Fit a background layer of the whole matrix first.
    row_release, col_release : float, default=0.7
        A row (column) stays in a layer if it explains more than this share of its squares (τ₁ and τ₂ in the paper).
    n_shuffles : int, default=3
        A layer must explain more than those found in this many copies of what is left over with rows and columns
        shuffled; otherwise the search ends. 0 for no test.
    n_starts : int, default=6
        Runs of 2-means from random rows (columns) to start each layer from; the tightest is used.
    n_iterations : int, default=10
        Rounds of effects, rows, columns for each layer; half of them before rows and columns may be released.
    n_backfits : int, default=1
        Rounds in which the effects of all layers are fitted again after each new one.

    Attributes
    ----------
    solution_ : Biclustering
        The layers found, without the background.
    sums_of_squares_ : ndarray of float
        Importance of each layer: the sum of squares of its values when it was found.
    residual_ : float
        Mean square of what the model leaves over.

    See Also
    --------
    ChengChurch, FABIA

    Notes
    -----
    A layer starts from the smaller group of rows and the smaller group of columns that 2-means finds in what is left
    over (Z), of many rows in 200 random ones. Given members, μ is the mean of the block of Z, α_i and β_j what the
    means of rows and columns add to it; outside, α_i = 0 and β_j = 0. A row takes part if Σ_j κ_j (Z_ij − μ − α_i −
    β_j)² is less than Σ_j κ_j Z_ij², and in the second half of the rounds less than 1 − τ₁ times that; then columns
    likewise. Without a row or a column left there is no layer, and the search ends.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 20))
    >>> X[:12, :5] += 4 + rng.normal(size=(12, 1))
    >>> model = Plaid(3, random_state=0).fit(X)
    >>> [b.shape for b in model.solution_]
    [(12, 5)]
    """

    n_biclusters: int | str = 10
    _: KW_ONLY
    background: bool = True
    row_release: Share = 0.7
    col_release: Share = 0.7
    n_shuffles: Natural = 3
    n_starts: Count = 6
    n_iterations: Count = 10
    n_backfits: Natural = 1

    def _find(self, X: Values) -> Iterator[Pair]:
        release = self.row_release, self.col_release
        n_starts, n_iterations = self.n_starts, self.n_iterations
        rng = self._random()
        residual = X.copy()
        n, m = X.shape
        # What rounding leaves of the squares of X counts as nothing left over.
        nothing = 1e-20 * float(np.einsum("ij,ij->", X, X))
        layers = [fit_layer(residual, np.arange(n), np.arange(m))] if self.background else []
        for layer in layers:
            subtract(residual, layer)
        sums: list[float] = []
        # Every layer takes something away; min(n, m) of them are more than any matrix has use for.
        for _ in range(min(self.most, n, m)):
            found = find_layer(residual, release, n_starts, n_iterations, rng)
            if found is None or found.sum_of_squares <= nothing:
                break
            if any(
                shuffled is not None and shuffled.sum_of_squares >= found.sum_of_squares
                for shuffled in (
                    find_layer(rng.permutation(residual.ravel()).reshape(n, m), release, n_starts, n_iterations, rng)
                    for _ in range(self.n_shuffles)
                )
            ):
                break
            subtract(residual, found)
            layers.append(found)
            sums.append(found.sum_of_squares)
            for _ in range(self.n_backfits):
                layers = backfit(residual, layers)
            yield found.rows, found.cols
        self.sums_of_squares_ = np.array(sums)
        self.residual_ = float(np.einsum("ij,ij->", residual, residual)) / X.size


def fit_layer(Z: Values, rows: NDArray[np.int64], cols: NDArray[np.int64]) -> Layer:
    """Return the least squares effects of a layer with these members."""
    from bivaluate.algorithms._kernels_plaid import fit_effects

    return Layer(rows, cols, *fit_effects(Z, rows, cols))


def backfit(residual: Values, layers: list[Layer]) -> list[Layer]:
    """Return the layers with effects fitted to what all others leave over; `residual` follows."""
    fitted = []
    for layer in layers:
        # What the block of the residual still holds of such a layer is what its effects lack.
        lacking = fit_layer(residual, layer.rows, layer.cols)
        subtract(residual, lacking)
        row_effects, col_effects = layer.row_effects + lacking.row_effects, layer.col_effects + lacking.col_effects
        fitted.append(Layer(layer.rows, layer.cols, layer.mean + lacking.mean, row_effects, col_effects))
    return fitted


def subtract(Z: Values, layer: Layer) -> None:
    """Take the values of a layer away from its cells."""
    from bivaluate.algorithms._kernels_plaid import take_away

    take_away(Z, *layer)


def find_layer(
    Z: Values, release: tuple[float, float], n_starts: int, n_iterations: int, rng: np.random.RandomState
) -> Layer | None:
    """Return one layer of what is left over, or None if there is none."""
    some = Z[rng.choice(len(Z), MOST_ROWS, replace=False)] if len(Z) > MOST_ROWS else Z
    turned = np.ascontiguousarray(some.T)
    rows, cols = smaller_group(Z, some, n_starts, rng), smaller_group(turned, turned, n_starts, rng)
    return refine_layer(Z, rows, cols, release, n_iterations)


def refine_layer(Z: Values, rows: Mask, cols: Mask, release: tuple[float, float], n_iterations: int) -> Layer | None:
    """Return the layer that grows from these members, or None if it loses them all."""
    from bivaluate.algorithms._kernels_plaid import grow

    rows, cols = rows.copy(), cols.copy()
    if not grow(Z, rows, cols, *release, n_iterations):
        return None
    return fit_layer(Z, np.flatnonzero(rows), np.flatnonzero(cols))


def smaller_group(Z: Values, points: Values, n_starts: int, rng: np.random.RandomState) -> Mask:
    """Return the smaller of two groups of rows of `Z`, all of them if there are not two.

    The centres are those of the tightest of some runs of 2-means on `points`.
    """
    from bivaluate.algorithms._kernels_plaid import two_means

    n, size = len(Z), len(points)
    if n >= 2:
        first = rng.randint(0, size, n_starts)
        second = (first + rng.randint(1, size, n_starts)) % size
        a, b = two_means(points, points.sum(axis=0), points[np.array([first, second]).T], MAX_ROUNDS)
        group = 2.0 * (Z @ (a - b)) > a @ a - b @ b
        members = np.count_nonzero(group)
        if 0 < members < n:
            return np.asarray(group if 2 * members <= n else ~group)
    return np.ones(n, dtype=np.bool_)

"""Factor analysis for bicluster acquisition (FABIA, Hochreiter et al. 2010): sparse loadings times sparse factors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bivaluate.algorithms._estimator import Amount, BiclusteringEstimator, Count, Pair, Values
from bivaluate.algorithms.algorithm import KW_ONLY, algorithm

# Least variance of the noise of a row, and least prior variance of a factor, in units of the variance of a row.
LEAST_NOISE = 1e-3
LEAST_PRIOR = 1e-3
# Loadings that change by less than this share in a round have converged.
CONVERGED = 1e-5


class Factors(NamedTuple):
    """A fitted model: loadings Λ (rows × factors), noise variances Ψ, factors Z and prior variances Ξ (× columns)."""

    loadings: Values
    noise: Values
    factors: Values
    prior: Values


@algorithm(
    "fabia",
    "Factor analysis for bicluster acquisition",
    "FABIA",
    "Explains the matrix by K products of sparse loadings of rows and sparse factors of columns; each is a bicluster.",
    seeks=("multiplicative", "raised"),
    reference="Hochreiter, Bodenhofer, Heusel et al. 2010, FABIA: factor analysis for bicluster acquisition, "
    "Bioinformatics 26(12):1520-1527, doi:10.1093/bioinformatics/btq227",
)
class FABIA(BiclusteringEstimator):
    """Products of sparse loadings and sparse factors, fitted together by variational expectation maximisation (FABIA).

    The model of a column is x = Λz + ε: loadings Λ and factors z with Laplace priors, which make most of both nearly 0,
    and noise ε with a variance Ψ for every row. The rows with a large loading and the columns with a large factor are a
    bicluster.

    Parameters
    ----------
    n_biclusters : int, default=5
        Number of factors (p in the paper); fewer biclusters are returned if factors have no large rows or columns.
    sparseness : float, default=0.01
        Sparseness of the loadings (α in the paper).
    factor_threshold : float, default=0.5
        Least size of the factor of a member column (thresZ), in units of its root mean square; that of loadings
        follows.
    max_iter : int, default=500
        Rounds at most.

    Attributes
    ----------
    solution_ : Biclustering
        The biclusters, the one with the most information first.
    information_ : ndarray of float
        Information of each bicluster about the matrix, in nats.

    See Also
    --------
    SparseSVD, NMFBiclusters

    Notes
    -----
    Rows are centred by their median and scaled to a root mean square of 1. For every column
    E[z] = (ΛᵀΨ⁻¹Λ + Ξ⁻¹)⁻¹ΛᵀΨ⁻¹x, with the prior variances Ξ = diag(E[zzᵀ])^½, at most 1, and factors scaled to E[z²] =
    1 on average; then Λ = (Σ x E[z]ᵀ − αΨ sign(Λ)) (Σ E[zzᵀ])⁻¹, where αΨ is never more than the size of the entry it
    is taken from. Factors are scaled to a root mean square of 1. A row is a member if its loading is at least the root
    mean square of all λz divided by thresZ, a column if its factor is at least thresZ, with the sign whose factors are
    larger in sum. The information of factor i is ½ Σ_j log(1 + Ξ_ij λ_iᵀΨ⁻¹λ_i).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(0, 0.5, (60, 20))
    >>> X[:12, :5] += np.outer(rng.uniform(3, 5, 12), rng.uniform(1, 2, 5))
    >>> model = FABIA(1, random_state=0).fit(X)
    >>> model.solution_[0].shape
    (12, 5)
    """

    n_biclusters: int = 5
    _: KW_ONLY
    sparseness: Amount = 0.01
    factor_threshold: Annotated[float, 1e-6, None] = 0.5
    max_iter: Count = 500

    def _find(self, X: Values) -> Iterator[Pair]:
        rng = self._random()
        values = unit_rows(X)
        first = rng.standard_normal((X.shape[0], self.most))
        model = fit_factors(values, first, self.sparseness, self.max_iter)
        information = 0.5 * np.log1p(
            model.prior
            * np.einsum("ik,ik->k", model.loadings, model.loadings / model.noise[:, np.newaxis])[:, np.newaxis]
        ).sum(axis=1)
        kept, members = [], biclusters_of(model, self.factor_threshold)
        for k in np.argsort(-information, kind="stable"):
            rows, cols = members[k]
            if len(rows) and len(cols):
                kept.append(k)
                yield rows, cols
        self.information_ = information[kept]


def unit_rows(X: Values) -> Values:
    """Return rows centred by their median, with a root mean square of 1; constant rows become 0."""
    centred = X - np.median(X, axis=1, keepdims=True)
    size = np.sqrt((centred**2).mean(axis=1, keepdims=True))
    return np.asarray(centred / np.where(size > 0, size, 1.0))


def fit_factors(X: Values, first: Values, sparseness: float, max_iter: int) -> Factors:
    """Return the model fitted to normalised rows from the first loadings."""
    columns = X.shape[1]
    loadings = first.copy()
    squares = (X * X).mean(axis=1)
    noise = np.maximum(squares - (loadings**2).sum(axis=1), LEAST_NOISE)
    prior = np.ones((columns, first.shape[1]))
    diagonal = np.arange(first.shape[1])
    for _ in range(max_iter):
        z, second = _expected(X, loadings, noise, prior)
        # Loadings and factors share one scale, which would drift: E[z²] is 1 on average in every round.
        size = np.sqrt(second.mean(axis=0)[diagonal, diagonal])
        z, second = z / size, second / np.outer(size, size)
        prior = np.sqrt(np.clip(second[:, diagonal, diagonal], LEAST_PRIOR**2, 1.0))
        cross = X @ z / columns
        pull = np.sign(loadings) * np.minimum(sparseness / columns * noise[:, np.newaxis], np.abs(cross))
        new = (cross - pull) @ np.linalg.inv(second.mean(axis=0))
        # Psi = diag(X X' / l - new E[z] X' / l + pull new')
        noise = np.maximum(squares + np.einsum("ik,ik->i", new, pull - cross), LEAST_NOISE)
        moved = np.linalg.norm(new - loadings)
        loadings = new
        if moved <= CONVERGED * np.linalg.norm(new):
            break
    z, second = _expected(X, loadings, noise, prior)
    return Factors(loadings, noise, z.T, prior.T)


def _expected(X: Values, loadings: Values, noise: Values, prior: Values) -> tuple[Values, Values]:
    """Return E[z] (columns × factors) and E[z zᵀ] (columns × factors × factors) of every column."""
    # for each column: covariance = inv(L' inv(Psi) L + inv(Xi)); mean = covariance @ L' inv(Psi) x
    weighted = loadings / noise[:, np.newaxis]
    precision = np.broadcast_to(loadings.T @ weighted, (len(prior), *[loadings.shape[1]] * 2)).copy()
    diagonal = np.arange(loadings.shape[1])
    precision[:, diagonal, diagonal] += 1.0 / prior
    covariance = np.linalg.inv(precision)
    z = np.einsum("jkl,jl->jk", covariance, X.T @ weighted)
    return z, covariance + z[:, :, np.newaxis] * z[:, np.newaxis, :]


def biclusters_of(model: Factors, threshold: float) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return the rows and columns with a large loading and factor, for each factor; perhaps none."""
    size = np.sqrt((model.factors**2).mean(axis=1))
    scale = np.where(size > 0, size, 1.0)
    factors, loadings = model.factors / scale[:, np.newaxis], model.loadings * scale
    # The mean square of all products of a loading and a factor, whose mean squares are those of loadings and 1.
    least = np.sqrt((loadings**2).mean()) / threshold
    found = []
    for z, loading in zip(factors, loadings.T, strict=True):
        high, low = z >= threshold, -z >= threshold
        cols = high if z[high].sum() >= -z[low].sum() else low
        rows = np.abs(loading) >= least if least > 0 else np.zeros(len(loading), dtype=np.bool_)
        found.append((np.flatnonzero(rows), np.flatnonzero(cols)))
    return found

"""k-means as scikit-learn does it, for points of few coordinates: the same labels without its overhead."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import norm

Values = NDArray[np.float64]
Indices = NDArray[np.int64]

# As scikit-learn's KMeans has it: centres that move by less than this share of the variance have settled.
TOLERANCE = 1e-4
# A squared distance, or a sum of them, is known to this many roundings of the largest squared length, per point.
ROUNDINGS = 64


def k_means(points: Values, K: int, n_init: int, seed: int) -> tuple[Indices, float]:
    """Return the labels of scikit-learn's ``KMeans(K, n_init=n_init, random_state=seed)``, and the root of its inertia.

    The same random numbers are drawn in the same order, and every choice is made on the same numbers but for rounding.
    Where one hangs on rounding, as with as many clusters as points, all is left to it.
    """
    from bivaluate.algorithms._kernels_k_means import first_points, k_means

    n = len(points)
    firsts, trials = _drawn(n, K, n_init, seed)
    centred = points - points.mean(axis=0)
    Pt = np.ascontiguousarray(centred.T)
    doubt = ROUNDINGS * n * np.finfo(np.float64).eps * float((Pt**2).sum(axis=0).max())
    chosen = np.repeat(firsts[:, np.newaxis], K, axis=1)
    if n > K and all(first_points(Pt, draws, doubt, start) for draws, start in zip(trials, chosen, strict=True)):
        tolerance, labels = TOLERANCE * float(np.mean(np.var(points, axis=0))), np.empty(n, np.int64)
        inertia = k_means(Pt, np.ascontiguousarray(Pt[:, chosen].transpose(1, 0, 2)), tolerance, doubt, labels)
        if inertia >= 0.0:
            return labels, float(np.sqrt(inertia))
    return k_means_of_scikit_learn(points, K, n_init, seed)


def k_means_of_scikit_learn(points: Values, K: int, n_init: int, random_state: Any) -> tuple[Indices, float]:
    """Return the same from scikit-learn itself."""
    from sklearn.cluster import KMeans

    model = KMeans(K, n_init=n_init, random_state=random_state).fit(points)
    return model.labels_.astype(np.int64), float(norm((points - model.cluster_centers_[model.labels_]).ravel()))


@lru_cache(64)
def _drawn(n: int, K: int, n_init: int, seed: int) -> tuple[Indices, Values]:
    """Return the first point of every start, and the numbers by which the others are drawn."""
    n_trials = 2 + int(np.log(K))
    draws = np.random.RandomState(seed).random_sample((n_init, 1 + (K - 1) * n_trials))
    # as RandomState.choice draws one of n
    cumulated = np.full(n, 1.0 / n).cumsum()
    firsts = np.searchsorted(cumulated / cumulated[-1], draws[:, 0], side="right")
    return firsts, np.ascontiguousarray(draws[:, 1:]).reshape(n_init, K - 1, n_trials)

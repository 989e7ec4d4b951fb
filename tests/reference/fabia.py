"""Naive twin of factor analysis for bicluster acquisition: one column at a time, every matrix written out."""

import numpy as np


def fit(X, first, alpha, max_iter):
    """Return loadings, noise variances and factors (one line per column) after `max_iter` rounds."""
    columns = X.shape[1]
    p = first.shape[1]
    L = first.copy()
    psi = np.maximum(np.diag(X @ X.T) / columns - np.diag(L @ L.T), 1e-3)
    xi = np.ones((columns, p))

    def expectations():
        z, zz = np.zeros((columns, p)), np.zeros((columns, p, p))
        for j in range(columns):
            covariance = np.linalg.inv(L.T @ np.diag(1 / psi) @ L + np.diag(1 / xi[j]))
            z[j] = covariance @ L.T @ np.diag(1 / psi) @ X[:, j]
            zz[j] = covariance + np.outer(z[j], z[j])
        return z, zz

    for _ in range(max_iter):
        z, zz = expectations()
        size = np.sqrt(np.diag(sum(zz) / columns))
        z, zz = z @ np.diag(1 / size), np.array([np.diag(1 / size) @ one @ np.diag(1 / size) for one in zz])
        xi = np.array([[min(max(np.sqrt(zz[j, k, k]), 1e-3), 1.0) for k in range(p)] for j in range(columns)])
        cross = sum(np.outer(X[:, j], z[j]) for j in range(columns)) / columns
        pull = np.sign(L) * np.array(
            [[min(alpha / columns * s, abs(c)) for c in line] for s, line in zip(psi, cross, strict=True)]
        )
        new = (cross - pull) @ np.linalg.inv(sum(zz) / columns)
        psi = np.maximum(np.diag(X @ X.T / columns - new @ cross.T) + np.diag(pull @ new.T), 1e-3)
        L = new
    z, _ = expectations()
    return L, psi, z


def members(L, z, threshold):
    """Rows and columns of each factor."""
    found = []
    scale = np.sqrt((z**2).mean(axis=0))
    products = [L[i, k] * z[j, k] for i in range(L.shape[0]) for j in range(len(z)) for k in range(L.shape[1])]
    least = np.sqrt(np.mean(np.square(products))) / threshold
    for k in range(L.shape[1]):
        factor = z[:, k] / scale[k]
        high, low = factor >= threshold, factor <= -threshold
        cols = high if factor[high].sum() >= -factor[low].sum() else low
        found.append((np.flatnonzero(np.abs(L[:, k] * scale[k]) >= least), np.flatnonzero(cols)))
    return found

"""Naive twin of sparse singular value decomposition: every penalty tried, every layer subtracted from the cells."""

import numpy as np


def penalised(z, gamma, squares, other):
    """The adaptive lasso estimate with the lowest BIC, of length 1 or 0."""
    own = len(z)
    variance = abs(squares - (z**2).sum()) / max(other * own - own, 1)
    sizes = np.sort(np.abs(z))[::-1]
    best, lowest = None, np.inf
    for kept in range(own + 1):
        penalty = sizes[kept] ** (gamma + 1) if kept < own else 0.0
        v = np.zeros(own)
        for j in range(own):
            if abs(z[j]) > (sizes[kept] if kept < own else 0.0):
                v[j] = np.sign(z[j]) * max(abs(z[j]) - penalty * abs(z[j]) ** -gamma, 0.0)
        bic = ((z - v) ** 2).sum() / variance + kept * np.log(other * own)
        if bic < lowest:
            best, lowest = v, bic
    return best / np.linalg.norm(best) if best.any() else best


def layers(X, K, gamma, max_iter=100):
    """Return (s, u, v) of each layer."""
    X, found = np.array(X, dtype=float), []
    for _ in range(K):
        u, v = np.linalg.svd(X, full_matrices=False)[0][:, 0], np.zeros(X.shape[1])
        for _ in range(max_iter):
            new_v = penalised(X.T @ u, gamma, (X**2).sum(), X.shape[0])
            new_u = penalised(X @ new_v, gamma, (X**2).sum(), X.shape[1]) if new_v.any() else np.zeros(X.shape[0])
            if not new_u.any():
                return found
            moved = max(np.linalg.norm(new_u - u), np.linalg.norm(new_v - v))
            u, v = new_u, new_v
            if moved <= 1e-4:
                break
        s = u @ X @ v
        found.append((s, u, v))
        X -= s * np.outer(u, v)
    return found

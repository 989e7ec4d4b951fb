"""Naive twin of the iterative signature algorithm: both normalised matrices are built, one seed at a time."""

import numpy as np


def standardised(X, axis):
    """Mean 0 and variance 1 along an axis; 0 where nothing varies."""
    X = np.asarray(X, dtype=float)
    out = np.zeros_like(X)
    for j in range(X.shape[1 - axis]):
        line = X[:, j] if axis == 0 else X[j]
        if line.max() > line.min():
            line = (line - line.mean()) / line.std()
            if axis == 0:
                out[:, j] = line
            else:
                out[j] = line
    return out


def kept(scores, threshold, two_sided):
    """Standardise, keep what is beyond the threshold, scale to length 1."""
    if scores.std() <= 1e-7 * abs(scores.mean()):
        return np.zeros_like(scores)
    z = (scores - scores.mean()) / scores.std()
    z = np.where((np.abs(z) if two_sided else z) > threshold, z, 0.0)
    return z / np.linalg.norm(z) if z.any() else z


def modules(X, seeds, pairs, two_sided):
    """Return {(pair, rows, cols): strength} of every fixed point."""
    over_rows, over_cols = standardised(X, 0), standardised(X, 1)
    found = {}
    for seed in seeds:
        for p, (row_threshold, col_threshold) in enumerate(pairs):
            g = seed / np.linalg.norm(seed.astype(float))
            for _ in range(100):
                col_scores = over_rows.T @ g
                c = kept(col_scores, col_threshold, two_sided)
                row_scores = over_cols @ c
                new = kept(row_scores, row_threshold, False)
                if not c.any() or not new.any():
                    break
                if np.linalg.norm(new - g) < 1e-4 * np.linalg.norm(new + g):
                    rows, cols = tuple(np.flatnonzero(new)), tuple(np.flatnonzero(c))
                    if len(rows) > 1 and len(cols) > 1:
                        found[p, rows, cols] = np.sqrt(max((new @ row_scores) * (c @ col_scores), 0.0))
                    break
                g = new
    return found

"""Kernel of the iterative signature algorithm: scores of many seeds, and what lies beyond the threshold of each."""

from __future__ import annotations

from typing import Any

import numpy as np

from bivaluate._jit import kernel


@kernel
def beyond(products: Any, totals: Any, means: Any, scales: Any, thresholds: Any, two_sided: bool) -> Any:
    """Return the standardised scores beyond the threshold of their line, of length 1, and their product with scores.

    The scores are (products - totals * means) * scales, written over the products; first come, as CSR, bounds,
    places and weights.
    """
    n, m = products.shape
    bounds, places, weights = np.zeros(n + 1, np.int64), np.empty(n * m, np.int32), np.empty(n * m)
    strength, at = np.zeros(n), 0
    for s in range(n):
        mean = square = 0.0
        for j in range(m):
            products[s, j] = (products[s, j] - totals[s] * means[j]) * scales[j]
            mean += products[s, j]
        mean /= m
        for j in range(m):
            square += (products[s, j] - mean) * (products[s, j] - mean)
        spread = np.sqrt(square / m)
        first, squares, along = at, 0.0, 0.0
        if spread > 1e-7 * abs(mean):
            # z = (scores - mean) / std; kept = z > threshold; weights = z * kept / norm(z * kept)
            high = mean + thresholds[s] * spread
            low = mean - thresholds[s] * spread if two_sided else -np.inf
            for j in range(m):
                score = products[s, j]
                if score > high or score < low:
                    places[at], weights[at] = j, score - mean
                    squares += (score - mean) * (score - mean)
                    along += (score - mean) * score
                    at += 1
        length = np.sqrt(squares) if squares > 0.0 else 1.0
        for e in range(first, at):
            weights[e] /= length
        strength[s], bounds[s + 1] = along / length, at
    return bounds, places[:at].copy(), weights[:at].copy(), strength

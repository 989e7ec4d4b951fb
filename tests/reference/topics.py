"""Coherence of topics, pair by pair."""

import math


def npmi(X, words):
    """Return the mean normalised pointwise mutual information of all pairs of words, over documents."""
    n = len(X)
    values = []
    for a, i in enumerate(words):
        for j in words[a + 1 :]:
            p_i = sum(1 for row in X if row[i] > 0) / n
            p_j = sum(1 for row in X if row[j] > 0) / n
            p_ij = sum(1 for row in X if row[i] > 0 and row[j] > 0) / n + 1e-12
            values.append(math.log(p_ij / (p_i * p_j)) / -math.log(p_ij))
    return sum(values) / len(values)

"""What is no better than noise: the rule behind findings, pruning and the verdict."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bivaluate.chance.evidence import Evidence


def is_noise(evidence: Evidence) -> NDArray[np.bool_]:
    """Return which biclusters save nothing under any kind of pattern, judged as if each were the only one.

    A bicluster whose evidence is undefined is too small to be told from noise, and counts as such.

    Parameters
    ----------
    evidence : Evidence
        As :func:`bivaluate.evidence_table` returns it.

    Returns
    -------
    ndarray of bool
        One value per bicluster.

    Examples
    --------
    >>> from bivaluate import Biclustering, evidence_table
    >>> X = np.random.default_rng(0).normal(size=(60, 20))
    >>> X[:15, :6] += 3
    >>> is_noise(evidence_table(X, Biclustering([(range(15), range(6)), (range(30, 45), range(6))], X.shape)))
    array([False,  True])
    """
    return np.asarray(~(evidence.alone > 0))

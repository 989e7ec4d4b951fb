"""Whether a few quick algorithms find more than the search behind `bivaluate find`, by evidence."""

from __future__ import annotations

import warnings
from typing import NamedTuple

from bivaluate.algorithms.registry import ALGORITHMS, make_estimator
from bivaluate.chance.evidence import evidence_table
from bivaluate.matrix import Matrix
from bivaluate.solution import Biclustering

# Algorithms that stop by themselves, each for another kind of pattern; larger matrices would wait for them.
QUICK = ("las", "ssvd", "plaid")
MOST_BICLUSTERS, MOST_CELLS = 10, 1_000_000


class SecondLook(NamedTuple):
    """What another algorithm finds: its key and label, the number of biclusters, their evidence, and that beside it."""

    algorithm: str
    label: str
    n_biclusters: int
    evidence: float
    beside: float


def second_look(matrix: Matrix, found: Biclustering, random_state: int | None = 0) -> SecondLook | None:
    """Return the best of what quick algorithms find, if it saves much more than the biclusters found; otherwise None.

    They are not asked where cells are missing, the matrix is sparse, or it is large.

    Parameters
    ----------
    matrix : Matrix
        The matrix.
    found : Biclustering
        What was found in it.
    random_state : int, optional
        Seed of the algorithms.

    Returns
    -------
    SecondLook or None
        The algorithm whose biclusters have most evidence.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(60, 20))
    >>> X[:24, :6] += 3
    >>> look = second_look(Matrix(X), Biclustering([], X.shape))
    >>> look.algorithm, look.n_biclusters
    ('las', 1)
    >>> second_look(Matrix(X), Biclustering([(range(24), range(6))], X.shape)) is None
    True
    """
    n, m = matrix.shape
    if not matrix.in_memory or matrix.has_missing or n * m > MOST_CELLS:
        return None
    matrix = matrix.settled()
    beside = evidence_table(matrix, found).total
    best: SecondLook | None = None
    for key in QUICK:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            solution = make_estimator(key, MOST_BICLUSTERS, random_state).fit(matrix.values).solution_
        evidence = evidence_table(matrix, solution).total
        if evidence > 1.2 * beside + 20 and (best is None or evidence > best.evidence):
            best = SecondLook(key, ALGORITHMS[key].label, len(solution), evidence, beside)
    return best

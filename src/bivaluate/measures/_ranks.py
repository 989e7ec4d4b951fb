"""Mid-ranks along rows, for rank correlations and rank-normalising."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def midranks(A: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rank each row from 1; ties share the mean of their ranks.

    >>> midranks(np.array([[3.0, 1.0, 3.0, 9.0]]))
    array([[2.5, 1. , 2.5, 4. ]])
    """
    order = np.argsort(A, axis=1, kind="stable")
    ordered = np.take_along_axis(A, order, axis=1)
    position = np.broadcast_to(np.arange(A.shape[1]), A.shape)
    first = np.ones(A.shape, dtype=np.bool_)
    first[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    last = np.ones(A.shape, dtype=np.bool_)
    last[:, :-1] = first[:, 1:]
    start = np.maximum.accumulate(np.where(first, position, 0), axis=1)
    stop = np.minimum.accumulate(np.where(last, position, A.shape[1])[:, ::-1], axis=1)[:, ::-1]
    ranks = np.empty(A.shape)
    np.put_along_axis(ranks, order, (start + stop) / 2 + 1, axis=1)
    return ranks

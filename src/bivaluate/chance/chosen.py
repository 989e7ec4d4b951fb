"""p-values beside a choice: the same choice made in every surrogate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bivaluate._check import check_choice
from bivaluate._errors import ParameterError

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ChosenScore:
    """The best of several candidates beside the best of the same candidates in surrogates.

    Attributes
    ----------
    position
        Position of the best candidate; None where no score is defined.
    score
        Its score.
    p_value
        (1 + number of surrogates whose own best is as good or better)/(B + 1).
    adjusted
        The same for every candidate: its score against the best of each surrogate.
    n
        B, the number of surrogates.
    """

    position: int | None
    score: float
    p_value: float
    adjusted: Floats
    n: int


def chosen_p_value(observed: ArrayLike, surrogates: ArrayLike, direction: str) -> ChosenScore:
    """Choose the best candidate and say how often surrogates, choosing in the same way, reach as much.

    A p-value of one candidate alone is too small once that candidate was chosen for its score: every surrogate must be
    allowed the same choice (the max statistic).

    Parameters
    ----------
    observed : array-like of shape (C,)
        Scores of the candidates, for instance every (algorithm, K); NaN where undefined.
    surrogates : array-like of shape (B, C)
        Scores of the same candidates in each surrogate. A surrogate without any defined score is never as good.
    direction : {"low", "high"}
        Which scores are better.

    Returns
    -------
    ChosenScore

    Raises
    ------
    ParameterError
        If the tables do not fit each other, or there are no surrogates.

    References
    ----------
    Westfall PH, Young SS (1993). Resampling-based multiple testing. Wiley, New York.

    Examples
    --------
    >>> chosen = chosen_p_value([1.0, 3.0], [[0.0, 2.0], [4.0, 1.0], [2.0, 2.5]], "high")
    >>> chosen.position, chosen.p_value, chosen.adjusted.tolist()
    (1, 0.5, [1.0, 0.5])
    """
    sign = -1.0 if check_choice("direction", direction, ("low", "high")) == "low" else 1.0
    scores = sign * np.asarray(observed, dtype=np.float64)
    null = sign * np.asarray(surrogates, dtype=np.float64)
    if scores.ndim != 1 or null.ndim != 2 or null.shape[1] != len(scores):
        raise ParameterError(
            f"observed has shape {scores.shape} and surrogates {null.shape}; (C,) and (B, C) for the same C candidates "
            "are needed."
        )
    if not len(null) or not len(scores):
        raise ParameterError("there are no surrogates, or no candidates: a p-value needs at least one of each.")
    best = np.where(np.isnan(null), -np.inf, null).max(axis=1)
    reached = (best[:, None] >= scores).sum(axis=0)
    adjusted = np.where(np.isnan(scores), np.nan, (1 + reached) / (len(null) + 1))
    if np.isnan(scores).all():
        return ChosenScore(None, float("nan"), float("nan"), adjusted, len(null))
    position = int(np.nanargmax(scores))
    return ChosenScore(position, float(sign * scores[position]), float(adjusted[position]), adjusted, len(null))

"""Does a matrix look like the noise the chance correction assumes, and what to do where it does not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bivaluate._check import check_choice, check_values
from bivaluate._errors import ParameterError
from bivaluate.measures._blocks import midranks, standardise

Floats = NDArray[np.float64]

COLUMN_EFFECT_LIMIT = 0.10
SKEW_LIMIT = 1.0
KURTOSIS_LIMIT = 3.0
AUTOCORRELATION_LIMIT = 0.20
_ROWS_LOOKED_AT = 2000
COLUMN_EFFECTS, TAILS, SMOOTHNESS = "column effects", "tails", "smoothness"


def centre_columns(X: Any) -> Floats:
    """Subtract from each column of `X` its mean over all rows; missing cells stay missing.

    Parameters
    ----------
    X : array-like of shape (n, m)
        Data matrix.

    Returns
    -------
    ndarray of shape (n, m)
        The centred values.

    Raises
    ------
    MatrixError
        If `X` is not a matrix of numbers.

    Examples
    --------
    >>> centre_columns([[1, 10], [3, 30]])
    array([[ -1., -10.],
           [  1.,  10.]])
    """
    return prepare_values(check_values(X, "omit"), "columns")


def column_means(values: Floats) -> Floats:
    """Mean of each column over its observed cells; 0 for a column without any."""
    seen = np.isfinite(values)
    if seen.all():
        return np.asarray(values.mean(axis=0))
    count = seen.sum(axis=0)
    return np.asarray(np.where(seen, values, 0).sum(axis=0) / np.maximum(count, 1))


def rank_normalise(X: Any) -> Floats:
    """Replace each row of `X` by normal scores of its mid-ranks: Φ⁻¹((rank − 1/2)/m).

    Takes skew and heavy tails out of the data, which the search reference cannot stand.

    Parameters
    ----------
    X : array-like of shape (n, m)
        Data matrix without missing cells.

    Returns
    -------
    ndarray of shape (n, m)
        The normal scores.

    Raises
    ------
    MatrixError
        If `X` is not a matrix of finite numbers.

    Examples
    --------
    >>> rank_normalise([[1, 100, 10]]).round(4)
    array([[-0.9674,  0.9674,  0.    ]])
    """
    return prepare_values(check_values(X), normalise="rank")


def prepare_matrix(X: Any, centre: str = "none", normalise: str = "none", missing: str = "raise") -> Floats:
    """Return `X` as the chance correction is to see it: rank-normalised, column-centred, both or neither.

    Parameters
    ----------
    X : array-like of shape (n, m)
        Data matrix.
    centre : {"none", "columns"}
        Whether to subtract column means.
    normalise : {"none", "rank"}
        Whether to replace each row by normal scores of its ranks first.
    missing : {"raise", "omit"}
        Whether NaN cells may be there.

    Returns
    -------
    ndarray of shape (n, m)
        The values.

    Raises
    ------
    MatrixError, ParameterError
        If the data or the options are not usable.

    Examples
    --------
    >>> prepare_matrix([[1, 10], [3, 30]], centre="columns").tolist()
    [[-1.0, -10.0], [1.0, 10.0]]
    """
    return prepare_values(check_values(X, missing), centre, normalise)


def prepare_values(values: Floats, centre: str = "none", normalise: str = "none") -> Floats:
    """Do what `prepare_matrix` says with values that were checked already."""
    check_choice("centre", centre, ("none", "columns"))
    if check_choice("normalise", normalise, ("none", "rank")) == "rank":
        from scipy.special import ndtri

        if np.isnan(values).any():
            raise ParameterError(
                "normalise='rank' needs a matrix without missing cells: impute them, or leave normalise at 'none'."
            )
        values = np.asarray(ndtri((midranks(values) - 0.5) / values.shape[1]))
    return np.asarray(values - column_means(values)) if centre == "columns" else values


def null_model_findings(X: Any) -> list[str]:
    """Say in words where `X` breaks the assumptions of E0 and V* (independent, roughly normal cells).

    Looks at no more than 2000 rows, evenly spread. Three questions, all on rows standardised to mean 0 and
    variance 1: what share of the variance do column means explain (limit 0.10); how skewed and heavy-tailed
    are the cells (limits 1 and 3); how strongly do neighbouring columns correlate (limit 0.20). Limits are widened
    by about three standard errors for small matrices.

    Parameters
    ----------
    X : array-like of shape (n, m)
        Data matrix; NaN cells are passed over.

    Returns
    -------
    list of str
        One sentence for each assumption that does not hold.

    Raises
    ------
    MatrixError
        If `X` is not a matrix of numbers.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(200, 30))
    >>> null_model_findings(X)
    []
    >>> null_model_findings(X + 2 * np.sin(np.arange(30)))[0][:28]
    'Columns have strong effects '
    """
    return list(broken_assumptions(check_values(X, "omit")).values())


def broken_assumptions(values: Floats) -> dict[str, str]:
    """Return what `null_model_findings` says about values that were checked already, by what the sentence is about."""
    step = -(-len(values) // _ROWS_LOOKED_AT)
    rows = standardise(values[::step])
    n, m = rows.shape
    if n < 10 or m < 3:
        return {}
    findings = {}
    error = 3 / math.sqrt(n * m)
    explained = float((rows.mean(axis=0) ** 2).mean()) - 1 / n
    if explained > COLUMN_EFFECT_LIMIT + error:
        findings[COLUMN_EFFECTS] = (
            f"Columns have strong effects of their own ({explained:.0%} of the variance within rows): chance-corrected "
            "scores are too favourable on raw data: read the measures whose keys end in _centred, or centre the columns "
            "first."
        )
    residual = standardise(rows - rows.mean(axis=0))
    skew, kurtosis = float((residual**3).mean()), float((residual**4).mean()) - 3
    if abs(skew) > SKEW_LIMIT + 3 * error or kurtosis > KURTOSIS_LIMIT + 5 * error:
        findings[TAILS] = (
            f"Values are heavily skewed or heavy-tailed (skewness {skew:.1f}, excess kurtosis {kurtosis:.1f}): a search finds "
            "more in them than the null allows for; take logarithms, or rank-normalise the rows, first."
        )
    neighbours = float((residual[:, 1:] * residual[:, :-1]).mean()) + 1 / m
    if neighbours > AUTOCORRELATION_LIMIT + error:
        findings[SMOOTHNESS] = (
            f"Neighbouring columns are correlated ({neighbours:.2f}): if columns are ordered (time, dose), smooth series look "
            "coherent by themselves: judge them with propose_pruning(..., ordered_columns=True)."
        )
    return findings

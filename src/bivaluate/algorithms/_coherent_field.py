"""A prepared matrix ready to be searched: single blocks of it scored, named by their kind, explained away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from bivaluate.algorithms._estimator import Pair, Values
from bivaluate.algorithms.large_average import log_binomials

# A pattern, or levels that differ from row to row, count from this share of the noise variance on.
NOTICEABLE = 0.25
# Slopes that differ by more than this share of their mean are no longer one slope.
ONE_SLOPE = 0.35
# Rows against the pattern count from this share on.
BOTH_SIGNS = 0.1


@dataclass(frozen=True)
class Fit:
    """A block with its evidence S in nats and the fitted parameters."""

    score: float
    rows: NDArray[np.int64]
    cols: NDArray[np.int64]
    theta: Values
    pattern: Values
    shift: Values
    slope: Values
    centre: Values
    spread: Values
    cells: Values


def make_field(Z: Values, precision: Values | None = None) -> Any:
    """Return the kernels' view of a prepared matrix.

    Parameters
    ----------
    Z : ndarray of shape (n, m)
        Prepared cells, NaN where missing.
    precision : ndarray of shape (m, m) or None
        Inverse of the columns' correlation matrix; None for independent columns.
    """
    from bivaluate.algorithms._kernels_coherent import KAPPA0, Field

    n, m = Z.shape
    there = ~np.isnan(Z)
    Zt = np.ascontiguousarray(np.where(there, Z, 0.0).T)
    complete = bool(there.all())
    size = there.sum(axis=1).astype(np.float64)
    field = Field(
        Zt=Zt,
        seen=np.zeros((0, 0), np.uint8) if complete else np.ascontiguousarray(there.T.astype(np.uint8)),
        s=np.empty(n),
        q=np.empty(n),
        size=size,
        kappa=KAPPA0 + size if precision is None else np.full(n, KAPPA0 + precision.sum()),
        whole=np.empty(n),
        precision=np.zeros((0, 0)) if precision is None else np.ascontiguousarray(precision),
        ones=np.zeros(0) if precision is None else precision.sum(axis=1),
        Yt=np.zeros((0, 0)) if precision is None else np.empty((m, n)),
        half_gamma=gammaln(np.maximum(np.arange(m + 8), 1) / 2.0),
        choose_rows=log_binomials(n),
        choose_cols=log_binomials(m),
    )
    refresh(field, np.arange(n))
    return field


def refresh(field: Any, rows: NDArray[np.int64]) -> None:
    """Bring what is kept about `rows` up to date after their cells have changed."""
    from bivaluate.algorithms._kernels_coherent import NU0, marginals

    Z = field.Zt[:, rows]
    if len(field.ones):
        Y = field.precision @ Z
        field.Yt[:, rows] = Y
        field.s[rows] = field.ones @ Z
        field.q[rows] = (Y * Z).sum(axis=0)
    else:
        field.s[rows] = Z.sum(axis=0)
        field.q[rows] = (Z * Z).sum(axis=0)
    rest = NU0 + field.q[rows] - field.s[rows] ** 2 / field.kappa[rows]
    field.whole[rows] = marginals(field.half_gamma, field.size[rows], field.kappa[rows], rest)


def copy_field(field: Any) -> Any:
    """Return a copy whose cells may be changed."""
    changing = ("Zt", "seen", "s", "q", "size", "kappa", "whole", "Yt")
    own = {name: getattr(field, name).copy() for name in changing}
    if not len(field.ones) and not len(field.seen):
        own["seen"] = np.ones(field.Zt.shape, np.uint8)
    return field._replace(**own)


def remove(field: Any, rows: NDArray[np.int64], cols: NDArray[np.int64]) -> None:
    """Explain the block away: its cells are unseen from now on or, in correlated columns, look like background.

    There they become the background's expectation plus the residuals of the block model, rescaled to background noise.
    """
    block = np.ix_(cols, rows)
    if len(field.ones):
        model = fit(field, rows, cols)
        residual = model.cells - model.shift[:, np.newaxis] - model.slope[:, np.newaxis] * model.pattern
        residual *= model.spread[:, np.newaxis] / np.sqrt(max(float((residual**2).mean()), 1e-12))
        root = np.linalg.cholesky(field.precision[np.ix_(cols, cols)])
        y = field.Yt[block]
        # O_JJ^-1 y_J is what the cells differ from expectation; noise L'^-1 e has covariance O_JJ^-1.
        field.Zt[block] += np.linalg.solve(root.T, residual.T - np.linalg.solve(root, y))
    else:
        gone = field.seen[block].sum(axis=0)
        field.seen[block] = 0
        field.Zt[block] = 0.0
        field.size[rows] -= gone
        field.kappa[rows] -= gone
    refresh(field, rows)


def without(field: Any, blocks: list[Pair]) -> Any:
    """Return a copy of the field with the blocks explained away, one after the other."""
    rest = copy_field(field)
    for rows, cols in blocks:
        remove(rest, rows, cols)
    return rest


def fit(field: Any, rows: NDArray[np.int64], cols: NDArray[np.int64]) -> Fit:
    """Fit the block model to (rows, cols) and score it; at least two rows and two columns are needed."""
    return _judge(field, rows, cols, rows[:0])[0]


def evidence_of_rows(field: Any, rows: NDArray[np.int64], cols: NDArray[np.int64], which: NDArray[np.int64]) -> Values:
    """Return the log-likelihood ratio of the rows `which` under the block model fitted to (rows, cols)."""
    return _judge(field, rows, cols, which)[1]


def _judge(field: Any, rows: Any, cols: Any, which: Any) -> tuple[Fit, Values]:
    from bivaluate.algorithms._kernels_coherent import N_PARAMETERS
    from bivaluate.algorithms._kernels_coherent_evidence import judge

    r, c = len(rows), len(cols)
    model = (np.empty(N_PARAMETERS), np.empty(c), np.empty(r), np.empty(r), np.empty(r), np.empty(r))
    cells, evidence = np.empty((r, c)), np.empty(len(which))
    score = judge(field, rows, cols, which, model, cells, evidence)
    return Fit(float(score), rows, cols, *model, cells), evidence


def kind_of(block: Fit) -> str:
    """Return the kind of a fitted block.

    "raised" and "lowered": one level; "constant rows": every row its own level; "additive": one pattern, shifted from row
    to row; "row-affine": the pattern is also stretched; "row-affine, both signs": some rows follow it upside down.
    """
    from bivaluate.algorithms._kernels_coherent import LEVEL, LEVEL_VARIANCE, NOISE, PATTERN, PATTERN_VARIANCE

    theta, c = block.theta, len(block.cols)
    noise = theta[NOISE]
    # The leading direction of c - 1 columns of plain noise over r rows has about this variance.
    by_chance = noise * (1.0 + np.sqrt((c - 1) / len(block.rows))) ** 2
    pattern = (theta[PATTERN] ** 2 + theta[PATTERN_VARIANCE] - by_chance) / c
    if pattern < NOTICEABLE * noise:
        levels = (theta[LEVEL_VARIANCE] - noise) / c
        if levels >= NOTICEABLE * noise and levels > theta[LEVEL] ** 2 / 4:
            return "constant rows"
        return "raised" if theta[LEVEL] > 0 else "lowered"
    against = float((block.slope < 0).mean())
    if min(against, 1 - against) >= BOTH_SIGNS:
        return "row-affine, both signs"
    stretch = np.sqrt(max(theta[PATTERN_VARIANCE] - noise, 0.0)) / max(theta[PATTERN], 1e-12)
    return "row-affine" if stretch > ONE_SLOPE else "additive"

"""A prepared matrix ready to be searched: single blocks of it fitted, scored, explained away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from bivaluate.algorithms._estimator import Values
from bivaluate.algorithms.large_average import log_binomials

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class PatternFit:
    """The score S of a block and its fitted model: cells in units of their rows' background, and what explains them."""

    score: float
    theta: Values
    pattern: Values
    shift: Values
    slope: Values
    centre: Values
    spread: Values
    cells: Values

    def residuals(self) -> Values:
        """Return what the pattern leaves of the cells, at the scale of the background of their rows."""
        left = self.cells - self.shift[:, np.newaxis] - self.slope[:, np.newaxis] * self.pattern
        return np.asarray(left * self.spread[:, np.newaxis] / np.sqrt(max(float((left**2).mean()), 1e-12)))


def make_field(Z: Values, precision: Values | None = None) -> Any:
    """Return the kernels' view of a prepared matrix without gaps."""
    from bivaluate.algorithms import _kernels_coherent as kernels

    n, m = Z.shape
    tables = np.zeros((3, max(n + 1, m + 8)))
    tables[kernels.HALF_GAMMA, : m + 8] = gammaln(np.maximum(np.arange(m + 8), 1) / 2.0)
    tables[kernels.CHOOSE_ROWS, : n + 1] = log_binomials(n)
    tables[kernels.CHOOSE_COLS, : m + 1] = log_binomials(m)
    field = kernels.Field(
        Zt=np.ascontiguousarray(Z.T),
        Yt=np.zeros((0, 0)) if precision is None else np.empty((m, n)),
        lines=np.zeros((3, n)),
        precision=np.zeros((0, 0)) if precision is None else np.vstack([precision, precision.sum(axis=1)]),
        tables=tables,
        kappa=kernels.KAPPA0 + float(m if precision is None else precision.sum()),
    )
    refresh(field, np.arange(n))
    return field


def refresh(field: Any, rows: Rows) -> None:
    """Bring what is kept about `rows` up to date after their cells have changed."""
    from bivaluate.algorithms import _kernels_coherent as kernels

    Z = field.Zt[:, rows]
    if len(field.precision):
        Y = field.precision[: kernels.ONES] @ Z
        field.Yt[:, rows] = Y
        s, q = field.precision[kernels.ONES] @ Z, (Y * Z).sum(axis=0)
    else:
        s, q = Z.sum(axis=0), (Z * Z).sum(axis=0)
    size, nu, half_gamma = len(Z), kernels.NU0 + len(Z), field.tables[kernels.HALF_GAMMA]
    same = half_gamma[int(nu)] - half_gamma[int(kernels.NU0)] + 0.5 * kernels.NU0 * np.log(kernels.NU0)
    same -= 0.5 * (np.log(field.kappa / kernels.KAPPA0) + size * kernels.LOG_PI)
    field.lines[kernels.ROW_S, rows], field.lines[kernels.ROW_Q, rows] = s, q
    field.lines[kernels.ROW_WHOLE, rows] = same - 0.5 * nu * np.log(kernels.NU0 + q - s**2 / field.kappa)


def copy_field(field: Any) -> Any:
    """Return a copy whose cells may be changed."""
    return field._replace(Zt=field.Zt.copy(), Yt=field.Yt.copy(), lines=field.lines.copy())


def remove(field: Any, rows: Rows, cols: Rows) -> None:
    """Explain the block away: its cells look like background from now on.

    They become the background's expectation plus the residuals of the block model, rescaled to background noise.
    """
    block = np.ix_(cols, rows)
    model = fit_pattern(field, rows, cols)
    residual = model.residuals().T
    if len(field.precision):
        root = np.linalg.cholesky(field.precision[np.ix_(cols, cols)])
        # O_JJ^-1 y_J is what the cells differ from expectation; noise L'^-1 e has covariance O_JJ^-1.
        field.Zt[block] += np.linalg.solve(root.T, residual - np.linalg.solve(root, field.Yt[block]))
    else:
        field.Zt[block] = model.centre + residual
    refresh(field, rows)


def fit_pattern(field: Any, rows: Rows, cols: Rows) -> PatternFit:
    """Fit the block model to (rows, cols) and score it; at least two rows and two columns are needed."""
    from bivaluate.algorithms._kernels_coherent import N_PARAMETERS, judge_block

    r, c = len(rows), len(cols)
    model = (np.empty(N_PARAMETERS), np.empty(c), np.empty(r), np.empty(r), np.empty(r), np.empty(r))
    cells = np.empty((r, c))
    return PatternFit(float(judge_block(field, rows, cols, model, cells)), *model, cells)

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

    def residuals(self) -> Values:
        """Return what the pattern leaves of the cells, at the scale of the background of their rows."""
        left = self.cells - self.shift[:, np.newaxis] - self.slope[:, np.newaxis] * self.pattern
        return np.asarray(left * self.spread[:, np.newaxis] / np.sqrt(max(float((left**2).mean()), 1e-12)))


def make_field(Z: Values, precision: Values | None = None) -> Any:
    """Return the kernels' view of a prepared matrix."""
    from bivaluate.algorithms._kernels_coherent import (
        CHOOSE_COLS,
        CHOOSE_ROWS,
        HALF_GAMMA,
        KAPPA0,
        ROW_KAPPA,
        ROW_SIZE,
        Field,
    )

    n, m = Z.shape
    there = ~np.isnan(Z)
    complete = bool(there.all())
    lines = np.zeros((5, n))
    lines[ROW_SIZE] = there.sum(axis=1)
    lines[ROW_KAPPA] = KAPPA0 + (lines[ROW_SIZE] if precision is None else precision.sum())
    tables = np.zeros((3, max(n + 1, m + 8)))
    tables[HALF_GAMMA, : m + 8] = gammaln(np.maximum(np.arange(m + 8), 1) / 2.0)
    tables[CHOOSE_ROWS, : n + 1] = log_binomials(n)
    tables[CHOOSE_COLS, : m + 1] = log_binomials(m)
    field = Field(
        Zt=np.ascontiguousarray(np.where(there, Z, 0.0).T),
        seen=np.zeros((0, 0), np.uint8) if complete else np.ascontiguousarray(there.T.astype(np.uint8)),
        Yt=np.zeros((0, 0)) if precision is None else np.empty((m, n)),
        lines=lines,
        precision=np.zeros((0, 0)) if precision is None else np.vstack([precision, precision.sum(axis=1)]),
        tables=tables,
    )
    refresh(field, np.arange(n))
    return field


def refresh(field: Any, rows: NDArray[np.int64]) -> None:
    """Bring what is kept about `rows` up to date after their cells have changed."""
    from bivaluate.algorithms._kernels_coherent import (
        NU0,
        ONES,
        ROW_KAPPA,
        ROW_Q,
        ROW_S,
        ROW_SIZE,
        ROW_WHOLE,
        marginals,
    )

    Z = field.Zt[:, rows]
    if len(field.precision):
        Y = field.precision[:ONES] @ Z
        field.Yt[:, rows] = Y
        s, q = field.precision[ONES] @ Z, (Y * Z).sum(axis=0)
    else:
        s, q = Z.sum(axis=0), (Z * Z).sum(axis=0)
    size, kappa = field.lines[ROW_SIZE, rows], field.lines[ROW_KAPPA, rows]
    field.lines[ROW_S, rows] = s
    field.lines[ROW_Q, rows] = q
    field.lines[ROW_WHOLE, rows] = marginals(field.tables, size, kappa, NU0 + q - s**2 / kappa)


def copy_field(field: Any) -> Any:
    """Return a copy whose cells may be changed."""
    own = {name: getattr(field, name).copy() for name in ("Zt", "seen", "Yt", "lines")}
    if not len(field.precision) and not len(field.seen):
        own["seen"] = np.ones(field.Zt.shape, np.uint8)
    return field._replace(**own)


def remove(field: Any, rows: NDArray[np.int64], cols: NDArray[np.int64]) -> None:
    """Explain the block away: its cells are unseen from now on or, in correlated columns, look like background.

    There they become the background's expectation plus the residuals of the block model, rescaled to background noise.
    """
    from bivaluate.algorithms._kernels_coherent import ROW_KAPPA, ROW_SIZE

    block = np.ix_(cols, rows)
    if len(field.precision):
        residual = fit(field, rows, cols).residuals()
        root = np.linalg.cholesky(field.precision[np.ix_(cols, cols)])
        y = field.Yt[block]
        # O_JJ^-1 y_J is what the cells differ from expectation; noise L'^-1 e has covariance O_JJ^-1.
        field.Zt[block] += np.linalg.solve(root.T, residual.T - np.linalg.solve(root, y))
    else:
        gone = field.seen[block].sum(axis=0)
        field.seen[block] = 0
        field.Zt[block] = 0.0
        field.lines[ROW_SIZE, rows] -= gone
        field.lines[ROW_KAPPA, rows] -= gone
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

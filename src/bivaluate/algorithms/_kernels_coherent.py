"""Kernels of the coherent submatrix search: the background of rows, the fit of the block model, its score.

Promise of the caller: a `Field` is consistent (see `_coherent_field.py`), float64, C-contiguous and finite; indices are
int64, without repeats.

Notation as in the documentation: J the columns of a block (c of them), z the cells of a row in units of the row's own
background outside J, u the level and v the pattern coordinate of a row. `inverse` is that of O_JJ, O the precision of
the columns; it is not looked at where columns are independent.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bivaluate._jit import inlined_kernel, inner_kernel, keep_apart, kernel

# Rows come centred and scaled: both are known beforehand as well as from so many cells.
KAPPA0, NU0 = 1.5, 2.0
LOG_PI = math.log(math.pi)
POWER_STEPS = 6
SMALLEST_NOISE = 0.05**2
# Places in the array of fitted parameters.
LEVEL, LEVEL_VARIANCE, PATTERN, PATTERN_VARIANCE, NOISE, POSITIVE, POWER, POWER_WITHOUT_LEVEL = range(8)
N_PARAMETERS = 8
# Rows whose forms y'O_JJ^-1 y are worked out together.
AT_A_TIME = 128
# Lines of `Field.lines`, of `Field.tables`, and the last one of `Field.precision`.
ROW_S, ROW_Q, ROW_WHOLE = range(3)
HALF_GAMMA, CHOOSE_ROWS, CHOOSE_COLS = range(3)
ONES = -1
# Lines of sums over the cells of a row in J: z, z^2, zp, and what J takes from s and from q.
SUM_Z, SUM_Z2, SUM_ZP, S_IN, Q_IN = range(5)
N_SUMS = 5


class Field(NamedTuple):
    """A prepared matrix and what is needed to judge any block of it; few arrays, because each takes time to compile.

    `lines` holds, for every row: 1'Oz, z'Oz and the log marginal likelihood of the row, O the precision of the columns;
    `kappa` is kappa0 + 1'O1. `precision` holds O and, as its last line, O1; it and `Yt` (the transpose of ZO) are empty
    if the columns are independent. `tables` holds log gamma(k / 2), log C(n, k) and log C(m, k).
    """

    Zt: Any
    Yt: Any
    lines: Any
    precision: Any
    tables: Any
    kappa: float


@inner_kernel
def invert(field: Any, cols: Any, inverse: Any) -> float:
    """Fill the inverse of O_JJ and return log|O_JJ|; nothing and 0 if the columns are independent."""
    # inverse[:c, :c] = np.linalg.inv(O[np.ix_(cols, cols)])
    keep_apart()
    log_det = 0.0
    if len(field.precision) == 0:
        return log_det
    c = len(cols)
    for a in range(c):
        for b in range(c):
            inverse[a, b] = field.precision[cols[a], cols[b]]
    for k in range(c):
        pivot = max(inverse[k, k], 1e-12)
        log_det += math.log(pivot)
        inverse[k, k] = 1.0
        for b in range(c):
            inverse[k, b] /= pivot
        for a in range(c):
            if a != k:
                f = inverse[a, k]
                inverse[a, k] = 0.0
                for b in range(c):
                    inverse[a, b] -= f * inverse[k, b]
    return log_det


@inner_kernel
def take_correlated(field: Any, rows: Any, cols: Any, inverse: Any, s_in: Any, q_in: Any) -> float:
    """Fill what the cells in J take from s and q of rows in correlated columns; return what they take from kappa."""
    # s_in = (inverse @ O1[cols]) @ Y, q_in = (Y * (inverse @ Y)).sum(axis=0), Y = Yt[np.ix_(cols, rows)]
    keep_apart()
    c, n, kappa_in = len(cols), len(rows), 0.0
    Y, x = np.empty((c, AT_A_TIME)), np.empty(AT_A_TIME)
    for first in range(0, n, AT_A_TIME):
        size = min(AT_A_TIME, n - first)
        s, q = s_in[first : first + size], q_in[first : first + size]
        for a in range(c):
            for k in range(size):
                Y[a, k] = field.Yt[cols[a], rows[first + k]]
        for k in range(size):
            s[k], q[k] = 0.0, 0.0
        for a in range(c):
            weight = 0.0
            for k in range(size):
                x[k] = 0.0
            for b in range(c):
                f = inverse[a, b]
                weight += f * field.precision[ONES, cols[b]]
                for k in range(size):
                    x[k] += f * Y[b, k]
            kappa_in += weight * field.precision[ONES, cols[a]] if first == 0 else 0.0
            for k in range(size):
                s[k] += weight * Y[a, k]
                q[k] += x[k] * Y[a, k]
    return kappa_in


@inner_kernel
def sum_cells(field: Any, rows: Any, cols: Any, inverse: Any, sums: Any) -> float:
    """Fill the sums over the cells of the rows in J that no model is needed for; return what J takes from kappa."""
    keep_apart()
    n = len(rows)
    every = n == field.Zt.shape[1]
    z1, z2 = sums[SUM_Z], sums[SUM_Z2]
    for k in range(n):
        z1[k], z2[k] = 0.0, 0.0
    for a in range(len(cols)):
        column = field.Zt[cols[a]]
        if every:
            for i in range(n):
                z1[i] += column[i]
                z2[i] += column[i] * column[i]
        else:
            for k in range(n):
                x = column[rows[k]]
                z1[k] += x
                z2[k] += x * x
    if len(field.precision) > 0:
        return take_correlated(field, rows, cols, inverse, sums[S_IN], sums[Q_IN])
    for k in range(n):
        sums[S_IN, k], sums[Q_IN, k] = z1[k], z2[k]
    return float(len(cols))


@inner_kernel
def standardise(field: Any, rows: Any, cols: Any, inverse: Any, sums: Any, centre: Any, spread: Any, z: Any) -> None:
    """Fill the centre and spread of the rows' background outside J, and z, the cells of the block in these units."""
    # z = (Z[np.ix_(rows, cols)] - centre[:, None]) / spread[:, None]
    keep_apart()
    kappa = field.kappa - sum_cells(field, rows, cols, inverse, sums)
    nu = NU0 + len(field.Zt) - len(cols)
    for k in range(len(rows)):
        s, q = field.lines[ROW_S, rows[k]] - sums[S_IN, k], field.lines[ROW_Q, rows[k]] - sums[Q_IN, k]
        centre[k] = s / kappa
        spread[k] = math.sqrt((NU0 + q - s * s / kappa) / nu)
        for a in range(len(cols)):
            z[k, a] = (field.Zt[cols[a], rows[k]] - centre[k]) / spread[k]


@inlined_kernel
def leading_pattern(z: Any, shift: Any, first: int, v: Any, pattern: Any) -> int:
    """Fill the pattern, by power steps from the row `first`, and the coordinates `v` of the rows along it.

    The sign of the pattern is that of most rows, and their number is returned.
    """
    r, c = z.shape
    for a in range(c):
        pattern[a] = z[first, a] - shift[first]
    for step in range(POWER_STEPS + 1):
        norm = 0.0
        for a in range(c):
            norm += pattern[a] ** 2
        if norm <= 0.0:
            for a in range(c):
                pattern[a] = 0.0
            pattern[0], pattern[1] = math.sqrt(0.5), -math.sqrt(0.5)
        else:
            for a in range(c):
                pattern[a] /= math.sqrt(norm)
        centre, n_positive = 0.0, 0
        for k in range(r):
            v[k] = 0.0
            for a in range(c):
                v[k] += z[k, a] * pattern[a]
            centre += v[k] * shift[k]
            n_positive += v[k] > 0.0
        if step == POWER_STEPS:
            break
        # pattern = E.T @ (E @ pattern), E the row-centred cells
        for a in range(c):
            pattern[a] = -centre
        for k in range(r):
            for a in range(c):
                pattern[a] += v[k] * z[k, a]
    if 2 * n_positive < r:
        n_positive = 0
        for a in range(c):
            pattern[a] = -pattern[a]
        for k in range(r):
            v[k] = -v[k]
            n_positive += v[k] > 0.0
    return n_positive


@inner_kernel
def estimate(z: Any, pattern: Any, theta: Any, shift: Any, slope: Any) -> None:
    """Fit the block model to the cells `z`: fill the pattern, the parameters, and shift and slope of every row."""
    keep_apart()
    r, c = z.shape
    level, total, largest, first = 0.0, 0.0, -1.0, 0
    for k in range(r):
        mean, norm = 0.0, 0.0
        for a in range(c):
            mean += z[k, a] / c
        for a in range(c):
            norm += (z[k, a] - mean) ** 2
        shift[k] = mean
        level += mean / r
        total += norm + c * mean * mean
        if norm > largest:
            largest, first = norm, k
    v = slope
    n_positive = leading_pattern(z, shift, first, v, pattern)
    V1, V2, g, levels, along = 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(r):
        V1 += (shift[k] - level) ** 2 * c / (r - 1.0)
        g += abs(v[k]) / r
        levels += c * shift[k] ** 2
        along += v[k] ** 2
    for k in range(r):
        V2 += (abs(v[k]) - g) ** 2 / (r - 1.0)
    tau2 = (total - levels - along) / ((r - 1.0) * (c - 2.0)) if c > 2 else min(V1, V2)
    tau2 = min(max(tau2, SMALLEST_NOISE), 1.0)
    V1, V2 = max(V1, tau2), max(V2, tau2)
    theta[LEVEL], theta[LEVEL_VARIANCE] = level, V1
    theta[PATTERN], theta[PATTERN_VARIANCE] = g, V2
    theta[NOISE], theta[POSITIVE] = tau2, (n_positive + 1.0) / (r + 2.0)
    theta[POWER] = max(total / (r * c), SMALLEST_NOISE)
    theta[POWER_WITHOUT_LEVEL] = max((total - levels) / (r * (c - 1.0)), SMALLEST_NOISE)
    for k in range(r):
        sign = 1.0 if v[k] > 0.0 else -1.0
        shift[k] = level + (V1 - tau2) / V1 * (shift[k] - level)
        slope[k] = sign * g + (V2 - tau2) / V2 * (v[k] - sign * g)


@inner_kernel
def log_mixture(theta: Any, log_w: float, log_1_w: float, v: float, base: float, nu: float, dimension: float) -> Any:
    """Return log[w k(v - g) + (1 - w) k(v + g)], k(d) = (1 + (base + d^2 / V2) / nu)^(-(nu + dimension) / 2)."""
    near = (v - theta[PATTERN]) ** 2 / theta[PATTERN_VARIANCE]
    far = (v + theta[PATTERN]) ** 2 / theta[PATTERN_VARIANCE]
    half = 0.5 * (nu + dimension)
    one = log_w - half * math.log(1.0 + (base + near) / nu)
    two = log_1_w - half * math.log(1.0 + (base + far) / nu)
    top, gap = max(one, two), abs(one - two)
    return top + math.log(1.0 + math.exp(-gap)) if gap < 40.0 else top


@inner_kernel
def row_evidence(
    field: Any, rows: Any, cols: Any, log_det: float, kappa_in: float, pattern: Any, theta: Any, sums: Any,
    evidence: Any,
) -> None:  # fmt: skip
    """Fill the log-likelihood ratio (block against background) of rows whose sums `sum_cells` has filled."""
    keep_apart()
    c, n, zp = len(cols), len(rows), sums[SUM_ZP]
    every = n == field.Zt.shape[1]
    for k in range(n):
        zp[k] = 0.0
    for a in range(c):
        column = field.Zt[cols[a]]
        if every:
            for i in range(n):
                zp[i] += column[i] * pattern[a]
        else:
            for k in range(n):
                zp[k] += column[rows[k]] * pattern[a]
    V1, V2, tau2 = theta[LEVEL_VARIANCE], theta[PATTERN_VARIANCE], theta[NOISE]
    log_w, log_1_w = math.log(theta[POSITIVE]), math.log(1.0 - theta[POSITIVE])
    kappa, nu, root_c = field.kappa - kappa_in, NU0 + len(field.Zt) - c, math.sqrt(c)
    # What is the same in every row: of the cells outside J, and of the density of those in J.
    same = -0.5 * math.log(kappa / KAPPA0) + 0.5 * NU0 * math.log(NU0) - 0.5 * (nu - NU0) * LOG_PI - 0.5 * log_det
    same += field.tables[HALF_GAMMA, int(nu) + c] - field.tables[HALF_GAMMA, int(NU0)]
    same -= 0.5 * (c * LOG_PI + math.log(V1) + math.log(V2) + (c - 2) * math.log(tau2))
    for k in range(n):
        s, q = field.lines[ROW_S, rows[k]] - sums[S_IN, k], field.lines[ROW_Q, rows[k]] - sums[Q_IN, k]
        rest = NU0 + q - s * s / kappa
        centre, scale = s / kappa, math.sqrt(nu / rest)
        u, v = (sums[SUM_Z, k] - c * centre) * scale / root_c, zp[k] * scale
        power = (sums[SUM_Z2, k] - 2.0 * centre * sums[SUM_Z, k] + c * centre * centre) * scale * scale
        base = (u - root_c * theta[LEVEL]) ** 2 / V1 + max(power - u * u - v * v, 0.0) / tau2
        evidence[k] = same - 0.5 * (nu + c) * math.log(rest) - field.lines[ROW_WHOLE, rows[k]]
        evidence[k] += log_mixture(theta, log_w, log_1_w, v, base, nu, c)


@inlined_kernel
def structure(field: Any, z: Any, pattern: Any, theta: Any) -> Any:
    """Return how much better the block model fits than cells of one variance around the background.

    The level is left out on both sides if J has more than half of the columns.
    """
    r, c = z.shape
    m, tau2, V1 = len(field.Zt), theta[NOISE], theta[LEVEL_VARIANCE]
    with_level = 2 * c <= m
    nu, root_c = NU0 + m - c, math.sqrt(c)
    log_w, log_1_w = math.log(theta[POSITIVE]), math.log(1.0 - theta[POSITIVE])
    d, variance = (c, theta[POWER]) if with_level else (c - 1, theta[POWER_WITHOUT_LEVEL])
    same = 0.5 * (d * math.log(variance) - math.log(theta[PATTERN_VARIANCE]) - (c - 2) * math.log(tau2))
    same -= 0.5 * math.log(V1) if with_level else 0.0
    total = r * same
    for k in range(r):
        level, power, v = 0.0, 0.0, 0.0
        for a in range(c):
            level += z[k, a]
            power += z[k, a] ** 2
            v += z[k, a] * pattern[a]
        u = level / root_c
        base = max(power - u * u - v * v, 0.0) / tau2
        base += (u - root_c * theta[LEVEL]) ** 2 / V1 if with_level else 0.0
        power -= 0.0 if with_level else u * u
        total += log_mixture(theta, log_w, log_1_w, v, base, nu, d)
        total += 0.5 * (nu + d) * math.log(1.0 + power / (variance * nu))
    return total


@inner_kernel
def score_block(
    field: Any, rows: Any, cols: Any, inverse: Any, log_det: float, pattern: Any, theta: Any, z: Any, sums: Any,
    evidence: Any,
) -> Any:  # fmt: skip
    """Return S, the evidence of the fitted block after the cost of choosing its rows, columns and parameters."""
    keep_apart()
    r, c = len(rows), len(cols)
    m, n = field.Zt.shape
    kappa_in = sum_cells(field, rows, cols, inverse, sums)
    row_evidence(field, rows, cols, log_det, kappa_in, pattern, theta, sums, evidence)
    # D, the evidence a free pattern and six fitted parameters cost.
    signal = r * (theta[PATTERN] ** 2 + theta[PATTERN_VARIANCE]) / ((c - 1) * theta[NOISE])
    D = 0.5 * (c - 1) * (1.0 + math.log(max(1.0, signal))) + 3.0 * math.log(r + 1.0)
    S = -field.tables[CHOOSE_ROWS, r] - field.tables[CHOOSE_COLS, c] - math.log(n) - math.log(m) - D
    for k in range(r):
        S += evidence[k]
    if S > 0.0:
        coherent = structure(field, z, pattern, theta) - D
        if coherent <= 0.0 or (2 * c > m and coherent < S):
            S = coherent
    return S


@kernel
def judge_block(field: Any, rows: Any, cols: Any, model: Any, z: Any) -> Any:
    """Fit the block (rows, cols) and return S.

    `model` holds arrays to fill: parameters, pattern, and shift, slope, centre and spread of the rows; `z` the cells of
    the block in units of their rows' background.
    """
    theta, pattern, shift, slope, centre, spread = model
    m = field.Zt.shape[0]
    inverse, sums = np.empty((m, m)), np.empty((N_SUMS, len(rows)))
    log_det = invert(field, cols, inverse)
    standardise(field, rows, cols, inverse, sums, centre, spread, z)
    estimate(z, pattern, theta, shift, slope)
    return score_block(field, rows, cols, inverse, log_det, pattern, theta, z, sums, np.empty(len(rows)))

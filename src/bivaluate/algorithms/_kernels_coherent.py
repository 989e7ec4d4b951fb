"""Kernels of the coherent submatrix search: the background of rows and the fit of the block model.

Promise of the caller: a `Field` is consistent (see `_coherent_field.py`), float64 and C-contiguous; missing cells
hold 0 in `Z` and 0 in `seen`; index arrays are int64, without repeats.

Notation as in the documentation: J the columns of a block (c of them), z the cells of a row in units of the row's own
background outside J, u the level and v the pattern coordinate of a row.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bivaluate._jit import inlined_kernel, inner_kernel, keep_apart, kernel

# Rows come centred and scaled: both are known beforehand as well as from so many cells.
KAPPA0 = 1.5
NU0 = 2.0
LOG_PI = math.log(math.pi)
POWER_STEPS = 6
SMALLEST_NOISE = 0.05**2
# Places in the array of fitted parameters.
LEVEL, LEVEL_VARIANCE, PATTERN, PATTERN_VARIANCE, NOISE, POSITIVE, POWER, POWER_WITHOUT_LEVEL = range(8)
N_PARAMETERS = 8
# Rows, or columns, whose forms y'O_JJ^-1 y are worked out together.
AT_A_TIME = 128


# Lines of `Field.lines`, of `Field.tables`, and the last one of `Field.precision`.
ROW_S, ROW_Q, ROW_SIZE, ROW_KAPPA, ROW_WHOLE = range(5)
HALF_GAMMA, CHOOSE_ROWS, CHOOSE_COLS = range(3)
ONES = -1


class Field(NamedTuple):
    """A prepared matrix and what is needed to judge any block of it; few arrays, because each takes time to compile.

    `lines` holds, for every row: 1'Oz, z'Oz, its observed cells, kappa0 + 1'O1 and the log marginal likelihood of the
    whole row, O the precision of the columns. `precision` holds O and, as its last line, O1; it and `Yt` (the transpose
    of ZO) are empty if the columns are independent, `seen` (transposed) if no cell is missing. `tables` holds log
    gamma(k / 2), log C(n, k) and log C(m, k).
    """

    Zt: Any
    seen: Any
    Yt: Any
    lines: Any
    precision: Any
    tables: Any


@inlined_kernel
def marginal(tables: Any, size: float, log_kappa: float, log_rest: float) -> Any:
    """Return the log marginal likelihood of `size` background cells.

    `log_kappa` is log(kappa / KAPPA0) and `log_rest` log(NU0 + q - s^2 / kappa).
    """
    nu = NU0 + size
    return (
        -0.5 * log_kappa
        + tables[HALF_GAMMA, int(nu)]
        - tables[HALF_GAMMA, int(NU0)]
        + 0.5 * NU0 * math.log(NU0)
        - 0.5 * nu * log_rest
        - 0.5 * size * LOG_PI
    )


@inner_kernel
def factorise(field: Any, cols: Any, root: Any, weight: Any) -> Any:
    """Fill `root`, the inverse of the Cholesky factor of O_JJ, and `weight` = O_JJ^-1 (O1)_J; return log|O_JJ|."""
    keep_apart()
    c = len(cols)
    for a in range(c):
        for b in range(a + 1):
            total = field.precision[cols[a], cols[b]]
            for k in range(b):
                total -= root[a, k] * root[b, k]
            if a == b:
                root[a, a] = math.sqrt(max(total, 1e-12))
            else:
                root[a, b] = total / root[b, b]
    log_det = 0.0
    for a in range(c):
        log_det += 2.0 * math.log(root[a, a])
    # Invert the lower triangle in place: a line of the inverse is made of those above it.
    line = np.empty(c)
    for a in range(c):
        for b in range(a):
            line[b] = 0.0
        for k in range(a):
            f = root[a, k]
            for b in range(k + 1):
                line[b] += f * root[k, b]
        root[a, a] = 1.0 / root[a, a]
        for b in range(a):
            root[a, b] = -line[b] * root[a, a]
    for a in range(c):
        weight[a] = 0.0
    for a in range(c):
        total = 0.0
        for b in range(a + 1):
            total += root[a, b] * field.precision[ONES, cols[b]]
        for b in range(a + 1):
            weight[b] += root[a, b] * total
    return log_det


@inner_kernel
def add_squares(root: Any, Y: Any, size: int, x: Any, out: Any) -> None:
    """Add y'O_JJ^-1 y to `out` for each of the first `size` columns y of `Y`; `x` is scratch."""
    # out += ((root @ Y) ** 2).sum(axis=0)
    keep_apart()
    for a in range(len(Y)):
        for k in range(size):
            x[k] = 0.0
        for b in range(a + 1):
            f = root[a, b]
            for k in range(size):
                x[k] += f * Y[b, k]
        for k in range(size):
            out[k] += x[k] * x[k]


@inner_kernel
def add_correlated(field: Any, rows: Any, cols: Any, root: Any, weight: Any, s_in: Any, q_in: Any) -> None:
    """Add to `s_in` and `q_in` what the cells in J take from s and q of every row."""
    # s_in += weight @ Y, q_in += ((root @ Y) ** 2).sum(axis=0), Y = field.Yt[np.ix_(cols, rows)]; some rows at a time
    keep_apart()
    c = len(cols)
    n = len(rows)
    Y = np.empty((c, min(AT_A_TIME, n)))
    x = np.empty(min(AT_A_TIME, n))
    for first in range(0, n, AT_A_TIME):
        size = min(AT_A_TIME, n - first)
        for a in range(c):
            y = field.Yt[cols[a]]
            for k in range(size):
                Y[a, k] = y[rows[first + k]]
                s_in[first + k] += weight[a] * Y[a, k]
        add_squares(root, Y, size, x, q_in[first : first + size])


@inner_kernel
def kappa_inside(field: Any, cols: Any, weight: Any) -> Any:
    """Return what the cells in J take from kappa of a row where columns are correlated."""
    kappa_in = 0.0
    for a in range(len(cols)):
        kappa_in += weight[a] * field.precision[ONES, cols[a]]
    return kappa_in


@inner_kernel
def has_gaps(field: Any, i: int) -> Any:
    """Return whether cells of row i are missing."""
    return field.lines[ROW_SIZE, i] < len(field.Zt)


@inner_kernel
def any_gaps(field: Any, rows: Any) -> bool:
    """Return whether cells of any of the rows are missing."""
    count = 0
    for k in range(len(rows)):
        count += has_gaps(field, rows[k])
    return count > 0


@inner_kernel
def seen_inside(field: Any, i: int, cols: Any) -> int:
    """Return the number of observed cells of row i in J."""
    if not has_gaps(field, i):
        return len(cols)
    count = 0
    for a in range(len(cols)):
        count += field.seen[cols[a], i]
    return count


@inner_kernel
def standardise(field: Any, rows: Any, cols: Any, root: Any, weight: Any, centre: Any, spread: Any, z: Any) -> None:
    """Fill the centre and spread of the rows' background outside J, and z, the cells of the block in these units."""
    # z = (Z[np.ix_(rows, cols)] - centre[:, None]) / spread[:, None]
    keep_apart()
    r = len(rows)
    correlated = len(field.precision) > 0
    s_in = np.zeros(r)
    q_in = np.zeros(r)
    kappa_in = 0.0
    if correlated:
        add_correlated(field, rows, cols, root, weight, s_in, q_in)
        kappa_in = kappa_inside(field, cols, weight)
    for k in range(r):
        i = rows[k]
        inside = seen_inside(field, i, cols)
        s = field.lines[ROW_S, i] - s_in[k]
        q = field.lines[ROW_Q, i] - q_in[k]
        kappa = field.lines[ROW_KAPPA, i] - (kappa_in if correlated else inside)
        if not correlated:
            for a in range(len(cols)):
                x = field.Zt[cols[a], i]
                s -= x
                q -= x * x
        centre[k] = s / kappa
        spread[k] = math.sqrt((NU0 + q - s * s / kappa) / (NU0 + field.lines[ROW_SIZE, i] - inside))
        for a in range(len(cols)):
            z[k, a] = (field.Zt[cols[a], i] - centre[k]) / spread[k]


@inner_kernel
def fill_missing(field: Any, rows: Any, cols: Any, z: Any, shift: Any, slope: Any, pattern: Any) -> int:
    """Put shift + slope * pattern into the missing cells of the block; return their number."""
    n_missing = 0
    for k in range(len(rows)):
        for a in range(len(cols)):
            if field.seen[cols[a], rows[k]] == 0:
                z[k, a] = shift[k] + slope[k] * pattern[a]
                n_missing += 1
    return n_missing


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
            norm = 1.0 / math.sqrt(norm)
            for a in range(c):
                pattern[a] *= norm
        if step == POWER_STEPS:
            break
        # pattern = E.T @ (E @ pattern), E the row-centred cells
        centre = 0.0
        for k in range(r):
            v[k] = 0.0
            for a in range(c):
                v[k] += z[k, a] * pattern[a]
            centre += v[k] * shift[k]
        for a in range(c):
            pattern[a] = -centre
        for k in range(r):
            for a in range(c):
                pattern[a] += v[k] * z[k, a]
    n_positive = 0
    for k in range(r):
        v[k] = 0.0
        for a in range(c):
            v[k] += z[k, a] * pattern[a]
        n_positive += v[k] > 0.0
    if 2 * n_positive < r:
        n_positive = 0
        for a in range(c):
            pattern[a] = -pattern[a]
        for k in range(r):
            v[k] = -v[k]
            n_positive += v[k] > 0.0
    return n_positive


@inner_kernel
def estimate(z: Any, n_missing: Any, pattern: Any, theta: Any, shift: Any, slope: Any) -> None:
    """Fit the block model to the cells `z`: fill the pattern, the parameters, and shift and slope of every row."""
    keep_apart()
    r, c = z.shape
    v = np.empty(r)
    level = 0.0
    total = 0.0
    largest = -1.0
    first = 0
    for k in range(r):
        mean = 0.0
        for a in range(c):
            mean += z[k, a]
        mean /= c
        shift[k] = mean
        level += mean
        norm = 0.0
        for a in range(c):
            norm += (z[k, a] - mean) ** 2
            total += z[k, a] ** 2
        if norm > largest:
            largest = norm
            first = k
    level /= r
    n_positive = leading_pattern(z, shift, first, v, pattern)
    V1 = 0.0
    g = 0.0
    in_plane = 0.0
    for k in range(r):
        V1 += (shift[k] - level) ** 2
        g += abs(v[k])
        in_plane += c * shift[k] ** 2 + v[k] ** 2
    V1 *= c / (r - 1.0)
    g /= r
    V2 = 0.0
    for k in range(r):
        V2 += (abs(v[k]) - g) ** 2
    V2 /= r - 1.0
    tau2 = min(V1, V2)
    if c > 2:
        tau2 = (total - in_plane) / max((r - 1.0) * (c - 2.0) - n_missing, 1.0)
    tau2 = min(max(tau2, SMALLEST_NOISE), 1.0)
    V1 = max(V1, tau2)
    V2 = max(V2, tau2)
    theta[LEVEL] = level
    theta[LEVEL_VARIANCE] = V1
    theta[PATTERN] = g
    theta[PATTERN_VARIANCE] = V2
    theta[NOISE] = tau2
    theta[POSITIVE] = (n_positive + 1.0) / (r + 2.0)
    theta[POWER] = max(total / (r * c), SMALLEST_NOISE)
    without = 0.0
    for k in range(r):
        without += c * shift[k] ** 2
    theta[POWER_WITHOUT_LEVEL] = max((total - without) / (r * (c - 1.0)), SMALLEST_NOISE)
    k1 = (V1 - tau2) / V1
    k2 = (V2 - tau2) / V2
    for k in range(r):
        sign = 1.0 if v[k] > 0.0 else -1.0
        shift[k] = level + k1 * (shift[k] - level)
        slope[k] = sign * g + k2 * (v[k] - sign * g)


@inner_kernel
def fit_block(
    field: Any,
    rows: Any,
    cols: Any,
    root: Any,
    weight: Any,
    centre: Any,
    spread: Any,
    z: Any,
    pattern: Any,
    theta: Any,
    shift: Any,
    slope: Any,
) -> None:
    """Standardise the block and fit the model; missing cells are filled by the model, three times over."""
    keep_apart()
    standardise(field, rows, cols, root, weight, centre, spread, z)
    if not any_gaps(field, rows):
        estimate(z, np.int64(0), pattern, theta, shift, slope)
        return
    for a in range(len(cols)):
        pattern[a] = 0.0
    for k in range(len(rows)):
        n_seen = 0
        total = 0.0
        for a in range(len(cols)):
            if field.seen[cols[a], rows[k]]:
                n_seen += 1
                total += z[k, a]
        shift[k] = total / max(n_seen, 1)
        slope[k] = 0.0
    for _ in range(3):
        n_missing = fill_missing(field, rows, cols, z, shift, slope, pattern)
        estimate(z, n_missing, pattern, theta, shift, slope)
        if n_missing == 0:
            break


@kernel
def marginals(tables: Any, size: Any, kappa: Any, rest: Any) -> Any:
    """Return `marginal` of many rows."""
    out = np.empty(len(size))
    for i in range(len(size)):
        out[i] = marginal(tables, size[i], math.log(kappa[i] / KAPPA0), math.log(rest[i]))
    return out

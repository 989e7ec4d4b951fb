"""Kernels of the coherent submatrix search: climbs from starts to blocks that no change improves.

Promise of the caller: as in `_kernels_coherent`; sets are uint8 masks, one line per start.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bivaluate._jit import inlined_kernel, inner_kernel, keep_apart, kernel
from bivaluate.algorithms._kernels_coherent import (
    CHOOSE_COLS,
    CHOOSE_ROWS,
    LEVEL_VARIANCE,
    N_PARAMETERS,
    N_SUMS,
    NOISE,
    PATTERN_VARIANCE,
    estimate,
    invert,
    row_evidence,
    score_block,
    standardise,
    sum_cells,
)

MOST_ROUNDS = 30
PATIENCE = 3
WARM_ROUNDS = 3
LARGEST_LEVERAGE = 0.9
FEWEST_COLS = 2


@inner_kernel
def order_of(values: Any) -> Any:
    """Return np.argsort(values, kind="stable"), by merging ever longer runs; quicker to compile than NumPy's."""
    n = len(values)
    one, two = np.empty(n, np.int64), np.empty(n, np.int64)
    for k in range(n):
        one[k] = k
    width = 1
    while width < n:
        for first in range(0, n, 2 * width):
            middle, last = min(first + width, n), min(first + 2 * width, n)
            a, b = first, middle
            for k in range(first, last):
                if b >= last or (a < middle and values[one[a]] <= values[one[b]]):
                    two[k] = one[a]
                    a += 1
                else:
                    two[k] = one[b]
                    b += 1
        one, two = two, one
        width *= 2
    return one


@inner_kernel
def members(chosen: Any) -> Any:
    """Return np.flatnonzero(chosen)."""
    out, count = np.empty(len(chosen), np.int64), 0
    for i in range(len(chosen)):
        if chosen[i]:
            out[count] = i
            count += 1
    return out[:count]


@inner_kernel
def best_prefix(values: Any, choose: Any, penalty: float, fewest: int, most: int) -> Any:
    """Return the indices, in rising order, of the k largest values with the largest sum - k * penalty - choose[k].

    Among equal values the lower index comes first. Where `choose` rises up to `most`, values of at most `penalty` can
    only be needed to reach `fewest`.
    """
    # order = np.argsort(-values, kind="stable"); gain = np.cumsum(values[order] - penalty) - choose[1:]
    # np.sort(order[: fewest + np.argmax(gain[fewest - 1 : most])])
    n = len(values)
    chosen = np.empty(n, np.uint8)
    for i in range(n):
        chosen[i] = values[i] > penalty
    picked = members(chosen)
    if len(picked) < fewest or 2 * most > n + 1:
        chosen[:] = 1
        picked = members(chosen)
    minus = np.empty(len(picked))
    for k in range(len(picked)):
        minus[k] = -values[picked[k]]
    order = order_of(minus)
    total, best, size = 0.0, -np.inf, fewest
    for k in range(min(len(picked), most)):
        total -= minus[order[k]] + penalty
        if k + 1 >= fewest and total - choose[k + 1] > best:
            best, size = total - choose[k + 1], k + 1
    chosen[:] = 0
    for k in range(size):
        chosen[picked[order[k]]] = 1
    return members(chosen)


@inner_kernel
def background_squares(field: Any, rows: Any, cols: Any, inverse: Any, spread: Any, squares: Any) -> None:
    """Fill, for every column, minus twice the log-likelihood of the rows' cells as background in correlated columns.

    Each cell is compared with what the row's other cells outside J lead one to expect.
    """
    # in J: difference = O_JJ^-1 Y_J, variance = diag(O_JJ^-1); for another column j, O_jj.J = O_jj - O_jJ O_JJ^-1 O_Jj:
    # difference[j] = (Y[j] - O_jJ @ difference[J]) / O_jj.J, variance[j] = 1 / O_jj.J
    keep_apart()
    r, c = len(rows), len(cols)
    own, place = np.zeros((r, c)), np.full(len(squares), -1)
    for k in range(r):
        for a in range(c):
            for b in range(c):
                own[k, a] += inverse[a, b] * field.Yt[cols[b], rows[k]]
    for a in range(c):
        place[cols[a]] = a
    for j in range(len(squares)):
        line, at = field.precision[j], place[j]
        given = line[j]
        if at < 0:
            for a in range(c):
                form = 0.0
                for b in range(c):
                    form += inverse[a, b] * line[cols[b]]
                given -= line[cols[a]] * form
        variance = inverse[at, at] if at >= 0 else 1.0 / given
        squares[j] = r * math.log(variance)
        for k in range(r):
            difference = own[k, at]
            if at < 0:
                difference = field.Yt[j, rows[k]]
                for a in range(c):
                    difference -= line[cols[a]] * own[k, a]
                difference /= given
            squares[j] += (difference / spread[k]) ** 2 / variance


@inner_kernel
def column_gains(
    field: Any, rows: Any, cols: Any, inverse: Any, theta: Any, centre: Any, spread: Any, shift: Any, slope: Any,
    gain: Any,
) -> None:  # fmt: skip
    """Fill what every column would gain as part of the block: its log-likelihood there minus that of background."""
    keep_apart()
    r, c, tau2 = len(rows), len(cols), theta[NOISE]
    k1 = (theta[LEVEL_VARIANCE] - tau2) / theta[LEVEL_VARIANCE]
    k2 = (theta[PATTERN_VARIANCE] - tau2) / theta[PATTERN_VARIANCE]
    inside = np.zeros(len(gain), np.uint8)
    for a in range(c):
        inside[cols[a]] = 1
    correlated = len(field.precision) > 0
    if correlated:
        background_squares(field, rows, cols, inverse, spread, gain)
    for j in range(len(gain)):
        be, bb, ee, zz = 0.0, 0.0, 0.0, 0.0
        for k in range(r):
            x = (field.Zt[j, rows[k]] - centre[k]) / spread[k]
            e = x - shift[k]
            be += slope[k] * e
            bb += slope[k] ** 2
            ee += e * e
            zz += x * x
        factor = be / bb if bb > 0.0 else 0.0
        rss = max(ee - factor * be, 0.0)
        leverage = k1 / c + k2 * factor * factor
        variance = tau2
        if inside[j]:
            rss /= 1.0 - min(leverage, LARGEST_LEVERAGE)
        else:
            variance *= 1.0 + leverage
        gain[j] = 0.5 * (gain[j] if correlated else zz) - 0.5 * rss * r / ((r - 1.0) * variance)
        gain[j] -= 0.5 * r * math.log(variance)


@inner_kernel
def same(a: Any, b: Any) -> bool:
    """Return whether two index arrays are equal."""
    if len(a) != len(b):
        return False
    n_different = 0
    for k in range(len(a)):
        n_different += a[k] != b[k]
    return n_different == 0


@inlined_kernel
def climb(field: Any, rows: Any, cols: Any, fewest_rows: int, most_rows: int, warm_rows: int) -> Any:
    """Return (S, rows, cols) of the best block on the way from a start to where neither rows nor columns change.

    In the first rounds at least `warm_rows` rows and as many columns as at the start are kept (if `warm_rows` is not
    0), so that a poor first fit does not shrink the block to nothing.
    """
    warm_cols = len(cols)
    m, n = field.Zt.shape
    inverse = np.empty((m, m)) if len(field.precision) > 0 else np.empty((0, 0))
    centre, spread, shift, slope, evidence = np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    gain, pattern, theta = np.empty(m), np.empty(m), np.empty(N_PARAMETERS)
    sums, own_sums, every = np.empty((N_SUMS, n)), np.empty((N_SUMS, n)), np.arange(n)
    log_det = invert(field, cols, inverse)
    z = np.empty((len(rows), len(cols)))
    standardise(field, rows, cols, inverse, own_sums, centre, spread, z)
    estimate(z, pattern, theta, shift, slope)
    best, best_rows, best_cols = -np.inf, rows, cols
    waited, kappa_in, same_cols = 0, 0.0, False
    for step in range(MOST_ROUNDS):
        warm = step < WARM_ROUNDS and warm_rows > 0
        if not same_cols:
            kappa_in = sum_cells(field, every, cols, inverse, sums)
        row_evidence(field, every, cols, log_det, kappa_in, pattern, theta, sums, evidence)
        at_least = max(fewest_rows, warm_rows) if warm else fewest_rows
        new_rows = best_prefix(evidence, field.tables[CHOOSE_ROWS], 0.0, at_least, most_rows)
        z = np.empty((len(new_rows), len(cols)))
        standardise(field, new_rows, cols, inverse, own_sums, centre, spread, z)
        estimate(z, pattern, theta, shift, slope)
        column_gains(field, new_rows, cols, inverse, theta, centre, spread, shift, slope, gain)
        penalty = 0.5 * math.log(len(new_rows) + 1.0)
        at_least = max(FEWEST_COLS, warm_cols) if warm else FEWEST_COLS
        new_cols = best_prefix(gain, field.tables[CHOOSE_COLS], penalty, at_least, m)
        same_cols = same(cols, new_cols)
        unchanged = same_cols and same(rows, new_rows) and not warm
        rows, cols = new_rows, new_cols
        if not same_cols:
            log_det = invert(field, cols, inverse)
            z = np.empty((len(rows), len(cols)))
            standardise(field, rows, cols, inverse, own_sums, centre, spread, z)
            estimate(z, pattern, theta, shift, slope)
        S = score_block(field, rows, cols, inverse, log_det, pattern, theta, z, own_sums, evidence)
        waited += 1
        if best + 1e-9 < S:
            best, best_rows, best_cols, waited = S, rows, cols, 0
        if unchanged or (waited >= PATIENCE and not warm):
            break
    return best, best_rows, best_cols


@kernel
def climb_all(
    field: Any, row_sets: Any, col_sets: Any, warm_rows: Any, scores: Any, fewest_rows: int, most_rows: int
) -> None:
    """Climb from every start; the sets are overwritten by those found, `scores` filled with their S."""
    for k in range(len(scores)):
        start = members(row_sets[k]), members(col_sets[k])
        scores[k], rows, cols = climb(field, start[0], start[1], fewest_rows, most_rows, warm_rows[k])
        row_sets[k, :], col_sets[k, :] = 0, 0
        for i in rows:
            row_sets[k, i] = 1
        for j in cols:
            col_sets[k, j] = 1

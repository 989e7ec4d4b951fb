"""Kernels of the coherent submatrix search: starts, and climbs from them to blocks that no change improves.

Promise of the caller: as in `_kernels_coherent`; sets are uint8 masks, one line per start; `C` and `Z` (rows x columns)
are float64, C-contiguous and finite.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bivaluate._jit import inlined_kernel, inner_kernel, keep_apart, kernel
from bivaluate.algorithms._kernels_coherent import (
    AT_A_TIME,
    CHOOSE_COLS,
    CHOOSE_ROWS,
    LEVEL_VARIANCE,
    N_PARAMETERS,
    NOISE,
    PATTERN_VARIANCE,
    add_squares,
    any_gaps,
    factorise,
    fit_block,
)
from bivaluate.algorithms._kernels_coherent_evidence import N_SUMS, row_evidence, score_block, sum_cells

MOST_ROUNDS = 30
PATIENCE = 3
WARM_ROUNDS = 3
LARGEST_LEVERAGE = 0.9


@kernel
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


@kernel
def members(chosen: Any) -> Any:
    """Return np.flatnonzero(chosen)."""
    count = 0
    for i in range(len(chosen)):
        count += chosen[i]
    out = np.empty(count, np.int64)
    count = 0
    for i in range(len(chosen)):
        if chosen[i]:
            out[count] = i
            count += 1
    return out


@kernel
def best_prefix(values: Any, choose: Any, penalty: float, fewest: int, most: int) -> Any:
    """Return the indices, in rising order, of the k largest values with the largest sum - k * penalty - choose[k].

    Among equal values the lower index comes first. Where `choose` rises up to `most`, values of at most `penalty` can
    only be needed to reach `fewest`.
    """
    # order = np.argsort(-values, kind="stable"); gain = np.cumsum(values[order] - penalty) - choose[1:]
    # np.sort(order[: fewest + np.argmax(gain[fewest - 1 : most])])
    n = len(values)
    picked = np.empty(n, np.int64)
    count = 0
    for i in range(n):
        if values[i] > penalty:
            picked[count] = i
            count += 1
    if count < fewest or 2 * most > n + 1:
        for i in range(n):
            picked[i] = i
        count = n
    minus = np.empty(count)
    for k in range(count):
        minus[k] = -values[picked[k]]
    order = order_of(minus)
    total = 0.0
    best = -np.inf
    size = fewest
    for k in range(min(count, most)):
        total -= minus[order[k]] + penalty
        if k + 1 >= fewest and total - choose[k + 1] > best:
            best = total - choose[k + 1]
            size = k + 1
    chosen = np.zeros(n, np.uint8)
    for k in range(size):
        chosen[picked[order[k]]] = 1
    return members(chosen)


@kernel
def differences(field: Any, rows: Any, cols: Any, root: Any, inside: Any, difference: Any, variance: Any) -> None:
    """Fill what the cells of the rows differ, column by column, from expectation given the others outside J.

    `variance` is that of these differences. `inside` says which columns are J.
    """
    # in J: difference = O_JJ^-1 Y_J, variance = diag(O_JJ^-1); for another column j, O_jj.J = O_jj - O_jJ O_JJ^-1 O_Jj:
    # difference[j] = (Y[j] - O_jJ @ difference[J]) / O_jj.J, variance[j] = 1 / O_jj.J
    keep_apart()
    m, r, c = len(inside), len(rows), len(cols)
    own = np.zeros((c, r))
    x = np.empty(max(r, AT_A_TIME))
    spread = np.zeros(c)
    for a in range(c):
        for k in range(r):
            x[k] = 0.0
        for b in range(a + 1):
            for k in range(r):
                x[k] += root[a, b] * field.Yt[cols[b], rows[k]]
        for b in range(a + 1):
            spread[b] += root[a, b] ** 2
            for k in range(r):
                own[b, k] += root[a, b] * x[k]
    for a in range(c):
        variance[cols[a]] = spread[a]
        for k in range(r):
            difference[cols[a], k] = own[a, k]
    others = members(1 - inside)
    between = np.empty((c, min(AT_A_TIME, m)))
    given = np.empty(min(AT_A_TIME, m))
    for first in range(0, len(others), AT_A_TIME):
        part = others[first : first + AT_A_TIME]
        size = len(part)
        for a in range(c):
            line = field.precision[cols[a]]
            for k in range(size):
                between[a, k] = line[part[k]]
        for k in range(size):
            given[k] = 0.0
        add_squares(root, between, size, x, given)
        for k in range(size):
            given[k] = field.precision[part[k], part[k]] - given[k]
            variance[part[k]] = 1.0 / given[k]
        for i in range(r):
            for k in range(size):
                x[k] = field.Yt[part[k], rows[i]]
            for a in range(c):
                for k in range(size):
                    x[k] -= own[a, i] * between[a, k]
            for k in range(size):
                difference[part[k], i] = x[k] / given[k]


@inner_kernel
def column_gains(
    field: Any,
    rows: Any,
    cols: Any,
    root: Any,
    theta: Any,
    pattern: Any,
    centre: Any,
    spread: Any,
    shift: Any,
    slope: Any,
    gain: Any,
) -> None:
    """Fill what every column would gain as part of the block: its log-likelihood there minus that of background."""
    keep_apart()
    m = field.Zt.shape[0]
    r, c = len(rows), len(cols)
    tau2 = theta[NOISE]
    k1 = (theta[LEVEL_VARIANCE] - tau2) / theta[LEVEL_VARIANCE]
    k2 = (theta[PATTERN_VARIANCE] - tau2) / theta[PATTERN_VARIANCE]
    inside = np.zeros(m, np.uint8)
    for a in range(c):
        inside[cols[a]] = 1
    gaps = any_gaps(field, rows)
    correlated = len(field.precision) > 0
    difference = np.empty((m, r)) if correlated else np.empty((0, 0))
    variance = np.empty(m) if correlated else np.empty(0)
    if correlated:
        differences(field, rows, cols, root, inside, difference, variance)
    for j in range(m):
        be = 0.0
        bb = 0.0
        ee = 0.0
        zz = 0.0
        n_seen = 0
        for k in range(r):
            i = rows[k]
            if gaps and field.seen[j, i] == 0:
                continue
            n_seen += 1
            x = (field.Zt[j, i] - centre[k]) / spread[k]
            e = x - shift[k]
            be += slope[k] * e
            bb += slope[k] ** 2
            ee += e * e
            if correlated:
                d = difference[j, k] / spread[k]
                zz += d * d / variance[j]
            else:
                zz += x * x
        if n_seen < 2:
            gain[j] = -1e300
            continue
        if correlated:
            zz += n_seen * math.log(variance[j])
        factor = be / bb if bb > 0.0 else 0.0
        rss = max(ee - factor * be, 0.0)
        leverage = k1 / c + k2 * factor * factor
        var = tau2
        if inside[j]:
            rss /= 1.0 - min(leverage, LARGEST_LEVERAGE)
        else:
            var *= 1.0 + leverage
        gain[j] = 0.5 * zz - rss * n_seen / ((n_seen - 1.0) * 2.0 * var) - 0.5 * n_seen * math.log(var)


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
def climb(field: Any, rows: Any, cols: Any, fewest_rows: int, most_rows: int, fewest_cols: int, warm_rows: int) -> Any:
    """Return (S, rows, cols) of the best block on the way from a start to where neither rows nor columns change.

    In the first rounds at least `warm_rows` rows and as many columns as at the start are kept (if `warm_rows` is not
    0), so that a poor first fit does not shrink the block to nothing.
    """
    warm_cols = len(cols)
    m, n = field.Zt.shape
    root = np.zeros((m, m)) if len(field.precision) > 0 else np.zeros((0, 0))
    weight = np.empty(m)
    centre = np.empty(n)
    spread = np.empty(n)
    shift = np.empty(n)
    slope = np.empty(n)
    sums, own_sums = np.empty((N_SUMS, n)), np.empty((N_SUMS, n))
    evidence = np.empty(n)
    gain = np.empty(m)
    pattern = np.empty(m)
    theta = np.empty(N_PARAMETERS)
    every = np.empty(n, np.int64)
    for i in range(n):
        every[i] = i
    correlated = len(field.precision) > 0
    log_det = factorise(field, cols, root, weight) if correlated else 0.0
    z = np.empty((len(rows), len(cols)))
    fit_block(field, rows, cols, root, weight, centre, spread, z, pattern, theta, shift, slope)
    best, best_rows, best_cols = -np.inf, rows, cols
    waited = 0
    same_cols = False
    for step in range(MOST_ROUNDS):
        warm = step < WARM_ROUNDS and warm_rows > 0
        if not same_cols:
            sum_cells(field, every, cols, root, weight, sums)
        row_evidence(field, every, cols, weight, log_det, pattern, theta, sums, evidence)
        at_least = max(fewest_rows, warm_rows) if warm else fewest_rows
        new_rows = best_prefix(evidence, field.tables[CHOOSE_ROWS], 0.0, at_least, most_rows)
        z = np.empty((len(new_rows), len(cols)))
        fit_block(field, new_rows, cols, root, weight, centre, spread, z, pattern, theta, shift, slope)
        column_gains(field, new_rows, cols, root, theta, pattern, centre, spread, shift, slope, gain)
        penalty = 0.5 * math.log(len(new_rows) + 1.0)
        at_least = max(fewest_cols, warm_cols) if warm else fewest_cols
        new_cols = best_prefix(gain, field.tables[CHOOSE_COLS], penalty, at_least, m)
        same_cols = same(cols, new_cols)
        unchanged = same_cols and same(rows, new_rows) and not warm
        rows, cols = new_rows, new_cols
        if not same_cols:
            if correlated:
                log_det = factorise(field, cols, root, weight)
            z = np.empty((len(rows), len(cols)))
            fit_block(field, rows, cols, root, weight, centre, spread, z, pattern, theta, shift, slope)
        S = score_block(field, rows, cols, root, weight, log_det, pattern, theta, z, own_sums, evidence)
        waited += 1
        if best + 1e-9 < S:
            best, best_rows, best_cols = S, rows, cols
            waited = 0
        if unchanged or (waited >= PATIENCE and not warm):
            break
    return best, best_rows, best_cols


@kernel
def climb_all(
    field: Any,
    row_sets: Any,
    col_sets: Any,
    warm_rows: Any,
    scores: Any,
    fewest_rows: int,
    most_rows: int,
    fewest_cols: int,
) -> None:
    """Climb from every start; the sets are overwritten by those found, `scores` filled with their S."""
    for k in range(len(scores)):
        S, rows, cols = climb(
            field, members(row_sets[k]), members(col_sets[k]), fewest_rows, most_rows, fewest_cols, warm_rows[k]
        )
        scores[k] = S
        for i in range(row_sets.shape[1]):
            row_sets[k, i] = 0
        for j in range(col_sets.shape[1]):
            col_sets[k, j] = 0
        for a in range(len(rows)):
            row_sets[k, rows[a]] = 1
        for a in range(len(cols)):
            col_sets[k, cols[a]] = 1


@inner_kernel
def keep_largest(value: float, index: int, values: Any, indices: Any) -> None:
    """Insert into lists of the largest values, in falling order; among equals the earlier stays ahead."""
    k = len(values) - 1
    if not value > values[k]:
        return
    while k > 0 and value > values[k - 1]:
        values[k] = values[k - 1]
        indices[k] = indices[k - 1]
        k -= 1
    values[k] = value
    indices[k] = index


@kernel
def starts_by_correlation(C: Any, rows: Any, n_near: Any, n_cols: Any, row_sets: Any, col_sets: Any) -> None:
    """For each row: it and the rows most correlated with it, on the columns where these are largest together.

    Lines of `C` have mean 0 and length 1.
    """
    # r = C @ C[i]; who = the rows of largest abs(r) but i; total = C[i] + np.sign(r[who]) @ C[who]
    # col_sets[s, np.argsort(-abs(total), kind="stable")[: n_cols[s]]] = 1
    n, m = C.shape
    total = np.empty(m)
    for s in range(len(rows)):
        i = rows[s]
        near = np.empty(n_near[s])
        who = np.empty(n_near[s], np.int64)
        for k in range(n_near[s]):
            near[k], who[k] = -1.0, 0
        sign = np.empty(n)
        for k in range(n):
            r = 0.0
            for j in range(m):
                r += C[i, j] * C[k, j]
            sign[k] = 1.0 if r > 0.0 else -1.0
            if k != i:
                keep_largest(abs(r), k, near, who)
        for j in range(m):
            total[j] = C[i, j]
        row_sets[s, i] = 1
        for k in who:
            row_sets[s, k] = 1
            for j in range(m):
                total[j] += sign[k] * C[k, j]
        for j in range(m):
            total[j] = -abs(total[j])
        order = order_of(total)
        for a in range(n_cols[s]):
            col_sets[s, order[a]] = 1


@kernel
def starts_by_columns(Z: Any, rows: Any, n_near: Any, cols: Any, n_cols: Any, row_sets: Any, col_sets: Any) -> None:
    """For each row: it and the rows that vary most in line with it over its first few of the columns `cols`."""
    n = Z.shape[0]
    for s in range(len(rows)):
        c = n_cols[s]
        x = np.empty(c)
        mean = 0.0
        for a in range(c):
            x[a] = Z[rows[s], cols[s, a]]
            mean += x[a] / c
        for a in range(c):
            x[a] -= mean
        near = np.empty(n_near[s])
        who = np.empty(n_near[s], np.int64)
        for k in range(n_near[s]):
            near[k], who[k] = -1.0, 0
        for k in range(n):
            product = 0.0
            total = 0.0
            power = 0.0
            for a in range(c):
                v = Z[k, cols[s, a]]
                product += x[a] * v
                total += v
                power += v * v
            power -= total * total / c
            if k != rows[s]:
                keep_largest(abs(product) / math.sqrt(max(power, 0.0) + 0.25 * c), k, near, who)
        row_sets[s, rows[s]] = 1
        for k in who:
            row_sets[s, k] = 1
        for a in range(c):
            col_sets[s, cols[s, a]] = 1

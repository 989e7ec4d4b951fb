"""Kernels of the coherent submatrix search: the background, the block model and the evidence of a block.

Promise of the caller: a `Field` is consistent (see `_coherent_field.py`), float64 and C-contiguous; missing cells
hold 0 in `Z` and 0 in `seen`; index arrays are int64, without repeats.

Notation as in the documentation: J the columns of a block (c of them), z the cells of a row in units of the row's own
background outside J, u the level and v the pattern coordinate of a row.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bivaluate._jit import kernel

KAPPA0 = 0.5
NU0 = 2.0
LOG_PI = math.log(math.pi)
POWER_STEPS = 6
SMALLEST_NOISE = 0.05**2
# Places in the array of fitted parameters.
LEVEL, LEVEL_VARIANCE, PATTERN, PATTERN_VARIANCE, NOISE, POSITIVE, POWER, POWER_WITHOUT_LEVEL = range(8)
N_PARAMETERS = 8


class Field(NamedTuple):
    """A prepared matrix with what is needed to judge any block of it.

    `s`, `q` and `kappa` are 1'Oz, z'Oz and kappa0 + 1'O1 of every row, O the precision of the columns; `whole` is the log
    marginal likelihood of a whole row. `precision`, `ones` (O1) and `Yt` (the transpose of ZO) are empty if the columns
    are independent, `seen` (transposed) if no cell is missing.
    """

    Zt: Any
    seen: Any
    s: Any
    q: Any
    size: Any
    kappa: Any
    whole: Any
    precision: Any
    ones: Any
    Yt: Any
    half_gamma: Any
    choose_rows: Any
    choose_cols: Any


@kernel
def marginal(half_gamma: Any, size: float, kappa: float, rest: float) -> float:
    """Return the log marginal likelihood of `size` background cells; `rest` is NU0 + q - s^2 / kappa."""
    nu = NU0 + size
    return (
        -0.5 * math.log(kappa / KAPPA0)
        + half_gamma[int(nu)]
        - half_gamma[int(NU0)]
        + 0.5 * NU0 * math.log(NU0)
        - 0.5 * nu * math.log(rest)
        - 0.5 * size * LOG_PI
    )


@kernel
def factorise(field: Any, cols: Any, root: Any, weight: Any) -> float:
    """Fill `root`, the inverse of the Cholesky factor of O_JJ, and `weight` = O_JJ^-1 (O1)_J; return log|O_JJ|."""
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
    # Invert the lower triangle in place, from the last column to the first.
    for b in range(c - 1, -1, -1):
        root[b, b] = 1.0 / root[b, b]
        for a in range(c - 1, b, -1):
            total = 0.0
            for k in range(b + 1, a + 1):
                total -= root[a, k] * root[k, b]
            root[a, b] = total * root[b, b]
    for a in range(c):
        weight[a] = 0.0
    for a in range(c):
        total = 0.0
        for b in range(a + 1):
            total += root[a, b] * field.ones[cols[b]]
        for b in range(a + 1):
            weight[b] += root[a, b] * total
    return log_det


@kernel
def outside(field: Any, i: int, cols: Any, root: Any, weight: Any) -> Any:
    """Return s, q, the number of cells and kappa of row i outside the columns J."""
    c = len(cols)
    s = field.s[i]
    q = field.q[i]
    kappa = field.kappa[i]
    inside = c
    if len(field.seen) > 0:
        inside = 0
        for a in range(c):
            inside += field.seen[cols[a], i]
    size = field.size[i] - inside
    if len(field.ones) == 0:
        for a in range(c):
            x = field.Zt[cols[a], i]
            s -= x
            q -= x * x
        return s, q, size, kappa - inside
    for a in range(c):
        x = 0.0
        for b in range(a + 1):
            x += root[a, b] * field.Yt[cols[b], i]
        q -= x * x
        s -= weight[a] * field.Yt[cols[a], i]
        kappa -= weight[a] * field.ones[cols[a]]
    return s, q, size, kappa


@kernel
def standardise(
    field: Any, rows: Any, cols: Any, root: Any, weight: Any, centre: Any, spread: Any, z: Any
) -> None:
    """Fill the centre and spread of the rows' background outside J, and z, the cells of the block in these units."""
    for k in range(len(rows)):
        i = rows[k]
        s, q, size, kappa = outside(field, i, cols, root, weight)
        centre[k] = s / kappa
        spread[k] = math.sqrt((NU0 + q - s * s / kappa) / (NU0 + size))
        for a in range(len(cols)):
            z[k, a] = (field.Zt[cols[a], i] - centre[k]) / spread[k]


@kernel
def fill_missing(field: Any, rows: Any, cols: Any, z: Any, shift: Any, slope: Any, pattern: Any) -> int:
    """Put shift + slope * pattern into the missing cells of the block; return their number."""
    n_missing = 0
    for k in range(len(rows)):
        for a in range(len(cols)):
            if field.seen[cols[a], rows[k]] == 0:
                z[k, a] = shift[k] + slope[k] * pattern[a]
                n_missing += 1
    return n_missing


@kernel
def estimate(z: Any, n_missing: int, pattern: Any, theta: Any, shift: Any, slope: Any) -> None:
    """Fit the block model to the cells `z`: fill the pattern, the parameters, and shift and slope of every row."""
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
    if c > 2:
        tau2 = (total - in_plane) / max((r - 1.0) * (c - 2.0) - n_missing, 1.0)
    else:
        tau2 = min(V1, V2)
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


@kernel
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
    standardise(field, rows, cols, root, weight, centre, spread, z)
    if len(field.seen) == 0:
        estimate(z, 0, pattern, theta, shift, slope)
        return
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
def log_mixture(theta: Any, v: float, base: float, nu: float, dimension: float) -> float:
    """Return log[w k(v - g) + (1 - w) k(v + g)], k(d) = (1 + (base + d^2 / V2) / nu)^(-(nu + dimension) / 2)."""
    w = theta[POSITIVE]
    near = (v - theta[PATTERN]) ** 2 / theta[PATTERN_VARIANCE]
    far = (v + theta[PATTERN]) ** 2 / theta[PATTERN_VARIANCE]
    half = 0.5 * (nu + dimension)
    one = math.log(w) - half * math.log(1.0 + (base + near) / nu)
    two = math.log(1.0 - w) - half * math.log(1.0 + (base + far) / nu)
    top = max(one, two)
    gap = abs(one - two)
    return top + math.log(1.0 + math.exp(-gap)) if gap < 40.0 else top


@kernel
def density(
    field: Any, theta: Any, c: int, nu: float, log_spread: float, u: float, v: float, power: float
) -> float:
    """Return the log density of a row's c cells in J under the block model; u, v and power = |z|^2 describe z."""
    V1, V2, tau2 = theta[LEVEL_VARIANCE], theta[PATTERN_VARIANCE], theta[NOISE]
    base = (u - math.sqrt(c) * theta[LEVEL]) ** 2 / V1 + max(power - u * u - v * v, 0.0) / tau2
    return (
        field.half_gamma[int(nu) + c]
        - field.half_gamma[int(nu)]
        - 0.5 * c * (math.log(nu) + LOG_PI)
        - 0.5 * (math.log(V1) + math.log(V2) + (c - 2) * math.log(tau2))
        - c * log_spread
        + log_mixture(theta, v, base, nu, c)
    )


@kernel
def density_in_part(
    field: Any,
    theta: Any,
    c: int,
    n_seen: int,
    nu: float,
    log_spread: float,
    sums: Any,
) -> float:
    """Return the log density of the `n_seen` observed of c cells: the normal with the missing ones integrated out.

    `sums` holds the sums of z, z^2, zp, p and p^2 over the observed cells.
    """
    z1, z2, zp, p1, p2 = sums
    level, g, tau2 = theta[LEVEL], theta[PATTERN], theta[NOISE]
    d1 = theta[LEVEL_VARIANCE] - tau2
    d2 = theta[PATTERN_VARIANCE] - tau2
    root_c = math.sqrt(c)
    # Covariance tau2 I + A diag(d1, d2) A', A = [1 / sqrt(c), p] on the observed cells; G = A'A.
    g11, g12, g22 = n_seen / c, p1 / root_c, p2
    m11, m12, m21, m22 = tau2 + d1 * g11, d1 * g12, d2 * g12, tau2 + d2 * g22
    det = m11 * m22 - m12 * m21
    half = 0.5 * (nu + n_seen)
    top = -np.inf
    other = -np.inf
    for k in range(2):
        b = g if k == 0 else -g
        e1 = (z1 - n_seen * level - b * p1) / root_c
        e2 = zp - level * p1 - b * p2
        power = z2 + n_seen * level**2 + b * b * p2 - 2.0 * level * z1 - 2.0 * b * zp + 2.0 * level * b * p1
        # (tau2 I + D G)^-1 D A'd
        x1, x2 = d1 * e1, d2 * e2
        y1 = (m22 * x1 - m12 * x2) / det
        y2 = (m11 * x2 - m21 * x1) / det
        form = max(power - e1 * y1 - e2 * y2, 0.0) / tau2
        prior = theta[POSITIVE] if k == 0 else 1.0 - theta[POSITIVE]
        value = math.log(prior) - half * math.log(1.0 + form / nu)
        if k == 0:
            top = value
        else:
            other = value
    if other > top:
        top, other = other, top
    return (
        field.half_gamma[int(nu) + n_seen]
        - field.half_gamma[int(nu)]
        - 0.5 * n_seen * (math.log(nu) + LOG_PI)
        - 0.5 * ((n_seen - 2) * math.log(tau2) + math.log(det))
        - n_seen * log_spread
        + top
        + math.log(1.0 + math.exp(other - top))
    )


@kernel
def row_evidence(
    field: Any,
    rows: Any,
    cols: Any,
    root: Any,
    weight: Any,
    log_det: float,
    pattern: Any,
    theta: Any,
    sums: Any,
    evidence: Any,
) -> None:
    """Fill the log-likelihood ratio (block against background) of the given rows; `sums` is scratch of 10 x n."""
    c = len(cols)
    n = len(rows)
    every = n == field.Zt.shape[1]
    z1, z2, zp, s_in, q_in = sums[0], sums[1], sums[2], sums[3], sums[4]
    x, seen, p1, p2, unseen = sums[5], sums[6], sums[7], sums[8], sums[9]
    gaps = len(field.seen) > 0
    correlated = len(field.ones) > 0
    sums[:, :n] = 0.0
    for a in range(c):
        p = pattern[a]
        column = field.Zt[cols[a]]
        if every:
            for i in range(n):
                v = column[i]
                z1[i] += v
                z2[i] += v * v
                zp[i] += v * p
        else:
            for k in range(n):
                v = column[rows[k]]
                z1[k] += v
                z2[k] += v * v
                zp[k] += v * p
        if gaps:
            there = field.seen[cols[a]]
            for k in range(n):
                o = there[rows[k]]
                seen[k] += o
                p1[k] += o * p
                p2[k] += o * p * p
    kappa_in = float(c)
    if correlated:
        kappa_in = 0.0
        for a in range(c):
            kappa_in += weight[a] * field.ones[cols[a]]
            for k in range(n):
                x[k] = 0.0
            for b in range(a + 1):
                f = root[a, b]
                y = field.Yt[cols[b]]
                for k in range(n):
                    x[k] += f * y[rows[k]]
            y = field.Yt[cols[a]]
            w = weight[a]
            for k in range(n):
                s_in[k] += w * y[rows[k]]
                q_in[k] += x[k] * x[k]
            if gaps:
                # A missing cell holds its expectation: it must count neither for the block nor against it.
                there = field.seen[cols[a]]
                column = field.Zt[cols[a]]
                p = pattern[a]
                log_precision = math.log(field.precision[cols[a], cols[a]])
                for k in range(n):
                    if there[rows[k]] == 0:
                        v = column[rows[k]]
                        z1[k] -= v
                        z2[k] -= v * v
                        zp[k] -= v * p
                        unseen[k] += 0.5 * (log_precision - LOG_PI - math.log(2.0))
    root_c = math.sqrt(c)
    for k in range(n):
        i = rows[k]
        inside = int(seen[k]) if gaps else c
        s = field.s[i] - (s_in[k] if correlated else z1[k])
        q = field.q[i] - (q_in[k] if correlated else z2[k])
        kappa = field.kappa[i] - (kappa_in if correlated else inside)
        size = field.size[i] - inside
        rest = NU0 + q - s * s / kappa
        nu = NU0 + size
        log_spread = 0.5 * math.log(rest / nu)
        centre = s / kappa
        scale = 1.0 / math.sqrt(rest / nu)
        ratio = marginal(field.half_gamma, size, kappa, rest) - 0.5 * log_det - field.whole[i]
        level = (z1[k] - inside * centre) * scale
        power = (z2[k] - 2.0 * centre * z1[k] + inside * centre * centre) * scale * scale
        if inside == c:
            ratio += density(field, theta, c, nu, log_spread, level / root_c, zp[k] * scale, power)
        elif inside > 0:
            along = (zp[k] - centre * p1[k]) * scale
            part = (level, power, along, p1[k], p2[k])
            ratio += density_in_part(field, theta, c, inside, nu, log_spread, part)
        if correlated and inside < c:
            ratio += unseen[k] - (c - inside) * log_spread
        evidence[k] = ratio


@kernel
def structure(
    field: Any, rows: Any, cols: Any, root: Any, weight: Any, pattern: Any, theta: Any, z: Any
) -> float:
    """Return how much better the block model fits than cells of one variance around the background.

    The level is left out on both sides if J has more than half of the columns. `z` has its missing cells filled.
    """
    c = len(cols)
    without_level = 2 * c > field.Zt.shape[0]
    total = 0.0
    for k in range(len(rows)):
        s, q, size, kappa = outside(field, rows[k], cols, root, weight)
        nu = NU0 + size
        level = 0.0
        power = 0.0
        v = 0.0
        for a in range(c):
            level += z[k, a]
            power += z[k, a] ** 2
            v += z[k, a] * pattern[a]
        u = level / math.sqrt(c)
        if without_level:
            d = c - 1
            power -= u * u
            base = max(power - v * v, 0.0) / theta[NOISE]
            variance = theta[POWER_WITHOUT_LEVEL]
            one = -0.5 * (math.log(theta[PATTERN_VARIANCE]) + (c - 2) * math.log(theta[NOISE]))
        else:
            d = c
            base = (u - math.sqrt(c) * theta[LEVEL]) ** 2 / theta[LEVEL_VARIANCE]
            base += max(power - u * u - v * v, 0.0) / theta[NOISE]
            variance = theta[POWER]
            one = -0.5 * (
                math.log(theta[LEVEL_VARIANCE])
                + math.log(theta[PATTERN_VARIANCE])
                + (c - 2) * math.log(theta[NOISE])
            )
        one += log_mixture(theta, v, base, nu, d)
        two = -0.5 * d * math.log(variance) - 0.5 * (nu + d) * math.log(1.0 + power / (variance * nu))
        total += one - two
    return total


@kernel
def cost_of_fit(theta: Any, r: int, c: int) -> float:
    """Return D, the evidence a free pattern and six fitted parameters cost."""
    signal = r * (theta[PATTERN] ** 2 + theta[PATTERN_VARIANCE]) / ((c - 1) * theta[NOISE])
    return 0.5 * (c - 1) * (1.0 + math.log(max(1.0, signal))) + 3.0 * math.log(r + 1.0)


@kernel
def score_block(
    field: Any,
    rows: Any,
    cols: Any,
    root: Any,
    weight: Any,
    log_det: float,
    pattern: Any,
    theta: Any,
    z: Any,
    sums: Any,
    evidence: Any,
) -> float:
    """Return S, the evidence of the fitted block after the cost of choosing its rows, columns and parameters."""
    r, c = len(rows), len(cols)
    m, n = field.Zt.shape
    row_evidence(field, rows, cols, root, weight, log_det, pattern, theta, sums, evidence)
    D = cost_of_fit(theta, r, c)
    S = -field.choose_rows[r] - field.choose_cols[c] - math.log(n) - math.log(m) - D
    for k in range(r):
        S += evidence[k]
    if S > 0.0:
        coherent = structure(field, rows, cols, root, weight, pattern, theta, z) - D
        if coherent <= 0.0 or (2 * c > m and coherent < S):
            S = coherent
    return S


@kernel
def marginals(half_gamma: Any, size: Any, kappa: Any, rest: Any) -> Any:
    """Return `marginal` of many rows."""
    out = np.empty(len(size))
    for i in range(len(size)):
        out[i] = marginal(half_gamma, size[i], kappa[i], rest[i])
    return out

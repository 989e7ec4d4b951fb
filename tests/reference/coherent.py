"""Naive twin of the coherent submatrix search: the evidence of a block, row by row and cell by cell.

Plain Python and NumPy, no shared code. Columns are independent or have a given covariance; no cell is missing unless said.
"""

import math

import numpy as np

KAPPA0, NU0 = 1.5, 2.0


def log_choose(n, k):
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def log_t(x, mean, covariance, nu):
    """Log density of the multivariate t distribution."""
    d = len(x)
    log_det = np.linalg.slogdet(covariance)[1]
    form = (x - mean) @ np.linalg.solve(covariance, x - mean)
    return (
        math.lgamma((nu + d) / 2)
        - math.lgamma(nu / 2)
        - d / 2 * math.log(nu * math.pi)
        - log_det / 2
        - (nu + d) / 2 * math.log(1 + form / nu)
    )


def marginal(x, covariance):
    """Log marginal likelihood of background cells: level ~ N(0, s2 / kappa0), s2 ~ scaled inverse chi-squared(nu0, 1)."""
    if len(x) == 0:
        return 0.0
    return log_t(x, np.zeros(len(x)), covariance + np.ones((len(x), len(x))) / KAPPA0, NU0)


def background(x, cols, covariance):
    """Posterior centre and spread of a row from its cells outside the columns."""
    out = [j for j in range(len(x)) if j not in set(cols)]
    if not out:
        return 0.0, math.sqrt(1.0)
    precision = np.linalg.inv(covariance[np.ix_(out, out)])
    one = np.ones(len(out))
    kappa = KAPPA0 + one @ precision @ one
    centre = (one @ precision @ x[out]) / kappa
    rest = NU0 + x[out] @ precision @ x[out] - centre**2 * kappa
    return centre, math.sqrt(rest / (NU0 + len(out)))


def fit(Z, rows, cols, covariance):
    r, c = len(rows), len(cols)
    z = np.empty((r, c))
    for k, i in enumerate(rows):
        centre, spread = background(Z[i], cols, covariance)
        z[k] = (Z[i, cols] - centre) / spread
    means = z.mean(axis=1)
    E = z - means[:, None]
    p = E[np.argmax((E**2).sum(axis=1))].copy()
    p /= np.linalg.norm(p)
    for _ in range(6):
        p = E.T @ (E @ p)
        p /= np.linalg.norm(p)
    v = z @ p
    if 2 * (v > 0).sum() < r:
        p, v = -p, -v
    V1, g, V2 = c * means.var(ddof=1), np.abs(v).mean(), np.abs(v).var(ddof=1)
    tau2 = ((z**2).sum() - c * (means**2).sum() - (v**2).sum()) / ((r - 1) * (c - 2)) if c > 2 else min(V1, V2)
    tau2 = min(max(tau2, 0.05**2), 1.0)
    return {
        "p": p,
        "level": means.mean(),
        "V1": max(V1, tau2),
        "g": g,
        "V2": max(V2, tau2),
        "tau2": tau2,
        "w": ((v > 0).sum() + 1) / (r + 2),
        "z": z,
    }


def directions(model, c, level=True):
    """Mean (without the pattern) and covariance of a row of the block, in units of its background."""
    covariance = (
        model["tau2"] * np.eye(c)
        + (model["V1"] - model["tau2"]) / c * np.ones((c, c))
        + (model["V2"] - model["tau2"]) * np.outer(model["p"], model["p"])
    )
    return np.full(c, model["level"]), covariance


def log_mix(values, weights):
    top = max(values)
    return top + math.log(sum(w * math.exp(a - top) for a, w in zip(values, weights, strict=True)))


def log_density(x, centre, spread, nu, model, which):
    """Log density of the observed cells (positions `which` of J) of a row under the block model."""
    c = len(model["p"])
    mean, covariance = directions(model, c)
    mean, covariance, p = mean[which], covariance[np.ix_(which, which)], model["p"][which]
    both = [
        log_t((x - centre) / spread, mean + s * model["g"] * p, covariance, nu) - len(which) * math.log(spread)
        for s in (1, -1)
    ]
    return log_mix(both, [model["w"], 1 - model["w"]])


def row_evidence(Z, i, cols, model, covariance=None):
    m = Z.shape[1]
    covariance = np.eye(m) if covariance is None else covariance
    seen = np.flatnonzero(~np.isnan(Z[i]))
    inside = [a for a, j in enumerate(cols) if j in set(seen)]
    out = [j for j in seen if j not in set(cols)]
    x = Z[i]
    local = covariance[np.ix_(seen, seen)]
    position = [int(np.flatnonzero(seen == cols[a])[0]) for a in inside]
    centre, spread = background(x[seen], position, local)
    if not out:
        centre, spread = 0.0, 1.0
    nu = NU0 + len(out)
    total = marginal(x[out], covariance[np.ix_(out, out)]) - marginal(x[seen], local)
    if inside:
        total += log_density(x[[cols[a] for a in inside]], centre, spread, nu, model, inside)
    return total


def differences(Z, rows, cols, covariance):
    """What cells differ from expectation given the row's other cells outside the columns, and the variance of that."""
    m = Z.shape[1]
    out = [j for j in range(m) if j not in set(cols)]
    difference, variance = np.empty((m, len(rows))), np.empty(m)
    for j in range(m):
        others = [k for k in out if k != j]
        weights = np.linalg.solve(covariance[np.ix_(others, others)], covariance[others, j])
        variance[j] = covariance[j, j] - weights @ covariance[others, j]
        for k, i in enumerate(rows):
            difference[j, k] = Z[i, j] - weights @ Z[i, others]
    return difference, variance


def cost(model, r, c):
    signal = r * (model["g"] ** 2 + model["V2"]) / ((c - 1) * model["tau2"])
    return (c - 1) / 2 * (1 + math.log(max(1.0, signal))) + 3 * math.log(r + 1)


def structure(Z, rows, cols, model, covariance):
    """Block model against cells of one variance; the level left out on both sides if J has most of the columns."""
    m = Z.shape[1]
    c = len(cols)
    z = model["z"]
    nu = NU0 + m - c
    basis = np.linalg.svd(np.ones((1, c)) / math.sqrt(c), full_matrices=True)[2]
    basis = basis[1:] if 2 * c > m else basis
    x = z @ basis.T
    mean, sigma = directions(model, c)
    total = 0.0
    variance = (x**2).sum() / x.size
    for row in x:
        both = [log_t(row, basis @ (mean + s * model["g"] * model["p"]), basis @ sigma @ basis.T, nu) for s in (1, -1)]
        total += log_mix(both, [model["w"], 1 - model["w"]])
        total -= log_t(row, np.zeros(len(row)), variance * np.eye(len(row)), nu)
    return total


def evidence(Z, rows, cols, covariance=None):
    """S of a block of a complete prepared matrix."""
    n, m = Z.shape
    r, c = len(rows), len(cols)
    sigma = np.eye(m) if covariance is None else covariance
    model = fit(Z, rows, cols, sigma)
    D = cost(model, r, c)
    S = sum(row_evidence(Z, i, cols, model, sigma) for i in rows)
    S -= log_choose(n, r) + log_choose(m, c) + math.log(n) + math.log(m) + D
    if S > 0:
        coherent = structure(Z, rows, cols, model, sigma) - D
        if coherent <= 0 or (2 * c > m and coherent < S):
            return coherent
    return S


def best_prefix(values, cost_of, penalty, fewest, most):
    """The indices of the k largest values that maximise sum - k penalty - cost_of(k), by trying every k."""
    order = sorted(range(len(values)), key=lambda i: (-values[i], i))
    best, size = -math.inf, fewest
    for k in range(fewest, most + 1):
        total = sum(values[i] - penalty for i in order[:k]) - cost_of(k)
        if total > best + 1e-12:
            best, size = total, k
    return sorted(order[:size])


def shorth(row):
    """Centre and length of the shortest half."""
    x = sorted(row)
    h = len(x) // 2
    k = min(range(len(x) - h), key=lambda k: (x[k + h] - x[k], k))
    return sum(x[k : k + h + 1]) / (h + 1), x[k + h] - x[k]

"""Naive twin of the evidence: every form fitted cell by cell, every tail by quadrature."""

import math

import numpy as np

NODES, WEIGHTS = np.polynomial.legendre.leggauss(60)


def log_choose(n, k):
    return sum(math.log((n - i) / (k - i)) for i in range(k))


def log_beta_tail(x, a, b, panels=40):
    """log P(Beta(a, b) >= x): with 1 - t = (1 - x) e^(-s) the integrand is smooth and dies off like e^(-bs)."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return -math.inf
    last = max(0.0, math.log((1 - x) * (a + b) / b)) + 60 / b
    logs = []
    for k in range(panels):
        s = last / panels * (k + (NODES + 1) / 2)
        values = (a - 1) * np.log1p(-(1 - x) * np.exp(-s)) - b * s
        logs.extend(np.log(WEIGHTS / 2 * last / panels) + values)
    top = max(logs)
    integral = top + math.log(math.fsum(math.exp(v - top) for v in logs))
    return min(0.0, b * math.log(1 - x) + integral - (math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)))


def background(X):
    n, m = X.shape
    R = np.empty((n, m))
    grand = np.mean([X[i, j] for i in range(n) for j in range(m)])
    for i in range(n):
        for j in range(m):
            R[i, j] = X[i, j] - np.mean(X[i]) - np.mean(X[:, j]) + grand
    return R


def normal_scores(X):
    from statistics import NormalDist

    scores = np.empty(X.shape)
    for i, row in enumerate(X):
        for j, x in enumerate(row):
            rank = sum(y < x for y in row) + (sum(y == x for y in row) + 1) / 2
            scores[i, j] = NormalDist().inv_cdf((rank - 0.5) / len(row))
    return scores


def independent_share(X, blocks=()):
    """What a cell of a series counts: (1 - rho)/(1 + rho), rho from the lower quartile of the rows, where it is large.

    With blocks, rho is at most that of the rows less the mean of all rows that are in the same blocks.
    """
    R = background(X)
    n, m = X.shape
    rho = neighbour_correlation(R, m)
    if rho > 0.2 + 3 / math.sqrt(n * m) and blocks:
        signature = [tuple(i in set(rows) for rows, _ in blocks) for i in range(n)]
        own = []
        for i in range(n):
            same = [R[k] for k in range(n) if signature[k] == signature[i]]
            if len(same) > 1:
                row = R[i] - sum(same) / len(same)
                own.append(row - row.mean())
        rho = min(rho, neighbour_correlation(own, m))
    return (1 - rho) / (1 + rho) if rho > 0.2 + 3 / math.sqrt(n * m) else 1.0


def neighbour_correlation(R, m):
    n = len(R)
    each = sorted(sum(row[j] * row[j + 1] for j in range(m - 1)) / sum(x**2 for x in row) for row in R)
    rho = lower = each[n // 4]
    for _ in range(10):
        rho = (lower + 0.6745 * math.sqrt((1 - rho**2) / m) + 1 / m) / (1 - 4 / max(m, 8))
    return rho


def positive_shape(A, steps=2, limit=3.0):
    """Rows as positive multiples of one shape; None if the median row does not follow it."""
    centred = A - A.mean(axis=1, keepdims=True)
    shape = centred.mean(axis=0)
    for step in range(steps + 1):
        slopes = [sum(row * shape) / sum(shape**2) for row in centred]
        middle = np.median(slopes)
        if not middle > 0:
            return None
        slopes = [min(max(s, 0.0), limit * middle) for s in slopes]
        if step < steps:
            shape = sum(s * row for s, row in zip(slopes, centred, strict=True)) / sum(s**2 for s in slopes)
    return np.array([[s * p for p in shape] for s in slopes])


def restored(share):
    return 1 / (1 - share) if share <= 0.5 else 2 * (1 - share) / share


def forms(A, n, m):
    """Kind, what is explained (levels restored), what is left, degrees of freedom, pattern as it is in X."""
    r, c = A.shape
    by_rows, by_cols = restored(c / m), restored(r / n)
    again_rows, again_cols = 1 / max(c / m, 1 - c / m), 1 / max(r / n, 1 - r / n)
    level = A.mean() + 0 * A
    rows = A.mean(axis=1)[:, None] - level
    cols = A.mean(axis=0)[None, :] - level

    def gone(P):
        """Sum of squares that goes when P, which need not be the best multiple, is subtracted."""
        return np.sum(A**2) - np.sum((A - P) ** 2)

    found = []
    for kind, with_rows, with_cols, freedom in (
        ("raised", 0, 0, 1),
        ("additive", 1, 0, r),
        ("additive", 0, 1, c),
        ("additive", 1, 1, r + c - 1),
    ):
        P = level * again_rows * again_cols + with_rows * rows * again_rows + with_cols * cols * again_cols
        explained = (
            by_rows * by_cols * gone(level) + with_rows * by_rows * gone(rows) + with_cols * by_cols * gone(cols)
        )
        left = np.sum((A - level - with_rows * rows - with_cols * cols) ** 2)
        parts = [(by_rows * by_cols, level), (with_rows * by_rows, rows + 0 * A), (with_cols * by_cols, cols + 0 * A)]
        found.append((kind, explained, left, freedom, P, backing(A, parts)))
    scaled = positive_shape(A) if c > 2 else None
    if scaled is not None:
        left = np.sum((A - level - rows - scaled) ** 2)
        explained = by_rows * by_cols * gone(level) + by_rows * gone(rows)
        explained += by_cols * min(gone(cols), gone(scaled)) + max(0.0, gone(scaled) - gone(cols))
        P = level * again_rows * again_cols + rows * again_rows + scaled
        parts = [(by_rows * by_cols, level), (by_rows, rows + 0 * A), (1.0, scaled)]
        found.append(("row-affine", explained, left, r + (math.sqrt(r) + math.sqrt(c - 1)) ** 2, P, backing(A, parts)))
    return found


def backing(A, parts):
    """Share of what a pattern explains that is left when no row, and no column, counts beyond nine times the median."""
    loss = sum(weight * (2 * A * P - P**2) for weight, P in parts)
    shares = []
    for axis in (0, 1):
        each = loss.sum(axis=axis)
        middle = np.median(each)
        if middle <= 0 or each.sum() <= 0:
            return 0.0
        shares.append(sum(min(e, 9 * middle) for e in each) / each.sum())
    return max(0.0, min(1.0, *shares))


def mean_ranks(A):
    return np.array([[sum(y < x for y in row) + (sum(y == x for y in row) + 1) / 2 for x in row] for row in A])


def concordance(inside, outside):
    """Kendall's W of the rows inside, less the order that rows outside share."""
    ranks, others = mean_ranks(inside), mean_ranks(outside)
    gap = ranks.mean(axis=0) - others.mean(axis=0)
    spread = np.mean([np.mean((row - row.mean()) ** 2) for row in ranks])
    typical = max(0.0, np.median([np.corrcoef(row, gap)[0, 1] for row in ranks])) ** 2
    return min(np.mean((gap - gap.mean()) ** 2) / spread, typical) / (1 + len(inside) / len(outside))


def isotonic(values):
    """Best fit that never falls: the largest over starts of the smallest mean over ends."""
    c = len(values)
    return [max(min(np.mean(values[a : b + 1]) for b in range(j, c)) for a in range(j + 1)) for j in range(c)]


def noise_outside(R2, rows, cols):
    """How many cells the noise of the block is known from, and their squares at the variance it should have."""
    n, m = R2.shape
    others, rest = [i for i in range(n) if i not in set(rows)], [j for j in range(m) if j not in set(cols)]
    if not others or not rest:
        return 0, 0.0
    variance = R2[np.ix_(rows, rest)].mean() * R2[np.ix_(others, cols)].mean() / R2[np.ix_(others, rest)].mean()
    cells = 1 / (1 / (len(rows) * len(rest)) + 1 / (len(others) * len(cols)) + 1 / (len(others) * len(rest)))
    return cells, variance * cells


def score(A, n, m, floor, outside, raw=None, independent=1.0, levels=()):
    """Gain, kind and pattern of one block of deviations."""
    r, c = A.shape
    N = r * c
    if r < 2 or c < 2 or independent * N < 12 or np.sum(A**2) <= N * floor:
        return math.nan, "none", None
    tests = 11 if independent == 1 else 12
    cost = log_choose(n, r) + log_choose(m, c) + math.log(n) + math.log(m) + math.log(tests)
    best = (-math.inf, "none", None)
    for kind, explained, left, freedom, P, backed in forms(A, n, m):
        if independent * N - freedom < 4:
            continue
        left = max(left, N * floor)
        for cells, squares in ((0, 0.0), outside):
            b = (independent * (N + cells) - freedom) / 2
            gain = -log_beta_tail(explained / (explained + left + squares), freedom / 2, b) - cost
            if gain > 0:
                some, rest = backed * explained, left + (1 - backed) * (np.sum(A**2) - left)
                gain = -log_beta_tail(some / (some + rest + squares), freedom / 2, b) - cost
            if gain > best[0]:
                best = (gain, kind, P)
    if independent < 1:
        own, others = A.mean(axis=1), np.asarray(levels)
        explained = restored(c / m) * restored(r / n) * r * own.mean() ** 2
        left = sum((own - own.mean()) ** 2) + sum((others - others.mean()) ** 2)
        _, _, _, _, P, backed = forms(A, n, m)[0]
        gain = -log_beta_tail(explained / (explained + left), 0.5, (n - 2) / 2) - cost
        if gain > 0:
            gain = -log_beta_tail(backed * explained / (backed * explained + left), 0.5, (n - 2) / 2) - cost
        if gain > best[0]:
            best = (gain, "raised", P)
    if raw is not None and c > 2:
        inside, outside = raw
        f = independent * (c - 1 - 2 / r)
        nats = -log_beta_tail(concordance(inside, outside), f / 2, (r - 1) * f / 2)
        nats = min(nats, (r - 1) * math.lgamma(c + 1))
        if nats - cost > max(0.0, best[0]):
            order = np.argsort(mean_ranks(inside).mean(axis=0), kind="stable")
            P = np.empty(A.shape)
            for i in range(r):
                P[i, order] = A[i, order] - (inside[i, order] - isotonic(inside[i, order]))
            best = (nats - cost, "order-preserving", P)
    return best


def evidence(X, blocks, floor, independent=1.0):
    """Gains, kinds, positions that pay, total: the plain loop, every waiting block judged again each time."""
    n, m = X.shape
    left_of_X = X.copy()
    R = background(X)
    R2 = R**2
    gains, kinds, order = [math.nan] * len(blocks), ["none"] * len(blocks), []
    waiting = list(range(len(blocks)))
    touched = np.zeros((n, m), dtype=bool)
    while True:
        judged = {}
        for k in waiting:
            rows, cols = blocks[k]
            others = [i for i in range(n) if i not in set(rows)]
            raw = None if touched[np.ix_(rows, cols)].any() else (X[np.ix_(rows, cols)], X[np.ix_(others, cols)])
            levels = R[np.ix_(others, cols)].mean(axis=1)
            judged[k] = score(
                R[np.ix_(rows, cols)], n, m, floor, noise_outside(R2, rows, cols), raw, independent, levels
            )
        for k in waiting:
            gains[k] = judged[k][0]
        able = [k for k in waiting if judged[k][0] > 0]
        if not able:
            break
        k = max(able, key=lambda k: judged[k][0])
        kinds[k] = judged[k][1]
        order.append(k)
        waiting.remove(k)
        left_of_X[np.ix_(*blocks[k])] -= judged[k][2]
        R = background(left_of_X)
        touched[np.ix_(*blocks[k])] = True
    total = sum(gains[k] for k in order) - sum(
        log_choose(n, len(blocks[k][0])) + log_choose(m, len(blocks[k][1])) for k in waiting
    )
    return gains, kinds, order, total

"""Slow, plain twins of the statistics on other data; nothing of bivaluate is imported."""

import itertools
import math

import numpy as np
from scipy import stats


def standardised(B):
    C = np.array(B, dtype=float)
    for i in range(len(C)):
        C[i] = (C[i] - C[i].mean()) / C[i].std()
    for j in range(C.shape[1]):
        C[:, j] = (C[:, j] - C[:, j].mean()) / C[:, j].std()
    return C


def statistic(C, rows):
    return sum(sum(C[i, j] for i in rows) ** 2 for j in range(C.shape[1]))


def strata(A, inside, smallest=32):
    """Lists of rows: halved at the median of sd, then of mean, in turn, unless a half is mostly inside."""
    sd, mean = A.std(axis=1), A.mean(axis=1)

    def split(rows, turn):
        if len(rows) < smallest:
            return [rows]
        order = sorted(rows, key=lambda i: (sd, mean)[turn][i])
        first, second = order[: len(rows) // 2], order[len(rows) // 2 :]
        if any(2 * len(inside & set(half)) > len(half) for half in (first, second)):
            return [rows]
        return split(first, 1 - turn) + split(second, 1 - turn)

    return split(list(range(len(A))), 0)


def z_of(C, rows, parts, draws, rng):
    null = []
    for _ in range(draws):
        drawn = []
        for part in parts:
            drawn += rng.choice(part, len(set(part) & set(rows)), replace=False).tolist()
        null.append(statistic(C, drawn))
    return (statistic(C, rows) - np.mean(null)) / np.std(null)


def reference_p(z, null):
    if len(null) >= 99:
        return (1 + sum(value >= z for value in null)) / (1 + len(null))
    sd = max(np.std(null, ddof=1), 1)
    return stats.t(len(null) - 1).sf((z - np.mean(null)) / (sd * np.sqrt(1 + 1 / len(null))))


def benjamini_hochberg(p):
    order = np.argsort(p)
    q = np.empty(len(p))
    lowest = 1.0
    for rank in range(len(p), 0, -1):
        lowest = min(lowest, p[order[rank - 1]] * len(p) / rank)
        q[order[rank - 1]] = lowest
    return q


def closeness(a, b, n):
    x = len(a & b)
    chance = len(a) * len(b) / n
    return max(0.0, (x - chance) / (len(a) + len(b) - x - chance))


def average_linkage(close, cut):
    """Groups as sets of positions; the closest two are joined while their mean closeness is at least `cut`."""
    groups = [{i} for i in range(len(close))]
    while len(groups) > 1:
        pairs = list(itertools.combinations(range(len(groups)), 2))
        means = [np.mean([close[i][j] for i in groups[a] for j in groups[b]]) for a, b in pairs]
        best = int(np.argmax(means))
        if means[best] < cut:
            break
        a, b = pairs[best]
        groups[a] |= groups.pop(b)
    return groups


def tail(x, n, size, k):
    """P(at least x of k drawn from n are among `size`)."""
    ways = sum(math.comb(size, i) * math.comb(n - size, k - i) for i in range(x, min(size, k) + 1))
    return ways / math.comb(n, k)


def best_class_mid_p(labels, members, permutations, rng):
    """Smallest tail over classes, and its place among permuted labels, half of the ties counted."""
    labels, n, k = np.asarray(labels), len(labels), len(members)
    sizes = {c: int((labels == c).sum()) for c in set(labels.tolist())}

    def smallest(drawn):
        return min(tail(int((drawn[members] == c).sum()), n, size, k) for c, size in sizes.items())

    observed = smallest(labels)
    drawn = np.array([smallest(rng.permutation(labels)) for _ in range(permutations)])
    ties = np.isclose(drawn, observed, rtol=1e-6)
    return observed, ((drawn < observed)[~ties].sum() + (ties.sum() + 1) / 2) / (permutations + 1)


def logrank(times, events, weights):
    """Observed less expected weight of those who die, and its variance, death by death; members have weight 1."""
    total = variance = 0.0
    for t in np.unique(times[events == 1]):
        risk, died = weights[times >= t], weights[(times == t) & (events == 1)]
        n, d = len(risk), len(died)
        total += died.sum() - d * risk.mean()
        variance += d * (n - d) / max(n - 1, 1) * risk.var()
    return total, variance


def spectra_scores(X, usages):
    """Least squares of standardised rows on centred shares, one row after the other."""
    shares = (usages / usages.sum(axis=0)).T
    centred = shares - shares.mean(axis=0)
    return np.array([np.linalg.lstsq(centred, (x - x.mean()) / x.std(), rcond=None)[0] for x in X]).T

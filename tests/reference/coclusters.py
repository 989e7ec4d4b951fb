"""Naive twins of co-clustering: modularity with its matrix built, and blocks with every cell compared to every cluster."""

import numpy as np


def modularity_matrix(A):
    """What the cells hold beyond the product of the sums of their row and column."""
    A = np.asarray(A, dtype=float)
    return A - np.outer(A.sum(axis=1), A.sum(axis=0)) / A.sum()


def coclustmod(A, start, K, max_iter=100):
    """Return labels of rows and columns and the modularity from one start of column labels."""
    B, total = modularity_matrix(A), np.sum(A)
    w, before = np.array(start), -np.inf
    for _ in range(max_iter):
        z = np.array([np.argmax([B[i, w == k].sum() for k in range(K)]) for i in range(len(B))])
        w = np.array([np.argmax([B[z == k, j].sum() for k in range(K)]) for j in range(B.shape[1])])
        Q = sum(B[np.ix_(z == k, w == k)].sum() for k in range(K))
        if Q - before <= 1e-9 * total:
            break
        before = Q
    return z, w, Q / total


def log(x):
    """The logarithm, and that of a very small number for 0."""
    return np.log(np.maximum(x, 1e-300))


def divergence(kind, z, y):
    """Bregman divergence of cells from what stands for them."""
    return (z - y) ** 2 if kind == "squared" else z * (log(z) - log(y)) - z + y


def averages(X, rows, cols, K):
    """Average of each block; NaN for empty ones."""
    out = np.full(K, np.nan)
    for r in range(K[0]):
        for c in range(K[1]):
            block = X[np.ix_(rows == r, cols == c)]
            if block.size:
                out[r, c] = block.mean()
    return out


def nearest(X, rows, cols, K, kind):
    """The nearest cluster of each row by its averages."""
    means, labels = averages(X, rows, cols, K), []
    for line in X:
        costs = [divergence(kind, line, means[r][cols]).sum() if (rows == r).any() else np.inf for r in range(K[0])]
        labels.append(int(np.argmin(costs)))
    return np.array(labels)


def block_average(X, rows, cols, K, kind, max_iter=100):
    """Return labels and loss from one start."""
    X, before = np.asarray(X, dtype=float), np.inf
    for _ in range(max_iter):
        rows = nearest(X, rows, cols, K, kind)
        cols = nearest(X.T, cols, rows, K[::-1], kind)
        loss = divergence(kind, X, averages(X, rows, cols, K)[rows][:, cols]).sum()
        if before - loss <= 1e-12 * abs(loss):
            break
        before = loss
    return rows, cols, loss


def mutual_information(P):
    """Mutual information of a table of counts, in nats."""
    P = np.asarray(P, dtype=float) / np.sum(P)
    expected = np.outer(P.sum(axis=1), P.sum(axis=0))
    return float((P[P > 0] * np.log(P[P > 0] / expected[P > 0])).sum())


def blocks(P, rows, cols, K):
    """The table of the sums of blocks."""
    return np.array([[P[np.ix_(rows == r, cols == c)].sum() for c in range(K[1])] for r in range(K[0])])


def information(X, rows, cols, K, max_iter=100):
    """Return labels and information kept from one start, by Kullback-Leibler divergences of whole rows."""
    P, before = np.asarray(X, dtype=float) / np.sum(X), -np.inf

    def turn(P, rows, cols, K):
        S = blocks(P, rows, cols, K)
        labels = []
        for line in P:
            costs = []
            for r in range(K[0]):
                # q(y | x-hat) = q(y | y-hat) q(y-hat | x-hat)
                given = (P.sum(axis=0) / np.array([P[:, cols == c].sum() for c in range(K[1])])[cols]) * (
                    S[r] / max(S[r].sum(), 1e-300)
                )[cols]
                costs.append((line * (log(line / line.sum()) - log(given))).sum() if (rows == r).any() else np.inf)
            labels.append(int(np.argmin(costs)))
        return np.array(labels)

    for _ in range(max_iter):
        rows = turn(P, rows, cols, K)
        cols = turn(P.T, cols, rows, K[::-1])
        kept = mutual_information(blocks(P, rows, cols, K))
        if kept - before <= 1e-12:
            break
        before = kept
    return rows, cols, kept


def nearest_of_drawn(lines, K, draws):
    """Which of K lines each line is nearest to, drawn in proportion to the squared distance from those drawn before."""
    drawn = [int(draws[0] * len(lines))]
    for draw in draws[1:K]:
        least = [min(((line - lines[c]) ** 2).sum() for c in drawn) for line in lines]
        drawn.append(int(np.searchsorted(np.cumsum(least), draw * np.sum(least), side="right")))
    return [np.argmin([((line - lines[c]) ** 2).sum() for c in drawn]) for line in lines]


def kept(kind, sums, n_own, n_other):
    """What blocks with these sums and numbers of lines keep, all together."""
    cells = np.outer(n_own, n_other)
    whole, averages = sums.sum(), sums / np.maximum(cells, 1)
    if kind == "information":
        expected = np.outer(sums.sum(axis=1), sums.sum(axis=0)) / whole
        return (sums * (log(sums) - log(expected))).sum()
    return (cells * divergence(kind, averages, whole / cells.sum())).sum()

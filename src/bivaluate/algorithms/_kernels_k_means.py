"""Kernels of k-means for points of few coordinates: every start of scikit-learn's, or "in doubt".

Promise of the caller: `Pt` holds centred points as columns (coordinates x points), float64, C-contiguous and finite;
`doubt` is far above what rounding can change in a squared distance, in a sum of them and in a squared shift. A decision
that hangs on less is not taken: the kernels then return False, and scikit-learn has to be asked itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bivaluate._jit import inner_kernel, kernel

MOST_STEPS = 300


@inner_kernel
def apart(Pt: Any, one: int, two: int) -> float:
    """Return how far two points are from each other, squared."""
    # ((Pt[:, one] - Pt[:, two]) ** 2).sum()
    total = 0.0
    for d in range(len(Pt)):
        total += (Pt[d, one] - Pt[d, two]) * (Pt[d, one] - Pt[d, two])
    return total


@inner_kernel
def distances_to(Pt: Any, at: int, nearest: Any, out: Any) -> float:
    """Fill the squared distances to point `at`, or to the centre chosen before if that is nearer; return their sum."""
    # out[:] = np.minimum(nearest, ((Pt - Pt[:, [at]]) ** 2).sum(axis=0)); out.sum()
    total = 0.0
    for i in range(len(out)):
        out[i] = min(apart(Pt, i, at), nearest[i])
        total += out[i]
    return total


@kernel
def first_points(Pt: Any, draws: Any, doubt: float, chosen: Any) -> bool:
    """Fill the points k-means++ goes on with after the first, each the best of several drawn; False in doubt."""
    n, winner = Pt.shape[1], chosen[0]
    nearest, trial, best, cumulated = np.full(n, np.inf), np.empty(n), np.empty(n), np.empty(n)
    potential = distances_to(Pt, winner, nearest, nearest)
    for k in range(1, len(chosen)):
        total = 0.0
        for i in range(n):
            total += nearest[i]
            cumulated[i] = total
        winner, least = -1, np.inf
        for draw in draws[k - 1]:
            value = draw * potential
            point = np.searchsorted(cumulated, value)
            if point == n or cumulated[point] - value <= doubt or (point > 0 and value - cumulated[point - 1] <= doubt):
                return False
            if winner >= 0 and apart(Pt, winner, point) == 0.0:
                continue
            sum_of_trial = distances_to(Pt, point, nearest, trial)
            if winner >= 0 and abs(sum_of_trial - least) <= doubt:
                return False
            if sum_of_trial < least:
                winner, least = point, sum_of_trial
                trial, best = best, trial
        chosen[k], potential = winner, least
        nearest, best = best, nearest
    return True


@inner_kernel
def assign(Pt: Any, centres: Any, doubt: float, labels: Any, nearest: Any, second: Any, distance: Any) -> bool:
    """Fill the nearest centre of each point and its squared distance; False in doubt."""
    # D = ((Pt[:, None] - centres[:, :, None]) ** 2).sum(axis=0); labels, nearest = D.argmin(axis=0), D.min(axis=0)
    nearest[:] = np.inf
    second[:] = np.inf
    for k in range(centres.shape[1]):
        distance[:] = 0.0
        for d in range(len(Pt)):
            line, centre = Pt[d], centres[d, k]
            for i in range(len(line)):
                distance[i] += (line[i] - centre) * (line[i] - centre)
        for i in range(len(labels)):
            second[i] = min(second[i], max(nearest[i], distance[i]))
            labels[i] = k if distance[i] < nearest[i] else labels[i]
            nearest[i] = min(nearest[i], distance[i])
    closest = np.inf
    for i in range(len(labels)):
        closest = min(closest, second[i] - nearest[i])
    return closest > doubt


@inner_kernel
def average(Pt: Any, labels: Any, means: Any, counts: Any) -> bool:
    """Fill the mean of the points of each label; False where there is none of a label."""
    # means[:, k] = Pt[:, labels == k].mean(axis=1)
    means[:] = 0.0
    counts[:] = 0
    for i in range(len(labels)):
        k = labels[i]
        counts[k] += 1
        for d in range(len(Pt)):
            means[d, k] += Pt[d, i]
    for k in range(len(counts)):
        if counts[k] == 0:
            return False
        for d in range(len(Pt)):
            means[d, k] /= counts[k]
    return True


@inner_kernel
def lloyd(Pt: Any, centres: Any, tolerance: float, doubt: float, labels: Any, before: Any, scratch: Any) -> float:
    """Move the centres until no point changes its label; return the inertia, -1 in doubt."""
    means, counts = np.empty_like(centres), np.empty(centres.shape[1], np.int64)
    before[:] = -1
    for _ in range(MOST_STEPS):
        if not assign(Pt, centres, doubt, labels, scratch[0], scratch[1], scratch[2]) or not average(
            Pt, labels, means, counts
        ):
            return -1.0
        # shift, same = ((means - centres) ** 2).sum(), (labels == before).all()
        shift, changed = 0.0, 0
        for d in range(len(Pt)):
            for k in range(len(counts)):
                shift += (means[d, k] - centres[d, k]) * (means[d, k] - centres[d, k])
                centres[d, k] = means[d, k]
        for i in range(len(labels)):
            changed += labels[i] != before[i]
            before[i] = labels[i]
        if changed == 0:
            break
        if abs(shift - tolerance) <= doubt:
            return -1.0
        if shift <= tolerance:
            break
    if not assign(Pt, centres, doubt, labels, scratch[0], scratch[1], scratch[2]):
        return -1.0
    inertia = 0.0
    for i in range(len(labels)):
        inertia += scratch[0, i]
    return inertia


@inner_kernel
def same_clusters(one: Any, two: Any, K: int) -> bool:
    """Whether two labellings are the same but for the names."""
    name = np.full(K, np.int64(-1))
    for i in range(len(one)):
        if name[one[i]] < 0:
            name[one[i]] = two[i]
        elif name[one[i]] != two[i]:
            return False
    return True


@kernel
def k_means(Pt: Any, starts: Any, tolerance: float, doubt: float, labels: Any) -> float:
    """Fill the labels of the best start, each given by its centres; return its inertia, -1 in doubt."""
    # min(starts, key=inertia), the first of equals
    n, best = len(labels), -1.0
    scratch, found, before = np.empty((3, n)), np.empty(n, np.int64), np.empty(n, np.int64)
    for centres in starts:
        inertia = lloyd(Pt, centres, tolerance, doubt, found, before, scratch)
        if inertia < 0.0:
            return -1.0
        # The same clusters again do not count, whatever rounding makes of their inertia.
        if best >= 0.0 and (inertia > best + doubt or same_clusters(found, labels, centres.shape[1])):
            continue
        if best >= 0.0 and inertia >= best - doubt:
            return -1.0
        best = inertia
        for i in range(n):
            labels[i] = found[i]
    return best

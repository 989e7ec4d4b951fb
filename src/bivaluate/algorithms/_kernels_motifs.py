"""Kernels of xMOTIFs: the intervals that are states, and the search for motifs from random sets of columns."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bivaluate._jit import copy_cells, count_ones, kernel
from bivaluate.algorithms._kernels_bits import lies_within


@kernel
def crowding(inside: int, m: int, width: float) -> float:
    """Return a bound on the log-probability that `inside` or more of m uniform cells fall into an interval.

    Chernoff's: −m · KL(inside / m ‖ width); 0 where there are no more than expected.
    """
    share = inside / m
    if share <= width:
        return 0.0
    bound = share * math.log(share / width)
    if share < 1.0:
        bound += (1.0 - share) * math.log((1.0 - share) / (1.0 - width))
    return -m * bound


@kernel
def find_states(ordered: Any, places: Any, limit: float, states: Any) -> None:
    """Fill `states` with the number of the interval each cell lies in, 0 for none.

    `ordered` holds the sorted cells of each row and `places` their columns. The interval with the lowest bound is
    taken first, then the best of what is left beside it; of equal bounds the one with more cells, then the lower one.
    """
    n, m = ordered.shape
    first = np.empty(2 * m + 2, np.int64)
    last = np.empty(2 * m + 2, np.int64)
    for i in range(n):
        values = ordered[i]
        spread = values[m - 1] - values[0]
        if spread == 0.0:
            states[i] = 1
            continue
        first[0], last[0] = 0, m - 1
        waiting, state = 1, 0
        while waiting > 0:
            waiting -= 1
            start, stop = first[waiting], last[waiting]
            best, low, high = limit, -1, -1
            for a in range(start, stop):
                for b in range(stop, a, -1):
                    # An interval of single cells has no width; half of the finest step there could be stands for it.
                    width = max((values[b] - values[a]) / spread, 0.5 / m)
                    bound = crowding(b - a + 1, m, width)
                    if bound < best or (bound == best and b - a > high - low):
                        best, low, high = bound, a, b
            if low < 0:
                continue
            state += 1
            for at in range(low, high + 1):
                states[i, places[i, at]] = state
            if low - start > 1:
                first[waiting], last[waiting] = start, low - 1
                waiting += 1
            if stop - high > 1:
                first[waiting], last[waiting] = high + 1, stop
                waiting += 1


@kernel
def search_motifs(sets: Any, seed: int, draws: Any, least: int, best: Any, genes: Any) -> None:
    """Try the random sets of columns given by `draws`; keep the rows that agree on the best one in `genes`.

    `best` holds rows and columns of the best motif so far: more rows win, then more columns, then the earlier. Each
    line of draws picks columns without replacement.
    """
    m, words = sets.shape
    others = np.empty(m, np.int64)
    common = np.empty(words, np.uint64)
    for trial in range(len(draws)):
        count = 0
        for column in range(m):
            if column != seed:
                others[count] = column
                count += 1
        copy_cells(sets[seed], common)
        size = 0
        for at in range(draws.shape[1]):
            pick = at + draws[trial, at] % (count - at)
            others[at], others[pick] = others[pick], others[at]
            chosen = sets[others[at]]
            size = 0
            for word in range(words):
                common[word] &= chosen[word]
                size += count_ones(common[word])
            if size < best[0]:
                break
        if size == 0 or size < best[0]:
            continue
        # columns = [c for c in range(m) if not (common & ~sets[c]).any()]
        columns = 0
        for column in range(m):
            columns += lies_within(common, sets[column])
        if columns >= least and (size > best[0] or columns > best[1]):
            best[0], best[1], best[2] = size, columns, seed
            copy_cells(common, genes)

"""Refine a set of blocks: merge those that are one, climb from each without the others, drop what does not pay."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bivaluate.algorithms._coherent_field import copy_field, evidence_of_rows, fit, remove, without
from bivaluate.algorithms._coherent_search import Search, as_masks, jaccard
from bivaluate.algorithms._estimator import Pair, Values
from bivaluate.algorithms.large_average import log_binomials

ROUNDS = 2
SHARE_TO_MERGE = 0.5
SAME = 0.5
STILL_ITSELF = 0.3
MERGES_PER_BLOCK = 2

Scored = tuple[float, Pair]


def refine(search: Search, field: Any, blocks: list[Scored]) -> list[Scored]:
    """Return the blocks, best first, after at most two rounds of merging, climbing and dropping."""
    for _ in range(ROUNDS):
        before = [pair for _, pair in blocks]
        blocks = merge(search, field, blocks)
        blocks = climb_each(search, field, blocks)
        blocks = drop(search, blocks)
        if len(before) == len(blocks) and all(
            jaccard(one, two) == 1.0 for one, (_, two) in zip(before, blocks, strict=True)
        ):
            break
    return trim(search, field, blocks)


def merge(search: Search, field: Any, blocks: list[Scored]) -> list[Scored]:
    """Replace pairs that share rows or columns by one block where that has more evidence than both."""
    blocks = list(blocks)
    tried = 0
    allowed = MERGES_PER_BLOCK * len(blocks)
    refused: set[tuple[int, int]] = set()
    while tried < allowed:
        pairs = [
            (share, a, b)
            for a in range(len(blocks))
            for b in range(a + 1, len(blocks))
            if (id(blocks[a]), id(blocks[b])) not in refused
            and (share := _share(blocks[a][1], blocks[b][1])) >= SHARE_TO_MERGE
        ]
        if not pairs:
            break
        _, a, b = max(pairs, key=lambda pair: (pair[0], -pair[1], -pair[2]))
        tried += 1
        one, two = blocks[a][1], blocks[b][1]
        rest = without(field, [pair for k, (_, pair) in enumerate(blocks) if k not in (a, b)])
        rows = np.union1d(one[0], two[0])
        both = [(rows, np.union1d(one[1], two[1]))]
        shared = np.intersect1d(one[1], two[1])
        if len(shared) >= 2:
            both.append((rows, shared))
        n, m = field.Zt.shape[1], len(field.Zt)
        found = search.climb(rest, *as_masks(both, (n, m)))
        if len(found) and found.scores[0] > blocks[a][0] + blocks[b][0]:
            blocks[a] = (float(found.scores[0]), found.pair(0))
            del blocks[b]
        else:
            refused.add((id(blocks[a]), id(blocks[b])))
    return blocks


def climb_each(search: Search, field: Any, blocks: list[Scored]) -> list[Scored]:
    """Climb from each block with the others explained away, and on the whole matrix, so that blocks may share cells."""
    shape = (field.Zt.shape[1], len(field.Zt))
    new = list(blocks)
    for k, (_, pair) in enumerate(blocks):
        others = [other for at, (_, other) in enumerate(new) if at != k]
        rest = without(field, others)
        best = search.climb(rest, *as_masks([pair], shape))
        if len(best) and jaccard(best.pair(0), pair) >= STILL_ITSELF:
            new[k] = (float(best.scores[0]), best.pair(0))
        else:
            new[k] = (fit(rest, *pair).score, pair)

    return new


def drop(search: Search, blocks: list[Scored]) -> list[Scored]:
    """Drop blocks without evidence and those that are nearly a better one."""
    kept: list[Scored] = []
    for score, pair in sorted(blocks, key=lambda block: -block[0]):
        if (
            score > search.threshold
            and len(pair[0]) < search.most_rows
            and all(jaccard(pair, other) < SAME for _, other in kept)
        ):
            kept.append((score, pair))
    return kept


def trim(search: Search, field: Any, blocks: list[Scored]) -> list[Scored]:
    """Let two blocks share cells only if their shared rows together favour it; otherwise a row keeps its better block.

    Sharing o of the r rows of the smaller block costs log C(r, o) + log n.
    """
    pairs = [pair for _, pair in blocks]
    n = field.Zt.shape[1]
    own = [
        _spread(evidence_of_rows(without(field, pairs[:k] + pairs[k + 1 :]), *pairs[k], pairs[k][0]), pairs[k][0], n)
        for k in range(len(pairs))
    ]
    for a in range(len(pairs)):
        for b in range(a + 1, len(pairs)):
            rows = np.intersect1d(pairs[a][0], pairs[b][0], True)
            if not len(rows) or not len(np.intersect1d(pairs[a][1], pairs[b][1], True)):
                continue
            smaller = min(len(pairs[a][0]), len(pairs[b][0]))
            cost = float(log_binomials(smaller)[len(rows)]) + np.log(n)
            if np.minimum(own[a][rows], own[b][rows]).sum() > cost:
                continue
            weaker = own[a][rows] < own[b][rows]
            for k, leave in ((a, rows[weaker]), (b, rows[~weaker])):
                if len(pairs[k][0]) - len(leave) >= search.fewest_rows:
                    pairs[k] = (np.setdiff1d(pairs[k][0], leave, True), pairs[k][1])
    return recount(search, field, pairs)


def recount(search: Search, field: Any, pairs: list[Pair]) -> list[Scored]:
    """Score the blocks in turn, each after those before it are explained away, and keep those that still pay."""
    rest = copy_field(field)
    kept: list[Scored] = []
    for pair in pairs:
        score = fit(rest, *pair).score
        if score > search.threshold:
            kept.append((score, pair))
            remove(rest, *pair)
    return sorted(kept, key=lambda block: -block[0])


def _spread(values: Values, rows: NDArray[np.int64], n: int) -> Values:
    """Return an array of length n with `values` at `rows`, NaN elsewhere."""
    out = np.full(n, np.nan)
    out[rows] = values
    return out


def _share(one: Pair, two: Pair) -> float:
    """Return the larger of the shares of rows and of columns, of the smaller set, that two blocks have in common."""
    return max(len(np.intersect1d(a, b, True)) / min(len(a), len(b)) for a, b in zip(one, two, strict=True))

"""Cells that lie in the same biclusters, counted together: pairs of cells without a list of pairs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bivaluate.solution import Biclustering

_CHUNK = 1 << 21
Words = NDArray[np.uint64]


@dataclass(frozen=True)
class PairCounts:
    """Pairs of cells that agree in everything the pair-counting measures look at, and how many there are.

    Attributes
    ----------
    common_first, common_second
        Number of biclusters both cells lie in.
    product_first, product_second
        Product of the two cells' numbers of memberships; a cell in no bicluster is a cluster of its own.
    count
        Number of pairs.
    """

    common_first: NDArray[np.int64]
    common_second: NDArray[np.int64]
    product_first: NDArray[np.int64]
    product_second: NDArray[np.int64]
    count: NDArray[np.float64]


@dataclass(frozen=True)
class CellClasses:
    """Distinct memberships of cells in two solutions and how many cells have each.

    Attributes
    ----------
    first, second
        Membership of each class in the biclusters of the two solutions, (C, K) and (C, L), 0 or 1.
    counts
        Number of cells of each class; they add up to the size of the matrix.
    """

    first: NDArray[np.float32]
    second: NDArray[np.float32]
    counts: NDArray[np.float64]

    @cached_property
    def pairs(self) -> PairCounts:
        """All pairs of cells, counted by what the two solutions say about them."""
        sides = (self.first, self.second)
        many = np.stack([np.maximum(side.sum(axis=1), 1) for side in sides], axis=1).astype(np.int64)
        kinds, kind = np.unique(many, axis=0, return_inverse=True)
        base = int(many[:, 1].max()) + 1
        n, n_kinds = len(self.counts), len(kinds)
        coded = np.concatenate([self.first * base, self.second], axis=1)
        plain = np.concatenate(sides, axis=1)
        total = np.zeros((int(many[:, 0].max()) + 1) * base * n_kinds**2)
        kind = kind.ravel()
        step = max(1, _CHUNK // n)
        for start in range(0, n, step):
            part = slice(start, start + step)
            weight = self.counts[part, None] * self.counts[None, start:]
            own = np.arange(len(weight))
            weight[own, own] = self.counts[part] * (self.counts[part] - 1) / 2
            weight[np.tril_indices(len(weight), -1, weight.shape[1])] = 0
            code = (coded[part] @ plain[start:].T).astype(np.int64) * n_kinds**2
            code += (kind[part] * n_kinds)[:, None] + kind[None, start:]
            total += np.bincount(code.ravel(), weights=weight.ravel(), minlength=len(total))
        found = np.flatnonzero(total)
        common, of_kinds = np.divmod(found, n_kinds**2)
        one, other = kinds[of_kinds // n_kinds], kinds[of_kinds % n_kinds]
        product = one * other
        return PairCounts(common // base, common % base, product[:, 0], product[:, 1], total[found])


def cell_classes(first: Biclustering, second: Biclustering) -> CellClasses:
    """Group the cells of the matrix by the biclusters of two solutions they lie in."""
    masks = [
        np.concatenate([getattr(first, side), getattr(second, side)], axis=0) for side in ("row_masks", "col_masks")
    ]
    n_members = len(masks[0])
    (row_words, row_times), (col_words, col_times) = (_patterns(mask) for mask in masks)
    found, times = [], []
    step = max(1, _CHUNK // len(col_words))
    for start in range(0, len(row_words), step):
        words = row_words[start : start + step, None, :] & col_words[None, :, :]
        weight = row_times[start : start + step, None] * col_times[None, :]
        distinct, where = _distinct(words.reshape(-1, words.shape[2]))
        found.append(distinct)
        times.append(np.bincount(where, weights=weight.ravel(), minlength=len(distinct)))
    distinct, where = _distinct(np.concatenate(found))
    counts = np.bincount(where, weights=np.concatenate(times)).astype(np.float64)
    bits = np.unpackbits(distinct.view(np.uint8), axis=1, count=n_members, bitorder="little")
    members = bits.astype(np.float32)
    return CellClasses(members[:, : len(first)], members[:, len(first) :], counts)


def _patterns(masks: NDArray[np.bool_]) -> tuple[Words, NDArray[np.float64]]:
    """Return the distinct membership patterns of the columns of `masks` as 64-bit words, and how often each occurs."""
    n_words = max(1, -(-len(masks) // 64))
    packed = np.zeros((masks.shape[1], 8 * n_words), dtype=np.uint8)
    if len(masks):
        bits = np.packbits(masks, axis=0, bitorder="little").T
        packed[:, : bits.shape[1]] = bits
    distinct, where = _distinct(packed.view(np.uint64))
    return distinct, np.bincount(where).astype(np.float64)


def _distinct(words: Words) -> tuple[Words, NDArray[np.int64]]:
    """Return the distinct rows of `words` and which of them each row is."""
    _, where = np.unique(words[:, 0], return_inverse=True)
    for column in words.T[1:]:
        values, further = np.unique(column, return_inverse=True)
        _, where = np.unique(where * len(values) + further, return_inverse=True)
    example = np.empty(int(where.max()) + 1, dtype=np.int64)
    example[where] = np.arange(len(words))
    return np.ascontiguousarray(words[example]), where


def overlaps(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return how many members each mask of `first` shares with each of `second`."""
    return np.asarray(first.astype(np.float32) @ second.astype(np.float32).T, dtype=np.float64)

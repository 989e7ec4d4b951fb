"""How rows and columns are arranged so that biclusters stand as blocks, and cut into bins where there are many."""

from dataclasses import dataclass

import numpy as np

from bivaluate._types import Flags, Ints
from bivaluate.solution import Biclustering

#: Share of the bins that members of biclusters get, however few they are.
INSIDE_SHARE = 0.8


def block_order(masks: Flags, other: Flags | None = None) -> tuple[Ints, Ints]:
    """Order the members of one side so that each bicluster's members stand together, those of none last."""
    n_biclusters, n = masks.shape
    everyone = np.arange(n, dtype=np.int64)
    if n_biclusters == 0:
        return everyone, np.array([n], dtype=np.int64)
    position = np.empty(n_biclusters)
    position[_chain(masks, masks if other is None else other)] = np.arange(n_biclusters)
    counts = masks.sum(axis=0)
    place = np.where(counts > 0, (position @ masks) / np.maximum(counts, 1), np.inf)
    _, signature = np.unique(masks.T, axis=0, return_inverse=True)
    signature = signature.reshape(-1)
    order = np.lexsort((everyone, signature, place))
    changes = np.flatnonzero(np.diff(signature[order])) + 1
    return order.astype(np.int64), np.diff(np.concatenate([[0], changes, [n]])).astype(np.int64)


def _chain(masks: Flags, other: Flags) -> list[int]:
    """Return the biclusters so that each is followed by the one that shares most members with it."""
    # Whole numbers of members are exact in float32 products, which are many times quicker than those of integers.
    exact = (side.astype(np.float32) for side in (masks, other))
    shared, beside = ((side @ side.T).astype(np.float64) for side in exact)
    likeness = shared * (other.shape[1] + 1) + beside
    likeness[:, 0] = -1.0
    chain = [0]
    for _ in range(1, len(masks)):
        chain.append(int(likeness[chain[-1]].argmax()))
        likeness[:, chain[-1]] = -1.0
    return chain


def runs(positions: Ints) -> list[tuple[int, int]]:
    """Return sorted positions as half-open runs ``(start, stop)``.

    >>> runs(np.array([0, 1, 2, 5]))
    [(0, 3), (5, 6)]
    """
    cuts = np.flatnonzero(np.diff(positions) > 1) + 1
    return [(int(part[0]), int(part[-1]) + 1) for part in np.split(positions, cuts) if len(part)]


def stacking_order(solution: Biclustering) -> Ints:
    """Return an order of all rows: those of B1, then the rest of B2, and so on, then all others.

    Rows a bicluster shares with the next one come last in it, so that overlapping biclusters stay in one piece.

    >>> stacking_order(Biclustering([([2, 4], [0]), ([0, 2], [0])], shape=(5, 1))).tolist()
    [4, 2, 0, 1, 3]
    """
    masks = solution.row_masks
    n_rows = solution.shape[0]
    first = np.where(masks.any(axis=0), masks.argmax(axis=0), len(masks))
    last = np.where(masks.any(axis=0), len(masks) - 1 - masks[::-1].argmax(axis=0), len(masks))
    return np.lexsort((np.arange(n_rows), last, first)).astype(np.int64)


@dataclass(frozen=True)
class Axis:
    """One side of the picture: members in the order shown, and the bins they are averaged over."""

    order: Ints
    edges: Ints

    @property
    def n_bins(self) -> int:
        """Number of bins."""
        return len(self.edges) - 1

    def bins_of(self, members: Ints) -> list[tuple[int, int]]:
        """Return the runs of bins that hold any of these members."""
        place = np.empty(len(self.order), dtype=np.int64)
        place[self.order] = np.arange(len(self.order))
        return runs(np.unique(np.searchsorted(self.edges, place[members], side="right") - 1))

    def names(self, labels: tuple[str, ...] | None) -> list[str]:
        """Return what each bin is called: a label, or the first and last of several with their number."""

        def label(position: int) -> str:
            member = int(self.order[position])
            return labels[member] if labels is not None else str(member)

        return [
            label(start) if stop - start == 1 else f"{label(start)} … {label(stop - 1)} ({stop - start:,})"
            for start, stop in zip(self.edges[:-1].tolist(), self.edges[1:].tolist(), strict=True)
        ]


def make_axis(masks: Flags, max_bins: int, other: Flags | None = None) -> Axis:
    """Order one side by its biclusters and cut it into at most `max_bins` bins (never fewer than two)."""
    order, lengths = block_order(masks, other)
    n = len(order)
    if n <= max_bins:
        return Axis(order, np.arange(n + 1, dtype=np.int64))
    max_bins = max(max_bins, 2)
    n_inside = int(masks.any(axis=0).sum())
    n_outside = n - n_inside
    inside = min(n_inside, round(INSIDE_SHARE * max_bins), max_bins - 1) if n_outside else max_bins
    inside = max(inside, max_bins - n_outside, 1 if n_inside else 0)
    segments = lengths[:-1] if n_outside else lengths
    edges = _cut(segments, inside) if n_inside else np.array([0], dtype=np.int64)
    if n_outside:
        outside = np.linspace(n_inside, n, min(n_outside, max_bins - inside) + 1).round().astype(np.int64)
        edges = np.concatenate([edges, outside[1:]])
    return Axis(order, edges)


def _cut(segments: Ints, n_bins: int) -> Ints:
    total = int(segments.sum())
    if total <= n_bins:
        return np.arange(total + 1, dtype=np.int64)
    if len(segments) > n_bins // 2:
        return np.unique(np.linspace(0, total, n_bins + 1).round().astype(np.int64))
    width = -(-total // (n_bins - len(segments)))
    edges = [0]
    for length in segments.tolist():
        parts = -(-length // width)
        edges += (edges[-1] + np.linspace(0, length, parts + 1).round().astype(np.int64)[1:]).tolist()
    return np.array(edges, dtype=np.int64)


def spaced(n: int, most: int) -> Ints:
    """Return at most `most` of ``0 … n-1``, evenly spaced, first and last included."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.int64))

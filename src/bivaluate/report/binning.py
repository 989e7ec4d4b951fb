"""A matrix of any size as a picture of bounded size: reordered, and averaged over bins where it is large."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bivaluate._text import plural
from bivaluate.matrix import Matrix
from bivaluate.plots.solution_heatmap import block_order, runs
from bivaluate.solution import Biclustering

MAX_ROWS, MIN_COLS, MAX_COLS = 1200, 200, 400
INSIDE_SHARE = 0.8


@dataclass(frozen=True)
class Axis:
    """One side of the picture: members in the order shown, and the bins they are averaged over."""

    order: NDArray[np.int64]
    edges: NDArray[np.int64]

    @property
    def n_bins(self) -> int:
        """Number of bins."""
        return len(self.edges) - 1

    @property
    def is_binned(self) -> bool:
        """Whether some bin holds more than one member."""
        return self.n_bins < len(self.order)

    def bins_of(self, members: NDArray[np.int64]) -> list[tuple[int, int]]:
        """Return the runs of bins that hold any of these members."""
        place = np.empty(len(self.order), dtype=np.int64)
        place[self.order] = np.arange(len(self.order))
        bins = np.searchsorted(self.edges, place[members], side="right") - 1
        return runs(np.unique(bins))

    def names(self, labels: tuple[str, ...] | None) -> list[str]:
        """Return what each bin is called: a label, or the first and last of several with their number."""

        def label(position: int) -> str:
            member = int(self.order[position])
            return labels[member] if labels is not None else str(member)

        return [
            label(start) if stop - start == 1 else f"{label(start)} … {label(stop - 1)} ({stop - start:,})"
            for start, stop in zip(self.edges[:-1].tolist(), self.edges[1:].tolist(), strict=True)
        ]


@dataclass(frozen=True)
class Picture:
    """The binned, reordered matrix."""

    values: NDArray[np.float64]
    rows: Axis
    cols: Axis
    note: str


def make_axis(masks: NDArray[np.bool_], max_bins: int, other: NDArray[np.bool_] | None = None) -> Axis:
    """Order one side by its biclusters and cut it into at most `max_bins` bins (never fewer than two).

    Members of biclusters get most of the bins, so that small blocks stay visible in a large matrix; bins do
    not cross from one run of equal membership into the next where there are few enough runs.
    """
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


def _cut(segments: NDArray[np.int64], n_bins: int) -> NDArray[np.int64]:
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


def make_picture(matrix: Matrix, solution: Biclustering, max_cells: int = 60_000) -> Picture:
    """Reorder `matrix` by the biclusters and average it over bins if it has more than `max_cells` cells."""
    n, m = matrix.shape
    max_cols = min(m, max(MIN_COLS, min(MAX_COLS, max_cells // min(n, MAX_ROWS))))
    max_rows = min(n, MAX_ROWS, max(1, max_cells // max_cols))
    row_masks, col_masks = solution.row_masks, solution.col_masks
    rows = make_axis(row_masks, max_rows, col_masks)
    cols = make_axis(col_masks, max_cols, row_masks)
    return Picture(_average(matrix.values, rows, cols), rows, cols, _note(matrix, rows, cols))


def _average(values: NDArray[np.float64], rows: Axis, cols: Axis) -> NDArray[np.float64]:
    sums = np.empty((rows.n_bins, cols.n_bins))
    counts = np.empty((rows.n_bins, cols.n_bins))
    starts = cols.edges[:-1]
    for b, (start, stop) in enumerate(zip(rows.edges[:-1].tolist(), rows.edges[1:].tolist(), strict=True)):
        part = values[rows.order[start:stop]][:, cols.order]
        seen = np.isfinite(part)
        sums[b] = np.add.reduceat(np.where(seen, part, 0.0).sum(axis=0), starts)
        counts[b] = np.add.reduceat(seen.sum(axis=0), starts)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _note(matrix: Matrix, rows: Axis, cols: Axis) -> str:
    """Say what was averaged, or nothing."""
    parts = []
    for axis, thing in ((rows, "row"), (cols, "column")):
        if axis.is_binned:
            width = np.diff(axis.edges)
            parts.append(
                f"{plural(len(axis.order), thing)} in {axis.n_bins:,} bins of {int(width.min()):,} to {int(width.max()):,}"
            )
    if not parts:
        return ""
    return f"Too large to draw cell by cell: each cell shown is a mean ({' and '.join(parts)})."

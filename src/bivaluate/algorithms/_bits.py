"""Matrices of zeros and ones: the one rule that makes them of other data, and their bits in 64-bit words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from bivaluate._check import check_choice, check_real, place_of_cell
from bivaluate._errors import MatrixError
from bivaluate._factors import split_in_two
from bivaluate._text import Advice, Option
from bivaluate.measures.cover import packed_masks

Ones = NDArray[np.bool_]
Words = NDArray[np.uint64]

RULES = ("rows", "nonzero", "none")

# Cells handled at a time where a sparse matrix must be spread out.
CELLS_AT_ONCE = 1 << 19


def bits_of(X: Any, binarise: Any) -> tuple[Words, Words]:
    """Return the ones of `X` as words, row by row and column by column; a sparse matrix is never dense as a whole.

    A matrix of zeros and ones is taken as it is. Otherwise "rows" splits each row in two, "nonzero" takes every cell
    that is not 0, a number every cell above it, and "none" refuses.
    """
    binarise = "none" if binarise is None else binarise  # as the word none on the command line and in plans arrives
    if isinstance(binarise, str):
        check_choice("binarise", binarise, RULES)
    else:
        binarise = check_real("binarise", binarise)
    n, m = X.shape
    other = _neither_zero_nor_one(X)
    if other is not None and binarise == "none":
        row, col = other
        found = f"the cell at {place_of_cell(row, col)} is {X[row, col]:g}"
        said = f"X must hold only 0 and 1 when binarise is 'none', but {found}. Pass "
        instead = Option(python="binarise='rows'", command="--param binarise=rows")
        raise MatrixError(Advice(said, instead, ", 'nonzero' or a threshold."))
    rows = np.empty((n, _width(m)), dtype=np.uint64)
    columns = np.empty((m, _width(n)), dtype=np.uint64)
    for start, part in _parts(X):
        if other is None or binarise == "nonzero":
            ones = part != 0.0
        else:
            ones = split_in_two(part) if binarise == "rows" else part > binarise
        rows[start : start + len(part)] = packed_masks(ones)
        columns[:, start // 64 : -(-(start + len(part)) // 64)] = packed_masks(ones.T)
    return rows, columns


def _neither_zero_nor_one(X: Any) -> tuple[int, int] | None:
    """Return the first cell that is neither 0 nor 1."""
    cells = X.data if issparse(X) else X
    strange = (cells != 0.0) & (cells != 1.0)
    if not strange.any():
        return None
    first = int(strange.argmax())
    if not issparse(X):
        return first // int(X.shape[1]), first % int(X.shape[1])
    return int(np.searchsorted(X.indptr, first, side="right")) - 1, int(X.indices[first])


def _parts(X: Any) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Yield (first row, cells) of parts of a whole number of words of rows."""
    n, m = X.shape
    step = max(1, CELLS_AT_ONCE // (64 * m)) * 64
    for start in range(0, n, step):
        part = X[start : start + step]
        yield start, part.toarray() if issparse(X) else part


def _width(n_bits: int) -> int:
    return -(-n_bits // 64)


def count_lines(lines: Words, chosen: Words) -> NDArray[np.int64]:
    """Return how many of the chosen items each line holds."""
    return np.asarray(np.bitwise_count(lines & chosen).sum(axis=1, dtype=np.int64))


def members(sets: Words, n_items: int) -> list[NDArray[np.int64]]:
    """Return the items of each set, in order."""
    as_bytes = np.ascontiguousarray(sets, dtype="<u8").view(np.uint8)
    return places(np.unpackbits(as_bytes, axis=1, count=n_items, bitorder="little").view(bool))


def places(masks: Ones) -> list[NDArray[np.int64]]:
    """Return where each mask is true."""
    sizes = np.count_nonzero(masks, axis=1)
    items, ends = (
        np.flatnonzero(masks) - np.repeat(np.arange(len(masks)) * masks.shape[1], sizes),
        np.cumsum(sizes).tolist(),
    )
    return [items[start:stop] for start, stop in zip([0, *ends], ends, strict=False)]


class Largest:
    """The largest of the biclusters seen so far; among equals the one seen first."""

    def __init__(self, wanted: int, floor: int = 0) -> None:
        self.wanted = wanted
        self.floor = floor
        self.areas: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self.parts: tuple[NDArray[Any], ...] = ()
        self.buffer = max(64, min(wanted, 1 << 14))  # how many are worth waiting for

    def add(self, areas: NDArray[np.int64], *parts: NDArray[Any]) -> None:
        """Take more biclusters, described line by line by `parts`."""
        self.areas = np.concatenate([self.areas, areas])
        if self.parts:
            parts = tuple(np.concatenate(pair) for pair in zip(self.parts, parts, strict=True))
        order = np.argsort(-self.areas, kind="stable")[: self.wanted]
        self.areas = self.areas[order]
        self.parts = tuple(part[order] for part in parts)
        if len(self.areas) == self.wanted:
            self.floor = int(self.areas[-1])

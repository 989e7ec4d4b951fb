"""Small matrices in the forms that large ones come in: rows left in a file, types kept, sources of someone's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from bivaluate import Matrix
from bivaluate._rows import ArraySource, FileSource


def in_file(X: Any, path: Path) -> Matrix:
    """Save an array as .npy and return it as rows that are read when they are asked for."""
    np.save(path, X)
    return Matrix(FileSource.of_map(np.load(path, mmap_mode="r")))


def as_it_is(X: Any) -> Matrix:
    """Return an array in memory whose type is kept, as that of a large one is."""
    return Matrix(ArraySource(X))


class Own:
    """A source of someone's own: rows on demand."""

    sparse, dtype = False, np.dtype(np.float64)

    def __init__(self, X: Any) -> None:
        self._X, self.shape = X, X.shape
        self.read: list[int] = []

    def rows(self, start: int, stop: int) -> Any:
        self.read.extend(range(start, stop))
        return self._X[start:stop]

    def take(self, rows: Any) -> Any:
        self.read.extend(rows.tolist())
        return self._X[rows]

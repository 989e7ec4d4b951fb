"""Mergers whose rows come some at a time: which rows of a part belong to which of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bivaluate._types import Floats, Ints

if TYPE_CHECKING:
    from bivaluate.matrix import Matrix
    from bivaluate.solution import Biclustering


class Merged(NamedTuple):
    """Some mergers of biclusters, as pairs of positions: their members, and what is taken from the columns first."""

    rows: dict[int, Ints]  # of the biclusters
    cols: list[Ints]  # of each merger, as positions among those used
    pairs: list[tuple[int, int]]
    used: Ints  # columns
    offsets: Floats  # of the columns used

    @classmethod
    def of(cls, solution: Biclustering, pairs: Ints, offsets: Floats | None = None) -> Merged:
        """Return these mergers of a solution."""
        leads = np.unique(pairs).tolist()
        used = np.unique(np.concatenate([solution[k].cols for k in leads]))
        own = {k: np.searchsorted(used, solution[k].cols) for k in leads}
        chosen = [(int(i), int(j)) for i, j in pairs]
        cols = [own[i] if i == j else np.union1d(own[i], own[j]) for i, j in chosen]
        taken = np.zeros(len(used)) if offsets is None else offsets[used]
        return cls({k: solution[k].rows for k in leads}, cols, chosen, used, taken)

    @property
    def all_rows(self) -> Ints:
        """The rows of all biclusters, each once, ascending."""
        return np.unique(np.concatenate(list(self.rows.values())))

    def rows_of(self, p: int) -> Ints:
        """Return the rows of a merger."""
        i, j = self.pairs[p]
        return self.rows[i] if i == j else np.union1d(self.rows[i], self.rows[j])

    def size(self, p: int) -> int:
        """Return the number of rows of a merger."""
        i, j = self.pairs[p]
        shared = 0 if i == j else len(np.intersect1d(self.rows[i], self.rows[j], assume_unique=True))
        return len(self.rows[i]) if i == j else len(self.rows[i]) + len(self.rows[j]) - shared

    def blocks(self, matrix: Matrix) -> Iterator[Floats]:
        """Yield the cells of each merger of a matrix in memory."""
        for p, cols in enumerate(self.cols):
            yield matrix.block(self.rows_of(p), self.used[cols]) - self.offsets[cols]

    def first_rows(self, matrix: Matrix) -> list[Floats]:
        """Return the first row of each merger."""
        firsts = [min(self.rows[i][0], self.rows[j][0]) for i, j in self.pairs]
        picked, which = np.unique(np.array(firsts, dtype=np.int64), return_inverse=True)
        lines = matrix.block(picked, self.used) - self.offsets
        return [lines[line, cols] for line, cols in zip(which.tolist(), self.cols, strict=True)]

    def cells(self, matrix: Matrix, cells: Any) -> Floats:
        """Return rows, as the source gave them, in the columns used."""
        return np.asarray(matrix.dense(cells[:, self.used]) - self.offsets)

    def blocks_among(self, matrix: Matrix, numbers: Ints, cells: Any) -> Iterator[tuple[int, Floats]]:
        """Yield the number of each merger that has some of these rows, and its cells there."""
        values = self.cells(matrix, cells)
        own = {}
        for k, rows in self.rows.items():
            inside = rows[slice(*np.searchsorted(rows, (numbers[0], numbers[-1] + 1)))]
            own[k] = np.searchsorted(numbers, inside)
        for p, (i, j) in enumerate(self.pairs):
            at = own[i] if i == j else np.union1d(own[i], own[j])
            if len(at):
                yield p, values[at[:, None], self.cols[p]]

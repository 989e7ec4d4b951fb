"""Sparse arrays of TileDB-SOMA as rows of a matrix: read where they are, some rows at a time."""

from typing import Any

import numpy as np

from bivaluate._errors import MatrixError
from bivaluate._types import Ints


class SomaSource:
    """The rows of a ``tiledbsoma.SparseNDArray`` of two dimensions, as it stores them, or turned its columns."""

    sparse = True

    def __init__(self, array: Any, name: str = "X", turned: bool = False) -> None:
        if not hasattr(array, "read") or len(array.shape) != 2:
            needed = 'a SparseNDArray of two dimensions is needed, such as experiment.ms["RNA"].X["data"]'
            raise MatrixError(f"{name} is a {type(array).__name__} of TileDB-SOMA; {needed}.")
        if array.closed:
            raise MatrixError(f"{name} is a closed array of TileDB-SOMA; open it first: tiledbsoma.open({array.uri!r})")
        self._array, self._step = array, -1 if turned else 1
        n, m = (int(side) for side in array.shape[:: self._step])
        self.shape = (n, m)
        self.dtype: np.dtype[Any] = np.dtype(array.schema.field("soma_data").type.to_pandas_dtype())

    def __reduce__(self) -> Any:
        return _opened_again, (self._array.uri, self._step < 0)

    def transposed(self) -> "SomaSource":
        """Return the same cells with rows and columns swapped."""
        return SomaSource(self._array, turned=self._step > 0)

    def rows(self, start: int, stop: int) -> Any:
        """Return rows start:stop; slices of SOMA include their last row."""
        return self._read(slice(start, stop - 1), np.arange(start, stop))

    def take(self, rows: Ints) -> Any:
        """Return the rows of these numbers."""
        return self._read(np.asarray(rows, dtype=np.int64), rows)

    def _read(self, where: Any, numbers: Ints) -> Any:
        from scipy.sparse import csr_array

        shape = (len(numbers), self.shape[1])
        if not len(numbers):
            return csr_array(shape, dtype=self.dtype)
        tables = list(self._array.read((where, slice(None))[:: self._step]).tables())
        cells, *at = (
            np.concatenate([np.empty(0, kind), *(table.column(key).to_numpy() for table in tables)])
            for key, kind in (("soma_data", self.dtype), ("soma_dim_0", np.int64), ("soma_dim_1", np.int64))
        )
        row, col = at[:: self._step]
        return csr_array((cells, (np.searchsorted(numbers, row), col)), shape=shape)


def _opened_again(uri: str, turned: bool) -> SomaSource:
    """Return the rows of an array where it was sent to."""
    import tiledbsoma

    return SomaSource(tiledbsoma.open(uri), turned=turned)

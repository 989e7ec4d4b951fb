"""A data matrix with its labels: what every reader returns and every command works on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bivaluate._check import check_values, place_of_cell, to_float64
from bivaluate._errors import MatrixError

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Matrix:
    """Values with optional row and column labels; rows are the objects (genes), columns the conditions.

    Examples
    --------
    >>> X = Matrix.of([[1, 2], [3, 4], [5, 6]])
    >>> X.shape, X.row_labels
    ((3, 2), None)
    """

    values: NDArray[np.float64]
    row_labels: tuple[str, ...] | None = None
    col_labels: tuple[str, ...] | None = None
    name: str = "X"

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", to_float64(self.values, self.name))
        if self.values.ndim != 2:
            raise MatrixError(
                f"{self.name} has {self.values.ndim} dimension(s), shape {self.values.shape}; "
                "a 2-D matrix (rows x columns) is needed."
            )
        for axis, labels in ((0, self.row_labels), (1, self.col_labels)):
            if labels is not None and len(labels) != self.values.shape[axis]:
                what = ("row", "column")[axis]
                raise MatrixError(f"{self.name} has {self.values.shape[axis]} {what}s but {len(labels)} {what} labels.")
            if labels is not None:
                object.__setattr__(self, ("row_labels", "col_labels")[axis], tuple(labels))

    @classmethod
    def of(cls, X: Any, missing: str = "raise", name: str = "X") -> Matrix:
        """Return `X` (array-like, DataFrame or Matrix) checked, with its labels kept.

        Labels of a DataFrame are kept unless they are the default 0, 1, 2, …
        """
        if isinstance(X, Matrix):
            check_values(X.values, missing, X.name, X.place)
            return X
        if hasattr(X, "index") and hasattr(X, "columns") and hasattr(X, "to_numpy"):
            cls._check_frame_dtypes(X, name)
            return cls.of(cls(_cells(X), _labels(X.index), _labels(X.columns), name), missing)
        return cls(check_values(X, missing, name), name=name)

    @staticmethod
    def _check_frame_dtypes(frame: pd.DataFrame, name: str) -> None:
        import pandas as pd

        for column in range(frame.shape[1]):
            series = frame.iloc[:, column]
            if pd.api.types.is_numeric_dtype(series.dtype):
                continue
            bad = pd.to_numeric(series, errors="coerce").isna() & series.notna()
            if bad.any():
                row = int(np.argmax(bad.to_numpy()))
                raise MatrixError(
                    f"{name} has a cell that is not a number at row {frame.index[row]!r}, "
                    f"column {frame.columns[column]!r}: {series.iloc[row]!r}."
                )

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.values.shape[0], self.values.shape[1]

    @property
    def T(self) -> Matrix:
        """The transposed matrix, labels swapped."""
        return Matrix(self.values.T, self.col_labels, self.row_labels, self.name)

    def renamed(self, name: str) -> Matrix:
        """Return the same matrix under another name."""
        return replace(self, name=name)

    def row_label(self, index: int) -> str:
        """Return the label of a row, or its number where rows have no labels."""
        return self.row_labels[index] if self.row_labels is not None else str(index)

    def col_label(self, index: int) -> str:
        """Return the label of a column, or its number where columns have no labels."""
        return self.col_labels[index] if self.col_labels is not None else str(index)

    def place(self, row: int, col: int) -> str:
        """Return how a message names a cell: by labels where there are some."""
        if self.row_labels is None or self.col_labels is None:
            return place_of_cell(row, col)
        return f"row {self.row_labels[row]!r}, column {self.col_labels[col]!r}"

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame(self.values, index=_index(self.row_labels), columns=_index(self.col_labels))


def _cells(frame: pd.DataFrame) -> NDArray[Any]:
    """Return the cells of a frame; pandas' own mark of a missing cell becomes NaN."""
    values = frame.to_numpy()
    return values if values.dtype != object else frame.astype(object).where(frame.notna(), np.nan).to_numpy()


def _labels(index: Any) -> tuple[str, ...] | None:
    if type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1:
        return None
    return tuple(str(label) for label in index)


def _index(labels: Sequence[str] | None) -> Any:
    return None if labels is None else list(labels)

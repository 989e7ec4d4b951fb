"""A data matrix with its labels: what every reader returns and every command works on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bivaluate._check import check_values, place_of_cell, to_float64
from bivaluate._errors import MatrixError
from bivaluate._text import plural

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Matrix:
    """Values with optional row and column labels; rows are the objects (genes), columns the conditions.

    Parameters
    ----------
    values : array-like of shape (n, m)
        The cells; missing ones are NaN. A float64 array is not copied.
    row_labels, col_labels : sequence of str, optional
        One label per row and per column.
    name : str, default="X"
        What messages call the matrix.

    Raises
    ------
    MatrixError
        If the values are not a 2-D matrix of numbers, or the labels do not fit it.

    See Also
    --------
    Matrix.of : From whatever a user has, with every cell checked.
    bivaluate.read_matrix : From a file.

    Examples
    --------
    >>> X = Matrix([[1, 2], [3, 4], [5, 6]], row_labels=("g1", "g2", "g3"))
    >>> X.shape, X.row_label(1), X.col_label(1)
    ((3, 2), 'g2', '1')
    """

    values: NDArray[np.float64]
    row_labels: tuple[str, ...] | None = None
    col_labels: tuple[str, ...] | None = None
    name: str = "X"

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", to_float64(self.values, self.name))
        for n, what, key in zip(self.shape, ("row", "column"), ("row_labels", "col_labels"), strict=True):
            labels = getattr(self, key)
            if labels is not None and len(labels) != n:
                raise MatrixError(f"{self.name} has {plural(n, what)} but {plural(len(labels), f'{what} label')}.")
            object.__setattr__(self, key, None if labels is None else tuple(labels))

    @classmethod
    def of(cls, X: Any, missing: str = "raise", name: str = "X") -> Matrix:
        """Return what a user has as a matrix, checked, with its labels.

        Parameters
        ----------
        X : Matrix, DataFrame or array-like
            Labels of a DataFrame are kept unless they are the default 0, 1, 2, …; the masked cells of a masked
            array become missing ones.
        missing : {"raise", "omit"}, default="raise"
            Whether missing cells (NaN) are refused or may stay. Infinite cells are always refused.
        name : str, default="X"
            What messages call the matrix.

        Returns
        -------
        Matrix
            `X` itself if it is one.

        Raises
        ------
        MatrixError
            If `X` is not a 2-D matrix of numbers, is empty, or holds cells that are not allowed.

        Examples
        --------
        >>> import pandas as pd
        >>> Matrix.of(pd.DataFrame([[1, 2]], index=["g1"], columns=["c1", "c2"])).col_labels
        ('c1', 'c2')
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
                where = f"row {frame.index[row]!r}, column {frame.columns[column]!r}"
                raise MatrixError(f"{name} has a cell that is not a number at {where}: {series.iloc[row]!r}.")

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns.

        Returns
        -------
        tuple of int
            Rows, columns.

        Examples
        --------
        >>> Matrix.of([[1, 2], [3, 4], [5, 6]]).shape
        (3, 2)
        """
        return self.values.shape[0], self.values.shape[1]

    @property
    def T(self) -> Matrix:
        """The transposed matrix.

        Returns
        -------
        Matrix
            With its labels swapped; the cells are not copied.

        Examples
        --------
        >>> Matrix.of([[1, 2], [3, 4], [5, 6]]).T.shape
        (2, 3)
        """
        return Matrix(self.values.T, self.col_labels, self.row_labels, self.name)

    def renamed(self, name: str) -> Matrix:
        """Return the same matrix under another name.

        Parameters
        ----------
        name : str
            What messages call it.

        Returns
        -------
        Matrix
            With the same cells and labels.

        Examples
        --------
        >>> Matrix.of([[1, 2]]).renamed("yeast").name
        'yeast'
        """
        return replace(self, name=name)

    def row_label(self, index: int) -> str:
        """Return the label of a row, or its number where rows have no labels.

        Parameters
        ----------
        index : int
            The row, counted from 0.

        Returns
        -------
        str
            Its label.

        Examples
        --------
        >>> Matrix([[1, 2]], row_labels=("YAL001C",)).row_label(0)
        'YAL001C'
        """
        return self.row_labels[index] if self.row_labels is not None else str(index)

    def col_label(self, index: int) -> str:
        """Return the label of a column, or its number where columns have no labels.

        Parameters
        ----------
        index : int
            The column, counted from 0.

        Returns
        -------
        str
            Its label.

        Examples
        --------
        >>> Matrix.of([[1, 2]]).col_label(1)
        '1'
        """
        return self.col_labels[index] if self.col_labels is not None else str(index)

    def place(self, row: int, col: int) -> str:
        """Return how a message names a cell: by labels where there are some.

        Parameters
        ----------
        row, col : int
            The cell, counted from 0.

        Returns
        -------
        str
            Its place in words.

        Examples
        --------
        >>> Matrix([[1, 2]], ("g1",), ("a", "b")).place(0, 1)
        "row 'g1', column 'b'"
        """
        if self.row_labels is None or self.col_labels is None:
            return place_of_cell(row, col)
        return f"row {self.row_labels[row]!r}, column {self.col_labels[col]!r}"

    def to_frame(self) -> pd.DataFrame:
        """Return the matrix as a DataFrame.

        Returns
        -------
        pandas.DataFrame
            With the labels as index and columns, where there are some.

        Examples
        --------
        >>> float(Matrix([[1, 2]], ("g1",), ("a", "b")).to_frame().loc["g1", "b"])
        2.0
        """
        import pandas as pd

        index, columns = (None if labels is None else list(labels) for labels in (self.row_labels, self.col_labels))
        return pd.DataFrame(self.values, index=index, columns=columns)


def _cells(frame: pd.DataFrame) -> NDArray[Any]:
    """Return the cells of a frame; pandas' own mark of a missing cell becomes NaN."""
    values = frame.to_numpy()
    return values if values.dtype != object else frame.astype(object).where(frame.notna(), np.nan).to_numpy()


def _labels(index: Any) -> tuple[str, ...] | None:
    if type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1:
        return None
    return tuple(str(label) for label in index)

"""Bicluster and Biclustering: frozen, sorted, and aware of the shape of their matrix."""

from __future__ import annotations

import json
import operator
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bivaluate._document import SCHEMA, read_document
from bivaluate._errors import EmptyBiclusterWarning, FileError, SolutionError

Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Bicluster:
    """A subset of rows and a subset of columns, as sorted, read-only integer arrays."""

    rows: Indices
    cols: Indices

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        return len(self.rows), len(self.cols)

    @property
    def size(self) -> int:
        """Number of cells."""
        return len(self.rows) * len(self.cols)

    def of(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a copy of the bicluster's values in `X`."""
        return X[np.ix_(self.rows, self.cols)]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Bicluster):
            return NotImplemented
        return np.array_equal(self.rows, other.rows) and np.array_equal(self.cols, other.cols)

    def __hash__(self) -> int:
        return hash((self.rows.tobytes(), self.cols.tobytes()))

    def __repr__(self) -> str:
        return f"Bicluster({len(self.rows)} rows x {len(self.cols)} columns)"


class Biclustering(Sequence[Bicluster]):
    """A biclustering solution: an ordered set of biclusters of one matrix.

    Build one from pairs ``(rows, cols)`` of indices counted from 0, or with :meth:`from_masks`, :meth:`from_estimator`, :meth:`from_labels`
    or :meth:`from_json`.

    Parameters
    ----------
    biclusters
        Pairs of row and column indices, counted from 0.
    shape
        Shape of the matrix; ``None`` if it is not known yet (see :meth:`with_shape`).
    info
        Anything worth keeping about where the solution came from (algorithm, parameters, …).

    Examples
    --------
    >>> solution = Biclustering([([0, 1, 2], [0, 1]), ([3, 4], [2, 3])], shape=(5, 6))
    >>> len(solution), solution[0].shape
    (2, (3, 2))
    """

    def __init__(
        self,
        biclusters: Iterable[tuple[ArrayLike, ArrayLike]],
        shape: Sequence[int] | None = None,
        *,
        info: Mapping[str, Any] | None = None,
    ) -> None:
        self._shape = None if shape is None else _check_shape(shape)
        n_rows, n_cols = self._shape if self._shape is not None else (None, None)
        self._biclusters = tuple(
            Bicluster(
                _check_members(rows, n_rows, "row", k, self._shape),
                _check_members(cols, n_cols, "column", k, self._shape),
            )
            for k, (rows, cols) in enumerate(_pairs(biclusters))
        )
        self.info: dict[str, Any] = dict(info or {})

    @classmethod
    def from_masks(cls, rows: ArrayLike, cols: ArrayLike, *, info: Mapping[str, Any] | None = None) -> Biclustering:
        """Build a solution from boolean masks, `rows` (K, n) and `cols` (K, m).

        Empty biclusters are dropped with one warning.
        """
        row_masks, col_masks = _check_mask(rows, "rows"), _check_mask(cols, "cols")
        if len(row_masks) != len(col_masks):
            raise SolutionError(
                f"rows has {len(row_masks)} biclusters and cols has {len(col_masks)}; both need one line per bicluster."
            )
        pairs = [(np.flatnonzero(r), np.flatnonzero(c)) for r, c in zip(row_masks, col_masks, strict=True)]
        kept = [(r, c) for r, c in pairs if len(r) and len(c)]
        if len(kept) < len(pairs):
            empty = [f"B{k + 1}" for k, (r, c) in enumerate(pairs) if not (len(r) and len(c))]
            warnings.warn(
                f"{len(empty)} empty bicluster(s) dropped: {', '.join(empty[:10])}{' …' if len(empty) > 10 else ''}.",
                EmptyBiclusterWarning,
                stacklevel=2,
            )
        return cls(kept, (row_masks.shape[1], col_masks.shape[1]), info=info)

    @classmethod
    def from_estimator(cls, estimator: Any) -> Biclustering:
        """Build a solution from a fitted scikit-learn biclustering estimator (``rows_`` and ``columns_``)."""
        if not (hasattr(estimator, "rows_") and hasattr(estimator, "columns_")):
            raise SolutionError(
                f"{type(estimator).__name__} has no rows_ and columns_: call fit first, and pass a biclustering estimator."
            )
        return cls.from_masks(estimator.rows_, estimator.columns_, info={"algorithm": type(estimator).__name__})

    @classmethod
    def from_labels(cls, row_labels: ArrayLike, col_labels: ArrayLike, diagonal: bool = False) -> Biclustering:
        """Build a solution from a cluster label per row and per column.

        With ``diagonal=False`` every row cluster is paired with every column cluster (a checkerboard);
        with ``diagonal=True`` each label pairs its rows with its columns (co-clustering), and a label
        found on one side only is dropped with a warning.
        """
        rows, cols = np.asarray(row_labels), np.asarray(col_labels)
        for name, labels in (("row_labels", rows), ("col_labels", cols)):
            if labels.ndim != 1:
                raise SolutionError(f"{name} has {labels.ndim} dimensions; one label per row or column is needed.")
        if diagonal:
            pairs = [(label, label) for label in np.unique(np.concatenate([rows, cols]))]
        else:
            pairs = [(r, c) for r in np.unique(rows) for c in np.unique(cols)]
        return cls.from_masks(
            np.array([rows == r for r, _ in pairs]).reshape(len(pairs), len(rows)),
            np.array([cols == c for _, c in pairs]).reshape(len(pairs), len(cols)),
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the matrix these biclusters belong to."""
        if self._shape is None:
            raise SolutionError(
                "this solution does not say the shape of its matrix: pair it with one, "
                "or call with_shape((n_rows, n_cols))."
            )
        return self._shape

    @property
    def has_shape(self) -> bool:
        """Whether the shape of the matrix is known."""
        return self._shape is not None

    def with_shape(self, shape: Sequence[int]) -> Biclustering:
        """Return the solution for a matrix of this shape; raise if it belongs to another."""
        n_rows, n_cols = _check_shape(shape)
        if self._shape is not None:
            if self._shape != (n_rows, n_cols):
                hint = (
                    " Were rows and columns swapped? Transpose one of them." if self._shape == (n_cols, n_rows) else ""
                )
                raise SolutionError(
                    f"the solution is for a matrix of shape {self._shape}, but X has shape {(n_rows, n_cols)}.{hint}"
                )
            return self
        return Biclustering([(b.rows, b.cols) for b in self], (n_rows, n_cols), info=self.info)

    @property
    def row_masks(self) -> NDArray[np.bool_]:
        """Membership of rows, (K, n)."""
        return _masks([b.rows for b in self], self.shape[0])

    @property
    def col_masks(self) -> NDArray[np.bool_]:
        """Membership of columns, (K, m)."""
        return _masks([b.cols for b in self], self.shape[1])

    def select(self, keep: Iterable[int]) -> Biclustering:
        """Return the solution with only the biclusters at these positions, in this order."""
        return Biclustering([(self[k].rows, self[k].cols) for k in keep], self._shape, info=self.info)

    def to_json(self, path: str | os.PathLike[str]) -> None:
        """Write the solution as bivaluate JSON."""
        try:
            Path(path).write_text(json.dumps(self.to_dict()) + "\n", encoding="utf-8")
        except OSError as error:
            raise FileError(f"cannot write {os.fspath(path)}: {error.strerror or error}.") from error

    def to_dict(self) -> dict[str, Any]:
        """Return the solution as the document `to_json` writes."""
        document: dict[str, Any] = {
            "schema": SCHEMA,
            "shape": None if self._shape is None else list(self._shape),
            "biclusters": [{"rows": b.rows.tolist(), "cols": b.cols.tolist()} for b in self],
        }
        if self.info:
            document["info"] = plain_info(self.info)
        return document

    @classmethod
    def from_json(cls, path: str | os.PathLike[str]) -> Biclustering:
        """Read bivaluate JSON whose members are indices.

        Members given by label need a matrix to resolve them: use ``bivaluate.read_solution(path, X)``.
        """
        document = read_document(path)
        if document.by == "label":
            raise SolutionError(
                f"{os.fspath(path)} names its members by label; pair it with a matrix: bivaluate.read_solution(path, X)."
            )
        return cls(document.members, document.shape, info=document.info)

    @overload
    def __getitem__(self, index: int) -> Bicluster: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Bicluster, ...]: ...
    def __getitem__(self, index: int | slice) -> Bicluster | tuple[Bicluster, ...]:
        return self._biclusters[index]

    def __len__(self) -> int:
        return len(self._biclusters)

    def __iter__(self) -> Iterator[Bicluster]:
        return iter(self._biclusters)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Biclustering):
            return NotImplemented
        return self._shape == other._shape and self._biclusters == other._biclusters

    def __hash__(self) -> int:
        return hash((self._shape, self._biclusters))

    def __repr__(self) -> str:
        shape = "unknown shape" if self._shape is None else f"{self._shape[0]} x {self._shape[1]}"
        return f"Biclustering({len(self)} biclusters of a matrix of {shape})"


def check_solution(solution: Any, name: str = "solution") -> Biclustering:
    """Return `solution` if it is a Biclustering."""
    if not isinstance(solution, Biclustering):
        raise SolutionError(
            f"{name} is a {type(solution).__name__}; build a Biclustering first, "
            "for example with Biclustering(pairs, shape) or Biclustering.from_estimator."
        )
    return solution


def _check_shape(shape: Sequence[int]) -> tuple[int, int]:
    try:
        n_rows, n_cols = (operator.index(n) for n in shape)
    except (TypeError, ValueError):
        raise SolutionError(f"shape is {shape!r}; two numbers (rows, columns) are needed.") from None
    if n_rows < 1 or n_cols < 1:
        raise SolutionError(f"shape is {(n_rows, n_cols)}; a matrix has at least one row and one column.")
    return n_rows, n_cols


def _pairs(biclusters: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    for k, pair in enumerate(biclusters):
        if isinstance(pair, Bicluster):
            yield pair.rows, pair.cols
            continue
        try:
            rows, cols = pair
        except (TypeError, ValueError):
            raise SolutionError(f"bicluster {k} is not a pair (rows, columns).") from None
        yield rows, cols


def _check_members(members: ArrayLike, limit: int | None, what: str, k: int, shape: tuple[int, int] | None) -> Indices:
    """Return sorted, unique, in-range indices; `k` and `what` name the place in messages."""
    try:
        array = np.asarray(members)
    except ValueError:
        raise SolutionError(f"bicluster {k}: {what}s must be a list of indices, found lists in it.") from None
    if array.ndim != 1:
        raise SolutionError(f"bicluster {k}: {what}s must be a list of indices, found {array.ndim} dimensions.")
    if array.size == 0:
        raise SolutionError(f"bicluster {k} is empty: it has no {what}s. Remove it, or give it members.")
    if array.dtype.kind not in "iu":
        if array.dtype.kind == "b":
            raise SolutionError(f"bicluster {k}: {what}s are True/False; use Biclustering.from_masks.")
        raise SolutionError(f"bicluster {k}: {what}s must be whole numbers counted from 0, found {array.flat[0]!r}.")
    ordered = np.sort(array.astype(np.int64))
    if ordered[0] < 0:
        raise SolutionError(f"bicluster {k} uses {what} {ordered[0]}; indices are counted from 0 and never negative.")
    if limit is not None and ordered[-1] >= limit:
        swapped = ""
        if shape is not None and ordered[-1] < (shape[1] if what == "row" else shape[0]):
            swapped = " Were rows and columns swapped?"
        elif ordered[-1] == limit:
            swapped = " Are the indices counted from 1?"
        raise SolutionError(
            f"bicluster {k} uses {what} {ordered[-1]}, but X has {limit} {what}s (0..{limit - 1}). "
            f"X has shape {shape}.{swapped}"
        )
    repeated = np.flatnonzero(ordered[1:] == ordered[:-1])
    if len(repeated):
        raise SolutionError(f"bicluster {k} lists {what} {ordered[repeated[0]]} more than once.")
    ordered.setflags(write=False)
    return ordered


def _check_mask(mask: ArrayLike, name: str) -> NDArray[np.bool_]:
    array = np.asarray(mask)
    if array.ndim != 2:
        raise SolutionError(f"{name} has {array.ndim} dimension(s); a mask of one line per bicluster is needed.")
    if array.dtype != np.bool_:
        if array.dtype.kind not in "iuf" or not np.isin(array, (0, 1)).all():
            raise SolutionError(f"{name} must hold True and False (or 0 and 1) only.")
        array = array.astype(np.bool_)
    return array


def plain_info(info: Mapping[str, Any]) -> dict[str, Any]:
    """Return `info` as JSON can hold it: NumPy's numbers and arrays as plain ones, unknown things in words."""

    def plain(value: Any) -> Any:
        return value.tolist() if isinstance(value, (np.generic, np.ndarray)) else str(value)

    content: dict[str, Any] = json.loads(json.dumps(info, default=plain))
    return content


def _masks(members: Sequence[Indices], length: int) -> NDArray[np.bool_]:
    masks = np.zeros((len(members), length), dtype=np.bool_)
    for mask, indices in zip(masks, members, strict=True):
        mask[indices] = True
    return masks

"""Bicluster and Biclustering: frozen, sorted, and aware of the shape of their matrix."""

from __future__ import annotations

import json
import operator
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from bivaluate._anndata import KEY, is_anndata, masks_of
from bivaluate._check import as_python
from bivaluate._document import Document, checked_names, read_document
from bivaluate._errors import EmptyBiclusterWarning, LabelWarning, NoSuchBiclusterError, SolutionError, outside, suggest
from bivaluate._factors import DEFAULT_RULE, check_factors, last_step, loadings_of, members_of_factors, steps_of
from bivaluate._files import FilePath, write_whole
from bivaluate._text import Advice, Option, defined, distinct, first_few, html_table, listing, plural
from bivaluate._types import DataFrame, Flags, Ints

Info = Mapping[str, Any] | None
SIDES = ("row", "column")
MANY = 64  # biclusters from which on all are checked at once
_CELLS_FIRST = Option(python="obs_rows=True", command="--transpose")
_SWAPPED = " Were rows and columns swapped? Transpose one of them; of AnnData, pass ", _CELLS_FIRST, "."
_GENES_FIRST = Advice(
    "Positions count genes as rows and cells as columns of the AnnData object; ", _CELLS_FIRST, " swaps the two."
)


@dataclass(frozen=True, eq=False)
class Bicluster:
    """A subset of rows and a subset of columns. It unpacks to the two, which are its items 0 and 1.

    Parameters
    ----------
    rows, cols : ndarray of int64
        Sorted indices, counted from 0.
    name : str, default=""
        What its file calls it, if anything.

    See Also
    --------
    Biclustering

    Examples
    --------
    >>> rows, cols = S[0]
    """

    rows: Ints
    cols: Ints
    name: str = ""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns.

        Examples
        --------
        >>> S[0].shape
        (3, 4)
        """
        return len(self.rows), len(self.cols)

    @property
    def size(self) -> int:
        """Number of cells.

        Examples
        --------
        >>> S[0].size
        12
        """
        return len(self.rows) * len(self.cols)

    def of(self, X: Any) -> Any:
        """Return the bicluster's values in a matrix.

        Parameters
        ----------
        X : ndarray, DataFrame, Matrix or sparse matrix of shape (n, m)

        Returns
        -------
        ndarray, or DataFrame or sparse matrix if `X` is one
            A copy of the cells, rows by columns.

        Examples
        --------
        >>> S[2].of(X)[0]
        array([2., 3.])
        """
        if hasattr(X, "iloc"):
            return X.iloc[self.rows, self.cols]
        return X.block(self.rows, self.cols) if hasattr(X, "row_labels") else X[np.ix_(self.rows, self.cols)]

    def __iter__(self) -> Iterator[Ints]:
        return iter((self.rows, self.cols))

    def __getitem__(self, side: int) -> Ints:
        return (self.rows, self.cols)[side]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Bicluster):
            return NotImplemented
        return np.array_equal(self.rows, other.rows) and np.array_equal(self.cols, other.cols)

    def __hash__(self) -> int:
        return hash((self.rows.tobytes(), self.cols.tobytes()))

    def __repr__(self) -> str:
        return f"Bicluster({plural(len(self.rows), 'row')} x {plural(len(self.cols), 'column')})"


class Biclustering(Sequence[Bicluster]):
    """A biclustering solution: an ordered set of biclusters of one matrix. It never changes once it is made.

    ``solution[0]`` is a :class:`Bicluster`, ``solution[:2]`` a Biclustering, ``a + b`` both (without their `info`).

    Parameters
    ----------
    biclusters : iterable of (array-like, array-like)
        Pairs of row and column indices, counted from 0, or of masks over all rows and all columns.
    shape : (int, int), optional
        Shape of the matrix, where it is known.
    names : iterable of str, optional
        What the biclusters are called. Blank names become B1, B2, … by position, numbers get a B in front, and repeated
        names are numbered.
    info : mapping, optional
        Where the solution came from (algorithm, parameters, …).

    Raises
    ------
    SolutionError
        If a bicluster is empty, repeats a member, or does not fit the shape.

    See Also
    --------
    bivaluate.read_solution

    Examples
    --------
    >>> Biclustering([([0, 1, 2], [0, 1]), ([3, 4], [2, 3])], shape=(5, 6))
    Biclustering(2 biclusters of a matrix of 5 x 6)
    """

    def __init__(
        self,
        biclusters: Iterable[Iterable[ArrayLike]],
        shape: Sequence[int] | None = None,
        *,
        names: Iterable[Any] | None = None,
        info: Info = None,
    ) -> None:
        self._shape = None if shape is None else _check_shape(shape)
        pairs = list(biclusters)
        given = [getattr(pair, "name", "") for pair in pairs] if names is None else list(names)
        if len(given) != len(pairs):
            raise SolutionError(f"{plural(len(given), 'name')} for {plural(len(pairs), 'bicluster')}: give each one.")
        called = given if names is None else checked_names(given) or [""] * len(pairs)
        checked = _settled(pairs, self._shape) or [
            _check_pair(*each, self._shape) for each in zip(count(1), pairs, called, strict=False)
        ]
        self._biclusters = tuple(Bicluster(*pair, name) for pair, name in zip(checked, called, strict=True))
        self._info = dict(info or {})

    @classmethod
    def from_masks(
        cls, rows: ArrayLike, cols: ArrayLike, *, names: Sequence[Any] | None = None, info: Info = None
    ) -> Biclustering:
        """Build a solution from boolean masks; empty biclusters are dropped with one warning.

        Parameters
        ----------
        rows, cols : array-like of shape (K, n) and (K, m)
            Which rows and which columns each bicluster has.
        names, info : sequence of str, mapping, optional
            As in :class:`Biclustering`.

        Returns
        -------
        Biclustering
            Of shape (n, m).

        Raises
        ------
        SolutionError
            If the masks are not two-dimensional, hold anything but True and False, or differ in K.

        Examples
        --------
        >>> Biclustering.from_masks([[True, True, False]], [[False, True]])
        Biclustering(1 bicluster of a matrix of 3 x 2)
        """
        row_masks, col_masks = _check_mask(rows, "rows"), _check_mask(cols, "cols")
        if len(row_masks) != len(col_masks):
            found = f"rows has {plural(len(row_masks), 'bicluster')} and cols has {len(col_masks)}"
            raise SolutionError(f"{found}; both need one line per bicluster.")
        members, names = members_of_masks(row_masks, col_masks, names)
        return cls(members, (row_masks.shape[1], col_masks.shape[1]), names=names, info=info)

    @classmethod
    def from_estimator(cls, estimator: Any) -> Biclustering:
        """Build a solution from a fitted scikit-learn biclustering estimator.

        Parameters
        ----------
        estimator : object
            With ``rows_`` and ``columns_``, or ``row_labels_`` and ``column_labels_`` (each label pairs its rows with
            its columns); or a pipeline that ends in one, whose steps keep the columns or select some of them.

        Returns
        -------
        Biclustering
            Its `info` names the algorithm. Columns are counted as they go into a pipeline.

        Raises
        ------
        SolutionError
            If the estimator is not fitted or not a biclustering estimator, or a step of a pipeline makes new columns.

        Examples
        --------
        >>> from sklearn.cluster import SpectralCoclustering
        >>> len(Biclustering.from_estimator(SpectralCoclustering(2, random_state=0).fit(np.eye(4) + 1)))
        2
        """
        *before, estimator = [estimator] if hasattr(estimator, "rows_") else steps_of(estimator)
        info = {"algorithm": type(estimator).__name__}
        if hasattr(estimator, "rows_") and hasattr(estimator, "columns_"):
            return _all_columns(cls.from_masks(estimator.rows_, estimator.columns_), before, info)
        if hasattr(estimator, "row_labels_") and hasattr(estimator, "column_labels_"):
            return _all_columns(cls.from_labels(estimator.row_labels_, estimator.column_labels_, True), before, info)
        if hasattr(estimator, "components_"):
            how = "use Biclustering.from_factor_model(model, X) in its place, where X is what it was fitted on"
            raise SolutionError(f"{info['algorithm']} has factors: {how}.")
        how = 'Biclustering.from_labels(model.labels_, ["all"] * X.shape[1])'
        alone = f"it clusters rows alone. {how} takes each cluster with all columns"
        why = alone if hasattr(estimator, "labels_") else "call fit first, which has to set one of the two"
        lacks = "neither rows_ and columns_ nor row_labels_ and column_labels_"
        raise SolutionError(f"{info['algorithm']} has {lacks}: {why}.")

    @classmethod
    def from_labels(cls, row_labels: ArrayLike, col_labels: ArrayLike, diagonal: bool = False) -> Biclustering:
        """Build a solution from a cluster label per row and per column.

        Parameters
        ----------
        row_labels, col_labels : array-like of shape (n,) and (m,)
            The cluster of each row and of each column; texts name the biclusters.
        diagonal : bool, default=False
            If False, every row cluster is paired with every column cluster (a checkerboard). If True, each label
            pairs its rows with its columns, and a label found on one side only is dropped with a warning.

        Returns
        -------
        Biclustering
            Of shape (n, m).

        Raises
        ------
        SolutionError
            If the labels are not one-dimensional.

        Examples
        --------
        >>> [len(Biclustering.from_labels([0, 0, 1], [0, 1, 1], diagonal)) for diagonal in (False, True)]
        [4, 2]
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
            names=[r if diagonal else f"{r} × {c}" for r, c in pairs] if rows.dtype.kind in "OU" else None,
        )

    @classmethod
    def from_factors(cls, W: Any, H: Any, *, rule: str = DEFAULT_RULE, info: Info = None) -> Biclustering:
        """Build a solution from the factors of a matrix: each pairs its strong rows with its strong columns.

        Parameters
        ----------
        W, H : array-like of shape (n, K) and (K, m)
            Loadings of the rows, one column per factor, and of the columns, one row per factor.
        rule : str, default="mixture"
            Which members belong to a factor: ``"mixture"`` takes those that tell it from the average of all, by
            p·log(p/q) of their share p in the factor and q in all of them; ``"top:0.1"`` the largest tenth; ``"sd:1"``
            those beyond one standard deviation above the mean. Loadings of 0 and below never belong; both sides are
            turned where negative loadings make the heavier block.
        info : mapping, optional

        Returns
        -------
        Biclustering
            Its `info` holds the rule; factors without a strong row or column are dropped with one warning.

        Raises
        ------
        SolutionError, ParameterError
            If the factors are not two tables of numbers with the same K, or there is no such rule.

        Examples
        --------
        >>> W, H = [[5.0, 0.1], [4.0, 0.0], [0.2, 3.0], [0.1, 6.0]], [[2.0, 3.0, 0.1], [0.0, 0.2, 4.0]]
        >>> [(rows.tolist(), cols.tolist()) for rows, cols in Biclustering.from_factors(W, H)]
        [([0, 1], [0, 1]), ([2, 3], [2])]
        """
        rows, cols = members_of_factors(*check_factors(W, H), rule)
        return cls.from_masks(rows, cols, info={**(info or {}), "rule": rule})

    @classmethod
    def from_factor_model(cls, model: Any, X: Any, *, rule: str = DEFAULT_RULE) -> Biclustering:
        """Build a solution from a fitted factor or topic model and the data it was fitted on.

        Parameters
        ----------
        model : object
            With ``components_`` and ``transform``, as scikit-learn's NMF, or ``get_topics`` and
            ``get_document_topics``, as gensim's LdaModel; or a pipeline that ends in one with ``components_``.
        X : array-like or sparse matrix of shape (n, m), or a gensim corpus
            The data as the model takes them; its rows (samples, documents) are the rows of the solution.
        rule : str, default="mixture"
            As in :meth:`from_factors`.

        Returns
        -------
        Biclustering
            Its `info` names the model and the rule.

        Examples
        --------
        >>> from sklearn.decomposition import NMF
        >>> Biclustering.from_factor_model(NMF(2, init="nndsvda", max_iter=1000).fit(X), X).shape
        (5, 6)
        """
        return cls.from_factors(*loadings_of(model, X), rule=rule, info={"algorithm": type(last_step(model)).__name__})

    @classmethod
    def from_anndata(cls, adata: Any, *, key: str = KEY, obs_rows: bool = False) -> Biclustering:
        """Return the solution kept in an AnnData object.

        Parameters
        ----------
        adata : AnnData
            With memberships in ``.varm[key]`` and ``.obsm[key]``, as ``evaluate(…, key_added=key)`` leaves them.
        key : str, default="bivaluate"
        obs_rows : bool, default=False
            Whether observations (cells) are the rows rather than variables (genes).

        Returns
        -------
        Biclustering
            With the `info` that was kept.

        Raises
        ------
        SolutionError
            If there are no such memberships, or they are not True and False.

        Examples
        --------
        >>> Biclustering.from_anndata(adata)  # doctest: +SKIP
        Biclustering(5 biclusters of a matrix of 765 x 700)
        """
        if not is_anndata(adata):
            raise SolutionError(f"{type(adata).__name__} is not an AnnData object.")
        rows, cols, names, info = masks_of(adata, key, obs_rows)
        return cls.from_masks(rows, cols, names=names, info=info)

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the matrix these biclusters belong to.

        Raises
        ------
        SolutionError
            If it is not known.

        Examples
        --------
        >>> S.shape
        (5, 6)
        """
        if self._shape is None:
            raise SolutionError("this solution does not say the shape of its matrix: call with_shape((rows, columns)).")
        return self._shape

    @property
    def has_shape(self) -> bool:
        """Whether the shape of the matrix is known.

        Examples
        --------
        >>> S.has_shape
        True
        """
        return self._shape is not None

    @property
    def names(self) -> list[str]:
        """What the biclusters are called: as their file says, else B1, B2, … by position.

        Examples
        --------
        >>> S.names, Biclustering(S, names=["ribosome", "heat shock", ""]).names
        (['B1', 'B2', 'B3'], ['ribosome', 'heat shock', 'B3'])
        """
        return distinct([b.name or f"B{k}" for k, b in enumerate(self, start=1)])

    @property
    def info(self) -> Mapping[str, Any]:
        """What is known about where the solution came from.

        Examples
        --------
        >>> info = S.info
        """
        return MappingProxyType(self._info)

    def with_shape(self, shape: Sequence[int]) -> Biclustering:
        """Return the solution for a matrix of this shape.

        Parameters
        ----------
        shape : (int, int)

        Returns
        -------
        Biclustering
            The same solution if its shape is known already.

        Raises
        ------
        SolutionError
            If the solution belongs to a matrix of another shape.

        Examples
        --------
        >>> Biclustering([([0, 1], [2])]).with_shape((5, 6)).shape
        (5, 6)
        """
        n_rows, n_cols = _check_shape(shape)
        if self._shape is None:
            return Biclustering(self._biclusters, (n_rows, n_cols), info=self._info)
        if self._shape != (n_rows, n_cols):
            found = f"the solution is for a matrix of shape {self._shape}, but X has shape {(n_rows, n_cols)}."
            raise SolutionError(Advice(found, *_SWAPPED if self._shape == (n_cols, n_rows) else ()))
        return self

    def with_info(self, **more: Any) -> Biclustering:
        """Return the solution with more said about where it came from.

        Parameters
        ----------
        **more
            Entries to add to `info`, or to replace in it.

        Returns
        -------
        Biclustering
            With the same biclusters.

        Examples
        --------
        >>> S.with_info(algorithm="las").info["algorithm"]
        'las'
        """
        return self._holding(self._biclusters, {**self._info, **more})

    def _holding(self, biclusters: tuple[Bicluster, ...], info: Mapping[str, Any]) -> Biclustering:
        """Return a solution of the same shape with biclusters that were checked before."""
        made = Biclustering((), self._shape, info=info)
        made._biclusters = biclusters
        return made

    @property
    def row_masks(self) -> Flags:
        """Which rows each bicluster has.

        Examples
        --------
        >>> S.row_masks[0]
        array([ True,  True,  True, False, False])
        """
        return member_masks([b.rows for b in self], self.shape[0])

    @property
    def col_masks(self) -> Flags:
        """Which columns each bicluster has.

        Examples
        --------
        >>> S.col_masks.shape
        (3, 6)
        """
        return member_masks([b.cols for b in self], self.shape[1])

    def select(self, keep: Iterable[int]) -> Biclustering:
        """Return the solution with only some of its biclusters.

        Parameters
        ----------
        keep : iterable of int
            Their positions, counted from 0, in the order wanted.

        Returns
        -------
        Biclustering
            With the same shape and `info`.

        Examples
        --------
        >>> S.select([1, 0])[0] == S[1]
        True
        """
        return self._holding(tuple(self[k] for k in keep), self._info)

    def to_json(self, path: FilePath) -> None:
        """Write the solution as bivaluate JSON.

        Parameters
        ----------
        path : str or path-like

        Examples
        --------
        >>> S.to_json("found.json")
        """
        write_whole(Path(path), json.dumps(self.to_dict()) + "\n")

    def to_dict(self) -> dict[str, Any]:
        """Return the solution as the document :meth:`to_json` writes.

        Returns
        -------
        dict
            With schema, shape, biclusters and info.

        Examples
        --------
        >>> S.to_dict()["biclusters"][2]
        {'rows': [1, 2, 3], 'cols': [0, 1]}
        """
        return as_document(self).to_dict()

    @classmethod
    def from_json(cls, path: FilePath) -> Biclustering:
        """Read bivaluate JSON whose members are indices.

        Parameters
        ----------
        path : str or path-like

        Returns
        -------
        Biclustering
            With the shape and `info` the file states.

        Raises
        ------
        FileError, FormatError, SolutionError
            If the file cannot be read, does not follow the format, or has labels, which :func:`read_solution` takes.

        Examples
        --------
        >>> Biclustering.from_json("found.json")  # doctest: +SKIP
        """
        document = read_document(path)
        if document.by == "label":
            hint = "pair it with a matrix: bivaluate.read_solution(path, X)"
            raise SolutionError(f"{os.fspath(path)} names its members by label; {hint}.")
        return cls(document.members, document.shape, names=document.names, info=document.info)

    @overload
    def __getitem__(self, index: int) -> Bicluster: ...
    @overload
    def __getitem__(self, index: slice) -> Biclustering: ...
    def __getitem__(self, index: int | slice) -> Bicluster | Biclustering:
        if isinstance(index, slice):
            return self._holding(self._biclusters[index], self._info)
        try:
            return self._biclusters[index]
        except IndexError:
            there = first_few([f"{name} at {k}" for k, name in enumerate(self.names)])
            raise NoSuchBiclusterError(f"there is no bicluster at {index}; the solution has {there}.") from None

    def __add__(self, other: Biclustering) -> Biclustering:
        if not isinstance(other, Biclustering):
            return NotImplemented
        left = self if other._shape is None else self.with_shape(other._shape)
        right = other if self._shape is None else other.with_shape(self._shape)
        return left._holding(left._biclusters + right._biclusters, {})

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

    def to_frame(self, X: Any = None) -> DataFrame:
        """Return the members as a long table, one line per bicluster and member.

        Parameters
        ----------
        X : Matrix, DataFrame or AnnData, optional
            The matrix, for the labels of rows and columns.

        Returns
        -------
        DataFrame
            With the columns bicluster (B1, B2, …), side ("row" or "column"), index, and label where `X` has labels.

        Examples
        --------
        >>> S.to_frame().columns.tolist()
        ['bicluster', 'side', 'index']
        """
        import pandas as pd

        from bivaluate.matrix import Matrix

        X = None if X is None else Matrix.of(X, missing="omit")
        pairs = zip(self.names, self, strict=True)
        sides = [(name, *side) for name, pair in pairs for side in zip(SIDES, pair, strict=True)]
        lines = [(name, side, int(member)) for name, side, members in sides for member in members]
        frame = pd.DataFrame(lines, columns=["bicluster", "side", "index"])
        labels = {side: getattr(X, name, None) for side, name in zip(SIDES, ("row_labels", "col_labels"), strict=True)}
        if any(labels.values()):
            named = [str(found[i]) if (found := labels[side]) else str(i) for _, side, i in lines]
            frame["label"] = pd.Series(named, dtype=object)
        return frame

    @classmethod
    def from_frame(cls, frame: DataFrame, shape: Sequence[int] | None = None) -> Biclustering:
        """Build a solution from a long table, as :meth:`to_frame` makes it.

        Parameters
        ----------
        frame : DataFrame
            With the columns bicluster, side ("row" or "column") and index (counted from 0).
        shape : (int, int), optional

        Returns
        -------
        Biclustering
            Biclusters in the order in which they first appear.

        Raises
        ------
        SolutionError
            If a column is missing, or a side is neither "row" nor "column".

        Examples
        --------
        >>> Biclustering.from_frame(S.to_frame(), S.shape) == S
        True
        """
        missing = [name for name in ("bicluster", "side", "index") if name not in frame.columns]
        if missing:
            raise SolutionError(f"the table has no column {missing[0]!r}: bicluster, side and index are needed.")
        strange = sorted({str(side) for side in frame["side"]} - {*SIDES})
        if strange:
            raise SolutionError(f'side is {strange[0]!r} in the table; it must be "row" or "column".')
        found: dict[Any, tuple[list[int], list[int]]] = {}
        for name, side, member in zip(frame["bicluster"], frame["side"], frame["index"], strict=True):
            found.setdefault(name, ([], []))[side == "column"].append(member)
        return cls(found.values(), shape, names=found)

    def _repr_html_(self) -> str:
        rows = [(name, f"{len(b.rows):,}", f"{len(b.cols):,}") for name, b in zip(self.names, self[:10], strict=False)]
        more = f"… and {len(self) - 10:,} more" if len(self) > 10 else ""
        return html_table(repr(self), ["", "rows", "columns"], rows, more)

    def __repr__(self) -> str:
        shape = "unknown shape" if self._shape is None else f"{self._shape[0]} x {self._shape[1]}"
        return f"Biclustering({plural(len(self), 'bicluster')} of a matrix of {shape})"


def check_solution(solution: Any, name: str = "solution", matrix: Any = None) -> Biclustering:
    """Return `solution` as a Biclustering: one already, what holds one, two arrays of masks, or pairs."""
    shape, solution = getattr(matrix, "shape", None), _held(solution)
    if hasattr(solution, "fit") or hasattr(solution, "rows_"):
        solution = _of_estimator(solution, matrix)
    elif isinstance(solution, (list, tuple)) and len(solution) == 2 and all(map(_are_masks, solution)):
        solution = Biclustering.from_masks(*solution)
    if isinstance(solution, Biclustering):
        found, by_position = (solution if shape is None else solution.with_shape(shape)), solution._shape is None
    elif isinstance(solution, (list, tuple)) and not _are_labels(solution):
        names = [one.get("name", "") if isinstance(one, Mapping) else getattr(one, "name", "") for one in solution]
        pairs: list[Any] = [_pair(one) if isinstance(one, Mapping) else one for one in solution]
        document = _placed(Document(pairs, "label", names=names), matrix)
        found = Biclustering(document.members, shape, names=document.names, info=document.info)
        by_position = document.by == "label"
    else:
        raise SolutionError(
            f"{name} is of type {type(solution).__name__}; pass a Biclustering, a fitted estimator, or a list of pairs (rows, "
            "columns), [(rows, columns)] for one. For one label per row and column: Biclustering.from_labels(row_labels, "
            "column_labels), with diagonal=True where equal labels belong together; for labels of columns alone, such as "
            'clusters of cells: Biclustering.from_labels(["all"] * n_rows, labels); for a table: Biclustering.from_frame(table).'
        )
    if by_position and getattr(matrix, "nouns", None) == ("genes", "cells"):
        found = found.with_info(notes=[*found.info.get("notes", ()), _GENES_FIRST])
    return found


def _held(holder: Any) -> Any:
    """Return the solution that a result, an estimator or a search holds, or the best estimator of a search."""
    for name in ("solution", "solution_"):
        if isinstance(held := getattr(holder, name, None), Biclustering):
            return held
    return getattr(holder, "best_estimator_", holder)


def _all_columns(found: Biclustering, steps: Sequence[Any], info: Mapping[str, Any]) -> Biclustering:
    """Return a solution by the columns that went into the first of these steps, of which some may select columns."""
    for step in reversed(steps):
        wide = getattr(step, "n_features_in_", found.shape[1])
        if hasattr(step, "get_support"):
            pairs = [Bicluster(b.rows, step.get_support(indices=True)[b.cols], b.name) for b in found]
            found = Biclustering(pairs, (found.shape[0], wide))
        elif wide != found.shape[1]:
            made = f"{type(step).__name__} makes {plural(found.shape[1], 'column')} of {wide}"
            raise SolutionError(f"{made}, not columns of X: judge model[-1] in model[:-1].transform(X).")
    return found.with_info(**info)


def _has_factors(model: Any) -> bool:
    return hasattr(last_step(model), "components_") and not hasattr(last_step(model), "rows_")


def _of_estimator(model: Any, matrix: Any) -> Biclustering:
    """Return what a fitted estimator found in a matrix; factors may have been found in its transpose, cells x genes."""
    if matrix is None or not _has_factors(model):
        return Biclustering.from_estimator(model)
    turned = getattr(model, "n_features_in_", matrix.shape[1]) == matrix.shape[0] != matrix.shape[1]
    shown = matrix.T if turned else matrix
    found = Biclustering.from_factor_model(model, shown.to_scipy() if matrix.sparse else shown.values)
    return Biclustering([(b.cols, b.rows) for b in found], matrix.shape, info=found.info) if turned else found


def _are_labels(solution: Sequence[Any]) -> bool:
    """Whether there is a label for each row, or one pair of rows and columns (perhaps labels), in place of pairs."""
    return bool(solution) and (_is_flat(solution) or (len(solution) == 2 and all(map(_is_flat, solution))))


def _are_masks(side: Any) -> bool:
    """Whether this is one mask per bicluster, as scikit-learn has them."""
    return getattr(side, "ndim", 0) == 2 and np.asarray(side).dtype == np.bool_


def _is_flat(members: Any) -> bool:
    if hasattr(members, "ndim"):
        return bool(members.ndim == 1)
    kinds = (list, tuple, range, set, frozenset)
    return isinstance(members, kinds) and all(isinstance(m, str) or not hasattr(m, "__iter__") for m in members)


def _pair(members: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return rows and columns of a bicluster that is a mapping."""
    sides = [next((members[key] for key in keys if key in members), None) for keys in (("rows",), ("cols", "columns"))]
    if any(side is None for side in sides):
        raise SolutionError(f"a bicluster is a mapping of {', '.join(map(str, members))}; it needs rows and cols.")
    return sides[0], sides[1]


def _placed(document: Document, X: Any) -> Document:
    """Return the document with positions in place of labels; what is no pair, or no label, stays as it is."""
    if X is None or not all(hasattr(x, "__len__") and len(x) == 2 and all(map(_is_flat, x)) for x in document.members):
        return document
    sides, notes, any_named = [[pair[axis] for pair in document.members] for axis in (0, 1)], [], False
    for axis, known in enumerate((X.row_labels, X.col_labels)):
        named = {k: side for k, side in enumerate(sides[axis]) if known and isinstance(next(iter(side), None), str)}
        table, numbers = label_table(known or ()), [side for k, side in enumerate(sides[axis]) if k not in named]
        if known and any(table.get(str(m), m) != m for side in numbers for m in side):
            said = f"{X.name} has numbers for {SIDES[axis]} labels, but whole numbers are taken as positions"
            warnings.warn(f"{said}; write labels as text, '{known[0]}'.", LabelWarning, stacklevel=outside())
        placed, note = positions_of_labels(named, axis, X, document)
        sides[axis] = [placed.get(k, side) for k, side in enumerate(sides[axis])]
        notes.append(note)
        any_named |= bool(named)
    return with_known(document, sides, notes) if any_named else document


def positions_of_labels(
    sides: Mapping[int, Sequence[str]], axis: int, X: Any, document: Document, name: str = ""
) -> tuple[dict[int, list[int]], str]:
    """Return the positions of labels by bicluster, and a note on unknown ones, which are left out if most are known."""
    known = (X.row_labels, X.col_labels)[axis] or ()
    table = label_table(known)
    first: dict[str, int] = {}
    for k, side in sides.items():
        for label in side:
            first.setdefault(label, k)
    unknown = [label for label in first if label not in table]
    wrong = [label for label in first if table.get(label) == -1] or unknown[: 2 * len(unknown) > len(first)]
    if wrong:
        at = f"{name}{document.where(first[wrong[0]], wrong[0])}: " if name else ""
        who = document.called(first[wrong[0]])
        raise SolutionError(Advice(at, *_no_place(wrong[0], axis, X, who, len(first), unknown)))
    placed = {k: [table[label] for label in side if label in table] for k, side in sides.items()}
    if not unknown:
        return placed, ""
    lines = [document.where(first[label], label)[2:] for label in unknown]
    shown = [f"{label!r} ({line})" if line else repr(label) for label, line in zip(unknown, lines, strict=True)]
    lacks = f"{X.name} does not have {len(unknown):,} of the {len(first):,} {SIDES[axis]} labels{f' of {name}' * bool(name)}"
    hint = suggest(unknown[0], known) if len(unknown) == 1 else ""
    return placed, f"{lacks}; left out: {first_few(shown, 5)}.{hint}"


def with_known(document: Document, sides: Sequence[Sequence[Any]], notes: Sequence[str]) -> Document:
    """Return a document of positions, without biclusters that lost a side with the labels that `notes` are about."""
    pairs = list(zip(*sides, strict=True))
    said, names = list(filter(None, notes)), document.names
    if said:
        named = [axis for axis in (0, 1) if axis != document.whole]
        keep = [k for k, pair in enumerate(pairs) if all(len(pair[axis]) for axis in named)]
        if len(keep) < len(pairs):
            gone = [document.called(k) for k in range(len(pairs)) if k not in keep]
            said.append(f"Without them nothing is left of {listing(gone, 5)}.")
            names = [document.called(k) for k in keep]
        pairs = [pairs[k] for k in keep]
        warnings.warn(" ".join(said), LabelWarning, stacklevel=outside())
    info = document.info | ({"notes": said} if said else {})
    return replace(document, members=pairs, names=names, info=info, by="index", base=0)


def _no_place(label: str, axis: int, X: Any, name: str, total: int, unknown: Sequence[str]) -> list[str | Option]:
    what, names = SIDES[axis], f"{name} names {SIDES[axis]} {label!r},"
    known, others = (X.row_labels, X.col_labels)[axis] or (), (X.col_labels, X.row_labels)[axis] or ()
    if label in known:
        times = sum(x == label for x in known)
        return [f"{names} a label {X.name} has {times} times. Use indices, or make labels unique."]
    if label in others:
        swapped = f"which is a {SIDES[1 - axis]} of {X.name}. Were rows and columns swapped? Read X with "
        return [f"{names} {swapped}", Option("transpose", True), " or, if it was, without."]
    if len(unknown) == 1:
        return [f"{names} which {X.name} does not have.{suggest(label, known)}"]
    some = f"only {total - len(unknown):,}" if len(unknown) < total else "none"
    found = f"{some} of its {total:,} {what} labels {'is' if total - len(unknown) < 2 else 'are'} in {X.name}"
    hint, folded = suggest(label, known), {one.casefold() for one in known}
    if alike := sum(one.casefold() in folded for one in unknown):
        hint = f" {alike:,} differ in upper and lower case only: write them as {X.name} does."
    return [f"{found}. It has {first_few(unknown, 3)}; {X.name} has {first_few(list(known), 3)}.{hint}"]


def label_table(known: Sequence[str]) -> dict[str, int]:
    """Positions by label; -1 for a label that occurs more than once."""
    table: dict[str, int] = {}
    for i, label in enumerate(known):
        table[label] = -1 if label in table else i
    return table


def fitted_solution(estimator: Any, X: Any, rule: str = DEFAULT_RULE) -> Biclustering:
    """Return the solution of an estimator fitted on `X`: its own, that of its masks, or that of its factors."""
    held = _held(estimator)
    if _has_factors(held):
        return Biclustering.from_factor_model(held, X, rule=rule)
    return held if isinstance(held, Biclustering) else Biclustering.from_estimator(held)


def as_document(solution: Biclustering) -> Document:
    """Return a solution as a document; NumPy's numbers in its info become plain ones, unknown things words."""

    def plain(value: Any) -> Any:
        return value.tolist() if isinstance(value, (np.generic, np.ndarray)) else str(value)

    members = [(rows.tolist(), cols.tolist()) for rows, cols in solution]
    info = defined(json.loads(json.dumps(dict(solution.info), default=plain)))
    return Document(members, "index", solution.shape if solution.has_shape else None, info, names=solution.names)


def members_of_masks(
    rows: Flags, cols: Flags, names: Sequence[Any] | None = None, where: str = ""
) -> tuple[list[tuple[list[int], list[int]]], list[Any] | None]:
    """Return members, and names, by masks (K, n) and (K, m); empty biclusters are dropped with one warning."""
    pairs = [(np.flatnonzero(r).tolist(), np.flatnonzero(c).tolist()) for r, c in zip(rows, cols, strict=True)]
    called = names or [f"B{k + 1}" for k in range(len(pairs))]
    empty = [str(name) for name, pair in zip(called, pairs, strict=True) if not all(pair)]
    if empty:
        message = f"{where}{plural(len(empty), 'empty bicluster')} dropped: {first_few(empty)}."
        warnings.warn(message, EmptyBiclusterWarning, stacklevel=outside())
    kept = [name for name, pair in zip(called, pairs, strict=True) if all(pair)]
    return [pair for pair in pairs if all(pair)], kept if names else None


def _check_shape(shape: Sequence[int]) -> tuple[int, int]:
    try:
        n_rows, n_cols = (operator.index(n) for n in shape)
    except (TypeError, ValueError):
        raise SolutionError(f"shape is {shape!r}; two numbers (rows, columns) are needed.") from None
    if n_rows < 1 or n_cols < 1:
        raise SolutionError(f"shape is {(n_rows, n_cols)}; a matrix has at least one row and one column.")
    return n_rows, n_cols


def _settled(pairs: Sequence[Any], shape: tuple[int, int] | None) -> list[tuple[Ints, Ints]] | None:
    """Return pairs of arrays of rising indices within a known shape, looked at all at once; None for any others."""
    sides: list[list[Ints]] = []
    if len(pairs) < MANY or shape is None or any(type(pair) is not tuple or len(pair) != 2 for pair in pairs):
        return None
    for axis in (0, 1):
        sets = [pair[axis] for pair in pairs]
        kinds = {(getattr(own, "dtype", None), getattr(own, "ndim", 0)) for own in sets}
        if kinds != {(np.dtype(np.int64), 1)} or not all(map(len, sets)):
            return None
        flat, ends = np.concatenate(sets), np.cumsum([0, *map(len, sets)])
        rising = np.diff(flat, prepend=-1) > 0
        rising[ends[1:-1]] = True
        if not rising.all() or flat.min() < 0 or flat.max() >= shape[axis]:
            return None
        flat.setflags(write=False)
        sides.append([flat[start:stop] for start, stop in pairwise(ends.tolist())])
    return list(zip(*sides, strict=True))


def _check_pair(k: int, pair: Any, name: str, shape: tuple[int, int] | None) -> tuple[Ints, Ints]:
    called = name or f"B{k}"
    try:
        rows, cols = pair
    except (TypeError, ValueError):
        raise SolutionError(f"{called} is not a pair: pass [(rows, columns)], or 2-D masks to from_masks.") from None
    return _check_members(rows, 0, called, shape), _check_members(cols, 1, called, shape)


def _check_members(members: ArrayLike, axis: int, name: str, shape: tuple[int, int] | None) -> Ints:
    """Return sorted, unique, in-range indices; `name` and `axis` say the place in messages."""
    what = SIDES[axis]
    try:
        array = np.asarray(list(members) if isinstance(members, (set, frozenset)) else members)
    except ValueError:
        raise SolutionError(f"{name}: {what}s must be a list of indices, but it holds lists.") from None
    if array.ndim != 1:
        raise SolutionError(f"{name}: {what}s must be a list of indices, found {plural(array.ndim, 'dimension')}.")
    if array.size == 0:
        raise SolutionError(f"{name} is empty: it has no {what}s. Remove it, or give it members.")
    if array.dtype.kind == "b":
        if shape is not None and len(array) != shape[axis]:
            found = f"{plural(len(array), 'value')} True or False, but X has {plural(shape[axis], what)}"
            raise SolutionError(f"{name}: {what}s are a mask of {found}.")
        return _check_members(np.flatnonzero(array), axis, name, shape)
    if array.dtype.kind not in "iu":
        found = as_python(array.flat[0])
        how = " Labels are looked up where a matrix has them: evaluate(X, …) with a DataFrame or an AnnData object."
        said = f"{name}: {what}s must be whole numbers counted from 0, found {found!r}."
        raise SolutionError(said + (how if isinstance(found, str) else ""))
    ordered = array.astype(np.int64)
    ordered.sort()
    if ordered[0] < 0:
        raise SolutionError(f"{name} uses {what} {ordered[0]}; indices are counted from 0 and never negative.")
    if shape is not None and ordered[-1] >= shape[axis]:
        limit = shape[axis]
        swapped, from_1 = " Were rows and columns swapped?", " Are the indices counted from 1?"
        hint = swapped if ordered[-1] < shape[1 - axis] else from_1 if ordered[-1] == limit else ""
        found = f"{name} uses {what} {ordered[-1]}, but X has {plural(limit, what)} (0..{limit - 1})"
        raise SolutionError(f"{found}. X has shape {shape}.{hint}")
    repeated = ordered[1:] == ordered[:-1]
    if repeated.any():
        hint = " A mask has True and False: mask.astype(bool)." if {0, 1} == {*ordered.tolist()} else ""
        raise SolutionError(f"{name} lists {what} {ordered[repeated.argmax()]} more than once.{hint}")
    ordered.setflags(write=False)
    return ordered


def _check_mask(mask: ArrayLike, name: str) -> Flags:
    array = np.asarray(mask)
    if array.ndim != 2:
        raise SolutionError(
            f"{name} has {plural(array.ndim, 'dimension')}; one line per bicluster is needed, [mask] for one."
        )
    if array.dtype != np.bool_ and (array.dtype.kind not in "iuf" or not np.isin(array, (0, 1)).all()):
        raise SolutionError(f"{name} must hold True and False (or 0 and 1) only.")
    return array.astype(np.bool_, copy=False)


def member_masks(members: Sequence[Ints], length: int) -> Flags:
    """Return sets of numbers below `length` as masks."""
    masks = np.zeros((len(members), length), dtype=np.bool_)
    if len(members):
        masks[np.repeat(np.arange(len(members)), [len(own) for own in members]), np.concatenate(members)] = True
    return masks

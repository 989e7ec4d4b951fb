"""Read and write matrices of every format; one record per format."""

from __future__ import annotations

import functools
import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from bivaluate._check import check_choice, check_int
from bivaluate._errors import FormatError, ParameterError
from bivaluate.io import delimited
from bivaluate.io.options import MatrixOptions
from bivaluate.io.source import Source
from bivaluate.matrix import Matrix


@dataclass(frozen=True)
class MatrixFormat:
    """A way to store a matrix."""

    key: str
    name: str
    extensions: tuple[str, ...]
    options: frozenset[str]
    detects: Callable[[Source], bool]
    read: Callable[[Source, MatrixOptions], Matrix]
    write: Callable[[Matrix, Path], None] | None

    @classmethod
    def of(cls, module: ModuleType) -> MatrixFormat:
        """Make the record of a format from its file."""
        return cls(
            module.KEY,
            module.NAME,
            module.EXTENSIONS,
            module.OPTIONS,
            module.detects,
            module.read,
            getattr(module, "write", None),
        )


# Modules of this package in the order their formats are asked about; they load when a file needs them.
_IN_ORDER_OF_DETECTION = ("tenx", "numpy_files", "parquet", "loom", "h5ad", "excel", "gct", "pcl", "delimited")
_OTHER_BEGINNINGS = (b"PK", b"\x93NUMPY", b"PAR1", b"\x89HDF", b"%%MatrixMarket", b"#1.")
_OTHER_MARKS = (b"GWEIGHT", b"EWEIGHT", b"\nAID\t")


@functools.cache
def matrix_formats() -> dict[str, MatrixFormat]:
    """Return every matrix format by its key, in the order of detection."""
    modules = (importlib.import_module(f"bivaluate.io.{name}") for name in _IN_ORDER_OF_DETECTION)
    return {record.key: record for record in map(MatrixFormat.of, modules)}


def read_matrix(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    transpose: bool = False,
    delimiter: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
    index_cols: int | None = None,
    layer: str | None = None,
    sheet: str | int | None = None,
) -> Matrix:
    """Read a data matrix, rows (genes) by columns (conditions), with its labels.

    Parameters
    ----------
    path
        A file, gzipped or not, or a 10x folder. The format is recognised by content.
    format
        Key of a format (see :func:`describe_formats`), where recognition is wrong.
    transpose
        Swap rows and columns after reading, for fields that store samples as rows.
    delimiter, decimal, header, index_cols
        For text tables: the field separator (``" "`` for any white space), the decimal mark, whether the first
        line is a header, and the number of leading label columns. Detected unless given.
    layer
        For .h5ad and .loom: the layer to read in place of X.
    sheet
        For Excel: the sheet, by name or by position from 0.

    Returns
    -------
    Matrix
        Missing cells are NaN.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "toy.csv"
    >>> _ = file.write_text("gene,c1,c2\\nYAL001C,1.5,2\\nYAL002W,3,NA\\n")
    >>> X = read_matrix(file)
    >>> X.shape, X.row_labels, X.col_labels
    ((2, 2), ('YAL001C', 'YAL002W'), ('c1', 'c2'))
    """
    source = Source(path)
    options = _options(delimiter, decimal, header, index_cols, layer, sheet)
    record = _find(source, format)
    given = {name for name, value in vars(options).items() if value is not None}
    if given - record.options:
        wrong = sorted(given - record.options)[0]
        takers = ", ".join(f.key for f in matrix_formats().values() if wrong in f.options)
        raise ParameterError(
            f"{source.name} is read as {record.name}, which takes no {wrong!r} (that is for: {takers})."
        )
    matrix = record.read(source, options)
    if 0 in matrix.shape:
        raise FormatError(f"{source.name} holds an empty matrix, shape {matrix.shape}.")
    return matrix.T if transpose else matrix


def write_matrix(matrix: Matrix, path: str | os.PathLike[str], *, format: str | None = None) -> None:
    """Write a matrix; the extension chooses the format, numbers read back to the last bit.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "toy.tsv"
    >>> write_matrix(Matrix.of([[1.0, 2.0], [3.0, 4.5]]), file)
    >>> read_matrix(file).values.tolist()
    [[1.0, 2.0], [3.0, 4.5]]
    """
    target = Source(path)
    writers = {f.key: f for f in matrix_formats().values() if f.write is not None}
    if format is not None:
        record = writers[check_choice("format", format, writers)]
    else:
        found = [f for f in writers.values() if target.suffix in f.extensions]
        if not found:
            known = ", ".join(e for f in writers.values() for e in f.extensions)
            raise ParameterError(
                f"cannot tell the format of {target.name} by its extension {target.suffix!r}; "
                f"use one of {known}, or pass the format."
            )
        record = found[0]
    assert record.write is not None
    record.write(Matrix.of(matrix, missing="omit"), target.path)


def _find(source: Source, key: str | None) -> MatrixFormat:
    if key is not None:
        return matrix_formats()[check_choice("format", key, matrix_formats())]
    if _is_plain_table(source):
        return MatrixFormat.of(delimited)
    return next(record for record in matrix_formats().values() if record.detects(source))


def _is_plain_table(source: Source) -> bool:
    """Whether no other format can be meant, so that their modules need not load."""
    if source.is_folder or source.suffix not in delimited.EXTENSIONS:
        return False
    head = source.head
    return not head.startswith(_OTHER_BEGINNINGS) and not any(mark in head for mark in _OTHER_MARKS)


def _options(
    delimiter: str | None,
    decimal: str | None,
    header: bool | None,
    index_cols: int | None,
    layer: str | None,
    sheet: str | int | None,
) -> MatrixOptions:
    if delimiter is not None:
        delimiter = {"\\t": "\t", "tab": "\t", "comma": ",", "semicolon": ";", "space": " "}.get(delimiter, delimiter)
        if len(delimiter) != 1 or delimiter in '"\n\r' or delimiter.isalnum():
            raise ParameterError(f"delimiter is {delimiter!r}; one character is needed (tab, ',', ';', ' ').")
    if decimal is not None:
        check_choice("decimal", decimal, [".", ","])
        if decimal == delimiter:
            raise ParameterError(f"delimiter and decimal are both {decimal!r}; they must differ.")
    if index_cols is not None:
        check_int("index_cols", index_cols, minimum=0)
    return MatrixOptions(delimiter, decimal, header, index_cols, layer, sheet)

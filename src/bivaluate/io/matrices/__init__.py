"""Matrices in and out of files; one format is one file beside this one."""

from dataclasses import replace
from typing import Any

from bivaluate._check import check_choice, check_int
from bivaluate._errors import FormatError, ParameterError
from bivaluate._files import FilePath
from bivaluate.io.formats import Options, Source, formats_of, reader, try_apart, writer
from bivaluate.matrix import Matrix

#: What rows and columns are, by format; where rows have no names, nothing is known of them.
_NOUNS = {
    **dict.fromkeys(("h5ad", "mudata", "zarr", "loom", "10x", "cellranger"), ("genes", "cells")),
    **dict.fromkeys(("gct", "pcl"), ("genes", "samples")),
}
_DELIMITERS = {"\\t": "\t", "tab": "\t", "comma": ",", "semicolon": ";", "space": " "}


def read_matrix(
    path: FilePath,
    *,
    format: str | None = None,
    transpose: bool = False,
    delimiter: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
    index_cols: int | None = None,
    layer: str | None = None,
    modality: str | None = None,
    sheet: str | int | None = None,
    absent: str | None = None,
    rows: str | None = None,
    columns: str | None = None,
    untrusted: bool = False,
) -> Matrix:
    """Read a data matrix, rows (genes) by columns (conditions), with its labels.

    Parameters
    ----------
    path : str or path-like
        A file, gzipped or not, a 10x folder or a zarr folder, recognised by content.
    format : str, optional
        Key of a format (see :func:`bivaluate.io.describe_formats`), where recognition is wrong.
    transpose : bool, default=False
        Swap rows and columns after reading, for fields that store samples as rows.
    delimiter, decimal : str, optional
        For text tables: the field separator (``" "`` for any white space) and the decimal mark.
    header : bool, optional
        For text tables and Excel: whether the first line is a header.
    index_cols : int, optional
        For text tables and Excel: the number of leading columns that hold labels.
    layer, modality : str, optional
        The layer in place of X (``"raw"`` for AnnData's raw), the dataset of plain HDF5 and zarr, or the genome of
        CellRanger; of MuData which of its objects, such as "rna".
    sheet : str or int, optional
        For Excel: the sheet, by name or by position from 0.
    absent : {"zero", "missing"}, optional
        What cells are that a sparse file does not store: zero, as in counts (the default), or missing, as in ratings.
    rows, columns : str, optional
        What rows and columns are, in the plural ("genes", "samples"), where the format does not tell.
    untrusted : bool, default=False
        Read the file first in a process with limits of time and memory; so does ``BIVALUATE_UNTRUSTED=1``.

    Returns
    -------
    Matrix
        Missing cells are NaN.

    Raises
    ------
    FileError, FormatError, ParameterError, MissingExtraError
        If the file cannot be read or does not follow its format (the message names the line), an option is not allowed
        here, or a package is not installed.

    See Also
    --------
    write_matrix, read_solution

    Examples
    --------
    >>> write_matrix([[1.0, 2.0], [3.0, 4.5]], "toy.csv")
    >>> read_matrix("toy.csv").shape
    (2, 2)
    """
    source = Source(path)
    options = _checked(Options(delimiter, decimal, header, index_cols, layer, modality, sheet))
    given = {name: value for name, value in vars(options).items() if value != getattr(Options, name)}
    try_apart(untrusted, "matrix", path, {**given, "format": format})
    record = reader("matrix", source, format)
    wrong = sorted(given.keys() - record.options)
    if wrong:
        takers = ", ".join(f.key for f in formats_of("matrix").values() if wrong[0] in f.options)
        read_as = f"{source.name} is read as {record.name}"
        raise ParameterError(f"{read_as}; {wrong[0]!r} does not apply to it (only to {takers}).")
    matrix: Matrix = record.load(source, replace(options, format_is_stated=format is not None))
    if 0 in matrix.shape:
        raise FormatError(f"{source.name} holds an empty matrix, shape {matrix.shape}.")
    if absent is not None:
        matrix = replace(matrix, absent=absent)
    if matrix.row_labels is not None:
        matrix = matrix.called(*_NOUNS.get(record.key, ()))
    return (matrix.T if transpose else matrix).called(rows, columns)


def write_matrix(matrix: Any, path: FilePath, *, format: str | None = None) -> None:
    """Write a matrix; numbers read back to the last bit.

    Parameters
    ----------
    matrix : Matrix, DataFrame or array-like
        The matrix; missing cells are written as such.
    path : str or path-like
        The file to write; it appears whole or not at all.
    format : str, optional
        Key of a format (see :func:`bivaluate.io.describe_formats`); by default the extension chooses it.

    See Also
    --------
    read_matrix

    Examples
    --------
    >>> write_matrix([[1.0, 2.0], [3.0, 4.5]], "toy.tsv")
    """
    target = Source(path)
    writer("matrix", target, format).save(Matrix.of(matrix, missing="omit"), target.path)


def _checked(options: Options) -> Options:
    delimiter, decimal = options.delimiter, options.decimal
    if delimiter is not None:
        delimiter = _DELIMITERS.get(delimiter, delimiter)
        if delimiter != "::" and (len(delimiter) != 1 or delimiter in '"\n\r' or delimiter.isalnum()):
            raise ParameterError(f"delimiter is {delimiter!r}; one character is needed (tab, ',', ';', ' ').")
    if decimal is not None:
        check_choice("decimal", decimal, [".", ","])
        if decimal == delimiter:
            raise ParameterError(f"delimiter and decimal are both {decimal!r}; they must differ.")
    if options.index_cols is not None:
        check_int("index_cols", options.index_cols, minimum=0)
    return replace(options, delimiter=delimiter, decimal=decimal)

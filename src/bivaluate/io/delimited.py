"""CSV, TSV and other text tables, plain or gzipped."""

from __future__ import annotations

import csv
import itertools
from array import array
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from bivaluate._errors import FormatError
from bivaluate.io.dialect import MISSING, SAMPLE_LINES, WHITESPACE, Dialect, detect, number, split
from bivaluate.io.options import MatrixOptions
from bivaluate.io.source import Source
from bivaluate.matrix import Matrix

if TYPE_CHECKING:
    from pathlib import Path

KEY = "csv"
NAME = "CSV, TSV and other text tables"
EXTENSIONS = (".csv", ".tsv", ".txt", ".tab", ".dat")
OPTIONS = frozenset({"delimiter", "decimal", "header", "index_cols"})
FAST_BYTES = 1 << 23


def detects(source: Source) -> bool:
    """Whatever is text and no other format is taken for a table."""
    return True


def read(source: Source, options: MatrixOptions) -> Matrix:
    """Read a text table; large files go through a faster engine with the same result."""
    try:
        return _read(source, options)
    except UnicodeDecodeError:
        return _read(source.as_latin1(), options)


def _read(source: Source, options: MatrixOptions) -> Matrix:
    lines = source.filled_lines()
    sample = list(itertools.islice(lines, SAMPLE_LINES))
    dialect = detect(
        sample,
        source.name,
        delimiter=options.delimiter,
        decimal=options.decimal,
        header=options.header,
        index_cols=options.index_cols,
    )
    return parse(source, dialect, itertools.chain(sample, lines))


def parse(source: Source, dialect: Dialect, lines: Iterator[tuple[int, str]]) -> Matrix:
    """Parse a table of a known dialect; `lines` are its numbered, non-blank lines from the first on."""
    if source.size >= FAST_BYTES and dialect.delimiter != WHITESPACE and dialect.n_fields > 1:
        from bivaluate.io.fast_text import read_fast

        fast = read_fast(source, dialect)
        if fast is not None:
            return fast
    return parse_rows(source, dialect, lines)


def parse_rows(source: Source, dialect: Dialect, lines: Iterator[tuple[int, str]]) -> Matrix:
    """Parse the data rows line by line; this is the path that can name every fault."""
    cells = array("d")
    labels: list[list[str]] = []
    delimiter, comma = dialect.delimiter, dialect.decimal == ","
    n_index, width = dialect.index_cols, dialect.n_fields + dialect.trailing
    for n, line in lines:
        if n < dialect.first:
            continue
        try:
            fields = split(line, delimiter)
        except csv.Error:
            raise FormatError(f"{source.name}, line {n}: a quotation mark is opened and not closed.") from None
        if len(fields) != width:
            raise FormatError(
                f"{source.name}, line {n} has {len(fields)} fields, but the table has {width} "
                f"(delimiter {_spell(delimiter)}). Is a cell missing, or does a label hold the delimiter?"
            )
        if dialect.trailing and (last := fields.pop()).strip():
            raise FormatError(
                f"{source.name}, line {n}: {last[:40]!r} stands in a last column that was empty, without a name, before."
            )
        labels.append(fields[:n_index])
        data = fields[n_index:]
        try:
            if comma or "_" in line or not line.isascii():
                raise ValueError
            cells.extend(map(float, data))
        except ValueError:
            del cells[(len(labels) - 1) * dialect.n_cols :]
            cells.extend(_row_with_care(data, source, dialect, n, labels[-1]))
    values = np.frombuffer(cells, dtype=np.float64).reshape(len(labels), dialect.n_cols)
    return Matrix(values, row_labels(labels, dialect), dialect.col_labels, source.stem)


def _row_with_care(data: list[str], source: Source, dialect: Dialect, n: int, labels: list[str]) -> Iterator[float]:
    for j, cell in enumerate(data):
        value = number(cell, dialect.decimal)
        if value is None:
            names = dialect.col_labels
            column = f"column {names[j]!r}" if names else f"column {j + 1 + dialect.index_cols}"
            label = labels[dialect.label_col if dialect.label_col is not None else -1].strip() if labels else ""
            row = f"row {label!r}, " if labels else ""
            hint = _hint(cell, dialect)
            raise FormatError(
                f"{source.name}, line {n}: {row}{column} holds {cell[:40]!r}, which is not a number.{hint}"
            )
        yield value


def _hint(cell: str, dialect: Dialect) -> str:
    if number(cell, ",") is not None:
        return " If commas are decimal marks here, say decimal=',' (--decimal ,)."
    listed = ", ".join(sorted(word for word in MISSING if word))
    return f" Leave missing cells empty or write one of {listed}."


def row_labels(labels: list[list[str]], dialect: Dialect) -> tuple[str, ...] | None:
    """Choose the labels among the index columns: the first that is not all whole numbers."""
    if not labels or not labels[0]:
        return None
    if dialect.label_col is not None:
        return tuple(row[dialect.label_col].strip() for row in labels)
    columns = [[row[j].strip() for row in labels] for j in range(len(labels[0]))]
    chosen = next((c for c in columns if not all(cell.isdigit() for cell in c)), columns[0])
    return tuple(chosen)


def _spell(delimiter: str) -> str:
    return {"\t": "tab", WHITESPACE: "white space"}.get(delimiter, repr(delimiter))


def write(matrix: Matrix, path: Path) -> None:
    """Write a table whose numbers read back to the last bit; ``.csv`` with commas, else with tabs."""
    from bivaluate.io.target import text_target

    delimiter = "," if path.name.lower().removesuffix(".gz").endswith(".csv") else "\t"
    with text_target(path) as stream:
        writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
        rows, cols = matrix.row_labels, matrix.col_labels
        if cols is not None or rows is not None:
            names = cols if cols is not None else tuple(f"col{j + 1}" for j in range(matrix.shape[1]))
            writer.writerow([""] * (rows is not None) + list(names))
        for i, line in enumerate(matrix.values.tolist()):
            cells = ["" if cell != cell else repr(cell) for cell in line]
            writer.writerow([rows[i], *cells] if rows is not None else cells)

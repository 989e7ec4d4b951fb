"""CSV, TSV and other text tables, plain or gzipped."""

import codecs
import io
import itertools
import sys
import warnings
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bivaluate._files import TemporaryRows, as_text, from_text, table_target
from bivaluate._rows import FileSource
from bivaluate._types import Floats
from bivaluate.io.formats import Advice, Format, FormatError, Matrix, Option, Options
from bivaluate.io.matrices._dialect import MISSING, WHITESPACE, Dialect, detect, parsed_number, sample_of, spelt
from bivaluate.io.matrices._dialect import split_or_raise as split
from bivaluate.io.matrices.triplets import grammar_of
from bivaluate.io.source import MAX_CELLS, MAX_LINE, MAX_TEXT, Source

FAST_BYTES = 1 << 24  # from here on, pandas saves more time than importing it takes
# Bytes that pandas reads at once: more of tables with many columns, each of which costs it some time.
_BLOCK_BYTES, _BYTES_PER_COLUMN, _LARGEST_BLOCK = 1 << 23, 1 << 12, 1 << 28
# Tables of so many bytes of text are kept on the disk, as numbers; text unpacks to about so many times its packed size.
STREAMED_BYTES, PACKED = 1 << 30, 4
_SPILLED_CELLS = 1 << 20
_EXTENSIONS = (".csv", ".tsv", ".txt", ".tab", ".dat")
_OTHER_BEGINNINGS = (b"PK", b"\x93NUMPY", b"PAR1", b"\x89HDF", b"%%MatrixMarket", b"#1.")
_OTHER_MARKS = (b"GWEIGHT", b"EWEIGHT", b"\nAID\t")


def _is_certain(source: Source) -> bool:
    """Whether no other format can be meant."""
    plain = source.suffix in _EXTENSIONS and not source.head.startswith(_OTHER_BEGINNINGS)
    return plain and not any(mark in source.head for mark in _OTHER_MARKS) and grammar_of(source) is None


def _read(source: Source, options: Options) -> Matrix:
    """Read a text table; large files go through a faster engine with the same result, very large ones to the disk."""
    lines = source.filled_lines(sys.maxsize if _stays_on_disk(source) else MAX_TEXT)
    sample = sample_of(lines)
    return parse_table(source, detect(sample, source, options), itertools.chain(sample, lines))


def parse_table(source: Source, dialect: Dialect, lines: Iterator[tuple[int, str]]) -> Matrix:
    """Parse a table of a known dialect; `lines` are its numbered, non-blank lines from the first on."""
    is_large = source.size >= FAST_BYTES and dialect.delimiter != WHITESPACE and dialect.n_fields > 1
    fast = read_fast(source, dialect) if is_large else None
    return parse_rows(source, dialect, lines) if fast is None else fast


def _stays_on_disk(source: Source) -> bool:
    """Whether the numbers of a table are kept in a temporary file, read some rows at a time, rather than in memory."""
    return source.size * (PACKED if source.gzipped else 1) >= STREAMED_BYTES


def parse_rows(source: Source, dialect: Dialect, lines: Iterator[tuple[int, str]]) -> Matrix:
    """Parse the data rows line by line; this is the path that can name every fault."""
    labels: list[list[str]] = []
    with _TableCells(source, dialect) as held:
        cells = array("d")
        for row in _parsed_rows(source, dialect, lines, labels):
            cells.extend(row)
            if len(cells) >= _SPILLED_CELLS:
                held.add(np.frombuffer(cells))
                cells = array("d")
        held.add(np.frombuffer(cells))
        return held.matrix(labels)


class _TableCells:
    """The numbers of a table as they come: kept in memory, of a very large table in a temporary file."""

    def __init__(self, source: Source, dialect: Dialect) -> None:
        self._source, self._dialect = source, dialect
        self._spilled = TemporaryRows() if _stays_on_disk(source) else None
        self._parts: list[Floats] = []

    def __enter__(self) -> "_TableCells":
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        if kind is not None and self._spilled is not None:
            self._spilled.close()

    def add(self, cells: Floats) -> None:
        """Keep the cells of whole rows."""
        if self._spilled is None:
            self._parts.append(cells.reshape(-1))
        else:
            self._spilled.add(cells.data)

    def matrix(self, labels: list[list[str]]) -> Matrix:
        """Return the table, given the index columns of all its rows."""
        shape, rows = (len(labels), self._dialect.n_cols), row_labels(labels, self._dialect)
        values: Any
        if self._spilled is not None:
            values = FileSource(self._spilled.path, np.float64, shape)
            self._spilled.close(keep_for=values)
        else:
            values = (self._parts[0] if len(self._parts) == 1 else np.concatenate([*self._parts, []])).reshape(shape)
        return Matrix(values, rows, self._dialect.col_labels, self._source.stem)


def _parsed_rows(
    source: Source, dialect: Dialect, lines: Iterator[tuple[int, str]], labels: list[list[str]]
) -> Iterator[Iterable[float]]:
    """Yield the numbers of each data row; its labels are added to `labels`."""
    delimiter, comma = dialect.delimiter, dialect.decimal == ","
    n_index, width = dialect.index_cols, dialect.n_fields + dialect.trailing
    for n, line in lines:
        if n < dialect.first:
            continue
        fields = split(line, delimiter, source, n)
        if len(fields) != width:
            found = f"{source.name}, line {n} has {len(fields)} fields, but the table has {width}"
            why = "Is a cell missing, or does a label hold the delimiter?"
            raise FormatError(f"{found} (delimiter {spelt(delimiter)}). {why}")
        if dialect.trailing and (last := fields.pop()).strip():
            where = "in the last column, which has no name and was empty so far"
            raise source.fault(f"unexpected value {last[:40]!r} {where}.", n)
        labels.append(fields[:n_index])
        if len(labels) * dialect.n_cols > MAX_CELLS and not _stays_on_disk(source):
            raise source.fault(f"more than {MAX_CELLS} cells.", n)
        data = fields[n_index:]
        try:
            if comma or "_" in line or not line.isascii():
                raise ValueError
            yield [*map(float, data)]
        except ValueError:
            yield _row_with_care(data, source, dialect, n, labels[-1])


def _row_with_care(data: list[str], source: Source, dialect: Dialect, n: int, labels: list[str]) -> Iterator[float]:
    for j, cell in enumerate(data):
        value = parsed_number(cell, dialect.decimal)
        if value is None:
            names = dialect.col_labels
            column = f"column {names[j]!r}" if names else f"column {j + 1 + dialect.index_cols}"
            label = labels[dialect.label_col if dialect.label_col is not None else -1].strip() if labels else ""
            row = f"row {label!r}, " if labels else ""
            hint = _hint(cell, dialect.decimal)
            raise source.fault(Advice(f"{row}{column} holds {cell[:40]!r}, which is not a number.", hint), n)
        yield value


def _hint(cell: str, decimal: str) -> str:
    other, marks = (",", "commas") if decimal == "." else (".", "points")
    if parsed_number(cell, other) is not None:
        return Advice(f" If {marks} are decimal marks here, say ", Option("decimal", other), ".")
    listed = ", ".join(sorted(word for word in MISSING if word))
    text = " If the whole column is text, remove it: only the first ones may be." if any(map(str.isalpha, cell)) else ""
    return f"{text} Leave missing values empty or write one of {listed}."


def row_labels(labels: list[list[str]], dialect: Dialect) -> tuple[str, ...] | None:
    """Choose the labels among the index columns: the first that is not all whole numbers."""
    if not labels or not labels[0]:
        return None
    columns = [tuple(from_text(cell.strip()) for cell in column) for column in zip(*labels, strict=True)]
    if dialect.label_col is not None:
        return columns[dialect.label_col]
    return next((column for column in columns if not all(cell.isdigit() for cell in column)), columns[0])


class _NotUnderstoodError(Exception):
    """pandas leaves a table to the reader that can name its fault."""


def read_fast(source: Source, dialect: Dialect) -> Matrix | None:
    """Read a table with pandas, some million bytes at a time; None where it does not understand the file."""
    if source.encoding == "utf-16" or not dialect.delimiter.isascii():
        return None
    labels: list[list[str]] = []
    try:
        with _TableCells(source, dialect) as held:
            for text in _whole_lines(source, dialect):
                held.add(_read_block(text, source, dialect, labels))
                source.check_lines(len(labels))
                if len(labels) * dialect.n_cols > MAX_CELLS and not _stays_on_disk(source):
                    raise _NotUnderstoodError
            return held.matrix(labels)
    except (_NotUnderstoodError, UnicodeDecodeError):
        return None


def _read_block(text: bytes, source: Source, dialect: Dialect, labels: list[list[str]]) -> Floats:
    """Return the cells of whole lines; the labels of their rows are added to `labels`."""
    import pandas as pd

    width, n_index = dialect.n_fields + dialect.trailing, dialect.index_cols
    cells = range(n_index, dialect.n_fields)
    others = [*range(n_index), *range(dialect.n_fields, width)]
    if b"\0" in text or b"\r" in text.replace(b"\r\n", b""):  # the end of a text to pandas, or of a line
        raise _NotUnderstoodError
    options: Any = {"sep": dialect.delimiter, "decimal": dialect.decimal, "header": None, "names": list(range(width))}
    options["dtype"] = {**dict.fromkeys(cells, float), **dict.fromkeys(others, object)}
    options |= {"na_values": dict.fromkeys(cells, sorted(MISSING)), "keep_default_na": False, "index_col": False}
    options |= {"encoding": source.encoding.removesuffix("-sig"), "float_precision": "round_trip", "low_memory": False}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", "The 'float_precision' argument")  # pandas 3.1
            frame = pd.read_csv(io.BytesIO(text), **options)
    except UnicodeDecodeError:
        raise
    except (ValueError, Warning):  # errors of pandas' parser are ValueErrors
        raise _NotUnderstoodError from None
    values = np.ascontiguousarray(frame[cells].to_numpy(np.float64))
    lines = text.count(b"\n")
    if any(blank in b"\n" + text for blank in (b"\n\n", b"\n\r", b"\n ", b"\n\t")):
        lines = sum(bool(line.strip()) for line in text.split(b"\n"))
    # a line that is too short is filled up with missing cells
    if b'"' in text:
        is_whole = not np.isnan(values[:, -1]).any()
    else:
        is_whole = text.count(dialect.delimiter.encode()) == len(frame) * (width - 1)
    if len(frame) != lines or not is_whole or (dialect.trailing and frame[width - 1].str.strip().any()):
        raise _NotUnderstoodError
    labels += frame[list(range(n_index))].to_numpy(object).tolist()
    return values


def _whole_lines(source: Source, dialect: Dialect) -> Iterator[bytes]:
    """Yield whole lines, many at once; those before the first row are left out."""
    held, is_first, skipped = b"", True, dialect.first - 1
    size = max(_BLOCK_BYTES, min(_LARGEST_BLOCK, _BYTES_PER_COLUMN * dialect.n_fields))
    with source.open() as stream:
        while part := source.guarded(stream.read, max(size, len(held))):
            text = held + (part.removeprefix(codecs.BOM_UTF8) if is_first else part)
            start, stop, is_first = 0, text.rfind(b"\n") + 1, False
            while skipped and start < stop:
                start, first = text.index(b"\n", start) + 1, start
                skipped -= 1
                if b"\r" in text[first:start].removesuffix(b"\r\n"):  # a line end of its own
                    raise _NotUnderstoodError
            if start < stop:
                yield text[start:stop]
            held = text[stop:]
            if len(held) > MAX_LINE:
                raise _NotUnderstoodError
    if skipped:
        raise _NotUnderstoodError
    if held:
        yield held + b"\n"


def _write(matrix: Matrix, path: Path) -> None:
    """Write a table whose numbers read back to the last bit; ``.csv`` with commas, else with tabs."""
    with table_target(path) as writer:
        rows, cols = matrix.row_labels, matrix.col_labels
        if cols is not None or rows is not None:
            names = cols if cols is not None else tuple(f"col{j + 1}" for j in range(matrix.shape[1]))
            writer.writerow([""] * (rows is not None) + [as_text(name) for name in names])
        for i, line in enumerate(matrix.values.tolist()):
            cells = ["" if cell != cell else repr(cell) for cell in line]
            writer.writerow([as_text(rows[i]), *cells] if rows is not None else cells)


# Whatever is text and in no other format is taken for a table.
_NAMED = ("csv", "text table (CSV, TSV, any delimiter)", _EXTENSIONS, lambda _: True)
_NOTE, _OPTIONS = "also gzipped; see below", ("delimiter", "decimal", "header", "index_cols")
FORMAT = Format(*_NAMED, _read, _write, options=_OPTIONS, note=_NOTE, rank=9, is_certain=_is_certain)

"""CSV, TSV and other text tables, plain or gzipped."""

from __future__ import annotations

import codecs
import itertools
import sys
from array import array
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bivaluate._errors import FormatError
from bivaluate._files import TemporaryRows, as_text, from_text, table_target
from bivaluate._parallel import count_cores, share_out
from bivaluate._rows import FileSource
from bivaluate._text import Advice, Option
from bivaluate.io.formats import Format, Options
from bivaluate.io.matrices._dialect import (
    MISSING,
    WHITESPACE,
    Dialect,
    detect,
    number,
    sample_of,
    spelt,
    split_or_raise,
)
from bivaluate.io.matrices.triplets import grammar_of
from bivaluate.io.source import MAX_CELLS, MAX_LINE, MAX_TEXT, Source
from bivaluate.matrix import Matrix

if TYPE_CHECKING:
    from bivaluate.io.matrices._kernels_text import Grammar

FAST_BYTES = 1 << 24  # from here on, the compiled reader saves more time than importing numba takes
# Threads that read a table, the bytes that one reads at once, which its cache holds, and how often before all meet.
MOST_THREADS, _BLOCK_BYTES, _TURNS = 8, 1 << 18, 4
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
    return parse(source, detect(sample, source, options), itertools.chain(sample, lines))


def parse(source: Source, dialect: Dialect, lines: Iterator[tuple[int, str]]) -> Matrix:
    """Parse a table of a known dialect; `lines` are its numbered, non-blank lines from the first on."""
    is_large = source.size >= FAST_BYTES and dialect.delimiter != WHITESPACE and dialect.n_fields > 1
    fast = read_fast(source, dialect) if is_large else None
    return parse_rows(source, dialect, lines) if fast is None else fast


def _unpacked(source: Source) -> int:
    """Return how many bytes of text there are, about, in a packed file."""
    return source.size * (PACKED if source.gzipped else 1)


def _stays_on_disk(source: Source) -> bool:
    """Whether the numbers of a table are kept in a temporary file, read some rows at a time, rather than in memory."""
    return _unpacked(source) >= STREAMED_BYTES


def parse_rows(source: Source, dialect: Dialect, lines: Iterator[tuple[int, str]]) -> Matrix:
    """Parse the data rows line by line; this is the path that can name every fault."""
    cells = array("d")
    spilled = TemporaryRows() if _stays_on_disk(source) else None
    labels: list[list[str]] = []
    try:
        for row in _parsed_rows(source, dialect, lines, labels, spilled is None):
            cells.extend(row)
            if spilled is not None and len(cells) >= _SPILLED_CELLS:
                spilled.add(memoryview(cells))
                cells = array("d")
    except BaseException:
        if spilled is not None:
            spilled.close()
        raise
    names = row_labels(labels, dialect)
    if spilled is not None:
        spilled.add(memoryview(cells))
        return _on_disk(spilled, (len(labels), dialect.n_cols), names, dialect, source)
    values = np.frombuffer(cells, dtype=np.float64).reshape(len(labels), dialect.n_cols)
    return Matrix(values, names, dialect.col_labels, source.stem)


def _on_disk(
    spilled: TemporaryRows, shape: tuple[int, int], names: tuple[str, ...] | None, dialect: Dialect, source: Source
) -> Matrix:
    rows = FileSource(spilled.path, np.float64, shape)
    spilled.close(keep_for=rows)
    return Matrix(rows, names, dialect.col_labels, source.stem)


def _parsed_rows(
    source: Source, dialect: Dialect, lines: Iterator[tuple[int, str]], labels: list[list[str]], in_memory: bool
) -> Iterator[Iterable[float]]:
    """Yield the numbers of each data row; its labels are added to `labels`."""
    delimiter, comma = dialect.delimiter, dialect.decimal == ","
    n_index, width = dialect.index_cols, dialect.n_fields + dialect.trailing
    for n, line in lines:
        if n < dialect.first:
            continue
        fields = split_or_raise(line, delimiter, source, n)
        if len(fields) != width:
            raise FormatError(
                f"{source.name}, line {n} has {len(fields)} fields, but the table has {width} "
                f"(delimiter {spelt(delimiter)}). Is a cell missing, or does a label hold the delimiter?"
            )
        if dialect.trailing and (last := fields.pop()).strip():
            where = "in the last column, which has no name and was empty so far"
            raise source.fault(f"unexpected value {last[:40]!r} {where}.", n)
        labels.append(fields[:n_index])
        if in_memory and len(labels) * dialect.n_cols > MAX_CELLS:
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
        value = number(cell, dialect.decimal)
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
    if number(cell, other) is not None:
        return Advice(f" If {marks} are decimal marks here, say ", Option("decimal", other), ".")
    listed = ", ".join(sorted(word for word in MISSING if word))
    text = " If the whole column is text, remove it: only the first ones may be." if any(map(str.isalpha, cell)) else ""
    return f"{text} Leave missing cells empty or write one of {listed}."


def row_labels(labels: list[list[str]], dialect: Dialect) -> tuple[str, ...] | None:
    """Choose the labels among the index columns: the first that is not all whole numbers."""
    if not labels or not labels[0]:
        return None
    columns = [tuple(from_text(cell.strip()) for cell in column) for column in zip(*labels, strict=True)]
    if dialect.label_col is not None:
        return columns[dialect.label_col]
    return next((column for column in columns if not all(cell.isdigit() for cell in column)), columns[0])


class _NotUnderstoodError(Exception):
    """The compiled reader leaves a table to the one that can name its fault."""


def read_fast(source: Source, dialect: Dialect) -> Matrix | None:
    """Read a table with compiled code; None where it does not understand the file.

    It reads numbers to the last bit as Python does. Whatever it refuses is left to the line-by-line reader, which then
    names the fault.
    """
    if source.encoding == "utf-16" or not dialect.delimiter.isascii():
        return None
    spilled = TemporaryRows() if _stays_on_disk(source) else None
    labels: list[list[str]] = []
    values = None
    try:
        values = _read_blocks(source, dialect, labels, spilled)
    except (_NotUnderstoodError, UnicodeDecodeError):
        return None
    finally:
        if spilled is not None and values is None:
            spilled.close()
    names = row_labels(labels, dialect)
    if spilled is not None:
        return _on_disk(spilled, (len(labels), dialect.n_cols), names, dialect, source)
    return Matrix(values, names, dialect.col_labels, source.stem)


def _read_blocks(
    source: Source, dialect: Dialect, labels: list[list[str]], spilled: TemporaryRows | None
) -> NDArray[np.float64]:
    """Return the cells of a table, or give them to `spilled`; the labels of its rows are added to `labels`.

    Blocks of the file are read by as many threads as there are cores, each to where its rows begin if none of its lines
    is blank.
    """
    from bivaluate.io.matrices import _kernels_text as kernels

    n_cols, threads = dialect.n_cols, min(count_cores(None), MOST_THREADS)
    grammar = kernels.grammar(dialect.delimiter, dialect.decimal, dialect.index_cols, dialect.trailing, MISSING)
    values, n, done = np.empty((0, n_cols)), 0, 0
    blocks = _whole_lines(source, dialect.first - 1)
    while True:
        group = list(itertools.islice(blocks, _TURNS * threads))
        if not group:
            return values[:n]
        most = [min(_count_lines(text, a, b), (b - a) // dialect.n_fields) for text, a, b in group]
        begins = [*itertools.accumulate(most, initial=n)]
        done += sum(b - a for _, a, b in group)
        if begins[-1] > len(values):
            room = begins[-1]
            if spilled is None:  # as many rows as it seems, and some to spare: memory is taken as it is filled
                room = max(int(1.05 * room * _unpacked(source) / done), room + n // 2)
            values, held = np.empty((room, n_cols)), values
            values[:n] = held[:n]
        parts = [_Block(*block, values[a:b]) for block, (a, b) in zip(group, itertools.pairwise(begins), strict=True)]
        share_out([partial(part.read, source, dialect, grammar) for part in parts], threads)
        for part, begin in zip(parts, begins, strict=False):
            rows = len(part.labels)
            if begin != n:
                values[n : n + rows] = part.cells[:rows]
            labels += part.labels
            n += rows
        source.check_lines(len(labels))
        if spilled is not None:
            spilled.add(values[:n].data)
            n = 0
        elif n * n_cols > MAX_CELLS:
            raise _NotUnderstoodError
        del group, parts, part  # so that their memory is used again


def _count_lines(text: bytes, start: int, stop: int) -> int:
    """Return ``text.count(b"\\n", start, stop)``, in a fifth of the time."""
    data, step = np.frombuffer(text, np.uint8), 1 << 18
    return sum(int(np.count_nonzero(data[a : min(a + step, stop)] == ord("\n"))) for a in range(start, stop, step))


class _Block:
    """Whole lines of a table, `text[start:stop]`, and where their cells go."""

    def __init__(self, text: bytes, start: int, stop: int, cells: NDArray[np.float64]) -> None:
        self.text, self.start, self.stop, self.cells = text, start, stop, cells
        self.labels: list[list[str]] = []

    def read(self, source: Source, dialect: Dialect, grammar: Grammar) -> None:
        """Fill in the cells, and the labels of their rows."""
        from bivaluate.io.matrices import _kernels_text as kernels

        encoding, at, n = source.encoding.removesuffix("-sig"), self.start, 0
        data = np.frombuffer(self.text, np.uint8)
        spans = np.empty((len(self.cells), 2 * dialect.index_cols), np.int64)
        hard = np.empty((max(4096, dialect.n_cols), 4), np.int64)
        while at < self.stop:
            cells, begin = self.cells[n:], at
            rows, n_hard, at, is_understood = kernels.read_rows(
                data, at, self.stop, grammar, kernels.Table(cells, spans, hard)
            )
            if not is_understood or at == begin:
                raise _NotUnderstoodError
            for row, col, first, last in hard[:n_hard].tolist():
                value = number(self.text[first:last].decode(encoding), dialect.decimal)
                if value is None:
                    raise _NotUnderstoodError
                cells[row, col] = value
            self.labels += [
                [self.text[first:last].decode(encoding) for first, last in zip(ends[::2], ends[1::2], strict=True)]
                for ends in spans[:rows].tolist()
            ]
            n += rows


def _whole_lines(source: Source, skipped: int) -> Iterator[tuple[bytes, int, int]]:
    """Yield bytes, and where whole lines begin and end in them; the first lines of the file are left out."""
    held, is_first = b"", True
    with source.open() as stream:
        while part := source.guarded(stream.read, max(_BLOCK_BYTES, len(held))):
            text = held + (part.removeprefix(codecs.BOM_UTF8) if is_first else part)
            start, stop, is_first = 0, text.rfind(b"\n") + 1, False
            while skipped and start < stop:
                start, first = text.index(b"\n", start) + 1, start
                skipped -= 1
                if b"\r" in text[first:start].removesuffix(b"\r\n"):  # a line end of its own
                    raise _NotUnderstoodError
            if start < stop:
                yield text, start, stop
            held = text[stop:]
            if len(held) > MAX_LINE:
                raise _NotUnderstoodError
    if skipped:
        raise _NotUnderstoodError
    if held:
        yield held + b"\n", 0, len(held) + 1


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


def _detects(source: Source) -> bool:
    """Whatever is text and in no other format is taken for a table."""
    return True


_NAME, _NOTE = "text table (CSV, TSV, any delimiter)", "also gzipped; see below"
_OPTIONS = ("delimiter", "decimal", "header", "index_cols")
FORMAT = Format(
    "csv", _NAME, _EXTENSIONS, _detects, _read, _write, options=_OPTIONS, note=_NOTE, rank=9, is_certain=_is_certain
)

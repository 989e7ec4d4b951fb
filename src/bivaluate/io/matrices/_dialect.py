"""How a text table is written: delimiter, decimal mark, header and index columns, found from its first lines."""

import csv
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bivaluate._files import from_text
from bivaluate.io.formats import FormatError, Options, Source, plural

MISSING = frozenset(["", "NA", "na", "N/A", "n/a", "#N/A", "NaN", "nan", "NAN", "null", "NULL", "None"])
WHITESPACE = " "
_DELIMITERS = ("\t", ",", ";", "|", WHITESPACE)
# By so much more numeric a table must be if white space splits it: that splits descriptions too, and their numbers.
_CLEARLY = 0.1
SAMPLE_LINES, _FEW_LINES, _SAMPLE_CHARACTERS = 100, 5, 1 << 20
MAX_FIELDS = 1 << 22  # of a line
LEADING = 5
_JUDGED_CELLS = 2000

_CORNERS = frozenset(["#", "index", "row", "rows", "feature", "features", "sample", "samples", "cell", "cells", "o"])
_CORNER_STARTS = ("gene", "probe", "orf", "yorf", "entrez", "ensembl", "symbol", "rowname", "row_name", "unnamed:")
_CORNER_ENDS = ("id", "ids", "name", "names", "symbol")


@dataclass(frozen=True)
class Dialect:
    """The grammar of one text table."""

    delimiter: str
    decimal: str
    header: tuple[str, ...] | None
    index_cols: int
    n_fields: int
    first: int
    trailing: bool = False
    label_col: int | None = None

    @property
    def n_cols(self) -> int:
        """Number of data columns."""
        return self.n_fields - self.index_cols

    @property
    def col_labels(self) -> tuple[str, ...] | None:
        """The labels of the data columns."""
        if self.header is None:
            return None
        return tuple(from_text(name) for name in self.header[len(self.header) - self.n_cols :])


def split_line(line: str, delimiter: str) -> list[str]:
    """Split one line; quotation marks are understood where a field starts with one."""
    if delimiter == WHITESPACE:
        return line.split() if '"' not in line else _quoted(" ".join(line.split()), " ")
    return _quoted(line, delimiter) if '"' in line else line.split(delimiter)


def _quoted(line: str, delimiter: str) -> list[str]:
    return next(csv.reader([line], delimiter=delimiter, strict=True), [])


def parsed_number(cell: str, decimal: str = ".") -> float | None:
    """Return the number in a cell, NaN for a missing one, None for anything else."""
    cell = cell.strip()
    if cell in MISSING:
        return float("nan")
    if decimal == ",":
        if "." in cell:
            return None
        cell = cell.replace(",", ".", 1)
    if "_" in cell or not cell.isascii():
        return None
    try:
        return float(cell)
    except ValueError:
        return None


def sample_of(lines: Iterator[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return the first lines of a table, as many as tell its dialect; of long ones fewer do."""
    sample: list[tuple[int, str]] = []
    length = 0
    for line in itertools.islice(lines, SAMPLE_LINES):
        sample.append(line)
        length += len(line[1])
        if length > _SAMPLE_CHARACTERS and len(sample) >= _FEW_LINES:
            break
    return sample


def detect(lines: Sequence[tuple[int, str]], source: Source, options: Options) -> Dialect:
    """Find the dialect of a table from its first numbered, non-blank lines; whatever is given is obeyed."""
    name, header, index_cols = source.name, options.header, options.index_cols
    if not lines:
        raise FormatError(f"{name} holds no table: every line is blank.")
    for n, line in lines:
        marks = [mark for mark in _DELIMITERS if mark * 2 not in line or mark != WHITESPACE]  # columns may be aligned
        if len(line) > MAX_FIELDS and any(line.count(mark) >= MAX_FIELDS for mark in marks):
            raise source.fault(f"more than {MAX_FIELDS:,} fields. Is this a table with line breaks?", n)
    delimiter, decimal = _delimiter(lines, options.delimiter, options.decimal)
    fields = _without_comments([(n, split_or_raise(line, delimiter, source, n)) for n, line in lines])
    trailing = delimiter != WHITESPACE and all(len(f) > 1 and not f[-1].strip() for _, f in fields)
    rows = [f[:-1] if trailing else f for _, f in fields]
    body = rows[1:] or rows
    n_fields = len(body[0])
    whole = [row[:LEADING] for row in body if len(row) == n_fields]
    numeric = [[parsed_number(cell, decimal) is not None for cell in row] for row in whole]
    short_header = len(rows) > 1 and len(rows[0]) == n_fields - 1
    if index_cols is None:
        index_cols = _count_index(rows[0], numeric, n_fields, short_header, header)
    if len(rows) == 1 and (header or (header is None and not any(numeric[0]) and n_fields > 1)):
        raise FormatError(f"{name} has a header but no data row.")
    if not 0 <= index_cols < n_fields:
        found = f"{plural(n_fields, 'field')} with delimiter {spelt(delimiter)}, of which {index_cols} hold labels"
        hint = "Pass the delimiter or the number of index columns."
        raise source.fault(f"{found}: no data column is left. {hint}", fields[min(1, len(fields) - 1)][0])
    if header is None:
        header = len(rows) > 1 and (short_header or _looks_like_header(rows[0], body, numeric, index_cols, decimal))
    if header and len(rows[0]) != n_fields and not short_header:
        second = fields[min(1, len(fields) - 1)][0]
        raise source.fault(f"the header has {len(rows[0])} fields, but line {second} has {n_fields}.", fields[0][0])
    names = tuple(cell.strip() for cell in rows[0]) if header else None
    return Dialect(delimiter, decimal, names, index_cols, n_fields, fields[1 if header else 0][0], trailing)


def split_or_raise(line: str, delimiter: str, source: Source, n: int) -> list[str]:
    """Split one line, or name it as the one with the fault."""
    try:
        return split_line(line, delimiter)
    except csv.Error as error:
        raise source.fault(f"a quotation mark is opened and not closed ({error}).", n) from None


def spelt(delimiter: str) -> str:
    """Return how a message shows a delimiter."""
    return {"\t": "tab", WHITESPACE: "white space"}.get(delimiter, repr(delimiter))


def _without_comments(fields: list[tuple[int, list[str]]]) -> list[tuple[int, list[str]]]:
    """Drop leading lines that start with # unless they have the width of the table: then # is a corner."""
    width = len(fields[-1][1])
    is_comment = [cells[0].startswith("#") and len(cells) not in (width, width - 1) for _, cells in fields[:-1]]
    return fields[[*is_comment, False].index(False) :]


def _delimiter(lines: Sequence[tuple[int, str]], delimiter: str | None, decimal: str | None) -> tuple[str, str]:
    """Choose the pair under which the sample is most regular and most numeric."""
    decimals = [decimal] if decimal else [".", ","]
    best, best_score = (delimiter or ",", decimals[0]), -1.0
    for candidate in [delimiter] if delimiter else _DELIMITERS:
        try:
            rows = [split_line(line, candidate) for _, line in lines]
        except csv.Error:
            continue
        body = rows[1:] or rows
        width = max((len(row) for row in body), key=[len(row) for row in body].count)
        if width < 2 and delimiter is None:
            continue
        regular = sum(len(row) == width for row in body) / len(body)
        for mark in decimals:
            if mark == candidate:
                continue
            judged = body[: max(_FEW_LINES, _JUDGED_CELLS // width)]
            cells = [parsed_number(cell, mark) is not None for row in judged for cell in row[:_JUDGED_CELLS]]
            score = regular * sum(cells) / len(cells)
            if score > best_score + (_CLEARLY if candidate == WHITESPACE and best_score >= 0 else 1e-9):
                best, best_score = (candidate, mark), score
    if best_score < 0 and delimiter is None:
        single = [parsed_number(line, ",") is not None and parsed_number(line) is None for _, line in lines[1:]]
        return ("\t", decimal or ("," if any(single) else "."))
    return best


def _count_index(
    first: Sequence[str], numeric: list[list[bool]], n_fields: int, short_header: bool, header: bool | None
) -> int:
    wordy = [j + 1 for j in range(min(LEADING, n_fields)) if 2 * sum(not row[j] for row in numeric) > len(numeric)]
    found = max(wordy, default=0)
    if found == n_fields:  # the last column is text and cannot be a label: those before the first number are
        found = next((j for j in range(n_fields) if j + 1 not in wordy), n_fields)
    if found == 0 and header is not False and n_fields > 1:
        return int(short_header or (len(first) == n_fields and _has_corner(first)))
    return found


def _has_corner(first: Sequence[str]) -> bool:
    """Whether a line begins with what stands above row labels: a telling word, or nothing above names or times."""
    word = first[0].strip().strip("\"'").lower()
    if word:
        return word in _CORNERS or word.startswith(_CORNER_STARTS) or word.endswith(_CORNER_ENDS)
    values = [parsed_number(cell) for cell in first[1:]]
    known = [value for value in values if value is not None]
    return 2 * len(known) < len(values) or all(a < b for a, b in itertools.pairwise(known))


def _looks_like_header(
    first: Sequence[str], body: list[list[str]], numeric: list[list[bool]], index_cols: int, decimal: str
) -> bool:
    cells = first[index_cols:]
    values = [parsed_number(cell, decimal) for cell in cells]
    if cells and 2 * sum(v is None for v in values) > len(cells):
        return True
    above_numbers = 2 * sum(row[0] for row in numeric if row) > len(numeric)
    corner = not first[0].strip() if not above_numbers else parsed_number(first[0]) is None  # nothing above names
    if index_cols and (corner or _has_corner(first)):
        return True
    known = [value for value in values if value is not None]
    whole = all(cell.strip().lstrip("-").isdigit() for cell in cells)
    if len(known) >= 3 and whole and all(a < b for a, b in itertools.pairwise(known)):
        sample = [cell for row in body for cell in row[index_cols:]]
        return 2 * sum(decimal in cell for cell in sample) > len(sample)
    return False

"""Triplets: one line for each cell, ``user item rating``, read as a sparse matrix."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bivaluate.io.formats import Advice, Format, FormatError, Matrix, Option, Options, Source
from bivaluate.io.matrices._dialect import WHITESPACE, parsed_number, spelt, split_or_raise

_DOUBLE_COLON = "::"
_DELIMITERS = (_DOUBLE_COLON, "\t", ",", ";", "|", WHITESPACE)
_LOOKED_AT = 200  # lines
_EPOCH = 1e8  # whole numbers from here on in a fourth column are times
# What the columns are called in a header: rows, columns, values, times.
_NAMES = tuple(
    frozenset(words.split())
    for words in (
        "user users uid customer reviewer row i document doc gene cell barcode",
        "item items iid movie film product book artist song col column j word term feature sample condition",
        "rating ratings value count counts score weight stars freq frequency x",
        "timestamp time date t",
    )
)


@dataclass(frozen=True)
class Grammar:
    """How a file of triplets is written; `is_certain` is False where it may as well be a matrix of three columns."""

    delimiter: str
    width: int
    header: bool
    is_certain: bool


def grammar_of(source: Source) -> Grammar | None:
    """Return how a file of triplets is written, None if it is not one, by its first lines."""
    head = source.head_text.split("\n")[: _LOOKED_AT + 1]
    lines = [line for line in head if line.strip() and not line.startswith(("#", "%"))][:_LOOKED_AT]
    for delimiter in _DELIMITERS if len(lines) > 1 else ():
        rows = [_split(line, delimiter) for line in lines]
        width = len(rows[-1])
        if width in (3, 4) and all(len(row) == width for row in rows):
            return _judged(rows, delimiter, width)
    return None


def _split(line: str, delimiter: str) -> list[str]:
    return [cell.strip().strip("\"'") for cell in line.split(None if delimiter == WHITESPACE else delimiter)]


def _judged(rows: list[list[str]], delimiter: str, width: int) -> Grammar | None:
    named = all(_is_name(cell, names) for cell, names in zip(rows[0], _NAMES, strict=False))
    header = named or parsed_number(rows[0][2]) is None
    body = rows[header:]
    if not body or any(parsed_number(row[2]) is None for row in body):
        return None
    if named:
        return Grammar(delimiter, width, True, True)
    times = [parsed_number(row[3]) for row in body] if width == 4 else []
    if width == 4 and not all(time is not None and time >= _EPOCH and time.is_integer() for time in times):
        return None
    if any(_is_fraction(cell) or not cell for row in body for cell in row[:2]):
        return None
    if not all(len({row[side] for row in body}) < len(body) for side in (0, 1)):
        return None
    wordy = all(any(parsed_number(row[side]) is None for row in body) for side in (0, 1))
    return Grammar(delimiter, width, header, delimiter == _DOUBLE_COLON or wordy or width == 4)


def _is_name(cell: str, names: frozenset[str]) -> bool:
    word = re.sub(r"[\W_]", "", cell.partition(":")[0].lower())
    return word in names or re.sub(r"(ids?|index|name|no)$", "", word) in names


def _is_fraction(cell: str) -> bool:
    """Whether a cell is a number that counts nothing: a key is a word or a whole number from 0."""
    return parsed_number(cell) is not None and not (cell.isascii() and cell.isdigit())


def _read(source: Source, options: Options) -> Matrix:
    """Read cells one by one; rows and columns are in the order of their numbers, words in the order they come."""
    from scipy.sparse import coo_array

    found = grammar_of(source)
    if found is not None and not found.is_certain and not options.format_is_stated:
        either = "cells of a sparse matrix (user, item, rating), or a matrix of three columns? Say which: "
        said = f"{source.name} has three columns, and the first two hold whole numbers that repeat: {either}"
        one = Option(python="format='triplets'", command="--matrix-format triplets")
        other = Option(python="format='csv'", command="--matrix-format csv")
        raise FormatError(Advice(said, one, " or ", other, "."))
    positions: tuple[dict[str, int], dict[str, int]] = ({}, {})
    at: tuple[list[int], list[int]] = ([], [])
    values, seen = [], set()
    for n, keys, text in _lines(source, options, found):
        value = parsed_number(text, options.decimal or ".")
        if value is None:
            raise source.fault(f"the value is {text[:40]!r}, which is not a number.", n)
        pair = tuple(places.setdefault(key, len(places)) for places, key in zip(positions, keys, strict=True))
        if pair in seen:
            raise source.fault(f"{keys[0]!r} and {keys[1]!r} occur together twice; one line per cell is needed.", n)
        seen.add(pair)
        if value == value:
            values.append(value)
            at[0].append(pair[0])
            at[1].append(pair[1])
    if not seen:
        raise source.fault("a header but no cells.")
    labels, orders = zip(*(_in_order(places) for places in positions), strict=True)
    coordinates = tuple(order[np.array(side, dtype=np.int64)] for order, side in zip(orders, at, strict=True))
    cells = coo_array((np.array(values), coordinates), shape=(len(labels[0]), len(labels[1]))).tocsr()
    return Matrix(cells, labels[0], labels[1], source.stem)


def _lines(source: Source, options: Options, found: Grammar | None) -> Iterator[tuple[int, tuple[str, str], str]]:
    """Yield the number, the keys and the value of every line."""
    delimiter = options.delimiter or (found.delimiter if found else "\t")
    lines = ((n, line) for n, line in source.filled_lines() if not line.startswith(("#", "%")))
    width = None
    for i, (n, line) in enumerate(lines):
        cells = line.split(_DOUBLE_COLON) if delimiter == _DOUBLE_COLON else split_or_raise(line, delimiter, source, n)
        width = len(cells) if width is None else width
        if len(cells) != width or width not in (3, 4):
            found_cells = f"{len(cells)} fields with delimiter {spelt(delimiter)}"
            raise source.fault(f"{found_cells}; row, column and value are needed, and perhaps a time.", n)
        if i == 0 and (options.header or (options.header is None and parsed_number(cells[2]) is None)):
            continue
        yield n, (cells[0].strip(), cells[1].strip()), cells[2]


def _in_order(places: dict[str, int]) -> tuple[tuple[str, ...], np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Return labels, whole numbers ascending, and where each key that came first, second, … stands among them."""
    keys = list(places)
    if all(key.isascii() and key.isdigit() for key in keys):
        keys.sort(key=int)
    order = np.empty(len(keys), dtype=np.int64)
    for position, key in enumerate(keys):
        order[places[key]] = position
    return tuple(keys), order


_NOTE = "`user item rating`, one cell a line, with or without a time; sparse; see below"
_NAMED = ("triplets", "triplets (row, column, value)", (), lambda source: grammar_of(source) is not None, _read)
FORMAT = Format(*_NAMED, options=("delimiter", "decimal", "header"), note=_NOTE, rank=8)

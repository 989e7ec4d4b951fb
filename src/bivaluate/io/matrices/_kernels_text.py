"""Kernels that read the numbers of large text tables: bytes in, cells out, to the last bit as Python reads them.

What a kernel does not understand is left to Python: a cell (`Table.hard`), or the whole table. The readable line is
``values[row] = [float(cell) for cell in line.split(delimiter)]``.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bivaluate._jit import copy_into_callers, keep_apart, leading_zeros, strict_kernel, wide_product

NEWLINE, RETURN, SPACE, TAB, QUOTE = 10, 13, 32, 9, 34
PLUS, MINUS, ZERO, LARGE_E, SMALL_E = 43, 45, 48, 69, 101
MOST_DIGITS = 18  # a whole number of this many digits fits 64 bits
LARGEST_EXACT, EXACT_POWER = 1 << 53, 22  # whole numbers and powers of 10 up to these are floats without rounding
LARGEST_POWER = 290  # of 10; with at most 18 digits neither too small nor too large for a float
SAFE_POWERS = (-27, 55)  # powers of 10 whose 128 bits leave no doubt about rounding
TIED_POWERS = (-4, 23)  # powers of 10 with which a number of 64 bits can lie halfway between two floats
ALL_ONES = np.uint64(0xFFFF_FFFF_FFFF_FFFF)


class Grammar(NamedTuple):
    """How the table is written, as numbers; `words` are the spellings of a missing cell, filled up with zeros."""

    delimiter: int
    decimal: int
    n_index: int
    trailing: bool
    words: NDArray[np.uint8]


class Table(NamedTuple):
    """What is read: cells, begin and end of the labels, and row, column, begin and end of cells left to Python."""

    values: NDArray[np.float64]
    labels: NDArray[np.int64]
    hard: NDArray[np.int64]


def grammar(delimiter: str, decimal: str, n_index: int, trailing: bool, missing: frozenset[str]) -> Grammar:
    """Return the grammar of a table."""
    width = max(map(len, missing)) + 1
    words = np.array([list(word.encode().ljust(width, b"\0")) for word in sorted(missing)], dtype=np.uint8)
    return Grammar(ord(delimiter), ord(decimal), n_index, trailing, words)


def powers_of_five() -> NDArray[np.uint64]:
    """Return the first 128 bits of every power of 5, as two words; those below 1 rounded up."""
    words = []
    for power in range(-LARGEST_POWER, LARGEST_POWER + 1):
        bits = 5 ** abs(power)
        if power < 0:
            length = bits.bit_length()
            bits = (1 << (length + 127 if power >= SAFE_POWERS[0] else 2 * length + 128)) // bits + 1
        length = bits.bit_length()
        bits = bits >> length - 128 if length > 128 else bits << 128 - length
        words.append((bits >> 64, bits & ((1 << 64) - 1)))
    return np.array(words, dtype=np.uint64)


# Constants of the machine code, not arguments: they would be handed over with every cell.
TENS = np.array([float(10**power) for power in range(EXACT_POWER + 1)])
FIVES = powers_of_five()


@strict_kernel
def read_rows(data: Any, at: int, stop: int, grammar: Grammar, table: Table) -> tuple[int, int, int, bool]:
    """Read whole lines; return rows, cells left to Python, where reading ended, and whether all was understood.

    `data[at:stop]` are whole lines. Reading ends early where the table, or its list of hard cells, is full.
    """
    values, labels, hard = table
    delimiter, n_cols = grammar.delimiter, values.shape[1]
    row, n_hard = 0, 0
    while at < stop:
        blank_until = skip_blank(data, at)
        if blank_until > at:
            at = blank_until
            continue
        if row == values.shape[0] or n_hard + n_cols > hard.shape[0]:
            break
        begin = at
        for j in range(grammar.n_index):
            first, last, at = field(data, at, delimiter)
            if at < 0 or data[at] != delimiter:
                return row, n_hard, begin, False
            labels[row, 2 * j], labels[row, 2 * j + 1] = first, last
            at += 1
        for col in range(n_cols):
            value, end = number_at(data, at, grammar.decimal)
            if end > 0 and (data[end] == delimiter or data[end] == NEWLINE):
                values[row, col] = value
            elif data[at] == delimiter:
                values[row, col] = np.nan
                end = at
            else:
                first, last, end = field(data, at, delimiter)
                if end < 0:
                    return row, n_hard, begin, False
                value, is_known = cell_of(data, first, last, grammar)
                values[row, col] = value
                if not is_known:
                    hard[n_hard, 0], hard[n_hard, 1], hard[n_hard, 2], hard[n_hard, 3] = row, col, first, last
                    n_hard += 1
            is_last = col == n_cols - 1 and not grammar.trailing
            if (data[end] == delimiter) == is_last:
                return row, n_hard, begin, False
            at = end + 1
        if grammar.trailing:
            first, last, end = field(data, at, delimiter)
            if end < 0 or data[end] == delimiter or first < last:
                return row, n_hard, begin, False
            at = end + 1
        if data[at - 1] == RETURN:
            at += 1
        row += 1
    return row, n_hard, at, True


@strict_kernel
def skip_blank(data: Any, at: int) -> int:
    """Return where the next line begins if this one holds nothing but white space; otherwise `at`."""
    end = at
    while data[end] == SPACE or data[end] == TAB or data[end] == RETURN:
        end += 1
    return end + 1 if data[end] == NEWLINE else at


@strict_kernel
def field(data: Any, at: int, delimiter: int) -> tuple[int, int, int]:
    """Return begin and end of what a field holds and the place of its end sign; -1 for what Python must read.

    A field ends with the delimiter, or at a line end: there the place is that of the first of its one or two signs.
    """
    if data[at] == QUOTE:
        last = at + 1
        while data[last] != QUOTE:
            if data[last] == NEWLINE or data[last] == RETURN:
                return at, at, -1
            last += 1
        first, end = at + 1, last + 1
    else:
        first, end = at, at
        while data[end] != delimiter and data[end] != NEWLINE and data[end] != RETURN:
            end += 1
        last = end
    if data[end] == delimiter or data[end] == NEWLINE or (data[end] == RETURN and data[end + 1] == NEWLINE):
        return first, last, end
    return at, at, -1


@strict_kernel
def cell_of(data: Any, first: int, last: int, grammar: Grammar) -> tuple[float, bool]:
    """Return the number in a field, NaN for a missing one, and whether it was understood."""
    while first < last and (data[first] == SPACE or data[first] == TAB):
        first += 1
    while first < last and (data[last - 1] == SPACE or data[last - 1] == TAB):
        last -= 1
    for w in range(grammar.words.shape[0]):
        k = 0
        while first + k < last and grammar.words[w, k] != 0 and grammar.words[w, k] == data[first + k]:
            k += 1
        if first + k == last and grammar.words[w, k] == 0:
            return np.nan, True
    value, end = number_at(data, first, grammar.decimal)
    return value, end == last


@strict_kernel
def number_at(data: Any, at: int, decimal: int) -> tuple[float, int]:
    """Return the number that begins here and where it ends; -1 where none does, or one that takes more care."""
    copy_into_callers()
    sign = data[at]
    at += (sign == MINUS) | (sign == PLUS)  # without a branch, which half of the cells would take unforeseen
    whole: Any = 0  # the digits without their point
    first = at
    while ZERO <= data[at] <= ZERO + 9:
        whole = 10 * whole + (np.int64(data[at]) - ZERO)
        at += 1
    power, digits = 0, at - first
    if data[at] == decimal:
        at += 1
        point = at
        while ZERO <= data[at] <= ZERO + 9:
            whole = 10 * whole + (np.int64(data[at]) - ZERO)
            at += 1
        power, digits = point - at, digits + at - point
    if digits == 0:
        return np.nan, -1
    if digits > MOST_DIGITS:  # zeros in front do not count
        while data[first] == ZERO or data[first] == decimal:
            digits -= data[first] == ZERO
            first += 1
        if digits > MOST_DIGITS:
            return np.nan, -1
    if data[at] == SMALL_E or data[at] == LARGE_E:
        at += 1
        down = data[at] == MINUS
        if down or data[at] == PLUS:
            at += 1
        exponent: Any = 0
        begin = at
        while ZERO <= data[at] <= ZERO + 9 and at - begin < 4:
            exponent = 10 * exponent + (np.int64(data[at]) - ZERO)
            at += 1
        if at == begin:
            return np.nan, -1
        power += -exponent if down else exponent
    value = 0.0
    if whole <= LARGEST_EXACT and -EXACT_POWER <= power <= EXACT_POWER:  # one rounding: the nearest float
        value = whole / TENS[-power] if power < 0 else whole * TENS[power]
    elif whole != 0:
        value = nearest(whole, power)
        if value < 0:
            return np.nan, -1
    return -value if sign == MINUS else value, at


@strict_kernel
def nearest(whole: int, power: int) -> float:
    """Return the float nearest to ``whole * 10 ** power``; -1 where 128 bits of the power of 10 do not settle it.

    References
    ----------
    D. Lemire (2021), "Number parsing at a gigabyte per second", Software: Practice and Experience 51(8).
    """
    keep_apart()
    if not -LARGEST_POWER <= power <= LARGEST_POWER:
        return -1.0
    shift = leading_zeros(np.uint64(whole))
    five = FIVES[power + LARGEST_POWER]
    upper, lower = wide_product(np.uint64(whole) << np.uint64(shift), five[0], five[1])
    if lower == ALL_ONES and not SAFE_POWERS[0] <= power <= SAFE_POWERS[1]:
        return -1.0
    top = np.int64(upper >> np.uint64(63))
    cut = np.uint64(top + 9)  # 64 bits without 55: 53 of the float, one to round by, and one that may be 0
    bits = np.int64(upper >> cut)
    is_tied = lower <= np.uint64(1) and TIED_POWERS[0] <= power <= TIED_POWERS[1] and np.uint64(bits) << cut == upper
    if is_tied and (bits & 3) == 1:
        bits -= 1  # halfway: to the even neighbour
    bits = (bits + (bits & 1)) >> 1
    # 2 ** (217706 * power >> 16) is the largest power of 2 up to 10 ** power
    return math.ldexp(float(bits), int((217706 * power >> 16) + top - shift + 11))

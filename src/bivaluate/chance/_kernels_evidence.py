"""Compiled kernels of the evidence: what a block of deviations from the background adds up to, and what explains it.

Each does what a function of `bivaluate.chance._patterns` does in NumPy. Forms are numbered as they are tried there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bivaluate._jit import in_kernels_too, inner_kernel, kernel, strict_kernel
from bivaluate.chance.moments import log_beta_tail, log_beta_tail_bound, log_fraction, log_front

for function in (log_front, log_fraction, log_beta_tail, log_beta_tail_bound):
    in_kernels_too(function)

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Parts = tuple[tuple[bool, bool, bool], ...]


@strict_kernel
def means_of(flat: Floats, n: int, m: int) -> tuple[Floats, Floats]:
    """Return row means, and column means without them, of n x m cells.

    Large offsets leave few digits to them, so the order of additions is the same in all machine code: four sums a row.
    """
    rows, cols = np.empty(n), np.zeros(m)
    level = 0.0
    for i in range(n):
        # rows[i] = line.mean(); cols += line
        line = flat[i * m : (i + 1) * m]
        a = b = c = d = 0.0
        for j in range(0, m - 3, 4):
            a += line[j]
            b += line[j + 1]
            c += line[j + 2]
            d += line[j + 3]
        for j in range(m - m % 4, m):
            a += line[j]
        for j in range(m):
            cols[j] += line[j]
        rows[i] = ((a + b) + (c + d)) / m
        level += rows[i]
    for j in range(m):
        cols[j] = cols[j] / n - level / n
    return rows, cols


@kernel
def look_at(
    flat: Floats, n: int, m: int, step: int
) -> tuple[Floats, Floats, Floats, Floats, Floats, Floats, Floats, Floats]:
    """Return what evidence needs to know of n x m cells, one row after the other.

    Row means, and column means without them; sums of squared deviations from both, by row and by column; and as
    `bivaluate.chance.assumptions.RowSums` every `step`-th row: sums of squares, cubes, fourth powers and products of
    neighbours.
    """
    rows, cols = means_of(flat, n, m)
    row_squares, col_squares, deviations = np.empty(n), np.zeros(m), np.empty(m)
    sums = np.zeros((4, -(-n // step)))
    for i in range(n):
        line, mean = flat[i * m : (i + 1) * m], rows[i]
        # deviations = line - mean - cols; in two loops, so that no compiler adds the two to each other first
        for j in range(m):
            deviations[j] = line[j] - mean
        added = 0.0
        for j in range(m):
            deviations[j] -= cols[j]
            square = deviations[j] * deviations[j]
            added += square
            col_squares[j] += square
        row_squares[i] = added
        if i % step == 0:
            cubes = fourths = neighbours = 0.0
            for j in range(m):
                square = deviations[j] * deviations[j]
                cubes += square * deviations[j]
                fourths += square * square
            for j in range(1, m):
                neighbours += deviations[j] * deviations[j - 1]
            at = i // step
            sums[0, at], sums[1, at], sums[2, at], sums[3, at] = added, cubes, fourths, neighbours
    return rows, cols, row_squares, col_squares, sums[0], sums[1], sums[2], sums[3]


@kernel
def block_of(
    X: tuple[Floats, int, int, int], rows: Indices, cols: Indices, row_effect: Floats, col_effect: Floats
) -> Floats:
    """Return the deviations of a block from the background; `X` as `bivaluate.matrix.flat_view` gives it.

    In two loops, so that no compiler adds the two effects to each other first, which costs digits.
    """
    # X[np.ix_(rows, cols)] - row_effect[rows, None] - col_effect[cols]
    flat, origin, row_stride, col_stride = X
    c = len(cols)
    A = np.empty((len(rows), c))
    for i in range(len(rows)):
        start = origin + rows[i] * row_stride
        level = row_effect[rows[i]]
        line = A[i]
        for j in range(c):
            line[j] = flat[start + cols[j] * col_stride] - level
        for j in range(c):
            line[j] -= col_effect[cols[j]]
    return A


@kernel
def block_sums(
    A: Floats, alternations: int, largest_factor: float, no_shape: float
) -> tuple[tuple[float, float, float, float], Floats, Floats, Floats, Floats, float]:
    """Return what :func:`bivaluate.chance._patterns.sums` makes of a block, and the shape its rows share.

    Numbers first: total, level, of_rows and of_cols; then row and column means, factors, shape, and what that explains.
    """
    r, c = A.shape
    row_means, col_means = np.zeros(r), np.zeros(c)
    total = 0.0
    # row_means = A.mean(axis=1); col_means = A.mean(axis=0); total = (A * A).sum()
    for i in range(r):
        line = A[i]
        added = 0.0
        for j in range(c):
            added += line[j]
            total += line[j] * line[j]
            col_means[j] += line[j]
        row_means[i] = added / c
    col_means /= r
    level = row_means.mean()
    numbers = (total, level, c * (row_means * row_means).sum(), r * (col_means * col_means).sum())
    shape = col_means - level
    factors, products = np.zeros(r), np.empty(r)
    explained = 0.0
    for step in range(alternations + 1):
        # length = shape @ shape; products = A @ shape
        length = 0.0
        for j in range(c):
            length += shape[j] * shape[j]
        for i in range(r):
            line = A[i]
            added = 0.0
            for j in range(c):
                added += line[j] * shape[j]
            products[i] = added
        largest = largest_factor * np.median(products)
        if not (largest > 0 and length * r > no_shape * total):
            return numbers, row_means, col_means, factors, shape, 0.0
        # factors = np.clip(products, 0, largest) / length; weight = factors @ factors; along = factors @ row_means
        weight, along = 0.0, 0.0
        for i in range(r):
            factors[i] = min(max(products[i], 0.0), largest) / length
            weight += factors[i] * factors[i]
            along += factors[i] * row_means[i]
        if step == alternations:
            # explained = 2 * factors @ products - (factors @ factors) * length
            explained = -weight * length
            for i in range(r):
                explained += 2 * factors[i] * products[i]
            break
        # shape = (factors @ A - along) / weight
        shape[:] = -along
        for i in range(r):
            line = A[i]
            factor = factors[i]
            for j in range(c):
                shape[j] += factor * line[j]
        shape /= weight
    return numbers, row_means, col_means, factors, shape, explained


class Block(NamedTuple):
    """What is known of a block: `Sums` of `bivaluate.chance._patterns`, with the factors of `Restore` and its shape."""

    A: Floats
    row_means: Floats
    col_means: Floats
    factors: Floats
    shape: Floats
    total: float
    level: float
    by_rows: float
    by_cols: float
    parts: Parts


@kernel
def most_improbable(
    A: Floats,
    row_means: Floats,
    col_means: Floats,
    factors: Floats,
    shape: Floats,
    sums: tuple[float, float, float, float, float, float],
    scales: tuple[float, float],
    cells: tuple[float, float, float, float],
    outside: tuple[float, float],
    parts: Parts,
    limits: tuple[float, float, float],
) -> tuple[int, float]:
    """Return the form of lowest log p, and log p, as `bivaluate.chance._patterns` finds them.

    `sums` are total, level, of_rows, of_cols and of_level of the block and what its shape explains, 0 without one;
    `scales` restore row and column levels; `cells` are their number, what of it counts, the smallest variance and the
    log p to pay with; `outside` are cells and squares there; `parts` and `limits` are FORM_PARTS and constants there.
    """
    total, level, of_rows, of_cols, of_level, of_shape = sums
    n_cells, counted, floor, to_pay = cells
    block = Block(A, row_means, col_means, factors, shape, total, level, scales[0], scales[1], parts)
    cancelled, least_left_over, largest_factor = limits
    r, c = A.shape
    freedom = np.array([1.0, r, c, r + c - 1.0, r + (np.sqrt(r) + np.sqrt(c - 1.0)) ** 2])
    explained, left = np.empty(5), np.empty(5)
    for form in range(5):
        rows, cols, shaped = parts[form]
        explained[form] = block.by_rows * block.by_cols * of_level
        left[form] = total - of_level
        if rows:
            explained[form] += block.by_rows * (of_rows - of_level)
            left[form] -= of_rows - of_level
        if cols:
            explained[form] += block.by_cols * (of_cols - of_level)
            left[form] -= of_cols - of_level
        if shaped:
            as_cols = min(of_cols - of_level, of_shape)
            explained[form] += block.by_cols * as_cols + (of_shape - as_cols)
            left[form] -= of_shape
        explained[form] *= n_cells / (r * c)
        if left[form] < cancelled * total and (of_shape > 0 or not shaped):
            left[form] = residual_squares(block, form)
        left[form] = max(left[form], n_cells * floor)
        if counted - freedom[form] < least_left_over:
            freedom[form] = np.nan  # not tested
    best, lowest = 0, np.inf
    stop = 5 if c > 2 and of_shape > 0 else 4
    for first, last in ((0, 4), (4, stop)):  # row levels, column levels and both; then the shape
        best, lowest = lowest_of(
            block, first, last, best, lowest, explained, left, freedom, counted, to_pay, outside, largest_factor
        )
    return best, lowest


@inner_kernel
def residual_squares(block: Block, form: int) -> float:
    """Return the sum of squares that a form leaves of a block, from the residuals themselves."""
    rows, cols, shaped = block.parts[form]
    # ((A - pattern) ** 2).sum()
    squares = 0.0
    for i in range(len(block.row_means)):
        level = block.row_means[i] if rows else block.level
        for j in range(len(block.col_means)):
            left = block.A[i, j] - level
            if cols:
                left -= block.col_means[j] - block.level
            if shaped:
                left -= block.factors[i] * block.shape[j]
            squares += left * left
    return squares


@inner_kernel
def lowest_of(
    block: Block, first: int, last: int, best: int, lowest: float, explained: Floats, left: Floats, freedom: Floats,
    counted: float, to_pay: float, outside: tuple[float, float], largest_factor: float,
) -> tuple[int, float]:  # fmt: skip
    """Return the form of lowest log p among some and the best so far; if none can pay, only the nearest is tested."""
    bound = np.full(10, np.inf)
    for form in range(first, last):
        for at in range(2):
            if not np.isnan(freedom[form]):
                test = test_of(explained[form], left[form], freedom[form], at, counted, outside)
                bound[2 * form + at] = log_beta_tail_bound(test[0], test[1], test[2])
    for place in range(2 * (last - first)):
        nearest = int(np.argmin(bound))
        if bound[nearest] >= lowest or (place and bound[nearest] >= to_pay):
            break
        form, at = nearest // 2, nearest % 2
        test = test_of(explained[form], left[form], freedom[form], at, counted, outside)
        log_p = log_beta_tail(test[0], test[1], test[2])
        if log_p < to_pay:
            share = backing(block, form, largest_factor)
            rest = left[form] + (1 - share) * (block.total - left[form])
            test = test_of(share * explained[form], rest, freedom[form], at, counted, outside)
            log_p = log_beta_tail(test[0], test[1], test[2])
        if log_p < lowest:
            best, lowest = form, log_p
        bound[nearest] = np.inf
    return best, lowest


@inner_kernel
def test_of(
    explained: float, left: float, freedom: float, at: int, counted: float, outside: tuple[float, float]
) -> tuple[float, float, float]:
    """Return the share explained and the halves of the degrees of freedom, without or with the noise outside."""
    cells, squares = (outside[0], outside[1]) if at else (0.0, 0.0)
    share = explained / (explained + left + squares) if explained > 0 else 0.0
    return share, freedom / 2, (counted - freedom + cells) / 2


@inner_kernel
def backing(block: Block, form: int, largest_factor: float) -> float:
    """Return the share of what a form explains that most rows, and most columns, have a part in."""
    rows, cols, shaped = block.parts[form]
    r, c = block.A.shape
    raised = block.by_rows * block.by_cols * block.level
    row_levels, col_levels = block.row_means - block.level, block.col_means - block.level
    each_row = raised * c * (block.row_means + row_levels)
    each_col = raised * r * (block.col_means + col_levels)
    # what a form takes from the squares of a row, or of a column, is 2 * A @ pattern - pattern @ pattern
    if rows:
        each_row += (block.by_rows * c) * row_levels**2
        each_col -= block.by_rows * (row_levels**2).sum()
    if cols:
        each_row -= block.by_cols * (col_levels**2).sum()
        each_col += (block.by_cols * r) * col_levels**2
    if shaped:
        each_row -= block.factors**2 * (block.shape**2).sum()
        each_col -= block.shape**2 * (block.factors**2).sum()
    for i in range(r):
        line = block.A[i]
        of_row = 2 * block.by_rows * row_levels[i] if rows else 0.0
        factor = 2 * block.factors[i] if shaped else 0.0
        added = along = 0.0
        for j in range(c):
            added += line[j] * col_levels[j]
            along += line[j] * block.shape[j]
            each_col[j] += (of_row + factor * block.shape[j]) * line[j]
        if cols:
            added *= 2 * block.by_cols
        else:
            added = 0.0
        each_row[i] += added + factor * along
    return min(backed(each_row, largest_factor), backed(each_col, largest_factor))


@inner_kernel
def backed(each: Floats, largest_factor: float) -> float:
    """Return the share of a sum that is left when no part counts more than so many times the median one, squared."""
    total, middle = float(each.sum()), float(np.median(each))
    if total <= 0 or middle <= 0:
        return 0.0
    return max(0.0, min(1.0, float(np.minimum(each, largest_factor**2 * middle).sum()) / total))

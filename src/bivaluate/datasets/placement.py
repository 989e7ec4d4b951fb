"""Where planted blocks lie: which rows and columns each takes, and what it shares with the one before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bivaluate._check import check_choice
from bivaluate._errors import ParameterError

if TYPE_CHECKING:
    from bivaluate.datasets.generator import Block

Members = tuple[NDArray[np.int64], NDArray[np.int64]]


def place(
    blocks: Sequence[Block], shape: tuple[int, int], placement: str, shared_cells: bool, rng: np.random.Generator
) -> list[Members]:
    """Return the rows and columns of each block in a matrix of `shape`, before any shuffling.

    A block that shares rows or columns keeps the last ones of the block before it, so that a chain of
    blocks slides over the matrix. `shared_cells` says whether two blocks may own the same cell.
    """
    check_choice("placement", placement, ("random", "stacked"))
    _check_fit(blocks, shape)
    members: list[Members] = []
    next_row = next_col = 0
    for k, block in enumerate(blocks):
        before_rows, before_cols = members[-1] if members else (np.zeros(0, int), np.zeros(0, int))
        kept = before_rows[len(before_rows) - block.shared_rows :]
        new = block.rows - block.shared_rows
        rows = np.concatenate([kept, np.arange(next_row, next_row + new)]).astype(np.int64)
        next_row += new
        if block.model == "clone":
            cols = before_cols
        elif block.shared_cols is not None:
            cols = _chained_columns(k, block, members, shape[1])
        elif placement == "random":
            cols = rng.permutation(shape[1])[: block.cols].astype(np.int64)
        else:
            cols = (next_col + np.arange(block.cols, dtype=np.int64)) % shape[1]
        next_col = (int(cols[-1]) + 1) % shape[1]
        if block.shared_rows and not shared_cells and np.isin(cols, before_cols).any():
            raise ParameterError(
                f"blocks {k} and {k + 1} overlap in {block.shared_rows} rows and "
                f"{int(np.isin(cols, before_cols).sum())} columns, and a cell in both cannot follow two patterns; "
                "pass effects='matrix' to cut both out of one matrix, or share only rows or only columns."
            )
        members.append((rows, cols))
    return members


def _chained_columns(k: int, block: Block, members: Sequence[Members], n_cols: int) -> NDArray[np.int64]:
    """Return the last `shared_cols` columns of the block before, then columns no block has used yet."""
    shared = block.shared_cols or 0
    before = members[-1][1] if members else np.zeros(0, dtype=np.int64)
    used = np.unique(np.concatenate([cols for _, cols in members])) if members else before
    free = np.setdiff1d(np.arange(n_cols), used)
    needed = block.cols - shared
    if needed > len(free):
        raise ParameterError(
            f"block {k + 1} needs {needed} columns that no earlier block uses, but only {len(free)} of "
            f"{n_cols} are free. Share more columns, or make the matrix wider."
        )
    return np.concatenate([before[len(before) - shared :], free[:needed]]).astype(np.int64)


def _check_fit(blocks: Sequence[Block], shape: tuple[int, int]) -> None:
    """Refuse blocks that are larger than the matrix or share more than they have."""
    n_rows, n_cols = shape
    for k, block in enumerate(blocks):
        if block.rows > n_rows or block.cols > n_cols:
            raise ParameterError(
                f"block {k + 1} has {block.rows} x {block.cols} cells, but the matrix has only {n_rows} x {n_cols}."
            )
        if block.model == "clone" and k == 0:
            raise ParameterError("block 1 is a clone, but there is no block before it to clone.")
        if block.model == "clone" and block.cols != blocks[k - 1].cols:
            raise ParameterError(
                f"block {k + 1} is a clone with {block.cols} columns of a block with {blocks[k - 1].cols}; "
                "a clone has the columns of the block before it."
            )
        for what, shared, own, before in (
            ("rows", block.shared_rows, block.rows, blocks[k - 1].rows if k else 0),
            ("columns", block.shared_cols or 0, block.cols, blocks[k - 1].cols if k else 0),
        ):
            if shared > min(own, before):
                raise ParameterError(
                    f"block {k + 1} shares {shared} {what} with the block before it, but it has {own} {what} "
                    f"and the block before it {before}; at most {min(own, before)} can be shared."
                )
    needed = sum(block.rows - block.shared_rows for block in blocks)
    if needed > n_rows:
        raise ParameterError(
            f"the blocks need {needed} rows together, but the matrix has only {n_rows}: rows are used once "
            "unless they are shared. Make the blocks smaller, or the matrix taller."
        )

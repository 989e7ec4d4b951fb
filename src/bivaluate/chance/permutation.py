"""Row-permutation null: is a block more coherent than its own rows, each shuffled?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bivaluate._check import check_int, check_values
from bivaluate._types import Floats
from bivaluate.chance.surrogates import p_value
from bivaluate.measures._blocks import virtual_error_value
from bivaluate.measures.measure import ROW_AFFINE, UNIT, measure

_CELLS_PER_BLOCK = 4_000_000
# Rounding gives equal blocks virtual errors that differ by less than this.
_TIE = 1e-9


@dataclass(frozen=True)
class PermutationNull:
    """VE of a block, and of the block with each row permuted."""

    observed: float
    null: Floats

    @property
    def p_value(self) -> float:
        """(1 + number of permuted blocks with a VE as low or lower)/(B + 1)."""
        return p_value(self.observed + _TIE, self.null, "low")


def permutation_null(A: Any, *, n_permutations: int = 999, random_state: int | None = None) -> PermutationNull:
    """Permute each row of the block independently, many times, and compare the virtual errors.

    Exact and free of assumptions about the distribution of the cells, for blocks that were not chosen by looking
    at the data; it does not allow for a search. The smallest p-value possible is 1/(B + 1).
    """
    values = check_values(A, name="A")
    check_int("n_permutations", n_permutations, 1)
    rng = np.random.default_rng(random_state)
    start = _canonical(values)
    null = np.array([virtual_error_value(rng.permuted(start, axis=1)) for _ in range(n_permutations)])
    return PermutationNull(virtual_error_value(values), null)


def _canonical(values: Floats) -> Floats:
    """Sort each row, and the rows: one seed then gives one answer whatever the order of rows and columns."""
    ordered = np.sort(values, axis=1)
    return np.asarray(ordered[np.lexsort((ordered - ordered.mean(axis=1, keepdims=True)).T)])


@measure("p_permutation", "p", "row-permutation p-value",
    "How often the block with its rows shuffled is as coherent; does not allow for a search.", range=UNIT,
    invariances=ROW_AFFINE,
    reference="(1 + hits)/(B + 1): Phipson & Smyth 2010, doi:10.2202/1544-6115.1585")  # fmt: skip
def permutation_p_value(A: Any) -> float:
    """P-value of :func:`permutation_null` with seed 0 and as many permutations as the size of the block allows.

    B = 4,000,000 divided by the number of cells, at least 19 and at most 999. Low is better; in (0, 1].

    See Also
    --------
    bivaluate.adjusted_virtual_error

    Examples
    --------
    >>> permutation_p_value([[1, 2, 4, 3], [2, 3, 5, 4.5], [2, 5, 8, 7]]) < 0.01
    True
    """
    values = check_values(A, name="A")
    n_permutations = int(np.clip(_CELLS_PER_BLOCK // values.size, 19, 999))
    return permutation_null(values, n_permutations=n_permutations, random_state=0).p_value

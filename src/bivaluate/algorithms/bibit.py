"""BiBit (Rodriguez-Baena et al. 2011): blocks of ones from the bit patterns that pairs of rows share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np

from bivaluate._errors import ParameterError
from bivaluate.algorithms._bits import CELLS_AT_ONCE, Largest, Words, bits_of, members, places
from bivaluate.algorithms._estimator import BiclusteringEstimator, Count, Pair
from bivaluate.algorithms.algorithm import KW_ONLY, algorithm

# Pairs of rows looked at before Python gets a chance to stop the search.
BUDGET = 50_000_000
FIRST_TABLE = 1 << 12
MOST_SLOTS = 1 << 27  # 1 GiB of patterns


@algorithm(
    "bibit",
    "BiBit",
    "BiBit",
    "Takes the ones that two rows share as a pattern, and every row that holds the pattern; exact.",
    seeks=("ones",),
    reference="Rodriguez-Baena, Perez-Pulido & Aguilar-Ruiz 2011, A biclustering algorithm for extracting bit-patterns from "
    "binary datasets, Bioinformatics 27(19):2738-2745, doi:10.1093/bioinformatics/btr464",
    nested=True,
    sparse=True,
    binary=True,
)
class BiBit(BiclusteringEstimator):
    """Blocks of ones whose columns are the ones that two rows have in common (BiBit).

    For every pair of rows the pattern ρ is the bitwise AND of the two. A new pattern with at least `min_columns` ones
    makes a bicluster: the columns of ρ and every row r with r AND ρ = ρ, if these are at least
    `min_rows`. The search is exact and has no random part.

    Parameters
    ----------
    n_biclusters : int, default=10
        The largest number of biclusters to return, those with the most cells; fewer are returned if there are no more.
    min_rows, min_columns : int, default=2
        Fewest rows and columns of a bicluster (mnr and mnc in the paper).
    binarise : {"rows", "nonzero", "none"} or float, default="rows"
        How other data become zeros and ones. "rows": each row is split in two where the sums of squares within both
        groups are smallest, and the upper group are ones; "nonzero": every cell but 0; a number: every cell above it;
        "none": refuse. A matrix of zeros and ones is always taken as it is.

    See Also
    --------
    Bimax

    Notes
    -----
    Among biclusters of the same size the one whose pair of rows comes first is first. A pattern that three or more
    rows share and no two rows alone is left out, as in the paper; :class:`Bimax` has those too.

    Examples
    --------
    >>> X = np.zeros((6, 8))
    >>> X[1:5, 2:7] = 1
    >>> X[0, 2:4] = 1
    >>> [b.shape for b in BiBit().fit(X).solution_]
    [(4, 5), (5, 2)]
    """

    n_biclusters: int = 10
    _: KW_ONLY
    min_rows: Annotated[int, 2, None] = 2
    min_columns: Count = 2
    binarise: Any = "rows"

    def _find(self, X: Any) -> Iterator[Pair]:
        yield from pairs_of_rows(*bits_of(X, self.binarise), self.min_rows, self.min_columns, self.most)


def pairs_of_rows(rows: Words, columns: Words, min_rows: int, min_columns: int, wanted: int) -> Iterator[Pair]:
    """Yield the largest biclusters."""
    n, m = len(rows), len(columns)
    largest = shared_patterns(rows, columns, min_rows, min_columns, wanted)
    if largest.parts:
        pairs = largest.parts[0]
        patterns = rows[pairs // n] & rows[pairs % n]
        step = max(1, CELLS_AT_ONCE // rows.size)
        for part in (patterns[start : start + step] for start in range(0, len(patterns), step)):
            extents = ~(part[:, np.newaxis] & ~rows).any(axis=2)
            yield from zip(places(extents), members(part, m), strict=True)


def shared_patterns(rows: Words, columns: Words, min_rows: int, min_columns: int, wanted: int) -> Largest:
    """Return the pairs i · n + j of rows whose patterns make the largest biclusters; `columns` may know more rows."""
    from bivaluate.algorithms._kernels_bits import rehash, scan_pairs

    largest = Largest(wanted)
    pairs, areas = np.empty(largest.buffer, dtype=np.int64), np.empty(largest.buffer, dtype=np.int64)
    table, state = np.zeros(FIRST_TABLE, dtype=np.int64), np.array([0, 1, 0])
    least = np.array([min_rows, min_columns])
    while state[0] < len(rows) - 1:
        found = scan_pairs(rows, columns, least, largest.floor, BUDGET, table, state, pairs, areas)
        largest.add(areas[:found], pairs[:found])
        if 2 * state[2] >= len(table):
            if len(table) == MOST_SLOTS:
                share = f"more than {MOST_SLOTS // 2} different patterns of at least {min_columns} columns, too many to remember"
                raise ParameterError(f"the rows of X share {share}. Raise min_columns, or binarise with fewer ones.")
            old, table = table, np.zeros(4 * len(table), dtype=np.int64)
            rehash(rows, old, table)
    return largest

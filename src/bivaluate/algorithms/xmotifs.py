"""xMOTIFs (Murali and Kasif 2003): rows that keep the same state over a set of columns."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from bivaluate.algorithms._bits import members
from bivaluate.algorithms._estimator import BiclusteringEstimator, Count, Pair, Share, Values
from bivaluate.algorithms.algorithm import KW_ONLY, algorithm
from bivaluate.measures.cover import packed_masks

States = NDArray[np.int32]

# Random sets drawn and tried in one go.
SETS_AT_ONCE = 100_000


@algorithm(
    "xmotifs",
    "xMOTIFs",
    "xMOTIFs",
    "Draws columns at random, takes the rows in the same state in all of them, and keeps the largest; finds K itself.",
    seeks=("constant rows", "constant"),
    reference="Murali & Kasif 2003, Extracting conserved gene expression motifs from gene expression data, "
    "Pac. Symp. Biocomput. 8:77-88",
    finds_k=True,
)
class XMotifs(BiclusteringEstimator):
    """Biclusters whose rows are conserved: each is in one state in all columns of the bicluster (xMOTIFs).

    For n_s seed columns c drawn at random, n_d sets D of s_d further columns are drawn. The rows in the same state in
    c and all of D are the motif's rows G, and its columns C are all those that agree with c on every row of G. Of the
    motifs with at least a share α of the columns the one with the most rows is kept; its columns are set aside and
    the search goes on among the others, until no motif is left.

    Parameters
    ----------
    n_biclusters : int or "auto", default="auto"
        The largest number of biclusters to return; "auto" goes on until the columns are used up. The first k of K are
        those found by a run for k.
    n_seeds, n_sets : int
        Seed columns per motif (n_s in the paper), and sets of columns drawn for each of them (n_d).
    set_size : int, default=7
        Columns in each set (s_d in the paper); fewer if fewer are left. A motif has at least one column more.
    min_share : float, default=0.05
        Smallest share of all columns a motif must have (α in the paper).
    states : {"intervals", "given"}, default="intervals"
        "intervals": the states of a row are disjoint intervals that hold more cells than uniform values would put
        there; a cell in none of them is in no state. "given": every value is a state, for data that are discrete.
    max_p_value : float, default=0.05
        For "intervals": the largest probability that uniform values crowd into an interval as much (a Chernoff bound).

    See Also
    --------
    Qubic, Bimax

    Notes
    -----
    More rows agree on fewer columns: the motif with the most rows seldom has many more columns than it must, so choose
    `min_share` and `set_size` for the width sought. A motif that covers a share γ of the columns is met by one set in
    about γ^(s_d + 1): raise `n_sets` for narrow motifs. Among motifs with the same rows the one with more columns wins,
    then the one drawn first.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(60, 20))
    >>> X[:12, :15] = np.arange(12)[:, None]
    >>> XMotifs(1, min_share=0.75, random_state=0).fit(X).solution_[0].shape
    (12, 15)
    """

    n_biclusters: Any = "auto"
    _: KW_ONLY
    n_seeds: Count = 10
    n_sets: Count = 1000
    set_size: Count = 7
    min_share: Share = 0.05
    states: Literal["intervals", "given"] = "intervals"
    max_p_value: Annotated[float, np.finfo(float).tiny, 1.0] = 0.05

    def _find(self, X: Values) -> Iterator[Pair]:
        least = math.ceil(self.min_share * X.shape[1])
        rng = self._random()
        states = given_states(X) if self.states == "given" else interval_states(X, math.log(self.max_p_value))
        left = np.arange(X.shape[1])
        while len(left) > 1:
            size = min(self.set_size, len(left) - 1)
            rows, cols = find_motif(states, left, self.n_seeds, self.n_sets, size, least, rng)
            if not len(rows):
                return
            yield rows, cols
            left = np.setdiff1d(left, cols)


def given_states(X: Values) -> States:
    """Return the number of each cell's value among all values, counted from 1."""
    return (np.unique(X, return_inverse=True)[1].reshape(X.shape) + 1).astype(np.int32)


def interval_states(X: Values, limit: float) -> States:
    """Return the number of the interval of its row each cell lies in, 0 for none; `limit` bounds log-probabilities."""
    from bivaluate.algorithms._kernels_motifs import find_states

    places = X.argsort(axis=1, kind="stable")
    states = np.zeros(X.shape, dtype=np.int32)
    find_states(np.take_along_axis(X, places, axis=1), places, limit, states)
    return states


def find_motif(
    states: States, left: Any, n_seeds: int, n_sets: int, size: int, least: int, rng: np.random.RandomState
) -> Pair:
    """Return rows and columns of the motif with the most rows in the columns left; no rows if there is none."""
    from bivaluate.algorithms._kernels_motifs import search_motifs

    genes, best = np.zeros(-(-len(states) // 64), dtype=np.uint64), np.zeros(3, dtype=np.int64)
    among = np.ascontiguousarray(states[:, left].T)
    for seed in rng.randint(0, len(left), n_seeds):
        # The rows in the same state as in the seed column.
        sets = packed_masks((among == among[seed]) & (among[seed] != 0))
        for start in range(0, n_sets, SETS_AT_ONCE):
            draws = rng.randint(0, 2**31 - 1, (min(SETS_AT_ONCE, n_sets - start), size))
            search_motifs(sets, seed, draws, least, best, genes)
    rows = members(genes[np.newaxis], len(states))[0]
    wanted = states[rows, left[best[2]]][:, np.newaxis]
    return rows, left[(states[np.ix_(rows, left)] == wanted).all(axis=0)]

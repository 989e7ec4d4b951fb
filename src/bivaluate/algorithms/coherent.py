"""Coherent submatrices: blocks whose rows follow one pattern, told from noise by their evidence; finds K itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

import numpy as np

from bivaluate._parallel import SliceThreads, one_thread
from bivaluate._text import plural
from bivaluate.algorithms._coherent_background import (
    MOST_BLOCKS,
    MOST_PATTERNS,
    background_beside,
    find_background,
    take_out,
)
from bivaluate.algorithms._coherent_field import copy_field
from bivaluate.algorithms._coherent_prepare import POWERS, Unsearchable, prepare
from bivaluate.algorithms._coherent_search import FEWEST_STARTS, MOST_STARTS, Scored, Search
from bivaluate.algorithms._estimator import Amount, BiclusteringEstimator, Count, Pair, Values
from bivaluate.algorithms.algorithm import KW_ONLY, algorithm
from bivaluate.chance.evidence import evidence_table
from bivaluate.solution import Biclustering


@algorithm(
    "coherent",
    "Coherent submatrices",
    "Coherent",
    "Climbs to blocks whose rows follow one pattern, by their evidence against noise; finds K itself.",
    seeks=("raised", "constant rows", "constant columns", "additive", "multiplicative"),
    finds_k=True,
    missing=True,
    reference="bivaluate, docs/coherent.md",
)
class CoherentSubmatrices(BiclusteringEstimator):
    """Biclusters whose rows follow one pattern: raised, additive, scaled or turned, on their own columns.

    Every row is judged against its own background: a block is a set of rows and columns whose cells are better
    explained by a common pattern (a level and a shape, stretched and shifted from row to row) than by what these rows
    do elsewhere. The score of the search is the log-likelihood ratio of a block minus the price of choosing its rows,
    its columns and its parameters. Climbs from many starts find blocks of large score; the best is kept and its cells
    are set aside, until nothing with a score above `min_evidence` is left: the number of biclusters is found, not
    given. Correlated columns and patterns common to half of all rows belong to the background.

    Parameters
    ----------
    n_biclusters : int or "auto", default="auto"
        The largest number of biclusters to return, those of the largest score first; "auto" returns all.
    min_evidence : float, default=5.0
        Score of the search that a bicluster must exceed.
    min_rows : int, default=4
        Fewest rows of a bicluster, at least 3. A bicluster has at least two columns and at most half of the rows.
    n_starts : int or None, default=None
        Climbs per pass; None for two per row, within 400 and 1200.
    calibrate : bool, default=True
        Whether nothing is returned where evidence (of transformed values, where the search transforms them) supports
        none of the blocks. `bivaluate.find` judges all blocks itself.
    missing : {"raise", "omit"}, default="raise"
        What to do about NaN: an error, or leave these cells out.
    n_jobs : int or None, default=None
        Threads; None or -1 for as many as there are cores. The answer never depends on it.

    Attributes
    ----------
    solution_ : Biclustering
        The biclusters, those of the largest score first.
    evidence_ : ndarray of shape (K,)
        Evidence of each bicluster, as :func:`bivaluate.evidence_table` gives it for the solution.
    patterns_ : list of str
        Pattern of each bicluster, as :func:`bivaluate.evidence_table` names it.
    notes_ : list of str
        What was done to the data and what could not be done, a sentence each.

    Warns
    -----
    SearchWarning
        If nothing is found, with the reason: the matrix has too few rows or columns, too few levels or no usual
        distribution, evidence supports no block, or all is part of the correlation of the columns, as blocks are that
        take in most rows together. If a pattern common to half of all rows was taken out.

    See Also
    --------
    bivaluate.find, bivaluate.evidence_table

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 20))
    >>> X[:20, :8] = rng.normal(size=(20, 1)) + 2 * rng.normal(size=8) + 0.3 * rng.normal(size=(20, 8))
    >>> model = CoherentSubmatrices(random_state=0).fit(X)
    >>> [b.shape for b in model.solution_], model.patterns_
    ([(20, 8)], ['additive'])
    """

    n_biclusters: int | str = "auto"
    _: KW_ONLY
    min_evidence: Amount = 5.0
    min_rows: Annotated[int, 3, None] = 4
    n_starts: Count | None = None
    calibrate: bool = True
    missing: Literal["raise", "omit"] = "raise"
    n_jobs: int | None = None

    def _find(self, X: Values) -> Iterator[Pair]:
        rng = self._random()
        with one_thread():
            blocks = sorted(self._search(X, rng), key=lambda block: -block[0])[: self.most]
        pairs = [pair for _, pair in blocks]
        self.evidence_, self.patterns_ = np.zeros(0), list[str]()
        if pairs:
            judged = evidence_table(X, Biclustering(pairs, X.shape), missing="omit")
            self.evidence_, self.patterns_ = judged.gain, list(judged.patterns)
        yield from pairs

    def _search(self, X: Values, rng: np.random.RandomState) -> list[Scored]:
        """Return the blocks found; constant rows and columns take no part."""
        try:
            prepared = prepare(X, self.min_rows)
        except Unsearchable as reason:
            self.notes_.append(str(reason))
            return []
        self.notes_ += prepared.notes
        rows, cols = prepared.rows, prepared.cols
        starts = self.n_starts or int(np.clip(2 * len(rows), FEWEST_STARTS, MOST_STARTS))
        with SliceThreads(self.n_jobs, X.size * starts) as workers:
            search = Search(starts, float(self.min_evidence), self.min_rows, len(rows) // 2, workers)
            found = self._search_prepared(search, prepared.Z, rng)
        blocks = [(score, (rows[r], cols[c])) for score, (r, c) in found]
        if not self.calibrate or not blocks:
            return blocks
        values = POWERS[prepared.transform](X) if prepared.transform else X
        solution = Biclustering([pair for _, pair in blocks], X.shape)
        if evidence_table(values, solution, missing="omit").n_supported:
            return blocks
        scored = f"{plural(len(blocks), 'block')} with a score above {search.threshold:g}, none of them supported"
        self.notes_.append(f"{scored}: where the search errs, it does so in noise that is unlike what it expects.")
        return []

    def _search_prepared(self, search: Search, Z: Values, rng: np.random.RandomState) -> list[Scored]:
        patterns = 0
        again: list[Pair] | None = None
        while True:
            # Blocks move the covariance of the columns, and missing cells of blocks are to be expected from these:
            # where either matters, the background is made again beside the blocks, and searched again.
            if again is None:
                background, known = find_background(Z, search, rng)
            else:
                background, known = background_beside(background.Z, search, again), again
            rough = again is None and (background.correlated or bool(np.isnan(Z).any()))
            blocks: list[Scored] = []
            common = None
            for score, pair in search.peel(copy_field(background.field), rng, MOST_BLOCKS, known, once=rough):
                if len(pair[0]) == search.most_rows and patterns < MOST_PATTERNS:
                    common = pair
                    break
                blocks.append((score, pair))
                self._tell(len(blocks))
            if common is not None:
                patterns += 1
                Z, again = take_out(background, common), None
            elif rough and blocks:
                again = [pair for _, pair in blocks]
            else:
                break
        blocks = search.drop(blocks)
        if patterns:
            found = f"{plural(patterns, 'pattern')} common to at least half of all rows taken out as background"
            self._warn(f"{found}: a bicluster cannot have more than half of the rows.")
        if background.correlated:
            self.notes_.append("Columns are correlated in all rows: blocks are judged against that correlation.")
            # A pattern of many rows on most columns is part of the correlation.
            n, m = Z.shape
            blocks = [block for block in blocks if 4 * len(block[1][0]) <= n or 2 * len(block[1][1]) <= m]
            if not blocks:
                often = "What many rows share, such as the types of cells, may be part of it"
                how = "take logarithms of counts, or another algorithm (las, nmf, spectral_co)"
                self.notes_.append(f"Nothing is found beyond the correlation of the columns. {often}: {how}.")
        return blocks

"""Coherent submatrices: blocks whose rows follow one pattern, told from noise by their evidence; finds K itself."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from bivaluate._check import check_choice, check_int, check_real
from bivaluate._errors import SearchWarning
from bivaluate._parallel import Workers, one_thread
from bivaluate._text import plural
from bivaluate.algorithms._coherent_background import (
    LARGEST_P,
    MOST_BLOCKS,
    MOST_PATTERNS,
    Background,
    Calibration,
    background_beside,
    calibrate,
    find_background,
    take_out,
)
from bivaluate.algorithms._coherent_prepare import COLUMNS_FOR_TAILS, admit
from bivaluate.algorithms._coherent_refine import Scored, refine
from bivaluate.algorithms._coherent_search import Search, usual_starts
from bivaluate.algorithms._estimator import BiclusteringEstimator, Pair, Values, check_seed
from bivaluate.algorithms.algorithm import algorithm
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
        Whether blocks are compared with what the search finds in surrogates of the data. `bivaluate.find`, which judges
        every block by its evidence, does without.
    missing : {"raise", "omit"}, default="raise"
        What to do about NaN: an error, or leave these cells out.
    n_jobs : int or None, default=None
        Threads; None or -1 for as many as there are cores. The answer never depends on it.
    random_state : int, RandomState or None
        Source of the random starts.

    Attributes
    ----------
    solution_ : Biclustering
        The biclusters, those of the largest score first.
    evidence_ : ndarray of shape (K,)
        Evidence of each bicluster, as :func:`bivaluate.evidence_table` gives it for the solution.
    p_values_ : ndarray of shape (K,)
        Where surrogates were searched (transformed data, few or correlated columns, or blocks in surrogates): the
        probability that the best block of a surrogate has as large a score, by the tail of eleven of them; else NaN.
    patterns_ : list of str
        Pattern of each bicluster, as :func:`bivaluate.evidence_table` names it.
    notes_ : list of str
        What was done to the data and what could not be done, a sentence each.

    Warns
    -----
    SearchWarning
        If the matrix has too few rows or columns, too few levels or no usual distribution: then nothing is found. If a
        pattern common to half of all rows was taken out, or if surrogates hold blocks as good as all that were found.

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

    def __init__(
        self,
        n_biclusters: int | str = "auto",
        *,
        min_evidence: float = 5.0,
        min_rows: int = 4,
        n_starts: int | None = None,
        calibrate: bool = True,
        missing: str = "raise",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_biclusters = n_biclusters
        self.min_evidence = min_evidence
        self.min_rows = min_rows
        self.n_starts = n_starts
        self.calibrate = calibrate
        self.missing = missing
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find biclusters in `X`.

        Parameters
        ----------
        X : array-like, DataFrame or Matrix of shape (n_rows, n_cols)
            Real numbers, NaN where missing; never written to.
        y : object
            Ignored.

        Returns
        -------
        CoherentSubmatrices
            The fitted estimator.

        Raises
        ------
        ParameterError
            If a parameter has a value that is not allowed.
        MatrixError
            If `X` is not a matrix of numbers, is sparse, or has cells that are not allowed.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(80, 20))
        >>> X[:20, :8] = 2 * rng.normal(size=8) + 0.3 * rng.normal(size=(20, 8))
        >>> CoherentSubmatrices(random_state=0).fit(X).solution_[0].shape
        (20, 8)
        """
        most = self._check_parameters()
        rng = check_random_state(self.random_state)
        values = self.check_input(X)
        self.notes_: list[str] = []
        self._warned: list[str] = []
        with one_thread():
            blocks, p_values = self._search(values, rng, most)
        order = [k for k, _ in sorted(enumerate(blocks), key=lambda item: -item[1][0])][:most]
        pairs = [blocks[k][1] for k in order]
        self.solution_ = Biclustering(pairs, values.shape, info=self._info())
        self.rows_ = self.solution_.row_masks
        self.columns_ = self.solution_.col_masks
        judged = evidence_table(values, self.solution_, missing="omit")
        self.evidence_, self.patterns_ = judged.gain, list(judged.patterns)
        self.p_values_ = np.array([p_values[k] for k in order], dtype=np.float64)
        return self

    def _find(self, X: Values) -> Iterator[Pair]:
        """Unused: `fit` finds all biclusters together, because they are refined together."""
        raise NotImplementedError

    def _check_parameters(self) -> int:
        if isinstance(self.n_biclusters, str):
            check_choice("n_biclusters", self.n_biclusters, ("auto",))
            most = MOST_BLOCKS
        else:
            most = check_int("n_biclusters", self.n_biclusters, minimum=1)
        check_real("min_evidence", self.min_evidence, minimum=0)
        check_int("min_rows", self.min_rows, minimum=3)
        if self.n_starts is not None:
            check_int("n_starts", self.n_starts, minimum=1)
        check_choice("missing", self.missing, ("raise", "omit"))
        check_seed(self.random_state)
        return most

    def _search(self, X: Values, rng: np.random.RandomState, most: int) -> tuple[list[Scored], Values]:
        """Return the blocks and their p-values; constant rows and columns take no part."""
        admitted = admit(X, self.min_rows)
        rows, cols, Z = admitted.rows, admitted.cols, admitted.Z
        self.notes_ += admitted.notes
        if Z is None or admitted.unbent is None:
            self._warn(admitted.reason)
            return [], np.zeros(0)
        starts = self.n_starts or usual_starts(len(Z))
        with Workers(self.n_jobs, X.size * starts) as workers:
            search = Search(starts, float(self.min_evidence), self.min_rows, len(Z) // 2, workers)
            outcome = self._search_prepared(search, Z, admitted.unbent, rng, most)
        return [(score, (rows[r], cols[c])) for score, (r, c) in outcome.blocks], outcome.p_values

    def _search_prepared(
        self, search: Search, Z: Values, unbent: Values, rng: np.random.RandomState, most: int
    ) -> Calibration:
        blocks: list[Scored] = []
        background = Background.of(Z, unbent, None)
        patterns = told = 0
        # Blocks move the covariance of the columns: where that matters, it is estimated again without their cells.
        first = True
        while True:
            if first:
                background, known = find_background(Z, unbent, search, rng)
            else:
                known = [pair for _, pair in blocks]
                background = background_beside(background.Z, background.unbent, search, known)
            rough = first and background.correlated
            blocks = []
            common = None
            for score, pair in search.peel(background.copy(), rng, MOST_BLOCKS, known, once=rough):
                if len(pair[0]) == search.most_rows and patterns < MOST_PATTERNS:
                    common = pair
                    break
                blocks.append((score, pair))
                if told < len(blocks) <= most:
                    told = len(blocks)
                    self._tell(told, None if isinstance(self.n_biclusters, str) else most)
            if common is not None:
                patterns += 1
                first = True
                Z, unbent = take_out(background, common)
            elif rough and blocks:
                first = False
            else:
                break
        blocks = refine(search, background.field, blocks)
        doubtful = background.correlated or bool(self.notes_) or Z.shape[1] < COLUMNS_FOR_TAILS
        outcome = (
            calibrate(
                search, background, blocks, rng, doubtful, lambda k, n: self._tell(k, n, "searching copies of the data")
            )
            if self.calibrate
            else Calibration(blocks, np.full(len(blocks), np.nan), False)
        )
        if patterns:
            self._warn(
                f"{plural(patterns, 'pattern')} common to at least half of all rows taken out as background: "
                "a bicluster cannot have more than half of the rows."
            )
        if background.correlated:
            self.notes_.append("Columns are correlated in all rows: blocks are judged against that correlation.")
            if not blocks:
                self.notes_.append(
                    "Nothing is found beyond the correlation of the columns. What many rows share, such as the "
                    "types of cells, may be part of it: take logarithms of counts, or another algorithm (las, nmf, spectral_co)."
                )
        if outcome.by_surrogates and outcome.blocks:
            self.notes_.append(
                f"Copies of the data without biclusters were searched too; {len(outcome.blocks)} of {len(blocks)} blocks have "
                f"a score that these hardly ever reach (p at most {LARGEST_P:g}) and are kept."
            )
        elif outcome.by_surrogates:
            self._warn(
                f"{plural(len(blocks), 'block')} with a score above {search.threshold:g}: copies of the data without "
                f"biclusters hold such blocks too often (p above {LARGEST_P:g}). Nothing is found."
            )
        return outcome

    def _tell(self, *progress: Any) -> None:
        if self._progress is not None:
            self._progress(*progress)

    def _warn(self, message: str) -> None:
        self.notes_.append(message)
        self._warned.append(message)
        warnings.warn(message, SearchWarning, stacklevel=4)

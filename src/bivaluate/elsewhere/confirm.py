"""Do biclusters found in one matrix hold in another? A test by row labels, calibrated by repeating the search."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bivaluate._check import check_choice, check_int, check_real
from bivaluate._errors import ParameterError
from bivaluate._text import Advice, Option, percent, plural
from bivaluate.chance.evidence import evidence_table
from bivaluate.chance.surrogates import surrogate
from bivaluate.elsewhere._fits import Fits, Progress
from bivaluate.elsewhere._labels import match_rows
from bivaluate.enrichment.hypergeometric import adjusted
from bivaluate.matrix import Matrix
from bivaluate.solution import Biclustering, check_solution

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Asked = tuple[list[dict[str, Any]], dict[str, float]]

CONFIRMED, NOT_CONFIRMED, CANNOT = "confirmed", "not confirmed", "cannot be asked"
FEWEST_ROWS, LARGEST_SHARE = 5, 0.6
SMALLEST_STRATUM = 32  # a part of the rows with fewer is not halved again
DRAWS, SURROGATES = 200, 10
FEW, MANY = 5, 99  # references: fewer give no second null, at least as many give an empirical one
MOST_CELLS = 50_000_000  # of B as it is held; columns beyond are left out at random
AUTO_K = 20


@dataclass(frozen=True, eq=False)
class Confirmation:
    """What :func:`confirm` found."""

    records: list[dict[str, Any]]
    scores: dict[str, float]
    notes: list[str]
    level: float
    solution: Biclustering

    @property
    def biclusters(self) -> pd.DataFrame:
        """The table, one row per bicluster."""
        import pandas as pd

        return pd.DataFrame(self.records)

    @property
    def summary(self) -> str:
        """The result in a sentence."""
        asked, n = int(self.scores["n_asked"]), len(self.records)
        if not asked:
            return f"None of the {plural(n, 'bicluster')} can be asked about."
        hits = sum(record["verdict"] == CONFIRMED for record in self.records)
        are = "is" if hits == 1 else "are"
        text = f"{hits} of the {plural(asked, 'bicluster')} that can be asked about {are} confirmed"
        named = {"share_surrogates": "biclusters of surrogates", "share_controls": "equally active rows outside"}
        known = [key for key in named if not math.isnan(self.scores[key])]
        beside = [f"{percent(self.scores[key])} of {named[key]}" for key in known]
        return f"{text}; {' and '.join(beside)} would be." if beside else f"{text}."

    def to_dict(self) -> dict[str, Any]:
        """Return everything as a dictionary that JSON can hold."""
        said = {"summary": self.summary, "level": self.level, "scores": self.scores}
        return said | {"biclusters": self.records, "notes": self.notes}

    def __repr__(self) -> str:
        return f"Confirmation({self.summary})"


def confirm(
    solution: Biclustering | None,
    A: Any,
    B: Any = None,
    *,
    halves: str | None = None,
    algorithm: str | None = None,
    n_biclusters: int | None = None,
    parameters: Mapping[str, Any] | None = None,
    ordered: bool = False,
    loose: bool = False,
    surrogates: int = SURROGATES,
    draws: int = DRAWS,
    level: float = 0.05,
    random_state: int = 0,
    folder: str | Path | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Confirmation:
    r"""Judge the biclusters found in one matrix in another one.

    Rows are matched by label. Do the rows of a bicluster move together in B more than as many rows that are equally
    active in A, and more than the rows that the same search finds in surrogates of A?

    Parameters
    ----------
    solution : Biclustering or None
        Biclusters of A. With `halves` it may be None: biclusters are found anew in one half.
    A : Matrix, DataFrame, AnnData or array-like
        The matrix they were found in.
    B : Matrix, DataFrame, AnnData or array-like, optional
        The matrix to judge them in; missing with `halves`.
    halves : {"columns", "rows"}, optional
        Split A instead: the algorithm is run on every other column and its biclusters are judged in the other columns;
        ``"rows"`` splits rows and judges the columns of biclusters, for text and ratings. With `ordered` the halves are
        the first and the second.
    algorithm : str, optional
        Key of the algorithm that found the biclusters; by default what the solution's `info` says. Without it the
        search cannot be repeated, and the quick form is used.
    n_biclusters : int, optional
        How many biclusters the search is asked for; by default as the solution says.
    parameters : mapping, optional
        Parameters of the algorithm; by default those the solution says.
    ordered : bool, default=False
        Columns are ordered (time, dose): surrogates keep the smoothness of rows.
    loose : bool, default=False
        Match labels up to case and version suffix.
    surrogates : int, default=10
        Surrogates of A on which the search is repeated; 0 for the quick form.
    draws : int, default=200
        Random sets of rows drawn within strata for each bicluster.
    level : float, default=0.05
        False discovery rate up to which a bicluster counts as confirmed.
    random_state : int, default=0
        Same seed, same answer.
    folder : path, optional
        Run folder for the repeated searches; a stopped call is continued there.
    jobs : int, default=1
        Processes for the repeated searches.
    progress : callable, optional
        Called with (searches done, all).

    Returns
    -------
    Confirmation
        A verdict per bicluster and the shares by chance.

    Raises
    ------
    ParameterError
        If the matrices share no row label, or halves are asked for without an algorithm.

    See Also
    --------
    bivaluate.recur

    Notes
    -----
    C is B's shared rows, standardised by row and then by column. For k rows, :math:`T = \sum_j (\sum_i C_{ij})^2`.
    Strata are A's shared rows halved at the median of the standard deviation, then of the mean, in turn, while a part
    has at least 32 rows. The first null draws k rows within the strata of the bicluster's rows: z is T in units of
    these draws, p_a its rank. The second null is the z of biclusters found in surrogates of A: R of them give
    p_b = (1 + #{z_r ≥ z})/(1 + R) from R = 99 on, and a t-test with standard deviation of at least 1 from R = 5 on.
    p = max(p_a, p_b); q is Benjamini and Hochberg's. A bicluster with fewer than 5 shared rows, or more than 60 % of
    them, cannot be asked about. The question whether modules are preserved is that of Langfelder et al. [1]_.

    References
    ----------
    .. [1] Langfelder, Luo, Oldham, Horvath (2011). Is my network module preserved and reproducible? PLoS Comput. Biol.
       7, e1001057.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> A, B = rng.normal(size=(2, 200, 15))
    >>> A[:20] += 2 * rng.normal(size=15)
    >>> B[:20] += 2 * rng.normal(size=15)
    >>> found = confirm(Biclustering([(range(20), range(15)), (range(40, 60), range(15))], A.shape), A, B)
    >>> found.biclusters["verdict"].tolist()
    ['confirmed', 'not confirmed']
    """
    check_int("draws", draws, 20)
    check_int("surrogates", surrogates, 0)
    check_real("level", level, 0.0, 1.0)
    first = Matrix.of(A, missing="omit")
    if solution is not None:
        solution = check_solution(solution, matrix=first)
    if (B is None) == (halves is None):
        raise ParameterError(
            Advice("give a second matrix, or split the one there is with ", Option("halves", "columns"), ".")
        )
    search, reason = _search_of(solution, algorithm, n_biclusters, parameters)
    notes: list[str] = []
    given, flipped = solution, halves == "rows"
    if halves is None:
        second = Matrix.of(B, missing="omit", name="B")
    else:
        check_choice("halves", halves, ("columns", "rows"))
        if search is None:
            how = f"halves need an algorithm that finds biclusters in one half ({reason}): name it with "
            raise ParameterError(Advice(how, Option("algorithm"), "."))
        second, first = (_half(first, flipped, ordered, part) for part in (1, 0))
    sides = (first.T, second.T) if flipped else (first, second)
    every = np.arange(sides[0].shape[0])
    in_a, in_b, said = match_rows(*sides, loose) if halves is None else (every, every, [])
    notes += said
    references: list[list[Indices]] = []
    if search is not None and (surrogates or halves):
        kind = "phase" if ordered else "permute"
        makers = [partial(_surrogate, first, kind, (random_state, copy), flipped) for copy in range(surrogates)]
        makers += [partial(Matrix, first.source, absent=first.absent)] if halves else []
        found, failed = Fits(*search, random_state, folder, jobs, progress).run(makers)
        if halves is not None:
            solution = found.pop()
            if solution is None:
                raise ParameterError(f"{search[0]} failed on half of {first.name}: {failed[-1]}")
            notes.append(f"Biclusters were found anew in half of the {halves} and judged in the other half.")
        elif failed:
            notes.append(f"{search[0]} failed on {plural(len(failed), 'surrogate')}: {failed[0]}")
        references = [[_members(b, flipped) for b in each] for each in found if each is not None]
    if not references:
        why = reason or ("no search on a surrogate succeeded" if surrogates else "no surrogates were asked for")
        notes.append(f"Quick form only ({why}): the search was not repeated, so p is somewhat too small.")
    assert solution is not None
    own = [_members(b, flipped) for b in solution]
    records, scores = _Judge(*sides, in_a, in_b, draws, random_state, notes).ask(own, references, level)
    if halves is None:
        _add_evidence(records, solution, first, second, dict(zip(in_a.tolist(), in_b.tolist(), strict=True)), notes)
    for record, rows in zip(records, own, strict=True):
        if halves is not None and given:
            shared = [_jaccard(rows, _members(b, flipped)) for b in given]
            record |= {"nearest": f"B{int(np.argmax(shared)) + 1}", "overlap": max(shared)}
    return Confirmation(records, scores, notes, level, solution)


def _members(bicluster: Any, flipped: bool) -> Indices:
    members: Indices = bicluster.cols if flipped else bicluster.rows
    return members


def _jaccard(a: Indices, b: Indices) -> float:
    return len(np.intersect1d(a, b)) / len(np.union1d(a, b))


def _half(matrix: Matrix, flipped: bool, ordered: bool, part: int) -> Matrix:
    """Return every other column, or row; of ordered ones the first or the second half."""
    n = matrix.shape[0 if flipped else 1]
    if n < 8:
        raise ParameterError(f"{matrix.name} has {n} {'rows' if flipped else 'columns'}; halves need at least 8.")
    half = slice(part * (n // 2), n // 2 if part == 0 else n) if ordered else slice(part, None, 2)
    cells = matrix.checked(matrix.source.rows(0, matrix.shape[0]), "omit") if matrix.sparse else matrix.values
    index = (half, slice(None)) if flipped else (slice(None), half)
    rows, cols = (
        None if labels is None else labels[cut]
        for labels, cut in zip((matrix.row_labels, matrix.col_labels), index, strict=True)
    )
    return Matrix(cells[index], rows, cols, f"{matrix.name}, half {part + 1}", matrix.absent)


def _search_of(
    solution: Biclustering | None, algorithm: str | None, k: int | None, parameters: Mapping[str, Any] | None
) -> tuple[tuple[str, int, Mapping[str, Any]] | None, str]:
    """Return algorithm, K and parameters of the search that found the biclusters, or why it cannot be repeated."""
    from bivaluate.algorithms.registry import ALGORITHMS, estimator_of

    info = {} if solution is None else solution.info
    known = info.get("algorithm")
    if algorithm is None and known not in ALGORITHMS:
        return None, f"{known} cannot be run here" if known else "the solution does not say which algorithm found it"
    key = str(algorithm or known)
    estimator_of(key)
    stored = info.get("parameters")
    stored = dict(stored) if isinstance(stored, Mapping) and key == known else {}
    wanted = k or stored.get("n_biclusters")
    if not isinstance(wanted, int):
        wanted = AUTO_K if wanted == "auto" else len(solution or ()) or 5
    own = {name: value for name, value in stored.items() if name not in ("n_biclusters", "random_state", "n_jobs")}
    return (key, wanted, own if parameters is None else parameters), ""


def _surrogate(matrix: Matrix, kind: str, seed: Sequence[int], flipped: bool) -> Matrix:
    """Return a surrogate: each row, or with `flipped` each column, shuffled on its own; sparse stays sparse."""
    rng = np.random.default_rng(seed)
    turned = matrix.T if flipped else matrix
    if turned.sparse and kind == "permute":
        cells = turned.checked(turned.source.rows(0, turned.shape[0]), "omit").tocsr().copy()
        for start, stop in zip(cells.indptr[:-1], cells.indptr[1:], strict=True):
            cells.indices[start:stop] = rng.choice(cells.shape[1], stop - start, replace=False)
        cells.has_sorted_indices = False
        cells.sort_indices()
    else:
        cells = surrogate(turned.values, kind, rng)
    return Matrix(cells.T if flipped else cells, name="surrogate", absent=matrix.absent)


class _Judge:
    """B as the statistic takes it, with the strata of A's rows."""

    def __init__(
        self, A: Matrix, B: Matrix, in_a: Indices, in_b: Indices, draws: int, seed: int, notes: list[str]
    ) -> None:
        self.rng = np.random.default_rng(seed)
        mean, sd = (values[in_a] for values in row_moments(A))
        m, most = B.shape[1], max(100, MOST_CELLS // len(in_b))
        cols = np.arange(m) if m <= most else np.sort(self.rng.choice(m, most, replace=False))
        if m > most:
            notes.append(f"{B.name} has {m:,} columns; {most:,} of them, drawn at random, were used.")
        order = np.argsort(in_b)
        self.C = standardised(B.block(in_b[order], cols)[np.argsort(order)])
        self.position = np.full(A.shape[0], -1)
        self.position[in_a] = np.arange(len(in_a))
        self.strata = strata_of(mean, sd)
        self.n, self.draws, self.notes = len(in_a), draws, notes
        self.ranks = np.column_stack([np.argsort(np.argsort(values, kind="stable")) for values in (mean, sd)])

    def ask(self, own: Sequence[Indices], references: Sequence[Sequence[Indices]], level: float) -> Asked:
        """Return a record for each set of rows of A, and the shares that chance gives."""
        sets = [self._shared(rows) for rows in own]
        able = [k for k, rows in enumerate(sets) if self._can(rows)]
        by_copy = [[self._score(rows) for rows in map(self._shared, each) if self._can(rows)] for each in references]
        null = np.array([each["z"] for copy in by_copy for each in copy])
        mine = [self._score(sets[k]) for k in able]
        controls = [self._score(rows) for rows in (self._control(sets[k]) for k in able) if self._can(rows)]
        p, q = _p_and_q(mine, null)
        records: list[dict[str, Any]] = []
        empty = dict.fromkeys(("statistic", "expected", "z", "p_draws", "p", "q"), math.nan)
        for k, (rows, at) in enumerate(zip(own, sets, strict=True)):
            few = len(at) < FEWEST_ROWS
            why = f"fewer than {FEWEST_ROWS} shared rows" if few else f"more than 60 % of the {self.n} shared rows"
            said = {**empty, "verdict": CANNOT, "reason": why}
            if k in able:
                i = able.index(k)
                verdict = CONFIRMED if q[i] <= level else NOT_CONFIRMED
                said = {**mine[i], "p": float(p[i]), "q": float(q[i]), "verdict": verdict, "reason": ""}
            records.append({"bicluster": f"B{k + 1}", "n_rows": len(rows), "shared_rows": len(at), **said})
        beside = []
        for k, copy in enumerate(by_copy):
            others = np.array([each["z"] for j, other in enumerate(by_copy) if j != k for each in other])
            beside += (_p_and_q(copy, others)[1] <= level).tolist()
        scores = {
            "n_asked": float(len(able)),
            "share": float(np.mean(q <= level)) if able else math.nan,
            "share_surrogates": float(np.mean(beside)) if len(beside) >= FEW else math.nan,
            "share_controls": float(np.mean(_p_and_q(controls, null)[1] <= level)) if controls else math.nan,
            "n_references": float(len(null)),
        }
        if references and len(null) < FEW:
            said_ = f"The searches on {plural(len(references), 'surrogate')} gave {plural(len(null), 'bicluster')}"
            self.notes.append(f"{said_}: too few for the second null, so p is that of the draws.")
        return records, scores

    def _shared(self, rows: Indices) -> Indices:
        at = self.position[rows]
        return at[at >= 0]

    def _can(self, at: Indices) -> bool:
        return FEWEST_ROWS <= len(at) <= LARGEST_SHARE * self.n

    def _score(self, at: Indices) -> dict[str, float]:
        """Return T of some rows, its mean over draws within strata, z and p_a."""
        from scipy.sparse import csr_array

        wanted = np.bincount(self.strata[at], minlength=int(self.strata.max()) + 1)
        chosen = []
        for stratum in np.flatnonzero(wanted):
            pool = np.flatnonzero(self.strata == stratum)
            order = np.argsort(self.rng.random((self.draws, len(pool))), axis=1)[:, : wanted[stratum]]
            chosen.append(pool[order])
        drawn = np.concatenate(chosen, axis=1)
        ends = np.arange(self.draws + 1) * len(at)
        picks = csr_array((np.ones(drawn.size), drawn.ravel(), ends), shape=(self.draws, self.n))
        null = ((picks @ self.C) ** 2).sum(axis=1)
        T = float((self.C[at].sum(axis=0) ** 2).sum())
        sd = float(null.std())
        z = (T - float(null.mean())) / sd if sd > 0 else 0.0
        p = (1 + int((null >= T).sum())) / (self.draws + 1)
        return {"statistic": T, "expected": float(null.mean()), "z": z, "p_draws": p}

    def _control(self, at: Indices) -> Indices:
        """Return rows outside, each the nearest to one inside in the ranks of mean and sd in A."""
        free = np.setdiff1d(np.arange(self.n), at)
        taken = []
        for row in at[: len(free)]:
            nearest = int(((self.ranks[free] - self.ranks[row]) ** 2).sum(axis=1).argmin())
            taken.append(int(free[nearest]))
            free = np.delete(free, nearest)
        return np.array(taken, dtype=np.int64)


def _p_and_q(found: Sequence[Mapping[str, float]], null: Floats) -> tuple[Floats, Floats]:
    p = np.array([max(each["p_draws"], reference_p(each["z"], null)) for each in found])
    return p, adjusted(p) if len(p) else p


def reference_p(z: float, null: Floats) -> float:
    """Return the p-value of z among those of biclusters found in surrogates; 0, no second opinion, below 5 of them.

    >>> reference_p(2.0, np.zeros(99)), round(reference_p(2.0, np.zeros(9)), 3), reference_p(2.0, np.zeros(4))
    (0.01, 0.047, 0.0)
    """
    from scipy.stats import t

    R = len(null)
    if R < FEW:
        return 0.0
    if R >= MANY:
        return (1 + int((null >= z).sum())) / (1 + R)
    spread = max(float(null.std(ddof=1)), 1.0) * math.sqrt(1 + 1 / R)
    return float(t.sf((z - float(null.mean())) / spread, R - 1))


def strata_of(mean: Floats, sd: Floats) -> Indices:
    """Return the stratum of each row: halved by sd, then by mean, in turn, while a part has at least 32 rows.

    >>> np.bincount(strata_of(np.arange(70.0), np.arange(70.0) % 7)).tolist()
    [17, 18, 17, 18]
    """
    strata = np.zeros(len(mean), dtype=np.int64)

    def halve(part: Indices, values: Floats, other: Floats) -> None:
        if len(part) < SMALLEST_STRATUM:
            strata[part] = strata.max() + 1
            return
        order = part[np.argsort(values[part], kind="stable")]
        for half in (order[: len(part) // 2], order[len(part) // 2 :]):
            halve(half, other, values)

    halve(np.arange(len(mean)), sd, mean)
    return np.asarray(strata - strata.min())


def _centred(values: Floats, axis: int) -> tuple[Floats, Floats, Floats]:
    """Return values less their means, missing cells as 0, the means and the standard deviations along an axis."""
    seen = np.isfinite(values)
    count = np.maximum(seen.sum(axis=axis, keepdims=True), 1)
    mean = np.where(seen, values, 0.0).sum(axis=axis, keepdims=True) / count
    centred = np.where(seen, values - mean, 0.0)
    return centred, mean, np.sqrt((centred**2).sum(axis=axis, keepdims=True) / count)


def row_moments(matrix: Matrix) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of each row, missing cells left out; a row without cells has 0 and 0."""
    parts = matrix.map_chunks(lambda start, cells: np.hstack(_centred(matrix.dense(cells), 1)[1:]))
    mean, sd = np.concatenate(list(parts)).T
    return mean, sd


def standardised(values: Floats) -> Floats:
    """Return rows standardised by row, then by column; missing cells, and constant rows and columns, become 0.

    >>> standardised(np.array([[1.0, 2.0], [4.0, 2.0], [3.0, 3.0]])).round(2).tolist()
    [[-1.0, 1.0], [1.0, -1.0], [0.0, 0.0]]
    """
    for axis in (1, 0):
        centred, mean, sd = _centred(values, axis)
        largest = np.abs(mean) + np.abs(centred).max(axis=axis, keepdims=True)
        constant = sd <= 32 * np.finfo(np.float64).eps * largest
        values = np.where(constant | ~np.isfinite(values), np.nan, centred / np.where(constant, 1.0, sd))
    return np.nan_to_num(values, copy=False)


def _add_evidence(
    records: list[dict[str, Any]],
    solution: Biclustering,
    A: Matrix,
    B: Matrix,
    rows: Mapping[int, int],
    notes: list[str],
) -> None:
    """Where columns are shared, add the evidence of the block in B, and whether it goes the way it does in A."""
    there = {label: j for j, label in enumerate(B.col_labels or ())}
    cols = {j: there[label] for j, label in enumerate(A.col_labels or ()) if label in there}
    blocks = {}
    for k, b in enumerate(solution):
        pair = [[i for i in b.rows.tolist() if i in rows], [j for j in b.cols.tolist() if j in cols]]
        if min(map(len, pair)) >= 2:
            blocks[k] = pair
    if not blocks:
        return
    notes.append(f"B has {plural(len(cols), 'column')} with the label of a column of A: the evidence in B is theirs.")
    pairs = {k: ([rows[i] for i in mine], [cols[j] for j in own]) for k, (mine, own) in blocks.items()}
    unique = [(i, list(dict.fromkeys(j))) for i, j in pairs.values()]
    evidence = evidence_table(B, Biclustering(unique, B.shape), missing="omit").alone
    for record in records:
        record |= {"evidence_in_B": math.nan, "direction": ""}
    for k, value in zip(blocks, evidence, strict=True):
        ways = [_profile(matrix, *pair) for matrix, pair in ((A, blocks[k]), (B, pairs[k]))]
        agrees = float(np.nansum(ways[0] * ways[1])) > 0
        records[k] |= {"evidence_in_B": float(value), "direction": "same" if agrees else "opposite"}


def _profile(matrix: Matrix, rows: Sequence[int], cols: Sequence[int]) -> Floats:
    """Return by how much each column of a block is above the mean of its rows over the whole matrix."""
    every = matrix.block(np.sort(np.array(rows)), np.arange(matrix.shape[1]))
    return np.asarray(np.nanmean(every[:, list(cols)] - np.nanmean(every, axis=1, keepdims=True), axis=0))

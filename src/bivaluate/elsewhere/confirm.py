"""Do biclusters found in one matrix hold in another? A test by row labels, calibrated by repeating the search."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from bivaluate._check import check_choice, check_int, check_real, check_seed
from bivaluate._errors import ParameterError
from bivaluate._text import FINAL, Advice, Option, first_few, listing, percent, plural
from bivaluate._types import DataFrame, Flags, Floats, Ints
from bivaluate.chance.evidence import SUPPORTED, evidence_table
from bivaluate.chance.surrogates import surrogate
from bivaluate.elsewhere.fits import Progress, Search, columns_of, fit_each, match_rows, places
from bivaluate.enrichment.hypergeometric import adjusted
from bivaluate.judge.limits import MATCHED, UNSPECIFIC_SHARE
from bivaluate.judge.verdict import WORDS
from bivaluate.matrix import Matrix
from bivaluate.measures._blocks import is_constant_row, standardise
from bivaluate.measures.cover import jaccard_index
from bivaluate.solution import Biclustering, check_solution
from bivaluate.sweep.portfolio import make_view

CONFIRMED, NOT_CONFIRMED, CANNOT = "confirmed", "not confirmed", "cannot be asked"
REVERSED = "the pattern is reversed there"
UNSPECIFIC = "most sets of equally active rows outside move together as strongly"
TOO_OFTEN = "move together as strongly too often"
FEWEST_ROWS, LARGEST_SHARE, FEWEST_HALVED = 5, 0.6, 8
SMALLEST_STRATUM = 32  # a part of the rows with fewer is not halved again
CONTROLS = 20  # sets of equally active rows outside, per bicluster
FEW, MANY = 5, 99  # references: fewer give no second null, at least as many give an empirical one
MOST_CELLS = 50_000_000  # of B as it is held; columns beyond are left out at random
MOST_DRAWN = 4_000_000  # rows put in random order at a time
AUTO_K = 20


@dataclass(frozen=True, eq=False)
class Confirmation:
    """What :func:`confirm` found."""

    records: list[dict[str, Any]]
    scores: dict[str, float]
    notes: list[str]
    level: float
    solution: Biclustering
    where: str
    again: str = ""

    @property
    def biclusters(self) -> DataFrame:
        """The table, one row per bicluster."""
        import pandas as pd

        return pd.DataFrame(self.records)

    @property
    def headline(self) -> str:
        """How many of the biclusters supported where they were found hold, in at most 15 words; of all if none is.

        That most sets of equally active rows hold, too, or that other biclusters do, is said before which do not.
        """
        of = [record for record in self.records if record["found_as"] == WORDS[SUPPORTED]] or self.records
        counts, which = Counter(record["verdict"] for record in of), "supported " * (len(of) < len(self.records))
        hits, lost, n = counts[CONFIRMED], counts[CANNOT], len(of)
        if lost == n:
            return f"No {which}bicluster can be asked about."
        who = f"{hits} of {plural(n, f'{which}bicluster')}" if hits else f"No {which}bicluster"
        where = f"in {self.where or 'both'}"
        said = f"{who}{'' if self.where else ' of one half'} {'hold' if hits > 1 else 'holds'} {where}"
        failed = [record["bicluster"] for record in of if record["verdict"] == NOT_CONFIRMED]
        more = sum(record["verdict"] == CONFIRMED for record in self.records) - hits
        rest = [f"{more} other{'s do' if more > 1 else ' does'}"] * (more > 0)
        rest += [f"{lost} cannot be asked about"] * (lost > 0)
        if hits and not lost and 0 < len(failed) < 3:
            rest.append(f"{listing(failed)} {'do' if len(failed) > 1 else 'does'} not")
        if hits and (share := self.scores["share_controls"]) > UNSPECIFIC_SHARE:
            rest.insert(0, f"{'all' if share == 1 else 'most'} active rows do")
        for part in rest:
            said += f"; {part}" if len(f"{said} {part}".split()) <= 15 else ""
        return f"{said}."

    @property
    def summary(self) -> str:
        """The headline, and how often chance gives the same."""
        text, of_controls = f"{self.headline} {self.again}".strip(), self.scores["share_controls"]
        sets = f"{plural(int(self.scores['n_controls']), 'set')} of equally active rows outside"
        who = (("share_surrogates", "the biclusters found in surrogates"), ("share_controls", sets))
        if found := [f"{percent(v)} of {name}" for key, name in who if not math.isnan(v := self.scores[key])]:
            text += f" {' and '.join(found)} would hold too."
        if of_controls > UNSPECIFIC_SHARE and any(record["verdict"] == CONFIRMED for record in self.records):
            text += " So other active rows move together there, too, but most less strongly than those that hold."
        return text

    def to_dict(self) -> dict[str, Any]:
        """Return everything as a dictionary that JSON can hold."""
        said = {"headline": self.headline, "summary": self.summary, "level": self.level, "scores": self.scores}
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
    surrogates: int = 10,
    draws: int = 200,
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
    A, B : Matrix, DataFrame, AnnData or array-like
        The matrix they were found in, and the one to judge them in; without B name `halves`.
    halves : {"columns", "rows"}, optional
        Split A: the algorithm is run on every other column (with `ordered` the first half), and its biclusters are
        judged in the others. ``"rows"`` splits rows and judges the columns of biclusters, for text and ratings.
    algorithm, n_biclusters, parameters : str, int and mapping, optional
        The search that found the biclusters; by default what the solution's `info` says. Without an algorithm the
        search cannot be repeated, and the quick form is used.
    ordered, loose : bool, default=False
        Columns are ordered (time, dose): surrogates keep the smoothness of rows. Match labels up to case and version
        suffix.
    surrogates, draws : int
        Surrogates of A on which the search is repeated (0 for the quick form), and random sets of rows per bicluster.
    level : float, default=0.05
        False discovery rate up to which a bicluster counts as confirmed.
    random_state : int, default=0
        Same seed, same answer.
    folder, jobs, progress : path, int and callable, optional
        Of the repeated searches: the run folder, in which a stopped call is continued; processes; whom to tell, with
        (searches done, all).

    Returns
    -------
    Confirmation
        A verdict per bicluster, and the shares by chance. One whose pattern is supported in B, but reversed, is not
        confirmed, nor one whose rows most sets of equally active rows outside equal.

    Raises
    ------
    ParameterError
        If the matrices share no row label, or halves are asked for without an algorithm.

    See Also
    --------
    bivaluate.recur

    Notes
    -----
    For the k shared rows of a bicluster :math:`T = \sum_j (\sum_i C_{ij})^2`, where C is B standardised by row, then by
    column. p is the larger of two: T among sets of k equally active rows of A, and its z among those of biclusters of
    surrogates. After the question of module preservation (Langfelder et al. 2011, doi:10.1371/journal.pcbi.1001057).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> A, B = rng.normal(size=(2, 200, 15))
    >>> A[:20], B[:20] = A[:20] + 2 * rng.normal(size=15), B[:20] + 2 * rng.normal(size=15)
    >>> found = confirm(Biclustering([(range(20), range(15)), (range(40, 60), range(15))], A.shape), A, B)
    >>> found.biclusters["verdict"].tolist()
    ['confirmed', 'not confirmed']
    """
    random_state = check_seed(random_state)
    check_int("draws", draws, 20)
    check_int("surrogates", surrogates, 0)
    check_real("level", level, 0.0, 1.0)
    first = Matrix.of(A, missing="omit")
    if solution is not None:
        solution = check_solution(solution, matrix=first)
    if (B is None) == (halves is None):
        two = "give a second matrix, or split the one there is with "
        raise ParameterError(Advice(two, Option("halves", "columns"), "."))
    search, form, reason = _search_of(solution, algorithm, n_biclusters, parameters)
    given, flipped = solution, halves == "rows"

    def rows_of(found: Biclustering) -> list[Ints]:
        return [b.cols if flipped else b.rows for b in found]

    if halves is None:
        second = Matrix.of(B, missing="omit", name="B")
        row_of, notes = match_rows(first, second, loose)
    else:
        check_choice("halves", halves, ("columns", "rows"))
        if search is None:
            how = f"halves need an algorithm that finds biclusters in one half ({reason}): name it with "
            raise ParameterError(Advice(how, Option("algorithm"), "."))
        whole = first.T if flipped else first
        n = whole.shape[1]
        if n < FEWEST_HALVED:
            raise ParameterError(f"{whole.name} has {n} {halves}; halves need at least {FEWEST_HALVED}.")
        cuts = (slice(n // 2), slice(n // 2, None)) if ordered else (slice(0, None, 2), slice(1, None, 2))
        first, second = (columns_of(whole, cut, f"{whole.name}, half {i}") for i, cut in enumerate(cuts, start=1))
        row_of, notes = np.arange(first.shape[0]), []
    references: list[list[Ints]] = []
    if search is not None and (surrogates or halves):
        tasks = [_surrogate(first, "phase" if ordered else "permute", (random_state, i)) for i in range(surrogates)]
        tasks += [first] if halves else []
        fitted = [make_view(matrix.T if flipped else matrix, form) for matrix in tasks]
        found, failed = fit_each(fitted, search, random_state, folder, jobs, progress)
        if halves is not None:
            if (solution := found.pop()) is None:
                raise ParameterError(f"{search[0]} failed on half of {first.name}: {failed[-1]}")
            solution = Biclustering(solution, solution.shape, names=[f"H{k}" for k in range(1, len(solution) + 1)])
            notes.append(f"Biclusters (H1, …) were found anew in half of the {halves} and judged in the other half.")
        elif failed:
            notes.append(f"{search[0]} failed on {plural(len(failed), 'surrogate')}: {failed[0]}")
        references = [rows_of(each) for each in found if each is not None]
    if not references:
        why = reason or ("no search on a surrogate succeeded" if surrogates else "no surrogates were asked for")
        notes.append(f"Quick form only ({why}): the search was not repeated, so p is somewhat too small.")
    assert solution is not None
    own = rows_of(solution)
    records, scores = _RowTest(first, second, row_of, draws, random_state, notes).ask(own, references, level)
    here = evidence_table(first.T if flipped else first, solution, missing="omit").verdicts
    for record, name, verdict in zip(records, solution.names, here, strict=True):
        record |= {"bicluster": name, "found_as": WORDS[verdict]}
    if halves is None:
        _add_evidence(records, solution, first, second, row_of, notes)
    again = ""
    if halves and given:
        for record, rows in zip(records, own, strict=True):
            shared = [jaccard_index(np.isin(rows, each).sum(), len(rows), len(each)) for each in rows_of(given)]
            record |= {"nearest": given.names[int(np.argmax(shared))], "overlap": float(max(shared))}
        again = _found_again(records, len(given), halves)
    where = "" if halves else second.name if second.name != first.name else "the second matrix"
    return Confirmation(records, scores, notes, level, solution, where, again)


def _found_again(records: Sequence[Mapping[str, Any]], n_given: int, halves: str) -> str:
    """Say how many of the biclusters given were found again in one half, and how many of these hold in the other."""
    alike = [record for record in records if record["overlap"] >= MATCHED]
    n, held = (len({r["nearest"] for r in some}) for some in (alike, [r for r in alike if r["verdict"] == CONFIRMED]))
    who = f"{n or 'None'} of the {plural(n_given, 'given bicluster')} {'were' if n > 1 else 'was'} found again"
    some = "" if n == held == 1 else "all " if n == held else f"{held or 'none'} "
    end = f", and {some}{'hold' if held > 1 else 'holds'} in the other half" if n else ""
    return f"{who} in half the {halves}{end}."


def _search_of(
    solution: Biclustering | None, algorithm: str | None, k: int | None, parameters: Mapping[str, Any] | None
) -> tuple[Search | None, str, str]:
    """Return algorithm, K and parameters of a search, the form in which it got the data, and why it is not repeated."""
    from bivaluate.algorithms.registry import ALGORITHMS, estimator_of

    info = {} if solution is None else solution.info
    known = str(info.get("algorithm") or "").removesuffix(FINAL)  # what find keeps is found by the algorithm itself
    if algorithm is None and known not in ALGORITHMS:
        return (
            None,
            "",
            f"{known} cannot be run here" if known else "the solution does not say which algorithm found it",
        )
    key = algorithm or known
    estimator_of(key)
    stored = info.get("parameters") if key == known else None
    own = dict(stored) if isinstance(stored, Mapping) else {}
    wanted = k or own.get("n_biclusters")
    if not isinstance(wanted, int):
        wanted = AUTO_K if wanted == "auto" else len(solution or ()) or 5
    kept = {name: value for name, value in own.items() if name not in ("n_biclusters", "random_state", "n_jobs")}
    form = str(info.get("form") or "") if key == known else ""
    return (key, wanted, kept if parameters is None else parameters), form, ""


def _surrogate(matrix: Matrix, kind: str, seed: Sequence[int]) -> Matrix:
    """Return a surrogate, each row shuffled on its own; sparse stays sparse."""
    rng = np.random.default_rng(seed)
    if not matrix.sparse or kind != "permute":
        return Matrix(surrogate(matrix.values, kind, rng), absent=matrix.absent)
    cells = matrix.to_scipy().copy()
    for start, stop in pairwise(cells.indptr):
        cells.indices[start:stop] = np.sort(rng.choice(cells.shape[1], stop - start, replace=False))
    return Matrix(cells, absent=matrix.absent)


class _RowTest:
    """Whether rows of A move together in B: B standardised, rows drawn within the strata of A."""

    def __init__(self, A: Matrix, B: Matrix, row_of: Ints, draws: int, seed: int, notes: list[str]) -> None:
        self.rng, self.draws, self.notes = np.random.default_rng(seed), draws, notes
        shared = np.flatnonzero(row_of >= 0)
        self.rows = shared[np.argsort(row_of[shared])]  # of A, in the order of B
        self.position = np.full(A.shape[0], -1)
        self.position[self.rows] = np.arange(len(shared))
        m, most = B.shape[1], max(100, MOST_CELLS // len(shared))
        cols = np.arange(m) if m <= most else np.sort(self.rng.choice(m, most, replace=False))
        if m > most:
            notes.append(f"{B.name} has {m:,} columns; {most:,} of them, drawn at random, were used.")
        self.C = standardised(B.block(row_of[self.rows], cols))
        self.mean, self.sd = row_moments(A)[:, self.rows]

    def ask(self, own: Sequence[Ints], references: Sequence[Sequence[Ints]], level: float) -> Any:
        """Return a record for each set of rows of A, and the shares that chance gives."""
        records = [self.score(rows, CONTROLS) for rows in own]
        copies = [[each for each in map(self.score, found) if not each["reason"]] for found in references]
        null = list(chain(*copies))
        controls = [each for record in records if (each := record.pop("controls"))]
        for k, (record, p, q) in enumerate(zip(records, *p_and_q(records, null), strict=True)):
            verdict = CANNOT if math.isnan(q) else CONFIRMED if q <= level else NOT_CONFIRMED
            records[k] = {"bicluster": ""} | record | {"p": float(p), "q": float(q), "verdict": verdict}
            if verdict == CONFIRMED and record["as_strong"] > UNSPECIFIC_SHARE:
                records[k] |= {"verdict": NOT_CONFIRMED, "reason": UNSPECIFIC}
            elif verdict == NOT_CONFIRMED:
                who = "rows found in surrogates" if record["p_draws"] <= level < p else "equally active rows"
                records[k]["reason"] = f"{who} {TOO_OFTEN}"
        others = [list(chain(*copies[:k], *copies[k + 1 :])) for k in range(len(copies))]
        asked = sum(record["verdict"] != CANNOT for record in records)
        scores = {"n_asked": asked, "n_references": len(null), "n_controls": sum(map(len, controls))}
        scores["share_surrogates"] = _share(zip(copies, others, strict=True), level) if len(null) >= FEW else math.nan
        scores["share_controls"] = _share([(each, null) for each in zip(*controls, strict=True)], level)
        if references and len(null) < FEW:
            said = f"The searches on {plural(len(references), 'surrogate')} gave {plural(len(null), 'bicluster')}"
            self.notes.append(f"{said}: too few for the second null, so p is that of the draws.")
        return records, scores

    def score(self, rows: Ints, n_controls: int = 0) -> dict[str, Any]:
        """Return T of some rows of A, its mean over draws within strata, z and p_a; or why they cannot be asked.

        Controls are drawn as the null is, from the rows outside, and have the same null.
        """
        n, at = len(self.rows), self.position[rows]
        at = at[at >= 0]
        record: dict[str, Any] = {"n_rows": len(rows), "shared_rows": len(at)}
        record |= dict.fromkeys(("statistic", "expected", "z", "p_draws", "p", "q", "as_strong", "verdict"), math.nan)
        if len(at) < FEWEST_ROWS or len(at) > LARGEST_SHARE * n:
            few, share = f"fewer than {FEWEST_ROWS} shared rows", percent(LARGEST_SHARE)
            many = f"more than {share} of the {n} shared rows"
            return record | {"reason": few if len(at) < FEWEST_ROWS else many, "controls": []}
        inside = np.isin(np.arange(n), at)
        strata = [part for part in strata_of(np.arange(n), self.sd, self.mean, inside) if inside[part].any()]
        wanted = [int(inside[stratum].sum()) for stratum in strata]
        null = self._drawn(strata, wanted, self.draws)
        outside = [stratum[~inside[stratum]] for stratum in strata]
        enough = all(len(stratum) >= k for stratum, k in zip(outside, wanted, strict=True))
        others = self._drawn(outside, wanted, n_controls) if enough and n_controls else np.empty(0)
        values = np.array([(self.C[at].sum(axis=0) ** 2).sum(), *others])
        z = (values - null.mean()) / (null.std() or math.inf)
        p = (1 + (null >= values[:, None]).sum(axis=1)) / (self.draws + 1)
        tested, *controls = ({"z": float(a), "p_draws": float(b)} for a, b in zip(z, p, strict=True))
        as_strong = float((others > (1 + 1e-9) * values[0]).mean()) if len(others) else math.nan
        record |= {"statistic": float(values[0]), "expected": float(null.mean()), **tested, "as_strong": as_strong}
        return record | {"reason": "", "controls": controls}

    def _drawn(self, strata: Sequence[Ints], wanted: Sequence[int], n: int) -> Floats:
        """Return T of n sets of rows drawn at random, as many of each stratum as wanted."""
        from scipy.sparse import csr_array

        if n > 1 and n * len(self.rows) > MOST_DRAWN:
            return np.concatenate([self._drawn(strata, wanted, part) for part in (n // 2, n - n // 2)])
        orders = (self.rng.permuted(np.tile(stratum, (n, 1)), axis=1) for stratum in strata)
        drawn = np.concatenate([order[:, :k] for order, k in zip(orders, wanted, strict=True)], axis=1)
        ends = np.arange(n + 1) * drawn.shape[1]
        picks = csr_array((np.ones(drawn.size), drawn.ravel(), ends), shape=(n, len(self.rows)))
        return np.asarray(((picks @ self.C) ** 2).sum(axis=1))


def p_and_q(scored: Sequence[Mapping[str, Any]], null: Sequence[Mapping[str, Any]]) -> tuple[Floats, Floats]:
    """Return p and q of scored sets of rows, with those of surrogates as the second null; NaN where not asked."""
    z, p_draws = (np.array([record[key] for record in scored], dtype=np.float64) for key in ("z", "p_draws"))
    p = np.maximum(p_draws, reference_p(z, np.array([record["z"] for record in null])))
    return p, adjusted(p)


def _share(sets: Iterable[tuple[Any, Any]], level: float) -> float:
    """Return the share of scored sets of rows that would be confirmed, each with its second null; NaN for none."""
    q = np.array([value for scored, null in sets for value in p_and_q(scored, null)[1]])
    return float(np.mean(q <= level)) if len(q) else math.nan


def reference_p(z: Floats, null: Floats) -> Floats:
    """Return p-values of z among those of biclusters found in surrogates; 0, no second opinion, below 5 of them."""
    from scipy.stats import t

    R = len(null)
    if R < FEW:
        return np.zeros(len(z))
    if R >= MANY:
        return np.asarray((1 + (null >= z[:, None]).sum(axis=1)) / (1 + R))
    spread = max(float(null.std(ddof=1)), 1.0) * math.sqrt(1 + 1 / R)
    return np.asarray(t.sf((z - null.mean()) / spread, R - 1))


def strata_of(rows: Ints, by: Floats, then: Floats, inside: Flags) -> list[Ints]:
    """Return rows halved at the median of one value, then of the other, in turn.

    A part is not halved when it has fewer than 32 rows, or when more than half of the rows of a half would be inside.
    """
    halves = np.split(rows[np.argsort(by[rows], kind="stable")], [len(rows) // 2])
    if len(rows) < SMALLEST_STRATUM or max(inside[half].mean() for half in halves) > 0.5:
        return [rows]
    return [part for half in halves for part in strata_of(half, then, by, inside)]


def row_moments(matrix: Matrix) -> Floats:
    """Return mean and standard deviation of each row, missing cells left out; a row without cells has 0 and 0."""
    parts = matrix.map_chunks(lambda start, cells: np.ma.masked_invalid(matrix.dense(cells)))
    return np.hstack([np.ma.stack([rows.mean(axis=1), rows.std(axis=1)]).filled(0.0) for rows in parts])


def standardised_rows(values: Floats) -> Floats:
    """Return rows less their mean, in standard deviations; missing cells, and constant rows, become NaN."""
    known = np.isfinite(values) & ~is_constant_row(values)[:, None]
    return np.where(known, standardise(values), np.nan)


def standardised(values: Floats) -> Floats:
    """Return rows standardised by row, then by column; missing cells, and constant rows and columns, become 0."""
    return np.nan_to_num(standardised_rows(standardised_rows(values).T).T)


def _add_evidence(
    records: list[dict[str, Any]], solution: Biclustering, A: Matrix, B: Matrix, row_of: Ints, notes: list[str]
) -> None:
    """Where columns are shared, add the evidence of the block in B and, where it is supported, its direction.

    A block that is supported there but reversed is not confirmed.
    """
    labels = A.col_labels or ("0",) * A.shape[1]
    is_number = [label.replace(".", "").removeprefix("-").isdigit() for label in labels]  # 120 may be minutes of both
    col_of = np.where(is_number, -1, places(labels, B.col_labels or ()))
    shared = {k: (b.rows[row_of[b.rows] >= 0], b.cols[col_of[b.cols] >= 0]) for k, b in enumerate(solution)}
    shared = {k: pair for k, pair in shared.items() if min(map(len, pair)) >= 2}
    if not shared:
        return
    both = [label for label, j in zip(labels, col_of, strict=True) if j >= 0]
    which = f"{plural(len(both), 'column')} that both matrices have ({first_few(both, 3)})"
    cells = f"'pattern there' about the cells in the {which}"
    notes.append(f"The verdict is about rows over all columns of the other matrix, {cells}.")
    there = [(row_of[rows], col_of[cols]) for rows, cols in shared.values()]
    evidence = evidence_table(B, Biclustering(there, B.shape), missing="omit").alone
    for record in records:
        record |= {"evidence_in_B": math.nan, "direction": ""}
    for (k, here), pair, value in zip(shared.items(), there, evidence, strict=True):
        agrees = float(np.nansum(_profile(A, *here) * _profile(B, *pair))) > 0
        direction = "not supported" if value <= 0 else "same" if agrees else "opposite"
        records[k] |= {"evidence_in_B": float(value), "direction": direction}
        if direction == "opposite" and records[k]["verdict"] == CONFIRMED:
            records[k] |= {"verdict": NOT_CONFIRMED, "reason": REVERSED}


def _profile(matrix: Matrix, rows: Ints, cols: Ints) -> Floats:
    """Return by how much each column of a block is above the mean of its rows over the whole matrix."""
    every = matrix.block(np.sort(rows), np.arange(matrix.shape[1]))
    return np.asarray(np.nanmean(every[:, cols] - np.nanmean(every, axis=1, keepdims=True), axis=0))

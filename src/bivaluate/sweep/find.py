"""What is in a matrix, and how many: run what fits the data, choose one solution by evidence, refine it."""

from __future__ import annotations

import time as clock
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bivaluate._check import check_int, check_real
from bivaluate._errors import BivaluateWarning, RunError
from bivaluate._parallel import count_cores
from bivaluate._text import html_table, listing, number, percent, plural
from bivaluate.algorithms.registry import FINAL, algorithm_label
from bivaluate.evaluation import Evaluation, evaluate
from bivaluate.judge.choice import EVIDENCE
from bivaluate.judge.verdict import Verdict
from bivaluate.matrix import Matrix
from bivaluate.solution import Biclustering
from bivaluate.sweep.cells import DEGENERATE, OK, TIMED_OUT, Cell, Finished, Outcome, Slot, Task
from bivaluate.sweep.journal import unpack_solution
from bivaluate.sweep.plan import LARGEST_SEED, Plan
from bivaluate.sweep.portfolio import AUTO, check_searchable, traits_of
from bivaluate.sweep.run import interrupts
from bivaluate.sweep.schedule import Chosen, choose_for, tasks
from bivaluate.sweep.select import is_own_k
from bivaluate.sweep.stages import Fit, Score, best_fit, next_fits
from bivaluate.sweep.workers import Workers, kept_workers, perform_here, perform_parallel

if TYPE_CHECKING:
    import os
    from pathlib import Path

    import pandas as pd
    from matplotlib.axes import Axes

MEASURES = ("total_evidence", "raw_evidence", "n_supported")
CANDIDATE = ("algorithm", "k", "seed", "total_evidence", "n_supported")
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
MOST_SHOWN = 12  # solutions listed on the page before they are folded away
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, repr=False)
class Found:
    """The outcome of :func:`find`.

    Parameters
    ----------
    matrix : Matrix
        The data.
    solution : Biclustering
        The supported biclusters of the best solution, those of most evidence first.
    outcomes : mapping of Fit to Outcome
        How every fit ended.
    notes : list of str
        What was done to the data, which algorithms were left out or failed and why, and what was cut off.

    See Also
    --------
    find

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(40, 20))
    >>> X[:12, :6] += 3
    >>> len(find(X, algorithms="las").solution)
    1
    """

    matrix: Matrix
    solution: Biclustering
    outcomes: Mapping[Fit, Outcome]
    notes: Sequence[str]

    @cached_property
    def evaluation(self) -> Evaluation:
        """The scores of the solution, bicluster by bicluster.

        Examples
        --------
        >>> X = np.random.default_rng(0).normal(size=(40, 20))
        >>> X[:12, :6] += 3
        >>> find(X, algorithms="las").evaluation.records[0]["verdict"]
        'supported'
        """
        return self._evaluate(self.solution)

    def _evaluate(self, solution: Biclustering) -> Evaluation:
        missing = "omit" if self.gaps else "raise"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BivaluateWarning)
            return evaluate(self.matrix, solution, missing=missing)

    @cached_property
    def candidates(self) -> pd.DataFrame:
        """One row per solution that was judged, those of most evidence first.

        ``k`` is the number of biclusters requested, an upper bound for algorithms that find it themselves. The solution
        of ``las-final`` is the supported part of that of ``las``, refined.

        Examples
        --------
        >>> X = np.random.default_rng(0).normal(size=(40, 20))
        >>> X[:12, :6] += 3
        >>> find(X, algorithms="las").candidates[["algorithm", "n_supported"]].head(1).values.tolist()
        [['las-final', 1]]
        """
        import pandas as pd

        rows = [{**fit._asdict(), **score} for fit, score in _scores(self.outcomes).items() if score is not None]
        table = pd.DataFrame(rows, columns=[*CANDIDATE, "raw_evidence", "n_biclusters"])
        return table.sort_values(
            ["total_evidence", "n_biclusters", "raw_evidence"], ascending=[False, True, False], kind="stable"
        ).reset_index(drop=True)

    @property
    def chosen(self) -> Fit | None:
        """Which algorithm, K and seed the solution comes from; None where no fit succeeded.

        Examples
        --------
        >>> X = np.random.default_rng(0).normal(size=(40, 20))
        >>> X[:12, :6] += 3
        >>> find(X, algorithms="las").chosen.algorithm
        'las-final'
        """
        return best_fit(_scores(self.outcomes))

    @property
    def second(self) -> Fit | None:
        """The best solution of another algorithm; None where there is no other, or nothing of it is supported.

        Examples
        --------
        >>> X = np.random.default_rng(0).normal(size=(40, 20))
        >>> find(X, algorithms="las").second is None
        True
        """
        scores = _scores(self.outcomes)
        best = best_fit(scores)
        others = {
            fit: score
            for fit, score in scores.items()
            if score is not None and best is not None and _base(fit) != _base(best) and score[EVIDENCE] > 0
        }
        return best_fit(others)

    @property
    def only_in_second(self) -> Biclustering:
        """The supported biclusters of the second best algorithm that share no cells, or hardly any, with the solution.

        Examples
        --------
        >>> X = np.random.default_rng(0).normal(size=(40, 20))
        >>> len(find(X, algorithms="las").only_in_second)
        0
        """
        second = self.second
        if second is None:
            return Biclustering([], self.matrix.shape)
        blob = self.outcomes[second].solution
        assert blob is not None
        other = self._evaluate(unpack_solution(blob))
        return Biclustering(
            [
                (block.rows, block.cols)
                for block, record in zip(other.solution, other.records, strict=True)
                if record["supported"] and _shared(block, self.solution) < 0.1
            ],
            self.matrix.shape,
        )

    @property
    def headline(self) -> str:
        """How many biclusters there are and of which patterns, in a few words.

        Examples
        --------
        >>> X = np.random.default_rng(0).normal(size=(40, 20))
        >>> X[:12, :6] += 3
        >>> find(X, algorithms="las").headline
        '1 bicluster, with a shifted mean.'
        """
        patterns = Counter(str(record["pattern"]) for record in self.evaluation.records)
        if not patterns:
            return "No bicluster is supported."
        ordered = patterns.most_common()
        if len(ordered) == 1:
            name, count = ordered[0]
            return f"{plural(count, 'bicluster')}, {'' if count == 1 else 'all '}with {_article(name)}."
        parts = [f"{_in_words(count)} with {_article(name)}" for name, count in ordered]
        return f"{plural(len(self.solution), 'bicluster')}: {listing(parts)}."

    @property
    def gaps(self) -> bool:
        """Whether cells are missing, which are left out of every judgement.

        Examples
        --------
        >>> find(np.random.default_rng(0).normal(size=(40, 20)), algorithms="las").gaps
        False
        """
        return bool(traits_of(self.matrix).gaps)

    @property
    def verdict(self) -> str:
        """What there is, who found it, and what came second, in a few sentences.

        Examples
        --------
        >>> X = np.random.default_rng(0).normal(size=(40, 20))
        >>> X[:12, :6] += 3
        >>> find(X, algorithms="las").verdict
        '1 bicluster, with a shifted mean. LAS (K = 1) found it; no other algorithm was run.'
        """
        return f"{self.headline} {self.found_by}"

    @cached_property
    def record(self) -> Verdict:
        """The verdict as terminal, page and JSON print it: one row per bicluster, who found them, what else to know.

        Examples
        --------
        >>> X = np.random.default_rng(0).normal(size=(40, 20))
        >>> X[:12, :6] += 3
        >>> find(X, algorithms="las").record.headline
        '1 bicluster, with a shifted mean.'
        """
        own = self.evaluation.verdict
        return replace(own, headline=self.headline, notes=(self.found_by, *self.notes, *own.notes), next_steps=())

    @property
    def found_by(self) -> str:
        """Who found the biclusters, and what came second, in a sentence.

        Examples
        --------
        >>> X = np.random.default_rng(0).normal(size=(40, 20))
        >>> find(X, algorithms="las").found_by
        'What LAS (K = 1) found comes nearest.'
        """
        best, second = self.chosen, self.second
        assert best is not None
        if not len(self.solution):
            return f"What {_called(best)} found comes nearest."
        others = {_base(fit) for fit in self.outcomes} - {_base(best)}
        scores = _scores(self.outcomes)
        if second is not None:
            one, two = scores[second], scores[best]
            assert one is not None
            assert two is not None
            rest = f"{_called(second)} comes second with {percent(one[EVIDENCE] / two[EVIDENCE])} of the evidence."
        elif others:
            rest = "no other algorithm found a supported one."
        else:
            rest = "no other algorithm was run."
        it = "it" if len(self.solution) == 1 else "them"
        return f"{_called(best)} found {it}; {rest}"

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One mapping per bicluster: ``bicluster``, ``n_rows``, ``n_cols``, ``pattern``, ``evidence``, ``verdict``.

        Examples
        --------
        >>> X = np.random.default_rng(0).normal(size=(40, 20))
        >>> X[:12, :6] += 3
        >>> find(X, algorithms="las").rows[0]["pattern"]
        'shifted mean'
        """
        names = ("bicluster", "n_rows", "n_cols", "pattern", "evidence", "verdict")
        return [{name: record[name] for name in names} for record in self.evaluation.records]

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the evidence of every solution over K, a line per algorithm, the chosen one marked.

        K is the number requested, or the number found where an algorithm finds it itself.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a new figure if not given.

        Returns
        -------
        Axes
            The axes drawn on.

        Examples
        --------
        >>> X = np.random.default_rng(0).normal(size=(40, 20))
        >>> X[:12, :6] += 3
        >>> find(X, algorithms="las").plot().get_xlabel()
        'K requested'
        """
        from bivaluate.plots import plot_candidates

        table = self.candidates
        own_k = [is_own_k(key.removesuffix(FINAL)) for key in table["algorithm"]]
        return plot_candidates(table.assign(k=np.where(own_k, table["n_biclusters"], table["k"])), ax=ax)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write the report, one HTML file.

        Parameters
        ----------
        path : str or path-like
            The file.

        Returns
        -------
        Path
            The file.

        Examples
        --------
        >>> import numpy as np, tempfile
        >>> X = np.random.default_rng(0).normal(size=(40, 20))
        >>> X[:12, :6] += 3
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     find(X, algorithms="las").report(f"{folder}/page.html").name
        'page.html'
        """
        import tempfile
        from pathlib import Path

        from bivaluate.plots import save
        from bivaluate.report import Figure, Section, build_report

        rows = [[_called(fit), fit.seed, row["n_supported"], row["total_evidence"]] for fit, row in self._ranked()]
        with tempfile.TemporaryDirectory() as folder:
            drawn = self.plot().get_figure(root=True)
            assert drawn is not None
            figure, _ = save(drawn, Path(folder, "candidates"))
            section = Section(
                "Candidates",
                f"{self.found_by} {self._beyond()} {' '.join(self.notes)}".strip(),
                ("solution", "seed", "supported", "evidence"),
                rows,
                (Figure(figure, "Evidence of every solution over K, a line per algorithm; the chosen one is ringed."),),
                folds=((f"All {len(rows)} solutions", len(rows)),) if len(rows) > MOST_SHOWN else (),
            )
            self.evaluation.verdict = self.record
            return build_report(self.evaluation, path, sections=[section])

    def _ranked(self) -> list[tuple[Fit, Score]]:
        """Return the solutions that were judged, those of most evidence first."""
        scored = [(fit, score) for fit, score in _scores(self.outcomes).items() if score is not None]
        return sorted(scored, key=lambda item: (-item[1][EVIDENCE], item[1]["n_biclusters"]))

    def _beyond(self) -> str:
        """Say which supported biclusters only the second best algorithm found."""
        second, only = self.second, self.only_in_second
        if second is None:
            return ""
        sizes = [f"{block.shape[0]:,} × {block.shape[1]:,}" for block in only]
        found = f"{plural(len(only), 'supported bicluster')} ({listing(sizes, 5)})" if sizes else "nothing"
        return f"{_called(second)} found {found} that is missing here."

    def __repr__(self) -> str:
        return f"Found({self.verdict})"

    def _repr_html_(self) -> str:
        rows = [[str(row[name]) if name != "evidence" else number(row[name]) for name in row] for row in self.rows]
        return html_table(self.verdict, ["bicluster", "rows", "columns", "pattern", "evidence", "verdict"], rows)


def find(
    X: Any,
    *,
    algorithms: str | Iterable[str] = AUTO,
    random_state: int = 0,
    time: float | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Found:
    """Find the biclusters of a matrix: run the algorithms that fit the data and choose one solution by evidence.

    Every algorithm is run for a few numbers of biclusters K, larger ones while evidence grows; then the best one for
    the K around its best and with more seeds; at last the members of the best solution are refined. Every solution is
    judged by :func:`bivaluate.evidence_table`. What is returned are the supported biclusters of the best one.

    Parameters
    ----------
    X : array-like, DataFrame, sparse matrix, AnnData or Matrix of shape (n_rows, n_cols)
        The data; missing cells (NaN) are left out of every judgement.
    algorithms : str or iterable of str, default="auto"
        Keys of the algorithms to run; ``"auto"`` takes those that fit the data.
    random_state : int, default=0
        Same seed, same answer, for any number of cores.
    time : float, optional
        Seconds it may take, about; what is cut off is said in the notes. By default everything planned is run.
    n_jobs : int, optional
        Cores to use; all by default.
    progress : callable, optional
        Called with (finished, planned so far, what is running).

    Returns
    -------
    Found
        The solution, what is said of it, and a table of all candidates.

    Raises
    ------
    MatrixError
        If `X` has fewer than 4 rows or columns, or all of its cells are equal.
    RunError
        If every algorithm failed, or the time was too short for any.
    ParameterError
        If an option has a value that is not allowed.

    See Also
    --------
    evaluate, Sweep

    Notes
    -----
    Interrupted from the keyboard, it returns the best solution so far, and says so in the notes.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(40, 20))
    >>> X[:12, :6] += 3
    >>> found = find(X, algorithms=["las", "bregman"])
    >>> [b.shape for b in found.solution]
    [(14, 6)]
    """
    seed = check_int("random_state", random_state, 0, LARGEST_SEED)
    limit = None if time is None else clock.monotonic() + check_real("time", time, 0.001)
    matrix = (X if isinstance(X, Matrix) else Matrix.of(X, missing="omit")).settled()
    traits = check_searchable(matrix)
    words = [algorithms] if isinstance(algorithms, str) else list(algorithms)
    score = {"missing": "omit"} if traits.gaps else {}
    plan = Plan(datasets=[matrix.name or "X"], algorithms=words, seeds=[seed], metrics=MEASURES, score=score)
    chosen = choose_for(plan, matrix)
    if not chosen.searched:
        reasons = "; ".join(f"{key}: {reason}" for key, reason in chosen.left_out.items())
        raise RunError(f"no algorithm can be run on {matrix.name}. {reasons}.")
    search = _Search(plan, matrix, chosen, count_cores(n_jobs), limit, progress)
    interrupted = search.run(seed)
    scores = _scores(search.outcomes)
    best = best_fit(scores)
    if best is None:
        raise RunError(_why_nothing(search, time))
    notes = [*_about_data(traits.said, chosen), *_about_failures(search.outcomes)]
    if interrupted:
        notes.append(f"Interrupted: {plural(len(scores), 'fit')} of those planned so far were judged.")
    elif search.cut_off:
        notes.append(f"The time of {time:g} s was over before all was done: {_cut_off(search.cut_off)}.")
    return Found(matrix, _answer(matrix, search.outcomes[best], best, chosen), search.outcomes, notes)


@dataclass
class _Search:
    """The fits of one matrix, stage after stage."""

    plan: Plan
    matrix: Matrix
    chosen: Chosen
    cores: int
    limit: float | None
    progress: Progress | None

    def __post_init__(self) -> None:
        self.outcomes: dict[Fit, Outcome] = {}
        self.cut_off: list[Fit] = []

    def run(self, seed: int) -> bool:
        """Perform the plan; return whether it was interrupted from the keyboard."""
        try:
            with interrupts() as raise_lost, kept_workers(), warnings.catch_warnings():
                warnings.simplefilter("ignore", BivaluateWarning)
                while new := next_fits(self.chosen.searched, _scores(self.outcomes), seed):
                    if self._left() <= 0:
                        self.cut_off = new
                        break
                    with closing(self._perform(self._tasks(new))) as finished:
                        for task, outcomes in finished:
                            self.outcomes |= {Fit(task.algorithm, one.k, task.seed): one for one in outcomes}
                            raise_lost()
                    self.cut_off = [fit for fit in new if self.outcomes[fit].status == TIMED_OUT]
                    if self.cut_off and self._left() <= 0:
                        break
        except KeyboardInterrupt:
            return True
        return False

    def _left(self) -> float:
        return 1.0 if self.limit is None else self.limit - clock.monotonic()

    def _tasks(self, fits: Sequence[Fit]) -> list[Task]:
        name = str(self.plan.datasets[0])
        slots = [Slot(Cell(name, *fit)) for fit in fits]

        def packed(cell: Cell) -> bytes:
            blob = self.outcomes[Fit(*cell[1:])].solution
            assert blob is not None
            return blob

        found = tasks(self.plan, slots, {(name, None): self.chosen}, packed)
        return [replace(task, n_jobs=self.cores if self.limit is None else 1) for task in found]

    def _perform(self, work: list[Task]) -> Generator[Finished, None, None]:
        """Perform tasks, in this process unless there is a limit: only a process of its own can be stopped."""

        planned = len(self.outcomes) + sum(len(task.ks) for task in work)

        def told(task: Task) -> Matrix:
            if self.progress is not None:
                done = len(self.outcomes)
                self.progress(done, planned, _called(Fit(task.algorithm, task.ks[-1], 0)))
            return self.matrix

        if self.limit is None:
            return perform_here(work, told)
        return perform_parallel(work, told, self.cores, self._left, Workers())


def _scores(outcomes: Mapping[Fit, Outcome]) -> dict[Fit, Score | None]:
    """Return the scores of every fit; None for those that failed."""
    return {fit: one.scores if one.status in (OK, DEGENERATE) else None for fit, one in outcomes.items()}


def _answer(matrix: Matrix, outcome: Outcome, best: Fit, chosen: Chosen) -> Biclustering:
    """Return the supported biclusters of the best solution, those of most evidence first."""
    from bivaluate.chance.evidence import evidence_table

    assert outcome.solution is not None
    solution = unpack_solution(outcome.solution)
    judged = evidence_table(matrix, solution, missing=str(chosen.score.get("missing", "raise")))
    order = sorted(judged.order, key=lambda k: -judged.gain[k])
    info = {**solution.info, "algorithm": best.algorithm, "k": best.k, "seed": best.seed, "name": "find"}
    return solution.select(order).with_info(**info)


def _base(fit: Fit) -> str:
    return fit.algorithm.removesuffix(FINAL)


def _called(fit: Fit) -> str:
    """Return how sentences call a solution: LAS (K = 5); an algorithm that finds K itself goes without."""
    label = algorithm_label(_base(fit))
    return label if is_own_k(_base(fit)) else f"{label} (K = {fit.k})"


def _in_words(count: int) -> str:
    return _NUMBERS[count] if count < len(_NUMBERS) else str(count)


def _article(pattern: str) -> str:
    named = {"additive": "an additive pattern", "same order": "the same order", "row levels": "row levels"}
    return named.get(pattern, f"a {pattern}")


def _shared(block: Any, solution: Biclustering) -> float:
    """Return the largest share of a bicluster's cells that one of the solution holds."""
    shares = [
        len(np.intersect1d(block.rows, b.rows)) * len(np.intersect1d(block.cols, b.cols)) / block.size for b in solution
    ]
    return max(shares, default=0.0)


def _about_data(said: str, chosen: Chosen) -> list[str]:
    """Say what was done to the data, and which algorithms were left out and why."""
    changed = [said] if said and any(chosen.views.values()) else []
    reasons: dict[str, list[str]] = {}
    for key, reason in chosen.left_out.items():
        reasons.setdefault(reason, []).append(algorithm_label(key))
    return changed + [_not_run(names, reason.removesuffix(".")) for reason, names in reasons.items()]


def _not_run(names: Sequence[str], reason: str) -> str:
    """Say that some algorithms were not run.

    >>> _not_run(["NMF", "Leiden"], "it needs non-negative data")
    'NMF and Leiden were not run: they need non-negative data.'
    """
    if len(names) > 1:
        reason = reason.replace("it needs ", "they need ").replace("it is ", "they are ")
    return f"{listing(names)} {'was' if len(names) == 1 else 'were'} not run: {reason}."


def _about_failures(outcomes: Mapping[Fit, Outcome]) -> list[str]:
    """Say which fits failed or were stopped, and why."""
    reasons: dict[tuple[str, str], list[Fit]] = {}
    for fit, one in outcomes.items():
        if one.status not in (OK, DEGENERATE):
            reasons.setdefault((one.status, one.reason.removesuffix(".")), []).append(fit)
    return [
        f"{status.capitalize()}: {listing(list(map(_called, fits)), 5)} ({reason})."
        for (status, reason), fits in reasons.items()
    ]


def _cut_off(fits: Sequence[Fit]) -> str:
    names = list(dict.fromkeys(algorithm_label(fit.algorithm) for fit in fits))
    return f"{plural(len(fits), 'fit')} of {listing(names, 5)} did not finish"


def _why_nothing(search: _Search, time: float | None) -> str:
    failed = _about_failures(search.outcomes)
    if time is not None and all(one.status == TIMED_OUT for one in search.outcomes.values()):
        return f"{time:g} s are too short for any algorithm on {search.matrix.name}. Allow more time."
    return f"every algorithm failed on {search.matrix.name}. {' '.join(failed)}"

"""What is in a matrix, and how many: run what fits the data, choose one solution by evidence, refine it."""

from __future__ import annotations

import time as clock
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from bivaluate._check import check_real, check_seed
from bivaluate._errors import BivaluateWarning, RunError
from bivaluate._parallel import count_cores
from bivaluate._text import FINAL, listing, percent, plural
from bivaluate.algorithms.registry import algorithm_label
from bivaluate.evaluation import Evaluation, evaluate
from bivaluate.judge.choice import EVIDENCE
from bivaluate.judge.limits import MISSING_SHARE
from bivaluate.judge.verdict import Verdict, a_pattern
from bivaluate.matrix import Matrix
from bivaluate.measures.cover import shared_cells
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
BICLUSTER = ("bicluster", "n_rows", "n_cols", "pattern", "evidence", "verdict")
MOST_SHOWN = 12  # solutions listed on the page before they are folded away
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, repr=False)
class Found:
    """The outcome of :func:`find`.

    Parameters
    ----------
    matrix, solution : Matrix, Biclustering
        The data, and the supported biclusters of the best solution, those of most evidence first.
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
    >>> found = find(X, algorithms="las")
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
        >>> found.evaluation.records[0]["verdict"]
        'supported'
        """
        return self._evaluate(self.solution)

    def _evaluate(self, solution: Biclustering) -> Evaluation:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BivaluateWarning)
            return evaluate(self.matrix, solution, missing="omit" if traits_of(self.matrix).gaps else "raise")

    @cached_property
    def candidates(self) -> pd.DataFrame:
        """One row per solution that was judged, those of most evidence first.

        The solution of ``las-final`` is the supported part of that of ``las``, refined.

        Examples
        --------
        >>> found.candidates[["algorithm", "n_supported"]].head(1).values.tolist()
        [['las', 1]]
        """
        import pandas as pd

        rows = [{**fit._asdict(), **score} for fit, score in self._scored.items()]
        table = pd.DataFrame(rows, columns=[*CANDIDATE, "raw_evidence", "n_biclusters"])
        by = ["total_evidence", "n_biclusters", "raw_evidence"]
        return table.sort_values(by, ascending=[False, True, False], kind="stable").reset_index(drop=True)

    @property
    def _scored(self) -> dict[Fit, Score]:
        """The scores of the fits that succeeded."""
        return {fit: score for fit, score in _scores(self.outcomes).items() if score is not None}

    @property
    def chosen(self) -> Fit | None:
        """Which algorithm, K and seed the solution comes from; None where no fit succeeded.

        Examples
        --------
        >>> found.chosen.algorithm
        'las'
        """
        return best_fit(self._scored)

    @property
    def second(self) -> Fit | None:
        """The best solution of another algorithm; None where there is no other, or nothing of it is supported.

        Examples
        --------
        >>> found.second is None
        True
        """
        scored, own = self._scored, self.chosen and _base(self.chosen)
        return best_fit({fit: score for fit, score in scored.items() if _base(fit) != own and score[EVIDENCE] > 0})

    @property
    def _headline(self) -> str:
        """How many biclusters there are, and with which patterns where these are few."""
        n = len(self.solution)
        main = f"{plural(n, 'bicluster') if n else 'No bicluster'} {'are' if n > 1 else 'is'} supported"
        kinds = Counter(a_pattern(row["pattern"]) for row in self.evaluation.verdict.biclusters)
        if n < 2 or len(kinds) > 2:
            return f"{main}."
        which = f", each with {next(iter(kinds))}"
        if len(kinds) == 2:
            which = ": {1} with {0}, {3} with {2}".format(*chain(*kinds.most_common()))
        return f"{main}{which}."

    @cached_property
    def verdict(self) -> Verdict:
        """The verdict as terminal, page and JSON print it: a row per bicluster; the first note says who found them.

        Examples
        --------
        >>> found.verdict.headline
        '1 bicluster is supported.'
        """
        own, unnamed = self.evaluation.verdict, self.evaluation.place == ("MATRIX", "SOLUTION")
        notes, steps = (self._found_by, *self.notes, *own.notes), () if unnamed else own.next_steps
        tried = len({_base(fit) for fit in self.outcomes})
        none = f"None of the {tried} algorithms" if tried > 1 else "No fit"
        reason = own.reason or f"{none} found a block better than the best that pure noise could hold."
        if not unnamed and not len(self.solution):
            more = "Weak blocks show better without rows that hardly vary"
            steps = (f"`bivaluate sweep {self.evaluation.place[0]} -a all --out RUN` fits all algorithms. {more}.",)
        rows = tuple(sorted(own.biclusters, key=lambda row: -row["evidence"]))  # the strongest first
        return replace(own, headline=self._headline, reason=reason, biclusters=rows, notes=notes, next_steps=steps)

    @property
    def _found_by(self) -> str:
        """Who found the biclusters, and what came second, in a sentence."""
        best, second, scores = self.chosen, self.second, self._scored
        assert best is not None
        if not len(self.solution):
            return f"What {_called(best)} found comes nearest."
        rest = "no other algorithm was run."
        if second is not None:
            share = percent(scores[second][EVIDENCE] / scores[best][EVIDENCE])
            rest = f"{_called(second)} comes second with {share} of the evidence."
        elif {_base(fit) for fit in self.outcomes} - {_base(best)}:
            rest = "no other algorithm found a supported one."
        return f"{_called(best)} found {'it' if len(self.solution) == 1 else 'them'}; {rest}"

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One mapping per bicluster: its name, sizes, pattern, evidence and verdict.

        Examples
        --------
        >>> found.rows[0]["pattern"]
        'shifted mean'
        """
        return [{name: record[name] for name in BICLUSTER} for record in self.evaluation.records]

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the evidence of every solution over K, a line per algorithm, the chosen one marked.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        Axes
            The axes drawn on.

        Examples
        --------
        >>> found.plot().get_xlabel()
        'K requested'
        """
        from bivaluate.plots import plot_candidates

        table = self.candidates
        own_k = np.array([is_own_k(key.removesuffix(FINAL)) for key in table["algorithm"]])
        at = [tuple(row) for row in table[list(Fit._fields)].to_numpy().tolist()].index(tuple(self.chosen or ()))
        k = np.where(own_k, table["n_supported"].where(table["n_supported"] > 0), table["k"])
        axes = plot_candidates(table.assign(k=k), chosen=at, ax=ax)
        axes.set_xlabel("K requested (supported, of those that find K themselves)" if own_k.any() else "K requested")
        return axes

    def report(self, path: str | os.PathLike[str], traits: pd.DataFrame | None = None) -> Path:
        """Write the report, one HTML file.

        Parameters
        ----------
        path : str or path-like
        traits : DataFrame, optional
            What samples share, from :func:`bivaluate.traits`: a column and a panel.

        Returns
        -------
        Path
            The file.

        Examples
        --------
        >>> found.report("page.html")  # doctest: +SKIP
        """
        from bivaluate.report import Figure, Section, build_report
        from bivaluate.report.elsewhere import annotated, trait_sections
        from bivaluate.report.source import from_evaluations

        rows = [
            [_called(Fit(key, k, seed)) + " (refined)" * key.endswith(FINAL), int(seed), int(supported), evidence]
            for key, k, seed, evidence, supported in self.candidates[list(CANDIDATE)].itertuples(index=False)
        ]
        caption = "Evidence of every solution over K, a line per algorithm; the chosen one, refined, is ringed."
        headings = ("solution", "seed", "supported", "evidence")
        folds = ((f"All {len(rows)} solutions", len(rows)),) if len(rows) > MOST_SHOWN else ()
        figures = (Figure(self.plot(), caption),) if len(self.solution) else ()
        section = Section("Candidates", self._beyond(), headings, rows, figures, folds=folds)
        self.evaluation.verdict = self.verdict
        source = annotated(from_evaluations([self.evaluation]), lambda solution, X: traits)
        return build_report(source, path, sections=[*trait_sections(traits), section])

    def _beyond(self) -> str:
        """Say which supported biclusters only the second best algorithm found."""
        blob = None if self.second is None else self.outcomes[self.second].solution
        if self.second is None or blob is None:
            return ""
        other = self._evaluate(unpack_solution(blob))
        pairs = zip(other.solution, other.records, strict=True)
        only = [
            block for block, record in pairs if record["supported"] and _shared(block, self.solution) < MISSING_SHARE
        ]
        sizes = [f"{block.shape[0]:,} × {block.shape[1]:,}" for block in only]
        is_ = "are" if len(only) > 1 else "is"
        found = f"{plural(len(only), 'supported bicluster')} ({listing(sizes, 5)})" if sizes else "nothing"
        return f"{_called(self.second)}, which comes second, found {found} that {is_} missing here."

    def __repr__(self) -> str:
        return f"Found({self._headline} {self._found_by})"

    def _repr_html_(self) -> str:
        return self.verdict._repr_html_()


def find(
    X: Any,
    *,
    algorithms: Any = AUTO,
    random_state: int | np.random.Generator | np.random.RandomState = 0,
    time: float | Callable[[], float] | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Found:
    """Find the biclusters of a matrix: run the algorithms that fit the data and choose one solution by evidence.

    Every algorithm is run for a few numbers of biclusters K, larger ones while evidence grows; then the best one for
    the K around its best and with more seeds; at last the members of the best solution are refined. Every solution is
    judged by :func:`bivaluate.evidence_table`. Interrupted from the keyboard, the best solution so far is returned.

    Parameters
    ----------
    X : array-like, DataFrame, sparse matrix, AnnData or Matrix of shape (n_rows, n_cols)
        The data; missing cells (NaN) are left out of every judgement.
    algorithms : str, estimator or iterable of them, default="auto"
        Keys of the algorithms to run, or estimators, whose K and seeds are chosen here; ``"auto"`` takes those that
        fit the data.
    random_state : int, Generator or RandomState, default=0
        Same seed, same answer, for any number of cores.
    time : float or callable, optional
        Seconds it may take, about, or a function that returns how many are left; no limit by default.
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
    RunError, ParameterError
        If every algorithm failed, or the time was too short for any; if an option has a value that is not allowed.

    See Also
    --------
    evaluate, Sweep

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(40, 20))
    >>> X[:12, :6] += 3
    >>> [b.shape for b in find(X, algorithms=["las", "bregman"]).solution]
    [(12, 6)]
    """
    seed = check_seed(random_state, LARGEST_SEED)
    left = time if time is None or callable(time) else _countdown(check_real("time", time, 0.001))
    matrix = (X if isinstance(X, Matrix) else Matrix.of(X, missing="omit")).settled()
    traits = check_searchable(matrix)
    score = {"missing": "omit"} if traits.gaps else {}
    plan = Plan(datasets=[matrix.name or "X"], algorithms=algorithms, seeds=[seed], metrics=MEASURES, score=score)
    chosen = choose_for(plan, matrix)
    if not chosen.searched:
        reasons = "; ".join(f"{key}: {reason}" for key, reason in chosen.left_out.items())
        raise RunError(f"no algorithm can be run on {matrix.name}. {reasons}.")
    search = _Search(plan, matrix, chosen, count_cores(n_jobs), left, progress)
    interrupted = search.run(seed)
    best = best_fit(_scores(search.outcomes))
    allowed = f"{time:g} s" if isinstance(time, (int, float)) else "the time allowed"
    if best is None:
        if time is not None and all(one.status == TIMED_OUT for one in search.outcomes.values()):
            raise RunError(f"{allowed} was too short for any algorithm on {matrix.name}. Allow more time.")
        raise RunError(f"every algorithm failed on {matrix.name}. {' '.join(_about_failures(search.outcomes))}")
    told = {fit: one for fit, one in search.outcomes.items() if interrupted or fit not in search.cut_off}
    notes = [*_about_data(traits.said, chosen), *_about_failures(told)]
    if interrupted:
        notes.append(f"Interrupted: {plural(len(search.outcomes), 'fit')} of those planned so far were judged.")
    elif search.cut_off:
        names = list(dict.fromkeys(algorithm_label(_base(fit)) for fit in search.cut_off))
        fits = f"{plural(len(search.cut_off), 'fit')} of {listing(names, 5)} did not finish"
        notes.append(f"After {allowed} not all was done: {fits}.")
    return Found(matrix, _answer(matrix, search.outcomes[best], best, chosen), search.outcomes, notes)


def _countdown(seconds: float) -> Callable[[], float]:
    """Return a function that says how many of these seconds are left."""
    end = clock.monotonic() + seconds
    return lambda: end - clock.monotonic()


@dataclass
class _Search:
    """The fits of one matrix, stage after stage; `left` says how many seconds there are, `cut_off` what had none."""

    plan: Plan
    matrix: Matrix
    chosen: Chosen
    cores: int
    left: Callable[[], float] | None
    progress: Progress | None
    outcomes: dict[Fit, Outcome] = field(default_factory=dict)
    cut_off: list[Fit] = field(default_factory=list)

    def run(self, seed: int) -> bool:
        """Perform the plan; return whether it was interrupted from the keyboard."""
        try:
            with interrupts() as raise_lost, kept_workers() as workers, warnings.catch_warnings():
                warnings.simplefilter("ignore", BivaluateWarning)
                while new := next_fits(self.chosen.searched, _scores(self.outcomes), seed):
                    if self._is_over():
                        self.cut_off = new
                        break
                    with closing(self._perform(self._tasks(new), workers)) as finished:
                        for task, outcomes in finished:
                            self.outcomes |= {Fit(task.algorithm, one.k, task.seed): one for one in outcomes}
                            raise_lost()
                    self.cut_off = [fit for fit in new if self.outcomes[fit].status == TIMED_OUT]
                    if self.cut_off and self._is_over():
                        break
        except KeyboardInterrupt:
            return True
        return False

    def _is_over(self) -> bool:
        return self.left is not None and self.left() <= 0

    def _tasks(self, fits: Sequence[Fit]) -> list[Task]:
        name = str(self.plan.datasets[0])
        slots = [Slot(Cell(name, *fit)) for fit in fits]
        found = tasks(self.plan, slots, {(name, None): self.chosen}, lambda c: self.outcomes[Fit(*c[1:])].solution)
        return [replace(task, n_jobs=self.cores if self.left is None else 1) for task in found]

    def _perform(self, work: list[Task], workers: Workers) -> Generator[Finished, None, None]:
        """Perform tasks, in this process unless there is a limit: only a process of its own can be stopped."""
        planned = len(self.outcomes) + sum(len(task.ks) for task in work)

        def told(task: Task) -> Matrix:
            if self.progress is not None:
                self.progress(len(self.outcomes), planned, _called(Fit(task.algorithm, task.ks[-1], 0)))
            return self.matrix

        if self.left is None:
            return perform_here(work, told)
        return perform_parallel(work, told, self.cores, self.left, workers)


def _scores(outcomes: Mapping[Fit, Outcome]) -> dict[Fit, Score | None]:
    """Return the scores of every fit; None for those that failed."""
    return {fit: one.scores if one.status in (OK, DEGENERATE) else None for fit, one in outcomes.items()}


def _answer(matrix: Matrix, outcome: Outcome, best: Fit, chosen: Chosen) -> Biclustering:
    """Return the supported biclusters of the best solution, in its order: as numbered in a sweep of the same plan."""
    from bivaluate.chance.evidence import evidence_table

    assert outcome.solution is not None
    solution = unpack_solution(outcome.solution)
    judged = evidence_table(matrix, solution, missing=str(chosen.score.get("missing", "raise")))
    order = sorted(judged.order)
    known = {"algorithm": best.algorithm, "k": len(order) if is_own_k(_base(best)) else best.k, "seed": best.seed}
    return solution.select(order).with_info(**known, command="find")


def _base(fit: Fit) -> str:
    return fit.algorithm.removesuffix(FINAL)


def _called(fit: Fit) -> str:
    """Return how sentences call a solution: LAS (K = 5); an algorithm that finds K itself goes without."""
    label = algorithm_label(_base(fit))
    return label if is_own_k(_base(fit)) else f"{label} (K = {fit.k})"


def _shared(block: Any, solution: Biclustering) -> float:
    """Return the largest share of a bicluster's cells that one of the solution holds."""
    return max((shared_cells(block, other) / block.size for other in solution), default=0.0)


def _about_data(said: str, chosen: Chosen) -> list[str]:
    """Say what was done to the data, and which algorithms were left out and why."""
    reasons: dict[str, list[str]] = {}
    for key, reason in chosen.left_out.items():
        reasons.setdefault(reason, []).append(algorithm_label(key))
    changed = [said] if said and any(one.view for one in chosen.searched.values()) else []
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
    reasons: dict[tuple[str, str], list[str]] = {}
    for fit, one in outcomes.items():
        if one.status not in (OK, DEGENERATE):
            reasons.setdefault((one.status.capitalize(), one.reason.removesuffix(".")), []).append(_called(fit))
    return [f"{status}: {listing(fits, 5)} ({reason})." for (status, reason), fits in reasons.items()]

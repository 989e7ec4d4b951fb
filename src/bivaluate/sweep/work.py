"""The work itself: fit once, cut where the algorithm is nested, score every K. Runs in any process."""

from __future__ import annotations

import hashlib
import inspect
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from bivaluate._errors import BivaluateError, CommandTimeoutError
from bivaluate._factors import DEFAULT_RULE
from bivaluate.algorithms.algorithm import count_among
from bivaluate.judge.choice import degenerate_reason
from bivaluate.matrix import Matrix
from bivaluate.solution import Biclustering, fitted_solution
from bivaluate.sweep.cells import DATA, DEGENERATE, FAILED, NOT_PREDICTED, OK, TIMED_OUT, Outcome, Task
from bivaluate.sweep.copies import make_variant
from bivaluate.sweep.journal import pack_mergers, pack_solution, unpack_solution
from bivaluate.sweep.plan import plain
from bivaluate.sweep.portfolio import PORTFOLIO, Member, make_view

MOST_CELLS_REFINED = 250_000
NEARLY = 30.0  # evidence that refining may add to a bicluster
WHOLE = 0.9  # share of the cells of the matrix from which on a block is no part of it
Parameters = Mapping[str, Any]


class FitRunner:
    """Performs tasks one after the other: what one leaves serves the next."""

    def __init__(self) -> None:
        self._given: Matrix | None = None
        self._variant: tuple[Any, ...] = ()
        self._matrix: Matrix  # the data given or a copy of them, settled: what is known of it serves all its solutions
        self._fit: tuple[Any, ...] = ()
        self._views: dict[str, Matrix] = {}  # forms in which algorithms get the data
        self._shared: dict[str, Any] = {}  # what the last fit left for fits of the same with another K

    def perform(self, task: Task, matrix: Matrix) -> list[Outcome]:
        """Perform a task; what the algorithm raises becomes a failed cell, of the largest K alone if it can."""
        variant = (task.variant, task.copy, task.matrix_seed)
        if self._given is not matrix or self._variant != variant:
            copy = matrix if task.variant == DATA else make_variant(matrix, task.variant, task.copy, task.matrix_seed)
            self._given, self._variant, self._matrix, self._fit = matrix, variant, copy.settled(), ()
            self._views = {}
        fit = (task.algorithm, task.random_state, repr(sorted(task.parameters.items())))
        if self._fit != fit:
            self._fit, self._shared = fit, {}
        if task.view not in self._views:
            self._views[task.view] = make_view(self._matrix, task.view)
        return _fit_and_score(task, self._matrix, self._views[task.view], self._shared)


def _make(key: str, k: int, seed: int, parameters: Parameters, n_jobs: int | None = 1, gaps: bool = False) -> Any:
    """Return the unfitted estimator of a fit; one of ours that can, leaves missing cells out where there are some."""
    from bivaluate.algorithms.registry import estimator_of, make_estimator

    cls, _ = estimator_of(key)
    accepted = inspect.signature(cls).parameters if ":" not in key else {}
    threads: dict[str, Any] = {"n_jobs": n_jobs} if "n_jobs" in accepted else {}
    if gaps and "missing" in accepted:
        threads["missing"] = "omit"
    return make_estimator(key, k, seed, **{**threads, **parameters})


def check_data(key: str, parameters: Parameters, matrix: Matrix, gaps: bool = False) -> None:
    """Raise if the algorithm cannot take this matrix, or lacks something it needs, before anything is fitted."""
    from bivaluate.algorithms._estimator import BiclusteringEstimator

    estimator = _make(key, 1, 0, parameters, gaps=gaps)
    if isinstance(estimator, BiclusteringEstimator):
        estimator.check_input(matrix)


def fit(estimator: Any, matrix: Matrix, kind: Any = None, rule: str = DEFAULT_RULE) -> Biclustering:
    """Fit an estimator and return its solution; one that is not ours gets cells of its own, sparse if it takes them."""
    from bivaluate.algorithms._estimator import BiclusteringEstimator

    if isinstance(estimator, BiclusteringEstimator):
        return fitted_solution(estimator.fit(matrix), matrix)
    keeps = matrix.sparse and _keeps_sparse(estimator, matrix)
    values = matrix.checked(matrix.source.rows(0, matrix.shape[0])).copy() if keeps else matrix.values.copy(order="K")
    if kind == np.float32:
        values = values.astype(np.float32)
    return fitted_solution(estimator.fit(values), values, rule)


def makes_dense(key: str, parameters: Parameters, matrix: Matrix) -> bool:
    """Return whether a sparse matrix is made dense for this algorithm."""
    return matrix.sparse and not _keeps_sparse(_make(key, 1, 0, parameters), matrix)


def _keeps_sparse(estimator: Any, matrix: Matrix) -> bool:
    """Return whether an estimator says, in scikit-learn's way, that it takes this sparse matrix as it is."""
    from sklearn.utils import get_tags

    tagged = hasattr(estimator, "__sklearn_tags__") and get_tags(estimator).input_tags.sparse
    return bool(tagged and matrix.absent == "zero")


def _fit_and_score(task: Task, matrix: Matrix, view: Matrix, shared: dict[str, Any]) -> list[Outcome]:
    start, ks, largest = time.perf_counter(), task.ks, task.ks[-1]
    try:
        with warnings.catch_warnings(action="ignore"):
            found = _refined(task, matrix) if task.given is not None else _fitted(task, largest, view, shared)
    except CommandTimeoutError as error:  # it would take as long for fewer
        seconds = time.perf_counter() - start
        return [Outcome(k, TIMED_OUT, reason_of(error), fit_seconds=seconds) for k in ks]
    except Exception as error:
        failed = Outcome(largest, FAILED, reason_of(error), fit_seconds=time.perf_counter() - start)
        fewer = replace(task, ks=ks[:-1])
        return [*(_fit_and_score(fewer, matrix, view, shared) if fewer.ks else []), failed]
    seconds = time.perf_counter() - start
    outcomes = [_score(task, k, matrix, _first(found, k) if k < largest else found) for k in ks]
    outcomes[-1].fit_seconds = seconds
    if task.held_out and task.variant == DATA:
        _predict(task, matrix, outcomes)
    if task.stability and task.variant == DATA:
        _look_again(task, matrix, outcomes)
    return outcomes


def _fitted(task: Task, k: int, view: Matrix, shared: dict[str, Any]) -> Biclustering:
    """Fit the algorithm of a task to the data in the form it gets them."""
    gaps = task.score.get("missing") == "omit"
    estimator = _make(task.key, k, task.random_state, task.parameters, task.n_jobs, gaps)
    if hasattr(estimator, "_shared"):
        estimator._shared = shared
    found = fit(estimator, view)
    return found.with_info(form=task.view) if task.view else found


def _refined(task: Task, matrix: Matrix) -> Biclustering:
    """Return the supported biclusters of a solution and those that refining makes supported, most evidence first.

    What the algorithm has refined itself stays as it is; what takes in nearly the whole matrix is no bicluster.
    """
    from bivaluate._text import FINAL
    from bivaluate.chance.evidence import NOT_SUPPORTED, evidence_table
    from bivaluate.sweep.refine import refine_some, split

    assert task.given is not None
    missing = task.score.get("missing", "raise")
    whole = unpack_solution(task.given)
    given = split(matrix, whole, missing)
    found, cells = evidence_table(matrix, given, missing=missing), matrix.shape[0] * matrix.shape[1]
    nearly = [k for k, verdict in enumerate(found.verdicts) if verdict == NOT_SUPPORTED and found.gain[k] > -NEARLY]
    order, nearly = ([k for k in some if given[k].size < WHOLE * cells] for some in (found.order, nearly))
    refines = PORTFOLIO.get(task.algorithm.removesuffix(FINAL), Member()).refines
    first = len(order) if refines and given is whole else 0
    chosen = given.select([*order, *nearly])
    refined = refine_some(matrix, chosen, range(first, len(chosen)), missing, 0 if cells > MOST_CELLS_REFINED else None)
    return refined.solution.select(sorted(refined.evidence.order, key=lambda k: -refined.evidence.gain[k]))


def _refit(task: Task, values: Any, k: int) -> Biclustering:
    return fitted_solution(_make(task.key, k, task.random_state, task.parameters).fit(values), values)


def _predict(task: Task, matrix: Matrix, outcomes: list[Outcome]) -> None:
    """Add how well held-out cells are predicted: hide cells and fit the algorithm again, once per fold if nested."""
    from bivaluate.algorithms.registry import is_nested
    from bivaluate.sweep.held_out import predictive_gain

    how: dict[str, Any] = {"folds": task.held_out, "nested": is_nested(task.key)}
    with _noting(outcomes, NOT_PREDICTED):
        gain = predictive_gain(matrix, partial(_refit, task), task.ks, **how)
        for outcome, mean, deviation in zip(outcomes, gain.mean, gain.standard_error, strict=True):
            outcome.scores |= {"predictive": float(mean), "predictive_error": float(deviation)}


@contextmanager
def _noting(outcomes: Sequence[Outcome], what: str) -> Iterator[None]:
    """Go on where something fails, and say so among the findings."""
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    except Exception as error:
        for outcome in outcomes:
            outcome.findings.append(f"{what}{reason_of(error)}")


def _look_again(task: Task, matrix: Matrix, outcomes: list[Outcome]) -> None:
    """Add how well biclusters come back in subsamples; a nested algorithm is fitted once per subsample for all K."""
    from bivaluate.algorithms.registry import is_nested
    from bivaluate.judge.stability import stability

    nested = is_nested(task.key)
    fits: dict[bytes, Biclustering] = {}  # of the largest K; the subsamples of every K are the same

    def refit(k: int, values: Any) -> Biclustering:
        if not nested:
            return _refit(task, values, k)
        same = hashlib.sha256(np.ascontiguousarray(values).tobytes()).digest()
        if same not in fits:
            fits[same] = _refit(task, values, task.ks[-1])
        return fits[same].select(range(min(k, len(fits[same]))))

    for k, outcome in zip(task.ks, outcomes, strict=True):
        if outcome.status == FAILED:
            continue
        how: dict[str, Any] = {"repeats": task.stability, "null_runs": 1, "random_state": task.random_state}
        with _noting([outcome], "Biclusters could not be looked for again: "):
            found = stability(matrix, partial(refit, k), **how)
            outcome.scores["stability"] = plain(found.mean)
            if len(found.solution) == len(outcome.biclusters):
                for record, value in zip(outcome.biclusters, found.per_bicluster.tolist(), strict=True):
                    record["stability"] = plain(value)


def _first(found: Biclustering, k: int) -> Biclustering:
    """Return the first k biclusters of a nested fit, described as a fit for k."""
    cut = found.select(range(min(k, len(found))))
    parameters = cut.info.get("parameters")
    if isinstance(parameters, dict):
        return cut.with_info(parameters=parameters | {name: k for name in [count_among(parameters)] if name})
    return cut


def _score(task: Task, k: int, matrix: Matrix, solution: Biclustering) -> Outcome:
    from bivaluate.evaluation import evaluate

    start = time.perf_counter()
    outcome = Outcome(k, OK)
    try:
        with warnings.catch_warnings(action="ignore"):
            asked = task.metrics
            chosen = asked if isinstance(asked, str) else [*dict.fromkeys([*asked, "coverage"])]  # K is chosen with it
            evaluation = evaluate(matrix, solution, metrics=chosen, n_jobs=1, **task.score)
            records = plain(evaluation.records)
            undefined = sum(record["status"] == "undefined" for record in records)
            counts = {"n_biclusters": len(records), "n_undefined": undefined}
            outcome.scores = counts | plain(evaluation.scores)
            if task.variant == DATA:
                outcome.solution = pack_solution(solution)
                outcome.mergers = pack_mergers(evaluation.mergers)
                outcome.biclusters = records
                outcome.findings = list(evaluation.findings)
    except Exception as error:
        return Outcome(k, FAILED, f"scoring: {reason_of(error)}")
    outcome.reason = degenerate_reason(outcome.scores)
    outcome.status = DEGENERATE if outcome.reason else OK
    outcome.score_seconds = time.perf_counter() - start
    return outcome


def reason_of(error: BaseException) -> str:
    """Return one line that says what went wrong."""
    text = " ".join(str(error).split())
    named = text if isinstance(error, BivaluateError) and text else f"{type(error).__name__}: {text}"
    return named[:500].rstrip(": ")

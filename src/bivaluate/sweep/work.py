"""The work itself: fit once, cut where the algorithm is nested, score every K. Runs in any process."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bivaluate._errors import BivaluateError
from bivaluate.matrix import Matrix
from bivaluate.solution import Biclustering
from bivaluate.sweep.algorithm import COUNTS, find_biclusters, is_nested
from bivaluate.sweep.journal import DATA, Outcome, pack_mergers, pack_solution
from bivaluate.sweep.variant import make_variant

OK, DEGENERATE, FAILED, TIMED_OUT = "ok", "degenerate", "failed", "timed out"


@dataclass(frozen=True)
class Task:
    """Cells that share one fit: several K of a nested algorithm, or a single cell of any other."""

    dataset: str
    matrix_seed: int | None
    seed: int
    algorithm: str
    ks: tuple[int, ...]
    random_state: int
    variant: str = DATA
    run: int = 0
    metrics: str | tuple[str, ...] = "default"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    score: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells the task from every other of its run."""
        return self.variant, self.run, self.dataset, self.seed, self.algorithm, self.ks

    @property
    def matrix_key(self) -> tuple[str, int | None]:
        """Which matrix of the run the task works on."""
        return self.dataset, self.matrix_seed


def perform(task: Task, matrix: Matrix) -> list[Outcome]:
    """Run a task; whatever the algorithm raises becomes a failed cell.

    A nested run that fails is repeated without its largest K, so that only the cells that fail alone fail.
    """
    if task.variant != DATA:
        matrix = make_variant(matrix, task.variant, task.run, task.matrix_seed)
    if len(task.ks) > 1 and not is_nested(task.algorithm):
        return [outcome for k in task.ks for outcome in _fit_and_score(task, (k,), matrix)]
    return _fit_and_score(task, task.ks, matrix)


def _fit_and_score(task: Task, ks: tuple[int, ...], matrix: Matrix) -> list[Outcome]:
    start = time.perf_counter()
    largest = ks[-1]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = find_biclusters(task.algorithm, matrix.values, largest, task.random_state, task.parameters)
    except Exception as error:
        failed = Outcome(largest, FAILED, reason_of(error), fit_seconds=time.perf_counter() - start)
        return [*(_fit_and_score(task, ks[:-1], matrix) if len(ks) > 1 else []), failed]
    seconds = time.perf_counter() - start
    outcomes = []
    for k in ks:
        cut = _first(found, k) if k < largest else found
        outcome = _score(task, k, matrix, cut)
        outcome.fit_seconds = seconds if k == largest else None
        outcomes.append(outcome)
    return outcomes


def _first(found: Biclustering, k: int) -> Biclustering:
    """Return the first k biclusters of a nested run, described as a run for k."""
    cut = found.select(range(min(k, len(found))))
    parameters = cut.info.get("parameters")
    if isinstance(parameters, dict):
        return cut.with_info(parameters={n: k if n in COUNTS else value for n, value in parameters.items()})
    return cut


def _score(task: Task, k: int, matrix: Matrix, solution: Biclustering) -> Outcome:
    from bivaluate.evaluation import evaluate

    start = time.perf_counter()
    outcome = Outcome(k, OK)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            evaluation = evaluate(matrix, solution, metrics=_with_coverage(task.metrics), n_jobs=1, **task.score)
            records = [{key: _plain(value) for key, value in record.items()} for record in evaluation.records]
            outcome.scores = {
                "n_biclusters": len(records),
                "n_undefined": sum(record["status"] == "undefined" for record in records),
                **{key: _plain(value) for key, value in evaluation.scores.items()},
            }
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


def _with_coverage(metrics: str | tuple[str, ...]) -> str | list[str]:
    """Add what no choice of K can do without."""
    return metrics if isinstance(metrics, str) else list(dict.fromkeys([*metrics, "coverage"]))


def degenerate_reason(scores: Mapping[str, float]) -> str:
    """Say why a solution cannot be judged, or nothing if it can."""
    found, undefined = int(scores["n_biclusters"]), int(scores["n_undefined"])
    if found < 2:
        return f"{found or 'no'} bicluster{'' if found == 1 else 's'} found; NVE compares at least two"
    if found - undefined < 2:
        return f"{undefined} of {found} biclusters have one row or one column, where no score is defined"
    return ""


def reason_of(error: BaseException) -> str:
    """Return one line that says what went wrong."""
    text = " ".join(str(error).split())
    named = text if isinstance(error, BivaluateError) and text else f"{type(error).__name__}: {text}"
    return named[:500].rstrip(": ")


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value

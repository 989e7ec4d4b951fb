"""What the truth and every measure say of the solutions of one data set, and of copies that are worse on purpose."""

from __future__ import annotations

import hashlib
import json
import math
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bivaluate._errors import BivaluateWarning
from bivaluate._files import write_whole
from bivaluate.benchmark.cases import Case
from bivaluate.benchmark.truth import Truth
from bivaluate.evaluation import evaluate
from bivaluate.matrix import Matrix
from bivaluate.registry import METRICS
from bivaluate.solution import Biclustering

Row = dict[str, Any]
Scores = tuple[Row, list[Row]]
Tables = dict[str, list[Row]]
TABLES = ("solutions", "biclusters", "copies")
CELL = ("case", "domain", "seed", "algorithm", "k")
REPLACED = 0.1  # share of the rows of each bicluster that a corrupted copy draws anew


class MethodSolution(NamedTuple):
    """A solution, and its measures where a sweep has computed them."""

    algorithm: str
    k: int
    solution: Biclustering
    scores: Scores | None = None


def solution_measures(own: Sequence[str] = ()) -> list[str]:
    """Return the measures the benchmark judges: those of whole solutions that have a better direction."""
    return _measures("solution", own)


def bicluster_measures(own: Sequence[str] = ()) -> list[str]:
    """Return the measures of single biclusters that have a better direction."""
    return _measures("bicluster", own)


def _measures(level: str, own: Sequence[str]) -> list[str]:
    return [key for key in (*METRICS, *own) if METRICS[key].level == level and METRICS[key].direction != "none"]


def known_rows(
    case: Case, seed: int, found: Sequence[MethodSolution], kept: Path, anew: bool, own: Sequence[str] = ()
) -> Tables:
    """Return the rows of one data set, from the file `kept` where it holds those of the same solutions."""
    key = _fingerprint(case, seed, found, own)
    if not anew and kept.exists():
        content = json.loads(kept.read_text(encoding="utf-8"))
        if content.pop("key") == key:
            return dict(content)
    tables = _rows(case, seed, found, anew, own)
    kept.parent.mkdir(exist_ok=True)
    write_whole(kept, json.dumps({"key": key, **tables}, default=float))
    return tables


def _fingerprint(case: Case, seed: int, found: Sequence[MethodSolution], own: Sequence[str]) -> str:
    known = [case.name, seed, *solution_measures(own), *bicluster_measures(own)]
    members = [[f.algorithm, f.k, [[b.rows.tolist(), b.cols.tolist()] for b in f.solution]] for f in found]
    return hashlib.sha256(json.dumps([known, members]).encode()).hexdigest()


def _rows(case: Case, seed: int, found: Sequence[MethodSolution], anew: bool, own: Sequence[str]) -> Tables:
    problem = case.load(seed)
    matrix, truth = problem.matrix.settled(), Truth(problem)
    tables: Tables = {name: [] for name in TABLES}
    best: dict[str, tuple[float, Row, Biclustering, Row]] = {}
    for algorithm, k, solution, stored in found:
        scores, each = _evaluated(matrix, solution, own) if anew or stored is None else stored
        value, of_each = truth.of(solution)
        cell = dict(zip(CELL, (case.name, case.domain, seed, algorithm, k), strict=True))
        counted = {**cell, "n_biclusters": len(solution), "truth": value}
        tables["solutions"].append({**counted, **truth.by_class(solution), **scores})
        numbered = enumerate(zip(of_each, each, strict=True), 1)
        tables["biclusters"] += [{**cell, "bicluster": b, "truth": t, **e} for b, (t, e) in numbered]
        if len(solution) and not math.isnan(value) and value > best.get(algorithm, (-math.inf,))[0]:
            best[algorithm] = (value, cell, solution, scores)
    for _, cell, solution, scores in best.values():
        tables["copies"].append({**cell, "copy": "as found", **scores})
        for copy, other in _copies(solution, seed).items():
            tables["copies"].append({**cell, "copy": copy, **_evaluated(matrix, other, own)[0]})
    return tables


def _evaluated(matrix: Matrix, solution: Biclustering, own: Sequence[str]) -> Scores:
    measures = [*solution_measures(own), *bicluster_measures(own)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BivaluateWarning)
        found = evaluate(matrix, solution, metrics=measures, missing="omit", single="matrix")
    keys = [key for key in bicluster_measures(own) if found.records and key in found.records[0]]
    return dict(found.scores), [{key: record[key] for key in keys} for record in found.records]


def _copies(solution: Biclustering, seed: int) -> dict[str, Biclustering]:
    """Return a solution with a tenth of the rows of each bicluster drawn anew, and random ones of the same sizes."""
    n_rows, n_cols = solution.shape
    rng = np.random.default_rng([seed, len(solution)])
    corrupted, drawn = [], []
    for rows, cols in solution:
        outside = np.setdiff1d(np.arange(n_rows), rows)
        n_new = min(max(1, round(REPLACED * len(rows))), len(outside), len(rows))
        kept = rng.permutation(rows)[n_new:]
        corrupted.append((np.concatenate([kept, rng.choice(outside, n_new, replace=False)]), cols))
        drawn.append((rng.choice(n_rows, len(rows), replace=False), rng.choice(n_cols, len(cols), replace=False)))
    return {"corrupted": Biclustering(corrupted, solution.shape), "random": Biclustering(drawn, solution.shape)}

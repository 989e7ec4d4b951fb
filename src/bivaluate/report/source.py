"""Where a report's content comes from: a run folder or a list of evaluations, in one shape."""

from __future__ import annotations

import math
import os
import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from bivaluate._errors import ParameterError
from bivaluate._text import distinct, given_command
from bivaluate._types import DataFrame, Floats
from bivaluate.algorithms.registry import algorithm_label
from bivaluate.enrichment.gene_sets import GeneSets, set_name
from bivaluate.enrichment.hypergeometric import Enrichment, enrich
from bivaluate.judge.choice import CANDIDATE, degenerate_reason, of_measure
from bivaluate.judge.limits import FEW_ALGORITHMS
from bivaluate.judge.verdict import NO_BICLUSTERS, Verdict, finding, first_members, judged, solution_steps, with_shares
from bivaluate.matrix import Matrix
from bivaluate.measures.workspace import EXPONENT
from bivaluate.solution import Biclustering

if TYPE_CHECKING:
    from bivaluate.sweep import Run

_NOT_MEASURES = frozenset({*CANDIDATE, "seed", "status", "reason", "variant", "run"})
_MOST_MATRICES = 40
ENDS = ("low", "mean", "high", "gap", "p_value")  # of a null band


@dataclass(frozen=True)
class Scored:
    """One scored solution: where it comes from and its measures.

    `label` is what the page calls the algorithm; if it `finds_k` itself, `k` is an upper bound. `values` holds the
    measures of the solution by key (NaN where undefined), `reasons` says why one is.
    """

    dataset: str
    algorithm: str
    k: int = 0
    seed: int | None = None
    status: str = "ok"
    reason: str = ""
    label: str = ""
    values: Mapping[str, float] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)
    finds_k: bool = False


@dataclass(frozen=True)
class Drawn:
    """What the page shows of one solution: its record, and what the pictures need."""

    matrix: Matrix
    solution: Biclustering
    records: Sequence[Mapping[str, Any]]
    mergers: Mapping[str, Floats]
    verdict: Verdict
    enrichment: Enrichment | None = None


class Null(NamedTuple):
    """The same algorithm and K on `runs` surrogates of a matrix: by measure `ENDS`, the central 90 % and the rest."""

    dataset: str
    algorithm: str
    k: int
    runs: int
    bands: Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Content:
    """Everything a report is built from; `load` and `records` take the position of a solution."""

    kind: str
    solutions: Sequence[Scored]
    load: Callable[[int], Drawn | None]
    records: Callable[[int], Sequence[Mapping[str, Any]]]
    missing: Sequence[str] = ()
    missing_copies: int = 0
    missing_by_dataset: Mapping[str, int] = field(default_factory=dict)
    planned_by_dataset: Mapping[str, int] = field(default_factory=dict)
    provenance: Mapping[str, str] = field(default_factory=dict)
    rerun: str = ""
    nulls: Sequence[Null] = ()
    choice_p: Callable[[str], Mapping[str, float]] = lambda measure: {}
    exponent: float = EXPONENT
    held_out: str = ""

    def with_sets(self, sets: GeneSets, genes: str) -> Content:
        """Return the same source, with enrichment in gene sets worked out for every solution that is drawn."""

        def named(drawn: Drawn) -> Drawn:
            shown, found = naming(drawn.verdict, drawn.solution, drawn.matrix, sets, genes)
            return replace(drawn, enrichment=found, verdict=shown)

        return self.drawn_as(named)

    def drawn_as(self, change: Callable[[Drawn], Drawn]) -> Content:
        """Return the same source, with a change to whatever is drawn."""
        return replace(self, load=lambda index: None if (drawn := self.load(index)) is None else change(drawn))


def naming(
    verdict: Verdict, solution: Biclustering, matrix: Matrix, sets: GeneSets, genes: str = "rows"
) -> tuple[Verdict, Enrichment]:
    """Return a verdict that names the best gene set of each bicluster, and all that was found."""
    found = enrich(solution, matrix, sets, genes=genes)
    best = [set_name(row["best"], row["title"]) if row["n_enriched"] else "" for row in found.biclusters]
    return with_shares(verdict, best) if verdict.biclusters else verdict, found


def read_source(source: Any) -> Content:
    """Return the source for a run (or its folder), an evaluation or a list of evaluations."""
    if isinstance(source, Content):
        return source
    if isinstance(source, (str, os.PathLike)) or all(hasattr(source, name) for name in ("results", "cells")):
        return from_run(source)
    evaluations = list(source) if isinstance(source, (list, tuple)) else [source]
    for evaluation in evaluations:
        if not all(hasattr(evaluation, name) for name in ("scores", "solution", "records", "verdict")):
            allowed = "a run folder, an evaluation or a list of evaluations"
            raise ParameterError(f"a report is built from {allowed}; found {type(evaluation).__name__}.")
    return from_evaluations(evaluations)


def from_evaluations(evaluations: Sequence[Any]) -> Content:
    """Return the source for evaluations, as made by :func:`bivaluate.evaluate`."""
    infos = [evaluation.solution.info for evaluation in evaluations]
    names = distinct([str(info.get("name") or info.get("command", "solution")) for info in infos])
    solutions = []
    for name, info, evaluation in zip(names, infos, evaluations, strict=True):
        found, dataset, asked = len(evaluation.solution), str(evaluation.matrix.name), info.get("k")
        k = asked if isinstance(asked, int) else found
        reason = degenerate_reason({"n_biclusters": found, "n_undefined": len(evaluation.undefined)})
        status = "degenerate" if reason else "ok"
        values = {key: float(value) for key, value in evaluation.scores.items()}
        own = k != asked or info.get("command") == "find"  # no K was asked for
        solutions.append(Scored(dataset, name, k, None, status, reason, name, values, dict(evaluation.status), own))

    def load(index: int) -> Drawn:
        e = evaluations[index]
        return Drawn(e.matrix, e.solution, e.records, e.mergers, e.verdict)

    exponent = evaluations[0].options.exponent if evaluations else EXPONENT
    own = [evaluation.records for evaluation in evaluations]
    return Content("evaluations", solutions, load, own.__getitem__, rerun=given_command(), exponent=exponent)


def from_run(source: Run | str | os.PathLike[str]) -> Content:
    """Return the source for a run or its folder; unfinished cells are named, not an error."""
    from bivaluate.sweep import Cell, load_run
    from bivaluate.sweep.again import held_out_command, matrix_words
    from bivaluate.sweep.folder import solution_path
    from bivaluate.sweep.select import remember_own

    run = load_run(source) if isinstance(source, (str, os.PathLike)) else source
    remember_own(run)
    solutions, cells = [], []
    for row in _rows(run.results):
        cells.append(Cell(row["dataset"], row["algorithm"], int(row["k"]), int(row["seed"])))
        solutions.append(_scored(row))
    records = _records(run.biclusters)

    def load(index: int) -> Drawn | None:
        if solutions[index].status not in ("ok", "degenerate"):
            return None
        cell = cells[index]
        matrix, solution, mine = run.matrix(cell.dataset, cell.seed), run.solution(cell), records.get(cell, [])
        return Drawn(matrix, solution, mine, run.mergers(cell), verdict(cell, matrix, solution, mine))

    def verdict(cell: Cell, matrix: Matrix, solution: Biclustering, mine: Sequence[Mapping[str, Any]]) -> Verdict:
        file = solution_path(run.path, *cell)
        words = matrix_words(run, cell.dataset, cell.seed)
        place = (words, shlex.quote(str(file)) if file.exists() else "SOLUTION")
        omits, tried = run.plan.score.get("missing") == "omit", {other.algorithm for other in cells}
        steps = solution_steps(mine, matrix, place, searched="find" in tried, omits=omits)
        if len(tried) < FEW_ALGORITHMS and "find" not in tried:
            steps = list(dict.fromkeys([*steps[:1], finding(words, omits)]))
        notes = [text for text in run.findings(cell) if text != NO_BICLUSTERS]
        members = first_members(matrix, solution)
        return judged(mine, nouns=matrix.nouns, steps=steps, notes=notes, members=members)

    again = f"bivaluate sweep --plan {run.path.name}/plan.toml --out NEW_FOLDER"
    return Content(
        kind="run",
        solutions=solutions,
        load=load,
        records=lambda index: records.get(cells[index], []),
        missing=[f"{c.dataset}, {algorithm_label(c.algorithm)}, K = {c.k}, seed {c.seed}" for c in run.missing],
        missing_copies=run.missing_copies,
        missing_by_dataset=Counter(cell.dataset for cell in run.missing),
        planned_by_dataset=Counter(cell.dataset for cell in run.cells),
        provenance=_provenance(run.provenance),
        rerun=str(run.provenance.get("command") or again),
        nulls=_nulls(run),
        choice_p=cache(partial(_choice_p, run)),
        exponent=float(run.plan.score.get("exponent", EXPONENT)),
        held_out=held_out_command(run),
    )


def _scored(row: Mapping[Any, Any]) -> Scored:
    from bivaluate.sweep.select import is_own_k

    dataset, algorithm, status = (str(row[name]) for name in ("dataset", "algorithm", "status"))
    measures = {str(key): value for key, value in row.items() if key not in _NOT_MEASURES}
    values = {key: math.nan if value is None else float(value) for key, value in measures.items()}
    label, own, reason = algorithm_label(algorithm), is_own_k(algorithm), str(row["reason"] or "")
    return Scored(dataset, algorithm, int(row["k"]), int(row["seed"]), status, reason, label, values, finds_k=own)


def _rows(table: DataFrame) -> list[dict[Any, Any]]:
    """Return the rows of a table, None where a value is missing."""
    return table.astype(object).where(table.notna(), None).to_dict("records")


def _records(table: DataFrame) -> dict[tuple[str, str, int, int], list[dict[str, Any]]]:
    place = [*CANDIDATE, "seed"]
    grouped: dict[tuple[str, str, int, int], list[dict[str, Any]]] = {}
    for row in _rows(table):
        dataset, algorithm, k, seed = (row.pop(key) for key in place)
        grouped.setdefault((dataset, algorithm, int(k), int(seed)), []).append(row)
    return grouped


def _choice_p(run: Any, measure: str) -> dict[str, float]:
    """Return the p-value of the choice by a measure, per data set."""
    from bivaluate.sweep.copies import choice_p_values

    return choice_p_values(of_measure(run.results, measure), run.variants, str(run.plan.null), measure)


def _nulls(run: Any) -> list[Null]:
    """Return the null bands of the run's own table, gathered over seeds as ``bivaluate select`` shows them."""
    from bivaluate.sweep.copies import band

    table = run.null
    if not len(table):
        return []
    runs = table.groupby(CANDIDATE, sort=False)["null_runs"].max()
    bands: dict[Any, dict[str, dict[str, float]]] = {key: {} for key in runs.index}
    for measure in table["measure"].unique():
        for row in band(table, measure).to_dict("records"):
            values = {end: float(row[end] if end in row else row[f"null_{end}"]) for end in ENDS}
            bands[tuple(row[name] for name in CANDIDATE)][measure] = values
    return [
        Null(dataset, algorithm_label(algorithm), int(k), int(runs[dataset, algorithm, k]), found)
        for (dataset, algorithm, k), found in bands.items()
    ]


def _provenance(provenance: Mapping[str, Any]) -> dict[str, str]:
    """Return what fits into a two-column table; the folder's provenance.json has the rest."""
    shown: dict[str, str] = {}
    for key, value in provenance.items():
        if isinstance(value, Mapping) and key == "packages":
            shown[key] = ", ".join(f"{name} {version}" for name, version in value.items())
        elif isinstance(value, (str, int, float)) and value != "":
            shown[key.replace("_", " ")] = str(value)
    matrices: Sequence[Mapping[str, Any]] = provenance.get("matrices", [])
    for entry in matrices[:_MOST_MATRICES]:
        seed = "" if entry.get("seed") is None else f", seed {entry['seed']}"
        size = f"{entry.get('n_rows')} × {entry.get('n_cols')}"
        shown[f"matrix {entry.get('dataset')}{seed}"] = f"{size}, SHA-256 {str(entry.get('checksum', ''))[:16]}…"
    if len(matrices) > _MOST_MATRICES:
        shown["more matrices"] = f"{len(matrices) - _MOST_MATRICES} more in provenance.json"
    return shown

"""Where a report's content comes from: a run folder or a list of evaluations, in one shape."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bivaluate._errors import ParameterError
from bivaluate.matrix import Matrix
from bivaluate.solution import Biclustering

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Scored:
    """One scored solution: where it comes from and its measures.

    `values` holds the solution-level measures by key (NaN where undefined), `reasons` says why one is.
    """

    dataset: str
    algorithm: str
    k: int | None = None
    seed: int | None = None
    status: str = "ok"
    reason: str = ""
    values: Mapping[str, float] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Drawn:
    """What the pictures of one solution need."""

    matrix: Matrix
    solution: Biclustering
    records: Sequence[Mapping[str, Any]]
    mergers: Mapping[str, NDArray[np.float64]]
    findings: Sequence[str]


@dataclass(frozen=True)
class Band:
    """One measure beside its null: the central 90 % of the surrogates, their mean, the gap to it and its p-value."""

    low: float
    mean: float
    high: float
    gap: float
    p_value: float


@dataclass(frozen=True)
class Null:
    """The same algorithm and K on `runs` surrogates of a matrix, by measure."""

    dataset: str
    algorithm: str
    k: int
    runs: int
    bands: Mapping[str, Band]


@dataclass(frozen=True)
class Source:
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


def read_source(source: Any) -> Source:
    """Return the source for a run (or its folder), an evaluation or a list of evaluations."""
    from bivaluate.report import run_source

    if isinstance(source, Source):
        return source
    if run_source.is_run(source):
        return run_source.from_run(source)
    evaluations = list(source) if isinstance(source, (list, tuple)) else [source]
    for evaluation in evaluations:
        if not all(hasattr(evaluation, name) for name in ("scores", "solution", "records", "mergers")):
            raise ParameterError(
                f"a report is built from a run folder, an evaluation or a list of evaluations; found {type(evaluation).__name__}."
            )
    return from_evaluations(evaluations)


def from_evaluations(evaluations: Sequence[Any]) -> Source:
    """Return the source for evaluations, as made by :func:`bivaluate.evaluate`."""
    names = _distinct([str(e.solution.info.get("name") or "solution") for e in evaluations])
    solutions = [
        Scored(
            dataset=str(evaluation.matrix.name),
            algorithm=name,
            k=len(evaluation.solution),
            status=_status(evaluation),
            reason="no bicluster" if len(evaluation.solution) == 0 else "",
            values={key: _float(value) for key, value in evaluation.scores.items()},
            reasons={str(key): str(why) for key, why in evaluation.status.items()},
        )
        for name, evaluation in zip(names, evaluations, strict=True)
    ]

    def load(index: int) -> Drawn:
        evaluation = evaluations[index]
        return Drawn(
            evaluation.matrix, evaluation.solution, evaluation.records, evaluation.mergers, evaluation.findings
        )

    return Source("evaluations", solutions, load, lambda index: evaluations[index].records)


def _status(evaluation: Any) -> str:
    undefined = _float(evaluation.scores.get("n_undefined", 0))
    return "degenerate" if undefined > 0 or len(evaluation.solution) == 0 else "ok"


def _distinct(names: Sequence[str]) -> list[str]:
    """Number repeated names: ``a, a`` becomes ``a, a (2)``."""
    seen: dict[str, int] = {}
    distinct = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        distinct.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return distinct


def _float(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan

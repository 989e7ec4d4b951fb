"""A run folder as the source of a report."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bivaluate.plots.style import algorithm_name
from bivaluate.report.source import Band, Drawn, Null, Scored, Source

if TYPE_CHECKING:
    import pandas as pd

    from bivaluate.sweep import Run

_NOT_MEASURES = frozenset({"dataset", "algorithm", "k", "seed", "status", "reason", "variant", "run"})


def is_run(source: Any) -> bool:
    """Whether `source` is a run or the path of one."""
    return isinstance(source, (str, os.PathLike)) or all(
        hasattr(source, name) for name in ("results", "biclusters", "missing", "mergers")
    )


def from_run(source: Run | str | os.PathLike[str]) -> Source:
    """Return the source for a run or its folder; unfinished cells are named, not an error."""
    from bivaluate.sweep import Cell, load_run

    run = load_run(source) if isinstance(source, (str, os.PathLike)) else source
    solutions, cells = [], []
    for row in run.results.to_dict("records"):
        cells.append(Cell(row["dataset"], row["algorithm"], int(row["k"]), int(row["seed"])))
        solutions.append(_scored(row))
    records = _records(run.biclusters)

    def load(index: int) -> Drawn | None:
        if solutions[index].status not in ("ok", "degenerate"):
            return None
        cell = cells[index]
        return Drawn(
            run.matrix(cell.dataset, cell.seed),
            run.solution(cell),
            records.get(cell, []),
            run.mergers(cell),
            run.findings(cell),
        )

    return Source(
        kind="run",
        solutions=solutions,
        load=load,
        records=lambda index: records.get(cells[index], []),
        missing=[_named(cell) for cell in run.missing],
        missing_copies=run.missing_copies,
        missing_by_dataset=_counted(cell.dataset for cell in run.missing),
        planned_by_dataset=_counted(cell.dataset for cell in run.cells),
        provenance=_provenance(run.provenance),
        rerun=_command(run.provenance, run.path),
        nulls=_nulls(run),
    )


def _scored(row: Mapping[Any, Any]) -> Scored:
    reason = "" if _absent(row.get("reason")) else str(row["reason"])
    return Scored(
        dataset=str(row["dataset"]),
        algorithm=algorithm_name(str(row["algorithm"])),
        k=int(row["k"]),
        seed=int(row["seed"]),
        status=str(row["status"]),
        reason=reason,
        values={
            str(key): math.nan if _absent(value) else float(value)
            for key, value in row.items()
            if key not in _NOT_MEASURES
        },
    )


def _absent(value: Any) -> bool:
    import pandas as pd

    return value is None or bool(pd.isna(value))


def _records(table: pd.DataFrame) -> dict[tuple[str, str, int, int], list[dict[str, Any]]]:
    keys = ["dataset", "algorithm", "k", "seed"]
    grouped: dict[tuple[str, str, int, int], list[dict[str, Any]]] = {}
    for row in table.to_dict("records"):
        place = (row["dataset"], row["algorithm"], int(row["k"]), int(row["seed"]))
        record = {str(key): None if _absent(value) else value for key, value in row.items() if key not in keys}
        grouped.setdefault(place, []).append(record)
    return grouped


def _named(cell: Any) -> str:
    return f"{cell.dataset}, {algorithm_name(cell.algorithm)}, K = {cell.k}, seed {cell.seed}"


def _counted(names: Any) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return counts


def _nulls(run: Any) -> list[Null]:
    """Return the null bands of the run's own table, gathered over seeds as ``bivaluate select`` shows them."""
    from bivaluate.sweep.null import band

    table = run.null
    if not len(table):
        return []
    place = ["dataset", "algorithm", "k"]
    runs = table.groupby(place, sort=False)["null_runs"].max()
    bands: dict[Any, dict[str, Band]] = {key: {} for key in runs.index}
    for measure in table["measure"].unique():
        for row in band(table, measure).to_dict("records"):
            values = (row[name] for name in ("null_low", "null_mean", "null_high", "gap", "p_value"))
            bands[tuple(row[name] for name in place)][measure] = Band(*map(float, values))
    return [
        Null(dataset, algorithm_name(algorithm), int(k), int(runs[dataset, algorithm, k]), found)
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
    for entry in matrices[:40]:
        seed = "" if entry.get("seed") is None else f", seed {entry['seed']}"
        size = f"{entry.get('n_rows')} × {entry.get('n_cols')}"
        shown[f"matrix {entry.get('dataset')}{seed}"] = f"{size}, sha256 {str(entry.get('checksum', ''))[:16]}…"
    if len(matrices) > 40:
        shown["more matrices"] = f"{len(matrices) - 40} more in provenance.json"
    return shown


def _command(provenance: Mapping[str, Any], folder: Path) -> str:
    """Return the command of the run, or one that repeats it where Python code started it."""
    return str(provenance.get("command") or f"bivaluate sweep --plan {folder.name}/plan.toml --out NEW_FOLDER")

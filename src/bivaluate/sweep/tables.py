"""The tidy tables of a run, made from its journal in the order of the plan."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bivaluate.sweep.folder import PROVENANCE, SOLUTIONS, file_name, write_whole
from bivaluate.sweep.journal import Journal, disk_error, unpack_solution
from bivaluate.sweep.null import null_table
from bivaluate.sweep.plan import Cell

if TYPE_CHECKING:
    import pandas as pd

CELL = ["dataset", "algorithm", "k", "seed"]
OUTCOME = ["status", "reason", "n_biclusters", "n_undefined"]
BICLUSTER = ["bicluster", "n_rows", "n_cols", "size"]
LAST = ["partner", "status"]


def results(journal: Journal) -> pd.DataFrame:
    """One row per finished cell."""
    rows = (
        dict(zip(CELL, cell, strict=True)) | {"status": status, "reason": reason} | json.loads(scores)
        for *cell, status, reason, scores in journal.rows("dataset, algorithm, k, seed, status, reason, scores")
    )
    return _frame(rows, CELL + OUTCOME)


def variants(journal: Journal) -> pd.DataFrame:
    """One row per finished cell of a surrogate or perturbed matrix."""
    columns = "variant, run, dataset, algorithm, k, seed, status, reason, scores"
    rows = (
        dict(zip(["variant", "run", *CELL], cell, strict=True))
        | {"status": status, "reason": reason}
        | json.loads(scores)
        for *cell, status, reason, scores in journal.rows(columns, variants=True)
    )
    return _frame(rows, ["variant", "run", *CELL, *OUTCOME])


def biclusters(journal: Journal) -> pd.DataFrame:
    """One row per bicluster of every finished cell."""
    rows = (
        dict(zip(CELL, cell, strict=True)) | record
        for *cell, records in journal.rows("dataset, algorithm, k, seed, biclusters")
        for record in json.loads(records)
    )
    return _frame(rows, CELL + BICLUSTER, LAST)


def times(journal: Journal) -> pd.DataFrame:
    """Seconds spent per finished cell."""
    rows = (
        dict(zip([*CELL, "fit_seconds", "score_seconds"], row, strict=True))
        for row in journal.rows("dataset, algorithm, k, seed, fit_seconds, score_seconds")
    )
    return _frame(rows, [*CELL, "fit_seconds", "score_seconds"])


def null(journal: Journal) -> pd.DataFrame:
    """Every score beside the same score on surrogates."""
    kind = json.loads(journal.meta["plan"])["null"]
    per_seed = {entry["dataset"] for entry in journal.matrices() if entry["seed"] is not None}
    return null_table(results(journal), variants(journal), kind, per_seed)


def provenance(journal: Journal) -> dict[str, Any]:
    """Versions, command and seeds, checksums of the matrices, sessions."""
    meta = journal.meta
    return {
        **json.loads(meta["provenance"]),
        "layout": int(meta["layout"]),
        "plan": json.loads(meta["plan"]),
        "matrices": [{key: value for key, value in entry.items() if key != "truth"} for entry in journal.matrices()],
        "sessions": journal.sessions(),
    }


def export(journal: Journal, folder: Path) -> list[Path]:
    """Write all tables, the provenance and the solutions; return what was written."""
    frames = {"results": results(journal), "biclusters": biclusters(journal), "times": times(journal)}
    copies = variants(journal)
    if len(copies):
        frames["variants"] = copies
        compared = null(journal)
        if len(compared):
            frames["null"] = compared
    written = []
    for name, frame in frames.items():
        path = folder / f"{name}.csv"
        write_whole(path, frame.to_csv(index=False, lineterminator="\n"))
        written.append(path)
        if has_pyarrow():
            buffer = io.BytesIO()
            frame.to_parquet(buffer, index=False)
            write_whole(path.with_suffix(".parquet"), buffer.getvalue())
            written.append(path.with_suffix(".parquet"))
    write_whole(folder / PROVENANCE, json.dumps(provenance(journal), indent=1) + "\n")
    _export_solutions(journal, folder)
    return [*written, folder / PROVENANCE, folder / SOLUTIONS]


def solution_path(folder: Path, cell: Cell) -> Path:
    """Return where the solution of a cell is exported."""
    name = f"{file_name(cell.algorithm)}-k{cell.k}-seed{cell.seed}.json"
    return folder / SOLUTIONS / file_name(cell.dataset) / name


def _export_solutions(journal: Journal, folder: Path) -> None:
    for *cell, blob in journal.rows("dataset, algorithm, k, seed, solution"):
        path = solution_path(folder, Cell(*cell))
        if blob is None or path.exists():
            continue
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise disk_error(folder, error) from error
        write_whole(path, json.dumps(unpack_solution(blob).to_dict()) + "\n")


def has_pyarrow() -> bool:
    """Whether Parquet tables can be written."""
    from importlib.util import find_spec

    return find_spec("pyarrow") is not None


def _frame(rows: Iterable[dict[str, Any]], first: list[str], last: Iterable[str] = ()) -> pd.DataFrame:
    import pandas as pd

    listed = list(rows)
    seen = dict.fromkeys(key for row in listed for key in row)
    middle = [key for key in seen if key not in first and key not in last]
    columns = first + middle + [key for key in last if key in seen]
    frame = pd.DataFrame.from_records(listed, columns=columns)
    for column in ("n_biclusters", "n_undefined"):
        if column in frame:
            frame[column] = frame[column].astype("Int64")
    return frame

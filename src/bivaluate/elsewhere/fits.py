"""Several matrices: rows matched by label, one algorithm fitted to each as a sweep, the best solutions of a run."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bivaluate._errors import ParameterError
from bivaluate._text import Advice, Option, first_few, plural
from bivaluate._types import Ints
from bivaluate.matrix import Matrix
from bivaluate.solution import Biclustering

if TYPE_CHECKING:
    from bivaluate.sweep import Run

Progress = Callable[[int, int], None]
Search = tuple[str, int, Mapping[str, Any]]  # algorithm, K and parameters


def folded(label: str) -> str:
    """Return a label without its case and its version suffix."""
    return re.sub(r"\.\d+$", "", label.strip()).upper()


def match_rows(A: Matrix, B: Matrix, loose: bool = False) -> tuple[Ints, list[str]]:
    """Return for each row of A the row of B with the same label, -1 for none, and notes on what was not matched.

    Labels must be equal; with `loose`, up to case and version suffix. Of duplicates the first row is taken. Two
    matrices without labels and with as many rows are matched by position.
    """
    first, second = A.row_labels, B.row_labels
    if first is None and second is None and A.shape[0] == B.shape[0]:
        return np.arange(A.shape[0]), ["Neither matrix has row labels: rows are matched by position."]
    if first is None or second is None:
        name = (A if first is None else B).name
        raise ParameterError(f"{name} has no row labels: rows can only be matched by label. Read it with them.")
    exact, close = places(first, second), places([*map(folded, first)], [*map(folded, second)])
    n_exact, n_close = (int((found >= 0).sum()) for found in (exact, close))
    how = (" up to case and version suffix: to match them pass ", Option("loose", True), ".")
    if not (n_close if loose else n_exact):
        found = no_shared_labels([A.name, B.name], [first, second])
        raise ParameterError(Advice(found, *((f" {plural(n_close, 'row')} would match", *how) if n_close else ())))
    notes: list[str] = []
    if not loose and n_close > n_exact:
        notes.append(Advice(f"{plural(n_close - n_exact, 'more row')} would match", *how))
    for name, labels in ((A.name, first), (B.name, second)):
        if doubled := len(labels) - len(set(labels)):
            notes.append(f"{name} has {plural(doubled, 'duplicate row label')}: the first row of each was used.")
    return close if loose else exact, notes


def places(first: Sequence[str], second: Sequence[str]) -> Ints:
    """Return where each label stands in the second list, -1 for nowhere; of duplicates only the first has a place."""
    there = {label: j for j, label in reversed(list(enumerate(second)))}
    return np.array([there.pop(label, -1) for label in first], dtype=np.int64)


def no_shared_labels(names: Sequence[str], labels: Sequence[Sequence[str]], what: str = "row label") -> str:
    """Return what is said of things that share no label, with three labels of each."""
    shown = "; ".join(f"{name}: {first_few(list(own), 3)}" for name, own in zip(names, labels, strict=True))
    return f"no {what} is shared ({shown}). Are these names of the same kind?"


def columns_of(matrix: Matrix, cols: Any, name: str) -> Matrix:
    """Return some columns, by a slice or by number; sparse stays sparse."""
    cells = matrix.to_scipy() if matrix.sparse else matrix.values
    labels = None if matrix.col_labels is None else tuple(np.array(matrix.col_labels, dtype=object)[cols])
    return Matrix(cells[:, cols], matrix.row_labels, labels, name, matrix.absent)


def fit_each(
    matrices: Iterable[Matrix], search: Search, seed: int, folder: Any, jobs: int, progress: Progress | None
) -> tuple[list[Biclustering | None], list[str]]:
    """Return the solution of each matrix, None where the fit failed, and why fits failed."""
    from bivaluate.io import write_matrix
    from bivaluate.sweep import Plan, Sweep
    from bivaluate.sweep.folder import checksum

    algorithm, k, parameters = search
    with tempfile.TemporaryDirectory(prefix="bivaluate-fits-") as temporary:
        where = Path(folder or temporary)
        (where / "matrices").mkdir(parents=True, exist_ok=True)
        paths = []
        for i, matrix in enumerate(matrices):
            plain = Matrix(matrix.source, absent=matrix.absent)  # what is fitted has no labels
            paths.append(where / "matrices" / f"{i}_{checksum(plain)[:12]}.npz")
            if not paths[-1].exists():
                write_matrix(plain, paths[-1])
        how: dict[str, Any] = {"parameters": {algorithm: parameters}, "score": {"missing": "omit"}}
        plan = Plan(list(map(str, paths)), [algorithm], k, [seed], metrics=["n_biclusters"], **how)
        tell = None if progress is None else lambda done, total, cell: progress(done, total)
        run = Sweep(plan, where / "run", jobs=jobs, progress=tell).run()
        lost = run.results.loc[run.results["status"].isin(["failed", "timed out"])].set_index("dataset")["reason"]
        found = [None if cell.dataset in lost.index else run.solution(cell) for cell in run.cells]
        return found, [str(reason) for reason in lost]


def best_of_run(
    run: Run, algorithm: str | None = None, k: int | None = None, by: str | None = None
) -> dict[str, tuple[Biclustering, Matrix]]:
    """Return of every data set of a run its best solution, among those of the algorithm and K asked for, and matrix."""
    from bivaluate.registry import get_metric
    from bivaluate.sweep import Cell

    table = run.results[run.results["status"] == "ok"]
    for name, value in (("algorithm", algorithm), ("k", k)):
        table = table if value is None else table[table[name] == value]
    if not len(table):
        raise ParameterError(f"{run.path} holds no finished solution of this algorithm and K.")
    by = by or ("total_evidence" if "total_evidence" in table else "n_biclusters")
    order = table.sort_values(by, ascending=get_metric(by).direction == "low", kind="stable")
    best = order.drop_duplicates("dataset").sort_index()[["dataset", "algorithm", "k", "seed"]]
    cells = [Cell(*place) for place in best.itertuples(index=False)]
    return {cell.dataset: (run.solution(cell), run.matrix(cell.dataset, cell.seed)) for cell in cells}

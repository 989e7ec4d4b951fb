"""One algorithm on many matrices, as a sweep whose data sets they are: parallel, and continued where it was stopped."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bivaluate._errors import ParameterError
from bivaluate.matrix import Matrix
from bivaluate.solution import Biclustering

if TYPE_CHECKING:
    from bivaluate.sweep import Run

Progress = Callable[[int, int], None]


def fit_each(
    matrices: Iterable[Matrix],
    algorithm: str,
    k: int,
    parameters: Mapping[str, Any],
    seed: int = 0,
    folder: str | Path | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> tuple[list[Biclustering | None], list[str]]:
    """Return the solution of each matrix, None where the fit failed, and why fits failed."""
    from bivaluate.io import write_matrix
    from bivaluate.sweep import Plan, Sweep
    from bivaluate.sweep.folder import checksum

    with tempfile.TemporaryDirectory(prefix="bivaluate-fits-") as temporary:
        where = Path(folder or temporary)
        (where / "matrices").mkdir(parents=True, exist_ok=True)
        paths = []
        for i, matrix in enumerate(matrices):
            plain = Matrix(matrix.source, absent=matrix.absent)  # what is fitted has no labels
            paths.append(where / "matrices" / f"{i}_{checksum(plain)[:12]}.npz")
            if not paths[-1].exists():
                write_matrix(plain, paths[-1])
        plan = Plan(
            list(map(str, paths)),
            [algorithm],
            k,
            [seed],
            metrics=["n_biclusters"],
            parameters={algorithm: parameters},
            score={"missing": "omit"},
        )
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

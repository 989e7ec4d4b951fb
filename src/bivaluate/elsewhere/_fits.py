"""One algorithm on many matrices, as a sweep whose data sets they are: parallel, and continued where it was stopped."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bivaluate.matrix import Matrix
from bivaluate.solution import Biclustering

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Fits:
    """How to fit: algorithm, K, parameters and seed; the folder to continue in, processes, whom to tell."""

    algorithm: str
    k: int
    parameters: Mapping[str, Any]
    seed: int = 0
    folder: str | Path | None = None
    jobs: int = 1
    progress: Progress | None = None

    def run(self, makers: Sequence[Callable[[], Matrix]]) -> tuple[list[Biclustering | None], list[str]]:
        """Return the solution of each matrix, None where the fit failed, and why fits failed."""
        from bivaluate.io import write_matrix
        from bivaluate.sweep import Plan, Sweep

        with tempfile.TemporaryDirectory(prefix="bivaluate-fits-") as temporary:
            where = Path(temporary) if self.folder is None else Path(self.folder)
            (where / "matrices").mkdir(parents=True, exist_ok=True)
            paths = [where / "matrices" / f"matrix_{i}.npz" for i in range(len(makers))]
            for path, make in zip(paths, makers, strict=True):
                if not path.exists():
                    write_matrix(make(), path)
            plan = Plan(
                list(map(str, paths)),
                [self.algorithm],
                self.k,
                [self.seed],
                metrics=["n_biclusters"],
                parameters={self.algorithm: self.parameters},
                score={"missing": "omit"},
            )
            run = Sweep(plan, where / "run", jobs=self.jobs, progress=self._tell if self.progress else None).run()
            lost = run.results.loc[run.results["status"].isin(["failed", "timed out"])].set_index("dataset")["reason"]
            found = [None if cell.dataset in lost.index else run.solution(cell) for cell in run.cells]
            return found, [str(reason) for reason in lost]

    def _tell(self, done: int, total: int, cell: object) -> None:
        assert self.progress is not None
        self.progress(done, total)

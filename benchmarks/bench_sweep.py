"""Sweeps: overhead per cell, and two jobs against one on the yeast sweep.

python -m benchmarks.bench_sweep
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.timing import Comparison, print_table, seconds
from bivaluate.solution import Biclustering
from bivaluate.sweep import Plan, Sweep, load_run
from bivaluate.sweep.workers import kept_workers

KS = (3, 5, 8, 10, 15)
ALGORITHMS = ("cca", "las", "spectral")
OVERHEAD_CELLS = 800
N_SEEDS = 4


class Nothing:
    """Two fixed blocks at no cost: what is left is the machinery."""

    def __init__(self, n_biclusters: int = 2) -> None:
        self.n_biclusters = n_biclusters

    def fit(self, X: Any) -> Nothing:
        self.solution_ = Biclustering([([0, 1, 2], [0, 1, 2]), ([3, 4, 5], [3, 4, 5])], X.shape)
        return self


def overhead(jobs: int) -> float:
    """Return the seconds per cell that are neither fitting nor scoring nor starting and exporting."""
    plan = Plan(["scenario:S9b"], ["benchmarks.bench_sweep:Nothing"], [2], seeds=OVERHEAD_CELLS // 4)
    with tempfile.TemporaryDirectory() as folder:
        stamps: list[float] = []
        Sweep(plan, Path(folder) / "run", jobs=jobs, progress=lambda *_: stamps.append(time.perf_counter())).run()
        times = load_run(Path(folder) / "run").times[["fit_seconds", "score_seconds"]].sum(axis=1)
    # The first cells wait for the workers to start.
    first = 20
    busy = float(times.iloc[first:].sum()) / jobs
    return max(0.0, stamps[-1] - stamps[first - 1] - busy) / (len(stamps) - first)


def yeast_seconds(jobs: int, n_seeds: int) -> float:
    """Return the wall time of the yeast sweep on started workers."""
    plan = Plan(["yeast:*"], ALGORITHMS, KS, seeds=n_seeds)
    warm = Plan(["scenario:S9b"], ALGORITHMS, [2, 3], seeds=2 * jobs)
    with tempfile.TemporaryDirectory() as folder, kept_workers():
        Sweep(warm, Path(folder) / "warm", jobs=jobs).run()
        begin = time.perf_counter()
        Sweep(plan, Path(folder) / "run", jobs=jobs).run()
        return time.perf_counter() - begin


def main() -> list[Comparison]:
    """Measure and print."""
    print("\nscheduling overhead per cell (must be below 5 ms)")
    for jobs in (1, 2):
        print(f"  {jobs} job(s): {seconds(overhead(jobs))}")
    one, two = (yeast_seconds(jobs, N_SEEDS) for jobs in (1, 2))
    work = f"yeast sweep, 17 matrices, {N_SEEDS} seeds, two jobs"
    return print_table("sweeps", [Comparison(work, "one job", one, two, must=1.7)])


if __name__ == "__main__":
    main()

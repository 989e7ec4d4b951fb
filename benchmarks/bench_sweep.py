"""Sweeps: overhead per cell, two jobs against one, and the paper's workload against biclustlib and NumPy.

python -m benchmarks.bench_sweep [--seeds 10] [--yeast 17] [--only overhead,jobs,paper]

The last part needs biclustlib 0.0.13 and bottleneck in a folder on PYTHONPATH; without them it says so.
"""

from __future__ import annotations

import argparse
import importlib.util
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing import Comparison, in_fresh_process, print_table, seconds
from bivaluate.experiment import Plan, Sweep, load_run
from bivaluate.experiment.data import load_checked, sources
from bivaluate.experiment.local import perform_parallel
from bivaluate.experiment.schedule import make_tasks
from bivaluate.matrix import Matrix
from bivaluate.solution import Biclustering
from tests.reference import internal as naive

KS = (3, 5, 8, 10, 15)
ALGORITHMS = ("cca", "las", "spectral")
OVERHEAD_CELLS = 2000


class Nothing:
    """Two fixed blocks at no cost: what is left is the machinery."""

    def __init__(self, n_biclusters: int = 2) -> None:
        self.n_biclusters = n_biclusters

    def fit(self, X: Any) -> Nothing:
        self.solution_ = Biclustering.from_indices([([0, 1, 2], [0, 1, 2]), ([3, 4, 5], [3, 4, 5])], X.shape)
        return self


def overhead(jobs: int) -> float:
    """Return the seconds per cell that are neither fitting nor scoring nor starting and exporting."""
    plan = Plan(["scenario:S9b"], ["benchmarks.bench_sweep:Nothing"], [2], seeds=OVERHEAD_CELLS // 4)
    with tempfile.TemporaryDirectory() as folder:
        stamps: list[float] = []
        Sweep(
            plan, Path(folder) / "run", jobs=jobs, progress=lambda *_: stamps.append(time.perf_counter())
        ).run()
        times = load_run(Path(folder) / "run").times[["fit_seconds", "score_seconds"]].sum(axis=1)
    # The first cells wait for the workers to start.
    first = 20
    busy = float(times.iloc[first:].sum()) / jobs
    return max(0.0, stamps[-1] - stamps[first - 1] - busy) / (len(stamps) - first)


def yeast_names(n: int) -> list[str]:
    """Return the first n yeast data sets."""
    return [source.spec for source in sources(Plan(["yeast:*"], ["cca"]))][:n]


def yeast_seconds(jobs: int, n_yeast: int, n_seeds: int) -> float:
    """Return the wall time of the yeast sweep on started workers."""
    plan = Plan(yeast_names(n_yeast), ALGORITHMS, KS, seeds=n_seeds)
    warm = Plan(["scenario:S9b"], ALGORITHMS, [2, 3], seeds=2 * jobs)
    matrices = {
        (source.name, seed): load_checked(source, seed)[0]
        for p in (plan, warm)
        for source in sources(p)
        for seed in (range(2 * jobs) if source.per_seed else [None])
    }
    starting, working = make_tasks(warm), make_tasks(plan)
    begin, left = 0.0, len(starting)
    for _ in perform_parallel([*starting, *working], lambda task: matrices[task.matrix_key], "", jobs, None):
        left -= 1
        if left == 0:
            begin = time.perf_counter()
    return time.perf_counter() - begin


def paper_plans(n_yeast: int) -> list[Plan]:
    """Return the paper-like workload: ten scenarios at their K, yeast sets over five K; one seed."""
    return [Plan(["scenario:*"], ALGORITHMS, "planted"), Plan(yeast_names(n_yeast), ALGORITHMS, KS)]


def ours_cpu(n_yeast: int) -> float:
    """Return the CPU time of the paper-like workload, run as a user would, kernels compiled before."""
    with tempfile.TemporaryDirectory() as folder:
        Sweep(Plan(["scenario:S1"], ALGORITHMS, [2]), Path(folder) / "warm").run()
        begin = time.process_time()
        for number, plan in enumerate(paper_plans(n_yeast)):
            Sweep(plan, Path(folder) / str(number)).run()
        return time.process_time() - begin


def peer_cpu(n_yeast: int) -> float:
    """Return the CPU time of biclustlib (CCA, LAS), scikit-learn (spectral) and naive measures, every K afresh."""
    import random
    import warnings

    from threadpoolctl import threadpool_limits

    for name, kind in (("int", int), ("float", float), ("bool", bool)):
        if not hasattr(np, name):
            setattr(np, name, kind)
    from biclustlib.algorithms import ChengChurchAlgorithm, LargeAverageSubmatrices
    from sklearn.cluster import SpectralBiclustering

    work: list[tuple[Matrix, int]] = []
    for plan in paper_plans(n_yeast):
        for source in sources(plan):
            matrix, truth = load_checked(source, 0 if source.per_seed else None)
            work += [(matrix, k) for k in ([len(truth)] if truth is not None else KS)]
    random.seed(0)
    begin = time.process_time()
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for matrix, k in work:
            X = matrix.values
            for algorithm in (
                ChengChurchAlgorithm(num_biclusters=k),
                LargeAverageSubmatrices(num_biclusters=k),
            ):
                score_naively(X, [(b.rows, b.cols) for b in algorithm.run(X).biclusters])
            if k <= min(X.shape):
                try:
                    board = SpectralBiclustering(n_clusters=k, random_state=0).fit(X)
                except ValueError:
                    continue
                score_naively(X, [board.get_indices(i) for i in range(k)])
    return time.process_time() - begin


def score_naively(X: np.ndarray, pairs: list[tuple[np.ndarray, np.ndarray]]) -> None:
    """ASR, AvgVE, NSR, NVE, coverage and NVE_cov from the formulas."""
    pairs = [(rows, cols) for rows, cols in pairs if len(rows) and len(cols)]
    if len(pairs) < 2:
        return
    V, _ = naive.mergers(X, pairs)
    naive.normalised(V)
    covered = np.zeros(X.shape, dtype=bool)
    for rows, cols in pairs:
        covered[np.ix_(rows, cols)] = True
    covered.mean()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--yeast", type=int, default=17)
    parser.add_argument("--only", default="overhead,jobs,paper")
    options = parser.parse_args()
    parts = options.only.split(",")
    if "overhead" in parts:
        print("scheduling overhead per cell (must be below 5 ms)")
        for jobs in (1, 2):
            print(f"  {jobs} job(s): {seconds(overhead(jobs))}")
    if "jobs" in parts:
        one, two = (yeast_seconds(jobs, options.yeast, options.seeds) for jobs in (1, 2))
        title = f"yeast sweep, {options.yeast} sets, {options.seeds} seeds: one job (peer) against two"
        print_table(title, [Comparison("yeast sweep", one, two, must=1.7)])
    if "paper" in parts:
        if importlib.util.find_spec("biclustlib") is None:
            print("\npaper-like workload: not measured, biclustlib is not on PYTHONPATH")
            return
        peer = in_fresh_process("benchmarks.bench_sweep:peer_cpu", options.yeast)
        ours = in_fresh_process("benchmarks.bench_sweep:ours_cpu", options.yeast)
        print_table(
            f"paper-like workload, 10 scenarios + {options.yeast} yeast sets, CPU time, one thread",
            [Comparison("biclustlib + scikit-learn + NumPy", peer, ours, must=20, goal=60)],
        )


if __name__ == "__main__":
    main()

"""The cells of one seed of the full replication: bivaluate's sweeps against biclustlib, scikit-learn and naive NumPy.

python -m benchmarks.bench_paper [--yeast 17] [--jobs 2]

Wall time of both sides in one run, each in a fresh process; ours includes journal, tables and exported solutions.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import peer
from benchmarks.bench_sweep import ALGORITHMS, paper_plans, peer_cpu
from benchmarks.timing import Comparison, in_fresh_process, print_table
from bivaluate.experiment import Plan, Sweep


def ours(n_yeast: int, jobs: int) -> float:
    """Return the wall time of the sweeps, kernels compiled before."""
    with tempfile.TemporaryDirectory() as folder:
        Sweep(Plan(["scenario:S1"], ALGORITHMS, [2]), Path(folder) / "warm").run()
        begin = time.perf_counter()
        for number, plan in enumerate(paper_plans(n_yeast)):
            Sweep(plan, Path(folder) / str(number), jobs=jobs).run()
        return time.perf_counter() - begin


def theirs(n_yeast: int, folder: str) -> float:
    """Return the wall time of the peers, every K run afresh, one thread."""
    sys.path.insert(0, folder)
    begin = time.perf_counter()
    peer_cpu(n_yeast)
    return time.perf_counter() - begin


def main() -> None:
    """Measure both sides and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--yeast", type=int, default=17, help="number of yeast matrices")
    parser.add_argument("--jobs", type=int, default=2, help="worker processes of ours")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = str(peer.fetch(Path(folder)))
        slow = float(in_fresh_process("benchmarks.bench_paper:theirs", options.yeast, found))
    title = f"one seed of the replication: 10 scenarios and {options.yeast} yeast matrices, three algorithms, wall time"
    lines = [
        Comparison(
            f"ours with {jobs} job(s)",
            slow,
            float(in_fresh_process("benchmarks.bench_paper:ours", options.yeast, jobs)),
            20,
            60,
        )
        for jobs in sorted({1, options.jobs})
    ]
    print_table(title, lines)


if __name__ == "__main__":
    main()

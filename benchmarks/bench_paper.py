"""One seed of the paper's workload: bivaluate's sweeps against biclustlib, scikit-learn and a NumPy loop.

python -m benchmarks.bench_paper

Ten scenarios at their planted K and 17 yeast matrices over five K, three algorithms. Wall time of both sides in one
run, each in a fresh process; ours includes journal, tables and exported solutions, and is also shown with two jobs.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from benchmarks import peer
from benchmarks.baselines import FIRST
from benchmarks.bench_sweep import ALGORITHMS, KS
from benchmarks.timing import Comparison, in_fresh_process, print_table
from bivaluate.sweep import Plan, Sweep


def ours(jobs: int) -> float:
    """Return the wall time of the sweeps, kernels compiled before."""
    plans = Plan(["scenario:*"], ALGORITHMS, "planted"), Plan(["yeast:*"], ALGORITHMS, KS)
    with tempfile.TemporaryDirectory() as folder:
        Sweep(Plan(["scenario:S1"], ALGORITHMS, [2]), Path(folder) / "warm").run()
        begin = time.perf_counter()
        for number, plan in enumerate(plans):
            Sweep(plan, Path(folder) / str(number), jobs=jobs).run()
        return time.perf_counter() - begin


def main() -> list[Comparison]:
    """Measure both sides and print the ratio."""
    with tempfile.TemporaryDirectory() as folder:
        spent = in_fresh_process("benchmarks.peer:paper_run", str(peer.fetch(Path(folder))), KS)
    note = "peer: " + ", ".join(f"{part} {value:.0f} s" for part, value in spent.items())
    against = f"biclustlib, scikit-learn, {FIRST}"
    return print_table(
        "one seed of the paper's workload",
        [
            Comparison(
                f"the paper's workload, {jobs} job{'s' * (jobs > 1)}",
                against,
                sum(spent.values()),
                float(in_fresh_process("benchmarks.bench_paper:ours", jobs)),
                20,
                60,
                note if jobs == 1 else "",
            )
            for jobs in (1, 2)
        ],
    )


if __name__ == "__main__":
    main()

"""One seed of the paper's workload: bivaluate's sweeps against biclustlib, scikit-learn and a NumPy loop.

python -m benchmarks.bench_paper

Ten scenarios at their planted K and 17 yeast matrices over five K, three algorithms, the paper's measures. CPU time of both sides in one run,
each in a fresh process and one thread; ours includes journal, tables and exported solutions, and is said by part as well.
With two jobs the wall time counts.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import peer
from benchmarks.baselines import FIRST
from benchmarks.bench_sweep import ALGORITHMS, KS
from benchmarks.timing import Comparison, in_fresh_process, print_table
from bivaluate.sweep import Plan, Sweep, load_run

GOAL = 60
MEASURES = ["asr", "avg_ve", "nsr", "nve", "nve_cov"]
PEERS = {"cca": "biclustlib", "las": "biclustlib", "spectral": "scikit-learn", "measures": FIRST}


def ours(jobs: int) -> dict[str, Any]:
    """Return the seconds of the sweeps and of their parts, kernels compiled before: of the processor with one job."""
    plans = (
        Plan(["scenario:*"], ALGORITHMS, "planted", metrics=MEASURES),
        Plan(["yeast:*"], ALGORITHMS, KS, metrics=MEASURES),
    )
    clock = time.process_time if jobs == 1 else time.perf_counter
    with tempfile.TemporaryDirectory() as folder:
        Sweep(Plan(["scenario:S1"], ALGORITHMS, [2]), Path(folder) / "warm").run()
        begin = clock()
        for number, plan in enumerate(plans):
            Sweep(plan, Path(folder) / str(number), jobs=jobs).run()
        total = clock() - begin
        parts = dict.fromkeys(PEERS, 0.0)
        for number in range(len(plans)):
            times = load_run(Path(folder) / str(number)).times
            for algorithm, spent in times.groupby("algorithm")["fit_seconds"].sum().items():
                parts[str(algorithm)] += float(spent)
            parts["measures"] += float(times["score_seconds"].sum())
    return {"total": total, "parts": parts}


def main() -> list[Comparison]:
    """Measure both sides and print the ratios."""
    with tempfile.TemporaryDirectory() as folder:
        spent = in_fresh_process("benchmarks.peer:paper_run", str(peer.fetch(Path(folder))), KS)
    one, two = (in_fresh_process("benchmarks.bench_paper:ours", jobs) for jobs in (1, 2))
    against, whole = f"biclustlib, scikit-learn, {FIRST}", sum(spent.values())
    rest = max(0.0, one["total"] - sum(one["parts"].values()))
    rows = [
        Comparison("the paper's workload, 1 job", against, whole, one["total"], 20, GOAL, f"all else {rest:.1f} s"),
        Comparison("the paper's workload, 2 jobs", against, whole, two["total"], 20, GOAL, "wall time"),
    ]
    rows += [
        Comparison(f"of it {part}", PEERS[part], spent[part], one["parts"][part], note="wall time within ours")
        for part in PEERS
    ]
    return print_table("one seed of the paper's workload", rows)


if __name__ == "__main__":
    main()

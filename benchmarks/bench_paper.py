"""One seed of the paper's workload: bivaluate's sweeps against biclustlib, scikit-learn and a NumPy loop.

python -m benchmarks.bench_paper

Ten scenarios at their planted K and 17 yeast matrices over five K, three algorithms, the paper's measures. CPU time of both sides in one run,
each in a fresh process and one thread; ours includes journal, tables and exported solutions, and is said by part as well. The
measures are said twice: alone, as the loop has them, and with evidence, findings and records, which a sweep adds to every solution.
With two jobs the wall time counts. Kernels are compiled, and workers started, before: as for the second sweep of a replication.
"""

from __future__ import annotations

import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

from benchmarks import peer
from benchmarks.baselines import FIRST
from benchmarks.bench_sweep import ALGORITHMS, KS
from benchmarks.timing import Comparison, in_fresh_process, print_table
from bivaluate.evaluation import evaluate
from bivaluate.sweep import Plan, Run, Sweep
from bivaluate.sweep.cells import Cell
from bivaluate.sweep.workers import kept_workers

GOAL = 60
MEASURES = ["asr", "avg_ve", "nsr", "nve", "nve_cov"]
SCORING = "measures, evidence and findings"
NOTES = {
    "measures": "of solutions that are there",
    SCORING: "with records and mergers packed; the loop has mergers alone",
}
PEERS = {"cca": "biclustlib", "las": "biclustlib", "spectral": "scikit-learn", "measures": FIRST, SCORING: FIRST}


def ours(jobs: int) -> dict[str, Any]:
    """Return the seconds of the sweeps and of their parts, kernels compiled before: of the processor with one job."""
    plans = (
        Plan(["scenario:*"], ALGORITHMS, "planted", metrics=MEASURES),
        Plan(["yeast:*"], ALGORITHMS, KS, metrics=MEASURES),
    )
    clock = time.process_time if jobs == 1 else time.perf_counter
    with tempfile.TemporaryDirectory() as folder, kept_workers():
        warm = Plan(["scenario:S1"], ALGORITHMS, [2, 3], seeds=2 * jobs)  # so that each worker meets each algorithm
        Sweep(warm, Path(folder) / "warm", jobs=jobs).run()
        begin = clock()
        runs = [Sweep(plan, Path(folder) / str(n), jobs=jobs).run() for n, plan in enumerate(plans)]
        total = clock() - begin
        parts = dict.fromkeys(PEERS, 0.0)
        for run in runs:
            for algorithm, spent in run.times.groupby("algorithm")["fit_seconds"].sum().items():
                parts[str(algorithm)] += float(spent)
            parts[SCORING] += float(run.times["score_seconds"].sum())
            parts["measures"] += measures_alone(run) if jobs == 1 else 0.0
    return {"total": total, "parts": parts}


def measures_alone(run: Run) -> float:
    """Return the seconds in which the measures of all solutions of a run are computed, and nothing else."""
    spent = 0.0
    for (dataset, seed), rows in run.results.query("status != 'failed'").groupby(["dataset", "seed"]):
        matrix = run.matrix(dataset, seed).settled()
        for solution in [run.solution(Cell(dataset, row.algorithm, row.k, seed)) for row in rows.itertuples()]:
            start = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                evaluate(matrix, solution, metrics=MEASURES, n_jobs=1)
            spent += time.process_time() - start
    return spent


def main() -> list[Comparison]:
    """Measure both sides and print the ratios."""
    with tempfile.TemporaryDirectory() as folder:
        spent = in_fresh_process("benchmarks.peer:paper_run", str(peer.fetch(Path(folder))), KS)
    one, two = (in_fresh_process("benchmarks.bench_paper:ours", jobs) for jobs in (1, 2))
    against, whole = f"biclustlib, scikit-learn, {FIRST}", sum(spent.values())
    spent[SCORING] = spent["measures"]
    rest = max(0.0, one["total"] - sum(seconds for part, seconds in one["parts"].items() if part != "measures"))
    rows = [
        Comparison("the paper's workload, 1 job", against, whole, one["total"], 20, GOAL, f"all else {rest:.1f} s"),
        Comparison(
            "the paper's workload, 2 jobs", against, whole, two["total"], 20, GOAL, "wall time, workers started before"
        ),
    ]
    rows += [
        Comparison(
            f"of it {part}", PEERS[part], spent[part], one["parts"][part], note=NOTES.get(part, "wall time within ours")
        )
        for part in PEERS
    ]
    return print_table("one seed of the paper's workload", rows)


if __name__ == "__main__":
    main()

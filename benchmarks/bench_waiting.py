"""What a user waits for beside scoring: compare, prune, report and select where there is much of it; how commands start.

python -m benchmarks.bench_waiting

Processor time against the limits we set ourselves; kernels compiled before.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.timing import Comparison, print_table, spent_by
from bivaluate import Biclustering, build_report, compare, evaluate, propose_pruning
from bivaluate.datasets import write_example
from bivaluate.sweep import Plan, Sweep, load_run
from bivaluate.sweep.select import select

LIMIT = 5.0
N_SOLUTIONS = 2805
IMPORT = 0.03
# By command line, after `bivaluate example` and a sweep.
LIMITS = {
    "--help": 0.15,
    "algorithms": 0.3,
    "score expression.csv solution.json": 0.6,
    "select run": 0.9,
    "report run": 0.9,
}


def overlapping(seed: int) -> tuple[np.ndarray, Biclustering]:
    """Return 500 overlapping biclusters, five pieces each of a hundred patterns, and their 2000 x 100 matrix."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2000, 100))
    pairs = []
    for _ in range(100):
        rows, cols = rng.permutation(2000)[:80], np.sort(rng.permutation(100)[:12])
        X[np.ix_(rows, cols)] = 2 * rng.normal(size=12) + 0.3 * rng.normal(size=(80, 12))
        pairs += [(rows[rng.permutation(80)[:60]], cols) for _ in range(5)]
    return X, Biclustering(pairs, X.shape)


def taken(work: str, function: object, limit: float = LIMIT, note: str = "") -> Comparison:
    """Return the time of one call against its limit, after one to compile."""
    assert callable(function)
    start = time.process_time()
    function()
    return Comparison(work, f"limit of {limit:g} s", limit, time.process_time() - start, 1, 1, note)


def of_500_biclusters(folder: Path) -> list[Comparison]:
    X, solution = overlapping(0)
    _, other = overlapping(1)
    few = solution.select(range(60))
    compare(few, other.select(range(60)))
    evaluate(X, few)
    rng = np.random.default_rng(2)
    many = Biclustering([(rng.permutation(2000)[:40], rng.permutation(100)[:9]) for _ in range(2000)], X.shape)
    result = evaluate(X, many)
    return [
        taken("compare, 500 with 500 overlapping biclusters", lambda: compare(solution, other)),
        taken(
            "prune, 500 biclusters that repeat 100 patterns", lambda: propose_pruning(X, solution), note="shows a bar"
        ),
        taken("report, 500 biclusters", lambda: evaluate(X, solution).report(folder / "500.html")),
        taken("evaluate, K=2000", lambda: evaluate(X, many)),
        taken("report, K=2000", lambda: result.report(folder / "2000.html")),
    ]


def of_many_solutions(folder: Path) -> list[Comparison]:
    plan = Plan(["scenario:S9b"], ["benchmarks.bench_sweep:Nothing"], [2, 3, 4], seeds=N_SOLUTIONS // 3)
    Sweep(plan, folder / "run", jobs=2).run()
    return [
        taken(f"select, {N_SOLUTIONS:,} solutions", lambda: select(load_run(folder / "run"))),
        taken(f"report, {N_SOLUTIONS:,} solutions", lambda: build_report(folder / "run", folder / "run.html")),
    ]


def of_starting(folder: Path) -> list[Comparison]:
    """Times of fresh interpreters, the bare one taken off for the import."""
    bare, whole = (spent_by([sys.executable, "-c", code], folder) for code in ("", "import bivaluate"))
    command = [sys.executable, "-m", "bivaluate", "--force"]
    write_example(folder)
    spent_by([*command, *["sweep", "expression.csv", "-k", "3,5,8", "--seeds", "3", "--out", "run"]], folder, repeat=1)
    return [
        Comparison("import bivaluate", f"limit of {1e3 * IMPORT:g} ms", IMPORT, max(whole - bare, 1e-4), 1, 1),
        *(
            Comparison(
                f"bivaluate {words}", f"limit of {limit:g} s", limit, spent_by([*command, *words.split()], folder), 1, 1
            )
            for words, limit in LIMITS.items()
        ),
    ]


def main() -> list[Comparison]:
    """Print how long each takes."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        lines = of_500_biclusters(folder) + of_many_solutions(folder) + of_starting(folder)
    return print_table("what a user waits for", lines)


if __name__ == "__main__":
    main()

"""What a user waits for beside scoring: compare, prune, report and select where there is much of it; import and help.

python -m benchmarks.bench_waiting

Wall times against the limits we set ourselves; kernels compiled before.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.timing import Comparison, print_table, wall_of
from bivaluate import Biclustering, build_report, compare, evaluate, propose_pruning
from bivaluate.sweep import Plan, Sweep, load_run
from bivaluate.sweep.select import select

LIMIT = 5.0
N_SOLUTIONS = 2805
IMPORT, HELP = 0.03, 0.15


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
    start = time.perf_counter()
    function()
    return Comparison(work, f"limit of {limit:g} s", limit, time.perf_counter() - start, 1, 1, note)


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


def of_starting() -> list[Comparison]:
    """Times of fresh interpreters, the bare one taken off for the import."""
    python = [sys.executable, "-c"]
    bare, whole = (
        wall_of(lambda code=code: subprocess.run([*python, code], check=True), 7) for code in ("", "import bivaluate")
    )
    shown = wall_of(
        lambda: subprocess.run([sys.executable, "-m", "bivaluate", "--help"], check=True, stdout=subprocess.DEVNULL), 7
    )
    return [
        Comparison("import bivaluate", f"limit of {1e3 * IMPORT:g} ms", IMPORT, max(whole - bare, 1e-4), 1, 1),
        Comparison("bivaluate --help", f"limit of {HELP:g} s", HELP, shown, 1, 1),
    ]


def main() -> list[Comparison]:
    """Print how long each takes."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        lines = of_500_biclusters(folder) + of_many_solutions(folder) + of_starting()
    return print_table("what a user waits for", lines)


if __name__ == "__main__":
    main()

"""`evaluate` against that of version 0.1.0, taken from the history of this repository: one core, turn by turn.

python -m benchmarks.bench_release

Version 0.1.0 had no evidence, which the default call of today computes: both the default call and the measures of 0.1.0
alone are compared. A solution asked for again is one that was scored before; of new ones each is scored once.
"""

from __future__ import annotations

import io
import json
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

from benchmarks.timing import Comparison, print_table

ROOT = Path(__file__).resolve().parents[1]
# The first change after 0.1.0 made this room.
AFTER = "src/bivaluate/judge/__init__.py"
# What 0.1.0 computes by default.
MEASURES = (
    "asr", "avg_ve", "nsr", "nve", "nve_numerator", "nve_denominator", "nve_cov", "coverage", "row_coverage",
    "col_coverage", "multiplicity", "overlap", "jaccard", "n_biclusters", "n_undefined", "rows_mean", "rows_min",
    "rows_max", "cols_mean", "cols_min", "cols_max", "cc", "msr", "ve", "nve_k", "nsr_k",
)  # fmt: skip
# rows, columns, K, rows and columns of a bicluster; None for the planted ones of scenario S1
CASES: dict[str, tuple[int, ...] | None] = {
    "300x40 K=4": (300, 40, 4, 41, 10),
    "scenario S1": None,
    "2993x173 K=20": (2993, 173, 20, 265, 33),
    "20000x500 K=100": (20000, 500, 100, 808, 58),
}
ROUNDS = 5


def export(folder: Path) -> bool:
    """Write the package as it was at version 0.1.0; False where there is no history."""
    command = ["git", "log", "--diff-filter=A", "--format=%H", "--", AFTER]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    if not found:
        return False
    command = ["git", "archive", f"{found[-1]}^", "src"]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    if made.returncode:
        return False
    with tarfile.open(fileobj=io.BytesIO(made.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return True


def workload(case: str, seed: int) -> tuple[Any, Any]:
    """Return a matrix and a solution; in noise the sizes of biclusters differ by up to a quarter."""
    import numpy as np

    from bivaluate import Biclustering
    from bivaluate.datasets import make_scenario

    sizes = CASES[case]
    if sizes is None:
        planted = make_scenario("S1", random_state=seed)
        X, pairs = np.array(planted[0]), [(b.rows, b.cols) for b in planted[1]]
    else:
        n, m, K, r, c = sizes
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, m))
        pairs = [
            (
                rng.permutation(n)[: rng.integers(r - r // 4, r + r // 4 + 1)],
                rng.permutation(m)[: rng.integers(c - c // 4, c + c // 4 + 1)],
            )
            for _ in range(K)
        ]
    return X, Biclustering(pairs, X.shape)


def answer(measures: bool) -> None:
    """Read cases from standard input and print the median CPU seconds of a call."""
    from bivaluate import evaluate

    warnings.simplefilter("ignore")
    options: dict[str, Any] = {"metrics": list(MEASURES)} if measures else {}
    seed = 0
    for line in sys.stdin:
        case, calls, new = json.loads(line)
        seed += calls
        work = [workload(case, seed + k) for k in range(calls)] if new else [workload(case, 0)] * calls
        evaluate(*work[0], n_jobs=1, **options)
        times = []
        for X, solution in work:
            start = time.process_time()
            evaluate(X, solution, n_jobs=1, **options)
            times.append(time.process_time() - start)
        print(json.dumps(statistics.median(times)), flush=True)


def start(source: Path, side: str) -> subprocess.Popen[str]:
    """Start a process that answers for one version."""
    environment = {**os.environ, "PYTHONPATH": f"{source}{os.pathsep}{ROOT}", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "benchmarks.bench_release", side]
    return subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )


def ask(side: subprocess.Popen[str], case: str, calls: int, new: bool) -> float:
    """Return the median time of a call."""
    assert side.stdin is not None
    assert side.stdout is not None
    side.stdin.write(json.dumps([case, calls, new]) + "\n")
    side.stdin.flush()
    return float(json.loads(side.stdout.readline()))


def comparisons(old: Path) -> list[Comparison]:
    """Return the ratios of both calls for every case."""
    sides = {
        "0.1.0": start(old / "src", "default"),
        "the measures of 0.1.0": start(ROOT / "src", "measures"),
        "with evidence": start(ROOT / "src", "default"),
    }
    found = []
    for case, sizes in CASES.items():
        small = sizes is None or sizes[0] < 1000
        for new in (False, True) if small else (False,):
            calls = 100 if small else 10 if sizes is not None and sizes[0] < 10_000 else 3
            times: dict[str, list[float]] = {name: [] for name in sides}
            for _ in range(ROUNDS):
                for name, side in sides.items():
                    times[name].append(ask(side, case, calls, new))
            middle = {name: statistics.median(seconds) for name, seconds in times.items()}
            for name in list(sides)[1:]:
                work = f"evaluate, {case}, {'new solutions' if new else 'one solution'}, {name}"
                # What 0.1.0 computed must not take longer; of small input half the time is asked for.
                must = None if name == "with evidence" else 2.0 if small else 0.95
                found.append(Comparison(work, "version 0.1.0", middle["0.1.0"], middle[name], must))
    for side in sides.values():
        assert side.stdin is not None
        side.stdin.close()
        side.wait()
    return found


def main() -> list[Comparison]:
    with tempfile.TemporaryDirectory() as folder:
        if not export(Path(folder)):
            print("\nno history of this repository: version 0.1.0 cannot be compared with")
            return []
        return print_table("evaluate against version 0.1.0", comparisons(Path(folder)))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        answer(sys.argv[1] == "measures")
    else:
        main()

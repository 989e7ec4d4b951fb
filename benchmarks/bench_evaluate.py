"""The whole `evaluate` call against a plain NumPy loop, its memory, and the start-up of the command line.

python -m benchmarks.bench_evaluate
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

from benchmarks.baselines import FIRST
from benchmarks.bench_mergers import RANDOM, TARGETS, workload
from benchmarks.memory import peak_rise
from benchmarks.timing import Comparison, alternating, best_of, in_fresh_process, print_table, seconds
from bivaluate import Biclustering, DegenerateWarning, Matrix, compare, evaluate, write_matrix
from bivaluate.measures.external import EXTERNAL
from bivaluate.registry import choose_metrics

START_UP = {"--help": 0.4, "score": 1.0}
EVIDENCE = {"evidence", "total_evidence", "raw_evidence", "n_supported", "supported_coverage"}


def whole_call(name: str) -> float:
    """Return the time of evaluate with mergers and scores read."""
    X, pairs = workload(name)
    solution = Biclustering(pairs, X.shape)

    def call() -> None:
        result = evaluate(X, solution)
        _ = result.mergers, result.scores

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateWarning)
        return best_of(call, 5 if name == "large" else 15)


def cheap_and_dear() -> tuple[float, float]:
    """Return the time of ``metrics=["asr"]``, which needs no mergers, and of ``["nve"]``, which does."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 100))
    pairs = [(rng.permutation(2000)[:80], rng.permutation(100)[:12]) for _ in range(100)]
    solution = Biclustering(pairs, X.shape)
    asr, nve = (best_of(lambda key=key: evaluate(X, solution, metrics=[key]), 30) for key in ("asr", "nve"))
    return asr, nve


def with_and_without_evidence(name: str) -> tuple[float, float]:
    """Return the median time of the default call, and of the same without evidence, turn by turn on one core."""
    X, pairs = workload(name)
    solution = Biclustering(pairs, X.shape)
    default = [metric.key for metric in choose_metrics("default")]
    without = [key for key in default if key not in EVIDENCE]
    times: dict[int, list[float]] = {0: [], 1: []}
    for _ in range(5 if name == "large" else 200):
        for side, keys in enumerate((default, without)):
            start = time.process_time()
            evaluate(X, solution, metrics=keys, n_jobs=1)
            times[side].append(time.process_time() - start)
    return statistics.median(times[0]), statistics.median(times[1])


def compared(name: str) -> list[Comparison]:
    """Return the consensus score against scikit-learn's, and all external measures against 2 s, or 7 consensus scores."""
    from sklearn.metrics import consensus_score

    (X, one), (_, other) = workload(name), workload(name, seed=1)
    truth, found = Biclustering(one, X.shape), Biclustering(other, X.shape)
    masks = [(side.row_masks, side.col_masks) for side in (truth, found)]
    ours, every, peer = alternating(
        lambda: compare(truth, found, metrics="consensus"),
        lambda: compare(truth, found),
        lambda: consensus_score(*masks),
        repeat=3,
    )
    peers = "consensus_score of scikit-learn"
    return [
        Comparison(f"consensus of two solutions, {_shape(name)}", peers, peer, ours, must=0.2),
        Comparison(f"all {len(EXTERNAL)} external measures, {_shape(name)}", peers, peer, every, must=1 / 7),
    ]


def many_biclusters(n: int, m: int, K: int, r: int, c: int) -> tuple[float, float]:
    """Return the processor time of one call with many small biclusters, and by how many bytes the peak rises."""
    rng = np.random.default_rng(0)
    pairs = [(rng.permutation(n)[:r], rng.permutation(m)[:c]) for _ in range(K)]
    X, solution = rng.normal(size=(n, m)), Biclustering(pairs, (n, m))
    evaluate(X, solution.select(range(60)))
    start = time.process_time()
    rise = float(peak_rise(lambda: evaluate(X, solution, n_jobs=1)))
    return time.process_time() - start, rise


def extra_memory(name: str) -> float:
    """Return by how many bytes one call raises the peak of the process, compiled kernels loaded."""
    medium, pairs = workload("medium")
    evaluate(medium, Biclustering(pairs, medium.shape))
    X, pairs = workload(name)
    solution = Biclustering(pairs, X.shape)
    return float(peak_rise(lambda: evaluate(X, solution)))


def start_up() -> dict[str, float]:
    """Return the wall time of a second start of two commands."""
    with tempfile.TemporaryDirectory() as folder:
        X, pairs = workload("small")
        write_matrix(Matrix.of(np.asarray(X)), Path(folder) / "matrix.csv")
        Biclustering(pairs, X.shape).to_json(Path(folder) / "solution.json")
        commands = {"--help": ["--help"], "score": ["score", "matrix.csv", "solution.json"]}
        return {
            name: best_of(
                lambda words=words: subprocess.run(
                    [sys.executable, "-m", "bivaluate", *words], cwd=folder, check=True, stdout=subprocess.DEVNULL
                )
            )
            for name, words in commands.items()
        }


def comparisons() -> list[Comparison]:
    """Return the ratios of the whole call."""
    found = []
    for name in ("medium", "large", "checkerboard"):
        peer = in_fresh_process("benchmarks.bench_mergers:baseline_seconds", FIRST, name, 1)
        shape = "yeast-like checkerboard, 225 biclusters" if name == "checkerboard" else _shape(name)
        found.append(Comparison(f"evaluate, {shape}", FIRST, peer, whole_call(name), *TARGETS[name]))
    return found


def _shape(name: str) -> str:
    n, m, K = RANDOM[name][:3]
    return f"{n}x{m} K={K}"


def main() -> list[Comparison]:
    found = print_table(f"the whole evaluate call against {FIRST}", comparisons())
    n, m, K = RANDOM["large"][:3]
    limit = 64 * 2**20 + 8 * (K * K + K * (n + m))
    extra = in_fresh_process("benchmarks.bench_evaluate:extra_memory", "large")
    print(f"\nextra memory of evaluate on {n}x{m} K={K}: {extra / 2**20:.1f} MiB (limit {limit / 2**20:.1f} MiB)")
    asr, nve = cheap_and_dear()
    found += print_table(
        "a cheap question", [Comparison("ASR alone, 2000x100 K=100", "NVE of the same", nve, asr, must=3, goal=3)]
    )
    found += print_table("two solutions compared", [c for name in ("medium", "large") for c in compared(name)])
    print("\nmany biclusters")
    for n, m, K, r, c, limits in ((2000, 100, 2000, 40, 10, "3 s"), (300, 60, 5000, 20, 8, "500 MB")):
        taken, rise = in_fresh_process("benchmarks.bench_evaluate:many_biclusters", n, m, K, r, c)
        print(f"  {n}x{m} K={K}: {taken:.1f} s, {rise / 1e6:.0f} MB (must {limits})")
    print("\nevidence in the default call")
    for name in ("small", "large"):
        dear, cheap = with_and_without_evidence(name)
        print(f"  {_shape(name)}: {seconds(dear)} with, {seconds(cheap)} without, {100 * (dear / cheap - 1):+.0f} %")
    print("\nstart-up, second start")
    for name, taken in start_up().items():
        print(f"  bivaluate {name}: {taken:.2f} s (must {START_UP[name]} s)")
    return found


if __name__ == "__main__":
    main()

"""All mergers (VE and MSR, K x K) against three baselines: time, growth, memory. Run from the root of the project:

python -m benchmarks.bench_mergers
"""

from __future__ import annotations

import numpy as np

from benchmarks.baselines import BASELINES, FIRST, baseline
from benchmarks.memory import peak_rise
from benchmarks.timing import Comparison, alternating, best_of, in_fresh_process, print_table, wall_of
from bivaluate.measures._mergers import union_cells
from bivaluate.measures.workspace import Workspace
from bivaluate.solution import Biclustering

# rows, columns, K, rows and columns of a bicluster
RANDOM = {"small": (300, 40, 4, 41, 10), "medium": (2993, 173, 20, 265, 33), "large": (20000, 500, 100, 808, 58)}
# processor time of one core against one core
TARGETS = {"small": (None, None), "medium": (18, 25), "large": (35, 50), "checkerboard": (20, 40)}
Pairs = list[tuple[np.ndarray, np.ndarray]]


def workload(name: str, K: int | None = None, seed: int = 0) -> tuple[np.ndarray, Pairs]:
    """Return a matrix and biclusters; in the random ones 30 % share half of the rows of another."""
    rng = np.random.default_rng(seed)
    if name == "checkerboard":
        n, m, k = 500, 18, 15
        labels = [np.concatenate([np.arange(k), rng.integers(0, k, size - k)]) for size in (n, m)]
        board = Biclustering.from_labels(*labels)
        return rng.normal(size=(n, m)), [(b.rows, b.cols) for b in board]
    n, m, default_K, r, c = RANDOM[name]
    X = rng.normal(size=(n, m))
    pairs: Pairs = []
    for k in range(K or default_K):
        rows = rng.choice(n, r, replace=False)
        if name != "small" and k and rng.random() < 0.3:
            other = pairs[rng.integers(k)][0]
            rows = np.union1d(rng.choice(other, r // 2, replace=False), rows[: r - r // 2])
        pairs.append((np.sort(rows), np.sort(rng.choice(m, c, replace=False))))
    return X, pairs


def mergers(X: np.ndarray, solution: Biclustering, n_jobs: int | None = 1) -> tuple[np.ndarray, np.ndarray]:
    """Return VE and MSR of all mergers."""
    return Workspace.of(X, solution, n_jobs=n_jobs).mergers


def baseline_seconds(against: str, name: str, repeat: int) -> float:
    """Return the time of a baseline."""
    X, pairs = workload(name)
    function = baseline(against)
    return best_of(lambda: function(X, pairs), repeat)


def extra_memory(name: str) -> int:
    """Return by how many bytes the peak of the process rises during one call."""
    X, pairs = workload(name)
    mergers(X[:500], Biclustering([(rows[rows < 500], cols) for rows, cols in pairs], (500, X.shape[1])))
    solution = Biclustering(pairs, X.shape)
    return peak_rise(lambda: mergers(X, solution))


def compare(name: str) -> list[Comparison]:
    X, pairs = workload(name)
    solution = Biclustering(pairs, X.shape)
    cells = union_cells(solution)
    wall = wall_of(lambda: mergers(X, solution, None), 5)
    found = []
    for against in BASELINES:
        function = baseline(against)
        repeat = {"small": 50, "large": 1}.get(name, 5)
        ours, peer = alternating(lambda: mergers(X, solution), lambda f=function: f(X, pairs), repeat=repeat)
        targets = TARGETS[name] if against == FIRST else (None, None)
        note = f"{ours / cells * 1e9:.3f} ns per cell against {peer / cells * 1e9:.3g}"
        shape = f"{X.shape[0]}x{X.shape[1]} K={len(pairs)}"
        found.append(Comparison(f"all mergers, {name}, {shape}", against, peer, ours, *targets, note=note, wall=wall))
    return found


def growth() -> None:
    """Print time against merged area for K = 10…160 and the exponent fitted through it."""
    areas, times = [], []
    for K in (10, 20, 40, 80, 160):
        X, pairs = workload("medium", K)
        solution = Biclustering(pairs, X.shape)
        areas.append(union_cells(solution))
        times.append(best_of(lambda X=X, solution=solution: mergers(X, solution), 7))
        print(f"  K={K:<4} {areas[-1] / 1e6:8.1f} M cells {times[-1] * 1e3:8.2f} ms")
    exponent = np.polyfit(np.log(areas), np.log(times), 1)[0]
    print(f"  time grows with merged area to the power {exponent:.2f} (linear is 1)")


def main() -> list[Comparison]:
    found = print_table("all mergers, VE and MSR", [c for name in (*RANDOM, "checkerboard") for c in compare(name)])
    print("\ngrowth")
    growth()
    n, m, K = RANDOM["large"][:3]
    limit = 64 * 2**20 + 8 * (K * K + K * (n + m))
    extra = in_fresh_process("benchmarks.bench_mergers:extra_memory", "large")
    print(f"\nextra memory on {n}x{m} K={K}: {extra / 2**20:.1f} MiB (limit {limit / 2**20:.1f} MiB)")
    return found


if __name__ == "__main__":
    main()

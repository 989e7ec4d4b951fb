"""Matrices on disk, sparse ones and a cluster: time, peak memory, growth. Run from the root of the project:

python -m benchmarks.bench_scale            the table of ratios (a file of 640 MB)
python -m benchmarks.bench_scale --large    8,000,000 x 200 float32 on disk (6.4 GB)
python -m benchmarks.bench_scale --growth   slopes over rows and over entries

Times are CPU seconds of this process unless said otherwise: the passes are compared with each other on one machine.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.sparse

from benchmarks.bench_mergers import workload
from benchmarks.memory import peak_rise
from benchmarks.timing import Comparison, in_fresh_process, print_table
from bivaluate import Biclustering, Matrix, evaluate
from bivaluate._rows import FileSource
from bivaluate.measures._blocks import block_values
from bivaluate.measures._mergers import CompiledMergers, all_pairs, compiled_mergers
from bivaluate.measures._passes import ByChunks

ERRORS = ["ve", "msr", "nve", "nsr", "coverage"]


def cpu(function: Callable[[], object], repeat: int = 3) -> float:
    """Return the shortest of some CPU times of one call."""
    times = []
    for _ in range(repeat):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def blocks(n: int, m: int, K: int, r: int, c: int, seed: int = 0) -> Biclustering:
    """Return biclusters of neighbouring rows, half of them shared with the next one, and random columns."""
    rng = np.random.default_rng(seed)
    starts = np.linspace(0, n - r, K).astype(int)
    return Biclustering(
        [(np.arange(s, s + r), np.sort(rng.choice(m, c, replace=False))) for s in starts.tolist()], (n, m)
    )


def write_file(path: Path, n: int, m: int) -> FileSource:
    """Write n x m float32 noise, some rows at a time."""
    rng = np.random.default_rng(0)
    part = rng.normal(size=(min(n, 200_000), m)).astype(np.float32)
    with path.open("wb") as stream:
        for start in range(0, n, len(part)):
            stream.write(part[: min(len(part), n - start)].tobytes())
    return FileSource(path, np.float32, (n, m))


def sparse_matrix(n: int, m: int, filled: float) -> scipy.sparse.csr_array:
    """Return counts in CSR."""
    rng = np.random.default_rng(0)
    per_row = round(m * filled)
    indices = np.sort(rng.integers(0, m // per_row, size=(n, per_row)) + np.arange(per_row) * (m // per_row), axis=1)
    data = rng.geometric(0.5, size=n * per_row).astype(np.float32)
    return scipy.sparse.csr_array((data, indices.ravel().astype(np.int32), np.arange(n + 1) * per_row), shape=(n, m))


def of_file(path: str, n: int, m: int, K: int, r: int, c: int, everything: bool) -> dict[str, float]:
    """Score a file in a fresh process: seconds, peak memory beyond the process, seconds `cat` needs twice."""
    warm = blocks(400, 20, 3, 100, 8)
    evaluate(Matrix(np.random.default_rng(0).normal(size=(400, 20))), warm, metrics=ERRORS)
    compiled_mergers(Matrix(np.random.default_rng(0).normal(size=(400, 20))), warm).matrices()
    solution = blocks(n, m, K, r, c)
    source = FileSource(path, np.float32, (n, m))
    start = time.perf_counter()
    for _ in range(2):
        with open(path, "rb") as stream:
            while stream.read(1 << 22):
                pass
    reading = time.perf_counter() - start
    start, used = time.perf_counter(), time.process_time()
    rise = peak_rise(lambda: evaluate(source, solution, n_jobs=1, **({} if everything else {"metrics": ERRORS})))
    return {"wall": time.perf_counter() - start, "cpu": time.process_time() - used, "rise": rise, "cat twice": reading}


def of_sparse(n: int, m: int, filled: float, K: int, r: int, c: int) -> dict[str, float]:
    """Score a sparse matrix in a fresh process, and by densifying the block of every merger."""
    X = sparse_matrix(n, m, filled)
    solution = blocks(n, m, K, r, c)
    small = sparse_matrix(200, 100, 0.2)
    compiled_mergers(Matrix(small), blocks(200, 100, 3, 50, 20)).matrices()
    used = time.process_time()
    rise = peak_rise(lambda: compiled_mergers(Matrix(X), solution, n_jobs=1).matrices())
    ours = time.process_time() - used
    few = solution.select(range(6))
    block = Matrix(X).block
    used = time.process_time()
    all_pairs(block, few, block_values)
    dense = (time.process_time() - used) / 21 * K * (K + 1) / 2
    used = time.process_time()
    everything = peak_rise(lambda: evaluate(X, solution, n_jobs=1))
    return {
        "ours": ours,
        "rise": rise,
        "dense": dense,
        "evaluate": time.process_time() - used,
        "evaluate rise": everything,
    }


def main() -> list[Comparison]:
    """Print the table."""
    found = []
    X, pairs = workload("large")
    solution = Biclustering(pairs, X.shape)
    whole = cpu(lambda: compiled_mergers(Matrix(X), solution, 1).matrices())
    chunks = cpu(lambda: CompiledMergers(ByChunks(Matrix(X)), solution, X.shape, n_jobs=1).matrices())
    found.append(Comparison("chunks, 20000×500 K=100", "one chunk in memory", whole, chunks, 1 / 1.5, 1 / 1.15))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.bin"
        n = 800_000
        write_file(path, n, 200)
        disk = in_fresh_process("benchmarks.bench_scale:of_file", str(path), n, 200, 50, n // 50, 20, False)
        note = f"peak memory {disk['rise'] / 1e6:.0f} MB"
        found.append(
            Comparison(
                "800,000×200 float32 on disk, K=50",
                "reading it twice, ×3",
                3 * disk["cat twice"],
                disk["wall"],
                None,
                1,
                note,
            )
        )
    sparse = in_fresh_process("benchmarks.bench_scale:of_sparse", 100_000, 20_000, 0.05, 50, 2000, 400)
    note = f"memory beyond the input {sparse['rise'] / 1e6:.0f} MB; everything {sparse['evaluate rise'] / 1e6:.0f} MB"
    found.append(
        Comparison("CSR 100,000×20,000, 5 %, K=50", "densifying blocks", sparse["dense"], sparse["ours"], 5, 5, note)
    )
    print_table("matrices of any size", found)
    return found


def growth() -> None:
    """Print CPU seconds against rows on disk, and against entries of CSR, with the slopes."""
    with tempfile.TemporaryDirectory() as folder:
        times = []
        sizes = [10_000, 100_000, 1_000_000]
        for n in sizes:
            path = Path(folder) / "x.bin"
            source = write_file(path, n, 50)
            solution = blocks(n, 50, 20, n // 20, 10)
            times.append(cpu(lambda: compiled_mergers(Matrix(source), solution, 1).matrices(), 2))  # noqa: B023
        slopes = np.diff(np.log(times)) / np.diff(np.log(sizes))
        print("rows", sizes, [f"{t:.3g} s" for t in times], "slopes", slopes.round(3).tolist())
    times, entries = [], []
    for filled in (0.01, 0.04, 0.16):
        X = sparse_matrix(30_000, 5_000, filled)
        solution = blocks(30_000, 5_000, 20, 3000, 500)
        times.append(cpu(lambda: compiled_mergers(Matrix(X), solution, 1).matrices(), 2))  # noqa: B023
        entries.append(X.nnz)
    slopes = np.diff(np.log(times)) / np.diff(np.log(entries))
    per_entry = 1e9 * times[-1] / entries[-1]
    print("entries", entries, [f"{t:.3g} s" for t in times], "slopes", slopes.round(3).tolist(), f"{per_entry:.3g} ns")


if __name__ == "__main__":
    if "--growth" in sys.argv:
        growth()
    elif "--large" in sys.argv:
        with tempfile.TemporaryDirectory() as folder:
            n = 8_000_000
            write_file(Path(folder) / "x.bin", n, 200)
            for everything in (False, True):
                found = in_fresh_process(
                    "benchmarks.bench_scale:of_file", str(Path(folder) / "x.bin"), n, 200, 50, n // 50, 20, everything
                )
                print(json.dumps({"everything": everything, **found}))
    else:
        main()

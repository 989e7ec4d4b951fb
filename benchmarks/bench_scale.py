"""Matrices on disk, sparse ones and a cluster: time, peak memory, growth. Run from the root of the project:

python -m benchmarks scale                         everything, into docs/benchmarks.json (8 GB of temporary files)
python -m benchmarks.bench_scale chunks disk …     some parts, printed

Both sides of a ratio are of one run. Times are CPU seconds of this process, except where the disk or a cluster has a part.
`make docs` takes the rows into docs/scale.md, with what follows from them for a matrix past one machine.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import scipy.sparse

from benchmarks.bench_mergers import workload
from benchmarks.memory import peak_rise
from benchmarks.timing import Comparison, in_fresh_process, print_table, wall_of
from bivaluate import Biclustering, Matrix, evaluate
from bivaluate._rows import FileSource
from bivaluate.measures._engine.two_pass import TwoPasses
from bivaluate.measures._mergers import all_pairs

ERRORS = ["ve", "msr", "nve", "nsr", "coverage"]


def cpu(function: Callable[[], object], repeat: int = 3) -> float:
    """Return the shortest of some CPU times of one call."""
    times = []
    for _ in range(repeat):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


class Rows:
    """An array as a source of rows, read some at a time."""

    sparse = False

    def __init__(self, X: np.ndarray) -> None:
        self.X, self.shape, self.dtype = X, X.shape, X.dtype

    def rows(self, start: int, stop: int) -> np.ndarray:
        return self.X[start:stop]

    def take(self, rows: np.ndarray) -> np.ndarray:
        return self.X[rows]


def blocks(n: int, m: int, K: int, r: int, c: int, seed: int = 0) -> Biclustering:
    """Return biclusters of scattered rows, as real ones have, and random columns."""
    rng = np.random.default_rng(seed)
    return Biclustering(
        [(rng.choice(n, r, replace=False), np.sort(rng.choice(m, c, replace=False))) for _ in range(K)], (n, m)
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


def forget(path: str) -> None:
    """Have the system forget what it holds of a file: it is read from the disk again."""
    with open(path, "rb") as stream:
        os.fsync(stream.fileno())
        os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def of_file(path: str, n: int, m: int, K: int, r: int, c: int, everything: bool) -> dict[str, float]:
    """Score a file in a fresh process: seconds, peak memory beyond the process, seconds to read it twice, and to add it up."""
    warm = blocks(400, 20, 3, 100, 8)
    evaluate(Matrix(np.random.default_rng(0).normal(size=(400, 20))), warm, metrics=ERRORS)
    TwoPasses(Matrix(np.random.default_rng(0).normal(size=(400, 20))), warm).matrices()
    solution = blocks(n, m, K, r, c)
    source = FileSource(path, np.float32, (n, m))
    forget(path)
    start = time.perf_counter()
    for _ in range(2):
        with open(path, "rb") as stream:
            while stream.read(1 << 22):
                pass
    reading = time.perf_counter() - start
    forget(path)
    start = time.perf_counter()
    for first in range(0, n, 20_000):
        source.rows(first, min(first + 20_000, n)).sum()
    adding = time.perf_counter() - start
    forget(path)
    start, used = time.perf_counter(), time.process_time()
    rise = peak_rise(lambda: evaluate(source, solution, n_jobs=2, **({} if everything else {"metrics": ERRORS})))
    return {
        "wall": time.perf_counter() - start,
        "cpu": time.process_time() - used,
        "rise": rise,
        "cat twice": reading,
        "sum": adding,
    }


def of_sparse(n: int, m: int, filled: float, K: int, r: int, c: int) -> dict[str, float]:
    """Score a sparse matrix in a fresh process, and by densifying the block of every merger."""
    X = sparse_matrix(n, m, filled)
    solution = blocks(n, m, K, r, c)
    small = sparse_matrix(200, 100, 0.2)
    TwoPasses(Matrix(small), blocks(200, 100, 3, 50, 20)).matrices()
    used = time.process_time()
    rise = peak_rise(lambda: TwoPasses(Matrix(X), solution, n_jobs=1).matrices())
    ours = time.process_time() - used
    few = solution.select(range(6))
    block = Matrix(X).block
    used = time.process_time()
    all_pairs(block, few)
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


def chunks() -> list[Comparison]:
    """Compare chunks of rows with the whole array as one."""
    X, pairs = workload("large")
    solution = Biclustering(pairs, X.shape)
    whole = cpu(lambda: TwoPasses(Matrix(X), solution, 1).matrices())
    parts = cpu(lambda: TwoPasses(Matrix(Rows(X)), solution, 1).matrices())
    return [Comparison("chunks of rows, 20,000 × 500, K = 100", "one chunk", whole, parts, 1 / 1.5, 1 / 1.15)]


def disk(n: int = 8_000_000) -> list[Comparison]:
    """Compare scoring a file with reading it twice, three times over, and with reading it once and adding it up."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.bin"
        write_file(path, n, 200)
        work = f"{n:,} × 200 float32 on disk, K = 50, two threads"
        for everything in (False, True):
            found = in_fresh_process("benchmarks.bench_scale:of_file", str(path), n, 200, 50, n // 50, 20, everything)
            what = f"{work}: {'with evidence and findings' if everything else 'VE, MSR and all mergers'}"
            note = f"{found['rise'] / 1e6:.0f} MB at the peak"
            against = (None, None) if everything else (None, 1.0)
            rows.append(
                Comparison(what, "reading it twice, × 3", 3 * found["cat twice"], found["wall"], *against, note)
            )
        rows.append(Comparison(f"{work}: the two passes", "reading it and adding it up", found["sum"], rows[0].ours))
    return rows


def entries() -> list[Comparison]:
    """Compare a sparse matrix with making the block of every merger dense."""
    found = in_fresh_process("benchmarks.bench_scale:of_sparse", 100_000, 20_000, 0.05, 50, 2000, 400)
    work = "CSR 100,000 × 20,000, 5 % filled, K = 50"
    note = f"{found['rise'] / 1e6:.0f} MB beyond the input"
    everything = f"{found['evaluate rise'] / 1e6:.0f} MB beyond the input"
    return [
        Comparison(f"{work}: VE, MSR and all mergers", "making blocks dense", found["dense"], found["ours"], 5, 5, note),
        Comparison(
            f"{work}: with evidence and findings", "making blocks dense", found["dense"], found["evaluate"], None, None,
            everything,
        ),
    ]  # fmt: skip


def workers(n: int = 4_000_000) -> list[Comparison]:
    """Compare two workers of a Dask cluster with one, on a file that both read."""
    from distributed import Client, LocalCluster

    times, busiest = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        small = write_file(Path(folder) / "small.bin", 50_000, 200)
        source = write_file(Path(folder) / "x.bin", n, 200)
        solution = blocks(n, 200, 50, n // 50, 20)
        for count in (1, 2):
            with (
                LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=None) as cluster,
                Client(cluster) as client,
            ):
                for _ in range(2):  # kernels are compiled, files are read once
                    evaluate(small, blocks(50_000, 200, 50, 1000, 20), metrics=ERRORS, scheduler=client)
                before = client.run(time.process_time)
                times[count] = wall_of(
                    lambda client=client: evaluate(source, solution, metrics=ERRORS, scheduler=client), 2
                )
                after = client.run(time.process_time)
                busiest[count] = max(after[worker] - before[worker] for worker in after)
    note = f"CPU of one worker against that of the busier of two: {busiest[1] / busiest[2]:.2f}"
    work = f"two Dask workers, {n:,} × 200 on disk, K = 50"
    return [Comparison(work, "one worker", times[1], times[2], 1.7, 1.9, note)]


def growth() -> list[Comparison]:
    """Compare ten times the rows on disk, and four times the entries of CSR, with as many times the time."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        sizes, times = [10_000, 100_000, 1_000_000, 10_000_000], []
        for n in sizes:
            source = write_file(Path(folder) / "x.bin", n, 50)
            solution = blocks(n, 50, 20, n // 20, 10)
            times.append(cpu(lambda: TwoPasses(Matrix(source), solution, 1).matrices(), 3))  # noqa: B023
    found += _slopes("rows on disk, × 50, K = 20", sizes, times)
    sizes, times = [], []
    for filled in (0.01, 0.04, 0.16):
        X = sparse_matrix(30_000, 5_000, filled)
        solution = blocks(30_000, 5_000, 20, 3000, 500)
        times.append(cpu(lambda: TwoPasses(Matrix(X), solution, 1).matrices(), 2))  # noqa: B023
        sizes.append(X.nnz)
    return found + _slopes("entries of CSR, 5,000 columns, K = 20", sizes, times)


def _slopes(what: str, sizes: list[int], times: list[float]) -> list[Comparison]:
    """Return how the time grows from the smallest size to the largest; a slope of 1.05 is the most allowed."""
    slopes = np.diff(np.log(times)) / np.diff(np.log(sizes))
    slope = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
    more = sizes[-1] / sizes[0]
    allowed = more**-0.05
    note = f"slope {slope:.2f}; from size to size {', '.join(f'{one:.2f}' for one in slopes)}"
    work, against = f"{sizes[-1]:,} {what}", f"{more:g} × the time of {sizes[0]:,}"
    return [Comparison(work, against, more * times[0], times[-1], allowed, allowed, note)]


PARTS = {"chunks": chunks, "disk": disk, "entries": entries, "workers": workers, "growth": growth}


def main(parts: Sequence[str] = tuple(PARTS)) -> list[Comparison]:
    """Print the table."""
    return print_table("matrices of any size", [row for part in parts for row in PARTS[part]()])


if __name__ == "__main__":
    main(sys.argv[1:] or tuple(PARTS))

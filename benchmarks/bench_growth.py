"""Growth of the default `evaluate` call with rows, columns and K: slopes, and the first thing that breaks.

python -m benchmarks.bench_growth

CPU seconds of this process, one thread. A step breaks if it takes more than `TOLERATED` times what growth in proportion to the
work (rows, columns, or the square of K) would give, or if it fails.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.timing import Comparison, print_table, seconds
from bivaluate import Biclustering, evaluate

ROWS = (1_000, 10_000, 100_000, 1_000_000)
COLUMNS = (10, 100, 1_000, 5_000)
COUNTS = (2, 20, 200, 2_000)
TOLERATED = 1.5
Case = tuple[np.ndarray, Biclustering]


def over_rows(n: int) -> Case:
    """Biclusters of a twentieth of the rows, at any size."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal(size=(n, 50))
    return X, Biclustering(
        [(np.arange(k * n // 12, k * n // 12 + n // 10), rng.permutation(50)[:10]) for k in range(10)], X.shape
    )


def over_columns(m: int) -> Case:
    """Biclusters of a fifth of the columns, at any size."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal(size=(2000, m))
    return X, Biclustering([(rng.permutation(2000)[:100], rng.permutation(m)[: m // 5]) for _ in range(10)], X.shape)


def over_counts(K: int) -> Case:
    """Up to 2000 biclusters of 40 rows and 9 columns."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal(size=(2000, 100))
    return X, Biclustering([(rng.permutation(2000)[:40], rng.permutation(100)[:9]) for _ in range(K)], X.shape)


def grow(
    what: str, sizes: Sequence[int], make: Callable[[int], Case], power: int
) -> tuple[list[Comparison], str | None]:
    """Return each step against growth in proportion to the work, and what broke first."""
    times: list[float] = []
    lines, broken = [], None
    for at, size in enumerate(sizes):
        X, solution = make(size)
        try:
            evaluate(X, solution, n_jobs=1)
            start = time.process_time()
            evaluate(X, solution, n_jobs=1)
            times.append(time.process_time() - start)
        except Exception as error:
            return lines, f"{what} = {size:,}: {type(error).__name__}: {error}"
        if at:
            in_proportion = times[-2] * (size / sizes[at - 1]) ** power
            slope = np.log(times[-1] / times[-2]) / np.log(size / sizes[at - 1])
            against = f"{what} = {sizes[at - 1]:,}, in proportion{' to its square' * (power == 2)}"
            lines.append(
                Comparison(
                    f"evaluate, {what} = {size:,}",
                    against,
                    in_proportion,
                    times[-1],
                    1 / TOLERATED,
                    1,
                    f"slope {slope:.2f}",
                )
            )
            if broken is None and times[-1] > TOLERATED * in_proportion:
                broken = f"{what} = {size:,} takes {seconds(times[-1])}, {times[-1] / in_proportion:.1f} times what growth in proportion gives"
    return lines, broken


def main() -> list[Comparison]:
    """Print slopes and the first thing that breaks."""
    found = []
    for what, sizes, make, power in (
        ("rows", ROWS, over_rows, 1), ("columns", COLUMNS, over_columns, 1), ("K", COUNTS, over_counts, 2),
    ):  # fmt: skip
        lines, broken = grow(what, sizes, make, power)
        found += print_table(f"growth with {what}", lines)
        print(f"first to break over {what}: {broken or 'nothing'}")
    return found


if __name__ == "__main__":
    main()

"""Share out independent work items over threads, coarsely, where that pays."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from bivaluate._check import check_int


class Workers:
    """Threads that work on consecutive slices of a range; what is computed never depends on their number.

    Parameters
    ----------
    n_jobs
        Number of threads; None or -1 for as many as there are cores.
    work
        Rough number of elementary operations in one call of `run`; small work stays on the calling thread.
    """

    LARGEST_PART = 32
    WORTHWHILE = 1_000_000

    def __init__(self, n_jobs: int | None, work: int) -> None:
        if n_jobs is None or n_jobs == -1:
            affinity = getattr(os, "sched_getaffinity", None)
            n_jobs = len(affinity(0)) if affinity else os.cpu_count() or 1
        n_threads = check_int("n_jobs", n_jobs, minimum=1)
        self._pool = ThreadPoolExecutor(n_threads) if n_threads > 1 and work >= self.WORTHWHILE else None

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def run(self, task: Callable[[slice], None], n_items: int) -> None:
        """Call `task` for consecutive slices that cover range(n_items)."""
        size = max(1, min(self.LARGEST_PART, n_items // 16))
        parts = [slice(a, min(a + size, n_items)) for a in range(0, n_items, size)]
        if self._pool is None or len(parts) == 1:
            for part in parts:
                task(part)
        else:
            for future in [self._pool.submit(task, part) for part in parts]:
                future.result()

"""One core count and one way to share work out to threads; what is computed never depends on their number."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from bivaluate._check import check_int


def count_cores(n_jobs: int | None) -> int:
    """Return how many threads or processes `n_jobs` asks for; None and -1 mean every core this process may use."""
    if n_jobs is None or n_jobs == -1:
        affinity = getattr(os, "sched_getaffinity", None)
        return len(affinity(0)) if affinity else os.cpu_count() or 1
    return check_int("n_jobs", n_jobs, minimum=1)


@cache
def _linear_algebra() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()  # looks for the libraries of the process, which takes milliseconds


def one_thread() -> AbstractContextManager[Any]:
    """Return what keeps linear algebra in one thread while it is entered: the same bits on every machine."""
    limit: AbstractContextManager[Any] = _linear_algebra().limit(limits=1)
    return limit


def share_out(tasks: Sequence[Callable[[], object]], threads: int) -> None:
    """Run the tasks, `threads` at a time; after an error no more are begun."""
    if min(threads, len(tasks)) < 2:
        for task in tasks:
            task()
        return
    with ThreadPoolExecutor(min(threads, len(tasks))) as pool:
        try:
            for future in [pool.submit(task) for task in tasks]:
                future.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def read_ahead(read: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
    """Yield ``read(item)`` of each, the next one being read meanwhile."""
    if len(items) < 2:
        yield from map(read, items)
        return
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(read, items[0])
        for item in items[1:]:
            found, coming = coming.result(), pool.submit(read, item)
            yield found
        yield coming.result()


class SliceThreads:
    """Threads that work on consecutive slices of a range; what is computed never depends on their number."""

    LARGEST_PART = 32
    WORTHWHILE = 1_000_000

    def __init__(self, n_jobs: int | None, work: int) -> None:
        n_threads = count_cores(n_jobs)
        self._pool = ThreadPoolExecutor(n_threads) if n_threads > 1 and work >= self.WORTHWHILE else None

    def __enter__(self) -> "SliceThreads":
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def run(self, task: Callable[[slice], None], n_items: int, together: int = 1) -> None:
        """Call `task` for consecutive slices that cover range(n_items), none but the last of fewer than `together`."""
        size = max(together, min(self.LARGEST_PART, n_items // 16))
        parts = [slice(a, min(a + size, n_items)) for a in range(0, n_items, size)]
        if self._pool is None or len(parts) == 1:
            for part in parts:
                task(part)
        else:
            for future in [self._pool.submit(task, part) for part in parts]:
                future.result()

"""Perform tasks on the workers of a Dask scheduler; each matrix travels there once, not with every task."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import CancelledError
from typing import Any

from bivaluate._cluster import connect, distributed, send_to_all
from bivaluate._errors import BivaluateError, RunError
from bivaluate.matrix import Matrix
from bivaluate.sweep.cells import FAILED, MatrixOf, Outcome, Task, Work
from bivaluate.sweep.work import reason_of
from bivaluate.sweep.workers import Workers

TRIES = 3
AHEAD = 4  # tasks per worker thread handed to the scheduler in advance

# Of the Dask worker this runs in: one worker process per thread of it, kept from task to task.
_workers = Workers()


def perform_on_worker(task: Task, matrix: Matrix, limit: float | None) -> list[Outcome]:
    """Perform a task; runs in a thread of a Dask worker, which keeps one worker process."""
    return _workers.perform(task, matrix, limit)


def perform_on_cluster(tasks: Sequence[Task], matrix_of: MatrixOf, address: str, limit: float | None) -> Work:
    """Perform the tasks on a cluster; yield them as they finish."""
    client = connect(address)
    try:
        yield from _Submission(client, matrix_of, limit).finished(tasks)
    except BivaluateError:
        raise
    except OSError as error:
        lost = f"the connection to the Dask scheduler at {address} was lost ({error}). Finished fits are safe"
        raise RunError(f"{lost}: start a scheduler and the same command again.") from error
    finally:
        client.close()


class _Submission:
    """The tasks that are on the cluster, and the matrices scattered for them."""

    def __init__(self, client: Any, matrix_of: MatrixOf, limit: float | None) -> None:
        self._client = client
        self._matrix_of = matrix_of
        self._limit = limit
        self._scattered: dict[Any, Any] = {}
        self._tasks: dict[str, Task] = {}
        self._tries: Counter[Any] = Counter()

    def finished(self, tasks: Sequence[Task]) -> Work:
        ahead = AHEAD * max(1, sum(self._client.nthreads().values()))
        waiting = list(reversed(tasks))
        left = Counter(task.matrix_key for task in tasks)
        first = [self._submit(waiting.pop()) for _ in range(min(ahead, len(waiting)))]
        running = distributed().as_completed(first, loop=self._client.loop)
        for future in running:
            task = self._tasks.pop(future.key)
            outcomes = self._outcomes(task, future)
            if outcomes is None:
                running.add(self._submit(task))
                continue
            if waiting:
                running.add(self._submit(waiting.pop()))
            left[task.matrix_key] -= 1
            if not left[task.matrix_key]:
                self._scattered.pop(task.matrix_key, None)
            yield task, outcomes

    def _submit(self, task: Task) -> Any:
        key = task.matrix_key
        if key not in self._scattered:
            self._scattered[key] = send_to_all(self._client, self._matrix_of(task))
        future = self._client.submit(perform_on_worker, task, self._scattered[key], self._limit, pure=False)
        self._tasks[future.key] = task
        return future

    def _outcomes(self, task: Task, future: Any) -> list[Outcome] | None:
        """Return what a future brought, or None if the task has to be submitted again."""
        if future.status == "finished":
            # a worker may die between finishing its work and handing it over
            with contextlib.suppress(CancelledError):
                return list(future.result())
        if self._client.status != "running":
            raise ConnectionError(f"the client is {self._client.status}")
        self._tries[task.slot(task.ks[-1])] += 1
        if self._tries[task.slot(task.ks[-1])] < TRIES:
            self._scattered.pop(task.matrix_key, None)
            return None
        error = future.exception() if future.status == "error" else None
        reason = reason_of(error) if error is not None else "lost with its workers"
        return [Outcome(k, FAILED, f"on the cluster, {TRIES} times: {reason}") for k in task.ks]

"""Perform tasks on this machine: in this process, or on several worker processes driven by joblib."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence

from bivaluate.matrix import Matrix
from bivaluate.sweep.child import Children, Stopped
from bivaluate.sweep.journal import Outcome
from bivaluate.sweep.work import Task, perform

Finished = tuple[Task, list[Outcome]]
MatrixOf = Callable[[Task], Matrix]


def perform_here(tasks: Sequence[Task], matrix_of: MatrixOf) -> Generator[Finished, None, None]:
    """Perform the tasks one after another in this process, with one thread for linear algebra."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1):
        for task in tasks:
            yield task, perform(task, matrix_of(task))


def perform_parallel(
    tasks: Sequence[Task], matrix_of: MatrixOf, run_key: str, jobs: int, limit: float | None
) -> Generator[Finished, None, None]:
    """Perform the tasks on `jobs` worker processes; yield them as they finish.

    joblib's threads hand out the tasks; each thread owns one single-threaded worker process, because only a
    process can be stopped at a time limit and only a process can crash alone.
    """
    from joblib import Parallel, delayed

    children = Children()

    def one(task: Task) -> Finished | None:
        try:
            return task, children.perform(run_key, task, lambda: matrix_of(task), limit)
        except Stopped:
            return None

    parallel = Parallel(
        n_jobs=min(jobs, len(tasks)), backend="threading", return_as="generator_unordered", batch_size=1
    )
    finished = parallel(delayed(one)(task) for task in tasks)
    try:
        for result in finished:
            if result is not None:
                yield result
    finally:
        children.stop()
        finished.close()

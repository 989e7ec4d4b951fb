"""Worker processes, both sides: a stuck or crashing cell can be stopped and named, and nothing else is hurt.

A worker is ``python -m bivaluate.sweep.workers``. It performs tasks one after another, in one thread, and
speaks pickle over its standard input and output. Started like this, not by multiprocessing, workers need no
``if __name__ == "__main__"`` in the user's script and can be started inside the workers of a Dask cluster.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from queue import Empty, SimpleQueue
from typing import IO, Any

from bivaluate._errors import SparePandas
from bivaluate.algorithms.registry import is_command
from bivaluate.matrix import Matrix
from bivaluate.sweep.cells import FAILED, TIMED_OUT, Finished, MatrixOf, Outcome, Task, Work

ONE_THREAD = (
    *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"),
    *("VECLIB_MAXIMUM_THREADS", "NUMEXPR_NUM_THREADS", "NUMBA_NUM_THREADS"),
)
NO_TIME = "the time was over"
Limit = float | Callable[[], float] | None  # seconds, or how many are left
GRACE = 20.0  # seconds in which a command that broke the limit is ended and its last lines are read
GONE = (EOFError, OSError, pickle.UnpicklingError)  # the other side has ended


def perform_here(tasks: Sequence[Task], matrix_of: MatrixOf) -> Work:
    """Perform the tasks one after another in this process, with one thread for linear algebra."""
    from threadpoolctl import threadpool_limits

    from bivaluate.sweep.work import FitRunner

    runner = FitRunner()
    with threadpool_limits(limits=1):
        for task in tasks:
            yield task, runner.perform(task, matrix_of(task))


def perform_parallel(tasks: Sequence[Task], matrix_of: MatrixOf, jobs: int, limit: Limit, workers: Workers) -> Work:
    """Perform the tasks on `jobs` worker processes and yield them as they finish; the processes end if it is cut short.

    Threads and queues are plain ones: `concurrent.futures.wait` takes locks that an interrupt from the keyboard at the
    wrong moment leaves locked for ever.
    """
    finished, turn = SimpleQueue[Finished | Exception](), threading.Lock()
    waiting, tickets = iter(tasks), SimpleQueue[None]()
    for _ in range(2 * jobs):
        tickets.put(None)

    def work() -> None:
        try:
            while True:
                tickets.get()
                with turn:
                    task = next(waiting, None)
                if task is None:
                    return
                finished.put((task, workers.perform(task, matrix_of(task), limit)))
        except Exception as error:  # for the thread that waits
            finished.put(error)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(min(jobs, len(tasks)))]
    try:
        for thread in threads:
            thread.start()
        for _ in tasks:
            yield _next(finished)
            tickets.put(None)
    except BaseException:
        workers.stop()
        raise
    finally:
        for _ in threads:
            tickets.put(None)
        for thread in threads:
            if thread.ident is not None:
                thread.join()


def _next(finished: SimpleQueue[Finished | Exception]) -> Finished:
    while True:
        with contextlib.suppress(Empty):
            found = finished.get(timeout=1.0)  # on Windows nothing interrupts a wait without an end
            if isinstance(found, Exception):
                raise found
            return found


class Stopped(Exception):
    """The sweep is being ended; no further work."""


class NotTaken(Exception):
    """The worker process ended before it had the task, which is not to blame."""


class Worker:
    """One worker process, seen from its owner."""

    def __init__(self) -> None:
        command = [sys.executable, "-P", "-m", "bivaluate.sweep.workers"]
        env = {**os.environ, **dict.fromkeys(ONE_THREAD, "1")}
        how: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        how["start_new_session"] = True  # Ctrl-C is for the owner
        self._process: subprocess.Popen[bytes] = subprocess.Popen(command, env=env, **how)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests, self._replies = self._process.stdin, self._process.stdout
        self._ready = False
        self._sent: Matrix | None = None

    @property
    def has_ended(self) -> bool:
        """Whether the process is gone: killed, perhaps, while it had nothing to do."""
        return self._process.poll() is not None

    def perform(self, task: Task, matrix: Matrix, limit: float | None) -> list[Outcome]:
        """Perform a task; TimeoutError after `limit` seconds, EOFError if the process dies, NotTaken if it had died."""
        expired, taken = threading.Event(), False

        def expire() -> None:
            expired.set()
            self._process.kill()

        timer = threading.Timer(limit or 0, expire)
        try:
            if not self._ready:
                _send(self._requests, sys.path)
                self._ready = bool(pickle.load(self._replies))
            # The worker keeps the matrix it saw last: tasks of one matrix come together.
            _send(self._requests, (task, None if matrix is self._sent else matrix))
            self._sent = matrix
            if limit is not None:
                timer.start()
            taken = bool(pickle.load(self._replies))
            outcomes: list[Outcome] = pickle.load(self._replies)
        except GONE as error:
            if not expired.is_set():
                raise (EOFError if taken else NotTaken)(self._how_it_ended()) from error
        finally:
            timer.cancel()
            if timer.ident is not None:
                timer.join()
        if expired.is_set():
            raise TimeoutError
        return outcomes

    def close(self) -> None:
        """End the process at once and free its pipes."""
        self._process.kill()
        self._process.wait()
        for stream in (self._requests, self._replies):
            with contextlib.suppress(OSError):
                stream.close()

    def _how_it_ended(self) -> str:
        code = self._process.wait()
        if code >= 0:
            return f"the worker process ended with code {code}"
        name = signal.Signals(-code).name
        return f"the worker process was ended by {name}{'; did the machine run out of memory?' if name == 'SIGKILL' else ''}"


class Workers:
    """Worker processes: started when first needed, each given one task at a time, replaced when one had to be ended."""

    def __init__(self) -> None:
        self._all: set[Worker] = set()
        self._idle: list[Worker] = []
        self._guard = threading.Lock()
        self.stopped = False
        atexit.register(self.stop)

    def start(self, number: int) -> None:
        """Start processes before there are tasks: while they import what they need, matrices can be read."""
        with self._guard:
            while len(self._idle) < number and not self.stopped:
                self._idle.append(self._new())

    def perform(self, task: Task, matrix: Matrix, limit: Limit = None) -> list[Outcome]:
        """Perform a task within a limit; where the process is stopped, or dies, the largest K is at fault."""
        ended: list[Outcome] = []
        given_again = False
        while task.ks:
            start = time.perf_counter()
            seconds = limit() if callable(limit) else limit
            if seconds is not None and seconds <= 0:
                return [*(Outcome(k, TIMED_OUT, NO_TIME) for k in task.ks), *ended]
            grace = GRACE if seconds is not None and is_command(task.key) else 0.0
            worker = self._take()
            try:
                outcomes = worker.perform(task, matrix, None if seconds is None else seconds + grace)
                with self._guard:
                    self._idle.append(worker)
                return outcomes + ended
            except TimeoutError:
                status, reason = TIMED_OUT, NO_TIME if callable(limit) else f"stopped after the limit of {seconds:g} s"
            except (EOFError, NotTaken) as error:
                status, reason = FAILED, str(error)
                if isinstance(error, NotTaken) and not given_again:
                    given_again = True
                    self._end(worker)
                    continue
            self._end(worker)
            ended.insert(0, Outcome(task.ks[-1], status, reason, fit_seconds=time.perf_counter() - start))
            task = replace(task, ks=task.ks[:-1])
        return ended

    def stop(self) -> None:
        """End all processes; unfinished work is abandoned."""
        with self._guard:
            self.stopped = True
            workers, self._all, self._idle = self._all, set(), []
        for worker in workers:
            worker.close()
        atexit.unregister(self.stop)

    def _take(self) -> Worker:
        """Return a process that has nothing to do; those that were killed meanwhile are passed over."""
        with self._guard:
            if self.stopped:
                raise Stopped
            while self._idle:
                worker = self._idle.pop()
                if not worker.has_ended:
                    return worker
                self._all.discard(worker)
                worker.close()
            return self._new()

    def _new(self) -> Worker:
        worker = Worker()
        self._all.add(worker)
        return worker

    def _end(self, worker: Worker) -> None:
        with self._guard:
            self._all.discard(worker)
        worker.close()


_kept: Workers | None = None


@contextlib.contextmanager
def kept_workers() -> Iterator[Workers]:
    """Give worker processes that end with the block; blocks within it, of sweeps that belong together, share them."""
    global _kept
    if _kept is not None and not _kept.stopped:
        yield _kept
        return
    _kept = workers = Workers()
    try:
        yield workers
    finally:
        workers.stop()


def _send(stream: IO[bytes], message: Any) -> None:
    pickle.dump(message, stream, protocol=5)
    stream.flush()


def _end_with(parent: int) -> None:
    """End this process when its owner has ended, however that happened."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def main() -> None:
    """Serve as a worker until the owner closes the connection; what algorithms print goes nowhere near it."""
    replies, requests = os.fdopen(os.dup(1), "wb"), sys.stdin.buffer
    os.dup2(2, 1)
    sys.path[:] = pickle.load(requests)
    sys.meta_path.insert(0, SparePandas())
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored by the owner, it would be by what tasks start
    if os.name == "posix":
        threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    import bivaluate.algorithms.registry
    import bivaluate.evaluation  # noqa: F401
    from bivaluate.sweep.work import FitRunner

    _send(replies, True)
    runner = FitRunner()
    matrix: Any = None
    with contextlib.suppress(EOFError):
        while True:
            task, sent = pickle.load(requests)
            _send(replies, True)
            matrix = matrix if sent is None else sent
            _send(replies, runner.perform(task, matrix))


if __name__ == "__main__":
    main()

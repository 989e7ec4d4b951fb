"""Run tasks in a process of their own, so that a stuck or crashing cell can be stopped and named."""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from bivaluate.matrix import Matrix
from bivaluate.sweep.journal import Outcome
from bivaluate.sweep.work import FAILED, TIMED_OUT, Task
from bivaluate.sweep.worker import receive, send

ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)


class Stopped(Exception):
    """The run is being ended; no further work."""


class Child:
    """One worker process."""

    def __init__(self) -> None:
        options: dict[str, Any] = {"start_new_session": True} if os.name == "posix" else {}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bivaluate.sweep.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **dict.fromkeys(ONE_THREAD, "1")},
            **options,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests, self._replies = self._process.stdin, self._process.stdout
        self._ready = False

    def _wait_until_ready(self) -> None:
        if not self._ready:
            send(self._requests, sys.path)
            self._ready = receive(self._replies) == "ready"

    def perform(self, run_key: str, task: Task, matrix: Callable[[], Matrix], limit: float | None) -> list[Outcome]:
        """Perform a task; TimeoutError after `limit` seconds, EOFError if the process dies."""
        expired = threading.Event()

        def expire() -> None:
            expired.set()
            self.kill()

        timer = threading.Timer(limit, expire) if limit is not None else None
        try:
            self._wait_until_ready()
            send(self._requests, (run_key, task))
            if receive(self._replies):
                send(self._requests, matrix())
            if timer is not None:
                timer.daemon = True
                timer.start()
            return list(receive(self._replies))
        except (EOFError, OSError) as error:
            if expired.is_set():
                raise TimeoutError from error
            raise EOFError(self._epitaph()) from error
        finally:
            if timer is not None:
                timer.cancel()

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()

    def close(self) -> None:
        """End the process and free its pipes."""
        self._process.kill()
        self._process.wait()
        for stream in (self._requests, self._replies):
            with contextlib.suppress(OSError):
                stream.close()

    def _epitaph(self) -> str:
        code = self._process.wait()
        if code >= 0:
            return f"the worker process ended with code {code}"
        name = signal.Signals(-code).name
        hint = "; was memory short?" if name == "SIGKILL" else ""
        return f"the worker process was ended by {name}{hint}"


class Children:
    """One worker process per calling thread, started when first needed and replaced when it had to be ended."""

    def __init__(self) -> None:
        self._own = threading.local()
        self._all: set[Child] = set()
        self._guard = threading.Lock()
        self._stopped = False
        atexit.register(self.stop)

    def perform(
        self, run_key: str, task: Task, matrix: Callable[[], Matrix], limit: float | None = None
    ) -> list[Outcome]:
        """Perform a task within `limit` seconds.

        If the process has to be stopped, or dies, the largest K is at fault and the others are tried without it.
        """
        ended: list[Outcome] = []
        while task.ks:
            start = time.perf_counter()
            try:
                return self._child().perform(run_key, task, matrix, limit) + ended
            except TimeoutError:
                status, reason = TIMED_OUT, f"stopped after the limit of {limit:g} s"
            except EOFError as error:
                status, reason = FAILED, str(error)
            self._drop()
            ended.insert(0, Outcome(task.ks[-1], status, reason, fit_seconds=time.perf_counter() - start))
            task = replace(task, ks=task.ks[:-1])
        return ended

    def stop(self) -> None:
        """End all processes; work under way is given up."""
        with self._guard:
            self._stopped = True
            children, self._all = self._all, set()
        for child in children:
            child.close()
        atexit.unregister(self.stop)

    def _child(self) -> Child:
        child: Child | None = getattr(self._own, "child", None)
        with self._guard:
            if self._stopped:
                raise Stopped
            if child is None:
                child = self._own.child = Child()
                self._all.add(child)
        return child

    def _drop(self) -> None:
        child: Child = self._own.child
        self._own.child = None
        with self._guard:
            if self._stopped:
                raise Stopped
            self._all.discard(child)
        child.close()

"""Processes of tests: they can be interrupted however the suite was started, and none outlives its test."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

LIMIT = 600.0  # seconds for another process to do something; only one that hangs needs as many


@contextmanager
def interruptible() -> Iterator[None]:
    """Let SIGINT interrupt this process, and what it starts, where the suite was started with SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def started(words: list[str], **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    """Start a Python process that sees what this one sees; end it with the block."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.getcwd(), *sys.path])}
    with interruptible():
        process = subprocess.Popen([sys.executable, *words], stderr=subprocess.PIPE, env=environment, **options)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_until(happened: Callable[[], bool], process: subprocess.Popen[bytes] | None = None) -> None:
    """Wait for an event, as long as the process that has to bring it about lives."""
    deadline = time.monotonic() + LIMIT
    while not happened() and (process is None or process.poll() is None):
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.005)


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not asked for does not."""
    try:
        os.kill(pid, 0)
        return not os.path.exists("/proc") or Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def free_port() -> int:
    """Return a port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Cluster:
    """A `dask scheduler` and two `dask worker` processes on this machine."""

    def __init__(self, folder: Path, protocol: str = "tcp", options: tuple[str, ...] = ()) -> None:
        port = str(free_port())
        self.address = f"{protocol}://127.0.0.1:{port}"
        self._folder, self._options = folder, ("--protocol", protocol, *options)
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard")
        self.workers: list[subprocess.Popen[bytes]] = []
        for name in ("one", "two"):
            self.add_worker(name)

    def add_worker(self, name: str) -> None:
        """Start one more worker."""
        options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--name", name]
        self.workers.append(self._start("worker", self.address, "--host", "127.0.0.1", *options))

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        path = os.pathsep.join([os.getcwd(), *sys.path])
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *arguments, *self._options],
            cwd=self._folder,
            env={**os.environ, "PYTHONPATH": path, "PYTHONWARNINGS": "ignore"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    @contextmanager
    def client(self) -> Iterator[Any]:
        """Connect, once both workers are there."""
        from distributed import Client

        with Client(self.address, timeout=LIMIT, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=LIMIT)
            yield client

    def wait(self) -> None:
        """Wait until both workers are there."""
        with self.client():
            pass

    def stop(self) -> None:
        """End all of them."""
        for process in [*self.workers, self.scheduler]:
            process.kill()
            process.wait()

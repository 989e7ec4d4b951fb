"""Processes of tests: they can be interrupted however the suite was started, and none outlives its test."""

from __future__ import annotations

import os
import signal
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

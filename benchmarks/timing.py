"""Time two sides of a comparison in one run, by processor time, so that other work and more cores do not count."""

from __future__ import annotations

import importlib
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


def wall_of(function: Callable[[], object], repeat: int = 5, clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the shortest of `repeat` wall times of one call after a first, in seconds."""
    function()
    times = []
    for _ in range(repeat):
        start = clock()
        function()
        times.append(clock() - start)
    return min(times)


def best_of(function: Callable[[], object], repeat: int = 5) -> float:
    """Return the least of `repeat` processor times of one call after a first, of all its threads, in seconds."""
    return wall_of(function, repeat, time.process_time)


def alternating(*functions: Callable[[], object], repeat: int = 5) -> list[float]:
    """Return the least processor time of each of some calls, made in turn: what slows one slows the others."""
    rounds = [[_once(function) for function in functions] for _ in range(repeat + 1)][1:]
    return [min(times) for times in zip(*rounds, strict=True)]


def spent_by(command: list[str], folder: Path, repeat: int = 7) -> float:
    """Return the least processor time of `repeat` runs of a program in a folder, after a first."""
    times = []
    for _ in range(repeat + 1):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times[1:])


def _once(function: Callable[[], object]) -> float:
    start = time.process_time()
    function()
    return time.process_time() - start


def in_fresh_process(target: str, *arguments: Any) -> Any:
    """Call ``"module:function"`` with JSON arguments in a new interpreter and return its JSON answer."""
    result = subprocess.run(
        [sys.executable, "-m", "benchmarks.timing", target, json.dumps(arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode:
        raise RuntimeError(f"{target} failed:\n{result.stderr}")
    return json.loads(result.stdout.splitlines()[-1])


@dataclass(frozen=True)
class Comparison:
    """One line of a table of ratios; a target of None is not checked."""

    work: str
    against: str
    peer: float
    ours: float
    must: float | None = None
    goal: float | None = None
    note: str = ""
    wall: float | None = None  # of ours with all cores

    @property
    def ratio(self) -> float:
        """How many times faster ours is."""
        return self.peer / self.ours

    @property
    def verdict(self) -> str:
        """Which target is reached."""
        if self.goal is not None and self.ratio >= self.goal:
            return "goal"
        if self.must is not None:
            return "must" if self.ratio >= self.must else "MISSED"
        return ""


def print_table(title: str, comparisons: list[Comparison]) -> list[Comparison]:
    """Print one line per comparison, and return them."""
    print(f"\n{title}")
    print(f"{'work':<56}{'peer':>12}{'ours':>12}{'ratio':>8}{'all cores':>12}{'must':>6}{'goal':>6}  reached")
    for c in comparisons:
        must, goal = (f"{t:.3g}x" if t is not None else "" for t in (c.must, c.goal))
        print(
            f"{c.work:<56}{seconds(c.peer):>12}{seconds(c.ours):>12}{c.ratio:>7.1f}x"
            f"{'' if c.wall is None else seconds(c.wall):>12}{must:>6}{goal:>6}"
            f"  {c.verdict:<7} {c.note}",
            flush=True,
        )
    return comparisons


def seconds(value: float) -> str:
    """Return a duration in the unit that suits it."""
    for factor, unit in ((1.0, "s"), (1e3, "ms")):
        if value * factor >= 1:
            return f"{value * factor:.2f} {unit}"
    return f"{value * 1e6:.1f} µs"


def _main(target: str, arguments: str) -> None:
    module, function = target.split(":")
    print(json.dumps(getattr(importlib.import_module(module), function)(*json.loads(arguments))))


if __name__ == "__main__":
    _main(*sys.argv[1:])

"""A long sweep whose workers and parent are killed at random, against an undisturbed one.

Run it with ``python -m benchmarks.soak --minutes 30``. It ends with code 0 if the tables are identical to the byte, the
folder is whole, and no finished cell was lost on the way.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from bivaluate import Matrix, write_matrix
from bivaluate._errors import BivaluateError
from bivaluate.sweep import Plan, Sweep, check_run, load_run

SCRIPT = """
import sys
from bivaluate.sweep import Plan, Sweep
Sweep(Plan.from_toml(sys.argv[1]), sys.argv[2], jobs=2, retry=sys.argv[3] == "retry").run()
"""
LONGEST = 12.0  # seconds from the start of workers, or a kill, to the next kill


def children(parent: int) -> list[int]:
    """Return the processes another one started, where the system tells (Linux)."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if int((entry / "stat").read_text().rpartition(")")[2].split()[1]) == parent:
                found.append(int(entry.name))
        except (OSError, ValueError, IndexError):
            continue
    return found


def resident(process: int) -> float:
    """Return the megabytes a process holds."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    except (OSError, ValueError):
        return float("nan")


def finished(folder: Path) -> int:
    """Return how many cells ended well."""
    try:
        return int((load_run(folder).results["status"] == "ok").sum())
    except BivaluateError:
        return 0


def soak(minutes: float, seed: int, cells: int) -> bool:
    """Kill, continue and compare; return whether everything held."""
    rng, end = random.Random(seed), time.monotonic() + 60 * minutes
    held, killed = True, {"workers": 0, "parents": 0}
    memory: list[float] = []
    with tempfile.TemporaryDirectory(prefix="bivaluate-soak-") as temporary:
        folder = Path(temporary)
        write_matrix(Matrix(np.random.default_rng(seed).normal(size=(60, 20))), folder / "m.csv")
        plan = Plan([str(folder / "m.csv")], ["cca"], [2, 3, 4], seeds=max(1, cells // 3))
        (folder / "plan.toml").write_text(plan.to_toml())

        def start(how: str = "") -> subprocess.Popen[bytes]:
            words = [sys.executable, "-c", SCRIPT, str(folder / "plan.toml"), str(folder / "run"), how]
            return subprocess.Popen(words, stderr=subprocess.DEVNULL)

        done = 0
        process = start()
        while time.monotonic() < end and process.poll() is None:
            while process.poll() is None and not children(process.pid):
                time.sleep(0.1)  # until it works
            time.sleep(rng.uniform(0, LONGEST))
            workers = children(process.pid)
            if process.poll() is None:
                memory.append(resident(process.pid))
            if workers and rng.random() < 0.5:
                os.kill(rng.choice(workers), signal.SIGKILL)
                killed["workers"] += 1
                continue
            process.kill()
            process.wait()
            killed["parents"] += 1
            now = finished(folder / "run")
            if now < done:
                held = False
                print(f"lost: {done} cells were finished, {now} are left")
            done = now
            process = start("retry" if rng.random() < 0.3 else "")
        process.wait()
        while load_run(folder / "run").missing or finished(folder / "run") < len(load_run(folder / "run").cells):
            start("retry").wait()
        Sweep(plan, folder / "quiet", jobs=2).run()
        same = [
            (folder / "run" / name).read_bytes() == (folder / "quiet" / name).read_bytes()
            for name in ("results.csv", "biclusters.csv")
        ]
        faults = check_run(folder / "run")
    print(f"{3 * max(1, cells // 3):,} cells, seed {seed}")
    print(f"killed: {killed['workers']} workers, {killed['parents']} parents")
    print(
        f"tables identical to an undisturbed run: {all(same)}; faults of the folder: {len(faults)} {faults[:3] or ''}"
    )
    known = [value for value in memory if value == value]
    if known:
        print(f"memory of the parent: first {known[0]:.0f} MB, most {max(known):.0f} MB, last {known[-1]:.0f} MB")
    return held and all(same) and not faults


def main() -> None:
    """Read the options and soak."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cells", type=int, default=10_000)
    given = parser.parse_args()
    sys.exit(not soak(given.minutes, given.seed, given.cells))


if __name__ == "__main__":
    main()

"""A long sweep whose workers, parent and scheduler are killed at random, against an undisturbed one.

Run it with ``python -m benchmarks.soak --minutes 30``. The undisturbed run comes first and shows the memory of one parent
over all cells. Then the same plan is run again and again, on two processes of this machine or on a Dask cluster, whichever
chance takes, until the time is over. It ends with code 0 if all tables are identical to the byte, the folders whole, no
finished cell was lost on the way, and the memory of the parent stayed flat.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import numpy as np

from bivaluate import Matrix, write_matrix
from bivaluate.sweep import Plan, check_run
from bivaluate.sweep.cells import FAILED, TIMED_OUT
from tests.processes import Cluster

SCRIPT = """
import sys
from bivaluate.sweep import Plan, Sweep
where = {"scheduler": sys.argv[3]} if sys.argv[3] else {"jobs": 2}
Sweep(Plan.from_toml(sys.argv[1]), sys.argv[2], retry=sys.argv[4] == "retry", **where).run()
"""
LONGEST = 12.0  # seconds from the start of work, or a kill, to the next kill
GROWTH = 20.0  # megabytes the parent may hold at its end above what it held after a tenth of its cells


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


def ended(folder: Path, status: str = f"status NOT IN ('{FAILED}', '{TIMED_OUT}')") -> int:
    """Return how many cells were fitted and scored, or have another status; 0 where nothing is laid out yet."""
    try:
        with closing(sqlite3.connect(f"file:{folder / 'journal.sqlite'}?mode=ro", uri=True)) as journal:
            return int(journal.execute(f"SELECT count(*) FROM cells WHERE {status}").fetchone()[0])
    except sqlite3.Error:
        return 0


class Soak:
    """The plan, what was killed, and what did not hold."""

    def __init__(self, folder: Path, seed: int, cells: int) -> None:
        self.folder, self.rng = folder, random.Random(seed)
        self.cells, self.killed, self.faults = 3 * max(1, cells // 3), Counter[str](), list[str]()
        write_matrix(Matrix(np.random.default_rng(seed).normal(size=(60, 20))), folder / "m.csv")
        plan = Plan([str(folder / "m.csv")], ["cca"], [2, 3, 4], seeds=self.cells // 3)
        (folder / "plan.toml").write_text(plan.to_toml())

    def start(self, out: str, scheduler: str = "", retry: str = "") -> subprocess.Popen[bytes]:
        """Start the sweep, or go on with it."""
        words = [sys.executable, "-c", SCRIPT, str(self.folder / "plan.toml"), str(self.folder / out), scheduler, retry]
        return subprocess.Popen(words, stderr=subprocess.DEVNULL)

    def undisturbed(self) -> str:
        """Run the plan in one parent; return what it held on the way."""
        process, held = self.start("quiet"), {}
        while process.poll() is None:
            held[ended(self.folder / "quiet")] = resident(process.pid)
            time.sleep(0.5)
        working = {done: value for done, value in held.items() if done < self.cells and value > 0}
        if not working:
            return "memory of the parent: unknown on this system"
        early, late = (min(working, key=lambda done, at=at: abs(done - at * self.cells)) for at in (0.1, 1.0))
        if working[late] > working[early] + GROWTH:
            self.faults.append("the memory of the parent grew")
        return (
            f"memory of one parent over {self.cells:,} cells: {working[early]:.0f} MB after {early:,} cells, "
            f"{working[late]:.0f} MB after {late:,}, {max(held.values()):.0f} MB at most"
        )

    def disturbed(self, out: str, end: float) -> None:
        """Run the plan, killing until the time is over or the run ends, and compare with the undisturbed one."""
        run, done, ended_well = self.folder / out, 0, False
        while not ended_well or ended(run) < self.cells:  # the last cell may be there and the tables not
            cluster = Cluster(self.folder) if self.rng.random() < 0.5 and time.monotonic() < end else None
            address = cluster.address if cluster is not None else ""
            process = self.start(out, address, "retry" if self.rng.random() < 0.3 or time.monotonic() > end else "")
            try:
                while process.poll() is None and time.monotonic() < end:
                    if not self.kill_something(process, cluster, run):
                        break
                if time.monotonic() < end:
                    process.kill()
                ended_well = process.wait() == 0
            finally:
                process.kill()
                process.wait()
                if cluster is not None:
                    cluster.stop()
            if ended(run) < done:
                self.faults.append(f"{out}: {done} cells were finished, {ended(run)} are left")
            done = ended(run)
        for name in ("results.csv", "biclusters.csv"):
            if (run / name).read_bytes() != (self.folder / "quiet" / name).read_bytes():
                self.faults.append(f"{out}: {name} differs")
        self.faults += [f"{out}: {fault}" for fault in check_run(run)]

    def kill_something(self, process: subprocess.Popen[bytes], cluster: Cluster | None, run: Path) -> bool:
        """Kill one of those that work, once they do; return whether the parent is left to go on."""
        before = ended(run, "status IS NOT NULL")
        while process.poll() is None and ended(run, "status IS NOT NULL") == before:
            time.sleep(0.1)  # until it works
        time.sleep(self.rng.uniform(0, LONGEST))
        if process.poll() is not None:
            return False
        victims = {"parent": [process.pid]}
        if cluster is None:
            victims["worker"] = children(process.pid)
        else:
            victims["worker"] = [pid for worker in cluster.workers for pid in children(worker.pid)]
            victims |= {"Dask worker": [cluster.workers[-1].pid], "scheduler": [cluster.scheduler.pid]}
        kind = self.rng.choice(sorted(kind for kind, found in victims.items() if found))
        os.kill(self.rng.choice(victims[kind]), signal.SIGKILL)
        self.killed[kind] += 1
        if cluster is not None and kind == "Dask worker":
            cluster.workers[-1].wait()
            cluster.add_worker(f"{self.killed[kind]}")
        if cluster is not None and kind == "scheduler":
            process.wait()  # it says that the scheduler is lost, and ends
        return kind in ("worker", "Dask worker")


def soak(minutes: float, seed: int, cells: int) -> bool:
    """Kill, continue and compare; return whether everything held."""
    with tempfile.TemporaryDirectory(prefix="bivaluate-soak-") as temporary:
        soaked = Soak(Path(temporary), seed, cells)
        memory = soaked.undisturbed()
        print(memory, flush=True)
        end, rounds = time.monotonic() + 60 * minutes, 0
        while time.monotonic() < end:
            rounds += 1
            soaked.disturbed(f"run{rounds}", end)
    print(f"{soaked.cells:,} cells, run {rounds} times in {minutes:g} minutes, seed {seed}")
    print("killed: " + ", ".join(f"{n} x {kind}" for kind, n in sorted(soaked.killed.items())))
    print("\n".join(soaked.faults) or "all tables identical to the byte, all folders whole, no finished cell lost")
    return not soaked.faults


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

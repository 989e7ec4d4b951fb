"""A sweep in a process of its own is killed, interrupted and contested."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from bivaluate._errors import RunError
from bivaluate.sweep.load import load_run
from bivaluate.sweep.plan import Plan
from bivaluate.sweep.run import Sweep
from tests.sweep.standins import BLOCKS

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of this kind are POSIX")

SCRIPT = """
import json, sys
from bivaluate.sweep.plan import Plan
from bivaluate.sweep.run import Sweep
Sweep(Plan.from_dict(json.loads(sys.argv[1])), sys.argv[2], jobs=int(sys.argv[3])).run()
"""


def start(plan: Plan, out: Path, jobs: int) -> subprocess.Popen[bytes]:
    arguments = [json.dumps(plan.to_dict()), str(out), str(jobs)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.getcwd(), *sys.path])}
    return subprocess.Popen([sys.executable, "-c", SCRIPT, *arguments], stderr=subprocess.PIPE, env=environment)


def logged(log: Path) -> list[tuple[int, int]]:
    """Return (seed, process id) of every fit begun."""
    lines = log.read_text().splitlines() if log.exists() else []
    return [(int(line.split()[1]), int(line.split()[2])) for line in lines]


def wait_for_fits(log: Path, n: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while len(logged(log)) < n and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)


def finished_seeds(out: Path) -> set[int]:
    try:
        run = load_run(out)
    except RunError:  # killed before the journal was laid out
        return set()
    return {cell.seed for cell in run.cells} - {cell.seed for cell in run.missing}


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z" if os.path.exists("/proc") else True


@pytest.mark.parametrize(("jobs", "moments"), [(1, (1, 8, 5, 9)), (2, (9,))])
def test_killed_at_any_moment(jobs: int, moments: tuple[int, ...], tmp_path: Path, matrix_file: str) -> None:
    log, out = tmp_path / "log", tmp_path / "run"
    parameters = {BLOCKS: {"log": str(log), "seconds": 0.03}}
    plan = Plan([matrix_file], [BLOCKS], [2, 3], seeds=30, parameters=parameters)
    done: set[int] = set()
    for more in moments:
        before = len(logged(log))
        process = start(plan, out, jobs)
        wait_for_fits(log, before + more, process)
        process.kill()
        process.communicate()
        begun = [seed for seed, _ in logged(log)[before:]]
        assert not done & set(begun), "a finished cell was repeated"
        now = finished_seeds(out)
        assert done <= now, "a finished cell was lost"
        done = now
    assert 0 < len(done) < 30
    workers = {pid for _, pid in logged(log)}
    before = len(logged(log))
    process = start(plan, out, jobs)
    assert process.wait(60) == 0
    process.communicate()
    assert not done & {seed for seed, _ in logged(log)[before:]}
    quiet = Plan([matrix_file], [BLOCKS], [2, 3], seeds=30)
    fresh = Sweep(quiet, tmp_path / "fresh").run()
    pd.testing.assert_frame_equal(load_run(out).results, fresh.results)
    assert (out / "results.csv").read_bytes() == (tmp_path / "fresh" / "results.csv").read_bytes()
    deadline = time.monotonic() + 10
    while any(map(alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(map(alive, workers)), "a worker outlived its owner"


@pytest.mark.parametrize("jobs", [1, 2])
def test_interrupted_from_the_keyboard(jobs: int, tmp_path: Path, matrix_file: str) -> None:
    log, out = tmp_path / "log", tmp_path / "run"
    parameters = {BLOCKS: {"log": str(log), "seconds": 0.05}}
    plan = Plan([matrix_file], [BLOCKS], [2, 3], seeds=200, parameters=parameters)
    process = start(plan, out, jobs)
    wait_for_fits(log, 6, process)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert b"KeyboardInterrupt" in errors
    run = load_run(out)
    assert 0 < len(run.results) < 400
    assert len(pd.read_csv(out / "results.csv")) == len(run.results)
    assert run.provenance["sessions"][-1]["ended"] is not None
    assert not list(out.rglob(".*.part*")) + list(out.glob("journal.sqlite-*"))


def test_a_second_process_is_refused_and_a_killed_one_leaves_no_lock(tmp_path: Path, matrix_file: str) -> None:
    log, out = tmp_path / "log", tmp_path / "run"
    plan = Plan([matrix_file], [BLOCKS], [2], seeds=3, parameters={BLOCKS: {"log": str(log), "seconds": 1.0}})
    process = start(plan, out, 1)
    wait_for_fits(log, 1, process)
    with pytest.raises(RunError, match="another process is working on"):
        Sweep(plan, out).run()
    assert len(load_run(out).cells) == 3
    process.kill()
    process.communicate()
    assert len(Sweep(plan, out).run().results) == 3


def test_a_script_needs_no_main_guard(tmp_path: Path, matrix_file: str) -> None:
    plan = Plan([matrix_file], [BLOCKS], [2], seeds=3)
    words = [json.dumps(plan.to_dict()), str(tmp_path / "run"), "2"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.getcwd(), *sys.path])}
    subprocess.run([sys.executable, "-", *words], input=SCRIPT, text=True, env=environment, check=True)
    assert load_run(tmp_path / "run").results["status"].tolist() == ["ok"] * 3

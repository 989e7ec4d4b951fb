"""A sweep in a process of its own is killed, interrupted and contested."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import AbstractContextManager
from pathlib import Path

import pandas as pd
import pytest

from bivaluate import FileError, Plan, RunError, Sweep, load_run, read_matrix
from bivaluate.sweep.workers import Worker, Workers, kept_workers
from tests.processes import LIMIT, alive, interruptible, started, wait_until
from tests.sweep.standins import BLOCKS, FREED, INTERRUPTIBLE, all_tasks

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of this kind are POSIX")

SCRIPT = """
import json, sys
from bivaluate import Plan, Sweep
Sweep(Plan.from_dict(json.loads(sys.argv[1])), sys.argv[2], jobs=int(sys.argv[3])).run()
"""


def start(plan: Plan, out: Path, jobs: int) -> AbstractContextManager[subprocess.Popen[bytes]]:
    return started(["-c", SCRIPT, json.dumps(plan.to_dict()), str(out), str(jobs)])


def logged(log: Path) -> list[tuple[int, int]]:
    """Return (seed, process id) of every fit begun."""
    lines = log.read_text().splitlines() if log.exists() else []
    return [(int(line.split()[1]), int(line.split()[2])) for line in lines]


def wait_for_fits(log: Path, n: int, process: subprocess.Popen[bytes]) -> None:
    wait_until(lambda: len(logged(log)) >= n, process)


def finished_seeds(out: Path) -> set[int]:
    try:
        run = load_run(out)
    except RunError:  # killed before the journal was laid out
        return set()
    return {cell.seed for cell in run.cells} - {cell.seed for cell in run.missing}


@pytest.mark.parametrize(("jobs", "moments"), [(1, (1, 9)), (2, (9,))])
def test_killed_at_any_moment(jobs: int, moments: tuple[int, ...], tmp_path: Path, matrix_file: str) -> None:
    log, out, go = tmp_path / "log", tmp_path / "run", tmp_path / "go"
    parameters = {BLOCKS: {"log": str(log), "seconds": 0.03, "held_from": 25, "until": str(go)}}
    plan = Plan([matrix_file], [BLOCKS], [2, 3], seeds=30, parameters=parameters)
    done: set[int] = set()
    for more in moments:
        before = len(logged(log))
        with start(plan, out, jobs) as process:
            wait_for_fits(log, before + more, process)
        begun = [seed for seed, _ in logged(log)[before:]]
        assert not done & set(begun), "a finished cell was repeated"
        now = finished_seeds(out)
        assert done <= now, "a finished cell was lost"
        done = now
    assert 0 < len(done) < 30
    workers = {pid for _, pid in logged(log)}
    before = len(logged(log))
    go.touch()
    with start(plan, out, jobs) as process:
        assert process.wait(LIMIT) == 0
    assert not done & {seed for seed, _ in logged(log)[before:]}
    quiet = Plan([matrix_file], [BLOCKS], [2, 3], seeds=30)
    fresh = Sweep(quiet, tmp_path / "fresh").run()
    pd.testing.assert_frame_equal(load_run(out).results, fresh.results)
    assert (out / "results.csv").read_bytes() == (tmp_path / "fresh" / "results.csv").read_bytes()
    wait_until(lambda: not any(map(alive, workers)))  # no worker outlives its owner


@pytest.mark.parametrize("jobs", [1, 2])
def test_interrupted_from_the_keyboard(jobs: int, tmp_path: Path, matrix_file: str) -> None:
    log, out = tmp_path / "log", tmp_path / "run"
    parameters = {BLOCKS: {"log": str(log), "held_from": 8, "until": str(tmp_path / "never")}}
    plan = Plan([matrix_file], [BLOCKS], [2, 3], seeds=12, parameters=parameters)
    with start(plan, out, jobs) as process:
        wait_for_fits(log, 8 + jobs, process)  # until all that is left is held
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=LIMIT)
    assert b"KeyboardInterrupt" in errors
    run = load_run(out)
    assert 0 < len(run.results) < 24
    assert len(pd.read_csv(out / "results.csv")) == len(run.results)
    assert run.provenance["sessions"][-1]["ended"] is not None
    assert not list(out.rglob(".*.part*")) + list(out.glob("journal.sqlite-*"))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_that_python_drops_stops_the_sweep_after_the_cell(tmp_path: Path, matrix_file: str) -> None:
    with interruptible():
        with pytest.raises(KeyboardInterrupt):
            Sweep(Plan([matrix_file], [FREED], [2], seeds=3), tmp_path / "run").run()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert len(load_run(tmp_path / "run").results) == len(pd.read_csv(tmp_path / "run" / "results.csv")) == 1


def test_workers_can_be_interrupted_though_their_owner_cannot(tmp_path: Path, matrix_file: str) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        run = Sweep(Plan([matrix_file], [INTERRUPTIBLE], [2]), tmp_path / "run", jobs=2).run()
    finally:
        signal.signal(signal.SIGINT, before)
    assert run.results["status"].tolist() == ["ok"], run.results["reason"].tolist()


def test_kept_workers_serve_the_next_sweep_and_one_that_is_killed_is_replaced(tmp_path: Path, matrix_file: str) -> None:
    log = tmp_path / "log"
    plan = Plan([matrix_file], [BLOCKS], [2, 3], seeds=6, parameters={BLOCKS: {"log": str(log), "seconds": 0.02}})

    def served_by(name: str) -> set[int]:
        log.unlink(missing_ok=True)
        run = Sweep(plan, tmp_path / name, jobs=2).run()
        assert run.results["status"].tolist() == ["ok"] * 12, run.results["reason"].tolist()
        return {pid for _, pid in logged(log)}

    with kept_workers():
        first, second = served_by("first"), served_by("second")
        assert 0 < len(first | second) <= 2
        for pid in first | second:
            os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not any(map(alive, first | second)))
        third = served_by("third")  # nobody's task fails for it
        assert third
        assert not third & (first | second)
    assert not any(map(alive, third))


def test_workers_start_while_matrices_are_read_and_end_where_one_cannot_be(
    tmp_path: Path, matrix_file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    started_ones: list[int] = []

    class Noted(Worker):
        def __init__(self) -> None:
            super().__init__()
            started_ones.append(self._process.pid)

    def refuse(*_: object) -> None:
        assert len(started_ones) == 2
        raise FileError("it cannot be read")

    monkeypatch.setattr("bivaluate.sweep.workers.Worker", Noted)
    monkeypatch.setattr("bivaluate.io.read_matrix", refuse)
    with pytest.raises(FileError, match="it cannot be read"):
        Sweep(Plan([matrix_file], [BLOCKS, INTERRUPTIBLE], [2]), tmp_path / "run", jobs=3).run()
    assert not any(map(alive, started_ones))


@pytest.mark.parametrize("is_seen", [True, False])
def test_a_worker_killed_between_two_tasks_fails_neither(
    matrix_file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_seen: bool
) -> None:
    if not is_seen:  # as if it was killed between the look at it and the task
        monkeypatch.setattr("bivaluate.sweep.workers.Worker.has_ended", False)
    log = tmp_path / "log"
    plan = Plan([matrix_file], [BLOCKS], [2], parameters={BLOCKS: {"log": str(log)}})
    workers, matrix = Workers(), read_matrix(matrix_file)
    (task,) = all_tasks(plan, matrix)
    try:
        for n in (1, 2):
            assert [outcome.status for outcome in workers.perform(task, matrix)] == ["ok"]
            (_, pid) = logged(log)[n - 1]
            os.kill(pid, signal.SIGKILL)
            wait_until(lambda pid=pid: not alive(pid))
    finally:
        workers.stop()


def test_a_second_process_is_refused_and_a_killed_one_leaves_no_lock(tmp_path: Path, matrix_file: str) -> None:
    log, out, go = tmp_path / "log", tmp_path / "run", tmp_path / "go"
    parameters = {BLOCKS: {"log": str(log), "held_from": 0, "until": str(go)}}
    plan = Plan([matrix_file], [BLOCKS], [2], seeds=3, parameters=parameters)
    with start(plan, out, 1) as process:
        wait_for_fits(log, 1, process)
        with pytest.raises(RunError, match="another process is working on"):
            Sweep(plan, out).run()
        assert len(load_run(out).cells) == 3
    go.touch()
    assert len(Sweep(plan, out).run().results) == 3


def test_a_script_needs_no_main_guard(tmp_path: Path, matrix_file: str) -> None:
    plan = Plan([matrix_file], [BLOCKS], [2], seeds=3)
    words = [json.dumps(plan.to_dict()), str(tmp_path / "run"), "2"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.getcwd(), *sys.path])}
    subprocess.run([sys.executable, "-", *words], input=SCRIPT, text=True, env=environment, check=True)
    assert load_run(tmp_path / "run").results["status"].tolist() == ["ok"] * 3

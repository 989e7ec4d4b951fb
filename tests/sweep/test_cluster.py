"""Against a real scheduler and two real workers on this machine."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest

from bivaluate import Plan, RunError, Sweep
from bivaluate.sweep import Cell
from bivaluate.sweep import dask as cluster
from tests.processes import LIMIT, Cluster, free_port
from tests.sweep.standins import BLOCKS

pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One cluster for the three tests that follow: the second kills a worker, the third the scheduler."""
    cluster_of_two = Cluster(tmp_path_factory.mktemp("dask"))
    try:
        cluster_of_two.wait()
        yield cluster_of_two
    finally:
        cluster_of_two.stop()


@pytest.fixture
def dask_cluster(started: Cluster, limits: Callable[..., None]) -> Cluster:
    assert started.scheduler.poll() is None, "the test that kills the scheduler comes last"
    limits(CONNECT_SECONDS=LIMIT)
    return started


def test_one_scatter_per_matrix_and_time_limits(
    dask_cluster: Cluster, tmp_path: Path, matrix_file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from distributed import Client

    scattered = []
    scatter = Client.scatter

    def count(self: Client, data: object, **options: object) -> object:
        scattered.append(options["broadcast"])
        return scatter(self, data, **options)

    monkeypatch.setattr(Client, "scatter", count)
    parameters = {BLOCKS: {"stuck_from": 4}}
    plan = Plan([matrix_file], [BLOCKS], [2, 3, 5], seeds=2, parameters=parameters, time_limit=5.0)
    run = Sweep(plan, tmp_path / "run", scheduler=dask_cluster.address).run()
    assert scattered == [True]
    assert run.results["status"].tolist() == ["ok"] * 4 + ["timed out"] * 2


def test_a_worker_killed_in_the_middle_costs_only_time(dask_cluster: Cluster, tmp_path: Path, matrix_file: str) -> None:
    log = tmp_path / "log"
    plan = Plan(
        ["scenario:S9b", matrix_file],
        ["cca", BLOCKS],
        [2, 3],
        seeds=12,
        parameters={BLOCKS: {"log": str(log), "seconds": 0.08}},
    )
    order: list[Cell] = []
    killed: list[Cell] = []

    def kill_one(done: int, total: int, cell: Cell) -> None:
        order.append(cell)
        both_took_part = log.exists() and len({line.split()[2] for line in log.read_text().splitlines()}) == 2
        if both_took_part and not killed:
            dask_cluster.workers[0].send_signal(signal.SIGKILL)
            killed.append(cell)

    run = Sweep(plan, tmp_path / "run", scheduler=dask_cluster.address, progress=kill_one).run()
    assert killed
    assert len(order) > order.index(killed[0]) + 1, "killed before the end"
    assert dask_cluster.workers[0].wait(LIMIT) == -signal.SIGKILL
    assert len(order) == len(set(order)) == len(run.cells)
    assert set(run.results["status"]) == {"ok"}
    local = Sweep(plan, tmp_path / "local").run()
    pd.testing.assert_frame_equal(run.results, local.results)
    pd.testing.assert_frame_equal(run.biclusters, local.biclusters)
    assert (tmp_path / "run" / "results.csv").read_bytes() == (tmp_path / "local" / "results.csv").read_bytes()


def test_a_lost_scheduler(dask_cluster: Cluster, tmp_path: Path, matrix_file: str) -> None:
    def kill_scheduler(done: int, total: int, cell: Cell) -> None:
        dask_cluster.scheduler.kill()

    plan = Plan([matrix_file], [BLOCKS], [2], seeds=20, parameters={BLOCKS: {"seconds": 0.1}})
    lost = Sweep(plan, tmp_path / "lost", scheduler=dask_cluster.address, progress=kill_scheduler)
    with pytest.raises(RunError, match=r"connection to the Dask scheduler .* was lost .* Finished fits are safe"):
        lost.run()
    assert 0 < len(Sweep(plan, tmp_path / "lost").run().results) == 20


def test_no_scheduler_no_workers(tmp_path: Path, matrix_file: str, limits: Callable[..., None]) -> None:
    limits(CONNECT_SECONDS=1)
    plan = Plan([matrix_file], [BLOCKS], [2])
    address = f"tcp://127.0.0.1:{free_port()}"
    with pytest.raises(RunError, match=rf"no Dask scheduler answers at {re.escape(address)}.*`dask scheduler`"):
        Sweep(plan, tmp_path / "run", scheduler=address).run()


def test_tries_are_limited() -> None:
    class Future:
        status = "error"

        def exception(self) -> Exception:
            return RuntimeError("killed too many workers")

    from bivaluate.sweep.cells import Task

    class Client:
        status = "running"

    task = Task("d", None, 0, "cca", (2, 3), 0)
    submission = cluster._Submission(Client(), lambda task: None, None)  # type: ignore[arg-type, return-value]
    assert submission._outcomes(task, Future()) is None
    assert submission._outcomes(task, Future()) is None
    outcomes = submission._outcomes(task, Future())
    assert outcomes is not None
    assert [o.status for o in outcomes] == ["failed", "failed"]
    assert outcomes[0].reason == "on the cluster, 3 times: RuntimeError: killed too many workers"


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl to make a certificate")
def test_tls_with_a_certificate_of_our_own(tmp_path: Path, matrix_file: str, limits: Callable[..., None]) -> None:
    import dask.config

    limits(CONNECT_SECONDS=LIMIT)
    certificate, key = (str(tmp_path / name) for name in ("certificate.pem", "key.pem"))
    words = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=bivaluate"
    subprocess.run([*words.split(), "-keyout", key, "-out", certificate], check=True, capture_output=True)
    options = ("--tls-ca-file", certificate, "--tls-cert", certificate, "--tls-key", key)
    tls = {"ca-file": certificate, "client.cert": certificate, "client.key": key}
    secured = {f"distributed.comm.tls.{name}": value for name, value in tls.items()}
    there = Cluster(tmp_path, "tls", options)
    plan = Plan([matrix_file], [BLOCKS], [2, 3], seeds=2)
    try:
        with dask.config.set({**secured, "distributed.comm.require-encryption": True}):
            there.wait()
            run = Sweep(plan, tmp_path / "run", scheduler=there.address).run()
        assert run.results["status"].tolist() == ["ok"] * 4
        assert set(run.provenance["sessions"][-1]["jobs"].split()) == {"dask", there.address}
        limits(CONNECT_SECONDS=1)
        for address, message in (
            (there.address, r"Name the certificates in Dask's configuration"),
            (there.address.replace("tls", "tcp"), "no Dask scheduler answers"),
        ):
            with pytest.raises(RunError, match=message):
                Sweep(plan, tmp_path / "refused", scheduler=address).run()
    finally:
        there.stop()

"""Rows on a real scheduler with two real workers on this machine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import scipy.sparse

from bivaluate import Biclustering, MatrixError, ParameterError, RunError, _cluster, evaluate, write_solution
from tests.processes import LIMIT, Cluster
from tests.sources import in_file

da = pytest.importorskip("dask.array")
pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("ignore::bivaluate._errors.BivaluateWarning")


def slowly(block):
    time.sleep(0.02)
    return block


class Leaving:
    """A client whose workers leave while they are sent something, so many times."""

    status = "running"

    def __init__(self, *errors):
        self.errors = list(errors)

    def scatter(self, values, **options):
        if self.errors:
            raise self.errors.pop(0)
        return values


def test_a_worker_lost_while_data_are_sent_costs_a_try(limits):
    limits(WAIT_SECONDS=0)
    client = Leaving(KeyError("tcp://127.0.0.1:40663"), OSError("closed"))
    assert _cluster.send_to_all(client, "value") == "value"
    gone = [KeyError("tcp://127.0.0.1:40663")] * _cluster.TRIES
    with pytest.raises(
        RunError, match=r"was lost \(workers were lost 3 times while data were sent to them\)\. Start a"
    ):
        _cluster.submit(Leaving(*gone), len, "value", [])
    client = Leaving()
    client.status = "closed"
    with pytest.raises(RunError, match=r"was lost \(the client is closed\)"):
        _cluster.submit(client, len, "value", [])


def counts():
    rng = np.random.default_rng(0)
    X = rng.poisson(0.4, size=(400, 30)).astype(float)
    X[:60, :8] += 3
    pairs = [(range(60), range(8)), (range(40, 200), range(5, 15)), ([3, 300, 350, 399], range(20, 29))]
    return X, Biclustering(pairs, X.shape)


def same(found, expected):
    assert found.scores == pytest.approx(expected.scores, rel=1e-9, abs=1e-12, nan_ok=True)
    assert found.findings[: len(expected.findings)] == expected.findings


@pytest.fixture(autouse=True)
def always_large(limits):
    limits(KERNEL_CELLS=0, CONNECT_SECONDS=LIMIT)
    limits("measures", CHUNK_CELLS=0)


@pytest.fixture(scope="module")
def two_workers(tmp_path_factory):
    started = Cluster(tmp_path_factory.mktemp("dask"))
    try:
        with started.client() as client:
            yield started, client
    finally:
        started.stop()


def test_without_a_cluster_blocks_are_computed_here():
    X, solution = counts()
    same(evaluate(da.from_array(X, chunks=(90, 30)), solution), evaluate(X, solution))


def test_arrays_that_cannot_be_used_are_refused():
    X, solution = counts()
    with pytest.raises(MatrixError, match=r"split along columns into 3 chunks; rows have to be whole.*rechunk"):
        evaluate(da.from_array(X, chunks=(90, 10)), solution)
    array = da.from_array(X, chunks=(90, 30))
    with pytest.raises(MatrixError, match=r"unknown shape: call X\.compute_chunk_sizes\(\)"):
        evaluate(array[array[:, 0] > 0], solution)
    with pytest.raises(MatrixError, match="1 dimensions; a 2-D matrix"):
        evaluate(array[0], solution)
    with pytest.raises(ParameterError, match="in the memory of this process, where no worker can read it"):
        evaluate(X, solution, scheduler="tcp://127.0.0.1:9")


@pytest.mark.parametrize("sparse", [False, True])
def test_workers_give_the_same_and_the_matrix_stays_there(two_workers, sparse, monkeypatch, limits):
    X, solution = counts()
    array = da.from_array(X, chunks=(90, 30))
    if sparse:
        array = array.map_blocks(scipy.sparse.csr_matrix)
    for name in ("rows", "take"):
        monkeypatch.setattr(_cluster.DaskSource, name, lambda *_: pytest.fail("rows came to the client"))
    found = evaluate(array, solution, scheduler=two_workers[1], metrics=["ve", "msr", "nve", "nsr", "coverage"])
    expected = evaluate(X, solution, metrics=["ve", "msr", "nve", "nsr", "coverage"])
    assert found.scores == pytest.approx(expected.scores, rel=1e-12)
    assert found.matrix.sparse == sparse
    limits(CHUNK_CELLS=400)  # blocks are larger than a chunk
    monkeypatch.setattr(_cluster.DaskSource, "block", lambda *_: pytest.fail("a block came to the client"))
    found = evaluate(array, solution, scheduler=two_workers[1], metrics=["evidence", "total_evidence"])
    expected = evaluate(X, solution, metrics=["evidence", "total_evidence"])
    assert found.scores == pytest.approx(expected.scores, rel=1e-9)
    assert [record["pattern"] for record in found.records] == [record["pattern"] for record in expected.records]


def test_workers_read_a_file_for_themselves_and_say_what_is_wrong_with_it(two_workers, tmp_path, limits):
    limits(CHUNK_CELLS=1500)
    X, solution = counts()
    source = in_file(X, tmp_path / "x.npy").source
    same(evaluate(source, solution, scheduler=two_workers[0].address), evaluate(X, solution))
    X[399, 21] = np.nan
    np.save(tmp_path / "x.npy", X)
    with pytest.raises(MatrixError, match=r"1 missing value \(NaN\), the first at row 399, column 21"):
        evaluate(source, solution, scheduler=two_workers[1])
    (tmp_path / "x.npy").unlink()
    with pytest.raises(MatrixError, match=r"x\.npy is missing, or was moved.* on other machines too"):
        evaluate(source, solution, scheduler=two_workers[1])


def test_a_worker_killed_in_the_middle_costs_only_time(two_workers):
    cluster, client = two_workers
    X, solution = counts()
    array = da.from_array(X, chunks=(8, 30)).map_blocks(slowly)
    told = []

    def kill_one(done, total):
        told.append((done, total))
        if len(told) == 5:
            cluster.workers[0].send_signal(signal.SIGKILL)

    found = evaluate(array, solution, scheduler=client, progress=kill_one)
    assert cluster.workers[0].wait(600) == -signal.SIGKILL
    assert told[4][0] < told[4][1], "killed before the end of a pass"
    same(found, evaluate(X, solution))


def test_the_command_with_a_scheduler_outlives_a_worker_and_shows_progress(two_workers, tmp_path):
    cluster, client = two_workers
    rng = np.random.default_rng(5)
    X = rng.normal(size=(150_000, 30)).astype(np.float32)
    X[:3000, :8] += 2
    solution = Biclustering([(range(3000), range(8)), (range(1000, 90_000), range(5, 15))], X.shape)
    np.save(tmp_path / "x.npy", X)
    write_solution(solution, tmp_path / "s.json")
    cluster.add_worker("three")
    client.wait_for_workers(2, timeout=LIMIT)
    command = [sys.executable, "-m", "bivaluate", "score", "x.npy", "s.json", "--json", "--memory", "16M"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "FORCE_COLOR": "1", "COLUMNS": "120"}
    with subprocess.Popen(
        [*command, "--scheduler", cluster.address],
        cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stderr is not None
        shown = b""
        while b"reading rows" not in shown and (part := process.stderr.read1(4096)):
            shown += part
        cluster.workers[-1].send_signal(signal.SIGKILL)
        printed, rest = process.communicate(timeout=LIMIT)
    assert process.returncode == 0, rest.decode()
    assert b"reading rows" in shown, "the progress bar"
    expected = evaluate(X, solution)
    assert json.loads(printed)[0]["scores"]["nve"] == pytest.approx(expected.scores["nve"], rel=1e-9)
    assert json.loads(printed)[0]["scores"]["total_evidence"] == pytest.approx(
        expected.scores["total_evidence"], rel=1e-9
    )

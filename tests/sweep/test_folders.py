"""Run folders that were moved, copied, linked or damaged: said in words, and what is finished is kept."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from bivaluate import Biclustering, BivaluateError, FileError, Matrix, Plan, RunError, Sweep, evaluate, load_run
from bivaluate.sweep import check_run
from bivaluate.sweep.journal import pack_mergers, pack_solution, unpack_mergers, unpack_solution
from tests.processes import started
from tests.sweep.standins import BLOCKS


@pytest.fixture
def run(tmp_path: Path, matrix_file: str) -> Path:
    Sweep(Plan([matrix_file], [BLOCKS], [2, 3], seeds=3), tmp_path / "run").run()
    return tmp_path / "run"


def test_a_folder_that_is_whole(run: Path) -> None:
    assert check_run(run) == []


def test_moved_copied_and_linked(run: Path, tmp_path: Path) -> None:
    before = (run / "results.csv").read_bytes()
    shutil.copytree(run, tmp_path / "copy")
    run.rename(tmp_path / "moved")
    (tmp_path / "link").symlink_to(tmp_path / "moved")
    for name in ("copy", "moved", "link"):
        assert check_run(tmp_path / name) == []
        again = Sweep(load_run(tmp_path / name).plan, tmp_path / name).run()
        assert (again.path / "results.csv").read_bytes() == before
        assert again.provenance["sessions"][-1]["cells"] == 0, "nothing was done again"


def test_faults_are_named(run: Path) -> None:
    (run / "results.csv").write_text("dataset\n")
    (run / "biclusters.csv").unlink()
    exported = sorted((run / "solutions").rglob("*.json"))
    exported[0].write_text("{}")
    exported[1].unlink()
    matrix = next((run / "matrices").iterdir())
    matrix.write_bytes(matrix.read_bytes()[:-40])
    words = "\n".join(check_run(run))
    assert "results.csv is not what the journal holds (6 rows there)" in words
    assert "biclusters.csv is missing" in words
    assert "is not the solution of the journal" in words
    assert f"{exported[1].relative_to(run)} is missing" in words
    assert "the matrix of small cannot be read" in words


def test_a_solution_of_another_matrix(run: Path) -> None:
    with sqlite3.connect(run / "journal.sqlite") as journal:
        journal.execute("UPDATE matrices SET n_rows = 13, checksum = 'x'")
        journal.execute("UPDATE cells SET solution = 'nonsense' WHERE seed = 1")
    journal.close()
    words = "\n".join(check_run(run))
    assert "its checksum differs" in words
    assert "the solution is of a matrix of (12, 8), the matrix is (13, 8)" in words
    assert "a solution in the journal is damaged" in words


def said(use: Callable[[], object]) -> str:
    """Return an answer or an error of bivaluate's, as text."""
    try:
        return str(use())
    except BivaluateError as error:
        return str(error)


@pytest.mark.parametrize("at", [0.02, 0.3, 0.5, 0.7, 0.9])
def test_flipped_bytes_in_the_journal(run: Path, at: float) -> None:
    journal = run / "journal.sqlite"
    content = bytearray(journal.read_bytes())
    used = [
        i for i in range(0, len(content) - 600, 50) if content[i : i + 600].count(0) < 100
    ]  # pages have empty parts
    start = min(used, key=lambda i: abs(i - at * len(content))) if at >= 0.5 else int(at * len(content))
    content[start : start + 600] = bytes(byte ^ 0x5A for byte in content[start : start + 600])
    journal.write_bytes(content)
    before = (run / "results.csv").read_bytes()
    assert at < 0.5 or said(lambda: check_run(run)) != "[]"  # the first pages are half empty
    for use in (lambda: load_run(run).results, lambda: Sweep(load_run(run).plan, run).run()):
        if "journal" in said(use):
            assert (run / "results.csv").read_bytes() == before, "the tables are kept"


def test_a_truncated_write_ahead_log(tmp_path: Path, matrix_file: str) -> None:
    script = (
        "import json, os, sys\nfrom bivaluate import Plan, Sweep\n"
        "Sweep(Plan.from_dict(json.loads(sys.argv[1])), sys.argv[2], "
        "progress=lambda done, *_: os._exit(9) if done >= 12 else None).run()\n"
    )
    plan, out = Plan([matrix_file], [BLOCKS], [2, 3], seeds=9), tmp_path / "run"
    with started(["-c", script, json.dumps(plan.to_dict()), str(out)]) as process:
        process.wait()
    log = out / "journal.sqlite-wal"
    log.write_bytes(log.read_bytes()[: -log.stat().st_size // 4])
    kept = len(load_run(out).results)
    assert 0 < kept < 12
    done = Sweep(plan, out).run()
    assert done.provenance["sessions"][-1]["cells"] == 18 - kept
    assert check_run(out) == []


@pytest.mark.parametrize("unpack", [unpack_solution, unpack_mergers])
def test_packed_cells_that_are_damaged_or_made_to_hurt(unpack: Any, limits: Any) -> None:
    X = np.random.default_rng(0).normal(size=(9, 7))
    result = evaluate(X, Biclustering([([0, 1, 2], [0, 1, 2]), ([4, 5, 6], [3, 4, 5])], X.shape))
    whole = pack_solution(result.solution) if unpack is unpack_solution else pack_mergers(result.mergers)
    assert unpack(whole)
    for blob in (whole[: len(whole) // 2], whole[:20] + b"\0\xff" + whole[22:], b"", zlib.compress(b"neither")):
        with pytest.raises(RunError, match=r"in the journal (is|are) damaged"):
            unpack(blob)
    limits("sweep", MOST_UNPACKED=1 << 16)
    with pytest.raises(RunError, match="unpacks to more than"):
        unpack(zlib.compress(bytes(1 << 20)))


def test_a_newer_layout_is_refused(run: Path) -> None:
    with sqlite3.connect(run / "journal.sqlite") as journal:
        journal.execute("UPDATE meta SET value = '2' WHERE key = 'layout'")
    journal.close()
    for use in (check_run, load_run, lambda path: Sweep(Plan(["scenario:S9b"], ["cca"], [2]), path).run()):
        with pytest.raises(RunError, match=r"has layout 2, .* this version reads layout 1"):
            use(run)


@pytest.mark.skipif(os.name != "posix", reason="permissions of this kind are POSIX")
@pytest.mark.parametrize("closed", ["", "run", "run/journal.sqlite"])
def test_a_folder_that_may_not_be_read_is_not_called_missing(run: Path, closed: str) -> None:
    load_run(run)
    with tempfile.TemporaryDirectory() as open_to_all:
        there = Path(open_to_all)
        shutil.copytree(run, there / "run")
        for path in (there, *there.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        (there / closed).chmod(0)
        user = os.geteuid()
        os.seteuid(user or 65534)  # permissions do not bind the superuser
        try:
            for look in (load_run, check_run):
                with pytest.raises(FileError, match=r"^cannot read .*run.*: Permission denied\.$"):
                    look(there / "run")
            if not closed:
                with pytest.raises(FileError, match=r"^cannot read .*x\.csv: Permission denied\.$"):
                    Sweep(Plan([str(there / "x.csv")], ["cca"], [2])).run()
        finally:
            os.seteuid(user)
            (there / closed).chmod(0o755)


@pytest.mark.skipif(os.name != "posix", reason="permissions of this kind are POSIX")
def test_a_folder_nobody_can_write_is_read_and_not_continued(run: Path) -> None:
    before = load_run(run).results
    assert check_run(run) == []  # what it imports may be as hard to read for others as the folder
    plan = Plan(["scenario:S9b"], ["cca"], [2])
    with tempfile.TemporaryDirectory() as open_to_all:
        there = Path(open_to_all) / "run"
        shutil.copytree(run, there)
        for path in (there, *there.rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
        Path(open_to_all).chmod(0o755)
        user = os.geteuid()
        os.seteuid(user or 65534)  # permissions do not bind the superuser
        try:
            pd.testing.assert_frame_equal(load_run(there).results, before)
            assert check_run(there) == []
            with pytest.raises(FileError, match=r"no permission to write in .*run\. Choose another folder"):
                Sweep(plan, there).run()
        finally:
            os.seteuid(user)
            for path in (there, *there.rglob("*")):
                path.chmod(0o755)


def tampered(run: Path, *statements: str) -> Callable[[], Any]:
    with sqlite3.connect(run / "journal.sqlite") as db:
        for statement in statements:
            db.execute(statement)
    db.close()

    def read_all() -> None:
        found = load_run(run)
        for cell in found.cells:
            found.solution(cell)
            found.mergers(cell)
            found.findings(cell)
        for name in found.datasets:
            found.matrix(name)
        repr(found.tables)
        repr(found.provenance)

    return read_all


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("UPDATE cells SET k = 'many' WHERE position = 2", "row 2 of cells in the journal .* is damaged: k holds text"),
        ("UPDATE cells SET status = x'05' WHERE position = 3", "row 3 of cells .*: status holds blob"),
        ("UPDATE cells SET seed = NULL WHERE position = 1", "row 1 of cells .*: seed holds null"),
        ("UPDATE cells SET scores = x'00' WHERE position = 1", "row 1 of cells .*: scores holds blob"),
        ("UPDATE cells SET scores = '[1]' WHERE position = 2", "Blocks, K = 2, seed 1: its scores in the journal"),
        ("""UPDATE cells SET scores = '{"ve": [1]}' WHERE position = 2""", "K = 2, seed 1: its scores in the journal"),
        ("UPDATE cells SET biclusters = '{}' WHERE position = 1", "K = 2, seed 0: a list in the journal"),
        ("UPDATE cells SET biclusters = '[3]' WHERE position = 1", "K = 2, seed 0: a list in the journal"),
        ("UPDATE cells SET findings = '3' WHERE position = 1", "K = 2, seed 0: a list in the journal"),
        ("UPDATE cells SET solution = x'00' WHERE position = 4", "K = 3, seed 0: a solution in the journal is damaged"),
        ("UPDATE cells SET mergers = x'00' WHERE position = 4", "K = 3, seed 0: the mergers"),
        ("DELETE FROM meta WHERE key = 'version'", "does not say its version"),
        ("UPDATE meta SET value = '[]' WHERE key = 'plan'", "the plan in .* is damaged"),
        ("UPDATE meta SET value = '{\"datasets\": 3}' WHERE key = 'plan'", "the plan .* is damaged: datasets is '3'"),
        ("UPDATE meta SET value = '{}' WHERE key = 'provenance'", "the provenance in the journal"),
        ("CREATE VIEW more AS SELECT 1", "holds the view 'more'; only tables are read"),
        ("ALTER TABLE cells RENAME TO others", "has no table 'cells'"),
        ("ALTER TABLE cells DROP COLUMN findings", "cells has no column 'findings'"),
        ("UPDATE matrices SET file = '../../x.npz'", "is said to be in '../../x.npz', outside"),
        ("UPDATE matrices SET file = '/etc/passwd'", "is said to be in '/etc/passwd', outside"),
    ],
)
def test_tampered_journals_are_refused_by_the_row(run: Path, statement: str, message: str) -> None:
    with pytest.raises(RunError, match=message):
        tampered(run, statement)()


def test_a_view_in_the_place_of_a_table(run: Path) -> None:
    with pytest.raises(RunError, match="holds the view 'sessions'"):
        tampered(run, "DROP TABLE sessions", "CREATE VIEW sessions AS SELECT 1 AS started")()


def test_a_sparse_copy_with_indices_outside_the_matrix(tmp_path: Path) -> None:
    from bivaluate.sweep.folder import restore_matrix, store_matrix

    (tmp_path / "matrices").mkdir()
    X = Matrix(csr_array(np.eye(4)))
    name = store_matrix(tmp_path, "x", None, X, "")
    entry = {"file": name, "dataset": "x", "n_rows": 4, "n_cols": 4}
    assert restore_matrix(tmp_path, entry, {}).shape == (4, 4)
    with np.load(tmp_path / "matrices" / name) as stored:
        parts = dict(stored)
    parts["indices"][2] = 1000
    np.savez(tmp_path / "matrices" / name, **parts)
    with pytest.raises(RunError, match="is damaged"):
        restore_matrix(tmp_path, entry, {})

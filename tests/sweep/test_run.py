from __future__ import annotations

import gc
import json
import os
import shutil
import sqlite3
from contextlib import closing, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bivaluate
from bivaluate import FileError, Matrix, MissingExtraError, Plan, RunError, Sweep, evaluate, load_run, write_matrix
from bivaluate.chance import evidence
from bivaluate.chance.evidence import selection
from bivaluate.sweep import Cell
from bivaluate.sweep.copies import make_variant
from bivaluate.sweep.folder import file_name, locked
from bivaluate.sweep.journal import Journal
from tests.sweep.standins import BLOCKS, CARELESS, SEPARATE


def fits(log: Path) -> list[int]:
    return [int(line.split()[0]) for line in log.read_text().splitlines()] if log.exists() else []


def make_plan(matrix_file: str, **change: Any) -> Plan:
    return Plan(
        **{"datasets": [matrix_file], "algorithms": [BLOCKS], "k": [2, 3, 5], "seeds": 2, **change}  # type: ignore[arg-type]
    )


def test_folder_holds_everything(tmp_path: Path, matrix_file: str) -> None:
    run = Sweep(make_plan(matrix_file, datasets=[matrix_file, "scenario:S9b"]), tmp_path / "run").run()
    assert len(run.cells) == len(run.results) == 2 * 3 * 2
    assert run.missing == []
    assert list(run.results.columns[:8]) == [
        "dataset",
        "algorithm",
        "k",
        "seed",
        "status",
        "reason",
        "n_biclusters",
        "n_undefined",
    ]
    assert {"nve", "nve_cov", "asr", "avg_ve", "coverage"} <= set(run.results.columns)
    assert list(run.biclusters.columns[:8]) == [
        *("dataset", "algorithm", "k", "seed"),
        *("bicluster", "n_rows", "n_cols", "size"),
    ]
    assert list(run.biclusters.columns[-2:]) == ["partner", "status"]
    assert len(run.biclusters) == 2 * 2 * (2 + 3 + 5)
    cell = Cell("small", BLOCKS, 3, 1)
    solution = run.solution(cell)
    assert len(solution) == 3
    assert solution.info["parameters"]["n_biclusters"] == 3
    assert run.mergers(cell)["ve"].shape == (3, 3)
    np.testing.assert_array_equal(run.mergers(cell)["ve"], run.mergers(cell)["ve"].T)
    assert run.matrix("small", 1).row_labels == tuple(f"g{i}" for i in range(12))
    assert run.truth("small") is None
    truth = run.truth("scenario:S9b", 1)
    assert truth is not None
    assert len(truth) == 3
    assert not np.array_equal(run.matrix("scenario:S9b", 0).values, run.matrix("scenario:S9b", 1).values)
    on_disk = pd.read_csv(tmp_path / "run" / "results.csv", dtype={"nve": str})
    assert on_disk["nve"].map(float).tolist() == run.results["nve"].tolist()
    files = {path.name for path in (tmp_path / "run").iterdir()}
    assert files == {
        *(".lock", "plan.toml", "provenance.json", "journal.sqlite", "matrices", "solutions"),
        *("results.csv", "biclusters.csv", "times.csv"),
    }
    provenance = json.loads((tmp_path / "run" / "provenance.json").read_text())
    assert provenance["plan"]["seeds"] == [0, 1]
    assert {entry["dataset"] for entry in provenance["matrices"]} == {"small", "scenario:S9b"}
    assert (tmp_path / "run" / "solutions" / "small" / f"{file_name(BLOCKS)}-k3-seed1.json").is_file()
    assert not list((tmp_path / "run").glob("journal.sqlite-*"))
    assert Plan.from_toml(tmp_path / "run" / "plan.toml").to_dict() == run.plan.to_dict()


def test_evaluation_is_that_of_evaluate(tmp_path: Path, matrix_file: str) -> None:
    from bivaluate import evaluate

    run = Sweep(make_plan(matrix_file, score={"exponent": 1.0}), tmp_path / "run").run()
    cell = run.cells[0]
    again = evaluate(run.matrix(cell.dataset), run.solution(cell), exponent=1.0)
    row = run.results.iloc[0]
    for key, value in again.scores.items():
        assert row[key] == value
    np.testing.assert_array_equal(again.mergers["ve"], run.mergers(cell)["ve"])


def test_nested_runs_once_and_equals_separate_runs(tmp_path: Path, matrix_file: str) -> None:
    log = tmp_path / "log"
    nested = Sweep(make_plan(matrix_file, parameters={BLOCKS: {"log": str(log)}}), tmp_path / "a").run()
    assert fits(log) == [5, 5]
    separate = Sweep(make_plan(matrix_file, algorithms=[SEPARATE]), tmp_path / "b").run()
    ignored = ["algorithm"]
    pd.testing.assert_frame_equal(nested.results.drop(columns=ignored), separate.results.drop(columns=ignored))
    pd.testing.assert_frame_equal(nested.biclusters.drop(columns=ignored), separate.biclusters.drop(columns=ignored))
    assert nested.times["fit_seconds"].notna().tolist() == [False] * 4 + [True] * 2
    assert separate.times["fit_seconds"].notna().all()


@pytest.mark.parametrize("algorithm", ["cca", "las"])
def test_registry_algorithms_are_nested_as_they_say(algorithm: str, tmp_path: Path) -> None:
    parameters = {"las": {"n_restarts": 30}} if algorithm == "las" else {}
    plan = Plan(["scenario:S4"], [algorithm], [2, 3, 6], seeds=[1, 5], parameters=parameters)
    together = Sweep(plan, tmp_path / "together").run()
    for k in (2, 3, 6):
        alone = Sweep(replace(plan, k=[k]), tmp_path / f"k{k}").run()
        for cell in alone.cells:
            assert alone.solution(cell) == together.solution(cell)
            assert alone.solution(cell).info == together.solution(cell).info
        same = together.results[together.results["k"] == k].reset_index(drop=True)
        pd.testing.assert_frame_equal(alone.results, same)


def test_same_plan_gives_the_same_bytes(tmp_path: Path) -> None:
    plan = Plan(["scenario:S1", "scenario:S9b"], ["cca", "spectral"], [2, 4], seeds=2)
    for name, jobs in (("a", 1), ("b", 2)):
        Sweep(plan, tmp_path / name, jobs=jobs).run()
    for table in ("results.csv", "biclusters.csv"):
        assert (tmp_path / "a" / table).read_bytes() == (tmp_path / "b" / table).read_bytes()


def test_seed_draws_the_matrix_and_is_the_random_state(tmp_path: Path) -> None:
    plan = Plan(["scenario:S9b"], [BLOCKS], "planted", seeds=[3, 4])
    run = Sweep(plan, tmp_path / "a").run()
    assert [cell.k for cell in run.cells] == [3, 3]
    assert run.solution(run.cells[0]) != run.solution(run.cells[1])
    fixed = Sweep(replace(plan, algorithm_seed=42), tmp_path / "b").run()
    assert fixed.solution(fixed.cells[0]) == fixed.solution(fixed.cells[1])


def test_finished_run_does_nothing_again(tmp_path: Path, matrix_file: str) -> None:
    log = tmp_path / "log"
    plan = make_plan(matrix_file, parameters={BLOCKS: {"log": str(log)}})
    Sweep(plan, tmp_path / "run").run()
    before = (tmp_path / "run" / "results.csv").read_bytes()
    Sweep(plan, tmp_path / "run").run()
    assert len(fits(log)) == 2
    assert (tmp_path / "run" / "results.csv").read_bytes() == before


def test_failing_cells_do_not_stop_the_run(tmp_path: Path, matrix_file: str) -> None:
    plan = make_plan(matrix_file, algorithms=[BLOCKS, SEPARATE], parameters={BLOCKS: {"fail_from": 3}})
    run = Sweep(plan, tmp_path / "run").run()
    status = run.results.set_index(["algorithm", "k", "seed"])["status"]
    assert status[BLOCKS].tolist() == ["ok", "ok", "failed", "failed", "failed", "failed"]
    assert (status[SEPARATE] == "ok").all()
    failed = run.results[run.results["status"] == "failed"].iloc[0]
    assert failed["reason"] == "ValueError: no 3 blocks here"
    with pytest.raises(RunError, match="has no solution: failed"):
        run.solution(Cell("small", BLOCKS, 3, 0))


def test_k_larger_than_a_side_is_a_failed_cell(tmp_path: Path, matrix_file: str) -> None:
    run = Sweep(make_plan(matrix_file, algorithms=["spectral"], k=[2, 9], seeds=1), tmp_path / "run").run()
    assert run.results["status"].tolist() == ["ok", "failed"]
    assert "8 column" in run.results["reason"][1]


def test_degenerate_cells_say_why(tmp_path: Path, matrix_file: str) -> None:
    run = Sweep(make_plan(matrix_file, k=[1, 2], seeds=1), tmp_path / "run").run()
    assert run.results["status"].tolist() == ["degenerate", "ok"]
    assert run.results["reason"][0] == "1 bicluster found; NVE compares at least two"


def test_stuck_cells_are_stopped(tmp_path: Path, matrix_file: str) -> None:
    plan = make_plan(matrix_file, seeds=1, parameters={BLOCKS: {"stuck_from": 4}}, time_limit=5.0)
    run = Sweep(plan, tmp_path / "run", jobs=2).run()
    assert run.results["status"].tolist() == ["ok", "ok", "timed out"]
    assert run.results["reason"][2] == "stopped after the limit of 5 s"


def test_a_crash_costs_its_own_cell_only(tmp_path: Path, matrix_file: str) -> None:
    log = tmp_path / "log"
    plan = make_plan(matrix_file, seeds=1, parameters={BLOCKS: {"crash_from": 4, "log": str(log)}})
    run = Sweep(plan, tmp_path / "run", jobs=2).run()
    assert run.results["status"].tolist() == ["ok", "ok", "failed"]
    assert "ended by SIGKILL" in run.results["reason"][2]
    assert fits(log) == [5, 3], "what crashed is not tried again"


def test_two_processes_on_one_folder_are_refused(tmp_path: Path, matrix_file: str) -> None:
    (tmp_path / "run").mkdir()
    with locked(tmp_path / "run"), pytest.raises(RunError, match="another process is working on"):
        Sweep(make_plan(matrix_file), tmp_path / "run").run()


def test_other_plan_other_version_other_matrix(tmp_path: Path, matrix_file: str) -> None:
    plan = make_plan(matrix_file)
    Sweep(plan, tmp_path / "run").run()
    with pytest.raises(RunError, match=r"another plan: k is \[2, 3, 4\] here and \[2, 3, 5\] there"):
        Sweep(replace(plan, k=[2, 3, 4]), tmp_path / "run").run()
    for version, raised in (
        ("9.9", pytest.raises(RunError, match=r"made by bivaluate 9\.9, this is .*: results would mix")),
        (bivaluate.__version__, nullcontext()),
    ):
        with closing(sqlite3.connect(tmp_path / "run" / "journal.sqlite")) as journal, journal:
            journal.execute("UPDATE meta SET value = ? WHERE key = 'version'", (version,))
        with raised:
            Sweep(plan, tmp_path / "run").run()
    text = Path(matrix_file).read_text().splitlines()
    Path(matrix_file).write_text("\n".join([text[0], *reversed(text[1:])]) + "\n")
    with pytest.raises(RunError, match="the matrix of small has changed"):
        Sweep(plan, tmp_path / "run").run()


def test_unreadable_matrix_stops_before_anything(tmp_path: Path, matrix_file: str) -> None:
    log = tmp_path / "log"
    bad = tmp_path / "bad.tsv"
    bad.write_text("gene\ta\tb\ng1\t1\tx\ng2\t2\t3\n")
    plan = make_plan(matrix_file, datasets=[matrix_file, str(bad)], parameters={BLOCKS: {"log": str(log)}})
    with pytest.raises(ValueError, match="data set bad: "):
        Sweep(plan, tmp_path / "run").run()
    assert fits(log) == []


def test_folders_that_are_not_ours(tmp_path: Path, matrix_file: str) -> None:
    plan = make_plan(matrix_file)
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "thesis.tex").write_text("x")
    with pytest.raises(RunError, match=r"not empty and is not a run folder \(it holds 'thesis.tex'\)"):
        Sweep(plan, foreign).run()
    with pytest.raises(FileError, match="is a file, and a folder is needed"):
        Sweep(plan, foreign / "thesis.tex").run()
    with pytest.raises(RunError, match=r"is not a run folder: it has no journal\.sqlite"):
        load_run(foreign)
    with pytest.raises(FileError, match="there is no run folder"):
        load_run(tmp_path / "nowhere")


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions of this kind are POSIX")
def test_no_permission(tmp_path: Path, matrix_file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, *args: Any, **kwargs: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(FileError, match=r"no permission to write in .* Choose another folder"):
        Sweep(make_plan(matrix_file), tmp_path / "run").run()


def test_full_disk_keeps_finished_cells(tmp_path: Path, matrix_file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = make_plan(matrix_file, k=[2, 20], seeds=30)
    finish = Journal.finish

    def fill(self: Journal, *args: Any) -> None:
        pages = self._db.execute("PRAGMA page_count").fetchone()[0]
        self._db.execute(f"PRAGMA max_page_count = {max(pages, 40)}")
        finish(self, *args)

    monkeypatch.setattr(Journal, "finish", fill)
    with pytest.raises(FileError, match=r"disk of .* is full\. Finished fits are safe"):
        Sweep(plan, tmp_path / "run").run()
    monkeypatch.undo()
    finished = len(load_run(tmp_path / "run").results)
    assert 0 < finished < 60
    run = Sweep(plan, tmp_path / "run").run()
    assert run.provenance["sessions"][-1]["cells"] == 60 - finished
    fresh = Sweep(plan, tmp_path / "fresh").run()
    pd.testing.assert_frame_equal(run.results, fresh.results)


def test_large_matrices_are_checked_references(tmp_path: Path, matrix_file: str, limits: Any) -> None:
    limits(LARGEST_COPY=100)
    run = Sweep(make_plan(matrix_file), tmp_path / "run").run()
    assert not list((tmp_path / "run" / "matrices").glob("*.npz"))
    assert run.matrix("small").shape == (12, 8)
    Path(matrix_file).write_text(Path(matrix_file).read_text().replace("g1\t", "g99\t"))
    with pytest.raises(RunError, match="has changed since the run"):
        load_run(tmp_path / "run").matrix("small")


def test_unknown_cells_and_data_sets(tmp_path: Path, matrix_file: str) -> None:
    run = Sweep(make_plan(matrix_file, datasets=["scenario:S9b"]), tmp_path / "run").run()
    with pytest.raises(RunError, match=r"has no data set 'S1'; it has 'scenario:S9b'"):
        run.matrix("S1")
    with pytest.raises(RunError, match=r"one matrix per seed, and none for seed 7; seeds: \[0, 1\]"):
        run.matrix("scenario:S9b", 7)
    with pytest.raises(RunError, match="is not part of this run"):
        run.solution(Cell("x", "y", 1, 1))
    assert "12 of" not in repr(run)
    assert repr(run).endswith("6 of 6 fits finished)")


def test_a_copied_folder_still_loads(tmp_path: Path, matrix_file: str) -> None:
    Sweep(make_plan(matrix_file), tmp_path / "run").run()
    shutil.move(tmp_path / "run", tmp_path / "moved")
    Path(matrix_file).unlink()
    run = load_run(tmp_path / "moved")
    assert run.matrix("small").shape == (12, 8)
    assert len(run.solution(run.cells[-1])) == 5


def test_file_names_never_meet() -> None:
    names = ["yeast:04", "yeast_04", "a/b", "a:b", "a b", "ä", "x" * 300, "x" * 299 + "y", "..", "."]
    assert len({file_name(name) for name in names}) >= len(names) - 1
    assert file_name("yeast:04") == "yeast_04"


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (["/somewhere/bin/bivaluate", "sweep", "yeast:*", "-k", "3,5"], "bivaluate sweep 'yeast:*' -k 3,5"),
        (["/somewhere/bivaluate/__main__.py", "sweep"], "bivaluate sweep"),
        (["/somewhere/bin/pytest", "tests"], ""),
    ],
)
def test_the_command_can_be_typed_again(
    tmp_path: Path, matrix_file: str, started_as: Any, words: list[str], command: str
) -> None:
    started_as(*words)
    run = Sweep(make_plan(matrix_file, k=[2], seeds=1), tmp_path / "run").run()
    assert run.provenance["command"] == run.provenance["sessions"][0]["command"] == command


def test_a_missing_extra_names_itself(tmp_path: Path, without: Any) -> None:
    (tmp_path / "cells.h5ad").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(600))
    with without("h5py"), pytest.raises(MissingExtraError, match=r"^[^:]* needs h5py: pip install h5py$"):
        Sweep(Plan([str(tmp_path / "cells.h5ad")], [BLOCKS], [2]), tmp_path / "run").run()


def test_a_forgotten_run_closes_its_journal(tmp_path: Path, matrix_file: str) -> None:
    run = Sweep(make_plan(matrix_file, k=[2], seeds=1), tmp_path / "run").run()
    connection = run.journal._db
    del run
    gc.collect()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("SELECT 1")


def test_the_matrix_is_looked_at_once_for_all_its_solutions(
    tmp_path: Path, matrix_file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[int] = []
    evidence.LATEST.clear()
    usual = selection.first_sums
    monkeypatch.setattr(selection, "first_sums", lambda *given: looked.append(1) or usual(*given))
    plan = Plan([matrix_file], [BLOCKS, SEPARATE], [2, 3], seeds=2, null="permute", null_runs=1)
    Sweep(plan, tmp_path / "run").run()
    # for the data and for their copy
    assert looked == [1, 1]


def test_every_solution_is_scored_on_its_own_matrix_and_copy(tmp_path: Path, matrix_file: str) -> None:
    other = tmp_path / "other.tsv"
    write_matrix(Matrix(np.random.default_rng(9).normal(size=(12, 8))), other)
    plan = Plan([matrix_file, str(other)], [BLOCKS], [2], metrics=["asr"], null="permute", null_runs=2)
    run = Sweep(plan, tmp_path / "run").run()

    def asr(matrix: Matrix, cell: Cell) -> float:
        return evaluate(matrix, run.solution(cell), metrics=["asr"]).scores["asr"]

    expected = [asr(run.matrix(cell.dataset), cell) for cell in run.cells]
    assert run.results["asr"].tolist() == expected
    expected += [
        asr(make_variant(run.matrix(cell.dataset), "permute", copy, None), cell)
        for copy in (0, 1)
        for cell in run.cells
    ]
    assert run.variants["asr"].tolist() == expected[2:]
    assert len(set(expected)) == 6


def test_an_algorithm_that_writes_into_its_matrix_hurts_nobody(tmp_path: Path, matrix_file: str) -> None:
    plans = [Plan([matrix_file], [*before, SEPARATE], [2]) for before in ([], [CARELESS])]
    runs = [Sweep(plan, tmp_path / str(number)).run() for number, plan in enumerate(plans)]
    scores = [run.results.query("algorithm == @SEPARATE")["nve"].item() for run in runs]
    assert scores[0] == scores[1]


def test_the_cell_of_a_row_of_the_results_is_found(tmp_path: Path, matrix_file: str) -> None:
    run = Sweep(make_plan(matrix_file), tmp_path / "run").run()
    row = next(run.results.itertuples())
    assert len(run.solution(Cell(row.dataset, row.algorithm, np.int64(row.k), np.int64(row.seed)))) == row.k

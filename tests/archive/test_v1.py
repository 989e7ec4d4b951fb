"""What version 0.1.0 wrote and promised: docs/compatibility.md says it, this holds us to it."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import typer

import bivaluate
from bivaluate import Biclustering, RunError, __version__, evaluate, load_run
from bivaluate.cli import main as cli
from bivaluate.sweep import Plan, Sweep
from bivaluate.sweep.plan import REMOVED

ARCHIVE = Path(__file__).parent / "v1"
OPTIONS = {
    "sweep": "--out -o --plan --algorithms -a -k --seeds --algorithm-seed --param --metrics --all --score --transpose "
    "--time-limit --null --null-runs --jobs -j --scheduler --resume --no-resume --retry",
    "select": "--by --json --csv",
    "report": "-o",
    "run": "--algorithm -a -k -o --seed",
    "score": "--metrics --csv --json",
    "prune": "--out -o --json",
    "convert": "--matrix --index-base",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run folder as 0.1.0 left it, in a place of its own."""
    return Path(shutil.copytree(ARCHIVE / "run", tmp_path / "run"))


def forget(folder: Path, where: str) -> None:
    """Make a run look as if it had been killed before some cells were finished."""
    with sqlite3.connect(folder / "journal.sqlite") as db:
        columns = [
            "status",
            "reason",
            "scores",
            "biclusters",
            "findings",
            "solution",
            "mergers",
            "fit_seconds",
            "score_seconds",
        ]
        db.execute(f"UPDATE cells SET {', '.join(f'{name} = NULL' for name in columns)} WHERE {where}")
    db.close()


def command(*words: object, code: int = 0) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "bivaluate", *map(str, words)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == code, done.stderr
    return done.stdout


def test_a_run_folder_is_read() -> None:
    run = load_run(ARCHIVE / "run")
    assert len(run.cells) == len(run.results) == 18
    assert run.missing == []
    assert run.missing_copies == 0
    assert run.datasets == ["scenario:S9b"]
    assert (run.plan.null, run.plan.null_runs, run.plan.score) == ("permute", 2, {"single": "matrix"})
    stored = json.loads((ARCHIVE / "run" / "provenance.json").read_text())
    assert stored["plan"].keys() - run.provenance["plan"].keys() == set(REMOVED)  # docs/compatibility.md
    assert run.provenance == stored | {"plan": {k: v for k, v in stored["plan"].items() if k not in REMOVED}}
    for cell in run.cells:
        path = ARCHIVE / "run" / "solutions" / "scenario_S9b" / f"{cell.algorithm}-k{cell.k}-seed{cell.seed}.json"
        assert run.solution(cell) == Biclustering.from_json(path)
        assert run.mergers(cell)["ve"].shape == (len(run.solution(cell)),) * 2
        assert isinstance(run.findings(cell), list)
        assert run.matrix(cell.dataset, cell.seed).shape == run.solution(cell).shape == (300, 40)
    assert run.truth("scenario:S9b", 1) == Biclustering.from_json(ARCHIVE / "S9b_seed1.truth.json")


def test_its_tables_are_written_again_to_the_byte(folder: Path) -> None:
    shutil.rmtree(folder / "solutions")
    load_run(folder).export()
    for path in [*(ARCHIVE / "run").glob("*.csv"), *(ARCHIVE / "run" / "solutions").rglob("*.json")]:
        again = folder / path.relative_to(ARCHIVE / "run")
        if path.name == "null.csv":
            pd.testing.assert_frame_equal(pd.read_csv(again), pd.read_csv(path))
        else:
            assert again.read_bytes() == path.read_bytes(), path.name
    assert not list(folder.glob("*.parquet")), "copies nobody writes any more must not grow old"


def test_an_unfinished_run_is_continued(folder: Path) -> None:
    forget(folder, "algorithm = 'cca' AND (seed = 1 OR variant != '')")
    cut = load_run(folder)
    assert (len(cut.missing), cut.missing_copies) == (3, 12)
    run = Sweep(cut.plan, folder).run()
    assert run.missing == []
    assert run.missing_copies == 0
    assert (run.provenance["bivaluate"], run.provenance["continued_with"]) == ("0.1.0", __version__)
    assert [session["cells"] for session in run.provenance["sessions"]] == [54, 15]
    for name in ("results", "biclusters", "variants"):
        before = pd.read_csv(ARCHIVE / "run" / f"{name}.csv")
        before = before.drop(columns=["nve_numerator", "nve_denominator"], errors="ignore")  # by default no more
        now = pd.read_csv(folder / f"{name}.csv")
        pd.testing.assert_frame_equal(now[list(before)], before)
    with sqlite3.connect(folder / "journal.sqlite") as db:
        db.execute("UPDATE meta SET value = '99.1' WHERE key = 'version'")
    db.close()
    with pytest.raises(
        RunError, match=rf"made by bivaluate 99\.1, this is {re.escape(__version__)}: results would mix"
    ):
        Sweep(cut.plan, folder).run()


@pytest.mark.parametrize(
    ("table", "old", "new"), [("results", "n_paying", "n_supported"), ("biclusters", "kind", "pattern")]
)
def test_columns_under_old_names_are_read_with_a_warning(table: str, old: str, new: str, tmp_path: Path) -> None:
    run = Sweep(Plan("scenario:S9b", "cca", k=[2]), tmp_path / "run").run()
    expected = getattr(run, table)
    journal = sqlite3.connect(tmp_path / "run" / "journal.sqlite")
    column = "scores" if table == "results" else table
    journal.execute(f"UPDATE cells SET {column} = replace({column}, '\"{new}\"', '\"{old}\"')")
    journal.commit()
    journal.close()
    with pytest.warns(FutureWarning, match=f"the column '{old}' of this run is called '{new}' now"):
        found = getattr(load_run(tmp_path / "run"), table)
    pd.testing.assert_frame_equal(found, expected)


def test_its_plan_file_is_a_plan() -> None:
    assert Plan.from_toml(ARCHIVE / "run" / "plan.toml").to_dict() == load_run(ARCHIVE / "run").plan.to_dict()


def test_select_and_report_take_it(folder: Path, tmp_path: Path) -> None:
    chosen = json.loads(command("select", folder, "--by", "nve_cov", "--json"))["best"]
    assert {"measure", "dataset", "algorithm", "k"} <= chosen[0].keys()
    command("report", folder, "-o", tmp_path / "page.html")
    assert "scenario:S9b" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_scores_of_a_solution_in_json() -> None:
    truth = Biclustering.from_json(ARCHIVE / "S9b_seed1.truth.json")
    (archived,) = json.loads((ARCHIVE / "score.json").read_text())
    matrix = load_run(ARCHIVE / "run").matrix("scenario:S9b", 1)
    scores = evaluate(matrix, truth, metrics=[*archived["solution"]]).scores
    assert {key: scores[key] for key in archived["solution"]} == pytest.approx(archived["solution"], nan_ok=True)
    columns = pd.read_csv(ARCHIVE / "scores.csv").columns
    assert set(columns) - {"solution"} <= set(scores)


def test_public_names() -> None:
    assert set((ARCHIVE / "names.txt").read_text().split()) <= set(bivaluate.__all__)


@pytest.mark.parametrize("name", OPTIONS)
def test_options(name: str) -> None:
    loaded = cli._load(name)
    known = {word for parameter in loaded.params for word in (*parameter.opts, *parameter.secondary_opts)}
    gone = set(OPTIONS[name].split()) - known
    assert gone <= {"--perturb", "--perturb-runs", "--gap"}  # removed in 0.2.0
    page = (Path(__file__).parents[2] / "docs" / "compatibility.md").read_text(encoding="utf-8")
    assert all(f"`{option}`" in page for option in gone)
    assert isinstance(typer.main.get_command(cli.app), cli.LazyGroup)


def test_exit_codes(tmp_path: Path) -> None:
    command("--version", code=0)
    command("select", tmp_path / "nowhere", code=2)


def test_a_newer_layout_is_refused(folder: Path) -> None:
    with sqlite3.connect(folder / "journal.sqlite") as db:
        db.execute("UPDATE meta SET value = '2' WHERE key = 'layout'")
    db.close()
    with pytest.raises(RunError, match=r"has layout 2, written by bivaluate 0\.1\.0; this version reads layout 1"):
        load_run(folder)

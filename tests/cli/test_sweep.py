"""`bivaluate sweep` as a newcomer types it."""

import json
import os
import re
import signal
import sqlite3
import sys

import numpy as np
import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from bivaluate import BivaluateError, Plan, RunError, Sweep
from bivaluate.cli.sweep import sweep
from bivaluate.sweep.journal import Journal
from tests.processes import LIMIT, started, wait_until


@pytest.fixture
def matrix(tmp_path):
    values = np.random.default_rng(1).normal(size=(30, 12))
    lines = ["gene," + ",".join(f"c{j}" for j in range(12))]
    lines += [f"g{i}," + ",".join(map(str, row)) for i, row in enumerate(values)]
    (tmp_path / "matrix.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "matrix.csv"


def test_sweep_writes_a_run_folder_and_continues(run, run_afresh, matrix, tmp_path):
    words = ("sweep", "matrix.csv", "--algorithms", "cca", "-k", "2-3,5", "--seeds", "2", "--out", "out")
    done = run(*words)
    assert done.code == 0, done.err
    assert "6 of 6 fits finished" in done.out
    assert "next: bivaluate select out" in done.out
    told = [line for line in done.err.splitlines() if not line.startswith("compiling kernels")]
    first, last = told  # where no progress bar is shown, and little time passes
    assert first == "fitting and scoring what the plan names …"
    assert re.fullmatch(r"done after \d+\.\d s", last)
    results = pd.read_csv(tmp_path / "out" / "results.csv")
    assert results["k"].unique().tolist() == [2, 3, 5]
    assert results["dataset"].unique().tolist() == ["matrix"]
    before = (tmp_path / "out" / "results.csv").read_bytes()
    assert run_afresh("sweep", "--out", "out").code == 0
    assert (tmp_path / "out" / "results.csv").read_bytes() == before
    again = run(*words, "--no-resume")
    assert again.code == 2
    assert "out holds a run already" in again.err
    other = run(*words, "--seeds", "3")
    assert other.code == 2
    assert "another plan: seeds is [0, 1, 2] here and [0, 1] there" in other.err


def test_sweep_from_a_plan(run, matrix, tmp_path):
    text = '# mine\ndatasets = ["matrix.csv"]\nalgorithms = ["cca"]\nk = [2]\n[score]\nexponent = 1.0\n'
    (tmp_path / "plan.toml").write_text(text)
    assert run("sweep", "--plan", "plan.toml", "--out", "out").code == 0
    kept, given = (Plan.from_toml(tmp_path / folder / "plan.toml").to_dict() for folder in ("out", "."))
    assert kept == given | {"datasets": ["matrix.csv"]}
    both = run("sweep", "--plan", "plan.toml", "-k", "3", "--algorithm-seed", "3", "--out", "other")
    assert both.code == 2
    assert "--plan cannot be combined with -k and --algorithm-seed; put it in plan.toml." in both.err


def test_options_reach_the_plan(run, matrix, tmp_path):
    words = ["sweep", "matrix.csv", "-a", "cca", "-k", "2", "--seeds", "3,7", "--algorithm-seed", "42"]
    words += ["--param", "cca.max_residue=0.5", "--score", "exponent=0.25", "--score", "small=drop"]
    words += ["--metrics", "nve,nve_cov", "--null", "permute", "--null-runs", "2"]
    done = run(*words, "--out", "out")
    assert done.code == 0, done.err
    plan = json.loads((tmp_path / "out" / "provenance.json").read_text())["plan"]
    assert plan["seeds"] == [3, 7]
    assert plan["algorithm_seed"] == 42
    assert plan["parameters"] == {"cca": {"max_residue": 0.5}}
    assert plan["score"] == {"exponent": 0.25, "small": "drop"}
    assert plan["metrics"] == ["nve", "nve_cov"]
    assert (plan["null"], plan["null_runs"]) == ("permute", 2)
    assert "2 fits on surrogates" in done.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere.csv"], "there is no file 'nowhere.csv'"),
        (["matrix.csv", "-a", "cco"], "there is no algorithm 'cco'"),
        (["matrix.csv", "-k", "0"], "k is 0; it must be at least 1"),
        (["matrix.csv", "-k", "5-2"], "-k is '5-2'; numbers like 3,5,8 or 2-10 are needed, the smaller first."),
        (["matrix.csv", "-k", "three"], "-k is 'three'; numbers like 3,5,8 or 2-10 are needed"),
        (["matrix.csv", "--metrics", "nev"], "Did you mean 'nve'"),
        (["matrix.csv", "--param", "alpha=1"], "algorithm.parameter=value is needed"),
        (
            ["matrix.csv", "-a", "las,cca", "--param", "n_restarts=20"],
            "--param n_restarts: algorithm.parameter=value is needed, as in las.n_restarts=20; las has it.",
        ),
        (["matrix.csv", "--score", "exponent"], "--score exponent: NAME=VALUE is needed"),
        (["matrix.csv", "-a", "cca", "--param", "cca.max_residu=1"], "Did you mean 'max_residue'"),
        (["matrix.csv", "-a", "cca", "--param", "cca.k=3"], "algorithm cca has no parameter 'k'"),
        (
            ["matrix.csv", "-a", "cca", "--param", "cca.n_biclusters=3"],
            "cca.n_biclusters cannot be set as a parameter; use k",
        ),
        (["matrix.csv", "--jobs", "0"], "jobs is 0; it must be at least 1"),
        (["-k", "3"], "no data set is named"),
        (["scenario:S77"], "there is no data set 'scenario:S77'"),
    ],
)
def test_bad_usage(matrix, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    app = typer.Typer()
    app.command()(sweep)
    done = CliRunner().invoke(app, [*words, "--out", "out"])
    assert isinstance(done.exception, BivaluateError)
    assert message in str(done.exception)


def test_a_single_algorithm_need_not_be_named_by_its_parameters(run, matrix, tmp_path):
    assert run("sweep", "matrix.csv", "-a", "cca", "-k", "2", "--param", "max_residue=0.5", "--out", "out").code == 0
    assert Plan.from_toml(tmp_path / "out" / "plan.toml").parameters == {"cca": {"max_residue": 0.5}}


def test_parameters_are_checked_before_anything_is_fitted(run, matrix, tmp_path):
    done = run("sweep", "matrix.csv", "-a", "cca", "-k", "2", "--param", "cca.inverted_rows=True", "--out", "out")
    assert done.code == 0, done.err
    assert "1 of 1 fit finished" in done.out
    plan = json.loads((tmp_path / "out" / "provenance.json").read_text())["plan"]
    assert plan["parameters"] == {"cca": {"inverted_rows": True}}
    wrong = run("sweep", "matrix.csv", "-a", "cca", "-k", "2", "--param", "cca.inverted_rows=yes", "--out", "other")
    assert wrong.code == 2
    assert "cca.inverted_rows is 'yes'; true or false is needed." in wrong.err
    assert not (tmp_path / "other").exists()


def test_bad_usage_ends_with_code_2(run_afresh):
    done = run_afresh("sweep", "nowhere.csv", "--out", "out")
    assert done.code == 2
    assert done.err.splitlines()[1].startswith("error: there is no file 'nowhere.csv'")


def test_failed_cells_are_told_and_can_be_tried_again(run, matrix, tmp_path):
    words = ("sweep", "matrix.csv", "-a", "spectral", "-k", "2,13", "--out", "out")
    done = run(*words)
    assert done.code == 0
    assert "spectral: 1 failed of 2 fits. For example: n_biclusters is 13" in done.out
    chosen = run("select", "out").out
    assert "spectral: 1 failed of 2 fits. For example: n_biclusters is 13" in chosen
    assert "all reasons are in out/results.csv." in chosen
    assert run(*words, "--retry").code == 0
    sessions = json.loads((tmp_path / "out" / "provenance.json").read_text())["sessions"]
    assert [session["cells"] for session in sessions] == [2, 1]


def finished_cells(folder):
    try:
        return len(Journal(folder / "journal.sqlite").slots(finished=True))
    except (RunError, sqlite3.Error):  # nothing is laid out yet
        return 0


@pytest.mark.skipif(os.name != "posix", reason="signals of this kind are POSIX")
def test_interrupt_says_how_to_go_on(matrix, tmp_path):
    words = ["sweep", "matrix.csv", "-a", "cca", "-k", "5", "--seeds", "30000", "--out", "out"]
    with started(["-m", "bivaluate", *words], cwd=tmp_path) as process:
        wait_until(lambda: finished_cells(tmp_path / "out") > 0, process)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=LIMIT)
    assert process.returncode == 130
    assert b"the same command continues" in errors
    assert b"Traceback" not in errors
    assert (tmp_path / "out" / "results.csv").exists()


def test_check_tells_an_unfinished_run_from_a_damaged_one(run, tmp_path):
    def stop(finished, *_):
        raise KeyboardInterrupt

    plan = Plan(["scenario:S9b"], ["cca"], [2, 3], seeds=2)
    with pytest.raises(KeyboardInterrupt):
        Sweep(plan, tmp_path / "a run", progress=stop).run()
    done = run("doctor", "a run")
    assert done.code == 0, done.err
    (some,) = re.findall(r"\((\d) of 4 fits finished\)", done.out)
    told = f"a run: nothing is damaged, but the run is not finished ({some} of 4 fits finished). Continue it with"
    assert done.out.splitlines() == [told, "  bivaluate sweep --out 'a run'"]
    assert run("sweep", "--out", "a run").code == 0
    assert run("doctor", "a run").out == "a run is whole: 4 of 4 fits finished.\n"


def test_programs_that_only_the_folder_names_are_not_run_unasked(run, matrix, tmp_path):
    command = f"cmd:{sys.executable} -c \"open('{tmp_path}/ran', 'w')\" {{out}}"
    done = run("sweep", "matrix.csv", "--algorithms", command, "-k", "2", "--out", "run")
    assert (tmp_path / "ran").exists(), done.err
    (tmp_path / "ran").unlink()
    refused = run("sweep", "--out", "run", "--retry")
    assert refused.code == 2
    assert "which only the folder names" in refused.err
    assert not (tmp_path / "ran").exists()
    run("sweep", "--out", "run", "--retry", "--trust-commands")
    assert (tmp_path / "ran").exists()


def test_jobs_of_an_array_as_typed(run, matrix, tmp_path):
    (tmp_path / "plan.toml").write_text('datasets = ["matrix.csv"]\nalgorithms = ["cca"]\nk = [2, 3]\nseeds = 2\n')
    for part in ("1", "2"):
        done = run("sweep", "plan.toml", "--part", f"{part}/2", "--out", f"P{part}")
        assert (done.code, f"(this is {part}/2)" in done.out) == (0, True)
    assert "2/2 of the parts is missing" in run("sweep", "--merge", "P1", "--out", "merged").err
    done = run("sweep", "--merge", "P1", "P2", "--out", "merged")
    assert (done.code, "4 of 4 fits finished" in done.out) == (0, True)
    assert (
        "--part is '3/2'; which of how many is needed" in run("sweep", "plan.toml", "--part", "3/2", "--out", "P3").err
    )

"""A run in parts is the same run."""

import shutil

import numpy as np
import pytest

from bivaluate import FileError, Matrix, ParameterError, Plan, RunError, Sweep, load_run, write_matrix
from bivaluate.sweep import merge_parts


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 12))
    X[:12, :5] += 4
    path = tmp_path_factory.mktemp("data") / "m.tsv"
    write_matrix(Matrix(X), path)
    return Plan(
        [str(path)], ["cca", "las", "spectral"], k=[2, 3], seeds=2, null="permute", null_runs=2,
        parameters={"las": {"n_restarts": 5}},
    )  # fmt: skip


@pytest.fixture(scope="module")
def parts(plan, tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    for number in (1, 2, 3):
        Sweep(plan, folder / f"P{number}", part=f"{number}/3").run()
    return [folder / f"P{number}" for number in (1, 2, 3)]


def files_of(folder):
    names = ["results.csv", "biclusters.csv", "variants.csv", "null.csv", "plan.toml"]
    kept = [folder / name for name in names] + sorted((folder / "solutions").rglob("*.json"))
    return {path.relative_to(folder): path.read_bytes() for path in kept}


def test_merged_parts_are_the_run_in_one_piece(plan, parts, tmp_path):
    whole = Sweep(plan, tmp_path / "whole").run()
    merged = merge_parts(parts[::-1], tmp_path / "merged")
    assert files_of(merged.path) == files_of(whole.path)
    assert merged.missing == []
    counts = [len(load_run(part).results) + len(load_run(part).variants) for part in parts]
    assert sum(counts) == len(whole.results) + len(whole.variants)
    assert min(counts) > 0
    assert Sweep(plan, tmp_path / "merged").run().results.equals(whole.results)  # nothing is left to do


def test_a_part_is_continued_where_it_left_off(plan, parts, tmp_path):
    done = len(load_run(parts[0]).results)
    assert len(Sweep(plan, parts[0], part="1/3").run().results) == done
    with pytest.raises(RunError, match=r"holds part 1/3 of a run\. Choose another folder, or name the same part"):
        Sweep(plan, parts[0], part="2/3").run()


def test_what_cannot_be_merged(plan, parts, tmp_path):
    with pytest.raises(RunError, match=r"2/3 of the parts is missing"):
        merge_parts([parts[0], parts[2]], tmp_path / "a")
    with pytest.raises(FileError, match="there is no run folder"):
        merge_parts([*parts, tmp_path / "nowhere"], tmp_path / "a")
    shutil.copytree(parts[1], tmp_path / "again")
    with pytest.raises(RunError, match=r"again are both part 2/3"):
        merge_parts([*parts, tmp_path / "again"], tmp_path / "a")
    other = Plan(plan.datasets, ["cca"], k=[2])
    Sweep(other, tmp_path / "other", part="1/1").run()
    with pytest.raises(RunError, match=r"other belongs to another plan than"):
        merge_parts([*parts, tmp_path / "other"], tmp_path / "a")
    Sweep(other, tmp_path / "one piece").run()
    with pytest.raises(RunError, match=r"one piece is a whole run, not a part"):
        merge_parts([tmp_path / "one piece"], tmp_path / "a")
    with pytest.raises(RunError, match=r"one piece holds a run already"):
        merge_parts(parts, tmp_path / "one piece")
    (tmp_path / "again" / "journal.sqlite").write_bytes(b"SQLite format 3\0 and then nothing")
    with pytest.raises(RunError, match=r"again"):
        merge_parts([parts[0], tmp_path / "again", parts[2]], tmp_path / "a")
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("part", ["0/3", "4/3", "3", "a/b"])
def test_parts_that_do_not_exist(plan, part):
    with pytest.raises(ParameterError, match=r"part is .*; which of how many is needed"):
        Sweep(plan, part=part)


def test_a_plan_that_finds_k_has_no_parts(plan):
    with pytest.raises(ParameterError, match="part needs a plan that names K"):
        Sweep(Plan(plan.datasets), part="1/2")

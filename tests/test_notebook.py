"""What a notebook shows: small tables, safe with any label; pictures and reports from the result itself."""

import copy
import pickle

import numpy as np
import pytest

import bivaluate
from bivaluate import Biclustering, Matrix, Plan, SolutionError, Sweep, evaluate
from bivaluate.datasets import load_example
from bivaluate.sweep.select import select

NASTY = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return Sweep(Plan(["scenario:S9b"], ["cca"], [2, 3])).run()


@pytest.fixture(scope="module")
def example():
    X, solution = load_example()
    return X, solution, evaluate(X, solution)


def test_every_result_has_a_table_for_notebooks(run, example):
    X, solution, result = example
    for thing, words in (
        (X, "Matrix(expression: 200 x 30, rows and columns labelled)"),
        (solution, "Biclustering(5 biclusters of a matrix of 200 x 30)"),
        (result, "3 of the 5 biclusters are supported; B4 is redundant, B5 is not supported."),
        (run, "2 of 2 fits finished"),
        (select(run), "Choice by evidence"),
    ):
        shown = thing._repr_html_()
        assert shown.startswith("<table>")
        assert words in shown
        assert len(shown) < 4000
    assert repr(select(run, by="asr")).startswith("Selection(by asr; scenario:S9b: cca with K = ")


def test_labels_are_escaped(example):
    X = Matrix(np.eye(3), (NASTY, "b", "c"), ("x", NASTY, "z"), NASTY)
    assert NASTY not in X._repr_html_()
    assert "&lt;script&gt;" in X._repr_html_()


def test_pictures_pages_and_tables_of_a_result(example, tmp_path):
    _, solution, result = example
    assert result.plot().get_xlabel() == "30 conditions"
    assert result.plot().figure._repr_png_().startswith(b"\x89PNG")
    assert result.report(tmp_path / "page.html").stat().st_size > 100_000
    frame = result.to_frame()
    assert frame.index.tolist() == ["solution"]
    assert frame["nve"].item() == result.scores["nve"]
    assert evaluate(result.matrix, solution.select([0, 1, 2])).verdict.headline == "All 3 biclusters are supported."
    assert repr(result) == f"Evaluation(5 biclusters: {result.verdict.headline})"


def test_long_tables(example):
    X, solution, _ = example
    frame = solution.to_frame(X)
    assert frame.columns.tolist() == ["bicluster", "side", "index", "label"]
    assert frame["label"][0].startswith("gene")
    assert Biclustering.from_frame(frame, X.shape) == solution
    with pytest.raises(SolutionError, match="the table has no column 'side'"):
        Biclustering.from_frame(frame.drop(columns="side"))
    with pytest.raises(SolutionError, match="side is 'gene' in the table"):
        Biclustering.from_frame(frame.assign(side="gene"))


def test_copies_and_pickles(example):
    X, solution, result = example
    for made in (copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))):
        assert made(solution) == solution
        assert made(result).scores == pytest.approx(result.scores, nan_ok=True)
        assert np.array_equal(made(X).values, X.values)


def test_runs_and_selections_are_copied_and_pickled(tmp_path):
    run = Sweep(Plan(["scenario:S9b"], ["cca"], [2]), tmp_path / "run").run()
    for made in (copy.copy, copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))):
        assert made(run).results.equals(run.results)
        assert repr(made(select(run))) == repr(select(run))


def test_completion_finds_everything():
    rooms = ("algorithms", "datasets", "enrichment", "io", "plots", "sweep")
    for module in (bivaluate, *(getattr(bivaluate, room) for room in rooms)):
        assert set(module.__all__) <= set(dir(module))
    assert "load_example" in dir(bivaluate.datasets)

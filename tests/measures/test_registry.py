"""Every metric of the registry keeps the promises of its record."""

import inspect
import warnings

import numpy as np
import pytest

from bivaluate import Biclustering, BivaluateWarning, ParameterError, evaluate, solution_scorer
from bivaluate.chance.assumptions import prepare_values
from bivaluate.measures.coverage import bicluster_shapes
from bivaluate.measures.normalised import virtual_error_sums
from bivaluate.measures.workspace import Workspace
from bivaluate.registry import METRICS, choose_metrics, get_metric, get_ranking_metric, main_metrics

RNG = np.random.default_rng(7)
X = RNG.normal(size=(14, 9)) + 4.0
SOLUTION = Biclustering([(range(5), range(4)), (range(4, 10), range(3, 8)), ([1, 3, 8, 12], [0, 2, 5, 7, 8])], X.shape)
CHANGES = {
    "shift": X + 3.0,
    "scale": X * 2.5,
    "row_shift": X + RNG.normal(size=(14, 1)),
    "row_scale": X * RNG.uniform(0.5, 2.0, size=(14, 1)),
    "col_shift": X + RNG.normal(size=(1, 9)),
    "col_scale": X * RNG.uniform(0.5, 2.0, size=(1, 9)),
}


def values(metric, data=X, solution=SOLUTION, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BivaluateWarning)
        result = evaluate(data, solution, metrics=[metric.key], **options)
    if metric.level == "solution":
        return np.array([result.scores[metric.key]], dtype=float)
    return np.array([record[metric.key] for record in result.records])


each_metric = pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS.keys())


def test_evidence_of_a_solution_is_the_total():
    assert get_ranking_metric("evidence") is METRICS["total_evidence"]
    assert repr(solution_scorer("evidence")) == "solution_scorer('total_evidence')"


@each_metric
def test_record_is_complete(metric):
    assert metric.level in {"bicluster", "solution"}
    assert metric.direction in {"low", "high", "none"}
    assert metric.summary.endswith(".")
    assert metric.invariances <= CHANGES.keys()
    assert metric.range[0] < metric.range[1]
    assert inspect.getdoc(metric.function)


@each_metric
def test_in_range(metric):
    found = values(metric)
    assert np.isfinite(found).all()
    assert (found >= metric.range[0] - 1e-12).all()
    assert (found <= metric.range[1] + 1e-12).all()


@each_metric
@pytest.mark.parametrize("change", CHANGES)
def test_invariances_are_those_stated(metric, change):
    same = np.allclose(values(metric), values(metric, CHANGES[change]), rtol=1e-9, atol=1e-12)
    if change in metric.invariances:
        assert same
    elif metric.level == "bicluster":
        assert not same, f"{metric.key} does not change under {change}: state it"


@each_metric
def test_order_of_rows_and_columns_matters_only_where_it_is_stated(metric):
    rows, cols = RNG.permutation(14), RNG.permutation(9)
    at_row, at_col = np.argsort(rows), np.argsort(cols)
    moved = Biclustering([(at_row[b.rows], at_col[b.cols]) for b in SOLUTION], X.shape)
    same = np.allclose(values(metric), values(metric, X[np.ix_(rows, cols)], moved), rtol=1e-9, atol=1e-12)
    assert same != metric.order_dependent
    assert metric.order_dependent == ("order-dependent" in metric.summary)


@each_metric
def test_order_of_biclusters_does_not_matter(metric):
    found, turned = values(metric), values(metric, solution=SOLUTION.select([2, 0, 1]))
    if metric.level == "bicluster":
        turned = turned[[1, 2, 0]]
    np.testing.assert_allclose(found, turned, rtol=1e-12)


@each_metric
@pytest.mark.parametrize("degenerate", ["nan", "formula"])
def test_degenerate_shapes_never_crash(metric, degenerate):
    odd = Biclustering([([0], range(9)), (range(14), [3]), ([2], [2]), ([5, 6], [1, 4])], X.shape)
    for solution in (odd, odd.select([0]), odd.select([]), odd.select([3])):
        for data in (X, np.zeros_like(X), np.full_like(X, 0.1)):
            found = values(metric, data, solution, degenerate=degenerate)
            assert not np.isinf(found).any()


@each_metric
def test_missing_cells_never_crash(metric):
    holes = X.copy()
    holes[RNG.random(X.shape) < 0.2] = np.nan
    assert not np.isinf(values(metric, holes, missing="omit")).any()


@each_metric
def test_mergers_are_computed_only_where_they_are_needed(metric):
    work = Workspace.of(X, SOLUTION)
    metric.compute(work)
    assert ("mergers" in vars(work)) == metric.needs_mergers


def test_main_measures_have_a_rank_and_a_formula():
    main = main_metrics()
    assert [m.key for m in main] == [
        "total_evidence",
        "nve_cov",
        "nve",
        "avg_ve",
        "asr",
        "nsr",
        "coverage",
        "avg_ave",
        "cc",
    ]
    assert [m.main_rank for m in main] == list(range(1, len(main) + 1))
    assert all(m.formula and m.ranks_solutions for m in main)
    assert {m.key for m in METRICS.values() if m.percent} == {
        "coverage",
        "row_coverage",
        "col_coverage",
        "supported_coverage",
    }


def test_choosing():
    assert [m.key for m in choose_metrics("nve")] == ["nve"]
    assert [m.key for m in choose_metrics(["cc", "ve"])] == ["cc", "ve"]
    assert {m.key for m in choose_metrics("default")} < {m.key for m in choose_metrics("all")} == METRICS.keys()


@pytest.mark.parametrize("key", ["ve", "rows_mean", "nve_k"])
def test_some_measures_cannot_rank(key):
    assert get_ranking_metric("nve_cov").direction == "low"
    why = "neither direction of it is better" if key == "rows_mean" else "it scores single biclusters"
    words = f"'{key}' cannot choose between solutions: {why}"
    with pytest.raises(ParameterError, match=words):
        get_ranking_metric(key)


def test_unknown_key():
    with pytest.raises(ParameterError, match=r"there is no metric 'msrr'\. Did you mean 'msr'\? `bivaluate metrics`"):
        get_metric("msrr")


ARGUMENTS = {
    ("X", "solution"): lambda data, b: (data, SOLUTION),
    ("solution",): lambda data, b: (SOLUTION,),
    ("A",): lambda data, b: (b.of(data),),
    ("A", "shape"): lambda data, b: (b.of(data), X.shape),
    ("A", "n_cols"): lambda data, b: (b.of(data), X.shape[1]),
    ("X", "rows", "cols"): lambda data, b: (data, b.rows, b.cols),
}


# Sizes and the two sums of NVE come several from one function.
SHARED = (bicluster_shapes, virtual_error_sums)


@pytest.mark.parametrize("key", [key for key, metric in METRICS.items() if metric.function not in SHARED])
def test_the_function_gives_what_evaluate_gives(key):
    metric = METRICS[key]
    parameters = inspect.signature(metric.function).parameters.values()
    needed = tuple(p.name for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD)
    data = prepare_values(np.asarray(X, dtype=float), "columns") if metric.key.endswith("_centred") else X
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BivaluateWarning)
        found = [metric.function(*ARGUMENTS[needed](data, b)) for b in SOLUTION]
    if needed[-1] == "solution":
        found = found[0]
    np.testing.assert_allclose(np.atleast_1d(found), values(metric), rtol=1e-9)

"""evaluate: worked values, degenerate cases, options, and the words of every message."""

import json
import math
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import SpectralCoclustering
from sklearn.model_selection import GridSearchCV, KFold

from bivaluate import (
    Biclustering,
    BivaluateWarning,
    DegenerateWarning,
    Matrix,
    MatrixError,
    ParameterError,
    SolutionError,
    evaluate,
    matrix,
    solution_scorer,
)
from bivaluate.registry import METRICS
from tests.reference import internal as naive

X = np.array([[1, 2, 4, 3, 0, 5], [2, 3, 5, 4.5, 1, 2], [2, 5, 8, 7, 3, 1], [6, 1, 2, 4, 1, 3], [3, 7, 1, 6, 4, 5]])
PAIRS = [([0, 1, 2], [0, 1, 2, 3]), ([3, 4], [2, 3, 4, 5]), ([1, 2, 3], [0, 1])]
S = Biclustering(PAIRS, X.shape)


def test_worked_example():
    result = evaluate(X, S)
    expected = {
        "asr": 1.255787,
        "avg_ve": 0.600254,
        "nsr": 0.562624,
        "nve": 0.934293,
        "coverage": 0.733333,
        "nve_cov": 1.091020,
        "row_coverage": 1.0,
        "col_coverage": 1.0,
        "multiplicity": 1.181818,
        "overlap": 0.181818,
        "jaccard": 0.095238,
        "n_biclusters": 3,
        "n_undefined": 0,
        "rows_min": 2,
        "cols_max": 4,
    }
    for key, value in expected.items():
        assert result.scores[key] == pytest.approx(value, abs=1e-6), key
    table = result.biclusters
    assert table["bicluster"].tolist() == ["B1", "B2", "B3"]
    np.testing.assert_allclose(table["msr"], [0.315972, 0.5625, 2.888889], atol=1e-6)
    np.testing.assert_allclose(table["ve"], [0.104551, 0.362878, 1.333333], atol=1e-6)
    np.testing.assert_allclose(table["nve_k"], [0.180496, 0.471935, 2.301846], atol=1e-6)
    assert table["partner"].tolist() == ["B3", "B1", "B1"]
    assert table["status"].tolist() == ["ok", "ok", "low_power"]
    assert result.status == {}


@pytest.mark.parametrize("metrics", [["coverage"], ["ve", "msr"], ["asr", "avg_ve"]])
def test_a_cheap_question_computes_no_mergers(metrics):
    result = evaluate(X, S, metrics=metrics)
    assert len(result.records) == len(result.biclusters) == 3
    assert list(result.scores) == [key for key in metrics if METRICS[key].level == "solution"]
    assert "mergers" not in vars(result._workspace)
    assert result.mergers["ve"].shape == (3, 3)
    assert "mergers" in vars(result._workspace)


@pytest.mark.parametrize("metrics", [["coverage"], "default", "all"])
def test_the_matrix_is_checked_once(metrics, monkeypatch):
    checked, check = [], matrix.check_values
    monkeypatch.setattr(matrix, "check_values", lambda *args, **kwargs: checked.append(1) or check(*args, **kwargs))
    result = evaluate(X, S, metrics=metrics)
    assert result.records
    assert result.findings
    assert result.mergers["ve"].shape == (3, 3)
    assert checked == [1]


@st.composite
def problems(draw):
    n, m = draw(st.integers(3, 9)), draw(st.integers(3, 7))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    values = rng.normal(size=(n, m)) + draw(st.sampled_from([0.0, 5.0]))
    if draw(st.booleans()):
        values[draw(st.integers(0, n - 1))] = draw(st.sampled_from([0.0, 0.1, 3.0]))
    values *= draw(st.sampled_from([1e-8, 1.0, 1e6]))
    count = draw(st.integers(2, 5))
    rows = [rng.choice(n, rng.integers(2, n + 1), replace=False) for _ in range(count)]
    cols = [rng.choice(m, rng.integers(3, m + 1), replace=False) for _ in range(count)]
    return values, [(sorted(r.tolist()), sorted(c.tolist())) for r, c in zip(rows, cols, strict=True)]


@given(problems())
def test_agrees_with_the_naive_twin(problem):
    values, pairs = problem
    result = evaluate(values, Biclustering(pairs, values.shape)).scores
    for key, twin in (
        ("nve", naive.nve(values, pairs)),
        ("nsr", naive.nsr(values, pairs)),
        ("nve_cov", naive.nve_cov(values, pairs)),
        ("coverage", naive.coverage(pairs, values.shape)),
        ("row_coverage", naive.row_coverage(pairs, values.shape)),
        ("col_coverage", naive.col_coverage(pairs, values.shape)),
        ("multiplicity", naive.multiplicity(pairs)),
        ("overlap", naive.overlap_fraction(pairs)),
        ("jaccard", naive.mean_jaccard(pairs)),
    ):
        assert result[key] == pytest.approx(twin, rel=1e-9, abs=1e-12, nan_ok=True), key


def test_scaling_block_has_residue_of_the_paper():
    rng = np.random.default_rng(3)
    s, p = rng.random(7) + 0.5, rng.random(5)
    block = np.outer(s, p)
    result = evaluate(block, Biclustering([(range(4), range(5)), (range(2, 7), range(3))], block.shape))
    assert result.records[0]["msr"] == pytest.approx(np.var(s[:4]) * np.var(p), rel=1e-12)
    assert result.records[0]["ve"] == pytest.approx(0, abs=1e-12)


def test_identical_twins_have_nve_one():
    twins = Biclustering([PAIRS[0], PAIRS[0]], X.shape)
    result = evaluate(X, twins)
    assert result.scores["nve"] == 1.0
    assert result.verdict.headline == "Neither bicluster is supported."


def test_swapping_rows_and_columns_changes_the_scores():
    turned = Biclustering([(c, r) for r, c in PAIRS], X.T.shape)
    assert evaluate(X.T, turned).scores["nve"] != pytest.approx(evaluate(X, S).scores["nve"], rel=1e-3)
    assert evaluate(X.T, turned).scores["asr"] == pytest.approx(evaluate(X, S).scores["asr"], rel=1e-12)


def test_undefined_bicluster_leaves_the_scores_but_not_the_coverage():
    with_row = Biclustering([*PAIRS, ([0], [4, 5])], X.shape)
    with pytest.warns(DegenerateWarning, match=r"B4 has one row or one column, .*left out of the scores"):
        result = evaluate(X, with_row)
    without = evaluate(X, S)
    for key in ("asr", "avg_ve", "nsr", "nve"):
        assert result.scores[key] == without.scores[key]
    assert result.scores["n_undefined"] == 1
    assert result.scores["coverage"] == pytest.approx(24 / 30)
    last = result.records[-1]
    assert last["status"] == "undefined"
    assert math.isnan(last["ve"])
    assert math.isnan(last["nve_k"])
    assert last["partner"] is None
    assert "B4 has 1 row: coherence is not defined for it." in result.findings


def test_memberships_alone_need_no_warning():
    thin = Biclustering([([0], [1, 2]), ([1, 2], [3])], X.shape)
    assert evaluate(X, thin, metrics=["coverage", "rows_mean"]).scores["coverage"] == pytest.approx(4 / 30)


def test_formula_gives_the_zeros_of_the_paper():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        column = Biclustering([([0, 1, 2], [3])], X.shape)
        result = evaluate(X, column.with_shape(X.shape), degenerate="formula", single="matrix")
    for key in ("asr", "avg_ve", "nsr", "nve", "nve_cov"):
        assert result.scores[key] == 0.0
    assert result.scores["n_undefined"] == 0


def test_single_bicluster():
    one = S.select([0])
    result = evaluate(X, one)  # the commonest case: a reason beside the NaN and in the findings, no warning
    assert any("single='matrix'" in finding for finding in result.findings)
    assert math.isnan(result.scores["nve"])
    assert "only one bicluster" in result.status["nve"]
    assert result.scores["avg_ve"] == pytest.approx(0.104551, abs=1e-6)
    against_all = evaluate(X, one, single="matrix")
    assert against_all.scores["nve"] == pytest.approx(naive.ve(X[:3, :4]) / naive.ve(X))
    assert against_all.records[0]["partner"] == "X"


def test_no_biclusters():
    result = evaluate(X, S.select([]))
    assert result.scores["coverage"] == 0.0
    assert math.isnan(result.scores["asr"])
    assert result.status["asr"] == "the solution has no biclusters"
    assert result.biclusters.empty
    assert result.mergers["ve"].shape == (0, 0)
    assert result.findings == ["The solution has no biclusters."]


def test_all_constant():
    result = evaluate(np.ones((5, 6)), S)
    assert math.isnan(result.scores["nve"])
    assert "0/0" in result.status["nve"]
    assert evaluate(np.ones((5, 6)), S, degenerate="formula").scores["nve"] == 0.0


def test_minimum_size():
    flagged = evaluate(X, S, min_cols=3)
    assert flagged.scores == evaluate(X, S).scores
    assert flagged.records[2]["status"] == "small"
    dropped = evaluate(X, S, min_cols=3, small="drop")
    alone = evaluate(X, S.select([0, 1]))
    assert dropped.scores == alone.scores
    assert dropped.findings[0] == "B3 left out: smaller than the minimum size."
    middle = evaluate(X, Biclustering([PAIRS[0], PAIRS[2], PAIRS[1]], X.shape), min_cols=3, small="drop")
    assert middle.names == ["B1", "B3"]
    assert [r["partner"] for r in middle.records] == ["B3", "B1"]


def test_missing_cells():
    holes = X.copy()
    holes[0, 0] = np.nan
    with pytest.raises(MatrixError, match="missing='omit'"):
        evaluate(holes, S)
    result = evaluate(holes, S, missing="omit")
    assert result.records[0]["ve"] == pytest.approx(naive.ve_missing(holes[:3, :4]))
    assert result.records[0]["msr"] == pytest.approx(naive.msr_missing(holes[:3, :4]))
    assert result.scores["coverage"] == evaluate(X, S).scores["coverage"]
    assert evaluate(X, S, missing="omit").scores == evaluate(X, S).scores
    holes[[0, 1], :4] = np.nan
    with pytest.warns(DegenerateWarning, match="B1"):
        result = evaluate(holes, S, missing="omit")
    assert result.records[0]["status"] == "undefined"


def test_exponent_and_epsilon():
    base = evaluate(X, S).scores
    assert evaluate(X, S, exponent=0).scores["nve_cov"] == base["nve"]
    assert evaluate(X, S, exponent=1).scores["nve_cov"] == pytest.approx(base["nve"] / base["coverage"])


def test_mergers_are_symmetric_with_the_biclusters_on_the_diagonal():
    mergers = evaluate(X, S).mergers
    for key, twin in (("ve", naive.ve), ("msr", naive.msr)):
        np.testing.assert_array_equal(mergers[key], mergers[key].T)
        np.testing.assert_allclose(np.diagonal(mergers[key]), [twin(X[np.ix_(r, c)]) for r, c in PAIRS])


def test_labels_and_input_types():
    frame = pd.DataFrame(X, index=list("abcde"), columns=list("uvwxyz"))
    assert evaluate(frame, S).scores == evaluate(X, S).scores
    assert evaluate(frame, S).matrix.row_labels == tuple("abcde")
    for other in (X.tolist(), np.asfortranarray(X), X[:, :], X.astype(np.float32)):
        assert evaluate(other, S).scores == evaluate(X, S).scores


def test_input_is_left_alone():
    values = X.copy()
    values.setflags(write=False)
    evaluate(values, S, metrics="all")
    np.testing.assert_array_equal(values, X)


def test_metrics_by_name():
    assert list(evaluate(X, S, metrics=["nve"]).scores) == ["nve"]
    assert list(evaluate(X, S, metrics="coverage").scores) == ["coverage"]
    assert set(evaluate(X, S).scores) < set(evaluate(X, S, metrics="all").scores)


def test_json_has_null_for_undefined():
    document = evaluate(X, S.select([0])).to_dict()
    text = json.dumps(document, allow_nan=False)
    assert json.loads(text)["scores"]["nve"] is None
    assert "only one bicluster" in document["status"]["nve"]
    assert document["biclusters"][0]["reasons"] == dict.fromkeys(
        ("nve_k", "nsr_k"), "there is no other bicluster to merge it with"
    )


def test_every_null_in_json_has_a_reason():
    holes = X.copy()
    holes[0, 0] = np.nan
    thin = Biclustering([*PAIRS, ([0], [4, 5])], X.shape)
    for data in (X, np.ones_like(X), holes):
        for degenerate in ("nan", "formula"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DegenerateWarning)
                document = evaluate(data, thin, metrics="all", missing="omit", degenerate=degenerate).to_dict()
            assert document["status"].keys() == {k for k, v in document["scores"].items() if v is None}
            for record in document["biclusters"]:
                assert record["reasons"].keys() == {k for k in METRICS if k in record and record[k] is None}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"metrics": ["nev"]}, r"there is no metric 'nev'\. Did you mean 'nve'\?"),
        ({"degenerate": "zero"}, "degenerate is 'zero'; allowed: 'nan', 'formula'"),
        ({"missing": "drop"}, "missing is 'drop'; allowed: 'raise', 'omit'"),
        ({"small": "hide"}, "small is 'hide'; allowed: 'flag', 'drop'"),
        ({"single": "x"}, "single is 'x'; allowed: 'nan', 'matrix'"),
        ({"min_rows": 0}, "min_rows is 0; it must be at least 1"),
        ({"n_jobs": 0}, "n_jobs is 0; it must be at least 1"),
        ({"exponent": -1}, "exponent is -1; it must be at least 0"),
        ({"epsilon": float("nan")}, "epsilon is nan; a finite number is needed"),
    ],
)
def test_bad_options(options, words):
    with pytest.raises(ParameterError, match=words):
        evaluate(X, S, **options)


def test_bad_solutions():
    with pytest.raises(SolutionError, match="solution is of type str; pass a Biclustering, a fitted estimator"):
        evaluate(X, "solution.json")
    with pytest.raises(SolutionError, match="swapped"):
        evaluate(X.T, S)


def test_findings_about_redundancy_and_coverage():
    rng = np.random.default_rng(0)
    big = rng.normal(size=(200, 100))
    pattern = rng.normal(size=8) * 3
    big[:10, :8] = pattern + rng.normal(size=(10, 8)) * 0.3
    solution = Biclustering([(range(5), range(8)), (range(5, 10), range(8)), (range(20, 26), range(50, 56))])
    result = evaluate(big, solution)
    assert {row["verdict"] for row in result.verdict.biclusters[:2]} == {"supported", "redundant"}
    assert any(f.startswith("The solution covers only 0.6 % of the matrix") for f in result.findings)
    noise = Biclustering([(range(20, 120), range(50)), (range(120, 200), range(50, 100))])
    assert evaluate(rng.normal(size=(200, 100)), noise).verdict.headline == "Neither bicluster is supported."


def test_long_lists_of_findings_are_capped():
    many = Biclustering([([i, i + 1], [0, 1]) for i in range(30)], (40, 6))
    findings = evaluate(np.random.default_rng(0).normal(size=(40, 6)), many).findings
    assert "… and 20 similar findings." in findings


def test_scorer_with_one_split_of_all_rows():
    data = np.random.default_rng(0).random((30, 20))
    everything = np.arange(30)
    search = GridSearchCV(
        SpectralCoclustering(random_state=0),
        {"n_clusters": [2, 3]},
        scoring=solution_scorer("nve_cov"),
        cv=[(everything, everything)],
    ).fit(data)
    for row, k in enumerate((2, 3)):
        model = SpectralCoclustering(n_clusters=k, random_state=0).fit(data)
        score = evaluate(data, Biclustering.from_estimator(model)).scores["nve_cov"]
        assert search.cv_results_["mean_test_score"][row] == pytest.approx(-score)
    assert solution_scorer("coverage")(search.best_estimator_, data) > 0


def test_scorer_warns_of_halves_of_one_shape():
    data = np.random.default_rng(0).random((30, 20))
    search = GridSearchCV(
        SpectralCoclustering(random_state=0), {"n_clusters": [2]}, scoring=solution_scorer("cc"), cv=2
    )
    with pytest.warns(
        BivaluateWarning, match=r"scored another matrix of shape \(15, 20\).*cv=\[\(all_rows, all_rows\)\]"
    ):
        search.fit(data)


def test_the_default_splits_of_a_search_say_what_to_pass():
    data = np.random.default_rng(0).random((30, 20))
    how = {"scoring": solution_scorer("cc", min_rows=3), "error_score": "raise"}
    search = GridSearchCV(SpectralCoclustering(random_state=0), {"n_clusters": [2]}, **how)
    with pytest.raises(SolutionError, match=r"cv=\[\(all_rows, all_rows\)\] with all_rows = np\.arange\(len\(X\)\)"):
        search.fit(data)
    assert repr(how["scoring"]) == "solution_scorer('cc', min_rows=3)"


def test_scorer_refuses_other_rows_and_useless_metrics():
    data = np.random.default_rng(0).random((30, 20))
    model = SpectralCoclustering(n_clusters=2, random_state=0).fit(data)
    _, test = next(KFold(3).split(data))
    with pytest.raises(SolutionError, match=r"fitted on a matrix of shape \(30, 20\), but X has shape \(10, 20\).*cv="):
        solution_scorer()(model, data[test])
    with pytest.raises(ParameterError, match="a scorer computes one metric"):
        solution_scorer("nve", metrics=["ve"])
    for key in ("ve", "n_biclusters"):
        with pytest.raises(ParameterError, match=f"'{key}' cannot choose between solutions"):
            solution_scorer(key)


def test_a_bicluster_without_observed_cells_spoils_no_score():
    holes = X.copy()
    holes[4, :4] = np.nan
    unseen = Biclustering([*PAIRS[::2], ([4], [0, 1, 2])], X.shape)
    with pytest.warns(DegenerateWarning, match="B3"):
        result = evaluate(holes, unseen, missing="omit", degenerate="formula")
    without = evaluate(holes, unseen.select([0, 1]), missing="omit", degenerate="formula")
    assert result.scores["nve"] == without.scores["nve"]
    assert result.scores["asr"] == without.scores["asr"]
    assert result.scores["n_undefined"] == 1


def test_a_single_bicluster_merged_with_the_matrix_needs_no_other():
    assert not any("There is one" in text for text in evaluate(X, S.select([0]), single="matrix").findings)


def test_all_cores_in_both_spellings():
    assert evaluate(X, S, n_jobs=-1).scores == evaluate(X, S, n_jobs=None).scores
    with pytest.raises(ParameterError, match="n_jobs is 0; it must be at least 1"):
        evaluate(X, S, n_jobs=0)


PLANTED = [(range(12), range(4)), (range(12, 24), range(4, 8)), (range(20, 32), range(6, 11))]


def _matrices():
    rng = np.random.default_rng(3)
    found = {
        "smooth": np.cumsum(rng.normal(size=(60, 15)), axis=1),
        "heavy": rng.standard_t(2, size=(50, 14)),
        "far": rng.normal(size=(44, 12)) + 1e7 * rng.normal(size=(44, 1)),
        "gaps": np.where(rng.random((45, 13)) < 0.05, np.nan, rng.normal(size=(45, 13)) + np.arange(13)),
        "counts": rng.poisson(0.5, size=(55, 16)).astype(float),
    }
    for values in found.values():
        for rows, cols in PLANTED:
            values[np.ix_(rows, cols)] += 6
    return found | {"sparse": scipy.sparse.csr_array(found["counts"])}


@pytest.mark.parametrize("name", _matrices())
def test_a_settled_matrix_gives_every_solution_what_it_gets_alone(name):
    """Accepting the biclusters of one solution changes row and column effects: the next must not see that."""
    values = _matrices()[name]
    settled = Matrix(values).settled()
    for k in (3, 2, 3):
        solution = Biclustering(PLANTED[:k], values.shape)
        alone, shared = (evaluate(X, solution, missing="omit") for X in (Matrix(values), settled))
        assert name in ("smooth", "heavy") or alone.scores["n_supported"] == k
        assert repr(shared.to_dict()) == repr(alone.to_dict())

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import issparse
from sklearn.cluster import KMeans, SpectralBiclustering, SpectralCoclustering
from sklearn.datasets import make_biclusters
from sklearn.decomposition import NMF, PCA
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.feature_selection import VarianceThreshold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bivaluate import Biclustering, ParameterError, SearchWarning, evaluate, select_k
from bivaluate.algorithms import LargeAverageSubmatrices, make_estimator
from bivaluate.sweep.search import KSelection


@pytest.fixture(scope="module")
def X() -> np.ndarray:
    return np.random.default_rng(3).normal(size=(30, 20)) + 5


def test_scores_and_best(X: np.ndarray) -> None:
    found = select_k(make_estimator("cca", 2, random_state=0), X, k=[2, 3, 4], scoring="nve_cov")
    table = pd.DataFrame(found.cv_results_)
    assert table["param_n_biclusters"].tolist() == [2, 3, 4]
    expected = [
        evaluate(X, make_estimator("cca", k, random_state=0).fit(X).solution_).scores["nve_cov"] for k in (2, 3, 4)
    ]
    assert table["score"].tolist() == expected
    assert found.best_score_ == min(expected)
    assert found.best_params_ == {"n_biclusters": [2, 3, 4][found.best_index_]}
    assert table["rank_score"][found.best_index_] == 1
    assert len(found.best_estimator_.solution_) == found.best_params_["n_biclusters"]


def test_high_is_better_where_it_is(X: np.ndarray) -> None:
    found = select_k(SpectralBiclustering(random_state=0), X, k=[2, 3], scoring="coverage")
    assert found.best_score_ == max(found.cv_results_["score"])
    assert isinstance(Biclustering.from_estimator(found.best_estimator_), Biclustering)


def test_the_estimator_is_not_changed(X: np.ndarray) -> None:
    estimator = SpectralBiclustering(n_clusters=7, random_state=0)
    select_k(estimator, X, k=[2], scoring="asr")
    assert estimator.n_clusters == 7
    assert not hasattr(estimator, "rows_")


def test_failing_and_degenerate_k_are_rows_too(X: np.ndarray) -> None:
    with pytest.warns(SearchWarning, match=r"Some K could not be tried\. K = 29: "):
        found = select_k(SpectralBiclustering(random_state=0), X, k=[1, 2, 29], scoring="nve")
    assert found.cv_results_["status"][1:] == ["ok", "failed"]
    assert math.isnan(found.cv_results_["score"][2])
    assert found.cv_results_["reason"][2]


def test_options_reach_evaluate(X: np.ndarray) -> None:
    estimator = make_estimator("cca", 2, random_state=0)
    a = select_k(estimator, X, k=[3], scoring="nve_cov", exponent=0.0)
    assert a.best_score_ == pytest.approx(a.cv_results_["nve"][0])


@pytest.mark.parametrize(
    ("estimator", "k", "scoring", "words"),
    [
        (SpectralBiclustering(), [0], "nve", "k is 0; it must be at least 1"),
        (SpectralBiclustering(), [], "nve", "k is empty"),
        (SpectralBiclustering(), [2], "msr", "a measure of a whole solution"),
        (SpectralBiclustering(), [2], "nvee", "Did you mean 'nve'"),
        (np.zeros((3, 2)), [2], "nve", "ndarray has no parameter n_biclusters, n_clusters or n_components"),
        (StandardScaler(), [2], "nve", "StandardScaler has no parameter n_biclusters, n_clusters or n"),
        (KMeans, [2], "nve", r"estimator is the class KMeans; pass an instance: KMeans\(\)\."),
        (KMeans(), [2, 3], "nve", r"NVE is undefined for every K\. K = 2, 3: "),
    ],
)
def test_refusals(X: np.ndarray, estimator: Any, k: list[int], scoring: str, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        select_k(estimator, X, k=k, scoring=scoring)


def test_metrics_of_the_callers_choice(X: np.ndarray) -> None:
    found = select_k(SpectralBiclustering(random_state=0), X, k=[2, 3], scoring="asr", metrics=["avg_ve"])
    assert {"asr", "avg_ve", "n_biclusters"} <= set(found.cv_results_)
    assert "nve" not in found.cv_results_


@pytest.fixture(scope="module")
def raised() -> np.ndarray:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 30))
    X[:20, :8] += 2.5
    X[30:55, 12:20] += 2.5
    return X


@pytest.mark.parametrize("scoring", ["total_evidence", "predictive"])
def test_k_from_evidence_and_from_held_out_cells(raised: np.ndarray, scoring: str) -> None:
    from bivaluate.algorithms import LargeAverageSubmatrices

    estimator = LargeAverageSubmatrices(n_restarts=50, random_state=0)
    found = select_k(estimator, raised, k=[1, 2, 3], scoring=scoring)
    assert found.best_params_ == {"n_biclusters": 2}
    assert not found.nothing_
    assert (found.n_supported_, found.n_biclusters_) == (2, 2)
    assert "n_biclusters=2 of [1, 2, 3], 2 of 2 supported, " in repr(found)
    assert len(found.cv_results_["score"]) == 3
    assert found.k_range_[0] <= 2 <= found.k_range_[1]
    assert found.verdict.headline.startswith("Take n_biclusters = 2")
    noise = np.random.default_rng(4).normal(size=raised.shape)
    with pytest.warns(SearchWarning, match=r"best_params_ \(n_clusters = \d\) recommends nothing"):
        nothing = select_k(SpectralBiclustering(random_state=0), noise, k=[2, 3], scoring=scoring)
    assert nothing.nothing_
    assert repr(nothing).startswith("KSelection(nothing is supported: n_clusters=")
    assert "n_clusters" not in nothing.verdict.headline, "the K of most raw evidence is the largest, as a rule"


def test_components_of_both_signs_are_not_parts() -> None:
    with pytest.warns(SearchWarning, match="Components of both signs, as PCA's, are not parts of the data"):
        select_k(PCA(), np.random.default_rng(4).normal(size=(30, 12)), k=[2, 3])


@pytest.mark.parametrize("sparse", [False, True])
def test_factor_models_are_searched_over_their_components(sparse: bool) -> None:
    from scipy.sparse import csr_matrix

    counts = np.random.default_rng(0).poisson(np.kron(np.eye(3), np.full((16, 12), 5.0)) + 0.3)
    seen: list[bool] = []

    class Watched(NMF):
        def fit(self, X: Any, y: Any = None, **more: Any) -> Any:
            seen.append(issparse(X))
            return super().fit(X, y, **more)

    found = select_k(Watched(random_state=0, max_iter=1000), csr_matrix(counts) if sparse else counts, k=[2, 3, 4])
    assert found.best_params_ == {"n_components": 3}
    assert set(seen) == {sparse}


def test_a_pipeline_is_searched_over_the_number_of_its_last_step(raised: np.ndarray) -> None:
    from bivaluate.algorithms import LargeAverageSubmatrices

    las = make_pipeline(StandardScaler(), LargeAverageSubmatrices(n_restarts=50, random_state=0))
    found = select_k(las, raised, k=[1, 2, 3])
    assert found.best_params_ == {"largeaveragesubmatrices__n_biclusters": 2}


def topics(seed: int, strength: float) -> tuple[np.ndarray, np.ndarray]:
    """Counts of words that differ in how common they are; each of three topics prefers thirty of them."""
    rng = np.random.default_rng(seed)
    label = np.arange(210) // 70
    shares = np.tile((1 - strength) * rng.dirichlet(np.full(300, 0.5)), (210, 1))
    for k in range(3):
        shares[label == k, 30 * k : 30 * (k + 1)] += strength / 30
    return np.array([rng.multinomial(100, row / row.sum()) for row in shares]), label


def test_topics_of_common_words() -> None:
    counts, label = topics(0, 0.25)
    tf = counts / np.linalg.norm(counts, axis=1, keepdims=True)
    found = select_k(NMF(init="nndsvda", max_iter=500), tf, k=range(2, 6))
    assert found.best_params_ == {"n_components": 3}
    assert not found.nothing_
    for rows, cols in Biclustering.from_factor_model(found.best_estimator_, tf):
        topic = np.bincount(label[rows]).argmax()
        assert np.mean(label[rows] == topic) > 0.9
        assert np.mean(cols // 30 == topic) > 0.9


def test_a_pipeline_may_end_in_a_factor_model() -> None:
    counts, _ = topics(0, 0.4)
    found = select_k(make_pipeline(TfidfTransformer(), NMF(init="nndsvda", max_iter=500)), counts, k=[2, 3, 4])
    assert found.best_params_ == {"nmf__n_components": 3}


def test_a_reason_ends_with_one_full_stop() -> None:
    counts, _ = topics(0, 0.4)
    counts[:, 0] = 1
    narrow = make_pipeline(VarianceThreshold(), NMF(init="nndsvda", max_iter=500))
    with pytest.raises(ParameterError, match=r"K = 2, 3: Pipeline makes .*transform\(X\)\.$"):
        select_k(narrow, counts, k=[2, 3])


def test_how_many_pay_is_said_beside_k(raised: np.ndarray) -> None:
    from bivaluate.algorithms import LargeAverageSubmatrices

    found = select_k(LargeAverageSubmatrices(n_restarts=50, random_state=0), raised, k=4)
    judged = evaluate(raised, found.best_estimator_)
    assert (
        (found.n_supported_, found.n_biclusters_)
        == (judged.scores["n_supported"], judged.scores["n_biclusters"])
        == (2, 2)
    )
    assert repr(found).startswith("KSelection(n_biclusters=4, 2 of 2 supported, total_evidence=")
    unknown = select_k(SpectralBiclustering(random_state=0), raised, k=[2], scoring="asr", metrics=["asr"])
    assert math.isnan(unknown.n_supported_)
    assert "pay" not in repr(unknown)


def test_a_name_is_no_estimator(raised: np.ndarray) -> None:
    with pytest.raises(ParameterError, match=r"estimator is 'las'; pass an estimator, for instance LargeAverageSubm"):
        select_k("las", raised, k=[2])


def test_what_to_take_does_not_follow_the_grid_and_the_plot_counts() -> None:
    counts = {
        4: (10094.0, 4),
        8: (11032.0, 8),
        16: (11511.0, 11),
        24: (11659.0, 12),
        32: (11138.0, 14),
        40: (9000.0, 13),
    }
    scores, supported = (list(column) for column in zip(*counts.values(), strict=True))
    table = {
        "param_n_components": list(counts),
        "score": scores,
        "n_biclusters": list(counts),
        "n_supported": supported,
    }
    found = KSelection(NMF(24), {"n_components": 24}, 11659.0, 3, table, "total_evidence")
    assert str(found.verdict).splitlines() == [
        "About 12 factors are supported; refit with n_components = 9 to 12.",
        "Up to n_components = 8 every factor is supported, with 95 % of the evidence of n_components = 24; "
        "n_components = 16 to 32 are as good (evidence within 5 %), with 11 to 14 supported. "
        "Try n_components = 9 to 12 to see up to where every factor is supported.",
    ]
    assert found.k_all_supported_ == 8
    assert [text.get_text() for text in found.plot().texts] == ["4", "8", "11", "12", "14", "13"]


def test_the_smallest_k_that_is_as_good_is_chosen_in_two_sentences_at_most() -> None:
    rng = np.random.default_rng(3)
    X = rng.gamma(2.0, 0.2, size=(90, 40))
    for k in range(3):
        X[30 * k : 30 * k + 30, 12 * k : 12 * k + 12] += 4.0
    found = select_k(NMF(init="nndsvda", max_iter=500), X, k=range(2, 7))
    scores = found.cv_results_["score"]
    assert found.best_params_ == {"n_components": 3} == {"n_components": found.best_estimator_.n_components}
    assert (found.best_score_, found.n_supported_) == (scores[1], 3)
    assert str(found.verdict).replace("\n", " ").count(". ") <= 1


def test_the_best_solution_is_judged_and_reported_where_it_was_chosen(tmp_path):
    from sklearn.decomposition import NMF

    rng = np.random.default_rng(0)
    X = rng.random((60, 40)).astype(np.float32)
    X[:15, :12] += 4
    X[15:35, 12:24] += 4
    found = select_k(NMF(init="nndsvda", max_iter=500), X, k=[2, 3], scoring="evidence")
    assert found.scoring == "total_evidence"
    assert found.evaluation_.scores["total_evidence"] == found.best_score_
    assert found.evaluation_.solution == found.solution_ == evaluate(X, found.best_estimator_).solution
    page = found.report(tmp_path / "page.html").read_text(encoding="utf-8").replace("\xa0", " ")
    assert found.evaluation_.verdict.headline in page
    assert page.index(found.verdict.headline) < page.index("How many?</h2>") < page.index("is the strongest")
    assert {"mean_test_score", "rank_test_score", "params"} <= set(found.cv_results_), "as GridSearchCV has them"
    top = select_k(NMF(init="nndsvda", max_iter=500), X, k=[2], rule="largest:9").solution_
    assert {len(side) for block in top for side in block} == {9}


@pytest.mark.parametrize(("option", "value"), [("seeds", 3), ("rule", "tops"), ("layers", "counts")])
def test_a_wrong_option_is_named_before_anything_is_fitted(option, value):
    class Never(SpectralBiclustering):
        def fit(self, X, y=None):
            raise AssertionError

    with pytest.raises(ParameterError, match=f"{value!r}; allowed" if option == "rule" else f"is {option!r}; allowed"):
        select_k(Never(), np.ones((9, 9)), k=[2], **{option: value})


def test_a_k_of_which_few_are_supported_is_not_simply_taken():
    cv = {"param_n_components": [2, 12], "score": [3.0, 9.0], "n_biclusters": [2, 12], "n_supported": [1, 2]}
    said = str(KSelection(None, {"n_components": 12}, 9.0, 1, cv, "total_evidence").verdict)
    assert said.startswith("Only 2 of the 12 factors of n_components = 12 are supported: expect about 2.")
    one = str(KSelection(None, {"n_components": 12}, 9.0, 1, cv | {"n_supported": [1, 1]}, "total_evidence").verdict)
    assert one.startswith("Only 1 of the 12 factors of n_components = 12 is supported: expect about 1.")


def test_scaled_values_point_at_those_from_before() -> None:
    anndata = pytest.importorskip("anndata")
    adata = anndata.AnnData(np.random.default_rng(0).poisson(2, (30, 20)).astype(float))
    adata.raw = adata.copy()
    adata.X = adata.X - 2
    with pytest.raises(ParameterError, match=r"Negative values .* layer='raw' takes the values of \.raw"):
        select_k(NMF(), adata, k=[2])


def mean_size(X, solution):
    """Mean number of values."""
    return float(np.mean([b.size for b in solution]))


def test_a_pipeline_is_spoken_of_by_its_own_parameter_and_a_function_by_its_name() -> None:
    X, _, _ = make_biclusters((120, 60), 4, noise=3, random_state=3)
    pipeline = make_pipeline(StandardScaler(), SpectralCoclustering(random_state=0))
    found = select_k(pipeline, X, k=[3, 4])
    assert found.best_params_ == {"spectralcoclustering__n_clusters": 4}
    assert found.verdict.headline.startswith("Take n_clusters = 4: ")
    assert "spectral" not in found.verdict.headline
    by_own = select_k(SpectralCoclustering(random_state=0), X, k=[2, 3], scoring=mean_size)
    assert "mean_size=" in repr(by_own)
    assert "0x" not in repr(by_own)


def test_a_k_that_failed_is_warned_of_and_one_bicluster_is_the_fewest():
    X = np.random.default_rng(0).normal(size=(40, 15))
    X[:12, :6] += 4
    with pytest.warns(SearchWarning, match=r"Some K could not be tried\. K = 100: .*n_clusters should be <= n_samples"):
        select_k(SpectralCoclustering(random_state=0), X - X.min(), k=[2, 100])
    chosen = select_k(LargeAverageSubmatrices(n_restarts=50, random_state=0), X, k=[1, 2])
    assert chosen.best_params_ == {"n_biclusters": 1}
    assert "try smaller" not in chosen.verdict.headline
    assert chosen.verdict.headline in chosen._repr_html_()

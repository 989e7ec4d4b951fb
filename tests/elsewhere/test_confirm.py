"""Biclusters of one matrix in another: against a plain twin, planted truth, and bad input."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from bivaluate import Biclustering, Matrix, ParameterError, RunError, confirm, find, read_matrix
from bivaluate.elsewhere.confirm import Confirmation, reference_p, row_moments, standardised, strata_of
from bivaluate.sweep.portfolio import make_view
from tests.reference import elsewhere as twin


@pytest.fixture(scope="module")
def cohorts():
    """Two matrices of 400 genes; rows 0 to 14 move together in both, rows 20 to 34 in A alone."""
    rng = np.random.default_rng(4)
    A, B = rng.normal(size=(2, 400, 14)) * rng.lognormal(0, 0.3, size=(400, 1))
    A[:15] += 2 * rng.normal(size=14)
    A[20:35] += 2 * rng.normal(size=14)
    B[:15] += 2 * rng.normal(size=14)
    genes = tuple(f"g{i}" for i in range(400))
    return Matrix(A, genes), Matrix(B, genes)


SETS = [(range(15), range(7)), (range(20, 35), range(7)), (range(50, 60), range(4)), (range(3), range(7))]


def test_statistic_null_and_q_are_those_of_the_twin(cohorts):
    A, B = cohorts
    result = confirm(Biclustering(SETS, A.shape), A, B, draws=2000)
    C = twin.standardised(B.values)
    rng = np.random.default_rng(0)
    for record, (rows, _) in zip(result.records[:3], SETS, strict=False):
        assert record["statistic"] == pytest.approx(twin.statistic(C, rows))
        parts = twin.strata(A.values, set(rows))
        assert record["z"] == pytest.approx(twin.z_of(C, rows, parts, 400, rng), rel=0.15, abs=0.15)
    p = [record["p"] for record in result.records[:3]]
    assert p == [record["p_draws"] for record in result.records[:3]]  # without an algorithm the draws alone decide
    np.testing.assert_allclose([record["q"] for record in result.records[:3]], twin.benjamini_hochberg(p))
    assert result.biclusters["verdict"].tolist() == ["confirmed", "not confirmed", "not confirmed", "cannot be asked"]
    assert any("Quick form only (the solution does not say" in note for note in result.notes)
    assert result.headline == "1 of 4 biclusters holds in the second matrix; 1 cannot be asked about."
    assert result.summary.endswith(" of 60 sets of equally active rows outside would hold too.")
    assert result.scores["share_controls"] < 0.1


def test_the_headline_counts_what_is_supported_where_it_was_found():
    """Two blocks and a copy of the first are found in A; only the first is in B."""
    rng = np.random.default_rng(4)
    A, B = rng.normal(size=(2, 200, 20))
    A[:30, :10] += 3
    A[60:90, 10:] += 3
    B[:30] += 2 * rng.normal(size=20)
    pairs = [(range(30), range(10)), (range(60, 90), range(10, 20)), (range(29), range(10))]
    result = confirm(Biclustering(pairs, A.shape), A, B)
    assert [(r["found_as"], r["verdict"]) for r in result.records] == [
        ("supported", "confirmed"),
        ("supported", "not confirmed"),
        ("redundant", "confirmed"),
    ]
    assert result.headline == "1 of 2 supported biclusters holds in B; 1 other does; B2 does not."
    assert [r["reason"] for r in result.records] == ["", "equally active rows move together as strongly too often", ""]


def test_strata_and_moments_are_those_of_the_twin(cohorts):
    A = cohorts[0]
    mean, sd = row_moments(A)
    np.testing.assert_allclose([mean, sd], [A.values.mean(axis=1), A.values.std(axis=1)])
    for inside in (np.arange(400) < 0, np.arange(400) < 15, sd > np.quantile(sd, 0.8)):
        found = strata_of(np.arange(400), sd, mean, inside)
        assert set(map(frozenset, found)) == set(map(frozenset, twin.strata(A.values, set(np.flatnonzero(inside)))))
        assert max(inside[part].mean() for part in found) <= 0.5
    assert max(map(len, found)) == 100  # a part whose rows are mostly inside is not split off


@pytest.mark.parametrize("size", [5, 40, 98, 99, 300])
def test_p_among_references(size):
    null = np.random.default_rng(size).normal(size=size) * 3
    z = np.array([-1.0, 2.0, 9.0])
    assert reference_p(z, null) == pytest.approx([twin.reference_p(value, null) for value in z])


def test_missing_cells_and_constant_rows():
    B = np.array([[1.0, 2, np.nan, 5], [3, 3, 3, 3], [4, 1, 2, 2], [0, 5, 1, 1]])
    C = standardised(B)
    assert np.isfinite(C).all()
    assert (C[1] == 0).all()
    assert C[0, 2] == 0


def test_the_search_is_repeated_and_continued(cohorts, tmp_path):
    A, B = cohorts
    found = Biclustering(SETS[:2], A.shape, info={"algorithm": "spectral_co", "parameters": {"n_biclusters": 4}})
    seen = []
    options = {"surrogates": 4, "folder": tmp_path}
    first = confirm(found, A, B, **options, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert first.scores["n_references"] >= 5
    z = np.array([record["z"] for record in first.records])
    assert all(record["p"] >= record["p_draws"] for record in first.records)
    assert first.records[0]["verdict"] == "confirmed"
    again = []
    second = confirm(found, A, B, **options, progress=lambda *done: again.append(done))
    assert not again  # nothing is fitted twice
    assert second.records == first.records
    quick = confirm(found, A, B, surrogates=0)
    assert z == pytest.approx([record["z"] for record in quick.records], rel=0.25)


def test_a_folder_of_other_searches_is_refused(cohorts, tmp_path):
    A, B = cohorts
    found = Biclustering(SETS[:1], A.shape, info={"algorithm": "spectral_co", "parameters": {"n_biclusters": 2}})
    confirm(found, A, B, surrogates=1, folder=tmp_path)
    with pytest.raises(RunError, match="holds a run of another plan"):
        confirm(found, Matrix(A.values + 1.0, A.row_labels), B, surrogates=1, folder=tmp_path)


def test_what_find_keeps_is_repeated_by_its_algorithm(cohorts):
    A, B = cohorts
    found = Biclustering(SETS[:1], A.shape, info={"algorithm": "spectral_co-final", "parameters": {"n_biclusters": 3}})
    result = confirm(found, A, B, surrogates=2)
    assert result.scores["n_references"] >= 4
    assert not any("Quick form" in note for note in result.notes)


def test_objects_and_files_give_the_same_answer(cohorts, tmp_path):
    anndata = pytest.importorskip("anndata")
    A, B = cohorts
    solution = Biclustering(SETS[:3], A.shape)
    known = confirm(solution, A, B).records
    objects = []
    for name, X in zip("AB", (A, B), strict=True):
        adata = anndata.AnnData(X.values.T)
        adata.var_names = list(X.row_labels)
        adata.write_h5ad(tmp_path / f"{name}.h5ad")
        objects.append(adata)
    assert [r["verdict"] for r in confirm(solution, *objects).records] == [r["verdict"] for r in known]
    read = [read_matrix(tmp_path / f"{name}.h5ad") for name in "AB"]
    for record, other in zip(confirm(solution, *read).records, known, strict=True):
        assert record["statistic"] == pytest.approx(other["statistic"])
    for name, X in zip("AB", (A, B), strict=True):
        np.save(tmp_path / f"{name}.npy", X.values)
    large = [np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in "AB"]  # rows stay in the file
    for record, other in zip(confirm(solution, *large).records, known, strict=True):
        assert (record["z"], record["verdict"]) == (pytest.approx(other["z"]), other["verdict"])


def test_too_few_references_are_said(cohorts):
    A, B = cohorts
    result = confirm(Biclustering(SETS[:1], A.shape), A, B, algorithm="isa", n_biclusters=1, surrogates=1)
    assert any("too few for the second null" in note for note in result.notes)
    assert result.records[0]["p"] == result.records[0]["p_draws"]


def test_rows_are_found_by_label_whatever_their_order(cohorts):
    A, B = cohorts
    order = np.random.default_rng(1).permutation(120)[:110]
    mixed = pd.DataFrame(B.values[order], index=np.array(B.row_labels)[order])
    solution = Biclustering(SETS[:1], A.shape)
    shared = [i for i in range(15) if i in order]
    result = confirm(solution, A, mixed)
    assert result.records[0]["shared_rows"] == len(shared)
    positions = [order.tolist().index(i) for i in shared]
    assert result.records[0]["statistic"] == pytest.approx(
        twin.statistic(twin.standardised(mixed.to_numpy()), positions)
    )


def test_case_and_versions_are_said_and_matched_when_asked(cohorts):
    A, B = cohorts
    other = Matrix(B.values, tuple(f"G{i}.2" for i in range(400)))
    solution = Biclustering(SETS[:1], A.shape)
    with pytest.raises(
        ParameterError, match=r"no row label is shared \(X: g0, g1, g2.*G0\.2.*400 rows would match.*loose=True"
    ):
        confirm(solution, A, other)
    assert confirm(solution, A, other, loose=True).records[0]["shared_rows"] == 15
    half = Matrix(B.values, tuple(f"g{i}" if i < 60 else f"G{i}" for i in range(400)))
    assert any(note.startswith("340 more rows would match") for note in confirm(solution, A, half).notes)
    double = Matrix(B.values, ("g1", *(f"g{i}" for i in range(1, 400))))
    assert any("1 duplicate row label" in note for note in confirm(solution, A, double).notes)


def test_shared_columns_bring_evidence_and_direction(cohorts):
    rng = np.random.default_rng(2)
    profile = 2 * rng.normal(size=14)
    cols = tuple(f"t{j}" for j in range(14))
    A, B, C = (Matrix(X.values.copy(), X.row_labels, cols) for X in (*cohorts, cohorts[1]))
    for X, sign in ((A, 1), (B, 1), (C, -1)):
        X.values[:15] = 0.3 * rng.normal(size=(15, 14)) + sign * profile
    solution = Biclustering([(range(15), range(14))], A.shape)
    same, opposite = (confirm(solution, A, X).records[0] for X in (B, C))
    assert (same["direction"], opposite["direction"]) == ("same", "opposite")
    assert same["evidence_in_B"] > 5
    assert any(
        "14 columns that both matrices have (t0, t1, t2 and 11 more)" in n for n in confirm(solution, A, B).notes
    )
    A, B = (Matrix(X.values, X.row_labels, tuple(str(120 * j) for j in range(14))) for X in (A, B))
    assert "direction" not in confirm(solution, A, B).records[0]  # minutes of two experiments
    assert "direction" not in confirm(solution, A, cohorts[1]).records[0]


def test_halves_of_columns_and_rows():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(90, 60))
    X[:20] += 2 * rng.normal(size=60)
    given = Biclustering([(range(20), range(30))], X.shape)
    result = confirm(given, X, halves="columns", algorithm="spectral_co", n_biclusters=3, surrogates=3)
    assert all(len(b.cols) <= 30 for b in result.solution)
    assert {"nearest", "overlap"} <= result.records[0].keys()
    assert [record["bicluster"] for record in result.records][:2] == ["H1", "H2"]  # not those that were given
    two = [(range(20), range(30)), (range(40, 60), range(30))]
    again = confirm(Biclustering(two, X.shape), X, halves="columns", algorithm="spectral_co", n_biclusters=3)
    assert again.headline == "1 of 1 supported bicluster of one half holds in both; 1 other does."
    told = "1 of the 2 given biclusters was found again in half the columns, and holds in the other half."
    assert told in again.summary
    by_rows = confirm(None, X.T, halves="rows", algorithm="spectral_co", n_biclusters=3, surrogates=3)
    assert by_rows.solution.shape == (30, 90)  # every other row; the columns of biclusters are judged
    assert by_rows.records[0]["n_rows"] == len(by_rows.solution[0].cols)
    best = max(by_rows.records, key=lambda record: record["z"])
    assert best["verdict"] == "confirmed"


def test_sparse_matrices_stay_sparse():
    rng = np.random.default_rng(5)
    A, B = (rng.random((2, 100, 30)) < 0.1).astype(float)
    for X in (A, B):
        X[:12] *= 0
        X[:12, rng.permutation(30)[:10]] = 1
    solution = Biclustering([(range(12), range(10))], A.shape)

    dense, sparse = (
        confirm(solution, make(A), make(B)).records[0] for make in (Matrix, lambda X: Matrix(csr_array(X)))
    )
    assert sparse == dense
    from bivaluate.elsewhere.confirm import _surrogate

    by_rows = confirm(None, Matrix(csr_array(A)), halves="rows", algorithm="spectral_co", n_biclusters=2, surrogates=1)
    assert by_rows.solution.shape == (50, 30)
    shuffled = _surrogate(Matrix(csr_array(A)), "permute", (0, 1))
    assert shuffled.sparse
    np.testing.assert_array_equal(shuffled.values.sum(axis=1), A.sum(axis=1))
    assert (shuffled.values != A).any()


def test_bad_input(cohorts):
    A, B = cohorts
    solution = Biclustering(SETS[:1], A.shape)
    with pytest.raises(ParameterError, match="give a second matrix, or split"):
        confirm(solution, A)
    with pytest.raises(ParameterError, match="halves need an algorithm"):
        confirm(solution, A, halves="columns")
    with pytest.raises(ParameterError, match="has no row labels"):
        confirm(solution, A, B.values[:50])
    with pytest.raises(ParameterError, match="there is no algorithm 'isaa'"):
        confirm(solution, A, B, algorithm="isaa")
    whole = confirm(Biclustering([(range(300), range(5))], A.shape), A, B)
    assert whole.records[0]["reason"] == "more than 60 % of the 400 shared rows"
    assert whole.summary == "No bicluster can be asked about."


def test_a_reversed_pattern_is_not_confirmed():
    """Rows that move together in B, on the same samples, but the other way round."""
    rng = np.random.default_rng(8)
    A, B = rng.normal(size=(2, 200, 20))
    profile = 2 * rng.normal(size=20)
    A[:20] += profile
    A[40:60, :8] += 3
    B[:20], B[40:60] = B[:20] - profile, B[40:60] + 2 * rng.normal(size=20)
    genes, samples = (tuple(f"{name}{i}" for i in range(n)) for name, n in (("g", 200), ("s", 20)))
    found = Biclustering([(range(20), range(20)), (range(40, 60), range(8))], A.shape)
    records = confirm(found, Matrix(A, genes, samples), Matrix(B, genes, samples)).records
    assert (records[0]["direction"], records[0]["verdict"]) == ("opposite", "not confirmed")
    assert records[0]["reason"] == "the pattern is reversed there"
    assert records[0]["q"] <= 0.05  # the rows do move together: q is that of the test, the verdict is not
    same = confirm(found, Matrix(A, genes, samples), Matrix(A + 0.1 * B, genes, samples)).records
    assert [r["direction"] for r in same] == ["same", "same"]
    elsewhere = confirm(found, Matrix(A, genes, samples), Matrix(B, genes, tuple(f"t{i}" for i in range(20)))).records
    assert "direction" not in elsewhere[0]
    assert elsewhere[0]["verdict"] == "confirmed"  # other samples: the profile may be any


@pytest.mark.parametrize(("strength", "verdict"), [(1.0, "confirmed"), (4.0, "not confirmed")])
def test_rows_outside_that_move_together_as_strongly_count(strength, verdict):
    """Of 60 active rows the first 30 are the bicluster, and the others have a profile of their own in B."""
    rng = np.random.default_rng(9)
    A, B = rng.normal(size=(2, 120, 12))
    A[:60] *= 3
    B[:30] += 2 * rng.normal(size=12)
    B[30:60] += strength * rng.normal(size=12)
    result = confirm(Biclustering([(range(30), range(6))], A.shape), A, B)
    record = result.records[0]
    assert record["q"] <= 0.05
    assert record["verdict"] == verdict
    assert (record["as_strong"] > 0.5) == (verdict == "not confirmed") == ("as strongly" in record["reason"])
    assert result.scores["n_controls"] == 20
    said = "1 of 1 bicluster holds in B; all active rows do. 100 % of 20 sets"
    said = said if verdict == "confirmed" else "No bicluster holds in B."
    assert result.summary.startswith(said)
    assert ("less strongly than those that hold" in result.summary) == (verdict == "confirmed")


def test_a_bicluster_that_fills_its_stratum_can_be_confirmed():
    """Its 20 rows are by far the most active of 120: a stratum of them alone would compare them with themselves."""
    rng = np.random.default_rng(10)
    A, B = rng.normal(size=(2, 120, 15))
    for X in (A, B):
        X[:20] += 3 * rng.normal(size=15)
    assert confirm(Biclustering([(range(20), range(15))], A.shape), A, B).records[0]["z"] > 10


@pytest.mark.parametrize(
    ("where", "share", "words"),
    [
        ("", 0.2, "2 of 3 supported biclusters of one half hold in both; 3 others do."),
        ("", 0.8, "2 of 3 supported biclusters of one half hold in both; most active rows do."),
        ("B", 1.0, "2 of 3 supported biclusters hold in B; all active rows do; 3 others do."),
    ],
)
def test_the_headline_tells_what_else_holds(where, share, words):
    verdicts = [("supported", "confirmed")] * 2 + [("supported", "not confirmed")] + [("redundant", "confirmed")] * 3
    records = [{"bicluster": f"B{k}", "found_as": f, "verdict": v} for k, (f, v) in enumerate(verdicts)]
    said = Confirmation(records, {"share_controls": share}, [], 0.05, Biclustering([]), where).headline
    assert said == words
    assert len(said.split()) <= 15


def test_a_search_is_repeated_on_the_form_of_the_data_that_found_the_biclusters():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 24))
    X[:25, :] += 1.5 * rng.normal(size=24)
    A, B = (Matrix(np.exp(2 * part), tuple(f"g{i}" for i in range(120))) for part in (X[:, ::2], X[:, 1::2]))
    found = find(A, algorithms="las").solution
    assert found.info["form"] == "log"
    logarithms = make_view(A.settled(), "log")
    bare = found.with_info(form="")
    asked = [
        confirm(*each, B, surrogates=3).scores["n_references"] for each in ((found, A), (bare, logarithms), (bare, A))
    ]
    assert asked[0] == asked[1] != asked[2]

"""What samples share: against plain twins, calibration, and bad input."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from bivaluate import Biclustering, Matrix, ParameterError, traits
from bivaluate.elsewhere.traits import describe_traits, logrank, profile_of, read_samples, words
from tests.reference import elsewhere as twin

N = 40
NAMES = tuple(f"s{i}" for i in range(N))
X = Matrix(np.zeros((6, N)), col_labels=NAMES)
SOLUTION = Biclustering([([0, 1], range(10)), ([2, 3], range(5, 25)), ([4], [39])], X.shape)


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "type": np.where(np.arange(N) < 9, "B", np.where(np.arange(N) < 22, "T", "NK")),
            "age": rng.normal(50, 10, N) + 20 * (np.arange(N) < 10),
            "batch": np.where(np.arange(N) % 2, "one", "two"),
            "time": rng.exponential(10, N) / (1 + 5 * (np.arange(N) < 10)),
            "event": rng.integers(0, 2, N),
        },
        index=NAMES,
    )


def test_classes_are_those_of_the_twin(samples):
    table = traits(SOLUTION, X, samples[["type"]], permutations=3000)
    for row, members in zip(table.to_dict("records")[:2], (np.arange(10), np.arange(5, 25)), strict=True):
        exact, p = twin.best_class_mid_p(samples["type"], members, 600, np.random.default_rng(1))
        assert row["p_exact"] == pytest.approx(exact)
        assert row["p"] == pytest.approx(p, abs=0.03)
    first = table.iloc[0]
    assert (first["class"], first["inside"], first["outside"]) == ("B", 0.9, 0.0)
    assert first["p"] == pytest.approx(3 * first["p_exact"])  # no permutation reaches it: the exact bound
    assert first["word"] == "90 % B"
    assert words(table)["B1"] == "90 % B"
    assert describe_traits(table)[0].startswith("B1: 90 % B (type, q ")


def test_a_bicluster_is_known_by_what_is_more_frequent_inside_not_by_itself():
    """Of 40 of 100 samples 22 are in phase S, as 20 of the others are, and 18 are NK, as none of the others is."""
    known = pd.DataFrame({"cluster": ["x"] * 40 + ["y"] * 60})
    known["phase"] = np.where((np.arange(100) < 22) | (np.arange(100) > 79), "S", "G1")
    known["type"] = np.where(
        (np.arange(100) > 21) & (np.arange(100) < 40), "NK", np.where(np.arange(100) % 2, "B", "T")
    )
    pairs = [(range(2), range(40)), (range(2, 4), range(40, 100))]
    for names in (["cluster x", "cluster y"], ["x", "y"]):
        table = traits(Biclustering(pairs, (4, 100), names=names), np.zeros((4, 100)), known)
        assert words(table)[names[0]] == "enriched in NK (45 %; 0 % outside)"
        assert "cluster" not in {*table.loc[table["word"] != "", "trait"]}
    assert words(traits(Biclustering(pairs, (4, 100)), np.zeros((4, 100)), known))["B1"] == "100 % x"


def test_numbers_and_q(samples):
    table = traits(SOLUTION, X, samples[["type", "age"]])
    age = table[(table["trait"] == "age") & (table["bicluster"] == "B1")].iloc[0]
    known = stats.mannwhitneyu(samples["age"][:10], samples["age"][10:])
    assert age["p"] == pytest.approx(known.pvalue)
    assert age["effect"] == pytest.approx(known.statistic / 300)
    assert (age["class"], age["kind"]) == ("higher", "numeric")
    asked = table.dropna(subset=["p"])
    np.testing.assert_allclose(asked["q"], twin.benjamini_hochberg(asked["p"].to_numpy()))
    assert set(table.loc[table["bicluster"] == "B3", "verdict"]) == {"cannot be asked"}  # one sample


def test_survival(samples):
    table = traits(SOLUTION, X, samples[["time", "event"]], survival=("time", "event"))
    row = table.iloc[0]
    times, events = samples["time"].to_numpy(), samples["event"].to_numpy().astype(float)
    inside = np.arange(N) < 10
    more, variance = twin.logrank(times, events, inside.astype(float))
    weights = np.array([inside, np.ones(N)])
    ours = np.array(logrank(weights, times, events, [np.arange(N)]))
    np.testing.assert_allclose(ours, [[more, 0], [variance, 0]], atol=1e-9)
    sides = [stats.CensoredData(times[s & (events == 1)], right=times[s & (events == 0)]) for s in (inside, ~inside)]
    assert row["p_exact"] == pytest.approx(stats.logrank(*sides).pvalue)
    rng = np.random.default_rng(2)
    drawn = [twin.logrank(times, events, rng.permutation(inside).astype(float)) for _ in range(1000)]
    p = (1 + sum(u**2 / v >= more**2 / variance for u, v in drawn)) / 1001
    assert row["p"] == pytest.approx(p, abs=0.02)
    observed = events[inside].sum(), events[~inside].sum()
    expected = observed[0] - more, observed[1] + more
    assert (row["class"], row["effect_is"]) == ("shorter", "hazard ratio")
    assert [row["inside"], row["outside"]] == pytest.approx([observed[0] / expected[0], observed[1] / expected[1]])
    assert row["effect"] == pytest.approx(row["inside"] / row["outside"])
    holed = samples[["time", "event"]].astype(float)
    holed.iloc[20:25, 1] = np.nan
    assert traits(SOLUTION, X, holed, survival=("time", "event")).iloc[0]["n_missing"] == 5
    with pytest.raises(ParameterError, match="survival needs times"):
        traits(SOLUTION, X, samples.assign(event=2), survival=("time", "event"))
    with pytest.raises(ParameterError, match="no column 'dead'"):
        traits(SOLUTION, X, samples, survival=("time", "dead"))


def test_survival_counts_deviations_not_events():
    """Members die early and few of them are seen to die: few events are expected, with little variance."""
    X, solution = np.zeros((2, 60)), Biclustering([([0, 1], range(20))], (2, 60))
    for seed in (4, 7, 8):
        rng = np.random.default_rng(seed)
        times, events = rng.exponential(30, 60), rng.integers(0, 2, 60)
        times[:20] /= 6
        table = pd.DataFrame({"time": times, "event": events})
        row = traits(solution, X, table, survival=("time", "event"), permutations=4999).iloc[0]
        assert row["p"] == pytest.approx(row["p_exact"], abs=0.015)
    within = table.assign(site=np.arange(60) % 2)
    row = traits(solution, X, within, survival=("time", "event"), within="site")
    parts = [
        twin.logrank(times[s], events[s], (np.arange(60) < 20)[s] * 1.0) for s in (slice(0, 60, 2), slice(1, 60, 2))
    ]
    (a, b), (c, d) = parts
    assert row["p_exact"][0] == pytest.approx(2 * stats.norm.sf((a + c) / np.sqrt(b + d)))


def test_groups_of_all_samples_are_asked_by_their_profile():
    """Modules have all samples: their first component is held against traits, half of their rows going down."""
    rng = np.random.default_rng(4)
    common = rng.normal(size=N)
    cells = rng.normal(size=(60, N))
    cells[:20] += 1.5 * common * np.where(np.arange(20) < 12, 1, -1)[:, None]
    M = Matrix(cells, col_labels=NAMES)
    solution = Biclustering([(range(20), range(N)), (range(20, 60), range(N))], M.shape)
    profile = profile_of(M, np.arange(20), False)
    Z = (cells[:20] - cells[:20].mean(axis=1, keepdims=True)) / cells[:20].std(axis=1, keepdims=True)
    first = np.linalg.svd(Z)[2][0] * np.sqrt(N)
    np.testing.assert_allclose(profile, first * np.sign(first @ profile), atol=1e-6)
    assert np.corrcoef(profile, common)[0, 1] > 0.95
    site = np.where(np.arange(N) % 2, "x", "y")
    table = pd.DataFrame(
        {"dose": common + rng.normal(size=N) / 2, "type": np.where(common > 0.3, "a", "b")}, index=NAMES
    )
    table = table.assign(time=np.exp(-common), event=1, site=site)
    found = traits(solution, M, table.drop(columns="site"), survival=("time", "event"))
    dose, kind, survival = found.to_dict("records")[:3]
    assert dose["effect"] == pytest.approx(stats.spearmanr(profile, table["dose"]).statistic)
    assert kind["p_exact"] == pytest.approx(
        stats.mannwhitneyu(
            profile[common > 0.3], profile[common <= 0.3], use_continuity=False, method="asymptotic"
        ).pvalue
    )
    more, variance = twin.logrank(table["time"].to_numpy(), np.ones(N), stats.rankdata(profile))
    assert survival["p_exact"] == pytest.approx(2 * stats.norm.sf(more / np.sqrt(variance)))
    said = ["higher with dose", "higher in type a", "higher with shorter survival"]
    assert [row["word"] for row in (dose, kind, survival)] == said
    assert {row["effect_is"] for row in (dose, kind, survival)} == {"correlation"}
    assert set(found["verdict"][3:]) == {"not associated"}
    within = traits(solution, M, table[["dose", "type", "site"]], within="site")
    assert (within["p"][:2] < 0.001).all()


def test_profiles_are_calibrated():
    """Noise: p of groups of all samples is at most .05 in about a twentieth, with few samples, too."""
    rng = np.random.default_rng(11)
    for n in (14, 50):
        table = pd.DataFrame({"three": rng.choice(["a", "b", "c"], n), "two": rng.choice(["d", "e"], n)})
        table = table.assign(age=rng.normal(size=n), time=rng.exponential(size=n), event=rng.integers(0, 2, n))
        M = rng.normal(size=(1200, n))
        sets = [(range(i, i + 3), range(n)) for i in range(0, 1200, 3)]
        found = traits(Biclustering(sets, M.shape), M, table, survival=("time", "event"), permutations=199)
        for _, part in found.groupby("trait"):
            assert 0.025 <= (part["p"] <= 0.05).mean() <= 0.075


def test_within_strata_a_confounded_class_means_nothing():
    """The bicluster is batch one, and batch one is mostly cases: within batches it is not associated with cases."""
    rng = np.random.default_rng(3)
    batch = np.arange(N) < 20
    case = rng.random(N) < np.where(batch, 0.85, 0.1)
    table = pd.DataFrame({"case": np.where(case, "case", "control"), "batch": batch.astype(str)}, index=NAMES)
    solution = Biclustering([([0, 1], np.flatnonzero(batch)[:14])], X.shape)
    plain = traits(solution, X, table[["case"]]).iloc[0]
    within = traits(solution, X, table, within="batch").iloc[0]
    assert plain["p"] < 0.01
    assert within["p"] > 0.1
    numbers = table.assign(dose=np.where(batch, 5.0, 1.0) + rng.normal(size=N))[["dose", "batch"]]
    assert traits(solution, X, numbers[["dose"]]).iloc[0]["p"] < 0.01
    assert traits(solution, X, numbers, within="batch").iloc[0]["p"] > 0.05


def test_technical_traits_make_a_verdict(samples):
    solution = Biclustering([([0, 1], range(0, N, 2))], X.shape)
    row = traits(solution, X, samples[["batch"]], technical=["batch"]).iloc[0]
    assert row["verdict"] == "may be technical: 100 % of its samples are batch two"


def test_calibration():
    """Random samples: p is at most .05 in about a twentieth."""
    rng = np.random.default_rng(7)
    table = pd.DataFrame(
        {"type": rng.choice(["a", "b", "c"], N, p=[0.5, 0.3, 0.2]), "age": rng.normal(size=N)}, index=NAMES
    )
    sets = [([0], rng.choice(N, rng.integers(8, 25), replace=False)) for _ in range(600)]
    found = traits(Biclustering([(r, np.sort(c)) for r, c in sets], X.shape), X, table, permutations=199)
    for _, part in found.groupby("trait"):
        assert 0.03 <= (part["p"] <= 0.05).mean() <= 0.07


def test_missing_values_are_left_out_and_counted(samples):
    holed = samples[["type", "age"]].copy()
    holed.iloc[3:8] = np.nan
    table = traits(SOLUTION, X, holed)
    assert (table["n_missing"] == 5).all()
    kept = [i for i in range(10) if not 3 <= i < 8]
    assert table.iloc[0]["inside"] == pytest.approx(np.mean([samples["type"].iloc[i] == "B" for i in kept]))
    fewer = traits(SOLUTION, X, samples[["type"]].iloc[5:])
    assert any("5 samples of 40 have no annotation" in note for note in fewer.attrs["notes"])


def test_useless_columns_are_said(samples):
    table = traits(SOLUTION, X, samples[["type"]].assign(same="x", own=list(NAMES), none=np.nan))
    assert set(table["trait"]) == {"type"}
    said = " ".join(table.attrs["notes"])
    assert "same was left out: it is constant" in said
    assert "own was left out: every sample has a class of its own" in said
    assert "none was left out: it is empty" in said


def test_rows_positions_and_objects(samples):
    rows = pd.DataFrame({"part": ["x", "x", "x", "y", "y", "y"]})
    table = traits(Biclustering([([0, 1, 2], [0, 1])], X.shape), X, rows, of="rows")
    assert (table.iloc[0]["class"], table.iloc[0]["inside"]) == ("x", 1.0)
    anndata = pytest.importorskip("anndata")
    adata = anndata.AnnData(np.zeros((N, 6)))
    adata.obs_names = list(NAMES)
    adata.obs["type"] = pd.Categorical(samples["type"])
    assert traits(SOLUTION, adata).iloc[0]["word"] == "90 % B"


def test_files_and_bad_input(samples, tmp_path):
    path = tmp_path / "samples.tsv"
    samples.to_csv(path, sep="\t")
    table = traits(SOLUTION, X, path)
    assert {*table["trait"]} == {"type", "age", "batch", "survival"}  # censoring is not ignored
    assert table.attrs["notes"][0].startswith("time and event were taken as survival")
    assert {*traits(SOLUTION, X, samples.assign(event=2.5))["trait"]} == {"type", "age", "batch", "time"}
    with pytest.raises(
        ParameterError, match=r"no label is shared \(annotations: a, b; matrix: s0, s1, s2.*Are the samples the columns"
    ):
        traits(SOLUTION, X, pd.DataFrame({"type": ["x", "y"]}, index=["a", "b"]))
    with pytest.raises(ParameterError, match="annotations are missing"):
        traits(SOLUTION, X)
    with pytest.raises(ParameterError, match="'s1' more than once"):
        traits(SOLUTION, X, pd.concat([samples, samples.iloc[1:2]]))
    with pytest.raises(ParameterError, match="no column 'plate'"):
        traits(SOLUTION, X, samples, technical=["plate"])
    with pytest.raises(ParameterError, match="3 rows and no labels, but there are 40 samples"):
        traits(SOLUTION, X, pd.DataFrame({"type": ["x", "y", "x"]}))
    with pytest.raises(OSError, match="cannot read"):
        read_samples(tmp_path / "absent.csv")

"""The benchmark: fixed data with a truth, a run that can be continued, an answer for every measure."""

import math
import re
import sys

import numpy as np
import pandas as pd
import pytest

from bivaluate import Biclustering, FileError, Matrix, ParameterError, RunError, SolutionError, compare
from bivaluate.benchmark import CASES, Benchmark, Problem, answer, run_benchmark, write_page
from bivaluate.benchmark.answer import ALWAYS, ranked
from bivaluate.benchmark.cases import UNHALVED
from bivaluate.benchmark.fits import MethodSolution, known_rows
from bivaluate.benchmark.page import benchmark_headline
from bivaluate.benchmark.truth import Truth, best_agreements
from bivaluate.datasets import load


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("benchmark")


@pytest.fixture(scope="module")
def found(folder):
    return run_benchmark(folder, cases=["raised", "noise"], algorithms=["las", "spectral"])


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.domain in ("planted", "noise")])
def test_made_data_are_the_same_for_a_seed_and_hold_their_truth(name):
    first, again, other = (CASES[name].load(seed) for seed in (0, 0, 1))
    assert np.array_equal(first.matrix.values, again.matrix.values)
    assert not np.array_equal(first.matrix.values, other.matrix.values)
    assert first.truth == again.truth
    assert len(first.truth) == 0 if CASES[name].domain == "noise" else len(first.truth) >= 2


def test_blocks_stand_where_the_truth_says():
    problem = CASES["raised"].load(3)
    values = problem.matrix.values
    inside = np.zeros(values.shape, bool)
    for rows, cols in problem.truth:
        inside[np.ix_(rows, cols)] = True
    assert values[inside].mean() > 1.8
    assert abs(values[~inside].mean()) < 0.1


def test_truth_of_planted_biclusters():
    problem = CASES["raised"].load(0)
    value, each = Truth(problem).of(problem.truth)
    assert value == 1.0
    assert each == [1.0, 1.0, 1.0]
    assert Truth(problem).of(Biclustering([], problem.matrix.shape)) == (0.0, [])


def test_what_holds_in_a_repeat_is_true():
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, 200, 12))
    first[:40] += 2 * rng.normal(size=12)
    second[:20] += 2 * rng.normal(size=12)
    problem = Problem(Matrix(first), other=Matrix(second))
    sets = [(range(20), range(6)), (range(20, 40), range(6)), (range(3), range(6))]
    value, each = Truth(problem).of(Biclustering(sets, (200, 12)))
    assert each[0] > 5 > abs(each[1])
    assert math.isnan(each[2])  # cannot be asked
    strength = [max(z, 0) for z in each[:2]]
    assert value == pytest.approx(np.mean([z / (z + 5) for z in strength]))
    assert math.isnan(Truth(problem).of(Biclustering(sets[2:], (200, 12)))[0])


def test_every_data_set_but_noise_has_a_repeat_or_halves_or_too_few_columns():
    own = [name for name, case in CASES.items() if case.domain not in ("noise", "repeats", "planted halves")]
    without = [name for name in own if not {f"{name} halves", f"{name} again"} & CASES.keys()]
    assert without == UNHALVED == [name for name in without if load(name).shape[1] < 8]
    for name in ("raised halves", "scenario:S1 halves"):
        problem, whole = CASES[name].load(0), CASES[name.removesuffix(" halves")].load(0).matrix.values
        assert np.array_equal(problem.matrix.values, whole[:, ::2])
        assert np.array_equal(problem.other.values, whole[:, 1::2])


def test_truth_of_classes_is_beyond_chance():
    mask = np.arange(60) < 20
    problem = Problem(Matrix(np.zeros((60, 4))), row_classes={"a": mask, "b": ~mask})
    perfect, mixed = (
        Truth(problem).of(Biclustering([(rows, [0, 1])], (60, 4)))[0] for rows in (range(20), range(10, 30))
    )
    assert perfect == 1.0
    assert mixed < 0.5
    drawn = [np.random.default_rng(s).choice(60, 20, replace=False) for s in range(40)]
    values = [Truth(problem).of(Biclustering([(rows, [0, 1])], (60, 4)))[0] for rows in drawn]
    assert abs(np.mean(values)) < 0.05


def test_agreements_with_a_class():
    from sklearn.metrics import normalized_mutual_info_score

    rng = np.random.default_rng(4)
    masks = rng.random((3, 50)) < 0.3
    members = np.sort(rng.choice(50, 18, replace=False))
    mine = np.isin(np.arange(50), members)
    found = best_agreements(members, masks, across=7)
    assert found["nmi"] == pytest.approx(max(normalized_mutual_info_score(mask, mine) for mask in masks))
    one, all_columns = Biclustering([(members, range(7))], (50, 7)), range(7)
    cari = [compare(Biclustering([(np.flatnonzero(mask), all_columns)], (50, 7)), one)["cari"] for mask in masks]
    assert found["cari"] == pytest.approx(max(cari))
    assert found["f1"] == pytest.approx(max(2 * (mask & mine).sum() / (mask.sum() + 18) for mask in masks))
    assert best_agreements(np.flatnonzero(masks[0]), masks[:1]) == {"f1": 1.0, "nmi": 1.0, "cari": 1.0}


def test_classes_by_three_agreements_with_their_null():
    mask = np.arange(60) < 20
    problem = Problem(Matrix(np.zeros((60, 4))), row_classes={"a": mask, "b": ~mask})
    found = Truth(problem).by_class(Biclustering([(range(20), [0, 1]), (range(10, 30), [1])], (60, 4)))
    assert found["class_f1_found"] == pytest.approx((1.0 + 20 / 40 + 0.0) / 2, abs=0.1)
    assert all(
        0 <= found[f"class_{name}_chance"] + 0.05 < found[f"class_{name}_found"] for name in ("f1", "nmi", "cari")
    )
    assert set(Truth(problem).by_class(Biclustering([], (60, 4))).values()) == {0.0}
    assert Truth(CASES["raised"].load(0)).by_class(Biclustering([], (200, 40))) == {}


def test_tables(found):
    assert set(found.solutions["algorithm"]) == {"las", "spectral"}
    assert found.solutions["truth"][found.solutions["domain"] == "planted"].max() > 0.5
    assert found.solutions["truth"][found.solutions["domain"] == "noise"].isna().all()
    assert set(found.copies["copy"]) == {"as found", "corrupted", "random"}
    assert len(found.biclusters) == found.solutions["n_biclusters"].sum()


def test_a_run_is_continued_not_repeated(found, folder):
    files = (folder / "run" / "times.csv", folder / "solutions.csv")  # a fit made again would take another time
    before = [path.read_text() for path in files]
    run_benchmark(folder, cases=["raised", "noise"], algorithms=["las", "spectral"])
    assert [path.read_text() for path in files] == before


def test_what_was_judged_is_kept_by_its_solutions(found, folder, tmp_path):
    case = CASES["noise"]
    one, other = (
        MethodSolution("x", 1, Biclustering([(rows, [0, 1, 2])], (200, 40))) for rows in ([0, 1, 2], [3, 4, 5])
    )
    first = known_rows(case, 0, [one], tmp_path / "noise.json", False)
    (tmp_path / "noise.json").write_text(
        (tmp_path / "noise.json").read_text().replace('"case": "noise"', '"case": "kept"')
    )
    assert known_rows(case, 0, [one], tmp_path / "noise.json", False)["solutions"][0]["case"] == "kept"
    assert known_rows(case, 0, [other], tmp_path / "noise.json", False)["solutions"][0]["case"] == "noise"
    assert known_rows(case, 0, [other], tmp_path / "noise.json", True)["solutions"][0]["n_biclusters"] == 1
    assert first["copies"] == []
    assert (folder / "judged" / "raised_0.json").exists()


def test_answer_and_page(found, tmp_path):
    tables = answer(found)
    measures = tables["measures"].set_index("measure")
    assert measures.loc["total_evidence", "noise"] == 1.0
    assert measures.loc["nve_cov", "noise"] == 0.0
    assert measures.loc["total_evidence", "random"] >= 0.75  # a tie is half a win
    assert measures.loc[ALWAYS, "right_algorithm"] == 1.0
    written = write_page(found, tables, tmp_path / "page.md", "bivaluate benchmark")
    text = written[0].read_text(encoding="utf-8")
    assert "\n\n1 data set with 2 algorithms: too few to rank measures. las agrees with the truth to " in text
    assert "| las |" in text  # the algorithm, not the measure of that key
    assert all(path.exists() for path in written)


def test_measures_are_computed_anew_without_fitting(found, folder):
    times = (folder / "run" / "times.csv").read_text()
    again = run_benchmark(folder, cases=["raised", "noise"], algorithms=["las", "spectral"], rescore=True)
    assert (folder / "run" / "times.csv").read_text() == times
    with pytest.raises(FileError, match=r"there is no run folder"):
        run_benchmark(folder / "nothing", cases=["noise"], rescore=True)
    measures = ["nve_cov", "total_evidence", "truth"]
    pd.testing.assert_frame_equal(again.solutions[measures], found.solutions[measures], rtol=1e-9)


def test_another_measure_is_refused_with_how_to_compute_it(found, folder, tmp_path, monkeypatch, no_own_measures):
    (tmp_path / "size_of.py").write_text("def rows(X, solution):\n    return len(solution)\n")
    monkeypatch.syspath_prepend(tmp_path)
    how = {"cases": ["raised", "noise"], "algorithms": ["las", "spectral"], "measures": ["size_of:rows"]}
    with pytest.raises(RunError, match=r"rescore=True computes these without fitting again\.$") as refused:
        run_benchmark(folder, **how)
    assert "['size_of:rows'] here and [] there" in str(refused.value)
    assert "nve" not in str(refused.value)
    with pytest.raises(RunError, match=r"holds a run of another plan: algorithms is \['las'\] here"):
        run_benchmark(folder, **how | {"algorithms": ["las"]})


def made(rows):
    table = pd.DataFrame(rows, columns=["case", "domain", "seed", "algorithm", "k", "truth", "nve", "total_evidence"])
    empty = pd.DataFrame(columns=["case", "domain", "seed", "algorithm", "k", "copy"])
    return Benchmark(table, empty.assign(truth=[]), empty)


def test_worked_correlations_and_picks():
    rows = [
        ("x", "planted", 0, "a", k, t, n, e) for k, t, n, e in ((2, 0.1, 0.9, 1), (3, 0.4, 0.5, 2), (4, 0.9, 0.6, 3))
    ]
    rows += [
        ("x", "planted", 0, "b", k, t, n, e) for k, t, n, e in ((2, 0.2, 0.4, 0), (3, 0.4, 0.8, -1), (4, 0.2, 0.7, -2))
    ]
    measures = answer(made(rows))["measures"].set_index("measure")
    truth, nve = (pd.Series([row[i] for row in rows]).rank() for i in (5, 6))
    assert measures.loc["nve", "solutions"] == pytest.approx(-np.corrcoef(truth, nve)[0, 1])
    assert measures.loc["total_evidence", "right_algorithm"] == 1.0
    assert measures.loc["nve", "right_algorithm"] == 0.0
    assert measures.loc["total_evidence", "share"] == 1.0
    assert measures.loc["nve", "share"] == pytest.approx(0.2 / 0.9)  # low is better: K = 2 of b
    assert measures.loc["total_evidence", "right_k"] == 0.5  # of b it picks K = 2, the truth says 3
    assert math.isnan(measures.loc["nve", "noise"])


def test_what_is_undefined_is_not_wrong_and_has_no_part(tmp_path):
    rows = [
        (case, domain, 0, name, k, (0.1 + k / 10) / of, 1 - k, k if case == "y" else math.nan)
        for case, domain in (("x", "planted"), ("y", "text"), ("z", "planted"))
        for of, name in ((1, "a"), (2, "b"))
        for k in (2, 5)
        if (case, name) != ("z", "b")
    ]
    rows += [("w", "noise", 0, "a", 2, math.nan, 0.5, math.nan)]
    tables = answer(made(rows))
    evidence = tables["measures"].set_index("measure").loc["total_evidence"]
    assert evidence[["right_algorithm", "right_k", "share"]].tolist() == [1.0, 1.0, 1.0]
    assert evidence[["right_algorithm_n", "right_k_n", "share_n", "noise_n"]].tolist() == [1, 1, 1, 0]
    assert math.isnan(evidence["noise"])
    means = tables["domains"].set_index("measure")["mean"]
    assert means.isna().to_dict() == {"nve": False, "total_evidence": True}
    assert tables["algorithms"][["algorithm", "mean_n"]].values.tolist() == [["a", 3], ["b", 2]]
    page = write_page(made(rows), tables, tmp_path / "page.md", "bivaluate benchmark")[0].read_text()
    assert "| evidence | 1 | " in page
    assert "| 1 (n = 1) | 1 (n = 1) | 1 (n = 1) | – |" in page
    assert "| data sets | mean over data sets |" in page


def test_answers_by_domain_and_by_class(tmp_path):
    rows = [("x", "text", 0, "a", k, t, 1 - t, t) for k, t in enumerate((0.1, 0.2, 0.5, 0.4), 2)]
    benchmark = made(rows)
    for name, sign in (("f1", 1), ("nmi", 1), ("cari", -1)):
        benchmark.solutions[f"class_{name}"] = sign * benchmark.solutions["truth"]
        benchmark.solutions[f"class_{name}_found"] = benchmark.solutions["truth"]
        benchmark.solutions[f"class_{name}_chance"] = 0.05
    benchmark.solutions["class_recall"] = benchmark.solutions["truth"] ** 2
    tables = answer(benchmark)
    assert tables["domains"].set_index("measure").loc["nve", "text"] == pytest.approx(1.0)  # low is better
    by_class = tables["classes"].set_index("measure")
    assert np.isnan(by_class.loc["nve", ["f1_low", "f1_high"]].tolist()).all(), "one data set gives no interval"
    page = write_page(benchmark, tables, tmp_path / "page.md", "bivaluate benchmark")[0].read_text()
    assert "| NVE | 1 | 1 | −1 | 1 |" in page
    assert by_class.loc["nve", ["f1", "nmi", "cari", "recall"]].tolist() == pytest.approx([1.0, 1.0, -1.0, 1.0])
    assert tables["algorithms_by_class"].loc[0, ["f1_found", "f1_chance", "recall"]].tolist() == [0.5, 0.05, 0.25]


def test_somebodys_solutions(folder, tmp_path):
    problem = CASES["raised"].load(0)
    problem.truth.to_json(tmp_path / "raised_0.json")
    found = run_benchmark(
        folder, cases=["raised", "noise"], algorithms=["las", "spectral"], solutions={"mine": tmp_path}
    )
    mine = found.solutions[found.solutions["algorithm"] == "mine"]
    assert mine["truth"].tolist() == [1.0]
    assert answer(found)["algorithms"]["algorithm"].iloc[0] == "mine"
    Biclustering([([0], [0])], (3, 4)).to_json(tmp_path / "raised_0.json")
    with pytest.raises(SolutionError, match=r"raised_0\.json is not a solution of raised: .*\(3, 4\)"):
        run_benchmark(folder, cases=["raised", "noise"], algorithms=["las", "spectral"], solutions={"mine": tmp_path})
    with pytest.raises(FileError, match=r"holds no solution of this benchmark: files such as raised_0\.json"):
        run_benchmark(
            folder, cases=["raised", "noise"], algorithms=["las", "spectral"], solutions={"x": folder / "run"}
        )


def test_the_headline_says_what_was_measured(found):
    tables = answer(found)
    measures = tables["measures"].assign(solutions_n=2)
    assert benchmark_headline(tables | {"measures": measures}).startswith("Over 2 data sets, ")
    headline = benchmark_headline(tables | {"measures": measures})
    assert " agrees best with the truth (rank correlation " in headline
    assert re.search(r"\. [A-Z][\w ]* picks the best algorithm", headline)
    alone = tables | {"measures": measures, "algorithms": tables["algorithms"].head(1)}
    assert benchmark_headline(alone).startswith("2 data sets with 1 algorithm: too few to rank measures.")


def test_every_case_can_be_named_among_others():
    assert not [name for name in CASES if "," in name]


def test_unknown_case(tmp_path):
    with pytest.raises(ParameterError, match=r"^there is no case 'raisd'\. Did you mean 'raised'\?$"):
        run_benchmark(tmp_path, cases=["raisd"])


def test_truth_by_data_set_has_its_spread_over_seeds():
    truths = {("x", 0): (0.2, 0.4), ("x", 1): (0.8, 0.1), ("y", 0): (0.3, 0.5)}
    rows = [
        (case, "planted", seed, "a", k, t, t, t) for (case, seed), both in truths.items() for k, t in enumerate(both, 2)
    ]
    found = answer(made(rows))["algorithms_by_case"].set_index("case")
    assert found.loc["x", ["mean", "count"]].tolist() == pytest.approx([0.6, 2]), "each seed at its best K"
    assert found.loc["x", "std"] == pytest.approx(np.std([0.4, 0.8], ddof=1))
    assert found.loc["y", "mean"] == 0.5


def test_algorithms_have_intervals_over_data_sets_and_those_of_few_come_last():
    truths = {"x": (0.9, 0.4, 0.9), "y": (0.5,), "z": (0.1,)}
    rows = [
        (case, case, 0, name, 2, t, t, t) for case, of in truths.items() for name, t in zip("abc", of, strict=False)
    ]
    rows.append(("y", "y", 0, "b", 2, 0.3, 0.3, 0.3))
    found = answer(made(rows))["algorithms"].set_index("algorithm")
    assert found.index.tolist() == ["a", "b", "c"], "c is best on the one data set it has"
    assert found["mean"].tolist() == pytest.approx([0.5, 0.35, 0.9])
    assert found["mean_n"].tolist() == [3, 2, 1]
    assert 0.1 <= found.loc["a", "mean_low"] < 0.5 < found.loc["a", "mean_high"] <= 0.9
    assert math.isnan(found.loc["c", "mean_low"])


def test_a_measure_with_few_answers_is_not_ranked_first():
    table = pd.DataFrame({"measure": ["a", "b", "c"], "solutions": [0.9, 0.5, 0.6], "solutions_n": [1, 8, 7]})
    assert ranked(table, "solutions")["measure"].tolist() == ["c", "b", "a"]


def test_failed_fits_and_own_measures_stand_on_the_page(tmp_path, monkeypatch, no_own_measures):
    script = "import sys\nsys.exit('out of ideas' if 'id,c1,c2' in open(sys.argv[1]).readline() else 'no CSV')\n"
    (tmp_path / "tool.py").write_text(script)
    (tmp_path / "size_of.py").write_text("def rows(X, solution):\n    return sum(len(rows) for rows, _ in solution)\n")
    monkeypatch.chdir(tmp_path)
    mine = f"mine=cmd:'{sys.executable}' tool.py {{matrix}} {{out}} {{k}}"
    found = run_benchmark(
        "RUN", cases=["raised"], algorithms=["spectral", "spectral_co", mine], measures=["size_of:rows"], time_limit=60
    )
    assert found.failed[["failed", "timed_out", "fits"]].values.tolist() == [[3, 0, 3]]
    tables = answer(found)
    assert "size_of:rows" in tables["measures"]["measure"].tolist()
    text = write_page(found, tables, tmp_path / "page.md", "bivaluate benchmark")[0].read_text()
    said = "- mine: 3 failed of 3 fits. For example: python ended with code 1. Its last lines: out of ideas"
    assert text.index("## Which algorithm is best?") < text.index(said) < text.index("## Measures of solutions")

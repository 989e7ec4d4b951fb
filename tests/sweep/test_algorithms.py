"""What a sweep does with algorithms: patterns, those that find K, work that is shared, commands, data they cannot take."""

import sys

import numpy as np
import pytest
from scipy.sparse import csr_array, save_npz

from bivaluate import Matrix, MatrixError, ParameterError, Plan, SearchWarning, Sweep, select_k, write_matrix
from bivaluate.algorithms import ALGORITHMS, CoherentSubmatrices, SpectralCheckerboard, choose_algorithms
from bivaluate.algorithms import spectral as spectral_module
from bivaluate.sweep.select import select

SCRIPT = """
import sys, time
what, out, k, seed = sys.argv[1:]
if what == "hang":
    print("still thinking", file=sys.stderr, flush=True)
    time.sleep(60)
if what == "die":
    sys.exit("the tool is out of ideas")
lines = [f"B{i},r{i + 1} r{i + 2} r{i + 3},c1 c2 c3" for i in range(int(k))]
open(out + "/found.csv", "w").write("\\n".join(["bicluster,rows,cols", *(lines if what != "nonsense" else ["B1,x,y"])]) + "\\n")
"""


@pytest.fixture
def matrix(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 12))
    X[:12, :5] += 4
    write_matrix(Matrix(X), tmp_path / "m.tsv")
    return str(tmp_path / "m.tsv")


@pytest.fixture
def command(tmp_path):
    (tmp_path / "tool.py").write_text(SCRIPT)
    return lambda what: f"cmd:'{sys.executable}' '{tmp_path / 'tool.py'}' {what} {{out}}/ {{k}} {{seed}}"


def test_patterns_stand_for_keys():
    assert list(choose_algorithms(["all"])) == list(ALGORITHMS)
    assert choose_algorithms(["spectral", "spectral*"]) == {"spectral": True, "spectral_co": False}
    with pytest.raises(ParameterError, match=r"'plaidd\*' matches no algorithm\. `bivaluate algorithms`"):
        Plan(["scenario:S1"], ["plaidd*"])
    plan = Plan(["scenario:S1"], ["las", "spectral*"])
    assert plan.algorithms == ("las", "spectral", "spectral_co")
    assert Plan.from_dict(plan.to_dict()) == plan


def test_an_algorithm_that_finds_k_is_fitted_once_and_its_k_reported(matrix):
    plan = Plan(
        [matrix], ["find", "las"], k=[1, 2, 6], parameters={"find": {"n_starts": 60}, "las": {"n_restarts": 20}}
    )
    run = Sweep(plan).run()
    cells = [(cell.algorithm, cell.k) for cell in run.cells]
    assert cells == [("coherent", 6), ("las", 1), ("las", 2), ("las", 6)]
    found = run.results.set_index("algorithm").loc["coherent", "n_biclusters"]
    assert found == len(CoherentSubmatrices(6, n_starts=60, random_state=0).fit(run.matrix("m", 0)).solution_) < 6
    chosen = select(run).best
    assert set(chosen["found"]) <= set(run.results["n_biclusters"])
    assert not any("largest tried" in text for text in select(run).verdict)


def test_spectral_shares_its_decomposition_over_k_and_changes_nothing(matrix, monkeypatch):
    times = []
    svd = spectral_module.randomized_svd
    monkeypatch.setattr(spectral_module, "randomized_svd", lambda *a, **o: times.append(1) or svd(*a, **o))
    run = Sweep(Plan([matrix], ["spectral"], k=[2, 3, 4], seeds=2)).run()
    assert len(times) == 2  # one for each seed
    for cell in run.cells:
        alone = SpectralCheckerboard(cell.k, random_state=cell.seed).fit(run.matrix("m", 0))
        assert run.solution(cell) == alone.solution_
    times.clear()
    chosen = select_k(SpectralCheckerboard(random_state=1), run.matrix("m", 0), [2, 3, 4], scoring="nve_cov")
    assert len(times) == 1
    alone = SpectralCheckerboard(chosen.best_params_["n_biclusters"], random_state=1).fit(run.matrix("m", 0))
    assert chosen.best_estimator_.solution_ == alone.solution_


def test_select_k_does_not_sweep_what_finds_k(matrix):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 12))
    with pytest.warns(SearchWarning, match="No K gives a supported bicluster"):
        chosen = select_k(CoherentSubmatrices(n_starts=60, random_state=0), X, [2, 5, 9])
    assert chosen.cv_results_["param_n_biclusters"] == [9]


def test_what_cannot_take_the_data_says_so_before_anything_starts(matrix, tmp_path):
    with pytest.raises(MatrixError, match=r"nmf cannot be run on data set m: Negative values in data passed to NMF"):
        Sweep(Plan([matrix], ["las", "nmf"], k=[2]), tmp_path / "run").run()
    with pytest.raises(ParameterError, match=r"cmd:no-such-tool.* cannot be run on data set m: there is no program"):
        Sweep(Plan([matrix], ["cmd:no-such-tool {matrix}"], k=[2]), tmp_path / "other").run()
    holes = Matrix(np.where(np.eye(9, 5), np.nan, 1.0))
    write_matrix(holes, tmp_path / "holes.tsv")
    with pytest.raises(MatrixError, match=r"cca cannot be run on data set holes: .* without missing values"):
        Sweep(Plan([str(tmp_path / "holes.tsv")], ["cca"], k=[2]), tmp_path / "third").run()


def test_a_pattern_leaves_out_what_cannot_take_the_data(matrix):
    with pytest.warns(SearchWarning, match=r"lda and nmf are left out on data set m\. lda: Negative") as told:
        run = Sweep(Plan([matrix], ["spectral*", "ld*", "nm?"], k=[2])).run()
    assert len(told) == 1
    assert list(run.results["algorithm"]) == ["spectral", "spectral_co"]
    with (
        pytest.warns(SearchWarning, match=r"nmf is left out on data set m\."),
        pytest.raises(ParameterError, match=r"none of nmf can be run on the data"),
    ):
        Sweep(Plan([matrix], ["nm?"], k=[2])).run()


def test_a_command_is_swept_like_any_other(matrix, command):
    good, dead, mad = command("good"), command("die"), command("nonsense")
    run = Sweep(Plan([matrix], [good, dead, mad], k=[2, 3])).run()
    table = run.results.set_index(["algorithm", "k"])
    assert list(table.loc[good, "n_biclusters"]) == [2, 3]
    assert set(table.loc[dead, "status"]) == {"failed"}
    assert "ended with code 1. Its last lines: the tool is out of ideas" in table.loc[(dead, 2), "reason"]
    assert "wrote out/found.csv, which cannot be read" in table.loc[(mad, 2), "reason"]


def test_a_command_that_hangs_is_a_failed_cell(matrix, command):
    plan = Plan([matrix], [command("hang")], k=[2], parameters={command("hang"): {"time_limit": 0.3}})
    (row,) = Sweep(plan).run().results.to_dict("records")
    assert row["status"] == "timed out"
    assert "was stopped at its limit of 0.3 s" in row["reason"]


def test_a_command_that_breaks_the_limit_of_the_sweep_says_its_last_lines(matrix, command):
    (row,) = Sweep(Plan([matrix], [command("hang")], k=[2], time_limit=1.5)).run().results.to_dict("records")
    assert row["status"] == "timed out"
    assert row["reason"].endswith("was stopped at its limit of 1.5 s. Its last lines: still thinking")


def test_recipes_lie_beside_the_plan(matrix, command, tmp_path):
    line = command("good").removeprefix("cmd:")
    (tmp_path / "mine.toml").write_text(f'command = """{line}"""\n')
    (tmp_path / "plan.toml").write_text('datasets = ["m.tsv"]\nalgorithms = ["recipe:mine.toml"]\nk = [2]\n')
    plan = Plan.from_toml(tmp_path / "plan.toml")
    assert plan.algorithms == (f"recipe:{tmp_path / 'mine.toml'}",)
    assert list(Sweep(plan).run().results["status"]) == ["ok"]


def test_sparse_matrices_stay_sparse(tmp_path, limits):
    counts = np.random.default_rng(0).poisson(0.2, (50, 30)).astype(float)
    counts[:15, :10] += 3
    save_npz(tmp_path / "counts.npz", csr_array(counts))
    plan = Plan([str(tmp_path / "counts.npz")], ["nmf", "spectral_co", "cca"], k=[2])
    with pytest.warns(SearchWarning, match=r"data set counts is sparse, and is made dense for cca \(0.012 MB\)"):
        dense = Sweep(Plan(plan.datasets, ["cca"], k=[2])).run()
    assert dense.results["status"].tolist() == ["ok"]  # small enough to be made dense
    limits(LARGEST_DENSE_BYTES=1000)
    with pytest.raises(
        MatrixError, match=r"cca cannot be run on data set counts: cca needs every value, .* as a dense array"
    ):
        Sweep(plan, tmp_path / "run").run()
    limits(LARGEST_DENSE_BYTES=1 << 31, LARGEST_COPY=11_000)  # all cells are more, the stored ones less
    run = Sweep(Plan(plan.datasets, ["nmf", "spectral_co"], k=[2]), tmp_path / "other").run()
    assert run.results["status"].tolist() == ["ok", "ok"]
    matrix = run.matrix("counts")
    assert matrix.sparse
    assert (run.path / "matrices" / "counts.npz").exists()
    np.testing.assert_array_equal(matrix.to_scipy().toarray(), counts)
    assert Sweep(run.plan, tmp_path / "other").run().results.equals(run.results)


def test_a_named_command_has_its_name_in_tables_and_files(matrix, command, tmp_path):
    word = "mine=" + command("good")
    plan = Plan([matrix], ["cca", word], k=[2, 3], parameters={word: {"time_limit": 60.0}})
    run = Sweep(plan, tmp_path / "run").run()
    assert [cell.algorithm for cell in run.cells] == ["cca", "cca", "mine", "mine"]
    assert set(run.results["status"]) <= {"ok", "degenerate"}
    assert (run.path / "solutions" / "m" / "mine-k2-seed0.json").exists()
    assert run.solution(run.cells[2])[0].rows.tolist() == [0, 1, 2]
    assert Sweep(plan, tmp_path / "run").run().results.equals(run.results)
    assert set(select(run).best["algorithm"]) <= {"cca", "mine"}


def test_a_class_of_a_file_in_this_folder_takes_part(tmp_path, monkeypatch, matrix):
    """Also in the processes that fit with a time limit."""
    (tmp_path / "mine_here.py").write_text("import bivaluate.algorithms as a\nMine = a.ChengChurch\n")
    monkeypatch.chdir(tmp_path)
    run = Sweep(Plan([matrix], ["mine_here:Mine"], k=[2], time_limit=100)).run()
    assert run.results["status"].tolist() == ["ok"]

"""``bivaluate run``: a solution file, the same for the same seed, and clear refusals."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.cluster import SpectralCoclustering

from bivaluate import Biclustering, BivaluateError, read_matrix, read_solution
from bivaluate.cli.run import run as run_command
from bivaluate.sweep.plan import parse_assignments


@pytest.fixture
def matrix(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 10))
    X[:12, :5] += 4
    lines = ["gene," + ",".join(f"c{j}" for j in range(10))]
    lines += [f"g{i}," + ",".join(f"{x:.4f}" for x in row) for i, row in enumerate(X)]
    (tmp_path / "matrix.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "matrix.csv"


def test_writes_the_solution_and_says_what_was_found(run, matrix):
    done = run(
        "run", matrix, "--algorithm", "las", "-k", 8, "--seed", 1, "-o", "solution.json", "--param", "n_restarts=100"
    )
    assert done.code == 0, done.err
    assert "B1: 12 rows × 5 columns" in done.out
    assert "of 8 biclusters: LargeAverageSubmatrices found no more." in done.out
    assert "wrote solution.json" in done.err
    document = json.loads((matrix.parent / "solution.json").read_text())
    assert document["info"]["algorithm"] == "las"
    assert document["info"]["parameters"]["n_restarts"] == 100
    assert run("score", matrix, "solution.json").code == 0


def test_a_command_runs_like_any_algorithm_and_finding_nothing_is_an_answer(run, matrix):
    tool = matrix.parent / "tool.py"
    tool.write_text(
        "import sys\nprint('nothing today')\nif sys.argv[2] == '2':\n"
        "    open(sys.argv[1] + '/f.csv', 'w').write('bicluster,rows,cols\\nB1,r1 r2,c1 c2\\n')\n"
        "if sys.argv[2] == '3':\n    sys.exit('the tool broke')\n"
    )
    command = f"cmd:'{sys.executable}' {tool} {{out}}/ {{k}}"
    done = run("run", matrix, "--algorithm", command, "-k", 2, "-o", "two.json")
    assert (done.code, done.out) == (0, "B1: 2 rows × 2 columns\n1 of 2 biclusters: CommandEstimator found no more.\n")
    done = run("run", matrix, "--algorithm", command, "-k", 1, "--param", "nothing=^nothing", "-o", "none.json")
    assert (done.code, done.out) == (0, "No bicluster was found by CommandEstimator.\n")
    done = run("run", matrix, "--algorithm", command, "-k", 3, "-o", "three.json")
    assert done.code == 1
    assert "ended with code 1. Its last lines: the tool broke" in done.err


def test_same_seed_same_file_and_a_default_name(run, run_afresh, matrix):
    for command, name in ((run, "one.json"), (run_afresh, "two.json")):
        assert command("run", matrix, "-a", "cca", "-k", 3, "--seed", 7, "-o", name).code == 0
    folder = matrix.parent
    assert (folder / "one.json").read_bytes() == (folder / "two.json").read_bytes()
    done = run("run", matrix, "-a", "spectral", "-k", 2, "--param", "selection=all")
    assert "wrote matrix.spectral.json" in done.err
    assert len(json.loads((folder / "matrix.spectral.json").read_text())["biclusters"]) == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"algorithm": "laas"}, "there is no algorithm 'laas'. Did you mean 'las'?"),
        ({"parameters": ["n_restarts"]}, "--param n_restarts: NAME=VALUE is needed"),
        ({"parameters": ["restarts=5"]}, "has no parameter 'restarts'"),
        ({"parameters": ["random_state=5"]}, "--param random_state=5: use --seed for this one."),
        ({"random_state": -1}, "random_state is -1; a whole number from 0 to 4294967295"),
        ({"algorithm": "spectral", "n_biclusters": 11}, "Ask for at most 10."),
        ({"n_biclusters": 0}, "n_biclusters is 0; it must be at least 1."),
        ({"target": Path("nowhere/solution.json")}, "there is no folder nowhere"),
    ],
)
def test_refusals(matrix, monkeypatch, options, message):
    monkeypatch.chdir(matrix.parent)
    with pytest.raises(BivaluateError, match=re.escape(message)):
        run_command(matrix, **options)


@pytest.mark.extra("anndata")
def test_a_layer_of_an_h5ad_file(run, matrix):
    import anndata

    X = read_matrix(matrix)
    data = anndata.AnnData(np.zeros((10, 40)), layers={"scaled": X.values.T})
    data.write_h5ad(matrix.parent / "matrix.h5ad")
    done = run("run", "matrix.h5ad", "--layer", "scaled", "-k", 1, "--param", "n_restarts=100")
    assert "B1: 12 genes × 5 cells" in done.out, done.err
    assert run("convert", "matrix.h5ad", "layer.npy", "--layer", "scaled").code == 0
    np.testing.assert_array_equal(np.load(matrix.parent / "layer.npy"), X.values)
    assert "no layer 'scale'" in run("run", "matrix.h5ad", "--layer", "scale").err


def test_values_of_parameters_are_numbers_words_true_false_or_none():
    settings = ["a=3", "b=0.5", "c=best", "d=True", "e=false", "f=none"]
    assert parse_assignments("--param", settings) == {"a": 3, "b": 0.5, "c": "best", "d": True, "e": False, "f": None}


def test_more_than_the_memory_holds(run, matrix):
    done = run("run", matrix, "--param", f"n_restarts={10**15}")
    assert done.code == 1
    assert "error: not enough memory: Unable to allocate" in done.err


def test_asks_for_the_matrix(run):
    done = run("run")
    assert done.code == 2
    assert "Missing argument 'matrix'" in done.err


def test_a_class_of_scikit_learn_and_one_of_yours_run_like_any_algorithm(run, matrix):
    assert run("run", matrix, "-a", "sklearn.cluster:SpectralCoclustering", "-k", 3, "-o", "sc.json").code == 0
    X, folder = read_matrix(matrix), matrix.parent
    expected = Biclustering.from_estimator(SpectralCoclustering(3, random_state=0).fit(X.values))
    assert list(read_solution(folder / "sc.json", X)) == list(expected)
    (folder / "mybic.py").write_text(
        "import numpy as np\nclass Mine:\n    def __init__(self, n_clusters=3, bad=False): self.k, self.bad = n_clusters, bad\n"
        "    def fit(self, X):\n        self.rows_ = np.asarray(X, float)[:, :self.k].T > 3\n"
        "        self.columns_ = np.eye(self.k, X.shape[1]) > 0\n        return self if not self.bad else 1 / 0\n"
    )
    assert run("run", matrix, "-a", "mybic:Mine", "-k", 2).code == 0
    assert len(read_solution(folder / "matrix.mybic_Mine.json", X)) == 2
    assert "error: -k is 0; it must be at least 1." in run("run", matrix, "-a", "mybic:Mine", "-k", 0).err
    done = run("run", matrix, "-a", "mybic:Mine", "--param", "bad=true")
    assert (done.code, done.err.splitlines()[-1]) == (
        1,
        "error: mybic:Mine failed: ZeroDivisionError: division by zero",
    )

"""What every algorithm of the registry promises."""

import ast
import inspect
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_array, csc_array, csr_array
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

import bivaluate.algorithms
from bivaluate import DenseWarning, MatrixError, ParameterError
from bivaluate.algorithms import ALGORITHMS, get_algorithm, make_estimator
from bivaluate.algorithms._estimator import BiclusteringEstimator
from bivaluate.algorithms.algorithm import algorithm
from bivaluate.algorithms.registry import algorithm_label, choose_algorithms, parameters_of
from bivaluate.matrix import Matrix
from bivaluate.solution import Biclustering
from tests.processes import LIMIT, started

K_OF_BOTH = {"spectral", "spectral_co"}  # these need at least K rows and K columns
FEW_RESTARTS = {"las": {"n_restarts": 60}, "coherent": {"n_starts": 60}, "lda": {"max_iter": 3}, "isa": {"n_seeds": 40}}
# The search says in words where it cannot work; what it warns of has its own tests.
pytestmark = pytest.mark.filterwarnings("ignore::bivaluate._errors.SearchWarning")


def keys(where=lambda record: True):
    """Parametrise a test with the algorithms of the registry; those that need an extra say so."""
    chosen = [record for record in ALGORITHMS.values() if where(record)]
    marks = [[pytest.mark.extra(record.extra)] if record.extra else [] for record in chosen]
    return pytest.mark.parametrize("key", [pytest.param(r.key, marks=m) for r, m in zip(chosen, marks, strict=True)])


KEYS = keys()


def estimator(key, K=3, seed=0, **parameters):
    return make_estimator(key, K, seed, **{**FEW_RESTARTS.get(key, {}), **parameters})


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(70, 20))
    X[:20, :8] = 3 + rng.normal(0, 0.2, (20, 1)) + rng.normal(0, 0.2, 8)
    X[30:45, 8:16] = -3 + rng.normal(0, 0.2, (15, 8))
    return X


def suited(key, X):
    """The matrix as the algorithm takes it: raised where it refuses negative cells."""
    return X - X.min() if get_algorithm(key).nonnegative else X


@KEYS
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_check_estimator(key):
    defaults = get_algorithm(key).estimator(**FEW_RESTARTS.get(key, {}))
    check_estimator(defaults, on_skip=None)


@KEYS
def test_same_seed_same_valid_answer(key, X):
    X = suited(key, X)
    first, second = estimator(key).fit(X), clone(estimator(key)).fit(X)
    assert first.solution_ == second.solution_
    assert first.solution_.shape == X.shape
    assert len(first.solution_) >= 1
    assert Biclustering.from_estimator(first) == first.solution_
    rows, cols = first.get_indices(0)
    np.testing.assert_array_equal(rows, first.solution_[0].rows)
    np.testing.assert_array_equal(cols, first.solution_[0].cols)
    np.testing.assert_array_equal(first.get_submatrix(0, X), first.solution_[0].of(X))


@pytest.mark.parametrize(
    ("key", "level", "options"),
    [
        ("cca", 0, {"max_residue": 0.01}),  # its signal is the pattern, not the level
        ("las", 8, {}),
        ("spectral", 8, {"selection": "all"}),
        ("isa", 8, {}),
        ("plaid", 8, {}),
        ("ssvd", 8, {}),
        ("bregman", 8, {}),
        ("bibit", 30, {}),
        ("bimax", 30, {}),
        ("qubic", 30, {}),
    ],
)
def test_a_clean_planted_block_is_recovered_whole(key, level, options):
    rng = np.random.default_rng(2)
    X = rng.uniform(0, 10, (100, 30))
    X[20:50, 5:15] = level + rng.uniform(0, 5, (30, 1)) + rng.uniform(0, 5, 10)
    solution = estimator(key, 2, **options).fit(X).solution_
    assert any(np.array_equal(b.rows, np.arange(20, 50)) and np.array_equal(b.cols, np.arange(5, 15)) for b in solution)


@keys(lambda record: record.nested)
def test_the_first_k_of_a_longer_run_are_the_shorter_run(key, X):
    X = suited(key, X)
    options = {"las": {"min_score": -100.0}}.get(key, {})
    longer = estimator(key, 6, **options).fit(X).solution_
    assert len(longer) == 6 or get_algorithm(key).finds_k
    for k in range(1, 6):
        shorter = estimator(key, k, **options).fit(X).solution_
        assert list(shorter) == list(longer)[:k]


@KEYS
def test_integers_float32_frames_and_order_give_the_same_answer(key, X):
    X = suited(key, np.round(X * 4))
    expected = estimator(key).fit(X).solution_
    for same in (
        X.astype(np.int32),
        X.astype(np.float32),
        np.asfortranarray(X),
        pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]),
        Matrix.of(X),
        X.tolist(),
    ):
        assert estimator(key).fit(same).solution_ == expected


@KEYS
def test_missing_and_infinite_cells_are_refused_with_their_place(key, X):
    X = suited(key, X).copy()
    X[4, 7] = np.nan
    with pytest.raises(
        MatrixError, match=r"without missing values: X has 1 \(NaN\), the first at row 4, column 7.*Impute"
    ):
        estimator(key).fit(X)
    with pytest.raises(MatrixError, match=r"the first at row 'g4', column 'c7'\. Impute"):
        estimator(key).fit(Matrix(X, tuple(f"g{i}" for i in range(70)), tuple(f"c{j}" for j in range(20))))
    X[4, 7] = np.inf
    with pytest.raises(MatrixError, match=r"infinite value.*row 4, column 7"):
        estimator(key).fit(X)


@KEYS
@pytest.mark.parametrize("shape", [(1, 5), (5, 1), (1, 1), (2, 2)])
def test_tiny_matrices_are_answered_or_refused_in_words(key, shape):
    X = suited(key, np.random.default_rng(0).normal(size=shape))
    model = estimator(key, 2)
    if key in K_OF_BOTH and min(shape) < 2:
        with pytest.raises(ParameterError, match="Ask for at most 1"):
            model.fit(X)
    else:
        assert model.fit(X).solution_.shape == shape


@KEYS
def test_the_matrix_is_left_unwritten(key, X):
    X = suited(key, X.copy())
    before = X.copy()
    X.setflags(write=False)
    estimator(key).fit(X)
    np.testing.assert_array_equal(X, before)


@KEYS
@pytest.mark.parametrize("seed", [-1, 2**32, "x", 0.5])
def test_bad_seeds(key, seed, X):
    with pytest.raises(ParameterError, match=r"random_state is .*; a whole number from 0 to 4294967295"):
        estimator(key, seed=seed).fit(suited(key, X))


@KEYS
def test_progress_is_told_and_info_is_json(key, X):
    model = estimator(key, 3)
    told = []
    # a search may have further stages, with names
    model._progress = lambda done, total, *stage: stage or told.append((done, total))
    model.fit(suited(key, X))
    assert told == [(k + 1, 3) for k in range(len(model.solution_))]
    info = json.loads(json.dumps(dict(model.solution_.info)))
    assert info["algorithm"] == key
    assert info["parameters"]["n_biclusters"] == 3


@KEYS
def test_sparse_and_negative_cells_are_taken_or_refused_in_words(key, X):
    record = get_algorithm(key)
    counts = np.random.default_rng(3).poisson(0.6, X.shape) + np.pad(np.full((20, 8), 4), [(10, 40), (3, 9)])
    if record.sparse:
        dense = estimator(key).fit(counts).solution_
        for kind in (csr_array, coo_array, csc_array):
            assert estimator(key).fit(kind(counts)).solution_ == dense
    else:
        with pytest.raises(MatrixError, match=r"needs a dense matrix and X is sparse\. Pass X\.toarray\(\)"):
            estimator(key).fit(csr_array(counts))
        said = (
            rf"^{key} needs every value: X is sparse and becomes a dense array of .* MB. These take sparse .*spectral"
        )
        with pytest.warns(DenseWarning, match=said):
            estimator(key).check_input(Matrix(csr_array(counts)))
    if record.nonnegative:
        with pytest.raises(MatrixError, match=r"the lowest value of X is -4\."):
            estimator(key).fit(counts - 4.0)


@keys(lambda record: record.finds_k)
def test_a_number_that_is_found_may_be_left_open(key, X):
    X = suited(key, X)
    found = estimator(key, "auto").fit(X).solution_
    assert list(estimator(key, len(found) + 5).fit(X).solution_) == list(found)
    with pytest.raises(ParameterError, match=r"n_biclusters is 'many'; allowed: 'auto'"):
        estimator(key, "many").fit(X)


@KEYS
def test_records_say_what_figures_and_tables_need(key):
    record = get_algorithm(key)
    assert record.seeks
    assert record.summary.endswith(".")
    assert record.reference
    assert getattr(bivaluate.algorithms, record.estimator.__name__) is record.estimator
    assert record.missing == ("missing" in parameters_of(key))


def test_the_registry_helps():
    with pytest.raises(ParameterError, match=r"there is no algorithm 'laas'\. Did you mean 'las'"):
        get_algorithm("laas")
    with pytest.raises(ParameterError, match=r"has no parameter 'restarts'; it has: .*Did you mean 'n_restarts'"):
        make_estimator("las", 3, restarts=10)


LONG_FIT = """
import time
import numpy as np
from bivaluate.algorithms import LargeAverageSubmatrices

X = np.random.default_rng(0).normal(size=(2000, 60))
LargeAverageSubmatrices(1, n_restarts=1).fit(X)
start = time.process_time()
print("fitting", flush=True)
try:
    LargeAverageSubmatrices(10, n_restarts=20_000, n_jobs=2).fit(X)
except KeyboardInterrupt:
    print(time.process_time() - start)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of this kind are POSIX")
def test_a_keyboard_interrupt_stops_promptly():
    """In a process of its own: in this one it may come within a callback of a test tool, where Python drops it."""
    with started(["-c", LONG_FIT], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"fitting\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        seconds, errors = process.communicate(timeout=LIMIT)
    assert float(seconds) < 15, errors  # of work: the whole fit would take minutes, whatever else the machine does


def test_kernels_also_run_as_plain_python():
    found = []
    for off in ("0", "1"):
        environment = {**os.environ, "NUMBA_DISABLE_JIT": off}
        command = [sys.executable, "-W", "error", "-m", "tests.uncompiled"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=Path(__file__).parents[2])
        assert done.returncode == 0, done.stderr
        found.append(json.loads(done.stdout))
    fits, *scores = zip(*found, strict=True)
    assert fits[0] == fits[1]
    for compiled, plain in scores:
        for (name, value), (_, same) in zip(compiled, plain, strict=True):
            np.testing.assert_allclose(value, same, rtol=1e-9, err_msg=name)


def test_the_registry_says_which_parameters_an_algorithm_has() -> None:
    assert parameters_of("cca") == {
        "max_residue": None,
        "deletion_factor": 1.2,
        "min_columns": 100,
        "inverted_rows": True,
    }
    for key in ALGORITHMS:
        make_estimator(key, 2, random_state=0, **parameters_of(key))
    with pytest.raises(ParameterError, match=r"there is no algorithm 'ccca'.*Did you mean 'cca'"):
        parameters_of("ccca")


def test_every_algorithm_has_one_short_name() -> None:
    labels = [algorithm_label(key) for key in ALGORITHMS]
    assert len(set(labels)) == len(labels)
    assert all(0 < len(label) <= 12 for label in labels)


def test_missing_cells_are_refused_with_who_takes_them():
    X = np.random.default_rng(0).normal(size=(12, 6))
    X[3, 4] = np.nan
    with pytest.raises(MatrixError, match="or take an algorithm that can leave them out: coherent"):
        make_estimator("las", 2).fit(X)


def test_a_vector_is_refused_without_its_cells():
    with pytest.raises(MatrixError, match=r"cannot use X: Expected 2D array, got 1D array instead$"):
        make_estimator("las", 2).fit(np.arange(500.0))


def test_type_checkers_see_the_parameters_of_estimators():
    """A base without types, as scikit-learn's are, would make them accept any argument."""
    tree = ast.parse(Path(inspect.getfile(BiclusteringEstimator)).read_text(encoding="utf-8"))
    checked = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    classes = {node.name: node for part in checked for node in part.body if isinstance(node, ast.ClassDef)}
    (base,) = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "BiclusteringEstimator"]
    assert [ast.unparse(parent) in classes for parent in base.bases] == [True]
    assert classes[ast.unparse(base.bases[0])].bases == []
    assert algorithm.__dataclass_transform__


def test_keys_may_be_in_capitals():
    assert choose_algorithms(["NMF", "las"]) == {"nmf": True, "las": True}
    assert get_algorithm("LAS").key == "las"

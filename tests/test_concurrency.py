"""The same scores from threads, forks and spawned processes, and from arrays of every kind; or a refusal in words."""

import multiprocessing
import os
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from bivaluate import Biclustering, BivaluateError, evaluate
from tests.processes import LIMIT

VALUES = np.random.default_rng(3).normal(size=(60, 17))
SOLUTION = Biclustering([(range(12), range(6)), (range(8, 30), range(4, 12)), (range(40, 60), range(9))], (60, 17))
CODE = """
import numpy as np
from bivaluate import Biclustering, evaluate
X = np.random.default_rng(3).normal(size=(60, 17))
S = Biclustering([(range(12), range(6)), (range(8, 30), range(4, 12)), (range(40, 60), range(9))], (60, 17))
print(*(float(evaluate(X, S).scores[key]).hex() for key in ("nve", "asr", "avg_ve")))
"""
KEYS = ("nve", "asr", "avg_ve")


def scores(X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = evaluate(X, SOLUTION).scores
    return [float(found[key]) for key in KEYS]


@pytest.fixture(scope="module")
def expected():
    return scores(VALUES)


@pytest.mark.parametrize("compiled", [False, True])
def test_eight_threads_at_once(compiled, expected, limits):
    if compiled:
        limits(KERNEL_CELLS=0)
        expected = scores(VALUES)
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(scores, [VALUES] * 24)) == [expected] * 24


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_children(method, expected):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system does not {method}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of Python, about forks of processes with threads
        pool = multiprocessing.get_context(method).Pool(2)
    with pool:
        assert pool.map_async(scores, [VALUES] * 4).get(LIMIT) == [expected] * 4


@pytest.mark.parametrize(
    "make",
    [
        lambda X: np.asfortranarray(X),
        lambda X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
        lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
        lambda X: X.astype(">f8"),
        lambda X: np.broadcast_to(X, X.shape),
    ],
    ids=["fortran", "strided", "negative strides", "big-endian", "broadcast"],
)
def test_arrays_that_are_not_plain(make, expected):
    X = make(VALUES)
    if X.flags.owndata:
        X.setflags(write=False)
    before = X.copy()
    assert scores(X) == expected
    assert np.array_equal(X, before)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.longdouble, object])
def test_other_types_are_taken_as_float64(dtype):
    X = VALUES.astype(dtype)
    assert scores(X) == scores(X.astype(np.float64))


def test_masked_cells_are_missing_or_refused():
    mask = np.zeros(VALUES.shape, bool)
    mask[3, 2] = True
    with pytest.raises(BivaluateError, match=r"missing|mask"):
        evaluate(np.ma.array(VALUES, mask=mask), SOLUTION)
    assert scores(np.ma.array(VALUES, mask=False)) == scores(VALUES)


def test_four_processes_that_compile_at_once(tmp_path):
    (tmp_path / "twice.py").write_text(
        "import sys\nfrom bivaluate._jit import kernel\n"
        "@kernel\ndef twice(x):\n    total = 0.0\n    for i in range(x.size):\n        total += 2 * x[i]\n    return total\n"
        "if __name__ == '__main__':\n"
        "    import numpy as np\n    print('ready', flush=True)\n    sys.stdin.readline()\n"
        "    print(twice(np.arange(5.0)), flush=True)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.getcwd(), *sys.path])}
    environment |= {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    words = [sys.executable, str(tmp_path / "twice.py")]

    def answers(processes):
        for process in processes:
            assert process.stdout.readline() == "ready\n"
        for process in processes:
            process.stdin.write("\n")
            process.stdin.flush()
        return [process.communicate(timeout=LIMIT) for process in processes]

    at_once = answers([subprocess.Popen(words, env=environment, **pipes) for _ in range(4)])
    assert [out for out, _ in at_once] == ["20.0\n"] * 4, at_once
    assert answers([subprocess.Popen(words, env=environment, **pipes)]) == [("20.0\n", "")]  # what they left is whole


@pytest.mark.parametrize("threads", ["1", "2", "8"])
def test_any_number_of_threads_and_a_cache_nobody_can_write(threads, tmp_path, expected):
    (tmp_path / "file").write_text("")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.getcwd(), *sys.path]), "NUMBA_NUM_THREADS": threads}
    environment |= {"NUMBA_CACHE_DIR": str(tmp_path / "file" / "no folder"), "HOME": str(tmp_path / "file")}
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", CODE], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert [float.fromhex(word) for word in done.stdout.split()] == expected

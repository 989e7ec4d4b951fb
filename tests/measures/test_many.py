"""Thousands of biclusters: the same scores as from all mergers at once, in bounded memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bivaluate import Biclustering, evaluate

LARGEST = """
import numpy as np
from benchmarks.memory import peak_rise
from bivaluate import Biclustering, evaluate

rng = np.random.default_rng(0)
X = rng.normal(size=(100, 30))
pairs = [(rng.choice(100, 6, replace=False), rng.choice(30, 4, replace=False)) for _ in range(2600)]
evaluate(X, Biclustering(pairs[:100], X.shape), metrics=["nve", "nsr", "cc", "jaccard"])
solution = Biclustering(pairs, X.shape)
print(peak_rise(lambda: evaluate(X, solution, metrics=["nve", "nsr", "cc", "jaccard"])) / len(pairs) ** 2)
"""


def made(rng, K=60):
    X = rng.normal(size=(80, 20))
    X[5:9] = 2.0  # constant rows
    sizes = rng.integers(1, 12, size=(K, 2))
    pairs = [(rng.choice(80, r, replace=False), rng.choice(20, c, replace=False)) for r, c in sizes]
    return X, Biclustering([*pairs, *pairs[:3]], X.shape)


@pytest.mark.filterwarnings("ignore::bivaluate._errors.BivaluateWarning")
@pytest.mark.parametrize("degenerate", ["nan", "formula"])
def test_groups_of_biclusters_change_no_score(degenerate, limits):
    X, solution = made(np.random.default_rng(4))
    options = {"metrics": ["ve", "msr", "nve_k", "nsr_k", "nve", "nsr", "cc"], "degenerate": degenerate}
    known = evaluate(X, solution, **options)
    limits("measures", TOGETHER=40, GROUP=13)
    found = evaluate(X, solution, **options)
    assert str(found.records) == str(known.records)
    assert found.scores == pytest.approx(known.scores, rel=1e-12)
    for key in ("ve", "msr"):
        np.testing.assert_array_equal(found.mergers[key], known.mergers[key])


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="memory is read from /proc")
def test_memory_of_a_pair_of_biclusters_is_bounded():
    run = subprocess.run([sys.executable, "-c", LARGEST], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert float(run.stdout.split()[-1]) < 40  # bytes: half of five matrices of numbers

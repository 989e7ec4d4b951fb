"""The same scores to the bit from every command, number of threads and installation."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from bivaluate import Matrix, Plan, Sweep, evaluate, select_k, write_solution
from bivaluate.algorithms import ChengChurch

KEYS = ["nve", "nsr", "avg_ve", "asr", "nve_cov", "cc"]
EXTRAS = ("anndata", "dask", "distributed", "mudata", "numcodecs", "openpyxl", "pyarrow", "rdata", "sknetwork", "zarr")
pytestmark = pytest.mark.filterwarnings("ignore::bivaluate._errors.BivaluateWarning")

CORE = """
import sys, json
sys.modules.update({name: None for name in %r})
import numpy as np
from bivaluate import Biclustering, evaluate
members = json.load(open(sys.argv[2]))
scores = evaluate(np.load(sys.argv[1]), Biclustering(members), metrics=%r, n_jobs=1).scores
print(json.dumps(scores))
"""


def matrix(shape):
    rng = np.random.default_rng(3)
    X = np.round(rng.normal(size=shape), 3)
    for _ in range(6):
        rows, cols = (
            rng.choice(shape[0], shape[0] // 6, replace=False),
            rng.choice(shape[1], shape[1] // 3, replace=False),
        )
        X[np.ix_(rows, cols)] = np.round(rng.normal(size=(len(rows), 1)) + rng.normal(size=len(cols)), 3)
    return X


@pytest.mark.parametrize("shape", [(60, 15), (900, 60)], ids=["small", "large"])
def test_every_command_and_installation_gives_the_same_bits(shape, run, tmp_path):
    X = matrix(shape)
    model = ChengChurch(6, max_residue=0.3, random_state=0)
    solution = model.fit(X).solution_
    np.save(tmp_path / "x.npy", X)
    write_solution(solution, tmp_path / "found.json")
    expected = evaluate(X, solution, metrics=KEYS).scores
    assert all(np.isfinite(expected[key]) for key in KEYS)
    for n_jobs in (1, 2, 5):
        assert evaluate(X, solution, metrics=KEYS, n_jobs=n_jobs).scores == expected
    assert evaluate(Matrix(X).settled(), solution, metrics="all").scores.items() >= expected.items()
    told = json.loads(run("score", tmp_path / "x.npy", tmp_path / "found.json", "--json").out)[0]["scores"]
    assert {key: told[key] for key in KEYS} == expected
    assert select_k(model, X, [6], scoring="nve").best_score_ == expected["nve"]
    asked = {"datasets": [str(tmp_path / "x.npy")], "algorithms": ["cca"], "k": [6], "seeds": 1}
    swept = Sweep(Plan(**asked, parameters={"cca": {"max_residue": 0.3}}), tmp_path / "run").run()
    table = evaluate(X, swept.solution(swept.cells[0]), metrics=KEYS).scores
    assert {key: swept.results[key].iloc[0] for key in KEYS} == table
    members = [(b.rows.tolist(), b.cols.tolist()) for b in solution]
    (tmp_path / "members.json").write_text(json.dumps(members), encoding="utf-8")
    core = subprocess.run(
        [sys.executable, "-c", CORE % (EXTRAS, KEYS), str(tmp_path / "x.npy"), str(tmp_path / "members.json")],
        capture_output=True, text=True, check=False, env=dict(os.environ),
    )  # fmt: skip
    assert core.returncode == 0, core.stderr
    assert json.loads(core.stdout) == expected

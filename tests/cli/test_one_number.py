"""One block in one solution has one evidence, one pattern and one verdict, wherever it is shown."""

import json
import re

import numpy as np
import pytest
import scipy.sparse
from typer.testing import CliRunner

from bivaluate import Biclustering, Matrix, evaluate, evidence_table, write_matrix
from bivaluate.algorithms import CoherentSubmatrices
from bivaluate.cli.main import app

FINDS = {"counts": "nmf", "gaps": "find"}


def matrices():
    rng = np.random.default_rng(5)
    shape, block = (60, 20), np.ix_(range(15), range(6))
    dense = rng.normal(size=shape)
    dense[block] += 3
    counts = rng.poisson(0.6 * np.exp(rng.normal(0, 0.7, (60, 1)) + rng.normal(0, 0.7, 20)), shape).astype(float)
    counts[block] += rng.poisson(6, (15, 6))
    binary = (rng.random(shape) < 0.2).astype(float)
    binary[block] = 1
    gaps = np.where(rng.random(shape) < 0.2, np.nan, dense)
    series = rng.normal(size=shape)
    for j in range(1, 20):
        series[:, j] += 0.5 * series[:, j - 1]
    series[block] += 6
    return {"dense": dense, "counts": counts, "zeros and ones": binary, "gaps": gaps, "series": series}


def agrees(rows, table):
    """Whether rows of any surface have the evidence of a table to 1e-9, and its patterns and verdicts."""
    assert [(row["pattern"], row["verdict"]) for row in rows] == list(zip(table.patterns, table.verdicts, strict=True))
    assert [row["evidence"] for row in rows] == pytest.approx(table.gain.tolist(), rel=0, abs=1e-9)
    return True


def on_page(path):
    """The rows of the biclusters that a page holds, as its scripts read them."""
    text = path.read_text(encoding="utf-8")
    data = json.loads(re.search(r'<script id="report-data" type="application/json">(.*?)</script>', text, re.DOTALL)[1])
    records = data["details"][0]["records"]
    return [dict(zip(records["columns"], row, strict=True)) for row in records["rows"]]


def run(*words):
    said = CliRunner().invoke(app, list(words))
    assert said.exit_code == 0, said.output
    return json.loads(said.stdout)


@pytest.mark.parametrize("kind", list(matrices()))
@pytest.mark.filterwarnings("ignore::bivaluate.SearchWarning")
def test_every_surface_gives_the_same_evidence(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = matrices()[kind]
    matrix = Matrix(scipy.sparse.csr_array(X)) if kind == "counts" else Matrix(X)
    write_matrix(matrix, "matrix.npz")
    blocks = [(range(15), range(6)), (range(14), range(6)), (range(30, 45), range(8, 14))]
    searched = CoherentSubmatrices(random_state=0, missing="omit").fit(X)
    found = run("find", "matrix.npz", "--json", "--algorithms", FINDS.get(kind, "las"), "--out", "found.json")
    solutions = {"given": Biclustering(blocks, X.shape), "find": Biclustering.from_json("found.json")}
    solutions["estimator"] = searched.solution_
    tables = {who: evidence_table(X, solution, missing="omit") for who, solution in solutions.items()}
    assert tables["given"].n_supported >= 1
    assert tables["find"].n_supported >= 1
    assert agrees(found["biclusters"], tables["find"])
    assert searched.patterns_ == list(tables["estimator"].patterns)
    assert searched.evidence_ == pytest.approx(tables["estimator"].gain, rel=0, abs=1e-9)
    assert len(searched.evidence_) or kind in ("counts", "zeros and ones")  # which this search does not take
    for who, solution in solutions.items():
        if not len(solution):
            continue
        solution.to_json("solution.json")
        (scored,) = run("score", "matrix.npz", "solution.json", "-b", "--json", "--missing", "omit")
        assert agrees(scored["biclusters"], tables[who])
        result = evaluate(matrix, solution, missing="omit")
        assert agrees(result.records, tables[who])
        assert agrees(on_page(result.report(tmp_path / "page.html")), tables[who])

"""One block in one solution has one evidence, one pattern and one verdict, wherever it is shown."""

import json

import numpy as np
import pytest
import scipy.sparse
from typer.testing import CliRunner

from bivaluate import Biclustering, Matrix, evaluate, evidence_table, write_matrix
from bivaluate.algorithms import CoherentSubmatrices
from bivaluate.cli.main import app


def matrices():
    rng = np.random.default_rng(5)
    shape, block = (60, 20), np.ix_(range(15), range(6))
    dense = rng.normal(size=shape)
    dense[block] += 3
    counts = rng.poisson(0.6 * np.exp(rng.normal(0, 0.7, (60, 1)) + rng.normal(0, 0.7, 20)), shape).astype(float)
    counts[block] += rng.poisson(6, (15, 6))
    binary = (rng.random(shape) < 0.2).astype(float)
    binary[block] = 1
    ratings = rng.integers(1, 6, shape).astype(float)
    ratings[block] = 5
    ratings[rng.random(shape) < 0.3] = np.nan
    series = rng.normal(size=shape)
    for j in range(1, 20):
        series[:, j] += 0.5 * series[:, j - 1]
    series[block] += 6
    return {"dense": dense, "counts": counts, "zeros and ones": binary, "ratings": ratings, "series": series}


@pytest.mark.parametrize("kind", list(matrices()))
def test_every_surface_gives_the_same_evidence(kind, tmp_path):
    X = matrices()[kind]
    solution = Biclustering([(range(15), range(6)), (range(14), range(6)), (range(30, 45), range(8, 14))], X.shape)
    table = evidence_table(X, solution, missing="omit")
    expected = list(zip(table.gain.tolist(), table.patterns, table.verdicts, strict=True))
    assert table.n_supported >= 1
    write_matrix(Matrix(X), tmp_path / "matrix.npz")
    solution.to_json(tmp_path / "solution.json")
    words = ["score", "matrix.npz", "solution.json", "-b", "--json", "--missing", "omit"]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        said = CliRunner().invoke(app, words)
    rows = [evaluate(X, solution, missing="omit").records, json.loads(said.stdout)[0]["biclusters"]]
    if kind == "counts":
        rows.append(evaluate(scipy.sparse.csr_array(X), solution).records)
    for found in rows:
        for row, (gain, pattern, verdict) in zip(found, expected, strict=True):
            assert row["evidence"] == pytest.approx(gain, abs=1e-9)
            assert (row["pattern"], row["verdict"]) == (pattern, verdict)
    evaluate(X, solution, missing="omit").report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    for gain, pattern, verdict in expected:
        if verdict == "supported":
            assert pattern in page
            assert f"{gain:+.3g}" in page


@pytest.mark.parametrize("kind", ["dense"])
def test_the_estimator_gives_the_same_evidence(kind):
    X = matrices()[kind]
    fitted = CoherentSubmatrices(random_state=0).fit(X)
    table = evidence_table(X, fitted.solution_)
    assert fitted.evidence_ == pytest.approx(table.gain, abs=1e-9)
    assert fitted.patterns_ == list(table.patterns)


def test_what_find_writes_is_judged_as_it_was_printed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = matrices()["dense"]
    write_matrix(Matrix(X), tmp_path / "matrix.npz")
    said = CliRunner().invoke(app, ["find", "matrix.npz", "--json", "--algorithms", "las", "--out", "found.json"])
    assert said.exit_code == 0, said.output
    rows = json.loads(said.stdout)["biclusters"]
    table = evidence_table(X, Biclustering.from_json("found.json"))
    assert [row["evidence"] for row in rows] == pytest.approx(table.gain.tolist(), abs=1e-9)
    assert [(row["pattern"], row["verdict"]) for row in rows] == list(zip(table.patterns, table.verdicts, strict=True))

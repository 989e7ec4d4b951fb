"""Cells of any size in files: what the command prints is right to 1e-9, or undefined with a reason."""

from __future__ import annotations

import json

import numpy as np
import pytest

from bivaluate import Biclustering, Matrix, write_matrix
from tests.measures.test_numbers import CELLS, PAIRS
from tests.reference import internal as naive


@pytest.mark.filterwarnings("ignore::bivaluate._errors.BivaluateWarning")
@pytest.mark.parametrize("cells", ["1e200", "a cell of 1e160", "denormal", "next to the largest number"])
@pytest.mark.parametrize("ending", ["csv", "mtx"])
def test_files_give_the_same_errors_to_the_command(cells, ending, run, tmp_path):
    rng = np.random.default_rng(0)
    X = CELLS[cells](rng.normal(size=(40, 12)), rng)
    if ending == "csv":
        write_matrix(Matrix.of(X), tmp_path / "x.csv")
    else:
        entries = "".join(f"{i + 1} {j + 1} {float(x)!r}\n" for (i, j), x in np.ndenumerate(X))
        (tmp_path / "x.mtx").write_text(f"%%MatrixMarket matrix coordinate real general\n40 12 480\n{entries}")
    Biclustering(PAIRS, X.shape).to_json(tmp_path / "s.json")
    shown = run("score", str(tmp_path / f"x.{ending}"), str(tmp_path / "s.json"), "--json")
    assert shown.code == 0, shown.err
    rows = json.loads(shown.out)[0]["biclusters"]
    for found, (members, columns) in zip(rows[:2], PAIRS[:2], strict=True):
        ve, msr = naive.exact(X[np.ix_(members, columns)], 700)
        assert found["ve"] == pytest.approx(ve, rel=1e-9, abs=0)
        if np.isinf(msr):
            assert found["msr"] is None
            assert "squares" in found["reasons"]["msr"]
        else:
            assert found["msr"] == pytest.approx(msr, rel=1e-9, abs=0)


def test_a_number_beyond_the_largest_is_refused_in_files(run, tmp_path):
    for ending, text in (
        ("csv", "id,a,b\nr,1,2\ns,1e400,3\n"),
        ("mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n1e400\n2\n3\n"),
        ("tsv", "id\ta\tb\nr\t1\t2\ns\t1" + 400 * "0" + "\t3\n"),
    ):
        (tmp_path / f"x.{ending}").write_text(text)
        Biclustering([([0, 1], [0, 1])], (2, 2)).to_json(tmp_path / "s.json")
        shown = run("score", str(tmp_path / f"x.{ending}"), str(tmp_path / "s.json"))
        assert (shown.code, shown.out) == (2, "")
        assert "infinite" in shown.err


def strict(text):
    """Read JSON as the standard has it, which knows no infinite numbers."""
    return json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))


@pytest.mark.filterwarnings("ignore")
def test_every_json_is_json_where_measures_are_undefined(run, tmp_path):
    """Of biclusters of all columns there is no mean elsewhere, though sums taken in another order differ a little."""
    X = np.random.default_rng(0).normal(size=(60, 12)) * 1e3 + 0.1
    X[:20] += 3e3 * np.sin(np.arange(12))
    write_matrix(Matrix(X, [f"g{i}" for i in range(60)], [f"s{j}" for j in range(12)]), tmp_path / "x.csv")
    parts = [(range(20 * k, 20 * k + 20), range(12)) for k in range(3)]
    info = {"algorithm": "k_means", "parameters": {"n_biclusters": 3}, "score": -np.inf, "error": np.nan}
    Biclustering(parts, X.shape, info=info).to_json(tmp_path / "s.json")
    (tmp_path / "classes.csv").write_text("sample,class\n" + "".join(f"s{j},{'ab'[j % 2]}\n" for j in range(12)))
    (tmp_path / "sets.gmt").write_text("one\t\t" + "\t".join(f"g{i}" for i in range(20)) + "\n")
    for words in (
        "score x.csv s.json --json --mqc x_mqc.json", "score x.csv s.json --metrics all --json",
        "score x.csv s.json --biclusters --json", "traits s.json --matrix x.csv --annotations classes.csv --json",
        "prune x.csv s.json --json -o pruned.json", "refine x.csv s.json --json -o refined.json",
        "confirm s.json --found-in x.csv --in x.csv --surrogates 0 --json", "compare s.json pruned.json --json",
        "enrich s.json --matrix x.csv --sets sets.gmt --json", "recur s.json s.json --matrix x.csv --matrix x.csv --json",
        "metrics --json",
    ):  # fmt: skip
        shown = run(*words.split())
        assert shown.code == 0, (words, shown.err)
        document = strict(shown.out)
        if words.startswith("score") and "all" not in words:
            assert [record["mean_elsewhere"] for record in document[0]["biclusters"]] == [None] * 3
    assert run("convert", "s.json", "again.json").code == 0
    written = sorted(tmp_path.glob("*.json"))
    assert len(written) == 5
    for path in written:
        strict(path.read_text())
    assert run("score", "x.csv", "s.json", "--biclusters", "--csv", "b.csv").code == 0
    assert "inf" not in (tmp_path / "b.csv").read_text()

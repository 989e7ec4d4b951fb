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

"""``bivaluate datasets scenarios``: list, write, planted."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from bivaluate import Biclustering, FileError, ParameterError, read_matrix
from bivaluate.cli.main import app
from bivaluate.cli.tables import out
from bivaluate.datasets import SCENARIOS, make_biclusters, make_scenario

RUN = CliRunner()


def run(*arguments: str) -> str:
    out.width = 160
    result = RUN.invoke(app, ["datasets", "scenarios", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_list_names_every_scenario_and_its_purpose() -> None:
    text = run()
    for scenario in SCENARIOS.values():
        assert scenario.name in text
    assert "minimum-size filter" in text


def test_write_makes_files_that_score_reads(tmp_path: Path) -> None:
    written = run("write", "S1", "s7", "--seed", "1", "--out", str(tmp_path / "new")).split()
    assert [Path(path).name for path in written] == [
        f"{name}_seed1{ending}" for name in ("S1", "S7") for ending in (".csv", ".truth.json", ".recipe.json")
    ]
    X, truth, _ = make_scenario("S7", 1)
    matrix = read_matrix(written[3])
    np.testing.assert_array_equal(matrix.values, X)
    assert matrix.row_labels is not None
    assert Biclustering.from_json(written[4]) == truth
    recipe = json.loads(Path(written[5]).read_text(encoding="utf-8"))
    np.testing.assert_array_equal(make_biclusters(**recipe["make_biclusters"])[0], X)


def test_written_files_go_through_score(tmp_path: Path) -> None:
    matrix, truth, _ = run("write", "S1", "--out", str(tmp_path)).split()
    result = RUN.invoke(app, ["score", matrix, truth], env={"COLUMNS": "160"}, catch_exceptions=False)
    assert result.exit_code == 0
    assert "NVE" in result.output


def test_write_all(tmp_path: Path) -> None:
    assert len(run("write", "all", "--out", str(tmp_path)).split()) == 30


def test_planted_prints_the_paper_and_the_deviation() -> None:
    text = run("planted", "S1", "--seeds", "2")
    assert "0.0861" in text
    assert "deviation" in text
    assert "Targeted NSR diagnostic" in text
    unpublished = [line for line in run("planted", "S4", "--seeds", "1").splitlines() if line.startswith("S4")]
    assert len(unpublished) > 3
    assert all(line.split()[-2:] == ["–", "–"] for line in unpublished), "neither a value of the paper nor a deviation"
    lines = [line.split() for line in run("planted", "S1", "S9b").splitlines()]
    seeds = {(line[0], line[2]) for line in lines if line[0] in ("S1", "S9b")}
    assert seeds == {("S1", "20"), ("S9b", "200")}


def test_nothing_is_written_when_one_name_is_unknown(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="there is no scenario 'S10'"):
        run("write", "S1", "S10", "--out", str(tmp_path))
    assert not list(tmp_path.iterdir())


def test_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(FileError, match="cannot write"):
        run("write", "S1", "--out", str(tmp_path / "file"))

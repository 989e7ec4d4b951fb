"""The first five minutes: files to try, data by name, what is installed, quiet and verbose."""

import json
import os
import subprocess
import sys

import pytest

from bivaluate import ParameterError
from bivaluate.cli.doctor import ADDS
from bivaluate.datasets.named import expand_name, is_name, load_named


def test_the_example_says_what_to_type_next_and_overwrites_nothing(run, tmp_path):
    shown = run("example", "trial")
    assert shown.code == 0
    assert "bivaluate score trial/expression.csv trial/solution.json" in shown.out
    again = run("example", "trial")
    assert again.code == 2
    assert "trial has expression.csv, solution.json, biclust.txt, sets.gmt, samples.csv already" in again.err
    scored = run("score", "trial/expression.csv", "trial/solution.json")
    assert "solution: 3 of the 5 biclusters are supported; B4 is redundant, B5 is not supported." in scored.out
    assert "`bivaluate metrics` explains every column" in scored.out


def test_data_by_name(run):
    shown = run("score", "scenario:S1", "scenario:S1", "--json")
    assert shown.code == 0
    assert json.loads(shown.out)[0]["shape"] == [300, 40]
    assert run("score", "example:", "example:").code == 0
    assert "there is no data set 'yeast:nosuch'" in run("score", "yeast:nosuch", "example:").err
    assert "leave out the options on how to read it" in run("score", "example:", "example:", "--transpose").err


def test_names():
    assert is_name("pbmc68k")
    assert not is_name("C:/data/matrix.csv")
    assert "yeast:04_elutriation" in expand_name("yeast:*")
    with pytest.raises(ParameterError, match=r"does not match any data set"):
        expand_name("scenario:Z*")
    assert len(load_named("example:")[1]) == 5
    with pytest.raises(
        ParameterError, match=r"scenario:S9\? stands for 2 data sets, and one is needed here: scenario:S9a"
    ):
        load_named("scenario:S9?")


def test_doctor(run):
    found = json.loads(run("doctor", "--json").out)
    assert found["needed"]["numpy"]
    assert {"bivaluate", "python", "cores"} <= found["machine"].keys()
    assert found["optional"]["pyarrow"][1] == "parquet"
    shown = run("doctor").out
    assert "scikit-learn" in shown
    assert any(line.split()[-3:] == ["parquet", "Parquet", "tables"] for line in shown.splitlines())
    extras = {extra for _, extra in found["optional"].values()}
    assert extras == set(ADDS)


def test_quiet_and_verbose(run, run_afresh, example):
    loud, quiet = (run(*flag, "score", "matrix.csv", "solution.json", "--csv", "x.csv") for flag in ((), ("-q",)))
    assert "wrote x.csv" in loud.err
    assert quiet.err == ""
    assert quiet.out == loud.out
    assert "s of CPU)" in run_afresh("-v", "score", "matrix.csv", "solution.json").err


@pytest.mark.parametrize(
    ("typed", "expected"), [("bivaluate sco", "score"), ("bivaluate score --trans", "--transpose")]
)
def test_the_shell_completes_commands_and_options(run, typed, expected):
    assert "--install-completion" in run("--help").out
    code = "from bivaluate.cli.main import app; app(prog_name='bivaluate')"
    asked = {"_BIVALUATE_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, **asked}, capture_output=True, text=True)
    assert expected in done.stdout.split()


def test_files_without_a_command_are_told_which_one(run, example):
    shown = run("matrix.csv", "solution.json")
    assert shown.code == 2
    assert "bivaluate score matrix.csv solution.json" in shown.err
    assert "bivaluate find matrix.csv" in run("matrix.csv").err
    assert "Did you mean 'score'" in run("scor", "matrix.csv").err


def test_scikit_learn_is_loaded_without_pandas_and_pandas_can_be_loaded_afterwards():
    code = "import sys; from bivaluate._errors import SparePandas; sys.meta_path.insert(0, SparePandas()); import sklearn.base"
    code += "; assert 'pandas' not in sys.modules; import pandas"
    subprocess.run([sys.executable, "-c", code], check=True)

"""What other package managers and workflow tools are told is true: requirements, version, command lines, the wheel."""

import json
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import bivaluate
from bivaluate.datasets import write_example

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_versions_agree():
    assert f"version: {bivaluate.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f'version: "{bivaluate.__version__}"' in (ROOT / "packaging/conda/meta.yaml").read_text(encoding="utf-8")


def test_the_conda_recipe_asks_for_what_the_package_needs():
    recipe = (ROOT / "packaging/conda/meta.yaml").read_text(encoding="utf-8")
    listed = set(re.findall(r"^    - (\S+) >=(\S+)$", recipe, flags=re.MULTILINE)) - {("python", "3.11")}
    needed = {tuple(re.split(r">=", line)) for line in PROJECT["dependencies"]}
    assert {(name.removesuffix("-base"), version) for name, version in listed} == needed


def test_the_container_is_built_from_versions_the_package_takes():
    lines = (ROOT / "packaging/requirements.lock").read_text(encoding="utf-8").splitlines()
    locked = {name.lower().replace("_", "-"): version for name, version in (line.split("==") for line in lines)}
    asked = [
        *PROJECT["dependencies"],
        *(line for extra in PROJECT["optional-dependencies"].items() for line in _of(*extra)),
    ]
    for line in asked:
        name, least = re.split(r">=", line)
        found = locked[name.lower().replace("_", "-")]
        assert _numbers(found) >= _numbers(least), (name, found, least)
    assert "requirements.lock" in (ROOT / "Dockerfile").read_text(encoding="utf-8")


def _of(extra, lines):
    return [] if extra in ("test", "dev", "docs", "all") else lines


def _numbers(version):
    return [int(part) for part in re.findall(r"\d+", version)[:3]]


def test_what_a_public_project_has():
    for name in (
        "CITATION.cff",
        "CODE_OF_CONDUCT.md",
        "CONTRIBUTING.md",
        "LICENSE",
        "SUPPORT.md",
        ".pre-commit-config.yaml",
    ):
        assert (ROOT / name).read_text(encoding="utf-8").strip(), name
    assert {"Homepage", "Documentation", "Source", "Issues"} <= PROJECT["urls"].keys()
    workflow = (ROOT / ".github/workflows/test.yml").read_text(encoding="utf-8")
    for words in (
        '"3.11", "3.12", "3.13", "3.14"',
        "macos-latest",
        "windows-latest",
        "make test-lowest",
        "test-lean",
        "make dist",
    ):
        assert words in workflow, words


@pytest.mark.parametrize(
    ("file", "pattern"),
    [
        ("packaging/snakemake/wrapper.py", r'"(bivaluate score [^"]*)"\s+"([^"]*)"'),
        ("packaging/nextflow/bivaluate_score/main.nf", r"^    (bivaluate score .*)$()"),
    ],
)
def test_the_command_lines_of_workflows_run(file, pattern, tmp_path):
    write_example(tmp_path)
    found = re.search(pattern, (ROOT / file).read_text(encoding="utf-8"), flags=re.MULTILINE)
    words = (found[1] + found[2]).split()
    values = {
        "matrix": "expression.csv",
        "snakemake.input.matrix": "expression.csv",
        "solutions": "solution.json biclust.txt",
        "snakemake.output.table": "x.scores.csv",
        "snakemake.output.report": "x.report.html",
        "prefix": "x",
    }
    line = " ".join(words[1:])
    line = re.sub(r"\$?\{([\w.]+)\}", lambda m: values.get(m[1], ""), line)
    done = subprocess.run(
        [sys.executable, "-m", "bivaluate", *line.split()], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "x.scores.csv").read_text().count("\n") == 3
    assert (tmp_path / "x.report.html").exists()


def test_multiqc_content(tmp_path):
    write_example(tmp_path)
    words = ["score", "expression.csv", "solution.json", "biclust.txt", "--mqc", "x_mqc.json"]
    done = subprocess.run([sys.executable, "-m", "bivaluate", *words], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    content = json.loads((tmp_path / "x_mqc.json").read_text())
    assert content["plot_type"] == "table"
    assert set(content["data"]) == {"solution", "biclust"}
    assert set(content["data"]["solution"]) <= set(content["headers"])
    words[-1] = "x.json"
    done = subprocess.run([sys.executable, "-m", "bivaluate", *words], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2
    assert "names end in _mqc.json" in done.stderr


def test_the_wheel_holds_the_data_files_and_nothing_else(tmp_path):
    pytest.importorskip("hatchling")
    from hatchling.builders.wheel import WheelBuilder

    (made,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with zipfile.ZipFile(made) as wheel:
        names = wheel.namelist()
    assert "bivaluate/datasets/catalogue.tsv" in names
    assert "bivaluate/py.typed" in names
    assert any(name.startswith("bivaluate/report/static/") for name in names)
    assert not [name for name in names if not name.startswith("bivaluate")]
    assert made.endswith("-py3-none-any.whl"), "installing compiles something"

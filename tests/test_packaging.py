"""What other package managers and workflow tools are told is true: requirements, version, command lines, the wheel."""

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
import tomllib
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest

import bivaluate
from bivaluate.datasets import write_example
from bivaluate.sweep import load_run

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_versions_agree():
    assert f"version: {bivaluate.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    for file, words in (
        ("packaging/conda/meta.yaml", f'set version = "{bivaluate.__version__}"'),
        ("packaging/nextflow/bivaluate_score/main.nf", f"bivaluate:{bivaluate.__version__}--"),
        ("packaging/nextflow/bivaluate_score/environment.yml", f"bivaluate={bivaluate.__version__}"),
        ("packaging/galaxy/macros.xml", f'name="@TOOL_VERSION@">{bivaluate.__version__}<'),
        ("packaging/scverse/meta.yaml", f"version: v{bivaluate.__version__}"),
    ):
        assert words in (ROOT / file).read_text(encoding="utf-8"), file


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
        "cancel-in-progress: true",
        "workflow_dispatch",
    ):
        assert words in workflow, words


def test_placeholders_stand_on_one_page():
    page = (ROOT / "docs/releasing.md").read_text(encoding="utf-8")
    for file in ["pyproject.toml", *(str(p.relative_to(ROOT)) for p in (ROOT / "packaging").rglob("*") if p.is_file())]:
        text = (ROOT / file).read_text(encoding="utf-8")
        for word in set(re.findall(r"PLACEHOLDER-[A-Z0-9-]*[A-Z0-9]", text)) | set(re.findall(r"example\.org", text)):
            assert word in page, word
            assert f"`{file}`" in page, file


def test_actions_are_pinned_and_may_do_little():
    for file in (ROOT / ".github/workflows").glob("*.yml"):
        text = file.read_text(encoding="utf-8")
        assert all(re.fullmatch(r"[0-9a-f]{40}", ref) for ref in re.findall(r"uses: \S+@(\S+)", text)), file
        assert "\npermissions: {}\n" in text
    release = (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
    assert "id-token: write" in release
    assert "secrets." not in release


@pytest.mark.parametrize("part", ["script:", "stub:"])
def test_the_versions_of_the_nextflow_module_are_yaml(part, tmp_path):
    """The shell gets the script without its common indentation, as Nextflow gives it."""
    yaml = pytest.importorskip("yaml")
    text = (ROOT / "packaging/nextflow/bivaluate_score/main.nf").read_text(encoding="utf-8").partition(part)[2]
    script = textwrap.dedent(text.split('"""')[1])
    script = script[script.index("cat <<-END_VERSIONS") :].replace("${task.process}", "A:SCORE").replace("\\$", "$")
    script = script.replace("bivaluate --version", "echo bivaluate 9.9")
    subprocess.run(["bash", "-c", script], cwd=tmp_path, check=True)
    assert yaml.safe_load((tmp_path / "versions.yml").read_text()) == {"A:SCORE": {"bivaluate": 9.9}}


@pytest.mark.parametrize("tool", ["score", "find"])
def test_the_command_lines_of_galaxy_are_known(tool):
    """Every option of the wrapper is one of the command."""
    command = ElementTree.parse(ROOT / f"packaging/galaxy/bivaluate_{tool}.xml").find("command").text
    helps = (["--help"], [tool, "--help"])  # some options belong to all commands
    run = [
        subprocess.run([sys.executable, "-m", "bivaluate", *words], capture_output=True, text=True) for words in helps
    ]
    shown = run[0].stdout + run[1].stdout
    used = set(re.findall(r" (--[a-z-]+)", command)) | {"--transpose"}
    assert used
    assert all(option in shown for option in used), used


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


RECIPES = re.findall(r"```\w*\n(.*?)```", (ROOT / "docs/sweeps.md").read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.fixture
def jobs(tmp_path):
    """A folder with a plan, and a call that runs a line of shell there; in the end the run must be whole."""
    if sys.platform == "win32":
        pytest.skip("jobs are lines of a POSIX shell")
    write_example(tmp_path)
    plan = 'datasets = ["expression.csv"]\nalgorithms = ["cca"]\nk = [2, 3]\nseeds = 2\n'
    (tmp_path / "plan.toml").write_text(plan)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/bivaluate").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m bivaluate "$@"\n')
    (tmp_path / "bin/bivaluate").chmod(0o755)
    path = os.pathsep.join([str(tmp_path / "bin"), os.path.dirname(sys.executable), os.environ["PATH"]])

    def run(line, **environment):
        done = subprocess.run(
            ["sh", "-c", line.replace("/16", "/2").replace("1, 17", "1, 3").replace("1..16", "1..2")],
            cwd=tmp_path,
            env={**os.environ, "PATH": path, **environment},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr

    yield tmp_path, run
    assert (load_run(tmp_path / "run").results["status"] == "ok").sum() == 4


def test_the_recipe_for_arrays_of_jobs_runs(jobs):
    _, run = jobs
    (recipe,) = (text for text in RECIPES if "SLURM_ARRAY_TASK_ID" in text)
    for number in ("1", "2"):
        run(recipe, SLURM_ARRAY_TASK_ID=number)
    run("bivaluate sweep --merge P* --out run")


@pytest.mark.parametrize(
    ("program", "mark"),
    [
        pytest.param(program, mark, marks=pytest.mark.skipif(not shutil.which(program), reason=f"{program} is missing"))
        for program, mark in (("snakemake", "rule part"), ("nextflow", "process PART"))
    ],
)
def test_the_recipes_for_workflows_run(jobs, program, mark):
    folder, run = jobs
    (recipe,) = (text for text in RECIPES if mark in text)
    recipe = recipe.replace("/16", "/2").replace("1, 17", "1, 3").replace("1..16", "1..2").replace(".tsv", ".csv")
    (folder / "Snakefile").write_text(recipe)
    run("snakemake --cores 1 merged" if program == "snakemake" else "nextflow run Snakefile")


def test_the_recipe_for_nextflow_runs_as_nextflow_would(jobs):
    """Every task in a folder with links to its inputs, by ``bash -ue``; what it declares as its output must be there."""
    folder, run = jobs
    (recipe,) = (text for text in RECIPES if "process PART" in text)
    processes = {
        name: re.findall(r'(?:output: path|script:) "(.*)"', body)
        for name, body in re.findall(r"process (\w+) \{(.*?)\n\}", recipe, flags=re.DOTALL)
    }

    def task(process, inputs, **values):
        work = folder / "work" / f"{process}{values.get('i', '')}"
        work.mkdir(parents=True)
        for path in inputs:
            (work / path.name).symlink_to(path)
        filled = [re.sub(r"\$\{(\w+)\}", lambda m: str(values[m[1]]), text) for text in processes[process]]
        output, script = filled
        run(f"cd {work} && bash -ue -c '{script}'")
        assert (work / output).is_dir()
        return work / output

    plan, matrix = folder / "plan.toml", folder / "expression.csv"
    parts = [task("PART", (plan, matrix), i=i, plan=plan.name, matrix=matrix.name) for i in (1, 2)]
    merged = task("MERGE", parts, parts=" ".join(path.name for path in parts))
    shutil.copytree(merged, folder / "run")

"""README and docs say what is true: generated parts are current, examples run, links lead somewhere."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

import bivaluate
from bivaluate import Matrix
from bivaluate.cli import main
from bivaluate.cli.main import COMMANDS
from bivaluate.datasets import Labelled, load_labelled
from bivaluate.datasets.example import write_example
from bivaluate.judge.verdict import described

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_generated_parts_are_current():
    done = subprocess.run([sys.executable, ROOT / "docs" / "generate.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_readme_examples_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    scope = {}
    for example in re.findall(r"```python\n(.*?)```", readme, flags=re.DOTALL):
        exec(example, scope)
    assert scope["result"].scores["nve"] < 1
    assert scope["search"].best_estimator_.solution_


def test_examples_with_scikit_learn_run():
    scope: dict[str, object] = {}
    text = (ROOT / "docs" / "scikit_learn.md").read_text(encoding="utf-8")
    for example in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL):
        exec(example, scope)
    assert scope["agreement"]["consensus"] == 1.0
    assert scope["search"].best_params_ == {"spectralcoclustering__n_clusters": 4}
    assert scope["tuned"].best_params_["n_clusters"] == 4
    assert len(scope["found"].solution) == 4


def test_readme_commands_exist():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^bivaluate ([a-z]+) ", readme, flags=re.MULTILINE))
    assert {"score", "sweep"} <= named <= set(COMMANDS)


def test_readme_commands_work_as_typed(tmp_path):
    """Every line of the first blocks, in order, in an empty folder."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = [line.partition("#")[0].split() for line in re.findall(r"^bivaluate .*", readme, flags=re.MULTILINE)]
    typed = [words[1:] for words in lines if "tcp://HOST:8786" not in words]
    assert typed[0] == ["example"]
    assert len(typed) > 10
    for words in typed:
        done = subprocess.run([sys.executable, "-m", "bivaluate", *words], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, (words, done.stderr)
    assert {"page.html", "r.html", "sweep.html", "pruned.json", "found.json"} <= {
        path.name for path in tmp_path.iterdir()
    }


SCRIPTS = [*sorted((ROOT / "docs" / "tutorials").glob("*.py")), ROOT / "docs" / "gallery.py"]
FETCHING = {"yeast", "documents", "ratings", "choosing_k", "other_data"}
NEEDED = {
    "single_cells": ["anndata", "scanpy"],
    "choosing_k": ["h5py"],
    "other_data": ["h5py"],
    "programs": ["anndata"],
    "gallery": ["marsilea"],
}
SMALL = {
    "documents": (500, 400),
    "choosing_k": (120, 150),
}  # rows and columns of the small form; the site runs the whole


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(path, id=path.stem, marks=[pytest.mark.network] if path.stem in FETCHING else [])
        for path in SCRIPTS
    ],
)
@pytest.mark.filterwarnings("ignore::bivaluate.BivaluateWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_tutorials_run(script, tmp_path, monkeypatch):
    for package in NEEDED.get(script.stem, ()):
        pytest.importorskip(package)
    if script.stem in SMALL:
        n_rows, n_cols = SMALL[script.stem]
        monkeypatch.setattr(bivaluate.datasets, "load_labelled", lambda name: _small(name, n_rows, n_cols))
    exec(compile(script.read_text(encoding="utf-8"), script.name, "exec"), {"__name__": "tutorial"})


def _small(name, n_rows, n_cols):
    """Return the fullest rows and columns of a data set, and the classes that are left."""
    whole = load_labelled(name)
    filled = whole.matrix.source.array if whole.matrix.sparse else csr_array(whole.matrix.values)
    counts = [np.asarray((filled != 0).sum(axis=axis)).ravel() for axis in (1, 0)]
    rows, cols = (
        np.sort(np.argsort(-count, kind="stable")[:n]) for count, n in zip(counts, (n_rows, n_cols), strict=True)
    )
    sides = ((whole.row_classes, rows), (whole.col_classes, cols))
    classes = [{key: mask[kept] for key, mask in side.items() if mask[kept].any()} for side, kept in sides]
    return Labelled(Matrix(filled[rows][:, cols]), *classes)


PYTHON = r"```python\n(.*?)```"


@pytest.fixture
def typed_along(tmp_path, monkeypatch):
    """A folder with what `bivaluate example` writes: all that the blocks of pages may read."""
    monkeypatch.chdir(tmp_path)
    write_example(tmp_path)


@pytest.mark.parametrize("page", ["find", "five_minutes", "formats", "plots", "scale", "sweeps"])
@pytest.mark.filterwarnings("ignore::bivaluate.BivaluateWarning")
def test_blocks_of_pages_run(page, typed_along):
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    if page == "scale":
        pytest.importorskip("dask.array")
    blocks, scope = re.findall(PYTHON, text, flags=re.DOTALL), {}
    assert blocks
    for block in blocks:
        quick = (
            block.replace("seeds=5", "seeds=1")
            .replace("jobs=2", "jobs=1")
            .replace("find(X)", 'find(X, algorithms="las")')
        )
        exec(quick, scope)


def test_every_page_with_code_is_run():
    with_code = {page.stem for page in PAGES if re.search(PYTHON, page.read_text(encoding="utf-8"), flags=re.DOTALL)}
    blocks = {"find", "five_minutes", "formats", "plots", "scale", "sweeps"}
    assert with_code == {"README", "how_many", "scikit_learn"} | blocks


@pytest.mark.network
def test_the_page_on_how_many_says_what_its_block_prints(capsys):
    pytest.importorskip("h5py")
    page = (ROOT / "docs" / "how_many.md").read_text(encoding="utf-8")
    (block,) = re.findall(PYTHON, page, flags=re.DOTALL)
    exec(block, {})
    headline, reason = capsys.readouterr().out.strip().splitlines()
    assert f"> **{headline}**\n> {reason}\n" in page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_command_lines_of_pages_are_understood(page):
    """Every command and option that a page shows in a block exists; nothing is run."""
    text = page.read_text(encoding="utf-8")
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    blocks = [block for language, block in fenced if language in ("", "sh", "bash", "console")]
    for line in re.findall(r"^(?:\$ )?bivaluate (.*)$", "\n".join(blocks), flags=re.MULTILINE):
        words = shlex.split(line, comments=True)
        if not words or words[0].startswith("-"):
            continue
        command = main._load(words[0])
        if words[1:] and words[1] in getattr(command, "commands", {}):
            command, words = command.commands[words[1]], words[1:]
        command.make_context(words[0], words[1:]).close()


def test_every_figure_is_in_the_gallery_and_every_page_on_the_site():
    gallery = (ROOT / "docs" / "gallery.py").read_text(encoding="utf-8")
    assert [
        name for name in bivaluate.plots.__all__ if name.startswith("plot_") and f"plots.{name}(" not in gallery
    ] == []
    site = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    pages = {
        path.relative_to(ROOT / "docs").as_posix() for path in [*PAGES, *SCRIPTS] if (ROOT / "docs") in path.parents
    }
    assert [page for page in sorted(pages) if f": {page}" not in site] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_readme_fits_and_shows_what_score_prints(tmp_path):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(readme.splitlines()) <= 150
    X, solution = bivaluate.datasets.load_example()
    verdict = bivaluate.evaluate(bivaluate.Matrix.of(X).called("rows", "columns"), solution).verdict
    assert f"solution: {verdict.headline}\n{verdict.reason}\n" in readme
    for row in verdict.biclusters:
        texts = [row["bicluster"], *described(row)]
        assert any(all(text in line for text in texts) for line in readme.splitlines()), texts


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_page_begins_with_how_it_was_written(page):
    text = re.sub(r"<!--.*?-->", "", page.read_text(encoding="utf-8"))
    first = next(line for line in text.splitlines()[1:] if line.strip())
    assert "Written by" not in first
    assert "do not edit" not in first


def test_the_page_of_find_has_the_numbers_of_its_run():
    """docs/answer.json is what benchmarks/answer.py wrote; the page tells it in its own order and words."""
    page = (ROOT / "docs" / "find.md").read_text(encoding="utf-8")
    rows = json.loads((ROOT / "docs" / "answer.json").read_text(encoding="utf-8"))
    planted = [row for name, row in rows.items() if name.startswith("planted")]
    in_noise = [row["found"] for name, row in rows.items() if name.startswith("noise")]
    told = re.findall(r"^\| .+? \| (\d+) \| ([\d ]+) \| (\S+) \| (\w+) (\S+) \|$", page, re.MULTILINE)
    designs = {row["design"]: [one for one in planted if one["design"] == row["design"]] for row in planted}
    assert len(told) == len(designs)
    for (number, found, ce, best, near), mine in zip(told, designs.values(), strict=True):
        own = {key: _mean(one["own"].get(key, 0.0) for one in mine) for key in mine[0]["own"]}
        assert (int(number), found) == (mine[0]["planted"], " ".join(str(one["found"]) for one in mine))
        assert float(ce) == pytest.approx(_mean(one["ce"] for one in mine), abs=0.0051)
        assert own[best] == max(own.values()) == pytest.approx(float(near), abs=0.0051)
    able = [row for row in planted if row["given"] == row["planted"]]
    right = _mean(row["found"] == row["planted"] for row in able)
    close = _mean(row["ce"] >= max(row["own"].values()) - 0.02 for row in planted)
    for sentence in (
        f"Of {len(planted)} matrices, {len(able)} hold blocks",
        f"mean CE {_mean(row['ce'] for row in able):.3f} (".replace("0.", ".", 1),
        f"K right in {right:.0%}.".replace("%", " %"),
        f"(within .02): {close:.0%} of".replace("%", " %"),
        f"{sum(map(bool, in_noise))} of {len(in_noise)} matrices",
    ):
        assert sentence in page, sentence


def _mean(values):
    values = list(values)
    return sum(values) / len(values)

"""README and docs say what is true: generated parts are current, examples run, links lead somewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import bivaluate
from bivaluate.cli.main import COMMANDS

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
    assert len(scope["run"].results) == 8


def test_readme_commands_exist():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^bivaluate ([a-z]+) ", readme, flags=re.MULTILINE))
    assert {"score", "sweep"} <= named <= set(COMMANDS)


def test_readme_commands_work_as_typed(tmp_path):
    """Every line of the first blocks, in order, in an empty folder; the gene sets are the reader's own."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = [line.partition("#")[0].split() for line in re.findall(r"^bivaluate .*", readme, flags=re.MULTILINE)]
    typed = [words[1:] for words in lines if "tcp://HOST:8786" not in words]
    assert typed[0] == ["example"]
    assert len(typed) > 10
    (tmp_path / "sets.gmt").write_text("one\tna\tgene001\tgene002\tgene003\n")
    for words in typed:
        done = subprocess.run([sys.executable, "-m", "bivaluate", *words], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, (words, done.stderr)
    assert {"page.html", "r.html", "sweep.html", "pruned.json"} <= {path.name for path in tmp_path.iterdir()}


SCRIPTS = [*sorted((ROOT / "docs" / "tutorials").glob("*.py")), ROOT / "docs" / "gallery.py"]
FETCHING = {"yeast", "documents", "ratings", "single_cells"}


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(path, id=path.stem, marks=[pytest.mark.network] if path.stem in FETCHING else [])
        for path in SCRIPTS
        if path.stem != "documents"  # half a minute; the site runs it
    ],
)
@pytest.mark.filterwarnings("ignore::bivaluate.BivaluateWarning")
def test_tutorials_run(script):
    if script.stem == "single_cells":
        pytest.importorskip("anndata")
    exec(compile(script.read_text(encoding="utf-8"), script.name, "exec"), {"__name__": "tutorial"})


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

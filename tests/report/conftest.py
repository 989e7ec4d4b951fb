"""One browser per module, and pages built once per session."""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

from bivaluate import BivaluateWarning
from bivaluate.evaluation import Evaluation, evaluate
from bivaluate.report import build_report
from bivaluate.sweep import Plan, Run, Sweep
from tests.report.stand_ins import named, planted

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def leave_out(reason: str) -> NoReturn:
    """Skip a browser test and say how to enable it; where a browser is required, fail."""
    if os.environ.get("BIVALUATE_REQUIRE_BROWSER") == "1":
        pytest.fail(f"BIVALUATE_REQUIRE_BROWSER is 1, but {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        leave_out("browser tests need playwright: pip install playwright.")
    path = os.environ.get("BIVALUATE_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if not path:
        leave_out(
            "browser tests need Chromium: install it (Debian: apt-get install chromium) or set "
            "BIVALUATE_CHROMIUM to its path."
        )
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Any]]:
    """Open a page file; afterwards there must have been no error and no request to the outside."""
    pages, trouble = [], []

    def open_page(path: Path, width: int = 1200, scheme: str = "light") -> Any:
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce")
        page.set_default_timeout(8000)
        page.on("console", lambda message: trouble.append(message.text) if message.type != "log" else None)
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("dialog", lambda dialog: (trouble.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda r: None if r.url.startswith(("file:", "data:")) else trouble.append(r.url))
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready]")
        pages.append(page)
        return page

    yield open_page
    for page in pages:
        page.close()
    assert trouble == []


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A small sweep over two scenarios."""
    plan = Plan(datasets=["scenario:S1", "scenario:S9b"], algorithms=["cca", "spectral"], k=[2, 3, 4], seeds=2)
    return Sweep(plan, tmp_path_factory.mktemp("report") / "run").run()


@pytest.fixture(scope="session")
def run_page(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_report(run, tmp_path_factory.mktemp("page") / "run.html")


@pytest.fixture(scope="session")
def evaluations() -> list[Evaluation]:
    """Three solutions of one matrix: the planted one, one with a repeated and a thin bicluster, a single one."""
    matrix, truth = planted()
    doubled = [(b.rows, b.cols) for b in truth] + [(truth[0].rows[2:], truth[0].cols), ([50], [1, 2, 3])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BivaluateWarning)
        return [
            evaluate(matrix, named(truth, "planted")),
            evaluate(matrix, named(type(truth)(doubled, matrix.shape), "doubled")),
            evaluate(matrix, named(truth.select([0]), "single")),
        ]


@pytest.fixture(scope="session")
def page(evaluations: list[Evaluation], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_report(evaluations, tmp_path_factory.mktemp("page") / "scored.html", title="Three solutions")

"""Draw docs/report.png, the picture of a report in the README: five solutions of one synthetic matrix.

Run from the repository with Chromium installed (or its path in BIVALUATE_CHROMIUM): python docs/report_picture.py
"""

from __future__ import annotations

import io
import os
import shutil
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from bivaluate import Biclustering, evaluate
from bivaluate.algorithms.registry import make_estimator
from bivaluate.datasets.scenarios import make_scenario
from bivaluate.matrix import Matrix
from bivaluate.report import build_report

PICTURE = Path(__file__).with_name("report.png")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
HEIGHT = 1280


def solutions() -> tuple[Matrix, list[Biclustering]]:
    """Return scenario S1 and five solutions: one repeats a pattern, one is clean but tiny, three are found."""
    X, truth, _ = make_scenario("S1", 0)
    rows, cols = ([f"{kind}{i:03d}" for i in range(n)] for kind, n in zip(("gene", "t"), X.shape, strict=True))
    first, second, third, fourth = ((b.rows, b.cols) for b in truth)
    half = len(second[0]) // 2
    candidate = [first, (second[0][:half], second[1]), third, fourth, (second[0][half:], second[1])]
    strict = [(first[0][:6], first[1][:7]), (third[0][:5], third[1][:6])]
    made = [
        Biclustering(candidate, X.shape, info={"name": "candidate"}),
        Biclustering(strict, X.shape, info={"name": "strict"}),
    ]
    for key, name in (("cca", "CCA"), ("las", "LAS"), ("spectral", "Spectral")):
        made.append(make_estimator(key, 5, 0).fit(X).solution_.with_info(name=name))
    return Matrix(X, tuple(rows), tuple(cols), "expression.csv"), made


def main() -> None:
    """Build the report, photograph its top and its pictures, and put them side by side."""
    browser_path = os.environ.get("BIVALUATE_CHROMIUM") or shutil.which("chromium")
    if not browser_path:
        sys.exit("Chromium is needed: install it, or set BIVALUATE_CHROMIUM to its path.")
    matrix, made = solutions()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = build_report([evaluate(matrix, solution) for solution in made], Path(folder) / "report.html")
        browser = playwright.chromium.launch(executable_path=browser_path, args=FLAGS)
        page = browser.new_page(
            viewport={"width": 1100, "height": HEIGHT + 50}, color_scheme="light", reduced_motion="reduce"
        )
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready]")
        page.wait_for_timeout(300)
        top = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        page.evaluate("document.getElementById('details').scrollIntoView()")
        page.wait_for_timeout(300)
        below = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        browser.close()
    both = Image.new("RGB", (1100 + 24 + 915, HEIGHT), "white")
    both.paste(top.crop((0, 0, 1100, HEIGHT)), (0, 0))
    both.paste(below.crop((185, 50, 1100, HEIGHT + 50)), (1124, 0))
    both.save(PICTURE, optimize=True)
    print(f"wrote {PICTURE.name}")


if __name__ == "__main__":
    main()

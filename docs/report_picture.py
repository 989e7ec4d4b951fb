"""Draw docs/report.png, the picture of a report in README and guide: the top of the page on the example.

Run from the repository with Chromium installed (or its path in BIVALUATE_CHROMIUM): python docs/report_picture.py
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from bivaluate import evaluate
from bivaluate.datasets.example import load_example

PICTURE = Path(__file__).with_name("report.png")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def main() -> None:
    """Build the report on the example and photograph its top."""
    browser_path = os.environ.get("BIVALUATE_CHROMIUM") or shutil.which("chromium")
    if not browser_path:
        sys.exit("Chromium is needed: install it, or set BIVALUATE_CHROMIUM to its path.")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = evaluate(*load_example()).report(Path(folder) / "report.html")
        browser = playwright.chromium.launch(executable_path=browser_path, args=FLAGS)
        page = browser.new_page(viewport={"width": 1200, "height": 1360}, color_scheme="light", reduced_motion="reduce")
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready]")
        page.wait_for_timeout(300)
        page.screenshot(path=PICTURE)
        browser.close()
    print(f"wrote {PICTURE.name}")


if __name__ == "__main__":
    main()

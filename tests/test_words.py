"""One word per idea: what users read holds none of the words that were given up."""

import ast
import re
from pathlib import Path

import pytest

from bivaluate._glossary import GLOSSARY

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "bivaluate"
RETIRED = re.compile(
    r"\b(pays|paying|saves nothing|adds? nothing|hardly distinct|clearly distinct|partly distinct|stands? out|"
    r"worth counting|praises?|what became of|second look|lean install\w*|"
    r"the same pattern|none pays?|comes? back)\b",
    re.IGNORECASE,
)
NATS = re.compile(r"\bnats?\b", re.IGNORECASE)
#: Logs of programs, which are written again with the next run.
LOGS = {"choosing.md", "coherent.md", "benchmark.md", "chance.md", "coverage-regularisation.md", "REPLICATION.md"}
MODULES = sorted(PACKAGE.rglob("*.py"))
PAGES = [ROOT / "README.md", *(page for page in sorted((ROOT / "docs").glob("*.md")) if page.name not in LOGS)]
PAGES += [*sorted((ROOT / "docs" / "tutorials").glob("*.py")), *sorted((PACKAGE / "report").rglob("*.j2"))]
PAGES += [page for page in sorted((PACKAGE / "report" / "static").glob("*.js")) if page.name != "d3.min.js"]


def texts(module):
    """Return the strings of a module with their lines: messages, and docstrings of public names."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    private = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Module)) and ast.get_docstring(node) is not None
        if isinstance(node, ast.Module) or node.name.startswith("_") or module.name.startswith("_")
    }
    return [
        (node.lineno, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in private
    ]


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_message_uses_a_retired_word(module):
    found = [(line, RETIRED.search(text)[0]) for line, text in texts(module) if RETIRED.search(text)]
    assert found == []


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_no_page_uses_a_retired_word(page):
    lines = page.read_text(encoding="utf-8").splitlines()
    assert [(n, line) for n, line in enumerate(lines, 1) if RETIRED.search(line)] == []


@pytest.mark.parametrize("module", sorted((PACKAGE / "cli").glob("*.py")), ids=lambda path: path.name)
def test_the_terminal_speaks_of_evidence_not_of_nats(module):
    assert [(line, text) for line, text in texts(module) if NATS.search(text)] == []


def test_the_glossary_explains_every_word_of_a_verdict():
    words = " ".join(word for word, _ in GLOSSARY)
    for word in ("supported", "not supported", "too small to judge", "redundant with", "evidence", "pattern", "inside"):
        assert word in words
    explained = " ".join(word for pair in GLOSSARY for word in pair)
    for word in (
        "CR",
        "CC",
        "ASR",
        "NSR",
        "AvgVE",
        "NVE",
        "total, raw evidence",
        "as good",
        "confirmed",
        "very strong",
    ):
        assert re.search(rf"\b{word}\b", explained), word
    assert not any(RETIRED.search(meaning) for _, meaning in GLOSSARY)

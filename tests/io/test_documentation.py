"""docs/formats.md shows every format as its record describes it, and its JSON example is valid."""

import json
import re
from pathlib import Path

import pytest

from bivaluate._document import parse_document
from bivaluate.io import describe_formats

TEXT = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
MATRICES, SOLUTIONS = TEXT.split("## Solutions")


def rows(text):
    return {m[1]: m[0] for m in re.finditer(r"^\| `([\w-]+)` \|.*\|$", text, re.MULTILINE)}


def row(record):
    """The line of a table in docs/formats.md; copy it there when this test says that it has changed."""
    extensions = ", ".join(f"`{extension}`" for extension in record["extensions"])
    written = ("yes" + (f", {extensions}" if extensions else "")) if record["written"] else ""
    needs = f"`pip install {record['needs']}`; " if record["needs"] else ""
    count = [] if record["index_base"] is None else [str(record["index_base"])]
    cells = [f"`{record['key']}`", record["name"], written, *count, f"{needs}{record['note']}".removesuffix("; ")]
    return "|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|"


@pytest.mark.parametrize(("kind", "text"), [("matrix", MATRICES), ("solution", SOLUTIONS)], ids=["matrix", "solution"])
def test_every_format_is_documented_as_its_record_says(kind, text):
    assert rows(text) == {record["key"]: row(record) for record in describe_formats() if record["kind"] == kind}


def test_index_bases_and_writers_are_stated():
    table = rows(SOLUTIONS)
    for record in describe_formats():
        if record["kind"] == "solution":
            cells = [cell.strip() for cell in table[record["key"]].strip("|").split("|")]
            assert cells[3] == str(record["index_base"])
            assert cells[2].startswith("yes") == record["written"]


def test_the_json_example():
    example = re.search(r"```json\n(.*?)```", TEXT, re.DOTALL)[1]
    document = parse_document(example, "example")
    assert document.shape == (300, 40)
    assert json.loads(example)["biclusters"][0]["row_labels"] == document.labels[0][0]

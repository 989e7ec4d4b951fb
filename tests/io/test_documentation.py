"""docs/formats.md names every format with its index base, and its JSON example is valid."""

import json
import re
from pathlib import Path

from bivaluate._document import parse_document
from bivaluate.io import describe_formats

TEXT = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
MATRICES, SOLUTIONS = TEXT.split("## Solutions")


def rows(text):
    return {m[1]: m[0] for m in re.finditer(r"^\| `([\w-]+)` \|.*\|$", text, re.MULTILINE)}


def test_every_format_is_documented():
    tables = {"matrix": rows(MATRICES), "solution": rows(SOLUTIONS)}
    for kind, table in tables.items():
        assert set(table) == {record["key"] for record in describe_formats() if record["kind"] == kind}


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

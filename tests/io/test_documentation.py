"""docs/formats.md has a row for every format (docs/generate.py writes it), and its JSON example is valid."""

import json
import re
from pathlib import Path

from bivaluate.io import describe_formats
from bivaluate.io.solutions import read_members

TEXT = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
MATRICES, SOLUTIONS = TEXT.split("## Solutions")


def test_every_format_has_a_row():
    for kind, text in (("matrix", MATRICES), ("solution", SOLUTIONS)):
        keys = re.findall(r"^\| `([\w-]+)` \|", text.partition("<!-- end -->")[0], re.MULTILINE)
        assert keys == [record["key"] for record in describe_formats() if record["kind"] == kind]


def test_the_json_example(tmp_path):
    example = re.search(r"```json\n(.*?)```", TEXT, re.DOTALL)[1]
    (tmp_path / "example.json").write_text(example)
    document, _ = read_members(tmp_path / "example.json")
    assert document.shape == (300, 40)
    assert json.loads(example)["biclusters"][0]["row_labels"] == document.labels[0][0]

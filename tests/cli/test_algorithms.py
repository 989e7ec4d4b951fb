"""``bivaluate algorithms``: the registry as a table, as JSON, as CSV, and one algorithm in full."""

import csv
import json

from bivaluate.algorithms import ALGORITHMS
from bivaluate.algorithms.algorithm import PATTERNS


def test_lists_every_algorithm_with_what_it_seeks_and_takes(run, tmp_path):
    done = run("algorithms", "--csv", "table.csv")
    assert done.code == 0
    lines = done.out.splitlines()
    assert [line.split()[0] for line in lines[1:] if not line.startswith(" ")] == list(ALGORITHMS)
    assert "Cheng & Church 2000" in done.out
    assert "recipe:NAME (opsm, qubic, rscript, unpast, or a .toml file)" in done.err
    with open(tmp_path / "table.csv", encoding="utf-8") as file:
        table = {row["key"]: row for row in csv.DictReader(file)}
    assert list(table) == list(ALGORITHMS)
    assert table["nmf"]["nonnegative"] == "True"
    assert table["louvain"]["extra"] == "graph"


def test_json_and_one_in_full(run):
    documents = {document["key"]: document for document in json.loads(run("algorithms", "--json").out)}
    assert set(documents) == set(ALGORITHMS)
    assert documents["las"]["parameters"]["n_restarts"] == 1000
    assert documents["coherent"]["finds_k"] is True
    assert all(set(document["seeks"]) <= set(PATTERNS) for document in documents.values())
    text = run("algorithms", "louvain").out
    for word in (
        "Louvain communities",
        "dense and sparse",
        "no negative or missing values",
        "resolution=1.0",
        "[graph]",
    ):
        assert word in text
    assert "`bivaluate algorithms` lists all of them" in run("algorithms", "plaidd").err

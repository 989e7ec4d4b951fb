"""`bivaluate enrich`, typed as a newcomer would."""

import json

import numpy as np
import pytest

from bivaluate import Biclustering


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(0)
    names = [f"g{i}" for i in range(30)]
    cells = rng.normal(size=(30, 4)).round(3)
    lines = ["," + ",".join("wxyz"), *(f"{n},{','.join(map(str, row))}" for n, row in zip(names, cells, strict=True))]
    (tmp_path / "genes.csv").write_text("\n".join(lines) + "\n")
    sets = {"ribosome": names[:6], "stress": names[10:16], "other": names[16:28]}
    (tmp_path / "sets.gmt").write_text("".join(f"{k}\tna\t" + "\t".join(v) + "\n" for k, v in sets.items()))
    (tmp_path / "foreign.gmt").write_text("mouse\tna\tActb\tGapdh\tTp53\tMyc\n")
    Biclustering([(range(6), [0, 1]), ([0, 11, 20], [1, 2])], (30, 4)).to_json(tmp_path / "found.json")
    return tmp_path


def test_table(run, files):
    shown = run("enrich", "found.json", "--matrix", "genes.csv", "--sets", "sets.gmt")
    assert shown.code == 0
    assert "24 of 30 genes are in 3 sets." in shown.out
    assert "B1: ribosome (6 of 6, q " in shown.out
    assert "1 of 2 biclusters is enriched (q ≤ 0.05), in 1 set; of random lists of as many genes" in shown.out


def test_sets_are_called_by_their_names(run, files):
    told = (files / "sets.gmt").read_text().replace("\tna\t", "\tmade up\t")
    (files / "told.gmt").write_text(told)
    shown = run("enrich", "found.json", "--matrix", "genes.csv", "--sets", "told.gmt")
    assert "B1: ribosome (6 of 6, q " in shown.out
    assert "made up" not in shown.out
    (files / "go.gmt").write_text(told.replace("ribosome\tmade up", "GO:0006412\ttranslation"))
    shown = run("enrich", "found.json", "--matrix", "genes.csv", "--sets", "go.gmt")
    assert "B1: GO:0006412 translation (6 of 6, q " in shown.out


def test_one_set_alone_cannot_be_enriched(run, files):
    (files / "one.gmt").write_text((files / "sets.gmt").read_text().splitlines()[0] + "\n")
    shown = run("enrich", "found.json", "--matrix", "genes.csv", "--sets", "one.gmt")
    assert "No list of genes can be enriched here (p is at least 1): genes are compared with the 6 genes" in shown.out
    assert "Give a whole collection of sets" in shown.out
    told = json.loads(run("enrich", "found.json", "--matrix", "genes.csv", "--sets", "one.gmt", "--json").out)
    assert told["lowest_p"] == 1.0


def test_json_has_raw_p_and_q(run, files):
    shown = run("enrich", "found.json", "--matrix", "genes.csv", "--sets", "sets.gmt", "--json", "--csv", "terms.csv")
    told = json.loads(shown.out)
    best = told["terms"][0]
    assert (best["bicluster"], best["set"], best["overlap"]) == ("B1", "ribosome", 6)
    assert 0 < best["p"] < best["q"] < 0.05
    assert 0 <= told["scores"]["share_enriched_random"] < 0.3
    assert (files / "terms.csv").read_text().startswith("bicluster,set,title,overlap,genes,set_size,background,p,q\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name the gene sets: either --sets FILE.gmt, or --go sgd"),
        (("--sets", "sets.gmt", "--go", "sgd"), "name the gene sets"),
        (("--go", "some.gaf"), "--go some.gaf needs the ontology too: FILE.gaf,FILE.obo"),
        (
            ("--sets", "foreign.gmt"),
            "foreign.gmt and genes share no gene: Actb, Gapdh, Myc and 1 more there, g0, g1, g2",
        ),
        (("--sets", "nowhere.gmt"), "cannot read nowhere.gmt"),
        (
            ("--sets", "sets.gmt", "--report", "x.html"),
            "bivaluate score MATRIX SOLUTION --go … --report writes the page",
        ),
    ],
)
def test_refusals(run, files, arguments, message):
    shown = run("enrich", "found.json", "--matrix", "genes.csv", *arguments)
    assert shown.code == 2
    assert message in shown.err

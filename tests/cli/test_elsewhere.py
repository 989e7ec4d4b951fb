"""`bivaluate confirm`, `recur` and `traits`, typed as a newcomer would."""

import json

import numpy as np
import pandas as pd
import pytest

from bivaluate import Biclustering


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(1)
    genes = [f"g{i}" for i in range(150)]
    for name in "AB":
        X = rng.normal(size=(150, 12))
        X[:15] += 2 * rng.normal(size=12)
        columns = [f"{name}{j}" for j in range(12)]
        pd.DataFrame(X.round(3), index=genes, columns=columns).to_csv(tmp_path / f"{name}.csv")
        kinds = pd.DataFrame({"type": ["case"] * 6 + ["control"] * 6, "batch": ["x", "y"] * 6}, index=columns)
        kinds.to_csv(tmp_path / f"{name}_samples.csv")
    pairs = [(range(15), range(6)), (range(75, 95), range(4, 12))]
    Biclustering(pairs, (150, 12), info={"algorithm": "isa"}).to_json(tmp_path / "found.json")
    Biclustering([(range(1, 14), range(6))], (150, 12)).to_json(tmp_path / "second.json")
    return tmp_path


CONFIRM = ("confirm", "found.json", "--found-in", "A.csv", "--in", "B.csv", "--surrogates", "2", "-j", "1")


def test_confirm(run, files):
    shown = run(*CONFIRM, "--csv", "table.csv")
    assert shown.code == 0, shown.err
    assert "1 of 2 biclusters holds in B; B2 does not." in shown.out
    assert "not confirmed: equally active rows move together as strongly too often" in shown.out
    assert (
        (files / "table.csv").read_text().startswith("bicluster,n_rows,shared_rows,statistic,expected,z,p_draws,p,q,")
    )
    told = json.loads(run(*CONFIRM, "--json", "--annotations", "A_samples.csv").out)
    assert [row["verdict"] for row in told["biclusters"]] == ["confirmed", "not confirmed"]
    assert {row["trait"] for row in told["traits"]} == {"type", "batch"}


def test_confirm_without_an_algorithm_says_so(run, files):
    shown = run("confirm", "second.json", "--found-in", "A.csv", "--in", "B.csv")
    assert "Quick form only" in shown.err
    refused = run("confirm", "second.json", "--found-in", "A.csv", "--halves", "columns")
    assert refused.code == 2
    assert "name it with --algorithm" in refused.err
    refused = run("confirm", "second.json", "--found-in", "A.csv")
    assert "split the one there is with --halves columns" in refused.err


def test_confirm_writes_a_page(run, files):
    shown = run(*CONFIRM, "--annotations", "A_samples.csv", "--report", "page.html")
    assert shown.code == 0, shown.err
    page = (files / "page.html").read_text()
    assert '<h1 id="verdict-title">1 of 2 biclusters holds in B; B2 does not.</h1>' in page
    assert ">In other data</h2>" in page
    assert "What their samples share" in page
    assert "data:image/svg+xml" in page


def test_the_page_of_halves_tells_those_found_anew_from_those_given(run, files):
    words = ("--halves", "columns", "-a", "spectral_co", "-k", "2", "--surrogates", "0", "--report", "page.html")
    shown = run("confirm", "found.json", "--found-in", "A.csv", *words)
    assert shown.code == 0, shown.err
    assert " of the 2 given biclusters w" in shown.out
    page = (files / "page.html").read_text()
    assert '<td data-label="like">B' in page
    assert '<h2 id="runs-title">Where the biclusters given (B1, …) were found: ' in page


def test_traits(run, files):
    words = ("traits", "found.json", "--matrix", "A.csv", "--annotations", "A_samples.csv")
    shown = run(*words)
    assert shown.code == 0, shown.err
    assert "B1: 100 % case (type, q " in shown.out
    told = json.loads(run(*words, "--json").out)
    assert {"bicluster", "trait", "class", "p", "q"} <= told[0].keys()
    assert len(told) == 4
    assert run(*words, "--report", "page.html").code == 0
    page = (files / "page.html").read_text()
    assert "Biclusters and the annotations of their samples" in page
    assert ">odds ratio " in page
    assert '<td data-label="inside">100 %</td>' in page
    assert '<h1 id="verdict-title">The samples of 1 of 2 biclusters share an annotation.</h1>' in page
    doubtful = run(*words, "--technical", "type").out
    assert "may be technical: 100 % of its samples are type case" in doubtful


def test_traits_refuses(run, files):
    words = ("traits", "found.json", "--matrix", "A.csv")
    assert "name the annotations: --annotations" in run(*words).err
    assert "add it" in run(*words, "--within", "batch").err
    wrong = run(*words, "--annotations", "B_samples.csv")
    assert wrong.code == 2
    assert "no label is shared (annotations: B0, B1, B2" in wrong.err
    assert "A0, A1, A2" in wrong.err
    assert "two columns are needed" in run(*words, "--annotations", "A_samples.csv", "--survival", "time").err


def test_score_and_its_page_say_what_samples_share(run, files):
    words = ("score", "A.csv", "found.json", "--annotations", "A_samples.csv")
    assert "B1: 100 % case (type, q " in run(*words).out
    assert json.loads(run(*words, "--json").out)[0]["traits"][0]["trait"] == "type"
    run(*words, "--report", "page.html", "--columns", "cells")
    page = (files / "page.html").read_text()
    assert "100 % case" in page
    assert "What their cells share" in page  # in the user's nouns
    assert "annotations of their cells" in page
    assert "samples" in (files / "page.biclusters.csv").read_text().splitlines()[0].split(",")


def test_the_page_of_a_run_has_a_panel_each(run, files):
    done = run("sweep", "A.csv", "-a", "isa,spectral_co", "-k", "2", "--out", "RUN", "-j", "1")
    assert done.code == 0, done.err
    words = ("report", "RUN", "-o", "page.html")
    assert run(*words).code == 0
    assert ">In other data</h2>" not in (files / "page.html").read_text()
    shown = run(*words, "--in", "B.csv", "--annotations", "A_samples.csv")
    assert shown.code == 0, shown.err
    page = (files / "page.html").read_text()
    assert ">In other data</h2>" in page
    assert "in B" in page
    assert "What their samples share" in page
    assert "Biclusters and the annotations of their samples" in page  # the heat map
    assert run("sweep", "A.csv", "B.csv", "-a", "isa", "-k", "3", "--out", "BOTH", "-j", "1").code == 0
    assert run("report", "BOTH", "--recur", "-o", "both.html").code == 0
    assert "Over samples" in (files / "both.html").read_text()


def test_recur(run, files):
    words = ("recur", "found.json", "second.json", "--matrix", "A.csv", "--matrix", "B.csv")
    shown = run(*words, "--out", "groups", "--csv", "rows.csv", "--report", "page.html")
    assert shown.code == 0, shown.err
    assert "1 group recurs in at least 2 of 2 samples; 1 occurs in one only." in shown.out
    assert "fewer than 7 biclusters" in shown.err
    assert (files / "rows.csv").read_text().startswith("group,row,samples\nG1,g1,2\n")
    assert {path.name for path in (files / "groups").iterdir()} == {"groups.json", "found.json", "second.json"}
    page = (files / "page.html").read_text()
    assert "Over samples" in page
    assert '<h1 id="verdict-title">1 group recurs in at least 2 of 2 samples; 1 occurs in one only.</h1>' in page
    told = json.loads(run(*words, "--json").out)
    assert told["groups"][0]["samples"] == ["found", "second"]
    assert told["groups"][0]["n_rows"] == 13
    assert "needs its matrix" in run("recur", "found.json", "second.json", "--matrix", "A.csv").err
    assert "at least 2 are needed" in run("recur", "found.json", "--matrix", "A.csv").err
    assert "--sample needs one .h5ad file" in run("recur", "found.json", "--sample", "patient").err


def test_recur_over_a_run_and_cnmf_folders(run, files):
    done = run("sweep", "A.csv", "B.csv", "-a", "isa", "-k", "3", "--out", "RUN", "-j", "1")
    assert done.code == 0, done.err
    told = json.loads(run("recur", "RUN", "--json").out)
    assert told["samples"] == ["A", "B"]
    rng = np.random.default_rng(0)
    for name in ("p1", "p2"):
        folder = files / name
        folder.mkdir()
        scores = rng.normal(size=(4, 300))
        scores[0, :50] += 6
        genes = [f"g{i}" for i in range(300)]
        spectra = pd.DataFrame(scores, index=range(1, 5), columns=genes)
        spectra.to_csv(folder / f"{name}.gene_spectra_score.k_4.dt_0_5.txt", sep="\t")
        usages = pd.DataFrame(rng.gamma(1.0, size=(20, 4)), index=[f"c{i}" for i in range(20)], columns=range(1, 5))
        usages.to_csv(folder / f"{name}.usages.k_4.dt_0_5.consensus.txt", sep="\t")
    told = json.loads(run("recur", "p1", "p2", "--json").out)
    assert [group["n_rows"] for group in told["groups"]] == [50]
    assert set(told["groups"][0]["rows"]) == {f"g{i}" for i in range(50)}
    assert "one K is needed: choose it with -k" in run("recur", "p1", "p2", "-k", "9").err.replace("--k", "-k")


def test_obs_by_itself(run, files):
    anndata = pytest.importorskip("anndata")
    X = pd.read_csv(files / "A.csv", index_col=0)
    adata = anndata.AnnData(X.T.to_numpy(), obs=pd.read_csv(files / "A_samples.csv", index_col=0))
    adata.var_names = list(X.index)
    adata.write_h5ad(files / "cells.h5ad")
    assert "B1: 100 % case (type, q " in run("score", "cells.h5ad", "found.json").out
    assert "B1: 100 % case (type, q " in run("traits", "found.json", "--matrix", "cells.h5ad").out


def test_the_page_of_a_sweep_says_what_cells_share(run, files):
    anndata = pytest.importorskip("anndata")
    X = pd.read_csv(files / "A.csv", index_col=0)
    X.iloc[20:50, :6] += 4
    adata = anndata.AnnData(X.T.to_numpy(), obs=pd.read_csv(files / "A_samples.csv", index_col=0))
    adata.var_names = X.index.astype(str)
    adata.write_h5ad(files / "cells.h5ad")
    assert run("sweep", "cells.h5ad", "-a", "LAS", "-k", "2", "--out", "RUN").code == 0
    assert run("report", "RUN", "-o", "r.html").code == 0
    page = (files / "r.html").read_text(encoding="utf-8").replace("\xa0", " ").replace("&nbsp;", " ")
    assert "cells share</th>" in page
    assert "known cells: B1 (100 % case)" in page


def test_classes_of_a_data_set_are_its_annotations(monkeypatch):
    from pathlib import Path

    from bivaluate import Biclustering, Matrix
    from bivaluate.cli.options import AnnotationFile
    from bivaluate.datasets import real
    from bivaluate.datasets.labelled import Labelled

    X = np.random.default_rng(0).normal(size=(12, 20))
    masks = {"EWS": np.arange(20) < 9, "BL": np.arange(20) >= 9}
    known = Labelled(Matrix(X, None, tuple(np.where(masks["BL"], "BL", "EWS"))), {}, masks)
    monkeypatch.setattr(real, "load_labelled", lambda name: known)
    test = AnnotationFile().test(Path("cancer:khan-2001"))
    table = test(Biclustering([(range(5), range(9))], X.shape), known.matrix)
    assert table[["trait", "word"]].to_numpy().tolist() == [["class", "100 % EWS"]]
    assert table["effect"].iloc[0] == 9.5 * 11.5 / (0.5 * 0.5)

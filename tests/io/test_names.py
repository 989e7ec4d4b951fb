"""Biclusters keep the names of their file, and a few unknown labels do not stop anybody."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from bivaluate import (
    Biclustering,
    FormatError,
    LabelWarning,
    Matrix,
    SolutionError,
    build_report,
    enrich,
    evaluate,
    propose_pruning,
    read_matrix,
    read_solution,
    traits,
    write_matrix,
    write_solution,
)
from bivaluate.enrichment import GeneSets
from bivaluate.sweep import refine

GENES = [f"g{i}" for i in range(60)]
SAMPLES = [f"s{i}" for i in range(20)]
CLUSTERS = {"M4": range(35, 45), "M1": range(15), "turquoise": range(20, 35)}


@pytest.fixture(scope="module")
def X() -> pd.DataFrame:
    values = np.random.default_rng(0).normal(size=(60, 20))
    values[:15, :8] += 3
    values[20:35, 8:15] -= 3
    return pd.DataFrame(values, GENES, SAMPLES)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "modules.csv"
    lines = [f"g{i},{name}" for name, members in CLUSTERS.items() for i in members]
    path.write_text("\n".join(["gene,module", *lines]) + "\n")
    return path


FORMATS = {
    "long.csv": "bicluster,axis,label\nM4,row,g1\nM4,column,s1\nM1,row,g2\nM1,column,s2\n",
    "lists.tsv": "module\tgenes\tsamples\nM4\tg1\ts1\nM1\tg2\ts2\n",
    "matrix.csv": "axis,label,M4,M1\nrow,g1,1,0\nrow,g2,0,1\ncolumn,s1,1,0\ncolumn,s2,0,1\n",
    "clusters.tsv": "gene\tmoduleColors\ng1\tM4\ng2\tM1\n",
    "numbered.txt": "gene\tmodule\n1\tg1\tM4\n2\tg2\tM1\n",  # as R's write.table
    "own.json": json.dumps([{"name": "M4", "rows": ["g1"], "cols": ["s1"]}, {"module": "M1", "rows": ["g2"], "cols": ["s2"]}]),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
def test_names_of_a_file_are_kept_in_its_order(name, tmp_path, X):
    path = tmp_path / name
    path.write_text(FORMATS[name])
    small = X.iloc[1:3, 1:3]
    solution = read_solution(path, small)
    assert solution.names == ["M4", "M1"]
    assert [b.rows.tolist() for b in solution] == [[0], [1]]
    for again in ("again.json", "again.csv"):
        write_solution(solution, tmp_path / again, X=small)
        assert read_solution(tmp_path / again, small).names == ["M4", "M1"]


LISTS = {
    "mods.gmt": "M4\tna\tg1\tg3\nM1\thttp://x\tg2\tg2\n",
    "mods.json": '{"M4": ["g1", "g3"], "M1": ["g2"]}',
    "hdwgcna.csv": "gene_name,module,kME\ng1,M4,0.1\ng2,M1,0.2\ng3,M4,0.3\n",
    "markers.csv": ",p_val,cluster,gene\n1,0.1,M4,g1\n2,0.1,M4,g3\n3,0.2,M1,g2\n",
    "r.txt": '"gene" "module"\n"1" "g1" "M4"\n"2" "g3" "M4"\n"3" "g2" "M1"\n',
}


@pytest.mark.parametrize("name", [*LISTS, "folder"])
@pytest.mark.parametrize("turned", [False, True])
def test_lists_of_genes_in_the_style_of_other_tools(name, turned, tmp_path, X):
    path = tmp_path / name
    if name == "folder":
        path.mkdir()
        (path / "M4.txt").write_text("# genes\ng1\ng3\n")
        (path / "M1.txt").write_text("g2\n")
    else:
        path.write_text(LISTS[name])
    if turned and name not in ("folder", "mods.gmt"):
        pytest.skip("the header says that the genes are rows")
    solution = read_solution(path, X.T if turned else X)
    found = {name: (b.cols if turned else b.rows).tolist() for name, b in zip(solution.names, solution, strict=True)}
    assert found == {"M4": [1, 3], "M1": [2]}
    assert solution[0].shape == (
        (20, 2) if turned and name != "folder" else (20, 1) if turned else (len(found[solution.names[0]]), 20)
    )


def test_a_mapping_of_biclusters_by_name(tmp_path, X):
    path = tmp_path / "s.json"
    path.write_text('{"M4": {"genes": ["g1"], "samples": ["s1"]}, "M1": {"genes": ["g2"], "samples": ["s2"]}}')
    assert read_solution(path, X).names == ["M4", "M1"]


def test_a_gmt_file_without_genes(tmp_path, X):
    path = tmp_path / "s.gmt"
    path.write_text("M4\tna\n")
    with pytest.raises(FormatError, match="line 1: a name, a description and members are needed"):
        read_solution(path, X)


def test_matrix_market_with_labels_beside_it(tmp_path, X):
    sparse = Matrix.of(csr_array(np.where(X > 1, X, 0)))
    whole = Matrix(sparse.source, tuple(GENES), tuple(SAMPLES))
    write_matrix(whole, tmp_path / "x.mtx")
    again = read_matrix(tmp_path / "x.mtx")
    assert (again.row_labels, again.col_labels, again.sparse) == (tuple(GENES), tuple(SAMPLES), True)
    np.testing.assert_array_equal(again.values, np.where(X > 1, X, 0))
    (tmp_path / "x.rows.tsv").write_text("g1\n")
    with pytest.raises(FormatError, match=r"x.mtx is 60 x 20, but there are 1 features"):
        read_matrix(tmp_path / "x.mtx")


def test_what_a_command_wrote_is_named_by_options_of_the_command_line(tmp_path):
    words = ["run", "example:", "-a", "mine=cmd:cp Makefile {out}", "-k", "2", "-o", str(tmp_path / "o.json")]
    done = subprocess.run([sys.executable, "-m", "bivaluate", *words], capture_output=True, text=True, check=False)
    assert "Name its format with --param format=" in done.stderr


def test_names_survive_what_is_done_to_a_solution(table, X, tmp_path):
    solution = read_solution(table, X)
    assert solution[1:].names == solution.select([1, 2]).names == ["M1", "turquoise"]
    assert solution[1].name == "M1"
    assert (solution[:1] + solution[2:]).with_info(a=1).names == ["M4", "turquoise"]
    assert (solution[:1] + solution[:1]).names == ["M4 (1)", "M4 (2)"]
    assert Biclustering.from_frame(solution.to_frame(), X.shape).names == solution.names
    solution.to_json(tmp_path / "s.json")
    assert Biclustering.from_json(tmp_path / "s.json").names == list(CLUSTERS)


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (["a", "", "c"], ["a", "B2", "c"]),
        (["a", "a", "b"], ["a (1)", "a (2)", "b"]),
        (["a", "a", "a (1)"], ["a (1) (1)", "a (2)", "a (1) (2)"]),
        ([3, 1, 2], ["B3", "B1", "B2"]),
        (["B1", "B2", "B3"], ["B1", "B2", "B3"]),
        (["heat  shock\n", " x ", "y"], ["heat shock", "x", "y"]),
    ],
)
def test_the_rule_of_names(given, names):
    solution = Biclustering([([0], [0]), ([1], [1]), ([2], [2])], names=given)
    assert solution.names == names
    assert solution[:1].names == ["B1" if given[0] == "B1" else names[0]]
    with pytest.raises(SolutionError, match="3 names for 1 bicluster"):
        Biclustering([([0], [0])], names=given)


def test_every_surface_prints_the_names(table, X, tmp_path):
    solution = read_solution(table, X)
    names = list(CLUSTERS)
    result = evaluate(X, solution)
    document = result.to_dict()
    assert result.names == [b["bicluster"] for b in document["biclusters"]] == names
    assert [b["name"] for b in document["solution"]["biclusters"]] == names
    assert result.verdict.headline == "2 of the 3 biclusters are supported; M4 is not supported."
    assert result.verdict.reason.startswith("turquoise is the strongest")
    page = build_report(result, tmp_path / "page.html").read_text()
    assert "turquoise" in page
    assert "B1" not in (tmp_path / "page.biclusters.csv").read_text()
    pruned = propose_pruning(X, solution)
    assert pruned.names == ("M1", "turquoise")
    assert pruned.solution.names == ["M1", "turquoise"]
    assert pruned.proposals[0].reason.startswith("Drop M4:")
    found = enrich(solution, X, GeneSets({"a": GENES[:15]}), n_random=0)
    assert [row["bicluster"] for row in found.biclusters] == names
    about = pd.DataFrame({"batch": ["x"] * 10 + ["y"] * 10}, index=SAMPLES)
    parts = Biclustering([(b.rows, range(10)) for b in solution], X.shape, names=names)
    assert traits(parts, X, about)["bicluster"].tolist() == names
    assert refine(X, solution, trials=0).sentences(Matrix.of(X))[0] == "M4 stays as it is."


def test_names_go_through_anndata(X, table):
    anndata = pytest.importorskip("anndata")
    adata = anndata.AnnData(X.T)
    evaluate(adata, read_solution(table, X), key_added="bv")
    assert Biclustering.from_anndata(adata, key="bv").names == list(CLUSTERS)


def test_positions_in_an_anndata_object_say_which_side_is_which(X):
    anndata = pytest.importorskip("anndata")
    adata = anndata.AnnData(X.T)
    by_position = evaluate(adata, [(range(15), range(8))], metrics=["coverage"])
    assert by_position.findings[0].startswith("Positions count genes as rows and cells as columns")
    without_shape = evaluate(adata, Biclustering([(range(15), range(8))]), metrics=["coverage"])
    assert without_shape.findings == by_position.findings
    by_label = evaluate(adata, [(GENES[:15], SAMPLES[:8])], metrics=["coverage"])
    assert not any("Positions" in text for text in by_label.findings)
    assert not any("Positions" in text for text in evaluate(X, [(range(15), range(8))], metrics=["coverage"]).findings)


def test_text_labels_name_biclusters():
    found = Biclustering.from_labels(["a", "b", "b"], ["b", "a"], diagonal=True)
    assert found.names == ["a", "b"]
    assert Biclustering.from_labels(["a", "b"], ["x", "x"]).names == ["a × x", "b × x"]
    assert Biclustering.from_labels([0, 1], [0, 1], diagonal=True).names == ["B1", "B2"]


def test_a_few_unknown_labels_are_left_out_and_said(table, X):
    lines = table.read_text().split("\n")
    lines[3:3] = ["ABSENT,M4", "GONE,M9"]
    table.write_text("\n".join(lines))
    said = r"X does not have 2 of the 42 row labels of .*modules.csv; left out: 'ABSENT' \(line 4\), 'GONE' \(line 5\)"
    with pytest.warns(LabelWarning, match=said):
        solution = read_solution(table, X)
    assert solution.names == list(CLUSTERS)
    assert solution[0].rows.tolist() == list(CLUSTERS["M4"])
    result = evaluate(X, solution, metrics=["coverage"])
    assert "'ABSENT' (line 4)" in result.to_dict()["findings"][0]
    assert result.to_dict()["findings"][1] == "Without them nothing is left of M9."


def test_python_leaves_unknown_labels_out_alike(X):
    with pytest.warns(LabelWarning, match=r"X does not have 1 of the 3 row labels; left out: 'g0x'. Did you mean 'g0'"):
        result = evaluate(X, [(["g1", "g2", "g0x"], ["s1"]), ([3], [4])], metrics=["coverage"])
    assert [b.rows.tolist() for b in result.solution] == [[1, 2], [3]]


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ("g1 ENSG1 ENSG2", r"line 2: only 1 of its 3 row labels is in X. It has ENSG1, ENSG2; X has g0, g1, g2"),
        ("ENSG1 ENSG2", r"line 2: none of its 2 row labels is in X. It has ENSG1, ENSG2; X has g0"),
        ("s1 s2", "line 2: M1 names row 's1', which is a column of X. Were rows and columns swapped"),
    ],
)
def test_most_labels_unknown_is_an_error(members, message, tmp_path, X):
    path = tmp_path / "s.csv"
    path.write_text(f"module,genes,samples\nM1,{members},s1\n")
    with pytest.raises(SolutionError, match=message):
        read_solution(path, X)


def test_numbers_that_are_mostly_labels_are_labels(tmp_path, X):
    entrez = X.set_axis([str(1000 + i) for i in range(60)])
    path = tmp_path / "s.csv"
    path.write_text("gene,module\n1003,M1\n1004,M1\n9999,M1\n")
    with pytest.warns(LabelWarning, match=r"'9999' \(line 4\)"):
        assert read_solution(path, entrez)[0].rows.tolist() == [3, 4]


def test_annotations_of_samples_are_read_as_groups_of_them(tmp_path, X):
    text = "".join(f"{label},{'AB'[j % 2]}\n" for j, label in enumerate(X.columns))
    found = []
    for word in ("class", "cluster"):
        (tmp_path / f"{word}.csv").write_text(f"sample,{word}\n{text}")
        found.append(read_solution(tmp_path / f"{word}.csv", X))
    assert found[0] == found[1]
    assert found[0].names == ["A", "B"]
    assert {len(b.rows) for b in found[0]} == {X.shape[0]}

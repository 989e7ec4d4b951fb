"""The files of other tools, written here in each tool's grammar: read, and damaged with the line named."""

import gc
import json
import re
import signal
import time

import numpy as np
import pytest

from bivaluate import (
    Biclustering,
    EmptyBiclusterWarning,
    FormatError,
    LabelWarning,
    Matrix,
    MissingExtraError,
    ParameterError,
    SolutionError,
    read_solution,
    write_solution,
)
from bivaluate.io.formats import formats_of
from bivaluate.io.solutions import is_solution, read_members
from bivaluate.io.source import Source
from tests.io.rds_writer import biclust_object, save

ROWS = ("g1", "g2", "g3", "g4", "g5")
COLS = ("c1", "c2", "c3", "c4")
X = Matrix(np.zeros((5, 4)), ROWS, COLS)
PLAIN = Matrix(np.zeros((5, 4)))
S = Biclustering([([0, 2], [1, 3]), ([1, 2, 4], [0])], (5, 4))

R_TEXT = "CC demo\n2 2\ng1 g3\nc2 c4\n3 1\ng2 g3 g5\nc1\n"
BICAT = "2 2\n0 2\n1 3\n3 1\n1 2 4\n0\n"
QUBIC = (
    "# QUBIC version 2.2 output\n# Datafile data/toy: discrete type\n# Parameters: -k 2\n\n"
    "BC000\tS=4\tEnrichment:0.61\tRow=2\tCol=2\tCore_Row=2\tCore_Col=2\t\n"
    " Genes [2]: g1 g3 \n Conds [2]: c2 c4 \n        g1:\t1\t1\n\n        g3:\t-1\t-1\n\n"
    "BC001\tS=3\tPvalue:1.3452E-05 \n Genes [3]: g2 g3 g5 \n Conds [1]: c1 \n        g2:\t1\n\n"
)
BIBIT = "NumOfRows;NumOfColumns;Rows;Columns\n2;2;g1,g3;c2, c4, \n3;1;g2,g3,g5;c1\n"
BICPAMS = (
    "FOUND BICS:#2\n I=[2,2] (2,2) Y=[c2,c4] X=[g1,g3] pvalue=1.2E-5 Lifts=[1.0]\n"
    "ID:key (1,3) Y=[c1] X=[g2,g3,g5] pvalue=0.0 (too small)\n\n"
    "details\n I=[2,2] (2,2) Y=[c2,c4] X=[<too long>]\ng1\t1\t2\n"
)
BICPAMS_HTML = (
    "<html><body><table><tr><th>id</th><th>members</th></tr>\n"
    "<tr><td>1</td><td>[0, 2] [1, 3]</td></tr>\n<tr><td>2</td><td>[1,2,4] [0]</td></tr>\n</table></body></html>\n"
)
BICGE = (
    "Total_Biclusters:2\nMethod_used:QUBIC\nRunning_Time:1 s\n\n"
    "Bicluster 1\nNumber_of_Genes:2\nNumber_of_Conditions:2\nGene_names:\tg1\tg3\nGene_indexes:\t0\t2\n"
    "Condition_names:\tc2\tc4\nCondition_indexes:\t1\t3\n\n\n"
    "Bicluster 2\nNumber_of_Genes:3\nNumber_of_Conditions:1\nGene_names:\tg2\tg3\tg5\nGene_indexes:\t1\t2\t4\n"
    "Condition_names:\tc1\nCondition_indexes:\t0\n"
)


def jbiclustge_entry(names, indexes, conditions, condition_indexes):
    return {
        "Genes": len(names),
        "Conditions": len(conditions),
        "Gene names": names,
        "Gene indexes": indexes,
        "Condition names": conditions,
        "Condition indexes": condition_indexes,
    }


JBICLUSTGE = json.dumps(
    {
        "Total": 2,
        "Biclustering method": "QUBIC",
        "Biclustering method parameters": {"f": "1"},
        "Biclusters": {
            "1": jbiclustge_entry(["g2", "g3", "g5"], [1, 2, 4], ["c1"], [0]),
            "0": jbiclustge_entry(["g1", "g3"], [0, 2], ["c2", "c4"], [1, 3]),
        },
    }
)
UNPAST_HEADER = (
    "id\tSNR\tn_genes\tn_samples\tgenes\tsamples\tdirection\tgenes_up\tgenes_down\tgene_indexes\tsample_indexes\n"
)
UNPAST = (
    "#seed=42; pval=0.01; \n" + UNPAST_HEADER + "0\t1.5\t2\t2\tg1 g3\tc2 c4\tUP\tg1 g3\t\t0 2\t1 3\n"
    "1\t1.1\t3\t1\tg2 g3 g5\tc1\tDOWN\t\tg2 g3 g5\t1 2 4\t0\n"
)
UNPAST_OLD = (
    "id\tavgSNR\tn_genes\tn_samples\tgenes\tsamples\tdirection\n0\t1.5\t2\t2\tg1 g3\tc2 c4\tUP\n"
    "1\t1.1\t3\t1\tg2 g3 g5\tc1\tDOWN\n"
)
EBIC = "#2\nBicluster([0, 2],[1, 3])\nBicluster([1,2,4], [0])\n"
OPSM = "0 2\n3 1\n\n1 2 4\n0\n\n"
COALESCE = (
    "Cluster\t0\nGenes\tg1\tg3\nConditions\tc2\tc4\nMotifs\nAACGT\n1\t2\nCluster\t1\nGenes\tg2\tg3\tg5\n"
    "Conditions\tc1\nMotifs\n"
)
BIBLIO = json.dumps(
    {
        "__class__": "Biclustering",
        "__module__": "biclustlib.models",
        "biclusters": [[[2, 0], [1, 3]], [[1, 2, 4], [0], [[1.0], [2.0], [3.0]]]],
    }
)
FILES = {
    "r-text": [
        R_TEXT,
        R_TEXT.replace(" ", ";"),
        R_TEXT.replace("\n", "\n\n"),
        "2\n" + R_TEXT,
        "2\nBiclusters\nB1:2\t2\ng1\tg3\nc2\tc4\nB2:3\t1\ng2\tg3\tg5\nc1\n",
        R_TEXT.replace("\n", "\r\n"),
        "\n" + R_TEXT.split("\n", 1)[1],
    ],
    "bicat": [BICAT, "Number of BCs = 2\n\n\n" + BICAT, R_TEXT.split("\n", 1)[1]],
    "qubic": [QUBIC, QUBIC.replace("\tEnrichment:0.61\tRow=2\tCol=2\tCore_Row=2\tCore_Col=2\t", "")],
    "bibit": [BIBIT],
    "bicpams": [BICPAMS, BICPAMS_HTML, BICPAMS.split("\n", 1)[1]],
    "jbiclustge": [BICGE, JBICLUSTGE],
    "unpast": [UNPAST, UNPAST_OLD],
    "ebic": [EBIC, EBIC.split("\n", 1)[1], EBIC.replace("#2", "2")],
    "coalesce": [COALESCE],
    "opsm": [OPSM, OPSM.replace("\n", "\r\n")],
    "biclustlib": [BIBLIO, f"[{BIBLIO}]"],
}
CASES = [(key, text) for key, texts in FILES.items() for text in texts]


@pytest.fixture
def put(tmp_path):
    def write(text, name="solution.dat"):
        (tmp_path / name).write_text(text, encoding="utf-8", newline="")
        return tmp_path / name

    return write


def test_qubic_that_found_nothing_leaves_its_header(put):
    path = put(QUBIC[: QUBIC.index("BC000")])
    assert read_members(path, X)[1].key == "qubic"
    assert len(read_solution(path, X)) == 0
    for strange in ("# some header\n", QUBIC[: QUBIC.index("BC000")] + "Block 0: g1 g3\n"):
        with pytest.raises(FormatError, match=r"holds no block"):
            read_solution(put(strange), X, format="qubic")


def test_empty_blocks_of_qubic_are_dropped(put):
    empty = "BC002\tS=0\n Genes [2]: g1 g2 \n Conds [0]: \n\n"
    with pytest.warns(EmptyBiclusterWarning, match=r"1 empty bicluster dropped: B1\."):
        found = read_solution(put(QUBIC.replace("BC000", f"{empty}BC000", 1)), X, format="qubic")
    assert found == read_solution(put(QUBIC), X, format="qubic")


@pytest.mark.parametrize(("key", "text"), CASES, ids=[key for key, _ in CASES])
def test_recognised_by_content_and_read(put, key, text):
    path = put(text)
    document, record = read_members(path, X)
    assert record.key == key
    assert read_solution(path, X) == S
    assert read_solution(path, X, format=key) == S
    assert document.by == "index"


@pytest.mark.parametrize(("key", "text"), CASES, ids=[key for key, _ in CASES])
def test_read_without_a_matrix(put, key, text):
    document, _ = read_members(put(text))
    first = document.members[0]
    if document.by == "label":
        assert (sorted(first[0]), sorted(first[1])) == (["g1", "g3"], ["c2", "c4"])
    else:
        assert (sorted(first[0]), sorted(first[1])) == ([0, 2], [1, 3])


TOPICS = ("bertopic", "gensim", "octis")  # in test_topics.py


def test_every_format_is_tested():
    assert set(formats_of("solution")) == {
        *FILES,
        *TOPICS,
        "bivaluate",
        "cnmf",
        "csv",
        "factors",
        "gene-lists",
        "masks",
        "rds",
        "score-tables",
    }


@pytest.mark.parametrize(("key", "base"), [("bicat", 0), ("r-text", 1)], ids=["bicat-from-0", "r-from-1"])
def test_bare_numbers_count_as_the_tool_does(put, key, base):
    text = f"2 2\n{base} {2 + base}\n{1 + base} {3 + base}\n"
    solution = read_solution(put(("title\n" if key == "r-text" else "") + text), PLAIN)
    assert formats_of("solution")[key].index_base == base
    assert (solution[0].rows.tolist(), solution[0].cols.tolist()) == ([0, 2], [1, 3])


def test_names_that_hold_the_delimiter(put):
    spaced = Matrix(np.zeros((3, 2)), ("g one", "g two", "g"), ("c 1", "c 2"))
    text = "title\n2 1\ng one g\nc 2\n"
    assert read_solution(put(text), spaced)[0].rows.tolist() == [0, 2]
    with pytest.raises(FormatError, match=r"line 3: 2 rows announced, 3 found.*when the matrix is given"):
        read_solution(put(text))


def test_r_text_without_biclusters(put, tmp_path):
    none = Biclustering([], X.shape)
    for text in ("CC demo\n1 1\nNA\nNA\n0 0\n", "0\nCC demo\n"):
        assert read_solution(put(text), X) == none
        assert read_solution(put(text), X).info["title"] == "CC demo"
    write_solution(none, tmp_path / "none.txt", X=X)
    assert read_solution(tmp_path / "none.txt", X) == none
    assert is_solution(tmp_path / "none.txt")
    assert read_solution(put("CC demo\n"), X, format="r-text") == none
    with pytest.raises(FormatError, match=r"not in any format .* A single line is what R's writeBiclusterResults"):
        read_solution(put("CC demo\n"), X)
    with pytest.raises(FormatError, match=r"line 2: after the title the sizes"):
        read_solution(put("CC demo\nmore\n"), X, format="r-text")


def test_several_biclusterings_in_one_file(put):
    path = put(f"[{BIBLIO}, {BIBLIO.replace('[1, 3]', '[1]')}]")
    with pytest.raises(FormatError, match=r"holds 2 biclusterings; say which: item=0"):
        read_solution(path, X)
    assert read_solution(path, X, item=0) == S
    assert read_solution(path, X, item=1)[0].cols.tolist() == [1]
    with pytest.raises(ParameterError, match=r"item is 2"):
        read_solution(path, X, item=2)
    assert read_solution(put(BICAT), X, item=0) == S
    with pytest.raises(ParameterError, match=r"item is 1; .*BicAT.* holds one solution, item 0"):
        read_solution(put(BICAT), X, item=1)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (R_TEXT.replace("g2 g3 g5", "g2 g3"), "line 6: 3 rows announced, 2 found"),
        (R_TEXT.removesuffix("c1\n"), "line 5: the file ends within this bicluster"),
        (R_TEXT.replace("3 1\n", "three\n"), "line 5: the sizes of a bicluster are needed here"),
        (R_TEXT.replace("3 1\n", "0 1\n"), r"line 5: the bicluster is empty \(0 x 1\)"),
        ("9\n" + R_TEXT, "line 1: 9 biclusters announced, 2 found"),
        (OPSM.replace("1 2 4", "1 b 4"), "line 4: whole numbers separated by blanks are needed, found '1 b 4'"),
        (OPSM.replace("\n0\n\n", "\n"), r"line 4: the columns of this bicluster are missing\. Is the file truncated"),
        (BICAT.replace("1 2 4", "1 2"), "line 5: 3 rows announced, 2 found"),
        (QUBIC.replace("g2 g3 g5", "g2 g3"), "line 13: 3 genes announced, 2 found. Is the file truncated"),
        (QUBIC.replace(" Conds [1]: c1 \n", ""), r"line 12: this block has no line 'Conds \[n\]"),
        ("BC000\n" + QUBIC.replace("BC000", "XX000"), "line 7: Genes appear before the first block"),
        (BIBIT.replace("3;1;g2,g3,g5", "3;1;g2,g3"), "line 3: 3 rows announced, 2 found"),
        (BIBIT.replace("3;1;", "3;"), "line 3 has 3 fields, but the header has 4"),
        (BICPAMS.replace("X=[g2,g3,g5]", "X=[g2,g3]"), "line 3: 3 rows announced, 2 found. Is the file truncated"),
        (BICPAMS.replace("#2", "#3"), "3 biclusters announced, 2 found. Is the file truncated"),
        (BICPAMS.replace("X=[g2,g3,g5]", "X=[<too long>]"), "line 3: BicPAMS left the rows out"),
        (BICPAMS.replace("ID:key (1,3) Y=[c1] X=[", "??? ["), r"line 3: 'Y=\[columns\] X=\[rows\]' is needed"),
        (BICPAMS_HTML.replace("[1,2,4] [0]", "[1,2,4]"), "line 3: a table row needs two lists"),
        (BICGE.replace("Gene_names:\tg2\tg3\tg5", "Gene_names:\tg2"), "line 17: 3 Gene_names announced, 1 found"),
        (BICGE.replace("Gene_indexes:\t1\t2\t4", "Gene_indexes:\t1\tx\t4"), "line 18: Gene_indexes must be whole"),
        (BICGE.replace("Total_Biclusters:2", "Total_Biclusters:3"), "3 biclusters announced, 2 found"),
        (
            BICGE.replace("Condition_names:\tc1\nCondition_indexes:\t0\n", ""),
            "line 14: this bicluster has no conditions",
        ),
        (BICGE.replace("Bicluster 2", "Rubbish"), "line 14: 'key: value' is needed, found 'Rubbish'"),
        (JBICLUSTGE.replace("[1, 2, 4]", "[1, 2]"), 'B2: "row_labels" must be one label for each of "rows"'),
        (JBICLUSTGE.replace('"Gene indexes"', '"Gene index"'), 'B1 must be an object with "rows" and "cols"'),
        (JBICLUSTGE[:-20], "line 1: not valid JSON"),
        (UNPAST.replace("3\t1\tg2 g3 g5", "3\t1\tg2 g3"), "line 4: 3 genes announced, 2 found"),
        (UNPAST.replace("1 2 4\t0", "1 2\t0"), "line 4: different numbers of names and indexes"),
        (UNPAST.replace("1 2 4\t0", "1 x 4\t0"), "line 4: gene_indexes and sample_indexes must be whole"),
        (UNPAST.replace("\t1 2 4\t0", ""), "line 4 has 9 fields, but the header has 11"),
        (EBIC.replace("#2", "#3"), "line 1: 3 biclusters announced, 2 found. Is the file truncated"),
        (EBIC.replace("[1,2,4], [0])", "[1,2,4], [0"), r"line 3: 'Bicluster\(\[rows\],\[columns\]\)' is needed"),
        (EBIC.replace("[0])", "[])"), "line 3: rows and columns must be non-empty lists"),
        (COALESCE.replace("Conditions\tc1\n", ""), "line 7: this cluster has no Conditions"),
        ("Genes\tg1\n" + COALESCE, "line 1: Genes appear before the first Cluster"),
        (BIBLIO.replace("[[2, 0], [1, 3]]", "[[2, 0]]"), r"B1 must be an object .*or a pair \[rows, columns\]"),
        (BIBLIO.replace("[2, 0]", '["g1"]'), "partly by index and partly by label"),
        (BIBLIO[:-5], "line 1: not valid JSON"),
    ],
)
def test_damaged_files_name_the_line(put, text, words):
    with pytest.raises(FormatError, match=words):
        read_solution(put(text), X)


def test_unknown_names_give_line_and_nearest(put):
    with pytest.warns(LabelWarning, match=r"1 of the 4 row labels of .*left out: 'gg2' \(line 12\). Did you mean 'g2'"):
        assert read_solution(put(QUBIC.replace("g2 g3 g5", "gg2 g3 g5")), X)[1].rows.tolist() == [2, 4]


def masks():
    rows = [[int(i in b.rows) for b in S] for i in range(5)]
    cols = [[int(j in b.cols) for j in range(4)] for b in S]
    return rows, cols


@pytest.mark.extra("rdata")
def test_r_object(tmp_path):
    save(tmp_path / "bic.rds", biclust_object(*masks()))
    assert read_solution(tmp_path / "bic.rds", X) == S
    assert read_solution(tmp_path / "bic.rds").shape == (5, 4)
    (tmp_path / "plain.bin").write_bytes(biclust_object(*masks()))
    assert read_solution(tmp_path / "plain.bin") == S


@pytest.mark.extra("rdata")
def test_an_r_object_without_biclusters(tmp_path):
    missing = [[-(2**31)]]
    save(tmp_path / "none.rds", biclust_object(missing, missing, number=0))
    assert read_solution(tmp_path / "none.rds", X) == Biclustering([], (5, 4))


@pytest.mark.extra("rdata")
def test_damaged_r_objects(tmp_path, without):
    rows, cols = masks()
    path = tmp_path / "bic.rds"
    save(path, biclust_object(rows, cols, drop="NumberxCol"))
    with pytest.raises(FormatError, match=r"no slot NumberxCol; an object of R's class Biclust"):
        read_solution(path)
    save(path, biclust_object(rows, cols[:1]))
    with pytest.raises(FormatError, match=r"RowxNumber has 2 biclusters and NumberxCol has 1"):
        read_solution(path)
    save(path, biclust_object(rows, cols)[:100])
    with pytest.raises(FormatError, match=r"the .rds file is truncated or damaged"):
        read_solution(path)
    path.write_bytes(b"no R at all")
    with pytest.raises(FormatError, match=r"the .rds file is truncated or damaged"):
        read_solution(path)
    path.write_bytes(b"")
    with pytest.raises(FormatError, match=r"is empty"):
        read_solution(path)
    save(path, biclust_object([[0, 1]] * 5, cols))
    with pytest.raises(SolutionError, match=r"B1 is empty"):
        read_solution(path)
    with without("rdata"), pytest.raises(MissingExtraError, match=r"reading .rds needs rdata: pip install rdata$"):
        read_solution(path)


def table(path, values, rows, cols):
    lines = ["\t".join(["", *cols])] + ["\t".join([r, *map(str, line)]) for r, line in zip(rows, values, strict=True)]
    path.write_text("\n".join(lines) + "\n")


def test_isa_tables(tmp_path):
    rows, cols = masks()
    scores = np.array(rows) * [0.7, -1.5]
    table(tmp_path / "rows.tsv", scores, ROWS, ["m1", "m2"])
    table(tmp_path / "columns.tsv", np.array(cols).T * 0.3, COLS, ["m1", "m2"])
    assert read_solution(tmp_path, X) == S
    table(tmp_path / "columns.tsv", np.array(cols).T * [0.3, 0], COLS, ["m1", "m2"])
    with pytest.warns(EmptyBiclusterWarning, match=r"1 empty bicluster.* dropped: m2"):
        assert read_solution(tmp_path, X).names == ["m1"]
    table(tmp_path / "columns.tsv", np.array(cols).T[:, :1], COLS, ["m1"])
    with pytest.raises(
        FormatError, match=r"the two tables disagree: 2 biclusters in 'rows' and 1 bicluster in 'columns'"
    ):
        read_solution(tmp_path, X)


def test_fabia_tables(tmp_path):
    L = np.array([[3.0, 0], [0, 2], [-3, 2.5], [0, 0.1], [0.1, 3]])
    Z = np.array([[0.1, 0.6, -0.55, 0.6], [-0.7, 0.3, 0.55, 0.0]])
    table(tmp_path / "L.tsv", L, ROWS, ["b1", "b2"])
    table(tmp_path / "Z.tsv", Z, ["b1", "b2"], COLS)
    power = [(L[:, i] ** 2).sum() * (Z[i] ** 2).sum() for i in range(2)]
    threshold = (sum(power) / 2 / (5 * 4)) ** 0.5 / 0.5
    assert 0.1 < threshold < 2
    assert read_solution(tmp_path, X) == S


def test_folders_that_hold_no_tables(tmp_path):
    with pytest.raises(FormatError, match=r"without a pair of tables 'rows' and 'columns'"):
        read_solution(tmp_path)


@pytest.mark.parametrize(("first", "second"), [("rows", "columns"), ("L", "Z")], ids=["isa", "fabia"])
def test_damaged_tables_name_the_line(tmp_path, first, second):
    table(tmp_path / f"{first}.tsv", [[1, 0], [0, 1]], ["x1", "x2"], ["m1", "m2"])
    damaged = tmp_path / f"{second}.tsv"
    table(damaged, [[1, 0], [0, "oops"]], ["y1", "y2"], ["m1", "m2"])
    with pytest.raises(FormatError, match=rf"{second}.tsv, line 3: row 'y2', column 'm2' holds 'oops'"):
        read_solution(tmp_path)
    damaged.write_text(damaged.read_text().replace("\toops", ""))
    with pytest.raises(FormatError, match=rf"{second}.tsv, line 3 has 2 fields, but the table has 3"):
        read_solution(tmp_path)
    table(damaged, [[1, 0], [0, ""]], ["y1", "y2"], ["m1", "m2"])
    with pytest.raises(FormatError, match=rf"table '{second}' has missing or infinite scores"):
        read_solution(tmp_path)


def is_linear(detects, path, piece, end="", tries=6):
    """Whether eight times the text takes about eight times the CPU time; a pattern that backtracks takes 64 times."""

    def cpu(size):
        text = piece * (size // len(piece)) + end
        source = Source(path)
        source.__dict__.update(head=text.encode(), head_text=text, is_folder=False)
        gc.disable()  # a collection would look at whatever other tests have left
        began = time.process_time_ns()
        detects(source)
        spent = time.process_time_ns() - began
        gc.enable()
        return spent

    most = 16 * min(cpu(1 << 13) for _ in range(3)) + 20_000_000  # clocks may tick every 4 ms
    return any(cpu(1 << 16) <= most for _ in range(tries))


@pytest.fixture
def for_ever():
    """An end after 20 s of CPU time."""
    signal.signal(signal.SIGVTALRM, lambda *_: pytest.fail("a format takes for ever"))
    signal.setitimer(signal.ITIMER_VIRTUAL, 20)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, signal.SIG_DFL)


@pytest.mark.usefixtures("for_ever")
@pytest.mark.parametrize(
    "piece",
    ["1", " ", ",", "x", "1 ", "1,", "1\n", "x\n", "1 2\n", "Y=[", "Y=[]X=", "BC1 \n", '"biclusters": ', "Bicluster(["],
)
def test_no_format_takes_more_than_linear_time_to_be_recognised(tmp_path, piece):
    path = tmp_path / "x"
    path.write_text("x")
    for record in [*formats_of("matrix").values(), *formats_of("solution").values()]:
        for end in ("", "x", "\n") if record.detects is not None else ():
            assert is_linear(record.detects, path, piece, end), (record.key, end)


@pytest.mark.usefixtures("for_ever")
def test_a_pattern_that_backtracks_is_noticed(tmp_path):
    assert not is_linear(lambda source: re.search(" +x", source.head_text[::3]), tmp_path, " ", tries=1)


def test_files_of_numbers_are_recognised_at_once(tmp_path):
    members = " ".join(map(str, range(60)))
    (tmp_path / "bicat.txt").write_text(f"60 3\n{members}\n0 1 2\n")
    assert len(read_solution(tmp_path / "bicat.txt")[0].rows) == 60
    (tmp_path / "counts.txt").write_text(f"{members}\n" * 60)
    with pytest.raises(FormatError, match="not in any format of biclusters"):
        read_solution(tmp_path / "counts.txt")


def test_a_gene_list_is_one_bicluster_and_rows_are_written_as_gene_sets(tmp_path):
    X = Matrix(np.arange(12.0).reshape(4, 3), ("TP53", "MYC", "KRAS", "EGFR"), ("a", "b", "c"))
    (tmp_path / "mine.txt").write_text("# my genes\nMYC\nEGFR\n")
    found = read_solution(tmp_path / "mine.txt", X)
    assert [(b.rows.tolist(), b.cols.tolist()) for b in found] == [([1, 3], [0, 1, 2])]
    assert found.names == ["mine"]
    write_solution(Biclustering([([0, 2], [1])], X.shape), tmp_path / "sets.gmt", X=X)
    assert (tmp_path / "sets.gmt").read_text() == "B1\tcolumns: b\tTP53\tKRAS\n"
    assert read_solution(tmp_path / "sets.gmt", X)[0].rows.tolist() == [0, 2]
    with pytest.raises(SolutionError, match="give a matrix with labels"):
        write_solution(Biclustering([([0, 2], [1])], X.shape), tmp_path / "bare.gmt")

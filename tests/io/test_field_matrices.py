"""GCT, PCL, CDT and 10x folders, written here in the grammar of their tools."""

import gzip

import numpy as np
import pytest

from bivaluate import FormatError, read_matrix

GCT_2 = "#1.2\n2\t3\nNAME\tDescription\ts1\ts2\ts3\ng1\tna\t1\t2\t3\ng2\tsome text\t4\t\t6\n"
GCT_3 = (
    "#1.3\n2\t3\t2\t1\nid\tsymbol\tchr\ts1\ts2\ts3\ntissue\t\t\tliver\tlung\tskin\n"
    "7\tTP53\t17\t1\t2\t3\n8\tMYC\t8\t4\tNaN\t6\n"
)
PCL = "YORF\tNAME\tGWEIGHT\ts1\ts2\ts3\nEWEIGHT\t\t\t1\t1\t1\ng1\tfirst gene\t1\t1\t2\t3\ng2\tsecond\t1\t4\t\t6\n"
CDT = (
    "GID\tUID\tNAME\tGWEIGHT\ts1\ts2\ts3\nAID\t\t\t\tARRY0X\tARRY1X\tARRY2X\nEWEIGHT\t\t\t\t1\t1\t1\n"
    "GENE0X\tg1\tfirst\t1\t1\t2\t3\nGENE1X\tg2\tsecond\t1\t4\t\t6\n"
)


@pytest.fixture
def put(tmp_path):
    def write(text, name="m.txt"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


@pytest.mark.parametrize(
    ("text", "name", "rows"),
    [
        (GCT_2, "m.gct", ("g1", "g2")),
        (GCT_3, "m.gct", ("7", "8")),
        (PCL, "m.pcl", ("g1", "g2")),
        (CDT, "m.cdt", ("g1", "g2")),
        (
            PCL.replace("\tGWEIGHT", "")
            .replace("EWEIGHT\t\t\t", "EWEIGHT\t\t")
            .replace("\t1\t1\t2", "\t1\t2")
            .replace("second\t1", "second"),
            "m.pcl",
            ("g1", "g2"),
        ),
        (PCL.replace("EWEIGHT\t\t\t1\t1\t1\n", ""), "m.pcl", ("g1", "g2")),
    ],
    ids=["gct-1.2", "gct-1.3", "pcl", "cdt", "pcl-without-gweight", "pcl-without-eweight"],
)
@pytest.mark.parametrize("by_content", [True, False])
def test_field_formats(put, text, name, rows, by_content):
    X = read_matrix(put(text, "m.txt" if by_content else name))
    assert (X.row_labels, X.col_labels) == (rows, ("s1", "s2", "s3"))
    np.testing.assert_array_equal(X.values, [[1, 2, 3], [4, np.nan, 6]])


def test_gct_in_latin1(tmp_path):
    (tmp_path / "m.gct").write_bytes(GCT_2.replace("some text", "gène").encode("latin-1"))
    assert read_matrix(tmp_path / "m.gct").shape == (2, 3)


def test_transpose(put):
    X = read_matrix(put(GCT_2), transpose=True)
    assert (X.shape, X.row_labels) == ((3, 2), ("s1", "s2", "s3"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (GCT_2.replace("2\t3\n", "5\t3\n", 1), "line 2: 5 rows announced, 2 found. Is the file truncated"),
        (GCT_2.replace("2\t3\n", "2\t9\n", 1), "line 3: the header has 5 fields; the sizes require 11"),
        (GCT_2.replace("2\t3\n", "2 x\n", 1), "line 2: 2 sizes are needed"),
        (GCT_2.replace("2\t3\n", "999999999\t999999999\n", 1), "line 2: 999999999 x 999999999 cells cannot be read"),
        (GCT_2.replace("\t6", "\tsix"), "line 5: row 'g2', column 's3' holds 'six'"),
        ("#1.2\n2\t3\n", "line 2: the file ends before its header"),
        (GCT_3.replace("\t6\n", "\n"), "line 6 has 5 fields, but the table has 6"),
        (PCL.replace("\t6", "\tsix"), "line 4: row 'g2', column 's3' holds 'six'"),
        (PCL.replace("\t6\n", "\n"), "line 4 has 5 fields"),
        ("YORF\tNAME\tGWEIGHT\n", "line 1: no data column after 'GWEIGHT'"),
        ("YORF\tNAME\tGWEIGHT\ts1\n", "a header but no data row"),
        (CDT.replace("\t6\n", "\tsix\n"), "line 5: row 'g2', column 's3' holds 'six'"),
    ],
)
def test_damaged_field_formats_name_the_line(put, text, words):
    with pytest.raises(FormatError, match=words):
        read_matrix(put(text))


MTX = "%%MatrixMarket matrix coordinate integer general\n% made by a tool\n3 2 4\n1 1 5\n3 1 2\n2 2 7\n3 2 1\n"


@pytest.fixture
def tenx(tmp_path):
    def write(
        mtx=MTX, features="ENSG1\tTP53\tGene Expression\nENSG2\tMYC\tGene Expression\nENSG3\tKRAS\tGene Expression\n"
    ):
        folder = tmp_path / "filtered"
        folder.mkdir(exist_ok=True)
        (folder / "matrix.mtx.gz").write_bytes(gzip.compress(mtx.encode()))
        (folder / "features.tsv.gz").write_bytes(gzip.compress(features.encode()))
        (folder / "barcodes.tsv.gz").write_bytes(gzip.compress(b"AAAC-1\nAAAG-1\n"))
        return folder

    return write


def test_10x_folder(tenx):
    X = read_matrix(tenx())
    assert (X.row_labels, X.col_labels) == (("ENSG1", "ENSG2", "ENSG3"), ("AAAC-1", "AAAG-1"))
    np.testing.assert_array_equal(X.values, [[5, 0], [0, 7], [2, 1]])
    assert X.name == "filtered"


def test_old_10x_folder_and_single_files(tmp_path):
    (tmp_path / "matrix.mtx").write_text(MTX)
    (tmp_path / "genes.tsv").write_text("a\tA\nb\tB\nc\tC\n")
    (tmp_path / "barcodes.tsv").write_text("x\ny\n")
    assert read_matrix(tmp_path).row_labels == ("a", "b", "c")
    assert read_matrix(tmp_path / "matrix.mtx").row_labels is None
    (tmp_path / "p.mtx").write_text("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n2 1\n")
    assert read_matrix(tmp_path / "p.mtx").values.tolist() == [[0, 0], [1, 0]]
    (tmp_path / "a.mtx").write_text("%%MatrixMarket matrix array real general\n2 2\n1.5\n2\n3\n4\n")
    assert read_matrix(tmp_path / "a.mtx").values.tolist() == [[1.5, 3], [2, 4]]


@pytest.mark.parametrize(
    ("mtx", "words"),
    [
        (MTX.replace("3 2 4", "3 2 9"), "9 entries cannot be read|9 entries announced"),
        (MTX.replace("3 2 4", "3 2 5"), "5 entries announced, 4 found. Is the file truncated"),
        (MTX.replace("3 2 4", "3 2 3"), "line 7: more than the 3 announced"),
        (MTX.replace("2 2 7", "2 2 seven"), "line 6: 3 numbers are needed, found '2 2 seven'"),
        (MTX.replace("2 2 7", "2 2"), "line 6: 3 numbers are needed"),
        (MTX.replace("2 2 7", "9 2 7"), "outside the 3 x 2 matrix .indices are counted from 1"),
        (MTX.replace("2 2 7", "0 2 7"), "outside the 3 x 2 matrix"),
        (MTX.replace("3 2 4", "900000000000 900000000000 4"), "line 3: 900000000000 x 900000000000 cells"),
        (MTX.replace("integer", "complex"), "line 1: '%%MatrixMarket matrix coordinate real general'"),
        (MTX.replace("3 2 4", "3 2"), "line 3: the sizes of the matrix are needed"),
        (MTX.replace("3 2 4", "4 2 4"), "is 4 x 2, but there are 3 features"),
    ],
)
def test_damaged_10x(tenx, mtx, words):
    with pytest.raises(FormatError, match=words):
        read_matrix(tenx(mtx))

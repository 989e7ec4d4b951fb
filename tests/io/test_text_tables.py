"""Text tables: what is detected, what can be overridden, and how faults are named."""

import gc
import gzip
import subprocess
import sys

import numpy as np
import pytest

from bivaluate import FileError, FormatError, Matrix, ParameterError, read_matrix, write_matrix
from bivaluate.io.formats import Options
from bivaluate.io.matrices import delimited
from bivaluate.io.matrices._dialect import SAMPLE_LINES, detect, sample_of
from bivaluate.io.source import Source

LABELS = ("YAL001C", "YAL002W"), ("c1", "c2", "c3")
VALUES = [[1.5, -2.0, 3.25], [4.0, 5.5, -6e-3]]


@pytest.fixture
def table(tmp_path):
    def write(text, name="m.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
        return path

    return write


@pytest.mark.parametrize(
    "text",
    [
        "gene,c1,c2,c3\nYAL001C,1.5,-2,3.25\nYAL002W,4,5.5,-6e-3\n",
        "gene\tc1\tc2\tc3\nYAL001C\t1.5\t-2\t3.25\nYAL002W\t4\t5.5\t-6e-3",
        "gene;c1;c2;c3\nYAL001C;1,5;-2,0;3,25\nYAL002W;4,0;5,5;-6e-3\n",
        "gene\tc1\tc2\tc3\r\nYAL001C\t1,5\t-2,0\t3,25\r\nYAL002W\t4,0\t5,5\t-6e-3\r\n",
        "c1 c2 c3\nYAL001C 1.5 -2 3.25\nYAL002W 4 5.5 -6e-3\n",
        '"c1" "c2" "c3"\n"YAL001C" 1.5 -2 3.25\n"YAL002W" 4 5.5 -6e-3\n',
        '"","c1","c2","c3"\n"YAL001C",1.5,-2,3.25\n"YAL002W",4,5.5,-6e-3\n',
        "#\tGID\tc1\tc2\tc3\n16  \tYAL001C \t1.5 \t-2\t3.25\n17  \tYAL002W \t4 \t5.5\t-6e-3\n",
        "gene\tc1\tc2\tc3\t\nYAL001C\t1.5\t-2\t3.25\t\nYAL002W\t4\t5.5\t-6e-3\t\n",
        "# made by a tool\n\ngene,c1,c2,c3\n\nYAL001C,1.5,-2,3.25\nYAL002W,4,5.5,-6e-3\n\n",
        "gene|c1|c2|c3\rYAL001C|1.5|-2|3.25\rYAL002W|4|5.5|-6e-3\r",
    ],
    ids=[
        "comma",
        "tab",
        "semicolon-decimal-comma",
        "tab-crlf",
        "r-write-table",
        "r-quoted",
        "r-csv",
        "yeast",
        "trailing",
        "comments",
        "cr",
    ],
)
def test_dialects_are_detected(table, text):
    X = read_matrix(table(text))
    assert (X.row_labels, X.col_labels, X.name) == (*LABELS, "m")
    np.testing.assert_array_equal(X.values, VALUES)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
def test_encodings(table, encoding):
    path = table("gène,c1,µ2\nYAL001C,1,2\nß,3,4\n", encoding=encoding)
    X = read_matrix(path)
    assert X.row_labels == ("YAL001C", "ß")
    assert X.col_labels == ("c1", "µ2")


def test_latin1_found_late(table):
    lines = [f"g{i},1,2" for i in range(40000)]
    X = read_matrix(table("gene,a,b\n" + "\n".join(lines) + "\nß,3,4\n", encoding="latin-1"))
    assert X.row_labels[-1] == "ß"


def test_gzip(table):
    X = read_matrix(table(gzip.compress(b"gene,a,b\ng1,1,2\n"), "deep.csv.gz"))
    assert (X.shape, X.name) == ((1, 2), "deep")


def test_tables_without_labels(table):
    X = read_matrix(table("1 2 3\n4 5 6\n", "m.txt"))
    assert (X.shape, X.row_labels, X.col_labels) == ((2, 3), None, None)
    assert read_matrix(table("1\n2\n3\n")).shape == (3, 1)


def test_numeric_headers(table):
    time_points = read_matrix(table(",0,30,60\ng1,1,2,3\ng2,4,5,6\n"))
    assert (time_points.col_labels, time_points.shape) == (("0", "30", "60"), (2, 3))
    frame = read_matrix(table("0,1,2\n1.5,2.5,3.5\n0.5,0.25,1.5\n"))
    assert (frame.col_labels, frame.shape) == (("0", "1", "2"), (2, 3))
    counts = read_matrix(table("0,1,2\n3,4,5\n6,7,8\n"))
    assert (counts.col_labels, counts.shape) == (None, (3, 3))


def test_numeric_index_under_an_empty_corner(table):
    X = read_matrix(table(",a,b\n0,1.5,2\n1,3,4\n"))
    assert (X.row_labels, X.col_labels, X.shape) == (("0", "1"), ("a", "b"), (2, 2))


@pytest.mark.parametrize("corner", ["entrez_id", "Gene", "ProbeID", "gene symbol", "YORF", "o", "Unnamed: 0", '"id"'])
def test_numeric_labels_under_a_telling_corner(table, corner):
    X = read_matrix(table(f"{corner},a,b\n7157,1.5,2\n4609,3,4\n"))
    assert (X.row_labels, X.col_labels) == (("7157", "4609"), ("a", "b"))


def test_missing_cells_are_nan(table):
    X = read_matrix(table("gene,a,b,c\ng1,,NA,1\ng2,NaN,null,2\n"))
    np.testing.assert_array_equal(np.isnan(X.values), [[True, True, False], [True, True, False]])


def test_a_missing_first_cell_is_not_a_corner(table):
    X = read_matrix(table(",5.5,1.5\n3,4,5\n"))
    assert (X.shape, X.row_labels, X.col_labels) == ((2, 3), None, None)


def test_overrides(table):
    path = table("1,2;3,5\n4,5;6,5\n")
    assert read_matrix(path).values.tolist() == [[1.2, 3.5], [4.5, 6.5]]
    plain = table("1,2,3\n4,5,6\n")
    labelled = read_matrix(plain, header=True, index_cols=1)
    assert (labelled.row_labels, labelled.col_labels, labelled.values.tolist()) == (("4",), ("2", "3"), [[5, 6]])
    assert read_matrix(plain, transpose=True).values.tolist() == [[1, 4], [2, 5], [3, 6]]
    assert read_matrix(table("a\t1,5\nb\t2,5\n"), decimal=",", header=False).values.tolist() == [[1.5], [2.5]]
    assert read_matrix(table("x:1:2\ny:3:4\n"), delimiter=":").values.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"delimiter": "ab"}, "one character is needed"),
        ({"decimal": "x"}, "allowed: '.', ','"),
        ({"delimiter": ",", "decimal": ","}, "they must differ"),
        ({"index_cols": -1}, "at least 0"),
        ({"format": "csw"}, "Did you mean 'csv'"),
        ({"layer": "counts"}, "'layer' does not apply to it .only to cellranger, h5ad, hdf5, loom"),
    ],
)
def test_wrong_options(table, options, words):
    with pytest.raises(ParameterError, match=words):
        read_matrix(table("a,1,2\nb,3,4\n"), **options)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("gene,c1,c2\ng1,1,2\ng2,3,oops\n", r"line 3: row 'g2', column 'c2' holds 'oops', which is not a number"),
        ("1,2,3\n4,x,6\n7,8,9\n", r"line 2: column 2 holds 'x'"),
        ("gene,c1,c2\ng1,1,2\ng2,3\n", r"line 3 has 2 fields, but the table has 3"),
        ("gene,c1,c2\ng1,1,2\ng2,3,4,5\n", r"line 3 has 4 fields"),
        ("gene,c1,c2\ng1,1,2\ng2,1_000,3\n", r"line 3: row 'g2', column 'c1' holds '1_000'"),
        ("gene,c1,c2\ng1,1,2\ng2,3,٤\n", r"line 3: row 'g2', column 'c2'"),
        ('gene,c1,c2\ng1,1,2\n"g2,3,4\n', r"line 3: a quotation mark is opened and not closed"),
        ("gene\tc1\ng1\t1.5\ng2\t2.5\ng3\t1,5\n", r"commas are decimal marks here, say decimal=','"),
        ("gene\tc1\ng1\t1,5\ng2\t2,5\ng3\t1.5\n", r"points are decimal marks here, say decimal='\.'"),
        ("gene,c1,c2\n", r"a header but no data row"),
        ("", r"is empty"),
        ("\n \n", r"is empty"),
        ("a,b,c,d\ng1,1,2\ng2,3,4\n", r"line 1: the header has 4 fields, but line 2 has 3"),
        ("YAL001C\nYAL002W\n", r"no data column is left"),
        (b"\x00\x01\x02\x03", r"is not text \(byte 0 is 0x00\)"),
    ],
)
def test_faults_are_named(table, text, words):
    with pytest.raises(FormatError, match=words):
        read_matrix(table(text))


def test_unreadable_files(tmp_path):
    with pytest.raises(FileError, match=r"No such file"):
        read_matrix(tmp_path / "none.csv")
    with pytest.raises(FormatError, match=r"a folder without matrix\.mtx"):
        read_matrix(tmp_path)
    with pytest.raises(FileError, match=r"cannot read"):
        read_matrix("bad\0name.csv")
    with pytest.raises(FileError, match=r"not a regular file. Save the data to a file first"):
        read_matrix("/dev/null")
    with pytest.raises(FileError, match=r"found: ndarray of shape \(9, 9\); what is in memory is passed as it is"):
        read_matrix(np.zeros((9, 9)))


def test_truncated_and_damaged_gzip(table):
    whole = gzip.compress(b"gene,a,b\n" + b"g1,1,2\n" * 5000)
    for damaged in (whole[:-20], whole[: len(whole) // 2], whole[:30] + b"\xff" * 20 + whole[50:]):
        with pytest.raises(FormatError, match=r"gzip stream is (truncated or )?damaged"):
            read_matrix(table(damaged, "m.csv.gz"))


def test_an_endless_header_line_is_not_swallowed(table, limits):
    limits("io", MAX_LINE=1 << 20)
    with pytest.raises(FormatError, match=r"line 1: longer than 1 MiB"):
        read_matrix(table(b"a," * (1 << 20)))
    with pytest.raises(FormatError, match=r"line 1: longer than 1 MiB"):
        read_matrix(table(gzip.compress(b"a," * (1 << 23)), "m.csv.gz"))


def test_a_ten_gigabyte_line_costs_little(tmp_path):
    path = tmp_path / "sparse.csv"
    with path.open("wb") as stream:
        stream.write(b"gene,c1,c2")
        stream.truncate(10 << 30)
    with pytest.raises(FormatError, match=r"is not text"):
        read_matrix(path)


@pytest.mark.parametrize("name", ["m.csv", "m.tsv", "m.txt.gz", "m.csv.gz"])
def test_round_trip_to_the_last_bit(tmp_path, name):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(7, 5)) * 10.0 ** rng.integers(-300, 300, (7, 5))
    values[2, 3] = np.nan
    X = Matrix(values, tuple(f'gene "{i}", {i}' for i in range(7)), tuple(f"c\t{j}" for j in range(5)))
    write_matrix(X, tmp_path / name)
    if name.endswith("v"):
        back = read_matrix(tmp_path / name)
        assert (back.row_labels, back.col_labels) == (X.row_labels, X.col_labels)
        np.testing.assert_array_equal(back.values, values)
    else:
        np.testing.assert_array_equal(read_matrix(tmp_path / name).values, values)


def test_writing_faults(tmp_path):
    X = Matrix.of([[1.0]])
    with pytest.raises(ParameterError, match=r"cannot tell the format"):
        write_matrix(X, tmp_path / "m.what")
    with pytest.raises(FileError, match=r"cannot write"):
        write_matrix(X, tmp_path / "no" / "m.csv")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def parts(limits):
    """Read tables as large ones are read: by the fast engine, some bytes at a time."""
    return lambda size: limits(FAST_BYTES=1, _LARGEST_BLOCK=1, _BLOCK_BYTES=size)


def read_fast(path):
    """What the fast engine makes of a table; None if it leaves it to the careful reader."""
    source = Source(path)
    return delimited.read_fast(source, detect(sample_of(source.filled_lines()), source, Options()))


AWKWARD = [
    b"gene,c1,c2\ng1,1.1,2e-308\ng2,0.1234567890123456789,3\n",
    b"gene\tc1\tc2\n g1 \t 1.5 \tNA\ng2\t\t-inf\n",
    b"1;2,5\n3;4,75\n",
    b'"","a","b"\r\n"x ""y""",1,2\r\n"z",3,4\r\n',
    b"\n\n#note\n\ngene,a,b\n\ng1,1,2\n\n\ng2,3,4\n",
    b"a\tb\t\n1\t2\t\n3\t4\t\n",
    b"\xef\xbb\xbfgene,a\xc3\xa9,b\ng\xc3\xa9,1,2\n",
    b"gene,a\xe9,b\ng\xe9,1,2\n",
    b"16\tg1\t1\t2\n17\tg2\t3\t4\n",
    b"gene,a,b\ng1,+1,2\n",
    b"NA,a,b\nNA,1,2\nnull,3,4\n",
    b"gene,a,b\r\ng1,1,2\r\n \t\r\ng2,, NaN \r\n",
    b"gene,a,b\rg1,1,2\rg2,3,4\r",
    b"gene,a,b\ng1,1,2\rg2,3,4\n",
    b'gene,a,b\n"g,1","1.5"," N/A"\n"g2",nano,N\n'.replace(b"nano,N", b"2,3"),
    b"gene;a;b;\r\ng1;1,5;2e3;\r\ng2;-,5;+0;\r\n",
    b"gene,a,b\ng1,000000000000000000000.25,1234567890123456789012\ng2,.0,5.",
]


@pytest.mark.parametrize("content", AWKWARD)
def test_fast_engine_gives_identical_results_or_none(table, content):
    careful, fast = read_matrix(table(content)), read_fast(table(content))
    if fast is not None:
        np.testing.assert_array_equal(fast.values, careful.values)
        assert (fast.row_labels, fast.col_labels) == (careful.row_labels, careful.col_labels)


@pytest.mark.parametrize(
    "bad",
    ["g9,1\n", "g9,1,2,3\n", "g9,1,x\n", "g9,1,1_0\n", "g9,1,.\n", "g9,1,1e\n", "g9\n", '"g9,1,2\n', "g9,1,NAN1\n"],
)
def test_fast_engine_leaves_faults_to_the_careful_reader(table, bad):
    assert read_fast(table("gene,a,b\n" + "g1,1,2\n" * 200 + bad + "g2,3,4\n")) is None


def test_the_fast_engine_reads_numbers_as_python_does(table):
    """To the last bit: of every size and length, halfway between two floats, and with more digits than it reads itself."""
    rng = np.random.default_rng(0)
    normal, bits = rng.normal(size=400), rng.integers(0, 1 << 64, 400, dtype=np.uint64).view(np.float64)
    numbers = [*normal.tolist(), *bits[np.isfinite(bits)].tolist()]
    halfway = [2 * int(k) + 1 for k in rng.integers(1 << 52, 1 << 53, 100)]
    cells = [spelt for x in numbers for spelt in (repr(x), f"{x:.4f}", f"{x:.16e}", f"{x:.25g}")]
    cells += [spelt for k in halfway for spelt in (f"{k}", f"{k}e1", f"{5 * k}e-1", f"{k}.000", f"-{k}e7", f"{k}e60")]
    cells += ["-0", "0e999", "1e-400", "4.9e-324", "1e23", "-inf", "9007199254740993", "0." + 30 * "0" + "17"]
    values = read_fast(table("name,a,b\n" + "".join(f"g,{cell},1\n" for cell in cells))).values[:, 0].copy()
    np.testing.assert_array_equal(values.view(np.uint64), np.array([float(cell) for cell in cells]).view(np.uint64))


def test_numbers_too_large_for_a_float_are_infinite_in_tables_of_any_size(table, limits):
    path = table("name,a,b\ng,1e400,1\nh,-1e400,2\n")
    for size in (1, 1 << 40):
        limits(FAST_BYTES=size)
        assert read_matrix(path).values.tolist() == [[np.inf, 1.0], [-np.inf, 2.0]]


@pytest.mark.parametrize("block", [7, 64, 1000])
def test_blocks_of_any_size_give_the_same_table(tmp_path, parts, block):
    X = Matrix(np.random.default_rng(2).normal(size=(60, 4)).round(3), tuple(f"g{i}" for i in range(60)))
    write_matrix(X, tmp_path / "x.csv")
    parts(block)
    np.testing.assert_array_equal(read_matrix(tmp_path / "x.csv").values, X.values)


@pytest.mark.parametrize("mark", [",", " "])
def test_lines_of_too_many_fields(table, limits, mark):
    limits("io", MAX_FIELDS=50)
    with pytest.raises(FormatError, match=r"line 1: more than 50 fields\. Is this a table with line breaks\?"):
        read_matrix(table(mark.join(["1"] * 51) + "\n"))
    assert read_matrix(table(mark.join(["1.5"] * 50) + "\n")).shape == (1, 50)
    assert read_matrix(table("   ".join(["1.5"] * 20) + "\n")).shape == (1, 20)


def test_of_long_lines_fewer_tell_the_dialect(table):
    line = ",".join(["1.25"] * 50_000)
    source = Source(table("\n".join([line] * 8)))
    assert len(sample_of(source.filled_lines())) == 5
    assert len(sample_of(iter(enumerate(["1,2"] * 200)))) == SAMPLE_LINES


@pytest.mark.parametrize("packed", [False, True])
def test_tables_that_are_not_as_long_as_they_seem(tmp_path, parts, packed):
    """Rows that get shorter or longer, blank lines between them, and text that unpacks to many times its size."""
    parts(50)
    rows = [f"g{i},{'1' if 100 < i < 900 else '1.0000000000'},{i}" for i in range(1200)]
    text = "gene,a,b\n" + "\n".join(f"{row}{' ' * 60}\n \n" if i % 90 == 89 else row for i, row in enumerate(rows))
    path = tmp_path / ("x.csv.gz" if packed else "x.csv")
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    X = read_fast(path)
    np.testing.assert_array_equal(X.values, np.column_stack([np.ones(1200), np.arange(1200)]))
    assert X.row_labels == tuple(f"g{i}" for i in range(1200))


@pytest.mark.parametrize("header", ["", "gene," + ",".join("abcdefghij" * 2) + "\n"])
def test_a_byte_order_mark_before_a_long_line_is_no_part_of_the_table(tmp_path, parts, header):
    parts(7)
    rows = [f"g{i}," + ",".join([f"{i}.5"] * 20) for i in range(6)]
    (tmp_path / "x.csv").write_text(header + "\n".join(rows), encoding="utf-8-sig")
    X = read_fast(tmp_path / "x.csv")
    assert X.row_labels == tuple(f"g{i}" for i in range(6))
    np.testing.assert_array_equal(X.values, np.repeat(np.arange(6) + 0.5, 20).reshape(6, 20))


def test_large_files_take_the_fast_engine_and_small_ones_do_not_import_it(tmp_path):
    """In a process that has imported nothing: from 16 MB on, pandas reads."""
    line = "g1\t" + "\t".join(["0.1234567890123456"] * 30)
    for name, n_rows in (("small.tsv", 9), ("big.tsv", 31_000)):
        (tmp_path / name).write_text("\n".join(["gene\t" + "\t".join(f"c{j}" for j in range(30)), *[line] * n_rows]))
    code = (
        "import sys\nfrom bivaluate import read_matrix\n"
        "for name in sys.argv[1:]:\n"
        "    X = read_matrix(name)\n"
        "    print('pandas' in sys.modules, X.shape, X.values.flags.c_contiguous, (X.values == 0.1234567890123456).all())\n"
    )
    words = [sys.executable, "-c", code, "small.tsv", "big.tsv"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["False (9, 30) True True", "True (31000, 30) True True"]


@pytest.mark.parametrize("engine", ["fast", "careful"])
@pytest.mark.parametrize("name", ["big.tsv", "big.csv.gz"])
def test_very_large_tables_stay_on_disk(tmp_path, temporary, limits, engine, name):
    rng = np.random.default_rng(1)
    X = Matrix(rng.normal(size=(900, 7)), tuple(f"g{i}" for i in range(900)), tuple(f"c{j}" for j in range(7)))
    write_matrix(X, tmp_path / name)
    limits(STREAMED_BYTES=1000, _SPILLED_CELLS=100, FAST_BYTES=1000 if engine == "fast" else 1 << 40)
    back = read_matrix(tmp_path / name)
    assert not back.in_memory
    assert (back.row_labels, back.col_labels) == (X.row_labels, X.col_labels)
    np.testing.assert_array_equal(back.source.take(np.array([0, 450, 899])), X.values[[0, 450, 899]])
    np.testing.assert_array_equal(back.values, X.values)
    [held] = temporary.iterdir()
    del back
    gc.collect()
    assert not held.exists(), "the numbers go with the matrix"
    (tmp_path / "bad.csv").write_text("gene,a,c,b\n" + "g1,1.5,3,2\n" * 200 + "g9,1,2,x\n")
    with pytest.raises(FormatError, match=r"line 202: row 'g9', column 'b' holds 'x', which is not a number"):
        read_matrix(tmp_path / "bad.csv")
    assert not list(temporary.iterdir()), "nothing is left behind"


@pytest.mark.parametrize("end", ["", "\n" * 500])
def test_parts_of_a_very_large_table_that_hold_no_row(tmp_path, parts, limits, end):
    """A first line longer than what is read at once, and blank lines at the end."""
    parts(7)
    limits(STREAMED_BYTES=1)
    lines = [",".join([f"g{i}", *[f"{i}.5"] * 90]) for i in range(5)]
    (tmp_path / "x.csv").write_text(
        "gene," + ",".join(f"c{j}" for j in range(90)) + "\n" + "\n".join(lines) + "\n" + end
    )
    X = read_matrix(tmp_path / "x.csv")
    assert not X.in_memory
    np.testing.assert_array_equal(X.values, np.repeat(np.arange(5) + 0.5, 90).reshape(5, 90))


def test_a_full_disk_is_named(tmp_path, temporary, limits):
    temporary.rmdir()
    limits(STREAMED_BYTES=1)
    (tmp_path / "m.csv").write_text("gene,a,b\ng1,1,2\n")
    with pytest.raises(
        FileError, match=r"cannot write temporary rows to .*temporary.*Set TMPDIR to a folder with room"
    ):
        read_matrix(tmp_path / "m.csv")


def test_numbers_in_a_description_do_not_make_white_space_the_delimiter(tmp_path):
    path = tmp_path / "m.tsv"
    lines = ["gene\ta\tb\tc\tnote", *(f"g{i}\t1.5\t2\t{i}\tprotein {i}" for i in range(8))]
    path.write_text("\n".join(lines))
    words = (
        r"line 2: row 'g0', column 'note' holds 'protein 0', which is not a number. If the whole column is text, remove"
    )
    with pytest.raises(FormatError, match=words):
        read_matrix(path)
    path.write_text("\n".join(line.rpartition("\t")[0] for line in lines))
    assert read_matrix(path).shape == (8, 3)

"""Files made to hurt: refused in words, within 512 MB and 10 s of work more than their size needs."""

import bz2
import gzip
import io
import json
import lzma
import os
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from numpy.lib import format as npy

from bivaluate import read_matrix, read_solution
from bivaluate._errors import BivaluateError, FormatError
from bivaluate.io import source, trial
from bivaluate.io.formats import Format, Options
from bivaluate.io.matrices import delimited
from bivaluate.io.source import Source
from tests.io.rds_writer import _int, _pair, _text, biclust_object

linux = pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are kept by Linux")


def header(text):
    words = text.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(words)) + words


@pytest.mark.parametrize(
    "head",
    [
        "{'descr': 'V0', 'fortran_order': False, 'shape': (2, 3), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (True, 3), }",
        "{'descr': '<M8[s]', 'fortran_order': False, 'shape': (2, 3), }",
        "{'descr': ('<f8', (2, 3)), 'fortran_order': False, 'shape': (2, 3), }",
        "{'descr': '<U0', 'fortran_order': True, 'shape': (1099511627776, 0), }",
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_headers_of_npy_that_no_array_has(tmp_path, head, packed):
    content = header(head) + bytes(4000)
    path = tmp_path / ("x.npz" if packed else "x.npy")
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("X.npy", content)
    path.write_bytes(stream.getvalue() if packed else content)
    with pytest.raises(BivaluateError):
        read_matrix(path)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("key", ["rows", "format"])
def test_characters_that_unicode_does_not_have(tmp_path, order, key):
    words = np.array(["ab", "cd"], dtype=f"{order}U2")
    words.view(f"{order}u4")[1] = 0x110000
    np.savez(tmp_path / "x.npz", **{"X": np.ones((2, 3)), "shape": [2, 3], "data": [1.0], key: words})
    with pytest.raises(FormatError, match="is damaged: it holds characters beyond Unicode"):
        read_matrix(tmp_path / "x.npz")


@pytest.mark.parametrize("error", [SystemError("bad"), AttributeError("x"), MemoryError(), RecursionError()])
def test_whatever_a_library_raises_becomes_a_format_error(tmp_path, error):
    def read(*_):
        raise error

    (tmp_path / "x").write_text("1")
    with pytest.raises(FormatError, match=r"x: (the file is truncated or damaged|reading it takes more memory)"):
        Format("any", "any", (), None, read).load(Source(tmp_path / "x"), Options())


@pytest.mark.parametrize("tail", [b"\x00\xd8", b"\x00\xd8\x00", b"\x00\xdc1\x00", b"1"])
@pytest.mark.parametrize("read", [read_matrix, read_solution])
def test_utf16_with_half_a_character(tmp_path, tail, read):
    (tmp_path / "x.csv").write_bytes("a,b\n1,2\n".encode("utf-16") + tail)
    with pytest.raises(BivaluateError):
        read(tmp_path / "x.csv")


@pytest.mark.extra("parquet")
def test_parquet_with_names_that_are_not_text(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet

    pa.parquet.write_table(pa.table({"columnA": [1.0, 2.0], "b": [1.0, 2.0]}), tmp_path / "x.parquet")
    whole = (tmp_path / "x.parquet").read_bytes()
    (tmp_path / "x.parquet").write_bytes(whole.replace(b"columnA", b"\xff\xfe\xff\xff\xff\xff\xff"))
    with pytest.raises(FormatError, match="parquet"):
        read_matrix(tmp_path / "x.parquet")


@pytest.mark.extra("anndata")
def test_a_type_in_the_place_of_data(tmp_path):
    import h5py

    with h5py.File(tmp_path / "x.h5ad", "w") as file:
        file["X"] = np.dtype("f8")
        file["obs"] = file["var"] = np.dtype("f8")
    with pytest.raises(FormatError, match="is a type without data"):
        read_matrix(tmp_path / "x.h5ad")


@pytest.mark.extra("anndata")
def test_labels_that_are_nowhere_stored(tmp_path):
    import h5py

    with h5py.File(tmp_path / "x.h5ad", "w") as file:
        file["X"] = np.ones((2, 3))
        for key in ("obs", "var"):
            file.create_dataset(f"{key}/_index", shape=(1 << 26,), dtype="S8", chunks=(1000,))
    assert (tmp_path / "x.h5ad").stat().st_size < 20_000
    with pytest.raises(FormatError, match=r"_index claims 536,870,912 bytes, and 0 are stored"):
        read_matrix(tmp_path / "x.h5ad")


@pytest.mark.extra("zarr")
def test_labels_that_no_zarr_folder_stores(tmp_path):
    import zarr

    root = zarr.open_group(tmp_path / "x.zarr", mode="w", zarr_format=2)
    root.create_array("X", data=np.ones((2, 3)))
    for key in ("obs", "var"):
        root.create_group(key).create_array("_index", shape=(1 << 23,), dtype="S8", chunks=(1000,))
    with pytest.raises(FormatError, match=r"_index claims 67,108,864 bytes, and \d+ are stored"):
        read_matrix(tmp_path / "x.zarr")


@linux
@pytest.mark.extra("rdata")
def test_a_small_rds_that_asks_for_gigabytes(tmp_path):
    info = _int(2) + _int(1) + _text("compact_intseq") + _int(2) + _int(1) + _text("base") + _int(2, 13, 1, 13, 254)
    sequence = _int(238) + info + _int(14, 3) + struct.pack(">3d", 1 << 29, 1, 1) + _int(254)
    whole = biclust_object([[1], [0]], [[1, 0]])
    body = whole.replace(_pair("Parameters", _int(19, 0)), _pair("Parameters", sequence))
    assert body != whole
    (tmp_path / "x.rds").write_bytes(gzip.compress(body))
    with pytest.raises(FormatError, match=r"bytes that take more than 512 MB of memory"):
        read_solution(tmp_path / "x.rds")


def test_text_that_unpacks_to_far_more_than_numbers_do(tmp_path, monkeypatch):
    monkeypatch.setattr(source, "FREE_UNPACKED", 1 << 20)
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b"ab,1\n" * 400_000))
    with pytest.raises(FormatError, match="unpacks to more than 300 times its"):
        read_matrix(tmp_path / "x.csv.gz")
    with pytest.raises(FormatError, match="unpacks to more than 300 times its"):
        read_solution(tmp_path / "x.csv.gz", format="csv")


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_text_with_more_lines_than_packed_bytes(tmp_path, monkeypatch, end):
    monkeypatch.setattr(source, "FREE_LINES", 1000)
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(b"".join((b"ab,1", end)) * 8_000 + b"ab,x"))
    for read in (read_matrix, lambda path: read_solution(path, format="csv")):
        with pytest.raises(FormatError, match=f"holds more lines than its {path.stat().st_size} compressed bytes"):
            read(path)
    path.write_bytes(gzip.compress(b"ab,1\n" * 900 + b"ab,x\n"))
    with pytest.raises(FormatError, match="line 901: row 'ab', column 2 holds 'x'"):
        read_matrix(path)


@pytest.mark.extra("parquet")
def test_the_fast_reader_counts_what_is_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "FAST_BYTES", 1000)
    monkeypatch.setattr(source, "FREE_UNPACKED", 1 << 20)
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(b"a,1,2,3\n" * 300_000))
    with pytest.raises(FormatError, match="unpacks to more than 300 times its"):
        read_matrix(path)
    monkeypatch.setattr(source, "MOST_UNPACKED", 2000)
    monkeypatch.setattr(source, "FREE_LINES", 1000)
    with pytest.raises(FormatError, match="holds more lines than its"):
        read_matrix(path)


def test_what_unpacks_to_a_lot_is_unpacked_to_its_end_before_anything_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(source, "LOOKED_AFTER", 1 << 17)
    table, array, archive = tmp_path / "x.csv.gz", tmp_path / "x.npy.gz", tmp_path / "x.npz"
    X = np.tile(np.arange(1.0, 51), (2000, 1))
    np.savetxt(tmp_path / "x.csv", X, delimiter=",")
    np.save(tmp_path / "x.npy", X)
    np.savez_compressed(archive, X=X)
    for path in (table, array):
        path.write_bytes(gzip.compress(path.with_suffix("").read_bytes()))
    parse, loaded = Source.lines, npy.read_array_header_1_0
    for path in (table, array, archive):
        assert np.array_equal(read_matrix(path).values, X)
        whole = path.read_bytes()
        at = whole.index(b"PK\x01\x02") + 16 if path == archive else len(whole) - 8
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    assert len(table.read_bytes()) * source.LOOKED_THROUGH < X.size * 25
    rows = []
    monkeypatch.setattr(Source, "lines", lambda *given: (rows.append(found) or found for found in parse(*given)))
    with pytest.raises(FormatError, match="the gzip stream is truncated or damaged"):
        read_matrix(table)
    assert len(rows) < 300
    with pytest.raises(FormatError, match="damaged"):
        read_matrix(array)
    headers = []
    monkeypatch.setattr(npy, "read_array_header_1_0", lambda stream: headers.append(1) or loaded(stream))
    with pytest.raises(FormatError, match=r"the \.npz archive is truncated or damaged \(Bad CRC-32"):
        read_matrix(archive)
    assert not headers


def test_arrays_that_claim_more_than_they_can_unpack_to(tmp_path):
    content = header("{'descr': '<f8', 'fortran_order': False, 'shape': (30000, 3000), }") + bytes(4000)
    (tmp_path / "x.npy.gz").write_bytes(gzip.compress(content))
    with pytest.raises(FormatError, match="is truncated: shape"):
        read_matrix(tmp_path / "x.npy.gz")


@pytest.mark.parametrize(("program", "pack"), [("bzip2", bz2.compress), ("xz", lzma.compress)])
@pytest.mark.parametrize("read", [read_matrix, read_solution])
def test_other_packings_are_named(tmp_path, program, pack, read):
    (tmp_path / "x.csv").write_bytes(pack(b"1,2,3\n" * 50))
    with pytest.raises(FormatError, match=f"is compressed with {program}; unpack it first, or compress it with gzip"):
        read(tmp_path / "x.csv")


@pytest.mark.extra("excel")
def test_a_workbook_that_unpacks_to_far_more_than_numbers_do(tmp_path):
    import openpyxl

    book = openpyxl.Workbook()
    book.active.append(["g", 1, 2])
    book.save(tmp_path / "small.xlsx")
    cells = b"<row>" + b"<c><v>1</v></c>" * 3 + b"</row>"
    with zipfile.ZipFile(tmp_path / "small.xlsx") as old, zipfile.ZipFile(tmp_path / "x.xlsx", "w", 8) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b"</sheetData>", cells * 90_000 + b"</sheetData>"))
    with pytest.raises(FormatError, match="unpacks to more than 30 times its"):
        read_matrix(tmp_path / "x.xlsx")


@pytest.fixture
def hurtful(monkeypatch):
    """A helper whose readers do what damaged files make libraries do."""
    code = (
        "import os, sys, time\n"
        "from bivaluate.io import formats, trial\n"
        "trial.SECONDS = 1\n"
        "def read(source, options):\n"
        "    what = source.path.read_text()\n"
        "    if what == 'hang':\n"
        "        while True: pass\n"
        "    if what == 'crash': os.abort()\n"
        "    if what == 'crash later':\n"
        "        sys.last_file = what\n"
        "        return formats.Matrix([[1.0]])\n"
        "    if what == 'sound':\n"
        "        if hasattr(sys, 'last_file'): os.abort()\n"
        "        return formats.Matrix([[1.0]])\n"
        "    if what == 'grow':\n"
        "        sys.held = bytearray(b'x') * trial.GROWN\n"
        "        return formats.Matrix([[1.0]])\n"
        "    if what == 'leave': os._exit(0)\n"
        "    if what == 'memory': return bytearray(1 << 31)\n"
        "    if what == 'refuse': raise formats.FormatError('refused')\n"
        "    raise formats.ParameterError('which?')\n"
        "record = formats.Format('any', 'any', (), None, read)\n"
        "formats.reader = lambda *_: record\n"
        "trial.main()\n"
    )
    start = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda words, **options: start([sys.executable, "-c", code], **options))
    trial._end()
    yield
    trial._end()


@linux
def test_what_a_trial_ends_in(tmp_path, hurtful):
    messages = {
        "hang": "takes longer than 10 s of work",
        "crash": "its library ended by signal 6",
        "memory": "6 bytes that take more than 512 MB of memory to read",
        "leave": "its library ended the process",
        "refuse": "^refused$",
    }
    for what, message in messages.items():
        (tmp_path / "x").write_text(what)
        with pytest.raises(FormatError, match=message):
            trial.check(Source(tmp_path / "x"), "matrix", "any")
    (tmp_path / "x").write_text("ask")
    trial.check(Source(tmp_path / "x"), "matrix", "any")
    assert trial._helper is not None
    os.kill(trial._helper[1].pid, 9)
    trial.check(Source(tmp_path / "x"), "matrix", "any")  # with a new helper


def readers():
    """Return the processes that the helper has started and not ended."""
    helper = trial._helper[1].pid
    return Path(f"/proc/{helper}/task/{helper}/children").read_text().split()


@linux
def test_a_reader_stays_while_files_are_sound(tmp_path, hurtful):
    def read(what):
        (tmp_path / "x").write_text(what)
        trial.check(Source(tmp_path / "x"), "matrix", "any")
        return readers()

    (first,) = read("sound")
    assert read("sound") == [first]
    with pytest.raises(FormatError, match="refused"):
        read("refuse")
    (second,) = read("crash later")
    assert second != first
    (third,) = read("sound")  # in which the second one crashed: a new one was asked
    assert third != second
    assert read("grow") == []
    assert len(read("sound")) == 1


@linux
@pytest.mark.extra("anndata")
def test_a_reader_keeps_no_file_open(tmp_path):
    import h5py

    trial._end()
    for n in range(2, 4):
        with h5py.File(tmp_path / "x.h5", "w") as file:  # which HDF5 refuses while somebody reads it
            file["numbers"] = np.ones((n, 3))
        assert read_matrix(tmp_path / "x.h5").shape == (n, 3)
        (reader,) = readers()
        held = [os.readlink(f"/proc/{reader}/fd/{name}") for name in os.listdir(f"/proc/{reader}/fd")]
        assert not [path for path in held if path.endswith("x.h5")]


@pytest.mark.extra("anndata")
@pytest.mark.skipif(not trial.is_possible(), reason="no fork here")
def test_one_trial_for_a_refused_file(tmp_path, monkeypatch):
    import h5py

    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["numbers"] = np.ones(3)
    asked, ask = [], trial._ask
    monkeypatch.setattr(trial, "_ask", lambda request: asked.append(request["key"]) or ask(request))
    with pytest.raises(FormatError, match="is an HDF5 file, but not of AnnData"):
        read_matrix(tmp_path / "x.h5")
    assert asked == [""]


@pytest.mark.extra("anndata")
@pytest.mark.skipif(not trial.is_possible(), reason="no fork here")
def test_an_answer_nobody_waited_for_is_not_that_to_the_next_file(tmp_path, monkeypatch):
    import h5py

    for name, values in (("sound", np.ones((2, 3))), ("refused", np.ones(3))):
        with h5py.File(tmp_path / f"{name}.h5", "w") as file:
            file["numbers"] = values

    def interrupt(package):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(trial, "_load", interrupt)  # what is done between question and answer
        with pytest.raises(KeyboardInterrupt):
            read_matrix(tmp_path / "refused.h5")
    assert read_matrix(tmp_path / "sound.h5").shape == (2, 3)


def test_a_name_of_any_kind_reaches_the_helper(tmp_path):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/x\xff.npy")
    np.save(path, np.ones((2, 3)))
    assert read_matrix(path).shape == (2, 3)
    assert json.dumps(path)


@pytest.mark.extra("anndata")
@pytest.mark.skipif(not trial.is_possible(), reason="no fork here")
def test_the_helper_starts_no_helper_of_its_own(tmp_path):
    import h5py

    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["numbers"] = np.ones((2, 3))
    code = (
        "import os, runpy\n"
        "from bivaluate.io import trial\n"
        "trial._started = lambda: os._exit(3)\n"
        "runpy.run_module('bivaluate.io.trial', run_name='__main__', alter_sys=True)\n"
    )
    size = (tmp_path / "x.h5").stat().st_size
    request = {
        "path": str(tmp_path / "x.h5"),
        "name": "x.h5",
        "kind": "matrix",
        "size": size,
        "options": {},
        "package": "h5py",
    }
    asked = "".join(json.dumps({**request, "key": key}) + "\n" for key in ("", "hdf5"))
    path = os.pathsep.join([os.getcwd(), *sys.path])
    words = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(words, input=asked, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path})
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    read = {"signal": 0, "end": trial._READ, "error": "", "stays": True}
    assert answers == [{**read, "recognised": "hdf5"}, {**read, "recognised": ""}], done.stderr

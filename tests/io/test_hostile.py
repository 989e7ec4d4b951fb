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
import time
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest

from bivaluate import BivaluateError, FormatError, Matrix, read_matrix, read_solution
from bivaluate.io import source, trial
from bivaluate.io.formats import Format, Options
from bivaluate.io.matrices import _hdf5
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
    with pytest.raises(FormatError, match=r"a sequence of 536870912 numbers, and \d+ bytes"):
        read_solution(tmp_path / "x.rds")


def test_text_that_unpacks_to_far_more_than_numbers_do(tmp_path, limits):
    limits(FREE_UNPACKED=1 << 17)
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b"ab,1\n" * 60_000))
    with pytest.raises(FormatError, match="unpacks to more than 300 times its"):
        read_matrix(tmp_path / "x.csv.gz")
    with pytest.raises(FormatError, match="unpacks to more than 300 times its"):
        read_solution(tmp_path / "x.csv.gz", format="csv")


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_text_with_more_lines_than_packed_bytes(tmp_path, limits, end):
    limits(FREE_LINES=1000)
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(b"".join((b"ab,1", end)) * 8_000 + b"ab,x"))
    for read in (read_matrix, lambda path: read_solution(path, format="csv")):
        with pytest.raises(FormatError, match=f"holds more lines than its {path.stat().st_size} compressed bytes"):
            read(path)
    path.write_bytes(gzip.compress(b"ab,1\n" * 900 + b"ab,x\n"))
    with pytest.raises(FormatError, match="line 901: row 'ab', column 2 holds 'x'"):
        read_matrix(path)


@pytest.mark.extra("parquet")
def test_the_fast_reader_counts_what_is_unpacked(tmp_path, limits):
    limits(FAST_BYTES=100, FREE_UNPACKED=1 << 17)
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(b"a,1,2,3\n" * 60_000))
    with pytest.raises(FormatError, match="unpacks to more than 300 times its"):
        read_matrix(path)
    limits("io", MOST_UNPACKED=2000, FREE_LINES=1000)
    with pytest.raises(FormatError, match="holds more lines than its"):
        read_matrix(path)


def test_what_unpacks_to_a_lot_is_unpacked_to_its_end_before_anything_is_kept(tmp_path, limits):
    """Damage at the end is named, and not the cell or the header that would be met before it."""
    limits(LOOKED_AFTER=1 << 17)
    table, array, archive = tmp_path / "x.csv.gz", tmp_path / "x.npy.gz", tmp_path / "x.npz"
    X = np.tile(np.arange(1.0, 51), (2000, 1))
    np.savetxt(tmp_path / "x.csv", X, delimiter=",")
    np.save(tmp_path / "x.npy", X)
    np.savez_compressed(archive, X=X)
    for path in (table, array):
        path.write_bytes(gzip.compress(path.with_suffix("").read_bytes()))
    for path in (table, array, archive):
        assert np.array_equal(read_matrix(path).values, X)
    lines = (tmp_path / "x.csv").read_bytes().splitlines(keepends=True)
    lines[400] = b"no number" + lines[400][lines[400].index(b",") :]
    table.write_bytes(gzip.compress(b"".join(lines)))
    assert len(table.read_bytes()) * source.LOOKED_THROUGH < X.size * 25
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as opened:
        opened.writestr("X.npy", (tmp_path / "x.npy").read_bytes().replace(b"'<f8'", b"'<U0'"))
    for path, here, at_the_end in (
        (table, "line 401: .*'no number'", "the gzip stream is truncated or damaged"),
        (array, None, "damaged"),
        (archive, "itemsize cannot be zero", r"the \.npz file is truncated or damaged \(Bad CRC-32"),
    ):
        if here:
            with pytest.raises(FormatError, match=here):
                read_matrix(path)
        whole = path.read_bytes()
        at = whole.index(b"PK\x01\x02") + 16 if path == archive else len(whole) - 8
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(FormatError, match=at_the_end):
            read_matrix(path)


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
    """A process that does what damaged files make libraries do."""
    code = (
        "import os, pathlib, time\n"
        "from bivaluate.io import formats, trial\n"
        "trial.SECONDS = 0\n"
        "def read(request):\n"
        "    what = pathlib.Path(request['path']).read_text()\n"
        "    while what == 'hang': pass\n"
        "    if what == 'crash': os.abort()\n"
        "    if what == 'leave': os._exit(0)\n"
        "    if what == 'memory': bytearray(1 << 31)\n"
        "    if what == 'refuse': raise formats.FormatError('refused')\n"
        "    if what == 'ask': raise formats.ParameterError('which?')\n"
        "    if what == 'sleep': time.sleep(600)\n"
        "trial._read = read\n"
        "trial.main()\n"
    )
    start = subprocess.run
    monkeypatch.setattr(subprocess, "run", lambda words, **options: start([*words[:2], "-c", code], **options))
    return code


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
            trial.check("matrix", tmp_path / "x", {})
    (tmp_path / "x").write_text("ask")
    trial.check("matrix", tmp_path / "x", {})


@linux
def test_a_process_that_waits_ends_with_its_owner(tmp_path, hurtful):
    (tmp_path / "x").write_text("sleep")
    words = [sys.executable, "-c", hurtful]
    request = {"kind": "matrix", "path": str(tmp_path / "x"), "name": "x", "size": 5, "options": {}, "X": None}
    owner = (
        "import json, os, subprocess, sys\n"
        "request = {**json.loads(sys.argv[1]), 'parent': os.getpid()}\n"
        "child = subprocess.Popen(json.loads(sys.argv[2]), stdin=subprocess.PIPE, text=True)\n"
        "child.stdin.write(json.dumps(request))\n"
        "child.stdin.close()\n"
        "print(child.pid, flush=True)\n"
        "child.wait()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", owner, json.dumps(request), json.dumps(words)], stdout=subprocess.PIPE, text=True
    ) as process:
        child = int(process.stdout.readline())
        while "nanosleep" not in (state := Path(f"/proc/{child}/wchan").read_text()) and "poll" not in state:
            time.sleep(0.05)  # until it sleeps, or the system hides what it waits for
            if state == "0" and "\nState:\tS" in Path(f"/proc/{child}/status").read_text():
                time.sleep(3)
                break
        process.kill()
    while Path(f"/proc/{child}").exists() and "\nState:\tZ" not in Path(f"/proc/{child}/status").read_text():
        time.sleep(0.05)


@pytest.mark.parametrize("way", ["argument", "environment"])
def test_files_are_tried_only_where_that_is_asked_for(tmp_path, monkeypatch, tried, way):
    (tmp_path / "x.csv").write_text("g,a,b\nr,1,2\ns,3,5\n")
    (tmp_path / "s.csv").write_text("bicluster,rows,cols\nB1,r s,a b\n")
    X = read_matrix(tmp_path / "x.csv")
    read_solution(tmp_path / "s.csv", X)
    assert tried == []
    if way == "environment":
        monkeypatch.setenv("BIVALUATE_UNTRUSTED", "1")
    read_matrix(tmp_path / "x.csv", untrusted=way == "argument")
    read_solution(tmp_path / "s.csv", X, untrusted=way == "argument")
    assert tried == ["matrix", "solution"]


def test_what_the_trial_passes_is_read(tmp_path):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/x\xff.npy")
    np.save(path, np.ones((2, 3)))
    assert read_matrix(path, untrusted=True).shape == (2, 3)
    (tmp_path / "s.txt").write_text("CC\n1 2\ng 1\na b\n")
    X = Matrix(np.ones((2, 2)), ("g 1", "h"), ("a", "b"))
    assert read_solution(tmp_path / "s.txt", X, untrusted=True)[0].shape == (1, 2)
    (tmp_path / "y.csv").write_text("g,a\nr,1\ns\n")
    with pytest.raises(FormatError, match=r"y.csv, line 3 has 1 field"):
        read_matrix(tmp_path / "y.csv", untrusted=True)


MODULES = ("h5py", "numpy", "random", "json", "pip", "scipy", "bivaluate")


@linux
@pytest.mark.extra("anndata")
def test_code_beside_the_data_is_not_run(tmp_path):
    """Neither by helper processes nor by what they load."""
    import h5py

    for name in MODULES:
        (tmp_path / f"{name}.py").write_text("import os\nopen('ran', 'w').close()\nos._exit(7)\n")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["numbers"] = np.random.default_rng(0).normal(size=(20, 8))
    code = (
        "from contextlib import suppress\n"
        "from pathlib import Path\n"
        "from bivaluate import read_matrix\n"
        "from bivaluate._errors import FileError\n"
        "from bivaluate.datasets import cache\n"
        "from bivaluate.sweep import Plan, Sweep\n"
        "assert read_matrix('x.h5', untrusted=True).shape == (20, 8)\n"
        "with suppress(FileError):\n"
        "    cache._download(next(iter(cache.ARCHIVES.values())), Path('.'), None)\n"
        "done = Sweep(Plan(['x.h5'], ['cca'], k=[2]), 'run', jobs=2).run().results\n"
        "assert done['status'].tolist() == ['ok'], done\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PIP_NO_INDEX": "1"}
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "ran").exists()


@pytest.fixture
def pipe(tmp_path):
    """A pipe nobody writes to: whoever opens it waits for ever."""
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


@linux
@pytest.mark.extra("anndata")
@pytest.mark.parametrize("place", ["X", "var", "layers", "raw", "matrix", "row_attrs", "mod", "numbers", "external"])
def test_links_out_of_an_hdf5_file_are_not_followed(tmp_path, pipe, place):
    import h5py

    with h5py.File(tmp_path / "x.h5", "w") as file:
        if place == "external":
            file.create_dataset("numbers", (4, 4), "f8", external=[(str(pipe), 0, 128)])
        else:
            file[place] = h5py.ExternalLink(str(pipe), "/")
        if place in ("X", "var", "layers", "raw"):
            for key in {"X", "obs", "var"} - {place}:
                file[key] = np.ones((2, 3))
    with pytest.raises(BivaluateError):
        read_matrix(tmp_path / "x.h5", layer=place if place in ("raw", "numbers") else None)


@pytest.mark.extra("anndata")
def test_labels_that_share_one_long_text(tmp_path, limits):
    import h5py

    with h5py.File(tmp_path / "x.h5ad", "w") as file:
        file["X"] = np.ones((2, 3))
        for key in ("obs", "var"):
            labels = file.create_dataset(
                f"{key}/_index", (1 << 12,), h5py.string_dtype(), chunks=(1 << 12,), compression=9
            )
            labels[:] = "x"
    names = _hdf5.strings
    with h5py.File(tmp_path / "x.h5ad") as file:
        assert len(names(file["obs/_index"], "x")) == 1 << 12
        limits(FREE_BYTES=1)
        with pytest.raises(FormatError, match="holds labels of more than"):
            _hdf5._labels(_Small(file["obs/_index"]), "x")


@pytest.mark.extra("anndata")
@pytest.mark.parametrize(
    "stored",
    [{}, {"chunks": (4,)}, {"chunks": (4,), "compression": 1}, {"chunks": (4,), "compression": 1, "shuffle": True}],
)
def test_a_label_that_claims_to_be_longer_than_its_file(tmp_path, stored):
    import h5py

    def write(long):
        with h5py.File(tmp_path / "x.h5ad", "w") as file:
            file["X"] = np.ones((6, 4))
            for key, n in (("obs", 6), ("var", 4)):
                names = file.create_dataset(f"{key}/_index", (n,), h5py.string_dtype(), **stored)
                names[:] = [f"{key}{i}" for i in range(n)]
            if not long:
                return None
            if not stored:
                return names.id.get_offset()
            file.flush()
            at = names.id.get_chunk_info(0).chunk_offset
            lengths = np.zeros((4, 4), "<u4")
            lengths[1, 0] = 1 << 31
            data = lengths.tobytes()
            data = lengths.view(np.uint8).reshape(4, 16).T.tobytes() if stored.get("shuffle") else data
            names.id.write_direct_chunk(at, zlib.compress(data) if "compression" in stored else data)
            return None

    write(long=False)
    assert read_matrix(tmp_path / "x.h5ad").row_labels == ("var0", "var1", "var2", "var3")
    if (offset := write(long=True)) is not None:
        whole = bytearray((tmp_path / "x.h5ad").read_bytes())
        whole[offset + 16 : offset + 20] = (1 << 31).to_bytes(4, "little")
        (tmp_path / "x.h5ad").write_bytes(whole)
    with pytest.raises(FormatError, match=r"/var/_index holds a label of 2,147,483,648 bytes, and the file has"):
        read_matrix(tmp_path / "x.h5ad")


class _Small:
    """Labels of a file that is said to be small."""

    def __init__(self, node):
        self.name, self.shape, self.dtype, self.node = node.name, node.shape, node.dtype, node
        self.file = self
        self.id = self

    def get_filesize(self):
        return 1

    def __getitem__(self, part):
        return self.node[part]


def zarr_folder(path, **options):
    import zarr

    root = zarr.open_group(path, mode="w", zarr_format=options.pop("zarr_format", 2))
    root.create_array("X", data=np.ones((20, 30)), **options)
    return path


@pytest.mark.extra("zarr")
def test_zarr_with_codecs_that_may_run_code(tmp_path):
    zarr_folder(tmp_path / "x.zarr")
    described = tmp_path / "x.zarr" / "X" / ".zarray"
    content = json.loads(described.read_text())
    for codec in ("pickle", "json2", "bz2"):
        described.write_text(json.dumps({**content, "filters": [{"id": codec}]}))
        with pytest.raises(FormatError, match=rf"x.zarr.*({codec}.*which is not read|truncated or damaged)"):
            read_matrix(tmp_path / "x.zarr")


@linux
@pytest.mark.extra("zarr")
@pytest.mark.parametrize("version", [2, 3])
def test_zarr_with_chunks_that_are_no_files_of_the_folder(tmp_path, pipe, version):
    folder = zarr_folder(tmp_path / "x.zarr", zarr_format=version)
    assert read_matrix(folder).values.sum() == 600
    chunk = folder / "X" / ("0.0" if version == 2 else "c/0/0")
    chunk.unlink()
    os.mkfifo(chunk)
    with pytest.raises(BivaluateError, match="is not a regular file"):
        read_matrix(folder).values  # noqa: B018
    chunk.unlink()
    (tmp_path / "secret").write_bytes(bytes(4800))
    chunk.symlink_to(tmp_path / "secret")
    with pytest.raises(BivaluateError, match="leads out of the folder"):
        read_matrix(folder).values  # noqa: B018


def zstd_without_size(size):
    """Return a frame of zeros that does not state its size, in blocks of 128 kB."""
    blocks = [
        ((1 << 17) << 3 | 1 << 1 | (at + (1 << 17) >= size)).to_bytes(3, "little") + b"\0"
        for at in range(0, size, 1 << 17)
    ]
    return b"\x28\xb5\x2f\xfd\x00\x58" + b"".join(blocks)


@pytest.mark.extra("zarr")
@pytest.mark.parametrize(
    ("codec", "sharded"),
    [(codec, False) for codec in ("blosc", "zstd", "zstd without size", "lz4", "gzip", "gzip twice", "zlib")]
    + [(codec, True) for codec in ("blosc", "zstd", "zstd without size", "gzip", "gzip twice")],
)
def test_zarr_with_chunks_that_unpack_far_beyond_their_array(tmp_path, codec, sharded):
    import numcodecs
    import zarr

    word = codec.split()[0]
    packer = numcodecs.get_codec({"id": word})
    if sharded:
        own = {"blosc": zarr.codecs.BloscCodec, "zstd": zarr.codecs.ZstdCodec, "gzip": zarr.codecs.GzipCodec}[word]()
        options = {"zarr_format": 3, "compressors": own, "shards": (20, 30), "chunks": (20, 15)}
    else:
        options = {"compressors": packer}
    folder = zarr_folder(tmp_path / "x.zarr", **options)
    assert read_matrix(folder).values.sum() == 600
    bomb = packer.encode(bytes(1 << 25))
    if codec == "zstd without size":
        bomb = zstd_without_size(1 << 25)
        assert bytes(packer.decode(bomb)) == bytes(1 << 25)
    if codec == "gzip twice":  # the second stream of a file is unpacked, too
        bomb = packer.encode(bytes(10)) + bomb
    if sharded:
        index = struct.pack("<4Q", 0, len(bomb), 0, len(bomb))
        bomb += index + numcodecs.get_codec({"id": "crc32c", "location": "end"}).encode(index)[-4:].tobytes()
    (folder / "X" / ("c/0/0" if sharded else "0.0")).write_bytes(bomb)
    with pytest.raises(BivaluateError, match=r"unpacks to [\d,]{9,} bytes, and a chunk of its array to [\d,]+ at most"):
        read_matrix(folder).values  # noqa: B018


@pytest.mark.extra("zarr")
def test_zarr_packed_more_than_once(tmp_path):
    import numcodecs

    folder = zarr_folder(tmp_path / "x.zarr", filters=[numcodecs.Zlib()], compressors=numcodecs.Zlib())
    with pytest.raises(FormatError, match=r"X is packed more than once \(zlib, zlib\), which is not read"):
        read_matrix(folder)


@pytest.mark.extra("zarr")
@pytest.mark.parametrize("location", ["start", "end"])
def test_zarr_in_shards(tmp_path, location):
    import zarr

    X = np.arange(600.0).reshape(20, 30)
    X[:10, :15] = 0  # a chunk that is not stored
    for k, codec in enumerate((zarr.codecs.BloscCodec(), zarr.codecs.ZstdCodec(), zarr.codecs.GzipCodec())):
        root = zarr.open_group(tmp_path / f"{k}.zarr", mode="w")
        shards = {"shape": (20, 30), "index_location": location}
        array = root.create_array("X", shape=X.shape, dtype=float, chunks=(10, 15), shards=shards, compressors=codec)
        array[:] = X
        read = read_matrix(tmp_path / f"{k}.zarr")
        assert np.array_equal(read.values, X)
        assert np.array_equal(read.source.rows(3, 5) if hasattr(read.source, "rows") else read.values[3:5], X[3:5])


@pytest.mark.extra("rdata")
@pytest.mark.parametrize("pack", [bz2.compress, lzma.compress, gzip.compress])
def test_rds_however_r_packed_it(tmp_path, pack):
    whole = biclust_object([[1], [0]], [[1, 0]])
    (tmp_path / "x.rds").write_bytes(pack(whole))
    assert read_solution(tmp_path / "x.rds")[0].shape == (1, 1)
    (tmp_path / "x.rds").write_bytes(pack(whole + bytes(1 << 26)))
    with pytest.raises(FormatError, match="unpacks to more than 300 times its"):
        read_solution(tmp_path / "x.rds")
    (tmp_path / "x.rds").write_bytes(gzip.compress(gzip.compress(whole)))
    with pytest.raises(FormatError, match="packed twice"):
        read_solution(tmp_path / "x.rds")

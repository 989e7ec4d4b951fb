"""NumPy's .npy and .npz, never unpickled, sizes checked before anything is allocated."""

import json
import math
import sys
import warnings
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from bivaluate._files import atomic_path
from bivaluate._rows import CHUNK_CELLS, FileSource, SparseSource
from bivaluate._stored import MAX_SIDE, checked_csr
from bivaluate.io.formats import MAX_CELLS, Format, FormatError, Matrix, Options, Source, first_few, first_line, plural

_MAGIC = b"\x93NUMPY"
_MAX_AXIS = 1 << 40
_SPARSE_PARTS = ("format", "shape", "indices", "indptr", "row", "col", "absent")
_RUN_PARTS = (*_SPARSE_PARTS, "data", "values", "rows", "cols", "nouns")  # what a run folder keeps of a matrix


def _detects(source: Source) -> bool:
    """By the magic bytes; a zip archive if it holds arrays or bears the name."""
    if source.head.startswith(b"PK"):
        return source.suffix == ".npz" or any(name.endswith(".npy") for name in source.zip_names())
    return source.head.startswith(_MAGIC)


def _read(source: Source, options: Options) -> Matrix:
    """Read one array, or the array X of an archive with its labels rows and cols."""
    if source.head.startswith(b"PK"):
        return _read_archive(source)
    with source.open() as stream:
        shape, fortran, dtype = _header(stream, source.name)
        plain = dtype.kind in "fiub" and dtype.itemsize <= 8 and len(shape) == 2 and not fortran
        if plain and not source.gzipped and min(shape) > 0 and math.prod(shape) > CHUNK_CELLS:
            _check_length(stream.tell() + math.prod(shape) * dtype.itemsize, source.size, source.name, shape, dtype)
            cells = FileSource(source.path.absolute(), dtype, (shape[0], shape[1]), stream.tell())
            return Matrix(cells, name=source.stem)
        available = source.most_unpacked if source.gzipped else source.size
        values = _cells(stream, source.name, available, shape, fortran, dtype)
    return Matrix(_as_matrix(values, source.name), name=source.stem)


def _check_length(needed: int, found: int, name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    if found < needed:
        raise FormatError(f"{name} is truncated: shape {shape} of {dtype} needs {needed} bytes.")


def _header(stream: IO[bytes], name: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Read the header of a .npy stream: shape, whether columns come first, type."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            version = npy.read_magic(stream)
            reader = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            shape, fortran, dtype = reader(stream)
    except Exception as error:  # NumPy's header parser raises whatever its tokeniser does
        raise FormatError(f"{name}: the .npy header is damaged ({first_line(error)}).") from None
    if dtype.hasobject:
        hint = "bivaluate never unpickles: save plain numbers instead, np.save(path, X.astype(float))."
        raise FormatError(f"{name} holds pickled Python objects (dtype {dtype}). {hint}")
    if not all(0 <= n <= _MAX_AXIS for n in shape):
        raise FormatError(f"{name}: shape {shape} in the .npy header is not possible.")
    return shape, fortran, dtype


def _cells(
    stream: IO[bytes], name: str, available: int, shape: tuple[int, ...], fortran: bool, dtype: np.dtype[Any]
) -> np.ndarray[Any, Any]:
    count = math.prod(shape)
    if count > MAX_CELLS:
        raise FormatError(f"{name}: shape {shape} has more than {MAX_CELLS} cells.")
    needed = count * dtype.itemsize
    _check_length(needed, available, name, shape, dtype)
    data = stream.read(needed)
    _check_length(needed, len(data), name, shape, dtype)
    if dtype.kind == "U" and needed:
        characters = np.frombuffer(data, dtype=np.dtype("u4").newbyteorder(dtype.byteorder))
        if characters.max() > sys.maxunicode:  # Python breaks off with a SystemError
            raise FormatError(f"{name} is damaged: it holds characters beyond Unicode.")
    array = np.frombuffer(data, dtype=dtype, count=count)
    return array.reshape(shape[::-1]).T if fortran else array.reshape(shape)


def _read_archive(source: Source) -> Matrix:
    members = {name.removesuffix(".npy") for name in source.zip_names()}
    is_kept = "values" in members or {"data", "indices", "indptr"} <= members
    if is_kept and {"rows", "cols"} <= members <= {*_RUN_PARTS} and (kept := matrix_of_run(source)) is not None:
        return kept
    is_sparse = {"format", "shape", "data"} <= members
    chosen = "data" if is_sparse or not members else _choose(sorted(members), source.name)
    arrays = read_arrays(source, [chosen, "rows", "cols", *(_SPARSE_PARTS if is_sparse else ())])
    if is_sparse:
        values = _sparse(arrays, source)
    else:
        values = _as_matrix(arrays.pop(chosen), f"{source.name}, array {chosen!r}")
    rows, cols = (_labels(arrays.get(key), source) for key in ("rows", "cols"))
    absent = "missing" if is_sparse and "absent" in arrays and str(arrays["absent"]) == "missing" else "zero"
    return Matrix(values, rows, cols, source.stem, absent)


def matrix_of_run(source: Source, shape: tuple[int, int] | None = None) -> Matrix | None:
    """Return a matrix that a run folder keeps; None where labels are not written as it writes them."""
    arrays = read_arrays(source, _RUN_PARTS)
    try:
        rows, cols, absent, nouns = (_kept_words(arrays.get(key)) for key in ("rows", "cols", "absent", "nouns"))
    except (ValueError, RecursionError):
        return None
    if "values" in arrays:
        values: Any = _as_matrix(arrays["values"], f"{source.name}, array 'values'")
    else:
        if "shape" not in arrays:  # run folders of earlier versions leave it to the journal
            if shape is None and cols is None:
                hint = "name the file that the run was made of, or sweep again into a new folder"
                raise source.fault(f"the sparse matrix does not say how many columns it has; {hint}.")
            arrays["shape"] = np.array(shape or [len(arrays["indptr"]) - 1, len(cols or ())])
        values = _sparse(arrays | {"format": np.array("csr")}, source)
    is_missing = absent == ("missing",)
    return Matrix(values, rows, cols, source.stem, "missing" if is_missing else "zero").called(*(nouns or ()))


def _kept_words(stored: np.ndarray[Any, Any] | None) -> tuple[str, ...] | None:
    """Return the words in the bytes of a list in JSON; a ValueError where they are none."""
    words = None if stored is None else json.loads(stored.tobytes()) if stored.dtype == np.uint8 else ""
    if words is not None and not (isinstance(words, list) and all(isinstance(word, str) for word in words)):
        raise ValueError("no list of words")
    return None if words is None else tuple(words)


def read_arrays(source: Source, wanted: Iterable[str]) -> dict[str, np.ndarray[Any, Any]]:
    """Return those of the wanted arrays that an .npz archive holds, by name."""
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    with zipfile.ZipFile(source.path) as archive:
        members = {m.filename.removesuffix(".npy"): m for m in archive.infolist()}
        found = [key for key in dict.fromkeys(wanted) if key in members]
        source.check_members(archive, [members[key] for key in found])
        for key in found:
            with archive.open(members[key]) as stream:
                name = f"{source.name}, array {members[key].filename!r}"
                arrays[key] = _cells(stream, name, members[key].file_size, *_header(stream, name))
    return arrays


def _sparse(arrays: dict[str, np.ndarray[Any, Any]], source: Source) -> Any:
    """Return what ``scipy.sparse.save_npz`` wrote, by rows; every index is checked."""
    from scipy import sparse

    kind = arrays["format"].tolist()
    kind = str(kind.decode("latin-1") if isinstance(kind, bytes) else kind)
    parts = {"csr": ("indices", "indptr"), "csc": ("indices", "indptr"), "coo": ("row", "col")}
    if kind not in parts:
        raise source.fault(f"a sparse matrix in the form {kind[:20]!r}; save it as CSR, CSC or COO: X.tocsr().")
    absent = [name for name in parts[kind] if name not in arrays]
    shape = tuple(arrays["shape"].tolist()) if arrays["shape"].ndim == 1 else ()
    if absent or len(shape) != 2 or not all(isinstance(n, int) and 0 < n <= MAX_SIDE for n in shape):
        what = f"{absent[0]!r} is missing" if absent else f"its shape {shape} is not possible"
        raise source.fault(f"the sparse matrix is damaged: {what}.")
    data, first, second = (arrays[name] for name in ("data", *parts[kind]))
    if any(part.ndim != 1 or part.dtype.kind not in "iu" for part in (first, second)) or data.ndim != 1:
        raise source.fault("the sparse matrix is damaged: its parts are not lists of numbers.")
    if kind == "coo":
        sizes = zip((first, second), shape, strict=True)
        inside = all(not len(part) or (part.min() >= 0 and part.max() < n) for part, n in sizes)
        if not inside or not len(data) == len(first) == len(second) or data.dtype.kind not in "fiub":
            raise source.fault("the indices of a sparse matrix are damaged.")
        return sparse.coo_array((data, (first, second)), shape=shape).tocsr()
    lines = shape if kind == "csr" else shape[::-1]
    if len(second) != lines[0] + 1:
        raise source.fault(f"the parts of the sparse matrix do not fit its shape {shape}.")
    made = checked_csr(data, first, second, lines[1], source.name)
    return made if kind == "csr" else made.T


def _choose(keys: list[str], name: str) -> str:
    if {"indptr", "indices", "data"} <= set(keys):
        hint = "save it with scipy.sparse.save_npz"
        raise FormatError(f"{name} holds the parts of a sparse matrix without its format and shape; {hint}.")
    others = [key for key in keys if key not in ("rows", "cols")]
    known = [key for key in ("X", "matrix", "data", "arr_0") if key in keys]
    if not known and len(others) != 1:
        raise FormatError(f"{name}: name the matrix X; arrays found: {first_few(others)}.")
    return (known or others)[0]


def _as_matrix(array: np.ndarray[Any, Any], name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    if array.dtype.kind not in "fiub":
        raise FormatError(f"{name} has dtype {array.dtype}; real numbers are needed.")
    if array.ndim != 2:
        raise FormatError(f"{name} has {plural(array.ndim, 'dimension')}, shape {array.shape}; a 2-D matrix is needed.")
    with np.errstate(over="ignore", invalid="ignore"):
        return np.array(array, dtype=np.float64, order="K")


def _labels(array: np.ndarray[Any, Any] | None, source: Source) -> tuple[str, ...] | None:
    if array is None:
        return None
    if array.ndim != 1 or array.dtype.kind not in "UiuS":
        raise source.fault(f"labels must be a 1-D array of text, found {array.dtype}.")
    return tuple(x.decode("latin-1") if isinstance(x, bytes) else str(x) for x in array.tolist())


def _write(matrix: Matrix, path: Path) -> None:
    """Write .npz with X, rows and cols; a .npy has no place for labels."""
    labels = {"rows": matrix.row_labels, "cols": matrix.col_labels}
    arrays = {key: np.array(value, dtype=str) for key, value in labels.items() if value is not None}
    with atomic_path(path) as temporary, temporary.open("wb") as stream:
        if path.suffix.lower() == ".npy":
            np.save(stream, matrix.values, allow_pickle=False)
        elif isinstance(matrix.source, SparseSource):  # as scipy.sparse.save_npz does, with labels beside it
            stored = matrix.source.array
            parts = {name: getattr(stored, name) for name in ("data", "indices", "indptr")}
            parts |= {"format": np.array(b"csr"), "shape": np.array(stored.shape), "absent": np.array(matrix.absent)}
            np.savez_compressed(stream, allow_pickle=False, **parts, **arrays)
        else:
            np.savez_compressed(stream, allow_pickle=False, X=matrix.values, **arrays)


_NOTE = (
    "never unpickled; large `.npy` stay in the file; in `.npz` the matrix is `X`, labels are `rows` and `cols`; "
    "`scipy.sparse.save_npz` and the matrices of a run folder too"
)
FORMAT = Format("npy", "NumPy .npy and .npz", (".npy", ".npz"), _detects, _read, _write, note=_NOTE)

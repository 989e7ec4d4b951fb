"""NumPy's .npy and .npz, never unpickled, sizes checked before anything is allocated."""

from __future__ import annotations

import math
import warnings
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from bivaluate._errors import FormatError
from bivaluate._files import atomic_path
from bivaluate._text import first_few, plural
from bivaluate.io.formats import Format, Options
from bivaluate.io.source import MAX_CELLS, Source, first_line
from bivaluate.matrix import Matrix

_MAGIC = b"\x93NUMPY"
_FAULTS = (ValueError, EOFError, OSError, TypeError, KeyError, RuntimeError, zlib.error, zipfile.BadZipFile)


def _detects(source: Source) -> bool:
    """By the magic bytes; a zip archive if it holds arrays or bears the name."""
    if source.head.startswith(b"PK"):
        return source.suffix == ".npz" or source.zip_holds(".npy")
    return source.head.startswith(_MAGIC)


def _read(source: Source, options: Options) -> Matrix:
    """Read one array, or the array X of an archive with its labels rows and cols."""
    if source.head.startswith(b"PK"):
        return _read_archive(source)
    with source.open() as stream:
        values = _read_array(stream, source.name, None if source.gzipped else source.size)
    return Matrix(_as_matrix(values, source.name), name=source.stem)


def _read_array(stream: IO[bytes], name: str, available: int | None) -> np.ndarray[Any, Any]:
    """Read one .npy stream of at most `available` bytes."""
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
    if not all(0 <= n <= MAX_CELLS for n in shape):
        raise FormatError(f"{name}: shape {shape} in the .npy header is not possible.")
    count = math.prod(shape)
    if count > MAX_CELLS:
        raise FormatError(f"{name}: shape {shape} has more than {MAX_CELLS} cells.")
    needed = count * dtype.itemsize
    data = b"" if available is not None and needed > available else stream.read(needed)
    if len(data) < needed:
        raise FormatError(f"{name} is truncated: shape {shape} of {dtype} needs {needed} bytes.")
    array = np.frombuffer(data, dtype=dtype, count=count)
    return array.reshape(shape[::-1]).T if fortran else array.reshape(shape)


def _read_archive(source: Source) -> Matrix:
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    try:
        with zipfile.ZipFile(source.path) as archive:
            members = {m.filename.removesuffix(".npy"): m for m in archive.infolist()}
            chosen = _choose(list(members), source.name)
            for key in {chosen, "rows", "cols"} & set(members):
                with archive.open(members[key]) as stream:
                    name = f"{source.name}, array {members[key].filename!r}"
                    arrays[key] = _read_array(stream, name, members[key].file_size)
    except _FAULTS as error:
        if isinstance(error, FormatError):
            raise
        raise source.damaged("the .npz archive", error) from None
    values = _as_matrix(arrays.pop(chosen), f"{source.name}, array {chosen!r}")
    return Matrix(values, _labels(arrays.get("rows"), source), _labels(arrays.get("cols"), source), source.stem)


def _choose(keys: list[str], name: str) -> str:
    if {"indptr", "indices", "data"} <= set(keys):
        raise FormatError(f"{name} is a SciPy sparse matrix; save X.toarray() with np.savez instead.")
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
    try:
        return tuple(x.decode("latin-1") if isinstance(x, bytes) else str(x) for x in array.tolist())
    except ValueError as error:
        raise source.damaged("a label", error) from None


def _write(matrix: Matrix, path: Path) -> None:
    """Write .npz with X, rows and cols; a .npy has no place for labels."""
    labels = {"rows": matrix.row_labels, "cols": matrix.col_labels}
    arrays = {key: np.array(value, dtype=str) for key, value in labels.items() if value is not None}
    with atomic_path(path) as temporary, temporary.open("wb") as stream:
        if path.suffix.lower() == ".npy":
            np.save(stream, matrix.values, allow_pickle=False)
        else:
            np.savez_compressed(stream, allow_pickle=False, X=matrix.values, **arrays)


_NOTE = "never unpickled; in `.npz` the matrix is `X`, labels are `rows` and `cols`"
FORMAT = Format("npy", "NumPy .npy and .npz", (".npy", ".npz"), _detects, _read, _write, note=_NOTE)

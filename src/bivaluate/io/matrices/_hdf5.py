"""What formats in HDF5 (and zarr) share: what a file is, opened without following links out of it, sizes checked."""

import functools
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from bivaluate._check import check_held
from bivaluate._errors import BivaluateError, FormatError
from bivaluate._zarr import FREE_BYTES, MOST_UNPACKED, check_codecs
from bivaluate.io.source import Source

MAGIC = b"\x89HDF\r\n\x1a\n"
MAX_LABELS = 1 << 26
_USER_BLOCKS = (0, 512, 1024, 2048)  # bytes a file may begin with before its HDF5 part


def is_hdf5(source: Source) -> bool:
    """Whether a file is HDF5, by its first bytes."""
    return any(source.head[at : at + len(MAGIC)] == MAGIC for at in _USER_BLOCKS)


@functools.lru_cache(8)
def kind_of(source: Source) -> str:
    """Return what an HDF5 file is, by what lies in it: the key of its format."""
    by_name = {".loom": "loom", ".h5mu": "mudata"}.get(source.suffix, "h5ad")
    try:
        with opened(source) as file:
            names = set(file)
            if "mod" in names:
                return "mudata"
            if {"row_attrs", "col_attrs"} & names and "matrix" in names:
                return "loom"
            if names & {"X", "raw.X"} or {"obs", "var"} <= names:
                return "h5ad"
            if any("indptr" in held for held in groups(file).values()):
                return "cellranger"
            return "loom" if source.suffix == ".loom" else "hdf5"
    except (ImportError, BivaluateError):
        return by_name


def detector(key: str) -> Callable[[Source], bool]:
    """Return what recognises one of the formats in HDF5; a file that only has its extension is a damaged one."""
    return lambda source: kind_of(source) == key if is_hdf5(source) else source.suffix == f".{key}"


@contextmanager
def opened(source: Source) -> Iterator[Any]:
    """Open an HDF5 file for reading; whatever its C library refuses becomes a format error."""
    import h5py

    with source.parsing(), h5py.File(source.path, "r") as file:
        yield file


def layer_of(file: Any, layer: str, name: str) -> Any:
    """Return a layer by its name."""
    layers = list(member(file, "layers", name)) if "layers" in file else []
    if layer not in layers:
        known = [*layers, *(["raw"] if {"raw", "raw.X"} & set(file) else [])]
        check_held(name, "layer", layer, known)
    return member(member(file, "layers", name), layer, name)


def member(group: Any, key: str, name: str) -> Any:
    """Return a member that lies in this very file; links and external storage are refused."""
    where = f"{name}: {group.name.rstrip('/')}/{key}"
    if key not in group:
        raise FormatError(f"{where} is missing.")
    if type(group).__module__.startswith("zarr"):
        check_codecs(group[key], name)
        return group[key]
    import h5py

    if not _is_hard(group, key):
        raise FormatError(f"{where} is a link; data must lie in the file itself.")
    found = group[key]
    if not isinstance(found, h5py.Dataset | h5py.Group):
        raise FormatError(f"{where} is a type without data; a dataset or a group is needed.")
    if isinstance(found, h5py.Dataset) and (found.external or found.is_virtual):
        raise FormatError(f"{where} is stored in another file; data must lie in the file itself.")
    return found


def _is_hard(group: Any, key: str) -> bool:
    """Whether a member of an HDF5 group is no link; looking it up would follow one, to a pipe or a device too."""
    import h5py

    return isinstance(group.get(key, getlink=True), h5py.HardLink)


def groups(file: Any) -> dict[str, Any]:
    """Return the groups at the top of an HDF5 file by name, links left out."""
    return {key: file[key] for key in file if _is_hard(file, key) and is_group(file[key])}


def is_group(node: Any) -> bool:
    """Whether a node is a group and not a dataset."""
    return hasattr(node, "keys")


def check_stored(node: Any, name: str) -> None:
    """Raise where an array claims far more cells than bytes are stored for it: they would be made up."""
    claimed = int(np.prod(node.shape, dtype=np.float64)) * max(1, np.dtype(node.dtype).itemsize)
    if claimed <= FREE_BYTES:
        return
    stored = node.nbytes_stored() if type(node).__module__.startswith("zarr") else node.id.get_storage_size()
    if claimed > FREE_BYTES + MOST_UNPACKED * stored:
        raise FormatError(f"{name}: {node.name} claims {claimed:,} bytes, and {stored:,} are stored.")


def strings(node: Any, name: str) -> tuple[str, ...]:
    """Read a 1-D dataset of labels, or a group: of categories, or with what anndata 0.13 says about missing ones."""
    if is_group(node) and "categories" in node:
        known, codes = strings(member(node, "categories", name), name), member(node, "codes", name)
        check_stored(codes, name)
        chosen = np.asarray(codes[:], dtype=np.int64)
        if chosen.ndim != 1 or not ((chosen >= -1) & (chosen < len(known))).all():
            raise FormatError(f"{name}: {node.name} must be a list of labels.")
        return tuple(known[code] if code >= 0 else "nan" for code in chosen.tolist())
    if is_group(node) and "values" in node:
        node = member(node, "values", name)
    if is_group(node) or len(node.shape) != 1 or node.shape[0] > MAX_LABELS:
        raise FormatError(f"{name}: {node.name} must be a list of labels.")
    check_stored(node, name)
    _check_lengths(node, name)
    values = _labels(node, name)
    try:
        return tuple(map(bytes.decode, values))
    except (TypeError, UnicodeDecodeError):
        return tuple(v.decode("utf-8", "replace") if isinstance(v, bytes) else str(v) for v in values)


def _check_lengths(node: Any, name: str) -> None:
    """Raise where a label of an HDF5 file claims to be longer than the file, before memory is taken for it."""
    if type(node).__module__.startswith("zarr") or node.dtype.kind != "O":
        return
    size = node.file.id.get_filesize()
    for data in _references(node):
        longest = np.frombuffer(data[: len(data) // 16 * 16], "<u4")[::4].max(initial=0)
        if longest > size:
            raise FormatError(f"{name}: {node.name} holds a label of {longest:,} bytes, and the file has {size:,}.")


def _labels(node: Any, name: str) -> list[Any]:
    """Read labels some at a time: many may share one stored text, and take far more memory than the file has bytes."""
    if type(node).__module__.startswith("zarr") or node.dtype.kind != "O":
        try:
            return list(np.asarray(node[:]).tolist())
        except SystemError:  # how Python breaks off
            raise FormatError(f"{name}: {node.name} holds characters beyond Unicode.") from None
    size = node.file.id.get_filesize()
    step, most, total = max(256, FREE_BYTES * 16 // size), FREE_BYTES * 16 + 100 * size, 0
    values: list[Any] = []
    for start in range(0, node.shape[0], step):
        values += node[start : start + step].tolist()
        total += sum(map(len, values[start:]))
        if total > most:
            raise FormatError(f"{name}: {node.name} holds labels of more than {most:,} bytes.")
    return values


def _references(node: Any) -> Iterator[bytes]:
    """Yield what stands for labels of any length where they are listed: of each its length, an address and a number."""
    if node.chunks is None:
        if (offset := node.id.get_offset()) is not None:
            with open(node.file.filename, "rb") as file:
                file.seek(offset)
                yield file.read(16 * node.shape[0])
        return
    zipped, shuffled = node.compression == "gzip", bool(node.shuffle)
    if node.id.get_create_plist().get_nfilters() != zipped + shuffled:
        return  # packed otherwise: not looked into
    stored: list[Any] = []
    node.id.chunk_iter(stored.append)
    for chunk in stored:
        skipped, data = node.id.read_direct_chunk(chunk.chunk_offset)
        if zipped and not skipped >> shuffled & 1:
            data = zlib.decompressobj().decompress(data, 16 * node.chunks[0])
        if shuffled and not skipped & 1:
            data = np.frombuffer(data[: len(data) // 16 * 16], np.uint8).reshape(16, -1).T.tobytes()
        yield data

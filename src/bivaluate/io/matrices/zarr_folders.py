"""Zarr folders: AnnData's and MuData's, read as genes x cells, and plain arrays as they are."""

from bivaluate._stored import Store, dense_source
from bivaluate.io.formats import LAYER, Advice, Format, FormatError, Matrix, Options, Source, first_few
from bivaluate.io.matrices import _hdf5 as hdf5
from bivaluate.io.matrices.h5ad import read_layout
from bivaluate.io.matrices.mudata import read_modality

_MARKS = ("zarr.json", ".zgroup", ".zarray")


def _read(source: Source, options: Options) -> Matrix:
    """Read an AnnData object, a modality of a MuData object, an array, or an array of a group."""
    store = Store(source.path, "zarr")
    if hdf5.is_group(store.root) and "mod" in store.root:
        return read_modality(store, source, options)
    if hdf5.is_group(store.root) and {"obs", "var"} <= set(store.root):
        return read_layout(store, source, options.layer)
    key = _array(store, options.layer, source.name)
    return Matrix(dense_source(store, key, False, f"{source.name}{key and ': ' + key}"), name=source.stem)


def _array(store: Store, layer: str | None, name: str) -> str:
    """Return the array to read: the folder itself, the one named, or the only matrix of a group."""
    if not hdf5.is_group(store.root):
        return ""
    known = [key for key in sorted(store.root) if not hdf5.is_group(store.root[key])]
    matrices = [key for key in known if len(store.root[key].shape) == 2]
    if layer in known or (layer is None and len(matrices) == 1):
        return str(layer or matrices[0])
    said = f"{name} is a zarr group, but not of AnnData or MuData; it holds {first_few(known) or 'no arrays'}."
    raise FormatError(Advice(f"{said} Name the array that is the matrix with ", LAYER, "."))


def _detects(source: Source) -> bool:
    return any((source.path / mark).is_file() for mark in _MARKS)


_NOTE = "AnnData and MuData folders as genes x cells, plain arrays as they are; `layer=`, `modality=`; large ones stay"
_NAMED, _OPTIONS = ("zarr", "zarr folder", (".zarr",), None, _read), ("layer", "modality")
FORMAT = Format(*_NAMED, options=_OPTIONS, needs="zarr", note=_NOTE, folder=_detects)

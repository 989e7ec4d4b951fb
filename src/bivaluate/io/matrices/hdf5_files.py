"""HDF5 files of no format of their own: one 2-D dataset is the matrix; anything else is named as what it is."""

from typing import Any

from bivaluate._stored import Store, dense_source
from bivaluate.io.formats import LAYER, Advice, Format, FormatError, Matrix, Options, Source, check_held, first_few
from bivaluate.io.matrices import _hdf5 as hdf5

# What a file is, by an attribute or a member of its root.
_KNOWN = {
    "keras_version": "the weights of a Keras model",
    "_NCProperties": "a NetCDF file",
    "PYTABLES_FORMAT_VERSION": "a table of pandas or PyTables (HDFStore)",
    "chemistry_description": "a file of CellRanger",
    "assays": "a Seurat object (h5Seurat)",
    "barcode_idx": "CellRanger's molecule information",
    "model_weights": "the weights of a Keras model",
    "#refs#": "a MATLAB file (version 7.3)",
}
_MOST = 200  # members looked at


def _read(source: Source, options: Options) -> Matrix:
    """Read the dataset named, or the only one that is a matrix."""
    store = Store(source.path, "hdf5")
    found = _datasets(store.root)
    matrices = [key for key, node in found.items() if len(node.shape) == 2 and node.dtype.kind in "fiub"]
    known_as = _known_as(store.root, source)
    if options.layer is None and (known_as or len(matrices) != 1):
        held = first_few([f"/{key} {node.shape}" for key, node in found.items()]) or "nothing"
        what = f"is {known_as}" if known_as else "is an HDF5 file, but not of AnnData, MuData, CellRanger or Loom"
        how = Advice(" Name the dataset that is the matrix with ", LAYER, ".") if matrices else ""
        raise FormatError(Advice(f"{source.name} {what}. It holds {held}.", how))
    key = matrices[0] if options.layer is None else options.layer.strip("/")
    check_held(source.name, "dataset", key, found)
    return Matrix(dense_source(store, key, False, f"{source.name}: /{key}"), name=source.stem)


def _datasets(root: Any) -> dict[str, Any]:
    """Return the datasets of a file by their path, links left out, at most this many."""
    found: dict[str, Any] = {}

    def visit(key: str, node: Any) -> bool | None:
        if hasattr(node, "external") and not node.external and not node.is_virtual:
            found[key] = node
        return True if len(found) >= _MOST else None

    root.visititems(visit)
    return found


def _known_as(root: Any, source: Source) -> str:
    if source.head.startswith(b"MATLAB"):
        return _KNOWN["#refs#"]
    return next((words for key, words in _KNOWN.items() if key in root.attrs or key in root), "")


_NOTE = "one 2-D dataset, or the one that `layer=` names; large ones stay in the file"
_NAMED = ("hdf5", "plain HDF5", (".h5", ".hdf5"), hdf5.detector("hdf5"), _read)
FORMAT = Format(*_NAMED, options=("layer",), needs="h5py", note=_NOTE)

"""Loom files: genes x cells as they are stored."""

from typing import Any

from bivaluate._stored import Store, dense_source
from bivaluate.io.formats import Format, Matrix, Options, Source
from bivaluate.io.matrices import _hdf5 as hdf5

_ROW_NAMES = ("Gene", "var_names", "Accession", "GeneName", "gene_names")
_COL_NAMES = ("CellID", "obs_names", "cell_names")


def _read(source: Source, options: Options) -> Matrix:
    """Read the main matrix or a layer."""
    store = Store(source.path, "hdf5")
    file = store.root
    node = hdf5.member(file, "matrix", source.name)
    if options.layer is not None:
        node = hdf5.layer_of(file, options.layer, source.name)
    cells = dense_source(store, node.name.strip("/"), False, f"{source.name}: {node.name}")
    rows = _names(file, "row_attrs", _ROW_NAMES, source.name)
    cols = _names(file, "col_attrs", _COL_NAMES, source.name)
    return Matrix(cells, rows, cols, source.stem)


def _names(file: Any, group: str, candidates: tuple[str, ...], name: str) -> tuple[str, ...] | None:
    held = hdf5.member(file, group, name) if group in file else ()
    keys = [key for key in candidates if key in held]
    return hdf5.strings(hdf5.member(held, keys[0], name), name) if keys else None


_NOTE = "genes x cells as stored; `layer=`"
FORMAT = Format("loom", "Loom", (".loom",), hdf5.detector("loom"), _read, options=("layer",), needs="h5py", note=_NOTE)

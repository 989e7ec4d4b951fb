"""Loom files: genes x cells as they are stored."""

from __future__ import annotations

from typing import Any

from bivaluate.io.formats import Format, Options
from bivaluate.io.matrices import _hdf5 as hdf5
from bivaluate.io.source import Source
from bivaluate.matrix import Matrix

_ROW_NAMES = ("Gene", "var_names", "Accession", "GeneName", "gene_names")
_COL_NAMES = ("CellID", "obs_names", "cell_names")


def _read(source: Source, options: Options) -> Matrix:
    """Read the main matrix or a layer."""
    with hdf5.opened(source) as file:
        node = hdf5.member(file, "matrix", source.name)
        if options.layer is not None:
            node = hdf5.layer_of(file, options.layer, source.name)
        if hdf5.is_group(node):
            raise source.fault(f"{node.name} is a group; a matrix is needed.")
        values = hdf5.dense(node, source.name)
        rows = _names(file, "row_attrs", _ROW_NAMES, source.name)
        cols = _names(file, "col_attrs", _COL_NAMES, source.name)
    return Matrix(values, rows, cols, source.stem)


def _names(file: Any, group: str, candidates: tuple[str, ...], name: str) -> tuple[str, ...] | None:
    keys = [key for key in candidates if group in file and key in file[group]]
    return hdf5.strings(hdf5.member(file[group], keys[0], name), name) if keys else None


def _detects(source: Source) -> bool:
    return source.suffix == ".loom" and source.head.startswith(hdf5.MAGIC)


_NOTE = "genes x cells as stored; `layer=`"
FORMAT = Format("loom", "Loom", (".loom",), _detects, _read, options=("layer",), needs="h5py", note=_NOTE)

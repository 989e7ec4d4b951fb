"""Loom files (extra ``anndata``, which brings h5py): genes x cells as they are stored."""

from __future__ import annotations

from typing import Any

from bivaluate._errors import FormatError, ParameterError, suggest
from bivaluate.io import hdf5
from bivaluate.io.options import MatrixOptions
from bivaluate.io.source import Source
from bivaluate.matrix import Matrix

KEY = "loom"
NAME = "Loom"
EXTENSIONS = (".loom",)
OPTIONS = frozenset({"layer"})

_ROW_NAMES = ("Gene", "var_names", "Accession", "GeneName", "gene_names")
_COL_NAMES = ("CellID", "obs_names", "cell_names")


def detects(source: Source) -> bool:
    """An HDF5 file under the name .loom."""
    return source.suffix == ".loom" and not source.is_folder and source.head.startswith(hdf5.MAGIC)


def read(source: Source, options: MatrixOptions) -> Matrix:
    """Read the main matrix or a layer."""
    with hdf5.opened(source, "reading .loom") as file:
        node = hdf5.member(file, "matrix", source.name)
        if options.layer is not None:
            layers = list(file["layers"]) if "layers" in file else []
            if options.layer not in layers:
                listed = ", ".join(layers[:20]) or "none"
                raise ParameterError(
                    f"{source.name} has no layer {options.layer!r}; layers: {listed}.{suggest(options.layer, layers)}"
                )
            node = hdf5.member(file["layers"], options.layer, source.name)
        if hdf5.is_group(node):
            raise FormatError(f"{source.name}: {node.name} is a group; a matrix is needed.")
        values = hdf5.dense(node, source.name)
        rows = _names(file, "row_attrs", _ROW_NAMES, source.name)
        cols = _names(file, "col_attrs", _COL_NAMES, source.name)
    return Matrix(values, rows, cols, source.stem)


def _names(file: Any, group: str, candidates: tuple[str, ...], name: str) -> tuple[str, ...] | None:
    found = file.get(group)
    for key in candidates:
        if found is not None and key in found:
            return hdf5.strings(hdf5.member(found, key, name), name)
    return None

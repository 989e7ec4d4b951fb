"""AnnData's layout, in HDF5 or zarr: X, layers and raw with the names of observations and variables."""

from __future__ import annotations

from typing import Any

from bivaluate._errors import FormatError
from bivaluate.io.matrices import _hdf5 as hdf5
from bivaluate.io.matrices._stored import Store, dense_source, sparse_source
from bivaluate.io.source import Source
from bivaluate.matrix import Matrix


def read_layout(store: Store, source: Source, layer: str | None, folder: str = "") -> Matrix:
    """Read X, a layer or raw as variables x observations (genes x cells); `folder` is where the object lies."""
    top = _walk(store.root, folder, source.name)
    node, variables = _nodes(top, layer, source.name)
    obs, var = (index_of(part, source.name) for part in (hdf5.member(top, "obs", source.name), variables))
    cells = _cells(store, node, source.name)
    if cells.shape != (len(var), len(obs)):
        found = f"{cells.shape[1]} x {cells.shape[0]}"
        raise source.fault(f"the matrix is {found}; there are {len(obs)} observations and {len(var)} variables.")
    return Matrix(cells, var, obs, source.stem)


def _walk(root: Any, folder: str, name: str) -> Any:
    for key in filter(None, folder.split("/")):
        root = hdf5.member(root, key, name)
    return root


def _nodes(top: Any, layer: str | None, name: str) -> tuple[Any, Any]:
    """Return the matrix asked for and its variables; old files keep ``raw.X`` beside X, new ones in ``raw``."""
    if layer == "raw" and "raw.X" in top:
        return hdf5.member(top, "raw.X", name), hdf5.member(top, "raw.var", name)
    if layer == "raw" and "raw" in top and "X" in top["raw"]:
        top = hdf5.member(top, "raw", name)
        return hdf5.member(top, "X", name), hdf5.member(top, "var", name)
    whole = hdf5.member(top, "X", name) if layer is None else hdf5.layer_of(top, layer, name)
    return whole, hdf5.member(top, "var", name)


def _cells(store: Store, node: Any, name: str) -> Any:
    """Return the cells, variables x observations."""
    key, where = str(node.name).strip("/"), f"{name}: {node.name}"
    if not hdf5.is_group(node):
        return dense_source(store, key, True, lambda found: hdf5.check_matrix(found, where))
    shape = tuple(int(n) for n in node.attrs.get("shape", node.attrs.get("h5sparse_shape", ())))
    kind = node.attrs.get("encoding-type", node.attrs.get("h5sparse_format", ""))
    kind = str(kind.decode() if isinstance(kind, bytes) else kind).removesuffix("_matrix")
    if kind not in ("csr", "csc") or len(shape) != 2:
        raise FormatError(f"{where} is stored as {kind!r}; csr, csc or a plain array is needed.")
    for part in ("data", "indices", "indptr"):
        hdf5.member(node, part, name)
    return sparse_source(store, key, (shape[0], shape[1]), kind == "csr", True)


def index_of(node: Any, name: str) -> tuple[str, ...]:
    """Return the names of observations or variables."""
    if not hdf5.is_group(node):
        field = next((f for f in ("index", "_index") if f in (node.dtype.names or ())), None)
        if field is None:
            raise FormatError(f"{name}: {node.name} has no index.")
        return tuple(v.decode() if isinstance(v, bytes) else str(v) for v in node[field].tolist())
    key = node.attrs.get("_index", "_index")
    return hdf5.strings(hdf5.member(node, key.decode() if isinstance(key, bytes) else str(key), name), name)

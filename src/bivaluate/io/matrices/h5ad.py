"""AnnData's .h5ad, and the layout it shares with MuData and zarr: read as genes x cells, results written back."""

from pathlib import Path
from typing import Any

import numpy as np

from bivaluate._anndata import KEY, axes, check_key, results_tree
from bivaluate._errors import FormatError, SolutionError, import_optional
from bivaluate._files import FilePath, atomic_path
from bivaluate._stored import Store, stored_cells
from bivaluate.io.formats import Advice, Format, Matrix, Option, Options, Source
from bivaluate.io.matrices import _hdf5 as hdf5


def _read(source: Source, options: Options) -> Matrix:
    """Read X, a layer or raw, dense or sparse, as variables x observations."""
    return read_layout(Store(source.path, "hdf5"), source, options.layer)


def read_layout(store: Store, source: Source, layer: str | None, folder: str = "") -> Matrix:
    """Read X, a layer or raw as variables x observations (genes x cells); `folder` is where the object lies."""
    top = store.root
    for key in filter(None, folder.split("/")):
        top = hdf5.member(top, key, source.name)
    node, variables = _nodes(top, layer, source.name)
    obs, var = (index_of(part, source.name) for part in (hdf5.member(top, "obs", source.name), variables))
    for part in ("data", "indices", "indptr") if hdf5.is_group(node) else ():
        hdf5.member(node, part, source.name)
    cells = stored_cells(store, node, True, source.name)
    if cells.shape != (len(var), len(obs)):
        found = f"{cells.shape[1]} x {cells.shape[0]}"
        raise source.fault(f"the matrix is {found}; there are {len(obs)} observations and {len(var)} variables.")
    return Matrix(cells, var, obs, source.stem)


def _nodes(top: Any, layer: str | None, name: str) -> tuple[Any, Any]:
    """Return the matrix asked for and its variables; old files keep ``raw.X`` beside X, new ones in ``raw``."""
    if layer == "raw" and "raw.X" in top:
        return hdf5.member(top, "raw.X", name), hdf5.member(top, "raw.var", name)
    if layer == "raw" and "raw" in top and "X" in (raw := hdf5.member(top, "raw", name)):
        return hdf5.member(raw, "X", name), hdf5.member(raw, "var", name)
    whole = hdf5.member(top, "X", name) if layer is None else hdf5.layer_of(top, layer, name)
    return whole, hdf5.member(top, "var", name)


def index_of(node: Any, name: str) -> tuple[str, ...]:
    """Return the names of observations or variables."""
    if not hdf5.is_group(node):
        field = next((f for f in ("index", "_index") if f in (node.dtype.names or ())), None)
        if field is None:
            raise FormatError(f"{name}: {node.name} has no index.")
        return tuple(v.decode() if isinstance(v, bytes) else str(v) for v in node[field].tolist())
    key = node.attrs.get("_index", "_index")
    return hdf5.strings(hdf5.member(node, key.decode() if isinstance(key, bytes) else str(key), name), name)


def write_h5ad_results(path: FilePath, evaluation: Any, *, key: str = KEY, transpose: bool = False) -> None:
    """Write an evaluation into the .h5ad file its matrix came from: into ``.varm``, ``.obsm`` and ``.uns``.

    Parameters
    ----------
    path : str or path-like
        The .h5ad file, replaced whole or not at all.
    evaluation : Evaluation
    key : str, default="bivaluate"
        Name of the entries; entries of this name are replaced.
    transpose : bool, default=False
        Whether the matrix was read with ``transpose=True`` (rows are observations).

    Raises
    ------
    SolutionError, ParameterError
        If the solution does not fit the file, or `key` cannot be a name.

    See Also
    --------
    bivaluate.read_matrix

    Examples
    --------
    >>> write_h5ad_results("cells.h5ad", evaluate(X, read_solution("found.json", X)))  # doctest: +SKIP
    """
    import_optional("anndata", "writing .h5ad")
    h5py = import_optional("h5py", "writing .h5ad")
    try:
        from anndata.io import write_elem
    except ImportError:  # before anndata 0.11
        from anndata.experimental import write_elem
    import shutil

    source = Source(path)
    check_key(key)
    solution = evaluation.solution
    rows, cols = axes(transpose)
    masks = {rows: solution.row_masks.T, cols: solution.col_masks.T}
    with hdf5.opened(source) as file:
        sizes = {f"{k}m": len(index_of(hdf5.member(file, k, source.name), source.name)) for k in ("var", "obs")}
    if {name: len(mask) for name, mask in masks.items()} != sizes:
        found = f"{source.name} has {sizes['obsm']} observations and {sizes['varm']} variables"
        needed = f"but the solution is for a matrix of shape {solution.shape}. Rows are variables (genes)"
        or_else = Advice(", or observations with ", Option("transpose", True))
        raise SolutionError(Advice(f"{found}, {needed}", or_else, "."))
    with atomic_path(Path(path)) as temporary:
        shutil.copyfile(source.path, temporary)
        with h5py.File(temporary, "r+") as file:
            for group, mask in masks.items():
                write_elem(file.require_group(group), key, np.ascontiguousarray(mask))
            write_elem(file.require_group("uns"), key, results_tree(evaluation))


_NOTE = (
    'read as genes x cells, that is transposed; `layer=`, `"raw"` for raw counts; sparse X stays sparse, large X in the '
    "file; results can be written back"
)
_NAMED = ("h5ad", "AnnData .h5ad", (".h5ad",), hdf5.detector("h5ad"))
FORMAT = Format(*_NAMED, _read, options=("layer",), needs="h5py", note=_NOTE)

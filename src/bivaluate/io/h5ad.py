"""AnnData's .h5ad (extra ``anndata``): read as genes x cells, and results written back beside the data.

AnnData stores observations (cells, samples) as rows; bivaluate's rows are the variables (genes), so the
stored matrix is transposed on reading. Read with ``transpose=True`` to have observations as rows.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bivaluate._errors import FormatError, MissingExtraError, ParameterError, SolutionError, suggest
from bivaluate.io import hdf5
from bivaluate.io.options import MatrixOptions
from bivaluate.io.source import Source
from bivaluate.matrix import Matrix

KEY = "h5ad"
NAME = "AnnData .h5ad"
EXTENSIONS = (".h5ad",)
OPTIONS = frozenset({"layer"})


def detects(source: Source) -> bool:
    """Any HDF5 file that is not a loom."""
    return not source.is_folder and source.head.startswith(hdf5.MAGIC)


def read(source: Source, options: MatrixOptions) -> Matrix:
    """Read X or a layer, dense or sparse, as variables x observations."""
    with hdf5.opened(source, "reading .h5ad") as file:
        node = _chosen(file, options.layer, source.name)
        values = _sparse(node, source.name) if hdf5.is_group(node) else hdf5.dense(node, source.name)
        obs, var = (_index(hdf5.member(file, key, source.name), source.name) for key in ("obs", "var"))
        if options.layer == "raw":
            raw = hdf5.member(file, "raw", source.name)
            var = _index(hdf5.member(raw, "var", source.name), source.name)
    if values.shape != (len(obs), len(var)):
        raise FormatError(
            f"{source.name}: the matrix is {values.shape}, but there are {len(obs)} observations and {len(var)} variables."
        )
    return Matrix(values.T, var, obs, source.stem)


def _chosen(file: Any, layer: str | None, name: str) -> Any:
    if layer is None:
        return hdf5.member(file, "X", name)
    if layer == "raw":
        return hdf5.member(hdf5.member(file, "raw", name), "X", name)
    layers = list(file["layers"]) if "layers" in file else []
    if layer not in layers:
        listed = ", ".join(layers[:20]) or "none"
        raise ParameterError(f"{name} has no layer {layer!r}; layers: {listed}.{suggest(layer, layers)}")
    return hdf5.member(file["layers"], layer, name)


def _index(node: Any, name: str) -> tuple[str, ...]:
    if not hdf5.is_group(node):
        field = next((f for f in ("index", "_index") if f in (node.dtype.names or ())), None)
        if field is None:
            raise FormatError(f"{name}: {node.name} has no index.")
        return tuple(v.decode() if isinstance(v, bytes) else str(v) for v in node[field].tolist())
    key = node.attrs.get("_index", "_index")
    return hdf5.strings(hdf5.member(node, key.decode() if isinstance(key, bytes) else str(key), name), name)


def _sparse(node: Any, name: str) -> NDArray[np.float64]:
    """Fill a dense array from compressed rows or columns, every index checked."""
    shape = tuple(int(n) for n in node.attrs.get("shape", node.attrs.get("h5sparse_shape", ())))
    kind = node.attrs.get("encoding-type", node.attrs.get("h5sparse_format", ""))
    kind = str(kind.decode() if isinstance(kind, bytes) else kind).removesuffix("_matrix")
    hdf5.check_cells(shape, f"{name}: {node.name}")
    if kind not in ("csr", "csc"):
        raise FormatError(f"{name}: {node.name} is stored as {kind!r}; csr, csc or a plain array is needed.")
    data, indices, indptr = (hdf5.member(node, k, name) for k in ("data", "indices", "indptr"))
    n, m = shape if kind == "csr" else shape[::-1]
    stored = data.shape[0] if len(data.shape) == 1 else -1
    if not 0 <= stored <= max(n * m, 0) or indices.shape != (stored,) or indptr.shape != (n + 1,):
        raise FormatError(f"{name}: the parts of sparse {node.name} do not fit its shape {shape}.")
    starts, positions = indptr[()].astype(np.int64), indices[()].astype(np.int64)
    if (
        starts[0] != 0
        or starts[-1] != stored
        or (np.diff(starts) < 0).any()
        or (stored and not 0 <= positions.min() <= positions.max() < m)
    ):
        raise FormatError(f"{name}: the indices of sparse {node.name} are damaged.")
    values = np.zeros((n, m))
    np.add.at(values, (np.repeat(np.arange(n), np.diff(starts)), positions), data[()])
    return values if kind == "csr" else values.T


def write_h5ad_results(
    path: str | os.PathLike[str], evaluation: Any, *, key: str = "bivaluate", transpose: bool = False
) -> None:
    """Write an evaluation into the .h5ad file its matrix came from.

    Membership goes to ``.varm[key]`` (genes x biclusters) and ``.obsm[key]`` (cells x biclusters), scores,
    the table of biclusters, findings and sizes to ``.uns[key]``. The file is replaced whole or not at all.

    Parameters
    ----------
    path
        The .h5ad file.
    evaluation
        The result of :func:`bivaluate.evaluate`.
    key
        Name of the entries; entries of this name are replaced.
    transpose
        Whether the matrix was read with ``transpose=True`` (rows are observations).
    """
    try:
        from anndata.io import write_elem
    except ImportError:
        try:
            from anndata.experimental import write_elem
        except ImportError:
            raise MissingExtraError("writing .h5ad", "anndata", "anndata") from None
    import shutil

    from bivaluate.io.target import atomic_path

    source = Source(path)
    if "/" in key or not key.strip():
        raise ParameterError(f"key is {key!r}; a name without '/' is needed.")
    solution = evaluation.solution
    masks = {"varm": solution.row_masks.T, "obsm": solution.col_masks.T}
    if transpose:
        masks = {"varm": masks["obsm"], "obsm": masks["varm"]}
    with hdf5.opened(source, "writing .h5ad") as file:
        sizes = {
            "varm": len(_index(hdf5.member(file, "var", source.name), source.name)),
            "obsm": len(_index(hdf5.member(file, "obs", source.name), source.name)),
        }
    if {name: len(mask) for name, mask in masks.items()} != sizes:
        raise SolutionError(
            f"{source.name} has {sizes['obsm']} observations and {sizes['varm']} variables, but the solution is for a "
            f"matrix of shape {solution.shape}. Rows are variables (genes) unless transpose=True."
        )
    h5py = hdf5.import_h5py("writing .h5ad")
    with atomic_path(Path(path)) as temporary:
        shutil.copyfile(source.path, temporary)
        with h5py.File(temporary, "r+") as file:
            for group, mask in masks.items():
                write_elem(file.require_group(group), key, np.ascontiguousarray(mask))
            write_elem(file.require_group("uns"), key, results_tree(evaluation))


def results_tree(evaluation: Any) -> dict[str, Any]:
    """Return an evaluation as the plain tree stored under ``.uns``."""
    table = evaluation.biclusters.copy()
    for column in table.columns:
        if table[column].dtype.kind not in "fiub":
            known = table[column].notna().tolist()
            words = [str(value) if is_known else "" for value, is_known in zip(table[column], known, strict=True)]
            table[column] = np.array(words, dtype=object)
    table.index = [str(i) for i in table.index]
    table.columns = [str(c) for c in table.columns]
    return {
        "scores": {str(name): float(value) for name, value in evaluation.scores.items()},
        "status": {str(name): str(reason) for name, reason in evaluation.status.items()},
        "biclusters": table,
        "mergers": {str(name): np.asarray(values) for name, values in evaluation.mergers.items()},
        "findings": np.array([str(line) for line in evaluation.findings], dtype=object),
        "shape": np.array(evaluation.solution.shape),
    }

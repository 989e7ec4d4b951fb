"""AnnData's .h5ad: read as genes x cells, and results written back beside the data.

AnnData stores observations (cells, samples) as rows; bivaluate's rows are the variables (genes), so the
stored matrix is transposed on reading. Read with ``transpose=True`` to have observations as rows.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bivaluate._errors import FormatError, ParameterError, SolutionError
from bivaluate._files import atomic_path
from bivaluate.io.formats import Format, Options, import_optional
from bivaluate.io.matrices import _hdf5 as hdf5
from bivaluate.io.source import Source
from bivaluate.matrix import Matrix


def _read(source: Source, options: Options) -> Matrix:
    """Read X or a layer, dense or sparse, as variables x observations."""
    with hdf5.opened(source) as file:
        node, variables = _nodes(file, options.layer, source.name)
        values = _sparse(node, source.name) if hdf5.is_group(node) else hdf5.dense(node, source.name)
        obs, var = (_index(part, source.name) for part in (hdf5.member(file, "obs", source.name), variables))
    if values.shape != (len(obs), len(var)):
        raise source.fault(f"the matrix is {values.shape}; there are {len(obs)} observations and {len(var)} variables.")
    return Matrix(values.T, var, obs, source.stem)


def _nodes(file: Any, layer: str | None, name: str) -> tuple[Any, Any]:
    """Return the matrix asked for and its variables; old files keep ``raw.X`` beside X, new ones in ``raw``."""
    if layer == "raw" and "raw.X" in file:
        return hdf5.member(file, "raw.X", name), hdf5.member(file, "raw.var", name)
    top = hdf5.member(file, "raw", name) if layer == "raw" else file
    whole = hdf5.member(top, "X", name) if layer in (None, "raw") else hdf5.layer_of(file, layer, name)
    return whole, hdf5.member(top, "var", name)


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
    in_order = starts[0] == 0 and starts[-1] == stored and (np.diff(starts) >= 0).all()
    if not in_order or (stored and not 0 <= positions.min() <= positions.max() < m):
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
    path : str or path-like
        The .h5ad file.
    evaluation : Evaluation
        The result of :func:`bivaluate.evaluate`.
    key : str, default="bivaluate"
        Name of the entries; entries of this name are replaced.
    transpose : bool, default=False
        Whether the matrix was read with ``transpose=True`` (rows are observations).

    Raises
    ------
    SolutionError
        If the solution does not fit the file.
    ParameterError
        If `key` cannot be used as a name.
    FileError, FormatError
        If the file cannot be read or written.
    MissingExtraError
        If anndata is not installed.

    See Also
    --------
    bivaluate.read_matrix : Reads the matrix of such a file.

    Examples
    --------
    >>> from bivaluate import evaluate, read_matrix, read_solution
    >>> X = read_matrix("cells.h5ad")  # doctest: +SKIP
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
    if "/" in key or not key.strip():
        raise ParameterError(f"key is {key!r}; a name without '/' is needed.")
    solution = evaluation.solution
    rows, cols = ("obsm", "varm") if transpose else ("varm", "obsm")
    masks = {rows: solution.row_masks.T, cols: solution.col_masks.T}
    with hdf5.opened(source) as file:
        sizes = {f"{k}m": len(_index(hdf5.member(file, k, source.name), source.name)) for k in ("var", "obs")}
    if {name: len(mask) for name, mask in masks.items()} != sizes:
        raise SolutionError(
            f"{source.name} has {sizes['obsm']} observations and {sizes['varm']} variables, but the solution is for a "
            f"matrix of shape {solution.shape}. Rows are variables (genes) unless transpose=True."
        )
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
            known = zip(table[column], table[column].notna(), strict=True)
            words = [str(value) if is_known else "" for value, is_known in known]
            table[column] = np.array(words, dtype=object)
    return {
        "scores": {str(name): float(value) for name, value in evaluation.scores.items()},
        "status": {str(name): str(reason) for name, reason in evaluation.status.items()},
        "biclusters": table.rename(index=str, columns=str),
        "mergers": {str(name): np.asarray(values) for name, values in evaluation.mergers.items()},
        "findings": np.array([str(line) for line in evaluation.findings], dtype=object),
        "shape": np.array(evaluation.solution.shape),
    }


def _detects(source: Source) -> bool:
    return source.suffix != ".loom" and source.head.startswith(hdf5.MAGIC)


_NOTE = (
    'read as genes x cells, that is transposed; `layer=`, `"raw"` for raw counts; sparse X is made dense; results can '
    "be written back"
)
FORMAT = Format("h5ad", "AnnData .h5ad", (".h5ad",), _detects, _read, options=("layer",), needs="h5py", note=_NOTE)

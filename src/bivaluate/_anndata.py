"""AnnData objects: their cells and labels in, memberships in and out, results out."""

from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from bivaluate._check import check_held
from bivaluate._errors import FileError, MatrixError, ParameterError, SolutionError, import_optional
from bivaluate._stored import Store, stored_cells
from bivaluate._text import first_few
from bivaluate._types import Flags

KEY = "bivaluate"
Labelled = tuple[Any, tuple[str, ...], tuple[str, ...]]  # cells, labels of rows and of columns


def is_anndata(X: Any) -> bool:
    """Whether something is an AnnData object; anndata itself is not needed to tell."""
    return type(X).__module__.partition(".")[0] == "anndata" and hasattr(X, "obs_names") and hasattr(X, "var_names")


def cells_of(adata: Any, layer: str | None, obs_rows: bool) -> Labelled:
    """Return the cells of an object as a matrix or source takes them, with the labels of rows and columns."""
    holder = adata
    if layer == "raw":
        if adata.raw is None:
            raise ParameterError("layer is 'raw', but the AnnData object has no raw.")
        holder = adata.raw
    elif layer is not None and layer not in adata.layers:
        # since anndata 0.13 X is a layer too, without a name
        known = [*filter(None, adata.layers), *([] if adata.raw is None else ["raw"])]
        check_held("the AnnData object", "layer", layer, known)
    cells = holder.X if layer in (None, "raw") else adata.layers[layer]
    if cells is None:
        raise MatrixError("the AnnData object has no X; name one of its layers with layer=.")
    obs, var = (tuple(str(name) for name in names) for names in (adata.obs_names, holder.var_names))
    cells = _rows_of(cells, turned=not obs_rows)
    return (cells, obs, var) if obs_rows else (cells, var, obs)


def stacked(parts: dict[str, Labelled], name: str) -> Labelled:
    """Return modalities as one matrix: their rows, named after them, over the columns that all of them have."""
    common = set.intersection(*(set(cols) for *_, cols in parts.values())) if parts else set()
    if not common:
        raise MatrixError(f"the modalities of {name} ({', '.join(parts) or 'none'}) have no cells in common.")
    order: tuple[str, ...] = tuple(label for label in next(iter(parts.values()))[2] if label in common)
    cells, labels = [], []
    for key, (held, rows, cols) in parts.items():
        place = {label: at for at, label in enumerate(cols)}
        here = held if hasattr(held, "T") else held.rows(0, held.shape[0])
        cells.append(here[:, [place[label] for label in order]])
        labels += [f"{key}:{row}" for row in rows]
    if not any(hasattr(part, "tocsr") for part in cells):
        return np.vstack([np.asarray(part) for part in cells]), tuple(labels), order
    from scipy.sparse import csr_array, vstack

    return csr_array(vstack([csr_array(part) for part in cells], format="csr")), tuple(labels), order


def holds_obs(path: Path) -> bool:
    """Whether a file has ``.obs``, and what reads it is installed."""
    return path.suffix == ".h5ad" and find_spec("anndata") is not None


def read_object(path: Any, backed: bool = False) -> Any:
    """Return the AnnData object of an .h5ad file."""
    anndata = import_optional("anndata", "reading .obs of an .h5ad file")
    try:
        return anndata.read_h5ad(path, backed="r" if backed else None)
    except OSError as error:
        raise FileError(f"cannot read {path} as AnnData in HDF5: {error}. Is it damaged or incomplete?") from error


def read_obs(path: Any) -> Any:
    """Return ``.obs`` of an .h5ad file as a DataFrame."""
    held = read_object(path, backed=True)
    try:
        return held.obs.copy()
    finally:
        held.file.close()


def _rows_of(cells: Any, turned: bool) -> Any:
    """Return cells as they are in memory, or as a source that reads them from the file an object is backed by."""
    node = getattr(cells, "group", cells)  # of a sparse matrix in its file: where its parts are
    module = type(node).__module__.partition(".")[0]
    if module == "h5py":
        return stored_cells(Store(Path(node.file.filename), "hdf5", node.file), node, turned, node.file.filename)
    if module == "zarr" and (root := getattr(node.store, "root", None)) is not None:
        return stored_cells(Store(Path(root), "zarr"), node, turned, str(root))
    cells = cells.to_memory() if hasattr(cells, "to_memory") else cells
    cells = cells if hasattr(cells, "T") else np.asarray(cells)
    return cells.T if turned else cells


def axes(obs_rows: bool) -> tuple[str, str]:
    """Return where the memberships of rows and of columns are kept."""
    return ("obsm", "varm") if obs_rows else ("varm", "obsm")


def masks_of(adata: Any, key: str, obs_rows: bool) -> tuple[Flags, Flags, Any, dict[str, Any]]:
    """Return the memberships kept in an object, (K, n) and (K, m), their names, and what is known about them."""
    masks = []
    for place in axes(obs_rows):
        held = getattr(adata, place)
        if key not in held:
            known = first_few(list(held))
            raise SolutionError(f"the AnnData object has no memberships .{place}[{key!r}]; it has {known}.")
        mask = held[key]
        mask = np.asarray(mask.toarray() if hasattr(mask, "toarray") else mask)
        if mask.ndim != 2 or not np.isin(mask, (0, 1)).all():
            raise SolutionError(f".{place}[{key!r}] must hold True and False, one column for each bicluster.")
        masks.append(mask.astype(np.bool_).T)
    kept = adata.uns.get(key)
    kept = kept if hasattr(kept, "get") else {}
    info, names = kept.get("info", {}), list(kept.get("biclusters", {}).get("bicluster", ()))
    plain = {str(name): value.tolist() if hasattr(value, "tolist") else value for name, value in info.items()}
    return masks[0], masks[1], names if len(names) == len(masks[0]) else None, plain


def add_results(adata: Any, evaluation: Any, key: str, obs_rows: bool) -> None:
    """Put memberships and results into an object; entries of this name are replaced, nothing else is touched."""
    check_key(key)
    solution = evaluation.solution
    expected = adata.shape if obs_rows else adata.shape[::-1]
    if tuple(expected) != solution.shape:
        raise SolutionError(f"the AnnData object has shape {tuple(expected)}, the solution is for {solution.shape}.")
    tree = results_tree(evaluation)  # whatever can fail comes before the object changes
    masks = [np.ascontiguousarray(mask.T) for mask in (solution.row_masks, solution.col_masks)]
    for place, mask in zip(axes(obs_rows), masks, strict=True):
        getattr(adata, place)[key] = mask
    adata.uns[key] = tree


def check_key(key: str) -> None:
    """Raise unless a name can be one of an entry."""
    if not isinstance(key, str) or "/" in key or not key.strip():
        raise ParameterError(f"key is {key!r}; a name without '/' is needed.")


def results_tree(evaluation: Any) -> dict[str, Any]:
    """Return an evaluation as the plain tree stored under ``.uns``."""
    import pandas as pd

    verdict = evaluation.verdict.to_dict()
    storable = (str, bool, int, float, np.generic)
    info = {str(name): value for name, value in evaluation.solution.info.items() if isinstance(value, storable)}
    return {
        "scores": {str(name): float(value) for name, value in evaluation.scores.items()},
        "status": {str(name): str(reason) for name, reason in evaluation.status.items()},
        "biclusters": _storable_table(evaluation.biclusters),
        "mergers": {str(name): np.asarray(values) for name, values in evaluation.mergers.items()},
        "verdict": {
            "headline": verdict["headline"],
            "reason": verdict["reason"],
            "biclusters": _storable_table(pd.DataFrame(verdict["biclusters"])),
            **{key: _texts(verdict[key]) for key in ("next_steps", "notes", "nouns")},
        },
        "findings": _texts(evaluation.findings),
        "shape": np.array(evaluation.solution.shape),
        "info": info,
    }


def _texts(lines: Iterable[Any]) -> Any:
    return np.array([str(line) for line in lines], dtype=object)


def _storable_table(table: Any) -> Any:
    """Return a table whose columns are numbers or texts, the only ones files can hold."""
    table = table.copy()
    for column in table.columns:
        if table[column].dtype.kind not in "fiub":
            table[column] = _texts(table[column].astype(object).where(table[column].notna(), ""))
    return table.rename(index=str, columns=str)

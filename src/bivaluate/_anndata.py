"""AnnData objects: their cells and labels in, memberships in and out, results out."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bivaluate._errors import FileError, MatrixError, MissingExtraError, ParameterError, SolutionError, suggest
from bivaluate._rows import take_near
from bivaluate._text import first_few

KEY = "bivaluate"
Labelled = tuple[Any, tuple[str, ...], tuple[str, ...]]  # cells, labels of rows and of columns
_SPAN = 1 << 14  # rows of a backed object that are read at once for those wanted among them


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
        found = f"layers: {first_few(known)}.{suggest(layer, known)}"
        raise ParameterError(f"the AnnData object has no layer {layer!r}; {found}")
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
    try:
        import anndata
    except ImportError as error:
        raise MissingExtraError("reading .obs of an .h5ad file", "anndata") from error
    try:
        return anndata.read_h5ad(path, backed="r" if backed else None)
    except OSError as error:
        raise FileError(f"cannot read {path}: {error}.") from error


def read_obs(path: Any) -> Any:
    """Return ``.obs`` of an .h5ad file as a DataFrame."""
    held = read_object(path, backed=True)
    try:
        return held.obs.copy()
    finally:
        held.file.close()


def _rows_of(cells: Any, turned: bool) -> Any:
    module = type(cells).__module__
    if module.startswith("h5py") or module.startswith("zarr"):
        return BackedRows(cells, turned)
    if hasattr(cells, "to_memory"):  # a sparse matrix in its file
        in_order = (getattr(cells, "format", "csr") == "csr") != turned
        if in_order and not turned:
            return BackedRows(cells, turned)
        cells = cells.to_memory()
    cells = cells if hasattr(cells, "T") else np.asarray(cells)
    return cells.T if turned else cells


class BackedRows:
    """Rows of an object backed by its file, read through its handle or, where it was sent, through a new one."""

    def __init__(self, array: Any, turned: bool) -> None:
        self._array, self._is_turned = array, turned
        self.sparse = hasattr(array, "to_memory")
        n, m = (int(side) for side in array.shape)
        self.shape = (m, n) if turned else (n, m)
        self.dtype: np.dtype[Any] = np.dtype(array.dtype)

    def __reduce__(self) -> Any:
        node = getattr(self._array, "group", self._array)  # of a sparse matrix: where its parts are
        if type(node).__module__.startswith("h5py"):
            return _opened_again, (str(Path(node.file.filename).absolute()), node.name, self._is_turned)
        root = getattr(node.store, "root", None)
        if root is None:
            raise MatrixError(
                "an AnnData object that is not backed by a file cannot be sent to other processes; write it to one."
            )
        return _opened_again, (str(Path(root).absolute()), f"/{node.path}", self._is_turned)

    def transposed(self) -> Any:
        """Return the same rows with rows and columns swapped."""
        return _rows_of(self._array, not self._is_turned)

    def rows(self, start: int, stop: int) -> Any:
        """Return rows start:stop, read from the file."""
        part = self._array[:, start:stop].T if self._is_turned else self._array[start:stop]
        if not self.sparse:
            return np.asarray(part)
        from scipy.sparse import csr_array

        return csr_array(part)

    def take(self, rows: NDArray[np.int64]) -> Any:
        """Return the rows of these numbers; what lies close together is read at once."""
        return take_near(self, rows, _SPAN)


def _opened_again(path: str, key: str, turned: bool) -> BackedRows:
    """Return the rows of a backed object where it was sent to."""
    if not Path(path).exists():
        raise MatrixError(
            f"{path} is missing, or was moved. Every process that reads the matrix, on other machines too, needs it under "
            "this path."
        )
    if Path(path).is_dir():
        import zarr

        node: Any = zarr.open_group(path, mode="r")[key.strip("/")]
    else:
        import h5py

        node = h5py.File(path, "r")[key]
    if hasattr(node, "keys"):
        from anndata.io import sparse_dataset

        node = sparse_dataset(node)
    return BackedRows(node, turned)


def axes(obs_rows: bool) -> tuple[str, str]:
    """Return where the memberships of rows and of columns are kept."""
    return ("obsm", "varm") if obs_rows else ("varm", "obsm")


def masks_of(adata: Any, key: str, obs_rows: bool) -> tuple[NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
    """Return the memberships kept in an object, (K, n) and (K, m), and what is known about them."""
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
    kept = adata.uns.get(key, {})
    info = kept.get("info", {}) if hasattr(kept, "get") else {}
    plain = {str(name): value.tolist() if hasattr(value, "tolist") else value for name, value in info.items()}
    return masks[0], masks[1], plain


def add_results(adata: Any, evaluation: Any, key: str, obs_rows: bool) -> None:
    """Put memberships and results into an object; entries of this name are replaced, nothing else is touched."""
    check_key(key)
    solution = evaluation.solution
    expected = adata.shape if obs_rows else adata.shape[::-1]
    if tuple(expected) != solution.shape:
        raise SolutionError(
            f"the AnnData object holds a matrix of shape {tuple(expected)}, but the solution is for one of {solution.shape}."
        )
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
            **{
                key: np.array([str(line) for line in verdict[key]], dtype=object)
                for key in ("next_steps", "notes", "nouns")
            },
        },
        "findings": np.array([str(line) for line in evaluation.findings], dtype=object),
        "shape": np.array(evaluation.solution.shape),
        "info": info,
    }


def _storable_table(table: Any) -> Any:
    """Return a table whose columns are numbers or texts, the only ones files can hold."""
    table = table.copy()
    for column in table.columns:
        if table[column].dtype.kind not in "fiub":
            known = zip(table[column], table[column].notna(), strict=True)
            table[column] = np.array([str(value) if is_known else "" for value, is_known in known], dtype=object)
    return table.rename(index=str, columns=str)

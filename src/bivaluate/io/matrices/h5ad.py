"""AnnData's .h5ad: read as genes x cells, and results written back beside the data.

AnnData stores observations (cells, samples) as rows; bivaluate's rows are the variables (genes), so the
stored matrix is transposed on reading. Read with ``transpose=True`` to have observations as rows.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from bivaluate._anndata import KEY, axes, check_key, results_tree
from bivaluate._errors import SolutionError
from bivaluate._files import atomic_path
from bivaluate._text import Advice, Option
from bivaluate.io.formats import Format, Options, import_optional
from bivaluate.io.matrices import _hdf5 as hdf5
from bivaluate.io.matrices._anndata import index_of, read_layout
from bivaluate.io.matrices._stored import Store
from bivaluate.io.source import Source
from bivaluate.matrix import Matrix


def _read(source: Source, options: Options) -> Matrix:
    """Read X, a layer or raw, dense or sparse, as variables x observations."""
    with hdf5.guarded(source):
        return read_layout(Store(source.path, "hdf5"), source, options.layer)


def write_h5ad_results(
    path: str | os.PathLike[str], evaluation: Any, *, key: str = KEY, transpose: bool = False
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
    check_key(key)
    solution = evaluation.solution
    rows, cols = axes(transpose)
    masks = {rows: solution.row_masks.T, cols: solution.col_masks.T}
    with hdf5.opened(source) as file:
        sizes = {f"{k}m": len(index_of(hdf5.member(file, k, source.name), source.name)) for k in ("var", "obs")}
    if {name: len(mask) for name, mask in masks.items()} != sizes:
        raise SolutionError(
            Advice(
                f"{source.name} has {sizes['obsm']} observations and {sizes['varm']} variables, but the solution is for a "
                f"matrix of shape {solution.shape}. Rows are variables (genes)",
                Advice(", or observations with ", Option("transpose", True)),
                ".",
            )
        )
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
FORMAT = Format(
    "h5ad",
    "AnnData .h5ad",
    (".h5ad",),
    hdf5.detector("h5ad"),
    _read,
    options=("layer",),
    needs="h5py",
    note=_NOTE,
    on_trial="matrix",
)

"""`bivaluate doctor`: what is installed, for bug reports; is a run folder whole; and every kernel compiled once."""

from pathlib import Path
from typing import Annotated, Any

import typer

from bivaluate._errors import ParameterError, RunError
from bivaluate._text import plural
from bivaluate.cli.options import Csv, Json, option
from bivaluate.cli.tables import err, give, out, print_table

#: What each extra is for.
ADDS = {"parquet": "Parquet tables", "zarr": "zarr folders", "mudata": "MuData objects", "excel": "Excel sheets"}
ADDS |= {"anndata": ".h5ad files, AnnData objects, CellRanger, Loom and HDF5 files"}
ADDS |= {
    "tables": "polars and pyarrow tables",
    "rdata": "R's Biclust objects (.rds)",
    "dask": "the workers of a Dask cluster (--scheduler)",
}
ADDS |= {"graph": "the algorithms leiden and louvain", "plots": "heat maps with annotation tracks"}


def doctor(
    folder: Annotated[Path | None, typer.Argument(metavar="RUN", help="Verify this run folder instead.")] = None,
    warm: Annotated[bool, option("Compile every kernel now, so that no later command waits for it.", "--warm")] = False,
    as_json: Json = False,
    csv: Csv = None,
) -> None:
    """Say what bivaluate finds on this machine; paste it into a bug report. Or verify a run folder.

    Of a run folder the journal, checksums of matrices, solutions and tables are compared; nothing is changed.

    Examples:

    - `bivaluate doctor`
    - `bivaluate doctor --json`
    - `bivaluate doctor --warm`
    - `bivaluate doctor run`
    """
    if folder is not None:
        if warm or as_json or csv:
            raise ParameterError("a run folder is verified without --warm, --json and --csv.")
        _verify(folder)
        return
    if warm:
        compile_all()
    found = _examine()
    packages = {name: (version, "") for name, version in found["needed"].items()} | found["optional"]
    named = [(name, got or "not installed", extra, ADDS.get(extra, "")) for name, (got, extra) in packages.items()]
    rows = [dict(zip(("package", "version", "extra", "for"), row, strict=True)) for row in named]
    if not give(rows, found, csv, as_json):
        print_table(["", ""], [(name, str(value)) for name, value in found["machine"].items()])
        out.print()
        print_table(list(rows[0]), [list(row.values()) for row in rows])


def _verify(folder: Path) -> None:
    from bivaluate.sweep.again import continue_command
    from bivaluate.sweep.load import check_run, load_run

    found = check_run(folder)
    for fault in found:
        typer.echo(f"  • {fault}")
    if found:
        raise RunError(f"{folder} is not whole: {plural(len(found), 'fault')}, listed above.")
    run = load_run(folder)
    fits = f"{len(run.cells) - len(run.missing)} of {plural(len(run.cells), 'fit')} finished"
    if not run.missing and not run.missing_copies:
        typer.echo(f"{folder} is whole: {fits}.")
        return
    copies = f", {plural(run.missing_copies, 'fit')} on surrogates not" if run.missing_copies else ""
    typer.echo(f"{folder}: nothing is damaged, but the run is not finished ({fits}{copies}). Continue it with")
    typer.echo(f"  {continue_command(run)}")


def _examine() -> dict[str, Any]:
    """Return what is said of the machine, and the versions of packages: needed ones, and optional ones by extra."""
    import platform
    import re
    import sys
    from importlib.metadata import requires

    from bivaluate import __version__
    from bivaluate._parallel import count_cores
    from bivaluate.datasets.cache import cache_folder
    from bivaluate.sweep.run import installed_version

    needed: dict[str, str | None] = {}
    optional: dict[str, tuple[str | None, str]] = {}
    for line in requires("bivaluate") or []:
        name = re.split(r"[^A-Za-z0-9_.-]", line, maxsplit=1)[0]
        extra = re.search(r"extra == ['\"](\w+)['\"]", line)
        if extra is None:
            needed[name] = installed_version(name)
        elif name != "bivaluate" and extra[1] not in ("test", "dev", "docs", "all"):
            optional[name] = installed_version(name), extra[1]
    machine = {"bivaluate": __version__, "python": sys.version.split()[0], "system": platform.platform()}
    found = {"cores": count_cores(None), "compiled kernels": _kernel_folder(), "data": str(cache_folder())}
    return {"machine": machine | found, "needed": needed, "optional": optional}


def _kernel_folder() -> str:
    """Return where numba keeps compiled kernels."""
    from bivaluate.measures._engine import _kernels_two_pass as kernels

    folders = [kernel.stats.cache_path for kernel in vars(kernels).values() if hasattr(kernel, "stats")]
    return next(filter(None, folders), "not kept (no folder is writable): compiled again in every process")


def compile_all() -> None:
    """Score and search matrices large enough for every kernel."""
    import warnings

    import numpy as np
    from scipy.sparse import csr_array

    from bivaluate.algorithms import ALGORITHMS, make_estimator
    from bivaluate.datasets import make_biclusters
    from bivaluate.evaluation import evaluate
    from bivaluate.solution import Biclustering

    X, _, _ = make_biclusters((600, 60), [{"rows": 60, "cols": 12}, {"rows": 80, "cols": 15}], random_state=0)
    X = np.array(X)
    many = Biclustering([(range(25 * k, 25 * k + 300), range(2 * k, 2 * k + 30)) for k in range(12)], X.shape)
    exact = X.copy()
    exact[:325, :32] = np.add.outer(np.arange(325.0), np.arange(32.0) ** 2)  # errors of 0 are computed with care
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        err.print("scoring …")
        evaluate(X, many, metrics="all")
        for values in (exact, csr_array(np.where(exact > 1, exact, 0.0))):
            evaluate(values, many)
        for key in ALGORITHMS:
            err.print(f"{key} …")
            try:
                estimator = make_estimator(key, 2, 0)
                estimator._shared = {}  # as in a sweep, where more is compiled
                estimator.fit(abs(X[:200, :30]))
            except ImportError:
                err.print(f"{key}: not installed")

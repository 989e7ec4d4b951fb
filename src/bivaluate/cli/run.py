"""`bivaluate run`: a matrix and the name of an algorithm in, a solution out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bivaluate._errors import FileError, ParameterError
from bivaluate.cli.console import err, out

if TYPE_CHECKING:
    from bivaluate.algorithms import Algorithm
    from bivaluate.algorithms._estimator import BiclusteringEstimator
    from bivaluate.matrix import Matrix
    from bivaluate.solution import Biclustering


def run(
    matrix: Annotated[
        Path | None, typer.Argument(help="The data matrix: CSV/TSV (.gz too), .npy, .npz, Parquet, GCT, h5ad, …")
    ] = None,
    algorithm: Annotated[
        str, typer.Option("--algorithm", "-a", help="Which algorithm: cca, las or spectral (see --list).")
    ] = "las",
    n_biclusters: Annotated[int, typer.Option("-k", "--biclusters", help="How many biclusters to find.")] = 5,
    seed: Annotated[int, typer.Option(help="Same seed, same answer.")] = 0,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write (default: MATRIX.ALGORITHM.json in this folder)."),
    ] = None,
    parameter: Annotated[
        list[str] | None, typer.Option("--set", help="A parameter of the algorithm, as NAME=VALUE; repeat for more.")
    ] = None,
    show: Annotated[bool, typer.Option("--list", help="List the algorithms and their parameters, and stop.")] = False,
    transpose: Annotated[bool, typer.Option(help="The file stores objects as columns: swap rows and columns.")] = False,
    matrix_format: Annotated[str | None, typer.Option(help="Format of the matrix (default: detected).")] = None,
    layer: Annotated[str | None, typer.Option(help="Layer of an .h5ad file.")] = None,
    sheet: Annotated[str | None, typer.Option(help="Sheet of an Excel file.")] = None,
) -> None:
    """Run a biclustering algorithm on a matrix and write the solution.

    Examples:

    - `bivaluate run expression.csv --algorithm las -k 8 --seed 1 -o solution.json`
    - `bivaluate run expression.csv -a spectral -k 3 --set selection=best`
    - `bivaluate run --list`
    """
    from bivaluate.algorithms import ALGORITHMS, make_estimator
    from bivaluate.io import read_matrix, write_solution

    if show:
        for record in ALGORITHMS.values():
            _describe(record)
        return
    if matrix is None:
        raise ParameterError("which matrix? For example: bivaluate run expression.csv --algorithm las -k 8")
    estimator = make_estimator(algorithm, n_biclusters, seed, **_parameters(parameter or []))
    target = output or Path(f"{matrix.name.split('.')[0]}.{algorithm}.json")
    if not target.parent.is_dir():
        raise FileError(f"cannot write {target}: there is no folder {target.parent}.")
    X = read_matrix(matrix, format=matrix_format, transpose=transpose, layer=layer, sheet=sheet)
    solution = _fit(estimator, X)
    write_solution(solution, target, X=X)
    _print_solution(solution, n_biclusters, estimator)
    err.print(f"wrote {target}", markup=False)


def _parameters(settings: list[str]) -> dict[str, Any]:
    """Return NAME=VALUE settings with the values as numbers, booleans, None or words."""
    from bivaluate.sweep.plan import parse_assignments

    found = parse_assignments("--set", settings)
    for name, option in (("n_biclusters", "-k"), ("random_state", "--seed")):
        if name in found:
            raise ParameterError(f"--set {name}={found[name]}: use {option} for this one.")
    return found


def _fit(estimator: BiclusteringEstimator, X: Matrix) -> Biclustering:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as progress:
        task = progress.add_task("finding biclusters", total=estimator.n_biclusters)
        estimator._progress = lambda done, total: progress.update(task, completed=done, total=total)
        return estimator.fit(X).solution_


def _print_solution(solution: Biclustering, n_wanted: int, estimator: BiclusteringEstimator) -> None:
    for k, bicluster in enumerate(solution):
        n_rows, n_cols = bicluster.shape
        out.print(f"B{k + 1}: {n_rows} rows x {n_cols} columns")
    if len(solution) < n_wanted:
        out.print(f"{len(solution)} of {n_wanted} biclusters: {type(estimator).__name__} found no more.", markup=False)


def _describe(record: Algorithm) -> None:
    parameters = ", ".join(
        f"{name}={value}"
        for name, value in record.estimator().get_params().items()
        if name not in ("n_biclusters", "random_state")
    )
    out.print(f"{record.key}: {record.name}", style="bold", markup=False)
    out.print(f"  {record.summary}", markup=False)
    out.print(f"  --set {parameters}", markup=False)
    out.print(f"  {record.reference}", markup=False)

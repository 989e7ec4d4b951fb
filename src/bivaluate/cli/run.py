"""`bivaluate run`: a matrix and the name of an algorithm in, a solution out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from bivaluate._errors import ParameterError
from bivaluate._text import plural
from bivaluate.cli.options import MATRIX, MatrixFile, OutputFormat, Parameters, Seed, check_target, grouped, option
from bivaluate.cli.tables import err, out, progress

if TYPE_CHECKING:
    from bivaluate.algorithms import Algorithm

OWN_OPTIONS = {"n_biclusters": "-k", "random_state": "--seed"}  # of every algorithm


@grouped
def run(
    matrix_file: MatrixFile,
    matrix: Annotated[Path | None, MATRIX] = None,
    algorithm: Annotated[str, option("Which algorithm (see --list).", "--algorithm", "-a")] = "las",
    n_biclusters: Annotated[int, option("How many biclusters to find.", "-k")] = 5,
    random_state: Seed = 0,
    parameters: Parameters = None,
    target: Annotated[Path | None, option("File (default: MATRIX.ALGORITHM.json).", "--out", "-o")] = None,
    format: OutputFormat = None,
    show: Annotated[bool, option("List the algorithms and their parameters, and stop.", "--list")] = False,
) -> None:
    """Run a biclustering algorithm on a matrix and write the solution.

    Examples:

    - `bivaluate run expression.csv --algorithm las -k 8 --seed 1 -o solution.json`
    - `bivaluate run expression.csv -a spectral -k 3 --param selection=best`
    - `bivaluate run --list`
    """
    from bivaluate.algorithms import ALGORITHMS, make_estimator
    from bivaluate.io import write_solution

    if show:
        for record in ALGORITHMS.values():
            _describe(record)
        return
    if matrix is None:
        raise ParameterError("MATRIX is missing. Example: bivaluate run expression.csv --algorithm las -k 8")
    from bivaluate.sweep.plan import parse_assignments

    settings = parse_assignments("--param", parameters or [])
    for name in OWN_OPTIONS.keys() & settings:
        raise ParameterError(f"--param {name}={settings[name]}: use {OWN_OPTIONS[name]} for this one.")
    estimator = make_estimator(algorithm, n_biclusters, random_state, **settings)
    target = target or Path(f"{matrix.name.split('.')[0]}.{algorithm}.json")
    check_target(target, format)
    X = matrix_file.read(matrix)
    with progress() as update:
        if update is not None:
            estimator._progress = lambda done, total: update("finding biclusters", done, total)
        solution = estimator.fit(X).solution_
    write_solution(solution, target, X=X, format=format)
    for k, bicluster in enumerate(solution):
        n_rows, n_cols = bicluster.shape
        out.print(f"B{k + 1}: {plural(n_rows, 'row')} x {plural(n_cols, 'column')}")
    if len(solution) < n_biclusters:
        wanted = plural(n_biclusters, "bicluster")
        out.print(f"{len(solution)} of {wanted}: {type(estimator).__name__} found no more.")
    err.print(f"wrote {target}")


def _describe(record: Algorithm) -> None:
    found = {name: value for name, value in record.estimator().get_params().items() if name not in OWN_OPTIONS}
    parameters = ", ".join(f"{name}={value}" for name, value in found.items())
    out.print(f"{record.key}: {record.name}", style="bold")
    out.print(f"  {record.summary}\n  --param {parameters}\n  {record.reference}")

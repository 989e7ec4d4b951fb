"""`bivaluate run`: a matrix and the name of an algorithm in, a solution out."""

import warnings
from pathlib import Path
from typing import Annotated

from bivaluate._check import check_int
from bivaluate._errors import BivaluateError, CommandError, ParameterError, SearchWarning
from bivaluate._text import plural
from bivaluate.cli.files import stem_of
from bivaluate.cli.options import COMMANDS, MatrixFile, MatrixPath, Parameters, Seed, check_target, grouped, option
from bivaluate.cli.tables import out, print_notes, progress, say_written

N_BICLUSTERS = 5  # where the algorithm has to be told
OWN_OPTIONS = {"n_biclusters": "-k", "random_state": "--seed"}  # of every algorithm


@grouped
def run(
    matrix_file: MatrixFile,
    matrix: MatrixPath,
    algorithm: Annotated[str, option(f"A key, recipe:NAME, or {COMMANDS}", "--algorithm", "-a")] = "las",
    n_biclusters: Annotated[int | None, option("How many biclusters to find, or at most. [5 or auto]", "-k")] = None,
    random_state: Seed = 0,
    parameters: Parameters = None,
    target: Annotated[Path | None, option("File (default: MATRIX.ALGORITHM.json).", "--out", "-o")] = None,
) -> None:
    """Run a biclustering algorithm on a matrix and write the solution.

    Examples:

    - `bivaluate run expression.csv --algorithm las -k 8 --seed 1 -o las.json`
    - `bivaluate run expression.csv -a spectral -k 3 --param selection=best`

    With files of your own:

    - `bivaluate run expression.csv --algorithm 'mine=cmd:python mytool.py {matrix} {out} {k}' -k 5`
    - `bivaluate run expression.csv -a recipe:qubic --param program=./qubic -k 20`
    - `bivaluate run expression.csv -a sklearn.cluster:SpectralCoclustering -k 3` (or mymodule:MyClass)
    """
    from bivaluate.algorithms.command import style_of
    from bivaluate.algorithms.registry import algorithm_label, finds_k, is_command, make_estimator
    from bivaluate.io import write_solution
    from bivaluate.sweep.plan import parse_assignments
    from bivaluate.sweep.work import fit, reason_of

    settings = parse_assignments("--param", parameters or [])
    for name in OWN_OPTIONS.keys() & settings:
        raise ParameterError(f"--param {name}={settings[name]}: use {OWN_OPTIONS[name]} for this one.")
    if is_command(algorithm) and "recipe:" not in algorithm:
        settings = {"matrix": style_of(matrix), **settings}
    open_ended = finds_k(algorithm)
    usual = "auto" if open_ended else N_BICLUSTERS
    wanted = usual if n_biclusters is None else check_int("n_biclusters", n_biclusters, 1)
    estimator = make_estimator(algorithm, wanted, random_state, **settings)
    name = algorithm_label(algorithm).split()[0].replace(":", "_") if ":" in algorithm else algorithm
    target = target or Path(f"{stem_of(matrix)}.{name}.json")
    check_target(target)
    X = matrix_file.read(matrix)
    with progress() as update, warnings.catch_warnings(action="ignore", category=SearchWarning):  # said below
        if update is not None:

            def tell(done: int, total: int | None, stage: str = "finding biclusters") -> None:
                update(stage, done, total)

            tell(0, None)
            estimator._progress = tell
        try:
            solution = fit(estimator, X)
        except Exception as error:
            if ":" not in algorithm or isinstance(error, BivaluateError):
                raise
            raise CommandError(f"{algorithm} failed: {reason_of(error)}") from error
    write_solution(solution, target, X=X)
    for name, bicluster in zip(solution.names, solution, strict=True):
        sizes = zip(bicluster.shape, X.nouns, strict=True)
        out.print(f"{name}: {' × '.join(plural(n, noun.removesuffix('s')) for n, noun in sizes)}")
    if not len(solution):
        out.print(f"No bicluster was found by {type(estimator).__name__}.")
    elif isinstance(wanted, int) and len(solution) < wanted:
        out.print(f"{len(solution)} of {plural(wanted, 'bicluster')}: {type(estimator).__name__} found no more.")
    print_notes(getattr(estimator, "notes_", ()))
    say_written(target)

"""`bivaluate confirm`, `recur` and `traits`: do biclusters hold in other data, come again, share what is known?"""

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from bivaluate._errors import ParameterError
from bivaluate._parallel import count_cores
from bivaluate._text import distinct, plural
from bivaluate.cli import options, tables
from bivaluate.cli._types import Recurrence
from bivaluate.cli.files import stem_of
from bivaluate.cli.options import Csv, Jobs, Json, MatrixFile, Report, Seed, SolutionFile, option
from bivaluate.cli.tables import out, print_list, print_records, say_written

SolutionPath = Annotated[Path, typer.Argument(help="The biclusters, in any format bivaluate reads.")]


@dataclasses.dataclass(frozen=True)
class Asking:
    """How to ask; the fields are parameters of :func:`bivaluate.confirm`."""

    halves: Annotated[str | None, option("Split the one matrix: columns, or rows (for text and ratings).")] = None
    algorithm: Annotated[str | None, option("What found them (default: see the solution).", "--algorithm", "-a")] = None
    n_biclusters: Annotated[int | None, option("How many it was asked for (default: see the solution).", "-k")] = None
    ordered: Annotated[bool, option("Columns are ordered: keep surrogates smooth.", "--ordered-columns")] = False
    loose: Annotated[bool, option("Match labels up to case and version suffix.", "--loose")] = False
    surrogates: Annotated[int, option("Surrogates to repeat the search on; 0 for the quick form.")] = 10
    random_state: Annotated[int, option("Same seed, same answer.", "--seed")] = 0
    folder: Annotated[Path | None, option("Folder to keep repeated searches in, and go on from.", "--out", "-o")] = None


@options.grouped
def confirm(
    solution: SolutionPath,
    matrix_file: MatrixFile,
    solution_file: SolutionFile,
    asking: Asking,
    annotations: options.AnnotationFile,
    found_in: Annotated[Path, option("The matrix they were found in.", "--found-in")],
    other: Annotated[Path | None, option("The matrix to judge them in; rows are matched by label.", "--in")] = None,
    jobs: Jobs = None,
    csv: Csv = None,
    report: Report = None,
    as_json: Json = False,
) -> None:
    """Ask whether biclusters found in one matrix hold in another.

    The rows of a bicluster must move together in the other matrix more than equally active rows, and more than the rows
    that the same search finds in surrogates of the first matrix. The share that chance gives is printed too.

    Examples:

    - `bivaluate confirm found.json --found-in expression.csv --halves columns --surrogates 0` (the quick form)

    With files of your own:

    - `bivaluate confirm found.json --found-in cohort1.csv --in cohort2.csv`
    - `bivaluate confirm found.json --found-in cells.h5ad --halves columns --algorithm isa`
    """
    from bivaluate.elsewhere.confirm import confirm as confirm_solution

    A = matrix_file.read(found_in)
    B = None if other is None else matrix_file.read(other)
    given = solution_file.read(solution, A)
    with tables.progress("repeating the search") as tell:
        result = confirm_solution(given, A, B, **dataclasses.asdict(asking), jobs=count_cores(jobs), progress=tell)
    traits = annotations.test(found_in)(given, A)
    if report is not None:
        from bivaluate.report.elsewhere import confirm_section, report_on, trait_sections

        panels, place = [confirm_section(result), *trait_sections(traits)], (str(found_in), str(solution))
        report_on(report, {solution.stem: (given, A)}, panels, [place], lambda found, X: traits, result.headline)
        say_written(report)
    document = result.to_dict() | ({} if traits is None else {"traits": traits.to_dict("records")})
    if tables.give(result.records, document, csv, as_json):
        return
    shown = {"bicluster": "", "n_rows": "rows", "shared_rows": "shared", "z": "z", "p": "p", "q": "q"}
    shown |= {"found_as": "found as", "direction": "pattern there", "nearest": "like", "verdict": "verdict"}
    said = [r | {"verdict": ": ".join(filter(None, (r["verdict"], r["reason"])))} for r in result.records]
    print_records(shown, said)
    out.print(f"\n{result.summary}", style="bold")
    tables.print_traits(traits)
    tables.print_notes(map(options.spoken, result.notes))


@options.grouped
def recur(
    paths: Annotated[list[Path], typer.Argument(help="Run or cNMF folders, solutions, or one .h5ad with --sample.")],
    matrix_file: MatrixFile,
    solution_file: SolutionFile,
    matrices: Annotated[list[Path] | None, option("The matrix of each solution, in order; repeat.", "--matrix")] = None,
    sample: Annotated[str | None, option("Column of .obs that names the sample of each cell.")] = None,
    algorithm: Annotated[
        str | None, option("Which to take from a run, or to fit with (nmf).", "--algorithm", "-a")
    ] = None,
    k: Annotated[int | None, option("K to take from a run or cNMF folder, or to fit samples with (10).", "-k")] = None,
    folder: Annotated[Path | None, option("Folder for fits, groups.json and solutions.", "--out", "-o")] = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    csv: Csv = None,
    report: Report = None,
    as_json: Json = False,
) -> None:
    """Find the biclusters or programs that recur over samples (meta-programs).

    Sets of rows are grouped by the labels they share beyond chance; a group occurs in at least two samples. Of factors
    the 50 rows with the largest spectra scores are taken.

    Examples:

    - `bivaluate recur found.json biclust.txt --matrix expression.csv --matrix expression.csv`

    With files of your own:

    - `bivaluate recur patient1_cnmf patient2_cnmf patient3_cnmf -k 10`
    - `bivaluate recur tumours.h5ad --sample patient -k 10 --out programs`
    - `bivaluate recur a.json b.json --matrix a.csv --matrix b.csv`
    """
    from bivaluate._anndata import read_object
    from bivaluate.elsewhere.recur import describe_recurrence
    from bivaluate.elsewhere.recur import recur as recur_samples
    from bivaluate.report.elsewhere import recur_section, report_on

    samples: dict[str, tuple[Any, Any]] = {}
    if sample is None:
        samples = _samples(paths, iter(matrices or []), matrix_file, solution_file, algorithm, k)
        found = recur_samples(samples)
    else:
        if len(paths) != 1 or paths[0].suffix != ".h5ad":
            raise ParameterError("--sample needs one .h5ad file.")
        how: dict[str, Any] = {"algorithm": algorithm or "nmf", "n_biclusters": k or 10, "layer": matrix_file.layer}
        how |= {"random_state": seed, "folder": folder, "jobs": count_cores(jobs)}
        with tables.progress("fitting samples") as tell:
            found = recur_samples(read_object(paths[0]), sample=sample, **how, progress=tell)
    if report is not None:
        known = {name: pair for name, pair in samples.items() if not isinstance(pair[1], tuple)}
        if not known:
            raise ParameterError(
                "--report needs the matrices of samples: give solution files with --matrix, or a run of sweep."
            )
        report_on(report, known, [recur_section(found)], headline=found.summary)
        say_written(report)
    if folder is not None:
        _write(found, folder)
    pairs = [(g["group"], row) for g, own in zip(found.records, found.rows, strict=True) for row in own]
    rows = [{"group": group, "row": row, "samples": n} for group, (row, n) in pairs]
    if tables.give(rows, found.to_dict(), csv, as_json, ["group"]):
        return
    if found.records:
        shown = {"group": "", "n_samples": "samples", "n_members": "members", "n_rows": "rows"}
        shown |= {"closeness": "closeness", "best_member": "best member"}
        shown |= {"nearest": "nearest group", "nearest_closeness": "its closeness"}
        print_records(shown, found.records)
        print_list("Rows by recurrence", describe_recurrence(found))
    out.print(f"\n{found.summary}", style="bold")
    tables.print_notes(found.notes)


def _samples(
    paths: list[Path],
    matrices: Iterator[Path],
    matrix_file: MatrixFile,
    solution_file: SolutionFile,
    algorithm: str | None,
    k: int | None,
) -> dict[str, tuple[Any, Any]]:
    """Return a solution and the row labels of every sample, from whatever each path is."""
    from bivaluate.elsewhere.fits import best_of_run
    from bivaluate.io.solutions.cnmf import FORMAT, read_programs
    from bivaluate.io.source import Source
    from bivaluate.sweep import load_run
    from bivaluate.sweep.folder import JOURNAL

    found: list[tuple[str, Any]] = []
    for path in paths:
        if (path / JOURNAL).is_file():
            found += best_of_run(load_run(path), algorithm, k).items()
        elif path.is_dir() and FORMAT.folder is not None and FORMAT.folder(Source(path)):
            found.append((path.name, read_programs(path, k)[1:]))
        elif matrix := next(matrices, None):
            X = matrix_file.read(matrix)
            found.append((path.stem, (solution_file.read(path, X), X)))
        else:
            raise ParameterError(f"{path} needs its matrix, for row labels: name one --matrix per solution, in order.")
    names = distinct([name for name, _ in found], [str(i + 1) for i in range(len(found))])
    return {name: pair for name, (_, pair) in zip(names, found, strict=True)}


def _write(found: Recurrence, target: Path) -> None:
    """Write the groups, rows x samples, and the solution of every sample."""
    import numpy as np

    from bivaluate.io import write_solution
    from bivaluate.matrix import Matrix

    target.mkdir(parents=True, exist_ok=True)
    shape = (len(found.row_labels), len(found.samples))
    table = Matrix(np.zeros(shape), found.row_labels, found.samples, "groups")
    write_solution(found.solution, target / "groups.json", X=table)
    for name, solution in found.solutions.items():
        solution.to_json(target / f"{stem_of(Path(name.replace('/', '_')))}.json")
    say_written(target, f": groups.json and {plural(len(found.solutions), 'solution')}")


@options.grouped
def traits(
    solution: SolutionPath,
    matrix_file: MatrixFile,
    solution_file: SolutionFile,
    annotations: options.TraitFile,
    matrix: Annotated[Path, option("The matrix they come from.", "--matrix")],
    csv: Csv = None,
    report: Report = None,
    as_json: Json = False,
) -> None:
    """Ask what the samples of each bicluster have in common.

    Every annotation is tested against the samples of every bicluster: classes, numbers and survival. p is by
    permutation of the samples, within strata where --within names them; q is Benjamini and Hochberg's.

    Examples:

    - `bivaluate traits found.json --matrix expression.csv --annotations samples.csv --technical batch`

    With files of your own:

    - `bivaluate traits found.json --matrix cells.h5ad --technical batch`
    - `bivaluate traits found.json --matrix expression.csv --annotations patients.csv --survival time,event`
    """
    X = matrix_file.read(matrix)
    found = solution_file.read(solution, X)
    table = annotations.test(matrix)(found, X)
    if table is None:
        raise ParameterError("name the annotations: --annotations samples.csv (an .h5ad file may hold them itself).")
    if report is not None:
        from bivaluate.report.elsewhere import report_on, trait_sections

        pairs, places = {solution.stem: (found, X)}, [(str(matrix), str(solution))]
        report_on(report, pairs, trait_sections(table), places, lambda found, X: table)
        say_written(report)
    records = table.to_dict("records")
    if tables.give(records, records, csv, as_json):
        return
    names = ("trait", "class", "inside", "outside", "effect", "p", "q", "verdict")
    effects = [f"{row['effect_is'] if row['p'] >= 0 else ''} {tables.number(row['effect'])}" for row in records]
    said = [row | {"effect": text.strip()} for row, text in zip(records, effects, strict=True)]
    print_records({"bicluster": "", **{name: name for name in names}}, said)
    tables.print_traits(table)

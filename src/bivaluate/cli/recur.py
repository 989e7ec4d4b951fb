"""`bivaluate recur`: which biclusters or programs come again in other samples."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bivaluate._errors import ParameterError
from bivaluate._text import distinct, plural
from bivaluate.cli.options import Csv, Jobs, Json, MatrixFile, Report, Seed, SolutionFile, grouped, option
from bivaluate.cli.tables import err, out, print_json, print_list, print_records, progress, say_written, write_csv

if TYPE_CHECKING:
    from bivaluate.elsewhere.recur import Recurrence


@grouped
def recur(
    paths: Annotated[
        list[Path], typer.Argument(help="Run folders, cNMF folders, solution files, or one .h5ad file with --sample.")
    ],
    matrix_file: MatrixFile,
    solution_file: SolutionFile,
    matrices: Annotated[
        list[Path] | None, option("The matrix of each solution file, in order; repeatable.", "--matrix")
    ] = None,
    sample: Annotated[str | None, option("Column of .obs that names the sample of each cell.")] = None,
    algorithm: Annotated[
        str | None, option("Algorithm to take from a run, or to fit samples with (nmf).", "--algorithm", "-a")
    ] = None,
    k: Annotated[int | None, option("K to take from a run or cNMF folder, or to fit samples with (10).", "-k")] = None,
    folder: Annotated[
        Path | None, option("Folder for fits, groups.json and a solution per sample.", "--out", "-o")
    ] = None,
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

    - `bivaluate recur patient1_cnmf patient2_cnmf patient3_cnmf -k 10`
    - `bivaluate recur tumours.h5ad --sample patient -k 10 --out programs`
    - `bivaluate recur a.json b.json --matrix a.csv --matrix b.csv`
    """
    from bivaluate._anndata import read_object
    from bivaluate._parallel import count_cores
    from bivaluate.elsewhere.recur import describe
    from bivaluate.elsewhere.recur import recur as recur_samples
    from bivaluate.report.elsewhere import recur_section, report_on

    samples: dict[str, tuple[Any, Any]] = {}
    if sample is None:
        samples = _samples(paths, iter(matrices or []), matrix_file, solution_file, algorithm, k)
        found = recur_samples(samples)
    else:
        if len(paths) != 1 or paths[0].suffix != ".h5ad":
            raise ParameterError("--sample needs one .h5ad file.")
        with progress() as update:
            found = recur_samples(
                read_object(paths[0]),
                sample=sample,
                algorithm=algorithm or "nmf",
                n_biclusters=k or 10,
                layer=matrix_file.layer,
                random_state=seed,
                folder=folder,
                jobs=count_cores(jobs),
                progress=None if update is None else lambda done, total: update("fitting samples", done, total),
            )
    if csv is not None:
        pairs = [(g["group"], row) for g, own in zip(found.records, found.rows, strict=True) for row in own]
        write_csv(csv, [{"group": group, "row": row, "samples": n} for group, (row, n) in pairs], ["group"])
    if report is not None:
        known = {name: pair for name, pair in samples.items() if not isinstance(pair[1], tuple)}
        if not known:
            raise ParameterError("--report needs the matrices of samples: give solution files with --matrix, or a run.")
        report_on(report, known, [recur_section(found)])
        say_written(report)
    if folder is not None:
        _write(found, folder)
    if as_json:
        print_json(found.to_dict())
        return
    if found.records:
        shown = {"group": "", "n_samples": "samples", "n_members": "members", "n_rows": "rows"}
        shown |= {"closeness": "closeness", "best_member": "best member"}
        shown |= {"nearest": "nearest group", "nearest_closeness": "its closeness"}
        print_records(shown, found.records)
        print_list("Rows by recurrence", describe(found))
    out.print(f"\n{found.summary}", style="bold")
    for note in found.notes:
        err.print(f"note: {note}")


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
            raise ParameterError(
                f"{path} needs its matrix, for its row labels: name one --matrix per solution file, in order."
            )
    names = distinct([name for name, _ in found], [str(i + 1) for i in range(len(found))])
    return {name: pair for name, (_, pair) in zip(names, found, strict=True)}


def _write(found: Recurrence, target: Path) -> None:
    """Write the groups, rows x samples, and the solution of every sample."""
    import numpy as np

    from bivaluate.cli.files import stem_of
    from bivaluate.io import write_solution
    from bivaluate.matrix import Matrix

    target.mkdir(parents=True, exist_ok=True)
    shape = (len(found.row_labels), len(found.samples))
    table = Matrix(np.zeros(shape), found.row_labels, found.samples, "groups")
    write_solution(found.solution, target / "groups.json", X=table)
    for name, solution in found.solutions.items():
        solution.to_json(target / f"{stem_of(Path(name.replace('/', '_')))}.json")
    say_written(target, f": groups.json and {plural(len(found.solutions), 'solution')}")

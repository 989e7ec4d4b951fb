"""`bivaluate traits`: what the samples of biclusters have in common."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bivaluate._errors import ParameterError
from bivaluate.cli.options import Csv, Json, MatrixFile, Report, SolutionFile, TraitFile, grouped, option, shared_traits
from bivaluate.cli.tables import err, print_json, print_list, print_records, say_written, write_csv


@grouped
def traits(
    solution: Annotated[Path, typer.Argument(help="The biclusters, in any format bivaluate reads.")],
    matrix_file: MatrixFile,
    solution_file: SolutionFile,
    annotations: TraitFile,
    matrix: Annotated[Path, option("The matrix they come from.", "--matrix")],
    csv: Csv = None,
    report: Report = None,
    as_json: Json = False,
) -> None:
    """Ask what the samples of each bicluster have in common.

    Every annotation is tested against the samples of every bicluster: classes, numbers and survival. p is by
    permutation of the samples, within strata where --within names them; q is Benjamini and Hochberg's.

    Examples:

    - `bivaluate traits found.json --matrix expression.csv --annotations samples.csv`
    - `bivaluate traits found.json --matrix cells.h5ad --technical batch`
    - `bivaluate traits found.json --matrix expression.csv --annotations patients.csv --survival time,event`
    """
    X = matrix_file.read(matrix)
    found = solution_file.read(solution, X)
    table = annotations.test(matrix)(found, X)
    if table is None:
        raise ParameterError(
            "name the annotations: --annotations samples.csv (the .obs of an .h5ad file is read by itself)."
        )
    if csv is not None:
        write_csv(csv, table.to_dict("records"))
    if report is not None:
        from bivaluate.report.elsewhere import report_on, trait_sections

        place = (str(matrix), str(solution))
        report_on(report, {solution.stem: (found, X)}, trait_sections(table), [place], lambda found, X: table)
        say_written(report)
    if as_json:
        print_json(table.to_dict("records"))
        return
    names = ("trait", "class", "inside", "outside", "effect", "p", "q", "verdict")
    print_records({"bicluster": "", **{name: name for name in names}}, table.to_dict("records"))
    print_list("What their samples share", shared_traits(table))
    for note in table.attrs["notes"]:
        err.print(f"note: {note}")

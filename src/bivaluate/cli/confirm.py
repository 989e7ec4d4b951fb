"""`bivaluate confirm`: do biclusters found in one matrix hold in another?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bivaluate.cli.options import (
    AnnotationFile,
    Csv,
    Jobs,
    Json,
    MatrixFile,
    OrderedColumns,
    Seed,
    SolutionFile,
    grouped,
    option,
)
from bivaluate.cli.tables import err, number, out, print_json, print_table, progress, say_written, write_csv


@grouped
def confirm(
    solution: Annotated[Path, typer.Argument(help="The biclusters, in any format bivaluate reads.")],
    matrix_file: MatrixFile,
    solution_file: SolutionFile,
    annotation_file: AnnotationFile,
    found_in: Annotated[Path, option("The matrix they were found in.", "--found-in")],
    in_: Annotated[Path | None, option("The matrix to judge them in; rows are matched by label.", "--in")] = None,
    halves: Annotated[
        str | None, option("Split the one matrix instead: columns, or rows (for text and ratings).")
    ] = None,
    algorithm: Annotated[
        str | None, option("What found them (default: as the solution says); without it, the quick form.", "-a")
    ] = None,
    n_biclusters: Annotated[
        int | None, option("How many it was asked for (default: as the solution says).", "-k")
    ] = None,
    ordered: OrderedColumns = False,
    loose: Annotated[bool, option("Match labels up to case and version suffix.", "--loose")] = False,
    surrogates: Annotated[int, option("Surrogates on which the search is repeated; 0 for the quick form.")] = 10,
    level: Annotated[float, option("False discovery rate.")] = 0.05,
    folder: Annotated[
        Path | None, option("Keep the repeated searches here; a stopped command goes on from it.")
    ] = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    csv: Csv = None,
    report: Annotated[Path | None, option("Also write an HTML report to this file.")] = None,
    as_json: Json = False,
) -> None:
    """Ask whether biclusters found in one matrix hold in another.

    The rows of a bicluster must move together in the other matrix more than equally active rows, and more than the rows
    that the same search finds in surrogates of the first matrix. The share that chance gives is printed too.

    Examples:

    - `bivaluate confirm found.json --found-in cohort1.csv --in cohort2.csv`
    - `bivaluate confirm las.json --found-in series1.tsv --in series2.tsv --ordered-columns`
    - `bivaluate confirm found.json --found-in cells.h5ad --halves columns --algorithm isa`
    """
    from bivaluate._parallel import count_cores
    from bivaluate.elsewhere.confirm import confirm as confirm_solution

    A = matrix_file.read(found_in)
    B = None if in_ is None else matrix_file.read(in_)
    given = solution_file.read(solution, A)
    with progress() as update:
        result = confirm_solution(
            given,
            A,
            B,
            halves=halves,
            algorithm=algorithm,
            n_biclusters=n_biclusters,
            ordered=ordered,
            loose=loose,
            surrogates=surrogates,
            level=level,
            random_state=seed,
            folder=folder,
            jobs=count_cores(jobs),
            progress=None if update is None else lambda done, total: update("repeating the search", done, total),
        )
    traits = annotation_file.traits(given, A, found_in)
    if csv is not None:
        write_csv(csv, result.records)
    if report is not None:
        from bivaluate.evaluation import evaluate
        from bivaluate.report import build_report
        from bivaluate.report.elsewhere import confirm_section, trait_sections

        sections = [confirm_section(result), *trait_sections(traits)]
        build_report([evaluate(A, given.with_info(name=solution.stem), missing="omit")], report, sections=sections)
        say_written(report)
    if as_json:
        print_json(result.to_dict() | annotation_file.as_json(traits))
        return
    rows = [
        (
            *(record["bicluster"], str(record["n_rows"]), str(record["shared_rows"])),
            *(number(record[key]) for key in ("z", "p", "q")),
            *([number(record["evidence_in_B"]), record["direction"]] if "direction" in record else []),
            *([record["nearest"]] if "nearest" in record else []),
            record["verdict"] + (f": {record['reason']}" if record["reason"] else ""),
        )
        for record in result.records
    ]
    first = result.records[0] if result.records else {}
    extra = ["evidence in B", "direction"] if "direction" in first else ["like"] if "nearest" in first else []
    print_table(["", "rows", "shared", "z", "p", "q", *extra, "verdict"], rows)
    out.print(f"\n{result.summary}", style="bold")
    annotation_file.show(traits)
    for note in result.notes:
        err.print(f"note: {note}")

"""`bivaluate confirm`: do biclusters found in one matrix hold in another?"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from bivaluate._parallel import count_cores
from bivaluate.cli.options import (
    AnnotationFile,
    Csv,
    Jobs,
    Json,
    MatrixFile,
    Report,
    SolutionFile,
    grouped,
    option,
    shared_traits,
    spoken,
)
from bivaluate.cli.tables import err, out, print_json, print_list, print_records, progress, say_written, write_csv


@dataclasses.dataclass(frozen=True)
class Asking:
    """How to ask; the fields are parameters of :func:`bivaluate.confirm`."""

    halves: Annotated[str | None, option("Split the one matrix: columns, or rows (for text and ratings).")] = None
    algorithm: Annotated[
        str | None, option("What found them (default: as the solution says).", "--algorithm", "-a")
    ] = None
    n_biclusters: Annotated[int | None, option("How many it was asked for (default: as the solution says).", "-k")] = (
        None
    )
    ordered: Annotated[bool, option("Columns are ordered: keep surrogates smooth.", "--ordered-columns")] = False
    loose: Annotated[bool, option("Match labels up to case and version suffix.", "--loose")] = False
    surrogates: Annotated[int, option("Surrogates to repeat the search on; 0 for the quick form.")] = 10
    level: Annotated[float, option("False discovery rate.")] = 0.05
    random_state: Annotated[int, option("Same seed, same answer.", "--seed")] = 0
    folder: Annotated[
        Path | None, option("Folder to keep the repeated searches in, and go on from.", "--out", "-o")
    ] = None


@grouped
def confirm(
    solution: Annotated[Path, typer.Argument(help="The biclusters, in any format bivaluate reads.")],
    matrix_file: MatrixFile,
    solution_file: SolutionFile,
    asking: Asking,
    annotations: AnnotationFile,
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

    - `bivaluate confirm found.json --found-in cohort1.csv --in cohort2.csv`
    - `bivaluate confirm las.json --found-in series1.tsv --in series2.tsv --ordered-columns`
    - `bivaluate confirm found.json --found-in cells.h5ad --halves columns --algorithm isa`
    """
    from bivaluate.elsewhere.confirm import confirm as confirm_solution

    A = matrix_file.read(found_in)
    B = None if other is None else matrix_file.read(other)
    given = solution_file.read(solution, A)
    with progress() as update:
        tell = None if update is None else lambda done, total: update("repeating the search", done, total)
        result = confirm_solution(given, A, B, **dataclasses.asdict(asking), jobs=count_cores(jobs), progress=tell)
    traits = annotations.test(found_in)(given, A)
    if csv is not None:
        write_csv(csv, result.records)
    if report is not None:
        from bivaluate.report.elsewhere import confirm_section, report_on, trait_sections

        panels = [confirm_section(result), *trait_sections(traits)]
        place = (str(found_in), str(solution))
        report_on(report, {solution.stem: (given, A)}, panels, [place], lambda found, X: traits)
        say_written(report)
    if as_json:
        print_json(result.to_dict() | ({} if traits is None else {"traits": traits.to_dict("records")}))
        return
    shown = {"bicluster": "", "n_rows": "rows", "shared_rows": "shared", "z": "z", "p": "p", "q": "q"}
    shown |= {"evidence_in_B": "evidence in B", "direction": "direction", "nearest": "like", "verdict": "verdict"}
    print_records(
        shown, [r | {"verdict": ": ".join(filter(None, (r["verdict"], r["reason"])))} for r in result.records]
    )
    out.print(f"\n{result.summary}", style="bold")
    print_list("What their samples share", shared_traits(traits))
    for note in result.notes:
        err.print(f"note: {spoken(note)}")

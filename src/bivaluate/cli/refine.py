"""`bivaluate refine`: polish somebody else's biclusters, and say what became of each."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from bivaluate.cli.find import EVIDENCE_COLUMNS, Search, evidence_rows, print_evidence
from bivaluate.cli.options import (
    Csv,
    Json,
    MatrixFile,
    MatrixPath,
    OutputFormat,
    SolutionFile,
    check_target,
    grouped,
    option,
)
from bivaluate.cli.tables import err, out, print_json, say_written, write_csv


@grouped
def refine(
    matrix: MatrixPath,
    solution: Annotated[Path, typer.Argument(help="The solution to start from, written by any tool.")],
    search: Search,
    matrix_file: MatrixFile,
    solution_file: SolutionFile,
    target: Annotated[Path | None, option("Write the refined solution to this file.", "--out", "-o")] = None,
    format: OutputFormat = None,
    as_json: Json = False,
    csv: Csv = None,
) -> None:
    """Polish biclusters: climb from each to more evidence, drop what does not pay, merge those that are one.

    Every change is said in a sentence, and nothing is written without --out.

    Examples:

    - `bivaluate refine expression.csv las.json`
    - `bivaluate refine expression.csv qubic.blocks -o refined.json`
    """
    from bivaluate.algorithms import climb_from
    from bivaluate.io import write_solution

    if target is not None:
        check_target(target, format)
    X = matrix_file.read(matrix)
    refined = climb_from(X, solution_file.read(solution, X), **dataclasses.asdict(search))
    rows = evidence_rows(refined.solution, refined.evidence, refined.kinds)
    if as_json:
        print_json({"biclusters": rows, "changes": refined.changes})
    else:
        for sentence in refined.changes:
            out.print(f"• {sentence}")
        print_evidence(rows)
    if csv:
        write_csv(csv, rows, EVIDENCE_COLUMNS)
    if target is not None:
        write_solution(refined.solution, target, X=X, format=format)
        say_written(target)
    elif not as_json:
        err.print("nothing written; pass --out FILE to write the refined solution")

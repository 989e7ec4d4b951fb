"""`bivaluate refine`: refine somebody else's biclusters under evidence, and say what changed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bivaluate.cli import options
from bivaluate.cli.options import option
from bivaluate.cli.tables import err, give, out, print_verdict, progress, say_written


@options.grouped
def refine(
    matrix: options.MatrixPath,
    solution: Annotated[Path, typer.Argument(help="The solution to start from, written by any tool.")],
    matrix_file: options.MatrixFile,
    solution_file: options.SolutionFile,
    missing: options.Missing = "raise",
    target: Annotated[Path | None, option("Write the refined solution to this file.", "--out", "-o")] = None,
    as_json: options.Json = False,
    csv: options.Csv = None,
) -> None:
    """Refine biclusters: rows and columns join and leave one at a time where evidence grows.

    Every change comes with its gain, and nothing is written without --out.

    Examples:

    - `bivaluate refine expression.csv las.json`
    - `bivaluate refine expression.csv qubic.blocks -o refined.json`
    """
    from bivaluate.evaluation import evaluate
    from bivaluate.io import write_solution
    from bivaluate.sweep.find import BICLUSTER
    from bivaluate.sweep.refine import refine as improve

    if target is not None:
        options.check_target(target)
    X = matrix_file.read(matrix)
    given = solution_file.read(solution, X)
    with progress():
        refined = improve(X, given, missing=missing)
    sentences = refined.sentences(X)
    evaluation = evaluate(X, refined.solution, missing=missing)
    rows = [{name: record[name] for name in BICLUSTER} for record in evaluation.records]
    if not give(rows, {"biclusters": rows, "changes": sentences}, csv, as_json, BICLUSTER):
        print_verdict(evaluation.verdict)
        for sentence in sentences:
            out.print(f"• {sentence}")
    if target is not None:
        write_solution(refined.solution, target, X=X)
        say_written(target)
    elif not as_json:
        err.print("nothing written; pass --out FILE to write the refined solution")

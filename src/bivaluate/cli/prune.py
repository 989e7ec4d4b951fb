"""`bivaluate prune` and `refine`: which biclusters to drop or merge, and which rows and columns to change."""

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from bivaluate._text import listing, plural
from bivaluate.cli import options, tables
from bivaluate.cli._types import Pruning
from bivaluate.cli.options import option
from bivaluate.cli.tables import err, give, heading, out, print_table, print_verdict, progress, say_written, score_text


@options.grouped
def prune(
    matrix: options.MatrixPath,
    solution: Annotated[Path, typer.Argument(help="The solution.")],
    matrix_file: options.MatrixFile,
    solution_file: options.SolutionFile,
    target: Annotated[Path | None, option("Write the pruned solution to this file.", "--out", "-o")] = None,
    keep_weak: Annotated[bool, option("Keep biclusters that are not supported.", "--keep-weak")] = False,
    missing: options.Missing = "raise",
    as_json: options.Json = False,
    csv: options.Csv = None,
) -> None:
    """Propose which biclusters to merge or leave out: those that are redundant or not supported.

    Every proposal is explained, scores are shown before and after, and nothing is written without --out.

    Examples:

    - `bivaluate prune expression.csv solution.json`
    - `bivaluate prune expression.csv solution.json --out pruned.json`
    - `bivaluate prune expression.csv solution.json --keep-weak`
    """
    from bivaluate.io import write_solution
    from bivaluate.judge.prune import propose_pruning

    if target is not None:
        options.check_target(target)
    X = matrix_file.read(matrix)
    given = solution_file.read(solution, X)
    with progress("changes") as tell:
        advice = propose_pruning(X, given, keep_weak=keep_weak, missing=missing, progress=tell)
    rows = [{"measure": key, "before": value, "after": advice.after[key]} for key, value in advice.before.items()]
    if not give(rows, _document(advice), csv, as_json):
        _print(advice, len(given))
    if target is not None:
        write_solution(advice.solution, target, X=X)
        left = len(advice.solution)
        what = f"{left} of {plural(len(given), 'bicluster')}"
        if given and not left:
            what = f"a solution without biclusters, because none of {len(given)} is supported (--keep-weak keeps those)"
        say_written(target, f": {what}")
    elif advice.proposals:
        err.print("nothing written; pass --out FILE to write the pruned solution")


def _document(advice: Pruning) -> dict[str, object]:
    said = {"redundant": advice.groups, "proposals": list(map(asdict, advice.proposals)), "biclusters": advice.names}
    return said | {"before": advice.before, "after": advice.after}


def _print(advice: Pruning, n_given: int) -> None:
    if not advice.proposals:
        out.print(f"Nothing to drop or merge among {plural(n_given, 'bicluster')}.")
    for proposal in advice.proposals:
        out.print(f"• {proposal.reason}")
    if advice.too_small:
        out.print(f"• Keep {listing(advice.too_small, 10)}: too small to judge.")
    if n_given and not advice.names:
        out.print("Nothing is left: no bicluster here is supported.")
    out.print()
    sides = (advice.before, advice.after)
    rows = [(heading(key), *(score_text(key, side[key]) for side in sides)) for key in advice.before]
    print_table(["measure", "before", "after"], rows)


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

    - `bivaluate refine expression.csv solution.json`
    - `bivaluate refine expression.csv biclust.txt -o refined.json`
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
    evaluation.place = (matrix_file.named(matrix), shlex.quote(str(target or solution)))
    rows = [{name: record[name] for name in BICLUSTER} for record in evaluation.records]
    if not give(rows, {"biclusters": rows, "changes": sentences}, csv, as_json, BICLUSTER):
        print_verdict(evaluation.verdict)
        for sentence in sentences:
            out.print(f"• {sentence}")
        tables.print_list("Next", evaluation.verdict.next_steps)
    if target is not None:
        write_solution(refined.solution, target, X=X)
        say_written(target)
    elif not as_json:
        err.print("nothing written; pass --out FILE to write the refined solution")

"""`bivaluate prune`: which biclusters to drop or merge, and why."""

from __future__ import annotations

import dataclasses
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bivaluate._text import plural
from bivaluate.cli.options import (
    Csv,
    Json,
    MatrixFile,
    MatrixPath,
    Missing,
    OutputFormat,
    SolutionFile,
    check_target,
    grouped,
    option,
)
from bivaluate.cli.tables import (
    err,
    heading,
    out,
    print_json,
    print_table,
    progress,
    say_written,
    score_text,
    write_csv,
)

if TYPE_CHECKING:
    from bivaluate.judge.prune import Pruning


@dataclasses.dataclass(frozen=True)
class Rules:
    """What to propose; the fields are options of :func:`bivaluate.propose_pruning`."""

    keep_weak: Annotated[bool, option("Keep biclusters that are not supported.", "--keep-weak")] = False
    missing: Missing = "raise"


@grouped
def prune(
    matrix: MatrixPath,
    solution: Annotated[Path, typer.Argument(help="The solution.")],
    rules: Rules,
    matrix_file: MatrixFile,
    solution_file: SolutionFile,
    target: Annotated[Path | None, option("Write the pruned solution to this file.", "--out", "-o")] = None,
    format: OutputFormat = None,
    as_json: Json = False,
    csv: Csv = None,
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
        check_target(target, format)
    X = matrix_file.read(matrix)
    given = solution_file.read(solution, X)
    options = dataclasses.asdict(rules)
    with progress() as update:
        advice = propose_pruning(X, given, progress=update and partial(update, "changes"), **options)
    if as_json:
        print_json(_document(advice))
    else:
        _print(advice, len(given))
    if csv:
        write_csv(
            csv, [{"measure": key, "before": advice.before[key], "after": advice.after[key]} for key in advice.before]
        )
    if target is not None:
        write_solution(advice.solution, target, X=X, format=format)
        left = len(advice.solution)
        what = f"{left} of {plural(len(given), 'bicluster')}"
        if given and not left:
            what = f"a solution without biclusters, because none of {len(given)} is supported (--keep-weak keeps those)"
        say_written(target, f": {what}")
    elif advice.proposals:
        err.print("nothing written; pass --out FILE to write the pruned solution")


def _document(advice: Pruning) -> dict[str, object]:
    return {
        "redundant": [list(group) for group in advice.groups],
        "proposals": [
            {"action": p.action, "biclusters": list(p.biclusters), "reason": p.reason} for p in advice.proposals
        ],
        "biclusters": list(advice.names),
        "before": advice.before,
        "after": advice.after,
    }


def _print(advice: Pruning, n_given: int) -> None:
    if not advice.proposals:
        out.print(f"Nothing to drop or merge among {plural(n_given, 'bicluster')}.")
    for proposal in advice.proposals:
        out.print(f"• {proposal.reason}")
    if n_given and not advice.names:
        out.print("Nothing is left: no bicluster here is supported.")
    out.print()
    sides = (advice.before, advice.after)
    rows = [(heading(key), *(score_text(key, side[key]) for side in sides)) for key in advice.before]
    print_table(["measure", "before", "after"], rows)

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
    OrderedColumns,
    OutputFormat,
    Seed,
    SolutionFile,
    check_target,
    grouped,
    option,
    spoken,
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

    keep_weak: Annotated[bool, option("Keep biclusters no better than search noise.", "--keep-weak")] = False
    cut: Annotated[
        float | None, option("aVE at or above which a bicluster counts as noise (default: the usual cut).")
    ] = None
    centre: Annotated[str, option("Column means: columns (take them out) or none.")] = "columns"
    normalise: Annotated[str, option("Skewed data: rank (normal scores per row) or none.")] = "none"
    missing: Missing = "raise"
    ordered_columns: OrderedColumns = False
    null_runs: Annotated[int, option("Number of surrogates for --ordered-columns.")] = 5
    random_state: Seed = 0


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
    """Propose which biclusters to drop or merge: duplicates, mergers that cost nothing, search noise.

    Every proposal is explained, scores are shown before and after, and nothing is written without --out.

    Examples:

    - `bivaluate prune expression.csv solution.json`
    - `bivaluate prune expression.csv solution.json --out pruned.json`
    - `bivaluate prune timecourse.csv solution.json --ordered-columns --keep-weak`
    """
    from bivaluate.io import write_solution
    from bivaluate.judge.prune import propose_pruning

    if target is not None:
        check_target(target, format)
    X = matrix_file.read(matrix)
    given = solution_file.read(solution, X)
    options = {name: value for name, value in dataclasses.asdict(rules).items() if value is not None}
    with progress() as update:
        advice = propose_pruning(X, given, progress=update and partial(update, "changes"), **options)
    cautions = [spoken(text) for text in advice.cautions]
    if as_json:
        print_json(_document(advice, cautions))
    else:
        _print(advice, cautions, len(given))
    if csv:
        write_csv(
            csv, [{"measure": key, "before": advice.before[key], "after": advice.after[key]} for key in advice.before]
        )
    if target is not None:
        write_solution(advice.solution, target, X=X, format=format)
        left = len(advice.solution)
        what = f"{left} of {plural(len(given), 'bicluster')}"
        if given and not left:
            what = f"a solution without biclusters, because none of {len(given)} is left (--keep-weak keeps weak ones)"
        say_written(target, f": {what}")
    elif advice.proposals:
        err.print("nothing written; pass --out FILE to write the pruned solution")


def _document(advice: Pruning, cautions: list[str]) -> dict[str, object]:
    return {
        "redundant": [list(group) for group in advice.groups],
        "proposals": [{"kind": p.kind, "biclusters": list(p.biclusters), "reason": p.reason} for p in advice.proposals],
        "biclusters": list(advice.names),
        "cut": advice.cut,
        "cautions": cautions,
        "before": advice.before,
        "after": advice.after,
    }


def _print(advice: Pruning, cautions: list[str], n_given: int) -> None:
    if not advice.proposals:
        out.print(f"Nothing to drop or merge among {plural(n_given, 'bicluster')}.")
    for proposal in advice.proposals:
        out.print(f"• {proposal.reason}")
    if n_given and not advice.names:
        out.print("Nothing is left: no bicluster here stands out from what a search finds in noise.")
    for caution in cautions:
        out.print(f"! {caution}")
    out.print()
    sides = (advice.before, advice.after)
    rows = [(heading(key), *(score_text(key, side[key]) for side in sides)) for key in advice.before]
    print_table(["measure", "before", "after"], rows)

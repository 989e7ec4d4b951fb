"""`bivaluate prune`: which biclusters to drop or merge, and why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bivaluate.cli.console import err, number, out

if TYPE_CHECKING:
    from bivaluate.judge.prune import Pruning


def prune(
    matrix: Annotated[Path, typer.Argument(help="The data matrix.")],
    solution: Annotated[Path, typer.Argument(help="The solution.")],
    out_file: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write the pruned solution to this file.")
    ] = None,
    keep_weak: Annotated[
        bool, typer.Option("--keep-weak", help="Keep biclusters that are no better than search noise.")
    ] = False,
    cut: Annotated[float, typer.Option(help="aVE at or above which a bicluster counts as noise.")] = 0.90,
    centre: Annotated[str, typer.Option(help="Column means: columns (take them out) or none.")] = "columns",
    normalise: Annotated[str, typer.Option(help="Skewed data: rank (normal scores per row) or none.")] = "none",
    ordered_columns: Annotated[
        bool, typer.Option("--ordered-columns", help="Columns are ordered (time, dose): refit the cut on surrogates.")
    ] = False,
    null_runs: Annotated[int, typer.Option(help="Number of surrogates for --ordered-columns.")] = 5,
    random_state: Annotated[int, typer.Option(help="Seed of the surrogates.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print proposals and scores as JSON.")] = False,
    transpose: Annotated[bool, typer.Option(help="The file stores objects as columns: swap rows and columns.")] = False,
    matrix_format: Annotated[str | None, typer.Option(help="Format of the matrix (default: detected).")] = None,
    layer: Annotated[str | None, typer.Option(help="Layer of an .h5ad file.")] = None,
    sheet: Annotated[str | None, typer.Option(help="Sheet of an Excel file.")] = None,
    solution_format: Annotated[str | None, typer.Option(help="Format of the solution (default: detected).")] = None,
    index_base: Annotated[int | None, typer.Option(help="Whether indices in the solution count from 0 or 1.")] = None,
) -> None:
    """Propose which biclusters to drop or merge: duplicates, mergers that cost nothing, search noise.

    Every proposal is explained, scores are shown before and after, and nothing is written without --out.

    Examples:

    - `bivaluate prune expression.csv solution.json`
    - `bivaluate prune expression.csv solution.json --out pruned.json`
    - `bivaluate prune timecourse.csv solution.json --ordered-columns --keep-weak`
    """
    from bivaluate.chance.assumptions import null_model_findings, prepare_matrix
    from bivaluate.io import read_matrix, read_solution, write_solution
    from bivaluate.judge.prune import propose_pruning

    X = read_matrix(matrix, format=matrix_format, transpose=transpose, layer=layer, sheet=sheet)
    given = read_solution(solution, X, format=solution_format, index_base=index_base)
    advice = propose_pruning(
        X,
        given,
        keep_weak=keep_weak,
        cut=cut,
        centre=centre,
        normalise=normalise,
        ordered_columns=ordered_columns,
        null_runs=null_runs,
        random_state=random_state,
    )
    cautions = null_model_findings(prepare_matrix(X.values, centre, normalise))
    if ordered_columns:
        cautions = [caution for caution in cautions if "--ordered-columns" not in caution]
    if as_json:
        typer.echo(json.dumps(_document(advice, cautions), indent=2))
    else:
        _print(advice, cautions, len(given))
    if out_file is not None:
        write_solution(advice.solution, out_file, X=X)
        err.print(f"wrote {out_file}: {len(advice.solution)} of {len(given)} biclusters", markup=False)
    elif advice.proposals:
        err.print("nothing written; pass --out FILE to write the pruned solution", markup=False)


def _document(advice: Pruning, cautions: list[str]) -> dict[str, object]:
    scores = {
        side: {key: None if value != value else value for key, value in values.items()}
        for side, values in (("before", advice.before), ("after", advice.after))
    }
    return {
        "proposals": [{"kind": p.kind, "biclusters": list(p.biclusters), "reason": p.reason} for p in advice.proposals],
        "biclusters": list(advice.names),
        "cut": advice.cut,
        "cautions": cautions,
        **scores,
    }


def _print(advice: Pruning, cautions: list[str], n_given: int) -> None:
    from rich.table import Table

    from bivaluate.measures.registry import get_metric

    if not advice.proposals:
        out.print(f"Nothing to drop or merge among {n_given} biclusters.")
    for proposal in advice.proposals:
        out.print(f"• {proposal.reason}", markup=False)
    if n_given and not advice.names:
        out.print("Nothing is left: no bicluster here stands out from what a search finds in noise.")
    for caution in cautions:
        out.print(f"! {caution}", markup=False)
    arrows = {"low": "↓", "high": "↑", "none": ""}
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("measure", "before", "after"):
        table.add_column(heading, justify="left" if heading == "measure" else "right", no_wrap=True)
    for key, value in advice.before.items():
        metric = get_metric(key)
        table.add_row(metric.symbol + arrows[metric.direction], number(value), number(advice.after[key]))
    out.print()
    out.print(table)

"""`bivaluate score`: a matrix and some solutions in, a verdict out."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bivaluate._errors import FileError, ParameterError
from bivaluate.cli.console import err, number, out

if TYPE_CHECKING:
    from bivaluate.evaluation import Evaluation

OVERVIEW = ("n_biclusters", "asr", "avg_ve", "nsr", "nve", "nve_cov", "coverage", "cc")


def score(
    matrix: Annotated[
        Path, typer.Argument(help="The data matrix: CSV/TSV (.gz too), .npy, .npz, Parquet, GCT, h5ad, …")
    ],
    solutions: Annotated[
        list[Path],
        typer.Argument(help="One or several solutions: bivaluate JSON, membership CSV, or another tool's file."),
    ],
    biclusters: Annotated[
        bool, typer.Option("--biclusters", "-b", help="One line per bicluster, worst first, and findings.")
    ] = False,
    sort: Annotated[
        str | None, typer.Option(help="Measure to sort by (default: nve_cov, or nve_k with --biclusters).")
    ] = None,
    metrics: Annotated[
        str | None, typer.Option(help="Measures to compute, separated by commas (see `bivaluate metrics`).")
    ] = None,
    all_metrics: Annotated[bool, typer.Option("--all", help="Compute every measure of the registry.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    csv: Annotated[Path | None, typer.Option(help="Also write the table to this CSV file.")] = None,
    report: Annotated[Path | None, typer.Option(help="Also write an HTML report to this file.")] = None,
    min_rows: Annotated[int, typer.Option(help="Smallest number of rows wanted.")] = 1,
    min_cols: Annotated[int, typer.Option(help="Smallest number of columns wanted.")] = 1,
    small: Annotated[str, typer.Option(help="Smaller biclusters: flag (no score changes) or drop.")] = "flag",
    degenerate: Annotated[
        str, typer.Option(help="Biclusters of one row or column: nan, or formula (the paper's 0).")
    ] = "nan",
    missing: Annotated[str, typer.Option(help="Missing cells: raise, or omit.")] = "raise",
    single: Annotated[
        str, typer.Option(help="A single bicluster: nan, or matrix (compare with the whole matrix).")
    ] = "nan",
    ordered_columns: Annotated[
        bool,
        typer.Option(
            "--ordered-columns",
            help="Columns are ordered (time, dose): say which biclusters beat surrogates as smooth as the data.",
        ),
    ] = False,
    transpose: Annotated[bool, typer.Option(help="The file stores objects as columns: swap rows and columns.")] = False,
    delimiter: Annotated[str | None, typer.Option(help="Field separator of a text matrix (default: detected).")] = None,
    decimal: Annotated[str | None, typer.Option(help="Decimal mark of a text matrix (default: detected).")] = None,
    header: Annotated[
        bool | None, typer.Option("--header/--no-header", help="First line holds column labels (default: detected).")
    ] = None,
    index_cols: Annotated[
        int | None, typer.Option(help="Leading columns that hold row labels (default: detected).")
    ] = None,
    layer: Annotated[str | None, typer.Option(help="Layer of an .h5ad file.")] = None,
    sheet: Annotated[str | None, typer.Option(help="Sheet of an Excel file.")] = None,
    matrix_format: Annotated[str | None, typer.Option(help="Format of the matrix (default: detected).")] = None,
    solution_format: Annotated[str | None, typer.Option(help="Format of the solutions (default: detected).")] = None,
    index_base: Annotated[int | None, typer.Option(help="Whether indices in the solutions count from 0 or 1.")] = None,
    members: Annotated[
        str | None, typer.Option(help="Whether numbers in the solutions are index or label, where they could be both.")
    ] = None,
    item: Annotated[
        int | None, typer.Option(help="Which solution of a file that holds several, counted from 0.")
    ] = None,
    write_back: Annotated[
        bool,
        typer.Option("--write-back", help='Also store scores and memberships in the .h5ad file: .uns["bivaluate"].'),
    ] = False,
    jobs: Annotated[int | None, typer.Option(help="Threads for large inputs (default: all cores).")] = None,
) -> None:
    """Score one or several biclustering solutions of a matrix.

    Examples:

    - `bivaluate score expression.csv solution.json`
    - `bivaluate score expression.csv las.json cca.json spectral.json --sort nve_cov`
    - `bivaluate score expression.csv solution.json --biclusters`
    - `bivaluate score expression.csv qubic.blocks --report report.html`
    """
    from bivaluate.evaluation import evaluate
    from bivaluate.io import read_matrix, read_solution
    from bivaluate.measures.registry import choose_metrics, get_metric

    if all_metrics and metrics:
        raise ParameterError("--all and --metrics exclude each other; use one of them.")
    chosen: str | list[str] = (
        "all" if all_metrics else [m.strip() for m in metrics.split(",")] if metrics else "default"
    )
    if write_back and matrix.suffix != ".h5ad":
        raise ParameterError(
            f"--write-back stores results in an .h5ad file, but the matrix is {matrix.name}; use --csv or --json."
        )
    if sort is not None:
        if get_metric(sort).level != ("bicluster" if biclusters else "solution"):
            raise ParameterError(
                f"--sort {sort}: a measure of a {'bicluster' if biclusters else 'whole solution'} is needed here."
            )
        chosen = list(dict.fromkeys([*(metric.key for metric in choose_metrics(chosen)), sort]))
    X = read_matrix(
        matrix,
        format=matrix_format,
        transpose=transpose,
        delimiter=delimiter,
        decimal=decimal,
        header=header,
        index_cols=index_cols,
        layer=layer,
        sheet=sheet,
    )
    evaluations = []
    for path in solutions:
        solution = read_solution(path, X, format=solution_format, index_base=index_base, members=members, item=item)
        solution = solution.with_info(name=solution.info.get("name", path.stem))
        evaluations.append(
            evaluate(
                X,
                solution,
                metrics=chosen,
                degenerate=degenerate,
                missing=missing,
                min_rows=min_rows,
                min_cols=min_cols,
                small=small,
                single=single,
                n_jobs=jobs,
            )
        )
    if ordered_columns:
        from bivaluate.judge.findings import ordered_column_findings

        for evaluation in evaluations:
            evaluation.findings.extend(ordered_column_findings(X, evaluation.solution, evaluation.names))
    if as_json:
        typer.echo(json.dumps([evaluation.to_dict() for evaluation in evaluations], indent=2))
    elif biclusters:
        for evaluation in evaluations:
            _print_biclusters(evaluation, sort)
    else:
        _print_solutions(evaluations, sort)
    if csv:
        _write_csv(csv, _bicluster_rows(evaluations) if biclusters else _solution_rows(evaluations))
        err.print(f"wrote {csv}")
    if write_back:
        from bivaluate.io import write_h5ad_results

        for evaluation in evaluations:
            key = "bivaluate" if len(evaluations) == 1 else f"bivaluate_{_name(evaluation)}"
            write_h5ad_results(matrix, evaluation, key=key, transpose=transpose)
            err.print(f"wrote {key} into {matrix}", markup=False)
    if report:
        from bivaluate.report import build_report

        build_report(evaluations, report)
        err.print(f"wrote {report}")


def _best_first(key: str, values: Sequence[float | None]) -> list[int]:
    """Return the order that puts the best value first and undefined ones last."""
    from bivaluate.measures.registry import get_metric

    sign = -1.0 if get_metric(key).direction == "high" else 1.0
    known = [math.inf if v is None or math.isnan(v) else sign * v for v in values]
    return sorted(range(len(known)), key=known.__getitem__)


def _print_solutions(evaluations: Sequence[Evaluation], sort: str | None) -> None:
    from rich.table import Table

    from bivaluate.measures.registry import METRICS

    computed = evaluations[0].scores
    keys = [k for k in OVERVIEW if k in computed] if "nve" in computed else list(computed)
    if len(computed) > 30:
        keys = [k for k in computed if METRICS[k].direction != "none" or k == "n_biclusters"]
    if sort and sort not in keys:
        keys.append(sort)
    sort = sort or ("nve_cov" if "nve_cov" in computed else None)
    order: Sequence[int] = range(len(evaluations))
    if sort:
        order = _best_first(sort, [e.scores.get(sort) for e in evaluations])
    if len(keys) > len(OVERVIEW) + 1:
        _print_transposed(evaluations, order, keys)
    else:
        table = Table(box=None, pad_edge=False, header_style="bold")
        table.add_column("solution")
        for key in keys:
            table.add_column(_heading(key), justify="right", no_wrap=True)
        for index in order:
            scores = evaluations[index].scores
            table.add_row(_name(evaluations[index]), *(_shown(key, scores.get(key)) for key in keys))
        out.print(table)
    for index in order:
        _print_findings(evaluations[index], evaluations[index].findings)


def _print_transposed(evaluations: Sequence[Evaluation], order: Sequence[int], keys: Sequence[str]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("measure")
    for index in order:
        table.add_column(_name(evaluations[index]), justify="right")
    for key in keys:
        table.add_row(_heading(key), *(_shown(key, evaluations[i].scores.get(key)) for i in order))
    out.print(table)


def _print_biclusters(evaluation: Evaluation, sort: str | None) -> None:
    from rich.table import Table

    from bivaluate.measures.registry import METRICS

    records = evaluation.records
    if not records:
        out.print(f"{_name(evaluation)}: no biclusters")
        return
    sort = sort or ("nve_k" if "nve_k" in records[0] else None)
    order = _best_first(sort, [r[sort] for r in records])[::-1] if sort else range(len(records))
    keys = [key for key in records[0] if key in METRICS]
    table = Table(box=None, pad_edge=False, header_style="bold", title=_name(evaluation), title_justify="left")
    table.add_column("", no_wrap=True)
    for heading in ("rows", "cols", *(_heading(k) for k in keys)):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("nearest")
    table.add_column("merged VE", justify="right", no_wrap=True)
    table.add_column("status")
    for index in order:
        record = records[index]
        table.add_row(
            record["bicluster"],
            str(record["n_rows"]),
            str(record["n_cols"]),
            *(number(record[key]) for key in keys),
            record["partner"] or "–",
            number(record["ve_merged"]),
            record["status"].replace("_", " "),
        )
    out.print(table)
    _print_findings(evaluation, evaluation.findings)


def _print_findings(evaluation: Evaluation, findings: Sequence[str]) -> None:
    if findings:
        out.print(f"\n{_name(evaluation)}", style="bold", markup=False)
        for sentence in findings:
            out.print(f"  • {sentence}", markup=False)


def _name(evaluation: Evaluation) -> str:
    return str(evaluation.solution.info.get("name", "solution"))


def _heading(key: str) -> str:
    from bivaluate.measures.registry import METRICS

    metric = METRICS[key]
    return {"n_biclusters": "K"}.get(key, metric.symbol) + {"low": "↓", "high": "↑", "none": ""}[metric.direction]


def _shown(key: str, value: float | None) -> str:
    return f"{100 * value:.3g} %" if key == "coverage" and value is not None else number(value)


def _solution_rows(evaluations: Sequence[Evaluation]) -> list[dict[str, Any]]:
    return [{"solution": _name(e), **e.scores} for e in evaluations]


def _bicluster_rows(evaluations: Sequence[Evaluation]) -> list[dict[str, Any]]:
    return [{"solution": _name(e), **record} for e in evaluations for record in e.records]


def _write_csv(path: Path, rows: list[dict[str, Any]]) -> None:
    import csv

    try:
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]) if rows else ["solution"])
            writer.writeheader()
            for row in rows:
                writer.writerow({k: "" if v is None or v != v else v for k, v in row.items()})
    except OSError as error:
        raise FileError(f"cannot write {path}: {error.strerror or error}.") from error

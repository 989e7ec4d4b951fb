"""`bivaluate convert`: solutions and matrices from one format into another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bivaluate._check import check_choice
from bivaluate._errors import ParameterError
from bivaluate.cli.console import err, out

if TYPE_CHECKING:
    from bivaluate.matrix import Matrix


def _print_formats(wanted: bool) -> None:
    if not wanted:
        return
    from rich.table import Table

    from bivaluate.io import describe_formats

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("kind", "key", "format", "extensions", "out", "numbers count from"):
        table.add_column(column)
    for record in describe_formats():
        table.add_row(
            record["kind"],
            record["key"],
            record["name"],
            " ".join(record["extensions"]),
            "yes" if record["written"] else "",
            "" if record["index_base"] is None else str(record["index_base"]),
        )
    out.print(table)
    raise typer.Exit


def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="A solution of any tool, or a matrix.")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="Its extension chooses the format, unless --to does.")],
    matrix: Annotated[
        Path | None, typer.Option(help="The matrix of the solution: turns labels into indices, and back.")
    ] = None,
    to: Annotated[
        str | None, typer.Option(help="Format of OUT: bivaluate, csv, biclustlib, r-text (see --formats).")
    ] = None,
    solution_format: Annotated[str | None, typer.Option(help="Format of IN, where it is not recognised.")] = None,
    index_base: Annotated[
        int | None, typer.Option(help="Whether indices in IN count from 0 or 1 (default: as its tool does).")
    ] = None,
    members: Annotated[
        str | None, typer.Option(help="Whether numbers in IN are index or label, where they could be both.")
    ] = None,
    item: Annotated[
        int | None, typer.Option(help="Which solution of a file that holds several, counted from 0.")
    ] = None,
    kind: Annotated[str, typer.Option(help="What IN is: auto, solution or matrix.")] = "auto",
    transpose: Annotated[bool, typer.Option(help="Swap rows and columns of the matrix after reading it.")] = False,
    layer: Annotated[str | None, typer.Option(help="Layer of an .h5ad file.")] = None,
    sheet: Annotated[str | None, typer.Option(help="Sheet of an Excel file.")] = None,
    formats: Annotated[
        bool, typer.Option("--formats", callback=_print_formats, is_eager=True, help="List every format and stop.")
    ] = False,
) -> None:
    """Convert a solution between the formats of biclustering tools, or a matrix between file formats.

    No matrix is needed where labels stay labels and indices stay indices.

    Examples:

    - `bivaluate convert results.blocks solution.json`
    - `bivaluate convert biclusters.txt solution.json --matrix expression.csv`
    - `bivaluate convert solution.json for_r.txt --matrix expression.csv`
    - `bivaluate convert solution.json peer.json --to biclustlib`
    - `bivaluate convert expression.gct expression.parquet`
    """
    from bivaluate.io import read_matrix, write_matrix
    from bivaluate.io.solutions import is_solution

    check_choice("kind", kind, ["auto", "solution", "matrix"])
    if kind == "auto":
        kind = "solution" if solution_format or is_solution(source) else "matrix"
    if kind == "matrix":
        X = read_matrix(source, transpose=transpose, layer=layer, sheet=sheet)
        write_matrix(X, target, format=to)
        err.print(f"wrote {target}: {X.shape[0]} x {X.shape[1]}", markup=False)
        return
    if matrix is None and (transpose or layer or sheet):
        raise ParameterError("--transpose, --layer and --sheet are about a matrix: give it with --matrix.")
    given = None if matrix is None else read_matrix(matrix, transpose=transpose, layer=layer, sheet=sheet)
    _convert_solution(source, target, given, to, solution_format, index_base, members, item)


def _convert_solution(
    source: Path,
    target: Path,
    X: Matrix | None,
    to: str | None,
    solution_format: str | None,
    index_base: int | None,
    members: str | None,
    item: int | None,
) -> None:
    from bivaluate.io import read_members, write_members
    from bivaluate.io.members import document_of, to_biclustering

    document, record = read_members(
        source, X, format=solution_format, index_base=index_base, members=members, item=item
    )
    if document.by == "index":
        solution = to_biclustering(document, X, str(source))
        if X is not None:
            document = document_of(solution, X)
    written = write_members(document, target, format=to)
    by = "label" if document.by == "label" else "index and label" if document.labels else "index"
    err.print(
        f"read {source} as {record.name}\nwrote {target} as {written.name}: "
        f"{len(document.members)} biclusters, members by {by}",
        markup=False,
    )

"""`bivaluate datasets`: list, fetch and write the real data sets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from bivaluate.cli.console import err, out

app = typer.Typer(
    help="Real gene-expression matrices, fetched on demand.",
    no_args_is_help=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def datasets(
    context: typer.Context,
    group: Annotated[str | None, typer.Option(help="Only one group: yeast, tavazoie, prelic or cancer.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything known about each set as JSON.")] = False,
) -> None:
    """List the real data sets with shape, reference and whether they are there for offline use.

    Examples:

    - `bivaluate datasets`
    - `bivaluate datasets fetch yeast`
    - `bivaluate datasets write yeast:04_elutriation elutriation.csv`
    """
    if context.invoked_subcommand is not None:
        return
    from rich.table import Table

    from bivaluate.datasets.cache import cache_folder, cached_path
    from bivaluate.datasets.catalogue import GROUPS
    from bivaluate.datasets.real import list_datasets

    records = list_datasets(group)
    if as_json:
        fields = ("name", "group", "shape", "missing", "source", "reference", "sha256")
        typer.echo(json.dumps([{f: getattr(r, f) for f in fields} for r in records], indent=2))
        return
    for key in dict.fromkeys(record.group for record in records):
        table = Table(box=None, pad_edge=False, header_style="bold", title_justify="left", title=GROUPS[key].title)
        for column in ("name", "rows", "columns", "missing", "offline"):
            table.add_column(column, justify="right" if column in ("rows", "columns", "missing") else "left")
        for record in records:
            if record.group == key:
                here = "yes" if cached_path(record.member).is_file() else ""
                table.add_row(record.name, *map(str, record.shape), str(record.missing or ""), here)
        out.print(table)
        out.print(f"{GROUPS[key].reference} doi:{GROUPS[key].doi}\n", style="dim", soft_wrap=True)
    out.print(f"Kept in {cache_folder()} (BIVALUATE_DATA overrides). Fetch with: bivaluate datasets fetch yeast")


@app.command()
def fetch(
    names: Annotated[
        list[str] | None, typer.Argument(help="Groups (yeast, tavazoie, prelic, cancer) or data sets; default all.")
    ] = None,
    wheel: Annotated[Path | None, typer.Option(help="The archive, if you downloaded it by hand.")] = None,
) -> None:
    """Fetch real data sets for offline use; all of them travel in one archive of 19 MB.

    Examples:

    - `bivaluate datasets fetch yeast`
    - `bivaluate datasets fetch --wheel biclustlib-0.0.13-py3-none-any.whl`
    """
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    from bivaluate.datasets.cache import cache_folder
    from bivaluate.datasets.real import fetch as fetch_data

    columns = (TextColumn("fetching"), BarColumn(), DownloadColumn())
    with Progress(*columns, console=err, disable=not err.is_terminal, transient=True) as bar:
        task = bar.add_task("fetching", total=None)
        for name in names or ["all"]:
            found = fetch_data(
                name, wheel=wheel, progress=lambda done, total: bar.update(task, completed=done, total=total)
            )
            out.print(f"{name}: {len(found)} data set(s) in {cache_folder()}", markup=False, soft_wrap=True)


@app.command()
def write(
    name: Annotated[str, typer.Argument(help="A data set, for example yeast:04_elutriation.")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="Its extension chooses the format.")],
) -> None:
    """Write a real data set to a file, fetching it first if need be.

    Examples:

    - `bivaluate datasets write yeast:04_elutriation elutriation.csv`
    """
    from bivaluate.datasets.real import load
    from bivaluate.io import write_matrix

    matrix = load(name)
    write_matrix(matrix, target)
    err.print(f"wrote {target}: {matrix.shape[0]} x {matrix.shape[1]}", markup=False)

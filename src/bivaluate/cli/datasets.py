"""`bivaluate datasets`: list, fetch and write the real data sets; the synthetic scenarios are a part of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bivaluate._text import plural
from bivaluate.cli.options import SETTINGS, Command, Csv, Group, Json, check_target, option
from bivaluate.cli.scenarios import app as scenarios
from bivaluate.cli.tables import give, out, print_table, progress, say_written

FIELDS = ("name", "group", "shape", "missing", "source", "reference", "sha256")


class _Datasets(Group):
    """The commands; where a data set stands in place of one, what to type is said."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if ":" in args[0]:
            ctx.fail(f"{args[0]} is read by every command: bivaluate find {args[0]}; datasets write {args[0]} FILE.csv")
        return super().resolve_command(ctx, args)


app = typer.Typer(**SETTINGS, cls=_Datasets, help="Real matrices, fetched on demand, and the ten synthetic scenarios.")
app.add_typer(scenarios, name="scenarios")


@app.callback(invoke_without_command=True)
def datasets(context: typer.Context, as_json: Json = False, csv: Csv = None) -> None:
    """List the real data sets with shape, reference and whether they are there for offline use.

    Examples:

    - `bivaluate datasets`
    - `bivaluate datasets fetch yeast`
    - `bivaluate datasets write yeast:04_elutriation elutriation.csv`
    - `bivaluate datasets scenarios`
    """
    if context.invoked_subcommand is not None:
        return
    from bivaluate.datasets.cache import cache_folder, cached_path
    from bivaluate.datasets.catalogue import GROUPS
    from bivaluate.datasets.real import list_datasets

    records = list_datasets()
    described = [{field: getattr(record, field) for field in FIELDS} for record in records]
    if give([row | {"shape": "x".join(map(str, row["shape"]))} for row in described], described, csv, as_json):
        return
    for key in dict.fromkeys(record.group for record in records):
        rows = [
            (r.name, *map(str, r.shape), str(r.missing or "–"), "yes" if cached_path(r).is_file() else "")
            for r in records
            if r.group == key
        ]
        print_table(["name", "rows", "columns", "missing", "offline"], rows, GROUPS[key].title)
        reference = next(record.reference for record in records if record.group == key)
        out.print(f"{reference}\n", style="dim", soft_wrap=True)
    out.print(
        f"Kept in {cache_folder()} (set BIVALUATE_DATA to change this). Fetch with: bivaluate datasets fetch yeast"
    )


@app.command(cls=Command)
def fetch(
    names: Annotated[list[str] | None, typer.Argument(help="Groups or data sets (default: all).")] = None,
    wheel: Annotated[Path | None, option("The archive, if you downloaded it by hand.")] = None,
) -> None:
    """Fetch real data sets for offline use; each group travels in one archive (yeast 19 MB, all 71 MB).

    Examples:

    - `bivaluate datasets fetch yeast`
    - `bivaluate datasets fetch --wheel biclustlib-0.0.13-py3-none-any.whl`
    """
    from bivaluate.datasets.cache import cache_folder
    from bivaluate.datasets.real import fetch as fetch_data

    with progress(in_bytes=True) as update:
        tell = None if update is None else lambda done, total: update("fetching", done, total)
        for name in names or ["all"]:
            found = fetch_data(name, wheel=wheel, progress=tell)
            out.print(f"{name}: {plural(len(found), 'data set')} in {cache_folder()}", soft_wrap=True)


@app.command(cls=Command)
def write(
    name: Annotated[str, typer.Argument(help="A data set, for example yeast:04_elutriation.")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="Its extension chooses the format.")],
) -> None:
    """Write a real data set to a file, fetching it first if necessary.

    Examples:

    - `bivaluate datasets write yeast:04_elutriation elutriation.csv`
    """
    from bivaluate.datasets.real import load
    from bivaluate.io import write_matrix

    check_target(target, kind="matrix")
    matrix = load(name)
    write_matrix(matrix, target)
    say_written(target, f": {matrix.shape[0]} x {matrix.shape[1]}")

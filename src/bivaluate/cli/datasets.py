"""`bivaluate datasets`: list, fetch and write the real data sets; the synthetic scenarios are a part of it."""

import dataclasses
from pathlib import Path
from typing import Annotated, Any

import typer

from bivaluate._text import plural
from bivaluate.cli.options import SETTINGS, Command, Csv, Json, OptionGroup, Seed, check_target, option
from bivaluate.cli.tables import give, out, print_records, print_table, progress, say_written

FIELDS = ("name", "group", "shape", "missing", "source", "reference", "sha256")


class _Datasets(OptionGroup):
    """The commands; where a data set stands in place of one, what to type is said."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if ":" in args[0]:
            ctx.fail(f"{args[0]} is read by every command: bivaluate find {args[0]}; datasets write {args[0]} FILE.csv")
        return super().resolve_command(ctx, args)


app = typer.Typer(**SETTINGS, cls=_Datasets, help="Real matrices, fetched on demand, and the ten synthetic scenarios.")
scenarios_app = typer.Typer(
    **SETTINGS, cls=OptionGroup, help="The ten scenarios of the paper: list, write, score them."
)
app.add_typer(scenarios_app, name="scenarios")


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
        own = [record for record in records if record.group == key]
        there = ["yes" if cached_path(record).is_file() else "" for record in own]
        rows = [(r.name, *map(str, r.shape), str(r.missing or "–"), is_) for r, is_ in zip(own, there, strict=True)]
        print_table(["name", "rows", "columns", "missing", "offline"], rows, GROUPS[key].title)
        out.print(f"{own[0].reference}\n", style="dim", soft_wrap=True)
    out.print(f"Kept in {cache_folder()} (BIVALUATE_DATA changes this). Fetch with: bivaluate datasets fetch yeast")


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

    with progress("fetching", in_bytes=True) as tell:
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


@scenarios_app.callback(invoke_without_command=True)
def scenarios(context: typer.Context, as_json: Json = False, csv: Csv = None) -> None:
    """List the ten synthetic scenarios of the NVE paper and what each one stresses.

    Examples:

    - `bivaluate datasets scenarios`
    - `bivaluate datasets scenarios write S1 S7 --seed 1 --out data`
    - `bivaluate datasets scenarios planted --seeds 20`
    """
    if context.invoked_subcommand is not None:
        return
    from bivaluate.datasets.scenarios import SCENARIOS

    fields = ("id", "name", "n_biclusters", "signal", "stress")
    records = [{field: getattr(scenario, field) for field in fields} for scenario in SCENARIOS.values()]
    if give(records, records, csv, as_json):
        return
    rows = [[str(value) for value in record.values()] for record in records]
    print_table(["id", "name", "K", "signal", "what it stresses"], rows, "The ten scenarios, 300 x 40 each")
    out.print("Write one with: bivaluate datasets scenarios write S1 --seed 0 --out data")


@scenarios_app.command("write", cls=Command)
def write_scenarios(
    names: Annotated[list[str], typer.Argument(help="Scenarios: S1 … S8, S9a, S9b, or all.", show_default=False)],
    random_state: Seed = 0,
    folder: Annotated[Path, option("Folder to write to; it need not exist yet.", "--out", "-o")] = Path(),
) -> None:
    """Write matrix, planted solution and recipe of scenarios, ready for `bivaluate score`.

    Examples:

    - `bivaluate datasets scenarios write S1 S7 --seed 1 --out data`
    - `bivaluate score data/S1_seed1.csv data/S1_seed1.truth.json`
    """
    from bivaluate.datasets.scenarios import SCENARIOS, get_scenario, write_scenario

    wanted = list(SCENARIOS) if [name.lower() for name in names] == ["all"] else names
    for scenario in [get_scenario(name) for name in wanted]:
        for path in write_scenario(scenario.id, random_state, folder):
            out.print(str(path), soft_wrap=True)


@scenarios_app.command(cls=Command)
def planted(
    names: Annotated[list[str] | None, typer.Argument(help="Scenarios (default: those of the paper's table).")] = None,
    n_seeds: Annotated[int | None, option("Number of seeds (default: 20, and 200 of S9b).", "--seeds")] = None,
    as_json: Json = False,
    csv: Csv = None,
) -> None:
    """Score the planted solutions over many seeds, beside the paper's values.

    Examples:

    - `bivaluate datasets scenarios planted`
    - `bivaluate datasets scenarios planted S4 S5 --seeds 100`
    """
    from bivaluate.datasets.published import PLANTED, SOURCES, planted_table

    cells = planted_table(names or tuple(PLANTED), n_seeds=n_seeds)
    records = [dataclasses.asdict(cell) | {"deviation": cell.deviation} for cell in cells]
    if give(records, records, csv, as_json):
        return
    shown = {name: name for name in ("scenario", "measure", "n_seeds", "mean", "sd", "paper", "deviation")}
    print_records(shown | {"n_seeds": "seeds"}, records)
    out.print(f"Paper: {SOURCES['planted']}. Seeds 0, 1, 2, …; deviation is relative to the paper's value.")

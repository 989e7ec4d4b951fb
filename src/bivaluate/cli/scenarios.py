"""`bivaluate datasets scenarios`: list, write and check the ten synthetic scenarios."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from bivaluate.cli.options import SETTINGS, Command, Csv, Group, Json, Seed, option
from bivaluate.cli.tables import give, out, print_table

app = typer.Typer(
    **SETTINGS, cls=Group, help="The ten synthetic scenarios of the NVE paper: list, write or score them."
)


@app.callback(invoke_without_command=True)
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


@app.command(cls=Command)
def write(
    names: Annotated[list[str], typer.Argument(help="Scenarios: S1 … S8, S9a, S9b, or all.", show_default=False)],
    random_state: Seed = 0,
    folder: Annotated[
        Path, typer.Option("--out", "-o", help="Folder to write to; created if it does not exist.")
    ] = Path(),
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


@app.command(cls=Command)
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
    from bivaluate.datasets.published import PLANTED, PLANTED_MEASURES, PLANTED_SOURCE, planted_table
    from bivaluate.registry import get_metric

    cells = planted_table(names or tuple(PLANTED), n_seeds=n_seeds)
    records = [dataclasses.asdict(cell) | {"deviation": cell.deviation} for cell in cells]
    if give(records, records, csv, as_json):
        return
    width = len(PLANTED_MEASURES)
    rows: list[list[str]] = []
    for start in range(0, len(cells), width):
        row = cells[start : start + width]
        rows.append([row[0].scenario, str(row[0].n_seeds), "mean", *(f"{cell.mean:.4f}" for cell in row)])
        if row[0].n_seeds > 1:
            rows.append(["", "", "sd", *(f"{cell.sd:.4f}" for cell in row)])
        if row[0].paper == row[0].paper:
            rows.append(["", "", "paper", *(f"{cell.paper:.4f}" for cell in row)])
            rows.append(["", "", "deviation", *(f"{100 * cell.deviation:+.1f} %" for cell in row)])
    symbols = [get_metric(measure).symbol for measure in PLANTED_MEASURES]
    print_table(["scenario", "seeds", "", *symbols], rows, "Planted solutions, seeds 0, 1, 2, …")
    out.print(f"Paper: {PLANTED_SOURCE}.")

"""``bivaluate scenarios``: list, write and check the ten synthetic scenarios."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(
    help="The ten synthetic scenarios of the NVE paper: list them, write them, score what they plant.",
    no_args_is_help=False,
)


@app.callback(invoke_without_command=True)
def scenarios(context: typer.Context) -> None:
    """List the ten synthetic scenarios of the NVE paper and what each one stresses.

    \b
    Examples:
      bivaluate scenarios
      bivaluate scenarios write S1 S7 --seed 1 --out data
      bivaluate scenarios planted --seeds 20
    """
    if context.invoked_subcommand is not None:
        return
    from bivaluate.cli.console import out
    from bivaluate.datasets.scenarios import SCENARIOS

    table = _table("The ten scenarios, 300 x 40 each", "id", "name", "K", "signal", "what it stresses")
    for scenario in SCENARIOS.values():
        table.add_row(scenario.id, scenario.name, str(scenario.n_biclusters), scenario.signal, scenario.stress)
    out.print(table)
    out.print("Write one with: bivaluate scenarios write S1 --seed 0 --out data")


@app.command()
def write(
    names: Annotated[list[str], typer.Argument(help="Scenarios: S1 … S8, S9a, S9b, or all.", show_default=False)],
    seed: Annotated[int, typer.Option(help="Seed of the random draws.")] = 0,
    out_folder: Annotated[Path, typer.Option("--out", help="Folder to write to; made if it is not there.")] = Path(),
) -> None:
    """Write matrix, planted solution and recipe of scenarios, ready for ``bivaluate score``.

    \b
    Examples:
      bivaluate scenarios write S1 S7 --seed 1 --out data
      bivaluate score data/S1_seed1.csv data/S1_seed1.truth.json
    """
    from bivaluate.cli.console import out
    from bivaluate.datasets.scenarios import SCENARIOS, get_scenario, write_scenario

    wanted = list(SCENARIOS) if [name.lower() for name in names] == ["all"] else names
    for scenario in [get_scenario(name) for name in wanted]:
        for path in write_scenario(scenario.id, seed, out_folder):
            out.print(str(path), highlight=False, soft_wrap=True)


@app.command()
def planted(
    names: Annotated[
        list[str] | None, typer.Argument(help="Scenarios; default the five of the paper's table.", show_default=False)
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(help="Number of seeds: 0, 1, 2, … (default: 20, and 200 of S9b).")
    ] = None,
) -> None:
    """Score the planted solutions over many seeds, beside the paper's values.

    \b
    Examples:
      bivaluate scenarios planted
      bivaluate scenarios planted S4 S5 --seeds 100
    """
    from bivaluate.cli.console import out
    from bivaluate.datasets.planted import PLANTED_MEASURES, planted_table
    from bivaluate.datasets.published import PLANTED, PLANTED_SOURCE
    from bivaluate.measures.registry import get_metric

    cells = planted_table(names or tuple(PLANTED), n_seeds=seeds)
    symbols = [get_metric(measure).symbol for measure in PLANTED_MEASURES]
    table = _table("Planted solutions, seeds 0, 1, 2, …", "scenario", "seeds", "", *symbols)
    width = len(PLANTED_MEASURES)
    for start in range(0, len(cells), width):
        row = cells[start : start + width]
        table.add_row(row[0].scenario, str(row[0].n_seeds), "mean", *(f"{cell.mean:.4f}" for cell in row))
        if row[0].n_seeds > 1:
            table.add_row("", "", "sd", *(f"{cell.sd:.4f}" for cell in row))
        if row[0].paper == row[0].paper:
            table.add_row("", "", "paper", *(f"{cell.paper:.4f}" for cell in row))
            table.add_row("", "", "deviation", *(_percent(cell) for cell in row), end_section=True)
    out.print(table)
    out.print(f"Paper: {PLANTED_SOURCE}.", highlight=False)


def _percent(cell: Any) -> str:
    return f"{100 * cell.deviation:+.1f} %"


def _table(title: str, *columns: str) -> Any:
    from rich.table import Table

    table = Table(title=title, title_justify="left", header_style="bold")
    for column in columns:
        table.add_column(column)
    return table

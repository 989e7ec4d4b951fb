"""`bivaluate select`: the choice of algorithm and K from a run folder, and how far to trust it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bivaluate._errors import FileError
from bivaluate.cli.console import err, number, out

if TYPE_CHECKING:
    from bivaluate.sweep.select import Selection


def select(
    run: Annotated[Path, typer.Argument(help="The run folder of a sweep.")],
    by: Annotated[str, typer.Option(help="The measure to choose by (see `bivaluate metrics`).")] = "nve_cov",
    gap: Annotated[
        bool, typer.Option("--gap", help="Choose by the gap to the null; needs a sweep with --null.")
    ] = False,
    perturb: Annotated[
        str | None, typer.Option(help="Score the solutions again on perturbed matrices: noise:0.1,mask:0.05.")
    ] = None,
    perturb_runs: Annotated[int, typer.Option(help="Perturbed copies per matrix and kind.")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    csv: Annotated[Path | None, typer.Option(help="Also write all tables as CSV into this folder.")] = None,
) -> None:
    """Choose algorithm and K from a sweep.

    For every data set: the best (algorithm, K) with its uncertainty over seeds, what other measures would
    choose, and how the choice changes with the coverage exponent, a size filter and perturbation.

    Examples:

    - `bivaluate select run`
    - `bivaluate select run --by nve_cov --perturb noise:0.1,mask:0.05`
    - `bivaluate select run --by avg_ve --gap`
    """
    from bivaluate.sweep.load import load_run
    from bivaluate.sweep.select import select as choose

    opened = load_run(run)
    specs = [word.strip() for word in perturb.split(",")] if perturb else []
    selection = choose(opened, by, gap=gap, perturb=specs, perturb_runs=perturb_runs)
    if opened.missing:
        err.print(f"{len(opened.missing)} of {len(opened.cells)} cells are not finished yet.", style="yellow")
    if as_json:
        typer.echo(json.dumps(selection.to_dict(), indent=2))
    else:
        _print(selection)
    if csv:
        _write(selection, csv)


def _print(selection: Selection) -> None:
    from bivaluate.measures.registry import METRICS

    symbol = METRICS[selection.by].symbol
    _print_choice(selection, f"gap of {symbol} to its null" if selection.gap else symbol)
    with_null = "gap" in selection.best
    _print_pivot(
        f"what each measure chooses (algorithm K, seeds won{'; gap to the null, p' if with_null else ''})",
        selection.best,
        "measure",
        lambda row: (
            f"{row['algorithm']} {row['k']} ({row['wins']}/{row['contests']}"
            + (f"; {number(row['gap'])}, p {number(row['p_value'])})" if with_null else ")")
        ),
        lambda key: METRICS[key].symbol,
    )
    _print_pivot(
        f"the choice of {symbol} if … (* another choice)",
        selection.sensitivity,
        "change",
        lambda row: f"{row['algorithm']} {row['k']}" + ("" if row["same"] else " *") + _agreeing(row),
        str,
    )
    for title, sentences in (
        ("Disagreements", selection.disagreements),
        ("Seeds", selection.instability),
        ("Warnings", selection.warnings),
        ("Without a null beside them, remember", selection.leans),
    ):
        if sentences:
            out.print(f"\n{title}", style="bold")
            for sentence in sentences:
                out.print(f"  • {sentence}", markup=False)


def _print_choice(selection: Selection, name: str) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold", title=f"best by {name}", title_justify="left")
    headings = ["data set", "algorithm", "K", "mean", "95 % over seeds", "seeds won", "coverage", "runner-up"]
    with_null = "gap" in selection.best
    headings += ["null", "gap", "p"] if with_null else []
    for heading in headings:
        table.add_column(heading, justify="left" if heading in ("data set", "algorithm", "runner-up") else "right")
    for row in selection.best[selection.best["measure"] == selection.by].to_dict("records"):
        cells = [
            row["dataset"],
            row["algorithm"],
            str(row["k"]),
            number(row["mean"]),
            "–" if row["low"] != row["low"] else f"{number(row['low'])} to {number(row['high'])}",
            f"{row['wins']}/{row['contests']}",
            f"{100 * row['coverage']:.3g} %",
            f"{row['runner_up']} ({number(row['runner_up_mean'])})" if row["runner_up"] else "–",
        ]
        if with_null:
            cells += [
                f"{number(row['null_low'])} to {number(row['null_high'])}",
                number(row["gap"]),
                number(row["p_value"]),
            ]
        table.add_row(*cells)
    out.print(table)


def _print_pivot(title: str, frame: Any, column: str, cell: Any, heading: Any) -> None:
    from rich.table import Table

    if not len(frame):
        return
    keys = list(dict.fromkeys(frame[column]))
    datasets = list(dict.fromkeys(frame["dataset"]))
    table = Table(box=None, pad_edge=False, header_style="bold", title=f"\n{title}", title_justify="left")
    shown = {(row["dataset"], row[column]): cell(row) for row in frame.to_dict("records")}
    across, down = (keys, datasets) if len(datasets) > 1 and len(keys) <= 8 else (datasets, keys)
    table.add_column("")
    for key in across:
        table.add_column(heading(key) if across is keys else str(key))
    for key in down:
        pairs = [(key, other) if down is datasets else (other, key) for other in across]
        table.add_row(str(key) if down is datasets else heading(key), *(shown.get(pair, "–") for pair in pairs))
    out.print(table)


def _agreeing(row: Any) -> str:
    return "" if row["share_same"] in (0.0, 1.0) else f" ({100 * row['share_same']:.0f} % of copies agree)"


def _write(selection: Selection, folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, frame in selection.tables.items():
            frame.to_csv(folder / f"{name}.csv", index=False, lineterminator="\n")
    except OSError as error:
        raise FileError(f"cannot write {folder}: {error.strerror or error}.") from error
    err.print(f"wrote {', '.join(f'{name}.csv' for name in selection.tables)} into {folder}", markup=False)

"""`bivaluate metrics`: the registry as a table."""

from __future__ import annotations

from typing import Annotated

import typer

from bivaluate.cli.console import out


def metrics(
    key: Annotated[str | None, typer.Argument(help="Show one measure in full.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the measures: what they mean, which way is better, and whether they are computed by default.

    Examples:

    - `bivaluate metrics`
    - `bivaluate metrics nve`
    """
    from bivaluate.measures.registry import METRICS, get_metric

    records = [get_metric(key)] if key else list(METRICS.values())
    if as_json:
        import json

        fields = ("key", "symbol", "name", "level", "direction", "summary", "reference", "default")
        listed = [
            {f: getattr(m, f) for f in fields}
            | {"range": [_bound(end) for end in m.range], "invariances": sorted(m.invariances)}
            for m in records
        ]
        typer.echo(json.dumps(listed, indent=2))
        return
    if key:
        import inspect

        metric = records[0]
        out.print(f"[bold]{metric.symbol}[/] ({metric.key}): {metric.name}", markup=True)
        out.print(metric.summary, markup=False)
        better = "neither way" if metric.direction == "none" else metric.direction
        low, high = ("∞" if _bound(end) is None else f"{end:g}" for end in map(abs, metric.range))
        low = f"−{low}" if metric.range[0] < 0 else low
        unchanged = ", ".join(sorted(metric.invariances)).replace("_", " ") or "nothing"
        out.print(f"Better: {better}. Range: {low} to {high}. Unchanged by: {unchanged}.", markup=False)
        out.print(f"Reference: {metric.reference}\n" if metric.reference else "", markup=False)
        out.print(inspect.getdoc(metric.function) or "", markup=False)
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("key", "of a", "better", "default", "what it tells"):
        table.add_column(heading)
    for metric in records:
        table.add_row(
            metric.key,
            metric.level,
            {"low": "↓ low", "high": "↑ high", "none": ""}[metric.direction],
            "yes" if metric.default else "",
            metric.summary,
        )
    out.print(table)


def _bound(end: float) -> float | None:
    return end if abs(end) != float("inf") else None

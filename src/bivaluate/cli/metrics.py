"""`bivaluate metrics`: the registry as a table."""

from typing import Annotated

from bivaluate.cli._types import Metric
from bivaluate.cli.options import Csv, Json, One, option
from bivaluate.cli.tables import give, out, print_json, print_table

FIELDS = ("key", "symbol", "name", "level", "direction", "summary", "reference", "default")


def metrics(
    key: One = None,
    glossary: Annotated[bool, option("Explain the words of verdicts and tables instead.", "--glossary")] = False,
    as_json: Json = False,
    csv: Csv = None,
) -> None:
    """List the measures: what they mean, which way is better, and whether they are computed by default.

    Examples:

    - `bivaluate metrics`
    - `bivaluate metrics nve`
    - `bivaluate metrics ce` (what `bivaluate compare` measures is of a comparison)
    - `bivaluate metrics --glossary`
    - `bivaluate metrics --csv measures.csv`
    """
    if glossary:
        from bivaluate._glossary import GLOSSARY

        print_json(dict(GLOSSARY)) if as_json else print_table(["word", "meaning"], GLOSSARY)
        return
    from bivaluate.measures.external import EXTERNAL
    from bivaluate.registry import RECORDS, get_metric

    known = {**RECORDS, **EXTERNAL}
    if key and key not in known:  # a symbol or name will do
        words = {word.lower(): k for k, metric in reversed(known.items()) for word in (metric.name, metric.symbol)}
        key = {**words, "k": "n_biclusters"}.get(key.lower(), key)
    records = [known.get(key) or get_metric(key)] if key else list(known.values())
    rows = [{field: getattr(metric, field) for field in FIELDS} for metric in records]
    if give(rows, [_document(metric) for metric in records], csv, as_json):
        return
    if key:
        _describe(records[0])
    else:
        better = {"none": "", "low": "↓ low", "high": "↑ high"}
        cells = [(m.key, m.level, better[m.direction], "yes" if m.default else "", m.summary) for m in records]
        print_table(["key", "of a", "better", "default", "what it tells"], cells)


def _document(metric: Metric) -> dict[str, object]:
    plain = {field: getattr(metric, field) for field in FIELDS}
    return {**plain, "range": [_bound(end) for end in metric.range], "invariances": sorted(metric.invariances)}


def _describe(metric: Metric) -> None:
    better = "neither way" if metric.direction == "none" else metric.direction
    low, high = ("∞" if _bound(end) is None else f"{end:g}" for end in map(abs, metric.range))
    low = f"−{low}" if metric.range[0] < 0 else low
    unchanged = ", ".join(sorted(metric.invariances)).replace("_", " ") or "nothing"
    out.print(metric.symbol, style="bold", end="")
    key = "" if metric.key == metric.symbol else f" ({metric.key})"
    name = "" if metric.name in (metric.key, metric.symbol) else f": {metric.name}"
    out.print(f"{key}{name}\n{metric.summary}")
    out.print(f"Better: {better}. Range: {low} to {high}. Unchanged by: {unchanged}.")
    if metric.reference:
        out.print(f"Reference: {metric.reference}")
    for paragraph in _explanation(metric):
        out.print(f"\n{paragraph}", soft_wrap=True)


def _explanation(metric: Metric) -> list[str]:
    """Return what the documentation says of a measure before its parameters, as plain paragraphs."""
    import inspect
    import re

    text = re.split(r"\n\n\w[\w ]*\n-{3,}\n", inspect.getdoc(metric.function) or "")[0]
    text = re.sub(r":\w+:`~?(?:[\w.]*\.)?(\w+)`|``(.+?)``", lambda found: found[1] or found[2], text)
    return text.split("\n\n")[1:]


def _bound(end: float) -> float | None:
    return end if abs(end) != float("inf") else None

"""The methods text: formulas from LaTeX, citations, and a paragraph ready to paste."""

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from bivaluate.measures.measure import Metric
from bivaluate.registry import METRICS, RECORDS

BETTER = {"low": "low is better", "high": "high is better", "none": ""}


@cache
def formulas() -> dict[str, str]:
    """Return the formulas of measures as MathML, by their LaTeX; docs/generate.py renders them."""
    text = (files("bivaluate.report") / "static" / "formulas.json").read_text(encoding="utf-8")
    found: dict[str, str] = json.loads(text)
    return found


def describe_methods(keys: Sequence[str]) -> list[Metric]:
    """Return the measures to explain: those present and, of one bicluster, the default ones with a formula."""
    of_one = [m for m in METRICS.values() if m.level == "bicluster" and m.default and m.formula]
    return [*of_one, *(RECORDS[key] for key in keys if key in RECORDS and RECORDS[key].direction != "none")]


def references(methods: Sequence[Metric]) -> list[str]:
    """Return the distinct references of the measures, in order."""
    return list(dict.fromkeys(method.reference for method in methods if method.reference))


def methods_text(methods: Sequence[Metric], version: str, rerun: str = "") -> str:
    """Return a paragraph with formulas in LaTeX and numbered citations, ready to paste."""
    cited = references(methods)
    lines = [f"Biclustering solutions were scored with bivaluate {version}.", ""]
    for method in methods:
        mark = f" [{cited.index(method.reference) + 1}]" if method.reference else ""
        name = method.name if method.name == method.symbol else f"{method.name} ({method.symbol})"
        formula = f" ${method.formula}$" if method.formula else ""
        better = f"; {BETTER[method.direction]}" if BETTER[method.direction] else ""
        lines.append(f"- {name[0].upper()}{name[1:]}{mark}: {method.summary.rstrip('.')}{better}.{formula}")
    lines += [
        "",
        "Rows are standardised over the columns of their bicluster (population standard deviation). Biclusters of "
        "one row or one column have no defined coherence and are left out of the scores unless stated otherwise.",
    ]
    if rerun:
        lines += ["", f"Command: {rerun}"]
    lines += ["", *(f"[{i + 1}] {reference}" for i, reference in enumerate(cited))]
    return "\n".join(lines).rstrip() + "\n"

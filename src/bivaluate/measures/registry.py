"""All metrics by key. README table, ``bivaluate metrics``, report texts and contract tests come from here."""

from __future__ import annotations

from collections.abc import Iterable

from bivaluate._errors import ParameterError, suggest
from bivaluate.chance import measures as chance
from bivaluate.chance import permutation
from bivaluate.measures import (
    correlation,
    coverage,
    differential,
    normalised,
    overlap,
    r_biclust,
    residue,
    residue_variants,
    sizes,
    virtual_error,
    virtual_error_variants,
)
from bivaluate.measures.measure import Metric

MODULES = (
    residue,
    virtual_error,
    normalised,
    coverage,
    sizes,
    chance,
    overlap,
    residue_variants,
    virtual_error_variants,
    correlation,
    r_biclust,
    differential,
    permutation,
)

METRICS: dict[str, Metric] = {metric.key: metric for module in MODULES for metric in module.METRICS}


def get_metric(key: str) -> Metric:
    """Return the metric with this key.

    >>> get_metric("nve").symbol
    'NVE'
    """
    if key not in METRICS:
        raise ParameterError(
            f"there is no metric {key!r}.{suggest(key, METRICS)} `bivaluate metrics` lists all of them."
        )
    return METRICS[key]


def choose_metrics(metrics: str | Iterable[str]) -> list[Metric]:
    """Return the records of ``"default"``, ``"all"``, one key or several."""
    if metrics == "default":
        return [metric for metric in METRICS.values() if metric.default]
    if metrics == "all":
        return list(METRICS.values())
    return [get_metric(key) for key in ([metrics] if isinstance(metrics, str) else metrics)]

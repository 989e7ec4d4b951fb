"""All measures by key. README table, ``bivaluate metrics``, report texts and contract tests come from here."""

import warnings
from collections.abc import Callable, Iterable
from typing import Any

from bivaluate._errors import ParameterError, suggest
from bivaluate._text import Advice, Option
from bivaluate.chance import evidence, permutation, scores, significance
from bivaluate.measures import (
    correlation,
    coverage,
    differential,
    level,
    normalised,
    partition,
    r_biclust,
    residue,
    topics,
    virtual_error,
)
from bivaluate.measures.measure import INFINITY, Metric, records_of
from bivaluate.measures.own import Records, own_measure
from bivaluate.measures.workspace import Workspace

MODULES = (
    residue, virtual_error, normalised, coverage, level, evidence, scores, correlation, r_biclust, differential,
    permutation, significance, partition,
)  # fmt: skip

METRICS: dict[str, Metric] = Records(
    {
        record.key: record
        for module in MODULES
        for function in vars(module).values()
        if getattr(function, "__module__", "") == module.__name__
        for record in records_of(function)
    }
)


def _of_fits(key: str, again_to: str, option: Option, or_else: str) -> Callable[[Workspace], float]:
    """Return what refuses to compute a measure of a fit from a solution."""
    said = f"{key!r} cannot be computed from one solution: the algorithm has to be fitted again to {again_to}."

    def refuse(workspace: Workspace) -> float:
        raise ParameterError(Advice(f"{said} Use a sweep with ", option, f", or in Python {or_else}."))

    return refuse


_HELD_OUT = Option(python="held_out=5", command="--held-out 5")
_SUBSAMPLES = Option(python="stability=10", command="--stability 10")
_predictive = _of_fits("predictive", "hidden values", _HELD_OUT, "select_k with scoring='predictive'")
_stability = _of_fits("stability", "parts of the matrix", _SUBSAMPLES, "bivaluate.stability")


# Measures of a fit rather than of a solution: a sweep or a search computes them.
OF_FITS = {
    "predictive": Metric(
        "predictive", "gain", "gain on held-out values",
        "How much better the biclusters predict values that were hidden than row and column means do.",
        _predictive, _predictive, level="solution", direction="high", range=(-INFINITY, 1.0), nothing=0.0,
        reference="Owen & Perry 2009, doi:10.1214/08-AOAS227",
    ),
    "stability": Metric(
        "stability", "stability", "stability under subsampling",
        "How reproducible the biclusters are when rows and columns are left out, less what surrogates give.",
        _stability, _stability, level="solution", direction="high", range=(-1.0, 1.0), nothing=0.0,
        reference="after Ben-Hur, Elisseeff & Guyon 2002, doi:10.1142/9789812799623_0002",
    ),
}  # fmt: skip
#: Measures of documents x words: computed where they are asked for, never with "all".
OF_TOPICS = {r.key: r for f in (topics.topic_coherence, topics.topic_diversity) for r in records_of(f)}
RECORDS: dict[str, Metric] = Records(METRICS | OF_FITS | OF_TOPICS)


#: Keys and columns of 0.1.0 and what they are called now.
RENAMED = {"n_paying": "n_supported", "explained": "supported_coverage", "kind": "pattern"}


def get_metric(key: str | Callable[..., Any]) -> Metric:
    """Return the measure with this key."""
    if isinstance(key, str) and key in RECORDS:
        return RECORDS[key]
    if callable(key) or ":" in key:
        record = own_measure(key)
        if record.key in list(METRICS) and record is not METRICS[record.key]:
            raise ParameterError(f"{record.key!r} is a measure of bivaluate already; give yours another name.")
        return record
    if key in RENAMED:
        warnings.warn(FutureWarning(f"the metric {key!r} is called {RENAMED[key]!r} now."), stacklevel=2)
        return RECORDS[RENAMED[key]]
    raise ParameterError(f"there is no metric {key!r}.{suggest(key, METRICS)} `bivaluate metrics` lists all.")


def own_key(name: str | None, keys: Iterable[str]) -> str | None:
    """Return the key, among those computed, of a measure of a user's own that is called by its short name.

    >>> own_key("contrast", ["nve", "mine:contrast"]), own_key("nve", ["nve"])
    ('mine:contrast', 'nve')
    """
    return next((key for key in keys if name and key.endswith(f":{name}")), name)


def symbol(key: str) -> str:
    """Return how sentences and tables write a measure; a key that is not registered stands for itself.

    >>> symbol("nve_cov"), symbol("avg_ve"), symbol("seconds")
    ('NVE_cov', 'AvgVE', 'seconds')
    """
    return RECORDS[key].symbol if key in RECORDS else key


def metric_of(level: str, key: str | Callable[..., Any]) -> Metric:
    """Return the measure with this key; where that is of another level, the one of this level with its symbol.

    >>> metric_of("solution", "evidence").key, metric_of("bicluster", "evidence").key, metric_of("solution", "ve").key
    ('total_evidence', 'evidence', 've')
    """
    record = get_metric(key)
    same = (known for known in RECORDS.values() if (known.level, known.symbol) == (level, record.symbol))
    return record if record.level == level else next(same, record)


def get_ranking_metric(key: str) -> Metric:
    """Return the measure with this key if solutions can be ranked by it; "evidence" is that of the whole solution."""
    record = metric_of("solution", key)
    if not record.ranks_solutions:
        able = [known for known, metric in METRICS.items() if metric.ranks_solutions]
        why = "it scores single biclusters, and a measure of a whole solution is needed"
        why = "neither direction of it is better" if record.level == "solution" else why
        allowed = f"{suggest(key, able)} Allowed: {', '.join(able)}."
        raise ParameterError(f"{key!r} cannot choose between solutions: {why}.{allowed}")
    return record


def choose_metrics(metrics: str | Iterable[str | Callable[..., Any]]) -> list[Metric]:
    """Return the records of ``"default"``, ``"all"``, one key or several."""
    if metrics == "default":
        return [metric for metric in METRICS.values() if metric.default]
    if metrics == "all":
        return list(METRICS.values())
    keys = [metrics] if isinstance(metrics, str) or callable(metrics) else metrics
    return list(dict.fromkeys(get_metric(key) for key in keys))


def main_keys(present: Iterable[str]) -> list[str]:
    """Return which of the measures present a summary shows: the main ones, those of fits, and a user's own."""
    there, main = set(present), (metric.key for metric in main_metrics())
    return [key for key in [*main, *OF_FITS, *Records.own] if key in there and RECORDS[key].level == "solution"]


def main_metrics() -> list[Metric]:
    """Return the measures of the summary tables, in their order."""
    ranked = [(metric.main_rank, metric) for metric in METRICS.values() if metric.main_rank is not None]
    return [metric for _, metric in sorted(ranked, key=lambda pair: pair[0])]

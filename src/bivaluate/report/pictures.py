"""What the page draws of one solution: heatmap, profiles, mergers and table of biclusters, in bounded size."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bivaluate._arrange import Axis, make_axis, spaced
from bivaluate._rows import CHUNK_CELLS
from bivaluate._text import listing, plural
from bivaluate.chance.evidence import SUPPORTED
from bivaluate.elsewhere.confirm import standardised_rows
from bivaluate.enrichment.gene_sets import set_name
from bivaluate.enrichment.hypergeometric import Enrichment
from bivaluate.judge.choice import pick
from bivaluate.judge.redundancy import RedundantGroup, redundant_groups
from bivaluate.matrix import Matrix
from bivaluate.measures.virtual_error import standardised_profile
from bivaluate.registry import METRICS
from bivaluate.report.source import Drawn
from bivaluate.solution import Biclustering

MAX_PROFILES, MAX_LINES, MAX_POINTS, MAX_RUNS, MAX_ADVICE = 40, 50, 80, 60, 6
MAX_MEMBERS = 60, 20  # rows and columns named of a bicluster
MAX_TERMS, MAX_TERM_ROWS, MAX_SHOWN = 5, 200, 400
MAX_ROWS, MIN_COLS, MAX_COLS = 1200, 200, 400
# Share of variance left within rows, below which pictures show standardised ones; skewness from which, logarithms.
ROW_LEVELS, SKEWED = 0.5, 2.0
# Rows averaged for one bin of a matrix that is not an array in memory.
ROWS_OF_A_BIN = 16


@dataclass(frozen=True)
class Budget:
    """How much one solution may draw: cells of its heatmap, points of its profiles, biclusters of its merger matrix."""

    cells: int = 60_000
    points: int = 60_000
    mergers: int = 200

    @classmethod
    def shared(cls, solutions: int) -> Budget:
        """Return the budget of each of this many solutions, so that the page stays small enough to open at once."""
        n = max(solutions, 1)
        return cls(min(60_000, 1_100_000 // n), min(60_000, 350_000 // n), min(200, int((150_000 / n) ** 0.5)))


def draw_solution(drawn: Drawn, budget: Budget) -> dict[str, Any]:
    """Return the display data of one solution, ready for JSON."""
    names = bicluster_names(drawn)
    errors = np.asarray(drawn.mergers.get("ve", []), dtype=np.float64)
    errors = errors if len(errors) > 1 else errors[:0]
    few = len(errors) <= budget.mergers
    groups = redundant_groups(drawn.records)
    shown = most_evident(drawn, MAX_SHOWN)
    solution = drawn.solution if len(shown) == len(drawn.solution) else drawn.solution.select(shown)
    profiles = most_evident(drawn, MAX_PROFILES)
    return {
        "names": [names[k] for k in shown],
        "supported": [not drawn.records or drawn.records[k].get("verdict", SUPPORTED) == SUPPORTED for k in shown],
        "shape": list(drawn.matrix.shape),
        "nouns": list(drawn.matrix.nouns),
        "heatmap": _heatmap(drawn.matrix, solution, budget.cells),
        "profiles": [_profile(drawn, k, names[k], budget.points // len(profiles)) for k in profiles],
        "mergers": {
            "errors": [[_rounded(value, 5) for value in line] for line in errors.tolist()] if few else [],
            "pairs": [pair for group in groups for pair in group.pairs] if few else [],
            "advice": _advice(groups, names),
        },
        "records": _table([record for k, record in enumerate(bicluster_records(drawn)) if k in set(shown)]),
        "enrichment": _enrichment(drawn.enrichment),
        "left_out": _left_out(drawn.solution, len(errors), budget),
    }


def most_evident(drawn: Drawn, most: int) -> list[int]:
    """Return the positions of so many biclusters with the most evidence, in their own order; the first without any."""
    n = len(drawn.solution)
    if n <= most:
        return list(range(n))
    evidence = [float(record.get("evidence") or 0.0) for record in drawn.records] or [0.0] * n
    return sorted(sorted(range(n), key=lambda k: -evidence[k])[:most])


def _advice(groups: Sequence[RedundantGroup], names: Sequence[str]) -> list[str]:
    """Say what could be done about redundant biclusters."""
    called = [listing([names[k] for k in group.members]) for group in groups[:MAX_ADVICE]]
    said = [
        f"Keep one of {who}: they share most of their values."
        if group.duplicates
        else f"{who} are redundant: one bicluster explains them as well as several."
        for who, group in zip(called, groups, strict=False)
    ]
    return said + ([f"{plural(len(groups) - MAX_ADVICE, 'more group')} …"] if len(groups) > MAX_ADVICE else [])


def bicluster_names(drawn: Drawn) -> list[str]:
    """Return what the biclusters are called, as their records say where there are any."""
    same = len(drawn.records) == len(drawn.solution)
    return [str(record["bicluster"]) for record in drawn.records] if same else drawn.solution.names


class Picture(NamedTuple):
    """The binned, reordered matrix."""

    values: NDArray[np.float64]
    rows: Axis
    cols: Axis
    note: str


def make_picture(matrix: Matrix, solution: Biclustering, max_cells: int = 60_000) -> Picture:
    """Reorder `matrix` by the biclusters and average it over bins if it has more than `max_cells` cells."""
    n, m = matrix.shape
    max_cols = min(m, max(MIN_COLS, min(MAX_COLS, max_cells // min(n, MAX_ROWS))))
    max_rows = min(n, MAX_ROWS, max(1, max_cells // max_cols))
    row_masks, col_masks = solution.row_masks, solution.col_masks
    rows = make_axis(row_masks, max_rows, col_masks)
    cols = make_axis(col_masks, max_cols, row_masks)
    return Picture(_average(matrix, rows, cols), rows, cols, _note(matrix, rows, cols))


def _average(matrix: Matrix, rows: Axis, cols: Axis) -> NDArray[np.float64]:
    every = np.arange(matrix.shape[1])
    sums, counts = np.empty((2, rows.n_bins, cols.n_bins))
    starts = cols.edges[:-1]
    for b, (start, stop) in enumerate(zip(rows.edges[:-1].tolist(), rows.edges[1:].tolist(), strict=True)):
        members = rows.order[start:stop]
        if matrix.in_memory:
            part = matrix.values[members][:, cols.order]
        else:
            shown = np.sort(members[spaced(len(members), ROWS_OF_A_BIN)])
            part = matrix.block(shown, every)[:, cols.order]
        seen = np.isfinite(part)
        sums[b] = np.add.reduceat(np.where(seen, part, 0.0).sum(axis=0), starts)
        counts[b] = np.add.reduceat(seen.sum(axis=0), starts)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _note(matrix: Matrix, rows: Axis, cols: Axis) -> str:
    """Say what was averaged, or nothing."""
    parts = []
    for axis, things in zip((rows, cols), matrix.nouns, strict=True):
        if axis.n_bins < len(axis.order):
            low, high = np.diff(axis.edges).min(), np.diff(axis.edges).max()
            parts.append(f"{len(axis.order):,} {things} in {axis.n_bins:,} bins of {low:,} to {high:,}")
    some = f", of {ROWS_OF_A_BIN} {matrix.nouns[0]} of each bin at most"
    looked_at = some if np.diff(rows.edges).max() > ROWS_OF_A_BIN and not matrix.in_memory else ""
    return f"Too large to draw value by value: each tile is a mean ({listing(parts)}){looked_at}." if parts else ""


def _heatmap(matrix: Matrix, solution: Biclustering, max_cells: int) -> dict[str, Any]:
    picture = make_picture(matrix, solution, max_cells)
    finite = picture.values[np.isfinite(picture.values)]
    scale, unit = float(np.abs(finite).max(initial=0.0)) or 1.0, _log_unit(finite)
    shown, finite = (np.log2(1 + v / unit) if unit else v for v in (picture.values, finite))
    low, middle, high = np.percentile(finite, [2, 50, 98]).tolist() if finite.size else (0.0, 0.0, 0.0)
    reach = max(high - middle, middle - low) or float(np.abs(finite).max(initial=0.0)) or 1.0
    from_zero = bool(finite.min(initial=0.0) >= 0 > middle - reach)  # counts, weights
    if from_zero:
        middle = reach = (high or finite.max()) / 2
    standard = standardised_rows(shown)
    return {
        "rows": picture.rows.n_bins,
        "cols": picture.cols.n_bins,
        "scale": scale,
        "middle": middle,
        "reach": reach,
        "from_zero": from_zero,
        "unit": unit,
        "data": base64.b64encode((picture.values / scale).astype("<f2").tobytes()).decode("ascii"),
        "standard": _bytes(standard),
        "standard_reach": float(np.nanpercentile(np.abs(standard), 98)) if np.isfinite(standard).any() else 1.0,
        "view": _view(shown),
        "row_names": picture.rows.names(matrix.row_labels),
        "col_names": picture.cols.names(matrix.col_labels),
        "blocks": [
            {"rows": _few(picture.rows.bins_of(b.rows)), "cols": _few(picture.cols.bins_of(b.cols))} for b in solution
        ],
        "note": picture.note,
    }


def _log_unit(finite: NDArray[np.float64]) -> float:
    """Return the unit of the logarithms log2(1 + x/unit) that colours show, as evidence does; 0 to show values."""
    centred = finite - finite.sum() / max(len(finite), 1)
    skewed = (centred**3).sum() * math.sqrt(len(finite)) > SKEWED * (centred**2).sum() ** 1.5
    return float(np.median(finite[finite > 0])) if skewed and finite.min() >= 0 else 0.0


def _view(values: NDArray[np.float64]) -> str:
    """Return which values are shown first: standardised rows where most of the variance is between rows."""
    known = np.ma.masked_invalid(values)
    within = known - known.mean(axis=1, keepdims=True)
    return "standard" if within.var() < ROW_LEVELS * known.var() else "raw"


def _bytes(standard: NDArray[np.float64]) -> str:
    """Return standardised values in one byte each: thirty-seconds up to ±127, and -128 for undefined."""
    steps = np.clip(np.nan_to_num(32 * standard, nan=-128.0).round(), -127, 127)
    return base64.b64encode(np.where(np.isnan(standard), -128, steps).astype(np.int8).tobytes()).decode("ascii")


def _few(found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Keep the longest runs, in order: a scattered bicluster needs no thousand outlines."""
    return sorted(sorted(found, key=lambda run: run[0] - run[1])[:MAX_RUNS])


def _profile(drawn: Drawn, k: int, name: str, budget: int) -> dict[str, Any]:
    matrix, bicluster = drawn.matrix, drawn.solution[k]
    members = bicluster.rows
    if not matrix.in_memory:
        members = members[spaced(len(members), max(MAX_LINES, CHUNK_CELLS // len(bicluster.cols)))]
    rows, pattern = standardised_profile(matrix.block(members, bicluster.cols))
    points = spaced(rows.shape[1], MAX_POINTS)
    lines = spaced(len(rows), min(MAX_LINES, max(5, budget // len(points))))
    return {
        "name": name,
        "rows": len(bicluster.rows),
        "cols": rows.shape[1],
        "lines": _lines(rows[np.ix_(lines, points)]),
        "pattern": _lines(pattern[points]),
        "col_names": [matrix.col_label(int(bicluster.cols[j])) for j in points],
    }


def members_of(drawn: Drawn) -> list[dict[str, Any]]:
    """Return who is in each bicluster, by name where there are names."""
    names, label = bicluster_names(drawn), (drawn.matrix.row_label, drawn.matrix.col_label)

    def some(members: NDArray[np.int64], side: int) -> str:
        named, rest = [label[side](int(i)) for i in members[: MAX_MEMBERS[side]]], len(members) - MAX_MEMBERS[side]
        return ", ".join(named) + (f" and {rest:,} more" if rest > 0 else "")

    shown = ((names[k], drawn.solution[k]) for k in most_evident(drawn, MAX_PROFILES))
    return [{"name": name, "rows": some(b.rows, 0), "cols": some(b.cols, 1)} for name, b in shown]


def bicluster_records(drawn: Drawn) -> list[dict[str, Any]]:
    """Return the table of biclusters, with the enriched sets of each where they were asked for."""
    records = [dict(record) for record in drawn.records]
    if drawn.enrichment is not None:
        for record, found in zip(records, drawn.enrichment.biclusters, strict=True):
            best = set_name(found["best"], found["title"])
            record |= {"enriched_sets": found["n_enriched"], "best_set": best, "q": found["q"]}
    return records


def best_terms(result: Enrichment) -> list[dict[str, Any]]:
    """Return the sets each bicluster is enriched in, best first."""
    return [term for term in result.terms if term["q"] <= result.level]


def _enrichment(result: Enrichment | None) -> dict[str, Any] | None:
    """Return the panel of enriched sets: a sentence, what random genes give, and the best sets of each bicluster."""
    if result is None:
        return None
    shown: dict[str, list[dict[str, Any]]] = {}
    for term in best_terms(result):
        shown.setdefault(term["bicluster"], []).append(term)
    terms = [term for found in shown.values() for term in found[:MAX_TERMS]][:MAX_TERM_ROWS]
    terms = [term | {"title": set_name(term["set"], term["title"])} for term in terms]
    columns = ["bicluster", "title", "overlap", "genes", "set_size", "background", "p", "q"]
    of = result.background
    return {
        "summary": result.summary,
        "background": f"{of['annotated']:,} of {of['genes']:,} genes of the matrix are in {of['sets']:,} sets.",
        "left_out": len(best_terms(result)) - len(terms),
        "columns": columns,
        "rows": [[plain(term[column]) for column in columns] for term in terms],
    }


def _left_out(solution: Biclustering, n_mergers: int, budget: Budget) -> list[str]:
    said, texts = [], {MAX_SHOWN: "{} (the table beside the page has all)", MAX_PROFILES: "the profiles of {}"}
    for most, text in texts.items():
        if len(solution) > most:
            rest = f"{plural(len(solution) - most, 'bicluster')} other than the {most} with the most evidence"
            said.append(text.format(rest))
    if n_mergers > budget.mergers:
        said.append(f"the merger matrix of {n_mergers} biclusters (the table names the nearest of each)")
    return said


def _table(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return records as columns and rows, and the supported one that is best in each column that has a best."""
    columns = list(records[0]) if records else []
    best = {}
    able = [record.get("verdict", SUPPORTED) == SUPPORTED for record in records]
    for key in columns:
        if key in METRICS and METRICS[key].direction != "none":
            values = [math.nan if r[key] is None else float(r[key]) for r in records]
            best[key] = pick(np.where(able, values, math.nan), METRICS[key].direction == "high")
    rows = [[plain(record.get(column), 15) for column in columns] for record in records]
    return {"columns": columns, "rows": rows, "best": best}


def plain(value: Any, digits: int = 10) -> Any:
    """Return a value JSON knows: NaN and infinities become None, floats keep so many digits."""
    if isinstance(value, (float, np.floating)):
        return _rounded(float(value), digits)
    if isinstance(value, np.integer):
        return int(value)
    return value if value is None or isinstance(value, (bool, str, int)) else str(value)


def _rounded(value: float, digits: int) -> float | None:
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None


def _lines(values: NDArray[np.float64]) -> list[Any]:
    return [_lines(line) for line in values] if values.ndim > 1 else [plain(v) for v in values.round(2).tolist()]

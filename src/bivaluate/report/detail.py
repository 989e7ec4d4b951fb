"""What the page draws of one solution: the heatmap, the profiles, the mergers and the table of biclusters."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bivaluate._text import plural
from bivaluate.matrix import Matrix
from bivaluate.plots.merger import redundant_pairs
from bivaluate.plots.profile import spaced, standardised_profiles
from bivaluate.report.binning import make_picture
from bivaluate.report.source import Drawn
from bivaluate.solution import Bicluster, Biclustering

MAX_PROFILES, MAX_LINES, MAX_POINTS, MAX_MEMBERS, MAX_RUNS = 40, 50, 80, 60, 60


@dataclass(frozen=True)
class Budget:
    """How much one solution may draw: cells of its heatmap, points of its profiles, biclusters of its merger matrix."""

    cells: int = 60_000
    points: int = 60_000
    mergers: int = 200

    @classmethod
    def shared(cls, solutions: int) -> Budget:
        """Return the budget of each of so many solutions, so that the page stays small enough to open at once."""
        n = max(solutions, 1)
        return cls(min(60_000, 1_100_000 // n), min(60_000, 350_000 // n), min(200, int((150_000 / n) ** 0.5)))


def draw_solution(drawn: Drawn, budget: Budget) -> dict[str, Any]:
    """Return the display data of one solution, ready for JSON."""
    errors = np.asarray(drawn.mergers.get("ve", np.empty((0, 0))), dtype=np.float64)
    names = bicluster_names(drawn)
    return {
        "names": names,
        "shape": list(drawn.matrix.shape),
        "heatmap": _heatmap(drawn.matrix, drawn.solution, budget.cells),
        "profiles": [
            _profile(drawn.matrix, bicluster, name, budget.points // min(len(names), MAX_PROFILES))
            for name, bicluster in zip(names[:MAX_PROFILES], drawn.solution[:MAX_PROFILES], strict=True)
        ],
        "mergers": _mergers(errors, drawn.solution, budget.mergers),
        "records": _table(drawn.records),
        "findings": [str(finding) for finding in drawn.findings],
        "left_out": _left_out(drawn.solution, len(errors), budget),
    }


def bicluster_names(drawn: Drawn) -> list[str]:
    """Return what the biclusters are called: as their records say, else B1, B2, …"""
    if len(drawn.records) == len(drawn.solution):
        return [str(record["bicluster"]) for record in drawn.records]
    return [f"B{k + 1}" for k in range(len(drawn.solution))]


def comparable(errors: NDArray[np.float64], solution: Biclustering) -> NDArray[np.float64]:
    """Return the merger errors without biclusters of one row or at most two columns: they match anything."""
    thin = np.array([len(b.rows) < 2 or len(b.cols) < 3 for b in solution], dtype=np.bool_)
    kept = errors.copy()
    kept[thin, :] = np.nan
    kept[:, thin] = np.nan
    return kept


def _heatmap(matrix: Matrix, solution: Biclustering, max_cells: int) -> dict[str, Any]:
    picture = make_picture(matrix, solution, max_cells)
    finite = picture.values[np.isfinite(picture.values)]
    scale = float(np.abs(finite).max(initial=0.0)) or 1.0
    low, middle, high = np.percentile(finite, [2, 50, 98]).tolist() if finite.size else (0.0, 0.0, 0.0)
    reach = max(high - middle, middle - low) or scale
    return {
        "rows": picture.rows.n_bins,
        "cols": picture.cols.n_bins,
        "scale": scale,
        "middle": middle,
        "reach": reach,
        "data": _base64((picture.values / scale).astype("<f2")),
        "row_names": picture.rows.names(matrix.row_labels),
        "col_names": picture.cols.names(matrix.col_labels),
        "blocks": [
            {"rows": _few(picture.rows.bins_of(b.rows)), "cols": _few(picture.cols.bins_of(b.cols))} for b in solution
        ],
        "note": picture.note,
    }


def _few(found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Keep the longest runs, in order: a scattered bicluster needs no thousand outlines."""
    return sorted(sorted(found, key=lambda run: run[0] - run[1])[:MAX_RUNS])


def _profile(matrix: Matrix, bicluster: Bicluster, name: str, budget: int) -> dict[str, Any]:
    rows, pattern = standardised_profiles(bicluster.of(matrix.values))
    points = spaced(rows.shape[1], MAX_POINTS)
    lines = spaced(len(rows), min(MAX_LINES, max(5, budget // len(points))))
    return {
        "name": name,
        "rows": len(rows),
        "cols": rows.shape[1],
        "lines": _rounded(rows[np.ix_(lines, points)]),
        "pattern": _rounded(pattern[points]),
        "line_names": [matrix.row_label(int(bicluster.rows[i])) for i in lines],
        "col_names": [matrix.col_label(int(bicluster.cols[j])) for j in points],
        "row_members": [matrix.row_label(int(i)) for i in bicluster.rows[:MAX_MEMBERS]],
        "col_members": [matrix.col_label(int(j)) for j in bicluster.cols[:MAX_MEMBERS]],
    }


def _mergers(errors: NDArray[np.float64], solution: Biclustering, most: int) -> dict[str, Any]:
    if not 2 <= len(errors) <= most:
        return {"errors": [], "pairs": []}
    return {
        "errors": [[_number(value, 5) for value in line] for line in errors.tolist()],
        "pairs": redundant_pairs(comparable(errors, solution)),
    }


def _left_out(solution: Biclustering, n_mergers: int, budget: Budget) -> list[str]:
    said = []
    if len(solution) > MAX_PROFILES:
        said.append(
            f"the profiles of {plural(len(solution) - MAX_PROFILES, 'bicluster')} after the first {MAX_PROFILES}"
        )
    if n_mergers > budget.mergers:
        said.append(f"the merger matrix of {n_mergers} biclusters (the table names the nearest of each)")
    return said


def _table(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return records as columns and rows, which is shorter than a list of mappings."""
    columns = list(records[0]) if records else []
    return {"columns": columns, "rows": [[plain(record.get(column)) for column in columns] for record in records]}


def plain(value: Any) -> Any:
    """Return a value JSON knows: NaN and infinities become None, floats keep ten digits."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(f"{value:.10g}") if math.isfinite(value) else None
    return str(value)


def _number(value: float, digits: int) -> float | None:
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None


def _rounded(values: NDArray[np.float64]) -> Any:
    return [_rounded(line) for line in values] if values.ndim > 1 else [_round2(v) for v in values.tolist()]


def _round2(value: float) -> float | None:
    return round(value, 2) if math.isfinite(value) else None


def _base64(array: NDArray[Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")

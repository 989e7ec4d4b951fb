"""Which algorithms fit which data, and in what form they get them: the table behind ``--algorithms auto``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from bivaluate._errors import MatrixError
from bivaluate._text import percent
from bivaluate.matrix import Matrix

AUTO: Literal["auto"] = "auto"
LOG, CENTRED, WEIGHTS = "log", "centred", "weights"
ROUNDS = 20  # of fitting effects where cells are missing
FEWEST = 4  # rows and columns; fewer hold no bicluster and anything beside it
MANY_ZEROS, SKEWED, LARGE_EFFECTS = 0.2, 2.0, 0.25
MOST_MADE_DENSE = 2e6  # cells of a sparse matrix, empty ones counted, that an algorithm gets as a dense array


@dataclass(frozen=True)
class Member:
    """One algorithm of the portfolio: the data it is for, the most cells it is given, its parameters."""

    most_cells: float = math.inf  # empty ones counted
    most_columns: float = math.inf
    nonnegative: bool = False
    weights: bool = False  # gets ratings as weights, 0 where there is none
    own_form: bool = False  # brings data into a form of its own
    levels: bool = False  # looks for high or low values, and gets what large row and column effects leave
    gaps: bool = False  # takes missing cells
    refines: bool = False  # refines its biclusters
    parameters: Mapping[str, Any] = field(default_factory=dict)


# Cheap ones first: with a budget they are sure of their turn, and Ctrl-C finds something to keep.
PORTFOLIO: dict[str, Member] = {
    "bregman": Member(levels=True),
    "spectral_co": Member(weights=True),
    "las": Member(most_cells=2e7, levels=True),
    "ssvd": Member(most_cells=1e6),
    "itcc": Member(nonnegative=True),
    "nmf": Member(nonnegative=True),
    "leiden": Member(nonnegative=True),
    "isa": Member(most_cells=2e6, levels=True),
    "coherent": Member(
        most_cells=2e6, most_columns=300, own_form=True, gaps=True, refines=True, parameters={"calibrate": False}
    ),
}


@dataclass(frozen=True)
class Traits:
    """What decides which algorithms run on a matrix."""

    shape: tuple[int, int]
    sparse: bool
    gaps: float  # share of the cells that are missing
    nonnegative: bool
    zeros: float  # share of the observed cells that are 0
    whole: bool
    two_values: bool
    skew: float
    constant: bool
    effects: float  # share of the variance that is that of row and column means
    unit: float  # of logarithms: 1 for counts, otherwise the median of the positive cells

    @property
    def view(self) -> str:
        """In what form algorithms for measurements get the data: as they are, centred, or their logarithms."""
        if self.gaps:
            return CENTRED
        counts = self.nonnegative and self.whole and self.zeros >= MANY_ZEROS
        return LOG if not self.two_values and (counts or self.skew > SKEWED) else ""

    @property
    def lowered(self) -> bool:
        """Whether blocks of low values are looked for as well: not where low values are the background of high ones."""
        fits = self.zeros < MANY_ZEROS and (self.nonnegative or self.skew <= SKEWED)
        return fits and math.prod(self.shape) <= 2e6  # twice the time of LAS

    @property
    def said(self) -> str:
        """What was done to the data before they were searched, in a sentence."""
        said = []
        if self.view == LOG:
            counts = self.nonnegative and self.whole and self.zeros >= MANY_ZEROS
            why = f"these are counts, {percent(self.zeros)} of them 0" if counts else "the values are skewed"
            x = "log2(1 + x" if self.nonnegative else "±log2(1 + |x|"
            over = "" if self.unit == 1 else f"/{self.unit:.3g}"
            said.append(f"Algorithms were given {x}{over}), because {why}.")
        if self.view == CENTRED:
            return (
                f"{percent(self.gaps)} of the values are missing: algorithms that need every value were given what row and "
                "column effects leave, and 0 in the gaps. Biclusters are judged by the cells that are there."
            )
        if self.effects > LARGE_EFFECTS:
            left = "algorithms that look for high or low values were given what they leave"
            said.append(f"Row and column means explain {percent(self.effects)} of the variance: {left}.")
        return " ".join(said)


def traits_of(matrix: Matrix) -> Traits:
    """Return the traits of a matrix; it is read once, some rows at a time."""
    return matrix.once(_traits)


def _traits(matrix: Matrix) -> Traits:
    n, m = matrix.shape
    absent_missing = matrix.sparse and matrix.absent == "missing"
    observed = zeros = 0
    lowest, highest, whole, two_values = np.inf, -np.inf, True, True
    sums = np.zeros(3)
    positive: list[Any] = []
    step = max(1, n * m // 4_000_000)
    for start, stop in matrix.chunks():
        cells = matrix.source.rows(start, stop)
        values = np.asarray(cells.data if matrix.sparse else cells, dtype=np.float64).ravel()
        values = values[~np.isnan(values)]
        implied = 0 if absent_missing or not matrix.sparse else (stop - start) * m - len(cells.data)
        observed += len(values) + implied
        zeros += int((values == 0).sum()) + implied
        if not len(values):
            continue
        lowest, highest = min(lowest, float(values.min())), max(highest, float(values.max()))
        whole = whole and bool((values == np.rint(values)).all())
        two_values = two_values and bool(((values == 0) | (values == 1)).all())
        sums += [float((values**power).sum()) for power in (1, 2, 3)]
        positive.append(values[values > 0][::step])
    lowest = min(lowest, 0.0) if zeros else lowest
    mean, square, cube = sums / max(observed, 1)
    variance = max(square - mean**2, 0.0)
    skew = (cube - 3 * mean * square + 2 * mean**3) / variance**1.5 if variance > 0 else 0.0
    above = np.concatenate(positive) if positive else np.zeros(0)
    gaps, share, nonnegative = 1.0 - observed / (n * m), zeros / max(observed, 1), bool(observed) and lowest >= 0
    constant = not observed or lowest == (max(highest, 0.0) if zeros else highest)
    unit = 1.0 if whole or not len(above) else float(np.median(above))
    values_are = {"nonnegative": nonnegative, "whole": whole, "two_values": two_values, "constant": constant}
    found = Traits((n, m), matrix.sparse, gaps, zeros=share, skew=float(skew), effects=0.0, unit=unit, **values_are)
    return found if gaps or constant or two_values else replace(found, effects=_effects(matrix, found))


def _effects(matrix: Matrix, traits: Traits) -> float:
    """Return the share of the variance of all cells, in the form they are given in, that row and column means have."""
    n, m = matrix.shape
    by_rows, by_cols, square = np.zeros(n), np.zeros(m), 0.0
    for start, stop in matrix.chunks():
        cells = _on_stored(
            matrix.source.rows(start, stop), _logarithms(traits.unit) if traits.view == LOG else np.asarray
        )
        by_rows[start:stop], by_cols = cells.sum(axis=1) / m, by_cols + cells.sum(axis=0) / n
        square += float(((cells.data if matrix.sparse else cells) ** 2).sum())
    variance = square / (n * m) - float(by_rows.mean()) ** 2
    return round(float(by_rows.var() + by_cols.var()) / variance, 9) if variance > 0 else 0.0


def _logarithms(unit: float) -> Any:
    return lambda values: np.copysign(np.log2(1.0 + np.abs(values) / unit), values)


def check_searchable(matrix: Matrix) -> Traits:
    """Refuse a matrix in which no bicluster can be told from what is beside it."""
    n, m = matrix.shape
    if min(n, m) < FEWEST:
        least = f"biclusters can be told from the rest of a matrix from {FEWEST} rows and {FEWEST} columns on"
        raise MatrixError(f"{matrix.name} is {n} x {m}; {least}. Are rows and columns read as they should be?")
    traits = traits_of(matrix)
    if traits.constant:
        raise MatrixError(f"all values of {matrix.name} are equal, so there is nothing to find. Is it the right file?")
    return traits


def unsuited(key: str, traits: Traits) -> str:
    """Return why an algorithm of the portfolio is not run on such data; nothing if it is."""
    from bivaluate.algorithms.registry import ALGORITHMS

    member = PORTFOLIO[key]
    n, m = traits.shape
    if member.nonnegative and not traits.nonnegative:
        return "it needs non-negative data"
    most = member.most_cells
    if traits.sparse and not ALGORITHMS[key].sparse:
        most = min(most, MOST_MADE_DENSE)
    for size, limit, what in ((n * m, most, "cells"), (m, member.most_columns, "columns")):
        if size > limit:
            return f"it is too slow beyond {limit:,.0f} {what}"
    return ""


def parameters_for(key: str, traits: Traits) -> dict[str, Any]:
    """Return the parameters of an algorithm of the portfolio on such data."""
    return {**PORTFOLIO[key].parameters, **({"two_sided": True} if key == "las" and traits.lowered else {})}


def view_for(key: str, traits: Traits) -> str:
    """Return in what form an algorithm of the portfolio gets the data."""
    from bivaluate.algorithms.registry import ALGORITHMS

    member = PORTFOLIO[key]
    if traits.gaps:
        weights = member.nonnegative or (member.weights and traits.nonnegative)
        return "" if member.gaps and not traits.sparse else WEIGHTS if weights else CENTRED
    centred = member.levels and traits.effects > LARGE_EFFECTS and not (traits.sparse and ALGORITHMS[key].sparse)
    return "" if member.own_form else f"{traits.view} {CENTRED}".strip() if centred else traits.view


def make_view(matrix: Matrix, view: str) -> Matrix:
    """Return the data in the form that an algorithm gets; sparse matrices stay sparse."""
    if not view:
        return matrix
    cells = matrix.checked(matrix.source.rows(0, matrix.shape[0]), "omit")
    for step in view.split():
        if step == LOG:
            cells = _on_stored(cells, _logarithms(traits_of(matrix).unit))
        elif step == WEIGHTS:
            cells = _on_stored(cells, np.nan_to_num)
        else:
            cells = _centred(cells, matrix.sparse and matrix.absent == "missing")
    return Matrix(cells, matrix.row_labels, matrix.col_labels, matrix.name).settled()


def _on_stored(cells: Any, function: Any) -> Any:
    """Return dense or sparse cells with a function, for which 0 is 0, applied to each."""
    if not hasattr(cells, "indptr"):
        return function(np.asarray(cells, dtype=np.float64))
    changed = cells.astype(np.float64)
    changed.data = function(changed.data)
    return changed


def _centred(cells: Any, absent_missing: bool) -> Any:
    """Return the cells less additive effects of rows and columns, fitted to those observed; 0 where none is."""
    from scipy.sparse import coo_array, csr_array

    n, m = cells.shape
    if hasattr(cells, "indptr") and absent_missing:
        found = coo_array(cells)
        left = found.data - found.data.mean()
        for _ in range(ROUNDS):
            for place, size in ((found.row, n), (found.col, m)):
                count = np.maximum(np.bincount(place, minlength=size), 1)
                left = left - (np.bincount(place, weights=left, minlength=size) / count)[place]
        return csr_array((left, (found.row, found.col)), shape=(n, m))
    dense = np.array(cells.toarray() if hasattr(cells, "indptr") else cells, dtype=np.float64)
    gaps = np.isnan(dense)
    dense -= np.nanmean(dense)
    dense[gaps] = 0.0
    for _ in range(ROUNDS if gaps.any() else 1):
        for axis in (1, 0):
            dense -= dense.sum(axis=axis, keepdims=True) / np.maximum((~gaps).sum(axis=axis, keepdims=True), 1)
            dense[gaps] = 0.0
    return dense

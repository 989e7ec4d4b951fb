"""Planted matrices and noise for the benchmark of the coherent submatrix search.

The designs named D… served while the search was written; those named F… were written down before it was first frozen,
those named G… before a later freeze and those named H…, blocks with many rows, before the last one, each to be run only
afterwards. All of them come from `plant`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bivaluate.solution import Biclustering

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Design:
    """A matrix with planted blocks.

    `blocks` holds (rows, columns) sizes; every block has its own pattern (sd `pattern`), row shifts (sd `shift`), row
    scales drawn from `scale`, a share of `negative` rows, a level of random sign, and noise. `overlap` is "none",
    "rows" (each block shares a third of its rows with the one before, on other columns), "cells" (it shares a third of
    its rows and of its columns, effects add up).
    """

    shape: tuple[int, int]
    blocks: tuple[tuple[int, int], ...]
    noise: float = 0.4
    pattern: float = 1.0
    shift: float = 1.0
    level: float = 0.0
    scale: tuple[float, float] = (1.0, 1.0)
    negative: float = 0.0
    overlap: str = "none"
    background: str = "normal"
    row_scales: float = 0.0
    column_effects: float = 0.0
    missing: float = 0.0
    skewed: bool = False
    added: bool = False


def background(kind: str, shape: tuple[int, int], rng: np.random.Generator) -> Values:
    """Return noise of a kind: normal, t3, t5, cauchy, ar (AR(1) .7 along the rows), exponential, lognormal, counts, …"""
    n, m = shape
    if kind == "normal":
        return rng.standard_normal(shape)
    if kind in ("t3", "t5"):
        df = int(kind[1:])
        return np.asarray(rng.standard_t(df, shape) / np.sqrt(df / (df - 2)))
    if kind.startswith("ar"):
        rho = float(kind[2:] or 70) / 100
        out = np.empty(shape)
        out[:, 0] = rng.standard_normal(n)
        for j in range(1, m):
            out[:, j] = rho * out[:, j - 1] + np.sqrt(1 - rho**2) * rng.standard_normal(n)
        return out
    if kind == "exponential":
        return rng.exponential(size=shape)
    if kind == "lognormal":
        return np.asarray(np.exp(rng.standard_normal(shape)))
    if kind == "row scales":
        return np.asarray(rng.standard_normal(shape) * np.exp(rng.normal(0, 1.5, (n, 1))))
    if kind == "column effects":
        return np.asarray(rng.standard_normal(shape) + rng.normal(0, 3, m))
    if kind == "cauchy":
        return rng.standard_cauchy(shape)
    if kind == "negative binomial":
        return rng.negative_binomial(1, 0.2, shape).astype(np.float64)
    if kind == "counts":
        return rng.poisson(3.0, shape).astype(np.float64)
    if kind == "cell depths":
        counts = rng.poisson(2.0 * rng.gamma(1.0, 1.0, (n, 1)) * rng.lognormal(0, 0.4, m))
        depths = counts.sum(axis=0)
        return np.asarray(np.log1p(counts / np.maximum(depths, 1) * np.median(depths)))
    if kind == "factor":
        return np.asarray(rng.standard_normal(shape) + rng.normal(0, 1, (n, 1)) * rng.normal(0, 1, m))
    raise ValueError(kind)


def plant(design: Design, seed: int) -> tuple[Values, Biclustering]:
    """Return the matrix of a design and its planted biclusters."""
    rng = np.random.default_rng(seed)
    n, m = design.shape
    X = background(design.background, design.shape, rng)
    row_order = list(rng.permutation(n))
    taken: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    effect = np.zeros(design.shape)
    covered = np.zeros(design.shape, dtype=bool)
    for r, c in design.blocks:
        rows, cols = [], []
        if taken and design.overlap != "none":
            rows = list(rng.choice(taken[-1][0], r // 3, replace=False))
        rows += [row_order.pop() for _ in range(r - len(rows))]
        if taken and design.overlap == "cells":
            cols = list(rng.choice(taken[-1][1], c // 3, replace=False))
        free = np.setdiff1d(np.arange(m), taken[-1][1] if taken and design.overlap != "none" else [])
        cols += list(rng.choice(free, c - len(cols), replace=False))
        members, columns = np.sort(rows), np.sort(cols)
        slope = rng.uniform(*design.scale, r) * np.where(rng.random(r) < design.negative, -1, 1)
        level = design.level * rng.choice([-1, 1])
        values = level + rng.normal(0, design.shift, (r, 1)) + slope[:, None] * rng.normal(0, design.pattern, c)
        effect[np.ix_(members, columns)] += values
        covered[np.ix_(members, columns)] = True
        taken.append((members, columns))
    inside = X if design.added else design.noise * rng.standard_normal(design.shape)
    X = np.where(covered, effect + inside, X)
    if design.skewed:
        X = np.exp(X)
    X = X * np.exp(rng.normal(0, design.row_scales, (n, 1))) + rng.normal(0, 1, m) * design.column_effects
    if design.missing:
        X[rng.random(design.shape) < design.missing] = np.nan
    return X, Biclustering(taken, design.shape)


DEVELOPMENT: dict[str, Design] = {
    "D1 shared rows": Design((300, 40), ((40, 12), (40, 10), (35, 12)), overlap="rows"),
    "D2 shared cells": Design((300, 40), ((40, 12), (40, 12), (35, 12)), pattern=1.2, overlap="cells"),
    "D3 t5": Design((300, 40), ((30, 12), (25, 12), (25, 14), (20, 14)), background="t5"),
    "D4 1000x60": Design((1000, 60), tuple((30 + 5 * k, 10 + k) for k in range(10))),
    "D5 200x200": Design((200, 200), ((30, 30), (25, 25), (25, 40), (20, 30), (20, 20)), noise=0.5, shift=0.5),
    "D6 row scales": Design((300, 40), ((40, 12), (30, 14), (25, 14)), row_scales=1.0),
    "D7 column effects": Design((300, 40), ((40, 12), (30, 14), (25, 14)), column_effects=3.0),
    "D8 negative": Design((300, 40), ((40, 12), (30, 14), (25, 12), (25, 14)), scale=(0.5, 2), negative=0.4, shift=0.5),
    "D9 pure shape": Design((300, 40), ((40, 12), (30, 14), (25, 14), (25, 16)), shift=0.0),
    "D10 low signal": Design((300, 40), ((50, 14), (40, 14), (40, 16)), noise=0.7, pattern=0.8, shift=0.5),
    "D11 AR": Design((300, 40), ((40, 12), (30, 14), (25, 14)), background="ar"),
    "D12 AR, added": Design(
        (300, 40), ((40, 12), (30, 14), (25, 14)), background="ar", added=True, pattern=1.5, shift=1.5
    ),
    "D13 missing": Design((300, 40), ((40, 12), (30, 14), (25, 14)), missing=0.1),
    "D14 lognormal": Design((300, 40), ((40, 12), (30, 14), (25, 14)), skewed=True),
    "D15 factor": Design((300, 40), ((40, 12), (30, 14), (25, 14)), background="factor"),
}

# Written before the search was frozen; never used in development, each evaluation has seeds of its own.
FROZEN: dict[str, Design] = {
    "F1 raised": Design((400, 50), ((40, 10), (30, 15), (25, 12)), noise=0.8, pattern=0.0, shift=0.0, level=1.8),
    "F2 scaled": Design((250, 60), ((30, 14), (30, 12), (20, 18)), noise=0.35, scale=(0.3, 2.5), shift=0.3, level=1.0),
    "F3 wide": Design((120, 150), ((20, 25), (18, 30), (15, 40)), noise=0.45),
    "F4 tall": Design((2000, 24), ((120, 8), (90, 9), (60, 10), (60, 7)), noise=0.4),
    "F5 shared rows": Design((350, 45), ((42, 12), (36, 14), (36, 10), (30, 12)), overlap="rows"),
    "F6 shared cells": Design((350, 45), ((45, 15), (42, 12), (36, 15)), pattern=1.3, overlap="cells"),
    "F7 t3 background": Design((300, 40), ((40, 14), (30, 12), (25, 14)), background="t3", noise=0.3),
    "F8 AR(1) .6": Design((300, 36), ((36, 12), (30, 14), (24, 12)), background="ar60", noise=0.35, shift=1.2),
    "F9 5 % missing, row scales": Design((280, 36), ((36, 12), (28, 14), (24, 12)), missing=0.05, row_scales=1.0),
    "F10 lognormal": Design((320, 36), ((36, 12), (30, 12), (24, 14)), skewed=True, noise=0.35, shift=1.2),
    "F11 both signs": Design(
        (300, 48), ((30, 16), (30, 14), (24, 16), (24, 12)), scale=(0.6, 1.8), negative=0.5, shift=0.6
    ),
    "F12 one common factor": Design((300, 40), ((36, 14), (30, 12)), background="factor", pattern=1.4, shift=1.2),
    "G1 sizes apart": Design((500, 50), ((70, 8), (40, 12), (25, 20), (14, 25)), noise=0.4),
    "G2 levels and patterns": Design(
        (320, 60), ((40, 12), (32, 16), (28, 14)), noise=0.6, pattern=0.8, shift=0.3, level=1.5
    ),
    "G3 AR(1) .5, 5 % missing": Design(
        (400, 30), ((48, 10), (40, 12), (32, 10)), background="ar50", noise=0.35, missing=0.05
    ),
    "G4 row scales, column effects": Design(
        (350, 44), ((40, 14), (32, 12), (26, 16)), row_scales=0.8, column_effects=2.0
    ),
    "G5 t5, both signs": Design(
        (300, 50), ((36, 14), (30, 16), (26, 14)), background="t5", scale=(0.6, 1.8), negative=0.4, noise=0.35
    ),
    "G6 eight blocks": Design((900, 64), tuple((36 + 4 * k, 16 - k) for k in range(8)), noise=0.45),
    "H1 a quarter raised": Design((360, 48), ((90, 14),), noise=1.0, pattern=0.0, shift=0.0, level=2.5),
    "H2 a third, patterns": Design((270, 45), ((90, 12), (40, 14)), noise=0.6, pattern=1.5, shift=0.5),
    "H3 three types": Design(
        (330, 50), ((110, 10), (110, 12), (110, 10)), noise=1.0, pattern=0.3, shift=0.2, level=2.2
    ),
    "H4 two types and a small block": Design(
        (320, 44), ((110, 10), (80, 12), (24, 10)), noise=0.8, pattern=0.5, shift=0.3, level=2.5
    ),
    "H5 0.4 of the rows, scaled": Design((250, 40), ((100, 14),), noise=0.5, scale=(0.5, 2.0), level=1.0),
    "H6 a quarter, t5, row scales": Design(
        (320, 44), ((80, 12), (64, 12)), background="t5", noise=0.5, pattern=1.2, row_scales=0.6
    ),
}

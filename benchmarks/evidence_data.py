"""Matrices with planted blocks, and solutions that should lose against the truth; used by evidence.py."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from benchmarks.noise_search import search_block
from bivaluate import Biclustering, evaluate
from bivaluate._errors import BivaluateWarning

Floats = NDArray[np.float64]
Pair = tuple[NDArray[np.int64], NDArray[np.int64]]

KEYS = ("avg_ve", "nve", "nve_cov", "coverage", "avg_ave", "anve", "cc")
LOW_IS_BETTER = {"avg_ve": True, "nve": True, "nve_cov": True, "avg_ave": True, "anve": True, "cc": False}


def block(kind: str, r: int, c: int, sigma: float, rng: np.random.Generator, pattern: Floats | None = None) -> Floats:
    """Values of a planted block; the pattern has standard deviation 1, sigma is that of the noise."""
    if pattern is None:
        pattern = rng.normal(size=c)
        pattern = (pattern - pattern.mean()) / pattern.std()
    shift = rng.normal(size=(r, 1)) if kind in ("shift", "both") else 0.0
    scale = rng.uniform(0.5, 1.5, size=(r, 1)) if kind in ("scale", "both") else 1.0
    return np.asarray(shift + scale * pattern + sigma * rng.normal(size=(r, c)))


def planted(
    kind: str,
    shapes: list[tuple[int, int]],
    sigma: float,
    matrix: tuple[int, int],
    rng: np.random.Generator,
    clones: bool = False,
) -> tuple[Floats, Biclustering]:
    """White noise with blocks on disjoint rows; clones share one pattern and one set of columns."""
    X = rng.normal(size=matrix)
    rows = rng.permutation(matrix[0])
    pairs: list[Pair] = []
    cols, pattern = rng.choice(matrix[1], shapes[0][1], replace=False), None
    for r, c in shapes:
        if clones:
            pattern = rng.normal(size=c) if pattern is None else pattern
        else:
            cols = rng.choice(matrix[1], c, replace=False)
        X[np.ix_(rows[:r], cols)] = block(kind, r, c, sigma, rng, pattern)
        pairs.append((rows[:r], cols))
        rows = rows[r:]
    return X, Biclustering(pairs, matrix)


def searched(X: Floats, shapes: list[tuple[int, int]], rng: np.random.Generator) -> list[Pair]:
    """Blocks found one after another, each in the rows that are left."""
    left = np.arange(len(X))
    pairs: list[Pair] = []
    for r, c in shapes:
        found, _ = search_block(X[left], r, c, rng=rng)
        pairs.append((left[found.rows], found.cols))
        left = np.delete(left, found.rows)
    return pairs


def random_blocks(shapes: list[tuple[int, int]], matrix: tuple[int, int], rng: np.random.Generator) -> list[Pair]:
    """Blocks nobody searched for."""
    return [(rng.choice(matrix[0], r, replace=False), rng.choice(matrix[1], c, replace=False)) for r, c in shapes]


def scores(X: Floats, pairs: list[Pair] | Biclustering) -> dict[str, float]:
    """The solution-level measures compared here."""
    solution = pairs if isinstance(pairs, Biclustering) else Biclustering(pairs, X.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BivaluateWarning)
        return evaluate(X, solution, metrics=KEYS, single="matrix").scores


def best(options: dict[str, dict[str, float]], key: str) -> str:
    """Name of the option a measure prefers; an undefined score never wins."""
    sign = 1 if LOW_IS_BETTER[key] else -1
    return min(
        options, key=lambda name: sign * options[name][key] if options[name][key] == options[name][key] else np.inf
    )

"""Matrices with a known truth, on which criteria for choosing a solution are judged; used by truth.py."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.noise_search import search_block
from bivaluate.datasets import make_scenario
from bivaluate.datasets.scenarios import SCENARIOS
from bivaluate.solution import Biclustering

Floats = NDArray[np.float64]
Pair = tuple[NDArray[np.int64], NDArray[np.int64]]
Make = Callable[[np.random.Generator], tuple[Floats, Biclustering]]


@dataclass(frozen=True)
class Design:
    """One way of making a matrix and its planted biclusters; `noise` designs plant none, nothing was tuned on `fresh` ones."""

    name: str
    make: Callable[[int], tuple[Floats, Biclustering]]
    noise: bool = False
    fresh: bool = False


def _slices(sizes: list[int], step: float, total: int, order: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Consecutive pieces of `order`; each starts `step` of its size after the one before it."""
    pieces, start = [], 0
    for size in sizes:
        assert start + size <= total
        pieces.append(np.sort(order[start : start + size]))
        start += round(step * size)
    return pieces


def _members(
    rng: np.random.Generator, shape: tuple[int, int], sizes: list[tuple[int, int]], step: float = 1.0
) -> list[Pair]:
    rows = _slices([r for r, _ in sizes], step, shape[0], rng.permutation(shape[0]))
    cols = _slices([c for _, c in sizes], step, shape[1], rng.permutation(shape[1]))
    return list(zip(rows, cols, strict=True))


def _raised(shape: tuple[int, int], sizes: list[tuple[int, int]], level: float, step: float = 1.0) -> Make:
    """Blocks raised by `level` standard deviations; with `step` below 1 neighbours share rows and columns."""

    def make(rng: np.random.Generator) -> tuple[Floats, Biclustering]:
        X = rng.normal(size=shape)
        pairs = _members(rng, shape, sizes, step)
        for rows, cols in pairs:
            X[np.ix_(rows, cols)] += level
        return X, Biclustering(pairs, shape)

    return make


def _heavy(shape: tuple[int, int], sizes: list[tuple[int, int]], level: float, freedom: float) -> Make:
    """Raised blocks in noise of Student's t with few degrees of freedom."""

    def make(rng: np.random.Generator) -> tuple[Floats, Biclustering]:
        X = rng.standard_t(freedom, size=shape)
        pairs = _members(rng, shape, sizes)
        for rows, cols in pairs:
            X[np.ix_(rows, cols)] += level
        return X, Biclustering(pairs, shape)

    return make


def _counts(shape: tuple[int, int], K: int, low: float, high: float) -> Make:
    """Poisson counts with K blocks on the diagonal, every row and column in one of them."""

    def make(rng: np.random.Generator) -> tuple[Floats, Biclustering]:
        rows, cols = (np.array_split(rng.permutation(size), K) for size in shape)
        rate = np.full(shape, low)
        pairs = [(np.sort(i), np.sort(j)) for i, j in zip(rows, cols, strict=True)]
        for i, j in pairs:
            rate[np.ix_(i, j)] = high
        return rng.poisson(rate).astype(np.float64), Biclustering(pairs, shape)

    return make


def _additive(shape: tuple[int, int], sizes: list[tuple[int, int]], background: float, noise: float) -> Make:
    """Additive blocks of little noise in a wide background: what Cheng and Church look for."""

    def make(rng: np.random.Generator) -> tuple[Floats, Biclustering]:
        X = rng.normal(0, background, size=shape)
        pairs = _members(rng, shape, sizes)
        for rows, cols in pairs:
            effects = np.add.outer(rng.normal(size=len(rows)), rng.normal(size=len(cols)))
            X[np.ix_(rows, cols)] = effects + rng.normal(0, noise, size=effects.shape)
        return X, Biclustering(pairs, shape)

    return make


def _ordered(shape: tuple[int, int], sizes: list[tuple[int, int]], wrong: float) -> Make:
    """Order-preserving blocks: each row keeps its values, sorted along one order of the columns, with errors."""

    def make(rng: np.random.Generator) -> tuple[Floats, Biclustering]:
        X = rng.normal(size=shape)
        pairs = _members(rng, shape, sizes)
        for rows, cols in pairs:
            order = rng.permutation(len(cols))
            values = np.sort(X[np.ix_(rows, cols)], axis=1)[:, order]
            X[np.ix_(rows, cols)] = np.exp(values) + rng.normal(0, wrong, size=values.shape)
        return X, Biclustering(pairs, shape)

    return make


def _nothing(draw: Callable[[np.random.Generator], Floats]) -> Make:
    def make(rng: np.random.Generator) -> tuple[Floats, Biclustering]:
        X = draw(rng)
        return X, Biclustering([], X.shape)

    return make


_OWN: dict[str, Make] = {
    "overlap": _raised((200, 40), [(50, 12), (50, 12), (50, 12)], 2.0, step=0.75),
    "overlap_weak": _raised((240, 50), [(48, 12), (44, 12), (40, 12), (36, 12)], 1.5, step=0.8),
    "diagonal": _raised((160, 40), [(40, 10)] * 4, 2.0),
    "few_small": _raised((300, 40), [(15, 8), (15, 8), (15, 8)], 3.0),
    "wide": _raised((120, 40), [(30, 26), (30, 10)], 2.0),
    "counts": _counts((200, 60), 4, 1.0, 4.0),
    "counts_5": _counts((150, 50), 5, 0.5, 2.5),
    "counts_large": _counts((300, 90), 3, 1.0, 2.0),
    "counts_sparse": _counts((200, 60), 4, 0.3, 1.0),
    "counts_small": _counts((120, 40), 3, 0.5, 1.5),
    "t3": _heavy((200, 40), [(40, 10)] * 3, 3.0, 3.0),
    "t2": _heavy((200, 40), [(40, 12)] * 3, 4.0, 2.0),
    "additive": _additive((120, 30), [(40, 12), (30, 10)], 3.0, 0.2),
    "additive_3": _additive((150, 36), [(40, 10), (40, 12), (30, 10)], 4.0, 0.1),
    "order": _ordered((150, 40), [(40, 14), (40, 14)], 0.1),
}
_NOISE: dict[str, Make] = {
    "noise": _nothing(lambda rng: rng.normal(size=(200, 40))),
    "noise_t3": _nothing(lambda rng: rng.standard_t(3, size=(200, 40))),
    "noise_counts": _nothing(lambda rng: rng.poisson(2.0, size=(200, 40)).astype(np.float64)),
    "noise_laplace": _nothing(lambda rng: rng.laplace(size=(200, 40))),
    "noise_skewed": _nothing(lambda rng: rng.exponential(size=(200, 40))),
    "noise_counts_6": _nothing(lambda rng: rng.poisson(6.0, size=(200, 40)).astype(np.float64)),
    "noise_scales": _nothing(
        lambda rng: rng.normal(size=(200, 40)) * np.outer(rng.uniform(0.3, 3, 200), rng.uniform(0.5, 2, 40))
    ),
    "noise_effects": _nothing(
        lambda rng: rng.normal(size=(200, 40)) + np.add.outer(rng.normal(size=200), rng.normal(size=40))
    ),
}


def _signs(shape: tuple[int, int], sizes: list[tuple[int, int]], levels: list[float]) -> Make:
    """Blocks raised or lowered, each by a level of its own, in rows of different noise."""

    def make(rng: np.random.Generator) -> tuple[Floats, Biclustering]:
        X = rng.normal(size=shape) * rng.uniform(0.6, 1.5, size=(shape[0], 1))
        pairs = _members(rng, shape, sizes)
        for (rows, cols), level in zip(pairs, levels, strict=True):
            X[np.ix_(rows, cols)] += level
        return X, Biclustering(pairs, shape)

    return make


def _checkerboard(shape: tuple[int, int], parts: tuple[int, int], level: float) -> Make:
    """Every row and column in one part; each block of the board has a level of its own."""

    def make(rng: np.random.Generator) -> tuple[Floats, Biclustering]:
        rows, cols = (np.array_split(rng.permutation(size), n) for size, n in zip(shape, parts, strict=True))
        X = rng.normal(size=shape)
        pairs = [(np.sort(i), np.sort(j)) for i in rows for j in cols]
        for i, j in pairs:
            X[np.ix_(i, j)] += rng.normal(0, level)
        return X, Biclustering(pairs, shape)

    return make


def _scaled(shape: tuple[int, int], sizes: list[tuple[int, int]], strength: float) -> Make:
    """Row-affine blocks: every row a positive multiple of one shape of the columns."""

    def make(rng: np.random.Generator) -> tuple[Floats, Biclustering]:
        X = rng.normal(size=shape)
        pairs = _members(rng, shape, sizes)
        for rows, cols in pairs:
            X[np.ix_(rows, cols)] += np.outer(strength * rng.uniform(0.5, 2, len(rows)), rng.normal(size=len(cols)))
        return X, Biclustering(pairs, shape)

    return make


def _nested(shape: tuple[int, int], outer: tuple[int, int], inner: tuple[int, int], level: float) -> Make:
    """A block raised by `level`, and inside it a smaller one raised by as much again and half more."""

    def make(rng: np.random.Generator) -> tuple[Floats, Biclustering]:
        X = rng.normal(size=shape)
        rows, cols = rng.permutation(shape[0])[: outer[0]], rng.permutation(shape[1])[: outer[1]]
        pairs = [(np.sort(rows), np.sort(cols)), (np.sort(rows[: inner[0]]), np.sort(cols[: inner[1]]))]
        for (i, j), more in zip(pairs, (level, 1.5 * level), strict=True):
            X[np.ix_(i, j)] += more
        return X, Biclustering(pairs, shape)

    return make


def _series(rng: np.random.Generator, shape: tuple[int, int], correlation: float) -> Floats:
    """Rows of noise in which neighbouring columns are correlated."""
    X = rng.normal(size=shape)
    for j in range(1, shape[1]):
        X[:, j] = correlation * X[:, j - 1] + np.sqrt(1 - correlation**2) * X[:, j]
    return X


def _in_series(shape: tuple[int, int], sizes: list[tuple[int, int]], level: float, correlation: float) -> Make:
    """Raised blocks on runs of neighbouring columns of a series."""

    def make(rng: np.random.Generator) -> tuple[Floats, Biclustering]:
        X = _series(rng, shape, correlation)
        rows = _slices([r for r, _ in sizes], 1.0, shape[0], rng.permutation(shape[0]))
        cols = _slices([c for _, c in sizes], 1.0, shape[1], np.arange(shape[1]))
        for i, j in zip(rows, cols, strict=True):
            X[np.ix_(i, j)] += level
        return X, Biclustering(list(zip(rows, cols, strict=True)), shape)

    return make


def _skewed(shape: tuple[int, int], sizes: list[tuple[int, int]], factor: float) -> Make:
    """Blocks multiplied by `factor` in log-normal noise."""

    def make(rng: np.random.Generator) -> tuple[Floats, Biclustering]:
        X = rng.lognormal(0, 1, size=shape)
        pairs = _members(rng, shape, sizes)
        for rows, cols in pairs:
            X[np.ix_(rows, cols)] *= factor
        return X, Biclustering(pairs, shape)

    return make


def _overdispersed(shape: tuple[int, int], K: int, low: float, high: float) -> Make:
    """Negative binomial counts, variance mean + mean²/2, with K blocks on the diagonal and some rows and columns in none."""

    def make(rng: np.random.Generator) -> tuple[Floats, Biclustering]:
        rows, cols = (np.array_split(rng.permutation(size), K + 1)[:K] for size in shape)
        mean = np.full(shape, low)
        pairs = [(np.sort(i), np.sort(j)) for i, j in zip(rows, cols, strict=True)]
        for i, j in pairs:
            mean[np.ix_(i, j)] = high
        return rng.negative_binomial(2, 2 / (2 + mean)).astype(np.float64), Biclustering(pairs, shape)

    return make


# Written before any criterion was run on them and not changed since; what was missed on them has since been looked into.
_SEEN: dict[str, Make] = {
    "fresh_signs": _signs((180, 45), [(40, 12), (35, 14), (25, 10)], [1.8, -1.8, 2.5]),
    "fresh_board": _checkerboard((140, 42), (3, 2), 1.5),
    "fresh_scaled": _scaled((160, 40), [(40, 14), (36, 12)], 1.5),
    "fresh_nested": _nested((200, 48), (70, 20), (25, 8), 1.6),
    "fresh_skewed": _skewed((180, 44), [(40, 12)] * 3, 6.0),
    "fresh_negbin": _overdispersed((180, 52), 3, 1.0, 5.0),
    "fresh_series": _in_series((180, 40), [(40, 12), (40, 12)], 3.0, 0.4),
    "fresh_many": _raised((260, 64), [(30, 10)] * 6, 2.2),
}
_SEEN_NOISE: dict[str, Make] = {
    "fresh_noise_series": _nothing(lambda rng: _series(rng, (180, 40), 0.7)),
    "fresh_noise_walk": _nothing(lambda rng: np.cumsum(rng.normal(size=(220, 24)), axis=1)),
    "fresh_noise_binary": _nothing(lambda rng: (rng.random((180, 40)) < 0.3).astype(np.float64)),
    "fresh_noise_negbin": _nothing(lambda rng: rng.negative_binomial(2, 0.4, size=(180, 40)).astype(np.float64)),
    "fresh_noise_rows": _nothing(lambda rng: rng.normal(size=(180, 40)) * rng.lognormal(0, 0.7, size=(180, 1))),
}


def _written(shape: tuple[int, int], sizes: list[tuple[int, int]], cells: Callable[..., Floats], wide: float) -> Make:
    """Blocks whose cells are written anew, `cells(rng, r, c)`, into a background of standard deviation `wide`."""

    def make(rng: np.random.Generator) -> tuple[Floats, Biclustering]:
        X = rng.normal(0, wide, size=shape)
        pairs = _members(rng, shape, sizes)
        for rows, cols in pairs:
            X[np.ix_(rows, cols)] = cells(rng, len(rows), len(cols))
        return X, Biclustering(pairs, shape)

    return make


def _profile(rng: np.random.Generator, r: int, c: int) -> Floats:
    """One profile of the columns in every row, at a level of its own."""
    return np.add.outer(rng.normal(size=r), 1.5 * rng.normal(size=c)) + rng.normal(0, 0.5, size=(r, c))


def _multiples(rng: np.random.Generator, r: int, c: int) -> Floats:
    """Positive multiples of one profile."""
    return np.outer(rng.uniform(0.5, 3.0, r), rng.normal(size=c)) + rng.normal(0, 0.4, size=(r, c))


def _climbing(rng: np.random.Generator, r: int, c: int) -> Floats:
    """Every row climbs in the same order of the columns, by steps of its own."""
    steps = rng.exponential(size=(r, c)).cumsum(axis=1)
    steps = (steps - steps.mean(axis=1, keepdims=True)) / steps.std(axis=1, keepdims=True)
    return np.asarray(steps[:, rng.permutation(c)] + rng.normal(0, 0.1, size=(r, c)))


def _quiet(rng: np.random.Generator, r: int, c: int) -> Floats:
    """Cells that differ less from each other than others do, around a level that is nothing special."""
    return rng.normal(0, 0.3, size=(r, c)) + rng.normal(0, 0.5)


def _levels(shape: tuple[int, int], parts: tuple[int, int], level: float) -> Make:
    """A checkerboard of two levels, every other block up."""

    def make(rng: np.random.Generator) -> tuple[Floats, Biclustering]:
        rows, cols = (np.array_split(rng.permutation(size), n) for size, n in zip(shape, parts, strict=True))
        X = rng.normal(size=shape)
        pairs = []
        for a, i in enumerate(rows):
            for b, j in enumerate(cols):
                X[np.ix_(i, j)] += level * (1 if (a + b) % 2 else -1)
                pairs.append((np.sort(i), np.sort(j)))
        return X, Biclustering(pairs, shape)

    return make


def _unequal_counts(shape: tuple[int, int], shares: list[float], low: float, high: float) -> Make:
    """Poisson counts with blocks of different size on the diagonal, every row and column in one of them."""

    def make(rng: np.random.Generator) -> tuple[Floats, Biclustering]:
        ends = np.cumsum(shares)[:-1]
        rows, cols = (np.split(rng.permutation(size), np.round(ends * size).astype(int)) for size in shape)
        rate = np.full(shape, low)
        pairs = [(np.sort(i), np.sort(j)) for i, j in zip(rows, cols, strict=True)]
        for i, j in pairs:
            rate[np.ix_(i, j)] = high
        return rng.poisson(rate).astype(np.float64), Biclustering(pairs, shape)

    return make


def _outliers(shape: tuple[int, int], sizes: list[tuple[int, int]], level: float) -> Make:
    """Raised blocks in noise with one cell in fifty ten times as large."""

    def make(rng: np.random.Generator) -> tuple[Floats, Biclustering]:
        X = rng.normal(size=shape)
        pairs = _members(rng, shape, sizes)
        for rows, cols in pairs:
            X[np.ix_(rows, cols)] += level
        return np.where(rng.random(shape) < 0.02, 10 * X, X), Biclustering(pairs, shape)

    return make


def _moving_means(rng: np.random.Generator, shape: tuple[int, int], width: int) -> Floats:
    """Rows of noise, each cell the mean of `width` neighbours of a finer series."""
    fine = rng.normal(size=(shape[0], shape[1] + width - 1)).cumsum(axis=1)
    return np.asarray(fine[:, width - 1 :] - np.pad(fine, ((0, 0), (1, 0)))[:, : shape[1]])


# Written once, before any criterion was run on them, after the last change to evidence, and never changed since.
_FRESH: dict[str, Make] = {
    "new_profiles": _written((190, 42), [(42, 12), (36, 12), (30, 11)], _profile, 1.3),
    "new_multiples": _written((170, 44), [(40, 13), (34, 12)], _multiples, 1.2),
    "new_climbing": _written((180, 38), [(46, 10), (40, 11)], _climbing, 1.0),
    "new_quiet": _written((140, 34), [(45, 12), (35, 14)], _quiet, 2.0),
    "new_levels": _levels((132, 48), (2, 3), 0.7),
    "new_unequal_counts": _unequal_counts((210, 66), [0.4, 0.3, 0.2, 0.1], 2.0, 5.0),
    "new_outliers": _outliers((200, 46), [(44, 12), (38, 10), (30, 12)], 2.5),
    "new_lowered": _signs((220, 50), [(50, 10), (40, 12), (30, 14), (26, 10)], [-2.2, 2.0, -2.4, 2.6]),
}
_FRESH_NOISE: dict[str, Make] = {
    "new_noise_moving": _nothing(lambda rng: _moving_means(rng, (190, 36), 3)),
    "new_noise_mixed": _nothing(
        lambda rng: (
            rng.normal(size=(170, 42)) * rng.choice([1.0, 4.0], size=(170, 1), p=[0.8, 0.2]) + rng.normal(size=42)
        )
    ),
    "new_noise_gamma": _nothing(lambda rng: rng.gamma(2.0, size=(190, 38)) * rng.uniform(0.5, 3, size=38)),
}


def _own(name: str, make: Make) -> Callable[[int], tuple[Floats, Biclustering]]:
    key = sum(ord(letter) * 31**place for place, letter in enumerate(name)) % 2**32
    return lambda seed: make(np.random.default_rng([key, seed]))


def _scenario(name: str) -> Callable[[int], tuple[Floats, Biclustering]]:
    return lambda seed: make_scenario(name, seed)[:2]


DESIGNS: dict[str, Design] = {
    design.name: design
    for design in (
        *(Design(name, _own(name, make)) for name, make in _OWN.items()),
        *(Design(name, _own(name, make), noise=True) for name, make in _NOISE.items()),
        *(Design(name, _own(name, make)) for name, make in _SEEN.items()),
        *(Design(name, _own(name, make), noise=True) for name, make in _SEEN_NOISE.items()),
        *(Design(name, _own(name, make), fresh=True) for name, make in _FRESH.items()),
        *(Design(name, _own(name, make), noise=True, fresh=True) for name, make in _FRESH_NOISE.items()),
        *(Design(name, _scenario(name)) for name in SCENARIOS),
    )
}


def path_of(X: Floats, truth: Biclustering, seed: int, n_junk: int = 4, wrong: float = 0.1) -> list[Pair]:
    """Planted blocks with some rows and columns exchanged for others, then blocks searched in the same matrix."""
    rng = np.random.default_rng([seed, 1])
    blocks: list[Pair] = []
    for bicluster in truth:
        sides = []
        for members, size in zip((bicluster.rows, bicluster.cols), X.shape, strict=True):
            n_wrong = min(round(wrong * len(members)), size - len(members))
            others = np.setdiff1d(np.arange(size), members)
            kept = rng.choice(members, len(members) - n_wrong, replace=False)
            sides.append(np.sort(np.concatenate([kept, rng.choice(others, n_wrong, replace=False)])))
        blocks.append((sides[0], sides[1]))
    for r, c in [(10, 3), (6, 5), (20, 4), (12, 6)][:n_junk]:
        found, _ = search_block(X, r, c, rng=rng)
        blocks.append((found.rows, found.cols))
    return blocks

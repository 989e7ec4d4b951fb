"""Is noise refused? Blocks of many algorithms, and blocks climbed by the evidence itself, in 23 kinds of noise.

    python -m benchmarks.evidence_noise [--seeds 0 8] [--kinds normal t3] [--hide 0.5]

Prints the share of matrices in which any bicluster is supported, and the largest evidence of each kind.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from bivaluate import Biclustering
from bivaluate._errors import BivaluateError
from bivaluate.algorithms.registry import make_estimator
from bivaluate.chance.evidence import evidence_alone, evidence_table
from bivaluate.matrix import Matrix
from bivaluate.solution import Bicluster

Floats = NDArray[np.float64]
ALGORITHMS = (
    "las",
    "ssvd",
    "plaid",
    "isa",
    "nmf",
    "spectral_co",
    "spectral",
    "bregman",
    "cca",
    "xmotifs",
    "fabia",
    "itcc",
)
SHAPE = (120, 40)


def _ar(rho: float) -> Callable[[np.random.Generator], Floats]:
    def make(rng: np.random.Generator) -> Floats:
        X = rng.normal(size=SHAPE)
        for j in range(1, SHAPE[1]):
            X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
        return X

    return make


def _counts(rng: np.random.Generator, depth: float, size: float = np.inf, sd: float = 0.0) -> Floats:
    mean = depth * np.exp(rng.normal(0, 0.7, (SHAPE[0], 1)) + rng.normal(0, 1, (1, SHAPE[1])))
    shape = size * np.exp(sd * rng.normal(size=(1, SHAPE[1])))
    return rng.poisson(mean if size == np.inf else mean * rng.gamma(shape, 1 / shape, SHAPE)).astype(float)


def _bursty(rng: np.random.Generator) -> Floats:
    topics = rng.poisson(_counts(rng, 0.5)).astype(float)
    return topics * rng.geometric(0.4, SHAPE)


def _coins(rng: np.random.Generator, sd: float) -> Floats:
    odds = rng.normal(-1, sd, (SHAPE[0], 1)) + rng.normal(0, sd, (1, SHAPE[1]))
    return (rng.random(SHAPE) < 1 / (1 + np.exp(-odds))).astype(float)


KINDS: dict[str, Callable[[np.random.Generator], Floats]] = {
    "normal": lambda g: g.normal(size=SHAPE),
    "t3": lambda g: g.standard_t(3, SHAPE),
    "t2": lambda g: g.standard_t(2, SHAPE),
    "log-normal": lambda g: np.exp(g.normal(size=SHAPE)),
    "AR .6": _ar(0.6),
    "AR .9": _ar(0.9),
    "walks": lambda g: g.normal(size=SHAPE).cumsum(axis=1),
    "unequal rows": lambda g: g.normal(size=SHAPE) * np.exp(g.normal(size=(SHAPE[0], 1))),
    "unequal columns": lambda g: g.normal(size=SHAPE) * np.exp(g.normal(size=(1, SHAPE[1]))),
    "unequal both": lambda g: (
        g.normal(size=SHAPE) * np.exp(g.normal(0, 0.7, (SHAPE[0], 1)) + g.normal(0, 0.7, (1, SHAPE[1])))
    ),
    "effects": lambda g: g.normal(size=SHAPE) + 3 * g.normal(size=(SHAPE[0], 1)) + 3 * g.normal(size=(1, SHAPE[1])),
    "800 x 8": lambda g: g.normal(size=(800, 8)),
    "uniform": lambda g: g.random(SHAPE),
    "Poisson": lambda g: g.poisson(1.0, SHAPE).astype(float),
    "unequal depth": lambda g: _counts(g, 1.0),
    "sparse depth": lambda g: _counts(g, 0.15),
    "negative binomial": lambda g: _counts(g, 2.0, 0.5),
    "per word": lambda g: _counts(g, 1.0, 0.7, 1.0),
    "bursty": _bursty,
    "coins": lambda g: _coins(g, 0.0),
    "unequal coins": lambda g: _coins(g, 1.5),
    "log counts": lambda g: np.log1p(_counts(g, 1.0)),
    "stars": lambda g: np.clip(
        np.rint(3.5 + g.normal(size=SHAPE) + 0.5 * g.normal(size=(SHAPE[0], 1)) + 0.5 * g.normal(size=(1, SHAPE[1]))),
        1,
        5,
    ),
}


def solutions(X: Floats, seed: int, names: tuple[str, ...]) -> Iterator[tuple[str, Biclustering]]:
    """Return what algorithms find in a matrix; those that refuse it find nothing."""
    for name in names:
        try:
            yield name, make_estimator(name, 5, random_state=seed).fit(X).solution_
        except BivaluateError:  # an algorithm that takes no such data
            continue


def climb(matrix: Matrix, block: Bicluster, rng: np.random.Generator, steps: int = 150) -> float:
    """Return the evidence alone of a block after moves of single rows and columns, kept while they raise it."""
    shape, whole = matrix.shape, Biclustering([block], matrix.shape)
    best, rows, cols = evidence_alone(matrix, whole, [block])[0], set(block.rows.tolist()), set(block.cols.tolist())
    for _ in range(steps):
        side = int(rng.random() < shape[1] / sum(shape))
        moved = [set(rows), set(cols)]
        moved[side] ^= {int(rng.integers(shape[side]))}
        if min(map(len, moved)) < 2:
            continue
        gain = evidence_alone(matrix, whole, [Bicluster(*(np.array(sorted(s)) for s in moved))])[0]
        if gain > best:
            best, (rows, cols) = gain, moved
    return float(best)


def main() -> None:
    """Print one line for every kind, and the share of all matrices."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 8))
    parser.add_argument("--kinds", nargs="*", default=list(KINDS))
    parser.add_argument("--algorithms", nargs="*", default=list(ALGORITHMS))
    parser.add_argument("--hide", type=float, default=0.0, help="share of the cells that are missing when judged")
    parser.add_argument("--climb", type=int, default=150, help="moves from the best block of each matrix")
    options = parser.parse_args()
    wrong = total = 0
    for kind in options.kinds:
        supported, largest, climbed = 0, -np.inf, -np.inf
        for seed in range(*options.seeds):
            rng = np.random.default_rng([seed, list(KINDS).index(kind)])
            X = KINDS[kind](rng)
            found = list(solutions(X, seed, tuple(options.algorithms)))
            if options.hide:
                X[rng.random(X.shape) < options.hide] = np.nan
            matrix = Matrix.of(X, "omit").settled()
            hits, top = [], (-np.inf, None)
            for name, solution in found:
                if not len(solution):
                    continue
                table = evidence_table(matrix, solution, missing="omit")
                hits += [name] * bool(table.supported.any())
                k = int(np.nanargmax(table.alone))
                top = max(top, (table.alone[k], solution[k]), key=lambda pair: pair[0])
            largest = max(largest, top[0])
            peak = climb(matrix, top[1], rng, options.climb) if top[1] is not None and options.climb else -np.inf
            climbed = max(climbed, peak)
            supported += bool(hits) or peak > 0
        wrong, total = wrong + supported, total + len(range(*options.seeds))
        n = len(range(*options.seeds))
        print(f"{kind:18} {supported} of {n}   largest {largest:8.1f}   climbed {climbed:8.1f}", flush=True)
    print(f"supported in {wrong} of {total} matrices ({100 * wrong / total:.1f} %)")


if __name__ == "__main__":
    main()

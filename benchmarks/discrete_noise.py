"""How often biclusters that algorithms find in noise of few values pay, and planted ones do: python -m benchmarks.discrete_noise.

Prints, for every kind of noise, how many biclusters eight algorithms found in it and how many of these pay; then how many
planted blocks of ones pay. No seed or design took part in building the evidence of counts, zeros and ones.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from bivaluate._errors import BivaluateError
from bivaluate.algorithms import make_estimator
from bivaluate.chance.evidence import evidence_table
from bivaluate.solution import Biclustering

Floats = NDArray[np.float64]
Make = Callable[[np.random.Generator], Floats]
FIRST_SEED, PLANTED_SEED = 77000, 78000
ALGORITHMS = ("bimax", "bibit", "isa", "ssvd", "qubic", "las", "xmotifs", "spectral_co")
# Share of ones outside, inside, rows and columns of the block.
PLANTED = ((0.05, 0.5, 18, 14), (0.15, 0.8, 15, 12), (0.08, 0.35, 40, 25), (0.2, 0.9, 12, 12))


def coins(n: int, m: int, share: float) -> Make:
    """Return what makes a matrix of ones at random."""
    return lambda rng: (rng.random((n, m)) < share).astype(np.float64)


def counts(n: int, m: int, mean: float, kept: float = 1.0) -> Make:
    """Return what makes Poisson counts, of which a share is kept and the rest is 0."""
    return lambda rng: rng.poisson(mean, (n, m)) * (rng.random((n, m)) < kept).astype(np.float64)


def popular(rng: np.random.Generator) -> Floats:
    """Return ones where rows and columns differ in how many they have, and nothing else."""
    chance = np.outer(2 * rng.beta(2, 6, 220), rng.uniform(0.1, 1.5, 130))
    return (rng.random(chance.shape) < np.minimum(0.95, chance)).astype(np.float64)


NOISES: dict[str, Make] = {
    "3 % ones, 250 x 150": coins(250, 150, 0.03),
    "7 % ones, 120 x 300": coins(120, 300, 0.07),
    "15 % ones, 400 x 80": coins(400, 80, 0.15),
    "40 % ones, 150 x 90": coins(150, 90, 0.4),
    "Poisson 0.05": counts(250, 150, 0.05),
    "Poisson 0.3": counts(180, 120, 0.3),
    "popular rows and columns": popular,
    "Poisson 1.5, four of five set to 0": counts(200, 100, 1.5, 0.2),
}


def main() -> None:
    """Print the tables."""
    warnings.simplefilter("ignore")
    print("| noise | biclusters found | of them pay |\n|---|---|---|")
    for name, make in NOISES.items():
        found = supported = 0
        for seed in range(4):
            X = make(np.random.default_rng(FIRST_SEED + seed))
            X = X[X.any(axis=1)]
            X = X[:, X.any(axis=0)]
            for key in ALGORITHMS:
                try:
                    solution = make_estimator(key, 5, random_state=1).fit(X).solution_
                except BivaluateError:
                    continue
                found += len(solution)
                supported += evidence_table(X, solution).n_supported
        print(f"| {name} | {found} | {supported} |", flush=True)
    print("\n| planted block of ones | supported |\n|---|---|")
    for outside, inside, rows, cols in PLANTED:
        paid = 0
        for seed in range(5):
            rng = np.random.default_rng(PLANTED_SEED + seed)
            X = (rng.random((260, 110)) < outside).astype(np.float64)
            X[:rows, :cols] = rng.random((rows, cols)) < inside
            paid += evidence_table(X, Biclustering([(range(rows), range(cols))], X.shape)).n_supported
        print(f"| {rows} x {cols}, {inside:.0%} ones in {outside:.0%} | {paid} of 5 |")


if __name__ == "__main__":
    main()

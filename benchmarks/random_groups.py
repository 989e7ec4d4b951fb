"""Groups of random rows in real data, and planted modules: python -m benchmarks.random_groups (about two minutes).

The numbers under "A profile of the whole matrix" and "Other values" in docs/choosing.md.
"""

from __future__ import annotations

import warnings
from collections import Counter

import numpy as np

from bivaluate import Biclustering, evidence_table
from bivaluate.datasets import load_labelled
from bivaluate.matrix import Matrix

CANCER = (
    "alizadeh-2000-v2 armstrong-2002-v1 bhattacharjee-2001 bittner-2000 chowdary-2006 golub-1999-v1 gordon-2002 khan-2001 "
    "nutt-2003-v1 pomeroy-2002-v2 singh-2002 su-2001"
)
OTHERS = "pbmc68k pbmc68k_raw prelic_yeast yeast:01_alpha_factor yeast:12_heat_shock_1 mulan_yeast brown"
REPEATS, GROUPS, SIZES = 2, 8, 14


def random_groups(name: str) -> Counter[str]:
    """Return how many random groups were asked about and are supported: over all columns, a third, and a class."""
    data, rng, counts = load_labelled(name), np.random.default_rng(5), Counter[str]()
    (n, m), classes = data.matrix.shape, [np.flatnonzero(mask) for mask in data.col_classes.values()]
    shuffled = [] if data.matrix.sparse else [Matrix(data.matrix.values[:, rng.permutation(m)])]
    for X in [data.matrix, *shuffled]:
        for _ in range(REPEATS):
            rows = [np.sort(group) for group in np.array_split(rng.permutation(n), GROUPS)]
            third = [np.sort(rng.choice(m, max(m // 3, 2), replace=False)) for _ in rows]
            sides = {"all": [np.arange(m)] * GROUPS, "a third": third}
            if classes and X is data.matrix:
                sides["a class"] = [classes[k % len(classes)] for k in range(GROUPS)]
            for what, cols in sides.items():
                pairs = list(zip(rows, cols, strict=True))
                found = evidence_table(X, Biclustering(pairs, (n, m)), missing="omit")
                counts += Counter({what: found.n_supported, f"{what}, asked": GROUPS})
    return counts


def modules(n: int, m: int, correlation: float, factor: float = 0.0, signs: bool = False) -> int:
    """Return how many planted modules of genes are supported, each in a matrix of its own."""
    rng = np.random.default_rng([0, n, m, int(10 * correlation), int(10 * factor), signs])
    supported = 0
    for size in np.geomspace(20, min(300, n // 6), SIZES).astype(int):
        X, rows = rng.normal(size=(n, m)), np.sort(rng.choice(n, size, replace=False))
        sign = np.where(rng.random((size, 1)) < 1 / 3, -1, 1) if signs else 1
        X[rows] = np.sqrt(correlation) * rng.normal(size=m) * sign + np.sqrt(1 - correlation) * X[rows]
        if factor:
            X += factor * np.outer(rng.normal(size=n), rng.normal(size=m))
        supported += evidence_table(X, Biclustering([(rows, range(m))], X.shape)).n_supported
    return supported


def main() -> None:
    """Print both."""
    total: Counter[str] = Counter()
    with warnings.catch_warnings(action="ignore"):
        for name in f"{' '.join(f'cancer:{one}' for one in CANCER.split())} {OTHERS}".split():
            counts = random_groups(name)
            total += counts
            print(
                name, {what: f"{counts[what]} of {counts[f'{what}, asked']}" for what in ("all", "a third", "a class")}
            )
        print(
            "together", {what: f"{total[what]} of {total[f'{what}, asked']}" for what in ("all", "a third", "a class")}
        )
        for shape in ((1000, 20), (3000, 20), (2000, 40), (3000, 60), (3000, 60, 1.0), (3000, 60, 0.0, True)):
            n, m, *rest = shape
            print(shape, [modules(n, m, correlation, *rest) for correlation in (0.3, 0.5, 0.7)])


if __name__ == "__main__":
    main()

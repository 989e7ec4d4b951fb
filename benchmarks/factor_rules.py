"""Which rule makes the best biclusters of factors? Planted blocks, topics of common words, and cells of blood.

python -m benchmarks.factor_rules [--page docs/formats.md]        (about two minutes; needs the data set pbmc68k_raw)
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning

from benchmarks.between_marks import print_and_fill
from bivaluate import Biclustering, evaluate
from bivaluate._errors import EmptyBiclusterWarning
from bivaluate._factors import strong_members
from bivaluate.datasets import load_labelled

Floats = NDArray[np.float64]
Rule = Callable[[Floats, Floats], Biclustering]
Blocks = list[tuple[NDArray[np.int64], NDArray[np.int64]]]
EXTRA = (0, 1, 3)  # factors beyond as many as were planted
PBMC_K = (6, 10, 15)


def _loadings_alone(W: Floats, H: Floats) -> Biclustering:
    rows, cols = (np.array([strong_members(side, "mixture") for side in table]) for table in (W.T, H))
    return Biclustering.from_masks(rows, cols)


def _by(rule: str) -> Rule:
    return lambda W, H: Biclustering.from_factors(W, H, rule=rule)


RULES: dict[str, Rule] = {
    "`mixture`": _by("mixture"),
    "the same cut of the loadings alone": _loadings_alone,
    **{f"`{rule}`": _by(rule) for rule in ("sd:1", "sd:1.5", "sd:2", "top:0.1", "top:0.2")},
}


def planted() -> Iterator[tuple[Floats, Blocks]]:
    """Yield non-negative matrices of 200 x 120 with blocks of 3 to 40 % of the rows."""
    n, m, width = 200, 120, 20
    for share, overlap, counts, seed in product((0.03, 0.1, 0.4), (False, True), (False, True), range(3)):
        rng = np.random.default_rng([seed, round(100 * share), overlap, counts])
        K, height = (4, max(5, round(n * share))) if share < 0.3 else (2, round(n * share))
        rows, cols = rng.permutation(n), rng.permutation(m)
        blocks = [(rows[k * height : (k + 1) * height], cols[k * width : (k + 1) * width]) for k in range(K)]
        if overlap:
            blocks = [(rng.choice(n, height, replace=False), rng.choice(m, width, replace=False)) for _ in range(K)]
        mean = np.outer(rng.lognormal(0, 0.4, n), rng.gamma(1, 1, m) + 0.1) if counts else np.ones((n, m))
        for r, c in blocks:
            mean[np.ix_(r, c)] += 3 * np.outer(rng.uniform(0.6, 1.4, len(r)), rng.uniform(0.6, 1.4, len(c)))
        yield (rng.poisson(mean).astype(float) if counts else np.abs(mean + 0.7 * rng.normal(size=(n, m)))), blocks


def topics() -> Iterator[tuple[Floats, Blocks]]:
    """Yield documents x words of unit length, TF-IDF: four topics of 40 words, among words that all of them use."""
    from sklearn.feature_extraction.text import TfidfTransformer

    n, m, K, words = 400, 600, 4, 40
    for strength, seed in product((0.2, 0.4), range(6)):
        rng = np.random.default_rng([seed, round(10 * strength)])
        common = rng.permutation(1 / (np.arange(m) + 5))
        shares = np.tile((1 - strength) * common / common.sum(), (n, 1))
        blocks = [(np.arange(n // K * k, n // K * (k + 1)), np.arange(words * k, words * (k + 1))) for k in range(K)]
        for r, c in blocks:
            shares[np.ix_(r, c)] += strength * rng.dirichlet(np.full(words, 2.0))
        counts = np.array([rng.multinomial(100, row / row.sum()) for row in shares])
        yield TfidfTransformer().fit_transform(counts).toarray(), blocks


def factors(X: Floats, K: int) -> tuple[Floats, Floats]:
    """Return W and H of a non-negative factorisation."""
    model = NMF(K, init="nndsvda", max_iter=400, random_state=0)
    return model.fit_transform(X), model.components_


def jaccard(solution: Biclustering, blocks: Blocks) -> float:
    """Return how much of the cells each planted block shares with the bicluster that is most like it, on average."""
    best = []
    for rows, cols in blocks:
        shared = [
            (np.isin(b.rows, rows).sum() * np.isin(b.cols, cols).sum(), len(b.rows) * len(b.cols)) for b in solution
        ]
        best.append(max((i / (size + len(rows) * len(cols) - i) for i, size in shared), default=0.0))
    return float(np.mean(best))


def recovered(designs: Iterator[tuple[Floats, Blocks]]) -> tuple[int, dict[str, float]]:
    """Return the number of fits and the mean Jaccard index of each rule."""
    found: dict[str, list[float]] = {name: [] for name in RULES}
    for (X, blocks), extra in product(designs, EXTRA):
        W, H = factors(X, len(blocks) + extra)
        for name, rule in RULES.items():
            found[name].append(jaccard(rule(W, H), blocks))
    return len(found["`mixture`"]), {name: float(np.mean(values)) for name, values in found.items()}


def saved() -> dict[str, float]:
    """Return the nats that the biclusters of each rule save on cells of blood, summed over the numbers of factors."""
    X = load_labelled("pbmc68k_raw").matrix
    totals = dict.fromkeys(RULES, 0.0)
    for K in PBMC_K:
        W, H = factors(X.values, K)
        for name, rule in RULES.items():
            totals[name] += evaluate(X, rule(W, H), metrics=["total_evidence"]).scores["total_evidence"]
    return totals


def main() -> None:
    """Print the table; with --page, put it there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", type=Path)
    page = parser.parse_args().page
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", EmptyBiclusterWarning)
        (n_blocks, blocks), (n_topics, in_topics), nats = recovered(planted()), recovered(topics()), saved()
    lines = [
        f"| rule | planted blocks, {n_blocks} fits | topics, {n_topics} fits | 700 blood cells, nats |",
        "|---|---|---|---|",
        *(
            f"| {name} | {blocks[name]:.2f} | {in_topics[name]:.2f} | {nats[name]:,.0f} |".replace("-", "−")
            for name in RULES
        ),
    ]
    print_and_fill(lines, page, "factor rules")


if __name__ == "__main__":
    main()

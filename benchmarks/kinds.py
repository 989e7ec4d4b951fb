"""Which measure sees which kind of pattern: the table in docs/catalogue.md. Run from the root of the project:

python -m benchmarks.kinds [--repeats 20] [--page docs/catalogue.md]

One block of a kind is planted in noise; every measure of a bicluster is asked for that block and for a block of the same
shape in which nothing is. The number is the share of pairs in which the planted block is the better one (ties count half):
0.5 is guessing, 1 sees the pattern always, 0 prefers noise.
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.between_marks import print_and_fill
from bivaluate import Biclustering, evaluate
from bivaluate.registry import METRICS

Floats = NDArray[np.float64]

SHAPE, ROWS, COLS = (90, 30), 20, 10
SEEN, BLIND, MISLED = 0.9, 0.7, 0.3


def planted(kind: str, rng: np.random.Generator) -> Floats:
    """Return noise with a block of this kind in its first rows and columns."""
    X = rng.normal(size=SHAPE)
    levels, pattern = rng.normal(size=(ROWS, 1)), rng.normal(size=COLS)
    block = X[:ROWS, :COLS]
    if kind == "raised":
        block += 2.5
    elif kind == "shift":
        block[:] = 2 * pattern + 2 * levels + 0.5 * block
    elif kind == "scale":
        block[:] = rng.uniform(0.5, 3, size=(ROWS, 1)) * 2 * pattern + 0.5 * block
    elif kind == "shift and scale":
        block[:] = rng.uniform(0.5, 3, size=(ROWS, 1)) * 2 * pattern + 2 * levels + 0.5 * block
    elif kind == "signs":
        block[:] = rng.choice([-1.0, 1.0], size=(ROWS, 1)) * 2 * pattern + 0.5 * block
    elif kind == "order":
        ranked = np.sort(block, axis=1)[:, rng.permutation(COLS)]
        block[:] = np.sign(ranked) * np.abs(ranked) ** rng.uniform(0.3, 3, size=(ROWS, 1))
    elif kind == "constant rows":
        block[:] = 2 * levels + 0.3 * block
    return X


KINDS = ("raised", "constant rows", "shift", "scale", "shift and scale", "signs", "order")


def shares(repeats: int) -> dict[str, dict[str, float]]:
    """Return, by measure and kind, how often the planted block is better than one of noise."""
    keys = [
        metric.key for metric in METRICS.values() if metric.level == "bicluster" and metric.direction in ("low", "high")
    ]
    wins: dict[tuple[str, str], list[float]] = defaultdict(list)
    for kind in KINDS:
        for seed in range(repeats):
            rng = np.random.default_rng([seed, KINDS.index(kind)])
            X = planted(kind, rng)
            others = ROWS + rng.choice(SHAPE[0] - ROWS, ROWS, replace=False), rng.choice(SHAPE[1], COLS, replace=False)
            result = evaluate(X, Biclustering([(range(ROWS), range(COLS)), others], SHAPE), metrics=keys)
            for key in keys:
                first, second = (record[key] for record in result.records)
                sign = 1 if METRICS[key].direction == "high" else -1
                if not (np.isnan(first) or np.isnan(second)):
                    wins[key, kind].append((1 + np.sign(sign * (first - second))) / 2)
    return {key: {kind: float(np.mean(wins[key, kind] or [np.nan])) for kind in KINDS} for key in keys}


def table(found: dict[str, dict[str, float]]) -> list[str]:
    """Return the table, what it sees in bold."""
    lines = ["| measure | " + " | ".join(KINDS) + " |", "|---|" + "---|" * len(KINDS)]
    for key, by_kind in found.items():
        cells = ["–" if np.isnan(v) else f"**{v:.2f}**" if v >= SEEN else f"{v:.2f}" for v in by_kind.values()]
        lines.append(f"| `{key}` | " + " | ".join(cells) + " |")
    return lines


def main() -> None:
    """Print the table, and put it into the page between its marks where one is named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = table(shares(options.repeats))
    print_and_fill(lines, options.page, "kinds")


if __name__ == "__main__":
    main()

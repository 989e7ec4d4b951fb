"""Are p-values right beside a choice? The table in docs/sweeps.md. Run from the root of the project:

python -m benchmarks.chosen [--matrices 150] [--page docs/sweeps.md]

Matrices of noise; two algorithms and three K each; a measure chooses among them. The p-value of a candidate alone is that of
its own surrogates; the p-value of the choice lets every surrogate choose too. With 9 surrogates P(p ≤ 0.2) should be 0.2.
"""

from __future__ import annotations

import argparse
import math
import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.between_marks import print_and_fill
from bivaluate import evaluate
from bivaluate.algorithms.registry import make_estimator
from bivaluate.chance.surrogates import chosen_p_value, surrogate
from bivaluate.registry import get_metric

Floats = NDArray[np.float64]

SHAPE, SURROGATES, K_VALUES, LEVEL = (40, 16), 9, (2, 3, 4), 0.2
ALGORITHMS = {"cca": {}, "las": {"n_restarts": 20, "n_jobs": 1}}
MEASURES = ("total_evidence", "nve_cov", "nve", "avg_ve", "asr")


def scores(X: Floats, seed: int) -> dict[str, list[float]]:
    """Return every measure of every (algorithm, K); both algorithms are nested, so one fit serves all K."""
    found: dict[str, list[float]] = {key: [] for key in MEASURES}
    for algorithm, parameters in ALGORITHMS.items():
        largest = make_estimator(algorithm, K_VALUES[-1], random_state=seed, **parameters).fit(X).solution_
        for k in K_VALUES:
            solution = largest.select(range(min(k, len(largest))))
            values = evaluate(X, solution, metrics=list(MEASURES)).scores if len(solution) else {}
            for key in MEASURES:
                found[key].append(float(values.get(key, math.nan)))
    return found


def shares(matrices: int) -> dict[str, tuple[float, float, int]]:
    """Return, by measure, how often p is at most 0.2: of the chosen candidate alone, and of the choice."""
    alone: dict[str, list[bool]] = {key: [] for key in MEASURES}
    chosen: dict[str, list[bool]] = {key: [] for key in MEASURES}
    for seed in range(matrices):
        rng = np.random.default_rng([seed, 77])
        X = rng.normal(size=SHAPE)
        copies = [scores(surrogate(X, "permute", rng), seed) for _ in range(SURROGATES)]
        own = scores(X, seed)
        for key in MEASURES:
            if np.isnan(own[key]).all():
                continue
            direction = get_metric(key).direction
            null = np.array([copy[key] for copy in copies])
            choice = chosen_p_value(own[key], null, direction)
            at = choice.position
            single = chosen_p_value([own[key][at]], null[:, [at]], direction)
            chosen[key].append(choice.p_value <= LEVEL + 1e-9)
            alone[key].append(single.p_value <= LEVEL + 1e-9)
    return {key: (float(np.mean(alone[key])), float(np.mean(chosen[key])), len(chosen[key])) for key in MEASURES}


def table(found: dict[str, tuple[float, float, int]]) -> list[str]:
    """Return the table."""
    lines = [
        "| measure | P(p ≤ 0.2), chosen candidate alone | P(p ≤ 0.2), of the choice | matrices |",
        "|---|---|---|---|",
    ]
    lines += [f"| `{key}` | {alone:.2f} | {chosen:.2f} | {n} |" for key, (alone, chosen, n) in found.items()]
    return lines


def main() -> None:
    """Print the table, and put it into the page between its marks where one is named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--matrices", type=int, default=150)
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = table(shares(options.matrices))
    print_and_fill(lines, options.page, "chosen")


if __name__ == "__main__":
    main()

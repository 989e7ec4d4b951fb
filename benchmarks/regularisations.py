"""Compare coverage and overlap regularisations on the ten scenarios and write docs/coverage-regularisation.md.

python -m benchmarks.regularisations        (about a minute)
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.noise_search import search_block
from bivaluate import Biclustering, evaluate
from bivaluate._errors import BivaluateWarning
from bivaluate.datasets import SCENARIOS, make_scenario

SEEDS = range(5)
TARGET = Path(__file__).parents[1] / "docs/coverage-regularisation.md"
MEASURES = {
    "NVE (0) ↓": lambda s: s["nve"],
    "NVE/CR^¼ ↓": lambda s: s["nve"] / (s["coverage"] + 1e-12) ** 0.25,
    "NVE/CR^½ = NVE_cov ↓": lambda s: s["nve_cov"],
    "NVE/CR ↓": lambda s: s["nve"] / (s["coverage"] + 1e-12),
    "NVE_ovl ↓": lambda s: s["nve_overlap"],
    "CC ↑": lambda s: -s["cc"],
}
KEYS = ("nve", "coverage", "nve_cov", "nve_overlap", "cc")

PAGE = """# Coverage and overlap: which adjustment rewards what?

NVE alone ignores how much of the matrix a solution explains. The paper divides it by CR^½ and asks for other
regularisations. bivaluate offers:

*Written by `python -m benchmarks.regularisations`; numbers are those of its last run.*

- **another exponent**: `evaluate(..., exponent=e)`, NVE/(CR + ε)^e; 0 is NVE, the paper's ½ the default;
- **a charge for overlap**: `nve_overlap` = NVE/(CR·(1 − redundancy) + ε)^½, so that a value covered twice counts half;
- **coherent coverage** `cc`: no ratio at all; the share of values covered, each weighted by how far its best bicluster is
  coherent beyond search noise and apart from the others (see [chance](chance.md)).

On each of the ten scenarios ({n_seeds} seeds each) the planted solution meets rivals a good measure should rank below it:
*half*: every second planted bicluster left out; *pieces*: from each planted bicluster only its most coherent 6 × 4 piece;
*thin junk*: one 5 × 2 block added that was searched for in the same data; *near-copy*: the first bicluster added again
without a tenth of its rows; *merged*: the first two merged; *quarters*: the whole matrix cut into four.

## Share of cases in which the planted solution is ranked above the rival

{by_rival}

## Share of cases in which it is ranked above all of them, by scenario

{by_scenario}

S7 plants four copies of one pattern, S9a and S9b blocks that are too small to be told from search noise (CC is 0 for all
of their solutions, and a tie is not a win), S5 overlapping blocks of one matrix, and S6 stripes of two columns, which CC
does not count. Read the table with that in mind: it says what each adjustment rewards, not which one is right.

## Reading it

{reading}
"""


def rivals(X: NDArray[np.float64], truth: Biclustering, rng: np.random.Generator) -> dict[str, Biclustering]:
    """The planted solution and its rivals."""
    pairs = [(b.rows, b.cols) for b in truth]
    n, m = X.shape
    pieces = []
    for b in truth:
        r, c = min(6, b.shape[0]), min(4, b.shape[1])
        inner, _ = search_block(b.of(X), r, c, rng=rng, restarts=10, steps=20)
        pieces.append((b.rows[inner.rows], b.cols[inner.cols]))
    thin, _ = search_block(X, 5, 2, rng=rng, restarts=30, steps=40)
    first = pairs[0][0]
    copy = np.delete(first, rng.choice(len(first), max(1, len(first) // 10), replace=False))
    union = (np.union1d(pairs[0][0], pairs[1][0]), np.union1d(pairs[0][1], pairs[1][1]))
    rows, cols = np.array_split(np.arange(n), 2), np.array_split(np.arange(m), 2)
    options = {
        "planted": pairs,
        "half": pairs[::2] if len(pairs) > 3 else pairs[:2],
        "pieces": pieces,
        "thin junk": [*pairs, (thin.rows, thin.cols)],
        "near-copy": [*pairs, (copy, pairs[0][1])],
        "merged": [union, *pairs[2:]],
        "quarters": [(r, c) for r in rows for c in cols],
    }
    return {name: Biclustering(option, X.shape) for name, option in options.items()}


def main() -> None:
    """Run the comparison and write the page."""
    wins: dict[tuple[str, str], list[bool]] = {}
    overall: dict[tuple[str, str], list[bool]] = {}
    names: list[str] = []
    for scenario in SCENARIOS:
        for seed in SEEDS:
            X, truth, _ = make_scenario(scenario, seed)
            scores = {}
            for name, solution in rivals(X, truth, np.random.default_rng(seed)).items():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", BivaluateWarning)
                    scores[name] = evaluate(X, solution, metrics=KEYS).scores
            names = [name for name in scores if name != "planted"]
            for measure, value in MEASURES.items():
                better = {name: _below(value(scores["planted"]), value(scores[name])) for name in names}
                for name in names:
                    wins.setdefault((measure, name), []).append(better[name])
                overall.setdefault((measure, scenario), []).append(all(better.values()))
    by_rival = _table("measure", names, [[m, *(f"{np.mean(wins[m, name]):.2f}" for name in names)] for m in MEASURES])
    columns = list(SCENARIOS)
    rows = []
    for measure in MEASURES:
        shares = [float(np.mean(overall[measure, scenario])) for scenario in columns]
        rows.append([measure, *(f"{share:.1f}" for share in shares), f"{np.mean(shares):.2f}"])
    by_scenario = _table("measure", [*columns, "all"], rows)
    page = PAGE.format(n_seeds=len(SEEDS), by_rival=by_rival, by_scenario=by_scenario, reading=_reading(wins, names))
    TARGET.write_text(page, encoding="utf-8")


def _below(a: float, b: float) -> bool:
    return bool(a < b or (a == a and b != b))


def _reading(wins: dict[tuple[str, str], list[bool]], names: list[str]) -> str:
    lines = []
    for measure in MEASURES:
        shares = {name: float(np.mean(wins[measure, name])) for name in names}
        weak = [f"{name} ({share:.2f})" for name, share in shares.items() if share < 0.5]
        lines.append(
            f"- **{measure}** " + (f"prefers these to the planted solution more often than not: {', '.join(weak)}." if weak
            else "ranks the planted solution above every rival in at least half of the cases.")
        )  # fmt: skip
    return "\n".join(lines)


def _table(corner: str, columns: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join([corner, *columns]) + " |", "|" + "---|" * (len(columns) + 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


if __name__ == "__main__":
    main()

"""Repeat the evidence behind the chance correction and write docs/chance.md, whatever it turns out to be.

python -m benchmarks.evidence        (some minutes)
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.evidence_blocks import SCORES, broken_assumptions, evidence_a, fresh_cut
from benchmarks.evidence_data import KEYS
from benchmarks.evidence_solutions import choosing_k, evidence_b, held_out

SEED = 20240917
TARGET = Path(__file__).parents[1] / "docs/chance.md"
SYMBOLS = {
    "avg_ve": "AvgVE ↓", "nve": "NVE ↓", "nve_cov": "NVE_cov ↓", "coverage": "CR", "avg_ave": "avg aVE ↓", "anve": "aNVE ↓", "cc": "CC ↑",
}  # fmt: skip

INTRODUCTION = """# Chance: what would noise have scored?

A small block of noise can look coherent, and a block that was searched for can look perfect. Three numbers put VE in its
place; all are functions of shapes only. The measures made of them stand beside evidence, which decides.

**What to use.** Of a bicluster: aVE on column-centred data, with z beside it (`ave_centred`, `z_centred`). aVE is 1 for search noise; below
0.90 it speaks for the bicluster. Of a solution: avg aVE and avg z beside coverage, CC as companion. None of them chooses K without a
null curve (`bivaluate sweep --null permute`).

**What they miss.** The data have to be roughly normal with independent columns: rank-normalise what is skewed or has heavy tails. For ordered
columns the cut of 0.90 is too lenient: compare with surrogates that keep the order (`bivaluate sweep --null phase`). V\\* is an
approximation and 0.90 a convention, not a bound: whoever searches longer finds more.

## What they are

- **E0(r, c)**: the mean VE of r × c blocks of noise that was not searched for. Exact for independent normal values:
  E0 = A(c)·E√(1 − R), with R the sample correlation of c pairs whose true correlation is 1/√r. It rises with r, which is
  why small blocks have small VE. `null_mean`, from a table of Chebyshev coefficients (error below 1e-10).
- **sd0(r, c)**: its spread; z = (E0 − VE)/sd0. `null_sd`.
- **V\\*(r, c; n, m)**: the VE that the best r × c block of an n × m matrix of noise is expected to have, that is, what a
  thorough search finds where nothing is. `search_reference`, by 128-point quadrature; no constant is fitted.

From them: **R = VE/E0** for blocks that were not chosen by looking at the data; **aVE = 1 − (V\\* − VE)/E0** for blocks
that were; e = max(0, 1 − aVE); sep = max(0, 1 − R(B_k)/min R(B_kl));
**aNVE = 1 − mean e·sep**; **CC** = the share of values covered, each weighted by the largest e·sep of its biclusters.

## How it was measured

`python -m benchmarks.evidence` writes what follows, and the numbers are those of its last run.
"""


def table(headings: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(headings) + " |", "|" + "---|" * len(headings)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def main() -> None:
    """Run everything and write the page."""
    rng = np.random.default_rng(SEED)
    parts = [INTRODUCTION]
    a = evidence_a(rng)
    spread, random = np.asarray(a["spread"]), np.asarray(a["random"])
    parts.append(
        "### Evidence A: single blocks\n\nProbability that a planted block (20 to 120 rows, 6 to 20 columns; shift, scale and both) "
        "is ranked above a noise block of a 300 × 40 matrix; 0.5 is guessing. Noise level sigma relative to the pattern, mean VE of "
        "the planted blocks in brackets.\n\n"
        + table(["noise blocks", "sigma (mean VE)", *SCORES], a["table"])  # type: ignore[arg-type]
        + f"\n\naVE of the {len(spread)} searched noise blocks: {spread.min():.3f} to {spread.max():.3f}, "
        f"{int((spread < 0.95).sum())} below 0.95 and {int((spread < 0.90).sum())} below 0.90; of the {len(random)} random ones "
        f"{int((random < 0.90).sum())} below 0.90."
    )
    standard, heavy = fresh_cut(rng)
    parts.append(
        "### The cut on fresh noise\n\n"
        f"{len(standard)} blocks found by the standard search (60 restarts, 80 steps) in other matrices: lowest aVE {standard.min():.3f}, "
        f"5 % quantile {np.quantile(standard, 0.05):.3f}, median {np.median(standard):.3f}; {int((standard < 0.95).sum())} below 0.95, "
        f"{int((standard < 0.90).sum())} below 0.90. {len(heavy)} blocks found by a nine times heavier search: lowest {heavy.min():.3f}, "
        f"{int((heavy < 0.95).sum())} below 0.95, {int((heavy < 0.90).sum())} below 0.90."
    )
    parts.append(
        "### Where the assumptions break\n\nLowest aVE a search finds in 300 × 40 noise that is not independent and normal. Below 0.90 "
        "means false evidence. bivaluate says so in its findings when the data look like one of these.\n\n"
        + table(["noise", "as it is", "after the remedy", "remedy"], broken_assumptions(rng))
        + "\n\nFor autocorrelated columns there is no transformation: compare with surrogates that keep their order."
    )
    headings = ["solution", *(SYMBOLS[key] for key in KEYS)]
    parts.append("### Evidence B: solutions\n\n300 × 40, mean of 6 matrices.\n\n" + table(headings, evidence_b(rng)))
    parts.append("### Choosing among spoilt truths\n\nMean of 6.\n\n" + table(headings, choosing_k(rng)))
    means, wins = held_out(rng)
    parts.append(
        "### Held-out experiment\n\nThe form of aNVE and CC was chosen on designs like those above, so here is another one: t noise with 6 "
        "degrees of freedom, columns centred, sine and uniform patterns, shift and scale, random shapes (12 to 44 × 6 to 15), sigma .15 to "
        ".45, a quarter with overlapping rows, matrices of 500 × 30, 120 × 60 and 400 × 50, K of 3 or 6; 30 replicates. Means:\n\n"
        + table(headings, means)
        + "\n\nHow often the planted solution beats all five rivals, and how often it is picked among fewer blocks, thin junk added, a "
        "duplicate added, a random block added:\n\n"
        + table(["measure", "beats all rivals", "picked"], [[SYMBOLS[key], *rest] for key, *rest in wins])
        + "\n\nThe junk is searched to minimise VE: the worst case for scores of that kind, not typical output of an algorithm. "
        "The clones all have the smallest number of columns drawn."
    )
    parts.append(f"---\nSeed {SEED}.")
    TARGET.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

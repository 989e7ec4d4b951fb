"""Make docs/find.md of the numbers in docs/find.json."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

INTRODUCTION = """# The coherent submatrix search

Written by `python -m benchmarks.find`; do not edit.

`CoherentSubmatrices` (key `find`) looks for blocks whose rows follow one pattern on some columns, and finds their number K
itself. Every row is judged against its own background: the evidence S of a block is the log-likelihood ratio of its cells
(a level and a pattern, shifted and stretched from row to row, against what these rows do elsewhere) minus the price of
choosing its rows, its columns and its parameters. Without fitted parameters e^-S would bound the probability that noise
holds such a block; they are fitted, so the tables below measure it instead.

Two things are background, not biclusters: correlation of the columns that all rows share (estimated from clipped cells, and
again without the cells of blocks, wherever normal rows with that correlation alone would look like blocks), and patterns
common to at least half of all rows (taken out, with a warning). Where the data were transformed, or have fewer than 12 or
correlated columns, nine surrogates are searched too; if they hold blocks, only what exceeds the best of 19 is kept.
The surrogates are rows in permuted order or, in correlated columns, with random signs along the principal axes.

Development used seeds below 100 of the ten scenarios, the designs D1 to D15 of `benchmarks/find_designs.py`, and the yeast
matrices with other random copies of them. Then the search was frozen and run once on seeds from 5000 on; the designs F1 to F12
had been written down before and never run. Two things were changed after that evaluation. Counts gave a false bicluster in 2 of
20 runs: equal values are now spread at random over their step. Rows that no curve makes normal were refused, also where many
blocks made them so: they are now searched as they are, and surrogates decide. The tables of planted biclusters and yeast, and
the other rows of the table of noise, are of the frozen version and were not run again; counts, t3 and t5 (which had 2, 0 and 1 of
20 before) were, on seeds from 6000 on, and the detection limit is of the changed version.
"""

FAILURES = """## What fails

- S7, four clones of one pattern on one column set, is one block to any measure of coherence: K = 1.
- S5, a chain cut out of one additive matrix: other pieces are as coherent as the planted ones; K is near, the blocks are not.
- S9a and S9b: K is right in 4 of 5 and 5 of 5 runs, but rows are missed, probably those whose own evidence is below the price
  of choosing them (not checked row by row).
- Blocks that share rows or cells (F5, F6): K is right, some of the shared rows are given to one of the two.
- Overdispersed counts with many zeros (negative binomial) and Cauchy rows still gave false blocks during development (2 of
  12 and 2 of 8 runs).
- Copies of yeast matrices with 7 to 10 columns still hold a false block in more than one of twenty (3 of 17 rotated, 1 of 17
  with random phases): with so few
  columns neither the tails of a row nor the covariance are known well.
- Strongly skewed rows with negative values are refused with a warning: no root or logarithm can be taken.
- A bicluster with more than half of all rows cannot be found: its pattern is taken out as background.
- In the table of the detection limit a 40 x 12 block of little noise is missed in one of four matrices although smaller ones are
  found; the reason is not known.
- Not measured: 20000 x 500 to the end (a run was stopped after 129 CPU seconds), GO enrichment, UnPaSt, Plaid, QUBIC.
- Weak blocks (noise as large as the pattern) are missed; the table of the detection limit says from where on.
"""


def page(numbers: dict[str, Any]) -> str:
    """Return the page."""
    parts = [INTRODUCTION, FAILURES]
    for name, section in SECTIONS.items():
        if name in numbers:
            parts.append(section(numbers[name]))
    return "\n".join(parts)


def _table(head: list[str], rows: list[list[Any]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(str(cell) for cell in row) + " |" for row in rows)]) + "\n"


def _mean(runs: list[dict[str, float]], key: str) -> float:
    return float(np.mean([run[key] for run in runs]))


def planted(rows: list[dict[str, Any]]) -> str:
    """Planted biclusters: K not told to the search, told to the others."""
    lines = []
    for row in rows:
        runs = row["runs"]
        exact = float(np.mean([run["k"] == run["planted"] for run in runs]))
        seen = ", ".join(str(k) for k in sorted({run["k"] for run in runs}))
        scores = [f"{_mean(runs, key):.2f}" for key in ("agri", "ce", "prelic_recovery", "prelic_relevance")]
        peers = [f"{row[key]:.2f}" if key in row else "" for key in ("CCA", "LAS", "Spectral")]
        lines.append(
            [row["case"], runs[0]["planted"], seen, f"{exact:.2f}", *scores, f"{_mean(runs, 'seconds'):.1f}", *peers]
        )
    every = [run for row in rows for run in row["runs"]]
    frozen = [run for row in rows if row["case"].startswith("F") for run in row["runs"]]

    def summary(runs: list[dict[str, Any]]) -> str:
        exact = float(np.mean([run["k"] == run["planted"] for run in runs]))
        return f"{len(runs)} runs, K exact {exact:.2f}, 13AGRI {_mean(runs, 'agri'):.2f}, CE {_mean(runs, 'ce'):.2f}"

    head = ["case", "K planted", "K found", "K exact", "13AGRI", "CE", "recovery", "relevance", "CPU s"]
    return (
        "## Planted biclusters\n\n"
        f"All cases: {summary(every)}. The frozen designs alone: {summary(frozen)}.\n"
        "The last three columns are the 13AGRI of algorithms that were told K (first seed only, LAS two-sided with 200 "
        "restarts). Seconds are CPU seconds of both threads on a busy machine.\n\n"
        + _table([*head, "CCA", "LAS", "Spectral"], lines)
    )


def noise(rows: list[dict[str, Any]]) -> str:
    """False biclusters in noise."""
    lines = [[row["kind"], row["runs"], row["false"], f"{row['false'] / row['runs']:.2f}"] for row in rows]
    return "## Noise (300 x 40)\n\nRuns in which any bicluster is found; all of them are false.\n\n" + _table(
        ["noise", "runs", "with a false bicluster", "share"], lines
    )


def limit(rows: list[dict[str, Any]]) -> str:
    """Detection limit."""
    levels = sorted({row["noise"] for row in rows})
    sizes = sorted({(row["rows"], row["cols"]) for row in rows})
    found = {(row["rows"], row["cols"], row["noise"]): row["found"] for row in rows}
    lines = [[f"{r} x {c}", *(f"{found[r, c, level]:.2f}" for level in levels)] for r, c in sizes]
    return (
        "## Detection limit\n\nOne additive block (pattern sd 1, row shifts sd 0.5) in 300 x 40 standard normal cells: "
        "share of four matrices in which it is found (CE above a half), by the sd of the noise inside the block.\n\n"
        + _table(["block", *(f"noise {level}" for level in levels)], lines)
    )


def yeast(rows: list[dict[str, Any]]) -> str:
    """Yeast."""
    lines = []
    for row in rows:
        shapes = ", ".join(f"{r}x{c}" for r, c in row["shapes"][:4]) + (" …" if row["k"] > 4 else "")
        lines.append(
            [
                row["set"],
                f"{row['shape'][0]} x {row['shape'][1]}",
                row["k"],
                shapes,
                f"{row['seconds']:.0f}",
                row["random phases"],
                row["rotated"],
            ]
        )
    false = sum((row["random phases"] > 0) + (row["rotated"] > 0) for row in rows)
    return (
        "## Yeast\n\nBiclusters in the 17 yeast time series, and in copies of each that hold none: rows with random phases, "
        f"and the row-standardised matrix with its rows mixed by a random rotation. {false} of {2 * len(rows)} copies hold "
        "a false bicluster.\n\n"
        + _table(["set", "shape", "K", "largest evidence", "CPU s", "K, random phases", "K, rotated"], lines)
    )


SECTIONS: dict[str, Callable[[list[dict[str, Any]]], str]] = {
    "planted": planted,
    "noise": noise,
    "limit": limit,
    "yeast": yeast,
}

"""Does a null help to find K? Sweeps of the scenarios (planted K known) and of yeast, with surrogates beside them.

python -m benchmarks.choice_of_k FOLDER [--jobs 2] [--seeds 5] [--null-runs 9]

Runs (or continues) two sweeps in FOLDER and prints the tables of docs/sweeps.md.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from bivaluate.registry import METRICS
from bivaluate.sweep import Plan, Run, Sweep
from bivaluate.sweep.copies import gaps

MEASURES = ("asr", "avg_ve", "nsr", "nve", "nve_cov", "coverage", "cc")
ALGORITHMS = ("cca", "las", "spectral")
PARAMETERS = {"las": {"n_restarts": 100}}


def choices(run: Run, measure: str, gap: bool) -> pd.DataFrame:
    """Return the K chosen for every (data set, seed, algorithm) where at least three K can be judged."""
    table = gaps(run.results, run.null, measure) if gap else run.results.assign(gap=run.results[measure])
    table = table[(table["status"] == "ok") & table["gap"].notna()]
    high = gap or METRICS[measure].direction == "high"
    value = -table["gap"] if high else table["gap"]
    rows = []
    for key, group in value.groupby([table["dataset"], table["seed"], table["algorithm"]]):
        if len(group) >= 3 and group.nunique() > 1:
            ks = table.loc[group.index, "k"]
            rows.append([*key, int(ks[group.idxmin()]), int(ks.min()), int(ks.max())])
    return pd.DataFrame(rows, columns=["dataset", "seed", "algorithm", "k", "smallest", "largest"])


def scenario_lines(run: Run) -> list[str]:
    """Return how often the planted K is chosen, and how far off the choice is."""
    lines = [
        "| measure | cases | planted K found | with the null | mean distance | with the null |",
        "|---|---|---|---|---|---|",
    ]
    for measure in MEASURES:
        cells = []
        for gap in (False, True):
            chosen = choices(run, measure, gap)
            planted = [len(run.truth(d, s) or ()) for d, s in zip(chosen["dataset"], chosen["seed"], strict=True)]
            off = (chosen["k"] - planted).abs()
            cells.append((len(off), (off == 0).mean(), off.mean()))
        (n, found, off), (n_gap, found_gap, off_gap) = cells
        lines.append(
            f"| {METRICS[measure].symbol} | {n} / {n_gap} | {found:.2f} | {found_gap:.2f} | {off:.2f} | {off_gap:.2f} |"
        )
    return lines


def by_algorithm(run: Run) -> list[str]:
    """Return the share of planted K found per algorithm, without and with the null."""
    lines = ["| measure | " + " | ".join(ALGORITHMS) + " |", "|---|" + "---|" * len(ALGORITHMS)]
    for measure in MEASURES:
        cells = []
        for algorithm in ALGORITHMS:
            shares = []
            for gap in (False, True):
                chosen = choices(run, measure, gap)
                mine = chosen[chosen["algorithm"] == algorithm]
                hits = [len(run.truth(row.dataset, row.seed) or ()) == row.k for row in mine.itertuples()]
                shares.append(f"{sum(hits) / len(hits):.2f}" if hits else "–")
            cells.append(" → ".join(shares))
        lines.append(f"| {METRICS[measure].symbol} | " + " | ".join(cells) + " |")
    return lines


def edge_lines(run: Run) -> list[str]:
    """Return how often the smallest and the largest K is chosen, and how often chance does as well."""
    lines = [
        "| measure | smallest K | with the null | largest K | with the null | cells beyond all surrogates |",
        "|---|---|---|---|---|---|",
    ]
    for measure in MEASURES:
        cells = []
        for gap in (False, True):
            chosen = choices(run, measure, gap)
            cells.append(((chosen["k"] == chosen["smallest"]).mean(), (chosen["k"] == chosen["largest"]).mean()))
        null = run.null[(run.null["measure"] == measure) & (run.null["null_n"] > 0)]
        beyond = (null["p_value"] <= 1 / (null["null_n"] + 1) + 1e-12).mean()
        (small, large), (small_gap, large_gap) = cells
        lines.append(
            f"| {METRICS[measure].symbol} | {small:.2f} | {small_gap:.2f} | {large:.2f} | {large_gap:.2f} | {beyond:.2f} |"
        )
    return lines


def main() -> None:
    """Run both sweeps and print their tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--null-runs", type=int, default=9)
    options = parser.parse_args()
    plans = {
        "scenarios": Plan(
            ["scenario:*"],
            ALGORITHMS,
            [2, 3, 4, 5, 6, 8, 10],
            seeds=options.seeds,
            parameters=PARAMETERS,
            null="permute",
            null_runs=options.null_runs,
        ),
        "yeast": Plan(
            ["yeast:*"],
            ALGORITHMS,
            [3, 5, 8, 10, 15],
            seeds=3,
            parameters=PARAMETERS,
            null="permute",
            null_runs=options.null_runs,
        ),
    }
    for name, plan in plans.items():
        run = Sweep(plan, options.folder / name, jobs=options.jobs).run()
        lines = [*scenario_lines(run), "", *by_algorithm(run), ""] if name == "scenarios" else []
        print(f"\n### {name}\n", *lines, *edge_lines(run), sep="\n")


if __name__ == "__main__":
    main()

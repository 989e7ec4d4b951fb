"""Make docs/coherent.md of the numbers in docs/find.json."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Row = dict[str, Any]
Rows = dict[str, Row]

INTRODUCTION = """# The coherent submatrix search

`CoherentSubmatrices` (key `coherent`) looks for blocks whose rows follow one pattern on some of the columns, and finds their number K
itself: `bivaluate run expression.csv --algorithm coherent -o found.json`, or `CoherentSubmatrices().fit(X).solution_` in Python.
`bivaluate find` runs it beside other algorithms and chooses by evidence. Take it alone where you expect shared profiles rather than raised
blocks.

## How it works

Every row is judged against its own background. The score S of a block, which only the search uses, is the log-likelihood ratio of
its values (a level and a pattern, shifted and stretched from row to row, against what these rows do elsewhere) minus the price of
choosing its rows, its columns and its parameters. Without fitted parameters e^-S would bound the probability that noise
holds such a block; they are fitted, so the tables below measure it instead.

Two things are background, not biclusters:

- *Patterns common to at least half of all rows* are taken out, with a warning.
- *Correlation of columns in all rows* looks like blocks, and blocks with many rows look like correlation. So the two are weighed against
  each other: correlation gains what is gained when every row is predicted with the covariance that the columns have in other rows, blocks
  gain their S with columns taken as independent. Blocks on more than half of the columns do not count there, because a factor that all rows
  share looks like that. If blocks gain more, columns are centred again without their values, and the same is asked of what they leave;
  otherwise blocks are judged against the correlation, which is estimated again without their values. A block gives way to parts of it that
  gain as much, but for values that hold little of its evidence.

If evidence (of the values, or of their roots or logarithms where the search takes these) supports none of the blocks found, nothing
is returned and a `SearchWarning` says so; `calibrate=False` returns them all the same. Missing values are filled by what the other values
of their row lead one to expect, then, in rows that follow the pattern of a block, by this, and the search is made again.

"""

LIMITS = """## What it misses

- Weak blocks (noise as large as the pattern); the table of the detection limit says where that begins.
- A bicluster with more than half of all rows: its pattern is taken out as background.
- Types of rows that share columns (H3, H4), and blocks with nearly half of the rows, may be taken for correlation of the columns; a
  note of the search says so. `bivaluate find` runs other algorithms beside it and chooses by evidence.
- With 7 to 10 correlated columns hardly anything can be told from background.
- Strongly skewed rows with negative values, and tails as heavy as Cauchy's, are refused with a warning.
- Logarithms of counts that were divided by the depths of their cells hold a false bicluster now and then (cell depths, below).
- Blocks that share rows or values (F5, F6): some of the shared rows are given to one of the two.
- S7, four clones of one pattern on one column set, is one block to any measure of coherence: K = 1.
- S5, a chain cut out of one additive matrix: other pieces are as coherent as the planted ones; K is near, the blocks are not.
- In correlated columns the work grows with the square of a block's columns: hundreds of correlated columns take a long time.
"""

MEASURED = """## How it was measured

The tables are made by `python -m benchmarks.find` from `docs/find.json`. They call this search *find*, its name at the time. They are of the
first and only run of it on seeds from 13000 on, where no note says otherwise; H1 to H6 were written down before it and had never been run.
All other tools ran with the settings they come with; none was tuned.

Since then the search has changed: it compared blocks with surrogates, and refined them once more, where it now asks evidence. On 23 of these
designs and fresh seeds both forms have a mean CE of 0.87, and on 52 matrices of 13 kinds of noise neither finds a bicluster.
"""

HISTORY = """## How it was developed

Development used seeds below 100 of the ten scenarios, the designs D1 to D15 of `benchmarks/find_designs.py`, and other copies
of the yeast matrices. The designs F1 to F12 were written down before the search was first frozen; in that first evaluation
(seeds from 5000 on) 4 of 34 copies of yeast matrices held a false bicluster, and negative binomial and Cauchy noise were known
to. Surrogates were the answer to that; they were tried once on seeds from 7000 on, and G1 to G6, written for that, on seeds
from 9000 on. Then blocks were weighed against correlation; that was made on seeds below 100 of the scenarios and of D, F and G, and
on raised blocks and types of rows of its own.
"""
RIGHT_K, GOOD_AGREEMENT, FALSE_SHARE = 0.8, 0.8, 0.05
MOST_NAMED = 8


def failures(numbers: dict[str, Rows]) -> str:
    """Return what failed: the cases short of a target, from the numbers."""
    lines = []
    short = [
        f"{name} (K exact {_exact(row['runs']):.2f}, 13AGRI {_mean(row['runs'], 'agri'):.2f})"
        for name, row in numbers.get("planted", {}).items()
        if _exact(row["runs"]) < RIGHT_K or _mean(row["runs"], "agri") < GOOD_AGREEMENT
    ]
    lines.append(
        f"Planted cases with the right K in less than 80 % of runs or 13AGRI below .8: {'; '.join(short) or 'none'}."
    )
    false = [
        f"{name} ({row['false']} of {row['runs']})"
        for name, row in numbers.get("noise", {}).items()
        if row["false"] > FALSE_SHARE * row["runs"]
    ]
    lines.append(f"Noise with a false bicluster in more than 5 % of runs: {'; '.join(false) or 'none'}.")
    copied = [name for name, row in numbers.get("copies", {}).items() if row["random phases"] or row["rotated"]]
    lines.append(f"Yeast series of which a copy without biclusters held one: {', '.join(copied) or 'none'}.")
    series = numbers.get("yeast", {})
    nothing = [name for name, row in series.items() if not row["k"]]
    lines.append(
        f"Yeast series in which nothing is found: {len(nothing)} of {len(series)} ({', '.join(nothing) or 'none'})."
    )
    behind = [
        f"{name} ({row['find']['enriched']:.2f} against {row['LAS']['enriched']:.2f})"
        for name, row in series.items()
        if row["k"] and row["find"]["enriched"] < row["LAS"].get("enriched", 0.0)
    ]
    lines.append(
        f"Yeast series where fewer of its biclusters than of LAS's have GO terms: {'; '.join(behind) or 'none'}."
    )
    worse = [
        name
        for name, row in numbers.get("polished", {}).items()
        if not all(run["k"] == run["planted"] for run in row["runs"])
    ]
    lines.append(f"Polishing what LAS returns does not end with the planted K in: {', '.join(worse) or 'none'}.")
    lines += [
        f"{n} x {m} took {row['cpu']:.1f} CPU seconds, more than the {must:g} s it must not exceed."
        for n, m, _, must, _ in _sizes()
        if (row := numbers.get("speed", {}).get(f"{n} x {m}")) and row["cpu"] > must
    ]
    return "### Short of a target\n\n" + "".join(f"- {line}\n" for line in lines)


def _sizes() -> Any:
    from benchmarks.find import SIZES

    return SIZES


def page(numbers: dict[str, Rows]) -> str:
    """Return the page."""
    from benchmarks.find import FIRST_SEED
    from benchmarks.find import SECTIONS as RUNS

    done = {
        name: {case: numbers[name][case] for case in run() if case in numbers.get(name, {})}
        for name, run in RUNS.items()
    }
    absent = {name: [case for case in run() if case not in done[name]] for name, run in RUNS.items()}
    earlier = {
        name: [case for case, row in rows.items() if row.get("first_seed") != FIRST_SEED] for name, rows in done.items()
    }
    parts = [INTRODUCTION + LIMITS, MEASURED, failures(done)]
    totals = {name: len(run()) for name, run in RUNS.items()}
    if words := _cases(absent, totals):
        parts.append(f"Not run yet; `python -m benchmarks.find` continues with them: {words}.\n")
    if words := _cases(earlier, totals):
        parts.append(f"Of an earlier evaluation and an earlier form of the search, and not run again yet: {words}.\n")
    parts += [section(done[name]) for name, section in SECTIONS.items() if done.get(name)]
    return "\n".join([*parts, HISTORY])


def _cases(cases: dict[str, list[str]], totals: dict[str, int]) -> str:
    """Return sections and their cases in words; only the number where there are many, only the section for all of it."""

    def words(name: str, some: list[str]) -> str:
        if len(some) == totals[name]:
            return name
        return f"{name} ({', '.join(some) if len(some) <= MOST_NAMED else f'{len(some)} of {totals[name]} cases'})"

    return "; ".join(words(name, some) for name, some in cases.items() if some)


def _table(head: list[str], rows: list[list[Any]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(str(cell) for cell in row) + " |" for row in rows)]) + "\n"


def _mean(runs: list[Row], key: str) -> float:
    return float(np.mean([run[key] for run in runs]))


def _exact(runs: list[Row]) -> float:
    return float(np.mean([run["k"] == run["planted"] for run in runs]))


def _quality(runs: list[Row]) -> list[str]:
    keys = ("agri", "ce", "prelic_recovery", "prelic_relevance")
    return [f"{_exact(runs):.2f}", *(f"{_mean(runs, key):.2f}" for key in keys)]


def _shapes(shapes: list[list[int]], most: int = 4) -> str:
    return ", ".join(f"{r}x{c}" for r, c in shapes[:most]) + (" …" if len(shapes) > most else "")


QUALITY = ["K exact", "13AGRI", "CE", "recovery", "relevance"]


def planted(rows: Rows) -> str:
    """Planted biclusters, K not told."""

    def line(name: str, runs: list[Row]) -> list[Any]:
        seen = ", ".join(str(k) for k in sorted({run["k"] for run in runs}))
        return [name, runs[0]["planted"], seen, *_quality(runs), f"{_mean(runs, 'seconds'):.1f}"]

    def summary(runs: list[Row]) -> str:
        return f"{len(runs)} runs, K exact {_exact(runs):.2f}, 13AGRI {_mean(runs, 'agri'):.2f}, CE {_mean(runs, 'ce'):.2f}"

    every = [run for row in rows.values() for run in row["runs"]]
    text = f"All cases: {summary(every)}."
    for letter, words in (("F", "F1 to F12"), ("G", "G1 to G6"), ("H", "H1 to H6, never run before")):
        some = [run for name, row in rows.items() if name.startswith(letter) for run in row["runs"]]
        text += f" The designs {words}: {summary(some)}." if some else ""
    return f"### Planted biclusters\n\n{text} Seconds are CPU seconds of both threads on a busy machine.\n\n" + _table(
        ["case", "K planted", "K found", *QUALITY, "CPU s"], [line(k, row["runs"]) for k, row in rows.items()]
    )


def compared(rows: Rows) -> str:
    """Other tools."""
    by_tool: dict[str, Rows] = {}
    for name, row in rows.items():
        tool, _, design = name.partition(": ")
        by_tool.setdefault(tool, {})[design] = row
    lines = []
    for tool, cases in by_tool.items():
        runs = list(cases.values())
        failed, nothing = sum(bool(run["reason"]) for run in runs), sum(not run["k"] for run in runs)
        seconds = [run["seconds"] for run in runs if not run["reason"]]
        median = f"{np.median(seconds):.2f}" if seconds else ""
        lines.append([tool, len(runs), *_quality(runs), median, nothing or "", failed or ""])
    reasons = {f"{name}: {row['reason']}" for name, row in rows.items() if row["reason"]}
    designs = list(next(iter(by_tool.values())))
    agreement = [
        [design, *(f"{cases[design]['agri']:.2f}" if design in cases else "" for cases in by_tool.values())]
        for design in designs
    ]
    return (
        "### Other tools, each told K\n\nThe ten scenarios and all designs, one seed each, with the settings each tool comes with (LAS "
        "two-sided, 200 restarts); missing values hold the mean of their row. `find` is not told K. UnPaSt finds the number "
        "itself: of what it returns the K largest are taken. Seconds are wall seconds on a busy machine, start of the process "
        "included. A run without a result counts as 0.\n\n"
        + _table(["tool", "runs", *QUALITY, "s (median)", "found nothing", "failed"], lines)
        + "".join(f"\n{reason}\n" for reason in sorted(reasons))
        + "\n13AGRI by case:\n\n"
        + _table(["case", *by_tool], agreement)
    )


def noise(rows: Rows) -> str:
    """False biclusters in noise."""
    lines = [
        [
            "AR(1) .7" if kind == "ar" else kind,
            row["runs"],
            row["false"],
            f"{row['false'] / row['runs']:.2f}",
            row["said"],
        ]
        for kind, row in rows.items()
    ]
    return (
        "### Noise (300 x 40)\n\nRuns in which any bicluster is found; all of them are false. The last column counts runs that said "
        "by a warning why nothing is found (a refused distribution, or surrogates as good).\n\n"
        + _table(["noise", "runs", "with a false bicluster", "share", "said why nothing"], lines)
    )


def limit(rows: Rows) -> str:
    """Detection limit."""
    levels = list(next(iter(rows.values()))["found"])
    lines = [[name, *(f"{row['found'][level]:.2f}" for level in levels)] for name, row in rows.items()]
    return (
        "### Detection limit\n\nOne additive block (pattern sd 1, row shifts sd 0.5) in 300 x 40 standard normal values: "
        f"share of {next(iter(rows.values()))['matrices']} matrices in which it is found (CE above a half), by the sd of the noise "
        "inside the block.\n\n" + _table(["block", *(f"noise {level}" for level in levels)], lines)
    )


def fewest(rows: Rows) -> str:
    """Fewest rows."""
    lines = [[name, *_quality(row["runs"]), f"{row['false']} of {row['noise']}"] for name, row in rows.items()]
    return (
        "### The fewest rows of a bicluster\n\n`min_rows` 3, 4 (the default) and 5 on the ten scenarios, one seed each, and false "
        "biclusters in exponential noise.\n\n" + _table(["min_rows", *QUALITY, "false, exponential"], lines)
    )


def polished(rows: Rows) -> str:
    """What refine makes of LAS."""
    lines = []
    for name, row in rows.items():
        runs = row["runs"]
        before, after = ([run[key] for run in runs] for key in ("before", "after"))
        seen = ", ".join(str(run["k"]) for run in runs)
        lines.append(
            [name, runs[0]["planted"], seen]
            + [f"{_mean(side, key):.2f}" for key in ("agri", "ce") for side in (before, after)]
        )
    every = [run for row in rows.values() for run in row["runs"]]
    agri = [float(np.mean([run[side]["agri"] for run in every])) for side in ("before", "after")]
    return (
        f"### Polishing\n\n`bivaluate refine` from what LAS (two-sided) returns for K = 20: 13AGRI {agri[0]:.2f} before, "
        f"{agri[1]:.2f} after, K exact {_exact(every):.2f}.\n\n"
        + _table(["case", "K planted", "K after", "13AGRI before", "after", "CE before", "after"], lines)
    )


def copies(rows: Rows) -> str:
    """Yeast copies without biclusters."""
    false = {kind: [name for name, row in rows.items() if row[kind]] for kind in ("random phases", "rotated")}
    words = [
        f"{kind}: {len(names)} of {len(rows)}" + (f" ({', '.join(names)})" if names else "")
        for kind, names in false.items()
    ]
    return (
        "### Copies of yeast series without biclusters\n\nEach series with random phases in every row, and the row-standardised matrix "
        f"with its rows mixed by a random rotation. Copies with a false bicluster: {'; '.join(words)}.\n"
    )


_JUDGED = (("enriched", ".2f"), ("evidence", ".0f"))


def yeast(rows: Rows) -> str:
    """Yeast."""

    def cell(found: Row, key: str, form: str) -> str:
        return "" if found.get(key) is None else format(found[key], form)

    lines, judged = [], []
    for name, row in rows.items():
        tools = [row[tool] for tool in ("find", "CCA", "LAS", "Spectral")]
        said = "yes" if any("Nothing is found" in note for note in row["notes"]) else ""
        shape, seconds = f"{row['shape'][0]} x {row['shape'][1]}", f"{row['seconds']:.0f}"
        lines.append([name, shape, row["k"], _shapes(row["shapes"], 3), said, seconds])
        judged.append([name, *(cell(tool, key, form) for key, form in _JUDGED for tool in tools)])
    mean = [
        np.mean([row[tool]["enriched"] for row in rows.values() if row[tool].get("enriched") is not None] or [np.nan])
        for tool in ("find", "CCA", "LAS", "Spectral")
    ]
    finished = (
        f"{len(rows)} of the 17 series were run for this page and finished by themselves; "
        f"{sum(row['k'] > 0 for row in rows.values())} of them hold biclusters."
    )
    return (
        f"### Yeast\n\n{finished} GO: share of biclusters with a term of q below .05 (hypergeometric test over the genes of the "
        "matrix, annotations propagated along is_a and part_of, terms of 5 to 300 genes, Benjamini-Hochberg within a "
        "bicluster); S: median evidence in nats. CCA, LAS and Spectral are told the K of `find`, at least 5. "
        f"Mean share with GO terms: find {mean[0]:.2f}, CCA {mean[1]:.2f}, LAS {mean[2]:.2f}, Spectral {mean[3]:.2f}.\n\n"
        + _table(["set", "shape", "K", "first blocks", "says why none", "CPU s"], lines)
        + "\n"
        + _table(
            ["set", *(f"{what}, {tool}" for what in ("GO", "S") for tool in ("find", "CCA", "LAS", "Spectral"))], judged
        )
    )


def others(rows: Rows) -> str:
    """Single cells and documents."""
    text = "### Other real data\n"
    if "pbmc68k" in rows:
        row = rows["pbmc68k"]
        text += (
            f"\nSingle cells (PBMC): {row['shape'][0]} cells x the {row['shape'][1]} genes that vary most, of {row['all'][1]}; the "
            "others are left out.\n"
        )
        for name in ("as they are", "normal scores"):
            found = row[name]
            text += f"\n{name.capitalize()}: {len(found['blocks'])} biclusters, {found['seconds']:.0f} CPU seconds. {' '.join(found['notes'])}\n"
            lines = [
                [
                    f"{b['shape'][0]} x {b['shape'][1]}",
                    f"{b['evidence']:.0f}",
                    f"{b['type']} ({100 * b['share']:.0f} %, {100 * b['overall']:.0f} % of all cells)",
                    ", ".join(b["genes"][:6]),
                ]
                for b in found["blocks"][:8]
            ]
            if lines:
                text += "\n" + _table(["block", "evidence", "most frequent cell type", "genes"], lines)
    if "reuters_r8" in rows:
        row = rows["reuters_r8"]
        text += (
            f"\nDocuments (Reuters R8): {row['shape'][0]} documents x their {row['shape'][1]} most frequent words, of {row['all'][0]} x "
            f"{row['all'][1]}; the others are left out.\n"
        )
        for name in ("counts", "logarithms"):
            found = row[name]
            shapes = f" ({_shapes(found['shapes'])})" if found["shapes"] else ""
            text += f"\nAs {name}: {found['k']} biclusters{shapes}, {found['seconds']:.0f} CPU seconds. {' '.join(found['notes'])}\n"
    return text


def speed(rows: Rows) -> str:
    """Speed."""
    lines = []
    for n, m, _, must, goal in _sizes():
        row = rows.get(f"{n} x {m}")
        if row is None:
            lines.append([f"{n} x {m}", "not run", "", "", "", "", "", f"{must:g} / {goal:g}"])
            continue
        las = f"{row['las_cpu'] / row['cpu']:.2f}"
        lines.append(
            [
                f"{n} x {m}",
                f"{row['wall']:.1f}",
                f"{row['cpu']:.1f}",
                las,
                f"{row['k']} of {row['planted']}",
                f"{row['ce']:.2f}",
                f"{row['memory']:.0f} ({row['matrix']:.0f})",
                f"{must:g} / {goal:g}",
            ]
        )
    slope = ""
    if "slope" in rows:
        seconds = rows["slope"]["seconds"]
        power = np.polyfit(np.log([int(n) for n in seconds]), np.log(list(seconds.values())), 1)[0]
        words = ", ".join(f"{value:.1f} s for {n}" for n, value in seconds.items())
        slope = f" With n rows of 40 columns CPU time grows as n to the power {power:.2f} ({words})."
    return (
        f"### Speed\n\nOn a machine shared with other work: wall seconds are an upper bound, CPU seconds those of both threads.{slope} "
        "The ratio is the CPU time of LAS (default restarts, told K) over ours in the same run. Memory is that of the whole "
        "process, that of the matrix in brackets.\n\n"
        + _table(
            [
                "shape",
                "wall s",
                "CPU s",
                "LAS / find",
                "blocks found",
                "CE",
                "memory, MB",
                "must / goal, s on two quiet cores",
            ],
            lines,
        )
    )


SECTIONS: dict[str, Callable[[Rows], str]] = {
    "planted": planted,
    "compared": compared,
    "noise": noise,
    "copies": copies,
    "limit": limit,
    "fewest": fewest,
    "polished": polished,
    "yeast": yeast,
    "others": others,
    "speed": speed,
}

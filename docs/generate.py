"""Write the generated parts of README and docs from the registries and from files the commands wrote.

``python docs/generate.py`` writes them, ``python docs/generate.py --check`` says whether they are up to date.
"""

from __future__ import annotations

import collections
import csv
import json
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from bivaluate._cluster import MOST_TASKS
from bivaluate._glossary import GLOSSARY
from bivaluate._rows import SPARSE_CHUNKS_LONGER, chunk_rows
from bivaluate.algorithms.algorithm import PATTERNS, Algorithm
from bivaluate.algorithms.registry import ALGORITHMS
from bivaluate.cli import main as command_line
from bivaluate.io import describe_formats
from bivaluate.measures.external import EXTERNAL
from bivaluate.registry import METRICS, RECORDS
from bivaluate.replicate.document import replication_headline

ROOT = Path(__file__).resolve().parents[1]
ARROWS = {"low": "↓ low", "high": "↑ high", "none": ""}
INFINITY = {float("inf"): "∞", float("-inf"): "−∞"}
# Of what `make bench` measures, the work that stands in the README.
HEADLINES = (
    ("all mergers, large, 20000x500 K=100", "30 lines of vectorised NumPy"),
    ("evaluate, 20000x500 K=100", "a plain NumPy loop"),
    ("CCA, 17 yeast matrices, K=15", "biclustlib 0.0.13"),
    ("LAS per restart, 17 yeast matrices", "biclustlib 0.0.13"),
    ("the paper's workload, 1 job", "biclustlib, scikit-learn, a plain NumPy loop"),
)


def measure_pages() -> str:
    """Every measure of the registry with range, invariances and reference."""
    lines = [
        "# Measures",
        "",
        "Evidence decides whether a bicluster is supported; everything else on this page is shown beside it, for those who know",
        "the measure. `bivaluate metrics KEY` prints formula, invariances and degenerate cases of one of them.",
    ]
    for level in ("bicluster", "solution"):
        lines += [
            "",
            f"## Of a {level}",
            "",
            "| key | measure | better | range | what it says |",
            "|---|---|---|---|---|",
        ]
        for metric in METRICS.values():
            if metric.level == level:
                low, high = (INFINITY.get(bound, f"{bound:g}") for bound in metric.range)
                lines.append(
                    f"| `{metric.key}`{'' if not metric.default else ' ●'} | {metric.symbol}, {metric.name} "
                    f"| {ARROWS[metric.direction]} | {low} … {high} | {metric.summary} *{metric.reference}* |"
                )
        lines += ["", *(f"- {m.symbol}: ${m.formula}$" for m in METRICS.values() if m.level == level and m.formula)]
    lines += [
        "",
        "● computed by default.",
        "",
        "## Against a known truth",
        "",
        "`bivaluate compare TRUTH FOUND...`; high is better for all of them.",
        "",
        "| key | measure | range | what it says |",
        "|---|---|---|---|",
    ]
    for measure in EXTERNAL.values():
        low, high = (INFINITY.get(bound, f"{bound:g}") for bound in measure.range)
        lines.append(f"| `{measure.key}` | {measure.name} | {low} … {high} | {measure.summary} *{measure.reference}* |")
    return "\n".join([*lines, ""])


def algorithm_overview() -> str:
    """The algorithms in brief."""
    lines = ["| key | algorithm | seeks | sparse | K | what it does |", "|---|---|---|---|---|---|"]
    lines += [
        f"| `{a.key}` | {a.name} | {', '.join(a.seeks)} | {yes(a.sparse)} | {k_of(a)} | {a.summary} |"
        for a in ALGORITHMS.values()
    ]
    return "\n".join(lines)


def algorithm_table() -> str:
    """Every algorithm of the registry with what it takes, then its class and where it was published."""
    lines = ["| key | seeks | sparse | missing | negative | binary | nested | K |", "|---|---|---|---|---|---|---|---|"]
    for a in ALGORITHMS.values():
        able = " | ".join(yes(value) for value in (a.sparse, a.missing, not a.nonnegative, a.binary, a.nested))
        lines.append(f"| `{a.key}` | {', '.join(a.seeks)} | {able} | {k_of(a)} |")
    lines += ["", "Classes, the extra that brings them where the core does not, and references:", ""]
    for a in ALGORITHMS.values():
        extra = f" (extra `{a.extra}`)" if a.extra else ""
        lines.append(f"- `{a.key}`: `{a.estimator.__name__}`{extra}. {a.reference}")
    return "\n".join(lines)


def yes(value: bool) -> str:
    return "yes" if value else ""


def k_of(record: Algorithm) -> str:
    return "found" if record.finds_k else "asked for"


# Groups of `make bench` that are compared with a limit or with themselves, not with another program.
NO_PEER = ("growth", "waiting", "start")


def speed_rows() -> list[dict[str, Any]]:
    """What `make bench` measured last, but for what docs/scale.md shows."""
    rows = json.loads((ROOT / "docs" / "benchmarks.json").read_text(encoding="utf-8"))
    return [row for row in rows if row["benchmark"] != "scale"]


EARLIER = "† measured before the search for large averages and the evidence were rewritten."


def ratio_of(row: dict[str, Any]) -> str:
    """How many times as fast, marked if it was measured by an earlier version."""
    return f"{row['ratio']:.3g}{'' if row.get('measured') else ' †'}"


def speed_table() -> str:
    """The rows a newcomer would ask for."""
    rows = {(row["work"], row["peer"]): row for row in speed_rows()}
    lines = ["| work | against | times as fast |", "|---|---|---|"]
    lines += [f"| {work} | {peer} | {ratio_of(rows[work, peer])} |" for work, peer in HEADLINES if (work, peer) in rows]
    note = "Processor time of both sides in one run of `make bench`, compiled kernels warm. [All rows](docs/speed.md)."
    return "\n".join([*lines, "", f"{note} {EARLIER}" if "†" in "".join(lines) else note])


def all_speeds() -> str:
    """Every row, with what was wanted of it."""
    lines = [
        "| work | seconds | all cores | against | seconds | times as fast | wanted |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in speed_rows():
        wall = "" if row.get("all_cores") is None else f"{row['all_cores']:.3g}"
        wanted = " ".join(f"{row[key]:.3g} ({key})" for key in ("must", "goal") if row[key] is not None)
        missed = " missed" if row["reached"] == "MISSED" else ""
        lines.append(
            f"| {row['work']} | {row['our_seconds']:.3g} | {wall} | {row['peer']} | {row['peer_seconds']:.3g} "
            f"| {ratio_of(row)} | {wanted}{missed} |"
        )
    return "\n".join([*lines, *(["", EARLIER] if "†" in "".join(lines) else [])])


def scale_rows() -> list[dict[str, Any]]:
    """What `python -m benchmarks scale` measured last."""
    rows = json.loads((ROOT / "docs" / "benchmarks.json").read_text(encoding="utf-8"))
    return [row for row in rows if row["benchmark"] == "scale"]


def scale_table() -> str:
    """Ratios and memory of matrices of any size."""
    lines = ["| work | seconds | against | seconds | times as fast | wanted | |", "|---|---|---|---|---|---|---|"]
    for row in scale_rows():
        wanted = " ".join(f"{row[key]:.2g} ({key})" for key in ("must", "goal") if row[key] is not None)
        lines.append(
            f"| {row['work']} | {row['our_seconds']:.3g} | {row['peer']} | {row['peer_seconds']:.3g} "
            f"| {row['ratio']:.3g} | {wanted} | {row['note']} |"
        )
    return "\n".join(lines)


def past_one_machine() -> str:
    """What the measured cost of an entry says about 10,000,000 x 40,000 cells, 5 % filled, on 16 workers."""
    n, m, filled, K, r, c, workers = 10_000_000, 40_000, 0.05, 50, 200_000, 800, 16
    mergers, everything = (row["our_seconds"] for row in scale_rows() if row["work"].startswith("CSR"))
    measured = 1e8  # entries of the matrix of those rows
    entries = n * m * filled
    per_entry, evidence = mergers / measured, (everything - mergers) / measured
    gigabytes = 12 * entries / 1e9
    passes, more = per_entry * entries, evidence * entries
    rate = 2 * gigabytes / workers / (passes / workers)
    chunks = -(-n // (chunk_rows(m) * SPARSE_CHUNKS_LONGER))
    sums, tasks = 8 * K * m / 1e6, min(MOST_TASKS, chunks)
    patterns = K * (K * c + K * c)
    return f"""{n:,} × {m:,} in CSR, {filled:.0%} filled: {entries:.0e} entries, {gigabytes:,.0f} GB with 8-byte values and 4-byte indices. \
K = {K} biclusters of {r:,} rows and {c} columns, on {workers} workers of one core.

- **Time.** An entry cost {1e9 * per_entry:.0f} ns above, both passes together: {entries:.0e} × {1e9 * per_entry:.0f} ns = {passes:,.0f} s of CPU, \
{passes / workers:,.0f} s on {workers} workers, if each reads {gigabytes / workers:.0f} GB twice in that time ({1e3 * rate:,.0f} MB/s). Evidence and findings cost \
{1e9 * evidence:.0f} ns more: {more:,.0f} s of CPU, {more / workers:,.0f} s on {workers} workers.
- **Memory of a worker.** A chunk is {chunk_rows(m) * SPARSE_CHUNKS_LONGER} rows ({12 * chunk_rows(m) * SPARSE_CHUNKS_LONGER * m * filled / 1e6:.0f} MB), its sums K·m numbers ({sums:.0f} MB), the patterns of \
mergers {patterns:.0e} numbers, {28 * patterns / 1e6:.0f} MB with what orders them, 16 MB at a time.
- **Network.** {chunks:,} chunks are read in {tasks} tasks; each sends sums of {sums:.0f} MB at most once to the worker that adds eight of them up: \
{tasks * sums / 1e3:.1f} GB in all, {sums:.0f} MB to the client. The matrix does not travel. A Dask array of small blocks sends as much for each block: \
blocks of 10,000 rows, {n // 10_000 * sums / 1e3:.0f} GB. **This term breaks first**; it grows with K·m, not with the rows.
- **Blocks of biclusters.** {r:,} × {c} values are {8 * r * c / 1e9:.1f} GB as a dense array: more than a chunk, so evidence looks at them \
{chunk_rows(c):,} rows at a time, where they are, and gets sums and {r + c:,} numbers for each look.
- **What does not go this far.** Genes × cells of a file that stores cells × genes: rows have to lie together, and the entries of a sparse \
file are sorted first: in memory up to 2 GB (or `--memory`), by way of temporary files beyond that, which takes another 16 bytes an entry on the disk. Score cells × genes (`obs_rows=True`, `--transpose`), or store it by genes once."""


def replication_sentence() -> str:
    """How many of the paper's claims the last full replication reproduced."""
    counts = replication_headline(ROOT / "docs" / "replication").partition(" (")[0]
    rest = "the others are reproduced in part, undecided, or cannot be tested"
    again = "`bivaluate replicate --full` runs the whole paper again"
    return f"{counts}; {rest} ([which, and why](docs/REPLICATION.md)). {again}."


def benchmark_sentence() -> str:
    """What the benchmark says, from its page."""
    _, answer, written = (ROOT / "docs" / "benchmark.md").read_text(encoding="utf-8").split("\n\n")[:3]
    size, noise = re.search(r"printed here\. (.*?) \(", written), re.search(r"(\d+) noise", written)
    assert size is not None
    assert noise is not None
    with (ROOT / "docs" / "benchmark" / "measures.csv").open(encoding="utf-8") as file:
        over_k = {row["measure"]: float(row["k"] or "nan") for row in csv.DictReader(file)}
    weak = f"Between the K of one algorithm it hardly tells better from worse ({over_k['total_evidence']:.2f}"
    weak += f"; supported coverage {over_k['supported_coverage']:.2f}), but [planted K are found](docs/choosing.md)."
    return f"{answer} {weak} ({size[1]}, {noise[1]} of them noise; [all of it](docs/benchmark.md).)"


LIBRARIES = {"HDF5", "Parquet", "rds", "zarr"}  # files that C libraries read


def attack_table() -> str:
    """What the recorded attack came to, by mode and class of files."""
    lines = ["| mode | files | tries | refused | read | library failed | failures |", "|---|---|---|---|---|---|---|"]
    for mode, classes in json.loads((ROOT / "docs" / "attack.json").read_text(encoding="utf-8")).items():
        total = collections.Counter()
        for ends in classes.values():
            total.update(ends)
        for kind, ends in [*sorted(classes.items()), ("all", total)]:
            known = (LIBRARIES if kind == "all" else {kind} & LIBRARIES) if mode == "ordinary" else ()
            died = sum(classes.get(one, {}).get(what, 0) for one in known for what in ("died", "hung", "memory"))
            tries, refused, read = sum(ends.values()), ends.get("refused", 0), ends.get("value", 0)
            numbers = (tries, refused, read, died, tries - refused - read - died)
            lines.append(f"| {mode} | {kind} | " + " | ".join(f"{n:,}" for n in numbers) + " |")
    return "\n".join(lines)


def coverage_sentence() -> str:
    """What `make coverage` measured last."""
    how = "every test once, and every kernel on small data with compilation switched off, so that kernels count too"
    measured = ROOT / "docs" / "coverage.json"
    if not measured.exists():
        return f"`make coverage` measures which statements the tests run ({how}) and writes the figure here."
    found = json.loads(measured.read_text(encoding="utf-8"))
    return (
        f"The tests run {found['percent_covered']:.1f} % of {found['num_statements']:,} statements (`make coverage`: {how}; "
        "what other processes run is not counted)."
    )


def format_table(kind: str) -> str:
    """Every format of matrices, or of solutions, from its record."""
    count = ["numbers count from"] if kind == "solution" else []
    headings = ["key", "files", "written too", *count, "notes"]
    lines = ["| " + " | ".join(headings) + " |", "|" + "---|" * len(headings)]
    for record in describe_formats():
        if record["kind"] == kind:
            extensions = ", ".join(f"`{extension}`" for extension in record["extensions"])
            written = ("yes" + (f", {extensions}" if extensions else "")) if record["written"] else ""
            needs = f"`pip install {record['needs']}`; " if record["needs"] else ""
            base = [] if record["index_base"] is None else [str(record["index_base"])]
            note = f"{needs}{record['note']}".removesuffix("; ")
            cells = [f"`{record['key']}`", record["name"], written, *base, note]
            lines.append("|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|")
    return "\n".join(lines)


def api_page() -> str:
    """Every public name, for the site to fill with its docstring."""
    lines = [
        *("# API", "", "Everything is imported when it is first used: `import bivaluate` costs next to nothing."),
        "Examples assume `import numpy as np`, `import pandas as pd`, the names of this page, a 5 × 6 matrix `X` and its three biclusters `S`.",
    ]
    rooms = {
        "Scoring, choosing, showing": "",
        "Algorithms": "algorithms",
        "Data": "datasets",
        "Files": "io",
        "Gene sets": "enrichment",
        "Sweeps": "sweep",
        "Figures": "plots",
        "The benchmark": "benchmark",
    }
    for title, room in rooms.items():
        package = f"bivaluate.{room}" if room else "bivaluate"
        stub = (ROOT / "src" / "bivaluate" / room / "__init__.pyi").read_text(encoding="utf-8")
        names = (name for name in re.findall(r"import (\w+) as", stub) if name not in rooms.values())
        found = [name for name in names if callable(getattr(import_module(package), name))]
        lines += ["", f"## {title}", "", *(f"::: {package}.{name}" for name in sorted(found, key=str.lower))]
    return "\n".join(lines) + "\n"


def filled(text: str, name: str, content: str) -> str:
    """Return `text` with the part between the markers of `name` replaced."""
    return re.sub(
        rf"(<!-- generated: {name} -->\n).*?(<!-- end -->)",
        lambda match: f"{match[1]}{content}\n{match[2]}",
        text,
        flags=re.DOTALL,
    )


def score_block() -> str:
    """What `bivaluate score expression.csv solution.json` prints first."""
    import io

    from rich.console import Console

    from bivaluate import evaluate
    from bivaluate.cli import tables
    from bivaluate.datasets.example import load_example

    X, solution = load_example()
    printed = io.StringIO()
    tables.out = Console(file=printed, width=130, highlight=False, markup=False)
    tables.print_verdict(evaluate(X.called("rows", "columns"), solution).verdict, "solution")
    lines = [line.rstrip() for line in printed.getvalue().strip().splitlines()]
    return "\n".join(["```", *lines, "```"])


def glossary_page() -> str:
    """The words of verdicts, tables and pages."""
    lines = [
        "# Glossary",
        "",
        "One word per idea, on the terminal, on pages, in tables and in Python. `bivaluate metrics --glossary` prints this page.",
        "",
        "| word | meaning |",
        "|---|---|",
    ]
    return "\n".join([*lines, *(f"| {word} | {meaning} |" for word, meaning in GLOSSARY), ""])


def command_page() -> str:
    """Every command with its arguments, options and examples, from the commands themselves."""
    lines = [
        "# Command line reference",
        "",
        "`bivaluate COMMAND --help` prints the same. Exit codes: 0 done, 1 the work failed,",
    ]
    lines += ["2 wrong command or input, 130 interrupted. Where a file is named, `-` is standard input or output.", ""]
    lines += ["| command | what it does |", "|---|---|"]
    lines += [f"| [`{name}`](#{name}) | {what} |" for name, what in command_line.COMMANDS.items()]
    for name in command_line.COMMANDS:
        command = command_line._load(name)
        lines += ["", f"## {name}", ""]
        if getattr(command, "commands", None):
            lines += [(command.help or "").split("\n\n")[0].strip()]
            for part, inner in command.commands.items():
                lines += ["", f"### {name} {part}", "", *command_lines(f"{name} {part}", inner)]
        else:
            lines += command_lines(name, command)
    return "\n".join([*lines, ""])


def command_lines(name: str, command: Any) -> list[str]:
    """Return the usage, the help and the options of one command."""
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and not p.hidden and p.name != "help"]
    shown = " ".join(
        (p.metavar or p.name or "").upper().replace("_", "-") + ("..." if p.nargs == -1 else "") for p in arguments
    )
    lines = [f"`bivaluate {name}{f' {shown}' if shown else ''}{' [OPTIONS]' if options else ''}`", ""]
    lines += [re.sub(r"^  +", "", command.help or "", flags=re.MULTILINE).strip(), ""]
    if options:
        lines += ["| option | what it does |", "|---|---|"]
        for p in options:
            words = ", ".join(f"`{word}`" for word in [*p.opts, *p.secondary_opts])
            lines.append(f"| {words} | {(p.help or '').replace('|', '/')} |")
    return lines


#: Kinds of data, the patterns that matter in them and what a method must take.
KINDS: tuple[tuple[str, str, Any], ...] = (
    (
        "expression of genes (microarray, log RNA-seq)",
        "values of both signs, dense",
        lambda a: not a.nonnegative and not a.binary,
    ),
    ("counts of single cells, ratings", "sparse, non-negative, mostly zero", lambda a: a.sparse and not a.binary),
    ("documents x words", "sparse counts", lambda a: a.sparse and "dense" in a.seeks),
    ("presence and absence, zeros and ones", "binary", lambda a: a.binary or "ones" in a.seeks),
    ("tables with gaps", "missing values", lambda a: a.missing),
)


def data_table() -> str:
    """Which algorithms take which kind of data."""
    lines = ["| your data | what that means | algorithms that take it |", "|---|---|---|"]
    for kind, means, fits in KINDS:
        lines.append(f"| {kind} | {means} | {', '.join(f'`{a.key}`' for a in ALGORITHMS.values() if fits(a))} |")
    return "\n".join(lines)


Shares = dict[str, list[float]]


def _elsewhere() -> dict[str, Any]:
    """What `python -m benchmarks.elsewhere` wrote: number, P(p <= .05), P(p <= .2), P(q <= .05) of all and by algorithm."""
    return dict(json.loads((ROOT / "docs" / "elsewhere.json").read_text(encoding="utf-8")))


def elsewhere_summary() -> str:
    """What was measured of confirm, recur and traits, in short."""
    found = _elsewhere()
    parts = ("calibration", "repeats", "planted", "halves", "small")
    chance, repeats, planted, halves, small = (found[part] for part in parts)
    few = small["surrogates"]["all"]
    each = [row[1] for name, row in chance.items() if name != "all"]
    as_is, centred = repeats["as they are"], repeats["rows centred"]
    without, mixed = planted["not kept"]["all"], planted["not kept, mixed"]["all"]
    absent = int(without[0] + mixed[0])
    right, noise = (
        [row for name, row in found["recur"].items() if name.endswith("noise") == kind] for kind in (False, True)
    )
    (real, permuted) = (found["traits"][kind]["all"] for kind in ("real", "permuted"))
    of_noise = halves["surrogates"]["all"]
    return "\n".join(
        [
            f"- **Confirm, calibration**: of {chance['all'][0]:,} biclusters found in surrogates of yeast series and judged in real series,",
            f"  {_pct(chance['all'][1])} have p ≤ 0.05 ({_pct(chance['all'][2])} p ≤ 0.2); each of {len(each)} algorithms is between "
            f"{_pct(min(each))} and {_pct(max(each))}. With 150 rows",
            f"  {_pct(few[1])} of {few[0]:,} have p ≤ 0.05, and a planted block of 20 rows is confirmed in "
            f"{', '.join(_pct(rows['all'][3]) for rows in small['planted'].values())} of pairs with {', '.join(small['planted'])} rows.",
            f"- **Confirm, true repeats** (heat shock, YPD, DTT; both directions): {_pct(as_is['all'][3])} of {as_is['all'][0]} biclusters are "
            f"confirmed, {_pct(centred['all'][3])} of",
            f"  {centred['all'][0]} when the mean of each row is taken off first; of sets of equally active rows outside, "
            f"{_pct(as_is['controls'])} would be, which may be",
            "  co-regulation that the biclusters missed.",
            f"- **Confirm, planted**: {_pct(planted['kept']['all'][3])} of {planted['kept']['all'][0]} biclusters of modules that B has are confirmed, and "
            f"{_pct((without[0] * without[3] + mixed[0] * mixed[3]) / absent)} of {absent} of",
            f"  modules that B does not have ({_pct(without[3])} of the {without[0]} that hold fewer than three rows of a module that B has).",
            f"- **Confirm, halves** (PBMC and six cancer sets): {_pct(halves['real']['all'][3])} of {halves['real']['all'][0]} biclusters are confirmed; of "
            f"{of_noise[0]:,} of surrogates",
            f"  {_pct(of_noise[1])} have p ≤ 0.05 and {_pct(of_noise[3])} are confirmed.",
            f"- **Recur**: exactly the four planted programs in {sum(r[0] for r in right)} of {sum(r[1] for r in right)} runs (NMF and LAS, three "
            f"strengths, K = 5 and 8); a group in {sum(r[0] for r in noise)} of {sum(r[1] for r in noise)} runs",
            "  on noise.",
            f"- **Traits**: {_pct(real[3])} of {real[0]} biclusters of twelve cancer data sets match a class of samples at q ≤ 0.05; with permuted labels",
            f"  {_pct(permuted[3])} of {permuted[0]:,} do, and {_pct(permuted[1])} have p ≤ 0.05.",
        ]
    )


def _pct(share: float) -> str:
    return f"{100 * share:.3g} %"


def elsewhere_tables() -> str:
    """The same by algorithm."""
    found = _elsewhere()
    parts: dict[str, Shares] = {
        "surrogates of series": found["calibration"],
        "the same, 150 rows": found["small"]["surrogates"],
        "repeats": found["repeats"]["as they are"],
        "repeats, rows centred": found["repeats"]["rows centred"],
        "modules that B has": found["planted"]["kept"],
        "modules that B has not": found["planted"]["not kept"],
        "the same, mixed": found["planted"]["not kept, mixed"],
        "halves": found["halves"]["real"],
        "halves of surrogates": found["halves"]["surrogates"],
        "traits": found["traits"]["real"],
        "traits, permuted": found["traits"]["permuted"],
    }
    lines = ["| data | algorithm | biclusters | p ≤ 0.05 | p ≤ 0.2 | q ≤ 0.05 |", "|---|---|---|---|---|---|"]
    for name, shares in parts.items():
        for algorithm, row in shares.items():
            if algorithm != "controls":
                lines.append(
                    f"| {name} | {algorithm} | {row[0]:,} | {' | '.join(f'{value:.3f}' for value in row[1:])} |"
                )
    lines += ["", "| programs over samples | runs | exactly right, or a group in noise |", "|---|---|---|"]
    lines += [f"| {name} | {runs} | {right} |" for name, (right, runs) in found["recur"].items()]
    return "\n".join(lines)


def formulas() -> str:
    """The formulas of measures as the page shows them, MathML by LaTeX."""
    from latex2mathml.converter import convert

    rendered = {m.formula: convert(m.formula, display="block") for m in RECORDS.values() if m.formula}
    return json.dumps(rendered, indent=0, ensure_ascii=False) + "\n"


def documents() -> dict[Path, str]:
    """Every generated file and its content."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    readme = re.sub(r"\b\d+ in all\)", f"{len(RECORDS) + len(EXTERNAL)} in all)", readme)
    readme = re.sub(r"\[\d+ formats\]", f"[{len(describe_formats())} formats]", readme)
    readme = filled(readme, "score", score_block())
    readme = filled(readme, "speed", speed_table())
    speed = filled((ROOT / "docs" / "speed.md").read_text(encoding="utf-8"), "speed", all_speeds())
    readme = filled(readme, "replication", replication_sentence())
    readme = filled(readme, "benchmark", benchmark_sentence())
    formats = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    for kind in ("matrix", "solution"):
        formats = filled(formats, f"{kind} formats", format_table(kind))
    page = (ROOT / "docs" / "algorithms.md").read_text(encoding="utf-8")
    page = filled(page, "algorithms", algorithm_table())
    which = (ROOT / "docs" / "which_algorithm.md").read_text(encoding="utf-8")
    which = filled(filled(which, "data", data_table()), "algorithms", algorithm_overview())
    page = filled(page, "patterns", "\n".join(f"- *{name}*: {meaning}." for name, meaning in PATTERNS.items()))
    scale = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    scale = filled(scale, "measured", scale_table())
    scale = filled(scale, "past one machine", past_one_machine())
    elsewhere = (ROOT / "docs" / "elsewhere.md").read_text(encoding="utf-8")
    elsewhere = filled(filled(elsewhere, "measured", elsewhere_summary()), "by algorithm", elsewhere_tables())
    reliability = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    reliability = filled(reliability, "coverage", coverage_sentence())
    reliability = filled(reliability, "attack", attack_table())
    return {
        ROOT / "README.md": readme,
        ROOT / "docs" / "algorithms.md": page,
        ROOT / "docs" / "which_algorithm.md": which,
        ROOT / "docs" / "api.md": api_page(),
        ROOT / "docs" / "cli.md": command_page(),
        ROOT / "docs" / "glossary.md": glossary_page(),
        ROOT / "docs" / "measures.md": measure_pages(),
        ROOT / "docs" / "formats.md": formats,
        ROOT / "docs" / "scale.md": scale,
        ROOT / "docs" / "speed.md": speed,
        ROOT / "docs" / "reliability.md": reliability,
        ROOT / "docs" / "elsewhere.md": elsewhere,
        ROOT / "src" / "bivaluate" / "report" / "static" / "formulas.json": formulas(),
    }


def main() -> None:
    stale = []
    for path, content in documents().items():
        if not path.exists() or path.read_text(encoding="utf-8") != content:
            stale.append(path.relative_to(ROOT))
            if "--check" not in sys.argv:
                path.write_text(content, encoding="utf-8")
    if "--check" in sys.argv and stale:
        sys.exit(f"out of date: {', '.join(map(str, stale))}; run `make docs`")


if __name__ == "__main__":
    main()

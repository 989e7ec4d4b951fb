"""How commands print: results to standard output, everything else to standard error; every table the same way.

Square brackets in names and paths are printed as they are, never read as markup.
"""

import functools
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from bivaluate import _text
from bivaluate._errors import ParameterError
from bivaluate._files import as_text, text_target, write_whole
from bivaluate.cli._types import Verdict
from bivaluate.cli.files import is_stream

Records = Sequence[Mapping[Any, Any]]
WIDE = 200  # columns of a table that goes into a file
EVERY = 15.0  # seconds between two lines on how much is done, in a log

out = Console(highlight=False, markup=False, emoji=False)
if not out.is_terminal and "COLUMNS" not in os.environ:
    out.width = WIDE
err = Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)


def number(value: float | None, digits: int = 4) -> str:
    """Return a number for a table: four significant digits, a dash for undefined."""
    if value is None or value != value:
        return "–"
    if isinstance(value, int):
        return str(value)
    text = f"{value:.0f}" if 1e4 <= abs(value) < 1e9 else f"{value:.{digits}g}"
    return f"−{text[1:]}" if text.startswith("-") else text


def with_error(value: float | None, error: float | None, digits: int = 4, of_error: int = 4) -> str:
    """Return a value with its error, where that is known."""
    return number(value, digits) + ("" if error is None or error != error else f" ± {number(error, of_error)}")


def percentage(share: float | None) -> str:
    """Return a share in per cent for a table: three significant digits."""
    return "–" if share is None or share != share else f"{_text.number(100 * share)} %"


def score_text(key: str, value: float | None) -> str:
    """Return the value of a measure for a table, in per cent where its record says so."""
    from bivaluate.registry import RECORDS

    return percentage(value) if key in RECORDS and RECORDS[key].percent else number(value)


def heading(key: str) -> str:
    """Return the symbol of a measure and which way is better."""
    from bivaluate.registry import RECORDS

    metric, arrows = RECORDS[key], {"low": "↓", "high": "↑", "none": ""}
    return ("K" if key == "n_biclusters" else metric.symbol) + arrows[metric.direction]


def best_first(key: str, values: Sequence[float | None]) -> list[int]:
    """Return the order that puts the best value first and undefined ones last."""
    from bivaluate.judge.choice import high_is_better

    sign = -1.0 if high_is_better(key) else 1.0
    known = [math.inf if v is None or math.isnan(v) else sign * v for v in values]
    return sorted(range(len(known)), key=known.__getitem__)


def print_table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], title: str = "", of: str = "", only: int | None = None
) -> None:
    """Print a table without lines, nothing cut; LaTeX has `only` its first columns, its name in an empty corner."""
    from rich.table import Table

    cells = [list(row) for row in rows]
    if (collected := _collected.get()) is not None:
        collected.append(latex_table(headings[:only], [row[:only] for row in cells], of or title))
    table = Table(box=None, pad_edge=False, header_style="bold", title=title or None, title_justify="left")
    total = 2 * (len(headings) - 1)
    for column, name in enumerate(headings):
        texts = [name, *(row[column] for row in cells)]
        numeric = column > 0 and all(text[:1] in "–−-+0123456789" for text in texts[1:])
        whole = numeric or column == 0
        least = max(len(word) for text in texts for word in ([text] if whole else text.split() or [""]))
        table.add_column(name, justify="right" if numeric else "left", no_wrap=whole, min_width=least)
        total += least
    for row in cells:
        table.add_row(*row)
    table.width = total if total > out.width else None
    out.print(table, crop=False)


def print_records(shown: Mapping[str, str], records: Sequence[Mapping[Any, Any]]) -> None:
    """Print what records hold under some keys, by the heading of each; keys that no record has are left out."""

    def text(value: Any) -> str:
        return number(value) if isinstance(value, (int, float)) else str(value) or "–"

    keys = [key for key in shown if records and key in records[0]]
    print_table([shown[key] for key in keys], [[text(record[key]) for key in keys] for record in records])


#: What commands that may take long do; `command` is the one that is running.
LONG = {
    "find": "fitting the algorithms that suit the data, and judging their solutions",
    "run": "searching for biclusters",
    "sweep": "fitting and scoring what the plan names",
    "benchmark": "fitting algorithms to data with a known truth",
    "replicate": "repeating the experiments of the paper",
    "confirm": "judging the biclusters in the other data",
    "recur": "grouping the biclusters of all samples",
    "refine": "refining the biclusters one at a time",
}
command: ContextVar[str] = ContextVar("command", default="")
_collected: ContextVar[list[str] | None] = ContextVar("collected", default=None)
_TEX = str.maketrans(
    {**{mark: f"\\{mark}" for mark in "&%$#_{}"}, "\\": r"\textbackslash{}", "~": r"\textasciitilde{}"}
    | {"^": r"\textasciicircum{}", "↑": r"$\uparrow$", "↓": r"$\downarrow$", "–": "--", "−": "$-$", "×": r"$\times$"}
    | {"±": r"$\pm$", "≥": r"$\ge$", "≤": r"$\le$", "…": r"\dots{}", "•": r"\textbullet{}", "Σ": r"$\Sigma$"}
    | {"²": "$^2$", "ρ": r"$\rho$"}
)


@contextmanager
def latex_tables(path: Path) -> Iterator[None]:
    """Write every table that is printed meanwhile to a LaTeX file."""
    collected: list[str] = []
    token = _collected.set(collected)
    try:
        yield
    finally:
        _collected.reset(token)
        if collected:
            write_whole(path, "% needs \\usepackage{booktabs}\n" + "\n".join(collected))
            say_written(path)
    if not collected:
        raise ParameterError("latex is given, but no table is printed here: leave out --json.")


def latex_table(headings: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> str:
    r"""Return a table in LaTeX with the rules of booktabs; the best of what has a direction is bold.

    >>> print(latex_table(["solution", "NVE↓"], [["a_1", "0.5"], ["b", "0.25"]]))
    \begin{tabular}{lr}
    \toprule
    solution & NVE$\downarrow$ \\
    \midrule
    a\_1 & 0.5 \\
    b & \textbf{0.25} \\
    \bottomrule
    \end{tabular}
    <BLANKLINE>
    """
    columns, ahead = range(1, 1 if "verdict" in headings else len(headings)), headings[0][-1:]  # biclusters do not vie
    bold = {(i, j) for j in columns for i in _best([row[j] for row in rows], headings[j][-1:])}
    for i, row in enumerate(rows):
        bold |= {(i, j + 1) for j in _best(list(row[1:]), row[0][-1:] if row[0][-1:] in "↑↓" else ahead)}
    numeric = [j > 0 and all(row[j][:1] in "–−-+0123456789" for row in rows) for j in range(len(headings))]
    shown = [[text.translate(_TEX) for text in row] for row in rows]
    for i, j in bold:
        shown[i][j] = rf"\textbf{{{shown[i][j]}}}"
    sides = "".join("lr"[is_right] for is_right in numeric)
    title = " ".join(title.split())
    lines = [*([f"% {title}"] if title and headings[0] else []), rf"\begin{{tabular}}{{{sides}}}"]
    heads = [headings[0] or title, *headings[1:]]
    lines += [r"\toprule", " & ".join(text.translate(_TEX) for text in heads) + r" \\", r"\midrule"]
    lines += [" & ".join(row) + r" \\" for row in shown]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _best(texts: Sequence[str], direction: str) -> list[int]:
    """Return where the best of several numbers stands; nowhere without a direction, or if all are the same."""
    found = {}
    for place, text in enumerate(texts):
        with suppress(ValueError, IndexError):
            found[place] = float(text.split()[0].rstrip("%").replace(",", "").replace("−", "-"))
    if direction not in ("↑", "↓") or len(set(found.values())) < 2:
        return []
    best = (max if direction == "↑" else min)(found.values())
    return [place for place, value in found.items() if value == best]


def print_list(title: str, sentences: Sequence[str]) -> None:
    """Print sentences under a title, if there are any; one with a command is not broken into lines, to be copied."""
    if sentences:
        out.print(f"\n{title}", style="bold")
        for sentence in sentences:
            out.print(f"  • {sentence}", soft_wrap="`" in sentence)


def print_traits(table: Any, of: str = "") -> None:
    """Print which biclusters share a trait, in words; nothing without annotations."""
    from bivaluate.elsewhere.traits import describe_traits

    if table is not None and len(table):
        samples = table.attrs["samples"]
        what = f"the {samples} of {of}" if of else f"their {samples}"
        none = "no annotation (q ≤ 0.05)" if table["p"].notna().any() else "no annotation could be asked about"
        print_list(f"What {what} share", describe_traits(table) or [none])
        print_notes(table.attrs["notes"])


def print_notes(notes: Iterable[str]) -> None:
    """Print remarks on the work to standard error."""
    for note in notes:
        err.print(f"note: {note}")


def print_json(document: Any) -> None:
    """Print a document as JSON; undefined is null."""
    import json

    typer.echo(json.dumps(_text.defined(document), indent=2))


def write_csv(path: Path, rows: Records, columns: Sequence[str] = ()) -> None:
    """Write rows as a CSV file and say so; undefined is an empty cell."""
    import csv

    def shown(value: Any) -> Any:
        return "" if value is None or value != value else as_text(value) if isinstance(value, str) else value

    with text_target(path) as file:
        writer = csv.DictWriter(file, list(rows[0]) if rows else list(columns), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({key: shown(value) for key, value in row.items()})
    say_written(path)


def give(rows: Records, document: Any, csv: Path | None, as_json: bool, columns: Sequence[str] = ()) -> bool:
    """Write a table as CSV and print a document as JSON where each was asked for; return whether JSON was."""
    if csv is not None:
        write_csv(csv, rows, columns)
    if as_json:
        print_json(document)
    return as_json


def say_written(path: Path, more: str = "") -> None:
    """Say which file was written; nothing where it goes to standard output."""
    if not is_stream(path):
        err.print(f"wrote {path}{more}")


@contextmanager
def progress(name: str = "", in_bytes: bool = False) -> Iterator[Callable[..., None] | None]:
    """Give update(name, done, total, note) that shows one bar per name; with a name, update(done, total, note).

    Where standard error is no terminal it gives None; a long command says what it does, now and then how much of it is
    done, and how long it took.
    """
    if not err.is_terminal:
        start, doing = time.perf_counter(), LONG.get(command.get(), "")
        if doing:
            err.print(f"{doing} …")
        said = start

        def tell(name: str, done: int, total: int | None, note: str = "") -> None:
            nonlocal said
            if total and time.perf_counter() - said >= EVERY:
                said = time.perf_counter()
                err.print(f"{name}: {done:,} of {total:,}")

        yield (functools.partial(tell, name) if name else tell) if doing else None
        if doing:
            err.print(f"done after {time.perf_counter() - start:.1f} s")
        return
    from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    count = DownloadColumn() if in_bytes else MofNCompleteColumn()
    shown = (TextColumn("{task.description}"), BarColumn(), count, TextColumn("{task.elapsed:.0f} s"))
    with Progress(*shown, TimeRemainingColumn(), TextColumn("{task.fields[note]}"), console=err, transient=True) as bar:
        tasks: dict[str, Any] = {}

        def update(name: str, done: int, total: int | None, note: str = "") -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=total, completed=max(done - 1, 0), note="")
            bar.update(tasks[name], completed=done, total=total, note=note)

        yield functools.partial(update, name) if name else update


MOST_ROWS = 20


def print_verdict(verdict: Verdict, name: str = "", more: Mapping[str, Sequence[str]] | None = None) -> None:
    """Print headline, reason and one line per bicluster, with more columns by heading; notes and steps are left out."""
    from bivaluate.judge.verdict import columns

    start = f"{name}: " if name else ""
    out.print(f"\n{start}{verdict.headline}", style="bold")
    if verdict.reason:
        out.print(verdict.reason)
    shown = columns(verdict) | dict(more or {})
    if rows := list(zip(*shown.values(), strict=True)):
        print_table(list(shown), rows[:MOST_ROWS], of=name)
    if len(verdict.biclusters) > MOST_ROWS:
        out.print(f"… and {len(verdict.biclusters) - MOST_ROWS} more: --biclusters lists all of them.", style="dim")

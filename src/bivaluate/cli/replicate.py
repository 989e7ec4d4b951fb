"""`bivaluate replicate`: the whole paper with one command."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bivaluate.cli.console import err, out

if TYPE_CHECKING:
    from bivaluate.replicate.run import Progress, Replication


def replicate(
    folder: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for everything; finished work in it is kept.")
    ] = Path("replication"),
    full: Annotated[
        bool, typer.Option("--full", help="Everything: 20 seeds of the scenarios, 17 yeast matrices over 10 seeds.")
    ] = False,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", help="Worker processes. [one per core]", show_default=False)
    ] = None,
) -> None:
    """Reproduce the NVE paper: its tables, its figures, and a verdict on each of its claims.

    The quick form takes under two minutes; the full one minutes. Without a network the yeast part is left out.
    Stopped at any moment, the same command goes on where it was.

    Examples:

    - `bivaluate replicate --out replication`
    - `bivaluate replicate --full --out replication --jobs 4`
    """
    from bivaluate.replicate.run import replicate as run_replication

    with _progress() as progress:
        result = run_replication(folder, full=full, jobs=jobs or os.cpu_count() or 1, progress=progress)
    _summarise(result)


@contextmanager
def _progress() -> Iterator[Progress | None]:
    """Show one bar per sweep if someone is watching."""
    if not err.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        tasks: dict[str, int] = {}

        def update(name: str, done: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=total)
            bar.update(tasks[name], completed=done)  # type: ignore[arg-type]

        yield update


def _summarise(result: Replication) -> None:
    from collections import Counter

    from bivaluate.replicate.verdict import VERDICTS

    counts = Counter(outcome.verdict for outcome in result.outcomes)
    words = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS)
    for note in result.notes:
        err.print(note, markup=False)
    out.print(f"{len(result.outcomes)} checks of the paper's claims: {words}")
    out.print(f"verdicts: {result.document}", soft_wrap=True, markup=False)
    out.print(f"tables and figures: {result.folder / 'replication'}", soft_wrap=True, markup=False)
    out.print(f"report: {result.report}", soft_wrap=True, markup=False)

"""`bivaluate check`: is a run folder whole?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bivaluate._text import plural


def check(folder: Annotated[Path, typer.Argument(metavar="RUN", help="The run folder of a sweep.")]) -> None:
    """Verify a run folder: journal, checksums of matrices, solutions, tables. Nothing is changed.

    Examples:

    - `bivaluate check run`
    """
    from bivaluate._errors import RunError
    from bivaluate.sweep.again import continue_command
    from bivaluate.sweep.check import check_run
    from bivaluate.sweep.load import load_run

    found = check_run(folder)
    for fault in found:
        typer.echo(f"  • {fault}")
    if found:
        raise RunError(f"{folder} is not whole: {plural(len(found), 'fault')}, listed above.")
    run = load_run(folder)
    cells = f"{len(run.cells) - len(run.missing)} of {plural(len(run.cells), 'cell')} finished"
    if not run.missing and not run.missing_copies:
        typer.echo(f"{folder} is whole: {cells}.")
        return
    copies = f", {plural(run.missing_copies, 'cell')} on surrogates not" if run.missing_copies else ""
    typer.echo(f"{folder}: nothing is damaged, but the run is not finished ({cells}{copies}). Continue it with")
    typer.echo(f"  {continue_command(run)}")

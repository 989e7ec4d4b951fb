"""`bivaluate replicate`: the whole paper with one command."""

from pathlib import Path
from typing import Annotated

from bivaluate.cli.options import Jobs, option
from bivaluate.cli.tables import err, out, progress


def replicate(
    folder: Annotated[Path, option("Folder; finished work in it is kept.", "--out", "-o")] = Path("replication"),
    full: Annotated[bool, option("20 seeds of the scenarios, 17 yeast matrices over 10 seeds.", "--full")] = False,
    jobs: Jobs = None,
) -> None:
    """Reproduce the NVE paper: its tables, its figures, and a verdict on each of its claims.

    The quick form takes under two minutes; the full one takes longer. Without a network the yeast part is left out.
    If it is stopped, the same command continues where it left off.

    Examples:

    - `bivaluate replicate --out replication`
    - `bivaluate replicate --full --out replication --jobs 4`
    """
    from bivaluate._parallel import count_cores
    from bivaluate.replicate.replication import replicate as run_replication

    with progress() as update:
        result = run_replication(folder, full=full, jobs=count_cores(jobs), progress=update)
    for note in result.notes:
        err.print(note)
    for sentence in result.words:
        out.print(sentence)
    out.print(f"verdicts: {result.document}", soft_wrap=True)
    out.print(f"tables and figures: {result.folder / 'replication'}", soft_wrap=True)
    out.print(f"report: {result.report}", soft_wrap=True)

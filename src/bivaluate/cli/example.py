"""`bivaluate example`: files to try every other command on."""

from pathlib import Path
from typing import Annotated

import typer

from bivaluate.cli.tables import out


def example(folder: Annotated[Path, typer.Argument(help="Folder to write to; it need not exist.")] = Path()) -> None:
    """Write a small matrix and biclusters of it, and say what to type next.

    Examples:

    - `bivaluate example`
    - `bivaluate example trial`
    """
    from bivaluate.datasets import load_example, write_example

    genes, conditions = load_example()[0].shape
    matrix, solution, blocks, sets, samples = (str(path) for path in write_example(folder))
    wrote = f"wrote {matrix} ({genes} genes x {conditions} conditions), {solution} and {blocks} (biclusters of it)"
    out.print(f"{wrote}, {sets} (gene sets), {samples} (what is known of the conditions). Try:", soft_wrap=True)
    for line in (
        f"bivaluate score {matrix} {solution}",
        f"bivaluate find {matrix} -o found.json",
        f"bivaluate prune {matrix} {solution}",
        f"bivaluate score {matrix} {solution} {blocks} --report page.html",
        f"bivaluate enrich {solution} --matrix {matrix} --sets {sets}",
        f"bivaluate traits {solution} --matrix {matrix} --annotations {samples}",
    ):
        out.print(f"  {line}", soft_wrap=True)

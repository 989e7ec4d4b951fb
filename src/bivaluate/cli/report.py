"""`bivaluate report`: turn a run folder into one HTML page."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from bivaluate._errors import ParameterError, RunError
from bivaluate.cli.options import AnnotationFile, GeneSetFile, OwnMeasures, chosen_metrics, grouped, option
from bivaluate.cli.tables import say_written


@grouped
def report(
    run: Annotated[Path, typer.Argument(help="The folder of a sweep or of a replication.")],
    gene_sets: GeneSetFile,
    annotations: AnnotationFile,
    target: Annotated[Path, option("The HTML file to write.", "--out", "-o")] = Path("report.html"),
    by: Annotated[str | None, option("The measure that chooses the winner (default: total_evidence).")] = None,
    own: OwnMeasures = None,
    title: Annotated[str | None, option("Heading of the page (default: named after the data).")] = None,
) -> None:
    """Turn a sweep into one HTML page: the verdict on top, then tables, curves and pictures.

    The page is one file that needs no network; the tables it shows are also written beside it, as CSV files. An
    unfinished run is shown as far as it got. With gene sets, every solution that is drawn says what its genes share.

    Examples:

    - `bivaluate report run -o report.html`
    - `bivaluate report run --by avg_ve`
    - `bivaluate report run --go sgd`
    - `bivaluate report run --title "Yeast, seventeen matrices"`
    """
    if os.path.isfile(run):
        instead = f"bivaluate score MATRIX {run} --report {target}"
        raise RunError(f"{run} is a file, not a run folder. For a report on solutions: {instead}")
    chosen_metrics(None, own)  # known from here on
    looked_up = gene_sets.for_report(target)
    if _is_replication(run):
        from bivaluate.replicate.replication import report_again

        if by is not None or looked_up:
            raise ParameterError(
                f"{run} is a replication: --by, --sets and --go are for one of its runs, the folders in {run / 'runs'}."
            )
        written = report_again(run, target, title)
    else:
        from bivaluate.report import build_report
        from bivaluate.report.source import read_source

        source = read_source(run)
        if annotations.annotations is not None:
            from bivaluate.report.elsewhere import annotated

            source = annotated(source, annotations.test(run))
        written = build_report(source, target, title, by=by, **looked_up)
    say_written(written)


def _is_replication(folder: Path) -> bool:
    """Whether a folder was made by `bivaluate replicate`."""
    if not os.path.isdir(folder / "runs"):  # most are not, which is told without loading what makes one
        return False
    from bivaluate.replicate.replication import is_replication

    return is_replication(folder)

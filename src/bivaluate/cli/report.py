"""`bivaluate report`: turn a run folder into one HTML page."""

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from bivaluate._errors import RunError
from bivaluate.cli._types import Biclustering, Matrix
from bivaluate.cli.options import AnnotationFile, GeneSetFile, OwnMeasures, chosen_metrics, grouped, option
from bivaluate.cli.tables import progress, say_written


@grouped
def report(
    run: Annotated[Path, typer.Argument(help="The folder of a sweep.")],
    gene_sets: GeneSetFile,
    annotations: AnnotationFile,
    target: Annotated[Path, option("The HTML file to write.", "--out", "-o")] = Path("report.html"),
    by: Annotated[str | None, option("The measure that chooses the winner (default: total_evidence).")] = None,
    other: Annotated[Path | None, option("A panel: does the best solution hold in this matrix?", "--in")] = None,
    recurs: Annotated[bool, option("Group what recurs over the data sets of the run: a panel.", "--recur")] = False,
    own: OwnMeasures = None,
    title: Annotated[str | None, option("Heading of the page (default: named after the data).")] = None,
) -> None:
    """Turn a sweep into one HTML page: the verdict on top, then tables, curves and pictures.

    The page is one file that needs no network; the tables it shows are also written beside it, as CSV files. An
    unfinished run is shown as far as it got. With gene sets, every solution that is drawn says what its genes share.

    Examples:

    - `bivaluate report run -o report.html`
    - `bivaluate report run --by avg_ve -o by_ve.html --title "Chosen by coherence"`
    - `bivaluate report run -o annotated.html --sets sets.gmt --annotations samples.csv`

    With files of your own:

    - `bivaluate report run --in cohort2.csv --go sgd`
    """
    if os.path.isfile(run):
        solution = "SOLUTION" if run.suffix == ".html" else run
        instead = f"bivaluate score MATRIX {solution} --report {target}"
        raise RunError(f"{run} is a file, not a run folder. For a report on solutions: {instead}")
    chosen_metrics(None, own)  # known from here on
    looked_up = gene_sets.for_report()
    if os.path.isdir(run / "runs"):
        raise RunError(f"{run} is a replication, whose page `bivaluate replicate` writes. Its runs: {run / 'runs'}.")
    from bivaluate.datasets.named import is_name
    from bivaluate.report import build_report
    from bivaluate.report.source import read_source
    from bivaluate.sweep import load_run

    found = load_run(run)
    source, sections = read_source(found), []
    known = {name: Path(entry["source"]) for (name, _), entry in found.matrices.items()}
    described = any(path.suffix == ".h5ad" or is_name(str(path)) for path in known.values())
    asked = other is not None or recurs or annotations.annotations is not None
    if asked or described:
        from bivaluate.report.elsewhere import annotated, run_sections

        tests = {name: annotations.test(path) for name, path in known.items()}

        def test(solution: Biclustering, X: Matrix) -> Any:
            return tests[X.name](solution, X)

        source = annotated(source, test)
    if asked or (described and "ok" in {*found.results["status"]}):
        from bivaluate._parallel import count_cores
        from bivaluate.io import read_matrix

        B = None if other is None else read_matrix(other)
        with progress("repeating the search") as tell:
            sections = run_sections(found, by, test, B, recurs, jobs=count_cores(None), progress=tell)
    say_written(build_report(source, target, title, sections, by=by, **looked_up))

"""`bivaluate find`: a matrix in, the supported biclusters of the best solution out."""

import shlex
from pathlib import Path
from typing import Annotated, Any

from bivaluate._text import plural
from bivaluate.cli import options
from bivaluate.cli.files import is_stream, stem_of
from bivaluate.cli.options import option
from bivaluate.cli.tables import err, give, out, print_notes, print_traits, print_verdict, progress, say_written


@options.grouped
def find(
    matrix: options.MatrixPath,
    matrix_file: options.MatrixFile,
    annotations: options.AnnotationFile,
    algorithms: Annotated[
        str | None, option("Keys, separated by commas (default: those that fit).", "--algorithms", "-a")
    ] = None,
    time: Annotated[float | None, option("Seconds it may take, about; what is cut off is said.")] = None,
    seed: options.Seed = 0,
    n_jobs: options.Jobs = None,
    target: Annotated[Path | None, option("File (default: MATRIX.find.json).", "--out", "-o")] = None,
    report: options.Report = None,
    as_json: options.Json = False,
    csv: options.Csv = None,
) -> None:
    """Find the biclusters of a matrix, and how many there are.

    Runs the algorithms that fit the data, judges every solution by evidence, and writes the supported biclusters of the
    best one. Finding nothing is an answer. Ctrl-C keeps the best so far. What the samples of each bicluster share is
    told from annotations, or from the .obs of an .h5ad file.

    Examples:

    - `bivaluate find expression.csv -o found.json`
    - `bivaluate find expression.csv -o found.json --report page.html`
    - `bivaluate find expression.csv --time 60`
    """
    from bivaluate.cli.sweep import split_algorithms
    from bivaluate.io import write_solution
    from bivaluate.sweep.find import BICLUSTER, CANDIDATE
    from bivaluate.sweep.find import find as search

    target = target or Path(f"{stem_of(matrix)}.find.json")
    options.check_target(target)
    test = annotations.test(matrix)
    X = matrix_file.read(matrix)
    words = split_algorithms(algorithms) or "auto"
    with progress("fits") as tell:
        found = search(X, algorithms=words, random_state=seed, time=time, n_jobs=n_jobs, progress=tell)
    write_solution(found.solution, target, X=X)
    place = found.evaluation.place = (matrix_file.named(matrix), shlex.quote(str(target)))
    traits = test(found.solution, X) if found.rows else None
    verdict = found.verdict
    if traits is not None:
        from bivaluate.report.elsewhere import with_traits

        verdict = with_traits(verdict, traits)
    document: dict[str, Any] = {}
    if as_json:  # the table of candidates would import pandas
        tables = {"biclusters": found.rows, "candidates": found.candidates[list(CANDIDATE)].to_dict("records")}
        document = {"verdict": verdict.to_dict(), **tables, "notes": list(found.notes)}
        document |= {} if traits is None else {"traits": traits.to_dict("records")}
    if not give(found.rows, document, csv, as_json, BICLUSTER):
        print_verdict(verdict)
        out.print(verdict.notes[0])
        print_notes(found.notes)
        print_traits(traits)
    say_written(target, f": {plural(len(found.rows), 'bicluster')}")
    if report:
        found.report(report, traits)
        say_written(report)
    if found.rows and not as_json and not is_stream(target) and not is_stream(matrix):
        rule = " --missing omit" if found.evaluation.options.missing == "omit" else ""
        err.print(f"next: bivaluate score {' '.join(place)}{rule}")

"""`bivaluate convert`: solutions and matrices from one format into another."""

from pathlib import Path
from typing import Annotated

import typer

from bivaluate._errors import ParameterError, SolutionError
from bivaluate._text import listing, plural
from bivaluate.cli._types import Matrix
from bivaluate.cli.files import is_stream
from bivaluate.cli.options import Csv, Json, MatrixFile, MatrixOfSolutions, SolutionFile, check_target, grouped, option
from bivaluate.cli.tables import err, give, print_records, say_written


def _show_formats(as_json: bool, csv: Path | None) -> None:
    from bivaluate.io import describe_formats

    records = describe_formats()
    lines = [record | {"extensions": " ".join(record["extensions"])} for record in records]
    if give(lines, records, csv, as_json):
        return
    for f in lines:
        f |= {"written": "yes" * f["written"], "index_base": "" if f["index_base"] is None else str(f["index_base"])}
    shown = {name: name for name in ("kind", "key", "name", "extensions")}
    print_records(shown | {"written": "out", "index_base": "numbers count from"}, lines)


@grouped
def convert(
    matrix_file: MatrixFile,
    solution_file: SolutionFile,
    source: Annotated[Path | None, typer.Argument(metavar="IN", help="Solution or matrix; - for standard in.")] = None,
    target: Annotated[Path | None, typer.Argument(metavar="OUT", help="Its ending is the format; - for CSV.")] = None,
    matrix: MatrixOfSolutions = None,
    format: Annotated[str | None, option("Format to write (default: by the extension).", "--format")] = None,
    formats: Annotated[bool, option("List every format and stop; with --json or --csv, too.", "--formats")] = False,
    as_json: Json = False,
    csv: Csv = None,
) -> None:
    """Convert a solution between the formats of biclustering tools, or a matrix between file formats.

    No matrix is needed where labels stay labels and indices stay indices.

    Examples:

    - `bivaluate convert biclust.txt again.json --matrix expression.csv`
    - `bivaluate convert solution.json for_r.txt --matrix expression.csv`
    - `bivaluate convert solution.json peer.json --format biclustlib`
    - `bivaluate convert expression.csv expression.mtx`

    With files of your own:

    - `bivaluate convert results.blocks solution.json`
    """
    from bivaluate.io import write_matrix
    from bivaluate.io.solutions import is_solution

    if formats:
        _show_formats(as_json, csv)
        return
    if as_json or csv:
        raise ParameterError("--json and --csv go with --formats; OUT names the file to write.")
    if source is None or target is None:
        raise ParameterError("name a file to read and a file to write: bivaluate convert IN OUT.")
    is_matrix = matrix_file.matrix_format is not None and matrix is None
    if not is_matrix and matrix is None and solution_file.solution_format is None:
        is_matrix = not is_solution(source)
    check_target(target, format, "matrix" if is_matrix else "solution")
    if is_matrix:
        X = matrix_file.read(source)
        write_matrix(X, target, format=format)
        say_written(target, f": {X.shape[0]} x {X.shape[1]}")
        return
    if matrix is None and matrix_file.given:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in matrix_file.given)
        found = f"{options}: for a matrix only, but {source} is a solution"
        raise ParameterError(f"{found}; name its matrix with --matrix.")
    _convert_solution(source, target, None if matrix is None else matrix_file.read(matrix), solution_file, format)


def _convert_solution(source: Path, target: Path, X: Matrix | None, how: SolutionFile, format: str | None) -> None:
    from bivaluate.io.members import document_of, to_biclustering
    from bivaluate.io.solutions import read_members, write_members

    document, record = read_members(source, X, **how.given)
    if document.by == "index":
        solution = to_biclustering(document, X, str(source))
        if X is not None:
            document = document_of(solution, X)
    try:
        written = write_members(document, target, format=format)
    except SolutionError as error:
        raise error if X is not None else SolutionError(f"{error} Name it with --matrix.") from None
    by_label = document.by == "label" or document.labels
    known = [*(["index"] if document.by == "index" else []), *(["label"] if by_label else [])]
    by = listing([written.members] if written.members in known else known)
    err.print(f"read {'standard input' if is_stream(source) else source} as {record.name}")
    say_written(target, f" as {written.name}: {plural(len(document.members), 'bicluster')}, members by {by}")

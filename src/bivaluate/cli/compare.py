"""`bivaluate compare`: how close one solution comes to another."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bivaluate._errors import ParameterError, SolutionError
from bivaluate._text import plural
from bivaluate.cli.options import Csv, Json, MatrixFile, MatrixOfSolutions, SolutionFile, grouped, option
from bivaluate.cli.tables import number, out, print_json, print_table, progress, write_csv

if TYPE_CHECKING:
    from bivaluate.solution import Biclustering


@grouped
def compare(
    truth: Annotated[Path, typer.Argument(help="The truth, or any solution to compare with.")],
    found: Annotated[Path, typer.Argument(help="The solution to judge.")],
    matrix_file: MatrixFile,
    solution_file: SolutionFile,
    matrix: MatrixOfSolutions = None,
    shape: Annotated[str | None, option("Shape of their matrix, ROWSxCOLUMNS, if no file gives it.")] = None,
    truth_format: Annotated[str | None, option("Format of the truth, if not that of the solution.")] = None,
    as_json: Json = False,
    csv: Csv = None,
) -> None:
    """Compare a solution with a known truth, or two solutions with each other. High is better everywhere.

    csi, agri and the corrected measures count cells outside all biclusters, so they need the shape of the matrix:
    from the files, from --matrix or from --shape.

    Examples:

    - `bivaluate compare truth.json found.json`
    - `bivaluate compare truth.json qubic.blocks --matrix expression.csv`
    - `bivaluate compare first.json second.json --shape 300x40 --json`
    """
    from bivaluate.measures.external import EXTERNAL
    from bivaluate.measures.external import compare as compare_solutions

    size = None if shape is None else _parse_shape(shape)
    truth_file = dataclasses.replace(solution_file, solution_format=truth_format) if truth_format else solution_file
    files = [(truth, truth_file), (found, solution_file)]
    if matrix is None:
        first, second = _read_without_matrix(files)
    else:
        X = matrix_file.read(matrix)
        first, second = (how.read(path, X) for path, how in files)
    with progress() as update:
        scores = compare_solutions(first, second, shape=size, progress=update and partial(update, "pairs of cells"))
    if csv:
        rows_of_table = [{"measure": key, "value": value} for key, value in scores.items()]
        write_csv(csv, rows_of_table, ["measure", "value"])
    if as_json:
        print_json(scores)
        return
    solutions = (f"{path.name}: {plural(len(s), 'bicluster')}" for path, s in ((truth, first), (found, second)))
    out.print("; ".join(solutions))
    rows = [(EXTERNAL[key].name, number(value), EXTERNAL[key].summary) for key, value in scores.items()]
    print_table(["measure ↑", "value", "what it says"], rows)
    if any(value is None for value in scores.values()):
        out.print("– needs the shape of the matrix: pass --matrix or --shape.")


def _parse_shape(text: str) -> tuple[int, int]:
    parts = text.lower().replace(",", "x").split("x")
    if len(parts) != 2 or not all(part.strip().isdecimal() and int(part) > 0 for part in parts):
        raise ParameterError(f"--shape is {text!r}; two whole numbers ROWSxCOLUMNS are needed, for example 300x40.")
    return int(parts[0]), int(parts[1])


def _read_without_matrix(files: Sequence[tuple[Path, SolutionFile]]) -> list[Biclustering]:
    """Read two solutions; if both go by labels, the labels they share are enough."""
    from bivaluate.io import read_members
    from bivaluate.solution import Biclustering

    documents = [read_members(path, **how.given)[0] for path, how in files]
    by_label = [document.by == "label" for document in documents]
    if any(by_label) and not all(by_label):
        name = files[by_label.index(True)][0]
        raise SolutionError(
            f"{name} names its members by label and the other file by index: give their matrix with --matrix."
        )
    if not any(by_label):
        return [how.read(path, None) for path, how in files]
    rows: dict[str, int] = {}
    cols: dict[str, int] = {}
    return [
        Biclustering([(_numbers(r, rows), _numbers(c, cols)) for r, c in document.members], None)
        for document in documents
    ]


def _numbers(labels: Sequence[Any], known: dict[str, int]) -> list[int]:
    """Give each label a number, the same for both solutions."""
    return [known.setdefault(label, len(known)) for label in labels]

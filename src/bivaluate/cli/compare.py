"""`bivaluate compare`: how close one solution comes to another."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bivaluate._errors import ParameterError
from bivaluate.cli.console import number, out

if TYPE_CHECKING:
    from bivaluate.matrix import Matrix
    from bivaluate.solution import Biclustering


def compare(
    truth: Annotated[Path, typer.Argument(help="The truth, or any solution to compare with.")],
    found: Annotated[Path, typer.Argument(help="The solution to judge.")],
    matrix: Annotated[Path | None, typer.Option(help="Their matrix: resolves labels and gives the shape.")] = None,
    shape: Annotated[
        str | None, typer.Option(help="Shape of their matrix, ROWSxCOLUMNS, where the files do not say it.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the scores as JSON.")] = False,
    truth_format: Annotated[str | None, typer.Option(help="Format of the truth (default: detected).")] = None,
    found_format: Annotated[str | None, typer.Option(help="Format of the solution (default: detected).")] = None,
    index_base: Annotated[int | None, typer.Option(help="Whether indices in the files count from 0 or 1.")] = None,
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

    first, second = _read_both(truth, found, matrix, (truth_format, found_format), index_base)
    scores = compare_solutions(first, second, shape=None if shape is None else _parse_shape(shape))
    if as_json:
        typer.echo(json.dumps({key: None if v is None or v != v else v for key, v in scores.items()}, indent=2))
        return
    from rich.table import Table

    out.print(f"{truth.name}: {len(first)} biclusters; {found.name}: {len(second)} biclusters", markup=False)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("measure ↑", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("what it says")
    for key, value in scores.items():
        table.add_row(EXTERNAL[key].name, number(value), EXTERNAL[key].summary)
    out.print(table)
    if any(value is None for value in scores.values()):
        out.print("– needs the shape of the matrix: pass --matrix or --shape.", markup=False)


def _parse_shape(text: str) -> tuple[int, int]:
    parts = text.lower().replace(",", "x").split("x")
    if len(parts) != 2 or not all(part.strip().isdecimal() and int(part) > 0 for part in parts):
        raise ParameterError(f"--shape is {text!r}; two whole numbers ROWSxCOLUMNS are needed, for example 300x40.")
    return int(parts[0]), int(parts[1])


def _read_both(
    truth: Path, found: Path, matrix: Path | None, formats: tuple[str | None, str | None], index_base: int | None
) -> tuple[Biclustering, Biclustering]:
    from bivaluate.io import read_matrix, read_members, read_solution
    from bivaluate.solution import Biclustering

    X: Matrix | None = None if matrix is None else read_matrix(matrix)
    paths = list(zip((truth, found), formats, strict=True))
    if X is None:
        documents = [read_members(path, format=fmt, index_base=index_base)[0] for path, fmt in paths]
        if all(document.by == "label" for document in documents):
            rows: dict[str, int] = {}
            cols: dict[str, int] = {}
            first, second = (
                Biclustering([(_numbers(r, rows), _numbers(c, cols)) for r, c in document.members], None)
                for document in documents
            )
            return first, second
    first, second = (read_solution(path, X, format=fmt, index_base=index_base) for path, fmt in paths)
    return first, second


def _numbers(labels: Sequence[Any], known: dict[str, int]) -> list[int]:
    """Give each label a number, the same for both solutions."""
    return [known.setdefault(label, len(known)) for label in labels]

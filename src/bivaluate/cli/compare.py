"""`bivaluate compare`: how close solutions come to another one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bivaluate._errors import ParameterError, SolutionError
from bivaluate._text import distinct, plural
from bivaluate.cli.options import Csv, Json, MatrixFile, MatrixOfSolutions, SolutionFile, grouped, listed, option
from bivaluate.cli.tables import give, number, out, print_table, progress

if TYPE_CHECKING:
    from bivaluate.solution import Biclustering


@grouped
def compare(
    truth: Annotated[Path, typer.Argument(help="The truth, or any solution to compare with.")],
    found: Annotated[list[Path], typer.Argument(help="The solution to judge, or several.")],
    matrix_file: MatrixFile,
    solution_file: SolutionFile,
    matrix: MatrixOfSolutions = None,
    shape: Annotated[str | None, option("Shape of their matrix, ROWSxCOLUMNS, if no file gives it.")] = None,
    metrics: Annotated[str | None, option("Keys of the measures, separated by commas; all unless given.")] = None,
    as_json: Json = False,
    csv: Csv = None,
) -> None:
    """Compare solutions with a known truth, or with another solution. High is better everywhere.

    csi, agri and the corrected measures count cells outside all biclusters, so they need the shape of the matrix:
    from the files, from --matrix or from --shape.

    Examples:

    - `bivaluate compare truth.json found.json`
    - `bivaluate compare truth.json las.json cca.json plaid.json --csv measures.csv`
    - `bivaluate compare truth.json qubic.blocks --matrix expression.csv`
    - `bivaluate compare first.json second.json --shape 300x40 --json`
    - `bivaluate compare truth.json found.json --metrics consensus,ce` (the quick ones where many biclusters overlap)
    """
    from bivaluate.measures.external import EXTERNAL
    from bivaluate.measures.external import compare as compare_solutions

    size = None if shape is None else _parse_shape(shape)
    if matrix is None:
        first, *others = _read_without_matrix([truth, *found], solution_file)
    else:
        X = matrix_file.read(matrix)
        first, *others = (solution_file.read(path, X) for path in (truth, *found))
    with progress("pairs of cells") as told:
        chosen = listed(metrics) or "all"
        scores = [compare_solutions(first, other, metrics=chosen, shape=size, progress=told) for other in others]
    names = distinct([path.name for path in found], [str(path) for path in found])
    columns = names if len(found) > 1 else ["value"]
    values = [(key, [of_one[key] for of_one in scores]) for key in scores[0]]
    lines = [{"measure": key} | dict(zip(columns, row, strict=True)) for key, row in values]
    document = dict(zip(names, scores, strict=True)) if len(found) > 1 else scores[0]
    if give(lines, document, csv, as_json, ["measure", *columns]):
        return
    solutions = zip([truth.name, *names], [first, *others], strict=True)
    out.print("; ".join(f"{name}: {plural(len(solution), 'bicluster')}" for name, solution in solutions))
    rows = [(EXTERNAL[key].name, *map(number, row), EXTERNAL[key].summary) for key, row in values]
    print_table(["measure ↑", *columns, "what it says"], rows)
    for name, other in zip(names, others, strict=True):
        out.print(_in_words(truth.name, first, name, other), style="bold")
    if any(None in row for _, row in values):
        out.print("– needs the shape of the matrix: pass --matrix or --shape.")


def _in_words(truth: str, wanted: Biclustering, name: str, found: Biclustering) -> str:
    """Say which biclusters of the first solution the other one holds, by the cells they share."""
    import numpy as np

    from bivaluate._text import listing
    from bivaluate.judge.limits import DUPLICATE, MATCHED
    from bivaluate.measures.external import Comparison

    shared = Comparison(wanted, found).jaccard("cells").T
    best, of_found = shared.max(axis=1, initial=0.0), shared.max(axis=0, initial=0.0)
    held, more = best[best >= MATCHED], int((of_found < MATCHED).sum())
    matched: dict[int, list[str]] = {}
    for k in np.flatnonzero(best >= MATCHED):
        matched.setdefault(int(shared[k].argmax()), []).append(wanted.names[k])
    many = {j: names for j, names in matched.items() if len(names) > 1}
    several = [f"; {found.names[j]} matches {'both ' * (len(b) == 2)}{listing(b)}" for j, b in many.items()]
    missed = [name for name, share in zip(wanted.names, best, strict=True) if share < MATCHED]
    how = ", nearly exactly" if len(held) and held.min() >= DUPLICATE else ""
    rest = f"; it misses {listing(missed, 5)}" if missed else ""
    extra = f"; {more} of its {plural(len(found), 'bicluster')} match{'es' if more == 1 else ''} none" if more else ""
    holds = f"{name} holds {len(matched)} of the {plural(len(wanted), 'bicluster')} of {truth}{how}"
    return f"{holds}{''.join(several)}{rest}{extra}."


def _parse_shape(text: str) -> tuple[int, int]:
    parts = text.lower().replace(",", "x").split("x")
    if len(parts) != 2 or not all(part.strip().isdecimal() and int(part) > 0 for part in parts):
        raise ParameterError(f"--shape is {text!r}; two whole numbers ROWSxCOLUMNS are needed, for example 300x40.")
    return int(parts[0]), int(parts[1])


def _read_without_matrix(files: Sequence[Path], solution_file: SolutionFile) -> list[Biclustering]:
    """Read solutions; if all go by labels, the labels they share are enough."""
    from bivaluate.io.solutions import read_members
    from bivaluate.solution import Biclustering

    documents = [read_members(path, **solution_file.given)[0] for path in files]
    by_label = [document.by == "label" for document in documents]
    if any(by_label) and not all(by_label):
        name = files[by_label.index(True)]
        raise SolutionError(f"{name} names its members by label and another file by index: give their --matrix.")
    if not any(by_label):
        return [solution_file.read(path, None) for path in files]
    rows: dict[str, int] = {}
    cols: dict[str, int] = {}

    def places(labels: Sequence[Any], known: dict[str, int]) -> list[int]:
        return [known.setdefault(label, len(known)) for label in labels]  # the same in all solutions

    return [Biclustering([(places(r, rows), places(c, cols)) for r, c in d.members], names=d.names) for d in documents]

"""`bivaluate compare`: how close solutions come to another one."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from bivaluate._errors import ParameterError, SolutionError
from bivaluate._text import FINAL, distinct, listing, plural, refined
from bivaluate.cli._types import Biclustering, Matrix
from bivaluate.cli.options import Csv, Json, MatrixFile, MatrixOfSolutions, SolutionFile, grouped, listed, option
from bivaluate.cli.tables import give, number, out, print_table, progress, with_error

Pair = tuple[str, Biclustering, Biclustering]
Scores = Mapping[str, float | None]
SIDE_BY_SIDE = 4  # solutions with a column each; more of them have a row each
USUAL = ("ce", "consensus", "prelic_relevance", "prelic_recovery", "rnia")  # measures of these, unless others are asked


@grouped
def compare(
    truth: Annotated[Path, typer.Argument(help="The truth, or any solution to compare with.")],
    matrix_file: MatrixFile,
    solution_file: SolutionFile,
    found: Annotated[list[Path] | None, typer.Argument(help="Solutions to judge, or folders of a sweep.")] = None,
    matrix: MatrixOfSolutions = None,
    shape: Annotated[str | None, option("Shape of their matrix, ROWSxCOLUMNS, if no file gives it.")] = None,
    metrics: Annotated[str | None, option("Keys of the measures, separated by commas, or all.")] = None,
    as_json: Json = False,
    csv: Csv = None,
) -> None:
    """Compare solutions with a known truth, or with another solution. High is better everywhere.

    A sweep has a line per algorithm and K, mean ± sd over seeds; alone, its scenarios are compared with what was
    planted. csi, gri, agri, cari and the corrected measures count values outside all biclusters, so they need the
    shape of the matrix: from the files, from --matrix or from --shape.

    Examples:

    - `bivaluate compare solution.json found.json`
    - `bivaluate compare solution.json biclust.txt --matrix expression.csv --csv measures.csv`
    - `bivaluate compare solution.json found.json --metrics consensus,ce` (the quick ones where many biclusters overlap)

    With files of your own:

    - `bivaluate compare truth.json RUN --csv measures.csv` (every fit of a sweep; `bivaluate compare RUN` of scenarios)
    - `bivaluate compare truth.json las.json cca.json --shape 300x40 --json`
    """
    from bivaluate.judge.limits import MATCHED
    from bivaluate.measures.external import EXTERNAL, chosen_measures
    from bivaluate.measures.external import compare as compare_solutions

    if not found and truth.is_file():
        raise ParameterError(f"two solutions are needed: bivaluate compare {truth} FOUND.")
    size = None if shape is None else _parse_shape(shape)
    pairs = list(_pairs(truth, found or [truth], None if matrix is None else matrix_file.read(matrix), solution_file))
    names = list(dict.fromkeys(name for name, *_ in pairs))
    many = len(names) > SIDE_BY_SIDE or len(pairs) > len(names) or not found
    keys = chosen_measures(listed(metrics) or (USUAL if many else "all"))
    try:
        with progress("pairs of cells") as told:
            scores = [compare_solutions(a, b, metrics=keys, shape=size, progress=told) for _, a, b in pairs]
    except SolutionError as error:
        raise SolutionError(f"{error}{' Pass --matrix: names then say who is who.' * (matrix is None)}") from None
    if many:
        records = _means([(name, {"n_biclusters": len(b)} | s) for (name, _, b), s in zip(pairs, scores, strict=True)])
        if not give(records, records, csv, as_json):
            shown = ("n_biclusters", *keys)
            rows = [
                [r["solution"], *(with_error(r[key], r.get(f"{key}_sd") or None, 3, 2) for key in shown)]
                for r in records
            ]
            print_table(["solution", "K found", *(f"{EXTERNAL[key].name}↑" for key in keys)], rows)
            over = f"; mean ± sd over {plural(records[0]['seeds'], 'seed')}" if records[0]["seeds"] > 1 else ""
            near = f"{records[0]['solution']} comes closest to {truth.name if found else 'the truth'}"
            out.print(f"{near} by {EXTERNAL[keys[0]].name}{over}.", style="bold")
        return
    columns = names if len(names) > 1 else ["value"]
    values = [(key, [of_one[key] for of_one in scores]) for key in keys]
    lines = [{"measure": key} | dict(zip(columns, row, strict=True)) for key, row in values]
    document = dict(zip(names, scores, strict=True)) if len(names) > 1 else scores[0]
    if give(lines, document, csv, as_json, ["measure", *columns]):
        return
    solutions = [(truth.name, pairs[0][1]), *((name, other) for name, _, other in pairs)]
    out.print("; ".join(f"{name}: {plural(len(solution), 'bicluster')}" for name, solution in solutions))
    described = [(EXTERNAL[key].name, *map(number, row), key, EXTERNAL[key].summary) for key, row in values]
    print_table(["measure ↑", *columns, "key", "what it says"], described, only=len(columns) + 1)
    for name, wanted, other in pairs:
        out.print(_in_words(truth.name, wanted, name, other), style="bold")
    held = f"at least {MATCHED:g}"
    out.print(f"A bicluster is held if one that was found has a Jaccard index of cells with it of {held}.", style="dim")
    if any(None in row for _, row in values):
        out.print("– needs the shape of the matrix: pass --matrix or --shape.")


def _pairs(truth: Path, found: Sequence[Path], matrix: Matrix | None, solution_file: SolutionFile) -> Iterator[Pair]:
    """Yield name, truth and solution: of files, and of every fit of run folders."""
    from bivaluate.sweep.cells import Cell
    from bivaluate.sweep.folder import JOURNAL
    from bivaluate.sweep.journal import unpack_solution
    from bivaluate.sweep.load import load_run
    from bivaluate.sweep.select import is_own_k

    runs = [path for path in found if (path / JOURNAL).is_file()]
    if files := [path for path in found if path not in runs]:
        if matrix is None:
            first, *others = _read_without_matrix([truth, *files], solution_file)
        else:
            first, *others = (solution_file.read(path, matrix) for path in (truth, *files))
        names = distinct([path.name for path in files], [str(path) for path in files])
        yield from ((name, first, other) for name, other in zip(names, others, strict=True))
    for path in runs:
        run = load_run(path)
        fits = [row for row in run.journal.rows([*Cell._fields, "solution"]) if row[-1] is not None]
        for dataset, algorithm, k, seed, packed in fits:
            X = run.matrix(dataset, seed) if matrix is None else matrix
            wanted = run.truth(dataset, seed) if path == truth else solution_file.read(truth, X)
            if wanted is None:
                raise ParameterError(f"{path} does not hold the truth of {dataset}: give a file with it, then {path}.")
            where = [path.name] * (len(runs) > 1) + [dataset] * (len(run.datasets) > 1)
            which = [] if is_own_k(algorithm.removesuffix(FINAL)) else [f"K = {k}"]
            yield " ".join([*where, refined(algorithm), *which]), wanted, unpack_solution(packed)


def _means(scores: Sequence[tuple[str, Scores]]) -> list[dict[Any, Any]]:
    """Return a record per name: how many it has, means and, of several, standard deviations; the best by CE first."""
    import pandas as pd

    by_name = pd.DataFrame([of_one for _, of_one in scores], dtype=float).groupby([n for n, _ in scores], sort=False)
    table = by_name.mean().assign(seeds=by_name.size()).join(by_name.std().add_suffix("_sd").dropna(axis=1, how="all"))
    table = table.sort_values(list(scores[0][1])[1], ascending=False, kind="stable")
    return table.rename_axis("solution").reset_index().to_dict("records")


def _in_words(truth: str, wanted: Biclustering, name: str, found: Biclustering) -> str:
    """Say which biclusters of the first solution the other one holds, by the cells they share."""
    import numpy as np

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

"""`bivaluate find`: a matrix in, the biclusters that stand out from it out; their number is found, not given."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from bivaluate._text import plural
from bivaluate.cli.files import is_stream, stem_of
from bivaluate.cli.options import (
    Csv,
    Jobs,
    Json,
    MatrixFile,
    MatrixPath,
    Missing,
    OutputFormat,
    Seed,
    check_target,
    grouped,
    option,
)
from bivaluate.cli.tables import (
    err,
    number,
    out,
    print_json,
    print_notes,
    print_table,
    say_written,
    search_progress,
    write_csv,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bivaluate.matrix import Matrix
    from bivaluate.solution import Biclustering


EVIDENCE_COLUMNS = ("bicluster", "n_rows", "n_cols", "kind", "evidence")


@dataclasses.dataclass(frozen=True)
class Search:
    """How to search; the fields are parameters of :class:`bivaluate.algorithms.CoherentSubmatrices`."""

    min_evidence: Annotated[float, option("Nats of evidence a bicluster must exceed.")] = 5.0
    min_rows: Annotated[int, option("Fewest rows of a bicluster.")] = 4
    missing: Missing = "raise"
    n_jobs: Jobs = None


@grouped
def find(
    matrix: MatrixPath,
    search: Search,
    matrix_file: MatrixFile,
    n_biclusters: Annotated[int | None, option("At most this many (default: as many as stand out).", "-k")] = None,
    seed: Seed = 0,
    target: Annotated[Path | None, option("File (default: MATRIX.find.json).", "--out", "-o")] = None,
    format: OutputFormat = None,
    report: Annotated[Path | None, option("Also write an HTML report to this file.")] = None,
    as_json: Json = False,
    csv: Csv = None,
) -> None:
    """Find the biclusters that stand out in a matrix, and how many there are.

    Every bicluster comes with S, the evidence the search climbs by: nats by which its rows differ inside from what they
    do elsewhere, choices paid for. `bivaluate score` judges it by another yardstick, the same for every tool. Finding
    nothing is an answer. Ctrl-C keeps what has been found so far.

    Examples:

    - `bivaluate find expression.csv -o found.json`
    - `bivaluate find expression.csv -o found.json --report page.html`
    - `bivaluate find expression.csv -k 10 --min-evidence 20`
    """
    from bivaluate.algorithms import CoherentSubmatrices
    from bivaluate.io import write_solution

    target = target or Path(f"{stem_of(matrix)}.find.json")
    check_target(target, format)
    X = matrix_file.read(matrix)
    most = "auto" if n_biclusters is None else n_biclusters
    model = CoherentSubmatrices(most, random_state=seed, **dataclasses.asdict(search))
    with search_progress(model):
        model.fit(X)
    write_solution(model.solution_, target, X=X, format=format)
    if n_biclusters is None and not model.interrupted_ and not is_stream(matrix):
        model.notes_ += _second_look(matrix, X, model.solution_, seed)
    rows = evidence_rows(model.solution_, model.evidence_, model.kinds_, model.p_values_)
    if as_json:
        print_json({"biclusters": rows, "notes": model.notes_})
    else:
        print_evidence(rows)
        print_notes(model)
    say_written(target)
    if csv:
        write_csv(csv, rows, EVIDENCE_COLUMNS)
    if report:
        from bivaluate.evaluation import evaluate
        from bivaluate.report import build_report

        name = str(model.solution_.info.get("name", "find"))
        build_report([evaluate(X, model.solution_.with_info(name=name), missing=search.missing)], report)
        say_written(report)
    if rows and not as_json and not is_stream(target) and not is_stream(matrix):
        rule = "" if search.missing == "raise" else f" --missing {search.missing}"
        err.print(f"next: bivaluate score {matrix} {target}{rule}")


def _second_look(matrix: Path, X: Matrix, found: Biclustering, seed: int) -> list[str]:
    """Say so where a quick algorithm finds more: what many rows share is background to this search."""
    from bivaluate.sweep.second_look import MOST_BICLUSTERS, second_look

    try:
        look = second_look(X, found, seed)
    except KeyboardInterrupt:  # what was found is written already
        return []
    if look is None:
        return []
    return [
        f"{look.label} finds {plural(look.n_biclusters, 'bicluster')} of more evidence ({number(look.evidence)} nats, against "
        f"{number(look.beside)} here), perhaps of many rows, which this search takes for correlation of the columns. To see: "
        f"`bivaluate run {matrix} --algorithm {look.algorithm} -k {MOST_BICLUSTERS} --seed {seed} --out {look.algorithm}.json`."
    ]


def evidence_rows(
    solution: Biclustering, evidence: Any, kinds: Sequence[str], p_values: Any = None
) -> list[dict[str, Any]]:
    """Return one mapping per bicluster: name, sizes, kind, evidence and, where known, its p-value."""
    rows: list[dict[str, Any]] = []
    for k, bicluster in enumerate(solution):
        rows_, cols = bicluster.shape
        row = {
            "bicluster": f"B{k + 1}",
            "n_rows": rows_,
            "n_cols": cols,
            "kind": kinds[k],
            "evidence": float(evidence[k]),
        }
        rows.append(row if p_values is None else row | {"p_value": float(p_values[k])})
    return rows


def print_evidence(rows: Sequence[dict[str, Any]]) -> None:
    """Print one line per bicluster, or that there is none."""
    if not rows:
        out.print("No bicluster was found.")
        return
    names = {"bicluster": "bicluster", "n_rows": "rows", "n_cols": "columns", "kind": "kind", "evidence": "S (nats)"}
    names |= {"p_value": "p"} if "p_value" in rows[0] else {}
    shown = [row | {"p_value": _least(row["p_value"])} if "p_value" in row else row for row in rows]
    lines = [[row[key] if isinstance(row[key], str) else number(row[key]) for key in names] for row in shown]
    print_table(list(names.values()), lines)
    out.print("S is what the search climbs by; `bivaluate score` gives the evidence of any biclusters.", style="dim")


def _least(p: float) -> float | str:
    """Return a p-value, NaN where it is undefined; one too small for a float is below the least shown, not 0."""
    return "<1e-300" if p == 0 else p

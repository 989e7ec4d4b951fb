"""How the choice of algorithm and K changes with what cannot be known: exponent, size filter, noise."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bivaluate._errors import ParameterError
from bivaluate.judge.choice import best, candidates, degenerate_reason, high_is_better
from bivaluate.matrix import Matrix
from bivaluate.measures.coverage import charge
from bivaluate.measures.registry import get_metric
from bivaluate.measures.workspace import EPSILON, EXPONENT
from bivaluate.sweep.cells import Cell
from bivaluate.sweep.copies import hide, perturb
from bivaluate.sweep.plan import parse_perturbation

if TYPE_CHECKING:
    import pandas as pd

    from bivaluate.sweep.load import Run

EXPONENTS = (0.0, 0.25, 0.5, 1.0)
FILTERS = ((2, 2), (3, 3), (5, 5))
COLUMNS = ["dataset", "change", "algorithm", "k", "mean", "same", "share_same"]


def by_exponent(run: Run) -> pd.DataFrame:
    """Return what NVE_cov chooses with other exponents of the coverage."""
    asked = float(run.plan.score.get("exponent", EXPONENT))
    epsilon = run.plan.score.get("epsilon", EPSILON)
    results = run.results.copy()
    if not {"nve", "coverage", "nve_cov"} <= set(results):
        return _table([])
    usual = _choices(results, "nve_cov")
    rows = []
    for exponent in sorted({*EXPONENTS, asked}):
        results["changed"] = charge(results["nve"], results["coverage"], exponent, epsilon)
        rows += _compare(usual, results, "nve_cov", f"exponent {exponent:g}", "changed")
    return _table(rows)


def by_size_filter(run: Run, by: str, filters: Sequence[tuple[int, int]] = FILTERS) -> pd.DataFrame:
    """Return what a measure chooses when biclusters below a size are dropped before scoring."""
    usual = _choices(run.results, by)
    rows = []
    smallest = run.biclusters.groupby(["dataset", "algorithm", "k", "seed"])[["n_rows", "n_cols"]].min()
    for min_rows, min_cols in filters:
        small = smallest[(smallest["n_rows"] < min_rows) | (smallest["n_cols"] < min_cols)].index
        options = {"small": "drop", "min_rows": min_rows, "min_cols": min_cols}
        changed = _rescored(run, by, lambda cell: run.matrix(cell.dataset, cell.seed), options, set(small))
        rows += _compare(usual, changed, by, f"only biclusters of at least {min_rows} x {min_cols}", by)
    return _table(rows)


def by_refit(run: Run, by: str) -> pd.DataFrame:
    """Return what a measure chooses on the perturbed copies the sweep itself ran (a plan with ``perturb``)."""
    usual = _choices(run.results, by)
    rows = []
    variants = run.variants
    for spec in run.plan.perturb:
        copies = variants[variants["variant"] == spec]
        for dataset, group in copies.groupby("dataset", sort=False):
            chosen = [_choices(copy, by).get(str(dataset)) for _, copy in group.groupby("run")]
            rows += _agreement(usual, str(dataset), f"{spec}, algorithms run again", group, chosen, by)
    return _table(rows)


def by_perturbation(run: Run, by: str, specs: Sequence[str], runs: int = 5) -> pd.DataFrame:
    """Return what a measure chooses when the same solutions are scored on perturbed matrices."""
    import pandas as pd

    for spec in specs:
        parse_perturbation(spec)
    if runs < 1:
        raise ParameterError(f"the number of perturbed copies is {runs}; it must be at least 1.")
    usual = _choices(run.results, by)
    rows = []
    for position, spec in enumerate(specs):
        copies = []
        for number in range(runs):
            matrix_of = _perturbed(run, spec, [position, number])
            copies.append(_rescored(run, by, matrix_of, {"missing": "omit"}).assign(run=number))
        for dataset in run.datasets:
            group = pd.concat([copy[copy["dataset"] == dataset] for copy in copies])
            chosen = [_choices(copy, by).get(dataset) for _, copy in group.groupby("run")]
            rows += _agreement(usual, dataset, f"{spec}, same solutions", group, chosen, by)
    return _table(rows)


def _perturbed(run: Run, spec: str, number: list[int]) -> Callable[[Cell], Matrix]:
    kind, amount = parse_perturbation(spec)
    made: dict[tuple[str, int], Matrix] = {}

    def matrix_of(cell: Cell) -> Matrix:
        matrix = run.matrix(cell.dataset, cell.seed)
        key = (cell.dataset, id(matrix))
        if key not in made:
            made.clear()
            rng = np.random.default_rng([*number, run.datasets.index(cell.dataset), cell.seed])
            values = hide(matrix.values, amount, rng) if kind == "mask" else perturb(matrix.values, spec, rng)
            made[key] = Matrix(values, matrix.row_labels, matrix.col_labels, matrix.name).settled()
        return made[key]

    return matrix_of


def _rescored(
    run: Run, by: str, matrix_of: Callable[[Cell], Matrix], options: dict[str, Any], only: set[Any] | None = None
) -> pd.DataFrame:
    """Return the results with `by`, coverage and status computed again for (some) cells."""
    from bivaluate.evaluation import evaluate

    results = run.results[list(dict.fromkeys(["dataset", "algorithm", "k", "seed", "status", by, "coverage"]))].copy()
    values, status, coverage = results[by].tolist(), results["status"].tolist(), results["coverage"].tolist()
    cells = [Cell(a, b, int(c), int(d)) for a, b, c, d in results[list(Cell._fields)].itertuples(index=False)]
    # those of one matrix after each other, so that it is read once
    for i in sorted(range(len(cells)), key=lambda i: (cells[i].dataset, cells[i].seed)):
        cell = cells[i]
        if status[i] not in ("ok", "degenerate") or (only is not None and tuple(cell) not in only):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            keys = list(dict.fromkeys([by, "n_biclusters", "n_undefined", "coverage"]))
            scores = evaluate(
                matrix_of(cell), run.solution(cell), metrics=keys, n_jobs=1, **{**run.plan.score, **options}
            ).scores
        values[i], coverage[i] = scores[by], scores["coverage"]
        status[i] = "degenerate" if degenerate_reason(scores) else "ok"
    return results.assign(**{by: values, "coverage": coverage, "status": status})


def _choices(results: pd.DataFrame, by: str, value: str | None = None) -> dict[str, tuple[str, int, float]]:
    high, above = high_is_better(by), get_metric(by).nothing
    chosen = best(candidates(results, value or by, high, above), high, above)
    return {row["dataset"]: (row["algorithm"], int(row["k"]), float(row["mean"])) for row in chosen.to_dict("records")}


def _compare(
    usual: dict[str, tuple[str, int, float]], results: pd.DataFrame, by: str, change: str, value: str
) -> list[list[Any]]:
    rows = []
    for dataset, (algorithm, k, mean) in _choices(results, by, value).items():
        same = usual.get(dataset, ("", 0, 0.0))[:2] == (algorithm, k)
        rows.append([dataset, change, algorithm, k, mean, same, float(same)])
    return rows


def _agreement(
    usual: dict[str, tuple[str, int, float]],
    dataset: str,
    change: str,
    group: pd.DataFrame,
    chosen: Sequence[tuple[str, int, float] | None],
    by: str,
) -> list[list[Any]]:
    """Compare the choice over all copies with the usual one, and count the copies that agree with it."""
    overall = _choices(group.assign(seed=group["run"] * 2**32 + group["seed"]), by).get(dataset)
    if overall is None or dataset not in usual:
        return []
    agree = [choice is not None and choice[:2] == usual[dataset][:2] for choice in chosen]
    share = sum(agree) / len(agree)
    return [[dataset, change, overall[0], overall[1], overall[2], overall[:2] == usual[dataset][:2], share]]


def _table(rows: list[list[Any]]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(rows, columns=COLUMNS)

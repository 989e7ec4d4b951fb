"""Run algorithms on the data of the benchmark, as a sweep; then ask what the truth says of every solution."""

import hashlib
import json
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from bivaluate._check import check_int
from bivaluate._errors import BivaluateWarning, FileError, ParameterError, RunError, SolutionError, suggest
from bivaluate._files import FilePath, make_folder, write_whole
from bivaluate._text import Advice, Option
from bivaluate.benchmark.cases import CASES, Case
from bivaluate.benchmark.truth import Truth
from bivaluate.evaluation import evaluate
from bivaluate.io import read_solution, write_matrix
from bivaluate.matrix import Matrix
from bivaluate.registry import METRICS, choose_metrics
from bivaluate.solution import Biclustering
from bivaluate.sweep import Cell, Plan, Run, Sweep, load_run
from bivaluate.sweep.folder import JOURNAL
from bivaluate.sweep.load import failed_fits
from bivaluate.sweep.plan import differences

QUICK_ALGORITHMS = ("las", "cca", "spectral", "spectral_co", "coherent", "plaid", "qubic")
QUICK_K, FULL_K = (2, 3, 5), (2, 3, 5, 8)
MADE, NAMED = ("planted", "noise"), ("genes",)  # domains with matrices from a seed; those a sweep loads by name
Named = Mapping[str, tuple[Case, int]]  # a case and a seed by the name of the data set
Row = dict[str, Any]
Scores = tuple[Row, list[Row]]
Tables = dict[str, list[Row]]
TABLES = ("solutions", "biclusters", "copies")
CELL = ("case", "domain", "seed", "algorithm", "k")
REPLACED = 0.1  # share of the rows of each bicluster that a corrupted copy draws anew


@dataclass(frozen=True, eq=False)
class Benchmark:
    """The tables of a benchmark, read by :func:`bivaluate.benchmark.answer.answer`.

    Parameters
    ----------
    solutions, biclusters, copies, failed : DataFrame
        One row per fit, and one per bicluster: the truth and every measure; the measures of solutions as found, with
        a tenth of their rows replaced, and of random ones; algorithms of which fits failed, and why the first did.

    See Also
    --------
    run_benchmark, answer

    Examples
    --------
    >>> run_benchmark("RUN", quick=True)  # doctest: +SKIP
    """

    solutions: pd.DataFrame
    biclusters: pd.DataFrame
    copies: pd.DataFrame
    failed: pd.DataFrame = field(default_factory=lambda: failed_fits(None))


def run_benchmark(
    out: FilePath,
    *,
    quick: bool = True,
    algorithms: Sequence[str] | None = None,
    cases: Sequence[str] | None = None,
    seeds: int = 1,
    solutions: Mapping[str, FilePath] | None = None,
    measures: Sequence[str] = (),
    time_limit: float | None = None,
    rescore: bool = False,
    jobs: int = 1,
    scheduler: str | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Benchmark:
    """Run the benchmark in a folder, or continue it there.

    Parameters
    ----------
    out, quick : str or path-like, bool
        The folder; few algorithms, small data, one seed, or every algorithm that runs here on all data.
    algorithms, cases, seeds : sequence of str, sequence of str, int
        As a sweep takes them; names of cases (those of the form by default); how many seeds of planted data.
    solutions, measures : mapping of str to path-like, sequence of str
        Folders of ``DATA_SET.json`` by further methods; measures of your own, ``module:function``.
    time_limit, rescore : float, bool
        Seconds per fit (30, or 600); fit nothing, and compute every measure again from the solutions in the folder.
    jobs, scheduler, progress : int, str, callable
        As for a sweep; called with what is done, how many, of how many.

    Returns
    -------
    Benchmark
        The tables.

    Raises
    ------
    ParameterError, SolutionError, FileError
        If there is no such case or algorithm, or a folder or solution cannot be used.

    See Also
    --------
    answer

    Examples
    --------
    >>> run_benchmark("RUN", quick=True, jobs=2)  # doctest: +SKIP
    """
    folder = Path(out)
    added = [metric.key for metric in choose_metrics(measures)]
    chosen = _chosen(cases, quick)
    check_int("seeds", seeds, 1)
    names = {_file_name(c, seed): (c, seed) for c in chosen for seed in range(seeds if c.domain in MADE else 1)}
    plan = Plan(
        datasets=_write_matrices(folder, names),
        algorithms=list(algorithms or (QUICK_ALGORITHMS if quick else ["all"])),
        k=QUICK_K if quick else FULL_K,
        metrics=[*solution_measures(added), *bicluster_measures(added)],
        score={"missing": "omit", "single": "matrix"},
        time_limit=time_limit or (30.0 if quick else 600.0),
    )
    tell = None if progress is None else lambda done, total, _: progress("fits", done, total)
    sweep = Sweep(plan, folder / "run", jobs=jobs, scheduler=scheduler, progress=tell)
    if not rescore and (sweep.folder / JOURNAL).exists():
        there = load_run(sweep.folder).plan
        if differences(plan, there) and not differences(replace(plan, metrics=there.metrics), there):
            how = Option(python="rescore=True", command="--rescore")
            held = f"{folder} was scored with other measures: {differences(plan, there)[0]}. "
            raise RunError(Advice(held, how, " computes these without fitting again."))
    run = load_run(sweep.folder) if rescore else sweep.run()
    done = run.results[run.results["status"].isin(["ok", "degenerate"])]
    own = _own_solutions(solutions or {}, names)
    rows: dict[str, list[Any]] = {table: [] for table in TABLES}
    for name, (case, seed) in names.items():
        found = [
            MethodSolution(str(r["algorithm"]), int(r["k"]), run.solution(_cell(name, r)), _stored(run, name, r, added))
            for r in done[done["dataset"] == name].to_dict("records")
        ]
        found += [MethodSolution(method, len(s), s) for (method, where), s in own.items() if where == name]
        kept = folder / "judged" / f"{name.replace(':', '_')}.json"
        for table, new in known_rows(case, seed, found, kept, rescore, added).items():
            rows[table] += new
        if progress is not None:
            progress("truth", len(rows["solutions"]), len(done) + len(own))
    frames = {table: pd.DataFrame(found) for table, found in rows.items()}
    tables = Benchmark(**frames, failed=failed_fits(run.results))
    for table in (*TABLES, "failed"):
        write_whole(folder / f"{table}.csv", getattr(tables, table).to_csv(index=False))
    return tables


def _chosen(names: Sequence[str] | None, quick: bool) -> list[Case]:
    for name in names or ():
        if name not in CASES:
            known = suggest(name, CASES) or f" Cases: {', '.join(CASES)}."
            raise ParameterError(f"there is no case {name!r}.{known}")
    return [case for case in CASES.values() if (case.name in names if names else case.quick or not quick)]


def _file_name(case: Case, seed: int) -> str:
    """Return what the data set is called in the run, and the file of somebody's solution of it."""
    plain = "".join(letter if letter.isalnum() else "_" for letter in case.name)
    return f"{plain}_{seed}" if case.domain not in NAMED else case.name


def _write_matrices(folder: Path, names: Named) -> list[str]:
    """Write the matrices that are not there yet, and return all data sets as a sweep takes them."""
    place = folder / "matrices"
    make_folder(place)
    found = dict(zip(names, names, strict=True))
    for name, (case, seed) in names.items():
        if case.domain in NAMED:
            continue
        path = next((path for end in (".npy", ".npz") if (path := place / f"{name}{end}").exists()), None)
        if path is None:
            matrix = case.load(seed).matrix
            path = place / f"{name}{'.npz' if matrix.sparse else '.npy'}"
            write_matrix(matrix, path)
        found[name] = str(path)
    return list(found.values())


def _cell(name: str, row: Mapping[Any, Any]) -> Cell:
    return Cell(name, row["algorithm"], int(row["k"]), int(row["seed"]))


def _stored(run: Run, name: str, row: Mapping[Any, Any], own: Sequence[str]) -> Scores:
    """Return the measures of a cell and of its biclusters as the sweep computed them."""
    table = run.biclusters
    mine = table[(table["dataset"] == name) & (table["algorithm"] == row["algorithm"]) & (table["k"] == row["k"])]
    keys = [key for key in bicluster_measures(own) if key in mine.columns]
    return {key: row[key] for key in solution_measures(own) if key in row}, mine[keys].to_dict("records")


def _own_solutions(folders: Mapping[str, Any], names: Named) -> dict[tuple[str, str], Biclustering]:
    """Read what somebody's method found: a file per data set, checked against its matrix."""
    found = {}
    for method, folder in folders.items():
        files = {name: Path(folder) / f"{name.replace(':', '_')}.json" for name in names}
        there = {name: path for name, path in files.items() if path.exists()}
        if not there:
            some = ", ".join(path.name for path in list(files.values())[:3])
            raise FileError(f"{folder} holds no solution of this benchmark: files such as {some} are needed.")
        for name, path in there.items():
            case, seed = names[name]
            try:
                found[method, name] = read_solution(path, case.load(seed).matrix)
            except SolutionError as error:
                raise SolutionError(f"{path} is not a solution of {case.name}: {error}") from error
    return found


class MethodSolution(NamedTuple):
    """A solution, and its measures where a sweep has computed them."""

    algorithm: str
    k: int
    solution: Biclustering
    scores: Scores | None = None


Found = Sequence[MethodSolution]


def _measures(level: str, own: Sequence[str] = ()) -> list[str]:
    """Return the measures the benchmark judges, of solutions or single biclusters: those with a better direction."""
    return [key for key in (*METRICS, *own) if METRICS[key].level == level and METRICS[key].direction != "none"]


solution_measures, bicluster_measures = partial(_measures, "solution"), partial(_measures, "bicluster")


def known_rows(case: Case, seed: int, found: Found, kept: Path, anew: bool, own: Sequence[str] = ()) -> Tables:
    """Return the rows of one data set, from the file `kept` where it holds those of the same solutions."""
    known = [case.name, seed, *solution_measures(own), *bicluster_measures(own)]
    members = [[f.algorithm, f.k, [[b.rows.tolist(), b.cols.tolist()] for b in f.solution]] for f in found]
    key = hashlib.sha256(json.dumps([known, members]).encode()).hexdigest()
    if not anew and kept.exists():
        content = json.loads(kept.read_text(encoding="utf-8"))
        if content.pop("key") == key:
            return dict(content)
    tables = _rows(case, seed, found, anew, own)
    kept.parent.mkdir(exist_ok=True)
    write_whole(kept, json.dumps({"key": key, **tables}, default=float))
    return tables


def _rows(case: Case, seed: int, found: Found, anew: bool, own: Sequence[str]) -> Tables:
    problem = case.load(seed)
    matrix, truth = problem.matrix.settled(), Truth(problem)
    tables: Tables = {name: [] for name in TABLES}
    best: dict[str, tuple[float, Row, Biclustering, Row]] = {}
    for algorithm, k, solution, stored in found:
        scores, each = _evaluated(matrix, solution, own) if anew or stored is None else stored
        value, of_each = truth.of(solution)
        cell = dict(zip(CELL, (case.name, case.domain, seed, algorithm, k), strict=True))
        counted = {**cell, "n_biclusters": len(solution), "truth": value}
        tables["solutions"].append({**counted, **truth.by_class(solution), **scores})
        numbered = enumerate(zip(of_each, each, strict=True), 1)
        tables["biclusters"] += [{**cell, "bicluster": b, "truth": t, **e} for b, (t, e) in numbered]
        if len(solution) and not math.isnan(value) and value > best.get(algorithm, (-math.inf,))[0]:
            best[algorithm] = (value, cell, solution, scores)
    for _, cell, solution, scores in best.values():
        tables["copies"].append({**cell, "copy": "as found", **scores})
        for copy, other in _copies(solution, seed).items():
            tables["copies"].append({**cell, "copy": copy, **_evaluated(matrix, other, own)[0]})
    return tables


def _evaluated(matrix: Matrix, solution: Biclustering, own: Sequence[str]) -> Scores:
    measures = [*solution_measures(own), *bicluster_measures(own)]
    with warnings.catch_warnings(action="ignore", category=BivaluateWarning):
        found = evaluate(matrix, solution, metrics=measures, missing="omit", single="matrix")
    keys = [key for key in bicluster_measures(own) if found.records and key in found.records[0]]
    return dict(found.scores), [{key: record[key] for key in keys} for record in found.records]


def _copies(solution: Biclustering, seed: int) -> dict[str, Biclustering]:
    """Return a solution with a tenth of the rows of each bicluster drawn anew, and random ones of the same sizes."""
    n_rows, n_cols = solution.shape
    rng = np.random.default_rng([seed, len(solution)])
    corrupted, drawn = [], []
    for rows, cols in solution:
        outside = np.setdiff1d(np.arange(n_rows), rows)
        n_new = min(max(1, round(REPLACED * len(rows))), len(outside), len(rows))
        kept = rng.permutation(rows)[n_new:]
        corrupted.append((np.concatenate([kept, rng.choice(outside, n_new, replace=False)]), cols))
        drawn.append((rng.choice(n_rows, len(rows), replace=False), rng.choice(n_cols, len(cols), replace=False)))
    return {"corrupted": Biclustering(corrupted, solution.shape), "random": Biclustering(drawn, solution.shape)}

"""`bivaluate sweep`: algorithms x K x seeds x data sets into a run folder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bivaluate._errors import ParameterError, RunError
from bivaluate._text import listing, plural
from bivaluate.cli.options import (
    AllMetrics,
    MatrixFile,
    Metrics,
    Parameters,
    Scheduler,
    chosen_metrics,
    grouped,
    listed,
    option,
)
from bivaluate.cli.tables import err, out, progress

if TYPE_CHECKING:
    from bivaluate.sweep.load import Run
    from bivaluate.sweep.plan import Plan


# How options are spelled whose names in a plan do not say it.
_SPELLED = {"datasets": "MATRICES", "k": "-k", "parameters": "--param", "read": "options on how to read the matrix"}


@grouped
def sweep(
    matrix_file: MatrixFile,
    matrices: Annotated[
        list[str] | None,
        typer.Argument(help="Matrix files, `scenario:S1`, `yeast:*`, …; with none, the run in --out is continued."),
    ] = None,
    run_folder: Annotated[Path, option("The run folder; a run in it is continued.", "--out", "-o")] = Path("run"),
    plan: Annotated[Path | None, option("Read all of this from a TOML plan instead of options.")] = None,
    algorithms: Annotated[
        str | None,
        option("Keys, or package.module:Class; auto (the default) for those that fit the data.", "--algorithms", "-a"),
    ] = None,
    k: Annotated[
        str | None,
        option("Numbers of biclusters: 3,5,8, 2-10 or planted (scenarios); by default the plan of `find`.", "-k"),
    ] = None,
    seeds: Annotated[str | None, option("How many seeds (10 means 0 to 9), or which: 0,4,7 or 20-29. [1]")] = None,
    algorithm_seed: Annotated[int | None, option("One seed for every algorithm, whatever --seeds says.")] = None,
    parameters: Parameters = None,
    metrics: Metrics = None,
    all_metrics: AllMetrics = False,
    score: Annotated[
        list[str] | None, option("NAME=VALUE as `score` has it: min_rows=3, small=drop, …; repeatable.")
    ] = None,
    time_limit: Annotated[float | None, option("Seconds a cell may take.")] = None,
    null: Annotated[str | None, option("Repeat on surrogates: permute, or phase for ordered columns.")] = None,
    null_runs: Annotated[int, option("Surrogates per matrix. [19]", show_default=False)] = 0,
    held_out: Annotated[
        int, option("Predict held-out cells in this many folds, say 5; then `select --by predictive`.")
    ] = 0,
    stability: Annotated[
        int, option("Look for the biclusters again in this many subsamples of rows and columns, say 10.")
    ] = 0,
    jobs: Annotated[
        int, option("Worker processes on this machine; each has its own memory, so the default is one.", "--jobs", "-j")
    ] = 1,
    scheduler: Scheduler = None,
    resume: Annotated[bool, option("Continue an unfinished run in --out.")] = True,
    retry: Annotated[bool, option("Run failed and timed-out cells again.", "--retry")] = False,
    trust_commands: Annotated[
        bool, option("Run programs and modules that only the folder in --out names.", "--trust-commands")
    ] = False,
) -> None:
    """Run algorithms over K, seeds and data sets, and score everything.

    If it is killed, the same command continues where it left off. With several algorithms, --param names one of them:
    las.n_restarts=100.

    Examples:

    - `bivaluate sweep expression.tsv --out run` (the plan of `find`)
    - `bivaluate sweep expression.tsv -k 3,5,8,10,15 --seeds 10 --out run --jobs 2`
    - `bivaluate sweep 'scenario:*' -k planted --seeds 20 --out scenarios`
    - `bivaluate sweep 'yeast:*' --algorithms cca,las --null permute --out yeast`
    - `bivaluate sweep --plan plan.toml --out run --scheduler tcp://head:8786`
    - `bivaluate sweep --out run` (continue)
    """
    from bivaluate.sweep.plan import Plan, parse_assignments
    from bivaluate.sweep.run import Sweep

    if not resume and os.path.exists(run_folder / "journal.sqlite"):
        raise RunError(f"{run_folder} holds a run already. Choose another --out, or omit --no-resume.")
    options = {
        "datasets": matrices or None,
        "algorithms": split_algorithms(algorithms),
        "k": k if k in ("planted", "auto") else _numbers("-k", k),
        "seeds": int(seeds) if seeds and seeds.isdigit() else _numbers("--seeds", seeds),
        "algorithm_seed": algorithm_seed,
        "parameters": _by_algorithm(parameters or []) or None,
        "metrics": chosen_metrics(metrics, all_metrics) if metrics or all_metrics else None,
        "score": parse_assignments("--score", score or []) or None,
        "read": matrix_file.given or None,
        "time_limit": time_limit,
        "null": null,
        "null_runs": null_runs or None,
        "held_out": held_out or None,
        "stability": stability or None,
    }
    given = {key: value for key, value in options.items() if value is not None}
    text = None
    if plan is not None or "datasets" not in given:
        chosen = _stored_plan(plan, run_folder, given, trust_commands)
        text = plan.read_text(encoding="utf-8") if plan is not None else None
    else:
        chosen = Plan(**given)  # type: ignore[arg-type]
    with progress() as update:
        tell = None if update is None else lambda done, total, cell: update("cells", done, total, _named(cell))
        try:
            work = Sweep(chosen, run_folder, jobs=jobs, scheduler=scheduler, retry=retry, progress=tell, plan_text=text)
            run = work.run()
        except KeyboardInterrupt:
            err.print(f"Stopped. What is finished is in {run_folder}; the same command continues it.")
            raise
    _summarise(run)


def _named(cell: Any) -> str:
    return f"{cell.dataset} {cell.algorithm} K={cell.k}"


def _stored_plan(plan: Path | None, folder: Path, given: dict[str, Any], trusted: bool) -> Plan:
    from bivaluate.sweep.load import load_run
    from bivaluate.sweep.plan import Plan

    if plan is not None:
        if given:
            names = [_SPELLED.get(name, f"--{name.replace('_', '-')}") for name in given]
            raise ParameterError(f"--plan cannot be combined with {listing(names)}; put it in {plan}.")
        return Plan.from_toml(plan)
    if given or not os.path.isdir(folder):
        raise ParameterError(
            "no data set is named: give a matrix file, scenario:S1, yeast:* …, --plan, or --out alone."
        )
    stored = load_run(folder).plan
    outside = [name for name in stored.algorithms if ":" in name]  # cmd:, recipe:, package.module:Class
    if outside and not trusted:
        raise ParameterError(
            f"the run in {folder} would run {listing([repr(name) for name in outside])}, which only the folder names. If you "
            "know who made it, add --trust-commands."
        )
    return stored


def split_algorithms(text: str | None) -> list[str] | None:
    """Return the words between commas; a command goes on to the end.

    >>> split_algorithms("las,spectral*,cmd:tool --sizes 2,3 {matrix}")
    ['las', 'spectral*', 'cmd:tool --sizes 2,3 {matrix}']
    """
    if text is None:
        return None
    names, mark, command = text.partition("cmd:")
    return [*(listed(names) or []), *([mark + command] if mark else [])]


def _numbers(option: str, text: str | None) -> list[int] | None:
    """Return the numbers of "3,5,8" or "2-10".

    >>> _numbers("-k", "2,5-7")
    [2, 5, 6, 7]
    """
    if text is None:
        return None
    numbers: list[int] = []
    for word in listed(text) or []:
        first, dash, last = word.partition("-")
        if not (first.isdigit() and (last.isdigit() or not dash)):
            raise ParameterError(f"{option} is {text!r}; numbers like 3,5,8 or 2-10 are needed.")
        numbers += range(int(first), int(last if dash else first) + 1)
    return numbers


def _by_algorithm(texts: Sequence[str]) -> dict[str, dict[str, Any]]:
    from bivaluate.sweep.plan import parse_assignments

    parameters: dict[str, dict[str, Any]] = {}
    for name, value in parse_assignments("--param", texts).items():
        algorithm, dot, parameter = name.rpartition(".")
        if not dot:
            raise ParameterError(
                f"--param {name}: algorithm.parameter=value is needed, for example las.n_restarts=200."
            )
        parameters.setdefault(algorithm, {})[parameter] = value
    return parameters


def _summarise(run: Run) -> None:
    status = run.results["status"].value_counts()
    counts = ", ".join(f"{status[name]} {name}" for name in status.index)
    out.print(f"{len(run.results)} of {plural(len(run.cells), 'cell')} finished: {counts}")
    bad = run.results[~run.results["status"].isin(["ok", "degenerate"])]
    for (algorithm, state), group in bad.groupby(["algorithm", "status"], sort=False):
        out.print(f"  {algorithm}: {len(group)} {state}, for example: {group['reason'].iloc[0]}")
    if len(run.variants):
        out.print(f"{plural(len(run.variants), 'cell')} on surrogates: variants.csv")
    out.print(f"tables: {run.path / 'results.csv'}, biclusters.csv, times.csv", soft_wrap=True)
    if len(run.results) and len(bad) == len(run.results):
        err.print(f"error: every cell failed, so there is nothing to choose from; the reasons are in {run.path}.")
        raise typer.Exit(1)
    out.print(f"next: bivaluate select {run.path}", soft_wrap=True)

"""`bivaluate sweep`: algorithms x K x seeds x data sets into a run folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bivaluate._errors import ParameterError, RunError
from bivaluate.cli.console import err, out

if TYPE_CHECKING:
    from bivaluate.sweep.load import Run
    from bivaluate.sweep.plan import Plan
    from bivaluate.sweep.run import Progress


def sweep(
    matrices: Annotated[
        list[str] | None,
        typer.Argument(
            help="Data sets: matrix files, `scenario:S1`, `scenario:*`, `yeast:04_elutriation`, `yeast:*`, … "
            "None at all continues the run in --out.",
            show_default=False,
        ),
    ] = None,
    run_folder: Annotated[
        Path, typer.Option("--out", "-o", help="The run folder; an unfinished run in it is continued.")
    ] = Path("run"),
    plan: Annotated[Path | None, typer.Option(help="Read all of this from a TOML plan instead of options.")] = None,
    algorithms: Annotated[
        str | None,
        typer.Option(
            "--algorithms", "-a", help="Keys separated by commas, or package.module:Class of yours. [cca,las,spectral]"
        ),
    ] = None,
    k: Annotated[
        str | None,
        typer.Option("-k", help="Numbers of biclusters: 3,5,8 or 2-10; 'planted' for scenarios. [3,5,8,10,15]"),
    ] = None,
    seeds: Annotated[
        str | None, typer.Option(help="How many seeds (10 means 0 to 9), or which: 0,4,7 or 20-29. [1]")
    ] = None,
    algorithm_seed: Annotated[
        int | None, typer.Option(help="One random state for every algorithm; seeds then only draw scenarios.")
    ] = None,
    parameters: Annotated[
        list[str] | None, typer.Option("--param", help="Parameter of an algorithm: las.n_restarts=100; repeatable.")
    ] = None,
    metrics: Annotated[str | None, typer.Option(help="Measures separated by commas (see `bivaluate metrics`).")] = None,
    all_metrics: Annotated[bool, typer.Option("--all", help="Compute every measure.")] = False,
    score: Annotated[
        list[str] | None,
        typer.Option(
            help="How to score: min_rows=3, min_cols=3, small=drop, degenerate=formula, missing=omit, exponent=0.25, …; "
            "repeatable."
        ),
    ] = None,
    transpose: Annotated[bool, typer.Option(help="Matrix files store objects as columns.")] = False,
    time_limit: Annotated[float | None, typer.Option(help="Seconds a cell may take.")] = None,
    null: Annotated[
        str | None, typer.Option(help="Repeat on surrogates: permute (rows permuted) or phase (for ordered columns).")
    ] = None,
    null_runs: Annotated[int, typer.Option(help="Surrogates per matrix. [19]", show_default=False)] = 0,
    perturb: Annotated[str | None, typer.Option(help="Repeat on perturbations: noise:0.1,mask:0.05.")] = None,
    perturb_runs: Annotated[
        int, typer.Option(help="Perturbations of each kind per matrix. [5]", show_default=False)
    ] = 0,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Worker processes on this machine.")] = 1,
    scheduler: Annotated[
        str | None, typer.Option(help="Use the workers of the Dask scheduler at this address: tcp://host:8786.")
    ] = None,
    resume: Annotated[bool, typer.Option(help="Continue an unfinished run in --out.")] = True,
    retry: Annotated[bool, typer.Option("--retry", help="Run failed and timed-out cells again.")] = False,
) -> None:
    """Run algorithms over K, seeds and data sets, and score everything.

    Killed at any moment, the same command goes on where it was.

    Examples:

    - `bivaluate sweep expression.tsv -k 3,5,8,10,15 --seeds 10 --out run --jobs 2`
    - `bivaluate sweep 'scenario:*' -k planted --seeds 20 --out scenarios`
    - `bivaluate sweep 'yeast:*' --algorithms cca,las --null permute --out yeast`
    - `bivaluate sweep --plan plan.toml --out run --scheduler tcp://head:8786`
    - `bivaluate sweep --out run` (continue)
    """
    from bivaluate.sweep.plan import Plan, parse_assignments
    from bivaluate.sweep.run import Sweep

    if not resume and (run_folder / "journal.sqlite").exists():
        raise RunError(f"{run_folder} holds a run already. Choose another --out, or omit --no-resume.")
    options = {
        "datasets": matrices or None,
        "algorithms": _listed(algorithms),
        "k": k if k == "planted" else _numbers("-k", k),
        "seeds": int(seeds) if seeds and seeds.isdigit() else _numbers("--seeds", seeds),
        "algorithm_seed": algorithm_seed,
        "parameters": _parameters(parameters),
        "metrics": "all" if all_metrics else _listed(metrics),
        "score": parse_assignments("--score", score or []) or None,
        "read": {"transpose": True} if transpose else None,
        "time_limit": time_limit,
        "null": null,
        "null_runs": null_runs or None,
        "perturb": _listed(perturb),
        "perturb_runs": perturb_runs or None,
    }
    given = {key: value for key, value in options.items() if value is not None}
    text = None
    if plan is not None or "datasets" not in given:
        chosen = _stored_plan(plan, run_folder, given)
        text = plan.read_text(encoding="utf-8") if plan is not None else None
    else:
        chosen = Plan(**given)  # type: ignore[arg-type]
    with _progress() as progress:
        try:
            run = Sweep(
                chosen, run_folder, jobs=jobs, scheduler=scheduler, retry=retry, progress=progress, plan_text=text
            ).run()
        except KeyboardInterrupt:
            err.print(f"Stopped. What is finished is in {run_folder}; the same command continues.")
            raise
    _summarise(run)


def _stored_plan(plan: Path | None, folder: Path, given: dict[str, Any]) -> Plan:
    from bivaluate.sweep.load import load_run
    from bivaluate.sweep.plan import Plan

    if plan is not None:
        if given:
            raise ParameterError(f"--plan says everything; write {', '.join(given)} into {plan} instead.")
        return Plan.from_toml(plan)
    if given or not folder.is_dir():
        raise ParameterError(
            "no data set is named: give a matrix file, scenario:S1, yeast:* …, or --plan; "
            "or only --out to continue a run."
        )
    return load_run(folder).plan


def _listed(text: str | None) -> list[str] | None:
    return None if text is None else [word.strip() for word in text.split(",") if word.strip()]


def _numbers(option: str, text: str | None) -> list[int] | None:
    """Return the numbers of "3,5,8" or "2-10".

    >>> _numbers("-k", "2,5-7")
    [2, 5, 6, 7]
    """
    if text is None:
        return None
    numbers: list[int] = []
    for word in _listed(text) or []:
        first, dash, last = word.partition("-")
        if not (first.isdigit() and (last.isdigit() or not dash)):
            raise ParameterError(f"{option} is {text!r}; numbers like 3,5,8 or 2-10 are needed.")
        numbers += range(int(first), int(last if dash else first) + 1)
    return numbers


def _parameters(texts: Sequence[str] | None) -> dict[str, dict[str, Any]] | None:
    from bivaluate.sweep.plan import parse_assignments

    parameters: dict[str, dict[str, Any]] = {}
    for name, value in parse_assignments("--param", texts or []).items():
        algorithm, dot, parameter = name.rpartition(".")
        if not dot:
            raise ParameterError(
                f"--param names {name!r}; algorithm.parameter=value is needed, for example --param las.n_restarts=200."
            )
        parameters.setdefault(algorithm, {})[parameter] = value
    return parameters or None


@contextmanager
def _progress() -> Iterator[Progress | None]:
    """Show a bar with rate and remaining time if someone is watching."""
    if not err.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task("loading", total=None, rate="")
        begun: list[int] = []

        def update(done: int, total: int, cell: Any) -> None:
            begun.append(done)
            if len(begun) == 1:
                bar.reset(task, total=total, completed=done - 1)
            speed = bar.tasks[0].speed
            bar.update(
                task,
                completed=done,
                description=f"{cell.dataset} {cell.algorithm} K={cell.k}",
                rate=f"{speed:.3g} cells/s" if speed else "",
            )

        yield update


def _summarise(run: Run) -> None:
    status = run.results["status"].value_counts()
    counts = ", ".join(f"{status[name]} {name}" for name in status.index)
    out.print(f"{len(run.results)} of {len(run.cells)} cells finished: {counts}", markup=False)
    bad = run.results[~run.results["status"].isin(["ok", "degenerate"])]
    for (algorithm, state), group in bad.groupby(["algorithm", "status"], sort=False):
        out.print(f"  {algorithm}: {len(group)} {state}, for example: {group['reason'].iloc[0]}", markup=False)
    copies = len(run.variants)
    if copies:
        out.print(f"{copies} cells on surrogates and perturbed copies: variants.csv")
    out.print(f"tables: {run.path / 'results.csv'}, biclusters.csv, times.csv", markup=False)
    out.print(f"next: bivaluate select {run.path}", markup=False)

"""`bivaluate sweep`: algorithms x K x seeds x data sets into a run folder."""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from bivaluate._errors import ParameterError, RunError
from bivaluate._text import listing, plural
from bivaluate.cli import options
from bivaluate.cli._types import DataFrame, Plan, Run
from bivaluate.cli.options import COMMANDS, MatrixFile, chosen_metrics, grouped, listed, option
from bivaluate.cli.tables import err, out, print_list, progress

# How options are spelled whose names in a plan do not say it.
_SPELLED = {"datasets": "MATRICES", "k": "-k", "parameters": "--param", "read": "options on how to read the matrix"}


_ALGORITHMS = f"Keys, or package.module:Class; auto (the default) for those that fit the data; or {COMMANDS}"
_MATRICES = "Matrix files, scenario:S1, yeast:*, …, or a plan (.toml); with none, the run in --out is continued."


@grouped
def sweep(
    matrix_file: MatrixFile,
    matrices: Annotated[list[str] | None, typer.Argument(help=_MATRICES)] = None,
    run_folder: Annotated[Path, option("The run folder; a run in it is continued.", "--out", "-o")] = Path("run"),
    plan: Annotated[Path | None, option("Read all of this from a TOML plan, or from a run folder.")] = None,
    algorithms: Annotated[str | None, option(_ALGORITHMS, "--algorithms", "-a")] = None,
    k: Annotated[str | None, option("Numbers of biclusters: 3,5,8, 2-10, planted. [the plan of `find`]", "-k")] = None,
    seeds: Annotated[str | None, option("How many seeds (10 means 0 to 9), or which: 0,4,7 or 20-29. [1]")] = None,
    algorithm_seed: Annotated[int | None, option("One seed for every algorithm, whatever --seeds says.")] = None,
    parameters: options.Parameters = None,
    metrics: options.Metrics = None,
    all_metrics: Annotated[bool, option("Compute every measure, as --metrics all does.", "--all")] = False,
    own: options.OwnMeasures = None,
    score: options.ScoreSettings = None,
    time_limit: Annotated[float | None, option("Seconds a fit may take.")] = None,
    null: Annotated[str | None, option("Repeat on surrogates: permute, or phase for ordered columns.")] = None,
    null_runs: Annotated[int, option("Surrogates per matrix. [19]", show_default=False)] = 0,
    held_out: Annotated[int, option("Predict held-out values in so many folds; then `select --by predictive`.")] = 0,
    stability: Annotated[int, option("Search again in so many subsamples of rows and columns, say 10.")] = 0,
    jobs: options.WorkerJobs = 1,
    scheduler: options.Scheduler = None,
    resume: Annotated[bool, option("Continue an unfinished run in --out.")] = True,
    part: Annotated[str | None, option("One part of the plan only, 3/16 for the third of sixteen.")] = None,
    merge: Annotated[bool, option("Put parts together: their folders in place of matrices.", "--merge")] = False,
    retry: Annotated[bool, option("Run failed and timed-out fits again.", "--retry")] = False,
    trust_commands: Annotated[bool, option("Run programs that only a run folder names.", "--trust-commands")] = False,
) -> None:
    """Run algorithms over K, seeds and data sets, and score everything.

    If it is killed, the same command continues where it left off. With several algorithms, --param names one of them:
    las.n_restarts=100; with one, n_restarts=100 will do.

    Examples:

    - `bivaluate sweep expression.csv -a las,spectral -k 3,5 --seeds 3 --out run --jobs 2`
    - `bivaluate sweep expression.csv --out wide` (the plan of `find`)
    - `bivaluate sweep 'scenario:*' -k planted --seeds 20 --out scenarios`
    - `bivaluate sweep 'yeast:*' --algorithms cca,las --null permute --out yeast`
    - `bivaluate sweep --out run` (continue)

    With files of your own:

    - `bivaluate sweep plan.toml --part 3/16 --out P3`, then `bivaluate sweep --merge P1 P2 … P16 --out run`
    """
    from bivaluate.algorithms.command import style_of
    from bivaluate.algorithms.registry import split_name
    from bivaluate.sweep.plan import Plan, parse_assignments
    from bivaluate.sweep.run import Sweep

    if merge:
        from bivaluate.sweep.run import merge_parts

        _summarise(merge_parts(matrices or [], run_folder), [])
        return
    if plan is None and matrices and len(matrices) == 1 and matrices[0].endswith(".toml"):
        plan, matrices = Path(matrices[0]), None
    if not resume and os.path.exists(run_folder / "journal.sqlite"):
        raise RunError(f"{run_folder} holds a run already. Choose another --out, or omit --no-resume.")
    words = {split_name(word)[0] or word: word for word in split_algorithms(algorithms) or []}
    settings = {words.get(name, name): of for name, of in _by_algorithm(parameters or [], list(words)).items()}
    if matrices and len(styles := {style_of(matrix) for matrix in matrices}) == 1:
        for word in words.values():
            if "cmd:" in word and styles != {"csv"}:  # a command gets the matrix in the format of the file
                settings[word] = {"matrix": min(styles), **settings.get(word, {})}
    asked = {
        "datasets": matrices or None,
        "algorithms": split_algorithms(algorithms),
        "k": k if k in ("planted", "auto") else _numbers("-k", k),
        "seeds": int(seeds) if seeds and seeds.isdigit() else _numbers("--seeds", seeds),
        "algorithm_seed": algorithm_seed,
        "parameters": settings or None,
        "metrics": chosen_metrics("all" if all_metrics else metrics, own) if metrics or all_metrics or own else None,
        "score": parse_assignments("--score", score or []) or None,
        "read": matrix_file.given or None,
        "time_limit": time_limit,
        "null": null,
        "null_runs": null_runs or None,
        "held_out": held_out or None,
        "stability": stability or None,
    }
    given = {key: value for key, value in asked.items() if value is not None}
    if plan is not None or "datasets" not in given:
        chosen = _stored_plan(plan, run_folder, given, trust_commands)
    else:
        chosen = Plan(**given)  # type: ignore[arg-type]
    with progress("fits") as update:
        tell = update and (lambda done, total, cell: update(done, total, f"{cell.dataset} {cell.algorithm} K={cell.k}"))
        try:
            how: dict[str, Any] = {"jobs": jobs, "scheduler": scheduler, "retry": retry, "part": part}
            run = Sweep(chosen, run_folder, **how, progress=tell).run()
        except KeyboardInterrupt:
            err.print(f"Stopped. What is finished is in {run_folder}; the same command continues it.")
            raise
    named = [key for key in chosen.algorithms if key not in chosen.by_pattern]
    _summarise(run, [split_name(key)[0] or key for key in named], part or "")


def _stored_plan(plan: Path | None, folder: Path, given: dict[str, Any], trusted: bool) -> Plan:
    from bivaluate.sweep.load import load_run
    from bivaluate.sweep.plan import Plan

    asked = {name: given.pop(name) for name in ("held_out", "stability") if plan is not None and name in given}
    if plan is not None and given:
        names = [_SPELLED.get(name, f"--{name.replace('_', '-')}") for name in given]
        raise ParameterError(f"--plan cannot be combined with {listing(names)}; put it in {plan}.")
    if plan is None and (given or not os.path.isdir(folder)):
        raise ParameterError("no data set is named: give a matrix, scenario:S1, yeast:* …, --plan, or --out alone.")
    if plan is not None and not os.path.isdir(plan):
        return replace(Plan.from_toml(plan), **asked)
    folder = plan or folder
    stored = load_run(folder).plan
    outside = [name for name in stored.algorithms if ":" in name]  # cmd:, recipe:, package.module:Class
    if outside and not trusted:
        would = f"the run in {folder} would run {listing([repr(name) for name in outside])}"
        raise ParameterError(f"{would}, which only the folder names. If you know who made it, add --trust-commands.")
    return replace(stored, null=None, null_runs=0, **asked) if asked else stored  # surrogates answer another question


def split_algorithms(text: str | None) -> list[str] | None:
    """Return the words between commas; a command goes on to the next command, or to the end.

    >>> split_algorithms("las,spectral*,cmd:tool --sizes 2,3 {matrix},mine=cmd:other")
    ['las', 'spectral*', 'cmd:tool --sizes 2,3 {matrix}', 'mine=cmd:other']
    """
    if text is None:
        return None
    first, *commands = re.split(r"(?:^|,)(?=\s*(?:[^,:={]+=)?cmd:)", text)
    return [*(listed(first) or []), *(command.strip() for command in commands)]


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
        if not (first.isdigit() and (last.isdigit() or not dash) and int(first) <= int(last or first)):
            raise ParameterError(f"{option} is {text!r}; numbers like 3,5,8 or 2-10 are needed, the smaller first.")
        numbers += range(int(first), int(last if dash else first) + 1)
    return numbers


def _by_algorithm(texts: Sequence[str], asked: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the settings of each algorithm; where a single one is asked for, it need not be named."""
    from bivaluate.algorithms.registry import ALGORITHMS, parameters_of
    from bivaluate.sweep.plan import parse_assignments

    only = asked[0] if len(asked) == 1 and (asked[0] in ALGORITHMS or ":" in asked[0]) else ""
    parameters: dict[str, dict[str, Any]] = {}
    for name, value in parse_assignments("--param", texts).items():
        algorithm, dot, parameter = name.rpartition(".")
        if not dot and not only:
            have = [key for key in ALGORITHMS if name in parameters_of(key)]
            who = f"{listing(have, 5)} {'has' if len(have) == 1 else 'have'} it" if have else "no algorithm has it"
            form = f"as in {have[0] if have else 'las'}.{name}={value}"
            raise ParameterError(f"--param {name}: algorithm.parameter=value is needed, {form}; {who}.")
        parameters.setdefault(algorithm or only, {})[parameter] = value
    return parameters


def report_failures(failed: DataFrame, named: Iterable[str], where: Path) -> None:
    """Print how many fits of each algorithm failed, and end with code 1 if all of one that was named did."""
    from bivaluate.algorithms.registry import algorithm_label
    from bivaluate.sweep.load import failure_sentences

    print_list("Fits that failed", failure_sentences(failed))
    everywhere = set(failed.loc[failed["failed"] + failed["timed_out"] == failed["fits"], "algorithm"])
    if gone := [key for key in named if key in everywhere]:
        names = listing([algorithm_label(key) for key in gone])
        err.print(f"error: every fit of {names} failed; all reasons are in {where / 'results.csv'}.")
        raise typer.Exit(1)


def _summarise(run: Run, named: Iterable[str], part: str = "") -> None:
    from bivaluate.sweep.load import failed_fits, unpredicted_sentences

    ended = run.results["status"].value_counts()
    counts = "".join(f", {ended[name]} {name}" for name in ("failed", "timed out") if name in ended)
    out.print(f"{len(run.results)} of {plural(len(run.cells), 'fit')} finished{counts}")
    failed = failed_fits(run.results)
    if len(failed):
        out.print("note: the same command with --retry runs failed fits again")
    if len(run.variants):
        out.print(f"{plural(len(run.variants), 'fit')} on surrogates: variants.csv")
    for text in unpredicted_sentences(run):
        out.print(f"note: {text}")
    out.print(f"tables: {run.path / 'results.csv'}, biclusters.csv, times.csv", soft_wrap=True)
    if part:  # of which no algorithm may have all fits
        named = ()
    elif not run.results["status"].isin(["ok", "degenerate"]).any():
        report_failures(failed, failed["algorithm"], run.path)
    then = f"sweep --merge, with the folders of all parts (this is {part})" if part else f"select {run.path}"
    out.print(f"next: bivaluate {then}", soft_wrap=True)
    report_failures(failed, named, run.path)

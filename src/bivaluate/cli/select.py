"""`bivaluate select`: the choice of algorithm and K from a run folder, and how far to trust it."""

import shlex
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from bivaluate._files import make_folder
from bivaluate._text import percent, plural, refined
from bivaluate.cli._types import Run, Selection
from bivaluate.cli.options import Csv, Json, RunFolder, option
from bivaluate.cli.tables import err, give, heading, number, percentage, print_list, print_table, score_text, write_csv


def select(
    run: RunFolder,
    by: Annotated[str | None, option("The measure to choose by (default: total_evidence).")] = None,
    as_json: Json = False,
    csv: Csv = None,
    tables: Annotated[Path | None, option("Also write every table as CSV into this folder.")] = None,
    consensus: Annotated[Path | None, option("Folder for the biclusters that recur over seeds.")] = None,
) -> None:
    """Choose algorithm and K from a sweep.

    For every data set: the best (algorithm, K) with its uncertainty over seeds, the K that are as good, and what other
    measures would choose.

    Examples:

    - `bivaluate select run`
    - `bivaluate select run --by nve_cov`
    - `bivaluate select run --consensus again`
    """
    from bivaluate.sweep.load import load_run
    from bivaluate.sweep.select import select as choose

    opened = load_run(run)
    selection = choose(opened, by)
    document = selection.to_dict() | {"recommendation": _recommendation(selection, opened)} if as_json else {}
    if not give(selection.best.to_dict("records"), document, csv, as_json, list(selection.best.columns)):
        _print(selection, opened)
    if consensus:
        _write_consensus(consensus, selection, opened)
    if tables:
        make_folder(tables)
        for name, frame in selection.tables.items():
            write_csv(tables / f"{name}.csv", frame.to_dict("records"), list(frame.columns))


def _write_consensus(folder: Path, selection: Selection, run: Run) -> None:
    """Write one solution per data set: the biclusters that at least half of the seeds of the choice have in common."""
    from bivaluate.sweep.select import consensus_of

    make_folder(folder)
    for dataset in run.datasets:
        found = consensus_of(run, selection, dataset)
        if found is None:
            err.print(f"{dataset}: nothing was chosen, so there is no consensus.")
            continue
        target = folder / f"{dataset.replace(':', '_').replace('/', '_')}.json"
        found.solution.to_json(target)
        shares = ", ".join(map("{} {}".format, found.solution.names, map(percent, found.support.tolist())))
        known = f"{shares} of the seeds" if shares else "none recurs"
        err.print(f"wrote {target}: {plural(len(found.solution), 'bicluster')} ({known})")


def _print(selection: Selection, run: Run) -> None:
    with_null = "gap" in selection.best
    _print_choice(selection, with_null)
    least = f"; gap to the null, p (at least {number(1 / (run.plan.null_runs + 1))})" if with_null else ""
    _print_measures(selection.best, f"\nwhat each measure chooses (algorithm K, seeds won{least})")
    print_list("Warnings", selection.warnings)
    print_list("Recommendation", _recommendation(selection, run))


def _recommendation(selection: Selection, run: Run) -> list[str]:
    """Say what is there, which solution to take, and how to prune it where not all of it is supported."""
    from bivaluate.judge.choice import PREDICTIVE
    from bivaluate.judge.verdict import asking_held_out_cells, holding, pruning
    from bivaluate.sweep.again import held_out_command
    from bivaluate.sweep.select import solution_of

    said = list(selection.verdict)
    taken = {name: solution_of(run, selection, name) for name in run.datasets}
    for name, found in taken.items():
        if found is None:
            continue
        of = f", of the matrix {found.matrix}" if found.own_matrix else ""
        said.append(f"take {found.path} ({holding(found.n_biclusters, found.n_supported)}){of}")
        if found.n_supported < found.n_biclusters:
            if whole := solution_of(run, selection, name, whole=True):
                said[-1] += f", or {whole.path} ({holding(whole.n_biclusters, whole.n_supported)})"
            omit = run.plan.score.get("missing") == "omit"
            said.append(pruning(found.matrix, shlex.quote(str(found.path)), omit))
    command = held_out_command(run) if any(taken.values()) and PREDICTIVE not in run.results else ""
    return [*said, *([asking_held_out_cells(command)] if command else [])]


def _print_choice(selection: Selection, with_null: bool) -> None:
    from bivaluate.judge.limits import CONFIDENCE
    from bivaluate.registry import symbol
    from bivaluate.sweep.select import NOT_FITTED, NOTHING, is_own_k

    shown = partial(score_text, selection.by)
    sure = f"{percent(CONFIDENCE)} over seeds"
    headings = ["data set", "algorithm", "K requested", "as good", "mean", sure, "seeds won", "K found"]
    headings += [heading("n_supported"), "coverage", "runner-up", *(["null", "gap", "p"] if with_null else [])]
    rows = []
    for row in selection.best[selection.best["measure"] == selection.by].to_dict("records"):
        span = "–" if row["low"] != row["low"] else f"{shown(row['low'])} to {shown(row['high'])}"
        won = f"{row['wins']}/{row['contests']}"
        span, won = ("all the same", "–") if row["n"] > 1 and row["sd"] == 0 else (span, won)
        other = row["runner_up"].partition(" K=")[0]
        second = other if is_own_k(other) else row["runner_up"]
        second = f"{second} ({shown(row['runner_up_mean'])})" if second else "–"
        k = f"{row['k']}{' at most' * is_own_k(row['algorithm'])}"
        good = "–" if row["k_low"] == row["k_high"] else row["k_as_good"]
        cells = [row["dataset"], refined(row["algorithm"]), k, good, shown(row["mean"]), span, won]
        cells += [number(row["found"]), number(row["n_supported"]), percentage(row["coverage"]), second]
        if with_null:
            cells.append(f"{shown(row['null_low'])} to {shown(row['null_high'])}")
            cells += [number(row["gap"]), number(row["p_value"])]
        rows.append(cells)
    for dataset, reason in selection.undecided.items():
        none = {NOTHING: "nothing", NOT_FITTED: NOT_FITTED}.get(reason, "none")
        rows.append([dataset, none, *("–" for _ in headings[2:])])
    print_table(headings, rows, f"best by {symbol(selection.by)}; K found and supported are means over seeds")


def _print_measures(best: Any, title: str) -> None:
    """Print what each measure chooses for each data set; measures go across where they are few and data sets many."""
    from bivaluate.registry import symbol
    from bivaluate.sweep.select import is_own_k

    shown: dict[str, dict[str, str]] = {}
    for row in best.to_dict("records"):
        null = f"; {number(row['gap'])}, p {number(row['p_value'])}" if "gap" in row else ""
        k = "" if is_own_k(row["algorithm"]) else f" {row['k']}"
        chosen = f"{refined(row['algorithm'])}{k} ({row['wins']}/{row['contests']}{null})"
        shown.setdefault(symbol(row["measure"]), {})[row["dataset"]] = chosen
    datasets = list(dict.fromkeys(best["dataset"]))
    rows = [[name, *(of.get(dataset, "–") for dataset in datasets)] for name, of in shown.items()]
    table = [["", *datasets], *rows]
    if len(datasets) > 1 and len(rows) <= 8:
        table = [list(line) for line in zip(*table, strict=True)]
    if rows:
        print_table(table[0], table[1:], title)

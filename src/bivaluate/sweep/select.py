"""Which algorithm, how many biclusters: the choice by every measure, and how far it can be trusted, in words."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bivaluate import registry
from bivaluate._errors import BivaluateError, ParameterError, RunError
from bivaluate._text import FINAL, first_few, html_table, number, percent, plural, refined
from bivaluate.judge import choice
from bivaluate.judge.choice import CANDIDATE, best, candidates, high_is_better
from bivaluate.judge.limits import is_negligible, is_thin
from bivaluate.measures.own import stand_in
from bivaluate.registry import RECORDS, get_metric, symbol
from bivaluate.sweep.again import continue_command, matrix_words
from bivaluate.sweep.cells import Cell
from bivaluate.sweep.copies import band, choice_p_values
from bivaluate.sweep.folder import solution_path
from bivaluate.sweep.journal import MEASURES, parsed
from bivaluate.sweep.plan import plain

if TYPE_CHECKING:
    import pandas as pd

    from bivaluate.judge.stability import Consensus
    from bivaluate.sweep.load import Run


Tables = Mapping[str, "pd.DataFrame"]
NOTHING = "nothing is supported"
NOT_FITTED = "not fitted yet"


@dataclass(frozen=True, repr=False)
class Selection:
    """The outcome of :func:`bivaluate.sweep.select.select`: tables and sentences.

    Parameters
    ----------
    by : str
        The measure asked for; the sentences are about its choice.
    candidates, best, best_k, null : DataFrame
        Per measure, data set, algorithm and K: mean over seeds, interval, coverage, wins; the best of each data set,
        with the runner-up; the best K of each algorithm. With a null also its band, the gap and the (median) p-value;
        in `best` that of the choice, because every surrogate makes the same choice; `null` has them per fit.
        ``k_all_supported`` of `best` is the K up to which every bicluster is supported, at most the best.
    verdict, warnings, undecided : list of str, list of str, dict
        What is there, a sentence per data set; what to distrust; why nothing can be chosen for a data set.

    See Also
    --------
    load_run

    Examples
    --------
    >>> run = Sweep(Plan("scenario:S9b", "cca", k=[2, 3], null="permute", null_runs=2)).run()
    >>> selection = select(run, by="asr")
    """

    by: str
    candidates: pd.DataFrame
    best: pd.DataFrame
    best_k: pd.DataFrame
    null: pd.DataFrame
    verdict: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    undecided: dict[str, str] = field(default_factory=dict)

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """All tables by name.

        Examples
        --------
        >>> list(selection.tables)
        ['best', 'best_k', 'candidates', 'null']
        """
        return {"best": self.best, "best_k": self.best_k, "candidates": self.candidates, "null": self.null}

    def choice(self, dataset: str) -> tuple[str, int] | None:
        """Return what was chosen for a data set.

        Parameters
        ----------
        dataset : str

        Returns
        -------
        tuple of (str, int) or None
            The algorithm and K; None where nothing can be chosen.

        Examples
        --------
        >>> selection.choice("scenario:S9b")
        ('cca', 2)
        """
        mine = self.best[(self.best["measure"] == self.by) & (self.best["dataset"] == dataset)]
        return None if not len(mine) else (str(mine["algorithm"].iloc[0]), int(mine["k"].iloc[0]))

    def __repr__(self) -> str:
        chosen = {name: self.choice(name) for name in dict.fromkeys(self.candidates["dataset"])}
        said = [f"{name}: {choice.called(*found)}" if found else f"{name}: none" for name, found in chosen.items()]
        return f"Selection(by {self.by}; {first_few(said, 3)})"

    def _repr_html_(self) -> str:
        mine = self.best[self.best["measure"] == self.by].head(20)
        rows = [(str(r["dataset"]), str(r["algorithm"]), str(r["k"]), number(r["mean"])) for r in _records(mine)]
        return html_table(f"Choice by {symbol(self.by)}", ["data set", "algorithm", "K", "mean"], rows)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values.

        Returns
        -------
        dict
            Tables as lists of mappings, undefined numbers as None.

        Examples
        --------
        >>> selection.to_dict()["best"][0]["algorithm"]
        'cca'
        """
        tables = {name: _records(frame) for name, frame in self.tables.items()}
        undecided = [{"dataset": dataset, "reason": reason} for dataset, reason in self.undecided.items()]
        said = {"verdict": self.verdict, "warnings": self.warnings, "undecided": undecided}
        return {"by": self.by, **tables, **said}


def select(run: Run, by: str | None = None) -> Selection:
    """Choose algorithm and K for every data set of a run."""
    results = run.results
    if not results["status"].isin(["ok", "degenerate"]).any():
        why = f"all failed, for example: {results['reason'].iloc[0]}" if len(results) else "none is finished"
        more = f" `{continue_command(run)}` continues the sweep." if run.missing else ""
        raise RunError(f"nothing to choose from in {run.path}: of {len(run.cells)} fits {why}.{more}")
    main = [metric.key for metric in registry.main_metrics()]
    remember_own(run)
    asked = registry.own_key(by, map(str, results)) or next((key for key in main if key in results), main[0])
    by = registry.get_ranking_metric(asked).key
    null = run.null
    tables: dict[str, list[pd.DataFrame]] = {"candidates": [], "best": [], "best_k": []}
    for measure in _measures(results, by):
        high, above = high_is_better(measure), get_metric(measure).nothing
        summary = candidates(results, measure, high, above)
        chosen, of_each = best(summary, high, above), best(summary, high, above, CANDIDATE[:2])
        for name, frame in {"candidates": summary, "best": chosen, "best_k": of_each}.items():
            if len(null):
                frame = frame.merge(band(null, measure), on=CANDIDATE, how="left")
                if name == "best":
                    of_choice = choice_p_values(summary, run.variants, str(run.plan.null), measure)
                    frame["p_value"] = frame["dataset"].map(of_choice).astype(float)
            tables[name].append(frame.assign(measure=measure))
    joined = {name: choice.joined(frames) for name, frames in tables.items()}
    joined["best"] = _with_others(joined["best"], joined["candidates"])
    own_k = {name for name in dict.fromkeys(results["algorithm"]) if is_own_k(name)}
    undecided = _undecided(run, joined, by)
    verdict = [_verdict(run, joined, name, by, own_k) for name in run.datasets]
    warnings = _cautions(run, joined, by, undecided)
    return Selection(by=by, null=null, verdict=verdict, warnings=warnings, undecided=undecided, **joined)


def remember_own(run: Run) -> None:
    """Make the user's own measures known that the run computed, without importing what only a folder names."""
    stored = parsed(run.journal.meta.get(MEASURES, "{}"))
    for key, direction in stored.items() if isinstance(stored, dict) else ():
        if key in run.results and ":" in key and direction in ("low", "high"):
            stand_in(key, direction)


def _verdict(run: Run, tables: Tables, dataset: str, by: str, own_k: Collection[str]) -> str:
    """Say what is there, what is still to be fitted, or that nothing could be scored."""
    missing, planned = (sum(cell.dataset == dataset for cell in cells) for cells in (run.missing, run.cells))
    if unscored := _unscored(run, dataset):
        more = f"; `{continue_command(run)}` continues the sweep" if unscored == NOT_FITTED else ""
        return f"{dataset}: {unscored}{more}."
    said = choice.verdict(tables["best"], tables["candidates"], dataset, by, own_k, run.plan.null_runs)
    are = "is" if missing == 1 else "are"
    rest = f" {missing:,} of its {plural(planned, 'fit')} {are} not finished: this may change." if missing else ""
    return said + rest


def consensus_of(run: Run, selection: Selection, dataset: str) -> Consensus | None:
    """Return the biclusters that recur over the seeds of what was chosen for a data set; None if nothing was."""
    from bivaluate.judge.stability import consensus_biclusters

    chosen = selection.choice(dataset)
    if chosen is None:
        return None
    seeds = _scored_fits(run, dataset, chosen)["seed"].tolist()
    if len({run.matrix(dataset, seed).values.tobytes() for seed in seeds}) > 1:
        raise RunError(f"every seed of {dataset} has its own matrix, so its biclusters cannot recur over seeds.")
    return consensus_biclusters([run.solution(Cell(dataset, *chosen, seed)) for seed in seeds])


class Taken(NamedTuple):
    """The solution to take: its file, its numbers of biclusters and supported ones, how commands name its matrix."""

    path: Path
    n_biclusters: int
    n_supported: float  # NaN where the run did not compute it
    matrix: str
    own_matrix: bool  # whether every seed has a matrix of its own


def solution_of(run: Run, selection: Selection, dataset: str, whole: bool = False) -> Taken | None:
    """Return the best solution of a choice, or of its K with supported biclusters only, if its file is there."""
    chosen = selection.choice(dataset)
    if chosen is not None and whole:
        best = selection.best[(selection.best["measure"] == selection.by) & (selection.best["dataset"] == dataset)]
        (k,) = best["k_all_supported"]
        chosen = None if math.isnan(k) or k == chosen[1] else (chosen[0].removesuffix(FINAL), int(k))
    if chosen is None or _sees_nothing(selection, dataset, run.plan.null_runs):
        return None
    mine = _scored_fits(run, dataset, chosen).dropna(subset=[selection.by])
    ordered = mine.sort_values(selection.by, ascending=not high_is_better(selection.by), kind="stable")
    for row in ordered.head(1).to_dict("records"):
        seed, supported = int(row["seed"]), float(row.get("n_supported", math.nan))
        path, own = solution_path(run.path, dataset, *chosen, seed), (dataset, seed) in run.matrices
        if path.exists():
            return Taken(path, int(row["n_biclusters"]), supported, matrix_words(run, dataset, seed), own)
    return None


def _scored_fits(run: Run, dataset: str, chosen: tuple[str, int]) -> pd.DataFrame:
    """Return the results of a choice over its seeds, as far as they were scored."""
    mine = run.results[run.results[CANDIDATE].eq([dataset, *chosen]).all(axis=1)]
    return mine[mine["status"].isin(["ok", "degenerate"])]


def _sees_nothing(selection: Selection, dataset: str, surrogates: int) -> bool:
    """Whether every one of evidence and held-out cells that was asked sees nothing in a data set."""
    best = selection.best
    rows = {row["measure"]: row for row in best[best["dataset"] == dataset].to_dict("records")}
    asked = [key for key in choice.PILLARS if (selection.candidates["measure"] == key).any()]
    p_values = {key: choice.reached(float(row.get("p_value", math.nan)), surrogates) for key, row in rows.items()}
    return bool(asked) and choice.seeing_nothing(rows, asked, p_values) == asked


@cache
def is_own_k(algorithm: str) -> bool:
    """Return whether an algorithm finds K itself; of one that cannot be loaded here, nothing is known."""
    from bivaluate.algorithms.registry import finds_k

    try:
        return finds_k(algorithm)
    except BivaluateError:
        return False


def _with_others(best: pd.DataFrame, candidates: pd.DataFrame) -> pd.DataFrame:
    """Return the choices with the K of the algorithm that are as good, and the one up to which all is supported."""
    ranges = []
    for row in best.to_dict("records"):
        curve = choice.curve_of(row, candidates)
        good = choice.as_good(curve, row["measure"]) or [row["k"]]
        whole = getattr(choice.all_supported(curve, row["k"]), "k", math.nan)
        ranges.append((good[0], good[-1], choice.spans(good, [at.k for at in curve]), whole))
    names = ("k_low", "k_high", "k_as_good", "k_all_supported")
    return best.assign(**{name: [found[i] for found in ranges] for i, name in enumerate(names)})


def _measures(results: pd.DataFrame, by: str) -> list[str]:
    if by not in results:
        option = {"predictive": "--held-out 5", "stability": "--stability 10"}.get(by, f"{by!r} among its metrics")
        raise ParameterError(f"the run did not compute {by!r}; run the sweep again into another folder, with {option}.")
    main = [RECORDS[key] for key in registry.main_keys(map(str, results)) if key != by]
    return [by, *(metric.key for metric in main if metric.ranks_solutions and not metric.of_memberships)]


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    clean = frame.astype(object).where(frame.notna(), None)
    return [{str(key): plain(value) for key, value in record.items()} for record in clean.to_dict("records")]


def _undecided(run: Run, tables: Tables, by: str) -> dict[str, str]:
    """Return why nothing is chosen by `by`, for every data set of which that is so."""
    best, candidates = tables["best"], tables["candidates"]
    chosen, reasons = set(best.loc[best["measure"] == by, "dataset"]), {}
    for dataset in run.datasets:
        if dataset in chosen:
            continue
        mine = candidates[(candidates["measure"] == by) & (candidates["dataset"] == dataset)]
        able = mine[choice.enough_seeds(mine["n"], mine["seeds"])]
        unscored = _unscored(run, dataset)
        reasons[dataset] = unscored or f"no candidate has a defined {symbol(by)} for at least half of its seeds"
        if len(able):
            nothing = ((able["mean"] <= RECORDS[by].nothing) | ~able["stands"]).all()
            reasons[dataset] = NOTHING if nothing else f"all candidates tie in {symbol(by)}"
    return reasons


def _unscored(run: Run, dataset: str) -> str:
    """Say why a data set has no solution that could be scored; nothing where it has one."""
    mine = run.results[run.results["dataset"] == dataset]
    if mine["status"].isin(["ok", "degenerate"]).any():
        return ""
    if not len(mine):
        return NOT_FITTED
    return f"all that was fitted failed, for example: {str(mine['reason'].iloc[0]).removesuffix('.')}"


def _cautions(run: Run, tables: Tables, by: str, undecided: Mapping[str, str]) -> list[str]:
    """Return what failed, and what to distrust about the winners of `by`."""
    from bivaluate.sweep.load import failed_fits, failure_sentences, unpredicted_sentences

    left = {f"{len(run.missing):,} of {plural(len(run.cells), 'fit')}": len(run.missing)}
    left |= {f"{plural(run.missing_copies, 'fit')} on surrogates": run.missing_copies}
    are = {what: "is" if count == 1 else "are" for what, count in left.items() if count}
    sentences = [f"{what} {is_} not finished; start the sweep again to continue." for what, is_ in are.items()]
    if failures := failure_sentences(failed_fits(run.results)):
        sentences += [*failures, f"all reasons are in {run.path / 'results.csv'}."]
    sentences += unpredicted_sentences(run)
    best = tables["best"][tables["best"]["measure"] == by]
    chosen = {row["dataset"]: row for row in best.to_dict("records")}
    for dataset in run.datasets:
        why = undecided.get(dataset)
        said = [f"{why}; nothing can be chosen."] if why else _about_winner(run, chosen[dataset], by)
        sentences += [f"{dataset}: {text}" for text in said]
    return sentences


def _about_winner(run: Run, row: Mapping[Any, Any], by: str) -> list[str]:
    name = f"the winner {refined(row['algorithm'])} K = {row['k']}"
    found = [choice.one_would_do(row["n"], name)] if row["n"] > 1 and row["sd"] == 0 else []
    if is_negligible(row["coverage"]) and not row["n_supported"] > 0:
        found.append(f"{name} covers only {percent(row['coverage'])} of the matrix; that is negligible.")
    left_out = row["degenerate"] + row["failed"]
    if left_out and row["n"] < row["seeds"]:
        found.append(f"{name} has no score in {left_out} of {row['seeds']} seeds; its mean is over the others.")
    mine = run.biclusters[run.biclusters[CANDIDATE].eq([row[column] for column in CANDIDATE]).all(axis=1)]
    thin = is_thin(mine["n_rows"], mine["n_cols"]).mean()
    if thin > 0:
        few = f"{percent(thin)} of the biclusters of {name} have one row or at most two columns"
        found.append(f"{few}, which {symbol('ve')} cannot judge.")
    if few := choice.few_surrogates(row.get("p_value", math.nan), run.plan.null_runs, by):
        found.append(few)
    if RECORDS[by].direction == "low" and row["mean"] == 0:
        found.append(f"{name} has {symbol(by)} 0, which blocks too small to judge have, too.")
    return found

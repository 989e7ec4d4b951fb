"""Read a run folder: tables, matrices, solutions and mergers; verify it; write the tables beside its journal."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bivaluate._errors import BivaluateError, FileError, RunError
from bivaluate._files import check_reachable, make_folder, table_text, write_whole
from bivaluate._text import html_table, plural, unpacked
from bivaluate.matrix import Matrix
from bivaluate.registry import RENAMED
from bivaluate.solution import Biclustering
from bivaluate.sweep.cells import EXTRA_SEED, FAILED, NOT_PREDICTED, TIMED_OUT, Cell
from bivaluate.sweep.copies import null_table
from bivaluate.sweep.folder import JOURNAL, PROVENANCE, checksum, restore_matrix, solution_path
from bivaluate.sweep.journal import LAYOUT, Journal, parsed, solution_text, unpack_mergers, unpack_solution
from bivaluate.sweep.plan import Plan, stored_plan

if TYPE_CHECKING:
    import pandas as pd

CELL = list(Cell._fields)
OUTCOME = ["status", "reason", "n_biclusters", "n_undefined"]
BICLUSTER = ["bicluster", "n_rows", "n_cols", "size"]
VARIANT = ["variant", "run"]  # `run` numbers the copy, since layout 1


def load_run(path: str | os.PathLike[str]) -> Run:
    """Open a run folder for reading; also while a sweep is still working on it.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    Run
        Its tables, matrices and solutions.

    Raises
    ------
    FileError, RunError
        If there is no such folder, it may not be read, is no run folder, or of a layout this version does not read.

    See Also
    --------
    Sweep, bivaluate.sweep.Selection

    Examples
    --------
    >>> load_run("RUN")  # doctest: +SKIP
    """
    folder = Path(path)
    if not os.path.isdir(folder):
        check_reachable(folder)
        raise FileError(f"there is no run folder {os.fspath(path)!r}.")
    return Run(folder)


class Run:
    """A run folder, read-only; made by :func:`load_run` and :meth:`Sweep.run`. Tables are in the order of the plan.

    Parameters
    ----------
    folder, journal : Path, Journal
        The run folder, and its journal if that is open already.

    Attributes
    ----------
    path, datasets, plan : Path, list of str, Plan
        The folder, the names of the data sets, and what was asked for.
    cells, missing, missing_copies : list of Cell, list of Cell, int
        All fits of the plan, those that are not finished, and how many are not on surrogates.
    results, biclusters, times : DataFrame
        One row per finished fit: status, sizes and every measure; one per bicluster; seconds.
    variants, null : DataFrame
        One row per finished fit to a surrogate; per fit and measure its null band, gap and p-value.
    tables : dict of str to DataFrame
        The tables by name: those that have rows, or are always written.
    provenance : dict
        Versions, command, seeds, matrix checksums and the sessions that worked on the run.

    Raises
    ------
    RunError
        If the folder is not a run folder, or of a layout this version does not read.

    See Also
    --------
    load_run

    Examples
    --------
    >>> run = Sweep(Plan("scenario:S9b", "cca", k=[2, 3], null="permute", null_runs=2)).run()
    >>> run.results[["k", "n_biclusters"]].values.tolist(), run.missing, list(run.tables)[3:]
    ([[2, 2], [3, 3]], [], ['variants', 'null'])
    """

    plan: Plan
    provenance: dict[str, Any]
    cells: list[Cell]
    missing: list[Cell]
    missing_copies: int
    results: pd.DataFrame
    variants: pd.DataFrame
    biclusters: pd.DataFrame
    times: pd.DataFrame
    null: pd.DataFrame
    tables: dict[str, pd.DataFrame]

    def __init__(self, folder: Path, journal: Journal | None = None) -> None:
        self.path = folder
        self.journal = journal or Journal(folder / JOURNAL)
        if self.journal.empty:
            raise RunError(f"the run in {folder} was never started: its journal is empty.")
        self._meta = self.journal.meta
        if self._meta.get("layout") != str(LAYOUT):
            made = f"{folder} has layout {self._meta.get('layout')}, written by bivaluate {self._meta.get('version')}"
            raise RunError(f"{made}; this version reads layout {LAYOUT}.")
        self.journal.check()
        self._matrix = lru_cache(maxsize=8)(self._read_matrix)
        #: What the journal says about each matrix, by data set and (of a scenario) seed; names of data sets.
        self.matrices = {(entry["dataset"], entry["seed"]): entry for entry in self.journal.records("matrices")}
        self.datasets: list[str] = list(dict.fromkeys(dataset for dataset, _ in self.matrices))

    def __getattr__(self, name: str) -> Any:
        """Make what is said above of a run when it is first asked for."""
        if name not in type(self).__annotations__:
            raise AttributeError(f"a Run has no attribute {name!r}")
        vars(self)[name] = found = getattr(self, f"_{name}")()
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy as what it is: a folder that is opened again."""
        return load_run, (self.path,)

    def _plan(self) -> Plan:
        return stored_plan(parsed(self._meta["plan"]), str(self.path))

    def _provenance(self) -> dict[str, Any]:
        made = parsed(self._meta["provenance"])
        if not isinstance(made, dict) or "bivaluate" not in made:
            raise RunError(f"the provenance in the journal of {self.path} is damaged.")
        later = {"continued_with": self._meta["version"]} if self._meta["version"] != made["bivaluate"] else {}
        matrices = [{key: v for key, v in entry.items() if key != "truth"} for entry in self.matrices.values()]
        known = {"layout": LAYOUT, "plan": self.plan.to_dict(), "matrices": matrices}
        return {**made, **later, **known, "sessions": self.journal.records("sessions")}

    def _cells(self) -> list[Cell]:
        return [slot.cell for slot in self.journal.slots(variants=False)]

    def _missing(self) -> list[Cell]:
        return [slot.cell for slot in self.journal.slots(finished=False, variants=False)]

    def _missing_copies(self) -> int:
        return len(self.journal.slots(finished=False)) - len(self.missing)

    def _results(self) -> pd.DataFrame:
        return self._scores(CELL, variants=False)

    def _variants(self) -> pd.DataFrame:
        return self._scores(VARIANT + CELL, variants=True)

    def _biclusters(self) -> pd.DataFrame:
        found = ((Cell(*place), text) for *place, text in self.journal.rows([*CELL, "biclusters"]))
        records = ((cell, record) for cell, text in found for record in _sound_list(text, dict, cell))
        rows = (cell._asdict() | _sound_scores(record, cell) for cell, record in records)
        return _called_as_now(_frame(rows, CELL + BICLUSTER, ["partner", "status"]))

    def _times(self) -> pd.DataFrame:
        columns = [*CELL, "fit_seconds", "score_seconds"]
        return _frame((dict(zip(columns, row, strict=True)) for row in self.journal.rows(columns)), columns)

    def _null(self) -> pd.DataFrame:
        per_seed = {dataset for dataset, seed in self.matrices if seed is not None}
        return null_table(self.results, self.variants, self.plan.null or "", per_seed)

    def matrix(self, dataset: str, seed: int | None = None) -> Matrix:
        """Return the matrix of a data set; a scenario has one per seed, any other data set one for all.

        Parameters
        ----------
        dataset, seed : str, int or None

        Returns
        -------
        Matrix
            With its labels; a RunError if the run does not have it.

        Examples
        --------
        >>> X = run.matrix("scenario:S9b", seed=0)
        """
        return self._matrix(*self._matrix_key(dataset, seed))

    def truth(self, dataset: str, seed: int | None = None) -> Biclustering | None:
        """Return the planted biclusters of a scenario's matrix.

        Parameters
        ----------
        dataset, seed : str, int or None

        Returns
        -------
        Biclustering or None
            None for data sets without a truth.

        Examples
        --------
        >>> planted = run.truth("scenario:S9b", seed=0)
        """
        blob = self.matrices[self._matrix_key(dataset, seed)]["truth"]
        return None if blob is None else unpack_solution(blob)

    def solution(self, cell: Cell) -> Biclustering:
        """Return the biclusters that a fit found.

        Parameters
        ----------
        cell : Cell

        Returns
        -------
        Biclustering
            The solution; a RunError if the fit is not finished or has none.

        Examples
        --------
        >>> run.solution(run.cells[0])
        Biclustering(2 biclusters of a matrix of 300 x 40)
        """
        return unpack_solution(self.journal.packed(Cell(*cell), "solution"), f"{Cell(*cell)}: ")

    def mergers(self, cell: Cell) -> dict[str, NDArray[np.float64]]:
        """Return the merger matrices of a fit.

        Parameters
        ----------
        cell : Cell

        Returns
        -------
        dict
            K x K arrays by ``"ve"`` and ``"msr"``; a RunError if the fit is not finished or has none.

        Examples
        --------
        >>> run.mergers(run.cells[0])["ve"].shape
        (2, 2)
        """
        return unpack_mergers(self.journal.packed(Cell(*cell), "mergers"), f"{Cell(*cell)}: ")

    def findings(self, cell: Cell) -> list[str]:
        """Return what the evaluation found worth saying about a fit.

        Parameters
        ----------
        cell : Cell

        Returns
        -------
        list of str
            The findings.

        Examples
        --------
        >>> run.findings(run.cells[0])[0]
        'The solution covers only 1.6 % of the matrix.'
        """
        row = self.journal.row(Cell(*cell), "findings")
        said = [] if row is None or row[0] is None else _sound_list(row[0], object, Cell(*cell))
        return [unpacked(text) for text in said]

    def _tables(self) -> dict[str, pd.DataFrame]:
        frames = {"results": self.results, "biclusters": self.biclusters, "times": self.times}
        beside = {"variants": self.variants, "null": self.null} if len(self.variants) else {}
        return frames | {name: frame for name, frame in beside.items() if len(frame)}

    def export(self) -> None:
        """Write the tables, the provenance and the solutions of what is finished into the folder.

        Examples
        --------
        >>> run.export()
        """
        for name, frame in self.tables.items():
            path = self.path / f"{name}.csv"
            write_whole(path, table_text(frame))
            path.with_suffix(".parquet").unlink(missing_ok=True)  # a copy made by version 0.1.0, now out of date
        write_whole(self.path / PROVENANCE, json.dumps(self.provenance, indent=1) + "\n")
        for *cell, blob in self.journal.rows([*CELL, "solution"]):
            path = solution_path(self.path, *cell)
            if blob is not None and not path.exists():
                make_folder(path.parent)
                write_whole(path, solution_text(blob) + "\n")

    def _scores(self, first: list[str], variants: bool) -> pd.DataFrame:
        names = [*first, "status", "reason"]
        rows = (
            dict(zip(names, cell, strict=True))
            | _sound_scores(parsed(scores), Cell(*cell[len(first) - 4 : len(first)]))
            for *cell, scores in self.journal.rows([*names, "scores"], variants=variants)
        )
        return _called_as_now(_frame(rows, first + OUTCOME))

    def _matrix_key(self, dataset: str, seed: int | None) -> tuple[str, int | None]:
        for key in ((dataset, None), (dataset, seed), (dataset, (seed or 0) % EXTRA_SEED)):
            if key in self.matrices:
                return key
        seeds = [s for name, s in self.matrices if name == dataset]
        if not seeds:
            raise RunError(f"{self.path} has no data set {dataset!r}; it has {', '.join(map(repr, self.datasets))}.")
        raise RunError(f"{dataset} has one matrix per seed, and none for seed {seed}; seeds: {seeds}.")

    def _read_matrix(self, dataset: str, seed: int | None) -> Matrix:
        return restore_matrix(self.path, self.matrices[dataset, seed], dict(self.plan.read))

    def _repr_html_(self) -> str:
        counts = self.results.groupby(["dataset", "algorithm", "status"], sort=False, observed=True).size()
        rows = [[*map(str, line[:3]), str(line[3])] for line in counts.reset_index().head(20).values.tolist()]
        more = f"… and {len(counts) - 20} more lines" if len(counts) > 20 else ""
        return html_table(repr(self), ["data set", "algorithm", "status", "solutions"], rows, more)

    def __repr__(self) -> str:
        finished = len(self.cells) - len(self.missing)
        return f"Run({str(self.path)!r}, {finished} of {len(self.cells)} fits finished)"


def _sound_scores(content: Any, cell: Cell) -> dict[str, Any]:
    """Return scores, or what is said of one bicluster, if they are plain values by name."""
    plain = (str, int, float, bool, type(None))
    if not isinstance(content, dict) or not all(isinstance(value, plain) for value in content.values()):
        raise RunError(f"{cell}: its scores in the journal are damaged: numbers by name are needed.")
    return content


def _sound_list(text: str, kind: type, cell: Cell) -> list[Any]:
    """Return a list of the journal, if it is one and holds what it should."""
    content = parsed(text)
    if not isinstance(content, list) or not all(isinstance(item, kind) for item in content):
        raise RunError(f"{cell}: a list in the journal is damaged.")
    return content


def _called_as_now(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table with columns of earlier versions under their present names; a warning says which."""
    old = {key: new for key, new in RENAMED.items() if key in frame and new not in frame}
    for key, new in old.items():
        warnings.warn(FutureWarning(f"the column {key!r} of this run is called {new!r} now."), stacklevel=2)
    return frame.rename(columns=old)


def _frame(rows: Iterable[dict[str, Any]], first: list[str], last: Iterable[str] = ()) -> pd.DataFrame:
    """Return a table with these columns first and last, and all others between."""
    import pandas as pd

    listed = list(rows)
    seen = dict.fromkeys(key for row in listed for key in row)
    middle = [key for key in seen if key not in first and key not in last]
    frame = pd.DataFrame.from_records(listed, columns=first + middle + [key for key in last if key in seen])
    counts = [name for name in ("n_biclusters", "n_undefined") if name in frame]
    return frame.astype(dict.fromkeys(counts, "Int64"))


def check_run(path: str | os.PathLike[str]) -> list[str]:
    """Verify a run folder without changing it.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    list of str
        What is wrong, in words; nothing where the folder is whole. It raises what :func:`load_run` does.

    See Also
    --------
    load_run

    Examples
    --------
    >>> check_run(run.path)
    []
    """
    run = load_run(path)
    found = [f"the journal is damaged: {fault}" for fault in run.journal.faults()]
    try:
        found += [*_wrong_matrices(run), *_wrong_solutions(run), *_wrong_tables(run)]
    except BivaluateError as error:  # of a page of the journal that cannot be read
        found.append(str(error))
    return found


def _wrong_matrices(run: Run) -> Iterator[str]:
    for (dataset, seed), entry in run.matrices.items():
        name = dataset + ("" if seed is None else f", seed {seed}")
        try:
            if checksum(run.matrix(dataset, seed)) != entry["checksum"]:
                yield f"the matrix of {name} is not the one the run was made with: its checksum differs."
        except BivaluateError as error:
            yield f"the matrix of {name} cannot be read: {error}"


def _wrong_solutions(run: Run) -> Iterator[str]:
    for cell, blob in ((Cell(*place), blob) for *place, blob in run.journal.rows([*CELL, "solution"])):
        if blob is None:
            continue
        try:
            solution = unpack_solution(blob)
        except BivaluateError as error:
            yield f"{cell}: {error}"
            continue
        entry = run.matrices.get((cell.dataset, cell.seed)) or run.matrices.get((cell.dataset, None), {})
        shape = (entry.get("n_rows"), entry.get("n_cols"))
        if solution.shape != shape:
            yield f"{cell}: the solution is of a matrix of {solution.shape}, the matrix is {shape}."
        exported = solution_path(run.path, *cell)
        if not exported.exists():
            yield f"{cell}: {exported.relative_to(run.path)} is missing. Starting the sweep again writes it."
        elif not _same(exported, solution.to_dict()):
            yield f"{cell}: {exported.relative_to(run.path)} is not the solution of the journal."


def _same(path: Path, content: object) -> bool:
    try:
        return bool(json.loads(path.read_text(encoding="utf-8")) == json.loads(json.dumps(content)))
    except (OSError, ValueError):
        return False


def _wrong_tables(run: Run) -> Iterator[str]:
    for name, frame in run.tables.items():
        path = run.path / f"{name}.csv"
        if not path.exists():
            yield f"{path.name} is missing. Starting the sweep again writes it."
        elif path.read_bytes() != table_text(frame):
            yield f"{path.name} is not what the journal holds ({plural(len(frame), 'row')} there)."


def failed_fits(results: pd.DataFrame | None) -> pd.DataFrame:
    """Return one row per algorithm of which a fit failed."""
    import pandas as pd

    rows = []
    for key, group in [] if results is None else results.groupby("algorithm", sort=False):
        bad = group[group["status"].isin([FAILED, TIMED_OUT])]
        if len(bad):
            late = int((bad["status"] == TIMED_OUT).sum())
            rows.append((key, len(bad) - late, late, len(group), bad["reason"].iloc[0]))
    return pd.DataFrame(rows, columns=["algorithm", "failed", "timed_out", "fits", "reason"])


def failure_sentences(failed: pd.DataFrame) -> list[str]:
    """Return the failures of each algorithm in words.

    >>> rows = [("mine", 2, 1, 3, "it ended with code 1.")]
    >>> failure_sentences(pd.DataFrame(rows, columns=["algorithm", "failed", "timed_out", "fits", "reason"]))
    ['mine: 2 failed and 1 timed out of 3 fits. For example: it ended with code 1.']
    """
    from bivaluate.algorithms.registry import algorithm_label, is_command

    said = []
    for row in failed.to_dict("records"):
        name = algorithm_label(row["algorithm"]) if is_command(row["algorithm"]) else row["algorithm"]
        counts = [f"{row[key]} {word}" for key, word in (("failed", FAILED), ("timed_out", TIMED_OUT)) if row[key]]
        said.append(f"{name}: {' and '.join(counts)} of {plural(row['fits'], 'fit')}. For example: {row['reason']}")
    return said


def unpredicted_sentences(run: Run) -> list[str]:
    """Return which algorithms could not predict held-out cells though they were asked to, and why."""
    said: dict[str, str] = {}
    for cell in run.cells if run.plan.held_out else ():
        for text in filter(lambda text: text.startswith(NOT_PREDICTED), run.findings(cell)):
            said.setdefault(cell.algorithm, text)
    return [f"{name}: {text[:1].lower()}{text[1:]}" for name, text in said.items()]
